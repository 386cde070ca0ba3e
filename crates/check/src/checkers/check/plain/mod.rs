//! Levels that count no sessions.
//!
//! The plain form of a level holds if the level holds in the history in which each transaction has a session of its own.
//! Transactions and operations keep their ids there, so orders and arguments found there are ones of the history itself,
//! without an edge of session order. What is violated there is violated with sessions, too.

mod mixed;

use super::{CheckMode, Request, set_up};
use crate::checkers::strong;
use crate::checkers::weak::BaseOrder;
use crate::checkers::{
    Cause, Findings, Level, LevelResult, LevelSet, Options, Verdict, applicable, in_real_time,
};
use isoscope_model::control::Control;
use isoscope_model::graph::{Digraph, topological_order_by_priority};
use isoscope_model::history::History;
use isoscope_model::relations::{
    INITIAL_SLOT, Index, NONE, Node, Resolution, resolve, set_up_transactions,
};
use std::sync::Arc;

/// [`Request::check_applicable`] where some of the levels are plain. Where times contradict session order, those that need them are
/// violated if the same levels without times are, and else undecided.
pub(super) fn check(request: Request<'_>, resolution: Option<Arc<Resolution>>) -> Findings {
    let Request {
        history,
        options,
        control,
        observe,
        ..
    } = request;
    let is_timed = |level: &Level| level.is_form_of_itself() && level.counts_real_time();
    let timed: Vec<Level> = options.levels.iter().copied().filter(is_timed).collect();
    let cause = if timed.is_empty() {
        None
    } else {
        unusable_times(history, resolution.clone(), control)
    };
    let Some(cause) = cause else {
        return decide(request, resolution);
    };
    let mut levels: Vec<Level> = options
        .levels
        .iter()
        .filter(|level| !timed.contains(level))
        .copied()
        .collect();
    let answers: Vec<(Level, Level)> = timed
        .iter()
        .filter_map(|&level| Some((level, applicable::without_times(level)?)))
        .collect();
    for (_, answer) in &answers {
        if !levels.contains(answer) {
            levels.push(*answer);
        }
    }
    let asked = Options {
        levels,
        ..options.clone()
    };
    let tell = |result: &LevelResult| {
        if options.levels.contains(&result.level) {
            observe(result)
        }
    };
    let mut findings = decide(
        Request {
            options: &asked,
            observe: &tell,
            ..request
        },
        resolution,
    );
    for (level, answer) in answers {
        let Some(known) = findings.level(answer).cloned() else {
            continue;
        };
        let verdict = match known.verdict {
            Verdict::Violated => Verdict::Violated,
            _ => Verdict::Undecided(cause.clone()),
        };
        let result = LevelResult {
            level,
            verdict,
            sources: Vec::new(),
            ..known
        };
        observe(&result);
        findings.levels.push(result);
    }
    findings
        .levels
        .retain(|result| options.levels.contains(&result.level));
    findings
}

/// [`check`] for plain levels whose forms with sessions are known to be violated: these are not decided again.
pub(super) fn check_apart(request: Request<'_>, resolution: Arc<Resolution>) -> Findings {
    let forms = request
        .options
        .levels
        .iter()
        .filter_map(|level| level.plain_of())
        .collect();
    Alone(request).apart(forms, Some(resolution))
}

/// Why times say nothing, if they contradict session order.
fn unusable_times(
    history: &History,
    resolution: Option<Arc<Resolution>>,
    control: &Control,
) -> Option<Cause> {
    let resolution = resolution
        .map_or_else(|| resolve(history, control).map(Arc::new), Ok)
        .ok()?;
    let index =
        Index::build_with(history, &resolution, &resolution.choice_of_none(), control).ok()?;
    in_real_time::unusable(history, &index)
}

/// [`check`] where times can be used.
fn decide(request: Request<'_>, resolution: Option<Arc<Resolution>>) -> Findings {
    if request
        .options
        .levels
        .iter()
        .all(|level| level.plain_of().is_some() || level.is_of_reads())
    {
        Alone(request).check(resolution)
    } else {
        mixed::check(request, resolution)
    }
}

/// By transaction: its place in an order that explains most reads and respects sessions. The engines begin with it where there
/// are no sessions: what is wrong with these is wrong in few places. None if sessions and reads form a cycle.
fn guess(
    history: &History,
    resolution: Option<Arc<Resolution>>,
    control: &Control,
) -> Option<Vec<u32>> {
    let resolution = resolution
        .map_or_else(|| resolve(history, control).map(Arc::new), Ok)
        .ok()?;
    let index =
        Index::build_with(history, &resolution, &resolution.choice_of_none(), control).ok()?;
    let ground = BaseOrder::new(&index, control).ok()??;
    // Sessions that wait for others may be far apart in that order; in the middle of where reads leave room they are not.
    let graph = observed(&index);
    let middle =
        topological_order_by_priority(&graph, &strong::expected_places(&graph, ground.order()))?;
    let order = if n_unexplained(&index, &middle) < n_unexplained(&index, ground.order()) {
        &middle
    } else {
        ground.order()
    };
    let mut guess = vec![NONE; history.n_transactions()];
    for (&node, place) in order.iter().zip(0..) {
        guess[index.transaction[node as usize].index()] = place;
    }
    Some(guess)
}

/// Session order and reads.
fn observed(index: &Index) -> Digraph {
    let mut edges: Vec<(Node, Node)> = Vec::with_capacity(index.read_key.len());
    for t in 0..index.n_nodes() as Node {
        edges.extend(index.successor(t).map(|next| (t, next)));
        let writers = index.reads_of(t).map(|read| index.writer_of_read(read));
        edges.extend(
            writers
                .filter(|&writer| writer != NONE && writer != t)
                .map(|writer| (writer, t)),
        );
    }
    Digraph::new(index.n_nodes(), edges.iter().copied())
}

/// How many reads do not return the newest version where transactions run in this order.
fn n_unexplained(index: &Index, order: &[Node]) -> usize {
    let mut newest = vec![INITIAL_SLOT; index.n_keys()];
    let mut n = 0;
    for &t in order {
        n += index
            .reads_of(t)
            .filter(|&read| newest[index.read_key[read] as usize] != index.read_slot[read])
            .count();
        index
            .writes_of(t)
            .for_each(|write| newest[index.write_key[write] as usize] = index.write_slot[write]);
    }
    n
}

/// The plain levels, and CI, that a violation of these levels violates where each transaction has a session of its own.
pub(in crate::checkers) fn named(violated: LevelSet) -> LevelSet {
    Level::EVERY
        .into_iter()
        .filter(|level| match level.plain_of() {
            Some(form) => violated.contains(form),
            None => level.is_of_reads() && violated.contains(*level),
        })
        .collect()
}

/// Names the plain levels that violations found without sessions violate.
fn name_violations(findings: &mut Findings) {
    for violation in findings
        .violations
        .iter_mut()
        .chain(&mut findings.rest.found)
    {
        violation.levels = named(violation.levels);
    }
}

/// [`count`](super::count) for findings that name plain levels; none if these do not.
pub(super) fn count(
    history: &History,
    resolution: &Arc<Resolution>,
    findings: &mut Findings,
    options: &Options,
    control: &Control,
) -> Option<Findings> {
    if let Some(arguments) = findings.rest.plain_arguments.take() {
        let findings = std::mem::take(findings);
        return Some(mixed::count(
            history,
            Arc::clone(resolution),
            findings,
            &arguments,
            options,
            control,
        ));
    }
    findings
        .rest
        .is_plain
        .then(|| count_alone(std::mem::take(findings), options, control))
}

/// As `count`, where none of the levels counts sessions.
fn count_alone(mut findings: Findings, options: &Options, control: &Control) -> Findings {
    let Some(alone) = findings.rest.distinguished.clone() else {
        return findings;
    };
    let Ok(resolution) = resolve(&alone, control) else {
        return findings;
    };
    let form = |level: Level| level.plain_of().unwrap_or(level);
    for violation in &mut findings.violations {
        violation.levels = violation.levels.iter().map(form).collect();
    }
    findings.rest.is_plain = false;
    let asked = Options {
        levels: options.levels.iter().copied().map(form).collect(),
        ..options.clone()
    };
    let mut counted = super::count(&alone, Arc::new(resolution), findings, &asked, control);
    name_violations(&mut counted);
    counted.rest.alone(alone);
    counted
}

/// A check for levels none of which counts sessions.
struct Alone<'a>(Request<'a>);

impl Alone<'_> {
    /// Decides the forms with sessions first, which needs no other history: what satisfies one satisfies the plain level. What
    /// violates the others is then looked for, counted and listed without sessions.
    fn check(&self, resolution: Option<Arc<Resolution>>) -> Findings {
        let Request {
            options, observe, ..
        } = self.0;
        let quiet = Request {
            observe: &|_| {},
            ..self.0
        };
        let with_sessions = |level: &Level| level.with_sessions().unwrap_or(*level);
        let mut levels: Vec<Level> = options.levels.iter().map(with_sessions).collect();
        levels.sort_unstable();
        levels.dedup();
        let verdicts = Options {
            levels,
            max_instances: 0,
            counts: false,
        };
        let mut known = Request {
            options: &verdicts,
            ..quiet
        }
        .check_applicable(resolution.clone());
        let of = |level: &Level| {
            known.level(with_sessions(level)).map(|known| LevelResult {
                level: *level,
                ..known.clone()
            })
        };
        let holds = |result: &LevelResult| matches!(result.verdict, Verdict::Satisfied(_));
        known.levels = options.levels.iter().filter_map(of).filter(holds).collect();
        let open = options
            .levels
            .iter()
            .filter(|level| known.level(**level).is_none());
        let open: Vec<Level> = open
            .map(|level| level.plain_of().unwrap_or(*level))
            .collect();
        name_violations(&mut known);
        known.levels.iter().for_each(observe);
        if open.is_empty() {
            return known;
        }
        let found = self.apart(open, resolution);
        found.levels.iter().for_each(observe);
        self.join(known, found)
    }

    /// Decides these forms where each transaction has a session of its own.
    fn apart(&self, forms: Vec<Level>, resolution: Option<Arc<Resolution>>) -> Findings {
        let Request {
            history,
            options,
            control,
            mode,
            ..
        } = self.0;
        let alone = Arc::new(history.with_a_session_each(&set_up_transactions(history)));
        let asked = Options {
            levels: forms,
            ..options.clone()
        };
        let guess = guess(history, resolution, control);
        let mode = CheckMode {
            guess: guess.as_deref(),
            ..mode
        };
        // What holds even with sessions is still to be verified.
        let in_time = control.leaving_time();
        let request = Request {
            history: &alone,
            options: &asked,
            mode,
            control: &in_time,
            observe: &|_| {},
        };
        let mut found = request.check_applicable(None);
        found.rest.alone(alone);
        self.name(&mut found);
        if mode.tests_set_up
            && history.set_up().is_empty()
            && !set_up_transactions(history).is_empty()
        {
            set_up::verify_assumed_setup(history, options, control, &mut found);
        }
        found
    }

    /// Names the plain levels instead of their forms.
    fn name(&self, findings: &mut Findings) {
        let asked = &self.0.options.levels;
        for result in &mut findings.levels {
            let is_form = |level: &&Level| level.plain_of() == Some(result.level);
            result.level = asked.iter().find(is_form).copied().unwrap_or(result.level);
        }
        name_violations(findings);
    }

    /// What was found without sessions, with the levels that hold even with them.
    fn join(&self, mut known: Findings, mut found: Findings) -> Findings {
        found.levels.append(&mut known.levels);
        found.levels.sort_by_key(|result| {
            self.0
                .options
                .levels
                .iter()
                .position(|level| *level == result.level)
        });
        found.assume(&mut known);
        found.index_seconds += known.index_seconds;
        found.check_seconds += known.check_seconds;
        found
    }
}
