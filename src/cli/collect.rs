//! `isoscope collect`: runs a workload against a database and records the history.

use super::follow_text::time;
use super::follow_voice::{self, Voice};
use super::output::{Output, Paint};
use super::progress;
use super::workload::WorkloadArguments;
use super::{ExitCode, complain, follow_events};
use crate::checkers::Level;
use crate::collect::{
    Address, Barriers, ClientOptions, FaultForm, FaultKind, FaultPlan, Named, Requirement,
    Snapshot, Statistics, WriteOrder, servers,
};
use crate::control::Control;
use crate::follow::{Answer, Options};
use crate::generate::Workload;
use crate::history::{counted, visible};
use crate::hunt::{Live, News, Of, Opened, Target};
use crate::report::{FollowedEvent, FoundViolation, grouped};
use anyhow::Context;
use clap::Args;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Which database, and how to use it.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Database")]
pub(super) struct DatabaseArguments {
    /// Address: sqlite, sqlite:FILE, postgres://…, mysql://…, redis://…; once for each server (below), or @FILE with one on each line. Tables isoscope and isoscope_list, or keys isoscope:*, are deleted
    #[arg(long, value_name = "[NAME=]URL", default_value = "sqlite")]
    db: Vec<Servers>,
    /// Command of a driver program, in place of --db: JSON lines on its standard streams (docs/drivers.md)
    #[arg(long, value_name = "[NAME=]CMD", conflicts_with = "db")]
    exec: Vec<Address>,
    /// How many sessions use a server; the others share the rest in turn
    #[arg(long, value_name = "NAME=N", value_parser = sessions_on)]
    sessions_on: Vec<(String, u32)>,
    /// Isolation level of the run [default: the strongest]
    #[arg(long, value_name = "LEVEL")]
    isolation: Option<String>,
    /// How many times an aborted transaction is retried, with other values
    #[arg(long, value_name = "N", default_value_t = 0)]
    retries: u32,
    /// Seconds for which a client tries to reconnect to a database that it has lost
    #[arg(long, value_name = "SECS", default_value_t = 2.0, value_parser = super::values::seconds)]
    patience: f64,
    /// Let transactions write their keys in any order, so that they may wait for each other: deadlocks
    #[arg(long)]
    any_order: bool,
    /// At the end, when every fault is healed, read each key that was written, on each server
    #[arg(long)]
    final_reads: bool,
    /// Seconds between two barriers, or none: there each client waits until it sees what all others have done, so that a
    /// check can forget what was before [default: 60 where a run is checked meanwhile, else none]
    #[arg(long, value_name = "SECS", value_parser = barriers)]
    barrier: Option<Barriers>,
    #[command(flatten)]
    faults: FaultArguments,
}

/// `SECS` or `none`.
fn barriers(text: &str) -> Result<Barriers, String> {
    match text {
        "none" => Ok(Barriers::Never),
        _ => super::values::seconds(text)
            .map(|seconds| Barriers::Every(Duration::from_secs_f64(seconds)))
            .map_err(|error| format!("{error} or none")),
    }
}

/// The servers of one `--db`.
#[derive(Clone, Debug)]
struct Servers(Vec<Address>);

impl FromStr for Servers {
    type Err = String;

    fn from_str(argument: &str) -> Result<Servers, String> {
        servers(argument).map(Servers)
    }
}

/// What breaks while the workload runs.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Faults")]
struct FaultArguments {
    /// A command that breaks something, run by the shell
    #[arg(long, value_name = "NAME=CMD")]
    fault_cmd: Vec<Named>,
    /// The command that heals the fault of this name
    #[arg(long, value_name = "NAME=CMD")]
    heal_cmd: Vec<Named>,
    /// A process of this machine to pause with its children: its number, or the file that holds it
    #[arg(long, value_name = "NAME=PID")]
    pause: Vec<Named>,
    /// A process of this machine to kill with its children, and to start again as it was
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "NAME=PID")]
    kill: Vec<Named>,
    /// A process of this machine that is asked to end (SIGTERM), and started again as it was
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "NAME=PID")]
    restart: Vec<Named>,
    /// A folder whose file system is filled, up to 8 GB: give the server a small one of its own
    #[arg(long, value_name = "NAME=FOLDER")]
    disk_full: Vec<Named>,
    /// What a relay in front of a server does to connections: cut, hold (nothing passes) or delay:MILLISECONDS
    #[arg(long, value_name = "NAME=HOW")]
    relay: Vec<Named>,
    /// Seconds between two faults
    #[arg(long, value_name = "SECS", default_value_t = 5.0, value_parser = super::values::seconds)]
    every: f64,
    /// Seconds that a fault lasts
    #[arg(long = "for", value_name = "SECS", default_value_t = 2.0, value_parser = super::values::seconds)]
    lasting: f64,
}

impl FaultArguments {
    fn plan(&self) -> anyhow::Result<FaultPlan> {
        let heals = |name: &str| {
            self.heal_cmd
                .iter()
                .find(|heal| heal.name == name)
                .map(|heal| heal.command.clone())
        };
        if let Some(heal) = self
            .heal_cmd
            .iter()
            .find(|heal| !self.fault_cmd.iter().any(|f| f.name == heal.name))
        {
            anyhow::bail!("--heal-cmd {}: no --fault-cmd has this name", heal.name);
        }
        let form = |kind: FaultKind, Named { name, command }: &Named| {
            let heal = if kind == FaultKind::Command {
                heals(name)
            } else {
                None
            };
            FaultForm {
                kind,
                name: name.clone(),
                target: command.clone(),
                heal,
            }
        };
        let of = |kind, all: &[Named]| {
            all.iter()
                .map(|named| form(kind, named))
                .collect::<Vec<_>>()
        };
        let mut forms = of(FaultKind::Command, &self.fault_cmd);
        forms.extend(of(FaultKind::Pause, &self.pause));
        #[cfg(target_os = "linux")]
        forms.extend(
            [
                of(FaultKind::Kill, &self.kill),
                of(FaultKind::Restart, &self.restart),
            ]
            .concat(),
        );
        forms.extend(of(FaultKind::DiskFull, &self.disk_full));
        forms.extend(of(FaultKind::Relay, &self.relay));
        let [every, lasting] = [self.every, self.lasting].map(Duration::from_secs_f64);
        Ok(FaultPlan {
            forms,
            every,
            lasting,
        })
    }
}

/// `NAME=N`.
fn sessions_on(text: &str) -> Result<(String, u32), String> {
    let parsed = text
        .split_once('=')
        .and_then(|(name, n)| Some((name.to_owned(), n.parse().ok()?)));
    parsed.ok_or_else(|| "expected the name of a server and a number, like standby=2".to_owned())
}

impl DatabaseArguments {
    /// How many sessions are placed on servers by name.
    pub(super) fn placed_sessions(&self) -> u32 {
        let placed: u32 = self
            .sessions_on
            .iter()
            .map(|(_, n)| *n)
            .fold(0, u32::saturating_add);
        placed.saturating_add(u32::from(placed > 0))
    }

    /// Connects to the database.
    pub(super) fn open(&self) -> anyhow::Result<Opened> {
        self.open_at(None)
    }

    /// Connects to the database, at this isolation level if no other is requested.
    pub(super) fn open_at(&self, isolation: Option<&str>) -> anyhow::Result<Opened> {
        let program = |address: &Address| Address {
            program: true,
            ..address.clone()
        };
        let mut servers: Vec<Address> = if self.exec.is_empty() {
            self.db.iter().flat_map(|named| named.0.clone()).collect()
        } else {
            self.exec.iter().map(program).collect()
        };
        for (name, n) in &self.sessions_on {
            let server = servers
                .iter_mut()
                .find(|server| server.name.as_ref() == Some(name));
            server
                .with_context(|| format!("--sessions-on {name}: no server has this name"))?
                .sessions = Some(*n);
        }
        let target = Target::Database {
            servers,
            isolation: self
                .isolation
                .clone()
                .or_else(|| isolation.map(str::to_owned)),
            clients: ClientOptions {
                retries: self.retries,
                patience: Duration::from_secs_f64(self.patience),
                write_order: if self.any_order {
                    WriteOrder::Any
                } else {
                    WriteOrder::Sorted
                },
                final_reads: self.final_reads,
                barriers: self.barrier.unwrap_or_default(),
            },
            faults: self.faults.plan()?,
        };
        Ok(target.open()?)
    }
}

/// Runs `work`, which updates the statistics it is given, and shows its progress on a terminal, with `more`.
pub(super) fn watched<T>(
    control: &Control,
    more: impl Fn() -> String + Sync,
    work: impl FnOnce(&Statistics) -> T,
) -> T {
    let statistics = Statistics::default();
    let line = || {
        let percent = control
            .progress()
            .fraction()
            .map(|share| format!("{:3.0} %  ", 100.0 * share));
        percent.unwrap_or_default() + &summary(&statistics.snapshot()) + &more()
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
    let Snapshot {
        committed,
        aborted,
        unknown,
        elapsed,
        median,
        slow,
        ..
    } = *snapshot;
    let mut text = format!(
        "{} committed, {} aborted",
        grouped(committed),
        grouped(aborted)
    );
    if unknown > 0 {
        text += &format!(", {} of unknown outcome", grouped(unknown));
    }
    let milliseconds = |time: Duration| format!("{:.1}", 1000.0 * time.as_secs_f64());
    let barriers = match snapshot.barriers {
        0 => String::new(),
        n => format!(
            " · {} of {} ms",
            counted(n as usize, "barrier"),
            milliseconds(snapshot.barrier_time)
        ),
    };
    text + &format!(
        " in {:.1} s · {} per second · median latency {} ms, p99 {} ms",
        elapsed.as_secs_f64(),
        grouped(snapshot.throughput() as u64),
        milliseconds(median),
        milliseconds(slow)
    ) + &barriers
}

/// What `collect` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope collect -o history.edn\n  \
    isoscope collect --follow -o history.edn\n  \
    isoscope collect --db postgres://me@localhost/test --isolation repeatable-read --keys 20 -o history.edn\n  \
    isoscope collect --db mysql://root@127.0.0.1:3306/test --workload list-append -o history.edn\n  \
    isoscope collect --db primary=postgres://me@localhost:5432/test --db standby=postgres://me@localhost:5433/test,read-only \
      --isolation repeatable-read -o history.edn\n  \
    isoscope collect --db redis://127.0.0.1 --workload mini --distribution zipf -o history.edn\n\n\
    Databases and their levels:\n  \
    sqlite, sqlite:FILE        serializable, immediate\n  \
    postgres://U@HOST:5432/DB  serializable, repeatable-read, read-committed (also cockroachdb://, yugabytedb://)\n  \
    mysql://U@HOST:3306/DB     serializable, repeatable-read, read-committed, read-uncommitted (also mariadb://)\n  \
    redis://HOST:6379          serializable (WATCH), read-committed (MULTI alone)\n\n\
    Several servers: --db NAME=URL for each, `,read-only` behind the URL of one that accepts no writes. Sessions are spread \
    over them, and the history says where each ran.\n\n\
    TLS: `?tls=on` behind the URL, `?tls=FILE` with the authority's certificate in a PEM file, rediss://…, or the \
    sslmode and sslrootcert of PostgreSQL. The server's certificate is verified.\n\n\
    The file grows during the run and can be read at any moment, even after a crash: what had begun by then \
    but not ended is of unknown outcome.")]
pub struct CollectArguments {
    #[command(flatten)]
    pub(super) database: DatabaseArguments,
    #[command(flatten)]
    workload: WorkloadArguments,
    /// Seconds for which transactions run, once all sessions are connected
    #[arg(long, value_name = "SECS", value_parser = super::values::seconds)]
    time_limit: Option<f64>,
    /// Where to record the history, a file that does not exist yet
    #[arg(
        short,
        long,
        value_name = "OUT",
        required_unless_present = "conformance"
    )]
    output: Option<PathBuf>,
    /// Check the recording while it grows: each violation is shown as soon as it is decided, and the verdicts at the end.
    /// The exit code is that of a check
    #[arg(long, requires = "output")]
    follow: bool,
    /// Levels to check meanwhile, as in `check --follow`
    #[arg(long, value_name = "L", value_delimiter = ',', value_parser = super::values::level, requires = "follow")]
    level: Vec<Level>,
    /// Record nothing, but play every outcome once and say what the driver does wrong
    #[arg(long, conflicts_with = "output")]
    conformance: bool,
}

/// Says what a driver does right and wrong.
fn conformance(opened: &Opened, out: &mut Output) -> ExitCode {
    let mut code = ExitCode::Satisfied;
    out.text(&format!("{}\n", opened.version));
    for Requirement { what, found } in opened.conformance() {
        let (paint, word, more) = match &found {
            Ok(more) => (Paint::Good, "ok    ", more),
            Err(why) => (Paint::Bad, "wrong ", why),
        };
        let more = if more.is_empty() {
            String::new()
        } else {
            format!(": {more}")
        };
        out.text(&format!("  {}{what}{more}\n", out.paint(paint, word)));
        if found.is_err() {
            code = ExitCode::Violated;
        }
    }
    code
}

pub(super) fn run(arguments: &CollectArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let opened = arguments.database.open()?;
    let Some(output) = &arguments.output else {
        return Ok(conformance(&opened, out));
    };
    let control = Control::new();
    let run = (
        arguments.workload.workload()?,
        arguments.time_limit.map(Duration::from_secs_f64),
    );
    if arguments.follow {
        let options = Options {
            levels: follow_voice::levels(&arguments.level)?,
            ..Options::default()
        };
        return followed(&opened, run, output, options, &control, out);
    }
    let record = |statistics: &Statistics| opened.record(run, output, statistics, &control, None);
    let snapshot = watched(&control, String::new, record)?;
    report_recorded(&opened, &run.0, &snapshot, out);
    Ok(ExitCode::Satisfied)
}

fn report_recorded(opened: &Opened, workload: &Workload, snapshot: &Snapshot, out: &mut Output) {
    complain_of_losses(snapshot, workload);
    match (snapshot.missed_barriers, snapshot.last_missed) {
        (0, _) => {}
        (1, barrier) => complain(&format!("1 client did not see barrier {barrier}")),
        (n, barrier) => complain(&format!(
            "{n} clients did not see a barrier, the last of them barrier {barrier}"
        )),
    }
    out.text(&format!("{}\n{}\n", opened.version, summary(snapshot)));
}

/// Records a run and checks it meanwhile.
fn followed(
    opened: &Opened,
    run: (Workload, Option<Duration>),
    output: &Path,
    options: Options,
    control: &Control,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        !output.exists() || output.is_file(),
        "{}: --follow reads what is recorded, which takes a file",
        visible(&output.display().to_string())
    );
    let (sender, events) = channel();
    let so_far = Mutex::new(String::new());
    let (shown, given) = (&so_far, &options);
    let record = move |statistics: &Statistics| {
        let mut hear = |news: News<'_>| {
            *shown.lock().unwrap_or_else(PoisonError::into_inner) = status(&news);
            say(news, output, given, &sender);
            ControlFlow::Continue(())
        };
        let live = Live {
            options: given.clone(),
            to_the_end: true,
            hear: &mut hear,
        };
        opened.record(run, output, statistics, control, Some(live))
    };
    let mut end = None;
    let more = || {
        so_far
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    };
    let snapshot = watched(control, more, |statistics| {
        std::thread::scope(|scope| {
            // The sender of the events goes with it, so that they end.
            let recording = scope.spawn(move || record(statistics));
            let mut voice = Voice::new(false, out);
            for event in events {
                match event {
                    FollowedEvent::End(last) => end = Some(last),
                    other => voice.say(other),
                }
            }
            recording
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    report_recorded(opened, &run.0, &snapshot, out);
    let end = end.context("the recording could not be followed")?;
    let (code, problem) = (
        follow_voice::exit_code(&end),
        end.error.clone().or_else(|| end.stopped.clone()),
    );
    Voice::new(false, out).say(FollowedEvent::End(end));
    match problem {
        Some(why) => anyhow::bail!("{}: {why}", visible(&output.display().to_string())),
        None => Ok(code),
    }
}

/// Passes on what is to be said.
fn say(news: News<'_>, path: &Path, options: &Options, sender: &Sender<FollowedEvent>) {
    let events: Vec<FollowedEvent> = match news.of.clone() {
        Of::Time => Vec::new(),
        Of::Change(_) => {
            let found = follow_events::violations(&mut *news.follower);
            let delay = |line: u32| news.since(line).map(|time| time.as_secs_f64());
            let found = found.into_iter().map(|found| FoundViolation {
                delay_seconds: delay(found.line),
                ..found
            });
            found
                .map(|found| FollowedEvent::Violation(Box::new(found)))
                .collect()
        }
        Of::End(result) => {
            let end = follow_events::end(path, news.follower, news.stream, options, result.err());
            vec![FollowedEvent::End(end)]
        }
    };
    // Without a listener there is no one to tell.
    events
        .into_iter()
        .for_each(|event| drop(sender.send(event)));
}

/// What is known so far, for the line about the progress.
fn status(news: &News<'_>) -> String {
    let answers = news.follower.answers();
    let violated = answers
        .iter()
        .filter(|(_, answer)| *answer == Answer::Violated)
        .map(|(level, _)| level.code());
    let violated: Vec<&str> = violated.collect();
    let violated = if violated.is_empty() {
        "no violation".to_owned()
    } else {
        format!("violated: {}", violated.join(" "))
    };
    format!(" · {violated}, {} behind", time(news.behind.as_secs_f64()))
}
