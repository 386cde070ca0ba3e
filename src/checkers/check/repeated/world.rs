//! What is open about the elements of lists that were appended more than once.

use crate::control::{Control, Interrupt};
use crate::history::{History, KeyId, OperationId, OperationKind, Outcome, TransactionId, Value};
use crate::relations::{MultipleSources, Resolution, Source, Standing, list_from_outside, resolve};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A place of a list, and the appends that may have made the element there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Open {
    /// A read of the list by a transaction that takes part.
    pub(super) read: OperationId,
    /// The place, from 0, before the reader's own appends.
    pub(super) place: usize,
    /// Who may have made it, ascending; never just one.
    pub(super) candidates: Vec<OperationId>,
}

impl Open {
    /// Whether it is this place of this list, or of another list of the same key.
    pub(super) fn names(&self, history: &History, read: OperationId, place: usize) -> bool {
        self.place == place && history.keys()[self.read.index()] == history.keys()[read.index()]
    }
}

/// A history in which every element that only one append can have made has a name of its own.
///
/// A transaction takes effect as a whole, so its appends to a key stand together in their order in every list that has
/// one of them, and a place that one of them made settles the places of all. That holds wherever read committed does:
/// nothing here is about cut isolation.
#[derive(Clone)]
pub(super) struct World {
    pub(super) history: History,
    pub(super) resolution: Arc<Resolution>,
    /// By transaction: whether it takes part, whatever is open.
    participants: Arc<Vec<bool>>,
    /// The places that several appends may have made; those of a key stand in the order of its list, each once.
    pub(super) open: Vec<Open>,
    /// A place that no append can have made: then nothing explains the history at read committed.
    pub(super) impossible: Option<(OperationId, usize)>,
}

/// By key and element: the appends of transactions that did not abort, where there are several.
type Repeated = FxHashMap<(KeyId, Value), Vec<OperationId>>;

/// Whether an element of a list was appended more than once by transactions that did not abort. O(operations).
pub(in crate::checkers::check) fn concerns(history: &History) -> bool {
    !history.lists().is_empty() && !repeated(history).is_empty()
}

fn repeated(history: &History) -> Repeated {
    let mut all = Repeated::default();
    for t in history.transactions().filter(|&t| history.outcome(t) != Outcome::Aborted) {
        for o in history.operations_of(t) {
            let operation = history.operation(o);
            if operation.kind == OperationKind::Write && history.lists().is_list(operation.key) {
                all.entry((operation.key, operation.value)).or_default().push(o);
            }
        }
    }
    all.retain(|_, appends| appends.len() > 1);
    all
}

impl World {
    /// Names everything that follows. O((operations + elements read) · rounds); a round names at least one append.
    pub(super) fn settled(mut history: History, control: &Control) -> Result<World, Interrupt> {
        loop {
            control.check()?;
            let resolution = Arc::new(resolve(&history, control)?);
            let participants = Arc::new(participants(&history, &resolution));
            let places = open_places(&history, &participants);
            if let Some(place) = places.iter().find(|open| open.candidates.is_empty()) {
                let impossible = Some((place.read, place.place));
                return Ok(World { history, resolution, participants, open: Vec::new(), impossible });
            }
            let (forced, open): (Vec<Open>, Vec<Open>) =
                places.into_iter().partition(|open| open.candidates.len() == 1);
            if forced.is_empty() {
                let open = each_once(&history, open);
                return Ok(World { history, resolution, participants, open, impossible: None });
            }
            let forced: Vec<_> = forced.iter().map(|open| (open.read, open.place, open.candidates[0])).collect();
            history = with(&history, &forced);
        }
    }

    /// Whether the reader of a list takes part.
    pub(super) fn takes_part(&self, read: OperationId) -> bool {
        self.participants[self.history.transaction_of(read).index()]
    }

    /// The same where these appends made these places.
    pub(super) fn with(
        &self,
        made: &[(OperationId, usize, OperationId)],
        control: &Control,
    ) -> Result<World, Interrupt> {
        World::settled(with(&self.history, made), control)
    }
}

/// The places of lists read by those who take part whose elements were appended more than once, with the appends that may
/// have made them.
fn open_places(history: &History, participants: &[bool]) -> Vec<Open> {
    let repeated = repeated(history);
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
        let Some(outside) = list_from_outside(history, reader, read) else { continue };
        let key = history.keys()[read.index()];
        for (place, &element) in outside.iter().enumerate() {
            let Some(appends) = repeated.get(&(key, element)) else { continue };
            let initial = initial.get(&key).map_or(&[][..], Vec::as_slice);
            let fits = |append: &OperationId| fits(history, reader, initial, outside, place, *append);
            let candidates = appends.iter().copied().filter(fits).collect();
            places.push(Open { read, place, candidates });
        }
    }
    places
}

/// Whether an append by another than `reader` may have made the element at a place of what the reader found: all appends
/// of its transaction to the key fit around it, and those with which every list begins stand there and nowhere else.
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
        let n_before = if initial.contains(&append) { 0 } else { initial.len() };
        place >= at + n_before
            && outside[place - at..].len() >= block.len()
            && outside[place - at..].iter().copied().zip(values).all(|(a, b)| a == b)
    }
}

/// The appends that may have made the element at a place of a list, ascending, be there several or not. O(operations).
pub(super) fn candidates_at(history: &History, read: OperationId, place: usize) -> Vec<OperationId> {
    let reader = history.transaction_of(read);
    let key = history.keys()[read.index()];
    let Some(outside) = list_from_outside(history, reader, read) else { return Vec::new() };
    let Some(&element) = outside.get(place) else { return Vec::new() };
    let committed = history.transactions().filter(|&t| history.outcome(t) != Outcome::Aborted);
    let is_append = |o: &OperationId| {
        let operation = history.operation(*o);
        operation.kind == OperationKind::Write && operation.key == key && operation.value == element
    };
    let appends = committed.flat_map(|t| history.operations_of(t)).filter(is_append);
    let initial = history.initial_appends().remove(&key).unwrap_or_default();
    appends.filter(|&append| fits(history, reader, &initial, outside, place, append)).collect()
}

/// By transaction: whether it takes part, whatever is open.
///
/// A read all of whose possible writers violate read committed by themselves counts in a resolution as one from the first
/// of them, who need not have taken part. So where there is such a read, who must have committed is worked out without
/// it. O(operations + elements read).
fn participants(history: &History, resolution: &Resolution) -> Vec<bool> {
    let multiple = resolution.reads_with_multiple_sources();
    let is_sure = !multiple.iter().any(|read| is_hopeless(history, read));
    let takes_part = |t: TransactionId| match resolution.standing(t) {
        Standing::Committed => true,
        Standing::Promoted => is_sure,
        _ => false,
    };
    let mut participants: Vec<bool> = history.transactions().map(takes_part).collect();
    if is_sure {
        return participants;
    }
    let (appenders, initial) = (only_appenders(history, resolution), history.initial_appends());
    let mut waiting: Vec<TransactionId> = history.transactions().filter(|t| participants[t.index()]).collect();
    while let Some(t) = waiting.pop() {
        for o in history.operations_of(t) {
            let is_open = resolution.is_open_after_own_write(o)
                || resolution.multiple_sources(o).is_some_and(|multiple| is_hopeless(history, multiple));
            let writer = resolution.source_in(t, o).writer().filter(|writer| !is_open && !writer.is_initial());
            let list = list_from_outside(history, t, o).or_else(|| history.lists().read_by(o)).unwrap_or_default();
            let key = history.keys()[o.index()];
            let n_initial = initial.get(&key).map_or(0, Vec::len);
            let appended = list.iter().skip(n_initial);
            let of_list = appended.filter_map(|&element| appenders.get(&(key, element)).copied().flatten());
            for joins in writer.into_iter().chain(of_list) {
                let may_join = resolution.standing(joins) == Standing::Promoted;
                if may_join && !std::mem::replace(&mut participants[joins.index()], true) {
                    waiting.push(joins);
                }
            }
        }
    }
    participants
}

/// By key and element: the transaction that appended it, if of those that did not abort, and set nothing up, only one did.
fn only_appenders(history: &History, resolution: &Resolution) -> FxHashMap<(KeyId, Value), Option<TransactionId>> {
    let mut all: FxHashMap<(KeyId, Value), Option<TransactionId>> = FxHashMap::default();
    let may_append = |t: &TransactionId| !matches!(resolution.standing(*t), Standing::Aborted | Standing::Initial);
    for t in history.transactions().filter(may_append) {
        for o in history.operations_of(t) {
            let operation = history.operation(o);
            if operation.kind == OperationKind::Write && history.lists().is_list(operation.key) {
                let known = all.entry((operation.key, operation.value)).or_insert(Some(t));
                *known = known.filter(|&other| other == t);
            }
        }
    }
    all
}

/// Whether every possible source of a read violates read committed by itself.
fn is_hopeless(history: &History, read: &MultipleSources) -> bool {
    let later = |writer: TransactionId| {
        !writer.is_initial() && writer > read.reader && history.session_of(writer) == history.session_of(read.reader)
    };
    read.kept == 1
        && read.sources.iter().all(|source| match *source {
            Source::Transaction { writer, intermediate, .. } => intermediate || later(writer),
            _ => false,
        })
}

/// Of the places of one key in several lists those of the longest one.
fn each_once(history: &History, mut open: Vec<Open>) -> Vec<Open> {
    let key = |open: &Open| history.keys()[open.read.index()];
    let length = |open: &Open| history.lists().read_by(open.read).map_or(0, <[Value]>::len);
    open.sort_by_key(|open| (key(open), open.place, std::cmp::Reverse(length(open)), open.read));
    open.dedup_by_key(|open| (key(open), open.place));
    open
}

/// All appends of the transaction of an append to its key in program order, and the place of that one among them.
fn block(history: &History, append: OperationId) -> (Vec<OperationId>, usize) {
    let key = history.keys()[append.index()];
    let is_append =
        |o: &OperationId| history.kinds()[o.index()] == OperationKind::Write && history.keys()[o.index()] == key;
    let block: Vec<OperationId> = history.operations_of(history.transaction_of(append)).filter(is_append).collect();
    let at = block.iter().position(|&o| o == append).unwrap_or_default();
    (block, at)
}

/// The history in which these appends, and those beside them, have names of their own at these places (read, place,
/// append). Of those that exclude each other the first counts.
fn with(history: &History, made: &[(OperationId, usize, OperationId)]) -> History {
    let mut named: FxHashSet<OperationId> = FxHashSet::default();
    let mut taken: FxHashSet<(KeyId, usize)> = FxHashSet::default();
    let mut appends: Vec<OperationId> = Vec::new();
    let mut listed: Vec<(OperationId, usize, OperationId)> = Vec::new();
    let mut lists_of: FxHashMap<KeyId, Vec<(OperationId, &[Value])>> = FxHashMap::default();
    for (read, list) in history.lists().iter() {
        let outside = list_from_outside(history, history.transaction_of(read), read).unwrap_or(list);
        lists_of.entry(history.keys()[read.index()]).or_default().push((read, outside));
    }
    for &(read, place, append) in made {
        let key = history.keys()[read.index()];
        let (block, at) = block(history, append);
        let Some(begin) = place.checked_sub(at) else { continue };
        let places = begin..begin + block.len();
        if block.iter().any(|o| named.contains(o)) || places.clone().any(|place| taken.contains(&(key, place))) {
            continue;
        }
        let Some(list) = history.lists().read_by(read) else { continue };
        for (place, &append) in places.zip(&block) {
            named.insert(append);
            taken.insert((key, place));
            appends.push(append);
            // Where another list agrees so far, its element is the same one.
            let same =
                lists_of[&key].iter().filter(|(_, other)| other.len() > place && other[..=place] == list[..=place]);
            listed.extend(same.map(|&(other, _)| (other, place, append)));
        }
    }
    history.with_own_elements(&appends, &listed)
}
