//! An index split into its components.
//!
//! A part holds what can constrain a transaction of its component and no more: for a key that one session writes, a
//! reader's part has the versions that it read and the next ones, since the versions in between and after are ordered
//! by the session. So the parts together are not much larger than the whole, even if one session communicates with
//! thousands that do not communicate with each other.

use super::communication::Communication;
use super::index::{INITIAL_SLOT, Index, Node};
use super::part::Contents;

/// One component of an index, with what it needs from the whole.
#[derive(Clone, Debug)]
pub struct Component {
    contents: Contents,
}

impl Component {
    /// Splits `index`. `None` if there is only one component.
    ///
    /// A history satisfies PC, SI or SER if and only if all parts do, and then the union of orders that explain the parts
    /// and of session order has no cycle (Biswas & Enea 2019, Theorem 5.2): a path that leaves a component comes back
    /// through the session through which it left, where it must go forward. Every node is in at least one component.
    /// Components are ordered by their smallest sessions. O(nodes + keys + reads + writes, log), and for most histories
    /// of one component much less.
    pub fn all(index: &Index) -> Option<Vec<Component>> {
        if Communication::is_plainly_one(index) {
            return None;
        }
        let communication = Communication::new(index);
        if communication.components(index).take(2).count() < 2 {
            return None;
        }
        let mut shares = Shares {
            index,
            communication: &communication,
            contents: Vec::new(),
        };
        shares
            .contents
            .resize_with(communication.n_blocks(), Contents::default);
        shares.share_out()?;
        let parts = shares
            .contents
            .into_iter()
            .filter(|contents| !contents.nodes.is_empty());
        let components: Vec<Component> = parts.map(|contents| Component { contents }).collect();
        (components.len() > 1).then_some(components)
    }

    /// The nodes of the part, ascending: by node of the part's index, the node of the whole.
    pub fn nodes(&self) -> &[Node] {
        &self.contents.nodes
    }

    /// Number of reads and versions.
    pub fn size(&self) -> usize {
        self.contents.reads.len() + self.contents.slots.len()
    }

    /// The index of the part. O(size, log).
    pub fn index(&self, whole: &Index) -> Index {
        whole.part_of(self.contents.clone())
    }
}

/// Contents by block.
struct Shares<'a> {
    index: &'a Index,
    communication: &'a Communication,
    contents: Vec<Contents>,
}

impl Shares<'_> {
    /// Assigns everything to its blocks. `None` if something belongs nowhere, which cannot happen.
    fn share_out(&mut self) -> Option<()> {
        for t in 0..self.index.n_nodes() as Node {
            self.share_reads(t)?;
        }
        for key in (0..self.index.n_keys() as u32)
            .filter(|&key| self.communication.has_several_writers(key))
        {
            let slots = self.index.slots_of(key);
            let session = self.index.session[self.index.slot_node[slots.start] as usize];
            let block = self.communication.block_of(session, key)?;
            self.contents[block as usize]
                .slots
                .extend(slots.map(|slot| slot as u32));
        }
        for (place, order) in (0..).zip(&self.index.lists) {
            // Lists of elements that no transaction wrote order nothing.
            let session = self.index.session[order.reader as usize];
            let Some(block) = self.communication.block_of(session, order.key) else {
                continue;
            };
            let contents = &mut self.contents[block as usize];
            contents.lists.push(place);
            contents.nodes.push(order.reader);
            contents.slots.extend(&order.versions);
        }
        self.collect_nodes();
        Some(())
    }

    fn share_reads(&mut self, t: Node) -> Option<()> {
        let index = self.index;
        for read in index.reads_of(t) {
            let (key, slot) = (index.read_key[read], index.read_slot[read]);
            let slots = index.slots_of(key);
            if slots.is_empty() {
                continue;
            }
            let block = self
                .communication
                .block_of(index.session[t as usize], key)?;
            let contents = &mut self.contents[block as usize];
            contents.reads.push(read as u32);
            contents.nodes.push(t);
            if !self.communication.has_several_writers(key) {
                let next = if slot == INITIAL_SLOT {
                    slots.start
                } else {
                    slot as usize + 1
                };
                contents
                    .slots
                    .extend((slot != INITIAL_SLOT).then_some(slot));
                contents
                    .slots
                    .extend((next < slots.end).then_some(next as u32));
            }
        }
        Some(())
    }

    /// The nodes of reads, versions and lists; nodes with none of these are assigned to a block of their session.
    fn collect_nodes(&mut self) {
        let index = self.index;
        let mut is_placed = vec![false; index.n_nodes()];
        for contents in &mut self.contents {
            contents.slots.sort_unstable();
            contents.slots.dedup();
            contents.nodes.extend(
                contents
                    .slots
                    .iter()
                    .map(|&slot| index.slot_node[slot as usize]),
            );
            contents.nodes.sort_unstable();
            contents.nodes.dedup();
            contents
                .nodes
                .iter()
                .for_each(|&t| is_placed[t as usize] = true);
        }
        for t in (0..index.n_nodes() as Node).filter(|&t| !is_placed[t as usize]) {
            let home = self.communication.home(index.session[t as usize]);
            self.contents[home as usize].nodes.push(t);
        }
        self.contents
            .iter_mut()
            .for_each(|contents| contents.nodes.sort_unstable());
    }
}
