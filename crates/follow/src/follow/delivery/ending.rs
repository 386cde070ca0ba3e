//! The end of waiting: by age, or with the stream.

use super::{Delivery, Version};
use crate::follow::delivered::Delivered;
use crate::follow::lists;
use isoscope_check::checkers::Pattern;
use isoscope_model::history::Outcome;
use std::sync::Arc;

impl Delivery {
    /// Ends the waits that are older than a number of transactions: for a value that has not been written, the read is
    /// left out; transactions that wait for each other have read from each other in a cycle.
    pub(in crate::follow) fn give_up_older(&mut self, than: u64, out: &mut Vec<Arc<Delivered>>) {
        for session in 0..self.sessions.len() as u32 {
            loop {
                let front = self.sessions[session as usize].queue.front();
                let Some(waiting) = front.filter(|w| self.arrived - w.arrived > than) else {
                    break;
                };
                let Some((place, version)) = self.sources(waiting).blocked else {
                    break;
                };
                let is_written = self.awaited(waiting, &version).is_some();
                if is_written && !self.waits_for_itself(session) {
                    break;
                }
                let pattern = if is_written {
                    Some(Pattern::CyclicCO)
                } else {
                    self.without_writer(&version)
                        .filter(|pattern| *pattern == Pattern::FutureRead)
                };
                // Which version a list is may still be unknown, whatever else is wrong with it.
                let is_open = pattern.is_none() || self.awaits_last_element(session, place);
                self.undecided += u64::from(is_open);
                self.drop_read(session, place, pattern);
                self.pump(vec![session], out);
            }
        }
    }

    /// Whether the first transaction of a queue read a list whose last element has not been written.
    fn awaits_last_element(&self, session: u32, place: u32) -> bool {
        let last = self.sessions[session as usize]
            .queue
            .front()
            .and_then(|waiting| {
                let action = &waiting.record.operations[place as usize];
                let list = action.list.as_deref()?;
                let outside = lists::from_outside(&waiting.record, place as usize, list);
                Some((action.key, outside.unwrap_or(list).last()?.clone()))
            });
        last.is_some_and(|last| !self.written.contains_key(&last))
    }

    /// The end of the stream: what waits has read what is not there, or waits in a cycle.
    pub(in crate::follow) fn finish(&mut self, out: &mut Vec<Arc<Delivered>>) {
        loop {
            let mut is_done = true;
            for session in 0..self.sessions.len() as u32 {
                let Some(waiting) = self.sessions[session as usize].queue.front() else {
                    continue;
                };
                let Some((place, version)) = self.sources(waiting).blocked else {
                    continue;
                };
                if self.awaited(waiting, &version).is_some() {
                    continue;
                }
                let pattern = self.without_writer(&version);
                self.undecided += u64::from(pattern.is_none());
                self.drop_read(session, place, pattern);
                self.pump(vec![session], out);
                is_done = false;
            }
            if !is_done {
                continue;
            }
            let stuck =
                (0..self.sessions.len() as u32).find(|&session| self.waits_for_itself(session));
            let Some(session) = stuck else { return };
            let front = self.sessions[session as usize].queue.front();
            let Some((place, _)) = front.and_then(|waiting| self.sources(waiting).blocked) else {
                return;
            };
            self.drop_read(session, place, Some(Pattern::CyclicCO));
            self.pump(vec![session], out);
        }
    }

    /// What is wrong with a read of a version that no other transaction wrote; none if one may have been forgotten.
    fn without_writer(&self, version: &Version) -> Option<Pattern> {
        let pattern = if self.written.contains_key(version) {
            Pattern::FutureRead
        } else {
            Pattern::ThinAirRead
        };
        (!self.was_dropped).then_some(pattern)
    }

    /// Whether the first transaction of a queue waits, over others, for itself or one behind it.
    fn waits_for_itself(&self, session: u32) -> bool {
        let mut at = session;
        for _ in 0..=self.sessions.len() {
            let Some(waiting) = self.sessions[at as usize].queue.front() else {
                return false;
            };
            let Some((_, version)) = self.sources(waiting).blocked else {
                return false;
            };
            let Some(origin) = self.awaited(waiting, &version) else {
                return false;
            };
            if origin.outcome != Outcome::Committed {
                return false;
            }
            at = origin.session;
            if at == session {
                return true;
            }
        }
        false
    }

    /// Leaves out a read of the first transaction of a queue; what it shows of its other reads stays.
    fn drop_read(&mut self, session: u32, place: u32, pattern: Option<Pattern>) {
        if let Some(waiting) = self.sessions[session as usize].queue.front_mut() {
            match pattern {
                Some(pattern) => waiting.given_up.push((place, pattern == Pattern::CyclicCO)),
                None => waiting.external.retain(|other| *other != place),
            }
            waiting.wrong = waiting.wrong.or(pattern);
        }
    }
}
