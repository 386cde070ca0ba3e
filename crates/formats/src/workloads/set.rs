//! Sets: elements are added, and reads return all of them.

use super::exchange::{answers, requests, some_answer};
use super::{Exchange, Items, Meaning, Refusal, Workload, no_facts};
use crate::operations::Tree;
use rustc_hash::{FxHashMap, FxHashSet};

/// Each element is a register that is empty at first; a read is a transaction that reads all elements of the log. Where
/// reads return `#{…}`, values may also be written (`comments`, `causal-reverse`).
pub(super) const SET: Workload = Workload {
    name: "set",
    must: &["add", "broadcast", "write"],
    may: &["read"],
    fits: |exchanges| {
        let is_written = exchanges.iter().any(|exchange| exchange.word == "write");
        // A row may have the value of another one, an element is there once.
        let repeats = |elements: &[Tree<'_>]| {
            let distinct: FxHashSet<_> = elements.iter().map(Tree::text).collect();
            distinct.len() < elements.len()
        };
        let has_elements = |value: &Tree<'_>| match value {
            Tree::Nil => !is_written,
            Tree::Set(_) => true,
            Tree::List(elements) => {
                let are_sets = !is_written || !repeats(elements);
                are_sets && !elements.contains(&Tree::Nil) && !are_rows(elements)
            }
            _ => false,
        };
        let is_element = |value: &Tree<'_>| !value.is_nil();
        (!is_written || some_answer(exchanges, "read", |value| !value.is_nil()))
            && answers(exchanges, "read", has_elements)
            && ["add", "broadcast"]
                .iter()
                .all(|word| requests(exchanges, word, is_element))
            && requests(exchanges, "write", |value| value.is_single())
            && answers(exchanges, "add", |value| value.fields().is_none())
    },
    keyed: true,
    meaning: Meaning::Items(of_set),
    facts: super::set_facts::facts,
    no_levels: None,
    assumes: "Each element of a set is an item of its own, not there at first; a read reads all elements of the log.",
};

/// Transactions in which a key holds a set, and a write adds an element to it.
pub(super) const SETS_IN_TRANSACTIONS: Workload = Workload {
    name: "sets in transactions",
    must: &[],
    may: &[],
    fits: grow,
    keyed: false,
    meaning: Meaning::Items(of_transactions),
    facts: no_facts,
    no_levels: None,
    assumes: "A key that is read as a set holds one: a write adds an element to it. Each element is an item of its own.",
};

/// The value of an element that is there.
static IN: Tree<'static> = super::name("in");

/// Most reads of elements that a history gets.
const MOST_READS: usize = 1 << 23;

pub(super) fn is_addition(exchange: &Exchange<'_, '_>) -> bool {
    exchange.word != "read"
}

/// Whether the elements are rows with fields, which are no sets.
fn are_rows(elements: &[Tree<'_>]) -> bool {
    elements.iter().any(|element| element.fields().is_some())
}

fn of_set(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    if !items.is_named {
        refuse_keys_on_one_side(exchanges)?;
    }
    refuse_other_forms(exchanges)?;
    let mut elements = Elements::default();
    for exchange in exchanges {
        match exchange.got() {
            _ if is_addition(exchange) => elements.take(exchange.given()),
            Some(read) => read
                .elements()
                .into_iter()
                .flatten()
                .for_each(|element| elements.take(element)),
            None => {}
        }
    }
    let keys: Vec<Tree<'static>> = match exchanges.first() {
        Some(first) => elements
            .all
            .iter()
            .map(|element| first.named(element))
            .collect(),
        None => return Ok(()),
    };
    if is_too_large(exchanges, keys.len()) {
        items.is_incomplete =
            Some("its reads see or miss too many elements; what became of each is known");
    }
    let is_complete = items.is_incomplete.is_none();
    for exchange in exchanges {
        items.begin(exchange);
        match exchange.got() {
            _ if is_addition(exchange) => items.write(&keys[elements.place(exchange.given())], &IN),
            Some(read) if is_complete && read.elements().is_some() => {
                elements.read(read, &keys, items);
            }
            // What it misses is not said, but that it misses all.
            Some(read) => match read.elements() {
                Some([]) => items.read(&keys[0], &Tree::Nil),
                Some(all) => all
                    .iter()
                    .for_each(|element| items.read(&keys[elements.place(element)], &IN)),
                None => {}
            },
            _ => {}
        }
    }
    Ok(())
}

/// Whether reads of so many elements are too many for items.
pub(super) fn is_too_large(exchanges: &[Exchange<'_, '_>], n_elements: usize) -> bool {
    let reads = exchanges.iter().filter(|exchange| !is_addition(exchange));
    reads.count().saturating_mul(n_elements) > MOST_READS
}

fn refuse_too_many(n: usize) -> Result<(), Refusal> {
    if n <= MOST_READS {
        return Ok(());
    }
    Err((
        0,
        format!("too large: its reads see or miss {n} elements in all; {MOST_READS} are read"),
    ))
}

/// In a published log, additions are pairs and reads return what is in them: as pairs they would all be lost, as keys and
/// values none is.
fn refuse_keys_on_one_side(exchanges: &[Exchange<'_, '_>]) -> Result<(), Refusal> {
    let is_pair = |value: &Tree<'_>| {
        let pair = value.pair_or_more();
        pair.is_some_and(|(key, rest)| key.is_single() && rest.len() == 1)
    };
    let mut additions = exchanges.iter().filter(|exchange| is_addition(exchange));
    let Some(first) = additions.next().filter(|first| is_pair(first.given())) else {
        return Ok(());
    };
    if !additions.all(|addition| is_pair(addition.given())) {
        return Ok(());
    }
    let is_without = |read: &&Exchange<'_, '_>| {
        let elements = read.got().and_then(Tree::elements).unwrap_or_default();
        !elements.is_empty() && !elements.iter().any(is_pair)
    };
    match exchanges
        .iter()
        .filter(|exchange| !is_addition(exchange))
        .find(is_without)
    {
        None => Ok(()),
        Some(read) => Err((
            read.line,
            format!(
                "additions name a key, `{}`, but this read returns values without one; line {} has the first of them",
                first.given().text(),
                first.line
            ),
        )),
    }
}

/// Some clients add numbers and are given text: then no read returns what was added, which says nothing about the database.
fn refuse_other_forms(exchanges: &[Exchange<'_, '_>]) -> Result<(), Refusal> {
    let additions = || exchanges.iter().filter(|exchange| is_addition(exchange));
    let added: FxHashSet<_> = additions()
        .map(|addition| addition.given().text())
        .collect();
    let plain: FxHashSet<String> = additions().map(|addition| bare(addition.given())).collect();
    let reads = exchanges.iter().filter(|exchange| !is_addition(exchange));
    let read = |exchange: &'_ Exchange<'_, '_>| exchange.got().and_then(Tree::elements).is_some();
    let mut other = None;
    for exchange in reads.filter(|exchange| read(exchange)) {
        for element in exchange.got().and_then(Tree::elements).unwrap_or_default() {
            if added.contains(&element.text()) {
                return Ok(());
            }
            if plain.contains(&bare(element)) {
                other.get_or_insert((exchange.line, element.text().into_owned()));
            }
        }
    }
    match other {
        None => Ok(()),
        Some((line, element)) => Err((
            line,
            format!(
                "no read returns an element that was added, yet as text they are the same, such as `{element}`"
            ),
        )),
    }
}

/// The text of a value without the quotes of a string or the colon of a keyword.
fn bare(value: &Tree<'_>) -> String {
    value
        .word()
        .map_or_else(|| value.text().into_owned(), str::to_owned)
}

/// The elements of a set, in the order in which the log has them.
#[derive(Default)]
struct Elements {
    all: Vec<Tree<'static>>,
    places: FxHashMap<String, usize>,
}

impl Elements {
    fn take(&mut self, element: &Tree<'_>) {
        let next = self.all.len();
        let text = element.text().into_owned();
        if *self.places.entry(text).or_insert(next) == next {
            self.all.push(element.clone().into_owned());
        }
    }

    fn place(&self, element: &Tree<'_>) -> usize {
        self.places
            .get(&*element.text())
            .copied()
            .unwrap_or_default()
    }

    /// A read of all elements, those of `keys`.
    fn read(&self, read: &Tree<'_>, keys: &[Tree<'static>], items: &mut Items) {
        let mut is_there = vec![false; keys.len()];
        let elements = read.elements().into_iter().flatten();
        elements.for_each(|element| is_there[self.place(element)] = true);
        // What is missing comes first: a read sees all at once, and what it misses tells nothing of what it saw.
        let of = |wanted: bool| {
            keys.iter()
                .zip(&is_there)
                .filter(move |(_, is)| **is == wanted)
        };
        of(false).for_each(|(key, _)| items.read(key, &Tree::Nil));
        of(true).for_each(|(key, _)| items.read(key, &IN));
    }
}

/// The parts of a micro-operation: whether it reads, its key and its value.
fn parts<'t, 'a>(operation: &'t Tree<'a>) -> Option<(bool, &'t Tree<'a>, &'t Tree<'a>)> {
    let is_read = |word: &Tree<'_>| match word.word() {
        Some("r" | "read") => Some(true),
        Some("w" | "write") => Some(false),
        _ => None,
    };
    match operation.elements()? {
        [word, key] => Some((is_read(word)?, key, &Tree::Nil)),
        [word, key, value] => Some((is_read(word)?, key, value)),
        _ => None,
    }
}

/// Whether these are transactions in which sets are read, and their elements written.
pub(super) fn grow(exchanges: &[Exchange<'_, '_>]) -> bool {
    let values = || {
        exchanges
            .iter()
            .flat_map(|exchange| [exchange.asked(), exchange.answered()])
    };
    let is_list = |value: &Tree<'_>| matches!(value, Tree::Nil | Tree::List(_));
    let operations = || values().filter_map(Tree::elements).flatten();
    let is_set = |value: &Tree<'_>| matches!(value, Tree::Set(_));
    let fits = |operation: &Tree<'_>| match parts(operation) {
        Some((true, _, value)) => value.is_nil() || is_set(value),
        Some((false, _, value)) => !is_set(value) && !value.is_nil(),
        None => false,
    };
    values().all(is_list)
        && operations().all(fits)
        && operations().any(|operation| parts(operation).is_some_and(|(_, _, value)| is_set(value)))
}

/// Whether transactions read sets, and none is written as a whole.
pub(super) fn has_growing(exchanges: &[Exchange<'_, '_>]) -> bool {
    let values = || {
        exchanges
            .iter()
            .flat_map(|exchange| [exchange.asked(), exchange.answered()])
    };
    let has_set = |reads: bool| {
        let operations = values().filter_map(Tree::elements).flatten();
        operations
            .filter_map(parts)
            .any(|(is_read, _, value)| is_read == reads && matches!(value, Tree::Set(_)))
    };
    has_set(true) && !has_set(false)
}

fn of_transactions(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    fn operations<'e>(
        exchange: &'e Exchange<'_, '_>,
    ) -> impl Iterator<Item = (bool, &'e Tree<'e>, &'e Tree<'e>)> {
        let value = exchange.got_some().unwrap_or_else(|| exchange.given());
        value.elements().into_iter().flatten().filter_map(parts)
    }
    let mut sets: FxHashMap<String, (Elements, Vec<Tree<'static>>)> = FxHashMap::default();
    for (is_read, key, value) in exchanges.iter().flat_map(operations) {
        let (elements, _) = sets.entry(key.text().into_owned()).or_default();
        match value.elements().filter(|_| is_read) {
            Some(all) => all.iter().for_each(|element| elements.take(element)),
            None if is_read => {}
            None => elements.take(value),
        }
    }
    for (elements, keys) in sets.values_mut() {
        keys.resize(elements.all.len(), Tree::Nil);
    }
    let mut n_reads = 0;
    for exchange in exchanges {
        items.begin(exchange);
        for (is_read, key, value) in operations(exchange) {
            let Some((elements, keys)) = sets.get_mut(&*key.text()) else {
                continue;
            };
            for (name, element) in keys
                .iter_mut()
                .zip(&elements.all)
                .filter(|(name, _)| name.is_nil())
            {
                *name = Tree::List([key.clone().into_owned(), element.clone()].into());
            }
            if !is_read {
                items.write(&keys[elements.place(value)], &IN);
            } else if exchange.is_committed() {
                n_reads += keys.len();
                refuse_too_many(n_reads)?;
                elements.read(value, keys, items);
            }
        }
    }
    Ok(())
}
