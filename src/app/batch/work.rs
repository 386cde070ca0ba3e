//! Checking the histories of a folder, one after the other.

use super::{Checked, Outcome, Signature};
use crate::app::tasks::{Failure, Task};
use crate::app::verdict_summary::Conclusion;
use crate::audit::{self, Example, Examples};
use crate::checkers::{Findings, Level, Options, Pattern};
use crate::control::Control;
use crate::counterexample::{Counterexample, Shape, n_causes, shape};
use crate::formats;
use crate::history::History;
use crate::hunt::simplest_violation;
use crate::jobs::Outbox;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time limit for one history; what is not known by then is undecided.
const EACH: Duration = Duration::from_secs(60);
/// Time limit for minimizing anomalies of one history.
const MINIMIZING: Duration = Duration::from_secs(5);

/// Checking the histories of a folder; the messages are the results, each with the index of its history.
pub(in crate::app) static CHECK_FOLDER: Task<(usize, Outcome)> = Task {
    is_of_history: false,
    end: |app, _| app.with_batch(|batch| batch.done = true),
    ..Task::new(
        "batch",
        Failure::Message("The batch ended unexpectedly"),
        |app, (place, outcome)| {
            app.with_batch(|batch| batch.settle(place, outcome));
        },
    )
};

/// Checks the given histories, one after the other, at the levels that apply and at those that were promised.
pub(super) fn check_all(
    paths: &[PathBuf],
    promised: &[Level],
    control: &Control,
    outbox: &Outbox<(usize, Outcome)>,
) {
    control.phase("checking histories", paths.len() as u64);
    for (place, path) in paths.iter().enumerate() {
        if control.check().is_err() {
            return;
        }
        let outcome = check_one(path, promised, control);
        if control.is_stopped() {
            return;
        }
        outbox.send((place, outcome));
        control.advance(1);
    }
}

pub(super) fn check_one(path: &Path, promised: &[Level], control: &Control) -> Outcome {
    let started = Instant::now();
    let own = control.branch().with_time_limit(EACH);
    let (history, findings) = match checked(path, promised, &own) {
        Ok(found) => found,
        Err(why) => return Outcome::Failed(why),
    };
    let own = own.with_time_limit(MINIMIZING);
    let smallest = simplest_violation(&findings).map(|violation| {
        let Example {
            violation,
            counterexample,
            ..
        } = Examples::new(&history, &findings).of(violation, &own);
        Signature::new(violation.id.pattern, &counterexample)
    });
    let facts = history
        .workload()
        .map_or(&[][..], |workload| &workload.facts);
    let counting = || facts.iter().filter(|fact| fact.counts);
    let mut kinds: Vec<&str> = counting().map(|fact| fact.name).collect();
    kinds.dedup();
    let found = (kinds, counting().count() as u64);
    let causes = n_causes(&history, &findings.violations) as u64;
    let Findings {
        levels, patterns, ..
    } = findings;
    Outcome::Checked(Box::new(Checked {
        transactions: history.recorded().transactions,
        conclusions: levels
            .iter()
            .map(|result| (result.level, Conclusion::of(&result.verdict)))
            .collect(),
        patterns,
        causes,
        smallest,
        findings: found,
        seconds: started.elapsed().as_secs_f64(),
    }))
}

/// A history, checked at the levels that apply and at some others, or why it could not be read.
pub(super) fn checked(
    path: &Path,
    others: &[Level],
    control: &Control,
) -> Result<(History, Findings), String> {
    if !path.exists() {
        return Err("it is gone".to_owned());
    }
    let history = formats::open(path, None, control).map_err(|error| {
        // The table names the file already.
        let text = error.to_string();
        let path = format!("{}: ", path.display());
        text.strip_prefix(&path).map_or(text.clone(), str::to_owned)
    })?;
    let mut levels = Level::of(&history);
    levels.extend(others);
    levels.sort_unstable();
    levels.dedup();
    let options = Options {
        levels,
        ..Options::default()
    };
    let findings = audit::check(&history, &options, control, &|_| ());
    Ok((history, findings))
}

impl Signature {
    fn new(pattern: Pattern, example: &Counterexample) -> Signature {
        let Shape { text, cycle } = shape(example);
        Signature {
            size: example.history.n_transactions(),
            pattern,
            shape: text,
            cycle,
        }
    }
}
