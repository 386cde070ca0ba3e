//! What a picture shows of an anomaly: its graph, its sessions on a time axis, who depends on whom as a table, or the
//! versions of one of its keys.

use emath::vec2;
use isoscope_check::checkers::Violation;
use isoscope_draw::diagram::layout::{MAX_TITLE_COLUMNS, SMALL_FONT};
use isoscope_draw::diagram::matrix::{self, Content, Entry, Measure, Table};
use isoscope_draw::diagram::scene::{Align, Scene};
use isoscope_draw::diagram::text_size::{elide, printable};
use isoscope_draw::diagram::theme::Role;
use isoscope_draw::diagram::versions::{self, Chain};
use isoscope_draw::diagram::{Anomaly, Arrow, Diagram, sequence};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId, TransactionId};
use isoscope_model::relations;
use isoscope_tell::counterexample::Counterexample;
use std::sync::Arc;

/// Width between the margins of a page.
pub(super) const PAGE_CONTENT: f32 = 940.0;
/// Height of a cell of a matrix on a page.
const CELL: f32 = 104.0;
/// Maximum number of versions on a page: more would be too small to read.
const VERSIONS: usize = 6;

/// What a picture shows.
#[derive(Clone, Debug, Default)]
pub enum View {
    /// The dependency graph.
    #[default]
    Graph,
    /// The sessions of the anomaly over time.
    Lanes,
    /// Which transaction depends on which, as a table.
    Matrix,
    /// The versions of a key.
    Key(Arc<Chain>),
}

impl View {
    /// The versions of a key, and what a violation forces. O(operations · log versions).
    pub fn key(
        whole: &History,
        key: KeyId,
        violation: &Violation,
        control: &Control,
    ) -> Result<View, Interrupt> {
        let chain = Chain::new(
            whole,
            &relations::resolve(whole, control)?,
            key,
            &violation.edges,
            control,
        )?;
        Ok(View::Key(Arc::new(chain)))
    }

    /// The scene, unless it is that of the graph.
    pub(super) fn scene(
        &self,
        example: &Counterexample,
        whole: &History,
        diagram: &Diagram,
    ) -> Option<Scene> {
        let anomaly = anomaly(example, diagram, |_| true);
        match self {
            View::Graph => None,
            View::Lanes => Some(sequence::scene(diagram, &example.history, whole)),
            View::Matrix => Some(table(diagram, &example.history)),
            View::Key(chain) => {
                let places = versions::places(whole, chain, &anomaly, VERSIONS);
                let mut scene =
                    versions::scene(whole, chain, Some(&anomaly), &places, versions::WHOLE);
                let name = elide(&whole.key_name(chain.key), MAX_TITLE_COLUMNS);
                let title = format!("versions of key {name}, {}", chain.basis());
                scene.bounds.min.y -= 26.0;
                let at = scene.bounds.min + vec2(6.0, 8.0);
                scene.text((at, Align::Left), SMALL_FONT, title, Role::Legend, None);
                Some(scene)
            }
        }
    }
}

/// The arrows of a diagram of `history` as a table that is as wide as a page.
fn table(diagram: &Diagram, history: &History) -> Scene {
    let name = |t: TransactionId| printable(&history.transaction_name(t));
    let (table, entry) = (Table::of(diagram), |place: usize| {
        Some(Entry::of(diagram, place))
    });
    let content = Content {
        table: &table,
        name: &name,
        entry: &entry,
    };
    let fullest = table.cells.values().map(Vec::len).max().unwrap_or(1);
    let height = CELL.max(fullest as f32 * CELL / 2.0) * table.transactions.len() as f32;
    let measure = Measure::new(&content, vec2(PAGE_CONTENT, height));
    matrix::scene(&content, &measure, &measure.all())
}

/// A counterexample for pictures of the whole history, with those arrows of its diagram that are shown.
pub fn anomaly<'a>(
    example: &'a Counterexample,
    diagram: &'a Diagram,
    is_shown: impl Fn(&Arrow) -> bool,
) -> Anomaly<'a> {
    let arrows = diagram
        .arrows
        .iter()
        .filter(|arrow| is_shown(arrow))
        .collect();
    Anomaly {
        renaming: &example.renaming,
        edges: &example.violation.edges,
        arrows,
    }
}

/// The keys that a violation is about, the main one first.
pub fn keys_of(violation: &Violation, history: &History) -> Vec<KeyId> {
    let mut keys: Vec<KeyId> = violation.key.into_iter().collect();
    let mut of_edges: Vec<KeyId> = violation.edges.iter().filter_map(|edge| edge.key).collect();
    of_edges.sort_unstable();
    let of_operations = violation
        .operations
        .iter()
        .map(|&operation| history.operation(operation).key);
    for key in of_edges.into_iter().chain(of_operations) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}
