//! What a violation claims, and the statements of its argument, as data: from the claims and steps of the explanation.

use super::{
    ClaimEntry, ClaimKind, MissedEntry, OperationEntry, Places, SightWord, StatementEntry,
};
use crate::counterexample::{self, Claim, Headline, Step, StepRole, Visibility};
use isoscope_check::checkers::{Level, Violation};
use isoscope_model::history::{History, OperationId, TransactionId};
use isoscope_model::relations::{EdgeIndex, Reason};

/// What a violation claims, and its argument in statements.
pub(super) fn argument(
    history: &History,
    violation: &Violation,
    level: Level,
    places: &mut Places<'_>,
) -> (ClaimEntry, Vec<StatementEntry>) {
    let Headline {
        claim,
        title,
        summary,
        ..
    } = counterexample::headline(history, violation);
    let says = Claims { violation, places }.entry(&claim);
    let steps = counterexample::steps(history, violation, level);
    let statements = steps
        .iter()
        .enumerate()
        .map(|(place, step)| statement(place + 1, step, places))
        .collect();
    (
        ClaimEntry {
            title,
            text: summary.into(),
            says,
        },
        statements,
    )
}

fn statement(number: usize, step: &Step, places: &mut Places<'_>) -> StatementEntry {
    let role = match step.role {
        StepRole::Observed => "observed",
        StepRole::Rule => "rule",
        StepRole::Supposed => "supposed",
        StepRole::Concluded => "concluded",
        StepRole::Contradiction => "contradiction",
    };
    StatementEntry {
        number,
        role: role.to_owned(),
        case: (!step.case.is_empty()).then(|| step.case.to_string()),
        text: format!("{}.", step.text),
        transactions: step.transactions.iter().map(|&t| places.of(t)).collect(),
        operations: step
            .operations
            .iter()
            .map(|&o| places.operation_entry(o))
            .collect(),
        edges: step.edges.clone(),
        premises: step.premises.iter().map(|place| place + 1).collect(),
    }
}

struct Claims<'a, 'h> {
    violation: &'a Violation,
    places: &'a mut Places<'h>,
}

impl Claims<'_, '_> {
    fn entry(&mut self, claim: &Claim) -> ClaimKind {
        match claim {
            Claim::WrongValue { pattern, reads } => ClaimKind::WrongValue {
                pattern: pattern.id().to_owned(),
                reads: self.operations(reads),
            },
            Claim::StaleRead {
                read,
                older,
                newer: (newer, write),
                visibility,
            } => {
                let (word, seen) = match *visibility {
                    Visibility::OwnSession => (SightWord::OwnSession, None),
                    Visibility::ReadBefore(seen) => (SightWord::ReadBefore, Some(seen)),
                    Visibility::Read(seen) => (SightWord::Read, Some(seen)),
                    Visibility::SessionRead(seen) => (SightWord::SessionRead, Some(seen)),
                    Visibility::WroteLater(seen) => (SightWord::WroteLater, Some(seen)),
                    Visibility::Followed(seen) => (SightWord::Followed, Some(seen)),
                    Visibility::SessionSawLater(seen) => (SightWord::SessionSawLater, Some(seen)),
                    Visibility::Through => (SightWord::Through, None),
                    Visibility::Order => (SightWord::Order, None),
                };
                ClaimKind::StaleRead {
                    read: self.places.operation_entry(*read),
                    older: self.places.of(*older),
                    newer: self.places.of(*newer),
                    write: write.map(|write| self.places.operation_entry(write)),
                    sight: word,
                    seen: seen.map(|seen| self.places.operation_entry(seen)),
                }
            }
            Claim::TwoReads { forced } => {
                let read = |e: &EdgeIndex| match self.violation.edges.get(*e)?.because {
                    Reason::Visible { read, .. } => Some(read),
                    _ => self.violation.edges.get(*e)?.from_operation,
                };
                let reads: Vec<OperationId> = forced.iter().filter_map(read).collect();
                ClaimKind::TwoReads {
                    reads: self.operations(&reads),
                }
            }
            Claim::Observed => ClaimKind::Observed,
            Claim::LostWrite {
                key,
                writer,
                readers,
            } => ClaimKind::LostWrite {
                key: self.places.key(*key),
                writer: self.places.of(*writer),
                readers: self.transactions(readers),
            },
            Claim::Overlap {
                key,
                writers,
                is_open,
            } => ClaimKind::Overlap {
                key: self.places.key(*key),
                writers: self.transactions(writers),
                is_open: *is_open,
            },
            Claim::ReadersDisagree { missed } => ClaimKind::ReadersDisagree {
                missed: self.missed(missed),
            },
            Claim::MissedEachOther { missed } => ClaimKind::MissedEachOther {
                missed: self.missed(missed),
            },
            Claim::Ring { missing } => ClaimKind::Ring {
                missing: self.transactions(missing),
            },
            Claim::AgainstTheClock { clock, missed } => {
                let ends = self
                    .violation
                    .edges
                    .get(*clock)
                    .map(|edge| (edge.from, edge.to));
                let (ended, began) =
                    ends.unwrap_or((TransactionId::INITIAL, TransactionId::INITIAL));
                ClaimKind::AgainstTheClock {
                    ended: self.places.of(ended),
                    began: self.places.of(began),
                    missed: self.missed(missed.as_slice()).pop(),
                }
            }
            Claim::OverwrittenBefore { read, by } => ClaimKind::OverwrittenBefore {
                read: self.places.operation_entry(*read),
                write: self.places.operation_entry(*by),
            },
            Claim::Cases => ClaimKind::Cases,
        }
    }

    fn operations(&mut self, operations: &[OperationId]) -> Vec<OperationEntry> {
        operations
            .iter()
            .map(|&o| self.places.operation_entry(o))
            .collect()
    }

    fn transactions(&mut self, transactions: &[TransactionId]) -> Vec<usize> {
        transactions.iter().map(|&t| self.places.of(t)).collect()
    }

    fn missed(&mut self, edges: &[EdgeIndex]) -> Vec<MissedEntry> {
        let edges = edges.iter().filter_map(|&e| self.violation.edges.get(e));
        let entry = |edge: &isoscope_model::relations::Edge| MissedEntry {
            reader: self.places.of(edge.from),
            writer: self.places.of(edge.to),
            read: edge
                .from_operation
                .map(|read| self.places.operation_entry(read)),
            write: edge
                .to_operation
                .map(|write| self.places.operation_entry(write)),
        };
        edges.map(entry).collect()
    }
}
