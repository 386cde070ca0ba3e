//! Every instance of TAP-g to n in the table of tiny histories is found, with the table's letter, and no other.

use crate::common;

use common::index;
use isoscope::checkers::{Level, LevelSet, Pattern, Violation, weak};
use isoscope::control::Control;
use isoscope::history::TransactionId;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

fn rows() -> Vec<Json> {
    let path = common::repository("tests/data/tiny-histories.json");
    let text = std::fs::read_to_string(path).expect("the table is part of the repository");
    let table: Json = serde_json::from_str(&text).expect("the table is JSON");
    table["histories"].as_array().expect("rows").clone()
}

fn transaction(json: &Json) -> TransactionId {
    json.as_u64().map_or(TransactionId::INITIAL, |number| {
        TransactionId::new(number as usize)
    })
}

fn level(json: &Json) -> Option<Level> {
    match json.as_str().expect("a word") {
        "mono" | "CO" | "CM_RC" => Some(Level::ReadCommitted),
        "frac" | "CM_RA" => Some(Level::ReadAtomic),
        "causal" | "CM_TCC" => Some(Level::TransactionalCausalConsistency),
        _ => None,
    }
}

#[test]
fn triples_of_the_table_are_found() {
    let mut instances = 0;
    for row in rows().iter().filter(|row| row["taps"].is_string()) {
        let (name, text) = (
            row["name"].as_str().expect("a name"),
            row["text"].as_str().expect("a history"),
        );
        let history = common::history(text);
        let levels = LevelSet::upward(Level::ReadCommitted);
        let found = weak::instances(&history, &index(&history), levels, 1000, &Control::new())
            .expect("no limit");
        let mut counts: BTreeMap<Pattern, u64> = BTreeMap::new();
        let mut expected: BTreeMap<(Pattern, TransactionId, TransactionId), (bool, LevelSet)> =
            BTreeMap::new();
        for triple in row["triples"].as_array().expect("triples") {
            let pattern = Pattern::parse(&format!(
                "TAP-{}",
                triple["tap"].as_str().expect("a letter")
            ));
            let pattern = pattern.expect("a pattern");
            if pattern == Pattern::NonRepeatableRead {
                continue;
            }
            *counts.entry(pattern).or_default() += 1;
            let levels = LevelSet::upward(
                level(&triple["trigger"])
                    .max(level(&triple["order"]))
                    .expect("a level"),
            );
            let implied = triple["implied"].as_bool().expect("yes or no");
            expected.insert(
                (
                    pattern,
                    transaction(&triple["t1"]),
                    transaction(&triple["t2"]),
                ),
                (implied, levels),
            );
        }
        let cycles = found.counts.get(&Pattern::CyclicCO).copied();
        assert_eq!(
            cycles.is_some(),
            row["taps"].as_str().expect("letters").contains('g'),
            "{name}"
        );
        counts.extend(cycles.map(|n| (Pattern::CyclicCO, n)));
        assert_eq!(found.counts, counts, "{name}: {text}");
        let told = |v: &Violation| {
            (
                (v.id.pattern, v.transactions[0], v.transactions[1]),
                (v.implied, v.levels),
            )
        };
        // What only a version older than the initial one explains is told with that version.
        let is_before_all = |v: &&Violation| v.implied && v.transactions[0].is_initial();
        let hidden: BTreeSet<Pattern> = found
            .violations
            .iter()
            .filter(is_before_all)
            .map(|v| v.id.pattern)
            .collect();
        let listed = found
            .violations
            .iter()
            .filter(|v| v.id.pattern != Pattern::CyclicCO && !is_before_all(v));
        let listed: BTreeMap<_, _> = listed.map(told).collect();
        instances += expected.len();
        expected.retain(|of, _| !hidden.contains(&of.0) || listed.contains_key(of));
        assert_eq!(expected, listed, "{name}: {text}");

        // C4's letters, where it finds nothing in single transactions.
        let c4 = row["c4_taps"].as_str().expect("letters");
        if c4.chars().all(|letter| letter > 'f') {
            let also = found
                .violations
                .iter()
                .flat_map(|violation| &violation.also);
            let letters: BTreeSet<&str> = also
                .filter_map(|name| name.strip_prefix("C4 TAP-"))
                .collect();
            // What is told with that version has no letter of commit orders.
            let is_told = |letter: &char| hidden.is_empty() || !matches!(letter, 'i' | 'l');
            let c4: String = c4.chars().filter(is_told).collect();
            assert_eq!(
                letters.into_iter().collect::<String>(),
                c4,
                "{name}: {text}"
            );
        }
    }
    assert!(instances > 30);
}

#[test]
fn verdicts_of_the_table_are_found() {
    for row in rows().iter().filter(|row| row["taps"].is_string()) {
        if row["taps"]
            .as_str()
            .is_some_and(|letters| letters.chars().any(|letter| letter < 'g'))
        {
            continue;
        }
        let history = common::history(row["text"].as_str().expect("a history"));
        for level in [
            Level::ReadCommitted,
            Level::ReadAtomic,
            Level::TransactionalCausalConsistency,
        ] {
            let decision =
                weak::decide(&index(&history), level, &Control::new()).expect("no limit");
            let satisfied = !decision.is_violated();
            assert_eq!(
                Some(satisfied),
                row["verdicts"][level.code()].as_bool(),
                "{level} {}",
                row["name"]
            );
        }
    }
}
