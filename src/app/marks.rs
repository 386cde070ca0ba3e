//! What the user marked in the history.

use crate::history::{Annotation, MarkPlace};

/// The marks, and which of them is attended to.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// In the order in which they were made.
    pub all: Vec<Annotation>,
    /// The one gone to last.
    pub at: Option<usize>,
    /// The one whose text is being written.
    pub open: Option<usize>,
    /// Its field takes the keyboard in the next frame.
    pub fresh: bool,
}

/// What is asked about marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Write the text of this one.
    Open(usize),
    /// The text of the open one.
    Write(String),
    /// The open one is done.
    Close,
    /// Take this one away.
    Remove(usize),
    /// Show where this one is.
    GoTo(usize),
    Add(MarkPlace),
}

impl Marks {
    /// Opens the mark of this place, which is made if there is none.
    pub fn add(&mut self, place: MarkPlace) {
        let known = self.all.iter().position(|mark| mark.place == place);
        let at = known.unwrap_or(self.all.len());
        if known.is_none() {
            self.all.push(Annotation {
                place,
                text: String::new(),
            });
        }
        self.open(at);
    }

    /// Opens a mark to write its text.
    pub fn open(&mut self, at: usize) {
        (self.at, self.open, self.fresh) = (Some(at), Some(at), true);
    }

    /// Takes a mark away.
    pub fn remove(&mut self, at: usize) {
        if at < self.all.len() {
            self.all.remove(at);
            (self.at, self.open) = (at.checked_sub(1), None);
        }
    }

    pub fn replace(&mut self, all: Vec<Annotation>) {
        let is_there = |at: &usize| *at < all.len();
        (self.at, self.open) = (self.at.filter(is_there), self.open.filter(is_there));
        self.all = all;
    }

    /// The mark so many further than the last one gone to, around the end.
    pub fn further(&self, step: isize) -> Option<usize> {
        let n = self.all.len() as isize;
        let from = self
            .at
            .map_or(if step > 0 { -1 } else { 0 }, |at| at as isize);
        (n > 0).then(|| (from + step).rem_euclid(n) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_marked_once_and_found_again() {
        let mut marks = Marks::default();
        assert_eq!(marks.further(1), None);
        [(0, 5), (7, 9), (0, 5)]
            .into_iter()
            .for_each(|(from, to)| marks.add(MarkPlace::Time(from, to)));
        assert_eq!((marks.all.len(), marks.open), (2, Some(0)));
        assert_eq!((marks.further(1), marks.further(-1)), (Some(1), Some(1)));
        marks.remove(0);
        assert_eq!(
            (marks.all.len(), marks.open, marks.further(1)),
            (1, None, Some(0))
        );
    }
}
