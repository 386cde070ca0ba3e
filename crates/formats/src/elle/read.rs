//! Operations of the file → [`Log`].

use super::atom::Atom;
use super::calls::{Event, Stage};
use super::log::{Access, Content, Incident, Log, MicroOperation, Operand, Payload, Verb};
use super::scan::{Mark, Scanner, Token};
use crate::error::{ReadError, escape};
use crate::watch::Watch;
use isoscope_model::control::Control;
use isoscope_model::history::{Prefix, cut};
use rustc_hash::FxHashMap;

/// Longest name from the file that a message shows, in characters.
const SHOWN: usize = 40;

/// The client of an operation.
#[derive(Clone, Copy)]
enum Process<'a> {
    Missing,
    Client(i64),
    /// `:nemesis` and the like.
    Other(&'a str),
}

/// The shape of the value of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `nil` or left out.
    Nothing,
    One(Atom),
    Pair(Atom, Atom),
    /// A vector of micro-operations, which are in the log; perhaps an empty one.
    Micro,
    /// Something else, in words.
    Other(String),
}

/// Reads operations one after the other.
pub(crate) struct Reader<'a, const JSON: bool> {
    pub(crate) scan: Scanner<'a, JSON>,
    pub(crate) log: Log<'a>,
    /// The line of the first operation that says whether this is about transactions, and whether it is.
    kind: Option<(u32, bool)>,
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
            kind: None,
            elements: Vec::new(),
            ends: Vec::new(),
            waiting: FxHashMap::default(),
            unanswered: Vec::new(),
        }
    }

    /// All operations of the file: one after the other, or within vectors or lists. Only the first array of JSON
    /// counts.
    pub(super) fn file(mut self, control: &Control) -> Result<Log<'a>, ReadError> {
        let watch = Watch::new(self.scan.format(), control, 0);
        loop {
            self.scan.blanks()?;
            match self.scan.peek() {
                None => {
                    self.take_unanswered()?;
                    return Ok(self.log);
                }
                Some(b'{') => self.checked_operation(&watch)?,
                _ => {
                    let Some(close) = self.scan.at_sequence().then(|| self.scan.open()).flatten()
                    else {
                        return self.scan.fail(Self::AN_OPERATION);
                    };
                    let mut first = true;
                    while self.scan.more(close, &mut first)? {
                        self.checked_operation(&watch)?;
                    }
                    if JSON {
                        return self.after_array();
                    }
                }
            }
        }
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

    fn after_array(mut self) -> Result<Log<'a>, ReadError> {
        self.scan.blanks()?;
        if self.scan.peek().is_some() {
            let line = self.scan.line();
            self.log.remarks.push(format!(
                "Only the first JSON array is read; what follows from line {line} on is not."
            ));
        }
        Ok(self.log)
    }

    fn checked_operation(&mut self, watch: &Watch<'_>) -> Result<(), ReadError> {
        watch.at(self.scan.at())?;
        self.operation()
    }

    fn operation(&mut self) -> Result<(), ReadError> {
        if self.scan.peek() != Some(b'{') {
            return self.scan.fail(Self::AN_OPERATION);
        }
        let mut line = self.scan.line();
        let begin = self.log.operations.len();
        let (mut stage, mut process, mut function) = (None, Process::Missing, None);
        let (mut shape, mut time, mut error) = (Shape::Nothing, None, false);
        let (mut node, mut part, mut detail) = (None, None, (0, 0));
        let (mut key, mut client) = (None, Process::Missing);
        let mut put_off = None;
        let n_unread = self.log.unread_fields.len();
        let Some(close) = self.scan.open() else {
            return self.scan.fail(Self::AN_OPERATION);
        };
        let mut first = true;
        while self.scan.more(close, &mut first)? {
            match self.scan.field()? {
                Some("type") => stage = Some(self.stage()?),
                Some("process") => process = self.process()?,
                Some("client") => client = self.process()?,
                Some("key") => {
                    key = Some(self.scan.mark());
                    self.scan.skip()?;
                }
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
                Some("error") => {
                    error = true;
                    self.scan.skip()?;
                }
                Some(name) => {
                    self.log.unread_field(name);
                    self.scan.skip()?;
                }
                None => self.scan.skip()?,
            }
        }
        let process = match (process, client) {
            (Process::Missing, client) => client,
            (process, Process::Missing) => process,
            (process, _) => {
                self.log.unread_field("client");
                process
            }
        };
        let process = match process {
            Process::Missing => None,
            Process::Client(number) => Some(number),
            Process::Other(name) => {
                self.log.operations.truncate(begin);
                self.log.unread_fields.truncate(n_unread);
                let place = self.log.n_operations();
                if !is_nemesis(name) {
                    self.pass_over(name);
                } else {
                    let detail = self.scan.between(detail.0, detail.1);
                    self.log.incidents.push(Incident {
                        time,
                        place,
                        what: function,
                        part,
                        detail,
                    });
                }
                return Ok(());
            }
        };
        if node.is_some() {
            self.log.on_node(process, node);
        }
        let Some(stage) = stage else {
            let field = if JSON { "\"type\"" } else { ":type" };
            return self.scan.fail_line(
                line,
                format!("expected an operation with {field}, found none in this one"),
            );
        };
        let place = self.log.n_operations();
        // Micro-operations are a transaction, whatever its function is called.
        let function = function.filter(|_| put_off.is_none());
        let mut content = self.content(function, shape, line, begin, error)?;
        self.pair(process, stage, content, put_off);
        match (&mut content, key) {
            (Content::Register { key, .. }, Some(mark)) => *key = self.key_field(mark)?,
            (_, Some(_)) => self.log.unread_field("key"),
            (_, None) => {}
        }
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

    /// The key of an operation on a register, from a field that was skipped; none for `nil`.
    fn key_field(&mut self, field: Mark) -> Result<Option<u32>, ReadError> {
        let end = self.scan.mark();
        self.scan.back_to(field);
        let is_nil = !self.scan.at_sequence()
            && !self.scan.at_map_or_set()
            && self.scan.token("a key")? == Token::Nil;
        self.scan.back_to(field);
        let key = if is_nil {
            None
        } else {
            Some(self.one(Self::A_KEY)?)
        };
        self.scan.back_to(end);
        Ok(key.map(|key| self.log.key_place(key)))
    }

    /// Counts an operation of a process that is no client.
    pub(crate) fn pass_over(&mut self, process: &str) {
        if self.log.others.0 == 0 {
            self.log.others.1 = shown(process);
        }
        self.log.others.0 = self.log.others.0.saturating_add(1);
        self.log.has_strangers |= !is_nemesis(process);
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
    pub(crate) fn value(&mut self) -> Result<Shape, ReadError> {
        if self.scan.at_map_or_set() {
            let map = self.scan.peek() == Some(b'{');
            self.scan.skip()?;
            return Ok(Shape::Other(if map { "a map" } else { "a set" }.to_owned()));
        }
        let Some(close) = self.scan.open() else {
            return Ok(match self.scan.token("a value")? {
                Token::Nil => Shape::Nothing,
                token => Shape::One(self.log.atoms.atom::<JSON>(token)),
            });
        };
        let mut first = true;
        let mut atoms = [Atom::NIL; 2];
        let (mut n_atoms, mut n_micro, mut other) = (0, 0, None);
        while self.scan.more(close, &mut first)? {
            if self.scan.at_sequence() {
                n_micro += 1;
                other = self.element()?.or(other);
            } else if self.scan.at_map_or_set() {
                self.scan.skip()?;
                other = Some("a collection of maps or sets".to_owned());
            } else {
                let token = self.scan.token("a value")?;
                if let Some(place) = atoms.get_mut(n_atoms) {
                    *place = self.log.atoms.atom::<JSON>(token);
                }
                n_atoms += 1;
            }
        }
        Ok(match (other, n_atoms, n_micro) {
            (Some(other), _, 0) | (Some(other), 0, _) => Shape::Other(other),
            (None, 0, _) => Shape::Micro,
            (None, 2, 0) => Shape::Pair(atoms[0], atoms[1]),
            (None, _, 0) => Shape::Other("a collection of values".to_owned()),
            _ => Shape::Other("a collection of values and collections".to_owned()),
        })
    }

    /// A collection within a value: a micro-operation, or else what it is in words.
    fn element(&mut self) -> Result<Option<String>, ReadError> {
        let other = || Ok(Some("a collection of collections".to_owned()));
        let line = self.scan.line();
        if !JSON && self.plain_element()? {
            return Ok(None);
        }
        let Some(close) = self.scan.open() else {
            return other();
        };
        let mut first = true;
        if !self.scan.more(close, &mut first)? {
            return other();
        }
        if self.scan.at_sequence() || self.scan.at_map_or_set() {
            self.rest(close)?;
            return other();
        }
        let token = self.scan.token("a value")?;
        let verb = match self.scan.word(token) {
            Some("r") => Verb::Read,
            Some("w") => Verb::Write,
            Some("append") => Verb::Append,
            Some(name) => {
                let name = shown(name);
                self.rest_after_first(close)?;
                return Ok(Some(format!(
                    "a vector of micro-operations with `{name}`, which is none of r, w, append"
                )));
            }
            None => {
                self.rest_after_first(close)?;
                return other();
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
        Ok(None)
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
        let mut text = String::new();
        self.scan.canonical(&mut text)?;
        Ok(Some(self.log.atoms.collection(text)))
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

    /// What an operation of a client is about, or an error if that is no transaction.
    pub(crate) fn content(
        &mut self,
        function: Option<&str>,
        shape: Shape,
        line: u32,
        begin: usize,
        error: bool,
    ) -> Result<Content, ReadError> {
        let end = self.log.operations.len();
        let access = match function {
            Some("read") => Some(Access::Read),
            Some("write") => Some(Access::Write),
            Some("cas") => Some(Access::CompareAndSet),
            _ => None,
        };
        let transaction = matches!(function, None | Some("txn"));
        let register = |access, operand| Content::Register {
            access,
            operand,
            key: None,
            error,
        };
        let content = match (access, shape) {
            (_, Shape::Micro) if transaction || begin < end => Content::Transaction { begin, end },
            (None, Shape::Nothing) if transaction => return Ok(Content::Nothing),
            (Some(access), Shape::Nothing) => register(access, Operand::Nothing),
            (Some(access), Shape::One(atom)) => register(access, Operand::One(atom)),
            (Some(access @ Access::CompareAndSet), Shape::Pair(old, new)) if new != Atom::NIL => {
                register(access, Operand::Pair(old, new))
            }
            (_, shape) => return self.no_transaction(function, &shape, line),
        };
        let is_transaction = matches!(content, Content::Transaction { .. });
        match self.kind {
            None => self.kind = Some((line, is_transaction)),
            Some((before, other)) if other != is_transaction => {
                let (here, there) = if is_transaction {
                    ("a transaction", "an operation on a single register")
                } else {
                    ("an operation on a single register", "a transaction")
                };
                let message = format!(
                    "not a transactional workload: this is {here}, but line {before} has {there}"
                );
                return self.scan.fail_line(line, message);
            }
            Some(_) => {}
        }
        Ok(content)
    }

    #[cold]
    fn no_transaction<T>(
        &self,
        function: Option<&str>,
        shape: &Shape,
        line: u32,
    ) -> Result<T, ReadError> {
        let value = match shape {
            Shape::Nothing => "nothing",
            Shape::One(_) => "a single value",
            Shape::Pair(..) => "a pair of values",
            Shape::Micro => "an empty vector",
            Shape::Other(words) => words.as_str(),
        };
        let what = match function {
            None | Some("txn") => format!("the value of this operation is {value}"),
            Some(name @ ("read" | "write" | "cas")) => {
                format!("the value of this `{name}` is {value}")
            }
            Some(name) => format!("`{}` is no transaction", shown(name)),
        };
        let example = if JSON {
            "[[\"r\", \"x\", 1]]"
        } else {
            "[[:r x 1]]"
        };
        let message = format!(
            "not a transactional workload: {what}; expected micro-operations like {example}"
        );
        self.scan.fail_line(line, message)
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

/// Whether this process breaks things.
fn is_nemesis(process: &str) -> bool {
    process.trim_matches([':', '"']) == "nemesis"
}

/// A name from the file for messages: short and on one line.
fn shown(name: &str) -> String {
    escape(&cut(name, SHOWN))
}
