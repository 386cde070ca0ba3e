//! Why a level holds, as text: a paragraph, then a line for each transaction of the order.

use super::sentences::name;
use super::{OrderLine, Passes, Seen, Surroundings, why};
use crate::counterexample::replay::StepKind;
use crate::document::{self, Block, Document, Reader, code, text};
use isoscope_model::history::{OperationId, Value, grouped};
use std::fmt::Write;

/// Lines and operations of a line that are shown unless all are requested.
const MOST: (usize, usize) = (50, 12);

/// Title, paragraph and order as plain text, ending with a newline; `all` shows every line and operation.
pub fn plain_text(passes: &Passes<'_>, surroundings: &Surroundings<'_>, all: bool) -> String {
    let mut out = format!(
        "{}\n\n{}\n\n{}\n",
        title(passes),
        why(passes, surroundings).join(" "),
        heading(passes)
    );
    for (place, line_of) in shown(passes, all).iter().enumerate() {
        let _ = writeln!(out, "{:4}  {}", place + 1, line(passes, line_of, all));
    }
    if let Some(rest) = rest(passes, all) {
        let _ = writeln!(out, "      {rest}`--long` shows all.");
    }
    out
}

/// Title, paragraph and order as Markdown, ending with a newline; `all` shows every line and operation.
pub fn markdown(passes: &Passes<'_>, surroundings: &Surroundings<'_>, all: bool) -> String {
    let mut report = Document::default();
    report.heading(2, title(passes));
    report.paragraph(vec![text(why(passes, surroundings).join(" "))]);
    report.heading(3, heading(passes));
    let lines = shown(passes, all).iter();
    let lines = lines.map(|line_of| vec![text(line(passes, line_of, all))]);
    report.blocks.push(Block::Numbered(1, lines.collect()));
    if let Some(rest) = rest(passes, all) {
        report.paragraph(vec![text(rest), code("--long"), text(" shows all.")]);
    }
    document::markdown(&report, Reader::Anyone)
}

fn shown<'p>(passes: &'p Passes<'_>, all: bool) -> &'p [OrderLine] {
    let n = if all {
        passes.lines.len()
    } else {
        passes.lines.len().min(MOST.0)
    };
    &passes.lines[..n]
}

fn rest(passes: &Passes<'_>, all: bool) -> Option<String> {
    let left = passes.lines.len() - shown(passes, all).len();
    (left > 0).then(|| format!("… and {} more: ", grouped(left as u64)))
}

/// "Snapshot isolation (SI) holds".
pub fn title(passes: &Passes<'_>) -> String {
    crate::counterexample::sentences::capitalized(&format!("{} holds", name(passes.level())))
}

fn heading(passes: &Passes<'_>) -> &'static str {
    match (passes.is_ordered(), passes.level().has_snapshots()) {
        (false, _) => "What each read returned",
        (true, true) => "The order of starts and commits",
        (true, false) => "The order",
    }
}

/// A line of the order: the transaction, what it does, and what each of its reads returned. `all` shows every operation
/// of a long transaction.
pub fn line(passes: &Passes<'_>, line: &OrderLine, all: bool) -> String {
    let history = passes.history;
    let name = history.transaction_name(line.transaction);
    let session = if history.is_named_by_position(line.transaction) {
        String::new()
    } else {
        format!(
            " of session {}",
            history.session_and_node(history.session_of(line.transaction))
        )
    };
    let (verb, nothing) = match line.moment {
        StepKind::Run => ("", "no operations"),
        StepKind::Start => (" starts", "no reads"),
        StepKind::Commit => (" commits", "no writes"),
    };
    let operations: Vec<OperationId> = passes.operations(line).collect();
    let n = if all {
        operations.len()
    } else {
        operations.len().min(MOST.1)
    };
    let mut done: Vec<String> = operations[..n]
        .iter()
        .map(|&operation| operation_text(passes, line, operation))
        .collect();
    if operations.len() > n {
        done.push(format!("… {} more", grouped((operations.len() - n) as u64)));
    }
    let done = if done.is_empty() {
        nothing.to_owned()
    } else {
        done.join("; ")
    };
    format!("{name}{session}{verb}: {done}")
}

/// "r(x) = 1 from a1".
fn operation_text(passes: &Passes<'_>, line: &OrderLine, operation: OperationId) -> String {
    let history = passes.history;
    let text = history.operation_text(operation);
    let writer = |write: OperationId| history.transaction_name(history.transaction_of(write));
    let Some(seen) = passes.seen(operation) else {
        return text;
    };
    // A list that is empty does not say so.
    let is_named = history.lists().read_by(operation).is_none()
        && history.operation(operation).value == Value::INITIAL;
    let source = match seen {
        Seen::Own => ", its own write".to_owned(),
        Seen::Initial if is_named => String::new(),
        Seen::Initial => " from the initial state".to_owned(),
        Seen::Write(write) => format!(" from {}", writer(write)),
        Seen::Unrecorded => ", result not recorded".to_owned(),
        Seen::Open => " from one of several writers".to_owned(),
        Seen::Aborted(write) => format!(" from {}, which aborted: ignored", writer(write)),
        Seen::Ignored => ": ignored".to_owned(),
    };
    let missed = if passes.level().reads_newest() {
        None
    } else {
        passes.missed(line, operation)
    };
    let missed = missed.map_or(String::new(), |newest| {
        format!(
            ", without the newer version of {}",
            history.transaction_name(newest)
        )
    });
    format!("{text}{source}{missed}")
}
