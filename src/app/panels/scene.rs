//! A page that is a scene of the whole history: drawn as it would be exported, with everything on it linked.

use crate::app::canvas::look::{Lit, Look};
use crate::app::canvas::scene::{Drawn, DrawnAt, attention};
use crate::app::command::{Request, Requests};
use crate::app::picture::Picture;
use crate::app::state::{Document, State};
use crate::app::style::Palette;
use crate::app::vocabulary::{Attention, Focus};
use crate::diagram::scene::Scene;
use crate::diagram::{Anomaly, Target};
use crate::export;
use crate::history::{History, OperationId, TransactionId, grouped};
use crate::relations::{EdgeIndex, Relation};
use egui::{Response, Ui};
use std::collections::BTreeSet;

/// The selected anomaly, without the edges of hidden relations.
pub(super) fn anomaly<'a>(
    document: &'a Document,
    hidden: &BTreeSet<Relation>,
) -> Option<Anomaly<'a>> {
    let picture: &Picture = document.current_picture()?;
    let example = &picture.argument.counterexample;
    Some(export::anomaly(example, &picture.sketch.diagram, |arrow| {
        !hidden.contains(&arrow.relation)
    }))
}

/// The marked transactions of the selected anomaly, as its counterexample numbers them.
pub(super) fn marked(document: &Document) -> BTreeSet<TransactionId> {
    let (Some(history), Some(picture)) = (&document.history, document.current_picture()) else {
        return BTreeSet::new();
    };
    let whole = document
        .marks
        .all
        .iter()
        .filter_map(|mark| mark.place.transaction(history));
    whole
        .filter_map(|t| picture.argument.counterexample.renaming.new_transaction(t))
        .collect()
}

/// What is highlighted of a picture: what belongs to what has attention.
pub(super) fn lit(document: &Document, picture: &Picture) -> Lit {
    Lit::new(picture, document.attention())
}

/// Draws a scene and names its parts for screen readers. Returns what the pointer is on.
pub(super) fn paint_named(ui: &Ui, drawn: &Drawn<'_>, response: &Response) -> Option<Target> {
    drawn.paint(&ui.painter_at(response.rect));
    drawn.name(ui, response.id);
    let hit = response.hover_pos().and_then(|at| drawn.hit(at));
    hit.map(|hit| hit.target)
}

/// The edges of a picture whose relations are hidden.
pub(super) fn hidden(picture: &Picture, relations: &BTreeSet<Relation>) -> BTreeSet<EdgeIndex> {
    if relations.is_empty() {
        return BTreeSet::new();
    }
    let is_hidden = |e: &EdgeIndex| {
        picture
            .relation_drawn(*e)
            .is_some_and(|relation| relations.contains(&relation))
    };
    (0..picture.edges().len()).filter(is_hidden).collect()
}

/// Draws a scene, links its parts, and names them for screen readers.
pub(super) fn scene_ui(
    ui: &Ui,
    scene: &Scene,
    place: DrawnAt,
    response: &Response,
    (state, document): (&State, &Document),
    requests: &mut Requests,
) {
    let lit = document
        .current_picture()
        .map(|picture| lit(document, picture));
    let mut lit = lit.unwrap_or_default();
    for t in document.attended() {
        match document.attention_of(t) {
            Attention::Transaction(small) => drop(lit.transactions.insert(small)),
            _ => drop(lit.elsewhere.insert(t)),
        }
    }
    let picture = document.current_picture();
    let hidden = picture.map(|picture| hidden(picture, &state.hidden));
    let look = Look {
        palette: Palette::of(ui),
        lit,
        hidden: hidden.unwrap_or_default(),
        marked: marked(document),
        ..Look::default()
    };
    let target = paint_named(
        ui,
        &Drawn {
            scene,
            place,
            look: &look,
        },
        response,
    );
    if response
        .hover_pos()
        .is_some_and(|at| place.area.contains(at))
    {
        link(response, document, target, requests);
    }
}

/// Hover previews a thing everywhere, a click pins or releases it, a double click opens a transaction.
pub(super) fn link(
    response: &Response,
    document: &Document,
    target: Option<Target>,
    requests: &mut Requests,
) {
    let Some(history) = &document.history else {
        return;
    };
    let attention = target.and_then(attention);
    let old = |t| {
        document
            .current_picture()
            .map(|p| p.argument.counterexample.renaming.old_transaction(t))
    };
    let transaction = match target {
        Some(Target::Transaction(t)) => old(t),
        Some(Target::Elsewhere(t)) => Some(t),
        Some(Target::Operation(o)) => document
            .current_picture()
            .map(|p| &p.argument.counterexample)
            .map(|example| {
                example
                    .renaming
                    .old_transaction(example.history.transaction_of(o))
            }),
        _ => None,
    };
    if let Some(hovered) = attention {
        requests.push(Request::Focus(Focus::Hover(hovered)));
    }
    if let Some(transaction) = transaction.filter(|_| response.double_clicked()) {
        requests.push(Request::Browse(transaction));
    } else if response.clicked() {
        requests.push(Request::Focus(Focus::Pin(
            attention.filter(|_| attention != document.argument.pinned),
        )));
    }
    let text = match (target, transaction) {
        (Some(Target::Several(_, n)), _) => Some(format!(
            "{} transactions here: zoom in to see them",
            grouped(n as u64)
        )),
        (_, Some(transaction)) => Some(about(history, document, transaction)),
        (Some(Target::Edge(edge)), _) => about_edge(document, edge),
        _ => None,
    };
    if let Some(text) = text {
        response.clone().on_hover_text_at_pointer(text);
    }
}

/// The ends of an edge of the anomaly, and why it is there.
fn about_edge(document: &Document, index: EdgeIndex) -> Option<String> {
    let picture = document.current_picture()?;
    let (argument, edge) = (&picture.argument, picture.edges().get(index)?);
    let name = |t| argument.counterexample.history.transaction_name(t);
    let reason = argument
        .explanation
        .reasons
        .get(index)
        .map_or(String::new(), |reason| format!("\n{}", reason.text));
    Some(format!(
        "{} → {}, {}{reason}",
        name(edge.from),
        name(edge.to),
        edge.relation.name()
    ))
}

/// Outcome, operations, times and marks of a transaction.
pub(super) fn about(history: &History, document: &Document, t: TransactionId) -> String {
    // Those of the anomaly, if not all are shown.
    let renaming = document
        .current_picture()
        .map(|picture| &picture.argument.counterexample.renaming);
    let is_of_anomaly =
        |o: &OperationId| renaming.is_some_and(|renaming| renaming.new_operation(*o).is_some());
    let mut text = described(history, t, is_of_anomaly);
    let marks = document
        .marks
        .all
        .iter()
        .filter(|mark| mark.place.transaction(history) == Some(t));
    marks.for_each(|mark| text.push_str(&format!("\nMark: {}", mark.text)));
    text
}

/// Outcome, operations and times of a transaction; if there are many operations, first those that matter.
pub(super) fn described(
    history: &History,
    t: TransactionId,
    matters: impl Fn(&OperationId) -> bool,
) -> String {
    const SHOWN: usize = 10;
    let outcome = history.outcome(t).words();
    let mut text = format!("{}, {outcome}", history.transaction_name(t));
    let mut operations: Vec<OperationId> = history.operations_of(t).collect();
    let n = operations.len();
    operations.sort_by_key(|o| !matters(o));
    operations.truncate(SHOWN);
    operations.sort_unstable();
    operations
        .iter()
        .for_each(|&o| text.push_str(&format!("\n{}", history.operation_text(o))));
    if n > SHOWN {
        text.push_str(&format!("\n… {} more", grouped((n - SHOWN) as u64)));
    }
    if let Some(interval) = history.interval(t) {
        let time = |at: i64| history.origin().time(at);
        text.push_str(&format!(
            "\nfrom {} to {}",
            time(interval.start),
            time(interval.end)
        ));
    }
    text
}
