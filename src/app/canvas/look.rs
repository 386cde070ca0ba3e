//! What is highlighted and how things look in this frame, shared by all cards and edges.

use crate::app::picture::Picture;
use crate::app::style::Palette;
use crate::app::vocabulary::Attention;
use crate::counterexample::replay::{Action, RunStep};
use crate::diagram::{Diagram, Target};
use crate::history::{OperationId, TransactionId};
use crate::relations::{Edge, EdgeIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Everything highlighted together with what has attention.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lit {
    /// Whether anything has attention; if so, everything else is drawn paler.
    pub any: bool,
    /// Steps of the argument.
    pub steps: BTreeSet<usize>,
    /// Edges.
    pub edges: BTreeSet<EdgeIndex>,
    /// Cards.
    pub transactions: BTreeSet<TransactionId>,
    /// Rows.
    pub operations: BTreeSet<OperationId>,
    /// Transactions of the whole history that have no part in the anomaly.
    pub elsewhere: BTreeSet<TransactionId>,
}

impl Lit {
    /// What belongs to `attention` in `picture`: the step with its edges, the edge with its ends and the steps that
    /// mention it, the card with its edges.
    pub fn new(picture: &Picture, attention: Option<Attention>) -> Lit {
        let any = !matches!(
            attention,
            None | Some(Attention::Elsewhere(_) | Attention::Anomaly(_))
        );
        let mut lit = Lit {
            any,
            ..Lit::default()
        };
        let argument = &picture.argument;
        let edges = picture.edges();
        match attention {
            None | Some(Attention::Elsewhere(_) | Attention::Anomaly(_)) => {}
            Some(Attention::Step(step)) => {
                lit.steps.insert(step);
                if let Some(step) = argument.explanation.steps.get(step) {
                    step.edges.iter().for_each(|&edge| lit.edge(picture, edge));
                    lit.transactions.extend(&step.transactions);
                    lit.operations.extend(&step.operations);
                }
            }
            Some(Attention::Case(place)) => lit.case(picture, place),
            Some(Attention::Edge(edge)) => {
                lit.edge(picture, edge);
                lit.steps_about(picture, |step| step.edges.contains(&edge));
            }
            Some(Attention::Transaction(transaction)) => {
                let card = picture.sketch.diagram.together_with(transaction);
                let touches =
                    |e: &EdgeIndex| card.contains(&edges[*e].from) || card.contains(&edges[*e].to);
                // With the cards at their other ends.
                (0..edges.len()).filter(touches).for_each(|edge| {
                    lit.edges.insert(edge);
                    lit.transactions.extend([edges[edge].from, edges[edge].to]);
                });
                lit.steps_about(picture, |step| {
                    card.iter().any(|t| step.transactions.contains(t))
                });
                lit.transactions.extend(card);
            }
            Some(Attention::Operation(operation)) => {
                lit.operations.insert(operation);
                let touches = |e: &EdgeIndex| {
                    [edges[*e].from_operation, edges[*e].to_operation].contains(&Some(operation))
                };
                let touching: Vec<EdgeIndex> = (0..edges.len()).filter(touches).collect();
                touching
                    .into_iter()
                    .for_each(|edge| lit.edge(picture, edge));
                lit.transactions
                    .insert(argument.counterexample.history.transaction_of(operation));
                lit.steps_about(picture, |step| step.operations.contains(&operation));
            }
        }
        lit.spread(picture);
        lit
    }

    /// Highlights the cards of folded sessions that contain something highlighted.
    pub fn spread(&mut self, picture: &Picture) {
        let folded = picture
            .sketch
            .diagram
            .cards
            .iter()
            .filter(|card| !card.others.is_empty());
        let lit = folded.filter(|card| card.others.iter().any(|t| self.transactions.contains(t)));
        let cards: Vec<TransactionId> = lit.map(|card| card.transaction).collect();
        self.transactions.extend(cards);
    }

    fn edge(&mut self, picture: &Picture, index: EdgeIndex) {
        if let Some(edge) = picture.edges().get(index) {
            self.edges.insert(index);
            self.transactions.extend([edge.from, edge.to]);
            self.operations
                .extend(edge.from_operation.into_iter().chain(edge.to_operation));
        }
    }

    /// What a case mentions, and the cases inside it.
    fn case(&mut self, picture: &Picture, place: usize) {
        let argument = &picture.argument;
        let Some(tree) = &argument.cases else { return };
        for edge in tree.edges_of(&argument.counterexample.violation, place) {
            self.edge(picture, edge);
        }
        for read in tree.reads_of(place) {
            self.operations.insert(read);
            self.transactions
                .insert(argument.counterexample.history.transaction_of(read));
        }
    }

    fn steps_about(
        &mut self,
        picture: &Picture,
        about: impl Fn(&crate::counterexample::Step) -> bool,
    ) {
        let steps = picture.argument.explanation.steps.iter().enumerate();
        self.steps.extend(
            steps
                .filter(|(_, step)| about(step))
                .map(|(place, _)| place),
        );
    }
}

/// What a picture has room for but does not show now: not yet, or no longer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Absent {
    /// Edges.
    pub edges: BTreeSet<EdgeIndex>,
    /// Cards.
    pub transactions: BTreeSet<TransactionId>,
    /// Rows.
    pub operations: BTreeSet<OperationId>,
}

impl Absent {
    /// What has not happened yet after these steps of a run: cards without a step, rows, and edges whose ends have not
    /// happened. What follows is shown after the last scene only. O(edges · steps).
    pub fn after(picture: &Picture, steps: &[RunStep], is_last: bool) -> Absent {
        if is_last {
            return Absent::default();
        }
        let is_done = |o: &OperationId| {
            let mut actions = steps.iter().map(|step| step.action);
            actions.any(|action| action == Action::Operation(*o))
        };
        let acted =
            |t: TransactionId| t.is_initial() || steps.iter().any(|step| step.transaction == t);
        let has_happened = |edge: &Edge| {
            let end = |t, o: Option<OperationId>| o.map_or(acted(t), |o| is_done(&o));
            let is_observed = edge.because.premises().is_empty();
            is_observed && end(edge.from, edge.from_operation) && end(edge.to, edge.to_operation)
        };
        let (edges, cards) = (picture.edges(), &picture.sketch.diagram.cards);
        let rows = cards.iter().flat_map(|card| &card.rows);
        let is_to_come = |t: TransactionId| !acted(t);
        Absent {
            edges: (0..edges.len())
                .filter(|&edge| !has_happened(&edges[edge]))
                .collect(),
            transactions: cards
                .iter()
                .filter(|card| card.transactions().all(is_to_come))
                .map(|card| card.transaction)
                .collect(),
            operations: rows
                .map(|row| row.operation)
                .filter(|o| !is_done(o))
                .collect(),
        }
    }
}

/// Opacity of a thing that the picture has room for but does not show now.
const ABSENT: f32 = 0.13;

/// Which edges are drawn thick and in full colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// Those on the cycle.
    #[default]
    OfCycle,
    /// Those that are highlighted: in a picture of several anomalies each edge may be on some cycle.
    OfLit,
}

/// How things look in this frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// By edge of a graph: how many times as large its label can be drawn without covering others.
    pub growth: Arc<BTreeMap<EdgeIndex, f32>>,
    /// Colours of surfaces.
    pub palette: Palette,
    /// What is highlighted.
    pub lit: Lit,
    /// What is not present now.
    pub absent: Absent,
    /// Edges that are not drawn.
    pub hidden: BTreeSet<EdgeIndex>,
    /// Rows that are impossible.
    pub wrong: BTreeSet<OperationId>,
    /// Transactions selected for a what-if.
    pub chosen: BTreeSet<TransactionId>,
    /// Transactions that the user marked.
    pub marked: BTreeSet<TransactionId>,
    /// Opacity of what is not highlighted: higher while the pointer only passes by.
    pub pale: f32,
    /// Which edges are thick.
    pub weight: Weight,
    /// Opacity of everything: lower for a picture that is being replaced.
    pub opacity: f32,
}

impl Default for Look {
    fn default() -> Look {
        Look {
            growth: Arc::default(),
            palette: crate::app::style::DARK,
            lit: Lit::default(),
            absent: Absent::default(),
            wrong: BTreeSet::new(),
            hidden: BTreeSet::new(),
            chosen: BTreeSet::new(),
            marked: BTreeSet::new(),
            pale: 0.4,
            weight: Weight::OfCycle,
            opacity: 1.0,
        }
    }
}

impl Look {
    /// Says of an arrow what is said of the other edges that it draws, and of a card what is said of the other transactions.
    /// O(arrows + cards).
    pub(super) fn spread(&mut self, diagram: &Diagram) {
        let arrows = diagram.arrows.iter();
        for arrow in arrows.filter(|arrow| !arrow.also.is_empty()) {
            if arrow.also.iter().any(|edge| self.lit.edges.contains(edge)) {
                self.lit.edges.insert(arrow.edge);
            }
            if !arrow
                .also
                .iter()
                .all(|edge| self.absent.edges.contains(edge))
            {
                self.absent.edges.remove(&arrow.edge);
            }
        }
        let cards = diagram.cards.iter();
        for card in cards.filter(|card| !card.others.is_empty()) {
            for set in [&mut self.chosen, &mut self.marked] {
                if card.others.iter().any(|t| set.contains(t)) {
                    set.insert(card.transaction);
                }
            }
        }
    }

    /// Whether this is not drawn.
    pub fn is_hidden(&self, target: Target) -> bool {
        matches!(target, Target::Edge(edge) if self.hidden.contains(&edge))
    }

    /// Whether the picture has room for this but does not show it now.
    pub fn is_absent(&self, target: Target) -> bool {
        match target {
            Target::Transaction(t) => self.absent.transactions.contains(&t),
            Target::Operation(o) => self.absent.operations.contains(&o),
            Target::Edge(e) => self.absent.edges.contains(&e),
            Target::Elsewhere(_) | Target::Several(..) => false,
        }
    }

    /// Whether this is highlighted.
    pub fn is_lit(&self, target: Target) -> bool {
        match target {
            Target::Transaction(t) => self.lit.transactions.contains(&t),
            Target::Operation(o) => self.lit.operations.contains(&o),
            Target::Edge(e) => self.lit.edges.contains(&e),
            Target::Elsewhere(t) => self.lit.elsewhere.contains(&t),
            Target::Several(..) => false,
        }
    }

    /// Opacity of something that is highlighted or not.
    pub fn strength(&self, lit: bool) -> f32 {
        if self.lit.any && !lit {
            self.pale * self.opacity
        } else {
            self.opacity
        }
    }

    /// Opacity of something that is present or not, and highlighted or not.
    pub fn strength_of(&self, absent: bool, lit: bool) -> f32 {
        if absent {
            ABSENT * self.opacity
        } else {
            self.strength(lit)
        }
    }

    /// Opacity of a card or an edge.
    pub fn strength_of_target(&self, target: Target) -> f32 {
        self.strength_of(self.is_absent(target), self.is_lit(target))
    }
}
