//! Verdicts whose evidence the verifier has accepted.
//!
//! The checkers decide and provide evidence, the verifier replays and follows it with its own code, and only then is a
//! verdict given. A satisfied level needs a witness that explains every read, a violated one a listed violation of the
//! level itself or of a weaker one. Where the verifier does not accept the result of the checkers, the level is
//! undecided ([`Cause::Disagreement`]), and a violation that it does not accept is not listed.
//!
//! Where levels are only needed at the end ([`verdicts`]), the witness of a level that an accepted stronger one implies
//! need not be checked.
//!
//! Verifying what was found in time may take [a little](Control::overtime) longer than the limit.
//!
//! Evidence may be missing without a disagreement. When the [`Control`] ends the work before a level's evidence was
//! produced and accepted, the level is undecided for that reason; what was accepted until then stays. With
//! [`Options::max_instances`] 0, evidence is produced and verified, but not listed. A share of a history is verified as
//! far as possible: whether the combined orders of its components include every transaction is known only when all
//! shares are joined. Nothing can be replayed where lists were merged on reading: there a satisfied level rests on the
//! checkers alone. The papers' algorithms produce no evidence, so their findings stay as they are.
//!
//! A counterexample is a history of its own, so its claim is verified, too ([`minimize`]).

mod evidence;
mod example;
mod other_orders;
#[cfg(test)]
mod tests;

use evidence::{stated, verified};
pub use example::{Example, Examples, entry, holds, minimize, minimize_at};
use isoscope_check::checkers::{
    self, Cause, Checker, Findings, Level, LevelResult, LevelSet, Options, Page, Verdict, Violation,
};
use isoscope_judge::verify::{Flaw, Verifier};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::History;
use isoscope_model::relations::{self, Resolution};
pub use other_orders::on_other_orders;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// This many instances of a pattern are listed to find one of a level that fewer do not show.
const MANY_INSTANCES: usize = 1000;

/// [`checkers::check`] with every verdict verified.
///
/// `observe` is called for a satisfied level as soon as its witness is accepted, and for a violated one when its
/// evidence is, which is after everything was decided.
pub fn check(
    history: &History,
    options: &Options,
    control: &Control,
    observe: &(dyn Fn(&LevelResult) + Sync),
) -> Findings {
    let begin = Instant::now();
    match relations::resolve(history, control) {
        Ok(resolution) => {
            let seconds = begin.elapsed().as_secs_f64();
            let mut findings =
                check_resolved(history, Arc::new(resolution), options, control, observe);
            findings.index_seconds += seconds;
            findings
        }
        // There is no evidence if the work was ended.
        Err(_) => checkers::check(history, options, control, observe),
    }
}

/// [`check_resolved`] without intermediate results: less work, since a satisfied level implies weaker ones.
pub fn verdicts(
    history: &History,
    resolution: Arc<Resolution>,
    options: &Options,
    control: &Control,
) -> Findings {
    let overtime = control.overtime();
    let audit = Audit::new(history, &resolution, &overtime);
    // Where the time is limited, a level that is decided must not wait for others.
    let tell = |result: &LevelResult| {
        if control.limits_time()
            && !audit
                .accepted()
                .keys()
                .any(|stronger| stronger.implies(result.level))
        {
            // The final review says what is wrong.
            let _ = audit.accepts(result);
        }
    };
    let mut findings = checkers::check_resolved(
        history,
        Arc::clone(&resolution),
        &with_evidence(options),
        control,
        &tell,
    );
    audit.conclude(&mut findings, options, Witnesses::ThatMatter);
    findings
}

/// [`checkers::count`], with the listed violations verified.
pub fn count(
    history: &History,
    resolution: Arc<Resolution>,
    findings: Findings,
    options: &Options,
    control: &Control,
) -> Findings {
    if !findings.can_be_counted() {
        return findings;
    }
    let accepted = findings.violations.clone();
    let mut findings =
        checkers::count(history, Arc::clone(&resolution), findings, options, control);
    let begin = Instant::now();
    control.phase("verifying", 0);
    let overtime = control.overtime();
    let audit = Audit::new(history, &resolution, &overtime);
    let shown = audit.review_violations(&mut findings);
    if let Some(interrupt) = shown.interrupt {
        // The evidence of the verdicts was accepted before.
        findings.violations = accepted;
        findings.end_early(interrupt);
    } else {
        audit.contradictions(&mut findings, shown.levels);
    }
    findings.check_seconds += begin.elapsed().as_secs_f64();
    if options.max_instances == 0 {
        findings.violations.clear();
    }
    findings
}

/// Looks for at least one violation, since a verdict needs it.
fn with_evidence(options: &Options) -> Options {
    Options {
        max_instances: options.max_instances.max(1),
        ..options.clone()
    }
}

/// [`check`] for a history whose reads were resolved before.
pub fn check_resolved(
    history: &History,
    resolution: Arc<Resolution>,
    options: &Options,
    control: &Control,
    observe: &(dyn Fn(&LevelResult) + Sync),
) -> Findings {
    let overtime = control.overtime();
    let audit = Audit::new(history, &resolution, &overtime);
    let reported: Mutex<LevelSet> = Mutex::default();
    let tell = |result: &LevelResult| {
        let is_known = match &result.verdict {
            Verdict::Satisfied(_) => audit.accepts(result).is_ok(),
            Verdict::Violated => false,
            Verdict::Undecided(_) => true,
        };
        if is_known {
            reported
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .insert(result.level);
            observe(result);
        }
    };
    let mut findings = checkers::check_resolved(
        history,
        Arc::clone(&resolution),
        &with_evidence(options),
        control,
        &tell,
    );
    audit.conclude(&mut findings, options, Witnesses::All);
    let reported = reported
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let is_new = |result: &&LevelResult| {
        !reported.contains(result.level)
            || matches!(
                result.verdict,
                Verdict::Undecided(Cause::Disagreement { .. })
            )
    };
    findings.levels.iter().filter(is_new).for_each(observe);
    findings
}

/// [`checkers::instances`] that the verifier accepts. Those that it does not accept are left out, and the assumptions
/// of the findings say so.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub fn instances(
    history: &History,
    findings: &mut Findings,
    page: Page,
    control: &Control,
) -> Result<Vec<Violation>, Interrupt> {
    let violations = checkers::instances(history, findings, page, control)?;
    if findings.checker != Checker::Fast || violations.is_empty() {
        return Ok(violations);
    }
    let resolution = relations::resolve(history, control)?;
    let mut found = Findings {
        violations,
        levels: findings.levels.clone(),
        ..Findings::default()
    };
    let shown = Audit::new(history, &resolution, control).review_violations(&mut found);
    findings.assume(&mut found);
    shown.interrupt.map_or(Ok(found.violations), Err)
}

/// Verifies the findings of the checkers about a history: verdicts whose evidence is not accepted become undecided, and
/// such violations are no longer listed.
pub fn review(
    history: &History,
    resolution: &Resolution,
    findings: &mut Findings,
    control: &Control,
) {
    if findings.checker == Checker::Fast {
        Audit::new(history, resolution, &control.overtime()).review(findings, Witnesses::All);
    }
}

/// One history under audit.
struct Audit<'a> {
    history: &'a History,
    resolution: &'a Resolution,
    control: &'a Control,
    verifier: Verifier<'a>,
    /// By level: what was accepted.
    accepted: Mutex<BTreeMap<Level, LevelResult>>,
}

impl<'a> Audit<'a> {
    fn new(history: &'a History, resolution: &'a Resolution, control: &'a Control) -> Audit<'a> {
        let verifier = Verifier::new(history, control);
        Audit {
            history,
            resolution,
            control,
            verifier,
            accepted: Mutex::default(),
        }
    }

    /// Whether the evidence of a satisfied level holds.
    fn accepts(&self, result: &LevelResult) -> Result<(), Flaw> {
        if self
            .accepted()
            .get(&result.level)
            .is_some_and(|known| is_same(known, result))
        {
            return Ok(());
        }
        let Verdict::Satisfied(witness) = &result.verdict else {
            return Ok(());
        };
        verified(self.resolution, &self.verifier, result, witness)?;
        self.accepted().insert(result.level, result.clone());
        Ok(())
    }

    fn accepted(&self) -> std::sync::MutexGuard<'_, BTreeMap<Level, LevelResult>> {
        self.accepted
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The final review; violations that were not requested are not listed.
    fn conclude(&self, findings: &mut Findings, options: &Options, witnesses: Witnesses) {
        let begin = Instant::now();
        self.control.phase("verifying", 0);
        self.review(findings, witnesses);
        if options.max_instances == 0 {
            findings.violations.clear();
        }
        findings.check_seconds += begin.elapsed().as_secs_f64();
    }

    /// Keeps the verdicts and violations whose evidence holds.
    fn review(&self, findings: &mut Findings, witnesses: Witnesses) {
        // Strongest first, so that the implications for weaker ones are known.
        let mut results: Vec<&mut LevelResult> = findings.levels.iter_mut().collect();
        results.sort_unstable_by_key(|result| std::cmp::Reverse(result.level));
        let mut shown = LevelSet::default();
        for result in results {
            let is_shown = witnesses == Witnesses::ThatMatter
                && shown.iter().any(|stronger| stronger.implies(result.level));
            if matches!(result.verdict, Verdict::Satisfied(_)) && !is_shown {
                self.review_satisfied(result);
                if matches!(result.verdict, Verdict::Satisfied(_)) {
                    shown.insert(result.level);
                }
            }
        }
        let shown = self.review_violations(findings);
        let violated: Vec<usize> = (0..findings.levels.len())
            .filter(|&place| findings.levels[place].verdict == Verdict::Violated)
            .collect();
        for place in violated {
            let level = findings.levels[place].level;
            if !shown.implies(level)
                && let Some(cause) = self.why_not_shown(level, &shown, findings)
            {
                findings.levels[place].verdict = Verdict::Undecided(cause);
            }
        }
        self.contradictions(findings, shown.levels);
    }

    fn review_satisfied(&self, result: &mut LevelResult) {
        match self.accepts(result) {
            Ok(()) => {}
            Err(Flaw::Wrong(message)) => {
                let message = format!(
                    "the order that is said to satisfy {} does not: {message}",
                    result.level
                );
                result.verdict = Verdict::Undecided(self.disagreement(message));
            }
            Err(Flaw::Interrupted(interrupt)) => match self.accepted().remove(&result.level) {
                Some(known) => (result.verdict, result.sources) = (known.verdict, known.sources),
                None => result.verdict = Verdict::Undecided(Cause::Interrupted(interrupt)),
            },
        }
    }

    /// Removes violations that are not accepted from the list; they do not count, either.
    fn review_violations(&self, findings: &mut Findings) -> Shown {
        let stated: Vec<_> = findings
            .violations
            .par_iter()
            .map(|violation| stated(self.history, findings, violation))
            .collect();
        let checked = self.verifier.violations(&stated);
        let mut shown = Shown::default();
        let mut checked = checked.into_iter().zip(stated);
        findings.violations.retain(|violation| {
            let Some((checked, stated)) = checked.next() else {
                return false;
            };
            let levels = stated.entry.levels.iter().copied();
            let is_accepted = checked.is_ok();
            let is_wrong = matches!(checked, Err(Flaw::Wrong(_)));
            if let Some(count) = findings
                .patterns
                .get_mut(&violation.id.pattern)
                .filter(|_| is_wrong)
            {
                *count = count.saturating_sub(1);
            }
            match checked {
                Ok(()) => levels.for_each(|level| shown.levels.insert(level)),
                Err(Flaw::Interrupted(interrupt)) => shown.interrupt = Some(interrupt),
                Err(Flaw::Wrong(message)) => {
                    levels.for_each(|level| shown.rejected.insert(level));
                    shown
                        .message
                        .get_or_insert(format!("{} does not hold: {message}", violation.id));
                    shown.n_rejected += 1;
                }
            }
            is_accepted
        });
        findings.patterns.retain(|_, count| *count > 0);
        if let Some(message) = &shown.message {
            findings.assumptions.push(format!(
                "{} listed before {} left out, because the verifier does not accept {}; please report this: {message}.",
                if shown.n_rejected == 1 {
                    "1 violation".to_owned()
                } else {
                    format!("{} violations", shown.n_rejected)
                },
                if shown.n_rejected == 1 { "is" } else { "are" },
                if shown.n_rejected == 1 { "it" } else { "them" },
            ));
        }
        shown
    }

    /// Why a level reported as violated is not shown to be; none where a longer list shows it.
    fn why_not_shown(&self, level: Level, shown: &Shown, findings: &Findings) -> Option<Cause> {
        match self.verifier.breaks_object(level) {
            Some(true) => return None,
            Some(false) => {
                let message = "an order explains all answers".to_owned();
                return Some(self.disagreement(message));
            }
            None => {}
        }
        if let Some(message) = shown
            .message
            .as_ref()
            .filter(|_| shown.rejected.iter().any(|weaker| level.implies(weaker)))
        {
            return Some(self.disagreement(message.clone()));
        }
        if let Some(interrupt) = shown.interrupt.or_else(|| self.control.check().err()) {
            return Some(Cause::Interrupted(interrupt));
        }
        let listed = findings.violations.len() as u64;
        if findings.patterns.values().sum::<u64>() > listed {
            let options = Options {
                levels: vec![level],
                max_instances: MANY_INSTANCES,
                ..Options::default()
            };
            let mut more = checkers::check(self.history, &options, self.control, &|_| {});
            let shown = self.review_violations(&mut more);
            if shown.implies(level) {
                return None;
            }
            if let Some(message) = shown.message {
                return Some(self.disagreement(message));
            }
        }
        Some(Cause::Unproven)
    }

    /// A level that is satisfied implies none that is violated.
    fn contradictions(&self, findings: &mut Findings, shown: LevelSet) {
        let satisfied = |result: &LevelResult| matches!(result.verdict, Verdict::Satisfied(_));
        let pairs: Vec<(Level, Level)> = findings
            .levels
            .iter()
            .filter(|result| satisfied(result))
            .flat_map(|result| shown.iter().map(|weaker| (result.level, weaker)))
            .filter(|(level, weaker)| level.implies(*weaker))
            .collect();
        for (level, weaker) in pairs {
            let message = format!(
                "evidence was accepted that {level} is satisfied and that {weaker} is violated"
            );
            let concerned = |result: &&mut LevelResult| {
                !matches!(result.verdict, Verdict::Undecided(_))
                    && (level.implies(result.level) && satisfied(result)
                        || result.level.implies(weaker))
            };
            for result in findings.levels.iter_mut().filter(concerned) {
                result.verdict = Verdict::Undecided(self.disagreement(message.clone()));
            }
        }
    }

    fn disagreement(&self, message: String) -> Cause {
        Cause::Disagreement {
            file: self.history.origin().path.clone(),
            message,
        }
    }
}

/// Which witnesses are checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Witnesses {
    All,
    /// Those of levels that no accepted stronger one implies.
    ThatMatter,
}

/// What the listed violations show.
#[derive(Default)]
struct Shown {
    /// The levels that accepted ones name.
    levels: LevelSet,
    /// Those that rejected ones name.
    rejected: LevelSet,
    n_rejected: usize,
    /// Why the first of them was rejected.
    message: Option<String>,
    /// What ended the work.
    interrupt: Option<Interrupt>,
}

impl Shown {
    /// Whether a level is violated because of an accepted violation, of itself or of a weaker level.
    fn implies(&self, level: Level) -> bool {
        self.levels.iter().any(|weaker| level.implies(weaker))
    }
}

/// Whether two results have the same evidence.
fn is_same(a: &LevelResult, b: &LevelResult) -> bool {
    matches!(a.verdict, Verdict::Satisfied(_)) && a.verdict == b.verdict && a.sources == b.sources
}
