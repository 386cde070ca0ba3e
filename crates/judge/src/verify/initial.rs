//! The state before all transactions, and what holds for all of them, determined independently from the operations.

use isoscope_model::control::Control;
use isoscope_model::history::{
    History, KeyId, OperationId, OperationKind, Outcome, SessionId, SetUpRule, TransactionId, Value,
};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// The initial state of one history, and other facts that all checks of its evidence need.
pub(super) struct Initial {
    /// Ends searches.
    control: Control,
    /// By transaction: whether it is a setup transaction, whose writes are the initial versions.
    setup: Vec<bool>,
    /// By key: the appends that every list of it begins with.
    appends: FxHashMap<KeyId, Vec<OperationId>>,
    /// Whether scans account for every row; computed on demand.
    are_all_read: OnceLock<Result<(), String>>,
    /// Whether every transaction is lightweight; computed on demand.
    is_lightweight: OnceLock<Result<(), String>>,
    /// For lightweight transactions: the writers by key, and where those of each key begin.
    writers: OnceLock<(Vec<u32>, Vec<TransactionId>)>,
}

impl Initial {
    /// That of a history, until `control` ends the work. O(operations).
    pub(super) fn new(history: &History, control: &Control) -> Initial {
        let (setup, appends) = (set_up(history), history.initial_appends());
        Initial {
            control: control.clone(),
            setup,
            appends,
            are_all_read: OnceLock::new(),
            is_lightweight: OnceLock::new(),
            writers: OnceLock::new(),
        }
    }

    /// What ends searches.
    pub(super) fn control(&self) -> &Control {
        &self.control
    }

    /// Whether scans account for every row that they may have found; where not. O(scans · versions) the first time.
    pub(super) fn are_all_read(&self, history: &History) -> Result<(), String> {
        self.are_all_read
            .get_or_init(|| super::rows::are_all_read(history))
            .clone()
    }

    /// Whether every transaction that may have committed is lightweight; why not. O(operations) the first time.
    pub(super) fn is_lightweight(&self, history: &History) -> Result<(), String> {
        self.is_lightweight
            .get_or_init(|| is_lightweight(history))
            .clone()
    }

    /// The lightweight transactions that write a key and may have committed, ascending, without its setup.
    /// O(transactions) the first time.
    pub(super) fn writers_of(&self, history: &History, key: KeyId) -> &[TransactionId] {
        let (begin, writers) = self.writers.get_or_init(|| self.writers_by_key(history));
        &writers[begin[key.index()] as usize..begin[key.index() + 1] as usize]
    }

    fn writers_by_key(&self, history: &History) -> (Vec<u32>, Vec<TransactionId>) {
        let written = |t: TransactionId| {
            let mut operations = history.operations_of(t).map(|o| history.operation(o));
            operations
                .find(|o| o.kind == OperationKind::Write)
                .map(|o| (o.key.index(), t))
        };
        let may_commit =
            |t: &TransactionId| history.outcome(*t) != Outcome::Aborted && !self.is_setup(*t);
        let mut by_key: Vec<(usize, TransactionId)> = history
            .transactions()
            .filter(may_commit)
            .filter_map(written)
            .collect();
        by_key.sort_unstable();
        let begin = (0..=history.n_keys())
            .map(|key| by_key.partition_point(|(other, _)| *other < key) as u32);
        (begin.collect(), by_key.iter().map(|(_, t)| *t).collect())
    }

    /// Whether a transaction only sets up initial versions and counts as part of ⊥.
    pub(super) fn is_setup(&self, t: TransactionId) -> bool {
        !t.is_initial() && self.setup[t.index()]
    }

    /// Whether real time orders anything: a committed transaction that sets nothing up has times.
    pub(super) fn has_real_time(&self, history: &History) -> bool {
        let committed =
            |t: &TransactionId| history.outcome(*t) == Outcome::Committed && !self.is_setup(*t);
        let mut all = history.transactions().filter(committed);
        all.any(|t| history.interval(t).is_some())
    }

    /// The setup transactions.
    fn setup(&self) -> impl Iterator<Item = TransactionId> + '_ {
        (0..self.setup.len())
            .filter(|&t| self.setup[t])
            .map(TransactionId::new)
    }

    /// The history in which each transaction has a session of its own: it satisfies a level if and only if this one
    /// satisfies the plain form of that level. O(size of the history).
    pub(super) fn without_sessions(&self, history: &History) -> History {
        history.with_a_session_each(&self.setup().collect::<Vec<_>>())
    }

    /// The keys whose lists begin with a setup.
    pub(super) fn keys(&self) -> impl Iterator<Item = KeyId> + '_ {
        self.appends.keys().copied()
    }

    /// The appends that every list of a key begins with.
    pub(super) fn appends(&self, key: KeyId) -> &[OperationId] {
        self.appends.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The elements that every list of a key begins with.
    pub(super) fn elements<'a>(
        &'a self,
        history: &'a History,
        key: KeyId,
    ) -> impl Iterator<Item = Value> + 'a {
        self.appends(key)
            .iter()
            .map(|o| history.values()[o.index()])
    }
}

/// Whether every transaction that may have committed is one read, one write, or one read followed by one write of its
/// key. O(operations).
fn is_lightweight(history: &History) -> Result<(), String> {
    if history.has_rows() {
        return Err("keys are rows of tables".to_owned());
    }
    for t in history
        .transactions()
        .filter(|&t| history.outcome(t) != Outcome::Aborted)
    {
        let operations: Vec<_> = history
            .operations_of(t)
            .map(|o| history.operation(o))
            .collect();
        let fits = match operations.as_slice() {
            [] | [_] => true,
            [read, write] => {
                (read.kind, write.kind) == (OperationKind::Read, OperationKind::Write)
                    && read.key == write.key
            }
            _ => false,
        };
        if !fits || operations.iter().any(|o| history.lists().is_list(o.key)) {
            return Err(format!(
                "{} is no lightweight transaction",
                history.transaction_name(t)
            ));
        }
    }
    Ok(())
}

/// The setup transactions, which count as part of ⊥: those that are declared, else those [`found`].
fn set_up(history: &History) -> Vec<bool> {
    let mut is_setup = vec![false; history.n_transactions()];
    if !history.set_up().is_empty()
        || history.rules().set_up == SetUpRule::Never
        || history.has_rows()
    {
        history
            .set_up_that_took_effect()
            .for_each(|t| is_setup[t.index()] = true);
        return is_setup;
    }
    history
        .initial_value()
        .map_or(is_setup, |initial| found(history, initial))
}

/// By transaction: whether it counts as setup although the user does not say so. It committed, writes only the initial
/// value and is preceded only by such transactions in its session. In the part of the history that is connected with it
/// by sessions and keys, such transactions together write each used key exactly once, no other transaction that may
/// have committed writes an initial value, and no other committed one ended before one of them began. O(operations).
fn found(history: &History, initial: Value) -> Vec<bool> {
    let resets = |t: TransactionId| {
        let reset = |o| {
            let o = history.operation(o);
            o.kind == OperationKind::Write && o.value == initial && !history.lists().is_list(o.key)
        };
        history.operations_of(t).map(reset).collect::<Vec<bool>>()
    };
    let mut looks_so = vec![false; history.n_transactions()];
    for session in history.sessions() {
        for t in history
            .transactions_of(session)
            .filter(|&t| is_used(history, t))
        {
            if history.outcome(t) != Outcome::Committed || resets(t).contains(&false) {
                break;
            }
            looks_so[t.index()] = true;
        }
    }
    if !looks_so.contains(&true) {
        return looks_so;
    }
    let mut is_setup = vec![false; history.n_transactions()];
    for part in parts(history) {
        let (own, others): (Vec<TransactionId>, Vec<TransactionId>) =
            part.into_iter().partition(|t| looks_so[t.index()]);
        let keys_of = |t: TransactionId| {
            let mut keys: Vec<usize> = history
                .operations_of(t)
                .map(|o| history.operation(o).key.index())
                .collect();
            keys.sort_unstable();
            keys.dedup();
            keys
        };
        let mut covered: Vec<usize> = own.iter().flat_map(|&t| keys_of(t)).collect();
        covered.sort_unstable();
        let once = covered.windows(2).all(|pair| pair[0] != pair[1]);
        let is_plain = |t: TransactionId| {
            !resets(t).contains(&true)
                && keys_of(t)
                    .iter()
                    .all(|key| covered.binary_search(key).is_ok())
        };
        let ran = |t: &TransactionId| {
            history
                .interval(*t)
                .filter(|_| history.outcome(*t) == Outcome::Committed)
        };
        let last_start = own
            .iter()
            .filter_map(ran)
            .map(|interval| interval.start)
            .max();
        let first_end = others
            .iter()
            .filter_map(ran)
            .map(|interval| interval.end)
            .min();
        let in_time = last_start
            .zip(first_end)
            .is_none_or(|(start, end)| end >= start);
        let used = |t: &&TransactionId| is_used(history, **t);
        if once && in_time && others.iter().filter(used).all(|&t| is_plain(t)) {
            own.iter().for_each(|t| is_setup[t.index()] = true);
        }
    }
    is_setup
}

/// Whether a transaction may have committed and does something.
fn is_used(history: &History, t: TransactionId) -> bool {
    history.outcome(t) != Outcome::Aborted && history.operations_of(t).len() > 0
}

/// The transactions by connected part: sessions that use a common key belong together.
fn parts(history: &History) -> Vec<Vec<TransactionId>> {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); history.n_keys()];
    let mut keys: Vec<Vec<usize>> = vec![Vec::new(); history.n_sessions()];
    for t in history.transactions().filter(|&t| is_used(history, t)) {
        let session = history.session_of(t).index();
        for key in history
            .operations_of(t)
            .map(|o| history.operation(o).key.index())
        {
            if users[key].last() != Some(&session) {
                users[key].push(session);
                keys[session].push(key);
            }
        }
    }
    let sessions: Vec<SessionId> = history.sessions().collect();
    let mut parts = Vec::new();
    let mut reached = vec![false; history.n_sessions()];
    for first in 0..history.n_sessions() {
        let mut waiting = vec![first];
        let mut part = Vec::new();
        while let Some(session) = waiting.pop() {
            if std::mem::replace(&mut reached[session], true) {
                continue;
            }
            part.extend(history.transactions_of(sessions[session]));
            for key in std::mem::take(&mut keys[session]) {
                waiting.append(&mut users[key]);
            }
        }
        parts.push(part);
    }
    parts
}
