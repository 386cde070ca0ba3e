//! `isoscope verify`: a second opinion on the evidence in a report.

use super::output::{Output, Paint};
use super::{ExitCode, VerifyArguments, input, order};
use crate::checkers::Level;
use crate::control::Control;
use crate::formats;
use crate::report::{Document, Report};
use crate::verify;
use anyhow::Context;
use std::path::Path;

pub(super) fn run(arguments: &VerifyArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    if let Some(order) = &arguments.order {
        return order::verify(&arguments.file, order, &arguments.reading, out);
    }
    let report = arguments.report.as_deref().context("no report is given")?;
    let both = [arguments.file.as_path(), report]
        .iter()
        .all(|path| *path == Path::new("-"));
    anyhow::ensure!(
        !both,
        "standard input cannot be the history and the report, one of them has to be a file"
    );
    let control = arguments.limits.control();
    let report = report_on(report, &arguments.file, &control)?;
    let (format, rules) = arguments
        .reading
        .or(&report.rules().map_err(anyhow::Error::msg)?);
    let (history, _) = input::open_by(&arguments.file, format, &rules, &control)?;
    match verify::verify_within(&history, &report, &control) {
        Ok(verified) => {
            let mut text = String::new();
            let mut row = |name: &str, values: String, note: &str| {
                if !values.is_empty() {
                    text += &format!("{name:18}{values}{note}\n");
                }
            };
            let codes = |levels: &[Level]| {
                let codes: Vec<&str> = levels.iter().map(|level| level.code()).collect();
                codes.join(", ")
            };
            row(
                "satisfied",
                codes(&verified.satisfied),
                " (every read replayed)",
            );
            row(
                "violated",
                codes(&verified.violated),
                match verified.violations {
                    0 => " (no order explains all answers)",
                    _ => " (each shown by a violation below)",
                },
            );
            row(
                "violations",
                format!("{} confirmed", verified.violations),
                "",
            );
            row("without evidence", verified.without_evidence.join(", "), "");
            let is_known = verified.without_evidence.is_empty() && verified.ended.is_none();
            text += &match verified.ended {
                Some(interrupt) => {
                    let said =
                        format!("the evidence that was checked holds, not all was ({interrupt})");
                    format!("{}\n", out.paint(Paint::Open, &said))
                }
                None if is_known => format!("{}\n", out.paint(Paint::Good, "all evidence holds")),
                None => format!(
                    "{}\n",
                    out.paint(Paint::Open, "the evidence holds, but some claims have none")
                ),
            };
            out.text(&text);
            Ok(if is_known {
                ExitCode::Satisfied
            } else {
                ExitCode::Undecided
            })
        }
        Err(problems) => {
            let mut text: String = problems
                .iter()
                .map(|problem| format!("{problem}\n"))
                .collect();
            let n = problems.len();
            let summary = format!(
                "{n} problem{}: this report cannot be trusted",
                if n == 1 { "" } else { "s" }
            );
            text += &format!("{}\n", out.paint(Paint::Bad, &summary));
            out.text(&text);
            Ok(ExitCode::Violated)
        }
    }
}

/// The report on `history` in a file of reports, one per line: the one with its path, or the only one.
fn report_on(path: &Path, history: &Path, control: &Control) -> anyhow::Result<Report> {
    let name = path.display();
    let text = formats::text_at(path, control)?;
    let mut reports = Vec::new();
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    for (place, line) in lines {
        match line.parse::<Document>() {
            Ok(Document::Report(report)) => reports.push(*report),
            Ok(Document::Failure(_) | Document::Elsewhere(_)) => {}
            // A report may have been reformatted over several lines for readability.
            Err(message) => match text.parse::<Document>() {
                Ok(Document::Report(report)) => return Ok(*report),
                _ => anyhow::bail!(
                    "{name}: line {}: expected a JSON report: {message}",
                    place + 1
                ),
            },
        }
    }
    let wanted = history.to_string_lossy();
    let n = reports.len();
    let place = reports
        .iter()
        .position(|report| report.history.path == wanted)
        .or((n == 1).then_some(0));
    match place {
        Some(place) => Ok(reports.swap_remove(place)),
        None if n == 0 => anyhow::bail!("{name}: there is no report in this file"),
        None => anyhow::bail!("{name}: none of its {n} reports is on {wanted}"),
    }
}
