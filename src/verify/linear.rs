//! Linearizability of lightweight transactions: the differences from strict serializability.
//!
//! A read that is only known not to have returned some value is no read of a version, so it is in no edge. That no
//! order explains some operations is confirmed independently here, by trying all orders.

use super::initial::Initial;
use super::resolution::Resolution;
use super::told::Scene;
use crate::history::{History, KeyId, OperationId, OperationKind, Outcome, SessionId, TransactionId, Value};
use crate::report::EdgeEntry;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// The pattern of operations that no order explains.
pub(super) const PATTERN: &str = "NoLinearOrder";

/// Whether no failed comparison finds its excluded value in this order. O(operations).
pub(super) fn comparisons_fit(history: &History, order: &[TransactionId], initial: &Initial) -> Result<(), String> {
    let mut current: Vec<Option<Value>> = vec![None; history.n_keys()];
    for &t in order.iter().filter(|&&t| !initial.is_setup(t)) {
        for o in history.operations_of(t) {
            let operation = history.operation(o);
            let there = &mut current[operation.key.index()];
            if operation.kind == OperationKind::Write {
                *there = Some(operation.value);
            } else if history.differs_from(o).is_some_and(|other| reads_as(history, operation.key, *there, other)) {
                let (text, name) = (history.operation_text(o), history.transaction_name(t));
                return Err(format!("{text} of {name} stands where that value is the current one"));
            }
        }
    }
    Ok(())
}

/// Whether a version reads as a value.
fn reads_as(history: &History, key: KeyId, version: Option<Value>, value: Value) -> bool {
    match version {
        Some(written) => written == value,
        None => history.may_be_initial(key, value),
    }
}

/// Whether these transactions cannot be put in an order that respects real time and session order and in which each
/// read returns the current version and no failed comparison finds its value; even when every other transaction that
/// may have committed and writes one of their keys is free to take effect or not, at any time after it began. Those of
/// unknown outcome that take effect keep their place in their session; the others, whose places are not given, may be
/// anywhere. Time and memory are exponential in the number of overlapping operations in the worst case.
pub(super) fn no_order(
    history: &History,
    resolution: &Resolution<'_>,
    transactions: &[TransactionId],
    levels: &[&str],
) -> Result<(), String> {
    resolution.initial().is_lightweight(history)?;
    if let Some(level) = levels.iter().find(|level| **level != "LIN") {
        return Err(format!("that operations have no linear order says nothing about {level}"));
    }
    let puzzle = Puzzle::new(history, resolution, transactions)?;
    puzzle.has_no_solution()
}

/// Whether an edge says that one transaction had ended before another began, and that is so.
pub(super) fn is_in_time(history: &History, transactions: &[TransactionId], edge: &EdgeEntry) -> bool {
    let interval =
        |place: usize| transactions.get(place).filter(|t| !t.is_initial()).and_then(|&t| history.interval(t));
    let in_order = matches!((interval(edge.from), interval(edge.to)), (Some(a), Some(b)) if a.end < b.start);
    edge.kind == "RT" && in_order && edge.from_operation.is_none() && edge.to_operation.is_none()
}

/// What operations without an order show: their common key, if any.
pub(super) fn scene(history: &History, transactions: &[TransactionId]) -> Scene {
    let operations = || transactions.iter().flat_map(|&t| history.operations_of(t));
    let mut keys = operations().map(|o| history.operation(o).key);
    let key = keys.next().filter(|first| keys.all(|key| key == *first));
    let mut sorted = transactions.to_vec();
    sorted.sort_unstable();
    let reads = operations().filter(|&o| history.operation(o).kind == OperationKind::Read).collect();
    Scene { key, identity: Some(format!("{sorted:?}")), reads, ..Scene::default() }
}

/// One operation.
#[derive(Clone, Copy, Debug)]
struct Piece {
    transaction: TransactionId,
    key: KeyId,
    start: i64,
    end: i64,
    reads: Option<Value>,
    differs: Option<Value>,
    writes: Option<Value>,
    /// Whether it has a place in its session.
    in_session: bool,
}

/// What may be at one point of an order.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Situation {
    /// The pieces that have their place.
    placed: FixedBitSet,
    /// By key of the puzzle.
    versions: Vec<Option<Value>>,
}

struct Puzzle<'a> {
    history: &'a History,
    /// The keys, ascending.
    keys: Vec<KeyId>,
    /// First those that must be placed, then writes that may be placed.
    pieces: Vec<Piece>,
    /// How many must be placed.
    n_required: usize,
    /// By session: its pieces in session order.
    sessions: FxHashMap<SessionId, Vec<usize>>,
}

impl<'a> Puzzle<'a> {
    fn new(
        history: &'a History,
        resolution: &Resolution<'_>,
        transactions: &[TransactionId],
    ) -> Result<Puzzle<'a>, String> {
        let mut listed: FxHashSet<TransactionId> = FxHashSet::default();
        let mut pieces = Vec::new();
        // One of unknown outcome is free even if named.
        let is_free = |t: &TransactionId| !t.is_initial() && history.outcome(*t) == Outcome::Unknown;
        for &t in transactions.iter().filter(|t| !is_free(t)) {
            if t.is_initial() || history.outcome(t) != Outcome::Committed || resolution.is_setup(t) || !listed.insert(t)
            {
                return Err(format!("{} need not take part once", history.transaction_name(t)));
            }
            let piece = piece(history, t).ok_or_else(|| format!("{} is empty", history.transaction_name(t)))?;
            pieces.push(piece);
        }
        let last = pieces.iter().map(|piece| piece.end).max().ok_or("it names no transaction")?;
        let mut keys: Vec<KeyId> = pieces.iter().map(|piece| piece.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut others: Vec<TransactionId> =
            keys.iter().flat_map(|&key| resolution.initial().writers_of(history, key)).copied().collect();
        others.sort_unstable();
        let others = others.into_iter().filter(|t| !listed.contains(t)).filter_map(|t| piece(history, t));
        // A transaction that began after all pieces had ended can come after all of them.
        let others = others.filter(|other| other.writes.is_some() && other.start <= last);
        let n_required = pieces.len();
        pieces.extend(others.map(|other| {
            let in_session = history.outcome(other.transaction) == Outcome::Unknown;
            Piece { end: i64::MAX, in_session, ..other }
        }));
        let mut sessions: FxHashMap<SessionId, Vec<usize>> = FxHashMap::default();
        for (at, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.in_session) {
            sessions.entry(history.session_of(piece.transaction)).or_default().push(at);
        }
        sessions.values_mut().for_each(|session| session.sort_unstable_by_key(|&at| pieces[at].transaction));
        Ok(Puzzle { history, keys, pieces, n_required, sessions })
    }

    fn has_no_solution(&self) -> Result<(), String> {
        let placed = FixedBitSet::with_capacity(self.pieces.len());
        let mut waiting = vec![Situation { placed, versions: vec![None; self.keys.len()] }];
        let mut seen: FxHashSet<Situation> = FxHashSet::default();
        while let Some(mut situation) = waiting.pop() {
            self.place_lookers(&mut situation);
            if (0..self.n_required).all(|at| situation.placed.contains(at)) {
                return Err("its operations can be put in order".to_owned());
            }
            if !seen.insert(situation.clone()) {
                continue;
            }
            waiting.extend(self.next(&situation));
        }
        Ok(())
    }

    /// The earliest end of the required pieces not yet placed: pieces that began later must wait.
    fn first_end(&self, situation: &Situation) -> i64 {
        let open = (0..self.n_required).filter(|&at| !situation.placed.contains(at));
        open.map(|at| self.pieces[at].end).min().unwrap_or(i64::MAX)
    }

    fn key(&self, piece: &Piece) -> usize {
        self.keys.partition_point(|key| *key < piece.key)
    }

    fn version(&self, piece: &Piece, situation: &Situation) -> Option<Value> {
        situation.versions[self.key(piece)]
    }

    fn fits(&self, piece: &Piece, version: Option<Value>) -> bool {
        let is = |value: Value| reads_as(self.history, piece.key, version, value);
        piece.reads.is_none_or(is) && !piece.differs.is_some_and(is)
    }

    /// The pieces of the session of a piece before and after it; none if it is in no session.
    fn around(&self, at: usize) -> (&[usize], &[usize]) {
        let piece = &self.pieces[at];
        let session = self.sessions.get(&self.history.session_of(piece.transaction)).filter(|_| piece.in_session);
        let session = session.map_or(&[][..], Vec::as_slice);
        let before = session.partition_point(|&other| self.pieces[other].transaction < piece.transaction);
        let after = session.partition_point(|&other| self.pieces[other].transaction <= piece.transaction);
        (&session[..before], &session[after..])
    }

    /// Whether a piece may come next as far as times and sessions go.
    fn is_its_turn(&self, at: usize, first_end: i64, situation: &Situation) -> bool {
        let (before, after) = self.around(at);
        !situation.placed.contains(at)
            && self.pieces[at].start <= first_end
            && !before.iter().any(|&other| other < self.n_required && !situation.placed.contains(other))
            && !after.iter().any(|&other| situation.placed.contains(other))
    }

    /// Whether placing a piece would make it impossible to place some optional operation.
    fn excludes(&self, at: usize, situation: &Situation) -> bool {
        let (before, _) = self.around(at);
        let open = before.iter().rev().take_while(|&&other| !situation.placed.contains(other));
        open.into_iter().any(|&other| other >= self.n_required)
    }

    /// Places every piece that may come next, changes nothing and excludes nothing: it can only make room for others.
    fn place_lookers(&self, situation: &mut Situation) {
        loop {
            let first_end = self.first_end(situation);
            let ready = |&at: &usize| {
                let piece = &self.pieces[at];
                piece.writes.is_none()
                    && self.fits(piece, self.version(piece, situation))
                    && self.is_its_turn(at, first_end, situation)
                    && !self.excludes(at, situation)
            };
            let Some(at) = (0..self.n_required).find(ready) else { return };
            situation.placed.insert(at);
        }
    }

    /// The situations after one more piece. An optional write is only worth placing for something that it enables and
    /// that could not come before: without it everything else could stay in place. If it is in no session it can wait
    /// until that can come directly after it.
    fn next(&self, situation: &Situation) -> Vec<Situation> {
        let first_end = self.first_end(situation);
        let helps = |key: KeyId, old: Option<Value>, new: Option<Value>, at_once: bool| {
            (0..self.pieces.len()).any(|at| {
                let piece = &self.pieces[at];
                piece.key == key
                    && !situation.placed.contains(at)
                    && self.fits(piece, new)
                    && !self.fits(piece, old)
                    && (!at_once || self.is_its_turn(at, first_end, situation))
            })
        };
        let mut after = Vec::new();
        let mut helpers: FxHashMap<(KeyId, Option<Value>, bool), bool> = FxHashMap::default();
        for (at, piece) in self.pieces.iter().enumerate() {
            let there = self.version(piece, situation);
            if !self.fits(piece, there) || !self.is_its_turn(at, first_end, situation) {
                continue;
            }
            let at_once = !piece.in_session;
            let mut is_of_use = || {
                let known = helpers.entry((piece.key, piece.writes, at_once));
                *known.or_insert_with(|| helps(piece.key, there, piece.writes, at_once))
            };
            if at >= self.n_required && !is_of_use() {
                continue;
            }
            let mut next = situation.clone();
            if piece.writes.is_some() {
                next.versions[self.key(piece)] = piece.writes;
            }
            next.placed.insert(at);
            after.push(next);
        }
        after
    }
}

/// What a transaction does, with the smallest and largest time where its own are unknown; `None` if nothing.
fn piece(history: &History, transaction: TransactionId) -> Option<Piece> {
    let interval = history.interval(transaction);
    let is_over = history.outcome(transaction) != Outcome::Unknown;
    let mut piece = Piece {
        transaction,
        key: history.operation(history.operations_of(transaction).next()?).key,
        start: interval.map_or(i64::MIN, |interval| interval.start),
        end: interval.filter(|_| is_over).map_or(i64::MAX, |interval| interval.end),
        reads: None,
        differs: None,
        writes: None,
        in_session: true,
    };
    for o in history.operations_of(transaction) {
        let operation = history.operation(o);
        match operation.kind {
            OperationKind::Write => piece.writes = Some(operation.value),
            OperationKind::Read if operation.value == Value::UNRECORDED => piece.differs = compared(history, o),
            OperationKind::Read => piece.reads = Some(operation.value),
        }
    }
    Some(piece)
}

fn compared(history: &History, read: OperationId) -> Option<Value> {
    history.differs_from(read).filter(|value| *value != Value::UNRECORDED)
}
