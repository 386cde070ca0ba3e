//! A tree of cases, as data.

use super::rests_on::{evidence, read_from};
use super::sentence::Sentence;
use super::statement::CaseLabel;
use isoscope_check::checkers::{Pattern, Question, Supposed, Violation};
use isoscope_model::history::OperationId;
use isoscope_model::relations::{Edge, EdgeIndex, Reason};
use std::collections::BTreeSet;

/// A case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseNode {
    /// `1`, `1.2`; empty at the root.
    pub label: CaseLabel,
    /// The enclosing case, a place in [`CaseTree::nodes`].
    pub parent: Option<usize>,
    /// What is assumed in addition to the assumptions of the enclosing cases: nothing at the root.
    pub supposes: Option<Supposed>,
    /// What is open; nothing where the case ends.
    pub open: Option<Question>,
    /// The cases inside it, in order of telling.
    pub children: Vec<usize>,
    /// Where the case ends in a cycle: its edges, each ends where the next begins.
    pub cycle: Vec<EdgeIndex>,
    /// Where it ends in impossible reads: these.
    pub reads: Vec<(Pattern, OperationId)>,
    /// Edges of the violation that the end of this case rests on, the cycle included, ascending; empty where it goes
    /// on.
    pub edges: Vec<EdgeIndex>,
    /// "Suppose that T1's version of key 4 is older than T2's." or what is open at the root; whole sentences.
    pub text: Sentence,
}

/// A tree of cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseTree {
    /// The root first, every case after its enclosing one.
    pub nodes: Vec<CaseNode>,
}

impl CaseTree {
    /// The cases that are not divided further, in order of telling.
    pub fn leaves(&self) -> impl Iterator<Item = &CaseNode> {
        self.nodes.iter().filter(|node| node.open.is_none())
    }

    /// The case and those inside it, in order of telling.
    pub fn in_order(&self, place: usize) -> Vec<usize> {
        let mut inside = Vec::new();
        let mut open = vec![place];
        while let Some((place, node)) = open
            .pop()
            .and_then(|place| Some((place, self.nodes.get(place)?)))
        {
            inside.push(place);
            open.extend(node.children.iter().rev());
        }
        inside
    }

    fn inside(&self, place: usize) -> Vec<&CaseNode> {
        self.in_order(place)
            .into_iter()
            .map(|place| &self.nodes[place])
            .collect()
    }

    /// The cases around a case, itself first and the root last.
    pub fn around(&self, place: usize) -> Vec<usize> {
        std::iter::successors(Some(place), |&place| self.nodes.get(place)?.parent).collect()
    }

    /// All edges that a case and those inside it mention: what their ends rest on, and what is supposed there and in
    /// the enclosing cases. O(nodes · edges).
    pub fn edges_of(&self, violation: &Violation, place: usize) -> BTreeSet<EdgeIndex> {
        let edges = &violation.edges;
        let around = self
            .around(place)
            .into_iter()
            .filter_map(|place| self.nodes.get(place));
        let mut of_case = BTreeSet::new();
        for node in around.chain(self.inside(place)) {
            match node.supposes {
                None | Some(Supposed::Outcome { .. }) => {}
                Some(Supposed::Order(edge)) => drop(of_case.insert(edge)),
                Some(Supposed::Writer { read, writer }) => {
                    of_case.extend(read_from(edges, writer, Some(read)));
                }
                Some(Supposed::Append { read, append, .. }) => {
                    let tells = |e: &Edge| {
                        e.because == Reason::Reads
                            && e.from_operation == Some(append)
                            && e.to_operation == Some(read)
                    };
                    of_case.extend(edges.iter().position(tells));
                }
            }
        }
        of_case.extend(self.inside(place).iter().flat_map(|node| &node.edges));
        let reads: Vec<EdgeIndex> = of_case
            .iter()
            .filter_map(|&e| evidence(edges, edges.get(e)?))
            .collect();
        of_case.extend(reads);
        of_case
    }

    /// The edges of the cycles in which a case and those inside it end, ascending.
    pub fn cycles_of(&self, place: usize) -> Vec<EdgeIndex> {
        let edges: BTreeSet<EdgeIndex> = self
            .inside(place)
            .iter()
            .flat_map(|node| &node.cycle)
            .copied()
            .collect();
        edges.into_iter().collect()
    }

    /// The wrong reads in which a case and those inside it end, and the reads whose writers are open around it,
    /// ascending.
    pub fn reads_of(&self, place: usize) -> Vec<OperationId> {
        let ends = self.inside(place);
        let around = self.around(place).into_iter();
        let around = around.filter_map(|place| self.nodes.get(place)?.supposes?.read());
        let reads: BTreeSet<OperationId> = ends
            .iter()
            .flat_map(|node| &node.reads)
            .map(|&(_, read)| read)
            .chain(around)
            .collect();
        reads.into_iter().collect()
    }
}
