//! Read uncommitted: the orders that lists show of committed transactions, with sessions and times where these count.

use super::initial::Initial;
use super::levels::{self, Strength};
use super::operations::operation;
use super::replay::Flaw;
use super::resolution::Resolution;
use super::subject::Subject;
use crate::report::{EdgeEntry, ProofEntry, ReasonEntry};
use isoscope_model::history::{
    History, KeyId, ListRule, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use isoscope_model::levels::Level;
use isoscope_model::relations::Relation;
use rustc_hash::{FxHashMap, FxHashSet};

/// Whether a level is about what was overwritten only.
pub(super) fn is_of_overwriting(level: Level) -> bool {
    levels::row(level).strength == Strength::Versions
}

/// Who appended an element, as far as transactions that did not abort may have: none if several.
type Appenders = FxHashMap<(KeyId, Value), Option<TransactionId>>;

fn appenders(history: &History) -> Appenders {
    let mut all = Appenders::default();
    for t in history.transactions() {
        if history.outcome(t) == Outcome::Aborted {
            continue;
        }
        for o in history.operations_of(t).map(|o| history.operation(o)) {
            if o.kind == OperationKind::Write {
                all.entry((o.key, o.value))
                    .and_modify(|by| *by = by.filter(|w| *w == t))
                    .or_insert(Some(t));
            }
        }
    }
    all
}

/// Whether an order of all committed transactions that set up nothing agrees with sessions and with every list that they
/// read. O(operations + elements).
pub(super) fn order_fits(
    history: &History,
    initial: &Initial,
    order: &[TransactionId],
) -> Result<(), Flaw> {
    let counts =
        |t: TransactionId| history.outcome(t) == Outcome::Committed && !initial.is_setup(t);
    let mut place: FxHashMap<TransactionId, usize> = FxHashMap::default();
    let mut last: FxHashMap<_, TransactionId> = FxHashMap::default();
    for (at, &t) in order.iter().enumerate() {
        let name = || history.transaction_name(t);
        if t.is_initial() || place.insert(t, at).is_some() {
            return Err(
                format!("{} is in the order twice, or does not belong there", name()).into(),
            );
        }
        if let Some(before) = last.insert(history.session_of(t), t)
            && history.position_of(before) > history.position_of(t)
        {
            return Err(
                format!("{} comes after a later transaction of its session", name()).into(),
            );
        }
    }
    if let Some(missing) = history
        .transactions()
        .find(|t| counts(*t) && !place.contains_key(t))
    {
        return Err(format!("{} is not in the order", history.transaction_name(missing)).into());
    }
    if history.lists().is_empty() || history.rules().lists == ListRule::Merge {
        return Ok(());
    }
    let appenders = appenders(history);
    for reader in history.transactions().filter(|&t| counts(t)) {
        for read in history.operations_of(reader) {
            let Some(list) = history.lists().read_by(read) else {
                continue;
            };
            let key = history.operation(read).key;
            let mut before: Option<TransactionId> = None;
            for &value in list {
                let t = match appenders.get(&(key, value)) {
                    Some(Some(t)) if counts(*t) => *t,
                    Some(None) => {
                        return Err("several transactions may have appended an element"
                            .to_owned()
                            .into());
                    }
                    _ => continue,
                };
                if before.is_some_and(|before| before != t && place[&before] > place[&t]) {
                    let name = history.transaction_name(t);
                    return Err(format!(
                        "a list puts {name} after one that comes later in the order"
                    )
                    .into());
                }
                before = Some(t);
            }
        }
    }
    Ok(())
}

/// Whether a violation is a cycle of such orders, each of which counts at all of its levels.
pub(super) fn check(subject: Subject<'_>) -> Result<(), String> {
    let Subject {
        history,
        resolution,
        violation,
        transactions,
        levels,
    } = subject;
    if !levels.iter().all(|&level| is_of_overwriting(level)) {
        return Err("what was overwritten says nothing of its other levels".to_owned());
    }
    let ProofEntry::Cycle { edges: cycle } = &violation.proof else {
        return Err("at read uncommitted only a cycle is a proof".to_owned());
    };
    let named: FxHashSet<usize> = cycle.iter().copied().collect();
    if cycle.is_empty() || named.len() != cycle.len() || named.len() != violation.edges.len() {
        return Err("its cycle does not consist of all its edges".to_owned());
    }
    let in_time = levels
        .iter()
        .all(|&level| levels::row(level).time.is_some());
    let case = Overwritten {
        history,
        resolution,
        transactions,
        in_time,
        appenders: appenders(history),
    };
    for (at, &place) in cycle.iter().enumerate() {
        let edge = violation
            .edges
            .get(place)
            .ok_or_else(|| format!("there is no edge {place}"))?;
        let next = &violation
            .edges
            .get(cycle[(at + 1) % cycle.len()])
            .ok_or("there is no such edge")?;
        if edge.to != next.from {
            return Err("its cycle is not closed".to_owned());
        }
        case.holds(edge)
            .map_err(|message| format!("edge {place}: {message}"))?;
    }
    Ok(())
}

struct Overwritten<'a> {
    history: &'a History,
    resolution: &'a Resolution<'a>,
    transactions: &'a [TransactionId],
    in_time: bool,
    appenders: Appenders,
}

impl Overwritten<'_> {
    fn transaction(&self, place: usize) -> Result<TransactionId, String> {
        let t = self
            .transactions
            .get(place)
            .copied()
            .ok_or("there is no such transaction")?;
        let counts = !t.is_initial()
            && self.history.outcome(t) == Outcome::Committed
            && !self.resolution.initial().is_setup(t);
        if counts {
            Ok(t)
        } else {
            Err("only committed transactions count".to_owned())
        }
    }

    fn holds(&self, edge: &EdgeEntry) -> Result<(), String> {
        let (from, to) = (self.transaction(edge.from)?, self.transaction(edge.to)?);
        let history = self.history;
        let is_so = || {
            history.session_of(from) == history.session_of(to)
                && history.position_of(from) < history.position_of(to)
        };
        let ended = || {
            let (a, b) = (history.interval(from), history.interval(to));
            self.in_time && a.zip(b).is_some_and(|(a, b)| a.end < b.start)
        };
        let holds = match (&edge.reason, edge.kind) {
            (ReasonEntry::SessionOrder, Relation::SessionOrder) => is_so() && edge.key.is_none(),
            (ReasonEntry::SessionOrder, Relation::RealTime) => ended() && edge.key.is_none(),
            (ReasonEntry::Listed { reader, read }, Relation::WriteWrite) => {
                let reader = self.transaction(*reader).map(|_| *reader)?;
                let read = operation(history, self.transactions, reader, *read)?;
                self.writes(edge, history.operation(read).key)? && self.is_listed(read, from, to)
            }
            _ => false,
        };
        if holds {
            Ok(())
        } else {
            Err(format!("no {} edge is there", edge.kind))
        }
    }

    /// Whether the edge names writes of the key at both ends.
    fn writes(&self, edge: &EdgeEntry, key: KeyId) -> Result<bool, String> {
        let is_write = |place: usize, index: Option<usize>| -> Result<bool, String> {
            let index = index.ok_or("it does not name its operation")?;
            let o =
                self.history
                    .operation(operation(self.history, self.transactions, place, index)?);
            Ok(o.kind == OperationKind::Write && o.key == key)
        };
        let is_of_key = edge.key == Some(self.history.key_names().get(key.index()));
        Ok(is_of_key
            && is_write(edge.from, edge.from_operation)?
            && is_write(edge.to, edge.to_operation)?)
    }

    /// Whether an element of the one comes before one of the other in a list.
    fn is_listed(&self, read: OperationId, from: TransactionId, to: TransactionId) -> bool {
        if self.history.rules().lists == ListRule::Merge {
            return false;
        }
        let Some(list) = self.history.lists().read_by(read) else {
            return false;
        };
        let key = self.history.operation(read).key;
        let is_of = |value: &Value, t| self.appenders.get(&(key, *value)) == Some(&Some(t));
        let first = list.iter().position(|value| is_of(value, from));
        let last = list.iter().rposition(|value| is_of(value, to));
        first.zip(last).is_some_and(|(first, last)| first < last)
    }
}
