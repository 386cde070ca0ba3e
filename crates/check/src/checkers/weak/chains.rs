//! Chains: paths of SO ∪ WR that cover all nodes, whole sessions each, so that reachability between nodes is a
//! comparison of one number per chain.
//! With few sessions every session is a chain. With many short ones (a history without session information has one per
//! transaction) sessions are concatenated if the first transaction of one reads from the last of another.

use super::SMALL_LIMITS;
use super::causality::Components;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Index, NONE, Node};
use std::ops::Range;
use std::sync::OnceLock;

/// Up to this many sessions nothing is joined.
const JOIN_ABOVE: usize = if SMALL_LIMITS { 1 } else { 256 };

/// A maximal range of writers of one key in one chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChainRun {
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
    /// Some chain has several sessions.
    is_joined: bool,
    /// Made on first use.
    writers: OnceLock<Writers>,
}

/// The writers of all keys.
struct Writers {
    /// By place: the writers of a key, sorted by chain and position. Places of a key are those of its slots.
    writer: Vec<Node>,
    run_begin: Vec<u32>,
    runs: Vec<ChainRun>,
}

impl Writers {
    /// O(slots), sorting them when sessions are joined.
    fn new(index: &Index, chains: &Chains) -> Writers {
        let mut writer = index.slot_node.clone();
        let mut run_begin = Vec::with_capacity(index.n_keys() + 1);
        let mut runs: Vec<ChainRun> = Vec::new();
        for key in 0..index.n_keys() as u32 {
            let slots = index.slots_of(key);
            if chains.is_joined {
                let place = |v: &Node| (chains.chain[*v as usize], chains.position[*v as usize]);
                writer[slots.clone()].sort_unstable_by_key(place);
            }
            run_begin.push(runs.len() as u32);
            let mut last = NONE;
            for at in slots {
                let chain = chains.chain[writer[at] as usize];
                if chain != last {
                    runs.push(ChainRun {
                        chain,
                        begin: at as u32,
                    });
                    last = chain;
                }
            }
        }
        run_begin.push(runs.len() as u32);
        Writers {
            writer,
            run_begin,
            runs,
        }
    }
}

impl Chains {
    /// Covers the nodes. `components` are those of SO ∪ WR. O(n + reads of the first transactions of sessions).
    pub(super) fn new(
        index: &Index,
        components: &Components,
        control: &Control,
    ) -> Result<Chains, Interrupt> {
        let n_sessions = index.n_sessions();
        let next = if n_sessions > JOIN_ABOVE {
            joined_sessions(index, components)
        } else {
            vec![NONE; n_sessions]
        };
        let mut is_first = vec![true; n_sessions];
        for &session in next.iter().filter(|&&session| session != NONE) {
            is_first[session as usize] = false;
        }
        let mut chains = Chains {
            chain: vec![0; index.n_nodes()],
            position: vec![0; index.n_nodes()],
            length: Vec::new(),
            is_joined: next.iter().any(|&session| session != NONE),
            writers: OnceLock::new(),
        };
        for first in (0..n_sessions as u32).filter(|&session| is_first[session as usize]) {
            control.check()?;
            let mut length = 0;
            let mut session = first;
            while session != NONE {
                for v in
                    index.session_begin[session as usize]..index.session_begin[session as usize + 1]
                {
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
        Ok(chains)
    }

    /// Number of chains.
    pub(super) fn len(&self) -> usize {
        self.length.len()
    }

    /// The runs of writers of a key whose chain is in `window`, by chain, each with its writers. `index` is the one
    /// from which the chains were made. The first call takes O(slots), and the time to sort them if sessions are
    /// joined.
    #[inline]
    pub(super) fn runs<'a>(
        &'a self,
        index: &Index,
        key: u32,
        window: Range<u32>,
    ) -> impl Iterator<Item = (u32, &'a [Node])> + 'a {
        let Writers {
            writer,
            run_begin,
            runs,
        } = self.writers.get_or_init(|| Writers::new(index, self));
        let (begin, end) = (
            run_begin[key as usize] as usize,
            run_begin[key as usize + 1] as usize,
        );
        let key_end = runs.get(end).map_or(writer.len(), |run| run.begin as usize);
        let runs = &runs[begin..end];
        let first = match window.start {
            0 => 0,
            start => runs.partition_point(|run| run.chain < start),
        };
        (first..runs.len())
            .take_while(move |&at| runs[at].chain < window.end)
            .map(move |at| {
                let end = runs.get(at + 1).map_or(key_end, |run| run.begin as usize);
                (runs[at].chain, &writer[runs[at].begin as usize..end])
            })
    }
}

/// By session: the session appended to it, or [`NONE`]. Never cyclic, since an end joined to a beginning in another
/// component is a step forward in a topological order.
fn joined_sessions(index: &Index, components: &Components) -> Vec<u32> {
    let mut next = vec![NONE; index.n_sessions()];
    for &head in components.order() {
        if index.position(head) > 0 {
            continue;
        }
        let writers = index.read_writer[index.reads_of(head)]
            .iter()
            .copied()
            .filter(|&writer| writer != NONE);
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
