//! Which version each transaction replaces.

use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{INITIAL_SLOT, Index, NONE, Node};

/// A version of a key: a slot of the index, or, after these, the initial version of a key.
pub(super) type VersionId = usize;

/// The transactions that still have to use a version.
#[derive(Clone, Copy, Debug)]
pub(super) struct VersionUse {
    /// The transaction that reads it and writes the key, or [`NONE`].
    pub(super) update: Node,
    /// Reads of it by other transactions that have not started.
    pub(super) readers: u32,
}

/// The versions of all keys.
#[derive(Debug)]
pub(super) struct Versions {
    all: Vec<VersionUse>,
    n_slots: usize,
}

/// The form of a history's reads and writes.
#[derive(Debug)]
pub(super) enum Shape {
    /// This transaction writes this key and does not read it first.
    Misfit(Node, u32),
    /// Two transactions replace one version; they and its writer.
    Divergent { core: Vec<Node> },
    /// Every version is replaced at most once.
    Chains(Versions),
}

impl Versions {
    /// Examines every read and write once. O(n + reads · log writes of the transaction).
    pub(super) fn shape_of(index: &Index, control: &Control) -> Result<Shape, Interrupt> {
        let unread = VersionUse {
            update: NONE,
            readers: 0,
        };
        let n_slots = index.slot_node.len();
        let mut versions = Versions {
            all: vec![unread; n_slots + index.n_keys()],
            n_slots,
        };
        let mut divergence = None;
        let mut is_read: Vec<bool> = Vec::new();
        for t in 0..index.n_nodes() as Node {
            control.tick(t as usize)?;
            let written = &index.write_key[index.writes_of(t)];
            is_read.clear();
            is_read.resize(written.len(), false);
            for read in index.reads_of(t) {
                let id = versions.read_by(index, read);
                let version = &mut versions.all[id];
                match written.binary_search(&index.read_key[read]) {
                    Err(_) => version.readers += 1,
                    Ok(place) => {
                        is_read[place] = true;
                        if version.update != NONE && version.update != t && divergence.is_none() {
                            divergence = Some((version.update, t, id));
                        }
                        version.update = t;
                    }
                }
            }
            if let Some(place) = is_read.iter().position(|is_read| !is_read) {
                return Ok(Shape::Misfit(t, written[place]));
            }
        }
        Ok(match divergence {
            None => Shape::Chains(versions),
            Some((a, b, id)) => {
                let mut core: Vec<Node> = [a, b]
                    .into_iter()
                    .chain(versions.writer(index, id))
                    .collect();
                core.sort_unstable();
                Shape::Divergent { core }
            }
        })
    }

    /// The version that a read returns.
    #[inline]
    pub(super) fn read_by(&self, index: &Index, read: usize) -> VersionId {
        match index.read_slot[read] {
            INITIAL_SLOT => self.n_slots + index.read_key[read] as usize,
            slot => slot as usize,
        }
    }

    #[inline]
    pub(super) fn get(&self, id: VersionId) -> VersionUse {
        self.all[id]
    }

    /// One of the readers of a version has started. Returns the transaction that waited for the last of them.
    #[inline]
    pub(super) fn is_read(&mut self, id: VersionId) -> Option<Node> {
        let version = &mut self.all[id];
        version.readers -= 1;
        (version.readers == 0 && version.update != NONE).then_some(version.update)
    }

    /// The writer of a version; `None` for ⊥.
    pub(super) fn writer(&self, index: &Index, id: VersionId) -> Option<Node> {
        index.slot_node.get(id).copied()
    }

    /// All reads of a version, as places in the index.
    pub(super) fn reads_of<'a>(&self, index: &'a Index, id: VersionId) -> &'a [u32] {
        match id.checked_sub(self.n_slots) {
            None => index.readers_of(id as u32),
            Some(key) => index.readers_of_initial(key as u32),
        }
    }
}
