//! Lists of items by row, contiguous: compressed sparse rows.

use std::ops::Range;

/// Items by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows<T> {
    /// By row: its first place, with one entry more than rows.
    pub(super) begin: Vec<u32>,
    pub(super) items: Vec<T>,
}

/// No rows.
impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows {
            begin: vec![0],
            items: Vec::new(),
        }
    }
}

impl<T: Copy + Default> Rows<T> {
    /// Groups items by row, in the given order within each. O(rows + items); the iterator is traversed twice, so that
    /// nothing but the items is held.
    pub fn new(n_rows: usize, items: impl Iterator<Item = (u32, T)> + Clone) -> Rows<T> {
        let begin = row_begins(n_rows, items.clone().map(|(row, _)| row));
        let mut next = begin.clone();
        let mut sorted = vec![T::default(); begin[n_rows] as usize];
        for (row, item) in items {
            let place = &mut next[row as usize];
            sorted[*place as usize] = item;
            *place += 1;
        }
        Rows {
            begin,
            items: sorted,
        }
    }
}

impl<T> Rows<T> {
    /// Items that come row by row. O(rows + items).
    pub fn of_sorted(n_rows: usize, items: Vec<T>, row: impl Fn(&T) -> u32) -> Rows<T> {
        Rows {
            begin: row_begins(n_rows, items.iter().map(row)),
            items,
        }
    }

    /// Rows of one item each.
    pub fn one_each(items: Vec<T>) -> Rows<T> {
        Rows {
            begin: (0..=items.len() as u32).collect(),
            items,
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.begin.len() - 1
    }

    /// The places of a row's items among all.
    #[inline]
    pub fn range(&self, row: u32) -> Range<usize> {
        self.begin[row as usize] as usize..self.begin[row as usize + 1] as usize
    }

    /// The items of a row.
    #[inline]
    pub fn of(&self, row: u32) -> &[T] {
        &self.items[self.range(row)]
    }

    /// All items, by row.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// All items with their rows.
    pub fn all(&self) -> impl Iterator<Item = (u32, &T)> + Clone {
        (0..self.n_rows() as u32).flat_map(|row| self.of(row).iter().map(move |item| (row, item)))
    }

    /// Appends a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = T>) {
        self.items.extend(row);
        self.begin.push(self.items.len() as u32);
    }
}

impl<T: Ord> Rows<T> {
    /// These rows, each with its items sorted.
    pub fn sorted(mut self) -> Rows<T> {
        for row in 0..self.n_rows() as u32 {
            let range = self.range(row);
            self.items[range].sort_unstable();
        }
        self
    }
}

/// Where each row begins if items are in these rows, with one entry more than rows.
pub fn row_begins(n_rows: usize, rows: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut begin = vec![0u32; n_rows + 1];
    let mut count = 0usize;
    for row in rows {
        begin[row as usize + 1] += 1;
        count += 1;
    }
    assert!(count <= u32::MAX as usize, "places are 32 bits wide");
    for row in 0..n_rows {
        begin[row + 1] += begin[row];
    }
    begin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_the_order_of_their_items() {
        let mut rows = Rows::new(4, [(2, 'c'), (0, 'x'), (2, 'a'), (2, 'b')].into_iter());
        assert_eq!(
            (rows.n_rows(), rows.of(0), rows.of(1), rows.range(2)),
            (4, &['x'][..], &[][..], 1..4)
        );
        assert_eq!(rows.of(2), ['c', 'a', 'b']);
        rows.push(['z']);
        let rows = rows.sorted();
        assert_eq!(
            rows.all().collect::<Vec<_>>(),
            [(0, &'x'), (2, &'a'), (2, &'b'), (2, &'c'), (4, &'z')]
        );
        assert_eq!(Rows::<u32>::default().n_rows(), 0);
    }
}
