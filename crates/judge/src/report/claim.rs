//! What a violation claims, and the statements of its argument, as data.

use super::OperationEntry;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is wrong: a claim that follows from the listed facts, in words and as data. Numbers are places of transactions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ClaimEntry {
    /// A headline: "Half of a transaction was seen".
    pub title: String,
    /// The claim in one sentence.
    pub text: String,
    /// The claim as data.
    #[serde(flatten)]
    pub says: ClaimKind,
}

/// The few kinds of claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
