//! The engine of one level: an order of all transactions that it remembers, kept valid from one to the next.
//!
//! A transaction is entered when everything that it read from has been. Then its causes are final: nothing that comes
//! later is seen by it. It is put at the end of the order. At RC, RA and TCC all that its reads mean for the writers of a
//! key is known then, and becomes edges: not many, since of the versions of a session the last one seen says it for all.
//! Above, an edge is added only where the order gets a read wrong, so mostly none. Where nothing forces two writers, the
//! order decides, and only where it would get a read wrong is a decision on the pair written down (`decisions`); it is
//! taken back when something forced contradicts it. The order is thus always one that satisfies the level, or there is
//! none.
//!
//! A beginning of the order may be settled (`seal`): its transactions are replaced by the state that they left. By the
//! conditions there no later verdict changes. A beginning settled by age alone may be contradicted later: the read that
//! does so is left out and counted.

mod cuts;
mod decisions;
mod enter;
#[cfg(debug_assertions)]
mod invariants;
mod keys;
mod missed;
mod residents;
mod seal;
mod settled;
mod times;

#[cfg(test)]
pub(super) use cuts::{Condition, OFF};
pub(super) use seal::Surroundings;

use super::FOLLOWED;
use super::delivered::Delivered;
use super::keep::{kept, kept_enum};
use super::order::{Node, Order, Owner, Seq};
use super::replay::Event;
use isoscope_check::checkers::Level;
use keys::Keys;
use residents::Residents;
use rustc_hash::{FxHashMap, FxHashSet};
use settled::Forgotten;
use std::collections::BTreeSet;
use std::sync::Arc;
use times::Moments;

/// In place of a writer: the settled version of the key, at first the initial one.
pub(super) const BASE: Seq = 0;

/// Why an engine ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// No order satisfies the level.
    Violated {
        /// The transaction with whose entrance that became so.
        at: Seq,
        /// Whether the evidence is among what is remembered.
        is_at_hand: bool,
    },
    /// The search for an order took too long.
    Exhausted {
        /// The transaction with whose entrance it began.
        at: Seq,
    },
}

/// Why a step could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    Contradiction,
    /// A read of a version that everything to come is known to have passed.
    Passed,
    TooLong,
}

/// A transaction that is remembered.
#[derive(Debug)]
struct Resident {
    t: Arc<Delivered>,
    /// (key, writer): what it read and what counts.
    reads: Vec<(u32, Seq)>,
    start: Node,
    commit: Node,
}

/// What an engine passes on to those of weaker levels.
#[derive(Debug)]
pub(super) struct Inheritance {
    settled: Keys,
    forgotten: Forgotten,
    transactions: Vec<Arc<Delivered>>,
}

/// The engine of one level.
#[derive(Debug)]
pub(super) struct Engine {
    level: Level,
    order: Order,
    residents: Residents,
    keys: Keys,
    /// Pairs of writers whose order is forced by more than what the newer one or a reader of it has seen, as far as the
    /// order got it wrong.
    known: FxHashSet<(Seq, Seq)>,
    /// By writer: its pairs among those.
    partners: FxHashMap<Seq, Vec<(Seq, Seq)>>,
    /// By pair, the earlier number first: the order decided.
    decided: FxHashMap<(Seq, Seq), (Seq, Seq)>,
    /// Transactions whose reads and versions may be wrong in the order.
    dirty: BTreeSet<Seq>,
    moments: Moments,
    /// Whether any key holds lists: these show the order of writers late.
    has_lists: bool,
    /// Whether a stronger level answers for this one.
    is_asleep: bool,
    forgotten: Forgotten,
    undecided: u64,
    stop: Option<Stop>,
    /// What was settled, in the order, if it is to be kept.
    log: Option<Vec<Event>>,
    /// Decisions tried for the current transaction, or to settle the past.
    searched: u64,
}

kept_enum!(Stop { 0 Violated { at, is_at_hand }, 1 Exhausted { at } });
kept!(Resident {
    t,
    reads,
    start,
    commit
});
kept!(Engine {
    level,
    order,
    residents,
    keys,
    known,
    partners,
    decided,
    dirty,
    moments,
    has_lists,
    is_asleep,
    forgotten,
    undecided,
    stop,
    log,
    searched
});

impl Engine {
    /// The engine of a level, if it can be followed.
    pub(super) fn new(level: Level) -> Option<Engine> {
        let is_followed = FOLLOWED.contains(&level) && level != Level::CutIsolation;
        is_followed.then(|| Engine {
            level,
            order: Order::default(),
            residents: Residents::default(),
            keys: Keys::default(),
            known: FxHashSet::default(),
            partners: FxHashMap::default(),
            decided: FxHashMap::default(),
            dirty: BTreeSet::new(),
            moments: Moments::default(),
            has_lists: false,
            is_asleep: false,
            forgotten: Forgotten::default(),
            undecided: 0,
            stop: None,
            log: None,
            searched: 0,
        })
    }

    /// The level.
    pub(super) fn level(&self) -> Level {
        self.level
    }

    /// How it ended, if it has.
    pub(super) fn stop(&self) -> Option<Stop> {
        self.stop
    }

    /// Number of reads left out because they contradict what was settled by age.
    pub(super) fn undecided(&self) -> u64 {
        self.undecided
    }

    /// Number of transactions that are remembered.
    pub(super) fn n_residents(&self) -> usize {
        self.residents.len()
    }

    /// Number of transactions that were settled.
    pub(super) fn n_settled(&self) -> u64 {
        self.forgotten.total()
    }

    /// What is remembered, in the order of delivery.
    pub(super) fn residents(&self) -> Vec<&Arc<Delivered>> {
        self.residents.iter().map(|resident| &resident.t).collect()
    }

    /// Whether a stronger level answers for this one.
    pub(super) fn is_asleep(&self) -> bool {
        self.is_asleep
    }

    /// Lets a stronger level answer for this one.
    pub(super) fn sleep(&mut self) {
        self.is_asleep = true;
    }

    /// What the engine of a weaker level goes on with, `t` included even where it could not be entered.
    pub(super) fn inheritance(&self, t: &Arc<Delivered>) -> Inheritance {
        let mut transactions: Vec<Arc<Delivered>> = self.residents().into_iter().cloned().collect();
        if self.forgotten.is_remembered(t.seq) && !self.residents.contains(t.seq) {
            transactions.push(Arc::clone(t));
        }
        Inheritance {
            settled: self.keys.settled(),
            forgotten: self.forgotten.clone(),
            transactions,
        }
    }

    /// Goes on with what the engine of a stronger level knew. At RC and RA nothing is settled without loss: there all that
    /// was settled counts as settled by age.
    pub(super) fn wake(&mut self, inheritance: &Inheritance) {
        self.is_asleep = false;
        self.keys = inheritance.settled.settled();
        self.forgotten = inheritance.forgotten.clone();
        if matches!(self.level, Level::ReadCommitted | Level::ReadAtomic) {
            self.keys.count_by_age();
            self.forgotten.count_by_age();
        }
        inheritance.transactions.iter().for_each(|t| self.enter(t));
    }

    /// Keeps the order of what is settled.
    pub(super) fn keep_order(&mut self) {
        self.is_asleep = false;
        self.log = Some(Vec::new());
    }

    /// What was settled since this was asked last.
    pub(super) fn take_order(&mut self) -> Vec<Event> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The order of what is remembered.
    pub(super) fn rest_of_order(&self) -> Vec<Event> {
        self.events(&self.residents.numbers().collect::<Vec<_>>())
    }

    /// The events of remembered transactions, in the order.
    fn events(&self, transactions: &[Seq]) -> Vec<Event> {
        let mut events: Vec<(u64, Event)> = Vec::new();
        for resident in transactions.iter().map(|&t| &self.residents[t]) {
            let (start, commit) = (
                self.order.position(resident.start),
                self.order.position(resident.commit),
            );
            match (start == commit, resident.t.arrived) {
                (true, t) => events.push((start, Event::Whole(t))),
                (false, t) => events.extend([(start, Event::Reads(t)), (commit, Event::Writes(t))]),
            }
        }
        events.sort_unstable_by_key(|(position, _)| *position);
        events.into_iter().map(|(_, event)| event).collect()
    }

    /// Ends the engine with a violation that needs no order.
    pub(super) fn violate(&mut self, at: Seq) {
        self.stop = self.stop.or(Some(Stop::Violated {
            at,
            is_at_hand: true,
        }));
    }

    /// Forgets everything but the verdict.
    pub(super) fn clear(&mut self) {
        if let Some(fresh) = Engine::new(self.level) {
            let total = self.n_settled();
            *self = Engine {
                stop: self.stop,
                undecided: self.undecided,
                ..fresh
            };
            self.forgotten = Forgotten::of(total);
        }
    }

    /// Enters the next delivered transaction. O(its operations), where it read the last versions in the order, and what the
    /// order needs.
    pub(super) fn enter(&mut self, t: &Arc<Delivered>) {
        if self.stop.is_some() || self.is_asleep {
            return;
        }
        self.searched = 0;
        if let Err(failure) = self.insert(t) {
            self.end(failure, t.seq);
        }
        #[cfg(debug_assertions)]
        self.assert_invariants();
    }

    fn end(&mut self, failure: Failure, at: Seq) {
        self.stop = Some(match failure {
            Failure::Contradiction => Stop::Violated {
                at,
                is_at_hand: true,
            },
            Failure::Passed => Stop::Violated {
                at,
                is_at_hand: false,
            },
            Failure::TooLong => Stop::Exhausted { at },
        });
    }

    /// Whether reads come before no version: only versions are ordered.
    fn orders_writers_only(&self) -> bool {
        self.level.is_weak() || self.level == Level::ParallelSnapshotIsolation
    }

    /// What a read of the settled version of a key rests on.
    fn base_owner(&self, reader: Seq, key: u32) -> Owner {
        match self.keys.get(key).and_then(|key| key.settled.as_ref()) {
            Some(settled) if settled.by_age => Owner::Read(reader, key),
            _ => Owner::Forced,
        }
    }

    /// Leaves out a read of the settled version of a key.
    fn leave_out(&mut self, reader: Seq, key: u32) {
        if let Some(resident) = self.residents.get_mut(reader) {
            resident.reads.retain(|read| *read != (key, BASE));
        }
        self.keys
            .entry(key)
            .base_readers
            .retain(|other| *other != reader);
    }

    /// Whether `a` is known to be older than `b`, whatever the times: `b` or one of its readers has seen `a`.
    fn is_known_without_times(&self, a: Seq, b: Seq) -> bool {
        let (older, newer) = (&self.residents[a].t, &self.residents[b].t);
        let is_seen_by_reader = |key: &u32| {
            let readers = self.keys.readers(*key, b).iter();
            older.writes.contains(key)
                && readers
                    .copied()
                    .any(|reader| older.is_seen_by(&self.residents[reader].t))
        };
        self.known.contains(&(a, b))
            || older.is_seen_by(newer)
            || newer.writes.iter().any(is_seen_by_reader)
    }

    /// Whether `a` is known to be older than `b`.
    fn is_known(&self, a: Seq, b: Seq) -> bool {
        let (older, newer) = (&self.residents[a].t, &self.residents[b].t);
        self.is_known_without_times(a, b)
            || (self.level == Level::StrictSerializability && times::is_before(older, newer))
    }

    /// The versions that `a` wrote of common keys are older than those of `b`, in every order. What `b` has seen became older
    /// when `b` was entered.
    fn precede(&mut self, a: Seq, b: Seq) -> Result<(), Failure> {
        if self.residents[a].t.is_seen_by(&self.residents[b].t) || !self.known.insert((a, b)) {
            return Ok(());
        }
        self.partners.entry(a).or_default().push((a, b));
        self.partners.entry(b).or_default().push((a, b));
        if self.decided.get(&(a.min(b), a.max(b))) == Some(&(b, a)) {
            self.take_back(Owner::pair(a, b));
        }
        self.force_pair(a, b)
    }

    /// Adds what follows from `a` being older than `b`, in every order.
    fn force_pair(&mut self, a: Seq, b: Seq) -> Result<(), Failure> {
        for (from, to) in self.edges_of_pair(a, b) {
            self.force(from, to, Owner::Forced)?;
        }
        Ok(())
    }

    /// The edges that `a` being older than `b` means.
    fn edges_of_pair(&self, a: Seq, b: Seq) -> Vec<(Node, Node)> {
        let (older, newer) = (&self.residents[a], &self.residents[b]);
        // Under snapshot isolation writers of a key do not overlap.
        let begin = if self.level == Level::SnapshotIsolation {
            newer.start
        } else {
            newer.commit
        };
        // What session order and reads lead to needs no other edge.
        let is_implied = |before: &Resident| before.t.is_seen_by(&newer.t);
        let mut edges: Vec<(Node, Node)> = (!is_implied(older))
            .then_some((older.commit, begin))
            .into_iter()
            .collect();
        if self.orders_writers_only() {
            return edges;
        }
        for key in older
            .t
            .writes
            .iter()
            .filter(|key| newer.t.writes.contains(key))
        {
            let readers = self
                .keys
                .readers(*key, a)
                .iter()
                .filter(|reader| **reader != b);
            let readers = readers
                .map(|&reader| &self.residents[reader])
                .filter(|reader| !is_implied(reader));
            edges.extend(readers.map(|reader| (reader.start, newer.commit)));
        }
        edges
    }
}
