//! `isoscope report`: one counterexample as a report for an issue tracker.

use super::check::{examine_and_check, resolve};
use super::explain::{finding, named, options};
use super::export::{first_finding, shown};
use super::output::{self, Output, codes_of, quoted};
use super::self_check::SelfCheck;
use super::{ExitCode, MINIMIZING, ReportArguments, claims, complain, disagreements, input};
use crate::audit::{self, Example, Examples};
use crate::checkers::Findings;
use crate::checkers::lattice::Promise;
use crate::counterexample::Tested;
use crate::export::bundle::{self, Brief};
use crate::export::sha256_of_file;
use crate::files;
use crate::history::{Annotation, History};
use crate::hunt::simplest_violation;
use crate::papers::Choice;
use crate::report::VerdictWord;
use anyhow::Context;
use std::path::Path;

/// What a project file adds to the name of its history.
const PROJECT: &str = ".isoscope";

pub(super) fn run(arguments: &ReportArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let is_page = match arguments
        .output
        .extension()
        .and_then(|ending| ending.to_str())
    {
        Some(ending)
            if ending.eq_ignore_ascii_case("html") || ending.eq_ignore_ascii_case("htm") =>
        {
            true
        }
        _ => arguments.output == Path::new("-"),
    };
    if claims::listed(arguments.claim, out) {
        return Ok(ExitCode::Satisfied);
    }
    let promise = claims::promised(arguments.claim);
    let control = arguments.asked.limits.control();
    let (history, _) = input::open(&arguments.file, &arguments.asked.reading, &control)?;
    let history = history.tested_as(arguments.asked.tested.said.as_deref());
    if let Some(place) = finding(&history, arguments.violation.as_ref()) {
        return report_finding(arguments, (&history, place), is_page, out);
    }
    let mut options = options(&history, arguments.violation.as_ref(), &arguments.asked);
    options.levels.extend(promise.and_then(Promise::asked));
    options.levels.sort_unstable();
    options.levels.dedup();
    let resolution = resolve(&history, &control);
    let (health, mut findings) = examine_and_check(
        &history,
        &resolution,
        Choice::default(),
        &options,
        SelfCheck::OfVerdicts,
        &control,
    );
    if let Some(resolution) = resolution
        .0
        .filter(|_| promise.is_some() && arguments.asked.level.is_empty())
    {
        let (known, seconds) = (&findings.levels, findings.check_seconds);
        findings.others = Some(audit::on_other_orders(
            &history,
            &resolution,
            known,
            seconds,
            &control,
        ));
    }
    // What was found in time is reported.
    let control = control.overtime();
    let done = disagreements::reported(&arguments.file, &findings, ExitCode::Satisfied);
    let violation = &match &arguments.violation {
        Some(name) => named(name, &history, &mut findings, &arguments.file, &control)?,
        None => match simplest_violation(&findings) {
            Some(violation) => violation.clone(),
            None => {
                return match first_finding(&history) {
                    Some(place) => report_finding(arguments, (&history, place), is_page, out),
                    None => Ok(nothing_to_report(arguments, &findings)),
                };
            }
        },
    };
    let Example {
        violation,
        counterexample: example,
        explanation,
    } = &shown(
        &Examples::new(&history, &findings).of_tested(Tested::of(&history).promising(promise)),
        violation,
        &arguments.violation,
        &control.with_time_limit(MINIMIZING),
    );
    let options = arguments.drawing.options(&history);
    let brief = Brief {
        example,
        explanation,
        violation,
        whole: &history,
        findings: &findings,
        health: &health,
        options: &options,
        promise,
        isolation: arguments.isolation,
        annotations: &annotations_of(&arguments.file)?,
        command: command_line(),
    };
    let name = || arguments.output.display().to_string();
    if is_page {
        let page = bundle::page(&brief, &control).with_context(name)?;
        output::write_file(&arguments.output, out, |file| Ok(file.write_all(&page)?))?;
    } else {
        super::complain_of_fonts(&example.history);
        let written = bundle::bundle(&brief, &control).with_context(name)?;
        write_folder(arguments, &written)?;
    }
    if arguments.output != Path::new("-") {
        let n = example.history.n_transactions();
        complain(&format!(
            "{}: {} in {n} of {} transactions",
            name(),
            violation.id,
            example.n_transactions_of_whole
        ));
    }
    Ok(done)
}

/// Writes the files of a report, in place of an earlier one if asked to.
fn write_folder(arguments: &ReportArguments, files: &[(String, Vec<u8>)]) -> anyhow::Result<()> {
    if arguments.force {
        return Ok(files::replace_folder(
            &arguments.output,
            files,
            bundle::is_file_of_report,
        )?);
    }
    files::write_folder(&arguments.output, files).map_err(|error| {
        if arguments.output.is_dir() {
            anyhow::anyhow!("{error}, or --force to replace an earlier report")
        } else {
            error.into()
        }
    })
}

/// The report of what the rules of the workload found.
fn report_finding(
    arguments: &ReportArguments,
    (history, place): (&History, usize),
    is_page: bool,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let name = || arguments.output.display().to_string();
    let sha256 = sha256_of_file(&arguments.file).ok();
    let files = bundle::finding_files(history, place, sha256.as_deref(), &command_line())
        .with_context(name)?;
    let page = files.iter().find(|(name, _)| name == "report.html");
    match page.filter(|_| is_page) {
        Some((_, bytes)) => {
            output::write_file(&arguments.output, out, |file| Ok(file.write_all(bytes)?))?;
        }
        None => write_folder(arguments, &files)?,
    }
    if arguments.output != Path::new("-") {
        let ids = history
            .workload()
            .map_or_else(Vec::new, |workload| workload.ids());
        complain(&format!("{}: {}", name(), ids[place]));
    }
    Ok(ExitCode::Satisfied)
}

/// What was marked in the window, if there is a project file next to the history. Errors: what is wrong with it.
fn annotations_of(history: &Path) -> anyhow::Result<Vec<Annotation>> {
    let mut path = history.as_os_str().to_owned();
    path.push(PROJECT);
    let path = Path::new(&path);
    let Some(text) = path
        .is_file()
        .then(|| std::fs::read_to_string(path))
        .transpose()?
    else {
        return Ok(Vec::new());
    };
    let project: serde_json::Value =
        serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    let marks = project
        .pointer("/arrangement/marks")
        .cloned()
        .unwrap_or_else(|| serde_json::json!([]));
    serde_json::from_value(marks).with_context(|| format!("{}: marks", path.display()))
}

/// Says why there is no report.
fn nothing_to_report(arguments: &ReportArguments, findings: &Findings) -> ExitCode {
    let path = arguments.file.display();
    let [violated, undecided] =
        [VerdictWord::Violated, VerdictWord::Undecided].map(|word| codes_of(word, findings));
    let (said, code) = match (violated.is_empty(), undecided.is_empty()) {
        (false, _) => (
            format!("{violated} violated, but no violation is listed"),
            ExitCode::Violated,
        ),
        (true, false) => (
            format!("no violation found, {undecided} undecided"),
            ExitCode::Undecided,
        ),
        (true, true) => ("every level is satisfied".to_owned(), ExitCode::Satisfied),
    };
    complain(&format!("{path}: {said}, nothing was written"));
    code
}

/// This command line, as the user would type it.
fn command_line() -> String {
    let words = std::env::args_os()
        .skip(1)
        .map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("isoscope".to_owned())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}
