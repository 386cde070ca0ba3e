//! The status bar: the keys that matter now, and which anomaly of how many.

use crate::app::command::Command;
use crate::app::state::{Cover, Document, State};
use crate::app::style::{self, Palette};
use crate::app::vocabulary::Phase;
use crate::report::grouped;
use egui::{Align, Layout, RichText, Ui};

/// Room for the position of the selected anomaly, in points.
const PLACE: f32 = 130.0;

/// Draws the line.
pub(crate) fn status_ui(ui: &mut Ui, state: &State) {
    let palette = Palette::of(ui);
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let hints: &[(&[Command], &str)] = match &state.document {
            _ if state.cover == Some(Cover::Collect) => &[
                (&[Command::RunWorkload], "run"),
                (&[Command::Hunt], "hunt"),
                (&[Command::CompareLevels], "compare levels"),
                (&[Command::OpenCollected], "open"),
                (&[Command::HoldLanes], "pause lanes"),
                (&[Command::Escape], "cancel, or leave this page"),
                (&[Command::Help], "keys"),
            ],
            _ if state.cover == Some(Cover::Following) => &[
                (&[Command::HoldLanes], "pause, go on"),
                (&[Command::OpenFound], "open the first anomaly"),
                (&[Command::Follow, Command::Escape], "leave this page"),
                (&[Command::Help], "keys"),
            ],
            Some(document) if document.phase == Phase::Failed => &[
                (&[Command::Reload], "read again"),
                (&[Command::Open], "open"),
                (&[Command::Close], "close"),
                (&[Command::Help], "keys"),
            ],
            Some(_) => &[
                (
                    &[Command::NextAnomaly, Command::PreviousAnomaly],
                    "next, previous anomaly",
                ),
                (&[Command::NextStep, Command::PreviousStep], "step"),
                (&[Command::ExpandEvidence], "evidence"),
                (&[Command::Fit], "fit"),
                (&[Command::SwitchLayout], "layout"),
                (&[Command::FocusFilter], "filter"),
                (&[Command::Help], "keys"),
            ],
            None => &[
                (&[Command::Open], "open"),
                (&[Command::SwitchTheme], "dark or light"),
                (&[Command::Help], "keys"),
            ],
        };
        // Keys of the help sheet come last, and have room in any case.
        let letter =
            ui.fonts_mut(|fonts| fonts.glyph_width(&egui::FontId::monospace(style::SMALL), 'm'));
        let right = if state.document.is_some() && !state.is_covered() {
            PLACE
        } else {
            0.0
        };
        let room = ui.max_rect().right() - right - 9.0 * letter;
        for (commands, what) in hints {
            let width = (commands
                .iter()
                .map(|c| c.key_text().len() + 1)
                .sum::<usize>()
                + what.len()) as f32
                * letter;
            if ui.cursor().left() + width > room && commands != &[Command::Help] {
                continue;
            }
            let keys: Vec<String> = commands.iter().map(|command| command.key_text()).collect();
            ui.label(
                RichText::new(keys.join(" "))
                    .monospace()
                    .size(style::SMALL)
                    .color(palette.strong),
            );
            style::note(ui, *what);
            ui.add_space(10.0);
        }
        if let Some(folder) = &state.looking {
            ui.label(
                RichText::new(format!("Looking into {}…", folder.display()))
                    .size(style::SMALL)
                    .color(palette.strong),
            );
        }
        if let Some(document) = state.document.as_ref().filter(|_| !state.is_covered()) {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.label(
                    RichText::new(place(document))
                        .size(style::SMALL)
                        .color(palette.weak),
                );
            });
        }
    });
}

/// `11 of 123 patterns listed`: the position of the selected anomaly in the list.
fn place(document: &Document) -> String {
    if document.tree.catalogue().is_none() {
        return String::new();
    }
    let n = grouped(document.tree.order().len() as u64);
    match document.selected.and_then(|id| document.tree.position(id)) {
        Some(place) => format!("{} of {n} patterns listed", grouped(place as u64 + 1)),
        None if document.tree.order().is_empty() => String::new(),
        None => format!("{n} patterns listed"),
    }
}
