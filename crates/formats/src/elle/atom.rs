//! Keys and values while a file is read.

use super::scan::{Token, content_of, is_json_number, quoted};
use crate::name;
use crate::operations::Tree;
use isoscope_model::history::{Builder, KeyId, Value};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// What a token is called in a history.
///
/// Names are lossless and familiar: keywords keep their colon, EDN strings their quotes (there `"x"`, `x` and `:x`
/// are three keys). JSON strings have no quotes, except those that would look like a number or like a quoted
/// string.
pub(crate) enum Called<'a> {
    Nothing,
    Number(u64),
    Name(Cow<'a, str>),
}

impl<'a> Called<'a> {
    #[inline]
    pub(crate) fn by<const JSON: bool>(token: Token<'a>) -> Called<'a> {
        let is_special = |byte: u8| byte == b'\\' || byte < b' ';
        Called::Name(match token {
            Token::Nil => return Called::Nothing,
            Token::Number(number) => return Called::Number(number),
            Token::Keyword(name) | Token::Name(name) => Cow::Borrowed(name),
            Token::Text(text) if JSON => match content_of(text) {
                content if is_json_number(&content) || is_wrapped(&content) => {
                    Cow::Owned(format!("\"{content}\""))
                }
                content => content,
            },
            Token::Text(text) if text.bytes().any(is_special) => {
                Cow::Owned(quoted(&content_of(text)))
            }
            Token::Text(text) => Cow::Borrowed(text),
        })
    }
}

/// A key or a value in eight bytes: a number, or a place among the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Atom(u64);

impl Atom {
    /// Nothing.
    pub(crate) const NIL: Atom = Atom(u64::MAX);
    /// The bit of names.
    const NAMED: u64 = 1 << 63;

    /// A number below 2⁶³.
    #[inline]
    pub(super) fn of_number(number: u64) -> Atom {
        debug_assert!(number < Atom::NAMED);
        Atom(number)
    }

    /// Its eight bytes, for tables.
    pub(super) fn number(self) -> u64 {
        self.0
    }

    fn name(self) -> Option<usize> {
        (self.0 & Atom::NAMED != 0).then_some((self.0 & !Atom::NAMED) as usize)
    }

    /// The atom elsewhere, where each name has one of `names`.
    pub(super) fn among(self, names: &[Atom]) -> Atom {
        match self.name() {
            Some(place) if self != Atom::NIL => names[place],
            _ => self,
        }
    }
}

/// The names that occur, each once.
#[derive(Default)]
pub(crate) struct Atoms<'a> {
    names: Vec<Cow<'a, str>>,
    places: FxHashMap<Cow<'a, str>, u32>,
}

impl<'a> Atoms<'a> {
    /// The atom that a token represents.
    #[inline]
    pub(super) fn atom<const JSON: bool>(&mut self, token: Token<'a>) -> Atom {
        match Called::by::<JSON>(token) {
            Called::Nothing => Atom::NIL,
            Called::Number(number) if number < Atom::NAMED => Atom(number),
            Called::Number(number) => self.named(Cow::Owned(number.to_string())),
            Called::Name(name) => self.named(name),
        }
    }

    /// Whether this is a vector that is itself a key or value.
    pub(super) fn is_vector(&self, atom: Atom) -> bool {
        self.begins_with(atom, "[")
    }

    /// Whether this is a set that is itself a key or value.
    pub(super) fn is_set(&self, atom: Atom) -> bool {
        self.begins_with(atom, "#{")
    }

    fn begins_with(&self, atom: Atom, begin: &str) -> bool {
        let name = atom.name().filter(|_| atom != Atom::NIL);
        name.is_some_and(|place| self.names[place].starts_with(begin))
    }

    /// The vector of these atoms.
    pub(super) fn vector(&mut self, atoms: &[Atom]) -> Atom {
        let texts: Vec<String> = atoms.iter().map(|&atom| self.text(atom)).collect();
        self.named(Cow::Owned(format!("[{}]", texts.join(" "))))
    }

    /// The atom of a value of an operation.
    pub(crate) fn of_tree(&mut self, tree: &Tree<'_>) -> Atom {
        match tree {
            Tree::Nil => Atom::NIL,
            Tree::Number(number) if *number < Atom::NAMED => Atom(*number),
            tree => {
                let text = tree.text();
                match self.places.get(&*text) {
                    Some(place) => Atom(Atom::NAMED | u64::from(*place)),
                    None => self.named(Cow::Owned(text.into_owned())),
                }
            }
        }
    }

    /// The text of a key or a value.
    pub(crate) fn text(&self, atom: Atom) -> String {
        match atom.name() {
            _ if atom == Atom::NIL => "nil".to_owned(),
            Some(place) => self.names[place].to_string(),
            None => atom.0.to_string(),
        }
    }

    /// Adds names, and says which atom each of them is here.
    pub(super) fn append(&mut self, other: Atoms<'a>) -> Vec<Atom> {
        let names = other.names.into_iter();
        names.map(|name| self.named(name)).collect()
    }

    fn named(&mut self, name: Cow<'a, str>) -> Atom {
        let place = match self.places.get(&*name) {
            Some(&place) => place,
            None => {
                let place = self.names.len() as u32;
                self.names.push(name.clone());
                self.places.insert(name, place);
                place
            }
        };
        Atom(Atom::NAMED | u64::from(place))
    }

    /// The key in a history.
    pub(crate) fn key(&self, builder: &mut Builder, atom: Atom) -> KeyId {
        match atom.name() {
            _ if atom == Atom::NIL => builder.key_name("nil"),
            Some(place) => name::key(builder, &self.names[place]),
            None => builder.key_number(atom.0),
        }
    }

    /// The value in a history; valid until the next value that is not a number.
    #[inline]
    pub(crate) fn value(&self, builder: &mut Builder, atom: Atom) -> Value {
        match atom.name() {
            _ if atom == Atom::NIL => Value::INITIAL,
            Some(place) => name::value(builder, &self.names[place]),
            None => builder.value_number(atom.0),
        }
    }

    /// Makes the names among these values of the history, if they are not yet.
    pub(crate) fn intern_names(&self, builder: &mut Builder, atoms: &[Atom]) {
        for &atom in atoms.iter().filter(|atom| atom.name().is_some()) {
            self.value(builder, atom);
        }
    }
}

/// Whether a text has quotes around it.
pub(super) fn is_wrapped(text: &str) -> bool {
    text.len() > 1 && text.starts_with('"') && text.ends_with('"')
}
