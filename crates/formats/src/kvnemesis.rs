//! What kvnemesis, a test of CockroachDB, prints: the steps of a run.
//!
//! ```text
//! db0.Put(ctx, tk(1), sv(1)) // @1582928736.000000001,0 <nil>
//! db1.Txn(ctx, func(ctx context.Context, txn *kv.Txn) error {
//!   txn.Get(ctx, tk(1)) // @1582928736.000000003,0 (v1, <nil>)
//!   txn.Del(ctx, tk(2) /* @s2 */) // @1582928736.000000003,0 <nil>
//!   return nil
//! }) // @1582928736.000000003,0 <nil>
//! ```
//!
//! As earlier versions have it, `db0.Get(ctx, /Table/50/"a") // ("v-1", nil)`. In a log, lines begin with the number of a
//! worker, `4 OP  db0.Put(…`, and others are passed over.
//!
//! | | |
//! |---|---|
//! | `Txn`, a batch, a single operation | a transaction; an error: aborted; one that is ambiguous, or no result: unknown |
//! | `Get`, `Put` | a read and a write; also `GetForUpdate`, `GetForShare` |
//! | `Del` | the absent value is written |
//! | `Scan`, `ReverseScan` | all keys of the range that occur in the file are read; those without a row were absent |
//! | `AdminSplit` and the like | passed over |
//!
//! Neither clients nor times are there (the time behind `@` is the store's own order): each transaction is a session of its
//! own. Anything else is refused.

mod line;
mod writing;

use crate::error::excerpt;
use crate::watch::Watch;
use crate::{Format, Input, Likelihood, Problem, ReadError};
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, History, Outcome};
use line::{Access, End, Line};
use rustc_hash::FxHashMap;

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "kvnemesis",
    aliases: &["cockroachdb-kvnemesis"],
    extensions: &["txt", "log"],
    part_name: None,
    sniff,
    read,
    write: None,
};

/// What is expected of a line.
const STEP: &str = "a step of kvnemesis like `db0.Put(ctx, tk(1), sv(1)) // <nil>`";

fn sniff(input: &Input<'_>) -> Likelihood {
    let is_step = |line: &[u8]| {
        let (_, line) = without_worker(line);
        let dot = memchr::memchr(b'.', line).unwrap_or_default();
        let is_database = std::str::from_utf8(&line[..dot]).is_ok_and(line::is_database);
        let call = memchr::memchr(b'(', line).map(|at| &line[at..]);
        is_database && call.is_some_and(|call| call.starts_with(b"(ctx,"))
    };
    match input.head_lines().any(is_step) {
        true => Likelihood::Certain,
        false => Likelihood::No,
    }
}

/// The worker and the stage that a line of a log begins with.
type Prefix<'a> = (&'a [u8], &'a [u8]);

/// What a line begins with, if it is one of a log, and the rest.
fn without_worker(line: &[u8]) -> (Option<Prefix<'_>>, &[u8]) {
    let line = line.trim_ascii();
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (worker, rest) = line.split_at(digits);
    let rest = rest.trim_ascii_start();
    let stage = [&b"OP "[..], b"ERR ", b"PRE "]
        .into_iter()
        .find(|stage| rest.starts_with(stage));
    match stage {
        Some(stage) if digits > 0 => (
            Some((worker, stage)),
            rest[stage.len()..].trim_ascii_start(),
        ),
        _ => (None, line),
    }
}

/// Whether some line is one of a log.
fn is_log(bytes: &[u8], control: &Control) -> Result<bool, ReadError> {
    const LINES_PER_CHECK: usize = 8192;
    for (before, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if before.is_multiple_of(LINES_PER_CHECK) {
            let stopped = |interrupt| ReadError::whole(FORMAT.name, interrupt);
            control.check().map_err(stopped)?;
        }
        if without_worker(line).0.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = crate::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let watch = Watch::new(FORMAT.name, control, 0);
    let is_log = is_log(bytes, control)?;
    let (mut steps, mut at) = (Steps::default(), 0);
    for (before, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let number = u32::try_from(before + 1).unwrap_or(u32::MAX);
        watch.at(at)?;
        at += line.len() + 1;
        match without_worker(line) {
            (Some((_, b"PRE ")), _) => {}
            (None, rest) if is_log => steps.n_passed += u64::from(!rest.is_empty()),
            (worker, rest) => steps.take(worker.unwrap_or_default().0, rest, number)?,
        }
    }
    if let Some(open) = steps.open.values().min_by_key(|open| open.line) {
        let problem = Problem::Other("what begins here does not end".to_owned());
        return refuse(open.line, problem);
    }
    if steps.transactions.is_empty() {
        let problem = Problem::Expected {
            expected: STEP,
            found: "none".to_owned(),
        };
        return Err(ReadError::whole(FORMAT.name, problem));
    }
    let builder = Builder::new(input.origin(FORMAT.name));
    writing::history(&steps, builder, control)
}

fn refuse<T>(line: u32, problem: Problem) -> Result<T, ReadError> {
    Err(ReadError::at(FORMAT.name, u64::from(line), 0, problem))
}

/// Accesses to data, each with its line.
type Accesses = Vec<(Access, u32)>;

/// A transaction or a batch that is not at its end yet.
struct Open {
    line: u32,
    is_batch: bool,
    /// How a batch ended.
    end: End,
    accesses: Accesses,
    /// The line of a write that is not known to have succeeded.
    doubtful: Option<u32>,
}

/// What was read so far.
#[derive(Default)]
struct Steps<'a> {
    transactions: Vec<(Outcome, Accesses)>,
    /// By worker.
    open: FxHashMap<&'a [u8], Open>,
    /// Whether a function is open that holds the steps of a worker.
    is_in_function: bool,
    n_passed: u64,
    n_aside: u64,
    n_weaker: u64,
}

impl<'a> Steps<'a> {
    /// Takes a line.
    fn take(&mut self, worker: &'a [u8], text: &[u8], line: u32) -> Result<(), ReadError> {
        let meaning = std::str::from_utf8(text).ok().and_then(line::line);
        match (meaning, self.open.get_mut(worker)) {
            (Some(Line::Frame), _) => {}
            (Some(Line::Aside), _) => self.n_aside += 1,
            (Some(Line::Weaker), _) => self.n_weaker += 1,
            (Some(Line::Function), None) => self.is_in_function = true,
            (Some(Line::EndOfFunction(_)), None) if self.is_in_function => {
                self.is_in_function = false;
            }
            (Some(begin @ (Line::Transaction | Line::Block)), None) => {
                let open = Open {
                    line,
                    is_batch: begin == Line::Block,
                    end: End::Unclear,
                    accesses: Vec::new(),
                    doubtful: None,
                };
                self.open.insert(worker, open);
            }
            (Some(Line::Access(access, end, true)), None) => {
                self.transactions.push((outcome(end), vec![(access, line)]));
            }
            (Some(Line::Access(access, end, false)), Some(open)) => {
                if end != End::Fine && matches!(access, Access::Put(..) | Access::Del(_)) {
                    open.doubtful.get_or_insert(line);
                }
                open.accesses.push((access, line));
            }
            // Its batches are part of a transaction.
            (Some(Line::Block | Line::EndOfBlock | Line::Run(_)), Some(open)) if !open.is_batch => {
            }
            (Some(Line::Run(end)), Some(open)) => open.end = end,
            (Some(Line::EndOfBlock), Some(open)) => {
                let end = open.end;
                self.end(worker, end)?;
            }
            (Some(Line::EndOfFunction(end)), Some(open)) if !open.is_batch => {
                self.end(worker, end)?;
            }
            _ => {
                let (expected, found) = (STEP, excerpt(text));
                return refuse(line, Problem::Expected { expected, found });
            }
        }
        Ok(())
    }

    /// Ends the transaction or the batch of a worker.
    fn end(&mut self, worker: &[u8], end: End) -> Result<(), ReadError> {
        let Some(open) = self.open.remove(worker) else {
            return Ok(());
        };
        match open.doubtful {
            Some(line) if end == End::Fine => {
                let message =
                    "this write is not known to have succeeded, although its transaction committed";
                refuse(line, Problem::Other(message.to_owned()))
            }
            _ => {
                self.transactions.push((outcome(end), open.accesses));
                Ok(())
            }
        }
    }
}

fn outcome(end: End) -> Outcome {
    match end {
        End::Fine => Outcome::Committed,
        End::Failed => Outcome::Aborted,
        End::Unclear => Outcome::Unknown,
    }
}

#[cfg(test)]
mod tests;
