//! Abort rates of mini-transactions and of general ones, by the number of sessions and by the skew of keys (after MTC,
//! Fig. 11).

use crate::{open, run};
use isoscope::collect::Recorder;
use isoscope::export::chart::{Axis, Chart, Marks, Series, Unit, svg};
use isoscope::generate::{Distribution, Kind, Length, Workload};
use std::path::Path;

const SESSIONS: [f64; 5] = [2.0, 5.0, 10.0, 15.0, 20.0];
/// Exponents of Zipf's distribution; 0 is uniform.
const SKEWS: [f64; 6] = [0.0, 0.4, 0.8, 1.0, 1.2, 1.4];
/// Transactions of all sessions together.
const TRANSACTIONS: u64 = 2000;

pub(crate) fn measure(db: &str, isolations: &[String], path: &Path) -> anyhow::Result<()> {
    let by_sessions = |n: f64| (n as u32, Distribution::Zipf(0.99));
    let by_skew = |skew: f64| {
        (
            10,
            if skew > 0.0 {
                Distribution::Zipf(skew)
            } else {
                Distribution::Uniform
            },
        )
    };
    let charts = [
        sweep((db, isolations), "sessions", &SESSIONS, &by_sessions)?,
        sweep((db, isolations), "Zipf exponent", &SKEWS, &by_skew)?,
    ];
    Ok(std::fs::write(path, svg(&charts))?)
}

/// Runs both workloads at each value, at each level; prints a table.
fn sweep(
    (db, isolations): (&str, &[String]),
    name: &str,
    values: &[f64],
    setting: &dyn Fn(f64) -> (u32, Distribution),
) -> anyhow::Result<Chart> {
    let mut series = Vec::new();
    for isolation in isolations {
        let driver = open(db, isolation)?;
        for (label, kind, operations) in [
            ("mini", Kind::Mini, 4),
            ("general, 20 operations", Kind::General, 20),
        ] {
            let mut points = Vec::new();
            for &value in values {
                let (sessions, distribution) = setting(value);
                let workload = Workload {
                    kind,
                    sessions,
                    transactions: TRANSACTIONS / u64::from(sessions),
                    operations: Length::fixed(operations),
                    keys: 1000,
                    distribution,
                    update_share: 1.0,
                    ..Workload::default()
                };
                points.push((
                    value,
                    run(&*driver, workload, &Recorder::nowhere())?.abort_rate(),
                ));
            }
            series.push(Series {
                label: format!("{label}, {isolation}"),
                points,
            });
        }
    }
    let heads: Vec<String> = values.iter().map(f64::to_string).collect();
    println!(
        "| aborted, by {name} | {} |\n|---{}|",
        heads.join(" | "),
        "|---".repeat(values.len())
    );
    for Series { label, points } in &series {
        let cells: Vec<String> = points
            .iter()
            .map(|(_, rate)| format!("{:.1} %", 100.0 * rate))
            .collect();
        println!("| {label} | {} |", cells.join(" | "));
    }
    let axis = |name: &str, unit| Axis {
        name: name.to_owned(),
        unit,
        logarithmic: false,
    };
    let title = format!("Aborted transactions by {name}");
    Ok(Chart {
        title,
        x: axis(name, Unit::Number),
        y: axis("aborted", Unit::Percent),
        series,
        marks: Marks::Dots,
        bands: Vec::new(),
    })
}
