//! Chains: paths of SO ∪ WR that cover all nodes, whole sessions each, so that reachability between nodes is a
//! comparison of one number per chain.
//!
//! With few sessions every session is a chain. With many short ones (a history without session information has one
//! per transaction) sessions are put end to end where the first transaction of one reads from the last of another.

use super::SMALL_LIMITS;
use super::causality::{Components, STRIDE};
use crate::control::{Control, Interrupt};
use crate::relations::{Index, NONE, Node};

/// Up to so many sessions nothing is joined.
const JOIN_ABOVE: usize = if SMALL_LIMITS { 1 } else { 256 };

/// A maximal range of writers of one key in one chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The chain.
    pub(super) chain: u32,
    /// First place in [`Chains::writer`]; the run ends where the next begins.
    pub(super) begin: u32,
}

/// The chains, and for each key its writers grouped by chain.
pub(super) struct Chains {
    /// By node: its chain.
    pub(super) chain: Vec<u32>,
    /// By node: its place in the chain.
    pub(super) position: Vec<u32>,
    /// By chain: number of nodes.
    pub(super) length: Vec<u32>,
    /// By place: the writers of a key, sorted by chain and position. Places of a key are those of its slots.
    pub(super) writer: Vec<Node>,
    run_begin: Vec<u32>,
    runs: Vec<Run>,
}

impl Chains {
    /// Covers the nodes. `components` are those of SO ∪ WR. O(n + slots), sorting slots when sessions are joined.
    pub(super) fn new(index: &Index, components: &Components, control: &Control) -> Result<Chains, Interrupt> {
        let n_sessions = index.n_sessions();
        let next = match n_sessions > JOIN_ABOVE {
            true => joined_sessions(index, components),
            false => vec![NONE; n_sessions],
        };
        let mut is_first = vec![true; n_sessions];
        for &session in next.iter().filter(|&&session| session != NONE) {
            is_first[session as usize] = false;
        }
        let mut chains = Chains {
            chain: vec![0; index.n_nodes()],
            position: vec![0; index.n_nodes()],
            length: Vec::new(),
            writer: index.slot_node.clone(),
            run_begin: Vec::with_capacity(index.n_keys() + 1),
            runs: Vec::new(),
        };
        for first in (0..n_sessions as u32).filter(|&session| is_first[session as usize]) {
            control.check()?;
            let mut length = 0;
            let mut session = first;
            while session != NONE {
                for v in index.session_begin[session as usize]..index.session_begin[session as usize + 1] {
                    chains.chain[v as usize] = chains.length.len() as u32;
                    chains.position[v as usize] = length;
                    length += 1;
                }
                session = next[session as usize];
            }
            if length > 0 {
                chains.length.push(length);
            }
        }
        for key in 0..index.n_keys() as u32 {
            if (key as usize).is_multiple_of(STRIDE) {
                control.check()?;
            }
            let slots = index.slots_of(key);
            let place = |v: &Node| (chains.chain[*v as usize], chains.position[*v as usize]);
            if n_sessions > JOIN_ABOVE {
                let mut writers = index.slot_node[slots.clone()].to_vec();
                writers.sort_unstable_by_key(place);
                chains.writer[slots.clone()].copy_from_slice(&writers);
            }
            chains.run_begin.push(chains.runs.len() as u32);
            let mut last = NONE;
            for at in slots {
                let chain = chains.chain[chains.writer[at] as usize];
                if chain != last {
                    chains.runs.push(Run { chain, begin: at as u32 });
                    last = chain;
                }
            }
        }
        chains.run_begin.push(chains.runs.len() as u32);
        Ok(chains)
    }

    /// Number of chains.
    pub(super) fn len(&self) -> usize {
        self.length.len()
    }

    /// The runs of writers of a key whose chain is in `window`, by chain, each with its writers.
    #[inline]
    pub(super) fn runs(&self, key: u32, window: std::ops::Range<u32>) -> impl Iterator<Item = (u32, &[Node])> + '_ {
        let (begin, end) = (self.run_begin[key as usize] as usize, self.run_begin[key as usize + 1] as usize);
        let runs = &self.runs[begin..end];
        let first = match window.start {
            0 => 0,
            start => runs.partition_point(|run| run.chain < start),
        };
        let key_end = self.runs.get(end).map_or(self.writer.len(), |run| run.begin as usize);
        (first..runs.len()).take_while(move |&at| runs[at].chain < window.end).map(move |at| {
            let end = runs.get(at + 1).map_or(key_end, |run| run.begin as usize);
            (runs[at].chain, &self.writer[runs[at].begin as usize..end])
        })
    }
}

/// By session: the session put behind it, or [`NONE`]. Never circular, since an end joined to a beginning in another
/// component is a step forward in a topological order.
fn joined_sessions(index: &Index, components: &Components) -> Vec<u32> {
    let mut next = vec![NONE; index.n_sessions()];
    for &head in components.order() {
        if index.position(head) > 0 {
            continue;
        }
        let writers = index.read_writer[index.reads_of(head)].iter().copied().filter(|&writer| writer != NONE);
        let free_ends = writers.filter(|&end| {
            index.successor(end).is_none()
                && next[index.session[end as usize] as usize] == NONE
                && !components.same(end, head)
        });
        // The latest possible end leaves earlier ones to earlier readers.
        if let Some(end) = free_ends.max_by_key(|&end| (components.of[end as usize], end)) {
            next[index.session[end as usize] as usize] = index.session[head as usize];
        }
    }
    next
}
