//! Abort rates of mini-transactions and of general ones, by the number of sessions (after MTC, Fig. 11).

use crate::{open, run};
use isoscope::collect::Recorder;
use isoscope::generate::{Distribution, Kind, Length, Workload};
use std::fmt::Write;
use std::path::Path;

const SESSIONS: [u32; 5] = [2, 5, 10, 15, 20];
/// Transactions of all sessions together.
const TRANSACTIONS: u64 = 2000;
const COLOURS: [&str; 8] = ["#000000", "#d55e00", "#0072b2", "#009e73", "#b0609a", "#e69f00", "#56b4e9", "#777777"];

/// A line of the plot: what it is, and an abort rate for each number of sessions.
struct Series {
    label: String,
    rates: Vec<f64>,
}

pub(crate) fn measure(db: &str, isolations: &[String], path: &Path) -> anyhow::Result<()> {
    let mut all = Vec::new();
    for isolation in isolations {
        let driver = open(db, isolation)?;
        for (name, kind, operations) in [("mini", Kind::Mini, 4), ("general, 20 operations", Kind::General, 20)] {
            let mut rates = Vec::new();
            for sessions in SESSIONS {
                let workload = Workload {
                    kind,
                    sessions,
                    transactions: TRANSACTIONS / u64::from(sessions),
                    operations: Length::fixed(operations),
                    keys: 1000,
                    distribution: Distribution::Zipf(0.99),
                    update_share: 1.0,
                    ..Workload::default()
                };
                rates.push(run(&*driver, workload, &Recorder::nowhere())?.abort_rate());
            }
            all.push(Series { label: format!("{name}, {isolation}"), rates });
        }
    }
    let heads: Vec<String> = SESSIONS.iter().map(|n| format!("{n} sessions")).collect();
    println!("| aborted | {} |\n|---{}|", heads.join(" | "), "|---".repeat(SESSIONS.len()));
    for Series { label, rates } in &all {
        let cells: Vec<String> = rates.iter().map(|rate| format!("{:.1} %", 100.0 * rate)).collect();
        println!("| {label} | {} |", cells.join(" | "));
    }
    Ok(std::fs::write(path, svg(&all))?)
}

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 500.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 324.0;

fn svg(all: &[Series]) -> String {
    let most = all.iter().flat_map(|series| &series.rates).fold(0.01f64, |most, rate| most.max(*rate));
    // Whole steps of five per cent above the highest rate.
    let top = (most * 20.0).ceil() / 20.0;
    let widest = f64::from(SESSIONS[SESSIONS.len() - 1]);
    let x = |sessions: f64| LEFT + (RIGHT - LEFT) * sessions / widest;
    let y = |rate: f64| BOTTOM - (BOTTOM - TOP) * rate / top;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"Hack, monospace\" font-size=\"13\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"16\">Aborted transactions by number of sessions</text>\n"
    );
    for step in 0..=4 {
        let rate = top * f64::from(step) / 4.0;
        let (at, label) = (y(rate), format!("{:.1} %", 100.0 * rate));
        let _ = writeln!(out, r##"<path d="M{LEFT} {at:.1}H{RIGHT}" stroke="#bbbbbb"/>"##);
        let _ = writeln!(out, r#"<text x="{}" y="{:.1}" text-anchor="end">{label}</text>"#, LEFT - 8.0, at + 4.5);
    }
    for sessions in SESSIONS {
        let (at, below) = (x(f64::from(sessions)), BOTTOM + 20.0);
        let _ = writeln!(out, r#"<text x="{at:.1}" y="{below}" text-anchor="middle">{sessions}</text>"#);
    }
    for (place, Series { label, rates }) in all.iter().enumerate() {
        let colour = COLOURS[place % COLOURS.len()];
        let points: Vec<(f64, f64)> =
            SESSIONS.iter().zip(rates).map(|(&n, &rate)| (x(f64::from(n)), y(rate))).collect();
        let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let path = line.join("L");
        let _ = writeln!(out, r#"<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>"#);
        for (x, y) in points {
            let _ = writeln!(out, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="{colour}"/>"#);
        }
        let at = TOP + 10.0 + 22.0 * place as f64;
        let _ = writeln!(out, r#"<text x="{}" y="{at}" fill="{colour}">{label}</text>"#, RIGHT + 14.0);
    }
    out.push_str("</svg>\n");
    out
}
