//! Histories that users of Elle asked about in its issue tracker, and those that Elle's own tests are about, each with the levels
//! in question.

use crate::common;

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
    let levels: Vec<Level> = holds
        .iter()
        .chain(violated)
        .map(|name| named(name))
        .collect();
    let findings = audit::check(
        &history,
        &Options {
            levels,
            ..Options::default()
        },
        &control,
        &|_| {},
    );
    let found: BTreeMap<&'static str, Option<bool>> = findings
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
    let all = |names: &[&str], holds| -> Vec<(&'static str, Option<bool>)> {
        names
            .iter()
            .map(|name| (named(name).code(), Some(holds)))
            .collect()
    };
    let expected = all(holds, true).into_iter().chain(all(violated, false));
    assert_eq!(found, expected.collect(), "{edn}");
}

/// The level with a code, or with one of Elle's keywords after a colon.
fn named(name: &str) -> Level {
    isoscope::checkers::lattice::named(name).expect("there is such a level")
}

/// Transactions one after the other in Jepsen's notation, each as the process, the end and the operations: `1 ok ax1 ry[] rx[1,2]`
/// appends 1 to x, finds y empty and reads 1 and 2 from x, `wx1 rx_` writes 1 to a register and reads its initial value.
fn edn(transactions: &[&str]) -> String {
    let mut lines = String::new();
    for (n, transaction) in transactions.iter().enumerate() {
        let mut words = transaction.split(' ');
        let (process, end) = (
            words.next().expect("a process"),
            words.next().expect("an end"),
        );
        let operations = |reads: bool| -> Vec<String> {
            let operation = |word: &str| {
                let (kind, key, value) = (&word[..1], &word[1..2], word[2..].replace('_', "nil"));
                let kind = if kind == "a" { "append" } else { kind };
                let value = if kind == "r" && !reads { "nil" } else { &value };
                format!("[:{kind} :{key} {value}]")
            };
            words.clone().map(operation).collect()
        };
        for (at, kind) in ["invoke", end].into_iter().enumerate() {
            let value = operations(at == 1).join(" ");
            lines += &format!(
                "{{:process {process}, :type :{kind}, :f :txn, :value [{value}], :index {}}}\n",
                2 * n + at
            );
        }
    }
    lines
}

/// The same for transactions that are told by their operations alone: a process each, all committed.
fn each(transactions: &[&str]) -> String {
    let told: Vec<String> = transactions
        .iter()
        .enumerate()
        .map(|(n, t)| format!("{n} ok {t}"))
        .collect();
    edn(&told.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Elle's tests of list-append: a cycle of overwrites.
#[test]
fn elle_g0() {
    expect(
        &each(&["ax1 ay1", "ax2 ay2", "rx[1,2] ry[2,1]"]),
        &[],
        &[":read-uncommitted"],
    );
}

#[test]
fn elle_g1a() {
    let aborted = edn(&["0 fail ax1", "1 ok rx[1]"]);
    expect(&aborted, &[":read-uncommitted"], &[":read-committed"]);
    expect(
        &edn(&["0 ok rx2", "1 fail wx2"]),
        &[":read-uncommitted"],
        &[":read-committed"],
    );
}

#[test]
fn elle_g1b() {
    expect(
        &each(&["ax1 ax2", "rx[1]"]),
        &[":read-uncommitted"],
        &[":read-committed"],
    );
    expect(
        &each(&["wx1 wx2", "rx1"]),
        &[":read-uncommitted"],
        &[":read-committed"],
    );
}

#[test]
fn elle_g1c() {
    expect(
        &each(&["ax1 ry[1]", "ax2 ay1", "rx[1,2] ry[1]"]),
        &[":read-uncommitted"],
        &[":read-committed"],
    );
    expect(
        &each(&["wx1 ry1", "wy1 rx1"]),
        &[":read-uncommitted"],
        &[":read-committed"],
    );
}

/// Elle's consistent view is parallel snapshot isolation here.
#[test]
fn elle_g_single() {
    let weaker = [":read-committed", ":cursor-stability"];
    let broken = [
        ":consistent-view",
        ":repeatable-read",
        ":snapshot-isolation",
    ];
    expect(&each(&["ax1 ay1", "ax2 ry[]", "rx[1,2]"]), &weaker, &broken);
    expect(&each(&["ax1 ay1", "rx[1] ry[]"]), &weaker, &broken);
    expect(&each(&["rx_ ry1", "wy1 wx2"]), &weaker, &broken);
}

#[test]
fn elle_g2_item() {
    let snapshots = [":read-committed", ":snapshot-isolation", ":consistent-view"];
    expect(
        &each(&["ax1 ry[]", "ay1 rx[]"]),
        &snapshots,
        &[":repeatable-read", ":serializable"],
    );
    expect(
        &each(&["rx[] ay1", "ry[] ax1"]),
        &snapshots,
        &[":repeatable-read", ":serializable"],
    );
}

#[test]
fn elle_strong_and_strong_session_snapshot_isolation() {
    let stale = |third: &str| {
        edn(&[
            "0 ok ax1",
            "1 ok ax2",
            &format!("{third} ok rx[1]"),
            "3 ok rx[1,2]",
        ])
    };
    expect(
        &stale("2"),
        &[":serializable", ":strong-session-snapshot-isolation"],
        &[":strong-snapshot-isolation", ":strict-serializable"],
    );
    expect(
        &stale("1"),
        &[":serializable", ":snapshot-isolation"],
        &[":strong-session-snapshot-isolation"],
    );
}

/// Elle rules out read uncommitted where a list contains an element twice; here this is no matter of overwriting.
#[test]
fn elle_contradictory_and_duplicate_elements() {
    expect(
        &each(&["ax1 ry[1]", "ax2", "ax3 ay1", "rx[1,3]", "rx[1,2,3]"]),
        &[],
        &[":read-committed"],
    );
    expect(
        &each(&["ax1 ry[1]", "ax2 ay1", "rx[1,2,1]"]),
        &[],
        &[":read-committed"],
    );
}

#[test]
fn elle_dirty_update() {
    expect(
        &edn(&["0 fail ax1", "1 ok ax2", "2 ok rx[1,2]"]),
        &[],
        &[":read-committed"],
    );
    expect(
        &edn(&["0 fail ax1", "1 info ax2", "2 ok ax3", "3 ok rx[1,2,3]"]),
        &[],
        &[":read-committed"],
    );
}

#[test]
fn elle_internal() {
    expect(
        &each(&["ax1 ax2 ax4", "ax3 rx[1,2,3,4]"]),
        &[],
        &[":read-committed"],
    );
    expect(&each(&["rx1 wx2 rx1", "wx1"]), &[], &[":read-atomic"]);
    expect(&each(&["rx[1] ax1"]), &[], &[":read-committed"]);
}

/// What no read shows was appended after what the longest one shows. Elle rules out read uncommitted, too, where nothing but
/// what lists contain counts here.
#[test]
fn elle_unobserved_write() {
    expect(
        &each(&["ax1 ay1", "ax2 ay2", "ax3 ay3", "rx[1,2]", "ry[2]"]),
        &[],
        &[":read-committed"],
    );
}

#[test]
fn elle_g_nonadjacent() {
    let broken = [":snapshot-isolation", ":repeatable-read"];
    expect(
        &each(&["ax1", "rx[1] ry[]", "ay1", "ry[1] rx[]"]),
        &[":consistent-view"],
        &broken,
    );
    expect(
        &each(&["ax1 at1", "rx[1] ry[]", "ay1 az2", "rz[2] rt[]"]),
        &[":consistent-view"],
        &broken,
    );
    // Here two anti-dependencies follow each other.
    let adjacent = ["rx[5] ay1", "ry[] az2", "rz[] at3", "rt[3] au4", "ru[] ax5"];
    expect(&each(&adjacent), &[":snapshot-isolation"], &[]);
}

/// ROLA is update atomic here.
#[test]
fn elle_lost_update() {
    let broken = [":update-atomic", ":cursor-stability", ":snapshot-isolation"];
    let lost = ["ax0", "rx[0] ax1", "rx[0] ax2"];
    expect(&each(&lost), &[":read-atomic", ":prefix"], &broken);
    expect(
        &each(&["wx0", "rx0 wx1", "rx0 wx2"]),
        &[":read-atomic", ":prefix"],
        &broken,
    );
    expect(
        &each(&["rx[] ax1 ax2", "rx[1,2]"]),
        &[":strict-serializable"],
        &[],
    );
}

/// A graph on which Elle's search for cycles runs into its time limit.
#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn elle_huge_scc() {
    let corpus = common::corpus();
    let history = formats::open(&corpus.join("elle/huge-scc.edn.zst"), None, &Control::new())
        .expect("it can be read");
    let levels = [":strong-snapshot-isolation", ":strict-serializable"].map(named);
    let findings = audit::check(
        &history,
        &Options {
            levels: levels.to_vec(),
            ..Options::default()
        },
        &Control::new(),
        &|_| {},
    );
    assert!(
        findings
            .levels
            .iter()
            .all(|result| result.verdict == Verdict::Violated)
    );
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
        (
            "[:append 255 8] [:r 253 nil]",
            "[:append 255 8] [:r 253 [1 3 4]]",
        ),
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
    expect(
        &(edn + later),
        &["PC", "TCC"],
        &["SER", "SI", "PSI", "P-PSI"],
    );
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
    let by_read = history(1)
        .replace("READ", "[:r :x nil] ")
        .replace("SEEN", "[:r :x [1]] ");
    expect(
        &by_read,
        &["RC", "P-RC", "RA"],
        &["MV", "P-MV", "TCC", "PSI", "P-PSI"],
    );
    let by_session = history(0).replace("READ", "").replace("SEEN", "");
    expect(
        &by_session,
        &["RC", "P-MV", "P-PSI", "RA"],
        &["MV", "TCC", "PSI"],
    );
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
