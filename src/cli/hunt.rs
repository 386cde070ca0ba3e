//! `isoscope hunt`: runs a workload against a database until an anomaly appears.

use super::collect::{DatabaseArguments, Opened, summary};
use super::output::{self, Output, Paint};
use super::workload::WorkloadArguments;
use super::{ExitCode, MINIMIZING, complain};
use crate::checkers::{self, Findings, Level, Options};
use crate::control::Control;
use crate::counterexample::{self, title};
use crate::export::{ComposeOptions, ExportKind, compose, export};
use crate::formats::{self, Request};
use crate::generate::Workload;
use crate::history::History;
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
    A folder, named by -o, gets the history of the round that violates a level, and the first violation in words and as \
    a picture. `isoscope collect --help` lists databases and their levels.\n\n\
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
        out.text(&format!("seed {}  {}\n", workload.seed, summary(&snapshot)));
        let code = judge(arguments, &levels, &path, out)?;
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

/// Checks the history of a round and tells the verdicts; what violates a level is left in the folder.
fn judge(arguments: &HuntArguments, levels: &[Level], path: &Path, out: &mut Output) -> anyhow::Result<ExitCode> {
    let mut control = Control::new();
    if let Some(seconds) = arguments.check_time_limit {
        control = control.with_time_limit(Duration::from_secs_f64(seconds));
    }
    let history = formats::open(path, Request { format: None, rules: None }, &Control::new())?;
    let options = Options { levels: levels.to_vec(), ..Options::default() };
    let findings = checkers::check(&history, &options, &control, &|_| {});
    for result in &findings.levels {
        let paint = match result.verdict {
            checkers::Verdict::Satisfied(_) => Paint::Good,
            checkers::Verdict::Violated => Paint::Bad,
            checkers::Verdict::Undecided(_) => Paint::Open,
        };
        let verdict = out.paint(paint, result.verdict.word());
        out.text(&format!("  {:4}  {verdict}\n", result.level.code()));
    }
    let code = super::check::exit_code(&findings);
    if code == ExitCode::Violated {
        leave(arguments, &history, &findings, out)?;
        out.text(&format!("\nisoscope check {}   tells more\n", path.display()));
    }
    Ok(code)
}

/// Leaves the first violation of the weakest level in the folder, in words and as a picture.
fn leave(arguments: &HuntArguments, history: &History, findings: &Findings, out: &mut Output) -> anyhow::Result<()> {
    let weakest = findings.violations.iter().min_by_key(|violation| (violation.levels.weakest(), violation.id));
    let Some(violation) = weakest else {
        complain("the level is violated, but no single violation is listed");
        return Ok(());
    };
    let example = counterexample::minimize(history, violation, &Control::new().with_time_limit(MINIMIZING));
    let explanation = counterexample::explain(&example);
    let picture = compose(&example, &explanation, history, &ComposeOptions::for_history(history));
    out.text(&format!("\n{}  {}\n", violation.id, title(history, violation)));
    for kind in [ExportKind::Markdown, ExportKind::Svg] {
        let path = arguments.output.join("violation").with_extension(kind.extension());
        let bytes = export(kind, &picture).with_context(|| path.display().to_string())?;
        output::write_file(&path, out, |file| Ok(file.write_all(&bytes)?))?;
        out.text(&format!("  {}\n", path.display()));
    }
    Ok(())
}
