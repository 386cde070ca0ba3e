//! Blocks against the search, which share nothing but the operations, and the frontier against trying everything.

use super::blocks::{self, Arranged};
use super::frontier::{Frontier, Part, Walked};
use super::input::{Effect, Keyed, Op, Role};
use super::search::{OrderSearch, SearchOutcome};
use super::steps::Steps;
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};
use isoscope_model::relations::resolve;

/// One key, a few dozen operations of a store that is sometimes observed late.
fn random_history(random: &mut fastrand::Rng) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    let key = builder.key_number(0);
    let stretch = random.i64(1..12);
    let (mut current, mut versions) = (0u64, vec![0u64]);
    for n in 0..random.u64(10..60) {
        let session = builder.session_number(n);
        let outcome = if random.u8(0..20) == 0 {
            Outcome::Unknown
        } else {
            Outcome::Committed
        };
        let draft = builder.transaction(session, outcome);
        let kind = random.u8(0..6);
        let seen = if random.u8(0..60) == 0 {
            versions[random.usize(0..versions.len())]
        } else {
            current
        };
        if kind > 0 {
            builder.operation(draft, OperationKind::Read, key, Value(seen), 0);
        }
        if kind < 3 {
            builder.operation(draft, OperationKind::Write, key, Value(n + 1), 0);
            if outcome == Outcome::Committed {
                current = n + 1;
                versions.push(current);
            }
        }
        let at = n as i64 * 3;
        builder.set_interval(
            draft,
            Interval {
                start: at - random.i64(0..stretch),
                end: at + random.i64(0..stretch),
            },
        );
    }
    builder.finish().expect("small")
}

#[test]
fn blocks_and_search_agree() {
    let mut random = fastrand::Rng::with_seed(11);
    let control = Control::new();
    let mut counts = [0; 2];
    for _ in 0..4000 {
        let history = random_history(&mut random);
        let resolution = resolve(&history, &control).expect("not stopped");
        let keyed = Keyed::new(&history, &resolution);
        let ops = keyed.of(0);
        let search = OrderSearch::of_key(&history, ops, |_| 0);
        let weaving = OrderSearch::of_sessions(&history, ops, |_| false, |_| 0, None);
        let woven = matches!(
            weaving.run(&control).expect("not stopped"),
            SearchOutcome::Order(_)
        );
        let is_ordered = match (
            blocks::arrange(ops),
            search.run(&control).expect("not stopped"),
        ) {
            (Arranged::Order(order), SearchOutcome::Order(other)) => {
                assert_eq!(order.len(), other.len());
                true
            }
            (Arranged::Clashes(clashes), SearchOutcome::None { .. }) => {
                assert!(clashes.iter().all(|clash| clash.ops.len() > 1));
                false
            }
            (blocks, search) => panic!("{blocks:?} but {search:?}\n{ops:#?}"),
        };
        assert_eq!(is_ordered, woven, "{ops:#?}");
        counts[usize::from(is_ordered)] += 1;
    }
    assert!(counts.iter().all(|&n| n > 400), "{counts:?}");
}

/// One key, few values, few operations that overlap much.
fn small_history(random: &mut fastrand::Rng) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    let key = builder.key_number(0);
    let (n_values, width, span) = (random.u64(2..6), random.i64(1..12), random.i64(4..30));
    for n in 0..random.u64(1..10) {
        let outcome = if random.u8(0..8) == 0 {
            Outcome::Unknown
        } else {
            Outcome::Committed
        };
        let session = builder.session_number(n);
        let draft = builder.transaction(session, outcome);
        let kind = random.u8(0..10);
        let mut value = || Value(random.u64(0..n_values));
        match kind {
            0..4 => builder.operation(draft, OperationKind::Read, key, value(), 0),
            4..7 => builder.operation(draft, OperationKind::Write, key, value(), 0),
            7..9 => {
                builder.operation(draft, OperationKind::Read, key, value(), 0);
                builder.operation(draft, OperationKind::Write, key, value(), 0);
            }
            _ => builder.read_of_other(draft, key, value(), 0),
        }
        let start = random.i64(0..span);
        builder.set_interval(
            draft,
            Interval {
                start,
                end: start + random.i64(0..=width),
            },
        );
    }
    builder.finish().expect("small")
}

fn fits(effect: Effect, value: Value) -> bool {
    effect.reads.is_none_or(|read| read == value)
        && effect.differs.is_none_or(|other| other != value)
}

/// Whether some order explains all that must come, from one of some values, by trying every operation that may be next.
fn can_be_ordered(history: &History, ops: &[Op], parts: &[Part], from: &[Value]) -> bool {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut open: Vec<(u32, Value, i64)> = from.iter().map(|&value| (0, value, i64::MIN)).collect();
    while let Some((placed, value, moment)) = open.pop() {
        if !seen.insert((placed, value, moment)) {
            continue;
        }
        let left = (0..ops.len()).filter(|&at| parts[at] == Part::Must && placed >> at & 1 == 0);
        let Some(first_end) = left.map(|at| ops[at].end).min() else {
            return true;
        };
        for (at, op) in ops.iter().enumerate() {
            let effect = op.effect(history);
            let may_come = match parts[at] {
                Part::Must => placed >> at & 1 == 0,
                Part::May => placed >> at & 1 == 0 && effect.writes.is_some(),
                Part::Loose => effect.writes.is_some() && op.end >= moment,
                Part::Out => false,
            };
            if may_come && op.start <= first_end && fits(effect, value) {
                open.push((
                    placed | 1 << at,
                    effect.writes.unwrap_or(value),
                    moment.max(op.start),
                ));
            }
        }
    }
    false
}

/// Whether an order has all that must come, respects real time, and explains what was observed.
fn explains(history: &History, ops: &[Op], parts: &[Part], order: &[u32]) -> bool {
    let (mut value, mut moment) = (Value(0), i64::MIN);
    let mut seen = rustc_hash::FxHashSet::default();
    let all_fit = order.iter().all(|&place| {
        let op = &ops[place as usize];
        let effect = op.effect(history);
        moment = moment.max(op.start);
        let is_right = seen.insert(place) && op.end >= moment && fits(effect, value);
        value = effect.writes.unwrap_or(value);
        is_right
    });
    let is_there = |place: &u32| parts[*place as usize] != Part::Must || seen.contains(place);
    all_fit && (0..ops.len() as u32).all(|place| is_there(&place))
}

#[test]
fn the_frontier_finds_what_trying_everything_finds() {
    let mut random = fastrand::Rng::with_seed(12);
    let control = Control::new();
    let mut counts = [[0; 2]; 2];
    for _ in 0..20_000 {
        let history = small_history(&mut random);
        let resolution = resolve(&history, &control).expect("not stopped");
        let keyed = Keyed::by_value(&history, &resolution);
        let ops: Vec<Op> = keyed
            .of(0)
            .iter()
            .filter(|op| op.role != Role::Idle)
            .copied()
            .collect();
        let is_part_of_more = random.bool();
        let mut part = |op: &Op| match random.u8(0..6) {
            _ if op.optional => Part::May,
            0 | 1 if is_part_of_more => Part::Loose,
            2 if is_part_of_more => Part::Out,
            _ => Part::Must,
        };
        let parts: Vec<Part> = ops.iter().map(&mut part).collect();
        let mut from = vec![Value(0)];
        let steps = Steps::new(&history, &ops, |_| 0);
        let mut frontier = Frontier::new(&steps, |place| parts[place]);
        if is_part_of_more {
            let there: Vec<Value> = (1..6).map(Value).filter(|_| random.bool()).collect();
            frontier = frontier.beginning_with(steps.classes_of(|value| there.contains(&value)));
            from.extend(there.into_iter().chain([Value(99)]));
        }
        let expected = can_be_ordered(&history, &ops, &parts, &from);
        let shown = || -> Vec<String> {
            let op = |(op, part): (&Op, &Part)| {
                format!(
                    "{part:?} {}..{} {:?}",
                    op.start,
                    op.end,
                    op.effect(&history)
                )
            };
            ops.iter()
                .zip(&parts)
                .map(op)
                .chain([format!("from {from:?}")])
                .collect()
        };
        counts[usize::from(is_part_of_more)][usize::from(expected)] += 1;
        match frontier.walk(&control).expect("not stopped") {
            Walked::Order(order) => {
                assert!(expected, "{:#?}", shown());
                assert!(
                    is_part_of_more || explains(&history, &ops, &parts, &order),
                    "{order:?} {:#?}",
                    shown()
                );
            }
            Walked::None { .. } => assert!(!expected, "{:#?}", shown()),
            Walked::TooWide => panic!("few operations"),
        }
    }
    assert!(
        counts.as_flattened().iter().all(|&n| n > 1_000),
        "{counts:?}"
    );
}
