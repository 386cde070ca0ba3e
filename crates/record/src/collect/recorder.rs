//! The file that a run is recorded in, readable at any moment.
//!
//! It uses Jepsen's notation (`formats::elle`), with a line for the beginning and one for the end of every transaction:
//!
//! ```text
//! {:index 0, :time 41337, :type :invoke, :f :txn, :process 3, :value [[:r 7 nil] [:w 7 12]]}
//! {:index 1, :time 90021, :type :ok, :f :txn, :process 3, :value [[:r 7 5] [:w 7 12]]}
//! ```
//!
//! A session on one of several servers has `:node "standby"` in each of its lines; what is done to the system is recorded as
//! Jepsen does, with `:process :nemesis`.
//!
//! If clients keep barriers, comments say so and name sessions that have ended (`history::fences`).
//!
//! Lines are passed to the system immediately and whole, in the order of their times. Whatever then happens to this
//! program or to the database, each transaction that may have begun is in the file, and one whose end is not has an
//! unknown outcome. A line that cannot be written whole is removed; where even that is impossible, readers skip it.

use super::CollectError;
use crate::generate::{Observed, Step};
use isoscope_model::history::{Outcome, fences};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Records transactions of many threads.
#[derive(Debug)]
pub struct Recorder {
    begin: Instant,
    state: Mutex<LogFile>,
}

#[derive(Debug)]
struct LogFile {
    /// None if nothing is kept.
    file: Option<File>,
    /// Bytes of whole lines.
    whole: u64,
    index: u64,
    last: i64,
    lines: u32,
    moments: Moments,
    /// By process: the server it uses, as an EDN string.
    nodes: FxHashMap<u32, String>,
    /// Why nothing more can be recorded.
    failed: Option<String>,
}

impl Recorder {
    /// Creates the file, with a description in its first line. A file that is not empty is left unchanged.
    pub fn create(path: &Path, about: &str) -> Result<Recorder, CollectError> {
        let failed = |error: io::Error| CollectError::recording(&error);
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_file() && metadata.len() > 0 {
            return Err(CollectError::Recording(
                "it exists already, and a recording is never overwritten".to_owned(),
            ));
        }
        let recorder = Recorder::new(Some(file));
        recorder.comment(&format!(
            "; {}",
            about.split_whitespace().collect::<Vec<_>>().join(" ")
        ))?;
        Ok(recorder)
    }

    /// Records nothing, to measure what recording costs.
    pub fn nowhere() -> Recorder {
        Recorder::new(None)
    }

    fn new(file: Option<File>) -> Recorder {
        let (nodes, moments) = (FxHashMap::default(), Moments::default());
        let state = LogFile {
            file,
            whole: 0,
            index: 0,
            last: -1,
            lines: 0,
            moments,
            nodes,
            failed: None,
        };
        Recorder {
            begin: Instant::now(),
            state: Mutex::new(state),
        }
    }

    /// When a line, from 1, was recorded; at most some milliseconds earlier, and less exact for lines of long ago. None
    /// before there is one.
    pub fn recorded(&self, line: u32) -> Option<Instant> {
        self.locked().moments.of(line)
    }

    /// Adds a line that is a comment.
    fn comment(&self, comment: &str) -> Result<(), CollectError> {
        self.locked().append(format!("{comment}\n").as_bytes())
    }

    /// Records that these many clients keep barriers: call it before anything else is recorded.
    pub(super) fn barriers(&self, clients: u32) -> Result<(), CollectError> {
        self.comment(&fences::declaration(clients))
    }

    /// Records that a process has ended, where there are barriers.
    pub(super) fn ended(&self, process: u32) -> Result<(), CollectError> {
        self.comment(&fences::ended(process))
    }

    /// Whether nothing but the description was recorded.
    pub fn is_empty(&self) -> bool {
        self.locked().index == 0
    }

    /// Sets the server that a process uses, for all that is recorded of it from now on.
    pub fn place(&self, process: u32, node: &str) {
        self.locked().nodes.insert(process, quoted(node));
    }

    /// Records that something was done to the system: `start-NAME` and `stop-NAME` for a fault, before and after it is
    /// done.
    pub fn incident(&self, what: &str, detail: Option<&str>) -> Result<(), CollectError> {
        let detail = detail.map_or("nil".to_owned(), quoted);
        self.timed(None, |index, time, _| {
            format!(
                "{{:index {index}, :time {time}, :type :info, :f {}, :process :nemesis, :value {detail}}}\n",
                quoted(what)
            )
        })
    }

    /// Records that a transaction is about to begin: call it before anything is sent. `values` are what its writing
    /// steps would write, in their order.
    pub fn invoke(&self, process: u32, steps: &[Step], values: &[u64]) -> Result<(), CollectError> {
        let mut values = values.iter().copied();
        let mut value = || values.next().unwrap_or_default();
        let mut tried = Vec::with_capacity(steps.len());
        for &step in steps {
            match step {
                Step::Read(key) | Step::ReadList(key) => tried.push(Observed::Read(key, 0)),
                Step::Append(key) => tried.push(Observed::Append(key, value())),
                Step::Write(key) => tried.push(Observed::Write(key, value())),
                Step::CompareAndSet(key) | Step::Insert(key) => {
                    tried.extend([Observed::Read(key, 0), Observed::Write(key, value())]);
                }
            }
        }
        self.line(None, "invoke", process, &body(&tried, false), "")
    }

    /// Records how a transaction ended: call it after the answer. `observed` is what was done, and last what was tried.
    /// An unknown outcome ends the process: its client continues under another number.
    pub fn complete(
        &self,
        process: u32,
        outcome: Outcome,
        observed: &[Observed],
        error: Option<&str>,
    ) -> Result<(), CollectError> {
        let error = error
            .map(|error| format!(", :error {}", quoted(error)))
            .unwrap_or_default();
        self.line(None, stage(outcome), process, &body(observed, true), &error)
    }

    /// Records a line with the time of another clock, in the order of that clock: the beginning of a transaction, or,
    /// with an outcome, its end.
    pub(super) fn at(
        &self,
        time: i64,
        process: u32,
        outcome: Option<Outcome>,
        observed: &[Observed],
    ) -> Result<(), CollectError> {
        match outcome {
            Some(outcome) => self.line(
                Some(time),
                stage(outcome),
                process,
                &body(observed, true),
                "",
            ),
            None => self.line(Some(time), "invoke", process, &body(observed, false), ""),
        }
    }

    fn line(
        &self,
        time: Option<i64>,
        stage: &str,
        process: u32,
        body: &str,
        more: &str,
    ) -> Result<(), CollectError> {
        self.timed(time, |index, time, nodes| {
            let node = nodes.get(&process).map(|node| format!(", :node {node}")).unwrap_or_default();
            format!(
                "{{:index {index}, :time {time}, :type :{stage}, :f :txn, :process {process}{node}, :value [{body}]{more}}}\n"
            )
        })
    }

    /// Appends a line, made of its index, its time and the servers of processes.
    fn timed(
        &self,
        time: Option<i64>,
        line: impl FnOnce(u64, i64, &FxHashMap<u32, String>) -> String,
    ) -> Result<(), CollectError> {
        let mut state = self.locked();
        if state.file.is_none() {
            return Ok(());
        }
        // The order of the lines is that of the times, and no two times are equal, so nothing is left to interpret.
        let now = || i64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(i64::MAX);
        let time = time.unwrap_or_else(now).max(state.last + 1);
        let index = state.index;
        let line = line(index, time, &state.nodes);
        state.append(line.as_bytes())?;
        (state.last, state.index) = (time, index + 1);
        Ok(())
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, LogFile> {
        // A thread that panicked here has appended a whole line or none.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogFile {
    /// Appends a line. After the first failure nothing more is written, or later lines would lack their causes.
    fn append(&mut self, line: &[u8]) -> Result<(), CollectError> {
        if let Some(why) = &self.failed {
            return Err(CollectError::Recording(why.clone()));
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        if let Err(error) = file.write_all(line) {
            self.failed = Some(error.to_string());
            // Removes the part of the line that was written, if possible (it is not on devices).
            let _: io::Result<()> = file.set_len(self.whole);
            return Err(CollectError::recording(&error));
        }
        self.whole += line.len() as u64;
        self.lines = self.lines.saturating_add(1);
        self.moments.note(self.lines);
        Ok(())
    }
}

/// When lines were recorded, in bounded memory.
#[derive(Debug, Default)]
struct Moments {
    /// Lines, ascending, and when they were recorded.
    known: Vec<(u32, Instant)>,
}

impl Moments {
    /// How many are known at most.
    const MOST: usize = 1 << 14;
    /// The time between two of them.
    const APART: Duration = Duration::from_millis(1);

    fn note(&mut self, line: u32) {
        let now = Instant::now();
        if self
            .known
            .last()
            .is_some_and(|(_, last)| now.duration_since(*last) < Moments::APART)
        {
            return;
        }
        if self.known.len() == Moments::MOST {
            // Every second one: what is long ago gets sparse, the newest are as close as ever.
            let mut place = 0;
            self.known.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
        self.known.push((line, now));
    }

    fn of(&self, line: u32) -> Option<Instant> {
        let behind = self.known.partition_point(|(other, _)| *other <= line);
        self.known
            .get(behind.checked_sub(1)?)
            .map(|(_, moment)| *moment)
    }
}

fn stage(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Committed => "ok",
        Outcome::Aborted => "fail",
        Outcome::Unknown => "info",
    }
}

/// What was done, with what was read if it was answered.
fn body(observed: &[Observed], answered: bool) -> String {
    let mut body = String::with_capacity(16 * observed.len());
    for operation in observed {
        let _ = match operation {
            Observed::Read(key, value) if answered && *value != 0 => {
                write!(body, "[:r {key} {value}] ")
            }
            Observed::ReadList(key, elements) if answered => {
                let elements: Vec<String> = elements.iter().map(u64::to_string).collect();
                write!(body, "[:r {key} [{}]] ", elements.join(" "))
            }
            Observed::Read(key, _) | Observed::ReadList(key, _) => write!(body, "[:r {key} nil] "),
            Observed::Write(key, value) => write!(body, "[:w {key} {value}] "),
            Observed::Append(key, value) => write!(body, "[:append {key} {value}] "),
        };
    }
    body.pop();
    body
}

/// A text as an EDN string.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
