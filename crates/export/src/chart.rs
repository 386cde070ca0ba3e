//! Charts of lines or bars, and as an SVG, for the pages of the window and the benches.
//!
//! Each line has a colour, a dash and its name next to it, so that none has to be recognized by colour alone. The
//! colours are those of Okabe and Ito, which colour-blind people can distinguish.

use super::svg::escape;
use isoscope_model::history::grouped;
use std::fmt::Write;

/// Colours and dashes of lines, in turn.
pub const STYLES: [(&str, &str); 8] = [
    ("#0072b2", "none"),
    ("#d55e00", "8 3"),
    ("#009e73", "2 3"),
    ("#000000", "10 3 2 3"),
    ("#b0609a", "none"),
    ("#777777", "6 3"),
    ("#56b4e9", "2 3"),
    ("#e69f00", "12 4"),
];

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub label: String,
    /// Its points, ascending in the first coordinate.
    pub points: Vec<(f64, f64)>,
}

/// How numbers on an axis are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Without a unit.
    Number,
    /// A share of one, in percent.
    Percent,
    /// Seconds, as ms or µs if they are small.
    Seconds,
    /// Megabytes.
    Megabytes,
}

impl Unit {
    /// A number with its unit.
    pub fn text(self, value: f64) -> String {
        match self {
            Unit::Number => short(value),
            Unit::Percent => format!("{} %", short(100.0 * value)),
            Unit::Megabytes => format!("{} MB", short(value)),
            Unit::Seconds if value != 0.0 && value < 1e-3 => format!("{} µs", short(1e6 * value)),
            Unit::Seconds if value != 0.0 && value < 1.0 => format!("{} ms", short(1e3 * value)),
            Unit::Seconds => format!("{} s", short(value)),
        }
    }
}

/// Three significant digits, or all before the point: 20,000. Millions as 2.5M.
fn short(value: f64) -> String {
    let digits = |value: f64| {
        let text = format!(
            "{value:.*}",
            (2 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 9) as usize
        );
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    };
    match value {
        v if v.abs() >= 1e6 => format!("{}M", digits(v / 1e6)),
        v if v >= 1e3 => grouped(v.round() as u64),
        v => digits(v),
    }
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The quantity.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Whether the scale is logarithmic; values that are not above zero are then left out.
    pub logarithmic: bool,
}

impl Axis {
    /// Where a value is on the axis: at its logarithm if the scale is logarithmic.
    pub fn place(&self, value: f64) -> f64 {
        if self.logarithmic {
            value.max(1e-9).log10()
        } else {
            value
        }
    }
}

/// The mark of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marks {
    /// It is on a line.
    Lines,
    /// It is on a line, and has a dot: points are few.
    Dots,
    /// A bar; those of a series are on top of those of the series before. Below them these names, or numbers.
    Bars(Vec<String>),
}

/// Lines or bars over one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The title above it.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines, or the bars.
    pub series: Vec<Series>,
    /// How they are drawn.
    pub marks: Marks,
    /// What was going on meanwhile, drawn behind the lines.
    pub bands: Vec<Band>,
}

/// A range of the horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// What was going on.
    pub label: String,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 316.0;

/// Charts stacked in one picture. The same charts give the same text.
pub fn svg(charts: &[Chart]) -> String {
    let height = HEIGHT * charts.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"Hack, monospace\" font-size=\"13\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (place, chart) in charts.iter().enumerate() {
        let _ = writeln!(
            out,
            "<g transform=\"translate(0 {})\">",
            HEIGHT * place as f64
        );
        chart.draw(&mut out);
        out.push_str("</g>\n");
    }
    out + "</svg>\n"
}

impl Chart {
    /// Whether there is anything to draw.
    pub fn is_empty(&self) -> bool {
        self.points().next().is_none()
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let fits =
            |axis: &Axis, value: f64| value.is_finite() && (!axis.logarithmic || value > 0.0);
        let all = self
            .series
            .iter()
            .flat_map(|series| series.points.iter().copied());
        all.filter(move |(x, y)| fits(&self.x, *x) && fits(&self.y, *y))
    }

    fn draw(&self, out: &mut String) {
        let _ = writeln!(
            out,
            r#"<text x="{LEFT}" y="24" font-size="16">{}</text>"#,
            escape(&self.title)
        );
        let half = self.bar_width() / 2.0;
        let x_values = self
            .points()
            .flat_map(|point| [point.0 - half, point.0 + half]);
        let xs = Scale::new(x_values, &self.x, (LEFT, RIGHT), false);
        let tops = self.stacked().into_iter().flatten().map(|bar| bar.2);
        let ys = Scale::new(
            self.points().map(|point| point.1).chain(tops),
            &self.y,
            (BOTTOM, TOP),
            true,
        );
        self.draw_bands(out, &xs);
        for value in ys.ticks() {
            let (y, label) = (ys.place(value), self.y.unit.text(value));
            let _ = writeln!(
                out,
                r##"<path d="M{LEFT} {y:.1}H{RIGHT}" stroke="#cccccc"/>"##
            );
            let _ = writeln!(
                out,
                r#"<text x="{}" y="{:.1}" text-anchor="end">{label}</text>"#,
                LEFT - 8.0,
                y + 4.5
            );
        }
        let mut right = f64::NEG_INFINITY;
        for value in self.x_ticks(&xs) {
            let (x, label) = (xs.place(value), self.x_label(value));
            let half = 4.2 * label.chars().count() as f64;
            let _ = writeln!(out, r##"<path d="M{x:.1} {BOTTOM}v5" stroke="#444444"/>"##);
            // A number that would overlap the previous one is left out; its mark stays.
            if x - half > right {
                let y = BOTTOM + 20.0;
                let _ = writeln!(
                    out,
                    r#"<text x="{x:.1}" y="{y}" text-anchor="middle">{}</text>"#,
                    escape(&label)
                );
                right = x + half + 6.0;
            }
        }
        let _ = writeln!(
            out,
            r##"<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="#444444"/>"##
        );
        let (middle, below) = ((LEFT + RIGHT) / 2.0, BOTTOM + 44.0);
        let name = escape(&self.x.name);
        let _ = writeln!(
            out,
            r#"<text x="{middle}" y="{below}" text-anchor="middle">{name}</text>"#
        );
        if self.y.name != self.title {
            let (y, name) = (TOP - 5.0, escape(&self.y.name));
            let _ = writeln!(out, r#"<text x="{LEFT}" y="{y}">{name}</text>"#);
        }
        let bars = self.stacked();
        for (place, series) in self.series.iter().enumerate() {
            match bars.get(place) {
                Some(bars) => self.draw_bars(out, place, (series, bars), (&xs, &ys)),
                None => self.draw_series(out, place, series, (&xs, &ys)),
            }
        }
    }

    /// Each band within the axis, with its name where it has room.
    fn draw_bands(&self, out: &mut String, xs: &Scale<'_>) {
        for Band { label, from, to } in &self.bands {
            let [left, right] = [from, to].map(|at| xs.place(*at).clamp(LEFT, RIGHT));
            let (width, height) = (right - left, BOTTOM - TOP);
            let label = escape(label);
            let _ = writeln!(
                out,
                r##"<rect x="{left:.1}" y="{TOP}" width="{width:.1}" height="{height}" fill="#f6dcd6"><title>{label}</title></rect>"##
            );
            if width > 8.0 * label.chars().count() as f64 {
                let (x, y) = (left + width / 2.0, TOP + 14.0);
                let _ = writeln!(
                    out,
                    r##"<text x="{x:.1}" y="{y}" text-anchor="middle" fill="#8a3020">{label}</text>"##
                );
            }
        }
    }

    /// The name below a value of the horizontal axis.
    pub fn x_label(&self, value: f64) -> String {
        match &self.marks {
            Marks::Bars(names) if !names.is_empty() => {
                names.get(value as usize).cloned().unwrap_or_default()
            }
            _ => self.x.unit.text(value),
        }
    }

    /// Width of a bar, as a difference of values; zero for lines.
    pub fn bar_width(&self) -> f64 {
        let steps = self
            .series
            .iter()
            .flat_map(|series| series.points.windows(2).map(|pair| pair[1].0 - pair[0].0));
        if matches!(self.marks, Marks::Bars(_)) {
            0.86 * steps.fold(1.0, f64::max)
        } else {
            0.0
        }
    }

    /// For each series of bars, where each is, and where it begins and ends above others; none for lines.
    fn stacked(&self) -> Vec<Vec<(f64, f64, f64)>> {
        if !matches!(self.marks, Marks::Bars(_)) {
            return Vec::new();
        }
        let mut below: Vec<(f64, f64)> = Vec::new();
        let mut stack = |&(x, value): &(f64, f64)| {
            let known = below.iter().position(|(at, _)| *at == x);
            let place = known.unwrap_or_else(|| {
                below.push((x, 0.0));
                below.len() - 1
            });
            let from = below[place].1;
            below[place].1 += value;
            (x, from, from + value)
        };
        self.series
            .iter()
            .map(|series| series.points.iter().map(&mut stack).collect())
            .collect()
    }

    fn draw_bars(
        &self,
        out: &mut String,
        place: usize,
        (series, bars): (&Series, &[(f64, f64, f64)]),
        (xs, ys): (&Scale<'_>, &Scale<'_>),
    ) {
        let (colour, _) = STYLES[place % STYLES.len()];
        let half = self.bar_width() / 2.0;
        for &(x, from, to) in bars {
            let (left, right, top, bottom) = (
                xs.place(x - half),
                xs.place(x + half),
                ys.place(to),
                ys.place(from),
            );
            let (width, height) = (right - left, bottom - top);
            let area =
                format!(r#"x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}""#);
            let _ = writeln!(out, r#"<rect {area} fill="{colour}"/>"#);
        }
        let (x, y, label) = (
            RIGHT + 14.0,
            TOP + 10.0 + 22.0 * place as f64,
            escape(&series.label),
        );
        let _ = writeln!(
            out,
            r#"<rect x="{x}" y="{}" width="32" height="10" fill="{colour}"/>"#,
            y - 5.0
        );
        let _ = writeln!(
            out,
            r#"<text x="{}" y="{}" fill="{colour}">{label}</text>"#,
            x + 40.0,
            y + 4.5
        );
    }

    /// The points of the lines, or round numbers if there are many.
    fn x_ticks(&self, xs: &Scale<'_>) -> Vec<f64> {
        let mut values: Vec<f64> = self.points().map(|point| point.0).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        if values.len() > 12 {
            xs.ticks()
        } else {
            values
        }
    }

    fn draw_series(
        &self,
        out: &mut String,
        place: usize,
        series: &Series,
        (xs, ys): (&Scale<'_>, &Scale<'_>),
    ) {
        let (colour, dashes) = STYLES[place % STYLES.len()];
        let alone = Chart {
            series: vec![series.clone()],
            ..self.clone()
        };
        let points: Vec<(f64, f64)> = alone
            .points()
            .map(|(x, y)| (xs.place(x), ys.place(y)))
            .collect();
        let line: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{x:.1} {y:.1}"))
            .collect();
        let pen = format!(
            r#"fill="none" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dashes}""#
        );
        if points.len() > 1 {
            let _ = writeln!(out, r#"<path d="M{}" {pen}/>"#, line.join("L"));
        }
        if points.len() <= 40 {
            for (x, y) in points {
                let _ = writeln!(
                    out,
                    r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.2" fill="{colour}"/>"#
                );
            }
        }
        let (from, to, y) = (RIGHT + 14.0, RIGHT + 46.0, TOP + 10.0 + 22.0 * place as f64);
        let _ = writeln!(out, r#"<path d="M{from} {y}H{to}" {pen}/>"#);
        let (x, baseline, label) = (to + 8.0, y + 4.5, escape(&series.label));
        let _ = writeln!(
            out,
            r#"<text x="{x}" y="{baseline}" fill="{colour}">{label}</text>"#
        );
    }
}

/// From values to positions.
struct Scale<'a> {
    axis: &'a Axis,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl<'a> Scale<'a> {
    /// Contains all `values`; with `round` it ends on round numbers, and begins at zero if it is not logarithmic.
    fn new(
        values: impl Iterator<Item = f64>,
        axis: &'a Axis,
        (from, to): (f64, f64),
        round: bool,
    ) -> Scale<'a> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        values
            .map(|value| axis.place(value))
            .for_each(|value| (low, high) = (low.min(value), high.max(value)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        match (round, axis.logarithmic) {
            (true, true) => (low, high) = (low.floor(), high.ceil()),
            (true, false) => {
                low = low.min(0.0);
                high = (high / step(high - low)).ceil() * step(high - low);
            }
            _ => {}
        }
        if high <= low {
            high = low + 1.0;
        }
        Scale {
            axis,
            low,
            high,
            from,
            to,
        }
    }

    fn place(&self, value: f64) -> f64 {
        let value = self.axis.place(value) - self.low;
        self.from + (self.to - self.from) * value / (self.high - self.low)
    }

    /// Round numbers within the scale, ascending.
    fn ticks(&self) -> Vec<f64> {
        let step = if self.axis.logarithmic {
            ((self.high - self.low) / 8.0).ceil()
        } else {
            step(self.high - self.low)
        };
        let (first, last) = (
            (self.low / step).ceil() as i64,
            (self.high / step + 1e-9).floor() as i64,
        );
        let value = |n: i64| {
            if self.axis.logarithmic {
                10f64.powf(n as f64 * step)
            } else {
                n as f64 * step
            }
        };
        (first..=last).map(value).collect()
    }
}

/// 1, 2 or 5 times a power of ten, so that a range has four to ten of them.
fn step(range: f64) -> f64 {
    let range = if range > 0.0 { range } else { 1.0 };
    let power = 10f64.powf((range / 4.0).log10().floor());
    let fits = |factor: &&f64| range / (**factor * power) >= 4.0;
    power * [5.0, 2.0].iter().find(fits).unwrap_or(&1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(logarithmic: bool, points: &[(f64, f64)]) -> Chart {
        let axis = |name: &str, unit, logarithmic| Axis {
            name: name.to_owned(),
            unit,
            logarithmic,
        };
        let series = vec![Series {
            label: "a < b".to_owned(),
            points: points.to_vec(),
        }];
        let (x, y) = (
            axis("sessions", Unit::Number, false),
            axis("time", Unit::Seconds, logarithmic),
        );
        Chart {
            title: "Time".to_owned(),
            x,
            y,
            series,
            marks: Marks::Lines,
            bands: Vec::new(),
        }
    }

    #[test]
    fn bars_are_stacked_and_named() {
        let mut chart = chart(false, &[(0.0, 1.0), (1.0, 2.0)]);
        chart.series.push(Series {
            label: "upper".to_owned(),
            points: vec![(0.0, 3.0)],
        });
        chart.marks = Marks::Bars(vec!["left".to_owned(), "right <".to_owned()]);
        assert_eq!(
            chart.stacked(),
            [
                vec![(0.0, 0.0, 1.0), (1.0, 0.0, 2.0)],
                vec![(0.0, 1.0, 4.0)]
            ]
        );
        let text = svg(&[chart]);
        assert!(
            text.contains(">left</text>")
                && text.contains(">right &lt;</text>")
                && !text.contains("NaN")
        );
        // The scale ends at the top of the stack.
        assert!(
            text.contains(r#"y="44.0""#) && text.contains(r#"height="204.0""#),
            "{text}"
        );
    }

    #[test]
    fn values_stand_where_they_belong_and_the_axes_end_on_round_numbers() {
        let text = svg(&[chart(false, &[(1.0, 0.0), (11.0, 0.9)])]);
        // From the lower left corner to nine tenths of the height.
        assert!(text.contains("M72.0 316.0L560.0 71.2"), "{text}");
        assert!(
            text.contains(">1 s</text>") && text.contains(">a &lt; b</text>"),
            "{text}"
        );
        let text = svg(&[chart(true, &[(1.0, 0.001), (2.0, 0.1), (3.0, 0.0)])]);
        assert!(
            text.contains("M72.0 316.0L560.0 44.0"),
            "zero has no logarithm and is left out: {text}"
        );
        assert!(
            text.contains(">1 ms</text>") && text.contains(">100 ms</text>"),
            "{text}"
        );
    }

    #[test]
    fn bands_end_with_the_axis_and_have_names_where_there_is_room() {
        let mut chart = chart(false, &[(0.0, 1.0), (10.0, 2.0)]);
        let band = |label: &str, from, to| Band {
            label: label.to_owned(),
            from,
            to,
        };
        chart.bands = vec![band("pause-standby", 2.0, 7.0), band("kill-db", 9.9, 12.0)];
        let text = svg(&[chart]);
        assert!(
            text.contains(r#"x="169.6" y="44" width="244.0""#)
                && text.contains(">pause-standby</text>"),
            "{text}"
        );
        assert!(
            text.contains(r#"x="555.1" y="44" width="4.9""#) && !text.contains(">kill-db</text>"),
            "{text}"
        );
        assert!(text.contains("<title>kill-db</title>"), "{text}");
    }

    #[test]
    fn nothing_and_one_point_are_drawn_too() {
        assert!(chart(true, &[(1.0, 0.0)]).is_empty());
        for points in [&[][..], &[(5.0, 3.0)]] {
            for logarithmic in [false, true] {
                let text = svg(&[chart(logarithmic, points), chart(false, points)]);
                assert!(
                    text.ends_with("</svg>\n") && !text.contains("NaN") && !text.contains("inf"),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn numbers_are_short() {
        let texts = [
            (Unit::Number, 20000.0),
            (Unit::Percent, 0.125),
            (Unit::Seconds, 0.00042),
            (Unit::Megabytes, 1536.0),
        ];
        let texts = texts.map(|(unit, value)| unit.text(value));
        assert_eq!(texts, ["20,000", "12.5 %", "420 µs", "1,536 MB"]);
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([1.0, 10.0, 25.0, 0.0].map(step), [0.2, 2.0, 5.0, 0.2]);
    }
}
