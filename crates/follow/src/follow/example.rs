//! What violates a level, shown by the checkers: the remembered transactions are put together to a history again, or,
//! where the reads of one are wrong, those that it read from.
//!
//! Every level is closed under leaving out transactions and reads, and settling changes no verdict, so the remembered
//! part with its settled state violates the level exactly if the whole does. That is checked again off-line, and its
//! counterexample is minimized and verified like any other.

use super::delivered::Delivered;
use super::delivery::{Delivery, Evidence};
use super::engine::Engine;
use super::keep::kept;
use super::record::{Action, Assembly, Atom, Names, Record};
use super::title;
use isoscope_check::checkers::{self, Level, Pattern, Verdict};
use isoscope_model::control::Control;
use isoscope_model::history::{History, OperationKind, Origin};
use isoscope_tell::audit::{self, Example, Examples};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long finding and minimizing one counterexample may take.
const MINIMIZING: Duration = Duration::from_secs(20);

/// Violations of each pattern among which one of the level is looked for.
const LISTED: usize = 100;

/// A violation of a level.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The level.
    pub level: Level,
    /// The line of the transaction with which it was decided.
    pub line: u32,
    /// The transaction's session.
    pub session: String,
    /// What happened, in a few words.
    pub title: String,
    /// Whether a transaction read a version that all sessions had passed: the evidence is no longer remembered.
    pub is_forgotten: bool,
    /// Why it is a contradiction, in a sentence; empty if that could not be found in time, or is forgotten.
    pub summary: String,
    /// The pattern of the reads of one transaction, where they show it alone.
    pub pattern: Option<Pattern>,
    /// What is shown, where it was found.
    pub example: Option<Example>,
}

/// What shows that a level is violated, whatever comes: a part of the history by itself, as long as nothing that it reads
/// is written again.
#[derive(Debug)]
pub(super) struct Proof {
    pub(super) level: Level,
    /// Key and value of its reads, and the elements of lists.
    pub(super) reads: FxHashSet<(u32, Atom)>,
}

kept!(Proof { level, reads });

impl Proof {
    pub(super) fn new(level: Level, example: &Example, names: &Names) -> Proof {
        let history = &example.counterexample.history;
        let mut reads = FxHashSet::default();
        for o in history
            .transactions()
            .flat_map(|t| history.operations_of(t))
        {
            let operation = history.operation(o);
            let Some(key) = names
                .keys
                .find(&history.key_names().text(operation.key.index()))
            else {
                continue;
            };
            if operation.kind == OperationKind::Write {
                continue;
            }
            match history.lists().read_by(o) {
                Some(list) => reads.extend(
                    list.iter()
                        .map(|&element| (key, Atom::of(history, element, true))),
                ),
                None => drop(reads.insert((key, Atom::of(history, operation.value, false)))),
            }
        }
        Proof { level, reads }
    }
}

/// What ended the engine of a level when it entered `t`.
pub(super) fn of_engine(
    engine: &Engine,
    t: &Delivered,
    is_at_hand: bool,
    (delivery, names): (&Delivery, &Names),
) -> Finding {
    let level = engine.level();
    let bare = || Finding {
        level,
        line: t.record.line,
        session: names.sessions.name(t.session).to_owned(),
        title: match t.wrong {
            Some(pattern) => title(pattern).to_owned(),
            None if is_at_hand => format!("{level} is violated"),
            None => "A version was read that every session had passed".to_owned(),
        },
        is_forgotten: t.wrong.is_none() && !is_at_hand,
        summary: String::new(),
        pattern: t.wrong,
        example: None,
    };
    let part = match (t.wrong, is_at_hand) {
        (Some(_), _) => return of_reads(level, t, delivery, names),
        (None, true) => remembered(engine, names),
        (None, false) => None,
    };
    part.and_then(|history| explained(history, level))
        .map_or_else(bare, |example| shown(bare(), example))
}

/// A finding with what shows it.
fn shown(finding: Finding, example: Example) -> Finding {
    let (title, summary) = (
        example.explanation.title.clone(),
        example.explanation.summary.to_string(),
    );
    Finding {
        title,
        summary,
        example: Some(example),
        ..finding
    }
}

/// What the reads of one transaction show.
pub(super) fn of_reads(level: Level, t: &Delivered, delivery: &Delivery, names: &Names) -> Finding {
    let finding = alone(level, t, names);
    let history = with_writers(delivery.evidence(t), names);
    match history.and_then(|history| explained(history, level)) {
        Some(example) => shown(finding, example),
        None => finding,
    }
}

/// A transaction and those that it read from.
fn with_writers(evidence: Evidence, names: &Names) -> Option<History> {
    let Evidence { records, elements } = evidence;
    assembled(
        std::iter::empty(),
        records.iter().map(|record| (record, None)),
        &elements,
        names,
    )
}

/// Transactions as a history, behind a state that was settled before; of some of their reads, by place, it is not known
/// what they read. Lists begin with what no transaction of them appended; where a list has more such elements, its read is
/// left out.
fn assembled<'r>(
    state: impl Iterator<Item = (u32, &'r Atom, u32)>,
    records: impl Iterator<Item = (&'r Record, Option<Vec<usize>>)>,
    elements: &FxHashSet<(u32, Atom)>,
    names: &Names,
) -> Option<History> {
    let records: Vec<(&Record, Option<Vec<usize>>)> = records.collect();
    let is_there = |key: u32, element: &Atom| elements.contains(&(key, element.clone()));
    let mut beginnings: BTreeMap<u32, &[Atom]> = BTreeMap::new();
    for action in records.iter().flat_map(|(record, _)| &record.operations) {
        if let (OperationKind::Read, Some(list)) = (action.kind, &action.list) {
            let n = list
                .iter()
                .take_while(|element| !is_there(action.key, element))
                .count();
            let beginning = beginnings.entry(action.key).or_default();
            *beginning = if n > beginning.len() {
                &list[..n]
            } else {
                beginning
            };
        }
    }
    let mut assembly = Assembly::new(Origin::default(), names);
    let settled = beginnings
        .iter()
        .flat_map(|(key, beginning)| beginning.iter().map(|element| (*key, element, 0)));
    assembly.set_up(state.chain(settled));
    let is_whole = |action: &Action| {
        let list = action
            .list
            .as_deref()
            .filter(|_| action.kind == OperationKind::Read);
        let rest = list.map_or(Some(&[][..]), |list| {
            list.strip_prefix(beginnings[&action.key])
        });
        rest.is_some_and(|rest| rest.iter().all(|element| is_there(action.key, element)))
    };
    for (record, unknown) in &records {
        let is_unknown = |place: &usize| {
            unknown
                .as_ref()
                .is_some_and(|unknown| unknown.contains(place))
        };
        assembly.add(record, |place| {
            !is_unknown(&place) && is_whole(&record.operations[place])
        });
    }
    assembly.finish().ok()
}

/// What its own operations show, without those that it read from.
fn alone(level: Level, t: &Delivered, names: &Names) -> Finding {
    let pattern = t
        .wrong
        .filter(|_| level != Level::CutIsolation)
        .unwrap_or(Pattern::NonRepeatableRead);
    let describe = |action: &super::record::Action| {
        let key = names.keys.name(action.key);
        let value = match (&action.value, &action.list, action.kind) {
            (_, Some(list), OperationKind::Read) => {
                let elements: Vec<String> = list.iter().map(Atom::to_string).collect();
                format!("[{}]", elements.join(" "))
            }
            (Atom::Initial, ..) => "init".to_owned(),
            (value, ..) => value.to_string(),
        };
        let letter = match (action.kind, &action.list) {
            (OperationKind::Read, _) => "r",
            (OperationKind::Write, Some(_)) => "a",
            (OperationKind::Write, None) => "w",
        };
        format!("{letter} {key} {value}")
    };
    let operations: Vec<String> = t.record.operations.iter().map(describe).collect();
    Finding {
        level,
        line: t.record.line,
        session: names.sessions.name(t.session).to_owned(),
        title: title(pattern).to_owned(),
        is_forgotten: false,
        summary: format!(
            "It is in the reads of one transaction: [{}].",
            operations.join(", ")
        ),
        pattern: Some(pattern),
        example: None,
    }
}

/// What an engine remembers, with the state that it settled.
fn remembered(engine: &Engine, names: &Names) -> Option<History> {
    let residents = engine.residents();
    let writes = residents.iter().flat_map(|t| t.record.writes());
    let elements = writes.map(Action::version).collect();
    let unknown = |t: &Delivered| {
        let left_out = |place: &usize| {
            let read = t.reads.iter().find(|read| read.place as usize == *place);
            read.is_some_and(|read| !engine.counts(t.seq, read)) || !is_recorded(t, *place)
        };
        (0..t.record.operations.len()).filter(left_out).collect()
    };
    let records = residents.iter().map(|t| (&t.record, Some(unknown(t))));
    let state = engine
        .settled_state()
        .into_iter()
        .filter(|(key, ..)| !names.is_list(*key));
    assembled(state, records, &elements, names)
}

/// Whether an operation is a write, a read of an own write, or a read whose writer is known.
fn is_recorded(t: &Delivered, place: usize) -> bool {
    let action = &t.record.operations[place];
    let is_own = || {
        let last = t.record.writes_before(place).next_back();
        action.list.is_none() && last.is_some_and(|write| write.value == action.value)
    };
    action.is_write() || t.reads.iter().any(|read| read.place as usize == place) || is_own()
}

/// The first violation of a level, and the small history that shows it.
fn explained(history: History, level: Level) -> Option<Example> {
    let control = Control::new().with_time_limit(MINIMIZING);
    let options = checkers::Options {
        levels: vec![level],
        max_instances: LISTED,
        counts: false,
    };
    let findings = audit::check(&history, &options, &control, &|_| {});
    let is_violated = findings
        .level(level)
        .is_some_and(|result| result.verdict == Verdict::Violated);
    let violation = findings
        .violations
        .iter()
        .find(|violation| violation.levels.contains(level));
    let violation = violation.filter(|_| is_violated)?;
    Some(Examples::new(&history, &findings).of(violation, &control))
}
