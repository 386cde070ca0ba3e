//! `isoscope export`: one counterexample, or the order that satisfies a level, as a picture or a file.

use super::args::ViewName;
use super::explain::{checked, finding, named};
use super::output::{self, Output};
use super::{ExitCode, ExportArguments, MINIMIZING, complain, input, witnesses};
use crate::audit::{Example, Examples};
use crate::checkers::{Violation, ViolationName};
use crate::control::Control;
use crate::export::{
    ComposeOptions, EXPORTERS, ExportKind, Picture, View, compose, compose_finding, export,
    keys_of, sha256_of_file,
};
use crate::history::History;
use crate::hunt::simplest_violation;
use anyhow::{Context, ensure};
use std::path::Path;

pub(super) fn run(arguments: &ExportArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let kind = ExportKind::from_path(&arguments.output).with_context(|| {
        let endings: Vec<&str> = EXPORTERS.iter().map(|row| row.extensions[0]).collect();
        format!(
            "{}: the file extension chooses the format, expected one of {}",
            arguments.output.display(),
            endings.join(", ")
        )
    })?;
    ensure!(
        arguments.view == ViewName::Graph || kind.is_picture(),
        "{}: `--view` is for pictures, expected svg, png or tex",
        arguments.output.display()
    );
    let control = arguments.asked.limits.control();
    let (history, _) = input::open(&arguments.file, &arguments.asked.reading, &control)?;
    let history = history.tested_as(arguments.asked.tested.said.as_deref());
    let name = arguments.violation.as_ref();
    if let Some(place) = finding(&history, name) {
        write_finding(arguments, kind, (&history, place), out)?;
        return Ok(ExitCode::Satisfied);
    }
    let (mut findings, code) = checked(&history, &arguments.file, name, &arguments.asked, &control);
    // What was found in time is drawn.
    let control = control.overtime();
    if arguments.witness {
        return Ok(code.max(witnesses::write(
            arguments,
            kind,
            (&history, &findings),
            &control,
            out,
        )?));
    }
    let violation = &match &arguments.violation {
        Some(name) => named(name, &history, &mut findings, &arguments.file, &control)?,
        None => match simplest_violation(&findings) {
            Some(violation) => violation.clone(),
            None => {
                let place = first_finding(&history).with_context(|| {
                    format!(
                        "{}: no violation is listed; --witness draws the order that satisfies a level",
                        arguments.file.display()
                    )
                })?;
                write_finding(arguments, kind, (&history, place), out)?;
                return Ok(code);
            }
        },
    };
    let Example {
        violation,
        counterexample: example,
        explanation,
    } = &shown(
        &Examples::new(&history, &findings),
        violation,
        &arguments.violation,
        &control.with_time_limit(MINIMIZING),
    );
    let view = view(arguments.view, &history, violation, &control)?;
    let options = ComposeOptions {
        view,
        ..arguments.drawing.options(&history)
    };
    let picture = compose(example, explanation, &history, &options);
    if kind == ExportKind::Png {
        super::complain_of_fonts(&example.history);
    }
    write(arguments, kind, &picture, &violation.id.to_string(), out)?;
    Ok(code)
}

/// What is shown of a violation: itself where it was named, else the simplest that explains it.
pub(super) fn shown(
    examples: &Examples<'_>,
    violation: &Violation,
    named: &Option<ViolationName>,
    control: &Control,
) -> Example {
    match named {
        Some(_) => examples.itself(violation, control),
        None => examples.of(examples.cause_of(violation), control),
    }
}

/// The first finding of the workload's rules that they call invalid.
pub(super) fn first_finding(history: &History) -> Option<usize> {
    history
        .workload()?
        .facts
        .iter()
        .position(|fact| fact.counts)
}

fn write_finding(
    arguments: &ExportArguments,
    kind: ExportKind,
    (history, place): (&History, usize),
    out: &mut Output,
) -> anyhow::Result<()> {
    let name = || arguments.output.display().to_string();
    ensure!(
        kind.is_of_orders(),
        "{}: a finding of the rules of a test goes with svg, png, tex, md or txt",
        name()
    );
    let sha256 = sha256_of_file(&arguments.file).ok();
    let picture = compose_finding(history, place, sha256.as_deref()).with_context(name)?;
    let id = picture.verdicts.concat();
    write(arguments, kind, &picture, &id, out)
}

fn write(
    arguments: &ExportArguments,
    kind: ExportKind,
    picture: &Picture,
    id: &str,
    out: &mut Output,
) -> anyhow::Result<()> {
    let bytes = export(kind, picture).with_context(|| arguments.output.display().to_string())?;
    output::write_file(&arguments.output, out, |file| Ok(file.write_all(&bytes)?))?;
    if arguments.violation.is_none() && arguments.output != Path::new("-") {
        complain(&format!("{}: {id}", arguments.output.display()));
    }
    Ok(())
}

fn view(
    name: ViewName,
    history: &History,
    violation: &Violation,
    control: &Control,
) -> anyhow::Result<View> {
    Ok(match name {
        ViewName::Graph => View::Graph,
        ViewName::Lanes => View::Lanes,
        ViewName::Matrix => {
            ensure!(
                !violation.edges.is_empty(),
                "this violation has no edges: no transaction depends on another"
            );
            View::Matrix
        }
        ViewName::Key => {
            let key = keys_of(violation, history).first().copied();
            View::key(
                history,
                key.context("this violation is about no key")?,
                violation,
                control,
            )?
        }
    })
}
