//! Names → dense ids, in the order of first use.

use super::{Names, NumberTable};
use rustc_hash::FxHashMap;

/// Interns numbers and strings together; the result is all numbers if no string occurred.
///
/// The number 3 and the string "3" get different ids: readers for formats that do not distinguish them convert such
/// strings to numbers first.
#[derive(Clone, Debug, Default)]
pub(super) struct Interner {
    numbers: NumberTable,
    strings: FxHashMap<Box<str>, u32>,
    /// By id; 0 for strings.
    all_numbers: Vec<u64>,
    /// Id and string, by id.
    all_strings: Vec<(u32, Box<str>)>,
}

impl Interner {
    /// Number of ids. Those beyond 2³² − 2 are not distinguished; the builder refuses so many.
    pub(super) fn len(&self) -> usize {
        self.all_numbers.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all_numbers.is_empty()
    }

    pub(super) fn number(&mut self, number: u64) -> u32 {
        let next = self.all_numbers.len() as u32;
        let id = self.numbers.place_or(number, next);
        if id == next {
            self.all_numbers.push(number);
        }
        id
    }

    pub(super) fn string(&mut self, string: &str) -> u32 {
        if let Some(&id) = self.strings.get(string) {
            return id;
        }
        let id = self.all_numbers.len() as u32;
        self.strings.insert(string.into(), id);
        self.all_strings.push((id, string.into()));
        self.all_numbers.push(0);
        id
    }

    /// The name of an id.
    pub(super) fn name(&self, id: usize) -> String {
        match self
            .all_strings
            .binary_search_by_key(&(id as u32), |(id, _)| *id)
        {
            Ok(place) => self.all_strings[place].1.to_string(),
            Err(_) => self.all_numbers[id].to_string(),
        }
    }

    /// Reassigns the ids: numbers first, ascending, then strings in their existing order. Returns old id → new.
    pub(super) fn sort_by_number(&mut self) -> Vec<u32> {
        let mut is_string = vec![false; self.len()];
        for (id, _) in &self.all_strings {
            is_string[*id as usize] = true;
        }
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_by_key(|&id| (is_string[id as usize], self.all_numbers[id as usize]));
        let mut new_of_old = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            new_of_old[old as usize] = new as u32;
        }
        self.all_numbers = order
            .iter()
            .map(|&old| self.all_numbers[old as usize])
            .collect();
        for (id, _) in &mut self.all_strings {
            *id = new_of_old[*id as usize];
        }
        self.numbers.renumber(&new_of_old);
        for id in self.strings.values_mut() {
            *id = new_of_old[*id as usize];
        }
        new_of_old
    }

    pub(super) fn finish(self) -> Names {
        if self.all_strings.is_empty() {
            return Names::Numbers(self.all_numbers);
        }
        let mut names: Vec<Box<str>> = self
            .all_numbers
            .iter()
            .map(|n| n.to_string().into())
            .collect();
        for (id, string) in self.all_strings {
            names[id as usize] = string;
        }
        Names::Strings(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_puts_numbers_in_order_and_strings_behind() {
        let mut interner = Interner::default();
        for number in [6, 2] {
            interner.number(number);
        }
        interner.string("b");
        interner.number(3);
        interner.string("a");
        assert_eq!(interner.sort_by_number(), [2, 0, 3, 1, 4]);
        assert_eq!(
            (interner.number(2), interner.number(3), interner.string("a")),
            (0, 1, 4)
        );
        assert_eq!(interner.name(3), "b");
        assert_eq!(
            interner.finish(),
            Names::Strings(["2", "3", "6", "b", "a"].map(Box::from).to_vec())
        );
    }
}
