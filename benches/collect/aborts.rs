//! Abort rates of mini-transactions and of general ones, by the number of sessions (after MTC, Fig. 11).

use crate::{open, run};
use isoscope::collect::Recorder;
use isoscope::export::chart::{Axis, Chart, Series, Unit, svg};
use isoscope::generate::{Distribution, Kind, Length, Workload};
use std::path::Path;

const SESSIONS: [u32; 5] = [2, 5, 10, 15, 20];
/// Transactions of all sessions together.
const TRANSACTIONS: u64 = 2000;

pub(crate) fn measure(db: &str, isolations: &[String], path: &Path) -> anyhow::Result<()> {
    let mut all = Vec::new();
    for isolation in isolations {
        let driver = open(db, isolation)?;
        for (name, kind, operations) in [("mini", Kind::Mini, 4), ("general, 20 operations", Kind::General, 20)] {
            let mut points = Vec::new();
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
                let rate = run(&*driver, workload, &Recorder::nowhere())?.abort_rate();
                points.push((f64::from(sessions), rate));
            }
            all.push(Series { label: format!("{name}, {isolation}"), points });
        }
    }
    let heads: Vec<String> = SESSIONS.iter().map(|n| format!("{n} sessions")).collect();
    println!("| aborted | {} |\n|---{}|", heads.join(" | "), "|---".repeat(SESSIONS.len()));
    for Series { label, points } in &all {
        let cells: Vec<String> = points.iter().map(|(_, rate)| format!("{:.1} %", 100.0 * rate)).collect();
        println!("| {label} | {} |", cells.join(" | "));
    }
    let axis = |name: &str, unit| Axis { name: name.to_owned(), unit, logarithmic: false };
    let chart = Chart {
        title: "Aborted transactions by number of sessions".to_owned(),
        x: axis("sessions", Unit::Number),
        y: axis("aborted", Unit::Percent),
        series: all,
    };
    Ok(std::fs::write(path, svg(&[chart]))?)
}
