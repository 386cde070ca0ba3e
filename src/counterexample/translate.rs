//! A violation of the whole history in terms of a part of it, and back.

use crate::checkers::{Proof, Supposed, Violation};
use crate::history::{KeyId, OperationId, Renaming, TransactionId};
use crate::relations::{Edge, Reason};
use rustc_hash::FxHashMap;

/// The mapping of ids of one history to those of another.
struct Dictionary<'a> {
    transaction: &'a dyn Fn(TransactionId) -> Option<TransactionId>,
    operation: &'a dyn Fn(OperationId) -> Option<OperationId>,
    key: &'a dyn Fn(KeyId) -> Option<KeyId>,
}

/// A violation in terms of a sub-history, if everything it names is there.
pub(super) fn translate(violation: &Violation, renaming: &Renaming) -> Option<Violation> {
    let keys: FxHashMap<_, _> = renaming.keys.iter().enumerate().map(|(new, &old)| (old, KeyId::new(new))).collect();
    translate_by(
        violation,
        &Dictionary {
            transaction: &|t| renaming.new_transaction(t),
            operation: &|o| renaming.new_operation(o),
            key: &|key| keys.get(&key).copied(),
        },
    )
}

/// A violation of a sub-history in terms of the whole.
pub(super) fn translate_back(violation: &Violation, renaming: &Renaming) -> Option<Violation> {
    translate_by(
        violation,
        &Dictionary {
            transaction: &|t| match t.is_initial() {
                true => Some(t),
                false => renaming.transactions.get(t.index()).copied(),
            },
            operation: &|o| renaming.operations.get(o.index()).copied(),
            key: &|key| renaming.keys.get(key.index()).copied(),
        },
    )
}

fn translate_by(violation: &Violation, dictionary: &Dictionary<'_>) -> Option<Violation> {
    let transaction = dictionary.transaction;
    let operation = |o: Option<OperationId>| match o {
        Some(o) => (dictionary.operation)(o).map(Some),
        None => Some(None),
    };
    let key = |old: Option<KeyId>| match old {
        Some(old) => (dictionary.key)(old).map(Some),
        None => Some(None),
    };
    let edge = |edge: &Edge| {
        let because = match &edge.because {
            Reason::Visible { axiom, reader, read, seen } => Reason::Visible {
                axiom: *axiom,
                reader: transaction(*reader)?,
                read: (dictionary.operation)(*read)?,
                seen: seen.clone(),
            },
            Reason::Overwrites { writer, order } => {
                Reason::Overwrites { writer: transaction(*writer)?, order: order.clone() }
            }
            Reason::Listed { reader, read } => {
                Reason::Listed { reader: transaction(*reader)?, read: (dictionary.operation)(*read)? }
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
    translated.operations = violation.operations.iter().map(|&o| (dictionary.operation)(o)).collect::<Option<_>>()?;
    translated.edges = violation.edges.iter().map(edge).collect::<Option<_>>()?;
    translated.proof = translate_proof(&violation.proof, dictionary)?;
    Some(translated)
}

/// Recursion is bounded by the depth of the proof.
fn translate_proof(proof: &Proof, dictionary: &Dictionary<'_>) -> Option<Proof> {
    let translate = |proof: &Proof| translate_proof(proof, dictionary);
    Some(match proof {
        Proof::Read => Proof::Read,
        Proof::Reads { pattern, reads } => {
            let reads = reads.iter().map(|&read| (dictionary.operation)(read)).collect::<Option<_>>()?;
            Proof::Reads { pattern: *pattern, reads }
        }
        Proof::Cycle(_) | Proof::Clauses { .. } => proof.clone(),
        Proof::Split { key, first, second } => Proof::Split {
            key: (dictionary.key)(*key)?,
            first: (first.0, Box::new(translate(&first.1)?)),
            second: (second.0, Box::new(translate(&second.1)?)),
        },
        Proof::Writers { read, cases } => Proof::Writers {
            read: (dictionary.operation)(*read)?,
            cases: cases
                .iter()
                .map(|(writer, proof)| Some(((dictionary.transaction)(*writer)?, translate(proof)?)))
                .collect::<Option<_>>()?,
        },
        Proof::Outcomes { transaction, cases } => Proof::Outcomes {
            transaction: (dictionary.transaction)(*transaction)?,
            cases: cases
                .iter()
                .map(|(committed, proof)| Some((*committed, translate(proof)?)))
                .collect::<Option<_>>()?,
        },
        Proof::Combinations { options, excluded, clauses } => Proof::Combinations {
            options: options.iter().map(|option| translate_option(*option, dictionary)).collect::<Option<_>>()?,
            excluded: excluded
                .iter()
                .map(|(together, proof)| Some((together.clone(), translate(proof)?)))
                .collect::<Option<_>>()?,
            clauses: clauses.clone(),
        },
        // An element may have another place in the list there.
        Proof::Appends { .. } => return None,
    })
}

fn translate_option(option: Supposed, dictionary: &Dictionary<'_>) -> Option<Supposed> {
    match option {
        Supposed::Writer { read, writer } => {
            Some(Supposed::Writer { read: (dictionary.operation)(read)?, writer: (dictionary.transaction)(writer)? })
        }
        Supposed::Outcome { transaction, committed } => {
            Some(Supposed::Outcome { transaction: (dictionary.transaction)(transaction)?, committed })
        }
        Supposed::Append { .. } => None,
    }
}
