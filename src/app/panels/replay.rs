//! The replay under the graph and the lanes: the operations of the anomaly one after another, the state of its keys
//! before and after each, the value read and the expected one.

use super::browser::{column_ui, heading_ui};
use super::{on_click, paint_ground};
use crate::app::command::{Command, Request, Requests};
use crate::app::replaying::RunView;
use crate::app::state::Document;
use crate::app::style::{self, GAP, Palette, counted};
use crate::counterexample::replay::{Action, Expected, Explained, KeyState, ReplayRun, RunStep};
use crate::diagram::text_size::{columns, elide};
use crate::history::History;
use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{
    Align, Color32, FontId, Grid, Label, Layout, Response, RichText, ScrollArea, Sense, Ui,
    WidgetInfo, WidgetType, vec2,
};

/// Room on both sides of a step, in points.
const SIDE: f32 = 8.0;
/// Maximum number of lines of a state.
const LINES: usize = 3;
/// Columns that the heading of a column of the table needs.
const HEADING: usize = 6;
/// Maximum number of rows of a step.
const ROWS: usize = 5;
/// Room above and below the text of a step together.
const PAD: f32 = 8.0;

/// Below this width the steps are above what the current one is about.
const NARROW: f32 = 560.0;

/// Draws the panel.
pub(crate) fn replay_ui(ui: &mut Ui, document: &Document, view: &RunView, requests: &mut Requests) {
    ui.take_available_height();
    let picture = document
        .picture
        .as_ref()
        .filter(|picture| view.of == Some(picture.argument.id));
    let (Some(picture), Some(run)) = (picture, &view.run) else {
        style::note(ui, "Looking for an order of the operations…");
        return;
    };
    let history = &picture.argument.counterexample.history;
    let size = ui.available_size();
    // Side by side, or one above the other where the middle of the window is narrow.
    let is_narrow = size.x < NARROW;
    let part = |share: f32| {
        if is_narrow {
            vec2(size.x, (size.y - GAP) * share)
        } else {
            vec2((size.x - GAP) * share, size.y)
        }
    };
    let layout = if is_narrow {
        Layout::top_down(Align::Min)
    } else {
        Layout::left_to_right(Align::Min)
    };
    ui.with_layout(layout, |ui| {
        column_ui(ui, part(0.4).x, part(0.4).y, |ui| {
            steps_ui(ui, document, view, run, requests)
        });
        column_ui(ui, part(0.6).x, part(0.6).y, |ui| {
            if let Some(step) = run.steps.get(view.step) {
                step_ui(ui, history, view, run, step, requests);
            }
        });
    });
}

/// All steps; those in which something odd is read or refused are highlighted.
fn steps_ui(
    ui: &mut Ui,
    document: &Document,
    view: &RunView,
    run: &ReplayRun,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    heading_ui(ui, &counted(run.steps.len(), "step"), |ui| {
        ui.with_layout(Layout::right_to_left(egui::Align::Center), |ui| {
            super::small_button_ui(ui, Command::NextStep, "Next", requests);
            super::small_button_ui(ui, Command::PreviousStep, "Back", requests);
            super::play_button_ui(ui, document.argument.playing.is_some(), requests);
        });
    });
    ScrollArea::vertical()
        .id_salt("replay steps")
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for (place, step) in run.steps.iter().enumerate() {
                let colour = if is_odd(step) {
                    palette.bad
                } else {
                    palette.text
                };
                let text = format!("{}  {}{}", place + 1, step.text, difference(run, step));
                let response = line_ui(ui, text, place == view.step, colour);
                if view.scroll && place == view.step {
                    response.scroll_to_me(None);
                }
                on_click(&response, Request::ReplayStep(place), requests);
            }
        });
}

/// A step, wrapped if it is long.
fn line_ui(ui: &mut Ui, text: String, selected: bool, colour: Color32) -> Response {
    let palette = Palette::of(ui);
    let width = ui.available_width();
    let format = TextFormat::simple(FontId::monospace(style::CODE), colour);
    let mut job = LayoutJob::single_section(text.clone(), format);
    job.wrap = TextWrapping {
        max_width: width - 2.0 * SIDE,
        max_rows: ROWS,
        ..TextWrapping::default()
    };
    let galley = ui.painter().layout_job(job);
    let (area, response) =
        ui.allocate_exact_size(vec2(width, galley.size().y + PAD), Sense::click());
    response
        .widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, selected, &text));
    paint_ground(ui.painter(), area, selected, &response, &palette);
    let (at, elided) = (
        area.left_center() + vec2(SIDE, -galley.size().y / 2.0),
        galley.elided,
    );
    ui.painter().galley(at, galley, colour);
    if elided {
        response.on_hover_text(text)
    } else {
        response
    }
}

/// Why a step is highlighted whose text does not say it.
fn difference(run: &ReplayRun, step: &RunStep) -> String {
    let setting = run.setting;
    match (&step.expected, step.explained) {
        (Some(Expected::Refused), _) => format!(", which {setting} would refuse"),
        (
            Some(Expected::Answer {
                text,
                is_observed: false,
            }),
            Explained::Current | Explained::Nothing,
        ) => {
            format!(", but {setting} would return {text}")
        }
        _ => String::new(),
    }
}

/// Whether one up-to-date copy at the claimed level would not have done this.
fn is_odd(step: &RunStep) -> bool {
    let differs = match &step.expected {
        Some(Expected::Refused) => true,
        Some(Expected::Answer { is_observed, .. }) => !is_observed,
        None => false,
    };
    differs
        || matches!(
            step.explained,
            Explained::Older | Explained::Uncommitted | Explained::Nowhere
        )
}

/// The selected step: what happens, what should have happened, and the keys.
fn step_ui(
    ui: &mut Ui,
    history: &History,
    view: &RunView,
    run: &ReplayRun,
    step: &RunStep,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let title = format!("Replay step {} of {}", view.step + 1, run.steps.len());
    heading_ui(ui, &title, |ui| {
        ui.with_layout(Layout::right_to_left(egui::Align::Center), |ui| {
            let close = ui
                .small_button("Close")
                .on_hover_text(super::tooltip(Command::Replay));
            close.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, "Close the replay"));
            on_click(&close, Request::Run(Command::Replay), requests);
        });
    });
    ScrollArea::vertical()
        .id_salt("replay step")
        .auto_shrink(false)
        .show(ui, |ui| {
            let text = format!("{}.", step.text);
            ui.add(Label::new(RichText::new(text).color(palette.strong)).wrap());
            if let Some((text, bad)) = expected_text(history, run, step) {
                let colour = if bad { palette.bad } else { palette.good };
                ui.add(Label::new(RichText::new(text).color(colour)).wrap());
            }
            ui.add_space(2.0);
            keys_ui(ui, history, step);
            ui.add_space(4.0);
            let mut summary = run.summary.to_string();
            if !run.is_best {
                summary.push_str(
                    " There were too many orders to try all: another one may explain more.",
                );
            }
            ui.add(
                Label::new(
                    RichText::new(summary)
                        .size(style::SMALL)
                        .color(palette.weak),
                )
                .wrap(),
            );
        });
}

/// What the claimed level would have given here, were there no other operations than these, next to what was seen; and
/// whether they differ.
fn expected_text(history: &History, run: &ReplayRun, step: &RunStep) -> Option<(String, bool)> {
    let Action::Operation(operation) = step.action else {
        return None;
    };
    let setting = run.setting;
    Some(match step.expected.as_ref()? {
        Expected::Refused => (
            format!(
                "At {setting} this write is refused: the key was changed since the transaction began."
            ),
            true,
        ),
        Expected::Answer {
            text,
            is_observed: true,
        } => (
            format!(
                "With these operations alone, {setting} would return {text}, and the database returned {text}, too."
            ),
            false,
        ),
        Expected::Answer {
            text,
            is_observed: false,
        } => {
            let saw = match history.lists().read_by(operation) {
                Some(_) => history.operation_text(operation),
                None => history.value_name(history.operation(operation).value),
            };
            (
                format!(
                    "With these operations alone, {setting} would return {text}, but it saw {saw}."
                ),
                true,
            )
        }
    })
}

/// The keys before and after the step; the one that it is about first.
fn keys_ui(ui: &mut Ui, history: &History, step: &RunStep) {
    let palette = Palette::of(ui);
    let own = match step.action {
        Action::Operation(operation) => Some(history.operation(operation).key),
        _ => None,
    };
    let mut rows: Vec<(&KeyState, &KeyState)> = step.before.iter().zip(&step.after).collect();
    rows.sort_by_key(|(before, _)| Some(before.key) != own);
    let letter = ui.fonts_mut(|fonts| fonts.glyph_width(&FontId::monospace(style::CODE), 'm'));
    // Three columns with room between them.
    let room = ((ui.available_width() - 40.0) / letter).max(12.0) as usize;
    let wanted = rows.iter().map(|(before, after)| {
        let name = columns(&history.key_name(before.key));
        [
            name,
            columns(&state_text(history, before)),
            columns(&state_text(history, after)),
        ]
    });
    let wanted = wanted
        .reduce(|a, b| std::array::from_fn(|at| a[at].max(b[at])))
        .unwrap_or_default();
    let most = shares(wanted.map(|wanted| wanted.max(HEADING)), room);
    // Another width is another grid: an old one would draw columns over each other for a frame.
    Grid::new(("keys of the replay", most))
        .num_columns(3)
        .spacing([18.0, 3.0])
        .show(ui, |ui| {
            for name in ["key", "before", "after"] {
                style::note(ui, name);
            }
            ui.end_row();
            for (before, after) in rows {
                let is_about = Some(before.key) == own || before != after;
                let colour = if is_about {
                    palette.strong
                } else {
                    palette.weak
                };
                let name = history.key_name(before.key);
                let label = RichText::new(elide(&name, most[0]))
                    .monospace()
                    .color(colour);
                ui.vertical(|ui| ui.add(Label::new(label).extend()).on_hover_text(&name));
                state_ui(
                    ui,
                    (history, before, most[1]),
                    colour,
                    &format!("Key {name} before: "),
                );
                let changed = if before != after {
                    palette.accent
                } else {
                    colour
                };
                state_ui(
                    ui,
                    (history, after, most[2]),
                    changed,
                    &format!("Key {name} after: "),
                );
                ui.end_row();
            }
        });
}

/// Divides the room among columns that want so much: none gets more than that, and those that get less get equally much.
fn shares(wanted: [usize; 3], room: usize) -> [usize; 3] {
    let (mut left, mut given) = (room, [0; 3]);
    let mut order = [0, 1, 2];
    order.sort_by_key(|at| wanted[*at]);
    for (place, at) in order.into_iter().enumerate() {
        given[at] = wanted[at].min(left / (order.len() - place));
        left -= given[at];
    }
    given
}

/// What is committed, and what was written by transactions that have not ended.
fn state_text(history: &History, state: &KeyState) -> String {
    let pending = state.pending.iter().map(|&o| {
        let writer = history.transaction_name(history.transaction_of(o));
        format!(
            "{} by {writer}",
            history.value_name(history.operation(o).value)
        )
    });
    let pending: Vec<String> = pending.collect();
    if pending.is_empty() {
        state.text.clone()
    } else {
        format!("{}; {}, not committed", state.text, pending.join(", "))
    }
}

/// The state of a key, wrapped.
fn state_ui(
    ui: &mut Ui,
    (history, state, most): (&History, &KeyState, usize),
    colour: Color32,
    name: &str,
) {
    let text = state_text(history, state);
    let shown = elide(&text, LINES * most);
    let letter = ui.fonts_mut(|fonts| fonts.glyph_width(&FontId::monospace(style::CODE), 'm'));
    let label = Label::new(RichText::new(&shown).monospace().color(colour)).wrap();
    let response = ui.vertical(|ui| {
        ui.set_max_width((most as f32 + 0.5) * letter);
        ui.add(label)
    });
    let response = response.inner;
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, format!("{name}{text}")));
    if !state.pending.is_empty() {
        response.on_hover_text(format!(
            "{text}\nUncommitted: its transaction has not ended yet"
        ));
    } else if shown != text {
        response.on_hover_text(text);
    }
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn room_that_one_column_does_not_need_is_for_the_others() {
        assert_eq!(shares([1, 4, 18], 30), [1, 4, 18]);
        assert_eq!(shares([1, 40, 50], 31), [1, 15, 15]);
        assert_eq!(shares([90, 40, 50], 30), [10, 10, 10]);
    }
}
