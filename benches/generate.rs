//! Writes a generated history to a file, to try the program on something large:
//!
//! ```sh
//! cargo bench --bench generate -- --out large.txt --transactions 1000000 --operations 10 --keys 100000
//! ```
//!
//! Without `--out` it does nothing, so that running all benches writes no file.

mod common;

use clap::Parser;
use common::Workload;
use std::fs::File;
use std::path::PathBuf;

#[derive(Parser)]
#[command(about = "Write a generated history to a file")]
struct Arguments {
    /// The file to write; nothing is done without one
    #[arg(long)]
    out: Option<PathBuf>,
    /// Format of the file; all but plume hold the history in memory
    #[arg(long, default_value = "plume")]
    format: String,
    /// Seed of the random numbers
    #[arg(long, default_value_t = Workload::default().seed)]
    seed: u64,
    /// Sessions
    #[arg(long, default_value_t = Workload::default().sessions, value_parser = clap::value_parser!(u64).range(1..))]
    sessions: u64,
    /// Transactions of all sessions together
    #[arg(long, default_value_t = Workload::default().transactions)]
    transactions: u64,
    /// Operations per transaction
    #[arg(long, default_value_t = Workload::default().operations)]
    operations: u64,
    /// Distinct keys
    #[arg(long, default_value_t = Workload::default().keys, value_parser = clap::value_parser!(u64).range(1..))]
    keys: u64,
    /// Share of reads among the operations, 0 to 1
    #[arg(long, default_value_t = Workload::default().read_share)]
    read_share: f64,
    /// Share of the reads that return the version before the newest, 0 to 1
    #[arg(long, default_value_t = Workload::default().stale_share)]
    stale_share: f64,
    /// Passed by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let Some(path) = arguments.out else { return Ok(()) };
    let workload = Workload {
        seed: arguments.seed,
        sessions: arguments.sessions,
        transactions: arguments.transactions,
        operations: arguments.operations,
        keys: arguments.keys,
        read_share: arguments.read_share,
        stale_share: arguments.stale_share,
    };
    let mut file = File::create(&path)?;
    match arguments.format.as_str() {
        "plume" => workload.write_plume(&mut file)?,
        format => isoscope::formats::write(&workload.history(), format, &mut file)?,
    }
    println!("wrote {} operations to {}", workload.transactions * workload.operations, path.display());
    Ok(())
}
