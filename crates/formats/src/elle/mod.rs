//! Histories of Jepsen and Elle: EDN, and the same in JSON for elle-cli.
//!
//! ```text
//! {:type :invoke, :f :txn, :value [[:append x 1] [:r y nil]],   :process 0, :time 16357277, :index 0}
//! {:type :ok,     :f :txn, :value [[:append x 1] [:r y [3 4]]], :process 0, :time 40237832, :index 1}
//! ```
//!
//! ```json
//! [{"type": "invoke", "f": "txn", "value": [["w", "x", 1], ["r", "y", null]], "process": 0},
//!  {"type": "ok",     "f": "txn", "value": [["w", "x", 1], ["r", "y", 7]],    "process": 0}]
//! ```
//!
//! A file is a sequence of operations in the order in which they happened (jepsen-io/history: README; ligurio/elle-cli:
//! src/elle_cli/cli.clj). EDN has one map after the other or vectors or lists of them, over as many lines as it likes,
//! with comments, discarded forms and tags; JSON one array, behind which nothing counts, or one object after the other.
//!
//! | field, in any order | |
//! |---|---|
//! | `type` | `invoke`, then `ok` (it happened), `fail` (it did not) or `info` (it is not known) |
//! | `process`, or `client` | an integer: the session; where it is missing all operations belong to one; others are no clients; what `:nemesis` does, with its `:shard`, is an incident |
//! | `f` | `txn` or missing; any word where the value is micro-operations |
//! | `value` | micro-operations `[f k v]` with f `r` or `read`, `w` or `write` (register), or `append` (list); for reads v may be missing |
//! | `time` | nanoseconds |
//! | `node` | the server that the process used |
//! | others | skipped, and named unless they never mean anything (`index`) |
//!
//! - A last line that is cut off, in EDN with a line for each operation, is left out: such files grow while they are
//!   read.
//! - An invocation is completed by the next operation of its process (`calls`). Without completion its outcome is
//!   unknown; a completion without invocation is a transaction as well.
//! - `nil` in an `ok` is the initial version or the empty list; elsewhere it means that the result was not recorded,
//!   and the read is left out. So is a result of a `fail` or `info` that its invocation already had.
//! - Real time is the order of the operations; `time` counts where it agrees with it for all of them.
//! - A key holds lists if a transaction appends to it or reads a list; all other keys are registers. 0 is an ordinary
//!   value.
//! - `:x`, `x` and `"x"` are three keys and keep that form as their names (`log`). A key or a value may also be a
//!   collection of EDN, `[:anti 3]`: its name is its text in one form for all spellings (vectors for lists, sets and
//!   maps in order). What is read as a vector is a list, unless vectors were written to the key.
//! - A file with anything but transactions of micro-operations is read once more, as operations of any kind, and a workload
//!   says what they mean (`operations`, `workloads`).
//!
//! `scan` knows the two notations, `read` what an operation looks like, `lists` the lists that were read, `assemble` what
//! it means. Writing (`write`) loses the names of transactions and of sessions that are no integers, and reads of aborted
//! transactions whose result is `nil`. Where the history has no times, the order of the operations written is one that keeps
//! the sessions; reading it back takes that order as real time.

mod assemble;
mod atom;
mod lists;
mod log;
mod notation;
mod order;
mod parts;
mod read;
mod scan;
mod trees;
mod write;

pub(super) use assemble::history;
pub(super) use atom::{Atom, Atoms, Called};
pub(super) use log::Log;
pub(crate) use notation::token;
pub(super) use parts::together;
pub(super) use scan::{Scanner, Token, content_of};
pub(super) use trees::{RowOperation, are_transactions, log_of, log_of_rows};

use super::{Format, Input, Likelihood, Problem, ReadError, jepsen_run, workloads};
use crate::operations::{self, Stage};
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, FailedCasRule, History, Suggestions, TimeoutRule};
use read::{Reader, Stop};

/// The row of EDN.
pub const EDN: Format = Format::file(
    "elle-edn",
    &["edn", "jepsen", "elle"],
    &["edn"],
    sniff_edn,
    read_edn,
    write::edn,
);

/// The row of JSON.
pub const JSON: Format = Format::file(
    "elle-json",
    &["elle-cli", "jepsen-json"],
    &["json"],
    sniff_json,
    read_json,
    write::json,
);

/// Fields that operations begin with.
const FIELDS: [&[u8]; 6] = [b"type", b"process", b"f", b"value", b"time", b"index"];

fn sniff_edn(input: &Input<'_>) -> Likelihood {
    let Some(inside) = first_map::<false>(input.head()) else {
        return Likelihood::No;
    };
    let Some(keyword) = inside.strip_prefix(b":") else {
        return if inside.is_empty() {
            Likelihood::Perhaps
        } else {
            Likelihood::No
        };
    };
    let typed = |(word, rest): (&[u8], &[u8])| {
        word == b":type"
            && [&b":invoke"[..], b":ok", b":fail", b":info"]
                .iter()
                .any(|t| rest.starts_with(t))
    };
    let name = keyword
        .split(|b| !b.is_ascii_alphanumeric() && *b != b'-')
        .next()
        .unwrap_or_default();
    match (
        mentions(inside, b":type").any(typed),
        FIELDS.contains(&name),
    ) {
        (true, _) => Likelihood::Certain,
        (false, true) => Likelihood::Likely,
        (false, false) => Likelihood::Perhaps,
    }
}

fn sniff_json(input: &Input<'_>) -> Likelihood {
    let head = input.head().trim_ascii_start();
    let Some(inside) = first_map::<true>(head) else {
        return Likelihood::No;
    };
    let types: [&[u8]; 4] = [b"\"invoke\"", b"\"ok\"", b"\"fail\"", b"\"info\""];
    let typed = |(_, rest): (&[u8], &[u8])| {
        let value = rest
            .strip_prefix(b":")
            .map(<[u8]>::trim_ascii_start)
            .unwrap_or_default();
        types.iter().any(|t| value.starts_with(t))
    };
    match mentions(inside, b"\"type\"").any(typed) {
        true => Likelihood::Certain,
        // The type may follow a long value.
        false if head.starts_with(b"[") => {
            let name = inside
                .strip_prefix(b"\"")
                .and_then(|rest| rest.split(|b| *b == b'"').next());
            if name.is_some_and(|name| FIELDS.contains(&name)) {
                Likelihood::Likely
            } else {
                Likelihood::No
            }
        }
        false => Likelihood::No,
    }
}

/// The content of the first map of a file, up to the end of the head.
fn first_map<const JSON: bool>(head: &[u8]) -> Option<&[u8]> {
    let mut scan = Scanner::<JSON>::new("", head);
    let mut depth = 0;
    loop {
        scan.blanks().ok()?;
        match scan.peek() {
            Some(b'{') => break,
            // A file of only comments so far.
            None if !JSON && scan.at() > 0 => return Some(&[]),
            _ if depth == 0 && scan.at_sequence() => drop(scan.open()),
            _ => return None,
        }
        depth += 1;
    }
    scan.open()?;
    scan.blanks().ok()?;
    head.get(scan.at()..)
}

/// The occurrences of a word, each with the text that follows it after blanks.
fn mentions<'h>(
    head: &'h [u8],
    word: &'static [u8],
) -> impl Iterator<Item = (&'static [u8], &'h [u8])> {
    memchr::memmem::find_iter(head, word)
        .map(move |at| (word, head[at + word.len()..].trim_ascii_start()))
}

fn read_edn(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    read::<false>(input, EDN.name, control)
}

fn read_json(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    read::<true>(input, JSON.name, control)
}

fn read<const JSON: bool>(
    input: &Input<'_>,
    format: &'static str,
    control: &Control,
) -> Result<History, ReadError> {
    let bytes = super::without_mark(input.bytes());
    read_bytes::<JSON>(input, bytes, format, None, control).or_else(|error| {
        if !JSON && error.interrupt().is_none() && jepsen_run::is_verdict(bytes) {
            let problem = Problem::Other(jepsen_run::VERDICT.to_owned());
            return Err(ReadError::whole(format, problem));
        }
        let Some((whole, line)) = without_cut_line(bytes).filter(|_| !JSON) else {
            return Err(error);
        };
        // An error in the earlier lines takes precedence.
        let remark = format!(
            "The last line, {line}, is cut off, as it is while a file is still written or after a crash; it is left out."
        );
        read_bytes::<JSON>(input, whole, format, Some(remark), control)
    })
}

fn read_bytes<'a, const JSON: bool>(
    input: &Input<'a>,
    bytes: &'a [u8],
    format: &'static str,
    remark: Option<String>,
    control: &Control,
) -> Result<History, ReadError> {
    if let Some(transcript) = input.transcript {
        transcript.begin();
    }
    // Errors are read with whole operations only.
    let needs_errors = input.vocabulary().failed_timeouts != TimeoutRule::Failed;
    let log = match needs_errors || input.transcript.is_some() {
        true => Err(Stop::NoTransaction),
        false => read_log::<JSON>(bytes, format, control),
    };
    match log.map(|log| (log.has_growing_sets(), log)) {
        Ok((false, mut log)) => {
            log.around.remarks.extend(remark);
            log.is_part = input.is_part;
            let mut builder = Builder::new(input.origin(format));
            builder.suggest(suggestions());
            history(log, builder, format)
        }
        Err(Stop::Error(error)) => Err(error),
        Ok((true, _)) | Err(Stop::NoTransaction) => {
            control.phase("reading", bytes.len() as u64);
            let in_parts = if JSON || input.transcript.is_some() {
                None
            } else {
                parts::operations(input, format, bytes, control)
            };
            let mut operations = match in_parts {
                Some(operations) => operations,
                None => operations::read::<JSON>(input, format, bytes, control)?,
            };
            operations.around.remarks.extend(remark);
            workloads::history(operations, input, format, suggestions(), control)
        }
    }
}

/// What operations of logs in Jepsen's words usually mean.
pub(super) fn suggestions() -> Suggestions {
    Suggestions {
        failed_cas: FailedCasRule::Dropped,
        may_omit_values: true,
        ..Suggestions::default()
    }
}

fn read_log<'a, const JSON: bool>(
    bytes: &'a [u8],
    format: &'static str,
    control: &Control,
) -> Result<Log<'a>, Stop> {
    control.phase("reading", bytes.len() as u64);
    let in_parts = if JSON {
        None
    } else {
        parts::read(format, bytes, control)
    };
    match in_parts {
        Some(log) => Ok(log),
        None => {
            control.phase("reading", bytes.len() as u64);
            Reader::new(Scanner::<JSON>::new(format, bytes)).file(control)
        }
    }
}

/// What a line of EDN is, in a file with a line for each operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glimpse {
    /// No operation of a client.
    Nothing,
    /// The invocation of a transaction of this process.
    Begins(Option<i64>),
    /// The end of a transaction of this process.
    Ends(Option<i64>),
}

/// What a line is, for those who follow a file that grows. Error: anything but one whole operation, or none.
pub fn glimpse(line: &[u8]) -> Result<Glimpse, ReadError> {
    let stages: Vec<(Stage, Option<i64>)> = match Reader::new(Scanner::<false>::new(EDN.name, line))
        .file(&Control::new())
    {
        Ok(log) => log
            .events
            .iter()
            .map(|event| (event.stage, event.process))
            .collect(),
        Err(Stop::Error(error)) => return Err(error),
        Err(Stop::NoTransaction) => {
            let operations =
                operations::read::<false>(&Input::new("", line), EDN.name, line, &Control::new())?;
            let events = operations.events.iter();
            events.map(|event| (event.stage, event.process)).collect()
        }
    };
    match stages[..] {
        [] => Ok(Glimpse::Nothing),
        [(Stage::Invoke, process)] => Ok(Glimpse::Begins(process)),
        [(_, process)] => Ok(Glimpse::Ends(process)),
        _ => Err(ReadError::at(
            EDN.name,
            1,
            0,
            Problem::Other("expected one operation on a line".to_owned()),
        )),
    }
}

/// The bytes before the last line of a file with a line per operation, and the number of that line, if it begins an
/// operation but ends before the operation does.
fn without_cut_line(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let end = memchr::memrchr(b'\n', bytes)? + 1;
    let (whole, last) = bytes.split_at(end);
    let last = last.trim_ascii();
    let is_line = |line: &[u8]| line.starts_with(b"{") && line.ends_with(b"}");
    let before = whole.trim_ascii_end().rsplit(|&b| b == b'\n').next()?;
    let is_cut = last.starts_with(b"{") && !last.ends_with(b"}") && is_line(before.trim_ascii());
    is_cut.then(|| (whole, memchr::memchr_iter(b'\n', whole).count() + 1))
}

#[cfg(test)]
mod tests;
