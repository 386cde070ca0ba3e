//! The progress of a round: figures, their course, and what was found in the part recorded so far.

use super::{colour_of, figure_ui};
use crate::app::collecting::table::{Checked, Run, Sample, milliseconds};
use crate::app::panels::plot::still;
use crate::app::style::{self, Palette, counted, duration};
use crate::report::grouped;
use egui::{Color32, Rangef, RichText, Ui, WidgetInfo, WidgetType, vec2};
use egui_plot::{AxisHints, GridInput, GridMark, Legend, Line, Plot, PlotPoints};

/// Height of a plot.
const HEIGHT: f32 = 130.0;

pub(super) fn progress_ui(ui: &mut Ui, run: &Run) {
    let palette = Palette::of(ui);
    let Some(snapshot) = &run.snapshot else { return };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 26.0;
        let warn = |n: u64, colour: Color32| if n > 0 { colour } else { palette.weak };
        figure_ui(ui, "committed", &grouped(snapshot.committed), palette.strong);
        figure_ui(ui, "aborted", &grouped(snapshot.aborted), palette.strong);
        figure_ui(ui, "unknown", &grouped(snapshot.unknown), warn(snapshot.unknown, palette.caution));
        figure_ui(ui, "per second", &grouped(snapshot.throughput() as u64), palette.strong);
        figure_ui(ui, "median", &latency(milliseconds(snapshot.median)), palette.strong);
        figure_ui(ui, "99 % under", &latency(milliseconds(snapshot.slow)), palette.strong);
        figure_ui(ui, "time", &duration(snapshot.elapsed.as_secs_f64()), palette.strong);
        if snapshot.lost_sessions > 0 {
            figure_ui(ui, "sessions lost", &grouped(snapshot.lost_sessions), palette.bad);
        }
    });
    ui.add_space(2.0);
    if let Some(checked) = run.so_far.as_ref().filter(|_| run.is_running()) {
        so_far_ui(ui, checked);
    }
    plots_ui(ui, run);
}

/// Milliseconds in readable form.
pub(super) fn latency(milliseconds: f64) -> String {
    match milliseconds {
        m if m < 0.0995 => format!("{:.0} µs", m * 1000.0),
        m if m < 9.95 => format!("{m:.1} ms"),
        m => format!("{m:.0} ms"),
    }
}

/// The verdict on what was recorded when the last check began.
fn so_far_ui(ui: &mut Ui, checked: &Checked) {
    let palette = Palette::of(ui);
    let colour = colour_of(checked, &palette);
    let covered = counted(checked.transactions, "transaction");
    let mut text = format!("So far, in {covered}: {}", checked.text());
    if let Some((_, violation)) = &checked.violation {
        text.push_str(&format!(" ({violation})"));
    }
    let response = ui.add(egui::Label::new(RichText::new(&text).color(colour)).truncate());
    response.on_hover_text(format!("{text}; read and checked in {}", duration(checked.seconds)));
}

fn plots_ui(ui: &mut Ui, run: &Run) {
    let palette = Palette::of(ui);
    let points = |of: fn(&Sample) -> f64| -> PlotPoints<'static> {
        run.samples.iter().map(|sample| [sample.at, of(sample)]).collect()
    };
    // If no transaction ended, nothing is known about how long they take.
    let latencies = |of: fn(&Sample) -> f64| -> PlotPoints<'static> {
        run.samples.iter().filter(|sample| sample.slow > 0.0).map(|sample| [sample.at, of(sample)]).collect()
    };
    ui.columns(2, |columns| {
        let [left, right] = columns else { return };
        style::note(left, "Throughput: committed transactions per second, over seconds");
        let plot = course("throughput").show(left, |plot| {
            plot.line(Line::new("throughput", points(|sample| sample.throughput)).color(palette.accent).width(1.8));
        });
        plot.response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, "Plot of throughput"));
        style::note(right, "Latency: milliseconds of half and of 99 % of the transactions");
        let plot = course("latency").legend(Legend::default()).show(right, |plot| {
            let dashed = egui_plot::LineStyle::dashed_loose();
            plot.line(Line::new("median", latencies(|sample| sample.median)).color(palette.accent).width(1.8));
            plot.line(
                Line::new("99 %", latencies(|sample| sample.slow)).color(palette.caution).width(1.8).style(dashed),
            );
        });
        plot.response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, "Plot of latency"));
    });
    ui.add_space(6.0);
}

/// A plot of how something changes in the course of a round.
fn course(name: &str) -> Plot<'static> {
    still(name, HEIGHT)
        .show_grid([false, true])
        .custom_y_axes(vec![AxisHints::new_y().label_spacing(Rangef::new(10.0, 16.0))])
        .y_grid_spacer(few_lines)
        .include_x(0.0)
        .include_x(0.2)
        .include_y(0.0)
        .set_margin_fraction(vec2(0.02, 0.1))
}

/// Up to five lines at round numbers.
fn few_lines(input: GridInput) -> Vec<GridMark> {
    let (least, most) = input.bounds;
    let rough = ((most - least) / 4.0).max(1e-9);
    let power = 10.0_f64.powf(rough.log10().floor());
    let step_size = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= rough).unwrap_or(rough);
    let first = (least / step_size).ceil();
    // Anything outside would be drawn over the rest of the page.
    let values = (0..6).map(|n| (first + f64::from(n)) * step_size).filter(|value| *value <= most);
    values.map(|value| GridMark { value, step_size }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_at_round_numbers() {
        let values = |bounds| -> Vec<f64> {
            few_lines(GridInput { bounds, base_step_size: 1.0 }).into_iter().map(|mark| mark.value).collect()
        };
        assert_eq!(values((0.0, 66.0)), [0.0, 20.0, 40.0, 60.0]);
        assert_eq!(values((0.0, 41_000.0)), [0.0, 20_000.0, 40_000.0]);
        assert_eq!(values((-0.05, 0.3))[..3], [0.0, 0.1, 0.2]);
    }

    #[test]
    fn latencies_are_written_for_people() {
        assert_eq!([0.032, 4.096, 66.0].map(latency), ["32 µs", "4.1 ms", "66 ms"]);
    }
}
