//! Numbers → dense places, without hashing if the numbers are small.

use rustc_hash::FxHashMap;

/// Numbers below this are looked up in an array. Histories number most things from 0 or 1.
const DIRECT: u64 = 1 << 22;

/// A map from numbers to places. The array for small numbers grows with the largest of them, up to 16 MiB, of which
/// only the pages in use take memory.
#[derive(Clone, Debug, Default)]
pub struct NumberTable {
    /// Place + 1 by number; 0 for none.
    direct: Vec<u32>,
    hashed: FxHashMap<u64, u32>,
}

impl NumberTable {
    /// The place of `number`; if it has none, `next` becomes its place. `next` is less than 2³² − 1. O(1).
    #[inline]
    pub fn place_or(&mut self, number: u64, next: u32) -> u32 {
        if number >= DIRECT {
            return *self.hashed.entry(number).or_insert(next);
        }
        let index = number as usize;
        if index >= self.direct.len() {
            self.grow(index);
        }
        let slot = &mut self.direct[index];
        if *slot == 0 {
            *slot = next + 1;
        }
        *slot - 1
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        // A new array of zeros costs nothing before it is touched; resizing would touch all of it.
        let mut grown = vec![0; (index + 1).next_power_of_two().max(1024)];
        grown[..self.direct.len()].copy_from_slice(&self.direct);
        self.direct = grown;
    }

    /// Replaces each place by `new_of_old[place]`.
    pub(super) fn renumber(&mut self, new_of_old: &[u32]) {
        for place in self.direct.iter_mut().filter(|place| **place > 0) {
            *place = new_of_old[*place as usize - 1] + 1;
        }
        for place in self.hashed.values_mut() {
            *place = new_of_old[*place as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_numbers_keep_their_places() {
        let mut table = NumberTable::default();
        let numbers = [0, 5000, 1, DIRECT - 1, DIRECT, u64::MAX, 1023, 1024];
        for (next, number) in (0..).zip(numbers) {
            assert_eq!(table.place_or(number, next), next);
        }
        for (place, number) in (0..).zip(numbers) {
            assert_eq!(table.place_or(number, 77), place);
        }
        table.renumber(&[7, 6, 5, 4, 3, 2, 1, 0]);
        for (place, number) in (0..).zip(numbers) {
            assert_eq!(table.place_or(number, 77), 7 - place);
        }
    }
}
