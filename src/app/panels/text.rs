//! The argument in words, as `isoscope explain` prints it.

use crate::app::command::{Command, Request, Requests};
use crate::app::state::Document;
use crate::app::style;
use egui::{RichText, ScrollArea, Ui};

/// Draws the page.
pub fn text_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let Some(picture) = &document.picture else {
        style::note(ui, "Select an anomaly to read about it.");
        return;
    };
    ui.horizontal(|ui| {
        super::command_button_ui(ui, Command::CopyMarkdown, requests);
        if ui.button("Copy text").on_hover_text("Put this text on the clipboard").clicked() {
            requests.push(Request::Copy(picture.argument.text.clone()));
        }
    });
    ScrollArea::vertical().id_salt("text").auto_shrink(false).show(ui, |ui| {
        ui.add(egui::Label::new(RichText::new(&picture.argument.text).monospace()).wrap().selectable(true));
    });
}
