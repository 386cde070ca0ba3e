//! One parameter at a time, as in the papers' figures, for the program's own engine.

use crate::common::{Keys, View, Workload};
use crate::{BASE, LEVEL_NUMBERS, bench};
use divan::Bencher;
use isoscope::checkers::Checker;

fn fast<const LEVEL: usize>(bencher: Bencher<'_, '_>, workload: Workload) {
    bench(bencher, workload, Checker::Fast, LEVEL);
}

#[divan::bench(args = [1000, 5000, 25_000], consts = LEVEL_NUMBERS, sample_count = 5)]
fn transactions<const LEVEL: usize>(bencher: Bencher<'_, '_>, transactions: u64) {
    fast::<LEVEL>(bencher, Workload { transactions, ..BASE });
}

#[divan::bench(args = [5, 20, 100], consts = LEVEL_NUMBERS, sample_count = 5)]
fn operations<const LEVEL: usize>(bencher: Bencher<'_, '_>, operations: u64) {
    fast::<LEVEL>(bencher, Workload { operations, ..BASE });
}

#[divan::bench(args = [5, 25, 100, 1000], consts = LEVEL_NUMBERS, sample_count = 5)]
fn sessions<const LEVEL: usize>(bencher: Bencher<'_, '_>, sessions: u64) {
    fast::<LEVEL>(bencher, Workload { sessions, ..BASE });
}

#[divan::bench(args = [100, 1000, 6000, 100_000], consts = LEVEL_NUMBERS, sample_count = 5)]
fn keys<const LEVEL: usize>(bencher: Bencher<'_, '_>, keys: u64) {
    fast::<LEVEL>(bencher, Workload { keys, ..BASE });
}

#[divan::bench(args = [0.05, 0.5, 0.95], consts = LEVEL_NUMBERS, sample_count = 5)]
fn read_share<const LEVEL: usize>(bencher: Bencher<'_, '_>, read_share: f64) {
    fast::<LEVEL>(bencher, Workload { read_share, ..BASE });
}

#[divan::bench(
    args = [Keys::Uniform, Keys::Zipf(0.99), Keys::Hotspot, Keys::Exponential, Keys::Latest],
    consts = LEVEL_NUMBERS,
    sample_count = 5,
)]
fn distribution<const LEVEL: usize>(bencher: Bencher<'_, '_>, distribution: Keys) {
    fast::<LEVEL>(bencher, Workload { distribution, ..BASE });
}

#[divan::bench(
    args = [View::Serial, View::Lagging(10), View::Lagging(1000)],
    consts = LEVEL_NUMBERS,
    sample_count = 5,
)]
fn view<const LEVEL: usize>(bencher: Bencher<'_, '_>, view: View) {
    fast::<LEVEL>(bencher, Workload { view, ..BASE });
}
