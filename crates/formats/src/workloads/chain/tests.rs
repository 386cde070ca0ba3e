//! Sets against all orders.

use super::*;
use crate::operations::{Operations, pair};
use crate::workloads::exchange::exchanges;
use crate::workloads::linear::tests::take;
use fastrand::Rng;
use std::collections::BTreeSet;

/// Elements, as they are written.
type Set = BTreeSet<String>;

/// Whether some order of the rest is a run, in real time if that counts; what has no answer may be left out.
fn some_order(all: &[&Exchange<'_, '_>], left: &[usize], set: &Set, in_time: bool) -> bool {
    let is_open = |place: &usize| all[*place].outcome == Outcome::Unknown;
    if left.iter().all(is_open) {
        return true;
    }
    left.iter().any(|&place| {
        let is_before = |other: &&usize| {
            let end = all[**other].end.filter(|_| all[**other].is_committed());
            end.is_some_and(|end| 2 * end < all[place].since)
        };
        let rest: Vec<usize> = left.iter().copied().filter(|one| *one != place).collect();
        if in_time && rest.iter().any(|other| is_before(&other)) {
            return false;
        }
        let mut after = set.clone();
        if is_addition(all[place]) {
            after.insert(all[place].given().text().into_owned());
        } else if let Some(elements) = all[place].got().and_then(Tree::elements) {
            let seen: Set = elements.iter().map(|one| one.text().into_owned()).collect();
            if seen != after {
                return false;
            }
        }
        some_order(all, &rest, &after, in_time)
    })
}

/// Operations of three clients, with some wrong reads.
fn operations(rng: &mut Rng) -> Operations<'static> {
    let mut operations = Operations::default();
    let mut waiting: Vec<Option<u64>> = vec![None; 3];
    let mut added = 0;
    for _ in 0..rng.usize(4..15) {
        let process = rng.usize(0..3);
        let mut take = |stage: &'static str, word: &'static str, value: Tree<'static>| {
            take(&mut operations, process, [stage, word], value);
        };
        match waiting[process].take() {
            None if rng.bool() => {
                added += 1;
                take(":invoke", ":add", Tree::Number(added));
                waiting[process] = Some(added);
            }
            None => {
                take(":invoke", ":read", Tree::Nil);
                waiting[process] = Some(0);
            }
            Some(0) => {
                let seen = (1..=added).filter(|_| rng.u8(0..6) > 0).map(Tree::Number);
                take(":ok", ":read", Tree::Set(seen.collect()));
            }
            Some(element) => {
                let stage = [":ok", ":ok", ":ok", ":info", ":fail"][rng.usize(0..5)];
                take(stage, ":add", Tree::Number(element));
            }
        }
    }
    operations
}

#[test]
fn all_orders_agree_on_sets() {
    let mut rng = Rng::with_seed(62);
    let mut found = [0; 3];
    for _ in 0..4000 {
        let operations = operations(&mut rng);
        let calls = pair(&operations.events);
        let all = exchanges(&operations, &calls, false);
        let did_happen = |one: &&Exchange<'_, '_>| one.outcome != Outcome::Aborted;
        let happened: Vec<&Exchange<'_, '_>> = all.iter().filter(did_happen).collect();
        let left: Vec<usize> = (0..happened.len()).collect();
        let is_run = |in_time| some_order(&happened, &left, &Set::new(), in_time);
        match order(&all) {
            Linear::Holds(order) => {
                found[0] += 1;
                assert!(is_run(true));
                let calls: BTreeSet<usize> = order.iter().copied().collect();
                let places = order.iter().map(|call| {
                    let at = happened.iter().position(|one| one.call == *call);
                    at.expect("it happened")
                });
                let places: Vec<usize> = places.collect();
                let sure = happened.iter().filter(|one| one.is_committed());
                assert!(sure.clone().all(|one| calls.contains(&one.call)));
                // In this order, and no other.
                let alone: Vec<&Exchange<'_, '_>> = places.iter().map(|at| happened[*at]).collect();
                let mut set = Set::new();
                for (at, one) in alone.iter().enumerate() {
                    let ended_before = |later: &&&Exchange<'_, '_>| {
                        let end = later.end.filter(|_| later.is_committed());
                        end.is_some_and(|end| 2 * end < one.since)
                    };
                    assert!(!alone[at + 1..].iter().any(|later| ended_before(&later)));
                    assert!(some_order(&[*one], &[0], &set, true));
                    if is_addition(one) {
                        set.insert(one.given().text().into_owned());
                    }
                }
            }
            Linear::Broken(Level::PlainPrefixConsistency) => {
                found[1] += 1;
                assert!(!is_run(false));
            }
            Linear::Broken(_) => {
                found[2] += 1;
                assert!(!is_run(true) && is_run(false));
            }
            // An element whose addition failed was read.
            Linear::Unknown => assert!(!is_run(false)),
        }
    }
    assert!(found.iter().all(|n| *n > 100), "{found:?}");
}
