//! The work behind the page: rounds are run and recorded on threads of their own, measured and followed meanwhile,
//! and checked at their end.

use super::form::{Field, Trouble};
use super::order::{self, Order, Purpose};
use super::table::{Checked, FinishedRound, Sample, Stage, milliseconds};
use crate::app::App;
use crate::app::catalogue;
use crate::app::live::{self, Listener};
use crate::app::tasks::{Failure, Task};
use crate::app::verdict_summary::Conclusion;
use crate::checkers::Level;
use crate::collect::{CollectError, Counts, FaultTime, Snapshot, Statistics};
use crate::control::Control;
use crate::counterexample::title;
use crate::follow;
use crate::hunt::{self, Hunt, HuntError, Judged, Live, News, Opened, Target};
use crate::jobs::{Outbox, Pool};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Interval between two samples.
const SAMPLE: Duration = Duration::from_millis(200);
/// Interval between two samples at the beginning, because many rounds are short.
const FIRST_SAMPLE: Duration = Duration::from_millis(40);
/// Length of the beginning.
const BEGINNING: Duration = Duration::from_secs(1);
/// Time limit for checking one history; what is not known by then is undecided.
const EACH: Duration = Duration::from_secs(60);

/// Messages sent during a run.
#[derive(Debug)]
pub enum Message {
    /// The database has answered: product and version.
    Opened(String),
    /// A round begins: its name and file.
    Begun(String, PathBuf),
    /// What was measured since the last sample, if that is long enough ago, all counts, and the faults so far.
    Sample(Option<Sample>, Snapshot, Vec<FaultTime>),
    /// What is known of the part recorded so far.
    Live(Arc<live::Snapshot>),
    /// The round is recorded and its check begins.
    Checking,
    Row(Box<FinishedRound>),
    /// The run cannot begin or go on.
    Failed(Trouble),
}

/// A run of what the form says.
pub(in crate::app) static COLLECT: Task<Message> = Task {
    is_of_history: false,
    end: App::end_run,
    ..Task::new("collect", Failure::Silent, receive)
};

/// Does what the form says.
pub(super) fn run(order: &Order, pool: &Pool, control: &Control, outbox: &Outbox<Message>) {
    let work = Work {
        order,
        pool,
        control,
        outbox,
    };
    let result = match order.purpose {
        Purpose::Run | Purpose::Compare => work.each_once(),
        Purpose::Hunt => work.hunt(),
    };
    if let Err(error) = result {
        let field = match &error {
            HuntError::Target(CollectError::UnknownIsolation { .. }) => None,
            HuntError::Target(CollectError::FaultForm(_)) => Some(Field::Faults),
            HuntError::Target(_) | HuntError::NoAnswer { .. } => Some(Field::Address),
            _ => None,
        };
        outbox.send(Message::Failed(Trouble {
            field,
            text: one_line(&error.to_string()),
        }));
    }
}

/// Takes in how the run goes.
fn receive(app: &mut App, message: Message) {
    let collect = &mut app.state.collect;
    let Some(run) = &mut collect.run else { return };
    match message {
        Message::Opened(version) => run.version = Some(version),
        Message::Begun(name, path) => run.begin(name, path),
        Message::Sample(sample, all, faults) => run.sample(sample, all, faults),
        Message::Live(snapshot) => run.live.take(snapshot),
        Message::Checking => run.stage = Stage::Checking,
        Message::Row(row) => run.rows.push(*row),
        Message::Failed(trouble) => {
            run.stage = Stage::Failed;
            collect.error = Some(trouble);
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Work<'a> {
    order: &'a Order,
    pool: &'a Pool,
    control: &'a Control,
    outbox: &'a Outbox<Message>,
}

impl Work<'_> {
    /// Runs the workload once at each target. If there are several, one that fails is a row like any other.
    fn each_once(&self) -> Result<(), HuntError> {
        let compares = self.order.purpose == Purpose::Compare;
        for target in &self.order.targets {
            if self.control.check().is_err() {
                return Ok(());
            }
            let opened = self.open(target)?;
            let levels = if compares { None } else { self.levels(&opened) };
            let workload = self.order.workload;
            let path = self.free_path(workload.seed, opened.isolation)?;
            let (run, control) = ((workload, self.order.time), self.control.branch());
            self.begin(&opened, workload.seed, &path);
            // Levels are compared at their own speed.
            let followed = levels.as_deref().filter(|_| !compares);
            let recorded = self.watched(&path, followed, None, |statistics, live| {
                opened.record(run, &path, statistics, &control, live)
            });
            let mut row = self.row(&opened, workload.seed, &path);
            match recorded {
                Ok(snapshot) => {
                    row.snapshot = Some(snapshot);
                    if compares || levels.is_some() {
                        self.judge(&path, levels.as_deref(), &mut row);
                    }
                }
                Err(error) if compares => row.error = Some(one_line(&error.to_string())),
                Err(error) => return Err(error),
            }
            self.outbox.send(Message::Row(Box::new(row)));
        }
        Ok(())
    }

    /// Runs it with one seed after another until a violation appears.
    fn hunt(&self) -> Result<(), HuntError> {
        let Some(target) = self.order.targets.first() else {
            return Ok(());
        };
        let opened = self.open(target)?;
        let levels = self.levels(&opened);
        let mut hunt = Hunt::new(self.order.plan());
        let path = |seed| order::free(&self.order.path(seed, opened.isolation));
        while let Some(round) = hunt.begin(self.control, path) {
            make_folder(&round.path)?;
            let seed = round.workload.seed;
            self.begin(&opened, seed, &round.path);
            let recorded = self.watched(
                &round.path,
                levels.as_deref(),
                Some(&round.control),
                |statistics, live| hunt.record(&opened, &round, statistics, live),
            )?;
            let Some(snapshot) = recorded else {
                return Ok(());
            };
            let mut row = self.row(&opened, seed, &round.path);
            row.snapshot = Some(snapshot);
            let judged = self.judge(&round.path, levels.as_deref(), &mut row);
            let is_over = row.is_violated();
            if let Some(judged) = judged
                && !is_over
                && !hunt.settle(&round, &judged.findings)?
            {
                row.path = None;
            }
            self.outbox.send(Message::Row(Box::new(row)));
            if is_over {
                return Ok(());
            }
        }
        Ok(())
    }

    fn open(&self, target: &Target) -> Result<Opened, HuntError> {
        self.control.phase("reaching the database", 0);
        let opened = target.open()?;
        self.outbox.send(Message::Opened(opened.version.clone()));
        Ok(opened)
    }

    /// The levels to check: the requested one, else the promised one, if there is any.
    fn levels(&self, opened: &Opened) -> Option<Vec<Level>> {
        self.order.level.or(opened.promise).map(|level| vec![level])
    }

    fn free_path(&self, seed: u64, isolation: &str) -> Result<PathBuf, HuntError> {
        let path = order::free(&self.order.path(seed, isolation));
        make_folder(&path)?;
        Ok(path)
    }

    fn begin(&self, opened: &Opened, seed: u64, path: &Path) {
        let row = self.row(opened, seed, path);
        self.outbox.send(Message::Begun(
            row.name(self.order.purpose),
            path.to_owned(),
        ));
    }

    fn row(&self, opened: &Opened, seed: u64, path: &Path) -> FinishedRound {
        FinishedRound {
            seed,
            isolation: opened.isolation.to_owned(),
            promise: opened.promise,
            path: Some(path.to_owned()),
            snapshot: None,
            checked: None,
            error: None,
        }
    }

    /// Runs `record`, which updates the statistics it is given, while sampling them and following the recording. A
    /// violation of one of `levels` ends the recording that `stops` controls.
    fn watched<T>(
        &self,
        path: &Path,
        levels: Option<&[Level]>,
        stops: Option<&Control>,
        record: impl FnOnce(&Statistics, Option<Live<'_>>) -> T,
    ) -> T {
        let statistics = Statistics::default();
        let (sampled, sample_end) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(|| self.sample(&statistics, sample_end));
            let mut listener = Listener::new(path, levels.unwrap_or_default());
            let mut hear = |news: News<'_>| self.hear(news, stops, &mut listener);
            // All levels are shown: the weaker ones cost nothing as long as the stronger ones hold.
            let mut options = follow::Options::default();
            options.levels.extend(levels.unwrap_or_default());
            let live = levels.map(|_| Live {
                options,
                to_the_end: false,
                hear: &mut hear,
            });
            let result = record(&statistics, live);
            drop(sampled);
            result
        })
    }

    /// Passes on what is known of the recording. Whether to go on.
    fn hear(
        &self,
        news: News<'_>,
        stops: Option<&Control>,
        listener: &mut Listener,
    ) -> ControlFlow<()> {
        listener
            .hear(news)
            .into_iter()
            .for_each(|snapshot| self.outbox.send(Message::Live(snapshot)));
        let is_over = listener.is_violated() && stops.is_some();
        if let Some(recording) = stops.filter(|_| is_over) {
            recording.stop();
        }
        if is_over || self.control.check().is_err() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Measures until the other end of `end` is dropped, and then once more.
    fn sample(&self, statistics: &Statistics, end: Receiver<()>) {
        let mut before = Counts::default();
        loop {
            let pause = if before.elapsed() < BEGINNING {
                FIRST_SAMPLE
            } else {
                SAMPLE
            };
            let goes_on = end.recv_timeout(pause) == Err(RecvTimeoutError::Timeout);
            let now = statistics.counts();
            let since = now.since(&before);
            // The last interval may be too short to mean anything, unless it is the only one. Before the first there is none.
            let is_long = since.elapsed >= pause / 2 || before.elapsed().is_zero();
            let counts = is_long && !now.elapsed().is_zero();
            let sample = counts.then(|| Sample {
                at: now.elapsed().as_secs_f64(),
                throughput: since.throughput(),
                median: milliseconds(since.median),
                slow: milliseconds(since.slow),
                behind: None,
                violated: None,
            });
            self.outbox.send(Message::Sample(
                sample,
                now.since(&Counts::default()),
                statistics.faults(),
            ));
            before = now;
            if !goes_on {
                return;
            }
        }
    }

    /// Checks the recording and adds the result to the row. A cancelled run is not checked.
    fn judge(
        &self,
        path: &Path,
        levels: Option<&[Level]>,
        row: &mut FinishedRound,
    ) -> Option<Judged> {
        self.control.check().ok()?;
        self.outbox.send(Message::Checking);
        let control = self.control.branch().with_time_limit(EACH);
        match self.pool.install(|| hunt::judge(path, levels, &control)) {
            Ok(judged) => {
                if self.control.check().is_ok() {
                    row.checked = Some(checked(&judged));
                }
                Some(judged)
            }
            Err(error) => {
                row.error = Some(one_line(&error.to_string()));
                None
            }
        }
    }
}

fn checked(judged: &Judged) -> Checked {
    let Judged {
        history,
        findings,
        seconds,
    } = judged;
    let violation = hunt::simplest_violation(findings);
    Checked {
        transactions: history.recorded().transactions,
        levels: findings
            .levels
            .iter()
            .map(|result| (result.level, Conclusion::of(&result.verdict)))
            .collect(),
        patterns: findings.patterns.clone(),
        violation: violation.map(|violation| {
            (
                catalogue::identity(history, violation),
                title(history, violation),
            )
        }),
        seconds: *seconds,
    }
}

fn make_folder(path: &Path) -> Result<(), HuntError> {
    let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    else {
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(|error| HuntError::File {
        path: folder.display().to_string(),
        problem: error.to_string(),
    })
}
