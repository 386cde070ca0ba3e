//! Values of operations, whatever they are about, as small trees.

use crate::elle::{Called, Token};
use std::borrow::Cow;

/// A value as a log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree<'a> {
    /// `nil`, `null`, an empty cell.
    Nil,
    /// An integer from 0 on.
    Number(u64),
    /// Anything else that is no collection, as keys and values are named: `:x`, `"x"`, `-3`, `true`.
    Name(Cow<'a, str>),
    /// A vector or a list.
    List(Box<[Tree<'a>]>),
    /// A set, in the order of the file.
    Set(Box<[Tree<'a>]>),
    /// A map, in the order of the file.
    Map(Box<[(Tree<'a>, Tree<'a>)]>),
    /// A key and the value that belongs to it, where a syntax tells such pairs from lists of two.
    Pair(Box<(Tree<'a>, Tree<'a>)>),
}

impl<'a> Tree<'a> {
    /// What a token of EDN or JSON is.
    pub(crate) fn of_token<const JSON: bool>(token: Token<'a>) -> Tree<'a> {
        match Called::by::<JSON>(token) {
            Called::Nothing => Tree::Nil,
            Called::Number(number) => Tree::Number(number),
            Called::Name(name) => Tree::Name(name),
        }
    }

    /// The tree without what it borrows.
    pub(crate) fn into_owned(self) -> Tree<'static> {
        let all = |trees: Box<[Tree<'a>]>| trees.into_iter().map(Tree::into_owned).collect();
        let pair = |(key, value): (Tree<'a>, Tree<'a>)| (key.into_owned(), value.into_owned());
        match self {
            Tree::Nil => Tree::Nil,
            Tree::Number(number) => Tree::Number(number),
            Tree::Name(name) => Tree::Name(Cow::Owned(name.into_owned())),
            Tree::List(trees) => Tree::List(all(trees)),
            Tree::Set(trees) => Tree::Set(all(trees)),
            Tree::Map(fields) => Tree::Map(fields.into_iter().map(pair).collect()),
            Tree::Pair(both) => Tree::Pair(Box::new(pair(*both))),
        }
    }

    pub(crate) fn is_nil(&self) -> bool {
        *self == Tree::Nil
    }

    /// Whether it is neither nothing nor a collection.
    pub(crate) fn is_single(&self) -> bool {
        matches!(self, Tree::Number(_) | Tree::Name(_))
    }

    /// A word: a keyword without its colon, a string or a symbol without quotes.
    pub(crate) fn word(&self) -> Option<&str> {
        let Tree::Name(name) = self else { return None };
        let inside = name.strip_prefix(':').or_else(|| {
            name.strip_prefix('"')
                .and_then(|name| name.strip_suffix('"'))
        });
        Some(inside.unwrap_or(name))
    }

    /// An integer of 64 bits.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Tree::Number(number) => i64::try_from(*number).ok(),
            Tree::Name(name) if name.starts_with('-') => name.parse().ok(),
            _ => None,
        }
    }

    /// The elements of a vector, a list or a set.
    pub(crate) fn elements(&self) -> Option<&[Tree<'a>]> {
        match self {
            Tree::List(trees) | Tree::Set(trees) => Some(trees),
            _ => None,
        }
    }

    /// The fields of a map.
    pub(crate) fn fields(&self) -> Option<&[(Tree<'a>, Tree<'a>)]> {
        match self {
            Tree::Map(fields) => Some(fields),
            _ => None,
        }
    }

    /// The value of a field of a map.
    pub(crate) fn field(&self, name: &str) -> Option<&Tree<'a>> {
        let named = |(key, _): &&(Tree<'a>, Tree<'a>)| key.word() == Some(name);
        self.fields()?.iter().find(named).map(|(_, value)| value)
    }

    /// A key and what follows it: of a pair, or of a list of two or more.
    pub(crate) fn pair_or_more(&self) -> Option<(&Tree<'a>, &[Tree<'a>])> {
        match self {
            Tree::Pair(both) => Some((&both.0, std::slice::from_ref(&both.1))),
            Tree::List(trees) if trees.len() > 1 => trees.split_first(),
            _ => None,
        }
    }

    /// Its text in one form for all spellings: vectors for lists and pairs, the elements of sets and maps in order, one
    /// blank between elements.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        let join = |begin: &str, mut texts: Vec<String>, end: &str| {
            if end == "}" {
                texts.sort_unstable();
            }
            Cow::Owned(format!("{begin}{}{end}", texts.join(" ")))
        };
        let all = |trees: &[Tree<'_>]| trees.iter().map(|tree| tree.text().into_owned()).collect();
        let both = |(key, value): &(Tree<'_>, Tree<'_>)| format!("{} {}", key.text(), value.text());
        match self {
            Tree::Nil => Cow::Borrowed("nil"),
            Tree::Number(number) => Cow::Owned(number.to_string()),
            Tree::Name(name) => Cow::Borrowed(name),
            Tree::List(trees) => join("[", all(trees), "]"),
            Tree::Set(trees) => join("#{", all(trees), "}"),
            Tree::Map(fields) => join("{", fields.iter().map(both).collect(), "}"),
            Tree::Pair(pair) => join("[", vec![both(pair)], "]"),
        }
    }

    /// As readers see it: fields of maps are between commas, and names have no colons.
    pub(crate) fn in_words(&self) -> String {
        let field = |(name, value): &(Tree<'_>, Tree<'_>)| {
            let name = name.text();
            format!("{} {}", name.trim_start_matches(':'), value.in_words())
        };
        let all = |trees: &[Tree<'_>]| {
            let texts: Vec<String> = trees.iter().map(Tree::in_words).collect();
            texts.join(" ")
        };
        match self {
            Tree::Map(fields) => {
                let fields: Vec<String> = fields.iter().map(field).collect();
                format!("{{{}}}", fields.join(", "))
            }
            Tree::List(trees) => format!("[{}]", all(trees)),
            Tree::Set(trees) => format!("{{{}}}", all(trees)),
            other => other.text().trim_start_matches(':').to_owned(),
        }
    }
}
