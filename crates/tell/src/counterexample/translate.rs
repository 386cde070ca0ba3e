//! A violation of the whole history in terms of a part of it, and back.

use isoscope_check::checkers::{Proof, Supposed, Violation};
use isoscope_model::history::{KeyId, OperationId, Renaming, TransactionId};
use isoscope_model::relations::Reason;
use rustc_hash::FxHashMap;

/// The mapping of ids of one history to those of another.
struct Dictionary<'a> {
    transaction: &'a dyn Fn(TransactionId) -> Option<TransactionId>,
    operation: &'a dyn Fn(OperationId) -> Option<OperationId>,
    key: &'a dyn Fn(KeyId) -> Option<KeyId>,
}

/// A violation in terms of a sub-history, if everything it names is there.
pub(super) fn translate(violation: &Violation, renaming: &Renaming) -> Option<Violation> {
    let keys: FxHashMap<_, _> = renaming
        .keys
        .iter()
        .enumerate()
        .map(|(new, &old)| (old, KeyId::new(new)))
        .collect();
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
            transaction: &|t| {
                if t.is_initial() {
                    Some(t)
                } else {
                    renaming.transactions.get(t.index()).copied()
                }
            },
            operation: &|o| renaming.operations.get(o.index()).copied(),
            key: &|key| renaming.keys.get(key.index()).copied(),
        },
    )
}

fn translate_by(violation: &Violation, dictionary: &Dictionary<'_>) -> Option<Violation> {
    let Dictionary {
        transaction,
        operation,
        key,
    } = *dictionary;
    let mut translated = violation.clone();
    for named in translated.key.iter_mut().chain(
        translated
            .edges
            .iter_mut()
            .filter_map(|edge| edge.key.as_mut()),
    ) {
        *named = key(*named)?;
    }
    for t in &mut translated.transactions {
        *t = transaction(*t)?;
    }
    for o in &mut translated.operations {
        *o = operation(*o)?;
    }
    for edge in &mut translated.edges {
        (edge.from, edge.to) = (transaction(edge.from)?, transaction(edge.to)?);
        for o in [&mut edge.from_operation, &mut edge.to_operation]
            .into_iter()
            .flatten()
        {
            *o = operation(*o)?;
        }
        match &mut edge.because {
            Reason::Visible { reader, read, .. } | Reason::Listed { reader, read } => {
                (*reader, *read) = (transaction(*reader)?, operation(*read)?);
            }
            Reason::Overwrites { writer, .. } => *writer = transaction(*writer)?,
            _ => {}
        }
    }
    let mut open = vec![&mut translated.proof];
    while let Some(part) = open.pop() {
        match part {
            Proof::Read | Proof::Cycle(_) | Proof::Clauses { .. } => {}
            Proof::Reads { reads, .. } => {
                for read in reads {
                    *read = operation(*read)?;
                }
            }
            Proof::Split { key: of, .. } => *of = key(*of)?,
            Proof::Writers { read, cases } => {
                *read = operation(*read)?;
                for (writer, _) in cases {
                    *writer = transaction(*writer)?;
                }
            }
            Proof::Outcomes { transaction: t, .. } => *t = transaction(*t)?,
            Proof::Combinations { options, .. } => {
                for option in options {
                    *option = translate_option(*option, dictionary)?;
                }
            }
            // An element may have another place in the list there.
            Proof::Appends { .. } => return None,
        }
        open.extend(part.inner_mut());
    }
    Some(translated)
}

fn translate_option(option: Supposed, dictionary: &Dictionary<'_>) -> Option<Supposed> {
    match option {
        Supposed::Writer { read, writer } => Some(Supposed::Writer {
            read: (dictionary.operation)(read)?,
            writer: (dictionary.transaction)(writer)?,
        }),
        Supposed::Outcome {
            transaction,
            committed,
        } => Some(Supposed::Outcome {
            transaction: (dictionary.transaction)(transaction)?,
            committed,
        }),
        Supposed::Append { .. } => None,
    }
}
