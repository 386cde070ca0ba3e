//! What was tested: the line, and the field in which the user says it.

use crate::app::command::{Command, Request, Requests};
use crate::app::state::Document;
use crate::app::style::{self, Palette};
use egui::{Id, Key, RichText, Sense, TextEdit, Ui, WidgetInfo, WidgetType};

/// Draws the line that says what was tested. A click on it opens the field, Enter closes it.
pub(super) fn tested_ui(ui: &mut Ui, document: &Document, line: &str, requests: &mut Requests) {
    let id = Id::new("what was tested");
    let mut typed: Option<String> = ui.data(|data| data.get_temp(id));
    if document.reveal.tested && typed.is_none() {
        typed = Some(document.tested.clone());
    }
    let Some(mut said) = typed else {
        let text = RichText::new(line).color(Palette::of(ui).text);
        let label = ui.add(egui::Label::new(text).sense(Sense::click()));
        let hint = super::tooltip(Command::EditTested);
        if label.on_hover_text(hint).clicked() {
            ui.data_mut(|data| data.insert_temp(id, document.tested.clone()));
            ui.memory_mut(|memory| memory.request_focus(id.with("field")));
        }
        return;
    };
    let hint = "PostgreSQL 15.18 at REPEATABLE READ, two nodes";
    let hint = RichText::new(hint).size(style::SMALL);
    let field = ui.add(
        TextEdit::singleline(&mut said)
            .id(id.with("field"))
            .hint_text(hint)
            .desired_width(f32::INFINITY),
    );
    field.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "What was tested"));
    if document.reveal.tested {
        field.request_focus();
    }
    if !field.lost_focus() {
        ui.data_mut(|data| data.insert_temp(id, said));
        return;
    }
    ui.data_mut(|data| data.remove::<String>(id));
    let is_given_up = ui.input(|input| input.key_pressed(Key::Escape));
    if !is_given_up && said.trim() != document.tested {
        requests.push(Request::SetTested(said.trim().to_owned()));
    }
}
