//! The lattice of levels as a picture: bases as columns, orders as rows, an arrow from each level to the strongest that it
//! implies. Levels that are decided have a frame, the others a dashed one.

use super::svg::escape;
use isoscope_check::checkers::Level;
use isoscope_check::checkers::lattice::{Order, levels, promise};
use std::fmt::Write;

/// Height of a level, and of the gap between two columns and two rows.
const HEIGHT: f64 = 26.0;
const WIDTH: f64 = 62.0;
const ACROSS: f64 = 34.0;
const DOWN: f64 = 46.0;
const LEFT: f64 = 120.0;
const TOP: f64 = 30.0;

/// Longest chain of bases below a level on its order: its column.
fn rank(level: Level) -> usize {
    let is_same_order =
        |weaker: &&Level| weaker.row().order == level.row().order || weaker.is_of_reads();
    level
        .row()
        .implies
        .iter()
        .filter(is_same_order)
        .map(|&weaker| rank(weaker) + 1)
        .max()
        .unwrap_or(0)
}

/// By level, as numbered: its place. The rows of an order from top to bottom, weakest order last: the levels of one
/// column are stacked.
fn places() -> Vec<(f64, f64)> {
    let rows = [
        Order::RealTime,
        Order::KeyRealTime,
        Order::CommitRealTime,
        Order::Session,
        Order::Plain,
    ];
    let mut places = vec![(0.0, 0.0); levels().len()];
    let mut top = TOP;
    for order in rows {
        let mut depth = [0usize; 16];
        for &level in levels().iter().filter(|level| level.row().order == order) {
            let column = rank(level);
            places[level as usize] = (
                LEFT + column as f64 * (WIDTH + ACROSS),
                top + depth[column] as f64 * (HEIGHT + 12.0),
            );
            depth[column] += 1;
        }
        top += depth.iter().max().copied().unwrap_or(0) as f64 * (HEIGHT + 12.0) + DOWN;
    }
    places
}

/// As SVG. The same bytes each time.
pub fn svg() -> String {
    let places = places();
    let right = places.iter().map(|place| place.0).fold(0.0, f64::max) + WIDTH + 20.0;
    let bottom = places.iter().map(|place| place.1).fold(0.0, f64::max) + HEIGHT + 20.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{right}\" height=\"{bottom}\" viewBox=\"0 0 {right} {bottom}\" \
         font-family=\"Hack, 'DejaVu Sans Mono', monospace\" font-size=\"13\">\n<title>What isolation levels imply</title>\n\
         <rect width=\"{right}\" height=\"{bottom}\" fill=\"white\"/>\n"
    );
    for &level in levels() {
        let from = places[level as usize];
        for to in level
            .row()
            .implies
            .iter()
            .map(|&weaker| places[weaker as usize])
        {
            let is_same_row = (from.1 - to.1).abs() < 3.0 * HEIGHT && from.0 > to.0;
            let ((x1, y1), (x2, y2)) = if is_same_row {
                (
                    (from.0, from.1 + HEIGHT / 2.0),
                    (to.0 + WIDTH, to.1 + HEIGHT / 2.0),
                )
            } else {
                (
                    (from.0 + WIDTH / 2.0, from.1 + HEIGHT),
                    (to.0 + WIDTH / 2.0, to.1),
                )
            };
            let colour = if is_same_row { "#444444" } else { "#b8c4d0" };
            let _ = writeln!(
                out,
                r#"<path d="M{x1:.0} {y1:.0}L{x2:.0} {y2:.0}" stroke="{colour}" fill="none"/>"#
            );
        }
    }
    for &level in levels() {
        let (x, y) = places[level as usize];
        let _ = writeln!(
            out,
            "<g><title>{}</title>",
            escape(&format!("{}: {}", level.long_name(), promise(level)))
        );
        let _ = writeln!(
            out,
            r##"<rect x="{x:.0}" y="{y:.0}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="#e8f1fa" stroke="#444444"/>"##
        );
        let (x, y) = (x + WIDTH / 2.0, y + HEIGHT / 2.0 + 4.5);
        let _ = writeln!(
            out,
            r#"<text x="{x:.0}" y="{y:.1}" text-anchor="middle">{}</text></g>"#,
            escape(level.code())
        );
    }
    for order in Order::ALL {
        let of_order = levels()
            .iter()
            .filter(|level| level.row().order == order && !level.is_of_reads());
        let top = of_order
            .map(|&level| places[level as usize].1)
            .fold(f64::INFINITY, f64::min)
            + HEIGHT / 2.0
            + 4.5;
        let _ = writeln!(out, r#"<text x="8" y="{top:.1}">{}</text>"#, order.word());
    }
    out + "</svg>\n"
}

/// As a graph for Graphviz.
pub fn dot() -> String {
    let mut out =
        "digraph levels {\n  rankdir=RL; node [shape=box, fontname=\"monospace\"];\n".to_owned();
    for level in levels() {
        let _ = writeln!(
            out,
            "  \"{}\" [tooltip=\"{}\"];",
            level.code(),
            level.long_name()
        );
    }
    for level in levels() {
        for weaker in level.row().implies {
            let _ = writeln!(out, "  \"{}\" -> \"{}\";", level.code(), weaker.code());
        }
    }
    out + "}\n"
}
