//! Histories that threads record, and what an assertion about them says.

#[allow(dead_code)]
#[path = "../../examples/store.rs"]
mod store;

use isoscope::assert_holds;
use isoscope::control::Control;
use isoscope::formats;
use isoscope::history::{Builder, History, OperationKind, Origin, Outcome, TransactionId};
use isoscope::levels::Level;
use isoscope::recorder::{RecordError, Recorder, Transaction, check_holds};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Arc, Barrier};

/// Each transaction in a line, with its name, its outcome and its operations.
fn told(history: &History) -> Vec<String> {
    let one = |t: TransactionId| {
        let operations = history.operations_of(t).map(|o| history.operation_text(o));
        let operations: Vec<String> = operations.collect();
        let (name, outcome) = (history.transaction_name(t), history.outcome(t).words());
        format!("{name} {outcome}: {}", operations.join(" "))
    };
    history.transactions().map(one).collect()
}

fn history(recorder: &Recorder) -> History {
    recorder.history().expect("a small history")
}

/// The text of its file.
fn json(history: &History) -> String {
    let mut bytes = Vec::new();
    formats::write(history, "json", &mut bytes).expect("it can be written");
    String::from_utf8(bytes).expect("a text")
}

/// What a panic says.
fn panic_of(work: impl FnOnce()) -> String {
    let caught = panic::catch_unwind(AssertUnwindSafe(work)).expect_err("it panics");
    let text = caught.downcast_ref::<String>().cloned();
    text.or_else(|| caught.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .expect("a text")
}

/// Two clients increment a counter from the same version.
fn lost_update() -> Recorder {
    let recorder = Recorder::with_initial_value(0);
    let (mut one, mut two) = (recorder.session(1), recorder.session(2));
    let mut increments = [one.begin(), two.begin()];
    for (increment, result) in increments.iter_mut().zip(1..) {
        increment.read("counter", 0);
        increment.write("counter", result);
    }
    increments.into_iter().for_each(Transaction::commit);
    recorder
}

#[test]
fn threads_record_at_the_same_time() {
    const EACH: usize = 200;
    let (recorder, start) = (Arc::new(Recorder::new()), Arc::new(Barrier::new(4)));
    let clients = ["carol", "alice", "dave", "bob"].map(|name| {
        let (recorder, start) = (Arc::clone(&recorder), Arc::clone(&start));
        std::thread::spawn(move || {
            let mut session = recorder.session(name);
            start.wait();
            for n in 0..EACH {
                let mut transaction = session.begin();
                transaction.read(name, n.checked_sub(1));
                transaction.write(name, n);
                transaction.commit();
            }
        })
    });
    for client in clients {
        client.join().expect("no client panics");
    }
    let history = history(&recorder);
    assert_eq!(history.n_transactions(), 4 * EACH);
    let names: Vec<_> = history
        .sessions()
        .map(|s| history.session_name(s))
        .collect();
    assert_eq!(names, ["alice", "bob", "carol", "dave"]);
    assert_eq!(
        told(&history)[1],
        "alice#2 committed: r(alice) = 0 w(alice) = 1"
    );
    assert_holds!(recorder, SER);
    assert_holds!(&recorder, R - SER);
}

#[test]
fn what_a_panic_ends_has_an_unknown_outcome() {
    let recorder = Recorder::new();
    let mut session = recorder.session("a");
    session.begin().commit();
    let client = recorder.clone();
    let lost = std::thread::spawn(move || {
        let mut session = client.session("b");
        let mut transaction = session.begin();
        transaction.write("x", 1);
        panic!("the connection is gone");
    });
    assert!(lost.join().is_err());
    drop(session.begin());
    let mut transaction = session.begin();
    transaction.read("x", Some(1));
    // It goes on while this is recorded, and was forgotten before it said how it ended.
    std::mem::forget(transaction);
    session.begin().abort();
    let expected = [
        "a1 committed: ",
        "a2 outcome unknown: ",
        "a-2#1 outcome unknown: r(x) = 1",
        "a-3#1 aborted: ",
        "b1 outcome unknown: w(x) = 1",
    ];
    assert_eq!(told(&history(&recorder)), expected);
}

#[test]
fn a_name_given_twice_is_two_sessions() {
    let recorder = Recorder::new();
    for name in [10, 9, 10] {
        recorder.session(name).begin().commit();
    }
    let history = history(&recorder);
    let names: Vec<_> = history
        .sessions()
        .map(|s| history.session_name(s))
        .collect();
    assert_eq!(names, ["9", "10", "10-2"]);
}

#[test]
fn values_are_numbers_or_texts_and_may_be_absent() {
    let recorder = Recorder::new();
    let mut session = recorder.session("a");
    let mut transaction = session.begin();
    assert_eq!(transaction.read("x", None::<u8>), None);
    transaction.write(7, u64::MAX);
    assert_eq!(transaction.read(7, &u64::MAX), &u64::MAX);
    transaction.write("x", "two words");
    transaction.read("x", String::from("two words"));
    transaction.write("x", -1);
    transaction.read("x", Some(&"-1"));
    transaction.write("x", "007");
    transaction.commit();
    let recorded = history(&recorder);
    assert_eq!(
        told(&recorded),
        [
            "a1 committed: r(x) = initial w(7) = 18446744073709551615 r(7) = 18446744073709551615 \
          w(x) = two words r(x) = two words w(x) = -1 r(x) = -1 w(x) = 007"
        ]
    );
}

#[test]
fn lists_are_lists_in_memory_and_in_the_file() {
    let recorder = Recorder::new();
    let mut session = recorder.session("a");
    let mut transaction = session.begin();
    transaction.read("list", None::<u8>);
    transaction.append("list", 1);
    transaction.append("list", "two");
    transaction.commit();
    let mut transaction = session.begin();
    transaction.read_list("list", &["1", "two"]);
    transaction.read_list("other", &[] as &[u8]);
    transaction.commit();
    let recorded = history(&recorder);
    let file = json(&recorded);
    let operations = [
        r#"[["r","list",[]],["a","list",1],["a","list","two"]]"#,
        r#"[["r","list",[1,"two"]],["r","other",[]]]"#,
    ];
    assert!(
        operations
            .iter()
            .all(|operations| file.contains(operations)),
        "{file}"
    );
    assert_holds!(recorded, SER);
}

#[test]
fn a_key_is_a_list_or_a_register() {
    let recorder = Recorder::new();
    let mut session = recorder.session("a");
    let mut transaction = session.begin();
    transaction.append("x", 1);
    transaction.read("x", 1);
    transaction.commit();
    let error = recorder.history().expect_err("it is both");
    assert!(
        matches!(&error, RecordError::Mixed(key) if key == "x"),
        "{error}"
    );
    let said = panic_of(|| assert_holds!(recorder, SI));
    assert!(said.contains("`x` is a list"), "{said}");
}

#[test]
fn times_are_those_of_begin_and_end() {
    let recorder = Recorder::new();
    let (mut a, mut b, mut c) = (
        recorder.session("a"),
        recorder.session("b"),
        recorder.session("c"),
    );
    let first = a.begin();
    let second = b.begin();
    first.commit();
    let third = c.begin();
    second.abort();
    let while_open = history(&recorder);
    third.commit();
    let history = history(&recorder);
    let [first, second, third] =
        [0, 1, 2].map(|t| history.interval(TransactionId(t)).expect("a time"));
    assert!(0 <= first.start && first.start <= second.start);
    assert!(second.start <= first.end && first.end <= third.start);
    assert!(third.start <= second.end && second.end <= third.end);
    assert!(history.ended_before(TransactionId(0), TransactionId(2)));
    let open = TransactionId(2);
    assert_eq!(while_open.outcome(open), Outcome::Unknown);
    let until = while_open.interval(open).expect("a time").end;
    assert!(second.end <= until && until <= third.end);
}

#[test]
fn the_file_says_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("recorded.json");
    let recorder = store::recorded(false);
    let mut session = recorder.session(5);
    let mut transaction = session.begin();
    transaction.read("nothing", None::<u8>);
    transaction.append("list", "\"5\"");
    drop(transaction);
    let mut transaction = session.begin();
    transaction.read_list("list", &["\"5\"", "6"]);
    transaction.write(17, u64::MAX);
    transaction.abort();
    recorder.write(&path).expect("it is written");
    let (recorded, read) = (
        history(&recorder),
        formats::open(&path, None, &Control::new()),
    );
    let read = read.expect("it can be read");
    assert_eq!(told(&read), told(&recorded));
    let times = |history: &History| -> Vec<_> {
        history
            .transactions()
            .map(|t| history.interval(t))
            .collect()
    };
    assert_eq!(times(&read), times(&recorded));
    let error = recorder.write(folder.path().join("no/such/folder"));
    assert!(
        error
            .expect_err("there is no folder")
            .to_string()
            .contains("no/such/folder: ")
    );
}

#[test]
fn a_broken_level_is_explained() {
    let said = panic_of(|| assert_holds!(lost_update(), SI));
    let place = |lead: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(lead));
        line.unwrap_or_else(|| panic!("no {lead}in {said}"))
            .to_owned()
    };
    assert!(
        said.starts_with("snapshot isolation (SI) does not hold\n\nOne of two updates was lost\n"),
        "{said}"
    );
    assert!(
        said.contains("r(counter) = 0") && said.contains("   1  "),
        "{said}"
    );
    let (picture, path) = (place("picture: "), place("history: "));
    let (program, test) = (env!("CARGO_CRATE_NAME"), "a_broken_level_is_explained");
    let end = format!("isoscope/{program}-recorder-{test}.svg");
    assert!(picture.ends_with(&end), "{picture}");
    let svg = std::fs::read_to_string(&picture).expect("the picture");
    assert!(svg.contains("</svg>"));
    assert_eq!(place("open it: "), format!("isoscope {path}"));
    let read = formats::open(Path::new(&path), None, &Control::new()).expect("the history");
    assert_eq!(told(&read), told(&history(&lost_update())));
    // What was read from a file is not written again.
    let broken = check_holds(&read, Level::Serializability).expect_err("it does not hold");
    assert_eq!(broken.history(), Some(Path::new(&path)));
    assert!(broken.picture().is_some_and(Path::exists) && !broken.is_undecided());
    assert_eq!(broken.level(), Level::Serializability);
    assert_holds!(lost_update(), RC);
}

#[test]
fn what_is_not_known_does_not_hold() {
    let mut builder = Builder::new(Origin::default());
    let (x, one) = (builder.key_name("x"), builder.value_number(1));
    for (client, kind) in [(1, OperationKind::Write), (2, OperationKind::Read)] {
        let session = builder.session_number(client);
        let transaction = builder.transaction(session, Outcome::Committed);
        builder.operation(transaction, kind, x, one, 0);
    }
    let without_times = builder.finish().expect("a small history");
    assert_holds!(without_times, SER);
    let said = panic_of(|| assert_holds!(without_times, "R-SER"));
    assert!(said.starts_with("undecided: no timestamps"), "{said}");
    let broken = check_holds(&history(&Recorder::new()), Level::ReadCommitted);
    let broken = broken.expect_err("nothing was tested");
    assert!(broken.is_undecided() && broken.picture().is_none());
    assert!(
        broken
            .to_string()
            .starts_with("undecided: No transaction committed"),
        "{broken}"
    );
}

#[test]
fn levels_have_their_usual_names() {
    let recorder = Recorder::with_initial_value("-");
    let mut session = recorder.session("a");
    for (before, after) in [("-", "one"), ("one", "two"), ("two", "three")] {
        let mut transaction = session.begin();
        transaction.read("x", before);
        transaction.write("x", after);
        transaction.commit();
    }
    assert_holds!(recorder, SER);
    assert_holds!(recorder, C - SI);
    assert_holds!(recorder, "P-SER");
    assert_holds!(recorder, snapshot - isolation,);
    assert_holds!(Arc::new(recorder.clone()), SSER);
    let said = panic_of(|| assert_holds!(recorder, Serial));
    assert!(
        said.starts_with("unknown level `Serial`, expected one of "),
        "{said}"
    );
    let every = isoscope::levels::levels();
    assert!(
        every
            .iter()
            .all(|level| isoscope::levels::named(level.code()) == Ok(*level))
    );
}

#[test]
fn the_bug_of_the_store_is_found_and_its_repair_is_not() {
    for _ in 0..20 {
        let broken = check_holds(&history(&store::recorded(false)), Level::SnapshotIsolation);
        let said = broken.expect_err("orders are lost").to_string();
        assert!(said.contains("\n\nOne of two updates was lost\n"), "{said}");
        assert_holds!(store::recorded(false), RA);
        assert_holds!(store::recorded(true), SI);
    }
}
