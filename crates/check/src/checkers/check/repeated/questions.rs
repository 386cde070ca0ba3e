//! What is open about the elements of lists that were appended more than once.

use crate::checkers::{Question, Supposed};
use isoscope_model::history::{
    History, OperationId, OperationKind, Outcome, Repeated, TransactionId, Value,
};
use isoscope_model::relations::list_from_outside;

/// All answers to the question which append made an element, or what the outcome of a transaction was, however many,
/// ascending. Other questions are not asked here and have none. O(operations).
pub(super) fn answers(question: Question, history: &History) -> Vec<Supposed> {
    match question {
        Question::Append { read, place } => appends_at(history, read, place)
            .into_iter()
            .map(|append| Supposed::Append {
                read,
                place,
                append,
            })
            .collect(),
        Question::Outcome { transaction } => [false, true]
            .map(|committed| Supposed::Outcome {
                transaction,
                committed,
            })
            .to_vec(),
        Question::Order { .. } | Question::Writer { .. } => Vec::new(),
    }
}

/// A question with the remaining answers, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) question: Question,
    pub(super) answers: Vec<Supposed>,
}

/// Whether an element of a list was appended more than once by transactions that did not abort. O(operations) the first
/// time.
pub(in crate::checkers::check) fn concerns(history: &History) -> bool {
    !history.lists().is_empty() && !history.appends_of_repeated_elements().is_empty()
}

/// The places of lists read by committed transactions whose elements were appended more than once, each with the
/// appends that may have made it, possibly none. O(elements read · appends of each).
pub(super) fn open_places(
    history: &History,
    participants: &[bool],
    repeated: &Repeated,
) -> Vec<Open> {
    let mut places = Vec::new();
    if repeated.is_empty() {
        return places;
    }
    let initial = history.initial_appends();
    for (read, _) in history.lists().iter() {
        let reader = history.transaction_of(read);
        if !participants[reader.index()] {
            continue;
        }
        let Some(outside) = list_from_outside(history, reader, read) else {
            continue;
        };
        let key = history.keys()[read.index()];
        for (place, &element) in outside.iter().enumerate() {
            let Some(appends) = repeated.get(&(key, element)) else {
                continue;
            };
            let initial = initial.get(&key).map_or(&[][..], Vec::as_slice);
            let fits =
                |append: &OperationId| fits(history, reader, initial, outside, place, *append);
            let answers = appends.iter().copied().filter(fits);
            let answers = answers
                .map(|append| Supposed::Append {
                    read,
                    place,
                    append,
                })
                .collect();
            places.push(Open {
                question: Question::Append { read, place },
                answers,
            });
        }
    }
    places
}

/// Whether an append by a transaction other than `reader` may have made the element at a place of what the reader
/// found: all appends of its transaction to the key fit around it, and set-up appends occur at the beginning of the
/// list and nowhere else.
fn fits(
    history: &History,
    reader: TransactionId,
    initial: &[OperationId],
    outside: &[Value],
    place: usize,
    append: OperationId,
) -> bool {
    let is_in_turn = match initial.get(place) {
        Some(&first) => first == append,
        None => !initial.contains(&append),
    };
    is_in_turn && history.transaction_of(append) != reader && {
        let (block, at) = block(history, append);
        let values = block.iter().map(|o| history.values()[o.index()]);
        let n_before = if initial.contains(&append) {
            0
        } else {
            initial.len()
        };
        place >= at + n_before
            && outside[place - at..].len() >= block.len()
            && outside[place - at..]
                .iter()
                .copied()
                .zip(values)
                .all(|(a, b)| a == b)
    }
}

/// The appends that may have made the element at a place of a list, ascending. O(operations).
fn appends_at(history: &History, read: OperationId, place: usize) -> Vec<OperationId> {
    let reader = history.transaction_of(read);
    let key = history.keys()[read.index()];
    let Some(outside) = list_from_outside(history, reader, read) else {
        return Vec::new();
    };
    let Some(&element) = outside.get(place) else {
        return Vec::new();
    };
    let committed = history
        .transactions()
        .filter(|&t| history.outcome(t) != Outcome::Aborted);
    let is_append = |o: &OperationId| {
        let operation = history.operation(*o);
        operation.kind == OperationKind::Write && operation.key == key && operation.value == element
    };
    let appends = committed
        .flat_map(|t| history.operations_of(t))
        .filter(is_append);
    let initial = history.initial_appends().remove(&key).unwrap_or_default();
    appends
        .filter(|&append| fits(history, reader, &initial, outside, place, append))
        .collect()
}

/// Of the places of one key in several lists, those of the longest list, in order.
pub(super) fn each_once(history: &History, mut places: Vec<Open>) -> Vec<Open> {
    let of_key = |open: &Open| match open.question {
        Question::Append { read, place } => Some((history.keys()[read.index()], place)),
        _ => None,
    };
    let length = |open: &Open| match open.question {
        Question::Append { read, .. } => history.lists().read_by(read).map_or(0, <[Value]>::len),
        _ => 0,
    };
    places.sort_by_key(|open| (of_key(open), std::cmp::Reverse(length(open)), open.question));
    places.dedup_by_key(|open| of_key(open));
    places
}

/// All appends of the transaction of an append to its key in program order, and the position of that append among them.
pub(super) fn block(history: &History, append: OperationId) -> (Vec<OperationId>, usize) {
    let key = history.keys()[append.index()];
    let is_append = |o: &OperationId| {
        history.kinds()[o.index()] == OperationKind::Write && history.keys()[o.index()] == key
    };
    let block: Vec<OperationId> = history
        .operations_of(history.transaction_of(append))
        .filter(is_append)
        .collect();
    let at = block.iter().position(|&o| o == append).unwrap_or_default();
    (block, at)
}
