//! A violation of the whole history in terms of a part of it.

use crate::checkers::{Proof, Violation};
use crate::history::{KeyId, OperationId, Renaming, TransactionId};
use crate::relations::{Edge, Reason};
use rustc_hash::FxHashMap;

/// A violation in terms of a sub-history, if all that it names is there.
pub(super) fn translate(violation: &Violation, renaming: &Renaming) -> Option<Violation> {
    let transaction = |t: TransactionId| renaming.new_transaction(t);
    let operation = |o: Option<OperationId>| match o {
        Some(o) => renaming.new_operation(o).map(Some),
        None => Some(None),
    };
    let keys: FxHashMap<_, _> = renaming.keys.iter().enumerate().map(|(new, &old)| (old, KeyId::new(new))).collect();
    let key = |old: Option<KeyId>| match old {
        Some(old) => keys.get(&old).copied().map(Some),
        None => Some(None),
    };
    let edge = |edge: &Edge| {
        let because = match &edge.because {
            Reason::Visible { axiom, reader, read, seen } => Reason::Visible {
                axiom: *axiom,
                reader: transaction(*reader)?,
                read: renaming.new_operation(*read)?,
                seen: seen.clone(),
            },
            Reason::Overwrites { writer, order } => {
                Reason::Overwrites { writer: transaction(*writer)?, order: order.clone() }
            }
            Reason::Listed { reader, read } => {
                Reason::Listed { reader: transaction(*reader)?, read: renaming.new_operation(*read)? }
            }
            other => other.clone(),
        };
        Some(Edge {
            from: transaction(edge.from)?,
            to: transaction(edge.to)?,
            relation: edge.relation,
            key: key(edge.key)?,
            from_operation: operation(edge.from_operation)?,
            to_operation: operation(edge.to_operation)?,
            because,
        })
    };
    let mut translated = violation.clone();
    translated.key = key(violation.key)?;
    translated.transactions = violation.transactions.iter().map(|&t| transaction(t)).collect::<Option<_>>()?;
    translated.operations = violation.operations.iter().map(|&o| renaming.new_operation(o)).collect::<Option<_>>()?;
    translated.edges = violation.edges.iter().map(edge).collect::<Option<_>>()?;
    translated.proof = translate_proof(&violation.proof, &keys, renaming)?;
    Some(translated)
}

/// Recursion is bounded by the depth of the proof.
fn translate_proof(proof: &Proof, keys: &FxHashMap<KeyId, KeyId>, renaming: &Renaming) -> Option<Proof> {
    let translate = |proof: &Proof| translate_proof(proof, keys, renaming);
    Some(match proof {
        Proof::Read => Proof::Read,
        Proof::Reads { pattern, reads } => {
            let reads = reads.iter().map(|&read| renaming.new_operation(read)).collect::<Option<_>>()?;
            Proof::Reads { pattern: *pattern, reads }
        }
        Proof::Cycle(_) | Proof::Clauses { .. } => proof.clone(),
        Proof::Split { key, first, second } => Proof::Split {
            key: *keys.get(key)?,
            first: (first.0, Box::new(translate(&first.1)?)),
            second: (second.0, Box::new(translate(&second.1)?)),
        },
        Proof::Writers { read, cases } => Proof::Writers {
            read: renaming.new_operation(*read)?,
            cases: cases
                .iter()
                .map(|(writer, proof)| Some((renaming.new_transaction(*writer)?, translate(proof)?)))
                .collect::<Option<_>>()?,
        },
    })
}
