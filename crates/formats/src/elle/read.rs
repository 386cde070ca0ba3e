//! Operations of the file → [`Log`].

use super::atom::{Atom, is_wrapped};
use super::log::{Content, Log, MicroOperation, Payload, Verb};
use super::scan::{Mark, Scanner, Token, content_of};
use crate::error::ReadError;
use crate::operations::{Event, Incident, Stage, Taker, is_nemesis, take_all};
use isoscope_model::control::Control;
use isoscope_model::history::Prefix;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Why a file is not read to its end.
#[derive(Debug)]
pub(crate) enum Stop {
    Error(ReadError),
    /// An operation of a client is no transaction.
    NoTransaction,
}

impl From<ReadError> for Stop {
    fn from(error: ReadError) -> Stop {
        Stop::Error(error)
    }
}

/// The client of an operation.
#[derive(Clone, Copy)]
enum Process<'a> {
    Missing,
    Client(i64),
    /// `:nemesis` and the like.
    Other(&'a str),
}

/// The shape of the value of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// `nil` or left out.
    Nothing,
    /// A vector of micro-operations, which are in the log; perhaps an empty one.
    Micro,
    Other,
}

/// Reads operations one after the other.
pub(crate) struct Reader<'a, const JSON: bool> {
    pub(crate) scan: Scanner<'a, JSON>,
    pub(crate) log: Log<'a>,
    /// For one list: the elements that are not known, and where each ends in it.
    elements: Vec<Atom>,
    ends: Vec<u32>,
    /// What invocations that have no answer yet invoked: by process, the place of the event and that of its value.
    waiting: FxHashMap<Option<i64>, (usize, Mark)>,
    /// Those whose answer does not say it again.
    unanswered: Vec<(usize, Mark)>,
}

impl<'a, const JSON: bool> Reader<'a, JSON> {
    pub(crate) fn new(scan: Scanner<'a, JSON>) -> Reader<'a, JSON> {
        Reader {
            scan,
            log: Log::default(),
            elements: Vec::new(),
            ends: Vec::new(),
            waiting: FxHashMap::default(),
            unanswered: Vec::new(),
        }
    }

    /// All operations of the file.
    pub(super) fn file(mut self, control: &Control) -> Result<Log<'a>, Stop> {
        take_all(&mut self, control)?;
        self.take_unanswered()?;
        Ok(self.log)
    }

    const AN_OPERATION: &'static str = if JSON {
        "an operation like {\"type\": \"invoke\", …}"
    } else {
        "an operation like {:type :invoke, …}"
    };

    const A_KEY: &'static str = if JSON {
        "a key: a number or a string"
    } else {
        "a key: an integer, a keyword, a symbol, a string or a collection"
    };

    fn operation(&mut self) -> Result<(), Stop> {
        if self.scan.peek() != Some(b'{') {
            return Ok(self.scan.fail(Self::AN_OPERATION)?);
        }
        let mut line = self.scan.line();
        let begin = self.log.operations.len();
        let (mut stage, mut process, mut function) = (None, Process::Missing, None);
        let (mut shape, mut time) = (Shape::Nothing, None);
        let (mut node, mut part, mut detail) = (None, None, (0, 0));
        let (mut client, mut put_off) = (Process::Missing, None);
        let n_unread = self.log.around.unread_fields.len();
        let Some(close) = self.scan.open() else {
            return Ok(self.scan.fail(Self::AN_OPERATION)?);
        };
        let mut first = true;
        while self.scan.more(close, &mut first)? {
            match self.scan.field()? {
                Some("type") => stage = Some(self.stage()?),
                Some("process") => process = self.process()?,
                Some("client") => client = self.process()?,
                Some("f") => function = self.function()?,
                Some("value") => {
                    line = self.scan.line();
                    self.log.operations.truncate(begin);
                    let from = self.scan.at();
                    put_off = self.put_off(stage);
                    shape = if put_off.is_some() {
                        Shape::Micro
                    } else {
                        self.value()?
                    };
                    detail = (from, self.scan.at());
                }
                Some("node") => node = self.node()?,
                Some("shard") => part = self.node()?,
                Some("time") => time = self.time()?,
                Some("error") => self.scan.skip()?,
                Some(name) => {
                    self.log.around.unread_field(Cow::Borrowed(name));
                    self.scan.skip()?;
                }
                None => self.scan.skip()?,
            }
        }
        let process = match (process, client) {
            (Process::Missing, client) => client,
            (process, Process::Missing) => process,
            (process, _) => {
                self.log.around.unread_field(Cow::Borrowed("client"));
                process
            }
        };
        let process = match process {
            Process::Missing => None,
            Process::Client(number) => Some(number),
            Process::Other(name) => {
                self.log.operations.truncate(begin);
                self.log.around.unread_fields.truncate(n_unread);
                let place = self.log.n_operations();
                if !is_nemesis(name) {
                    self.log.around.pass_over(name);
                } else {
                    let detail = match self.scan.between(detail.0, detail.1) {
                        text if text == "nil" || text == "null" => Cow::Borrowed(""),
                        text if is_wrapped(&text) => Cow::Owned(content_of(&text).into_owned()),
                        text => text,
                    };
                    self.log.around.incidents.push(Incident {
                        time,
                        place,
                        what: function.map(Cow::Borrowed),
                        part: part.map(Cow::Borrowed),
                        detail,
                    });
                }
                return Ok(());
            }
        };
        if node.is_some() {
            self.log.around.on_node(process, node.map(Cow::Borrowed));
        }
        let Some(stage) = stage else {
            let field = if JSON { "\"type\"" } else { ":type" };
            return Ok(self.scan.fail_line(
                line,
                format!("expected an operation with {field}, found none in this one"),
            )?);
        };
        let place = self.log.n_operations();
        let end = self.log.operations.len();
        let is_named = matches!(function, None | Some("txn"));
        let content = match shape {
            Shape::Micro if is_named || put_off.is_some() || begin < end => {
                Content::Transaction { begin, end }
            }
            Shape::Nothing if is_named => Content::Nothing,
            _ => return Err(Stop::NoTransaction),
        };
        self.pair(process, stage, content, put_off);
        self.log.events.push(Event {
            process,
            stage,
            time,
            place,
            line,
            content,
        });
        Ok(())
    }

    /// Passes over the value of an invocation if that is micro-operations in the form that most have: an answer nearly
    /// always says them again.
    fn put_off(&mut self, stage: Option<Stage>) -> Option<Mark> {
        if JSON || stage != Some(Stage::Invoke) {
            return None;
        }
        let (mark, rest) = (self.scan.mark(), self.scan.rest());
        let mut left = rest.strip_prefix(b"[")?;
        loop {
            let element = Plain::of(left)?;
            element.payload?;
            left = match element.left {
                [b' ', left @ ..] => left,
                [b']', left @ ..] => {
                    self.scan.pass(rest.len() - left.len());
                    return Some(mark);
                }
                _ => return None,
            };
        }
    }

    /// Notes that an event, which comes next, has what it invoked put off, or answers one that has.
    fn pair(
        &mut self,
        process: Option<i64>,
        stage: Stage,
        content: Content,
        put_off: Option<Mark>,
    ) {
        if JSON {
            return;
        }
        let event = self.log.events.len();
        let before = match put_off {
            Some(mark) => self.waiting.insert(process, (event, mark)),
            None => self.waiting.remove(&process),
        };
        let is_answer = stage == Stage::Ok
            && matches!(content, Content::Transaction { begin, end } if begin < end);
        self.unanswered.extend(before.filter(|_| !is_answer));
    }

    /// Takes what invocations invoked where no answer says it again.
    fn take_unanswered(&mut self) -> Result<(), ReadError> {
        let mut unanswered = std::mem::take(&mut self.unanswered);
        unanswered.extend(self.waiting.drain().map(|(_, invoked)| invoked));
        unanswered.sort_unstable_by_key(|(event, _)| *event);
        for (event, value) in unanswered {
            self.scan.back_to(value);
            let begin = self.log.operations.len();
            self.value()?;
            let end = self.log.operations.len();
            self.log.events[event].content = Content::Transaction { begin, end };
        }
        Ok(())
    }

    /// `:invoke`, `:ok`, `:fail` or `:info`.
    pub(crate) fn stage(&mut self) -> Result<Stage, ReadError> {
        let expected = if JSON {
            "\"invoke\", \"ok\", \"fail\" or \"info\""
        } else {
            ":invoke, :ok, :fail or :info"
        };
        // Marked before it is taken: an error points to it.
        let before = self.scan.mark();
        let token = self.scan.token(expected)?;
        match self.scan.word(token).and_then(Stage::named) {
            Some(stage) => Ok(stage),
            None => {
                self.scan.back_to(before);
                self.scan.fail(expected)
            }
        }
    }

    fn process(&mut self) -> Result<Process<'a>, ReadError> {
        if self.scan.at_sequence() || self.scan.at_map_or_set() {
            self.scan.skip()?;
            return Ok(Process::Other("a collection"));
        }
        let before = self.scan.mark();
        let number = match self.scan.token("a process")? {
            Token::Nil => return Ok(Process::Missing),
            Token::Number(number) => i64::try_from(number).ok(),
            Token::Name(text) if text.starts_with('-') && text.len() > 1 => text.parse().ok(),
            Token::Name(text) if text.bytes().all(|b| b.is_ascii_digit()) => None,
            Token::Keyword(text) | Token::Text(text) | Token::Name(text) => {
                return Ok(Process::Other(text));
            }
        };
        match number {
            Some(number) => Ok(Process::Client(number)),
            None => {
                self.scan.back_to(before);
                self.scan.fail("a process: an integer of 64 bits")
            }
        }
    }

    /// The name of the function, without the colon; none for `nil` and for anything that is no word.
    fn function(&mut self) -> Result<Option<&'a str>, ReadError> {
        if self.scan.at_sequence() || self.scan.at_map_or_set() {
            self.scan.skip()?;
            return Ok(Some("a collection"));
        }
        Ok(match self.scan.token("a name")? {
            Token::Nil | Token::Number(_) => None,
            Token::Keyword(word) => word.get(1..),
            Token::Name(word) => Some(word),
            Token::Text(text) => text.get(1..text.len() - 1),
        })
    }

    /// A name of a node; anything that is no word is none.
    fn node(&mut self) -> Result<Option<&'a str>, ReadError> {
        if self.scan.at_sequence() || self.scan.at_map_or_set() {
            self.scan.skip()?;
            return Ok(None);
        }
        self.function()
    }

    /// A time as a 64-bit integer; anything else is no time.
    fn time(&mut self) -> Result<Option<i64>, ReadError> {
        if self.scan.at_sequence() || self.scan.at_map_or_set() {
            self.scan.skip()?;
            return Ok(None);
        }
        Ok(match self.scan.token("a time")? {
            Token::Number(number) => i64::try_from(number).ok(),
            Token::Name(text) => text.parse().ok(),
            _ => None,
        })
    }

    /// The value of an operation. Its micro-operations go to the log.
    fn value(&mut self) -> Result<Shape, ReadError> {
        if self.scan.at_map_or_set() {
            self.scan.skip()?;
            return Ok(Shape::Other);
        }
        let Some(close) = self.scan.open() else {
            return Ok(match self.scan.token("a value")? {
                Token::Nil => Shape::Nothing,
                _ => Shape::Other,
            });
        };
        let (mut first, mut shape) = (true, Shape::Micro);
        while self.scan.more(close, &mut first)? {
            if !self.scan.at_sequence() {
                self.scan.skip()?;
                shape = Shape::Other;
            } else if !self.element()? {
                shape = Shape::Other;
            }
        }
        Ok(shape)
    }

    /// A collection within a value: whether it is a micro-operation.
    fn element(&mut self) -> Result<bool, ReadError> {
        let line = self.scan.line();
        if !JSON && self.plain_element()? {
            return Ok(true);
        }
        let Some(close) = self.scan.open() else {
            return Ok(false);
        };
        let mut first = true;
        if !self.scan.more(close, &mut first)? {
            return Ok(false);
        }
        if self.scan.at_sequence() || self.scan.at_map_or_set() {
            self.rest(close)?;
            return Ok(false);
        }
        let token = self.scan.token("a value")?;
        let verb = match self.scan.word(token) {
            Some("r" | "read") => Verb::Read,
            Some("w" | "write") => Verb::Write,
            Some("append") => Verb::Append,
            _ => {
                self.rest_after_first(close)?;
                return Ok(false);
            }
        };
        let key = self.key(close, &mut first)?;
        let payload = match verb {
            Verb::Read => self.result(key, close, &mut first)?,
            _ => {
                if !self.scan.more(close, &mut first)? {
                    return self.scan.fail("a value in front of the end");
                }
                let payload = self.written()?;
                self.scan.close(close)?;
                payload
            }
        };
        self.log.operations.push(MicroOperation {
            verb,
            key,
            payload,
            line,
        });
        Ok(true)
    }

    /// Takes a micro-operation of EDN in the form that most have. Any other is left to be taken part by part.
    #[inline]
    fn plain_element(&mut self) -> Result<bool, ReadError> {
        let (rest, line) = (self.scan.rest(), self.scan.line());
        let Some(element) = Plain::of(rest) else {
            return Ok(false);
        };
        let key = self.log.key_place(element.key);
        self.scan.pass(rest.len() - element.left.len());
        let payload = match element.payload {
            Some(payload) => payload,
            None => {
                let list = self.list(key, b']')?;
                self.scan.close(b']')?;
                Payload::List(list)
            }
        };
        self.log.operations.push(MicroOperation {
            verb: element.verb,
            key,
            payload,
            line,
        });
        Ok(true)
    }

    /// Skips the rest of a collection whose first element was not taken.
    fn rest(&mut self, close: u8) -> Result<(), ReadError> {
        self.scan.skip()?;
        self.rest_after_first(close)
    }

    fn rest_after_first(&mut self, close: u8) -> Result<(), ReadError> {
        let mut first = false;
        while self.scan.more(close, &mut first)? {
            self.scan.skip()?;
        }
        Ok(())
    }

    fn key(&mut self, close: u8, first: &mut bool) -> Result<u32, ReadError> {
        if !self.scan.more(close, first)? {
            return self.scan.fail("a key in front of the end");
        }
        let key = self.one(Self::A_KEY)?;
        Ok(self.log.key_place(key))
    }

    /// What a read returned, and the end of the micro-operation.
    fn result(&mut self, key: u32, close: u8, first: &mut bool) -> Result<Payload, ReadError> {
        if !self.scan.more(close, first)? {
            return Ok(Payload::Nothing);
        }
        let expected = "nil, a value or a list of values";
        if self.scan.at_map_or_set() {
            self.log.reads_sets |= self.scan.peek() == Some(b'#');
            let Some(collection) = self.collection()? else {
                return self.scan.fail(expected);
            };
            self.scan.close(close)?;
            return Ok(Payload::One(collection));
        }
        let payload = match self.scan.open() {
            Some(end) => Payload::List(self.list(key, end)?),
            None => match self.scan.token(expected)? {
                Token::Nil => Payload::Nothing,
                token => Payload::One(self.log.atoms.atom::<JSON>(token)),
            },
        };
        self.scan.close(close)?;
        Ok(payload)
    }

    /// A list that was read from a key, up to its end.
    fn list(&mut self, key: u32, close: u8) -> Result<Prefix, ReadError> {
        let (rest, line, begin) = (self.scan.rest(), self.scan.line(), self.scan.at());
        let begun = self.log.lists.begun(key, rest, close);
        let mut first = begun.is_none();
        self.scan.pass(begun.map_or(0, |begun| begun.n_bytes));
        self.elements.clear();
        self.ends.clear();
        while self.scan.more(close, &mut first)? {
            let element = self.one("an element of a list")?;
            self.elements.push(element);
            self.ends.push((self.scan.at() - begin) as u32);
        }
        // Where a known text is passed, its lines are not counted.
        let last = self.ends.last().copied().unwrap_or(0);
        let text = (self.scan.line() == line).then(|| &rest[..last as usize]);
        Ok(match begun {
            Some(begun) => self
                .log
                .lists
                .go_on(key, begun, &self.elements, text, &self.ends),
            None => self.log.lists.keep(key, &self.elements, text, &self.ends),
        })
    }

    fn written(&mut self) -> Result<Payload, ReadError> {
        Ok(Payload::One(self.one("a value to write")?))
    }

    /// An EDN collection that is itself a key or value, if one is next. JSON has none as keys or values.
    #[inline]
    fn collection(&mut self) -> Result<Option<Atom>, ReadError> {
        if JSON || !(self.scan.at_sequence() || self.scan.at_map_or_set()) {
            return Ok(None);
        }
        let tree = self.scan.tree()?;
        Ok(Some(self.log.atoms.of_tree(&tree)))
    }

    /// Something other than `nil`.
    #[inline]
    fn one(&mut self, expected: &'static str) -> Result<Atom, ReadError> {
        if let Some(collection) = self.collection()? {
            return Ok(collection);
        }
        let before = self.scan.mark();
        match self.scan.token(expected)? {
            Token::Nil => {
                self.scan.back_to(before);
                self.scan.fail(expected)
            }
            token => Ok(self.log.atoms.atom::<JSON>(token)),
        }
    }
}

impl<'a, const JSON: bool> Taker<'a, JSON> for Reader<'a, JSON> {
    type Error = Stop;

    fn scan(&mut self) -> &mut Scanner<'a, JSON> {
        &mut self.scan
    }

    fn take(&mut self) -> Result<(), Stop> {
        self.operation()
    }

    fn remark(&mut self, remark: String) {
        self.log.around.remarks.push(remark);
    }
}

/// A micro-operation of EDN in the form that most have: `[:append 7 8]`, `[:r 7 nil]`, or `[:r 7 [` with the list to come.
struct Plain<'a> {
    verb: Verb,
    key: Atom,
    /// None if a list is to come.
    payload: Option<Payload>,
    left: &'a [u8],
}

impl Plain<'_> {
    #[inline]
    fn of(bytes: &[u8]) -> Option<Plain<'_>> {
        const VERBS: [(&[u8], Verb); 3] = [
            (b"[:r ", Verb::Read),
            (b"[:append ", Verb::Append),
            (b"[:w ", Verb::Write),
        ];
        let (begin, verb) = VERBS
            .into_iter()
            .find(|(begin, _)| bytes.starts_with(begin))?;
        let (key, after) = plain_number(&bytes[begin.len()..])?;
        let (payload, left) = match (verb, after) {
            (Verb::Read, [b' ', b'[', left @ ..]) => (None, left),
            (Verb::Read, [b' ', b'n', b'i', b'l', b']', left @ ..]) => {
                (Some(Payload::Nothing), left)
            }
            (_, [b' ', value @ ..]) => match plain_number(value)? {
                (value, [b']', left @ ..]) => (Some(Payload::One(value)), left),
                _ => return None,
            },
            _ => return None,
        };
        Some(Plain {
            verb,
            key,
            payload,
            left,
        })
    }
}

/// A number that fits in any case, without a sign or leading zeros, and what follows it.
#[inline]
fn plain_number(bytes: &[u8]) -> Option<(Atom, &[u8])> {
    const MOST_DIGITS: usize = 18;
    let digit = |byte: &&u8| byte.is_ascii_digit();
    let n = bytes.iter().take(MOST_DIGITS + 1).take_while(digit).count();
    if n == 0 || n > MOST_DIGITS || bytes[0] == b'0' {
        return None;
    }
    let add = |number, digit: &u8| number * 10 + u64::from(digit - b'0');
    let number = bytes[..n].iter().fold(0, add);
    Some((Atom::of_number(number), &bytes[n..]))
}
