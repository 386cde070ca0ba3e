//! The default workloads of the papers, from a database to verdicts.

use crate::{open, run};
use isoscope::checkers::{self, Level, Options};
use isoscope::collect::Recorder;
use isoscope::control::Control;
use isoscope::formats::{self, Request};
use isoscope::generate::{Distribution, Length, Workload};
use std::time::Instant;

/// Name, sessions, transactions of each, operations of each, and how keys are chosen; 10,000 keys and as many reads as
/// writes.
const WORKLOADS: [(&str, u32, u64, u32, Distribution); 2] = [
    ("Plume", 25, 200, 20, Distribution::Uniform),
    ("PolySI", 20, 100, 15, Distribution::Zipf(0.99)),
];

pub(crate) fn measure(db: &str, isolations: &[String]) -> anyhow::Result<()> {
    println!("| workload | isolation | committed | aborted | run | read | check | verdicts |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, sessions, transactions, operations, distribution) in WORKLOADS {
        for isolation in isolations {
            let operations = Length::fixed(operations);
            let workload = Workload {
                sessions,
                transactions,
                operations,
                distribution,
                keys: 10_000,
                ..Workload::default()
            };
            let folder = tempfile::tempdir()?;
            let path = folder.path().join("history.edn");
            let snapshot = run(
                &*open(db, isolation)?,
                workload,
                &Recorder::create(&path, name)?,
            )?;
            let begin = Instant::now();
            let history = formats::open(
                &path,
                Request {
                    format: None,
                    rules: None,
                },
                &Control::new(),
            )?;
            let read = begin.elapsed().as_secs_f64();
            let begin = Instant::now();
            let options = Options {
                levels: Level::of(&history),
                ..Options::default()
            };
            let findings = checkers::check(&history, &options, &Control::new(), &|_| {});
            let check = begin.elapsed().as_secs_f64();
            let verdicts: Vec<String> = findings
                .levels
                .iter()
                .map(|r| format!("{} {}", r.level.code(), r.verdict.word()))
                .collect();
            println!(
                "| {name} | {isolation} | {} | {} | {:.2} s | {read:.3} s | {check:.3} s | {} |",
                snapshot.committed,
                snapshot.aborted,
                snapshot.elapsed.as_secs_f64(),
                verdicts.join(", ")
            );
        }
    }
    Ok(())
}
