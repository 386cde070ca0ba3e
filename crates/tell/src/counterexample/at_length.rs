//! The long form of an explanation: every step with its definitions and axioms, the cases, how the argument is built,
//! and a run through it.

use super::narrate::sentence;
use super::replay::{self, Explained};
use super::sentences::capitalized;
use super::{
    Counterexample, Explanation, Quotation, Step, StepRole, axioms, case_tree, interpret, signature,
};
use crate::document::{self, Block, Document, Reader, text};
use isoscope_model::control::Control;
use std::fmt::Write;

/// A part of the long form: a heading and its lines, in whole sentences.
struct Section {
    heading: &'static str,
    lines: Vec<String>,
}

/// What [`plain_text`](super::narrate::plain_text) leaves out, as plain text, ending with a newline.
pub fn plain_text_at_length(
    example: &Counterexample,
    explanation: &Explanation,
    control: &Control,
) -> String {
    let mut out = String::new();
    for section in sections(example, explanation, control) {
        let _ = writeln!(out, "\n{}", section.heading);
        for line in section.lines {
            let _ = writeln!(out, "    {line}");
        }
    }
    out
}

/// What [`markdown`](super::narrate::markdown) leaves out, as Markdown, ending with a newline.
pub fn markdown_at_length(
    example: &Counterexample,
    explanation: &Explanation,
    control: &Control,
) -> String {
    let mut report = Document::default();
    for section in sections(example, explanation, control) {
        report.heading(3, section.heading);
        let lines = section.lines.into_iter().map(|line| vec![text(line)]);
        report.blocks.push(Block::List(lines.collect()));
    }
    format!("\n{}", document::markdown(&report, Reader::Anyone))
}

fn sections(
    example: &Counterexample,
    explanation: &Explanation,
    control: &Control,
) -> Vec<Section> {
    let mut quoted: Vec<Quotation> = Vec::new();
    let mut lines = Vec::new();
    for step in &explanation.steps {
        let (line, quotation) = step_at_length(example, explanation, step);
        lines.push(line);
        quoted.extend(quotation);
    }
    let mut sections = vec![Section {
        heading: "The argument at length",
        lines,
    }];
    quoted.extend(axioms::of_pattern(example.violation.id.pattern));
    quoted.sort_by_key(|quotation| quotation.name);
    quoted.dedup();
    let quoted = quoted
        .iter()
        .map(|quotation| format!("{}.", quotation.text()))
        .collect();
    sections.push(Section {
        heading: "Definitions and axioms",
        lines: quoted,
    });
    if let Some(tree) = case_tree(&example.history, &example.violation) {
        let nodes = tree.nodes.iter().map(|node| {
            if node.label.is_empty() {
                node.text.to_string()
            } else {
                format!("Case {}: {}", node.label, node.text)
            }
        });
        sections.push(Section {
            heading: "The cases",
            lines: nodes.collect(),
        });
    }
    let layers = interpret(example).layers;
    let lines = layers
        .into_iter()
        .map(|layer| format!("{}: {}", capitalized(layer.kind.word()), layer.caption));
    sections.push(Section {
        heading: "How the argument comes about",
        lines: lines.collect(),
    });
    let run = replay::run(example, control);
    let mut lines: Vec<String> = Vec::new();
    for step in &run.steps {
        let after = step
            .after
            .iter()
            .zip(&step.before)
            .filter(|(after, before)| after.text != before.text);
        let changed = after.map(|(after, _)| {
            format!(
                "{} is now {}",
                example.history.key_name(after.key),
                after.text
            )
        });
        let changed: Vec<String> = changed.collect();
        let changed = if changed.is_empty() {
            String::new()
        } else {
            format!(" ({})", changed.join(", "))
        };
        let mark = match step.explained {
            Explained::Older | Explained::Uncommitted | Explained::Nowhere => "! ",
            Explained::Nothing | Explained::Own | Explained::Current => "",
        };
        lines.push(format!("{mark}{}.{changed}", step.text));
    }
    lines.push(run.summary.to_string());
    sections.push(Section {
        heading: "An order in which clients may have seen it",
        lines,
    });
    sections.push(Section {
        heading: "Signature",
        lines: vec![signature(example)],
    });
    sections
}

/// A step with its reason and the name of the axiom it rests on, which is quoted elsewhere.
fn step_at_length(
    example: &Counterexample,
    explanation: &Explanation,
    step: &Step,
) -> (String, Option<Quotation>) {
    let sentence = sentence(step).to_string();
    if step.role == StepRole::Contradiction {
        let quotation = axioms::of_contradiction(step, example.violation.id.pattern, example.level);
        let by = quotation
            .map(|quotation| format!(" ({})", quotation.name))
            .unwrap_or_default();
        return (format!("{sentence}{by}"), quotation);
    }
    let reason = match step.edges.as_slice() {
        [edge] if step.role != StepRole::Supposed => explanation.reasons.get(*edge),
        _ => None,
    };
    let Some(reason) = reason else {
        return (sentence, None);
    };
    let roles = if reason.roles.is_empty() {
        String::new()
    } else {
        format!(" with {}", reason.roles)
    };
    (
        format!("{sentence} ({}{roles})", reason.quotation.name),
        Some(reason.quotation),
    )
}
