//! Which starts and commits lead to which others, by vectors over sessions.
//!
//! The starts and commits of one session form a chain in the known graph, so it is enough to know, for a vertex v and
//! a session s, how much of the chain of s leads to v. The vectors are computed in one pass over a topological order,
//! in blocks of sessions so that memory stays bounded. When there are too many sessions for that, a search backwards
//! from v through the part of the order between the two vertices answers instead; it gives up after a while, which
//! counts as "not known to lead there".

use super::known::{Events, Vertex};
use crate::checkers::Level;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{Digraph, topological_order};
use isoscope_model::relations::{Index, Node};
use rayon::prelude::*;

/// Most vector entries held at a time (4 bytes each).
const BLOCK_ENTRIES: usize = 1 << 28;
/// Most work spent on vectors, in edges times sessions, before the backward search takes over.
const MOST_VECTOR_WORK: usize = 40_000_000_000;
/// Most columns of a block: rows of a stretch of the order should stay in the cache.
const MOST_COLUMNS: usize = 64;
/// Vertices visited by most backward searches where a good order is known.
const FEW_STEPS: usize = 200;
/// Vertices visited by one backward search.
const SEARCH_STEPS: usize = 2000;

/// Positions of events in the chain of their session.
struct Chains<'a> {
    index: &'a Index,
    events: Events,
}

impl Chains<'_> {
    /// Session and place of an event; helpers are in no chain.
    #[inline]
    fn place(&self, v: Vertex) -> Option<(u32, u32)> {
        let node = self.events.node(v)?;
        let position = self.index.position(node);
        let place = if self.events.split() {
            2 * position + u32::from(self.events.is_commit(v))
        } else {
            position
        };
        Some((self.index.session[node as usize], place))
    }
}

impl Chains<'_> {
    /// Events of the longest chain.
    fn longest(&self) -> u32 {
        let begins = self.index.session_begin.windows(2);
        let n = begins.map(|of| of[1] - of[0]).max().unwrap_or(0);
        if self.events.split() { 2 * n } else { n }
    }
}

/// For each query (u, v), u an event: whether u is v or leads to it in `graph`, of which `order` is a topological
/// order. May answer "no" where it is "yes" only if there are very many sessions.
/// O(edges · sessions queried) or O(queries).
pub(super) fn leads_to(
    index: &Index,
    events: Events,
    graph: &Digraph,
    order: &[Vertex],
    queries: &[(Vertex, Vertex)],
    control: &Control,
) -> Result<Vec<bool>, Interrupt> {
    let chains = Chains { index, events };
    let mut answer: Vec<bool> = queries.iter().map(|&(u, v)| u == v).collect();
    let session_of = |u: Vertex| chains.place(u).map_or(0, |(session, _)| session);
    let mut wanted: Vec<u32> = queries.iter().map(|&(u, _)| session_of(u)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let work = wanted.len().saturating_mul(graph.n_edges() + order.len());
    // By a good guess what is asked about is close together.
    if work > MOST_VECTOR_WORK || index.is_guessed() && work > queries.len() * FEW_STEPS {
        search_backwards(graph, order, queries, &mut answer, control)?;
        return Ok(answer);
    }
    let mut by_session: Vec<u32> = (0..queries.len() as u32).collect();
    by_session.sort_unstable_by_key(|&q| session_of(queries[q as usize].0));
    let (threads, is_short) = (
        rayon::current_num_threads(),
        chains.longest() <= i16::MAX as u32,
    );
    let most = (BLOCK_ENTRIES / threads / order.len().max(1)).clamp(1, MOST_COLUMNS);
    let answers = |block: &[u32]| -> Result<Vec<u32>, Interrupt> {
        let of_block = |q: &&u32| {
            block
                .binary_search(&session_of(queries[**q as usize].0))
                .is_ok()
        };
        let begin = by_session.partition_point(|&q| session_of(queries[q as usize].0) < block[0]);
        let asked = by_session[begin..].iter().take_while(of_block);
        Ok(if is_short {
            Vectors::<i16>::new(&chains, graph, order, block, control)?
                .leading(&chains, queries, asked)
        } else {
            Vectors::<i32>::new(&chains, graph, order, block, control)?
                .leading(&chains, queries, asked)
        })
    };
    let blocks = wanted
        .par_chunks(wanted.len().div_ceil(threads).clamp(1, most))
        .map(answers);
    for q in blocks.collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
        answer[q as usize] = true;
    }
    Ok(answer)
}

/// For each vertex, the length of a longest path to it, minus the length of a longest path from it: a good first guess
/// of its place in the order, since the errors of the two have opposite signs. O(edges).
pub(in crate::checkers) fn expected_places(graph: &Digraph, order: &[Vertex]) -> Vec<u64> {
    let (mut before, mut after) = (vec![0u64; order.len()], vec![0u64; order.len()]);
    for &v in order {
        for &w in graph.successors(v) {
            before[w as usize] = before[w as usize].max(before[v as usize] + 1);
        }
    }
    for &v in order.iter().rev() {
        let next = graph
            .successors(v)
            .iter()
            .map(|&w| after[w as usize] + 1)
            .max();
        after[v as usize] = next.unwrap_or(0);
    }
    let longest = after.iter().copied().max().unwrap_or(0);
    before
        .iter()
        .zip(after)
        .map(|(before, after)| before + longest - after)
        .collect()
}

/// Which transactions precede which others in (SO ∪ WR)⁺.
pub(in crate::checkers) struct CausalPast {
    vectors: Vectors<i32>,
}

impl CausalPast {
    /// From the graph of SO ∪ WR over transactions. `None` if it has a cycle or the vectors would be too large, as they are
    /// where each transaction has a session of its own.
    /// O(edges · sessions) time, 4 bytes for a transaction and session.
    pub(in crate::checkers) fn new(
        index: &Index,
        graph: &Digraph,
        control: &Control,
    ) -> Result<Option<CausalPast>, Interrupt> {
        let mut sessions = index.session.clone();
        sessions.dedup();
        let work = sessions
            .len()
            .saturating_mul(graph.n_edges() + index.n_nodes());
        if index.is_guessed()
            || work > MOST_VECTOR_WORK
            || sessions.len().saturating_mul(index.n_nodes()) > 2 * BLOCK_ENTRIES
        {
            return Ok(None);
        }
        let Some(order) = topological_order(graph) else {
            return Ok(None);
        };
        let chains = Chains {
            index,
            events: Events::new(Level::Serializability, index.n_nodes()),
        };
        Ok(Some(CausalPast {
            vectors: Vectors::new(&chains, graph, &order, &sessions, control)?,
        }))
    }

    /// How many transactions of a session precede `t`.
    #[inline]
    pub(in crate::checkers) fn count(&self, t: Node, session: u32) -> u32 {
        self.vectors.get(t, session).unwrap_or(0)
    }

    /// Whether `a` precedes `b`.
    #[inline]
    pub(in crate::checkers) fn precedes(&self, index: &Index, a: Node, b: Node) -> bool {
        self.count(b, index.session[a as usize]) > index.position(a)
    }
}

/// A number of events: 16 bits if chains are short, since the maximum of eight of those is one instruction everywhere.
trait Count: Copy + Default + Ord + TryFrom<u32> + TryInto<u32> + Send {}

impl Count for i16 {}
impl Count for i32 {}

/// By vertex and session of a block: how many events at the head of the session's chain lead to the vertex. Rows are in
/// topological order, so that rows connected by an edge are usually close in memory.
struct Vectors<T> {
    width: usize,
    entry: Vec<T>,
    /// By vertex: its row.
    position: Vec<u32>,
    column: Vec<u32>,
}

impl<T: Count> Vectors<T> {
    /// No chain is longer than a `T` can count.
    fn new(
        chains: &Chains<'_>,
        graph: &Digraph,
        order: &[Vertex],
        sessions: &[u32],
        control: &Control,
    ) -> Result<Vectors<T>, Interrupt> {
        let width = sessions.len();
        let mut column = vec![u32::MAX; chains.index.n_sessions()];
        for (place, &session) in sessions.iter().enumerate() {
            column[session as usize] = place as u32;
        }
        let mut position = vec![0u32; order.len()];
        for (at, &v) in (0..).zip(order) {
            position[v as usize] = at;
        }
        control.needs(width * order.len() * size_of::<T>())?;
        let mut entry = vec![T::default(); width * order.len()];
        let mut row = vec![T::default(); width];
        for (at, &v) in order.iter().enumerate() {
            if at % 65536 == 0 {
                control.check()?;
            }
            row.copy_from_slice(&entry[at * width..][..width]);
            if let Some((session, place)) = chains.place(v)
                && let Some(own) = row.get_mut(column[session as usize] as usize)
            {
                *own = T::try_from(place + 1).ok().expect("no chain is longer");
            }
            for &w in graph.successors(v) {
                let into = &mut entry[position[w as usize] as usize * width..][..width];
                into.iter_mut()
                    .zip(&row)
                    .for_each(|(into, &from)| *into = from.max(*into));
            }
        }
        Ok(Vectors {
            width,
            entry,
            position,
            column,
        })
    }

    /// The entry, if the session is of this block.
    fn get(&self, v: Vertex, session: u32) -> Option<u32> {
        let column = self.column[session as usize];
        let entry =
            || self.entry[self.position[v as usize] as usize * self.width + column as usize];
        (column != u32::MAX).then(|| entry().try_into().unwrap_or_default())
    }

    /// The queries whose first event leads to the second vertex.
    fn leading<'q>(
        &self,
        chains: &Chains<'_>,
        queries: &[(Vertex, Vertex)],
        asked: impl Iterator<Item = &'q u32>,
    ) -> Vec<u32> {
        let leads = |&&q: &&u32| {
            let (u, v) = queries[q as usize];
            let leads =
                |(session, place)| self.get(v, session).is_some_and(|length| length > place);
            chains.place(u).is_some_and(leads)
        };
        asked.filter(leads).copied().collect()
    }
}

fn search_backwards(
    graph: &Digraph,
    order: &[Vertex],
    queries: &[(Vertex, Vertex)],
    answer: &mut [bool],
    control: &Control,
) -> Result<(), Interrupt> {
    let into = graph.reversed();
    let mut position = vec![0u32; order.len()];
    for (place, &v) in order.iter().enumerate() {
        position[v as usize] = place as u32;
    }
    let mut seen_in = vec![u32::MAX; order.len()];
    let mut stack = Vec::new();
    for (q, &(u, v)) in queries.iter().enumerate() {
        if q % 1024 == 0 {
            control.check()?;
        }
        if answer[q] || position[u as usize] > position[v as usize] {
            continue;
        }
        stack.clear();
        stack.push(v);
        let mut steps = 0;
        while let Some(w) = stack.pop() {
            for &earlier in into.successors(w) {
                answer[q] |= earlier == u;
                let inside = position[earlier as usize] > position[u as usize];
                if inside && std::mem::replace(&mut seen_in[earlier as usize], q as u32) != q as u32
                {
                    stack.push(earlier);
                }
            }
            steps += 1;
            if answer[q] || steps > SEARCH_STEPS {
                break;
            }
        }
    }
    Ok(())
}
