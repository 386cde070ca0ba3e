//! What is shown in place of a history that could not be read.

use crate::app::command::{Command, Request, Requests};
use crate::app::state::State;
use crate::app::style::{self, Palette};
use crate::app::unreadable::Unreadable;
use crate::app::vocabulary::Page;
use egui::{RichText, ScrollArea, Ui};

/// Draws the page.
pub fn unreadable_ui(ui: &mut Ui, state: &State, why: &Unreadable, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ui.add_space(24.0);
    style::bold(ui, "This file could not be read as a history", style::TITLE, palette.strong);
    ui.add_space(6.0);
    ui.add(egui::Label::new(RichText::new(&why.text).color(palette.bad)).wrap().selectable(true));
    ui.add_space(10.0);
    if !why.lines.is_empty() {
        ScrollArea::horizontal().id_salt("lines").auto_shrink([false, true]).show(ui, |ui| {
            for (number, text) in &why.lines {
                let is_it = *number == why.line;
                let (mark, colour) = if is_it { ("▶", palette.bad) } else { (" ", palette.weak) };
                let line = RichText::new(format!("{number:>8} {mark} {text}")).monospace().color(colour);
                ui.add(egui::Label::new(if is_it { line.strong() } else { line }).extend().selectable(true));
            }
        });
        ui.add_space(10.0);
    }
    let is_nested = [".edn:", ".json:"].iter().any(|ending| why.text.contains(ending));
    let hint =
        if is_nested { "If an earlier line leaves a bracket open, the mistake is noticed only here. " } else { "" };
    style::note(ui, format!("{hint}The formats are described in docs/formats.md."));
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
        if ui.button("Copy message").on_hover_text("Put the message on the clipboard").clicked() {
            requests.push(Request::Copy(why.text.clone()));
        }
    });
    if !state.recent.is_empty() {
        style::note(ui, "Recent files are in the File menu.");
    }
}
