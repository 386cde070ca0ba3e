//! Scans and predicates in text.

use super::read::Parser;
use crate::error::ReadError;
use crate::name;
use isoscope_model::history::{Asked, Draft, KeyId, Predicate, Returned, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Predicates inside predicates, or side by side, at most: a text may hold anything.
const MOST_NESTED: usize = 64;

impl Parser<'_> {
    /// `predicate NAME: x 1, y 2`, whose first word has been taken.
    pub(super) fn predicate_line(&mut self) -> Result<(), ReadError> {
        let begin = self.at;
        let name = self.name("the name of a predicate")?.text.into_owned();
        if self.predicates.contains_key(&name) {
            self.at = begin;
            return self.fail("a predicate that no line above defines");
        }
        self.symbol(b':', "`:` after the name of the predicate")?;
        let mut rows = BTreeSet::new();
        while !self.at_end_of_statement() {
            if !rows.is_empty() {
                self.symbol(b',', "`,` or the end of the line")?;
            }
            let key = self.name("a key")?.name().into();
            rows.insert((key, self.name("a value")?.name().into()));
        }
        self.predicates.insert(name, Arc::new(rows));
        Ok(())
    }

    /// A scan, whose letter has been taken.
    pub(super) fn scan(&mut self, draft: Draft, line: u32) -> Result<(), ReadError> {
        let mut table = None;
        if !matches!(self.peek(), Some(b'(' | b'{')) && !self.is_word_next("keys") {
            table = Some(self.name("`(`, `{`, `keys` or the name of a table")?.text);
        }
        let mut predicate = Arc::new(Predicate::Every);
        if self.symbol_if(b'(') {
            self.parts = 0;
            predicate = Arc::new(self.predicate(0)?);
            self.symbol(b')', "`and` or `)`")?;
        }
        let returned = match self.peek() {
            Some(b'{') => Returned::Rows,
            _ if self.is_word_next("keys") => {
                self.name("`keys`")?;
                Returned::Keys
            }
            _ => return self.fail("`{` or `keys`"),
        };
        let table: Option<Box<str>> = table.map(|table| table.into());
        let rows = self.rows(table.as_deref(), returned)?;
        let asked = Asked {
            table,
            predicate,
            returned,
        };
        self.builder.scan(draft, asked, &rows, line);
        Ok(())
    }

    fn is_word_next(&self, word: &str) -> bool {
        let rest = &self.bytes[self.at..];
        rest.starts_with(word.as_bytes())
            && !rest
                .get(word.len())
                .is_some_and(|&next| super::is_bare(next))
    }

    /// The rows that a scan returned, in braces.
    fn rows(
        &mut self,
        table: Option<&str>,
        returned: Returned,
    ) -> Result<Vec<(KeyId, Value)>, ReadError> {
        self.symbol(b'{', "`{`")?;
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        while !self.symbol_if(b'}') {
            if !keys.is_empty() {
                self.symbol(b',', "`,` or `}`")?;
            }
            let row = self.name("a key or `}`")?.name();
            keys.push(match table {
                Some(table) => name::key(&mut self.builder, &format!("{table}/{row}")),
                None => name::key(&mut self.builder, &row),
            });
            if returned == Returned::Rows {
                values.push(self.name("a value")?.name());
            }
        }
        let values = match returned {
            Returned::Rows => name::values(&mut self.builder, &values),
            Returned::Keys => vec![Value::LISTED; keys.len()],
        };
        Ok(keys.into_iter().zip(values).collect())
    }

    /// `p and p and …`.
    fn predicate(&mut self, depth: usize) -> Result<Predicate, ReadError> {
        let mut all = self.predicate_part(depth)?;
        while self.is_word_next("and") {
            self.name("`and`")?;
            self.parts += 1;
            if self.parts > MOST_NESTED {
                return self.fail("fewer parts of a predicate");
            }
            all = Predicate::And(Arc::new(all), Arc::new(self.predicate_part(depth)?));
        }
        Ok(all)
    }

    fn predicate_part(&mut self, depth: usize) -> Result<Predicate, ReadError> {
        if depth > MOST_NESTED {
            return self.fail("fewer brackets in a predicate");
        }
        if self.symbol_if(b'(') {
            let inner = self.predicate(depth + 1)?;
            self.symbol(b')', "`and` or `)`")?;
            return Ok(inner);
        }
        let begin = self.at;
        let word = self.name("a predicate")?;
        if word.is_word("not") {
            let inner = self.predicate_part(depth + 1)?;
            return Ok(Predicate::Not(Arc::new(inner)));
        }
        match &*word.text {
            "true" if !word.quoted => Ok(Predicate::Every),
            "v" if !word.quoted => self.of_value(),
            "key" if !word.quoted => self.of_key(),
            name => match self.predicates.get(name) {
                Some(rows) => Ok(Predicate::Named(name.into(), rows.clone())),
                None => {
                    self.at = begin;
                    self.fail("`v`, `key`, `not` or a predicate that a line above defines")
                }
            },
        }
    }

    /// What follows `v`.
    fn of_value(&mut self) -> Result<Predicate, ReadError> {
        let begin = self.at;
        let sign = self.name("`=`, `<` or `mod`")?;
        match &*sign.text {
            "=" => Ok(Predicate::Equals(self.name("a value")?.name().into())),
            "<" => Ok(Predicate::Less(self.integer()?)),
            "mod" => {
                let (at, divisor) = (self.at, self.integer()?);
                if !self.name("`=`")?.is_word("=") {
                    self.at = begin;
                    return self.fail("`mod 3 = 1`");
                }
                let remainder = self.integer()?;
                let pair = u32::try_from(divisor)
                    .ok()
                    .zip(u32::try_from(remainder).ok());
                match pair.filter(|(divisor, remainder)| remainder < divisor) {
                    Some((divisor, remainder)) => Ok(Predicate::Remainder { divisor, remainder }),
                    None => {
                        self.at = at;
                        self.fail("a remainder from 0 and below the divisor")
                    }
                }
            }
            _ => {
                self.at = begin;
                self.fail("`=`, `<` or `mod`")
            }
        }
    }

    fn integer(&mut self) -> Result<i64, ReadError> {
        let begin = self.at;
        match self.name("an integer")?.text.parse() {
            Ok(number) => Ok(number),
            Err(_) => {
                self.at = begin;
                self.fail("an integer of 64 bits")
            }
        }
    }

    /// What follows `key`: `in x y`, `a..b` or `"a" .. "b"`, where either end may be missing.
    fn of_key(&mut self) -> Result<Predicate, ReadError> {
        if self.is_word_next("in") {
            self.name("`in`")?;
            let mut keys = BTreeSet::new();
            while self.peek() != Some(b')') && !self.is_word_next("and") {
                keys.insert(self.name("a key, `and` or `)`")?.name().into());
            }
            return Ok(Predicate::KeyIn(keys));
        }
        let begin = self.at;
        let is_end = |parser: &Self| parser.peek() == Some(b')') || parser.is_word_next("and");
        let (first, mut last): (Option<Box<str>>, Option<Box<str>>);
        let token = self.name("`in` or a range like `a..b`")?;
        let dots = match token.quoted {
            true => None,
            false => token.text.split_once(".."),
        };
        match dots {
            Some((before, after)) => {
                first = (!before.is_empty()).then(|| before.into());
                last = (!after.is_empty()).then(|| after.into());
            }
            None => {
                first = Some(token.name().into());
                let dots = self.name("`..`")?;
                match dots.text.strip_prefix("..").filter(|_| !dots.quoted) {
                    Some(after) => last = (!after.is_empty()).then(|| after.into()),
                    None => {
                        self.at = begin;
                        return self.fail("a range like `a..b`");
                    }
                }
            }
        }
        if last.is_none() && !is_end(self) {
            last = Some(self.name("the last key")?.name().into());
        }
        Ok(Predicate::Between(first, last))
    }
}
