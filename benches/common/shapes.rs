//! Workloads that are hard for some algorithm.

use super::{Keys, View, Workload};
use std::fmt;
use std::str::FromStr;

/// A workload that is extreme in one respect, made from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The workload itself, to compare with.
    Plain,
    /// A session per transaction: vectors by session would be as long as the history.
    NoSessions,
    /// Ten thousand sessions.
    ManySessions,
    /// One key, which every transaction reads and writes: a chain of versions as long as the history.
    HotKey,
    /// A hundred times longer transactions, a hundredth of them.
    LongTransactions,
    /// As many transactions as operations in each and as keys: what the lower bound of AWDIT is proved with.
    Square,
    /// No reads: nothing to order but sessions.
    WriteOnly,
    /// Two reads among a hundred operations are all that is not a write.
    FewReads,
    /// Each transaction reads from the one or two before it.
    Chain,
    /// Sessions see the store up to a tenth of the history late.
    FarBehind,
    /// Every tenth read returns the version before the newest.
    FarFromValid,
    /// Keys hold lists, which are read as a whole; the view is serial.
    Lists,
}

use Shape::*;

impl Shape {
    /// All of them.
    pub(crate) const ALL: [Shape; 12] = [
        Plain,
        NoSessions,
        ManySessions,
        HotKey,
        LongTransactions,
        Square,
        WriteOnly,
        FewReads,
        Chain,
        FarBehind,
        FarFromValid,
        Lists,
    ];

    /// `plain` with this shape and about as many operations.
    pub(crate) fn of(self, plain: Workload) -> Workload {
        match self {
            Plain => plain,
            NoSessions => Workload {
                sessions: 0,
                ..plain
            },
            ManySessions => Workload {
                sessions: 10_000,
                ..plain
            },
            HotKey => Workload { keys: 1, ..plain },
            LongTransactions => Workload {
                transactions: (plain.transactions / 100).max(1),
                operations: 100 * plain.operations,
                ..plain
            },
            Square => {
                let side = plain.n_operations().isqrt().max(1);
                Workload {
                    transactions: side,
                    operations: side,
                    keys: side,
                    ..plain
                }
            }
            WriteOnly => Workload {
                read_share: 0.0,
                ..plain
            },
            FewReads => Workload {
                read_share: 0.02,
                ..plain
            },
            Chain => Workload {
                distribution: Keys::Latest,
                keys: plain.transactions.max(1),
                ..plain
            },
            FarBehind => Workload {
                view: View::Lagging(plain.transactions / 10),
                ..plain
            },
            FarFromValid => Workload {
                stale_share: 0.1,
                ..plain
            },
            // Lists grow with the number of appends to a key, and so does what a read returns.
            Lists => Workload {
                lists: true,
                keys: (plain.n_operations() / 20).max(1),
                view: View::Serial,
                ..plain
            },
        }
    }

    fn name(self) -> &'static str {
        match self {
            Plain => "plain",
            NoSessions => "no-sessions",
            ManySessions => "many-sessions",
            HotKey => "hot-key",
            LongTransactions => "long-transactions",
            Square => "square",
            WriteOnly => "write-only",
            FewReads => "few-reads",
            Chain => "chain",
            FarBehind => "far-behind",
            FarFromValid => "far-from-valid",
            Lists => "lists",
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let found = Shape::ALL.into_iter().find(|shape| shape.name() == text);
        found.ok_or_else(|| {
            let names: Vec<&str> = Shape::ALL.into_iter().map(Shape::name).collect();
            format!(
                "unknown shape `{text}`, expected one of {}",
                names.join(", ")
            )
        })
    }
}
