//! The help sheet: keys and lines, made from the tables.

use super::{anomalies, paint_relation};
use crate::app::command::{Command, Group, Request, Requests};
use crate::app::style::{self, Palette};
use crate::relations::Relation;
use egui::{Id, Modal, RichText, ScrollArea, Sense, Ui, vec2};

/// Draws the sheet over the window.
pub fn help_ui(ui: &mut Ui, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let answer = Modal::new(Id::new("help")).show(ui.ctx(), |ui| {
        ui.set_width(700.0_f32.min(ui.ctx().content_rect().width() - 60.0));
        ui.horizontal(|ui| {
            style::bold_line(ui, "Keys and legend", style::TITLE, palette.strong);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| ui.button("Close").clicked()).inner
        })
        .inner
            | sheet_ui(ui)
    });
    if answer.inner || answer.backdrop_response.clicked() {
        requests.push(Request::Run(Command::Help));
    }
}

fn sheet_ui(ui: &mut Ui) -> bool {
    let palette = Palette::of(ui);
    let height = ui.ctx().content_rect().height() - 150.0;
    ScrollArea::vertical().max_height(height).min_scrolled_height(height).show(ui, |ui| {
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            for group in [Group::Go, Group::Edit, Group::Help] {
                keys_ui(left, group);
            }
            for group in [Group::File, Group::View] {
                keys_ui(right, group);
            }
            style::bold(left, "Edges", style::HEADING, palette.strong);
            for relation in Relation::ALL {
                left.horizontal(|ui| {
                    let (area, _) = ui.allocate_exact_size(vec2(44.0, 16.0), Sense::hover());
                    paint_relation(ui.painter(), area, relation, &palette, true);
                    ui.label(RichText::new(relation.code()).monospace().color(palette.strong));
                    style::note(ui, format!("{}: {}", relation.name(), relation.meaning()));
                });
            }
            left.add_space(6.0);
            style::note(left, "A thick line is part of the contradiction, a thin one is evidence for another line.");
            style::note(left, "Drag a card to move it, drag the ground to pan, Ctrl and the wheel zoom, a double click on an edge shows or folds its evidence.");
            left.label(anomalies::filter_help().size(style::SMALL).color(palette.weak));
        });
    });
    false
}

fn keys_ui(ui: &mut Ui, group: Group) {
    let palette = Palette::of(ui);
    style::bold(ui, group.title(), style::HEADING, palette.strong);
    egui::Grid::new(group.title()).num_columns(2).spacing(vec2(12.0, 4.0)).show(ui, |ui| {
        for row in Command::table().iter().filter(|row| row.group == group) {
            let keys: Vec<String> = row.keys.iter().map(crate::app::command::key_text).collect();
            ui.label(RichText::new(keys.join("  ")).monospace().color(palette.accent));
            ui.label(RichText::new(row.name).color(palette.text)).on_hover_text(row.tooltip);
            ui.end_row();
        }
    });
    ui.add_space(10.0);
}
