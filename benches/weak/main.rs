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

use common::{FileOrder, View, Workload};
use divan::Bencher;
use divan::counter::ItemsCount;
use isoscope::checkers::{Checker, Level};
use isoscope::control::Control;
use std::sync::LazyLock;

fn main() {
    divan::main();
}

/// What the sweeps vary. The sizes are those of the example in the documentation of Plume's artifact: 25 sessions of 200
/// transactions of 20 operations, half of them reads, over 6,000 keys. The store is causally consistent and the file
/// tells nothing about the order, so that the first guess at one is not the solution.
const BASE: Workload = Workload {
    seed: 1,
    sessions: 25,
    transactions: 5000,
    operations: 20,
    keys: 6000,
    distribution: common::Keys::Uniform,
    read_share: 0.5,
    update_share: 0.0,
    mini: false,
    stale_share: 0.0,
    view: View::Lagging(100),
    order: FileOrder::Session,
    lists: false,
};

/// A level as a type, so that its name is in the output.
trait At {
    const LEVEL: Level;
}

struct ReadCommitted;
struct ReadAtomic;
struct CausalConsistency;

impl At for ReadCommitted {
    const LEVEL: Level = Level::ReadCommitted;
}

impl At for ReadAtomic {
    const LEVEL: Level = Level::ReadAtomic;
}

impl At for CausalConsistency {
    const LEVEL: Level = Level::TransactionalCausalConsistency;
}

static POOL: LazyLock<rayon::ThreadPool> = LazyLock::new(|| {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a thread starts")
});

/// Checks the history of `workload` at one level, as often as the bench wants.
fn bench(bencher: Bencher<'_, '_>, workload: Workload, checker: Checker, level: Level) {
    let history = workload.history();
    bencher
        .counter(ItemsCount::new(workload.n_operations()))
        .bench_local(|| {
            let control = Control::new();
            POOL.install(|| common::check(&history, checker, level, &control))
        });
}
