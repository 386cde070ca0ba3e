//! What is kept in and left out of the picture: buttons, menus, and the labels on the picture that say so.

use super::{on_click, on_menu_click};
use crate::app::command::{Command, Request, Requests};
use crate::app::picture::Picture;
use crate::app::state::Document;
use crate::app::style::{self, Palette};
use crate::export::{Overrides, Part};
use crate::relations::EdgeIndex;
use egui::{
    CornerRadius, FontId, Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2,
};

/// Maximum number of parts that are named; the others are counted.
const NAMED: usize = 4;

/// The buttons to keep or leave out the edge that has attention.
pub(crate) fn pick_ui(
    ui: &mut Ui,
    document: &Document,
    edge: EdgeIndex,
    n_edges: usize,
    requests: &mut Requests,
) {
    if edge >= n_edges {
        return;
    }
    let part = Part::Edge(edge);
    ui.horizontal(|ui| {
        for (name, command, request) in actions(document, part) {
            on_click(
                &ui.small_button(name).on_hover_text(super::tooltip(command)),
                request,
                requests,
            );
        }
    });
}

/// What can be done with an edge or an operation, in a menu.
pub(crate) fn menu_ui(ui: &mut Ui, document: &Document, part: Part, requests: &mut Requests) {
    for (name, _, request) in actions(document, part) {
        on_menu_click(&ui.button(name), ui, request, requests);
    }
}

fn actions(document: &Document, part: Part) -> [(&'static str, Command, Request); 2] {
    let none = Overrides::default();
    let overrides = document.chosen_parts().unwrap_or(&none);
    let what = if matches!(part, Part::Edge(_)) { 0 } else { 1 };
    let keep = if overrides.kept.contains(&part) {
        "Keep no longer"
    } else {
        ["Always show this edge", "Always show this operation"][what]
    };
    let leave_out = if overrides.left_out.contains(&part) {
        "Take it back in"
    } else {
        ["Hide this edge", "Hide this operation"][what]
    };
    [
        (keep, Command::Keep, Request::Keep(part)),
        (leave_out, Command::Hide, Request::LeaveOut(part)),
    ]
}

/// What is left out and what is kept, on the picture; a click undoes it.
pub(crate) fn left_out_ui(
    ui: &Ui,
    area: Rect,
    document: &Document,
    picture: &Picture,
    requests: &mut Requests,
) {
    let Some(history) = document.history.as_ref() else {
        return;
    };
    let none = Overrides::default();
    let overrides = document.chosen_parts().unwrap_or(&none);
    let palette = Palette::of(ui);
    let mut at = area.left_top() + vec2(10.0, 6.0);
    let hidden = document
        .visibility
        .hidden
        .iter()
        .map(|t| history.transaction_name(*t));
    let hidden: Vec<String> = hidden
        .chain(overrides.left_out.iter().map(|part| name(picture, *part)))
        .collect();
    if !hidden.is_empty() {
        let text = format!("hidden: {} ×", listed(&hidden));
        let request = Request::Run(Command::ShowHidden);
        at.y += chip_ui(
            ui,
            at,
            &text,
            palette.caution,
            &super::tooltip(Command::ShowHidden),
            request,
            requests,
        );
    }
    let kept: Vec<String> = overrides
        .kept
        .iter()
        .map(|part| name(picture, *part))
        .collect();
    if !kept.is_empty() {
        let text = format!("kept: {} ×", listed(&kept));
        let request = Request::KeepNothing;
        at.y += chip_ui(
            ui,
            at,
            &text,
            palette.accent,
            "Keep nothing in particular",
            request,
            requests,
        );
    }
    let folded = &picture.shows.overrides.folded;
    let small = &picture.argument.counterexample.history;
    let folded = folded
        .iter()
        .filter(|session| picture.foldable.contains(session));
    let folded: Vec<String> = folded.map(|session| small.session_name(*session)).collect();
    if !folded.is_empty() {
        let text = format!("folded: session {} ×", listed(&folded));
        let request = Request::FoldSessions(false);
        at.y += chip_ui(
            ui,
            at,
            &text,
            palette.accent,
            "Draw each transaction by itself",
            request,
            requests,
        );
    }
    let n_moved = overrides
        .moved
        .get(&picture.kind)
        .map_or(0, |moved| moved.len());
    if n_moved > 0 {
        let text = format!("moved: {} ×", style::counted(n_moved, "card"));
        chip_ui(
            ui,
            at,
            &text,
            palette.weak,
            "Put all cards back where they stood",
            Request::PutCardsBack,
            requests,
        );
    }
}

/// Some by name, the others by number.
fn listed(names: &[String]) -> String {
    let mut named: Vec<String> = names.iter().take(NAMED).cloned().collect();
    if names.len() > NAMED {
        named.push(format!("+{} others", names.len() - NAMED));
    }
    named.join(", ")
}

fn name(picture: &Picture, part: Part) -> String {
    let history = &picture.argument.counterexample.history;
    let transaction = |t: crate::history::TransactionId| {
        if t.is_initial() {
            "initial".to_owned()
        } else {
            history.transaction_name(t)
        }
    };
    match part {
        Part::Transaction(t) if t.index() < history.n_transactions() => transaction(t),
        Part::Operation(o) if o.index() < history.n_operations() => {
            format!(
                "{} {}",
                transaction(history.transaction_of(o)),
                history.operation_text(o)
            )
        }
        Part::Edge(e) => picture.edges().get(e).map_or_else(String::new, |edge| {
            format!(
                "{} → {} {}",
                transaction(edge.from),
                transaction(edge.to),
                edge.relation.code()
            )
        }),
        part => part.to_string(),
    }
}

/// Draws framed text that can be clicked; returns its height.
fn chip_ui(
    ui: &Ui,
    at: egui::Pos2,
    text: &str,
    colour: egui::Color32,
    hint: &str,
    request: Request,
    requests: &mut Requests,
) -> f32 {
    let palette = Palette::of(ui);
    let galley =
        ui.painter()
            .layout_no_wrap(text.to_owned(), FontId::proportional(style::SMALL), colour);
    let place = Rect::from_min_size(pos2(at.x, at.y), galley.size() + vec2(16.0, 8.0));
    let response = ui.interact(place, ui.id().with(("chip", hint)), Sense::click());
    let line = Stroke::new(1.0, colour);
    ui.painter().rect(
        place,
        CornerRadius::same(9),
        palette.tint(colour),
        line,
        StrokeKind::Inside,
    );
    ui.painter()
        .galley(place.min + vec2(8.0, 4.0), galley, colour);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, text));
    on_click(&response.on_hover_text(hint), request, requests);
    place.height() + 4.0
}
