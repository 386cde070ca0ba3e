//! Histories in which transactions are declared to set up the initial state, whatever else they do: the engines against
//! brute force, with evidence that the verifier accepts. Such a transaction is part of the initial state: what it leaves
//! behind was there before everything else, and what it read says nothing of the others.

use crate::common;

use common::examine;
use common::oracle;
use common::random::{Shape, for_histories};
use common::sketch::{Operation, Sketch, key_name, read, session_name, write};
use isoscope::checkers::{Findings, Level, Verdict};
use isoscope::control::Control;
use isoscope::formats;
use isoscope::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};
use isoscope::report::{Report, Settings};
use isoscope::verify;

/// Histories per shape in the ordinary run.
const HISTORIES: u64 = 6_000;

/// Most choices of writers that brute force is asked to go through.
const MOST_COMBINATIONS: usize = 300;

const SHAPE: Shape = Shape {
    transactions: 5,
    operations: 4,
    keys: 2,
    sessions: 4,
    repeated_values: false,
    clean: false,
};

/// A transaction of a session, and whether it sets up the initial state.
type Placed = (common::sketch::Transaction, bool);

/// What a random history is made of.
struct Recipe<'a> {
    rng: &'a mut fastrand::Rng,
    /// By key.
    is_list: Vec<bool>,
    /// As many different values are written, or each once.
    n_values: Option<u64>,
    with_times: bool,
}

impl Recipe<'_> {
    fn value(&self, number: u64) -> Value {
        Value(self.n_values.map_or(number, |n| 1 + number % n))
    }

    /// Transactions that set up the initial state and read, too, mostly at the beginning of sessions.
    fn with_set_up(&mut self, sketch: &Sketch) -> Vec<Vec<Placed>> {
        let mut sessions: Vec<Vec<Placed>> = sketch
            .sessions
            .iter()
            .map(|session| session.iter().map(|t| (t.clone(), false)).collect())
            .collect();
        let mut fresh = 100;
        for _ in 0..self.rng.usize(1..=2) {
            let mut operations: Vec<Operation> = Vec::new();
            for _ in 0..self.rng.usize(1..=4) {
                let key = self.rng.usize(0..self.is_list.len());
                let number = if self.rng.u8(0..4) == 0 {
                    self.rng.u64(1..6)
                } else {
                    fresh
                };
                fresh += 1;
                operations.push(if self.rng.bool() {
                    write(key, number)
                } else {
                    read(key, self.rng.u64(0..6))
                });
            }
            let session = self.rng.usize(0..=sessions.len());
            let outcome = match self.rng.u8(0..16) {
                0 => Outcome::Aborted,
                1 => Outcome::Unknown,
                _ => Outcome::Committed,
            };
            let set_up = (
                common::sketch::Transaction {
                    outcome,
                    operations,
                },
                true,
            );
            match sessions.get_mut(session) {
                Some(transactions) => {
                    let at = if self.rng.u8(0..4) == 0 {
                        self.rng.usize(0..=transactions.len())
                    } else {
                        0
                    };
                    transactions.insert(at, set_up);
                }
                None => sessions.push(vec![set_up]),
            }
        }
        sessions
    }

    /// The history: a read of a list returns what was set up, then all smaller numbers that may have been appended and the
    /// number of the sketch.
    fn history(&mut self, sketch: &Sketch) -> History {
        let sessions = self.with_set_up(sketch);
        let trouble = [0, 0, 1, 2][self.rng.usize(0..4)];
        let in_doubt = self.rng.bool();
        let n_keys = self.is_list.len();
        let (mut initial, mut appended) = (vec![Vec::new(); n_keys], vec![Vec::new(); n_keys]);
        for (transaction, sets_up) in sessions.iter().flatten() {
            // Who is declared to have set up something did so.
            let is_sure = transaction.outcome == Outcome::Committed || *sets_up;
            let counts = transaction.outcome != Outcome::Aborted && (is_sure || in_doubt);
            let to = if *sets_up {
                &mut initial
            } else {
                &mut appended
            };
            let writes = transaction
                .operations
                .iter()
                .filter(|o| counts && o.kind == OperationKind::Write);
            writes.for_each(|o| to[o.key].push(o.value.0));
        }
        appended
            .iter_mut()
            .for_each(|numbers: &mut Vec<u64>| numbers.sort_unstable());
        let mut builder = Builder::new(Origin::default());
        builder.initial_value(Value(0));
        for (s, transactions) in sessions.iter().enumerate() {
            let session = builder.session_name(&session_name(s));
            let mut clock = 0;
            for (transaction, sets_up) in transactions {
                let draft = builder.transaction(session, transaction.outcome);
                if *sets_up {
                    builder.set_up(draft);
                }
                if self.with_times {
                    let numbers = transaction
                        .operations
                        .iter()
                        .map(|o| o.value.0)
                        .filter(|number| *number < 100);
                    let start =
                        clock.max(3 * numbers.max().unwrap_or(0) as i64 - self.rng.i64(0..4));
                    let end = start + self.rng.i64(0..8);
                    clock = end + self.rng.i64(0..2);
                    builder.set_interval(draft, Interval { start, end });
                }
                for (at, operation) in transaction.operations.iter().enumerate() {
                    let key = builder.key_name(&key_name(operation.key));
                    let is_list = self.is_list[operation.key];
                    if is_list {
                        builder.list_key(key);
                    }
                    let number = operation.value.0;
                    if operation.kind == OperationKind::Write {
                        builder.operation(draft, OperationKind::Write, key, self.value(number), 0);
                    } else if is_list {
                        let own = transaction.operations[..at].iter();
                        let own = own
                            .filter(|o| o.kind == OperationKind::Write && o.key == operation.key);
                        let own: Vec<u64> = own.map(|o| o.value.0).collect();
                        let mut list = self.list(
                            number,
                            &initial[operation.key],
                            &appended[operation.key],
                            &own,
                        );
                        if trouble > 0 && self.rng.u8(0..4) == 0 {
                            self.spoil(&mut list);
                        }
                        let list: Vec<Value> =
                            list.into_iter().map(|number| self.value(number)).collect();
                        builder.list_read(draft, key, &list, 0);
                    } else {
                        let is_initial = number == 0 && self.rng.u8(0..8) > 0;
                        let set_up = initial[operation.key].last().filter(|_| is_initial);
                        let value = match (set_up, number) {
                            (Some(&number), _) => self.value(number),
                            (None, 1..=Value::MAX_NUMBER) => self.value(number),
                            (None, other) => Value(other),
                        };
                        builder.operation(draft, OperationKind::Read, key, value, 0);
                    }
                }
            }
        }
        builder.finish().expect("small")
    }

    fn list(&mut self, last: u64, initial: &[u64], appended: &[u64], own: &[u64]) -> Vec<u64> {
        let mut list = initial.to_vec();
        if (1..=Value::MAX_NUMBER).contains(&last) {
            list.extend(
                appended
                    .iter()
                    .filter(|number| **number <= last && !own.contains(number)),
            );
            if !appended.contains(&last) && !own.contains(&last) {
                list.push(last);
            }
        }
        list.extend(own);
        list
    }

    /// Makes a list wrong, or another one that may be right.
    fn spoil(&mut self, list: &mut Vec<u64>) {
        match (self.rng.u8(0..6), list.len()) {
            (0, 1..) => drop(list.remove(self.rng.usize(0..list.len()))),
            (1, 2..) => {
                let at = self.rng.usize(0..list.len() - 1);
                list.swap(at, at + 1);
            }
            (2, 1..) => list.push(list[0]),
            (3, 1..) => drop(list.remove(0)),
            (4, _) => list.insert(self.rng.usize(0..=list.len()), self.rng.u64(1..6)),
            _ => drop(list.pop()),
        }
    }
}

fn written(history: &History) -> String {
    let mut bytes = Vec::new();
    formats::write(history, "text", &mut bytes).expect("memory takes everything");
    String::from_utf8_lossy(&bytes).into_owned()
}

fn agree(history: &History) -> Result<Findings, String> {
    let findings = examine::check(history);
    let mut expected = oracle::verdicts(history).map(Some);
    let verdicts = examine::engine_verdicts(&findings);
    // At cut isolation an element counts as that of everybody who appended it.
    if oracle::Observation::of(history).has_repeated_elements() {
        expected[0] = verdicts[0];
    }
    if verdicts != expected {
        let (engine, oracle) = (examine::signs(verdicts), examine::signs(expected));
        let causes = examine::undecided(&findings);
        return Err(format!(
            "engine {engine}\noracle {oracle}\n{causes}{:?}",
            findings.patterns
        ));
    }
    if let Some(result) = findings.level(Level::StrictSerializability) {
        let expected = oracle::strictly_serializable(history);
        let fits = match result.verdict {
            Verdict::Satisfied(_) => expected,
            Verdict::Violated => !expected,
            Verdict::Undecided(_) => false,
        };
        if !fits {
            return Err(format!("engine {:?}\noracle {expected}", result.verdict));
        }
    }
    examine::hierarchy(verdicts)?;
    examine::evidence(history, &findings)?;
    Ok(findings)
}

fn look_at(sketch: &Sketch, lists: bool, n_values: Option<u64>) -> Result<(), String> {
    let mut rng = fastrand::Rng::with_seed(
        sketch.fresh_value() ^ (sketch.transactions().count() as u64) << 8,
    );
    let n_keys = sketch.n_keys().max(1);
    let is_list = (0..n_keys).map(|_| lists && rng.u8(0..4) > 0).collect();
    let with_times = rng.bool();
    let history = Recipe {
        rng: &mut rng,
        is_list,
        n_values,
        with_times,
    }
    .history(sketch);
    if oracle::Observation::of(&history).n_combinations() > MOST_COMBINATIONS {
        return Ok(());
    }
    let about = |problem: String| format!("{problem}\n{}", written(&history));
    let findings = agree(&history).map_err(about)?;
    if rng.u8(0..8) > 0 {
        return Ok(());
    }
    for violation in findings.violations.iter().take(2) {
        let example = isoscope::audit::minimize(&history, violation, &Control::new());
        let small = examine::check(&example.history);
        let id = violation.id;
        if small
            .level(example.level)
            .is_none_or(|result| result.verdict != Verdict::Violated)
        {
            return Err(about(format!(
                "{id}: the counterexample does not violate {}",
                example.level
            )));
        }
        // What was set up is the initial version also where the set-up is left out.
        let plain = example.history.with_plain_initial_reads();
        agree(&plain).map_err(|problem| about(format!("{id}: counterexample: {problem}")))?;
    }
    Ok(())
}

#[test]
fn engine_and_oracle_agree_on_registers() {
    for_histories(SHAPE, HISTORIES, |sketch| look_at(sketch, false, None));
}

#[test]
fn engine_and_oracle_agree_on_registers_with_repeated_values() {
    for_histories(SHAPE, HISTORIES, |sketch| look_at(sketch, false, Some(3)));
}

#[test]
fn engine_and_oracle_agree_on_lists() {
    for_histories(SHAPE, HISTORIES, |sketch| look_at(sketch, true, None));
}

#[test]
fn engine_and_oracle_agree_on_lists_with_repeated_elements() {
    for_histories(SHAPE, HISTORIES, |sketch| {
        look_at(sketch, true, Some(1 + sketch.fresh_value() % 4))
    });
}

/// A transaction that set up x reads what none wrote, what its writer overwrote, and what a transaction of unknown outcome
/// wrote that read what none wrote.
const READING: &str =
    "s: [w x 5, r x 7, r z 1, r y 9]*\na: [r x 5]\nu: [w y 9, r x 1]?\nw: [w z 1, w z 2]\n";

#[test]
fn what_a_set_up_read_says_nothing() {
    let history = common::history(READING);
    let findings = agree(&history).expect("all agree");
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        "+++++++"
    );
    // Of a transaction like others each of these reads is an anomaly, and none may be told of one that set up.
    let other = common::history(&READING.replace("]*", "]"));
    let findings = agree(&other).expect("all agree");
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        "+------"
    );
    let report = isoscope::report::of_findings(&other, &findings, Settings::default());
    assert!(report.violations.len() >= 3, "{:?}", report.violations);
    for violation in &report.violations {
        let forged = Report {
            levels: Vec::new(),
            violations: vec![violation.clone()],
            ..report.clone()
        };
        assert!(verify::verify(&other, &forged).is_ok(), "{}", violation.id);
        assert!(
            verify::verify(&history, &forged).is_err(),
            "{}",
            violation.id
        );
    }
}

#[test]
fn every_list_begins_with_what_was_set_up() {
    let signs = |list: &str| {
        let text = format!("s: [a x 1, a x 2]*\nt: [a x 3]\nr: [r x {list}]\n");
        let findings =
            agree(&common::history(&text)).unwrap_or_else(|problem| panic!("{list}: {problem}"));
        examine::signs(examine::engine_verdicts(&findings))
    };
    for list in ["[1 2]", "[1 2 3]"] {
        assert_eq!(signs(list), "+++++++", "{list}");
    }
    for list in ["[]", "[1]", "[3]", "[1 3]", "[3 1 2]", "[2 1]", "[1 2 3 2]"] {
        assert_eq!(signs(list), "+------", "{list}");
    }
}

#[test]
fn a_list_that_does_not_begin_with_what_was_set_up_shows_who_appended_to_it() {
    // u's element is in the list that c read, so u committed, and its reads are torn: that violates cut isolation. Without
    // the element nothing says that u committed.
    for (list, expected) in [
        ("[1 9]", "-------"),
        ("[2 1 9]", "-------"),
        ("[2 9]", "+------"),
    ] {
        let text =
            format!("s: [a x 9]*\nu: [r x [9 2], r x [9], a x 1]?\nb: [a x 2]\nc: [r x {list}]\n");
        let findings =
            agree(&common::history(&text)).unwrap_or_else(|problem| panic!("{list}: {problem}"));
        assert_eq!(
            examine::signs(examine::engine_verdicts(&findings)),
            expected,
            "{list}"
        );
    }
}

#[test]
fn who_appended_within_a_list_breaks_cut_isolation_where_others_wrote_the_same_values() {
    // b2's element is in the list that c1 read, so b2 committed, and of its reads of y one is of a1, the others are not.
    let text = "a: [a x 1, w y 1] [r y 1, w y 2]\n\
                b: [r y 1]* [r y 1, r y 2, a x 2]?\n\
                c: [r x [2 1], w y 2]\n";
    let findings = agree(&common::history(text)).expect("all agree");
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        "-------"
    );
    let without = common::history(&text.replace("[2 1]", "[1]"));
    let findings = agree(&without).expect("all agree");
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        "+++++++"
    );
}

#[test]
fn two_reads_of_a_key_are_no_fractured_read_where_no_other_read_is_certain() {
    // c2 read x from b2 or from c3, and either is impossible: only its two reads of y are certain.
    let text = "a: [r x [1 2 3 1], a y 2, a y 3]*\n\
                b: [a y 3, a x 1, r y [2 3 3 3 2]]* [r y [2 3], a x 2, a x 3, a y 2]\n\
                c: [a x 4, r y [3 3], r y [2 3 3], r x [1 4 3]] [r y [2 3 3 2], r y [2 3 3], a x 1, r x [1 2 1]] \
                [a x 2, r y [2 3 3], a x 3]\n";
    let findings = agree(&common::history(text)).expect("all agree");
    assert!(
        findings
            .violations
            .iter()
            .any(|v| v.id.to_string() == "TAP-j/1")
    );
    assert!(
        findings
            .violations
            .iter()
            .all(|v| v.id.pattern.id() != "TAP-k"),
        "{:?}",
        findings.violations
    );
}

#[test]
fn the_report_says_that_reads_of_a_set_up_are_not_looked_at() {
    let rules = isoscope::history::Rules::default();
    let note = |text: &str| {
        let history = common::history(text)
            .with_rules(&rules)
            .expect("rules that fit");
        history
            .assumptions()
            .iter()
            .any(|sentence| sentence.contains("not looked at"))
    };
    assert!(note(READING));
    assert!(!note("s: [w x 5]*\na: [r x 5]\n"));
}
