//! What `check` prints of a history as text.

use super::Checked;
use crate::audit::{Example, Examples};
use crate::checkers::lattice::{holds, strongest_satisfied};
use crate::checkers::{Cause, Checker, Findings, Level, LevelResult, Pattern, Verdict, Violation};
use crate::cli::explain::also_visible_as;
use crate::cli::output::{Output, Paint, code_width, codes};
use crate::cli::{claims, paging};
use crate::control::Control;
use crate::counterexample::{causes_and_patterns, n_causes};
use crate::health::{Health, Severity};
use crate::history::{Fact, History, OperationId, Shown, Spot, Unit, visible};
use crate::report::{FactEntry, Tally, WorkloadEntry, grouped};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Maximum number of violations shown in text output, over all patterns.
const SHOWN: usize = 8;

/// How long all of them together may be minimized.
const MINIMIZING_ALL: Duration = Duration::from_secs(1);

/// Maximum number of rows shown of what instances have in common.
const SHOWN_IN_COMMON: usize = 20;

/// Maximum number of findings about the history's health shown before the verdicts.
const SHOWN_DOUBTS: usize = 4;

/// Ids of patterns with what they mean and counts, in the order of the table.
fn counts(findings: &Findings) -> Vec<(&'static str, String, u64)> {
    let patterns = findings
        .published_patterns
        .as_ref()
        .unwrap_or(&findings.patterns);
    let ours = Pattern::all().filter_map(|pattern| {
        let row = pattern.row();
        Some((
            row.id,
            format!("{}: {}", row.title, row.meaning),
            *patterns.get(&pattern)?,
        ))
    });
    let c4 = findings
        .c4_patterns
        .iter()
        .map(|(pattern, &n)| (pattern.id(), pattern.meaning().to_owned(), n));
    ours.chain(c4).filter(|(.., n)| *n > 0).collect()
}

/// One history in one line.
pub(super) fn line(path: &str, width: usize, checked: &Checked, out: &Output) -> String {
    let Checked {
        history, findings, ..
    } = checked;
    let verdicts = findings.levels.iter().map(|result| {
        let mark = match result.verdict {
            Verdict::Satisfied(_) => '+',
            Verdict::Violated => '-',
            Verdict::Undecided(_) => '?',
        };
        // A star: the verdict rests on an assumption that the full report names.
        let condition = if result.is_conditional() { "*" } else { "" };
        out.paint(
            Paint::of((&result.verdict).into()),
            &format!("{}{mark}{condition}", result.level),
        )
    });
    let of_patterns = counts(findings).into_iter();
    let of_patterns = of_patterns.map(|(id, _, n)| format!("{id} {}", grouped(n)));
    let counts: Vec<String> = broken_rules(history)
        .into_iter()
        .chain(of_patterns)
        .collect();
    let patterns = if counts.is_empty() {
        String::new()
    } else {
        format!("  {}", counts.join(", "))
    };
    // One is its own cause.
    let causes = (findings.violations.len() > 1).then(|| {
        let n_causes = n_causes(history, &findings.violations);
        format!(" ({})", causes_and_patterns(findings, n_causes))
    });
    let causes = causes.unwrap_or_default();
    format!(
        "{path:width$}  {}{patterns}{causes}\n",
        verdicts.collect::<Vec<_>>().join(" ")
    )
}

/// The first part of the report on one history: what it is, whether it can be trusted, and the verdicts.
pub(super) fn head(path: &str, checked: &Checked, out: &Output) -> String {
    let Checked {
        history,
        health,
        findings,
        ..
    } = checked;
    let mut facts = facts(history);
    if findings.checker != Checker::Fast {
        facts += &format!(" · checked by {}", findings.checker);
    }
    let mut text = format!(
        "{}  {}\n\n",
        out.paint(Paint::Strong, path),
        out.paint(Paint::Faint, &facts)
    );
    text += &about(history, out);
    text += &workload(history, out);
    text += &doubts(path, health, out);
    // What is not decided for want of items is said above.
    let has_items = history
        .workload()
        .is_none_or(|workload| workload.has_items());
    let is_told =
        |result: &&LevelResult| has_items || !matches!(result.verdict, Verdict::Undecided(_));
    for result in findings.levels.iter().filter(is_told) {
        text += &level_line(history, result, code_width(findings), out);
    }
    text += &without_sessions(findings);
    text += &strongest(findings, out);
    text += &not_decided(findings);
    text + &claims::in_files(history, findings, out)
}

/// "Without session order, P-RA and P-SI hold." of levels that are violated.
fn without_sessions(findings: &Findings) -> String {
    let others: Vec<&LevelResult> = findings.others.iter().flatten().collect();
    let violated = findings
        .levels
        .iter()
        .filter(|result| result.verdict == Verdict::Violated);
    let plain = violated.filter_map(|result| result.level.plain_form());
    let held: Vec<&str> = plain
        .filter(|plain| holds(&others, *plain) == Some(true))
        .map(Level::code)
        .collect();
    match held.split_last() {
        None => String::new(),
        Some((only, [])) => format!("\nWithout session order, {only} holds.\n"),
        Some((last, rest)) => format!(
            "\nWithout session order, {} and {last} hold.\n",
            rest.join(", ")
        ),
    }
}

/// The levels on other orders for which there was too little time, and how to ask for them.
fn not_decided(findings: &Findings) -> String {
    let is_cut =
        |result: &&LevelResult| matches!(result.verdict, Verdict::Undecided(Cause::Interrupted(_)));
    let cut = findings.others.iter().flatten().filter(is_cut);
    let codes: Vec<&str> = cut.map(|result| result.level.code()).collect();
    if codes.is_empty() {
        String::new()
    } else {
        format!(
            "\nNot decided in the time for other orders: {}; --level decides them\n",
            codes.join(",")
        )
    }
}

/// The strongest levels that hold, where they are others than the usual ones or these were not the only ones asked for.
fn strongest(findings: &Findings, out: &Output) -> String {
    let holds = strongest_satisfied(findings.verdicts());
    let is_usual = |level: Level| level.row().usual;
    match findings
        .levels
        .iter()
        .map(|result| result.level)
        .chain(holds.iter().copied())
        .all(is_usual)
    {
        true => String::new(),
        false if holds.is_empty() => String::new(),
        false => format!(
            "\n{}  {}\n",
            out.paint(Paint::Strong, "Strongest checked that hold"),
            codes(holds)
        ),
    }
}

/// What accompanying files say about the history.
fn about(history: &History, out: &Output) -> String {
    let lines: Vec<String> = history
        .origin()
        .about
        .iter()
        .map(|line| format!("  {}\n", out.paint(Paint::Faint, line)))
        .collect();
    if lines.is_empty() {
        String::new()
    } else {
        lines.concat() + "\n"
    }
}

/// The findings that a rule of the workload calls invalid: `bank/wrong-total 2`.
fn broken_rules(history: &History) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let findings = WorkloadEntry::of(history).map_or_else(Vec::new, |workload| workload.findings);
    for finding in findings.iter().filter(|finding| finding.invalid) {
        let kind = finding.id.rsplit_once('/').map_or("", |(kind, _)| kind);
        *counts.entry(kind.to_owned()).or_default() += 1;
    }
    let counts = counts.into_iter();
    counts
        .map(|(kind, n)| format!("{kind} {}", grouped(n)))
        .collect()
}

/// What the rules of the workload say, what counts first.
fn workload(history: &History, out: &Output) -> String {
    let Some(workload) = WorkloadEntry::of(history) else {
        return String::new();
    };
    let facts = history
        .workload()
        .map_or(&[][..], |workload| &workload.facts);
    let mut findings: Vec<(&FactEntry, &Fact)> = workload.findings.iter().zip(facts).collect();
    findings.sort_by_key(|(finding, _)| !finding.invalid);
    let mut text = String::new();
    let width = findings
        .iter()
        .map(|(finding, _)| finding.id.len())
        .max()
        .unwrap_or(0);
    for (finding, fact) in findings.iter().take(SHOWN) {
        let paint = if finding.invalid {
            Paint::Bad
        } else {
            Paint::Faint
        };
        let id = out.paint(paint, &format!("{:width$}", finding.id));
        let key = finding
            .key
            .as_ref()
            .map_or_else(String::new, |key| format!("in key {}, ", visible(key)));
        let named = |call: &Shown| {
            let transaction = call.transaction;
            let line = history.operations_of(transaction).next();
            let line = line.map_or_else(String::new, |first| {
                format!(" line {}", history.line_of(first))
            });
            format!("{}{line}", history.transaction_name(transaction))
        };
        let by: Vec<String> = fact.calls.iter().map(named).collect();
        let by = match by.is_empty() {
            true => String::new(),
            false => format!(" ({})", by.join(", ")),
        };
        text += &format!("  {id}  {key}{}{by}\n", visible(&finding.statement));
    }
    if findings.len() > SHOWN {
        text += &format!("  … and {} more: --json has all\n", findings.len() - SHOWN);
    }
    let answers = workload.like_jepsen.iter();
    let answers: Vec<String> = answers
        .map(|(rule, word)| format!("{rule} {word}"))
        .collect();
    if !answers.is_empty() {
        text += &format!(
            "  by the rules of Jepsen's checkers the whole log is: {}\n",
            answers.join(", ")
        );
    }
    let undecided = history.workload().and_then(|workload| workload.undecided());
    if let Some(undecided) = undecided {
        text += &format!("  {undecided}\n");
    }
    // A log of registers is what it looks like.
    match text.is_empty() && workload.name == "register" {
        true => text,
        false => format!(
            "{}\n{text}\n",
            out.paint(Paint::Strong, &format!("Workload {}", workload.name))
        ),
    }
}

/// What violates the levels, and the assumptions.
pub(super) fn tail(path: &str, checked: &Checked, out: &Output) -> String {
    let Checked {
        history, findings, ..
    } = checked;
    let mut text = String::new();
    let counts = counts(findings);
    if !counts.is_empty() {
        let bound = if findings.cut.is_some() {
            "at least "
        } else {
            ""
        };
        let heading = match findings.published_patterns {
            Some(_) => "Anomalies, as Plume's published program counts them",
            None => "Anomalies",
        };
        text += &format!("\n{}\n", out.paint(Paint::Strong, heading));
        let id_width = counts.iter().map(|(id, ..)| id.len()).max().unwrap_or(0);
        let count_width = counts
            .iter()
            .map(|(.., n)| grouped(*n).len())
            .max()
            .unwrap_or(0);
        for (id, meaning, n) in counts {
            text += &format!(
                "  {id:id_width$}  {bound}{:>count_width$}  {meaning}\n",
                grouped(n)
            );
        }
    }
    if let Some(tally) = &checked.tally {
        text += &common(tally, out);
    }
    text += &match checked.window {
        Some(window) => paging::text(history, findings, window, out),
        None => violations("Violations", path, history, findings, &checked.control, out),
    };
    for assumption in &findings.assumptions {
        text += &format!("\n{} {assumption}\n", out.paint(Paint::Faint, "Assumed:"));
    }
    text
}

/// What most instances have in common.
fn common(tally: &Tally, out: &Output) -> String {
    let bound = if tally.is_cut { "at least " } else { "" };
    let mut text = format!(
        "\n{}\n",
        out.paint(Paint::Strong, &format!("Anomalies by {}", tally.by))
    );
    let shown = &tally.rows[..tally.rows.len().min(SHOWN_IN_COMMON)];
    let width = shown
        .iter()
        .map(|row| row.name.chars().count())
        .max()
        .unwrap_or(0);
    let count_width = shown
        .iter()
        .map(|row| grouped(row.instances).len())
        .max()
        .unwrap_or(0);
    for row in shown {
        let of_patterns: Vec<String> = row
            .patterns
            .iter()
            .map(|(id, n)| format!("{id} {}", grouped(*n)))
            .collect();
        let (name, instances, patterns) =
            (&row.name, grouped(row.instances), of_patterns.join(", "));
        text += &format!(
            "  {name:width$}  {bound}{instances:>count_width$}  {}\n",
            out.paint(Paint::Faint, &patterns)
        );
    }
    let others = &tally.rows[shown.len()..];
    if !others.is_empty() {
        let instances = grouped(others.iter().map(|row| row.instances).sum());
        let n = grouped(others.len() as u64);
        text += &format!(
            "  and {n} more rows with {bound}{instances} instances; --json lists them all\n"
        );
    }
    text
}

/// What casts doubt on the verdicts that follow, if anything does.
fn doubts(path: &str, health: &Health, out: &Output) -> String {
    let n = health.doubts().count();
    if n == 0 {
        return String::new();
    }
    let mut text = format!(
        "{}\n",
        out.paint(Paint::Strong, "Can the history be trusted?")
    );
    for finding in health.doubts().take(SHOWN_DOUBTS) {
        let paint = if finding.severity == Severity::Warning {
            Paint::Bad
        } else {
            Paint::Open
        };
        text += &format!(
            "  {}  {}\n",
            out.paint(paint, finding.severity.word()),
            finding.text
        );
    }
    if n > SHOWN_DOUBTS {
        text += &format!(
            "  and {} more: isoscope stats {}\n",
            n - SHOWN_DOUBTS,
            quoted(path)
        );
    }
    text + "\n"
}

/// A path quoted for a shell.
fn quoted(path: &str) -> String {
    if path.contains(char::is_whitespace) {
        format!("'{path}'")
    } else {
        path.to_owned()
    }
}

fn facts(history: &History) -> String {
    let n = |n: usize, what: &str| {
        format!(
            "{} {what}{}",
            grouped(n as u64),
            if n == 1 { "" } else { "s" }
        )
    };
    let figures = history.recorded();
    let mut parts = vec![
        history.origin().format.to_owned(),
        n(figures.sessions, "session"),
        n(figures.transactions, "transaction"),
        n(figures.operations, "operation"),
        n(figures.keys, "key"),
    ];
    for (number, word) in [
        (figures.aborted, "aborted"),
        (figures.unknown, "of unknown outcome"),
    ] {
        if number > 0 {
            parts.push(format!("{} {word}", grouped(number as u64)));
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn level_line(history: &History, result: &LevelResult, width: usize, out: &Output) -> String {
    let word = result.verdict.word();
    let painted = out.paint(Paint::of((&result.verdict).into()), &format!("{word:9}"));
    let reason = match &result.verdict {
        Verdict::Undecided(cause) => format!("  ({cause})"),
        _ => result
            .condition(history)
            .map_or(String::new(), |condition| format!("  (if {condition})")),
    };
    // Elle's keyword for a plain level is the name of another level here.
    let by_elle = result
        .level
        .row()
        .elle
        .first()
        .filter(|_| result.level.plain_of().is_some());
    let by_elle = by_elle
        .map(|keyword| format!(" (Elle's :{keyword})"))
        .unwrap_or_default();
    let name = format!("{}{by_elle}", result.level.long_name());
    format!(
        "  {:width$}  {painted}  {}{reason}\n",
        result.level.code(),
        out.paint(Paint::Faint, &name)
    )
}

/// The first violations of each pattern that contain no simpler one, weakest level first, and how to see more.
pub(super) fn violations(
    heading: &str,
    path: &str,
    history: &History,
    findings: &Findings,
    control: &Control,
    out: &Output,
) -> String {
    let examples = Examples::new(history, findings);
    let simpler = examples.simpler_ones();
    let mut nth: BTreeMap<Pattern, u32> = BTreeMap::new();
    let mut ranked: Vec<(u32, usize, &Violation)> = Vec::new();
    for (place, violation) in findings
        .violations
        .iter()
        .enumerate()
        .filter(|(place, _)| simpler[*place].is_none())
    {
        let n = nth.entry(violation.id.pattern).or_default();
        *n += 1;
        ranked.push((*n, place, violation));
    }
    // The first of every pattern, then the second of every pattern, …
    ranked.sort_by_key(|(n, _, violation)| (*n, violation.level(), violation.id.pattern));
    let n_causes = ranked.len();
    let control = control.overtime().with_time_limit(MINIMIZING_ALL);
    let shown = ranked.into_iter().take(SHOWN);
    let mut chosen: Vec<(usize, Example)> = shown
        .map(|(_, place, violation)| (place, examples.of_row(violation, &control)))
        .collect();
    let Some((_, first)) = chosen.first() else {
        return String::new();
    };
    let how_many = causes_and_patterns(findings, n_causes);
    let heading = out.paint(Paint::Strong, heading);
    let mut text = format!("\n{heading}  {}\n", out.paint(Paint::Faint, &how_many));
    let first = first.violation.id;
    chosen.sort_by_key(|(_, example)| (example.violation.level(), example.violation.id));
    let width = chosen
        .iter()
        .map(|(_, example)| example.violation.id.to_string().len())
        .max()
        .unwrap_or(0);
    let levels = chosen
        .iter()
        .filter_map(|(_, example)| example.violation.level());
    let codes = levels.map(|level| level.code().len()).fold(3, usize::max);
    for (
        place,
        Example {
            violation,
            counterexample,
            explanation,
        },
    ) in &chosen
    {
        let level = violation.level().map_or("", Level::code);
        let id = violation.id.to_string();
        text += &format!("  {id:width$}  {level:codes$}  {}\n", explanation.title);
        let summary = explanation.summary.to_string();
        let told_by = explanation.told_by.as_ref();
        let told_by = told_by.map(|simplest| format!("Explained more simply by {simplest}."));
        let lines = lines(&counterexample.history);
        let also = also_visible_as(*place, findings, simpler).map(|also| format!("{also}."));
        for line in [Some(summary), told_by, lines, also].into_iter().flatten() {
            text += &format!(
                "  {:width$}  {:codes$}  {}\n",
                "",
                "",
                out.paint(Paint::Faint, &line)
            );
        }
    }
    text += &how_many_more(n_causes, chosen.len());
    if findings.is_counted() {
        let asked = asked_again(history, findings);
        text += &format!(
            "\nisoscope explain {} --violation {first}{asked}   says why\n",
            quoted(path)
        );
    }
    text
}

/// Where in the file the operations of a counterexample are: "At lines 12 and 34.".
fn lines(example: &History) -> Option<String> {
    const MOST: usize = 8;
    // Where bytes are helps no reader.
    if example.origin().unit == Unit::Byte {
        return None;
    }
    let spots = (0..example.n_operations()).filter_map(|o| example.spot_of(OperationId::new(o)));
    let places: BTreeSet<(Option<u32>, u32)> = spots.map(|spot| (spot.part, spot.number)).collect();
    let left_out = places.len().saturating_sub(MOST);
    let unit = example.origin().unit;
    let shown: Vec<(Option<u32>, u32)> = places.into_iter().take(MOST).collect();
    let mut said: Vec<String> = if shown.len() > 1 && shown.iter().all(|(part, _)| part.is_none()) {
        // Of one file, the unit is said once.
        let numbers = shown.iter().map(|(_, number)| number);
        let mut said: Vec<String> = numbers.map(|number| number.to_string()).collect();
        said[0] = format!("lines {}", said[0]);
        said
    } else {
        let spot = |(part, number)| {
            let within = 0;
            Spot {
                part,
                unit,
                number,
                within,
            }
            .text(example.origin())
        };
        shown.into_iter().map(spot).collect()
    };
    if left_out > 0 {
        said.push(format!("{left_out} more"));
    }
    let last = said.pop()?;
    let text = if said.is_empty() {
        last
    } else {
        format!("{} and {last}", said.join(", "))
    };
    Some(format!("At {text}."))
}

/// What asks for the same violations again: the levels, where others were asked for than those that apply.
fn asked_again(history: &History, findings: &Findings) -> String {
    let mut levels = findings.levels.iter().map(|result| result.level);
    let applies = Level::of(history);
    if levels.any(|level| !level.row().usual && !applies.contains(&level)) {
        let codes: Vec<&str> = findings
            .levels
            .iter()
            .map(|result| result.level.code())
            .collect();
        format!(" --level {}", codes.join(","))
    } else {
        String::new()
    }
}

/// How many causes are not shown.
fn how_many_more(n_causes: usize, shown: usize) -> String {
    match n_causes.saturating_sub(shown) {
        0 => String::new(),
        1 => "  and 1 more cause\n".to_owned(),
        n => format!("  and {} more causes\n", grouped(n as u64)),
    }
}
