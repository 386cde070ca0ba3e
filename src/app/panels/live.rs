//! The lanes of a history that grows: the last transactions, new ones at the right edge, until they are paused.

use super::scene::{described, paint_named};
use super::{on_click, small_button_ui};
use crate::app::canvas::look::Look;
use crate::app::canvas::navigation::wheel_factor;
use crate::app::canvas::scene::{Drawn, DrawnAt};
use crate::app::command::{Command, Request, Requests};
use crate::app::live::{Live, LiveViolation, Stretch};
use crate::app::style::{self, Palette, counted};
use crate::diagram::Target;
use crate::diagram::lanes::{LaneContent, Lanes, View};
use crate::history::TransactionId;
use crate::report::grouped;
use egui::{Response, RichText, Sense, Ui, WidgetInfo, WidgetType, vec2};

/// A transaction of usual length is drawn about this wide, in points.
const USUAL: f64 = 60.0;

/// At least this share of what is kept is in view…
const LEAST: f64 = 0.3;
/// … and this one where one transaction comes after the other, so that names have room.
const LEAST_IN_ORDER: f64 = 0.08;

/// The zoom stays as it is while the best one differs from it by less than this factor.
const STEADY: f64 = 1.6;

/// The width of lanes in a typical window, which is good enough for a key, in points.
const WIDTH: f32 = 800.0;

/// Room at the right edge, in points.
const EDGE: f64 = 10.0;

/// Zoom and position of the lanes.
#[derive(Clone, Debug)]
pub(crate) struct LiveView {
    /// While they are paused: where the user has moved them.
    moved: Option<View>,
    /// Points per unit of the axis at the right edge.
    zoom: f64,
    /// How much larger the user wants it.
    scale: f64,
    top: f32,
    /// What is shown while they are paused.
    paused: Option<View>,
}

impl Default for LiveView {
    fn default() -> LiveView {
        LiveView {
            moved: None,
            zoom: 1.0,
            scale: 1.0,
            top: 0.0,
            paused: None,
        }
    }
}

impl LiveView {
    /// Zooms, keeping the right edge.
    pub(crate) fn zoom_by(&mut self, factor: f32) {
        self.scale = (self.scale * f64::from(factor)).clamp(0.1, 20.0);
        self.moved = None;
    }

    /// Zooms, and while they are paused moves sideways by a share of the width.
    pub(crate) fn fly(&mut self, factor: f32, sideways: f32) {
        let Some(mut view) = self.paused else {
            return self.zoom_by(factor);
        };
        super::lanes::zoom(&mut view, WIDTH / 2.0, factor);
        view.left += f64::from(sideways * WIDTH) / view.zoom;
        self.moved = Some(view);
    }
}

/// Draws the lanes in the rest of the room, below a line that says what they show.
pub(super) fn live_ui(ui: &mut Ui, live: &Live, kept: &mut LiveView, requests: &mut Requests) {
    let Some((snapshot, stretch)) = live
        .shown()
        .and_then(|shown| Some((shown, shown.stretch.as_ref()?)))
    else {
        style::note(ui, "No transaction has ended yet");
        return;
    };
    let palette = Palette::of(ui);
    let newer = live.newer();
    ui.horizontal(|ui| {
        let word = if newer.is_some() { "Go on" } else { "Pause" };
        small_button_ui(ui, Command::HoldLanes, word, requests);
        let hint = match newer {
            Some(n) => {
                ui.label(
                    RichText::new(format!("Paused, {} newer", grouped(n))).color(palette.caution),
                );
                "the wheel zooms, dragging moves".to_owned()
            }
            None => {
                let (last, all) = (
                    grouped(stretch.history.n_transactions() as u64),
                    grouped(snapshot.ended),
                );
                format!("The last {last} of {all} transactions; new ones come in at the right edge")
            }
        };
        style::short_note(ui, hint);
    });
    if newer.is_none() {
        kept.moved = None;
    }
    lanes_ui(ui, stretch, newer.is_some(), kept);
}

fn lanes_ui(ui: &mut Ui, stretch: &Stretch, is_paused: bool, kept: &mut LiveView) {
    let area = ui.available_rect_before_wrap();
    let response = ui.allocate_rect(area, Sense::click_and_drag());
    response.widget_info(|| {
        WidgetInfo::labeled(
            WidgetType::Label,
            true,
            "The last transactions on a time axis",
        )
    });
    let Stretch {
        marks,
        history,
        timeline,
    } = stretch;
    let shown = LaneContent {
        history,
        timeline,
        true_time: true,
        anomaly: None,
        annotations: marks,
    };
    let mut lanes = Lanes::new(
        shown,
        area.size(),
        View {
            top: kept.top,
            ..View::default()
        },
    )
    .low();
    if lanes.plot.width() < 10.0 || lanes.plot.height() < 1.0 {
        return;
    }
    match kept.moved {
        Some(view) => lanes.view = view,
        None => to_the_edge(&mut lanes, stretch, kept),
    }
    navigate(ui, &mut lanes, &response, is_paused, kept);
    lanes.keep_in_bounds();
    kept.top = lanes.view.top;
    kept.paused = is_paused.then_some(lanes.view);
    kept.moved = kept.moved.map(|_| lanes.view);
    let plot = lanes.plot.translate(area.min.to_vec2());
    let place = DrawnAt {
        origin: area.min,
        zoom: 1.0,
        area: plot,
    };
    let look = Look {
        palette: Palette::of(ui),
        ..Look::default()
    };
    let target = paint_named(
        ui,
        &Drawn {
            scene: &lanes.scene(),
            place,
            look: &look,
        },
        &response,
    );
    if let Some(text) = target.and_then(|target| says(stretch, target)) {
        response.on_hover_text_at_pointer(text);
    }
}

/// Shows the newest transactions: as many as can be distinguished.
fn to_the_edge(lanes: &mut Lanes<'_>, stretch: &Stretch, kept: &mut LiveView) {
    let axis = stretch.timeline.axis(true);
    let spans = || stretch.history.transactions().filter_map(|t| axis.span(t));
    let mut lengths: Vec<f64> = spans().map(|span| span.to - span.from).collect();
    let (from, to) = spans().fold((f64::MAX, 0.0_f64), |(from, to), span| {
        (from.min(span.from), to.max(span.to))
    });
    let middle = lengths.len() / 2;
    if lengths.is_empty() || to <= from {
        return;
    }
    let usual = lengths
        .select_nth_unstable_by(middle, f64::total_cmp)
        .1
        .max(1e-9);
    let width = (f64::from(lanes.plot.width()) - EDGE).max(1.0);
    let least = if stretch.timeline.is_order {
        LEAST_IN_ORDER
    } else {
        LEAST
    };
    let best = (USUAL / usual).clamp(width / (to - from), width / (to - from) / least);
    if best > kept.zoom * STEADY || best * STEADY < kept.zoom {
        kept.zoom = best;
    }
    let zoom = kept.zoom * kept.scale;
    lanes.reveal((to - width / zoom, to + EDGE / zoom), None);
}

/// While nothing new comes in, as on the timeline; else the wheel zooms with the right edge where it is, and dragging moves up
/// and down.
fn navigate(
    ui: &Ui,
    lanes: &mut Lanes<'_>,
    response: &Response,
    is_paused: bool,
    kept: &mut LiveView,
) {
    if is_paused {
        let before = lanes.view;
        super::lanes::navigate(ui, lanes, response);
        if lanes.view != before {
            kept.moved = Some(lanes.view);
        }
        return;
    }
    if response.hovered() {
        let factor =
            ui.input(|input| input.zoom_delta() * wheel_factor(input.smooth_scroll_delta().y));
        kept.zoom_by(factor);
    }
    if response.dragged() {
        lanes.view.top -= response.drag_delta().y;
    }
}

/// What is said about what the pointer is on.
fn says(stretch: &Stretch, target: Target) -> Option<String> {
    let text = |t: TransactionId| described(&stretch.history, t, |_| false);
    match target {
        Target::Transaction(t) | Target::Elsewhere(t) => Some(text(t)),
        Target::Several(_, n) => Some(format!(
            "{} here: zoom in to see them",
            counted(n, "transaction")
        )),
        _ => None,
    }
}

/// A violation in a line, with a button that draws it if it can be drawn.
pub(super) fn found_ui(
    ui: &mut Ui,
    place: usize,
    found: &LiveViolation,
    said: &str,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let [title, why] = &found.text;
    ui.horizontal(|ui| {
        if found.part.is_some() {
            let button = egui::Button::new("Draw it").small().fill(palette.selected);
            let hover = format!(
                "Draws it while the history grows on; for the first one, {}",
                Command::OpenFound.key_text()
            );
            let response = ui.add(button).on_hover_text(hover);
            response.widget_info(|| {
                WidgetInfo::labeled(
                    WidgetType::Button,
                    true,
                    format!("Draw {}", found.violated()),
                )
            });
            on_click(&response, Request::OpenFound(place), requests);
        }
        let text = format!("{said}: {title} ({})", found.violated());
        let label = ui.add(egui::Label::new(RichText::new(&text).color(palette.bad)).truncate());
        label.on_hover_text(if why.is_empty() {
            text
        } else {
            format!("{text}\n{why}")
        });
    });
}

/// A height for lanes below other things of a page.
pub(super) fn height_for(ui: &Ui, stretch: &Stretch) -> f32 {
    let need = 56.0 + 27.0 * stretch.history.n_sessions() as f32;
    ui.available_height().max(200.0).min(need.max(110.0))
}

/// Draws the lanes among other things of a page that scrolls.
pub(super) fn inset_ui(ui: &mut Ui, live: &Live, kept: &mut LiveView, requests: &mut Requests) {
    let Some(stretch) = live.shown().and_then(|shown| shown.stretch.as_ref()) else {
        return;
    };
    let size = vec2(ui.available_width(), height_for(ui, stretch) + 24.0);
    ui.allocate_ui(size, |ui| {
        ui.set_min_size(size);
        live_ui(ui, live, kept, requests);
    });
}
