//! A growing file → its transactions, one after the other, in the order in which they end.
//!
//! Nothing is parsed here: the lines of one transaction are a small history, which the reader of the format reads. So
//! they mean here what they mean in a whole file.
//!
//! | format | a transaction ends | what is kept until then |
//! |---|---|---|
//! | `text` | with its line | |
//! | `elle-edn`, as `collect` writes it | with the operation that completes its invocation | the line of the invocation |
//! | `plume` | when its session begins another | its lines |

use super::keep::{Keep, Reading, Writing, kept};
use super::record::{Called, Names, Record, record, records};
use crate::control::Control;
use crate::formats::elle::{self, Glimpse};
use crate::formats::{self, Format, Input, Likelihood, Place, Problem, ReadError, Request, SNIFFED};
use crate::history::{History, Interval, Outcome, TransactionId, positional_name};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The formats that can be followed.
const FORMATS: [&str; 3] = ["text", "elle-edn", "plume"];

/// Transactions of Jepsen's notation read together.
const TOGETHER: usize = 512;

/// Lines with their numbers, from 1.
#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    numbers: Vec<u32>,
}

impl Lines {
    fn push(&mut self, number: u32, line: &[u8]) {
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
        self.numbers.push(number);
    }

    fn joined(mut self, other: Lines) -> Lines {
        self.bytes.extend(other.bytes);
        self.numbers.extend(other.numbers);
        self
    }

    /// The number of a line of these in the stream.
    fn number(&self, line: u32) -> u32 {
        let place = (line as usize).checked_sub(1);
        place.and_then(|place| self.numbers.get(place)).copied().unwrap_or(0)
    }
}

kept!(Lines { bytes, numbers });

/// A transaction of Jepsen's notation: its lines, and the last line before it began.
#[derive(Debug)]
struct Call {
    lines: Lines,
    start: i64,
}

/// Integers, as ranges.
#[derive(Debug, Default)]
struct Ranges {
    /// By the first: the last.
    ends: BTreeMap<i64, i64>,
}

kept!(Ranges { ends });

impl Ranges {
    fn contains(&self, number: i64) -> bool {
        self.ends.range(..=number).next_back().is_some_and(|(_, &end)| number <= end)
    }

    fn insert(&mut self, number: i64) {
        if self.contains(number) {
            return;
        }
        let end = number.checked_add(1).and_then(|next| self.ends.remove(&next)).unwrap_or(number);
        match self.ends.range_mut(..number).next_back() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = end,
            _ => drop(self.ends.insert(number, end)),
        }
    }
}

/// Cuts a growing file into transactions.
#[derive(Debug)]
pub struct Stream {
    name: String,
    format: Option<&'static Format>,
    names: Names,
    /// By session: number of transactions so far.
    positions: FxHashMap<u32, usize>,
    /// The beginning of a line whose end has not been read.
    rest: Vec<u8>,
    /// Lines read before the format was recognised.
    head: Vec<Vec<u8>>,
    /// Number of whole lines taken.
    line: u32,
    began: bool,
    /// Text: the line that declares the initial value.
    declaration: Vec<u8>,
    /// EDN: by process, the invocation that is not completed.
    invoked: FxHashMap<Option<i64>, Lines>,
    /// EDN: transactions that have ended and are not read yet; none are left between two calls.
    calls: Vec<Call>,
    /// EDN: by process, the line of the last operation that ended a transaction.
    answered: FxHashMap<Option<i64>, u32>,
    /// Plume: by session, the transaction that may go on, and its lines.
    growing: FxHashMap<i64, (i64, Lines)>,
    /// Plume: the transactions that have ended.
    over: Ranges,
}

impl Stream {
    /// A stream of this name, in this format or in whichever its beginning shows. Error: a format that cannot be
    /// followed.
    pub fn new(name: &str, format: Option<&str>) -> Result<Stream, ReadError> {
        let mut stream = Stream {
            name: name.to_owned(),
            format: None,
            names: Names::default(),
            positions: FxHashMap::default(),
            rest: Vec::new(),
            head: Vec::new(),
            line: 0,
            began: false,
            declaration: Vec::new(),
            invoked: FxHashMap::default(),
            calls: Vec::new(),
            answered: FxHashMap::default(),
            growing: FxHashMap::default(),
            over: Ranges::default(),
        };
        if let Some(format) = format.and_then(formats::format) {
            stream.choose(format)?;
        }
        Ok(stream)
    }

    /// The names in its records.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Number of lines read.
    pub fn lines(&self) -> u32 {
        self.line + self.head.len() as u32
    }

    /// Number of transactions that have begun and not ended, as far as the file says.
    pub fn open(&self) -> usize {
        self.invoked.len() + self.growing.len()
    }

    /// Takes the next bytes; transactions that end in them are added to `out`. Error: a line that is none of the format.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Record>) -> Result<(), ReadError> {
        let read = self.push_lines(bytes, out);
        self.read_calls(out).and(read)
    }

    fn push_lines(&mut self, bytes: &[u8], out: &mut Vec<Record>) -> Result<(), ReadError> {
        let mut bytes = bytes;
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let mut line = std::mem::take(&mut self.rest);
            line.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            self.take(line, false, out)?;
        }
        self.rest.extend_from_slice(bytes);
        Ok(())
    }

    /// Leaves out the beginning of a line whose end has not been read, where reading ends before the file does.
    pub fn drop_partial_line(&mut self) {
        self.rest.clear();
    }

    /// The end of the stream: transactions that have begun and not ended are of unknown outcome.
    pub fn finish(&mut self, out: &mut Vec<Record>) -> Result<(), ReadError> {
        let last = std::mem::take(&mut self.rest);
        // An operation that is cut off, as after a crash.
        let is_cut = last.trim_ascii().starts_with(b"{") && !last.trim_ascii().ends_with(b"}");
        if !last.is_empty() && !is_cut {
            let taken = self.take(last, true, out);
            self.read_calls(out).and(taken)?;
        } else if self.format.is_none() && !self.head.is_empty() {
            self.recognise(true)?;
            self.take_head(out)?;
            self.read_calls(out)?;
        }
        let mut growing: Vec<Lines> = self.growing.drain().map(|(_, (_, lines))| lines).collect();
        growing.sort_unstable_by_key(|lines| lines.numbers.first().copied());
        growing.iter().try_for_each(|lines| self.read(lines, out).map(drop))?;
        let mut invoked: Vec<(Option<i64>, Lines)> = self.invoked.drain().collect();
        invoked.sort_unstable_by_key(|(_, lines)| lines.numbers.first().copied());
        self.calls = invoked.into_iter().map(|(_, lines)| Call { start: first(&lines), lines }).collect();
        self.read_calls(out)
    }

    /// Takes a whole line.
    fn take(&mut self, line: Vec<u8>, is_last: bool, out: &mut Vec<Record>) -> Result<(), ReadError> {
        let is_first = self.lines() == 0;
        let line = match line.strip_prefix(b"\xef\xbb\xbf") {
            Some(bare) if is_first => bare.to_vec(),
            _ => line,
        };
        if self.format.is_some() {
            return self.take_known(&line, out);
        }
        self.head.push(line);
        if self.recognise(is_last)? { self.take_head(out) } else { Ok(()) }
    }

    fn take_head(&mut self, out: &mut Vec<Record>) -> Result<(), ReadError> {
        std::mem::take(&mut self.head).iter().try_for_each(|line| self.take_known(line, out))
    }

    /// Whether the format is known by now. Error: it is none, or none that can be followed.
    fn recognise(&mut self, is_last: bool) -> Result<bool, ReadError> {
        let mut bytes = self.head.join(&b'\n');
        bytes.push(b'\n');
        let input = Input::new(&self.name, &bytes);
        match formats::recognise(&input) {
            Some((format, likelihood)) if likelihood >= Likelihood::Likely || is_last => {
                self.choose(format).map(|()| true)
            }
            _ if !is_last && bytes.len() < SNIFFED => Ok(false),
            // The readers say what is wrong with it.
            _ => formats::read(&input, None, &Control::new()).map(|_| false),
        }
    }

    fn choose(&mut self, format: &'static Format) -> Result<(), ReadError> {
        if !FORMATS.contains(&format.name) {
            let message = format!("the format {} cannot be followed, only {}", format.name, FORMATS.join(", "));
            return Err(ReadError::whole(format.name, Problem::Other(message)));
        }
        self.format = Some(format);
        Ok(())
    }

    fn take_known(&mut self, line: &[u8], out: &mut Vec<Record>) -> Result<(), ReadError> {
        self.line += 1;
        let mut one = Lines::default();
        one.push(self.line, line);
        match self.format.map(|format| format.name) {
            Some("text") => self.text_line(line, one, out),
            Some("plume") => self.plume_line(line, one, out),
            _ => self.edn_line(line, one),
        }
    }

    fn text_line(&mut self, line: &[u8], one: Lines, out: &mut Vec<Record>) -> Result<(), ReadError> {
        let mut lines = Lines::default();
        if !self.declaration.is_empty() {
            lines.push(0, &self.declaration);
        }
        let history = self.read(&lines.joined(one), out)?;
        let is_blank = line.trim_ascii().is_empty() || line.trim_ascii_start().starts_with(b"#");
        if history.n_sessions() == 0 && !is_blank {
            if self.began {
                let message = "the initial value is declared after the first transaction: such a file can be checked, not followed";
                return Err(self.problem(message));
            }
            self.declaration = line.to_vec();
        }
        self.began |= history.n_transactions() > 0;
        Ok(())
    }

    fn edn_line(&mut self, line: &[u8], one: Lines) -> Result<(), ReadError> {
        let glimpse = elle::glimpse(line).map_err(|error| at_line(error, |_| self.line))?;
        match glimpse {
            Glimpse::Nothing => Ok(()),
            Glimpse::Begins(process) => {
                if let Some(lines) = self.invoked.insert(process, one) {
                    self.calls.push(Call { start: first(&lines), lines });
                }
                Ok(())
            }
            Glimpse::Ends(process) => {
                let start = match self.invoked.get(&process) {
                    Some(invoked) => first(invoked),
                    // It began after the previous answer to its process.
                    None => self.answered.get(&process).map_or(0, |&line| i64::from(line)),
                };
                let lines = self.invoked.remove(&process).unwrap_or_default().joined(one);
                self.calls.push(Call { start, lines });
                self.answered.insert(process, self.line);
                Ok(())
            }
        }
    }

    /// Reads the transactions of Jepsen's notation that have ended: together where that is the same.
    fn read_calls(&mut self, out: &mut Vec<Record>) -> Result<(), ReadError> {
        let calls = std::mem::take(&mut self.calls);
        for calls in calls.chunks(TOGETHER) {
            match self.read_together(calls) {
                Some(records) => out.extend(records),
                None => calls.iter().try_for_each(|call| self.read_call(call, out))?,
            }
        }
        Ok(())
    }

    /// The lines of some transactions, as one history. None if they have to be read one by one: there is something wrong
    /// with them, or what one of them says may depend on the others.
    fn read_together(&mut self, calls: &[Call]) -> Option<Vec<Record>> {
        let mut lines = Lines::default();
        let mut calls_of_lines: Vec<usize> = Vec::new();
        for (n, call) in calls.iter().enumerate().filter(|_| calls.len() > 1) {
            lines.bytes.extend_from_slice(&call.lines.bytes);
            lines.numbers.extend_from_slice(&call.lines.numbers);
            calls_of_lines.resize(lines.numbers.len(), n);
        }
        let history = self.history(&lines).ok()?;
        let call_of = |t: TransactionId| {
            let line = history.line_of(history.operations_of(t).next()?) as usize;
            calls_of_lines.get(line.checked_sub(1)?).copied()
        };
        let mut places: Vec<(usize, TransactionId)> =
            history.transactions().map(|t| Some((call_of(t)?, t))).collect::<Option<_>>()?;
        places.sort_unstable_by_key(|(call, _)| *call);
        let each_once = places.iter().map(|(call, _)| *call).eq(0..calls.len());
        let is_plain = history.transactions().all(|t| history.outcome(t) != Outcome::Unknown);
        if !each_once || !is_plain || !history.lists().is_empty() {
            return None;
        }
        // In the order in which they ended, so that names get the same numbers as one by one.
        let read = |(call, t): (usize, TransactionId)| {
            let record = record(&history, t, &mut self.names, &|line| lines.number(line));
            self.of_call(&calls[call], record)
        };
        Some(places.into_iter().map(read).collect())
    }

    /// Reads one transaction of Jepsen's notation.
    fn read_call(&mut self, call: &Call, out: &mut Vec<Record>) -> Result<(), ReadError> {
        let history = self.history(&call.lines)?;
        let begun = records(&history, &mut self.names, |line| call.lines.number(line));
        out.extend(begun.into_iter().map(|record| self.of_call(call, record)));
        Ok(())
    }

    /// In Jepsen's notation the order of the lines is real time.
    fn of_call(&mut self, call: &Call, record: Record) -> Record {
        let line = last(&call.lines);
        let end = if record.outcome == Outcome::Unknown { i64::MAX } else { i64::from(line) };
        Record { interval: Some(Interval { start: call.start.min(end), end }), ..self.placed(record, line) }
    }

    fn plume_line(&mut self, line: &[u8], one: Lines, out: &mut Vec<Record>) -> Result<(), ReadError> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let Some((session, transaction)) = plume_numbers(line) else {
            // The reader says what is wrong with it.
            return self.read(&one, &mut Vec::new()).map(drop);
        };
        if self.growing.get(&session).is_some_and(|(other, _)| *other != transaction)
            && let Some((other, lines)) = self.growing.remove(&session)
        {
            if other != -1 {
                self.over.insert(other);
            }
            self.read(&lines, out)?;
        }
        if transaction != -1 && self.over.contains(transaction) {
            let message = format!(
                "transaction {transaction} goes on after its session began another: such a file can be checked, not followed"
            );
            return Err(self.problem(&message));
        }
        let number = self.line;
        let (_, lines) = self.growing.entry(session).or_insert_with(|| (transaction, Lines::default()));
        lines.push(number, line);
        Ok(())
    }

    /// Reads the lines of a history. Its transactions are added to `out`.
    fn read(&mut self, lines: &Lines, out: &mut Vec<Record>) -> Result<History, ReadError> {
        let history = self.history(lines)?;
        let begun = records(&history, &mut self.names, |line| lines.number(line));
        out.extend(begun.into_iter().map(|record| self.placed(record, last(lines))));
        Ok(history)
    }

    /// The lines as a history.
    fn history(&self, lines: &Lines) -> Result<History, ReadError> {
        let request = Request { format: self.format.map(|format| format.name), rules: None };
        let read = formats::read(&Input::new(&self.name, &lines.bytes), request, &Control::new());
        read.map_err(|error| at_line(error, |line| lines.number(line)))
    }

    /// A transaction that ends with this line, named by its place in its session if it has no other name.
    fn placed(&mut self, record: Record, line: u32) -> Record {
        let position = self.positions.entry(record.session).or_default();
        let called = record.called.unwrap_or_else(|| {
            let session = self.names.sessions.name(record.session);
            Called::Name(positional_name(session, *position).into())
        });
        *position += 1;
        Record { line, called: Some(called), ..record }
    }

    /// A problem with the current line.
    fn problem(&self, message: &str) -> ReadError {
        let format = self.format.map_or("", |format| format.name);
        ReadError::at(format, u64::from(self.line), 0, Problem::Other(message.to_owned()))
    }
}

/// The number of the first line.
fn first(lines: &Lines) -> i64 {
    lines.numbers.first().map_or(0, |&line| i64::from(line))
}

/// The number of the last line.
fn last(lines: &Lines) -> u32 {
    lines.numbers.last().copied().unwrap_or(0)
}

/// A format by its name.
impl Keep for &'static Format {
    fn put(&self, to: &mut Writing) {
        self.name.to_owned().put(to);
    }

    fn get(from: &mut Reading<'_>) -> Option<&'static Format> {
        formats::format(&String::get(from)?)
    }
}

kept!(Stream {
    name,
    format,
    names,
    positions,
    rest,
    head,
    line,
    began,
    declaration,
    invoked,
    answered,
    growing,
    over;
    calls
});

/// The same error, on the line of the stream that `number` says.
fn at_line(error: ReadError, number: impl Fn(u32) -> u32) -> ReadError {
    let place = match error.place {
        Place::Line { line, column } => {
            Place::Line { line: u64::from(number(u32::try_from(line).unwrap_or(u32::MAX))), column }
        }
        place => place,
    };
    ReadError { place, ..error }
}

/// Session and transaction of a line of Plume's text.
fn plume_numbers(line: &[u8]) -> Option<(i64, i64)> {
    let text = std::str::from_utf8(line).ok()?.trim_ascii().strip_suffix(')')?;
    let mut fields = text.rsplit(',');
    let transaction = fields.next()?.trim().parse().ok()?;
    Some((fields.next()?.trim().parse().ok()?, transaction))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_grow_together() {
        let mut ranges = Ranges::default();
        for number in [5, 3, 4, 9, 8, i64::MAX, i64::MIN, 3] {
            ranges.insert(number);
        }
        assert_eq!(
            ranges.ends.into_iter().collect::<Vec<_>>(),
            [(i64::MIN, i64::MIN), (3, 5), (8, 9), (i64::MAX, i64::MAX)]
        );
    }
}
