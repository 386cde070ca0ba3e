//! What is found in small histories, each with one thing wrong.

use super::*;
use isoscope_model::history::{Builder, Interval, OperationKind, Origin, Outcome, Value};
use isoscope_model::relations::resolve;
use isoscope_testing::{history, random::anything};

fn examined(history: &History) -> Health {
    let control = Control::new();
    let resolution = resolve(history, &control).expect("no limit was set");
    examine(history, &resolution, &control).expect("no limit was set")
}

fn of(text: &str) -> (History, Health) {
    let history = history(text);
    let health = examined(&history);
    (history, health)
}

/// What casts doubt, but for how little such short histories test.
fn doubts(health: &Health) -> Vec<Kind> {
    health
        .doubts()
        .map(|finding| finding.kind)
        .filter(|kind| *kind != Kind::NothingTested)
        .collect()
}

#[test]
fn a_clean_history_gives_no_doubt_and_all_conditions() {
    let (_, health) = of("a: [r x 0, w x 1]\nb: [r x 1, w x 2]");
    assert_eq!(doubts(&health), []);
    for kind in [
        Kind::UniqueValues,
        Kind::ReadModifyWrite,
        Kind::MiniTransactions,
    ] {
        let finding = health.finding(kind).expect("conditions are always told");
        assert_eq!(finding.count, 0, "{finding:?}");
        assert!(finding.text.starts_with("Holds"), "{finding:?}");
    }
    assert_eq!(
        health.version_order,
        VersionOrder {
            known: 2,
            by_session: 0,
            pairs: 2
        }
    );
    assert_eq!(health.version_order.share(), 1.0);
}

#[test]
fn one_unwritten_value_a_key_before_all_others_is_left_over() {
    let (history, health) = of("a: [r x 7, r y 7] [w x 1]\nb: [r x 7, r y 7]");
    assert_eq!(doubts(&health), [Kind::LeftOver]);
    let finding = health.finding(Kind::LeftOver).expect("it is a doubt");
    assert_eq!((finding.count, finding.operations.len()), (4, 4));
    assert_eq!(
        finding.remedy.as_ref().map(Remedy::flag).as_deref(),
        Some("--initial 7")
    );
    assert_eq!(history.operation(finding.operations[0]).value, Value(7));
    // 0 is the initial version of another key: it must stay one.
    let (_, health) = of("a: [r x 7, r y 7, r z 0]");
    let remedy = health
        .finding(Kind::LeftOver)
        .and_then(|finding| finding.remedy.clone());
    assert_eq!(
        remedy.map(|remedy| remedy.flag()).as_deref(),
        Some("--initial any-unwritten")
    );
    let (_, health) = of("a: [r x 7, r y 8]");
    let remedy = health
        .finding(Kind::LeftOver)
        .and_then(|finding| finding.remedy.clone());
    assert_eq!(
        remedy.map(|remedy| remedy.flag()).as_deref(),
        Some("--initial any-unwritten")
    );
}

#[test]
fn an_unwritten_value_among_others_is_thin_air() {
    let (_, health) = of("a: [w x 1] [r x 5] [r x 1] [w x 9]");
    assert_eq!(doubts(&health), [Kind::ThinAir]);
    let finding = health.finding(Kind::ThinAir).expect("it is a doubt");
    assert_eq!(finding.count, 1);
    assert!(finding.text.contains("x = 5"), "{}", finding.text);
}

#[test]
fn where_initial_versions_are_read_an_unwritten_value_is_none() {
    let (_, health) = of("a: [r x 7, r y 0]");
    assert_eq!(doubts(&health), [Kind::ThinAir]);
    assert!(
        health
            .finding(Kind::ThinAir)
            .is_some_and(|finding| finding.remedy.is_some()),
        "0 is that of another key"
    );
    let (_, health) = of("a: [r x 7, r x 0]");
    assert!(
        health
            .finding(Kind::ThinAir)
            .is_some_and(|finding| finding.remedy.is_none()),
        "0 is initial already"
    );
    let (_, health) = of("a: [w x 1]\nb: [r x 7]");
    assert_eq!(
        doubts(&health),
        [Kind::ThinAir],
        "a value larger than all others is no old one"
    );
    let (_, health) = of("a: [w x 8]\nb: [r x 7]");
    assert_eq!(doubts(&health), [Kind::LeftOver]);
}

#[test]
fn large_values_at_the_end_mean_that_the_log_was_cut_off() {
    let (_, health) = of("a: [w x 1] [r x 1] [r x 5]\nb: [w y 1] [r y 1] [r y 6]");
    assert_eq!(doubts(&health), [Kind::CutOff]);
    assert!(
        health
            .finding(Kind::CutOff)
            .is_some_and(|finding| finding.text.contains("cut off"))
    );
}

#[test]
fn a_value_that_several_sessions_read_has_a_missing_writer() {
    let (_, health) = of("a: [w x 9] [r x 5] [r x 9]\nb: [r x 9] [r x 5] [r x 9]");
    assert_eq!(doubts(&health), [Kind::CutOff]);
    assert!(
        health
            .finding(Kind::CutOff)
            .is_some_and(|finding| finding.text.contains("missing from the log"))
    );
}

#[test]
fn a_session_that_was_left_out_is_recognised() {
    // Session 0 writes many versions; the log is then made without it.
    let mut text = String::new();
    for t in 0..60 {
        let (key, reader) = (t % 4, 1 + t % 3);
        text += &format!(
            "{reader}: [r {key} {}, w {key} {}]\n",
            1000 + t / 8,
            2000 + t
        );
    }
    let (_, health) = of(&text);
    let finding = health.finding(Kind::CutOff).expect("a session is missing");
    assert_eq!(finding.count, 60);
    assert_eq!(doubts(&health), [Kind::CutOff]);
}

#[test]
fn reads_of_left_out_transactions_do_not_count() {
    let (_, health) = of("a: [r x 7]?\nb: [w x 1]");
    assert_eq!(doubts(&health), []);
    assert_eq!(
        health
            .finding(Kind::UnknownOutcome)
            .map(|finding| finding.count),
        Some(1)
    );
}

#[test]
fn duplicate_values_are_counted_with_the_reads_they_touch() {
    let (history, health) = of("a: [w x 1] [w y 1]\nb: [w x 1]\nc: [r x 1]");
    let finding = health
        .finding(Kind::DuplicateValues)
        .expect("x = 1 is written twice");
    assert_eq!(
        (finding.count, finding.severity, finding.operations.len()),
        (1, Severity::Caution, 2)
    );
    assert!(
        finding.text.contains("1 read could have several writers"),
        "{}",
        finding.text
    );
    assert_eq!(finding.transactions.len(), 2);
    assert_eq!(history.operation_text(finding.operations[0]), "w(x) = 1");
    assert!(
        health
            .finding(Kind::UniqueValues)
            .is_some_and(|finding| finding.count == 1)
    );
    let (_, health) = of("a: [w x 1]!\nb: [w x 1]\nc: [r x 1]");
    assert_eq!(doubts(&health), []);
    assert!(health.finding(Kind::RetriedValues).is_some());
    assert!(health.finding(Kind::DuplicateValues).is_none());
}

#[test]
fn a_written_initial_value_is_told() {
    let (_, health) = of("a: [w x 1] [w x 0]\nb: [r x 0]");
    assert_eq!(doubts(&health), [Kind::InitialOrWritten]);
}

#[test]
fn unknown_outcomes_are_told_apart() {
    let (_, health) = of("a: [w x 1]?\nb: [w x 2]?\nc: [r x 1]");
    let finding = health.finding(Kind::UnknownOutcome).expect("there are two");
    assert_eq!(finding.count, 2);
    assert!(
        finding.text.contains("1 must have committed") && finding.text.contains("1 is left out"),
        "{}",
        finding.text
    );
}

#[test]
fn a_set_up_that_is_not_counted_as_initial_is_told_with_its_flag() {
    let text = |initial: u32| {
        let writes: Vec<String> = (0..6).map(|key| format!("w {key} {initial}")).collect();
        let updates: String = (0..6)
            .map(|key| format!(" [r {key} {initial}, w {key} 2]"))
            .collect();
        format!("a: [{}]\nb:{updates}", writes.join(", "))
    };
    let (history, health) = of(&text(1));
    assert_eq!(doubts(&health), [Kind::SetUp]);
    let finding = health.finding(Kind::SetUp).expect("it is a doubt");
    let name = history.transaction_name(finding.transactions[0]);
    assert_eq!(
        finding.remedy.as_ref().map(Remedy::flag),
        Some(format!("--init txn={name}"))
    );
    // With the initial value it is found without help.
    let (_, health) = of(&text(0));
    assert_eq!(doubts(&health), []);
}

fn with_times(times: &[(i64, i64)]) -> Health {
    let mut builder = Builder::new(Origin::default());
    let session = builder.session_number(0);
    let key = builder.key_number(0);
    for (place, &(start, end)) in times.iter().enumerate() {
        let draft = builder.transaction(session, Outcome::Committed);
        builder.set_interval(draft, Interval { start, end });
        builder.operation(draft, OperationKind::Write, key, Value(place as u64), 0);
    }
    examined(&builder.finish().expect("small histories fit"))
}

#[test]
fn clocks_are_compared_with_sessions() {
    assert_eq!(doubts(&with_times(&[(0, 1), (1, 2), (3, 4)])), []);
    assert_eq!(
        doubts(&with_times(&[(0, 2), (1, 3), (3, 4)])),
        [Kind::SessionsOverlap]
    );
    assert_eq!(
        doubts(&with_times(&[(5, 6), (1, 2)])),
        [Kind::ClockAgainstOrder]
    );
    assert_eq!(doubts(&with_times(&[(5, 4)])), [Kind::ClockAgainstOrder]);
}

#[test]
fn keys_that_say_nothing_are_counted() {
    let (_, health) = of("a: [w x 1] [r y 0]");
    assert_eq!(
        health.finding(Kind::NeverRead).map(|finding| finding.count),
        Some(1)
    );
    assert_eq!(
        health
            .finding(Kind::NeverWritten)
            .map(|finding| finding.count),
        Some(1)
    );
}

#[test]
fn versions_that_several_follow_are_known_once() {
    // Two read-modify-writes of version 1: one pair of three is known, and the single version of key 2.
    let (_, health) = of("a: [w x 1] [w y 1]\nb: [r x 1, w x 2]\nc: [r x 1, w x 3]");
    assert_eq!(
        health.version_order,
        VersionOrder {
            known: 2,
            by_session: 0,
            pairs: 4
        }
    );
}

#[test]
fn versions_of_one_session_are_in_its_order() {
    let (_, health) = of("a: [w x 1] [w x 2] [w y 1] [r x 2, w x 3]\nb: [w y 2] [w y 3]!");
    assert_eq!(
        health.version_order,
        VersionOrder {
            known: 1,
            by_session: 2,
            pairs: 5
        }
    );
    let text = &health
        .finding(Kind::VersionOrder)
        .expect("there are versions")
        .text;
    assert!(
        text.contains("Session order gives 2 more") && text.contains("search for the rest"),
        "{text}"
    );
}

#[test]
fn lists_show_their_order() {
    let (_, health) = of("a: [a x 1]\nb: [a x 2]\nc: [a x 3]\nd: [r x [1 2]]");
    assert_eq!(
        health.version_order,
        VersionOrder {
            known: 2,
            by_session: 0,
            pairs: 3
        }
    );
    assert!(
        health
            .finding(Kind::Lists)
            .is_some_and(|finding| finding.count == 0)
    );
}

#[test]
fn counts_are_exact_and_lists_are_bounded() {
    let transactions: String = (0..300)
        .map(|t| format!(" [w x {}, r x {}]", 1 + t, 5000 + t))
        .collect();
    let (_, health) = of(&format!("a:{transactions}"));
    let finding = health
        .findings
        .iter()
        .find(|finding| finding.severity == Severity::Warning)
        .expect("thin air");
    assert_eq!((finding.count, finding.operations.len()), (300, LISTED));
    assert!(finding.transactions.len() <= LISTED);
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let mut random = fastrand::Rng::with_seed(11);
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    for t in 0..20_000u64 {
        let session = builder.session_number(t % 7);
        let outcome = if random.u8(0..20) == 0 {
            Outcome::Aborted
        } else {
            Outcome::Committed
        };
        let draft = builder.transaction(session, outcome);
        for _ in 0..4 {
            let key = builder.key_number(random.u64(0..50));
            let value = if random.bool() {
                random.u64(0..t + 1)
            } else {
                t
            };
            let kind = if value == t {
                OperationKind::Write
            } else {
                OperationKind::Read
            };
            builder.operation(draft, kind, key, Value(value), 0);
        }
    }
    let history = builder.finish().expect("it fits");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads start");
        pool.install(|| examined(&history))
    };
    let one = with(1);
    assert!(!one.findings.is_empty());
    assert_eq!(one, with(4));
}

#[test]
fn random_histories_are_examined_without_contradiction() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..3000 {
        let history = anything(&mut random);
        let health = examined(&history);
        assert!(health.version_order.known <= health.version_order.pairs);
        for finding in &health.findings {
            assert!(
                finding.operations.is_sorted() && finding.transactions.is_sorted(),
                "{finding:?}"
            );
            assert!(
                finding.operations.len() <= LISTED && !finding.text.is_empty(),
                "{finding:?}"
            );
            assert!(
                finding.severity == Severity::Note || finding.count > 0,
                "{finding:?}"
            );
        }
    }
}

/// Jepsen's log: `n` transactions that append to a key and fail after these many milliseconds, and a read of what the
/// first of them appended.
fn failed_after(milliseconds: &[u64]) -> Health {
    let mut lines = Vec::new();
    let mut line = |time: u64, kind: &str, what: &str, process: usize| {
        let text = format!(
            "{{:type {kind}, :f :txn, :value [[{what}]], :process {process}, :time {time}}}\n"
        );
        lines.push((time, text));
    };
    for (process, took) in milliseconds.iter().enumerate() {
        line(0, ":invoke", &format!(":append {process} 1"), process);
        line(
            took * 1_000_000,
            ":fail",
            &format!(":append {process} 1"),
            process,
        );
    }
    line(10, ":invoke", ":r 0 nil", 99);
    line(20, ":ok", ":r 0 [1]", 99);
    lines.sort();
    let log: String = lines.into_iter().map(|(_, text)| text).collect();
    let opened =
        isoscope_formats::open_bytes("", log.as_bytes(), Some("elle-edn"), &Control::new());
    let history = opened.expect("a log of Jepsen");
    examined(&history)
}

#[test]
fn aborts_that_all_took_equally_long_may_be_time_outs() {
    let health = failed_after(&[5000, 5001, 5000, 5003, 5000, 5001]);
    let finding = health
        .finding(Kind::TimedOut)
        .expect("they look like time-outs");
    assert_eq!((finding.count, finding.severity), (6, Severity::Caution));
    assert!(
        finding
            .text
            .contains("6 of 6 aborted transactions ended 5 s after they began"),
        "{}",
        finding.text
    );
    for others in [
        &[5000, 10, 20, 30, 40, 5000][..],
        &[5, 5, 5, 5, 5, 5],
        &[5000, 5000],
    ] {
        assert!(
            failed_after(others).finding(Kind::TimedOut).is_none(),
            "{others:?}"
        );
    }
}
