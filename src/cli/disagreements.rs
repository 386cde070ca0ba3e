//! Levels on which the checkers and the verifier disagree: that is a bug in this program, so it is reported loudly.

use super::output::codes;
use super::{ExitCode, complain};
use crate::checkers::{Cause, Findings, LevelResult, Verdict};
use std::path::Path;

/// Says on standard error which file to report, if there is any such level, and raises the exit code `done` to at least
/// undecided.
pub(super) fn reported(path: &Path, findings: &Findings, done: ExitCode) -> ExitCode {
    let is_disputed = |result: &&LevelResult| {
        matches!(
            result.verdict,
            Verdict::Undecided(Cause::Disagreement { .. })
        )
    };
    let levels = codes(
        findings
            .levels
            .iter()
            .filter(is_disputed)
            .map(|result| result.level),
    );
    if levels.is_empty() {
        return done;
    }
    complain(&format!(
        "{}: internal disagreement at {levels}: the verifier does not accept the evidence; please report this and attach that file",
        path.display()
    ));
    done.max(ExitCode::Undecided)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit;
    use crate::checkers::{self, Options, Witness};
    use crate::common::history;
    use crate::control::Control;
    use crate::relations::resolve;

    #[test]
    fn a_disagreement_ends_with_code_3() {
        let history = history("a: [w x 1]\nb: [r x 1]");
        let control = Control::new();
        let mut findings = checkers::check(&history, &Options::default(), &control, &|_| {});
        for result in &mut findings.levels {
            if let Verdict::Satisfied(Witness::CommitOrder(order)) = &mut result.verdict {
                std::sync::Arc::make_mut(order).reverse();
            }
        }
        assert_eq!(ExitCode::of(&findings).number(), 0);
        let resolution = resolve(&history, &control).expect("not interrupted");
        audit::review(&history, &resolution, &mut findings, &control);
        let path = Path::new("history.txt");
        assert_eq!(
            reported(path, &findings, ExitCode::of(&findings)).number(),
            3
        );
        assert_eq!(
            reported(path, &findings, ExitCode::Satisfied).number(),
            3,
            "explaining something else is no excuse"
        );
    }
}
