//! One checker on one history, measured: what it concludes, and the time and memory it takes.

use super::verdict_summary::Conclusion;
use crate::audit;
use crate::checkers::{Cause, Checker, Level, LevelResult, Options, Verdict};
use crate::control::{Control, Stage};
use crate::export::chart::Unit;
use crate::history::History;
use crate::jobs::Pool;
use crate::papers;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time limit for one checker; what is not known by then is undecided.
const EACH: Duration = Duration::from_secs(60);
/// Interval between two samples.
const SAMPLE: Duration = Duration::from_millis(10);
/// Maximum number of samples kept of one run.
const SAMPLES: usize = 2000;

/// Resources used by the process at a moment of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Seconds since the run began.
    pub at: f64,
    /// Megabytes more than before the run.
    pub megabytes: f64,
    /// Processor time since the run began, seconds; zero if the system does not report it.
    pub cpu: f64,
}

/// The result of one checker.
#[derive(Clone, Debug)]
pub struct CheckerRun {
    pub checker: Checker,
    /// By level that it decides: the conclusion, and the seconds it took.
    pub levels: Vec<(Level, Conclusion, f64)>,
    /// Why levels were not decided.
    pub causes: BTreeMap<Level, Cause>,
    /// Seconds for what all levels share.
    pub index_seconds: f64,
    /// Wall time of all, seconds.
    pub seconds: f64,
    /// Processor time of the process during the run, seconds, if the system reports it.
    pub cpu: Option<f64>,
    /// Resources used over time.
    pub samples: Vec<Sample>,
    /// Seconds that the engines spent in each stage, in the order of [`Stage::ALL`], summed over all threads; zeros if
    /// a checker has no such stages.
    pub stages: [f64; Stage::ALL.len()],
}

impl CheckerRun {
    /// Its checker and how long it took.
    pub fn title(&self) -> String {
        format!("{}, {}", self.checker, Unit::Seconds.text(self.seconds))
    }

    /// Its conclusion on a level.
    pub fn conclusion(&self, level: Level) -> Option<Conclusion> {
        self.levels
            .iter()
            .find(|(other, ..)| *other == level)
            .map(|(_, conclusion, _)| *conclusion)
    }

    /// Peak memory in excess of that before the run, megabytes.
    pub fn most_memory(&self) -> f64 {
        self.samples
            .iter()
            .fold(0.0, |most, sample| f64::max(most, sample.megabytes))
    }
}

/// Runs a checker, for at most a minute, on those of some levels that it decides; if there are none, on all of its usual ones
/// that apply to this kind of history.
pub(super) fn measure(
    history: &History,
    checker: Checker,
    asked: &[Level],
    pool: &Pool,
    control: &Control,
) -> CheckerRun {
    let possible = Level::of(history);
    let levels: Vec<Level> = if asked.is_empty() {
        checker
            .levels()
            .into_iter()
            .filter(|level| possible.contains(level))
            .collect()
    } else {
        asked
            .iter()
            .copied()
            .filter(|level| checker.decides(*level))
            .collect()
    };
    let options = Options {
        levels,
        max_instances: 1,
        ..Options::default()
    };
    let own = control.branch().with_time_limit(EACH);
    let ended = AtomicBool::new(false);
    let stages_before = Stage::ALL.map(|stage| own.spent(stage).as_secs_f64());
    let (cpu, started) = (cpu_seconds(), Instant::now());
    let (findings, samples) = std::thread::scope(|scope| {
        let watch = scope.spawn(|| watch(&ended, started));
        let findings = pool.install(|| match checker {
            Checker::Fast => audit::check(history, &options, &own, &|_| ()),
            _ => papers::check(history, checker, &options, &own, &|_| ()),
        });
        ended.store(true, Ordering::Relaxed);
        (findings, watch.join().unwrap_or_default())
    });
    let seconds = started.elapsed().as_secs_f64();
    CheckerRun {
        checker,
        levels: findings.levels.iter().map(decided).collect(),
        causes: findings.levels.iter().filter_map(cause).collect(),
        index_seconds: findings.index_seconds,
        seconds,
        cpu: cpu_seconds().zip(cpu).map(|(after, before)| after - before),
        samples,
        stages: std::array::from_fn(|at| {
            own.spent(Stage::ALL[at]).as_secs_f64() - stages_before[at]
        }),
    }
}

fn decided(result: &LevelResult) -> (Level, Conclusion, f64) {
    (
        result.level,
        Conclusion::of(&result.verdict),
        result.seconds,
    )
}

fn cause(result: &LevelResult) -> Option<(Level, Cause)> {
    match &result.verdict {
        Verdict::Undecided(cause) => Some((result.level, cause.clone())),
        Verdict::Satisfied(_) | Verdict::Violated => None,
    }
}

fn watch(ended: &AtomicBool, started: Instant) -> Vec<Sample> {
    let used = || memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem);
    let (before, cpu_before) = (used(), cpu_seconds());
    let mut samples = Vec::new();
    loop {
        let last = ended.load(Ordering::Relaxed);
        samples.push(Sample {
            at: started.elapsed().as_secs_f64(),
            megabytes: used().saturating_sub(before) as f64 / f64::from(1 << 20),
            cpu: cpu_seconds()
                .zip(cpu_before)
                .map_or(0.0, |(now, before)| now - before),
        });
        if samples.len() > SAMPLES {
            // From here on, every second one is enough.
            samples = samples.into_iter().step_by(2).collect();
        }
        if last {
            return samples;
        }
        std::thread::sleep(SAMPLE);
    }
}

/// Processor time of this process so far, if the system reports it.
fn cpu_seconds() -> Option<f64> {
    // Fields 14 and 15 of the second part of this file are ticks of a hundredth of a second in user and kernel code.
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}
