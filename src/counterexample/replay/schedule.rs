//! The order of operations that explains most reads: a shortest path through the states of affairs.

use super::Action;
use crate::control::Control;
use crate::counterexample::Counterexample;
use crate::history::{History, KeyId, OperationId, OperationKind, Outcome, TransactionId, Value};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Most states of affairs that are looked at.
const MOST_STATES: usize = 30_000;

/// How a read fits, worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Seen {
    Nothing,
    Own,
    Current,
    Older,
    Uncommitted,
    Nowhere,
}

impl Seen {
    /// What it costs to let a read be like this; taking turns costs 1.
    fn cost(self) -> u32 {
        match self {
            Seen::Nothing | Seen::Own | Seen::Current => 0,
            Seen::Older => 1_000,
            Seen::Uncommitted => 1_500,
            Seen::Nowhere => 5_000,
        }
    }
}

/// Actions in order, with how each read fits.
pub(super) struct Plan {
    pub(super) actions: Vec<(TransactionId, Action, Seen)>,
    /// Whether no order costs less.
    pub(super) is_best: bool,
}

/// How far everybody is. What is committed follows from the order in which transactions ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct State {
    /// By session: its current transaction, as a place in the session.
    transaction: Vec<u16>,
    /// By session: the next operation of it.
    operation: Vec<u16>,
    /// Transactions that committed, in order.
    committed: Vec<TransactionId>,
    /// The session that acted last.
    last: u16,
}

struct Scheduler<'a> {
    history: &'a History,
    sessions: Vec<Vec<TransactionId>>,
}

/// The cheapest order. Dijkstra's algorithm on states of affairs.
pub(super) fn plan(example: &Counterexample, control: &Control) -> Plan {
    let history = &example.history;
    let sessions = history.sessions().map(|session| history.transactions_of(session).collect()).collect();
    let scheduler = Scheduler { history, sessions };
    scheduler.search(control).unwrap_or_else(|| scheduler.one_after_the_other(example))
}

impl Scheduler<'_> {
    fn beginning(&self) -> State {
        let zeros = vec![0; self.sessions.len()];
        State { transaction: zeros.clone(), operation: zeros, committed: Vec::new(), last: u16::MAX }
    }

    fn search(&self, control: &Control) -> Option<Plan> {
        let n_actions = self.history.n_operations() + self.history.n_transactions();
        let mut states = vec![self.beginning()];
        // By state: its cost, the state before and the session that acted.
        let mut best: Vec<(u32, usize, usize)> = vec![(0, usize::MAX, 0)];
        let mut place: FxHashMap<State, usize> = FxHashMap::default();
        place.insert(states[0].clone(), 0);
        let mut queue = BinaryHeap::from([(Reverse(0), 0, Reverse(0))]);
        while let Some((Reverse(cost), done, Reverse(at))) = queue.pop() {
            if cost > best[at].0 {
                continue;
            }
            if done == n_actions {
                return Some(self.plan_to(at, &states, &best));
            }
            if states.len() > MOST_STATES || control.check().is_err() {
                return None;
            }
            for session in 0..self.sessions.len() {
                let Some((next, seen)) = self.act(&states[at], session) else { continue };
                let turns = states[at].last != session as u16 && at != 0;
                let cost = cost + seen.cost() + u32::from(turns);
                let known = *place.entry(next.clone()).or_insert(states.len());
                if known == states.len() {
                    states.push(next);
                    best.push((u32::MAX, usize::MAX, 0));
                }
                if cost < best[known].0 {
                    best[known] = (cost, at, session);
                    queue.push((Reverse(cost), done + 1, Reverse(known)));
                }
            }
        }
        None
    }

    fn plan_to(&self, end: usize, states: &[State], best: &[(u32, usize, usize)]) -> Plan {
        let mut sessions = Vec::new();
        let mut at = end;
        while best[at].1 != usize::MAX {
            sessions.push(best[at].2);
            at = best[at].1;
        }
        sessions.reverse();
        let mut state = states[0].clone();
        let mut actions = Vec::new();
        for session in sessions {
            if let Some((transaction, action)) = self.next_action(&state, session)
                && let Some((next, seen)) = self.act(&state, session)
            {
                actions.push((transaction, action, seen));
                state = next;
            }
        }
        Plan { actions, is_best: true }
    }

    /// The transactions as they are told.
    fn one_after_the_other(&self, example: &Counterexample) -> Plan {
        let mut state = self.beginning();
        let mut actions = Vec::new();
        for t in crate::counterexample::narrate::telling_order(example) {
            let session = self.history.session_of(t).index();
            while let Some((transaction, action)) = self.next_action(&state, session).filter(|(of, _)| *of == t) {
                let (next, seen) = self.done(&state, session, transaction, action);
                actions.push((transaction, action, seen));
                state = next;
            }
        }
        Plan { actions, is_best: false }
    }

    fn next_action(&self, state: &State, session: usize) -> Option<(TransactionId, Action)> {
        let transaction = *self.sessions[session].get(usize::from(state.transaction[session]))?;
        let operation = self.history.operations_of(transaction).nth(usize::from(state.operation[session]));
        let end = Action::End(self.history.outcome(transaction));
        Some((transaction, operation.map_or(end, Action::Operation)))
    }

    /// The state after the next action of a session, if it may act.
    fn act(&self, state: &State, session: usize) -> Option<(State, Seen)> {
        let (transaction, action) = self.next_action(state, session)?;
        let begins = state.operation[session] == 0;
        if begins && !self.may_begin(state, transaction) {
            return None;
        }
        Some(self.done(state, session, transaction, action))
    }

    /// Whether all that ended before `transaction` began have ended.
    fn may_begin(&self, state: &State, transaction: TransactionId) -> bool {
        let Some(began) = self.history.interval(transaction).map(|interval| interval.start) else { return true };
        self.sessions.iter().zip(&state.transaction).all(|(of_session, &at)| {
            let waiting = of_session[usize::from(at).min(of_session.len())..].iter();
            // Of one of unknown outcome the end is not known.
            let known = waiting.filter(|&&t| t != transaction && self.history.outcome(t) != Outcome::Unknown);
            let mut ends = known.filter_map(|&t| self.history.interval(t));
            ends.all(|interval| interval.end >= began)
        })
    }

    fn done(&self, state: &State, session: usize, transaction: TransactionId, action: Action) -> (State, Seen) {
        let mut next = State { last: session as u16, ..state.clone() };
        match action {
            Action::Operation(o) => {
                next.operation[session] += 1;
                (next, self.seen(state, transaction, o))
            }
            Action::End(outcome) => {
                next.transaction[session] += 1;
                next.operation[session] = 0;
                if outcome != Outcome::Aborted {
                    next.committed.push(transaction);
                }
                (next, Seen::Nothing)
            }
        }
    }

    /// How a read fits the state in which it is made.
    fn seen(&self, state: &State, reader: TransactionId, operation: OperationId) -> Seen {
        let history = self.history;
        let read = history.operation(operation);
        if read.kind == OperationKind::Write || read.value == Value::UNRECORDED {
            return Seen::Nothing;
        }
        let own: Vec<OperationId> = self.writes(reader, read.key).take_while(|&o| o < operation).collect();
        if let Some(list) = history.lists().read_by(operation) {
            return self.list_seen(state, reader, read.key, &own, list);
        }
        let returned = |o: &OperationId| history.operation(*o).value == read.value;
        if let Some(differs) = history.differs_from(operation) {
            // It is known only what was not there.
            let now = own.last().copied().or_else(|| self.committed(state, read.key).last().copied());
            let is_other =
                now.map_or(!history.may_be_initial(read.key, differs), |o| history.operation(o).value != differs);
            return if is_other { Seen::Current } else { Seen::Nowhere };
        }
        if let Some(last) = own.last() {
            return if returned(last) { Seen::Own } else { Seen::Nowhere };
        }
        let committed = self.committed(state, read.key);
        let is_initial = history.may_be_initial(read.key, read.value);
        match committed.last() {
            None if is_initial => return Seen::Current,
            Some(last) if returned(last) => return Seen::Current,
            _ => {}
        }
        if is_initial || committed.iter().any(returned) {
            return Seen::Older;
        }
        let is_pending = self.begun(state).flat_map(|t| self.started_writes(state, t, read.key)).any(|o| returned(&o));
        if is_pending { Seen::Uncommitted } else { Seen::Nowhere }
    }

    fn list_seen(&self, state: &State, reader: TransactionId, key: KeyId, own: &[OperationId], list: &[Value]) -> Seen {
        let value = |o: &OperationId| self.history.operation(*o).value;
        let committed = self.committed(state, key);
        let now: Vec<Value> = committed.iter().chain(own).map(value).collect();
        // What set the list up stands in no transaction.
        let known = |element: &&Value| self.is_appended(key, **element);
        let list: Vec<Value> = list.iter().filter(known).copied().collect();
        if list == now {
            return Seen::Current;
        }
        let of_own = own.iter().map(value).collect::<Vec<_>>();
        let others = list.strip_suffix(of_own.as_slice());
        if others.is_some_and(|others| now.starts_with(others)) {
            return Seen::Older;
        }
        let pending: Vec<Value> = self
            .begun(state)
            .filter(|t| *t != reader)
            .flat_map(|t| self.started_writes(state, t, key))
            .map(|o| value(&o))
            .collect();
        let there = |element: &Value| now.contains(element) || pending.contains(element);
        if list.iter().all(there) && list.iter().any(|element| pending.contains(element)) {
            return Seen::Uncommitted;
        }
        Seen::Nowhere
    }

    fn is_appended(&self, key: KeyId, element: Value) -> bool {
        let writes = self.history.transactions().flat_map(|t| self.writes(t, key));
        writes.into_iter().any(|o| self.history.operation(o).value == element)
    }

    fn writes(&self, t: TransactionId, key: KeyId) -> impl Iterator<Item = OperationId> + '_ {
        self.history.operations_of(t).filter(move |&o| {
            let operation = self.history.operation(o);
            operation.kind == OperationKind::Write && operation.key == key
        })
    }

    /// The committed versions of a key in order: of a register the last write of each transaction.
    fn committed(&self, state: &State, key: KeyId) -> Vec<OperationId> {
        let all = state.committed.iter().flat_map(|&t| {
            let writes: Vec<OperationId> = self.writes(t, key).collect();
            match self.history.lists().is_list(key) {
                true => writes,
                false => writes.last().copied().into_iter().collect(),
            }
        });
        all.collect()
    }

    /// Transactions that have begun and not ended.
    fn begun<'s>(&'s self, state: &'s State) -> impl Iterator<Item = TransactionId> + 's {
        (0..self.sessions.len())
            .filter(|&s| state.operation[s] > 0)
            .filter_map(move |s| self.sessions[s].get(usize::from(state.transaction[s])).copied())
    }

    /// What a transaction that has not ended has written to a key so far.
    fn started_writes(&self, state: &State, t: TransactionId, key: KeyId) -> Vec<OperationId> {
        let n_done = usize::from(state.operation[self.history.session_of(t).index()]);
        let done: Vec<OperationId> = self.history.operations_of(t).take(n_done).collect();
        self.writes(t, key).filter(|o| done.contains(o)).collect()
    }
}
