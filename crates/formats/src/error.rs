//! What can go wrong between a file and a history, in one line.
//!
//! A reader knows the place in its bytes and what it expected there ([`ReadError`]); the path is attached once, by
//! [`open`](super::open) ([`OpenError`]). All texts fit on one line: what a file contains is shown shortened and with
//! control characters escaped.

use isoscope_model::control::Interrupt;
pub(super) use isoscope_model::history::visible as escape;
use isoscope_model::history::{self, BuildError};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line, from 1, and a column in bytes, from 1 (0: the line as a whole).
    Line {
        /// From 1.
        line: u64,
        /// From 1; 0 for the line as a whole.
        column: u64,
    },
    /// A byte, from 0, in files that have no lines.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => f.write_str("file"),
            Place::Line {
                line,
                column: 0 | 1,
            } => write!(f, "line {line}"),
            Place::Line { line, column } => write!(f, "line {line}, column {column}"),
            Place::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// What is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The grammar requires something else.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What may appear here.
        expected: &'static str,
        /// What appears instead, quoted and shortened, or named ("the end of the file").
        found: String,
    },
    /// A number that does not fit.
    #[error("the number {number} is too large: {what} go up to {limit}")]
    TooLarge {
        /// The number as written, shortened.
        number: String,
        /// "keys", "values", …
        what: &'static str,
        /// The largest number allowed.
        limit: u64,
    },
    /// A transaction with operations in two sessions.
    #[error(
        "transaction {transaction} is in session {session} here but in session {earlier} on line {line}"
    )]
    TwoSessions {
        /// Its number in the file.
        transaction: i64,
        /// The session here.
        session: i64,
        /// The session before.
        earlier: i64,
        /// The line where the transaction began.
        line: u64,
    },
    /// Nothing in it.
    #[error("empty file: a history with at least one operation or session was expected")]
    Empty,
    /// Bytes that are no text, and no binary format knows them.
    #[error("binary file: none of the known history formats ({0}) looks like this")]
    Binary(String),
    /// Text that no format knows.
    #[error("expected the beginning of a history ({formats}), found {found}")]
    Unrecognised {
        /// The names of the formats.
        formats: String,
        /// What the file begins with.
        found: String,
    },
    /// No format of this name.
    #[error("unknown format `{name}`: known are {known}")]
    UnknownFormat {
        /// As requested.
        name: String,
        /// The names of the formats.
        known: String,
    },
    /// Anything else a reader has to say.
    #[error("{0}")]
    Other(String),
    /// More than a history can hold.
    #[error("{}", too_large(*.0))]
    TooMany(#[from] BuildError),
    /// Reading was cancelled or ran out of time.
    #[error("reading ended early: {0}")]
    Interrupted(#[from] Interrupt),
}

/// Why bytes are not a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Name of the format that was tried, empty when none was.
    pub format: &'static str,
    /// Where.
    pub place: Place,
    /// What.
    pub problem: Problem,
    /// If the format was requested by name: the format that the file looks like instead.
    pub looks_like: Option<&'static str>,
    /// The file of a folder or archive that it is in; none for a single file.
    pub part: Option<Box<PartName>>,
}

/// Name of a file of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartName(pub String);

/// What a history cannot hold, in words.
fn too_large(error: BuildError) -> String {
    match error {
        BuildError::TooMany { .. } => format!("too large: {error}"),
        BuildError::ListScanned => error.to_string(),
    }
}

impl ReadError {
    /// An error at a place of a single file. What is quoted of the file is shortened, so that it stays one line.
    pub fn new(format: &'static str, place: Place, problem: impl Into<Problem>) -> ReadError {
        const LONGEST: usize = 600;
        let mut problem = problem.into();
        if let Problem::Other(text) | Problem::Expected { found: text, .. } = &mut problem {
            if text.contains(char::is_control) {
                *text = escape(text);
            }
            if text.len() > LONGEST {
                text.truncate(text.floor_char_boundary(LONGEST));
                text.push('…');
            }
        }
        ReadError {
            format,
            place,
            problem,
            looks_like: None,
            part: None,
        }
    }

    /// An error at a line and column, both from 1.
    pub fn at(
        format: &'static str,
        line: u64,
        column: u64,
        problem: impl Into<Problem>,
    ) -> ReadError {
        ReadError::new(format, Place::Line { line, column }, problem)
    }

    /// An error at a byte, from 0.
    pub fn at_byte(format: &'static str, byte: u64, problem: impl Into<Problem>) -> ReadError {
        ReadError::new(format, Place::Byte(byte), problem)
    }

    /// An error of the file as a whole.
    pub fn whole(format: &'static str, problem: impl Into<Problem>) -> ReadError {
        ReadError::new(format, Place::Whole, problem)
    }

    /// The same error, in this file of a folder.
    pub fn in_part(self, name: &str) -> ReadError {
        ReadError {
            part: Some(Box::new(PartName(name.to_owned()))),
            ..self
        }
    }

    /// Whether this only says that reading was stopped.
    pub fn interrupt(&self) -> Option<Interrupt> {
        match self.problem {
            Problem::Interrupted(interrupt) => Some(interrupt),
            _ => None,
        }
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> String {
        match self.looks_like {
            Some(other) => format!(
                "{} (read as {} on request; it looks like {other})",
                self.problem, self.format
            ),
            None => self.problem.to_string(),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(part) = &self.part {
            write!(f, "{}: ", escape(&part.0))?;
        }
        match self.place {
            Place::Whole => f.write_str(&self.message()),
            place => write!(f, "{place}: {}", self.message()),
        }
    }
}

impl std::error::Error for ReadError {}

/// Why a path gave no bytes, or its bytes no history.
#[derive(Debug, thiserror::Error)]
pub enum OpenCause {
    /// There is nothing at the path.
    #[error("no such file")]
    Missing,
    /// A directory whose files are not together one history.
    #[error("is a directory, expected a history file or a folder of the logs of one run")]
    Directory,
    /// Compressed or packed data that is damaged, or an archive that holds no history.
    #[error("{0}")]
    Packed(String),
    /// Something of unknown size that takes more than there is room for.
    #[error(
        "{what} that goes on beyond {most} bytes, half of the memory that is free (--memory-limit sets another limit)"
    )]
    TooLarge {
        /// "a stream", "packed data".
        what: &'static str,
        /// The limit.
        most: u64,
    },
    /// The system cannot read it.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// The bytes are not a history.
    #[error("{0}")]
    Read(#[source] Box<ReadError>),
}

impl From<io::Error> for OpenCause {
    fn from(error: io::Error) -> OpenCause {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => OpenCause::Missing,
            io::ErrorKind::IsADirectory => OpenCause::Directory,
            _ => OpenCause::Unreadable(error),
        }
    }
}

impl From<ReadError> for OpenCause {
    fn from(error: ReadError) -> OpenCause {
        OpenCause::Read(Box::new(error))
    }
}

/// Why a path could not be opened as a history. Displayed as one line that begins with the path.
#[derive(Debug)]
pub struct OpenError {
    /// The path as given.
    pub path: PathBuf,
    /// Why.
    pub cause: OpenCause,
}

impl OpenError {
    pub(super) fn new(path: &Path, cause: impl Into<OpenCause>) -> OpenError {
        OpenError {
            path: path.to_owned(),
            cause: cause.into(),
        }
    }

    /// Where in the file: "line 12", "line 12, column 5", "byte 7", or "file"; in a folder with the name of the file.
    pub fn place(&self) -> String {
        match &self.cause {
            OpenCause::Read(error) => match &error.part {
                Some(part) => format!("{} {}", escape(&part.0), error.place),
                None => error.place.to_string(),
            },
            _ => Place::Whole.to_string(),
        }
    }

    /// What is wrong, without path and place.
    pub fn message(&self) -> String {
        match &self.cause {
            OpenCause::Read(error) => error.message(),
            cause => cause.to_string(),
        }
    }

    /// Whether this only says that reading was stopped.
    pub fn interrupt(&self) -> Option<Interrupt> {
        match &self.cause {
            OpenCause::Read(error) => error.interrupt(),
            _ => None,
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A file name may contain line breaks; the message must not.
        let path = self.path.display().to_string();
        write!(f, "{}: {}", escape(&path), self.cause)
    }
}

/// Its message includes that of its cause, so there is no source.
impl std::error::Error for OpenError {}

/// Why a history could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The sink refused.
    #[error("cannot be written: {0}")]
    Io(#[from] io::Error),
    /// Writing this history in this format would change what it means.
    #[error("the format {format} cannot express {what}")]
    CannotSay {
        /// The format.
        format: &'static str,
        /// What it cannot express, and where it occurs.
        what: String,
    },
    /// No format of this name, or one that is only read.
    #[error("no format `{name}` to write: there are {known}")]
    NoWriter {
        /// As requested.
        name: String,
        /// The names of the formats that can be written.
        known: String,
    },
}

/// Longest piece of a file that a message shows, in characters.
const EXCERPT: usize = 24;

/// The beginning of `bytes` up to the end of the line, for messages: quoted, shortened, control characters escaped.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    let line = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return if bytes.is_empty() {
            "the end of the file"
        } else {
            "the end of the line"
        }
        .to_owned();
    }
    // Four bytes per character are enough; the rest of a long line is not even decoded.
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * EXCERPT + 4)]);
    format!("`{}`", escape(&history::cut(&text, EXCERPT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_on_one_line() {
        assert_eq!(excerpt(b"xyz\nabc"), "`xyz`");
        assert_eq!(excerpt(b"a\x00\x1b[31m\tb\r\n"), "`a\\u{0}\\u{1b}[31m\\tb`");
        assert_eq!(
            excerpt(&b"q".repeat(1 << 20)),
            format!("`{}…`", "q".repeat(24))
        );
        assert_eq!(excerpt(b"\n"), "the end of the line");
        assert_eq!(excerpt(b""), "the end of the file");
        assert_eq!(
            excerpt("é".repeat(40).as_bytes()),
            format!("`{}…`", "é".repeat(24))
        );
        assert_eq!(excerpt(&[0xff, 0xfe]), "`\u{fffd}\u{fffd}`");
    }

    #[test]
    fn an_error_is_one_line_that_begins_with_the_path() {
        let problem = Problem::Expected {
            expected: "`r(` or `w(`",
            found: excerpt(b"xyz"),
        };
        let error = OpenError::new(
            Path::new("a\nb.txt"),
            ReadError::at("plume", 12, 1, problem),
        );
        assert_eq!(
            error.to_string(),
            "a\\nb.txt: line 12: expected `r(` or `w(`, found `xyz`"
        );
        assert_eq!(
            (error.place(), error.message()),
            (
                "line 12".to_owned(),
                "expected `r(` or `w(`, found `xyz`".to_owned()
            )
        );
    }
}
