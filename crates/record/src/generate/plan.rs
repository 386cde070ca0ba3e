//! What a transaction is meant to do: keys and steps, without values.

use std::fmt;

/// Names of the tables that keys of applications belong to; keys of table 0 are bare numbers.
const TABLES: [&str; 21] = [
    "",
    "fault",
    "user",
    "tweet",
    "timeline",
    "follows",
    "item",
    "bids",
    "bid",
    "comment",
    "rating",
    "warehouse",
    "district",
    "customer",
    "stock",
    "order",
    "order-line",
    "new-orders",
    "last-order",
    "history",
    "fence",
];

/// Bits of a key below its table.
const TABLE_SHIFT: u32 = 48;

/// A key: a number, or a number in a table of an application. Fits into the signed integers of every database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);

impl Key {
    /// The key of this number.
    pub fn number(number: u64) -> Key {
        Key(number & ((1 << TABLE_SHIFT) - 1))
    }

    /// A key of an application.
    pub(super) fn of(table: &str, number: u64) -> Key {
        let place = TABLES
            .iter()
            .position(|name| *name == table)
            .unwrap_or_default();
        Key((place as u64) << TABLE_SHIFT | Key::number(number).0)
    }

    /// A key at which clients wait for each other, called `fence/NUMBER`. No workload uses it.
    pub fn fence(number: u64) -> Key {
        Key::of("fence", number)
    }

    /// Whether its name is a number.
    pub fn is_number(self) -> bool {
        self.0 >> TABLE_SHIFT == 0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = Key::number(self.0).0;
        match TABLES.get((self.0 >> TABLE_SHIFT) as usize) {
            Some(table) if !table.is_empty() => write!(f, "{table}/{number}"),
            _ => write!(f, "{number}"),
        }
    }
}

/// A step of a transaction. [`Values`] generates the values to write when the step is taken, so that a retried
/// transaction writes different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Reads a register.
    Read(Key),
    /// Writes a new value to a register.
    Write(Key),
    /// Reads a whole list.
    ReadList(Key),
    /// Appends a new element to a list.
    Append(Key),
    /// Reads a register, and writes a new value if it holds the value the client last saw there.
    CompareAndSet(Key),
    /// Reads a register, and writes a new value if no transaction has written it.
    Insert(Key),
}

impl Step {
    /// The same step on another key.
    pub fn on(self, key: Key) -> Step {
        match self {
            Step::Read(_) => Step::Read(key),
            Step::Write(_) => Step::Write(key),
            Step::ReadList(_) => Step::ReadList(key),
            Step::Append(_) => Step::Append(key),
            Step::CompareAndSet(_) => Step::CompareAndSet(key),
            Step::Insert(_) => Step::Insert(key),
        }
    }

    /// The key it accesses.
    pub fn key(self) -> Key {
        match self {
            Step::Read(key) | Step::Write(key) | Step::ReadList(key) | Step::Append(key) => key,
            Step::CompareAndSet(key) | Step::Insert(key) => key,
        }
    }

    /// Whether it may write.
    pub fn writes(self) -> bool {
        !matches!(self, Step::Read(_) | Step::ReadList(_))
    }
}

/// What a step did. The value 0 is the initial one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// Read this value.
    Read(Key, u64),
    /// Wrote this value.
    Write(Key, u64),
    /// Read these elements, oldest first.
    ReadList(Key, Vec<u64>),
    /// Appended this element.
    Append(Key, u64),
}

/// The values that a session writes: unique over all sessions, and never 0.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    session: u64,
    n_sessions: u64,
    counter: u64,
}

impl Values {
    /// The values of session `session` of `n_sessions`.
    pub fn new(session: u32, n_sessions: u32) -> Values {
        Values {
            session: u64::from(session),
            n_sessions: u64::from(n_sessions).max(1),
            counter: 0,
        }
    }

    /// The next value: from the counter and the session, so that no other session generates it.
    pub fn fresh(&mut self) -> u64 {
        self.counter += 1;
        (self.counter - 1) * self.n_sessions + self.session + 1
    }
}
