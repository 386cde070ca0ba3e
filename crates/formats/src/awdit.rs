//! The `test` notation of AWDIT (lassemoldrup/AWDIT: src/formats.rs).
//!
//! ```text
//! history     = session { "=" { "=" } session }
//! session     = transaction { "-" { "-" } transaction }
//! transaction = event { line end event }
//! event       = ( "r" | "w" ) blank key blank value         numbers
//!
//! w 0 0
//! w 1 0
//! =====
//! w 0 1
//! -----
//! r 0 1
//! r 1 0
//! ```
//!
//! Separators may be of any length and appear anywhere after an event; blank stretches between two of them are ignored,
//! but a session of only `-` is one without transactions. All transactions committed. No value is implicitly initial: a
//! read of a value that no transaction wrote, 0 included, is a thin-air read. A transaction that writes initial values
//! is an ordinary one and not ordered before the others; AWDIT reads it the same way. Sessions are called 0, 1, ….

use super::committed_only::{self, Limits};
use super::error::{ReadError, WriteError, excerpt};
use super::watch::Watch;
use super::{Format, Input, Likelihood, Problem, limits, name};
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, Draft, History, OperationKind, Outcome, SessionId};
use std::io::Write;

/// The row of the table.
pub const FORMAT: Format = Format::file("awdit", &["awdit-test"], &["txt"], sniff, read, write);

fn sniff(input: &Input<'_>) -> Likelihood {
    let is_separator = |line: &[u8]| line.iter().all(|b| b"-=".contains(b));
    match input.head_lines().find(|line| !is_separator(line)) {
        Some([b'r' | b'w', b' ' | b'\t', rest @ ..]) => match rest.trim_ascii_start().first() {
            None | Some(b'0'..=b'9') => Likelihood::Likely,
            Some(_) => Likelihood::No,
        },
        _ => Likelihood::No,
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = super::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let builder = Builder::new(input.origin(FORMAT.name));
    let mut reader = Reader {
        bytes,
        at: 0,
        line: 1,
        line_start: 0,
        builder,
        session: None,
        draft: None,
    };
    reader.history(control)?;
    if reader.builder.n_sessions() == 0 {
        return Err(ReadError::whole(FORMAT.name, Problem::Empty));
    }
    reader
        .builder
        .finish()
        .map_err(|error| ReadError::whole(FORMAT.name, error))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// From 1.
    line: u64,
    line_start: usize,
    builder: Builder,
    /// None between sessions.
    session: Option<SessionId>,
    /// None between transactions.
    draft: Option<Draft>,
}

impl<'a> Reader<'a> {
    fn history(&mut self, control: &Control) -> Result<(), ReadError> {
        // An event must begin where a line or a transaction does.
        let mut fresh = true;
        let watch = Watch::new(FORMAT.name, control, Watch::EVERY);
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => {
                    (self.at, self.line, self.line_start, fresh) =
                        (self.at + 1, self.line + 1, self.at + 1, true);
                    watch.at(self.at)?;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'=' => {
                    (self.session, self.draft, fresh) = (None, None, true);
                    self.at += 1;
                }
                b'-' => {
                    self.session();
                    (self.draft, fresh) = (None, true);
                    self.at += 1;
                }
                b'r' | b'w' if fresh => {
                    self.event(if byte == b'r' {
                        OperationKind::Read
                    } else {
                        OperationKind::Write
                    })?;
                    fresh = false;
                }
                _ if fresh => return self.fail("`r`, `w`, `-` or `=`"),
                _ => return self.fail("the end of the line"),
            }
        }
        Ok(())
    }

    fn session(&mut self) -> SessionId {
        let next = self.builder.n_sessions() as u64;
        *self
            .session
            .get_or_insert_with(|| self.builder.session_number(next))
    }

    fn event(&mut self, kind: OperationKind) -> Result<(), ReadError> {
        self.at += 1;
        let key = self.number("a blank and the number of a key")?;
        let value = self.number("a blank and the number of a value")?;
        let session = self.session();
        let builder = &mut self.builder;
        let draft = *self
            .draft
            .get_or_insert_with(|| builder.transaction(session, Outcome::Committed));
        let (key, value) = (name::key(builder, key), name::value(builder, value));
        builder.operation(
            draft,
            kind,
            key,
            value,
            u32::try_from(self.line).unwrap_or(u32::MAX),
        );
        Ok(())
    }

    /// The digits of the next number, delimited by blanks, without leading zeros.
    fn number(&mut self, expected: &'static str) -> Result<&'a str, ReadError> {
        let rest = &self.bytes[self.at..];
        let blanks = rest
            .iter()
            .take_while(|&&b| b == b' ' || b == b'\t')
            .count();
        let rest = &rest[blanks..];
        let len = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let zeros = rest[..len.saturating_sub(1)]
            .iter()
            .take_while(|&&b| b == b'0')
            .count();
        match std::str::from_utf8(&rest[zeros..len]) {
            Ok(digits) if blanks > 0 && !digits.is_empty() => {
                if name::number(digits, u64::MAX).is_none() {
                    self.at += blanks;
                    let number = excerpt(digits.as_bytes());
                    return self.problem(Problem::TooLarge {
                        number,
                        what: "keys and values",
                        limit: u64::MAX,
                    });
                }
                self.at += blanks + len;
                Ok(digits)
            }
            _ => self.fail(expected),
        }
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, ReadError> {
        self.problem(Problem::Expected {
            expected,
            found: excerpt(&self.bytes[self.at..]),
        })
    }

    fn problem<T>(&self, problem: Problem) -> Result<T, ReadError> {
        Err(ReadError::at(
            FORMAT.name,
            self.line,
            (self.at - self.line_start + 1) as u64,
            problem,
        ))
    }
}

fn write(history: &History, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let limits = Limits {
        initial_word: false,
        set_up: false,
        empty_transactions: false,
        empty_sessions: true,
        lists: false,
        registers: true,
    };
    committed_only::check(history, FORMAT.name, &limits, |_| false)?;
    let keys = limits::numbers(history.key_names(), FORMAT.name, "the key")?;
    limits::refuse_other_values_than_numbers(history, FORMAT.name, u64::MAX)?;
    for session in history.sessions() {
        if session.0 > 0 {
            writeln!(out, "=====")?;
        }
        if history.transactions_of(session).len() == 0 {
            writeln!(out, "-----")?;
        }
        for (n, t) in history.transactions_of(session).enumerate() {
            if n > 0 {
                writeln!(out, "-----")?;
            }
            for o in history.operations_of(t) {
                let operation = history.operation(o);
                let letter = if operation.kind == OperationKind::Read {
                    'r'
                } else {
                    'w'
                };
                let value = name::of_value(history, operation.value);
                writeln!(out, "{letter} {} {value}", keys[operation.key.index()])?;
            }
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
    fn separators_of_any_length_stand_anywhere() {
        let text = "\u{feff}=\n\n  w 0 007\r\n---\n-\nr\t1  18446744073709551615 - w 1 2 == r 0 0\n=== -= =";
        let history = parse(text).expect("valid");
        assert_eq!(
            (
                history.n_sessions(),
                history.n_transactions(),
                history.n_keys()
            ),
            (3, 4, 2)
        );
        let texts: Vec<_> = (0..4)
            .map(|o| history.operation_text(OperationId(o)))
            .collect();
        assert_eq!(
            texts,
            [
                "w(0) = 7",
                "r(1) = 18446744073709551615",
                "w(1) = 2",
                "r(0) = 0"
            ]
        );
        let lines: Vec<_> = (0..4).map(|o| history.line_of(OperationId(o))).collect();
        assert_eq!(lines, [3, 6, 6, 6]);
        assert_eq!(history.transaction_name(TransactionId(2)), "S0#3");
        assert_eq!(history.initial_value(), None);
        let mut bytes = Vec::new();
        write(&history, &mut bytes).expect("sayable");
        let again =
            "w 0 7\n-----\nr 1 18446744073709551615\n-----\nw 1 2\n=====\nr 0 0\n=====\n-----\n";
        assert_eq!(String::from_utf8(bytes).expect("UTF-8"), again);
    }

    #[test]
    fn errors_say_where_and_what() {
        let cases = [
            (
                "w 0 1\nx",
                "line 2: expected `r`, `w`, `-` or `=`, found `x`",
            ),
            (
                "w 0 1 2",
                "line 1, column 7: expected the end of the line, found `2`",
            ),
            (
                "w 0\n1",
                "line 1, column 4: expected a blank and the number of a value, found the end of the line",
            ),
            (
                "w0 1",
                "line 1, column 2: expected a blank and the number of a key, found `0 1`",
            ),
            (
                "w 0 1r 0 1",
                "line 1, column 6: expected the end of the line, found `r 0 1`",
            ),
            (
                "r 0 18446744073709551616",
                "line 1, column 5: the number `18446744073709551616` is too large: keys and values go up to \
                 18446744073709551615",
            ),
            (
                "==\n==",
                "empty file: a history with at least one operation or session was expected",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text).map(|_| ()), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn no_value_is_initial_by_itself() {
        for (text, what) in [
            (
                "a: [r 1 0]",
                "the read r(1) = 0, because that would not be the initial version",
            ),
            (
                "a: [w 1 0]",
                "the write w(1) = 0, because the initial version has this value, too",
            ),
            (
                "a: [r 1 init]",
                "the read r(1) = initial, because there is no word for the initial version",
            ),
            ("a: [w 1 -1]", "the value -1, which is no number"),
        ] {
            let error = write(
                &super::super::text::parse(text).expect("valid"),
                &mut Vec::new(),
            )
            .expect_err(text);
            assert_eq!(
                error.to_string(),
                format!("the format awdit cannot express {what}")
            );
        }
    }
}
