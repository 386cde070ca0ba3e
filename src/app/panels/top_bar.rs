//! Name, menus, and what is open.

use super::{command_button_ui, health, on_command, tooltip};
use crate::app::command::{Command, Group, Request, Requests};
use crate::app::page::Page;
use crate::app::state::{Cover, Document, State};
use crate::app::style::{self, Palette, counted};
use crate::app::vocabulary::{Source, file_name};
use egui::{Align, Layout, RichText, Ui};

/// Draws the bar.
pub(crate) fn top_bar_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ui.horizontal_centered(|ui| {
        style::bold_line(ui, "IsoScope", style::HEADING + 1.0, palette.strong);
        for group in Group::ALL {
            ui.menu_button(group.title(), |ui| menu_ui(ui, group, state, requests));
        }
        ui.add_space(12.0);
        if let Some(batch) = &state.batch {
            let name = batch
                .folder
                .file_name()
                .map_or_else(|| "Folder".to_owned(), |n| n.to_string_lossy().into_owned());
            let button = egui::Button::selectable(
                state.show_batch,
                format!("{name} ({})", batch.rows.len()),
            );
            let response = ui.add(button).on_hover_text(tooltip(Command::ShowBatch));
            if response.clicked() && (!state.show_batch || state.document.is_some()) {
                requests.push(Request::Run(Command::ShowBatch));
            }
        }
        let is_collect = state.cover == Some(Cover::Collect);
        if is_collect || state.collect.run.is_some() {
            let text = if state.collect.is_running() {
                "Collect…"
            } else {
                "Collect"
            };
            let button = egui::Button::selectable(is_collect, text);
            on_command(ui.add(button), Command::ShowCollect, requests);
        }
        if let Some(following) = &state.following {
            super::following::tab_ui(
                ui,
                following,
                state.cover == Some(Cover::Following),
                requests,
            );
        }
        if let Some(document) = &state.document {
            ui.label(RichText::new(&document.title).color(palette.strong))
                .on_hover_text(match document.path() {
                    Some(path) => path.display().to_string(),
                    None => match &document.source {
                        Source::Part(part) => {
                            format!("found in {} while it grew", part.path.display())
                        }
                        Source::File(_) | Source::Sample(_) | Source::Bytes { .. } => {
                            "a bundled sample".to_owned()
                        }
                    },
                });
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let theme = if state.dark { "Light" } else { "Dark" };
            on_command(ui.button(theme), Command::SwitchTheme, requests);
            on_command(ui.button("Find"), Command::Palette, requests);
            command_button_ui(ui, Command::Open, requests);
            let Some(document) = &state.document else {
                return;
            };
            trust_ui(ui, document, requests);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                summary_ui(ui, document)
            });
        });
    });
}

/// The size of the history.
fn summary_ui(ui: &mut Ui, document: &Document) {
    let Some(figures) = &document.recorded else {
        return;
    };
    let summary = [
        counted(figures.sessions, "session"),
        counted(figures.transactions, "transaction"),
        counted(figures.operations, "operation"),
        counted(figures.keys, "key"),
    ];
    ui.add(
        egui::Label::new(RichText::new(summary.join(" · ")).color(Palette::of(ui).weak)).truncate(),
    );
}

/// The number of assumptions and whatever casts doubt on verdicts, if there is anything; a click shows it.
fn trust_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let doubts = document
        .trust
        .health
        .as_ref()
        .filter(|health| health.doubts().next().is_some());
    let doubts = doubts.map(|health| {
        (
            health::doubts_text(health),
            health::doubts_colour(health, &palette),
        )
    });
    let assumed = document.assumptions().len();
    let assumed = (assumed > 0).then(|| (counted(assumed, "assumption"), palette.caution));
    for (text, colour) in [assumed, doubts].into_iter().flatten() {
        let button = egui::Button::new(RichText::new(text).color(colour)).frame(false);
        on_command(ui.add(button), Command::Show(Page::Health), requests);
    }
}

fn menu_ui(ui: &mut Ui, group: Group, state: &State, requests: &mut Requests) {
    ui.set_min_width(210.0);
    // In a low window a long menu scrolls.
    let height = ui.ctx().content_rect().height() - 70.0;
    ui.set_max_height(height);
    egui::ScrollArea::vertical()
        .max_height(height)
        .show(ui, |ui| entries_ui(ui, group, state, requests));
}

fn entries_ui(ui: &mut Ui, group: Group, state: &State, requests: &mut Requests) {
    for row in Command::table().iter().filter(|row| row.group == group) {
        if row.line_above {
            ui.separator();
        }
        let button = egui::Button::new(row.name).shortcut_text(row.command.key_text());
        let enabled = !row.needs_history || state.document.is_some();
        if ui
            .add_enabled(enabled, button)
            .on_hover_text(row.tooltip)
            .clicked()
        {
            requests.push(Request::Run(row.command));
            ui.close();
        }
    }
    if group == Group::File && !state.recent.is_empty() {
        ui.separator();
        style::note(ui, "Recent");
        for path in &state.recent {
            if ui
                .button(file_name(path))
                .on_hover_text(path.display().to_string())
                .clicked()
            {
                requests.push(Request::OpenFile(path.clone()));
                ui.close();
            }
        }
    }
}
