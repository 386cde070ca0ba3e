//! Checkers side by side: verdicts, times and memory.

use super::chart::{axis, chart_ui, series};
use super::{on_click, paint_conclusion, paint_cross, paint_tick, sweep};
use crate::app::checker_comparison::CheckerComparison;
use crate::app::checker_run::CheckerRun;
use crate::app::command::{Command, Request, Requests};
use crate::app::state::Document;
use crate::app::style::{self, Palette, duration};
use crate::checkers::{Checker, Level};
use crate::control::Stage;
use crate::export::chart::{Chart, Marks, Unit};
use egui::{RichText, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, vec2};

/// Width of the names of checkers.
const NAMES: f32 = 92.0;
/// A page of this width has room for what each checker needs.
const WIDE: f32 = 1300.0;

pub(crate) fn comparison_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let comparison = &document.comparison;
    choose_ui(ui, comparison, requests);
    if comparison.has_nothing() {
        let text = if comparison.is_sweep {
            "Choose checkers and what grows: a history is generated for each value, and each checker runs on it."
        } else {
            "Choose checkers and let them run on this history: the engines of this program, or algorithms as published."
        };
        style::note(ui, text);
        about_ui(ui, comparison, requests);
        return;
    }
    ScrollArea::vertical()
        .id_salt("contest")
        .auto_shrink(false)
        .show(ui, |ui| {
            if comparison.is_sweep {
                sweep::results_ui(ui, &comparison.sweep, requests);
                return;
            }
            table_ui(ui, comparison);
            ui.add_space(10.0);
            ui.columns(2, |columns| {
                let [left, right] = columns else { return };
                times_ui(left, comparison, requests);
                let [memory, processor] = comparison.charts();
                let about = "over the time since the start of each";
                chart_ui(right, &memory, about, "Plot of memory", requests);
                chart_ui(left, &processor, about, "Plot of processor time", requests);
                stages_ui(right, comparison);
            });
        });
}

fn chips_ui(ui: &mut Ui, comparison: &CheckerComparison, requests: &mut Requests) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(5.0, 5.0);
        for checker in Checker::ALL {
            let on = comparison.chosen.contains(&checker);
            let hint = format!("{}; decides {}", checker.about(), decides(checker));
            if ui
                .add(egui::Button::selectable(on, checker.name()))
                .on_hover_text(hint)
                .clicked()
            {
                requests.push(Request::ToggleChecker(checker));
            }
        }
    });
}

/// What there is to choose from, and whether it is for this history.
fn about_ui(ui: &mut Ui, comparison: &CheckerComparison, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ui.add_space(8.0);
    // Rows and columns share the page.
    let high = (ui.available_height() / (Checker::ALL.len() + 1) as f32 - 4.0).clamp(24.0, 64.0);
    let is_wide = ui.available_width() > WIDE;
    let mut columns = vec![("Algorithm", 4.0), ("Decides", 3.0)];
    columns.extend((comparison.is_sweep || is_wide).then_some(("Needs", 4.0)));
    columns.extend((!comparison.is_sweep).then_some(("On this history", 4.0)));
    let room = ui.available_width() - NAMES - 18.0 * (columns.len() + 1) as f32;
    let unit = room / columns.iter().map(|(_, share)| share).sum::<f32>();
    ScrollArea::vertical()
        .id_salt("about checkers")
        .auto_shrink(false)
        .show(ui, |ui| {
            let grid = egui::Grid::new("about checkers")
                .num_columns(columns.len() + 1)
                .min_row_height(high);
            grid.striped(true).spacing(vec2(18.0, 4.0)).show(ui, |ui| {
                style::frame_choices(ui);
                for name in std::iter::once("Checker").chain(columns.iter().map(|(name, _)| *name))
                {
                    style::bold_line(ui, name, style::BODY, palette.strong);
                }
                ui.end_row();
                for checker in Checker::ALL {
                    let mut on = comparison.chosen.contains(&checker);
                    on_click(
                        &ui.checkbox(&mut on, checker.name()),
                        Request::ToggleChecker(checker),
                        requests,
                    );
                    for (name, share) in &columns {
                        let middle = egui::Layout::left_to_right(egui::Align::Center);
                        ui.allocate_ui_with_layout(vec2(share * unit, high), middle, |ui| {
                            ui.set_width(share * unit);
                            let text = match *name {
                                "Algorithm" => RichText::new(checker.about()).color(palette.text),
                                "Decides" => RichText::new(decides(checker))
                                    .size(style::SMALL)
                                    .color(palette.weak),
                                "Needs" => RichText::new(checker.needs())
                                    .size(style::SMALL)
                                    .color(palette.weak),
                                _ => return here_ui(ui, comparison, checker),
                            };
                            ui.add(egui::Label::new(text).wrap());
                        });
                    }
                    ui.end_row();
                }
            });
        });
}

/// Whether a checker is for the open history, and why not.
fn here_ui(ui: &mut Ui, comparison: &CheckerComparison, checker: Checker) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        let (area, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
        let text = match comparison
            .obstacles
            .as_ref()
            .map(|obstacles| obstacles.get(&checker))
        {
            None => "…".to_owned(),
            Some(None) => {
                paint_tick(ui.painter(), area.center(), 10.0, palette.good);
                "can run".to_owned()
            }
            Some(Some(cause)) => {
                paint_cross(ui.painter(), area.center(), 10.0, palette.caution);
                format!("cannot run: {cause}")
            }
        };
        let response = ui.add(
            egui::Label::new(RichText::new(&text).size(style::SMALL).color(palette.text)).wrap(),
        );
        response.widget_info(|| {
            WidgetInfo::labeled(WidgetType::Label, true, format!("{checker} here: {text}"))
        });
    });
}

/// The levels of the strip that a checker decides; the engines of this program decide all there are.
fn decides(checker: Checker) -> String {
    let levels = checker.levels();
    let codes: Vec<&str> = levels
        .iter()
        .filter(|level| level.row().usual)
        .map(|level| level.code())
        .collect();
    match levels.len() - codes.len() {
        0 => codes.join(", "),
        more => format!("{} and {more} more", codes.join(", ")),
    }
}

fn choose_ui(ui: &mut Ui, comparison: &CheckerComparison, requests: &mut Requests) {
    ui.horizontal(|ui| {
        for (is_sweep, name, hint) in [
            (false, "This history", "Checkers on the open history"),
            (
                true,
                "Sweep",
                "Checkers on generated histories, one parameter of which grows",
            ),
        ] {
            let button = egui::Button::selectable(comparison.is_sweep == is_sweep, name);
            on_click(
                &ui.add(button).on_hover_text(hint),
                Request::Sweep(is_sweep),
                requests,
            );
        }
    });
    // Before there are results, the page lists them with what they are.
    if !comparison.has_nothing() {
        chips_ui(ui, comparison, requests);
    }
    if comparison.is_sweep {
        sweep::plan_ui(ui, &comparison.sweep, requests);
    }
    ui.horizontal(|ui| {
        match comparison.running {
            None => drop(super::command_button_ui(ui, Command::RunCheckers, requests)),
            Some((checker, value)) => {
                on_click(
                    &ui.button("Cancel")
                        .on_hover_text(super::tooltip(Command::Escape)),
                    Request::Stop,
                    requests,
                );
                ui.add(egui::Spinner::new().size(14.0));
                let at = value.map_or(String::new(), |value| format!(" at {value}"));
                style::note(ui, format!("{checker} is at work{at}…"));
            }
        }
        if !comparison.has_nothing() {
            for ending in ["csv", "svg"] {
                let name = format!("Save as {}", ending.to_uppercase());
                if ui
                    .button(name)
                    .on_hover_text("Written next to the history")
                    .clicked()
                {
                    requests.push(Request::WriteComparison(ending));
                }
            }
        }
    });
    ui.add_space(6.0);
}

/// A row per checker; levels on which two of them differ are emphasized.
fn table_ui(ui: &mut Ui, comparison: &CheckerComparison) {
    let palette = Palette::of(ui);
    let disputed = comparison.disputed();
    let shown: Vec<Level> = Level::ALL
        .into_iter()
        .filter(|level| {
            comparison
                .runs
                .iter()
                .any(|run| run.conclusion(*level).is_some())
        })
        .collect();
    egui::Grid::new("contest")
        .num_columns(shown.len() + 5)
        .spacing(vec2(14.0, 5.0))
        .show(ui, |ui| {
            style::bold_line(ui, "Checker", style::BODY, palette.strong);
            for level in &shown {
                let colour = if disputed.contains(level) {
                    palette.caution
                } else {
                    palette.weak
                };
                ui.colored_label(colour, level.code());
            }
            for heading in ["all", "index", "CPU", "memory"] {
                style::note(ui, heading);
            }
            ui.end_row();
            for run in &comparison.runs {
                ui.colored_label(palette.strong, run.checker.name());
                for level in &shown {
                    cell_ui(ui, run, *level, disputed.contains(level));
                }
                let spoken = format!("{} took {}", run.checker, duration(run.seconds));
                let response = ui.label(duration(run.seconds));
                response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &spoken));
                ui.label(duration(run.index_seconds));
                ui.label(run.cpu.map_or("?".to_owned(), duration));
                ui.label(format!("{:.1} MB", run.most_memory()));
                ui.end_row();
            }
        });
    let text = match (disputed.is_empty(), comparison.runs.len()) {
        (false, _) => {
            let codes: Vec<&str> = disputed.iter().map(|level| level.code()).collect();
            format!("They disagree about {}.", codes.join(", "))
        }
        (true, 1) => String::new(),
        (true, _) => "All checkers that reached a verdict agree.".to_owned(),
    };
    let colour = if disputed.is_empty() {
        palette.good
    } else {
        palette.caution
    };
    ui.colored_label(colour, text);
}

fn cell_ui(ui: &mut Ui, run: &CheckerRun, level: Level, disputed: bool) {
    let palette = Palette::of(ui);
    let (area, response) = ui.allocate_exact_size(vec2(30.0, 18.0), Sense::hover());
    let Some((_, verdict, seconds)) = run.levels.iter().find(|(other, ..)| *other == level) else {
        return;
    };
    let colour = palette.conclusion(*verdict);
    paint_conclusion(
        ui.painter(),
        area.center(),
        (10.0, style::BODY),
        *verdict,
        colour,
    );
    if disputed {
        let line = egui::Stroke::new(1.4, palette.caution);
        ui.painter().rect_stroke(
            area,
            egui::CornerRadius::same(4),
            line,
            egui::StrokeKind::Inside,
        );
    }
    let mut text = format!(
        "{} on {level}: {} in {}",
        run.checker,
        verdict.word(),
        duration(*seconds)
    );
    if let Some(cause) = run.causes.get(&level) {
        text.push_str(&format!(" ({cause})"));
    }
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &text));
    response.on_hover_text(text);
}

fn times_ui(ui: &mut Ui, comparison: &CheckerComparison, requests: &mut Requests) {
    let runs = || comparison.runs.iter().enumerate();
    let index = |run: &CheckerRun| run.index_seconds.min(run.seconds);
    let chart = Chart {
        title: "Time".to_owned(),
        x: axis("checker", Unit::Number),
        y: axis("time", Unit::Seconds),
        series: vec![
            series("index", runs().map(|(at, run)| (at as f64, index(run)))),
            series(
                "levels",
                runs().map(|(at, run)| (at as f64, run.seconds - index(run))),
            ),
        ],
        marks: Marks::Bars(
            comparison
                .runs
                .iter()
                .map(|run| run.checker.to_string())
                .collect(),
        ),
        bands: Vec::new(),
    };
    chart_ui(
        ui,
        &chart,
        "of the index, and above it of the levels",
        "Plot of times",
        requests,
    );
}

/// Time of each stage, where a checker has stages.
fn stages_ui(ui: &mut Ui, comparison: &CheckerComparison) {
    let palette = Palette::of(ui);
    style::bold(ui, "Stages", style::HEADING, palette.strong);
    style::note(
        ui,
        "of what PC, SI, SER and SSER need, on all threads together",
    );
    egui::Grid::new("stages")
        .num_columns(Stage::ALL.len() + 1)
        .spacing(vec2(18.0, 5.0))
        .show(ui, |ui| {
            ui.label("");
            for stage in Stage::ALL {
                style::note(ui, stage.name());
            }
            ui.end_row();
            for run in comparison
                .runs
                .iter()
                .filter(|run| run.stages.iter().any(|seconds| *seconds > 0.0))
            {
                ui.colored_label(palette.strong, run.checker.name());
                for (stage, seconds) in Stage::ALL.into_iter().zip(run.stages) {
                    let said = format!(
                        "{} spent {} on {}",
                        run.checker,
                        duration(seconds),
                        stage.name()
                    );
                    let response = ui.label(duration(seconds));
                    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &said));
                }
                ui.end_row();
            }
        });
}
