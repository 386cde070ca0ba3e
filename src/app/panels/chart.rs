//! The charts of all pages, in one style: few light grid lines, numbers with units on both axes, nothing cut, values on
//! hover. What is drawn is a [`Chart`], as it is exported.

use crate::app::command::{Request, Requests};
use crate::app::style::{self, Palette};
use crate::export::chart::{Axis, Chart, Marks, Series, Unit};
use egui::{Color32, Rangef, Ui, WidgetInfo, WidgetType, vec2};
use egui_plot::{
    AxisHints, Bar, BarChart, GridInput, GridMark, HoverPosition, Legend, Line, LineStyle, Plot,
    PlotUi,
};
use egui_plot::{PlotPoint, PlotPoints, Points, Span};

/// Least and greatest height of a chart without its headings.
const HEIGHT: (f32, f32) = (170.0, 900.0);
/// Height of the lowest chart without its headings.
const LOW: f32 = 140.0;
/// Height of what is around two charts below each other, which fill a page.
const AROUND: f32 = 230.0;

/// A chart under its title and `about`, with this name for screen readers; a button saves it as an SVG.
pub(super) fn chart_ui(
    ui: &mut Ui,
    chart: &Chart,
    about: &str,
    name: &str,
    requests: &mut Requests,
) {
    let height = (ui.clip_rect().height() - AROUND) / 2.0;
    high_chart_ui(ui, height, (chart, about, name), requests);
}

/// [`chart_ui`] with this height without its headings, as far as it is sensible.
pub(super) fn high_chart_ui(
    ui: &mut Ui,
    height: f32,
    what: (&Chart, &str, &str),
    requests: &mut Requests,
) {
    sized_chart_ui(ui, height.clamp(HEIGHT.0, HEIGHT.1), what, requests);
}

/// As low as it is legible at all, where something else matters more.
pub(super) fn low_chart_ui(ui: &mut Ui, what: (&Chart, &str, &str), requests: &mut Requests) {
    sized_chart_ui(ui, LOW, what, requests);
}

fn sized_chart_ui(
    ui: &mut Ui,
    height: f32,
    (chart, about, name): (&Chart, &str, &str),
    requests: &mut Requests,
) {
    ui.horizontal(|ui| {
        style::bold(ui, &chart.title, style::HEADING, Palette::of(ui).strong);
        let button = ui.add_enabled(!chart.is_empty(), egui::Button::new("Save as SVG").small());
        let said = format!("Save the chart {} as an SVG", chart.title);
        button.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &said));
        if button
            .on_hover_text("Save this chart as an SVG next to the history")
            .clicked()
        {
            requests.push(Request::SaveChart(Box::new(chart.clone())));
        }
    });
    style::note(ui, about);
    let response = frame(chart, height)
        .show(ui, |plot| draw(plot, chart))
        .response;
    response.widget_info(|| {
        WidgetInfo::labeled(WidgetType::Image, true, format!("{name}{}", values(chart)))
    });
    ui.add_space(10.0);
}

/// The values of bars that have names, for screen readers.
fn values(chart: &Chart) -> String {
    let Marks::Bars(names) = &chart.marks else {
        return String::new();
    };
    let bar = |series: &Series, &(at, value): &(f64, f64)| {
        format!(
            "; {} {}: {}",
            chart.x_label(at),
            series.label,
            chart.y.unit.text(value)
        )
    };
    let bars = chart
        .series
        .iter()
        .flat_map(|series| series.points.iter().map(move |point| bar(series, point)));
    if names.is_empty() {
        String::new()
    } else {
        bars.collect()
    }
}

/// A linear axis.
pub(super) fn axis(name: &str, unit: Unit) -> Axis {
    Axis {
        name: name.to_owned(),
        unit,
        logarithmic: false,
    }
}

/// A line or the bars of this name.
pub(super) fn series(label: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
    Series {
        label: label.to_owned(),
        points: points.into_iter().collect(),
    }
}

/// An empty chart that does not move under the pointer, so that the page can be scrolled.
fn frame(chart: &Chart, height: f32) -> Plot<'_> {
    let (x, y) = (&chart.x, &chart.y);
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let (first, last) = range(points().map(|(at, _)| *at));
    let (least, most) = range(points().map(|(_, value)| y.place(*value)));
    let start = x.place(first);
    let y_axis = AxisHints::new_y()
        .label_spacing(Rangef::new(10.0, 16.0))
        .formatter(|mark, _| text(y, mark.value))
        .label(if y.name == chart.title {
            ""
        } else {
            y.name.as_str()
        })
        .min_thickness(46.0);
    let plot = Plot::new(chart.title.clone())
        .height(height)
        .show_background(false)
        .allow_scroll(false)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_boxed_zoom(false)
        .show_grid([false, true])
        // Lines are fainter the nearer they are to each other: at usual distances they are light.
        .grid_spacing(Rangef::new(8.0, 1500.0))
        .custom_y_axes(vec![y_axis])
        .x_axis_formatter(|mark, _| match chart.marks {
            Marks::Bars(_) => chart.x_label(mark.value),
            _ => text(x, mark.value),
        })
        .x_axis_label(x.name.as_str())
        .x_grid_spacer(move |input| marks_from(few_marks(input, x), start))
        .y_grid_spacer(|input| few_marks(input, y))
        .set_margin_fraction(vec2(0.03, 0.1))
        .label_formatter(|position| match position {
            HoverPosition::NearDataPoint {
                plot_name,
                position,
                ..
            } => {
                let (at, value) = (text(x, position.x), text(y, position.y));
                Some(format!(
                    "{plot_name}\n{}: {at}\n{}: {value}",
                    x.name, y.name
                ))
            }
            HoverPosition::Elsewhere { .. } => None,
        });
    // A single point is in the middle, and if all is zero, the chart still has a height.
    let plot = match first == last {
        true if x.logarithmic => plot.include_x(start.floor()).include_x(start.floor() + 1.0),
        true => plot.include_x(0.0).include_x(2.0 * first),
        false => plot,
    };
    // A range without extent would be extended to numbers that no axis has room for.
    let plot = match y.logarithmic {
        true if least.is_finite() => plot.include_y(least.floor()).include_y(least.floor() + 1.0),
        true => plot,
        false => plot
            .include_y(0.0)
            .include_y(if is_whole(y) { 1.0 } else { 0.01 }),
    };
    if chart.series.len() < 2 {
        // The highest value is not above the last mark.
        let step = step((0.0, most), y);
        return if y.logarithmic || most <= 0.0 {
            plot
        } else {
            plot.include_y((most / step).ceil() * step)
        };
    }
    // Above the lines, where it covers none.
    let room = if least < most {
        most + 0.4 * (most - least)
    } else {
        y.place(1.0)
    };
    plot.include_y(room)
        .legend(Legend::default().position(egui_plot::Corner::LeftTop))
}

fn draw(plot: &mut PlotUi<'_>, chart: &Chart) {
    let palette = if plot.ctx().global_style().visuals.dark_mode {
        style::DARK
    } else {
        style::LIGHT
    };
    for band in &chart.bands {
        let range = chart.x.place(band.from)..=chart.x.place(band.to);
        plot.span(Span::new(band.label.clone(), range).fill(palette.bad.gamma_multiply(0.22)));
    }
    let mut below: Vec<BarChart> = Vec::new();
    for (number, series) in chart.series.iter().enumerate() {
        let colour = colour(number, &palette);
        let points = series
            .points
            .iter()
            .map(|(x, y)| [chart.x.place(*x), chart.y.place(*y)]);
        if matches!(chart.marks, Marks::Bars(_)) {
            let width = chart.bar_width();
            let bars = points
                .map(|[x, y]| Bar::new(x, y).width(width).fill(colour))
                .collect();
            let of = chart.clone();
            let said = move |bar: &Bar, _: &BarChart| {
                let (at, value) = (of.x_label(bar.argument), text(&of.y, bar.value));
                format!("{}: {at}\n{}: {value}", of.x.name, of.y.name)
            };
            let bars = BarChart::new(series.label.clone(), bars)
                .color(colour)
                .element_formatter(Box::new(said));
            below.push(bars.stack_on(&below.iter().collect::<Vec<_>>()));
            continue;
        }
        let points: Vec<PlotPoint> = points.map(PlotPoint::from).collect();
        if chart.marks == Marks::Dots || points.len() == 1 {
            let dots = Points::new(series.label.clone(), PlotPoints::Owned(points.clone()));
            plot.points(dots.radius(3.0).color(colour));
        }
        let line = Line::new(series.label.clone(), PlotPoints::Owned(points))
            .color(colour)
            .width(1.8);
        plot.line(line.style(STYLES[number % STYLES.len()]));
    }
    below.into_iter().for_each(|bars| plot.bar_chart(bars));
}

/// Lines can be distinguished without their colours.
const STYLES: [LineStyle; 4] = [
    LineStyle::Solid,
    LineStyle::Dashed { length: 10.0 },
    LineStyle::Dotted { spacing: 5.0 },
    LineStyle::Dashed { length: 5.0 },
];

fn colour(place: usize, palette: &Palette) -> Color32 {
    let colours = [
        palette.accent,
        palette.caution,
        palette.good,
        palette.bad,
        palette.strong,
        palette.weak,
    ];
    colours[place % colours.len()]
}

/// The least and the greatest of some numbers.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), value| (least.min(value), most.max(value)),
    )
}

/// A number of an axis with its unit.
fn text(axis: &Axis, at: f64) -> String {
    axis.unit
        .text(if axis.logarithmic { 10f64.powf(at) } else { at })
}

/// Whether there is nothing between whole numbers, as drawn.
fn is_whole(axis: &Axis) -> bool {
    axis.logarithmic || axis.unit == Unit::Number
}

/// A round number, a few of which are between two others.
fn step((least, most): (f64, f64), axis: &Axis) -> f64 {
    let rough = ((most - least) / 5.0).max(if is_whole(axis) { 1.0 } else { 1e-9 });
    let power = 10.0_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|n| n * power)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(rough)
}

/// These marks, and one where the values begin if none is near or before that.
fn marks_from(mut marks: Vec<GridMark>, start: f64) -> Vec<GridMark> {
    if let Some(first) = marks.first().copied()
        && start.is_finite()
        && first.value - start > 0.5 * first.step_size
    {
        marks.insert(
            0,
            GridMark {
                value: start,
                ..first
            },
        );
    }
    marks
}

/// Up to six marks at round numbers.
fn few_marks(input: GridInput, axis: &Axis) -> Vec<GridMark> {
    let (least, most) = input.bounds;
    let step_size = step(input.bounds, axis);
    let first = (least / step_size).ceil();
    // Anything outside would be drawn over the rest of the page, and nothing here is below zero.
    let values = (0..6)
        .map(|n| (first + f64::from(n)) * step_size)
        .filter(|value| *value <= most);
    let values = values.filter(|value| axis.logarithmic || *value >= 0.0);
    values.map(|value| GridMark { value, step_size }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_at_round_numbers() {
        let values = |unit, bounds| -> Vec<f64> {
            let marks = few_marks(
                GridInput {
                    bounds,
                    base_step_size: 1.0,
                },
                &axis("", unit),
            );
            marks.into_iter().map(|mark| mark.value).collect()
        };
        assert_eq!(values(Unit::Number, (0.0, 66.0)), [0.0, 20.0, 40.0, 60.0]);
        assert_eq!(
            values(Unit::Seconds, (0.0, 41_000.0)),
            [0.0, 10_000.0, 20_000.0, 30_000.0, 40_000.0]
        );
        assert_eq!(values(Unit::Seconds, (-0.05, 0.3))[..3], [0.0, 0.1, 0.2]);
        assert_eq!(
            values(Unit::Number, (-0.1, 1.3)),
            [0.0, 1.0],
            "there is no half transaction"
        );
    }

    #[test]
    fn an_axis_that_begins_before_its_first_mark_has_one_there() {
        let mark = |value: f64| GridMark {
            value,
            step_size: 5.0,
        };
        let values = |marks: Vec<GridMark>| -> Vec<f64> {
            marks.into_iter().map(|mark| mark.value).collect()
        };
        assert_eq!(
            values(marks_from(vec![mark(5.0), mark(10.0)], 1.0)),
            [1.0, 5.0, 10.0]
        );
        assert_eq!(values(marks_from(vec![mark(5.0)], 4.0)), [5.0], "too near");
        assert_eq!(
            values(marks_from(vec![mark(0.0), mark(5.0)], 1.0)),
            [0.0, 5.0]
        );
    }
}
