//! Workloads that are hard for some algorithm, for the program's own engine.

use crate::common::Shape;
use crate::{At, BASE, CausalConsistency, ReadAtomic, ReadCommitted, bench};
use divan::Bencher;
use isoscope::checkers::Checker;

#[divan::bench(args = Shape::ALL, types = [ReadCommitted, ReadAtomic, CausalConsistency], sample_count = 3, sample_size = 1)]
fn shapes<L: At>(bencher: Bencher<'_, '_>, shape: Shape) {
    bench(bencher, shape.of(BASE), Checker::Fast, L::LEVEL);
}
