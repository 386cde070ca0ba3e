//! Workloads that are hard for some algorithm, for the program's own engine.

use crate::common::Shape;
use crate::{BASE, LEVEL_NUMBERS, bench};
use divan::Bencher;
use isoscope::checkers::Checker;

#[divan::bench(args = Shape::ALL, consts = LEVEL_NUMBERS, sample_count = 3, sample_size = 1)]
fn shapes<const LEVEL: usize>(bencher: Bencher<'_, '_>, shape: Shape) {
    bench(bencher, shape.of(BASE), Checker::Fast, LEVEL);
}
