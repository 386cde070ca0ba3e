//! What running and recording workloads on a real database costs, how often their transactions abort, and how often they show
//! a violation.
//!
//! ```sh
//! cargo bench --bench collect -- --db postgres://me@localhost/test --papers --overhead --aborts aborts.svg
//! ```
//!
//! Without `--db` it does nothing: no database is known to be there.

mod aborts;
mod finding;
mod overhead;
mod papers;

use clap::Parser;
use isoscope::checkers::Level;
use isoscope::collect::{self, Collection, Driver, Recorder, Snapshot, Statistics};
use isoscope::control::Control;
use isoscope::generate::Workload;
use std::path::PathBuf;

#[derive(Parser)]
#[command(about = "Measure workloads on a real database")]
struct Arguments {
    /// Address of the database
    #[arg(long)]
    db: Option<String>,
    /// The default workloads of Plume (25 sessions of 200 transactions of 20 operations) and PolySI (20 of 100 of 15),
    /// collected and checked
    #[arg(long)]
    papers: bool,
    /// Throughput with and without recording, in pairs of runs
    #[arg(long)]
    overhead: bool,
    /// Abort rates of mini-transactions and general ones (MTC, Fig. 11), as a table and drawn into this SVG
    #[arg(long)]
    aborts: Option<PathBuf>,
    /// How many of the rounds of this many minutes show a violation of LEVEL, with mini-transactions and with list-append
    /// (MTC, Figs. 13 and 14)
    #[arg(long, value_name = "MINUTES")]
    finding: Option<f64>,
    /// The level of --finding
    #[arg(long, default_value = "SI")]
    level: Level,
    /// Isolation levels to measure
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "serializable,repeatable-read"
    )]
    isolation: Vec<String>,
    /// Runs of which the median counts
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Passed by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let Some(db) = &arguments.db else {
        return Ok(());
    };
    if arguments.papers {
        papers::measure(db, &arguments.isolation)?;
    }
    if arguments.overhead {
        overhead::measure(db, &arguments.isolation[0], arguments.runs)?;
    }
    if let Some(path) = &arguments.aborts {
        aborts::measure(db, &arguments.isolation, path)?;
    }
    if let Some(minutes) = arguments.finding {
        finding::measure(db, &arguments.isolation, arguments.level, minutes)?;
    }
    Ok(())
}

/// A driver at an isolation level.
fn open(db: &str, isolation: &str) -> anyhow::Result<Box<dyn Driver>> {
    let row = collect::database(db)?;
    Ok(row.open(db, row.isolation(Some(isolation))?)?)
}

/// Runs a workload.
fn run(driver: &dyn Driver, workload: Workload, recorder: &Recorder) -> anyhow::Result<Snapshot> {
    let statistics = Statistics::default();
    let collection = Collection::new(workload);
    collect::collect(driver, &collection, recorder, &statistics, &Control::new())?;
    Ok(statistics.snapshot())
}
