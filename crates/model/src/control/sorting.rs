//! Sorting and iterating over many items so that the work ends soon when it is stopped.

use super::{Control, Interrupt};
use std::cmp::Ordering;

/// Items between two checks of the control.
const STRIDE: usize = 4096;
/// Items that are sorted without checking the control: a few milliseconds.
const RUN: usize = 1 << 15;

/// The items, until the work is stopped. The caller must check afterwards whether it was.
pub fn going<'a, I: IntoIterator + 'a>(
    control: &'a Control,
    items: I,
) -> impl Iterator<Item = I::Item> + 'a {
    let goes_on = move |(n, _): &(usize, I::Item)| n % STRIDE != 0 || control.check().is_ok();
    items
        .into_iter()
        .enumerate()
        .take_while(goes_on)
        .map(|(_, item)| item)
}

/// A stable sort. If it is stopped, the items are in no particular order. O(items · log items).
pub fn sort_by<T: Copy>(
    items: &mut Vec<T>,
    control: &Control,
    order: impl Fn(&T, &T) -> Ordering,
) -> Result<(), Interrupt> {
    for run in items.chunks_mut(RUN) {
        control.check()?;
        run.sort_by(&order);
    }
    let mut length = RUN;
    let mut merged = Vec::new();
    while length < items.len() {
        merged.clear();
        merged.reserve(items.len());
        for pair in items.chunks(2 * length) {
            let (left, right) = pair.split_at(length.min(pair.len()));
            merge(left, right, &mut merged, control, &order)?;
        }
        std::mem::swap(items, &mut merged);
        length *= 2;
    }
    Ok(())
}

fn merge<T: Copy>(
    left: &[T],
    right: &[T],
    merged: &mut Vec<T>,
    control: &Control,
    order: &impl Fn(&T, &T) -> Ordering,
) -> Result<(), Interrupt> {
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        if (l + r) % RUN == 0 {
            control.check()?;
        }
        if order(&right[r], &left[l]) == Ordering::Less {
            merged.push(right[r]);
            r += 1;
        } else {
            merged.push(left[l]);
            l += 1;
        }
    }
    merged.extend_from_slice(&left[l..]);
    merged.extend_from_slice(&right[r..]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_is_sorted_and_what_is_equal_stays_in_order() {
        for n in [0, 1, 5, RUN, RUN + 1, 3 * RUN + 7] {
            let mut items: Vec<(u32, usize)> = (0..n)
                .map(|at| ((at as u32).wrapping_mul(2_654_435_761) >> 20, at))
                .collect();
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| *key);
            sort_by(&mut items, &Control::new(), |a, b| a.0.cmp(&b.0)).expect("nothing stops it");
            assert_eq!(items, expected, "{n}");
        }
    }

    #[test]
    fn it_ends_when_it_is_stopped() {
        let control = Control::new();
        let seen = going(&control, 0..100_000).inspect(|n| {
            if *n == 5000 {
                control.stop();
            }
        });
        assert_eq!(seen.count(), 2 * STRIDE);
        assert!(sort_by(&mut vec![2, 1], &control, Ord::cmp).is_err());
    }
}
