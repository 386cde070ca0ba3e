//! What violates a level, shown by the checkers: the remembered transactions are put together to a history again.
//!
//! Every level is closed under leaving out transactions and reads, and settling changes no verdict, so the remembered
//! part with its settled state violates the level exactly if the whole does. That is checked again off-line, and its
//! counterexample is minimized and verified like any other.

use super::delivered::Delivered;
use super::engine::Engine;
use super::record::{Assembly, Atom, Names};
use super::title;
use crate::audit::{self, Example, Examples};
use crate::checkers::{self, Level, Pattern, Verdict};
use crate::control::Control;
use crate::history::{History, OperationKind, Origin};
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
    /// What is shown, where more than one transaction is involved and it was found.
    pub example: Option<Example>,
}

/// What ended the engine of a level when it entered `t`.
pub(super) fn of_engine(engine: &Engine, t: &Delivered, is_at_hand: bool, names: &Names) -> Finding {
    let level = engine.level();
    let bare = || Finding {
        level,
        line: t.record.line,
        session: names.sessions.name(t.session).to_owned(),
        title: t.wrong.map_or_else(|| format!("{level} is violated"), |pattern| title(pattern).to_owned()),
        is_forgotten: t.wrong.is_none() && !is_at_hand,
        summary: String::new(),
        pattern: t.wrong,
        example: None,
    };
    let part = match (t.wrong, is_at_hand) {
        (Some(_), _) => return of_reads(level, t, names),
        (None, true) => remembered(engine, names),
        (None, false) => None,
    };
    part.and_then(|history| explained(history, level)).map_or_else(bare, |example| Finding {
        title: example.explanation.title.clone(),
        summary: example.explanation.summary.clone(),
        example: Some(example),
        ..bare()
    })
}

/// What the reads of one transaction show.
pub(super) fn of_reads(level: Level, t: &Delivered, names: &Names) -> Finding {
    let pattern = t.wrong.filter(|_| level != Level::CutIsolation).unwrap_or(Pattern::NonRepeatableRead);
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
        summary: format!("It is in the reads of one transaction: [{}].", operations.join(", ")),
        pattern: Some(pattern),
        example: None,
    }
}

/// What an engine remembers, with the state that it settled.
fn remembered(engine: &Engine, names: &Names) -> Option<History> {
    let mut assembly = Assembly::new(Origin::default(), names);
    assembly.set_up(engine.settled_state().into_iter().filter(|(key, ..)| !names.is_list(*key)));
    let residents = engine.residents();
    let writes = residents.iter().flat_map(|t| &t.record.operations).filter(|o| o.kind == OperationKind::Write);
    assembly.keep_elements(writes.map(|action| (action.key, action.value.clone())).collect());
    for t in residents {
        let left_out = |place: usize| {
            let read = t.reads.iter().find(|read| read.place as usize == place);
            read.is_some_and(|read| !engine.counts(t.seq, read))
        };
        assembly.add(&t.record, |place| !left_out(place) && is_recorded(t, place));
    }
    assembly.finish().ok()
}

/// Whether an operation is a write, a read of an own write, or a read whose writer is known.
fn is_recorded(t: &Delivered, place: usize) -> bool {
    let action = &t.record.operations[place];
    let is_own = || {
        let own = t.record.operations[..place].iter().rev();
        let mut own = own.filter(|other| other.kind == OperationKind::Write && other.key == action.key);
        action.list.is_none() && own.next().is_some_and(|write| write.value == action.value)
    };
    action.kind == OperationKind::Write || t.reads.iter().any(|read| read.place as usize == place) || is_own()
}

/// The first violation of a level, and the small history that shows it.
fn explained(history: History, level: Level) -> Option<Example> {
    let control = Control::new().with_time_limit(MINIMIZING);
    let options = checkers::Options { levels: vec![level], max_instances: LISTED, counts: false, share: None };
    let findings = audit::check(&history, &options, &control, &|_| {});
    let is_violated = findings.level(level).is_some_and(|result| result.verdict == Verdict::Violated);
    let violation = findings.violations.iter().find(|violation| violation.levels.contains(level));
    let violation = violation.filter(|_| is_violated)?;
    Some(Examples::new(&history, &findings).of(violation, &control))
}
