//! Real time in the order: moments at which transactions began and ended, in a chain.
//!
//! A transaction comes after the moment at which it began and before the one at which it ended, so what ended before it
//! began comes before it. That holds in whatever order transactions are entered. Where two moments are equal, what begins
//! comes first: then they are concurrent.

use super::{Engine, Failure};
use crate::follow::delivered::Delivered;
use crate::follow::keep::kept;
use crate::follow::order::{Node, Owner, Seq};
use isoscope_check::checkers::Level;
use isoscope_model::history::Interval;
use std::collections::BTreeMap;

/// (time, whether something ended then, the transaction).
type Moment = (i64, bool, Seq);

/// The moments of remembered transactions.
#[derive(Debug)]
pub(super) struct Moments {
    chain: BTreeMap<Moment, Node>,
    /// The last beginning of a transaction that everything to come has seen.
    passed: i64,
    /// The last beginning of a transaction that was settled by age.
    settled: i64,
}

kept!(Moments {
    chain,
    passed,
    settled
});

impl Default for Moments {
    fn default() -> Moments {
        Moments {
            chain: BTreeMap::new(),
            passed: i64::MIN,
            settled: i64::MIN,
        }
    }
}

impl Moments {
    /// The moments next to one.
    fn around(&self, moment: Moment) -> (Option<Node>, Option<Node>) {
        let before = self.chain.range(..moment).next_back();
        let behind = self
            .chain
            .range(moment..)
            .find(|(other, _)| **other != moment);
        (before.map(|(_, &node)| node), behind.map(|(_, &node)| node))
    }
}

impl Engine {
    /// When a transaction ran, where that counts.
    fn interval(&self, t: &Delivered) -> Option<Interval> {
        let is_counted = self.level == Level::StrictSerializability;
        t.record.interval.filter(|_| is_counted)
    }

    /// Enters the times of a transaction, where they count. It has seen what everything to come has seen, and cannot have
    /// ended before that began; what ended before something settled by age began is not judged.
    pub(super) fn enter_times(&mut self, t: &Delivered) -> Result<(), Failure> {
        let Some(Interval { start, end }) = self.interval(t) else {
            return Ok(());
        };
        if end < self.moments.passed {
            return Err(Failure::Passed);
        }
        if end < self.moments.settled {
            self.undecided += 1;
            return Ok(());
        }
        let node = self.residents[t.seq].start;
        let began = self.enter_moment((start, false, t.seq))?;
        self.force(began, node, Owner::Forced)?;
        if end < i64::MAX {
            let ended = self.enter_moment((end, true, t.seq))?;
            self.force(node, ended, Owner::Forced)?;
        }
        Ok(())
    }

    fn enter_moment(&mut self, moment: Moment) -> Result<Node, Failure> {
        let node = self.order.event(moment.2);
        let (before, behind) = self.moments.around(moment);
        self.moments.chain.insert(moment, node);
        if let Some(before) = before {
            self.force(before, node, Owner::Forced)?;
        }
        if let Some(behind) = behind {
            self.force(node, behind, Owner::Forced)?;
        }
        Ok(node)
    }

    /// Removes the moments of a transaction that is settled.
    pub(super) fn forget_times(&mut self, t: &Delivered, by_age: bool) {
        let Some(Interval { start, end }) = self.interval(t) else {
            return;
        };
        let last = if by_age {
            &mut self.moments.settled
        } else {
            &mut self.moments.passed
        };
        *last = start.max(*last);
        for moment in [(start, false, t.seq), (end, true, t.seq)] {
            let Some(node) = self.moments.chain.remove(&moment) else {
                continue;
            };
            if let (Some(before), Some(behind)) = self.moments.around(moment) {
                // They were in this order before.
                let _ = self.order.add(before, behind, Owner::Forced);
            }
            self.order.remove(node);
        }
    }
}

/// Whether one transaction ended before another began.
pub(super) fn is_before(a: &Delivered, b: &Delivered) -> bool {
    a.record
        .interval
        .zip(b.record.interval)
        .is_some_and(|(a, b)| a.end < b.start)
}
