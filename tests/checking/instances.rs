//! Every count equals the number of instances that can be listed, and verdicts need no counts.

use crate::common;

use common::examine;
use common::instances::all_listed;
use common::random::{Shape, for_histories};
use common::repository;
use isoscope::audit;
use isoscope::checkers::{self, Findings, Level, Options};
use isoscope::control::Control;
use isoscope::formats::{self, Input, Request};
use isoscope::history::History;
use isoscope::relations::resolve;
use isoscope::report::Settings;
use std::sync::Arc;

/// Histories of each kind in the ordinary run; `ISOSCOPE_HISTORIES` asks for more.
const HISTORIES: u64 = 1_000;

/// Few keys and long transactions, so that much is wrong.
const CROWDED: Shape = Shape {
    transactions: 14,
    operations: 6,
    keys: 3,
    sessions: 5,
    repeated_values: false,
    clean: true,
};
/// With everything that may be wrong in single reads.
const TROUBLED: Shape = Shape {
    transactions: 9,
    operations: 5,
    keys: 3,
    sessions: 5,
    repeated_values: false,
    clean: false,
};

fn of_shape(shape: Shape) {
    for_histories(shape, HISTORIES, |sketch| {
        let history = sketch.history();
        [1, 3, 1000]
            .into_iter()
            .try_for_each(|most| all_listed(&history, most).map_err(|e| format!("{most}: {e}")))
    });
}

#[test]
fn what_is_counted_in_crowded_histories_is_listed() {
    of_shape(CROWDED);
}

#[test]
fn what_is_counted_in_troubled_histories_is_listed() {
    of_shape(TROUBLED);
}

#[test]
fn what_is_counted_under_every_choice_of_writers_is_listed() {
    of_shape(Shape::AMBIGUOUS);
}

fn counts_for_any_list(history: &History, listed: &[usize]) -> Result<(), String> {
    let counts = |max_instances: usize| {
        let options = Options {
            levels: Level::of(history),
            max_instances,
            ..Options::default()
        };
        checkers::check(history, &options, &Control::new(), &|_| {}).patterns
    };
    let usual = counts(1000);
    let other = listed
        .iter()
        .map(|&most| (most, counts(most)))
        .find(|(_, other)| *other != usual);
    other.map_or(Ok(()), |(most, other)| {
        Err(format!("{usual:?}, but {other:?} where {most} are listed"))
    })
}

#[test]
fn counts_do_not_depend_on_how_many_are_listed() {
    let cycle = |n: u32| {
        format!(
            "a{n}: [w x{n} 1, w y{n} 1]\nb{n}: [r y{n} 0, w x{n} 2]\nc{n}: [r x{n} 2, r y{n} 1]\n"
        )
    };
    let text: String = (0..30).map(cycle).collect();
    let input = Input::new("cycles", text.as_bytes());
    let history =
        formats::read(&input, Request::from(None), &Control::new()).expect("the text notation");
    counts_for_any_list(&history, &[0, 1, 20]).expect("as many whatever is listed");
    for shape in [CROWDED, TROUBLED, Shape::AMBIGUOUS] {
        for_histories(shape, HISTORIES, |sketch| {
            counts_for_any_list(&sketch.history(), &[0, 1, 20])
        });
    }
}

/// Without counting the verdicts are the same, each is shown, and the verifier accepts what shows it. To count later finds the
/// same as to count at once.
fn verdicts_without_counts(shape: Shape) {
    for_histories(shape, HISTORIES, |sketch| {
        let history = sketch.history();
        let levels = Level::of(&history);
        for asked in levels
            .iter()
            .map(|level| vec![*level])
            .chain([levels.clone()])
        {
            let options = Options {
                levels: asked,
                ..Options::default()
            };
            let check =
                |options: &Options| audit::check(&history, options, &Control::new(), &|_| {});
            let (whole, few) = (
                check(&options),
                check(&Options {
                    counts: false,
                    ..options.clone()
                }),
            );
            let words = |findings: &Findings| -> Vec<(Level, &str)> {
                findings
                    .levels
                    .iter()
                    .map(|result| (result.level, result.verdict.word()))
                    .collect()
            };
            if words(&whole) != words(&few) || few.violations.len() > whole.violations.len() {
                return Err(format!(
                    "{:?}, but without counting {:?}",
                    words(&whole),
                    words(&few)
                ));
            }
            let report = isoscope::report::of_findings(
                &history,
                &few,
                Settings {
                    witness: true,
                    ..Settings::default()
                },
            );
            examine::believed(&history, &report)?;
            if few.can_be_counted() {
                let resolution = resolve(&history, &Control::new())
                    .map_err(|interrupt| interrupt.to_string())?;
                let counted = audit::count(
                    &history,
                    Arc::new(resolution),
                    few,
                    &options,
                    &Control::new(),
                );
                let of = |findings: &Findings| {
                    (
                        findings.patterns.clone(),
                        findings.violations.clone(),
                        findings.assumptions.clone(),
                    )
                };
                if of(&counted) != of(&whole) || !counted.is_counted() {
                    return Err(format!(
                        "{:#?}, but counted later {:#?}",
                        of(&whole),
                        of(&counted)
                    ));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn verdicts_without_counts_are_those_with_counts() {
    verdicts_without_counts(CROWDED);
    verdicts_without_counts(TROUBLED);
    verdicts_without_counts(Shape::AMBIGUOUS);
}

#[test]
fn what_is_counted_in_the_samples_is_listed() {
    let samples = formats::histories(&[repository("sample_histories")], &Control::new())
        .expect("the samples are there");
    for sample in samples {
        let formats::ListedFile::History(path) = sample else {
            continue;
        };
        let history = formats::open(&path, None, &Control::new()).expect("a sample can be read");
        for most in [1, 1000] {
            all_listed(&history, most)
                .unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        }
    }
}
