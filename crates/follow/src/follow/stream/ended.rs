//! Reading the transactions that have ended.

use super::Stream;
use super::lines::Lines;
use crate::follow::record::{Called, HistoryReading, Record, records};
use isoscope_formats::{self as formats, Input, Place, Problem, ReadError, Request};
use isoscope_model::control::Control;
use isoscope_model::history::{History, Interval, Outcome, Rules, TransactionId, ValueRule};

/// Transactions read together: few enough that memory for them is taken and given back cheaply.
const TOGETHER: usize = 128;

/// The lines of a transaction that has ended; in the text format, a line may hold several.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) lines: Lines,
    /// EDN: the line with which it began, or the last one before.
    pub(super) start: i64,
    /// Sessions that have ended since another transaction did.
    pub(super) gone: Vec<String>,
    /// EDN: what ends later began with this line or later, if that is known.
    pub(super) begun: Option<i64>,
}

impl Call {
    /// These lines, of which the first began the transaction.
    pub(super) fn new(lines: Lines) -> Call {
        Call {
            start: lines.first(),
            lines,
            gone: Vec::new(),
            begun: None,
        }
    }
}

impl Stream {
    /// Reads the transactions that have ended: together where that comes to the same.
    pub(super) fn read_calls(&mut self, out: &mut Vec<Record>) -> Result<(), ReadError> {
        let calls = std::mem::take(&mut self.calls);
        for calls in calls.chunks(TOGETHER) {
            match self.read_together(calls) {
                Some(records) => out.extend(records),
                None => calls
                    .iter()
                    .try_for_each(|call| self.read_call(call, out))?,
            }
        }
        self.began |= !out.is_empty();
        Ok(())
    }

    /// The lines of some transactions, as one history. None if they have to be read one by one: there is something wrong
    /// with them, or what one of them says may depend on the others.
    fn read_together(&mut self, calls: &[Call]) -> Option<Vec<Record>> {
        if calls.len() < 2 {
            return None;
        }
        let mut lines = self.declared();
        let mut calls_of_lines: Vec<usize> = vec![0; lines.numbers.len()];
        lines
            .bytes
            .reserve(calls.iter().map(|call| call.lines.bytes.len()).sum());
        for (n, call) in calls.iter().enumerate() {
            lines.append(&call.lines);
            calls_of_lines.resize(lines.numbers.len(), n);
        }
        let history = self.history(&lines).ok()?;
        let call_of = |t: TransactionId| {
            let line = history.line_of(history.operations_of(t).next()?) as usize;
            calls_of_lines.get(line.checked_sub(1)?).copied()
        };
        let mut places: Vec<(usize, TransactionId)> = history
            .transactions()
            .map(|t| Some((call_of(t)?, t)))
            .collect::<Option<_>>()?;
        // In the order in which they ended, so that names get the same numbers as one by one.
        places.sort_by_key(|(call, _)| *call);
        let is_plain = history
            .transactions()
            .all(|t| history.outcome(t) != Outcome::Unknown);
        let is_each_there = places
            .chunk_by(|(a, _), (b, _)| a == b)
            .map(|of_call| of_call[0].0)
            .eq(0..calls.len());
        if !is_plain || !is_each_there {
            return None;
        }
        let mut reading = HistoryReading::new(&history);
        let read = |(call, t): (usize, TransactionId)| {
            let record = reading.record(t, &mut self.names, &|line| lines.number(line));
            self.of_call(&calls[call], record)
        };
        Some(places.into_iter().map(read).collect())
    }

    /// Reads one transaction.
    fn read_call(&mut self, call: &Call, out: &mut Vec<Record>) -> Result<(), ReadError> {
        let mut lines = self.declared();
        lines.append(&call.lines);
        let history = self.history(&lines)?;
        let begun = records(&history, &mut self.names, |line| lines.number(line));
        out.extend(begun.into_iter().map(|record| self.of_call(call, record)));
        Ok(())
    }

    /// In Jepsen's notation the order of the lines is real time.
    fn of_call(&mut self, call: &Call, record: Record) -> Record {
        let line = call.lines.last();
        let gone = call
            .gone
            .iter()
            .map(|session| self.names.sessions.place(session))
            .collect();
        let record = Record {
            gone,
            begun: call.begun,
            ..self.placed(record, line)
        };
        if self.format.is_none_or(|format| format.name != "elle-edn") {
            return record;
        }
        let end = if record.outcome == Outcome::Unknown {
            i64::MAX
        } else {
            i64::from(line)
        };
        Record {
            interval: Some(Interval {
                start: call.start.min(end),
                end,
            }),
            ..record
        }
    }

    /// What is read in front of the lines of each transaction.
    fn declared(&self) -> Lines {
        let mut lines = Lines::default();
        if !self.declaration.is_empty() {
            lines.push(0, &self.declaration);
        }
        lines
    }

    /// The lines as a history.
    pub(super) fn history(&self, lines: &Lines) -> Result<History, ReadError> {
        // A piece need not have the writes of what it reads.
        let rules = Rules {
            values: ValueRule::Exact,
            ..Rules::default()
        };
        let request = Request {
            format: self.format.map(|format| format.name),
            rules: Some(&rules),
        };
        let read = formats::read(
            &Input::new(&self.name, &lines.bytes).as_part(),
            request,
            &Control::new(),
        );
        let history = read.map_err(|error| at_line(error, |line| lines.number(line)))?;
        // What operations of other workloads mean depends on all of the file.
        match history.workload().map(|workload| workload.name) {
            None | Some("register") => Ok(history),
            Some(name) => {
                let message = format!(
                    "a log of the workload `{name}` cannot be followed while it grows: check it when it is complete"
                );
                Err(ReadError::whole("", Problem::Other(message)))
            }
        }
    }

    /// A transaction that ends with this line, named by its place in its session if it has no other name.
    fn placed(&mut self, record: Record, line: u32) -> Record {
        let position = self.positions.entry(record.session).or_default();
        let called = record.called.unwrap_or(Called::Position(*position));
        *position += 1;
        Record {
            line,
            called: Some(called),
            ..record
        }
    }
}

/// The same error, on the line of the stream that `number` says.
pub(super) fn at_line(error: ReadError, number: impl Fn(u32) -> u32) -> ReadError {
    let place = match error.place {
        Place::Line { line, column } => Place::Line {
            line: u64::from(number(u32::try_from(line).unwrap_or(u32::MAX))),
            column,
        },
        place => place,
    };
    ReadError { place, ..error }
}
