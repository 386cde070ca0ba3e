//! Whether the clocks agree with the order of the sessions.

use super::survey::Tally;
use super::words::{by_number, counted, names};
use super::{Finding, Kind, Severity};
use crate::history::{History, Outcome, TransactionId};

/// Findings about recorded times. O(transactions).
pub(super) fn findings(history: &History) -> Vec<Finding> {
    if !history.has_times() {
        return Vec::new();
    }
    let (mut overlapping, mut against): (Tally<TransactionId>, Tally<TransactionId>) = Default::default();
    for session in history.sessions() {
        let mut before = None;
        for t in history.transactions_of(session) {
            let Some(interval) = history.interval(t) else { continue };
            if interval.end < interval.start || before.is_some_and(|(start, _)| interval.start < start) {
                against.push(t);
            } else if before.is_some_and(|(_, end)| interval.start < end) {
                overlapping.push(t);
            }
            // The end of a transaction of unknown outcome is unknown.
            let end = if history.outcome(t) == Outcome::Unknown { interval.start } else { interval.end };
            before = Some((interval.start, end));
        }
    }
    let mut findings = Vec::new();
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
        findings.push(finding.about_transactions(overlapping.first.into_iter()).remedy("times", "ignore"));
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
        findings.push(finding.about_transactions(against.first.into_iter()).remedy("times", "ignore"));
    }
    findings
}
