//! The argument next to the graph: title, levels and numbered steps.

use super::raw_lines::raw_lines_ui;
use crate::app::canvas::look::Lit;
use crate::app::command::{Command, Requests};
use crate::app::picture::Picture;
use crate::app::state::{Document, State};
use crate::app::style::{self, GAP, Palette};
use crate::app::vocabulary::Attention;
use crate::checkers::C4Pattern;
use crate::counterexample::{Step, StepRole, narrate};
use egui::{
    Color32, CornerRadius, FontId, Frame, Margin, RichText, ScrollArea, Sense, Stroke, Ui,
    WidgetInfo, WidgetType, vec2,
};

/// Indentation of a case relative to what it is a case of.
const CASE_INDENT: f32 = 14.0;

/// Draws the panel.
pub(crate) fn argument_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    requests: &mut Requests,
) {
    ui.take_available_width();
    if let Some(finding) = &document.finding {
        return super::workload::finding_ui(ui, document, finding, requests);
    }
    let Some(picture) = &document.picture else {
        let otherwise = match document.complete && document.results.all_hold() {
            true => {
                "No read contradicts any level asked for. The Order page (7) shows an order that explains them all."
            }
            false if document.is_busy() => {
                "The first anomaly is explained here as soon as it is found."
            }
            false => "Select an anomaly to see why it is one.",
        };
        let text = super::awaited(document, otherwise);
        style::note(ui, text);
        if !document.parts.asked.is_empty() {
            super::what_if::what_if_ui(ui, document, requests);
        }
        return;
    };
    let stale = document.current_picture().is_none();
    ScrollArea::vertical()
        .id_salt(("argument", picture.argument.id))
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.multiply_opacity(if stale { 0.5 } else { 1.0 });
            let lit = super::scene::lit(document, picture);
            heading_ui(ui, picture, document, requests);
            if let Some(doubt) = &picture.argument.explanation.doubt {
                ui.label(
                    RichText::new(doubt)
                        .size(style::SMALL)
                        .color(Palette::of(ui).caution),
                );
            }
            buttons_ui(ui, requests);
            ui.add_space(GAP);
            steps_ui(ui, picture, &lit, document, requests);
            ui.add_space(2.0);
            super::cases::cases_ui(ui, picture, document, requests);
            style::note(ui, &picture.argument.explanation.size);
            rule(ui);
            fold_ui(ui, "Details", false, |ui| facts_ui(ui, picture));
            fold_ui(ui, "Why each edge is there", has_edge(document), |ui| {
                super::answer::why_ui(ui, picture, state, document, requests)
            });
            let asked = !document.parts.asked.is_empty() || !document.parts.chosen.is_empty();
            fold_ui(ui, "What if these had not run?", asked, |ui| {
                super::what_if::what_if_ui(ui, document, requests)
            });
            fold_ui(ui, "Lines of the file", false, |ui| {
                raw_lines_ui(ui, document, &lit, requests)
            });
            let has_note = document.reveal.note;
            fold_ui(ui, "Note, bookmark", has_note, |ui| {
                super::notes::notes_ui(ui, document, requests)
            });
        });
}

/// More steps than this under one heading are folded, those between the first and the last.
const MOST_STEPS: usize = 8;
const FIRST_STEPS: usize = 4;

/// The steps under their headings.
fn steps_ui(
    ui: &mut Ui,
    picture: &Picture,
    lit: &Lit,
    document: &Document,
    requests: &mut Requests,
) {
    let steps: Vec<(usize, &Step)> = picture
        .argument
        .explanation
        .steps
        .iter()
        .enumerate()
        .collect();
    for part in
        steps.chunk_by(|(_, a), (_, b)| (a.heading(), a.depth()) == (b.heading(), b.depth()))
    {
        let depth = part.first().map_or(0, |(_, step)| step.depth());
        ui.horizontal_top(|ui| {
            // A case is a block of its own, indented relative to what it is a case of.
            ui.add_space(CASE_INDENT * depth as f32);
            ui.vertical(|ui| part_ui(ui, (picture, part), lit, document, requests));
        });
    }
}

/// Steps under one heading: of many, the first and the last, until the others are asked for or one of them has attention.
fn part_ui(
    ui: &mut Ui,
    (picture, part): (&Picture, &[(usize, &Step)]),
    lit: &Lit,
    document: &Document,
    requests: &mut Requests,
) {
    let Some((first, step)) = part.first() else {
        return;
    };
    style::bold(ui, &step.heading(), style::HEADING, Palette::of(ui).strong);
    let id = ui.id().with(("all steps", picture.argument.id, *first));
    let folded = FIRST_STEPS..part.len().saturating_sub(1);
    let pinned = document.argument.pinned;
    let is_pinned = |(place, _): &(usize, &Step)| pinned == Some(Attention::Step(*place));
    let is_whole = part.len() <= MOST_STEPS
        || part[folded.clone()].iter().any(is_pinned)
        || ui.data(|data| data.get_temp(id).unwrap_or(false));
    for (n, (place, step)) in part.iter().enumerate() {
        if is_whole || !folded.contains(&n) {
            step_ui(ui, picture, *place, step, lit, document, requests);
        } else if n == folded.start {
            let text = format!("… {} more like these", folded.len());
            let more = RichText::new(text).color(Palette::of(ui).accent);
            if ui.add(egui::Button::new(more).frame(false)).clicked() {
                ui.data_mut(|data| data.insert_temp(id, true));
            }
        }
    }
}

/// What is done most with an anomaly.
fn buttons_ui(ui: &mut Ui, requests: &mut Requests) {
    ui.horizontal_wrapped(|ui| {
        let show = egui::Button::new("▶ Show me").fill(Palette::of(ui).selected);
        let response = ui.add(show);
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, "Show me"));
        super::on_command(response, Command::Replay, requests);
        for (command, name) in [
            (Command::CopyPicture, "Copy picture"),
            (Command::Report, "Report"),
        ] {
            super::on_command(ui.button(name), command, requests);
        }
    });
}

/// A section that is closed at first, and opened where something in it is asked for.
fn fold_ui(ui: &mut Ui, title: &str, is_asked: bool, contents: impl FnOnce(&mut Ui)) {
    let heading = RichText::new(title).color(Palette::of(ui).text);
    let shown = egui::CollapsingHeader::new(heading)
        .id_salt(title)
        .open(is_asked.then_some(true))
        .show_unindented(ui, contents);
    // What is opened below the end of the panel is brought into view.
    if shown.header_response.clicked() && shown.openness < 0.5 {
        shown.header_response.scroll_to_me(Some(egui::Align::TOP));
    }
}

/// Whether an edge was clicked, about which there is more to say.
fn has_edge(document: &Document) -> bool {
    matches!(document.argument.pinned, Some(Attention::Edge(_)))
}

fn rule(ui: &mut Ui) {
    ui.add_space(4.0);
    ui.separator();
    ui.add_space(2.0);
}

fn heading_ui(ui: &mut Ui, picture: &Picture, document: &Document, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let argument = &picture.argument;
    style::bold(
        ui,
        &argument.explanation.title,
        style::TITLE,
        palette.strong,
    );
    let [summary, breaks, _] = argument.explanation.block();
    ui.label(RichText::new(summary).color(palette.text));
    ui.label(RichText::new(breaks).color(palette.text));
    super::tested::tested_ui(ui, document, &argument.explanation.tested, requests);
    ui.add_space(GAP);
}

/// What else is known of it: levels, assumptions, faults, names in the literature.
fn facts_ui(ui: &mut Ui, picture: &Picture) {
    let argument = &picture.argument;
    let example = &argument.counterexample;
    style::bold(ui, "Details", style::HEADING, Palette::of(ui).strong);
    let explanation = &argument.explanation;
    for fact in explanation.details_without_doubt() {
        style::note(ui, fact);
    }
    let codes = &argument.explanation.codes;
    let others = example
        .violation
        .also
        .iter()
        .map(String::as_str)
        .filter(|name| !codes.contains(name));
    let of_c4 = |name: &str| C4Pattern::all().find(|pattern| pattern.id() == name);
    let (in_c4, others): (Vec<&str>, Vec<&str>) = others.partition(|name| of_c4(name).is_some());
    let also = match others.join(", ") {
        also if also.is_empty() => also,
        also => format!("; these operations also match {also}"),
    };
    style::note(ui, format!("In the literature: {codes}{also}"));
    if !in_c4.is_empty() {
        let named = in_c4.into_iter().filter_map(of_c4);
        let named: Vec<String> = named
            .map(|pattern| format!("TAP-{} ({pattern:?})", pattern.letter()))
            .collect();
        // Its letters are not those of the list.
        style::note(
            ui,
            format!(
                "In the numbering of the C4 paper, they match {}.",
                named.join(", ")
            ),
        );
    }
}

fn step_colour(picture: &Picture, step: &Step, palette: &Palette) -> Color32 {
    if step.role == StepRole::Contradiction {
        return palette.bad;
    }
    let relation = step
        .edges
        .last()
        .and_then(|&edge| picture.relation_drawn(edge));
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
    let line = if document.argument.pinned == Some(attention) {
        colour
    } else {
        Color32::TRANSPARENT
    };
    let frame = Frame::new()
        .inner_margin(Margin::symmetric(8, 2))
        .outer_margin(Margin {
            left: -8,
            right: 0,
            top: 0,
            bottom: -3,
        })
        .corner_radius(CornerRadius::same(6))
        .fill(if is_lit {
            palette.raised
        } else {
            Color32::TRANSPARENT
        })
        .stroke(Stroke::new(1.2, line));
    let shown = frame.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 10.0;
            let (disc, _) = ui.allocate_exact_size(vec2(20.0, 20.0), Sense::hover());
            ui.painter().circle_filled(disc.center(), 9.5, colour);
            let ink = if palette.dark {
                palette.ground
            } else {
                Color32::WHITE
            };
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
                ui.add(
                    egui::Label::new(sentence(step, &palette))
                        .wrap()
                        .selectable(false),
                );
            });
        });
        ui.set_min_width(ui.available_width());
    });
    let response = ui.interact(
        shown.response.rect,
        ui.id().with(("step", place)),
        Sense::click(),
    );
    response.widget_info(|| {
        WidgetInfo::selected(
            WidgetType::SelectableLabel,
            true,
            is_lit,
            format!("Step {}: {}", place + 1, narrate::sentence(step)),
        )
    });
    if document.argument.pinned == Some(attention) && document.reveal.step {
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
    let from = narrate::from(step);
    let blank = if from.is_empty() { "" } else { " " };
    job.append(&narrate::said(step), 0.0, format(palette.text));
    job.append(&format!("{blank}{from}"), 0.0, format(palette.weak));
    job
}
