//! What recording costs: runs in pairs, one recorded and one not, in changing order.

use crate::{open, run};
use isoscope::collect::Recorder;
use isoscope::generate::Workload;

pub(crate) fn measure(db: &str, isolation: &str, pairs: usize) -> anyhow::Result<()> {
    let driver = open(db, isolation)?;
    let folder = tempfile::tempdir()?;
    let mut ratios = Vec::new();
    println!("| pair | transactions per second, recorded | not recorded | ratio |");
    println!("|---|---|---|---|");
    for pair in 0..pairs {
        let workload = Workload {
            seed: pair as u64 + 1,
            transactions: 400,
            keys: 10_000,
            ..Workload::default()
        };
        let recorded = || -> anyhow::Result<f64> {
            let recorder =
                Recorder::create(&folder.path().join(format!("{pair}.edn")), "overhead")?;
            Ok(run(&*driver, workload, &recorder)?.throughput())
        };
        let bare = || -> anyhow::Result<f64> {
            Ok(run(&*driver, workload, &Recorder::nowhere())?.throughput())
        };
        let (with, without) = if pair % 2 == 0 {
            let with = recorded()?;
            (with, bare()?)
        } else {
            let without = bare()?;
            (recorded()?, without)
        };
        println!(
            "| {} | {with:.0} | {without:.0} | {:.3} |",
            pair + 1,
            with / without
        );
        ratios.push(with / without);
    }
    ratios.sort_by(f64::total_cmp);
    if let Some(median) = ratios.get(ratios.len() / 2) {
        println!(
            "\nRecording takes {:.1} % of the throughput (median of {pairs} pairs).",
            100.0 * (1.0 - median)
        );
    }
    Ok(())
}
