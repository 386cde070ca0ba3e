//! Histories of any size for benches, from a seed.
//!
//! The model is a store that runs one transaction at a time: sessions take turns at random, each write makes a new
//! value, the next number of its key, and a read returns the newest version of its key that the session sees. Where
//! all see everything such a history is serializable by construction. With [`Workload::stale_share`] above zero, that
//! share of the reads returns the version before the newest one instead, which breaks most levels somewhere.

mod arguments;
mod hard;
mod instances;
mod lightweight;
mod measure;
mod order;
mod shapes;
mod store;

pub(crate) use arguments::WorkloadArguments;
pub(crate) use hard::Hard;
pub(crate) use isoscope::generate::Distribution as Keys;
pub(crate) use lightweight::Lightweight;
pub(crate) use measure::{CHECKERS, LEVELS, STRONG_LEVELS, check};
pub(crate) use order::FileOrder;
pub(crate) use shapes::Shape;
pub(crate) use store::View;

use isoscope::history::{Builder, History, OperationKind, Origin, Outcome, Value};
use std::io::{self, BufWriter, Write};

/// What to generate. The same workload gives the same history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workload {
    /// Of the random numbers.
    pub(crate) seed: u64,
    /// Sessions that take turns; 0 for a session per transaction.
    pub(crate) sessions: u64,
    /// Transactions of all sessions together.
    pub(crate) transactions: u64,
    /// Operations per transaction.
    pub(crate) operations: u64,
    /// Distinct keys.
    pub(crate) keys: u64,
    /// How often each key is touched.
    pub(crate) distribution: Keys,
    /// Share of reads among the operations.
    pub(crate) read_share: f64,
    /// Share of the writes before which the transaction reads the key; the others are blind.
    pub(crate) update_share: f64,
    /// Mini-transactions (MTC): at most two keys, each read once and then perhaps written; the number of operations is that
    /// of keys.
    pub(crate) mini: bool,
    /// Share of the reads that return the version before the newest.
    pub(crate) stale_share: f64,
    /// What sessions see of the store.
    pub(crate) view: View,
    /// Order of the transactions in the history.
    pub(crate) order: FileOrder,
    /// Whether keys hold lists: writes append, reads return all elements. Only for the serial view.
    pub(crate) lists: bool,
}

impl Default for Workload {
    fn default() -> Workload {
        Workload {
            seed: 1,
            sessions: 20,
            transactions: 10_000,
            operations: 10,
            keys: 1000,
            distribution: Keys::Uniform,
            read_share: 0.5,
            update_share: 0.0,
            mini: false,
            stale_share: 0.0,
            view: View::Serial,
            order: FileOrder::Happened,
            lists: false,
        }
    }
}

/// A generated operation.
#[derive(Clone, Copy)]
struct Generated {
    kind: OperationKind,
    key: u64,
    value: u64,
    session: u64,
    transaction: u64,
}

impl Workload {
    /// Operations of all transactions together; about as many where reads come before writes.
    pub(crate) fn n_operations(&self) -> u64 {
        self.transactions * self.operations
    }

    fn n_sessions(&self) -> u64 {
        if self.sessions == 0 {
            self.transactions
        } else {
            self.sessions
        }
    }

    /// Hands out the operations in the order in which they happened.
    fn each_as_it_happened(
        &self,
        visit: &mut dyn FnMut(Generated) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut random = fastrand::Rng::with_seed(self.seed);
        let keys = self.distribution.sampler(self.keys);
        let mut store = store::Store::new(self.view, self.keys, self.n_sessions());
        for transaction in 0..self.transactions {
            let session = if self.sessions == 0 {
                transaction
            } else {
                random.u64(..self.sessions)
            };
            store.begin(transaction, session, &mut random);
            let n_accesses = if self.mini {
                self.operations.min(2)
            } else {
                self.operations
            };
            let mut used = None;
            for _ in 0..n_accesses {
                let key = keys.draw(transaction, &mut random);
                if self.mini && used.replace(key) == Some(key) {
                    continue;
                }
                let is_read = random.f64() < self.read_share || !store.may_write(key);
                let is_update =
                    self.mini || self.update_share > 0.0 && random.f64() < self.update_share;
                if is_read || is_update {
                    let value = store.read(key, random.f64() < self.stale_share);
                    visit(Generated {
                        kind: OperationKind::Read,
                        key,
                        value,
                        session,
                        transaction,
                    })?;
                }
                if !is_read {
                    let value = store.write(key);
                    visit(Generated {
                        kind: OperationKind::Write,
                        key,
                        value,
                        session,
                        transaction,
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Hands out the operations in the order of the history; grouped by session, they are held in memory before.
    fn each(&self, visit: &mut dyn FnMut(Generated) -> io::Result<()>) -> io::Result<()> {
        match self.order {
            FileOrder::Happened => self.each_as_it_happened(visit),
            FileOrder::Session => {
                let mut all = Vec::with_capacity(self.n_operations() as usize);
                self.each_as_it_happened(&mut |generated| {
                    all.push(generated);
                    Ok(())
                })?;
                all.sort_by_key(|generated| generated.session);
                all.into_iter().try_for_each(visit)
            }
        }
    }

    /// The history in memory.
    pub(crate) fn history(&self) -> History {
        let mut builder = Builder::new(Origin {
            format: "generated",
            ..Origin::default()
        });
        if !self.lists {
            builder.initial_value(Value(0));
        }
        for session in 0..self.n_sessions() {
            builder.session_number(session);
        }
        let mut current = None;
        let mut visit = |Generated {
                             kind,
                             key,
                             value,
                             session,
                             transaction,
                         }: Generated| {
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
            if self.lists && kind == OperationKind::Read {
                let elements: Vec<Value> = (1..=value).map(Value).collect();
                builder.list_read(draft, key, &elements, 0);
            } else {
                builder.operation(draft, kind, key, Value(value), 0);
            }
            Ok(())
        };
        self.each(&mut visit).expect("nothing is written");
        builder.finish().expect("the workload fits into a history")
    }

    /// The history as Plume text, without holding it in memory unless it has to be ordered. Lists have no such text.
    pub(crate) fn write_plume(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        self.each(&mut |Generated {
                            kind,
                            key,
                            value,
                            session,
                            transaction,
                        }| {
            let letter = if kind == OperationKind::Read {
                'r'
            } else {
                'w'
            };
            writeln!(out, "{letter}({key},{value},{session},{transaction})")
        })?;
        out.flush()
    }
}
