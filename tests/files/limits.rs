//! A search that cannot end in time or memory ends at the limit that the user set, and says so.

use isoscope::checkers::{Cause, Findings, Level, Options, Verdict};
use isoscope::control::{Control, Interrupt};
use isoscope::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};
use isoscope::report::{Report, Settings};
use isoscope::verify::verify;
use std::time::Duration;

/// Swaps of every value below `n` for every other one, all at the same time, and two more that only go together with each
/// other: an order is a trail through all edges of a graph in two parts, so there is none, but many trails to try.
fn swaps(n: u64) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    let key = builder.key_name("x");
    let all = (0..n).flat_map(|from| (0..n).filter(move |to| *to != from).map(move |to| (from, to)));
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
    let options = Options { levels: vec![Level::Linearizability], ..Options::default() };
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
    let verified = verify(&small, &Report::new(&small, &findings, Settings::default())).expect("evidence holds");
    assert_eq!(verified.violated, ["LIN"]);

    let large = swaps(9);
    let interrupted = |interrupt| Verdict::Undecided(Cause::Interrupted(interrupt));
    let control = Control::new().with_time_limit(Duration::from_millis(300));
    assert_eq!(linearizability(&large, &control).levels[0].verdict, interrupted(Interrupt::TimeLimit));

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
    assert_eq!(findings.levels[0].verdict, interrupted(Interrupt::MemoryLimit));
    assert!(most <= limit, "{most} bytes were used, {limit} allowed");
}
