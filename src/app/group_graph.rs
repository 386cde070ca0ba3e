//! The edges of all anomalies that share a root cause, as one graph: what the matrix shows of large components.

use super::tree::Catalogue;
use crate::checkers::ViolationId;
use crate::history::TransactionId;
use crate::jobs::{Job, Revision, Wake};
use crate::relations::Relation;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most edges gathered.
const MAX_EDGES: usize = 200_000;

/// What a cell shows, and what a click on it chooses.
pub type Cell = Vec<(Relation, Stands)>;

/// What a click on a cell chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// An edge of the chosen anomaly.
    Edge(usize),
    /// An anomaly that shows the relation.
    Anomaly(ViolationId),
}

/// Who depends on whom, in terms of the whole history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// In the order of the sessions; ⊥ first where it takes part.
    pub transactions: Vec<TransactionId>,
    /// By places of both ends: the relations.
    pub cells: BTreeMap<(usize, usize), Cell>,
}

/// Transactions and the relations between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupGraph {
    /// The anomaly it was made for.
    pub of: ViolationId,
    /// Number of anomalies in the group.
    pub n: usize,
    /// What is drawn.
    pub table: Table,
}

/// Starts gathering; nothing comes where the anomaly is not listed.
pub fn start(catalogue: Arc<Catalogue>, of: ViolationId, revision: Revision, wake: Wake) -> Job<Arc<GroupGraph>> {
    Job::start("group", revision, wake, move |_, outbox| {
        if let Some(graph) = GroupGraph::new(&catalogue, of) {
            outbox.send(Arc::new(graph));
        }
    })
}

impl GroupGraph {
    /// Gathers the edges of the listed anomalies of the same pattern and group as `of`. O(edges · log edges).
    pub fn new(catalogue: &Catalogue, of: ViolationId) -> Option<GroupGraph> {
        let group = catalogue.violation(of)?.group;
        let same = |id: ViolationId, other: u32| id.pattern == of.pattern && other == group;
        let members = || catalogue.findings.violations.iter().filter(|v| same(v.id, v.group));
        let edges = members().flat_map(|v| v.edges.iter().map(|edge| (edge, v.id))).take(MAX_EDGES);
        let mut transactions: BTreeSet<(bool, TransactionId)> = BTreeSet::new();
        let mut known: BTreeMap<(TransactionId, TransactionId), Cell> = BTreeMap::new();
        for (edge, id) in edges {
            transactions.extend([edge.from, edge.to].map(|t| (!t.is_initial(), t)));
            let cell = known.entry((edge.from, edge.to)).or_default();
            if cell.iter().all(|(relation, _)| *relation != edge.relation) {
                cell.push((edge.relation, Stands::Anomaly(id)));
            }
        }
        let transactions: Vec<TransactionId> = transactions.into_iter().map(|(_, t)| t).collect();
        let place: BTreeMap<TransactionId, usize> = transactions.iter().enumerate().map(|(at, &t)| (t, at)).collect();
        let cells = known.into_iter().map(|((from, to), cell)| ((place[&from], place[&to]), cell)).collect();
        Some(GroupGraph { of, n: members().count(), table: Table { transactions, cells } })
    }
}
