//! Tests what hangs on the meaning of compare-and-sets of which a file only says that they failed.

use super::{CheckMode, Request};
use crate::checkers::{Findings, Level, Options, Verdict};
use isoscope_model::control::Control;
use isoscope_model::history::{FailedCasRule, History};

/// In longer histories the remark is not worth a second check.
const MOST_OPERATIONS: usize = 5_000;

/// Marks linearizability, the only level to which a failed comparison matters, if its verdict would be the other one were they
/// read the other way. As observations they can only add violations, so half of the verdicts need no second check.
pub(super) fn mark(history: &History, control: &Control, findings: &mut Findings) {
    const LEVEL: Level = Level::Linearizability;
    let violated = |level: Level| {
        findings
            .level(level)
            .is_some_and(|result| result.verdict == Verdict::Violated)
    };
    let may_change = match (
        history.failed_cas(),
        findings.level(LEVEL).map(|result| &result.verdict),
    ) {
        (FailedCasRule::Observed, Some(Verdict::Violated)) => {
            !violated(Level::StrictSerializability)
        }
        (FailedCasRule::Dropped, Some(Verdict::Satisfied(_))) => true,
        _ => false,
    } && history.n_operations() <= MOST_OPERATIONS;
    let Some(other) = may_change
        .then(|| history.with_other_failed_cas())
        .flatten()
    else {
        return;
    };
    let options = Options {
        levels: vec![LEVEL],
        max_instances: 0,
        counts: false,
    };
    let mode = CheckMode {
        tests_set_up: false,
        ..CheckMode::WHOLE
    };
    let again = Request {
        history: &other,
        options: &options,
        control,
        mode,
        observe: &|_| {},
    }
    .check(None);
    let again = again.level(LEVEL).map(|result| &result.verdict);
    for result in findings
        .levels
        .iter_mut()
        .filter(|result| result.level == LEVEL)
    {
        result.hangs_on_failed_cas = matches!(
            (&result.verdict, again),
            (Verdict::Satisfied(_), Some(Verdict::Violated))
                | (Verdict::Violated, Some(Verdict::Satisfied(_)))
        );
    }
}
