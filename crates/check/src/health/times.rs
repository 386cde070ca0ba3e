//! Whether the clocks agree with the order of the sessions, and aborts that look like time-outs.

use super::survey::Tally;
use super::words::{by_number, counted, names};
use super::{Finding, Kind, Severity};
use isoscope_model::history::{History, OperationId, OperationKind, Outcome, TransactionId};
use isoscope_model::relations::{Resolution, Source};

/// Time-outs differ by less than this share of their length.
const ALIKE: f64 = 0.02;
/// Minimum number of aborts that take equally long, and minimum length, in seconds.
const FEWEST: usize = 5;
const SHORTEST: f64 = 0.5;

/// Findings about recorded times. O(transactions), and O(operations) where aborts look like time-outs.
pub(super) fn findings(history: &History, resolution: &Resolution) -> Vec<Finding> {
    if !history.has_times() {
        return Vec::new();
    }
    let (mut overlapping, mut against): (Tally<TransactionId>, Tally<TransactionId>) =
        Default::default();
    for session in history.sessions() {
        let mut before = None;
        for t in history.transactions_of(session) {
            let Some(interval) = history.interval(t) else {
                continue;
            };
            if interval.end < interval.start
                || before.is_some_and(|(start, _)| interval.start < start)
            {
                against.push(t);
            } else if before.is_some_and(|(_, end)| interval.start < end) {
                overlapping.push(t);
            }
            // The end of a transaction of unknown outcome is unknown.
            let end = if history.outcome(t) == Outcome::Unknown {
                interval.start
            } else {
                interval.end
            };
            before = Some((interval.start, end));
        }
    }
    let mut findings: Vec<Finding> = time_outs(history, resolution).into_iter().collect();
    if overlapping.count > 0 {
        let n = overlapping.count;
        let text = format!(
            "{} {} before the one before it in its session had ended ({}): no client can do that, so these sessions are \
             several clients in one, or the times are wrong. Session order then claims more than was observed. \
             --times ignore leaves the times out.",
            counted(n, "transaction"),
            by_number(n, "began", "began each"),
            names(history, &overlapping.first, n),
        );
        let finding = Finding::new(Kind::SessionsOverlap, Severity::Caution, n, text);
        findings.push(
            finding
                .about_transactions(overlapping.first.into_iter())
                .remedy("times", "ignore"),
        );
    }
    if against.count > 0 {
        let n = against.count;
        let text = format!(
            "By the recorded times {} began before the one before {} did, or ended before {} began ({}): a clock went \
             back, or the sessions are not in order. Levels that need real time can then only be refuted through weaker \
             ones; --times ignore leaves the times out.",
            counted(n, "transaction"),
            by_number(n, "it in its session", "them in their sessions"),
            by_number(n, "it", "they"),
            names(history, &against.first, n),
        );
        let finding = Finding::new(Kind::ClockAgainstOrder, Severity::Caution, n, text);
        findings.push(
            finding
                .about_transactions(against.first.into_iter())
                .remedy("times", "ignore"),
        );
    }
    findings
}

/// Most aborted transactions took equally long, and what one of them wrote was read: perhaps clients gave up on them.
fn time_outs(history: &History, resolution: &Resolution) -> Option<Finding> {
    let second = 1.0 / history.origin().seconds_per_tick()?;
    let aborted = history
        .transactions()
        .filter(|&t| history.outcome(t) == Outcome::Aborted);
    let took = aborted.filter_map(|t| {
        history
            .interval(t)
            .map(|interval| (t, interval.end.abs_diff(interval.start)))
    });
    let took: Vec<(TransactionId, u64)> = took.collect();
    let longest = took.iter().map(|(_, ticks)| *ticks).max()? as f64;
    let is_alike = |ticks: u64| ticks as f64 >= longest * (1.0 - ALIKE);
    let alike: Vec<TransactionId> = took
        .iter()
        .filter(|(_, ticks)| is_alike(*ticks))
        .map(|(t, _)| *t)
        .collect();
    if longest < SHORTEST * second || alike.len() < FEWEST || 2 * alike.len() <= took.len() {
        return None;
    }
    let is_of_these = |read: &OperationId| match resolution.source(*read) {
        Source::Aborted { write, .. } => {
            alike.binary_search(&history.transaction_of(write)).is_ok()
        }
        _ => false,
    };
    let kinds = history
        .kinds()
        .iter()
        .enumerate()
        .filter(|(_, kind)| **kind == OperationKind::Read);
    let n = kinds
        .map(|(place, _)| OperationId::new(place))
        .filter(is_of_these)
        .count() as u64;
    let text = format!(
        "{} of {} ended {} after they began, as time-outs do, and {} returned what one of them wrote. If it was the \
         client that gave up, their outcome is unknown (a Jepsen log says :info), and such a read is not an aborted read.",
        alike.len(),
        counted(took.len() as u64, "aborted transaction"),
        history.origin().duration(longest),
        counted(n, "read"),
    );
    let finding = Finding::new(Kind::TimedOut, Severity::Caution, alike.len() as u64, text);
    (n > 0).then(|| finding.about_transactions(alike.into_iter()))
}
