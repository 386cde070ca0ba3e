//! `isoscope reproduce`: runs the workload of a recording again and says how often its levels are violated.

use super::ExitCode;
use super::collect::DatabaseArguments;
use super::hunt::{Playing, levels_of, play};
use super::output::{Output, codes};
use super::workload::WorkloadArguments;
use crate::checkers::Level;
use crate::formats::recording::{AGAIN, RECORDED};
use crate::hunt::{Hunt, Plan};
use anyhow::Context;
use clap::{Args, Parser};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Bytes of the description of a recording.
const DESCRIPTION: u64 = 1 << 16;

/// What `reproduce` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope reproduce isoscope-hunt/seed-1.edn --db postgres://me@localhost/test\n  \
    isoscope reproduce isoscope-hunt/seed-1.report --db primary=postgres://me@localhost:5432/test \\\n      \
    --db standby=postgres://me@localhost:5433/test,read-only --rounds 20\n\n\
    The recording says which workload at which isolation level it was; where the database is, and what breaks meanwhile, is \
    said here. Nothing else is taken from the recording, and no command in it is run.\n\n\
    Exit codes: 0 no violation in any round, 1 violated in some, 2 bad usage or a database that does not answer, 3 undecided.")]
pub struct ReproduceArguments {
    /// A recording of collect or hunt, or the report that hunt wrote next to it
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    #[command(flatten)]
    database: DatabaseArguments,
    /// Levels to check [default: what the database promises at this isolation level]
    #[arg(long, value_name = "L", value_delimiter = ',', value_parser = super::values::level)]
    level: Vec<Level>,
    /// How many times it is run
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// Seconds for checking one round; levels not decided by then are undecided
    #[arg(long, value_name = "SECS", value_parser = super::values::seconds)]
    check_time_limit: Option<f64>,
    /// Folder for what is found
    #[arg(
        short,
        long,
        value_name = "FOLDER",
        default_value = "isoscope-reproduce"
    )]
    output: PathBuf,
}

/// What a recording says about its run.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Again {
    #[arg(long)]
    isolation: Option<String>,
    #[command(flatten)]
    workload: WorkloadArguments,
}

pub(super) fn run(arguments: &ReproduceArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let recording = if arguments
        .recording
        .extension()
        .is_some_and(|ending| ending == "report")
    {
        arguments.recording.with_extension("edn")
    } else {
        arguments.recording.clone()
    };
    let again = described(&recording)?;
    let opened = arguments.database.open_at(again.isolation.as_deref())?;
    let levels = levels_of(&arguments.level, &opened)?;
    let folder = &arguments.output;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let playing = Playing {
        opened: &opened,
        levels: &levels,
        promise: None,
        check_time_limit: arguments.check_time_limit,
        ends_early: true,
    };
    let (mut worst, mut violated) = (ExitCode::Satisfied, 0);
    for n in 1..=arguments.rounds {
        let workload = again.workload.workload()?;
        let mut hunt = Hunt::new(Plan {
            workload,
            rounds: 1,
            time: None,
            keep: false,
        });
        let code = play(
            &mut hunt,
            &playing,
            violated == 0,
            |_| folder.join(format!("run-{n}.edn")),
            out,
        )?;
        let Some(code) = code else { break };
        violated += u64::from(code == ExitCode::Violated);
        worst = worst.max(code);
    }
    out.text(&format!(
        "{} of {} runs violate {}\n",
        violated,
        arguments.rounds,
        codes(levels.iter().copied())
    ));
    Ok(if violated > 0 {
        ExitCode::Violated
    } else {
        worst
    })
}

/// What the first line of a recording says.
fn described(recording: &Path) -> anyhow::Result<Again> {
    let shown = || recording.display().to_string();
    let file = File::open(recording).with_context(shown)?;
    let mut line = Vec::new();
    BufReader::new(file.take(DESCRIPTION))
        .read_until(b'\n', &mut line)
        .with_context(shown)?;
    let line = String::from_utf8_lossy(&line);
    let missing = || {
        format!(
            "{}: line 1: expected the description of a recording of collect or hunt",
            shown()
        )
    };
    let (_, words) = line.rsplit_once(AGAIN).with_context(missing)?;
    let parsed = Again::try_parse_from(words.split_whitespace());
    parsed
        .ok()
        .filter(|_| line.starts_with(&format!("; {RECORDED}")))
        .with_context(missing)
}
