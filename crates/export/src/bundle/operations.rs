//! All operations of the transactions of a counterexample, those that the picture leaves out included.

use super::html::escape;
use super::{Brief, Picture};
use crate::svg::mark_name;
use isoscope_draw::diagram::Target;
use isoscope_model::history::{History, OperationId, TransactionId, grouped};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Most operations listed of one transaction; the file has the others.
const MOST_ROWS: usize = 500;

/// A table for each transaction, folded.
pub(super) fn operations(brief: &Brief<'_>, picture: &Picture) -> String {
    let small = &brief.example.history;
    // A case that is drawn alone may leave transactions out; the argument is about all of them.
    let drawn = picture
        .diagram
        .cards
        .iter()
        .flat_map(|card| card.transactions())
        .filter(|t| !t.is_initial());
    let mut order: Vec<TransactionId> = drawn.collect();
    let others: Vec<TransactionId> = small
        .transactions()
        .filter(|t| !order.contains(t))
        .collect();
    order.extend(others);
    let mut out = String::from("<section class=\"operations\" aria-labelledby=\"operations\">\n");
    out.push_str("<h2 id=\"operations\">All operations of these transactions</h2>\n");
    out.push_str("<p>In the order in which each transaction made them. Coloured: those of the argument.</p>\n");
    order.iter().for_each(|&t| transaction(&mut out, brief, t));
    out.push_str("</section>\n");
    out
}

fn transaction(out: &mut String, brief: &Brief<'_>, t: TransactionId) {
    let (small, whole) = (&brief.example.history, brief.whole);
    let old = brief.example.renaming.old_transaction(t);
    let all: Vec<OperationId> = whole.operation_range(old).map(OperationId::new).collect();
    let mentioned = mentioned(brief, t);
    let name = mark_name(Target::Transaction(t));
    let n = all.len();
    let plural = if n == 1 { "" } else { "s" };
    let _ = write!(
        out,
        "<details id=\"rows-{name}\"><summary><code>{}</code> ",
        escape(&small.transaction_name(t))
    );
    let _ = write!(
        out,
        "{}: {} operation{plural}, ",
        escape(&circumstances(whole, old)),
        grouped(n as u64)
    );
    let _ = writeln!(out, "{} of the argument</summary>", mentioned.len());
    out.push_str(
        "<div class=\"wide\"><table>\n<thead><tr><th>#</th><th>operation</th><th>where</th>",
    );
    out.push_str("<th>statement</th></tr></thead>\n<tbody>\n");
    for (place, &operation) in all.iter().enumerate().take(MOST_ROWS) {
        let spot = whole
            .spot_of(operation)
            .map(|spot| spot.text(whole.origin()))
            .unwrap_or_default();
        let class = if mentioned.contains_key(&operation) {
            " class=\"told\""
        } else {
            ""
        };
        let lines: Vec<String> = mentioned
            .get(&operation)
            .into_iter()
            .flatten()
            .map(|n| format!("<a href=\"#line-{n}\">{n}</a>"))
            .collect();
        let text = escape(&whole.operation_text_in_full(operation));
        let (spot, lines) = (escape(&spot), lines.join(", "));
        let _ = writeln!(
            out,
            "<tr{class}><td>{}</td><td><code>{text}</code></td><td>{spot}</td><td>{lines}</td></tr>",
            place + 1
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
    if n > MOST_ROWS {
        let _ = writeln!(
            out,
            "<p>The file has {} more.</p>",
            grouped((n - MOST_ROWS) as u64)
        );
    }
    out.push_str("</details>\n");
}

/// "committed, session 3, from time 5 to 9".
fn circumstances(whole: &History, t: TransactionId) -> String {
    let outcome = whole.outcome(t).words();
    let session = whole.session_and_node(whole.session_of(t));
    let times = whole
        .interval(t)
        .map(|times| format!(", from time {} to time {}", times.start, times.end));
    format!("{outcome}, session {session}{}", times.unwrap_or_default())
}

/// The operations of a transaction that the argument is about, with the numbers of the lines that mention them.
fn mentioned(brief: &Brief<'_>, t: TransactionId) -> BTreeMap<OperationId, Vec<usize>> {
    let example = brief.example;
    let mut mentioned: BTreeMap<OperationId, Vec<usize>> = BTreeMap::new();
    for operation in example.shown_operations() {
        if example.history.transaction_of(operation) == t {
            let steps = brief.explanation.steps.iter().enumerate();
            let numbers = steps
                .filter(|(_, step)| step.operations.contains(&operation))
                .map(|(place, _)| place + 1);
            mentioned.insert(
                example.renaming.operations[operation.index()],
                numbers.collect(),
            );
        }
    }
    mentioned
}
