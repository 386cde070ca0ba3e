//! Histories in which repeated elements are distinguished as far as it is known which append made them.

use super::participants::{in_doubt, participants};
use super::questions::{Open, answers, block, each_once, open_places};
use crate::checkers::{Question, Supposed};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId, OperationId, Value};
use isoscope_model::relations::{Resolution, list_from_outside, resolve};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A history in which every element that only one append can have made has a name of its own.
///
/// A transaction takes effect as a whole, so its appends to a key are contiguous and in order in every list that has
/// one of them, and a place that one of them made settles the places of all. That holds wherever read committed does:
/// nothing here is about cut isolation.
///
/// Only the lists of committed transactions count. Whether a transaction of unknown outcome committed may depend on the
/// writers chosen for ambiguous reads; while its lists have such elements, that is a separate question. If no question
/// is open, each element of a list has one append that can have made it, under every choice of writers in which the
/// reader of the list counts as committed.
#[derive(Clone)]
pub(super) struct ElementAssignment {
    pub(super) history: History,
    pub(super) resolution: Arc<Resolution>,
    /// By transaction: whether it counts as committed, whatever is open.
    participants: Arc<Vec<bool>>,
    /// The open questions, each with several answers: first outcomes, since knowing one may settle many others, then
    /// places of lists, those of a key in list order and each once.
    pub(super) open: Vec<Open>,
    /// A place that no append can have made: then nothing explains the history at read committed.
    pub(super) impossible: Option<(OperationId, usize)>,
}

impl ElementAssignment {
    /// Names everything that follows. O((operations + elements read) · rounds); a round names at least one append.
    pub(super) fn settled(
        mut history: History,
        control: &Control,
    ) -> Result<ElementAssignment, Interrupt> {
        loop {
            control.check()?;
            let resolution = Arc::new(resolve(&history, control)?);
            let participants = Arc::new(participants(&history, &resolution));
            let repeated = history.appends_of_repeated_elements();
            let places = open_places(&history, &participants, &repeated);
            let impossible = places.iter().find_map(|open| match open.question {
                Question::Append { read, place } if open.answers.is_empty() => Some((read, place)),
                _ => None,
            });
            if impossible.is_some() {
                return Ok(ElementAssignment {
                    history,
                    resolution,
                    participants,
                    open: Vec::new(),
                    impossible,
                });
            }
            let forced = places.iter().filter(|open| open.answers.len() == 1);
            let forced: Vec<Supposed> = forced.map(|open| open.answers[0]).collect();
            if forced.is_empty() {
                let outcomes = in_doubt(&history, &resolution, &repeated)
                    .into_iter()
                    .map(|transaction| Question::Outcome { transaction });
                let outcomes = outcomes.map(|question| Open {
                    question,
                    answers: answers(question, &history),
                });
                let open = outcomes.chain(each_once(&history, places)).collect();
                return Ok(ElementAssignment {
                    history,
                    resolution,
                    participants,
                    open,
                    impossible,
                });
            }
            history = with(&history, &forced);
        }
    }

    /// Whether the reader of a list counts as committed.
    pub(super) fn takes_part(&self, read: OperationId) -> bool {
        self.participants[self.history.transaction_of(read).index()]
    }

    /// As `takes_part`, where all this holds.
    pub(super) fn with(
        &self,
        supposed: &[Supposed],
        control: &Control,
    ) -> Result<ElementAssignment, Interrupt> {
        ElementAssignment::settled(with(&self.history, supposed), control)
    }
}

/// The history under these suppositions.
fn with(history: &History, supposed: &[Supposed]) -> History {
    let (mut made, mut outcomes) = (Vec::new(), Vec::new());
    for &supposed in supposed {
        match supposed {
            Supposed::Append {
                read,
                place,
                append,
            } => made.push((read, place, append)),
            Supposed::Outcome {
                transaction,
                committed,
            } => outcomes.push((transaction, committed)),
            // Writers of reads are not chosen here: an assignment leaves them open.
            Supposed::Order(_) | Supposed::Writer { .. } => {}
        }
    }
    match (outcomes.is_empty(), made.is_empty()) {
        (true, _) => with_appends(history, &made),
        (false, true) => history.with_outcomes(&outcomes),
        (false, false) => with_appends(&history.with_outcomes(&outcomes), &made),
    }
}

/// The history in which these appends, and the other appends of their transactions to the key, have names of their own
/// at these places (read, place, append). The first of those that exclude each other counts.
fn with_appends(history: &History, made: &[(OperationId, usize, OperationId)]) -> History {
    let mut named: FxHashSet<OperationId> = FxHashSet::default();
    let mut taken: FxHashSet<(KeyId, usize)> = FxHashSet::default();
    let mut appends: Vec<OperationId> = Vec::new();
    let mut listed: Vec<(OperationId, usize, OperationId)> = Vec::new();
    let mut lists_of: FxHashMap<KeyId, Vec<(OperationId, &[Value])>> = FxHashMap::default();
    for (read, list) in history.lists().iter() {
        let outside =
            list_from_outside(history, history.transaction_of(read), read).unwrap_or(list);
        lists_of
            .entry(history.keys()[read.index()])
            .or_default()
            .push((read, outside));
    }
    for &(read, place, append) in made {
        let key = history.keys()[read.index()];
        let (block, at) = block(history, append);
        let Some(begin) = place.checked_sub(at) else {
            continue;
        };
        let places = begin..begin + block.len();
        if block.iter().any(|o| named.contains(o))
            || places.clone().any(|place| taken.contains(&(key, place)))
        {
            continue;
        }
        let Some(list) = history.lists().read_by(read) else {
            continue;
        };
        for (place, &append) in places.zip(&block) {
            named.insert(append);
            taken.insert((key, place));
            appends.push(append);
            // If another list agrees so far, its element is the same one.
            let same = lists_of[&key]
                .iter()
                .filter(|(_, other)| other.len() > place && other[..=place] == list[..=place]);
            listed.extend(same.map(|&(other, _)| (other, place, append)));
        }
    }
    history.with_own_elements(&appends, &listed)
}
