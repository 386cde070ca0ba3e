//! Operations that no order explains, over time: the longest order that works, and what cannot come next in it.

use isoscope_draw::diagram::linear::{Call, Linear, scene};
use isoscope_draw::diagram::scene::Scene;
use isoscope_draw::diagram::text_size::{elide, printable};
use isoscope_model::history::{
    History, OperationKind, Outcome, SessionId, TransactionId, Value, counted,
};
use isoscope_tell::counterexample::{Counterexample, PartialOrder, longest_orders};

/// Maximum number of calls drawn; earlier ones are counted.
const MOST: usize = 14;
/// Most columns of a value.
const VALUE: usize = 12;

/// How to read it.
pub const ABOUT_LINEAR: &str = "A bar is an operation from its start to its end (dotted: outcome unknown). The line is the longest order that \
                              works, with the value after each step. Red: what would have to come next.";

/// The scene of the longest order of a counterexample to linearizability; none for others.
pub(super) fn of_longest(example: &Counterexample) -> Option<Scene> {
    let orders = longest_orders(example);
    Some(linear_scene(example, orders.first()?))
}

/// The scene of one of the orders that [`longest_orders`] gives. O(calls²).
pub fn linear_scene(example: &Counterexample, order: &PartialOrder) -> Scene {
    let history = &example.history;
    let value = |value: Value| match value {
        Value::INITIAL => "initial".to_owned(),
        value => elide(&printable(&history.value_name(value)), VALUE),
    };
    let number = |t: TransactionId| {
        let place = order.taken.iter().position(|(taken, _)| *taken == t)?;
        Some((place + 1, format!("= {}", value(order.taken[place].1))))
    };
    let expected = |t: TransactionId| {
        let stuck = order.stuck.iter().find(|(stuck, _)| *stuck == t)?;
        let mut operations = history.operations_of(t);
        let verb = match operations.any(|o| history.differs_from(o).is_some()) {
            true => "should have found",
            false => "should have returned",
        };
        Some(format!("{verb} {}", value(stuck.1)))
    };
    let mut shown: Vec<TransactionId> = history
        .transactions()
        .filter(|&t| history.outcome(t) != Outcome::Aborted)
        .collect();
    // The earliest of the order go first: what follows depends on them only by the value that they leave.
    let first = order
        .taken
        .len()
        .saturating_sub(MOST - order.stuck.len().min(MOST));
    shown.retain(|&t| match number(t) {
        Some((place, _)) => place > first,
        None => expected(t).is_some() || shown_beside(history, t, order),
    });
    let mut sessions: Vec<SessionId> = shown.iter().map(|&t| history.session_of(t)).collect();
    sessions.sort_unstable();
    sessions.dedup();
    let call = |&t: &TransactionId| {
        let ran = history.interval(t)?;
        Some(Call {
            transaction: t,
            row: sessions.binary_search(&history.session_of(t)).ok()?,
            ran: (
                ran.start,
                (history.outcome(t) == Outcome::Committed).then_some(ran.end),
            ),
            text: words(history, t),
            taken: number(t),
            expected: expected(t),
        })
    };
    let name = |s: &SessionId| printable(&history.session_and_node(*s));
    let all = history.transactions();
    let n_others = all
        .filter(|&t| history.outcome(t) != Outcome::Aborted)
        .count();
    let n_others = n_others.saturating_sub(first + shown.len());
    let earlier = first.checked_sub(1).map(|last| {
        let (n, left) = (
            counted(first, "earlier operation"),
            value(order.taken[last].1),
        );
        format!("{n}, which left {left}")
    });
    let others = (n_others > 0).then(|| format!("{n_others} that this order does not reach"));
    let left_out: Vec<String> = earlier.into_iter().chain(others).collect();
    let before = (!left_out.is_empty()).then(|| format!("Not drawn: {}.", left_out.join(", and ")));
    scene(&Linear {
        rows: sessions
            .iter()
            .map(|s| elide(&format!("session {}", name(s)), 24))
            .collect(),
        calls: shown.iter().filter_map(call).collect(),
        before,
    })
}

/// Whether a call that is not in the order began before the last one of it that did.
fn shown_beside(history: &History, t: TransactionId, order: &PartialOrder) -> bool {
    let start = |t: TransactionId| history.interval(t).map(|ran| ran.start);
    let all = order.taken.iter().chain(&order.stuck);
    let last = all.filter_map(|(taken, _)| start(*taken)).max();
    history.outcome(t) == Outcome::Committed && start(t) <= last
}

/// `S1#2 w 1`, `S1#2 r 4`, `S1#2 cas 1 → 2` for a compare-and-set.
fn words(history: &History, t: TransactionId) -> String {
    let of = |kind: OperationKind| {
        let mut all = history.operations_of(t);
        let o = all.find(|&o| history.operation(o).kind == kind)?;
        let value = printable(&history.value_name(history.operation(o).value));
        let differs = history.differs_from(o);
        Some(match differs {
            Some(other) => format!("≠ {}", elide(&printable(&history.value_name(other)), VALUE)),
            None => elide(&value, VALUE),
        })
    };
    let said = match (of(OperationKind::Read), of(OperationKind::Write)) {
        (Some(read), Some(written)) => format!("cas {read} → {written}"),
        (Some(read), None) => format!("r {read}"),
        (None, Some(written)) => format!("w {written}"),
        (None, None) => String::new(),
    };
    format!(
        "{} {said}",
        elide(&printable(&history.transaction_name(t)), VALUE)
    )
}
