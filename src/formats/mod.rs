//! Bytes ⇄ [`History`].
//!
//! [`FORMATS`] is a table with a row per format: adding one is one file and one row. Readers take named bytes, not
//! paths; [`open`] is the only function here that touches the file system to read, and the only one that attaches a
//! path to an error. Which format a file has is decided by looking at its first bytes ([`Likelihood`]), the ending of
//! its name breaks ties. Nothing here knows what a history means.

mod error;
pub mod hist;
pub mod json;
mod limits;
mod name;
pub mod plume;
pub mod text;

pub use error::{OpenCause, OpenError, Place, Problem, ReadError, WriteError};

use crate::control::Control;
use crate::history::{History, Origin};
use error::excerpt;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

/// The bytes of one history and what they are called.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    name: &'a str,
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    /// These bytes under this name (a path, for the ending and for [`History::origin`]).
    pub fn new(name: &'a str, bytes: &'a [u8]) -> Input<'a> {
        Input { name, bytes }
    }

    /// The name, usually a path; may be empty.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// All bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The first bytes, at most [`SNIFFED`], without a byte order mark: what a format may look at to recognise itself.
    pub fn head(&self) -> &'a [u8] {
        without_mark(&self.bytes[..self.bytes.len().min(SNIFFED)])
    }

    /// The first lines of [`Input::head`] that are not blank, without what surrounds them; the last may be cut off.
    fn head_lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.head().split(|&b| b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
    }

    fn origin(&self, format: &'static str) -> Origin {
        Origin { path: self.name.to_owned(), format }
    }
}

/// How many bytes are looked at to find out the format.
pub const SNIFFED: usize = 4096;

/// How much the first bytes look like a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likelihood {
    /// The reader would fail.
    No,
    /// The reader can say best what is wrong.
    Perhaps,
    /// The first bytes follow the grammar.
    Likely,
    /// The file says so itself.
    Certain,
}

/// Turns bytes into a history.
pub type ReadFunction = fn(&Input<'_>, &Control) -> Result<History, ReadError>;
/// Writes a history. Says what it cannot write before the first byte.
pub type WriteFunction = fn(&History, &mut dyn io::Write) -> Result<(), WriteError>;

/// A row of the table of formats.
#[derive(Debug)]
pub struct Format {
    /// Name for `--format` and reports.
    pub name: &'static str,
    /// Other names for `--format`.
    pub aliases: &'static [&'static str],
    /// One line about it, for help texts.
    pub about: &'static str,
    /// Usual endings of file names, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Looks at [`Input::head`].
    pub sniff: fn(&Input<'_>) -> Likelihood,
    /// The reader.
    pub read: ReadFunction,
    /// The writer, if there is one.
    pub write: Option<WriteFunction>,
}

/// All formats; of two that are equally likely the earlier one is tried.
pub const FORMATS: &[Format] = &[plume::FORMAT, text::FORMAT, hist::FORMAT, json::FORMAT];

/// The format called `name`, in any case.
pub fn format(name: &str) -> Option<&'static Format> {
    let called = |candidate: &&str| candidate.eq_ignore_ascii_case(name);
    FORMATS.iter().find(|f| called(&f.name) || f.aliases.iter().any(called))
}

/// The names of all formats in a sentence.
fn known(filter: impl Fn(&Format) -> bool) -> String {
    FORMATS.iter().filter(|f| filter(f)).map(|f| f.name).collect::<Vec<_>>().join(", ")
}

/// The format that `input` looks like, if it looks like any.
pub fn recognise(input: &Input<'_>) -> Option<(&'static Format, Likelihood)> {
    let extension = Path::new(input.name).extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let by_extension = |f: &Format| extension.as_deref().is_some_and(|e| f.extensions.contains(&e));
    // `max_by_key` returns the last of equals, hence the reversal.
    let ranked = FORMATS.iter().rev().map(|f| (f, (f.sniff)(input)));
    ranked.max_by_key(|(f, likelihood)| (*likelihood, by_extension(f))).filter(|(_, l)| *l > Likelihood::No)
}

/// Reads a history; `format` names a row of [`FORMATS`], or the first bytes decide.
pub fn read(input: &Input<'_>, format: Option<&str>, control: &Control) -> Result<History, ReadError> {
    let named = match format {
        Some(name) => Some(self::format(name).ok_or_else(|| {
            ReadError::whole("", Problem::UnknownFormat { name: error::escape(name), known: known(|_| true) })
        })?),
        None => None,
    };
    if without_mark(input.bytes).iter().all(u8::is_ascii_whitespace) {
        return Err(ReadError::whole(named.map_or("", |f| f.name), Problem::Empty));
    }
    let Some(format) = named else {
        let (format, _) = recognise(input).ok_or_else(|| unrecognised(input))?;
        return (format.read)(input, control);
    };
    (format.read)(input, control).map_err(|mut error| {
        if error.interrupt().is_none() {
            let other =
                recognise(input).filter(|(f, likelihood)| f.name != format.name && *likelihood > Likelihood::Perhaps);
            error.looks_like = other.map(|(other, _)| other.name);
        }
        error
    })
}

fn unrecognised(input: &Input<'_>) -> ReadError {
    let head = input.head();
    if head.contains(&0) || !is_text(head) {
        return ReadError::whole("", Problem::Binary(known(|_| true)));
    }
    let blank = head.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let line = 1 + head[..blank].iter().filter(|&&b| b == b'\n').count() as u64;
    let found = excerpt(&head[blank..]);
    ReadError::at("", line, 0, Problem::Unrecognised { formats: known(|_| true), found })
}

/// Whether these first bytes are UTF-8, but for a character that the cut may have split.
fn is_text(head: &[u8]) -> bool {
    match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && head.len() - error.valid_up_to() < 4,
    }
}

/// `bytes` without the byte order mark of UTF-8.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Files from this size on are mapped into memory instead of copied.
const MAP_FROM: u64 = 1 << 20;

/// Reads the history in the file at `path`; `format` names a row of [`FORMATS`], or the first bytes decide.
///
/// The progress of `control` counts bytes. Errors name the path, the place and what was expected, in one line.
pub fn open(path: &Path, format: Option<&str>, control: &Control) -> Result<History, OpenError> {
    let fail = |error: io::Error| {
        let cause = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => OpenCause::Missing,
            io::ErrorKind::IsADirectory => OpenCause::Directory,
            _ => OpenCause::Unreadable(error),
        };
        OpenError::new(path, cause)
    };
    let metadata = std::fs::metadata(path).map_err(fail)?;
    if metadata.is_dir() {
        return Err(OpenError::new(path, OpenCause::Directory));
    }
    let mut file = File::open(path).map_err(fail)?;
    let name = path.to_string_lossy();
    let read = |bytes: &[u8]| {
        self::read(&Input::new(&name, bytes), format, control).map_err(|error| OpenError::new(path, error))
    };
    if metadata.is_file() && metadata.len() >= MAP_FROM {
        return read(&map(&file).map_err(fail)?);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(fail)?;
    read(&bytes)
}

/// Maps a file for reading.
#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<memmap2::Mmap> {
    // SAFETY: the map is private to this module, read-only, and dropped when reading is done. Nobody may change a
    // history file while it is read; should that happen all the same, readers see other bytes and report an error or
    // another history. They check every index, so no byte of the file can lead outside the map.
    unsafe { memmap2::Mmap::map(file) }
}

/// Longest line that [`raw_line`] returns, in bytes.
const RAW_LINE: u64 = 1 << 16;

/// Line `line` (from 1) of the file at `path`, without its end; bytes that are no UTF-8 are replaced, and of a line
/// longer than 64 KiB the beginning is returned. O(bytes before it).
pub fn raw_line(path: &Path, line: u32) -> io::Result<String> {
    let mut reader = io::BufReader::with_capacity(1 << 16, File::open(path)?);
    for _ in 1..line {
        if reader.skip_until(b'\n')? == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("the file has no line {line}")));
        }
    }
    let mut bytes = Vec::new();
    if line == 0 || reader.take(RAW_LINE).read_until(b'\n', &mut bytes)? == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("the file has no line {line}")));
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_end_matches(['\n', '\r']).trim_start_matches('\u{feff}').to_owned())
}

/// Writes a history in the format called `format_name`, or says what that format cannot say.
pub fn write(history: &History, format_name: &str, out: &mut dyn io::Write) -> Result<(), WriteError> {
    match format(format_name).and_then(|f| f.write) {
        Some(write) => write(history, out),
        None => Err(WriteError::NoWriter { name: error::escape(format_name), known: known(|f| f.write.is_some()) }),
    }
}
