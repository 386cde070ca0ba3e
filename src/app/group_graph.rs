//! The edges of all anomalies of a component, as one graph: shown as a matrix, and as a graph if it is not too
//! large.

use super::canvas::sketch::Sketch;
use super::page::Page;
use super::picture::ROOM;
use super::tasks::{Failure, Task};
use super::tree::Catalogue;
use crate::checkers::{Violation, ViolationId};
use crate::diagram::layout::{self, Arranged, LayoutStyle};
use crate::diagram::matrix::Table;
use crate::diagram::{Subject, diagram, operations_in};
use crate::history::{History, TransactionId};
use crate::jobs;
use crate::relations::{Edge, EdgeIndex, Relation};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of edges gathered.
const MAX_EDGES: usize = 200_000;
/// Maximum number of transactions drawn as a graph.
pub const MAX_CARDS: usize = 5_000;
/// Maximum number of transactions that are placed so that their text can be read.
const MOST_LEGIBLE: usize = 24;
/// Maximum number of transactions whose operations are drawn, with an edge each.
const MOST_WITH_ROWS: usize = 8;
/// Maximum number of edges drawn as a graph.
pub const MAX_ARROWS: usize = 10_000;

/// Transactions and the relations between them.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupGraph {
    /// The component: its number in the catalogue.
    pub of: u32,
    /// Number of listed anomalies in it.
    pub n: usize,
    /// As a table of indices in `edges`, with one edge of each relation in a cell.
    pub table: Table,
    /// As a graph, whose arrows refer to indices in `edges`; none if it has more than [`MAX_CARDS`] transactions or
    /// [`MAX_ARROWS`] edges.
    pub sketch: Option<Arc<Sketch>>,
    /// What the legend explains.
    pub relations: BTreeSet<Relation>,
    /// Each with the first anomaly that it belongs to.
    pub edges: Vec<(Edge, ViolationId)>,
    /// By anomaly: its edges.
    pub edges_of: BTreeMap<ViolationId, Vec<EdgeIndex>>,
}

/// All anomalies of the selected one's component.
#[derive(Clone, Debug, Default)]
pub struct ComponentView {
    /// Graph and matrix show all of them.
    pub whole: bool,
    /// Their edges, once requested.
    pub graph: Option<Arc<GroupGraph>>,
    /// The component for which they were requested.
    pub asked: Option<u32>,
}

impl ComponentView {
    /// Whether the edges are being gathered.
    pub fn gathers(&self) -> bool {
        self.asked.is_some() && self.graph.is_none()
    }
}

/// Gathering a component; nothing comes if the anomaly is not listed.
pub(super) static GATHER: Task<Arc<GroupGraph>> =
    Task::new("group", Failure::Page(Page::Matrix), |app, group| {
        let Some(document) = &mut app.state.document else {
            return;
        };
        if document.component.asked == Some(group.of) {
            jobs::replace(&mut document.component.graph, Some(group));
        }
    });

impl GroupGraph {
    /// Gathers the edges of the component of `of`, and draws them. O(edges · log edges), and the
    /// [layout](layout::lanes).
    pub fn new(history: &History, catalogue: &Catalogue, of: ViolationId) -> Option<GroupGraph> {
        let component = catalogue.component(of)?;
        let members: Vec<&Violation> = catalogue.of_component(component).collect();
        let gathered = Gathered::of(&members);
        let transactions: BTreeSet<TransactionId> = members
            .iter()
            .flat_map(|violation| violation.transactions.iter().copied())
            .take(MAX_CARDS)
            .collect();
        let (table, sketch) = (
            gathered.table(),
            gathered.sketch(history, &Vec::from_iter(transactions)),
        );
        let relations = gathered
            .edges
            .iter()
            .map(|(edge, _)| edge.relation)
            .collect();
        let Gathered {
            edges, edges_of, ..
        } = gathered;
        Some(GroupGraph {
            of: component,
            n: members.len(),
            table,
            sketch,
            relations,
            edges,
            edges_of,
        })
    }
}

/// Edges without duplicates.
#[derive(Default)]
struct Gathered {
    edges: Vec<(Edge, ViolationId)>,
    edges_of: BTreeMap<ViolationId, Vec<EdgeIndex>>,
    on_cycle: BTreeSet<EdgeIndex>,
}

impl Gathered {
    fn of(members: &[&Violation]) -> Gathered {
        let mut gathered = Gathered::default();
        let mut known: BTreeMap<_, EdgeIndex> = BTreeMap::new();
        for violation in members {
            let cycle = violation.proof.cycle_edges();
            for (index, edge) in violation.edges.iter().enumerate() {
                if gathered.edges.len() >= MAX_EDGES {
                    return gathered;
                }
                let next = gathered.edges.len();
                // Of a read that another anomaly is about, its own row: the same value may be read several times.
                let operations = (edge.from_operation, edge.to_operation);
                let place = *known
                    .entry((edge.from, edge.to, edge.relation, edge.key, operations))
                    .or_insert(next);
                if place == next {
                    gathered.edges.push((edge.clone(), violation.id));
                }
                gathered
                    .edges_of
                    .entry(violation.id)
                    .or_default()
                    .push(place);
                if cycle.contains(&index) {
                    gathered.on_cycle.insert(place);
                }
            }
        }
        gathered
    }

    fn table(&self) -> Table {
        let mut known = BTreeSet::new();
        let edges = self.edges.iter().enumerate();
        let distinct =
            edges.filter(|(_, (edge, _))| known.insert((edge.from, edge.to, edge.relation)));
        let distinct: Vec<_> = distinct
            .map(|(place, (edge, _))| (place, edge.from, edge.to))
            .collect();
        Table::new(distinct.into_iter())
    }

    /// With the transactions of anomalies that have no edges, too.
    fn sketch(&self, history: &History, transactions: &[TransactionId]) -> Option<Arc<Sketch>> {
        let bare: Vec<Edge> = self.edges.iter().map(|(edge, _)| edge.clone()).collect();
        let diagram = diagram(&Subject {
            history,
            transactions,
            edges: &bare,
            cycle: &self.on_cycle.iter().copied().collect::<Vec<_>>(),
            operations: &[],
            shown: &|_| true,
            all_operations: false,
            n_operations: &operations_in(history),
        });
        let diagram = match diagram.cards.len() > MOST_WITH_ROWS {
            true => diagram.bundled(),
            false => diagram,
        };
        if diagram.cards.len() > MAX_CARDS || diagram.arrows.len() > MAX_ARROWS {
            return None;
        }
        // With few cards the text is legible if they are placed for it.
        let Arranged { diagram, layout } = if diagram.cards.len() <= MOST_LEGIBLE {
            layout::arrange(&diagram, LayoutStyle::Auto, ROOM)
        } else {
            Arranged::new(&diagram, layout::lanes(&diagram))
        };
        Some(Arc::new(Sketch::new(diagram, layout)))
    }
}
