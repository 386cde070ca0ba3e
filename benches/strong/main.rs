//! How long PC, SI and SER take: the papers' workloads at sizes that a sweep can afford, mini-transactions, and instances
//! that are hard.
//!
//! ```sh
//! cargo bench --bench strong                  # everything, some minutes
//! cargo bench --bench strong -- mini          # a part
//! ```
//!
//! Each bench checks a history in memory with one thread, from the bare history to the verdict with everything that
//! violates the level. The bench `tables` measures larger histories with limits and draws them.

// Each bench uses its own part of the shared module.
#[allow(dead_code, unused_imports)]
#[path = "../common/mod.rs"]
mod common;

mod general;
mod hard;
mod mini;

use common::Workload;
use divan::Bencher;
use divan::counter::ItemsCount;
use isoscope::checkers::{Checker, Level};
use isoscope::control::Control;
use isoscope::history::History;
use std::sync::LazyLock;

fn main() {
    divan::main();
}

/// A level as a type, so that its name is in the output.
trait At {
    const LEVEL: Level;
}

struct Prefix;
struct Snapshot;
struct Serial;

impl At for Prefix {
    const LEVEL: Level = Level::PrefixConsistency;
}

impl At for Snapshot {
    const LEVEL: Level = Level::SnapshotIsolation;
}

impl At for Serial {
    const LEVEL: Level = Level::Serializability;
}

static POOL: LazyLock<rayon::ThreadPool> = LazyLock::new(|| {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a thread starts")
});

/// Checks a history at one level, as often as the bench wants.
fn bench<L: At>(bencher: Bencher<'_, '_>, history: &History) {
    bencher
        .counter(ItemsCount::new(history.n_operations()))
        .bench_local(|| {
            let control = Control::new();
            POOL.install(|| common::check(history, Checker::Fast, L::LEVEL, &control))
        });
}

fn workload<L: At>(bencher: Bencher<'_, '_>, workload: Workload) {
    bench::<L>(bencher, &workload.history());
}
