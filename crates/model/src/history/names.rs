//! Names of sessions, transactions, keys and values, kept once.

use super::visible::visible;
use std::borrow::Cow;

/// In the table of transaction names: this transaction has no number of its own.
pub(super) const UNNUMBERED: u64 = u64::MAX;

/// The displayed name of the transaction at `position` (from 0) of a session if the file has no name for it: `a1`, and
/// `S4#1` or `node2#1`, which do not look like numbers.
pub fn positional_name(session: &str, position: usize) -> String {
    let number = position + 1;
    let mut letters = session.chars();
    match letters.next() {
        Some(letter) if letters.next().is_none() && letter.is_alphabetic() => {
            format!("{session}{number}")
        }
        _ if session.parse::<i128>().is_ok() => format!("S{session}#{number}"),
        _ => format!("{session}#{number}"),
    }
}

/// As `positional_name`, for data, as reports have always had it: `a1`, `4.1`.
pub(super) fn positional_id(session: &str, position: usize) -> String {
    if session.ends_with(|c: char| c.is_ascii_digit()) {
        format!("{session}.{}", position + 1)
    } else {
        format!("{session}{}", position + 1)
    }
}

/// A name, [`visible`]; an empty one as a pair of quotes.
pub(super) fn visible_name(name: &str) -> String {
    if name.is_empty() {
        "\"\"".to_owned()
    } else {
        visible(name)
    }
}

/// A table of names by dense id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// `n` items without names of their own: each is called by its number.
    Implicit(usize),
    /// Numbers, as most formats use.
    Numbers(Vec<u64>),
    /// Anything else.
    Strings(Vec<Box<str>>),
}

impl Names {
    /// Number of names.
    pub fn len(&self) -> usize {
        match self {
            Names::Implicit(n) => *n,
            Names::Numbers(numbers) => numbers.len(),
            Names::Strings(strings) => strings.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name at `index`.
    pub fn get(&self, index: usize) -> String {
        match self {
            Names::Implicit(_) => index.to_string(),
            Names::Numbers(numbers) => numbers[index].to_string(),
            Names::Strings(strings) => strings[index].to_string(),
        }
    }

    /// The number at `index`, if the names are numbers.
    pub fn number(&self, index: usize) -> Option<u64> {
        match self {
            Names::Implicit(_) => Some(index as u64),
            Names::Numbers(numbers) => Some(numbers[index]),
            Names::Strings(_) => None,
        }
    }

    /// The name at `index`, borrowed if possible.
    pub fn text(&self, index: usize) -> Cow<'_, str> {
        match self {
            Names::Strings(strings) => Cow::Borrowed(&strings[index]),
            _ => Cow::Owned(self.get(index)),
        }
    }

    /// The textual names.
    pub(super) fn strings(&self) -> &[Box<str>] {
        match self {
            Names::Strings(strings) => strings,
            _ => &[],
        }
    }

    /// The name at `index`, [`visible`].
    pub fn visible(&self, index: usize) -> String {
        match self {
            Names::Strings(strings) => visible_name(&strings[index]),
            _ => self.get(index),
        }
    }

    /// The names at `indices`, in that order.
    pub fn select(&self, indices: impl Iterator<Item = usize>) -> Names {
        match self {
            Names::Implicit(_) => Names::Strings(indices.map(|i| i.to_string().into()).collect()),
            Names::Numbers(numbers) => Names::Numbers(indices.map(|i| numbers[i]).collect()),
            Names::Strings(strings) => {
                Names::Strings(indices.map(|i| strings[i].clone()).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::visible_name;

    #[test]
    fn an_empty_name_can_be_seen() {
        assert_eq!([visible_name(""), visible_name("x")], ["\"\"", "x"]);
    }
}
