//! The tokens of EDN and of JSON, one after the other, with their lines.
//!
//! One scanner for both, since the histories have the same structure: values, names and ends of collections may appear
//! in the same places; only their spelling and the separators differ.
//!
//! | | EDN | JSON |
//! |---|---|---|
//! | between values | blanks, commas, `; comment`, `#_ discarded` | blanks and one comma |
//! | collections | `[…]` `(…)` `{…}` `#{…}` | `[…]` `{…}` |
//! | words | `:keyword` | `"string"` |
//! | other atoms | integers, `nil`, strings, symbols, `\c`, floats, ratios, `##Inf` | integers, `null`, `true`, `false`, floats |
//! | in front of a value | `#tag`, which is skipped | nothing |

use crate::error::{ReadError, excerpt};
use crate::operations::Tree;
use crate::{Place, Problem};
use std::borrow::Cow;

/// Maximum nesting of collections: histories need five.
const DEEPEST: u32 = 200;

/// Something that is no collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// `nil`, `null`.
    Nil,
    /// An integer from 0 to 2⁶⁴ − 1.
    Number(u64),
    /// A keyword of EDN, with its colon.
    Keyword(&'a str),
    /// A string with its quotes, verbatim.
    Text(&'a str),
    /// Anything else, verbatim: negative numbers, symbols, floats, …
    Name(&'a str),
}

/// A place that was passed.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    at: usize,
    line: u64,
    line_start: usize,
}

/// A place in the bytes of a file.
pub(crate) struct Scanner<'a, const JSON: bool> {
    format: &'static str,
    bytes: &'a [u8],
    at: usize,
    /// From 1.
    line: u64,
    line_start: usize,
    depth: u32,
    /// The elements so far of the collections that are open, so that each gets as much memory as it has.
    elements: Vec<Tree<'a>>,
}

impl<'a, const JSON: bool> Scanner<'a, JSON> {
    pub(crate) fn new(format: &'static str, bytes: &'a [u8]) -> Scanner<'a, JSON> {
        Scanner {
            format,
            bytes,
            at: 0,
            line: 1,
            line_start: 0,
            depth: 0,
            elements: Vec::new(),
        }
    }

    /// Continues at byte `at` of `bytes`, which is on this line.
    pub(crate) fn move_to(&mut self, bytes: &'a [u8], at: usize, line: u64, line_start: usize) {
        *self = Scanner {
            format: self.format,
            bytes,
            at,
            line,
            line_start,
            depth: 0,
            elements: Vec::new(),
        };
    }

    pub(crate) fn format(&self) -> &'static str {
        self.format
    }

    /// Number of bytes passed.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// This place, to return to.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            at: self.at,
            line: self.line,
            line_start: self.line_start,
        }
    }

    /// Goes back to a place.
    pub(crate) fn back_to(&mut self, mark: Mark) {
        Mark {
            at: self.at,
            line: self.line,
            line_start: self.line_start,
        } = mark;
    }

    /// The bytes between two places, as text.
    pub(crate) fn between(&self, begin: usize, end: usize) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(&self.bytes[begin..end])
    }

    /// All bytes from here on.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Passes bytes that are known, without a line end among them.
    #[inline]
    pub(crate) fn pass(&mut self, n: usize) {
        self.at += n;
    }

    /// The line of the next byte, from 1, as far as it fits.
    pub(crate) fn line(&self) -> u32 {
        u32::try_from(self.line).unwrap_or(u32::MAX)
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips whatever separates values.
    #[inline]
    pub(crate) fn blanks(&mut self) -> Result<(), ReadError> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\n') => self.newline(),
                Some(b',' | b'\x0c') if !JSON => self.at += 1,
                Some(b';' | b'#') if !JSON => {
                    if !self.rare_blank()? {
                        return Ok(());
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    #[inline]
    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
    }

    /// Skips a comment, something discarded or a tag, if one is next.
    #[cold]
    fn rare_blank(&mut self) -> Result<bool, ReadError> {
        match self.bytes[self.at..] {
            [b';', ..] => {
                let rest = &self.bytes[self.at..];
                self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            }
            [b'#', b'_', ..] => {
                self.at += 2;
                self.skip()?;
            }
            // `#:name{…}` puts a namespace in front of the keywords of a map; ours have none.
            [b'#', b':', ..] => self.at += 2 + self.bare_len(self.at + 2),
            [b'#', next, ..] if next.is_ascii_alphabetic() => {
                self.at += 1 + self.bare_len(self.at + 1)
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn bare_len(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        rest.iter()
            .position(|&b| !is_bare::<JSON>(b))
            .unwrap_or(rest.len())
    }

    /// Takes the beginning of a collection, if that is next, and returns the byte that ends it.
    #[inline]
    pub(crate) fn open(&mut self) -> Option<u8> {
        let close = match self.peek()? {
            b'[' => b']',
            b'{' => b'}',
            b'(' if !JSON => b')',
            b'#' if !JSON && self.bytes.get(self.at + 1) == Some(&b'{') => {
                self.at += 1;
                b'}'
            }
            _ => return None,
        };
        self.at += 1;
        Some(close)
    }

    /// Takes the beginning of the first map of a file, perhaps within a vector or a list, and returns the byte that ends it.
    pub(crate) fn open_first_map(&mut self) -> Option<u8> {
        self.blanks().ok()?;
        if self.at_sequence() {
            self.open()?;
            self.blanks().ok()?;
        }
        (self.peek() == Some(b'{')).then(|| self.open()).flatten()
    }

    /// Whether a vector or a list begins here.
    #[inline]
    pub(crate) fn at_sequence(&self) -> bool {
        matches!(self.peek(), Some(b'[')) || (!JSON && self.peek() == Some(b'('))
    }

    /// Whether a map or a set begins here.
    #[inline]
    pub(crate) fn at_map_or_set(&self) -> bool {
        matches!(self.peek(), Some(b'{')) || (!JSON && self.bytes[self.at..].starts_with(b"#{"))
    }

    /// Moves to the next element of a collection that ends with `close`, or past its end.
    #[inline]
    pub(crate) fn more(&mut self, close: u8, first: &mut bool) -> Result<bool, ReadError> {
        self.blanks()?;
        let was_first = std::mem::replace(first, false);
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                return Ok(false);
            }
            None => return self.fail(named(close)),
            _ => {}
        }
        if JSON && !was_first {
            if self.peek() != Some(b',') {
                return self.fail(if close == b']' {
                    "`,` or `]`"
                } else {
                    "`,` or `}`"
                });
            }
            self.at += 1;
            self.blanks()?;
        }
        Ok(true)
    }

    /// Takes the end of a collection.
    #[inline]
    pub(crate) fn close(&mut self, close: u8) -> Result<(), ReadError> {
        self.blanks()?;
        if self.peek() != Some(close) {
            return self.fail(named(close));
        }
        self.at += 1;
        Ok(())
    }

    /// Takes the name of a field and the separator before its value. `None` where it is no word.
    #[inline]
    pub(crate) fn field(&mut self) -> Result<Option<&'a str>, ReadError> {
        if !JSON && (self.at_sequence() || self.at_map_or_set()) {
            self.skip()?;
            self.blanks()?;
            return Ok(None);
        }
        let token = self.token(if JSON {
            "the name of a field"
        } else {
            "a keyword"
        })?;
        let word = self.word(token);
        if JSON {
            if word.is_none() {
                return self.fail("the name of a field");
            }
            self.close(b':')?;
        }
        self.blanks()?;
        Ok(word)
    }

    /// The content of a token where the notation uses words: the name of a keyword in EDN, a string in JSON. No word
    /// that is searched for has escapes.
    #[inline]
    pub(crate) fn word(&self, token: Token<'a>) -> Option<&'a str> {
        match token {
            Token::Keyword(word) => word.get(1..),
            Token::Text(text) if JSON => text.get(1..text.len() - 1),
            _ => None,
        }
    }

    /// Skips one value.
    pub(crate) fn skip(&mut self) -> Result<(), ReadError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.fail("fewer collections within each other");
        }
        self.blanks()?;
        match self.open() {
            Some(close) => {
                let mut first = true;
                while self.more(close, &mut first)? {
                    if JSON && close == b'}' {
                        self.field()?;
                    }
                    self.skip()?;
                }
            }
            None => drop(self.token("a value")?),
        }
        self.depth -= 1;
        Ok(())
    }

    /// Takes one value as a tree.
    pub(crate) fn tree(&mut self) -> Result<Tree<'a>, ReadError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.fail("fewer collections within each other");
        }
        self.blanks()?;
        let first_byte = self.peek();
        let tree = match self.open() {
            None => Tree::of_token::<JSON>(self.token("a value")?),
            Some(close) if first_byte == Some(b'{') => Tree::Map(self.fields(close)?.into()),
            Some(close) => {
                let (begin, mut first) = (self.elements.len(), true);
                while self.more(close, &mut first)? {
                    let element = self.tree()?;
                    self.elements.push(element);
                }
                let trees = self.elements.drain(begin..).collect();
                if close == b'}' {
                    Tree::Set(trees)
                } else {
                    Tree::List(trees)
                }
            }
        };
        self.depth -= 1;
        Ok(tree)
    }

    /// The fields of a map up to its end.
    fn fields(&mut self, close: u8) -> Result<Vec<(Tree<'a>, Tree<'a>)>, ReadError> {
        let (begin, mut first) = (self.elements.len(), true);
        while self.more(close, &mut first)? {
            let name = self.tree()?;
            self.elements.push(name);
            if JSON {
                self.close(b':')?;
            }
            let value = self.tree()?;
            self.elements.push(value);
        }
        let mut fields = Vec::with_capacity((self.elements.len() - begin) / 2);
        let mut rest = self.elements.drain(begin..);
        while let (Some(name), Some(value)) = (rest.next(), rest.next()) {
            fields.push((name, value));
        }
        drop(rest);
        Ok(fields)
    }

    /// Takes something that is no collection; no separator may precede it.
    #[inline]
    pub(crate) fn token(&mut self, expected: &'static str) -> Result<Token<'a>, ReadError> {
        match self.peek() {
            Some(b'1'..=b'9') => {
                // Nineteen digits always fit; longer numbers take the slow path.
                let mut number = 0u64;
                let mut at = self.at;
                while let Some(digit @ b'0'..=b'9') = self.bytes.get(at) {
                    number = number
                        .wrapping_mul(10)
                        .wrapping_add(u64::from(digit - b'0'));
                    at += 1;
                }
                if at - self.at < 20 && self.bytes.get(at).is_none_or(|&b| !is_bare::<JSON>(b)) {
                    self.at = at;
                    return Ok(Token::Number(number));
                }
                self.bare(expected)
            }
            Some(b'"') => self.text(),
            Some(b'\\') if !JSON => self.character(),
            _ => self.bare(expected),
        }
    }

    fn text(&mut self) -> Result<Token<'a>, ReadError> {
        let begin = self.at;
        self.at += 1;
        loop {
            let rest = &self.bytes[self.at..];
            let Some(next) = memchr::memchr3(b'"', b'\\', b'\n', rest) else {
                self.at = self.bytes.len();
                return self.fail("the end of a string");
            };
            self.at += next;
            match self.peek() {
                Some(b'\n') => self.newline(),
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'\n') => self.newline(),
                        Some(_) => self.at += 1,
                        None => return self.fail("the end of a string"),
                    }
                }
                _ => {
                    self.at += 1;
                    return Ok(Token::Text(self.utf8(begin)?));
                }
            }
        }
    }

    /// `\a`, `\newline`, `\(`.
    fn character(&mut self) -> Result<Token<'a>, ReadError> {
        let begin = self.at;
        self.at += 1;
        match self.peek() {
            None | Some(b' ' | b'\t' | b'\r' | b'\n') => return self.fail("a character"),
            Some(byte) => {
                self.at += if is_bare::<JSON>(byte) {
                    self.bare_len(self.at)
                } else {
                    1
                }
            }
        }
        Ok(Token::Name(self.utf8(begin)?))
    }

    fn bare(&mut self, expected: &'static str) -> Result<Token<'a>, ReadError> {
        let begin = self.at;
        let len = self.bare_len(begin);
        if len == 0 || self.at_map_or_set() {
            return self.fail(expected);
        }
        self.at += len;
        let text = self.utf8(begin)?;
        let token = if JSON {
            json_atom(text)
        } else {
            edn_atom(text)
        };
        match token {
            Some(token) => Ok(token),
            None => {
                self.at = begin;
                self.fail(expected)
            }
        }
    }

    fn utf8(&mut self, begin: usize) -> Result<&'a str, ReadError> {
        match std::str::from_utf8(&self.bytes[begin..self.at]) {
            Ok(text) => Ok(text),
            Err(error) => {
                self.at = begin + error.valid_up_to();
                self.fail("UTF-8 text")
            }
        }
    }

    /// An error at this place.
    #[cold]
    pub(crate) fn fail<T>(&self, expected: &'static str) -> Result<T, ReadError> {
        let found = excerpt(self.bytes.get(self.at..).unwrap_or_default());
        // After the first line of a string the column counts from the beginning of its last line.
        let column = (self.at - self.line_start.min(self.at) + 1) as u64;
        let place = Place::Line {
            line: self.line,
            column,
        };
        Err(ReadError::new(
            self.format,
            place,
            Problem::Expected { expected, found },
        ))
    }

    /// An error of the whole line.
    #[cold]
    pub(crate) fn fail_line<T>(&self, line: u32, message: String) -> Result<T, ReadError> {
        Err(ReadError::at(
            self.format,
            u64::from(line),
            0,
            Problem::Other(message),
        ))
    }
}

fn named(close: u8) -> &'static str {
    match close {
        b']' => "`]`",
        b')' => "`)`",
        b':' => "`:`",
        _ => "`}`",
    }
}

/// Whether a byte may be part of a number, a symbol or a keyword.
#[inline]
fn is_bare<const JSON: bool>(byte: u8) -> bool {
    const TABLE: [[bool; 256]; 2] = {
        let mut table = [[false; 256]; 2];
        let mut byte = 0;
        while byte < 256 {
            let b = byte as u8;
            let delimiter = matches!(
                b,
                b'(' | b')'
                    | b'['
                    | b']'
                    | b'{'
                    | b'}'
                    | b'"'
                    | b';'
                    | b','
                    | b'\\'
                    | b'@'
                    | b'^'
                    | b'`'
                    | b'~'
                    | 0x7f
            );
            table[0][byte] = b > b' ' && !delimiter;
            table[1][byte] = b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
            byte += 1;
        }
        table
    };
    TABLE[JSON as usize][byte as usize]
}

/// What a bare text is in EDN.
fn edn_atom(text: &str) -> Option<Token<'_>> {
    match text.as_bytes() {
        b"nil" => Some(Token::Nil),
        [b':', b':', ..] | [b':'] | [b'#'] => None,
        [b':', ..] => Some(Token::Keyword(text)),
        [b'0'..=b'9', ..] | [b'+' | b'-', b'0'..=b'9', ..] => Some(edn_number(text)),
        _ => Some(Token::Name(text)),
    }
}

/// An integer without redundant parts (a plus, the `N` of big ones); other numbers unchanged.
fn edn_number(text: &str) -> Token<'_> {
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let integer = unsigned.strip_suffix('N').unwrap_or(unsigned);
    let digits = integer.strip_prefix('-').unwrap_or(integer);
    let canonical = digits.bytes().all(|b| b.is_ascii_digit())
        && (digits.len() == 1 || !digits.starts_with('0'));
    match (canonical, digits.parse::<u64>()) {
        (true, Ok(number)) if !negative || number == 0 => Token::Number(number),
        (true, _) => Token::Name(integer),
        (false, _) => Token::Name(text),
    }
}

/// What a bare text is in JSON.
fn json_atom(text: &str) -> Option<Token<'_>> {
    match text {
        "null" => return Some(Token::Nil),
        "true" | "false" => return Some(Token::Name(text)),
        _ => {}
    }
    let integer =
        text.bytes().all(|b| b.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    match text.parse::<u64>() {
        Ok(number) if integer => Some(Token::Number(number)),
        _ => is_json_number(text).then_some(Token::Name(text)),
    }
}

/// Whether JSON would read this as a number.
pub(super) fn is_json_number(text: &str) -> bool {
    serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok_and(|raw| {
        raw.get().len() == text.len() && text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
    })
}

/// The content of a string with its quotes.
pub(crate) fn content_of(text: &str) -> Cow<'_, str> {
    let inside = text
        .get(1..text.len().saturating_sub(1))
        .unwrap_or_default();
    match inside.contains('\\') {
        false => Cow::Borrowed(inside),
        // The escapes of EDN are those of JSON. A string that has others, or line breaks, is taken verbatim.
        true => serde_json::from_str(text).map_or(Cow::Borrowed(inside), Cow::Owned),
    }
}

/// A text with quotes around it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
