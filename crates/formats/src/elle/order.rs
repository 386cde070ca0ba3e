//! The order in which invocations and completions are written.

use isoscope_model::history::{History, Interval, Outcome, TransactionId};

/// The beginning or the end of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) transaction: TransactionId,
    pub(super) completes: bool,
    /// Its time, if the history has times.
    pub(super) time: Option<i64>,
}

/// The beginnings and ends of all transactions in an order that agrees with the times of the history on whether one of
/// each pair ended before the other began; without times one that respects session order. Errors: what no such order
/// can express.
pub(super) fn steps(history: &History) -> Result<Vec<Step>, String> {
    if history.has_times() {
        timed(history)
    } else {
        Ok(untimed(history))
    }
}

/// The first transactions of all sessions concurrently, then the second ones, and so on: nothing is known about real
/// time, so it is left as open as the sessions allow.
fn untimed(history: &History) -> Vec<Step> {
    let mut transactions: Vec<TransactionId> = history.transactions().collect();
    transactions.sort_by_key(|&t| history.position_of(t));
    let step = |completes| {
        move |&transaction: &TransactionId| Step {
            transaction,
            completes,
            time: None,
        }
    };
    let rounds = transactions.chunk_by(|&a, &b| history.position_of(a) == history.position_of(b));
    rounds
        .flat_map(|round| {
            round
                .iter()
                .map(step(false))
                .chain(round.iter().map(step(true)))
        })
        .collect()
}

fn timed(history: &History) -> Result<Vec<Step>, String> {
    let mut intervals: Vec<Interval> = Vec::with_capacity(history.n_transactions());
    for t in history.transactions() {
        let name = || history.transaction_name(t);
        let interval = history
            .interval(t)
            .ok_or_else(|| format!("that {} has no times but others have", name()))?;
        if interval.end < interval.start {
            return Err(format!("that {} ended before it began", name()));
        }
        // A transaction of unknown outcome may still run, but its process continues.
        if history.position_of(t) > 0
            && let Some(before) = intervals.last_mut()
            && history.outcome(TransactionId::new(t.index() - 1)) == Outcome::Unknown
        {
            before.end = before.end.min(interval.start.max(before.start));
        }
        intervals.push(interval);
    }
    let follows = |t: TransactionId| history.position_of(t) > 0;
    // Whether a transaction begins at the moment when the one before it in its session ends.
    let joined = |t: TransactionId| {
        let at = t.index();
        at < intervals.len() && follows(t) && intervals[at - 1].end == intervals[at].start
    };
    let mut steps = Vec::with_capacity(2 * intervals.len());
    for t in history.transactions() {
        let Interval { start, end } = intervals[t.index()];
        if follows(t) && start < intervals[t.index() - 1].end {
            let before = TransactionId::new(t.index() - 1);
            let (one, other) = (
                history.transaction_name(before),
                history.transaction_name(t),
            );
            return Err(format!(
                "that {one} and {other} of one session overlap in time"
            ));
        }
        // Within a moment, beginnings come before ends, and where one of a session follows the other, between.
        let begins = (start, u8::from(joined(t)), 2 * t.index());
        let ends = (
            end,
            if joined(TransactionId::new(t.index() + 1)) {
                1
            } else {
                2
            },
            2 * t.index() + 1,
        );
        steps.extend([(begins, false, t), (ends, true, t)]);
    }
    steps.sort_unstable_by_key(|(key, ..)| *key);
    let steps: Vec<Step> = steps
        .into_iter()
        .map(|((time, ..), completes, transaction)| Step {
            transaction,
            completes,
            time: Some(time),
        })
        .collect();
    match false_order(history, &steps) {
        Some((one, other)) => Err(format!(
            "that {} had not ended when {} began, while others of their sessions end and begin at that moment",
            history.transaction_name(one),
            history.transaction_name(other)
        )),
        None => Ok(steps),
    }
}

/// Two transactions of different sessions one of which ended before the other began according to the steps, though both
/// happened at one moment.
fn false_order(history: &History, steps: &[Step]) -> Option<(TransactionId, TransactionId)> {
    // The last transaction to end at the latest moment; two of them, for there may be one of the same session.
    let mut ended: [Option<(i64, TransactionId)>; 2] = [None; 2];
    for step in steps {
        let time = step.time?;
        if step.completes {
            let t = step.transaction;
            if history.outcome(t) == Outcome::Unknown {
                continue;
            }
            let others = ended.into_iter().flatten();
            let other = others
                .filter(|(_, e)| history.session_of(*e) != history.session_of(t))
                .max_by_key(|(at, _)| *at);
            ended = [Some((time, t)), other];
            continue;
        }
        let before = ended.into_iter().flatten().find(|&(at, e)| {
            at == time && history.session_of(e) != history.session_of(step.transaction)
        });
        if let Some((_, before)) = before {
            return Some((before, step.transaction));
        }
    }
    None
}
