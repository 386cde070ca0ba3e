//! A transaction in whose past everything is known.

use super::keep::{Keep, Reading, Writing, kept};
use super::order::Seq;
use super::record::Record;
use isoscope_check::checkers::Pattern;
use std::sync::Arc;

/// A read of what another transaction wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// Its place among the operations.
    pub(super) place: u32,
    /// The key.
    pub(super) key: u32,
    /// The writer; 0 for the initial version.
    pub(super) writer: Seq,
}

/// A delivered transaction.
#[derive(Debug)]
pub(super) struct Delivered {
    /// Its number, from 1 in the order of delivery.
    pub(super) seq: Seq,
    /// Its session.
    pub(super) session: u32,
    /// Its position among the delivered transactions of its session, from 1.
    pub(super) position: u32,
    /// Its number in the order of the file, from 1.
    pub(super) arrived: u64,
    /// By session: the position of the last transaction that it follows; its own position in its own.
    pub(super) seen: Box<[u32]>,
    /// What it read from others, in program order.
    pub(super) reads: Vec<Read>,
    /// The keys it wrote, ascending.
    pub(super) writes: Vec<u32>,
    /// Pairs of writers of a list, of which the first appended before the second, as far as this transaction shows.
    pub(super) appended: Vec<(Seq, Seq)>,
    /// The transaction before it in its session.
    pub(super) before: Option<Seq>,
    /// A read that is wrong at every level above cut isolation.
    pub(super) wrong: Option<Pattern>,
    /// Whether two reads of a key returned versions of different transactions.
    pub(super) is_cut: bool,
    /// What the file says.
    pub(super) record: Record,
}

kept!(Read { place, key, writer });
kept!(Delivered {
    seq,
    session,
    position,
    arrived,
    seen,
    reads,
    writes,
    appended,
    before,
    wrong,
    is_cut,
    record
});

/// Written where it occurs first, and by its number from then on.
impl Keep for Arc<Delivered> {
    fn put(&self, to: &mut Writing) {
        self.seq.put(to);
        if to.shared.insert(self.seq) {
            Delivered::put(self, to);
        }
    }

    fn get(from: &mut Reading<'_>) -> Option<Arc<Delivered>> {
        let seq = Seq::get(from)?;
        if let Some(shared) = from.shared.get(&seq) {
            return Arc::clone(shared).downcast().ok();
        }
        let delivered = Arc::new(Delivered::get(from)?);
        from.shared.insert(seq, Arc::<Delivered>::clone(&delivered));
        Some(delivered)
    }
}

impl Delivered {
    /// Whether a path of session order and reads leads from this transaction to another.
    pub(super) fn is_seen_by(&self, other: &Delivered) -> bool {
        self.seq != other.seq
            && other
                .seen
                .get(self.session as usize)
                .is_some_and(|&last| last >= self.position)
    }
}

/// Adds what another transaction has seen to what one has: by session, the last position.
pub(super) fn merge(seen: &mut Vec<u32>, other: &[u32]) {
    seen.resize(seen.len().max(other.len()), 0);
    seen.iter_mut()
        .zip(other)
        .for_each(|(mine, other)| *mine = (*mine).max(*other));
}
