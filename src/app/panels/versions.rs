//! The versions of a key, oldest first, with their readers, and what the anomaly forces against that order.

use super::scene::{anomaly, scene_ui};
use crate::app::canvas::scene::DrawnAt;
use crate::app::command::{Request, Requests};
use crate::app::state::{Document, State};
use crate::app::style::{self, Palette, counted};
use crate::app::versions::Wanted;
use crate::checkers::ViolationId;
use crate::diagram::layout::MAX_TITLE_COLUMNS;
use crate::diagram::text_size::elide;
use crate::diagram::versions::{self, Chain, Detail, STEP};
use crate::history::{History, KeyId};
use crate::report::grouped;
use egui::{ScrollArea, Sense, Ui, WidgetInfo, WidgetType, vec2};

/// Readers named under a version: among many versions, and under a few.
const READERS: (usize, usize) = (2, 8);
/// Maximum number of versions of a strip that is wider than the window.
const MOST: usize = 12;

pub(crate) fn versions_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    requests: &mut Requests,
) {
    let Some(history) = &document.history else {
        style::note(ui, "Reading…");
        return;
    };
    ui.horizontal_wrapped(|ui| choose_ui(ui, history, document, requests));
    ui.add_space(4.0);
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
    let now = document
        .key
        .as_ref()
        .and_then(|view| match (&view.wanted, &view.chain) {
            (_, Some(chain)) => Some(chain.key),
            (Wanted::Key(key), None) => Some(*key),
            _ => None,
        });
    ui.spacing_mut().item_spacing = vec2(5.0, 5.0);
    for key in document.keys() {
        let name = history.key_name(key);
        let button = egui::Button::selectable(
            now == Some(key),
            format!("key {}", elide(&name, MAX_TITLE_COLUMNS)),
        );
        if ui
            .add(button)
            .on_hover_text(format!("{name}, a key of this anomaly"))
            .clicked()
        {
            requests.push(Request::ShowKey(key));
        }
    }
    let id = ui.id().with("key name");
    let mut text = ui
        .data(|data| data.get_temp::<String>(id))
        .unwrap_or_default();
    let field = egui::TextEdit::singleline(&mut text)
        .hint_text("another key")
        .desired_width(130.0);
    let response = ui.add(field.margin(egui::Margin::symmetric(8, 4)));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "Name of a key"));
    if response.lost_focus()
        && ui.input(|input| input.key_pressed(egui::Key::Enter))
        && !text.trim().is_empty()
    {
        requests.push(Request::FindKey(text.trim().to_owned()));
    }
    ui.data_mut(|data| data.insert_temp(id, text));
}

fn chain_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    chain: &Chain,
    requests: &mut Requests,
) {
    let Some(history) = &document.history else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        let name = elide(&history.key_name(chain.key), MAX_TITLE_COLUMNS);
        let title = format!("Versions of key {name}, {}", chain.basis());
        style::bold_line(ui, &title, style::HEADING, Palette::of(ui).strong);
        style::note(
            ui,
            format!(
                "{} and the initial state",
                counted(chain.rows.len() - 1, "version")
            ),
        );
        if document
            .key
            .as_ref()
            .is_some_and(|view| view.wanted == Wanted::MostUsed)
        {
            style::note(ui, "of the key with the most operations");
        }
    });
    for (why, n) in &chain.unknown_reads {
        style::note(ui, format!("Not shown: {} {why}", counted(*n, "read")));
    }
    let columns = columns(ui);
    if chain.rows.len() <= columns {
        return strip_ui(ui, (state, document), chain, READERS.1, requests);
    }
    let places = at_issue(ui, (state, document), chain);
    ui.horizontal_wrapped(|ui| {
        style::bold_line(ui, "Versions at issue", style::BODY, Palette::of(ui).text);
        left_out(chain, &places).map(|rest| style::note(ui, rest));
    });
    strip_ui(ui, (state, document), chain, READERS.0, requests);
    ui.separator();
    all_ui(ui, (state, document), (history, chain), &places, requests);
}

/// All versions in rows, at first those at issue.
fn all_ui(
    ui: &mut Ui,
    (state, document): (&State, &Document),
    (history, chain): (&History, &Chain),
    at_issue: &[usize],
    requests: &mut Requests,
) {
    let (columns, height) = (columns(ui), versions::height(READERS.0));
    // Known from the frame before.
    let id = ui
        .id()
        .with(("rows of versions in view", chain.key, chain.rows.len()));
    let in_view = ui
        .data(|data| data.get_temp::<Vec<usize>>(id))
        .unwrap_or_default();
    ui.horizontal_wrapped(|ui| {
        style::bold_line(
            ui,
            "All versions, oldest first",
            style::BODY,
            Palette::of(ui).text,
        );
        around(chain, &in_view, ["above", "below"]).map(|rest| style::note(ui, rest));
    });
    let n = chain.rows.len().div_ceil(columns);
    let mut area = ScrollArea::vertical()
        .id_salt("versions")
        .auto_shrink(false);
    let pitch = height + ui.spacing().item_spacing.y;
    if is_new(ui, document, chain) {
        let n_visible = ((ui.available_height() / pitch) as usize).max(1) * columns;
        area = area.vertical_scroll_offset(
            (densest(at_issue, columns, n_visible) / columns) as f32 * pitch,
        );
    }
    let anomaly = anomaly(document, &state.hidden);
    let seen = area.show_rows(ui, height, n, |ui, rows| {
        for row in rows.clone() {
            let places: Vec<usize> =
                (row * columns..((row + 1) * columns).min(chain.rows.len())).collect();
            let detail = Detail {
                readers: READERS.0,
                forced: false,
            };
            let scene = versions::scene(history, chain, anomaly.as_ref(), &places, detail);
            let (area, response) =
                ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
            let place = DrawnAt {
                // The arrow after the last one ends before the scroll bar.
                origin: area.min - vec2(LEFT, 0.0),
                zoom: 1.0,
                area: ui.clip_rect(),
            };
            scene_ui(ui, &scene, place, &response, (state, document), requests);
        }
    });
    // A row of which only the readers are seen is not in view.
    let first = ((seen.state.offset.y + pitch / 3.0) / pitch) as usize * columns;
    let last =
        ((seen.state.offset.y + seen.inner_rect.height() + pitch / 3.0) / pitch) as usize * columns;
    let now: Vec<usize> = (first..last.min(chain.rows.len())).collect();
    if now != in_view {
        ui.data_mut(|data| data.insert_temp(id, now));
        ui.ctx().request_repaint();
    }
}

/// The first version of the row with which a view of `n` versions begins that has the most of these in it.
fn densest(places: &[usize], columns: usize, n: usize) -> usize {
    let rows = places.iter().map(|place| place / columns * columns);
    let n_in = |first: usize| {
        places
            .iter()
            .filter(|place| (first..first + n).contains(*place))
            .count()
    };
    rows.max_by(|a, b| n_in(*a).cmp(&n_in(*b)).then(b.cmp(a)))
        .unwrap_or(0)
}

/// Whether all versions of the key are side by side, which leaves room below them.
pub(super) fn are_few(ui: &Ui, document: &Document) -> bool {
    let chain = document.key.as_ref().and_then(|view| view.chain.as_ref());
    chain.is_some_and(|chain| chain.rows.len() <= columns(ui))
}

/// How many versions there is room for side by side.
fn columns(ui: &Ui) -> usize {
    ((ui.available_width() / STEP) as usize).max(2)
}

/// The places of the versions that the anomaly is about, ascending: all if there is room for them.
fn at_issue(ui: &Ui, (state, document): (&State, &Document), chain: &Chain) -> Vec<usize> {
    let n = columns(ui).max((2 * chain.forced.len()).min(MOST));
    let anomaly = anomaly(document, &state.hidden).filter(|_| chain.rows.len() > columns(ui));
    match (anomaly, &document.history) {
        (Some(anomaly), Some(history)) => versions::places(history, chain, &anomaly, n),
        _ => (0..chain.rows.len().min(n)).collect(),
    }
}

/// "3 earlier, 2 later not shown", before the first and after the last of some versions.
fn left_out(chain: &Chain, places: &[usize]) -> Option<String> {
    around(chain, places, ["earlier", "later"]).map(|hidden| format!("{hidden} not shown"))
}

/// "3 above, 2 below", before the first and after the last of some versions.
fn around(chain: &Chain, places: &[usize], names: [&str; 2]) -> Option<String> {
    let earlier = places.first().copied().unwrap_or(0);
    let later = places.last().map_or(0, |last| chain.rows.len() - 1 - last);
    let hidden = [earlier, later]
        .into_iter()
        .zip(names)
        .filter(|(n, _)| *n > 0);
    let hidden: Vec<String> = hidden
        .map(|(n, which)| format!("{} {which}", grouped(n as u64)))
        .collect();
    (!hidden.is_empty()).then(|| hidden.join(", "))
}

/// The versions that the anomaly is about, with what it forces: all that it orders, however narrow the window is.
pub(super) fn strip_ui(
    ui: &mut Ui,
    (state, document): (&State, &Document),
    chain: &Chain,
    readers: usize,
    requests: &mut Requests,
) {
    let Some(history) = &document.history else {
        return;
    };
    let anomaly = anomaly(document, &state.hidden);
    let places = at_issue(ui, (state, document), chain);
    let scene = versions::scene(
        history,
        chain,
        anomaly.as_ref(),
        &places,
        Detail {
            readers,
            forced: true,
        },
    );
    ScrollArea::horizontal().id_salt("at issue").show(ui, |ui| {
        let size = scene.bounds.size() - vec2(2.0 * LEFT, 0.0);
        let (area, response) = ui.allocate_exact_size(size, Sense::click());
        let place = DrawnAt {
            origin: area.min - vec2(LEFT, 0.0),
            zoom: 1.0,
            area: ui.clip_rect(),
        };
        scene_ui(ui, &scene, place, &response, (state, document), requests);
    });
}

/// Whether the chain is shown for the first time with this anomaly.
fn is_new(ui: &Ui, document: &Document, chain: &Chain) -> bool {
    let id = ui.id().with("versions shown");
    let now = (chain.key, document.key.as_ref().and_then(|view| view.of));
    let shown = ui.data(|data| data.get_temp::<(KeyId, Option<ViolationId>)>(id));
    let is_new = shown != Some(now) && anomaly(document, &Default::default()).is_some();
    if is_new {
        ui.data_mut(|data| data.insert_temp(id, now));
    }
    is_new
}

/// Margin of a row that is left out, in points.
const LEFT: f32 = 5.0;
/// Least height of the time below few versions.
const BELOW_FEW: f32 = 160.0;
/// Least width of that.
const WIDE: f32 = 560.0;

/// Draws the page of a key: its versions, and if they are few the anomaly over time and all sessions below them.
pub(crate) fn key_page_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    lanes: &mut super::lanes::LanesView,
    requests: &mut Requests,
) {
    versions_ui(ui, state, document, requests);
    let is_narrow = ui.available_width() < WIDE;
    if !are_few(ui, document) || ui.available_height() <= BELOW_FEW || is_narrow {
        return;
    }
    ui.separator();
    match document.current_picture() {
        Some(picture) => {
            super::lanes::above_all_ui(ui, (state, document), picture, lanes, requests)
        }
        None => super::lanes::all_ui(ui, state, document, lanes, requests),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_begins_where_the_most_versions_at_issue_are() {
        assert_eq!(densest(&[0, 1911, 1912, 1916], 4, 8), 1908);
        assert_eq!(densest(&[5, 6], 4, 8), 4);
        assert_eq!(densest(&[], 4, 8), 0);
    }
}
