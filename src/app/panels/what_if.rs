//! What the levels say about a part of the history, next to what they say about all of it.

use super::paint_conclusion;
use crate::app::command::{Command, Request, Requests};
use crate::app::state::Document;
use crate::app::style::{self, Palette, counted, duration};
use crate::app::verdict_summary::Conclusion;
use crate::app::what_if::WhatIf;
use crate::checkers::{Level, Verdict};
use crate::report::grouped;
use egui::{CornerRadius, FontId, Sense, Ui, WidgetInfo, WidgetType, vec2};

/// Maximum number of transactions named in a question.
const NAMED: usize = 4;

/// Draws the section.
pub(crate) fn what_if_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ui.horizontal_wrapped(|ui| {
        style::bold_line(ui, "What if", style::HEADING, palette.strong);
        let note = match document.parts.chosen.len() {
            0 => "Shift+click chooses transactions".to_owned(),
            n => format!("{} chosen", counted(n, "transaction")),
        };
        style::note(ui, note);
        if !document.parts.chosen.is_empty() && ui.small_button("Choose none").clicked() {
            requests.push(Request::ChooseNone);
        }
    });
    ui.horizontal_wrapped(|ui| {
        for command in [Command::CheckOnly, Command::CheckWithout] {
            super::command_button_ui(ui, command, requests);
        }
        if !document.parts.asked.is_empty()
            && ui
                .button("Clear")
                .on_hover_text("Take the answers away")
                .clicked()
        {
            requests.push(Request::ClearWhatIf);
        }
    });
    if document.parts.asked.is_empty() {
        return;
    }
    let whole: Vec<(Level, Option<&Verdict>)> = document
        .results
        .levels
        .iter()
        .map(|(level, result)| (*level, result.as_ref().map(|r| &r.verdict)))
        .collect();
    if document.reveal.answer {
        ui.scroll_to_cursor(Some(egui::Align::Center));
    }
    line_ui(ui, "whole history", &whole, &whole);
    for what_if in &document.parts.asked {
        let part: Vec<(Level, Option<&Verdict>)> = what_if
            .levels
            .iter()
            .map(|(level, verdict)| (*level, verdict.as_ref()))
            .collect();
        line_ui(ui, &question(document, what_if), &part, &whole);
        let sum = match &what_if.sum {
            None => "checking…".to_owned(),
            Some(sum) => {
                let mut text = match sum.anomalies {
                    0 => "no anomaly".to_owned(),
                    1 => "1 anomaly".to_owned(),
                    n => format!("{} anomalies", grouped(n)),
                };
                if sum.reads_left_out > 0 {
                    text.push_str(&format!(
                        ", {} from outside left out",
                        counted(sum.reads_left_out, "read")
                    ));
                }
                format!("{text}, {}", duration(sum.seconds))
            }
        };
        style::note(ui, sum);
    }
}

fn question(document: &Document, what_if: &WhatIf) -> String {
    let name = |t| {
        document
            .history
            .as_ref()
            .map_or(String::new(), |history| history.transaction_name(t))
    };
    let mut names: Vec<String> = what_if
        .transactions
        .iter()
        .take(NAMED)
        .map(|t| name(*t))
        .collect();
    if what_if.transactions.len() > NAMED {
        names.push(format!("and {} more", what_if.transactions.len() - NAMED));
    }
    format!(
        "{} {}",
        if what_if.only { "only" } else { "without" },
        names.join(" ")
    )
}

/// A verdict for each level; those that differ from the whole history are highlighted.
fn line_ui(
    ui: &mut Ui,
    title: &str,
    part: &[(Level, Option<&Verdict>)],
    whole: &[(Level, Option<&Verdict>)],
) {
    let palette = Palette::of(ui);
    ui.label(egui::RichText::new(title).color(palette.text));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(3.0, 3.0);
        for (level, verdict) in part {
            let before = whole
                .iter()
                .find(|(other, _)| other == level)
                .and_then(|(_, verdict)| *verdict);
            let differs =
                verdict.is_some() && before.map(Verdict::word) != verdict.map(Verdict::word);
            let colour = palette.verdict(*verdict);
            let font = FontId::proportional(style::SMALL);
            let galley = ui
                .painter()
                .layout_no_wrap(level.code().to_owned(), font, colour);
            let (area, response) =
                ui.allocate_exact_size(galley.size() + vec2(22.0, 5.0), Sense::hover());
            ui.painter()
                .rect_filled(area, CornerRadius::same(8), palette.tint(colour));
            if differs {
                let line = egui::Stroke::new(1.6, colour);
                ui.painter().rect_stroke(
                    area,
                    CornerRadius::same(8),
                    line,
                    egui::StrokeKind::Inside,
                );
            }
            let conclusion = verdict.map_or(Conclusion::Open, Conclusion::of);
            let mark = area.left_center() + vec2(9.5, 0.0);
            paint_conclusion(ui.painter(), mark, (8.0, style::SMALL), conclusion, colour);
            ui.painter().galley(
                area.left_center() + vec2(17.0, -galley.size().y / 2.0),
                galley,
                colour,
            );
            let word = verdict.map_or("not known yet", Verdict::word);
            let text = format!("{title}: {level} {word}");
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &text));
            let was = before.map_or("not known", Verdict::word);
            response.on_hover_text(if differs {
                format!("{text}; of all of it: {was}")
            } else {
                text
            });
        }
    });
}
