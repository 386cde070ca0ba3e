//! A search that cannot end in time or memory ends at the limit that the user set, and says so; what was found by then stays.

use isoscope::audit::{self, Examples};
use isoscope::checkers::{Cause, Findings, Level, LevelResult, Options, Verdict, Witness};
use isoscope::control::{Control, Interrupt};
use isoscope::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};
use isoscope::report::Settings;
use isoscope::verify::{verify, verify_within};
use std::sync::Arc;
use std::time::Duration;

/// Swaps of every value below `n` for every other one, all at the same time, and two more that only go together with each
/// other: an order is a trail through all edges of a graph in two parts, so there is none, but many trails to try.
fn swaps(n: u64) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    let key = builder.key_name("x");
    let all = (0..n).flat_map(|from| {
        (0..n)
            .filter(move |to| *to != from)
            .map(move |to| (from, to))
    });
    for (from, to) in all.chain([(n, n + 1), (n + 1, n)]) {
        let session = builder.session_name(&format!("{from}-{to}"));
        let t = builder.transaction(session, Outcome::Committed);
        builder.set_interval(t, Interval { start: 0, end: 100 });
        builder.operation(t, OperationKind::Read, key, Value(from), 0);
        builder.operation(t, OperationKind::Write, key, Value(to), 0);
    }
    builder.finish().expect("small")
}

fn linearizability(history: &History, control: &Control) -> Findings {
    let options = Options {
        levels: vec![Level::Linearizability],
        ..Options::default()
    };
    isoscope::audit::check(history, &options, control, &|_| {})
}

fn used() -> usize {
    memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem)
}

/// One test, since memory is that of the whole process.
#[test]
fn a_hopeless_search_ends_at_the_limit_that_was_set() {
    let small = swaps(3);
    let findings = linearizability(&small, &Control::new());
    assert_eq!(findings.levels[0].verdict, Verdict::Violated);
    let verified = verify(
        &small,
        &isoscope::report::of_findings(&small, &findings, Settings::default()),
    )
    .expect("evidence holds");
    assert_eq!(verified.violated, ["LIN"]);

    let large = swaps(9);
    let interrupted = |interrupt| Verdict::Undecided(Cause::Interrupted(interrupt));
    let control = Control::new().with_time_limit(Duration::from_millis(300));
    assert_eq!(
        linearizability(&large, &control).levels[0].verdict,
        interrupted(Interrupt::TimeLimit)
    );

    let before = used();
    if before == 0 {
        println!("skipped: the system does not tell how much memory is used");
        return;
    }
    let limit = before + (48 << 20);
    let control = Control::new().with_memory_limit(limit);
    let watched = std::thread::scope(|scope| {
        let search = scope.spawn(|| linearizability(&large, &control));
        let mut most = 0;
        while !search.is_finished() {
            most = most.max(used());
            std::thread::sleep(Duration::from_millis(1));
        }
        (search.join().expect("it does not panic"), most)
    });
    let (findings, most) = watched;
    assert_eq!(
        findings.levels[0].verdict,
        interrupted(Interrupt::MemoryLimit)
    );
    assert!(most <= limit, "{most} bytes were used, {limit} allowed");
}

/// More updates from 1 than to 1, of a key whose `n` values are written again and again, each in a session of its own: an order in
/// which each replaces what it read does not exist, but there are many to try.
fn pigeons(n: u64) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    let key = builder.key_name("x");
    let all = (0..n).flat_map(|from| {
        (0..n)
            .filter(move |to| *to != from)
            .map(move |to| (from, to))
    });
    for (place, (from, to)) in all.chain([(1, 2), (1, 2)]).enumerate() {
        let session = builder.session_name(&place.to_string());
        let t = builder.transaction(session, Outcome::Committed);
        builder.operation(t, OperationKind::Read, key, Value(from), 0);
        builder.operation(t, OperationKind::Write, key, Value(to), 0);
    }
    builder.finish().expect("small")
}

#[test]
fn a_level_that_is_decided_does_not_wait_for_another_one() {
    let history = pigeons(8);
    let control = Control::new();
    let options = Options {
        levels: vec![Level::ReadCommitted, Level::Serializability],
        counts: false,
        ..Options::default()
    };
    // The work goes on until the first level is known, and no longer.
    let is_known = |result: &LevelResult| {
        if result.level == Level::ReadCommitted && matches!(result.verdict, Verdict::Satisfied(_)) {
            control.stop();
        }
    };
    let findings = audit::check(&history, &options, &control, &is_known);
    assert!(
        matches!(findings.levels[0].verdict, Verdict::Satisfied(_)),
        "{:?}",
        findings.levels[0].verdict
    );
    assert!(
        matches!(
            findings.levels[1].verdict,
            Verdict::Undecided(Cause::Interrupted(_))
        ),
        "{:?}",
        findings.levels[1]
    );
}

#[test]
fn evidence_that_cannot_be_made_small_in_time_is_given_larger() {
    let text = "a: [r x 0, w x 1] [r y 0]\nb: [r x 0, w x 2] [w y 1]\nc: [r x 2, r y 1]\n";
    let history = isoscope::formats::text::parse(text).expect("a history in our notation");
    let options = Options {
        levels: vec![Level::SnapshotIsolation],
        ..Options::default()
    };
    let findings = audit::check(&history, &options, &Control::new(), &|_| {});
    let first = findings.violations.first().expect("a lost update");
    for late in [Duration::ZERO, Duration::from_secs(1000)] {
        let control = Control::new().with_time_limit(late);
        let example = Examples::new(&history, &findings).of(first, &control);
        assert!(audit::holds(&example.counterexample), "{late:?}");
        assert!(!example.explanation.steps.is_empty(), "{late:?}");
    }
}

#[test]
fn what_is_not_verified_in_time_is_neither_right_nor_wrong() {
    let history = swaps(3);
    let report = isoscope::report::of_findings(
        &history,
        &linearizability(&history, &Control::new()),
        Settings::default(),
    );
    let control = Control::new();
    control.stop();
    let verified = verify_within(&history, &report, &control).expect("nothing is wrong");
    assert_eq!(verified.ended, Some(Interrupt::Cancelled));
    assert_eq!(verified.without_evidence, ["LIN violated"]);
    assert!(verified.violated.is_empty());
}

#[test]
fn levels_that_one_order_satisfies_share_it() {
    let history = isoscope::formats::text::parse("a: [w x 1] [r y 2]\nb: [r x 1, w y 2]\n")
        .expect("a history");
    let findings = audit::check(&history, &Options::default(), &Control::new(), &|_| {});
    let orders: Vec<_> = findings
        .levels
        .iter()
        .filter_map(|result| match &result.verdict {
            Verdict::Satisfied(Witness::CommitOrder(order)) => Some(order),
            _ => None,
        })
        .collect();
    assert!(
        orders.len() > 2 && orders.iter().all(|order| Arc::ptr_eq(order, orders[0])),
        "{findings:?}"
    );
}

/// Thousands of reads, each of which may be of any of thousands of writers: an order is found without a choice of one for
/// each.
#[test]
fn thousands_of_writers_of_one_value_need_no_choice() {
    let text: String = (0..4)
        .map(|session| format!("s{session}: {}\n", "[w x 1] [r x 1] ".repeat(3_000)))
        .collect();
    let history = isoscope::formats::text::parse(&text).expect("a history in our notation");
    let findings = audit::check(&history, &Options::default(), &Control::new(), &|_| {});
    assert!(
        findings
            .levels
            .iter()
            .all(|result| matches!(result.verdict, Verdict::Satisfied(_))),
        "{findings:?}"
    );
}
