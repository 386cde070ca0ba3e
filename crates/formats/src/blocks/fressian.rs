//! Fressian, a binary notation of Clojure's values, as trees.
//!
//! A value begins with a code of one byte that says what follows: a small number itself, a text, a list with its length, a
//! struct with its fields. A struct is declared once (`EF`, tag, number of fields) and then named by its place; values that
//! occur often are put into a cache (`CD`) and named likewise. Both begin empty in each block.
//!
//! Trees are those that EDN would give: keywords have their colon, texts their quotes; a tag that means nothing here
//! becomes the map `{#tag [fields]}`, which no workload takes for a value that it knows.

mod atoms;
mod cache;
mod tags;

use super::{FORMAT, Result};
use crate::operations::Tree;
use crate::watch::Watch;
use crate::{Problem, ReadError};
use atoms::{digits, float, in_utf16, integer, text};
use cache::Cached;
use isoscope_model::control::Control;
use std::borrow::Cow;
use std::rc::Rc;

/// Maximum nesting of values: those of tests need ten.
const DEEPEST: u32 = 200;
/// Greatest size of a value in the cache, and of a tag, since a byte is enough to name them.
const CACHED: usize = 4096;
/// Longest list for which there is room from the beginning.
const RESERVED: usize = 1024;

/// A place in Fressian.
pub(super) struct Fressian<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The place of these bytes in the file.
    begin: usize,
    depth: u32,
    cache: Vec<Cached>,
    copied: usize,
    /// Tags, and how many fields they have.
    structs: Vec<(Rc<str>, usize)>,
    watch: Watch<'a>,
    control: &'a Control,
}

impl<'a> Fressian<'a> {
    /// Bytes that are at `begin` in the file.
    pub(super) fn new(bytes: &'a [u8], begin: usize, control: &'a Control) -> Fressian<'a> {
        Fressian {
            bytes,
            at: 0,
            begin,
            depth: 0,
            cache: Vec::new(),
            copied: 0,
            structs: Vec::new(),
            watch: Watch::new(FORMAT.name, control, Watch::EVERY),
            control,
        }
    }

    /// Whether no value follows.
    pub(super) fn is_at_end(&mut self) -> Result<bool> {
        Ok(self.pass_marks()?.is_none())
    }

    /// The next value.
    #[inline]
    pub(super) fn value(&mut self) -> Result<Tree<'static>> {
        self.watch.at(self.at)?;
        if let Some(number @ 0..=0x3F) = self.bytes.get(self.at) {
            self.at += 1;
            return Ok(Tree::Number(u64::from(*number)));
        }
        self.other_value()
    }

    fn other_value(&mut self) -> Result<Tree<'static>> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.fail("fewer values within each other");
        }
        let code = self.code()?;
        let tree = self.of_code(code)?;
        self.depth -= 1;
        Ok(tree)
    }

    /// Gives the elements of the list that follows, one after the other.
    pub(super) fn each(&mut self, take: &mut dyn FnMut(Tree<'static>) -> Result<()>) -> Result<()> {
        let mut code = self.code()?;
        // A vector is a list with a tag.
        if let 0xEF | 0xF0 | 0xA0..=0xAF = code {
            let (tag, _) = self.declared(code)?;
            if &*tag != "vec" {
                return self.fail_before("a list of operations");
            }
            code = self.code()?;
        }
        match code {
            0xF7 => Ok(()),
            0xE4..=0xEE => {
                let mut left = self.left_of(code)?;
                while self.more(&mut left, code)? {
                    let element = self.value()?;
                    take(element)?;
                }
                Ok(())
            }
            _ => self.fail_before("a list of operations"),
        }
    }

    /// Passes over what is no value, and returns the next byte.
    fn pass_marks(&mut self) -> Result<Option<u8>> {
        loop {
            match self.bytes.get(self.at) {
                // Length and checksum of what precedes; the block has its own.
                Some(0xCF) => drop(self.take(12)?),
                Some(0xFE) => self.at += 1,
                next => return Ok(next.copied()),
            }
            self.cache.clear();
            self.structs.clear();
        }
    }

    fn code(&mut self) -> Result<u8> {
        loop {
            match self.pass_marks()? {
                None => return self.fail("a value"),
                // A value for the cache, which is not the next one.
                Some(0xCE) => {
                    self.at += 1;
                    self.cached()?;
                }
                Some(code) => {
                    self.at += 1;
                    return Ok(code);
                }
            }
        }
    }

    fn of_code(&mut self, code: u8) -> Result<Tree<'static>> {
        Ok(match code {
            0x00..=0x3F => integer(i64::from(code)),
            0x40..=0x5F => self.packed(code, 0x50, 1)?,
            0x60..=0x6F => self.packed(code, 0x68, 2)?,
            0x70..=0x73 => self.packed(code, 0x72, 3)?,
            0x74..=0x77 => self.packed(code, 0x76, 4)?,
            0x78..=0x7B => self.packed(code, 0x7A, 5)?,
            0x7C..=0x7F => self.packed(code, 0x7E, 6)?,
            0x80..=0x9F => self.taken_again(usize::from(code - 0x80))?,
            0xA0..=0xAF | 0xEF | 0xF0 => {
                let (tag, n) = self.declared(code)?;
                self.tagged(&tag, n)?
            }
            0xB0..=0xB5 => self.array()?,
            0xC0 => self.tagged("map", 1)?,
            0xC1 => self.tagged("set", 1)?,
            0xC3 => self.tagged("uuid", 1)?,
            0xC4 => self.tagged("regex", 1)?,
            0xC5 => self.tagged("uri", 1)?,
            0xC6 => self.tagged("bigint", 1)?,
            0xC7 => self.tagged("bigdec", 2)?,
            0xC8 => self.tagged("inst", 1)?,
            0xC9 => self.tagged("sym", 2)?,
            0xCA => self.tagged("key", 2)?,
            0xCC => {
                let place = self.count(self.cache.len())?;
                self.taken_again(place)?
            }
            0xCD => self.cached()?,
            0xD0..=0xD9 => {
                let digits = digits(&self.raw_bytes(code)?);
                Tree::Name(Cow::Owned(format!("#bytes \"{digits}\"")))
            }
            0xDA..=0xE3 => text(&self.string(code)?),
            0xE4..=0xEE => Tree::List(self.list(code)?.into()),
            0xF5 => Tree::Name(Cow::Borrowed("true")),
            0xF6 => Tree::Name(Cow::Borrowed("false")),
            0xF7 => Tree::Nil,
            0xF8 => integer(i64::from_be_bytes(self.array_of()?)),
            0xF9 => float(f64::from(f32::from_be_bytes(self.array_of()?))),
            0xFA => float(f64::from_be_bytes(self.array_of()?)),
            0xFB => float(0.0),
            0xFC => float(1.0),
            0xFF => integer(-1),
            _ => return self.fail_before("the code of a value"),
        })
    }

    /// A number whose code has its first bits.
    fn packed(&mut self, code: u8, zero: i64, n: usize) -> Result<Tree<'static>> {
        let first = i64::from(code) - zero;
        let bytes = self.take(n)?.iter();
        Ok(integer(bytes.fold(first, |number, &byte| {
            number << 8 | i64::from(byte)
        })))
    }

    /// A number below `limit`, or up to the number of bytes that follow.
    fn count(&mut self, limit: usize) -> Result<usize> {
        let begin = self.at;
        match self.value()? {
            Tree::Number(number) if number <= limit as u64 => Ok(number as usize),
            _ => {
                self.at = begin;
                self.fail("a number of things that are there")
            }
        }
    }

    /// The number of bytes or elements that follow.
    fn length(&mut self) -> Result<usize> {
        self.count(self.bytes.len() - self.at)
    }

    /// The elements of a list with this code.
    fn list(&mut self, code: u8) -> Result<Vec<Tree<'static>>> {
        let mut left = self.left_of(code)?;
        let mut elements = Vec::with_capacity(left.unwrap_or_default().min(RESERVED));
        while self.more(&mut left, code)? {
            elements.push(self.value()?);
        }
        Ok(elements)
    }

    /// How many elements follow, if the list says so.
    fn left_of(&mut self, code: u8) -> Result<Option<usize>> {
        Ok(match code {
            0xE4..=0xEB => Some(usize::from(code - 0xE4)),
            0xEC => Some(self.length()?),
            _ => None,
        })
    }

    /// Whether there is another element. A list that does not say how many there are goes up to a mark; an open one also up
    /// to the end.
    #[inline]
    fn more(&mut self, left: &mut Option<usize>, code: u8) -> Result<bool> {
        if let Some(left) = left {
            let was = *left;
            *left = was.saturating_sub(1);
            return Ok(was > 0);
        }
        Ok(match self.pass_marks()? {
            Some(0xFD) => {
                self.at += 1;
                false
            }
            next => next.is_some() || code != 0xEE,
        })
    }

    fn raw_bytes(&mut self, mut code: u8) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let n = match code {
                0xD0..=0xD7 => usize::from(code - 0xD0),
                0xD8 | 0xD9 => self.length()?,
                _ => return self.fail_before("another part of these bytes"),
            };
            bytes.extend_from_slice(self.take(n)?);
            if code != 0xD8 {
                return Ok(bytes);
            }
            code = self.byte()?;
        }
    }

    /// A text: UTF-16 in one to three bytes for each unit, in parts.
    fn string(&mut self, mut code: u8) -> Result<String> {
        let mut before = Vec::new();
        loop {
            let n = match code {
                0xDA..=0xE1 => usize::from(code - 0xDA),
                0xE2 | 0xE3 => self.length()?,
                _ => return self.fail_before("another part of this text"),
            };
            let mut bytes = self.take(n)?;
            if code == 0xE2 || !before.is_empty() {
                before.extend_from_slice(bytes);
                bytes = &before;
            }
            if code != 0xE2 {
                return match in_utf16(bytes) {
                    Some(text) => Ok(text),
                    None => self.fail_before("the end of a character"),
                };
            }
            code = self.byte()?;
        }
    }

    fn byte(&mut self) -> Result<u8> {
        self.array_of::<1>().map(|[byte]| byte)
    }

    fn array_of<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.take(N)?.first_chunk() {
            Some(chunk) => Ok(*chunk),
            None => self.fail("more bytes"),
        }
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        match self.bytes[self.at..].get(..n) {
            Some(bytes) => {
                self.at += n;
                Ok(bytes)
            }
            None => self.fail("more bytes"),
        }
    }

    /// An error at the byte that was taken last.
    #[cold]
    fn fail_before<T>(&mut self, expected: &'static str) -> Result<T> {
        self.at = self.at.saturating_sub(1);
        self.fail(expected)
    }

    #[cold]
    fn fail<T>(&self, expected: &'static str) -> Result<T> {
        let found = match self.bytes.get(self.at) {
            Some(byte) => format!("the byte {byte:#04x}"),
            None => "the end of the block".to_owned(),
        };
        let problem = Problem::Expected { expected, found };
        let at = (self.begin + self.at) as u64;
        Err(Box::new(ReadError::at_byte(FORMAT.name, at, problem)))
    }
}

#[cfg(test)]
mod tests;
