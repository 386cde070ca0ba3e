//! The legend below a graph.

use super::paint_relation;
use crate::app::command::{Request, Requests};
use crate::app::state::State;
use crate::app::style::{self, Palette};
use crate::relations::Relation;
use egui::{
    CornerRadius, FontId, Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2,
};
use std::collections::BTreeSet;

/// A lower graph has no room for it, in points.
const LOWEST: f32 = 90.0;

/// Height of the lines, of another row of them, and of a note above them.
const LINES: f32 = 36.0;
const ROW: f32 = 28.0;
const NOTE: f32 = 18.0;
/// Length of a sample of a line: more than one dash of each.
const SAMPLE: f32 = 40.0;
/// A graph of this height has room for two rows, in points.
const ROOMY: f32 = 260.0;

/// The meaning of each line, at the bottom of `area`; a click shows or hides the edges. Returns the rest of the area.
///
/// A note comes after the lines, or above them where there is no room.
pub(super) fn legend_ui(
    ui: &mut Ui,
    area: Rect,
    state: &State,
    present: &BTreeSet<Relation>,
    note: Option<&str>,
    requests: &mut Requests,
) -> Rect {
    if area.height() < LOWEST || (present.is_empty() && note.is_none()) {
        return area;
    }
    let rest = |height: f32| area.with_max_y(area.bottom() - height);
    let palette = Palette::of(ui);
    let present: Vec<Relation> = Relation::ALL
        .into_iter()
        .filter(|relation| present.contains(relation))
        .collect();
    let named = |relation: &Relation| format!("{} {}", relation.code(), relation.name());
    let small = FontId::proportional(style::SMALL);
    let width = |text: String| {
        ui.painter()
            .layout_no_wrap(text, small.clone(), palette.text)
            .size()
            .x
            + SAMPLE
            + 30.0
    };
    let widths: Vec<f32> = present
        .iter()
        .map(|relation| width(named(relation)))
        .collect();
    let breaks = if area.height() < ROOMY {
        None
    } else {
        second_row(&widths, area.width() - 10.0)
    };
    // Letters alone where there is little room.
    let is_named = widths.iter().sum::<f32>() <= area.width() - 10.0 || breaks.is_some();
    let (mut left, n_rows) = (area.left() + 10.0, if breaks.is_some() { 2 } else { 1 });
    let mut bottom = area.bottom() - ROW * (n_rows - 1) as f32;
    for (place, relation) in present.into_iter().enumerate() {
        if breaks == Some(place) {
            (left, bottom) = (area.left() + 10.0, area.bottom());
        }
        let text = if is_named {
            named(&relation)
        } else {
            relation.code().to_owned()
        };
        let shown = !state.hidden.contains(&relation);
        let colour = if shown {
            palette.text
        } else {
            palette.weak.gamma_multiply(0.6)
        };
        let galley =
            ui.painter()
                .layout_no_wrap(text.clone(), FontId::proportional(style::SMALL), colour);
        let size = vec2(galley.size().x + SAMPLE + 24.0, 22.0);
        if left + size.x > area.right() {
            break;
        }
        let item = Rect::from_min_size(pos2(left, bottom - ROW), size);
        left = item.right() + 6.0;
        let response = ui.interact(
            item,
            ui.id().with(("legend", relation.code())),
            Sense::click(),
        );
        let painter = ui.painter();
        if response.hovered() || response.has_focus() {
            let line = Stroke::new(1.0, palette.weak);
            let corners = CornerRadius::same(6);
            painter.rect(item, corners, palette.panel, line, StrokeKind::Inside);
        }
        let sample = Rect::from_min_max(
            item.min + vec2(8.0, 0.0),
            pos2(item.left() + 8.0 + SAMPLE, item.bottom()),
        );
        paint_relation(painter, sample, relation, &palette, shown);
        painter.galley(
            pos2(
                item.left() + 16.0 + SAMPLE,
                item.center().y - galley.size().y / 2.0,
            ),
            galley,
            colour,
        );
        response.widget_info(|| {
            WidgetInfo::selected(
                WidgetType::Checkbox,
                true,
                shown,
                format!("Show {}", named(&relation)),
            )
        });
        let hint = if shown {
            "Click to hide these edges"
        } else {
            "Click to show these edges"
        };
        if response
            .on_hover_text(format!("{}. {hint}", named(&relation)))
            .clicked()
        {
            requests.push(Request::ToggleRelation(relation));
        }
    }
    let lines = LINES + ROW * (n_rows - 1) as f32;
    let Some(note) = note else { return rest(lines) };
    let galley = style::cut(ui.painter(), note, small, palette.weak, area.width() - 24.0);
    let beside = pos2(left + 4.0, area.bottom() - 17.0 - galley.size().y / 2.0);
    let above = pos2(
        area.left() + 12.0,
        area.bottom() - lines + 4.0 - galley.size().y,
    );
    let is_beside = beside.x + galley.size().x <= area.right();
    let at = if is_beside { beside } else { above };
    let response = ui.interact(
        Rect::from_min_size(at, galley.size()),
        ui.id().with("legend note"),
        Sense::hover(),
    );
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, note));
    ui.painter().galley(at, galley, palette.weak);
    rest(if is_beside { lines } else { lines + NOTE })
}

/// The first of the lines that are in a second row, if one row is too short for their widths and two are not.
fn second_row(widths: &[f32], room: f32) -> Option<usize> {
    let all: f32 = widths.iter().sum();
    let mut before = 0.0;
    let first = widths.iter().position(|width| {
        before += width;
        before > room
    })?;
    (all > room && widths[first..].iter().sum::<f32>() <= room).then_some(first)
}
