//! What is said of a counterexample scene by scene: followed along the run by values alone.

use crate::common;

use common::random::{Shape, for_histories};
use isoscope::audit::{self, Examples};
use isoscope::checkers::Options;
use isoscope::control::Control;
use isoscope::counterexample::replay::{Action, Known, ReplayRun, scenes, told_run};
use isoscope::formats;
use isoscope::history::{History, OperationId, OperationKind, TransactionId, Value};
use std::collections::BTreeMap;

/// What is wrong with the stories of all violations of a history, and how many there are.
fn each_story(history: &History) -> Result<usize, String> {
    let control = Control::new();
    let findings = audit::check(history, &Options::default(), &control, &|_| {});
    let examples = Examples::new(history, &findings);
    for violation in &findings.violations {
        let example = examples.of(violation, &control);
        let small = &example.counterexample.history;
        let run = told_run(&example.counterexample, &Known::default(), &control);
        let told = scenes(&example.counterexample, &run, &example.explanation);
        let done: Vec<usize> = told.iter().map(|scene| scene.done).collect();
        let last = told.last().ok_or("a story has no end")?;
        let is_whole = last.is_last && last.done == run.steps.len() && done.is_sorted();
        let has_one_end = told.iter().filter(|scene| scene.is_last).count() == 1;
        if !is_whole || !has_one_end || told.iter().any(|scene| scene.caption.is_empty()) {
            return Err(format!("{}: {done:?}", violation.id));
        }
        for scene in &told {
            let said = scene.caption.split_once(" It should have returned ");
            let Some((said, read)) = said.zip(scene.wrong) else {
                continue;
            };
            let answer = said.1.trim_end_matches('.');
            if small.lists().read_by(read).is_none() {
                is_possible(small, &run, read, answer)
                    .map_err(|why| format!("{}: {}: {why}", violation.id, scene.caption))?;
            }
        }
    }
    Ok(findings.violations.len())
}

/// Whether a read did not return this, and a database could have: the read's own transaction wrote it last, or another
/// one that was committed by then.
fn is_possible(
    history: &History,
    run: &ReplayRun,
    read: OperationId,
    answer: &str,
) -> Result<(), String> {
    let of = history.operation(read);
    let reader = history.transaction_of(read);
    let mut pending: BTreeMap<TransactionId, Vec<Value>> = BTreeMap::new();
    let mut possible: Vec<Value> = Vec::new();
    for step in &run.steps {
        match step.action {
            Action::Operation(o) if o == read => break,
            Action::Operation(o) => {
                let operation = history.operation(o);
                if operation.kind == OperationKind::Write && operation.key == of.key {
                    let own = pending.entry(step.transaction).or_default();
                    own.push(operation.value);
                }
            }
            Action::Commit => {
                let written = pending.remove(&step.transaction).unwrap_or_default();
                possible.extend(written.last());
            }
            Action::Abort => drop(pending.remove(&step.transaction)),
            Action::Begin => {}
        }
    }
    let own = pending.get(&reader).and_then(|own| own.last());
    possible.extend(own);
    let names: Vec<String> = possible
        .iter()
        .map(|&value| history.value_name(value))
        .collect();
    match names.iter().any(|name| name == answer) {
        _ if history.value_name(of.value) == answer => Err("it did return that".to_owned()),
        false => Err(format!("only {names:?} were there")),
        true => Ok(()),
    }
}

#[test]
fn stories_of_samples_say_what_could_have_been_read() {
    let folder = std::fs::read_dir(common::repository("sample_histories")).expect("it is there");
    let mut n = 0;
    for path in folder.flatten().map(|entry| entry.path()) {
        if path.is_dir() || path.file_name().is_some_and(|name| name == "README.md") {
            continue;
        }
        let history = formats::open(&path, None, &Control::new()).expect("a history");
        let name = path.display();
        n += each_story(&history).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    }
    assert!(n > 50, "{n} violations");
}

#[test]
fn stories_of_random_histories_say_what_could_have_been_read() {
    for shape in [Shape::SMALL, Shape::AMBIGUOUS] {
        for_histories(shape, 150, |sketch| {
            each_story(&sketch.history()).map(|_| ())
        });
    }
}

#[test]
fn one_stale_read_is_the_read_that_differs() {
    let history = common::history("a: [w x 5]\nb: [r x 5, w x 6, w y 1]\nc: [r x 5, r y 1]\n");
    let control = Control::new();
    let findings = audit::check(&history, &Options::default(), &control, &|_| {});
    let violation = &findings.violations[0];
    let example = Examples::new(&history, &findings).of(violation, &control);
    let run = told_run(&example.counterexample, &Known::default(), &control);
    let told = scenes(&example.counterexample, &run, &example.explanation);
    let wrong: Vec<&str> = told
        .iter()
        .filter(|scene| scene.wrong.is_some())
        .map(|scene| scene.caption.as_str())
        .collect();
    assert_eq!(wrong, ["c1 read x = 5. It should have returned 6."]);
}
