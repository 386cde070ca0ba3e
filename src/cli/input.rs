//! From paths to histories.

use super::args::ReadingArguments;
use crate::control::Control;
use crate::formats::{self, FORMATS, OpenError, Request};
use crate::history::{History, Rules};
use anyhow::Context;
use std::path::Path;
use std::time::Instant;

/// Reads one history within the limits of `control` and returns the seconds it took.
pub(super) fn open(
    path: &Path,
    reading: &ReadingArguments,
    control: &Control,
) -> Result<(History, f64), OpenError> {
    let (format, rules) = reading.or(&Rules::default());
    open_by(path, format, &rules, control)
}

/// Opens a history by these rules.
pub(super) fn open_by(
    path: &Path,
    format: Option<&str>,
    rules: &Rules,
    control: &Control,
) -> Result<(History, f64), OpenError> {
    let start = Instant::now();
    let history = formats::open(
        path,
        Request {
            format,
            rules: Some(rules),
        },
        control,
    )?;
    Ok((history, start.elapsed().as_secs_f64()))
}

/// The format to write: the requested one, else by the extension of the output, else `otherwise`.
pub(super) fn target_format(
    asked: Option<&str>,
    output: &Path,
    otherwise: Option<&str>,
) -> anyhow::Result<&'static str> {
    let writable = || {
        let names = FORMATS
            .iter()
            .filter(|format| format.write.is_some())
            .map(|format| format.name);
        names.collect::<Vec<_>>().join(", ")
    };
    if let Some(name) = asked {
        let format = formats::format(name);
        return format
            .map(|format| format.name)
            .with_context(|| format!("unknown format `{name}`, expected one of {}", writable()));
    }
    let extension = output
        .extension()
        .and_then(|e| e.to_str())
        .map(str::to_ascii_lowercase);
    let fits = |format: &&formats::Format| {
        format.write.is_some()
            && extension
                .as_deref()
                .is_some_and(|e| format.extensions.contains(&e))
    };
    // The source's own format wins if it uses this extension too, so that `.txt` stays what it was.
    let own = otherwise
        .and_then(formats::format)
        .filter(|format| fits(format) || extension.is_none());
    let found = own
        .or_else(|| FORMATS.iter().find(fits))
        .or_else(|| otherwise.and_then(formats::format));
    found.map(|format| format.name).with_context(|| {
        format!(
            "{}: no format has this extension, name one of {} with --to",
            output.display(),
            writable()
        )
    })
}

/// Fails if there is no format of this name.
pub(super) fn known_format(name: &str) -> anyhow::Result<()> {
    if formats::format(name).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    anyhow::bail!(
        "unknown format `{name}`, expected one of {}",
        names.join(", ")
    )
}

/// The format asked for, for a history that grows. Error: a format or rules that such a history is not read by.
pub(super) fn format_of_stream(reading: &ReadingArguments) -> anyhow::Result<Option<&str>> {
    let (format, rules) = reading.or(&Rules::default());
    anyhow::ensure!(
        rules == Rules::default(),
        "a history that grows is read by the default rules only"
    );
    if let Some(name) = format {
        known_format(name)?;
    }
    Ok(format)
}
