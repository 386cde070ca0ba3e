//! Tree clocks (Mathur, Pavlogiannis, Tunç & Viswanathan, ASPLOS 2022, Algorithm 2), as used by C4 (section 4.2) and
//! Plume (section 4.2): vectors that remember from which session each entry was learnt.
//!
//! The entry of session s counts the transactions of s that are known, as in a vector. Entries form a tree: the root is
//! the clock's own session, and v is a child of u if what is known of v was learnt via u, when u's count was the
//! child's `attached`. Children are ordered with the latest attached first. So if the count of u is already known,
//! children attached no later than that count, and all below them, are known as well, and a join skips them; if the
//! other root is known, nothing is examined.
//!
//! That holds as long as a count of a session always means the same knowledge. Corrected with respect to Plume and C4,
//! whose clocks grow after they were copied: clocks are made along a topological order of the components, each once. A
//! component of several transactions has no session of its own; its clock, and that of its successors in a session
//! other than that of its root, is a root with everything else as children.

use super::too_large;
use super::vectors::{join, mark};
use isoscope_check::checkers::Cause;
use isoscope_model::control::Control;
use isoscope_model::graph::{Components, Digraph};
use isoscope_model::relations::{Index, NONE};

/// What is known about one session, and its place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// Transactions known; 0 if none are, and then the entry is not in the tree.
    count: u32,
    /// Count of the parent when this was learnt.
    attached: u32,
    parent: u32,
    child: u32,
    next: u32,
    previous: u32,
}

const ABSENT: Entry = Entry {
    count: 0,
    attached: 0,
    parent: NONE,
    child: NONE,
    next: NONE,
    previous: NONE,
};

/// A clock of one component.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeClock {
    root: u32,
    entries: Vec<Entry>,
}

impl TreeClock {
    /// Knows `count` transactions of session `root` and nothing else.
    pub(super) fn new(n_sessions: usize, root: u32, count: u32) -> TreeClock {
        let mut entries = vec![ABSENT; n_sessions];
        if let Some(entry) = entries.get_mut(root as usize) {
            entry.count = count;
        }
        TreeClock { root, entries }
    }

    /// Knows what a vector says, all of it just learnt by the root.
    pub(super) fn flat(vector: &[u32], root: u32, count: u32) -> TreeClock {
        let mut clock = TreeClock::new(vector.len(), root, count);
        for (session, &known) in vector.iter().enumerate() {
            if known > 0 && session as u32 != root {
                clock.entries[session].count = known;
                clock.attach(session as u32, root, count);
            }
        }
        clock
    }

    /// Transactions of a session known.
    #[inline]
    pub(super) fn count(&self, session: u32) -> u32 {
        self.entries[session as usize].count
    }

    /// The own session continues: it now counts that many transactions.
    pub(super) fn advance(&mut self, count: u32) {
        self.entries[self.root as usize].count = count;
    }

    /// The counts alone.
    pub(super) fn vector(&self) -> impl Iterator<Item = u32> + '_ {
        self.entries.iter().map(|entry| entry.count)
    }

    /// Learns what `other` knows. Returns how many of its entries were examined: 1 if its root is known, else those
    /// with news and their children up to the first one that was attached when its parent's count was known.
    pub(super) fn join(&mut self, other: &TreeClock) -> usize {
        if other.count(other.root) <= self.count(other.root) {
            return 1;
        }
        let (newer, looked_at) = self.newer(other);
        for &session in &newer {
            if self.count(session) > 0 {
                self.detach(session);
            }
        }
        // Parents come after their children; the last child to be attached becomes the first.
        for &session in newer.iter().rev() {
            let theirs = other.entries[session as usize];
            self.entries[session as usize].count = theirs.count;
            if session == other.root {
                self.attach(session, self.root, self.count(self.root))
            } else {
                self.attach(session, theirs.parent, theirs.attached)
            }
        }
        looked_at
    }

    /// The sessions about which `other`, whose root is news, knows more; children before their parents, those attached
    /// last first.
    fn newer(&self, other: &TreeClock) -> (Vec<u32>, usize) {
        let mut newer = Vec::new();
        let mut looked_at = 1;
        let mut open = vec![(other.root, other.entries[other.root as usize].child)];
        while let Some((parent, cursor)) = open.last_mut() {
            if *cursor == NONE {
                newer.push(*parent);
                open.pop();
                continue;
            }
            let (parent, session) = (*parent, *cursor);
            let entry = &other.entries[session as usize];
            *cursor = entry.next;
            looked_at += 1;
            if self.count(session) < entry.count {
                open.push((session, entry.child));
            } else if entry.attached <= self.count(parent) {
                // So were those after it.
                *cursor = NONE;
            }
        }
        (newer, looked_at)
    }

    fn detach(&mut self, session: u32) {
        let Entry {
            parent,
            next,
            previous,
            ..
        } = self.entries[session as usize];
        match previous {
            NONE if parent != NONE => self.entries[parent as usize].child = next,
            NONE => {}
            before => self.entries[before as usize].next = next,
        }
        if next != NONE {
            self.entries[next as usize].previous = previous;
        }
    }

    fn attach(&mut self, session: u32, parent: u32, attached: u32) {
        let next = std::mem::replace(&mut self.entries[parent as usize].child, session);
        if next != NONE {
            self.entries[next as usize].previous = session;
        }
        let entry = &mut self.entries[session as usize];
        (entry.parent, entry.attached, entry.next, entry.previous) = (parent, attached, next, NONE);
    }
}

/// A tree clock for every component of a relation.
pub(super) struct TreeClocks {
    clocks: Vec<TreeClock>,
}

impl TreeClocks {
    /// Computes the clocks along a topological order of the components: O((vertices + edges) · sessions) at worst, 24
    /// bytes per component and session. Fails if they would take more than `budget` bytes.
    pub(super) fn new(
        graph: &Digraph,
        components: &Components,
        index: &Index,
        budget: u64,
        control: &Control,
    ) -> Result<TreeClocks, Cause> {
        let bytes = (size_of::<Entry>() * index.n_sessions()) as u64 * components.len() as u64;
        if bytes > budget {
            return Err(too_large("tree clocks", bytes, budget));
        }
        let reversed = graph.reversed();
        let mut made = TreeClocks {
            clocks: vec![TreeClock::default(); components.len()],
        };
        // An edge between two components leads from the larger number to the smaller one.
        for c in (0..components.len() as u32).rev() {
            control.tick(c as usize)?;
            let clock = match components.members(c) {
                &[vertex] if !components.is_cyclic(c) => {
                    made.of_one(vertex, &reversed, components, index)
                }
                _ => made.of_component(c, &reversed, components, index),
            };
            made.clocks[c as usize] = clock;
        }
        Ok(made)
    }

    /// How many transactions of a session lie in or before a component.
    #[inline]
    pub(super) fn count(&self, component: u32, session: u32) -> u32 {
        self.clocks[component as usize].count(session)
    }

    /// The clock of a transaction on no cycle.
    fn of_one(
        &self,
        vertex: u32,
        reversed: &Digraph,
        components: &Components,
        index: &Index,
    ) -> TreeClock {
        let clock_of = |vertex: u32| &self.clocks[components.component[vertex as usize] as usize];
        let (session, position) = (index.session[vertex as usize], index.position(vertex));
        let mut clock = match position {
            0 => TreeClock::new(index.n_sessions(), session, 1),
            _ => match clock_of(vertex - 1) {
                before if before.root == session => before.clone(),
                before => TreeClock::flat(
                    &before.vector().collect::<Vec<u32>>(),
                    session,
                    position + 1,
                ),
            },
        };
        clock.advance(position + 1);
        for &before in reversed.successors(vertex) {
            clock.join(clock_of(before));
        }
        clock
    }

    /// The clock of transactions on one cycle.
    fn of_component(
        &self,
        c: u32,
        reversed: &Digraph,
        components: &Components,
        index: &Index,
    ) -> TreeClock {
        let mut vector = vec![0; index.n_sessions()];
        for &member in components.members(c) {
            mark(&mut vector, index, member);
            for &before in reversed.successors(member) {
                let d = components.component[before as usize];
                if d != c {
                    join(
                        &mut vector,
                        &self.clocks[d as usize].vector().collect::<Vec<u32>>(),
                    );
                }
            }
        }
        let of_session = components
            .members(c)
            .iter()
            .find(|&&member| (member as usize) < index.n_nodes());
        let root = of_session.map_or(0, |&member| index.session[member as usize]);
        let count = vector.get(root as usize).copied().unwrap_or(0);
        TreeClock::flat(&vector, root, count)
    }
}

#[cfg(test)]
#[path = "tree_clock_tests.rs"]
mod tests;
