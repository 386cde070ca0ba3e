//! What is measured: one checker, one level, one history.

use isoscope::checkers::{Checker, Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::history::History;
use isoscope::papers;

/// The weak levels that have algorithms to compare.
pub(crate) const LEVELS: [Level; 3] = [
    Level::ReadCommitted,
    Level::ReadAtomic,
    Level::TransactionalCausalConsistency,
];

/// The levels that are NP-complete.
pub(crate) const STRONG_LEVELS: [Level; 3] = [
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializability,
];

/// The checkers to compare. `c4-tc` is left out: what tree clocks do shows with Plume.
pub(crate) const CHECKERS: [Checker; 6] = [
    Checker::Fast,
    Checker::Plume,
    Checker::PlumeTreeClocks,
    Checker::PlumeSearch,
    Checker::C4,
    Checker::BiswasEneaSaturation,
];

/// Decides a level and lists what violates it, from the bare history: the index is part of the work of every checker.
pub(crate) fn check(
    history: &History,
    checker: Checker,
    level: Level,
    control: &Control,
) -> Verdict {
    let options = Options {
        levels: vec![level],
        ..Options::default()
    };
    let findings = papers::check(history, checker, &options, control, &|_| ());
    findings
        .level(level)
        .map(|result| result.verdict.clone())
        .expect("the level was asked for")
}
