//! Update serializability: the transactions that write are serial, and each that only reads fits in by itself.

use crate::common;

use common::examine;

use common::lattice;
use common::mixed::{self, Mix};
use common::random::for_seeds;
use fastrand::Rng;
use isoscope::audit;
use isoscope::checkers::{Findings, Level, Options, Proof, Verdict, Violation};
use isoscope::control::Control;
use isoscope::counterexample;
use isoscope::history::{History, OperationKind, TransactionId};
use isoscope::relations::Relation;
use isoscope::report::Settings;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

const LEVEL: Level = Level::PlainUpdateSerializability;

/// The findings, after the verifier has accepted all evidence.
fn ask(history: &History, levels: &[Level]) -> Result<Findings, String> {
    let options = Options {
        levels: levels.to_vec(),
        ..Options::default()
    };
    let findings = audit::check(history, &options, &Control::new(), &|_| {});
    let report = isoscope::report::of_findings(
        history,
        &findings,
        Settings {
            witness: true,
            ..Settings::default()
        },
    );
    examine::believed(history, &report).map(|_| findings)
}

fn holds(findings: &Findings, level: Level) -> Result<bool, String> {
    match findings.level(level).map(|result| &result.verdict) {
        Some(Verdict::Satisfied(_)) => Ok(true),
        Some(Verdict::Violated) => Ok(false),
        other => Err(format!("{level}: {other:?}")),
    }
}

/// Two deposits that a report sees in opposite orders, and what may be in between.
#[test]
fn readers_may_disagree_with_each_other_but_not_with_those_that_write() {
    const SKEW: &str = "a: [r x 0, w y 1]\nb: [r y 0, w x 1]\n";
    const READ_ONLY: &str = "d: [r s 0, w s 20]\nw: [r c 0, r s 0, w c -11]\n";
    for (text, expected, pattern) in [
        (
            "a: [w x 1]\nb: [w y 1]\nc: [r x 1, r y 0]\nd: [r x 0, r y 1]\n".to_owned(),
            true,
            "",
        ),
        (
            "a: [w x 1]\nb: [w y 1]\nc: [r x 1, r y 0, w p 1]\nd: [r x 0, r y 1]\n".to_owned(),
            false,
            "LongFork",
        ),
        (
            "a: [w x 1]\nb: [w y 1]\nc: [r x 1, r y 0, w p 1]\nd: [r x 0, r y 1, w q 1]\n"
                .to_owned(),
            false,
            "LongFork",
        ),
        (SKEW.to_owned(), false, "WriteSkew"),
        (SKEW.replace(", w x 1", ""), true, ""),
        (READ_ONLY.to_owned(), true, ""),
        (
            format!("{READ_ONLY}r: [r c 0, r s 20]\n"),
            false,
            "UpdateCycle",
        ),
        (
            format!("{READ_ONLY}r: [r c -11, r s 20]\nq: [r c -11, r s 0]\n"),
            true,
            "",
        ),
        (
            "a: [w x 1]\nb: [r x 1, w x 2]\nc: [r x 1, w x 3]\n".to_owned(),
            false,
            "LostUpdate",
        ),
        // What the readers of a list show is known to those that write.
        (
            "a: [a l 1, r x 0]\nb: [a l 2, w x 1]\nc: [r l [2 1]]\n".to_owned(),
            false,
            "PSICycle",
        ),
        (
            "a: [a l 1, r x 0]\nb: [a l 2, w x 1]\nc: [r l [1 2]]\n".to_owned(),
            true,
            "",
        ),
    ] {
        let history = common::history(&text);
        let codes = [LEVEL.code().to_owned()];
        assert_eq!(
            lattice::verdicts(&history, &codes)[LEVEL.code()],
            Some(expected),
            "{text}"
        );
        let all = [
            Level::PlainParallelSnapshotIsolation,
            LEVEL,
            Level::PlainSerializability,
        ];
        for levels in [&[LEVEL][..], &all] {
            let findings =
                ask(&history, levels).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
            assert_eq!(holds(&findings, LEVEL), Ok(expected), "{text}");
            let names: Vec<&str> = findings
                .violations
                .iter()
                .filter(|v| v.levels.contains(LEVEL))
                .map(named)
                .collect();
            let is_named =
                names.contains(&pattern) || pattern == "LongFork" && names.contains(&"UpdateCycle");
            assert!(
                expected && names.is_empty() || is_named || pattern == "PSICycle",
                "{names:?}\n{text}"
            );
        }
    }
}

fn named(violation: &Violation) -> &'static str {
    violation.id.pattern.id()
}

/// Transactions that read some version of each key they ask for, mostly recent ones, and then may write; each with a session of
/// its own. With `lists` a reader sees the versions in the order in which they were written.
fn history_of(seed: u64, lists: bool) -> String {
    let mut rng = Rng::with_seed(seed);
    let (n, n_keys) = (rng.usize(4..7), rng.usize(2..4));
    // Of a hundred reads, so many return the newest version: of those that write, and of others.
    let fresh = [rng.u8(70..=100), rng.u8(30..=100)];
    // Often the readers come last and read everything: then they may disagree with each other only.
    let readers_last = rng.bool();
    let mut versions: Vec<Vec<usize>> = vec![Vec::new(); n_keys];
    let mut text = String::new();
    for t in 1..=n {
        let (mut operations, mut written) = (Vec::new(), Vec::new());
        let writes = if readers_last {
            t <= n / 2
        } else {
            rng.u8(..10) < 5
        };
        for (key, versions) in versions.iter_mut().enumerate() {
            let newest = versions.len();
            let share = if readers_last { [3, 10] } else { [7, 7] };
            if rng.u8(..10) < share[usize::from(!writes)] {
                let is_fresh = rng.u8(..100) < fresh[usize::from(!writes)];
                let seen = if is_fresh {
                    newest
                } else {
                    rng.usize(..=newest)
                };
                let list = || {
                    versions[..seen]
                        .iter()
                        .map(usize::to_string)
                        .collect::<Vec<_>>()
                        .join(" ")
                };
                operations.push(if lists {
                    format!("r k{key} [{}]", list())
                } else {
                    format!(
                        "r k{key} {}",
                        seen.checked_sub(1).map_or(0, |last| versions[last])
                    )
                });
            }
            if writes && rng.u8(..10) < 5 {
                written.push(format!("{} k{key} {t}", if lists { "a" } else { "w" }));
                let place = if !lists || rng.u8(..10) < 8 {
                    newest
                } else {
                    rng.usize(..=newest)
                };
                versions.insert(place, t);
            }
        }
        operations.extend(written);
        if !operations.is_empty() {
            writeln!(text, "s{t}: [{}]", operations.join(", ")).expect("a string takes it");
        }
    }
    text
}

/// Whether a transaction writes.
fn is_update(history: &History, t: TransactionId) -> bool {
    history
        .operations_of(t)
        .any(|o| history.operation(o).kind == OperationKind::Write)
}

/// What a violation says of a history that it was reduced to.
fn is_told(history: &History, violation: &Violation) -> Result<(), String> {
    let example = counterexample::minimize(history, violation, &Control::new());
    if holds_by_brute_force(&example.history) {
        return Err("the counterexample satisfies the level".to_owned());
    }
    let explanation = counterexample::explain(&example);
    if explanation.steps.is_empty() {
        return Err("the counterexample is not explained".to_owned());
    }
    if let Proof::Cycle(cycle) = &example.violation.proof {
        let edges = cycle.iter().map(|&e| &example.violation.edges[e]);
        let missed = edges.filter(|edge| edge.relation == Relation::AntiDependency);
        let by_readers = missed
            .filter(|edge| !is_update(&example.history, edge.from))
            .count();
        if by_readers > 1 {
            return Err(format!(
                "{by_readers} transactions that only read are on the cycle"
            ));
        }
    }
    Ok(())
}

fn holds_by_brute_force(history: &History) -> bool {
    lattice::verdicts(history, &[LEVEL.code().to_owned()])[LEVEL.code()] == Some(true)
}

/// Between parallel snapshot isolation and serializability the engine has to search; there both verdicts must occur.
#[test]
fn random_histories_of_readers_and_updates_agree_with_brute_force() {
    let levels = [
        Level::PlainParallelSnapshotIsolation,
        LEVEL,
        Level::PlainSerializability,
    ];
    let codes = levels.map(|level| level.code().to_owned());
    let counted: BTreeMap<[bool; 3], AtomicU64> = [
        [false; 3],
        [true, false, false],
        [true, true, false],
        [true; 3],
    ]
    .into_iter()
    .map(|verdicts| (verdicts, AtomicU64::new(0)))
    .collect();
    for_seeds(4_000, |seed| {
        let text = history_of(seed, seed % 3 == 0);
        let history = common::history(&text);
        if !isoscope::relations::set_up_transactions(&history).is_empty() {
            return Ok(());
        }
        let told = |problem: String| format!("{text}{problem}");
        let brute = lattice::verdicts(&history, &codes);
        let expected = levels.map(|level| brute[level.code()] == Some(true));
        let alone = ask(&history, &[LEVEL]).map_err(told)?;
        let together = ask(&history, &levels).map_err(told)?;
        let found = [
            holds(&alone, LEVEL).map_err(told)?,
            holds(&together, LEVEL).map_err(told)?,
        ];
        if found != [expected[1]; 2] {
            return Err(told(format!("found {found:?}")));
        }
        for violation in alone
            .violations
            .iter()
            .filter(|violation| violation.levels.contains(LEVEL))
        {
            is_told(&history, violation)
                .map_err(|problem| told(format!("{}: {problem}", violation.id)))?;
        }
        counted[&expected].fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    for (verdicts, n) in &counted {
        println!("P-PSI, P-PL3U, P-SER {verdicts:?}: {n:?}");
        assert!(n.load(Ordering::Relaxed) > 0 || std::env::var("ISOSCOPE_HISTORIES").is_ok());
    }
}

/// Lists, repeated values and unknown outcomes: what is decided is right, has evidence, and agrees with the levels around it.
#[test]
fn histories_of_all_kinds_agree_with_brute_force() {
    let codes = [LEVEL.code().to_owned()];
    let counts: [AtomicU64; 3] = Default::default();
    for_seeds(3_000, |seed| {
        let text = mixed::text(&Mix::any(&mut Rng::with_seed(seed)), seed);
        let Ok(history) = isoscope::formats::text::parse(&text) else {
            return Ok(());
        };
        let told = |problem: String| format!("{text}{problem}");
        let weaker = Level::PlainParallelSnapshotIsolation;
        let asked = if seed % 2 == 0 {
            vec![LEVEL]
        } else {
            vec![weaker, LEVEL, Level::PlainSerializability]
        };
        let findings = ask(&history, &asked).map_err(told)?;
        // Without sessions more transactions may have written what was read.
        let alone =
            history.with_a_session_each(&isoscope::relations::set_up_transactions(&history));
        let resolution = isoscope::relations::resolve(&alone, &Control::new()).expect("no limit");
        let has_choices = resolution.has_multiple_sources()
            || isoscope::checkers::has_repeated_elements(&history);
        let found = match &findings.level(LEVEL).expect("it was asked for").verdict {
            Verdict::Undecided(_) if has_choices => None,
            _ => Some(holds(&findings, LEVEL).map_err(told)?),
        };
        counts[found.map_or(2, usize::from)].fetch_add(1, Ordering::Relaxed);
        let is_small = !has_choices
            && isoscope::relations::set_up_transactions(&history).is_empty()
            && history.transactions().len() <= 6
            && !history
                .values()
                .contains(&isoscope::history::Value::UNRECORDED);
        let expected = if is_small {
            lattice::verdicts(&history, &codes)[LEVEL.code()]
        } else {
            None
        };
        if expected.is_some() && found != expected {
            Err(told(format!("found {found:?}, expected {expected:?}")))
        } else {
            Ok(())
        }
    });
    println!("violated, satisfied, open: {counts:?}");
}

/// A store of two halves: updates of a half run one after the other, and readers see any beginning of each half, or with
/// `crossing` one that an update of both halves contradicts.
fn halves(n: usize, crossing: bool) -> String {
    const KEYS: usize = 10;
    let mut rng = Rng::with_seed(7);
    let mut newest = [[0; KEYS]; 2];
    let mut states = [vec![newest[0]], vec![newest[1]]];
    let mut text = String::new();
    for t in 1..=n {
        let half = rng.usize(..2);
        if rng.bool() {
            let [read, written] = [rng.usize(..KEYS), rng.usize(..KEYS)];
            let old = newest[half][read];
            writeln!(
                text,
                "s{t}: [r h{half}k{read} {old}, w h{half}k{written} {t}]"
            )
            .expect("a string takes it");
            newest[half][written] = t;
            states[half].push(newest[half]);
            continue;
        }
        let mut reads = Vec::new();
        for (half, states) in states.iter().enumerate() {
            let state = states[states.len() - 1 - rng.usize(..states.len().min(20))];
            reads.extend(
                (0..3)
                    .map(|_| rng.usize(..KEYS))
                    .map(|key| format!("r h{half}k{key} {}", state[key])),
            );
        }
        writeln!(text, "s{t}: [{}]", reads.join(", ")).expect("a string takes it");
    }
    if crossing {
        text += "d1: [w e 1, w f 1]\nd2: [r e 0, w g 1]\nd3: [r f 1, r g 0, w m 1]\nd4: [r m 0, r f 1, w g 2]\n";
    }
    text
}

/// Long histories that are not serializable because their readers disagree.
#[test]
fn long_histories_whose_readers_disagree_are_decided_with_evidence() {
    for crossing in [false, true] {
        let history = common::history(&halves(4_000, crossing));
        let levels = [LEVEL, Level::PlainPrefixConsistency];
        let findings = ask(&history, &levels).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(holds(&findings, Level::PlainPrefixConsistency), Ok(false));
        assert_eq!(holds(&findings, LEVEL), Ok(!crossing));
    }
}
