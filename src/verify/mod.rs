//! Is the evidence in a report real?
//!
//! A second opinion that shares no code with the checkers: it knows the history and the report, nothing else. A
//! satisfied level is believed when its commit order, replayed operation by operation, returns every read; a violation
//! when each of its edges can be followed back to operations of the history and the edges contradict each other at
//! every level the violation names. Where a read has several possible writers a violation must have a case for each, and
//! where an element of a list was appended more than once one for each append that fits into the list, and where it is open
//! whether a reader of such a list committed one for either; where those would be too many it has combinations that contradict
//! and exclude all cases. Near linear in the history and the evidence,
//! but for the causal level, whose replay may cost transactions × sessions, for logs of clauses, whose propagation may
//! pass the same clauses again, and for combinations of appends, each of which takes the history anew.
//!
//! Evidence may be exponential in the history, since to decide the strong levels is NP-complete, and so is every level
//! where values repeat.
//!
//! Not checked: the numbers under `patterns`, and claims without evidence, which are listed as such.

mod applicable;
mod causal;
mod clauses;
mod combinations;
mod cut;
mod cycle;
mod direct;
mod elements;
mod initial;
mod linear;
mod lists;
mod propagation;
mod read;
mod replay;
mod resolution;
mod setting;
mod spans;
mod weak;
mod witness;

pub use direct::{Stated, Verifier};
pub use replay::{Flaw, Step};
pub use weak::Sources;
pub use witness::Witness;

use crate::history::{History, SessionId, TransactionId};
use crate::report::{ProofEntry, Report, SessionName, TransactionEntry, VerdictWord, ViolationEntry};
use elements::Apart;
use resolution::Resolution;
use rustc_hash::FxHashMap;
use std::fmt;

/// What was confirmed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Codes of the satisfied levels whose witness was replayed.
    pub satisfied: Vec<String>,
    /// Codes of the violated levels for which a listed violation was confirmed.
    pub violated: Vec<String>,
    /// How many violations were confirmed.
    pub violations: usize,
    /// Claims that carry no evidence: "SER satisfied", "PC violated".
    pub without_evidence: Vec<String>,
}

/// Evidence that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where in the report: `level SER`, `violation TAP-m/1`.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Codes of the levels, weakest first. The place in this list is their strength, but for CI, which only RA and
/// stronger levels imply.
const LEVELS: [&str; 9] = ["CI", "RC", "RA", "TCC", "PC", "SI", "SER", "SSER", "LIN"];

/// Checks all evidence in `report` against `history`. All problems are returned, in the order of the report.
pub fn verify(history: &History, report: &Report) -> Result<Verified, Vec<Problem>> {
    let mut problems = facts(history, report);
    if !problems.is_empty() {
        return Err(problems);
    }
    let resolution = Resolution::new(history);
    let names = SessionNames::new(history);
    let mut verified = Verified::default();
    for level in &report.levels {
        if let Err(message) = applicable::check(history, &resolution, level) {
            problems.push(Problem { place: format!("level {}", level.level), message });
        }
    }
    for level in &report.levels {
        if level.verdict != VerdictWord::Satisfied {
            continue;
        }
        match witness::check(history, &resolution, &names, level) {
            Ok(true) => verified.satisfied.push(level.level.clone()),
            Ok(false) => verified.without_evidence.push(format!("{} satisfied", level.level)),
            Err(message) => problems.push(Problem { place: format!("level {}", level.level), message }),
        }
    }
    let apart = elements::concerns(history).then(|| elements::told_apart(history.clone()));
    let apart = apart.as_ref().map(|apart| (apart, Resolution::new(&apart.history)));
    let mut shown = [false; LEVELS.len()];
    for violation in &report.violations {
        let checked = check_violation(history, &resolution, &names, violation);
        // Whatever is said of a history whose elements are told apart as far as that follows is said of this one, too.
        let checked = checked.or_else(|message| match &apart {
            Some((apart, resolution)) if !violation.levels.iter().any(|level| level == "CI") => {
                check_violation_apart(apart, resolution, &names, violation)
            }
            _ => Err(message),
        });
        match checked {
            Ok(()) => {
                verified.violations += 1;
                for level in &violation.levels {
                    if let Some(place) = LEVELS.iter().position(|code| code == level) {
                        shown[place] = true;
                    }
                }
            }
            Err(message) => problems.push(Problem { place: format!("violation {}", violation.id), message }),
        }
    }
    for level in report.levels.iter().filter(|level| level.verdict == VerdictWord::Violated) {
        match LEVELS.iter().position(|code| *code == level.level) {
            Some(place) if shown[place] => verified.violated.push(level.level.clone()),
            Some(_) => verified.without_evidence.push(format!("{} violated", level.level)),
            None => problems.push(Problem { place: format!("level {}", level.level), message: "unknown level".into() }),
        }
    }
    contradictions(report, &shown, &mut problems);
    if problems.is_empty() { Ok(verified) } else { Err(problems) }
}

/// A level cannot be satisfied when a confirmed violation names it.
fn contradictions(report: &Report, shown: &[bool; LEVELS.len()], problems: &mut Vec<Problem>) {
    for level in report.levels.iter().filter(|level| level.verdict == VerdictWord::Satisfied) {
        if LEVELS.iter().position(|code| *code == level.level).is_some_and(|place| shown[place]) {
            let message = "said to be satisfied, but a confirmed violation names it".to_owned();
            problems.push(Problem { place: format!("level {}", level.level), message });
        }
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
    wrong
        .map(|(name, said, is)| Problem {
            place: "history".to_owned(),
            message: format!("the report is about {said} {name}, the file has {is}"),
        })
        .collect()
}

fn check_violation(
    history: &History,
    resolution: &Resolution<'_>,
    names: &SessionNames,
    violation: &ViolationEntry,
) -> Result<(), String> {
    let transactions: Vec<TransactionId> =
        violation.transactions.iter().map(|entry| names.find(history, entry)).collect::<Result<_, _>>()?;
    check_named(history, resolution, violation, &transactions)
}

/// The same with the ids of the transactions.
fn check_named(
    history: &History,
    resolution: &Resolution<'_>,
    violation: &ViolationEntry,
    transactions: &[TransactionId],
) -> Result<(), String> {
    if violation.levels.is_empty() {
        return Err("it names no level".to_owned());
    }
    let levels: Vec<&str> = violation.levels.iter().map(String::as_str).collect();
    if violation.proof == ProofEntry::Read {
        return read::check(history, resolution, violation, transactions, &levels);
    }
    // A cycle says nothing about CI: two reads of one key do. Proofs that name their reads show it themselves.
    if matches!(
        violation.proof,
        ProofEntry::Reads { .. }
            | ProofEntry::Writers { .. }
            | ProofEntry::Appends { .. }
            | ProofEntry::Outcomes { .. }
            | ProofEntry::Combinations { .. }
    ) {
        return cycle::check(history, resolution, violation, transactions, &levels);
    }
    let (of_reads, of_cycles): (Vec<&str>, Vec<&str>) = levels.into_iter().partition(|level| *level == "CI");
    if !of_reads.is_empty() {
        read::check(history, resolution, violation, transactions, &of_reads)?;
    }
    cycle::check(history, resolution, violation, transactions, &of_cycles)
}

/// The same in a history whose elements of lists are told apart, which says nothing of CI: there every append counts.
fn check_violation_apart(
    apart: &Apart,
    resolution: &Resolution<'_>,
    names: &SessionNames,
    violation: &ViolationEntry,
) -> Result<(), String> {
    let find = |entry| names.find(&apart.history, entry);
    let transactions: Vec<TransactionId> = violation.transactions.iter().map(find).collect::<Result<_, _>>()?;
    check_named_apart(apart, resolution, violation, &transactions)
}

/// The same with the ids of the transactions.
fn check_named_apart(
    apart: &Apart,
    resolution: &Resolution<'_>,
    violation: &ViolationEntry,
    transactions: &[TransactionId],
) -> Result<(), String> {
    let history = &apart.history;
    let levels: Vec<&str> = violation.levels.iter().map(String::as_str).collect();
    if levels.is_empty() {
        return Err("it names no level".to_owned());
    }
    match violation.proof {
        ProofEntry::Read => read::check(history, resolution, violation, transactions, &levels),
        _ => cycle::check_apart(apart, resolution, violation, transactions, &levels),
    }
}

/// Sessions by name.
struct SessionNames(FxHashMap<String, SessionId>);

impl SessionNames {
    fn new(history: &History) -> SessionNames {
        SessionNames(history.sessions().map(|session| (history.exact_session_name(session), session)).collect())
    }

    /// The transaction an entry names.
    fn find(&self, history: &History, entry: &TransactionEntry) -> Result<TransactionId, String> {
        let (session, index) = match (&entry.session, entry.index) {
            (None, None) if entry.id == "⊥" => return Ok(TransactionId::INITIAL),
            (Some(session), Some(index)) => (session, index),
            _ => return Err(format!("transaction {} lacks its session or index", entry.id)),
        };
        let name = match session {
            SessionName::Number(number) => number.to_string(),
            SessionName::Name(name) => name.clone(),
        };
        let &id = self.0.get(&name).ok_or_else(|| format!("there is no session {name}"))?;
        let t = history.transactions_of(id).nth(index);
        let t = t.ok_or_else(|| format!("session {name} has no transaction at {index}"))?;
        match history.exact_transaction_name(t) {
            is if is == entry.id => Ok(t),
            is => Err(format!("transaction {index} of session {name} is {is}, not {}", entry.id)),
        }
    }
}
