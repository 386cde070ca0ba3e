//! Each listed anomaly can be drawn as itself, and what is drawn by default has no smaller proof of its level inside.

use crate::common;

use common::parts;
use common::random::{Shape, for_histories};
use isoscope::audit::{self, Example, Examples};
use isoscope::checkers::{Findings, Options, Pattern, Violation};
use isoscope::control::Control;
use isoscope::counterexample::{Counterexample, Minimality};
use isoscope::export::{ComposeOptions, compose};
use isoscope::formats;
use isoscope::history::{History, OperationId, OperationKind, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How many instances of each pattern are drawn.
const OF_EACH: usize = 2;

fn checked(history: &History) -> Findings {
    audit::check(history, &Options::default(), &Control::new(), &|_| {})
}

/// The first instances of each pattern.
fn some(findings: &Findings) -> Vec<&Violation> {
    let mut seen: BTreeMap<Pattern, usize> = BTreeMap::new();
    let is_early = |violation: &&Violation| {
        let n = seen.entry(violation.id.pattern).or_default();
        *n += 1;
        *n <= OF_EACH
    };
    findings.violations.iter().filter(is_early).collect()
}

/// What is wrong with a violation drawn as itself.
fn as_itself(
    whole: &History,
    examples: &Examples<'_>,
    violation: &Violation,
) -> Result<(), String> {
    let Example {
        violation: named,
        counterexample,
        explanation,
    } = examples.itself(violation, &Control::new());
    if named.id != violation.id {
        return Err(format!("is drawn as {}", named.id));
    }
    if counterexample.violation.id.pattern != violation.id.pattern {
        return Err(format!("shows {}", counterexample.violation.id.pattern));
    }
    if !audit::holds(&counterexample) {
        return Err("is not accepted by the verifier".to_owned());
    }
    let picture = compose(
        &counterexample,
        &explanation,
        whole,
        &ComposeOptions::default(),
    );
    if picture.facts.len() > 2 {
        return Err(format!(
            "has more than three lines above it: {:?}",
            picture.facts
        ));
    }
    match minimal_for_its_pattern(&counterexample) {
        true => Ok(()),
        false => Err("is not minimal for its pattern".to_owned()),
    }
}

/// Whether the anomaly disappears with any operation, where that was tried.
fn minimal_for_its_pattern(example: &Counterexample) -> bool {
    let (small, pattern) = (&example.history, example.violation.id.pattern);
    let names = parts::names_of(small, &example.violation);
    let shows =
        |part: &History| parts::is_violated_by_itself(part, example.level, pattern, Some(&names));
    let operations = (0..small.n_operations()).map(OperationId::new);
    let mut left = operations.filter_map(|o| parts::without_operation(small, o));
    // By other operations of the same transactions it may be smaller.
    example.operation_minimality == Minimality::Reduced
        || !left.any(|part| shows(&part) && part.n_transactions() < small.n_transactions())
}

/// What is smaller than what is drawn by default and breaks the same level, if anything is.
fn smaller_inside(example: &Counterexample) -> Option<String> {
    let small = &example.history;
    if example.minimality == Minimality::Reduced
        || example.operation_minimality == Minimality::Reduced
    {
        return None;
    }
    let transactions = small
        .transactions()
        .map(|t| parts::without_transaction(small, t));
    let operations = (0..small.n_operations()).map(OperationId::new);
    let operations = operations.map(|o| parts::without_operation(small, o));
    let part = transactions
        .chain(operations)
        .flatten()
        .find(|part| parts::is_violated(part, example.level, None))?;
    Some(format!(
        "{} operations instead of {}",
        part.n_operations(),
        small.n_operations()
    ))
}

/// Whether every transaction has an outcome, and every value one writer. Else a part without a possible writer may break
/// what the whole does not.
fn is_certain(history: &History) -> bool {
    let mut written = BTreeSet::new();
    let mut operations = (0..history.n_operations()).map(OperationId::new);
    history
        .transactions()
        .all(|t| history.outcome(t) != Outcome::Unknown)
        && operations.all(|o| {
            let o = history.operation(o);
            let is_initial = history.may_be_initial(o.key, o.value);
            o.kind != OperationKind::Write || !is_initial && written.insert((o.key, o.value))
        })
}

/// Checks a history; returns how many anomalies were drawn.
fn is_right(history: &History) -> Result<usize, String> {
    let findings = checked(history);
    let examples = Examples::new(history, &findings);
    let chosen = some(&findings);
    for violation in &chosen {
        as_itself(history, &examples, violation)
            .map_err(|why| format!("{} {why}", violation.id))?;
        // What has a simpler cause is only drawn as itself.
        let place = findings
            .violations
            .iter()
            .position(|listed| listed.id == violation.id);
        let is_entry = place.is_some_and(|place| examples.simpler_ones()[place].is_none());
        if !is_entry || !is_certain(history) {
            continue;
        }
        let simplest = examples.of(violation, &Control::new());
        if let Some(inside) = smaller_inside(&simplest.counterexample) {
            return Err(format!(
                "{}, shown as {}, has {inside}",
                violation.id, simplest.violation.id
            ));
        }
    }
    Ok(chosen.len())
}

#[test]
fn samples_are_drawn_as_themselves_and_by_their_simplest_proof() {
    let mut n = 0;
    let files = std::fs::read_dir(common::repository("sample_histories")).expect("the samples");
    let files = files.map(|file| file.expect("it can be listed").path());
    for path in files.filter(|path| path.is_file() && !path.ends_with("README.md")) {
        let history = formats::open(&path, None, &Control::new());
        let history = history.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        n += is_right(&history).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }
    assert!(n > 50, "{n}");
}

#[test]
fn random_histories_are_drawn_as_themselves_and_by_their_simplest_proof() {
    let (n_histories, n_drawn) = (AtomicU64::new(0), AtomicU64::new(0));
    for shape in [Shape::SMALL, Shape::CLEAN, Shape::AMBIGUOUS] {
        for_histories(shape, 250, |sketch| {
            let drawn = is_right(&sketch.history())?;
            n_histories.fetch_add(1, Relaxed);
            n_drawn.fetch_add(drawn as u64, Relaxed);
            Ok(())
        });
    }
    let [histories, drawn] = [n_histories, n_drawn].map(AtomicU64::into_inner);
    println!("{drawn} anomalies of {histories} histories");
    assert!(drawn > histories / 4, "{drawn} of {histories}");
}
