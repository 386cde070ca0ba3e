//! General transactions, one parameter at a time, as in the figures of PolySI and of Biswas & Enea.

use crate::common::{FileOrder, Keys, View, Workload};
use crate::{At, Prefix, Serial, Snapshot, workload};
use divan::Bencher;

/// What the sweeps vary: 20 sessions of 100 transactions of 15 operations, half of them reads, over 10,000 keys, few of which
/// get most of the operations. The file tells nothing about the order.
const BASE: Workload = Workload {
    seed: 1,
    sessions: 20,
    transactions: 2000,
    operations: 15,
    keys: 10_000,
    distribution: Keys::Zipf(0.99),
    read_share: 0.5,
    update_share: 0.0,
    mini: false,
    stale_share: 0.0,
    view: View::Snapshot(20),
    order: FileOrder::Session,
    lists: false,
};

#[divan::bench(args = [500, 2000, 10_000], types = [Prefix, Snapshot, Serial], sample_count = 3, sample_size = 1)]
fn transactions<L: At>(bencher: Bencher<'_, '_>, transactions: u64) {
    workload::<L>(
        bencher,
        Workload {
            transactions,
            ..BASE
        },
    );
}

#[divan::bench(args = [5, 15, 30], types = [Prefix, Snapshot, Serial], sample_count = 3, sample_size = 1)]
fn operations<L: At>(bencher: Bencher<'_, '_>, operations: u64) {
    workload::<L>(bencher, Workload { operations, ..BASE });
}

#[divan::bench(args = [5, 10, 20, 50], types = [Prefix, Snapshot, Serial], sample_count = 3, sample_size = 1)]
fn sessions<L: At>(bencher: Bencher<'_, '_>, sessions: u64) {
    workload::<L>(bencher, Workload { sessions, ..BASE });
}

#[divan::bench(args = [2000, 10_000, 50_000], types = [Prefix, Snapshot, Serial], sample_count = 3, sample_size = 1)]
fn keys<L: At>(bencher: Bencher<'_, '_>, keys: u64) {
    workload::<L>(bencher, Workload { keys, ..BASE });
}

#[divan::bench(args = [0.05, 0.3, 0.5, 0.95], types = [Prefix, Snapshot, Serial], sample_count = 3, sample_size = 1)]
fn read_share<L: At>(bencher: Bencher<'_, '_>, read_share: f64) {
    workload::<L>(bencher, Workload { read_share, ..BASE });
}

/// From blind writes only to none.
#[divan::bench(args = [0.0, 0.5, 1.0], types = [Prefix, Snapshot, Serial], sample_count = 3, sample_size = 1)]
fn update_share<L: At>(bencher: Bencher<'_, '_>, update_share: f64) {
    workload::<L>(
        bencher,
        Workload {
            update_share,
            ..BASE
        },
    );
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

#[divan::bench(
    args = [View::Serial, View::Snapshot(20), View::Lagging(20)],
    types = [Prefix, Snapshot, Serial],
    sample_count = 3,
    sample_size = 1,
)]
fn view<L: At>(bencher: Bencher<'_, '_>, view: View) {
    workload::<L>(bencher, Workload { view, ..BASE });
}
