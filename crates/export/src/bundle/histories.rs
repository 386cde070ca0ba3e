//! The small history in several formats, each read back and checked again before it counts.

use crate::small_history;
use isoscope_model::control::Control;
use isoscope_tell::counterexample::Counterexample;
use std::time::Duration;

/// A format of the bundle: its name, the file, its purpose.
const FORMATS: [(&str, &str, &str); 5] = [
    ("text", "history.txt", "IsoScope's own notation"),
    (
        "plume",
        "history.plume.txt",
        "Plume, PolySI, IsoVista, AWDIT",
    ),
    ("hist", "history.hist", "dbcop"),
    ("elle-edn", "history.edn", "Jepsen and Elle"),
    (
        "json",
        "history.json",
        "IsoScope's JSON, with everything known",
    ),
];

/// The names of the files.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|(_, name, _)| *name)
}

/// Time limit for reading a file back and checking it.
const CHECKING: Duration = Duration::from_secs(20);

/// A history as a file.
pub(super) struct HistoryFile {
    /// Its name.
    pub name: &'static str,
    /// The programs that read it.
    pub about: &'static str,
    /// Its content.
    pub bytes: Vec<u8>,
    /// What the format cannot express, none of which changes the verdict.
    pub losses: Vec<String>,
}

/// A file that would not say the same.
pub(super) struct LeftOut {
    /// Its name.
    pub name: &'static str,
    /// Why it is missing.
    pub why: String,
}

/// The files, and those left out.
pub(super) fn histories(
    example: &Counterexample,
    control: &Control,
) -> (Vec<HistoryFile>, Vec<LeftOut>) {
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    for (format, name, about) in FORMATS {
        match written(example, format, control) {
            Ok((bytes, losses)) => files.push(HistoryFile {
                name,
                about,
                bytes,
                losses,
            }),
            Err(why) => left_out.push(LeftOut { name, why }),
        }
    }
    (files, left_out)
}

/// The history in a format, and what is lost; or why the file would not be a counterexample to the same level.
fn written(
    example: &Counterexample,
    format: &str,
    control: &Control,
) -> Result<(Vec<u8>, Vec<String>), String> {
    let converted = small_history(example, format, &control.with_time_limit(CHECKING))?;
    let mut bytes = Vec::new();
    converted
        .write(&mut bytes)
        .map_err(|error| error.to_string())?;
    Ok((bytes, converted.words))
}
