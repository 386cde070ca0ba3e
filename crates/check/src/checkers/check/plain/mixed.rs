//! Plain levels asked for together with levels that count sessions.
//!
//! What is counted and listed are the instances with sessions; for each plain level that is violated one argument without
//! sessions is added, or replaces the one about the same instance.

use super::super::{CheckMode, Request, has_repeated_elements, set_up};
use super::named;
use crate::checkers::rest::PlainArguments;
use crate::checkers::{
    Findings, Level, LevelResult, LevelSet, Options, Pattern, Proof, Question, Shows, Verdict,
    Violation, ViolationId, strong_patterns,
};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId, OperationId, TransactionId};
use isoscope_model::relations::{
    EdgeIndex, Index, NONE, Node, Reason, Relation, Resolution, resolve, set_up_transactions,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// [`Request::check_applicable`] where some of the levels are plain and some count sessions.
///
/// The forms of plain levels that count sessions are decided first: what satisfies one satisfies the plain level. Only if it
/// is violated, the plain level is decided without sessions, which costs as much again.
pub(super) fn check(request: Request<'_>, resolution: Option<Arc<Resolution>>) -> Findings {
    let Request {
        options,
        control,
        observe,
        ..
    } = request;
    let (plain, mut with_sessions): (Vec<Level>, Vec<Level>) = options
        .levels
        .iter()
        .copied()
        .partition(|level| level.plain_of().is_some());
    let (alike, forms): (Vec<Level>, Vec<Level>) = plain
        .iter()
        .filter_map(|level| level.with_sessions())
        .partition(|form| form.is_form_of_itself());
    let mut not_asked: Vec<Level> = forms
        .into_iter()
        .filter(|level| !with_sessions.contains(level))
        .collect();
    not_asked.sort_unstable();
    not_asked.dedup();
    with_sessions.extend(&not_asked);
    let asked = Options {
        levels: with_sessions,
        ..options.clone()
    };
    let tell = |result: &LevelResult| {
        if !not_asked.contains(&result.level) {
            observe(result)
        }
    };
    // What violates levels with sessions that count none is no instance of anything: only whether they hold matters.
    let held_apart = if alike.is_empty() {
        Findings::default()
    } else {
        let apart = Options {
            levels: alike,
            max_instances: 0,
            counts: false,
        };
        Request {
            options: &apart,
            observe: &|_| {},
            ..request
        }
        .check_applicable(resolution.clone())
    };
    let mut findings = Request {
        options: &asked,
        observe: &tell,
        ..request
    }
    .check_applicable(resolution);
    let forms: Vec<LevelResult> = findings
        .levels
        .iter()
        .chain(&held_apart.levels)
        .cloned()
        .collect();
    findings
        .levels
        .retain(|result| !not_asked.contains(&result.level));
    let mut open = Vec::new();
    for level in plain {
        match forms
            .iter()
            .find(|form| Some(form.level) == level.with_sessions())
            .cloned()
        {
            Some(known) if known.verdict == Verdict::Violated => open.push(level),
            known => findings.levels.extend(
                known
                    .map(|known| LevelResult { level, ..known })
                    .inspect(observe),
            ),
        }
    }
    let mut plain_arguments = PlainArguments {
        decided: options.levels.clone(),
        alone: None,
        arguments: Vec::new(),
        has_choices: false,
        plain: open,
        not_asked,
        others: findings.violations.clone(),
    };
    if !plain_arguments.plain.is_empty() {
        decide(request, &mut plain_arguments, &mut findings);
    }
    add_arguments(&plain_arguments, options, control, &mut findings);
    if findings.can_be_counted() {
        findings.rest.plain_arguments = Some(Arc::new(plain_arguments));
    }
    findings
}

/// [`count`](super::count) for what was found with sessions; what violates plain levels is added again.
pub(super) fn count(
    history: &History,
    resolution: Arc<Resolution>,
    mut findings: Findings,
    plain_arguments: &PlainArguments,
    options: &Options,
    control: &Control,
) -> Findings {
    findings.violations.clone_from(&plain_arguments.others);
    let options = &Options {
        levels: plain_arguments.decided.clone(),
        ..options.clone()
    };
    let asked = options
        .levels
        .iter()
        .chain(&plain_arguments.not_asked)
        .filter(|level| level.plain_of().is_none());
    let asked = Options {
        levels: asked.copied().collect(),
        ..options.clone()
    };
    let mut findings = super::super::count(history, resolution, findings, &asked, control);
    add_arguments(plain_arguments, options, control, &mut findings);
    findings
}

/// Adds what violates plain levels to what violates others, and leaves out what was not asked for.
fn add_arguments(
    plain_arguments: &PlainArguments,
    options: &Options,
    control: &Control,
    findings: &mut Findings,
) {
    // What was found with sessions says nothing of levels that are their own forms without.
    for violation in &mut findings.violations {
        violation.levels = violation
            .levels
            .iter()
            .filter(|level| !level.is_form_of_itself())
            .collect();
    }
    for violation in &plain_arguments.arguments {
        add_violation(
            plain_arguments,
            violation.clone(),
            options,
            control,
            findings,
        );
    }
    let not_asked: Vec<Level> = plain_arguments
        .not_asked
        .iter()
        .copied()
        .filter(|level| !options.levels.contains(level))
        .collect();
    leave_out(&not_asked, &options.levels, findings);
}

/// Leaves out levels that were decided only for the sake of plain ones. What violates them is listed like anything else that
/// violates a level that was not asked for: as long as one is violated that was. Of a pattern that is about a level shown only
/// if asked for, instances remain where its plain form has them, too; at stronger levels that were asked for, and that nothing
/// else shows, they are cycles like others.
fn leave_out(not_asked: &[Level], asked: &[Level], findings: &mut Findings) {
    findings
        .levels
        .retain(|result| !not_asked.contains(&result.level));
    if !findings
        .levels
        .iter()
        .any(|result| result.verdict == Verdict::Violated)
    {
        findings
            .violations
            .retain(|violation| violation.id.pattern.is_of_reads());
        findings.patterns.retain(|pattern, _| pattern.is_of_reads());
    }
    let only_if_asked = not_asked.iter().filter(|level| !level.row().usual);
    for violation in &mut findings.violations {
        violation.levels = only_if_asked
            .clone()
            .fold(violation.levels, |levels, level| levels.without(*level));
    }
    let is_of = |pattern: Pattern, level: Level| level.plain_of() == Some(pattern.row().level);
    let is_about = |pattern: Pattern| {
        only_if_asked
            .clone()
            .any(|level| *level == pattern.row().level)
    };
    let others = findings
        .violations
        .iter()
        .filter(|violation| !is_about(violation.id.pattern));
    let shown = others.fold(LevelSet::default(), |shown, violation| {
        shown.union(violation.levels)
    });
    findings.violations.retain(|Violation { id, levels, .. }| {
        let matters = |level: &Level| {
            levels.contains(*level) && (is_of(id.pattern, *level) || !shown.contains(*level))
        };
        levels.weakest().is_some() && (!is_about(id.pattern) || asked.iter().any(matters))
    });
    for violation in &mut findings.violations {
        let is_named = violation
            .levels
            .iter()
            .any(|level| is_of(violation.id.pattern, level));
        if is_about(violation.id.pattern) && !is_named {
            let pattern = named_by_weakest(violation);
            violation.key = strong_patterns::key_of(pattern, &violation.edges, &violation.proof);
            let count = findings.patterns.entry(pattern).or_default();
            *count += 1;
            violation.id = ViolationId {
                pattern,
                ordinal: *count as u32,
            };
        }
    }
    findings.violations.sort_by_key(|violation| violation.id);
    let listed: BTreeSet<Pattern> = findings
        .violations
        .iter()
        .map(|violation| violation.id.pattern)
        .collect();
    findings
        .patterns
        .retain(|pattern, _| listed.contains(pattern) || !is_about(*pattern));
}

/// Decides plain levels without sessions, and finds what violates them.
fn decide(request: Request<'_>, plain_arguments: &mut PlainArguments, findings: &mut Findings) {
    let Request {
        history,
        options,
        control,
        mode,
        observe,
    } = request;
    let levels = plain_arguments.plain.clone();
    let mut forms: Vec<Level> = levels.iter().filter_map(|level| level.plain_of()).collect();
    // If PSI was asked for, what violates SI and SER is told as what violates PSI.
    let told_at = options
        .levels
        .iter()
        .filter(|level| !level.row().usual && level.plain_of().is_none());
    let told_at: Vec<Level> = told_at
        .filter(|level| forms.iter().any(|form| form.implies(**level)))
        .copied()
        .collect();
    forms.extend(told_at);
    forms.sort_unstable();
    forms.dedup();
    let asked = Options {
        levels: forms,
        max_instances: options.max_instances.min(1),
        counts: false,
    };
    let alone = history.with_a_session_each(&set_up_transactions(history));
    let guess = super::guess(history, None, control);
    let mode = CheckMode {
        guess: guess.as_deref(),
        ..mode
    };
    // What was decided with sessions is still to be verified.
    let in_time = control.leaving_time();
    let request = Request {
        history: &alone,
        observe: &|_| {},
        mode,
        control: &in_time,
        ..request
    };
    let resolution = resolve(&alone, control).map(Arc::new).ok();
    let has_several = resolution
        .as_ref()
        .is_none_or(|resolution| resolution.has_multiple_sources());
    plain_arguments.has_choices = has_several || has_repeated_elements(history);
    let mut found = Request {
        options: &asked,
        ..request
    }
    .check_applicable(resolution.clone());
    if asked.max_instances > 0 && !found.levels.iter().all(|result| is_shown(&found, result)) {
        // What shows some of them takes a search for all that violates them.
        let counting = Options {
            counts: true,
            max_instances: options.max_instances,
            ..asked
        };
        found = Request {
            options: &counting,
            ..request
        }
        .check_applicable(resolution);
    }
    findings.assume(&mut found);
    findings.index_seconds += found.index_seconds;
    findings.check_seconds += found.check_seconds;
    let mut results = Findings::default();
    for &level in &levels {
        let result = found
            .levels
            .iter()
            .find(|result| Some(result.level) == level.plain_of());
        results.levels.extend(result.map(|result| LevelResult {
            level,
            ..result.clone()
        }));
    }
    if mode.tests_set_up && history.set_up().is_empty() && !set_up_transactions(history).is_empty()
    {
        set_up::verify_assumed_setup(history, options, control, &mut results);
        findings.assume(&mut results);
    }
    results.levels.iter().for_each(observe);
    findings.levels.append(&mut results.levels);
    (plain_arguments.arguments, plain_arguments.alone) =
        (one_for_each(&found), Some(Arc::new(alone)));
}

/// Whether a listed violation shows a violated level.
fn is_shown(found: &Findings, result: &LevelResult) -> bool {
    result.verdict != Verdict::Violated
        || found
            .violations
            .iter()
            .any(|v| shown_by(v).contains(result.level))
}

/// The levels that a violation violates: those that it names, and what implies these. Repeatable read is left to cycles.
fn shown_by(violation: &Violation) -> LevelSet {
    let implying = |level: Level| {
        let is_told_by_cycles =
            move |other: &Level| level.is_of_reads() && other.is_serial_for_items();
        let all = LevelSet::upward(level).iter();
        all.filter(move |other| !is_told_by_cycles(other))
    };
    violation.levels.iter().flat_map(implying).collect()
}

/// Violations that show all violated levels, each one that no earlier one shows.
fn one_for_each(found: &Findings) -> Vec<Violation> {
    let mut chosen: Vec<Violation> = Vec::new();
    for result in found
        .levels
        .iter()
        .filter(|result| result.verdict == Verdict::Violated)
    {
        let shows = |violation: &&Violation| shown_by(violation).contains(result.level);
        if !chosen.iter().any(|violation| shows(&violation)) {
            chosen.extend(found.violations.iter().find(shows).cloned());
        }
    }
    chosen
}

/// Adds a violation found without sessions: it names the plain levels and, like any other, those asked for with sessions, unless
/// it may rest on a choice of writers.
fn add_violation(
    plain_arguments: &PlainArguments,
    mut violation: Violation,
    options: &Options,
    control: &Control,
    findings: &mut Findings,
) {
    let asked = |violated: LevelSet| {
        named(violated)
            .iter()
            .filter(|level| plain_arguments.plain.contains(level))
            .collect::<LevelSet>()
    };
    let plain = asked(shown_by(&violation));
    let has_choices = plain_arguments.has_choices;
    if plain.weakest().is_none()
        || replaces(&violation, plain, has_choices, &mut findings.violations)
    {
        return;
    }
    let shows = violation.id.pattern.row().shows;
    let mut is_told_alike = !has_choices;
    if matches!(shows, Shows::CausalOrder | Shows::Reads)
        && matches!(violation.proof, Proof::Cycle(_) | Proof::Reads(None))
    {
        // With sessions the same reads may be an instance of another pattern: it is told by its cycle.
        let form = plain
            .weakest()
            .and_then(Level::plain_of)
            .filter(|form| form.is_of_dependencies() || form.is_of_each_read());
        let form = form.unwrap_or(Level::ParallelSnapshotIsolation);
        let alone = plain_arguments.alone.as_ref();
        let cycle =
            alone.and_then(|alone| by_cycle(alone, &violation, form, control).ok().flatten());
        match cycle.filter(|cycle| asked(shown_by(cycle)) == plain) {
            Some(cycle) if replaces(&cycle, plain, has_choices, &mut findings.violations) => return,
            Some(cycle) => violation = cycle,
            None => is_told_alike = false,
        }
    }
    let not_asked = LevelSet::not_asked(&options.levels);
    let with_sessions: LevelSet = violation
        .levels
        .iter()
        .filter(|level| !not_asked.contains(*level))
        .collect();
    violation.levels = if is_told_alike {
        with_sessions.union(plain)
    } else {
        plain
    };
    let is_again = |known: &Violation| {
        let is_same_cycle = cycle_of(known).is_some() && cycle_of(known) == cycle_of(&violation);
        known.id.pattern == violation.id.pattern
            && (is_same_cycle || instance_of(known) == instance_of(&violation))
    };
    if findings.violations.iter().any(is_again) {
        // With sessions it is told by another argument, and counted.
        (violation.levels, is_told_alike) = (plain, false);
    }
    let pattern = named_by_weakest(&violation);
    if pattern != violation.id.pattern {
        violation.id.pattern = pattern;
        violation.key = strong_patterns::key_of(pattern, &violation.edges, &violation.proof);
    }
    let of_pattern = findings
        .violations
        .iter()
        .filter(|other| other.id.pattern == violation.id.pattern);
    let n = of_pattern.map(|other| other.id.ordinal).max().unwrap_or(0);
    let last_group = findings
        .violations
        .iter()
        .map(|other| other.group)
        .max()
        .unwrap_or(0);
    (violation.id.ordinal, violation.group, violation.place) = (n + 1, last_group + 1, None);
    if is_told_alike {
        // It may be one of those that are counted and not listed.
        let count = findings.patterns.entry(violation.id.pattern).or_default();
        *count = (*count).max(u64::from(n) + 1);
    }
    findings.violations.push(violation);
    findings.violations.sort_by_key(|violation| violation.id);
}

/// The pattern of a violation, or that by the weakest level it names if it is named after one that it does not name.
fn named_by_weakest(violation: &Violation) -> Pattern {
    let pattern = violation.id.pattern;
    let about = pattern.row().level;
    let form = |level: Level| level.plain_of().unwrap_or(level);
    let is_general = about.is_of_dependencies() || about.is_of_each_read();
    if !is_general || violation.levels.iter().any(|level| form(level) == about) {
        return pattern;
    }
    let weakest = violation
        .levels
        .iter()
        .filter(|level| !level.is_of_reads())
        .map(form)
        .min();
    weakest.map_or(pattern, |level| {
        strong_patterns::named_by(&violation.edges, &violation.proof, level)
    })
}

/// Whether an instance is listed already: then it takes the argument that needs no sessions, and names the plain levels. Where
/// the argument may rest on a choice of writers, this must be the very same one.
fn replaces(
    violation: &Violation,
    plain: LevelSet,
    has_choices: bool,
    listed: &mut [Violation],
) -> bool {
    let (instance, cycle) = (instance_of(violation), cycle_of(violation));
    let row = violation.id.pattern.row();
    // Of instances that are alike the one with this very argument, if there is one.
    let is_told =
        |known: &Violation| known.edges == violation.edges && known.proof == violation.proof;
    let is_same = |known: &Violation| {
        known.id.pattern == violation.id.pattern
            // Single reads are wrong with and without sessions, though not always told by the same pair of lists.
            && (is_of_wrong_reads(known) && is_of_wrong_reads(violation)
                || instance_of(known) == instance
                || cycle.is_some() && cycle_of(known) == cycle)
    };
    // With choices, what shows cut isolation is listed apart, since other writers count there.
    let names_others =
        |known: &Violation| !has_choices || known.levels.iter().any(|level| !level.is_of_reads());
    let is_it = |known: &Violation| {
        known.id.pattern == violation.id.pattern && is_told(known) && names_others(known)
    };
    let told = listed.iter().position(is_it);
    let same = || {
        listed
            .iter()
            .position(|known| is_same(known) && names_others(known))
    };
    let Some(place) = told.or_else(same) else {
        return false;
    };
    let known = &mut listed[place];
    let levels = known.levels.union(plain);
    if is_of_wrong_reads(known) || is_told(known) {
        known.levels = levels;
        return true;
    }
    // With sessions an instance may violate weaker levels, of which this argument says nothing.
    let shown = shown_by(violation);
    if has_choices || !known.levels.iter().all(|level| shown.contains(level)) {
        // Two reads of a key that can share no writer violate cut isolation by themselves, and with it all that these two
        // arguments do not share.
        let is_torn = !has_choices || known.levels.contains(Level::CutIsolation);
        return row.shows == Shows::Reads
            && is_torn
            && plain.iter().all(|level| level.implies(Level::CutIsolation));
    }
    *known = Violation {
        levels,
        id: known.id,
        implied: known.implied,
        group: known.group,
        place: known.place,
        ..violation.clone()
    };
    true
}

/// Whether single reads violate read committed, in each case: this takes neither sessions nor any other edge. Cases that are told
/// by such a read may have others that end with a cycle.
fn is_of_wrong_reads(violation: &Violation) -> bool {
    let is_wrong = |pattern: Pattern| pattern.row().shows == Shows::WrongRead;
    let mut open = vec![&violation.proof];
    while let Some(proof) = open.pop() {
        match proof {
            Proof::Cycle(_)
            | Proof::Cases {
                question: Question::Order { .. },
                ..
            } => return false,
            Proof::Reads(Some(wrong)) if !is_wrong(wrong.pattern) => return false,
            _ if proof.cycles_of_orders().is_some() => return false,
            _ => open.extend(proof.inner()),
        }
    }
    is_wrong(violation.id.pattern)
}

/// What two arguments about one instance of a pattern have in common: its key, transactions and reads. Of two reads of one
/// key, their writers and what else it takes may differ.
fn instance_of(violation: &Violation) -> (Option<KeyId>, Vec<TransactionId>, Vec<OperationId>) {
    if violation.id.pattern.row().shows == Shows::Reads {
        // Where several transactions may have written what was read, the proof names the reads.
        let pair: Vec<OperationId> = match violation.edges.as_slice() {
            [] => violation.proof.reads(),
            edges => edges
                .iter()
                .take(2)
                .filter_map(|edge| edge.to_operation)
                .collect(),
        };
        return (violation.key, Vec::new(), pair);
    }
    let seen = violation
        .edges
        .iter()
        .filter_map(|edge| match edge.because {
            Reason::Visible { read, .. } => Some(read),
            _ => None,
        });
    let (mut transactions, mut reads) = (violation.transactions.clone(), violation.proof.reads());
    reads.extend(seen.chain(violation.operations.iter().copied()));
    transactions.sort_unstable();
    reads.sort_unstable();
    reads.dedup();
    (violation.key, transactions, reads)
}

/// The ends of an edge, its relation and key, and the read that missed a version.
type CycleEdge = (
    TransactionId,
    TransactionId,
    Relation,
    Option<KeyId>,
    Option<OperationId>,
);

/// The edges of a cycle above causal order.
fn cycle_of(violation: &Violation) -> Option<BTreeSet<CycleEdge>> {
    let Proof::Cycle(cycle) = &violation.proof else {
        return None;
    };
    let edge = |&e: &EdgeIndex| {
        let edge = &violation.edges[e];
        let missing = edge
            .from_operation
            .filter(|_| edge.relation == Relation::AntiDependency);
        (edge.from, edge.to, edge.relation, edge.key, missing)
    };
    (violation.id.pattern.row().shows == Shows::Order).then(|| cycle.iter().map(edge).collect())
}

/// The cycle that the transactions of a violation close at a level without sessions.
fn by_cycle(
    alone: &History,
    violation: &Violation,
    level: Level,
    control: &Control,
) -> Result<Option<Violation>, Interrupt> {
    let resolution = resolve(alone, control)?;
    // Of equal lists the violation names one reader: the same one only in canonical order.
    let index = Index::build_with(alone, &resolution, &resolution.choice_of_none(), control)?
        .canonical(alone, control)?;
    let named = violation.transactions.iter().filter(|t| !t.is_initial());
    let mut nodes: Vec<Node> = named
        .map(|t| index.node[t.index()])
        .filter(|node| *node != NONE)
        .collect();
    nodes.sort_unstable();
    strong_patterns::of_part(alone, &index.part(&nodes), level, control)
}
