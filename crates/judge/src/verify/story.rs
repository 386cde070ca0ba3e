//! A commit order of a weak level with the version that each read returned.

use super::initial::Initial;
use super::lists;
use super::operations::writes_of;
use super::replay::{Attendance, Flaw, Version, warm_up};
use super::rows;
use isoscope_model::control::Control;
use isoscope_model::history::{
    DuplicateRule, History, Interval, KeyId, OperationId, OperationKind, Outcome, TransactionId,
    Value,
};
use rustc_hash::FxHashMap;

/// The writers of what reads returned, where the order does not determine them.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The writers that the witness names.
    pub named: &'a FxHashMap<OperationId, TransactionId>,
    /// The writers of other reads, given their transactions, ⊥ for the initial version; none where there are several or
    /// none.
    pub others: &'a (dyn Fn(TransactionId, OperationId) -> Option<TransactionId> + Sync),
}

/// A read that returns another transaction's version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) key: KeyId,
    /// The place of the writer in the order, from 1; 0 for the initial version.
    pub(super) from: u32,
    pub(super) operation: OperationId,
}

/// How many versions of a key are remembered.
const REMEMBERED: usize = 4;

/// The last versions of a key, the current one first.
type Versions = [Version; REMEMBERED];

/// An order of commits with the reads of each transaction.
pub(super) struct Story<'a> {
    pub(super) history: &'a History,
    pub(super) control: &'a Control,
    /// By place: the transactions in the order.
    pub(super) order: Vec<TransactionId>,
    /// In the order of their transactions.
    reads: Vec<Read>,
    /// By place: its first read; one entry more than places.
    begin: Vec<u32>,
}

impl<'a> Story<'a> {
    pub(super) fn new(
        history: &'a History,
        initial: &Initial,
        order: &[TransactionId],
        sources: Sources<'_>,
        control: &'a Control,
    ) -> Result<Story<'a>, Flaw> {
        let makers = lists::in_order(history, initial, order)?;
        let mut attendance = Attendance::new(history, initial, control)?;
        let n_reads = history.n_operations() / 2;
        control.needs(
            n_reads * size_of::<Read>()
                + order.len() * 8
                + history.n_keys() * size_of::<Versions>(),
        )?;
        let mut story = Story {
            history,
            control,
            order: Vec::with_capacity(order.len()),
            reads: Vec::with_capacity(n_reads),
            begin: Vec::with_capacity(order.len() + 1),
        };
        let finals = rows::Finals::new(history, initial);
        let mut versions = vec![[Version::INITIAL; REMEMBERED]; history.n_keys()];
        let (kinds, keys, values) = (history.kinds(), history.keys(), history.values());
        // The last of several writers of a value may be the one that counts, wherever it is in the order.
        let current_counts = history.rules().duplicates != DuplicateRule::Last;
        for (place, &t) in order.iter().enumerate() {
            warm_up(history, order, place, |key| versions[key.index()][0].number);
            if initial.is_setup(t) {
                continue;
            }
            attendance.commits(t)?;
            story.order.push(t);
            let number = story.order.len() as u32;
            story.begin.push(story.reads.len() as u32);
            for o in history.operation_range(t) {
                let (key, value) = (keys[o], values[o]);
                if kinds[o] == OperationKind::Write {
                    remember(&mut versions[key.index()], Version { value, number });
                    continue;
                }
                let (operation, known) = (OperationId::new(o), &versions[key.index()]);
                let there = known[0];
                let maker = if makers.is_empty() {
                    None
                } else {
                    makers.get(&operation)
                };
                if maker.is_none() && value == Value::UNRECORDED {
                    continue;
                }
                if value.is_of_scan()
                    && there.number != number
                    && finals.say_nothing(history, t, operation)
                {
                    continue;
                }
                if maker.is_none() && there.number == number {
                    if !there.explains(history, operation, value) {
                        return Err(story
                            .complaint(operation, "does not return the last own write")
                            .into());
                    }
                    continue;
                }
                let named = if sources.named.is_empty() {
                    None
                } else {
                    sources.named.get(&operation).copied()
                };
                let older = match (maker, named) {
                    (None, None) if current_counts => position(history, known, operation, value),
                    _ => None,
                };
                let from = match (older, maker, named) {
                    (Some(older), ..) => known[older].number,
                    (None, Some(None), _) => 0,
                    (None, Some(Some(append)), _) => {
                        let writer = history.transaction_of(*append);
                        if !is_final(history, writer, *append) {
                            return Err(story
                                .complaint(operation, "returns no final version")
                                .into());
                        }
                        story.before(&attendance, operation, writer, number)?
                    }
                    (None, None, _) => {
                        let writer = named.or_else(|| (sources.others)(t, operation));
                        let writer = writer.ok_or_else(|| story.unknown_writer(operation))?;
                        story.written_by(initial, &attendance, operation, writer, number)?
                    }
                };
                story.reads.push(Read {
                    key,
                    from,
                    operation,
                });
            }
        }
        attendance.is_complete()?;
        story.begin.push(story.reads.len() as u32);
        Ok(story)
    }

    fn complaint(&self, read: OperationId, what: &str) -> String {
        let name = self
            .history
            .transaction_name(self.history.transaction_of(read));
        format!("{} of {name} {what}", self.history.operation_text(read))
    }

    fn unknown_writer(&self, read: OperationId) -> Flaw {
        let (text, name) = (
            self.history.operation_text(read),
            self.history.transaction_of(read),
        );
        let name = self.history.transaction_name(name);
        Flaw::Wrong(format!(
            "it does not say who wrote what {text} of {name} returned"
        ))
    }

    /// The place of a writer, which must be before that of the reader.
    fn before(
        &self,
        attendance: &Attendance<'_>,
        read: OperationId,
        writer: TransactionId,
        reader: u32,
    ) -> Result<u32, Flaw> {
        match attendance.number[writer.index()] {
            from if (1..reader).contains(&from) => Ok(from),
            _ => Err(self.complaint(read, "comes before its writer").into()),
        }
    }

    /// The place of the claimed writer of a read, whose final version of the key must be what was read.
    fn written_by(
        &self,
        initial: &Initial,
        attendance: &Attendance<'_>,
        read: OperationId,
        writer: TransactionId,
        reader: u32,
    ) -> Result<u32, Flaw> {
        let history = self.history;
        let operation = history.operation(read);
        let wrong = || {
            self.complaint(
                read,
                "returns no committed, final version of another transaction",
            )
        };
        if writer.is_initial() {
            return if rows::explains(history, read, operation.value, None) {
                Ok(0)
            } else {
                Err(wrong().into())
            };
        }
        let last = writes_of(history, writer, operation.key).last();
        let is_there = last.is_some_and(|last| {
            let version = history.operation(last).value;
            rows::explains(history, read, operation.value, Some(version))
        });
        if !is_there || initial.is_setup(writer) {
            return Err(wrong().into());
        }
        self.before(attendance, read, writer, reader)
    }

    /// The transaction at a place.
    pub(super) fn transaction(&self, number: u32) -> TransactionId {
        self.order[number as usize - 1]
    }

    /// When the transaction at a place ran, if that is known.
    pub(super) fn interval(&self, number: u32) -> Option<Interval> {
        self.history.interval(self.transaction(number))
    }

    /// When the transaction at a place had ended, if that is known.
    pub(super) fn end(&self, number: u32) -> Option<i64> {
        let is_known = self.history.outcome(self.transaction(number)) != Outcome::Unknown;
        self.interval(number)
            .filter(|_| is_known)
            .map(|ran| ran.end)
    }

    /// The writes of the transaction at a place with their keys.
    pub(super) fn written(&self, number: u32) -> impl Iterator<Item = (usize, KeyId)> + '_ {
        let (kinds, keys) = (self.history.kinds(), self.history.keys());
        self.history
            .operation_range(self.transaction(number))
            .filter(|&o| kinds[o] == OperationKind::Write)
            .map(|o| (o, keys[o]))
    }

    /// The reads of the transaction at a place, in program order.
    pub(super) fn reads_at(&self, number: u32) -> &[Read] {
        &self.reads[self.begin[number as usize - 1] as usize..self.begin[number as usize] as usize]
    }

    /// The error that a read returns a version overwritten by a transaction that its reader sees.
    pub(super) fn overwritten(&self, read: Read, by: u32) -> Flaw {
        let by = self.history.transaction_name(self.order[by as usize - 1]);
        let what = format!("returns a version older than that of {by}, which it sees");
        Flaw::Wrong(self.complaint(read.operation, &what))
    }
}

/// Adds a version; only the last of one transaction counts.
fn remember(versions: &mut Versions, version: Version) {
    if versions[0].number != version.number {
        versions.copy_within(..REMEMBERED - 1, 1);
    }
    versions[0] = version;
}

/// The place of the newest of these versions that a read may return.
fn position(
    history: &History,
    versions: &Versions,
    read: OperationId,
    value: Value,
) -> Option<usize> {
    // Entries after the initial version are not filled yet.
    let n = versions
        .iter()
        .position(|version| version.number == 0)
        .map_or(REMEMBERED, |initial| initial + 1);
    versions[..n]
        .iter()
        .position(|version| version.explains(history, read, value))
}

/// Whether a write is the last of its transaction to its key.
fn is_final(history: &History, writer: TransactionId, write: OperationId) -> bool {
    writes_of(history, writer, history.operation(write).key).all(|o| o <= write)
}
