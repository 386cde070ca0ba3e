//! The join, key by key.

use super::grouped::Entry;
use super::{
    AMBIGUOUS, Exceptions, INITIAL, MultipleSources, OWN, SharedSources, Source, SourceList,
    Standing, THIN_AIR, UNRECORDED,
};
use crate::history::{
    DuplicateRule, History, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A write of the current key.
#[derive(Clone, Copy)]
pub(super) struct Write {
    pub(super) value: Value,
    operation: u32,
    pub(super) transaction: u32,
    /// The previous write of the same value, or [`NO_WRITE`].
    previous: u32,
}

const NO_WRITE: u32 = u32::MAX;

/// Joins the reads and writes of one key after another, reusing its memory.
pub(super) struct Join<'a> {
    pub(super) history: &'a History,
    pub(super) standing: &'a [Standing],
    code: &'a [AtomicU32],
    /// In order of operations, so those of a transaction are contiguous.
    pub(super) writes: Vec<Write>,
    /// Open addressing from values to their last write.
    table: Vec<u32>,
    shift: u32,
    /// The appends of set-up transactions: every list should begin with these elements.
    initial: Vec<Value>,
    /// By the last write of a value that was written very often: the sources of its reads, if they can share them.
    shared: FxHashMap<u32, Option<Arc<SharedSources>>>,
    /// Whether a transaction of unknown outcome wrote.
    is_in_doubt: bool,
    pub(super) exceptions: Exceptions,
}

impl<'a> Join<'a> {
    pub(super) fn new(
        history: &'a History,
        standing: &'a [Standing],
        code: &'a [AtomicU32],
    ) -> Join<'a> {
        let exceptions = Exceptions::default();
        Join {
            history,
            standing,
            code,
            writes: Vec::new(),
            table: Vec::new(),
            shift: 0,
            initial: Vec::new(),
            shared: FxHashMap::default(),
            is_in_doubt: false,
            exceptions,
        }
    }

    /// Resolves the reads of one key, given all its operations.
    pub(super) fn key(&mut self, entries: &[Entry]) {
        self.collect_writes(entries);
        let mut next_write = 0;
        let mut own: Option<u32> = None;
        let mut current = u32::MAX;
        for &Entry {
            operation,
            transaction,
        } in entries
        {
            if transaction != current {
                current = transaction;
                own = None;
            }
            if self
                .writes
                .get(next_write)
                .is_some_and(|write| write.operation == operation)
            {
                own = Some(next_write as u32);
                next_write += 1;
            } else if self.history.kinds()[operation as usize] == OperationKind::Read
                && !matches!(
                    self.standing[transaction as usize],
                    Standing::Aborted | Standing::Initial
                )
            {
                let code = self.read(operation, transaction, own);
                self.code[operation as usize].store(code, Ordering::Relaxed);
            }
        }
    }

    fn collect_writes(&mut self, entries: &[Entry]) {
        self.writes.clear();
        self.initial.clear();
        self.shared.clear();
        self.is_in_doubt = false;
        let (kinds, values) = (self.history.kinds(), self.history.values());
        for &Entry {
            operation,
            transaction,
        } in entries
        {
            let is_write = kinds[operation as usize] == OperationKind::Write;
            let standing = self.standing[transaction as usize];
            let is_initial = standing == Standing::Initial;
            let value = values[operation as usize];
            if is_write && is_initial {
                self.initial.push(value);
            } else if is_write {
                self.writes.push(Write {
                    value,
                    operation,
                    transaction,
                    previous: NO_WRITE,
                });
                self.is_in_doubt |= !matches!(standing, Standing::Committed | Standing::Aborted);
            }
        }
        let size = (self.writes.len() * 2).next_power_of_two().max(2);
        self.table.clear();
        self.table.resize(size, NO_WRITE);
        self.shift = 64 - size.trailing_zeros();
        for at in 0..self.writes.len() {
            let place = self.find(self.writes[at].value);
            let previous = std::mem::replace(&mut self.table[place], at as u32);
            self.writes[at].previous = previous;
            if let Some(before) = self.writes.get(previous as usize)
                && before.transaction != self.writes[at].transaction
                && self.writes[at].value != Value::ABSENT
            {
                let again = OperationId(self.writes[at].operation);
                self.exceptions
                    .repeated
                    .push((again, OperationId(before.operation)));
            }
        }
    }

    /// The place of a value in the table, or the free place where it belongs.
    fn find(&self, value: Value) -> usize {
        let mut place = (value.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        loop {
            match self.table[place] {
                NO_WRITE => return place,
                at if self.writes[at as usize].value == value => return place,
                _ => place = (place + 1) & (self.table.len() - 1),
            }
        }
    }

    /// Whether the transaction of a write wrote the key again.
    pub(super) fn is_overwritten(&self, write: u32) -> bool {
        let next = self.writes.get(write as usize + 1);
        next.is_some_and(|next| next.transaction == self.writes[write as usize].transaction)
    }

    /// The code of one read. `own` is the latest own write before it.
    fn read(&mut self, operation: u32, transaction: u32, own: Option<u32>) -> u32 {
        let value = self.history.values()[operation as usize];
        if value == Value::UNRECORDED {
            return UNRECORDED;
        }
        if value.is_of_scan() {
            return self.read_of_row(operation, transaction, own);
        }
        match self.history.lists().read_by(OperationId(operation)) {
            Some(list) => self.read_of_list(operation, transaction, own, list),
            None => self.read_of_value(operation, transaction, own, value),
        }
    }

    /// The code of a read of a list: that of its last element before the reader's own appends, which must be its tail.
    fn read_of_list(
        &mut self,
        operation: u32,
        transaction: u32,
        own: Option<u32>,
        list: &[Value],
    ) -> u32 {
        let of_reader = |write: &&Write| write.transaction == transaction;
        let until = own.map_or(0, |own| own as usize + 1);
        let n_own = self.writes[..until]
            .iter()
            .rev()
            .take_while(of_reader)
            .count();
        let own_values = self.writes[until - n_own..until]
            .iter()
            .map(|write| write.value);
        let n_outside = list.len().saturating_sub(n_own);
        let is_tail = list.len() >= n_own && own_values.eq(list[n_outside..].iter().copied());
        let (own, outside) = if is_tail {
            (None, &list[..n_outside])
        } else {
            (own, list)
        };
        let before_last = outside.split_last().map_or(&[][..], |(_, rest)| rest);
        let in_doubt = if self.is_in_doubt { before_last } else { &[] };
        let (n_initial, is_whole) = if outside.starts_with(&self.initial) {
            (self.initial.len(), true)
        } else {
            (0, false)
        };
        for &element in in_doubt.iter().skip(n_initial) {
            // If a list does not begin this way, elements of the set-up may be anywhere.
            if is_whole || !self.initial.contains(&element) {
                self.demand_writer(operation, transaction, element);
            }
        }
        let value = outside.last().copied().unwrap_or(Value::INITIAL);
        // After the elements of the set-up, an equal element must come from another append.
        if is_whole && outside.len() > n_initial && self.initial.contains(&value) {
            self.demand_writer(operation, transaction, value);
        }
        self.read_of_value(operation, transaction, own, value)
    }

    /// A committed transaction that sets nothing up appended this element of a list that was read, so if only one may have,
    /// it must have committed.
    fn demand_writer(&mut self, operation: u32, transaction: u32, element: Value) {
        let writes = std::iter::successors(Some(self.table[self.find(element)]), |&at| {
            self.writes.get(at as usize).map(|write| write.previous)
        });
        let writers = writes
            .filter_map(|at| self.writes.get(at as usize))
            .map(|write| write.transaction);
        let may_have = |writer: &u32| {
            !matches!(
                self.standing[*writer as usize],
                Standing::Aborted | Standing::Initial
            )
        };
        let mut writers = writers.filter(may_have);
        let Some(writer) = writers.next().filter(|&writer| writer != transaction) else {
            return;
        };
        let is_sure = self.standing[writer as usize] == Standing::Committed;
        if !is_sure && writers.all(|other| other == writer) {
            let reader = self.history.transaction_of(OperationId(operation));
            self.exceptions
                .demands
                .push((reader, TransactionId(writer)));
            self.exceptions.listed.push((reader, TransactionId(writer)));
        }
    }

    /// The code of a read that returned `value` from outside. `own` is the latest own write before it.
    fn read_of_value(
        &mut self,
        operation: u32,
        transaction: u32,
        own: Option<u32>,
        value: Value,
    ) -> u32 {
        if own.is_some_and(|own| self.writes[own as usize].value == value) {
            return OWN;
        }
        let last = self.table[self.find(value)];
        let may_be_initial = self
            .history
            .may_be_initial(self.history.keys()[operation as usize], value);
        if last == NO_WRITE {
            if !may_be_initial {
                return THIN_AIR;
            }
            if own.is_some() {
                self.exceptions.after_own_write.push(operation);
            }
            return INITIAL;
        }
        let write = self.writes[last as usize];
        let simple = write.previous == NO_WRITE
            && !may_be_initial
            && write.transaction != transaction
            && self.standing[write.transaction as usize] == Standing::Committed;
        if !simple {
            return self.read_carefully(operation, transaction, own, last, value);
        }
        if own.is_some() {
            self.exceptions.after_own_write.push(operation);
        }
        if self.is_overwritten(last) {
            self.exceptions.intermediate.push(operation);
        }
        write.operation
    }

    /// The code of a read whose value was written, but not by exactly one committed other transaction.
    fn read_carefully(
        &mut self,
        operation: u32,
        transaction: u32,
        own: Option<u32>,
        last: u32,
        value: Value,
    ) -> u32 {
        if own.is_none()
            && let Some(code) = self.read_of_many(operation, transaction, last, value)
        {
            return code;
        }
        let mut chain: Vec<u32> = std::iter::successors(Some(last), |&at| {
            Some(self.writes[at as usize].previous).filter(|&previous| previous != NO_WRITE)
        })
        .collect();
        chain.reverse();
        let key = self.history.keys()[operation as usize];
        let may_be_initial = self.history.may_be_initial(key, value);
        self.read_of_chain((operation, transaction), own, chain, may_be_initial)
    }

    /// The code of a read, given with its transaction, that one of these writes, which are ascending, or ⊥ explains.
    pub(super) fn read_of_chain(
        &mut self,
        (operation, transaction): (u32, u32),
        own: Option<u32>,
        chain: Vec<u32>,
        may_be_initial: bool,
    ) -> u32 {
        let after_own_write = own.is_some();
        let (own_writes, others): (Vec<u32>, Vec<u32>) = chain
            .into_iter()
            .partition(|&at| self.writes[at as usize].transaction == transaction);
        let own_operations = || {
            own_writes
                .iter()
                .map(|&at| OperationId(self.writes[at as usize].operation))
        };
        let read = OperationId(operation);
        // An element before all own appends was appended by another transaction, if any other may have.
        let is_aborted = |at: &u32| {
            self.standing[self.writes[*at as usize].transaction as usize] == Standing::Aborted
        };
        let may_be_of_others =
            own.is_none() && (may_be_initial || others.iter().any(|at| !is_aborted(at)));
        if let Some(overwritten) = own_operations()
            .rfind(|&write| write < read)
            .filter(|_| !may_be_of_others)
        {
            return overwritten.0;
        }
        let future = own_operations()
            .find(|&write| write > read)
            .map(|write| write.0);
        let (aborted, candidates): (Vec<u32>, Vec<u32>) = others.into_iter().partition(|&at| {
            self.standing[self.writes[at as usize].transaction as usize] == Standing::Aborted
        });
        let last_counts =
            self.history.rules().duplicates == DuplicateRule::Last && !self.history.has_rows();
        let candidates = match (last_counts, candidates.last()) {
            (true, Some(&last)) => vec![last],
            _ => candidates,
        };
        let mut found: Vec<Source> = Vec::new();
        for (place, &at) in candidates.iter().enumerate() {
            let write = self.writes[at as usize];
            // The last write of one transaction represents all.
            let again = candidates.get(place + 1);
            if again
                .is_some_and(|&next| self.writes[next as usize].transaction == write.transaction)
            {
                continue;
            }
            found.push(Source::Transaction {
                writer: TransactionId(write.transaction),
                write: OperationId(write.operation),
                intermediate: self.is_overwritten(at),
                after_own_write,
            });
        }
        found.sort_by_key(|source| {
            source
                .writer()
                .map(|w| self.standing[w.index()] != Standing::Committed)
        });
        if may_be_initial && (!last_counts || found.is_empty()) {
            found.push(Source::Initial { after_own_write });
        }
        let reader = TransactionId(transaction);
        if found.is_empty() {
            // One that began after the reader had ended is no source, and if there is none it was no aborted read.
            let may_be_seen = |at: &&u32| {
                !self.history.ended_before(
                    reader,
                    TransactionId(self.writes[**at as usize].transaction),
                )
            };
            let first = aborted
                .iter()
                .find(may_be_seen)
                .map(|&at| self.writes[at as usize].operation);
            return future.or(first).unwrap_or(THIN_AIR);
        }
        if after_own_write && found.len() > 1 {
            return self.settle(read, reader, found);
        }
        let kept = self.rule_out(&mut found, reader);
        let chosen = found[0];
        if found.len() > 1 {
            self.exceptions.multiple.push(MultipleSources {
                read,
                reader,
                kept,
                list: SourceList::Own(found.into()),
            });
        }
        if kept > 1 {
            AMBIGUOUS
        } else {
            self.accept(read, reader, chosen)
        }
    }

    /// The code of a read, before any own write, whose value was written so often that reads share their sources; `None` if
    /// they cannot. O(log writers) but for the first read of the value.
    fn read_of_many(
        &mut self,
        operation: u32,
        transaction: u32,
        last: u32,
        value: Value,
    ) -> Option<u32> {
        let all = match self.shared.get(&last) {
            Some(known) => known.clone(),
            None => {
                let all = self.shared_sources(operation, last, value);
                self.shared.entry(last).or_insert(all).clone()
            }
        }?;
        let (read, reader) = (OperationId(operation), TransactionId(transaction));
        let last_of_session = self.history.last_of_session(reader);
        let is_own = all.n_within(reader, reader);
        let n = all.sources.len() - is_own;
        let n_late = all.n_within(reader, last_of_session) - is_own;
        // Others than these are few.
        if n - n_late < 2 {
            return None;
        }
        let list = SourceList::Shared {
            all,
            last_of_session,
        };
        self.exceptions.multiple.push(MultipleSources {
            read,
            reader,
            kept: n - n_late,
            list,
        });
        Some(AMBIGUOUS)
    }

    /// The sources that all reads of a value can share: if it was written often, not only by aborted transactions, and no
    /// transaction wrote over it itself.
    fn shared_sources(
        &self,
        operation: u32,
        last: u32,
        value: Value,
    ) -> Option<Arc<SharedSources>> {
        /// Fewer are listed for each read.
        const MANY: usize = 16;
        let before = |&at: &u32| {
            Some(self.writes[at as usize].previous).filter(|&previous| previous != NO_WRITE)
        };
        let mut writes: Vec<u32> = std::iter::successors(Some(last), before).collect();
        if writes.len() < MANY || self.history.rules().duplicates == DuplicateRule::Last {
            return None;
        }
        writes.reverse();
        let standing = |at: u32| self.standing[self.writes[at as usize].transaction as usize];
        writes.retain(|&at| standing(at) != Standing::Aborted);
        if writes.iter().any(|&at| self.is_overwritten(at)) {
            return None;
        }
        writes.sort_by_key(|&at| standing(at) != Standing::Committed);
        let mut sources: Vec<Source> = writes
            .iter()
            .map(|&at| Source::Transaction {
                writer: TransactionId(self.writes[at as usize].transaction),
                write: OperationId(self.writes[at as usize].operation),
                intermediate: false,
                after_own_write: false,
            })
            .collect();
        let n_writers = sources.len();
        let n_committed = writes.partition_point(|&at| standing(at) == Standing::Committed);
        if self
            .history
            .may_be_initial(self.history.keys()[operation as usize], value)
        {
            sources.push(Source::Initial {
                after_own_write: false,
            });
        }
        Some(Arc::new(SharedSources {
            sources,
            n_committed,
            n_writers,
        }))
    }

    /// The code of a read after an own write that has several sources. Each makes it TAP-d, so there is nothing to
    /// choose above cut isolation, and nothing else follows: no transaction must have committed for it. The code is
    /// that of the most harmless source, for pictures.
    fn settle(
        &mut self,
        read: OperationId,
        reader: TransactionId,
        mut sources: Vec<Source>,
    ) -> u32 {
        let is_unknown = |source: &Source| {
            let writer = source.writer().filter(|writer| !writer.is_initial());
            writer.is_some_and(|writer| self.history.outcome(writer) == Outcome::Unknown)
        };
        sources.sort_by_key(|source| {
            (
                is_unknown(source),
                self.is_impossible_source(source, reader),
            )
        });
        let code = match sources[0] {
            Source::Transaction {
                write,
                intermediate,
                ..
            } => {
                if intermediate {
                    self.exceptions.intermediate.push(read.0);
                }
                write.0
            }
            _ => INITIAL,
        };
        self.exceptions.after_own_write.push(read.0);
        self.exceptions.multiple.push(MultipleSources {
            read,
            reader,
            kept: 1,
            list: SourceList::Own(sources.into()),
        });
        code
    }

    /// Moves the sources that violate read committed by themselves behind the others; returns the number of others.
    /// None is moved if all do.
    fn rule_out(&self, found: &mut [Source], reader: TransactionId) -> usize {
        found.sort_by_key(|source| self.is_impossible_source(source, reader));
        match found
            .iter()
            .filter(|source| !self.is_impossible_source(source, reader))
            .count()
        {
            0 => found.len().min(1),
            kept => kept,
        }
    }

    /// Whether reading from a source violates read committed whatever else happened: the writer overwrote the version,
    /// or is later in the reader's session.
    fn is_impossible_source(&self, source: &Source, reader: TransactionId) -> bool {
        let history = self.history;
        match *source {
            Source::Transaction {
                writer,
                intermediate,
                ..
            } => {
                intermediate
                    || (writer > reader && history.session_of(writer) == history.session_of(reader))
            }
            _ => false,
        }
    }

    /// Records the special cases of the source of a read and encodes it.
    fn accept(&mut self, read: OperationId, reader: TransactionId, source: Source) -> u32 {
        match source {
            Source::Initial { after_own_write } => {
                if after_own_write {
                    self.exceptions.after_own_write.push(read.0);
                }
                INITIAL
            }
            Source::Transaction {
                writer,
                write,
                intermediate,
                after_own_write,
            } => {
                if after_own_write {
                    self.exceptions.after_own_write.push(read.0);
                }
                if intermediate {
                    self.exceptions.intermediate.push(read.0);
                }
                if self.standing[writer.index()] != Standing::Committed {
                    self.exceptions.demands.push((reader, writer));
                }
                write.0
            }
            Source::Future { write }
            | Source::OwnOverwritten { write }
            | Source::Aborted { write, .. } => write.0,
            _ => THIN_AIR,
        }
    }
}
