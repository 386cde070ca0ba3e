//! What both kinds of script have in common: terminals, names, and expectations.

use super::{Isolation, Reproduction};
use isoscope_draw::diagram::text_size::printable;
use isoscope_model::history::SessionId;

/// The sessions that do something, in order.
pub(super) fn terminals(reproduction: &Reproduction<'_>) -> Vec<SessionId> {
    let mut sessions: Vec<SessionId> = reproduction
        .plan
        .steps
        .iter()
        .map(|step| step.session)
        .collect();
    sessions.sort_unstable();
    sessions.dedup();
    sessions
}

/// `A`, `B`, …, `Z`, `S27`, ….
pub(super) fn terminal(place: usize) -> String {
    match u8::try_from(place) {
        Ok(letter) if letter < 26 => char::from(b'A' + letter).to_string(),
        _ => format!("S{}", place + 1),
    }
}

/// The name of a transaction in a comment: without anything that could end it.
pub(super) fn transaction(
    reproduction: &Reproduction<'_>,
    t: isoscope_model::history::TransactionId,
) -> String {
    comment(&reproduction.history.transaction_name(t))
}

/// A text in a comment of either kind.
pub(super) fn comment(text: &str) -> String {
    printable(text).replace("*/", "*·")
}

/// The expected outcome of a run: sentences for comments.
pub(super) fn expectations(reproduction: &Reproduction<'_>) -> Vec<String> {
    let Reproduction {
        plan, isolation, ..
    } = reproduction;
    let weaker: Vec<&str> = plan
        .shown_at
        .iter()
        .filter(|setting| *setting < isolation)
        .map(|s| s.sql())
        .collect();
    let mut said = Vec::new();
    if weaker.is_empty() && plan.unexplained.is_empty() {
        said.push(format!(
            "In this order one copy of the data answers as observed, at {}.",
            isolation.sql()
        ));
    } else if plan.unexplained.is_empty() {
        let settings = weaker.join(" and at ");
        said.push(format!(
            "In this order one copy of the data answers as observed at {settings}."
        ));
        said.push(format!(
            "A database that keeps {isolation} refuses a statement or a COMMIT, or answers something else."
        ));
    } else {
        let reads = plan.unexplained.iter().map(|&o| {
            let t = reproduction.history.transaction_of(o);
            format!(
                "{} in {}",
                comment(&reproduction.history.operation_text(o)),
                transaction(reproduction, t)
            )
        });
        let reads: Vec<String> = reads.collect();
        said.push(format!(
            "No order was found in which one copy of the data answers as observed: here {} will differ.",
            reads.join(", ")
        ));
        said.push("What was observed needs several copies, or a fault: run this under the faults of the test.".into());
    }
    if plan.shown_at == [Isolation::ReadUncommitted] {
        said.push(
            "PostgreSQL treats READ UNCOMMITTED as READ COMMITTED; MySQL and MariaDB do not."
                .into(),
        );
    }
    said
}
