//! Prints how long the checkers take, as tables like the papers' figures: a row per value of a
//! parameter, a column per checker, seconds of user CPU in the cells.
//!
//! ```sh
//! cargo bench --bench tables -- --help
//! cargo bench --bench tables -- --figure transactions --figure sessions --csv out.csv --plot out.png
//! ```
//!
//! `--hard` measures instances that are hard at PC, SI and SER instead, and counts those decided within the limit:
//!
//! ```sh
//! cargo bench --bench tables -- --hard --limit 60
//! cargo bench --bench tables -- --hard --instance cases:6 --instance sat:40:4.26:1 --limit 10
//! ```
//!
//! Each cell is measured in a process of its own with one thread. Without flags it prints a small table and writes no
//! file.

// Each bench uses its own part of the shared module.
#[allow(dead_code, unused_imports)]
#[path = "../common/mod.rs"]
mod common;

mod cell;
mod figures;
mod hard;
mod panel;
mod plot;
mod table;

use anyhow::Context;
use cell::{Cell, Outcome};
use clap::Parser;
use common::{CHECKERS, Hard, LEVELS, STRONG_LEVELS, Workload, WorkloadArguments};
use figures::{Figure, Parameter};
use isoscope::checkers::{Checker, Level};
use std::path::PathBuf;
use table::Row;

#[derive(Parser)]
#[command(about = "Measure the checkers", max_term_width = 120)]
struct Arguments {
    /// What to vary: transactions, operations, sessions, keys, read-share, update-share, stale-share,
    /// distribution, view, order or
    /// shape, with or without values, as in sessions=10,100
    #[arg(long = "figure", value_name = "PARAMETER[=VALUES]")]
    figures: Vec<Figure>,
    /// Levels to check: RC, RA and TCC where none is named; with --hard PC, SI and SER
    #[arg(long, value_delimiter = ',')]
    levels: Vec<Level>,
    /// Checkers to ask
    #[arg(long, value_delimiter = ',', default_values_t = CHECKERS)]
    checkers: Vec<Checker>,
    /// Seconds of user CPU that a check may take; 2 for the small table, else 10
    #[arg(long, alias = "limit")]
    time_limit: Option<f64>,
    /// Measure hard instances of the strong levels in place of workloads; the limit is 60 where none is named
    #[arg(long, conflicts_with_all = ["figures", "csv", "plot", "from"])]
    hard: bool,
    /// With --hard: an instance, as cases:VARIABLES, sat:VARIABLES:RATIO:SEED or blind:WRITERS:KEYS:READERS:SEED
    #[arg(long = "instance", value_name = "WHICH")]
    instances: Vec<Hard>,
    /// Write what was measured to this file
    #[arg(long)]
    csv: Option<PathBuf>,
    /// Draw what was measured to this file, .svg or .png
    #[arg(long)]
    plot: Option<PathBuf>,
    /// Measure nothing, show what an earlier run wrote to this CSV
    #[arg(long, conflicts_with_all = ["figures", "csv"])]
    from: Option<PathBuf>,
    #[command(flatten)]
    workload: WorkloadArguments,
    /// Measure one cell here
    #[arg(long, hide = true)]
    cell: bool,
    /// Passed by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let mut arguments = Arguments::parse();
    let mut base = arguments.workload.workload()?;
    if arguments.levels.is_empty() {
        arguments.levels = if arguments.hard {
            STRONG_LEVELS.to_vec()
        } else {
            LEVELS.to_vec()
        };
    }
    if arguments.cell {
        let (checker, level) = (arguments.checkers[0], arguments.levels[0]);
        let limit = arguments.time_limit.unwrap_or(f64::INFINITY);
        let hard = arguments.instances.first().copied();
        cell::print(
            &Cell {
                checker,
                level,
                workload: base,
                hard,
                limit,
            }
            .measure()?,
        );
        return Ok(());
    }
    if arguments.hard {
        let usual = if arguments.instances.is_empty() {
            Hard::usual()
        } else {
            Vec::new()
        };
        let instances = [arguments.instances, usual].concat();
        return hard::print(
            &instances,
            &arguments.levels,
            arguments.time_limit.unwrap_or(60.0),
        );
    }
    let plot = arguments
        .plot
        .as_deref()
        .map(plot::Output::new)
        .transpose()?;
    let figures = match &arguments.from {
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
            let figures = table::from_csv(&text).with_context(|| path.display().to_string())?;
            figures
                .iter()
                .for_each(|(figure, rows)| show(&arguments, figure, rows));
            figures
        }
        None => {
            let limit = arguments
                .time_limit
                .unwrap_or(if arguments.figures.is_empty() {
                    2.0
                } else {
                    10.0
                });
            if arguments.figures.is_empty() {
                base = Workload {
                    transactions: 1000,
                    ..base
                };
                let small = ["transactions=300,1000,3000", "sessions=5,50"];
                arguments.figures = small.map(|figure| figure.parse().expect("a figure")).into();
            }
            println!("Otherwise: {}\n", base.flags().join(" "));
            let mut figures = Vec::new();
            for figure in &arguments.figures {
                let rows = measure(&arguments, figure, base, limit)?;
                show(&arguments, figure, &rows);
                figures.push((figure.clone(), rows));
            }
            figures
        }
    };
    if let Some(path) = &arguments.csv {
        std::fs::write(path, table::csv(&figures)).with_context(|| path.display().to_string())?;
    }
    if let Some(plot) = plot {
        plot.write(&figures)?;
    }
    Ok(())
}

fn show(arguments: &Arguments, figure: &Figure, rows: &[Row]) {
    for &level in &arguments.levels {
        print!("{}", table::text(figure, level, rows, &arguments.checkers));
    }
}

/// Measures a figure, row by row.
fn measure(
    arguments: &Arguments,
    figure: &Figure,
    base: Workload,
    limit: f64,
) -> anyhow::Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    for (value, workload) in figure.rows(base) {
        let mut row = Row {
            value: value.to_owned(),
            operations: workload.n_operations(),
            cells: Vec::new(),
        };
        for &level in &arguments.levels {
            for &checker in arguments
                .checkers
                .iter()
                .filter(|checker| checker.levels().contains(&level))
            {
                // More transactions than those that took too long need not be tried.
                let is_hopeless = figure.parameter == Parameter::Transactions
                    && rows.iter().any(|row| {
                        let before = row.cell(level, checker);
                        row.operations <= workload.n_operations()
                            && before.is_none_or(|measured| measured.outcome == Outcome::TimeOut)
                    });
                if !is_hopeless {
                    let measured = Cell {
                        checker,
                        level,
                        workload,
                        hard: None,
                        limit,
                    }
                    .measure_apart()?;
                    row.cells.push((level, checker, measured));
                }
            }
        }
        rows.push(row);
    }
    Ok(rows)
}
