//! Values that have a tag.

use super::atoms::{big, uuid};
use super::{CACHED, Fressian, RESERVED};
use crate::blocks::Result;
use crate::error::escape;
use crate::operations::Tree;
use std::borrow::Cow;
use std::rc::Rc;

/// Names of fields and words that nearly all operations have.
const WORDS: [&str; 22] = [
    ":index", ":time", ":type", ":process", ":f", ":value", ":invoke", ":ok", ":fail", ":info",
    ":txn", ":append", ":r", ":w", ":read", ":write", ":cas", ":add", ":error", ":node",
    ":nemesis", ":key",
];
/// The fields of an operation, those first that are asked for first.
const FIELDS: [&str; 6] = [":type", ":process", ":f", ":value", ":time", ":index"];

impl Fressian<'_> {
    /// The tag of a struct, and how many fields follow.
    pub(super) fn declared(&mut self, code: u8) -> Result<(Rc<str>, usize)> {
        let begin = self.at;
        let place = match code {
            0xEF => {
                let Some(tag) = self.word()?.filter(|tag| tag.len() < CACHED) else {
                    self.at = begin;
                    return self.fail("the tag of a struct");
                };
                let n = self.length()?;
                self.structs.push((tag.into(), n));
                self.structs.len() - 1
            }
            0xF0 => self.count(self.structs.len())?,
            _ => usize::from(code - 0xA0),
        };
        match self.structs.get(place) {
            Some(declared) => Ok(declared.clone()),
            None => self.fail_before("a struct that was declared"),
        }
    }

    pub(super) fn tagged(&mut self, tag: &str, n: usize) -> Result<Tree<'static>> {
        Ok(match (tag, n) {
            ("jepsen.history.Op", 7) => {
                let [index, time] = [self.value()?, self.value()?];
                let [stage, process] = [self.value()?, self.value()?];
                let [function, value] = [self.value()?, self.value()?];
                let begin = self.at;
                let others = self.value()?;
                let fields = [stage, process, function, value, time, index];
                let names = FIELDS.map(|name| Tree::Name(Cow::Borrowed(name)));
                let mut fields: Vec<_> = names.into_iter().zip(fields).collect();
                match others {
                    Tree::Nil => {}
                    Tree::Map(others) => fields.extend(others),
                    _ => {
                        self.at = begin;
                        return self.fail("the other fields of an operation: a map or nil");
                    }
                }
                Tree::Map(fields.into())
            }
            ("map", 1) => {
                let begin = self.at;
                let all = self.sequence()?;
                if !all.len().is_multiple_of(2) {
                    self.at = begin;
                    return self.fail("as many values as names in a map");
                }
                let mut all = all.into_iter();
                let mut fields = Vec::with_capacity(all.len() / 2);
                while let (Some(name), Some(value)) = (all.next(), all.next()) {
                    fields.push((name, value));
                }
                Tree::Map(fields.into())
            }
            ("set" | "persistent-hash-set" | "persistent-sorted-set", 1) => {
                Tree::Set(self.sequence()?.into())
            }
            ("vec" | "list", 1) => Tree::List(self.sequence()?.into()),
            ("map-entry", 2) => Tree::Pair(Box::new((self.value()?, self.value()?))),
            ("key", 2) => self.keyword()?,
            ("sym", 2) => self.named("")?,
            ("record", 2) => {
                self.value()?;
                self.value()?
            }
            (
                "inst" | "atom" | "date-time" | "instant" | "byte" | "uri" | "regex" | "throwable",
                1,
            ) => self.value()?,
            ("uuid", 1) => uuid(&self.bytes_of("the bytes of an identifier")?),
            ("bigint", 1) => big(&self.bytes_of("the bytes of a number")?),
            ("int[]" | "long[]" | "float[]" | "double[]" | "boolean[]" | "Object[]", _) => {
                self.array()?
            }
            _ => {
                let mut fields = Vec::new();
                for _ in 0..n {
                    fields.push(self.value()?);
                }
                let tag = Tree::Name(Cow::Owned(format!("#{}", escape(tag))));
                Tree::Map([(tag, Tree::List(fields.into()))].into())
            }
        })
    }

    /// An array: its length, then its elements.
    pub(super) fn array(&mut self) -> Result<Tree<'static>> {
        let n = self.length()?;
        let mut elements = Vec::with_capacity(n.min(RESERVED));
        for _ in 0..n {
            elements.push(self.value()?);
        }
        Ok(Tree::List(elements.into()))
    }

    fn bytes_of(&mut self, expected: &'static str) -> Result<Vec<u8>> {
        match self.code()? {
            code @ 0xD0..=0xD9 => self.raw_bytes(code),
            _ => self.fail_before(expected),
        }
    }

    /// A list that may be nil.
    fn sequence(&mut self) -> Result<Vec<Tree<'static>>> {
        let code = self.code()?;
        if let 0xE4..=0xEE = code {
            return self.list(code);
        }
        // Whatever else it is counts as being within this value.
        self.at -= 1;
        match self.value()? {
            Tree::List(elements) => Ok(elements.into_vec()),
            Tree::Nil => Ok(Vec::new()),
            _ => self.fail_before("a list"),
        }
    }

    /// A keyword. Nearly all are in nothing, and their names in the cache.
    fn keyword(&mut self) -> Result<Tree<'static>> {
        let place = match self.bytes[self.at..] {
            [0xF7, code @ 0x80..=0x9F, ..] => usize::from(code - 0x80),
            _ => usize::MAX,
        };
        if let Some(keyword) = self
            .cache
            .get(place)
            .and_then(|cached| cached.keyword.clone())
        {
            self.at += 2;
            return Ok(keyword);
        }
        let keyword = self.named(":")?;
        if let Some(cached) = self.cache.get_mut(place) {
            cached.keyword = Some(keyword.clone());
        }
        Ok(keyword)
    }

    /// A text, or nothing.
    fn word(&mut self) -> Result<Option<String>> {
        let begin = self.at;
        match self.value()? {
            Tree::Nil => Ok(None),
            Tree::Name(name) if name.starts_with('"') => {
                Ok(Some(crate::elle::content_of(&name).into_owned()))
            }
            _ => {
                self.at = begin;
                self.fail("a text")
            }
        }
    }

    /// A keyword or a symbol: what it is in, and its name.
    fn named(&mut self, sign: &str) -> Result<Tree<'static>> {
        let (space, name) = (self.word()?, self.word()?.unwrap_or_default());
        let name = match space {
            Some(space) => format!("{sign}{space}/{name}"),
            None => format!("{sign}{name}"),
        };
        Ok(Tree::Name(match WORDS.iter().find(|word| **word == name) {
            Some(word) => Cow::Borrowed(word),
            None if name.chars().any(char::is_control) => Cow::Owned(escape(&name)),
            None => Cow::Owned(name),
        }))
    }
}
