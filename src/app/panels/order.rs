//! An order that explains every read: its steps, and what the selected one reads and writes.

use super::browser::{column_ui, heading_ui, line_ui, list_ui};
use super::scene::{link, paint_named};
use super::{on_click, on_command};
use crate::app::canvas::look::{Lit, Look};
use crate::app::canvas::scene::{Drawn, DrawnAt};
use crate::app::command::{Command, Request, Requests};
use crate::app::page::Page;
use crate::app::state::Document;
use crate::app::style::{self, GAP, Palette, ROW, counted};
use crate::app::witness_view::OrderView;
use crate::checkers::{Level, LevelResult, Verdict, Witness};
use crate::counterexample::replay::{Effect, Replay, ReplayStep, StepKind, Version};
use crate::diagram::Target;
use crate::diagram::scene::{Scene, Shape};
use crate::export::OrderSheet;
use crate::history::{History, KeyId, OperationId, TransactionId};
use crate::report::grouped;
use egui::{
    Align, FontId, Layout, Pos2, Rect, Response, RichText, ScrollArea, Sense, Stroke, StrokeKind,
    Ui, WidgetInfo, WidgetType, vec2,
};
use std::collections::BTreeSet;

/// Share of the height for the lanes, at most.
const LANES: f32 = 0.55;
/// They are at most so many times as large as in an export.
const LARGE: f32 = 1.6;
/// Opacity of arrows of other transactions than the selected one.
const PALE: f32 = 0.3;
/// How near the pointer must be to an arrow, in points.
const REACH: f32 = 5.0;
/// Height of what is shown until they are drawn.
const FIRST: f32 = 160.0;

pub(crate) fn order_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let Some(history) = &document.history else {
        style::note(ui, "Reading…");
        return;
    };
    levels_ui(ui, document, requests);
    let Some(order) = &document.order else {
        style::note(ui, nothing(document));
        broken_ui(ui, document, requests);
        return;
    };
    if super::failed_ui(ui, document, Page::Order) {
        return;
    }
    let Some(replay) = &order.replay else {
        style::note(ui, order.none.unwrap_or("Writing the order down…"));
        if order.none.is_some() {
            broken_ui(ui, document, requests);
        }
        return;
    };
    lanes_ui(ui, document, order, replay, requests);
    let height = ui.available_height();
    let widths = [0.38, 0.62].map(|share| (ui.available_width() - GAP) * share);
    ui.horizontal_top(|ui| {
        column_ui(ui, widths[0], height, |ui| {
            steps_ui(ui, history, order, replay, requests)
        });
        column_ui(ui, widths[1], height, |ui| {
            step_ui(ui, history, order, replay, requests)
        });
    });
}

fn nothing(document: &Document) -> &'static str {
    match (document.is_busy(), document.results.strongest_satisfied()) {
        (_, Some(_)) => "Choose a level.",
        (true, None) => "No level is known to hold yet.",
        (false, None) => "No level that was asked for is known to hold: there is no order to show.",
    }
}

/// The levels that do not hold, what each promises, and the way to what breaks it.
fn broken_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ScrollArea::vertical()
        .id_salt("broken")
        .auto_shrink(false)
        .show(ui, |ui| {
            for (level, result) in document
                .results
                .levels
                .iter()
                .filter(|(level, _)| level.row().usual)
            {
                let is_broken =
                    |result: &&LevelResult| !matches!(result.verdict, Verdict::Satisfied(_));
                let Some(result) = result.as_deref().filter(is_broken) else {
                    continue;
                };
                let verdict = &result.verdict;
                ui.add_space(6.0);
                ui.horizontal(|ui| {
                    let text = format!(
                        "{level}, {}: {}",
                        level.long_name().replace('-', " "),
                        verdict.word()
                    );
                    style::bold_line(ui, &text, style::HEADING, palette.verdict(Some(verdict)));
                    if *verdict == Verdict::Violated {
                        let hint = "Select the smallest anomaly that breaks this level";
                        if ui
                            .small_button("Show its smallest anomaly")
                            .on_hover_text(hint)
                            .clicked()
                        {
                            requests.push(Request::SelectLevel(*level));
                        }
                    }
                });
                ui.label(
                    RichText::new(format!("It promises that {}.", level.promise()))
                        .color(palette.text),
                );
                if let Verdict::Undecided(cause) = verdict {
                    style::note(ui, format!("Left open: {cause}."));
                }
            }
        });
}

/// The satisfied levels to select from, and what the order of the selected one means.
fn levels_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        for (level, _) in document.results.levels.iter().filter(|(level, _)| document.results.witness(*level).is_some()) {
            let chosen = document.order.as_ref().is_some_and(|order| order.level == *level);
            if ui.add(egui::Button::selectable(chosen, level.code())).on_hover_text(level.promise()).clicked() {
                requests.push(Request::ShowOrder(*level));
            }
        }
        if let Some(order) = &document.order {
            ui.add_space(8.0);
            let meaning = meaning(document, order.level);
            if !meaning.is_empty() {
                ui.label(RichText::new(meaning).color(palette.weak));
            }
            if !matches!(document.results.witness(order.level), Some(Witness::Reads) | None) {
                let verified = ui.colored_label(palette.good, "Independently verified");
                verified.on_hover_text("Code that shares nothing with the checker has replayed this order: every read is explained at this level.");
            }
            if document.results.witness(order.level).is_some() {
                let hint = "Sessions as lanes, what each read saw, and why the level holds, as a picture or text";
                on_click(&ui.small_button("Save picture…").on_hover_text(hint), Request::SaveOrder, requests);
                let hint = "Put why the level holds, and the order, on the clipboard as Markdown";
                on_click(&ui.small_button("Copy why it passes").on_hover_text(hint), Request::CopyOrder, requests);
            }
        }
    });
    ui.add_space(4.0);
}

fn meaning(document: &Document, level: Level) -> &'static str {
    match (document.results.witness(level), level) {
        (Some(Witness::Reads) | None, _) => "",
        (Some(Witness::Events(_)), _) => "Each reads at its start what had been committed by then.",
        (_, level) if !level.reads_newest() => {
            "A commit order: reads may return older versions where the level allows it."
        }
        _ => "Executed serially in this order, every read returns what was observed.",
    }
}

/// The part of the order around the selected step, as lanes: a click on a transaction goes to its step.
fn lanes_ui(
    ui: &mut Ui,
    document: &Document,
    order: &OrderView,
    replay: &Replay,
    requests: &mut Requests,
) {
    let most = ui.available_height() * LANES;
    let Some(sheet) = &order.sheet else {
        // Steps and lanes stay where they are.
        ui.allocate_ui(vec2(ui.available_width(), FIRST), |ui| {
            ui.set_min_size(vec2(ui.available_width(), FIRST));
            style::note(ui, "Drawing the order…");
        });
        return;
    };
    let scene = &sheet.scene;
    let area = ScrollArea::both()
        .id_salt(("sheet", order.level))
        .max_height(most)
        .auto_shrink([false, true]);
    area.show(ui, |ui| {
        // Larger where there is room.
        let zoom = (ui.available_width() / scene.bounds.width())
            .min(most / scene.bounds.height())
            .clamp(1.0, LARGE);
        let (area, response) = ui.allocate_exact_size(scene.bounds.size() * zoom, Sense::click());
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &sheet.caption));
        let place = DrawnAt {
            origin: area.min - zoom * scene.bounds.min.to_vec2(),
            zoom,
            area: ui.clip_rect(),
        };
        let Some(step) = replay.step(order.step) else {
            return;
        };
        sheet_ui(
            ui,
            (sheet, step.transaction),
            place,
            &response,
            document,
            requests,
        );
        if let Some(bar) = bar_of(scene, step.transaction) {
            let bar = (bar * zoom).translate(place.origin.to_vec2());
            let stroke = Stroke::new(2.0, Palette::of(ui).accent);
            ui.painter()
                .rect_stroke(bar, 4, stroke, StrokeKind::Outside);
            if order.scroll {
                ui.scroll_to_rect(bar.expand(60.0), None);
            }
        }
        let clicked = response
            .interact_pointer_pos()
            .filter(|_| response.clicked());
        let target = clicked.and_then(|at| scene.at(((at - place.origin) / zoom).to_pos2(), 1.0));
        if let Some(Target::Elsewhere(t)) = target {
            let of = |place: &usize| {
                replay
                    .step(*place)
                    .is_some_and(|step| step.transaction == t)
            };
            requests.extend(sheet.steps.clone().find(of).map(Request::GoToStep));
        }
    });
    style::note(ui, &sheet.caption);
    ui.add_space(4.0);
}

/// Draws the lanes. The arrows of what the pointer is on, else those of the transaction of the selected step, are clear, and
/// all others so pale that these can be followed.
fn sheet_ui(
    ui: &Ui,
    (sheet, chosen): (&OrderSheet, TransactionId),
    place: DrawnAt,
    response: &Response,
    document: &Document,
    requests: &mut Requests,
) {
    let scene = &sheet.scene;
    let pointer = response.hover_pos().filter(|at| place.area.contains(*at));
    let at = |at: Pos2| {
        scene.at(
            ((at - place.origin) / place.zoom).to_pos2(),
            REACH / place.zoom,
        )
    };
    let pointed = pointer.and_then(at);
    let touches = |t: TransactionId| {
        let arrows = sheet.arrows.iter().enumerate();
        arrows
            .filter(move |(_, arrow)| arrow.reader == t || arrow.writer == t)
            .map(|(edge, _)| edge)
    };
    let edges = match pointed {
        Some(Target::Edge(edge)) => BTreeSet::from([edge]),
        Some(Target::Elsewhere(t)) => touches(t).collect(),
        _ => touches(chosen).collect(),
    };
    let lit = Lit {
        any: true,
        edges,
        ..Lit::default()
    };
    let look = Look {
        palette: Palette::of(ui),
        lit,
        pale: PALE,
        ..Look::default()
    };
    paint_named(
        ui,
        &Drawn {
            scene,
            place,
            look: &look,
        },
        response,
    );
    match pointed {
        Some(Target::Edge(edge)) => {
            let text = sheet.arrows.get(edge).map(|arrow| arrow.text.as_str());
            response
                .clone()
                .on_hover_text_at_pointer(text.unwrap_or_default());
        }
        _ if pointer.is_some() => link(response, document, pointed, requests),
        _ => {}
    }
}

/// The bar of a transaction.
fn bar_of(scene: &Scene, t: TransactionId) -> Option<Rect> {
    scene.marks.iter().find_map(|mark| match mark.shape {
        Shape::Rect { rect, .. } if mark.target == Some(Target::Elsewhere(t)) => Some(rect),
        _ => None,
    })
}

/// The steps; only visible ones are made.
fn steps_ui(
    ui: &mut Ui,
    history: &History,
    order: &OrderView,
    replay: &Replay,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    heading_ui(ui, &counted(replay.n_steps(), "step"), |ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            for (name, command) in [("Next", Command::NextStep), ("Back", Command::PreviousStep)] {
                on_command(ui.small_button(name), command, requests);
            }
        });
    });
    let scroll = order.scroll.then_some(order.step);
    list_ui(
        ui,
        &format!("order {}", order.level),
        replay.n_steps(),
        scroll,
        |ui, place| {
            let Some(step) = replay.step(place) else {
                return;
            };
            let (number, last) = (grouped(place as u64 + 1), grouped(replay.n_steps() as u64));
            let text = format!("{number:>0$}  {1}", last.len(), title(history, step));
            let end = format!(
                "session {}",
                history.session_and_node(history.session_of(step.transaction))
            );
            if line_ui(
                ui,
                (&text, text.len()),
                &end,
                true,
                place == order.step,
                palette.text,
            ) {
                requests.push(Request::GoToStep(place));
            }
        },
    );
}

fn title(history: &History, step: ReplayStep) -> String {
    let name = history.transaction_name(step.transaction);
    match step.kind {
        StepKind::Run => name,
        StepKind::Start => format!("{name} starts"),
        StepKind::Commit => format!("{name} commits"),
    }
}

/// What the selected step reads and writes, with the current versions.
fn step_ui(
    ui: &mut Ui,
    history: &History,
    order: &OrderView,
    replay: &Replay,
    requests: &mut Requests,
) {
    let Some(step) = replay.step(order.step) else {
        return;
    };
    let text = format!(
        "Step {}: {}",
        grouped(order.step as u64 + 1),
        title(history, step)
    );
    heading_ui(ui, &text, |ui| {
        if ui
            .small_button("Show in the history")
            .on_hover_text("Show it in the history browser")
            .clicked()
        {
            requests.push(Request::Browse(step.transaction));
        }
    });
    let Some(rows) = &order.rows else {
        style::note(ui, "Looking at its operations…");
        return;
    };
    if rows.is_empty() {
        ui.horizontal(|ui| {
            ui.add_space(8.0);
            style::note(
                ui,
                if step.kind == StepKind::Commit {
                    "It writes nothing."
                } else {
                    "It reads nothing."
                },
            );
        });
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let area = ScrollArea::vertical()
        .id_salt(("step", order.step))
        .auto_shrink(false);
    area.show_rows(ui, 2.0 * ROW, rows.len(), |ui, range| {
        for &(operation, effect) in &rows[range] {
            row_ui(ui, history, replay, operation, effect, requests);
        }
    });
}

/// An operation, and beneath it what the replay says about it.
fn row_ui(
    ui: &mut Ui,
    history: &History,
    replay: &Replay,
    operation: OperationId,
    effect: Effect,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let (text, step) = effect_in_words(history, history.operation(operation).key, effect);
    let whole = format!("{}: {text}", history.operation_text(operation));
    let (area, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), 2.0 * ROW), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &whole));
    let colour = if matches!(effect, Effect::Older { .. }) {
        palette.caution
    } else {
        palette.weak
    };
    let line = |left: f32, middle: f32, text: String, font: FontId, colour| {
        let room = (area.width() - left - 8.0).max(0.0);
        let galley = style::cut(ui.painter(), text, font, colour, room);
        let at = area.left_top() + vec2(left, middle - galley.size().y / 2.0);
        ui.painter().galley(at, galley, colour);
    };
    line(
        8.0,
        0.5 * ROW,
        history.operation_text(operation),
        FontId::monospace(style::CODE),
        palette.strong,
    );
    line(
        22.0,
        1.4 * ROW,
        text,
        FontId::proportional(style::BODY),
        colour,
    );
    let hint = step.map_or(String::new(), |step| {
        format!("\nA click goes to step {}", grouped(step as u64 + 1))
    });
    let response = response.on_hover_text(format!("{whole}{hint}"));
    if response.clicked()
        && let Some(step) = step.filter(|&step| step < replay.n_steps())
    {
        requests.push(Request::GoToStep(step));
    }
}

/// What an operation does in a replay, in words, and the step it refers to.
fn effect_in_words(history: &History, key: KeyId, effect: Effect) -> (String, Option<usize>) {
    let version = |version: Version| match version {
        Version::Initial => (
            format!("the initial version of key {}", history.key_name(key)),
            None,
        ),
        Version::Written { write, step } => {
            let (value, writer) = (
                history.operation(write).value,
                history.transaction_of(write),
            );
            let (value, writer) = (history.value_name(value), history.transaction_name(writer));
            (
                format!("{value} of {writer}, step {}", grouped(step as u64 + 1)),
                Some(step),
            )
        }
    };
    match effect {
        Effect::Replaces(before) => {
            let (text, step) = version(before);
            let verb = if history.lists().is_list(key) {
                "comes after"
            } else {
                "replaces"
            };
            (format!("{verb} {text}"), step)
        }
        Effect::Current(current) => {
            let (text, step) = version(current);
            (format!("reads the current version: {text}"), step)
        }
        Effect::Own => ("reads its own write".to_owned(), None),
        Effect::Older { read, current } => {
            let ((old, step), (new, _)) = (version(read), version(current));
            (format!("reads {old}, although {new} is there"), step)
        }
        Effect::Open => ("what it returned is not recorded".to_owned(), None),
    }
}
