//! Linearizability of lightweight transactions: the engine against all orders, with evidence that the verifier accepts.

use crate::common;

use common::examine;
use common::linear::{Action, Light, Shape, history, linearizable, random, text};
use common::random::{n_of, seeds, share};
use fastrand::Rng;
use isoscope::checkers::{Checker, Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::counterexample;
use isoscope::formats::{self, Input};
use isoscope::history::{History, Interval, Outcome};
use isoscope::relations::has_real_time;
use isoscope::report::{Document, Report, Settings, VerdictWord};
use isoscope::verify;
use serde_json::Value as Json;
use std::io::Read as _;

/// Histories per shape in the ordinary run.
const EACH: u64 = 6_000;

const TIDY: Shape = Shape {
    most: 7,
    keys: 1,
    differs: false,
    unknown: false,
    repeated: false,
    untidy: false,
    blind: 3,
};

fn report(history: &History, levels: &[Level]) -> Report {
    let options = Options {
        levels: levels.to_vec(),
        ..Options::default()
    };
    let findings = isoscope::audit::check(history, &options, &Control::new(), &|_| {});
    isoscope::report::of_findings(
        history,
        &findings,
        Settings {
            witness: true,
            ..Settings::default()
        },
    )
}

/// The verdict of one level, after the verifier has looked at its evidence.
fn decide(history: &History, level: Level) -> Result<(VerdictWord, Report), String> {
    let report = report(history, &[level]);
    examine::believed(history, &report)?;
    Ok((report.levels[0].verdict, report))
}

/// Decided like by brute force? With `must`, an undecided verdict is wrong even where the clock goes back. Counts satisfied, violated, undecided.
fn compare(all: &[Light], must: bool, counts: &mut [usize; 3]) -> Result<(), String> {
    let history = history(all);
    if !has_real_time(&history) {
        let (verdict, _) = decide(&history, Level::Linearizability)?;
        return if verdict == VerdictWord::Undecided {
            Ok(())
        } else {
            Err(format!("{verdict:?} without times"))
        };
    }
    let expected = linearizable(all);
    let (verdict, report) = decide(&history, Level::Linearizability)?;
    counts[verdict as usize] += 1;
    match verdict {
        VerdictWord::Satisfied if expected => {}
        VerdictWord::Violated if !expected => {}
        // Times that contradict session order say something about the clock, and nothing about the store.
        VerdictWord::Undecided if !must && clock_goes_back(all) => {}
        other => {
            return Err(format!(
                "{other:?} instead of {expected}: {:?}",
                report.levels[0].reason
            ));
        }
    }
    rejects_damage(&history, &report)?;
    same_as_strict(all, &history, verdict)
}

/// Without failed comparisons it is strict serializability.
fn same_as_strict(all: &[Light], history: &History, verdict: VerdictWord) -> Result<(), String> {
    if all
        .iter()
        .any(|light| matches!(light.action, Action::Differs(_)))
    {
        return Ok(());
    }
    let (strict, _) = decide(history, Level::StrictSerializability)?;
    let both = verdict != VerdictWord::Undecided && strict != VerdictWord::Undecided;
    if both && strict != verdict {
        Err(format!("SSER {strict:?}, LIN {verdict:?}"))
    } else {
        Ok(())
    }
}

/// Evidence with something wrong in it is not accepted.
fn rejects_damage(history: &History, report: &Report) -> Result<(), String> {
    let must_fail = |damaged: &Report, how: &str| match examine::believed(history, damaged) {
        Ok(_) => Err(format!("accepted although {how}: {damaged:?}")),
        Err(_) => Ok(()),
    };
    if let Some(witness) = &report.levels[0].witness {
        let find = |at: usize| {
            let name = &witness[at].id;
            let t = history
                .transactions()
                .find(|&t| history.exact_transaction_name(t) == *name);
            t.expect("a transaction of the history")
        };
        for (at, copy) in witness.iter().enumerate() {
            if history.outcome(find(at)) == Outcome::Committed {
                let mut damaged = report.clone();
                damaged.levels[0]
                    .witness
                    .as_mut()
                    .expect("a witness")
                    .remove(at);
                must_fail(&damaged, "a transaction is missing")?;
            }
            let mut damaged = report.clone();
            damaged.levels[0]
                .witness
                .as_mut()
                .expect("a witness")
                .push(copy.clone());
            must_fail(&damaged, "a transaction stands twice")?;
            if at > 0
                && let (Some(before), Some(after)) =
                    (history.interval(find(at - 1)), history.interval(find(at)))
                && before.end < after.start
                && history.outcome(find(at - 1)) == Outcome::Committed
            {
                let mut damaged = report.clone();
                damaged.levels[0]
                    .witness
                    .as_mut()
                    .expect("a witness")
                    .swap(at - 1, at);
                must_fail(&damaged, "real time is turned round")?;
            }
        }
    }
    for (place, violation) in report
        .violations
        .iter()
        .enumerate()
        .filter(|(_, v)| v.pattern == "NoLinearOrder")
    {
        for at in 0..violation.transactions.len() {
            let mut damaged = report.clone();
            damaged.violations[place].transactions.remove(at);
            damaged.violations[place].operations.clear();
            must_fail(&damaged, "an operation is missing")?;
        }
        let mut damaged = report.clone();
        damaged.violations[place]
            .levels
            .push(Level::Serializability);
        must_fail(&damaged, "another level is named")?;
    }
    Ok(())
}

fn for_random(shape: Shape, seed: u64, must: bool) -> [usize; 3] {
    let mut counts = [0; 3];
    for n in seeds(EACH) {
        let mut rng = Rng::with_seed((seed << 32) | n);
        let all = random(shape, &mut rng);
        if let Err(problem) = compare(&all, must, &mut counts) {
            panic!("history {n} of seed {seed}: {problem}\n{}", text(&all));
        }
    }
    println!("{counts:?} satisfied, violated, undecided");
    let least = n_of(EACH) as usize / 12;
    assert!(
        counts[0] > least && counts[1] > least,
        "both happen: {counts:?}"
    );
    counts
}

#[test]
fn reads_writes_and_swaps_are_decided_as_by_trying_all_orders() {
    for_random(TIDY, 1, true);
    for_random(
        Shape {
            keys: 2,
            blind: 1,
            unknown: true,
            ..TIDY
        },
        2,
        true,
    );
}

#[test]
fn failed_swaps_without_a_value_are_decided_as_by_trying_all_orders() {
    for_random(
        Shape {
            differs: true,
            ..TIDY
        },
        3,
        true,
    );
    for_random(
        Shape {
            differs: true,
            unknown: true,
            ..TIDY
        },
        4,
        true,
    );
    for_random(
        Shape {
            differs: true,
            unknown: true,
            keys: 2,
            blind: 1,
            ..TIDY
        },
        5,
        true,
    );
}

#[test]
fn repeated_values_are_decided_as_by_trying_all_orders() {
    for_random(
        Shape {
            repeated: true,
            differs: true,
            unknown: true,
            ..TIDY
        },
        6,
        true,
    );
}

/// Whether a transaction ended before an earlier one of its session began.
fn clock_goes_back(all: &[Light]) -> bool {
    let counts = |light: &&Light| light.outcome != Outcome::Aborted;
    let pairs = all
        .iter()
        .enumerate()
        .flat_map(|(at, one)| all[at + 1..].iter().map(move |other| (one, other)));
    let mut of_session =
        pairs.filter(|(one, other)| one.session == other.session && counts(one) && counts(other));
    of_session.any(|(one, other)| other.precedes(one))
}

#[test]
fn sessions_that_overlap_and_missing_times_are_decided_as_by_trying_all_orders() {
    for_random(
        Shape {
            untidy: true,
            unknown: true,
            keys: 2,
            ..TIDY
        },
        7,
        false,
    );
    for_random(
        Shape {
            untidy: true,
            unknown: true,
            differs: true,
            keys: 2,
            ..TIDY
        },
        8,
        false,
    );
    for_random(
        Shape {
            untidy: true,
            unknown: true,
            differs: true,
            repeated: true,
            keys: 2,
            ..TIDY
        },
        9,
        false,
    );
    for_random(
        Shape {
            most: 6,
            untidy: true,
            differs: true,
            keys: 2,
            blind: 1,
            ..TIDY
        },
        11,
        false,
    );
}

/// Sessions whose transactions all overlap: nothing but session order and what was found says who came first. Most write one
/// key and look at the other one.
fn overlapping(rng: &mut Rng) -> Vec<Light> {
    let n = rng.usize(4..=8);
    let n_sessions = rng.usize(2..4);
    let mut all: Vec<Light> = Vec::new();
    for value in 1..=n as u64 {
        let session = rng.usize(0..n_sessions);
        let key = if rng.u8(0..8) == 0 {
            rng.usize(0..2)
        } else {
            session % 2
        };
        let action = if value < 3 || rng.u8(0..5) < 2 {
            Action::Write(value)
        } else {
            Action::Differs(0)
        };
        let interval = Some(Interval {
            start: rng.i64(0..4),
            end: rng.i64(4..9),
        });
        let outcome = if rng.u8(0..10) == 0 {
            Outcome::Unknown
        } else {
            Outcome::Committed
        };
        all.push(Light {
            session,
            key,
            action,
            outcome,
            interval,
        });
    }
    let written: Vec<(usize, u64)> = all
        .iter()
        .filter_map(|light| Some((light.key, light.writes()?)))
        .collect();
    for light in all.iter_mut().filter(|light| light.writes().is_none()) {
        let (key, value) = written[rng.usize(0..written.len())];
        let action = if rng.u8(0..8) == 0 {
            Action::Read(value)
        } else {
            Action::Differs(value)
        };
        (light.key, light.action) = (key, action);
    }
    rng.shuffle(&mut all);
    all
}

#[test]
fn keys_that_contradict_each_other_across_sessions_are_found_by_trying_all_orders() {
    let (mut counts, mut n_across, mut n_tied) = ([0; 3], 0, 0);
    for n in 0..2 * n_of(EACH) {
        let all = overlapping(&mut Rng::with_seed((12 << 32) | n));
        let history = history(&all);
        if !has_real_time(&history) {
            continue;
        }
        let (verdict, report) = decide(&history, Level::Linearizability).expect("evidence holds");
        counts[verdict as usize] += 1;
        assert_eq!(
            verdict == VerdictWord::Satisfied,
            linearizable(&all),
            "history {n}\n{}",
            text(&all)
        );
        assert_ne!(
            verdict,
            VerdictWord::Undecided,
            "history {n}\n{}",
            text(&all)
        );
        for violation in report
            .violations
            .iter()
            .filter(|violation| violation.pattern == "NoLinearOrder")
        {
            n_across += usize::from(violation.key.is_none());
            let sessions: Vec<_> = violation
                .transactions
                .iter()
                .map(|t| t.session.clone())
                .collect();
            n_tied +=
                usize::from((1..sessions.len()).any(|at| sessions[..at].contains(&sessions[at])));
        }
        rejects_damage(&history, &report)
            .unwrap_or_else(|problem| panic!("history {n}: {problem}\n{}", text(&all)));
    }
    let least = |n| share(n, EACH) as usize;
    assert!(
        counts[0] > least(500) && counts[1] > least(500),
        "{counts:?}"
    );
    assert!(
        n_across > least(20) && n_tied > least(500),
        "{n_across} across keys, {n_tied} with two of a session"
    );
}

/// Two updates of a version that was overwritten long before: what each shows is one cycle, which is told once.
#[test]
fn one_cycle_that_two_reads_show_is_told_once() {
    let actions = [
        Action::Swap(0, 1),
        Action::Swap(1, 2),
        Action::Write(3),
        Action::Swap(1, 4),
        Action::Swap(1, 5),
    ];
    let light = |(at, action)| {
        let interval = Some(Interval { start: at, end: at });
        Light {
            session: 0,
            key: 0,
            action,
            outcome: Outcome::Committed,
            interval,
        }
    };
    let history = history(&(1..).zip(actions).map(light).collect::<Vec<_>>());
    let (verdict, report) = decide(&history, Level::Linearizability).expect("evidence holds");
    assert_eq!(
        (verdict, report.violations.len()),
        (VerdictWord::Violated, 1)
    );
}

/// Each session found the key that the other one writes first unwritten, after it had written its own.
const ACROSS: &str = "a: [w x 1]@0..10 [n y 1]@1..9\nb: [w y 1]@0..10 [n x 1]@1..9\n";

#[test]
fn no_order_across_keys_is_told_and_only_in_whole_accepted() {
    let history = formats::text::parse(ACROSS).expect("valid");
    let levels = Level::of(&history);
    let findings = isoscope::audit::check(
        &history,
        &Options {
            levels,
            ..Options::default()
        },
        &Control::new(),
        &|_| {},
    );
    let violated: Vec<Level> = findings
        .levels
        .iter()
        .filter(|result| result.verdict == Verdict::Violated)
        .map(|result| result.level)
        .collect();
    assert_eq!(violated, [Level::Linearizability]);
    let [violation] = findings.violations.as_slice() else {
        panic!("{:?}", findings.violations)
    };
    assert_eq!((violation.transactions.len(), violation.key), (4, None));
    let example = counterexample::minimize(&history, violation, &Control::new());
    let told =
        counterexample::narrate::plain_text(&example, &counterexample::explain(&example), &history);
    for part in ["a1", "a2", "b1", "b2", "session", "impossible"] {
        assert!(told.contains(part), "{part} is missing\n{told}");
    }
    let report = isoscope::report::of_findings(
        &history,
        &findings,
        Settings {
            witness: true,
            ..Settings::default()
        },
    );
    let mut line = Vec::new();
    isoscope::report::to_line(&Document::Report(Box::new(report.clone())), &mut line)
        .expect("memory takes everything");
    let Document::Report(read) = String::from_utf8(line)
        .expect("text")
        .parse()
        .expect("JSON")
    else {
        panic!("no report")
    };
    assert!(
        verify::verify(&history, &read).is_ok_and(|verified| verified.without_evidence.is_empty())
    );
    rejects_damage(&history, &report).expect("damage is found");
    // The same in sessions of their own can be put in order.
    let apart = ACROSS
        .replace(" [n y", "\nc: [n y")
        .replace(" [n x", "\nd: [n x");
    let apart = formats::text::parse(&apart).expect("valid");
    let (verdict, _) = decide(&apart, Level::Linearizability).expect("evidence holds");
    assert_eq!(verdict, VerdictWord::Satisfied);
}

#[test]
fn what_only_looks_keeps_no_free_write_from_standing_before_it() {
    // b read what a wrote, and then c found something else than 7.
    let history = formats::text::parse("a: [w x 5]@0..1\nb: [r x 5]@0..10\nc: [n x 7]@2..3\n")
        .expect("valid");
    let (verdict, mut report) = decide(&history, Level::Linearizability).expect("evidence holds");
    assert_eq!(verdict, VerdictWord::Satisfied);
    let wrong = formats::text::parse("a: [w x 5]@0..1\nb: [r x 5]@0..10\nc: [n x 5]@2..3\n")
        .expect("valid");
    let (verdict, of_wrong) = decide(&wrong, Level::Linearizability).expect("evidence holds");
    assert_eq!(verdict, VerdictWord::Violated);
    let mut forged = of_wrong.violations[0].clone();
    forged.transactions = report.levels[0].witness.take().expect("a witness");
    forged
        .transactions
        .retain(|transaction| transaction.id != "a1");
    assert_eq!(forged.transactions.len(), 2);
    forged.operations.clear();
    report.levels.clear();
    report.violations = vec![forged];
    assert!(
        verify::verify(&history, &report).is_err(),
        "b and c can be put in order"
    );
}

/// Times of the table come in halves.
fn doubled(time: &Json) -> Option<i64> {
    time.as_f64().map(|time| (2.0 * time) as i64)
}

#[test]
fn the_table_of_tiny_histories_of_lightweight_transactions() {
    let text = std::fs::read_to_string(common::repository("tests/data/tiny-histories.json"))
        .expect("part of the repository");
    let table: Json = serde_json::from_str(&text).expect("JSON");
    let rows = table["lwt_histories"].as_array().expect("rows");
    assert_eq!(rows.len(), 10);
    for row in rows {
        let operations = row["ops"].as_array().expect("operations");
        let all = operations.iter().enumerate().map(|(session, operation)| {
            let number = |field: &str| operation[field].as_u64().unwrap_or(0);
            let action = match operation["op"].as_str().expect("a word") {
                "read" => Action::Read(number("value")),
                "write" => Action::Write(number("value")),
                _ => Action::Swap(number("expected"), number("new")),
            };
            let start = doubled(&operation["start"]).expect("a start");
            let (outcome, end) = match doubled(&operation["end"]) {
                Some(end) => (Outcome::Committed, end),
                None => (Outcome::Unknown, start),
            };
            Light {
                session,
                key: 0,
                action,
                outcome,
                interval: Some(Interval { start, end }),
            }
        });
        let all: Vec<Light> = all.collect();
        let expected = row["linearizable"].as_bool().expect("a verdict");
        let (verdict, _) = decide(&history(&all), Level::Linearizability).expect("evidence holds");
        assert_eq!(verdict == VerdictWord::Satisfied, expected, "{row}");
        assert_ne!(verdict, VerdictWord::Undecided, "{row}");
    }
}

#[test]
fn chains_of_swaps_are_decided_alike_by_the_published_algorithm() {
    let shape = Shape {
        keys: 2,
        blind: 0,
        unknown: true,
        ..TIDY
    };
    let mut counts = [0; 3];
    for n in 0..n_of(EACH) {
        let mut rng = Rng::with_seed((10 << 32) | n);
        let mut all = random(Shape { most: 12, ..shape }, &mut rng);
        all.retain(|light| matches!(light.action, Action::Swap(..)));
        let history = history(&all);
        if all.is_empty() {
            continue;
        }
        let levels = vec![Level::Linearizability];
        let options = Options {
            levels,
            ..Options::default()
        };
        let findings =
            isoscope::papers::check(&history, Checker::VlLwt, &options, &Control::new(), &|_| {});
        let report = isoscope::report::of_findings(
            &history,
            &findings,
            Settings {
                witness: true,
                ..Settings::default()
            },
        );
        let verdict = report.levels[0].verdict;
        counts[verdict as usize] += 1;
        if verdict != VerdictWord::Undecided {
            assert_eq!(
                verdict == VerdictWord::Satisfied,
                linearizable(&all),
                "history {n}\n{}",
                text(&all)
            );
            let verified = verify::verify(&history, &report).expect("evidence holds");
            assert!(
                verified.without_evidence.is_empty(),
                "{:?}\n{}",
                verified.without_evidence,
                text(&all)
            );
        }
    }
    let least = |n| share(n, EACH) as usize;
    assert!(
        counts[0] > least(500) && counts[1] > least(100),
        "{counts:?}"
    );
}

#[test]
fn other_histories_are_undecided_with_a_reason() {
    let level = [Level::Linearizability];
    let reason = |text: &str| {
        let history = formats::text::parse(text).expect("valid");
        assert!(!Level::of(&history).contains(&level[0]), "{text}");
        report(&history, &level).levels[0]
            .reason
            .clone()
            .expect("a reason")
    };
    assert_eq!(reason("a: [w x 1] [r x 1]"), "no timestamps");
    assert_eq!(
        reason("a: [w x 1]@0..1 T7 [w x 2, w y 1]@2..3"),
        "not a history of lightweight transactions: T7 touches two keys, x and y"
    );
    assert_eq!(
        reason("a: [w x 1, w x 2]@0..1"),
        "not a history of lightweight transactions: a1 is no single read, write or compare-and-set, it has 2 operations"
    );
    assert_eq!(
        reason("a: [a x 1]@0..1"),
        "not a history of lightweight transactions: keys hold lists"
    );
}

#[test]
fn a_linearizable_history_satisfies_every_level() {
    let history = formats::text::parse(
        "a: [w x 1]@0..1 [n x 2]@2..3\nb: [r x 1, w x 2]@2..8 [r x 2]@9..10\nc: [w x 7]?@4..4\n",
    )
    .expect("valid");
    let levels = Level::of(&history);
    assert_eq!(levels.len(), 9);
    let report = report(&history, &levels);
    assert!(
        report
            .levels
            .iter()
            .all(|level| level.verdict == VerdictWord::Satisfied),
        "{:?}",
        report.levels
    );
    let verified = verify::verify(&history, &report).expect("evidence holds");
    assert_eq!(verified.satisfied.len(), 9);
    let options = Options {
        levels: vec![Level::Linearizability],
        ..Options::default()
    };
    let findings = isoscope::audit::check(&history, &options, &Control::new(), &|_| {});
    assert!(matches!(findings.levels[0].verdict, Verdict::Satisfied(_)));
}

/// The histories of an archive with their names.
fn histories_of(archive: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let file = std::fs::File::open(archive).expect("a file of the corpus");
    let mut archive = tar::Archive::new(zstd::Decoder::new(file).expect("zstd"));
    let entries = archive.entries().expect("tar").map(|entry| {
        let mut entry = entry.expect("tar");
        let name = entry.path().expect("a name").to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("tar");
        (name, bytes)
    });
    entries.filter(|(name, _)| name.ends_with(".edn")).collect()
}

/// Knossos' own tests say of its register histories whether they are linearizable: their folders do.
#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn knossos_registers_are_linearizable_where_its_tests_say_so() {
    let mut counts = [0; 2];
    for (name, bytes) in histories_of(&common::corpus().join("knossos/data.tar.zst")) {
        if !name.contains("cas-register") {
            continue;
        }
        let history = formats::read(&Input::new(&name, &bytes), None, &Control::new())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let is_good = name.contains("/good/");
        // A history in which nothing was committed has no times to speak of.
        if has_real_time(&history) {
            let (verdict, _) = decide(&history, Level::Linearizability)
                .unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(
                verdict == VerdictWord::Satisfied,
                is_good,
                "{name}: {verdict:?}"
            );
            counts[usize::from(is_good)] += 1;
        }
    }
    assert!(counts[0] > 5 && counts[1] > 30, "{counts:?}");
}
