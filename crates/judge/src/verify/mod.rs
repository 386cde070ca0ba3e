//! Checks whether what a report says is true.
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
//! satisfied without times) is refused.
//!
//! Also checked: the figures under `history`; for a violation its id, pattern, names, key, transactions, operations
//! with their texts and lines, the kinds, keys and operations of its edges, whether it is implied, its group as far as
//! that follows from its writers, and its component; the numbers under `patterns` against what is listed, and those of
//! TAP-a to n and of Divergence are recounted where no read has several possible writers, no element of a list several
//! appends and the history is not too large (`recount`). The result lists the numbers believed without a count, and
//! those too small in a report that says that a limit ended the work.
//!
//! Evidence may be exponential in the history, since deciding the strong levels is NP-complete, and so is deciding any
//! level where values repeat.
//!
//! The claim of a violation must follow from its edges and from the history (`claim`), its statements must follow from
//! earlier ones.
//!
//! Not checked: sentences (`why`, `text`, `title`, `reason`, `assumptions`), statements about the history's health,
//! names of checkers, seconds, and the path.

/// `Ok` if the first holds, else an error of the words after it, which are formatted.
macro_rules! require {
    ($holds:expr, $($otherwise:tt)*) => {
        if $holds { Ok(()) } else { Err(format!($($otherwise)*)) }
    };
}

mod applicable;
mod argument;
mod basis;
mod causal;
mod claim;
mod clauses;
mod combinations;
mod counted;
mod counts;
mod cut;
mod cycle;
mod dependencies;
mod direct;
mod edge;
mod edge_cycle;
mod elements;
mod form;
mod growing;
mod guarantee;
mod guarantees;
mod initial;
mod letters;
mod levels;
mod linear;
mod list_evidence;
mod lists;
mod operations;
mod overwriting;
mod pattern;
mod propagation;
mod read;
mod recount;
mod replay;
mod resolution;
mod roles;
mod scene;
mod setting;
mod spans;
mod story;
mod subject;
mod timed;
mod told;
mod violations;
mod weak;
mod witness;

pub use direct::{Stated, Verifier};
pub use replay::{Flaw, Step};
pub use story::Sources;
pub use witness::Witness;

use crate::report::{
    LevelEntry, Report, SessionName, TransactionEntry, VerdictWord, ViolationEntry,
};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, SessionId, TransactionId};
use levels::{Accepted, Standing};
use recount::Recount;
use resolution::Resolution;
use rustc_hash::FxHashMap;
use std::fmt;
use told::Surplus;
use violations::{Confirmed, Court};

/// What was confirmed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Codes of the satisfied levels whose witness was replayed, or that of a level that implies them.
    pub satisfied: Vec<String>,
    /// Codes of the violated levels for which a listed violation was confirmed, at this or a weaker level.
    pub violated: Vec<String>,
    /// How many violations were confirmed.
    pub violations: usize,
    /// Claims without evidence: "SER satisfied", "PC violated", "3 of WriteSkew".
    pub without_evidence: Vec<String>,
    /// Patterns whose number is only known to be at least that of the confirmed instances, or is too small in a report
    /// that says that a limit ended the work; and those counted by the rule of Plume's published program.
    pub unchecked: Vec<String>,
    /// Whether it is unknown for some instances if they are implied.
    pub implied_unchecked: bool,
    /// What ended the work before everything was checked.
    pub ended: Option<Interrupt>,
}

/// What does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where in the report: `level SER`; `violation TAP-m/1` where the proof fails; `description of TAP-m/1` where
    /// something else about it is wrong; `count of TAP-m`; `history`.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Checks everything `report` says about `history`, with the exceptions in the module's documentation. Returns all
/// problems.
pub fn verify(history: &History, report: &Report) -> Result<Verified, Vec<Problem>> {
    verify_within(history, report, &Control::new())
}

/// The same within the limits of `control`: claims whose evidence was not checked when they ended the work are without
/// evidence, counts are unchecked, and [`Verified::ended`] says why.
pub fn verify_within(
    history: &History,
    report: &Report,
    control: &Control,
) -> Result<Verified, Vec<Problem>> {
    let mut problems = facts(history, report);
    if !problems.is_empty() {
        return Err(problems);
    }
    let resolution = Resolution::new(history);
    let names = SessionNames::new(history);
    let (mut verified, mut shown) = (Verified::default(), Accepted::default());
    for level in report
        .levels
        .iter()
        .filter(|level| level.verdict == VerdictWord::Satisfied)
    {
        match (
            levels::place(&level.level),
            witness::check(history, &resolution, &names, level, control),
        ) {
            (Some(place), Ok(is_replayed)) => shown.satisfied[place] |= is_replayed,
            (None, _) => {}
            (Some(_), Err(message)) => problems.push(of_level(level, message)),
        }
    }
    let confirmed = confirmed(history, &resolution, &names, report, control, &mut problems);
    verified.ended = control.check().err();
    let recount = || {
        if levels::are_plain(report.levels.iter().map(|level| level.level.as_str())) {
            let plain = resolution.initial().without_sessions(history);
            Recount::new(&plain, &Resolution::new(&plain))
        } else {
            Recount::new(history, &resolution)
        }
    };
    verified.violations = confirmed.len();
    for (violation, _) in &confirmed {
        for place in violation
            .levels
            .iter()
            .filter_map(|level| levels::place(level))
        {
            shown.violated[place] = true;
        }
    }
    for level in &report.levels {
        if let Err(message) = applicable::check(history, &resolution, level) {
            problems.push(of_level(level, message));
        }
        let Some(place) = levels::place(&level.level) else {
            continue;
        };
        let code = || level.level.clone();
        match (
            levels::standing(level.verdict, place, &shown),
            level.verdict,
        ) {
            (Standing::Contradicted(message), _) => problems.push(of_level(level, message)),
            (Standing::Open, VerdictWord::Satisfied) => {
                verified.without_evidence.push(code() + " satisfied")
            }
            (Standing::Open, _) => verified.without_evidence.push(code() + " violated"),
            (Standing::Shown, VerdictWord::Satisfied) => verified.satisfied.push(code()),
            (Standing::Shown, VerdictWord::Violated) => verified.violated.push(code()),
            (Standing::Shown, VerdictWord::Undecided) => {}
        }
    }
    problems.extend(levels::contradictions(&report.levels));
    if verified.ended.is_some() {
        // What was not confirmed cannot be counted.
        verified.unchecked = report.patterns.0.iter().map(|(id, _)| id.clone()).collect();
    } else {
        let counted = counts::check(report, &confirmed, &recount());
        problems.extend(counted.problems);
        (verified.unchecked, verified.implied_unchecked) =
            (counted.unchecked, counted.implied_unchecked);
        verified.without_evidence.extend(counted.without_evidence);
    }
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

/// Checks the one violation of a small history that was cut out to show it: its proof and its description. Unlike that
/// of a report it may name operations and transactions that its proof does not need.
///
/// # Errors
/// All problems with it.
pub fn verify_example(history: &History, violation: &ViolationEntry) -> Result<(), Vec<Problem>> {
    let (resolution, names) = (Resolution::new(history), SessionNames::new(history));
    let confirmed = in_court(
        history,
        &resolution,
        &names,
        (Surplus::Allowed, &[violation]),
        |court| court.confirm(violation),
    );
    match confirmed {
        Ok(found) if found.problems.is_empty() => Ok(()),
        Ok(found) => Err(found.problems),
        Err(problem) => Err(vec![problem]),
    }
}

fn of_level(level: &LevelEntry, message: String) -> Problem {
    Problem {
        place: format!("level {}", level.level),
        message,
    }
}

/// The violations whose proof holds; everything wrong with them and with others is added to the problems.
fn confirmed<'r>(
    history: &History,
    resolution: &Resolution<'_>,
    names: &SessionNames<'_>,
    report: &'r Report,
    control: &Control,
    problems: &mut Vec<Problem>,
) -> Vec<(&'r ViolationEntry, Confirmed)> {
    let violations: Vec<&ViolationEntry> = report.violations.iter().collect();
    in_court(
        history,
        resolution,
        names,
        (Surplus::Refused, &violations),
        |court| {
            let mut confirmed = Vec::with_capacity(report.violations.len());
            for violation in report
                .violations
                .iter()
                .take_while(|_| control.check().is_ok())
            {
                match court.confirm(violation) {
                    Ok(found) => {
                        problems.extend_from_slice(&found.problems);
                        confirmed.push((violation, found));
                    }
                    // What was not looked at to its end is neither right nor wrong.
                    Err(_) if control.check().is_err() => break,
                    Err(problem) => problems.push(problem),
                }
            }
            confirmed
        },
    )
}

/// Confirms violations in the history, and in that without sessions if some of them name plain levels.
fn in_court<T>(
    history: &History,
    resolution: &Resolution<'_>,
    names: &SessionNames<'_>,
    (surplus, violations): (Surplus, &[&ViolationEntry]),
    confirm: impl FnOnce(&Court<'_>) -> T,
) -> T {
    let world = |history: &History| {
        elements::concerns(history).then(|| elements::told_apart(history.clone()))
    };
    let apart = world(history);
    let of_elements = apart.as_ref().map(|apart| Resolution::new(&apart.history));
    let court = |plain| Court {
        history,
        resolution,
        names,
        apart: apart.as_ref().zip(of_elements.as_ref()),
        surplus,
        plain,
    };
    if !violations.iter().any(|violation| {
        violation
            .levels
            .iter()
            .any(|level| levels::plain_of(level).is_some())
    }) {
        return confirm(&court(None));
    }
    let history = resolution.initial().without_sessions(history);
    let (resolution, apart) = (Resolution::new(&history), world(&history));
    let of_elements = apart.as_ref().map(|apart| Resolution::new(&apart.history));
    let apart = apart.as_ref().zip(of_elements.as_ref());
    let plain = Court {
        history: &history,
        resolution: &resolution,
        names,
        apart,
        surplus,
        plain: None,
    };
    confirm(&court(Some(&plain)))
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
            is if is == entry.id => match &entry.name {
                Some(name) if *name != history.transaction_name(t) => Err(format!(
                    "transaction {} is {}, not {name}",
                    entry.id,
                    history.transaction_name(t)
                )),
                _ => Ok(t),
            },
            is => Err(format!(
                "transaction {index} of session {name} is {is}, not {}",
                entry.id
            )),
        }
    }
}
