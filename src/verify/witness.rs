//! Satisfied levels: a commit order, replayed operation by operation.

use super::resolution::{Resolution, Source};
use super::{SessionNames, causal, cut, linear, lists};
use crate::history::{History, KeyId, ListRule, OperationId, OperationKind, Outcome, TransactionId, Value};
use crate::report::LevelEntry;
use rustc_hash::FxHashMap;

/// Whether the witness of a satisfied level explains the history; `Ok(false)` when there is none. CI needs no witness
/// and is always checked.
pub(super) fn check(
    history: &History,
    resolution: &Resolution<'_>,
    names: &SessionNames,
    level: &LevelEntry,
) -> Result<bool, String> {
    if level.level == "CI" {
        return cut::satisfied(history, resolution).map(|()| true);
    }
    let Some(entries) = &level.witness else { return Ok(false) };
    if history.rules().lists == ListRule::Merge && !history.lists().is_empty() {
        // What a merged list says of other versions than its own is not defined, so there is nothing to replay.
        return Ok(false);
    }
    let order = entries.iter().map(|entry| names.find(history, entry)).collect::<Result<Vec<_>, _>>()?;
    let order = Order::new(history, resolution, order)?;
    match level.level.as_str() {
        "SER" => serial(history, resolution, &order),
        "SSER" => serial(history, resolution, &order).and_then(|()| in_real_time(history, &order)),
        "LIN" => {
            linear::is_lightweight(history)?;
            serial(history, resolution, &order)?;
            linear::comparisons_fit(history, &order.transactions, resolution)?;
            in_real_time(history, &order)
        }
        "PC" | "SI" => {
            let snapshots = level.snapshots.as_ref().ok_or("it has no snapshots")?;
            snapshot(history, resolution, &order, snapshots, level.level == "SI")
        }
        // A serial witness is one of every weaker level, and quicker to replay.
        "RC" | "RA" | "TCC" if serial(history, resolution, &order).is_ok() => Ok(()),
        "RC" | "RA" | "TCC" => {
            let makers = lists::in_order(history, resolution, &order)?;
            let sources = sources(history, resolution, names, level)?;
            let weak = Weak::new(history, resolution, (&sources, &makers), &order)?;
            match level.level.as_str() {
                "RC" => weak.read_committed(),
                "RA" => weak.read_atomic(),
                _ => weak.causal(),
            }
        }
        other => Err(format!("unknown level {other}")),
    }?;
    Ok(true)
}

/// The writers that a witness says some reads have, by operation. O(sources · writers of their values).
fn sources(
    history: &History,
    resolution: &Resolution<'_>,
    names: &SessionNames,
    level: &LevelEntry,
) -> Result<FxHashMap<OperationId, TransactionId>, String> {
    let mut sources = FxHashMap::default();
    for entry in level.sources.iter().flatten() {
        let reader = names.find(history, &entry.reader)?;
        let read = super::read::operation(history, &[reader], 0, entry.operation)?;
        let writer = names.find(history, &entry.writer)?;
        if history.operation(read).kind != OperationKind::Read || !resolution.each_writer(read).any(|w| w == writer) {
            let (text, name) = (history.operation_text(read), history.transaction_name(writer));
            return Err(format!("{text} cannot have returned what {name} wrote"));
        }
        sources.insert(read, writer);
    }
    Ok(sources)
}

/// A commit order of all transactions that take part.
pub(super) struct Order {
    /// The transactions, first to commit first. Set-up transactions come first even where the witness omits them.
    pub(super) transactions: Vec<TransactionId>,
    /// By transaction: its place in the order, or [`ABSENT`].
    pub(super) place: Vec<u32>,
    /// How many set-up transactions were put in front.
    n_setup: usize,
}

/// The transaction is not in the order.
pub(super) const ABSENT: u32 = u32::MAX;

impl Order {
    /// Every transaction that takes part stands in the order, once, and sessions are in session order.
    fn new(history: &History, resolution: &Resolution<'_>, listed: Vec<TransactionId>) -> Result<Order, String> {
        let mut is_listed = vec![false; history.n_transactions()];
        for &t in &listed {
            if t.is_initial() || std::mem::replace(&mut is_listed[t.index()], true) {
                return Err(format!("{} stands in the order twice", history.transaction_name(t)));
            }
            if history.outcome(t) == Outcome::Aborted {
                return Err(format!("{} is in the order but did not commit", history.transaction_name(t)));
            }
        }
        let mut transactions: Vec<TransactionId> =
            history.transactions().filter(|&t| resolution.is_setup(t) && !is_listed[t.index()]).collect();
        let n_setup = transactions.len();
        transactions.extend(listed);
        let mut place = vec![ABSENT; history.n_transactions()];
        for (p, t) in transactions.iter().enumerate() {
            place[t.index()] = p as u32;
        }
        for session in history.sessions() {
            let mut last = None;
            let takes_part = |&t: &TransactionId| history.outcome(t) != Outcome::Aborted && !resolution.is_setup(t);
            for t in history.transactions_of(session).filter(takes_part) {
                let at = place[t.index()];
                if at == ABSENT && (!resolution.is_member(t) || history.operations_of(t).len() == 0) {
                    continue;
                }
                if at == ABSENT {
                    return Err(format!("{} is missing from the order", history.transaction_name(t)));
                }
                if last.is_some_and(|last| last >= at) {
                    return Err(format!("{} stands before its session predecessor", history.transaction_name(t)));
                }
                last = Some(at);
            }
        }
        Ok(Order { transactions, place, n_setup })
    }
}

/// Whether a read may return a version: `None` is the initial one.
fn returns(history: &History, key: KeyId, read: Value, version: Option<Value>) -> bool {
    match version {
        Some(written) => read == written,
        None => history.may_be_initial(key, read),
    }
}

fn wrong_read(history: &History, t: TransactionId, read: OperationId, version: Option<Value>) -> String {
    let is = version.map_or_else(|| "the initial one".to_owned(), |value| history.value_name(value));
    let name = history.transaction_name(t);
    format!("{} of {name} does not return the current version, which is {is}", history.operation_text(read))
}

/// Runs the operations of a transaction: reads of own writes must return the last of them, others what `visible`
/// says; of lists what was there before the own appends must be what `list_is` says. Leaves in `own` the writes of each
/// key in their order.
fn run(
    history: &History,
    t: TransactionId,
    own: &mut FxHashMap<u32, Vec<Value>>,
    visible: impl Fn(u32) -> Option<Value>,
    list_is: impl Fn(u32, &[Value]) -> bool,
) -> Result<(), String> {
    own.clear();
    for o in history.operations_of(t) {
        let operation = history.operation(o);
        if let Some((list, own_are_last)) = lists::found(history, t, o) {
            if !own_are_last || !list_is(operation.key.0, list) {
                let (text, name) = (history.operation_text(o), history.transaction_name(t));
                return Err(format!("{text} of {name} is not the list that was appended until then"));
            }
            continue;
        }
        match operation.kind {
            OperationKind::Write => {
                own.entry(operation.key.0).or_default().push(operation.value);
            }
            OperationKind::Read if operation.value == Value::UNRECORDED => {}
            OperationKind::Read => match own.get(&operation.key.0).and_then(|own| own.last()) {
                Some(&value) if operation.value == value => {}
                Some(&value) => return Err(wrong_read(history, t, o, Some(value))),
                None => {
                    let version = visible(operation.key.0);
                    if !returns(history, operation.key, operation.value, version) {
                        return Err(wrong_read(history, t, o, version));
                    }
                }
            },
        }
    }
    Ok(())
}

/// One after the other: every read returns the current version. O(operations).
fn serial(history: &History, resolution: &Resolution<'_>, order: &Order) -> Result<(), String> {
    let mut current: Vec<Option<Value>> = vec![None; history.n_keys()];
    let begin = |key: KeyId| (key.0, resolution.initial_elements(key).collect());
    let mut lists: FxHashMap<u32, Vec<Value>> = resolution.initial_keys().map(begin).collect();
    let mut own = FxHashMap::default();
    for &t in order.transactions.iter().filter(|&&t| !resolution.is_setup(t)) {
        let is = |key: u32, list: &[Value]| lists.get(&key).map_or(&[][..], Vec::as_slice) == list;
        run(history, t, &mut own, |key| current[key as usize], is)?;
        for (&key, values) in &own {
            current[key as usize] = values.last().copied();
            if history.lists().is_list(KeyId(key)) {
                lists.entry(key).or_default().extend(values);
            }
        }
    }
    Ok(())
}

/// No transaction stands after one that began later than it ended; the initial state has no time. O(transactions).
fn in_real_time(history: &History, order: &Order) -> Result<(), String> {
    let mut latest_start: Option<i64> = None;
    for &t in &order.transactions[order.n_setup..] {
        let Some(interval) = history.interval(t) else { continue };
        // One of unknown outcome may have committed at any later time.
        let ended = history.outcome(t) != Outcome::Unknown;
        if ended && latest_start.is_some_and(|start| interval.end < start) {
            return Err(format!("{} ended before one that stands before it began", history.transaction_name(t)));
        }
        latest_start = latest_start.max(Some(interval.start));
    }
    Ok(())
}

/// Every read returns the version current at the snapshot of its transaction; the snapshot contains the session's
/// past; at SI no key a transaction writes is written between its snapshot and its commit. O(operations log
/// versions).
fn snapshot(
    history: &History,
    resolution: &Resolution<'_>,
    order: &Order,
    snapshots: &[u32],
    conflicts: bool,
) -> Result<(), String> {
    if snapshots.len() + order.n_setup != order.transactions.len() {
        return Err(format!("{} snapshots for {} transactions", snapshots.len(), order.transactions.len()));
    }
    let mut versions: Vec<Vec<(u32, Value)>> = vec![Vec::new(); history.n_keys()];
    let mut session_place: Vec<Option<u32>> = vec![None; history.n_sessions()];
    let mut own = FxHashMap::default();
    for (place, &t) in order.transactions.iter().enumerate() {
        let place = place as u32;
        // The initial state is in every snapshot.
        let taken = match place.checked_sub(order.n_setup as u32) {
            Some(listed) => snapshots[listed as usize].saturating_add(order.n_setup as u32),
            None => place,
        };
        let name = || history.transaction_name(t);
        if taken > place {
            return Err(format!("the snapshot of {} contains its own commit", name()));
        }
        let session = &mut session_place[history.session_of(t).index()];
        if session.replace(place).is_some_and(|previous| previous >= taken) {
            return Err(format!("the snapshot of {} lacks its session predecessor", name()));
        }
        if resolution.is_setup(t) {
            continue;
        }
        let at = |key: u32| {
            let of_key = &versions[key as usize];
            let n = of_key.partition_point(|(committed, _)| *committed < taken);
            of_key[..n].last().map(|(_, value)| *value)
        };
        let is = |key: u32, list: &[Value]| {
            let of_key = &versions[key as usize];
            let n = of_key.partition_point(|(committed, _)| *committed < taken);
            let appended = of_key[..n].iter().map(|&(_, value)| value);
            resolution.initial_elements(KeyId(key)).chain(appended).eq(list.iter().copied())
        };
        run(history, t, &mut own, at, is)?;
        for (&key, values) in &own {
            let of_key = &mut versions[key as usize];
            if conflicts && of_key.last().is_some_and(|(committed, _)| *committed >= taken) {
                let key = history.key_name(KeyId(key));
                return Err(format!("key {key}, which {} writes, was written since its snapshot", name()));
            }
            match history.lists().is_list(KeyId(key)) {
                true => of_key.extend(values.iter().map(|&value| (place, value))),
                false => of_key.extend(values.last().map(|&value| (place, value))),
            }
        }
    }
    Ok(())
}

/// An external read of a transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExternalRead {
    pub(super) key: u32,
    /// Who wrote what it returns.
    pub(super) writer: TransactionId,
    /// Its position among the operations of the history.
    pub(super) operation: OperationId,
}

/// Who wrote what: by read, as the witness says, and by read of a list, the append that made its last element, as the order
/// says.
type Sources<'a> = (&'a FxHashMap<OperationId, TransactionId>, &'a FxHashMap<OperationId, Option<OperationId>>);

/// What the weak levels need: external reads and final writes by transaction.
pub(super) struct Weak<'a> {
    pub(super) history: &'a History,
    pub(super) order: &'a Order,
    /// By transaction: its external reads in program order.
    reads: Vec<ExternalRead>,
    read_begin: Vec<u32>,
    /// By transaction: the keys it writes, ascending.
    written: Vec<u32>,
    written_begin: Vec<u32>,
}

impl<'a> Weak<'a> {
    /// Resolves every read of the order; also checks that each returns a final, committed version that precedes its
    /// reader.
    fn new(
        history: &'a History,
        resolution: &Resolution<'_>,
        sources: Sources<'_>,
        order: &'a Order,
    ) -> Result<Weak<'a>, String> {
        let mut weak =
            Weak { history, order, reads: vec![], read_begin: vec![0], written: vec![], written_begin: vec![0] };
        for t in history.transactions() {
            if order.place[t.index()] != ABSENT {
                weak.add(resolution, sources, t)?;
            }
            weak.read_begin.push(weak.reads.len() as u32);
            weak.written_begin.push(weak.written.len() as u32);
        }
        Ok(weak)
    }

    fn add(
        &mut self,
        resolution: &Resolution<'_>,
        (sources, makers): Sources<'_>,
        t: TransactionId,
    ) -> Result<(), String> {
        if resolution.is_setup(t) {
            return Ok(());
        }
        let from = self.written.len();
        for o in self.history.operations_of(t) {
            let operation = self.history.operation(o);
            if operation.kind == OperationKind::Write {
                if resolution.is_final(o) {
                    self.written.push(operation.key.0);
                }
                continue;
            }
            let source = match (resolution.source(o), sources.get(&o)) {
                // The order of the appends says which of them made an element.
                _ if let Some(&maker) = makers.get(&o) => Source::Other {
                    writer: maker.map_or(TransactionId::INITIAL, |append| resolution.owner(append)),
                    after_own_write: false,
                    intermediate: maker.is_some_and(|o| resolution.owner(o) == t || !resolution.is_final(o)),
                },
                (Source::Ambiguous, Some(&writer)) => resolution.source_with(o, writer),
                (source, _) => source,
            };
            let writer = match source {
                Source::Unrecorded | Source::Own => continue,
                Source::Other { after_own_write: false, intermediate: false, writer } => writer,
                Source::Ambiguous => {
                    let (text, name) = (self.history.operation_text(o), self.history.transaction_name(t));
                    return Err(format!("it does not say who wrote what {text} of {name} returned"));
                }
                _ => {
                    let (text, name) = (self.history.operation_text(o), self.history.transaction_name(t));
                    return Err(format!("{text} of {name} returns no committed, final version of another transaction"));
                }
            };
            if !writer.is_initial() && self.order.place[writer.index()] >= self.order.place[t.index()] {
                let (text, name) = (self.history.operation_text(o), self.history.transaction_name(t));
                return Err(format!("{text} of {name} stands before its writer"));
            }
            self.reads.push(ExternalRead { key: operation.key.0, writer, operation: o });
        }
        self.written[from..].sort_unstable();
        Ok(())
    }

    pub(super) fn reads_of(&self, t: TransactionId) -> &[ExternalRead] {
        &self.reads[self.read_begin[t.index()] as usize..self.read_begin[t.index() + 1] as usize]
    }

    pub(super) fn written_by(&self, t: TransactionId) -> &[u32] {
        &self.written[self.written_begin[t.index()] as usize..self.written_begin[t.index() + 1] as usize]
    }

    /// t2, which t3 sees and which writes the key, must not stand after the writer of t3's read.
    pub(super) fn not_after(&self, t2: TransactionId, t3: TransactionId, read: &ExternalRead) -> Result<(), String> {
        let place = |t: TransactionId| if t.is_initial() { None } else { Some(self.order.place[t.index()]) };
        if place(t2) <= place(read.writer) {
            return Ok(());
        }
        let name = |t| self.history.transaction_name(t);
        Err(format!(
            "{} of {} returns a version older than that of {}, which it sees",
            self.history.operation_text(read.operation),
            name(t3),
            name(t2)
        ))
    }

    /// RC: after a read from t2, no read of a key that t2 writes may return an older version.
    fn read_committed(&self) -> Result<(), String> {
        self.of_read_writers(|first, later| later.operation > first)
    }

    /// RA: the same for all reads of the transaction, and for what its session wrote before.
    fn read_atomic(&self) -> Result<(), String> {
        self.of_read_writers(|_, _| true)?;
        let mut last_of_session: FxHashMap<u32, TransactionId> = FxHashMap::default();
        for session in self.history.sessions() {
            last_of_session.clear();
            for t3 in self.history.transactions_of(session) {
                for read in self.reads_of(t3) {
                    if let Some(&t2) = last_of_session.get(&read.key) {
                        self.not_after(t2, t3, read)?;
                    }
                }
                last_of_session.extend(self.written_by(t3).iter().map(|&key| (key, t3)));
            }
        }
        Ok(())
    }

    /// For every transaction t3 and every t2 it reads from: the reads of keys that t2 writes, where `concerned` holds
    /// for the first read from t2 and the other one. O(reads × log + min(writes of t2, reads of t3) per pair).
    fn of_read_writers(&self, concerned: impl Fn(OperationId, &ExternalRead) -> bool) -> Result<(), String> {
        let mut by_key: Vec<ExternalRead> = Vec::new();
        let mut first_from: Vec<u32> = vec![u32::MAX; self.history.n_transactions()];
        for &t3 in &self.order.transactions {
            by_key.clear();
            by_key.extend_from_slice(self.reads_of(t3));
            by_key.sort_unstable_by_key(|read| (read.key, read.operation));
            for read in self.reads_of(t3).iter().filter(|read| !read.writer.is_initial()) {
                // The place of t3 marks writers already seen in it.
                let mark = &mut first_from[read.writer.index()];
                if std::mem::replace(mark, t3.0) == t3.0 {
                    continue;
                }
                let (t2, first) = (read.writer, read.operation);
                let written = self.written_by(t2);
                let check = |other: &ExternalRead| match concerned(first, other) {
                    true => self.not_after(t2, t3, other),
                    false => Ok(()),
                };
                if written.len() < by_key.len() {
                    for &key in written {
                        let from = by_key.partition_point(|other| other.key < key);
                        by_key[from..].iter().take_while(|other| other.key == key).try_for_each(check)?;
                    }
                } else {
                    let writes = |other: &&ExternalRead| written.binary_search(&other.key).is_ok();
                    by_key.iter().filter(writes).try_for_each(check)?;
                }
            }
        }
        Ok(())
    }

    fn causal(&self) -> Result<(), String> {
        causal::replay(self)
    }
}
