//! The lattice of levels: what implies what, and the levels decided of it against brute force, with evidence that the
//! verifier accepts.

use crate::common;

use common::examine;
use common::instances::all_listed_at;
use common::lattice::{self, Verdicts};
use common::mixed::{self, Mix};
use common::random::{Shape, for_seeds, is_chosen, is_first_run, sketch};
use isoscope::audit;
use isoscope::checkers::lattice::levels;
use isoscope::checkers::{Cause, Findings, Level, Options, Pattern, Verdict};
use isoscope::control::Control;
use isoscope::generate::{Generation, Length, Model, Workload};
use isoscope::history::History;
use isoscope::report::{Settings, StrongestEntry};
use isoscope::verify;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The rows of the table of histories.
struct Row {
    name: String,
    text: String,
    verdicts: Verdicts,
}

struct Table {
    levels: Vec<String>,
    implications: Vec<(String, String)>,
    rows: Vec<Row>,
}

/// The table of histories without scans.
fn table() -> Table {
    let mut table = table_of("lattice-histories.json");
    for (code, same) in lattice::SAME_WITHOUT_SCANS {
        table.levels.push(code.to_owned());
        for row in &mut table.rows {
            row.verdicts.insert(code.to_owned(), row.verdicts[same]);
        }
    }
    table.implications = table_of("tables-histories.json").implications;
    table
}

fn table_of(name: &str) -> Table {
    let path = common::repository("tests/data").join(name);
    let text = std::fs::read_to_string(path).expect("the table is part of the repository");
    let table: Json = serde_json::from_str(&text).expect("the table is JSON");
    let string = |json: &Json| json.as_str().expect("a string").to_owned();
    let list = |json: &Json| json.as_array().expect("a list").clone();
    let row = |row: &Json| Row {
        name: string(&row["name"]),
        text: string(&row["text"]),
        verdicts: row["verdicts"]
            .as_object()
            .expect("verdicts")
            .iter()
            .map(|(l, v)| (l.clone(), v.as_bool()))
            .collect(),
    };
    Table {
        levels: list(&table["levels"]).iter().map(string).collect(),
        implications: list(&table["implications"])
            .iter()
            .map(|pair| (string(&pair[0]), string(&pair[1])))
            .collect(),
        rows: list(&table["rows"]).iter().map(row).collect(),
    }
}

fn level(code: &str) -> Level {
    Level::with_code(code).unwrap_or_else(|| panic!("no level {code}"))
}

#[test]
fn the_arrows_are_those_of_the_table() {
    let table = table();
    assert_eq!(
        levels().len(),
        table.levels.len() + 1,
        "LIN is about other histories"
    );
    for (stronger, weaker) in &table.implications {
        assert!(
            level(stronger).implies(level(weaker)),
            "{stronger} implies {weaker}"
        );
    }
    for stronger in levels()
        .iter()
        .filter(|level| **level != Level::Linearizability)
    {
        for weaker in stronger.row().implies {
            let implied = closed(&table.implications, stronger.code());
            assert!(
                implied.iter().any(|code| code == weaker.code()),
                "{stronger} does not imply {weaker}"
            );
        }
    }
}

/// All that a level implies.
fn closed(implications: &[(String, String)], from: &str) -> Vec<String> {
    let mut all = vec![from.to_owned()];
    let mut at = 0;
    while at < all.len() {
        let weaker = implications
            .iter()
            .filter(|(stronger, _)| *stronger == all[at])
            .map(|(_, weaker)| weaker.clone());
        let new: Vec<String> = weaker.filter(|weaker| !all.contains(weaker)).collect();
        all.extend(new);
        at += 1;
    }
    all
}

#[test]
fn every_history_agrees_with_every_implication_and_some_history_with_every_missing_one() {
    let mut table = table();
    assert_eq!(table.rows.len(), 90);
    table.rows.extend(table_of("tables-histories.json").rows);
    let mut missing = 0;
    for stronger in &table.levels {
        for weaker in &table.levels {
            let refutes = |row: &&Row| {
                row.verdicts[stronger] == Some(true) && row.verdicts[weaker] == Some(false)
            };
            let refuted = table.rows.iter().find(refutes);
            if level(stronger).implies(level(weaker)) {
                assert!(
                    refuted.is_none(),
                    "{stronger} and {weaker}: {:?}",
                    refuted.map(|row| &row.name)
                )
            } else {
                assert!(
                    refuted.is_some(),
                    "no history has {stronger} without {weaker}"
                );
                missing += 1;
            }
        }
    }
    assert_eq!(missing, 2227);
}

#[test]
fn brute_force_agrees_with_the_table() {
    let table = table();
    for row in &table.rows {
        let found = lattice::verdicts(&common::history(&row.text), &table.levels);
        for (code, expected) in &row.verdicts {
            assert_eq!(
                found[code], *expected,
                "{} at {code}\n{}",
                row.name, row.text
            );
        }
    }
}

/// The levels of the lattice that are decided and not asked for by default, with those asked for with them.
pub(crate) fn asked() -> Vec<Level> {
    Level::EVERY
        .into_iter()
        .filter(|level| *level != Level::Linearizability)
        .collect()
}

/// The findings, after the verifier has accepted all evidence, from the checks and from the report.
pub(crate) fn ask(history: &History, levels: &[Level]) -> Result<Findings, String> {
    ask_with(
        history,
        &Options {
            levels: levels.to_vec(),
            ..Options::default()
        },
    )
}

fn ask_with(history: &History, options: &Options) -> Result<Findings, String> {
    let levels = &options.levels;
    let findings = audit::check(history, options, &Control::new(), &|_| {});
    if let Some(level) = levels
        .iter()
        .find(|level| findings.level(**level).is_none())
    {
        return Err(format!("nothing is said of {level}"));
    }
    for result in &findings.levels {
        if let Verdict::Undecided(cause) = &result.verdict
            && !matches!(
                cause,
                isoscope::checkers::Cause::NoTimestamps | isoscope::checkers::Cause::Unsupported(_)
            )
        {
            return Err(format!("{} undecided: {cause}", result.level));
        }
    }
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

/// Compares findings with what is expected at the levels that were decided.
pub(crate) fn compare(findings: &Findings, expected: &Verdicts) -> Result<(), String> {
    for result in &findings.levels {
        let found = match result.verdict {
            Verdict::Satisfied(_) => Some(true),
            Verdict::Violated => Some(false),
            Verdict::Undecided(_) => None,
        };
        if found != expected[result.level.code()] {
            return Err(format!(
                "{}: found {found:?}, expected {:?}",
                result.level,
                expected[result.level.code()]
            ));
        }
    }
    Ok(())
}

#[test]
fn the_decided_levels_agree_with_the_table() {
    let mut wrong = String::new();
    for row in table().rows {
        let history = common::history(&row.text);
        // SSER without times, or with times against session order, is undecided even where SER is violated by them.
        let answer = ask(&history, &asked()).and_then(|findings| compare(&findings, &row.verdicts));
        if let Err(problem) = answer {
            wrong += &format!("{}\n{}{problem}\n", row.name, row.text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What is asked with a level makes no difference to it.
#[test]
fn each_decided_level_alone_says_the_same() {
    let mut wrong = String::new();
    let mut number = 0;
    for row in table().rows {
        let history = common::history(&row.text);
        for level in Level::EVERY.into_iter().filter(|level| !level.row().usual) {
            number += 1;
            if !is_chosen(number) {
                continue;
            }
            if let Err(problem) =
                ask(&history, &[level]).and_then(|findings| compare(&findings, &row.verdicts))
            {
                wrong += &format!("{} at {level}\n{}{problem}\n", row.name, row.text);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn random_histories_agree_with_brute_force() {
    let codes: Vec<String> = asked()
        .iter()
        .map(|level| level.code().to_owned())
        .collect();
    let counted: BTreeMap<&str, [AtomicU64; 2]> = codes
        .iter()
        .map(|code| (code.as_str(), Default::default()))
        .collect();
    let cycles = AtomicU64::new(0);
    for_seeds(3_000, |seed| {
        let shape = Shape {
            transactions: 6,
            operations: 4,
            keys: 3,
            sessions: 4,
            repeated_values: false,
            clean: seed % 4 > 0,
        };
        let sketch = sketch(shape, seed);
        let history = sketch.history();
        if history.transactions().len() > 6
            || !isoscope::relations::set_up_transactions(&history).is_empty()
        {
            return Ok(());
        }
        let told = |problem: String| format!("{sketch}{problem}");
        let findings = ask(&history, &asked()).map_err(told)?;
        let expected = lattice::verdicts(&history, &codes);
        compare(&findings, &expected).map_err(told)?;
        cycles.fetch_add(
            findings
                .patterns
                .get(&Pattern::PSICycle)
                .copied()
                .unwrap_or(0),
            Ordering::Relaxed,
        );
        for (code, counts) in &counted {
            if let Some(holds) = expected[*code] {
                counts[usize::from(holds)].fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    });
    for (code, [violated, satisfied]) in &counted {
        println!("{code}: {satisfied:?} satisfied, {violated:?} violated");
    }
    println!("{cycles:?} cycles of PSI");
}

/// What is decided about other orders where only the usual levels were asked for agrees with brute force, and with them the
/// strongest order of each base; nothing is left open that times do not leave open.
#[test]
fn the_strongest_orders_agree_with_brute_force() {
    let codes: Vec<String> = asked()
        .iter()
        .map(|level| level.code().to_owned())
        .collect();
    let orders: [AtomicU64; 4] = Default::default();
    for_seeds(2_000, |seed| {
        let shape = Shape {
            transactions: 6,
            operations: 4,
            keys: 3,
            sessions: 3,
            repeated_values: false,
            clean: seed % 4 > 0,
        };
        let sketch = sketch(shape, seed);
        let history = sketch.history();
        if history.transactions().len() > 6
            || !isoscope::relations::set_up_transactions(&history).is_empty()
        {
            return Ok(());
        }
        let told = |problem: String| format!("{sketch}{problem}");
        let mut findings = ask(&history, &Level::of(&history)).map_err(told)?;
        let resolution =
            Arc::new(isoscope::relations::resolve(&history, &Control::new()).expect("no limit"));
        let others = audit::on_other_orders(
            &history,
            &resolution,
            &findings.levels,
            60.0,
            &Control::new(),
        );
        let expected = lattice::verdicts(&history, &codes);
        let as_findings = Findings {
            levels: others.clone(),
            ..Findings::default()
        };
        compare(&as_findings, &expected).map_err(told)?;
        findings.others = Some(others);
        let report = isoscope::report::of_findings(&history, &findings, Settings::default());
        if report.strongest.len() != 7 {
            return Err(told(format!("{} bases", report.strongest.len())));
        }
        for StrongestEntry {
            base,
            level,
            undecided,
        } in report.strongest
        {
            let strong = if base == "SER" {
                "SSER".to_owned()
            } else {
                format!("R-{base}")
            };
            let forms = [strong, base.to_string(), format!("P-{base}")];
            let place = forms.iter().position(|form| expected[form] == Some(true));
            // Levels in real time are not asked about without times.
            let is_asked = |form: &&String| history.has_times() || !form.starts_with("R-");
            let open: Vec<&String> = forms[..place.unwrap_or(3)]
                .iter()
                .filter(|form| expected[*form].is_none())
                .collect();
            if place.map(|place| &forms[place]) != level.map(|level| level.to_string()).as_ref() {
                return Err(told(format!("{base}: {level:?} is said to hold")));
            }
            let left: Vec<String> = undecided.iter().map(ToString::to_string).collect();
            if !open.into_iter().filter(is_asked).eq(&left) && history.has_times() {
                return Err(told(format!("{base}: {undecided:?} are left open")));
            }
            orders[place.unwrap_or(3)].fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    });
    println!("real time, sessions, plain, none: {orders:?}");
}

/// The levels of session guarantees, their base, and read uncommitted.
fn of_sessions() -> Vec<Level> {
    let is_one = |level: &Level| level.is_of_sessions() || level.code().ends_with("PL1");
    Level::EVERY
        .into_iter()
        .filter(|level| is_one(level) && !level.counts_real_time())
        .collect()
}

/// Lists, repeated values, unknown outcomes and initial values: what is decided is right and has evidence, each guarantee
/// alone says the same as with others, and only what several transactions may have written leaves one open.
#[test]
fn guarantees_of_sessions_of_histories_of_all_kinds_agree_with_brute_force() {
    let codes: Vec<String> = of_sessions()
        .iter()
        .map(|level| level.code().to_owned())
        .collect();
    let counts: [AtomicU64; 4] = Default::default();
    let count = |place: usize| counts[place].fetch_add(1, Ordering::Relaxed);
    for_seeds(4_000, |seed| {
        let text = mixed::text(&Mix::any(&mut fastrand::Rng::with_seed(seed)), seed);
        let Ok(history) = isoscope::formats::text::parse(&text) else {
            return Ok(());
        };
        let all = of_sessions();
        let asked = if seed % 3 == 0 {
            vec![all[(seed / 3) as usize % all.len()]]
        } else {
            all
        };
        let told = |problem: String| format!("{asked:?}\n{text}{problem}");
        let options = Options {
            levels: asked.clone(),
            ..Options::default()
        };
        let findings = audit::check(&history, &options, &Control::new(), &|_| {});
        let report = isoscope::report::of_findings(
            &history,
            &findings,
            Settings {
                witness: true,
                ..Settings::default()
            },
        );
        examine::believed(&history, &report).map_err(&told)?;
        // Whether a transaction of unknown outcome that may have written what was read committed is a choice that brute force
        // does not make.
        let resolution = isoscope::relations::resolve(&history, &Control::new()).expect("no limit");
        let is_open = resolution.has_multiple_sources()
            && history
                .transactions()
                .any(|t| history.outcome(t) == isoscope::history::Outcome::Unknown);
        let is_plain = !is_open
            && !isoscope::checkers::has_repeated_elements(&history)
            && isoscope::relations::set_up_transactions(&history).is_empty()
            && history.transactions().len() <= 6
            && !history
                .values()
                .contains(&isoscope::history::Value::UNRECORDED);
        let expected = is_plain.then(|| lattice::verdicts(&history, &codes));
        for result in &findings.levels {
            let found = match &result.verdict {
                Verdict::Satisfied(_) => true,
                Verdict::Violated => false,
                Verdict::Undecided(Cause::AmbiguousReads(_) | Cause::RepeatedElements(_)) => {
                    count(3);
                    continue;
                }
                Verdict::Undecided(cause) => {
                    return Err(told(format!("{} undecided: {cause}", result.level)));
                }
            };
            count(usize::from(found));
            let expected = expected
                .as_ref()
                .and_then(|expected| expected[result.level.code()]);
            if expected.is_some_and(|expected| expected != found) {
                return Err(told(format!(
                    "{}: found {found}, expected {expected:?}",
                    result.level
                )));
            }
            if expected.is_some() {
                count(2);
            }
        }
        Ok(())
    });
    println!("violated, satisfied, compared, open: {counts:?}");
}

/// A larger history of a few keys, where versions are missed for long: the replay of an order needs several rounds, and a
/// report of it is verified.
#[test]
fn guarantees_of_sessions_of_longer_histories_have_evidence() {
    let n = if is_first_run() { 12 } else { 60 };
    for_seeds(n, |seed| {
        let shape = Shape {
            transactions: 400,
            operations: 3,
            keys: 4,
            sessions: 12,
            repeated_values: false,
            clean: true,
        };
        let sketch = sketch(shape, seed);
        let history = sketch.history();
        let findings = ask(&history, &of_sessions())?;
        let with_causal = [of_sessions(), vec![Level::TransactionalCausalConsistency]].concat();
        let again = ask(&history, &with_causal)?;
        for result in &findings.levels {
            let other = again.level(result.level).map(|other| other.verdict.word());
            if other != Some(result.verdict.word()) {
                return Err(format!(
                    "{}: {} alone, {other:?} with TCC",
                    result.level,
                    result.verdict.word()
                ));
            }
        }
        Ok(())
    });
}

/// Each guarantee that is broken names its everyday reason.
#[test]
fn broken_guarantees_are_told_in_everyday_words() {
    for (text, level, pattern, expected) in [
        (
            "a: [w x 1] [r x 0]\n",
            Level::ReadYourWrites,
            Pattern::RYWCycle,
            "a2 read x = 0, the initial version, although a1, earlier in its session, had written x = 1, which is newer.",
        ),
        (
            "w: [w x 1] [w x 2]\nr: [r x 2] [r x 1]\n",
            Level::MonotonicReads,
            Pattern::MRCycle,
            "r1 had read x = 2 from w2; later in the same session r2 read the older x = 1.",
        ),
        (
            "w: [w x 1] [w y 1]\nr: [r y 1, r x 0]\n",
            Level::MonotonicWrites,
            Pattern::MWCycle,
            "r1 read y = 1 from w2, before which w1, in the same session, wrote x = 1; but r1 read the older x = 0",
        ),
        (
            "a: [w x 1]\nb: [r x 1] [w y 1]\nc: [r y 1, r x 0]\n",
            Level::WritesFollowReads,
            Pattern::WFRCycle,
            "c1 read y = 1 from b2, before which b1, in the same session, had read from a1; a1 wrote x = 1, but c1 read the older",
        ),
        (
            "w: [w x 1] [w y 1]\nr: [r y 1] [r x 0]\n",
            Level::Pram,
            Pattern::PRAMCycle,
            "r1 had read y = 1 from w2, before which w1, in the same session, wrote x = 1; later r2, in the session of r1, read",
        ),
    ] {
        let history = common::history(text);
        let findings = ask(&history, &[level]).unwrap_or_else(|problem| panic!("{problem}"));
        let of_level =
            |violation: &&isoscope::checkers::Violation| violation.levels.contains(level);
        let violation = findings
            .violations
            .iter()
            .find(of_level)
            .expect("a violation of the level");
        assert_eq!(violation.id.pattern, pattern, "{text}");
        let example = isoscope::counterexample::minimize(&history, violation, &Control::new());
        assert!(
            example.verdicts.contains(&(level, Verdict::Violated)),
            "{:?}",
            example.verdicts
        );
        let explanation = isoscope::counterexample::explain(&example);
        assert!(
            explanation.summary.starts_with(expected),
            "{level}: {}",
            explanation.summary
        );
        println!("{} — {}", explanation.title, explanation.summary);
        explanation
            .reasons
            .iter()
            .for_each(|reason| println!("{}", reason.text));
    }
}

/// Whether the verifier accepts what is counted after the verdicts, and nothing that was shown before is lost.
fn counted_later(history: &History, levels: &[Level]) -> Result<(), String> {
    let control = Control::new();
    let options = Options {
        levels: levels.to_vec(),
        counts: false,
        ..Options::default()
    };
    let first = audit::check(history, &options, &control, &|_| {});
    let options = Options {
        counts: true,
        ..options
    };
    let resolution =
        std::sync::Arc::new(isoscope::relations::resolve(history, &control).expect("no limit"));
    let findings = audit::count(history, resolution, first, &options, &control);
    if !findings.is_counted() {
        return Err("it is not counted".to_owned());
    }
    let report = isoscope::report::of_findings(
        history,
        &findings,
        Settings {
            witness: true,
            ..Settings::default()
        },
    );
    examine::believed(history, &report)
        .map(drop)
        .map_err(|problem| format!("counted later: {problem}"))
}

/// Any few levels say the same as all of them, and where none of them counts sessions, every instance that is counted can be
/// listed.
#[test]
fn any_levels_of_random_histories_agree_with_brute_force() {
    let plain = || {
        asked()
            .into_iter()
            .filter(|level| level.plain_of().is_some())
    };
    for_seeds(3_000, |seed| {
        let shape = Shape {
            transactions: 6,
            operations: 4,
            keys: 3,
            sessions: 4,
            repeated_values: false,
            clean: seed % 4 > 0,
        };
        let sketch = sketch(shape, seed);
        let history = sketch.history();
        if history.transactions().len() > 6
            || !isoscope::relations::set_up_transactions(&history).is_empty()
        {
            return Ok(());
        }
        let chosen = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let is_chosen =
            |(place, _): &(usize, Level)| chosen.rotate_right(20 + *place as u32) & 1 == 1;
        let mut levels: Vec<Level> = match seed % 3 {
            0 => plain()
                .enumerate()
                .filter(is_chosen)
                .map(|(_, level)| level)
                .collect(),
            _ => asked()
                .into_iter()
                .enumerate()
                .filter(is_chosen)
                .map(|(_, level)| level)
                .collect(),
        };
        if seed % 6 == 0 {
            levels.push(Level::CutIsolation);
        }
        let told = |problem: String| format!("{levels:?}\n{sketch}{problem}");
        let findings = ask(&history, &levels).map_err(told)?;
        let codes: Vec<String> = levels.iter().map(|level| level.code().to_owned()).collect();
        compare(&findings, &lattice::verdicts(&history, &codes)).map_err(told)?;
        counted_later(&history, &levels).map_err(told)?;
        if levels.iter().all(|level| level.plain_of().is_some()) {
            all_listed_at(&history, levels.clone(), 1 + (seed % 4) as usize).map_err(told)?;
        }
        Ok(())
    });
}

/// What violates PSI, and without sessions nothing: `q` shows that `v` comes before `u`, on which `t` depends.
const CYCLE: &str = "i: [w p 1]\nv: [r p 1, w p 2, w b 1]\nu: [w b 2, w a 1]\nq: [r b 1] [r b 2]\nt: [r a 1, r p 1]\n";

/// Two sessions that write and two that read, each of these up to date on one of the keys only: whatever the order of the
/// transactions, one of them misses the next version again and again, and long after it was written.
fn long_forks(n: usize, n_other_sessions: usize) -> String {
    let mut text: String = (0..n_other_sessions)
        .map(|s| format!("other{s}: [w z{s} 1]\n"))
        .collect();
    let mut session = |name: &str, transaction: &dyn Fn(usize) -> String| {
        let all: Vec<String> = (1..=n).map(transaction).collect();
        text += &format!("{name}: {}\n", all.join(" "));
    };
    session("x", &|i| format!("[w x {i}]"));
    session("y", &|i| format!("[w y {i}]"));
    session("slow-x", &|i| format!("[r x {i}, r y {n}]"));
    session("slow-y", &|i| format!("[r y {i}, r x {n}]"));
    text
}

/// What a transaction depends on is found in several ways, depending on the number of sessions and of missed versions.
#[test]
fn histories_of_long_sessions_are_decided_with_evidence() {
    let codes = |findings: &Findings| -> Vec<(String, bool)> {
        let is_satisfied = |verdict: &Verdict| matches!(verdict, Verdict::Satisfied(_));
        findings
            .levels
            .iter()
            .map(|result| {
                (
                    result.level.code().to_owned(),
                    is_satisfied(&result.verdict),
                )
            })
            .collect()
    };
    let tcc = Level::TransactionalCausalConsistency;
    for n_other_sessions in [0, 20, 900] {
        let plain = long_forks(1200, n_other_sessions);
        for (text, holds) in [(plain.clone(), true), (plain + CYCLE, false)] {
            let history = common::history(&text);
            let levels = [
                tcc,
                Level::PlainParallelSnapshotIsolation,
                Level::ParallelSnapshotIsolation,
            ];
            let findings = ask(&history, &levels).unwrap_or_else(|problem| panic!("{problem}"));
            let expected = [
                ("TCC".to_owned(), true),
                ("P-PSI".to_owned(), true),
                ("PSI".to_owned(), holds),
            ];
            assert_eq!(codes(&findings), expected);
            // Where each key is written by one session, an order for TCC is one for PSI.
            let findings = ask(&history, &[tcc]).unwrap_or_else(|problem| panic!("{problem}"));
            let mut report = isoscope::report::of_findings(
                &history,
                &findings,
                Settings {
                    witness: true,
                    ..Settings::default()
                },
            );
            report.levels[0].level = Level::ParallelSnapshotIsolation;
            assert_eq!(verify::verify(&history, &report).is_ok(), holds);
        }
    }
}

/// Where each of many transactions has a session of its own, the engines begin with an order that respects sessions, and what
/// violates a level is told by what they found.
#[test]
fn plain_levels_of_long_histories_are_decided_with_evidence() {
    let is_one =
        |level: &Level| matches!(level.code(), "P-TCC" | "P-PC" | "P-SI" | "P-SER" | "P-UA");
    let levels: Vec<Level> = Level::EVERY.into_iter().filter(is_one).collect();
    let options = Options {
        levels,
        counts: false,
        ..Options::default()
    };
    for (model, violated) in [(Model::Causal, ["P-SI", "P-SER"])] {
        let operations = Length { least: 2, most: 6 };
        let workload = Workload {
            sessions: 10,
            transactions: 420,
            operations,
            keys: 200,
            ..Workload::default()
        };
        let generation = Generation {
            lag: 40,
            ..Generation::new(workload, model)
        };
        let history = generation
            .history(&Control::new())
            .expect("the history can be generated");
        let findings =
            ask_with(&history, &options).unwrap_or_else(|problem| panic!("{model:?}: {problem}"));
        for code in violated {
            let level = Level::with_code(code).expect("a level");
            assert_eq!(
                findings.level(level).map(|result| &result.verdict),
                Some(&Verdict::Violated),
                "{model:?} {code}"
            );
        }
    }
}

/// Levels on several orders together, on stores that keep some of them: the verifier accepts all that is listed and counted.
#[test]
fn levels_on_several_orders_together_have_evidence() {
    for_seeds(300, |seed| {
        let model = Model::ALL[seed as usize % Model::ALL.len()];
        let workload = Workload {
            seed,
            sessions: 4,
            transactions: 5 + seed % 4,
            operations: Length { least: 1, most: 3 },
            keys: 3 + seed % 6,
            ..Workload::default()
        };
        let generation = Generation {
            lag: 6,
            times: seed % 4 > 0,
            ..Generation::new(workload, model)
        };
        let history = generation
            .history(&Control::new())
            .map_err(|error| error.to_string())?;
        let chosen = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let is_chosen =
            |(place, _): &(usize, Level)| chosen.rotate_right(20 + *place as u32) & 3 == 1;
        let levels: Vec<Level> = match seed % 5 {
            0 => asked(),
            _ => asked()
                .into_iter()
                .enumerate()
                .filter(is_chosen)
                .map(|(_, level)| level)
                .collect(),
        };
        ask(&history, &levels)
            .map(drop)
            .map_err(|problem| format!("{model:?} at {levels:?}: {problem}"))
    });
}

/// Lists show who overwrote whom, whatever else is wrong with them; sessions and times count where the level says so.
#[test]
fn transactions_that_overwrite_each_other_crosswise_violate_read_uncommitted() {
    for (text, holds) in [
        (
            "a: [a x 1, a y 1]\nb: [a x 2, a y 2]\nc: [r x [1 2]]\nd: [r y [2 1]]\n",
            [false, false],
        ),
        (
            "a: [a x 1]\nb: [a x 2] [a y 1]\nc: [a y 2] [a x 3]\nd: [r x [3 2]] [r y [1 2]]\n",
            [true, false],
        ),
        (
            "a: [a x 1, a x 3]\nb: [a x 2]\nc: [r x [1 2 3]]\n",
            [false, false],
        ),
        (
            "a: [a x 1]\nb: [a x 2]\nc: [r x [1 2 9]]\nd: [w y 1] [r y 7]\n",
            [true, true],
        ),
        (
            "a: [w x 1, w y 2]\nb: [w y 1, w x 2]\nc: [r x 1, r y 1]\n",
            [true, true],
        ),
    ] {
        let history = common::history(text);
        let levels: Vec<Level> = ["P-PL1", "PL1"]
            .into_iter()
            .filter_map(Level::with_code)
            .collect();
        let findings = ask(&history, &levels).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
        let is = |level: &Level| findings.level(*level).map(|result| result.verdict.word());
        let expected = holds.map(|holds| Some(if holds { "satisfied" } else { "violated" }));
        assert_eq!(
            levels.iter().map(is).collect::<Vec<_>>(),
            expected,
            "{text}"
        );
        assert_eq!(findings.violations.is_empty(), holds[1]);
        for violation in &findings.violations {
            let example = isoscope::counterexample::minimize(&history, violation, &Control::new());
            let explanation = isoscope::counterexample::explain(&example);
            println!(
                "{} — {}\n{}",
                explanation.title,
                explanation.summary,
                explanation.details().join("\n")
            );
        }
    }
}

#[test]
fn a_counterexample_to_psi_names_it() {
    let level = Level::ParallelSnapshotIsolation;
    let history = common::history(CYCLE);
    let findings = ask(&history, &[level]).unwrap_or_else(|problem| panic!("{problem}"));
    let example =
        isoscope::counterexample::minimize(&history, &findings.violations[0], &Control::new());
    assert!(
        example.verdicts.contains(&(level, Verdict::Violated)),
        "{:?}",
        example.verdicts
    );
}

/// A session that misses its own write breaks a level only because sessions count; two readers that disagree break it anyway.
#[test]
fn a_counterexample_says_where_only_session_order_makes_it() {
    let own_write = "a: [w x 1] [r x 0]\n";
    let long_fork = "a: [w x 1] [w z 1]\nb: [w y 1]\nc: [r x 1, r y 0]\nd: [r x 0, r y 1]\n";
    for (text, level, expected) in [
        (
            own_write,
            Level::ReadAtomic,
            Some([
                "satisfy plain serializability (P-SER, Elle's :serializable)",
                "a1 before a2 in session a",
            ]),
        ),
        (long_fork, Level::PrefixConsistency, None),
    ] {
        let history = common::history(text);
        let findings = ask(&history, &[level]).unwrap_or_else(|problem| panic!("{problem}"));
        let example =
            isoscope::counterexample::minimize(&history, &findings.violations[0], &Control::new());
        let explanation = isoscope::counterexample::explain(&example);
        assert_eq!(
            explanation.difference.is_some(),
            expected.is_some(),
            "{:?}",
            explanation.difference
        );
        for part in expected.into_iter().flatten() {
            let told = explanation.details().join("\n");
            assert!(told.contains(part), "{told}");
        }
    }
}

/// What violates only a level that was decided for the sake of its plain form is neither listed nor counted, and two reads of one
/// key are listed once, whichever of several transactions wrote their values.
#[test]
fn what_was_not_asked_for_is_not_counted_and_two_reads_are_listed_once() {
    let (plain_si, plain_ra) = (Level::PlainSnapshotIsolation, Level::PlainReadAtomic);
    let cycle = "a: [r y 0, w z 6]\nb: [w z 8, w y 9] [r z 6]\n";
    let twice = "s0: [w y 1]\ns1: [r y 1, r y 0] [w y 1]\n";
    for (text, levels, n) in [
        (cycle, [plain_si, Level::PrefixConsistency], 0),
        (twice, [plain_ra, Level::ReadAtomic], 1),
    ] {
        let findings = ask(&common::history(text), &levels)
            .unwrap_or_else(|problem| panic!("{problem}\n{text}"));
        assert_eq!(
            findings.patterns.values().sum::<u64>(),
            n,
            "{:?}",
            findings.patterns
        );
        assert_eq!(findings.violations.len() as u64, n);
    }
}

/// Two readers show the order of `y`, and one of them is named.
#[test]
fn equal_lists_show_what_is_violated_without_sessions() {
    let text = "s1: [a y 1, r x [1]] [a y 2, a x 1]\ns2: [r y [1 2]]\ns3: [r y [1 2]]\n";
    let level = Level::PlainParallelSnapshotIsolation;
    let findings =
        ask(&common::history(text), &[level]).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(
        findings.level(level).map(|result| &result.verdict),
        Some(&Verdict::Violated)
    );
}

/// Of three lists that contradict each other, two are named as pairs of which the third is part; without sessions they may be
/// other pairs. None of them is listed a second time.
#[test]
fn lists_that_contradict_each_other_are_listed_once() {
    let text = "s2: [a x 1, r x [3 2 1]] [a x 2, r x [3 1 2]] [r x []]\ns0: [r x [1 2], a x 3]\ns3: [r x [3]]?\n";
    let plain = Level::PlainParallelSnapshotIsolation;
    let asked = [
        plain,
        Level::ParallelSnapshotIsolation,
        Level::SnapshotIsolation,
    ];
    let findings =
        ask(&common::history(text), &asked).unwrap_or_else(|problem| panic!("{problem}"));
    let of_lists: Vec<_> = findings
        .violations
        .iter()
        .filter(|violation| violation.id.pattern == Pattern::IncompatibleOrder)
        .collect();
    assert_eq!(of_lists.len(), 2);
    assert!(
        of_lists
            .iter()
            .any(|violation| violation.levels.contains(plain)),
        "{of_lists:?}"
    );
}

/// What violates a level that counts no sessions may be all that shows an instance that is counted with sessions.
#[test]
fn a_cycle_in_real_time_per_key_is_evidence_for_its_count() {
    let history = common::history("a: [w x 1]@0..5 [w x 2]@10..15 [r x 1]@20..25\n");
    let asked = [Level::StrongSnapshotIsolation, Level::PerKeySerializability];
    let findings = ask(&history, &asked).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(findings.patterns.get(&Pattern::RealTimeCycle), Some(&1));
}

/// Without sessions one of two instances of a pattern has the argument that the other has with them.
#[test]
fn two_instances_that_are_alike_keep_their_own_arguments() {
    let text = "a: [w z 1, w x 2, r z 1]\nb: [w y 1, w x 1] [r z 0] [r z 1, r x 1] [r x 1] [r y 1, r x 2, r z 1]\n";
    ask(&common::history(text), &asked()).unwrap_or_else(|problem| panic!("{problem}"));
}

/// A cycle of PSI is not listed where only levels were asked for that have none, and is one of SI where SI was.
#[test]
fn no_cycle_of_psi_is_listed_where_sessions_do_not_count() {
    let history = common::history(CYCLE);
    let plain = Level::PlainParallelSnapshotIsolation;
    for (levels, n_listed) in [(vec![plain], 0), (vec![plain, Level::SnapshotIsolation], 1)] {
        let findings = ask(&history, &levels).unwrap_or_else(|problem| panic!("{problem}"));
        assert!(
            !findings.patterns.contains_key(&Pattern::PSICycle),
            "{:?}",
            findings.patterns
        );
        assert_eq!(findings.violations.len(), n_listed);
    }
}

/// A PostgreSQL standby shows transactions in another order than the primary: long forks, which PSI allows.
#[test]
#[cfg_attr(not(recordings), ignore = "no recordings")]
fn a_recorded_standby_satisfies_psi() {
    let path = common::repository("../shared/recorded/pg15-standby-long-fork.txt.zst");
    let history = isoscope::formats::open(&path, None, &Control::new()).expect("it can be read");
    let levels = [
        Level::PlainParallelSnapshotIsolation,
        Level::ParallelSnapshotIsolation,
        Level::PrefixConsistency,
    ];
    let findings = ask(&history, &levels).unwrap_or_else(|problem| panic!("{problem}"));
    let violated: Vec<&str> = findings
        .levels
        .iter()
        .filter_map(|result| (result.verdict == Verdict::Violated).then_some(result.level.code()))
        .collect();
    assert_eq!((findings.levels.len(), violated), (3, vec!["PC"]));
}

/// The page for those who come from Elle says which level each of its keywords is; Jepsen's map of consistency models has
/// no others.
#[test]
fn the_page_on_elle_has_every_keyword() {
    let page = std::fs::read_to_string(common::repository("docs/coming-from-elle.md"))
        .expect("the page is part of the repository");
    // What follows the code is a remark.
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| `:"))
        .map(|line| line.split([',', ';']).next().expect("a row"))
        .map(|line| line.trim_end_matches([' ', '|']).to_owned());
    let levels = Level::EVERY.iter().map(|level| level.row());
    let expected = levels.filter(|row| !row.elle.is_empty()).map(|row| {
        let keywords: Vec<String> = row.elle.iter().map(|name| format!("`:{name}`")).collect();
        format!("| {} | {}", keywords.join(" "), row.code)
    });
    assert_eq!(
        rows.collect::<BTreeSet<String>>(),
        expected.collect::<BTreeSet<String>>()
    );
}

/// The histories by which the page on levels shows how some of them differ.
#[test]
fn the_examples_of_the_documentation_are_right() {
    let page = std::fs::read_to_string(common::repository("docs/levels.md"))
        .expect("the page is part of the repository");
    let rows = page.lines().filter(|line| line.starts_with("| `a: ["));
    let mut n = 0;
    for row in rows {
        let [_, text, holds, fails, _] = row.split('|').collect::<Vec<&str>>()[..] else {
            panic!("{row}")
        };
        let text: String = text
            .split('`')
            .skip(1)
            .step_by(2)
            .map(|line| format!("{line}\n"))
            .collect();
        let of = |cell: &str| -> Vec<Level> {
            cell.split(',')
                .map(|code| Level::with_code(code.trim()).unwrap_or_else(|| panic!("{code}")))
                .collect()
        };
        let (holds, fails) = (of(holds), of(fails));
        let findings = ask(
            &common::history(&text),
            &[holds.clone(), fails.clone()].concat(),
        );
        let findings = findings.unwrap_or_else(|problem| panic!("{row}: {problem}"));
        for result in &findings.levels {
            let expected = if holds.contains(&result.level) {
                "satisfied"
            } else {
                "violated"
            };
            assert_eq!(result.verdict.word(), expected, "{row}: {}", result.level);
        }
        n += 1;
    }
    assert_eq!(n, 7);
}
