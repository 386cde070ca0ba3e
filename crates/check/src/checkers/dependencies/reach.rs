//! Which readers depend on the writers that they miss.
//!
//! In the order of the transactions each gets a row of what it depends on, joined from the rows of those before it from
//! which an edge of D leads to it. There are two kinds of rows:
//!
//! - How much of each session of a block it depends on: D contains session order, so that is a beginning of the session.
//!   Each block takes one pass over the whole order.
//! - Which of some missed writers it depends on. A pass takes as many of them as fit into a row, and only goes from the
//!   first of them to the last reader that misses one.
//!
//! The first kind is for few sessions, the second for versions that are missed briefly and for transactions without
//! sessions; what takes fewer rows is used.

use super::versions::{Missed, Versions, certain};
use crate::checkers::Respected;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Index, Node};
use std::ops::Range;

/// Sessions of a block.
const SESSIONS: usize = 16;

/// Words of a row of missed writers, a bit each: as many bytes as for a block of sessions.
const WORDS: usize = 8;

/// Missed writers of a row.
const WRITERS: usize = WORDS * 64;

/// An order of transactions that contains D.
pub(super) struct Ordered<'a, P> {
    pub(super) index: &'a Index,
    pub(super) versions: &'a Versions,
    pub(super) order: &'a [Node],
    pub(super) position: P,
    /// What readers depend on at the moment of a read.
    pub(super) respected: Respected,
    pub(super) control: &'a Control,
}

impl<P: Fn(Node) -> u32> Ordered<'_, P> {
    /// Those of the missed reads whose readers depend on the writer that they miss, in any order.
    /// O(n + (reads + writes) × passes).
    pub(super) fn depended_on(&self, mut missed: Vec<Missed>) -> Result<Vec<Missed>, Interrupt> {
        missed.sort_unstable_by_key(|missed| ((self.position)(missed.newer), missed.reader));
        let groups = self.groups(&missed);
        let by_writer: usize = groups
            .iter()
            .map(|group| self.places(&missed[group.clone()]).len())
            .sum();
        let by_session = self.index.n_sessions().div_ceil(SESSIONS) * self.order.len();
        let mut wrong = vec![false; missed.len()];
        if by_session < by_writer {
            self.by_session(&missed, &mut wrong)?
        } else {
            for group in groups {
                self.by_writer(&missed[group.clone()], &mut wrong[group])?;
            }
        }
        let mut wrong = wrong.into_iter();
        missed.retain(|_| wrong.next() == Some(true));
        Ok(missed)
    }

    /// Stretches of the missed reads, as many writers in each as fit into a row.
    fn groups(&self, missed: &[Missed]) -> Vec<Range<usize>> {
        let (mut groups, mut begin, mut end) = (Vec::new(), 0, 0);
        for (n, of_writer) in missed.chunk_by(|a, b| a.newer == b.newer).enumerate() {
            if n > 0 && n % WRITERS == 0 {
                groups.push(begin..end);
                begin = end;
            }
            end += of_writer.len();
        }
        groups.push(begin..end);
        groups
    }

    /// From the first missed writer to the last reader of a stretch.
    fn places(&self, group: &[Missed]) -> Range<usize> {
        let end = group
            .iter()
            .map(|missed| (self.position)(missed.reader) as usize + 1)
            .max();
        group.first().map_or(0..0, |first| {
            (self.position)(first.newer) as usize..end.unwrap_or(0)
        })
    }

    fn by_writer(&self, group: &[Missed], wrong: &mut [bool]) -> Result<(), Interrupt> {
        let places = self.places(group);
        let mut writers = group
            .chunk_by(|a, b| a.newer == b.newer)
            .map(|missed| missed[0].newer)
            .enumerate()
            .peekable();
        let rows = self.rows(
            places.clone(),
            |a, b| a | b,
            |v, row: &mut [u64; WORDS]| {
                if let Some((bit, _)) = writers.next_if(|(_, writer)| *writer == v) {
                    row[bit / 64] |= 1 << (bit % 64);
                }
            },
        )?;
        let of_writers = group.chunk_by(|a, b| a.newer == b.newer).enumerate();
        let bits =
            of_writers.flat_map(|(bit, missed)| missed.iter().map(move |missed| (bit, missed)));
        for (wrong, (bit, missed)) in wrong.iter_mut().zip(bits) {
            *wrong = self.any_row(&rows, places.start, missed, |row| {
                row[bit / 64] >> (bit % 64) & 1 == 1
            });
        }
        Ok(())
    }

    fn by_session(&self, missed: &[Missed], wrong: &mut [bool]) -> Result<(), Interrupt> {
        for first in (0..self.index.n_sessions()).step_by(SESSIONS) {
            let entry = |v: Node| {
                (self.index.session[v as usize] as usize)
                    .checked_sub(first)
                    .filter(|at| *at < SESSIONS)
            };
            let rows = self.rows(
                0..self.order.len(),
                u32::max,
                |v, row: &mut [u32; SESSIONS]| {
                    if let Some(entry) = entry(v) {
                        row[entry] = self.index.position(v) + 1;
                    }
                },
            )?;
            for (wrong, missed) in wrong.iter_mut().zip(missed) {
                if let Some(entry) = entry(missed.newer) {
                    let least = self.index.position(missed.newer);
                    *wrong |= self.any_row(&rows, 0, missed, |row| least < row[entry]);
                }
            }
        }
        Ok(())
    }

    /// Whether a row of what the reader depends on at the moment of its read is as asked; `rows` begin at the place `first`.
    fn any_row<R>(
        &self,
        rows: &[R],
        first: usize,
        missed: &Missed,
        is: impl Fn(&R) -> bool,
    ) -> bool {
        let row = |v: Node| rows.get(((self.position)(v) as usize).checked_sub(first)?);
        match self.respected {
            Respected::SoFar => {
                let sources = self
                    .versions
                    .so_far(self.index, missed.reader, missed.read as usize);
                sources.filter_map(row).any(is)
            }
            _ => row(missed.reader).is_some_and(is),
        }
    }

    /// The rows of the transactions at some places, as far as what they depend on is at these places, too. `mark` adds
    /// a transaction to its own row.
    fn rows<T: Copy + Default, const N: usize>(
        &self,
        places: Range<usize>,
        join: impl Fn(T, T) -> T,
        mut mark: impl FnMut(Node, &mut [T; N]),
    ) -> Result<Vec<[T; N]>, Interrupt> {
        self.control.needs(places.len() * size_of::<[T; N]>())?;
        let mut rows: Vec<[T; N]> = Vec::with_capacity(places.len());
        for (step, &v) in self.order[places.clone()].iter().enumerate() {
            self.control.tick(step)?;
            let mut own = [T::default(); N];
            let is_serial = self.respected == Respected::Serial;
            let missed_by = is_serial.then(|| {
                self.versions
                    .missed_by_updates(self.index, v)
                    .map(|(u, _)| u)
            });
            let before = certain(self.index, v).chain(self.versions.overwritten(self.index, v));
            for u in before.chain(missed_by.into_iter().flatten()) {
                if let Some(place) = ((self.position)(u) as usize).checked_sub(places.start) {
                    own.iter_mut()
                        .zip(&rows[place])
                        .for_each(|(mine, theirs)| *mine = join(*mine, *theirs));
                }
            }
            mark(v, &mut own);
            rows.push(own);
        }
        Ok(rows)
    }
}
