//! A workload on the command line.

use super::{FileOrder, Keys, Lightweight, View, Workload};
use clap::value_parser;

/// The flags of a workload.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct WorkloadArguments {
    /// Seed of the random numbers
    #[arg(long, default_value_t = Workload::default().seed)]
    seed: u64,
    /// Sessions; 0 for one per transaction, which is no information about sessions
    #[arg(long, default_value_t = Workload::default().sessions)]
    sessions: u64,
    /// Transactions of all sessions together
    #[arg(long, default_value_t = Workload::default().transactions)]
    transactions: u64,
    /// Operations per transaction
    #[arg(long, default_value_t = Workload::default().operations)]
    operations: u64,
    /// Distinct keys
    #[arg(long, default_value_t = Workload::default().keys, value_parser = value_parser!(u64).range(1..))]
    keys: u64,
    /// How often each key is touched: uniform, zipf, zipf:EXPONENT, hotspot, exponential or latest
    #[arg(long, default_value_t = Workload::default().distribution)]
    distribution: Keys,
    /// Share of reads among the operations, 0 to 1
    #[arg(long, default_value_t = Workload::default().read_share, value_parser = share)]
    read_share: f64,
    /// Share of the writes before which the transaction reads the key, 0 to 1
    #[arg(long, default_value_t = Workload::default().update_share, value_parser = share)]
    update_share: f64,
    /// Mini-transactions: at most two keys, each read and then perhaps written
    #[arg(long)]
    mini: bool,
    /// Share of the reads that return the version before the newest, 0 to 1
    #[arg(long, default_value_t = Workload::default().stale_share, value_parser = share)]
    stale_share: f64,
    /// What sessions see of the store: serial, lag:N for a prefix up to N transactions short, or snapshot:N for
    /// snapshots up to N transactions old
    #[arg(long, default_value_t = Workload::default().view)]
    view: View,
    /// Order of the transactions in the file: happened or session
    #[arg(long, default_value_t = Workload::default().order)]
    order: FileOrder,
    /// Lightweight transactions write so many values again and again; 0 for a new one each time
    #[arg(long, default_value_t = 0)]
    values: u64,
    /// Keys hold lists: writes append, reads return all elements. Needs the serial view
    #[arg(long)]
    lists: bool,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

impl WorkloadArguments {
    /// Lightweight transactions in place of others: of the flags the seed and the numbers of sessions, transactions and keys
    /// count, and how many values there are.
    pub(crate) fn lightweight(self) -> Lightweight {
        let WorkloadArguments {
            seed,
            sessions,
            transactions,
            keys,
            values,
            ..
        } = self;
        Lightweight {
            seed,
            sessions: sessions.max(1),
            transactions,
            keys,
            values,
        }
    }

    /// What was asked for, or what is wrong with it.
    pub(crate) fn workload(self) -> anyhow::Result<Workload> {
        let WorkloadArguments {
            seed,
            sessions,
            transactions,
            operations,
            keys,
            distribution,
            ..
        } = self;
        let WorkloadArguments {
            read_share,
            update_share,
            mini,
            stale_share,
            view,
            order,
            lists,
            ..
        } = self;
        anyhow::ensure!(
            !lists || view == View::Serial,
            "--lists needs --view serial: lists that lag would not be prefixes of each other"
        );
        Ok(Workload {
            seed,
            sessions,
            transactions,
            operations,
            keys,
            distribution,
            read_share,
            update_share,
            mini,
            stale_share,
            view,
            order,
            lists,
        })
    }
}

impl Workload {
    /// The flags that give this workload.
    pub(crate) fn flags(&self) -> Vec<String> {
        let mut flags: Vec<String> = [
            ("--seed", self.seed.to_string()),
            ("--sessions", self.sessions.to_string()),
            ("--transactions", self.transactions.to_string()),
            ("--operations", self.operations.to_string()),
            ("--keys", self.keys.to_string()),
            ("--distribution", self.distribution.to_string()),
            ("--read-share", self.read_share.to_string()),
            ("--update-share", self.update_share.to_string()),
            ("--stale-share", self.stale_share.to_string()),
            ("--view", self.view.to_string()),
            ("--order", self.order.to_string()),
        ]
        .into_iter()
        .flat_map(|(name, value)| [name.to_owned(), value])
        .collect();
        flags.extend(self.lists.then(|| "--lists".to_owned()));
        flags.extend(self.mini.then(|| "--mini".to_owned()));
        flags
    }
}
