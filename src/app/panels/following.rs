//! A file that is followed while another program writes it: what is known of it, and its last transactions.

use super::live::{LiveView, found_ui, live_ui};
use crate::app::command::{Command, Request, Requests};
use crate::app::following::Following;
use crate::app::live::Snapshot;
use crate::app::style::{self, Palette};
use crate::app::verdict_summary::Conclusion;
use crate::report::grouped;
use egui::{RichText, ScrollArea, Ui, vec2};

/// Height of the list of what was found, at most.
const FOUND: f32 = 150.0;

/// Draws where the follower is, and the answers so far.
pub(crate) fn state_ui(ui: &mut Ui, following: &Following, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let newest = following.live.newest();
    let error = newest.and_then(|snapshot| snapshot.error.as_ref());
    style::bold_line(ui, &following.title(), style::TITLE, palette.strong)
        .on_hover_text(following.path.display().to_string());
    match (error, following.goes_on) {
        (Some(why), _) => drop(ui.label(RichText::new(why).color(palette.bad))),
        (None, true) => drop(style::note(
            ui,
            "Followed while it grows: what is appended is read, nothing is read again",
        )),
        (None, false) => drop(ui.label(RichText::new("No longer followed").color(palette.caution))),
    }
    ui.add_space(6.0);
    ui.horizontal_wrapped(|ui| {
        if following.goes_on
            && ui
                .button("Stop following")
                .on_hover_text("What is known stays")
                .clicked()
        {
            requests.push(Request::StopFollowing);
        }
        let hover =
            "Reads and checks the file as it is now, with all its anomalies; following goes on";
        if ui.button("Read all of it").on_hover_text(hover).clicked() {
            requests.push(Request::OpenFile(following.path.clone()));
        }
    });
    ui.add_space(8.0);
    let Some(snapshot) = newest else { return };
    ScrollArea::vertical()
        .id_salt("following")
        .auto_shrink(false)
        .show(ui, |ui| {
            answers_ui(ui, snapshot);
            ui.add_space(8.0);
            progress_ui(ui, snapshot);
        });
}

fn answers_ui(ui: &mut Ui, snapshot: &Snapshot) {
    let palette = Palette::of(ui);
    style::bold(ui, "So far", style::HEADING, palette.strong);
    let (checked, waiting) = (snapshot.status.delivered, snapshot.status.waiting as u64);
    let all = checked + waiting;
    let is_partial = waiting > 0;
    if is_partial {
        let text = format!(
            "{} of {} transactions checked",
            grouped(checked),
            grouped(all)
        );
        ui.label(RichText::new(text).color(palette.caution))
            .on_hover_text("The others wait for a transaction that they read from");
    }
    egui::Grid::new("answers so far")
        .num_columns(2)
        .spacing(vec2(14.0, 3.0))
        .show(ui, |ui| {
            for (level, conclusion) in &snapshot.levels {
                ui.label(level.code())
                    .on_hover_text(level.long_name().replace('-', " "));
                // What holds of a part is no good news yet.
                let (word, colour) = match conclusion {
                    Conclusion::Holds if is_partial => ("satisfied so far", palette.text),
                    conclusion => (conclusion.word(), palette.conclusion(*conclusion)),
                };
                ui.label(RichText::new(word).color(colour));
                ui.end_row();
            }
        });
}

fn progress_ui(ui: &mut Ui, snapshot: &Snapshot) {
    let palette = Palette::of(ui);
    let status = &snapshot.status;
    style::bold(ui, "Read", style::HEADING, palette.strong);
    let rows = [
        ("lines", u64::from(snapshot.lines), "Lines read"),
        (
            "per second",
            snapshot.per_second.round() as u64,
            "Transactions that ended per second, lately",
        ),
        (
            "checked",
            status.delivered,
            "Transactions that count in the answers",
        ),
        (
            "unfinished",
            snapshot.open as u64,
            "Transactions that have begun and not ended",
        ),
        (
            "waiting for a writer",
            status.waiting as u64,
            "Transactions that have ended and wait for one that they read from",
        ),
        (
            "in memory",
            status.remembered as u64,
            "Transactions in memory, at the level that keeps the most",
        ),
        (
            "final",
            status.settled,
            "Transactions that no later answer can depend on",
        ),
    ];
    egui::Grid::new("followed")
        .num_columns(2)
        .spacing(vec2(14.0, 3.0))
        .show(ui, |ui| {
            for (name, n, hover) in rows {
                style::note(ui, name).on_hover_text(hover);
                ui.label(RichText::new(grouped(n)).color(palette.strong))
                    .on_hover_text(hover);
                ui.end_row();
            }
        });
    if let Some(why) = &snapshot.waits_for {
        ui.add_space(4.0);
        ui.label(
            RichText::new(format!("The oldest waits: {why}"))
                .size(style::SMALL)
                .color(palette.weak),
        );
    }
}

/// Draws what was found, and below it the last transactions.
pub(crate) fn following_ui(
    ui: &mut Ui,
    following: &Following,
    kept: &mut LiveView,
    requests: &mut Requests,
) {
    let Some(snapshot) = following.live.newest() else {
        style::note(ui, "Reading what is there…");
        return;
    };
    if !snapshot.found.is_empty() {
        ScrollArea::vertical()
            .id_salt("found")
            .max_height(FOUND)
            .auto_shrink([false, true])
            .show(ui, |ui| {
                for (place, found) in snapshot.found.iter().enumerate() {
                    found_ui(
                        ui,
                        place,
                        found,
                        &format!("Line {}", grouped(u64::from(found.line))),
                        requests,
                    );
                }
            });
        ui.separator();
    }
    live_ui(ui, &following.live, kept, requests);
}

/// What is followed, in the top bar: the weakest violated level if there is one.
pub(super) fn tab_ui(ui: &mut Ui, following: &Following, is_shown: bool, requests: &mut Requests) {
    let weakest = following
        .live
        .newest()
        .and_then(|snapshot| snapshot.weakest());
    let dots = if following.goes_on { "…" } else { "" };
    let text = match weakest {
        Some(level) => {
            RichText::new(format!("Followed: {level} violated{dots}")).color(Palette::of(ui).bad)
        }
        None => RichText::new(format!("Followed{dots}")),
    };
    let hover = format!(
        "{}\n{}",
        following.path.display(),
        super::tooltip(Command::Follow)
    );
    if ui
        .add(egui::Button::selectable(is_shown, text))
        .on_hover_text(hover)
        .clicked()
    {
        requests.push(Request::ShowFollowing(!is_shown));
    }
}
