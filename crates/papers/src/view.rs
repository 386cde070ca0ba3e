//! A history as the papers' algorithms see it: session order, write-read, and which transactions see which directly.
//!
//! Source: Plume, section 2 and Algorithm 1, `BuildCO`; C4, section 2 and Algorithm 2. Write-read edges come from the
//! index, which found them by a hash join; the graph is SO ∪ WR without its transitive edges of SO.
//!
//! O(operations) time and memory. Corrected: ⊥ precedes every session and is not a vertex here (as in the papers' text;
//! their programs treat reads of 0 separately); inside a component of SO ∪ WR everything matches every pattern, so what
//! happens there is left to TAP-g.

use isoscope_check::checkers::Cause;
use isoscope_model::control::Control;
use isoscope_model::graph::{Components, Digraph, strong_components};
use isoscope_model::relations::{Index, NONE, Node};

/// SO ∪ WR, its components, and the reads behind WR.
pub(super) struct View<'a> {
    pub(super) index: &'a Index,
    /// By node: its first place in [`reads`](Self::reads).
    begin: Vec<u32>,
    /// Places in the index of the reads that count, in program order.
    reads: Vec<u32>,
    /// SO ∪ WR; nodes are vertices.
    pub(super) causal: Digraph,
    /// Of SO ∪ WR.
    pub(super) components: Components,
    /// The pairs of transactions whose versions lists order: part of every commit order.
    pub(super) listed: Vec<(Node, Node)>,
}

impl<'a> View<'a> {
    /// `BuildCO`: the external reads of the index for which `counts` is true make the write-read relation.
    pub(super) fn new(
        index: &'a Index,
        counts: &dyn Fn(usize) -> bool,
        control: &Control,
    ) -> Result<View<'a>, Cause> {
        let n = index.n_nodes();
        let mut begin = Vec::with_capacity(n + 1);
        let mut reads = Vec::with_capacity(index.read_key.len());
        let mut edges: Vec<(Node, Node)> = Vec::new();
        let mut read_by = vec![NONE; n];
        for t3 in 0..n as Node {
            control.tick(t3 as usize)?;
            begin.push(reads.len() as u32);
            edges.extend(index.successor(t3).map(|next| (t3, next)));
            for read in index.reads_of(t3).filter(|&read| counts(read)) {
                reads.push(read as u32);
                let t1 = index.writer_of_read(read);
                if t1 != NONE && std::mem::replace(&mut read_by[t1 as usize], t3) != t3 {
                    edges.push((t1, t3));
                }
            }
        }
        begin.push(reads.len() as u32);
        let causal = Digraph::new(n, edges.iter().copied());
        let components = strong_components(&causal);
        let listed = index
            .listed()
            .into_iter()
            .map(|pair| (pair.older, pair.newer))
            .collect();
        Ok(View {
            index,
            begin,
            reads,
            causal,
            components,
            listed,
        })
    }

    /// Number of transactions.
    pub(super) fn n(&self) -> usize {
        self.index.n_nodes()
    }

    /// The reads of a node that count, as places in the index.
    fn reads_of(&self, node: Node) -> &[u32] {
        &self.reads[self.begin[node as usize] as usize..self.begin[node as usize + 1] as usize]
    }

    /// Whether a cycle of SO ∪ WR runs through both.
    pub(super) fn on_one_cycle(&self, a: Node, b: Node) -> bool {
        a != NONE && b != NONE && self.components.share_cycle(a, b)
    }

    /// SO ∪ WR and more edges, of which those to [`NONE`] lead to ⊥: then ⊥ is the last vertex and precedes every node.
    pub(super) fn with(&self, more: &[(Node, Node)]) -> Digraph {
        let n = self.n() as Node;
        let initial = more.iter().any(|edge| edge.1 == NONE);
        let after_initial = (0..if initial { n } else { 0 }).map(|node| (n, node));
        let known = self.causal.edges().map(|arc| (arc.from, arc.to));
        let more = more.iter().map(|&(from, to)| (from, to.min(n)));
        Digraph::new(
            self.n() + usize::from(initial),
            known.chain(more).chain(after_initial),
        )
    }
}

/// How a transaction t3 that reads a key from t1 sees another writer t2 of the key, apart from causality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sight {
    /// t3 reads something from t2 before its last read of the key from t1.
    pub(super) before: bool,
    /// The same with a read of another key.
    pub(super) other_key_before: bool,
    /// t3 reads something from t2.
    pub(super) reads: bool,
    /// t3 reads another key from t2.
    pub(super) other_key: bool,
    /// t2 precedes t3 in its session.
    pub(super) session: bool,
}

/// t3 reads `key` from t1, and t2 ∉ {t1, t3} writes it, too; no two of them lie on one cycle of SO ∪ WR.
#[derive(Clone, Copy, Debug)]
pub(super) struct Triple {
    /// The writer read from, or [`NONE`] for ⊥.
    pub(super) t1: Node,
    /// The other writer.
    pub(super) t2: Node,
    /// The reader.
    pub(super) t3: Node,
    /// How t3 sees t2 directly.
    pub(super) sight: Sight,
}

/// The reads of one transaction, by writer. Reusable: loading another transaction replaces it.
pub(super) struct Reader {
    t3: Node,
    /// By node: the transaction for which the other two are valid.
    valid: Vec<Node>,
    /// By node: the first read from it.
    first: Vec<u32>,
    /// By node: the first read from it of a key other than the first read's, or [`NONE`].
    first_of_other_key: Vec<u32>,
    /// (key, writer, last read of the key from it), by key and writer.
    pairs: Vec<(u32, Node, u32)>,
}

impl Reader {
    pub(super) fn new(n: usize) -> Reader {
        let none = || vec![NONE; n];
        Reader {
            t3: NONE,
            valid: none(),
            first: none(),
            first_of_other_key: none(),
            pairs: Vec::new(),
        }
    }

    /// Loads the reads of a transaction. O(r log r).
    pub(super) fn load(&mut self, view: &View<'_>, t3: Node) {
        let index = view.index;
        self.t3 = t3;
        self.pairs.clear();
        for &read in view.reads_of(t3) {
            let (key, writer) = (
                index.read_key[read as usize],
                index.writer_of_read(read as usize),
            );
            if view.on_one_cycle(writer, t3) {
                continue;
            }
            self.pairs.push((key, writer, read));
            if writer == NONE {
                continue;
            }
            let w = writer as usize;
            if self.valid[w] != t3 {
                self.valid[w] = t3;
                self.first[w] = read;
                self.first_of_other_key[w] = NONE;
            } else if self.first_of_other_key[w] == NONE
                && index.read_key[self.first[w] as usize] != key
            {
                self.first_of_other_key[w] = read;
            }
        }
        // The last read of each key from each writer.
        self.pairs
            .sort_unstable_by_key(|&(key, writer, read)| (key, writer, std::cmp::Reverse(read)));
        self.pairs.dedup_by_key(|pair| (pair.0, pair.1));
    }

    /// Calls `visit` with every triple of the loaded transaction. O(writers of the keys it reads).
    pub(super) fn triples(
        &self,
        view: &View<'_>,
        control: &Control,
        mut visit: impl FnMut(Triple) -> Result<(), Cause>,
    ) -> Result<(), Cause> {
        let (index, t3) = (view.index, self.t3);
        for &(key, t1, last) in &self.pairs {
            for (step, slot) in index.slots_of(key).enumerate() {
                control.tick(step + 1)?;
                let t2 = index.slot_node[slot];
                if t2 != t1 && t2 != t3 && !view.on_one_cycle(t2, t3) && !view.on_one_cycle(t1, t2)
                {
                    visit(Triple {
                        t1,
                        t2,
                        t3,
                        sight: self.sight(view, key, t2, last),
                    })?;
                }
            }
        }
        Ok(())
    }

    fn sight(&self, view: &View<'_>, key: u32, t2: Node, last: u32) -> Sight {
        let index = view.index;
        let w = t2 as usize;
        let session = t2 < self.t3 && index.session[w] == index.session[self.t3 as usize];
        if self.valid[w] != self.t3 {
            return Sight {
                before: false,
                other_key_before: false,
                reads: false,
                other_key: false,
                session,
            };
        }
        let first = self.first[w];
        let other = if index.read_key[first as usize] == key {
            self.first_of_other_key[w]
        } else {
            first
        };
        // NONE is greater than every place.
        Sight {
            before: first < last,
            other_key_before: other < last,
            reads: true,
            other_key: other != NONE,
            session,
        }
    }
}
