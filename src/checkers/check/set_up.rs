//! The assumption that some transactions set up the initial state, put to the test.
//!
//! What looks like a set-up may be a late reset: then counting it as part of ⊥ makes violations of what another order
//! explains. It hardly ever is one, and without the assumption two updates of an initial value that was written down would
//! go unnoticed, so the verdict stands; but whoever reads the report is told that it rests on the assumption.

use super::{Manner, check_with};
use crate::checkers::ambiguity::Patience;
use crate::checkers::strong::Effort;
use crate::checkers::{Checker, Findings, Level, LevelResult, Options, Verdict};
use crate::control::Control;
use crate::history::History;

/// Up to so many operations ambiguous reads are worth any effort.
const SMALL: usize = 5_000;

/// Adds to the assumptions of findings that the weakest level they call violated is satisfied if no transaction counts as
/// part of the initial state, where that is so.
///
/// Nothing is done where nothing above CI is violated: at CI all writers of initial values count as one in either reading.
/// Else one level is checked once more, in large histories with little effort for ambiguous reads.
pub(super) fn put_to_the_test(history: &History, options: &Options, control: &Control, findings: &mut Findings) {
    let violated = |result: &&LevelResult| result.verdict == Verdict::Violated && result.level != Level::CutIsolation;
    let violated: Vec<Level> = findings.levels.iter().filter(violated).map(|result| result.level).collect();
    let Some(&weakest) = violated.iter().min() else { return };
    let apart = history.without_assumed_set_up();
    let options = Options { levels: violated, max_instances: 0, checker: Checker::Fast, share: None, ..*options };
    let effort = if history.n_operations() <= SMALL { Effort::Any } else { Effort::Little };
    // Only a sentence hangs on it: that is worth so much and no more.
    let manner = Manner { effort, patience: Patience::Bounded, tests_set_up: false, ..Manner::WHOLE };
    let one = Options { levels: vec![weakest], ..options.clone() };
    let is_satisfied = |result: &LevelResult| matches!(result.verdict, Verdict::Satisfied(_));
    if !check_with(&apart, None, &one, control, manner, &|_| {}).levels.iter().any(is_satisfied) {
        return;
    }
    let other = check_with(&apart, None, &options, control, manner, &|_| {});
    let satisfied: Vec<&str> =
        other.levels.iter().filter(|result| is_satisfied(result)).map(|result| result.level.code()).collect();
    findings.assumptions.push(format!(
        "{} {} violated by that assumption alone: with what looks like the set-up taken for transactions like others, which \
         `--init none` does, another order explains every read.",
        satisfied.join(", "),
        if satisfied.len() == 1 { "is" } else { "are" },
    ));
}
