//! The binary file that dbcop wrote in 2019 (`history.bincode`), and the copies of dbcop and the converters of PolySI
//! and CobraVerifier after it (amnore/dbcop: src/db/history.rs).
//!
//! It is plain bincode 1: little endian, every number in full width, no tags, no header.
//!
//! ```text
//! file        = id:u64 nodes:u64 variables:u64 transactions:u64 events:u64
//!               info:text start:text end:text
//!               sessions:u64 session*
//! text        = bytes:u64 byte*                      UTF-8; the times as in RFC 3339
//! session     = transactions:u64 transaction*
//! transaction = events:u64 event* success:u8         the flag follows the events
//! event       = write:u8 variable:u64 value:u64 success:u8
//! ```
//!
//! - The four numbers after `id` describe the plan of the run; some writers put totals there: do not rely on them.
//! - Sessions are called 1, 2, … as in `.hist`; transactions have no names. Keys are numbers of 64 bits.
//! - 0 is the initial value where no transaction writes it.
//! - A transaction without success aborted. An event without success is a statement that failed, which says little
//!   about its transaction: what it means depends on the database, which `info` often names ([`Suggestions`]).
//! - Operations are found by the byte at which their event begins.
//!
//! Writing loses the names of sessions and transactions; start and end of the run are always the same moment.

use super::error::{ReadError, WriteError, escape};
use super::limits::{self, Limits};
use super::watch::Watch;
use super::{Format, Input, Likelihood, Problem, SNIFFED, name};
use isoscope_model::control::Control;
use isoscope_model::history::{
    Builder, Draft, FailedRule, History, OperationKind, Outcome, SessionId, Suggestions, Unit,
    Value,
};
use std::io::Write;

/// The row of the table.
pub const FORMAT: Format = Format::file(
    "dbcop-bincode",
    &["bincode", "dbcop"],
    &["bincode"],
    sniff,
    read,
    write,
);

fn sniff(input: &Input<'_>) -> Likelihood {
    let bytes = input.bytes();
    let mut cursor = Cursor {
        bytes: &bytes[..bytes.len().min(SNIFFED)],
        at: 0,
    };
    let numbers = cursor.clone().plan();
    match cursor.header() {
        Ok(header) if is_time(header.start) && is_time(header.end) => Likelihood::Likely,
        Ok(_) => Likelihood::No,
        // Cut off, or an endless text: small numbers at the beginning are still typical.
        Err(_) => match numbers {
            Ok(numbers)
                if numbers.iter().all(|&n| n <= u64::from(u32::MAX)) && numbers != [0; 5] =>
            {
                Likelihood::Perhaps
            }
            _ => Likelihood::No,
        },
    }
}

/// Whether this looks like a time in RFC 3339, `2019-04-02T11:28:11.092416890+02:00`.
fn is_time(text: &str) -> bool {
    let shape = b"dddd-dd-ddTdd:dd:dd";
    let fits = |(&byte, &kind): (&u8, &u8)| {
        if kind == b'd' {
            byte.is_ascii_digit()
        } else {
            byte == kind
        }
    };
    (20..=40).contains(&text.len()) && text.as_bytes().iter().zip(shape).all(fits)
}

/// Minimum bytes of a session and a transaction, and bytes of an event.
const SESSION: usize = 8;
const TRANSACTION: usize = 9;
const EVENT: usize = 18;

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = input.bytes();
    control.phase("reading", bytes.len() as u64);
    let mut cursor = Cursor { bytes, at: 0 };
    let header = cursor.header()?;
    let n_sessions = cursor.count("the number of sessions", SESSION)?;
    let mut builder = Builder::new(input.origin(FORMAT.name));
    builder.unit(Unit::Byte);
    builder.initial_value(Value(0));
    builder.suggest(suggestions(header.info));
    builder.reserve_operations(cursor.left() / EVENT);
    let watch = Watch::new(FORMAT.name, control, Watch::EVERY);
    let mut reading = Reading {
        cursor,
        builder,
        watch,
    };
    for number in 1..=n_sessions as u64 {
        let session = reading.builder.session_number(number);
        reading.session(session)?;
    }
    let Reading {
        cursor, builder, ..
    } = reading;
    if cursor.left() > 0 {
        let found = format!("{} more bytes", cursor.left());
        return Err(cursor.problem(
            cursor.at,
            Problem::Expected {
                expected: "the end of the file",
                found,
            },
        ));
    }
    if builder.n_sessions() == 0 {
        return Err(ReadError::whole(FORMAT.name, Problem::Empty));
    }
    builder
        .finish()
        .map_err(|error| ReadError::whole(FORMAT.name, error))
}

/// What a failed statement means to the database that the text names.
fn suggestions(info: &str) -> Suggestions {
    /// MySQL and its relatives roll back and continue outside of a transaction; PostgreSQL and its relatives refuse all
    /// further statements and roll back at commit.
    const DATABASES: [(&str, FailedRule); 6] = [
        ("Galera", FailedRule::Split),
        ("MySQL", FailedRule::Split),
        ("MariaDB", FailedRule::Split),
        ("Cockroach", FailedRule::Abort),
        ("Postgre", FailedRule::Abort),
        ("Yugabyte", FailedRule::Abort),
    ];
    let lower = info.to_ascii_lowercase();
    match DATABASES
        .iter()
        .find(|(name, _)| lower.contains(&name.to_ascii_lowercase()))
    {
        Some(&(_, failed)) => {
            let shown: String = info.chars().take(40).collect();
            Suggestions {
                failed,
                because: format!("the file names {}", escape(&shown)),
                ..Suggestions::default()
            }
        }
        None => Suggestions::default(),
    }
}

/// The fields before the sessions.
struct Header<'a> {
    info: &'a str,
    start: &'a str,
    end: &'a str,
}

/// A place in the bytes.
#[derive(Clone)]
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn header(&mut self) -> Result<Header<'a>, ReadError> {
        self.plan()?;
        let info = self.text("the text about the database")?;
        let start = self.text("the time of the start")?;
        let end = self.text("the time of the end")?;
        Ok(Header { info, start, end })
    }

    /// The five numbers at the beginning.
    fn plan(&mut self) -> Result<[u64; 5], ReadError> {
        let mut numbers = [0; 5];
        for number in &mut numbers {
            *number = self.number("five numbers of 8 bytes")?;
        }
        Ok(numbers)
    }

    fn take<const N: usize>(&mut self, expected: &'static str) -> Result<[u8; N], ReadError> {
        match self.bytes[self.at..].first_chunk::<N>() {
            Some(&chunk) => {
                self.at += N;
                Ok(chunk)
            }
            None => Err(self.cut_off(expected)),
        }
    }

    fn number(&mut self, expected: &'static str) -> Result<u64, ReadError> {
        self.take(expected).map(u64::from_le_bytes)
    }

    /// The number of things of at least `least` bytes each that follow.
    fn count(&mut self, expected: &'static str, least: usize) -> Result<usize, ReadError> {
        let begin = self.at;
        let number = self.number(expected)?;
        match usize::try_from(number) {
            Ok(count) if count <= self.left() / least => Ok(count),
            _ => {
                let found = format!(
                    "{number}, too many for the {} bytes that follow",
                    self.left()
                );
                Err(self.problem(begin, Problem::Expected { expected, found }))
            }
        }
    }

    fn text(&mut self, expected: &'static str) -> Result<&'a str, ReadError> {
        let len = self.count(expected, 1)?;
        let text = &self.bytes[self.at..self.at + len];
        let text = std::str::from_utf8(text).map_err(|_| {
            let found = "bytes that are no UTF-8".to_owned();
            self.problem(self.at, Problem::Expected { expected, found })
        })?;
        self.at += len;
        Ok(text)
    }

    /// A boolean byte; `at` is its place.
    fn flag(&self, byte: u8, at: usize, expected: &'static str) -> Result<bool, ReadError> {
        match byte {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.problem(
                at,
                Problem::Expected {
                    expected,
                    found: format!("the byte {byte:#04x}"),
                },
            )),
        }
    }

    fn cut_off(&self, expected: &'static str) -> ReadError {
        let found = match self.left() {
            0 => "the end of the file".to_owned(),
            left => format!("only {left} bytes before the end of the file"),
        };
        self.problem(self.at, Problem::Expected { expected, found })
    }

    fn problem(&self, at: usize, problem: Problem) -> ReadError {
        ReadError::at_byte(FORMAT.name, at as u64, problem)
    }
}

struct Reading<'a> {
    cursor: Cursor<'a>,
    builder: Builder,
    watch: Watch<'a>,
}

impl Reading<'_> {
    fn session(&mut self, session: SessionId) -> Result<(), ReadError> {
        for _ in 0..self
            .cursor
            .count("the number of transactions in a session", TRANSACTION)?
        {
            let draft = self.builder.transaction(session, Outcome::Committed);
            for _ in 0..self
                .cursor
                .count("the number of events in a transaction", EVENT)?
            {
                self.event(draft)?;
            }
            let at = self.cursor.at;
            let expected = "0 or 1 for the success of a transaction";
            let [success] = self.cursor.take(expected)?;
            if !self.cursor.flag(success, at, expected)? {
                self.builder.set_outcome(draft, Outcome::Aborted);
            }
            self.watch.at(self.cursor.at)?;
        }
        self.watch.at(self.cursor.at)
    }

    fn event(&mut self, draft: Draft) -> Result<(), ReadError> {
        let begin = self.cursor.at;
        let [
            write,
            variable @ ..,
            v0,
            v1,
            v2,
            v3,
            v4,
            v5,
            v6,
            v7,
            success,
        ]: [u8; EVENT] = self.cursor.take("an event of 18 bytes")?;
        let variable: [u8; 8] = variable;
        let value = u64::from_le_bytes([v0, v1, v2, v3, v4, v5, v6, v7]);
        let write = self.cursor.flag(write, begin, "0 or 1 for read or write")?;
        let success = self.cursor.flag(
            success,
            begin + EVENT - 1,
            "0 or 1 for the success of an event",
        )?;
        let kind = if write {
            OperationKind::Write
        } else {
            OperationKind::Read
        };
        let key = self.builder.key_number(u64::from_le_bytes(variable));
        let value = if value <= Value::MAX_NUMBER {
            self.builder.value_number(value)
        } else {
            name::value(&mut self.builder, &value.to_string())
        };
        self.builder.operation(
            draft,
            kind,
            key,
            value,
            u32::try_from(begin + 1).unwrap_or(u32::MAX),
        );
        if !success {
            self.builder.fail_last_operation();
        }
        self.watch.at(self.cursor.at)
    }
}

/// When the runs of all written files began and ended.
const MOMENT: &str = "2000-01-01T00:00:00+00:00";

/// Keys and values must be numbers of 64 bits. The numbers of the plan are those that dbcop wrote: most transactions of
/// a session, most events of a transaction.
fn write(history: &History, out: &mut Vec<u8>) -> Result<(), WriteError> {
    limits::check(
        history,
        FORMAT.name,
        &Limits {
            initial_word: false,
            empty_transactions: true,
            empty_sessions: true,
            lists: false,
        },
    )?;
    let keys: Vec<u64> = limits::numbers(history.key_names(), FORMAT.name, "the key")?;
    let named: Option<Vec<u64>> = history
        .value_names()
        .map(|names| limits::numbers(names, FORMAT.name, "the value"))
        .transpose()?;
    // The limits allow no other reads of the initial version than those that are written as 0.
    let number = |value: Value| match (&named, value) {
        (_, Value::INITIAL) => 0,
        (Some(numbers), value) => numbers[value.0 as usize],
        (None, value) => value.0,
    };
    let per_session = history
        .sessions()
        .map(|session| history.transactions_of(session).len())
        .max()
        .unwrap_or(0);
    let per_transaction = history
        .transactions()
        .map(|t| history.operation_range(t).len())
        .max()
        .unwrap_or(0);
    for number in [
        0,
        history.n_sessions(),
        history.n_keys(),
        per_session,
        per_transaction,
    ] {
        out.write_all(&(number as u64).to_le_bytes())?;
    }
    for text in ["IsoScope", MOMENT, MOMENT] {
        out.write_all(&(text.len() as u64).to_le_bytes())?;
        out.write_all(text.as_bytes())?;
    }
    out.write_all(&(history.n_sessions() as u64).to_le_bytes())?;
    for session in history.sessions() {
        out.write_all(&(history.transactions_of(session).len() as u64).to_le_bytes())?;
        for t in history.transactions_of(session) {
            out.write_all(&(history.operation_range(t).len() as u64).to_le_bytes())?;
            for o in history.operations_of(t) {
                let operation = history.operation(o);
                let success = history.failed_operations().binary_search(&o).is_err();
                out.write_all(&[u8::from(operation.kind == OperationKind::Write)])?;
                out.write_all(&keys[operation.key.index()].to_le_bytes())?;
                out.write_all(&number(operation.value).to_le_bytes())?;
                out.write_all(&[u8::from(success)])?;
            }
            out.write_all(&[u8::from(history.outcome(t) != Outcome::Aborted)])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_model::history::{OperationId, Spot, TransactionId};

    fn parse(bytes: &[u8]) -> Result<History, String> {
        read(&Input::new("", bytes), &Control::new()).map_err(|error| error.to_string())
    }

    fn written(history: &History) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(history, &mut bytes).expect("sayable");
        bytes
    }

    /// Whether it writes, key, value and success.
    type Event = (u8, u64, u64, u8);
    type Session<'a> = &'a [(&'a [Event], u8)];

    /// A file of these sessions.
    fn file(info: &str, sessions: &[Session<'_>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let number =
            |bytes: &mut Vec<u8>, number: usize| bytes.extend((number as u64).to_le_bytes());
        for n in [7, 3, 180, 30, 20] {
            number(&mut bytes, n);
        }
        for text in [
            info,
            "2019-04-02T11:28:11.092416890+02:00",
            "2019-04-02T11:28:12Z",
        ] {
            number(&mut bytes, text.len());
            bytes.extend(text.as_bytes());
        }
        number(&mut bytes, sessions.len());
        for session in sessions {
            number(&mut bytes, session.len());
            for (events, success) in *session {
                number(&mut bytes, events.len());
                for &(write, key, value, success) in *events {
                    bytes.push(write);
                    bytes.extend(key.to_le_bytes());
                    bytes.extend(value.to_le_bytes());
                    bytes.push(success);
                }
                bytes.push(*success);
            }
        }
        bytes
    }

    fn specimen() -> Vec<u8> {
        file(
            "Galera",
            &[
                &[
                    (&[(1, 7, 1, 1), (0, u64::MAX, 0, 0), (1, 8, 2, 1)], 1),
                    (&[], 1),
                ],
                &[],
                &[(&[(0, 7, u64::MAX, 1), (1, 8, 1 << 63, 0)], 0)],
            ],
        )
    }

    #[test]
    fn sessions_transactions_and_failures_are_those_of_the_file() {
        let bytes = specimen();
        let input = Input::new("h.bincode", &bytes);
        assert_eq!(sniff(&input), Likelihood::Likely);
        let history = parse(&bytes).expect("valid");
        assert_eq!(
            (
                history.n_sessions(),
                history.n_transactions(),
                history.n_keys()
            ),
            (3, 3, 3)
        );
        assert_eq!(history.transaction_name(TransactionId(0)), "S1#1");
        assert_eq!(history.outcome(TransactionId(2)), Outcome::Aborted);
        assert_eq!(
            history.failed_operations(),
            [OperationId(1), OperationId(4)]
        );
        assert_eq!(
            history.operation_text(OperationId(3)),
            "r(7) = 18446744073709551615"
        );
        assert_eq!(
            history.operation_text(OperationId(1)),
            "r(18446744073709551615) = 0"
        );
        assert!(history.may_be_initial(history.keys()[1], history.values()[1]));
        // The event begins where its spot says.
        let spot = history.spot_of(OperationId(4)).expect("read from a file");
        let begin = spot.number as usize - 1;
        assert_eq!(
            spot,
            Spot {
                part: None,
                unit: Unit::Byte,
                number: spot.number,
                within: spot.within,
            }
        );
        assert_eq!(bytes[begin..begin + 2], [1, 8]);
        // Writing says it all again.
        let again = written(&history);
        let info = |bytes: &[u8]| {
            bytes
                .windows(4)
                .position(|w| w == b"2000" || w == b"2019")
                .expect("a time")
        };
        assert_eq!(
            again[info(&again) + 25 + 8 + 25..],
            bytes[info(&bytes) + 35 + 8 + 20..]
        );
        assert_eq!(written(&parse(&again).expect("valid")), again);
    }

    #[test]
    fn the_database_decides_what_failures_mean() {
        let outcomes = |info: &str| {
            let bytes = file(info, &[&[(&[(1, 1, 1, 1), (1, 2, 1, 0), (1, 3, 1, 1)], 1)]]);
            let history =
                super::super::read(&Input::new("", &bytes), None, &Control::new()).expect("valid");
            let outcomes: Vec<Outcome> =
                history.transactions().map(|t| history.outcome(t)).collect();
            (
                outcomes,
                history.n_operations(),
                history.assumptions().join(" "),
            )
        };
        let (split, _, why) = outcomes("Galera");
        assert_eq!(split, [Outcome::Aborted, Outcome::Committed]);
        assert!(
            why.contains("since the file names Galera (--failed split"),
            "{why}"
        );
        let (abort, _, why) = outcomes("CockroachDB");
        assert_eq!(abort, [Outcome::Aborted]);
        assert!(
            why.contains("since the file names CockroachDB (--failed abort"),
            "{why}"
        );
        let (drop, n_operations, why) = outcomes("generated by SIVerifier");
        assert_eq!((drop, n_operations), (vec![Outcome::Committed], 2));
        assert!(why.contains("(--failed drop"), "{why}");
    }

    #[test]
    fn errors_say_where_and_what() {
        let good = specimen();
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            bytes
        };
        // Behind its beginning: five events, three flags, two counts of events, two of transactions.
        let first_event = good.len() - (5 * EVENT + 3 + 2 * 8 + 2 * 8);
        let cases = [
            (
                with(47, 1),
                "byte 40: expected the text about the database, found 72057594037927942, too many for",
            ),
            (
                with(48, 0xff),
                "byte 48: expected the text about the database, found bytes that are no UTF-8",
            ),
            (
                with(first_event, 2),
                "byte 149: expected 0 or 1 for read or write, found the byte 0x02",
            ),
            (
                with(first_event + 17, 9),
                "byte 166: expected 0 or 1 for the success of an event, found the byte 0x09",
            ),
            (
                with(first_event - 8, 200),
                "byte 141: expected the number of events in a transaction, found 200, too many for the 125 bytes that \
                 follow",
            ),
            (
                with(good.len() - 1, 7),
                "byte 273: expected 0 or 1 for the success of a transaction, found the byte 0x07",
            ),
            (
                [&*good, &[0, 0]].concat(),
                "byte 274: expected the end of the file, found 2 more bytes",
            ),
            (
                good[..good.len() - 1].to_vec(),
                "byte 273: expected 0 or 1 for the success of a transaction, found the end of the file",
            ),
            (
                good[..20].to_vec(),
                "byte 16: expected five numbers of 8 bytes, found only 4 bytes before the end",
            ),
            (
                file("", &[]),
                "empty file: a history with at least one operation or session was expected",
            ),
        ];
        for (bytes, message) in cases {
            let error = parse(&bytes).map(|_| ()).expect_err(message);
            assert!(error.starts_with(message), "{error} is not {message}");
        }
    }

    #[test]
    fn cut_or_damaged_files_are_read_or_refused() {
        let good = specimen();
        assert!((0..good.len()).all(|len| parse(&good[..len]).is_err()));
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..1000 {
            let mut bytes = good.clone();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..bytes.len());
                bytes[at] ^= 1 << random.u8(..8);
            }
            match parse(&bytes) {
                Ok(history) => assert!(history.n_operations() <= bytes.len() / EVENT),
                Err(error) => assert!(error.len() < 300 && !error.contains('\n'), "{error}"),
            }
        }
    }

    #[test]
    fn other_bytes_do_not_look_like_it() {
        for bytes in [
            &[0u8; 100][..],
            &[0, 1, 2, 3, 255, 254],
            &b"w(1,1,0,0)\n".repeat(20),
            b"\x53\0\0\0\0\0\x10\0\x0d",
        ] {
            assert_eq!(sniff(&Input::new("", bytes)), Likelihood::No, "{bytes:?}");
        }
        assert_eq!(
            sniff(&Input::new("", &specimen()[..60])),
            Likelihood::Perhaps
        );
    }
}
