//! The contents of a report, in order: what happened, in which setting, why it is a contradiction, why to believe it,
//! how often it happens, how to run it.

use super::{Brief, Made, Scripts, setting, trust};
use crate::reproduce::Plan;
use isoscope_formats::fields::{self, Fields};
use isoscope_model::control::Control;
use isoscope_model::history::{
    Annotation, History, OperationId, TransactionId, counted, visible, visible_line,
};
use isoscope_tell::counterexample::{
    Counterexample, Explanation, Quotation, Step, causes_and_patterns, interpret, n_causes, narrate,
};
use isoscope_tell::document::{Block, Document, InlineText, code, strong, text};

/// Maximum length of a script that is shown unfolded.
const SHOWN_LINES: usize = 60;

/// The report for a tracker, with the other files next to it.
pub(super) fn document(made: &Made<'_>) -> Document {
    let Brief {
        example,
        explanation,
        whole,
        ..
    } = made.brief;
    let mut report = Document::default();
    report.heading(1, explanation.title.as_str());
    for said in explanation.block() {
        report.paragraph(vec![text(said)]);
    }
    report.blocks.push(Block::Picture);
    observed(&mut report, example, whole, &made.plan);
    report.heading(2, "Why this is a contradiction");
    argument(&mut report, explanation);
    details(&mut report, explanation);
    grounds(&mut report, example, explanation);
    circumstances(&mut report, made, false);
    report
}

/// What the page with everything inside has beneath the picture and the lines of the argument.
pub(super) fn beneath(made: &Made<'_>) -> Document {
    let Brief {
        example,
        explanation,
        whole,
        ..
    } = made.brief;
    let mut report = Document::default();
    observed(&mut report, example, whole, &made.plan);
    report.heading(2, "What the argument rests on");
    details(&mut report, explanation);
    grounds(&mut report, example, explanation);
    report.blocks.push(at_length(example, explanation));
    circumstances(&mut report, made, true);
    report
}

/// Everything behind the argument. `whole_in_one` is for the page without accompanying files: they are folded into it.
fn circumstances(report: &mut Document, made: &Made<'_>, whole_in_one: bool) {
    let Brief {
        example,
        whole,
        health,
        ..
    } = made.brief;
    report.heading(2, "What speaks against a fault of the test");
    report
        .blocks
        .push(Block::List(trust::harness(example, whole, health)));
    if whole_in_one && !health.findings.is_empty() {
        report.heading(2, "The health of the whole history");
        report.blocks.push(trust::health_table(health));
    }
    marked(report, made.brief);
    also_in_the_log(report, whole, &example.renaming.transactions);
    how_much(report, made);
    report.heading(2, "Setting");
    report.paragraph(vec![text(
        "What the history does not say is marked with … for you to fill in.",
    )]);
    report.blocks.push(setting::table(made.brief));
    if let Some(scripts) = &made.scripts {
        report.heading(2, "How to reproduce it");
        to_run(report, made, scripts);
    }
    report.heading(2, "Files");
    files(report, made, whole_in_one);
    report.heading(2, "Regenerating this report");
    report.blocks.push(Block::Code {
        language: "sh",
        text: visible_line(&made.brief.command),
    });
    let digest = made
        .brief
        .options
        .sha256
        .as_ref()
        .map(|digest| format!(" SHA-256 of the history: {digest}."));
    report.paragraph(vec![text(format!(
        "Made by IsoScope {}.{}",
        env!("CARGO_PKG_VERSION"),
        digest.unwrap_or_default()
    ))]);
}

/// What else the log says of transactions.
pub(super) fn also_in_the_log(
    report: &mut Document,
    whole: &History,
    transactions: &[TransactionId],
) {
    let known = fields::of(whole, transactions, &Control::new());
    let line = |(t, fields): (&TransactionId, &Fields)| {
        let name = visible(&whole.transaction_name(*t));
        vec![
            strong(name),
            text(format!(": {}", fields::in_words(fields))),
        ]
    };
    let lines: Vec<InlineText> = known.iter().map(line).collect();
    if !lines.is_empty() {
        report.heading(2, "Also in the log");
        report.blocks.push(Block::List(lines));
    }
}

/// What the user marked in the history.
fn marked(report: &mut Document, brief: &Brief<'_>) {
    let whole = brief.whole;
    let there: Vec<&Annotation> = brief
        .annotations
        .iter()
        .filter(|mark| mark.place.is_in(whole))
        .collect();
    if there.is_empty() {
        return;
    }
    let line = |mark: &&Annotation| {
        let own = mark
            .place
            .transaction(whole)
            .filter(|t| brief.example.renaming.transactions.contains(t));
        let of_it = if own.is_some() {
            " (part of this anomaly)"
        } else {
            ""
        };
        let said = if mark.text.is_empty() {
            String::new()
        } else {
            format!(": {}", visible_line(&mark.text))
        };
        vec![
            strong(visible(&mark.place.describe(whole))),
            text(format!("{of_it}{said}")),
        ]
    };
    report.heading(2, "Marks in the history");
    report
        .blocks
        .push(Block::List(there.iter().map(line).collect()));
}

/// Sessions as columns, transactions as rows in the order of the scripts, involved operations only.
fn observed(report: &mut Document, example: &Counterexample, whole: &History, plan: &Plan) {
    let history = &example.history;
    let mut order: Vec<TransactionId> = Vec::new();
    for t in plan
        .steps
        .iter()
        .map(|step| step.transaction)
        .chain(history.transactions())
    {
        if !order.contains(&t) {
            order.push(t);
        }
    }
    report.heading(2, "What was observed");
    report.blocks.push(narrate::table(
        example,
        whole,
        &order,
        |place| format!(" {place}"),
        |others| format!("+ {}", counted(others, "other operation")),
    ));
    let order = match history.has_rows() {
        true => "Transactions are in an order that explains most of what was read,",
        false => "Transactions are in the order of their statements under “How to reproduce it”,",
    };
    report.paragraph(vec![text(format!(
        "{order} which need not be the order in which they ran."
    ))]);
}

fn argument(report: &mut Document, explanation: &Explanation) {
    let steps: Vec<_> = narrate::numbered(explanation).collect();
    for part in steps.chunk_by(|_, (heading, ..)| heading.is_none()) {
        report.paragraph(part[0].0.clone().map(strong).into_iter().collect());
        let line = |(_, number, step): &(_, usize, &Step)| {
            vec![
                strong(number.to_string()),
                text(format!(" {}", narrate::sentence(step))),
            ]
        };
        report
            .blocks
            .push(Block::List(part.iter().map(line).collect()));
    }
    report.paragraph(vec![text(&explanation.size)]);
}

/// What else is known of it.
fn details(report: &mut Document, explanation: &Explanation) {
    let lines = explanation.details().into_iter();
    let lines: Vec<InlineText> = lines.map(|line| vec![text(line)]).collect();
    report.blocks.push(Block::List(lines));
}

/// Why each edge is there and cannot be the other way round, and the definitions.
fn grounds(report: &mut Document, example: &Counterexample, explanation: &Explanation) {
    let explained: Vec<_> = narrate::explained_edges(example, explanation).collect();
    let rows: Vec<Vec<InlineText>> = explained
        .iter()
        .map(|(edge, reason)| {
            vec![
                vec![code(narrate::edge_label(example, edge))],
                vec![text(reason.text.to_string())],
            ]
        })
        .collect();
    if !rows.is_empty() {
        report.blocks.push(Block::Table {
            header: vec![vec![text("edge")], vec![text("why it is there")]],
            rows,
        });
    }
    let otherwise: Vec<InlineText> = interpret(example)
        .alternatives
        .into_iter()
        .map(|alternative| vec![text(alternative.text)])
        .collect();
    if !otherwise.is_empty() {
        report.paragraph(vec![text(
            "What was inferred cannot be the other way round:",
        )]);
        report.blocks.push(Block::List(otherwise));
    }
    // Each once, however many edges depend on it.
    let mut quoted: Vec<Quotation> = Vec::new();
    for (_, reason) in explained {
        if !quoted.contains(&reason.quotation) {
            quoted.push(reason.quotation);
        }
    }
    let item = |quotation: &Quotation| {
        vec![
            strong(quotation.name),
            text(format!(": {}. ", quotation.words)),
            code(quotation.formula),
            text(format!(" ({})", quotation.source)),
        ]
    };
    if !quoted.is_empty() {
        report.paragraph(vec![text("Definitions that the argument uses:")]);
        report
            .blocks
            .push(Block::List(quoted.iter().map(item).collect()));
    }
}

/// The argument with every definition where it is used.
fn at_length(example: &Counterexample, explanation: &Explanation) -> Block {
    let mut lines: Vec<String> = Vec::new();
    for step in &explanation.steps {
        lines.push(narrate::sentence(step).to_string());
        lines.extend((!step.long.is_empty()).then(|| format!("    {}", step.long)));
    }
    for (edge, reason) in example.violation.edges.iter().zip(&explanation.reasons) {
        lines.push(format!(
            "{}: {}",
            narrate::edge_label(example, edge),
            reason.long
        ));
    }
    Block::Folded {
        title: "The argument at length".to_owned(),
        language: "none",
        text: lines.join("\n"),
    }
}

fn how_much(report: &mut Document, made: &Made<'_>) {
    let Brief {
        whole, findings, ..
    } = made.brief;
    let kinds = trust::kinds(whole, findings);
    if kinds.is_empty() {
        return;
    }
    report.heading(2, "Anomalies in the whole history");
    let n_causes = n_causes(whole, &findings.violations);
    report.paragraph(vec![text(format!(
        "{}.",
        causes_and_patterns(findings, n_causes)
    ))]);
    let header = ["pattern", "instances", "causes", "weakest level violated"]
        .map(|name| vec![text(name)])
        .to_vec();
    report.blocks.push(Block::Table {
        header,
        rows: kinds,
    });
    let pattern = made.brief.violation.id.pattern;
    if let Some(extent) = trust::extent(findings, whole, pattern) {
        report.paragraph(vec![text(format!(
            "Instances of {pattern} are in {extent} of the file."
        ))]);
    }
}

fn to_run(report: &mut Document, made: &Made<'_>, scripts: &Scripts) {
    let isolation = scripts.isolation;
    let weaker: Vec<&str> = made
        .plan
        .shown_at
        .iter()
        .filter(|setting| **setting < isolation)
        .map(|setting| setting.sql())
        .collect();
    let said = match (weaker.is_empty(), made.plan.unexplained.is_empty()) {
        (false, _) => format!(
            "In this order a database with one copy of the data answers as observed at {}; at {isolation} a \
             statement or a COMMIT has to wait or to fail, or a read to return something else.",
            weaker.join(" and at ")
        ),
        (true, true) => {
            format!("In this order a database with one copy of the data answers as observed at {isolation}.")
        }
        (true, false) => "No order of these statements explains all reads on one copy of the data; it takes several \
                          copies, or a fault. The reads that will differ are marked."
            .to_owned(),
    };
    report.paragraph(vec![text(said)]);
    let sql = &scripts.sql;
    report.blocks.push(if sql.lines().count() > SHOWN_LINES {
        Block::Folded {
            title: "reproduce.sql".into(),
            language: "sql",
            text: sql.clone(),
        }
    } else {
        Block::Code {
            language: "sql",
            text: sql.clone(),
        }
    });
}

fn files(report: &mut Document, made: &Made<'_>, whole_in_one: bool) {
    let level = made.brief.example.level;
    let lists = made.brief.example.history.lists();
    let is_shorter = |o: OperationId| {
        lists
            .recorded_by(o)
            .is_some_and(|all| lists.read_by(o) != Some(all))
    };
    let lists_are_shorter = (0..made.brief.example.history.n_operations())
        .map(OperationId::new)
        .any(is_shorter);
    let mut rows: Vec<Vec<InlineText>> = Vec::new();
    for file in &made.histories {
        let mut about = vec![text(format!(
            "{}; checked again after writing: violates {}",
            file.about,
            level.spoken()
        ))];
        if !file.losses.is_empty() {
            about.push(text(format!("; loses {}", file.losses.join(", "))));
        }
        if lists_are_shorter {
            about.push(text(
                "; its lists lack the elements that no transaction in it appends",
            ));
        }
        rows.push(vec![vec![code(file.name)], about]);
    }
    if !whole_in_one {
        let is_there =
            |(name, _): &&(&str, &str)| made.scripts.is_some() || !name.starts_with("reproduce.");
        for (name, about) in super::OTHER_FILES.iter().filter(is_there) {
            rows.push(vec![vec![code(*name)], vec![text(*about)]]);
        }
    }
    for file in &made.left_out {
        rows.push(vec![
            vec![code(file.name)],
            vec![text(format!("left out: {}", file.why))],
        ]);
    }
    report.blocks.push(Block::Table {
        header: vec![vec![text("file")], vec![text("what it is")]],
        rows,
    });
    let folded = |title: &str, language, content: &str| Block::Folded {
        title: title.to_owned(),
        language,
        text: content.to_owned(),
    };
    if !whole_in_one {
        // Trackers that support Mermaid draw it if the picture is not attached.
        report.blocks.push(folded(
            "the graph, drawn by the tracker",
            "mermaid",
            &made.mermaid,
        ));
        return;
    }
    for file in &made.histories {
        report.blocks.push(folded(
            file.name,
            "none",
            &String::from_utf8_lossy(&file.bytes),
        ));
    }
    if let Some(scripts) = &made.scripts {
        report.blocks.push(folded(
            "reproduce.spec, for PostgreSQL's isolationtester",
            "none",
            &scripts.spec,
        ));
    }
    report
        .blocks
        .push(folded("picture.mmd, for Mermaid", "none", &made.mermaid));
}
