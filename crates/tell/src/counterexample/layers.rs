//! How an argument is built, as layers to be played one after another: contradiction, support, alternatives, argument.
//!
//! The steps are those of PolySI (section 5.3 and Fig. 4: recover, restore, resolve, reduce), not its method, which guesses (and whose lemma on
//! complete sets of cycles does not hold, see docs/lemma-25.md): everything here is read off a proof. *Recover* shows
//! the bare contradiction, *restore* what it rests on, *resolve* why each inferred order cannot be reversed, *reduce*
//! removes everything that is no longer needed.

use super::sentence::Sentence;
use super::sentences::{Speaker, Words, captions};
use super::{Counterexample, edges_to_draw, involved_operations};
use isoscope_check::checkers::{Proof, Violation};
use isoscope_model::history::{OperationId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex, Reason, Relation};
use std::collections::BTreeSet;

/// The kinds of layers, in the order in which they are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// The cycles (or the wrong reads) alone.
    Recover,
    /// What each of their edges rests on.
    Restore,
    /// For each inferred order its reverse, with the cycle that it would close.
    Resolve,
    /// Without what was only there to be ruled out.
    Reduce,
}

impl LayerKind {
    /// One word for headings.
    pub fn word(self) -> &'static str {
        match self {
            LayerKind::Recover => "contradiction",
            LayerKind::Restore => "evidence",
            LayerKind::Resolve => "other orders",
            LayerKind::Reduce => "argument",
        }
    }

    /// What it does and why, in one sentence with a full stop.
    pub fn meaning(self) -> &'static str {
        match self {
            LayerKind::Recover => {
                "First the contradiction alone: what cannot all be true together."
            }
            LayerKind::Restore => {
                "Then what it rests on: an inferred edge convinces only with the observations behind it."
            }
            LayerKind::Resolve => "The opposite order fails as well.",
            LayerKind::Reduce => "What remains is the proof.",
        }
    }
}

/// One layer of the picture. Everything is in terms of the counterexample's history and of [`Interpretation::edges`];
/// lists are ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Which one.
    pub kind: LayerKind,
    /// What it shows, in whole sentences.
    pub caption: Sentence,
    /// What is shown once it has been played.
    pub shown: VisibleParts,
    /// Edges of which both directions stay open: they are explained case by case.
    pub open: Vec<EdgeIndex>,
}

/// An inferred order and why it cannot be reversed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The edge that holds.
    pub instead_of: EdgeIndex,
    /// Its reverse (reason [`Assumed`](Reason::Assumed)), which does not hold.
    pub edge: EdgeIndex,
    /// The cycle that it would close, beginning with it; empty where an observation contradicts it directly.
    pub cycle: Vec<EdgeIndex>,
    /// Why it does not hold, in one sentence with a full stop.
    pub text: Sentence,
}

/// A counterexample as it is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpretation {
    /// First the edges of the violation, at their own places; then rejected orders and what follows from them.
    pub edges: Vec<Edge>,
    /// The rejected orders, in the order of the edges they are rejected for.
    pub alternatives: Vec<Alternative>,
    /// The layers, in the order of [`LayerKind`]; one that would change nothing is left out. After the last one exactly
    /// the argument is shown.
    pub layers: Vec<Layer>,
}

/// The parts of a picture that are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisibleParts {
    /// Transactions, ⊥ included.
    pub transactions: BTreeSet<TransactionId>,
    /// Operations.
    pub operations: BTreeSet<OperationId>,
    /// Edges, places in [`Interpretation::edges`].
    pub edges: BTreeSet<EdgeIndex>,
}

impl Interpretation {
    /// What is shown after the layers up to and including `place`, or after the last one.
    pub fn shown(&self, place: usize) -> VisibleParts {
        let last = self.layers.iter().take(place + 1).next_back();
        last.map(|layer| layer.shown.clone()).unwrap_or_default()
    }
}

/// The layers of a counterexample. O(edges · length of their reasons).
pub fn interpret(example: &Counterexample) -> Interpretation {
    let violation = &example.violation;
    let mut edges = violation.edges.clone();
    let needed: BTreeSet<EdgeIndex> = edges_to_draw(violation);
    let alternatives = alternatives(example, &mut edges, &needed);
    let mut play = Play {
        example,
        edges: &edges,
        shown: VisibleParts::default(),
        layers: Vec::new(),
    };
    play.recover();
    play.restore(&needed);
    play.resolve(&alternatives, &needed);
    play.reduce(&needed);
    let layers = play.layers;
    Interpretation {
        edges,
        alternatives,
        layers,
    }
}

/// Rejected orders of the inferred edges among `needed`; they and what follows from them are appended to `edges`.
fn alternatives(
    example: &Counterexample,
    edges: &mut Vec<Edge>,
    needed: &BTreeSet<EdgeIndex>,
) -> Vec<Alternative> {
    let mut alternatives = Vec::new();
    for &index in needed {
        let held = edges[index].clone();
        if held.from.is_initial() || held.to.is_initial() {
            continue;
        }
        let opposite = edges.len();
        let rejected = Edge {
            from: held.to,
            to: held.from,
            relation: held.relation,
            key: held.key,
            from_operation: held.to_operation,
            to_operation: held.from_operation,
            because: Reason::Assumed,
        };
        let cycle = match &held.because {
            Reason::Visible {
                reader, read, seen, ..
            } => {
                edges.push(rejected);
                // t3 read t1's version; if t2's were newer, t3 would not have seen t2.
                edges.push(Edge {
                    from: *reader,
                    to: held.from,
                    relation: Relation::AntiDependency,
                    key: held.key,
                    from_operation: Some(*read),
                    to_operation: held.from_operation,
                    because: Reason::Overwrites {
                        writer: held.to,
                        order: vec![opposite],
                    },
                });
                [opposite + 1]
                    .into_iter()
                    .chain(seen.iter().copied())
                    .collect()
            }
            Reason::ReadModifyWrite { read } => {
                edges.push(rejected);
                vec![opposite, *read]
            }
            Reason::Conflict { order } => {
                edges.push(rejected);
                [opposite]
                    .into_iter()
                    .chain(order.iter().copied())
                    .collect()
            }
            Reason::Listed { .. } => {
                edges.push(rejected);
                Vec::new()
            }
            Reason::SessionOrder | Reason::Reads | Reason::Overwrites { .. } | Reason::Assumed => {
                continue;
            }
        };
        let text = captions::rejection(&Words::new(&example.history, edges), &held, &cycle);
        alternatives.push(Alternative {
            instead_of: index,
            edge: opposite,
            cycle,
            text,
        });
    }
    alternatives
}

/// Plays layer by layer.
struct Play<'a> {
    example: &'a Counterexample,
    edges: &'a [Edge],
    shown: VisibleParts,
    layers: Vec<Layer>,
}

impl Play<'_> {
    fn violation(&self) -> &Violation {
        &self.example.violation
    }

    /// What these edges touch.
    fn around(&self, edges: &BTreeSet<EdgeIndex>) -> VisibleParts {
        let mut shown = VisibleParts {
            edges: edges.clone(),
            ..VisibleParts::default()
        };
        for edge in edges.iter().filter_map(|&e| self.edges.get(e)) {
            shown.transactions.extend([edge.from, edge.to]);
            shown
                .operations
                .extend(edge.from_operation.into_iter().chain(edge.to_operation));
            if let Reason::Visible { reader, read, .. } | Reason::Listed { reader, read } =
                edge.because
            {
                shown.transactions.insert(reader);
                shown.operations.insert(read);
            }
        }
        shown
    }

    /// Adds the layer that leads from what is shown to `next`.
    fn layer(
        &mut self,
        kind: LayerKind,
        caption: Sentence,
        next: VisibleParts,
        open: Vec<EdgeIndex>,
    ) {
        let changes_nothing = self.shown == next && open.is_empty();
        if !changes_nothing || kind == LayerKind::Recover {
            self.layers.push(Layer {
                kind,
                caption,
                shown: next.clone(),
                open,
            });
        }
        self.shown = next;
    }

    fn recover(&mut self) {
        let violation = self.violation();
        let words = Words::new(&self.example.history, self.edges);
        let drawn = edges_to_draw(violation);
        let cycle: BTreeSet<EdgeIndex> = violation
            .proof
            .cycle_edges()
            .into_iter()
            .filter(|e| drawn.contains(e))
            .collect();
        let mut next = self.around(&cycle);
        match &violation.proof {
            Proof::Reads(_) => next.operations.extend(involved_operations(violation)),
            Proof::Cycle(_) => {}
            Proof::Cases { question, .. } => next.operations.extend(question.read()),
            Proof::Log { .. } => next.operations.extend(violation.proof.reads()),
        }
        let caption = Speaker {
            words: &words,
            violation,
        }
        .contradiction();
        let history = &self.example.history;
        let touched: Vec<TransactionId> = next
            .operations
            .iter()
            .map(|&o| history.transaction_of(o))
            .collect();
        next.transactions.extend(touched);
        self.layer(LayerKind::Recover, caption, next, Vec::new());
    }

    fn restore(&mut self, needed: &BTreeSet<EdgeIndex>) {
        let next = self.argument(needed);
        let n_new = next.edges.difference(&self.shown.edges).count();
        self.layer(
            LayerKind::Restore,
            captions::rests_on(n_new),
            next,
            Vec::new(),
        );
    }

    fn resolve(&mut self, alternatives: &[Alternative], needed: &BTreeSet<EdgeIndex>) {
        let mut edges = self.shown.edges.clone();
        for alternative in alternatives {
            edges.insert(alternative.edge);
            edges.extend(&alternative.cycle);
        }
        let is_open = |e: &EdgeIndex| self.edges[*e].because == Reason::Assumed;
        let open: Vec<EdgeIndex> = needed.iter().copied().filter(is_open).collect();
        let mut next = self.around(&edges);
        next.transactions.extend(&self.shown.transactions);
        next.operations.extend(&self.shown.operations);
        let excluded = alternatives
            .iter()
            .map(|alternative| alternative.text.clone());
        let stays_open = (!open.is_empty()).then(|| captions::STAYS_OPEN.into());
        let caption = Sentence::join(excluded.chain(stays_open), " ");
        self.layer(LayerKind::Resolve, caption, next, open);
    }

    fn reduce(&mut self, needed: &BTreeSet<EdgeIndex>) {
        let next = self.argument(needed);
        if next == self.shown {
            return;
        }
        let n = next.transactions.iter().filter(|t| !t.is_initial()).count();
        let caption = captions::left(
            n,
            self.example
                .minimality
                .passes_without_any()
                .then_some(self.example.level),
        );
        self.layer(LayerKind::Reduce, caption, next, Vec::new());
    }

    /// The whole argument, as drawn.
    fn argument(&self, needed: &BTreeSet<EdgeIndex>) -> VisibleParts {
        let violation = self.violation();
        let mut shown = self.around(needed);
        if needed.len() == violation.edges.len() {
            shown.transactions.extend(&violation.transactions);
            shown.operations.extend(involved_operations(violation));
            let history = &self.example.history;
            let touched: Vec<TransactionId> = shown
                .operations
                .iter()
                .map(|&o| history.transaction_of(o))
                .collect();
            shown.transactions.extend(touched);
        }
        shown
    }
}
