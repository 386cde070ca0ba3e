//! What is shown in place of a history that could not be read.

use crate::app::command::{Command, Request, Requests};
use crate::app::page::Page;
use crate::app::samples;
use crate::app::state::State;
use crate::app::style::{self, Palette};
use crate::app::unreadable::Unreadable;
use egui::{RichText, ScrollArea, Ui};

/// Maximum number of lines of an example.
const LINES: usize = 5;

pub(crate) fn unreadable_ui(ui: &mut Ui, state: &State, why: &Unreadable, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ui.add_space(24.0);
    style::bold(
        ui,
        "This file could not be read as a history",
        style::TITLE,
        palette.strong,
    );
    ui.add_space(6.0);
    ui.add(
        egui::Label::new(RichText::new(&why.text).color(palette.bad))
            .wrap()
            .selectable(true),
    );
    ui.add_space(10.0);
    if !why.lines.is_empty() {
        ScrollArea::horizontal()
            .id_salt("lines")
            .auto_shrink([false, true])
            .show(ui, |ui| {
                for (number, text) in &why.lines {
                    let is_it = *number == why.line;
                    let (mark, colour) = if is_it {
                        ("▶", palette.bad)
                    } else {
                        (" ", palette.weak)
                    };
                    let line = RichText::new(format!("{number:>8} {mark} {text}"))
                        .monospace()
                        .color(colour);
                    ui.add(
                        egui::Label::new(if is_it { line.strong() } else { line })
                            .extend()
                            .selectable(true),
                    );
                }
            });
        ui.add_space(10.0);
    }
    let is_nested = [".edn:", ".json:"]
        .iter()
        .any(|ending| why.text.contains(ending));
    let hint = if is_nested {
        "If an earlier line leaves a bracket open, the mistake is noticed only here. "
    } else {
        ""
    };
    style::note(
        ui,
        format!("{hint}The formats are described in docs/formats.md."),
    );
    ui.add_space(10.0);
    ui.horizontal(|ui| {
        for command in [Command::Reload, Command::Open, Command::Close] {
            super::command_button_ui(ui, command, requests);
        }
        if ui
            .button("Rules for reading")
            .on_hover_text("By which rules the file is read, which can be changed")
            .clicked()
        {
            requests.push(Request::Run(Command::Show(Page::Health)));
        }
        if ui
            .button("Copy message")
            .on_hover_text("Put the message on the clipboard")
            .clicked()
        {
            requests.push(Request::Copy(why.text.clone()));
        }
    });
    if !state.recent.is_empty() {
        style::note(ui, "Recent files are in the menu.");
    }
    ui.add_space(18.0);
    style::bold(
        ui,
        "The same small history in each text format",
        style::HEADING,
        palette.strong,
    );
    ui.add_space(6.0);
    formats_ui(ui);
}

/// What a history looks like in each format, in two columns.
fn formats_ui(ui: &mut Ui) {
    let palette = Palette::of(ui);
    let width = (ui.available_width() - 2.0 * f32::from(style::MARGIN)) / 2.0;
    ScrollArea::vertical()
        .id_salt("formats")
        .auto_shrink(false)
        .show(ui, |ui| {
            egui::Grid::new("formats")
                .num_columns(2)
                .spacing([24.0, 14.0])
                .show(ui, |ui| {
                    for (place, (name, about, text)) in samples::IN_FORMATS.iter().enumerate() {
                        ui.vertical(|ui| {
                            ui.set_width(width - 24.0);
                            let about = format!("{name}: {about}");
                            ui.add(
                                egui::Label::new(RichText::new(about).color(palette.text))
                                    .truncate(),
                            );
                            for line in text.lines().take(LINES) {
                                let line = RichText::new(line).monospace().color(palette.weak);
                                ui.add(egui::Label::new(line).truncate().selectable(true));
                            }
                            if text.lines().count() > LINES {
                                ui.label(RichText::new("…").color(palette.weak));
                            }
                        });
                        if place % 2 == 1 {
                            ui.end_row();
                        }
                    }
                });
        });
}
