//! Answers a checker's levels, each on its own.

use super::choice::{Choice, Counting, RcRule};
use super::order::Reachability;
use super::{Input, be_sat, c4, plume, published, strong, vl_lwt};
use isoscope_check::checkers::{
    self, C4Pattern, Cause, Checker, Instances, Level, LevelResult, LevelSet, Options, Order,
    Pattern, Verdict, Violation, Witness, building_blocks, weak,
};
use isoscope_model::control::Control;
use isoscope_model::relations::{Axiom, Node, n_ambiguous_elements};
use std::collections::BTreeMap;
use std::time::Instant;

/// What a paper's algorithm finds in a history.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// In the order asked for.
    pub(super) levels: Vec<LevelResult>,
    /// The algorithm's own counts, and the fast engine's listing.
    pub(super) found: Instances,
    /// Counts by C4's letters.
    pub(super) c4_patterns: BTreeMap<C4Pattern, u64>,
    /// Counts by the rule of Plume's published program, if requested.
    pub(super) published_patterns: Option<BTreeMap<Pattern, u64>>,
    /// What the answers rest on, in words.
    pub(super) assumptions: Vec<String>,
}

/// Runs the chosen algorithm for each of the levels, which are distinct. Listed violations come from the fast
/// engine: they must hold by the axioms, whichever engine found them. What was found is kept when `control` ends the
/// work.
pub(super) fn ask(
    input: Input<'_>,
    choice: &Choice,
    options: &Options,
    control: &Control,
    observe: &(dyn Fn(&LevelResult) + Sync),
) -> Asked {
    let (checker, levels) = (choice.checker, options.levels.as_slice());
    let mut run = PaperCheck {
        input: &input,
        choice,
        control,
        asked: Asked::default(),
    };
    run.asked
        .assumptions
        .extend_from_slice(input.resolution.assumptions());
    run.asked
        .assumptions
        .extend(as_published(choice).map(str::to_owned));
    run.asked.found.counts = if checker.is_plume() {
        input.reads.counts.clone()
    } else {
        BTreeMap::new()
    };
    for &level in levels {
        let begin = Instant::now();
        let verdict = run.decide(level).unwrap_or_else(Verdict::Undecided);
        let result = LevelResult::new(
            level,
            verdict,
            checker.name(),
            begin.elapsed().as_secs_f64(),
        );
        observe(&result);
        control.advance(1);
        run.asked.levels.push(result);
    }
    run.count_as_published(levels);
    let mut asked = run.asked;
    let counts = asked.found.counts;
    asked.found = if checker.is_strong() {
        strong::found(input, checker, options, &asked.levels, control)
    } else {
        let violations = violations(input, &asked.levels, options.max_instances, control);
        Instances {
            counts,
            violations,
            more: Vec::new(),
        }
    };
    asked
}

/// Requested rules that deviate from the default ones here.
fn as_published(choice: &Choice) -> impl Iterator<Item = &'static str> {
    let one = "As published (Plume, Algorithm 1), one commit order, built with the causal axiom, is used for all levels.";
    let rc = "Read committed is Plume's (Definition 4): two reads of one key in a transaction may go backwards.";
    let plume = choice.checker.is_plume();
    let one = (plume && choice.one_commit_order).then_some(one);
    one.into_iter()
        .chain((plume && choice.rc == RcRule::Plume).then_some(rc))
}

/// How a variant of Plume or C4 finds out who precedes whom.
fn means(checker: Checker) -> Reachability {
    match checker {
        Checker::PlumeTreeClocks | Checker::C4TreeClocks => Reachability::TreeClocks,
        Checker::PlumeSearch | Checker::C4Search => Reachability::Search,
        _ => Reachability::Vectors,
    }
}

/// The meaning of `--count published`.
const PUBLISHED: &str = "The counts are those of Plume's published program (--count published): it counts reads and \
                         not triples, session order only between neighbours, and one commit order serves all levels. Verdicts and listed \
                         violations go by IsoScope's rule (--count own).";

struct PaperCheck<'a> {
    input: &'a Input<'a>,
    choice: &'a Choice,
    control: &'a Control,
    asked: Asked,
}

impl PaperCheck<'_> {
    fn decide(&mut self, level: Level) -> Result<Verdict, Cause> {
        let checker = self.choice.checker;
        if !checker.decides(level) {
            return Err(Cause::Unsupported(format!(
                "the checker {checker} does not decide {level}"
            )));
        }
        if self.input.history.has_rows() {
            return Err(Cause::Unsupported(format!(
                "the checker {checker} knows no scans"
            )));
        }
        let resolution = self.input.resolution;
        if resolution.has_multiple_sources() {
            return Err(Cause::AmbiguousReads(
                resolution.reads_with_multiple_sources().len(),
            ));
        }
        self.control.check()?;
        if level.is_of_reads() {
            return Ok(if self.occurs(Pattern::NonRepeatableRead) {
                Verdict::Violated
            } else {
                Verdict::Satisfied(Witness::Reads)
            });
        }
        if checker == Checker::VlLwt {
            let Input {
                history,
                resolution,
                ref reads,
                ..
            } = *self.input;
            // A read that is wrong by itself has no place in any order.
            let order = if reads.counts.keys().any(|pattern| pattern.is_wrong_read()) {
                vl_lwt::applies(history, resolution).map(|()| None)?
            } else {
                vl_lwt::check(history, resolution)?
            };
            return Ok(order.map_or(Verdict::Violated, |order| {
                Verdict::Satisfied(Witness::CommitOrder(order.into()))
            }));
        }
        let order = match checker {
            _ if checker.is_strong() => {
                if self.violated_by_reads(level) {
                    None
                } else {
                    strong::decide(
                        self.input,
                        checker,
                        level,
                        &mut self.asked.assumptions,
                        self.control,
                    )?
                }
            }
            _ => self
                .weak(checker, level)?
                .map(|order| Order::Commits(order.into())),
        };
        let unordered = n_ambiguous_elements(self.input.history, resolution);
        match order {
            None => Ok(Verdict::Violated),
            Some(_) if unordered > 0 => Err(Cause::RepeatedElements(unordered)),
            Some(order) => Ok(Verdict::Satisfied(order.witness(level, self.input.index))),
        }
    }

    /// A commit order for RC, RA or TCC, or `None` if it is violated.
    fn weak(&mut self, checker: Checker, level: Level) -> Result<Option<Vec<Node>>, Cause> {
        match checker {
            _ if checker.is_c4() => self.c4(),
            Checker::BiswasEneaSaturation => {
                if self.violated_by_reads(level) {
                    Ok(None)
                } else {
                    be_sat::check(self.input.index, level, self.control)
                }
            }
            _ => self.plume(level),
        }
    }

    /// Plume's letters by the rule of its published program, if requested.
    fn count_as_published(&mut self, levels: &[Level]) {
        let checker = self.choice.checker;
        if !checker.is_plume() || self.choice.counting == Counting::Own {
            return;
        }
        let Input { history, index, .. } = *self.input;
        let counted = published::count(history, index, levels, means(checker), self.control);
        self.asked.assumptions.push(match &counted {
            Ok(_) => PUBLISHED.to_owned(),
            Err(cause) => format!("Not counted by the rule of Plume's published program: {cause}."),
        });
        self.asked.published_patterns = counted.ok();
    }

    fn occurs(&self, pattern: Pattern) -> bool {
        self.input.reads.counts.contains_key(&pattern)
    }

    /// Whether the reads of single transactions violate a level above CI.
    fn violated_by_reads(&self, level: Level) -> bool {
        self.input
            .reads
            .counts
            .keys()
            .any(|pattern| pattern.is_wrong_read())
            || (level.implies(Pattern::NonRepeatableRead.row().level)
                && self.occurs(Pattern::NonRepeatableRead))
    }

    /// The commit order of a satisfied level. The counts of the strongest level asked for contain those of the others.
    fn plume(&mut self, level: Level) -> Result<Option<Vec<Node>>, Cause> {
        let choice = *self.choice;
        let ask = |choice: Choice| {
            plume::check(
                self.input.index,
                level,
                means(choice.checker),
                choice,
                self.control,
            )
        };
        let found = ask(choice)?;
        for (&pattern, &count) in &found.counts {
            let known = self.asked.found.counts.entry(pattern).or_default();
            *known = (*known).max(count);
        }
        if self.violated_by_reads(level) {
            return Ok(None);
        }
        let is_published = choice.one_commit_order && level.axiom() != Axiom::Causal;
        if found.order.is_none()
            && is_published
            && ask(Choice {
                one_commit_order: false,
                ..choice
            })?
            .order
            .is_some()
        {
            let name = level.long_name().replace('-', " ");
            self.asked.assumptions.push(format!(
                "{level} is violated as published, one commit order for all levels: an order that the causal axiom \
                 forces is held against {name}; by the axioms {level} is satisfied."
            ));
        }
        Ok(found.order)
    }

    fn c4(&mut self) -> Result<Option<Vec<Node>>, Cause> {
        let found = c4::check(self.input, means(self.choice.checker), self.control)?;
        if found.order.is_some() && self.occurs(Pattern::NotMyLastWrite) {
            let n = self.input.reads.counts[&Pattern::NotMyLastWrite];
            self.asked.assumptions.push(format!(
                "TCC is satisfied as published: C4 has no pattern for the read of an own overwritten write ({n} found, \
                 Plume's TAP-e); by the axioms TCC is violated."
            ));
        }
        self.asked.c4_patterns = found.counts;
        Ok(found.order)
    }
}

/// What violates the violated levels by the axioms, except levels that an algorithm calls satisfied.
fn violations(
    input: Input<'_>,
    levels: &[LevelResult],
    max_instances: usize,
    control: &Control,
) -> Vec<Violation> {
    let of = |wanted: fn(&Verdict) -> bool| -> LevelSet {
        levels
            .iter()
            .filter(|result| wanted(&result.verdict))
            .map(|result| result.level)
            .collect()
    };
    let violated = of(|verdict| *verdict == Verdict::Violated);
    let satisfied = of(|verdict| matches!(verdict, Verdict::Satisfied(_)));
    // If reads have several writers nothing is decided, and what is listed must hold for all of them.
    if violated.weakest().is_none() || max_instances == 0 {
        return Vec::new();
    }
    if violated.contains(Level::Linearizability) {
        let options = Options {
            levels: vec![Level::Linearizability],
            max_instances,
            ..Options::default()
        };
        return checkers::check(input.history, &options, control, &|_| {}).violations;
    }
    let mut found = input.reads;
    let more = input.index.canonical(input.history, control);
    let more = more
        .and_then(|index| weak::instances(input.history, &index, violated, max_instances, control));
    if let Ok(more) = more {
        let is_new = |pattern: Pattern| pattern != Pattern::NonRepeatableRead;
        found.violations.extend(
            more.violations
                .into_iter()
                .filter(|violation| is_new(violation.id.pattern)),
        );
    }
    building_blocks::arrange(
        &mut found,
        satisfied.union(LevelSet::not_asked(&[])),
        max_instances,
    );
    found.violations
}
