//! One parameter at a time, as in the papers' figures, for the program's own engine.

use crate::common::{Keys, View, Workload};
use crate::{At, BASE, CausalConsistency, ReadAtomic, ReadCommitted, bench};
use divan::Bencher;
use isoscope::checkers::Checker;

fn fast<L: At>(bencher: Bencher<'_, '_>, workload: Workload) {
    bench(bencher, workload, Checker::Fast, L::LEVEL);
}

#[divan::bench(args = [1000, 5000, 25_000, 100_000], types = [ReadCommitted, ReadAtomic, CausalConsistency], sample_count = 5)]
fn transactions<L: At>(bencher: Bencher<'_, '_>, transactions: u64) {
    fast::<L>(
        bencher,
        Workload {
            transactions,
            ..BASE
        },
    );
}

#[divan::bench(args = [5, 20, 100], types = [ReadCommitted, ReadAtomic, CausalConsistency], sample_count = 5)]
fn operations<L: At>(bencher: Bencher<'_, '_>, operations: u64) {
    fast::<L>(bencher, Workload { operations, ..BASE });
}

#[divan::bench(args = [5, 25, 100, 1000], types = [ReadCommitted, ReadAtomic, CausalConsistency], sample_count = 5)]
fn sessions<L: At>(bencher: Bencher<'_, '_>, sessions: u64) {
    fast::<L>(bencher, Workload { sessions, ..BASE });
}

#[divan::bench(args = [100, 1000, 6000, 100_000], types = [ReadCommitted, ReadAtomic, CausalConsistency], sample_count = 5)]
fn keys<L: At>(bencher: Bencher<'_, '_>, keys: u64) {
    fast::<L>(bencher, Workload { keys, ..BASE });
}

#[divan::bench(args = [0.05, 0.5, 0.95], types = [ReadCommitted, ReadAtomic, CausalConsistency], sample_count = 5)]
fn read_share<L: At>(bencher: Bencher<'_, '_>, read_share: f64) {
    fast::<L>(bencher, Workload { read_share, ..BASE });
}

#[divan::bench(
    args = [Keys::Uniform, Keys::Zipf(0.99), Keys::Hotspot, Keys::Exponential, Keys::Latest],
    types = [ReadCommitted, ReadAtomic, CausalConsistency],
    sample_count = 5,
)]
fn distribution<L: At>(bencher: Bencher<'_, '_>, distribution: Keys) {
    fast::<L>(
        bencher,
        Workload {
            distribution,
            ..BASE
        },
    );
}

#[divan::bench(
    args = [View::Serial, View::Lagging(10), View::Lagging(1000)],
    types = [ReadCommitted, ReadAtomic, CausalConsistency],
    sample_count = 5,
)]
fn view<L: At>(bencher: Bencher<'_, '_>, view: View) {
    fast::<L>(bencher, Workload { view, ..BASE });
}
