//! Linear extensions of SO ∪ WR ∪ forced edges, by merging the sessions.
//!
//! The next transaction of an order is always the head of some session, so the sessions are merged like sorted lists: a
//! head whose predecessors are all in the order may come next, any other waits for one predecessor that is not. Only
//! predecessors are needed, which the reads of a transaction name; no list of successors is required.

use super::SMALL_LIMITS;
use super::causality::Forced;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::Rows;
use isoscope_model::relations::{Index, NONE, Node};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Nodes reported at a time.
pub(super) const STRETCH: usize = if SMALL_LIMITS { 2 } else { 1 << 13 };

/// Which of the transactions that may come next is chosen.
#[derive(Clone, Copy)]
pub(super) enum Preference<'a> {
    /// The one that could first: a breadth-first order, in which versions are read soon after they are written.
    FirstCome,
    /// The one of lowest rank, by node; ties by number.
    Rank(&'a [u32]),
}

/// Forced edges by the node where they end.
#[derive(Default)]
pub(super) struct Before(Rows<Node>);

impl Before {
    /// Groups the edges. Edges into ⊥ are left out. O(n + edges), O(1) without edges.
    pub(super) fn new(n: usize, edges: &[Forced]) -> Before {
        if edges.is_empty() {
            return Before::default();
        }
        let ends = edges
            .iter()
            .filter(|edge| edge.to != NONE)
            .map(|edge| (edge.to, edge.from));
        Before(Rows::new(n, ends))
    }

    /// The starts of the edges that end at a node.
    #[inline]
    pub(super) fn of(&self, v: Node) -> &[Node] {
        match self.0.n_rows() {
            0 => &[],
            _ => self.0.of(v),
        }
    }
}

/// A linear order of all nodes and the place of each in it.
#[derive(Clone, Default)]
pub(super) struct LinearOrder {
    /// The nodes in order.
    pub(super) nodes: Vec<Node>,
    /// By node: its place.
    pub(super) place: Vec<u32>,
}

/// A linear extension of SO ∪ WR and the edges of `before` (Kahn 1962) that follows a wish as far as it can; `None` if
/// they have a cycle. O(n + edges), times the logarithm of the number of sessions with ranks.
pub(super) fn linear_extension(
    index: &Index,
    before: &Before,
    wish: Preference<'_>,
    control: &Control,
) -> Result<Option<LinearOrder>, Interrupt> {
    linear_extension_told(index, before, wish, control, &mut |_| {})
}

/// As `linear_extension`, reported while it grows: every [`STRETCH`] nodes, the last stretch may be shorter.
pub(super) fn linear_extension_told(
    index: &Index,
    before: &Before,
    wish: Preference<'_>,
    control: &Control,
    tell: &mut dyn FnMut(&[Node]),
) -> Result<Option<LinearOrder>, Interrupt> {
    let (n, n_sessions) = (index.n_nodes(), index.n_sessions());
    let mut merge = Merge {
        index,
        before,
        order: LinearOrder {
            nodes: Vec::with_capacity(n),
            place: vec![NONE; n],
        },
        is_placed: vec![0; n.div_ceil(64)],
        head: index.session_begin[..n_sessions].to_vec(),
        seen: vec![0; n_sessions],
        waiting_for: vec![NONE; n],
        waiting_next: vec![NONE; n_sessions],
        ready: match wish {
            Preference::FirstCome => Ready::FirstCome(VecDeque::with_capacity(n_sessions)),
            Preference::Rank(rank) => Ready::Rank(BinaryHeap::with_capacity(n_sessions), rank),
        },
    };
    for session in 0..n_sessions as u32 {
        merge.look_at(session);
    }
    let mut told = 0;
    while let Some(session) = merge.ready.pop() {
        control.tick(merge.order.nodes.len())?;
        merge.take(session);
        if merge.order.nodes.len() - told == STRETCH {
            tell(&merge.order.nodes[told..]);
            told += STRETCH;
        }
    }
    if merge.order.nodes.len() > told {
        tell(&merge.order.nodes[told..]);
    }
    Ok((merge.order.nodes.len() == n).then_some(merge.order))
}

struct Merge<'a> {
    index: &'a Index,
    before: &'a Before,
    order: LinearOrder,
    /// By node, a bit each: whether it is in the order. Small enough to stay in a cache, which `place` is not.
    is_placed: Vec<u64>,
    /// By session: its first node that is not in the order.
    head: Vec<Node>,
    /// By session: how many predecessors of its head are known to be in the order.
    seen: Vec<u32>,
    /// By node: the first session whose head waits for it.
    waiting_for: Vec<u32>,
    /// By session: the next one that waits for the same node.
    waiting_next: Vec<u32>,
    ready: Ready<'a>,
}

impl Merge<'_> {
    /// Puts the head of a session into the queue, or lets it wait.
    #[inline]
    fn look_at(&mut self, session: u32) {
        let head = self.head[session as usize];
        if head == self.index.session_begin[session as usize + 1] {
            return;
        }
        let writers = &self.index.read_writer[self.index.reads_of(head)];
        let before = self.before.of(head);
        let seen = &mut self.seen[session as usize];
        loop {
            let place = *seen as usize;
            let Some(&predecessor) = writers
                .get(place)
                .or_else(|| before.get(place - writers.len()))
            else {
                break;
            };
            if predecessor != NONE
                && self.is_placed[predecessor as usize / 64] >> (predecessor % 64) & 1 == 0
            {
                let first = &mut self.waiting_for[predecessor as usize];
                self.waiting_next[session as usize] = std::mem::replace(first, session);
                return;
            }
            *seen += 1;
        }
        self.ready.push(session, head);
    }

    /// Appends the head of a session to the order and checks the sessions that waited for it.
    #[inline]
    fn take(&mut self, session: u32) {
        let node = self.head[session as usize];
        self.order.place[node as usize] = self.order.nodes.len() as u32;
        self.is_placed[node as usize / 64] |= 1 << (node % 64);
        self.order.nodes.push(node);
        self.head[session as usize] += 1;
        self.seen[session as usize] = 0;
        self.look_at(session);
        let mut waiting = self.waiting_for[node as usize];
        while waiting != NONE {
            let next = self.waiting_next[waiting as usize];
            self.look_at(waiting);
            waiting = next;
        }
    }
}

/// The sessions whose heads may come next.
enum Ready<'a> {
    FirstCome(VecDeque<u32>),
    /// Ranks combined with sessions, in one number.
    Rank(BinaryHeap<Reverse<u64>>, &'a [u32]),
}

impl Ready<'_> {
    #[inline]
    fn push(&mut self, session: u32, head: Node) {
        match self {
            Ready::FirstCome(queue) => queue.push_back(session),
            Ready::Rank(heap, rank) => {
                heap.push(Reverse(
                    u64::from(rank[head as usize]) << 32 | u64::from(session),
                ));
            }
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        match self {
            Ready::FirstCome(queue) => queue.pop_front(),
            Ready::Rank(heap, _) => heap.pop().map(|Reverse(ranked)| ranked as u32),
        }
    }
}
