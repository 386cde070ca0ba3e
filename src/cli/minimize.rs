//! `isoscope minimize`: the smallest sub-history found that still violates a level, as a history file.

use super::output::{self, Output};
use super::{ExitCode, MinimizeArguments, complain, convert, disagreements, input};
use crate::audit;
use crate::checkers::{Options, Verdict};
use crate::counterexample::{self, Counterexample};
use crate::export;

/// How many of the smallest listed violations are tried as a starting point.
const TRIED: usize = 4;

pub(super) fn run(arguments: &MinimizeArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let control = arguments.limits.control();
    let (history, _) = input::open(&arguments.file, &arguments.reading, &control)?;
    let format = input::target_format(
        arguments.to.as_deref(),
        &arguments.output,
        Some(history.origin().format),
    )?;
    let (path, level) = (arguments.file.display(), arguments.level);
    let options = Options {
        levels: vec![level],
        ..Options::default()
    };
    let findings = audit::check(&history, &options, &control, &|_| {});
    disagreements::reported(&arguments.file, &findings, ExitCode::Satisfied);
    match findings.level(level).map(|result| &result.verdict) {
        Some(Verdict::Violated) => {}
        Some(Verdict::Undecided(cause)) => {
            complain(&format!(
                "{path}: {level} is undecided ({cause}), nothing was written"
            ));
            return Ok(ExitCode::Undecided);
        }
        _ => {
            complain(&format!(
                "{path}: {level} is satisfied, nothing was written"
            ));
            return Ok(ExitCode::Satisfied);
        }
    }
    let mut candidates: Vec<_> = findings
        .violations
        .iter()
        .filter(|v| v.levels.contains(level))
        .collect();
    candidates.sort_by_key(|v| (v.size(), v.edges.len(), v.implied, v.id));
    let minimized = candidates
        .iter()
        .take(TRIED)
        .map(|violation| audit::minimize_at(&history, violation, level, &control));
    // Among equally small ones the first is kept, so the result depends only on the input.
    let size = |example: &Counterexample| {
        (
            example.history.n_transactions(),
            example.history.n_operations(),
        )
    };
    let smallest = minimized.min_by_key(size);
    let Some(example) = smallest else {
        anyhow::bail!("{path}: {level} is violated, but no violation is listed to begin with");
    };
    let converted = export::small_history(&example, format, &control.overtime());
    let converted =
        converted.map_err(|why| anyhow::anyhow!("{path}: nothing was written: {why}"))?;
    convert::tell_words(format, &converted.words);
    output::write_file(&arguments.output, out, |file| Ok(converted.write(file)?))?;
    complain(&format!(
        "{}: {} of {} transactions. {}",
        arguments.output.display(),
        example.history.n_transactions(),
        example.n_transactions_of_whole,
        counterexample::size(&example)
    ));
    Ok(ExitCode::Satisfied)
}
