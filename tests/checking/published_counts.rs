//! Plume's letters as its published program counts them: against brute force, and against what was published.

use crate::common;

use common::mixed::{self, Mix};
use common::papers::{WEAK, ask, letters, published};
use common::published_oracle;
use common::random::{self, Shape, for_histories, for_seeds};
use common::sketch::Sketch;
use isoscope::checkers::{Checker, Level};
use isoscope::control::Control;
use isoscope::formats::{self, Request};
use isoscope::history::{FailedRule, History, OperationKind, Outcome, Rules, Value};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::PathBuf;

const HISTORIES: u64 = 6_000;
const MIXED: u64 = 6_000;

const PLUMES: [Checker; 3] = [
    Checker::Plume,
    Checker::PlumeTreeClocks,
    Checker::PlumeSearch,
];
const TCC: [Level; 1] = [Level::TransactionalCausalConsistency];

/// Transactions that read much, so that one sees another before and after.
const LONG_TRANSACTIONS: Shape = Shape {
    transactions: 5,
    operations: 7,
    keys: 3,
    sessions: 3,
    ..Shape::SMALL
};

fn compare(history: &History) -> Result<(), String> {
    let expected = published_oracle::count(history);
    for checker in PLUMES {
        let found = published(history, checker, &TCC);
        if found != expected {
            return Err(format!(
                "{checker} counts {found:?}, brute force {expected:?}"
            ));
        }
    }
    Ok(())
}

/// Outcomes are known, and the initial value is written like any other.
fn settled(sketch: &Sketch, zeros: bool) -> History {
    let mut sketch = sketch.clone();
    let mut n = 0;
    for transaction in sketch
        .transactions_mut()
        .filter(|t| t.outcome == Outcome::Unknown)
    {
        n += 1;
        transaction.outcome = [Outcome::Committed, Outcome::Aborted][n % 2];
    }
    if zeros {
        let writes = sketch
            .operations_mut()
            .filter(|o| o.kind == OperationKind::Write);
        writes.step_by(3).for_each(|o| o.value = Value(0));
    }
    sketch.history()
}

#[test]
fn the_counts_are_those_of_brute_force() {
    for shape in [
        Shape::SMALL,
        LONG_TRANSACTIONS,
        Shape::CLEAN,
        Shape::AMBIGUOUS,
    ] {
        for_histories(shape, HISTORIES, |sketch| {
            compare(&settled(sketch, false)).and(compare(&settled(sketch, true)))
        });
    }
}

/// Lists, elements and values that repeat, writes of the initial value, and transactions that only write that.
#[test]
fn the_counts_are_those_of_brute_force_where_keys_hold_lists() {
    for_seeds(MIXED, |seed| {
        let rng = &mut fastrand::Rng::with_seed(seed);
        let mix = Mix {
            unknown: false,
            vague: false,
            set_up: false,
            times: false,
            groups: 1,
            ..Mix::any(rng)
        };
        let history = mixed::history(&mix, seed);
        compare(&history).map_err(|problem| format!("{}{problem}", mixed::text(&mix, seed)))
    });
}

/// Agreement means something only where there is something to agree on.
#[test]
fn random_histories_have_every_letter_and_are_counted_differently() {
    let mut seen: BTreeMap<char, u64> = BTreeMap::new();
    let mut differ = 0;
    for seed in 0..1_500 {
        let history = settled(&random::sketch(LONG_TRANSACTIONS, seed), false);
        let counts = published(&history, Checker::Plume, &TCC);
        let own = letters(&ask(&history, Checker::Plume));
        differ += u64::from(
            counts
                .iter()
                .any(|(letter, n)| own.get(&letter.to_string()) != Some(n)),
        );
        counts
            .into_keys()
            .for_each(|letter| *seen.entry(letter).or_default() += 1);
    }
    let rare: Vec<char> = ('a'..='n')
        .filter(|letter| seen.get(letter).is_none_or(|n| *n < 10))
        .collect();
    assert!(
        rare.is_empty() && differ > 100,
        "{rare:?} in {seen:?}, {differ} differ"
    );
}

/// At RC the program ends before it looks for commit orders, and letters above the levels asked for do not count.
#[test]
fn letters_are_those_that_the_levels_prohibit() {
    // b reads y of a, then x from before a; c does so with values that were written.
    let stale = common::history("a: [w x 1, w y 1]\nb: [r y 1, r x 0]");
    let older = common::history("a: [w x 1]\nb: [r x 1, w x 2, w y 2]\nc: [r y 2, r x 1]");
    for (history, at_rc) in [(stale, 'h'.to_string()), (older, String::new())] {
        for level in [Level::ReadAtomic, TCC[0]] {
            assert_eq!(
                published(&history, Checker::Plume, &[level]),
                [('h', 1)].into()
            );
        }
        let found: String = published(&history, Checker::Plume, &[Level::ReadCommitted])
            .into_keys()
            .collect();
        assert_eq!(found, at_rc);
        assert_eq!(
            published(&history, Checker::Plume, &[Level::CutIsolation]),
            [].into()
        );
    }
    let twice = common::history("a: [w x 1]\nb: [r x 0, r x 1]");
    assert_eq!(
        published(&twice, Checker::Plume, &[Level::CutIsolation]),
        [('j', 1)].into()
    );
    assert_eq!(
        published(&twice, Checker::Plume, &[Level::ReadCommitted]),
        [].into()
    );
}

/// Where session order is the only trigger: the transaction just before is one, those before that are not.
#[test]
fn session_order_counts_between_neighbours_only() {
    let neighbor = "a: [w x 1]\nb: [r x 1, w x 2] [r x 1]";
    let apart = "a: [w x 1]\nb: [r x 1, w x 2] [w z 1] [r x 1]";
    for (text, letter) in [(neighbor, 'k'), (apart, 'm')] {
        let history = common::history(text);
        assert_eq!(
            published(&history, Checker::Plume, &TCC),
            [(letter, 1)].into()
        );
        assert_eq!(
            letters(&ask(&history, Checker::Plume)),
            [("k".to_owned(), 1)].into()
        );
    }
}

/// Plume, Table 5: its own checker finds all fourteen.
#[test]
fn each_pattern_is_found_in_a_history_of_its_own() {
    for letter in 'a'..='n' {
        let path = common::repository(&format!("tests/data/taps/tap-{letter}.txt"));
        let history = formats::open(&path, Some("plume"), &Control::new())
            .expect("it is part of the repository");
        assert!(
            published(&history, Checker::Plume, &TCC).contains_key(&letter),
            "tap-{letter}"
        );
        compare(&history).unwrap_or_else(|problem| panic!("tap-{letter}: {problem}"));
    }
}

/// The counts of the program itself on histories of the corpus, in which dbcop's failed statements were left out.
#[test]
#[cfg_attr(not(published_counts), ignore = "no counts of the program")]
fn the_counts_are_those_of_the_published_program() {
    let corpus = common::corpus();
    let text = std::fs::read_to_string(corpus.join("../plume-letters.json"))
        .expect("counts of the program");
    let table: Json = serde_json::from_str(&text).expect("the table is JSON");
    let files = table["files"].as_object().expect("counts by file");
    assert!(files.len() > 50);
    let rules = Rules {
        failed: FailedRule::Drop,
        ..Rules::default()
    };
    let request = Request {
        format: None,
        rules: Some(&rules),
    };
    for (name, counts) in files {
        let history = formats::open(&corpus.join(name), request, &Control::new()).expect(name);
        let expected: BTreeMap<char, u64> = counts
            .as_object()
            .expect("counts")
            .iter()
            .map(letter_and_count)
            .collect();
        for checker in PLUMES {
            assert_eq!(
                published(&history, checker, &TCC),
                expected,
                "{checker} on {name}"
            );
        }
    }
}

fn letter_and_count((id, n): (&String, &Json)) -> (char, u64) {
    (
        id.chars().last().expect("a letter"),
        n.as_u64().expect("a count"),
    )
}

/// The letters that Plume's section 5.2 names of three new bugs. MariaDB's log, which ends while sessions go on writing,
/// has reads of what it does not record, too, which are not named. AntidoteDB's history is not in every corpus.
#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn new_bugs_have_the_letters_that_were_published() {
    let corpus = common::corpus();
    let folder = corpus.join("plume-text/bugs");
    let files = folder
        .read_dir()
        .expect("a folder of bugs")
        .map(|entry| entry.expect("an entry").path());
    let files: Vec<PathBuf> = files.collect();
    for (name, expected) in [
        ("mariadb", "afhijkln"),
        ("yugabyte", "iklmn"),
        ("antidote", "ghkm"),
    ] {
        let named = |path: &&PathBuf| {
            path.file_name()
                .is_some_and(|file| file.to_string_lossy().contains(name))
        };
        let Some(path) = files.iter().find(named) else {
            assert_eq!(name, "antidote", "the corpus has it");
            println!("skipped: no history of AntidoteDB");
            continue;
        };
        let history = formats::open(path, None, &Control::new()).expect(name);
        let found: String = published(&history, Checker::Plume, &WEAK)
            .into_keys()
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}
