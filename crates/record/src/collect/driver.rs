//! The interface of a database.

use crate::generate::Key;
use std::fmt;

/// An isolation level of a database.
#[derive(Clone, Copy, Debug)]
pub struct Isolation {
    /// Its name on the command line.
    pub name: &'static str,
    /// The code of the strongest level that it is documented to satisfy, if that level can be checked.
    pub promises: Option<&'static str>,
}

/// Why a transaction on a real database cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The database answered that it cannot continue. The transaction has no effect once it is rolled back; as the
    /// answer to a commit: it was rolled back.
    Refused(String),
    /// There was no answer, or one that says that the outcome is unknown. The connection is no longer usable. Before a
    /// commit was sent nothing can take effect; as the answer to a commit: the outcome is unknown.
    Broken(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Refused(text) | Failure::Broken(text)) = self;
        // One line, however many the database used.
        f.write_str(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// One client's connection. Between [`begin`](Connection::begin) and [`commit`](Connection::commit) all calls belong to
/// one transaction; after any failure only [`rollback`](Connection::rollback), or a new connection, may follow.
pub trait Connection: Send {
    /// Begins a transaction at the isolation level of the run.
    fn begin(&mut self) -> Result<(), Failure>;
    /// Reads a register; 0 is the initial value.
    fn read(&mut self, key: Key) -> Result<u64, Failure>;
    /// Writes a register.
    fn write(&mut self, key: Key, value: u64) -> Result<(), Failure>;
    /// Reads a list, oldest element first.
    fn read_list(&mut self, key: Key) -> Result<Vec<u64>, Failure>;
    /// Appends to a list.
    fn append(&mut self, key: Key, element: u64) -> Result<(), Failure>;
    /// Commits.
    fn commit(&mut self) -> Result<(), Failure>;
    /// Rolls back; the connection is ready for the next transaction if this succeeds.
    fn rollback(&mut self) -> Result<(), Failure>;
}

/// A database to run workloads on.
pub trait Driver: Send + Sync {
    /// Product and version, as reported by the server.
    fn version(&self) -> Result<String, Failure>;
    /// Creates new tables and writes the initial value of the registers 0 to `registers`. Deletes the data of earlier
    /// runs.
    fn prepare(&self, registers: u64) -> Result<(), Failure>;
    /// Connects a client.
    fn connect(&self) -> Result<Box<dyn Connection>, Failure>;
    /// Whether it can hold lists.
    fn has_lists(&self) -> bool {
        true
    }
    /// Connects a client that only reads, perhaps to a server that accepts no writes.
    fn connect_read_only(&self) -> Result<Box<dyn Connection>, Failure> {
        self.connect()
    }
}

/// The elements of a list stored as text.
#[cfg_attr(not(feature = "databases"), allow(dead_code))] // Only the drivers of databases use it.
pub(super) fn elements(text: &str) -> Result<Vec<u64>, Failure> {
    let number = |word: &str| {
        word.parse()
            .map_err(|_| Failure::Broken(format!("`{word}` is no element of a list")))
    };
    text.split_whitespace().map(number).collect()
}

/// A value as databases store it: signed.
#[cfg_attr(not(feature = "databases"), allow(dead_code))] // Only the drivers of databases use it.
pub(super) fn signed(value: u64) -> Result<i64, Failure> {
    i64::try_from(value).map_err(|_| Failure::Refused(format!("{value} does not fit into 63 bits")))
}

/// A value as it was written.
#[cfg_attr(not(feature = "databases"), allow(dead_code))] // Only the drivers of databases use it.
pub(super) fn unsigned(value: i64) -> Result<u64, Failure> {
    u64::try_from(value).map_err(|_| Failure::Broken(format!("{value} was never written")))
}
