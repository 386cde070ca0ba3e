//! Histories recorded by the threads of a test, and an assertion about them.
//!
//! Each client is a [`Session`], each attempt of it a [`Transaction`] that is told what was read and written. Then
//! [`assert_holds!`](crate::assert_holds) checks a level. If it does not hold, the panic says which transactions show
//! that and why, and where the picture and the history are.
//!
//! ```
//! use isoscope::recorder::Recorder;
//!
//! let recorder = Recorder::new();
//! std::thread::scope(|clients| {
//!     for (name, value) in [("alice", 1), ("bob", 2)] {
//!         let mut session = recorder.session(name);
//!         clients.spawn(move || {
//!             let mut transaction = session.begin();
//!             transaction.read(name, None::<u64>); // what the store answered
//!             transaction.write(name, value);
//!             transaction.commit();
//!         });
//!     }
//! });
//! isoscope::assert_holds!(recorder, SER);
//! ```
//!
//! Keys and values are kept as they are displayed: `5` and `"5"` are the same value. Writes of one key should write
//! different values, since a read is matched with the write of its value.

mod holds;

pub use holds::{Broken, Recorded, assert_holds, check_holds};

use crate::formats::{self, WriteError};
use crate::history::{
    BuildError, Builder, Draft, History, Interval, OperationKind, Origin, Outcome, Rules, Value,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Records what the clients of a test do. Clones share one recording, and threads may share a recorder.
#[derive(Clone, Debug)]
pub struct Recorder {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    began: Instant,
    initial: Option<String>,
    /// By name, so that the order of threads does not decide the order of sessions.
    logs: Mutex<BTreeMap<String, Arc<Log>>>,
}

/// The transactions of a session. Only its client adds to it, so the lock is free but while a history is made.
type Log = Mutex<Vec<Attempt>>;

#[derive(Debug)]
struct Attempt {
    /// Unknown until the client says it.
    outcome: Outcome,
    start: i64,
    end: Option<i64>,
    /// With their keys.
    operations: Vec<(String, Said)>,
}

#[derive(Debug)]
enum Said {
    Read(Option<String>),
    Write(String),
    Append(String),
    ReadList(Vec<String>),
}

/// Why there is no history, or no file of it.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// It is too large.
    Build(BuildError),
    /// This key was used as a list and as a register.
    Mixed(String),
    /// It cannot be expressed in a file.
    Write(WriteError),
    /// The file at this path cannot be written.
    File(PathBuf, std::io::Error),
}

impl Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Build(error) => error.fmt(f),
            RecordError::Mixed(key) => write!(
                f,
                "the key `{key}` is a list (append, read_list) and a register (write, read), expected one of them"
            ),
            RecordError::Write(error) => error.fmt(f),
            RecordError::File(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for RecordError {}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder::new()
    }
}

impl Recorder {
    /// An empty recording, whose clock starts now. A key that nothing was written to is read as `None`.
    pub fn new() -> Recorder {
        Recorder::starting(None)
    }

    /// The same for a store in which every key has this value at first.
    pub fn with_initial_value(value: impl Display) -> Recorder {
        Recorder::starting(Some(value.to_string()))
    }

    fn starting(initial: Option<String>) -> Recorder {
        let (began, logs) = (Instant::now(), Mutex::default());
        Recorder {
            shared: Arc::new(Shared {
                began,
                initial,
                logs,
            }),
        }
    }

    /// A new client, which does one thing after the other. If there is one of this name already, it gets a number, too:
    /// the order of two clients is not known.
    pub fn session(&self, name: impl Display) -> Session {
        let name = name.to_string();
        Session {
            log: self.shared.open(&name),
            shared: Arc::clone(&self.shared),
            name,
        }
    }

    /// What was recorded until now; transactions that have not ended have an unknown outcome. Clients wait meanwhile.
    ///
    /// # Errors
    /// A key is both a list and a register, or there are more than 2³² − 2 of something. O(operations log keys).
    pub fn history(&self) -> Result<History, RecordError> {
        // All at once: who has read a value is not in the history without who has written it.
        let logs = locked(&self.shared.logs);
        let sessions: Vec<_> = logs.iter().map(|(name, log)| (name, locked(log))).collect();
        let (mut builder, now) = (Builder::new(Origin::default()), self.shared.now());
        let all = || sessions.iter().flat_map(|(_, attempts)| attempts.iter());
        let operations = || all().flat_map(|attempt| &attempt.operations);
        let lists = list_keys(operations())?;
        // The first name that is no number changes what numbers represent, so it comes first.
        let values = operations().flat_map(|(_, said)| said.values());
        let first = values
            .chain(&self.shared.initial)
            .find(|text| number(text).is_none());
        first.map(|name| builder.value_name(name));
        if let Some(initial) = &self.shared.initial {
            let initial = value(&mut builder, initial);
            builder.initial_value(initial);
        }
        for (name, attempts) in &sessions {
            let session = match number(name) {
                Some(number) => builder.session_number(number),
                None => builder.session_name(name),
            };
            for attempt in attempts.iter() {
                let draft = builder.transaction(session, attempt.outcome);
                let (start, end) = (attempt.start, attempt.end.unwrap_or(now));
                builder.set_interval(draft, Interval { start, end });
                for (key, said) in &attempt.operations {
                    add(&mut builder, draft, key, said, lists.contains(&**key));
                }
            }
        }
        builder.sort_sessions();
        let history = builder.finish().map_err(RecordError::Build)?;
        // As if it was read from its file.
        let history = history.with_rules(&Rules::default());
        Ok(history.expect("the default rules name no value"))
    }

    /// Writes the history as IsoScope's JSON, which `isoscope PATH` opens.
    ///
    /// # Errors
    /// Those of [`history`](Self::history), and those of the file.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), RecordError> {
        write(&self.history()?, path.as_ref())
    }
}

impl Shared {
    /// Nanoseconds since the beginning.
    fn now(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    fn open(&self, name: &str) -> Arc<Log> {
        let (mut logs, mut n, mut free) = (locked(&self.logs), 1, name.to_owned());
        while logs.contains_key(&free) {
            n += 1;
            free = format!("{name}-{n}");
        }
        Arc::clone(logs.entry(free).or_default())
    }
}

/// A thread that panicked here has added something or not; clients panic without the lock.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One client. Its transactions follow each other.
#[derive(Debug)]
pub struct Session {
    shared: Arc<Shared>,
    log: Arc<Log>,
    name: String,
}

impl Session {
    /// Begins a transaction: call it before anything is sent. After one of unknown outcome, which may take effect at
    /// any later time, the client goes on as a new session.
    pub fn begin(&mut self) -> Transaction<'_> {
        let start = self.shared.now();
        let last = locked(&self.log).last().map(|attempt| attempt.outcome);
        if last == Some(Outcome::Unknown) {
            self.log = self.shared.open(&self.name);
        }
        let (outcome, end, operations) = (Outcome::Unknown, None, Vec::new());
        locked(&self.log).push(Attempt {
            outcome,
            start,
            end,
            operations,
        });
        Transaction {
            session: self,
            outcome,
        }
    }
}

/// An attempt of a client. Dropped without [`commit`](Self::commit) or [`abort`](Self::abort), as by a panic, its outcome
/// is unknown: it may have taken effect.
#[derive(Debug)]
#[must_use = "without `commit` or `abort` its outcome is unknown"]
pub struct Transaction<'a> {
    session: &'a mut Session,
    outcome: Outcome,
}

impl Transaction<'_> {
    /// Records what the store answered to a read: call it after the answer. `None` is the initial version: nothing was
    /// ever written. Returns the value.
    pub fn read<V: Observed>(&mut self, key: impl Display, value: V) -> V {
        self.add(key, Said::Read(value.text()));
        value
    }

    /// Records a write: call it before it is sent.
    pub fn write(&mut self, key: impl Display, value: impl Display) {
        self.add(key, Said::Write(value.to_string()));
    }

    /// Records that an element is appended to a list: call it before it is sent.
    pub fn append(&mut self, key: impl Display, element: impl Display) {
        self.add(key, Said::Append(element.to_string()));
    }

    /// Records what the store answered to a read of a whole list.
    pub fn read_list(&mut self, key: impl Display, elements: &[impl Display]) {
        let elements = elements.iter().map(ToString::to_string).collect();
        self.add(key, Said::ReadList(elements));
    }

    /// Records that the store answered that it committed.
    pub fn commit(mut self) {
        self.outcome = Outcome::Committed;
    }

    /// Records that none of it took effect, for certain.
    pub fn abort(mut self) {
        self.outcome = Outcome::Aborted;
    }

    fn add(&mut self, key: impl Display, said: Said) {
        let operation = (key.to_string(), said);
        if let Some(attempt) = locked(&self.session.log).last_mut() {
            attempt.operations.push(operation);
        }
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        let end = self.session.shared.now();
        if let Some(attempt) = locked(&self.session.log).last_mut() {
            (attempt.outcome, attempt.end) = (self.outcome, Some(end));
        }
    }
}

/// What a read may return: numbers and texts, and an `Option` of anything that can be displayed.
pub trait Observed {
    /// The value as it is displayed; `None` where there is none.
    fn text(&self) -> Option<String>;
}

impl<T: Display> Observed for Option<T> {
    fn text(&self) -> Option<String> {
        self.as_ref().map(T::to_string)
    }
}

impl<T: Observed + ?Sized> Observed for &T {
    fn text(&self) -> Option<String> {
        T::text(self)
    }
}

macro_rules! observed {
    ($($type:ty)*) => {
        $(impl Observed for $type {
            fn text(&self) -> Option<String> {
                Some(self.to_string())
            }
        })*
    };
}

observed!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize bool char str String);

impl Said {
    /// The values in it.
    fn values(&self) -> impl Iterator<Item = &String> {
        let (one, many): (Option<&String>, &[String]) = match self {
            Said::Read(value) => (value.as_ref(), &[]),
            Said::Write(value) | Said::Append(value) => (Some(value), &[]),
            Said::ReadList(elements) => (None, elements),
        };
        one.into_iter().chain(many)
    }
}

/// The keys that hold lists.
fn list_keys<'a>(
    operations: impl Iterator<Item = &'a (String, Said)>,
) -> Result<BTreeSet<&'a str>, RecordError> {
    let (mut lists, mut registers) = (BTreeSet::new(), BTreeSet::new());
    for (key, said) in operations {
        match said {
            Said::Append(_) | Said::ReadList(_) => lists.insert(&**key),
            Said::Write(_) | Said::Read(Some(_)) => registers.insert(&**key),
            // An empty list, too.
            Said::Read(None) => false,
        };
    }
    match lists.intersection(&registers).next() {
        Some(key) => Err(RecordError::Mixed((*key).to_owned())),
        None => Ok(lists),
    }
}

fn add(builder: &mut Builder, draft: Draft, key: &str, said: &Said, is_list: bool) {
    let key = match number(key) {
        Some(number) => builder.key_number(number),
        None => builder.key_name(key),
    };
    let (kind, value) = match said {
        Said::Read(None) if is_list => {
            builder.list_read(draft, key, &[], 0);
            return;
        }
        Said::ReadList(elements) => {
            let elements: Vec<Value> = elements.iter().map(|text| value(builder, text)).collect();
            builder.list_read(draft, key, &elements, 0);
            return;
        }
        Said::Read(None) => (OperationKind::Read, Value::INITIAL),
        Said::Read(Some(text)) => (OperationKind::Read, value(builder, text)),
        Said::Write(text) | Said::Append(text) => (OperationKind::Write, value(builder, text)),
    };
    if is_list {
        builder.list_key(key);
    }
    builder.operation(draft, kind, key, value, 0);
}

/// The number whose usual form this is, if it represents itself.
fn number(text: &str) -> Option<u64> {
    let number = text.parse().ok().filter(|&n: &u64| n <= Value::MAX_NUMBER);
    number.filter(|number| number.to_string() == text)
}

fn value(builder: &mut Builder, text: &str) -> Value {
    match number(text) {
        Some(number) => builder.value_number(number),
        None => builder.value_name(text),
    }
}

fn write(history: &History, path: &Path) -> Result<(), RecordError> {
    let mut bytes = Vec::new();
    formats::write(history, "json", &mut bytes).map_err(RecordError::Write)?;
    std::fs::write(path, bytes).map_err(|error| RecordError::File(path.to_owned(), error))
}
