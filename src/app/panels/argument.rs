//! The argument next to the graph: title, levels, numbered steps, and why an edge is there.

use super::raw_lines::raw_lines_ui;
use crate::app::canvas::look::Lit;
use crate::app::command::{Command, Request, Requests};
use crate::app::picture::{self, Picture};
use crate::app::state::Document;
use crate::app::style::{self, GAP, Palette};
use crate::app::vocabulary::{Attention, Focus};
use crate::counterexample::{Step, StepRole, narrate};
use crate::diagram::layout::MAX_TITLE_COLUMNS;
use crate::diagram::text_size::elide;
use crate::history::TransactionId;
use crate::relations::EdgeIndex;
use egui::{
    Color32, CornerRadius, FontId, Frame, Margin, RichText, ScrollArea, Sense, Stroke, Ui, WidgetInfo, WidgetType, vec2,
};

/// Indentation of a case relative to what it is a case of.
const CASE_INDENT: f32 = 14.0;

/// Draws the panel.
pub fn argument_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    ui.take_available_width();
    let Some(picture) = &document.picture else {
        let text = match (document.selected, document.drawing) {
            (Some(_), true) => "Looking for the smallest part that convinces…",
            (Some(_), false) => "There is no argument for this anomaly.",
            (None, _) if document.complete && document.all_hold() => {
                "No read contradicts any level asked for. The page Order (7) shows an order that explains them all."
            }
            (None, _) if document.is_busy() => "Why the chosen anomaly is one is said here, as soon as one is found.",
            (None, _) => "Select an anomaly to see why it is one.",
        };
        style::note(ui, text);
        if !document.what_if.is_empty() {
            super::what_if::what_if_ui(ui, document, requests);
        }
        return;
    };
    let stale = document.current_picture().is_none();
    ScrollArea::vertical().id_salt("argument").auto_shrink(false).show(ui, |ui| {
        ui.multiply_opacity(if stale { 0.5 } else { 1.0 });
        let lit = Lit::new(picture, document.attention());
        heading_ui(ui, picture);
        super::notes::notes_ui(ui, document, requests);
        ui.add_space(GAP);
        let asked = !document.what_if.is_empty();
        if asked {
            // Answers are where they will be seen.
            super::what_if::what_if_ui(ui, document, requests);
            rule(ui);
        }
        let mut heading = String::new();
        for (place, step) in picture.argument.explanation.steps.iter().enumerate() {
            ui.horizontal_top(|ui| {
                // A case is a block of its own, indented relative to what it is a case of.
                ui.add_space(CASE_INDENT * step.depth() as f32);
                ui.vertical(|ui| {
                    if step.heading() != heading {
                        heading = step.heading();
                        style::bold(ui, &heading, style::HEADING, Palette::of(ui).strong);
                    }
                    step_ui(ui, picture, place, step, &lit, document, requests);
                });
            });
        }
        ui.add_space(2.0);
        super::cases::cases_ui(ui, picture, document, requests);
        style::note(ui, &picture.argument.explanation.size);
        rule(ui);
        why_ui(ui, picture, document, requests);
        rule(ui);
        if !asked {
            super::what_if::what_if_ui(ui, document, requests);
            rule(ui);
        }
        raw_lines_ui(ui, document, &lit, requests);
        rule(ui);
        ui.horizontal_wrapped(|ui| {
            super::command_button_ui(ui, Command::CopyMarkdown, requests);
            super::command_button_ui(ui, Command::Export, requests);
            super::command_button_ui(ui, Command::Report, requests);
        });
    });
}

fn rule(ui: &mut Ui) {
    ui.add_space(4.0);
    ui.separator();
    ui.add_space(2.0);
}

fn heading_ui(ui: &mut Ui, picture: &Picture) {
    let palette = Palette::of(ui);
    let argument = &picture.argument;
    let example = &argument.counterexample;
    style::bold(ui, &argument.explanation.title, style::TITLE, palette.strong);
    ui.label(RichText::new(&argument.explanation.summary).color(palette.text));
    if argument.shown != argument.id {
        style::note(ui, format!("Shown as {}, which {} contains.", argument.shown, argument.id));
    }
    for fact in argument.explanation.facts() {
        style::note(ui, fact);
    }
    let also = match example.violation.also.as_slice() {
        [] => String::new(),
        also => format!(", also known as {}", also.join(", ")),
    };
    style::note(ui, format!("In the literature: {}{also}", argument.explanation.codes));
    ui.add_space(GAP);
}

fn step_colour(picture: &Picture, step: &Step, palette: &Palette) -> Color32 {
    if step.role == StepRole::Contradiction {
        return palette.bad;
    }
    let edges = &picture.argument.counterexample.violation.edges;
    let relation = step.edges.last().and_then(|&edge| edges.get(edge)).map(|edge| edge.relation);
    relation.map_or(palette.weak, |relation| palette.relation(relation))
}

fn step_ui(
    ui: &mut Ui,
    picture: &Picture,
    place: usize,
    step: &Step,
    lit: &Lit,
    document: &Document,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let colour = step_colour(picture, step, &palette);
    let attention = Attention::Step(place);
    let is_lit = lit.steps.contains(&place);
    let line = if document.pinned == Some(attention) { colour } else { Color32::TRANSPARENT };
    let frame = Frame::new()
        .inner_margin(Margin::symmetric(8, 4))
        .outer_margin(Margin { left: -8, right: 0, top: 0, bottom: -3 })
        .corner_radius(CornerRadius::same(6))
        .fill(if is_lit { palette.raised } else { Color32::TRANSPARENT })
        .stroke(Stroke::new(1.2, line));
    let shown = frame.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 10.0;
            let (disc, _) = ui.allocate_exact_size(vec2(20.0, 20.0), Sense::hover());
            ui.painter().circle_filled(disc.center(), 9.5, colour);
            let ink = if palette.dark { palette.ground } else { Color32::WHITE };
            let number = (place + 1).to_string();
            ui.painter().text(
                disc.center(),
                egui::Align2::CENTER_CENTER,
                number,
                FontId::proportional(style::SMALL),
                ink,
            );
            ui.vertical(|ui| {
                ui.add_space(2.0);
                ui.add(egui::Label::new(sentence(step, &palette)).wrap().selectable(false));
            });
        });
        ui.set_min_width(ui.available_width());
    });
    let response = ui.interact(shown.response.rect, ui.id().with(("step", place)), Sense::click());
    response.widget_info(|| {
        WidgetInfo::selected(
            WidgetType::SelectableLabel,
            true,
            is_lit,
            format!("Step {}: {}", place + 1, narrate::sentence(step)),
        )
    });
    if document.pinned == Some(attention) && document.scroll_to_step {
        response.scroll_to_me(None);
    }
    super::attend(&response, document, attention, requests);
    if !step.long.is_empty() {
        response.on_hover_text(&step.long);
    }
}

fn sentence(step: &Step, palette: &Palette) -> egui::text::LayoutJob {
    let mut job = egui::text::LayoutJob::default();
    let format = |colour| egui::TextFormat {
        line_height: Some(18.0),
        ..egui::TextFormat::simple(FontId::proportional(style::BODY), colour)
    };
    let (from, sentence) = (narrate::from(step), narrate::sentence(step));
    let said = sentence.strip_suffix(from.as_str()).unwrap_or(&sentence);
    job.append(said, 0.0, format(palette.text));
    job.append(&from, 0.0, format(palette.weak));
    job
}

/// Why the edge that has attention is there; without one, the edges to choose from.
fn why_ui(ui: &mut Ui, picture: &Picture, document: &Document, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let violation = &picture.argument.counterexample.violation;
    if violation.edges.is_empty() {
        style::note(ui, "The operations alone contradict the level: no edge is needed.");
        return;
    }
    let chosen = match document.attention() {
        Some(Attention::Edge(edge)) => Some(edge),
        Some(Attention::Step(step)) => {
            picture.argument.explanation.steps.get(step).and_then(|step| step.edges.last().copied())
        }
        _ => None,
    };
    let chosen = chosen.filter(|edge| *edge < picture.edges().len());
    match chosen {
        Some(edge) => {
            style::bold(ui, "Why is this edge here?", style::HEADING, palette.strong);
            edge_ui(ui, picture, edge, true, requests);
            super::overrides::pick_ui(ui, document, edge, violation.edges.len(), requests);
            evidence_ui(ui, picture, edge, requests);
        }
        None => {
            ui.horizontal(|ui| {
                style::bold_line(ui, "Edges", style::HEADING, palette.strong);
                style::note(ui, "click one to see why it is there");
            });
            for &edge in &picture.drawn {
                edge_ui(ui, picture, edge, false, requests);
            }
        }
    }
}

fn edge_ui(ui: &mut Ui, picture: &Picture, index: EdgeIndex, full: bool, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let example = &picture.argument.counterexample;
    let Some(edge) = picture.edges().get(index) else { return };
    // The font of lists lacks the sign ⊥.
    let short = |name: String| elide(&name, MAX_TITLE_COLUMNS);
    let name = |t: TransactionId| match t.is_initial() {
        true => "initial".to_owned(),
        false => short(example.history.transaction_name(t)),
    };
    let key = edge.key.map(|key| format!(" {}", short(example.history.key_name(key)))).unwrap_or_default();
    let text = format!("{} → {}", name(edge.from), name(edge.to));
    let response = ui
        .horizontal_wrapped(|ui| {
            let code = format!("{}{key}", edge.relation.code());
            ui.label(RichText::new(code).monospace().color(palette.relation(edge.relation)));
            ui.label(RichText::new(text.as_str()).color(palette.strong));
            style::note(ui, edge.relation.name());
        })
        .response;
    let response = ui.interact(response.rect, ui.id().with(("edge line", index, full)), Sense::click());
    response
        .widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("{} edge {text}", edge.relation.code())));
    if response.clicked() && !full {
        requests.push(Request::Focus(Focus::Pin(Some(Attention::Edge(index)))));
    }
    if response.hovered() && !full {
        requests.push(Request::Focus(Focus::Hover(Attention::Edge(index))));
    }
    if !full {
        return;
    }
    let supposed = picture.argument.interpretation.alternatives.iter().find(|other| other.edge == index);
    if let Some(supposed) = supposed {
        ui.label(RichText::new(format!("This order was ruled out. {}", supposed.text)).color(palette.text));
    }
    if let Some(reason) = picture.argument.explanation.edge_reasons.get(index) {
        ui.label(RichText::new(reason).color(palette.text));
        let rejected = picture.argument.interpretation.alternatives.iter().find(|other| other.instead_of == index);
        if let Some(rejected) = rejected {
            let text = format!("Why not the other way round? {}", rejected.text);
            ui.label(RichText::new(text).color(palette.weak));
        }
    }
}

fn evidence_ui(ui: &mut Ui, picture: &Picture, index: EdgeIndex, requests: &mut Requests) {
    let edges = &picture.argument.counterexample.violation.edges;
    let evidence = picture::evidence_of(edges, index);
    if evidence.is_empty() {
        return;
    }
    ui.horizontal(|ui| {
        style::note(ui, "rests on");
        let shown = picture.expanded.contains(&index);
        let text = if shown { "Fold evidence" } else { "Show evidence" };
        if ui.small_button(text).on_hover_text(super::tooltip(Command::ExpandEvidence)).clicked() {
            requests.push(Request::ToggleEvidence(index));
        }
    });
    for premise in evidence {
        ui.indent(("premise", premise), |ui| edge_ui(ui, picture, premise, false, requests));
    }
}
