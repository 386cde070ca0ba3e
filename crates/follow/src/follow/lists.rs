//! What lists show: the order of the versions of a key.
//!
//! A list that was read shows the order of its elements, and that everything else is appended later. Its last element,
//! before the reader's own appends, is the version that was read, as with a register. Lists of one key must be prefixes
//! of each other, and the appends of a transaction are contiguous.

use super::keep::kept;
use super::order::Seq;
use super::record::{Atom, Record};
use isoscope_check::checkers::Pattern;
use isoscope_model::history::OperationKind;

/// What is known of the list of a key. It takes memory for each element.
#[derive(Debug, Default)]
pub(super) struct List {
    /// The longest list that was read, without appends of its reader.
    elements: Vec<Atom>,
    /// The transaction that read it; 0 before any has.
    pub(super) reader: Seq,
    /// The writer of its last element.
    last: Option<Seq>,
    /// Delivered transactions that appended what is not in it.
    later: Vec<Seq>,
}

kept!(List {
    elements,
    reader,
    last,
    later
});

impl List {
    /// Whether a list fits what is known.
    pub(super) fn is_compatible(&self, elements: &[Atom]) -> bool {
        self.elements
            .iter()
            .zip(elements)
            .all(|(known, element)| known == element)
    }

    /// A delivered transaction appended to it; what that shows is added to `pairs`.
    pub(super) fn append(&mut self, t: Seq, pairs: &mut Vec<(Seq, Seq)>) {
        self.later.push(t);
        pairs.extend(self.last.map(|last| (last, t)));
    }

    /// A transaction read a list, whose elements have these writers; what that shows is added to `pairs`.
    pub(super) fn read(
        &mut self,
        reader: Seq,
        elements: &[Atom],
        writers: &[Seq],
        pairs: &mut Vec<(Seq, Seq)>,
    ) {
        let known = self.elements.len();
        if elements.len() <= known {
            return;
        }
        self.reader = reader;
        for (element, &writer) in elements.iter().zip(writers).skip(known) {
            pairs.extend(
                self.last
                    .filter(|last| *last != writer)
                    .map(|last| (last, writer)),
            );
            self.last = Some(writer);
            self.elements.push(element.clone());
        }
        self.later.retain(|t| !writers.contains(t));
        pairs.extend(self.later.iter().filter_map(|&t| Some((self.last?, t))));
    }

    /// Keeps only those later transactions that may still matter.
    pub(super) fn forget(&mut self, is_remembered: impl Fn(Seq) -> bool) {
        self.later.retain(|&t| is_remembered(t));
    }
}

/// The part of a list that was there before the reader's own appends: none if these are not its end.
pub(super) fn from_outside<'a>(
    record: &Record,
    place: usize,
    list: &'a [Atom],
) -> Option<&'a [Atom]> {
    let own: Vec<&Atom> = record
        .writes_before(place)
        .map(|action| &action.value)
        .collect();
    let (outside, end) = list.split_at(list.len().checked_sub(own.len())?);
    end.iter().zip(own).all(|(a, b)| a == b).then_some(outside)
}

/// What is wrong with a list by itself: an element twice.
pub(super) fn wrong(elements: &[Atom]) -> Option<Pattern> {
    let mut sorted: Vec<&Atom> = elements.iter().collect();
    sorted.sort_unstable();
    sorted
        .windows(2)
        .any(|pair| pair[0] == pair[1])
        .then_some(Pattern::DuplicateElement)
}

/// Whether of the lists of each key that a transaction read one is always the beginning of the other.
pub(super) fn fit_together(record: &Record) -> bool {
    let mut longest: Vec<(u32, &[Atom])> = Vec::new();
    for (place, action) in record
        .operations
        .iter()
        .enumerate()
        .filter(|(_, o)| o.kind == OperationKind::Read)
    {
        let Some(outside) = action
            .list
            .as_deref()
            .and_then(|list| from_outside(record, place, list))
        else {
            continue;
        };
        match longest.iter_mut().find(|(key, _)| *key == action.key) {
            None => longest.push((action.key, outside)),
            Some((_, known)) if !known.iter().zip(outside).all(|(a, b)| a == b) => return false,
            Some((_, known)) if known.len() < outside.len() => *known = outside,
            Some(_) => {}
        }
    }
    true
}
