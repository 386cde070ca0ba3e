//! Whether an order in real time explains all reads of a set, in time linear in the log.
//!
//! In any order the reads form a chain by inclusion, and between two that differ come the additions of the elements that
//! only the later one has. So the order is known but for operations that may be swapped, and real time agrees with it or does
//! not. Without real time the reads need to be a chain, no more.

use super::Exchange;
use super::facts::has_ends;
use super::set::is_addition;
use crate::operations::Tree;
use isoscope_model::history::{Linear, Outcome};
use isoscope_model::levels::Level;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// An operation by its part of the order: the additions of elements, or the reads that have them and no later ones.
struct Placed {
    part: usize,
    begin: i64,
    /// When it had ended; the greatest number where it may take effect at any time.
    end: i64,
    call: usize,
}

/// Decides for a set without keys around it; unknown if it has elements that were added twice, or never.
pub(super) fn order(exchanges: &[Exchange<'_, '_>]) -> Linear<usize> {
    decided(exchanges).unwrap_or(Linear::Unknown)
}

fn decided(exchanges: &[Exchange<'_, '_>]) -> Option<Linear<usize>> {
    let did_happen = |exchange: &&Exchange<'_, '_>| exchange.outcome != Outcome::Aborted;
    let all: Vec<&Exchange<'_, '_>> = exchanges.iter().filter(did_happen).collect();
    type Calls<'e, 'c, 'a> = Vec<&'e Exchange<'c, 'a>>;
    let (additions, reads): (Calls<'_, '_, '_>, Calls<'_, '_, '_>) =
        all.iter().partition(|one| is_addition(one));
    let mut places: FxHashMap<Cow<'_, str>, u32> = FxHashMap::default();
    for (place, addition) in additions.iter().enumerate() {
        let is_again = places.insert(addition.given().text(), place as u32);
        is_again.is_none().then_some(())?;
    }
    let mut seen: Vec<(Vec<u32>, &Exchange<'_, '_>)> = Vec::with_capacity(reads.len());
    for read in &reads {
        let Some(elements) = read.got().and_then(Tree::elements) else {
            continue;
        };
        let places = elements
            .iter()
            .map(|element| places.get(&element.text()).copied());
        let mut places: Vec<u32> = places.collect::<Option<_>>()?;
        places.sort_unstable();
        places.dedup();
        seen.push((places, read));
    }
    seen.sort_by_key(|(elements, _)| elements.len());
    if !seen.windows(2).all(|pair| contains(&pair[1].0, &pair[0].0)) {
        return Some(Linear::Broken(Level::PlainPrefixConsistency));
    }
    has_ends(&all).then_some(())?;
    Some(in_time(placed(&additions, &seen), &reads))
}

/// Whether a sorted list has all numbers of another one.
fn contains(all: &[u32], some: &[u32]) -> bool {
    let mut all = all.iter();
    some.iter().all(|one| all.any(|other| other == one))
}

/// All operations by their parts: those of additions are even, those of reads odd.
fn placed(additions: &[&Exchange<'_, '_>], seen: &[(Vec<u32>, &Exchange<'_, '_>)]) -> Vec<Placed> {
    let place = |part: usize, exchange: &Exchange<'_, '_>| {
        let end = exchange.end.filter(|_| exchange.is_committed());
        Placed {
            part,
            begin: exchange.since,
            end: end.map_or(i64::MAX, |end| 2 * end),
            call: exchange.call,
        }
    };
    let mut parts: Vec<Option<usize>> = vec![None; additions.len()];
    let mut all = Vec::with_capacity(additions.len() + seen.len());
    let (mut part, mut n) = (0, 0);
    for (elements, read) in seen {
        if elements.len() > n {
            (part, n) = (part + 2, elements.len());
            for element in elements {
                parts[*element as usize].get_or_insert(part);
            }
        }
        all.push(place(part + 1, read));
    }
    for (addition, found) in additions.iter().zip(parts) {
        // What no read has comes last, or did not happen.
        let found = found.or(addition.is_committed().then_some(part + 2));
        all.extend(found.map(|found| place(found, addition)));
    }
    all
}

/// The order of the parts, if no operation had ended before one of an earlier part began.
fn in_time(mut all: Vec<Placed>, reads: &[&Exchange<'_, '_>]) -> Linear<usize> {
    all.sort_by_key(|one| (one.part, one.begin));
    let (mut before, mut latest) = (i64::MIN, i64::MIN);
    let mut order: Vec<(i64, usize)> = Vec::with_capacity(all.len());
    let mut part = 0;
    for one in &all {
        if one.part != part {
            (before, part) = (before.max(latest), one.part);
        }
        if one.end < before {
            return Linear::Broken(Level::StrictSerializability);
        }
        latest = latest.max(one.begin);
        order.push((before.max(one.begin), one.call));
    }
    // A read that says nothing fits anywhere.
    let says_nothing = |read: &&&Exchange<'_, '_>| {
        read.is_committed() && read.got().is_none_or(|got| got.elements().is_none())
    };
    let silent = reads.iter().filter(says_nothing);
    order.extend(silent.map(|read| (read.since, read.call)));
    order.sort_by_key(|(at, _)| *at);
    Linear::Holds(order.into_iter().map(|(_, call)| call).collect())
}

#[cfg(test)]
mod tests;
