//! Counterexamples that the verifier accepts.

use crate::checkers::{Findings, Level, LevelResult, Verdict, Violation};
use crate::control::Control;
use crate::counterexample::{self, Counterexample};
use crate::history::History;
use crate::{report, verify};

/// Parts with more operations are shown without verifying them again, which visits all operations.
const MOST_VERIFIED: usize = 100_000;

/// [`counterexample::minimize`], verified: where the verifier does not accept the claim of the small history, the
/// violation is shown in the whole one, in which it was accepted. Costs as much as minimizing, plus O(the part).
pub fn minimize(history: &History, violation: &Violation, control: &Control) -> Counterexample {
    accepted(counterexample::minimize(history, violation, control), history, violation)
}

/// [`counterexample::minimize_at`], verified in the same way.
pub fn minimize_at(history: &History, violation: &Violation, level: Level, control: &Control) -> Counterexample {
    accepted(counterexample::minimize_at(history, violation, level, control), history, violation)
}

fn accepted(example: Counterexample, history: &History, violation: &Violation) -> Counterexample {
    let is_accepted = example.history.n_operations() > MOST_VERIFIED || holds(&example);
    if is_accepted { example } else { counterexample::whole(history, violation, example.level) }
}

/// Whether the verifier accepts the violation of a counterexample and its description.
pub fn holds(example: &Counterexample) -> bool {
    let decided = |&(level, ref verdict): &(Level, Verdict)| LevelResult {
        level,
        verdict: verdict.clone(),
        checker: "",
        seconds: 0.0,
        sources: Vec::new(),
        assuming: Vec::new(),
    };
    let violated = example.verdicts.iter().filter(|(_, verdict)| *verdict == Verdict::Violated);
    let findings = Findings { levels: violated.map(decided).collect(), ..Findings::default() };
    let (entry, _) = report::violation(&example.history, &findings, &example.violation);
    verify::verify_example(&example.history, &entry).is_ok()
}
