//! Keys and values while a file is read.

use super::scan::{Token, content_of, is_json_number, quoted};
use crate::name;
use isoscope_model::history::{Builder, KeyId, Value};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A key or a value in eight bytes: a number, or a place among the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
pub(super) struct Atoms<'a> {
    names: Vec<Cow<'a, str>>,
    places: FxHashMap<Cow<'a, str>, u32>,
}

impl<'a> Atoms<'a> {
    /// The atom that a token represents.
    ///
    /// Names are lossless and familiar: keywords keep their colon, EDN strings their quotes (there `"x"`, `x` and `:x`
    /// are three keys). JSON strings have no quotes, except those that would look like a number or like a quoted
    /// string.
    #[inline]
    pub(super) fn atom<const JSON: bool>(&mut self, token: Token<'a>) -> Atom {
        match token {
            Token::Nil => Atom::NIL,
            Token::Number(number) if number < Atom::NAMED => Atom(number),
            Token::Number(number) => self.named(Cow::Owned(number.to_string())),
            Token::Keyword(name) | Token::Name(name) => self.named(Cow::Borrowed(name)),
            Token::Text(text) if JSON => self.named(match content_of(text) {
                content if is_json_number(&content) || is_wrapped(&content) => {
                    Cow::Owned(format!("\"{content}\""))
                }
                content => content,
            }),
            Token::Text(text) if text.contains('\\') => {
                self.named(Cow::Owned(quoted(&content_of(text))))
            }
            Token::Text(text) => self.named(Cow::Borrowed(text)),
        }
    }

    /// The atom of a collection of EDN in its one form.
    pub(super) fn collection(&mut self, text: String) -> Atom {
        self.named(Cow::Owned(text))
    }

    /// Whether this is a vector that is itself a key or value.
    pub(super) fn is_vector(&self, atom: Atom) -> bool {
        atom != Atom::NIL
            && atom
                .name()
                .is_some_and(|place| self.names[place].starts_with('['))
    }

    /// The vector of these atoms.
    pub(super) fn vector(&mut self, atoms: &[Atom]) -> Atom {
        let text = |atom: &Atom| match atom.name() {
            Some(place) => self.names[place].to_string(),
            None => atom.0.to_string(),
        };
        let texts: Vec<String> = atoms.iter().map(text).collect();
        self.collection(format!("[{}]", texts.join(" ")))
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
    pub(super) fn key(&self, builder: &mut Builder, atom: Atom) -> KeyId {
        match atom.name() {
            Some(place) => name::key(builder, &self.names[place]),
            None => builder.key_number(atom.0),
        }
    }

    /// The value in a history; valid until the next value that is not a number.
    #[inline]
    pub(super) fn value(&self, builder: &mut Builder, atom: Atom) -> Value {
        match atom.name() {
            _ if atom == Atom::NIL => Value::INITIAL,
            Some(place) => name::value(builder, &self.names[place]),
            None => builder.value_number(atom.0),
        }
    }

    /// Makes the names among these values of the history, if they are not yet.
    pub(super) fn intern_names(&self, builder: &mut Builder, atoms: &[Atom]) {
        for &atom in atoms.iter().filter(|atom| atom.name().is_some()) {
            self.value(builder, atom);
        }
    }
}

/// Whether a text has quotes around it.
pub(super) fn is_wrapped(text: &str) -> bool {
    text.len() > 1 && text.starts_with('"') && text.ends_with('"')
}
