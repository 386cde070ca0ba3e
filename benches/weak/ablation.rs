//! The papers' algorithms side by side, and Plume with vectors, with tree clocks, and with neither (its section 5.5.4).

use crate::common::{CHECKERS, Workload};
use crate::{BASE, bench};
use divan::Bencher;
use isoscope::checkers::{Checker, Level};

/// The level at which clocks matter.
const TCC: Level = Level::TransactionalCausalConsistency;

/// Small enough for the plain searches.
const SMALL: Workload = Workload {
    transactions: 2000,
    keys: 2000,
    ..BASE
};

/// A variant of Plume as a type, so that its name is in the output.
trait Variant {
    const CHECKER: Checker;
}

struct Vectors;
struct TreeClocks;
struct Searches;

impl Variant for Vectors {
    const CHECKER: Checker = Checker::Plume;
}

impl Variant for TreeClocks {
    const CHECKER: Checker = Checker::PlumeTreeClocks;
}

impl Variant for Searches {
    const CHECKER: Checker = Checker::PlumeSearch;
}

#[divan::bench(args = [5, 25, 100, 500], types = [Vectors, TreeClocks, Searches], sample_count = 3, sample_size = 1)]
fn plume_by_sessions<V: Variant>(bencher: Bencher<'_, '_>, sessions: u64) {
    bench(bencher, Workload { sessions, ..SMALL }, V::CHECKER, TCC);
}

#[divan::bench(args = [500, 2000], types = [Vectors, TreeClocks, Searches], sample_count = 3, sample_size = 1)]
fn plume_by_transactions<V: Variant>(bencher: Bencher<'_, '_>, transactions: u64) {
    bench(
        bencher,
        Workload {
            transactions,
            ..SMALL
        },
        V::CHECKER,
        TCC,
    );
}

#[divan::bench(args = CHECKERS, sample_count = 3, sample_size = 1)]
fn checkers(bencher: Bencher<'_, '_>, checker: Checker) {
    bench(bencher, SMALL, checker, TCC);
}
