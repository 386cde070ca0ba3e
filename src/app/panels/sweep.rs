//! Checkers on generated histories of growing size: the plan, and times and memory over the parameter.

use super::chart::chart_ui;
use crate::app::checker_run::CheckerRun;
use crate::app::command::{Request, Requests};
use crate::app::style::{self, Palette, duration};
use crate::app::sweep::{Parameter, Plan, Sweep};
use crate::app::verdict_summary::Conclusion;
use crate::checkers::Checker;
use crate::generate::{Kind, Length, Model};
use egui::{ComboBox, DragValue, Response, TextEdit, Ui, WidgetInfo, WidgetType, vec2};
use std::collections::BTreeSet;

/// Draws the plan: parameter, values and the rest of the workload.
pub(super) fn plan_ui(ui: &mut Ui, sweep: &Sweep, requests: &mut Requests) {
    let mut plan = sweep.plan.clone();
    ui.horizontal_wrapped(|ui| {
        ui.label("Growing");
        let shown = plan.parameter.name();
        let parameter = choice(ui, "Parameter of the sweep", &mut plan.parameter, Parameter::name, &Parameter::ALL);
        if parameter && plan.parameter.name() != shown {
            plan.values = plan.parameter.usual().to_owned();
        }
        let field = ui.add(TextEdit::singleline(&mut plan.values).desired_width(180.0));
        field.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "Values of the sweep"));
        field.on_hover_text("Whole numbers, separated by commas; a history is made for each");
        ui.label("on workload");
        choice(ui, "Workload of the sweep", &mut plan.workload.kind, Kind::name, &Kind::ALL);
        ui.label("and store");
        choice(ui, "Store of the sweep", &mut plan.store, Model::name, &Model::ALL);
        ui.label("at levels");
        let field = ui.add(TextEdit::singleline(&mut plan.levels).hint_text("the usual ones").desired_width(110.0));
        field.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "Levels of the sweep"));
        field.on_hover_text("Any levels of the lattice, such as PSI, P-SI; each checker runs at those that it decides");
    });
    ui.horizontal_wrapped(|ui| rest_ui(ui, &mut plan));
    if plan != sweep.plan {
        requests.push(Request::PlanSweep(Box::new(plan)));
    }
    if let Some(text) = &sweep.error {
        ui.colored_label(Palette::of(ui).bad, text);
    }
}

/// All parameters except the one that grows.
fn rest_ui(ui: &mut Ui, plan: &mut Plan) {
    let varied = plan.parameter;
    let workload = &mut plan.workload;
    let number = |ui: &mut Ui, value: &mut u64, range, of: Parameter| {
        if of != varied {
            named(ui.add(DragValue::new(value).range(range)), of.name());
            style::note(ui, of.name());
        }
    };
    let mut sessions = u64::from(workload.sessions);
    number(ui, &mut sessions, 1..=100_000, Parameter::Sessions);
    workload.sessions = u32::try_from(sessions).unwrap_or(1);
    number(
        ui,
        &mut workload.transactions,
        1..=1_000_000,
        Parameter::Transactions,
    );
    if workload.kind.has_length() {
        let mut operations = u64::from(workload.operations.most);
        number(ui, &mut operations, 1..=1000, Parameter::Operations);
        workload.operations = Length::fixed(u32::try_from(operations).unwrap_or(1));
        let mut reads = (workload.read_share * 100.0).round() as u64;
        number(ui, &mut reads, 0..=100, Parameter::ReadShare);
        workload.read_share = reads as f64 / 100.0;
    }
    number(ui, &mut workload.keys, 1..=10_000_000, Parameter::Keys);
    named(ui.add(DragValue::new(&mut workload.seed)), "seed");
    style::note(ui, "seed");
}

/// Gives a field a name for screen readers.
fn named(response: Response, name: &str) {
    response
        .on_hover_text(name)
        .widget_info(|| WidgetInfo::labeled(WidgetType::DragValue, true, name));
}

/// A list to select from; returns whether something was selected.
fn choice<T: Copy + PartialEq>(
    ui: &mut Ui,
    name: &str,
    value: &mut T,
    title: fn(T) -> &'static str,
    all: &[T],
) -> bool {
    let before = *value;
    let list = ComboBox::from_id_salt(name)
        .selected_text(title(*value))
        .show_ui(ui, |ui| {
            for &one in all {
                ui.selectable_value(value, one, title(one));
            }
        });
    let said = format!("{name}: {}", title(*value));
    list.response
        .widget_info(|| WidgetInfo::labeled(WidgetType::ComboBox, true, &said));
    before != *value
}

/// Draws the results: a table and two plots.
pub(super) fn results_ui(ui: &mut Ui, sweep: &Sweep, requests: &mut Requests) {
    table_ui(ui, sweep);
    ui.add_space(10.0);
    ui.columns(2, |columns| {
        let [left, right] = columns else { return };
        for (column, chart) in [left, right].into_iter().zip(sweep.charts()) {
            let name = format!("Plot of the sweep: {}", chart.y.name);
            chart_ui(column, &chart, "a line for each checker", &name, requests);
        }
    });
}

/// A row for each value, a column for each checker.
fn table_ui(ui: &mut Ui, sweep: &Sweep) {
    let palette = Palette::of(ui);
    let values: BTreeSet<u64> = sweep.points.iter().map(|point| point.value).collect();
    let took_part = |checker: &&Checker| {
        sweep
            .points
            .iter()
            .any(|point| point.run.checker == **checker)
    };
    let checkers: Vec<Checker> = Checker::ALL.iter().filter(took_part).copied().collect();
    egui::Grid::new("sweep")
        .num_columns(checkers.len() + 2)
        .spacing(vec2(18.0, 5.0))
        .show(ui, |ui| {
            style::note(ui, sweep.ran.parameter.name());
            style::note(ui, "operations");
            for checker in &checkers {
                style::bold_line(ui, checker.name(), style::BODY, palette.strong);
            }
            ui.end_row();
            for value in values {
                let of_value = || {
                    sweep
                        .points
                        .iter()
                        .filter(move |point| point.value == value)
                };
                ui.colored_label(palette.strong, value.to_string());
                ui.label(of_value().next().map_or(String::new(), |p| {
                    crate::report::grouped(p.n_operations as u64)
                }));
                for &checker in &checkers {
                    match of_value().find(|point| point.run.checker == checker) {
                        Some(point) => cell_ui(ui, value, &point.run),
                        None => drop(ui.label("")),
                    }
                }
                ui.end_row();
            }
        });
    if sweep.has_undecided() {
        style::note(ui, "> did not know an answer to some level within a minute");
    }
}

fn cell_ui(ui: &mut Ui, value: u64, run: &CheckerRun) {
    let undecided = run
        .levels
        .iter()
        .any(|(_, verdict, _)| *verdict == Conclusion::Open);
    let begin = if undecided { "> " } else { "" };
    let response = ui.label(format!(
        "{begin}{}   {:.1} MB",
        duration(run.seconds),
        run.most_memory()
    ));
    let levels: Vec<String> = run
        .levels
        .iter()
        .map(|(level, verdict, seconds)| {
            format!("{level}: {} in {}", verdict.word(), duration(*seconds))
        })
        .collect();
    let said = format!("{} at {value}: {}", run.checker, levels.join(", "));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &said));
    response.on_hover_text(levels.join("\n"));
}
