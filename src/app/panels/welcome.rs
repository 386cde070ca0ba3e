//! What the window shows before anything is open.

use super::on_click;
use crate::app::canvas::look::Look;
use crate::app::canvas::scene::{Drawn, DrawnAt};
use crate::app::command::{Command, Request, Requests};
use crate::app::samples;
use crate::app::state::State;
use crate::app::style::{self, Palette};
use crate::relations::Relation;
use egui::{
    CornerRadius, FontId, Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo,
    WidgetType, pos2, vec2,
};

/// Width of the page's column.
const WIDTH: f32 = 760.0;
/// Samples that are shown at first.
const FIRST: usize = 6;
const TILE: egui::Vec2 = vec2(244.0, 54.0);
/// Height of the picture with its frame.
const PICTURE: f32 = 350.0;

pub(crate) fn welcome_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let side = ((ui.available_width() - WIDTH) / 2.0).max(12.0);
        ui.horizontal_top(|ui| {
            ui.add_space(side);
            ui.vertical(|ui| {
                ui.set_width(WIDTH.min(ui.available_width() - 12.0));
                ui.add_space(36.0);
                style::bold(ui, "See which isolation anomalies a history contains, and why", 22.0, palette.strong);
                ui.add_space(4.0);
                ui.label(
                    RichText::new(
                        "Open a recorded history of transactions. It is checked at every isolation level you ask for, its \
                         anomalies are listed, and each is drawn as a small graph with the reason of every edge.",
                    )
                    .color(palette.weak),
                );
                ui.add_space(14.0);
                drop_ui(ui, state, requests);
                collect_ui(ui, requests);
                recent_ui(ui, state, requests);
                picture_ui(ui, state, requests);
                teach_ui(ui);
                samples_ui(ui, requests);
                ui.add_space(24.0);
            });
        });
    });
}

fn drop_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), 96.0), Sense::click());
    let lit = state.drop_hint || response.hovered();
    let line = Stroke::new(
        1.5,
        if lit {
            palette.accent
        } else {
            palette.weak.gamma_multiply(0.6)
        },
    );
    let fill = if lit {
        palette.tint(palette.accent)
    } else {
        palette.panel
    };
    ui.painter().rect_filled(area, CornerRadius::same(10), fill);
    let r = area.shrink(1.0);
    let corners = [
        r.left_top(),
        r.right_top(),
        r.right_bottom(),
        r.left_bottom(),
        r.left_top(),
    ];
    ui.painter()
        .extend(egui::Shape::dashed_line(&corners, line, 7.0, 5.0));
    let title = ui.painter().layout_no_wrap(
        "Drop a history file or a folder here, or click to choose a file".to_owned(),
        FontId::proportional(style::HEADING),
        palette.strong,
    );
    style::paint_bold(
        ui.painter(),
        area.center() - vec2(title.size().x / 2.0, title.size().y + 2.0),
        title,
        palette.strong,
    );
    let keys = format!(
        "{}   ·   or start with: isoscope FILE",
        Command::Open.key_text()
    );
    ui.painter().text(
        area.center() + vec2(0.0, 14.0),
        egui::Align2::CENTER_CENTER,
        keys,
        FontId::proportional(style::BODY),
        palette.weak,
    );
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, "Open a history file"));
    on_click(&response, Request::Run(Command::Open), requests);
}

/// A way to get a history for users without one, and the tour.
fn collect_ui(ui: &mut Ui, requests: &mut Requests) {
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        super::command_button_ui(ui, Command::ShowCollect, requests);
        style::note(ui, "or make one: run a workload on a database");
        ui.add_space(16.0);
        super::command_button_ui(ui, Command::Tour, requests);
        style::note(ui, "five steps through one anomaly");
    });
}

fn heading_ui(ui: &mut Ui, text: &str) {
    ui.add_space(18.0);
    style::bold(ui, text, style::HEADING, Palette::of(ui).strong);
    ui.add_space(2.0);
}

fn recent_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    if state.recent.is_empty() {
        return;
    }
    heading_ui(ui, "Recent");
    for path in state.recent.iter().take(5) {
        let text = path.display().to_string();
        if ui
            .add(egui::Button::new(text).frame(false).truncate())
            .on_hover_text("Open again")
            .clicked()
        {
            requests.push(Request::OpenFile(path.clone()));
        }
    }
}

/// What the program is about: an anomaly of a sample, with what happened.
fn picture_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ui.add_space(18.0);
    let (area, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), PICTURE), Sense::click());
    let inside = area.shrink(14.0);
    // Made in any case: what follows keeps its identity when the picture arrives, so that no click is lost.
    let mut text = ui.new_child(egui::UiBuilder::new().max_rect(inside));
    let Some(picture) = &state.welcome else {
        return;
    };
    let line = if response.hovered() || response.has_focus() {
        palette.accent
    } else {
        palette.line
    };
    ui.painter().rect(
        area,
        CornerRadius::same(8),
        palette.ground,
        Stroke::new(1.0, line),
        StrokeKind::Inside,
    );
    style::bold(&mut text, &picture.title, style::HEADING, palette.strong);
    text.label(RichText::new(&picture.claim).color(palette.text));
    style::note(
        &mut text,
        "A sample. Click to look at it: point at an arrow to read why it is there.",
    );
    let below = Rect::from_min_max(
        pos2(inside.left(), text.min_rect().bottom() + 8.0),
        inside.max,
    );
    let bounds = picture.scene.bounds;
    let scale = (below.width() / bounds.width())
        .min(below.height() / bounds.height())
        .min(1.0);
    let origin = below.center() - bounds.center().to_vec2() * scale;
    let drawn = Drawn {
        scene: &picture.scene,
        place: DrawnAt {
            origin,
            zoom: scale,
            area,
        },
        look: &Look {
            palette,
            ..Look::default()
        },
    };
    drawn.paint(&ui.painter_at(area));
    response.widget_info(|| {
        WidgetInfo::labeled(
            WidgetType::Button,
            true,
            format!("Example: {}", picture.title),
        )
    });
    on_click(&response, Request::OpenSample(picture.sample), requests);
}

/// What edges mean.
fn teach_ui(ui: &mut Ui) {
    let palette = Palette::of(ui);
    heading_ui(ui, "How to read it");
    ui.label(
        RichText::new(
            "An arrow from one transaction to another says that the first comes before the second. Most anomalies are a \
             cycle of arrows: each transaction would come before itself.",
        )
        .color(palette.text),
    );
    ui.add_space(4.0);
    egui::Grid::new("edges")
        .num_columns(6)
        .spacing(vec2(8.0, 5.0))
        .show(ui, |ui| {
            for (place, relation) in Relation::ALL.into_iter().enumerate() {
                let (area, _) = ui.allocate_exact_size(vec2(40.0, 14.0), Sense::hover());
                super::paint_relation(ui.painter(), area, relation, &palette, true);
                ui.label(
                    RichText::new(relation.code())
                        .monospace()
                        .color(palette.strong),
                );
                style::note(ui, meaning(relation));
                if place % 2 == 1 {
                    ui.end_row();
                }
            }
        });
}

/// Why one transaction comes before the other.
fn meaning(relation: Relation) -> &'static str {
    match relation {
        Relation::SessionOrder => "it ran earlier in the same session",
        Relation::WriteRead => "the second read what the first wrote",
        Relation::WriteWrite => "it wrote the older version",
        Relation::AntiDependency => "it read a version that the second replaced",
        Relation::CausalOrder => "a path of sessions and reads leads there",
        Relation::CommitOrder => "a read forces this order",
        Relation::RealTime => "it had ended before the second began",
    }
}

fn samples_ui(ui: &mut Ui, requests: &mut Requests) {
    if samples::ALL.is_empty() {
        return;
    }
    heading_ui(ui, "Samples");
    let id = ui.id().with("all samples");
    let mut all = ui.data(|data| data.get_temp::<bool>(id).unwrap_or(false));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(10.0, 10.0);
        let shown = if all { samples::ALL.len() } else { FIRST };
        for (place, sample) in samples::ALL.iter().enumerate().take(shown) {
            if tile_ui(ui, &samples::title(place), sample.about) {
                requests.push(Request::OpenSample(place));
            }
        }
    });
    ui.add_space(6.0);
    let text = format!("All {} samples", samples::ALL.len());
    all |= !all && ui.button(text).clicked();
    ui.data_mut(|data| data.insert_temp(id, all));
}

fn tile_ui(ui: &mut Ui, title: &str, about: &str) -> bool {
    let palette = Palette::of(ui);
    let (area, response) = ui.allocate_exact_size(TILE, Sense::click());
    let (fill, line) = if response.hovered() || response.has_focus() {
        (palette.raised, palette.accent)
    } else {
        (palette.panel, palette.line)
    };
    ui.painter().rect(
        area,
        CornerRadius::same(8),
        fill,
        Stroke::new(1.0, line),
        StrokeKind::Inside,
    );
    let line = |text: &str, size: f32, colour| {
        style::cut(
            ui.painter(),
            text,
            FontId::proportional(size),
            colour,
            TILE.x - 22.0,
        )
    };
    style::paint_bold(
        ui.painter(),
        area.min + vec2(11.0, 9.0),
        line(title, style::BODY, palette.strong),
        palette.strong,
    );
    let said = line(about, style::SMALL, palette.weak);
    let is_cut = said.elided;
    ui.painter()
        .galley(area.min + vec2(11.0, 29.0), said, palette.weak);
    response.widget_info(|| {
        WidgetInfo::labeled(WidgetType::Button, true, format!("Sample {title}: {about}"))
    });
    let is_clicked = response.clicked();
    if is_cut {
        response.on_hover_text(about);
    }
    is_clicked
}
