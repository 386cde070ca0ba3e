//! An explanation as text: for terminals and for issue trackers.
//!
//! Only assembles the text of [`explain`](super::explain); ids, lines and names are those of the file.

use super::first_case::restated;
use super::sentence::{Sentence, say};
use super::sentences::step_number;
use super::{
    Counterexample, EdgeReason, Explanation, Statement, Step, StepRole, edges_to_draw, sentences,
};
use crate::document::{self, Block, Document, Inline, InlineText, Reader, code, strong, text};
use isoscope_model::history::{History, OperationId, TransactionId, visible};
use isoscope_model::relations::Edge;

/// A step as a sentence with its full stop, and what it rests on: "T1 came before T2. (from 1, 3)".
pub fn sentence(step: &Step) -> Sentence {
    let from = from(step);
    let blank = if from.is_empty() { "" } else { " " };
    say!("{}{blank}{from}", said(step))
}

/// A step as a sentence with its full stop: "T1 came before T2."
pub fn said(step: &Step) -> Sentence {
    say!("{}.", step.text.clone().begun())
}

/// What a step rests on: "(line 40, written at line 12)" in the file, "(from 1, 3)" for earlier steps, or both; empty
/// where its text says so.
pub fn from(step: &Step) -> Sentence {
    let numbers = step.premises.iter().map(|place| step_number(place + 1));
    let premises =
        (!step.premises.is_empty()).then(|| say!("from {}", Sentence::join(numbers, ", ")));
    let found_at = Some(step.found_at.clone()).filter(|places| !places.is_empty());
    let (premises, found_at) = match step.role {
        StepRole::Observed | StepRole::Concluded => (premises, found_at),
        StepRole::Supposed if matches!(step.says, Statement::OpenWriter { .. }) => (None, found_at),
        // With the write, which no other line need give.
        StepRole::Supposed
            if step.operations.len() > 1 && matches!(step.says, Statement::Suppose { .. }) =>
        {
            (None, found_at)
        }
        // The text of a contradiction of edges names the steps.
        StepRole::Contradiction if !step.edges.is_empty() => (None, None),
        StepRole::Supposed | StepRole::Contradiction => (premises, None),
        StepRole::Rule => (None, None),
    };
    match Sentence::join(premises.into_iter().chain(found_at), "; ") {
        nothing if nothing.is_empty() => nothing,
        rests_on => say!("({rests_on})"),
    }
}

/// The steps with their numbers, and with a heading where one begins.
pub fn numbered(explanation: &Explanation) -> impl Iterator<Item = (Option<String>, usize, &Step)> {
    let headings = explanation.steps.iter().map(Step::heading);
    let before = std::iter::once(None).chain(headings.clone().map(Some));
    let is_new = headings
        .zip(before)
        .map(|(heading, before)| (before.as_ref() != Some(&heading)).then_some(heading));
    is_new
        .zip(&explanation.steps)
        .enumerate()
        .map(|(place, (heading, step))| (heading, place + 1, step))
}

/// The counterexample in plain text, ending with a newline. `whole` is the history it was taken from.
pub fn plain_text(example: &Counterexample, explanation: &Explanation, whole: &History) -> String {
    let mut lines = String::new();
    let mut line = |lead: &str, words: String| {
        lines.extend([lead, &words, "\n"]);
    };
    line("", explanation.title.clone());
    explanation
        .block()
        .into_iter()
        .for_each(|said| line("", said));
    line("", String::new());
    for (heading, number, step) in numbered(explanation) {
        let indent = "    ".repeat(step.depth());
        if let Some(heading) = heading {
            line(&indent, heading);
        }
        line(&format!("{indent}{number:4}  "), sentence(step).into());
    }
    line("", String::new());
    line("", explanation.size.clone());
    line("", String::new());
    let shown = example.shown_operations();
    let history = &example.history;
    for t in telling_order(example) {
        let session = history.session_and_node(history.session_of(t));
        let (name, outcome) = (history.transaction_name(t), history.outcome(t).words());
        line("", format!("{name} (session {session}, {outcome})"));
        let (rows, others) = rows(example, whole, t, &shown);
        for (text, place) in rows {
            let place = place.map(|place| format!("    {place}"));
            line("    ", text + &place.unwrap_or_default());
        }
        if others > 0 {
            let others = sentences::counted(others, "other operation");
            line("    ", format!("+ {others}"));
        }
    }
    if !example.violation.edges.is_empty() {
        line("", String::new());
    }
    for (edge, reason) in explained_edges(example, explanation) {
        line(
            "",
            format!("{}: {}", edge_label(example, edge), reason.text),
        );
    }
    unexplained_edges(example)
        .into_iter()
        .for_each(|rest| line("", rest));
    line("", String::new());
    explanation
        .details()
        .into_iter()
        .for_each(|detail| line("", detail));
    line("", format!("In the literature: {}.", explanation.codes));
    lines
}

/// The counterexample as Markdown, ending with a newline. `whole` is the history it was taken from; its path and size
/// are named.
pub fn markdown(example: &Counterexample, explanation: &Explanation, whole: &History) -> String {
    let mut report = Document::default();
    report.heading(2, explanation.title.as_str());
    for said in explanation.block() {
        report.paragraph(vec![text(said)]);
    }
    report.blocks.push(table(
        example,
        whole,
        &telling_order(example),
        |place| format!(" ({place})"),
        |others| format!("+{}", sentences::counted(others, "other")),
    ));
    report.heading(3, "Why this is a contradiction");
    let steps: Vec<_> = numbered(explanation).collect();
    for part in steps.chunk_by(|_, (heading, ..)| heading.is_none()) {
        report.paragraph(part[0].0.clone().map(strong).into_iter().collect());
        let lines = part.iter().map(|(_, _, step)| vec![text(sentence(step))]);
        report
            .blocks
            .push(Block::Numbered(part[0].1, lines.collect()));
    }
    report.paragraph(vec![text(&explanation.size)]);
    if !example.violation.edges.is_empty() {
        report.heading(3, "Why each edge is there");
        let row = |(edge, reason): (&Edge, &EdgeReason)| {
            let edge = edge_label(example, edge);
            vec![vec![text(edge)], vec![text(&*reason.text)]]
        };
        report.blocks.push(Block::Table {
            header: ["edge", "why"].map(|name| vec![text(name)]).to_vec(),
            rows: explained_edges(example, explanation).map(row).collect(),
        });
    }
    if let Some(rest) = unexplained_edges(example) {
        report.paragraph(vec![text(rest)]);
    }
    report.heading(3, "Details");
    let details = explanation
        .details()
        .into_iter()
        .map(|detail| vec![text(detail)]);
    let mut details: Vec<InlineText> = details.collect();
    details.push(vec![text(format!(
        "In the literature: {}.",
        explanation.codes
    ))]);
    let path = &whole.origin().path;
    if !path.is_empty() {
        let size = format!(", {} transactions", whole.n_transactions());
        details.push(vec![text("History: "), code(visible(path)), text(size)]);
    }
    report.blocks.push(Block::List(details));
    document::markdown(&report, Reader::Anyone)
}

/// The edges whose reasons are shown, with the reasons: for a log of clauses, which has too many, those of its first
/// cycle.
pub fn explained_edges<'a>(
    example: &'a Counterexample,
    explanation: &'a Explanation,
) -> impl Iterator<Item = (&'a Edge, &'a EdgeReason)> {
    let is_log = example.violation.proof.is_log_of_orders();
    let shown = is_log.then(|| edges_to_draw(&example.violation));
    let restated = restated(&example.violation);
    let all = example
        .violation
        .edges
        .iter()
        .zip(&explanation.reasons)
        .enumerate();
    all.filter(move |(e, _)| {
        shown.as_ref().is_none_or(|shown| shown.contains(e)) && Some(*e) != restated
    })
    .map(|(_, of_edge)| of_edge)
}

/// The note on the edges whose reasons are not shown.
fn unexplained_edges(example: &Counterexample) -> Option<String> {
    let violation = &example.violation;
    let is_log = violation.proof.is_log_of_orders();
    let rest = if is_log {
        violation.edges.len() - edges_to_draw(violation).len()
    } else {
        0
    };
    (rest > 0).then(|| format!("The report has the {rest} other edges with their reasons."))
}

/// A table of sessions as columns with a row for each transaction, in this order; involved operations only, each with its
/// place in words, and in words how many others a transaction has.
pub fn table(
    example: &Counterexample,
    whole: &History,
    order: &[TransactionId],
    place_in_words: impl Fn(&str) -> String,
    others_in_words: impl Fn(usize) -> String,
) -> Block {
    let history = &example.history;
    let mut sessions: Vec<_> = order.iter().map(|&t| history.session_of(t)).collect();
    sessions.sort_unstable();
    sessions.dedup();
    let shown = example.shown_operations();
    let cell = |t: TransactionId| {
        let outcome = format!(" {}", history.outcome(t).words());
        let mut cell = vec![strong(history.transaction_name(t)), text(outcome)];
        let (rows, others) = rows(example, whole, t, &shown);
        for (operation, place) in rows {
            cell.extend([Inline::Break, code(operation)]);
            cell.extend(place.map(|place| text(place_in_words(&place))));
        }
        if others > 0 {
            cell.extend([Inline::Break, text(others_in_words(others))]);
        }
        cell
    };
    let header = sessions
        .iter()
        .map(|&s| vec![text(format!("session {}", history.session_and_node(s)))])
        .collect();
    let row = |&t: &TransactionId| {
        let of = history.session_of(t);
        sessions
            .iter()
            .map(|&s| if s == of { cell(t) } else { InlineText::new() })
            .collect()
    };
    Block::Table {
        header,
        rows: order.iter().map(row).collect(),
    }
}

/// Involved operations of a transaction with their places, and how many others it has in the whole history.
fn rows(
    example: &Counterexample,
    whole: &History,
    t: TransactionId,
    shown: &[OperationId],
) -> (Vec<(String, Option<String>)>, usize) {
    let history = &example.history;
    let place = |o| history.spot_of(o).map(|spot| spot.text(history.origin()));
    let rows: Vec<(String, Option<String>)> = history
        .operations_of(t)
        .filter(|o| shown.binary_search(o).is_ok())
        .map(|o| (history.operation_text(o), place(o)))
        .collect();
    let all = whole
        .operation_range(example.renaming.old_transaction(t))
        .len();
    let others = all - rows.len();
    (rows, others)
}

/// The transactions of the small history: the scenario's in presentation order, then others, but never against session
/// order.
pub(super) fn telling_order(example: &Counterexample) -> Vec<TransactionId> {
    let history = &example.history;
    let scenario = example
        .violation
        .transactions
        .iter()
        .copied()
        .filter(|t| !t.is_initial());
    let mut waiting: Vec<TransactionId> = scenario.collect();
    waiting.extend(
        history
            .transactions()
            .filter(|t| !example.violation.transactions.contains(t)),
    );
    let mut order = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        // Ids grow along a session, so the first one with no earlier one of its session waiting may come next.
        let free = |t: TransactionId| {
            !waiting
                .iter()
                .any(|&u| u < t && history.session_of(u) == history.session_of(t))
        };
        let place = waiting.iter().position(|&t| free(t)).unwrap_or(0);
        order.push(waiting.remove(place));
    }
    order
}

/// `T297 → T295 CM 4`.
pub fn edge_label(example: &Counterexample, edge: &Edge) -> String {
    let name = |t| example.history.transaction_name(t);
    let key = edge
        .key
        .map(|key| format!(" {}", example.history.key_name(key)))
        .unwrap_or_default();
    format!(
        "{} → {} {}{key}",
        name(edge.from),
        name(edge.to),
        edge.relation.code()
    )
}

/// The headline of a bug report: what happened, and the weakest level it violates.
pub fn headline(example: &Counterexample, explanation: &Explanation) -> String {
    format!(
        "{}: {} Breaks {}.",
        explanation.title,
        explanation.summary,
        example.level.spoken()
    )
}
