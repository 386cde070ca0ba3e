//! What became of the elements of a set.
//!
//! An element is *known* from the end of its addition, or of the first read that saw it. It is *lost* if a read that began
//! after that, and after the last read that saw it, missed it; *stale* if a read missed it although it was known, and a
//! later one saw it. Jepsen has three checkers: `set` looks at the last read, `set-full` at every element, `comments` at
//! what a read should have seen besides.

use super::facts::{Facts, Seen, listed};
use super::set::{is_addition, is_too_large};
use super::{Exchange, chain};
use crate::operations::Tree;
use isoscope_model::history::{Answer, Linear, Outcome};
use rustc_hash::{FxHashMap, FxHashSet};

/// What reads say about an element.
struct Element<'e> {
    name: &'e Tree<'e>,
    /// Its first addition, if it was asked for.
    addition: Option<usize>,
    /// Whether an addition of it had no answer.
    is_open: bool,
    /// Whether an addition of it was acknowledged.
    is_sure: bool,
    /// When that was, as far as it is known.
    sure: Option<i64>,
    /// Whether an addition of it was refused.
    is_refused: bool,
    first_seen: Option<i64>,
    last_seen: Option<(i64, usize)>,
    last_missed: Option<(i64, usize)>,
}

/// Facts about the set of one key.
pub(super) fn facts(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let mut reads: Vec<&Exchange<'_, '_>> = exchanges
        .iter()
        .filter(|exchange| !is_addition(exchange))
        .filter(|read| read.got().and_then(Tree::elements).is_some())
        .collect();
    reads.sort_by_key(|read| read.end);
    let elements = survey(exchanges, &reads);
    let is_stable = |element: &&Element<'_>| element.fate() == Fate::Stable || element.is_stale();
    let n_stable = elements
        .iter()
        .filter(|element| element.addition.is_some())
        .filter(is_stable)
        .count();
    // Such a log is about the order of values: others may have been there before.
    let is_written = exchanges.iter().any(|exchange| exchange.word == "write");
    let mut groups = Groups::new(&elements, &reads);
    // Where the order of the log is no real time, nothing is known of what was before what.
    let has_order = reads.iter().any(|read| read.end.is_some());
    if !has_order && !reads.is_empty() {
        groups = Groups {
            unexpected: groups.unexpected,
            twice: groups.twice,
            ..Groups::default()
        };
    }
    groups.add(exchanges, &elements, !is_written, facts);
    let of_set = match has_order {
        false => Answer::Unknown,
        true => Answer::valid_if(!groups.is_incomplete && !groups.has_strange),
    };
    let of_full = match (groups.lost.is_empty(), n_stable) {
        (false, _) => Answer::Invalid,
        (true, 0) => Answer::Unknown,
        (true, _) => Answer::Valid,
    };
    if is_written || !exchanges.iter().any(is_addition) {
        comments(exchanges, &reads, facts);
    }
    // Where there are too many elements for items, this says what it can about levels.
    let has_keys = exchanges.iter().any(|exchange| exchange.key.is_some());
    facts.linear(match !has_keys && is_too_large(exchanges, elements.len()) {
        true => chain::order(exchanges),
        false => Linear::Unknown,
    });
    facts.answer("set", of_set);
    facts.answer("set-full", of_full);
}

/// What became of an element that was asked for.
#[derive(PartialEq, Eq)]
enum Fate {
    Lost,
    NeverRead,
    Stable,
}

impl Element<'_> {
    fn known(&self) -> Option<i64> {
        [self.sure, self.first_seen].into_iter().flatten().min()
    }

    fn fate(&self) -> Fate {
        let begin = |read: Option<(i64, usize)>| read.map_or(-1, |(begin, _)| begin);
        let (seen, missed) = (begin(self.last_seen), begin(self.last_missed));
        match self.known() {
            None => Fate::NeverRead,
            Some(_) if self.last_seen.is_some() && missed < seen => Fate::Stable,
            Some(known) if self.last_missed.is_some() && seen < missed && known < missed => {
                Fate::Lost
            }
            Some(_) => Fate::NeverRead,
        }
    }

    fn is_stale(&self) -> bool {
        let missed = self.last_missed.map_or(-1, |(begin, _)| begin);
        self.fate() == Fate::Stable && self.known().is_some_and(|known| known < missed)
    }

    fn calls(&self) -> Vec<usize> {
        let reads = [self.last_seen, self.last_missed].into_iter().flatten();
        self.addition
            .into_iter()
            .chain(reads.map(|(_, call)| call))
            .collect()
    }
}

/// All elements that were asked for or read, in the order of the log. O(reads × elements).
fn survey<'e, 'a>(
    exchanges: &'e [Exchange<'_, 'a>],
    reads: &[&'e Exchange<'_, 'a>],
) -> Vec<Element<'e>> {
    let mut elements: Vec<Element<'e>> = Vec::new();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let place = |name: &'e Tree<'e>,
                 elements: &mut Vec<Element<'e>>,
                 places: &mut FxHashMap<String, usize>| {
        *places.entry(name.text().into_owned()).or_insert_with(|| {
            elements.push(Element {
                name,
                addition: None,
                is_open: false,
                is_sure: false,
                sure: None,
                is_refused: false,
                first_seen: None,
                last_seen: None,
                last_missed: None,
            });
            elements.len() - 1
        })
    };
    for addition in exchanges.iter().filter(|exchange| is_addition(exchange)) {
        let at = place(addition.given(), &mut elements, &mut places);
        let element = &mut elements[at];
        element.addition.get_or_insert(addition.call);
        match addition.outcome {
            Outcome::Committed => {
                element.is_sure = true;
                element.sure = element.sure.or(addition.end);
            }
            Outcome::Aborted => element.is_refused = true,
            Outcome::Unknown => element.is_open = true,
        }
    }
    let read_elements =
        |read: &&'e Exchange<'_, 'a>| read.got().and_then(Tree::elements).unwrap_or_default();
    for read in reads {
        for name in read_elements(read) {
            place(name, &mut elements, &mut places);
        }
    }
    let mut is_there = vec![false; elements.len()];
    for read in reads {
        is_there.fill(false);
        for name in read_elements(read) {
            is_there[places[&*name.text()]] = true;
        }
        for (element, is_there) in elements.iter_mut().zip(&is_there) {
            let at = Some((read.begin, read.call));
            if *is_there {
                element.first_seen = element.first_seen.min(read.end).or(read.end);
                element.last_seen = element.last_seen.max(at);
            } else {
                element.last_missed = element.last_missed.max(at);
            }
        }
    }
    elements
}

/// Elements by what became of them: places among all.
#[derive(Default)]
struct Groups {
    lost: Vec<usize>,
    stale: Vec<usize>,
    never_read: Vec<usize>,
    unexpected: Vec<usize>,
    recovered: Vec<usize>,
    /// In one read more than once.
    twice: Vec<usize>,
    /// Whether the last read lacks an element that was acknowledged.
    is_incomplete: bool,
    /// Whether the last read has an element that was never asked for.
    has_strange: bool,
}

impl Groups {
    fn new(elements: &[Element<'_>], reads: &[&Exchange<'_, '_>]) -> Groups {
        let mut groups = Groups::default();
        let of = |read: &Exchange<'_, '_>| -> FxHashSet<String> {
            let elements = read.got().and_then(Tree::elements).unwrap_or_default();
            elements
                .iter()
                .map(|element| element.text().into_owned())
                .collect()
        };
        let last = reads
            .last()
            .map_or_else(FxHashSet::default, |last| of(last));
        let mut repeated = FxHashSet::default();
        for read in reads {
            let mut met = FxHashSet::default();
            let elements = read.got().and_then(Tree::elements).unwrap_or_default();
            repeated.extend(
                elements
                    .iter()
                    .map(Tree::text)
                    .filter(|text| !met.insert(text.clone()))
                    .map(|text| text.into_owned()),
            );
        }
        for (at, element) in elements.iter().enumerate() {
            let text = element.name.text();
            let is_in_last = last.contains(&*text);
            let is_added = element.addition.is_some();
            groups.is_incomplete |= element.is_sure && !is_in_last;
            groups.has_strange |= !is_added && is_in_last;
            if element.last_seen.is_some()
                && (!is_added || element.is_refused && !element.is_sure && !element.is_open)
            {
                groups.unexpected.push(at);
            }
            if repeated.contains(&*text) {
                groups.twice.push(at);
            }
            if !is_added {
                continue;
            }
            match element.fate() {
                Fate::Lost => groups.lost.push(at),
                Fate::NeverRead => groups.never_read.push(at),
                Fate::Stable if element.is_stale() => groups.stale.push(at),
                Fate::Stable => {}
            }
            if is_in_last && !element.is_sure && element.is_open {
                groups.recovered.push(at);
            }
        }
        groups
    }

    fn add(
        &self,
        exchanges: &[Exchange<'_, '_>],
        elements: &[Element<'_>],
        count: bool,
        facts: &mut Facts,
    ) {
        let groups = [
            ("lost", &self.lost, true),
            ("unexpected", &self.unexpected, true),
            ("stale", &self.stale, false),
            ("never read", &self.never_read, false),
            ("twice", &self.twice, false),
            ("recovered", &self.recovered, false),
        ];
        for (name, places, counts) in groups.into_iter().filter(|group| !group.1.is_empty()) {
            let all: Vec<&Element<'_>> = places.iter().map(|&at| &elements[at]).collect();
            let names = listed(all.iter().map(|element| element.name));
            let many = all.len() > 1;
            let was = if many { "were" } else { "was" };
            let (it, their) = if many {
                ("them", "their additions")
            } else {
                ("it", "its addition")
            };
            let statement = match (name, &all[..]) {
                ("lost", [one]) if one.last_seen.is_some() => {
                    format!("{names} was read, and no later read has it")
                }
                ("lost", [_]) => {
                    format!("the addition of {names} was acknowledged, and no later read has it")
                }
                ("lost", _) => {
                    format!("{names} {was} acknowledged or read, and no later read has {it}")
                }
                ("unexpected", [one]) if one.is_refused => {
                    format!("{names} was read, although its addition had failed")
                }
                ("unexpected", [_]) => format!("{names} was read, and was never added"),
                ("unexpected", _) => format!("{names} were read, and were never added, or in vain"),
                ("stale", _) => format!(
                    "a read misses {names}, which {was} known when it began; a later read has {it}"
                ),
                ("never read", _) => format!("no read shows what became of {names}"),
                ("twice", _) => format!("{names} {was} more than once in one read"),
                _ => {
                    format!("{names} {was} read, so {their} took effect, though no answer said so")
                }
            };
            facts.add(
                exchanges,
                Seen {
                    name,
                    about: all
                        .iter()
                        .map(|element| element.name.text().into_owned())
                        .collect(),
                    statement,
                    calls: all[0].calls(),
                    counts: counts && count,
                },
            );
        }
    }
}

/// A read that sees a value sees all whose addition had ended before that of the value began.
fn comments(exchanges: &[Exchange<'_, '_>], reads: &[&Exchange<'_, '_>], facts: &mut Facts) {
    let additions: Vec<&Exchange<'_, '_>> = exchanges
        .iter()
        .filter(|exchange| is_addition(exchange) && exchange.outcome != Outcome::Aborted)
        .collect();
    let gap = |read: &&&Exchange<'_, '_>| -> Option<(usize, usize)> {
        let elements = read.got().and_then(Tree::elements)?;
        let seen: FxHashSet<_> = elements.iter().map(Tree::text).collect();
        let is_seen = |addition: &&&Exchange<'_, '_>| seen.contains(&addition.given().text());
        // Of an element that was added more than once the first addition counts.
        let mut firsts: FxHashMap<_, &Exchange<'_, '_>> = FxHashMap::default();
        for addition in additions.iter().filter(is_seen) {
            firsts.entry(addition.given().text()).or_insert(addition);
        }
        let latest = firsts.into_values().max_by_key(|addition| addition.begin)?;
        let is_missing = |addition: &&&Exchange<'_, '_>| {
            !is_seen(addition)
                && addition.is_committed()
                && addition.end.is_some_and(|end| end < latest.begin)
        };
        let missing = additions.iter().find(is_missing)?;
        let index = |exchange: &Exchange<'_, '_>| {
            additions.iter().position(|one| one.call == exchange.call)
        };
        index(latest).zip(index(missing))
    };
    let found = reads.iter().find_map(|read| Some((read, gap(&read)?)));
    facts.answer("comments", Answer::valid_if(found.is_none()));
    if let Some((read, (later, earlier))) = found {
        let (later, earlier) = (additions[later], additions[earlier]);
        let (seen, missing) = (later.given().text(), earlier.given().text());
        facts.add(exchanges, Seen {
            name: "later without earlier",
            about: vec![missing.clone().into_owned()],
            statement: format!("a read has {seen} and not {missing}, though {missing} had been written before the write of {seen} began"),
            calls: vec![earlier.call, later.call, read.call],
            counts: true,
        });
    }
}
