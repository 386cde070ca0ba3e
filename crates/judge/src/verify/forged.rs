//! Forged reports: each would be accepted if one rule of the judge were missing.

use super::levels::Strength;
use super::story::Sources;
use super::verifier::{Stated, Verifier};
use super::witness::Witness;
use crate::report::ViolationEntry;
use isoscope_model::control::Control;
use isoscope_model::history::{DuplicateRule, History, Rules, TransactionId};
use isoscope_model::levels::Level;
use isoscope_testing::history;
use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};
use std::borrow::Cow;

/// The transactions of a history in the order of the file, then ⊥.
fn all(history: &History) -> Vec<TransactionId> {
    history
        .transactions()
        .chain([TransactionId::INITIAL])
        .collect()
}

/// Whether the judge accepts that these edges and this proof show that a level is violated.
fn is_accepted(text: &str, level: &str, edges: Json, proof: Json) -> bool {
    let edges = edges.as_array().expect("a list").iter().map(|edge| {
        let mut edge = edge.clone();
        edge["why"] = json!("");
        edge
    });
    let violation: ViolationEntry = serde_json::from_value(json!({
        "id": "SERCycle/1", "pattern": "SERCycle", "name": "SERCycle", "also": [], "levels": [level],
        "transactions": [], "edges": edges.collect::<Vec<_>>(), "operations": [], "proof": proof,
        "implied": false, "group": 1
    }))
    .expect("a violation");
    let (history, control) = (history(text), Control::new());
    let stated = Stated {
        entry: Cow::Owned(violation),
        transactions: all(&history),
        reads: Vec::new(),
    };
    Verifier::new(&history, &control).violations(&[stated])[0].is_ok()
}

fn cycle(edges: &[usize]) -> Json {
    json!({ "kind": "cycle", "edges": edges })
}

fn path(from: usize, to: usize, kind: &str, through: &[usize]) -> Json {
    json!({ "from": from, "to": to, "kind": kind, "reason": { "rule": "path", "through": through } })
}

fn session(from: usize, to: usize) -> Json {
    json!({ "from": from, "to": to, "kind": "SO", "reason": { "rule": "session_order" } })
}

/// A write-read edge, or with ⊥ as the writer that was missed an anti-dependency, between two operations.
fn observed(kind: &str, key: &str, from: (usize, usize), to: (usize, usize), reason: Json) -> Json {
    json!({ "from": from.0, "to": to.0, "kind": kind, "key": key, "from_operation": from.1, "to_operation": to.1, "reason": reason })
}

fn reads() -> Json {
    json!({ "rule": "reads" })
}

fn missed_after(writer: usize) -> Json {
    json!({ "rule": "overwrites", "writer": writer, "order": [] })
}

const SEEN_IN_STEPS: &str = "a: [w x 1, w k 1]\nb: [r k 1] [r x 0]\n";

#[test]
fn nothing_precedes_the_initial_version_of_a_list() {
    let edges = json!([
        { "from": 0, "to": 2, "kind": "WW", "key": "x", "from_operation": 0,
          "reason": { "rule": "listed", "reader": 1, "read": 0 } },
        session(2, 0),
    ]);
    assert!(!is_accepted(
        "a: [a x 1]\nb: [r x [1]]\n",
        "SER",
        edges,
        cycle(&[0, 1])
    ));
}

#[test]
fn nothing_follows_from_what_a_transaction_found_that_need_not_count() {
    let proof = |place: usize| json!({ "kind": "appends", "read": { "transaction": place, "index": 0, "text": "" }, "place": 0, "cases": [] });
    let refused = "a: [w z 1]\nb: [r x [9]]!\n";
    assert!(!is_accepted(refused, "SER", json!([]), proof(1)));
    let refused = "a: [w z 1]\nb: [r x [9]]?\n";
    assert!(!is_accepted(refused, "SER", json!([]), proof(1)));
}

#[test]
fn a_path_is_no_single_step() {
    let (a_to_b, b_to_c) = (observed("WR", "k", (0, 1), (1, 0), reads()), session(1, 2));
    let whole = path(0, 2, "CO", &[0, 1]);
    let forced = json!({ "from": 0, "to": 3, "kind": "CM", "key": "x", "from_operation": 0,
        "reason": { "rule": "visible", "axiom": "RA", "reader": 2, "read": 0, "seen": [2] } });
    let edges = json!([a_to_b, b_to_c, whole, forced, session(3, 0)]);
    for level in ["RA", "UA"] {
        let is_accepted = is_accepted(SEEN_IN_STEPS, level, edges.clone(), cycle(&[3, 4]));
        assert!(!is_accepted, "{level}");
    }
    let missed = observed("RW", "x", (2, 0), (0, 0), missed_after(3));
    let edges = json!([a_to_b, b_to_c, path(0, 2, "CM", &[0, 1]), missed]);
    assert!(!is_accepted(
        SEEN_IN_STEPS,
        "UA",
        edges.clone(),
        cycle(&[2, 3])
    ));
    // The same is a violation where the causal past counts.
    assert!(is_accepted(SEEN_IN_STEPS, "PSI", edges, cycle(&[2, 3])));
}

#[test]
fn a_path_is_no_missed_version() {
    let text = "a: [w x 1, w k 1]\nb: [r k 1, w k 2] [r x 0]\n";
    let conflict = observed(
        "WW",
        "k",
        (1, 1),
        (0, 1),
        json!({ "rule": "conflict", "order": [3] }),
    );
    let edges = json!([
        observed("WR", "k", (0, 1), (1, 0), reads()),
        session(1, 2),
        observed("RW", "x", (2, 0), (0, 0), missed_after(3)),
        path(1, 0, "CM", &[1, 2]),
        conflict,
    ]);
    assert!(!is_accepted(text, "UA", edges, cycle(&[4, 0])));
}

#[test]
fn a_path_does_not_hide_by_which_read_it_leaves() {
    let text = "u: [w x 1, w y 1]\nt: [r x 0, r y 1]\n";
    let (read, missed) = (
        observed("WR", "y", (0, 1), (1, 1), reads()),
        observed("RW", "x", (1, 0), (0, 0), missed_after(2)),
    );
    let edges = json!([read, missed, path(1, 0, "CM", &[1])]);
    assert!(!is_accepted(text, "MSR", edges.clone(), cycle(&[0, 2])));
    assert!(!is_accepted(text, "MSR", edges.clone(), cycle(&[0, 1])));
    assert!(is_accepted(text, "SER", edges, cycle(&[0, 1])));
}

#[test]
fn what_sets_up_does_not_depend_on_a_case() {
    let text = "a: [w x 0]\nb: [r z 99, w x 0]?\nc: [w x 1] [r x 1] [r x 0]\n";
    let forced = json!({ "from": 2, "to": 5, "kind": "CM", "key": "x", "from_operation": 0,
        "reason": { "rule": "visible", "axiom": "TCC", "reader": 4, "read": 0, "seen": [0] } });
    let edges = json!([session(2, 4), forced, session(5, 2)]);
    let thin_air = json!({ "kind": "reads", "pattern": "TAP-a",
        "reads": [{ "transaction": 1, "index": 0, "text": "" }] });
    let proof = json!({ "kind": "outcomes", "transaction": 1, "cases": [
        { "committed": true, "proof": thin_air },
        { "committed": false, "proof": cycle(&[1, 2]) },
    ] });
    assert!(!is_accepted(text, "SER", edges, proof));
}

#[test]
fn levels_that_say_nothing_of_order_have_no_paths() {
    assert!(!Strength::Reads.is_causal() && !Strength::Versions.is_causal());
}

#[test]
fn an_order_explains_no_read_by_another_writer_than_the_one_that_counts() {
    let text = "a: [w x 1] [r x 1] [w x 1]\n";
    let rules = Rules {
        duplicates: DuplicateRule::Last,
        ..Rules::default()
    };
    let explained = |history: &History, level: Level| {
        let order: Vec<TransactionId> = history.transactions().collect();
        let control = Control::new();
        let sources = Sources {
            named: &FxHashMap::default(),
            others: &|_, _| None,
        };
        let verifier = Verifier::new(history, &control);
        verifier
            .witness(level, Witness::Commits(&order), sources)
            .is_ok()
    };
    assert!(explained(&history(text), Level::Serializability));
    let last = history(text).with_rules(&rules).expect("it has such rules");
    assert!(!explained(&last, Level::Serializability));
    assert!(!explained(&last, Level::AdyaReadCommitted));
}
