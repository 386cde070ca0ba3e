//! The logs that Cobra's clients write: a folder of files `T<number>.log`, each the transactions of one client.
//!
//! A log is a sequence of records without separators; all numbers are signed 64-bit, big endian (DBCobra/CobraVerifier:
//! AbstractVerifier.java; Khoury-srg/ViperBench: ChengLogger.java):
//!
//! ```text
//! log         = transaction*
//! transaction = "S" id [time] operation* ("C" | "A") id [time]      the same id, the time in milliseconds
//! operation   = "W" write key value
//!             | "R" writer write key value                          id of a transaction, id of its write
//! ```
//!
//! - **Times** are in all logs of a history or in none, and nothing says which: the reader uses whichever form parses
//!   all logs.
//! - **Sessions** are the files, called by their numbers, in that order. A single file is read as one session.
//! - **Versions.** The value that IsoScope shows is the id of the write, which Cobra makes unique; the hash of the real
//!   value is not shown. A read that names a write found in no log reads a version that no transaction wrote. So does a
//!   read that names a write of its key, but the wrong transaction or value for it: it is shown as
//!   `write/writer/value`.
//! - Where ids were withheld (0xabddefee, by VeriStrong) the value shown is the hash of the value for the whole
//!   history, and a read has read from the writer of that hash.
//! - **The initial version** is read where a read names the writer or write 0xbebeebee (the key was there before the
//!   run) or 0xdeadbeef (it was not). Cobra's own reads for garbage collection name the former, too.
//! - Cobra does not log aborted transactions; `A` is accepted anyway, as the end of one.
//! - A log may end inside a transaction, and even inside a record: its client died, and it is unknown whether the
//!   transaction committed, even if only its `C` was cut off. An operation whose record was cut off is left out. Any
//!   other deviation from the grammar, such as an `S` inside a transaction, is an error.
//! - `A` and `C` must repeat the id of `S`. The numbers of transactions are only names, they need not be unique.
//! - Operations are found by the byte at which their record begins.
//!
//! The walk over the records is in `records`, the writer in `write`.

mod records;
mod write;

use super::{FilePart, Format, Input, Likelihood, Problem, ReadError, Writer, name};
use isoscope_model::control::Control;
use isoscope_model::history::{
    Builder, Draft, History, Interval, KeyId, OperationKind, Outcome, SessionId, Unit, Value,
};
use rayon::prelude::*;
use records::{Bad, Ending, Record, walk};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "cobra",
    aliases: &["cobra-log"],
    extensions: &["log"],
    part_name: Some(is_log),
    sniff,
    read,
    write: Some(Writer::Folder(write::write)),
};

/// Ids that a read gives instead of those of a transaction and a write: the key was there before the run.
const INITIAL: i64 = 0xbebe_ebee;
/// The key was not there.
const ABSENT: i64 = 0xdead_beef;
/// The ids are withheld.
const WITHHELD: i64 = 0xabdd_efee;

/// The number in the name of a log, verbatim.
fn number_of(file: &str) -> Option<&str> {
    let digits = file.strip_prefix('T')?.strip_suffix(".log")?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
}

fn is_log(file: &str) -> bool {
    number_of(file).is_some()
}

fn sniff(input: &Input<'_>) -> Likelihood {
    let looks_right = |bytes: &[u8]| {
        let head = &bytes[..bytes.len().min(super::SNIFFED)];
        // Ids are small numbers: text has no zero here.
        let begins = head.first() == Some(&b'S') && head.iter().take(9).any(|&b| b == 0);
        let is_walk = |timed: bool| {
            let mut records = 0;
            let ending = walk(head, timed, &Control::new(), |_, _| records += 1);
            ending.is_ok() && records > 1
        };
        (begins, begins && (is_walk(false) || is_walk(true)))
    };
    if input.parts().is_empty() {
        return match looks_right(input.bytes()) {
            (_, true) => Likelihood::Likely,
            (true, false) => Likelihood::Perhaps,
            (false, false) => Likelihood::No,
        };
    }
    let logs = input
        .parts()
        .iter()
        .filter(|part| is_log(part.name))
        .count();
    match input.parts().iter().find(|part| !part.bytes.is_empty()) {
        Some(part) if logs == input.parts().len() && looks_right(part.bytes).1 => {
            Likelihood::Likely
        }
        _ if logs > 0 => Likelihood::Perhaps,
        _ => Likelihood::No,
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    control.phase("reading", input.len() as u64);
    let name = Path::new(input.ending_of)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let single = [FilePart {
        name,
        bytes: input.bytes(),
    }];
    let is_folder = !input.parts().is_empty();
    let logs = if is_folder { input.parts() } else { &single };
    let error = |log: &FilePart<'_>, bad: Bad| {
        let error = ReadError::at_byte(FORMAT.name, bad.byte as u64, bad.problem);
        if is_folder {
            error.in_part(log.name)
        } else {
            error
        }
    };
    let (timed, survey) = survey(logs, control).map_err(|(log, bad)| error(&logs[log], bad))?;
    let mut builder = Builder::new(input.origin(FORMAT.name));
    builder.unit(Unit::Byte);
    builder.reserve_operations(survey.operations);
    let versions = if survey.withheld {
        Versions::Values
    } else {
        Versions::Writes(writes(logs, timed, control).map_err(|(log, bad)| error(&logs[log], bad))?)
    };
    let mut reading = Reading {
        builder,
        versions,
        open: None,
        died: Vec::new(),
        backwards: None,
    };
    let mut names = FxHashSet::default();
    for log in logs {
        if !names.insert(log.name) {
            let problem =
                Problem::Other("another file of this history has the same name".to_owned());
            return Err(ReadError::whole(FORMAT.name, problem).in_part(log.name));
        }
        let session = name::session(&mut reading.builder, number_of(log.name).unwrap_or("0"));
        if is_folder {
            reading.builder.session_part(session, log.name);
        }
        reading
            .log(log, session, timed, control)
            .map_err(|bad| error(log, bad))?;
        control.advance(log.bytes.len() as u64);
    }
    if reading.builder.n_transactions() == 0 {
        let found = "a record that is cut off".to_owned();
        let problem = Problem::Expected {
            expected: "at least one transaction",
            found,
        };
        return Err(ReadError::whole(FORMAT.name, problem));
    }
    reading.tell_who_died();
    reading
        .builder
        .finish()
        .map_err(|error| ReadError::whole(FORMAT.name, error))
}

/// What must be known about all logs before any can be interpreted.
#[derive(Clone, Copy, Default)]
struct Survey {
    /// Whether ids were withheld.
    withheld: bool,
    operations: usize,
}

/// Whether the logs have times, and their survey; else the error that comes after more valid records, with the place of
/// its log.
fn survey(logs: &[FilePart<'_>], control: &Control) -> Result<(bool, Survey), (usize, Bad)> {
    let attempt = |timed: bool| {
        let surveys: Vec<Result<Survey, Bad>> = logs
            .par_iter()
            .map(|log| survey_log(log.bytes, timed, control))
            .collect();
        let mut all = Survey::default();
        for (log, survey) in surveys.into_iter().enumerate() {
            let survey = survey.map_err(|bad| (log, bad))?;
            all.withheld |= survey.withheld;
            all.operations += survey.operations;
        }
        Ok((timed, all))
    };
    let untimed: (usize, Bad) = match attempt(false) {
        Ok(found) => return Ok(found),
        Err(error) => error,
    };
    attempt(true).map_err(|timed| {
        let place = |(log, bad): &(usize, Bad)| (*log, bad.records);
        if place(&timed) > place(&untimed) {
            timed
        } else {
            untimed
        }
    })
}

fn survey_log(bytes: &[u8], timed: bool, control: &Control) -> Result<Survey, Bad> {
    let mut survey = Survey::default();
    walk(bytes, timed, control, |_, record| {
        let withheld = match record {
            Record::Write { write, .. } => write == WITHHELD,
            Record::Read { writer, write, .. } => writer == WITHHELD || write == WITHHELD,
            _ => return,
        };
        survey.operations += 1;
        survey.withheld |= withheld;
    })?;
    Ok(survey)
}

/// By key and id of a write: the transaction and the value, `None` where two writes have the same id.
type Writes = FxHashMap<(i64, i64), Option<(i64, i64)>>;

fn writes(logs: &[FilePart<'_>], timed: bool, control: &Control) -> Result<Writes, (usize, Bad)> {
    let mut writes = Writes::default();
    for (place, log) in logs.iter().enumerate() {
        let mut transaction = 0;
        let ending = walk(log.bytes, timed, control, |_, record| match record {
            Record::Start { id, .. } => transaction = id,
            Record::Write { write, key, value } => {
                let entry = writes.entry((key, write));
                entry
                    .and_modify(|known| *known = None)
                    .or_insert(Some((transaction, value)));
            }
            _ => {}
        });
        ending.map_err(|bad| (place, bad))?;
    }
    Ok(writes)
}

/// What distinguishes versions of a key.
enum Versions {
    /// The ids of writes.
    Writes(Writes),
    /// The hashes of values, since ids were withheld.
    Values,
}

struct Reading {
    builder: Builder,
    versions: Versions,
    /// The transaction that the records belong to, and when it started.
    open: Option<(Draft, i64)>,
    /// Logs that end inside a transaction.
    died: Vec<String>,
    /// The first transaction that ends before it starts.
    backwards: Option<Bad>,
}

impl Reading {
    fn log(
        &mut self,
        log: &FilePart<'_>,
        session: SessionId,
        timed: bool,
        control: &Control,
    ) -> Result<(), Bad> {
        let ending = walk(log.bytes, timed, control, |byte, record| {
            self.record(byte, record, session)
        })?;
        if let Some(bad) = self.backwards.take() {
            return Err(bad);
        }
        match (ending, self.open.take()) {
            (Ending::Complete, _) => return Ok(()),
            (Ending::Open, Some((draft, start))) if timed => {
                self.builder.set_interval(
                    draft,
                    Interval {
                        start,
                        end: i64::MAX,
                    },
                );
            }
            _ => {}
        }
        self.died.push(
            if log.name.is_empty() {
                "The log"
            } else {
                log.name
            }
            .to_owned(),
        );
        Ok(())
    }

    fn record(&mut self, byte: usize, record: Record, session: SessionId) {
        let builder = &mut self.builder;
        let (kind, key, value) = match (record, self.open) {
            (Record::Start { id, time }, _) => {
                // A transaction without an end has an unknown outcome.
                let draft = builder.transaction(session, Outcome::Unknown);
                match u64::try_from(id) {
                    Ok(number) => builder.number_transaction(draft, number),
                    Err(_) => builder.name_transaction(draft, &format!("T{id}")),
                }
                self.open = Some((draft, time.unwrap_or_default()));
                return;
            }
            (
                Record::End {
                    committed, time, ..
                },
                Some((draft, start)),
            ) => {
                builder.set_outcome(
                    draft,
                    if committed {
                        Outcome::Committed
                    } else {
                        Outcome::Aborted
                    },
                );
                if let Some(end) = time {
                    if end < start && self.backwards.is_none() {
                        let message = format!(
                            "expected an end that is not before the start {start}, found {end}"
                        );
                        self.backwards = Some(Bad {
                            byte,
                            records: 0,
                            problem: Problem::Other(message),
                        });
                    }
                    builder.set_interval(draft, Interval { start, end });
                }
                self.open = None;
                return;
            }
            (Record::Write { write, key, value }, _) => {
                let version = if matches!(self.versions, Versions::Values) {
                    value
                } else {
                    write
                };
                (OperationKind::Write, key, value_of(builder, version))
            }
            (
                Record::Read {
                    writer,
                    write,
                    key,
                    value,
                },
                _,
            ) => (
                OperationKind::Read,
                key,
                self.versions.read(builder, writer, write, key, value),
            ),
            (Record::End { .. }, None) => return,
        };
        if let Some((draft, _)) = self.open {
            let key = key_of(&mut self.builder, key);
            let line = u32::try_from(byte + 1).unwrap_or(u32::MAX);
            self.builder.operation(draft, kind, key, value, line);
        }
    }

    fn tell_who_died(&mut self) {
        const SHOWN: usize = 5;
        let logs = &self.died;
        let (n, more) = (logs.len(), logs.len().saturating_sub(SHOWN));
        if n == 0 {
            return;
        }
        let names: Vec<&str> = logs.iter().take(SHOWN).map(String::as_str).collect();
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let rest = match n {
            1 => {
                "ends inside a transaction, as if its client died: the outcome of that transaction is unknown."
            }
            _ => {
                "end inside a transaction, as if their clients died: the outcome of those transactions is unknown."
            }
        };
        let sentence = format!("{}{more} {rest}", super::error::escape(&names.join(", ")));
        self.builder.assume(sentence);
    }
}

impl Versions {
    /// The version that a read returned.
    fn read(&self, builder: &mut Builder, writer: i64, write: i64, key: i64, value: i64) -> Value {
        let initial = |id: i64| id == INITIAL || id == ABSENT;
        match self {
            _ if initial(writer) || initial(write) => Value::INITIAL,
            Versions::Values => value_of(builder, value),
            Versions::Writes(writes) => match writes.get(&(key, write)) {
                Some(Some(known)) if *known != (writer, value) => {
                    builder.value_name(&format!("{write}/{writer}/{value}"))
                }
                _ => value_of(builder, write),
            },
        }
    }
}

fn key_of(builder: &mut Builder, number: i64) -> KeyId {
    match u64::try_from(number) {
        Ok(number) => builder.key_number(number),
        Err(_) => builder.key_name(&number.to_string()),
    }
}

fn value_of(builder: &mut Builder, number: i64) -> Value {
    match u64::try_from(number) {
        Ok(number) => builder.value_number(number),
        Err(_) => builder.value_name(&number.to_string()),
    }
}

#[cfg(test)]
mod tests;
