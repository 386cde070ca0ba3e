//! The table of a folder of histories, and two of them side by side.

use super::{paint_cross, paint_tick};
use crate::app::batch::{Batch, Checked, Column, Outcome, patterns_of};
use crate::app::command::{Command, Request, Requests};
use crate::app::style::{self, Palette, ROW, counted, duration};
use crate::app::verdict_summary::Conclusion;
use crate::checkers::Level;
use crate::diagram::text_size::elide;
use crate::report::grouped;
use egui::{
    Align2, CornerRadius, FontId, Key, Modifiers, Rect, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, pos2, vec2,
};

/// Share of the width that each column takes.
const SHARES: [f32; 6] = [0.25, 0.09, 0.27, 0.08, 0.24, 0.07];

/// Draws the page.
pub fn batch_ui(ui: &mut Ui, batch: &Batch, focus_filter: bool, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        style::bold_line(ui, &format!("Histories in {}", batch.folder.display()), style::HEADING, palette.strong);
        let progress = match batch.done {
            true => counted(batch.rows.len(), "history").replace("historys", "histories"),
            false => format!("{} of {} checked", grouped(batch.n_known() as u64), grouped(batch.rows.len() as u64)),
        };
        style::note(ui, progress);
        if !batch.done && ui.button("Cancel").on_hover_text(super::tooltip(Command::Escape)).clicked() {
            requests.push(Request::Stop);
        }
        let mut filter = batch.filter.clone();
        let field = egui::TextEdit::singleline(&mut filter)
            .hint_text("filter: name, TAP-k, si:violated, failed")
            .margin(egui::Margin::symmetric(8, 5))
            .desired_width(280.0);
        let response = ui.add(field);
        response.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "Filter histories"));
        if focus_filter {
            response.request_focus();
        }
        if response.changed() {
            requests.push(Request::BatchFilter(filter));
        }
        style::note(ui, "a click opens, Shift and a click compares two");
    });
    keys(ui, batch, requests);
    let widths = SHARES.map(|share| (ui.available_width() - 12.0) * share);
    head_ui(ui, batch, &widths, requests);
    let below = if batch.compared.len() == 2 { 260.0 } else { 0.0 };
    let height = (ui.available_height() - below).max(80.0);
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical().id_salt("batch").auto_shrink(false).max_height(height).show_rows(
        ui,
        ROW + 3.0,
        batch.order.len(),
        |ui, range| range.for_each(|place| row_ui(ui, batch, place, &widths, requests)),
    );
    if let [a, b] = batch.compared[..] {
        compare_ui(ui, batch, a, b);
    }
}

fn keys(ui: &Ui, batch: &Batch, requests: &mut Requests) {
    // An overlay above the table gets the keys.
    let covered = ui.memory(|memory| memory.focused().is_some() || memory.top_modal_layer().is_some());
    if !covered
        && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter))
        && let Some(row) = batch.order.get(batch.chosen).and_then(|&row| batch.rows.get(row))
    {
        requests.push(Request::OpenFile(row.path.clone()));
    }
}

fn head_ui(ui: &mut Ui, batch: &Batch, widths: &[f32; 6], requests: &mut Requests) {
    let palette = Palette::of(ui);
    let (area, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    let mut x = area.left() + 6.0;
    for (column, width) in Column::ALL.into_iter().zip(widths) {
        let cell = Rect::from_min_size(pos2(x, area.top()), vec2(*width, ROW));
        x += width;
        let response = ui.interact(cell, ui.id().with(("column", column.title())), Sense::click());
        let sorted = batch.sort == column;
        let arrow = match (sorted, batch.descending) {
            (false, _) => "",
            (true, false) => " ▲",
            (true, true) => " ▼",
        };
        let colour = if sorted || response.hovered() { palette.accent } else { palette.weak };
        let font = FontId::proportional(style::SMALL);
        let text = format!("{}{arrow}", column.title());
        ui.painter().text(cell.left_center(), Align2::LEFT_CENTER, text, font, colour);
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("Sort by {}", column.title())));
        if response.on_hover_text("Sort by this, again for the other way round").clicked() {
            requests.push(Request::BatchSort(column));
        }
    }
}

fn row_ui(ui: &mut Ui, batch: &Batch, place: usize, widths: &[f32; 6], requests: &mut Requests) {
    let palette = Palette::of(ui);
    let Some((at, row)) = batch.order.get(place).and_then(|&at| batch.rows.get(at).map(|row| (at, row))) else {
        return;
    };
    let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW + 3.0), Sense::click());
    if batch.compared.contains(&at) {
        ui.painter().rect_filled(area, CornerRadius::same(4), palette.selected);
    } else if place == batch.chosen || response.hovered() {
        ui.painter().rect_filled(area, CornerRadius::same(4), palette.raised);
    }
    let mut lefts = [0.0; 6];
    let mut x = area.left() + 6.0;
    for (left, width) in lefts.iter_mut().zip(widths) {
        *left = x;
        x += width;
    }
    let text = |column: usize, text: &str, colour| {
        let clip = Rect::from_min_max(
            pos2(lefts[column], area.top()),
            pos2(lefts[column] + widths[column] - 6.0, area.bottom()),
        );
        let font = FontId::proportional(style::BODY);
        ui.painter_at(clip).text(pos2(lefts[column], area.center().y), Align2::LEFT_CENTER, text, font, colour);
    };
    text(0, &row.name, palette.text);
    let spoken = match &row.outcome {
        Outcome::Waiting => {
            text(2, "…", palette.weak);
            "not checked yet".to_owned()
        }
        Outcome::Failed(message) => {
            let room = Rect::from_min_max(pos2(lefts[1], area.top()), area.max);
            let font = FontId::proportional(style::SMALL);
            ui.painter_at(room).text(room.left_center(), Align2::LEFT_CENTER, message, font, palette.bad);
            format!("failed: {message}")
        }
        Outcome::Checked(checked) => {
            text(1, &grouped(checked.transactions as u64), palette.weak);
            levels_ui(
                ui,
                Rect::from_min_size(pos2(lefts[2], area.top()), vec2(widths[2], area.height())),
                batch,
                checked,
            );
            text(3, &grouped(checked.anomalies()), palette.text);
            let smallest = checked.smallest.as_ref().map(|signature| signature.text()).unwrap_or_default();
            text(4, &smallest, palette.text);
            text(5, &duration(checked.seconds), palette.weak);
            let weakest = checked.weakest_broken().map_or("nothing broken".to_owned(), |l| format!("{l} broken"));
            if smallest.is_empty() { weakest } else { format!("{weakest}, {smallest}") }
        }
    };
    let name = format!("History {}: {spoken}", row.name);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &name));
    if response.clicked() {
        match ui.input(|input| input.modifiers.shift) {
            true => requests.push(Request::Compare(at)),
            false => requests.push(Request::OpenFile(row.path.clone())),
        }
    }
    response.context_menu(|ui| {
        if ui.button("Open").clicked() {
            requests.push(Request::OpenFile(row.path.clone()));
            ui.close();
        }
        if ui.button("Compare").clicked() {
            requests.push(Request::Compare(at));
            ui.close();
        }
    });
    response.on_hover_text(name);
}

/// The codes of the levels, each in the colour of its verdict, with a tick or a cross.
fn levels_ui(ui: &Ui, area: Rect, batch: &Batch, checked: &Checked) {
    let palette = Palette::of(ui);
    let levels: Vec<Level> = batch.levels().iter().collect();
    let step = (area.width() - 8.0) / levels.len() as f32;
    for (place, level) in levels.into_iter().enumerate() {
        let Some(conclusion) = checked.conclusion(level) else { continue };
        let colour = palette.conclusion(conclusion);
        let centre = pos2(area.left() + step * (place as f32 + 0.4), area.center().y);
        let font = FontId::proportional(style::SMALL - 2.0);
        ui.painter().text(centre + vec2(0.0, 6.0), Align2::CENTER_CENTER, level.code(), font.clone(), colour);
        match conclusion {
            Conclusion::Holds => paint_tick(ui.painter(), centre - vec2(0.0, 5.0), 8.0, colour),
            Conclusion::Broken => paint_cross(ui.painter(), centre - vec2(0.0, 5.0), 8.0, colour),
            Conclusion::Open => {
                ui.painter().text(centre - vec2(0.0, 5.0), Align2::CENTER_CENTER, "?", font, colour);
            }
        }
    }
}

/// Two histories side by side: levels and patterns; what differs is marked.
fn compare_ui(ui: &mut Ui, batch: &Batch, a: usize, b: usize) {
    let palette = Palette::of(ui);
    ui.separator();
    let (Some(first), Some(second)) = (batch.rows.get(a), batch.rows.get(b)) else { return };
    let (Outcome::Checked(left), Outcome::Checked(right)) = (&first.outcome, &second.outcome) else {
        style::note(ui, "Both must have been checked to be compared.");
        return;
    };
    ScrollArea::vertical().id_salt("comparison").auto_shrink(false).show(ui, |ui| {
        egui::Grid::new("comparison").num_columns(3).spacing(vec2(26.0, 3.0)).show(ui, |ui| {
            style::bold_line(ui, "Compared", style::BODY, palette.strong);
            style::bold_line(ui, &elide(&first.name, 40), style::BODY, palette.strong);
            style::bold_line(ui, &elide(&second.name, 40), style::BODY, palette.strong);
            ui.end_row();
            let line = |ui: &mut Ui, what: &str, x: String, y: String| {
                let differs = x != y;
                let colour = if differs { palette.caution } else { palette.weak };
                let mark = if differs { "≠ " } else { "= " };
                let response = ui.colored_label(colour, format!("{mark}{what}"));
                let spoken = format!("{} {what}: {x} and {y}", if differs { "Differs" } else { "Same" });
                response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &spoken));
                ui.colored_label(colour, x);
                ui.colored_label(colour, y);
                ui.end_row();
            };
            line(ui, "transactions", grouped(left.transactions as u64), grouped(right.transactions as u64));
            let word = |c: &Checked, level| c.conclusion(level).map_or("not asked for", Conclusion::word).to_owned();
            for level in batch.levels().iter() {
                if left.conclusion(level).or(right.conclusion(level)).is_some() {
                    line(ui, level.code(), word(left, level), word(right, level));
                }
            }
            for (pattern, x, y) in patterns_of(left, right) {
                line(ui, pattern.row().title, grouped(x), grouped(y));
            }
        });
    });
}
