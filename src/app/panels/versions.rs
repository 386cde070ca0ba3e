//! The versions of a key, oldest first, with their readers, and what the anomaly forces against that order.

use crate::app::command::{Request, Requests};
use crate::app::lanes::{arrow, label};
use crate::app::state::{Document, KeyView};
use crate::app::style::{self, Palette, counted};
use crate::app::versions::{Chain, Wanted};
use crate::diagram::layout::MAX_TITLE_COLUMNS;
use crate::diagram::text_size::elide;
use crate::diagram::theme::dash;
use crate::history::{History, KeyId, TransactionId};
use crate::report::grouped;
use egui::{
    CornerRadius, FontId, Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2,
};
use std::collections::BTreeSet;

/// A card of a version.
const CARD: egui::Vec2 = vec2(108.0, 46.0);
/// From one card to the next.
const STEP: f32 = 142.0;
/// Room above the cards, for what is forced.
const ABOVE: f32 = 74.0;
/// Maximum number of readers named under a version.
const READERS: usize = 8;

/// Draws the page.
pub fn versions_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
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
        (Some(chain), None) => chain_ui(ui, history, document, chain, requests),
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
        for key in keys_of(document) {
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

/// The keys that the selected anomaly is about, the main one first.
pub fn keys_of(document: &Document) -> Vec<KeyId> {
    let violation = document.selected.zip(document.catalogue.as_ref()).and_then(|(id, c)| c.violation(id));
    let Some(violation) = violation else { return Vec::new() };
    let mut keys: Vec<KeyId> = violation.key.into_iter().collect();
    let others: BTreeSet<KeyId> = violation.edges.iter().filter_map(|edge| edge.key).collect();
    let history = document.history.as_ref();
    let of_operations = violation.operations.iter().filter_map(|o| history.map(|h| h.operation(*o).key));
    for key in others.into_iter().chain(of_operations) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn chain_ui(ui: &mut Ui, history: &History, document: &Document, chain: &Chain, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        let name = elide(&history.key_name(chain.key), MAX_TITLE_COLUMNS);
        let title = format!("Key {name} in the order that sessions, updates and lists suggest");
        style::bold_line(ui, &title, style::HEADING, palette.strong);
        style::note(ui, counted(chain.rows.len() - 1, "version"));
    });
    let attended: BTreeSet<TransactionId> = document.attended().into_iter().collect();
    let involved: BTreeSet<TransactionId> = document
        .current_picture()
        .map(|p| p.argument.counterexample.renaming.transactions.iter().copied().collect())
        .unwrap_or_default();
    let shown = Shown { history, document, chain, attended: &attended, involved: &involved };
    let wanted = scroll_target(ui, document.key.as_ref(), chain, &involved);
    let mut area = ScrollArea::horizontal().id_salt("versions").auto_shrink(false);
    if let Some(place) = wanted {
        area = area.horizontal_scroll_offset((place as f32 * STEP - ui.available_width() * 0.3).max(0.0));
    }
    area.show_viewport(ui, |ui, viewport| {
        ui.set_width(chain.rows.len() as f32 * STEP);
        ui.set_height(ui.available_height());
        let origin = ui.min_rect().min;
        let first = (viewport.left() / STEP).floor().max(0.0) as usize;
        let last = ((viewport.right() / STEP).ceil() as usize + 1).min(chain.rows.len());
        let card = |place: usize| Rect::from_min_size(origin + vec2(place as f32 * STEP + 6.0, ABOVE), CARD);
        for place in first..last {
            if place + 1 < chain.rows.len() {
                let stroke = Stroke::new(1.4, palette.weak);
                arrow(ui.painter(), card(place).right_center(), card(place + 1).left_center(), stroke, &[]);
            }
            row_ui(ui, shown, place, card(place), requests);
        }
        forced_ui(ui, chain, first, last, &card);
    });
}

/// Scrolls to the anomaly's versions when the chain is first shown.
fn scroll_target(ui: &Ui, view: Option<&KeyView>, chain: &Chain, involved: &BTreeSet<TransactionId>) -> Option<usize> {
    let id = ui.id().with("versions shown");
    let now = (chain.key, view.and_then(|view| view.of));
    let shown = ui.data(|data| data.get_temp::<(KeyId, Option<crate::checkers::ViolationId>)>(id));
    if shown == Some(now) {
        return None;
    }
    ui.data_mut(|data| data.insert_temp(id, now));
    Some(chain.rows.iter().position(|row| involved.contains(&row.writer)).unwrap_or(0))
}

/// The data for a page of versions.
#[derive(Clone, Copy)]
struct Shown<'a> {
    history: &'a History,
    document: &'a Document,
    chain: &'a Chain,
    /// Transactions that have attention.
    attended: &'a BTreeSet<TransactionId>,
    /// Transactions of the counterexample.
    involved: &'a BTreeSet<TransactionId>,
}

fn row_ui(ui: &mut Ui, shown: Shown<'_>, place: usize, card: Rect, requests: &mut Requests) {
    let Shown { history, document, chain, attended, involved } = shown;
    let palette = Palette::of(ui);
    let row = &chain.rows[place];
    let name = if row.writer.is_initial() { "initial".to_owned() } else { history.transaction_name(row.writer) };
    let value = elide(&history.value_name(row.value), 13);
    let response = ui.interact(card, ui.id().with(("version", place)), Sense::click());
    let read_by: Vec<String> = row.readers.iter().take(READERS).map(|(t, _)| history.transaction_name(*t)).collect();
    let spoken = match read_by.is_empty() {
        true => format!("Version {value} of {name}, never read"),
        false => format!("Version {value} of {name}, read by {}", read_by.join(", ")),
    };
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &spoken));
    let is_attended = attended.contains(&row.writer) && !row.writer.is_initial();
    let line = match (row.blemish.is_some(), is_attended || response.hovered(), involved.contains(&row.writer)) {
        (_, true, _) => palette.accent,
        (true, ..) => palette.caution,
        (_, _, true) => palette.strong,
        _ => palette.line,
    };
    let fill = if is_attended { palette.selected } else { palette.raised };
    let width = if is_attended || involved.contains(&row.writer) { 2.0 } else { 1.2 };
    ui.painter().rect(card, CornerRadius::same(6), fill, Stroke::new(width, line), StrokeKind::Inside);
    let middle = card.center();
    let code = FontId::monospace(style::CODE);
    ui.painter().text(middle - vec2(0.0, 8.0), egui::Align2::CENTER_CENTER, &value, code, palette.strong);
    let small = FontId::proportional(style::SMALL);
    ui.painter().text(middle + vec2(0.0, 10.0), egui::Align2::CENTER_CENTER, elide(&name, 16), small, palette.weak);
    if !row.writer.is_initial() {
        super::attend(&response, document, document.attention_of(row.writer), requests);
        if response.double_clicked() {
            requests.push(Request::Browse(row.writer));
        }
        response.on_hover_text(match row.blemish {
            Some(blemish) => format!("{spoken}\n{blemish}"),
            None => spoken,
        });
    }
    readers_ui(ui, shown, place, card, requests);
}

fn readers_ui(ui: &mut Ui, shown: Shown<'_>, place: usize, card: Rect, requests: &mut Requests) {
    let Shown { history, document, chain, attended, .. } = shown;
    let palette = Palette::of(ui);
    let row = &chain.rows[place];
    let room =
        Rect::from_min_max(card.left_bottom() + vec2(0.0, 6.0), pos2(card.left() + STEP - 8.0, card.bottom() + 260.0));
    let mut column = ui.new_child(egui::UiBuilder::new().max_rect(room).id_salt(("readers", place)));
    column.spacing_mut().item_spacing.y = 1.0;
    if let Some(blemish) = row.blemish {
        column.label(RichText::new(blemish).size(style::SMALL).color(palette.caution));
    }
    let text = if row.readers.is_empty() { "never read" } else { "read by" };
    style::note(&mut column, text);
    for (reader, _) in row.readers.iter().take(READERS) {
        let name = history.transaction_name(*reader);
        let colour = if attended.contains(reader) { palette.accent } else { palette.text };
        let label = egui::Label::new(RichText::new(&name).size(style::SMALL).color(colour)).sense(Sense::click());
        let response = column.add(label.truncate());
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("Reader {name}")));
        super::attend(&response, document, document.attention_of(*reader), requests);
        if response.double_clicked() {
            requests.push(Request::Browse(*reader));
        }
    }
    if row.readers.len() > READERS {
        style::note(&mut column, format!("and {} more", grouped((row.readers.len() - READERS) as u64)));
    }
}

/// What the anomaly forces: arcs above the cards, from the older version to the newer one.
fn forced_ui(ui: &Ui, chain: &Chain, first: usize, last: usize, card: &dyn Fn(usize) -> Rect) {
    let palette = Palette::of(ui);
    let in_sight = |place: usize| (first..last).contains(&place);
    let forced = chain.forced.iter().filter(|f| in_sight(f.older) || in_sight(f.newer)).enumerate();
    for (n, forced) in forced {
        let colour = palette.relation(forced.relation);
        let stroke = Stroke::new(2.0, colour);
        let height = card(0).top() - 18.0 - (n % 4) as f32 * 13.0;
        let side = if forced.older < forced.newer { 10.0 } else { -10.0 };
        let (from, to) =
            (card(forced.older).center_top() + vec2(side, 0.0), card(forced.newer).center_top() - vec2(side, 0.0));
        let corners = [from, pos2(from.x, height), pos2(to.x, height)];
        let lengths: Vec<f32> = dash(forced.relation).iter().copied().step_by(2).collect();
        let gaps: Vec<f32> = dash(forced.relation).iter().copied().skip(1).step_by(2).collect();
        match lengths.is_empty() {
            true => drop(ui.painter().line(corners.to_vec(), stroke)),
            false => {
                ui.painter().extend(egui::Shape::dashed_line_with_offset(&corners, stroke, &lengths, &gaps, 0.0));
            }
        }
        arrow(ui.painter(), pos2(to.x, height), to, stroke, &[]);
        let text = match forced.older < forced.newer {
            true => format!("{} forced", forced.relation.code()),
            false => format!("{} forces the opposite", forced.relation.code()),
        };
        label(ui.painter(), pos2((from.x + to.x) / 2.0, height), &text, colour, &palette);
    }
}
