//! Reports in which something was changed: the verifier refuses each of them, or what it still says is true. What a report
//! says besides its proofs is compared with the history by `described`.
//!
//! What is true of small histories is found by brute force. `ISOSCOPE_TAMPERED` asks for another number of changes of each
//! kind to each report, `ISOSCOPE_TAMPERED_SEED` for other histories and changes. Of some of those a look has to tell whether they
//! are true: another transaction that read the same, in its place, makes an argument that is as good, and the test says that it is
//! another one. So a fresh seed for all tests is none for this one.

use crate::common;

use common::oracle::{self, LEVELS};
use common::random::{Shape, sketch};
use common::sketch::{Sketch, key_name, session_name};
use common::tamper::{Change, NAMES, tamper};
use common::{described, examine, linear, repository};
use fastrand::Rng;
use isoscope::checkers::{self, Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::formats;
use isoscope::history::{
    Builder, History, Interval, OperationKind, Origin, Outcome, TransactionId, Value,
};
use isoscope::report::{
    ClaimEntry, ClaimKind, EdgeEntry, OperationEntry, ProofEntry, Report, Settings, SightWord,
    TransactionEntry, VerdictWord, ViolationEntry,
};
use isoscope::verify::verify;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Changes of each kind to each report in the ordinary run.
const EACH: u64 = 3;

/// Histories of each kind.
const HISTORIES: u64 = 30;

/// Few enough appends of an element to go through.
const REPEATING: Shape = Shape {
    transactions: 5,
    operations: 3,
    keys: 2,
    sessions: 4,
    repeated_values: false,
    clean: false,
};

/// Brute force tries all orders of up to so many transactions.
const SMALL: usize = 8;

/// A report, and what is true.
struct Case {
    name: String,
    history: History,
    report: Report,
    /// By level: whether it is satisfied.
    truth: BTreeMap<String, bool>,
    is_small: bool,
    /// Whether each read has one writer, and each version one place.
    is_plain: bool,
}

impl Case {
    fn new(name: String, history: History) -> Case {
        let findings = checkers::check(
            &history,
            &Options {
                levels: Level::of(&history),
                max_instances: 20,
                ..Options::default()
            },
            &Control::new(),
            &|_| {},
        );
        let report = isoscope::report::of_findings(
            &history,
            &findings,
            Settings {
                witness: true,
                ..Settings::default()
            },
        );
        let decided = findings
            .levels
            .iter()
            .filter(|result| !matches!(result.verdict, Verdict::Undecided(_)));
        let mut truth: BTreeMap<String, bool> = decided
            .map(|result| {
                (
                    result.level.code().to_owned(),
                    matches!(result.verdict, Verdict::Satisfied(_)),
                )
            })
            .collect();
        // Elements that were appended twice make too many choices.
        let observation = oracle::Observation::of(&history);
        let is_small = history.n_transactions() <= SMALL && observation.n_combinations() <= 300;
        let is_plain = observation.n_ambiguous() == 0 && history.lists().is_empty();
        if is_small {
            let verdicts = oracle::verdicts(&history);
            truth.extend(
                LEVELS
                    .iter()
                    .zip(verdicts)
                    .skip(1)
                    .map(|(level, is)| (level.code().to_owned(), is)),
            );
            if history.has_times() {
                truth.insert("SSER".to_owned(), oracle::strictly_serializable(&history));
            }
        }
        Case {
            name,
            history,
            report,
            truth,
            is_small,
            is_plain,
        }
    }

    /// Whether the verdicts of a report that was accepted are true although something in it was changed.
    fn is_true(&self, tampered: &Report) -> Result<(), String> {
        for level in tampered
            .levels
            .iter()
            .filter(|level| level.verdict != VerdictWord::Undecided)
        {
            let is = self
                .truth
                .get(level.level.code())
                .ok_or_else(|| format!("{} was not decided", level.level))?;
            if *is != (level.verdict == VerdictWord::Satisfied) {
                return Err(format!("{} is {:?}", level.level, level.verdict));
            }
            if let Some(witness) = &level.witness {
                self.explains(level.level.code(), witness)?;
            }
        }
        for violation in &tampered.violations {
            let is_violated = |level: &Level| {
                self.truth
                    .get(level.code())
                    .is_none_or(|satisfied| !satisfied)
            };
            if let Some(level) = violation.levels.iter().find(|level| !is_violated(level)) {
                return Err(format!("{} at {level}", violation.id));
            }
        }
        Ok(())
    }

    /// Whether an order explains the history at a level, where brute force can tell.
    fn explains(&self, level: &str, witness: &[TransactionEntry]) -> Result<(), String> {
        let Some(known) = LEVELS.iter().find(|known| known.code() == level) else {
            return Ok(());
        };
        let place = |entry: &TransactionEntry| {
            let t = self
                .history
                .transactions()
                .find(|&t| self.history.exact_transaction_name(t) == entry.id);
            t.ok_or_else(|| format!("there is no {}", entry.id))
        };
        let order = witness
            .iter()
            .map(place)
            .collect::<Result<Vec<TransactionId>, _>>()?;
        let is_empty = |t: TransactionId| self.history.operations_of(t).len() == 0;
        // Who is not read from may be left out, and may take part.
        let is_optional = |&t: &TransactionId| self.history.outcome(t) == Outcome::Unknown;
        let may_be_left_out =
            self.history.transactions().any(is_empty) || order.iter().any(is_optional);
        if !self.is_small
            || *known == Level::CutIsolation
            || may_be_left_out
            || oracle::is_order(&self.history, *known, &order)
        {
            Ok(())
        } else {
            Err(format!("the order does not explain the history at {level}"))
        }
    }

    /// Whether nothing but verdicts and levels says something else than before, which were looked at.
    fn says_no_more(&self, change: Change, tampered: &Report) -> Result<(), String> {
        if tampered.history != self.report.history {
            return Err("other figures".to_owned());
        }
        if tampered.violations.len() != self.report.violations.len() {
            return Ok(());
        }
        for (new, old) in tampered.violations.iter().zip(&self.report.violations) {
            self.describes_the_same(change, new, old)
                .map_err(|what| format!("{}: {what}\n{new:#?}", old.id))?;
        }
        // Which violations with cases share transactions depends on what is told of the cases.
        let is_plain = |violation: &&ViolationEntry| {
            matches!(
                violation.proof,
                ProofEntry::Read | ProofEntry::Cycle { .. } | ProofEntry::Split { .. }
            )
        };
        let partition = |report: &Report| -> Vec<bool> {
            let all: Vec<&ViolationEntry> = report.violations.iter().filter(is_plain).collect();
            all.iter()
                .flat_map(|a| all.iter().map(|b| a.component == b.component))
                .collect()
        };
        // What lists contradict joins more transactions than those that are told.
        let is_of_lists = |v: &ViolationEntry| {
            matches!(
                v.pattern.id(),
                "IncompatibleOrder" | "DuplicateElement" | "VersionOrderCycle"
            )
        };
        if self.report.violations.iter().any(is_of_lists)
            || partition(tampered) == partition(&self.report)
        {
            Ok(())
        } else {
            Err("other components".to_owned())
        }
    }

    /// What an operation of a transaction does.
    fn text(&self, entry: &TransactionEntry, index: usize) -> Option<String> {
        let t = self
            .history
            .transactions()
            .find(|&t| self.history.exact_transaction_name(t) == entry.id)?;
        self.history
            .operations_of(t)
            .nth(index)
            .map(|o| self.history.operation_text(o))
    }

    /// Whether two transactions follow each other in a session, or in real time.
    fn follows(&self, first: &TransactionEntry, then: &TransactionEntry, kind: &str) -> bool {
        let named = |entry: &TransactionEntry| {
            self.history
                .transactions()
                .find(|&t| self.history.exact_transaction_name(t) == entry.id)
        };
        let (Some(first), Some(then)) = (named(first), named(then)) else {
            return false;
        };
        match kind {
            "SO" => first < then && self.history.session_of(first) == self.history.session_of(then),
            "RT" => match (self.history.interval(first), self.history.interval(then)) {
                (Some(first), Some(then)) => first.end < then.start,
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a violation that was accepted says nothing else than it did, but for its proof and levels.
    fn describes_the_same(
        &self,
        change: Change,
        new: &ViolationEntry,
        old: &ViolationEntry,
    ) -> Result<(), String> {
        let same = |what: &str, is: bool| {
            if is {
                Ok(())
            } else {
                Err(format!("another {what}"))
            }
        };
        same(
            "name",
            (&new.id, &new.pattern, &new.name) == (&old.id, &old.pattern, &old.name),
        )?;
        // In which of several cases it is another pattern is not told.
        let has_cases = matches!(
            old.proof,
            ProofEntry::Writers { .. }
                | ProofEntry::Appends { .. }
                | ProofEntry::Outcomes { .. }
                | ProofEntry::Combinations { .. }
        );
        let is_known = |name: &String| {
            old.also.contains(name) || has_cases && NAMES.iter().any(|(id, _)| id == name)
        };
        same("alias", new.also.iter().all(is_known))?;
        same("key", new.key == old.key)?;
        same(
            "claim",
            old.claim
                .as_ref()
                .zip(new.claim.as_ref())
                .is_some_and(|(old, new)| claims_as_much(old, new)),
        )?;
        same("statement", new.statements == old.statements)?;
        same("transaction", new.transactions == old.transactions)?;
        // An operation that an edge names, too, or another one with the same words, adds nothing.
        let is_end = |operation: &OperationEntry| {
            let at = (operation.transaction, Some(operation.index));
            old.edges.iter().any(|edge| {
                at == (edge.from, edge.from_operation) || at == (edge.to, edge.to_operation)
            })
        };
        let is_there = |operation: &OperationEntry| {
            let is = |old: &OperationEntry| {
                (old.transaction, &old.text) == (operation.transaction, &operation.text)
            };
            // What is wrong in a list may be told of several appends.
            let is_append = operation.text.starts_with("append");
            old.operations.iter().any(is) || is_end(operation) || is_append
        };
        // Of lists that do not go together any two may be told.
        let is_any = old.pattern == "IncompatibleOrder";
        same("operation", is_any || new.operations.iter().all(is_there))?;
        let is_same = new.implied == old.implied || has_cases || !self.is_plain;
        same("flag", is_same && new.group == old.group)?;
        if change == Change::EdgeDropped {
            return same(
                "edge",
                new.edges.iter().all(|edge| old.edges.contains(edge)),
            );
        }
        let new_violation = new;
        // What nothing rests on may be any edge that is there.
        let mut named = BTreeSet::new();
        named_edges(
            &serde_json::to_value(&old.proof).expect("a proof can be written"),
            false,
            &mut named,
        );
        let is_premise = |place: &usize| {
            old.edges
                .iter()
                .any(|edge| edge.reason.premises().contains(place))
        };
        let used = (0..old.edges.len())
            .filter(|place| named.contains(&(*place as u64)) || is_premise(place));
        for (new, old) in used.map(|place| (&new.edges[place], &old.edges[place])) {
            let of_initial = |kind: &str| {
                matches!(kind, "SO" | "CO") && new.key.is_none() && new.from_operation.is_none()
            };
            same("edge", (new.from, new.to) == (old.from, old.to))?;
            // Two transactions may follow each other in their session and in real time.
            let follows = || {
                self.follows(
                    &new_violation.transactions[new.from],
                    &new_violation.transactions[new.to],
                    new.kind.code(),
                )
            };
            same(
                "kind",
                new.kind == old.kind
                    || of_initial(new.kind.code()) && of_initial(old.kind.code())
                    || follows(),
            )?;
            same("edge's key", new.key == old.key)?;
            let text = |place: usize, index: Option<usize>| {
                self.text(&new_violation.transactions[place], index?)
            };
            let texts = |edge: &EdgeEntry| {
                (
                    text(edge.from, edge.from_operation),
                    text(edge.to, edge.to_operation),
                )
            };
            // Of a list the element that was read last, and the last that its writer appended, are as good.
            let is_of_list = !self.history.lists().is_empty() && new.kind != "RW";
            same("edge's operation", texts(new) == texts(old) || is_of_list)?;
        }
        Ok(())
    }
}

/// The edges that a proof names: in its cycles, in its clauses, and as assumptions of its cases.
fn named_edges(proof: &serde_json::Value, is_edge: bool, found: &mut BTreeSet<u64>) {
    use serde_json::Value::{Array, Number, Object};
    match proof {
        Number(place) if is_edge => found.extend(place.as_u64()),
        Array(parts) => parts
            .iter()
            .for_each(|part| named_edges(part, is_edge, found)),
        Object(fields) => fields.iter().for_each(|(name, part)| {
            named_edges(
                part,
                matches!(name.as_str(), "edges" | "lemmas" | "clauses" | "assume"),
                found,
            );
        }),
        _ => {}
    }
}

/// Whether a claim says what another one says: of the same operations or of others with the same words, and how a version
/// was seen or that the rest of the cycle says so.
fn claims_as_much(old: &ClaimEntry, new: &ClaimEntry) -> bool {
    let told = |claim: &ClaimEntry| {
        let mut claim = claim.clone();
        if let ClaimKind::StaleRead { sight, seen, .. } = &mut claim.says {
            (*sight, *seen) = (SightWord::Order, None);
        }
        let mut told = serde_json::to_value(&claim).expect("a claim can be written");
        let operations: Vec<String> = claim
            .operations()
            .into_iter()
            .map(|o| format!("{} {}", o.transaction, o.text))
            .collect();
        for part in ["read", "reads", "write", "seen"] {
            told.as_object_mut().expect("an object").remove(part);
        }
        (told.to_string(), operations)
    };
    let is_weaker = match (&old.says, &new.says) {
        (ClaimKind::StaleRead { sight: was, .. }, ClaimKind::StaleRead { sight: is, .. }) => {
            was == is || *is == SightWord::Order
        }
        _ => true,
    };
    is_weaker && told(old) == told(new)
}

/// The history of a sketch, its keys holding registers or lists, with times that mostly fit or none.
fn history_of(sketch: &Sketch, lists: bool, elements: u64, times: bool, rng: &mut Rng) -> History {
    let mut builder = Builder::new(Origin::default());
    if !lists {
        builder.initial_value(Value(0));
    }
    for (s, transactions) in sketch.sessions.iter().enumerate() {
        let session = builder.session_name(&session_name(s));
        let mut clock = 0;
        for transaction in transactions {
            let draft = builder.transaction(session, transaction.outcome);
            if times {
                let numbers = transaction
                    .operations
                    .iter()
                    .map(|o| o.value.0)
                    .filter(|v| *v <= Value::MAX_NUMBER);
                let start = clock.max(3 * numbers.max().unwrap_or(0) as i64 - rng.i64(0..4));
                let end = start + rng.i64(0..8);
                clock = end + rng.i64(1..3);
                builder.set_interval(draft, Interval { start, end });
            }
            for (at, operation) in transaction.operations.iter().enumerate() {
                let key = builder.key_name(&key_name(operation.key));
                let line = 1 + s as u32;
                if !lists {
                    builder.operation(draft, operation.kind, key, operation.value, line);
                    continue;
                }
                builder.list_key(key);
                let element = |number: u64| Value(1 + number % elements);
                if operation.kind == OperationKind::Write {
                    builder.operation(
                        draft,
                        OperationKind::Write,
                        key,
                        element(operation.value.0),
                        line,
                    );
                    continue;
                }
                let own = transaction.operations[..at].iter();
                let own = own
                    .filter(|o| o.kind == OperationKind::Write && o.key == operation.key)
                    .map(|o| o.value.0);
                let own: Vec<u64> = own.collect();
                let last = if operation.value.0 <= Value::MAX_NUMBER {
                    operation.value.0
                } else {
                    0
                };
                let seen = (1..=last).filter(|n| !own.contains(n) && rng.u8(0..12) > 0);
                let mut list: Vec<Value> = seen.map(element).collect();
                list.extend(own.iter().copied().map(element));
                builder.list_read(draft, key, &list, line);
            }
        }
    }
    builder.finish().expect("sketches are small")
}

/// The sketch with some outcomes not known.
fn in_doubt(sketch: &Sketch, rng: &mut Rng) -> Sketch {
    let mut sketch = sketch.clone();
    for transaction in sketch
        .transactions_mut()
        .filter(|t| t.outcome != Outcome::Aborted)
    {
        transaction.outcome = if rng.u8(0..3) == 0 {
            Outcome::Unknown
        } else {
            Outcome::Committed
        };
    }
    sketch
}

/// The history in the program's own notation.
fn written(history: &History) -> String {
    let mut bytes = Vec::new();
    formats::write(history, "text", &mut bytes).expect("the notation can say everything");
    String::from_utf8(bytes).expect("the notation is text")
}

fn generated() -> Vec<Case> {
    let of_seed = |seed: u64| {
        let mut rng = Rng::with_seed(seed);
        let mut cases = Vec::new();
        let mut add = |word: &str, history: History| {
            let text = written(&history);
            cases.push(Case::new(format!("{word} {seed}\n{text}"), history));
        };
        for (shape, word) in [
            (Shape::SMALL, "small"),
            (Shape::CLEAN, "clean"),
            (Shape::AMBIGUOUS, "repeating"),
        ] {
            let sketch = sketch(shape, seed);
            add(
                word,
                history_of(&sketch, false, 0, seed.is_multiple_of(3), &mut rng),
            );
            if shape.repeated_values {
                let in_doubt = in_doubt(&sketch, &mut rng).with_few_values();
                add(
                    "in doubt",
                    history_of(&in_doubt, false, 0, seed % 3 == 1, &mut rng),
                );
                continue;
            }
            let elements = if seed.is_multiple_of(4) {
                rng.u64(2..5)
            } else {
                Value::MAX_NUMBER
            };
            add(
                &format!("{word} lists"),
                history_of(&sketch, true, elements, seed % 3 == 1, &mut rng),
            );
        }
        let shape = [
            REPEATING,
            Shape {
                transactions: 5,
                ..Shape::CLEAN
            },
        ][seed as usize % 2];
        let repeating = sketch(shape, seed);
        let elements = rng.u64(1..4);
        add(
            "equal lists",
            history_of(&repeating, true, elements, seed % 3 == 2, &mut rng),
        );
        let repeating = in_doubt(&repeating, &mut rng);
        add(
            "equal lists in doubt",
            history_of(&repeating, true, elements, seed.is_multiple_of(3), &mut rng),
        );
        let shape = linear::Shape {
            most: 6,
            keys: 1 + seed as usize % 2,
            differs: seed.is_multiple_of(2),
            unknown: true,
            repeated: seed.is_multiple_of(5),
            untidy: false,
            blind: 3,
        };
        let light = linear::random(shape, &mut rng);
        let history = linear::history(&light);
        if history.has_times() {
            add("light", history);
        }
        cases
    };
    (first_seed()..first_seed() + HISTORIES)
        .into_par_iter()
        .flat_map_iter(of_seed)
        .collect()
}

fn samples() -> Vec<Case> {
    let folder = std::fs::read_dir(repository("sample_histories"))
        .expect("the samples are part of the repository");
    let files = folder.map(|entry| entry.expect("readable").path());
    let histories =
        files.filter(|path| path.is_file() && path.extension().is_none_or(|ending| ending != "md"));
    histories
        .map(|path| {
            let history = formats::open(&path, None, &Control::new()).expect("samples can be read");
            Case::new(path.display().to_string(), history)
        })
        .collect()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn first_seed() -> u64 {
    number("ISOSCOPE_TAMPERED_SEED").unwrap_or(0)
}

/// How often reports with a change were refused, refused for their descriptions only, and accepted.
type Tally = BTreeMap<Change, [u64; 3]>;

/// Tampers with each report, and shows the first ones that are accepted and should not be.
fn tally(cases: &[Case], each: u64) -> Tally {
    let of_case = |(place, case): (usize, &Case)| -> (Tally, Vec<String>) {
        let mut rng = Rng::with_seed(first_seed() ^ place as u64);
        let (mut tally, mut wrong) = (Tally::new(), Vec::new());
        for change in Change::ALL {
            for _ in 0..each {
                let Some(tampered) = tamper(&case.history, &case.report, change, &mut rng) else {
                    continue;
                };
                let is_accepted = verify(&case.history, &tampered)
                    .is_ok_and(|verified| verified.without_evidence.is_empty());
                let is_described = || described::problems(&case.history, &tampered).is_empty();
                let (kind, truth) = match is_accepted {
                    false => (0, Ok(())),
                    true if !is_described() => (1, case.is_true(&tampered)),
                    true => {
                        let says_no_more = || case.says_no_more(change, &tampered);
                        (2, case.is_true(&tampered).and_then(|()| says_no_more()))
                    }
                };
                tally.entry(change).or_default()[kind] += 1;
                if let Err(what) = truth {
                    wrong.push(format!("{change:?} is accepted: {what}\n{}", case.name));
                }
            }
        }
        (tally, wrong)
    };
    let (mut all, mut wrong) = (Tally::new(), Vec::new());
    for (tally, of_case) in cases
        .par_iter()
        .enumerate()
        .map(|(place, case)| of_case((place, case)))
        .collect::<Vec<_>>()
    {
        for (change, of_change) in tally {
            let sum = all.entry(change).or_default();
            sum.iter_mut().zip(of_change).for_each(|(sum, n)| *sum += n);
        }
        wrong.extend(of_case);
    }
    println!("{all:#?}");
    assert!(
        wrong.is_empty(),
        "{} are wrong, for example:\n\n{}",
        wrong.len(),
        wrong[..wrong
            .len()
            .min(number("ISOSCOPE_SHOWN").unwrap_or(5) as usize)]
            .join("\n\n")
    );
    all
}

#[test]
fn a_report_that_was_tampered_with_is_refused_or_still_true() {
    let each = number("ISOSCOPE_TAMPERED").unwrap_or(EACH);
    let mut cases = generated();
    cases.extend(samples());
    let tally = tally(&cases, each);
    let (refused, accepted) = tally
        .values()
        .fold((0, 0), |sum, of| (sum.0 + of[0] + of[1], sum.1 + of[2]));
    assert_eq!(
        tally.len(),
        Change::ALL.len(),
        "every kind of change was tried"
    );
    assert!(
        refused + accepted >= 10_000,
        "{refused} refused, {accepted} accepted"
    );
    assert!(
        accepted * 5 < refused,
        "{refused} refused, {accepted} accepted"
    );
}

#[test]
fn a_report_as_it_was_made_is_accepted() {
    let mut cases = generated();
    cases.extend(samples());
    let problem = |case: &Case| match examine::believed(&case.history, &case.report) {
        Ok(_) => None,
        Err(problem) => Some(format!("{}\n{problem}", case.name)),
    };
    let problems: Vec<String> = cases.par_iter().filter_map(problem).collect();
    let shown = problems[..problems.len().min(5)].join("\n\n");
    assert!(
        problems.is_empty(),
        "{} of {} are refused:\n\n{shown}",
        problems.len(),
        cases.len()
    );
}

/// A report that was cut by a limit is not refused for what was not finished; what it claims is checked.
#[test]
fn a_report_that_was_cut_by_a_limit_is_refused_only_for_what_it_claims() {
    // A read of a value that no transaction wrote, found by the first pass, and fractured reads, found when the levels are looked at.
    let history = common::history(
        "a: [w x 1, w y 1] [w x 2, w y 2]\nb: [r x 2, r y 1]\nc: [r y 2, r x 1]\nd: [r z 9]\n",
    );
    let Case {
        history, report, ..
    } = Case::new("cut".to_owned(), history);
    let mut cut = report;
    cut.violations
        .retain(|violation| violation.pattern == "TAP-a");
    let (rc, others): (Vec<_>, Vec<_>) = cut
        .levels
        .iter_mut()
        .filter(|level| level.level != "CI")
        .partition(|level| level.level == "RC");
    others
        .into_iter()
        .for_each(|level| level.verdict = VerdictWord::Undecided);
    assert_eq!(rc[0].verdict, VerdictWord::Violated);
    let verified = verify(&history, &cut).expect("true as far as it goes");
    assert!(verified.without_evidence.is_empty());
    cut.levels[1].verdict = VerdictWord::Satisfied;
    let problems = verify(&history, &cut).expect_err("a read shows that it is violated");
    assert!(problems.iter().any(|problem| problem.place == "level RC"));
    // In words it is no excuse.
    cut.cut = Some("time limit".to_owned());
    cut.assumptions.push(
        "The work ended before all violations were counted and listed (time limit).".to_owned(),
    );
    assert!(verify(&history, &cut).is_err());
}

/// Real time takes part in this cycle: sessions and reads do not close one by themselves.
#[test]
fn what_real_time_contradicts_is_not_called_observed() {
    let text = "b: [w x 1]@9..12\nc: [r x 1]@2..6\n";
    let history = formats::text::parse(text).expect("a history in our notation");
    let Case {
        mut report,
        history,
        ..
    } = Case::new("real time".to_owned(), history);
    assert!(verify(&history, &report).is_ok());
    let claim = report.violations[0]
        .claim
        .as_mut()
        .expect("it says what it shows");
    assert!(
        matches!(claim.says, ClaimKind::AgainstTheClock { .. }),
        "{claim:?}"
    );
    claim.says = ClaimKind::Observed;
    assert!(!described::problems(&history, &report).is_empty());
}
