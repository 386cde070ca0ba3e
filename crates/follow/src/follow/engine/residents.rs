//! The transactions that are remembered, by their number.

use super::Resident;
use crate::follow::keep::kept;
use crate::follow::order::Seq;
use std::collections::VecDeque;
use std::ops::Index;

/// Remembered transactions. They have come one after the other, so nearly all of a range of numbers are there.
#[derive(Debug, Default)]
pub(super) struct Residents {
    /// The number of the first.
    first: Seq,
    all: VecDeque<Option<Resident>>,
    n: usize,
}

kept!(Residents { first, all, n });

impl Index<Seq> for Residents {
    type Output = Resident;

    fn index(&self, t: Seq) -> &Resident {
        self.get(t)
            .unwrap_or_else(|| unreachable!("T{t} is remembered"))
    }
}

impl Residents {
    /// Number of transactions.
    pub(super) fn len(&self) -> usize {
        self.n
    }

    fn place(&self, t: Seq) -> Option<usize> {
        t.checked_sub(self.first).map(|place| place as usize)
    }

    /// One of them.
    pub(super) fn get(&self, t: Seq) -> Option<&Resident> {
        self.all.get(self.place(t)?)?.as_ref()
    }

    /// One of them.
    pub(super) fn get_mut(&mut self, t: Seq) -> Option<&mut Resident> {
        let place = self.place(t)?;
        self.all.get_mut(place)?.as_mut()
    }

    /// Whether a transaction is remembered.
    pub(super) fn contains(&self, t: Seq) -> bool {
        self.get(t).is_some()
    }

    /// Adds one, whose number is higher than all.
    pub(super) fn push(&mut self, resident: Resident) {
        let seq = resident.t.seq;
        if self.all.is_empty() {
            self.first = seq;
        }
        let place = (seq - self.first) as usize;
        self.all.resize_with(place, || None);
        self.all.push_back(Some(resident));
        self.n += 1;
    }

    /// Takes one out.
    pub(super) fn remove(&mut self, t: Seq) -> Option<Resident> {
        let place = self.place(t)?;
        let removed = self.all.get_mut(place)?.take()?;
        self.n -= 1;
        while let Some(None) = self.all.front() {
            self.all.pop_front();
            self.first += 1;
        }
        Some(removed)
    }

    /// All of them, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Resident> {
        self.all.iter().flatten()
    }

    /// The numbers of all of them, ascending.
    pub(super) fn numbers(&self) -> impl Iterator<Item = Seq> {
        self.iter().map(|resident| resident.t.seq)
    }
}
