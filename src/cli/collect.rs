//! `isoscope collect`: runs a workload against a database and records the history.

use super::output::Output;
use super::progress;
use super::workload::WorkloadArguments;
use super::{ExitCode, complain};
use crate::collect::{Snapshot, Statistics};
use crate::control::Control;
use crate::generate::Workload;
use crate::hunt::{Opened, Target};
use crate::report::grouped;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Which database, and how to use it.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Database")]
pub(super) struct DatabaseArguments {
    /// Address: sqlite, sqlite:FILE, postgres://…, mysql://…, redis://… (below). Tables or keys named isoscope are deleted
    #[arg(long, value_name = "URL", default_value = "sqlite")]
    db: String,
    /// Isolation level of the run [default: the strongest]
    #[arg(long, value_name = "LEVEL")]
    isolation: Option<String>,
    /// How many times an aborted transaction is retried, with other values
    #[arg(long, value_name = "N", default_value_t = 0)]
    retries: u32,
    /// Seconds for which a client tries to reconnect to a database that it has lost
    #[arg(long, value_name = "SECS", default_value_t = 2.0, value_parser = super::values::seconds)]
    patience: f64,
}

impl DatabaseArguments {
    /// Connects to the database.
    pub(super) fn open(&self) -> anyhow::Result<Opened> {
        let target = Target::Database {
            url: self.db.clone(),
            isolation: self.isolation.clone(),
            retries: self.retries,
            patience: Duration::from_secs_f64(self.patience),
        };
        Ok(target.open()?)
    }
}

/// Runs `work`, which updates the statistics it is given, and shows its progress on a terminal.
pub(super) fn watched<T>(control: &Control, work: impl FnOnce(&Statistics) -> T) -> T {
    let statistics = Statistics::new();
    let line = || {
        let percent = control.progress().fraction().map(|share| format!("{:3.0} %  ", 100.0 * share));
        percent.unwrap_or_default() + &summary(&statistics.snapshot())
    };
    progress::shown(line, || work(&statistics))
}

/// Reports sessions that ended early.
pub(super) fn complain_of_losses(snapshot: &Snapshot, workload: &Workload) {
    if snapshot.lost_sessions > 0 {
        complain(&format!(
            "{} of {} sessions ended early: the database could not be reached again",
            snapshot.lost_sessions, workload.sessions
        ));
    }
}

/// Counts and times of a run in one line.
pub(super) fn summary(snapshot: &Snapshot) -> String {
    let Snapshot { committed, aborted, unknown, elapsed, median, slow, .. } = *snapshot;
    let mut text = format!("{} committed, {} aborted", grouped(committed), grouped(aborted));
    if unknown > 0 {
        text += &format!(", {} of unknown outcome", grouped(unknown));
    }
    let milliseconds = |time: Duration| format!("{:.1}", 1000.0 * time.as_secs_f64());
    text + &format!(
        " in {:.1} s · {} per second · latency {} ms, 99 % under {} ms",
        elapsed.as_secs_f64(),
        grouped(snapshot.throughput() as u64),
        milliseconds(median),
        milliseconds(slow)
    )
}

/// What `collect` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope collect -o history.edn\n  \
    isoscope collect --db postgres://me@localhost/test --isolation repeatable-read --keys 20 -o history.edn\n  \
    isoscope collect --db mysql://root@127.0.0.1:3306/test --workload list-append -o history.edn\n  \
    isoscope collect --db redis://127.0.0.1 --workload mini --distribution zipf -o history.edn\n\n\
    Databases and their levels:\n  \
    sqlite, sqlite:FILE        serializable, immediate\n  \
    postgres://U@HOST:5432/DB  serializable, repeatable-read, read-committed (also cockroachdb://, yugabytedb://)\n  \
    mysql://U@HOST:3306/DB     serializable, repeatable-read, read-committed, read-uncommitted (also mariadb://)\n  \
    redis://HOST:6379          serializable (WATCH), read-committed (MULTI alone)\n\n\
    The file grows during the run and can be read at any moment, even after a crash: what had begun by then \
    but not ended is of unknown outcome.")]
pub struct CollectArguments {
    #[command(flatten)]
    pub(super) database: DatabaseArguments,
    #[command(flatten)]
    workload: WorkloadArguments,
    /// Seconds after which the run ends
    #[arg(long, value_name = "SECS", value_parser = super::values::seconds)]
    time_limit: Option<f64>,
    /// Where to record the history, a file that does not exist yet
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

pub(super) fn run(arguments: &CollectArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let opened = arguments.database.open()?;
    let mut control = Control::new();
    if let Some(seconds) = arguments.time_limit {
        control = control.with_time_limit(Duration::from_secs_f64(seconds));
    }
    let workload = arguments.workload.workload();
    let record = |statistics: &Statistics| opened.record(workload, &arguments.output, statistics, &control);
    let snapshot = watched(&control, record)?;
    complain_of_losses(&snapshot, &workload);
    out.text(&format!("{}\n{}\n", opened.version, summary(&snapshot)));
    Ok(ExitCode::Satisfied)
}
