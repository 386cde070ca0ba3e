//! Why each edge is there, as data: a sentence, the same at length with the axiom, and what both mention.

use super::axioms::{self, Quotation};
use super::sentence::Sentence;
use super::sentences::{Words, at_length};
use isoscope_check::checkers::Level;
use isoscope_model::history::History;
use isoscope_model::relations::Edge;

/// Why one edge of an argument is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeReason {
    /// In plain words: a sentence with a full stop, and one more if the edge makes the difference between two orders.
    pub text: Sentence,
    /// At length: what was observed, the definition or axiom word for word, and what it says here.
    pub long: String,
    /// The definition or axiom it rests on.
    pub quotation: Quotation,
    /// The assignment of the variables in its formula: `t1 = T295, t2 = T297, t3 = T393, x = 4`; empty where it is
    /// obvious.
    pub roles: String,
}

/// The reason of each of `edges`, in an argument about `level`. O(edges · length of their reasons).
pub(super) fn reasons(history: &History, edges: &[Edge], level: Level) -> Vec<EdgeReason> {
    let words = Words::new(history, edges);
    edges
        .iter()
        .map(|edge| reason(&words, edge, level))
        .collect()
}

/// The reason of one edge.
pub(super) fn reason(words: &Words<'_>, edge: &Edge, level: Level) -> EdgeReason {
    let quotation = axioms::of_edge(edge, level);
    let text = words.reason(edge, level);
    let roles = words.roles(edge);
    EdgeReason {
        long: at_length(&text, &quotation.text(), &roles),
        text,
        quotation,
        roles,
    }
}
