//! A growing file → its transactions, one after the other, in the order in which they end.
//!
//! Nothing is parsed here: the lines of a transaction are a small history, which the reader of the format reads. So they
//! mean here what they mean in a whole file. Transactions that end in the same bytes are read together where that comes to
//! the same.
//!
//! | format | a transaction ends | what is kept until then |
//! |---|---|---|
//! | `text` | with its line | |
//! | `elle-edn`, as `collect` writes it | with the operation that completes its invocation | the line of the invocation |
//! | `plume` | when its session begins another | its lines |

mod ended;
mod lines;
mod ranges;

use super::keep::kept;
use super::record::{Names, Record};
use ended::{Call, at_line};
use isoscope_formats::elle::{self, Glimpse};
use isoscope_formats::{self as formats, Format, Input, Likelihood, Problem, ReadError, SNIFFED};
use isoscope_model::control::Control;
use isoscope_model::history::fences::Remark;
use lines::{Lines, without_return};
use ranges::Ranges;
use rustc_hash::FxHashMap;

/// The formats that can be followed.
const FORMATS: [&str; 3] = ["text", "elle-edn", "plume"];

/// Bytes that are kept of a line whose end has not come.
const LONGEST: usize = 64 << 20;

/// Cuts a growing file into transactions.
#[derive(Debug, Default)]
pub struct Stream {
    name: String,
    format: Option<&'static Format>,
    names: Names,
    /// By session: number of transactions so far.
    positions: FxHashMap<u32, u32>,
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
    /// Transactions that have ended and are not read yet; none are left between two calls.
    calls: Vec<Call>,
    /// EDN: by process, the line of the last operation that ended a transaction.
    answered: FxHashMap<Option<i64>, u32>,
    /// EDN: whether an operation ended that had not begun.
    has_unasked: bool,
    /// EDN: the sessions that have ended since the last transaction did.
    gone: Vec<String>,
    /// Plume: by session, the transaction that may go on, and its lines.
    growing: FxHashMap<i64, (i64, Lines)>,
    /// Plume: the transactions that have ended.
    over: Ranges,
}

impl Stream {
    /// A stream of this name, in this format or in whichever its beginning shows, also where no format has this name.
    /// Error: a format that cannot be followed.
    pub fn new(name: &str, format: Option<&str>) -> Result<Stream, ReadError> {
        let mut stream = Stream {
            name: name.to_owned(),
            ..Stream::default()
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

    /// Whether the times of its records are lines: the format orders events by them.
    pub fn times_are_lines(&self) -> bool {
        self.format.is_some_and(|format| format.name == "elle-edn")
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
            let (line, after) = (&bytes[..end], &bytes[end + 1..]);
            bytes = after;
            let begun = std::mem::take(&mut self.rest);
            if begun.is_empty() {
                self.take(without_return(line), false, out)?
            } else {
                self.take(without_return(&[&begun, line].concat()), false, out)?
            }
        }
        self.rest.extend_from_slice(bytes);
        if self.rest.len() > LONGEST {
            let message = format!("this line is longer than {} MiB", LONGEST >> 20);
            let format = self.format.map_or("", |format| format.name);
            return Err(ReadError::at(
                format,
                u64::from(self.lines()) + 1,
                0,
                Problem::Other(message),
            ));
        }
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
            let taken = self.take(&last, true, out);
            self.read_calls(out).and(taken)?;
        } else if self.format.is_none() && !self.head.is_empty() {
            self.recognise(true)?;
            self.take_head(out)?;
            self.read_calls(out)?;
        }
        let growing = self.growing.drain().map(|(_, (_, lines))| lines);
        let open = growing.chain(self.invoked.drain().map(|(_, lines)| lines));
        self.calls = open.map(Call::new).collect();
        self.calls.sort_unstable_by_key(|call| call.start);
        self.read_calls(out)
    }

    /// Takes a whole line.
    fn take(&mut self, line: &[u8], is_last: bool, out: &mut Vec<Record>) -> Result<(), ReadError> {
        let is_first = self.lines() == 0;
        let line = line
            .strip_prefix(b"\xef\xbb\xbf")
            .filter(|_| is_first)
            .unwrap_or(line);
        if self.format.is_some() {
            return self.take_known(line, out);
        }
        self.head.push(line.to_vec());
        if self.recognise(is_last)? {
            self.take_head(out)
        } else {
            Ok(())
        }
    }

    fn take_head(&mut self, out: &mut Vec<Record>) -> Result<(), ReadError> {
        std::mem::take(&mut self.head)
            .iter()
            .try_for_each(|line| self.take_known(line, out))
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
            let message = format!(
                "the format {} cannot be followed, only {}",
                format.name,
                FORMATS.join(", ")
            );
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
            Some("plume") => self.plume_line(line, one),
            _ => self.edn_line(line, one),
        }
    }

    fn text_line(
        &mut self,
        line: &[u8],
        one: Lines,
        out: &mut Vec<Record>,
    ) -> Result<(), ReadError> {
        if line.trim_ascii_start().starts_with(b"initial") {
            return self.text_declaration(line, one, out);
        }
        let is_comment = line
            .trim_ascii_start()
            .first()
            .is_none_or(|&first| first == b'#');
        if !is_comment {
            self.calls.push(Call::new(one));
        }
        Ok(())
    }

    /// A line that may declare the initial value, or else holds transactions of a session whose name begins like that.
    fn text_declaration(
        &mut self,
        line: &[u8],
        one: Lines,
        out: &mut Vec<Record>,
    ) -> Result<(), ReadError> {
        self.read_calls(out)?;
        let history = self.history(&one)?;
        if history.n_sessions() > 0 {
            self.calls.push(Call::new(one));
            return Ok(());
        }
        if self.began {
            let message = "the initial value is declared after the first transaction: such a file can be checked, not followed";
            return Err(self.problem(message));
        }
        self.declaration = line.to_vec();
        Ok(())
    }

    fn edn_line(&mut self, line: &[u8], one: Lines) -> Result<(), ReadError> {
        let glimpse = elle::glimpse(line).map_err(|error| at_line(error, |_| self.line))?;
        match glimpse {
            Glimpse::Nothing => {
                self.remark(line);
                Ok(())
            }
            Glimpse::Begins(process) => {
                if let Some(lines) = self.invoked.insert(process, one) {
                    self.calls.push(Call::new(lines));
                }
                Ok(())
            }
            Glimpse::Ends(process) => {
                let start = match self.invoked.get(&process) {
                    Some(invoked) => invoked.first(),
                    None => {
                        self.has_unasked = true;
                        // It began after the previous answer to its process.
                        self.answered
                            .get(&process)
                            .map_or(0, |&line| i64::from(line))
                    }
                };
                let mut lines = self.invoked.remove(&process).unwrap_or_default();
                lines.append(&one);
                let gone = std::mem::take(&mut self.gone);
                let begun = self.begun();
                self.calls.push(Call {
                    start,
                    lines,
                    gone,
                    begun,
                });
                self.answered.insert(process, self.line);
                Ok(())
            }
        }
    }

    /// With which line the first began of all that end later; none if operations end of which the file does not say when
    /// they began. O(open transactions).
    fn begun(&self) -> Option<i64> {
        let first = self
            .invoked
            .values()
            .map(Lines::first)
            .min()
            .unwrap_or(i64::from(self.line) + 1);
        (!self.has_unasked).then_some(first)
    }

    /// Hears what a comment says of sessions and barriers. The key of barriers has to be named before anything else.
    fn remark(&mut self, line: &[u8]) {
        match Remark::of(line) {
            Some(Remark::Ended(session)) => self.gone.push(session.to_owned()),
            Some(Remark::Barriers(key)) if self.invoked.is_empty() && self.answered.is_empty() => {
                self.names.barrier = Some(self.names.keys.place(key));
            }
            _ => {}
        }
    }

    fn plume_line(&mut self, line: &[u8], one: Lines) -> Result<(), ReadError> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let Some((session, transaction)) = plume_numbers(line) else {
            // The reader says what is wrong with it.
            return self.history(&one).map(drop);
        };
        if self
            .growing
            .get(&session)
            .is_some_and(|(other, _)| *other != transaction)
            && let Some((other, lines)) = self.growing.remove(&session)
        {
            if other != -1 {
                self.over.insert(other);
            }
            self.calls.push(Call::new(lines));
        }
        if transaction != -1 && self.over.contains(transaction) {
            let message = format!(
                "transaction {transaction} goes on after its session began another: such a file can be checked, not followed"
            );
            return Err(self.problem(&message));
        }
        let number = self.line;
        let (_, lines) = self
            .growing
            .entry(session)
            .or_insert_with(|| (transaction, Lines::default()));
        lines.push(number, line);
        Ok(())
    }

    /// A problem with the current line.
    fn problem(&self, message: &str) -> ReadError {
        let format = self.format.map_or("", |format| format.name);
        ReadError::at(
            format,
            u64::from(self.line),
            0,
            Problem::Other(message.to_owned()),
        )
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
    has_unasked,
    gone,
    growing,
    over;
    calls
});

/// Session and transaction of a line of Plume's text.
fn plume_numbers(line: &[u8]) -> Option<(i64, i64)> {
    let text = std::str::from_utf8(line)
        .ok()?
        .trim_ascii()
        .strip_suffix(')')?;
    let mut fields = text.rsplit(',');
    let transaction = fields.next()?.trim().parse().ok()?;
    Some((fields.next()?.trim().parse().ok()?, transaction))
}
