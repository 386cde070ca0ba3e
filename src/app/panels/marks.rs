//! The marks of the history: a line of them, and the field for the text of one.

use crate::app::command::{Command, Request, Requests};
use crate::app::marks::Ask;
use crate::app::state::{Document, State};
use crate::app::style::{self, Palette};
use crate::diagram::text_size::elide;
use crate::history::Annotation;
use egui::{
    Button, CornerRadius, Frame, Key, Margin, RichText, ScrollArea, TextEdit, Ui, WidgetInfo,
    WidgetType,
};

/// Maximum number of columns of a mark's text in the line of marks.
const COLUMNS: usize = 32;
/// Width of the field, in points.
const WIDTH: f32 = 300.0;

/// Where a mark is, in words.
fn place_of(document: &Document, mark: &Annotation) -> String {
    document
        .history
        .as_ref()
        .map_or_else(String::new, |history| mark.place.describe(history))
}

/// Draws the line of marks; nothing if there are none.
pub(super) fn marks_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    if document.marks.all.is_empty() {
        return;
    }
    let palette = Palette::of(ui);
    ScrollArea::horizontal().id_salt("marks").max_height(style::ROW + 4.0).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.add_space(10.0);
            style::short_note(ui, "Marks");
            for (at, mark) in document.marks.all.iter().enumerate() {
                let (place, text) = (place_of(document, mark), elide(&mark.text, COLUMNS));
                let is_in = document.history.as_ref().is_none_or(|history| mark.place.is_in(history));
                let colour = if is_in { palette.text } else { palette.weak };
                let name = if text.is_empty() { place.clone() } else { format!("{place}  {text}") };
                let button = Button::selectable(document.marks.at == Some(at), RichText::new(name).color(colour));
                let hint = if is_in { format!("{place}\n{}\nClick: go there. Double-click: write its text", mark.text) } else { "This place is not in the history any more. Double-click: write its text or remove it"
                        .to_owned() };
                let response = ui.add(button).on_hover_text(hint);
                if response.double_clicked() {
                    requests.push(Request::Marks(Ask::Open(at)));
                } else if response.clicked() {
                    requests.push(Request::Marks(Ask::GoTo(at)));
                }
            }
        });
    });
}

/// Draws the field for the text of the open mark over the lower middle of the window.
pub(crate) fn editor_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    let Some(document) = &state.document else {
        return;
    };
    let open = document
        .marks
        .open
        .and_then(|at| Some((at, document.marks.all.get(at)?)));
    let Some((at, mark)) = open else { return };
    let palette = Palette::of(ui);
    let anchor = egui::Area::new(egui::Id::new("mark"))
        .anchor(egui::Align2::CENTER_BOTTOM, egui::vec2(0.0, -40.0));
    anchor.order(egui::Order::Foreground).show(ui.ctx(), |ui| {
        let frame = Frame::new()
            .fill(palette.panel)
            .inner_margin(Margin::symmetric(12, 8));
        let frame = frame
            .corner_radius(CornerRadius::same(6))
            .shadow(ui.visuals().popup_shadow);
        frame
            .stroke(egui::Stroke::new(1.0, palette.accent))
            .show(ui, |ui| {
                ui.horizontal(|ui| {
                    style::bold_line(
                        ui,
                        &format!("Mark {}", elide(&place_of(document, mark), COLUMNS)),
                        style::BODY,
                        palette.strong,
                    );
                    let mut text = mark.text.clone();
                    let field = TextEdit::singleline(&mut text)
                        .hint_text("what happens there")
                        .desired_width(WIDTH);
                    let field = ui.add(field.margin(Margin::symmetric(8, 4)));
                    field.widget_info(|| {
                        WidgetInfo::labeled(WidgetType::TextEdit, true, "Text of the mark")
                    });
                    let done =
                        field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
                    if document.marks.fresh {
                        field.request_focus();
                    }
                    if text != mark.text {
                        requests.push(Request::Marks(Ask::Write(text)));
                    }
                    if ui.button("Done").on_hover_text("Enter or Esc").clicked() || done {
                        requests.push(Request::Marks(Ask::Close));
                    }
                    if ui
                        .button("Remove")
                        .on_hover_text(format!("Undo: {}", Command::Undo.key_text()))
                        .clicked()
                    {
                        requests.push(Request::Marks(Ask::Remove(at)));
                    }
                });
            });
    });
}
