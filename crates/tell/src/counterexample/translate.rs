//! A violation of the whole history in terms of a part of it, and back.

use isoscope_check::checkers::{Proof, Question, Supposed, Violation};
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
            Proof::Reads(None) | Proof::Cycle(_) => {}
            Proof::Reads(Some(wrong)) => {
                for read in &mut wrong.reads {
                    *read = operation(*read)?;
                }
            }
            Proof::Cases { question, cases } => {
                *question = translate_question(*question, dictionary)?;
                for (answer, _) in cases {
                    *answer = translate_answer(*answer, dictionary)?;
                }
            }
            Proof::Log { options, .. } => {
                for option in options {
                    *option = translate_answer(*option, dictionary)?;
                }
            }
        }
        open.extend(part.inner_mut());
    }
    Some(translated)
}

fn translate_question(question: Question, dictionary: &Dictionary<'_>) -> Option<Question> {
    match question {
        Question::Order {
            key,
            writers: [a, b],
        } => Some(Question::Order {
            key: (dictionary.key)(key)?,
            writers: [(dictionary.transaction)(a)?, (dictionary.transaction)(b)?],
        }),
        Question::Writer { read } => Some(Question::Writer {
            read: (dictionary.operation)(read)?,
        }),
        Question::Outcome { transaction } => Some(Question::Outcome {
            transaction: (dictionary.transaction)(transaction)?,
        }),
        // An element may have another place in the list there.
        Question::Append { .. } => None,
    }
}

fn translate_answer(answer: Supposed, dictionary: &Dictionary<'_>) -> Option<Supposed> {
    match answer {
        Supposed::Order(edge) => Some(Supposed::Order(edge)),
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
