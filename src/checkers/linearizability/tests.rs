//! Blocks against the search, which share nothing but the operations.

use super::blocks::{self, Arranged};
use super::input::Keyed;
use super::search::{OrderSearch, SearchOutcome};
use crate::control::Control;
use crate::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};
use crate::relations::resolve;

/// One key, a few dozen operations of a store that is sometimes observed late.
fn random_history(random: &mut fastrand::Rng) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    let key = builder.key_number(0);
    let stretch = random.i64(1..12);
    let (mut current, mut versions) = (0u64, vec![0u64]);
    for n in 0..random.u64(10..60) {
        let session = builder.session_number(n);
        let outcome = if random.u8(0..20) == 0 { Outcome::Unknown } else { Outcome::Committed };
        let draft = builder.transaction(session, outcome);
        let kind = random.u8(0..6);
        let seen = if random.u8(0..60) == 0 { versions[random.usize(0..versions.len())] } else { current };
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
        builder.set_interval(draft, Interval { start: at - random.i64(0..stretch), end: at + random.i64(0..stretch) });
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
        let woven = matches!(weaving.run(&control).expect("not stopped"), SearchOutcome::Order(_));
        let is_ordered = match (blocks::arrange(ops), search.run(&control).expect("not stopped")) {
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
