//! Checks whether the evidence of a report proves its verdicts.
//!
//! A second opinion that shares no code with the checkers: it knows the history and the report, nothing else. A
//! satisfied level is believed when its commit order, replayed operation by operation, returns every read; a violation
//! when each of its edges can be followed back to operations of the history and the edges contradict each other at
//! every level the violation names. Where a read has several possible writers a violation must have a case for each;
//! where an element of a list was appended more than once, one for each append that fits into the list; where it is
//! open whether a reader of such a list committed, one for either outcome; where those would be too many it has
//! contradictory combinations that exclude all cases. Near linear in the history and the evidence, except for the
//! causal level, whose replay may cost transactions × sessions, for logs of clauses, whose propagation may visit the
//! same clauses again, and for combinations of appends, each of which processes the history again.
//!
//! A verdict is known if evidence for it was accepted, or evidence at a level from which it follows (`levels`). It is
//! refuted if evidence was accepted for the contrary. Verdicts neither known nor refuted are listed as without
//! evidence. A verdict on a level that does not apply to the history (LIN where transactions are not lightweight, SSER
//! satisfied without times) is refused, and so is a report whose figures under `history` are not those of the file.
//!
//! Evidence may be exponential in the history, since deciding the strong levels is NP-complete, and so is deciding any
//! level where values repeat.
//!
//! Not checked: what a report says of a violation besides its levels, transactions, operations, edges and proof (names,
//! claims, statements, texts, groups), how many it counts, and all sentences. None of it changes what is accepted.

/// `Ok` if the first holds, else an error of the words after it, which are formatted.
macro_rules! require {
    ($holds:expr, $($otherwise:tt)*) => {
        if $holds { Ok(()) } else { Err(format!($($otherwise)*)) }
    };
}

mod argument;
mod basis;
mod cases;
mod clauses;
mod counted;
mod cut;
mod cycle;
mod edge;
mod elements;
#[cfg(test)]
mod forged;
mod guarantee;
mod initial;
mod levels;
mod linear;
mod list_evidence;
mod lists;
mod object;
mod operations;
mod overwriting;
mod propagation;
mod read;
mod replay;
mod resolution;
mod rows;
mod setting;
mod spans;
mod story;
mod subject;
mod verifier;
mod visibility;
mod witness;

pub use replay::{Flaw, Step};
pub use story::Sources;
pub use verifier::{Stated, Verifier};
pub use witness::Witness;

use crate::report::{
    LevelEntry, Report, SessionName, TransactionEntry, VerdictWord, ViolationEntry, WorkloadEntry,
};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, SessionId, TransactionId};
use isoscope_model::levels::Level;
use levels::{Accepted, Standing};
use object::Object;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt;

/// What was confirmed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The satisfied levels whose witness was replayed, or that of a level that implies them.
    pub satisfied: Vec<Level>,
    /// The violated levels for which a listed violation was confirmed, at this or a weaker level.
    pub violated: Vec<Level>,
    /// How many violations were confirmed.
    pub violations: usize,
    /// Verdicts without evidence: "SER satisfied", "PC violated".
    pub without_evidence: Vec<String>,
    /// What ended the work before everything was checked.
    pub ended: Option<Interrupt>,
}

/// What does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where in the report: `level SER`, `violation TAP-m/1`, or `history`.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Checks the evidence of `report` for what it says about `history`. Returns all problems.
pub fn verify(history: &History, report: &Report) -> Result<Verified, Vec<Problem>> {
    verify_within(history, report, &Control::new())
}

/// [`verify`] within the limits of `control`: verdicts whose evidence was not checked when they ended the work are without
/// evidence, and [`Verified::ended`] says why.
pub fn verify_within(
    history: &History,
    report: &Report,
    control: &Control,
) -> Result<Verified, Vec<Problem>> {
    let mut problems = facts(history, report);
    if !problems.is_empty() {
        return Err(problems);
    }
    let (verifier, names) = (Verifier::new(history, control), SessionNames::new(history));
    let (mut verified, mut shown) = (Verified::default(), Accepted::default());
    for level in &report.levels {
        if let Some(object) = Object::of(history) {
            match object.check(&names, level) {
                Ok(Some(VerdictWord::Satisfied)) => shown.satisfied.insert(level.level),
                Ok(Some(_)) => shown.violated.insert(level.level),
                Ok(None) => {}
                Err(message) => problems.push(of_level(level, message)),
            }
        } else if level.verdict == VerdictWord::Satisfied {
            match witness::check(&verifier, &names, level) {
                Ok(true) => shown.satisfied.insert(level.level),
                Ok(false) => {}
                Err(Flaw::Wrong(message)) => problems.push(of_level(level, message)),
                Err(Flaw::Interrupted(_)) => {}
            }
        }
    }
    for (violation, confirmed) in confirmed(&verifier, &names, report.violations.iter()) {
        match confirmed {
            Ok(()) => {
                verified.violations += 1;
                violation
                    .levels
                    .iter()
                    .for_each(|&level| shown.violated.insert(level));
            }
            Err(Flaw::Wrong(message)) => problems.push(of_violation(violation, message)),
            Err(Flaw::Interrupted(_)) => {}
        }
    }
    verified.ended = control.check().err();
    for level in &report.levels {
        let has_items = Object::of(history).is_none();
        if has_items && let Err(message) = levels::apply(history, verifier.initial(), level) {
            problems.push(of_level(level, message));
        }
        let code = level.level;
        match (levels::standing(level.verdict, code, &shown), level.verdict) {
            (Standing::Contradicted(message), _) => problems.push(of_level(level, message)),
            (Standing::Open, VerdictWord::Satisfied) => {
                verified.without_evidence.push(format!("{code} satisfied"))
            }
            (Standing::Open, _) => verified.without_evidence.push(format!("{code} violated")),
            (Standing::Shown, VerdictWord::Satisfied) => verified.satisfied.push(code),
            (Standing::Shown, VerdictWord::Violated) => verified.violated.push(code),
            (Standing::Shown, VerdictWord::Undecided) => {}
        }
    }
    problems.extend(levels::contradictions(&report.levels));
    if problems.is_empty() {
        Ok(verified)
    } else {
        Err(problems)
    }
}

/// Whether the orders that satisfy levels of this history can be replayed: not where lists were merged on reading.
pub fn can_replay(history: &History) -> bool {
    !witness::has_no_meaning(history)
}

/// Checks the proof of one violation.
///
/// # Errors
/// What is wrong with it.
pub fn verify_example(history: &History, violation: &ViolationEntry) -> Result<(), Problem> {
    let control = Control::new();
    let (verifier, names) = (Verifier::new(history, &control), SessionNames::new(history));
    let mut confirmed = confirmed(&verifier, &names, std::iter::once(violation));
    match confirmed.remove(0).1 {
        Err(Flaw::Wrong(message)) => Err(of_violation(violation, message)),
        Err(Flaw::Interrupted(interrupt)) => Err(of_violation(violation, interrupt.to_string())),
        Ok(()) => Ok(()),
    }
}

/// Whether the proof of each violation holds.
fn confirmed<'r>(
    verifier: &Verifier<'_>,
    names: &SessionNames<'_>,
    violations: impl Iterator<Item = &'r ViolationEntry>,
) -> Vec<(&'r ViolationEntry, Result<(), Flaw>)> {
    let mut stated = Vec::new();
    let mut answers: Vec<_> = violations
        .map(|violation| {
            let named: Result<Vec<_>, String> = violation
                .transactions
                .iter()
                .map(|entry| names.find(entry))
                .collect();
            let is_named = named.map(|transactions| {
                stated.push(Stated {
                    entry: Cow::Borrowed(violation),
                    transactions,
                    reads: Vec::new(),
                })
            });
            (violation, is_named.map_err(Flaw::from))
        })
        .collect();
    let is_open = answers.iter_mut().filter(|(_, named)| named.is_ok());
    for ((_, answer), checked) in is_open.zip(verifier.violations(&stated)) {
        *answer = checked;
    }
    answers
}

fn of_violation(violation: &ViolationEntry, message: String) -> Problem {
    Problem {
        place: format!("violation {}", violation.id),
        message,
    }
}

fn of_level(level: &LevelEntry, message: String) -> Problem {
    Problem {
        place: format!("level {}", level.level),
        message,
    }
}

/// Whether the report's figures are those of this history.
fn facts(history: &History, report: &Report) -> Vec<Problem> {
    let facts = &report.history;
    let is = history.recorded();
    let figures = [
        ("sessions", facts.sessions, is.sessions),
        ("transactions", facts.transactions, is.transactions),
        ("committed", facts.committed, is.committed),
        ("aborted", facts.aborted, is.aborted),
        ("unknown", facts.unknown, is.unknown),
        ("operations", facts.operations, is.operations),
        ("keys", facts.keys, is.keys),
    ];
    let wrong = figures.into_iter().filter(|(_, said, is)| said != is);
    let mut messages: Vec<String> = wrong
        .map(|(name, said, is)| format!("the report is about {said} {name}, the file has {is}"))
        .collect();
    let format = history.origin().format;
    if facts.format != format {
        messages.push(format!(
            "the report is about a file in the format {}, this one is {format}",
            facts.format
        ));
    }
    if facts.workload != WorkloadEntry::of(history) {
        messages.push("the report says something else about the workload than the file".to_owned());
    }
    messages
        .into_iter()
        .map(|message| Problem {
            place: "history".to_owned(),
            message,
        })
        .collect()
}

/// Sessions by name.
struct SessionNames<'h> {
    history: &'h History,
    sessions: FxHashMap<String, SessionId>,
}

impl SessionNames<'_> {
    fn new(history: &History) -> SessionNames<'_> {
        let named = |session| (history.exact_session_name(session), session);
        SessionNames {
            history,
            sessions: history.sessions().map(named).collect(),
        }
    }

    /// The transaction an entry names.
    fn find(&self, entry: &TransactionEntry) -> Result<TransactionId, String> {
        let history = self.history;
        let (session, index) = match (&entry.session, entry.index) {
            (None, None) if entry.id == "⊥" => return Ok(TransactionId::INITIAL),
            (Some(session), Some(index)) => (session, index),
            _ => {
                return Err(format!(
                    "transaction {} lacks its session or index",
                    entry.id
                ));
            }
        };
        let name = match session {
            SessionName::Number(number) => number.to_string(),
            SessionName::Name(name) => name.clone(),
        };
        let &id = self
            .sessions
            .get(&name)
            .ok_or_else(|| format!("there is no session {name}"))?;
        let t = history.transactions_of(id).nth(index);
        let t = t.ok_or_else(|| format!("session {name} has no transaction at {index}"))?;
        match history.exact_transaction_name(t) {
            is if is == entry.id => Ok(t),
            is => Err(format!(
                "transaction {index} of session {name} is {is}, not {}",
                entry.id
            )),
        }
    }
}
