//! Histories so long that their beginning is decided first and that what an engine found is the first evidence.

use crate::common;

use common::examine;
use common::random::is_first_run;
use isoscope::audit;
use isoscope::checkers::{Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::generate::{Generation, Length, Model, Workload};
use isoscope::history::History;

/// As many transactions as it takes.
fn long_history(store: Model, keys: u64) -> History {
    let workload = Workload {
        sessions: 20,
        transactions: if is_first_run() { 3_300 } else { 13_200 },
        operations: Length::fixed(4),
        keys,
        ..Workload::default()
    };
    Generation {
        lag: 100,
        ..Generation::new(workload, store)
    }
    .history(&Control::new())
    .expect("no limit was set")
}

/// The verdicts at some levels, without counting, each with evidence that the verifier accepts.
#[track_caller]
fn assert_verdicts(history: &History, expected: &[(Level, bool)]) {
    let levels = expected.iter().map(|(level, _)| *level).collect();
    let options = Options {
        levels,
        counts: false,
        ..Options::default()
    };
    let findings = audit::check(history, &options, &Control::new(), &|_| {});
    for (level, holds) in expected {
        let verdict = &findings.level(*level).expect("it was asked for").verdict;
        assert_eq!(
            (
                matches!(verdict, Verdict::Satisfied(_)),
                *verdict == Verdict::Violated
            ),
            (*holds, !holds),
            "{level}"
        );
    }
    if let Err(problem) = examine::evidence(history, &findings) {
        panic!("{problem}");
    }
}

const PC: Level = Level::PrefixConsistency;
const SI: Level = Level::SnapshotIsolation;
const SER: Level = Level::Serializability;

#[test]
fn levels_with_snapshots_asked_alone_are_explained_by_a_serial_order_if_there_is_one() {
    let serial = long_history(Model::Serial, 20_000);
    assert_verdicts(&serial, &[(PC, true)]);
    assert_verdicts(&serial, &[(SI, true)]);
    let snapshots = long_history(Model::Snapshot, 1_000);
    assert_verdicts(&snapshots, &[(SI, true)]);
    assert_verdicts(&snapshots, &[(PC, true), (SI, true), (SER, false)]);
}

/// With few keys the beginning breaks every level, with more it may take the whole history to see it.
#[test]
fn what_a_causal_store_returns_breaks_strong_levels_wherever_that_shows() {
    for keys in [1_000, 10_000] {
        let causal = long_history(Model::Causal, keys);
        assert_verdicts(&causal, &[(PC, false), (SI, false), (SER, false)]);
        assert_verdicts(&causal, &[(SI, false)]);
    }
}
