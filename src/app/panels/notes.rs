//! The user's notes on the selected anomaly: bookmark, note, tags.

use super::on_command;
use crate::app::command::{Command, Request, Requests};
use crate::app::notes::Note;
use crate::app::state::Document;
use crate::app::style::{self, Palette};
use egui::{TextEdit, Ui, WidgetInfo, WidgetType};

/// Name of the field for the note.
pub(crate) const NOTE_ID: &str = "note";

/// Draws the section.
pub(crate) fn notes_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let Some(identity) = document.identity() else {
        return;
    };
    let none = Note::default();
    let note = document.notes.get(identity).unwrap_or(&none);
    let mut changed = note.clone();
    ui.horizontal_wrapped(|ui| {
        let button = egui::Button::selectable(
            note.bookmarked,
            if note.bookmarked {
                "Bookmarked"
            } else {
                "Bookmark"
            },
        );
        on_command(ui.add(button), Command::Bookmark, requests);
        for tag in &note.tags {
            let button = egui::Button::new(format!("{tag} ×")).small();
            if ui.add(button).on_hover_text("Take this tag away").clicked() {
                changed.tags.remove(tag);
            }
        }
        let id = ui.id().with(("new tag", identity));
        let mut text = ui
            .data(|data| data.get_temp::<String>(id))
            .unwrap_or_default();
        let field = ui.add(
            TextEdit::singleline(&mut text)
                .hint_text("tag")
                .desired_width(60.0),
        );
        field.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "New tag"));
        if field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) {
            changed
                .tags
                .extend(Some(text.trim().to_owned()).filter(|tag| !tag.is_empty()));
            text.clear();
        }
        ui.data_mut(|data| data.insert_temp(id, text));
    });
    let weak = Palette::of(ui).weak;
    let hint = egui::RichText::new(format!("note ({})", Command::EditNote.key_text()))
        .size(style::SMALL)
        .color(weak);
    let field = TextEdit::multiline(&mut changed.text)
        .id(egui::Id::new(NOTE_ID))
        .hint_text(hint)
        .desired_rows(1)
        .desired_width(f32::INFINITY)
        .margin(egui::Margin::symmetric(8, 4));
    let response = ui.add(field);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "Note"));
    if document.reveal.note {
        response.request_focus();
    }
    if changed != *note {
        requests.push(Request::SetNote(identity.to_owned(), changed));
    }
}
