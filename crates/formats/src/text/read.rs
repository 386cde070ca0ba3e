//! Text → history.

use super::{FORMAT, is_bare};
use crate::error::{ReadError, excerpt};
use crate::{Input, Place, Problem, name};
use isoscope_model::control::Control;
use isoscope_model::history::{
    BuildError, Builder, Draft, History, Incident, Interval, NamedRows, OperationKind, Outcome,
    Value,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Numbers of so many digits fit; longer ones are read as names.
const MOST_DIGITS: usize = 19;

/// A name, verbatim.
pub(super) struct Token<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) quoted: bool,
}

impl<'a> Token<'a> {
    /// The name of a key or a value: a number in quotes is no number.
    pub(super) fn name(self) -> Cow<'a, str> {
        if self.quoted {
            Cow::Owned(name::of_string(&self.text).into_owned())
        } else {
            self.text
        }
    }

    /// Whether this is a word of the notation and not a name.
    pub(super) fn is_word(&self, word: &str) -> bool {
        !self.quoted && self.text == word
    }
}

/// Parses a text from beginning to end, one token after the other.
pub(super) struct Parser<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    line: u64,
    line_start: usize,
    control: &'a Control,
    pub(super) builder: Builder,
    /// By name.
    pub(super) predicates: BTreeMap<String, Arc<NamedRows>>,
    /// How many parts the predicate of the current scan has so far.
    pub(super) parts: usize,
    /// `None` for "none".
    initial: Option<String>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(input: &Input<'a>, control: &'a Control) -> Parser<'a> {
        let builder = Builder::new(input.origin(FORMAT.name));
        let bytes = crate::without_mark(input.bytes());
        Parser {
            bytes,
            at: 0,
            line: 1,
            line_start: 0,
            control,
            builder,
            predicates: BTreeMap::new(),
            parts: 0,
            initial: Some("0".to_owned()),
        }
    }

    pub(super) fn history(mut self) -> Result<History, ReadError> {
        while self.at < self.bytes.len() {
            self.line()?;
            self.control
                .check()
                .map_err(|interrupt| ReadError::whole(FORMAT.name, interrupt))?;
            self.control.advance((self.at - self.line_start) as u64);
            self.line += 1;
            self.line_start = self.at;
        }
        if let Some(initial) = self.initial.take() {
            let initial = name::value(&mut self.builder, &initial);
            self.builder.initial_value(initial);
        }
        let needed = self.builder.finish_needs();
        self.control
            .needs(needed)
            .map_err(|interrupt| ReadError::whole(FORMAT.name, interrupt))?;
        self.builder
            .finish()
            .map_err(|error: BuildError| ReadError::whole(FORMAT.name, error))
    }

    /// Reads one line, its end included.
    fn line(&mut self) -> Result<(), ReadError> {
        self.blanks();
        if self.symbol_if(b'!') {
            self.incident()?;
        } else if !self.at_end_of_statement() {
            let name = self.name("the name of a session")?;
            if name.is_word("predicate") && !matches!(self.peek(), Some(b':' | b'@')) {
                return self.predicate_line().and_then(|()| self.end_of_line());
            }
            let node = if self.symbol_if(b'@') {
                Some(self.name("the name of a node")?)
            } else {
                None
            };
            self.symbol(b':', "`:` after the name of the session")?;
            if name.is_word("initial") && node.is_none() {
                let value = self.name("`none` or the value that reads as initial")?;
                self.initial = (!value.is_word("none")).then(|| value.name().into_owned());
            } else {
                let session = name::session(&mut self.builder, &name.text);
                let known = node.is_none_or(|node| self.builder.session_node(session, &node.text));
                if !known {
                    return self.fail_line("the same node on all lines of this session");
                }
                while !self.at_end_of_statement() {
                    let draft = self.builder.transaction(session, Outcome::Committed);
                    self.transaction(draft)?;
                }
            }
        }
        self.end_of_line()
    }

    /// Passes over the end of a line.
    fn end_of_line(&mut self) -> Result<(), ReadError> {
        if !self.at_end_of_statement() {
            return self.fail("the end of the line");
        }
        // What is left is a comment.
        let rest = &self.bytes[self.at..];
        self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        Ok(())
    }

    /// What happened to the system; the mark has been taken.
    fn incident(&mut self) -> Result<(), ReadError> {
        let what = self.name("what happened")?.text.into_owned();
        let mut incident = Incident {
            time: None,
            what,
            detail: String::new(),
        };
        if !self.at_end_of_statement() && self.peek() != Some(b'@') {
            incident.detail = self
                .name("more about it, `@` or the end of the line")?
                .text
                .into_owned();
        }
        if self.symbol_if(b'@') {
            let begin = self.at;
            incident.time = self.name("a time")?.text.parse().ok();
            if incident.time.is_none() {
                self.at = begin;
                return self.fail("a time, an integer");
            }
        }
        self.builder.incident(incident);
        Ok(())
    }

    fn transaction(&mut self, draft: Draft) -> Result<(), ReadError> {
        if self.peek() != Some(b'[') {
            let label = self.name("`[` or the label of a transaction")?;
            match label
                .text
                .strip_prefix('T')
                .and_then(|digits| name::number(digits, u64::MAX - 1))
            {
                Some(number) => self.builder.number_transaction(draft, number),
                None => self.builder.name_transaction(draft, &label.text),
            }
        }
        self.symbol(b'[', "`[`")?;
        if !self.symbol_if(b']') {
            loop {
                self.operation(draft)?;
                if self.symbol_if(b']') {
                    break;
                }
                self.symbol(b',', "`,` or `]`")?;
            }
        }
        if self.symbol_if(b'*') {
            self.builder.set_up(draft);
        }
        if self.symbol_if(b'!') {
            self.builder.set_outcome(draft, Outcome::Aborted);
        } else if self.symbol_if(b'?') {
            self.builder.set_outcome(draft, Outcome::Unknown);
        }
        if self.symbol_if(b'@') {
            let begin = self.at;
            let times = self.name("two times like `10..20`")?;
            let interval = times.text.split_once("..").and_then(|(start, end)| {
                Some(Interval {
                    start: start.parse().ok()?,
                    end: end.parse().ok()?,
                })
            });
            let Some(interval) = interval else {
                self.at = begin;
                return self.fail("two times like `10..20`");
            };
            if interval.end < interval.start {
                self.at = begin;
                return self.fail("two times of which the second is not before the first");
            }
            self.builder.set_interval(draft, interval);
        }
        Ok(())
    }

    fn operation(&mut self, draft: Draft) -> Result<(), ReadError> {
        let letter = self.letter()?;
        let line = u32::try_from(self.line).unwrap_or(u32::MAX);
        if letter == b's' {
            return self.scan(draft, line);
        }
        let key = match self.number_if(u64::MAX) {
            Some(number) => self.builder.key_number(number),
            None => {
                let name = self.name("a key")?.name();
                name::key(&mut self.builder, &name)
            }
        };
        if matches!(letter, b'i' | b'd') {
            self.builder.rows();
        }
        if letter == b'd' {
            let write = OperationKind::Write;
            self.builder
                .operation(draft, write, key, Value::ABSENT, line);
            return Ok(());
        }
        if letter == b'r' && self.symbol_if(b'[') {
            let elements = self.elements()?;
            self.builder.list_read(draft, key, &elements, line);
            return Ok(());
        }
        let value = match self.number_if(Value::MAX_NUMBER) {
            Some(number) => self.builder.value_number(number),
            None if letter == b'r' && self.symbol_if(b'?') => Value::UNRECORDED,
            None => {
                let value = self.name("a value")?;
                if matches!(letter, b'r' | b'n') && value.is_word("init") {
                    Value::INITIAL
                } else if letter == b'r' && value.is_word("absent") {
                    self.builder.rows();
                    Value::ABSENT
                } else {
                    name::value(&mut self.builder, &value.name())
                }
            }
        };
        match letter {
            b'n' => self.builder.read_of_other(draft, key, value, line),
            b'r' => self
                .builder
                .operation(draft, OperationKind::Read, key, value, line),
            _ => {
                if letter == b'a' {
                    self.builder.list_key(key);
                }
                self.builder
                    .operation(draft, OperationKind::Write, key, value, line);
            }
        }
        Ok(())
    }

    /// Takes the letter of an operation and the blanks after it.
    fn letter(&mut self) -> Result<u8, ReadError> {
        let is_alone = !self
            .bytes
            .get(self.at + 1)
            .is_some_and(|&next| is_bare(next));
        match self.peek() {
            Some(letter @ (b'r' | b'w' | b'i' | b'd' | b's' | b'a' | b'n')) if is_alone => {
                self.at += 1;
                self.blanks();
                Ok(letter)
            }
            _ => self.fail("`r`, `w`, `i`, `d`, `s`, `a` or `n`"),
        }
    }

    /// Takes a name and the blanks after it, if it is a number in its usual form, up to a limit.
    fn number_if(&mut self, limit: u64) -> Option<u64> {
        let rest = &self.bytes[self.at..];
        let (mut number, mut len) = (0, 0);
        for digit in rest
            .iter()
            .take(MOST_DIGITS)
            .map(|byte| byte.wrapping_sub(b'0'))
            .take_while(|digit| *digit < 10)
        {
            number = 10 * number + u64::from(digit);
            len += 1;
        }
        let is_usual = len == 1 || (len > 1 && rest[0] != b'0');
        if !is_usual || rest.get(len).is_some_and(|&next| is_bare(next)) {
            return None;
        }
        if number > limit {
            return None;
        }
        self.at += len;
        self.blanks();
        Some(number)
    }

    /// The elements of a list, whose opening bracket has been taken, and the closing bracket.
    fn elements(&mut self) -> Result<Vec<Value>, ReadError> {
        let mut texts = Vec::new();
        while !self.symbol_if(b']') {
            texts.push(self.name("a value or `]`")?.name());
        }
        Ok(name::values(&mut self.builder, &texts))
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    pub(super) fn at_end_of_statement(&self) -> bool {
        match self.peek() {
            None | Some(b'\n' | b'#') => true,
            Some(b'\r') => matches!(self.bytes.get(self.at + 1), None | Some(b'\n')),
            _ => false,
        }
    }

    /// Takes `symbol` and the blanks after it, if it is next.
    pub(super) fn symbol_if(&mut self, symbol: u8) -> bool {
        let next = self.peek() == Some(symbol);
        if next {
            self.at += 1;
            self.blanks();
        }
        next
    }

    pub(super) fn symbol(&mut self, symbol: u8, expected: &'static str) -> Result<(), ReadError> {
        if self.symbol_if(symbol) {
            Ok(())
        } else {
            self.fail(expected)
        }
    }

    /// Takes a name and the blanks after it.
    pub(super) fn name(&mut self, expected: &'static str) -> Result<Token<'a>, ReadError> {
        let rest = &self.bytes[self.at..];
        let quoted = rest.first() == Some(&b'"');
        let len = if quoted {
            quoted_len(rest)
        } else {
            rest.iter().take_while(|&&b| is_bare(b)).count()
        };
        if len == 0 {
            return self.fail(expected);
        }
        let Ok(text) = std::str::from_utf8(&rest[..len]) else {
            return self.fail("UTF-8 text");
        };
        let text = if quoted {
            match serde_json::from_str::<String>(text) {
                Ok(text) => Cow::Owned(text),
                Err(_) => return self.fail("a quoted name as in JSON"),
            }
        } else {
            Cow::Borrowed(text)
        };
        self.at += len;
        self.blanks();
        Ok(Token { text, quoted })
    }

    /// Fails at the beginning of the line.
    fn fail_line<T>(&mut self, expected: &'static str) -> Result<T, ReadError> {
        self.at = self.line_start;
        self.fail(expected)
    }

    pub(super) fn fail<T>(&self, expected: &'static str) -> Result<T, ReadError> {
        let place = Place::Line {
            line: self.line,
            column: (self.at - self.line_start + 1) as u64,
        };
        let problem = Problem::Expected {
            expected,
            found: excerpt(&self.bytes[self.at..]),
        };
        Err(ReadError::new(FORMAT.name, place, problem))
    }
}

/// Length of the quoted name at the beginning of `rest`, both quotes included; 0 when it does not end on its line.
fn quoted_len(rest: &[u8]) -> usize {
    let mut at = 1;
    loop {
        match rest.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            None | Some(b'\n') => return 0,
            _ => at += 1,
        }
    }
}
