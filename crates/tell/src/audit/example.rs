//! Counterexamples that the verifier accepts.

use crate::counterexample::{
    self, Counterexample, Explanation, Minimizer, Shows, Tested, listed_as, simpler_ones,
};
use crate::report::{self, ViolationEntry};
use isoscope_check::checkers::{Findings, Level, LevelResult, Pattern, Verdict, Violation};
use isoscope_check::health::{self, Health, Kind};
use isoscope_judge::verify;
use isoscope_model::control::Control;
use isoscope_model::history::{History, counted};
use isoscope_model::relations;
use std::sync::OnceLock;

/// Parts with more operations are shown without verifying them again, which visits all operations.
const MOST_VERIFIED: usize = 100_000;

/// [`counterexample::minimize`], verified: where the verifier does not accept the claim of the small history, the
/// violation is shown in the whole one, in which it was accepted. Costs as much as minimizing, plus O(the part).
pub fn minimize(history: &History, violation: &Violation, control: &Control) -> Counterexample {
    accepted(
        counterexample::minimize(history, violation, control),
        history,
        violation,
        control,
    )
}

/// [`counterexample::minimize_at`], verified in the same way.
pub fn minimize_at(
    history: &History,
    violation: &Violation,
    level: Level,
    control: &Control,
) -> Counterexample {
    accepted(
        counterexample::minimize_at(history, violation, level, control),
        history,
        violation,
        control,
    )
}

/// The listed violations of a history, each with the counterexample that is shown of it.
pub struct Examples<'a> {
    history: &'a History,
    findings: &'a Findings,
    simpler: Vec<Option<usize>>,
    /// What they share, computed when the first is requested.
    minimizer: OnceLock<Option<Minimizer<'a>>>,
    /// The health of the history, examined when the first violation needs it.
    health: OnceLock<Health>,
    tested: Tested,
}

/// What is shown of a violation.
#[derive(Clone, Debug)]
pub struct Example {
    /// The listed violation that the counterexample is one of: the chosen one, or a simpler one that it contains.
    pub violation: Violation,
    /// The counterexample.
    pub counterexample: Counterexample,
    /// Why it is one, with what is known of the whole history.
    pub explanation: Explanation,
}

impl<'a> Examples<'a> {
    /// Of the violations listed in what was found in `history`. O(size of the violations).
    pub fn new(history: &'a History, findings: &'a Findings) -> Examples<'a> {
        let simpler = simpler_ones(history, &findings.violations);
        Examples {
            history,
            findings,
            simpler,
            minimizer: OnceLock::new(),
            health: OnceLock::new(),
            tested: Tested::of(history),
        }
    }

    /// The same of what was tested in truth, where that is known better than from the file.
    #[must_use]
    pub fn of_tested(self, tested: Tested) -> Examples<'a> {
        Examples { tested, ..self }
    }

    /// By place in the list: the place of the simplest violation that it contains, as in [`simpler_ones`].
    pub fn simpler_ones(&self) -> &[Option<usize>] {
        &self.simpler
    }

    /// The listed violation that explains one most simply: under its name the lists of `check` and of the window have the
    /// cause. O(violations).
    pub fn cause_of<'v>(&'v self, violation: &'v Violation) -> &'v Violation {
        let listed = &self.findings.violations;
        let place = listed.iter().position(|other| other.id == violation.id);
        // The simplest ones contain none.
        let simplest = place.and_then(|place| self.simpler[place].or(Some(place)));
        simplest.map_or(violation, |place| &listed[place])
    }

    /// What is shown of a violation, which need not be listed. Where that is not the violation itself but a simpler one
    /// among its transactions, it is the listed one, with the same counterexample as if that had been chosen. Costs
    /// O(operations of the history) once, and then one minimization, or one of each violation on the way.
    pub fn of(&self, violation: &Violation, control: &Control) -> Example {
        let (mut violation, mut counterexample) = (violation, self.minimize(violation, control));
        let mut seen = vec![violation.id];
        while let Some(listed) = self
            .listed_instead(violation, &counterexample)
            .filter(|v| !seen.contains(&v.id))
        {
            (violation, counterexample) = (listed, self.minimize(listed, control));
            seen.push(listed.id);
        }
        let mut explanation = counterexample::explain_within(&counterexample, control).within(
            self.history,
            self.findings,
            violation,
            &self.simpler,
        );
        explanation.doubt = self.doubt(violation.id.pattern, control);
        Example {
            violation: violation.clone(),
            explanation: explanation.of_tested(&counterexample, &self.tested),
            counterexample,
        }
    }

    /// What is shown of a violation as itself: minimal for its pattern and under its own headline, although a simpler one
    /// may explain it; which one is said. Costs two minimizations.
    pub fn itself(&self, violation: &Violation, control: &Control) -> Example {
        self.itself_beside(self.of(violation, control), violation, control)
    }

    /// What a list shows of a violation: the simplest where it is listed under this name, else [itself](Self::itself), so
    /// that the row and its picture agree.
    pub fn of_row(&self, violation: &Violation, control: &Control) -> Example {
        match self.of(violation, control) {
            simplest if simplest.violation.id == violation.id => simplest,
            simplest => self.itself_beside(simplest, violation, control),
        }
    }

    fn itself_beside(
        &self,
        simplest: Example,
        violation: &Violation,
        control: &Control,
    ) -> Example {
        let is_it = simplest.counterexample.shows == Shows::Chosen
            && simplest.counterexample.violation.id.pattern == violation.id.pattern;
        if is_it && simplest.violation.id == violation.id {
            return simplest;
        }
        let minimizer = self.minimizer(control);
        let Some(minimizer) = minimizer else {
            return simplest;
        };
        let own = accepted(
            minimizer.itself(violation, control),
            self.history,
            violation,
            control,
        );
        let mut explanation = counterexample::explain_within(&own, control).within(
            self.history,
            self.findings,
            violation,
            &[],
        );
        explanation.doubt = self.doubt(violation.id.pattern, control);
        explanation.told_by = Some(told_by(&simplest));
        Example {
            violation: violation.clone(),
            explanation: explanation.of_tested(&own, &self.tested),
            counterexample: own,
        }
    }

    /// What the health of the history says about reads that violate a level by themselves.
    fn doubt(&self, pattern: Pattern, control: &Control) -> Option<String> {
        let kinds: &[Kind] = match pattern {
            Pattern::ThinAirRead => &[Kind::ThinAir, Kind::CutOff, Kind::LeftOver],
            Pattern::AbortedRead => &[Kind::TimedOut],
            _ => return None,
        };
        let examine = || {
            health::examine(
                self.history,
                &relations::resolve(self.history, control).ok()?,
                control,
            )
            .ok()
        };
        let health = self.health.get_or_init(|| examine().unwrap_or_default());
        let about = health
            .doubts()
            .filter(|finding| kinds.contains(&finding.kind));
        let texts: Vec<&str> = about.map(|finding| finding.text.as_str()).collect();
        (!texts.is_empty()).then(|| format!("Doubt: {}", texts.join(" ")))
    }

    fn listed_instead(
        &self,
        violation: &Violation,
        example: &Counterexample,
    ) -> Option<&'a Violation> {
        if example.shows == Shows::Chosen {
            return None;
        }
        let violations = &self.findings.violations;
        let place = violations
            .iter()
            .position(|listed| listed.id == violation.id);
        let simpler = place.and_then(|place| *self.simpler.get(place)?);
        let same = || listed_as(self.history, violations, violation, example);
        let instead = simpler.or_else(|| same().map(|other| self.simpler[other].unwrap_or(other)));
        instead
            .filter(|other| Some(*other) != place)
            .map(|other| &violations[other])
    }

    fn minimizer(&self, control: &Control) -> Option<&Minimizer<'a>> {
        let minimizer = self
            .minimizer
            .get_or_init(|| Minimizer::new(self.history, control).ok());
        minimizer.as_ref()
    }

    fn minimize(&self, violation: &Violation, control: &Control) -> Counterexample {
        match self.minimizer(control) {
            Some(minimizer) => accepted(
                minimizer.minimize(violation, control),
                self.history,
                violation,
                control,
            ),
            None => minimize(self.history, violation, control),
        }
    }
}

/// "TAP-f/1 (2 transactions)": which violation a counterexample shows, and its size.
fn told_by(simplest: &Example) -> String {
    let (example, listed) = (&simplest.counterexample, simplest.violation.id);
    let shown = example.violation.id.pattern;
    let name = match shown == listed.pattern {
        true => listed.to_string(),
        false => format!("{shown} among the same transactions"),
    };
    let size = counted(example.history.n_transactions(), "transaction");
    format!("{name} ({size})")
}

fn accepted(
    example: Counterexample,
    history: &History,
    violation: &Violation,
    control: &Control,
) -> Counterexample {
    let is_accepted = example.history.n_operations() > MOST_VERIFIED || holds(&example);
    if is_accepted {
        example
    } else {
        counterexample::whole(history, violation, example.level, control)
    }
}

/// Whether the verifier accepts the violation of a counterexample.
pub fn holds(example: &Counterexample) -> bool {
    verify::verify_example(&example.history, &entry(example)).is_ok()
}

/// The entry in a report of the violation of a counterexample, in terms of its small history.
pub fn entry(example: &Counterexample) -> ViolationEntry {
    let decided =
        |(level, verdict): &(Level, Verdict)| LevelResult::new(*level, verdict.clone(), "", 0.0);
    let violated = example
        .verdicts
        .iter()
        .filter(|(_, verdict)| *verdict == Verdict::Violated);
    let findings = Findings {
        levels: violated.map(decided).collect(),
        ..Findings::default()
    };
    report::violation(&example.history, &findings, &example.violation).0
}
