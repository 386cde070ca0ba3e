//! Which sessions can constrain each other (Biswas & Enea 2019, section 5).
//!
//! Two sessions communicate if they use a common key and one of them writes it. A history satisfies a level from RC to
//! SER if and only if its projections on the biconnected components of the communication graph do (their Theorem 5.2).
//! ⊥ is not a vertex of the graph, or all sessions would be one component: it belongs to every component.
//!
//! All writers of a key communicate with each other, and all of its readers with all of its writers. So a key with
//! several writing sessions is in one component, with every transaction that uses it; and a key that one session writes
//! is shared by that session with each reader separately. No transaction of a component reads a version from outside
//! it, unless the key cannot constrain another transaction there.

use super::index::{Index, NONE, Node};
use crate::graph::{Blocks, biconnected_components};

/// The components of the sessions of one index.
#[derive(Clone, Debug)]
pub struct Communication {
    blocks: Blocks,
    writers: Vec<[u32; 2]>,
}

impl Communication {
    /// Finds the components. O(sessions + keys + reads + writes), with a logarithm for edges that occur repeatedly.
    pub fn new(index: &Index) -> Communication {
        let graph = Graph::new(index);
        let edges = graph.edges.iter().copied();
        Communication {
            blocks: biconnected_components(index.n_sessions(), edges),
            writers: graph.writers,
        }
    }

    /// Whether the writers of keys alone make all sessions one component. A quick test: `false` does not mean that there
    /// are several. O(keys + writes), and much less in most histories.
    pub fn is_plainly_one(index: &Index) -> bool {
        let active = (0..index.n_sessions())
            .filter(|&s| index.session_begin[s] < index.session_begin[s + 1])
            .count();
        active < 2 || Core::new(index, active).n_members == active
    }

    /// The sessions of each component, ascending. Components are ordered by their smallest sessions; sessions without
    /// nodes are in none.
    pub fn components<'a>(&'a self, index: &'a Index) -> impl Iterator<Item = &'a [u32]> + 'a {
        let blocks = (0..self.blocks.len() as u32).map(|block| self.blocks.members(block));
        blocks.filter(|sessions| {
            sessions
                .iter()
                .any(|&s| !index.nodes_of_session(s).is_empty())
        })
    }

    /// Number of blocks: components, and sessions without nodes.
    pub(super) fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// A block with this session, always the same.
    pub(super) fn home(&self, session: u32) -> u32 {
        self.blocks.home(session)
    }

    /// Whether several sessions write the key.
    pub(super) fn has_several_writers(&self, key: u32) -> bool {
        self.writers[key as usize][1] != NONE
    }

    /// The block in which accesses of `session` to `key` can constrain a transaction; `None` if no transaction writes
    /// the key.
    pub(super) fn block_of(&self, session: u32, key: u32) -> Option<u32> {
        match self.writers[key as usize] {
            [NONE, _] => None,
            [only, NONE] if only == session => Some(self.blocks.home(session)),
            [only, NONE] => self.blocks.shared(session, only),
            [first, second] => self.blocks.shared(first, second),
        }
    }
}

/// The exponents of the search for an order (Biswas & Enea 2019): by their Corollary 4.3 the width, by their Theorem
/// 5.2 that of the largest component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Breadth {
    /// Most transactions none of which precedes another in its session: the number of sessions that committed
    /// something.
    pub width: usize,
    /// The components: by how many sessions, then transactions, the largest first.
    pub components: Vec<ComponentSize>,
}

/// A biconnected component of the communication graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComponentSize {
    /// Its sessions: its width. A session may be part of several components.
    pub sessions: usize,
    /// Their committed transactions.
    pub transactions: usize,
}

impl Breadth {
    /// As costly as [`Communication::new`].
    pub fn of(index: &Index) -> Breadth {
        let transactions = |s: u32| index.nodes_of_session(s).len();
        let size = |sessions: &[u32]| ComponentSize {
            sessions: sessions.len(),
            transactions: sessions.iter().map(|&s| transactions(s)).sum(),
        };
        let mut components: Vec<ComponentSize> = Communication::new(index)
            .components(index)
            .map(size)
            .collect();
        components.sort_unstable_by(|a, b| b.cmp(a));
        let width = (0..index.n_sessions() as u32)
            .filter(|&s| transactions(s) > 0)
            .count();
        Breadth { width, components }
    }
}

impl Index {
    /// The nodes of a session.
    pub fn nodes_of_session(&self, session: u32) -> std::ops::Range<Node> {
        self.session_begin[session as usize]..self.session_begin[session as usize + 1]
    }

    /// The sessions that write a key, ascending, each once. O(writes of the key).
    pub(super) fn sessions_writing(&self, key: u32) -> impl Iterator<Item = u32> + '_ {
        let mut last = NONE;
        self.slot_node[self.slots_of(key)]
            .iter()
            .filter_map(move |&t| {
                let session = self.session[t as usize];
                (std::mem::replace(&mut last, session) != session).then_some(session)
            })
    }
}

/// Sessions known to be in one component: grown key by key, as two sessions that share a key with it.
struct Core {
    is_member: Vec<bool>,
    n_members: usize,
}

impl Core {
    /// Goes through the keys once, until all `active` sessions are members.
    fn new(index: &Index, active: usize) -> Core {
        let mut core = Core {
            is_member: vec![false; index.n_sessions()],
            n_members: 0,
        };
        let mut writers: Vec<u32> = Vec::new();
        for key in 0..index.n_keys() as u32 {
            if core.n_members == active {
                break;
            }
            writers.clear();
            writers.extend(index.sessions_writing(key));
            let known = writers
                .iter()
                .filter(|&&s| core.is_member[s as usize])
                .count();
            if writers.len() > 1 && (known > 1 || core.n_members == 0) {
                writers.iter().for_each(|&s| core.insert(s));
            }
        }
        core
    }

    fn insert(&mut self, session: u32) {
        self.n_members += usize::from(!std::mem::replace(
            &mut self.is_member[session as usize],
            true,
        ));
    }

    fn contains(&self, a: u32, b: u32) -> bool {
        self.is_member[a as usize] && self.is_member[b as usize]
    }

    /// Few edges that make the members one component.
    fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let members = || (0..self.is_member.len() as u32).filter(|&s| self.is_member[s as usize]);
        let hubs: Vec<u32> = members().take(2).collect();
        hubs.into_iter()
            .flat_map(move |hub| members().map(move |s| (hub, s)))
    }
}

/// The communication graph without redundant edges: users of a key with several writing sessions are joined to the
/// first two of these only.
struct Graph {
    /// By key: the first two sessions that write it, or [`NONE`].
    writers: Vec<[u32; 2]>,
    edges: Vec<(u32, u32)>,
    /// The number of edges at which they are sorted and duplicates removed.
    limit: usize,
    core: Core,
}

impl Graph {
    fn new(index: &Index) -> Graph {
        let core = Core::new(index, usize::MAX);
        let edges = core.edges().collect();
        let writers = Vec::with_capacity(index.n_keys());
        let mut graph = Graph {
            writers,
            edges,
            limit: 1 << 16,
            core,
        };
        for key in 0..index.n_keys() as u32 {
            let mut sessions = index.sessions_writing(key);
            let writers = [
                sessions.next().unwrap_or(NONE),
                sessions.next().unwrap_or(NONE),
            ];
            graph.writers.push(writers);
            graph.join(writers[0], key);
            sessions.for_each(|session| graph.join(session, key));
        }
        for t in 0..index.n_nodes() as Node {
            let session = index.session[t as usize];
            index
                .reads_of(t)
                .for_each(|read| graph.join(session, index.read_key[read]));
        }
        for order in &index.lists {
            graph.join(index.session[order.reader as usize], order.key);
        }
        graph.tidy();
        graph
    }

    /// Joins a session to the writers of a key that it uses.
    fn join(&mut self, session: u32, key: u32) {
        for writer in self.writers[key as usize] {
            if writer == NONE || writer == session || self.core.contains(session, writer) {
                continue;
            }
            self.edges.push((session.min(writer), session.max(writer)));
            if self.edges.len() > self.limit {
                self.tidy();
            }
        }
    }

    fn tidy(&mut self) {
        self.edges.sort_unstable();
        self.edges.dedup();
        self.limit = (2 * self.edges.len()).max(1 << 16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{history, index, random::anything};
    use std::collections::BTreeSet;

    /// The components as the paper defines them: every pair of users at least one of which writes.
    fn by_definition(index: &Index) -> Vec<Vec<u32>> {
        let mut uses: BTreeSet<(u32, u32, bool)> = BTreeSet::new();
        for t in 0..index.n_nodes() as Node {
            let session = index.session[t as usize];
            uses.extend(
                index
                    .reads_of(t)
                    .map(|read| (index.read_key[read], session, false)),
            );
            uses.extend(
                index
                    .writes_of(t)
                    .map(|write| (index.write_key[write], session, true)),
            );
        }
        let edges: Vec<(u32, u32)> = uses
            .iter()
            .flat_map(|a| uses.iter().map(move |b| (a, b)))
            .filter(|(a, b)| a.0 == b.0 && a.1 != b.1 && (a.2 || b.2))
            .map(|(a, b)| (a.1, b.1))
            .collect();
        let blocks = biconnected_components(index.n_sessions(), edges.iter().copied());
        let all = (0..blocks.len() as u32).map(|block| blocks.members(block).to_vec());
        all.filter(|sessions| {
            sessions
                .iter()
                .any(|&s| !index.nodes_of_session(s).is_empty())
        })
        .collect()
    }

    fn components(index: &Index) -> Vec<Vec<u32>> {
        Communication::new(index)
            .components(index)
            .map(<[u32]>::to_vec)
            .collect()
    }

    #[test]
    fn components_are_those_of_the_graph_with_all_its_edges() {
        let mut random = fastrand::Rng::with_seed(17);
        let (mut one, mut several) = (0, 0);
        for _ in 0..2000 {
            let index = index(&anything(&mut random));
            let expected = by_definition(&index);
            assert_eq!(components(&index), expected);
            if Communication::is_plainly_one(&index) {
                assert!(expected.len() < 2, "{expected:?}");
                one += 1;
            } else {
                several += usize::from(expected.len() > 1)
            }
        }
        assert!(one > 100 && several > 100, "{one} {several}");
    }

    /// The most transactions not ordered by any session, by trying all sets of them, and the components by definition.
    #[test]
    fn the_width_is_that_of_the_largest_set_of_transactions_without_an_order() {
        let mut random = fastrand::Rng::with_seed(18);
        let mut widths = BTreeSet::new();
        for _ in 0..500 {
            let index = index(&anything(&mut random));
            let n = index.n_nodes();
            let is_unordered = |set: &u32| {
                let members = || (0..n).filter(|t| set & (1 << t) != 0);
                members().all(|a| members().all(|b| a == b || index.session[a] != index.session[b]))
            };
            let width = (0..1u32 << n)
                .filter(is_unordered)
                .map(u32::count_ones)
                .max()
                .unwrap_or(0);
            let breadth = Breadth::of(&index);
            assert_eq!(breadth.width, width as usize);
            widths.insert(width);
            let transactions = |sessions: &[u32]| {
                (0..n)
                    .filter(|&t| sessions.contains(&index.session[t]))
                    .count()
            };
            let sizes = by_definition(&index)
                .into_iter()
                .map(|sessions| (sessions.len(), transactions(&sessions)));
            let mut sizes: Vec<(usize, usize)> = sizes.collect();
            sizes.sort_by(|a, b| b.cmp(a));
            let found: Vec<(usize, usize)> = breadth
                .components
                .iter()
                .map(|c| (c.sessions, c.transactions))
                .collect();
            assert_eq!(found, sizes);
        }
        assert!(widths.len() > 2, "{widths:?}");
    }

    #[test]
    fn sessions_in_a_chain_are_components_two_by_two() {
        let chain = index(&history(
            "a: [w x 1]\nb: [r x 1] [w y 1] [r x 1]\nc: [r y 1]",
        ));
        assert_eq!(components(&chain), [vec![0, 1], vec![1, 2]]);
    }

    #[test]
    fn readers_of_one_writer_do_not_communicate() {
        let star = index(&history(
            "a: [w x 1]\nb: [r x 1] [r y 0]\nc: [r x 1] [r y 0]",
        ));
        assert_eq!(components(&star), [vec![0, 1], vec![0, 2]]);
    }

    #[test]
    fn two_writers_join_all_readers() {
        let star = index(&history("a: [w x 1]\nd: [w x 2]\nb: [r x 1]\nc: [r x 1]"));
        assert_eq!(components(&star), [vec![0, 1, 2, 3]]);
    }

    #[test]
    fn a_session_on_its_own_is_a_component() {
        let apart = index(&history("a: [w x 1]\nb: [r x 1]\nc: [w y 1]"));
        assert_eq!(components(&apart), [vec![0, 1], vec![2]]);
    }
}
