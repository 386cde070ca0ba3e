//! The order of a satisfied level, on disk, and its replay.
//!
//! ```text
//! isoscope.order/1 SI
//! s4          transaction 4 of the stream, from 1, reads
//! c4          it writes
//! 7           both at once
//! end
//! ```
//!
//! Transactions are written when they are settled, so the file grows with the history. A replay needs one state and a
//! window of the history: it runs the events one after the other and compares what each transaction read with the state
//! then. It knows nothing of engines, edges or horizons: an order that explains every read proves the level.

use super::keep::kept_enum;
use super::record::{Atom, Record};
use isoscope_check::checkers::Level;
use isoscope_model::history::Outcome;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;
use std::str::FromStr;

/// The first line of a file, before the level.
const HEADER: &str = "isoscope.order/1 ";

/// The last line of a file.
const END: &str = "end";

/// The levels whose orders can be replayed with one state.
pub const REPLAYED: [Level; 3] = [
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializability,
];

/// An event of an order: transactions by their number in the stream, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It reads and writes.
    Whole(u64),
    /// It reads.
    Reads(u64),
    /// It writes.
    Writes(u64),
}

kept_enum!(Event { 0 Whole(t), 1 Reads(t), 2 Writes(t) });

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Whole(t) => write!(f, "{t}"),
            Event::Reads(t) => write!(f, "s{t}"),
            Event::Writes(t) => write!(f, "c{t}"),
        }
    }
}

impl FromStr for Event {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Event, &'static str> {
        let number = |digits: &str| {
            digits
                .parse()
                .map_err(|_| "expected the number of a transaction, `s4`, `c4` or `end`")
        };
        match (text.strip_prefix('s'), text.strip_prefix('c')) {
            (Some(digits), _) => number(digits).map(Event::Reads),
            (_, Some(digits)) => number(digits).map(Event::Writes),
            _ => number(text).map(Event::Whole),
        }
    }
}

/// The first line of the file of a level.
pub fn header(level: Level) -> String {
    format!("{HEADER}{}\n", level.code())
}

/// The last line of a file: the order is complete.
pub fn footer() -> String {
    format!("{END}\n")
}

/// The level that a first line names, if it is one that can be replayed.
pub fn level_of(line: &str) -> Option<Level> {
    let level = Level::with_code(line.strip_prefix(HEADER)?.trim_end())?;
    REPLAYED.contains(&level).then_some(level)
}

/// The event of a line; none for the last one. Error: what was expected.
pub fn event_of(line: &str) -> Result<Option<Event>, &'static str> {
    if line == END {
        Ok(None)
    } else {
        line.parse().map(Some)
    }
}

/// A transaction that has read and not yet written.
#[derive(Debug)]
struct Open {
    record: Record,
    /// The number of events when it read.
    since: u64,
}

/// Runs the events of an order.
#[derive(Debug)]
pub struct Replay {
    level: Level,
    /// Transactions of the stream that did not have their turn.
    waiting: FxHashMap<u64, Record>,
    arrived: u64,
    open: FxHashMap<u64, Open>,
    /// By key: its value, and the number of events when it was written.
    state: FxHashMap<u32, (Atom, u64)>,
    /// By key that holds lists: the list.
    lists: FxHashMap<u32, Vec<Atom>>,
    /// By session: the last transaction, and whether it has written.
    sessions: FxHashMap<u32, (u64, bool)>,
    events: u64,
    transactions: u64,
    differing: Vec<u32>,
}

impl Replay {
    /// Begins with the initial state.
    pub fn new(level: Level) -> Replay {
        Replay {
            level,
            waiting: FxHashMap::default(),
            arrived: 0,
            open: FxHashMap::default(),
            state: FxHashMap::default(),
            lists: FxHashMap::default(),
            sessions: FxHashMap::default(),
            events: 0,
            transactions: 0,
            differing: Vec::new(),
        }
    }

    /// Number of transactions of the stream so far.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Number of transactions that had their turn.
    pub fn transactions(&self) -> u64 {
        self.transactions
    }

    /// The lines of reads that the order does not explain, in the order of the events.
    pub fn differing(&self) -> &[u32] {
        &self.differing
    }

    /// Takes the next transaction of the stream. Error: one that cannot be followed.
    pub fn take(&mut self, record: Record) -> Result<(), String> {
        self.arrived += 1;
        if let Some(why) = record.foreign {
            return Err(format!(
                "line {}: {why}, which cannot be followed",
                record.line
            ));
        }
        if record.outcome != Outcome::Aborted {
            self.waiting.insert(self.arrived, record);
        }
        Ok(())
    }

    /// Runs the next event; its transaction must have been taken. Error: an event that this order cannot have.
    pub fn run(&mut self, event: Event) -> Result<(), String> {
        self.events += 1;
        let has_two = self.level != Level::Serializability;
        match event {
            Event::Whole(t) if !has_two => {
                let record = self.begin(t)?;
                self.read(&record);
                self.write(t, &record)
            }
            Event::Reads(t) if has_two => {
                let record = self.begin(t)?;
                self.read(&record);
                self.open.insert(
                    t,
                    Open {
                        record,
                        since: self.events,
                    },
                );
                Ok(())
            }
            Event::Writes(t) if has_two => {
                let Open { record, since } = self
                    .open
                    .remove(&t)
                    .ok_or(format!("{t} writes without having read"))?;
                if self.level == Level::SnapshotIsolation {
                    let mut times = record
                        .writes()
                        .filter_map(|action| self.state.get(&action.key));
                    if times.any(|(_, at)| *at > since) {
                        return Err(format!(
                            "{t} overlaps another writer of a key (line {})",
                            record.line
                        ));
                    }
                }
                self.write(t, &record)
            }
            _ => Err(format!(
                "`{event}` is no event of an order for {}",
                self.level
            )),
        }
    }

    /// The end of both files. Error: a committed transaction that had no turn.
    pub fn finish(&self) -> Result<(), String> {
        if let Some(t) = self.open.keys().min() {
            return Err(format!("{t} has read and never writes"));
        }
        let missing = self
            .waiting
            .iter()
            .filter(|(_, record)| record.outcome == Outcome::Committed);
        match missing.min_by_key(|(t, _)| **t) {
            Some((t, record)) => Err(format!(
                "{t}, which ended on line {}, is not in the order",
                record.line
            )),
            None => Ok(()),
        }
    }

    /// The turn of a transaction comes: after the one before it in its session.
    fn begin(&mut self, t: u64) -> Result<Record, String> {
        let record = self
            .waiting
            .remove(&t)
            .ok_or(format!("{t} is no transaction that is left"))?;
        let before = self.sessions.insert(record.session, (t, false));
        if before.is_some_and(|(before, has_written)| before > t || !has_written) {
            return Err(format!(
                "{t} (line {}) comes before its predecessor in its session",
                record.line
            ));
        }
        self.transactions += 1;
        Ok(record)
    }

    /// Compares what a transaction read with the state.
    fn read(&mut self, record: &Record) {
        let mut own: FxHashMap<u32, &Atom> = FxHashMap::default();
        let mut different: FxHashSet<u32> = FxHashSet::default();
        for (place, action) in record.operations.iter().enumerate() {
            if action.is_write() {
                own.insert(action.key, &action.value);
                continue;
            }
            if let Some(list) = &action.list {
                let own = record.writes_before(place).map(|write| &write.value);
                let of_state = self.lists.get(&action.key).into_iter().flatten();
                if !of_state.chain(own).eq(list.iter()) && different.insert(action.key) {
                    self.differing.push(action.line);
                }
                continue;
            }
            let of_state = self
                .state
                .get(&action.key)
                .map_or(&Atom::Initial, |(value, _)| value);
            if *own.get(&action.key).copied().unwrap_or(of_state) != action.value
                && different.insert(action.key)
            {
                self.differing.push(action.line);
            }
        }
    }

    fn write(&mut self, t: u64, record: &Record) -> Result<(), String> {
        for action in record.writes() {
            self.state
                .insert(action.key, (action.value.clone(), self.events));
            if action.list.is_some() {
                self.lists
                    .entry(action.key)
                    .or_default()
                    .push(action.value.clone());
            }
        }
        self.sessions.insert(record.session, (t, true));
        Ok(())
    }
}
