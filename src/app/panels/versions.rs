//! The versions of a key, oldest first, with their readers, and what the anomaly forces against that order.

use super::scene::{anomaly, scene_ui};
use crate::app::command::{Request, Requests};
use crate::app::state::{Document, State};
use crate::app::style::{self, Palette, counted};
use crate::app::versions::Wanted;
use crate::checkers::ViolationId;
use crate::diagram::layout::MAX_TITLE_COLUMNS;
use crate::diagram::text_size::elide;
use crate::diagram::versions::{self, Chain, STEP};
use crate::history::{History, KeyId};
use egui::{ScrollArea, Sense, Ui, WidgetInfo, WidgetType, vec2};

/// Draws the page.
pub fn versions_ui(ui: &mut Ui, state: &State, document: &Document, requests: &mut Requests) {
    let Some(history) = &document.history else {
        style::note(ui, "Reading…");
        return;
    };
    choose_ui(ui, history, document, requests);
    let Some(view) = &document.key else {
        style::note(ui, "Choose a key: type its name above.");
        return;
    };
    match (&view.chain, &view.error) {
        (_, Some(error)) => drop(ui.colored_label(Palette::of(ui).caution, error)),
        (None, None) => drop(style::note(ui, "Looking for its versions…")),
        (Some(chain), None) => chain_ui(ui, state, document, chain, requests),
    }
}

/// The keys of the anomaly, and a field for any other key.
fn choose_ui(ui: &mut Ui, history: &History, document: &Document, requests: &mut Requests) {
    let now = document.key.as_ref().and_then(|view| match (&view.wanted, &view.chain) {
        (_, Some(chain)) => Some(chain.key),
        (Wanted::Key(key), None) => Some(*key),
        _ => None,
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(5.0, 5.0);
        for key in document.keys() {
            let name = history.key_name(key);
            let button = egui::Button::selectable(now == Some(key), format!("key {}", elide(&name, MAX_TITLE_COLUMNS)));
            if ui.add(button).on_hover_text(format!("{name}, a key of this anomaly")).clicked() {
                requests.push(Request::ShowKey(key));
            }
        }
        let id = ui.id().with("key name");
        let mut text = ui.data(|data| data.get_temp::<String>(id)).unwrap_or_default();
        let field = egui::TextEdit::singleline(&mut text).hint_text("another key").desired_width(130.0);
        let response = ui.add(field.margin(egui::Margin::symmetric(8, 4)));
        response.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "Name of a key"));
        if response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) && !text.trim().is_empty() {
            requests.push(Request::FindKey(text.trim().to_owned()));
        }
        ui.data_mut(|data| data.insert_temp(id, text));
    });
    ui.add_space(4.0);
}

fn chain_ui(ui: &mut Ui, state: &State, document: &Document, chain: &Chain, requests: &mut Requests) {
    let Some(history) = &document.history else { return };
    ui.horizontal(|ui| {
        let name = elide(&history.key_name(chain.key), MAX_TITLE_COLUMNS);
        let title = format!("Key {name} in the order that sessions, updates and lists suggest");
        style::bold_line(ui, &title, style::HEADING, Palette::of(ui).strong);
        style::note(ui, counted(chain.rows.len() - 1, "version"));
    });
    if !chain.unknown_reads.is_empty() {
        let n = counted(chain.unknown_reads.len(), "read");
        style::note(ui, format!("{n} returned a value that no transaction wrote, or several did"));
    }
    let mut area = ScrollArea::horizontal().id_salt("versions").auto_shrink(false);
    if let Some(place) = scroll_target(ui, document, chain) {
        area = area.horizontal_scroll_offset((place as f32 * STEP - ui.available_width() * 0.3).max(0.0));
    }
    area.show_viewport(ui, |ui, viewport| {
        let size = vec2(chain.rows.len() as f32 * STEP, ui.available_height());
        let (whole, response) = ui.allocate_exact_size(size, Sense::click());
        let first = (viewport.left() / STEP).floor().max(0.0) as usize;
        let last = ((viewport.right() / STEP).ceil() as usize + 1).min(chain.rows.len());
        let places: Vec<usize> = (first.min(last)..last).collect();
        let scene = versions::scene(history, chain, anomaly(document, &state.hidden).as_ref(), &places);
        let origin = whole.min + vec2(first as f32 * STEP, 0.0);
        scene_ui(ui, &scene, (origin, ui.clip_rect()), &response, document, requests);
    });
}

/// Scrolls to the anomaly's versions when the chain is first shown.
fn scroll_target(ui: &Ui, document: &Document, chain: &Chain) -> Option<usize> {
    let id = ui.id().with("versions shown");
    let now = (chain.key, document.key.as_ref().and_then(|view| view.of));
    let shown = ui.data(|data| data.get_temp::<(KeyId, Option<ViolationId>)>(id));
    if shown == Some(now) {
        return None;
    }
    ui.data_mut(|data| data.insert_temp(id, now));
    let involved = document.current_picture().map(|p| &p.argument.counterexample.renaming.transactions)?;
    Some(chain.rows.iter().position(|row| involved.contains(&row.writer)).unwrap_or(0))
}
