//! The JSON logs of Viper (Khoury-srg/Viper: src/parse/wr_range_parse.py, src/utils/range_utils.py;
//! Khoury-srg/ViperBench: instrument/JsonLogger.java, JSONMop1.java).
//!
//! A history is a folder; each `J<number>.log` is a session, each line of it a transaction. A single such file can also
//! be read.
//!
//! ```text
//! line      = { ["preBeginTS": time, … "postCommitTS": time,] "value": [ operation, … ] [, "isInitial": true] }
//! operation = ["r", key, value, is_dead]
//!           | ["w", key, value, succ]
//!           | ["i", key, value, read_value, is_dead, succ, …]            insert
//!           | ["d", key, dead_value, read_value, is_dead, succ, …]       delete
//!           | ["range", from, to, live, dead, …]                         live, dead = [ {"id": key, "val": value}, … ]
//!
//! {"value": [["w", 9696, -2046010677777358256, true], ["r", 3848, 1050689658935092220, false]]}
//! ```
//!
//! Keys are integers or strings, values 64-bit integers of any sign. They are interpreted as follows:
//!
//! - An insert and a delete read the old value and write a new one. A delete writes a value of its own, the
//!   tombstone's, and a reader of the dead row reads that value; so `is_dead` adds nothing.
//! - A write without effect (`succ` is false) is ignored. A sentence says how many were left out.
//! - A range reads each row that it returned, live or dead. That the other keys in the range were absent is not used;
//!   a sentence says so.
//! - `null` and `"nil"` are the initial version.
//! - A transaction with `isInitial` sets up the initial state. Where none has it, a value that no transaction wrote
//!   counts as initial, as in Viper, but only one such value per key.
//! - Aborted transactions are not logged.
//! - A transaction ran from `preBeginTS` to `postCommitTS`, where both are there and none is negative.
//!
//! An object for each operation (JSONMop2) is read neither by Viper nor here.

mod log;
mod write;

use super::error::ReadError;
use super::{FilePart, Format, Input, Likelihood, Problem, Writer, name};
use isoscope_model::control::Control;
use isoscope_model::history::{
    Builder, History, InitialRule, Outcome, SessionId, Suggestions, Value,
};
use log::Log;
use rayon::prelude::*;

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "viper",
    aliases: &["viper-json"],
    extensions: &["log"],
    part_name: Some(is_part),
    sniff,
    read,
    write: Some(Writer::Folder(write::write)),
};

fn is_part(name: &str) -> bool {
    session_of(name).is_some()
}

/// The part of a file name that denotes the session.
fn session_of(name: &str) -> Option<&str> {
    name.strip_prefix('J')?.strip_suffix(".log")
}

fn sniff(input: &Input<'_>) -> Likelihood {
    if input.parts().is_empty() {
        return sniff_head(input.head());
    }
    let own = input.parts().iter().filter(|part| is_part(part.name));
    let mut heads = own
        .map(|part| super::head_of(part.bytes))
        .filter(|head| !head.trim_ascii().is_empty());
    heads.next().map_or(Likelihood::No, sniff_head)
}

fn sniff_head(head: &[u8]) -> Likelihood {
    let line = head
        .trim_ascii_start()
        .split(|&b| b == b'\n')
        .next()
        .unwrap_or_default();
    let says = |field: &str| memchr::memmem::find(line, field.as_bytes()).is_some();
    match line.starts_with(b"{") && says("\"value\"") {
        // Jepsen's operations have a value, too, but also a type and a process.
        true if says("\"type\"") || says("\"process\"") => Likelihood::No,
        true => Likelihood::Likely,
        false => Likelihood::No,
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    control.phase("reading", input.len() as u64);
    let base = input.name().rsplit(['/', '\\']).next().unwrap_or_default();
    let single = [FilePart {
        name: base,
        bytes: input.bytes(),
    }];
    let is_folder = !input.parts().is_empty();
    let parts: Vec<&FilePart<'_>> = if is_folder {
        input
            .parts()
            .iter()
            .filter(|part| is_part(part.name))
            .collect()
    } else {
        single.iter().collect()
    };
    let logs: Vec<Result<Log<'_>, ReadError>> = parts
        .par_iter()
        .map(|part| log::read(part.bytes, control))
        .collect();
    let mut joined = Joined::new(Builder::new(input.origin(FORMAT.name)));
    for (part, log) in parts.iter().zip(logs) {
        let in_part = |error: ReadError| {
            if is_folder {
                error.in_part(part.name)
            } else {
                error
            }
        };
        let session = joined
            .session(session_of(part.name).unwrap_or("0"))
            .map_err(in_part)?;
        joined.append(log.map_err(in_part)?, session);
        if is_folder {
            joined.builder.session_part(session, part.name);
        }
    }
    joined.finish(input.parts().len() - if is_folder { parts.len() } else { 0 })
}

/// The logs read so far.
struct Joined {
    builder: Builder,
    n_initial: usize,
    n_without_effect: usize,
    n_ranges: usize,
}

impl Joined {
    fn new(builder: Builder) -> Joined {
        Joined {
            builder,
            n_initial: 0,
            n_without_effect: 0,
            n_ranges: 0,
        }
    }

    /// The session with this name, which must be new.
    fn session(&mut self, name: &str) -> Result<SessionId, ReadError> {
        let before = self.builder.n_sessions();
        let session = name::session(&mut self.builder, name);
        if self.builder.n_sessions() > before {
            Ok(session)
        } else {
            let message = "two files of this name: these are the logs of several runs".to_owned();
            Err(ReadError::whole(FORMAT.name, Problem::Other(message)))
        }
    }

    fn append(&mut self, log: Log<'_>, session: SessionId) {
        let builder = &mut self.builder;
        builder.reserve_operations(log.operations.len());
        let mut operations = log.operations.iter();
        let mut begin = 0;
        for transaction in &log.transactions {
            let draft = builder.transaction(session, Outcome::Committed);
            if transaction.initial {
                builder.set_up(draft);
                self.n_initial += 1;
            }
            if let Some(interval) = transaction.interval {
                builder.set_interval(draft, interval);
            }
            for access in operations.by_ref().take(transaction.end - begin) {
                let key = name::key(builder, &access.key);
                let value = access
                    .value
                    .as_ref()
                    .map_or(Value::INITIAL, |value| name::value(builder, value));
                builder.operation(draft, access.kind, key, value, access.line);
            }
            begin = transaction.end;
        }
        self.n_without_effect += log.n_without_effect;
        self.n_ranges += log.n_ranges;
    }

    fn finish(mut self, n_other_files: usize) -> Result<History, ReadError> {
        if self.builder.n_transactions() == 0 {
            return Err(ReadError::whole(FORMAT.name, Problem::Empty));
        }
        if self.n_initial == 0 {
            let because = "the log states no initial values".to_owned();
            self.builder.suggest(Suggestions {
                initial: InitialRule::AnyUnwritten,
                because,
                ..Suggestions::default()
            });
        }
        let count = |n: usize, thing: &str| format!("{n} {thing}{}", if n == 1 { "" } else { "s" });
        if self.n_without_effect > 0 {
            let writes = count(self.n_without_effect, "write");
            self.builder.assume(format!(
                "{writes} that the log marks as without effect left out."
            ));
        }
        if self.n_ranges > 0 {
            let ranges = count(self.n_ranges, "range read");
            self.builder.assume(format!(
                "{ranges}: the rows returned count as read; that other keys of the range were absent is not used."
            ));
        }
        if n_other_files > 0 {
            let files = count(n_other_files, "other file");
            self.builder.assume(format!(
                "Only the files J*.log of the folder are read; {files} left out."
            ));
        }
        self.builder
            .finish()
            .map_err(|error| ReadError::whole(FORMAT.name, error))
    }
}

#[cfg(test)]
mod tests;
