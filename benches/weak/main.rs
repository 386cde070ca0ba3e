//! How long the weak levels take, by level and workload: sweeps over the papers' parameters, shapes that are hard for
//! some algorithm, and Plume's ablation of its clocks.
//!
//! ```sh
//! cargo bench --bench weak                    # everything, some minutes
//! cargo bench --bench weak -- shapes          # a part
//! ```
//!
//! Each bench checks a history in memory with one thread, from the bare history to the verdict with everything that
//! violates the level. The bench `tables` measures larger histories with limits and draws them.

// Each bench uses its own part of the shared module.
#[allow(dead_code, unused_imports)]
#[path = "../common/mod.rs"]
mod common;

mod ablation;
mod shapes;
mod sweeps;

use common::{FileOrder, LEVELS, View, Workload};
use divan::Bencher;
use divan::counter::ItemsCount;
use isoscope::checkers::Checker;
use isoscope::control::Control;
use std::sync::LazyLock;

fn main() {
    divan::main();
}

/// What the sweeps vary: operations, keys, read share and distribution are those that Plume's artifact names as its
/// example (25 sessions of 200 transactions of 20 operations over 6,000 keys), as is the number of sessions. The store
/// is causally consistent and the file tells nothing about the order, so that the first guess is not the solution.
const BASE: Workload = Workload {
    seed: 1,
    sessions: 25,
    transactions: 5000,
    operations: 20,
    keys: 6000,
    distribution: common::Keys::Uniform,
    read_share: 0.5,
    stale_share: 0.0,
    view: View::Lagging(100),
    order: FileOrder::Session,
    lists: false,
};

/// Numbers of the levels in [`LEVELS`]: RC, RA, TCC.
const LEVEL_NUMBERS: [usize; 3] = [0, 1, 2];

static POOL: LazyLock<rayon::ThreadPool> =
    LazyLock::new(|| rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread starts"));

/// Checks the history of `workload` at one level, as often as the bench wants.
fn bench(bencher: Bencher<'_, '_>, workload: Workload, checker: Checker, level: usize) {
    let history = workload.history();
    bencher.counter(ItemsCount::new(workload.n_operations())).bench_local(|| {
        let control = Control::new();
        POOL.install(|| common::check(&history, checker, LEVELS[level], &control))
    });
}
