//! The papers' own algorithms against the fast engine and brute force, and where they differ as published.

use crate::common;

use common::examine;
use common::papers::{
    self, PAPERS, WEAK, ask, ask_one_cm, ask_plume_rc, c4_letters, c4_word, compare,
    compare_with_oracle, letters, signs,
};
use common::random::{self, Shape, for_histories, n_of};
use isoscope::checkers::{self, Checker, Findings, Options, Verdict};
use isoscope::control::Control;
use isoscope::formats;
use isoscope::generate::{Generation, Length, Model, Workload};
use isoscope::history::{Builder, History, OperationKind, Origin, Outcome, Value};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Histories per shape in the ordinary run.
const SMALL: u64 = 30_000;
const WILD: u64 = 16_000;
const LONG: u64 = 8_000;
const CLEAN: u64 = 5_000;
const LARGER: u64 = 300;
const AMBIGUOUS: u64 = 500;
const LAGGING: u64 = 400;

const PLUMES: [Checker; 3] = [
    Checker::Plume,
    Checker::PlumeTreeClocks,
    Checker::PlumeSearch,
];

#[test]
fn all_agree_on_small_histories() {
    for_histories(Shape::SMALL, SMALL, |sketch| {
        compare_with_oracle(&sketch.history())
    });
}

/// Few keys and operations, so that most histories violate something, often several things.
#[test]
fn all_agree_on_crowded_histories() {
    let shape = Shape {
        transactions: 5,
        operations: 3,
        keys: 2,
        sessions: 3,
        ..Shape::SMALL
    };
    for_histories(shape, WILD, |sketch| compare_with_oracle(&sketch.history()));
}

/// Transactions that read much, so that one sees another before and after.
const LONG_TRANSACTIONS: Shape = Shape {
    transactions: 5,
    operations: 7,
    keys: 3,
    sessions: 3,
    ..Shape::SMALL
};

#[test]
fn all_agree_on_histories_of_long_transactions() {
    for_histories(LONG_TRANSACTIONS, LONG, |sketch| {
        compare_with_oracle(&sketch.history())
    });
}

#[test]
fn all_agree_on_histories_of_almost_valid_stores() {
    for_histories(Shape::CLEAN, CLEAN, |sketch| {
        compare_with_oracle(&sketch.history())
    });
}

/// Too large for brute force.
#[test]
fn the_papers_agree_with_the_fast_engine_on_larger_histories() {
    let many = Shape {
        transactions: 40,
        operations: 6,
        keys: 8,
        sessions: 9,
        ..Shape::SMALL
    };
    let clean = Shape {
        transactions: 60,
        operations: 4,
        keys: 6,
        sessions: 12,
        ..Shape::CLEAN
    };
    for shape in [many, clean] {
        for_histories(shape, LARGER, |sketch| {
            compare(&sketch.history(), &PAPERS).map(|_| ())
        });
    }
}

/// Views that lag behind contradict the first order that the engine guesses, and some later ones.
#[test]
fn the_papers_agree_where_several_orders_are_tried() {
    let stores = [
        Model::Serial,
        Model::Prefix,
        Model::Causal,
        Model::Atomic,
        Model::Committed,
    ];
    let mut signs_seen: BTreeMap<String, u64> = BTreeMap::new();
    let lagging = n_of(LAGGING);
    for seed in 0..lagging {
        let random = &mut fastrand::Rng::with_seed(seed);
        let workload = Workload {
            seed,
            sessions: random.u32(2..30),
            transactions: random.u64(5..60),
            operations: Length::fixed(random.u32(2..12)),
            keys: random.u64(3..400),
            read_share: 0.2 + 0.7 * random.f64(),
            ..Workload::default()
        };
        let lag = random.u64(1..200);
        let generation = Generation {
            lag,
            ..Generation::new(workload, stores[random.usize(0..stores.len())])
        };
        let history = generation
            .history(&Control::new())
            .expect("such stores are possible");
        let levels = Checker::BiswasEneaSaturation.levels().to_vec();
        let options = Options {
            levels,
            max_instances: 20,
            ..Options::default()
        };
        let fast = checkers::check(&history, &options, &Control::new(), &|_| {});
        let slow = Options {
            max_instances: 0,
            ..options
        };
        let slow = papers::ask_with(&history, Checker::BiswasEneaSaturation, slow);
        examine::evidence(&history, &fast)
            .unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
        for result in &slow.levels {
            let ours = &fast.level(result.level).expect("it was asked for").verdict;
            assert_eq!(
                ours.word(),
                result.verdict.word(),
                "seed {seed}, {}",
                result.level
            );
        }
        *signs_seen.entry(signs(&fast)).or_default() += 1;
    }
    assert!(
        signs_seen.len() >= 3 && signs_seen.values().all(|&n| n > lagging / 50),
        "{signs_seen:?}"
    );
}

#[test]
fn where_values_repeat_the_papers_do_not_answer() {
    for_histories(Shape::AMBIGUOUS, AMBIGUOUS, |sketch| {
        compare(&sketch.history(), &PAPERS).map(|_| ())
    });
    let found = ask(
        &common::history("a: [w x 1]\nb: [w x 1]\nc: [r x 1]"),
        Checker::Plume,
    );
    assert_eq!(signs(&found), "????");
    assert!(found.violations.is_empty() && found.patterns.is_empty());
}

/// Agreement means something only where there is something to agree on.
#[test]
fn random_histories_have_every_letter_and_every_combination_of_verdicts() {
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for (shape, seed) in
        (0..4_000).flat_map(|seed| [(Shape::SMALL, seed), (LONG_TRANSACTIONS, seed)])
    {
        let history = random::sketch(shape, seed).history();
        let plume = ask(&history, Checker::Plume);
        let c4 = c4_letters(&ask(&history, Checker::C4))
            .into_keys()
            .map(|letter| format!("C4 {letter}"));
        for what in letters(&plume).into_keys().chain(c4).chain([signs(&plume)]) {
            *seen.entry(what).or_default() += 1;
        }
    }
    let verdicts = ["++++", "+++-", "++--", "+---", "-+--", "----"].map(str::to_owned);
    let ours = ('a'..='n').map(String::from);
    let c4 = ('a'..='l').map(|letter| format!("C4 {letter}"));
    let rare: Vec<String> = ours
        .chain(c4)
        .chain(verdicts)
        .filter(|what| seen.get(what).is_none_or(|n| *n < 10))
        .collect();
    println!("{seen:?}");
    assert!(rare.is_empty(), "{rare:?} in {seen:?}");
}

struct Row {
    name: String,
    text: String,
    verdicts: String,
    rc_plume: bool,
    taps: String,
    c4_taps: String,
}

/// The table of tiny histories, without those in which reads are ambiguous.
fn rows() -> Vec<Row> {
    let path = common::repository("tests/data/tiny-histories.json");
    let text = std::fs::read_to_string(path).expect("the table is part of the repository");
    let table: Json = serde_json::from_str(&text).expect("the table is JSON");
    let string = |json: &Json| json.as_str().expect("a string").to_owned();
    let rows = table["histories"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["taps"].is_string());
    let sign = |json: &Json| {
        if json.as_bool() == Some(true) {
            '+'
        } else {
            '-'
        }
    };
    rows.map(|row| Row {
        name: string(&row["name"]),
        text: string(&row["text"]),
        verdicts: WEAK
            .iter()
            .map(|level| sign(&row["verdicts"][level.code()]))
            .collect(),
        rc_plume: row["rc_plume"].as_bool().expect("a verdict"),
        taps: string(&row["taps"]),
        c4_taps: string(&row["c4_taps"]),
    })
    .collect()
}

/// The text of a row.
fn row(name: &str) -> String {
    rows()
        .into_iter()
        .find(|row| row.name == name)
        .unwrap_or_else(|| panic!("no row {name}"))
        .text
}

fn word(findings: &Findings) -> String {
    letters(findings).into_keys().collect()
}

#[test]
fn the_table_of_tiny_histories_is_reproduced_with_both_papers_letters() {
    let rows = rows();
    assert!(rows.len() > 60);
    for row in rows {
        let history = common::history(&row.text);
        compare_with_oracle(&history).unwrap_or_else(|problem| panic!("{}: {problem}", row.name));
        for checker in PLUMES {
            let found = ask(&history, checker);
            assert_eq!(
                (signs(&found), word(&found)),
                (row.verdicts.clone(), row.taps.clone()),
                "{}",
                row.name
            );
            let rc = signs(&ask_plume_rc(&history, checker)).chars().nth(1);
            assert_eq!(
                rc,
                Some(if row.rc_plume { '+' } else { '-' }),
                "{}",
                row.name
            );
        }
        for checker in [Checker::C4, Checker::C4TreeClocks] {
            assert_eq!(
                c4_word(&ask(&history, checker)),
                row.c4_taps,
                "{}",
                row.name
            );
        }
    }
}

/// Design 5.1, "one CM for three levels": an order that only the causal axiom forces is held against RA.
#[test]
fn one_commit_order_for_all_levels_reports_a_violation_of_ra_that_does_not_exist() {
    let history = common::history(&row("n-ra-one-cm-trap"));
    for checker in PLUMES {
        assert_eq!(signs(&ask(&history, checker)), "+++-");
        let published = ask_one_cm(&history, checker);
        assert_eq!(
            (signs(&published).as_str(), word(&published).as_str()),
            ("++--", "ln")
        );
        let says = |line: &String| {
            line.starts_with("RA is violated as published") && line.contains("RA is satisfied")
        };
        assert!(
            published.assumptions.iter().any(says),
            "{:?}",
            published.assumptions
        );
        assert!(
            common::examine::evidence(&history, &published)
                .is_err_and(|why| why.contains("RA violated"))
        );
    }
}

/// The same at RC. IsoVista's C4, asked for RC, does so, too.
#[test]
fn one_commit_order_for_all_levels_reports_a_violation_of_rc_that_does_not_exist() {
    let history = common::history(&row("rc-ok-one-cm-trap"));
    for checker in PLUMES {
        assert_eq!(signs(&ask(&history, checker)), "++--");
        let published = ask_one_cm(&history, checker);
        assert_eq!(
            (signs(&published).as_str(), word(&published).as_str()),
            ("+---", "ikm")
        );
        assert!(
            published
                .assumptions
                .iter()
                .any(|line| line.starts_with("RC is violated as published"))
        );
        assert!(
            !published
                .assumptions
                .iter()
                .any(|line| line.starts_with("RA is violated as published"))
        );
    }
}

/// More edges never hide a violation, and TCC is the same with either.
#[test]
fn one_commit_order_rejects_what_own_ones_reject_and_agrees_at_tcc() {
    for_histories(
        Shape {
            transactions: 6,
            keys: 2,
            ..Shape::SMALL
        },
        4_000,
        |sketch| {
            let history = sketch.history();
            let (own, one_cm) = (
                ask(&history, Checker::Plume),
                ask_one_cm(&history, Checker::PlumeTreeClocks),
            );
            let (own_signs, one_signs) = (signs(&own), signs(&one_cm));
            for (level, (own, one)) in WEAK.iter().zip(own_signs.chars().zip(one_signs.chars())) {
                let published = format!("{level} is violated as published");
                let said = one_cm
                    .assumptions
                    .iter()
                    .any(|line| line.starts_with(&published));
                let allowed = if said {
                    (own, one) == ('+', '-')
                } else {
                    own == one
                };
                if !allowed {
                    return Err(format!("{level}: own {own}, one {one}, said so: {said}"));
                }
            }
            if letters(&own) == letters(&one_cm) {
                Ok(())
            } else {
                Err(format!("{:?} and {:?}", letters(&own), letters(&one_cm)))
            }
        },
    );
}

/// Design 5.1, Plume Def. 4 against Biswas & Enea Fig. 2a: two reads of one key.
#[test]
fn plumes_read_committed_lets_two_reads_of_one_key_go_backwards() {
    for name in [
        "j-same-key-backwards",
        "j-same-key-oscillation",
        "j-back-to-initial",
    ] {
        let history = common::history(&row(name));
        for checker in PLUMES {
            assert_eq!(signs(&ask(&history, checker)), "----", "{name}");
            let plume = ask_plume_rc(&history, checker);
            assert_eq!(signs(&plume), "-+--", "{name}");
            assert!(
                plume
                    .assumptions
                    .iter()
                    .any(|line| line.contains("Definition 4")),
                "{:?}",
                plume.assumptions
            );
        }
    }
}

/// Design 5.1, C4 Thm 1: there is no pattern for the read of an own overwritten write.
#[test]
fn c4_accepts_the_read_of_an_own_overwritten_write() {
    let history = common::history(&row("e-not-my-last-write"));
    for checker in [Checker::C4, Checker::C4TreeClocks] {
        let found = ask(&history, checker);
        assert_eq!(
            (signs(&found).as_str(), c4_word(&found).as_str()),
            ("+", "")
        );
        assert!(
            found
                .assumptions
                .iter()
                .any(|line| line.contains("by the axioms TCC is violated"))
        );
        assert!(
            found
                .violations
                .iter()
                .all(|violation| !violation.levels.contains(WEAK[3]))
        );
    }
    assert_eq!(signs(&ask(&history, Checker::BiswasEneaSaturation)), "---");
}

/// Design 5.1, "C4 f compares values": intermediate, then final of one writer. Plume's j needs two writers.
#[test]
fn c4_compares_the_values_of_two_reads_and_plume_their_writers() {
    let history = common::history(&row("f-intermediate-then-final"));
    assert_eq!(
        c4_letters(&ask(&history, Checker::C4)),
        [('e', 1), ('f', 1)].into()
    );
    let plume = ask(&history, Checker::Plume);
    assert_eq!(
        (word(&plume).as_str(), signs(&plume).as_str()),
        ("f", "+---")
    );
}

/// Design 5.1, C4 §3.2 and §6: "a to f characterise RC", "a to f, h, i RA". Both lack g, and RC has non-repeatable reads.
#[test]
fn c4s_remarks_on_rc_and_ra_do_not_hold() {
    let cyclic = common::history(&row("g-cycle-so-wr"));
    assert_eq!(c4_word(&ask(&cyclic, Checker::C4)), "g");
    assert_eq!(signs(&ask(&cyclic, Checker::Plume)), "+---");
    let twice = common::history(&row("j-nonrepeatable"));
    assert!(c4_word(&ask(&twice, Checker::C4)).contains('f'));
    assert_eq!(signs(&ask(&twice, Checker::Plume)), "-+--");
    // Session order alone: k, though RA is violated.
    let own = common::history(&row("k-fractured-so-ryw"));
    assert_eq!(c4_word(&ask(&own, Checker::C4)), "k");
    assert_eq!(signs(&ask(&own, Checker::Plume)), "++--");
}

/// Plume's text has the initial transaction precede every session; its released RA mode, which does not, accepts this.
#[test]
fn a_stale_initial_read_through_session_order_is_a_fractured_read() {
    let history = common::history(&row("k-fractured-so-initial"));
    for checker in PLUMES {
        let found = ask(&history, checker);
        assert_eq!(
            (signs(&found).as_str(), word(&found).as_str()),
            ("++--", "k")
        );
    }
}

/// A minimal history per pattern of Plume's table: the letters that each paper gives it, and the levels it violates.
#[test]
fn each_pattern_is_found_by_its_letter_in_a_history_of_its_own() {
    // Plume's letter, C4's letters, verdicts at CI, RC, RA, TCC.
    let expected = [
        ('a', "a", "+---"),
        ('b', "b", "+---"),
        ('c', "c", "+---"),
        ('d', "d", "+---"),
        ('e', "", "+---"),
        ('f', "e", "+---"),
        ('g', "g", "+---"),
        ('h', "h", "+---"),
        ('i', "i", "+---"),
        ('j', "fl", "-+--"),
        ('k', "h", "++--"),
        ('l', "l", "++--"),
        ('m', "jk", "+++-"),
        ('n', "l", "+++-"),
    ];
    for (letter, c4, verdicts) in expected {
        let path = common::repository(&format!("tests/data/taps/tap-{letter}.txt"));
        let history = formats::open(&path, Some("plume"), &Control::new())
            .expect("it is part of the repository");
        compare_with_oracle(&history).unwrap_or_else(|problem| panic!("tap-{letter}: {problem}"));
        for checker in PLUMES {
            let found = ask(&history, checker);
            assert_eq!(
                (word(&found), signs(&found)),
                (letter.to_string(), verdicts.to_owned()),
                "{checker}"
            );
        }
        for checker in [Checker::C4, Checker::C4TreeClocks] {
            let found = ask(&history, checker);
            let verdict = if c4.is_empty() { "+" } else { "-" };
            assert_eq!(
                (c4_word(&found).as_str(), signs(&found).as_str()),
                (c4, verdict),
                "{checker} on tap-{letter}"
            );
        }
        let found = ask(&history, Checker::BiswasEneaSaturation);
        assert_eq!(signs(&found), verdicts[1..], "tap-{letter}");
        assert!(found.patterns.is_empty() && found.c4_patterns.is_empty());
    }
}

/// Transactions of one write each, with a session each.
fn lonely(n: u64) -> History {
    let mut builder = Builder::new(Origin::default());
    for number in 0..n {
        let session = builder.session_number(number);
        let draft = builder.transaction(session, Outcome::Committed);
        let key = builder.key_number(number);
        builder.operation(draft, OperationKind::Write, key, Value(1), 0);
    }
    builder.finish().expect("it fits")
}

fn reasons(findings: &Findings) -> Vec<String> {
    let undecided = findings
        .levels
        .iter()
        .filter_map(|result| match &result.verdict {
            Verdict::Undecided(cause) => Some(format!("{}: {cause}", result.level)),
            _ => None,
        });
    undecided.collect()
}

#[test]
fn what_would_take_too_much_memory_is_undecided_with_the_reason() {
    let history = lonely(17_000);
    for checker in [
        Checker::Plume,
        Checker::PlumeTreeClocks,
        Checker::C4,
        Checker::C4TreeClocks,
    ] {
        let found = ask(&history, checker);
        let reasons = reasons(&found);
        assert_eq!(
            reasons.len(),
            if checker.is_c4() { 1 } else { 3 },
            "{reasons:?}"
        );
        let clear =
            |reason: &String| reason.contains("clocks would take") && reason.contains("MB allowed");
        assert!(reasons.iter().all(clear), "{reasons:?}");
    }
    assert_eq!(signs(&ask(&history, Checker::PlumeSearch)), "++++");
    let found = ask(&lonely(140_000), Checker::BiswasEneaSaturation);
    assert_eq!(signs(&found), "++?");
    assert!(
        reasons(&found)[0].starts_with("TCC: the transitive closure would take 2337 MB"),
        "{:?}",
        reasons(&found)
    );
}

#[test]
fn a_stopped_check_is_undecided() {
    let history = common::history("a: [w x 1]\nb: [r x 1]");
    let control = Control::new();
    control.stop();
    for checker in PAPERS {
        let found = isoscope::papers::check(
            &history,
            checker,
            &papers::options(checker),
            &control,
            &|_| {},
        );
        assert!(
            reasons(&found)
                .iter()
                .all(|reason| reason.ends_with("cancelled")),
            "{checker}"
        );
        assert_eq!(reasons(&found).len(), checker.levels().len(), "{checker}");
    }
}

/// Levels that a checker does not know are undecided, whatever else is asked.
#[test]
fn a_level_that_the_checker_does_not_know_is_undecided() {
    let history = common::history("a: [w x 1]\nb: [r x 1]");
    let found = papers::ask_with(&history, Checker::C4, Options::default());
    assert_eq!(signs(&found), "???+???");
    assert_eq!(reasons(&found)[0], "CI: the checker c4 does not decide CI");
}
