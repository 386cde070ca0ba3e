//! The form with the command that opens the log of a server.

use crate::app::command::{Request, Requests};
use crate::app::open_log::OpenLogForm;
use crate::app::style::{self, Palette};
use egui::{Button, TextEdit, Ui, WidgetInfo, WidgetType};

/// What can be filled in.
const PLACES: &str = "Filled in: {node} {wall} {time} {end} {line} {file} {transaction} {field:NAME}. No shell sees it.";

/// Draws the form over the window; the command is edited in place.
pub(crate) fn open_log_ui(ui: &mut Ui, form: &mut OpenLogForm, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let answer = super::sheet("open log", ui).show(ui.ctx(), |ui| {
        ui.set_width(560.0_f32.min(ui.ctx().content_rect().width() - 60.0));
        style::bold(
            ui,
            "Open the log at this moment",
            style::TITLE,
            palette.strong,
        );
        ui.add_space(6.0);
        let field = TextEdit::singleline(&mut form.template)
            .hint_text("xterm -e less +/{wall} logs/{node}/db.log")
            .margin(egui::Margin::symmetric(8, 5))
            .desired_width(f32::INFINITY);
        let response = ui.add(field);
        response.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "Command"));
        if response.changed() {
            requests.push(Request::FillLogCommand(form.template.clone()));
        }
        style::note(ui, PLACES);
        ui.add_space(6.0);
        let is_current = form.made_of == form.template;
        match &form.filled {
            Ok(command) if is_current => {
                style::note(ui, "This will run:");
                for word in command {
                    ui.monospace(word);
                }
            }
            Err(why) if is_current && !form.template.is_empty() => {
                drop(ui.colored_label(palette.bad, why))
            }
            _ => {}
        }
        ui.add_space(10.0);
        ui.horizontal(|ui| {
            let ready = is_current && form.filled.is_ok();
            let button = ui.add_enabled(ready, Button::new("Run").fill(palette.selected));
            let enter = ready && ui.input(|input| input.key_pressed(egui::Key::Enter));
            if button.clicked() || enter {
                requests.push(Request::ConfirmLogCommand);
            }
            super::ends(&ui.button("Cancel"), requests);
        });
    });
    super::ends(&answer.backdrop_response, requests);
}
