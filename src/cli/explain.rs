//! `isoscope explain`: violations in words, or why a level holds.

use super::args::AskedArguments;
use super::export::shown;
use super::output::{Output, codes_of, quoted};
use super::self_check::SelfCheck;
use super::{ExitCode, ExplainArguments, MINIMIZING, disagreements, input, paging, witnesses};
use crate::audit::{self, Example, Examples};
use crate::checkers::{Findings, Level, Options, Pattern, Verdict, Violation, ViolationName};
use crate::control::Control;
use crate::counterexample::{self, narrate};
use crate::document;
use crate::formats::fields::{self, Fields};
use crate::history::{History, TransactionId};
use crate::report::{VerdictWord, grouped};
use crate::workload;
use anyhow::Context;
use std::collections::BTreeSet;
use std::path::Path;

pub(super) fn run(arguments: &ExplainArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let control = arguments.asked.limits.control();
    let (history, _) = input::open(&arguments.file, &arguments.asked.reading, &control)?;
    let history = history.tested_as(arguments.asked.tested.said.as_deref());
    let name = arguments.violation.as_ref();
    if let Some(place) = finding(&history, name) {
        out.text(&rules(&history, Some(place), arguments.plain));
        let fact = history
            .workload()
            .and_then(|workload| workload.facts.get(place));
        let calls = fact.iter().flat_map(|fact| &fact.calls);
        let transactions: Vec<TransactionId> = calls.map(|call| call.transaction).collect();
        out.text(&also_in_the_log(
            &history,
            &transactions,
            arguments,
            &control,
        ));
        return Ok(ExitCode::Satisfied);
    }
    let (mut findings, code) = checked(&history, &arguments.file, name, &arguments.asked, &control);
    // What was found in time is reported.
    let control = control.overtime();
    let chosen = choose(arguments, &history, &mut findings, &control)?;
    let of_rules = match arguments.violation {
        None => rules(&history, None, arguments.plain),
        Some(_) => String::new(),
    };
    if !of_rules.is_empty() {
        let gap = if chosen.is_empty() { "" } else { "\n" };
        out.text(&format!("{of_rules}{gap}"));
    }
    if chosen.is_empty() {
        let passes = witnesses::explained(
            &history,
            &findings,
            (arguments.plain, arguments.long),
            &control,
        )?;
        let has_told = !of_rules.is_empty() && passes.is_none();
        let otherwise = || format!("{}\n", nothing_to_explain(&findings));
        if !has_told {
            out.text(&passes.unwrap_or_else(otherwise));
        }
    }
    let examples = Examples::new(&history, &findings);
    // Several violations may be shown as the same simpler one, which names them.
    let mut explained = BTreeSet::new();
    for (place, violation) in chosen.iter().enumerate() {
        if let Err(interrupt) = control.check()
            && place > 0
        {
            super::complain(&format!(
                "{interrupt}: {} of {} violations are explained",
                place,
                chosen.len()
            ));
            break;
        }
        let control = control.with_time_limit(MINIMIZING);
        let example = shown(&examples, violation, &arguments.violation, &control);
        let is_first = explained.is_empty();
        if !explained.insert(example.violation.id) {
            continue;
        }
        let mut text = explain(&history, &example, arguments, &control);
        let transactions = &example.counterexample.renaming.transactions;
        text += &also_in_the_log(&history, transactions, arguments, &control);
        if let Some(relatives) = relatives(&example.violation, &findings, examples.simpler_ones()) {
            text = format!("{relatives}\n\n{text}");
        }
        let name = example.violation.id;
        let heading = if arguments.plain {
            format!("{name}\n")
        } else {
            format!("# {name}\n\n")
        };
        out.text(&format!(
            "{}{heading}{text}",
            if is_first { "" } else { "\n" }
        ));
    }
    if !arguments.all && !arguments.witness && arguments.violation.is_none() {
        let left = findings.patterns.values().sum::<u64>() - chosen.len() as u64;
        if left > 0 {
            super::complain(&format!(
                "{left} more of the same patterns: --all explains those listed, --violation ID one of them"
            ));
        }
    }
    Ok(code)
}

/// What is found in a history, and an exit code that says whether the verifier accepts that. The levels include that of
/// the violation with this name.
pub(super) fn checked(
    history: &History,
    path: &Path,
    name: Option<&ViolationName>,
    asked: &AskedArguments,
    control: &Control,
) -> (Findings, ExitCode) {
    let findings = audit::check(history, &options(history, name, asked), control, &|_| {});
    let code = disagreements::reported(path, &findings, ExitCode::Satisfied);
    (findings, code)
}

/// What to look for, so that a violation with this name is found.
pub(super) fn options(
    history: &History,
    name: Option<&ViolationName>,
    asked: &AskedArguments,
) -> Options {
    let (levels, max_instances) = (
        levels_of(history, name, asked),
        paging::causes(asked.max_instances),
    );
    Options {
        levels,
        max_instances,
        ..Options::default()
    }
}

/// The levels that a violation with this name is looked for at: those asked for, else the usual ones, and that of the pattern
/// where only it has the pattern.
fn levels_of(
    history: &History,
    name: Option<&ViolationName>,
    asked: &AskedArguments,
) -> Vec<Level> {
    if !asked.level.is_empty() {
        return asked.level.clone();
    }
    let mut levels = Level::of(history);
    let of_pattern = name
        .and_then(|name| Pattern::parse(&name.name))
        .map(|pattern| pattern.row().level);
    if let Some(level) = of_pattern.filter(|level| !level.row().usual) {
        levels.extend(level.plain_form().into_iter().chain([level]));
        levels.sort_unstable();
    }
    levels
}

/// The violations to explain: one by its id, all, or the first of each pattern and of each violated level; none if a level
/// that holds is.
fn choose(
    arguments: &ExplainArguments,
    history: &History,
    findings: &mut Findings,
    control: &Control,
) -> anyhow::Result<Vec<Violation>> {
    if arguments.witness {
        witnesses::strongest(findings).with_context(|| arguments.file.display().to_string())?;
        return Ok(Vec::new());
    }
    if let Some(name) = &arguments.violation {
        return Ok(vec![named(
            name,
            history,
            findings,
            &arguments.file,
            control,
        )?]);
    }
    paging::list(
        history,
        findings,
        arguments.asked.max_instances,
        SelfCheck::OfVerdicts,
        control,
    );
    let mut chosen: Vec<Violation> = findings
        .violations
        .iter()
        .filter(|v| arguments.all || v.id.ordinal == 1)
        .cloned()
        .collect();
    for level in findings
        .levels
        .iter()
        .filter(|found| found.verdict == Verdict::Violated)
        .map(|found| found.level)
    {
        let mut of_level = findings
            .violations
            .iter()
            .filter(|v| v.levels.contains(level));
        if !chosen.iter().any(|v| v.levels.contains(level)) {
            chosen.extend(of_level.next().cloned());
        }
    }
    chosen.sort_by_key(|v| (v.level(), v.id));
    Ok(chosen)
}

/// Which others contain a violation.
fn relatives(
    violation: &Violation,
    findings: &Findings,
    simpler: &[Option<usize>],
) -> Option<String> {
    let place = findings
        .violations
        .iter()
        .position(|other| other.id == violation.id)?;
    also_visible_as(place, findings, simpler).map(|also| format!("{also}."))
}

/// "Also visible as TAP-n/1, TAP-n/2 and 3 more": the violations that contain the one at an index.
pub(super) fn also_visible_as(
    place: usize,
    findings: &Findings,
    simpler: &[Option<usize>],
) -> Option<String> {
    const NAMED: usize = 3;
    let containing = findings
        .violations
        .iter()
        .zip(simpler)
        .filter(|(_, simpler)| **simpler == Some(place));
    let ids: Vec<String> = containing
        .map(|(violation, _)| violation.id.to_string())
        .collect();
    let more = ids.len().saturating_sub(NAMED);
    let named = ids[..ids.len().min(NAMED)].join(", ");
    match (ids.is_empty(), more) {
        (true, _) => None,
        (_, 0) => Some(format!("Also visible as {named}")),
        _ => Some(format!(
            "Also visible as {named} and {} more",
            grouped(more as u64)
        )),
    }
}

/// The violation that a user names, which need not be listed.
pub(super) fn named(
    name: &ViolationName,
    history: &History,
    findings: &mut Findings,
    path: &Path,
    control: &Control,
) -> anyhow::Result<Violation> {
    let violation = paging::named(name, history, findings, control);
    violation.with_context(|| format!("{}: {}", path.display(), unknown(name, history, findings)))
}

/// Most findings that the message for a name that does not exist names.
const MOST_NAMED: usize = 6;

/// The message for a name that does not exist.
fn unknown(name: &ViolationName, history: &History, findings: &Findings) -> String {
    let counted = |pattern: Pattern| {
        findings
            .patterns
            .get(&pattern)
            .copied()
            .filter(|count| *count > 0)
    };
    if let Some((pattern, last)) =
        Pattern::parse(&name.name).and_then(|pattern| Some((pattern, counted(pattern)?)))
    {
        return format!("there is no violation {name}, {pattern} goes up to {pattern}/{last}");
    }
    let mut patterns: Vec<&str> = findings
        .violations
        .iter()
        .map(|v| v.id.pattern.id())
        .collect();
    patterns.dedup();
    let ids = history
        .workload()
        .map_or_else(Vec::new, |workload| workload.ids());
    patterns.extend(ids.iter().map(String::as_str).take(MOST_NAMED));
    match patterns.as_slice() {
        [] => format!("there is no violation {name}, nor any other"),
        some => format!(
            "there is no violation {name}, expected one of {}",
            some.join(", ")
        ),
    }
}

/// What the rules of the workload find, what they call invalid first, or the finding at this place.
fn rules(history: &History, chosen: Option<usize>, plain: bool) -> String {
    let facts = history
        .workload()
        .map_or(&[][..], |workload| &workload.facts);
    let mut places: Vec<usize> = match chosen {
        Some(chosen) => vec![chosen],
        None => (0..facts.len()).collect(),
    };
    places.sort_by_key(|place| !facts[*place].counts);
    workload::text(history, places, plain)
}

/// The place of the finding of the workload's rules that has this name.
pub(super) fn finding(history: &History, name: Option<&ViolationName>) -> Option<usize> {
    let name = name?;
    history.workload()?.place_of(&name.name, name.ordinal)
}

/// What else the log says of transactions, and the commands that open the logs of their servers; empty if
/// there is neither.
fn also_in_the_log(
    history: &History,
    transactions: &[TransactionId],
    arguments: &ExplainArguments,
    control: &Control,
) -> String {
    let known = fields::of(history, transactions, control);
    let none = Fields::new();
    let mut lines = Vec::new();
    let mut transactions = transactions.to_vec();
    transactions.sort_unstable();
    transactions.dedup();
    for t in transactions.into_iter().filter(|t| !t.is_initial()) {
        let name = history.transaction_name(t);
        let of_it = known.get(&t).unwrap_or(&none);
        if !of_it.is_empty() {
            lines.push(format!("{name}: {}", fields::in_words(of_it)));
        }
        if let Some(template) = &arguments.open_log {
            lines.push(match fields::command(template, history, t, of_it) {
                Ok(words) => format!("{name}: {}", shell_words(&words)),
                Err(why) => format!("{name}: {why}"),
            });
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    if arguments.plain {
        let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
        return format!("\nAlso in the log\n{lines}");
    }
    let mut section = document::Document::default();
    section.heading(3, "Also in the log");
    let item = |line: String| vec![document::text(line)];
    let items = lines.into_iter().map(item).collect();
    section.blocks.push(document::Block::List(items));
    format!(
        "\n{}",
        document::markdown(&section, document::Reader::Anyone)
    )
}

/// A command as a user would type it.
fn shell_words(words: &[String]) -> String {
    let words = words.iter().map(|word| quoted(word));
    words.collect::<Vec<_>>().join(" ")
}

fn nothing_to_explain(findings: &Findings) -> String {
    let mut parts = Vec::new();
    for verdict in VerdictWord::ALL {
        let codes = codes_of(verdict, findings);
        let unlisted = if verdict == VerdictWord::Violated {
            ", without a listed violation"
        } else {
            ""
        };
        if !codes.is_empty() {
            parts.push(format!("{codes}: {verdict}{unlisted}"));
        }
    }
    format!("No violation to explain. {}", parts.join("; "))
}

fn explain(
    history: &History,
    example: &Example,
    arguments: &ExplainArguments,
    control: &Control,
) -> String {
    let Example {
        counterexample: example,
        explanation,
        ..
    } = example;
    let mut text = if arguments.plain {
        narrate::plain_text(example, explanation, history)
    } else {
        narrate::markdown(example, explanation, history)
    };
    if arguments.long {
        let control = control.with_time_limit(MINIMIZING);
        text += &if arguments.plain {
            counterexample::plain_text_at_length(example, explanation, &control)
        } else {
            counterexample::markdown_at_length(example, explanation, &control)
        };
    }
    text
}
