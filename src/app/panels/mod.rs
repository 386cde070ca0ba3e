//! The panels of the window: each reads the state and pushes requests.

pub(crate) mod anomalies;
mod anomaly_rows;
mod answer;
pub(crate) mod argument;
pub(crate) mod banners;
pub(crate) mod batch;
pub(crate) mod browser;
pub(crate) mod cases;
mod chart;
pub(crate) mod checker_comparison;
pub(crate) mod collect;
mod comparison;
pub(crate) mod export_form;
pub(crate) mod following;
pub(crate) mod graph;
pub(crate) mod group;
pub(crate) mod health;
pub(crate) mod help;
pub(crate) mod lanes;
pub(crate) mod lattice;
mod legend;
pub(crate) mod levels;
mod linear;
pub(crate) mod live;
pub(crate) mod marks;
pub(crate) mod matrix;
pub(crate) mod minimap;
pub(crate) mod notes;
pub(crate) mod open_log;
pub(crate) mod order;
pub(crate) mod overrides;
pub(crate) mod palette;
pub(crate) mod raw_lines;
pub(crate) mod replay;
pub(crate) mod rules;
mod scene;
pub(crate) mod statistics;
mod sweep;
mod tested;
pub(crate) mod top_bar;
pub(crate) mod tour;
pub(crate) mod unreadable;
mod verdict_columns;
pub(crate) mod versions;
pub(crate) mod welcome;
pub(crate) mod what_if;
mod workload;

use super::canvas::look::Look;
use super::canvas::scene::{Drawn, DrawnAt};
use super::command::{Command, Request, Requests};
use super::page::Page;
use super::state::Document;
use super::style::Palette;
use super::verdict_summary::Conclusion;
use super::vocabulary::{Attention, Focus};
use crate::diagram::Emphasis;
use crate::diagram::scene::Scene;
use crate::relations::Relation;
use egui::{
    Align2, Color32, CornerRadius, FontId, Frame, Id, Margin, Modal, Painter, Pos2, Rect, Response,
    RichText, Stroke, Ui, WidgetInfo, WidgetType, pos2, vec2,
};

/// A dialog over the window, with room around what is in it.
fn sheet(id: &str, ui: &Ui) -> Modal {
    Modal::new(Id::new(id)).frame(
        Frame::popup(ui.style())
            .inner_margin(Margin::same(18))
            .corner_radius(10.0),
    )
}

/// A click on this is a request. The request is made in every frame, so it must be cheap.
fn on_click(response: &Response, request: Request, requests: &mut Requests) {
    if response.clicked() {
        requests.push(request);
    }
}

/// A click on this ends a dialog.
fn ends(response: &Response, requests: &mut Requests) {
    on_click(response, Request::Run(Command::Escape), requests);
}

/// A click on this entry of a menu is a request and closes the menu.
fn on_menu_click(response: &Response, ui: &Ui, request: Request, requests: &mut Requests) {
    on_click(response, request, requests);
    if response.clicked() {
        ui.close();
    }
}

/// A click on this runs a command, which is explained on hover.
fn on_command(response: Response, command: Command, requests: &mut Requests) {
    on_click(
        &response.on_hover_text(tooltip(command)),
        Request::Run(command),
        requests,
    );
}

/// A button for a command: its name, and its explanation with the key on hover.
pub(crate) fn command_button_ui(
    ui: &mut Ui,
    command: Command,
    requests: &mut Requests,
) -> Response {
    let row = command.row();
    let response = ui.button(row.name).on_hover_text(tooltip(command));
    on_click(&response, Request::Run(command), requests);
    response
}

/// A small button with a command's name for screen readers.
pub(crate) fn small_button_ui(ui: &mut Ui, command: Command, text: &str, requests: &mut Requests) {
    sized_button_ui(ui, command, egui::Button::new(text).small(), requests);
}

/// Plays or pauses: as wide with either word, so that nothing moves.
pub(crate) fn play_button_ui(ui: &mut Ui, is_playing: bool, requests: &mut Requests) {
    let font = egui::TextStyle::Button.resolve(ui.style());
    let widths = ["Play", "Pause"].map(|word| {
        let galley =
            ui.painter()
                .layout_no_wrap(word.to_owned(), font.clone(), egui::Color32::WHITE);
        galley.size().x + 2.0 * ui.spacing().button_padding.x
    });
    let word = if is_playing { "Pause" } else { "Play" };
    let button = egui::Button::new(word)
        .small()
        .min_size(vec2(widths[0].max(widths[1]), 0.0));
    sized_button_ui(ui, Command::Play, button, requests);
}

fn sized_button_ui(
    ui: &mut Ui,
    command: Command,
    button: egui::Button<'_>,
    requests: &mut Requests,
) {
    let response = ui.add(button).on_hover_text(tooltip(command));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, command.row().name));
    on_click(&response, Request::Run(command), requests);
}

/// Links a response to a thing of the anomaly: hover previews the thing everywhere, a click pins or releases it.
pub(crate) fn attend(
    response: &Response,
    document: &Document,
    attention: Attention,
    requests: &mut Requests,
) {
    if response.hovered() {
        requests.push(Request::Focus(Focus::Hover(attention)));
    }
    if response.clicked() {
        requests.push(Request::Focus(Focus::Pin(
            (document.argument.pinned != Some(attention)).then_some(attention),
        )));
    }
}

/// Why no anomaly is shown; if none is selected, `otherwise`.
fn awaited<'a>(document: &Document, otherwise: &'a str) -> &'a str {
    match (document.selected, document.drawing) {
        (Some(_), true) => "Looking for the smallest part that convinces…",
        (Some(_), false) => "There is no argument for this anomaly.",
        (None, _) => otherwise,
    }
}

/// Says that a page could not be made and why, if that is so. Returns whether it did.
pub(crate) fn failed_ui(ui: &mut Ui, document: &Document, page: Page) -> bool {
    let Some(cause) = document.failed.get(&page) else {
        return false;
    };
    let text = RichText::new(format!(
        "This could not be made: {cause}. Reload tries again."
    ));
    ui.add(egui::Label::new(text.color(Palette::of(ui).bad)).wrap());
    true
}

/// What a command does and its key.
pub(crate) fn tooltip(command: Command) -> String {
    format!("{} ({})", command.row().tooltip, command.key_text())
}

/// A tick, drawn: no bundled font has one.
pub(crate) fn paint_tick(painter: &Painter, centre: Pos2, size: f32, colour: Color32) {
    let at = |x: f32, y: f32| centre + vec2(x, y) * size;
    painter.line(
        vec![at(-0.5, 0.02), at(-0.12, 0.38), at(0.5, -0.38)],
        Stroke::new((size * 0.2).max(1.4), colour),
    );
}

/// A cross, drawn.
pub(crate) fn paint_cross(painter: &Painter, centre: Pos2, size: f32, colour: Color32) {
    let stroke = Stroke::new((size * 0.2).max(1.4), colour);
    let r = size * 0.38;
    painter.line_segment([centre + vec2(-r, -r), centre + vec2(r, r)], stroke);
    painter.line_segment([centre + vec2(-r, r), centre + vec2(r, -r)], stroke);
}

/// A conclusion: a tick, a cross, or a question mark in a font of this size.
fn paint_conclusion(
    painter: &Painter,
    centre: Pos2,
    sizes: (f32, f32),
    conclusion: Conclusion,
    colour: Color32,
) {
    let (size, font_size) = sizes;
    match conclusion {
        Conclusion::Holds => paint_tick(painter, centre, size, colour),
        Conclusion::Broken => paint_cross(painter, centre, size, colour),
        Conclusion::Open => {
            painter.text(
                centre,
                Align2::CENTER_CENTER,
                "?",
                FontId::proportional(font_size),
                colour,
            );
        }
    }
}

/// The ground of a line in a list: another one if it is selected, else if the pointer is over it.
fn paint_ground(
    painter: &Painter,
    area: Rect,
    selected: bool,
    response: &Response,
    palette: &Palette,
) {
    if selected {
        painter.rect_filled(area, CornerRadius::same(4), palette.selected);
    } else if response.hovered() {
        painter.rect_filled(area, CornerRadius::same(4), palette.raised);
    }
}

/// A cycle as a small picture: a dot for each transaction, an arrow in the colour of its relation for each step. A lone dot
/// with a cross is a wrong read.
pub(crate) fn small_cycle(painter: &Painter, palette: &Palette, area: Rect, cycle: &[Relation]) {
    let dot = |at: Pos2| {
        painter.circle_filled(at, 3.0, palette.weak);
    };
    let middle = area.center().y;
    // A path of several steps that leads back to where it began.
    let twice: Vec<Relation>;
    let cycle = match cycle {
        &[path] => {
            twice = vec![path, path];
            &twice
        }
        cycle => cycle,
    };
    let n = cycle.len();
    if n == 0 {
        let at = pos2(area.left() + 6.0, middle);
        dot(at);
        return paint_cross(painter, at + vec2(12.0, 0.0), 8.0, palette.bad);
    }
    let step = ((area.width() - 12.0) / (n - 1).max(1) as f32).min(26.0);
    let place = |i: usize| pos2(area.left() + 6.0 + step * i as f32, middle - 4.0);
    for (i, relation) in cycle.iter().enumerate() {
        let stroke = Stroke::new(1.6, palette.relation(*relation));
        let (from, to) = (place(i), place((i + 1) % n));
        let points = match i + 1 < n {
            true => vec![from + vec2(4.0, 0.0), to - vec2(5.0, 0.0)],
            // The last step leads back below the others.
            false => {
                let down = vec2(0.0, 9.0);
                vec![
                    from + vec2(0.0, 4.0),
                    from + down,
                    to + down,
                    to + vec2(0.0, 5.0),
                ]
            }
        };
        if let [.., before, end] = points[..] {
            let ahead = (end - before).normalized();
            let side = vec2(-ahead.y, ahead.x);
            painter.line(
                vec![
                    end - ahead * 4.0 + side * 2.6,
                    end,
                    end - ahead * 4.0 - side * 2.6,
                ],
                stroke,
            );
        }
        painter.line(points, stroke);
    }
    (0..n).for_each(|i| dot(place(i)));
}

/// The triangle before a line that can be opened.
pub(crate) fn paint_triangle(painter: &Painter, centre: Pos2, open: bool, colour: Color32) {
    let r = 3.6;
    let points = if open {
        vec![
            centre + vec2(-r, -r * 0.6),
            centre + vec2(r, -r * 0.6),
            centre + vec2(0.0, r * 0.8),
        ]
    } else {
        vec![
            centre + vec2(-r * 0.6, -r),
            centre + vec2(r * 0.8, 0.0),
            centre + vec2(-r * 0.6, r),
        ]
    };
    painter.add(egui::Shape::convex_polygon(points, colour, Stroke::NONE));
}

/// A sample of the line drawn for a relation, from left to right through the middle of `area`.
pub(crate) fn paint_relation(
    painter: &Painter,
    area: Rect,
    relation: Relation,
    palette: &Palette,
    shown: bool,
) {
    let mut scene = Scene::new(area);
    scene.sample(area.left_center(), area.width(), relation, Emphasis::Cycle);
    let look = Look {
        palette: *palette,
        opacity: if shown { 1.0 } else { 0.3 },
        ..Look::default()
    };
    let place = DrawnAt {
        origin: Pos2::ZERO,
        zoom: 1.0,
        area,
    };
    let (scene, look) = (&scene, &look);
    Drawn { scene, place, look }.paint(painter);
}
