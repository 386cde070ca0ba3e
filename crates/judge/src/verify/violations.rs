//! One violation: is it there, does it match its name, and is its description true?

use super::cycle;
use super::elements::Apart;
use super::form::Form;
use super::levels::{self, is_of_reads};
use super::resolution::Resolution;
use super::subject::Subject;
use super::told::{Scene, Surplus, Told};
use super::{Problem, SessionNames, overwriting, read};
use crate::report::{ProofEntry, ViolationEntry};
use isoscope_model::history::{History, TransactionId};
use std::collections::BTreeSet;

/// The context in which violations are checked.
pub(super) struct Court<'a> {
    pub(super) history: &'a History,
    pub(super) resolution: &'a Resolution<'a>,
    pub(super) names: &'a SessionNames<'a>,
    /// The same history with its elements distinguished, where there are any to distinguish.
    pub(super) apart: Option<(&'a Apart, &'a Resolution<'a>)>,
    pub(super) surplus: Surplus,
    /// Where each transaction has a session of its own.
    pub(super) plain: Option<&'a Court<'a>>,
}

/// A violation whose proof holds.
pub(super) struct Confirmed {
    /// The transactions it lists.
    pub(super) transactions: Vec<TransactionId>,
    /// What it shows; none if that does not match its name.
    pub(super) scene: Option<Scene>,
    /// False statements about it.
    pub(super) problems: Vec<Problem>,
    /// Whether it names plain levels only.
    pub(super) is_plain: bool,
}

impl<'a> Court<'a> {
    /// A violation of its history.
    fn subject<'s>(
        &'s self,
        violation: &'s ViolationEntry,
        transactions: &'s [TransactionId],
    ) -> Subject<'s> {
        Subject {
            history: self.history,
            resolution: self.resolution,
            violation,
            transactions,
        }
    }

    /// Confirms a violation at all levels it names.
    pub(super) fn confirm(&self, violation: &ViolationEntry) -> Result<Confirmed, Problem> {
        let (Some((with_sessions, plain)), Some(court)) =
            (apart_by_sessions(violation), self.plain)
        else {
            return self.confirm_with_sessions(violation);
        };
        if levels::are_plain(violation.levels.iter().map(String::as_str)) {
            return court
                .confirm_with_sessions(&with_sessions)
                .map(|found| Confirmed {
                    is_plain: true,
                    ..found
                });
        }
        let at_fault = |message| Problem {
            place: format!("violation {}", violation.id),
            message,
        };
        let transactions = self.transactions(violation).map_err(at_fault)?;
        let shown = holds(court.subject(&plain, &transactions));
        let shown = match court.apart {
            Some((apart, resolution)) => {
                shown.or_else(|_| holds_apart(apart, resolution, &plain, &transactions))
            }
            None => shown,
        };
        shown.map_err(|message| at_fault(format!("without sessions: {message}")))?;
        self.confirm_with_sessions(&with_sessions)
    }

    fn confirm_with_sessions(&self, violation: &ViolationEntry) -> Result<Confirmed, Problem> {
        let described = |proved| self.described(violation, proved);
        let n_problems = |found: &Result<Confirmed, String>| {
            found.as_ref().map_or(usize::MAX, |f| f.problems.len())
        };
        let mut found = self.proved(violation).map(described);
        // Every statement about a history whose elements are distinguished as far as possible also applies to this one.
        if n_problems(&found) > 0
            && let Some((apart, resolution)) = self.apart
            && !violation.levels.iter().any(|level| is_of_reads(level))
        {
            let by_elements = self
                .proved_apart(apart, resolution, violation)
                .map(described);
            if found.is_err() || n_problems(&by_elements) < n_problems(&found) {
                found = by_elements;
            }
        }
        found.map_err(|message| Problem {
            place: format!("violation {}", violation.id),
            message,
        })
    }

    /// What is wrong with the description of a violation whose proof holds.
    fn described(
        &self,
        violation: &ViolationEntry,
        (transactions, told): (Vec<TransactionId>, Told),
    ) -> Confirmed {
        let Court {
            history,
            resolution,
            surplus,
            ..
        } = *self;
        let (messages, scene) = match told {
            Ok(scene) => {
                let form = Form {
                    history,
                    resolution,
                    violation,
                    transactions: &transactions,
                    surplus,
                };
                (form.check(&scene), Some(scene))
            }
            Err(message) => (vec![message], None),
        };
        let misnamed = |message| Problem {
            place: format!("description of {}", violation.id),
            message,
        };
        Confirmed {
            transactions,
            scene,
            problems: messages.into_iter().map(misnamed).collect(),
            is_plain: false,
        }
    }

    fn proved(&self, violation: &ViolationEntry) -> Result<(Vec<TransactionId>, Told), String> {
        let transactions = self.transactions(violation)?;
        let told = self.told(violation, &transactions)?;
        Ok((transactions, told))
    }

    /// What a violation with a valid proof shows.
    fn told(
        &self,
        violation: &ViolationEntry,
        transactions: &[TransactionId],
    ) -> Result<Told, String> {
        let subject = self.subject(violation, transactions);
        if of_overwriting(violation) {
            overwriting::check(subject)?;
            return Ok(overwriting::told(subject));
        }
        let mut levels = named(violation)?;
        if violation.proof == ProofEntry::Read
            || levels.iter().any(|level| is_of_reads(level)) && !names_reads(&violation.proof)
        {
            holds(subject)?;
        }
        if violation.proof == ProofEntry::Read {
            return Ok(read::told(subject, self.surplus));
        }
        levels.retain(|level| !is_of_reads(level) || names_reads(&violation.proof));
        if levels.is_empty() {
            cycle::told(subject)
        } else {
            cycle::check(subject, false, (&levels, true))
        }
    }

    /// The same in a history whose list elements are distinguished, which says nothing of CI: there every append
    /// counts.
    fn proved_apart(
        &self,
        apart: &Apart,
        resolution: &Resolution<'_>,
        violation: &ViolationEntry,
    ) -> Result<(Vec<TransactionId>, Told), String> {
        let transactions = self.transactions(violation)?;
        holds_apart(apart, resolution, violation, &transactions)?;
        let subject = Subject {
            history: &apart.history,
            resolution,
            violation,
            transactions: &transactions,
        };
        let told = match violation.proof {
            ProofEntry::Read => read::told(subject, self.surplus),
            _ => cycle::check(subject, apart.is_impossible, (&named(violation)?, true))?,
        };
        Ok((transactions, told))
    }

    fn transactions(&self, violation: &ViolationEntry) -> Result<Vec<TransactionId>, String> {
        violation
            .transactions
            .iter()
            .map(|entry| self.names.find(entry))
            .collect()
    }
}

/// A violation that names plain levels: as one of all its levels with sessions, since it violates those too, and as one of
/// the plain levels, by the codes that they have where each transaction has a session of its own.
fn apart_by_sessions(violation: &ViolationEntry) -> Option<(ViolationEntry, ViolationEntry)> {
    let plain: Vec<String> = violation
        .levels
        .iter()
        .filter_map(|level| levels::plain_of(level))
        .map(str::to_owned)
        .collect();
    if plain.is_empty() {
        return None;
    }
    let mut all: Vec<String> = violation
        .levels
        .iter()
        .map(|level| levels::plain_of(level).map_or(level.clone(), str::to_owned))
        .collect();
    let mut seen = BTreeSet::new();
    all.retain(|level| seen.insert(level.clone()));
    Some((
        ViolationEntry {
            levels: all,
            ..violation.clone()
        },
        ViolationEntry {
            levels: plain,
            ..violation.clone()
        },
    ))
}

/// Whether the proof of a violation holds at each level it names.
pub(super) fn holds(subject: Subject<'_>) -> Result<(), String> {
    let violation = subject.violation;
    if of_overwriting(violation) {
        return overwriting::check(subject);
    }
    let levels = named(violation)?;
    if violation.proof == ProofEntry::Read {
        return read::check(subject, &levels);
    }
    // A cycle says nothing about CI, but two reads of one key do. Proofs that name their reads show it themselves.
    let names_reads = names_reads(&violation.proof);
    let (of_reads, of_cycles): (Vec<&str>, Vec<&str>) = levels
        .into_iter()
        .partition(|level| is_of_reads(level) && !names_reads);
    if !of_reads.is_empty() {
        read::check(subject, &of_reads)?;
    }
    cycle::check(subject, false, (&of_cycles, false)).map(drop)
}

/// The same in a history whose list elements are distinguished, which says nothing of CI: there every append counts.
pub(super) fn holds_apart(
    apart: &Apart,
    resolution: &Resolution<'_>,
    violation: &ViolationEntry,
    transactions: &[TransactionId],
) -> Result<(), String> {
    if of_overwriting(violation) {
        return Err("elements appended more than once show nothing at read uncommitted".to_owned());
    }
    let levels = named(violation)?;
    let subject = Subject {
        history: &apart.history,
        resolution,
        violation,
        transactions,
    };
    match violation.proof {
        ProofEntry::Read => read::check(subject, &levels),
        _ => cycle::check(subject, apart.is_impossible, (&levels, false)).map(drop),
    }
}

/// Whether a violation is one of what was overwritten, at some of its levels: then it must be at all.
fn of_overwriting(violation: &ViolationEntry) -> bool {
    violation
        .levels
        .iter()
        .any(|level| overwriting::is_of_overwriting(level))
}

fn names_reads(proof: &ProofEntry) -> bool {
    use ProofEntry::{Appends, Combinations, Outcomes, Reads, Writers};
    matches!(
        proof,
        Reads { .. } | Writers { .. } | Appends { .. } | Outcomes { .. } | Combinations { .. }
    )
}

fn named(violation: &ViolationEntry) -> Result<Vec<&str>, String> {
    if violation.levels.is_empty() {
        Err("it names no level".to_owned())
    } else {
        Ok(violation.levels.iter().map(String::as_str).collect())
    }
}
