//! Who wrote what, as far back as that is remembered.

use super::{Delivery, MOST_FORGOTTEN, Origin, Remembered, Version, Waiting};
use crate::follow::record::{Action, Atom};
use crate::history::{OperationKind, Outcome};

impl Delivery {
    /// Remembers what a transaction wrote. The sessions that wait for it.
    pub(super) fn register(&mut self, waiting: &Waiting) -> Vec<u32> {
        let mut wake = Vec::new();
        let Waiting { arrived, record, .. } = waiting;
        let writes = record.operations.iter().enumerate().filter(|(_, action)| action.kind == OperationKind::Write);
        for (place, action) in writes {
            if action.value == Atom::Initial {
                self.initial_written.insert(action.key);
                if self.initial_read.contains(&action.key) {
                    self.end(format!("line {}: the initial value is written, which had been read", action.line));
                }
                continue;
            }
            let version = (action.key, action.value.clone());
            let later = &record.operations[place + 1..];
            let is_last = !later.iter().any(|other| other.kind == OperationKind::Write && other.key == action.key);
            let earlier = &record.operations[..place];
            let is_same = |other: &&Action| other.kind == OperationKind::Write && other.key == action.key;
            let place = earlier.iter().filter(is_same).count() as u32;
            self.note(version, action.line, waiting, (place, is_last));
        }
        self.wake_waiters(record, &mut wake);
        // Reads of own writes that are wrong count as reads of what others may write, too.
        if waiting.wrong.is_some() {
            for action in &record.operations {
                if let Some(origin) = self.written.get_mut(&(action.key, action.value.clone()))
                    && origin.arrived == *arrived
                {
                    origin.was_read = true;
                }
            }
        }
        wake
    }

    /// Remembers who wrote a version.
    fn note(&mut self, version: Version, line: u32, waiting: &Waiting, (place, is_last): (u32, bool)) {
        let Waiting { arrived, record, .. } = waiting;
        let is_append = record.operations.iter().any(|o| o.key == version.0 && o.list.is_some());
        let origin = Origin {
            arrived: *arrived,
            session: record.session,
            outcome: record.outcome,
            seq: 0,
            place,
            is_last,
            was_read: false,
            is_repeated: false,
        };
        let remembered = Remembered { version: version.clone(), arrived: *arrived, delivered: self.delivered };
        match self.written.get_mut(&version) {
            // An element appended twice by one transaction.
            Some(origin) if origin.arrived == *arrived && is_append => origin.is_repeated = true,
            Some(origin) if origin.arrived == *arrived => origin.is_last = is_last,
            // Only what may have committed is read, if anything with this value did.
            Some(_) if record.outcome == Outcome::Aborted => {}
            Some(earlier) if earlier.outcome == Outcome::Aborted && !earlier.was_read => {
                *earlier = origin;
                self.remembered.push_back(remembered);
            }
            Some(earlier) => {
                earlier.is_repeated = true;
                if earlier.was_read || waiting.wrong.is_some() {
                    self.end(format!("line {line}: a value that had been read is written again"));
                }
            }
            None => {
                self.remembered.push_back(remembered);
                self.written.insert(version, origin);
            }
        }
    }

    /// Forgets the writers of the oldest versions, unless they wait or are remembered by an engine.
    pub(super) fn forget_versions(&mut self) {
        for _ in 0..MOST_FORGOTTEN {
            if self.remembered.len() <= self.memory {
                return;
            }
            let Some(first) = self.remembered.pop_front() else { return };
            let origin = self.written.get(&first.version).filter(|origin| origin.arrived == first.arrived);
            let Some(origin) = origin else { continue };
            let waits = origin.outcome == Outcome::Committed && origin.seq == 0;
            if waits || self.recent.get(&origin.seq).is_some_and(|t| t.strong_count() > 0) {
                self.remembered.push_back(first);
                continue;
            }
            self.written.remove(&first.version);
            self.unknown.remove(&first.arrived);
            self.was_dropped = true;
        }
    }
}
