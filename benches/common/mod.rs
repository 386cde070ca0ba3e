//! Histories of any size for benches, from a seed.
//!
//! The model is a store that runs one transaction at a time: sessions take turns at random, a read returns the newest
//! version of its key, each write makes a new value, the next number of its key. Such a history is serializable by
//! construction. With [`Workload::stale_share`] above zero, that share of the reads returns the version before the
//! newest one instead, which breaks most levels somewhere.

use isoscope::history::{Builder, History, OperationKind, Origin, Outcome, Value};
use std::io::{self, BufWriter, Write};

/// What to generate. The same workload gives the same history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workload {
    /// Of the random numbers.
    pub(crate) seed: u64,
    /// Sessions that take turns.
    pub(crate) sessions: u64,
    /// Transactions of all sessions together.
    pub(crate) transactions: u64,
    /// Operations per transaction.
    pub(crate) operations: u64,
    /// Distinct keys, each equally likely.
    pub(crate) keys: u64,
    /// Share of reads among the operations.
    pub(crate) read_share: f64,
    /// Share of the reads that return the version before the newest.
    pub(crate) stale_share: f64,
}

impl Default for Workload {
    fn default() -> Workload {
        let (sessions, transactions, operations, keys) = (20, 10_000, 10, 1000);
        Workload { seed: 1, sessions, transactions, operations, keys, read_share: 0.5, stale_share: 0.0 }
    }
}

/// A generated operation: kind, key, value, session, transaction.
type Generated = (OperationKind, u64, u64, u64, u64);

impl Workload {
    /// Hands out the operations in the order in which they happened.
    fn each(&self, mut visit: impl FnMut(Generated) -> io::Result<()>) -> io::Result<()> {
        let mut random = fastrand::Rng::with_seed(self.seed);
        // By key: the number of versions, which is the newest value. Value 0 is the initial version.
        let mut newest = vec![0u64; self.keys as usize];
        // Keys written by the running transaction: their newest version must be read back, never the one before.
        let mut own = Vec::new();
        for transaction in 0..self.transactions {
            let session = random.u64(..self.sessions);
            own.clear();
            for _ in 0..self.operations {
                let key = random.u64(..self.keys);
                let version = &mut newest[key as usize];
                if random.f64() < self.read_share {
                    let stale = random.f64() < self.stale_share && !own.contains(&key);
                    let value = version.saturating_sub(u64::from(stale));
                    visit((OperationKind::Read, key, value, session, transaction))?;
                } else {
                    *version += 1;
                    own.push(key);
                    visit((OperationKind::Write, key, *version, session, transaction))?;
                }
            }
        }
        Ok(())
    }

    /// The history in memory.
    pub(crate) fn history(&self) -> History {
        let mut builder = Builder::new(Origin { format: "generated", ..Origin::default() });
        builder.initial_value(Value(0));
        for session in 0..self.sessions {
            builder.session_number(session);
        }
        let mut current = None;
        let visit = |(kind, key, value, session, transaction): Generated| {
            let draft = match current {
                Some((number, draft)) if number == transaction => draft,
                _ => {
                    let session = builder.session_number(session);
                    let draft = builder.transaction(session, Outcome::Committed);
                    builder.number_transaction(draft, transaction);
                    current = Some((transaction, draft));
                    draft
                }
            };
            let key = builder.key_number(key);
            builder.operation(draft, kind, key, Value(value), 0);
            Ok(())
        };
        self.each(visit).expect("nothing is written");
        builder.finish().expect("the workload fits into a history")
    }

    /// The history as Plume text, without holding it in memory.
    pub(crate) fn write_plume(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        self.each(|(kind, key, value, session, transaction)| {
            let letter = if kind == OperationKind::Read { 'r' } else { 'w' };
            writeln!(out, "{letter}({key},{value},{session},{transaction})")
        })?;
        out.flush()
    }
}
