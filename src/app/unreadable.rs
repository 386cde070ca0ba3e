//! Why a file could not be read, with the lines around the place where reading ended.

use crate::formats::{OpenCause, OpenError, Place};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Why a file could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    /// In one line, with the path.
    pub text: String,
    /// The lines around the place, with their numbers from 1.
    pub lines: Vec<(u64, String)>,
    /// The line where reading ended.
    pub line: u64,
}

/// Lines shown before and after the place.
const AROUND: u64 = 3;
/// Longest part of a line that is shown, in bytes.
const LONGEST: u64 = 4096;

impl Unreadable {
    /// An error that is about no line.
    pub(super) fn new(text: String) -> Unreadable {
        Unreadable {
            text,
            ..Unreadable::default()
        }
    }

    /// An error, with the lines around it if it is about a line of a text file. O(bytes up to that line).
    pub(super) fn of(error: &OpenError) -> Unreadable {
        let text = error.to_string();
        let OpenCause::Read(cause) = &error.cause else {
            return Unreadable::new(text);
        };
        let (Place::Line { line, .. }, None) = (cause.place, &cause.part) else {
            return Unreadable::new(text);
        };
        Unreadable {
            text,
            lines: lines_around(&error.path, line).unwrap_or_default(),
            line,
        }
    }
}

/// The lines around one; none if the file is packed or no text.
fn lines_around(path: &Path, line: u64) -> std::io::Result<Vec<(u64, String)>> {
    let mut file = BufReader::new(File::open(path)?);
    let first = line.saturating_sub(AROUND).max(1);
    for _ in 1..first {
        if file.skip_until(b'\n')? == 0 {
            return Ok(Vec::new());
        }
    }
    let mut lines = Vec::new();
    for number in first..=line + AROUND {
        let mut bytes = Vec::new();
        if file.by_ref().take(LONGEST).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        if !bytes.ends_with(b"\n") && bytes.len() as u64 == LONGEST {
            file.skip_until(b'\n')?;
        }
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Ok(Vec::new());
        };
        lines.push((
            number,
            crate::history::visible(text.trim_end_matches(['\n', '\r'])),
        ));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_around_the_place_are_shown() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("bad.txt");
        std::fs::write(&path, "a\nb\nc\nd\ne\nf\ng\nh\n").expect("it can be written");
        let lines = lines_around(&path, 5).expect("it can be read");
        assert_eq!(
            lines.first().zip(lines.last()),
            Some((&(2, "b".to_owned()), &(8, "h".to_owned())))
        );
        assert_eq!(lines_around(&path, 1).expect("it can be read").len(), 4);
        assert_eq!(lines_around(&path, 99).expect("it can be read"), []);
    }
}
