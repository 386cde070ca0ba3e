//! Mini-transactions, as in the figures of MTC: every write is an update, so versions have an order that reads tell.

use crate::common::{FileOrder, Keys, View, Workload};
use crate::{At, Prefix, Serial, Snapshot, workload};
use divan::Bencher;

/// What the sweeps vary.
const BASE: Workload = Workload {
    seed: 1,
    sessions: 20,
    transactions: 10_000,
    operations: 2,
    keys: 1000,
    distribution: Keys::Uniform,
    read_share: 0.5,
    update_share: 1.0,
    mini: true,
    stale_share: 0.0,
    view: View::Serial,
    order: FileOrder::Session,
    lists: false,
};

#[divan::bench(args = [1000, 10_000, 100_000], types = [Prefix, Snapshot, Serial], sample_count = 3, sample_size = 1)]
fn transactions<L: At>(bencher: Bencher<'_, '_>, transactions: u64) {
    workload::<L>(
        bencher,
        Workload {
            transactions,
            ..BASE
        },
    );
}

#[divan::bench(args = [10, 1000, 10_000], types = [Prefix, Snapshot, Serial], sample_count = 3, sample_size = 1)]
fn keys<L: At>(bencher: Bencher<'_, '_>, keys: u64) {
    workload::<L>(bencher, Workload { keys, ..BASE });
}

#[divan::bench(args = [5, 20, 100], types = [Prefix, Snapshot, Serial], sample_count = 3, sample_size = 1)]
fn sessions<L: At>(bencher: Bencher<'_, '_>, sessions: u64) {
    workload::<L>(bencher, Workload { sessions, ..BASE });
}

#[divan::bench(
    args = [Keys::Uniform, Keys::Zipf(0.99), Keys::Hotspot, Keys::Exponential],
    types = [Prefix, Snapshot, Serial],
    sample_count = 3,
    sample_size = 1,
)]
fn distribution<L: At>(bencher: Bencher<'_, '_>, distribution: Keys) {
    workload::<L>(
        bencher,
        Workload {
            distribution,
            ..BASE
        },
    );
}
