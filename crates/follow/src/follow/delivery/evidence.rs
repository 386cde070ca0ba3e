//! What shows that reads of one transaction are wrong: the transaction, and those that it read from.

use super::{Delivery, Origin, Others, Version};
use crate::follow::delivered::Delivered;
use crate::follow::order::Seq;
use crate::follow::record::{Action, Atom, Record};
use isoscope_check::checkers::Pattern;
use isoscope_model::history::{OperationKind, Outcome};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::slice::from_ref;
use std::sync::Weak;

/// A part of the history that shows what is wrong with the reads of a transaction.
#[derive(Debug)]
pub(in crate::follow) struct Evidence {
    /// The transaction with those reads that the rest explains, and the writes of others, in the order of the file.
    pub(in crate::follow) records: Vec<Record>,
    /// Elements of lists that transactions of this part appended, or that no transaction did.
    pub(in crate::follow) elements: FxHashSet<Version>,
}

impl Delivery {
    /// A transaction that was just delivered, and those that show what is wrong with its reads. Reads from what is no longer
    /// remembered are left out: every level is closed under that. O(what they did).
    pub(in crate::follow) fn evidence(&self, t: &Delivered) -> Evidence {
        let mut readers = self.readers(t);
        let is_unwritten = |version: &Version| {
            t.wrong == Some(Pattern::ThinAirRead)
                && version.1 != Atom::Initial
                && !self.written.contains_key(version)
        };
        let own: FxHashSet<Version> = readers.values().flat_map(writes).collect();
        let (mut records, mut elements) = (BTreeMap::new(), FxHashSet::default());
        for (&reader, record) in &mut readers {
            record.operations.retain(|action| {
                let versions: Vec<Version> = read(action).collect();
                let origins = versions
                    .iter()
                    .filter_map(|version| self.written.get(version));
                let writers: Vec<(u64, Record)> = origins
                    .filter_map(|origin| self.writes_of(origin, reader))
                    .collect();
                // What its reader writes back is not its own.
                let is_own = |version: &Version| {
                    let origin = self.written.get(version);
                    own.contains(version)
                        && origin.is_none_or(|origin| origin.others != Others::One(reader))
                };
                let is_shown = |version: &Version| {
                    version.1 == Atom::Initial || is_own(version) || is_unwritten(version)
                };
                let is_kept =
                    action.list.is_some() || !writers.is_empty() || versions.iter().all(is_shown);
                elements.extend(versions.into_iter().filter(is_unwritten));
                records.extend(writers);
                is_kept
            });
        }
        records.extend(readers);
        elements.extend(records.values().flat_map(writes));
        Evidence {
            records: records.into_values().collect(),
            elements,
        }
    }

    /// The transaction, and others whose reads matter, by their arrival: if it read in a cycle, all that waited for it or
    /// wait; if lists contradict each other, the readers of the others.
    fn readers(&self, t: &Delivered) -> BTreeMap<u64, Record> {
        let mut readers = BTreeMap::from([(t.arrived, t.record.clone())]);
        let remembered = |seq: Seq| self.recent.get(&seq).and_then(Weak::upgrade);
        let mut others = Vec::new();
        match t.wrong {
            Some(Pattern::CyclicCO) => {
                let waiting = self.sessions.iter().flat_map(|session| &session.queue);
                readers.extend(waiting.map(|waiting| (waiting.arrived, waiting.record.clone())));
                others.extend((t.seq + 1..=self.delivered).filter_map(remembered));
            }
            Some(Pattern::IncompatibleOrder) => {
                let lists = t
                    .record
                    .operations
                    .iter()
                    .filter_map(|action| self.lists.get(&action.key));
                others.extend(lists.filter_map(|list| remembered(list.reader)));
            }
            _ => {}
        }
        readers.extend(
            others
                .iter()
                .map(|other| (other.arrived, other.record.clone())),
        );
        readers
    }

    /// What the transaction that wrote a version wrote, as far as it is remembered, by its arrival, if that is what this
    /// reader read.
    fn writes_of(&self, origin: &Origin, reader: u64) -> Option<(u64, Record)> {
        if origin.is_repeated_for(reader) {
            return None;
        }
        let delivered = || self.recent.get(&origin.seq).and_then(Weak::upgrade);
        let mut record = match origin.outcome {
            Outcome::Aborted => self.aborted.get(&origin.arrived)?.clone(),
            _ => delivered()?.record.clone(),
        };
        record.operations.retain(|action| action.is_write());
        Some((origin.arrived, record))
    }
}

/// The versions that an operation read.
fn read(action: &Action) -> impl Iterator<Item = Version> {
    let values = match (action.kind, action.list.as_deref()) {
        (OperationKind::Write, _) => &[],
        (OperationKind::Read, list) => list.unwrap_or(from_ref(&action.value)),
    };
    values.iter().map(|value| (action.key, value.clone()))
}

/// The versions that a transaction wrote.
fn writes(record: &Record) -> Vec<Version> {
    record.writes().map(Action::version).collect()
}
