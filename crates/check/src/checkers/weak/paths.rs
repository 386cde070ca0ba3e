//! Shortest paths from one node to another, as reportable steps: a path along a session is one step.

use super::causality::{Causality, Forced, ForcedEdges};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{NONE, Node};

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Later in the same session.
    Session(Node, Node),
    /// The second reads from the first.
    Read(Node, Node),
    /// An inferred commit-order edge, perhaps to ⊥.
    Forced(Forced),
    /// ⊥ precedes every node.
    Initial(Node),
}

impl Step {
    /// Where it starts.
    pub(super) fn from(&self) -> Node {
        match *self {
            Step::Session(from, _) | Step::Read(from, _) => from,
            Step::Forced(edge) => edge.from,
            Step::Initial(_) => NONE,
        }
    }
}

/// Two steps of SO ∪ WR from a to b, if two are enough. O(reads of b + readers of a), up to logarithms.
pub(super) fn two_steps(causality: &Causality<'_>, a: Node, b: Node) -> Option<[Step; 2]> {
    for &w in causality.writers(b) {
        if causality.in_session_order(a, w) {
            return Some([Step::Session(a, w), Step::Read(w, b)]);
        }
        if causality.readers(a).binary_search(&w).is_ok() {
            return Some([Step::Read(a, w), Step::Read(w, b)]);
        }
    }
    let mut readers = causality.readers(a).iter();
    readers
        .find(|&&r| causality.in_session_order(r, b))
        .map(|&r| [Step::Read(a, r), Step::Session(r, b)])
}

/// The path of one or two steps of SO ∪ WR from a to b, if there is one.
pub(super) fn quick_way(causality: &Causality<'_>, a: Node, b: Node) -> Option<Vec<Step>> {
    if causality.in_session_order(a, b) {
        return Some(vec![Step::Session(a, b)]);
    }
    if causality.readers(a).binary_search(&b).is_ok() {
        return Some(vec![Step::Read(a, b)]);
    }
    two_steps(causality, a, b).map(Vec::from)
}

/// How a state was entered; also its place among the states of a node.
const BY_SESSION: u32 = 1;
const OTHERWISE: u32 = 0;

/// Working memory of searches; reuse it.
pub(super) struct PathSearch<'a> {
    causality: &'a Causality<'a>,
    /// By state (node, how entered): number of the search that reached it, cost, state it was reached from.
    reached: Vec<u32>,
    cost: Vec<(u32, u32)>,
    parent: Vec<u32>,
    search: u32,
    /// States to continue from, by steps, for the current number of forced edges and for one more.
    now: Vec<Vec<u32>>,
    next: Vec<Vec<u32>>,
    /// States visited by all searches so far.
    pub(super) visited: u64,
}

impl<'a> PathSearch<'a> {
    pub(super) fn new(causality: &'a Causality<'a>) -> PathSearch<'a> {
        // One more node for ⊥.
        let states = 2 * (causality.n() + 1);
        PathSearch {
            causality,
            reached: vec![0; states],
            cost: vec![(0, 0); states],
            parent: vec![NONE; states],
            search: 0,
            now: Vec::new(),
            next: Vec::new(),
            visited: 0,
        }
    }

    /// The path from `from` to another node `to` with the fewest forced edges, among those with the fewest steps;
    /// `None` if there is none through admitted nodes. Dijkstra 1959 on pairs of costs, with buckets: O(states and
    /// edges reached before `to`).
    pub(super) fn shortest(
        &mut self,
        from: Node,
        to: Node,
        forced: Option<&ForcedEdges>,
        admit: impl Fn(Node) -> bool,
        control: &Control,
    ) -> Result<Option<Vec<Step>>, Interrupt> {
        if let Some(way) = quick_way(self.causality, from, to) {
            return Ok(Some(way));
        }
        self.search += 1;
        self.now.clear();
        self.next.clear();
        self.reach(from * 2 + OTHERWISE, (0, 0), NONE, 0);
        for forced_edges in 0.. {
            let mut steps = 0;
            while steps < self.now.len() {
                while let Some(state) = self.now[steps].pop() {
                    self.visited += 1;
                    control.tick(self.visited as usize)?;
                    let cost = (forced_edges, steps as u32);
                    if self.cost[state as usize] != cost {
                        continue;
                    }
                    if state / 2 == to {
                        return Ok(Some(self.way_to(state, forced)));
                    }
                    self.go_on(state, cost, to, forced, &admit);
                }
                steps += 1;
            }
            if self.next.iter().all(Vec::is_empty) {
                break;
            }
            std::mem::swap(&mut self.now, &mut self.next);
            self.next.iter_mut().for_each(Vec::clear);
        }
        Ok(None)
    }

    fn go_on(
        &mut self,
        state: u32,
        (forced_edges, steps): (u32, u32),
        to: Node,
        forced: Option<&ForcedEdges>,
        admit: impl Fn(Node) -> bool,
    ) {
        let causality = self.causality;
        let initial = causality.n() as Node;
        let (v, entered) = (state / 2, state % 2);
        if v == initial {
            // ⊥ precedes every node, so nothing is nearer to it than the target.
            self.reach(
                to * 2 + OTHERWISE,
                (forced_edges, steps + 1),
                state,
                forced_edges,
            );
            return;
        }
        if let Some(next) = causality.index.successor(v).filter(|&next| admit(next)) {
            let step = u32::from(entered != BY_SESSION);
            self.reach(
                next * 2 + BY_SESSION,
                (forced_edges, steps + step),
                state,
                forced_edges,
            );
        }
        for &next in causality.readers(v).iter().filter(|&&next| admit(next)) {
            self.reach(
                next * 2 + OTHERWISE,
                (forced_edges, steps + 1),
                state,
                forced_edges,
            );
        }
        for edge in forced.map_or(&[][..], |forced| forced.of(v)) {
            if edge.to == NONE || admit(edge.to) {
                self.reach(
                    edge.to.min(initial) * 2 + OTHERWISE,
                    (forced_edges + 1, steps + 1),
                    state,
                    forced_edges,
                );
            }
        }
    }

    fn reach(&mut self, state: u32, cost: (u32, u32), parent: u32, now: u32) {
        let at = state as usize;
        if self.reached[at] != self.search || cost < self.cost[at] {
            self.reached[at] = self.search;
            self.cost[at] = cost;
            self.parent[at] = parent;
            let buckets = if cost.0 == now {
                &mut self.now
            } else {
                &mut self.next
            };
            let bucket = cost.1 as usize;
            if buckets.len() <= bucket {
                buckets.resize_with(bucket + 1, Vec::new);
            }
            buckets[bucket].push(state);
        }
    }

    fn way_to(&self, mut state: u32, forced: Option<&ForcedEdges>) -> Vec<Step> {
        let initial = self.causality.n() as Node;
        let mut way = Vec::new();
        while self.parent[state as usize] != NONE {
            let before = self.parent[state as usize];
            let (a, b) = (before / 2, state / 2);
            if a == initial {
                way.push(Step::Initial(b));
            } else if state % 2 == BY_SESSION {
                match way.last_mut() {
                    Some(Step::Session(from, _)) => *from = a,
                    _ => way.push(Step::Session(a, b)),
                }
            } else if self.cost[state as usize].0 == self.cost[before as usize].0 {
                way.push(Step::Read(a, b));
            } else if let Some(edge) =
                forced.and_then(|forced| forced.find(a, if b == initial { NONE } else { b }))
            {
                way.push(Step::Forced(edge));
            }
            state = before;
        }
        way.reverse();
        way
    }
}
