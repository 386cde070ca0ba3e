//! The small history of a counterexample as a file, read back and checked again before it counts.

use isoscope_check::checkers::{Options, Verdict};
use isoscope_formats::{self as formats, Converted, Naming};
use isoscope_model::control::Control;
use isoscope_model::history::History;
use isoscope_tell::audit;
use isoscope_tell::counterexample::Counterexample;

/// The history of a counterexample in a format, after checking that its reader finds the level violated, and, if
/// claimed, that no part with fewer transactions is enough.
///
/// # Errors
/// Why the file would not be a counterexample, in one line.
pub fn small_history(
    example: &Counterexample,
    format: &str,
    control: &Control,
) -> Result<Converted, String> {
    let converted = formats::convert(&example.history, format, Naming::Kept, control)
        .map_err(|error| error.to_string())?;
    still_violates(example, &converted.history, control)?;
    Ok(converted)
}

fn still_violates(
    example: &Counterexample,
    again: &History,
    control: &Control,
) -> Result<(), String> {
    let level = example.level;
    let options = Options {
        levels: vec![level],
        ..Options::default()
    };
    let findings = audit::check(again, &options, control, &|_| {});
    match findings.level(level).map(|result| &result.verdict) {
        Some(Verdict::Violated) => {}
        Some(Verdict::Undecided(cause)) => {
            return Err(format!("read back, {level} is undecided: {cause}"));
        }
        _ => {
            return Err(format!(
                "read back, it satisfies {level}: the format cannot express what breaks it"
            ));
        }
    }
    if !example.minimality.passes_without_any() {
        return Ok(());
    }
    let listed = findings
        .violations
        .iter()
        .filter(|violation| violation.levels.contains(level));
    let smallest = listed.min_by_key(|violation| (violation.size(), violation.id));
    let smaller = smallest.map(|violation| audit::minimize_at(again, violation, level, control));
    match smaller.filter(|smaller| smaller.history.n_transactions() < again.n_transactions()) {
        Some(smaller) => Err(format!(
            "read back, {} of its {} transactions are enough to violate {level}",
            smaller.history.n_transactions(),
            again.n_transactions()
        )),
        None => Ok(()),
    }
}
