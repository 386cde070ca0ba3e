//! What the fuzz targets do with their bytes.
//!
//! A reader may refuse its input; it may not panic, hang or take memory out of proportion. A check may find anything, but
//! the verifier has to accept the evidence of every verdict.

mod small_history;

use isoscope::checkers::{self, Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::formats::{self, FORMATS, FilePart, Input};
use isoscope::history::History;
use isoscope::report::Settings;
use isoscope::verify;
use std::time::Duration;

/// Bytes between the files of a folder.
const NEXT_FILE: &[u8] = b"\n--next-file--\n";

/// Enough for every history of the size that [`check`] makes; a search that takes longer is left undecided.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// The names of all formats.
pub fn formats() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name)
}

/// Reads the bytes as a history of the format with this number, modulo the number of formats.
pub fn read_as_format_at(number: u8, bytes: &[u8]) {
    read_as(FORMATS[usize::from(number) % FORMATS.len()].name, bytes);
}

/// Reads the bytes as a history of a format: as a single file, or as the files of a folder, with a marker between them,
/// where the format keeps its histories so.
pub fn read_as(format: &str, bytes: &[u8]) {
    let prefix = match format {
        "cobra" => "T",
        "viper" => "J",
        _ => {
            return look_at(formats::read(
                &Input::new("fuzz", bytes),
                Some(format),
                &Control::new(),
            ));
        }
    };
    let contents = split(bytes);
    let names: Vec<String> = (0..contents.len())
        .map(|n| format!("{prefix}{n}.log"))
        .collect();
    let parts: Vec<FilePart<'_>> = names
        .iter()
        .zip(contents)
        .map(|(name, bytes)| FilePart {
            name: name.as_str(),
            bytes,
        })
        .collect();
    look_at(formats::read(
        &Input::folder("fuzz", &parts),
        Some(format),
        &Control::new(),
    ));
}

fn split(mut rest: &[u8]) -> Vec<&[u8]> {
    let mut contents = Vec::new();
    while let Some(at) = rest
        .windows(NEXT_FILE.len())
        .position(|window| window == NEXT_FILE)
    {
        contents.push(&rest[..at]);
        rest = &rest[at + NEXT_FILE.len()..];
    }
    contents.push(rest);
    contents
}

fn look_at(read: Result<History, formats::ReadError>) {
    match read {
        Err(error) => {
            let message = error.to_string();
            assert!(
                !message.contains('\n') && message.len() < 1000,
                "not one short line: {message:?}"
            );
        }
        Ok(history) => {
            // IsoScope's own notation can say whatever was understood, and says it so that it reads back.
            let mut text = Vec::new();
            if history.n_sessions() == 0 || formats::write(&history, "text", &mut text).is_err() {
                return;
            }
            let again = formats::read(&Input::new("again", &text), Some("text"), &Control::new());
            let again = again
                .unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(&text)));
            assert_eq!(again.n_transactions(), history.n_transactions());
            assert_eq!(again.n_operations(), history.n_operations());
        }
    }
}

/// Checks the small history that the bytes describe at every level and lets the verifier look at the evidence.
pub fn check(bytes: &[u8]) {
    let text = small_history::text(bytes);
    let read = formats::read(
        &Input::new("fuzz", text.as_bytes()),
        Some("text"),
        &Control::new(),
    );
    let Ok(history) = read else { return };
    let options = Options {
        levels: Level::of(&history),
        ..Options::default()
    };
    let control = Control::new().with_time_limit(TIME_LIMIT);
    let findings = checkers::check(&history, &options, &control, &|_| {});
    let report = isoscope::report::of_findings(
        &history,
        &findings,
        Settings {
            witness: true,
            ..Settings::default()
        },
    );
    let verified = verify::verify(&history, &report);
    let verified = verified.unwrap_or_else(|problems| panic!("{}\n{text}", problems[0]));
    // A search that ran into the limit may leave a verdict without evidence.
    let is_undecided =
        |result: &checkers::LevelResult| matches!(result.verdict, Verdict::Undecided(_));
    let complete = !findings.levels.iter().any(is_undecided);
    assert!(
        !complete || verified.without_evidence.is_empty(),
        "{:?} without evidence\n{text}",
        verified.without_evidence
    );
}
