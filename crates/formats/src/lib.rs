#![doc = include_str!("../README.md")]
//!
//! # How
//!
//! [`FORMATS`] is a table with a row per format. Readers take named bytes, not paths: [`open`] reads the file, attaches
//! its path to errors, and looks through compression and archives (`container`); a folder whose files together are one history is handed to
//! the reader as its parts. The format of a file is detected from its first bytes ([`Likelihood`]); the file extension
//! breaks ties. Readers record what the file says; [`Rules`] then settle what that leaves open. Nothing here knows
//! isolation levels; what the rules of a workload see (`workloads`) is passed on as facts.

pub mod awdit;
pub mod blocks;
pub mod cobra;
pub mod columns;
mod committed_only;
mod container;
mod conversion;
pub mod dbcop_bincode;
pub mod dbcop_json;
pub mod elle;
mod error;
pub mod etcd;
pub mod explanation;
pub mod fields;
pub mod hist;
mod jepsen_run;
pub mod json;
pub mod kvnemesis;
mod limits;
mod listing;
mod losses;
mod name;
mod operations;
pub mod plume;
pub mod porcupine;
mod raw;
mod raw_json;
pub mod recording;
mod refused;
mod stream;
pub mod tables;
pub mod text;
pub mod timekiller;
pub mod tipocket;
pub mod veristrong;
pub mod viper;
mod watch;
mod workloads;

pub use conversion::{ConversionError, Converted, CopyError, Naming, Obstacle, convert, copy};
pub use error::{OpenCause, OpenError, Place, Problem, ReadError, WriteError};
pub use listing::{ListedFile, histories, is_one_history};
pub use losses::losses;
pub use raw::{raw_spots, raw_spots_in};

use error::excerpt;
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, History, Origin, Rules, TimeRule, Vocabulary, Workload};
use operations::Transcript;
use rayon::prelude::*;
use std::borrow::Cow;
use std::path::Path;

/// A file of a history that consists of several.
#[derive(Clone, Copy, Debug)]
pub struct FilePart<'a> {
    /// Its name without the folder.
    pub name: &'a str,
    /// All bytes.
    pub bytes: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
enum Content<'a> {
    One(&'a [u8]),
    Folder(&'a [FilePart<'a>]),
}

/// The bytes of one history and their name.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    name: &'a str,
    /// The name whose extension counts.
    ending_of: &'a str,
    content: Content<'a>,
    /// What the words of a log mean, if that was said.
    vocabulary: Option<&'a Vocabulary>,
    /// Whether times do not count.
    ignores_times: bool,
    /// Where the entries of a log are copied to.
    transcript: Option<&'a Transcript>,
    /// Whether there is more of the history than this.
    is_part: bool,
}

impl<'a> Input<'a> {
    /// These bytes under this name (a path, for the ending and for [`History::origin`]).
    pub fn new(name: &'a str, bytes: &'a [u8]) -> Input<'a> {
        Input {
            name,
            ending_of: name,
            content: Content::One(bytes),
            vocabulary: None,
            ignores_times: false,
            transcript: None,
            is_part: false,
        }
    }

    /// A folder or an archive of files, in the order of their names and of the numbers in these.
    pub fn folder(name: &'a str, parts: &'a [FilePart<'a>]) -> Input<'a> {
        Input {
            name,
            ending_of: name,
            content: Content::Folder(parts),
            vocabulary: None,
            ignores_times: false,
            transcript: None,
            is_part: false,
        }
    }

    /// The same input, with the extension of another name: that of a packed file inside its packing.
    pub fn looking_like(self, inner: &'a str) -> Input<'a> {
        Input {
            ending_of: inner,
            ..self
        }
    }

    /// The same bytes as a part of a history, the rest of which is read by itself.
    pub fn as_part(self) -> Input<'a> {
        Input {
            is_part: true,
            ..self
        }
    }

    /// The name, usually a path; may be empty.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// All bytes of a file; none of a folder.
    pub fn bytes(&self) -> &'a [u8] {
        match self.content {
            Content::One(bytes) => bytes,
            Content::Folder(_) => &[],
        }
    }

    /// The files of a folder; none for a single file.
    pub fn parts(&self) -> &'a [FilePart<'a>] {
        match self.content {
            Content::One(_) => &[],
            Content::Folder(parts) => parts,
        }
    }

    /// What the words of a log mean.
    fn vocabulary(&self) -> Cow<'a, Vocabulary> {
        self.vocabulary.map_or_else(Cow::default, Cow::Borrowed)
    }

    /// Number of bytes in all.
    pub fn len(&self) -> usize {
        self.bytes().len()
            + self
                .parts()
                .iter()
                .map(|part| part.bytes.len())
                .sum::<usize>()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first bytes, at most [`SNIFFED`], without a byte order mark: what a format may look at to recognise itself.
    pub fn head(&self) -> &'a [u8] {
        head_of(self.bytes())
    }

    /// The first non-blank lines of [`Input::head`], trimmed; the last may be cut off.
    fn head_lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.head()
            .split(|&b| b == b'\n')
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty())
    }

    fn origin(&self, format: &'static str) -> Origin {
        Origin {
            path: self.name.to_owned(),
            format,
            ..Origin::default()
        }
    }
}

/// The first bytes of a file, at most [`SNIFFED`], without a byte order mark.
fn head_of(bytes: &[u8]) -> &[u8] {
    without_mark(&bytes[..bytes.len().min(SNIFFED)])
}

/// How many bytes are used to detect the format.
pub const SNIFFED: usize = 4096;

/// How much the first bytes look like a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likelihood {
    /// This is something else.
    No,
    /// It begins like this format but does not follow it: if no other format fits better, this reader reports what is wrong.
    Perhaps,
    /// The first bytes follow the grammar. From here on, a file without content is an empty history.
    Likely,
    /// The file says so itself.
    Certain,
}

/// Turns bytes into a history, as the file says it: [`read`] applies the rules afterwards.
///
/// A byte order mark is still there, lone carriage returns are line feeds already. A reader says its phase to the control and
/// asks it again and again (`Watch`), and asks for the memory that [`Builder::finish_needs`] names before it finishes.
/// Lines that do not fit into 32 bits become the last number. A file that holds no transaction is [`Problem::Empty`].
pub type ReadFunction = fn(&Input<'_>, &Control) -> Result<History, ReadError>;
/// Appends a history to bytes. Reports what it cannot write before the first byte.
pub type WriteFunction = fn(&History, &mut Vec<u8>) -> Result<(), WriteError>;
/// Makes the files of a history that is a folder: names and contents.
pub type WriteFolderFunction = fn(&History) -> Result<Vec<(String, Vec<u8>)>, WriteError>;

/// How a format is written.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// As one file.
    File(WriteFunction),
    /// As a folder.
    Folder(WriteFolderFunction),
}

/// A row of the table of formats.
#[derive(Debug)]
pub struct Format {
    /// Name for `--format` and reports.
    pub name: &'static str,
    /// Other names for `--format`.
    pub aliases: &'static [&'static str],
    /// Usual endings of file names, lower case, without the dot. Files of a folder that end so count as histories unread,
    /// unless the ending is one of `listing::GENERAL`, which other files have, too.
    pub extensions: &'static [&'static str],
    /// For a format whose histories are folders: which files belong to one.
    pub part_name: Option<fn(&str) -> bool>,
    /// Looks at [`Input::head`], or at the heads of [`Input::parts`].
    pub sniff: fn(&Input<'_>) -> Likelihood,
    /// The reader.
    pub read: ReadFunction,
    /// The writer, if there is one.
    pub write: Option<Writer>,
}

impl Format {
    /// The row of a format that is read from one file and written as one.
    const fn file(
        name: &'static str,
        aliases: &'static [&'static str],
        extensions: &'static [&'static str],
        sniff: fn(&Input<'_>) -> Likelihood,
        read: ReadFunction,
        write: WriteFunction,
    ) -> Format {
        Format {
            name,
            aliases,
            extensions,
            part_name: None,
            sniff,
            read,
            write: Some(Writer::File(write)),
        }
    }
}

/// All formats; the earlier of two equally likely ones is tried.
pub const FORMATS: &[Format] = &[
    plume::FORMAT,
    text::FORMAT,
    hist::FORMAT,
    json::FORMAT,
    dbcop_bincode::FORMAT,
    dbcop_json::FORMAT,
    cobra::FORMAT,
    viper::FORMAT,
    timekiller::FORMAT,
    veristrong::FORMAT,
    awdit::FORMAT,
    explanation::FORMAT,
    kvnemesis::FORMAT,
    tipocket::FORMAT,
    blocks::FORMAT,
    columns::LOG,
    columns::HISTORY,
    porcupine::KV,
    elle::EDN,
    elle::JSON,
    tables::TABLE,
    tables::LINES,
    porcupine::OPERATIONS,
    etcd::FORMAT,
];

/// Whether a history has only those transactions that a text quotes: what they violate is violated, and what they satisfy need
/// not hold of all.
pub fn is_excerpt(history: &History) -> bool {
    history.origin().format == explanation::FORMAT.name
}

/// The format called `name`, in any case.
pub fn format(name: &str) -> Option<&'static Format> {
    let called = |candidate: &&str| candidate.eq_ignore_ascii_case(name);
    FORMATS
        .iter()
        .find(|f| called(&f.name) || f.aliases.iter().any(called))
}

/// The names of all formats in a sentence.
fn known(filter: impl Fn(&Format) -> bool) -> String {
    FORMATS
        .iter()
        .filter(|f| filter(f))
        .map(|f| f.name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The format that `input` looks like, if it looks like any.
pub fn recognise(input: &Input<'_>) -> Option<(&'static Format, Likelihood)> {
    let extension = Path::new(input.ending_of)
        .extension()
        .and_then(|e| e.to_str())
        .map(str::to_ascii_lowercase);
    let by_extension = |f: &Format| {
        extension
            .as_deref()
            .is_some_and(|e| f.extensions.contains(&e))
    };
    // `max_by_key` returns the last of equals, hence the reversal.
    let ranked = FORMATS.iter().rev().map(|f| (f, (f.sniff)(input)));
    ranked
        .max_by_key(|(f, likelihood)| (*likelihood, by_extension(f)))
        .filter(|(_, l)| *l > Likelihood::No)
}

/// A request to a reader: a format by name, or whatever the bytes look like; and how to interpret it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Names a row of [`FORMATS`]; none to let the first bytes decide.
    pub format: Option<&'a str>,
    /// How to resolve what the file leaves open; none for the defaults.
    pub rules: Option<&'a Rules>,
}

impl<'a> From<Option<&'a str>> for Request<'a> {
    /// This format, by the default rules.
    fn from(format: Option<&'a str>) -> Request<'a> {
        Request {
            format,
            rules: None,
        }
    }
}

/// Reads a history as requested.
pub fn read<'a>(
    input: &Input<'_>,
    request: impl Into<Request<'a>>,
    control: &Control,
) -> Result<History, ReadError> {
    let request = request.into();
    let ended = with_line_feeds(input.bytes());
    let content = match &ended {
        Some(bytes) => Content::One(bytes),
        None => input.content,
    };
    let vocabulary = request.rules.map(|rules| &rules.vocabulary);
    let ignores_times = request
        .rules
        .is_some_and(|rules| rules.times == TimeRule::Ignore);
    let input = &Input {
        content,
        vocabulary,
        ignores_times,
        ..*input
    };
    let history = read_as_recorded(input, request.format, control)?;
    let format = history.origin().format;
    let understood = match request.rules {
        Some(rules) => history.with_rules(rules),
        None => history.with_rules(&Rules::default()),
    };
    understood.map_err(|message| ReadError::whole(format, Problem::Other(error::escape(&message))))
}

/// Reads a history and leaves open what the file leaves open.
fn read_as_recorded(
    input: &Input<'_>,
    format: Option<&str>,
    control: &Control,
) -> Result<History, ReadError> {
    let named = match format {
        Some(name) => Some(self::format(name).ok_or_else(|| {
            ReadError::whole(
                "",
                Problem::UnknownFormat {
                    name: error::escape(name),
                    known: known(|_| true),
                },
            )
        })?),
        None => None,
    };
    let blank = |bytes: &[u8]| without_mark(bytes).iter().all(u8::is_ascii_whitespace);
    let is_blank = blank(input.bytes()) && input.parts().iter().all(|part| blank(part.bytes));
    let Some(format) = named else {
        if is_blank {
            return Err(ReadError::whole("", Problem::Empty));
        }
        let (format, likelihood) = recognised(input)?;
        return or_empty(
            format,
            likelihood >= Likelihood::Likely,
            input,
            (format.read)(input, control),
        );
    };
    or_empty(format, true, input, (format.read)(input, control)).map_err(|mut error| {
        if is_blank && error.interrupt().is_none() {
            return ReadError::whole(format.name, Problem::Empty);
        }
        if error.interrupt().is_none() {
            let other = recognise(input).filter(|(f, likelihood)| {
                f.name != format.name && *likelihood > Likelihood::Perhaps
            });
            error.looks_like = other.map(|(other, _)| other.name);
        }
        error
    })
}

/// What was read. A file in which a reader found no error and no content is the history without transactions, if it is
/// certain enough that the file is of this format.
fn or_empty(
    format: &Format,
    is_certain: bool,
    input: &Input<'_>,
    read: Result<History, ReadError>,
) -> Result<History, ReadError> {
    match read {
        Err(ReadError {
            problem: Problem::Empty,
            ..
        }) if is_certain => {
            let empty = Builder::new(input.origin(format.name)).finish();
            empty.map_err(|error| ReadError::whole(format.name, error))
        }
        read => read,
    }
}

/// The bytes with LF in place of each CR that no LF follows, the line end of old Macs; none where there is no such CR,
/// or where the bytes are no text. O(bytes).
fn with_line_feeds(bytes: &[u8]) -> Option<Vec<u8>> {
    let is_alone = |at: &usize| bytes.get(at + 1) != Some(&b'\n');
    let head = &bytes[..bytes.len().min(SNIFFED)];
    if head.contains(&0) || !is_text(head) {
        return None;
    }
    // It is the first to touch the bytes of a large file, which may take long.
    const PIECE: usize = 1 << 20;
    bytes
        .par_chunks(PIECE)
        .any(|piece| memchr::memchr(b'\r', piece).is_some())
        .then_some(())?;
    let mut alone = memchr::memchr_iter(b'\r', bytes)
        .filter(is_alone)
        .peekable();
    alone.peek()?;
    let mut ended = bytes.to_vec();
    alone.for_each(|at| ended[at] = b'\n');
    Some(ended)
}

/// The format that `input` looks like; an error says why there is none.
fn recognised(input: &Input<'_>) -> Result<(&'static Format, Likelihood), ReadError> {
    refused::check(input)?;
    recognise(input).ok_or_else(|| unrecognised(input))
}

fn unrecognised(input: &Input<'_>) -> ReadError {
    if let Some(part) = input.parts().first() {
        return unrecognised(&Input::new(part.name, part.bytes)).in_part(part.name);
    }
    let head = input.head();
    if head.contains(&0) || !is_text(head) {
        return ReadError::whole("", Problem::Binary(known(|_| true)));
    }
    let blank = head.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let line = 1 + head[..blank].iter().filter(|&&b| b == b'\n').count() as u64;
    let found = excerpt(&head[blank..]);
    ReadError::at(
        "",
        line,
        0,
        Problem::Unrecognised {
            formats: known(|_| true),
            found,
        },
    )
}

/// Whether these first bytes are UTF-8, except for a character that the cut may have split.
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

/// Fails if the first bytes of a stream, of which there is more, cannot be the beginning of a history: an endless
/// stream of anything else need not be read to be refused.
fn refuse(head: &Input<'_>, format: Option<&str>) -> Result<(), ReadError> {
    if container::Packing::of(head.bytes()).is_some() {
        return Ok(());
    }
    let Some(named) = format.and_then(self::format) else {
        return recognised(head).map(drop);
    };
    if (named.sniff)(head) > Likelihood::No {
        return Ok(());
    }
    // The reader best reports what is wrong, unless that is where the bytes are cut off.
    match read_as_recorded(head, format, &Control::new()) {
        Err(error)
            if byte_of(error.place, head.bytes()).is_some_and(|byte| byte < head.len() / 2) =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Which byte a place is.
fn byte_of(place: Place, bytes: &[u8]) -> Option<usize> {
    match place {
        Place::Whole => None,
        Place::Byte(byte) => usize::try_from(byte).ok(),
        Place::Line { line, column } => {
            let lines = bytes
                .split_inclusive(|&b| b == b'\n')
                .take(usize::try_from(line).ok()?.saturating_sub(1));
            Some(
                lines.map(<[u8]>::len).sum::<usize>()
                    + usize::try_from(column).ok()?.saturating_sub(1),
            )
        }
    }
}

/// Whether the amount to read at a path is known beforehand: for unpacked files and folders, but not for streams. A
/// time limit for the others should run from the beginning.
pub fn has_known_size(path: &Path) -> bool {
    container::has_known_size(path)
}

/// Reads the history at `path` as requested: a file, compressed or not, an archive, a folder whose files together are
/// one history, or a stream: a named pipe, a device, `-` for standard input.
///
/// A stream is refused early when its first [`SNIFFED`] bytes cannot be the beginning of a history.
/// The progress of `control` counts bytes. Errors name the path, the place and what was expected, in one line.
pub fn open<'a>(
    path: &Path,
    request: impl Into<Request<'a>>,
    control: &Control,
) -> Result<History, OpenError> {
    open_copied(path, request.into(), None, control)
}

/// The same; the entries of a log are copied.
fn open_copied(
    path: &Path,
    request: Request<'_>,
    transcript: Option<&Transcript>,
    control: &Control,
) -> Result<History, OpenError> {
    let path = jepsen_run::opened(path);
    let fail = |cause: OpenCause| OpenError::new(path, cause);
    control.phase("opening", 0);
    let name = path.to_string_lossy();
    let look = |head: &[u8]| refuse(&Input::new(&name, head), request.format);
    let held = container::load(path, &look, control).map_err(fail)?;
    let annotated = |input: &Input<'_>| {
        let copied = Input {
            transcript,
            ..*input
        };
        let history = read(&copied, request, control)?;
        Ok(match recording::about(input) {
            about if about.is_empty() => history,
            about => history.annotated(about),
        })
    };
    let history = held
        .with_input(path, annotated)
        .map_err(|error: ReadError| fail(error.into()))?;
    let is_run = path.is_dir() && jepsen_run::history_in(path).is_some();
    Ok(if is_run {
        history.annotated(jepsen_run::about(path))
    } else {
        history
    })
}

/// The text at a path that is no history, of a file or of a stream as [`open`] reads them: a report.
pub fn text_at(path: &Path, control: &Control) -> Result<String, OpenError> {
    let expected = |bytes: &[u8], place: usize| {
        let found = excerpt(&bytes[place..]);
        ReadError::at_byte(
            "",
            place as u64,
            Problem::Expected {
                expected: "text",
                found,
            },
        )
    };
    // The end of the head may cut a character in two.
    let look = |head: &[u8]| match (head.iter().position(|&b| b == 0), std::str::from_utf8(head)) {
        (Some(zero), _) => Err(expected(head, zero)),
        (None, Err(error)) if !is_text(head) => Err(expected(head, error.valid_up_to())),
        _ => Ok(()),
    };
    let bytes =
        container::bytes(path, &look, control).map_err(|cause| OpenError::new(path, cause))?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => Err(OpenError::new(path, expected(&bytes, error.valid_up_to()))),
    }
}

/// Reads the history in bytes that came without a file system, looking through compression and archives as [`open`]
/// does.
pub fn open_bytes<'a>(
    name: &str,
    bytes: &[u8],
    request: impl Into<Request<'a>>,
    control: &Control,
) -> Result<History, OpenError> {
    let path = Path::new(name);
    let fail = |cause: OpenCause| OpenError::new(path, cause);
    let held =
        container::unpack(container::Bytes::Owned(bytes.to_vec()), path, control).map_err(fail)?;
    held.with_input(path, |input| read(input, request, control))
        .map_err(|error| fail(error.into()))
}

/// Appends a history in the format called `format_name` to `out`, or reports what that format cannot express. For a format
/// that keeps histories in folders, appends a tar archive of one.
pub fn write(history: &History, format_name: &str, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let writer = writer(format_name)?;
    refuse_other_data(history, format_name)?;
    refuse_rows(history, format_name)?;
    let plain = history.with_plain_initial_reads();
    match writer {
        Writer::File(write) => write(&plain, out),
        Writer::Folder(files) => Ok(container::write_tar(&files(&plain)?, out)?),
    }
}

/// An error where the operations of a history are shown as reads and writes and are none: written, they would be taken for
/// such.
fn refuse_other_data(history: &History, format_name: &str) -> Result<(), WriteError> {
    let other = |workload: &&Workload| workload.no_levels.is_some();
    match history.workload().filter(other) {
        None => Ok(()),
        Some(workload) => Err(WriteError::CannotSay {
            format: format(format_name).map_or("", |format| format.name),
            what: format!("the operations of the workload `{}`", workload.name),
        }),
    }
}

/// An error where a history has scans or deletes, which only our own formats can express.
fn refuse_rows(history: &History, format_name: &str) -> Result<(), WriteError> {
    let format = format(format_name).map_or("", |format| format.name);
    if !history.shows_rows() || [text::FORMAT.name, json::FORMAT.name].contains(&format) {
        return Ok(());
    }
    let what = match history.scans().first() {
        Some(scan) if scan.line > 0 => {
            format!("which rows a scan did not find (line {})", scan.line)
        }
        Some(_) => "which rows a scan did not find".to_owned(),
        None => "that a row is absent".to_owned(),
    };
    Err(WriteError::CannotSay { format, what })
}

/// How the format called `format_name` is written.
pub fn writer(format_name: &str) -> Result<Writer, WriteError> {
    let no_writer = || WriteError::NoWriter {
        name: error::escape(format_name),
        known: known(|f| f.write.is_some()),
    };
    format(format_name)
        .and_then(|f| f.write)
        .ok_or_else(no_writer)
}
