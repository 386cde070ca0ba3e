//! The selected checkers on generated histories while one parameter grows: how their times and memory grow with it, as
//! the papers plot it (Plume, section 5.5; PolySI, section 5.4; MTC, section V).

use super::checker_run::{CheckerRun, measure};
use super::verdict_summary::Conclusion;
use crate::checkers::{Checker, Level, lattice};
use crate::control::Control;
use crate::export::chart::{Axis, Chart, Marks, Series, Unit, svg};
use crate::generate::{Generation, Length, Model, Workload};
use crate::jobs::{Outbox, Pool};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Maximum number of operations of a generated history.
const MAX_OPERATIONS: u64 = 20_000_000;

/// The parameter that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Transactions of each session.
    Transactions,
    Sessions,
    /// Operations of each transaction.
    Operations,
    /// Distinct keys.
    Keys,
    /// Share of reads among the operations, percent.
    ReadShare,
}

impl Parameter {
    /// All of them.
    pub const ALL: [Parameter; 5] = [
        Parameter::Transactions,
        Parameter::Sessions,
        Parameter::Operations,
        Parameter::Keys,
        Parameter::ReadShare,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Parameter::Transactions => "transactions of a session",
            Parameter::Sessions => "sessions",
            Parameter::Operations => "operations per transaction",
            Parameter::Keys => "keys",
            Parameter::ReadShare => "reads, per cent",
        }
    }

    /// Values that show something within a minute.
    pub fn usual(self) -> &'static str {
        match self {
            Parameter::Transactions => "100, 300, 1000, 3000",
            Parameter::Sessions => "5, 10, 20, 50",
            Parameter::Operations => "4, 8, 16, 32",
            Parameter::Keys => "30, 100, 300, 1000",
            Parameter::ReadShare => "10, 30, 50, 70, 90",
        }
    }

    /// The workload with this value.
    fn set(self, workload: &mut Workload, value: u64) {
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        match self {
            Parameter::Transactions => workload.transactions = value,
            Parameter::Sessions => workload.sessions = narrow(value),
            Parameter::Operations => workload.operations = Length::fixed(narrow(value)),
            Parameter::Keys => workload.keys = value,
            Parameter::ReadShare => workload.read_share = value as f64 / 100.0,
        }
    }
}

/// The plan of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The parameter that grows.
    pub parameter: Parameter,
    /// Its values as typed: whole numbers, separated by commas or spaces.
    pub values: String,
    /// The levels as typed, by any of their names, separated by commas or spaces; empty: those that a checker usually decides.
    pub levels: String,
    /// Everything else.
    pub workload: Workload,
    /// The store that the workload runs on.
    pub store: Model,
}

impl Default for Plan {
    fn default() -> Plan {
        let parameter = Parameter::Transactions;
        let workload = Workload {
            keys: 1000,
            operations: Length::fixed(10),
            ..Workload::default()
        };
        let values = parameter.usual().to_owned();
        Plan {
            parameter,
            values,
            levels: String::new(),
            workload,
            store: Model::Serial,
        }
    }
}

impl Plan {
    /// The levels, or what is wrong with them.
    pub fn asked_levels(&self) -> Result<Vec<Level>, String> {
        let words = self
            .levels
            .split([',', ' ', ';'])
            .filter(|word| !word.is_empty());
        words.map(lattice::named).collect()
    }

    /// The values and what to generate for each, or what is wrong with them.
    pub fn generations(&self) -> Result<Vec<(u64, Generation)>, String> {
        let words = self
            .values
            .split([',', ' ', ';'])
            .filter(|word| !word.is_empty());
        let values: Result<BTreeSet<u64>, String> = words
            .map(|word| {
                let value = word.parse::<u64>().ok().filter(|&value| value > 0);
                value.ok_or_else(|| {
                    format!("`{word}` is no value, expected a whole number above zero")
                })
            })
            .collect();
        let values = values?;
        if values.is_empty() {
            return Err("Type the values, separated by commas".to_owned());
        }
        values
            .into_iter()
            .map(|value| Ok((value, self.generation(value)?)))
            .collect()
    }

    fn generation(&self, value: u64) -> Result<Generation, String> {
        if self.parameter == Parameter::ReadShare && value > 100 {
            return Err(format!("{value} per cent of reads: at most 100"));
        }
        let mut workload = self.workload;
        self.parameter.set(&mut workload, value);
        let operations = if workload.kind.has_length() {
            u64::from(workload.operations.most)
        } else {
            1
        };
        let n = workload.n_transactions().saturating_mul(operations);
        if n > MAX_OPERATIONS {
            return Err(format!(
                "{} = {value}: {n} operations, at most {MAX_OPERATIONS}",
                self.parameter.name()
            ));
        }
        Ok(Generation::new(workload, self.store))
    }
}

/// The measurements at one value.
#[derive(Clone, Debug)]
pub struct Point {
    pub value: u64,
    /// Operations of the history.
    pub n_operations: usize,
    /// The checker's run.
    pub run: CheckerRun,
}

/// A sweep: its plan and its results.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// The plan being edited.
    pub plan: Plan,
    /// The plan of the points.
    pub ran: Plan,
    /// In the order in which they finished.
    pub points: Vec<Point>,
    /// What is wrong with the plan, or why the last sweep ended early.
    pub error: Option<String>,
}

impl Sweep {
    /// A line for each checker that has a point, in the order of the checkers.
    fn series(&self, quantity: fn(&CheckerRun) -> f64) -> Vec<Series> {
        let line = |checker: &Checker| {
            let own = self
                .points
                .iter()
                .filter(|point| point.run.checker == *checker);
            let points: Vec<(f64, f64)> = own
                .map(|point| (point.value as f64, quantity(&point.run)))
                .collect();
            (!points.is_empty()).then(|| Series {
                label: checker.to_string(),
                points,
            })
        };
        Checker::ALL.iter().filter_map(line).collect()
    }

    /// Whether a checker did not finish at some level and value.
    pub fn has_undecided(&self) -> bool {
        let undecided = |point: &Point| {
            point
                .run
                .levels
                .iter()
                .any(|(_, c, _)| *c == Conclusion::Open)
        };
        self.points.iter().any(undecided)
    }

    /// The measurements, as comma-separated values.
    pub fn csv(&self) -> String {
        let mut text =
            "parameter,value,operations,checker,level,verdict,seconds,cpu_seconds,memory_mb\n"
                .to_owned();
        for Point {
            value,
            n_operations,
            run,
        } in &self.points
        {
            let begin = format!(
                "{},{value},{n_operations},{}",
                self.ran.parameter.name().replace(',', ""),
                run.checker
            );
            for (level, verdict, seconds) in &run.levels {
                let _ = writeln!(text, "{begin},{level},{},{seconds:.6},,", verdict.word());
            }
            let cpu = run.cpu.map_or(String::new(), |cpu| format!("{cpu:.3}"));
            let _ = writeln!(
                text,
                "{begin},all,,{:.6},{cpu},{:.1}",
                run.seconds,
                run.most_memory()
            );
        }
        text
    }

    /// Times and memory over the parameter. Times are on a logarithmic scale, because checkers differ by orders of
    /// magnitude.
    pub fn charts(&self) -> [Chart; 2] {
        let name = self.ran.parameter.name();
        let chart = |title: &str, (unit, logarithmic), quantity| Chart {
            title: format!("{title} by {name}"),
            x: Axis {
                name: name.to_owned(),
                unit: Unit::Number,
                logarithmic: self.is_logarithmic(),
            },
            y: Axis {
                name: title.to_owned(),
                unit,
                logarithmic,
            },
            series: self.series(quantity),
            marks: Marks::Dots,
            bands: Vec::new(),
        };
        [
            chart("Time to check", (Unit::Seconds, true), |run| run.seconds),
            chart(
                "Most memory",
                (Unit::Megabytes, false),
                CheckerRun::most_memory,
            ),
        ]
    }

    /// The charts as a picture.
    pub fn svg(&self) -> String {
        svg(&self.charts())
    }

    /// Whether the values grow by ratios rather than by steps.
    fn is_logarithmic(&self) -> bool {
        let values = || self.points.iter().map(|point| point.value);
        self.ran.parameter != Parameter::ReadShare
            && values()
                .min()
                .zip(values().max())
                .is_some_and(|(least, most)| most / least.max(1) >= 8)
    }
}

/// Messages sent while a sweep runs.
#[derive(Debug)]
pub enum Message {
    /// A checker has started at a value.
    Begun(u64, Checker),
    /// A checker has finished.
    Ended(Box<Point>),
    /// A history could not be generated.
    Failed(String),
}

/// Generates a history for each value and runs the checkers on it, one after another, at these levels or their usual ones.
pub(super) fn run_all(
    generations: Vec<(u64, Generation)>,
    checkers: &[Checker],
    levels: &[Level],
    (pool, control): (&Pool, &Control),
    outbox: &Outbox<Message>,
) {
    for (value, generation) in generations {
        if let Err(text) = at_value(
            value,
            &generation,
            (checkers, levels),
            (pool, control),
            outbox,
        ) {
            outbox.send(Message::Failed(text));
            return;
        }
    }
}

fn at_value(
    value: u64,
    generation: &Generation,
    (checkers, levels): (&[Checker], &[Level]),
    (pool, control): (&Pool, &Control),
    outbox: &Outbox<Message>,
) -> Result<(), String> {
    if control.is_stopped() {
        return Ok(());
    }
    let history = generation
        .history(control)
        .map_err(|error| error.to_string())?;
    for &checker in checkers {
        outbox.send(Message::Begun(value, checker));
        let run = measure(&history, checker, levels, pool, control);
        if control.is_stopped() {
            break;
        }
        // A checker without levels for this kind of history has no time of its own.
        if !run.levels.is_empty() {
            outbox.send(Message::Ended(Box::new(Point {
                value,
                n_operations: history.n_operations(),
                run,
            })));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(parameter: Parameter, values: &str) -> Plan {
        let workload = Workload {
            sessions: 3,
            transactions: 5,
            ..Workload::default()
        };
        Plan {
            parameter,
            values: values.to_owned(),
            workload,
            ..Plan::default()
        }
    }

    #[test]
    fn values_are_read_or_refused_with_a_reason() {
        let made = plan(Parameter::Sessions, "9, 2;4 2")
            .generations()
            .expect("three numbers");
        assert_eq!(
            made.iter()
                .map(|(value, g)| (*value, g.workload.sessions))
                .collect::<Vec<_>>(),
            [(2, 2), (4, 4), (9, 9)]
        );
        let refused = |parameter, values| {
            plan(parameter, values)
                .generations()
                .err()
                .unwrap_or_default()
        };
        assert!(refused(Parameter::Keys, "10, x").contains("`x` is no value"));
        assert!(refused(Parameter::Keys, "0").contains("`0` is no value"));
        assert!(refused(Parameter::Keys, " ,").contains("Type the values"));
        let asked = |levels: &str| {
            Plan {
                levels: levels.to_owned(),
                ..Plan::default()
            }
            .asked_levels()
        };
        assert_eq!(asked(" "), Ok(Vec::new()));
        let plain = Level::PlainSnapshotIsolation;
        assert_eq!(
            asked("PSI, :snapshot-isolation"),
            Ok(vec![Level::ParallelSnapshotIsolation, plain])
        );
        assert!(asked("SI XI").is_err_and(|text| text.contains("unknown level `XI`")));
        assert!(refused(Parameter::ReadShare, "101").contains("at most 100"));
        assert!(refused(Parameter::Transactions, "99999999999").contains("at most 20000000"));
    }

    #[test]
    fn each_value_and_checker_is_a_point_of_the_plots() {
        let mut sweep = Sweep {
            ran: plan(Parameter::Transactions, "2, 20"),
            ..Sweep::default()
        };
        for (value, generation) in sweep.ran.generations().expect("two numbers") {
            let history = generation
                .history(&Control::new())
                .expect("a small history");
            for checker in [Checker::Fast, Checker::Plume] {
                let run = measure(&history, checker, &[], &Pool::new(), &Control::new());
                sweep.points.push(Point {
                    value,
                    n_operations: history.n_operations(),
                    run,
                });
            }
        }
        assert!(!sweep.has_undecided());
        let lines = sweep.series(|run| run.seconds);
        assert_eq!(
            lines
                .iter()
                .map(|line| line.label.as_str())
                .collect::<Vec<_>>(),
            ["fast", "plume"]
        );
        assert!(
            lines
                .iter()
                .all(|line| line.points.len() == 2 && line.points[1].0 == 20.0)
        );
        assert!(
            sweep
                .csv()
                .contains("transactions of a session,20,480,plume,RA,satisfied,"),
            "{}",
            sweep.csv()
        );
        assert!(
            sweep
                .svg()
                .contains("Time to check by transactions of a session")
        );
    }
}
