//! Collecting histories: what is run and where, on the left; progress and results, on the right.

mod form;
mod progress;
mod rounds;
mod servers;

use crate::app::collecting::Collecting;
use crate::app::collecting::form::Field;
use crate::app::collecting::order::Purpose;
use crate::app::collecting::table::{Checked, CollectRun, FinishedRound, Stage};
use crate::app::command::{Command, Request, Requests};
use crate::app::panels::live::LiveView;
use crate::app::panels::on_command;
use crate::app::style::{self, Palette};
use crate::app::verdict_summary::Conclusion;
use crate::checkers::Level;
use crate::collect::{DATABASES, Isolation};
use crate::control::Progress;
use egui::{RichText, ScrollArea, Ui, WidgetInfo, WidgetType, vec2};

pub(crate) use form::form_ui;

/// Draws the last run, below the buttons that start one.
pub(crate) fn collect_ui(
    ui: &mut Ui,
    collect: &Collecting,
    progress: Option<Progress>,
    kept: &mut LiveView,
    requests: &mut Requests,
) {
    buttons_ui(ui, collect, requests);
    trouble_ui(ui, collect);
    let Some(run) = &collect.run else {
        about_ui(ui);
        return;
    };
    ScrollArea::vertical()
        .id_salt("collect")
        .auto_shrink(false)
        .show(ui, |ui| {
            stage_ui(ui, run, progress);
            progress::progress_ui(ui, run, kept, requests);
            rounds::rounds_ui(ui, run, requests);
            if run.purpose == Purpose::Compare {
                progress::levels_ui(ui, run, requests);
            }
        });
}

fn buttons_ui(ui: &mut Ui, collect: &Collecting, requests: &mut Requests) {
    let running = collect.is_running();
    ui.horizontal_wrapped(|ui| {
        for command in [Command::RunWorkload, Command::Hunt, Command::CompareLevels] {
            let button = egui::Button::new(command.row().name);
            on_command(ui.add_enabled(!running, button), command, requests);
        }
        if running
            && ui
                .button("Cancel")
                .on_hover_text(super::tooltip(Command::Escape))
                .clicked()
        {
            requests.push(Request::CancelCollecting);
        }
        let Some(run) = &collect.run else { return };
        if run.best().is_some() || run.round.as_ref().is_some_and(|_| running) {
            let fill = Palette::of(ui).selected;
            let name = Command::OpenCollected.row().name;
            let hover = super::tooltip(Command::OpenCollected);
            if ui
                .add(egui::Button::new(name).fill(fill))
                .on_hover_text(hover)
                .clicked()
            {
                requests.push(Request::Run(Command::OpenCollected));
            }
        }
        if !run.rows.is_empty() {
            super::command_button_ui(ui, Command::WriteRounds, requests);
        }
    });
    ui.add_space(4.0);
}

/// What is wrong, if it is not about a visible field.
fn trouble_ui(ui: &mut Ui, collect: &Collecting) {
    let Some(error) = &collect.error else { return };
    let text = match error.field.filter(|field| *field != Field::Address) {
        Some(field) => format!("{}: {}", field.row().name, error.text),
        None => error.text.clone(),
    };
    let label = egui::Label::new(RichText::new(&text).color(Palette::of(ui).bad))
        .truncate()
        .selectable(true);
    ui.add(label).on_hover_text(text);
    ui.add_space(4.0);
}

fn about_ui(ui: &mut Ui) {
    let palette = Palette::of(ui);
    ui.add_space(8.0);
    style::bold(
        ui,
        "Make a history, and see whether the database keeps its promise",
        style::TITLE,
        palette.strong,
    );
    ui.add_space(4.0);
    for (command, text) in [
        (
            Command::RunWorkload,
            "runs the workload once. Everything that clients see is recorded as it happens, and what is recorded is \
             checked while it grows.",
        ),
        (
            Command::Hunt,
            "runs it again and again, each time with the next seed, until a violation appears, and opens the history there.",
        ),
        (
            Command::CompareLevels,
            "runs it at every isolation level of the database, one after the other, and shows speed, aborts and anomalies \
             side by side.",
        ),
    ] {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            ui.label(RichText::new(command.row().name).color(palette.strong));
            ui.label(RichText::new(format!("({}) {text}", command.key_text())).color(palette.text));
        });
        ui.add_space(2.0);
    }
    ui.add_space(6.0);
    style::note(
        ui,
        "SQLite is built in and needs nothing; the in-memory store can inject faults of your choice.",
    );
    ui.add_space(16.0);
    style::bold(
        ui,
        "Databases, and what their isolation levels are checked for",
        style::HEADING,
        palette.strong,
    );
    ui.add_space(4.0);
    egui::Grid::new("databases")
        .num_columns(3)
        .spacing(vec2(24.0, 6.0))
        .show(ui, |ui| {
            for database in DATABASES {
                ui.label(RichText::new(database.name).color(palette.strong));
                ui.label(
                    RichText::new(database.example)
                        .monospace()
                        .color(palette.weak),
                );
                ui.vertical(|ui| {
                    for isolation in database.isolations {
                        ui.label(RichText::new(checked_for(isolation)).color(palette.text));
                    }
                    if database.open.is_none() {
                        style::note(ui, "not in this build");
                    }
                    ui.add_space(4.0);
                });
                ui.end_row();
            }
        });
    ui.add_space(4.0);
    style::note(
        ui,
        "CockroachDB and YugabyteDB are reached as PostgreSQL, any other database through a driver program: docs/drivers.md.",
    );
}

/// "read-committed: RC, read committed".
fn checked_for(isolation: &Isolation) -> String {
    let level = isolation
        .promises
        .and_then(|code| code.parse::<Level>().ok());
    let promise = level.map_or("nothing that can be checked".to_owned(), |level| {
        format!("{level}, {}", level.long_name().replace('-', " "))
    });
    format!("{}: {promise}", isolation.name)
}

/// The current stage of the run, its progress, and where it is recorded.
fn stage_ui(ui: &mut Ui, run: &CollectRun, progress: Option<Progress>) {
    let palette = Palette::of(ui);
    let name = run.round.as_ref().map_or("", |(name, _)| name.as_str());
    let (text, colour) = match run.stage {
        Stage::Opening => ("Reaching the database…".to_owned(), palette.text),
        Stage::Recording => match progress
            .as_ref()
            .filter(|p| p.total == 0 && !p.phase.is_empty())
        {
            // Before and after the transactions of the workload.
            Some(progress) => (
                format!("Recording {name}: {}…", progress.phase),
                palette.text,
            ),
            None => (format!("Recording {name}…"), palette.text),
        },
        Stage::Checking => (format!("Checking {name}…"), palette.text),
        Stage::Cancelled => (
            "Cancelled; what was recorded is kept".to_owned(),
            palette.caution,
        ),
        Stage::Failed => ("Broken off".to_owned(), palette.bad),
        Stage::Done => ended(run, &palette),
    };
    ui.horizontal(|ui| {
        style::bold_line(ui, &text, style::HEADING, colour);
        if run.is_running() {
            match progress
                .as_ref()
                .and_then(Progress::fraction)
                .filter(|_| run.stage == Stage::Recording)
            {
                Some(share) => {
                    let bar = egui::ProgressBar::new(share)
                        .desired_width(160.0)
                        .desired_height(6.0);
                    let spoken = format!("{:.0} % of the transactions", 100.0 * share);
                    ui.add(bar).widget_info(|| {
                        WidgetInfo::labeled(WidgetType::ProgressIndicator, true, &spoken)
                    });
                }
                None => drop(ui.add(egui::Spinner::new().size(14.0).color(palette.accent))),
            }
        }
        ui.add(
            egui::Label::new(
                RichText::new(run.version.as_deref().unwrap_or_default()).color(palette.weak),
            )
            .truncate(),
        );
    });
    if let Some((_, path)) = &run.round {
        let path = path.display().to_string();
        let text = RichText::new(&path).size(style::SMALL).color(palette.weak);
        ui.add(egui::Label::new(text).truncate().selectable(true))
            .on_hover_text(path);
    }
    ui.add_space(4.0);
}

/// How the run ended, in one line.
fn ended(run: &CollectRun, palette: &Palette) -> (String, egui::Color32) {
    let violated = run.rows.iter().filter(|row| row.is_violated()).count();
    match (run.purpose, violated, run.rows.last()) {
        (_, _, None) => (
            "Nothing was run: the time was up".to_owned(),
            palette.caution,
        ),
        (Purpose::Compare, ..) => (format!("Compared {} levels", run.rows.len()), palette.text),
        (Purpose::Hunt, 0, _) => {
            let open = |row: &&FinishedRound| {
                row.checked
                    .as_ref()
                    .is_none_or(|c| c.conclusion() == Conclusion::Open)
            };
            let rounds = style::counted(run.rows.len(), "round");
            match run.rows.iter().filter(open).count() {
                0 => (format!("No violation in {rounds}"), palette.good),
                n => (
                    format!("No violation in {rounds}, {n} of them undecided"),
                    palette.caution,
                ),
            }
        }
        (Purpose::Hunt, ..) => (
            format!(
                "A violation in {} of {}",
                violated,
                style::counted(run.rows.len(), "round")
            ),
            palette.bad,
        ),
        (Purpose::Run, _, Some(row)) => match &row.checked {
            Some(checked) => (
                format!("Done: {}", checked.text()),
                colour_of(checked, palette),
            ),
            None => ("Done: recorded, not checked".to_owned(), palette.text),
        },
    }
}

/// The colour of a check's conclusion.
fn colour_of(checked: &Checked, palette: &Palette) -> egui::Color32 {
    palette.conclusion(checked.conclusion())
}

/// A figure with its name.
fn figure_ui(ui: &mut Ui, name: &str, figure: &str, colour: egui::Color32) {
    let response = ui
        .vertical(|ui| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            ui.label(RichText::new(figure).size(style::TITLE).color(colour));
            style::note(ui, name);
        })
        .response;
    response
        .widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, format!("{name}: {figure}")));
}
