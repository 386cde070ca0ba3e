//! Workloads, store models and faults on the command line.

use crate::generate::{
    Distribution, Generation, Injection, Kind, LAG, Length, Model, Object, ObjectLog, Workload,
};
use clap::{Args, value_parser};
use std::path::PathBuf;
use std::str::FromStr;

/// What clients do.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Workload")]
pub(super) struct WorkloadArguments {
    /// general, disjoint-writes, mini, lightweight, list-append, c-twitter, rubis or tpc-c [default: general]; for
    /// `generate` also set, bank, counter, mutex or queue
    #[arg(long, value_name = "KIND")]
    workload: Option<Work>,
    /// Random seed: the same seed gives the same workload
    #[arg(long, value_name = "N", default_value_t = Workload::default().seed)]
    pub(super) seed: u64,
    /// Sessions
    #[arg(long, value_name = "N", default_value_t = Workload::default().sessions, value_parser = value_parser!(u32).range(1..=100_000))]
    sessions: u32,
    /// Transactions of each session [default: 100]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(..=1_000_000_000))]
    transactions: Option<u64>,
    /// Operations of each general or list-append transaction: a number, or a range such as 5..20 [default: 8]
    #[arg(long, value_name = "N")]
    operations: Option<Length>,
    /// Distinct keys; users, items or warehouses of an application [default: 100]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=1_000_000_000))]
    keys: Option<u64>,
    /// How often each key is touched: uniform, zipf, zipf:EXPONENT, hotspot (80-20), exponential or latest
    #[arg(long, value_name = "HOW", default_value_t = Workload::default().distribution)]
    distribution: Distribution,
    /// Share of reads among the operations, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = Workload::default().read_share, value_parser = share)]
    read_share: f64,
    /// Share of writes in general transactions that are preceded by a read of the key, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = Workload::default().update_share, value_parser = share)]
    update_share: f64,
}

/// Transactions, or operations on a data type.
#[derive(Clone, Copy, Debug)]
enum Work {
    Transactions(Kind),
    Object(Object),
}

impl FromStr for Work {
    type Err = String;

    fn from_str(text: &str) -> Result<Work, String> {
        let object = || text.parse().map(Work::Object);
        let kind = text.parse().map(Work::Transactions);
        kind.or_else(|error: String| {
            let objects: Vec<&str> = Object::ALL.map(Object::name).to_vec();
            object().map_err(|_: String| format!("{error}, {}", objects.join(", ")))
        })
    }
}

impl WorkloadArguments {
    /// The requested workload.
    ///
    /// # Errors
    /// A workload that has no transactions was requested.
    pub(super) fn workload(&self) -> anyhow::Result<Workload> {
        self.workload_or(Workload::default())
    }

    /// The data type that operations are about, if they are no transactions.
    pub(super) fn object(&self) -> Option<Object> {
        match self.workload? {
            Work::Object(object) => Some(object),
            Work::Transactions(_) => None,
        }
    }

    /// The requested workload, with other defaults for its kind and size.
    ///
    /// # Errors
    /// As [`WorkloadArguments::workload`].
    pub(super) fn workload_or(&self, default: Workload) -> anyhow::Result<Workload> {
        let &WorkloadArguments {
            seed,
            sessions,
            distribution,
            read_share,
            update_share,
            ..
        } = self;
        let kind = match self.workload {
            Some(Work::Object(object)) => {
                anyhow::bail!("the workload {object} can be generated only: it has no transactions")
            }
            Some(Work::Transactions(kind)) => kind,
            None => default.kind,
        };
        let transactions = self.transactions.unwrap_or(default.transactions);
        let operations = self.operations.unwrap_or(default.operations);
        let keys = self.keys.unwrap_or(default.keys);
        Ok(Workload {
            kind,
            seed,
            sessions,
            transactions,
            operations,
            keys,
            distribution,
            read_share,
            update_share,
        })
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

/// What `generate` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope generate --store si -o history.txt\n  \
    isoscope generate --store si --fault lost-update=3 --fault TAP-k --seed 7 -o history.txt\n  \
    isoscope generate --workload mini --keys 20 --distribution zipf --store rc -o history.json\n  \
    isoscope generate --workload tpc-c --keys 2 --store serial --histories 100 -o runs/\n  \
    isoscope generate --workload queue --planted -o history.edn\n\n\
    Stores, strongest first:\n  \
    strict  strict serializability             serial  serializability\n  \
    si      snapshot isolation                 pc      prefix consistency\n  \
    tcc     causal, replicas that lag behind   ra      read atomic\n  \
    rc      read committed\n\n\
    Faults, by the patterns they show:\n  \
    TAP-a thin-air-read       TAP-b aborted-read         TAP-c future-read\n  \
    TAP-d not-my-own-write    TAP-e not-my-last-write    TAP-f intermediate-read\n  \
    TAP-g cyclic-causality    TAP-h non-monotonic-read   TAP-i non-monotonic-order\n  \
    TAP-j non-repeatable-read TAP-k fractured-read       TAP-l fractured-order\n  \
    TAP-m causality-violation TAP-n version-conflict     LongFork long-fork\n  \
    LostUpdate lost-update    SICycle snapshot-cycle     WriteSkew write-skew\n  \
    SERCycle serialization-cycle                         RealTimeCycle real-time-cycle")]
pub struct GenerateArguments {
    #[command(flatten)]
    pub(super) workload: WorkloadArguments,
    /// What the store promises: strict, serial, si, pc, tcc, ra or rc
    #[arg(long, value_name = "MODEL", default_value_t = Model::Serial, help_heading = "Store")]
    store: Model,
    /// How many transactions a view may lag behind, if the store allows lag
    #[arg(long, value_name = "N", default_value_t = LAG, help_heading = "Store")]
    lag: u64,
    /// Share of the transactions that roll back for no reason, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share, help_heading = "Store")]
    aborted: f64,
    /// Share of the transactions whose outcome the client never learns, 0 to 1; half of them commit
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share, help_heading = "Store")]
    unknown: f64,
    /// Record times (strict always does)
    #[arg(long, help_heading = "Store")]
    times: bool,
    /// Fault to inject (listed below), and how many times
    #[arg(
        long,
        value_name = "NAME[=N]",
        value_delimiter = ',',
        help_heading = "Store"
    )]
    fault: Vec<Injection>,
    /// Let one thing go wrong in a set, bank, counter, mutex or queue
    #[arg(long, help_heading = "Store", conflicts_with = "fault")]
    planted: bool,
    /// Where to write the history; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub(super) output: PathBuf,
    /// Format to write [default: by the extension of OUT, else text]
    #[arg(long, value_name = "F")]
    pub(super) to: Option<String>,
    /// Generate this many histories, with this seed and the following ones, into the folder OUT
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=1_000_000))]
    pub(super) histories: Option<u64>,
    /// Threads to use for several histories [default: one per core]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024), requires = "histories")]
    pub(super) threads: Option<u16>,
}

impl GenerateArguments {
    /// The requested generation, with another seed.
    pub(super) fn generation(&self, seed: u64) -> anyhow::Result<Generation> {
        let workload = self.workload.workload()?;
        Ok(Generation {
            workload: Workload { seed, ..workload },
            lag: self.lag,
            aborted: self.aborted,
            unknown: self.unknown,
            times: self.times || self.store == Model::Strict,
            faults: self.fault.clone(),
            ..Generation::new(workload, self.store)
        })
    }

    /// The log of a data type with another seed, if one is requested.
    pub(super) fn log(&self, seed: u64) -> Option<ObjectLog> {
        let object = self.workload.object()?;
        let WorkloadArguments {
            sessions,
            transactions,
            ..
        } = self.workload;
        let each = transactions.unwrap_or(Workload::default().transactions);
        Some(ObjectLog {
            object,
            seed,
            clients: sessions,
            operations: each.saturating_mul(u64::from(sessions)),
            is_faulty: self.planted,
        })
    }
}
