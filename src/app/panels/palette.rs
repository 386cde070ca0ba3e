//! The palette: type, select, Enter.

use super::{on_click, paint_ground};
use crate::app::command::{Command, Request, Requests};
use crate::app::palette::Palette as Open;
use crate::app::style::{self, Palette, ROW};
use egui::{
    Align2, FontId, Id, Key, Modal, Modifiers, ScrollArea, Sense, TextEdit, Ui, WidgetInfo,
    WidgetType, vec2,
};

/// Draws the palette over the window.
pub(crate) fn palette_ui(ui: &mut Ui, open: &Open, requests: &mut Requests) {
    for (key, request) in [
        (Key::ArrowDown, Request::PaletteMove(1)),
        (Key::ArrowUp, Request::PaletteMove(-1)),
        (Key::Enter, Request::PaletteChoose(None)),
    ] {
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
            requests.push(request);
        }
    }
    let size = ui.ctx().content_rect().size();
    let area = Modal::default_area(Id::new("palette")).anchor(Align2::CENTER_TOP, vec2(0.0, 60.0));
    let answer = Modal::new(Id::new("palette"))
        .area(area)
        .show(ui.ctx(), |ui| {
            ui.set_width(620.0_f32.min(size.x - 60.0));
            let mut text = open.text.clone();
            let field = TextEdit::singleline(&mut text)
                .hint_text("a command, an anomaly, a transaction, a key, a recent file")
                .margin(egui::Margin::symmetric(10, 7))
                .font(FontId::proportional(style::HEADING))
                .desired_width(f32::INFINITY);
            let response = ui.add(field);
            response
                .widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "Find anything"));
            if open.fresh || !response.has_focus() {
                response.request_focus();
            }
            if text != open.text {
                requests.push(Request::PaletteText(text));
            }
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.add_space(6.0);
            if open.found.is_empty() {
                style::note(ui, "Nothing has such a name.");
            }
            let height = (size.y - 200.0).max(100.0);
            ScrollArea::vertical()
                .max_height(height)
                .min_scrolled_height(height)
                .show(ui, |ui| {
                    for place in 0..open.found.len() {
                        line_ui(ui, open, place, requests);
                    }
                });
        });
    on_click(
        &answer.backdrop_response,
        Request::Run(Command::Palette),
        requests,
    );
}

fn line_ui(ui: &mut Ui, open: &Open, place: usize, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let Some(found) = open.found.get(place) else {
        return;
    };
    let (area, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), ROW + 2.0), Sense::click());
    let chosen = place == open.chosen;
    response.widget_info(|| {
        WidgetInfo::selected(
            WidgetType::SelectableLabel,
            true,
            chosen,
            format!("Do {}", found.name),
        )
    });
    paint_ground(ui.painter(), area, chosen, &response, &palette);
    if chosen {
        response.scroll_to_me(None);
    }
    let left = area.left_center() + vec2(10.0, 0.0);
    let body = FontId::proportional(style::BODY);
    let name = ui
        .painter()
        .text(left, Align2::LEFT_CENTER, &found.name, body, palette.strong);
    let room = (area.right() - name.right() - 24.0).max(0.0);
    let small = FontId::proportional(style::SMALL);
    let galley = style::cut(ui.painter(), &found.note, small, palette.weak, room);
    let at = area.right_center() - vec2(galley.size().x + 10.0, galley.size().y / 2.0);
    ui.painter().galley(at, galley, palette.weak);
    on_click(&response, Request::PaletteChoose(Some(place)), requests);
}
