//! How far an order of operations that no order explains gets: the longest orders that agree with real time and with what
//! was read, and what cannot come next in each.

use super::Counterexample;
use isoscope_check::checkers::Pattern;
use isoscope_model::history::{
    History, KeyId, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use rustc_hash::FxHashSet;

/// With more operations no orders are looked for.
const MOST: usize = 64;

/// Maximum number of states that are looked at.
const STATES: usize = 200_000;

/// Maximum number of orders that are kept.
const KEPT: usize = 8;

/// An order of some operations on a key that agrees with their times and with what they read, and that no other operation
/// can continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialOrder {
    /// The transactions, each with the value of the key after it.
    pub taken: Vec<(TransactionId, Value)>,
    /// The transactions one of which would have to come next, each with the value that its read should have returned.
    pub stuck: Vec<(TransactionId, Value)>,
}

/// A call of one operation on the key: a read, a write, or both.
struct Call {
    transaction: TransactionId,
    start: i64,
    /// None where it may take effect at any later time, or never.
    end: Option<i64>,
    read: Option<OperationId>,
    write: Option<Value>,
}

/// The longest orders of the operations of a counterexample to linearizability, longest first; none for other
/// counterexamples, and where there are too many operations. O(states of the key), up to a limit.
pub fn longest_orders(example: &Counterexample) -> Vec<PartialOrder> {
    let history = &example.history;
    let calls = calls(history);
    let is_it = example.violation.id.pattern == Pattern::NoLinearOrder;
    if !is_it || calls.len() > MOST {
        return Vec::new();
    }
    let mut search = Search {
        history,
        calls: &calls,
        seen: FxHashSet::default(),
        path: Vec::new(),
        found: Vec::new(),
    };
    search.visit(0, Value::INITIAL);
    search.found
}

/// The calls of a history by when they began; none if one has no time, or several keys.
fn calls(history: &History) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut keys: FxHashSet<KeyId> = FxHashSet::default();
    for t in history.transactions() {
        let Some(ran) = history.interval(t) else {
            return Vec::new();
        };
        if history.outcome(t) == Outcome::Aborted {
            continue;
        }
        keys.extend(history.keys_used_by(t));
        let of = |kind: OperationKind| {
            let mut all = history.operations_of(t);
            all.find(|&o| history.operation(o).kind == kind)
        };
        calls.push(Call {
            transaction: t,
            start: ran.start,
            end: (history.outcome(t) == Outcome::Committed).then_some(ran.end),
            read: of(OperationKind::Read),
            write: of(OperationKind::Write).map(|write| history.operation(write).value),
        });
    }
    calls.sort_by_key(|call| (call.start, call.transaction));
    if keys.len() > 1 { Vec::new() } else { calls }
}

struct Search<'a> {
    history: &'a History,
    calls: &'a [Call],
    /// The calls that were taken, and the value they left.
    seen: FxHashSet<(u64, Value)>,
    path: Vec<(TransactionId, Value)>,
    found: Vec<PartialOrder>,
}

impl Search<'_> {
    /// Continues an order, depth first: at most as deep as there are calls.
    fn visit(&mut self, taken: u64, value: Value) {
        if self.seen.len() >= STATES || !self.seen.insert((taken, value)) {
            return;
        }
        let open = |place: &usize| taken & (1 << *place) == 0;
        let left: Vec<usize> = (0..self.calls.len()).filter(open).collect();
        let deadline = left.iter().filter_map(|&place| self.calls[place].end).min();
        let deadline = deadline.unwrap_or(i64::MAX);
        let may_come = |place: &usize| self.calls[*place].start <= deadline;
        let next: Vec<usize> = left.into_iter().filter(may_come).collect();
        let mut goes_on = false;
        for &place in &next {
            let call = &self.calls[place];
            if !self.returns(call, value) {
                continue;
            }
            goes_on |= call.end.is_some();
            let after = call.write.unwrap_or(value);
            self.path.push((call.transaction, after));
            self.visit(taken | (1 << place), after);
            self.path.pop();
        }
        if !goes_on {
            let stuck = next.iter().map(|&place| &self.calls[place]);
            let stuck = stuck.filter(|call| call.end.is_some() && !self.returns(call, value));
            let stuck = stuck.map(|call| (call.transaction, value)).collect();
            self.keep(stuck);
        }
    }

    /// Whether a call may have returned what it did while the key had this value.
    fn returns(&self, call: &Call, value: Value) -> bool {
        let Some(read) = call.read else { return true };
        let operation = self.history.operation(read);
        if let Some(other) = self.history.differs_from(read) {
            return value != other;
        }
        let is_initial =
            value == Value::INITIAL && self.history.may_be_initial(operation.key, operation.value);
        operation.value == Value::UNRECORDED || operation.value == value || is_initial
    }

    /// Keeps the order so far if it is among the longest and ends in another way than those that are kept.
    fn keep(&mut self, stuck: Vec<(TransactionId, Value)>) {
        let same = |kept: &PartialOrder| kept.stuck == stuck;
        let is_longer = |kept: &PartialOrder| self.path.len() > kept.taken.len();
        match self.found.iter().position(same) {
            Some(place) if is_longer(&self.found[place]) => drop(self.found.remove(place)),
            Some(_) => return,
            None => {}
        }
        self.found.push(PartialOrder {
            taken: self.path.clone(),
            stuck,
        });
        self.found
            .sort_by_key(|kept| std::cmp::Reverse(kept.taken.len()));
        self.found.truncate(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counterexample::minimize;
    use isoscope_check::checkers::{self, Level, Options};
    use isoscope_model::control::Control;

    #[test]
    fn the_longest_order_ends_before_the_read_that_nothing_explains() {
        let text = "a: [w x 1]@0..5\ne: [w x 1]@1..5\nb: [w x 2]@6..9\nc: [r x 1]@10..12\nd: [r x 2]@10..14\n";
        let history = isoscope_formats::text::parse(text).expect("a history in our notation");
        let options = Options {
            levels: vec![Level::Linearizability],
            ..Options::default()
        };
        let findings = checkers::check(&history, &options, &Control::new(), &|_| {});
        let violation = findings
            .violations
            .iter()
            .find(|violation| violation.id.pattern == Pattern::NoLinearOrder);
        let example = minimize(&history, violation.expect("it is listed"), &Control::new());
        let orders = longest_orders(&example);
        let small = &example.history;
        let names = |all: &[(TransactionId, Value)]| {
            let name = |(t, value): &(TransactionId, Value)| {
                format!(
                    "{} {}",
                    small.transaction_name(*t),
                    small.value_name(*value)
                )
            };
            all.iter().map(name).collect::<Vec<String>>()
        };
        let first = orders.first().expect("some order works");
        assert_eq!(names(&first.stuck), ["c1 2"], "{orders:?}");
        assert_eq!(
            first.taken.last().map(|last| last.1),
            Some(first.stuck[0].1)
        );
    }
}
