//! Counters against all orders.

use super::*;
use crate::operations::{Operations, Tree, pair};
use crate::workloads::exchange::exchanges;
use fastrand::Rng;

struct Sum;

fn number(tree: Option<&Tree<'_>>) -> Option<i64> {
    tree.and_then(Tree::integer)
}

impl Model for Sum {
    type State = i64;

    fn changes(exchange: &Exchange<'_, '_>) -> bool {
        exchange.word == "add"
    }

    fn step(sum: &i64, exchange: &Exchange<'_, '_>) -> Option<i64> {
        if exchange.word == "add" {
            return Some(sum + number(Some(exchange.asked()))?);
        }
        match number(exchange.got()) {
            Some(got) => (got == *sum).then_some(*sum),
            None => Some(*sum),
        }
    }
}

/// Whether some order of the rest, in real time, is a run; what has no answer may be left out.
fn some_order(all: &[&Exchange<'_, '_>], left: &[usize], sum: i64) -> bool {
    if left
        .iter()
        .all(|&place| all[place].outcome == Outcome::Unknown)
    {
        return true;
    }
    left.iter().enumerate().any(|(at, &place)| {
        let is_before = |other: &usize| {
            all[*other].is_committed()
                && all[*other].end.map(|end| 2 * end) < Some(all[place].since)
        };
        let rest: Vec<usize> = left
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, place)| *place)
            .collect();
        !rest.iter().any(is_before)
            && Sum::step(&sum, all[place]).is_some_and(|sum| some_order(all, &rest, sum))
    })
}

/// Whether this order has all that succeeded, in real time, and is a run.
fn is_run(all: &[&Exchange<'_, '_>], order: &[u32]) -> bool {
    let order: Vec<&Exchange<'_, '_>> = order.iter().map(|&place| all[place as usize]).collect();
    let sum = order
        .iter()
        .try_fold(0, |sum, exchange| Sum::step(&sum, exchange));
    let is_late = |(at, exchange): (usize, &&Exchange<'_, '_>)| {
        let mut later = order[at + 1..].iter();
        later.any(|other| {
            other
                .end
                .is_some_and(|end| other.is_committed() && 2 * end < exchange.since)
        })
    };
    let sure = all.iter().filter(|exchange| exchange.is_committed());
    let n_sure = order
        .iter()
        .filter(|exchange| exchange.is_committed())
        .count();
    sum.is_some() && !order.iter().enumerate().any(is_late) && sure.count() == n_sure
}

#[test]
fn all_orders_agree_on_counters() {
    agree_on_counters(3, |rng| rng.u64(1..3));
}

#[test]
fn all_orders_agree_on_counters_of_ones() {
    agree_on_counters(5, |_| 1);
}

/// Adds an operation to a log.
pub(in crate::workloads) fn take(
    operations: &mut Operations<'static>,
    process: usize,
    [stage, word]: [&'static str; 2],
    value: Tree<'static>,
) {
    let field = |name: &'static str, value: Tree<'static>| (Tree::Name(name.into()), value);
    let fields = vec![
        field(":process", Tree::Number(process as u64)),
        field(":type", Tree::Name(stage.into())),
        field(":f", Tree::Name(word.into())),
        field(":value", value),
    ];
    operations.take(fields, 1).expect("an operation");
}

fn agree_on_counters(n_clients: usize, amount: impl Fn(&mut Rng) -> u64) {
    let mut rng = Rng::with_seed(61);
    let mut n_broken = 0;
    for _ in 0..3000 {
        let mut operations = Operations::default();
        let mut waiting: Vec<Option<(bool, u64)>> = vec![None; n_clients];
        for _ in 0..rng.usize(4..13) {
            let process = rng.usize(0..n_clients);
            let mut take = |stage: &'static str, is_add: bool, value: Tree<'static>| {
                let word = if is_add { ":add" } else { ":read" };
                take(&mut operations, process, [stage, word], value);
            };
            match waiting[process].take() {
                None => {
                    let asked = (rng.bool(), amount(&mut rng));
                    take(
                        ":invoke",
                        asked.0,
                        if asked.0 {
                            Tree::Number(asked.1)
                        } else {
                            Tree::Nil
                        },
                    );
                    waiting[process] = Some(asked);
                }
                Some((is_add, amount)) => {
                    let stage = [":ok", ":ok", ":ok", ":info", ":fail"][rng.usize(0..5)];
                    let value = if is_add { amount } else { rng.u64(0..5) };
                    take(stage, is_add, Tree::Number(value));
                }
            }
        }
        let calls = pair(&operations.events);
        let all = exchanges(&operations, &calls, false);
        let happened: Vec<usize> = (0..all.len())
            .filter(|&place| all[place].outcome != Outcome::Aborted)
            .collect();
        let all: Vec<&Exchange<'_, '_>> = all.iter().collect();
        let mut search = Search::new(&Control::new());
        let found = linearity::<Sum>(&all, &mut search);
        if let Some(at_once) = crate::workloads::ones::decide(&all) {
            assert_eq!(
                std::mem::discriminant(&at_once),
                std::mem::discriminant(&found)
            );
            if let Linearity::Holds(order) = &at_once {
                assert!(is_run(&all, order), "the order is a run");
            }
            if let (Linearity::Broken(one), Linearity::Broken(other)) = (&at_once, &found) {
                assert_eq!(one, other, "the first end without an order");
            }
        }
        assert_ne!(found, Linearity::Unknown);
        let has_order = matches!(found, Linearity::Holds(_));
        assert_eq!(has_order, some_order(&all, &happened, 0));
        if let Linearity::Holds(order) = &found {
            assert!(is_run(&all, order), "the order is a run");
        }
        if let Linearity::Broken(place) = found {
            n_broken += 1;
            let core = core::<Sum>(&all, place, &mut search);
            let has_order = |core: &[&Exchange<'_, '_>]| {
                some_order(core, &(0..core.len()).collect::<Vec<_>>(), 0)
            };
            assert!(!has_order(&core), "it has no order");
            for left_out in (0..core.len()).filter(|&n| !Sum::changes(core[n])) {
                let mut rest = core.clone();
                rest.remove(left_out);
                assert!(has_order(&rest), "each answer is needed");
            }
        }
    }
    assert!(n_broken > 500, "{n_broken}");
}
