//! Resolution of reads: a join of reads with writes on (key, value).
//!
//! All rules are about one key, so the operations are grouped by key once and the keys are worked off side by side;
//! for one key a small hash table from values to writes is filled and then asked in program order.

use super::initial_state::set_up_transactions;
use super::resolution::{
    AMBIGUOUS, INITIAL, MultipleSources, OUTSIDE, OWN, Resolution, Source, Standing, THIN_AIR, UNRECORDED, names,
};
use crate::control::{Control, Interrupt};
use crate::history::{DuplicateRule, History, OperationId, OperationKind, Outcome, TransactionId, Value};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Finds the source of every read of committed and unknown transactions.
///
/// The first rule that fits decides (Plume, Table 1, with the additions named in [`Source`]): the latest own write of
/// the key wrote the value; an older own write did; another transaction that committed or may have committed did, or
/// the value is the initial one; a later own write did; an aborted transaction did; nobody did. Where the third rule
/// offers several transactions, those that by themselves violate read committed (a version its writer overwrote, a
/// writer later in the same session) are ruled out first; if several remain, the read is ambiguous. After an own write
/// nothing follows from such a read but TAP-d, see [`Resolution::is_open_after_own_write`].
///
/// A transaction of unknown outcome takes part exactly if somebody who takes part reads from it; that is exact for all
/// levels, since they are closed under removing transactions.
///
/// Transactions that set up the initial state count as part of ⊥, see [`Resolution::merged_into_initial`].
///
/// O(operations) expected time, in parallel by keys in the current rayon pool; the result is the same for any number of
/// threads. About 12 bytes an operation while it runs, 4 after. Errors: only when `control` says to stop.
pub fn resolve(history: &History, control: &Control) -> Result<Resolution, Interrupt> {
    if history.n_operations() >= super::resolution::FIRST_SPECIAL as usize {
        return Err(Interrupt::MemoryLimit);
    }
    control.check()?;
    let set_up = set_up_transactions(history);
    let mut standing: Vec<Standing> = history
        .transactions()
        .map(|t| match history.outcome(t) {
            Outcome::Committed => Standing::Committed,
            Outcome::Aborted => Standing::Aborted,
            Outcome::Unknown => Standing::Dropped,
        })
        .collect();
    set_up.iter().for_each(|t| standing[t.index()] = Standing::Initial);
    let grouped = GroupedByKey::new(history);
    control.check()?;
    let code: Vec<AtomicU32> = (0..history.n_operations()).map(|_| AtomicU32::new(OUTSIDE)).collect();
    let exceptions: Vec<Exceptions> = grouped
        .parts()
        .into_par_iter()
        .map(|keys| {
            let mut join = Join::new(history, &standing, &code);
            for (done, key) in keys.enumerate() {
                if done % 1024 == 0 {
                    control.check()?;
                }
                join.key(grouped.of(key));
            }
            Ok(join.exceptions)
        })
        .collect::<Result<_, Interrupt>>()?;
    drop(grouped);
    let operation_begins = history.transactions().map(|t| history.operation_range(t).start as u32);
    let mut resolution = Resolution {
        code: code.into_iter().map(AtomicU32::into_inner).collect(),
        standing,
        operation_begin: operation_begins.chain([history.n_operations() as u32]).collect(),
        ..Resolution::default()
    };
    for mut part in exceptions {
        resolution.after_own_write.append(&mut part.after_own_write);
        resolution.intermediate.append(&mut part.intermediate);
        resolution.multiple.append(&mut part.multiple);
        resolution.demands.append(&mut part.demands);
        resolution.repeated.append(&mut part.repeated);
    }
    resolution.after_own_write.par_sort_unstable();
    resolution.intermediate.par_sort_unstable();
    resolution.multiple.par_sort_unstable_by_key(|multiple| multiple.read);
    resolution.repeated.par_sort_unstable();
    resolution.demands.sort_unstable();
    resolution.demands.dedup();
    settle_unknown(&mut resolution);
    resolution.assumptions = assumptions(history, &resolution, &set_up);
    Ok(resolution)
}

/// Decides which unknown transactions take part, and which reads are ambiguous.
fn settle_unknown(resolution: &mut Resolution) {
    let sure = resolution.demands.clone();
    spread(&mut resolution.standing, &sure, Standing::Promoted);
    let mut all = sure;
    for read in resolution.multiple.iter().filter(|read| read.kept > 1) {
        let writers = read.sources[..read.kept].iter().filter_map(|source| source.writer());
        all.extend(writers.filter(|writer| !writer.is_initial()).map(|writer| (read.reader, writer)));
    }
    all.sort_unstable();
    spread(&mut resolution.standing, &all, Standing::Possible);
    let stays = |multiple: &MultipleSources| {
        multiple.kept > 1 && !matches!(resolution.standing[multiple.reader.index()], Standing::Dropped)
    };
    let places = 0..resolution.multiple.len() as u32;
    resolution.ambiguous = places.filter(|&at| stays(&resolution.multiple[at as usize])).collect();
}

/// Gives `standing` to every dropped transaction that is reached from one that takes part by (reader, writer) pairs,
/// which are sorted.
fn spread(standings: &mut [Standing], pairs: &[(TransactionId, TransactionId)], standing: Standing) {
    let takes_part = |t: TransactionId, standings: &[Standing]| {
        matches!(standings[t.index()], Standing::Committed | Standing::Promoted)
    };
    let mut reached: Vec<TransactionId> = Vec::new();
    for &(reader, writer) in pairs {
        if takes_part(reader, standings) && standings[writer.index()] == Standing::Dropped {
            standings[writer.index()] = standing;
            reached.push(writer);
        }
    }
    while let Some(reader) = reached.pop() {
        let first = pairs.partition_point(|pair| pair.0 < reader);
        for &(_, writer) in pairs[first..].iter().take_while(|pair| pair.0 == reader) {
            if standings[writer.index()] == Standing::Dropped {
                standings[writer.index()] = standing;
                reached.push(writer);
            }
        }
    }
}

/// One sentence for each kind of assumption that was made.
fn assumptions(history: &History, resolution: &Resolution, set_up: &[TransactionId]) -> Vec<String> {
    let mut sentences = history.assumptions().to_vec();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    if !set_up.is_empty() && history.set_up().is_empty() {
        sentences.push(format!(
            "The set-up transaction{} {} counted as part of the initial state: only initial values are written there, \
             before anything else in the session, and nobody else writes them.",
            plural(set_up.len()),
            names(history, set_up) + if set_up.len() == 1 { " is" } else { " are" },
        ));
    }
    let promoted: Vec<TransactionId> = resolution.promoted().collect();
    if !promoted.is_empty() {
        sentences.push(format!(
            "{} transaction{} of unknown outcome must have committed, because others read from {}: {}.",
            promoted.len(),
            plural(promoted.len()),
            if promoted.len() == 1 { "it" } else { "them" },
            names(history, &promoted),
        ));
    }
    let dropped = resolution.dropped().count();
    if dropped > 0 {
        sentences.push(format!(
            "{dropped} transaction{} of unknown outcome {} left out: nobody read from {}, so no verdict depends on {}.",
            plural(dropped),
            if dropped == 1 { "is" } else { "are" },
            if dropped == 1 { "it" } else { "them" },
            if dropped == 1 { "it" } else { "them" },
        ));
    }
    let ambiguous = resolution.n_ambiguous();
    if ambiguous > 0 {
        sentences.push(format!(
            "{ambiguous} read{} several possible writers, because values were written more than once; a level counts \
             as satisfied if one choice of writers satisfies it.",
            if ambiguous == 1 { " has" } else { "s have" },
        ));
    }
    sentences
}

/// One operation among those of a key.
#[derive(Clone, Copy, Default)]
struct Entry {
    operation: u32,
    transaction: u32,
}

/// Operations by key, in the order of their ids for each key.
struct GroupedByKey {
    begin: Vec<u32>,
    entries: Vec<Entry>,
    parts: Vec<Range<usize>>,
}

impl GroupedByKey {
    fn new(history: &History) -> GroupedByKey {
        let keys = history.keys();
        let mut begin = vec![0u32; history.n_keys() + 1];
        keys.iter().for_each(|key| begin[key.index() + 1] += 1);
        for key in 0..history.n_keys() {
            begin[key + 1] += begin[key];
        }
        let parts = equal_parts(&begin);
        let mut entries = vec![Entry::default(); keys.len()];
        let mut rest = entries.as_mut_slice();
        let mut work = Vec::with_capacity(parts.len());
        for part in &parts {
            let (mine, others) = rest.split_at_mut((begin[part.end] - begin[part.start]) as usize);
            work.push((part.clone(), mine));
            rest = others;
        }
        // Each part looks at all keys, but writes its own entries only: looking is cheap, scattered writing is not.
        work.into_par_iter().for_each(|(part, entries)| {
            let offset = begin[part.start];
            let mut next: Vec<u32> = begin[part.clone()].iter().map(|&b| b - offset).collect();
            for t in history.transactions() {
                for operation in history.operation_range(t) {
                    let key = keys[operation].index();
                    if part.contains(&key) {
                        let place = &mut next[key - part.start];
                        entries[*place as usize] = Entry { operation: operation as u32, transaction: t.0 };
                        *place += 1;
                    }
                }
            }
        });
        GroupedByKey { begin, entries, parts }
    }

    fn parts(&self) -> Vec<Range<usize>> {
        self.parts.clone()
    }

    fn of(&self, key: usize) -> &[Entry] {
        &self.entries[self.begin[key] as usize..self.begin[key + 1] as usize]
    }
}

/// Ranges of keys with about equally many operations, some for each thread; one range for small histories.
fn equal_parts(begin: &[u32]) -> Vec<Range<usize>> {
    let n_keys = begin.len() - 1;
    let operations = begin[n_keys] as usize;
    let wanted = if operations < 1 << 16 { 1 } else { (rayon::current_num_threads() * 2).min(32) };
    let mut parts = Vec::with_capacity(wanted);
    let mut start = 0;
    for part in 1..=wanted {
        let goal = (operations * part / wanted) as u32;
        let end = if part == wanted { n_keys } else { begin.partition_point(|&b| b < goal).min(n_keys) };
        if end > start {
            parts.push(start..end);
            start = end;
        }
    }
    parts
}

/// What is not common enough to be kept for every operation.
#[derive(Default)]
struct Exceptions {
    after_own_write: Vec<u32>,
    intermediate: Vec<u32>,
    multiple: Vec<MultipleSources>,
    demands: Vec<(TransactionId, TransactionId)>,
    repeated: Vec<(OperationId, OperationId)>,
}

/// A write of the key in hand.
#[derive(Clone, Copy)]
struct Write {
    value: Value,
    operation: u32,
    transaction: u32,
    /// The previous write of the same value, or [`NO_WRITE`].
    previous: u32,
}

const NO_WRITE: u32 = u32::MAX;

/// Joins the reads and writes of one key after another, reusing its memory.
struct Join<'a> {
    history: &'a History,
    standing: &'a [Standing],
    code: &'a [AtomicU32],
    /// In order of operations, so those of a transaction stand side by side.
    writes: Vec<Write>,
    /// Open addressing from values to their last write.
    table: Vec<u32>,
    shift: u32,
    exceptions: Exceptions,
}

impl<'a> Join<'a> {
    fn new(history: &'a History, standing: &'a [Standing], code: &'a [AtomicU32]) -> Join<'a> {
        let exceptions = Exceptions::default();
        Join { history, standing, code, writes: Vec::new(), table: Vec::new(), shift: 0, exceptions }
    }

    /// Resolves the reads of one key, given all its operations.
    fn key(&mut self, entries: &[Entry]) {
        self.collect_writes(entries);
        let mut next_write = 0;
        let mut own: Option<u32> = None;
        let mut current = u32::MAX;
        for &Entry { operation, transaction } in entries {
            if transaction != current {
                current = transaction;
                own = None;
            }
            if self.writes.get(next_write).is_some_and(|write| write.operation == operation) {
                own = Some(next_write as u32);
                next_write += 1;
            } else if self.history.kinds()[operation as usize] == OperationKind::Read
                && self.standing[transaction as usize] != Standing::Aborted
            {
                let code = self.read(operation, transaction, own);
                self.code[operation as usize].store(code, Ordering::Relaxed);
            }
        }
    }

    fn collect_writes(&mut self, entries: &[Entry]) {
        self.writes.clear();
        let (kinds, values) = (self.history.kinds(), self.history.values());
        for &Entry { operation, transaction } in entries {
            let counts = kinds[operation as usize] == OperationKind::Write
                && self.standing[transaction as usize] != Standing::Initial;
            if counts {
                let value = values[operation as usize];
                self.writes.push(Write { value, operation, transaction, previous: NO_WRITE });
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
            {
                let again = OperationId(self.writes[at].operation);
                self.exceptions.repeated.push((again, OperationId(before.operation)));
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
    fn is_overwritten(&self, write: u32) -> bool {
        let next = self.writes.get(write as usize + 1);
        next.is_some_and(|next| next.transaction == self.writes[write as usize].transaction)
    }

    /// The code of one read. `own` is the latest own write before it.
    fn read(&mut self, operation: u32, transaction: u32, own: Option<u32>) -> u32 {
        let value = self.history.values()[operation as usize];
        if value == Value::UNRECORDED {
            return UNRECORDED;
        }
        match self.history.lists().read_by(OperationId(operation)) {
            Some(list) => self.read_of_list(operation, transaction, own, list),
            None => self.read_of_value(operation, transaction, own, value),
        }
    }

    /// The code of a read of a list: that of its last element before the reader's own appends, which must be its tail.
    fn read_of_list(&mut self, operation: u32, transaction: u32, own: Option<u32>, list: &[Value]) -> u32 {
        let of_reader = |write: &&Write| write.transaction == transaction;
        let until = own.map_or(0, |own| own as usize + 1);
        let n_own = self.writes[..until].iter().rev().take_while(of_reader).count();
        let own_values = self.writes[until - n_own..until].iter().map(|write| write.value);
        let n_outside = list.len().saturating_sub(n_own);
        let is_tail = list.len() >= n_own && own_values.eq(list[n_outside..].iter().copied());
        let (own, outside) = if is_tail { (None, &list[..n_outside]) } else { (own, list) };
        for &element in outside.split_last().map_or(&[][..], |(_, rest)| rest) {
            self.demand_writer(operation, transaction, element);
        }
        let value = outside.last().copied().unwrap_or(Value::INITIAL);
        self.read_of_value(operation, transaction, own, value)
    }

    /// Somebody appended this element of a list that was read, so if only one transaction may have, it must have committed.
    fn demand_writer(&mut self, operation: u32, transaction: u32, element: Value) {
        let writes = std::iter::successors(Some(self.table[self.find(element)]), |&at| {
            self.writes.get(at as usize).map(|write| write.previous)
        });
        let writers = writes.filter_map(|at| self.writes.get(at as usize)).map(|write| write.transaction);
        let mut writers = writers.filter(|&writer| self.standing[writer as usize] != Standing::Aborted);
        let Some(writer) = writers.next().filter(|&writer| writer != transaction) else { return };
        let is_sure = self.standing[writer as usize] == Standing::Committed;
        if !is_sure && writers.all(|other| other == writer) {
            let reader = self.history.transaction_of(OperationId(operation));
            self.exceptions.demands.push((reader, TransactionId(writer)));
        }
    }

    /// The code of a read that returned `value` from outside. `own` is the latest own write before it.
    fn read_of_value(&mut self, operation: u32, transaction: u32, own: Option<u32>, value: Value) -> u32 {
        if own.is_some_and(|own| self.writes[own as usize].value == value) {
            return OWN;
        }
        let last = self.table[self.find(value)];
        let may_be_initial = self.history.may_be_initial(self.history.keys()[operation as usize], value);
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
    fn read_carefully(&mut self, operation: u32, transaction: u32, own: Option<u32>, last: u32, value: Value) -> u32 {
        let after_own_write = own.is_some();
        let mut chain: Vec<u32> = std::iter::successors(Some(last), |&at| {
            Some(self.writes[at as usize].previous).filter(|&previous| previous != NO_WRITE)
        })
        .collect();
        chain.reverse();
        let (own_writes, others): (Vec<u32>, Vec<u32>) =
            chain.into_iter().partition(|&at| self.writes[at as usize].transaction == transaction);
        let own_operations = || own_writes.iter().map(|&at| OperationId(self.writes[at as usize].operation));
        let read = OperationId(operation);
        // What stands in a list before all own appends another one appended, if any other may have.
        let is_aborted = |at: &u32| self.standing[self.writes[*at as usize].transaction as usize] == Standing::Aborted;
        let may_be_of_others = own.is_none() && others.iter().any(|at| !is_aborted(at));
        if let Some(overwritten) = own_operations().rfind(|&write| write < read).filter(|_| !may_be_of_others) {
            return overwritten.0;
        }
        let future = own_operations().find(|&write| write > read).map(|write| write.0);
        let (aborted, candidates): (Vec<u32>, Vec<u32>) = others
            .into_iter()
            .partition(|&at| self.standing[self.writes[at as usize].transaction as usize] == Standing::Aborted);
        let last_counts = self.history.rules().duplicates == DuplicateRule::Last;
        let candidates = match (last_counts, candidates.last()) {
            (true, Some(&last)) => vec![last],
            _ => candidates,
        };
        let mut found: Vec<Source> = Vec::new();
        for (place, &at) in candidates.iter().enumerate() {
            let write = self.writes[at as usize];
            // Of the writes of one transaction the last one stands for all.
            let again = candidates.get(place + 1);
            if again.is_some_and(|&next| self.writes[next as usize].transaction == write.transaction) {
                continue;
            }
            found.push(Source::Transaction {
                writer: TransactionId(write.transaction),
                write: OperationId(write.operation),
                intermediate: self.is_overwritten(at),
                after_own_write,
            });
        }
        found.sort_by_key(|source| source.writer().map(|w| self.standing[w.index()] != Standing::Committed));
        let may_be_initial = self.history.may_be_initial(self.history.keys()[operation as usize], value);
        if may_be_initial && (!last_counts || found.is_empty()) {
            found.push(Source::Initial { after_own_write });
        }
        let reader = TransactionId(transaction);
        if found.is_empty() {
            let first = aborted.first().map(|&at| self.writes[at as usize].operation);
            return future.or(first).unwrap_or(THIN_AIR);
        }
        if after_own_write && found.len() > 1 {
            return self.settle(read, reader, found);
        }
        let kept = self.rule_out(&mut found, reader);
        let chosen = found[0];
        if found.len() > 1 {
            self.exceptions.multiple.push(MultipleSources { read, reader, sources: found, kept });
        }
        if kept > 1 { AMBIGUOUS } else { self.accept(read, reader, chosen) }
    }

    /// The code of a read after an own write that has several sources. Each makes it TAP-d, so there is nothing to
    /// choose above cut isolation, and nothing else follows: nobody must have committed for it. The code is that of the
    /// most harmless source, for pictures.
    fn settle(&mut self, read: OperationId, reader: TransactionId, mut sources: Vec<Source>) -> u32 {
        let is_unknown = |source: &Source| {
            let writer = source.writer().filter(|writer| !writer.is_initial());
            writer.is_some_and(|writer| self.history.outcome(writer) == Outcome::Unknown)
        };
        sources.sort_by_key(|source| (is_unknown(source), self.is_hopeless(source, reader)));
        let code = match sources[0] {
            Source::Transaction { write, intermediate, .. } => {
                if intermediate {
                    self.exceptions.intermediate.push(read.0);
                }
                write.0
            }
            _ => INITIAL,
        };
        self.exceptions.after_own_write.push(read.0);
        self.exceptions.multiple.push(MultipleSources { read, reader, sources, kept: 1 });
        code
    }

    /// Moves the sources that violate read committed by themselves behind the others; how many others there are. None
    /// is moved if all do.
    fn rule_out(&self, found: &mut [Source], reader: TransactionId) -> usize {
        found.sort_by_key(|source| self.is_hopeless(source, reader));
        match found.iter().filter(|source| !self.is_hopeless(source, reader)).count() {
            0 => found.len().min(1),
            kept => kept,
        }
    }

    /// Whether reading from a source violates read committed whatever else happened: the writer overwrote the version,
    /// or stands later in the reader's session.
    fn is_hopeless(&self, source: &Source, reader: TransactionId) -> bool {
        let history = self.history;
        match *source {
            Source::Transaction { writer, intermediate, .. } => {
                intermediate || (writer > reader && history.session_of(writer) == history.session_of(reader))
            }
            _ => false,
        }
    }

    /// Notes what is special about the source of a read and encodes it.
    fn accept(&mut self, read: OperationId, reader: TransactionId, source: Source) -> u32 {
        match source {
            Source::Initial { after_own_write } => {
                if after_own_write {
                    self.exceptions.after_own_write.push(read.0);
                }
                INITIAL
            }
            Source::Transaction { writer, write, intermediate, after_own_write } => {
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
            Source::Future { write } | Source::OwnOverwritten { write } | Source::Aborted { write, .. } => write.0,
            _ => THIN_AIR,
        }
    }
}
