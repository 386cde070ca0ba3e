//! `isoscope export`: one counterexample, or the order that satisfies a level, as a picture or a file.

use super::args::ViewName;
use super::explain::{checked, named};
use super::output::{self, Output};
use super::{ExitCode, ExportArguments, MINIMIZING, complain, witnesses};
use crate::audit::{Example, Examples};
use crate::checkers::Violation;
use crate::control::Control;
use crate::export::{ComposeOptions, EXPORTERS, ExportKind, View, compose, export, keys_of};
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
    let (history, mut findings, code) = checked(
        &arguments.file,
        arguments.violation.as_ref(),
        &arguments.asked,
        &control,
    )?;
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
        None => simplest_violation(&findings).cloned().with_context(|| {
            format!(
                "{}: no violation is listed; --witness draws the order that satisfies a level",
                arguments.file.display()
            )
        })?,
    };
    let Example {
        counterexample: example,
        explanation,
        ..
    } = Examples::new(&history, &findings).of(violation, &control.with_time_limit(MINIMIZING));
    let view = view(arguments.view, &history, violation, &control)?;
    let options = ComposeOptions {
        view,
        ..arguments.drawing.options(&history)
    };
    let picture = compose(&example, &explanation, &history, &options);
    if kind == ExportKind::Png {
        super::complain_of_fonts(&example.history);
    }
    let bytes = export(kind, &picture).with_context(|| arguments.output.display().to_string())?;
    output::write_file(&arguments.output, out, |file| Ok(file.write_all(&bytes)?))?;
    if arguments.violation.is_none() && arguments.output != Path::new("-") {
        complain(&format!("{}: {}", arguments.output.display(), violation.id));
    }
    Ok(code)
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
