//! Which transaction depends on which: rows depend on columns. For components too large to be drawn as a graph.

use crate::app::command::{Request, Requests};
use crate::app::group_graph::{Cell, NodeTarget, Table};
use crate::app::state::Document;
use crate::app::style::{self, Palette};
use crate::app::vocabulary::{Attention, Page};
use crate::diagram::text_size::elide;
use crate::history::{History, TransactionId};
use egui::{
    Align2, CornerRadius, FontId, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2,
};
use std::collections::BTreeMap;

/// Width of the row names and height of the column names.
const NAMES: f32 = 96.0;
/// Maximum number of cells that get a name for screen readers.
const NAMED: usize = 400;

/// Draws the page.
pub fn matrix_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let Some(history) = &document.history else {
        style::note(ui, "Reading…");
        return;
    };
    head_ui(ui, document, requests);
    if document.whole_group && document.group.is_none() && super::failed_ui(ui, document, Page::Matrix) {
        return;
    }
    let own = if document.whole_group { None } else { of_anomaly(document) };
    let table = match &document.group {
        Some(group) if document.whole_group => Some(&group.table),
        None if document.whole_group && document.gathers() => {
            style::note(ui, "Gathering…");
            return;
        }
        _ => own.as_ref(),
    };
    match table {
        Some(table) if !table.cells.is_empty() => table_ui(ui, history, document, table, requests),
        Some(_) => {
            drop(style::note(ui, "The operations alone contradict the level: no transaction depends on another."))
        }
        None => drop(style::note(ui, "Select an anomaly to see who depends on whom.")),
    }
}

fn head_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    ui.horizontal(|ui| {
        super::group::scope_ui(ui, document, requests);
        let note = match document.whole_group {
            true => super::group::size(document),
            false => "an edge goes from its row to its column".to_owned(),
        };
        style::note(ui, note);
    });
    ui.add_space(4.0);
}

fn of_anomaly(document: &Document) -> Option<Table> {
    let picture = document.current_picture()?;
    let example = &picture.argument.counterexample;
    let edges = &example.violation.edges;
    let mut ends: Vec<TransactionId> = edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
    ends.sort_by_key(|t| (!t.is_initial(), *t));
    ends.dedup();
    let places: BTreeMap<TransactionId, usize> = ends.iter().enumerate().map(|(at, t)| (*t, at)).collect();
    let place = |t: TransactionId| places.get(&t).copied().unwrap_or(0);
    let mut cells: BTreeMap<(usize, usize), Cell> = BTreeMap::new();
    for (index, edge) in edges.iter().enumerate() {
        cells.entry((place(edge.from), place(edge.to))).or_default().push((edge.relation, NodeTarget::Edge(index)));
    }
    let transactions = ends.iter().map(|t| example.renaming.old_transaction(*t)).collect();
    Some(Table { transactions, cells })
}

fn table_ui(ui: &mut Ui, history: &History, document: &Document, table: &Table, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let n = table.transactions.len();
    let room = ui.available_size() - vec2(NAMES + 20.0, NAMES + 20.0);
    let size = (room.min_elem() / n as f32).clamp(16.0, 200.0);
    let attended = document.attended();
    let name = |t: TransactionId| if t.is_initial() { "initial".to_owned() } else { history.transaction_name(t) };
    ScrollArea::both().id_salt("matrix").auto_shrink(false).show_viewport(ui, |ui, viewport| {
        ui.set_width(NAMES + n as f32 * size + 8.0);
        ui.set_height(NAMES + n as f32 * size + 8.0);
        let origin = ui.min_rect().min + vec2(NAMES, NAMES);
        let sight = |from: f32, to: f32| {
            let end = (((to - NAMES) / size).ceil().max(0.0) as usize + 1).min(n);
            // The view may still be at a position in a larger table.
            (((from - NAMES) / size).floor().max(0.0) as usize).min(end)..end
        };
        let (rows, columns) = (sight(viewport.top(), viewport.bottom()), sight(viewport.left(), viewport.right()));
        let line = Stroke::new(1.0, palette.line.gamma_multiply(0.7));
        for place in rows.start..=rows.end.min(n) {
            let y = origin.y + place as f32 * size;
            ui.painter().hline(origin.x..=origin.x + n as f32 * size, y, line);
        }
        for place in columns.start..=columns.end.min(n) {
            let x = origin.x + place as f32 * size;
            ui.painter().vline(x, origin.y..=origin.y + n as f32 * size, line);
        }
        for row in rows.clone() {
            let t = table.transactions[row];
            let area = Rect::from_min_size(pos2(origin.x - NAMES, origin.y + row as f32 * size), vec2(NAMES, size));
            name_ui(ui, document, t, area, &elide(&name(t), 13), attended.contains(&t), requests);
        }
        for column in columns.clone() {
            let t = table.transactions[column];
            let colour = if attended.contains(&t) { palette.accent } else { palette.text };
            let font = FontId::monospace(style::SMALL);
            let galley = ui.painter().layout_no_wrap(elide(&name(t), 13), font, colour);
            let at = pos2(origin.x + (column as f32 + 0.5) * size - galley.size().y / 2.0, origin.y - 6.0);
            ui.painter().add(egui::epaint::TextShape::new(at, galley, colour).with_angle(-std::f32::consts::FRAC_PI_2));
        }
        let mut named = 0;
        for row in rows {
            for (&(_, column), cell) in table.cells.range((row, columns.start)..(row, columns.end)) {
                let at = origin + vec2(column as f32 * size, row as f32 * size);
                let area = Rect::from_min_size(at, vec2(size, size)).shrink(1.0);
                let ends = format!("from {} to {}", name(table.transactions[row]), name(table.transactions[column]));
                let seen = Seen { area, place: (row, column), cell, ends: &ends, named: named < NAMED };
                cell_ui(ui, document, seen, requests);
                named += 1;
            }
        }
    });
}

fn name_ui(
    ui: &Ui,
    document: &Document,
    t: TransactionId,
    area: Rect,
    name: &str,
    attended: bool,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let response = ui.interact(area, ui.id().with(("row", t.index())), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("Row {name}")));
    let colour = if attended || response.hovered() { palette.accent } else { palette.text };
    let font = FontId::monospace(style::SMALL);
    ui.painter().text(area.right_center() - vec2(8.0, 0.0), Align2::RIGHT_CENTER, name, font, colour);
    if t.is_initial() {
        return;
    }
    super::attend(&response, document, document.attention_of(t), requests);
}

/// A visible cell.
struct Seen<'a> {
    area: Rect,
    place: (usize, usize),
    cell: &'a Cell,
    /// Its two ends.
    ends: &'a str,
    /// Whether it has a name for screen readers.
    named: bool,
}

fn cell_ui(ui: &Ui, document: &Document, seen: Seen<'_>, requests: &mut Requests) {
    let Seen { area, place, cell, ends, named } = seen;
    let palette = Palette::of(ui);
    let codes: Vec<&str> = cell.iter().map(|(relation, _)| relation.code()).collect();
    let lit = cell.iter().any(|(_, stands)| match stands {
        NodeTarget::Edge(edge) => document.attention() == Some(Attention::Edge(*edge)),
        NodeTarget::Anomaly(id) => document.selected == Some(*id),
    });
    let height = area.height() / cell.len() as f32;
    for (at, (relation, _)) in cell.iter().enumerate() {
        let top = area.top() + at as f32 * height;
        let part = Rect::from_min_max(pos2(area.left(), top), pos2(area.right(), top + height)).shrink(0.5);
        let colour = palette.relation(*relation);
        ui.painter().rect(
            part,
            CornerRadius::same(3),
            palette.tint(colour),
            Stroke::new(1.4, colour),
            StrokeKind::Inside,
        );
        if part.width() > 20.0 && part.height() > 13.0 {
            let font = FontId::monospace((part.height() * 0.3).clamp(style::SMALL, style::TITLE));
            ui.painter().text(part.center(), Align2::CENTER_CENTER, relation.code(), font, colour);
        }
    }
    let response = ui.interact(area, ui.id().with(("cell", place)), Sense::click());
    if named {
        let text = format!("Cell {} {ends}", codes.join(" and "));
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &text));
    }
    if lit || response.hovered() {
        ui.painter().rect_stroke(area, CornerRadius::same(3), Stroke::new(2.0, palette.accent), StrokeKind::Outside);
    }
    let Some((_, first)) = cell.first() else { return };
    let hint = match first {
        NodeTarget::Edge(edge) => {
            super::attend(&response, document, Attention::Edge(*edge), requests);
            "Click to pin the edge"
        }
        NodeTarget::Anomaly(id) => {
            if response.clicked() {
                requests.push(Request::Select(*id));
            }
            "Click to show an anomaly with this edge"
        }
    };
    response.on_hover_text(format!("{} {ends}\n{hint}", codes.join(" and ")));
}
