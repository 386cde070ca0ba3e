//! Several checkers on the open history: the verdicts, time and memory of each, side by side, so that disagreements are
//! visible.

use super::App;
use super::checker_run::{CheckerRun, Sample, measure};
use super::sweep::{self, Sweep};
use super::tasks::{Failure, Task};
use super::verdict_summary::Conclusion;
use super::vocabulary::Tone;
use crate::checkers::{Cause, Checker, Level};
use crate::control::{Control, Stage};
use crate::export::chart::{Axis, Chart, Marks, Series, Unit, svg};
use crate::history::History;
use crate::jobs::{Outbox, Pool};
use crate::papers;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A comparison: who takes part, and what is known.
#[derive(Clone, Debug, Default)]
pub struct CheckerComparison {
    /// Those that were chosen.
    pub chosen: BTreeSet<Checker>,
    /// Results, in the order in which they finished.
    pub runs: Vec<CheckerRun>,
    /// The running checker, and the current value of a sweep.
    pub running: Option<(Checker, Option<u64>)>,
    /// Whether the page is about generated histories instead of the open one.
    pub is_sweep: bool,
    /// Results on generated histories.
    pub sweep: Sweep,
    /// Why checkers would leave the levels of the open history open, once that is known.
    pub obstacles: Option<BTreeMap<Checker, Cause>>,
    /// Whether that was asked.
    pub looked: bool,
}

impl CheckerComparison {
    /// Whether there is nothing to show of what the page is about.
    pub fn has_nothing(&self) -> bool {
        if self.is_sweep {
            self.sweep.points.is_empty()
        } else {
            self.runs.is_empty()
        }
    }

    /// Levels on which two checkers with a known answer disagree.
    pub fn disputed(&self) -> Vec<Level> {
        let differs = |level: &Level| {
            let known = self
                .runs
                .iter()
                .filter_map(|run| run.conclusion(*level))
                .map(Conclusion::word);
            let known: BTreeSet<&str> = known.filter(|word| *word != "undecided").collect();
            known.len() > 1
        };
        Level::ALL.into_iter().filter(differs).collect()
    }

    /// The table as comma-separated values.
    pub fn csv(&self) -> String {
        let stages = Stage::ALL
            .map(|stage| format!("{}_seconds", stage.name()))
            .join(",");
        let mut text = format!("checker,level,verdict,seconds,cpu_seconds,memory_mb,{stages}\n");
        for run in &self.runs {
            let cpu = run.cpu.map_or(String::new(), |cpu| format!("{cpu:.3}"));
            let none = ",".repeat(Stage::ALL.len());
            for (level, verdict, seconds) in &run.levels {
                let _ = writeln!(
                    text,
                    "{},{level},{},{seconds:.6},,{none}",
                    run.checker,
                    verdict.word()
                );
            }
            let stages = run.stages.map(|seconds| format!("{seconds:.6}")).join(",");
            let _ = writeln!(
                text,
                "{},all,,{:.6},{cpu},{:.1},{stages}",
                run.checker,
                run.seconds,
                run.most_memory()
            );
        }
        text
    }

    /// Memory and processor time over time.
    pub fn charts(&self) -> [Chart; 2] {
        let line = |run: &CheckerRun, used: fn(&Sample) -> f64| Series {
            label: run.title(),
            points: run
                .samples
                .iter()
                .map(|sample| (sample.at, used(sample)))
                .collect(),
        };
        let chart = |title: &str, unit, used| Chart {
            title: title.to_owned(),
            x: Axis {
                name: "time since the start of each".to_owned(),
                unit: Unit::Seconds,
                logarithmic: false,
            },
            y: Axis {
                name: title.to_owned(),
                unit,
                logarithmic: false,
            },
            series: self.runs.iter().map(|run| line(run, used)).collect(),
            marks: Marks::Lines,
            bands: Vec::new(),
        };
        [
            chart("Memory growth", Unit::Megabytes, |sample| sample.megabytes),
            chart("Processor time", Unit::Seconds, |sample| sample.cpu),
        ]
    }

    /// The charts as a picture.
    pub fn svg(&self) -> String {
        svg(&self.charts())
    }
}

/// Finding out which checkers are for the open history.
static FIT: Task<BTreeMap<Checker, Cause>> = Task::new("obstacles", FAILED, |app, obstacles| {
    let Some(comparison) = app.comparison_mut() else {
        return;
    };
    comparison.obstacles = Some(obstacles);
});

/// Messages sent while checkers run.
#[derive(Debug)]
pub enum Message {
    /// A checker has started.
    Begun(Checker),
    /// A checker has finished.
    Ended(Box<CheckerRun>),
}

/// How a comparison or a sweep that fails is reported.
const FAILED: Failure = Failure::Message("A checker ended unexpectedly");

/// Comparing checkers on the open history.
static COMPARE: Task<Message> = Task {
    end: |app, _| app.no_checker_runs(),
    ..Task::new("comparison", FAILED, |app, message| {
        let Some(comparison) = app.comparison_mut() else {
            return;
        };
        match message {
            Message::Begun(checker) => comparison.running = Some((checker, None)),
            Message::Ended(run) => comparison.runs.push(*run),
        }
    })
};

/// Running checkers on generated histories.
static SWEEP: Task<sweep::Message> = Task {
    end: |app, _| app.no_checker_runs(),
    ..Task::new("sweep", FAILED, |app, message| {
        let Some(comparison) = app.comparison_mut() else {
            return;
        };
        match message {
            sweep::Message::Begun(value, checker) => {
                comparison.running = Some((checker, Some(value)))
            }
            sweep::Message::Ended(point) => comparison.sweep.points.push(*point),
            sweep::Message::Failed(text) => comparison.sweep.error = Some(text),
        }
    })
};

/// Runs the checkers, one after another.
fn run_all(
    history: &History,
    checkers: Vec<Checker>,
    pool: &Pool,
    control: &Control,
    outbox: &Outbox<Message>,
) {
    for checker in checkers {
        if control.check().is_err() {
            return;
        }
        outbox.send(Message::Begun(checker));
        let run = measure(history, checker, &[], pool, control);
        if !control.is_stopped() {
            outbox.send(Message::Ended(Box::new(run)));
        }
    }
}

impl App {
    /// Asks which checkers are for the open history.
    pub(super) fn prepare_comparison(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let (Some(history), Some(resolution)) = (
            document.history.clone(),
            document.results.resolution.clone(),
        ) else {
            return;
        };
        if std::mem::replace(&mut document.comparison.looked, true) {
            return;
        }
        self.ask(&FIT, move |control| {
            let obstacle = |checker| {
                Some((
                    checker,
                    papers::obstacle(&history, &resolution, checker, control).ok()??,
                ))
            };
            let obstacles = Checker::ALL.into_iter().filter_map(obstacle).collect();
            control.check().is_ok().then_some(obstacles)
        });
    }

    /// Lets the chosen checkers run, on the open history or over what the sweep's plan says.
    pub(super) fn start_comparison(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(history) = document.history.clone() else {
            return;
        };
        let comparison = &mut document.comparison;
        if comparison.chosen.is_empty() {
            self.state.tell(Tone::Note, "Choose at least one checker");
            return;
        }
        let checkers: Vec<Checker> = comparison.chosen.iter().copied().collect();
        let pool = self.pool.clone();
        self.stop_comparison();
        let Some(comparison) = self.comparison_mut() else {
            return;
        };
        if !comparison.is_sweep {
            comparison.runs.clear();
            self.start(&COMPARE, move |control, outbox| {
                run_all(&history, checkers, &pool, control, outbox)
            });
            return;
        }
        let plan = comparison.sweep.plan.clone();
        let asked = plan
            .generations()
            .and_then(|generations| Ok((generations, plan.asked_levels()?)));
        match asked {
            Ok((generations, levels)) => {
                comparison.sweep = Sweep {
                    ran: plan.clone(),
                    plan,
                    ..Sweep::default()
                };
                self.start(&SWEEP, move |control, outbox| {
                    sweep::run_all(generations, &checkers, &levels, (&pool, control), outbox);
                });
            }
            Err(text) => comparison.sweep.error = Some(text),
        }
    }

    pub(super) fn comparison_mut(&mut self) -> Option<&mut CheckerComparison> {
        self.state
            .document
            .as_mut()
            .map(|document| &mut document.comparison)
    }

    /// Ends what the page of checkers has started; whether there was anything.
    pub(super) fn stop_comparison(&mut self) -> bool {
        let any = self.tasks.cancel(&COMPARE) | self.tasks.cancel(&SWEEP);
        self.no_checker_runs();
        any
    }

    fn no_checker_runs(&mut self) {
        if let Some(comparison) = self.comparison_mut() {
            comparison.running = None;
        }
    }

    /// Writes the results next to the history, under its name with another ending.
    pub(super) fn write_comparison(&mut self, ending: &str) {
        let Some(document) = &self.state.document else {
            return;
        };
        let comparison = &document.comparison;
        let (text, what) = match (ending, comparison.is_sweep) {
            ("csv", false) => (comparison.csv(), "checkers"),
            ("csv", true) => (comparison.sweep.csv(), "sweep"),
            (_, false) => (comparison.svg(), "checkers"),
            (_, true) => (comparison.sweep.svg(), "sweep"),
        };
        let path = document.file_beside(&format!("{what}.{ending}"));
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
        let run = |checker| measure(&history, checker, &[], &Pool::new(), &Control::new());
        let comparison = CheckerComparison {
            runs: vec![run(Checker::Fast), run(Checker::Plume)],
            ..CheckerComparison::default()
        };
        assert!(comparison.disputed().is_empty(), "{:?}", comparison.runs);
        let verdict = comparison.runs[1]
            .conclusion(Level::ReadAtomic)
            .map(Conclusion::word);
        assert_eq!(verdict, Some("violated"));
        assert!(
            comparison.csv().contains("plume,RA,violated,")
                && comparison.csv().starts_with("checker,level,")
        );
        assert!(comparison.svg().contains(">plume, ") && comparison.svg().ends_with("</svg>\n"));
        let n_fields = |line: &str| line.split(',').count();
        let lines: Vec<usize> = comparison.csv().lines().map(n_fields).collect();
        assert!(lines.iter().all(|n| *n == lines[0]), "{}", comparison.csv());
    }

    #[test]
    fn checkers_that_disagree_are_seen() {
        let run = |checker, conclusion| CheckerRun {
            checker,
            levels: vec![(Level::ReadAtomic, conclusion, 0.0)],
            causes: Default::default(),
            index_seconds: 0.0,
            seconds: 0.0,
            cpu: None,
            samples: Vec::new(),
            stages: Default::default(),
        };
        let runs = vec![
            run(Checker::Fast, Conclusion::Broken),
            run(Checker::Plume, Conclusion::Holds),
        ];
        assert_eq!(
            CheckerComparison {
                runs,
                ..CheckerComparison::default()
            }
            .disputed(),
            [Level::ReadAtomic]
        );
    }
}
