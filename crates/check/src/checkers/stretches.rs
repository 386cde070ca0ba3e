//! Going through many places in parallel without holding much more than what is found.

use isoscope_model::control::{Control, Interrupt};
use rayon::prelude::*;

/// Appends what `follow` finds at each of the places `0..n`, in their order. Stretches of `length` places are examined in parallel,
/// each with a state of its own, so that nothing depends on the number of threads.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn in_stretches<S, T: Send>(
    all: &mut Vec<T>,
    n: usize,
    length: usize,
    control: &Control,
    state: impl Fn() -> S + Sync,
    follow: impl Fn(&mut S, usize, &mut Vec<T>) + Sync,
) -> Result<(), Interrupt> {
    let at_once = length * rayon::current_num_threads();
    for begin in (0..n).step_by(at_once) {
        control.check()?;
        let stretch = |from: usize| {
            let (mut state, mut found) = (state(), Vec::new());
            (from..n.min(from + length)).for_each(|place| follow(&mut state, place, &mut found));
            found
        };
        let stretches = (begin..n.min(begin + at_once))
            .into_par_iter()
            .step_by(length);
        let found: Vec<Vec<T>> = stretches.map(stretch).collect();
        found
            .into_iter()
            .for_each(|mut found| all.append(&mut found));
    }
    Ok(())
}
