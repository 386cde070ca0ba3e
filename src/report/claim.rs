//! What a violation claims, and the statements of its argument, as data.

use super::OperationEntry;
use super::build::Places;
use crate::checkers::{Level, Violation};
use crate::counterexample::{self, Claim, Headline, Sight, Step, StepRole};
use crate::history::{History, KeyId, OperationId, TransactionId};
use crate::relations::{EdgeIndex, Reason};
#[cfg(feature = "cli")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is wrong: a claim that follows from the listed facts, in words and as data. Numbers are places of transactions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(JsonSchema))]
pub struct ClaimEntry {
    /// A headline: "Half of a transaction was seen".
    pub title: String,
    /// The claim in one sentence.
    pub text: String,
    /// The same as data.
    #[serde(flatten)]
    pub says: ClaimKind,
}

/// The few kinds of claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ClaimKind {
    /// These reads returned values that are wrong in any order.
    WrongValue {
        /// The pattern that says why.
        pattern: String,
        /// The reads.
        reads: Vec<OperationEntry>,
    },
    /// A read returned a version although its transaction saw, or had to see, one that is newer.
    StaleRead {
        /// The read.
        read: OperationEntry,
        /// The writer of the version it returned.
        older: usize,
        /// The writer of the newer version.
        newer: usize,
        /// The write of the newer version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        write: Option<OperationEntry>,
        /// How the reader saw it.
        sight: SightWord,
        /// The read by which it saw it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<OperationEntry>,
    },
    /// Each of these reads is possible alone; together they close a cycle with what was observed.
    TwoReads {
        /// The reads.
        reads: Vec<OperationEntry>,
    },
    /// What was observed closes a cycle by itself.
    Observed,
    /// Transactions read one version of a key and wrote the key: only one of the updates can survive.
    LostWrite {
        /// The key.
        key: String,
        /// The writer of that version.
        writer: usize,
        /// The transactions that read it and wrote the key.
        readers: Vec<usize>,
    },
    /// Two writers of a key overlapped: the second started before the first had committed.
    Overlap {
        /// The key.
        key: String,
        /// Its writers, in the order of their versions.
        writers: Vec<usize>,
        /// Whether the other order of their versions is possible, which contradicts as well.
        is_open: bool,
    },
    /// Two readers saw one of two writes each, and not the other one.
    ReadersDisagree {
        /// What they missed.
        missed: Vec<MissedEntry>,
    },
    /// Two transactions each missed the other's write.
    MissedEachOther {
        /// What they missed.
        missed: Vec<MissedEntry>,
    },
    /// Transactions each missed a write; together that leaves no order.
    Ring {
        /// The transactions.
        missing: Vec<usize>,
    },
    /// The reads contradict real time.
    AgainstTheClock {
        /// The transaction that had ended before the other one began.
        ended: usize,
        /// The transaction that began afterwards.
        began: usize,
        /// What the later one missed, if nothing else is involved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missed: Option<MissedEntry>,
    },
    /// A read returned a value although another was written after all writes of it had ended and before the read began.
    OverwrittenBefore {
        /// The read.
        read: OperationEntry,
        /// The write between.
        write: OperationEntry,
    },
    /// An open question has several possible answers, and each leads to a contradiction.
    Cases,
}

impl ClaimEntry {
    /// The operations it names.
    pub fn operations(&self) -> Vec<&OperationEntry> {
        fn of_missed<'e>(
            missed: impl IntoIterator<Item = &'e MissedEntry>,
        ) -> Vec<&'e OperationEntry> {
            missed
                .into_iter()
                .flat_map(|missed| missed.read.iter().chain(&missed.write))
                .collect()
        }
        match &self.says {
            ClaimKind::WrongValue { reads, .. } | ClaimKind::TwoReads { reads } => {
                reads.iter().collect()
            }
            ClaimKind::StaleRead {
                read, write, seen, ..
            } => [read].into_iter().chain(write).chain(seen).collect(),
            ClaimKind::ReadersDisagree { missed } | ClaimKind::MissedEachOther { missed } => {
                of_missed(missed)
            }
            ClaimKind::AgainstTheClock { missed, .. } => of_missed(missed),
            ClaimKind::OverwrittenBefore { read, write } => vec![read, write],
            ClaimKind::Observed
            | ClaimKind::LostWrite { .. }
            | ClaimKind::Overlap { .. }
            | ClaimKind::Ring { .. }
            | ClaimKind::Cases => Vec::new(),
        }
    }
}

/// A reader that did not see a newer version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(JsonSchema))]
pub struct MissedEntry {
    /// The reader.
    pub reader: usize,
    /// The writer of the newer version.
    pub writer: usize,
    /// The read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<OperationEntry>,
    /// The write that it missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<OperationEntry>,
}

/// How a reader is known to see another transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SightWord {
    /// The transaction precedes the reader in its session.
    OwnSession,
    /// The reader read from it before the stale read.
    ReadBefore,
    /// The reader read from it.
    Read,
    /// A transaction before the reader in its session read from it.
    SessionRead,
    /// The reader read from a transaction after it in its session.
    WroteLater,
    /// The reader read from a transaction before which its session, or which itself, had read from it, directly or through
    /// others.
    Followed,
    /// A transaction before the reader in its session read from one after it in its session.
    SessionSawLater,
    /// A path of sessions and reads leads from it to the reader.
    Through,
    /// It precedes the reader in every order: the rest of the cycle shows it.
    Order,
}

/// One statement of an argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(JsonSchema))]
pub struct StatementEntry {
    /// Its number, from 1.
    pub number: usize,
    /// `observed`, `rule`, `supposed`, `concluded` or `contradiction`.
    pub role: String,
    /// The case that it belongs to, `1` or `1.2`; absent where it does not depend on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// The sentence.
    pub text: String,
    /// Places of the transactions it mentions.
    pub transactions: Vec<usize>,
    /// The operations it mentions.
    pub operations: Vec<OperationEntry>,
    /// The edges it mentions, by place.
    pub edges: Vec<usize>,
    /// Numbers of the statements that it follows from.
    pub premises: Vec<usize>,
}

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
            text: summary,
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
        case: Some(step.case.clone()).filter(|case| !case.is_empty()),
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
                sight,
            } => {
                let (word, seen) = match *sight {
                    Sight::OwnSession => (SightWord::OwnSession, None),
                    Sight::ReadBefore(seen) => (SightWord::ReadBefore, Some(seen)),
                    Sight::Read(seen) => (SightWord::Read, Some(seen)),
                    Sight::SessionRead(seen) => (SightWord::SessionRead, Some(seen)),
                    Sight::WroteLater(seen) => (SightWord::WroteLater, Some(seen)),
                    Sight::Followed(seen) => (SightWord::Followed, Some(seen)),
                    Sight::SessionSawLater(seen) => (SightWord::SessionSawLater, Some(seen)),
                    Sight::Through => (SightWord::Through, None),
                    Sight::Order => (SightWord::Order, None),
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
        let entry = |edge: &crate::relations::Edge| MissedEntry {
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

impl Places<'_> {
    fn key(&self, key: KeyId) -> String {
        self.history().key_names().get(key.index())
    }
}
