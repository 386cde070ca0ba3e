//! Small instances that leave nothing but search; larger ones, with limits, are measured by `--bench tables -- --hard`.

use crate::common::Hard;
use crate::{At, Prefix, Serial, Snapshot, bench};
use divan::Bencher;

#[divan::bench(args = [2, 3, 4], types = [Prefix, Snapshot, Serial], sample_count = 3, sample_size = 1)]
fn cases<L: At>(bencher: Bencher<'_, '_>, variables: usize) {
    bench::<L>(bencher, &Hard::Cases(variables).history());
}

/// Easy to satisfy, at the threshold, easy to refute.
#[divan::bench(args = [2.0, 4.26, 8.0], types = [Prefix, Snapshot, Serial], sample_count = 3, sample_size = 1)]
fn formulas<L: At>(bencher: Bencher<'_, '_>, ratio: f64) {
    bench::<L>(bencher, &Hard::Sat(10, ratio, 1).history());
}

#[divan::bench(args = [50, 100], types = [Prefix, Snapshot, Serial], sample_count = 3, sample_size = 1)]
fn blind_writes<L: At>(bencher: Bencher<'_, '_>, writers: usize) {
    bench::<L>(
        bencher,
        &Hard::Blind(writers, writers / 4, writers, 1).history(),
    );
}
