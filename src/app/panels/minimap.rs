//! The band with the whole history: where its anomalies are, and which part of it is in view.

use crate::app::command::{Command, Request, Requests};
use crate::app::marks::Ask;
use crate::app::minimap::Minimap;
use crate::app::page::Page;
use crate::app::state::Document;
use crate::app::style::{self, Palette, colour32, counted};
use crate::diagram::theme::Role;
use egui::epaint::Mesh;
use egui::{
    Align, CursorIcon, Layout, Rect, Response, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo,
    WidgetType, pos2, vec2,
};

/// Height of the band.
const HEIGHT: f32 = 34.0;
/// Height of the marks of anomalies.
const MARKS: f32 = 12.0;
/// How near the pointer must be to a mark or an end of the brush, in points.
const REACH: f32 = 5.0;

/// What is dragged.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Grip {
    /// The whole brush, this far from its left end.
    Middle(f64),
    /// Its left end.
    Left,
    /// Its right end.
    Right,
}

/// Draws the map below a graph, with its heading and the way to the timeline: above it where there is room.
pub(crate) fn where_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let is_low = ui.available_height() < 2.0 * HEIGHT;
    let heading_ui = |ui: &mut Ui, requests: &mut Requests| {
        let palette = Palette::of(ui);
        let heading = style::bold_line(ui, "Where in the history", style::BODY, palette.strong);
        let heading = heading.interact(Sense::click());
        let heading = heading.on_hover_text("Red: anomalies. Yellow: this one.");
        super::on_command(heading, Command::Locate, requests);
    };
    let open_ui = |ui: &mut Ui, requests: &mut Requests| {
        let text = if is_low {
            "▴"
        } else {
            "open as a timeline ▴"
        };
        let open = egui::Button::new(text).frame(false);
        super::on_command(ui.add(open), Command::Show(Page::Lanes), requests);
    };
    let to_left = Layout::right_to_left(Align::Center);
    ui.horizontal(|ui| {
        heading_ui(ui, requests);
        ui.with_layout(to_left, |ui| {
            open_ui(ui, requests);
            if is_low {
                let size = vec2(ui.available_width(), ui.available_height().max(1.0));
                ui.allocate_ui(size, |ui| band_ui(ui, document, (size.y, None), requests));
            }
        });
    });
    if !is_low {
        band_ui(ui, document, (ui.available_height(), None), requests);
    }
    ui.take_available_height();
}

/// Draws the band with a brush over the stretch of the axis that is in view. Returns the stretch that shall be in view
/// instead.
pub(super) fn minimap_ui(
    ui: &mut Ui,
    document: &Document,
    visible: Option<(f64, f64)>,
    requests: &mut Requests,
) -> Option<(f64, f64)> {
    ui.add_space(3.0);
    let wanted = band_ui(ui, document, (HEIGHT, visible), requests);
    legend_ui(ui, document);
    wanted
}

fn band_ui(
    ui: &mut Ui,
    document: &Document,
    (height, visible): (f32, Option<(f64, f64)>),
    requests: &mut Requests,
) -> Option<(f64, f64)> {
    let size = vec2(ui.available_width(), height);
    let (area, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let map = document.overview.map.as_ref()?;
    let area = area.shrink2(vec2(10.0, 2.0));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, "Map of the history"));
    let palette = Palette::of(ui);
    let painter = ui.painter_at(area.expand(3.0));
    painter.rect_filled(area, 3.0, palette.panel);
    painter.add(Shape::mesh(mesh(map, area, &palette)));
    let x = |at: f64| area.left() + area.width() * (at / map.length).clamp(0.0, 1.0) as f32;
    if let Some((from, to)) = visible {
        let brush = Rect::from_x_y_ranges(x(from)..=x(to).max(x(from) + 3.0), area.y_range());
        painter.rect_filled(brush, 2.0, palette.accent.gamma_multiply(0.16));
        painter.rect_stroke(
            brush,
            2.0,
            Stroke::new(1.4, palette.accent),
            StrokeKind::Inside,
        );
    }
    // The selected anomaly.
    if let (Some(picture), Some(timeline)) = (document.current_picture(), &document.timeline) {
        let axis = timeline.axis(map.wanted.0);
        let own = picture.argument.counterexample.renaming.transactions.iter();
        for at in own.filter_map(|t| axis.span(*t)).map(|span| x(span.from)) {
            painter.line_segment(
                [pos2(at, area.top()), pos2(at, area.bottom())],
                Stroke::new(1.6, palette.caution),
            );
        }
    }
    let spot = marks_ui(ui, document, (map, area, x), &response);
    if let Some(spot) = spot.filter(|_| response.clicked()) {
        requests.push(Request::Marks(Ask::GoTo(spot)));
        return None;
    }
    let at = |x: f32| f64::from((x - area.left()) / area.width().max(1.0)) * map.length;
    let mark = response
        .hover_pos()
        .filter(|_| spot.is_none())
        .and_then(|pointer| {
            let distance = |bin: usize| (middle(map, area, bin) - pointer.x).abs();
            let near = map.marks.iter().map(|mark| (distance(mark.bin), mark));
            near.min_by(|a, b| a.0.total_cmp(&b.0))
                .filter(|(far, _)| *far <= REACH)
                .map(|(_, mark)| mark)
        });
    if let Some(mark) = mark.filter(|_| !response.dragged()) {
        let text = format!(
            "{}, first {}: click to select it",
            counted(mark.n, "anomaly here"),
            mark.first
        );
        let text = if mark.n == 1 {
            format!("{}: click to select it", mark.first)
        } else {
            text
        };
        response
            .clone()
            .on_hover_cursor(CursorIcon::PointingHand)
            .on_hover_text_at_pointer(text);
        if response.clicked() {
            requests.push(Request::SelectHere(mark.first));
            return None;
        }
    }
    dragged(ui, &response, visible?, (x, at))
}

/// Draws what the user marked along the lower edge. Returns the mark under the pointer.
fn marks_ui(
    ui: &Ui,
    document: &Document,
    (map, area, x): (&Minimap, Rect, impl Fn(f64) -> f32),
    response: &Response,
) -> Option<usize> {
    let (history, timeline) = (document.history.as_ref()?, document.timeline.as_ref()?);
    let palette = Palette::of(ui);
    let colour = palette
        .theme()
        .style(Role::NoteText)
        .fill
        .map_or(palette.strong, colour32);
    let painter = ui.painter_at(area.expand(3.0));
    let mut under = None;
    for (at, mark) in document.marks.all.iter().enumerate() {
        let Some(span) = timeline.extent(&mark.place, history, map.wanted.0) else {
            continue;
        };
        let (from, to) = (x(span.from), x(span.to));
        let band = Rect::from_x_y_ranges(
            from..=to.max(from + 2.0),
            area.bottom() - 3.0..=area.bottom(),
        );
        painter.rect_filled(band, 0.0, colour);
        let tip = [
            pos2(from, area.bottom() - 9.0),
            pos2(from + 4.0, area.bottom()),
            pos2(from - 4.0, area.bottom()),
        ];
        painter.add(Shape::convex_polygon(tip.to_vec(), colour, Stroke::NONE));
        let reach = band.expand2(vec2(REACH, 6.0));
        if response
            .hover_pos()
            .is_some_and(|pointer| reach.contains(pointer))
        {
            under = Some((at, mark));
        }
    }
    let (at, mark) = under?;
    let text = format!("Mark: {}\nClick to go there", mark.text);
    response
        .clone()
        .on_hover_cursor(CursorIcon::PointingHand)
        .on_hover_text_at_pointer(text);
    Some(at)
}

/// What the band shows, in a line below it.
fn legend_ui(ui: &mut Ui, document: &Document) {
    let has_marks = !document.marks.all.is_empty();
    let palette = Palette::of(ui);
    let note = palette
        .theme()
        .style(Role::NoteText)
        .fill
        .map_or(palette.strong, colour32);
    let marks = has_marks.then_some((note, vec2(8.0, 6.0), "marks"));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        ui.add_space(10.0);
        if let Some(timeline) = &document.timeline {
            let axis = match (&timeline.clock, timeline.is_order) {
                (Some(_), _) => "time →",
                (None, true) => "order →",
                (None, false) => "causal depth →",
            };
            style::note(ui, axis).on_hover_text("What increases from left to right");
            ui.add_space(6.0);
        }
        for (colour, size, text) in [
            (palette.bad, vec2(3.0, 10.0), "anomalies (taller: more)"),
            (palette.caution, vec2(2.0, 14.0), "the selected one"),
            (palette.shade, vec2(10.0, 8.0), "transactions"),
            (palette.accent, vec2(10.0, 12.0), "in view (drag)"),
        ]
        .into_iter()
        .chain(marks)
        {
            let (area, _) = ui.allocate_exact_size(vec2(size.x, 14.0), Sense::hover());
            let mark = Rect::from_center_size(area.center(), size);
            if colour == palette.accent {
                ui.painter()
                    .rect_stroke(mark, 2.0, Stroke::new(1.4, colour), StrokeKind::Inside);
            } else {
                ui.painter().rect_filled(mark, 0.0, colour);
            }
            style::note(ui, text);
            ui.add_space(10.0);
        }
    });
}

/// Where the brush was dragged to, or is put by a click.
fn dragged(
    ui: &Ui,
    response: &Response,
    (from, to): (f64, f64),
    (x, at): (impl Fn(f64) -> f32, impl Fn(f32) -> f64),
) -> Option<(f64, f64)> {
    let grip_at = |pointer: f32| match pointer {
        pointer if (pointer - x(from)).abs() <= REACH && x(to) - x(from) > 3.0 * REACH => {
            Grip::Left
        }
        pointer if (pointer - x(to)).abs() <= REACH && x(to) - x(from) > 3.0 * REACH => Grip::Right,
        pointer if (x(from)..=x(to)).contains(&pointer) => Grip::Middle(at(pointer) - from),
        _ => Grip::Middle((to - from) / 2.0),
    };
    let pointer = response.interact_pointer_pos().map(|at| at.x);
    if let Some(pointer) = response
        .hover_pos()
        .map(|at| at.x)
        .filter(|_| !response.dragged())
        && matches!(grip_at(pointer), Grip::Left | Grip::Right)
    {
        ui.set_cursor_icon(CursorIcon::ResizeHorizontal);
    }
    let pressed = ui
        .input(|input| input.pointer.press_origin())
        .map(|at| at.x);
    if response.drag_started() {
        let grip = grip_at(pressed.or(pointer)?);
        ui.data_mut(|data| data.insert_temp(response.id, grip));
    }
    let grip = if response.clicked() {
        Grip::Middle((to - from) / 2.0)
    } else if response.dragged() {
        ui.data(|data| data.get_temp::<Grip>(response.id))?
    } else {
        return None;
    };
    let here = at(pointer?);
    Some(match grip {
        Grip::Middle(off) => (here - off, here - off + (to - from)),
        Grip::Left => (here.min(to - (to - from) * 1e-3), to),
        Grip::Right => (from, here.max(from + (to - from) * 1e-3)),
    })
}

/// The middle of the mark of a bin: near its beginning, where its transactions begin.
fn middle(map: &Minimap, area: Rect, bin: usize) -> f32 {
    let width = area.width() / map.density.len() as f32;
    area.left() + bin as f32 * width + (width / 2.0).min(2.0)
}

/// How much ran when, below the marks of anomalies.
fn mesh(map: &Minimap, area: Rect, palette: &Palette) -> Mesh {
    let mut mesh = Mesh::default();
    let width = area.width() / map.density.len() as f32;
    let x = |bin: usize| area.left() + bin as f32 * width;
    for (bin, share) in map
        .density
        .iter()
        .enumerate()
        .filter(|(_, share)| **share > 0.0)
    {
        let height = ((area.height() - MARKS - 2.0) * share.sqrt()).max(1.5);
        let bar = Rect::from_min_max(
            pos2(x(bin), area.bottom() - height),
            pos2(x(bin + 1), area.bottom()),
        );
        mesh.add_colored_rect(bar, palette.shade);
    }
    let most = map.marks.iter().map(|mark| mark.n).max().unwrap_or(1) as f32;
    for mark in &map.marks {
        let middle = middle(map, area, mark.bin);
        let bottom = area.top() + 3.0 + (MARKS - 3.0) * (mark.n as f32 / most).sqrt();
        let tick = Rect::from_x_y_ranges(middle - 1.0..=middle + 1.0, area.top() + 1.0..=bottom);
        mesh.add_colored_rect(tick, palette.bad);
    }
    mesh
}
