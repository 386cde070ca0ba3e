//! Histories that users of Elle asked about in its issue tracker, each with the levels in question.

mod common;

use isoscope::audit;
use isoscope::checkers::{Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::formats::{self, Input};
use std::collections::BTreeMap;

/// Checks a history in Jepsen's notation and compares the verdicts with those expected.
fn expect(edn: &str, holds: &[&str], violated: &[&str]) {
    let control = Control::new();
    let input = Input::new("history.edn", edn.as_bytes());
    let history = formats::read(&input, None, &control).expect("it can be read");
    let level = |code: &&str| code.parse::<Level>().expect("there is such a level");
    let levels: Vec<Level> = holds.iter().chain(violated).map(level).collect();
    let findings = audit::check(&history, &Options { levels, ..Options::default() }, &control, &|_| {});
    let found: BTreeMap<&str, Option<bool>> = findings
        .levels
        .iter()
        .map(|result| {
            let holds = match result.verdict {
                Verdict::Satisfied(_) => Some(true),
                Verdict::Violated => Some(false),
                Verdict::Undecided(_) => None,
            };
            (result.level.code(), holds)
        })
        .collect();
    let expected = holds.iter().map(|code| (*code, Some(true))).chain(violated.iter().map(|code| (*code, Some(false))));
    assert_eq!(found, expected.collect());
}

/// Elle #16: is an update that a later reader still sees serializable, though another writer ended before the reader began?
#[test]
fn an_update_that_outlives_a_later_write_is_serializable_but_not_in_real_time() {
    expect(
        "{:process 1, :type :invoke, :f :txn, :value [[:r 0 nil] [:w 0 1]], :time 0}
         {:process 2, :type :invoke, :f :txn, :value [[:w 0 2]], :time 1}
         {:process 1, :type :ok, :f :txn, :value [[:r 0 nil] [:w 0 1]], :time 2}
         {:process 2, :type :ok, :f :txn, :value [[:w 0 2]], :time 3}
         {:process 3, :type :invoke, :f :txn, :value [[:r 0 nil]], :time 4}
         {:process 3, :type :ok, :f :txn, :value [[:r 0 1]], :time 5}",
        &["SER", "SI", "CS", "R-RC", "R-RA", "R-MSR"],
        &["SSER", "K-SER", "R-SI", "R-PSI", "R-UA"],
    );
}

/// Elle #17: snapshot isolation and strong session snapshot isolation differ.
#[test]
fn a_session_may_miss_what_a_transaction_saw_that_missed_its_write_only_without_session_order() {
    expect(
        "{:type :invoke, :value [[:r :x nil] [:r :z nil]], :process 0, :index 0}
         {:type :ok, :value [[:r :x nil] [:r :z [1]]], :process 0, :index 1}
         {:type :invoke, :value [[:append :x 1]], :process 1, :index 2}
         {:type :ok, :value [[:append :x 1]], :process 1, :index 3}
         {:type :invoke, :value [[:r :z nil]], :process 1, :index 4}
         {:type :ok, :value [[:r :z nil]], :process 1, :index 5}
         {:type :invoke, :value [[:append :z 1]], :process 2, :index 6}
         {:type :ok, :value [[:append :z 1]], :process 2, :index 7}",
        &["P-SER", "P-SI", "P-PC", "PSI", "TCC"],
        &["SER", "SI", "PC"],
    );
}

/// Elle #20: the example of Elle's paper, which has one anti-dependency and a version order that the lists show.
#[test]
fn the_example_of_the_paper_misses_one_version() {
    let first = "[:append 253 1] [:append 253 3] [:append 253 4] [:append 255 2] [:append 255 3] [:append 255 4] \
                 [:append 255 5] [:append 256 1] [:append 256 2]";
    let transactions = [
        (first, first),
        ("[:append 255 8] [:r 253 nil]", "[:append 255 8] [:r 253 [1 3 4]]"),
        (
            "[:append 256 4] [:r 255 nil] [:r 256 nil] [:r 253 nil]",
            "[:append 256 4] [:r 255 [2 3 4 5 8]] [:r 256 [1 2 4]] [:r 253 [1 3 4]]",
        ),
        (
            "[:append 250 10] [:r 253 nil] [:r 255 nil] [:append 256 3]",
            "[:append 250 10] [:r 253 [1 3 4]] [:r 255 [2 3 4 5]] [:append 256 3]",
        ),
    ];
    let mut edn = String::new();
    for (process, (invoked, ended)) in transactions.iter().enumerate() {
        edn += &format!("{{:process {process}, :type :invoke, :f :txn, :value [{invoked}]}}\n");
        edn += &format!("{{:process {process}, :type :ok, :f :txn, :value [{ended}]}}\n");
    }
    // Whether the last element came before or after the fourth one is not shown by a list.
    let later = "{:process 9, :type :invoke, :f :txn, :value [[:r 256 nil]]}
                 {:process 9, :type :ok, :f :txn, :value [[:r 256 [1 2 4 3]]]}\n";
    expect(&edn, &["PC", "TCC"], &["SER", "P-SER"]);
    expect(&(edn + later), &["PC", "TCC"], &["SER", "SI", "PSI", "P-PSI"]);
}

/// Elle #21, first: a cycle of two reads and a session.
#[test]
fn a_cycle_of_reads_and_one_session_is_only_one_with_session_order() {
    expect(
        "{:process 1, :type :invoke, :f :txn, :value [[:r :x] [:append :y 1]], :index 0}
         {:process 1, :type :ok, :f :txn, :value [[:r :x [1]] [:append :y 1]], :index 1}
         {:process 2, :type :invoke, :f :txn, :value [[:r :y]], :index 2}
         {:process 2, :type :ok, :f :txn, :value [[:r :y [1]]], :index 3}
         {:process 2, :type :invoke, :f :txn, :value [[:append :x 1]], :index 4}
         {:process 2, :type :ok, :f :txn, :value [[:append :x 1]], :index 5}",
        &["P-SER", "P-TCC"],
        &["PL2", "RC", "TCC", "SI"],
    );
}

/// Elle #21, second: a transaction reads what it appends later.
#[test]
fn a_read_of_an_own_later_element_violates_every_level_of_committed_reads() {
    expect(
        "{:process 1, :type :invoke, :f :txn, :value [[:r :x nil] [:append :x 1]]}
         {:process 1, :type :ok, :f :txn, :value [[:r :x [1]] [:append :x 1]]}",
        &["CI"],
        &["P-PL2", "PL2", "RC", "SER"],
    );
}

/// Elle #25: monotonic view forbids going back past anything that a transaction depends on, through sessions or not.
#[test]
fn a_view_goes_back_through_transactions_and_through_sessions() {
    let history = |second: usize| {
        format!(
            "{{:process 0, :type :invoke, :f :txn, :value [[:append :x 1]]}}
             {{:process 0, :type :ok, :f :txn, :value [[:append :x 1]]}}
             {{:process {second}, :type :invoke, :f :txn, :value [READ[:append :y 1]]}}
             {{:process {second}, :type :ok, :f :txn, :value [SEEN[:append :y 1]]}}
             {{:process 2, :type :invoke, :f :txn, :value [[:r :y nil] [:r :x nil]]}}
             {{:process 2, :type :ok, :f :txn, :value [[:r :y [1]] [:r :x nil]]}}"
        )
    };
    let by_read = history(1).replace("READ", "[:r :x nil] ").replace("SEEN", "[:r :x [1]] ");
    expect(&by_read, &["RC", "P-RC", "RA"], &["MV", "P-MV", "TCC", "PSI", "P-PSI"]);
    let by_session = history(0).replace("READ", "").replace("SEEN", "");
    expect(&by_session, &["RC", "P-MV", "P-PSI", "RA"], &["MV", "TCC", "PSI"]);
}

/// Elle #27: serializable, no stale reads of any key, but not strictly serializable.
#[test]
fn independent_writes_may_be_seen_in_another_order_where_real_time_counts_per_key_only() {
    expect(
        "{:process 0, :time 1000, :type :invoke, :f :txn, :value [[:r :x nil] [:r :y nil]]}
         {:process 1, :time 1001, :type :invoke, :f :txn, :value [[:append :x 1]]}
         {:process 1, :time 1010, :type :ok, :f :txn, :value [[:append :x 1]]}
         {:process 1, :time 1011, :type :invoke, :f :txn, :value [[:append :y 2]]}
         {:process 1, :time 1020, :type :ok, :f :txn, :value [[:append :y 2]]}
         {:process 0, :time 1030, :type :ok, :f :txn, :value [[:r :x []] [:r :y [2]]]}",
        &["P-SER", "K-SER", "K-SI"],
        &["SER", "SSER", "SI", "R-SI"],
    );
}
