//! What a format cannot express: compares a history with what is read back.

use isoscope_model::history::{
    History, KeyId, Names, Operation, OperationId, OperationKind, Outcome, SessionId,
    TransactionId, Value,
};
use rustc_hash::FxHashSet;

/// What `again`, which was written in some format and read back, lacks of `original`: phrases for display. None of it
/// changes a verdict at a level that needs no times: the same operations have the same values, and the same ones may be
/// initial. O(operations).
///
/// Errors: what would change a verdict.
pub fn losses(original: &History, again: &History) -> Result<Vec<String>, String> {
    let (one, other) = (original.figures(), again.figures());
    if one.transactions != other.transactions {
        return Err(format!(
            "{} transactions became {}",
            one.transactions, other.transactions
        ));
    }
    let by_name = Counterpart::by_name(original, again);
    let counterpart = match by_name.filter(|counterpart| counterpart.all_same().is_ok()) {
        Some(counterpart) => counterpart,
        None => Counterpart::by_order(original, again),
    };
    counterpart.all_same()?;
    let transactions = || original.transactions();
    let sets_up = |history: &History, t: TransactionId| history.set_up().binary_search(&t).is_ok();
    if let Some(t) =
        transactions().find(|&t| sets_up(original, t) != sets_up(again, counterpart.of(t)))
    {
        let name = original.transaction_name(t);
        return Err(if sets_up(original, t) {
            format!("that {name} sets up the initial state is lost")
        } else {
            format!("{name} becomes one that sets up the initial state")
        });
    }
    let differs = |of: &dyn Fn(&History, TransactionId) -> String| {
        transactions().any(|t| of(original, t) != of(again, counterpart.of(t)))
    };
    let mut losses = Vec::new();
    if one.operations != other.operations {
        losses.push("what aborted transactions read".to_owned());
    }
    if one.sessions != other.sessions {
        losses.push("sessions without transactions".to_owned());
    }
    if differs(&|history, t| history.exact_session_name(history.session_of(t))) {
        losses.push("the names of sessions".to_owned());
    }
    let named = transactions().any(|t| original.transaction_label(t).is_some());
    if named && differs(&|history, t| history.exact_transaction_name(t)) {
        losses.push("the names of transactions".to_owned());
    }
    if original.has_times()
        && transactions().any(|t| original.interval(t) != again.interval(counterpart.of(t)))
    {
        // A transaction that writes initial values is no setup if it ran late, which only times can show.
        let writes_initial =
            original.set_up().is_empty() && !counterpart.written_initial[0].is_empty();
        if writes_initial && !again.has_times() {
            return Err(
                "when transactions ran is lost, which tells whether those that write initial values came first"
                    .to_owned(),
            );
        }
        losses.push(if again.has_times() {
            "when transactions ran, but for their order".to_owned()
        } else {
            "when transactions ran, which strict serializability needs".to_owned()
        });
    }
    if !original.has_times() && again.has_times() {
        losses.push(
            "that nothing is known of real time: what is read back has the order written (--times ignore)".to_owned(),
        );
    }
    if differs(&|history, t| {
        history
            .cluster()
            .node_of(history.session_of(t))
            .unwrap_or_default()
    }) {
        losses.push("on which nodes sessions ran".to_owned());
    }
    if original.cluster().incidents() != again.cluster().incidents() {
        losses.push("what happened to the system meanwhile".to_owned());
    }
    let operations = || (0..original.n_operations()).map(OperationId::new);
    if operations().any(|o| original.differs_from(o).is_some()) && again.n_operations() > 0 {
        let kept = (0..again.n_operations())
            .map(OperationId::new)
            .any(|o| again.differs_from(o).is_some());
        if !kept {
            losses.push("what failed compare-and-sets did not find".to_owned());
        }
    }
    Ok(losses)
}

/// The sessions that have transactions.
fn used_sessions(history: &History) -> Vec<SessionId> {
    history
        .sessions()
        .filter(|&s| history.transactions_of(s).len() > 0)
        .collect()
}

/// The transactions of one history in another that has them in the same order, sessions perhaps in another one.
struct Counterpart<'a> {
    original: &'a History,
    again: &'a History,
    /// By transaction of the original.
    of: Vec<TransactionId>,
    /// What may be initial and is also written, in the original and in the other.
    written_initial: [FxHashSet<(KeyId, Value)>; 2],
}

/// The keys and values written that may also be initial.
fn written_initial(history: &History) -> FxHashSet<(KeyId, Value)> {
    let operations = history
        .kinds()
        .iter()
        .zip(history.keys())
        .zip(history.values());
    let written = operations
        .filter(|((kind, _), _)| **kind == OperationKind::Write)
        .map(|((_, &k), &v)| (k, v));
    written
        .filter(|&(key, value)| history.may_be_initial(key, value))
        .collect()
}

/// Whether two names are the same.
fn same_name(one: &Names, a: usize, other: &Names, b: usize) -> bool {
    match (one.number(a), other.number(b)) {
        (Some(a), Some(b)) => a == b,
        _ => one.text(a) == other.text(b),
    }
}

/// Whether two values that are neither initial nor unrecorded have the same name.
fn same_value_name(one: &History, a: Value, other: &History, b: Value) -> bool {
    match (one.value_names(), other.value_names()) {
        (None, None) => a == b,
        _ => one.exact_value_name(a) == other.exact_value_name(b),
    }
}

impl<'a> Counterpart<'a> {
    /// Matches sessions by name, if the names are the same.
    fn by_name(original: &'a History, again: &'a History) -> Option<Counterpart<'a>> {
        let (mine, theirs) = (used_sessions(original), used_sessions(again));
        let by_name: std::collections::HashMap<String, usize> = theirs
            .iter()
            .enumerate()
            .map(|(at, &s)| (again.exact_session_name(s), at))
            .collect();
        let places: Option<Vec<usize>> = mine
            .iter()
            .map(|&s| by_name.get(&original.exact_session_name(s)).copied())
            .collect();
        let places = places.filter(|_| by_name.len() == mine.len())?;
        Some(Counterpart::new(original, again, &places))
    }

    /// Matches sessions by their order.
    fn by_order(original: &'a History, again: &'a History) -> Counterpart<'a> {
        Counterpart::new(
            original,
            again,
            &(0..original.n_sessions()).collect::<Vec<_>>(),
        )
    }

    /// Matches the first session of the original with that at the first place of the other, and so on.
    fn new(original: &'a History, again: &'a History, places: &[usize]) -> Counterpart<'a> {
        let (mine, theirs) = (used_sessions(original), used_sessions(again));
        let mut of = vec![TransactionId(0); original.n_transactions()];
        for (&session, &place) in mine.iter().zip(places) {
            let theirs = theirs.get(place).map(|&s| again.transactions_of(s));
            for (t, other) in original
                .transactions_of(session)
                .zip(theirs.into_iter().flatten())
            {
                of[t.index()] = other;
            }
        }
        let written_initial = [original, again].map(written_initial);
        Counterpart {
            original,
            again,
            of,
            written_initial,
        }
    }

    fn of(&self, t: TransactionId) -> TransactionId {
        self.of[t.index()]
    }

    fn all_same(&self) -> Result<(), String> {
        self.original
            .transactions()
            .try_for_each(|t| self.same_meaning(t))
    }

    /// Whether a transaction reads and writes the same with the same outcome.
    fn same_meaning(&self, t: TransactionId) -> Result<(), String> {
        let other = self.of(t);
        let name = || self.original.transaction_name(t);
        if self.original.outcome(t) != self.again.outcome(other) {
            return Err(format!("the outcome of {} is lost", name()));
        }
        // Reads of an aborted transaction constrain nothing; some formats do not keep them.
        let counts = |history: &History, o: OperationId, outcome: Outcome| {
            outcome != Outcome::Aborted || history.kinds()[o.index()] == OperationKind::Write
        };
        let outcome = self.original.outcome(t);
        let mut others = self
            .again
            .operations_of(other)
            .filter(|&o| counts(self.again, o, outcome));
        for o in self
            .original
            .operations_of(t)
            .filter(|&o| counts(self.original, o, outcome))
        {
            let same = others
                .next()
                .is_some_and(|other| self.same_operation(o, other));
            if !same {
                return Err(format!(
                    "{} of {} becomes something else",
                    self.original.operation_text(o),
                    name()
                ));
            }
        }
        Ok(())
    }

    fn same_operation(&self, one: OperationId, other: OperationId) -> bool {
        let (a, b) = (self.original.operation(one), self.again.operation(other));
        a.kind == b.kind
            && same_name(
                self.original.key_names(),
                a.key.index(),
                self.again.key_names(),
                b.key.index(),
            )
            && self.original.lists().is_list(a.key) == self.again.lists().is_list(b.key)
            && match (
                self.original.lists().read_by(one),
                self.again.lists().read_by(other),
            ) {
                (None, None) => self.same_value(a, b),
                (Some(a), Some(b)) => {
                    a.len() == b.len()
                        && a.iter()
                            .zip(b)
                            .all(|(&a, &b)| same_value_name(self.original, a, self.again, b))
                }
                _ => false,
            }
    }

    /// Whether two operations return or write the same, and may both return the initial version or both not.
    fn same_value(&self, a: Operation, b: Operation) -> bool {
        let initial = [
            self.original.may_be_initial(a.key, a.value),
            self.again.may_be_initial(b.key, b.value),
        ];
        let is_word = |value: Value| value == Value::INITIAL || value == Value::UNRECORDED;
        match (is_word(a.value), is_word(b.value)) {
            (true, true) => a.value == b.value && initial[0] == initial[1],
            (false, false) => {
                initial[0] == initial[1]
                    && same_value_name(self.original, a.value, self.again, b.value)
            }
            // The word for the initial version is unambiguous; a value that was also written has two meanings.
            _ => {
                initial == [true, true]
                    && !self.written_initial[0].contains(&(a.key, a.value))
                    && !self.written_initial[1].contains(&(b.key, b.value))
            }
        }
    }
}
