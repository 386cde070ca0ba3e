//! One panel of the plot: user CPU per operation against a parameter, both axes logarithmic.

use crate::cell::Outcome;
use crate::figures::{Figure, Parameter};
use crate::table::Row;
use isoscope::checkers::{Checker, Level};
use std::fmt::Write;

pub(crate) const WIDTH: f64 = 800.0;
pub(crate) const HEIGHT: f64 = 380.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = WIDTH - 176.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = HEIGHT - 56.0;
/// Height of a line of the legend.
const LINE: f64 = 22.0;
/// Room for an arrow.
const ARROW: f64 = 16.0;

/// Who is drawn, in which colour and with which dashes. Colour-blind people can distinguish the colours.
const STYLES: [(Checker, Level, &str, &str); 11] = [
    (Checker::Fast, Level::ReadCommitted, "#56b4e9", "2 3"),
    (Checker::Fast, Level::ReadAtomic, "#0072b2", "8 3"),
    (
        Checker::Fast,
        Level::TransactionalCausalConsistency,
        "#000000",
        "none",
    ),
    (Checker::Fast, Level::PrefixConsistency, "#009e73", "2 3"),
    (Checker::Fast, Level::SnapshotIsolation, "#d55e00", "8 3"),
    (Checker::Fast, Level::Serializability, "#b0609a", "none"),
    (
        Checker::Plume,
        Level::TransactionalCausalConsistency,
        "#d55e00",
        "none",
    ),
    (
        Checker::PlumeTreeClocks,
        Level::TransactionalCausalConsistency,
        "#e69f00",
        "10 3 2 3",
    ),
    (
        Checker::PlumeSearch,
        Level::TransactionalCausalConsistency,
        "#b0609a",
        "6 3",
    ),
    (
        Checker::C4,
        Level::TransactionalCausalConsistency,
        "#009e73",
        "12 4",
    ),
    (
        Checker::BiswasEneaSaturation,
        Level::TransactionalCausalConsistency,
        "#777777",
        "3 3",
    ),
];

/// A point that was measured; `is_bound` where the check was stopped and took at least this.
struct Point {
    x: f64,
    y: f64,
    is_bound: bool,
}

struct Series {
    label: String,
    colour: &'static str,
    dashes: &'static str,
    points: Vec<Point>,
}

/// A panel that can be drawn.
pub(crate) struct Panel {
    title: String,
    series: Vec<Series>,
}

impl Panel {
    /// `None` where the parameter is not a number above zero, or nothing was measured.
    pub(crate) fn new(figure: &Figure, rows: &[Row]) -> Option<Panel> {
        let operations = figure.parameter == Parameter::Transactions;
        let x = |row: &Row| {
            if operations {
                Some(row.operations as f64)
            } else {
                row.value.parse::<f64>().ok()
            }
        };
        if rows.iter().any(|row| x(row).is_none_or(|x| x <= 0.0)) {
            return None;
        }
        let series = STYLES
            .iter()
            .filter_map(|&(checker, level, colour, dashes)| {
                let point = |row: &Row| {
                    let measured = row.cell(level, checker)?;
                    let is_bound = measured.outcome == Outcome::TimeOut;
                    let is_shown = is_bound
                        || matches!(measured.outcome, Outcome::Satisfied | Outcome::Violated);
                    let y = 1e6 * measured.seconds / row.operations.max(1) as f64;
                    (is_shown && y > 0.0).then_some(Point {
                        x: x(row)?,
                        y,
                        is_bound,
                    })
                };
                let points: Vec<Point> = rows.iter().filter_map(point).collect();
                let label = format!("{checker} {level}");
                (!points.is_empty()).then_some(Series {
                    label,
                    colour,
                    dashes,
                    points,
                })
            });
        let mut series: Vec<Series> = series.collect();
        // The legend has the order in which the lines end.
        let end = |series: &Series| series.points.last().map_or(0.0, |point| point.y);
        series.sort_by(|a, b| end(b).total_cmp(&end(a)));
        let name = if operations {
            "operations"
        } else {
            figure.parameter.name()
        };
        let title = format!("User CPU per operation by number of {name}");
        let title = if figure.parameter == Parameter::ReadShare
            || figure.parameter == Parameter::StaleShare
        {
            format!("User CPU per operation by {}", name.replace('-', " "))
        } else {
            title
        };
        (!series.is_empty()).then_some(Panel { title, series })
    }

    /// SVG elements, in a frame of [`WIDTH`] × [`HEIGHT`].
    pub(crate) fn draw(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let xs = Scale::new(points().map(|p| p.x), LEFT + 12.0, RIGHT - 12.0, false);
        let ys = Scale::new(points().map(|p| p.y), BOTTOM, TOP, true);
        let mut out = String::new();
        let _ = writeln!(
            out,
            r#"<text x="{LEFT}" y="24" font-size="16">{}</text>"#,
            self.title
        );
        grid(&mut out, &ys);
        self.x_axis(&mut out, &xs);
        let mut bounds: Vec<(f64, f64)> = Vec::new();
        for series in &self.series {
            draw_series(&mut out, series, &xs, &ys);
            for point in series.points.iter().filter(|point| point.is_bound) {
                let (x, y) = (xs.place(point.x), ys.place(point.y));
                // Those that were stopped at the same place stand side by side.
                let before = bounds
                    .iter()
                    .filter(|(x2, y2)| (x - x2).abs() < 1.0 && (y - y2).abs() < 10.0)
                    .count();
                arrow(&mut out, x - ARROW * before as f64, y, series.colour);
                bounds.push((x, y));
            }
        }
        for (place, series) in self.series.iter().enumerate() {
            let y = TOP + 10.0 + LINE * place as f64;
            let (from, to, text) = (RIGHT + 14.0, RIGHT + 52.0, RIGHT + 60.0);
            let Series {
                colour,
                dashes,
                label,
                ..
            } = series;
            let _ = writeln!(
                out,
                r#"<path d="M{from} {y}H{to}" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dashes}"/>"#
            );
            let _ = writeln!(
                out,
                r#"<text x="{text}" y="{}" font-size="13" fill="{colour}">{label}</text>"#,
                y + 4.5
            );
        }
        if points().any(|point| point.is_bound) {
            let (x, y) = (RIGHT + 14.0, TOP + 16.0 + LINE * self.series.len() as f64);
            arrow(&mut out, x + 5.0, y + 5.0, "#444444");
            let _ = writeln!(
                out,
                r##"<text x="{}" y="{}" font-size="13" fill="#444444">stopped, at least</text>"##,
                x + 16.0,
                y + 4.5
            );
        }
        out
    }

    fn x_axis(&self, out: &mut String, xs: &Scale) {
        let mut values: Vec<f64> = self
            .series
            .iter()
            .flat_map(|s| &s.points)
            .map(|p| p.x)
            .collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        for value in values {
            let (x, label) = (xs.place(value), short(value));
            let _ = writeln!(out, r##"<path d="M{x:.1} {BOTTOM}v6" stroke="#444444"/>"##);
            let y = BOTTOM + 22.0;
            let _ = writeln!(
                out,
                r#"<text x="{x:.1}" y="{y}" font-size="13" text-anchor="middle">{label}</text>"#
            );
        }
    }
}

fn grid(out: &mut String, ys: &Scale) {
    let (low, high) = (ys.low.round() as i32, ys.high.round() as i32);
    for decade in low..=high {
        let value = 10f64.powi(decade);
        let y = ys.place(value);
        let _ = writeln!(
            out,
            r##"<path d="M{LEFT} {y:.1}H{RIGHT}" stroke="#bbbbbb"/>"##
        );
        let (x, baseline, label) = (LEFT - 8.0, y + 4.5, format!("{} µs", short(value)));
        let _ = writeln!(
            out,
            r#"<text x="{x}" y="{baseline:.1}" font-size="13" text-anchor="end">{label}</text>"#
        );
        if decade < high {
            for minor in 2..10 {
                let y = ys.place(value * f64::from(minor));
                let _ = writeln!(
                    out,
                    r##"<path d="M{LEFT} {y:.1}H{RIGHT}" stroke="#eeeeee"/>"##
                );
            }
        }
    }
    let _ = writeln!(
        out,
        r##"<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" stroke="#444444"/>"##
    );
}

fn draw_series(out: &mut String, series: &Series, xs: &Scale, ys: &Scale) {
    let Series {
        colour,
        dashes,
        points,
        ..
    } = series;
    let mut path = String::new();
    // A bound says nothing of the slope, so no line leads there.
    for (at, point) in points.iter().filter(|point| !point.is_bound).enumerate() {
        let _ = write!(
            path,
            "{}{:.1} {:.1}",
            if at == 0 { 'M' } else { 'L' },
            xs.place(point.x),
            ys.place(point.y)
        );
    }
    if !path.is_empty() {
        let _ = writeln!(
            out,
            r#"<path d="{path}" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dashes}"/>"#
        );
    }
    for point in points.iter().filter(|point| !point.is_bound) {
        let (x, y) = (xs.place(point.x), ys.place(point.y));
        let _ = writeln!(
            out,
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.2" fill="{colour}"/>"#
        );
    }
}

/// Points up: the value is here or higher.
fn arrow(out: &mut String, x: f64, y: f64, colour: &str) {
    let _ = writeln!(
        out,
        r#"<path d="M{x:.1} {y:.1}v-14m-5 6l5 -6l5 6" stroke="{colour}" stroke-width="2.5"/>"#
    );
}

/// A logarithmic axis.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Of the values, from pixel `from` to pixel `to`, with whole decades if `round`.
    fn new(values: impl Iterator<Item = f64>, from: f64, to: f64, round: bool) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            (low, high) = (low.min(value.log10()), high.max(value.log10()));
        }
        if round {
            (low, high) = (low.floor(), high.ceil());
        }
        if high <= low {
            high = low + 1.0;
        }
        Scale {
            low,
            high,
            from,
            to,
        }
    }

    fn place(&self, value: f64) -> f64 {
        self.from + (self.to - self.from) * (value.log10() - self.low) / (self.high - self.low)
    }
}

/// 20000 as 20k.
fn short(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{}M", v / 1e6),
        v if v >= 1e3 => format!("{}k", v / 1e3),
        v => format!("{}", (v * 1e6).round() / 1e6),
    }
}
