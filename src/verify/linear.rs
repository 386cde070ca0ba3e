//! Linearizability of lightweight transactions: what is different from strict serializability.
//!
//! A read that is only known not to have returned some value is no read of a version, so it stands in no edge. That no order
//! explains some operations of a key is found out anew here, by trying all of them.

use super::resolution::Resolution;
use crate::history::{History, KeyId, OperationId, OperationKind, Outcome, TransactionId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The pattern of operations on one key that no order explains.
pub(super) const PATTERN: &str = "NoLinearOrder";

/// Whether every transaction that may have committed is one read, one write, or one read and then one write of its key.
/// O(operations).
pub(super) fn is_lightweight(history: &History) -> Result<(), String> {
    for t in history.transactions().filter(|&t| history.outcome(t) != Outcome::Aborted) {
        let operations: Vec<_> = history.operations_of(t).map(|o| history.operation(o)).collect();
        let fits = match operations.as_slice() {
            [] | [_] => true,
            [read, write] => {
                (read.kind, write.kind) == (OperationKind::Read, OperationKind::Write) && read.key == write.key
            }
            _ => false,
        };
        if !fits || operations.iter().any(|o| history.lists().is_list(o.key)) {
            return Err(format!("{} is no lightweight transaction", history.transaction_name(t)));
        }
    }
    Ok(())
}

/// Whether in this order no failed comparison finds the value that it did not find. O(operations).
pub(super) fn comparisons_fit(
    history: &History,
    order: &[TransactionId],
    resolution: &Resolution<'_>,
) -> Result<(), String> {
    let mut current: Vec<Option<Value>> = vec![None; history.n_keys()];
    for &t in order.iter().filter(|&&t| !resolution.is_setup(t)) {
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

/// Whether these transactions, all on one key, cannot be put in an order that respects real time and in which each read
/// returns the current version and no failed comparison finds its value; even when every other transaction that may
/// have committed and writes the key is free to take effect or not.
/// Time and memory are exponential in the number of overlapping operations in the worst case.
pub(super) fn no_order(
    history: &History,
    resolution: &Resolution<'_>,
    transactions: &[TransactionId],
    levels: &[&str],
) -> Result<(), String> {
    is_lightweight(history)?;
    if let Some(level) = levels.iter().find(|level| **level != "LIN") {
        return Err(format!("that operations have no linear order says nothing about {level}"));
    }
    let puzzle = Puzzle::new(history, resolution, transactions)?;
    puzzle.has_no_solution()
}

/// One operation.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: i64,
    end: i64,
    reads: Option<Value>,
    differs: Option<Value>,
    writes: Option<Value>,
}

/// What may stand at one point of an order.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Situation {
    /// By piece: whether it has its place.
    placed: Vec<u64>,
    version: Option<Value>,
}

struct Puzzle<'a> {
    history: &'a History,
    key: KeyId,
    /// Those that must be placed.
    pieces: Vec<Piece>,
    /// Writes that may be placed.
    others: Vec<Piece>,
}

impl<'a> Puzzle<'a> {
    fn new(
        history: &'a History,
        resolution: &Resolution<'_>,
        transactions: &[TransactionId],
    ) -> Result<Puzzle<'a>, String> {
        let mut listed: FxHashSet<TransactionId> = FxHashSet::default();
        let mut pieces = Vec::new();
        let mut key = None;
        for &t in transactions {
            if t.is_initial() || history.outcome(t) != Outcome::Committed || resolution.is_setup(t) || !listed.insert(t)
            {
                return Err(format!("{} need not take part once", history.transaction_name(t)));
            }
            let first = history.operations_of(t).next();
            let first = first.ok_or_else(|| format!("{} is empty", history.transaction_name(t)))?;
            let of_key = history.operation(first).key;
            if key.replace(of_key).is_some_and(|other| other != of_key) {
                return Err("its transactions are not all on one key".to_owned());
            }
            pieces.push(piece(history, t));
        }
        let key = key.ok_or("it names no transaction")?;
        let last = pieces.iter().map(|piece| piece.end).max().unwrap_or(i64::MAX);
        let others = history.transactions().filter(|&t| {
            let may_matter = history.outcome(t) != Outcome::Aborted && !resolution.is_setup(t) && !listed.contains(&t);
            may_matter && history.operations_of(t).any(|o| history.operation(o).key == key)
        });
        // What began after all pieces had ended can come after all of them.
        let others = others.map(|t| piece(history, t));
        let others = others.filter(|other| other.writes.is_some() && other.start <= last).collect();
        Ok(Puzzle { history, key, pieces, others })
    }

    fn all(&self) -> impl Iterator<Item = (usize, &Piece)> {
        self.pieces.iter().chain(&self.others).enumerate()
    }

    fn has_no_solution(&self) -> Result<(), String> {
        let n = self.pieces.len() + self.others.len();
        let mut waiting = vec![Situation { placed: vec![0; n.div_ceil(64)], version: None }];
        let mut seen: FxHashSet<Situation> = FxHashSet::default();
        while let Some(mut situation) = waiting.pop() {
            self.place_lookers(&mut situation);
            if (0..self.pieces.len()).all(|at| is_placed(&situation, at)) {
                return Err("its operations can be put in order".to_owned());
            }
            if !seen.insert(situation.clone()) {
                continue;
            }
            waiting.extend(self.next(&situation));
        }
        Ok(())
    }

    /// The earliest end of the pieces that have no place yet: what began later must wait.
    fn first_end(&self, situation: &Situation) -> i64 {
        let open = self.pieces.iter().enumerate().filter(|(at, _)| !is_placed(situation, *at));
        open.map(|(_, piece)| piece.end).min().unwrap_or(i64::MAX)
    }

    fn fits(&self, piece: &Piece, version: Option<Value>) -> bool {
        let is = |value: Value| reads_as(self.history, self.key, version, value);
        piece.reads.is_none_or(is) && !piece.differs.is_some_and(is)
    }

    /// Places all that may come next and changes nothing: it can only make room for others.
    fn place_lookers(&self, situation: &mut Situation) {
        loop {
            let first_end = self.first_end(situation);
            let ready = |(at, piece): &(usize, &Piece)| {
                !is_placed(situation, *at)
                    && piece.writes.is_none()
                    && piece.start <= first_end
                    && self.fits(piece, situation.version)
            };
            let Some((at, _)) = self.pieces.iter().enumerate().find(ready) else { return };
            place(situation, at);
        }
    }

    /// The situations after one more write. One that need not be there is only worth placing for something that can come
    /// directly after it and could not before: without it all else could stand as it stands.
    fn next(&self, situation: &Situation) -> Vec<Situation> {
        let first_end = self.first_end(situation);
        let latest_start = self.all().filter(|(at, _)| is_placed(situation, *at)).map(|(_, piece)| piece.start).max();
        let helps = |version: Option<Value>| {
            self.all().any(|(at, piece)| {
                !is_placed(situation, at)
                    && piece.start <= first_end
                    && self.fits(piece, version)
                    && !self.fits(piece, situation.version)
            })
        };
        let mut after = Vec::new();
        let mut helpers: FxHashMap<Option<Value>, bool> = FxHashMap::default();
        for (at, piece) in self.all() {
            let is_open = !is_placed(situation, at) && piece.writes.is_some() && piece.start <= first_end;
            let is_free = at >= self.pieces.len();
            if !is_open || !self.fits(piece, situation.version) {
                continue;
            }
            let is_in_time = latest_start.is_none_or(|start| start <= piece.end);
            if is_free && !(is_in_time && *helpers.entry(piece.writes).or_insert_with(|| helps(piece.writes))) {
                continue;
            }
            let mut next = Situation { version: piece.writes, ..situation.clone() };
            place(&mut next, at);
            after.push(next);
        }
        after
    }
}

fn is_placed(situation: &Situation, at: usize) -> bool {
    (situation.placed[at / 64] >> (at % 64)) & 1 == 1
}

fn place(situation: &mut Situation, at: usize) {
    situation.placed[at / 64] |= 1 << (at % 64);
}

/// What a transaction does, from the smallest to the largest time as far as that is not known.
fn piece(history: &History, t: TransactionId) -> Piece {
    let interval = history.interval(t);
    let end = interval.filter(|_| history.outcome(t) != Outcome::Unknown).map_or(i64::MAX, |interval| interval.end);
    let mut piece = Piece {
        start: interval.map_or(i64::MIN, |interval| interval.start),
        end,
        reads: None,
        differs: None,
        writes: None,
    };
    for o in history.operations_of(t) {
        let operation = history.operation(o);
        match operation.kind {
            OperationKind::Write => piece.writes = Some(operation.value),
            OperationKind::Read if operation.value == Value::UNRECORDED => piece.differs = compared(history, o),
            OperationKind::Read => piece.reads = Some(operation.value),
        }
    }
    piece
}

fn compared(history: &History, read: OperationId) -> Option<Value> {
    history.differs_from(read).filter(|value| *value != Value::UNRECORDED)
}
