//! Lightweight transactions grouped by key.

use isoscope_model::graph::row_begins;
use isoscope_model::history::{
    History, Interval, KeyId, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use isoscope_model::relations::{Glance, Resolution, Source, Standing};
use std::ops::Range;

/// In place of a source: the operation reads nothing known.
pub(super) const NO_READ: u32 = u32::MAX;
/// In place of a source: the initial version.
pub(super) const INITIAL: u32 = u32::MAX - 1;

/// What an operation does to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Returns the version of its source.
    Read,
    /// Makes a version, whatever was current.
    Write,
    /// Returns the version of its source and makes the next one.
    Swap,
    /// Failed because another value than its own was current.
    Differs,
    /// Says nothing: what it read was not recorded.
    Idle,
}

/// One lightweight transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    /// When it began; the smallest number if unknown.
    pub(super) start: i64,
    /// When it ended; the largest number if unknown.
    pub(super) end: i64,
    pub(super) transaction: TransactionId,
    /// For a read or swap: the place, among the operations of the key, of the operation whose version it returned, or
    /// [`INITIAL`].
    pub(super) source: u32,
    /// The value it writes; for [`Role::Differs`], the value that was not there.
    pub(super) value: Value,
    pub(super) role: Role,
    /// Its outcome is unknown and no read saw it: it may have taken effect or not.
    pub(super) optional: bool,
}

impl Op {
    /// A placeholder for an operation.
    const NONE: Op = Op {
        start: 0,
        end: 0,
        transaction: TransactionId::INITIAL,
        source: NO_READ,
        value: Value::UNRECORDED,
        role: Role::Idle,
        optional: false,
    };

    /// The key of its transaction.
    pub(super) fn key(&self, history: &History) -> KeyId {
        history.keys()[history.operation_range(self.transaction).start]
    }

    /// What it observed and wrote.
    pub(super) fn effect(&self, history: &History) -> Effect {
        let first = history.operation_range(self.transaction).start;
        let reads = matches!(self.role, Role::Read | Role::Swap).then(|| history.values()[first]);
        let differs = (self.role == Role::Differs).then_some(self.value);
        Effect {
            reads,
            differs,
            writes: self.writes().then_some(self.value),
        }
    }

    /// Whether it makes a version.
    pub(super) fn writes(&self) -> bool {
        matches!(self.role, Role::Write | Role::Swap)
    }
}

/// What an operation observed and wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    /// The value that it found.
    pub(super) reads: Option<Value>,
    /// A value that it did not find.
    pub(super) differs: Option<Value>,
    /// The value that it left behind.
    pub(super) writes: Option<Value>,
}

/// The operations of all keys, key by key; within a key in the order of the history.
#[derive(Debug, Default)]
pub(super) struct Keyed {
    begin: Vec<u32>,
    ops: Vec<Op>,
}

impl Keyed {
    /// Collects every committed transaction, and if failed comparisons make that matter every one that may have
    /// committed: a write that no transaction read can explain them. Each read must have exactly one source, and a
    /// possible one. O(operations + keys).
    pub(super) fn new(history: &History, resolution: &Resolution) -> Keyed {
        let with_optional = history.has_failed_comparisons();
        Keyed::collect(history, |t, range| match resolution.standing(t) {
            Standing::Committed | Standing::Promoted => {
                Some(operation(history, resolution, t, range, false))
            }
            Standing::Dropped | Standing::Possible => {
                let counts =
                    with_optional && may_take_effect(history, resolution, t, range.clone());
                counts.then(|| operation(history, resolution, t, range, true))
            }
            Standing::Aborted | Standing::Initial => None,
        })
    }

    /// As `new`, if several transactions may have written what a read returned: no read has a source, and every writer
    /// of unknown outcome may have committed. Only a search by values can order these.
    pub(super) fn by_value(history: &History, resolution: &Resolution) -> Keyed {
        Keyed::collect(history, |t, range| {
            let optional = history.outcome(t) == Outcome::Unknown;
            let is_out = matches!(
                resolution.standing(t),
                Standing::Aborted | Standing::Initial
            ) || optional && history.kinds()[range.end - 1] == OperationKind::Read;
            (!is_out).then(|| operation_by_value(history, t, range, optional))
        })
    }

    /// Groups the operations that `describe` makes of transactions by key; sources name operations of the history.
    fn collect(
        history: &History,
        describe: impl Fn(TransactionId, Range<usize>) -> Option<Op>,
    ) -> Keyed {
        let described: Vec<(Op, u32)> = history
            .transactions()
            .filter_map(|t| {
                let range = Some(history.operation_range(t)).filter(|range| !range.is_empty())?;
                let last = range.end as u32 - 1;
                Some((describe(t, range)?, last))
            })
            .collect();
        let key_of = |last: u32| history.keys()[last as usize].index();
        let begin = row_begins(
            history.n_keys(),
            described.iter().map(|&(_, last)| key_of(last) as u32),
        );
        let mut next = begin.clone();
        let mut ops = vec![Op::NONE; described.len()];
        let mut place_of_write = vec![NO_READ; history.n_operations()];
        for (op, last) in described {
            let to = &mut next[key_of(last)];
            ops[*to as usize] = op;
            if op.writes() {
                place_of_write[last as usize] = *to - begin[key_of(last)];
            }
            *to += 1;
        }
        for op in ops.iter_mut().filter(|op| op.source < INITIAL) {
            op.source = place_of_write[op.source as usize];
        }
        Keyed { begin, ops }
    }

    /// Failed comparisons say nothing any more.
    pub(super) fn leave_out_comparisons(&mut self) {
        self.ops
            .iter_mut()
            .filter(|op| op.role == Role::Differs)
            .for_each(|op| op.role = Role::Idle);
    }

    pub(super) fn n_keys(&self) -> usize {
        self.begin.len() - 1
    }

    /// The range of a key's operations among all.
    pub(super) fn range(&self, key: usize) -> Range<usize> {
        self.begin[key] as usize..self.begin[key + 1] as usize
    }

    /// The operations of a key.
    pub(super) fn of(&self, key: usize) -> &[Op] {
        &self.ops[self.range(key)]
    }

    /// The operations of all keys.
    pub(super) fn all(&self) -> &[Op] {
        &self.ops
    }
}

/// Whether a transaction of unknown outcome would be observable if it had taken effect, and can have done so.
fn may_take_effect(
    history: &History,
    resolution: &Resolution,
    t: TransactionId,
    range: Range<usize>,
) -> bool {
    let (first, last) = (range.start, range.end - 1);
    let reads_something = |source: Source| {
        matches!(
            source,
            Source::Initial { .. }
                | Source::Transaction { .. }
                | Source::Unrecorded
                | Source::Ambiguous
        )
    };
    history.kinds()[last] == OperationKind::Write
        && (first == last || reads_something(resolution.source_in(t, OperationId::new(first))))
}

/// When a transaction ran, from the smallest to the largest number as far as unknown. One of unknown outcome may have
/// taken effect at any time after it began.
pub(super) fn ran(history: &History, t: TransactionId) -> Interval {
    let known = history.interval(t).unwrap_or(Interval {
        start: i64::MIN,
        end: i64::MAX,
    });
    match history.outcome(t) {
        Outcome::Unknown => Interval {
            end: i64::MAX,
            ..known
        },
        _ => known,
    }
}

/// Its source names an operation of the history.
fn operation(
    history: &History,
    resolution: &Resolution,
    t: TransactionId,
    range: Range<usize>,
    optional: bool,
) -> Op {
    let op = operation_by_value(history, t, range.clone(), optional);
    if !matches!(op.role, Role::Read | Role::Swap) {
        return op;
    }
    let source = match resolution.glance(OperationId::new(range.start)) {
        Glance::Initial => INITIAL,
        Glance::Write(write) => write.0,
        _ => NO_READ,
    };
    Op { source, ..op }
}

fn operation_by_value(
    history: &History,
    t: TransactionId,
    range: Range<usize>,
    optional: bool,
) -> Op {
    let Interval { start, end } = ran(history, t);
    let (first, last) = (range.start, range.end - 1);
    let writes = history.kinds()[last] == OperationKind::Write;
    let reads = history.kinds()[first] == OperationKind::Read;
    let is_recorded = reads && history.values()[first] != Value::UNRECORDED;
    let differs = || {
        history
            .differs_from(OperationId::new(first))
            .filter(|value| *value != Value::UNRECORDED)
    };
    let (role, value) = match (writes, is_recorded) {
        (true, true) => (Role::Swap, history.values()[last]),
        (true, false) => (Role::Write, history.values()[last]),
        (false, true) => (Role::Read, Value::UNRECORDED),
        (false, false) => differs().map_or((Role::Idle, Value::UNRECORDED), |value| {
            (Role::Differs, value)
        }),
    };
    Op {
        start,
        end,
        transaction: t,
        source: NO_READ,
        value,
        role,
        optional,
    }
}
