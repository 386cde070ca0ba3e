//! The table of a folder of histories.

use super::comparison::comparison_ui;
use super::verdict_columns::{elided, level_codes, levels_ui};
use super::{on_click, on_menu_click, small_cycle};
use crate::app::batch::{Batch, Column, Outcome};
use crate::app::command::{Command, Request, Requests};
use crate::app::style::{self, Palette, ROW, counted_as, duration};
use crate::diagram::text_size::elide;
use crate::report::grouped;
use egui::{
    Align2, CornerRadius, FontId, Key, Modifiers, Rect, ScrollArea, Sense, Ui, WidgetInfo,
    WidgetType, pos2, vec2,
};

/// Share of the width that each column takes.
const SHARES: [f32; 6] = [0.28, 0.08, 0.24, 0.06, 0.29, 0.05];

/// About the width of a letter of a name, in points.
const LETTER: f32 = 7.0;

/// Width of the picture of a signature, in points.
const PICTURE: f32 = 84.0;

pub(crate) fn batch_ui(ui: &mut Ui, batch: &Batch, focus_filter: bool, requests: &mut Requests) {
    if let [a, b] = batch.compared[..] {
        return comparison_ui(ui, batch, [a, b], requests);
    }
    title_ui(ui, batch, focus_filter, requests);
    keys(ui, batch, requests);
    let widths = SHARES.map(|share| (ui.available_width() - 12.0) * share);
    head_ui(ui, batch, &widths, requests);
    ui.spacing_mut().item_spacing.y = 0.0;
    let rows = ScrollArea::vertical().id_salt("batch").auto_shrink(false);
    rows.show_rows(ui, ROW + 3.0, batch.order.len(), |ui, range| {
        range.for_each(|place| row_ui(ui, batch, place, &widths, requests));
    });
}

/// The folder, how far its histories are, and how they are listed.
fn title_ui(ui: &mut Ui, batch: &Batch, focus_filter: bool, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        style::bold_line(
            ui,
            &format!("Histories in {}", batch.folder.display()),
            style::HEADING,
            palette.strong,
        );
        let progress = if batch.done {
            histories(batch.rows.len())
        } else {
            format!(
                "{} of {} checked",
                grouped(batch.n_known() as u64),
                grouped(batch.rows.len() as u64)
            )
        };
        style::note(ui, progress);
        if !batch.done
            && ui
                .button("Cancel")
                .on_hover_text(super::tooltip(Command::Escape))
                .clicked()
        {
            requests.push(Request::Stop);
        }
        let mut filter = batch.filter.clone();
        let field = egui::TextEdit::singleline(&mut filter)
            .hint_text("filter: name, TAP-k, si:violated, failed")
            .margin(egui::Margin::symmetric(8, 5))
            .desired_width(280.0);
        let response = ui.add(field);
        response
            .widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "Filter histories"));
        if focus_filter {
            response.request_focus();
        }
        if response.changed() {
            requests.push(Request::BatchFilter(filter));
        }
        let group = egui::Button::selectable(batch.grouped, "Group similar");
        on_click(
            &ui.add(group)
                .on_hover_text(super::tooltip(Command::GroupBy)),
            Request::GroupHistories,
            requests,
        );
        style::note(ui, "click opens, Shift+click compares two");
    });
}

fn histories(n: usize) -> String {
    counted_as(n, "history", "histories")
}

fn keys(ui: &Ui, batch: &Batch, requests: &mut Requests) {
    // An overlay above the table gets the keys.
    let covered =
        ui.memory(|memory| memory.focused().is_some() || memory.top_modal_layer().is_some());
    if !covered
        && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter))
        && let Some(row) = batch
            .order
            .get(batch.chosen)
            .and_then(|&row| batch.rows.get(row))
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
        let response = ui.interact(
            cell,
            ui.id().with(("column", column.title())),
            Sense::click(),
        );
        // Groups have an order of their own.
        let sorted = batch.sort == column && !batch.grouped;
        let arrow = match (sorted, batch.descending) {
            (false, _) => "",
            (true, false) => " ▲",
            (true, true) => " ▼",
        };
        let colour = if sorted || response.hovered() {
            palette.accent
        } else {
            palette.weak
        };
        let font = FontId::proportional(style::SMALL);
        let text = if column == Column::Verdict {
            arrow.to_owned()
        } else {
            format!("{}{arrow}", column.title())
        };
        let at = if column == Column::Verdict {
            cell.left_center() - vec2(14.0, 0.0)
        } else {
            cell.left_center()
        };
        ui.painter()
            .text(at, Align2::LEFT_CENTER, text.trim_start(), font, colour);
        if column == Column::Verdict {
            level_codes(ui, batch.levels(), cell);
        }
        response.widget_info(|| {
            WidgetInfo::labeled(
                WidgetType::Button,
                true,
                format!("Sort by {}", column.title()),
            )
        });
        if response
            .on_hover_text("Sort by this; click again to reverse")
            .clicked()
        {
            requests.push(Request::BatchSort(column));
        }
    }
}

fn row_ui(ui: &mut Ui, batch: &Batch, place: usize, widths: &[f32; 6], requests: &mut Requests) {
    let palette = Palette::of(ui);
    let Some((at, row)) = batch
        .order
        .get(place)
        .and_then(|&at| batch.rows.get(at).map(|row| (at, row)))
    else {
        return;
    };
    let (area, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), ROW + 3.0), Sense::click());
    let corners = CornerRadius::same(4);
    if batch.compared.contains(&at) {
        ui.painter().rect_filled(area, corners, palette.selected);
    } else if response.hovered() {
        ui.painter().rect_filled(area, corners, palette.hovered);
    }
    if place == batch.chosen {
        // What the keyboard is at has a frame; what the pointer is at is filled.
        ui.painter().rect_stroke(
            area,
            corners,
            (1.5, palette.accent),
            egui::StrokeKind::Inside,
        );
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
        ui.painter_at(clip).text(
            pos2(lefts[column], area.center().y),
            Align2::LEFT_CENTER,
            text,
            font,
            colour,
        );
    };
    match batch.alike.get(place) {
        Some(&n) if n > 1 => {
            text(
                0,
                &format!("{}, smallest: {}", histories(n), row.name),
                palette.text,
            );
        }
        // Names often differ at their ends: of long ones the middle is left out.
        _ => text(
            0,
            &elide(&row.name, (widths[0] / LETTER) as usize),
            palette.text,
        ),
    }
    let spoken = match &row.outcome {
        Outcome::Waiting => {
            text(2, "…", palette.weak);
            "not checked yet".to_owned()
        }
        Outcome::Failed(message) => {
            let room = Rect::from_min_max(pos2(lefts[1], area.top()), area.max);
            let font = FontId::proportional(style::SMALL);
            ui.painter_at(room).text(
                room.left_center(),
                Align2::LEFT_CENTER,
                message,
                font,
                palette.bad,
            );
            format!("failed: {message}")
        }
        Outcome::Checked(checked) => {
            text(1, &grouped(checked.transactions as u64), palette.weak);
            levels_ui(
                ui,
                Rect::from_min_size(pos2(lefts[2], area.top()), vec2(widths[2], area.height())),
                batch.levels(),
                checked,
            );
            text(3, &grouped(checked.causes()), palette.text);
            let smallest = checked.in_words();
            let picture =
                Rect::from_min_size(pos2(lefts[4], area.top()), vec2(PICTURE, area.height()));
            let is_told = checked.findings.0.is_empty();
            if let Some(signature) = checked.smallest.as_ref().filter(|_| is_told) {
                small_cycle(ui.painter(), &palette, picture, &signature.cycle);
            }
            let room = Rect::from_min_max(
                pos2(picture.right() + 8.0, area.top()),
                pos2(lefts[5] - 6.0, area.bottom()),
            );
            elided(ui, room, &smallest);
            text(5, &duration(checked.seconds), palette.weak);
            let weakest = checked
                .weakest_broken()
                .map_or("nothing violated".to_owned(), |l| format!("{l} violated"));
            if smallest.is_empty() {
                weakest
            } else {
                format!("{weakest}, {smallest}")
            }
        }
    };
    let name = format!("History {}: {spoken}", row.name);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &name));
    if response.clicked() {
        if ui.input(|input| input.modifiers.shift) {
            requests.push(Request::Compare(at))
        } else {
            requests.push(Request::OpenFile(row.path.clone()))
        }
    }
    response.context_menu(|ui| {
        if ui.button("Open").clicked() {
            requests.push(Request::OpenFile(row.path.clone()));
            ui.close();
        }
        on_menu_click(&ui.button("Compare"), ui, Request::Compare(at), requests);
    });
    response.on_hover_text(name);
}
