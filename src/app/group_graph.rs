//! The edges of all anomalies that share a root cause, as one graph: what the matrix shows of large components.

use super::tree::Catalogue;
use crate::checkers::ViolationId;
use crate::history::TransactionId;
use crate::relations::Relation;
use std::collections::{BTreeMap, BTreeSet};

/// Most edges gathered.
const MAX_EDGES: usize = 200_000;

/// Transactions and the relations between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupGraph {
    /// The anomaly it was made for.
    pub of: ViolationId,
    /// Number of anomalies in the group.
    pub n: usize,
    /// In the order of the sessions; ⊥ first where it takes part.
    pub transactions: Vec<TransactionId>,
    /// By places of both ends: the relations, each with an anomaly that shows it.
    pub cells: BTreeMap<(usize, usize), Vec<(Relation, ViolationId)>>,
}

impl GroupGraph {
    /// Gathers the edges of the listed anomalies of the same pattern and group as `of`. O(edges · log edges).
    pub fn new(catalogue: &Catalogue, of: ViolationId) -> Option<GroupGraph> {
        let group = catalogue.violation(of)?.group;
        let same = |id: ViolationId, other: u32| id.pattern == of.pattern && other == group;
        let members = || catalogue.findings.violations.iter().filter(|v| same(v.id, v.group));
        let edges = members().flat_map(|v| v.edges.iter().map(|edge| (edge, v.id))).take(MAX_EDGES);
        let mut transactions: BTreeSet<(bool, TransactionId)> = BTreeSet::new();
        let mut known: BTreeMap<(TransactionId, TransactionId), Vec<(Relation, ViolationId)>> = BTreeMap::new();
        for (edge, id) in edges {
            transactions.extend([edge.from, edge.to].map(|t| (!t.is_initial(), t)));
            let cell = known.entry((edge.from, edge.to)).or_default();
            if cell.iter().all(|(relation, _)| *relation != edge.relation) {
                cell.push((edge.relation, id));
            }
        }
        let transactions: Vec<TransactionId> = transactions.into_iter().map(|(_, t)| t).collect();
        let place: BTreeMap<TransactionId, usize> = transactions.iter().enumerate().map(|(at, &t)| (t, at)).collect();
        let cells = known.into_iter().map(|((from, to), cell)| ((place[&from], place[&to]), cell)).collect();
        Some(GroupGraph { of, n: members().count(), transactions, cells })
    }
}
