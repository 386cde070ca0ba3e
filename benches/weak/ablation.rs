//! The papers' algorithms side by side, and Plume with vectors, with tree clocks, and with neither (its section 5.5.4).

use crate::common::{CHECKERS, Workload};
use crate::{BASE, bench};
use divan::Bencher;
use isoscope::checkers::Checker;

/// TCC in [`LEVELS`](crate::LEVELS): the level at which clocks matter.
const TCC: usize = 2;

/// Small enough for the plain searches.
const SMALL: Workload = Workload { transactions: 2000, keys: 2000, ..BASE };

const PLUMES: [Checker; 3] = [Checker::Plume, Checker::PlumeTreeClocks, Checker::PlumeSearch];

#[divan::bench(args = [5, 25, 100, 500], consts = [0, 1, 2], sample_count = 3, sample_size = 1)]
fn plume_by_sessions<const VARIANT: usize>(bencher: Bencher<'_, '_>, sessions: u64) {
    bench(bencher, Workload { sessions, ..SMALL }, PLUMES[VARIANT], TCC);
}

#[divan::bench(args = [500, 2000], consts = [0, 1, 2], sample_count = 3, sample_size = 1)]
fn plume_by_transactions<const VARIANT: usize>(bencher: Bencher<'_, '_>, transactions: u64) {
    bench(bencher, Workload { transactions, ..SMALL }, PLUMES[VARIANT], TCC);
}

#[divan::bench(args = CHECKERS, sample_count = 3, sample_size = 1)]
fn checkers(bencher: Bencher<'_, '_>, checker: Checker) {
    bench(bencher, SMALL, checker, TCC);
}
