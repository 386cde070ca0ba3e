pub(super) mod encoder;

use super::*;
use encoder::{Encoder, File, edn, keyed, sign};
use isoscope_model::history::{OperationId, Outcome, TransactionId, Unit};
use std::fmt::Write as _;

const REGISTER: &str = r#"{:index 0, :time 10, :type :invoke, :process 0, :f :write, :value 1}
{:index 1, :time 20, :type :ok, :process 0, :f :write, :value 1}
{:index 2, :time 25, :type :info, :process :nemesis, :f :partition, :value "n1 é😀"}
{:index 3, :time 30, :type :invoke, :process 1, :f :write, :value -2}
{:index 4, :time 40, :type :invoke, :process 2, :f :read, :value nil, :node "n2"}
{:index 5, :time 5000000000, :type :ok, :process 2, :f :read, :value -2, :node "n2"}
{:index 6, :time 5000000060, :type :invoke, :process 3, :f :cas, :value [1 2.5]}
{:index 7, :time 5000000070, :type :fail, :process 3, :f :cas, :value [1 2.5], :error [:busy "a \"b\"\\"]}
{:index 8, :time 5000000080, :type :info, :process 1, :f :write, :value -2, :error :timeout}"#;

const APPENDS: &str = r#"{:index 0, :time 1, :type :invoke, :process 0, :f :txn, :value [[:append 5 1] [:r 6 nil]]}
{:index 1, :time 2, :type :ok, :process 0, :f :txn, :value [[:append 5 1] [:r 6 nil]]}
{:index 2, :time 3, :type :info, :process :nemesis, :f :kill, :value :all}
{:index 3, :time 4, :type :invoke, :process 1, :f :txn, :value [[:append 5 2] [:w :x 3] [:r :x nil]], :debug {:a 1}}
{:index 4, :time 5, :type :invoke, :process 0, :f :txn, :value [[:r 5 nil]]}
{:index 5, :time 6, :type :ok, :process 0, :f :txn, :value [[:r 5 [1 2]]], :server 7}
{:index 6, :time 7, :type :ok, :process 1, :f :txn, :value [[:append 5 2] [:w :x 3] [:r :x 3]]}
{:index 7, :time 8, :type :invoke, :process 0, :f :txn, :value [[:r 5 nil] [:append 5 300]]}
{:index 8, :time 9, :type :fail, :process 0, :f :txn, :value [[:r 5 nil] [:append 5 300]]}"#;

const INDEPENDENT: &str = r#"{:index 0, :time 1, :type :invoke, :process 0, :f :write, :value ["a" 1]}
{:index 1, :time 2, :type :ok, :process 0, :f :write, :value ["a" 1]}
{:index 2, :time 3, :type :invoke, :process 0, :f :cas, :value ["a" [1 2]]}
{:index 3, :time 4, :type :ok, :process 0, :f :cas, :value ["a" [1 2]]}"#;

fn operations_of(text: &str) -> Vec<Tree<'static>> {
    text.lines().map(edn).collect()
}

fn stream(operations: &[Tree<'static>]) -> Vec<u8> {
    let mut encoder = Encoder::default();
    operations.iter().for_each(|one| encoder.operation(one));
    encoder.bytes
}

fn vector(entries: &[(u64, u32)], count: u64) -> Vec<u8> {
    let mut data = count.to_be_bytes().to_vec();
    for (first, id) in entries {
        data.extend(first.to_be_bytes());
        data.extend(id.to_be_bytes());
    }
    data
}

const TEST: &str = "{:name \"a test\" :nodes [\"n1\" \"n2\"] :concurrency 3 :start-time \"20260101T000000.000Z\" \
                    :consistency-models [:serializable] :argv [\"test\" \"--rate\" \"10\"] :history {:block 1} :results {:block 8}}";

/// A file of version 1 with so many operations in a block, that was written at checkpoints.
fn in_blocks(operations: &[Tree<'static>], size: usize) -> Vec<u8> {
    let mut file = File::new(1);
    file.block(1, 5, &vector(&[], 0));
    file.map(2, 0, "{:name \"a test\" :history {:block 1}}");
    file.index(2);
    let mut entries = Vec::new();
    for (n, some) in operations.chunks(size).enumerate() {
        let id = 20 + n as u32;
        file.block(id, 4, &stream(some));
        entries.push(((n * size) as u64, id));
        let count = (n * size + some.len()) as u64;
        file.block(1, 5, &vector(&entries, count));
        file.index(2);
    }
    file.map(9, 0, "{:workload {:valid? false :anomaly-types [:G2-item] :not #{:serializable}} :stats {:count 4}}");
    file.map(8, 9, "{:valid? false}");
    file.map(7, 0, TEST);
    file.index(7);
    file.bytes
}

/// A file of version 0.
fn in_a_value(operations: &[Tree<'static>]) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.tag("vec", 1);
    encoder.bytes.push(0xED);
    operations.iter().for_each(|one| encoder.operation(one));
    encoder.bytes.push(0xFD);
    let mut file = File::new(0);
    file.block(1, 2, &encoder.bytes);
    file.map(8, 0, "{:valid? true}");
    file.map(7, 0, TEST);
    file.index(7);
    file.bytes
}

/// The test alone, as before 0.3.
fn test_alone(history: &str) -> Vec<u8> {
    let mut encoder = Encoder::default();
    let lines: Vec<&str> = history.lines().collect();
    let fields = format!(
        "{{:name \"old\" :history [{}] :results {{:valid? true}}}}",
        lines.join(" ")
    );
    encoder.value(&edn(&fields));
    encoder.bytes
}

fn parse(bytes: &[u8]) -> std::result::Result<History, String> {
    crate::read(&Input::new("test.jepsen", bytes), None, &Control::new())
        .map_err(|error| error.to_string())
}

/// All that a history says of its transactions, but for what is assumed.
fn content(history: &History) -> String {
    let mut text = format!("{:?}\n{:?}\n", history.cluster(), history.assumptions());
    for t in history.transactions() {
        let (session, outcome) = (history.session_of(t), history.outcome(t));
        let session = history.session_name(session);
        let _ = write!(text, "{session} {outcome:?} {:?}:", history.interval(t));
        for o in history.operations_of(t) {
            let _ = write!(
                text,
                " {}@{}",
                history.operation_text(o),
                history.line_of(o)
            );
        }
        text.push('\n');
    }
    text
}

fn of_edn(text: &str) -> String {
    let input = Input::new("history.edn", text.as_bytes());
    content(&crate::read(&input, None, &Control::new()).expect("valid"))
}

#[test]
fn operations_are_those_of_the_history_in_edn() {
    for text in [REGISTER, APPENDS, INDEPENDENT] {
        let operations = operations_of(text);
        for size in [1, 2, 4, 100] {
            let bytes = in_blocks(&operations, size);
            assert_eq!(sniff(&Input::new("", &bytes)), Likelihood::Certain);
            let history = parse(&bytes).expect("valid");
            assert_eq!(history.origin().format, FORMAT.name);
            assert_eq!(content(&history), of_edn(text), "{size}");
        }
        assert_eq!(
            content(&parse(&in_a_value(&operations)).expect("valid")),
            of_edn(text)
        );
        let old = test_alone(text);
        assert_eq!(sniff(&Input::new("", &old)), Likelihood::Likely);
        assert_eq!(content(&parse(&old).expect("valid")), of_edn(text));
    }
}

#[test]
fn keys_of_jepsen_independent_are_pairs() {
    let operations: Vec<_> = operations_of(INDEPENDENT).into_iter().map(keyed).collect();
    let history = parse(&in_blocks(&operations, 3)).expect("valid");
    assert_eq!(content(&history), of_edn(INDEPENDENT));
    assert_eq!(history.operation_text(OperationId(0)), "w(\"a\") = 1");
}

#[test]
fn the_test_and_its_results_are_told_in_words() {
    let history = parse(&in_blocks(&operations_of(REGISTER), 4)).expect("valid");
    assert_eq!(
        history.origin().about,
        [
            "test: a test",
            "nodes: [\"n1\" \"n2\"]",
            "concurrency: 3",
            "started: 20260101T000000.000Z",
            "level claimed: [:serializable]",
            "arguments: [\"test\" \"--rate\" \"10\"]",
            "anomalies by Jepsen: [:G2-item]",
            "violated by Jepsen: #{:serializable}",
            "valid by Jepsen: false",
        ]
    );
}

#[test]
fn the_place_of_an_operation_is_its_number() {
    let bytes = in_blocks(&operations_of(APPENDS), 2);
    let history = parse(&bytes).expect("valid");
    let spot = history.spot_of(OperationId(0)).expect("read from a file");
    assert_eq!((spot.unit, spot.number), (Unit::Line, 2));
    let texts = crate::raw_spots_in(&bytes, &[spot], &Control::new()).expect("read");
    assert_eq!(
        texts[0].as_deref().ok(),
        Some("{:f :txn :index 1 :process 0 :time 2 :type :ok :value [[:append 5 1] [:r 6 nil]]}")
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.jepsen");
    std::fs::write(&path, &bytes).expect("a file");
    let opened = crate::open(&path, None, &Control::new()).expect("valid");
    assert_eq!(opened.origin().about.len(), 9);
    let beside = folder.path().join("history.edn");
    std::fs::write(&beside, APPENDS).expect("a file");
    let both = crate::open(folder.path(), None, &Control::new()).expect("valid");
    assert_eq!(both.origin().format, "elle-edn");
    assert_eq!(both.origin().about, opened.origin().about);
    let again = crate::raw_spots(&path, opened.origin(), &[spot], &Control::new()).expect("read");
    assert_eq!(again[0].as_deref().ok(), texts[0].as_deref().ok());
}

#[test]
fn an_interrupted_run_has_all_up_to_its_last_checkpoint() {
    let operations = operations_of(REGISTER);
    let mut file = File::new(1);
    file.map(2, 0, "{:name \"a test\" :history {:block 1}}");
    let before = file.bytes.clone();
    assert_eq!(
        parse(&before).expect_err("no index"),
        "the run ended before its first checkpoint: it has no history"
    );
    assert!(!keeps_history(&before));
    file.block(3, 4, &stream(&operations[..2]));
    file.block(1, 5, &vector(&[(0, 3)], 2));
    file.index(2);
    // The next block has no length yet.
    file.bytes.extend([0; 28]);
    file.bytes.extend(stream(&operations[2..]));
    assert!(keeps_history(&file.bytes));
    let history = parse(&file.bytes).expect("valid");
    assert_eq!(history.n_transactions(), 1);
    assert_eq!(history.outcome(TransactionId(0)), Outcome::Committed);
    let said = history.assumptions().join(" ");
    assert!(
        said.contains("after its last checkpoint may be missing"),
        "{said}"
    );

    let mut crashed = File::new(1);
    crashed.map(2, 0, "{:name \"a test\"}");
    crashed.index(2);
    assert!(!keeps_history(&crashed.bytes));
    assert_eq!(
        parse(&crashed.bytes).expect_err("no history"),
        "this test has no `:history`: the run ended before it was kept"
    );
    let mut empty = File::new(1);
    empty.block(1, 5, &vector(&[], 0));
    empty.map(2, 0, "{:history {:block 1}}");
    empty.index(2);
    assert_eq!(parse(&empty.bytes).expect("valid").n_transactions(), 0);
}

#[test]
fn errors_say_where_and_what() {
    let operations = operations_of(REGISTER);
    let good = in_blocks(&operations, 4);
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    let file = |make: &dyn Fn(&mut File)| {
        let mut file = File::new(1);
        file.block(3, 4, &stream(&operations[..2]));
        file.map(2, 0, "{:history {:block 1}}");
        make(&mut file);
        file.index(2);
        file.bytes
    };
    let history = |kind: u16, data: &[u8]| file(&|file| file.block(1, kind, data));
    let index = u64::from_be_bytes(good[10..18].try_into().expect("eight bytes")) as usize;
    let operation = memchr::memmem::find(&good, b"jepsen.history.Op").expect("an operation");
    let block = operation - 31;
    let cases = [
        (
            good[..9].to_vec(),
            "byte 0: expected a header of 18 bytes, found 9",
        ),
        (
            with(9, 2),
            "byte 6: expected version 0 or 1 of the format, found 2",
        ),
        (with(12, 1), "byte 1099511"),
        (
            with(index, 1),
            &format!("byte {index}: expected the length of the index: at least 28 and"),
        ),
        (
            with(index + 40, 9),
            &format!("byte {index}: the index is damaged: its checksum is "),
        ),
        (
            with(operation, 9),
            &format!("byte {block}: block 20 is damaged: its checksum is "),
        ),
        (
            file(&|_| {}),
            "expected the place of block 1 in the index, found none",
        ),
        (
            history(3, b"\0\0\0\0\xc0\xe4"),
            "byte 196: expected operations in block 1, found a block of type 3",
        ),
        (
            history(5, &vector(&[(0, 3)], 3)),
            "byte 46: expected a block of 3 operations, found one of 2",
        ),
        (
            history(5, &vector(&[(1, 3)], 3)),
            "byte 196: expected a vector that begins with 0, found 1",
        ),
        (
            history(5, &vector(&[(0, 3), (2, 3)], 4)),
            "byte 196: expected blocks that follow each other in this vector",
        ),
        (
            history(5, &vector(&[(2, 3)], 0)),
            "byte 196: expected blocks that follow each other in this vector",
        ),
        (
            history(4, &[0x01]),
            "line 1: expected an operation, found 1",
        ),
        (
            history(4, &[0xC0, 0xE4]),
            "line 1: expected an operation with a `type`, found none in this one",
        ),
        (
            history(4, &[0xC1]),
            "byte 197: expected a value, found the end of the block",
        ),
        (
            history(2, &[0x01]),
            "byte 196: expected a list of operations, found the byte 0x01",
        ),
    ];
    for (bytes, message) in cases {
        let error = parse(&bytes).map(|_| ()).expect_err(message);
        assert!(error.starts_with(message), "{error} is not {message}");
    }
    assert!(parse(&with(good.len() - 300, 0xFF)).is_err());
}

#[test]
fn cut_or_damaged_files_are_read_or_refused() {
    let good = in_blocks(&operations_of(APPENDS), 4);
    assert!((6..good.len()).all(|len| parse(&good[..len]).is_err()));
    let mut random = fastrand::Rng::with_seed(4);
    let old = test_alone(REGISTER);
    for n in 0..6000 {
        let mut bytes = if n % 2 == 0 {
            good.clone()
        } else {
            old.clone()
        };
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        // Right checksums let the damage through.
        if n % 4 == 0 && bytes.len() == good.len() {
            resign(&mut bytes);
        }
        if let Err(error) = parse(&bytes) {
            assert!(error.len() < 600 && !error.contains('\n'), "{error}");
        }
        let _ = texts(&bytes, &[1, 5], &Control::new());
        let _ = (described(&bytes), keeps_history(&bytes));
    }
    for len in 0..old.len() {
        let _ = parse(&old[..len]);
    }
}

/// Makes the checksums of all blocks right, one behind the other.
fn resign(bytes: &mut [u8]) {
    let mut at = 18;
    while let Some(length) = bytes.get(at..at + 8) {
        let length = u64::from_be_bytes(length.try_into().expect("eight bytes")) as usize;
        match bytes.get_mut(at..at.saturating_add(length)) {
            Some(block) if length >= 28 => sign(block),
            _ => return,
        }
        at += length;
    }
}
