//! The single entry point: decides any set of levels of one history and lists what violates them.

use super::ambiguity::{Budget, Why};
use super::applicable::decide_applicable;
use super::decide::{Decisions, ask, decide_all, decide_alone, implied};
use super::decision::{Answer, Decision, Order};
use super::evidence;
use super::facts::Facts;
use super::strong::Effort;
use super::weak::BaseOrder;
use super::{
    Cause, Checker, Engine, Findings, Instances, Level, LevelResult, LevelSet, Options, Rest,
    Verdict, Witness, cut_isolation, in_real_time, overwriting, read_consistency,
};
use isoscope_model::control::{Control, Interrupt, Stage};
use isoscope_model::history::{History, ListRule, OperationId, TransactionId};
use isoscope_model::relations::{Index, Resolution, n_ambiguous_elements, resolve};
use listing::{add, names};

pub use listing::count;
pub(super) use listing::hold_under_every_choice;
pub(super) use plain::named;
pub use set_up::verify_assumed_setup;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Checks a history against the levels asked for and lists what violates them.
///
/// `observe` is called with each level as soon as it is decided, from any thread; a satisfied level may still get
/// another witness. Levels are decided in parallel in the current rayon pool. When `control` ends the work, undecided
/// levels are [`Verdict::Undecided`] and what was found so far is kept.
///
/// CI is violated exactly by TAP-j. Every other level is violated by TAP-a to f, by a cycle of SO ∪ WR, or if no commit
/// order fits its axioms (Biswas & Enea 2019, Definition 2.2). Where reads have several possible writers, a level is
/// satisfied if one choice of writers satisfies it.
pub fn check(
    history: &History,
    options: &Options,
    control: &Control,
    observe: &(dyn Fn(&LevelResult) + Sync),
) -> Findings {
    Request {
        history,
        options,
        control,
        mode: CheckMode::WHOLE,
        observe,
    }
    .check(None)
}

/// [`check`] for a history whose reads are already resolved.
pub fn check_resolved(
    history: &History,
    resolution: Arc<Resolution>,
    options: &Options,
    control: &Control,
    observe: &(dyn Fn(&LevelResult) + Sync),
) -> Findings {
    Request {
        history,
        options,
        control,
        mode: CheckMode::WHOLE,
        observe,
    }
    .check(Some(resolution))
}

/// [`check_resolved`] for plain levels whose forms with sessions are known to be violated, which saves deciding these again.
/// Levels that count sessions are left out.
pub fn check_without_sessions(
    history: &History,
    resolution: Arc<Resolution>,
    options: &Options,
    control: &Control,
) -> Findings {
    let request = Request {
        history,
        options,
        control,
        mode: CheckMode::WHOLE,
        observe: &|_| {},
    };
    plain::check_apart(request, resolution)
}

/// How a history is checked.
#[derive(Clone, Copy, Debug)]
struct CheckMode<'a> {
    /// How much may be done about ambiguous reads.
    effort: Effort,
    /// When trying writers of ambiguous reads ends.
    patience: Budget,
    /// What is done about elements of lists that were appended more than once.
    elements: Elements,
    /// Whether the assumption that transactions set up the initial state is tested.
    tests_set_up: bool,
    /// By transaction: its place in an order that explains most reads, if one is known.
    guess: Option<&'a [u32]>,
}

/// How elements of lists that were appended more than once are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elements {
    /// Their appends are searched for.
    Searched,
    /// Their appends are left open: a violation found then is one, everything else is undecided.
    LeftOpen,
}

impl CheckMode<'_> {
    /// As users ask for it.
    const WHOLE: CheckMode<'static> = CheckMode {
        effort: Effort::Any,
        patience: Budget::UntilDecided,
        elements: Elements::Searched,
        tests_set_up: true,
        guess: None,
    };

    /// How much may be done about ambiguous reads, and for how long.
    fn search_limits(self) -> (Effort, Budget) {
        (self.effort, self.patience)
    }
}

/// A check that was asked for.
#[derive(Clone, Copy)]
struct Request<'a> {
    history: &'a History,
    options: &'a Options,
    control: &'a Control,
    mode: CheckMode<'a>,
    /// Called with each level as soon as it is decided.
    observe: &'a (dyn Fn(&LevelResult) + Sync),
}

impl Request<'_> {
    fn check(self, resolution: Option<Arc<Resolution>>) -> Findings {
        let Request {
            history,
            options,
            observe,
            ..
        } = self;
        decide_applicable(
            history,
            Checker::Fast,
            options,
            observe,
            |options, observe| {
                let request = Request {
                    options,
                    observe,
                    ..self
                };
                request.check_asked(resolution)
            },
        )
    }

    fn check_asked(self, resolution: Option<Arc<Resolution>>) -> Findings {
        let Request {
            history,
            options,
            control,
            observe,
            ..
        } = self;
        overwriting::check_with(history, options, control, observe, |options| {
            let request = Request {
                options,
                observe,
                ..self
            };
            if options
                .levels
                .iter()
                .any(|level| level.plain_of().is_some())
            {
                plain::check(request, resolution)
            } else {
                request.check_applicable(resolution)
            }
        })
    }

    /// [`check`](Self::check) for distinct levels, all applicable to the history.
    fn check_applicable(self, resolution: Option<Arc<Resolution>>) -> Findings {
        let Request {
            history,
            options,
            control,
            mode,
            ..
        } = self;
        let has_repeated_elements =
            mode.elements == Elements::Searched && has_repeated_elements(history);
        if has_repeated_elements {
            return self.check_repeated();
        }
        let mut run = CheckRun {
            asked: self,
            told: Mutex::default(),
            verdicts: BTreeMap::new(),
            sources: BTreeMap::new(),
            evidence: BTreeMap::new(),
            assumptions: Vec::new(),
            cut: None,
            rest: Rest::default(),
        };
        control.phase("indexing", 0);
        let begin = Instant::now();
        let prepared = control.timed(Stage::Build, || {
            Prepared::new(history, resolution, options, mode.guess, control)
        });
        let index_seconds = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let assumes_set_up = mode.tests_set_up
            && prepared
                .as_ref()
                .is_ok_and(|prepared| prepared.resolution.assumes_set_up(history));
        let found = match prepared {
            Ok(prepared) => run.check(prepared),
            Err(interrupt) => {
                for &level in &options.levels {
                    run.decided(
                        level,
                        Verdict::Undecided(Cause::Interrupted(interrupt)),
                        0.0,
                    );
                }
                Instances::default()
            }
        };
        let mut findings = run.findings(found, index_seconds, begin.elapsed().as_secs_f64());
        if assumes_set_up {
            verify_assumed_setup(history, options, control, &mut findings);
        }
        if mode.tests_set_up {
            failed_cas::mark(history, control, &mut findings);
        }
        findings
    }

    /// Checks a history with elements of lists that were appended more than once.
    fn check_repeated(self) -> Findings {
        let (mut findings, assumes_set_up) = repeated::check(self);
        if self.mode.tests_set_up && assumes_set_up {
            verify_assumed_setup(self.history, self.options, self.control, &mut findings);
        }
        findings.levels.iter().for_each(self.observe);
        findings
    }
}

/// Whether elements of lists were appended more than once: then verdicts and counts come together. O(operations) with lists.
pub fn has_repeated_elements(history: &History) -> bool {
    history.rules().lists == ListRule::Exact
        && !history.lists().is_empty()
        && repeated::concerns(history)
}

/// Whether a level is decided by an engine that needs the base order.
fn needs_ground(level: &Level) -> bool {
    !level.is_of_reads() && level.row().engine != Engine::Linear
}

/// A resolved history with its ambiguous reads left out.
struct Prepared {
    resolution: Arc<Resolution>,
    index: Index,
    /// Of the index, for the engines; none where SO ∪ WR or the orders that lists show have a cycle.
    ground: Option<BaseOrder>,
    reads: Instances,
}

impl Prepared {
    fn new(
        history: &History,
        resolution: Option<Arc<Resolution>>,
        options: &Options,
        guess: Option<&[u32]>,
        control: &Control,
    ) -> Result<Prepared, Interrupt> {
        let resolution = match resolution {
            Some(resolution) => resolution,
            None => Arc::new(resolve(history, control)?),
        };
        let choice = resolution.choice_of_none();
        let mut index = Index::build_with(history, &resolution, &choice, control)?;
        if let Some(guess) = guess {
            let place = |t: &TransactionId| guess.get(t.index()).copied().unwrap_or(u32::MAX);
            index.guess = index.transaction.iter().map(place).collect();
        }
        let (reads, ground) = rayon::join(
            || {
                read_consistency::instances(
                    history,
                    &resolution,
                    &index,
                    options.max_instances,
                    control,
                )
            },
            || {
                if options.levels.iter().any(needs_ground) {
                    BaseOrder::new(&index, control)
                } else {
                    Ok(None)
                }
            },
        );
        let (reads, ground) = (reads?, ground?);
        Ok(Prepared {
            resolution,
            index,
            ground,
            reads,
        })
    }
}

struct CheckRun<'a> {
    asked: Request<'a>,
    told: Mutex<LevelSet>,
    verdicts: BTreeMap<Level, (Verdict, f64)>,
    /// By satisfied weak level: the writers of ambiguous reads.
    sources: BTreeMap<Level, Vec<(OperationId, TransactionId)>>,
    /// By level that every choice of writers violates: what was found out about it when it was decided.
    evidence: BTreeMap<Level, Why>,
    assumptions: Vec<String>,
    /// The limit that ended listing.
    cut: Option<Interrupt>,
    /// What was counted, and how.
    rest: Rest,
}

impl<'a> CheckRun<'a> {
    /// The levels asked for.
    fn levels(&self) -> &'a [Level] {
        &self.asked.options.levels
    }

    /// Reports the verdict of a level that was asked for, once.
    fn tell(&self, level: Level, verdict: Verdict, seconds: f64) {
        let is_new = {
            let mut told = self.told.lock().expect("no holder panics");
            let is_new = self.levels().contains(&level) && !told.contains(level);
            told.insert(level);
            is_new
        };
        if is_new {
            let sources = self.sources.get(&level).cloned().unwrap_or_default();
            let result = LevelResult::new(level, verdict, Checker::Fast.name(), seconds);
            (self.asked.observe)(&LevelResult { sources, ..result });
            self.asked.control.advance(1);
        }
    }

    /// Records a final verdict and reports it.
    fn decided(&mut self, level: Level, verdict: Verdict, seconds: f64) {
        self.tell(level, verdict.clone(), seconds);
        self.verdicts.insert(level, (verdict, seconds));
    }

    fn check(&mut self, mut prepared: Prepared) -> Instances {
        self.asked
            .control
            .phase("checking", self.levels().len() as u64);
        self.assumptions
            .extend_from_slice(prepared.resolution.assumptions());
        let facts = Facts::of(prepared.reads.counts.keys().copied());
        let is_of_reads = |level: &Level| level.is_of_reads();
        let of_reads: Vec<Level> = self.levels().iter().copied().filter(is_of_reads).collect();
        for level in of_reads {
            let begin = Instant::now();
            let is_known = !prepared.resolution.has_multiple_sources()
                && (level == Level::CutIsolation || !self.asked.history.has_rows());
            let verdict = match (is_known, facts.non_repeatable_reads) {
                (false, _) => cut_isolation::verdict(
                    self.asked.history,
                    &prepared.resolution,
                    level,
                    self.asked.control,
                ),
                (true, true) => Verdict::Violated,
                (true, false) => Verdict::Satisfied(Witness::Reads),
            };
            self.decided(level, verdict, begin.elapsed().as_secs_f64());
        }
        let linear = self.linearizability(&prepared, facts);
        if self
            .levels()
            .iter()
            .all(|level| self.verdicts.contains_key(level))
        {
            return self.list(prepared, &Decisions::new(), LevelSet::default(), linear);
        }
        // Verdicts are reported at once unless other choices of writers can still change them.
        let ambiguous = prepared.resolution.n_ambiguous() > 0;
        let unordered = n_ambiguous_elements(self.asked.history, &prepared.resolution);
        let told = |level: Level, decision: &Answer, seconds: f64| {
            if !ambiguous && unordered == 0 {
                self.tell(level, verdict_of(decision, level, &prepared.index), seconds);
            }
        };
        let ground = prepared.ground.take_if(|_| self.asks_one_weak(facts));
        let by_engines = self.engine_levels();
        let mut decisions = self.decide(&prepared, ground, facts, &told);
        self.take(&decisions, &prepared.index);
        let mut by_choice = LevelSet::default();
        if ambiguous && (unordered == 0 || self.asked.mode.elements == Elements::Searched) {
            by_choice = self.choose(&prepared, &decisions, unordered == 0);
        }
        if unordered > 0 {
            // The positions of their versions in the order are unknown, so an order that was found may be wrong.
            for (verdict, _) in self
                .verdicts
                .iter_mut()
                .filter(|(level, _)| !level.is_of_reads())
                .map(|(_, v)| v)
            {
                if matches!(verdict, Verdict::Satisfied(_)) {
                    *verdict = Verdict::Undecided(Cause::RepeatedElements(unordered));
                }
            }
        }
        for level in by_engines {
            let (verdict, seconds) = self.verdicts[&level].clone();
            self.tell(level, verdict, seconds);
        }
        for &level in self.levels().iter().rev() {
            if let Some(without_times) = level.without_real_time()
                && !self.verdicts.contains_key(&level)
            {
                self.in_real_time(
                    level,
                    without_times,
                    &prepared,
                    &mut decisions,
                    &mut by_choice,
                );
            }
        }
        self.list(prepared, &decisions, by_choice, linear)
    }

    /// Makes verdicts of decisions. Levels that one order satisfies share its witness.
    fn take(&mut self, decisions: &Decisions, index: &Index) {
        let mut made: Vec<(&Order, Level, Verdict)> = Vec::new();
        for (&level, (decision, seconds)) in decisions {
            let order = if let Ok(Decision::Satisfied(order)) = decision {
                Some(order)
            } else {
                None
            };
            let is_same = |(other, of, _): &&(&Order, Level, Verdict)| {
                order.is_some_and(|order| order.is(other))
                    && of.has_snapshots() == level.has_snapshots()
            };
            let known = made
                .iter()
                .find(is_same)
                .map(|(.., verdict)| verdict.clone());
            let verdict = known.unwrap_or_else(|| verdict_of(decision, level, index));
            made.extend(order.map(|order| (order, level, verdict.clone())));
            self.verdicts.insert(level, (verdict, *seconds));
        }
    }

    /// Whether a single weak level is all that is asked for, so that nothing else needs the ground.
    fn asks_one_weak(&self, facts: Facts) -> bool {
        matches!(self.levels(), [level] if level.is_weak() && level.row().turn.is_some() && !facts.violate(*level))
    }

    /// Decides the levels left to the engines. `alone` is the ground if only one level needs it.
    fn decide(
        &self,
        prepared: &Prepared,
        alone: Option<BaseOrder>,
        facts: Facts,
        told: &(dyn Fn(Level, &Answer, f64) + Sync),
    ) -> Decisions {
        let (Some(ground), Some(&level)) = (alone, self.levels().first()) else {
            let ground = prepared.ground.as_ref();
            return decide_all(
                &prepared.index,
                ground,
                facts,
                &self.engine_levels(),
                self.asked.control,
                told,
            );
        };
        let begin = Instant::now();
        let decision = decide_alone(&prepared.index, ground, level, self.asked.control);
        let seconds = begin.elapsed().as_secs_f64();
        told(level, &decision, seconds);
        Decisions::from([(level, (decision, seconds))])
    }

    /// The levels left to the engines.
    fn engine_levels(&self) -> Vec<Level> {
        let open = || {
            self.levels()
                .iter()
                .copied()
                .filter(|level| !self.verdicts.contains_key(level))
        };
        let mut levels: Vec<Level> = open()
            .chain(open().filter_map(Level::without_real_time))
            .collect();
        levels.retain(|level| level.row().turn.is_some());
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// A level that respects real time, from the verdicts of others if they are enough, else by its own engine. If only the
    /// ambiguous reads violate it, it is added to the levels `by_choice`.
    fn in_real_time(
        &mut self,
        level: Level,
        without_times: Level,
        prepared: &Prepared,
        decisions: &mut Decisions,
        by_choice: &mut LevelSet,
    ) {
        let Request {
            history, control, ..
        } = self.asked;
        let begin = Instant::now();
        let known = self.verdicts.get(&without_times);
        let known = known
            .and_then(|(known, _)| in_real_time::verdict(level, history, &prepared.index, known));
        let verdict = known.unwrap_or_else(|| {
            let asked = || ask(&prepared.index, prepared.ground.as_ref(), level, control);
            let decision = implied(decisions, level).map_or_else(asked, Ok);
            let verdict = match (
                verdict_of(&decision, level, &prepared.index),
                prepared.resolution.n_ambiguous(),
            ) {
                // The ambiguous reads are left out of the index: with them the level may be violated.
                (Verdict::Satisfied(_), n) if n > 0 => {
                    let verdict = self.in_real_time_with_writers(level, prepared);
                    if verdict == Verdict::Violated {
                        by_choice.insert(level);
                    }
                    verdict
                }
                (verdict, _) => verdict,
            };
            decisions.insert(level, (decision, begin.elapsed().as_secs_f64()));
            verdict
        });
        self.decided(level, verdict, begin.elapsed().as_secs_f64());
    }

    fn findings(mut self, found: Instances, index_seconds: f64, check_seconds: f64) -> Findings {
        let levels = self.levels().iter().filter_map(|level| {
            let (verdict, seconds) = self.verdicts.remove(level)?;
            let sources = self.sources.remove(level).unwrap_or_default();
            Some(LevelResult {
                sources,
                ..LevelResult::new(*level, verdict, Checker::Fast.name(), seconds)
            })
        });
        let mut findings = Findings {
            levels: levels.collect(),
            patterns: found.counts,
            violations: found.violations,
            assumptions: self.assumptions,
            index_seconds,
            check_seconds,
            rest: Rest {
                found: found.more,
                ..self.rest
            },
            ..Findings::default()
        };
        self.cut
            .into_iter()
            .for_each(|limit| findings.end_early(limit));
        findings
    }
}

fn verdict_of(decision: &Answer, level: Level, index: &Index) -> Verdict {
    match decision {
        Ok(Decision::Satisfied(order)) => Verdict::Satisfied(order.witness(level, index)),
        Ok(Decision::Violated { .. }) => Verdict::Violated,
        Err(interrupt) => Verdict::Undecided(Cause::Interrupted(*interrupt)),
    }
}

mod choices;
mod failed_cas;
mod linear;
mod listing;
mod plain;
mod repeated;
mod set_up;
#[cfg(test)]
mod tests;
