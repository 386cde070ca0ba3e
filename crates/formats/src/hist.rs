//! The `.hist` notation of dbcop (rnbguy/dbcop: docs/history-format.md, crates/parser).
//!
//! ```text
//! history   = session { separator session }
//! separator = a line of one or more "-"
//! session   = { line of transactions | "//" comment | blank line }
//! line      = transaction { transaction }
//! transaction = "[" event { blank event } "]" [ "!" ]        "!": aborted
//! event     = variable ":=" number | variable "==" number | variable "==?"
//! variable  = letters, digits (of any script) and "_"
//!
//! // two sessions
//! [x:=1 y:=2] [y==2 x:=3]
//! ---
//! [x==1 y:=4]!
//! ```
//!
//! `x==?` reads the initial version; so does `x==0` where no transaction writes 0. Sessions are called 1, 2, … as in
//! dbcop; a separator at the beginning or end, or two in a row, make an empty session. This reader is lenient where
//! dbcop's parser is needlessly strict: lines may end with CR LF, the last one may lack a line end, comments may be
//! indented or follow transactions, and blanks may appear inside the brackets.
//!
//! Writing loses the names of sessions and transactions.

use super::error::{ReadError, WriteError, escape, excerpt};
use super::limits::{self, Limits};
use super::watch::Watch;
use super::{Format, Input, Likelihood, Place, Problem, name};
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, Draft, History, OperationKind, Outcome, SessionId, Value};
use std::io::Write;

/// The row of the table.
pub const FORMAT: Format = Format::file(
    "hist",
    &["dbcop-hist"],
    &["hist", "txt"],
    sniff,
    read,
    write,
);

fn is_separator(line: &[u8]) -> bool {
    !line.is_empty() && line.iter().all(|&b| b == b'-')
}

fn sniff(input: &Input<'_>) -> Likelihood {
    let mut lines = input.head_lines().peekable();
    if lines.peek().is_none_or(|line| {
        !(line.starts_with(b"//") || line.starts_with(b"[") || is_separator(line))
    }) {
        return Likelihood::No;
    }
    match lines.find(|line| !line.starts_with(b"//") && !is_separator(line)) {
        Some(line) if line.starts_with(b"[") => {
            let event = memchr::memmem::find(line, b":=").or(memchr::memmem::find(line, b"=="));
            // Without an event this is more likely JSON than a transaction that was cut off.
            if event.is_some() {
                Likelihood::Likely
            } else {
                Likelihood::No
            }
        }
        Some(_) => Likelihood::No,
        None => Likelihood::Perhaps,
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = super::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let mut builder = Builder::new(input.origin(FORMAT.name));
    builder.initial_value(Value(0));
    let mut sessions = 1;
    let mut session = builder.session_number(sessions);
    let mut line = Line {
        bytes,
        start: 0,
        at: 0,
        number: 0,
    };
    let watch = Watch::new(FORMAT.name, control, 0);
    while line.at < bytes.len() {
        watch.at(line.at)?;
        line.number += 1;
        line.start = line.at;
        let end = memchr::memchr(b'\n', &bytes[line.at..]).map_or(bytes.len(), |end| line.at + end);
        if is_separator(bytes[line.at..end].trim_ascii()) {
            sessions += 1;
            session = builder.session_number(sessions);
        } else {
            line.transactions(&mut builder, session)?
        }
        line.at = (end + 1).min(bytes.len());
    }
    if sessions == 1 && builder.n_transactions() == 0 {
        return Err(ReadError::whole(FORMAT.name, Problem::Empty));
    }
    builder
        .finish()
        .map_err(|error| ReadError::whole(FORMAT.name, error))
}

/// A place in a line.
struct Line<'a> {
    bytes: &'a [u8],
    start: usize,
    at: usize,
    /// From 1.
    number: u64,
}

impl<'a> Line<'a> {
    fn transactions(&mut self, builder: &mut Builder, session: SessionId) -> Result<(), ReadError> {
        loop {
            self.blanks();
            match self.bytes[self.at..] {
                [] | [b'\n', ..] | [b'/', b'/', ..] => return Ok(()),
                [b'[', ..] => self.at += 1,
                _ => return self.fail("`[`, `---` or `//`"),
            }
            let draft = builder.transaction(session, Outcome::Committed);
            loop {
                self.blanks();
                if self.take(b"]") {
                    break;
                }
                self.event(builder, draft)?;
            }
            if self.take(b"!") {
                builder.set_outcome(draft, Outcome::Aborted);
            }
        }
    }

    fn event(&mut self, builder: &mut Builder, draft: Draft) -> Result<(), ReadError> {
        let rest = &self.bytes[self.at..];
        let end = rest
            .iter()
            .position(|b| b.is_ascii() && !b.is_ascii_alphanumeric() && *b != b'_');
        let variable = match std::str::from_utf8(&rest[..end.unwrap_or(rest.len())]) {
            Ok(variable) if is_variable(variable) => variable,
            _ => return self.fail("a variable or `]`"),
        };
        self.at += variable.len();
        let key = name::key(builder, variable);
        let line = u32::try_from(self.number).unwrap_or(u32::MAX);
        if self.take(b":=") {
            let value = self.number()?;
            builder.operation(draft, OperationKind::Write, key, value, line);
        } else if self.take(b"==") {
            let value = if self.take(b"?") {
                Value::INITIAL
            } else {
                self.number()?
            };
            builder.operation(draft, OperationKind::Read, key, value, line);
        } else {
            return self.fail("`:=` or `==`");
        }
        match self.bytes.get(self.at) {
            Some(b' ' | b'\t' | b']') => Ok(()),
            _ => self.fail("a blank or `]`"),
        }
    }

    fn number(&mut self) -> Result<Value, ReadError> {
        let rest = &self.bytes[self.at..];
        let len = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let digits = &rest[..len];
        if digits.is_empty() {
            return self.fail("a number");
        }
        let number = digits
            .iter()
            .try_fold(0u64, |number, digit| {
                number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
            })
            .filter(|&number| number <= Value::MAX_NUMBER);
        let Some(number) = number else {
            let problem = Problem::TooLarge {
                number: excerpt(digits),
                what: "values",
                limit: Value::MAX_NUMBER,
            };
            return self.problem(problem);
        };
        self.at += len;
        Ok(Value(number))
    }

    fn blanks(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, word: &[u8]) -> bool {
        let next = self.bytes[self.at..].starts_with(word);
        self.at += if next { word.len() } else { 0 };
        next
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, ReadError> {
        self.problem(Problem::Expected {
            expected,
            found: excerpt(&self.bytes[self.at..]),
        })
    }

    fn problem<T>(&self, problem: Problem) -> Result<T, ReadError> {
        let place = Place::Line {
            line: self.number,
            column: (self.at - self.start + 1) as u64,
        };
        Err(ReadError::new(FORMAT.name, place, problem))
    }
}

fn is_variable(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn write(history: &History, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let cannot = |what| WriteError::CannotSay {
        format: FORMAT.name,
        what,
    };
    limits::check(
        history,
        FORMAT.name,
        &Limits {
            initial_word: true,
            empty_transactions: false,
            empty_sessions: history.n_sessions() > 1,
            lists: false,
        },
    )?;
    for index in 0..history.n_keys() {
        let text = history.key_names().text(index);
        if !is_variable(&text) {
            return Err(cannot(format!(
                "the key `{}`: variables are letters, digits and `_`",
                escape(&text)
            )));
        }
    }
    limits::refuse_other_values_than_numbers(history, FORMAT.name, Value::MAX_NUMBER)?;
    for session in history.sessions() {
        if session.0 > 0 {
            writeln!(out, "---")?;
        }
        for t in history.transactions_of(session) {
            let mut before = "[";
            for o in history.operations_of(t) {
                let operation = history.operation(o);
                let sign = match operation.kind {
                    OperationKind::Read => "==",
                    OperationKind::Write => ":=",
                };
                let key = history.key_names().text(operation.key.index());
                match operation.value {
                    Value::INITIAL => write!(out, "{before}{key}==?")?,
                    value => write!(out, "{before}{key}{sign}{}", name::of_value(history, value))?,
                }
                before = " ";
            }
            writeln!(
                out,
                "{}",
                if history.outcome(t) == Outcome::Aborted {
                    "]!"
                } else {
                    "]"
                }
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_model::history::{OperationId, TransactionId};

    fn parse(text: &str) -> Result<History, String> {
        read(&Input::new("", text.as_bytes()), &Control::new()).map_err(|error| error.to_string())
    }

    #[test]
    fn sessions_transactions_and_lines_are_those_of_the_file() {
        let text =
            "// two sessions\n[x:=1 y:=2] [y==2 x:=3]\r\n---\n---\n\n  [x==1 ü_7:=4]![x==?] // end";
        let history = parse(text).expect("valid");
        assert_eq!(
            (
                history.n_sessions(),
                history.n_transactions(),
                history.n_keys()
            ),
            (3, 4, 3)
        );
        assert_eq!(history.transaction_name(TransactionId(2)), "S3#1");
        assert_eq!(history.outcome(TransactionId(2)), Outcome::Aborted);
        assert_eq!(history.line_of(OperationId(5)), 6);
        assert_eq!(history.values()[6], Value::INITIAL);
        let mut bytes = Vec::new();
        write(&history, &mut bytes).expect("sayable");
        let again = "[x:=1 y:=2]\n[y==2 x:=3]\n---\n---\n[x==1 ü_7:=4]!\n[x==?]\n";
        assert_eq!(String::from_utf8(bytes).expect("UTF-8"), again);
    }

    #[test]
    fn errors_say_where_and_what() {
        let cases = [
            (
                "[x:=1\n[y:=2]",
                "line 1, column 6: expected a blank or `]`, found the end of the line",
            ),
            (
                "[x:=1]\n[x=2]",
                "line 2, column 3: expected `:=` or `==`, found `=2]`",
            ),
            (
                "[x:=1]\n---\nx==1",
                "line 3: expected `[`, `---` or `//`, found `x==1`",
            ),
            ("[x:=?]", "line 1, column 5: expected a number, found `?]`"),
            (
                "[x:=1]\n[ ",
                "line 2, column 3: expected a variable or `]`, found the end of the file",
            ),
            (
                "[x:=1,y:=2]",
                "line 1, column 6: expected a blank or `]`, found `,y:=2]`",
            ),
            (
                "// nothing\n",
                "empty file: a history with at least one operation or session was expected",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text).map(|_| ()), Err(message.to_owned()), "{text}");
        }
    }
}
