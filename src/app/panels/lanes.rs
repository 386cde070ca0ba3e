//! Sessions on a time axis: what is shown, and the view.

use crate::app::command::{Command, Request, Requests};
use crate::app::lanes::{LanesInput, LanesView};
use crate::app::state::{Document, State};
use crate::app::style;
use crate::app::vocabulary::{Focus, Page};
use egui::Ui;

/// Draws the page.
pub fn lanes_ui(ui: &mut Ui, state: &State, document: &Document, view: &mut LanesView, requests: &mut Requests) {
    let (Some(history), Some(timeline)) = (&document.history, &document.timeline) else {
        if !super::failed_ui(ui, document, Page::Lanes) {
            style::note(ui, "Finding out when every transaction ran…");
        }
        return;
    };
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        for (all, name, hint) in [
            (false, "Its sessions", "Only the sessions of the anomaly"),
            (true, "All sessions", "Every session has a lane, those of the anomaly first"),
        ] {
            let button = egui::Button::selectable(state.all_lanes == all, name);
            if ui.add(button).on_hover_text(hint).clicked() {
                requests.push(Request::AllLanes(all));
            }
        }
        if timeline.clock.is_some() {
            let button = egui::Button::selectable(state.true_time, "True time");
            if ui.add(button).on_hover_text(super::tooltip(Command::SwitchTime)).clicked() {
                requests.push(Request::Run(Command::SwitchTime));
            }
        }
        style::short_note(ui, "Ctrl and the wheel zoom, dragging pans, a double click opens a transaction");
    });
    let input = LanesInput { history, document, timeline, true_time: state.true_time, all: state.all_lanes };
    let answer = view.ui(ui, &input);
    if let Some(hovered) = answer.hovered {
        requests.push(Request::Focus(Focus::Hover(hovered)));
    }
    if let Some(transaction) = answer.opened {
        requests.push(Request::Browse(transaction));
    } else if let Some(clicked) = answer.clicked {
        let pin = if clicked == document.pinned { None } else { clicked };
        requests.push(Request::Focus(Focus::Pin(pin)));
    }
}
