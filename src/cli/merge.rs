//! `isoscope merge-reports`: the reports of shards, joined into one report for each history.

use super::output::{Output, write_file};
use super::{ExitCode, MergeArguments, claims, complain};
use crate::control::Control;
use crate::formats;
use crate::report::{self, Document, LevelEntry};
use std::path::Path;

pub(super) fn run(arguments: &MergeArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let mut documents = Vec::new();
    for path in &arguments.reports {
        documents.extend(documents_in(path)?);
    }
    anyhow::ensure!(!documents.is_empty(), "there is no report in these files");
    let merged = report::merge(documents)?;
    for document in &merged {
        tell_what_is_missing(document);
    }
    let output = arguments.output.as_deref().unwrap_or(Path::new("-"));
    write_file(output, out, |out| {
        for document in &merged {
            report::to_line(document, out)?;
        }
        Ok(())
    })?;
    Ok(merged
        .iter()
        .map(|document| exit_code(document, arguments.empty.allow_empty))
        .max()
        .unwrap_or(ExitCode::Satisfied))
}

/// The documents in a file, one per line.
fn documents_in(path: &Path) -> anyhow::Result<Vec<Document>> {
    let name = path.display();
    let text = formats::text_at(path, &Control::new())?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(place, line)| {
            line.parse().map_err(|message| {
                anyhow::anyhow!(
                    "{name}: line {}: expected a JSON report on one line: {message}",
                    place + 1
                )
            })
        })
        .collect()
}

/// Says on standard error which levels are undecided, and why, because the output may go to a file.
fn tell_what_is_missing(document: &Document) {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for entry in levels(document) {
        let Some(reason) = entry.reason.as_deref() else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, levels)) => levels.push(entry.level.code()),
            None => reasons.push((reason, vec![entry.level.code()])),
        }
    }
    for (reason, levels) in reasons {
        complain(&format!(
            "{}: {} undecided: {reason}",
            document.path(),
            levels.join(", ")
        ));
    }
}

fn levels(document: &Document) -> &[LevelEntry] {
    match document {
        Document::Report(report) => &report.levels,
        Document::Elsewhere(elsewhere) => &elsewhere.levels,
        Document::Failure(_) => &[],
    }
}

fn exit_code(document: &Document, allow_empty: bool) -> ExitCode {
    let of_levels = ExitCode::worst(levels(document).iter().map(|entry| entry.verdict));
    match document {
        Document::Failure(_) => ExitCode::Unusable,
        Document::Elsewhere(_) => of_levels,
        Document::Report(report) => {
            let code = report
                .promised
                .as_ref()
                .map_or(of_levels, |promised| claims::verdict(promised.kept).into());
            code.where_tested(report.tested || allow_empty)
        }
    }
}
