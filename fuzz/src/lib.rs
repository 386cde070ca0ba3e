//! What every fuzz target does with its bytes: read them as one format, and hold what was read against what IsoScope
//! promises of any history. A reader may refuse; it may not panic, hang or take memory out of proportion.

use isoscope::control::Control;
use isoscope::formats::{self, Input, Part};
use isoscope::history::History;

/// Bytes between the files of a folder.
const NEXT_FILE: &[u8] = b"\n--next-file--\n";

/// Reads the bytes as a single file of a format.
pub fn file(format: &str, bytes: &[u8]) {
    look_at(formats::read(&Input::new("fuzz", bytes), Some(format), &Control::new()));
}

/// Reads the bytes as the files of a folder, which stand apart by a marker; `name` makes the name of each.
pub fn folder(format: &str, bytes: &[u8], name: fn(usize) -> String) {
    let mut rest = bytes;
    let mut contents = Vec::new();
    while let Some(at) = rest.windows(NEXT_FILE.len()).position(|window| window == NEXT_FILE) {
        contents.push(&rest[..at]);
        rest = &rest[at + NEXT_FILE.len()..];
    }
    contents.push(rest);
    let names: Vec<String> = (0..contents.len()).map(name).collect();
    let parts: Vec<Part<'_>> =
        names.iter().zip(contents).map(|(name, bytes)| Part { name: name.as_str(), bytes }).collect();
    look_at(formats::read(&Input::folder("fuzz", &parts), Some(format), &Control::new()));
}

fn look_at(read: Result<History, formats::ReadError>) {
    match read {
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains('\n') && message.len() < 1000, "not one short line: {message:?}");
        }
        Ok(history) => {
            // IsoScope's own notation can say whatever was understood, and says it so that it reads back.
            let mut text = Vec::new();
            if history.n_sessions() == 0 || formats::write(&history, "text", &mut text).is_err() {
                return;
            }
            let again = formats::read(&Input::new("again", &text), Some("text"), &Control::new());
            let again = again.unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(&text)));
            assert_eq!(again.n_transactions(), history.n_transactions());
            assert_eq!(again.n_operations(), history.n_operations());
        }
    }
}
