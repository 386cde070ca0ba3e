//! Operations that no order explains: the longest orders that work, one after the other.

use super::lanes::whole_ui;
use crate::app::command::Requests;
use crate::app::picture::Picture;
use crate::app::state::{Document, State};
use crate::app::style;
use crate::app::vocabulary::Attention;
use crate::counterexample::PartialOrder;
use crate::export::ABOUT_LINEAR;
use egui::{Button, Key, Modifiers, Ui};

/// Draws the orders of a picture that has some.
pub(super) fn linear_ui(
    ui: &mut Ui,
    shown: (&State, &Document),
    picture: &Picture,
    requests: &mut Requests,
) {
    let (id, n) = (ui.id().with(picture.argument.id), picture.orders.len());
    let mut place = ui.data(|data| data.get_temp::<usize>(id)).unwrap_or(0);
    if n > 1 {
        ui.horizontal(|ui| {
            let mut step = 0;
            for (name, hint, key, by) in [
                ("‹", "The order before (Ctrl+,)", Key::Comma, n - 1),
                ("›", "The next order (Ctrl+.)", Key::Period, 1),
            ] {
                let is_pressed = ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, key));
                if ui.add(Button::new(name)).on_hover_text(hint).clicked() || is_pressed {
                    step = by;
                }
            }
            place = (place + step) % n;
            // Only as the pointer moves: what is below it may be elsewhere in another order.
            if ui.input(|input| input.pointer.is_moving()) {
                place = pointed_at(shown.1, picture, place).unwrap_or(place);
            }
            let which = match place {
                0 => "the longest order",
                _ => "an order that ends otherwise",
            };
            style::note(
                ui,
                format!(
                    "{} of {n}: {which}. Point at an operation for an order that has it.",
                    place + 1
                ),
            );
        });
        ui.data_mut(|data| data.insert_temp(id, place));
    }
    style::note(ui, ABOUT_LINEAR);
    if let Some((_, scene)) = picture.orders.get(place) {
        let name = "The longest order that works";
        whole_ui(ui, shown, (scene, name), (("linear", id), 1.0), requests);
    }
}

/// The first order that has the operation at the pointer, unless the one that is shown has it or asks for it.
fn pointed_at(document: &Document, picture: &Picture, shown: usize) -> Option<usize> {
    let Some(Attention::Transaction(t)) = document.argument.hovered else {
        return None;
    };
    let takes = |order: &PartialOrder| order.taken.iter().any(|(taken, _)| *taken == t);
    let (shown, _) = picture.orders.get(shown)?;
    if takes(shown) {
        return None;
    }
    picture.orders.iter().position(|(order, _)| takes(order))
}
