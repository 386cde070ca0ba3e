//! The title row: the menu, what is open, its levels, what was promised, and what may be done with it.

use super::{on_command, tooltip};
use crate::app::command::{Command, Group, Request, Requests};
use crate::app::state::{Cover, Document, State};
use crate::app::style::{self, Palette, counted, duration};
use crate::app::vocabulary::{Phase, Source, file_name};
use crate::control::Progress;
use egui::{Align, Button, Label, Layout, RichText, Ui, WidgetInfo, WidgetType};

/// What may be shared, in the order of its menu.
const SHARED: [Command; 7] = [
    Command::CopyPicture,
    Command::CopyMarkdown,
    Command::CopyText,
    Command::CopyLink,
    Command::Export,
    Command::Report,
    Command::SaveProject,
];

/// Draws the row.
pub(crate) fn top_bar_ui(
    ui: &mut Ui,
    state: &State,
    progress: Option<Progress>,
    requests: &mut Requests,
) {
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        let menu = ui.menu_button("☰", |ui| groups_ui(ui, state, requests));
        let name = || WidgetInfo::labeled(WidgetType::Button, true, "Menu");
        menu.response.widget_info(name);
        covers_ui(ui, state, requests);
        let document = state.document.as_ref();
        // What is on the right has its room first, the name what is left of it.
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if document.is_some_and(|document| document.selected.is_some()) {
                let share = ui.menu_button("Share ▾", |ui| share_ui(ui, requests));
                let name = || WidgetInfo::labeled(WidgetType::Button, true, "Share");
                share.response.widget_info(name);
            }
            on_command(ui.button("Find"), Command::Palette, requests);
            if let Some(folder) = &state.looking {
                style::note(ui, format!("Looking into {}…", folder.display()));
            }
            let Some(document) = document else { return };
            let has_levels = document.phase != Phase::Failed;
            let is_shown = has_levels && !state.show_batch && !state.is_covered();
            match document.is_busy() {
                true => progress_ui(ui, progress, requests),
                false if is_shown => {
                    super::lattice::promised_ui(ui, document, &state.lattice, requests)
                }
                false => {}
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                if is_shown {
                    let strip = super::levels::width(ui, document);
                    ui.scope(|ui| {
                        let room = ui.available_width() - strip - 16.0;
                        ui.set_max_width(room.max(90.0));
                        title_ui(ui, document);
                    });
                    ui.add_space(6.0);
                    super::levels::levels_ui(ui, document, requests);
                } else {
                    title_ui(ui, document);
                }
            });
        });
    });
}

/// Ways to what covers the window, as far as there is something.
fn covers_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    if let Some(batch) = &state.batch {
        let name = batch.folder.file_name();
        let name = name.map_or_else(|| "Folder".into(), |name| name.to_string_lossy());
        let text = format!("{name} ({})", batch.rows.len());
        let response = ui.add(Button::selectable(state.show_batch, text));
        let response = response.on_hover_text(tooltip(Command::ShowBatch));
        if response.clicked() && (!state.show_batch || state.document.is_some()) {
            requests.push(Request::Run(Command::ShowBatch));
        }
    }
    let is_collect = state.cover == Some(Cover::Collect);
    if is_collect || state.collect.run.is_some() {
        let text = match state.collect.is_running() {
            true => "Collect…",
            false => "Collect",
        };
        let button = Button::selectable(is_collect, text);
        on_command(ui.add(button), Command::ShowCollect, requests);
    }
    if let Some(following) = &state.following {
        let is_shown = state.cover == Some(Cover::Following);
        super::following::tab_ui(ui, following, is_shown, requests);
    }
}

/// The name of the history and its size.
fn title_ui(ui: &mut Ui, document: &Document) {
    let palette = Palette::of(ui);
    let mut job = egui::text::LayoutJob::default();
    let part = |size, colour| egui::TextFormat::simple(egui::FontId::proportional(size), colour);
    job.append(&document.title, 0.0, part(style::HEADING, palette.strong));
    let mut whole = match (document.path(), &document.source) {
        (Some(path), _) => path.display().to_string(),
        (None, Source::Part(part)) => format!("found in {} while it grew", part.path.display()),
        (None, _) => "a bundled sample".to_owned(),
    };
    if let Some(figures) = &document.recorded {
        let n = counted(figures.transactions, "transaction");
        job.append(&format!(" {n}"), 5.0, part(style::SMALL, palette.weak));
        whole += &format!(
            "\n{} · {n} · {} · {}",
            counted(figures.sessions, "session"),
            counted(figures.operations, "operation"),
            counted(figures.keys, "key"),
        );
        let (reading, checking) = document.results.seconds;
        if document.phase == Phase::Done {
            let (reading, checking) = (duration(reading), duration(checking));
            whole += &format!("\nread in {reading}, checked in {checking}");
        }
    }
    ui.add(Label::new(job).truncate()).on_hover_text(whole);
}

/// What is being done, how far it is, and the way to stop it.
fn progress_ui(ui: &mut Ui, progress: Option<Progress>, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let cancel = ui.button("Cancel");
    let cancel = cancel.on_hover_text(tooltip(Command::Escape));
    super::on_click(&cancel, Request::Stop, requests);
    let progress = progress.unwrap_or_default();
    match progress.fraction() {
        Some(fraction) => {
            let bar = egui::ProgressBar::new(fraction).desired_width(80.0);
            ui.add(bar.desired_height(6.0));
        }
        None => drop(ui.add(egui::Spinner::new().size(14.0).color(palette.accent))),
    }
    ui.add(Label::new(RichText::new(progress.phase).color(palette.weak)).truncate());
}

/// The commands by group, a menu for each.
fn groups_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    for group in Group::ALL {
        let menu = ui.menu_button(group.title(), |ui| menu_ui(ui, group, state, requests));
        let name = || WidgetInfo::labeled(WidgetType::Button, true, group.title());
        menu.response.widget_info(name);
    }
}

fn share_ui(ui: &mut Ui, requests: &mut Requests) {
    ui.set_min_width(210.0);
    for command in SHARED {
        entry_ui(ui, command, true, requests);
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
        let is_enabled = !row.needs_history || state.document.is_some();
        entry_ui(ui, row.command, is_enabled, requests);
    }
    if group == Group::File && !state.recent.is_empty() {
        ui.separator();
        style::note(ui, "Recent");
        for path in &state.recent {
            let button = ui.button(file_name(path));
            if button.on_hover_text(path.display().to_string()).clicked() {
                requests.push(Request::OpenFile(path.clone()));
                ui.close();
            }
        }
    }
}

fn entry_ui(ui: &mut Ui, command: Command, is_enabled: bool, requests: &mut Requests) {
    let row = command.row();
    let button = Button::new(row.name).shortcut_text(command.key_text());
    let response = ui
        .add_enabled(is_enabled, button)
        .on_hover_text(row.tooltip);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, is_enabled, row.name));
    if response.clicked() {
        requests.push(Request::Run(command));
        ui.close();
    }
}
