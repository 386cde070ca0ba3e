//! What an explanation says of orders: the weakest levels broken on each, and which steps of sessions or of real time make
//! the difference, against brute force on histories that are built again without these steps.

use crate::common;

use common::lattice;
use common::random::{Shape, for_seeds, sketch};
use isoscope::audit::{self, Example, Examples};
use isoscope::checkers::{CountedOrder, Level, Options};
use isoscope::control::Control;
use isoscope::counterexample::Difference;
use isoscope::export::{self, ComposeOptions, ExportKind};
use isoscope::formats;
use isoscope::history::{
    Builder, History, Interval, KeyId, Origin, Rules, SetUpRule, TransactionId,
};
use serde_json::Value as Json;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is shown of each violation listed at these levels, the usual ones if there are none.
fn examples(history: &History, levels: &[Level]) -> Vec<Example> {
    let levels = if levels.is_empty() {
        Level::of(history)
    } else {
        levels.to_vec()
    };
    let findings = audit::check(
        history,
        &Options {
            levels,
            ..Options::default()
        },
        &Control::new(),
        &|_| {},
    );
    let examples = Examples::new(history, &findings);
    findings
        .violations
        .iter()
        .map(|violation| examples.of(violation, &Control::new()))
        .collect()
}

fn sample(name: &str) -> History {
    let path = common::repository("sample_histories").join(name);
    formats::open(&path, None, &Control::new()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn samples_name_the_weakest_levels_broken_on_every_order() {
    for (name, level, expected) in [
        (
            "long-fork.hist",
            None,
            "Weakest level that these operations violate: plain monotonic snapshot reads (P-MSR, Elle's :monotonic-snapshot-read).",
        ),
        (
            "lost-update.json",
            None,
            "Weakest level that these operations violate: plain cursor stability (P-CS, Elle's :cursor-stability).",
        ),
        (
            "tap-j-non-repeatable-read.txt",
            None,
            "Weakest level that these operations violate: cut isolation (CI).",
        ),
        (
            "view-that-went-back.txt",
            None,
            "Weakest levels that these operations violate: plain monotonic view (P-MV) and plain update atomic (P-UA).",
        ),
        (
            "read-your-writes.txt",
            None,
            "Weakest level that these operations violate: read your writes (RYW, Elle's :read-your-writes); none without session order.",
        ),
        (
            "writes-follow-reads.txt",
            None,
            "Weakest levels that these operations violate: writes follow reads (WFR), monotonic view (MV) and monotonic snapshot reads (MSR); none without session order.",
        ),
        (
            "real-time-cycle.txt",
            None,
            "Weakest levels that these operations violate: R-MV, R-MSR, R-RA and K-SI; none without real time.",
        ),
        (
            "real-time-cycle.txt",
            Some(Level::StrongSnapshotIsolation),
            "Weakest levels that these operations violate: R-MV, R-MSR, R-RA and K-SI; none without real time.",
        ),
    ] {
        let examples = examples(&sample(name), level.as_slice());
        let told: Vec<Option<&str>> = examples
            .iter()
            .map(|e| e.explanation.weakest.as_deref())
            .collect();
        assert!(told.contains(&Some(expected)), "{name}: {told:?}");
    }
}

/// Write skew breaks the weakest level at which updates are serializable, if that is decided.
#[test]
fn write_skew_names_the_weakest_level_at_which_updates_are_serializable() {
    let level = Level::with_code("P-PL3U").unwrap_or(Level::PlainSerializability);
    let examples = examples(&sample("write-skew.hist"), &[]);
    let told = examples[0]
        .explanation
        .weakest
        .as_deref()
        .unwrap_or_default();
    let expected = format!("violate: {} ({}, Elle's :", level.spoken(), level.code());
    assert!(told.contains(&expected), "{told}");
}

/// Session order and real time break different levels; each is said once.
#[test]
fn what_is_broken_on_several_orders_is_said_of_each() {
    let stale = "a: [w x 1]@0..5 [w x 2]@10..15 [r x 1]@20..25\n";
    let both = "a: [w x 1] [w x 2] [r x 1, w y 1]\nb: [r y 0, w y 2]\nc: [r y 0, w y 3]\n";
    for (text, level, expected) in [
        (
            stale,
            Level::ReadAtomic,
            "Weakest levels that these operations violate: with session order read your writes (RYW, Elle's :read-your-writes), in real time also per key snapshot isolation (K-SI); none without either.",
        ),
        (
            both,
            Level::ReadAtomic,
            "Weakest level that these operations violate: read your writes (RYW, Elle's :read-your-writes); none without session order.",
        ),
        (
            both,
            Level::SnapshotIsolation,
            "Weakest level that these operations violate: plain cursor stability (P-CS, Elle's :cursor-stability).",
        ),
    ] {
        let examples = examples(&common::history(text), &[level]);
        let told: Vec<Option<&str>> = examples
            .iter()
            .map(|e| e.explanation.weakest.as_deref())
            .collect();
        assert!(told.contains(&Some(expected)), "{text}{told:?}");
    }
}

/// Each session guarantee is named by what happened to its users, with sessions as what makes the difference.
#[test]
fn guarantees_of_sessions_are_told_in_everyday_words() {
    for (name, level, title, needed) in [
        (
            "read-your-writes.txt",
            Level::ReadYourWrites,
            "A session did not see its own write",
            "anna#1 before anna#2 before anna#3 in session anna",
        ),
        (
            "monotonic-reads.txt",
            Level::MonotonicReads,
            "The reads of a session went back",
            "bank#1 before bank#2 in session bank and phone#1 before phone#2 in session phone",
        ),
        (
            "monotonic-writes.txt",
            Level::MonotonicWrites,
            "The writes of a session were seen out of order",
            "editor#1 before editor#2 before editor#3 in session editor",
        ),
        (
            "writes-follow-reads.txt",
            Level::WritesFollowReads,
            "A write was seen without what its session had read before",
            "author#1 before author#2 in session author and critic#1 before critic#2 in session critic",
        ),
        (
            "pram.txt",
            Level::Pram,
            "A session did not see what came before a write that it had read",
            "editor#1 before editor#2 before editor#3 in session editor and reader#1 before reader#2 in session reader",
        ),
    ] {
        let examples = examples(&sample(name), &[level]);
        let of_level = examples
            .iter()
            .find(|example| example.counterexample.level == level);
        let explanation = &of_level.expect("it is violated").explanation;
        assert_eq!(explanation.title, title, "{name}");
        let told = explanation.difference.as_deref().unwrap_or_default();
        let holds = format!(
            ". If any one of them is dropped, these operations satisfy {}.",
            level.spoken()
        );
        assert!(
            told.contains("P-SER") && told.contains(needed) && told.ends_with(&holds),
            "{told}"
        );
    }
}

#[test]
fn real_time_that_makes_the_difference_is_told_with_its_times() {
    let examples = examples(&sample("real-time-cycle.txt"), &[]);
    let told = examples[0]
        .explanation
        .difference
        .as_deref()
        .unwrap_or_default();
    assert_eq!(
        told,
        "Real time makes the difference: without it, these operations satisfy serializability (SER, Elle's \
         :strong-session-serializable) and weaker levels. What counts is that teller#2 had ended (at time 15) before phone#1 \
         began (at time 20). Without that, these operations satisfy strict serializability."
    );
    let edge = examples[0]
        .explanation
        .edge_reasons
        .iter()
        .filter(|reason| reason.contains("makes the difference"));
    assert_eq!(edge.count(), 1);
}

/// The picture marks the edge, its legend says what the mark means, and programs find both as data.
#[test]
fn pictures_mark_what_makes_the_difference() {
    let whole = sample("real-time-cycle.txt");
    let Example {
        counterexample,
        explanation,
        ..
    } = &examples(&whole, &[])[0];
    let picture = export::compose(
        counterexample,
        explanation,
        &whole,
        &ComposeOptions::default(),
    );
    let marked: Vec<&str> = picture
        .diagram
        .arrows
        .iter()
        .map(|arrow| arrow.label.as_str())
        .collect();
    assert_eq!(
        marked
            .iter()
            .filter(|label| label.ends_with(export::DECISIVE))
            .count(),
        1,
        "{marked:?}"
    );
    assert!(marked.contains(&"RT *"), "{marked:?}");
    let svg = export::export(ExportKind::Svg, &picture).expect("it is drawn");
    let svg = String::from_utf8(svg).expect("it is text");
    assert!(svg.contains("*: makes the difference"), "{svg}");
    let json = export::export(ExportKind::Json, &picture).expect("it is data");
    let json: Json = serde_json::from_slice(&json).expect("it is JSON");
    assert_eq!(
        json["orders"]["weakest_broken"],
        serde_json::json!(["R-MV", "R-MSR", "R-RA", "K-SI"])
    );
    assert_eq!(json["orders"]["difference"]["order"], "real-time");
    let edge = &json["orders"]["difference"]["edges"][0];
    let arrows = json["arrows"].as_array().expect("arrows");
    assert!(
        arrows
            .iter()
            .any(|arrow| arrow["edge"] == *edge && arrow["kind"] == "RT"),
        "{json}"
    );
    // Where no order makes a difference, nothing is marked.
    let whole = sample("write-skew.hist");
    let Example {
        counterexample,
        explanation,
        ..
    } = &examples(&whole, &[])[0];
    assert_eq!(explanation.difference, None);
    let picture = export::compose(
        counterexample,
        explanation,
        &whole,
        &ComposeOptions::default(),
    );
    assert!(
        !picture
            .diagram
            .arrows
            .iter()
            .any(|arrow| arrow.label.ends_with(export::DECISIVE))
    );
}

/// Small histories whose violations of any level are explained: the table of the lattice, and random ones.
#[test]
fn orders_agree_with_brute_force() {
    let table = std::fs::read_to_string(common::repository("tests/data/lattice-histories.json"))
        .expect("the table");
    let table: Json = serde_json::from_str(&table).expect("the table is JSON");
    let rows = table["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["text"].as_str().expect("text").to_owned());
    let rows: Vec<String> = rows.collect();
    let counts: [AtomicU64; 4] = Default::default();
    let n_rows = rows.len() as u64;
    for_seeds(n_rows + 150, |seed| {
        let shape = Shape {
            transactions: 6,
            operations: 3,
            keys: 2,
            sessions: 3,
            repeated_values: false,
            clean: seed % 4 > 0,
        };
        let history = match rows.get(seed as usize) {
            Some(text) => common::history(text),
            None => sketch(shape, seed).history(),
        };
        if history.n_transactions() > 6
            || !isoscope::relations::set_up_transactions(&history).is_empty()
        {
            return Ok(());
        }
        let every: Vec<Level> = Level::EVERY
            .into_iter()
            .filter(|level| *level != Level::Linearizability)
            .collect();
        for asked in every
            .chunks(1)
            .map(<[Level]>::to_vec)
            .chain([every.clone()])
        {
            for example in examples(&history, &asked) {
                agrees(&example, &counts).map_err(|problem| {
                    let told = example.explanation.facts().join("\n");
                    format!("seed {seed} at {asked:?}\n{told}\n{problem}")
                })?;
            }
        }
        Ok(())
    });
    let [known, by_sessions, in_time, steps] = counts.map(AtomicU64::into_inner);
    println!(
        "{known} with all levels, {by_sessions} by sessions, {in_time} in time, {steps} steps"
    );
    // The table has the first seeds.
    let is_usual = |variable| std::env::var_os(variable).is_none();
    if is_usual("ISOSCOPE_SEED") && is_usual("ISOSCOPE_HISTORIES") {
        assert!(known > 500 && by_sessions > 100 && in_time > 50 && steps > 150);
    }
}

fn agrees(example: &Example, counts: &[AtomicU64; 4]) -> Result<(), String> {
    let (history, orders) = (&example.counterexample.history, &example.explanation.orders);
    let count = |place: usize| counts[place].fetch_add(1, Ordering::Relaxed);
    if orders.broken.weakest().is_none() {
        return Ok(());
    }
    count(0);
    let levels: Vec<Level> = orders
        .held
        .iter()
        .chain(orders.broken.iter())
        .chain(orders.open.iter())
        .collect();
    let codes: Vec<String> = levels
        .iter()
        .filter(|l| **l != Level::Linearizability)
        .map(|l| l.code().to_owned())
        .collect();
    let expected = lattice::verdicts(history, &codes);
    for level in levels
        .iter()
        .filter(|level| **level != Level::Linearizability)
    {
        let found = match (orders.held.contains(*level), orders.broken.contains(*level)) {
            (held, broken) if held != broken => Some(held),
            _ => None,
        };
        if found != expected[level.code()] {
            return Err(format!(
                "{level}: {found:?}, expected {:?}",
                expected[level.code()]
            ));
        }
    }
    let weakest = orders.weakest_broken();
    let is_broken = |level: Level| expected.get(level.code()) == Some(&Some(false));
    if weakest.iter().any(|level| {
        Level::EVERY
            .into_iter()
            .any(|o| o != *level && level.implies(o) && is_broken(o))
    }) {
        return Err(format!("{weakest:?} are not the weakest"));
    }
    let alone = rebuilt(history, |_| true, None);
    let guarantees = [
        Level::ReadYourWrites,
        Level::MonotonicReads,
        Level::MonotonicWrites,
        Level::WritesFollowReads,
        Level::Pram,
    ];
    for level in guarantees.into_iter().filter(|level| is_broken(*level)) {
        if orders.without_sessions.contains(level) == holds(&alone, level) {
            return Err(format!("{level} without sessions"));
        }
    }
    let Some(difference) = &orders.difference else {
        return Ok(());
    };
    count(if difference.order == CountedOrder::Session {
        1
    } else {
        2
    });
    for step in &difference.needed {
        count(3);
        if !without(history, difference, *step)
            .iter()
            .any(|rest| holds(rest, difference.level))
        {
            return Err(format!(
                "without {step:?} {} does not hold",
                difference.level
            ));
        }
    }
    // What is not named does not suffice.
    let neighbours = history.transactions().zip(history.transactions().skip(1));
    let same_session =
        |(a, b): &(TransactionId, TransactionId)| history.session_of(*a) == history.session_of(*b);
    for step in neighbours
        .filter(same_session)
        .filter(|step| !difference.needed.contains(step))
    {
        let is_enough = || {
            without(history, difference, step)
                .iter()
                .any(|rest| holds(rest, difference.level))
        };
        if difference.order == CountedOrder::Session && is_enough() {
            return Err(format!("{step:?} is not named"));
        }
    }
    Ok(())
}

fn holds(history: &History, level: Level) -> bool {
    lattice::verdicts(history, &[level.code().to_owned()])[level.code()] == Some(true)
}

/// The history built again without a step: another session begins there, or one of the two ran at another time, if that
/// changes nothing else.
fn without(
    history: &History,
    difference: &Difference,
    (earlier, later): (TransactionId, TransactionId),
) -> Vec<History> {
    if difference.order == CountedOrder::Session {
        return vec![rebuilt(history, |t| t == later, None)];
    }
    let (Some(first), Some(then)) = (history.interval(earlier), history.interval(later)) else {
        return Vec::new();
    };
    let sooner = rebuilt(
        history,
        |_| false,
        Some((
            later,
            Interval {
                start: first.end,
                end: then.end,
            },
        )),
    );
    let longer = rebuilt(
        history,
        |_| false,
        Some((
            earlier,
            Interval {
                start: first.start,
                end: then.start,
            },
        )),
    );
    let by_session = difference.order == CountedOrder::RealTime;
    let ordered = |history: &History| {
        let mut all = Vec::new();
        for a in history.transactions() {
            for b in history.transactions() {
                let keys = |t| {
                    history
                        .operations_of(t)
                        .map(|o| history.operation(o).key)
                        .collect::<Vec<KeyId>>()
                };
                let counts = difference.order != CountedOrder::KeyRealTime
                    || keys(a).iter().any(|k| keys(b).contains(k));
                let in_session = by_session && history.session_of(a) == history.session_of(b);
                let is_known = history.outcome(a) == isoscope::history::Outcome::Committed;
                if let (Some(x), Some(y)) = (history.interval(a), history.interval(b))
                    && (x.end < y.start && is_known && counts && !in_session)
                {
                    all.push((a, b));
                }
            }
        }
        all
    };
    let mut rest = ordered(history);
    rest.retain(|pair| *pair != (earlier, later));
    [sooner, longer]
        .into_iter()
        .filter(|moved| ordered(moved) == rest)
        .collect()
}

fn rebuilt(
    history: &History,
    begins: impl Fn(TransactionId) -> bool,
    moved: Option<(TransactionId, Interval)>,
) -> History {
    let mut builder = Builder::new(Origin::default());
    if let Some(initial) = history.initial_value() {
        builder.initial_value(initial);
    }
    let keys: Vec<KeyId> = (0..history.n_keys())
        .map(|key| builder.key_number(key as u64))
        .collect();
    for (place, key) in keys.iter().enumerate() {
        if history.lists().is_list(KeyId::new(place)) {
            builder.list_key(*key);
        }
    }
    for session in history.sessions() {
        let mut name = session.index() as u64;
        for t in history.transactions_of(session) {
            name += if begins(t) { 1000 } else { 0 };
            let new_session = builder.session_number(name);
            let draft = builder.transaction(new_session, history.outcome(t));
            let interval = moved
                .filter(|(other, _)| *other == t)
                .map(|(_, interval)| interval)
                .or(history.interval(t));
            interval
                .into_iter()
                .for_each(|interval| builder.set_interval(draft, interval));
            for o in history.operations_of(t) {
                let operation = history.operation(o);
                let key = keys[operation.key.index()];
                match history.lists().read_by(o) {
                    Some(list) => builder.list_read(draft, key, list, 0),
                    None => builder.operation(draft, operation.kind, key, operation.value, 0),
                }
            }
        }
    }
    let rules = Rules {
        set_up: SetUpRule::Never,
        ..Rules::default()
    };
    builder
        .finish()
        .expect("it is no larger")
        .with_rules(&rules)
        .expect("no rule names anything")
}
