//! The help sheet: keys and lines, made from the tables.

use super::{anomalies, paint_relation};
use crate::app::command::{Command, Group, Request, Requests};
use crate::app::style::{self, Palette};
use crate::relations::Relation;
use egui::{RichText, ScrollArea, Sense, Ui, vec2};

/// Widest, and from which width on there are three columns.
const WIDTHS: (f32, f32) = (1120.0, 960.0);
/// Width of the keys in a column.
const KEYS: f32 = 146.0;

/// Draws the sheet over the window.
pub(crate) fn help_ui(ui: &mut Ui, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let answer = super::sheet("help", ui).show(ui.ctx(), |ui| {
        ui.set_width(WIDTHS.0.min(ui.ctx().content_rect().width() - 90.0));
        ui.horizontal(|ui| {
            style::bold_line(ui, "Keys and legend", style::TITLE, palette.strong);
            style::note(
                ui,
                concat!(
                    "IsoScope ",
                    env!("CARGO_PKG_VERSION"),
                    " · documentation: docs/window.md"
                ),
            );
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.button("Close").clicked()
            })
            .inner
        })
        .inner
            | sheet_ui(ui)
    });
    if answer.inner || answer.backdrop_response.clicked() {
        requests.push(Request::Run(Command::Help));
    }
}

fn sheet_ui(ui: &mut Ui) -> bool {
    let height = ui.ctx().content_rect().height() - 150.0;
    let n = if ui.available_width() >= WIDTHS.1 {
        3
    } else {
        2
    };
    let area = ScrollArea::vertical()
        .max_height(height)
        .min_scrolled_height(height)
        .auto_shrink([false, true]);
    area.show(ui, |ui| {
        ui.columns(n, |columns| {
            keys_ui(&mut columns[0], Group::Go);
            edges_ui(&mut columns[0]);
            keys_ui(&mut columns[1], Group::File);
            keys_ui(&mut columns[1], Group::Edit);
            keys_ui(&mut columns[n - 1], Group::View);
            keys_ui(&mut columns[n - 1], Group::Tools);
            keys_ui(&mut columns[n - 1], Group::Help);
        });
    });
    false
}

/// What lines mean, and what the pointer does.
fn edges_ui(ui: &mut Ui) {
    let palette = Palette::of(ui);
    style::bold(ui, "Edges", style::HEADING, palette.strong);
    for relation in Relation::ALL {
        ui.horizontal(|ui| {
            let (area, _) = ui.allocate_exact_size(vec2(44.0, 16.0), Sense::hover());
            paint_relation(ui.painter(), area, relation, &palette, true);
            ui.label(
                RichText::new(relation.code())
                    .monospace()
                    .color(palette.strong),
            );
            let about = RichText::new(format!("{}: {}", relation.name(), relation.meaning()));
            ui.add(egui::Label::new(about.size(style::SMALL).color(palette.weak)).wrap());
        });
    }
    ui.add_space(6.0);
    style::note(
        ui,
        "A thick line is part of the contradiction, a thin one is evidence for another line.",
    );
    style::note(
        ui,
        "Drag a card to move it, drag the background to pan, the wheel zooms, a double-click on an edge shows or folds its evidence.",
    );
    ui.label(
        anomalies::filter_help()
            .size(style::SMALL)
            .color(palette.weak),
    );
}

fn keys_ui(ui: &mut Ui, group: Group) {
    let palette = Palette::of(ui);
    style::bold(ui, group.title(), style::HEADING, palette.strong);
    let grid = egui::Grid::new(group.title())
        .num_columns(2)
        .spacing(vec2(10.0, 2.0))
        .min_row_height(18.0);
    grid.min_col_width(KEYS).show(ui, |ui| {
        for row in Command::table().iter().filter(|row| row.group == group) {
            let keys: Vec<String> = row.keys.iter().map(crate::app::command::key_text).collect();
            ui.label(
                RichText::new(keys.join("  "))
                    .monospace()
                    .color(palette.accent),
            );
            ui.label(RichText::new(row.name).color(palette.text))
                .on_hover_text(row.tooltip);
            ui.end_row();
        }
    });
    ui.add_space(10.0);
}
