//! `isoscope convert`: between history formats.

use super::args::ReadingArguments;
use super::output::{self, Output};
use super::{ConvertArguments, ExitCode, complain, input};
use crate::control::Control;
use crate::files;
use crate::formats::{self, Input, Part, Writer};
use crate::history::History;
use std::path::Path;

pub(super) fn run(arguments: &ConvertArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let reading = ReadingArguments { format: arguments.from.clone(), rules: arguments.rules.clone() };
    let (history, _) = input::open(&arguments.input, &reading)?;
    let format = input::target_format(arguments.to.as_deref(), &arguments.output, None)?;
    write(&history, format, &arguments.output, out)?;
    Ok(ExitCode::Satisfied)
}

/// Writes a history in a format, with a word on whatever that cannot say.
pub(super) fn write(history: &History, format: &'static str, output: &Path, out: &mut Output) -> anyhow::Result<()> {
    let written = match formats::writer(format)? {
        Writer::File(_) => {
            let mut bytes = Vec::new();
            formats::write(history, format, &mut bytes)?;
            vec![(String::new(), bytes)]
        }
        Writer::Folder(_) => formats::files(history, format)?,
    };
    let again = read_back(&written, format)?;
    let losses = formats::losses(history, &again);
    let losses = losses.map_err(|what| anyhow::anyhow!("the format {format} cannot hold this history: {what}"))?;
    for loss in losses {
        complain(&format!("{format} cannot say {loss}"));
    }
    for assumption in history.assumptions() {
        complain(&format!("written as understood: {assumption}"));
    }
    match written.as_slice() {
        [(name, bytes)] if name.is_empty() => {
            output::write_file(output, out, |file| Ok(file.write_all(bytes)?))?;
        }
        _ if output::is_folder_name(output) => files::write_folder(output, &written)?,
        _ => output::write_file(output, out, |file| Ok(formats::write(history, format, file)?))?,
    }
    Ok(())
}

/// What somebody else will read: by the default rules.
fn read_back(files: &[(String, Vec<u8>)], format: &str) -> anyhow::Result<History> {
    let control = Control::new();
    let read = |input: &Input<'_>| formats::read(input, Some(format), &control);
    let history = match files {
        [(name, bytes)] if name.is_empty() => read(&Input::new("", bytes)),
        _ => {
            let parts: Vec<Part<'_>> = files.iter().map(|(name, bytes)| Part { name, bytes }).collect();
            read(&Input::folder("", &parts))
        }
    };
    history.map_err(|error| anyhow::anyhow!("what was written as {format} cannot be read back: {error}"))
}
