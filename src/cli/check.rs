//! `isoscope check`: verdicts and anomalies of histories, for people or as JSON.

use super::input;
use super::output::{Output, Paint};
use super::{CheckArguments, ExitCode, complain};
use crate::checkers::{self, Findings, Level, LevelResult, Options, Pattern, Verdict};
use crate::control::Control;
use crate::counterexample::{summary, title};
use crate::formats::{self, Found, OpenError};
use crate::history::{History, Outcome};
use crate::report::grouped;
use crate::report::{self, Document, Failure, Report, Settings};
use anyhow::Context;
use std::path::Path;
use std::time::Duration;

/// Most violations shown to people, over all patterns.
const SHOWN: usize = 8;

pub(super) fn run(arguments: &CheckArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    if let Some(name) = &arguments.reading.format {
        input::known_format(name)?;
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads.map_or(0, usize::from))
        .build()
        .context("threads cannot be started")?;
    let files = formats::histories(&arguments.paths, &Control::new())?;
    let is_batch = files.len() > 1;
    let width = files.iter().map(|found| shown_path(found).chars().count()).max().unwrap_or(0).min(60);
    let mut worst = ExitCode::Satisfied;
    for found in &files {
        let code = match found {
            Found::History(path) => match pool.install(|| check_file(path, arguments)) {
                Ok(checked) => {
                    print(path, &checked, arguments, is_batch.then_some(width), out);
                    exit_code(&checked.findings)
                }
                Err(error) => {
                    let (place, message) = (error.place(), error.message());
                    fail(&path.to_string_lossy(), &place, &message, arguments.json, out)
                }
            },
            Found::Unusable { path, message } => fail(&path.to_string_lossy(), "file", message, arguments.json, out),
        };
        worst = worst.max(code);
    }
    Ok(worst)
}

fn shown_path(found: &Found) -> String {
    match found {
        Found::History(path) | Found::Unusable { path, .. } => path.display().to_string(),
    }
}

/// Says that an input cannot be read.
fn fail(path: &str, place: &str, message: &str, json: bool, out: &mut Output) -> ExitCode {
    let at = if place == "file" { String::new() } else { format!(" {place}:") };
    complain(&format!("{path}:{at} {message}"));
    if json {
        let failure = Document::Failure(Failure::new(path, place, message));
        out.with(|out| report::to_line(&failure, out));
    }
    ExitCode::Unusable
}

/// A history with what was found in it.
struct Checked {
    history: History,
    findings: Findings,
    read_seconds: f64,
}

/// Reads and checks one history.
fn check_file(path: &Path, arguments: &CheckArguments) -> Result<Checked, OpenError> {
    let (history, read_seconds) = input::open(path, &arguments.reading)?;
    let control = match arguments.time_limit {
        Some(seconds) => Control::new().with_time_limit(Duration::from_secs_f64(seconds)),
        None => Control::new(),
    };
    let findings = checkers::check(&history, &options(arguments, &history), &control, &|_| {});
    Ok(Checked { history, findings, read_seconds })
}

/// Prints what was found in one history: in one line with this path width, or at length.
fn print(path: &Path, checked: &Checked, arguments: &CheckArguments, line_width: Option<usize>, out: &mut Output) {
    let Checked { history, findings, read_seconds } = checked;
    let path = path.display().to_string();
    if arguments.json {
        let settings = Settings { read_seconds: *read_seconds, witness: arguments.witness };
        let document = Document::Report(Box::new(Report::new(history, findings, settings)));
        out.with(|out| report::to_line(&document, out));
    } else if let Some(width) = line_width {
        out.text(&line(&path, width, findings, out));
    } else {
        out.text(&page(&path, history, findings, out));
    }
}

fn options(arguments: &CheckArguments, history: &History) -> Options {
    let mut levels = Vec::new();
    for &level in &arguments.level {
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    if levels.is_empty() {
        levels = Level::WITHOUT_TIMES.to_vec();
        if history.has_times() {
            levels.push(Level::StrictSerializability);
        }
    }
    Options { levels, max_instances: arguments.max_instances }
}

/// What the verdicts amount to.
pub(super) fn exit_code(findings: &Findings) -> ExitCode {
    let code = |result: &LevelResult| match result.verdict {
        Verdict::Satisfied(_) => ExitCode::Satisfied,
        Verdict::Violated => ExitCode::Violated,
        Verdict::Undecided(_) => ExitCode::Undecided,
    };
    findings.levels.iter().map(code).max().unwrap_or(ExitCode::Satisfied)
}

fn paint_of(verdict: &Verdict) -> Paint {
    match verdict {
        Verdict::Satisfied(_) => Paint::Good,
        Verdict::Violated => Paint::Bad,
        Verdict::Undecided(_) => Paint::Open,
    }
}

/// Pattern ids with counts, in the order of the table.
fn counts(findings: &Findings) -> Vec<(Pattern, u64)> {
    Pattern::all().filter_map(|p| findings.patterns.get(&p).map(|&n| (p, n))).filter(|(_, n)| *n > 0).collect()
}

/// One history in one line.
fn line(path: &str, width: usize, findings: &Findings, out: &Output) -> String {
    let verdicts = findings.levels.iter().map(|result| {
        let mark = match result.verdict {
            Verdict::Satisfied(_) => '+',
            Verdict::Violated => '-',
            Verdict::Undecided(_) => '?',
        };
        out.paint(paint_of(&result.verdict), &format!("{}{mark}", result.level))
    });
    let counts: Vec<String> = counts(findings).into_iter().map(|(p, n)| format!("{p} {}", grouped(n))).collect();
    let patterns = if counts.is_empty() { String::new() } else { format!("  {}", counts.join(", ")) };
    format!("{path:width$}  {}{patterns}\n", verdicts.collect::<Vec<_>>().join(" "))
}

/// One history at length.
fn page(path: &str, history: &History, findings: &Findings, out: &Output) -> String {
    let mut text = format!("{}  {}\n\n", out.paint(Paint::Strong, path), out.paint(Paint::Faint, &facts(history)));
    for result in &findings.levels {
        text += &level_line(result, out);
    }
    let counts = counts(findings);
    if !counts.is_empty() {
        text += &format!("\n{}\n", out.paint(Paint::Strong, "Anomalies"));
        let id_width = counts.iter().map(|(p, _)| p.id().len()).max().unwrap_or(0);
        let count_width = counts.iter().map(|(_, n)| grouped(*n).len()).max().unwrap_or(0);
        for (pattern, n) in counts {
            let row = pattern.row();
            let (id, n) = (row.id, grouped(n));
            text += &format!("  {id:id_width$}  {n:>count_width$}  {}: {}\n", row.title, row.meaning);
        }
    }
    text += &violations(path, history, findings, out);
    for assumption in &findings.assumptions {
        text += &format!("\n{} {assumption}\n", out.paint(Paint::Faint, "Assumed:"));
    }
    text
}

fn facts(history: &History) -> String {
    let n = |n: usize, what: &str| format!("{} {what}{}", grouped(n as u64), if n == 1 { "" } else { "s" });
    let with = |outcome| history.transactions().filter(|&t| history.outcome(t) == outcome).count();
    let mut parts = vec![
        history.origin().format.to_owned(),
        n(history.n_sessions(), "session"),
        n(history.n_transactions(), "transaction"),
        n(history.n_operations(), "operation"),
        n(history.n_keys(), "key"),
    ];
    for (outcome, word) in [(Outcome::Aborted, "aborted"), (Outcome::Unknown, "of unknown outcome")] {
        match with(outcome) {
            0 => {}
            n => parts.push(format!("{} {word}", grouped(n as u64))),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn level_line(result: &LevelResult, out: &Output) -> String {
    let word = result.verdict.word();
    let painted = out.paint(paint_of(&result.verdict), &format!("{word:9}"));
    let reason = match &result.verdict {
        Verdict::Undecided(cause) => format!("  ({cause})"),
        _ => String::new(),
    };
    let name = result.level.long_name();
    format!("  {:4}  {painted}  {}{reason}\n", result.level.code(), out.paint(Paint::Faint, name))
}

/// The first violations of each pattern, weakest level first, and how to see more.
fn violations(path: &str, history: &History, findings: &Findings, out: &Output) -> String {
    let mut chosen: Vec<_> = findings.violations.iter().collect();
    // The first of every pattern, then the second of every pattern, …
    chosen.sort_by_key(|v| (v.id.ordinal, v.levels.weakest(), v.id.pattern));
    chosen.truncate(SHOWN);
    let Some(first) = chosen.first() else { return String::new() };
    let mut text = format!("\n{}\n", out.paint(Paint::Strong, "Violations"));
    let example = first.id;
    chosen.sort_by_key(|v| (v.levels.weakest(), v.id));
    let width = chosen.iter().map(|v| v.id.to_string().len()).max().unwrap_or(0);
    for violation in &chosen {
        let level = violation.levels.weakest().map_or("", Level::code);
        let id = violation.id.to_string();
        text += &format!("  {id:width$}  {level:3}  {}\n", title(history, violation));
        text += &format!("  {:width$}       {}\n", "", out.paint(Paint::Faint, &summary(history, violation)));
    }
    let all: u64 = findings.patterns.values().sum();
    if all > chosen.len() as u64 {
        text += &format!("  and {} more\n", grouped(all - chosen.len() as u64));
    }
    let quoted = if path.contains(char::is_whitespace) { format!("'{path}'") } else { path.to_owned() };
    text += &format!("\nisoscope explain {quoted} --violation {example}   says why\n");
    text
}
