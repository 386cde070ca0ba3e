//! Lists what violates the levels.

use super::*;
use crate::checkers::decide::{cores, weakest_core};
use crate::checkers::place::Window;
use crate::checkers::refutation::{self, Searched};
use crate::checkers::rest::{Counted, Sought, Uncounted};
use crate::checkers::{Pattern, Violation, page};

impl CheckRun<'_> {
    /// Lists what violates the levels according to these decisions, the levels that every choice of writers violates,
    /// and LIN.
    pub(super) fn list(
        &mut self,
        mut prepared: Prepared,
        decisions: &Decisions,
        by_choice: LevelSet,
        linear: linear::Evidence,
    ) -> Instances {
        let Request {
            history,
            options,
            control,
            ..
        } = self.asked;
        let max_instances = options.max_instances;
        if !options.counts && max_instances == 0 {
            let is_violated = self
                .verdicts
                .values()
                .any(|(verdict, _)| *verdict == Verdict::Violated);
            self.rest.counted = if is_violated {
                Counted::NotAtAll
            } else {
                Counted::All
            };
            return Instances::default();
        }
        control.phase("listing violations", 0);
        let sought = Sought::of(decisions);
        let mut first = None;
        if !options.counts || control.limits_time() {
            first = self.first(&prepared, decisions, by_choice, &linear);
        }
        if let Some(First { found, weak }) = first.take_if(|_| !options.counts) {
            let is_violated = found
                .violations
                .iter()
                .any(|violation| violation.levels.weakest().is_some());
            let counted = Counted::Not(Box::new(Uncounted { sought, weak }));
            let counted = if is_violated { counted } else { Counted::All };
            self.rest = Rest {
                counted,
                satisfied: self.levels_that_hold(),
                ..Rest::default()
            };
            return found;
        }
        // What was found must still be verified when the time for counting is over.
        let counting = control.leaving_time();
        // What is listed decides what is counted besides: something must be.
        let mut listing = Listing {
            history,
            max_instances: max_instances.max(1),
            sought,
        };
        let mut found = listing.list(&mut prepared, !linear.is_empty(), first, &counting);
        if prepared.resolution.has_multiple_sources() {
            let levels = (listing.sought.violated, by_choice);
            self.list_cases(&prepared.resolution, levels, &mut found);
        } else if history.has_rows() {
            let levels = (listing.sought.violated, LevelSet::default());
            self.list_cuts(&prepared.resolution, levels, &mut found);
        }
        self.list_conflicts(linear, &prepared.resolution, &prepared.index, &mut found);
        self.cut = counting.check().err();
        let satisfied = self.levels_that_hold();
        evidence::arrange(&mut found, satisfied, max_instances);
        self.rest = Rest {
            sought: listing.sought.violated,
            satisfied,
            ..Rest::default()
        };
        found
    }

    /// Evidence that the levels are violated, without counting; `None` if counting is needed.
    fn first(
        &self,
        prepared: &Prepared,
        decisions: &Decisions,
        by_choice: LevelSet,
        linear: &linear::Evidence,
    ) -> Option<First> {
        if by_choice.weakest().is_some()
            || !linear.is_empty()
            || prepared.resolution.has_multiple_sources()
        {
            return None;
        }
        let Prepared { index, reads, .. } = prepared;
        let (violated, core) = (
            Sought::of(decisions).violated,
            (weakest_core(decisions), &cores(decisions)[..]),
        );
        let Request {
            history,
            options,
            control,
            ..
        } = self.asked;
        let max = options.max_instances;
        let (mut found, weak) =
            evidence::first(history, index, reads, violated, core, max, control)?;
        evidence::arrange(&mut found, self.levels_that_hold(), 1);
        let is_shown = |(level, (verdict, _)): (&Level, &(Verdict, f64))| {
            *verdict != Verdict::Violated || names(&found, *level)
        };
        self.verdicts
            .iter()
            .all(is_shown)
            .then_some(First { found, weak })
    }

    /// The levels that no violation names: the satisfied ones, those that they imply, and those only shown if asked for.
    fn levels_that_hold(&self) -> LevelSet {
        let satisfied = |(level, (verdict, _)): (&Level, &(Verdict, f64))| {
            matches!(verdict, Verdict::Satisfied(_)).then_some(*level)
        };
        LevelSet::downward(self.verdicts.iter().filter_map(satisfied))
            .union(LevelSet::not_asked(self.levels()))
    }

    /// Makes what is listed hold under every choice of writers, and adds what violates the levels `by_choice`, which
    /// may differ from choice to choice; `sought` is what was listed for.
    fn list_cases(
        &mut self,
        resolution: &Resolution,
        (sought, by_choice): (LevelSet, LevelSet),
        found: &mut Instances,
    ) {
        hold_under_every_choice(self.asked.history, resolution, found);
        self.list_cuts(resolution, (sought, by_choice), found);
        for level in by_choice.iter() {
            if names(found, level) {
                continue;
            }
            match self.refuted(resolution, level) {
                Ok(Some(violation)) => add(found, violation),
                Ok(None) => self.assumptions.push(format!(
                    "{level} is violated under every choice of writers of the ambiguous reads, but not every \
                     contradiction could be written down."
                )),
                Err(_) => {}
            }
        }
    }

    /// Adds what violates cut isolation, of all reads or of items, where nothing that is listed does.
    fn list_cuts(
        &self,
        resolution: &Resolution,
        (sought, by_choice): (LevelSet, LevelSet),
        found: &mut Instances,
    ) {
        for of_reads in [Level::CutIsolation, Level::ItemCutIsolation] {
            let verdict = self.verdicts.get(&of_reads).map(|(verdict, _)| verdict);
            // If every choice violates cut isolation, the levels above need no case analysis.
            let is_torn = of_reads == Level::CutIsolation
                && by_choice
                    .iter()
                    .any(|level| level.implies(of_reads) && !names(found, level));
            if verdict == Some(&Verdict::Violated) && !names(found, of_reads)
                || verdict.is_none() && is_torn
            {
                self.list_torn(of_reads, (resolution, sought), found);
            }
        }
    }

    /// Adds what violates cut isolation: an instance that is counted and did not fit the list, or else one found on its
    /// own.
    fn list_torn(
        &self,
        level: Level,
        (resolution, sought): (&Resolution, LevelSet),
        found: &mut Instances,
    ) {
        let Request {
            history, control, ..
        } = self.asked;
        let pattern = Pattern::NonRepeatableRead;
        let of_pattern = |violation: &&Violation| violation.id.pattern == pattern;
        let n_listed = found.violations.iter().filter(of_pattern).count() as u64;
        let counted = found.counts.get(&pattern).map_or(0, |&n| n);
        let everything = || {
            let index = page::index(history, resolution, sought, control)?;
            let mut all = Window::new(std::iter::empty(), 0, 1..u64::MAX);
            let violations = read_consistency::unlisted(
                history, resolution, &index, pattern, &mut all, control,
            )?;
            let mut instances = Instances {
                violations,
                ..Instances::default()
            };
            hold_under_every_choice(history, resolution, &mut instances);
            Ok::<_, Interrupt>(instances.violations)
        };
        let counted = if n_listed < counted {
            everything().unwrap_or_default()
        } else {
            Vec::new()
        };
        let is_torn = |violation: &Violation| violation.levels.contains(level);
        if let Some(violation) = counted.into_iter().find(is_torn) {
            found.violations.push(violation);
        } else if let Some(violation) =
            cut_isolation::refutation(history, resolution, level, &control.overtime())
        {
            add(found, violation);
        }
    }

    /// Why a level is violated whatever the writers of the ambiguous reads: a small tree of cases if one is found, else
    /// combinations that exclude every choice.
    fn refuted(
        &mut self,
        resolution: &Resolution,
        level: Level,
    ) -> Result<Option<Violation>, Interrupt> {
        let Request {
            history, control, ..
        } = self.asked;
        let why = self.evidence.remove(&level).unwrap_or(Why::Unsaid);
        if let Why::Combinations(level, lists) = &why
            && let Some(violation) =
                refutation::refute_by(history, resolution, *level, lists, control)?
        {
            return Ok(Some(violation));
        }
        match (refutation::refute(history, resolution, level, control), why) {
            (Ok(Some(violation)), _) => return Ok(Some(violation)),
            // Where there is no time for a small tree, there is the larger evidence.
            (_, Why::Told(violation)) => return Ok(Some(*violation)),
            (Err(interrupt), _) => return Err(interrupt),
            (Ok(None), _) => {}
        }
        Ok(
            match refutation::search(history, resolution, level, u64::MAX, control)? {
                Searched::Violated(violation) => violation.map(|violation| *violation),
                Searched::Satisfied(_) | Searched::GaveUp => None,
            },
        )
    }
}

/// The smallest evidence for the verdicts.
struct First {
    found: Instances,
    /// Everything listed for the weak levels, if it was needed.
    weak: Option<Instances>,
}

/// Counting and listing what violates decided levels.
struct Listing<'a> {
    history: &'a History,
    max_instances: usize,
    sought: Sought,
}

impl Listing<'_> {
    /// All instances, including those of `first` that a limit kept from being found again. Takes the index unless it is kept:
    /// the one that is made of it takes as much again.
    fn list(
        &mut self,
        prepared: &mut Prepared,
        keeps: bool,
        first: Option<First>,
        control: &Control,
    ) -> Instances {
        self.ask_causality(prepared, control);
        prepared.ground = None;
        let index = if keeps {
            prepared.index.clone()
        } else {
            std::mem::take(&mut prepared.index)
        };
        let Prepared {
            resolution, reads, ..
        } = &*prepared;
        let (found, weak) = first.map_or((None, None), |first| (Some(first.found), first.weak));
        let (reads, max) = (reads.clone(), self.max_instances);
        let uncounted = Uncounted {
            sought: self.sought,
            weak,
        };
        let mut listed = evidence::collect_in_canonical_order(
            self.history,
            resolution,
            index,
            reads,
            uncounted,
            max,
            control,
        );
        if let Some(found) = found {
            evidence::add_missing(&mut listed, found);
        }
        listed
    }

    /// Decides TCC if a stronger level is violated and TCC was not asked for: that is faster than looking for
    /// everything that may violate it.
    fn ask_causality(&mut self, prepared: &Prepared, control: &Control) {
        let causal = Level::TransactionalCausalConsistency;
        let facts = Facts::of(prepared.reads.counts.keys().copied());
        let is_above = self
            .sought
            .violated
            .iter()
            .any(|level| level != causal && level.implies(causal));
        if is_above && self.sought.causal.is_none() && !facts.violate(causal) {
            let asked = ask(&prepared.index, prepared.ground.as_ref(), causal, control);
            self.sought.causal = Some(matches!(asked, Ok(Decision::Satisfied(_))));
            if asked.is_ok_and(|decision| decision.is_violated()) {
                self.sought.violated.insert(causal);
            }
        }
    }
}

/// Counts and lists what violates the levels of findings made without counting ([`Options::counts`]), as if they had been
/// made with it; nothing is decided again. Findings that are counted, or that take another check, stay as they are.
pub fn count(
    history: &History,
    resolution: Arc<Resolution>,
    findings: Findings,
    options: &Options,
    control: &Control,
) -> Findings {
    overwriting::kept(findings, |findings| {
        count_others(history, resolution, findings, options, control)
    })
}

fn count_others(
    history: &History,
    resolution: Arc<Resolution>,
    mut findings: Findings,
    options: &Options,
    control: &Control,
) -> Findings {
    if let Some(counted) = plain::count(history, &resolution, &mut findings, options, control) {
        return counted;
    }
    let Counted::Not(uncounted) = &findings.rest.counted else {
        return findings;
    };
    let Uncounted { sought, weak } = (**uncounted).clone();
    let begin = Instant::now();
    control.phase("counting", 0);
    let counting = control.leaving_time();
    let satisfied = findings.rest.satisfied;
    let max_instances = options.max_instances.max(1);
    let mut listing = Listing {
        history,
        max_instances,
        sought,
    };
    let violations = std::mem::take(&mut findings.violations);
    let first = First {
        found: Instances {
            violations,
            ..Instances::default()
        },
        weak,
    };
    let mut found = match Prepared::new(history, Some(resolution), options, None, &counting) {
        Ok(mut prepared) => listing.list(&mut prepared, false, Some(first), &counting),
        Err(_) => {
            let mut found = Instances::default();
            evidence::add_missing(&mut found, first.found);
            found
        }
    };
    if let Err(limit) = counting.check() {
        findings.end_early(limit);
    }
    evidence::arrange(&mut found, satisfied, max_instances);
    findings.rest = Rest {
        sought: listing.sought.violated,
        satisfied,
        found: found.more,
        ..Rest::default()
    };
    (findings.patterns, findings.violations) = (found.counts, found.violations);
    findings.check_seconds += begin.elapsed().as_secs_f64();
    findings
}

/// Makes what was found hold for every possible writer of the ambiguous reads.
pub(in crate::checkers) fn hold_under_every_choice(
    history: &History,
    resolution: &Resolution,
    found: &mut Instances,
) {
    if resolution.has_multiple_sources() {
        refutation::split_impossible_reads(history, resolution, found);
        take_uncertain_off_cut_isolation(history, resolution, found);
    }
}

/// At cut isolation all writers count, also those that stronger levels rule out, so evidence that relies on ruling them
/// out says nothing there, whether the level was asked for or not.
fn take_uncertain_off_cut_isolation(
    history: &History,
    resolution: &Resolution,
    found: &mut Instances,
) {
    if !names(found, Level::CutIsolation) && !names(found, Level::ItemCutIsolation) {
        return;
    }
    let certain = cut_isolation::certain(history, resolution);
    for violation in found
        .violations
        .iter_mut()
        .filter(|v| v.levels.iter().any(Level::is_of_reads))
    {
        let reader = violation.edges.first().map(|edge| edge.to);
        if reader.is_none_or(|reader| reader.is_initial() || !certain[reader.index()]) {
            violation.levels = violation.levels.above_reads();
        }
    }
}

pub(super) fn names(found: &Instances, level: Level) -> bool {
    found
        .violations
        .iter()
        .any(|violation| violation.levels.contains(level))
}

/// Adds and counts an instance found on its own, not while enumerating a pattern: no page will produce it again.
pub(super) fn add(found: &mut Instances, mut violation: Violation) {
    violation.place = None;
    *found.counts.entry(violation.id.pattern).or_default() += 1;
    found.violations.push(violation);
}
