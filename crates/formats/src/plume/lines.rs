//! Lines → columns: the parallel part of reading, a piece of the file at a time.

use crate::Problem;
use crate::error::excerpt;
use isoscope_model::control::Control;
use isoscope_model::history::{NumberTable, OperationKind, Value};

/// Consecutive operations of one transaction.
pub(super) struct DraftRun {
    pub(super) session: i64,
    pub(super) transaction: i64,
    /// Place of its first operation in the piece.
    pub(super) begin: u32,
}

/// The operations of a piece, column by column.
#[derive(Default)]
pub(super) struct Piece {
    pub(super) kinds: Vec<OperationKind>,
    /// Places in `key_numbers`.
    pub(super) keys: Vec<u32>,
    /// The keys of the piece in the order of first use.
    pub(super) key_numbers: Vec<u64>,
    pub(super) values: Vec<Value>,
    /// From 1 in the piece.
    pub(super) lines: Vec<u32>,
    pub(super) runs: Vec<DraftRun>,
    /// Number of lines, blank ones included.
    pub(super) n_lines: u64,
    pub(super) n_bytes: usize,
}

/// The first line of a piece that is no operation.
pub(super) struct Bad {
    /// From 1 in the piece.
    pub(super) line: u64,
    /// From 1; 0 for the line as a whole.
    pub(super) column: u64,
    pub(super) problem: Problem,
}

/// Lines between two checks of the control.
const LINES_PER_CHECK: u64 = 8192;

impl Piece {
    /// An empty piece that reuses the memory of this one.
    fn emptied(mut self) -> Piece {
        self.kinds.clear();
        self.keys.clear();
        self.key_numbers.clear();
        self.values.clear();
        self.lines.clear();
        self.runs.clear();
        Piece {
            n_lines: 0,
            n_bytes: 0,
            ..self
        }
    }
}

/// Reads the lines of a piece, which ends with a line end or with the file, reusing the memory of `used`.
pub(super) fn parse(bytes: &[u8], used: Piece, control: &Control) -> Result<Piece, Bad> {
    let mut piece = Piece {
        n_bytes: bytes.len(),
        ..used.emptied()
    };
    // The shortest line has eleven bytes; common ones have about twice as many.
    let guess = bytes.len() / 14;
    piece.kinds.reserve(guess);
    piece.keys.reserve(guess);
    piece.values.reserve(guess);
    piece.lines.reserve(guess);
    let mut key_places = NumberTable::default();
    let mut cursor = Cursor { bytes, at: 0 };
    let mut reported = 0;
    while cursor.at < bytes.len() {
        if piece.n_lines.is_multiple_of(LINES_PER_CHECK) {
            control.advance((cursor.at - reported) as u64);
            reported = cursor.at;
            let stopped = |interrupt| Bad {
                line: piece.n_lines + 1,
                column: 0,
                problem: Problem::from(interrupt),
            };
            control.check().map_err(stopped)?;
        }
        let line_start = cursor.at;
        let operation = cursor.line().map_err(|problem| Bad {
            line: piece.n_lines + 1,
            column: (cursor.at - line_start + 1) as u64,
            problem,
        })?;
        piece.n_lines += 1;
        let Some(operation) = operation else { continue };
        let place = key_places.place_or(operation.key, piece.key_numbers.len() as u32);
        if place as usize == piece.key_numbers.len() {
            piece.key_numbers.push(operation.key);
        }
        let (session, transaction) = (operation.session, operation.transaction);
        if piece
            .runs
            .last()
            .is_none_or(|run| (run.transaction, run.session) != (transaction, session))
        {
            piece.runs.push(DraftRun {
                session,
                transaction,
                begin: piece.kinds.len() as u32,
            });
        }
        piece.kinds.push(operation.kind);
        piece.keys.push(place);
        piece.values.push(Value(operation.value));
        piece
            .lines
            .push(u32::try_from(piece.n_lines).unwrap_or(u32::MAX));
    }
    control.advance((cursor.at - reported) as u64);
    Ok(piece)
}

struct Operation {
    kind: OperationKind,
    key: u64,
    value: u64,
    session: i64,
    transaction: i64,
}

/// A place in the bytes. After an error `at` is where it occurred.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// Takes one line with its end; `None` for a blank one.
    #[inline]
    fn line(&mut self) -> Result<Option<Operation>, Problem> {
        let kind = match self.bytes[self.at..] {
            [b'r', b'(', ..] => OperationKind::Read,
            [b'w', b'(', ..] => OperationKind::Write,
            _ => match self.unusual_beginning()? {
                Some(kind) => kind,
                None => return Ok(None),
            },
        };
        self.at += 2;
        let key = self.number("keys", "the number of a key", u64::MAX)?;
        self.symbol(b',', "`,`")?;
        let value = self.number("values", "the number of a value", Value::MAX_NUMBER)?;
        self.symbol(b',', "`,`")?;
        let session = self.signed("sessions", "the number of a session")?;
        self.symbol(b',', "`,`")?;
        let transaction = self.signed("transactions", "the number of a transaction")?;
        self.symbol(b')', "`)`")?;
        self.line_end()?;
        Ok(Some(Operation {
            kind,
            key,
            value,
            session,
            transaction,
        }))
    }

    /// A line that does not begin with an operation: blank, indented or wrong.
    #[cold]
    fn unusual_beginning(&mut self) -> Result<Option<OperationKind>, Problem> {
        self.blanks();
        match self.bytes[self.at..] {
            [] => Ok(None),
            [b'\n', ..] => {
                self.at += 1;
                Ok(None)
            }
            [b'r', b'(', ..] => Ok(Some(OperationKind::Read)),
            [b'w', b'(', ..] => Ok(Some(OperationKind::Write)),
            _ => Err(self.expected("`r(` or `w(`")),
        }
    }

    fn blanks(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    #[inline]
    fn line_end(&mut self) -> Result<(), Problem> {
        if self.bytes.get(self.at) != Some(&b'\n') {
            self.blanks();
        }
        match self.bytes.get(self.at) {
            Some(b'\n') => self.at += 1,
            None => {}
            Some(_) => return Err(self.expected("the end of the line")),
        }
        Ok(())
    }

    #[inline]
    fn symbol(&mut self, symbol: u8, expected: &'static str) -> Result<(), Problem> {
        match self.bytes.get(self.at) {
            Some(&byte) if byte == symbol => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.expected(expected)),
        }
    }

    #[inline]
    fn number(
        &mut self,
        what: &'static str,
        expected: &'static str,
        limit: u64,
    ) -> Result<u64, Problem> {
        let begin = self.at;
        let mut number = 0u64;
        while let Some(digit) = self
            .bytes
            .get(self.at)
            .map(|byte| byte.wrapping_sub(b'0'))
            .filter(|&digit| digit < 10)
        {
            number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        match self.at - begin {
            0 => Err(self.expected(expected)),
            // Nineteen digits always fit.
            1..=19 if number <= limit => Ok(number),
            _ => self.long_number(begin, what, limit),
        }
    }

    #[cold]
    fn long_number(
        &mut self,
        begin: usize,
        what: &'static str,
        limit: u64,
    ) -> Result<u64, Problem> {
        let digits = &self.bytes[begin..self.at];
        let number = digits.iter().try_fold(0u64, |number, digit| {
            number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        });
        match number.filter(|&number| number <= limit) {
            Some(number) => Ok(number),
            None => {
                self.at = begin;
                Err(Problem::TooLarge {
                    number: excerpt(digits),
                    what,
                    limit,
                })
            }
        }
    }

    #[inline]
    fn signed(&mut self, what: &'static str, expected: &'static str) -> Result<i64, Problem> {
        let negative = self.bytes.get(self.at) == Some(&b'-');
        self.at += usize::from(negative);
        let number = self.number(what, expected, i64::MAX as u64)? as i64;
        Ok(if negative { -number } else { number })
    }

    #[cold]
    fn expected(&self, expected: &'static str) -> Problem {
        Problem::Expected {
            expected,
            found: excerpt(&self.bytes[self.at..]),
        }
    }
}
