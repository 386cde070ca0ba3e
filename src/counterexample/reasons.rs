//! Why each edge is there, as data: a sentence, the same at length with the axiom, and what both mention.

use super::axioms::{self, Quotation};
use super::sentences::{Words, at_length};
use crate::checkers::Level;
use crate::history::{History, OperationId, TransactionId};
use crate::relations::{Edge, EdgeIndex, Reason};

/// Why one edge of an argument is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeReason {
    /// One sentence, in plain words, with a full stop.
    pub short: String,
    /// The same at length: what was observed, the definition or axiom word for word, and what it says here.
    pub long: String,
    /// The definition or axiom it rests on.
    pub quotation: Quotation,
    /// The assignment of the variables in its formula: `t1 = T295, t2 = T297, t3 = T393, x = 4`; empty where it is
    /// obvious.
    pub roles: String,
    /// The edges it rests on directly, in the order of the path; their reasons are reasons of this one.
    pub premises: Vec<EdgeIndex>,
    /// The transactions it mentions in addition to its ends, ascending.
    pub transactions: Vec<TransactionId>,
    /// The operations it mentions, ascending.
    pub operations: Vec<OperationId>,
}

/// The reason of each of `edges`, in an argument about `level`. O(edges · length of their reasons).
pub(super) fn reasons(history: &History, edges: &[Edge], level: Level) -> Vec<EdgeReason> {
    let words = Words::new(history, edges);
    edges.iter().map(|edge| reason(&words, edge, level)).collect()
}

/// The reason of one edge.
pub(super) fn reason(words: &Words<'_>, edge: &Edge, level: Level) -> EdgeReason {
    let quotation = axioms::of_edge(edge, level);
    let short = words.reason(edge, level);
    let roles = words.roles(edge);
    let mut operations: Vec<OperationId> = edge.from_operation.into_iter().chain(edge.to_operation).collect();
    let mut transactions = Vec::new();
    match edge.because {
        Reason::Visible { reader, read, .. } | Reason::Listed { reader, read } => {
            transactions.push(reader);
            operations.push(read);
        }
        Reason::Overwrites { writer, .. } => transactions.push(writer),
        _ => {}
    }
    operations.sort_unstable();
    operations.dedup();
    transactions.retain(|t| *t != edge.from && *t != edge.to);
    EdgeReason {
        long: at_length(&short, &quotation.text(), &roles),
        short,
        quotation,
        roles,
        premises: edge.because.premises().to_vec(),
        transactions,
        operations,
    }
}
