//! What the reads of a transaction are known to be.

use super::{Delivery, Origin, Sources, Version, Waiting};
use crate::follow::delivered::Read;
use crate::follow::lists;
use crate::follow::record::{Atom, Record};
use isoscope_check::checkers::Pattern;
use isoscope_model::history::Outcome;

impl Delivery {
    /// What the reads of a transaction are, as far as that is known.
    pub(super) fn sources(&self, waiting: &Waiting) -> Sources {
        let mut sources = Sources {
            wrong: waiting.wrong,
            ..Sources::default()
        };
        sources.reads.reserve_exact(waiting.external.len());
        sources.writers.reserve_exact(waiting.external.len());
        for &place in &waiting.external {
            let action = &waiting.record.operations[place as usize];
            let key = action.key;
            if let Some(list) = &action.list {
                self.list_sources(waiting, place, list, &mut sources);
                continue;
            }
            if action.value == Atom::Initial {
                if self.initial_written.contains(&key) {
                    sources.undecided += 1;
                    continue;
                }
                sources.writers.push((key, 0));
                sources.reads.push(Read {
                    place,
                    key,
                    writer: 0,
                });
                continue;
            }
            let version = action.version();
            if self.is_repeated_or_old(waiting, &version) {
                sources.undecided += 1;
                continue;
            }
            let Some(origin) = self.awaited(waiting, &version) else {
                if !waiting.given_up.contains(&(place, false)) {
                    sources.blocked.get_or_insert((place, version));
                }
                continue;
            };
            if origin.outcome == Outcome::Aborted {
                sources.wrong = sources.wrong.or(Some(Pattern::AbortedRead));
                continue;
            }
            sources.writers.push((key, origin.arrived));
            if !origin.is_last {
                sources.wrong = sources.wrong.or(Some(Pattern::IntermediateRead));
            }
            match origin.seq {
                0 if waiting.given_up.contains(&(place, true)) => {}
                0 => drop(sources.blocked.get_or_insert((place, version))),
                writer => sources.reads.push(Read { place, key, writer }),
            }
        }
        sources
    }

    /// Who wrote a version that a transaction read before it wrote it itself, if it ever did.
    pub(super) fn awaited(&self, waiting: &Waiting, version: &Version) -> Option<&Origin> {
        self.written
            .get(version)
            .filter(|origin| origin.arrived != waiting.arrived)
    }

    /// Whether it is open who wrote a version that a transaction read: several others, or one that is too old.
    fn is_repeated_or_old(&self, waiting: &Waiting, version: &Version) -> bool {
        let origin = self.written.get(version);
        origin.is_some_and(|origin| {
            origin.is_repeated_for(waiting.arrived) || self.is_too_old(origin)
        })
    }

    /// The sources of the elements of a list.
    fn list_sources(&self, waiting: &Waiting, place: u32, list: &[Atom], sources: &mut Sources) {
        let Waiting {
            record, given_up, ..
        } = waiting;
        let key = record.operations[place as usize].key;
        let from_outside = lists::from_outside(record, place as usize, list);
        if from_outside.is_none() {
            sources.wrong = sources.wrong.or(Some(Pattern::NotMyOwnWrite));
        }
        let elements = from_outside.unwrap_or(list);
        let versions = elements.iter().map(|element| (key, element.clone()));
        if versions
            .clone()
            .any(|version| self.is_repeated_or_old(waiting, &version))
        {
            sources.undecided += 1;
            return;
        }
        let origins: Vec<Option<&Origin>> = versions
            .map(|version| self.awaited(waiting, &version))
            .collect();
        sources.wrong = sources.wrong.or(lists::wrong(elements));
        let mut writers = Vec::with_capacity(elements.len());
        for (n, origin) in origins.iter().enumerate() {
            let version = || (key, elements[n].clone());
            let Some(origin) = origin else {
                if !given_up.contains(&(place, false)) {
                    sources.blocked.get_or_insert((place, version()));
                }
                continue;
            };
            let neighbour = |at: Option<usize>| at.and_then(|at| *origins.get(at)?);
            let is_own = |other: &&Origin| other.arrived == origin.arrived;
            let before = neighbour(n.checked_sub(1))
                .filter(is_own)
                .map_or(0, |before| before.place + 1);
            let is_broken = before != origin.place
                || (!origin.is_last && neighbour(Some(n + 1)).filter(is_own).is_none());
            if origin.outcome == Outcome::Aborted {
                sources.wrong = sources.wrong.or(Some(Pattern::AbortedRead));
            } else if is_broken {
                sources.wrong = sources.wrong.or(Some(Pattern::IntermediateRead));
            }
            match origin.seq {
                0 if origin.outcome == Outcome::Aborted || given_up.contains(&(place, true)) => {}
                0 => drop(sources.blocked.get_or_insert((place, version()))),
                writer => writers.push(writer),
            }
        }
        match origins.last() {
            None => sources.writers.push((key, 0)),
            Some(Some(last)) if last.outcome != Outcome::Aborted => {
                sources.writers.push((key, last.arrived))
            }
            Some(_) => {}
        }
        if self
            .lists
            .get(&key)
            .is_some_and(|known| !known.is_compatible(elements))
        {
            sources.wrong = sources.wrong.or(Some(Pattern::IncompatibleOrder));
        }
        if writers.len() == elements.len() {
            sources.reads.push(Read {
                place,
                key,
                writer: writers.last().copied().unwrap_or(0),
            });
            sources.lists.push((place, writers));
        }
    }
}

impl Waiting {
    /// Looks at the reads of a transaction that its own writes explain or contradict.
    pub(super) fn new(arrived: u64, record: Record) -> Waiting {
        let (mut external, mut wrong) = (Vec::with_capacity(record.operations.len()), None);
        for (place, action) in record.operations.iter().enumerate() {
            if action.is_write() {
                continue;
            }
            if action.list.is_some() {
                external.push(place as u32);
                continue;
            }
            let mut own = record.writes_before(place).rev();
            let latest = own.next();
            if latest.is_some_and(|latest| latest.value == action.value) {
                continue;
            }
            if latest.is_some() && own.any(|earlier| earlier.value == action.value) {
                wrong = wrong.or(Some(Pattern::NotMyLastWrite));
                continue;
            }
            if latest.is_some() {
                wrong = wrong.or(Some(Pattern::NotMyOwnWrite));
            }
            external.push(place as u32);
        }
        if !lists::fit_together(&record) {
            wrong = wrong.or(Some(Pattern::IncompatibleOrder));
        }
        Waiting {
            arrived,
            record,
            external,
            given_up: Vec::new(),
            wrong,
        }
    }
}
