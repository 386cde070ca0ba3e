//! The picture and the lines of the argument side by side, for the page with a script: each line says which arrows,
//! cards and rows it is about, and each arrow which lines tell of it. Complete without the script.
//!
//! Attributes for the script hold numbers and names of our own; what the history contains is text only.

use super::html::escape;
use crate::page::legend_notes;
use crate::svg;
use crate::{Picture, PictureStep};
use isoscope_draw::diagram::{Arrow, Emphasis, Target};
use isoscope_model::relations::EdgeIndex;
use isoscope_tell::counterexample::{Explanation, Mention, Step, narrate};
use std::fmt::Write;

/// Buttons, which the script shows.
const TOOLS: &str = include_str!("../../assets/report-tools.html");
/// Cases inside of more cases than this are not indented further.
const MOST_INDENTED: usize = 5;

/// The picture with its legend, then the argument.
pub(super) fn stage(picture: &Picture, explanation: &Explanation) -> String {
    let mut out = String::from("<div class=\"stage\">\n");
    if !picture.diagram.cards.is_empty() {
        let _ = writeln!(
            out,
            "<figure id=\"picture\">\n<div class=\"desk\">\n{TOOLS}<div class=\"view\">"
        );
        let _ = writeln!(out, "{}</div>", svg::figure(picture));
        // The script says here what is pointed at, and shows all operations of what is selected.
        out.push_str("<p class=\"caption\" role=\"status\" hidden></p>\n<div class=\"peek\" hidden></div>\n</div>\n");
        let _ = writeln!(
            out,
            "<figcaption>\n{}</figcaption>\n</figure>",
            legend(picture)
        );
    }
    out.push_str("<section class=\"argument\" aria-labelledby=\"why\">\n");
    out.push_str("<h2 id=\"why\">Why this is a contradiction</h2>\n");
    lines(&mut out, picture, explanation);
    let _ = writeln!(
        out,
        "<p class=\"size\">{}</p>\n</section>\n</div>",
        escape(&explanation.size)
    );
    out
}

fn legend(picture: &Picture) -> String {
    let mut out = String::new();
    for (heading, is_observed) in [("observed", true), ("concluded", false)] {
        let relations = picture
            .diagram
            .relations()
            .into_iter()
            .filter(|r| r.is_observed() == is_observed);
        let entry = |relation: isoscope_model::relations::Relation| {
            let (code, sample) = (relation.code(), svg::sample(relation, Emphasis::Cycle));
            let (name, meaning) = (relation.name(), relation.meaning());
            format!(
                "<span class=\"entry\">{sample} <b class=\"{code}\">{code}</b> {name}: {meaning}</span>\n"
            )
        };
        let entries: String = relations.map(entry).collect();
        if !entries.is_empty() {
            let _ = writeln!(
                out,
                "<div class=\"relations\"><span>{heading}</span> <div>{entries}</div></div>"
            );
        }
    }
    let note = |(arrow, text): (Option<_>, &str)| {
        let sample = arrow
            .map(|(relation, emphasis)| svg::sample(relation, emphasis) + " ")
            .unwrap_or_default();
        format!("<span class=\"entry\">{sample}{text}</span>\n")
    };
    let notes: String = legend_notes(picture).into_iter().map(note).collect();
    if !notes.is_empty() {
        let _ = writeln!(out, "<p>{notes}</p>");
    }
    out
}

/// The lines under their headings; a case is indented relative to what it is a case of.
fn lines(out: &mut String, picture: &Picture, explanation: &Explanation) {
    for part in picture
        .steps
        .chunk_by(|a, b| a.heading == b.heading && a.depth == b.depth)
    {
        let depth = part[0].depth.min(MOST_INDENTED);
        let _ = writeln!(
            out,
            "<h3 class=\"depth-{depth}\">{}</h3>",
            escape(&part[0].heading)
        );
        let _ = writeln!(out, "<ol class=\"lines depth-{depth}\">");
        for line in part {
            let step = line
                .number
                .and_then(|number| explanation.steps.get(number - 1));
            let _ = writeln!(out, "{}", item(picture, line, step));
        }
        out.push_str("</ol>\n");
    }
}

/// A line; without a step it is about an order that was ruled out, and has no number.
fn item(picture: &Picture, line: &PictureStep, step: Option<&Step>) -> String {
    let about = |edge: EdgeIndex| line.edges.contains(&edge);
    let is_lit = |arrow: &&Arrow| {
        let is_numbered = line
            .number
            .is_some_and(|number| arrow.numbers.contains(&number));
        is_numbered || about(arrow.edge) || arrow.also.iter().any(|&edge| about(edge))
    };
    let arrows = picture
        .diagram
        .arrows
        .iter()
        .filter(is_lit)
        .map(|arrow| Target::Edge(arrow.edge));
    let transactions = step
        .iter()
        .flat_map(|step| step.transactions.iter().map(|&t| Target::Transaction(t)));
    let operations = step
        .iter()
        .flat_map(|step| step.operations.iter().map(|&o| Target::Operation(o)));
    let mut item = String::from("<li");
    if let Some(number) = line.number {
        let _ = write!(item, " id=\"line-{number}\" value=\"{number}\"");
    }
    // In the colour of its arrows, if they have one.
    let relation = picture
        .relation_of(line)
        .map(|relation| format!(" {}", relation.code()))
        .unwrap_or_default();
    let _ = write!(
        item,
        " class=\"line{relation}\" data-arrows=\"{}\"",
        names(arrows)
    );
    let _ = write!(
        item,
        " data-parts=\"{}\"",
        names(transactions.chain(operations))
    );
    let premises = step
        .map(|step| step.premises.as_slice())
        .unwrap_or_default();
    let premises: Vec<String> = premises
        .iter()
        .map(|place| (place + 1).to_string())
        .collect();
    let _ = write!(item, " data-from=\"{}\">", premises.join(" "));
    if let Some(number) = line.number {
        let _ = write!(item, "<span class=\"number\">{number}</span> ");
    }
    let _ = write!(
        item,
        "<span class=\"words\">{}</span></li>",
        step.map_or_else(|| escape(&line.text), words)
    );
    item
}

fn names(targets: impl Iterator<Item = Target>) -> String {
    targets.map(svg::mark_name).collect::<Vec<_>>().join(" ")
}

/// The sentence of a step; the numbers of the lines that it follows from lead there.
fn words(step: &Step) -> String {
    let (said, from) = (narrate::said(step), narrate::from(step));
    let mut is_linked = false;
    let piece = |(text, mention): (&str, Option<Mention>)| match mention {
        Some(Mention::Step(number)) => {
            is_linked = true;
            format!("<a href=\"#line-{number}\">{text}</a>")
        }
        _ => escape(text),
    };
    let rests_on: String = from.spans().map(piece).collect();
    match (rests_on.is_empty(), is_linked) {
        (true, _) => escape(&said),
        (_, true) => format!("{} <span class=\"from\">{rests_on}</span>", escape(&said)),
        (_, false) => format!("{} {rests_on}", escape(&said)),
    }
}
