//! Replays an order of starts and commits to find where it contradicts the reads.

use super::known::{Events, Known, Vertex};
use super::open_reads::{OpenRead, OpenReads};
use isoscope_model::relations::{INITIAL_SLOT, Index, NONE, Node, Slot};

/// Most versions listed that replaced the candidate of one open read.
const MOST_REPLACED: usize = 16;

/// A read that an order does not explain: t3 reads a key from t1, and the order puts t2's version between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Misread {
    /// t3's read, a place in the index; t1 is its writer and never ⊥.
    pub(super) read: u32,
    /// t2.
    pub(super) between: Node,
}

/// Two writers of a key such that the order lets one commit while the other runs (SI only).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overlap {
    /// The one that commits first.
    pub(super) first: Node,
    /// The one that has started by then.
    pub(super) second: Node,
}

/// An open read none of whose candidates is the current version when its transaction starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unmatched {
    pub(super) read: OpenRead,
    /// The candidate that was current before, if one was, and the writer of a version that replaced it.
    pub(super) replaced: Option<(Slot, Node)>,
}

/// The contradictions of an order.
#[derive(Clone, Debug, Default)]
pub(super) struct Contradictions {
    pub(super) misreads: Vec<Misread>,
    pub(super) overlaps: Vec<Overlap>,
    /// For one read, one entry for each version that replaced the candidate.
    pub(super) unmatched: Vec<Unmatched>,
    /// Initial versions read after a write of the key: impossible as long as the known edges hold.
    pub(super) n_initial: usize,
}

impl Contradictions {
    pub(super) fn is_empty(&self) -> bool {
        self.misreads.is_empty()
            && self.overlaps.is_empty()
            && self.unmatched.is_empty()
            && self.n_initial == 0
    }
}

/// Whether `order`, a topological order of the known edges, is a witness. Stops at the first contradiction:
/// O(reads + writes) if there is none.
pub(super) fn explains(index: &Index, events: Events, open: &OpenReads, order: &[Vertex]) -> bool {
    let mut current: Vec<Slot> = vec![INITIAL_SLOT; index.n_keys()];
    // By node: its position at its start, and by slot at its commit, if overlaps matter.
    let n = |wanted: bool, n: usize| if wanted { n } else { 0 };
    let mut started: Vec<u32> = vec![0; n(events.forbids_conflicts(), index.n_nodes())];
    let mut committed = started.clone();
    for (place, &v) in (0..).zip(order) {
        let Some(t) = events.node(v) else { continue };
        let is_commit = events.is_commit(v);
        if !is_commit || !events.split() {
            let is_current =
                |read: usize| current[index.read_key[read] as usize] == index.read_slot[read];
            let may_be_current = |read| {
                open.candidates(read)
                    .contains(&current[open.key(read) as usize])
            };
            if !index.reads_of(t).all(is_current) || !open.of(t).all(may_be_current) {
                return false;
            }
        }
        if events.forbids_conflicts() {
            let at = if is_commit {
                &mut committed
            } else {
                &mut started
            };
            at[t as usize] = place;
        }
        if !is_commit {
            continue;
        }
        for write in index.writes_of(t) {
            let newest = &mut current[index.write_key[write] as usize];
            if events.forbids_conflicts() && *newest != INITIAL_SLOT {
                let writer = index.slot_node[*newest as usize] as usize;
                if committed[writer] > started[t as usize] {
                    return false;
                }
            }
            *newest = index.write_slot[write];
        }
    }
    true
}

/// Replays `order`, a topological order of the known edges, and lists what contradicts it; for one read or one write at
/// most `most` versions. An open read is explained by any of its candidates; otherwise `selected` says which candidates
/// are assumed for it. Empty exactly if the order is a witness. O(reads + writes + versions listed).
pub(super) fn replay(
    known: &Known<'_>,
    open: &OpenReads,
    selected: &[Option<Slot>],
    order: &[Vertex],
    most: usize,
) -> Contradictions {
    let (index, events) = (known.index, known.events);
    let mut found = Contradictions::default();
    let mut current: Vec<Slot> = vec![INITIAL_SLOT; index.n_keys()];
    let mut previous: Vec<Slot> = vec![INITIAL_SLOT; index.slot_node.len()];
    let mut started: Vec<u32> = if events.forbids_conflicts() {
        vec![0; index.n_nodes()]
    } else {
        Vec::new()
    };
    let mut committed: Vec<u32> = started.clone();
    for (place, &v) in order.iter().enumerate() {
        let Some(t) = events.node(v) else { continue };
        let is_commit = events.is_commit(v);
        if !is_commit || !events.split() {
            for read in index.reads_of(t) {
                let mut slot = current[index.read_key[read] as usize];
                let mut n = 0;
                while slot != index.read_slot[read] && n < most {
                    if slot == INITIAL_SLOT {
                        // The version read is not there yet.
                        found.n_initial += 1;
                        break;
                    }
                    match index.writer_of_read(read) {
                        NONE => found.n_initial += 1,
                        _ => found.misreads.push(Misread {
                            read: read as u32,
                            between: index.slot_node[slot as usize],
                        }),
                    }
                    slot = previous[slot as usize];
                    n += 1;
                }
            }
            for read in open.of(t) {
                let newest = current[open.key(read) as usize];
                if !open.candidates(read).contains(&newest) {
                    let selected = selected.get(read as usize).copied().flatten();
                    unmatched(
                        index,
                        open,
                        read,
                        selected,
                        newest,
                        &previous,
                        &mut found.unmatched,
                    );
                }
            }
        }
        if events.forbids_conflicts() && !is_commit {
            started[t as usize] = place as u32;
        }
        if !is_commit {
            continue;
        }
        for write in index.writes_of(t) {
            let slot = index.write_slot[write];
            let newest = &mut current[index.write_key[write] as usize];
            if events.forbids_conflicts() {
                let mut older = *newest;
                let mut n = 0;
                while older != INITIAL_SLOT && n < most {
                    let first = index.slot_node[older as usize];
                    if committed[first as usize] < started[t as usize] {
                        break;
                    }
                    found.overlaps.push(Overlap { first, second: t });
                    older = previous[older as usize];
                    n += 1;
                }
                committed[t as usize] = place as u32;
            }
            previous[slot as usize] = *newest;
            *newest = slot;
        }
    }
    found
}

/// Lists the versions after the candidate assumed for an open read, or after the last candidate before the read.
fn unmatched(
    index: &Index,
    open: &OpenReads,
    read: OpenRead,
    selected: Option<Slot>,
    newest: Slot,
    previous: &[Slot],
    found: &mut Vec<Unmatched>,
) {
    let is_candidate =
        |slot: Slot| selected.map_or(open.candidates(read).contains(&slot), |taken| taken == slot);
    let versions = std::iter::successors(Some(newest), |&slot| {
        (slot != INITIAL_SLOT).then(|| previous[slot as usize])
    });
    let Some(candidate) = versions.clone().find(|&slot| is_candidate(slot)) else {
        found.push(Unmatched {
            read,
            replaced: None,
        });
        return;
    };
    let after = versions
        .take_while(|&slot| slot != candidate)
        .map(|slot| index.slot_node[slot as usize]);
    found.extend(after.take(MOST_REPLACED).map(|by| Unmatched {
        read,
        replaced: Some((candidate, by)),
    }));
}
