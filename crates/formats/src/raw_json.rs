//! Shared by the readers of other programs' JSON: pieces of a text that know their place.
//!
//! serde_json hands out a part of a text as a [`RawValue`] that borrows it, so the address of a piece gives its byte
//! offset. A text is scanned once as a whole ([`Text::value`]), which finds every syntax error; then pieces are parsed
//! one by one, without keeping their neighbours. Neither step recurses into nested values.

use super::error::{ReadError, escape, excerpt};
use super::watch::Watch;
use super::{Place, Problem};
use isoscope_model::control::Control;
use isoscope_model::history::cut;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

/// A text whose pieces are visited more or less in order.
pub(super) struct Text<'a> {
    format: &'static str,
    bytes: &'a [u8],
    watch: Watch<'a>,
    /// Some byte and its line, from 1.
    counted: Cell<(usize, u32)>,
}

/// Longest message of the JSON parser that is passed on, in characters: it may quote the file.
const MESSAGE: usize = 200;

impl<'a> Text<'a> {
    /// The whole text of a file in a format, without a byte order mark.
    pub(super) fn new(format: &'static str, bytes: &'a [u8], control: &'a Control) -> Text<'a> {
        Text {
            format,
            bytes,
            watch: Watch::new(format, control, Watch::EVERY),
            counted: Cell::new((0, 1)),
        }
    }

    /// The one JSON value in `bytes`, a part of the text that begins with a line. Errors: invalid JSON or UTF-8, or
    /// something after the value. O(bytes).
    pub(super) fn value(&self, bytes: &'a [u8]) -> Result<&'a RawValue, ReadError> {
        if bytes.trim_ascii().is_empty() {
            return Err(ReadError::whole(self.format, Problem::Empty));
        }
        serde_json::from_slice(bytes).map_err(|error| {
            let before = self.line_at(self.offset(bytes)) as usize - 1;
            let place = Place::Line {
                line: (before + error.line()) as u64,
                column: error.column() as u64,
            };
            let problem = if error.is_eof() {
                let behind = &self.bytes[self.offset(bytes) + bytes.len()..];
                Problem::Expected {
                    expected: "more JSON",
                    found: excerpt(behind),
                }
            } else {
                Problem::Other(message(&error))
            };
            ReadError::new(self.format, place, problem)
        })
    }

    /// Passes each element of an array to `work`, in order. Errors: no array, those of `work`, a stop.
    pub(super) fn elements(
        &self,
        array: &'a RawValue,
        expected: &'static str,
        mut work: impl FnMut(&'a RawValue) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        if !array.get().starts_with('[') {
            return Err(self.expected(array, expected));
        }
        let mut failed = None;
        let each = |element: &'a RawValue| {
            self.watch.at(self.offset(element.get().as_bytes()))?;
            work(element)
        };
        let visitor = Elements {
            work: each,
            failed: &mut failed,
        };
        let result = serde_json::Deserializer::from_str(array.get()).deserialize_seq(visitor);
        match failed {
            Some(error) => Err(error),
            None => result.map_err(|error| self.problem(array, Problem::Other(message(&error)))),
        }
    }

    /// The elements of a short array. Errors: no array, or one of more than `most` elements.
    pub(super) fn items(
        &self,
        array: &'a RawValue,
        most: usize,
        expected: &'static str,
        items: &mut Vec<&'a RawValue>,
    ) -> Result<(), ReadError> {
        items.clear();
        self.elements(array, expected, |item| {
            if items.len() == most {
                return Err(self.expected(array, expected));
            }
            items.push(item);
            Ok(())
        })
    }

    /// An object with the fields of `T`. Errors: no object, a field that is missing, twice or of another type.
    pub(super) fn object<T: Deserialize<'a>>(
        &self,
        piece: &'a RawValue,
        expected: &'static str,
    ) -> Result<T, ReadError> {
        if !piece.get().starts_with('{') {
            return Err(self.expected(piece, expected));
        }
        serde_json::from_str(piece.get())
            .map_err(|error| self.problem(piece, Problem::Other(message(&error))))
    }

    /// The verbatim text of an integer, of any size and sign, or of a string.
    pub(super) fn name(
        &self,
        piece: &'a RawValue,
        expected: &'static str,
    ) -> Result<Cow<'a, str>, ReadError> {
        let text = piece.get();
        match text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
        {
            Some(inside) if !inside.contains('\\') => Ok(Cow::Borrowed(inside)),
            Some(_) => match serde_json::from_str::<String>(text) {
                Ok(text) => Ok(Cow::Owned(text)),
                Err(error) => Err(self.problem(piece, Problem::Other(message(&error)))),
            },
            None if is_integer(text) => Ok(Cow::Borrowed(text)),
            None => Err(self.expected(piece, expected)),
        }
    }

    /// A 64-bit integer, or a string with one.
    pub(super) fn integer(
        &self,
        piece: &'a RawValue,
        expected: &'static str,
    ) -> Result<i64, ReadError> {
        self.name(piece, expected)?
            .parse()
            .map_err(|_| self.expected(piece, expected))
    }

    /// `true` or `false`.
    pub(super) fn truth(
        &self,
        piece: &'a RawValue,
        expected: &'static str,
    ) -> Result<bool, ReadError> {
        piece
            .get()
            .parse()
            .map_err(|_| self.expected(piece, expected))
    }

    /// The line on which a piece begins, from 1. O(bytes since the piece of the previous call).
    pub(super) fn line(&self, piece: &RawValue) -> u32 {
        self.line_at(self.offset(piece.get().as_bytes()))
    }

    /// An error at a piece: something else was expected there.
    pub(super) fn expected(&self, piece: &RawValue, expected: &'static str) -> ReadError {
        self.problem(
            piece,
            Problem::Expected {
                expected,
                found: excerpt(piece.get().as_bytes()),
            },
        )
    }

    /// An error at a piece.
    pub(super) fn problem(&self, piece: &RawValue, problem: Problem) -> ReadError {
        let offset = self.offset(piece.get().as_bytes());
        let column = memchr::memrchr(b'\n', &self.bytes[..offset])
            .map_or(offset + 1, |newline| offset - newline);
        ReadError::at(
            self.format,
            u64::from(self.line_at(offset)),
            column as u64,
            problem,
        )
    }

    /// Where in the text a part of it begins.
    fn offset(&self, part: &[u8]) -> usize {
        part.as_ptr()
            .addr()
            .saturating_sub(self.bytes.as_ptr().addr())
            .min(self.bytes.len())
    }

    fn line_at(&self, offset: usize) -> u32 {
        let (counted, line) = self.counted.get();
        let lines_in = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u32;
        let line = if offset >= counted {
            line.saturating_add(lines_in(&self.bytes[counted..offset]))
        } else {
            line.saturating_sub(lines_in(&self.bytes[offset..counted]))
        };
        self.counted.set((offset, line));
        line
    }
}

/// Whether JSON's text of a value is that of an integer.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// The message of the JSON parser, without the place, on one line and shortened.
pub(super) fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    escape(&cut(text.strip_suffix(&place).unwrap_or(&text), MESSAGE))
}

/// Yields the elements of an array.
struct Elements<'f, F> {
    work: F,
    /// The error of `work`.
    failed: &'f mut Option<ReadError>,
}

impl<'de, F: FnMut(&'de RawValue) -> Result<(), ReadError>> Visitor<'de> for Elements<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element()? {
            if let Err(error) = (self.work)(element) {
                *self.failed = Some(error);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_know_their_lines_in_any_order() {
        let (bytes, control) = (
            b" [ 1,\n\"a\\u0041\",\n\n  -7, {}, [[[1.5]]]]\n".as_slice(),
            Control::new(),
        );
        let text = Text::new("test", bytes, &control);
        let mut items = Vec::new();
        text.items(text.value(bytes).expect("JSON"), 5, "five", &mut items)
            .expect("five elements");
        let lines: Vec<_> = items.iter().map(|item| text.line(item)).collect();
        assert_eq!(lines, [1, 2, 4, 4, 4]);
        assert_eq!((text.line(items[1]), text.line(items[4])), (2, 4));
        assert_eq!(text.name(items[1], "a name").as_deref(), Ok("aA"));
        assert_eq!(text.integer(items[2], "a number"), Ok(-7));
        assert_eq!(
            text.name(items[4], "a name")
                .map_err(|error| error.to_string()),
            Err("line 4, column 11: expected a name, found `[[[1.5]]]`".to_owned())
        );
        let error = text
            .items(text.value(bytes).expect("JSON"), 4, "four", &mut items)
            .expect_err("five");
        assert_eq!(
            error.to_string(),
            "line 1, column 2: expected four, found `[ 1,`"
        );
    }

    #[test]
    fn errors_of_syntax_have_a_place() {
        let of = |bytes: &[u8]| {
            Text::new("test", bytes, &Control::new())
                .value(bytes)
                .map(|_| ())
                .map_err(|e| e.to_string())
        };
        assert_eq!(
            of(b"[1,\n2"),
            Err("line 2: expected more JSON, found the end of the file".to_owned())
        );
        assert_eq!(
            of(b"[1,\n 2 3]"),
            Err("line 2, column 4: expected `,` or `]`".to_owned())
        );
        assert_eq!(
            of(b"[] []"),
            Err("line 1, column 4: trailing characters".to_owned())
        );
        assert!(of(b"[\"\xff\"]").is_err());
        assert!(of("[".repeat(1 << 20).as_bytes()).is_err());
    }
}
