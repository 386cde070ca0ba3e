//! `isoscope convert`: between history formats.

use super::output::{self, Output};
use super::{ConvertArguments, ExitCode, input};
use crate::formats;

pub(super) fn run(arguments: &ConvertArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let (history, _) = input::open(&arguments.input, arguments.from.as_deref())?;
    let format = input::target_format(arguments.to.as_deref(), &arguments.output, None)?;
    output::write_file(&arguments.output, out, |file| Ok(formats::write(&history, format, file)?))?;
    Ok(ExitCode::Satisfied)
}
