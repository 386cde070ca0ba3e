//! Sets of numbers that mostly follow each other.

use crate::follow::keep::kept;
use std::collections::BTreeMap;

/// Integers, as ranges.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    /// By the first: the last.
    ends: BTreeMap<i64, i64>,
}

kept!(Ranges { ends });

impl Ranges {
    pub(super) fn contains(&self, number: i64) -> bool {
        self.ends
            .range(..=number)
            .next_back()
            .is_some_and(|(_, &end)| number <= end)
    }

    pub(super) fn insert(&mut self, number: i64) {
        if self.contains(number) {
            return;
        }
        let end = number
            .checked_add(1)
            .and_then(|next| self.ends.remove(&next))
            .unwrap_or(number);
        match self.ends.range_mut(..number).next_back() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = end,
            _ => drop(self.ends.insert(number, end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_grow_together() {
        let mut ranges = Ranges::default();
        for number in [5, 3, 4, 9, 8, i64::MAX, i64::MIN, 3] {
            ranges.insert(number);
        }
        assert_eq!(
            ranges.ends.into_iter().collect::<Vec<_>>(),
            [(i64::MIN, i64::MIN), (3, 5), (8, 9), (i64::MAX, i64::MAX)]
        );
    }
}
