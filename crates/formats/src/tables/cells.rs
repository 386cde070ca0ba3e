//! The cells of a table, row by row (RFC 4180).

use crate::elle::Scanner;
use crate::error::{ReadError, excerpt};
use crate::operations::Tree;
use crate::{Place, Problem, name};
use std::borrow::Cow;

/// The line of a row, and its cells.
type Row<'a> = (u32, Vec<Cow<'a, str>>);

/// A place in the bytes of a table.
pub(super) struct Cells<'a> {
    format: &'static str,
    bytes: &'a [u8],
    pub(super) at: usize,
    separator: u8,
    /// From 1.
    line: u64,
    line_start: usize,
}

impl<'a> Cells<'a> {
    pub(super) fn new(format: &'static str, bytes: &'a [u8], separator: u8) -> Cells<'a> {
        Cells {
            format,
            bytes,
            at: 0,
            separator,
            line: 1,
            line_start: 0,
        }
    }

    /// The cells of the next row that is not blank, and its line.
    pub(super) fn row(&mut self) -> Result<Option<Row<'a>>, ReadError> {
        loop {
            let line = u32::try_from(self.line).unwrap_or(u32::MAX);
            let rest = &self.bytes[self.at..];
            let blank = rest
                .iter()
                .take_while(|byte| matches!(byte, b' ' | b'\r'))
                .count();
            match rest.get(blank) {
                None => return Ok(None),
                Some(b'\n') => {
                    self.at += blank;
                    self.newline();
                    continue;
                }
                Some(_) => {}
            }
            let mut cells = Vec::new();
            loop {
                cells.push(self.cell()?);
                match self.bytes.get(self.at) {
                    Some(byte) if *byte == self.separator => self.at += 1,
                    Some(b'\n') => {
                        self.newline();
                        return Ok(Some((line, cells)));
                    }
                    _ => return Ok(Some((line, cells))),
                }
            }
        }
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
    }

    /// A cell up to the separator or the end of the line.
    fn cell(&mut self) -> Result<Cow<'a, str>, ReadError> {
        let begin = self.at;
        let rest = &self.bytes[begin..];
        let blank = rest.iter().take_while(|&&byte| byte == b' ').count();
        if rest.get(blank) == Some(&b'"') {
            self.at += blank + 1;
            return self.quoted();
        }
        let end = memchr::memchr2(self.separator, b'\n', rest).unwrap_or(rest.len());
        self.at += end;
        let text = self.utf8(begin, begin + end)?;
        Ok(Cow::Borrowed(text.trim_ascii()))
    }

    /// What follows an opening quote, in which two quotes are one.
    fn quoted(&mut self) -> Result<Cow<'a, str>, ReadError> {
        let mut text = Cow::Borrowed("");
        loop {
            let begin = self.at;
            let Some(end) = memchr::memchr(b'"', &self.bytes[begin..]) else {
                return self.fail("a cell that its quote ends");
            };
            let end = begin + end;
            let piece = self.utf8(begin, end)?;
            for newline in memchr::memchr_iter(b'\n', piece.as_bytes()) {
                self.line += 1;
                self.line_start = begin + newline + 1;
            }
            self.at = end + 1;
            let is_doubled = self.bytes.get(self.at) == Some(&b'"');
            match (is_doubled, text.is_empty()) {
                (false, true) => text = Cow::Borrowed(piece),
                (false, false) => text.to_mut().push_str(piece),
                (true, _) => {
                    let text = text.to_mut();
                    text.push_str(piece);
                    text.push('"');
                    self.at += 1;
                    continue;
                }
            }
            while let Some(b' ' | b'\r') = self.bytes.get(self.at) {
                self.at += 1;
            }
            return match self.bytes.get(self.at) {
                None | Some(b'\n') => Ok(text),
                Some(byte) if *byte == self.separator => Ok(text),
                Some(_) => self.fail("the end of the cell behind its quote"),
            };
        }
    }

    fn utf8(&mut self, begin: usize, end: usize) -> Result<&'a str, ReadError> {
        std::str::from_utf8(&self.bytes[begin..end]).or_else(|error| {
            self.at = begin + error.valid_up_to();
            self.fail("UTF-8 text")
        })
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, ReadError> {
        let place = Place::Line {
            line: self.line,
            column: (self.at - self.line_start.min(self.at) + 1) as u64,
        };
        let found = excerpt(self.bytes.get(self.at..).unwrap_or_default());
        Err(ReadError::new(
            self.format,
            place,
            Problem::Expected { expected, found },
        ))
    }
}

/// What a cell holds: nothing, a number, a collection in JSON or EDN, or a text.
pub(super) fn tree(cell: Cow<'_, str>) -> Tree<'_> {
    if cell.is_empty()
        || ["nil", "null"]
            .iter()
            .any(|nil| cell.eq_ignore_ascii_case(nil))
    {
        return Tree::Nil;
    }
    if let Some(number) = name::number(&cell, u64::MAX) {
        return Tree::Number(number);
    }
    let is_collection = cell.starts_with(['[', '{']) || cell.starts_with("#{");
    let collection = is_collection
        .then(|| collection::<true>(&cell).or_else(|| collection::<false>(&cell)))
        .flatten();
    collection.unwrap_or(Tree::Name(cell))
}

/// The collection that a text is.
fn collection<const JSON: bool>(text: &str) -> Option<Tree<'static>> {
    let mut scan = Scanner::<JSON>::new("", text.as_bytes());
    let tree = scan.tree().ok()?;
    let is_all = scan.rest().trim_ascii().is_empty();
    is_all.then(|| tree.into_owned())
}
