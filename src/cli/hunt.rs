//! `isoscope hunt`: runs a workload against a database until an anomaly appears.

use super::collect::{DatabaseArguments, Opened, summary};
use super::output::{self, Output, Paint};
use super::workload::WorkloadArguments;
use super::{ExitCode, MINIMIZING, check, complain, report};
use crate::checkers::{Level, Options, Verdict};
use crate::control::Control;
use crate::counterexample::{self, title};
use crate::export::ComposeOptions;
use crate::export::bundle::{self, Brief};
use crate::formats::{self, Request};
use crate::generate::Workload;
use anyhow::Context;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Rounds where neither their number nor a time is given.
const ROUNDS: u64 = 10;

/// What `hunt` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope hunt --rounds 5\n  \
    isoscope hunt --db postgres://me@localhost/test --isolation repeatable-read --level SER --keys 10 -o found/\n  \
    isoscope hunt --db mysql://root@127.0.0.1:3306/test --isolation repeatable-read --workload mini --time 600\n\n\
    A folder, named by -o, gets the history of the round that violates a level, and a report of the violation that is \
    easiest to follow. `isoscope collect --help` lists databases and their levels.\n\n\
    Exit codes: 0 no violation in any round, 1 violated, 2 bad usage or a database that does not answer, 3 undecided.")]
pub struct HuntArguments {
    #[command(flatten)]
    database: DatabaseArguments,
    #[command(flatten)]
    workload: WorkloadArguments,
    /// Levels to check [default: what the database promises at this isolation level]
    #[arg(long, value_name = "L", value_delimiter = ',', value_parser = super::args::level)]
    level: Vec<Level>,
    /// Rounds, each with the next seed [default: 10, or as many as --time allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
    /// Seconds after which no round begins and a running one is cut short
    #[arg(long, value_name = "SECS", value_parser = super::args::seconds)]
    time: Option<f64>,
    /// Seconds for checking one round; what is not known then is undecided
    #[arg(long, value_name = "SECS", value_parser = super::args::seconds)]
    check_time_limit: Option<f64>,
    /// Folder for what is found
    #[arg(short, long, value_name = "FOLDER", default_value = "isoscope-hunt")]
    output: PathBuf,
    /// Keep the histories of all rounds
    #[arg(long)]
    keep: bool,
}

pub(super) fn run(arguments: &HuntArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let opened = arguments.database.open()?;
    let levels = levels(arguments, &opened)?;
    let folder = &arguments.output;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let rounds = arguments.rounds.unwrap_or(if arguments.time.is_some() { u64::MAX } else { ROUNDS });
    let end = arguments.time.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
    let mut worst = ExitCode::Satisfied;
    for round in 0..rounds {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            break;
        }
        let workload = arguments.workload.workload();
        let workload = Workload { seed: workload.seed.wrapping_add(round), ..workload };
        let path = folder.join(format!("seed-{}.edn", workload.seed));
        let control = left.map_or_else(Control::new, |left| Control::new().with_time_limit(left));
        let snapshot = opened.record(workload, &path, &control)?;
        // The time ran out before anything was done.
        if snapshot.committed + snapshot.aborted + snapshot.unknown == 0 {
            std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
            break;
        }
        out.text(&format!("seed {}  {}\n", workload.seed, summary(&snapshot)));
        let code = judge(arguments, &opened, &levels, &path, out)?;
        worst = worst.max(code);
        if code == ExitCode::Violated {
            return Ok(code);
        }
        if code == ExitCode::Satisfied && !arguments.keep {
            std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
    }
    Ok(worst)
}

/// The levels to check: those asked for, else what the database promises.
fn levels(arguments: &HuntArguments, opened: &Opened) -> anyhow::Result<Vec<Level>> {
    if !arguments.level.is_empty() {
        return Ok(arguments.level.clone());
    }
    let promise = opened.isolation.promises.with_context(|| {
        let (database, isolation) = (opened.database.name, opened.isolation.name);
        format!("{database} promises no level that is checked here at {isolation}, name one with --level")
    })?;
    Ok(vec![promise.parse().map_err(|error: String| anyhow::anyhow!(error))?])
}

/// Checks the history of a round and tells the verdicts; beside one that violates a level its report is left.
fn judge(
    arguments: &HuntArguments,
    opened: &Opened,
    levels: &[Level],
    path: &Path,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let mut control = Control::new();
    if let Some(seconds) = arguments.check_time_limit {
        control = control.with_time_limit(Duration::from_secs_f64(seconds));
    }
    let history = formats::open(path, Request { format: None, rules: None }, &Control::new())?;
    let options = Options { levels: levels.to_vec(), ..Options::default() };
    let (health, findings) = check::examine_and_check(&history, &options, &control);
    for result in &findings.levels {
        let paint = match result.verdict {
            Verdict::Satisfied(_) => Paint::Good,
            Verdict::Violated => Paint::Bad,
            Verdict::Undecided(_) => Paint::Open,
        };
        let verdict = out.paint(paint, result.verdict.word());
        out.text(&format!("  {:4}  {verdict}\n", result.level.code()));
    }
    let code = check::exit_code(&findings);
    if code != ExitCode::Violated {
        return Ok(code);
    }
    let Some(violation) = report::most_telling(&findings) else {
        complain("the level is violated, but no single violation is listed");
        return Ok(code);
    };
    out.text(&format!("\n{}  {}\n", violation.id, title(&history, violation)));
    let example = counterexample::minimize(&history, violation, &Control::new().with_time_limit(MINIMIZING));
    let brief = Brief {
        example: &example,
        explanation: &counterexample::explain(&example),
        violation,
        whole: &history,
        findings: &findings,
        health: &health,
        options: &ComposeOptions::for_history(&history),
        isolation: opened.isolation.name.parse().ok(),
        // Not this command line: the database's address may have a password in it.
        command: format!("isoscope report {} --violation {} -o report/", path.display(), violation.id),
    };
    let folder = path.with_extension("report");
    let files = bundle::bundle(&brief, &Control::new()).with_context(|| folder.display().to_string())?;
    output::write_folder(&folder, files)?;
    out.text(&format!("  {}\n  {}\n", path.display(), folder.join("report.html").display()));
    Ok(code)
}
