//! How often rounds of a workload show a violation, with mini-transactions and with list-append (after MTC, Figs. 13 and 14).

use crate::{open, run};
use isoscope::checkers::{self, Level, Options, Verdict};
use isoscope::collect::Recorder;
use isoscope::control::Control;
use isoscope::formats::{self, Request};
use isoscope::generate::{Distribution, Kind, Length, Workload};
use std::time::{Duration, Instant};

/// Sessions, transactions of each, and keys of a round.
const SESSIONS: u32 = 10;
const TRANSACTIONS: u64 = 100;
const KEYS: u64 = 20;

pub(crate) fn measure(
    db: &str,
    isolations: &[String],
    level: Level,
    minutes: f64,
) -> anyhow::Result<()> {
    println!(
        "| workload | isolation | rounds | with a violation of {level} | to the first | violating rounds in 30 min |"
    );
    println!("|---|---|---|---|---|---|");
    for isolation in isolations {
        for (name, kind) in [
            ("mini-transactions", Kind::Mini),
            ("list-append", Kind::ListAppend),
        ] {
            let begin = Instant::now();
            let (mut rounds, mut found, mut first) = (0u64, 0u64, None);
            while begin.elapsed() < Duration::from_secs_f64(60.0 * minutes) {
                rounds += 1;
                if round(db, isolation, kind, level, rounds)? {
                    found += 1;
                    first = first.or(Some(begin.elapsed()));
                }
            }
            let first = first.map_or("-".to_owned(), |first| {
                format!("{:.1} s", first.as_secs_f64())
            });
            let rate = found as f64 / begin.elapsed().as_secs_f64() * 1800.0;
            println!("| {name} | {isolation} | {rounds} | {found} | {first} | {rate:.0} |");
        }
    }
    Ok(())
}

/// Runs one round, recorded, and says whether it violates the level.
fn round(db: &str, isolation: &str, kind: Kind, level: Level, seed: u64) -> anyhow::Result<bool> {
    let workload = Workload {
        kind,
        seed,
        sessions: SESSIONS,
        transactions: TRANSACTIONS,
        operations: Length::fixed(4),
        keys: KEYS,
        distribution: Distribution::Zipf(0.99),
        ..Workload::default()
    };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("history.edn");
    run(
        &*open(db, isolation)?,
        workload,
        &Recorder::create(&path, "round")?,
    )?;
    let history = formats::open(
        &path,
        Request {
            format: None,
            rules: None,
        },
        &Control::new(),
    )?;
    let options = Options {
        levels: vec![level],
        max_instances: 0,
        ..Options::default()
    };
    let findings = checkers::check(&history, &options, &Control::new(), &|_| {});
    Ok(findings
        .level(level)
        .is_some_and(|result| result.verdict == Verdict::Violated))
}
