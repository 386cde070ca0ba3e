//! PolySI: snapshot isolation, and serializability, by a polygraph and a solver.
//!
//! Source: PolySI, Algorithm 1 (construct, prune, encode, solve); the variant for serializability is IsoVista's: all
//! edges alike, so a cycle of any of them counts (Papadimitriou's polygraph).
//!
//! 1. *Construct* ([`polygraph`]): SO and WR are known. For any two writers of a key there is one generalized constraint
//!    (Definition 8): either the version of the first is older, with its WW edge and the RW edges of all its readers, or
//!    that of the second. This is the paper's compaction: a constraint per pair of writers in place of one per reader.
//! 2. *Prune* ([`prune`]): a side that closes a cycle of known edges is impossible, so the other one becomes known;
//!    to a fixpoint. Both sides impossible: violated.
//! 3. *Encode and solve* ([`solve`]): a variable per constraint that is left; satisfied iff a choice of sides leaves the
//!    induced graph (SO ∪ WR ∪ WW) ; RW? acyclic (Theorem 6).
//!
//! Complexity, for n transactions, e edges and w writers of a key: construction takes O(Σ w²) constraints of 8 bytes; a
//! round of pruning O(e · n/64 + Σ w² · readers · in-degree), and there are at most as many rounds as constraints;
//! solving is exponential at worst. Reachability takes n²/4 bytes at SI, n²/8 at SER: quadratic, so beyond a limit
//! there is no answer.
//!
//! Corrected: line 26 must use *reflexive* reachability, since otherwise an anti-dependency is kept that leads back to
//! the very transaction its reader read from; and pruning goes to the fixpoint as in the paper, where its program stops
//! at 1 % gain. ⊥ precedes every session: its version is older than any other, so pairs with it are known and not
//! constraints (the program lets it come after other sessions' writes). Transactions of unknown outcome are settled
//! before (Theorem 19 is about determinate ones). If lists show an order of versions, it is known.
//!
//! Different, but equivalent: the variables of the induced graph (section 4.4) are not represented explicitly. Each
//! transaction is two vertices of the solver's graph, its start and its commit; WR, WW and SO lead from commit to
//! start, RW from start to commit, so a cycle is one of (SO ∪ WR ∪ WW) ; RW? and composing edges takes no clauses.
//!
//! The evaluation's variants (Fig. 9) leave out pruning, or pruning and compaction. The interpretation of section 5.3
//! ([`interpret`]) is given in addition to this program's own explanations; what it returns may not be a violation,
//! since Lemma 25 is false (docs/lemma-25.md), and then it says so.

mod interpret;
mod polygraph;
mod prune;
mod solve;

use isoscope_check::checkers::{Cause, Level, Order};
use isoscope_model::control::Control;
use isoscope_model::history::grouped;
use isoscope_model::relations::Index;
use polygraph::Polygraph;
use std::fmt;

pub(super) use interpret::told;

/// The result of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PolySiAnswer {
    /// A topological order of the model's graph.
    Satisfied(Order),
    /// A cycle, as edges of the graph of events. It may rest on sides that pruning made known, or, when the solver found it,
    /// be one of several that together rule out all choices.
    Violated(Vec<(u32, u32)>),
}

/// The parts of the algorithm that are used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    /// Step 2.
    pub(super) prune: bool,
    /// One constraint per pair of writers; else one for their order and one for each reader of either.
    pub(super) compact: bool,
}

/// Numbers of constraints and of the edges in them, "unknown dependencies" (Table 3), before and after pruning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    before: (usize, usize),
    after: Option<(usize, usize)>,
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sized = |(constraints, edges): (usize, usize)| {
            let (constraints, edges) = (grouped(constraints as u64), grouped(edges as u64));
            format!("constraints: {constraints}, unknown dependencies: {edges}")
        };
        let after = self.after.map_or("none pruned".to_owned(), |after| {
            format!("after pruning {}", sized(after))
        });
        write!(f, "{}; {after}", sized(self.before))
    }
}

/// Algorithm 1 for SI; any other level is taken for SER.
pub(super) fn check(
    index: &Index,
    level: Level,
    how: Variant,
    control: &Control,
) -> Result<(PolySiAnswer, Sizes), Cause> {
    let mut polygraph = Polygraph::new(index, level.has_snapshots(), control)?;
    let mut sizes = Sizes {
        before: polygraph.size(how.compact),
        after: None,
    };
    if how.prune {
        let cycle = prune::to_fixpoint(&mut polygraph, control)?;
        sizes.after = Some(polygraph.size(how.compact));
        if let Some(cycle) = cycle {
            return Ok((PolySiAnswer::Violated(cycle), sizes));
        }
    }
    Ok((solve::solve(&polygraph, how.compact, control)?, sizes))
}

#[cfg(test)]
mod tests;
