//! How fast histories are read and written, per format.

// Each bench uses its own part of the shared module.
#[allow(dead_code, unused_imports)]
mod common;

use common::Workload;
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use isoscope::control::Control;
use isoscope::formats::{self, Input};
use isoscope::history::Statistics;

fn main() {
    divan::main();
}

/// Transactions of the histories; each has ten operations.
const TRANSACTIONS: [u64; 2] = [1000, 100_000];
const FORMATS: [&str; 3] = ["plume", "text", "json"];

fn bytes(format: &str, transactions: u64) -> Vec<u8> {
    let history = Workload {
        transactions,
        ..Workload::default()
    }
    .history();
    let mut bytes = Vec::new();
    formats::write(&history, format, &mut bytes).expect("memory does not refuse bytes");
    let again = formats::read(&Input::new("", &bytes), Some(format), &Control::new())
        .expect("what is written is read");
    assert_eq!(Statistics::of(&again), Statistics::of(&history));
    bytes
}

#[divan::bench(args = TRANSACTIONS, consts = [0, 1, 2])]
fn read<const FORMAT: usize>(bencher: Bencher<'_, '_>, transactions: u64) {
    let format = FORMATS[FORMAT];
    let bytes = bytes(format, transactions);
    let items = ItemsCount::new(10 * transactions);
    bencher
        .counter(items)
        .counter(BytesCount::new(bytes.len()))
        .bench(|| {
            formats::read(&Input::new("", &bytes), Some(format), &Control::new())
                .map(|history| history.n_operations())
        });
}

#[divan::bench(args = TRANSACTIONS, consts = [0, 1, 2])]
fn write<const FORMAT: usize>(bencher: Bencher<'_, '_>, transactions: u64) {
    let history = Workload {
        transactions,
        ..Workload::default()
    }
    .history();
    let mut out = Vec::new();
    bencher
        .counter(ItemsCount::new(10 * transactions))
        .bench_local(|| {
            out.clear();
            formats::write(&history, FORMATS[FORMAT], &mut out).map(|()| out.len())
        });
}
