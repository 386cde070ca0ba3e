//! `isoscope convert`: between history formats.

use super::args::ReadingArguments;
use super::output::{self, Output};
use super::{ConvertArguments, ExitCode, complain, input};
use crate::control::Control;
use crate::files;
use crate::formats::{self, Naming, Request};
use crate::history::{History, NameTable, Rules};
use std::path::{Path, PathBuf};

pub(super) fn run(arguments: &ConvertArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let names = names_file(arguments)?;
    let reading = ReadingArguments {
        format: arguments.from.clone(),
        rules: arguments.rules.clone(),
    };
    let control = arguments.limits.control();
    let format = target(arguments)?;
    let (history, _) = input::open(&arguments.input, &reading, &control)?;
    if names.is_none() {
        let (from, rules) = reading.or(&Rules::default());
        let request = Request {
            format: from,
            rules: Some(&rules),
        };
        let copied = formats::copy(&arguments.input, request, &history, format, &control)?;
        if let Some(copied) = copied {
            tell_words(format, &copied.words);
            output::write_file(&arguments.output, out, |file| Ok(copied.write(file)?))?;
            return Ok(ExitCode::Satisfied);
        }
    }
    write(
        &history,
        format,
        &arguments.output,
        names.as_deref(),
        &control,
        out,
    )?;
    Ok(ExitCode::Satisfied)
}

/// The format to write. Tables hold logs only, so that they are named here.
fn target(arguments: &ConvertArguments) -> anyhow::Result<&'static str> {
    let table = &formats::tables::TABLE;
    let ending = arguments
        .output
        .extension()
        .and_then(|ending| ending.to_str());
    let is_table = match &arguments.to {
        Some(to) => to == table.name || table.aliases.contains(&to.as_str()),
        None => ending == Some(table.name),
    };
    match is_table {
        true => Ok(table.name),
        false => input::target_format(arguments.to.as_deref(), &arguments.output, None),
    }
}

/// Where the table of names goes, if names become numbers.
fn names_file(arguments: &ConvertArguments) -> anyhow::Result<Option<PathBuf>> {
    if !arguments.renumber {
        return Ok(None);
    }
    if let Some(names) = &arguments.names {
        anyhow::ensure!(
            *names != arguments.output,
            "{}: --names and -o are the same file",
            names.display()
        );
        return Ok(Some(names.clone()));
    }
    let output = arguments.output.to_string_lossy();
    anyhow::ensure!(
        output != "-",
        "--renumber with -o -: say with --names where the table of names goes"
    );
    Ok(Some(PathBuf::from(format!(
        "{}.names.json",
        output.trim_end_matches(['/', '\\'])
    ))))
}

/// Writes a history in a format, with a note on whatever the format cannot express; with numbers for names and a table
/// of them if there is a file for that.
pub(super) fn write(
    history: &History,
    format: &'static str,
    output: &Path,
    names: Option<&Path>,
    control: &Control,
    out: &mut Output,
) -> anyhow::Result<()> {
    let naming = if names.is_some() {
        Naming::Numbers
    } else {
        Naming::Kept
    };
    let converted = formats::convert(history, format, naming, control)?;
    tell_words(format, &converted.words);
    for assumption in history.assumptions() {
        complain(&format!("written as understood: {assumption}"));
    }
    if let (Some(names), Some(table)) = (names, &converted.names) {
        output::write_file(names, out, |file| Ok(write_table(table, file)?))?;
    }
    if converted.bytes().is_none() && output::is_folder_name(output) {
        Ok(files::write_folder(output, &converted.files)?)
    } else {
        output::write_file(output, out, |file| Ok(converted.write(file)?))
    }
}

/// Reports on standard error what a format cannot express.
pub(super) fn tell_words(format: &str, words: &[String]) {
    for word in words {
        complain(&format!("{format} cannot express {word}"));
    }
}

/// The table as JSON: for sessions, transactions, keys and values an object from numbers to names, in order, a line each.
fn write_table(table: &NameTable, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let NameTable {
        sessions,
        transactions,
        keys,
        values,
    } = table;
    write!(out, "{{\"schema\": \"isoscope.names/1\"")?;
    for (what, names) in [
        ("sessions", sessions),
        ("transactions", transactions),
        ("keys", keys),
        ("values", values),
    ] {
        write!(out, ",\n\"{what}\": {{")?;
        for (n, (number, name)) in names.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            // Encoding a string does not fail.
            write!(
                out,
                "{comma}\n  \"{number}\": {}",
                serde_json::Value::from(name.as_str())
            )?;
        }
        write!(out, "}}")?;
    }
    writeln!(out, "}}")
}
