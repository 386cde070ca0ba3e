//! Our own notation, one line per session: for tests, samples, bug reports and whoever writes a history by hand.
//!
//! ```text
//! # A lost update: both read the initial x.
//! a: [r x 0, w x 1]
//! b: [r x 0, w x 2] [r x 2]!
//! ```
//!
//! Grammar; blanks (spaces and tabs) may stand between any two symbols, a line ends with LF or CR LF:
//!
//! ```text
//! history     = { line }
//! line        = [ session ":" { transaction } | "initial" ":" ( "none" | value ) ] [ "#" anything ]
//! transaction = [ label ] "[" [ operation { "," operation } ] "]" [ "!" | "?" ] [ "@" start ".." end ]
//! operation   = "w" key value | "r" key ( value | "init" | "?" )
//! session, label, key, value = bare | quoted
//! bare        = one or more characters, none of them a blank, a control character or one of []{}(),:;#!?@"\
//! quoted      = a string as in JSON, for names that cannot be bare (and for a session called "initial")
//! start, end  = integer, 64 bits, may be negative
//! ```
//!
//! - `!` marks an aborted transaction, `?` one of unknown outcome; the others committed.
//! - `r x init` read the initial version, `r x ?` read something that was not recorded.
//! - **0 is the initial value** where nobody writes it, as in Plume's text, unless a line says `initial: none` or names
//!   another value. The line may stand anywhere.
//! - A session may have several lines: its transactions follow each other in the order of the file. A line without
//!   transactions makes a session without any. `[]` is a transaction without operations.
//! - A name that is a number in its usual form is that number; a label `T7` numbers the transaction 7. Transactions
//!   without a label are called after their session and place: `a1`, `a2`.
//! - `@ 10..20` says when the transaction began and ended.
//!
//! The notation can say everything that a [`History`] can hold, so writing loses nothing.

use super::error::{ReadError, WriteError, excerpt};
use super::{Format, Input, Likelihood, Place, Problem, name};
use crate::control::Control;
use crate::history::{
    BuildError, Builder, Draft, History, Interval, Label, OperationKind, Outcome, TransactionId, Value,
};
use std::borrow::Cow;
use std::io;

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "text",
    aliases: &["isoscope-text"],
    about: "IsoScope's own notation, one line per session: a: [r x 0, w x 1]",
    extensions: &["txt", "history"],
    sniff,
    read,
    write: Some(write),
};

fn sniff(input: &Input<'_>) -> Likelihood {
    let Some(line) = input.head_lines().find(|line| !line.starts_with(b"#")) else {
        return if input.head_lines().next().is_some() { Likelihood::Perhaps } else { Likelihood::No };
    };
    // A quoted session name may contain a colon; the first one is good enough for a guess.
    let Some(colon) = line.iter().position(|&b| b == b':') else { return Likelihood::No };
    let (session, rest) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
    let named = !session.is_empty() && (session.starts_with(b"\"") || session.iter().all(|&b| is_bare(b)));
    match rest.contains(&b'[') || session == b"initial" {
        _ if !named => Likelihood::No,
        true => Likelihood::Likely,
        false if rest.is_empty() || rest.starts_with(b"#") => Likelihood::Perhaps,
        false => Likelihood::No,
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    control.phase("reading", input.bytes().len() as u64);
    let parser = Parser::new(input, control);
    let history = parser.history()?;
    if history.n_sessions() == 0 {
        return Err(ReadError::whole(FORMAT.name, Problem::Empty));
    }
    Ok(history)
}

/// Reads this notation from memory; the empty text is the empty history.
pub fn parse(text: &str) -> Result<History, ReadError> {
    Parser::new(&Input::new("", text.as_bytes()), &Control::new()).history()
}

/// Whether a byte may be part of a bare name. Characters beyond ASCII may.
fn is_bare(byte: u8) -> bool {
    byte >= 0x80 || (byte.is_ascii_graphic() && !b"[]{}(),:;#!?@\"\\".contains(&byte))
}

/// A name as it stands in the file.
struct Token<'a> {
    text: Cow<'a, str>,
    quoted: bool,
}

impl Token<'_> {
    /// Whether this is a word of the notation and not a name.
    fn is_word(&self, word: &str) -> bool {
        !self.quoted && self.text == word
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
    line_start: usize,
    control: &'a Control,
    builder: Builder,
    /// `None` for "none".
    initial: Option<String>,
}

impl<'a> Parser<'a> {
    fn new(input: &Input<'a>, control: &'a Control) -> Parser<'a> {
        let builder = Builder::new(input.origin(FORMAT.name));
        let bytes = super::without_mark(input.bytes());
        Parser { bytes, at: 0, line: 1, line_start: 0, control, builder, initial: Some("0".to_owned()) }
    }

    fn history(mut self) -> Result<History, ReadError> {
        while self.at < self.bytes.len() {
            self.line()?;
            self.control.check().map_err(|interrupt| ReadError::whole(FORMAT.name, interrupt))?;
            self.control.advance((self.at - self.line_start) as u64);
            self.line += 1;
            self.line_start = self.at;
        }
        if let Some(initial) = self.initial.take() {
            let initial = name::value(&mut self.builder, &initial);
            self.builder.initial_value(initial);
        }
        self.builder.finish().map_err(|error: BuildError| ReadError::whole(FORMAT.name, error))
    }

    /// Reads one line, its end included.
    fn line(&mut self) -> Result<(), ReadError> {
        self.blanks();
        if !self.at_end_of_statement() {
            let name = self.name("the name of a session")?;
            self.symbol(b':', "`:` after the name of the session")?;
            match name.is_word("initial") {
                true => {
                    let value = self.name("`none` or the value that reads as initial")?;
                    self.initial = (!value.is_word("none")).then(|| value.text.into_owned());
                }
                false => {
                    let session = name::session(&mut self.builder, &name.text);
                    while !self.at_end_of_statement() {
                        let draft = self.builder.transaction(session, Outcome::Committed);
                        self.transaction(draft)?;
                    }
                }
            }
            if !self.at_end_of_statement() {
                return self.fail("the end of the line");
            }
        }
        // What is left is a comment.
        let rest = &self.bytes[self.at..];
        self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        Ok(())
    }

    fn transaction(&mut self, draft: Draft) -> Result<(), ReadError> {
        if self.peek() != Some(b'[') {
            let label = self.name("`[` or the label of a transaction")?;
            match label.text.strip_prefix('T').and_then(|digits| name::number(digits, u64::MAX - 1)) {
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
        if self.symbol_if(b'!') {
            self.builder.set_outcome(draft, Outcome::Aborted);
        } else if self.symbol_if(b'?') {
            self.builder.set_outcome(draft, Outcome::Unknown);
        }
        if self.symbol_if(b'@') {
            let begin = self.at;
            let times = self.name("two times like `10..20`")?;
            let interval = times
                .text
                .split_once("..")
                .and_then(|(start, end)| Some(Interval { start: start.parse().ok()?, end: end.parse().ok()? }));
            let Some(interval) = interval else {
                self.at = begin;
                return self.fail("two times like `10..20`");
            };
            self.builder.set_interval(draft, interval);
        }
        Ok(())
    }

    fn operation(&mut self, draft: Draft) -> Result<(), ReadError> {
        let begin = self.at;
        let letter = self.name("`r` or `w`")?;
        let kind = match (letter.is_word("r"), letter.is_word("w")) {
            (true, _) => OperationKind::Read,
            (_, true) => OperationKind::Write,
            _ => {
                self.at = begin;
                return self.fail("`r` or `w`");
            }
        };
        let key = self.name("a key")?;
        let key = name::key(&mut self.builder, &key.text);
        let value = if kind == OperationKind::Read && self.symbol_if(b'?') {
            Value::UNRECORDED
        } else {
            let value = self.name("a value")?;
            match kind == OperationKind::Read && value.is_word("init") {
                true => Value::INITIAL,
                false => name::value(&mut self.builder, &value.text),
            }
        };
        let line = u32::try_from(self.line).unwrap_or(u32::MAX);
        self.builder.operation(draft, kind, key, value, line);
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    fn at_end_of_statement(&self) -> bool {
        match self.peek() {
            None | Some(b'\n' | b'#') => true,
            Some(b'\r') => matches!(self.bytes.get(self.at + 1), None | Some(b'\n')),
            _ => false,
        }
    }

    /// Takes `symbol` and the blanks behind it, if it is next.
    fn symbol_if(&mut self, symbol: u8) -> bool {
        let next = self.peek() == Some(symbol);
        if next {
            self.at += 1;
            self.blanks();
        }
        next
    }

    fn symbol(&mut self, symbol: u8, expected: &'static str) -> Result<(), ReadError> {
        if self.symbol_if(symbol) { Ok(()) } else { self.fail(expected) }
    }

    /// Takes a name and the blanks behind it.
    fn name(&mut self, expected: &'static str) -> Result<Token<'a>, ReadError> {
        let rest = &self.bytes[self.at..];
        let quoted = rest.first() == Some(&b'"');
        let len = match quoted {
            true => quoted_len(rest),
            false => rest.iter().take_while(|&&b| is_bare(b)).count(),
        };
        if len == 0 {
            return self.fail(expected);
        }
        let Ok(text) = std::str::from_utf8(&rest[..len]) else {
            return self.fail("UTF-8 text");
        };
        let text = match quoted {
            true => match serde_json::from_str::<String>(text) {
                Ok(text) => Cow::Owned(text),
                Err(_) => return self.fail("a quoted name as in JSON"),
            },
            false => Cow::Borrowed(text),
        };
        self.at += len;
        self.blanks();
        Ok(Token { text, quoted })
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, ReadError> {
        let place = Place::Line { line: self.line, column: (self.at - self.line_start + 1) as u64 };
        let problem = Problem::Expected { expected, found: excerpt(&self.bytes[self.at..]) };
        Err(ReadError { format: FORMAT.name, place, problem, looks_like: None })
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

/// Lines are broken after the transaction that reaches this length, in bytes.
const LINE: usize = 110;

fn write(history: &History, out: &mut dyn io::Write) -> Result<(), WriteError> {
    name::refuse_writes_of_nothing(history, FORMAT.name)?;
    let mut line = String::new();
    match history.initial_value() {
        Some(value) if name::of_value(history, value) == "0" => {}
        Some(value) => {
            line.push_str("initial: ");
            push_name(&mut line, &name::of_value(history, value), &["none"]);
            line.push('\n');
        }
        None => line.push_str("initial: none\n"),
    }
    for session in history.sessions() {
        let mut begun = false;
        let start = |line: &mut String| {
            push_name(line, &history.session_names().text(session.index()), &["initial"]);
            line.push(':');
        };
        for t in history.transactions_of(session) {
            if !begun {
                start(&mut line);
            }
            begun = true;
            push_transaction(&mut line, history, t);
            if line.len() > LINE {
                line.push('\n');
                out.write_all(line.as_bytes())?;
                line.clear();
                begun = false;
            }
        }
        if history.transactions_of(session).len() == 0 {
            start(&mut line);
            begun = true;
        }
        if begun {
            line.push('\n');
        }
        out.write_all(line.as_bytes())?;
        line.clear();
    }
    out.write_all(line.as_bytes())?;
    Ok(())
}

fn push_transaction(line: &mut String, history: &History, t: TransactionId) {
    line.push(' ');
    match history.transaction_label(t) {
        Some(Label::Number(number)) => line.push_str(&format!("T{number} ")),
        Some(Label::Name(name)) => {
            push_name(line, name, &[]);
            line.push(' ');
        }
        None => {}
    }
    line.push('[');
    for (n, o) in history.operations_of(t).enumerate() {
        let operation = history.operation(o);
        line.push_str(if n == 0 { "" } else { ", " });
        line.push_str(match operation.kind {
            OperationKind::Read => "r ",
            OperationKind::Write => "w ",
        });
        push_name(line, &history.key_names().text(operation.key.index()), &[]);
        line.push(' ');
        match operation.value {
            Value::INITIAL => line.push_str("init"),
            Value::UNRECORDED => line.push('?'),
            value => push_name(line, &name::of_value(history, value), &["init"]),
        }
    }
    line.push(']');
    line.push_str(match history.outcome(t) {
        Outcome::Committed => "",
        Outcome::Aborted => "!",
        Outcome::Unknown => "?",
    });
    if let Some(Interval { start, end }) = history.interval(t) {
        line.push_str(&format!("@{start}..{end}"));
    }
}

/// Appends a name, quoted when it is one of the `reserved` words or cannot be bare.
fn push_name(line: &mut String, name: &str, reserved: &[&str]) {
    let bare = !name.is_empty()
        && name.bytes().all(is_bare)
        && !name.chars().any(|c| c.is_control() || c.is_whitespace())
        && !reserved.contains(&name);
    match bare {
        true => line.push_str(name),
        // A JSON string escapes line breaks, quotes and backslashes; encoding one does not fail.
        false => line.push_str(&serde_json::Value::from(name).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(history: &History) -> String {
        let mut bytes = Vec::new();
        write(history, &mut bytes).expect("the notation can say everything");
        String::from_utf8(bytes).expect("the writer writes UTF-8")
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        let text = "initial: none\n\
                    a: [r x 0, w y \"a b\"] [w x 2]! [r y init, r x ?]?@-5..7\n\
                    \"initial\": T17 [] \"T 4\" [w \"\" -3]\n\
                    empty:\n";
        let history = parse(text).expect("valid");
        assert_eq!((history.n_sessions(), history.n_transactions(), history.n_operations()), (3, 5, 6));
        assert_eq!(history.initial_value(), None);
        let names: Vec<_> = history.transactions().map(|t| history.transaction_name(t)).collect();
        assert_eq!(names, ["a1", "a2", "a3", "T17", "T 4"]);
        // One name makes all of them names.
        let again = written(&history);
        assert_eq!(
            again,
            text.replace(" [r x 0", " a1 [r x 0").replace(" [w x 2]", " a2 [w x 2]").replace(" [r y", " a3 [r y")
        );
        assert_eq!(written(&parse(&again).expect("valid")), again);
    }

    #[test]
    fn a_session_may_have_several_lines_and_zero_is_initial() {
        let history = parse("\u{feff}b: [w x 1] # first\r\n\r\n  a:[r x 0]\n#\nb:[r x 1]").expect("valid");
        assert_eq!(history.initial_value(), Some(Value(0)));
        let lines: Vec<_> = history
            .kinds()
            .iter()
            .enumerate()
            .map(|(o, _)| history.line_of(crate::history::OperationId::new(o)))
            .collect();
        assert_eq!(lines, [1, 5, 3]);
        assert_eq!(history.session_name(crate::history::SessionId(0)), "b");
    }

    #[test]
    fn numbers_and_names_mix() {
        let history = parse("a: [w x 5, w x five, r x 5, r x 0]").expect("valid");
        let names: Vec<_> = history.values().iter().map(|&v| history.value_name(v)).collect();
        assert_eq!(names, ["5", "five", "5", "0"]);
        assert_eq!(history.values()[0], history.values()[2]);
        assert!(history.may_be_initial(history.values()[3]));
    }

    #[test]
    fn errors_say_where_and_what() {
        let cases = [
            ("a", "line 1, column 2: expected `:` after the name of the session, found the end of the file"),
            ("[w x 1]", "line 1: expected the name of a session, found `[w x 1]`"),
            ("a: [r x 0]\nb: [r x", "line 2, column 8: expected a value, found the end of the file"),
            ("a: [r x 0\nb: [r x]", "line 1, column 10: expected `,` or `]`, found the end of the line"),
            ("a: [r x 0,]", "line 1, column 11: expected `r` or `w`, found `]`"),
            ("a: [q x 0]", "line 1, column 5: expected `r` or `w`, found `q x 0]`"),
            ("a: []!?", "line 1, column 7: expected `[` or the label of a transaction, found `?`"),
            ("a: []@5", "line 1, column 7: expected two times like `10..20`, found `5`"),
            ("a: [w x \"1]", "line 1, column 9: expected a value, found `\"1]`"),
            ("initial: 1 2", "line 1, column 12: expected the end of the line, found `2`"),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text).map(|_| ()).map_err(|e| e.to_string()), Err(message.to_owned()), "{text}");
        }
    }
}
