//! The list-append text of VeriStrong, its `elle-list-append` (CzxingcHen/VeriStrong:
//! veristrong/src/history/history.cpp).
//!
//! ```text
//! history   = n line end { operation line end }             n is the number of operations
//! operation = session transaction "R" key m a1 … am         a read of a list of m elements
//!           | session transaction "A" key element           an append
//!
//! 2
//! 0 7 A 1 5
//! 1 8 R 1 1 5
//! ```
//!
//! All numbers are signed 64-bit integers, separated by blanks. Transaction numbers are global. The lines of one
//! transaction need not be adjacent; the order of a session is the order in which its transactions first appear. A
//! transaction with lines in two sessions is an error, as is a number of operations other than the first line gives.
//! All transactions committed; the initial version of every key is the empty list.

use super::committed_only::{self, Limits};
use super::error::{ReadError, WriteError, excerpt};
use super::watch::Watch;
use super::{Format, Input, Likelihood, Problem, name};
use isoscope_model::control::Control;
use isoscope_model::history::{
    Builder, Draft, History, OperationKind, Outcome, SessionId, TransactionId,
};
use rustc_hash::FxHashMap;
use std::io::Write;

/// The row of the table.
pub const FORMAT: Format = Format::file(
    "veristrong-list",
    &["veristrong", "elle-list-append"],
    &["txt"],
    sniff,
    read,
    write,
);

fn sniff(input: &Input<'_>) -> Likelihood {
    let mut lines = input.head_lines();
    if !lines
        .next()
        .is_some_and(|line| line.iter().all(u8::is_ascii_digit))
    {
        return Likelihood::No;
    }
    let Some(line) = lines.next() else {
        return Likelihood::Perhaps;
    };
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let mut is_number = || {
        let word = words.next().unwrap_or(b"0");
        let digits = word.strip_prefix(b"-").unwrap_or(word);
        digits.iter().all(u8::is_ascii_digit)
    };
    if is_number() && is_number() && matches!(words.next(), None | Some(b"R" | b"A")) {
        Likelihood::Likely
    } else {
        Likelihood::No
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = super::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let mut reader = Reader {
        line: Line {
            bytes: &[],
            at: 0,
            number: 0,
        },
        builder: Builder::new(input.origin(FORMAT.name)),
        begun: FxHashMap::default(),
        elements: Vec::new(),
    };
    let mut promised = None;
    let (watch, mut at) = (Watch::new(FORMAT.name, control, Watch::EVERY), 0);
    for line in bytes.split(|&b| b == b'\n') {
        reader.line = Line {
            bytes: line,
            at: 0,
            number: reader.line.number + 1,
        };
        at += line.len() + 1;
        watch.at(at)?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match promised {
            None => promised = Some((reader.line.number, reader.n_promised()?)),
            Some((_, n)) if n == reader.builder.n_operations() as i64 => {
                return reader
                    .line
                    .fail("the end of the file, since the first line promises no more operations");
            }
            Some(_) => reader.operation()?,
        }
    }
    let n = reader.builder.n_operations() as i64;
    match promised {
        Some((line, promised)) if promised > n => {
            let message = format!("the file ends after {n} of {promised} operations");
            Err(ReadError::at(FORMAT.name, line, 0, Problem::Other(message)))
        }
        Some(_) if n > 0 => {
            reader.builder.sort_sessions();
            reader
                .builder
                .finish()
                .map_err(|error| ReadError::whole(FORMAT.name, error))
        }
        _ => Err(ReadError::whole(FORMAT.name, Problem::Empty)),
    }
}

/// Where a transaction began.
struct Begun {
    draft: Draft,
    session: i64,
    line: u64,
}

struct Reader<'a> {
    line: Line<'a>,
    builder: Builder,
    /// By number.
    begun: FxHashMap<i64, Begun>,
    /// Room for a list.
    elements: Vec<&'a str>,
}

impl Reader<'_> {
    fn n_promised(&mut self) -> Result<i64, ReadError> {
        let n = self.line.count("the number of operations")?;
        self.line.end()?;
        Ok(n)
    }

    fn operation(&mut self) -> Result<(), ReadError> {
        let (session_name, session) = self.line.number("the number of a session")?;
        let (_, transaction) = self.line.number("the number of a transaction")?;
        let is_read = match self.line.word() {
            b"R" => true,
            b"A" => false,
            word => return self.line.fail_before(word, "`R` or `A`"),
        };
        let (key, _) = self.line.number("a key")?;
        let draft = self.draft(session_name, session, transaction)?;
        let key = name::key(&mut self.builder, key);
        let line = u32::try_from(self.line.number).unwrap_or(u32::MAX);
        if is_read {
            let n = self.line.count("the number of elements")?;
            self.elements.clear();
            for _ in 0..n {
                self.elements
                    .push(self.line.number("another element of the list")?.0);
            }
            let values = name::values(&mut self.builder, &self.elements);
            self.builder.list_read(draft, key, &values, line);
        } else {
            let (element, _) = self.line.number("the element that is appended")?;
            let value = name::value(&mut self.builder, element);
            self.builder.list_key(key);
            self.builder
                .operation(draft, OperationKind::Write, key, value, line);
        }
        self.line.end()
    }

    fn draft(
        &mut self,
        session_name: &str,
        session: i64,
        transaction: i64,
    ) -> Result<Draft, ReadError> {
        if let Some(begun) = self.begun.get(&transaction) {
            let (earlier, line) = (begun.session, begun.line);
            if earlier != session {
                let problem = Problem::TwoSessions {
                    transaction,
                    session,
                    earlier,
                    line,
                };
                return Err(ReadError::at(FORMAT.name, self.line.number, 0, problem));
            }
            return Ok(begun.draft);
        }
        let id = name::session(&mut self.builder, session_name);
        let draft = self.builder.transaction(id, Outcome::Committed);
        match u64::try_from(transaction) {
            Ok(number) => self.builder.number_transaction(draft, number),
            Err(_) => self
                .builder
                .name_transaction(draft, &format!("T{transaction}")),
        }
        self.begun.insert(
            transaction,
            Begun {
                draft,
                session,
                line: self.line.number,
            },
        );
        Ok(draft)
    }
}

/// A place in a line.
struct Line<'a> {
    bytes: &'a [u8],
    at: usize,
    /// From 1.
    number: u64,
}

impl<'a> Line<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Takes the text up to the next blank; empty at the end of the line.
    fn word(&mut self) -> &'a [u8] {
        self.at += self
            .rest()
            .iter()
            .take_while(|b| b.is_ascii_whitespace())
            .count();
        let rest = self.rest();
        let word = &rest[..rest.iter().take_while(|b| !b.is_ascii_whitespace()).count()];
        self.at += word.len();
        word
    }

    /// Takes a signed number in its usual form.
    fn number(&mut self, expected: &'static str) -> Result<(&'a str, i64), ReadError> {
        let word = self.word();
        match std::str::from_utf8(word).map(|text| (text, text.parse())) {
            Ok((text, Ok(number))) if name::is_signed(text) => Ok((text, number)),
            _ => self.fail_before(word, expected),
        }
    }

    /// Takes a number from 0.
    fn count(&mut self, expected: &'static str) -> Result<i64, ReadError> {
        match self.number(expected)? {
            (_, count @ 0..) => Ok(count),
            (word, _) => self.fail_before(word.as_bytes(), expected),
        }
    }

    fn end(&mut self) -> Result<(), ReadError> {
        match self.word() {
            b"" => Ok(()),
            word => self.fail_before(word, "the end of the line"),
        }
    }

    /// An error at the word taken last.
    fn fail_before<T>(&mut self, word: &[u8], expected: &'static str) -> Result<T, ReadError> {
        self.at -= word.len();
        self.fail(expected)
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, ReadError> {
        // The line is cut off from what follows it.
        let rest = self.rest().trim_ascii_end();
        let found = if rest.is_empty() {
            "the end of the line".to_owned()
        } else {
            excerpt(rest)
        };
        Err(ReadError::at(
            FORMAT.name,
            self.number,
            self.at as u64 + 1,
            Problem::Expected { expected, found },
        ))
    }
}

/// Writes session after session. Sessions and transactions keep their numbers where all have their own, else they are
/// numbered consecutively.
fn write(history: &History, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let limits = Limits {
        initial_word: false,
        set_up: false,
        empty_transactions: false,
        empty_sessions: false,
        lists: true,
        registers: false,
    };
    committed_only::check(history, FORMAT.name, &limits, |_| false)?;
    committed_only::refuse_other_keys_than_integers(history, FORMAT.name)?;
    committed_only::refuse_other_than_integers(history, FORMAT.name)?;
    let sessions_have_numbers = history
        .sessions()
        .all(|session| name::is_signed(&history.session_name(session)));
    let session_number = |session: SessionId| {
        if sessions_have_numbers {
            history.session_name(session)
        } else {
            session.0.to_string()
        }
    };
    let own = name::own_numbers(history, |_| true, |_| true);
    let transaction_number =
        |t: TransactionId| own.as_ref().map_or(i64::from(t.0), |own| own[t.index()]);
    writeln!(out, "{}", history.n_operations())?;
    for t in history.transactions() {
        let (session, number) = (session_number(history.session_of(t)), transaction_number(t));
        for o in history.operations_of(t) {
            let operation = history.operation(o);
            let key = history.key_names().text(operation.key.index());
            match history.lists().read_by(o) {
                Some(elements) => {
                    write!(out, "{session} {number} R {key} {}", elements.len())?;
                    for &element in elements {
                        write!(out, " {}", name::of_value(history, element))?;
                    }
                    writeln!(out)?;
                }
                None => {
                    writeln!(
                        out,
                        "{session} {number} A {key} {}",
                        name::of_value(history, operation.value)
                    )?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_model::history::OperationId;

    fn parse(text: &str) -> Result<History, String> {
        read(&Input::new("", text.as_bytes()), &Control::new()).map_err(|error| error.to_string())
    }

    #[test]
    fn lines_of_one_transaction_may_stand_apart() {
        let history = parse("\u{feff}4\r\n1 7 A -1 5\r\n\n0 8 R -1 2 5 -6\n1 7  R 2 0\n1 -9 A 2 5")
            .expect("valid");
        assert_eq!(
            (
                history.n_sessions(),
                history.n_transactions(),
                history.n_keys()
            ),
            (2, 3, 2)
        );
        let texts: Vec<_> = (0..4)
            .map(|o| history.operation_text(OperationId(o)))
            .collect();
        assert_eq!(
            texts,
            ["r(-1) = [5 -6]", "append(-1) 5", "r(2) = []", "append(2) 5"]
        );
        let lines: Vec<_> = (0..4).map(|o| history.line_of(OperationId(o))).collect();
        assert_eq!(lines, [4, 2, 5, 6]);
        let names: Vec<_> = history
            .transactions()
            .map(|t| history.transaction_name(t))
            .collect();
        assert_eq!(names, ["T8", "T7", "T-9"]);
        let mut bytes = Vec::new();
        write(&history, &mut bytes).expect("sayable");
        let again = "4\n0 8 R -1 2 5 -6\n1 7 A -1 5\n1 7 R 2 0\n1 -9 A 2 5\n";
        assert_eq!(String::from_utf8(bytes).expect("UTF-8"), again);
    }

    #[test]
    fn errors_say_where_and_what() {
        let cases = [
            ("x", "line 1: expected the number of operations, found `x`"),
            (
                "2\n0 0 A 1 1\n",
                "line 1: the file ends after 1 of 2 operations",
            ),
            (
                "9223372036854775807\n0 0 A 1 1",
                "line 1: the file ends after 1 of 9223372036854775807 operations",
            ),
            (
                "1\n0 0 A 1 1\n0 0 A 1 2",
                "line 3: expected the end of the file, since the first line promises no more operations, found \
                 `0 0 A 1 2`",
            ),
            (
                "-1\n",
                "line 1: expected the number of operations, found `-1`",
            ),
            (
                "1\n0 0 R 1 -1",
                "line 2, column 9: expected the number of elements, found `-1`",
            ),
            (
                "1\n0 0 W 1 1",
                "line 2, column 5: expected `R` or `A`, found `W 1 1`",
            ),
            (
                "1\n0 0 R 1 999999999999 1 \n",
                "line 2, column 24: expected another element of the list, found the end of the line",
            ),
            (
                "1\n0 0 R 1 1 1 2",
                "line 2, column 13: expected the end of the line, found `2`",
            ),
            (
                "1\n0 0 A 01 1",
                "line 2, column 7: expected a key, found `01 1`",
            ),
            (
                "2\n0 0 A 1 1\n1 0 A 1 2",
                "line 3: transaction 0 is in session 1 here but in session 0 on line 2",
            ),
            (
                "0\n",
                "empty file: a history with at least one operation or session was expected",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text).map(|_| ()), Err(message.to_owned()), "{text}");
        }
    }
}
