//! Histories of several components: deciding them apart gives the verdicts of the whole, on one machine or on several.

use crate::common;

use common::examine;
use common::mixed::{self, Mix};
use common::oracle;
use common::random::{self, Shape, sketch};
use common::sketch::{Sketch, Transaction};
use fastrand::Rng;
use isoscope::audit;
use isoscope::checkers::{self, Cause, Findings, Level, Options, Share, Verdict};
use isoscope::control::Control;
use isoscope::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};
use isoscope::report::{self, Document, Report, Settings, VerdictWord};
use isoscope::verify::verify;
use rayon::prelude::*;

/// Small histories that hang together by one session each, or not at all: a history of several components.
fn patchwork(seed: u64) -> (Vec<Sketch>, Sketch) {
    let mut rng = Rng::with_seed(seed);
    let patches: Vec<Sketch> = (0..rng.u64(2..5))
        .map(|patch| sketch(Shape::CLEAN, 7919 * seed + patch))
        .collect();
    let mut whole = Sketch::default();
    let mut n_keys = 0;
    for patch in &patches {
        let mut patch = patch.clone();
        let keys = patch.n_keys();
        patch
            .operations_mut()
            .for_each(|operation| operation.key += n_keys);
        n_keys += keys;
        let mut sessions = patch.sessions.into_iter();
        // All patches hang on the first session, or each on the last one so far, or on none.
        let joint = match rng.u8(0..3) {
            0 => Some(0),
            1 => whole.sessions.len().checked_sub(1),
            _ => None,
        };
        if let Some(session) = joint.and_then(|joint| whole.sessions.get_mut(joint)) {
            *session = interleaved(
                std::mem::take(session),
                sessions.next().unwrap_or_default(),
                &mut rng,
            );
        }
        whole.sessions.extend(sessions);
    }
    (patches, whole)
}

/// The same with transactions that use keys of several components: those of the sessions that connect components.
fn fused(seed: u64) -> Sketch {
    let (_, mut whole) = patchwork(seed);
    let mut rng = Rng::with_seed(!seed);
    for session in &mut whole.sessions {
        let mut fused: Vec<Transaction> = Vec::new();
        for transaction in std::mem::take(session) {
            let keys = |of: &Transaction| {
                of.operations
                    .iter()
                    .map(|operation| operation.key)
                    .collect::<Vec<usize>>()
            };
            match fused.last_mut() {
                Some(last)
                    if rng.bool()
                        && keys(last)
                            .iter()
                            .all(|key| !keys(&transaction).contains(key)) =>
                {
                    last.operations.extend(transaction.operations);
                }
                _ => fused.push(transaction),
            }
        }
        *session = fused;
    }
    whole
}

/// Both lists in one, each in its order.
fn interleaved(
    first: Vec<Transaction>,
    second: Vec<Transaction>,
    rng: &mut Rng,
) -> Vec<Transaction> {
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    let mut both = Vec::new();
    while first.peek().is_some() || second.peek().is_some() {
        let from = if rng.bool() { &mut first } else { &mut second };
        both.extend(from.next());
    }
    both
}

fn options(share: Option<Share>) -> Options {
    Options {
        levels: Level::WITHOUT_TIMES.to_vec(),
        max_instances: 50,
        share,
        ..Options::default()
    }
}

/// The report of a share, or of all, as it comes out of a file.
fn report_on(history: &History, share: Option<Share>) -> Document {
    let findings = checkers::check(history, &options(share), &Control::new(), &|_| {});
    let report = isoscope::report::of_findings(
        history,
        &findings,
        Settings {
            witness: true,
            ..Settings::default()
        },
    );
    let mut line = Vec::new();
    report::to_line(&Document::Report(Box::new(report)), &mut line).expect("writing to memory");
    String::from_utf8(line)
        .expect("UTF-8")
        .parse()
        .expect("a report")
}

fn shards(history: &History, shards: usize) -> Vec<Document> {
    (0..shards)
        .map(|shard| report_on(history, Some(Share { shard, shards })))
        .collect()
}

fn merged(documents: Vec<Document>) -> Report {
    match report::merge(documents)
        .expect("the reports belong together")
        .pop()
    {
        Some(Document::Report(report)) => *report,
        other => panic!("no report: {other:?}"),
    }
}

fn verdicts(report: &Report) -> Vec<(&str, VerdictWord)> {
    report
        .levels
        .iter()
        .map(|entry| (entry.level.as_str(), entry.verdict))
        .collect()
}

#[test]
fn a_patchwork_satisfies_what_all_of_its_patches_satisfy() {
    let n_violated: usize = (0..1500u64)
        .into_par_iter()
        .map(|seed| {
            let (patches, whole) = patchwork(seed);
            let history = whole.history();
            let findings = examine::check(&history);
            let mut expected = [Some(true); 7];
            for patch in &patches {
                let verdicts = oracle::verdicts(&patch.history());
                expected
                    .iter_mut()
                    .zip(verdicts)
                    .for_each(|(all, one)| *all = all.map(|all| all && one));
            }
            let found = examine::engine_verdicts(&findings);
            assert_eq!(
                examine::signs(found),
                examine::signs(expected),
                "seed {seed}\n{whole}"
            );
            examine::evidence(&history, &findings)
                .unwrap_or_else(|problem| panic!("seed {seed}\n{whole}{problem}"));
            usize::from(found[3] == Some(true) && found[6] == Some(false))
        })
        .sum();
    assert!(n_violated > 100, "{n_violated} violate a strong level only");
}

#[test]
fn merged_reports_say_what_one_machine_says() {
    let spread: usize = (0..400u64)
        .into_par_iter()
        .map(|seed| {
            let (_, whole) = patchwork(seed);
            let history = whole.history();
            let Document::Report(expected) = report_on(&history, None) else {
                panic!("no report")
            };
            let n_shards = 1 + seed as usize % 5;
            let documents = shards(&history, n_shards);
            let is_spread = documents.iter().any(|document| match document {
                Document::Report(report) => report
                    .part
                    .as_ref()
                    .is_some_and(|part| part.components > Some(1)),
                _ => false,
            });
            let joined = merged(documents);
            assert_eq!(
                verdicts(&joined),
                verdicts(&expected),
                "seed {seed}\n{whole}"
            );
            assert_eq!(joined.patterns, expected.patterns, "seed {seed}\n{whole}");
            assert_eq!(
                joined.violations, expected.violations,
                "seed {seed}\n{whole}"
            );
            assert_eq!(
                (joined.part.as_ref(), &joined.rules),
                (None, &expected.rules)
            );
            assert_eq!(joined.assumptions, expected.assumptions);
            let verified =
                verify(&history, &joined).unwrap_or_else(|p| panic!("seed {seed}\n{whole}{p:#?}"));
            assert_eq!(
                verified.without_evidence,
                Vec::<String>::new(),
                "seed {seed}\n{whole}"
            );
            usize::from(is_spread)
        })
        .sum();
    assert!(spread > 100, "{spread} were spread");
}

#[test]
fn the_verifier_accepts_every_order_of_a_component() {
    let spread: usize = (0..1500u64)
        .into_par_iter()
        .map(|seed| {
            let whole = fused(seed);
            let history = whole.history();
            let shards = 2 + seed as usize % 3;
            let check = |share| audit::check(&history, &options(share), &Control::new(), &|_| {});
            let expected = check(None);
            let findings: Vec<Findings> = (0..shards)
                .map(|shard| check(Some(Share { shard, shards })))
                .collect();
            for result in findings
                .iter()
                .chain([&expected])
                .flat_map(|findings| &findings.levels)
            {
                let is_refused = matches!(
                    result.verdict,
                    Verdict::Undecided(Cause::Disagreement { .. })
                );
                assert!(!is_refused, "seed {seed}\n{whole}{result:?}");
            }
            let report = |findings| {
                isoscope::report::of_findings(
                    &history,
                    findings,
                    Settings {
                        witness: true,
                        ..Settings::default()
                    },
                )
            };
            let documents = findings
                .iter()
                .map(|findings| Document::Report(Box::new(report(findings))))
                .collect();
            let joined = merged(documents);
            assert_eq!(
                verdicts(&joined),
                verdicts(&report(&expected)),
                "seed {seed}\n{whole}"
            );
            let verified =
                verify(&history, &joined).unwrap_or_else(|p| panic!("seed {seed}\n{whole}{p:#?}"));
            assert_eq!(
                verified.without_evidence,
                Vec::<String>::new(),
                "seed {seed}\n{whole}"
            );
            usize::from(
                joined.levels.len() > 1
                    && findings[1]
                        .levels
                        .iter()
                        .any(|level| level.level.is_strong()),
            )
        })
        .sum();
    assert!(spread > 100, "{spread} were spread");
}

/// Histories of every kind in the ordinary run.
const HISTORIES: u64 = 4_000;

#[test]
fn shards_of_every_history_join_to_what_one_machine_says() {
    let seeds = random::seeds(HISTORIES);
    let n = seeds.clone().count();
    let spread: usize = seeds
        .into_par_iter()
        .map(|seed| {
            let mix = Mix {
                groups: 3,
                ..Mix::any(&mut Rng::with_seed(seed))
            };
            let text = mixed::text(&mix, seed);
            let history = mixed::history(&mix, seed);
            let asked = if seed % 4 == 0 {
                Level::of(&history)
            } else {
                Level::WITHOUT_TIMES.to_vec()
            };
            let report_on = |share: Option<Share>| {
                let options = Options {
                    levels: asked.clone(),
                    ..options(share)
                };
                let findings = checkers::check(&history, &options, &Control::new(), &|_| {});
                isoscope::report::of_findings(
                    &history,
                    &findings,
                    Settings {
                        witness: true,
                        ..Settings::default()
                    },
                )
            };
            let expected = report_on(None);
            let shards = 2 + seed as usize % 3;
            let reports: Vec<Report> = (0..shards)
                .map(|shard| report_on(Some(Share { shard, shards })))
                .collect();
            let is_spread = reports.iter().any(|r| {
                r.part
                    .as_ref()
                    .is_some_and(|part| part.components > Some(1))
            });
            let documents = reports
                .into_iter()
                .map(|report| Document::Report(Box::new(report)))
                .collect();
            let joined = report::merge(documents)
                .unwrap_or_else(|error| panic!("seed {seed}\n{text}{error}"))
                .pop();
            let Some(Document::Report(joined)) = joined else {
                panic!("no report")
            };
            assert_eq!(
                verdicts(&joined),
                verdicts(&expected),
                "seed {seed}\n{text}"
            );
            assert_eq!(joined.patterns, expected.patterns, "seed {seed}\n{text}");
            assert_eq!(
                joined.assumptions, expected.assumptions,
                "seed {seed}\n{text}"
            );
            // What the verifier says of the report of one machine it says of the joined one, too.
            let verified = [&expected, &*joined]
                .map(|report| verify(&history, report).map(|v| v.without_evidence));
            assert_eq!(verified[0], verified[1], "seed {seed}\n{text}");
            usize::from(is_spread)
        })
        .sum();
    assert!(spread > n / 100, "{spread} were spread");
}

#[test]
fn what_a_missing_shard_would_have_decided_is_undecided() {
    let mut undecided = 0;
    for seed in 0..150 {
        let (_, whole) = patchwork(seed);
        let history = whole.history();
        let Document::Report(expected) = report_on(&history, None) else {
            panic!("no report")
        };
        for absent in 0..3 {
            let mut documents = shards(&history, 3);
            documents.remove(absent);
            let joined = merged(documents);
            for (entry, whole) in joined.levels.iter().zip(&expected.levels) {
                assert_eq!(entry.level, whole.level);
                if entry.verdict == VerdictWord::Undecided {
                    let reason = entry.reason.as_deref().unwrap_or_default();
                    assert!(
                        reason.contains(&format!("shard {absent} of 3 is missing")),
                        "{reason}"
                    );
                    undecided += usize::from(absent > 0);
                } else {
                    assert_eq!(
                        entry.verdict, whole.verdict,
                        "seed {seed} without {absent}\n{whole:?}"
                    );
                }
            }
            assert!(
                absent > 0
                    || joined
                        .levels
                        .iter()
                        .any(|entry| entry.verdict == VerdictWord::Undecided)
            );
            verify(&history, &joined).unwrap_or_else(|p| panic!("seed {seed}\n{whole}{p:#?}"));
        }
    }
    assert!(undecided > 20, "{undecided}");
}

#[test]
fn a_history_of_one_component_is_done_by_one_shard() {
    for seed in 0..100 {
        let history = sketch(Shape::SMALL, seed).history();
        let documents = shards(&history, 3);
        let said: Vec<usize> = documents
            .iter()
            .map(|document| match document {
                Document::Report(report)
                    if report
                        .part
                        .as_ref()
                        .is_some_and(|part| part.components == Some(1)) =>
                {
                    report.levels.len() + report.violations.len()
                }
                _ => 0,
            })
            .collect();
        assert_eq!(&said[1..], [0, 0], "seed {seed}");
    }
}

/// A serial run of three pairs of sessions that share no key, with or without times.
fn three_pairs(times: bool) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    for t in 0..18 {
        let session = builder.session_number(t % 6);
        let draft = builder.transaction(session, Outcome::Committed);
        if times {
            builder.set_interval(
                draft,
                Interval {
                    start: 10 * t as i64,
                    end: 10 * t as i64 + 5,
                },
            );
        }
        let (key, round) = (builder.key_number(t % 6 / 2), 2 * (t / 6) + t % 2);
        builder.operation(draft, OperationKind::Read, key, Value(round), 0);
        builder.operation(draft, OperationKind::Write, key, Value(round + 1), 0);
    }
    builder.finish().expect("a small history")
}

#[test]
fn what_is_asked_about_real_time_is_done_by_one_shard() {
    for times in [true, false] {
        let history = three_pairs(times);
        let findings = |shard| {
            let share = Some(Share { shard, shards: 2 });
            let asked = Options {
                levels: Level::ALL.to_vec(),
                ..options(share)
            };
            checkers::check(&history, &asked, &Control::new(), &|_| {})
        };
        let (first, second) = (findings(0), findings(1));
        let shared = |findings: &Findings| findings.shared.clone().expect("it is a share");
        assert!(!times || (shared(&first).components, &shared(&second).mine[..]) == (1, &[]));
        let real_time = first
            .level(Level::StrictSerializability)
            .expect("it was asked for");
        match &real_time.verdict {
            Verdict::Satisfied(_) => assert!(times),
            Verdict::Undecided(cause) => assert!(!times && *cause == checkers::Cause::NoTimestamps),
            Verdict::Violated => panic!("a serial run"),
        }
    }
}

#[test]
fn reports_that_do_not_belong_together_are_told_apart() {
    let (_, whole) = patchwork(1);
    let history = whole.history();
    let message = |documents: Vec<Document>| {
        report::merge(documents)
            .expect_err("they do not fit")
            .message
    };
    let two = shards(&history, 2);
    assert!(message(vec![two[0].clone(), two[0].clone()]).contains("comes twice"));
    let three = shards(&history, 3);
    assert!(message(vec![two[0].clone(), three[1].clone()]).contains("different things"));
    let all = report_on(&history, None);
    assert!(message(vec![all.clone(), all.clone()]).contains("2 whole reports"));
    assert!(message(vec![all.clone(), two[0].clone()]).contains("shares"));
    let other = shards(&patchwork(2).1.history(), 2);
    assert!(message(vec![two[0].clone(), other[1].clone()]).contains("different histories"));
    assert_eq!(report::merge(vec![all.clone()]), Ok(vec![all]));
}
