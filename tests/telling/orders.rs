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
    let decisive = picture
        .diagram
        .arrows
        .iter()
        .filter(|arrow| arrow.is_decisive);
    let marked: Vec<String> = decisive.map(|arrow| arrow.text()).collect();
    assert_eq!(marked, ["RT *"]);
    let svg = export::export(ExportKind::Svg, &picture).expect("it is drawn");
    let svg = String::from_utf8(svg).expect("it is text");
    assert!(svg.contains(export::ABOUT_DECISIVE), "{svg}");
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
    assert!(!picture.diagram.arrows.iter().any(|arrow| arrow.is_decisive));
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
                    let told = example.explanation.details().join("\n");
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
