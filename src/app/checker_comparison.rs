//! Several checkers on the open history: the verdicts, time and memory of each, side by side, so that disagreements are
//! visible.

use super::App;
use super::sweep::{self, SWEEP, Sweep};
use super::tasks::{Failure, Task};
use super::verdict_summary::Conclusion;
use crate::audit;
use crate::checkers::{Cause, Checker, Level, LevelResult, Options, Verdict};
use crate::control::{Control, Stage};
use crate::export::chart::{Axis, Chart, Series, Unit, svg};
use crate::history::History;
use crate::jobs::{Outbox, Pool};
use crate::papers;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
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
pub struct Run {
    /// The checker.
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

impl Run {
    /// Its checker and how long it took.
    pub fn title(&self) -> String {
        format!("{}, {}", self.checker, Unit::Seconds.text(self.seconds))
    }

    /// Its conclusion on a level.
    pub fn conclusion(&self, level: Level) -> Option<Conclusion> {
        self.levels.iter().find(|(other, ..)| *other == level).map(|(_, conclusion, _)| *conclusion)
    }

    /// Peak memory in excess of that before the run, megabytes.
    pub fn most_memory(&self) -> f64 {
        self.samples.iter().fold(0.0, |most, sample| f64::max(most, sample.megabytes))
    }
}

/// What is plotted over the time of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Used {
    /// Megabytes more than before the run.
    Memory,
    /// Processor time, seconds.
    Processor,
}

impl Used {
    /// As a line over the seconds of a run.
    pub fn line(self, run: &Run) -> Vec<(f64, f64)> {
        let value = |sample: &Sample| match self {
            Used::Memory => sample.megabytes,
            Used::Processor => sample.cpu,
        };
        run.samples.iter().map(|sample| (sample.at, value(sample))).collect()
    }
}

/// A comparison: who takes part, and what is known.
#[derive(Clone, Debug, Default)]
pub struct CheckerComparison {
    /// Those that were chosen.
    pub chosen: BTreeSet<Checker>,
    /// Results, in the order in which they finished.
    pub runs: Vec<Run>,
    /// The running checker, and the current value of a sweep.
    pub running: Option<(Checker, Option<u64>)>,
    /// Whether the page is about generated histories instead of the open one.
    pub is_sweep: bool,
    /// Results on generated histories.
    pub sweep: Sweep,
}

impl CheckerComparison {
    /// Whether there is nothing to show of what the page is about.
    pub fn has_nothing(&self) -> bool {
        if self.is_sweep { self.sweep.points.is_empty() } else { self.runs.is_empty() }
    }

    /// Levels on which two checkers with a known answer disagree.
    pub fn disputed(&self) -> Vec<Level> {
        let differs = |level: &Level| {
            let known = self.runs.iter().filter_map(|run| run.conclusion(*level)).map(Conclusion::word);
            let known: BTreeSet<&str> = known.filter(|word| *word != "undecided").collect();
            known.len() > 1
        };
        Level::ALL.into_iter().filter(differs).collect()
    }

    /// The table as comma-separated values.
    pub fn csv(&self) -> String {
        let stages = Stage::ALL.map(|stage| format!("{}_seconds", stage.name())).join(",");
        let mut text = format!("checker,level,verdict,seconds,cpu_seconds,memory_mb,{stages}\n");
        for run in &self.runs {
            let cpu = run.cpu.map_or(String::new(), |cpu| format!("{cpu:.3}"));
            let none = ",".repeat(Stage::ALL.len());
            for (level, verdict, seconds) in &run.levels {
                let _ = writeln!(text, "{},{level},{},{seconds:.6},,{none}", run.checker, verdict.word());
            }
            let stages = run.stages.map(|seconds| format!("{seconds:.6}")).join(",");
            let _ = writeln!(text, "{},all,,{:.6},{cpu},{:.1},{stages}", run.checker, run.seconds, run.most_memory());
        }
        text
    }

    /// Memory and processor time over time, as a picture.
    pub fn svg(&self) -> String {
        let chart = |title: &str, unit, used: Used| Chart {
            title: title.to_owned(),
            x: Axis { name: "time since the start of each".to_owned(), unit: Unit::Seconds, logarithmic: false },
            y: Axis { name: title.to_owned(), unit, logarithmic: false },
            series: self.runs.iter().map(|run| Series { label: run.title(), points: used.line(run) }).collect(),
        };
        svg(&[
            chart("Memory, more than before", Unit::Megabytes, Used::Memory),
            chart("Processor time", Unit::Seconds, Used::Processor),
        ])
    }
}

/// Messages sent while checkers run.
#[derive(Debug)]
pub enum Message {
    /// A checker has started.
    Begun(Checker),
    /// A checker has finished.
    Ended(Box<Run>),
}

/// How a comparison or a sweep that fails is reported.
pub(super) const FAILED: Failure = Failure::Message("A checker ended unexpectedly");

/// Comparing checkers on the open history.
pub(super) static COMPARE: Task<Message> = Task {
    end: |app, _| app.no_checker_runs(),
    ..Task::new("comparison", FAILED, |app, message| {
        let Some(comparison) = app.comparison_mut() else { return };
        match message {
            Message::Begun(checker) => comparison.running = Some((checker, None)),
            Message::Ended(run) => comparison.runs.push(*run),
        }
    })
};

/// Runs the checkers, one after another.
fn run_all(history: &History, checkers: Vec<Checker>, pool: &Pool, control: &Control, outbox: &Outbox<Message>) {
    for checker in checkers {
        if control.check().is_err() {
            return;
        }
        outbox.send(Message::Begun(checker));
        let run = measure(history, checker, pool, control);
        if !control.is_stopped() {
            outbox.send(Message::Ended(Box::new(run)));
        }
    }
}

/// Runs a checker on all of its levels that apply to this kind of history, for at most a minute.
pub(super) fn measure(history: &History, checker: Checker, pool: &Pool, control: &Control) -> Run {
    let possible = Level::of(history);
    let levels: Vec<Level> = checker.levels().into_iter().filter(|level| possible.contains(level)).collect();
    let options = Options { levels, max_instances: 1, ..Options::default() };
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
    Run {
        checker,
        levels: findings.levels.iter().map(decided).collect(),
        causes: findings.levels.iter().filter_map(cause).collect(),
        index_seconds: findings.index_seconds,
        seconds,
        cpu: cpu_seconds().zip(cpu).map(|(after, before)| after - before),
        samples,
        stages: std::array::from_fn(|at| own.spent(Stage::ALL[at]).as_secs_f64() - stages_before[at]),
    }
}

fn decided(result: &LevelResult) -> (Level, Conclusion, f64) {
    (result.level, Conclusion::of(&result.verdict), result.seconds)
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
            cpu: cpu_seconds().zip(cpu_before).map_or(0.0, |(now, before)| now - before),
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

impl App {
    /// Lets the chosen checkers run, on the open history or over what the sweep's plan says.
    pub(super) fn start_comparison(&mut self) {
        let Some(document) = &mut self.state.document else { return };
        let Some(history) = document.history.clone() else { return };
        let comparison = &mut document.comparison;
        if comparison.chosen.is_empty() {
            self.state.tell(true, "Choose at least one checker");
            return;
        }
        let checkers: Vec<Checker> = comparison.chosen.iter().copied().collect();
        let pool = self.pool.clone();
        self.stop_comparison();
        let Some(comparison) = self.comparison_mut() else { return };
        if !comparison.is_sweep {
            comparison.runs.clear();
            self.start(&COMPARE, move |control, outbox| run_all(&history, checkers, &pool, control, outbox));
            return;
        }
        let plan = comparison.sweep.plan.clone();
        match plan.generations() {
            Ok(generations) => {
                comparison.sweep = Sweep { ran: plan.clone(), plan, ..Sweep::default() };
                self.start(&SWEEP, move |control, outbox| {
                    sweep::run_all(generations, &checkers, &pool, control, outbox);
                });
            }
            Err(text) => comparison.sweep.error = Some(text),
        }
    }

    pub(super) fn comparison_mut(&mut self) -> Option<&mut CheckerComparison> {
        self.state.document.as_mut().map(|document| &mut document.comparison)
    }

    /// Ends what the page of checkers has started; whether there was anything.
    pub(super) fn stop_comparison(&mut self) -> bool {
        let any = self.tasks.cancel(&COMPARE) | self.tasks.cancel(&SWEEP);
        self.no_checker_runs();
        any
    }

    pub(super) fn no_checker_runs(&mut self) {
        if let Some(comparison) = self.comparison_mut() {
            comparison.running = None;
        }
    }

    /// Writes the results beside the history, under its name with another ending.
    pub(super) fn write_comparison(&mut self, ending: &str) {
        let Some(document) = &self.state.document else { return };
        let comparison = &document.comparison;
        let (text, what) = match (ending, comparison.is_sweep) {
            ("csv", false) => (comparison.csv(), "checkers"),
            ("csv", true) => (comparison.sweep.csv(), "sweep"),
            (_, false) => (comparison.svg(), "checkers"),
            (_, true) => (comparison.sweep.svg(), "sweep"),
        };
        let folder = super::dialogs::folder_of(Some(&document.source));
        let stem = document.title.split('.').next().unwrap_or("history");
        let path = folder.join(format!("{stem}-{what}.{ending}"));
        self.write_file(path, text, "Written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_checker_is_measured_and_written_down() {
        let text = "a: [w x 1] [w x 2, w y 1]\nb: [r y 1, r x 1]\n";
        let history = crate::formats::text::parse(text).expect("a history in our notation");
        let run = |checker| measure(&history, checker, &Pool::new(), &Control::new());
        let comparison =
            CheckerComparison { runs: vec![run(Checker::Fast), run(Checker::Plume)], ..CheckerComparison::default() };
        assert!(comparison.disputed().is_empty(), "{:?}", comparison.runs);
        let verdict = comparison.runs[1].conclusion(Level::ReadAtomic).map(Conclusion::word);
        assert_eq!(verdict, Some("violated"));
        assert!(comparison.csv().contains("plume,RA,violated,") && comparison.csv().starts_with("checker,level,"));
        assert!(comparison.svg().contains(">plume, ") && comparison.svg().ends_with("</svg>\n"));
        let n_fields = |line: &str| line.split(',').count();
        let lines: Vec<usize> = comparison.csv().lines().map(n_fields).collect();
        assert!(lines.iter().all(|n| *n == lines[0]), "{}", comparison.csv());
    }

    #[test]
    fn checkers_that_disagree_are_seen() {
        let run = |checker, conclusion| Run {
            checker,
            levels: vec![(Level::ReadAtomic, conclusion, 0.0)],
            causes: BTreeMap::new(),
            index_seconds: 0.0,
            seconds: 0.0,
            cpu: None,
            samples: Vec::new(),
            stages: Default::default(),
        };
        let runs = vec![run(Checker::Fast, Conclusion::Broken), run(Checker::Plume, Conclusion::Holds)];
        assert_eq!(CheckerComparison { runs, ..CheckerComparison::default() }.disputed(), [Level::ReadAtomic]);
    }
}
