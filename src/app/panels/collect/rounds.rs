//! The table of rounds: seeds of a hunt, or isolation levels side by side.

use super::progress::latency;
use crate::app::collecting::order::Purpose;
use crate::app::collecting::table::{Checked, CollectRun, FinishedRound, milliseconds};
use crate::app::command::{Request, Requests};
use crate::app::panels::{on_click, paint_cross, paint_tick};
use crate::app::style::{self, Palette, duration};
use crate::app::verdict_summary::Conclusion;
use crate::report::grouped;
use egui::{Color32, RichText, Sense, Ui, WidgetInfo, WidgetType, vec2};

pub(super) fn rounds_ui(ui: &mut Ui, run: &CollectRun, requests: &mut Requests) {
    if run.rows.is_empty() {
        return;
    }
    let palette = Palette::of(ui);
    let compares = run.purpose == Purpose::Compare;
    style::bold(
        ui,
        if compares { "Levels" } else { "Rounds" },
        style::HEADING,
        palette.strong,
    );
    let first = if compares { "isolation" } else { "seed" };
    let headings = [
        first,
        "promises",
        "committed",
        "aborted",
        "per second",
        "median",
        "p99",
        "checked in",
        "",
        "verdict",
    ];
    egui::Grid::new("rounds")
        .num_columns(headings.len())
        .spacing(vec2(14.0, 4.0))
        .show(ui, |ui| {
            headings
                .into_iter()
                .for_each(|heading| drop(style::note(ui, heading)));
            ui.end_row();
            // During a hunt the newest is the most interesting; levels are in the order of the database.
            let mut places: Vec<usize> = (0..run.rows.len()).collect();
            if !compares {
                places.reverse();
            }
            for place in places {
                row_ui(ui, run, place, requests);
                ui.end_row();
            }
        });
    ui.add_space(8.0);
}

fn row_ui(ui: &mut Ui, run: &CollectRun, place: usize, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let Some(row) = run.rows.get(place) else {
        return;
    };
    let compares = run.purpose == Purpose::Compare;
    let name = row.name(run.purpose);
    let shown = if compares {
        row.isolation.clone()
    } else {
        row.seed.to_string()
    };
    ui.label(RichText::new(shown).color(palette.strong))
        .widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, spoken(row, &name)));
    ui.label(row.promise.map_or("nothing", |level| level.code()));
    match &row.snapshot {
        Some(s) => {
            let share = match s.abort_rate() {
                rate if rate > 0.0 && rate < 0.005 => "< 1".to_owned(),
                rate => format!("{:.0}", 100.0 * rate),
            };
            let share = format!("{} ({share} %)", grouped(s.aborted));
            let cells = [grouped(s.committed), share, grouped(s.throughput() as u64)];
            cells.into_iter().for_each(|text| drop(ui.label(text)));
            [s.median, s.slow]
                .into_iter()
                .for_each(|time| drop(ui.label(latency(milliseconds(time)))));
        }
        None => (0..5).for_each(|_| drop(ui.label(""))),
    }
    ui.label(
        row.checked
            .as_ref()
            .map_or(String::new(), |checked| duration(checked.seconds)),
    );
    match &row.path {
        Some(path) => {
            let response = ui.button("Open");
            response.widget_info(|| {
                WidgetInfo::labeled(WidgetType::Button, true, format!("Open {name}"))
            });
            on_click(
                &response.on_hover_text(path.display().to_string()),
                Request::OpenCollected(place),
                requests,
            );
        }
        None => drop(style::note(ui, "deleted")),
    }
    // Last, where a grid leaves it as much room as possible, because it may be long.
    verdict_ui(ui, row, compares);
}

/// A row in words.
fn spoken(row: &FinishedRound, name: &str) -> String {
    let verdict = match (&row.error, &row.checked) {
        (Some(error), _) => error.clone(),
        (None, Some(checked)) => checked.text(),
        (None, None) => "not checked".to_owned(),
    };
    let committed = row
        .snapshot
        .as_ref()
        .map_or(0, |snapshot| snapshot.committed);
    format!("Round {name}: {committed} committed, {verdict}")
}

fn verdict_ui(ui: &mut Ui, row: &FinishedRound, compares: bool) {
    let palette = Palette::of(ui);
    let Some(checked) = &row.checked else {
        let (text, colour) = match &row.error {
            Some(error) => (error.as_str(), palette.bad),
            None => ("not checked", palette.weak),
        };
        ui.add(egui::Label::new(RichText::new(text).color(colour)).truncate())
            .on_hover_text(text);
        return;
    };
    let (conclusion, text, colour) = conclusion_of(checked, &palette);
    // With levels side by side, a level that was not promised may well be violated.
    let expected = compares && conclusion == Conclusion::Broken && !row.breaks_promise();
    let colour = if expected { palette.text } else { colour };
    let response = ui.horizontal(|ui| {
        let (area, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
        match conclusion {
            Conclusion::Holds => paint_tick(ui.painter(), area.center(), 10.0, colour),
            Conclusion::Broken => paint_cross(ui.painter(), area.center(), 10.0, colour),
            Conclusion::Open => drop(ui.painter().circle_stroke(
                area.center(),
                4.0,
                egui::Stroke::new(1.4, colour),
            )),
        }
        ui.add(egui::Label::new(RichText::new(text).color(colour)).truncate());
    });
    let patterns = checked.patterns_text();
    response.response.on_hover_text(if patterns.is_empty() {
        checked.text()
    } else {
        patterns
    });
}

/// The verdict in a few words: the weakest violated level and the anomalies, or what is known to hold.
fn conclusion_of(checked: &Checked, palette: &Palette) -> (Conclusion, String, Color32) {
    if let Some(weakest) = checked.weakest() {
        let anomalies: u64 = checked.patterns.values().sum();
        let names: Vec<String> = checked
            .patterns
            .iter()
            .take(3)
            .map(|(p, n)| format!("{n} {p}"))
            .collect();
        let more = if checked.patterns.len() > 3 {
            ", …"
        } else {
            ""
        };
        let list = if anomalies > 0 {
            format!(": {}{more}", names.join(", "))
        } else {
            String::new()
        };
        return (
            Conclusion::Broken,
            format!("{weakest} violated{list}"),
            palette.bad,
        );
    }
    let open: Vec<&str> = checked
        .levels
        .iter()
        .filter(|(_, c)| *c == Conclusion::Open)
        .map(|(level, _)| level.code())
        .collect();
    match (open.is_empty(), checked.levels.as_slice()) {
        (false, _) => (
            Conclusion::Open,
            format!("{} undecided", open.join(", ")),
            palette.caution,
        ),
        (true, [(level, _)]) => (
            Conclusion::Holds,
            format!("{level} satisfied"),
            palette.good,
        ),
        (true, _) => (
            Conclusion::Holds,
            "every level satisfied".to_owned(),
            palette.good,
        ),
    }
}
