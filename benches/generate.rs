//! Writes a generated history to a file, to try the program on something large:
//!
//! ```sh
//! cargo bench --bench generate -- --out large.txt --transactions 1000000 --operations 10 --keys 100000
//! ```
//!
//! Without `--out` it does nothing, so that running all benches writes no file.

// Each bench uses its own part of the shared module.
#[allow(dead_code, unused_imports)]
mod common;

use clap::Parser;
use common::WorkloadArguments;
use std::fs::File;
use std::io::Write as _;
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
    /// Lightweight transactions (single reads, writes, compare-and-sets) with times, in IsoScope's own notation; of the
    /// other flags the seed and the numbers of sessions, transactions, keys and values count
    #[arg(long)]
    lightweight: bool,
    #[command(flatten)]
    workload: WorkloadArguments,
    /// Passed by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let Some(path) = arguments.out else {
        return Ok(());
    };
    let mut file = File::create(&path)?;
    if arguments.lightweight {
        let workload = arguments.workload.lightweight();
        workload.write_text(&mut file)?;
        println!(
            "wrote at most {} lightweight transactions to {}",
            workload.transactions,
            path.display()
        );
        return Ok(());
    }
    let workload = arguments.workload.workload()?;
    match arguments.format.as_str() {
        "plume" if !workload.lists => workload.write_plume(&mut file)?,
        format => {
            let mut bytes = Vec::new();
            isoscope::formats::write(&workload.history(), format, &mut bytes)?;
            file.write_all(&bytes)?;
        }
    }
    println!(
        "wrote {} operations to {}",
        workload.n_operations(),
        path.display()
    );
    Ok(())
}
