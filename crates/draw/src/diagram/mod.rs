//! What to draw and where.
//!
//! [`Diagram`] says what is drawn of an anomaly: lanes, cards with operation rows, edges that land on rows.
//! [`layout::Layout`] says where. [`sequence`] draws the same anomaly over time, [`lanes`] it in the whole history,
//! [`matrix`] as a table, [`versions`] one of its keys. All become a [`scene::Scene`]: shapes with roles and targets, the same for canvas, SVG and PNG. Geometry is `emath`; colours are
//! in [`theme`] only. This module does not know checkers, counterexamples, widgets or files.

mod build;
pub mod color_vision;
mod faults;
mod fold;
pub mod lanes;
pub mod layout;
pub mod linear;
pub mod matrix;
pub mod path;
pub mod scene;
pub mod sequence;
pub mod text_size;
pub mod theme;
pub mod timeline;
pub mod versions;

pub use build::{Subject, diagram, operations_in};

use isoscope_model::history::{OperationId, Renaming, SessionId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex, Relation};

/// Why an operation row is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowRole {
    /// An edge or the argument is about it.
    Involved,
    /// Shown for context.
    Context,
}

/// One operation inside a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The operation.
    pub operation: OperationId,
    /// `r(x) = 3`.
    pub text: String,
    /// Where the value begins in it: the parts before and after are shortened separately.
    pub value_at: usize,
    /// The text unshortened, for hover.
    pub full: String,
    /// "line 7381", empty when unknown.
    pub place: String,
    /// Why it is shown.
    pub role: RowRole,
    /// Of a read that proves an arrow none of whose ends is on its card: the arrow's numbers and relation.
    pub proves: Option<(Vec<usize>, Relation)>,
}

/// One transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// The transaction; ⊥ has a card in a lane of its own when an edge touches it.
    pub transaction: TransactionId,
    /// Its lane: index into [`Diagram::lanes`].
    pub lane: usize,
    /// `T295`.
    pub title: String,
    /// `committed`, `aborted`, `outcome unknown`, `initial state`.
    pub status: String,
    /// The operations shown, in program order.
    pub rows: Vec<Row>,
    /// How many operations are not shown.
    pub folded: usize,
    /// The other transactions that it represents, if a session is [folded](Diagram::folded) into one card.
    pub others: Vec<TransactionId>,
}

/// A session column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The session; none for the initial state.
    pub session: Option<SessionId>,
    /// `session 2`.
    pub title: String,
}

/// The role of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Emphasis {
    /// On the contradicting cycle.
    Cycle,
    /// Evidence for another edge.
    Evidence,
    /// The order that was ruled out, or what would have followed from it.
    Rejected,
}

/// Under which condition an edge is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// It is supposed, or concluded where something is: in a case only.
    If,
    /// It would follow from an order that was ruled out.
    Then,
}

/// An edge between cards; it lands on rows if it is about operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The edge of the violation it draws.
    pub edge: EdgeIndex,
    /// Other edges of the same list that say the same.
    pub also: Vec<EdgeIndex>,
    /// The numbers of the lines of the argument that mention it: several if each of several cases concludes it.
    pub numbers: Vec<usize>,
    /// Index of the source in [`Diagram::cards`].
    pub from: usize,
    /// Row of the source card it leaves, else the card itself.
    pub from_row: Option<usize>,
    /// Index of the target in [`Diagram::cards`].
    pub to: usize,
    /// Row of the target card it lands on, else the card itself.
    pub to_row: Option<usize>,
    /// Its relation: colour, dash, letters.
    pub relation: Relation,
    /// `WR 4`; SO has a label too.
    pub label: String,
    /// The condition under which it is there, if it is not there in any case.
    pub condition: Option<Condition>,
    /// Whether it makes the difference between two orders.
    pub is_decisive: bool,
    /// Its role in the argument.
    pub emphasis: Emphasis,
}

impl Arrow {
    /// Its label with its condition, and marked if it is decisive: `if WR 4 *`.
    pub fn text(&self) -> String {
        let condition = match self.condition {
            Some(Condition::If) => "if ",
            Some(Condition::Then) => "then ",
            None => "",
        };
        let mark = if self.is_decisive { " *" } else { "" };
        format!("{condition}{}{mark}", self.label)
    }

    /// The same without a value, which its rows have, too: `WR 4` for `WR 4 = 1`.
    pub fn brief(&self) -> String {
        let text = self.text();
        let brief = text.split_once(" = ").map(|(key, _)| key.to_owned());
        brief.unwrap_or(text)
    }
}

/// What is drawn. Lanes in session order, cards by (lane, session order), arrows by edge index: no hash order anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagram {
    /// Session columns, left to right.
    pub lanes: Vec<Lane>,
    /// Transactions.
    pub cards: Vec<Card>,
    /// Edges.
    pub arrows: Vec<Arrow>,
}

/// What a point of a picture represents; hover, click and SVG tooltips share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A card.
    Transaction(TransactionId),
    /// A row of a card.
    Operation(OperationId),
    /// An arrow.
    Edge(EdgeIndex),
    /// A transaction of the whole history that has no part in the anomaly.
    Elsewhere(TransactionId),
    /// Several transactions of the whole history drawn together: the first, and how many.
    Several(TransactionId, usize),
}

/// An anomaly, for pictures of the whole history that show it.
#[derive(Clone, Debug)]
pub struct Anomaly<'a> {
    /// How its transactions are called in the whole history.
    pub renaming: &'a Renaming,
    /// Its edges, by index.
    pub edges: &'a [Edge],
    /// Those that are drawn.
    pub arrows: Vec<&'a Arrow>,
}

impl Anomaly<'_> {
    /// What a transaction of the whole history is in a picture. O(log transactions).
    pub fn target(anomaly: Option<&Anomaly<'_>>, whole: TransactionId) -> Target {
        let own = anomaly.and_then(|anomaly| anomaly.renaming.new_transaction(whole));
        own.map_or(Target::Elsewhere(whole), Target::Transaction)
    }
}
