//! Which transactions precede which in the transitive closure of a relation, in the three ways that Plume evaluates
//! (section 5.5.4): vector clocks, tree clocks, plain depth-first search.
//!
//! Corrected: clocks are computed along a topological order of the components, each from the finished clocks of its
//! predecessors. Plume propagates changes downstream instead, so a clock may grow after it was copied; vectors allow
//! that, tree clocks do not.

use super::most_at_once;
use super::search::{Fixed, FixedEndSearch};
use super::tree_clock::TreeClocks;
use super::vectors::Vectors;
use isoscope_check::checkers::Cause;
use isoscope_model::control::Control;
use isoscope_model::graph::{Components, Digraph, strong_components};
use isoscope_model::relations::{Index, Node};

/// Memory allowed for the clocks of one relation if the user sets no limit; an algorithm keeps those of two.
const CLOCK_BYTES: u64 = 1 << 30;

/// How to determine which transactions precede which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reachability {
    /// A number per component and session.
    Vectors,
    /// The same numbers in trees, so that joins skip what is already known.
    TreeClocks,
    /// No memory: searches.
    Search,
}

/// The transitive closure of a relation on transactions.
pub(super) struct Order<'a> {
    index: &'a Index,
    components: Components,
    reach: Reach<'a>,
}

enum Reach<'a> {
    Vectors(Vectors),
    TreeClocks(TreeClocks),
    Search(Box<FixedEndSearch<'a>>),
}

impl<'a> Order<'a> {
    /// The closure of `graph`, which contains session order; a vertex after the nodes of the index represents ⊥.
    ///
    /// Vectors: O((n + edges) · sessions) time, 4 bytes per component and session. Tree clocks: as much in the worst
    /// case, 24 bytes per component and session. Search: O(n + edges) now and per change of the fixed end.
    pub(super) fn new(
        graph: &'a Digraph,
        index: &'a Index,
        means: Reachability,
        control: &Control,
    ) -> Result<Order<'a>, Cause> {
        let components = strong_components(graph);
        let most = most_at_once(CLOCK_BYTES, control);
        let reach = match means {
            Reachability::Vectors => {
                Reach::Vectors(Vectors::new(graph, &components, index, most, control)?)
            }
            Reachability::TreeClocks => {
                Reach::TreeClocks(TreeClocks::new(graph, &components, index, most, control)?)
            }
            Reachability::Search => Reach::Search(Box::new(FixedEndSearch::new(graph))),
        };
        Ok(Order {
            index,
            components,
            reach,
        })
    }

    /// Whether a path leads from `a` to another node `b`.
    #[inline]
    pub(super) fn precedes(&mut self, a: Node, b: Node, fixed: Fixed) -> bool {
        if self.components.share_cycle(a, b) {
            return true;
        }
        let session = self.index.session[a as usize];
        let component = self.components.component[b as usize];
        match &mut self.reach {
            Reach::Vectors(vectors) => vectors.count(component, session) > self.index.position(a),
            Reach::TreeClocks(clocks) => clocks.count(component, session) > self.index.position(a),
            Reach::Search(search) => search.reaches(a, b, fixed),
        }
    }

    /// Whether a question costs no search.
    pub(super) fn is_cheap(&self) -> bool {
        !matches!(self.reach, Reach::Search(_))
    }
}
