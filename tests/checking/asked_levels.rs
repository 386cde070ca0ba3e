//! What is asked in addition to a level, or is next to a part of a history, changes nothing: the verdict of a level is the same
//! whichever levels are asked for with it, and what shares no key and no session with a part has no say in it. With that,
//! where SSER and LIN have an answer at all.

use crate::common;

use common::examine;
use common::notation::{Style, random};
use isoscope::checkers::{self, Cause, Findings, Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::formats::{self, Input, ListedFile};
use isoscope::history::{History, TransactionId};
use isoscope::relations;
use isoscope::report::{Settings, VerdictWord};
use isoscope::verify;
use std::collections::BTreeMap;

/// Random histories in the ordinary run.
const HISTORIES: u64 = 600;

fn numbers() -> std::ops::Range<u64> {
    let number = |variable: &str| {
        std::env::var(variable)
            .ok()
            .and_then(|number| number.parse::<u64>().ok())
    };
    let first = number("ISOSCOPE_SEED").unwrap_or(0);
    first..first + number("ISOSCOPE_HISTORIES").unwrap_or(HISTORIES)
}

/// The findings, after the verifier has looked at their evidence.
fn ask(history: &History, levels: &[Level]) -> Findings {
    let options = Options {
        levels: levels.to_vec(),
        max_instances: 20,
        ..Options::default()
    };
    let findings = checkers::check(history, &options, &Control::new(), &|_| {});
    let asked: Vec<Level> = findings.levels.iter().map(|result| result.level).collect();
    assert_eq!(
        asked, levels,
        "one answer for each level, in the order asked"
    );
    let report = isoscope::report::of_findings(
        history,
        &findings,
        Settings {
            witness: true,
            ..Settings::default()
        },
    );
    examine::believed(history, &report).unwrap_or_else(|problem| panic!("{levels:?}: {problem}"));
    findings
}

/// In a word, and why where it is undecided.
fn said(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Undecided(cause) => format!("undecided: {cause}"),
        other => other.word().to_owned(),
    }
}

fn by_level(history: &History, findings: &Findings) -> BTreeMap<Level, (String, Option<String>)> {
    let of = |result: &checkers::LevelResult| {
        (
            result.level,
            (said(&result.verdict), result.condition(history)),
        )
    };
    findings.levels.iter().map(of).collect()
}

/// Asks each level alone, all together, and some in between: by level what is said, which must be the same.
fn ask_in_all_ways(
    history: &History,
    rng: &mut fastrand::Rng,
) -> BTreeMap<Level, (String, Option<String>)> {
    let all = ask(history, &Level::ALL);
    let expected = by_level(history, &all);
    let mut ways: Vec<Vec<Level>> = Level::ALL.iter().map(|&level| vec![level]).collect();
    for _ in 0..5 {
        let mut some: Vec<Level> = Level::ALL
            .into_iter()
            .filter(|_| rng.u8(0..3) == 0)
            .collect();
        rng.shuffle(&mut some);
        ways.push(some);
    }
    for levels in ways.iter().filter(|levels| !levels.is_empty()) {
        for (level, said) in by_level(history, &ask(history, levels)) {
            assert_eq!(
                said, expected[&level],
                "{level} among {levels:?} and among all"
            );
        }
    }
    expected
}

/// Runs `test` on a history and tells which one it was if it fails.
fn with_text(text: &str, test: impl FnOnce(&str) + std::panic::UnwindSafe) {
    let owned = text.to_owned();
    if std::panic::catch_unwind(move || test(&owned)).is_err() {
        panic!("the history was\n{text}");
    }
}

#[test]
fn levels_have_the_same_verdict_whichever_are_asked_for_together() {
    let mut met: BTreeMap<(Level, String), u64> = BTreeMap::new();
    for seed in numbers() {
        let mut rng = fastrand::Rng::with_seed(seed ^ 0xa5c3);
        let text = random(Style::of(&mut rng), &mut rng);
        let mut kinds = Vec::new();
        let history = common::history(&text);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            kinds = ask_in_all_ways(&history, &mut rng).into_iter().collect();
        }));
        assert!(result.is_ok(), "seed {seed}:\n{text}");
        for (level, (said, _)) in kinds {
            let word = said.split(':').next().unwrap_or_default().to_owned();
            *met.entry((level, word)).or_default() += 1;
        }
    }
    println!("{met:?}");
    for level in [Level::StrictSerializability, Level::Linearizability] {
        for word in ["satisfied", "violated", "undecided"] {
            let n = met.get(&(level, word.to_owned())).copied().unwrap_or(0);
            assert!(n > numbers().count() as u64 / 60, "{level} {word}: {n}");
        }
    }
}

/// A part that shares nothing with the others and satisfies every level, as lines of sessions called `u…`: single
/// operations on registers, so that a history of lightweight transactions stays one.
fn unrelated(timed: bool, rng: &mut fastrand::Rng) -> String {
    let at = rng.i64(0..60);
    let time = |nth: i64| {
        if timed {
            format!("@{}..{}", at + 4 * nth, at + 4 * nth + 2)
        } else {
            String::new()
        }
    };
    match rng.u8(0..6) {
        0 => format!("u: [w u1 1]{} [r u1 1]{}\n", time(0), time(1)),
        // Its own set-up, in its session or in another one.
        1 => format!("u: [w u1 0]{} [r u1 0, w u1 1]{}\n", time(0), time(1)),
        2 => format!(
            "ua: [w u1 0]{}\nub: [r u1 0]{} [w u1 3]{}\n",
            time(0),
            time(1),
            time(2)
        ),
        // What looks like a set-up of its own, but is none: another key is used.
        3 => format!(
            "ua: [w u1 0]{}\nub: [r u1 0, w u1 1]{} [r u2 init]{}\n",
            time(0),
            time(1),
            time(2)
        ),
        4 => format!("u: [r u1 init]{}\n", time(0)),
        _ => format!(
            "ua: [w u1 1]{}\nub: [r u1 1]{}\nuc: [w u2 0]{}\n",
            time(0),
            time(1),
            time(2)
        ),
    }
}

/// Names of the transactions that count as part of the initial state, but for the unrelated ones.
fn set_up(history: &History) -> Vec<String> {
    let resolution = relations::resolve(history, &Control::new()).expect("not stopped");
    let mut names: Vec<String> = resolution
        .merged_into_initial()
        .map(|t| history.transaction_name(t))
        .collect();
    names.retain(|name| !name.starts_with('u'));
    names.sort();
    names
}

fn unrelated_changes_nothing(text: &str, rng: &mut fastrand::Rng) -> (bool, bool) {
    let history = common::history(text);
    // Times next to a history without any would be the only ones.
    let timed = relations::has_real_time(&history);
    let beside = unrelated(timed, rng);
    // A file says first which value is initial.
    let after = rng.bool() || text.starts_with("initial");
    let both = common::history(&if after {
        format!("{text}{beside}")
    } else {
        format!("{beside}{text}")
    });
    assert_eq!(set_up(&history), set_up(&both), "with\n{beside}");
    let (alone, together) = (ask(&history, &Level::ALL), ask(&both, &Level::ALL));
    let said = by_level(&history, &alone);
    for (level, (verdict, condition)) in by_level(&both, &together) {
        assert_eq!((verdict, condition), said[&level], "{level} with\n{beside}");
    }
    let some_condition = said.values().any(|(_, condition)| condition.is_some());
    (!set_up(&history).is_empty(), some_condition)
}

#[test]
fn an_unrelated_session_changes_no_verdict_and_no_assumption() {
    let (mut n_set_up, mut n_conditions) = (0, 0);
    for seed in numbers() {
        let mut rng = fastrand::Rng::with_seed(seed ^ 0x517e);
        let text = random(
            Style {
                zeros: rng.u8(0..3) > 0,
                ..Style::of(&mut rng)
            },
            &mut rng,
        );
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            unrelated_changes_nothing(&text, &mut rng)
        }));
        let Ok((is_set_up, has_condition)) = result else {
            panic!("seed {seed}:\n{text}")
        };
        n_set_up += u64::from(is_set_up);
        n_conditions += u64::from(has_condition);
    }
    println!("{n_set_up} with a set-up, {n_conditions} with a verdict that rests on it");
    let n = numbers().count() as u64;
    // How many verdicts rest on a set-up is a matter of luck where other histories are asked for.
    let is_usual = std::env::var_os("ISOSCOPE_SEED").is_none();
    assert!(
        n_set_up > n / 20 && (n_conditions > n / 200 || !is_usual),
        "{n_set_up} {n_conditions}"
    );
}

/// Most operations of a real history that is checked twice here.
const MOST_OPERATIONS: usize = 2_000;

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn an_unrelated_session_changes_nothing_in_real_histories() {
    let corpus = common::corpus();
    let (mut n, mut n_set_up) = (0, 0);
    for found in formats::histories(&[corpus], &Control::new()).expect("not stopped") {
        let ListedFile::History(path) = found else {
            continue;
        };
        let Ok(history) = formats::open(&path, None, &Control::new()) else {
            continue;
        };
        let mut text = Vec::new();
        if history.n_operations() > MOST_OPERATIONS
            || formats::write(&history, "text", &mut text).is_err()
        {
            continue;
        }
        let text = String::from_utf8(text).expect("text");
        let mut rng = fastrand::Rng::with_seed(n);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            unrelated_changes_nothing(&text, &mut rng)
        }));
        let Ok((is_set_up, _)) = result else {
            panic!("{}", path.display())
        };
        n += 1;
        n_set_up += u64::from(is_set_up);
    }
    println!("{n} real histories, {n_set_up} with a set-up");
    assert!(n > 20 && n_set_up > 0, "{n} {n_set_up}");
}

/// `b1`'s second read returns 1 after its own write of 3 (TAP-d), so RC and all levels above are violated. LIN is
/// no level of it: `b2` is no single read, write or compare-and-set, and there are no times; whatever RC says, it stays
/// undecided.
const NO_LIN: &str = "a: [w x 1]\nb: [w x 1] [r x 1, w x 3, r x 1]\n";

#[test]
fn linearizability_of_other_histories_is_undecided_beside_all_levels() {
    let mut rng = fastrand::Rng::with_seed(1);
    let timed = NO_LIN.replace("[w x 1]\n", "[w x 1]@0..1\n");
    for (text, reason) in [
        (NO_LIN, "undecided: no timestamps"),
        (
            &timed,
            "undecided: not a history of lightweight transactions: b2 is no single read, write or compare-and-set, it has 3 \
             operations",
        ),
    ] {
        let said = ask_in_all_ways(&common::history(text), &mut rng);
        assert_eq!(said[&Level::Linearizability].0, reason);
        for level in [
            Level::ReadCommitted,
            Level::Serializability,
            Level::StrictSerializability,
        ] {
            assert_eq!(said[&level].0, "violated", "{level}");
        }
        assert_eq!(said[&Level::CutIsolation].0, "satisfied");
    }
}

#[test]
fn without_times_strict_serializability_is_violated_where_serializability_is_and_else_undecided() {
    let mut rng = fastrand::Rng::with_seed(2);
    let open = "undecided: no timestamps";
    for (text, serial, strict) in [
        // Half of what s0 appended: no state between transactions has the list [1].
        (
            "s0: [a l 1, w l 1]\ns1: [r l [1]]\n",
            "violated",
            "violated",
        ),
        // Both update the initial version, so neither can come second.
        (
            "a: [r x init, w x 1]\nb: [r x init, w x 2]\n",
            "violated",
            "violated",
        ),
        ("a: [w x 1]\nb: [r x 1, w y 1]\n", "satisfied", open),
        ("a: [a l 1]\nb: [r l [1]]\n", "satisfied", open),
        // Values that repeat: 1 is read, whichever transaction wrote it, before and after 2, which a wrote between its own ones.
        (
            "a: [w x 1] [w x 2] [w x 1]\nb: [r x 1] [r x 2] [r x 1]\n",
            "satisfied",
            open,
        ),
        // Which append made which element is open; any of both orders will do.
        (
            "a: [a l 1]\nb: [a l 1]\nc: [r l [1 1]]\n",
            "satisfied",
            open,
        ),
        // Times of what is before all time, aborted, or of unknown end order nothing.
        (
            "s: [w x 5]*@0..1\na: [r x 5]\nb: [w x 6]\n",
            "satisfied",
            open,
        ),
        (
            "s: [w x 0]@0..1\na: [r x 0]\nb: [r x 0, w x 6]\n",
            "satisfied",
            open,
        ),
        (
            "a: [w x 1]!@0..1 [w x 2]\nb: [r x init]\n",
            "satisfied",
            open,
        ),
        (
            "a: [w x 1]?@0..1\nb: [r x 1]\nc: [r x init]\n",
            "satisfied",
            open,
        ),
        // Set up, s1.1 appends 2 after it has read x = 1, s0.2 sees [1 2] and appends 3, and then the rest of s1.
        (
            "s0: [a l 1, w x 1]*@0..2 [r l [1 2], a l 3, w x 2]\n\
             s1: [r x 1, r x 1, a l 2] [w x 3, r l [1 2 3], r l [1 2 3]] [w x 4, w x 5]\n",
            "satisfied",
            open,
        ),
        // One committed transaction with times is enough to ask.
        (
            "a: [w x 1]@0..1\nb: [r x 1, w y 1]\n",
            "satisfied",
            "satisfied",
        ),
        (
            "a: [w x 1]@0..1\nb: [r x init]@2..3\n",
            "satisfied",
            "violated",
        ),
        (
            "a: [w x 1]@0..2\nb: [r x init]@2..3\n",
            "satisfied",
            "satisfied",
        ),
    ] {
        let said = ask_in_all_ways(&common::history(text), &mut rng);
        assert_eq!(said[&Level::Serializability].0, serial, "{text}");
        assert_eq!(said[&Level::StrictSerializability].0, strict, "{text}");
    }
}

#[test]
fn the_verifier_refuses_claims_about_levels_without_an_answer() {
    let refused = |text: &str, level: Level, verdict: VerdictWord| {
        let history = common::history(text);
        let findings = ask(&history, &[Level::Serializability]);
        let mut report = isoscope::report::of_findings(
            &history,
            &findings,
            Settings {
                witness: true,
                ..Settings::default()
            },
        );
        let mut entry = report.levels[0].clone();
        (entry.level, entry.verdict) = (level, verdict);
        report.levels.push(entry);
        report
            .violations
            .iter_mut()
            .for_each(|violation| violation.levels.push(level));
        verify::verify(&history, &report).is_err()
    };
    let (strict, linear) = (Level::StrictSerializability, Level::Linearizability);
    assert!(refused(
        "a: [w x 1]\nb: [r x 1]\n",
        strict,
        VerdictWord::Satisfied
    ));
    assert!(!refused(
        "a: [w x 1]@0..1\nb: [r x 1]\n",
        strict,
        VerdictWord::Satisfied
    ));
    assert!(refused(
        "s: [w x 0]@0..1\nb: [r x 0]\n",
        strict,
        VerdictWord::Satisfied
    ));
    let lost_update = "a: [r x init, w x 1]\nb: [r x init, w x 2]\n";
    assert!(!refused(lost_update, strict, VerdictWord::Violated));
    assert!(refused(lost_update, linear, VerdictWord::Violated));
    assert!(!refused(
        &lost_update.replace("1]", "1]@0..1"),
        linear,
        VerdictWord::Violated
    ));
    assert!(refused(NO_LIN, linear, VerdictWord::Violated));
}

/// `s` wrote x = 0 before the two updates if it set up the initial state: then one of them is lost. If it came between them,
/// it is not: a, s, b is a serial order.
const LOST_UPDATE: &str = "s: [w x 0]\na: [r x 0, w x 1]\nb: [r x 0, w x 2]\n";

#[test]
fn a_verdict_that_rests_on_a_set_up_says_so_itself() {
    let condition = |text: &str, level: Level| {
        let history = common::history(text);
        ask(&history, &Level::ALL)
            .level(level)
            .expect("asked for")
            .condition(&history)
    };
    let of_s = Some("s1 set up the initial state".to_owned());
    for level in [
        Level::SnapshotIsolation,
        Level::Serializability,
        Level::StrictSerializability,
    ] {
        assert_eq!(condition(LOST_UPDATE, level), of_s, "{level}");
    }
    assert_eq!(
        condition(LOST_UPDATE, Level::PrefixConsistency),
        None,
        "it is satisfied"
    );
    // A transaction reads 5, which none wrote, with a set-up or without.
    let anyway = format!("{LOST_UPDATE}c: [r x 5]\n");
    assert_eq!(condition(&anyway, Level::Serializability), None);
    assert_eq!(
        condition(
            &LOST_UPDATE.replace("0]\na", "0]*\na"),
            Level::Serializability
        ),
        None,
        "nothing is assumed"
    );
    // Of two parts only one rests on it.
    let two = format!("t: [w y 0]\nu: [r y 0, w y 1] [r y 1]\n{LOST_UPDATE}");
    assert_eq!(condition(&two, Level::Serializability), of_s);
    // The list of names ends somewhere.
    let many: String = (0..8).map(|n| format!("s{n}: [w k{n} 0]\n")).collect();
    let reads: Vec<String> = (0..8).map(|n| format!("r k{n} 0")).collect();
    let many = format!(
        "{many}a: [{}, w k0 1]\nb: [r k0 0, w k0 2]\n",
        reads.join(", ")
    );
    let told = condition(&many, Level::Serializability).expect("it rests on it");
    assert_eq!(
        told,
        "s0#1, s1#1, s2#1, s3#1, s4#1 and 3 more set up the initial state"
    );
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn a_real_history_rests_on_its_set_up_whatever_stands_beside_it() {
    let corpus = common::corpus();
    let text = std::fs::read_to_string(corpus.join("plume-text/bugs/pg_ser_bug.txt"))
        .expect("a file of the corpus");
    let said = |text: &str| {
        let input = Input::new("", text.as_bytes());
        let history = formats::read(&input, Some("plume"), &Control::new()).expect("valid");
        let findings = ask(
            &history,
            &[Level::SnapshotIsolation, Level::Serializability],
        );
        by_level(&history, &findings)
    };
    let alone = said(&text);
    assert_eq!(alone[&Level::Serializability].0, "violated");
    assert_eq!(
        alone[&Level::Serializability].1.as_deref(),
        Some("T0 set up the initial state")
    );
    let number = 1 + text.lines().count();
    for beside in [
        format!("w(4711,1,{number},{number})\n"),
        format!("w(4711,0,{number},{number})\n"),
        format!("r(4711,0,{number},{number})\nw(4711,1,{number},{number})\n"),
    ] {
        assert_eq!(
            said(&format!("{}\n{beside}", text.trim_end())),
            alone,
            "with {beside}"
        );
    }
}

fn error(name: &str, bytes: &[u8], format: &str) -> String {
    let input = Input::new(name, bytes);
    let error = formats::read(&input, Some(format), &Control::new())
        .expect_err("times that go back are refused");
    error.to_string()
}

#[test]
fn an_end_before_its_start_is_an_error_at_its_place() {
    let says = |error: String, parts: &[&str]| {
        assert!(
            parts.iter().all(|part| error.contains(part)) && !error.contains('\n'),
            "{error}"
        );
    };
    says(
        error("h.txt", b"a: [w x 1]@5..5\nb: [r x 1]@10..1\n", "text"),
        &["line 2", "second is not before", "10..1"],
    );
    let json = br#"{"schema": "isoscope.history/1", "sessions": [
        {"transactions": [{"start": 10, "end": 1, "operations": [["w", "x", 1]]}]}]}"#;
    says(
        error("h.json", json, "json"),
        &["line 2", "not before the \"start\" 10", "found 1"],
    );
    let viper = b"{\"value\": [[\"w\", \"x\", \"1\", true]], \"preBeginTS\": 3, \"postCommitTS\": 9}\n\
                  {\"value\": [[\"r\", \"x\", \"1\", true]], \"preBeginTS\": 30, \"postCommitTS\": 9}\n";
    says(
        error("J1.log", viper, "viper"),
        &["line 2", "not before the preBeginTS 30", "found 9"],
    );
    let timekiller =
        br#"[{"tid": 1, "sid": 1, "sts": {"p": 7, "l": 1}, "cts": {"p": 7, "l": 0}, "ops": []}]"#;
    says(
        error("h.json", timekiller, "timekiller"),
        &["line 1", "commit timestamp that is not before"],
    );
    let record = |tag: u8, numbers: &[i64]| -> Vec<u8> {
        [tag]
            .into_iter()
            .chain(numbers.iter().flat_map(|number| number.to_be_bytes()))
            .collect()
    };
    let cobra = |end: i64| {
        [
            record(b'S', &[1, 50]),
            record(b'W', &[7, 8, 9]),
            record(b'C', &[1, end]),
            record(b'S', &[2, 60]),
        ]
        .concat()
    };
    says(
        error("T1.log", &cobra(40), "cobra"),
        &["byte 42", "not before the start 50", "found 40"],
    );
    // Coarse clocks give equal times.
    let input = cobra(50);
    formats::read(
        &Input::new("T1.log", &input),
        Some("cobra"),
        &Control::new(),
    )
    .expect("equal times are fine");
}

#[test]
fn nobody_is_named_twice() {
    // Both parts rest on a set-up of their own: the first is named, since that is enough.
    let text = format!("{LOST_UPDATE}t: [w y 0]\nc: [r y 0, w y 1]\nd: [r y 0, w y 2]\n");
    with_text(&text, |text| {
        let history = common::history(text);
        let findings = ask(&history, &Level::ALL);
        let result = findings.level(Level::Serializability).expect("asked for");
        assert_eq!(result.verdict, Verdict::Violated);
        let names: Vec<String> = result
            .assuming
            .iter()
            .map(|&t: &TransactionId| history.transaction_name(t))
            .collect();
        assert_eq!(names, ["s1"]);
        let open = Verdict::Undecided(Cause::NoTimestamps);
        assert_eq!(
            findings
                .level(Level::Linearizability)
                .expect("asked for")
                .verdict,
            open
        );
    });
}
