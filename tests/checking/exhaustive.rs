//! Every small history there is: all engines, all papers' algorithms and brute force agree.
//!
//! The ordinary run looks at all histories of two transactions of at most three operations on two keys, and at some of
//! those of three transactions. The full run looks at all of these, too:
//!
//! ```text
//! ISOSCOPE_SHARDS=100 ISOSCOPE_SHARD=0..5 cargo test --release --test checking exhaustive -- --ignored --nocapture
//! ```
//!
//! `ISOSCOPE_SHARD` is a number or a range without its end. Without `ISOSCOPE_SHARDS` it does all of them.
//! `ISOSCOPE_THIN_AIR` limits how many reads of a history may return what no transaction wrote (default: all): such a read
//! puts nothing in order, yet makes five times as many histories. `ISOSCOPE_PAPERS=0` leaves out the papers' algorithms,
//! which take most of the time, and compares the program's own engines with brute force only. `ISOSCOPE_EVIDENCE=0` takes
//! their verdicts as they come, without evidence, its verification and counts, but for one history of 4,096.

use crate::common;

use common::enumerate::{Reads, Shape, shapes};
use common::examine;
use common::oracle::{self, LEVELS, Observation};
use common::papers::{self, PAPERS};
use common::pattern_oracle;
use common::random::is_chosen;
use common::strong::{self, STRONG_PAPERS, Tally};
use isoscope::checkers::{Checker, Findings, Options, Pattern};
use isoscope::control::Control;
use isoscope::history::History;
use isoscope::relations::{Resolution, resolve};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

/// Of this many histories one is also looked at for evidence and counted by brute force.
const LOOKED_AT_CLOSELY: u64 = 64;
/// The same in the full run.
const OF_ALL_LOOKED_AT_CLOSELY: u64 = 4096;

/// Of this many shapes of three transactions the ordinary run takes one, and of this many histories of each.
const SHAPES: u64 = 97;
const HISTORIES: u64 = 61;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable}={text} is no number")),
    )
}

/// The shards that a variable names: a number or a range without its end, `0..5`.
///
/// Anything else ends the test: a run that looks at other shards than it was asked to must not pass.
fn range(variable: &str, shards: u64) -> std::ops::Range<u64> {
    let text = std::env::var(variable).unwrap_or_else(|_| {
        if shards == 1 {
            "0".to_owned()
        } else {
            String::new()
        }
    });
    let (first, end) = match text.split_once("..") {
        Some((first, end)) => (first.parse(), end.parse()),
        None => (text.parse(), text.parse().map(|number: u64| number + 1)),
    };
    match (first, end) {
        (Ok(first), Ok(end)) if first < end && end <= shards => first..end,
        _ => panic!(
            "{variable}={text} names no shards of {shards}: expected a number or a range like 0..5"
        ),
    }
}

fn without_evidence() -> bool {
    static WITHOUT: LazyLock<bool> = LazyLock::new(|| number("ISOSCOPE_EVIDENCE") == Some(0));
    *WITHOUT
}

/// Asks a checker without a word on what it finds, to count it or not.
fn ask(
    history: &History,
    resolution: &Arc<Resolution>,
    checker: Checker,
    counts: bool,
) -> Findings {
    let levels = LEVELS
        .into_iter()
        .filter(|level| checker.levels().contains(level))
        .collect();
    let options = Options {
        levels,
        max_instances: 0,
        counts,
    };
    let (resolution, control) = (Arc::clone(resolution), Control::new());
    match checker {
        Checker::Fast if !without_evidence() => {
            isoscope::audit::check_resolved(history, resolution, &options, &control, &|_| {})
        }
        _ => isoscope::papers::check_resolved(
            history,
            resolution,
            checker,
            &options,
            &control,
            &|_| {},
        ),
    }
}

/// What the program's own engines found, and the verdicts.
type Agreed = (Arc<Resolution>, Findings, [Option<bool>; 7]);

/// Verdicts of the program's own engines, with counts or not.
fn engines_agree(history: &History, counts: bool) -> Result<Agreed, String> {
    let resolution =
        Arc::new(resolve(history, &Control::new()).map_err(|stopped| stopped.to_string())?);
    let fast = ask(history, &resolution, Checker::Fast, counts);
    let found = examine::engine_verdicts(&fast);
    let expected = oracle::verdicts(history).map(Some);
    if found != expected {
        return Err(format!(
            "the engine says {}, brute force {}",
            examine::signs(found),
            examine::signs(expected)
        ));
    }
    Ok((resolution, fast, expected))
}

/// Verdicts of all checkers, and the counts of each that counts.
fn verdicts_agree(history: &History) -> Result<(), String> {
    let (resolution, fast, expected) = engines_agree(history, true)?;
    let only_e = fast.patterns.contains_key(&Pattern::NotMyLastWrite);
    let mut plume: Option<BTreeMap<String, u64>> = None;
    let mut c4: Option<BTreeMap<char, u64>> = None;
    for checker in PAPERS {
        let said = ask(history, &resolution, checker, true);
        let found = examine::engine_verdicts(&said);
        for (place, level) in LEVELS
            .iter()
            .enumerate()
            .filter(|(_, level)| checker.levels().contains(level))
        {
            let published = checker.is_c4()
                && only_e
                && found[place] == Some(true)
                && expected[place] == Some(false);
            if found[place] != expected[place] && !published {
                return Err(format!(
                    "{checker} at {level}: {:?}, brute force says {:?}",
                    found[place], expected[place]
                ));
            }
        }
        let same = if checker.is_plume() {
            let counts = papers::letters(&said);
            *plume.get_or_insert_with(|| counts.clone()) == counts
        } else {
            let counts = papers::c4_letters(&said);
            !checker.is_c4() || *c4.get_or_insert_with(|| counts.clone()) == counts
        };
        if !same {
            return Err(format!(
                "{checker} counts {:?} {:?}, not {plume:?} {c4:?}",
                said.patterns, said.c4_patterns
            ));
        }
    }
    strong_verdicts_agree(history, &resolution, &expected)?;
    // The fast engine does not look for weak patterns where causal consistency holds: then there are none but a to f and j.
    let counts = papers::letters(&fast);
    if plume == Some(counts.clone()) {
        Ok(())
    } else {
        Err(format!(
            "Plume counts {plume:?}, the fast engine {counts:?}"
        ))
    }
}

/// Verdicts of the papers' algorithms for the strong levels.
fn strong_verdicts_agree(
    history: &History,
    resolution: &Arc<Resolution>,
    expected: &[Option<bool>; 7],
) -> Result<(), String> {
    for checker in STRONG_PAPERS {
        let said = ask(history, resolution, checker, true);
        let found = examine::engine_verdicts(&said);
        for (place, level) in LEVELS
            .iter()
            .enumerate()
            .filter(|(_, level)| checker.levels().contains(level))
        {
            let no_mini = said.level(*level).is_some_and(strong::is_no_mini);
            if found[place] != expected[place] && !no_mini {
                let (found, expected) = (found[place], expected[place]);
                return Err(format!(
                    "{checker} at {level}: {found:?}, brute force says {expected:?}"
                ));
            }
        }
    }
    Ok(())
}

/// Evidence, and all counts against brute force.
fn all_agrees(history: &History) -> Result<(), String> {
    verdicts_agree(history)?;
    examine::examine(history)?;
    papers::compare_with_oracle(history)?;
    strong::compare_with_oracles(history, &Tally::default())?;
    let observation = Observation::of(history);
    if let [choice] = observation.choices().as_slice() {
        let counts = pattern_oracle::count_c4(&observation, choice);
        let found = papers::c4_letters(&papers::ask(history, Checker::C4TreeClocks));
        if found != counts {
            return Err(format!(
                "C4's letters {found:?}, brute force counts {counts:?}"
            ));
        }
    }
    Ok(())
}

/// Mixes a number (Steele, Lea & Flood 2014, SplitMix64), so that shards and samples are alike.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// How closely a history is looked at.
#[derive(Clone, Copy)]
enum Look {
    /// Verdicts of the program's own engines.
    Engines,
    /// Verdicts of all checkers, and their counts.
    Verdicts,
    /// Evidence, and all counts against brute force.
    Everything,
}

/// Goes through the histories of some shapes that `choose` takes, in parallel. Returns how many those were.
fn go_through(
    shapes: &[(u64, Shape)],
    thin_air: usize,
    choose: impl Fn(u64, &Reads) -> Option<Look> + Sync,
) -> u64 {
    let looked_at = AtomicU64::new(0);
    let failures: Vec<String> = shapes
        .par_iter()
        .flat_map_iter(|(name, shape)| {
            let mut failures = Vec::new();
            let mut n = 0;
            shape.histories(thin_air, |reads| {
                let Some(look) = choose(*name, reads) else {
                    return;
                };
                n += 1;
                let sketch = shape.sketch(reads);
                let history = sketch.history();
                let agree = match look {
                    Look::Engines => engines_agree(&history, !without_evidence()).map(|_| ()),
                    Look::Verdicts => verdicts_agree(&history),
                    Look::Everything => all_agrees(&history),
                };
                if let Err(problem) = agree
                    && failures.len() < 3
                {
                    failures.push(format!("{sketch}{problem}\n"));
                }
            });
            looked_at.fetch_add(n, Ordering::Relaxed);
            failures
        })
        .collect();
    let shown = failures[..failures.len().min(3)].join("\n");
    assert!(
        failures.is_empty(),
        "{} and more fail, for example:\n\n{shown}",
        failures.len()
    );
    looked_at.into_inner()
}

/// Shapes with a number each that does not depend on where they stand.
fn numbered(n: usize, most: usize) -> Vec<(u64, Shape)> {
    (0..)
        .zip(shapes(n, most))
        .map(|(place, shape)| (mixed(place << 4 | n as u64), shape))
        .collect()
}

fn closely(everything: bool) -> Look {
    if everything {
        Look::Everything
    } else {
        Look::Verdicts
    }
}

#[test]
fn all_histories_of_one_or_two_transactions() {
    let one = go_through(&numbered(1, 3), usize::MAX, |_, _| Some(Look::Everything));
    let mut shapes = numbered(2, 3);
    shapes.retain(|(name, _)| is_chosen(*name));
    let two = go_through(&shapes, usize::MAX, |shape, reads| {
        Some(closely(
            (shape ^ reads.number).is_multiple_of(LOOKED_AT_CLOSELY),
        ))
    });
    println!("{one} histories of one transaction, {two} of two");
    assert!(one > 100 && two > 8_000);
}

#[test]
fn some_histories_of_three_transactions() {
    let mut shapes = numbered(3, 3);
    shapes.retain(|(name, _)| name.is_multiple_of(SHAPES) && is_chosen(name / SHAPES));
    let n = go_through(&shapes, usize::MAX, |shape, reads| {
        let lot = mixed(shape ^ reads.number);
        lot.is_multiple_of(HISTORIES)
            .then_some(closely((lot / HISTORIES).is_multiple_of(LOOKED_AT_CLOSELY)))
    });
    println!("{n} histories of three transactions");
    assert!(n > 500);
}

#[test]
#[ignore = "hours: see the top of the file"]
fn all_histories_of_up_to_three_transactions() {
    let shards = number("ISOSCOPE_SHARDS").unwrap_or(1).max(1);
    let chosen = range("ISOSCOPE_SHARD", shards);
    println!("shards {chosen:?} of {shards}");
    let thin_air = number("ISOSCOPE_THIN_AIR").map_or(usize::MAX, |most| most as usize);
    let otherwise = if number("ISOSCOPE_PAPERS") == Some(0) {
        Look::Engines
    } else {
        Look::Verdicts
    };
    let begin = Instant::now();
    let mut all = 0;
    for transactions in 1..=3 {
        let mut shapes = numbered(transactions, 3);
        let all_shapes = shapes.len();
        shapes.retain(|(name, _)| chosen.contains(&(name % shards)));
        println!(
            "{} of {all_shapes} shapes of {transactions} transactions",
            shapes.len()
        );
        let n = go_through(&shapes, thin_air, |shape, reads| {
            let is_chosen = mixed(shape ^ reads.number).is_multiple_of(OF_ALL_LOOKED_AT_CLOSELY);
            Some(if is_chosen {
                Look::Everything
            } else {
                otherwise
            })
        });
        println!(
            "{n} histories of {transactions} transactions after {:?}",
            begin.elapsed()
        );
        all += n;
    }
    println!(
        "shards {chosen:?} of {shards}: {all} histories in {:?}",
        begin.elapsed()
    );
    assert!(all > 0, "no histories in shards {chosen:?} of {shards}");
}
