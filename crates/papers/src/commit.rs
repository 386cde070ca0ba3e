//! The commit order that an axiom forces (Plume, Algorithm 1, `BuildCM`; C4, Algorithm 2).
//!
//! If t3 reads a key from t1 and sees another writer t2 of the key, t2 comes before t1 in every commit order. The edge
//! t2 → t1 is added for every such triple: O(reads · writers of a key) questions, at most one edge per pair.
//!
//! Corrected: the papers add the edges of the causal axiom at every level (`--one-cm`), so that read committed and read
//! atomic are called violated where they are not; by default each level gets the edges of its own axiom. Edges that
//! already hold causally are left out if that costs no search, as C4's program does: the closure is the same.

use super::choice::RcRule;
use super::order::Order;
use super::search::Fixed;
use super::view::{Reader, Sight, Triple, View};
use super::{most_in_time, too_large};
use isoscope_check::checkers::{Cause, Level};
use isoscope_model::control::Control;
use isoscope_model::graph::Digraph;
use isoscope_model::relations::{self, NONE, Node};

/// Memory for the edges of a commit order if the user sets no limit.
const EDGE_BYTES: u64 = 2 << 30;

/// When t3 sees t2 (Biswas & Enea 2019, Fig. 2a to 2c).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axiom {
    /// t3 read from t2 before.
    ReadCommitted(RcRule),
    /// t2 precedes t3 in its session, or t3 reads from t2.
    ReadAtomic,
    /// t2 precedes t3 causally.
    Causal,
}

impl Axiom {
    /// The axiom of RC, RA or TCC; any other level is treated as TCC.
    pub(super) fn of(level: Level, rc: RcRule) -> Axiom {
        match level.axiom() {
            relations::Axiom::ReadCommitted => Axiom::ReadCommitted(rc),
            relations::Axiom::ReadAtomic => Axiom::ReadAtomic,
            _ => Axiom::Causal,
        }
    }

    /// Whether t3 sees t2; `causally` says whether t2 precedes t3 causally.
    #[inline]
    pub(super) fn sees(self, sight: &Sight, causally: impl FnOnce() -> bool) -> bool {
        match self {
            Axiom::ReadCommitted(RcRule::BiswasEnea) => sight.before,
            Axiom::ReadCommitted(RcRule::Plume) => sight.other_key_before,
            Axiom::ReadAtomic => sight.session || sight.reads,
            Axiom::Causal => sight.session || sight.reads || causally(),
        }
    }
}

/// `BuildCM`: SO ∪ WR, what lists show and what `axiom` forces; ⊥ is the last vertex if some transaction is forced before
/// it. `causal` is the closure of SO ∪ WR.
pub(super) fn build_cm(
    view: &View<'_>,
    axiom: Axiom,
    causal: &mut Order<'_>,
    control: &Control,
) -> Result<Digraph, Cause> {
    let mut forced = Edges::new(control);
    let mut reader = Reader::new(view.n());
    for t3 in 0..view.n() as Node {
        // A transaction may take many searches.
        control.check()?;
        reader.load(view, t3);
        reader.triples(view, control, |Triple { t1, t2, t3, sight }| {
            let seen = axiom.sees(&sight, || causal.precedes(t2, t3, Fixed::End));
            if seen && (t1 == NONE || !causal.is_cheap() || !causal.precedes(t2, t1, Fixed::End)) {
                forced.add(t2, t1)?;
            }
            Ok(())
        })?;
    }
    let mut edges = forced.into_edges();
    edges.extend_from_slice(&view.listed);
    Ok(view.with(&edges))
}

/// Pairs of transactions, finally each once.
pub(super) struct Edges {
    packed: Vec<u64>,
    /// Number of edges at which duplicates are removed.
    limit: usize,
    /// Bytes that they may take.
    most: u64,
}

impl Edges {
    /// None yet.
    pub(super) fn new(control: &Control) -> Edges {
        Edges {
            packed: Vec::new(),
            limit: 0,
            most: most_in_time(EDGE_BYTES, control),
        }
    }

    /// Adds a pair. Fails if there are too many.
    #[inline]
    pub(super) fn add(&mut self, from: Node, to: Node) -> Result<(), Cause> {
        self.packed.push(u64::from(from) << 32 | u64::from(to));
        if self.packed.len() >= self.limit {
            self.shrink()
        } else {
            Ok(())
        }
    }

    fn shrink(&mut self) -> Result<(), Cause> {
        self.packed.sort_unstable();
        self.packed.dedup();
        let bytes = 16 * self.packed.len() as u64;
        if bytes > self.most {
            return Err(too_large("the edges of the commit order", bytes, self.most));
        }
        self.limit = (2 * self.packed.len()).max(1 << 12);
        Ok(())
    }

    /// The pairs, ascending.
    pub(super) fn into_edges(mut self) -> Vec<(Node, Node)> {
        self.packed.sort_unstable();
        self.packed.dedup();
        self.packed
            .into_iter()
            .map(|packed| ((packed >> 32) as Node, packed as Node))
            .collect()
    }
}
