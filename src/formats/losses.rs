//! What a format has no words for: a history compared with what is read back of it.

use crate::history::{History, OperationId, OperationKind, Outcome, SessionId, TransactionId};

/// What of `original` is not in `again`, which was written in some format and read back: phrases for people. Nothing of it
/// changes a verdict at a level that needs no times. O(operations).
///
/// Errors: what would change a verdict.
pub fn losses(original: &History, again: &History) -> Result<Vec<String>, String> {
    let (one, other) = (original.figures(), again.figures());
    if one.transactions != other.transactions {
        return Err(format!("{} transactions became {}", one.transactions, other.transactions));
    }
    let by_name = Counterpart::by_name(original, again);
    let counterpart = match by_name.filter(|counterpart| counterpart.all_same().is_ok()) {
        Some(counterpart) => counterpart,
        None => Counterpart::by_order(original, again),
    };
    counterpart.all_same()?;
    let transactions = || original.transactions();
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
    if differs(&|history, t| history.session_name(history.session_of(t))) {
        losses.push("the names of sessions".to_owned());
    }
    let named = transactions().any(|t| original.transaction_label(t).is_some());
    if named && differs(&|history, t| history.transaction_name(t)) {
        losses.push("the names of transactions".to_owned());
    }
    if original.has_times() && transactions().any(|t| original.interval(t) != again.interval(counterpart.of(t))) {
        losses.push(match again.has_times() {
            true => "when transactions ran, but for their order".to_owned(),
            false => "when transactions ran, which strict serializability needs".to_owned(),
        });
    }
    if !original.has_times() && again.has_times() {
        losses.push(
            "that nothing is known of real time: what is read back has the order written (--times ignore)".to_owned(),
        );
    }
    if original.set_up().iter().any(|&t| !again.set_up().contains(&counterpart.of(t))) {
        losses.push(
            "that a transaction set up the initial state: say it again with --init, or verdicts may differ".to_owned(),
        );
    }
    let operations = || (0..original.n_operations()).map(OperationId::new);
    if operations().any(|o| original.differs_from(o).is_some()) && again.n_operations() > 0 {
        let kept = (0..again.n_operations()).map(OperationId::new).any(|o| again.differs_from(o).is_some());
        if !kept {
            losses.push("what failed compare-and-sets did not find".to_owned());
        }
    }
    Ok(losses)
}

/// The sessions that have transactions.
fn used_sessions(history: &History) -> Vec<SessionId> {
    history.sessions().filter(|&s| history.transactions_of(s).len() > 0).collect()
}

/// The transactions of one history in another that has them in the same order, sessions perhaps in another one.
struct Counterpart<'a> {
    original: &'a History,
    again: &'a History,
    /// By transaction of the original.
    of: Vec<TransactionId>,
}

impl<'a> Counterpart<'a> {
    /// Sessions go together by name, if the names are the same.
    fn by_name(original: &'a History, again: &'a History) -> Option<Counterpart<'a>> {
        let (mine, theirs) = (used_sessions(original), used_sessions(again));
        let by_name: std::collections::HashMap<String, usize> =
            theirs.iter().enumerate().map(|(at, &s)| (again.session_name(s), at)).collect();
        let places: Option<Vec<usize>> =
            mine.iter().map(|&s| by_name.get(&original.session_name(s)).copied()).collect();
        let places = places.filter(|_| by_name.len() == mine.len())?;
        Some(Counterpart::new(original, again, &places))
    }

    /// Sessions go together by their order.
    fn by_order(original: &'a History, again: &'a History) -> Counterpart<'a> {
        Counterpart::new(original, again, &(0..original.n_sessions()).collect::<Vec<_>>())
    }

    /// The first session of the original goes with that at the first place of the other, and so on.
    fn new(original: &'a History, again: &'a History, places: &[usize]) -> Counterpart<'a> {
        let (mine, theirs) = (used_sessions(original), used_sessions(again));
        let mut of = vec![TransactionId(0); original.n_transactions()];
        for (&session, &place) in mine.iter().zip(places) {
            let theirs = theirs.get(place).map(|&s| again.transactions_of(s));
            for (t, other) in original.transactions_of(session).zip(theirs.into_iter().flatten()) {
                of[t.index()] = other;
            }
        }
        Counterpart { original, again, of }
    }

    fn of(&self, t: TransactionId) -> TransactionId {
        self.of[t.index()]
    }

    fn all_same(&self) -> Result<(), String> {
        self.original.transactions().try_for_each(|t| self.same_meaning(t))
    }

    /// Whether a transaction reads and writes the same with the same outcome.
    fn same_meaning(&self, t: TransactionId) -> Result<(), String> {
        let other = self.of(t);
        let name = || self.original.transaction_name(t);
        if self.original.outcome(t) != self.again.outcome(other) {
            return Err(format!("the outcome of {} is lost", name()));
        }
        // What an aborted transaction read constrains nothing; some formats do not keep it.
        let counts = |history: &History, o: OperationId, outcome: Outcome| {
            outcome != Outcome::Aborted || history.kinds()[o.index()] == OperationKind::Write
        };
        let outcome = self.original.outcome(t);
        let mut others = self.again.operations_of(other).filter(|&o| counts(self.again, o, outcome));
        for o in self.original.operations_of(t).filter(|&o| counts(self.original, o, outcome)) {
            let same = others.next().is_some_and(|other| self.same_operation(o, other));
            if !same {
                return Err(format!("{} of {} becomes something else", self.original.operation_text(o), name()));
            }
        }
        Ok(())
    }

    fn same_operation(&self, one: OperationId, other: OperationId) -> bool {
        let (a, b) = (self.original.operation(one), self.again.operation(other));
        let is_initial = |history: &History, o: crate::history::Operation| history.may_be_initial(o.key, o.value);
        let both_initial = is_initial(self.original, a) && is_initial(self.again, b);
        let texts = || self.original.operation_text(one) == self.again.operation_text(other);
        a.kind == b.kind
            && self.original.key_name(a.key) == self.again.key_name(b.key)
            && (texts()
                || both_initial
                || self.original.differs_from(one).is_some()
                || self.original.value_name(a.value) == self.again.value_name(b.value))
    }
}
