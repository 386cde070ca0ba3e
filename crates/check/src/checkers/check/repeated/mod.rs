//! Lists with elements that were appended more than once.
//!
//! It is not known which append made which of them, so a level is satisfied if some choice satisfies it. Under a choice
//! every append of the history has an element of its own ([`assignment`]): the other checkers know nothing else. A choice
//! includes the unknown outcomes of transactions that read such lists, since only the lists of committed transactions
//! must be explained.
//! First the levels are decided with every element left open that several appends may have made: a violation found then
//! is one. Then a few choices are guessed, and the rest is searched: case by case while there are few cases
//! ([`search`]), else by learning which answers are incompatible ([`combinations`]).

mod assignment;
mod combinations;
mod participants;
mod questions;
mod search;

use super::{CheckMode, Elements, Request, add};
use crate::checkers::rest::Counted;
use crate::checkers::{
    Cause, Findings, Instances, Level, LevelResult, LevelSet, Options, Pattern, Question, Verdict,
    Violation, Witness, evidence,
};
use assignment::ElementAssignment;
use combinations::Combinations;
use isoscope_model::control::Interrupt;
use isoscope_model::history::{OperationId, OperationKind, Outcome, TransactionId};
use isoscope_model::relations::Resolution;
use rustc_hash::{FxHashMap, FxHashSet};
use search::{Answer, AppendSearch, Guess, guess, never_appended};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) use questions::concerns;

/// Most operations visited for a guess.
const MOST_OPERATIONS: u64 = 20_000_000;

/// Checks a history with such elements. Also tells whether transactions are only assumed to set up the initial state.
pub(super) fn check(request: Request<'_>) -> (Findings, bool) {
    let Request {
        history,
        options,
        control,
        ..
    } = request;
    let mode = CheckMode {
        elements: Elements::LeftOpen,
        tests_set_up: false,
        ..request.mode
    };
    let open = Request {
        mode,
        observe: &|_| {},
        ..request
    };
    let assignment = match ElementAssignment::settled(history.clone(), control) {
        Ok(assignment) => assignment,
        Err(_) => return (open.check(None), false),
    };
    let assumes_set_up = assignment.resolution.assumes_set_up(history);
    let mut whole = Whole {
        open,
        resolution: assignment.resolution.clone(),
        verdicts: BTreeMap::new(),
        found: Instances::default(),
        assumptions: Vec::new(),
    };
    let every: LevelSet = Level::EVERY.into_iter().collect();
    let (of_reads, others): (Vec<Level>, Vec<Level>) =
        options.levels.iter().partition(|level| level.is_of_reads());
    // At cut isolation an element counts as that of every transaction that appended it.
    let mut base = Findings::default();
    if !of_reads.is_empty() {
        base = Request {
            options: &Options {
                levels: of_reads,
                ..options.clone()
            },
            ..open
        }
        .check(None);
        whole.take(
            &mut base,
            every.iter().filter(|level| level.is_of_reads()).collect(),
        );
    }
    if !others.is_empty() {
        let options = Options {
            levels: others.clone(),
            ..options.clone()
        };
        let open = Request {
            options: &options,
            ..open
        };
        let impossible = assignment.impossible;
        // What violates read committed with everything left open needs no case analysis.
        let is_open = impossible.is_none() && !violates_read_committed(open);
        let asked = if is_open {
            &assignment.history
        } else {
            history
        };
        let mut findings = Request {
            history: asked,
            ..open
        }
        .check(None);
        whole.take(
            &mut findings,
            every.iter().filter(|level| !level.is_of_reads()).collect(),
        );
        base.assumptions = std::mem::take(&mut findings.assumptions);
        base.cut = findings.cut;
        base.assumptions.extend(what_is_open(&assignment));
        base.rest = std::mem::take(&mut findings.rest);
        if !base.is_counted() {
            base.rest.counted = Counted::NotAtAll;
        }
        base.rest.distinguished = is_open.then(|| Arc::new(assignment.history.clone()));
        base.index_seconds += findings.index_seconds;
        base.check_seconds += findings.check_seconds;
        match impossible {
            Some(place) => whole.is_impossible(&others, place),
            None => {
                if let Err(interrupt) = whole.search(assignment, &others) {
                    let open = whole.open();
                    open.into_iter().for_each(|level| {
                        whole.set(level, Verdict::Undecided(Cause::Interrupted(interrupt)))
                    });
                }
            }
        }
    }
    (whole.findings(base), assumes_set_up)
}

/// One sentence for each kind of open question.
fn what_is_open(assignment: &ElementAssignment) -> Vec<String> {
    let mut sentences = Vec::new();
    let places = assignment
        .open
        .iter()
        .filter(|open| matches!(open.question, Question::Append { .. }))
        .count();
    if places > 0 {
        let subject = if places == 1 {
            "place of lists has"
        } else {
            "places of lists have"
        };
        sentences.push(format!(
            "{places} {subject} several possible appends, because elements were appended more than once; a level counts as \
             satisfied if one choice of appends satisfies it."
        ));
    }
    let outcomes = assignment.open.len() - places;
    if outcomes > 0 {
        let subject = if outcomes == 1 {
            "transaction"
        } else {
            "transactions"
        };
        sentences.push(format!(
            "{outcomes} {subject} of unknown outcome may have committed or not, and read lists with elements that were \
             appended more than once; a level counts as satisfied if one choice of outcomes satisfies it."
        ));
    }
    sentences
}

/// Whether the weakest level above cut isolation that the levels imply is violated with all that is open left open.
fn violates_read_committed(open: Request<'_>) -> bool {
    let implied = |level: &Level| {
        open.options
            .levels
            .iter()
            .all(|stronger| stronger.implies(*level))
    };
    let level = Some(Level::ReadCommitted)
        .filter(implied)
        .unwrap_or(Level::AdyaReadCommitted);
    let options = Options {
        levels: vec![level],
        max_instances: 0,
        ..open.options.clone()
    };
    let findings = Request {
        options: &options,
        ..open
    }
    .check(None);
    findings
        .level(level)
        .is_some_and(|result| result.verdict == Verdict::Violated)
}

struct Whole<'a> {
    /// How to check with everything left open.
    open: Request<'a>,
    /// Where nothing is supposed.
    resolution: Arc<Resolution>,
    verdicts: BTreeMap<Level, LevelResult>,
    found: Instances,
    assumptions: Vec<String>,
}

impl Whole<'_> {
    /// Keeps what was found about these levels.
    fn take(&mut self, findings: &mut Findings, levels: LevelSet) {
        for result in findings.levels.drain(..) {
            self.verdicts.insert(result.level, result);
        }
        let mut counts = std::mem::take(&mut findings.patterns);
        for mut violation in findings.violations.drain(..) {
            violation.levels = violation
                .levels
                .iter()
                .filter(|level| levels.contains(*level))
                .collect();
            match violation.levels.weakest() {
                Some(_) => self.found.violations.push(violation),
                // Instances of other levels only are not counted either.
                None => drop(
                    counts
                        .entry(violation.id.pattern)
                        .and_modify(|n| *n = n.saturating_sub(1)),
                ),
            }
        }
        for (pattern, n) in counts.into_iter().filter(|(_, n)| *n > 0) {
            let count = self.found.counts.entry(pattern).or_default();
            *count = n.max(*count);
        }
        // What was found at different levels is listed together.
        let mut listed: BTreeMap<Pattern, u64> = BTreeMap::new();
        self.found
            .violations
            .iter()
            .for_each(|violation| *listed.entry(violation.id.pattern).or_default() += 1);
        for (pattern, n) in listed {
            let count = self.found.counts.entry(pattern).or_default();
            *count = n.max(*count);
        }
    }

    fn set(&mut self, level: Level, verdict: Verdict) {
        if let Some(result) = self.verdicts.get_mut(&level) {
            result.verdict = verdict;
        }
    }

    /// The levels among them that are undecided because of such elements, ascending.
    fn open(&self) -> Vec<Level> {
        let is_open = |result: &&LevelResult| {
            matches!(
                result.verdict,
                Verdict::Undecided(Cause::RepeatedElements(_))
            )
        };
        self.verdicts
            .values()
            .filter(is_open)
            .map(|result| result.level)
            .collect()
    }

    /// No append can have made the element at this place.
    fn is_impossible(&mut self, levels: &[Level], place: (OperationId, usize)) {
        let names = |level: &Level| {
            self.found
                .violations
                .iter()
                .any(|violation| violation.levels.contains(*level))
        };
        if !levels.iter().all(names) {
            add(&mut self.found, never_appended(self.open.history, place));
        }
        levels
            .iter()
            .for_each(|&level| self.set(level, Verdict::Violated));
    }

    fn search(&mut self, assignment: ElementAssignment, levels: &[Level]) -> Result<(), Interrupt> {
        if self.open().is_empty() {
            return Ok(());
        }
        let attempts =
            (MOST_OPERATIONS / self.open.history.n_operations().max(1) as u64).clamp(16, 2_000);
        let has_unknown = self
            .open
            .history
            .transactions()
            .any(|t| self.open.history.outcome(t) == Outcome::Unknown);
        let ways = [(false, false), (false, true), (true, false), (true, true)];
        for how in ways.map(|(by_time, committed)| Guess { by_time, committed }) {
            let is_another =
                (self.open.history.has_times() || !how.by_time) && (has_unknown || !how.committed);
            if !is_another || self.open().is_empty() {
                continue;
            }
            if let Some(guessed) = guess(assignment.clone(), how, attempts, self.open.control)? {
                self.try_on(&guessed);
            }
        }
        // Weakest first: what violates a level violates all stronger ones.
        for level in self.open() {
            if !self.open().contains(&level) {
                continue;
            }
            let mut search = AppendSearch::new(
                self.open.history,
                level,
                self.open.options,
                self.open.control,
            );
            let answer = match search.decide_by_cases(assignment.clone(), 0)? {
                // The tree would be too large, or a contradiction in it has no evidence.
                Answer::Unknown | Answer::Violated(None) => {
                    Combinations::new(&mut search, &assignment, self.open.control).decide()?
                }
                answer => answer,
            };
            match answer {
                Answer::Satisfied(chosen) => self.try_on(&chosen),
                Answer::Violated(violation) => {
                    match violation {
                        Some(violation) => add(&mut self.found, *violation),
                        None => self.assumptions.push(format!(
                            "{level} is violated whichever appends made the elements, but not every contradiction could be \
                             written down."
                        )),
                    }
                    let stronger: Vec<Level> = levels
                        .iter()
                        .copied()
                        .filter(|stronger| stronger.implies(level))
                        .collect();
                    stronger
                        .into_iter()
                        .for_each(|stronger| self.set(stronger, Verdict::Violated));
                }
                Answer::Unknown => {}
            }
        }
        Ok(())
    }

    /// Takes over what is satisfied in an assignment where nothing is open.
    fn try_on(&mut self, assignment: &ElementAssignment) {
        let options = Options {
            levels: self.open(),
            max_instances: 0,
            ..self.open.options.clone()
        };
        let resolution = Some(assignment.resolution.clone());
        let findings = Request {
            history: &assignment.history,
            options: &options,
            ..self.open
        }
        .check(resolution);
        for mut result in findings.levels {
            if let Verdict::Satisfied(witness) = &result.verdict {
                result.sources = self.sources(assignment, &result, witness);
                self.verdicts.insert(result.level, result);
            }
        }
    }

    /// The writers of reads that are ambiguous where nothing is supposed, as far as the order of the witness does not say
    /// them: in the assignment of the witness they may be known.
    fn sources(
        &self,
        assignment: &ElementAssignment,
        result: &LevelResult,
        witness: &Witness,
    ) -> Vec<(OperationId, TransactionId)> {
        let Witness::CommitOrder(order) = witness else {
            return Vec::new();
        };
        if result.level.reads_newest() {
            return Vec::new();
        }
        let takes_part: FxHashSet<TransactionId> = order.iter().copied().collect();
        let chosen: FxHashMap<OperationId, TransactionId> =
            result.sources.iter().copied().collect();
        let ambiguous = self
            .resolution
            .reads_with_multiple_sources()
            .iter()
            .filter(|multiple| multiple.kept > 1);
        let of_witness = ambiguous.filter(|multiple| takes_part.contains(&multiple.reader));
        of_witness
            .filter_map(|multiple| {
                let known = || assignment.resolution.source(multiple.read).writer();
                Some((
                    multiple.read,
                    chosen.get(&multiple.read).copied().or_else(known)?,
                ))
            })
            .collect()
    }

    /// At least as many are counted as are listed. What is reported at cut isolation and separately above it is one
    /// instance if the same reads show it, else two.
    fn count_listed(&mut self) {
        let is_read = |o: &OperationId| self.open.history.operation(*o).kind == OperationKind::Read;
        let reads = |violation: &Violation| -> Vec<OperationId> {
            let of_edges = violation
                .edges
                .iter()
                .flat_map(|edge| [edge.from_operation, edge.to_operation])
                .flatten();
            let all = violation
                .operations
                .iter()
                .copied()
                .chain(of_edges)
                .chain(violation.proof.reads());
            all.filter(is_read)
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect()
        };
        let is_of_reads = |violation: &&Violation| {
            let levels = violation.levels;
            levels.weakest().is_some() && levels.above_reads().weakest().is_none()
        };
        let violations = &self.found.violations;
        let above: FxHashSet<(Pattern, Vec<OperationId>)> = violations
            .iter()
            .filter(|v| !is_of_reads(v))
            .map(|v| (v.id.pattern, reads(v)))
            .collect();
        let mut listed: BTreeMap<Pattern, u64> = BTreeMap::new();
        for violation in violations {
            let is_again = is_of_reads(&violation)
                && above.contains(&(violation.id.pattern, reads(violation)));
            *listed.entry(violation.id.pattern).or_default() += u64::from(!is_again);
        }
        for (pattern, n) in listed {
            let count = self.found.counts.entry(pattern).or_default();
            *count = n.max(*count);
        }
    }

    fn findings(mut self, base: Findings) -> Findings {
        self.count_listed();
        let is_satisfied = |result: &&LevelResult| matches!(result.verdict, Verdict::Satisfied(_));
        let satisfied = LevelSet::downward(
            self.verdicts
                .values()
                .filter(is_satisfied)
                .map(|result| result.level),
        )
        .union(LevelSet::not_asked(&self.open.options.levels));
        evidence::arrange(&mut self.found, satisfied, self.open.options.max_instances);
        let mut levels: Vec<LevelResult> = Vec::new();
        for level in &self.open.options.levels {
            levels.extend(self.verdicts.remove(level));
        }
        let assumptions = [base.assumptions, self.assumptions].concat();
        let mut rest = base.rest;
        rest.found.extend(self.found.more);
        rest.satisfied = satisfied;
        let (patterns, violations) = (self.found.counts, self.found.violations);
        Findings {
            levels,
            patterns,
            violations,
            assumptions,
            rest,
            ..base
        }
    }
}
