//! `isoscope explain`: violations in words.

use super::output::Output;
use super::{ExitCode, ExplainArguments, MINIMIZING, disagreements, input};
use crate::audit;
use crate::checkers::{Findings, Level, Options, Verdict, Violation, ViolationId};
use crate::control::Control;
use crate::counterexample::{self, narrate};
use crate::history::History;

pub(super) fn run(arguments: &ExplainArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let (history, _) = input::open(&arguments.file, &arguments.reading)?;
    let control = Control::new();
    let options = Options { levels: Level::of(&history), max_instances: arguments.max_instances, ..Options::default() };
    let findings = audit::check(&history, &options, &control, &|_| {});
    let code = disagreements::told(&arguments.file, &findings, ExitCode::Satisfied);
    let chosen = choose(arguments, &findings)?;
    if chosen.is_empty() {
        out.text(&format!("{}\n", nothing_to_explain(&findings)));
    }
    for (place, violation) in chosen.iter().enumerate() {
        let text = explain(&history, &findings, violation, arguments, &control);
        let id = violation.id;
        let heading = if arguments.plain { format!("{id}\n") } else { format!("# {id}\n\n") };
        out.text(&format!("{}{heading}{text}", if place > 0 { "\n" } else { "" }));
    }
    if !arguments.all && arguments.violation.is_none() {
        let left = findings.patterns.values().sum::<u64>() - chosen.len() as u64;
        if left > 0 {
            super::complain(&format!(
                "{left} more of the same patterns: --all explains those listed, --violation ID one of them"
            ));
        }
    }
    Ok(code)
}

/// The violations to explain: one by its id, all, or the first of each pattern.
fn choose<'f>(arguments: &ExplainArguments, findings: &'f Findings) -> anyhow::Result<Vec<&'f Violation>> {
    let path = arguments.file.display();
    if let Some(id) = arguments.violation {
        let Some(violation) = findings.violation(id) else {
            anyhow::bail!("{path}: {}", unknown_violation(id, findings))
        };
        return Ok(vec![violation]);
    }
    let mut chosen: Vec<&Violation> =
        findings.violations.iter().filter(|v| arguments.all || v.id.ordinal == 1).collect();
    chosen.sort_by_key(|v| (v.levels.weakest(), v.id));
    Ok(chosen)
}

/// What to say when an id names nothing.
pub(super) fn unknown_violation(id: ViolationId, findings: &Findings) -> String {
    let last = findings.violations.iter().filter(|v| v.id.pattern == id.pattern).map(|v| v.id.ordinal).max();
    if let Some(last) = last {
        return format!("there is no violation {id}, {} goes up to {}/{last}", id.pattern, id.pattern);
    }
    let mut patterns: Vec<&str> = findings.violations.iter().map(|v| v.id.pattern.id()).collect();
    patterns.dedup();
    match patterns.as_slice() {
        [] => format!("there is no violation {id}, nor any other"),
        some => format!("there is no violation {id}, expected one of {}", some.join(", ")),
    }
}

fn nothing_to_explain(findings: &Findings) -> String {
    let codes = |wanted: fn(&Verdict) -> bool| {
        let matching = findings.levels.iter().filter(|result| wanted(&result.verdict));
        matching.map(|result| result.level.code()).collect::<Vec<_>>().join(", ")
    };
    let satisfied = codes(|v| matches!(v, Verdict::Satisfied(_)));
    let undecided = codes(|v| matches!(v, Verdict::Undecided(_)));
    let violated = codes(|v| matches!(v, Verdict::Violated));
    let mut parts = Vec::new();
    for (codes, word) in
        [(satisfied, "satisfied"), (violated, "violated, without a listed violation"), (undecided, "undecided")]
    {
        if !codes.is_empty() {
            parts.push(format!("{codes}: {word}"));
        }
    }
    format!("No violation to explain. {}", parts.join("; "))
}

fn explain(
    history: &History,
    findings: &Findings,
    violation: &Violation,
    arguments: &ExplainArguments,
    control: &Control,
) -> String {
    let example = counterexample::minimize(history, violation, &control.with_time_limit(MINIMIZING));
    let explanation = counterexample::explain(&example).within(history, findings, violation);
    let mut text = match arguments.plain {
        true => narrate::plain_text(&example, &explanation, history),
        false => narrate::markdown(&example, &explanation, history),
    };
    if arguments.long {
        let control = control.with_time_limit(MINIMIZING);
        text += &match arguments.plain {
            true => counterexample::plain_text_at_length(&example, &explanation, &control),
            false => counterexample::markdown_at_length(&example, &explanation, &control),
        };
    }
    text
}
