//! Replay of an order operation by operation: every read returns the version that is current when it runs.
//!
//! The writer of a read need not be given: it is the last one before it in the order. So the state is just the last
//! version of each key, and one pass over the operations decides.

use super::initial::Initial;
use super::resolution::{Resolution, Source};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{
    History, KeyId, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use rustc_hash::FxHashMap;

/// Why evidence is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The work ended before the answer was known.
    Interrupted(Interrupt),
    /// It does not hold.
    Wrong(String),
}

impl From<Interrupt> for Flaw {
    fn from(interrupt: Interrupt) -> Flaw {
        Flaw::Interrupted(interrupt)
    }
}

impl From<String> for Flaw {
    fn from(message: String) -> Flaw {
        Flaw::Wrong(message)
    }
}

/// The start or the commit of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It takes its snapshot.
    Start(TransactionId),
    /// Its writes become visible.
    Commit(TransactionId),
}

/// The transactions that have committed in a replay, and whether a commit is allowed.
pub(super) struct Attendance<'a> {
    history: &'a History,
    initial: &'a Initial,
    control: &'a Control,
    /// By transaction: its place among the commits, from 1; 0 if it has not committed.
    pub(super) number: Vec<u32>,
    /// By session: its last committed transaction.
    last: Vec<Option<TransactionId>>,
    n: u32,
}

impl<'a> Attendance<'a> {
    /// Nothing has committed.
    pub(super) fn new(
        history: &'a History,
        initial: &'a Initial,
        control: &'a Control,
    ) -> Result<Attendance<'a>, Interrupt> {
        control.needs(history.n_transactions() * 4)?;
        let (number, last) = (
            vec![0; history.n_transactions()],
            vec![None; history.n_sessions()],
        );
        Ok(Attendance {
            history,
            initial,
            control,
            number,
            last,
            n: 0,
        })
    }

    /// A transaction commits: once, after its predecessors in its session. Returns its place, from 1; none for one that
    /// sets up the initial state, wherever it is.
    pub(super) fn commits(&mut self, t: TransactionId) -> Result<Option<u32>, Flaw> {
        let name = || self.history.transaction_name(t);
        if t.is_initial() || self.number[t.index()] != 0 {
            return Err(format!("{} is in the order twice", name()).into());
        }
        if self.history.outcome(t) == Outcome::Aborted {
            return Err(format!("{} is in the order but did not commit", name()).into());
        }
        self.n += 1;
        self.number[t.index()] = self.n;
        self.control.tick(self.n as usize)?;
        if self.initial.is_setup(t) {
            return Ok(None);
        }
        let last = &mut self.last[self.history.session_of(t).index()];
        if last.is_some_and(|last| last > t) {
            return Err(format!("{} comes before its session predecessor", name()).into());
        }
        *last = Some(t);
        Ok(Some(self.n))
    }

    /// Whether all committed transactions are there. Those that no read can have noticed need not be.
    pub(super) fn is_complete(&self) -> Result<(), Flaw> {
        let is_missing = |t: &TransactionId| {
            self.number[t.index()] == 0
                && self.history.outcome(*t) == Outcome::Committed
                && !self.initial.is_setup(*t)
                && self.history.operations_of(*t).len() > 0
        };
        match self.history.transactions().find(is_missing) {
            None => Ok(()),
            Some(t) => Err(format!(
                "{} is missing from the order",
                self.history.transaction_name(t)
            )
            .into()),
        }
    }
}

/// A version of a key: its value, and the place of its writer, from 1. Place 0 is the initial one, whose value is
/// ignored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    pub(super) value: Value,
    pub(super) number: u32,
}

impl Version {
    pub(super) const INITIAL: Version = Version {
        value: Value::INITIAL,
        number: 0,
    };

    /// Whether a read, of this value, may return it.
    pub(super) fn explains(self, history: &History, read: OperationId, value: Value) -> bool {
        let version = (self.number > 0).then_some(self.value);
        super::rows::explains(history, read, value, version)
    }
}

/// The error that a read does not return a version.
fn wrong_read(history: &History, read: OperationId, version: Version) -> Flaw {
    let is = match version.number {
        0 => "the initial one".to_owned(),
        _ => history.value_name(version.value),
    };
    let name = history.transaction_name(history.transaction_of(read));
    let text = history.operation_text(read);
    Flaw::Wrong(format!(
        "{text} of {name} does not return the current version, which is {is}"
    ))
}

fn wrong_list(history: &History, read: OperationId) -> Flaw {
    let name = history.transaction_name(history.transaction_of(read));
    Flaw::Wrong(format!(
        "{} of {name} is not the list that was appended until then",
        history.operation_text(read)
    ))
}

/// The setup lists, by key.
fn lists_at_first(history: &History, initial: &Initial) -> FxHashMap<KeyId, Vec<Value>> {
    initial
        .keys()
        .map(|key| (key, initial.elements(history, key).collect()))
        .collect()
}

fn elements(lists: &FxHashMap<KeyId, Vec<Value>>, key: KeyId) -> &[Value] {
    lists.get(&key).map_or(&[], Vec::as_slice)
}

/// One transaction after the other: every read returns the current version. O(operations + elements of lists read).
pub(super) fn one_by_one(
    history: &History,
    initial: &Initial,
    order: &[TransactionId],
    control: &Control,
) -> Result<(), Flaw> {
    let mut attendance = Attendance::new(history, initial, control)?;
    control.needs(history.n_keys() * size_of::<Version>())?;
    let mut current = vec![Version::INITIAL; history.n_keys()];
    let has_lists = !history.lists().is_empty();
    let mut lists = lists_at_first(history, initial);
    let (kinds, keys, values) = (history.kinds(), history.keys(), history.values());
    for (place, &t) in order.iter().enumerate() {
        warm_up(history, order, place, |key| current[key.index()].number);
        let Some(number) = attendance.commits(t)? else {
            continue;
        };
        for o in history.operation_range(t) {
            let (key, value) = (keys[o], values[o]);
            if kinds[o] == OperationKind::Write {
                current[key.index()] = Version { value, number };
                if has_lists && history.lists().is_list(key) {
                    lists.entry(key).or_default().push(value);
                }
                continue;
            }
            let read = OperationId::new(o);
            if has_lists && let Some(list) = history.lists().read_by(read) {
                // The reader's own appends are at its end by now.
                if list != elements(&lists, key) {
                    return Err(wrong_list(history, read));
                }
                continue;
            }
            let there = current[key.index()];
            if value != Value::UNRECORDED && !there.explains(history, read, value) {
                return Err(wrong_read(history, read, there));
            }
        }
    }
    attendance.is_complete()
}

/// As [`one_by_one`], but a row that a scan did not return, or only its key, may be any earlier version that explains this.
/// O(operations · versions of rows scanned).
pub(super) fn items_one_by_one(
    history: &History,
    initial: &Initial,
    order: &[TransactionId],
    control: &Control,
) -> Result<(), Flaw> {
    let mut attendance = Attendance::new(history, initial, control)?;
    // By key: the final versions so far, oldest first.
    let mut versions: FxHashMap<KeyId, Vec<Version>> = FxHashMap::default();
    for &t in order {
        let Some(number) = attendance.commits(t)? else {
            continue;
        };
        for o in history.operations_of(t) {
            let operation = history.operation(o);
            let (value, known) = (
                operation.value,
                versions
                    .entry(operation.key)
                    .or_insert(vec![Version::INITIAL]),
            );
            let is_own = known.last().is_some_and(|last| last.number == number);
            if operation.kind == OperationKind::Write {
                known.truncate(known.len() - usize::from(is_own));
                known.push(Version { value, number });
                continue;
            }
            let fits = |version: &Version| version.explains(history, o, value);
            let newest = &known[known.len() - 1..];
            let any = match is_own || super::rows::is_of_item(history, o) {
                true => newest,
                false => known,
            };
            if value != Value::UNRECORDED && !any.iter().any(fits) {
                return Err(wrong_read(history, o, newest[0]));
            }
        }
    }
    attendance.is_complete()
}

/// Whether each read returns the version of the writer that counts where the last one of a value does. O(operations).
pub(super) fn reads_from_last(
    history: &History,
    resolution: &Resolution<'_>,
    steps: &[Step],
) -> Result<(), Flaw> {
    let mut current = vec![TransactionId::INITIAL; history.n_keys()];
    let counts = |t: TransactionId| !t.is_initial() && !resolution.is_setup(t);
    for &step in steps {
        match step {
            Step::Start(t) if counts(t) => {
                for o in history.operations_of(t) {
                    let operation = history.operation(o);
                    let is_read = operation.kind == OperationKind::Read
                        && !history.lists().is_list(operation.key);
                    if let (true, Source::Other { writer, .. }) = (is_read, resolution.source(o))
                        && writer != current[operation.key.index()]
                    {
                        let text = history.operation_text(o);
                        return Err(Flaw::Wrong(format!(
                            "{text} does not return the version of the last writer of its value"
                        )));
                    }
                }
            }
            Step::Commit(t) if counts(t) => {
                for o in history.operations_of(t) {
                    let operation = history.operation(o);
                    if operation.kind == OperationKind::Write {
                        current[operation.key.index()] = t;
                    }
                }
            }
            Step::Start(_) | Step::Commit(_) => {}
        }
    }
    Ok(())
}

/// Transactions whose memory is fetched together.
const STRETCH: usize = 64;

/// At the beginning of each stretch of an order: prefetches what its replay needs from all over memory. A loop that
/// only fetches has many requests in flight at once, while the replay itself would wait for each.
#[inline]
pub(super) fn warm_up(
    history: &History,
    order: &[TransactionId],
    place: usize,
    current: impl Fn(KeyId) -> u32,
) {
    if !place.is_multiple_of(STRETCH) {
        return;
    }
    let (kinds, keys, values) = (history.kinds(), history.keys(), history.values());
    let stretch = || {
        order[place..order.len().min(place + STRETCH)]
            .iter()
            .filter(|t| !t.is_initial())
    };
    let begins = stretch()
        .map(|&t| history.operation_range(t).start)
        .filter(|&begin| begin < keys.len());
    let first = begins.map(|begin| values[begin].0 as u32 ^ keys[begin].0 ^ kinds[begin] as u32);
    let versions = stretch()
        .flat_map(|&t| history.operation_range(t))
        .map(|o| current(keys[o]));
    std::hint::black_box(first.fold(0, |sum, one| sum ^ one));
    std::hint::black_box(versions.fold(0, |sum, one| sum ^ one));
}

/// Starts and commits: every read returns the version that was current when its transaction started, or that its
/// transaction wrote; transactions of one session do not overlap. If `conflicts`, neither do writers of one key.
/// O(operations + elements of lists read).
pub(super) fn with_snapshots(
    history: &History,
    initial: &Initial,
    steps: &[Step],
    conflicts: bool,
    control: &Control,
) -> Result<(), Flaw> {
    let mut attendance = Attendance::new(history, initial, control)?;
    let per_key = size_of::<Version>() + size_of::<(u32, Value)>();
    control.needs(history.n_keys() * per_key + history.n_transactions() * 4)?;
    let mut store = Store {
        history,
        current: vec![Version::INITIAL; history.n_keys()],
        own: vec![(u32::MAX, Value::INITIAL); history.n_keys()],
        lists: lists_at_first(history, initial),
        own_lists: FxHashMap::default(),
    };
    // By transaction: how many had committed when it started, plus one, so that 0 means it has not.
    let mut started = vec![0u32; history.n_transactions()];
    let mut running: Vec<Option<TransactionId>> = vec![None; history.n_sessions()];
    for &step in steps {
        match step {
            Step::Start(t) if t.is_initial() || initial.is_setup(t) => {}
            Step::Start(t) => {
                let name = || history.transaction_name(t);
                if std::mem::replace(&mut started[t.index()], attendance.n + 1) != 0 {
                    return Err(format!("{} starts twice", name()).into());
                }
                if running[history.session_of(t).index()].replace(t).is_some() {
                    return Err(format!(
                        "the snapshot of {} lacks its session predecessor",
                        name()
                    )
                    .into());
                }
                store.read(t)?;
            }
            Step::Commit(t) if t.is_initial() => {}
            Step::Commit(t) => {
                let Some(number) = attendance.commits(t)? else {
                    continue;
                };
                let start = started[t.index()];
                if start == 0 {
                    let name = history.transaction_name(t);
                    return Err(format!("the snapshot of {name} contains its own commit").into());
                }
                running[history.session_of(t).index()] = None;
                store.write(t, number, conflicts.then_some(start - 1))?;
            }
        }
    }
    attendance.is_complete()
}

/// The versions of a replay with starts and commits.
struct Store<'a> {
    history: &'a History,
    current: Vec<Version>,
    /// By key: the transaction that last read or wrote it, and what it wrote.
    own: Vec<(u32, Value)>,
    lists: FxHashMap<KeyId, Vec<Value>>,
    /// What a transaction has appended up to a read; scratch space.
    own_lists: FxHashMap<KeyId, Vec<Value>>,
}

impl Store<'_> {
    /// A transaction starts; its reads return current versions or its own writes.
    fn read(&mut self, t: TransactionId) -> Result<(), Flaw> {
        let history = self.history;
        let has_lists = !history.lists().is_empty();
        self.own_lists.clear();
        for o in history.operation_range(t) {
            let (key, value) = (history.keys()[o], history.values()[o]);
            let own = &mut self.own[key.index()];
            if history.kinds()[o] == OperationKind::Write {
                *own = (t.0, value);
                if has_lists && history.lists().is_list(key) {
                    self.own_lists.entry(key).or_default().push(value);
                }
                continue;
            }
            let read = OperationId::new(o);
            if has_lists && let Some(list) = history.lists().read_by(read) {
                let (others, appended) =
                    (elements(&self.lists, key), elements(&self.own_lists, key));
                if !list.iter().eq(others.iter().chain(appended)) {
                    return Err(wrong_list(history, read));
                }
                continue;
            }
            let there = match *own {
                (writer, value) if writer == t.0 => Version {
                    value,
                    number: u32::MAX,
                },
                _ => self.current[key.index()],
            };
            if value != Value::UNRECORDED && !there.explains(history, read, value) {
                return Err(wrong_read(history, read, there));
            }
        }
        Ok(())
    }

    /// A transaction commits with this number. `before`, if it may not overlap with other writers of its keys: how many
    /// had committed when it started.
    fn write(&mut self, t: TransactionId, number: u32, before: Option<u32>) -> Result<(), Flaw> {
        let history = self.history;
        let has_lists = !history.lists().is_empty();
        for o in history.operation_range(t) {
            if history.kinds()[o] != OperationKind::Write {
                continue;
            }
            let (key, value) = (history.keys()[o], history.values()[o]);
            let there = &mut self.current[key.index()];
            if before.is_some_and(|before| there.number > before) && there.number != number {
                let (key, name) = (history.key_name(key), history.transaction_name(t));
                return Err(format!(
                    "key {key}, which {name} writes, was written since its snapshot"
                )
                .into());
            }
            *there = Version { value, number };
            if has_lists && history.lists().is_list(key) {
                self.lists.entry(key).or_default().push(value);
            }
        }
        Ok(())
    }
}

/// No transaction commits after one has started that began later than it ended, or, `by_key`, one of those that are known
/// to have used a common key; the initial state has no time. O(steps), by key O(operations).
pub(super) fn in_real_time(
    history: &History,
    initial: &Initial,
    steps: &[Step],
    by_key: bool,
) -> Result<(), Flaw> {
    let mut latest_start = vec![i64::MIN; if by_key { history.n_keys() } else { 1 }];
    let mut places: Vec<usize> = vec![0];
    for &step in steps {
        let (Step::Start(t) | Step::Commit(t)) = step;
        let Some(interval) = history.interval(t).filter(|_| !initial.is_setup(t)) else {
            continue;
        };
        if by_key {
            places.clear();
            places.extend(history.keys_used_by(t).map(|key| key.index()));
        }
        // One of unknown outcome may have committed at any later time.
        let ended = history.outcome(t) != Outcome::Unknown;
        for &place in &places {
            let latest = &mut latest_start[place];
            match step {
                Step::Start(_) => *latest = interval.start.max(*latest),
                Step::Commit(_) if ended && interval.end < *latest => {
                    let name = history.transaction_name(t);
                    return Err(format!(
                        "{name} had ended before another one began that starts earlier in the order"
                    )
                    .into());
                }
                Step::Commit(_) => {}
            }
        }
    }
    Ok(())
}

/// The commits among some steps.
pub(super) fn commits(steps: &[Step]) -> Vec<TransactionId> {
    let commit = |step: &Step| match step {
        Step::Commit(t) => Some(*t),
        Step::Start(_) => None,
    };
    steps.iter().filter_map(commit).collect()
}

/// The starts and commits for a commit order and, per transaction, how many had committed when it started.
pub(super) fn steps(order: &[TransactionId], snapshots: &[u32]) -> Result<Vec<Step>, String> {
    if snapshots.len() != order.len() {
        return Err(format!(
            "{} snapshots for {} transactions",
            snapshots.len(),
            order.len()
        ));
    }
    let mut starts: Vec<(u32, TransactionId)> = snapshots
        .iter()
        .copied()
        .zip(order.iter().copied())
        .collect();
    starts.sort_by_key(|(taken, _)| *taken);
    let mut starts = starts.into_iter().peekable();
    let mut steps = Vec::with_capacity(2 * order.len());
    for (committed, &t) in (0..).zip(order) {
        while let Some((_, next)) = starts.next_if(|(taken, _)| *taken <= committed) {
            steps.push(Step::Start(next));
        }
        steps.push(Step::Commit(t));
    }
    Ok(steps)
}

/// The order of transactions that run one after the other, if these do.
pub(super) fn serial_order(steps: &[Step]) -> Option<Vec<TransactionId>> {
    let pairs = steps.chunks(2).map(|pair| match *pair {
        [Step::Start(t), Step::Commit(same)] if t == same => Some(t),
        _ => None,
    });
    pairs.collect()
}
