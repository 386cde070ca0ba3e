//! Two histories side by side: verdicts, counts by pattern, and which anomalies went and came.

use super::verdict_columns::{elided, level_codes, levels_ui};
use crate::app::batch::{
    Batch, BatchRow, Checked, ComparedKey, ComparedKeys, Outcome, patterns_of,
};
use crate::app::command::{Request, Requests};
use crate::app::style::{self, Palette, ROW};
use crate::app::tree::pattern_text;
use crate::app::verdict_summary::Conclusion;
use crate::checkers::{Level, ViolationId};
use crate::report::grouped;
use egui::{
    Align2, Color32, FontId, Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, pos2,
    vec2,
};
use std::path::PathBuf;

/// Width of the two columns of counts, in points.
const COUNT: f32 = 80.0;

pub(super) fn comparison_ui(
    ui: &mut Ui,
    batch: &Batch,
    compared: [usize; 2],
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        style::bold_line(ui, "Compared", style::HEADING, palette.strong);
        if ui
            .button("Back to the table")
            .on_hover_text("Back to the table of all histories (Esc)")
            .clicked()
        {
            requests.push(Request::EndComparison);
        }
    });
    let [Some(first), Some(second)] = compared.map(|row| batch.rows.get(row)) else {
        return;
    };
    heads_ui(ui, [first, second], requests);
    ui.add_space(10.0);
    let (Outcome::Checked(left), Outcome::Checked(right)) = (&first.outcome, &second.outcome)
    else {
        return;
    };
    for (text, is_better) in judgements(left, right) {
        ui.colored_label(if is_better { palette.good } else { palette.bad }, text);
    }
    ui.add_space(6.0);
    ScrollArea::vertical()
        .id_salt("comparison")
        .auto_shrink(false)
        .show(ui, |ui| {
            patterns_ui(ui, left, right);
            ui.add_space(14.0);
            keys_ui(ui, batch, [first, second], requests);
        });
}

/// The two histories with their verdicts, one below the other.
fn heads_ui(ui: &mut Ui, rows: [&BatchRow; 2], requests: &mut Requests) {
    let palette = Palette::of(ui);
    let name_width = (ui.available_width() * 0.4).min(520.0);
    let levels_width = ui.available_width() - name_width - 2.0 * COUNT;
    let (area, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    let levels_at = |area: Rect| {
        Rect::from_min_size(
            pos2(area.left() + name_width + COUNT, area.top()),
            vec2(levels_width, area.height()),
        )
    };
    let checked = rows.iter().filter_map(|row| row.checked());
    let levels = checked
        .flat_map(|checked| checked.conclusions.iter().map(|(level, _)| *level))
        .collect();
    level_codes(ui, levels, levels_at(area));
    let font = FontId::proportional(style::SMALL);
    let at = pos2(area.left() + name_width, area.center().y);
    ui.painter()
        .text(at, Align2::LEFT_CENTER, "transactions", font, palette.weak);
    for (row, place) in rows.into_iter().zip(["before", "after"]) {
        let (area, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), ROW + 4.0), Sense::click());
        if response.hovered() {
            ui.painter().rect_filled(area, 4, palette.hovered);
        }
        let write = |x: f32, text: &str, colour: Color32| {
            let room = Rect::from_min_max(
                pos2(x, area.top()),
                pos2(area.left() + name_width - 8.0, area.bottom()),
            );
            let at = pos2(x, area.center().y);
            ui.painter_at(room).text(
                at,
                Align2::LEFT_CENTER,
                text,
                FontId::proportional(style::BODY),
                colour,
            );
        };
        write(area.left() + 6.0, place, palette.weak);
        write(area.left() + 62.0, &row.name, palette.strong);
        let after_name = pos2(area.left() + name_width, area.center().y);
        let said = match &row.outcome {
            Outcome::Checked(checked) => {
                let text = grouped(checked.transactions as u64);
                let font = FontId::proportional(style::BODY);
                ui.painter()
                    .text(after_name, Align2::LEFT_CENTER, text, font, palette.text);
                levels_ui(ui, levels_at(area), levels, checked);
                checked
                    .weakest_broken()
                    .map_or("nothing violated".to_owned(), |level| {
                        format!("{level} violated")
                    })
            }
            Outcome::Waiting => "being checked…".to_owned(),
            Outcome::Failed(why) => why.clone(),
        };
        if !matches!(row.outcome, Outcome::Checked(_)) {
            ui.painter().text(
                after_name,
                Align2::LEFT_CENTER,
                &said,
                FontId::proportional(style::BODY),
                palette.bad,
            );
        }
        let name = format!("Open {place}: {}, {said}", row.name);
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &name));
        if response.on_hover_text(name).clicked() {
            requests.push(Request::OpenFile(row.path.clone()));
        }
    }
}

/// What the change did to the verdicts, and whether that is better.
fn judgements(left: &Checked, right: &Checked) -> Vec<(String, bool)> {
    let became = |conclusion: Conclusion| -> Vec<&str> {
        let is = |c: &Checked, level: Level, conclusion| c.conclusion(level) == Some(conclusion);
        let both = [Conclusion::Holds, Conclusion::Broken];
        let changed = right.conclusions.iter().filter(|(level, now)| {
            *now == conclusion
                && both
                    .iter()
                    .any(|before| *before != conclusion && is(left, *level, *before))
        });
        changed.map(|(level, _)| level.code()).collect()
    };
    let said = |levels: Vec<&str>, what: &str, is_better| {
        (!levels.is_empty()).then(|| (format!("{what}: {}", levels.join(", ")), is_better))
    };
    let worse = said(
        became(Conclusion::Broken),
        "Violated only after the change",
        false,
    );
    let better = said(
        became(Conclusion::Holds),
        "Violated only before the change",
        true,
    );
    worse.into_iter().chain(better).collect()
}

/// How a number changed, and whether for the better.
fn change(palette: &Palette, [before, after]: [u64; 2]) -> (&'static str, Color32) {
    match (before, after) {
        (0, _) => ("new", palette.bad),
        (_, 0) => ("gone", palette.good),
        _ if after > before => ("more", palette.bad),
        _ if after < before => ("fewer", palette.good),
        _ => ("same", palette.weak),
    }
}

/// One line of a table: how a count changed, the counts, and what is counted, drawn by the caller.
fn line_ui(
    ui: &mut Ui,
    counts: [u64; 2],
    what: &str,
    draw: impl FnOnce(&Ui, Rect),
) -> egui::Response {
    let palette = Palette::of(ui);
    let (word, colour) = change(&palette, counts);
    let (area, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), ROW + 2.0), Sense::click());
    if response.hovered() {
        ui.painter().rect_filled(area, 4, palette.hovered);
    }
    let font = FontId::proportional(style::BODY);
    ui.painter().text(
        area.left_center() + vec2(6.0, 0.0),
        Align2::LEFT_CENTER,
        word,
        font.clone(),
        colour,
    );
    for (place, count) in counts.into_iter().enumerate() {
        let right = pos2(
            area.left() + 50.0 + COUNT * (place + 1) as f32,
            area.center().y,
        );
        ui.painter().text(
            right,
            Align2::RIGHT_CENTER,
            grouped(count),
            font.clone(),
            palette.text,
        );
    }
    let rest = Rect::from_min_max(pos2(area.left() + 74.0 + 2.0 * COUNT, area.top()), area.max);
    draw(ui, rest);
    let spoken = format!("{what}: {word}, {} before, {} after", counts[0], counts[1]);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &spoken));
    response
}

fn table_head(ui: &mut Ui, title: &str) {
    let palette = Palette::of(ui);
    style::bold_line(ui, title, style::BODY, palette.strong);
    let (area, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    for (place, word) in ["before", "after"].into_iter().enumerate() {
        let right = pos2(
            area.left() + 50.0 + COUNT * (place + 1) as f32,
            area.center().y,
        );
        let font = FontId::proportional(style::SMALL);
        ui.painter()
            .text(right, Align2::RIGHT_CENTER, word, font, palette.weak);
    }
}

/// Anomalies by pattern.
fn patterns_ui(ui: &mut Ui, left: &Checked, right: &Checked) {
    let patterns = patterns_of(left, right);
    if patterns.is_empty() {
        style::note(ui, "Neither has an anomaly.");
        return;
    }
    table_head(ui, "Anomalies by class");
    counted_ui(ui, [left.causes, right.causes], "all, by cause");
    for (pattern, before, after) in patterns {
        let (row, name) = (pattern.row(), pattern_text(pattern, "  "));
        counted_ui(ui, [before, after], &name).on_hover_text(row.meaning);
    }
}

/// One line of a table that says what is counted.
fn counted_ui(ui: &mut Ui, counts: [u64; 2], what: &str) -> egui::Response {
    line_ui(ui, counts, what, |ui, area| {
        let (font, text) = (FontId::proportional(style::BODY), Palette::of(ui).text);
        let at = area.left_center();
        ui.painter().text(at, Align2::LEFT_CENTER, what, font, text);
    })
}

/// Lines of this table.
const MOST: usize = 60;

/// Which anomalies went and came, by class and key.
fn keys_ui(ui: &mut Ui, batch: &Batch, rows: [&BatchRow; 2], requests: &mut Requests) {
    let Some(ComparedKeys { keys, others }) = &batch.keys else {
        ui.horizontal(|ui| {
            ui.spinner();
            style::note(ui, "Looking for the keys of the anomalies…");
        });
        return;
    };
    if keys.is_empty() {
        return;
    }
    table_head(ui, "By class and key: a click opens one");
    for of in keys.iter().take(MOST) {
        key_ui(ui, of, rows, requests);
    }
    if keys.len() > MOST {
        style::note(
            ui,
            format!("and {} more", grouped((keys.len() - MOST) as u64)),
        );
    }
    if *others != [0, 0] {
        let [before, after] = others.map(grouped);
        let text = format!("Counted above, but not listed by key: {before} before, {after} after");
        style::note(ui, text);
    }
}

/// Anomalies of a class on a key; a click opens the first, after the change if there is one.
fn key_ui(ui: &mut Ui, of: &ComparedKey, rows: [&BatchRow; 2], requests: &mut Requests) {
    let text = format!("{} · {}", pattern_text(of.pattern, "  "), of.key);
    let response = line_ui(ui, of.counts, &text, |ui, area| elided(ui, area, &text));
    let place = usize::from(of.first[1].is_some());
    let Some(id) = of.first[place] else { return };
    let response = response.on_hover_text(format!(
        "{text}\nA click opens {id} of {}",
        rows[place].name
    ));
    response.context_menu(|ui| {
        for (row, id) in rows.into_iter().zip(of.first) {
            let Some(id) = id else { continue };
            if ui
                .button(RichText::new(format!("Open {id} of {}", row.name)))
                .clicked()
            {
                requests.push(Request::OpenFile(link(row, id)));
                ui.close();
            }
        }
    });
    if response.clicked() {
        requests.push(Request::OpenFile(link(rows[place], id)));
    }
}

/// The link to an anomaly of a history.
fn link(row: &BatchRow, id: ViolationId) -> PathBuf {
    PathBuf::from(format!("{}#{id}", row.path.display()))
}
