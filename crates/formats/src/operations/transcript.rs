//! Copies of logs in another notation, with all of their fields.
//!
//! The entries are copied as a syntax gives them, before anything says what they mean: what is about no items, and fields that
//! mean nothing to the verdict, can be copied too. Notations differ in what they tell apart (JSON has no keywords and no sets), so
//! what a copy means has to be compared with the original.

use super::{Fields, Tree};
use crate::elle::token;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A notation of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    Edn,
    /// An array of objects, one a line.
    Json,
    /// A row for each entry, with a first row of names.
    Table,
}

impl Notation {
    /// The format that reads it.
    pub(crate) fn format(self) -> &'static str {
        match self {
            Notation::Edn => "elle-edn",
            Notation::Json => "elle-json",
            Notation::Table => "csv",
        }
    }
}

/// An entry: names of fields without colons and quotes, and values.
type Entry = Vec<(String, Tree<'static>)>;

/// The entries of a log, each with its line.
#[derive(Debug, Default)]
pub(crate) struct Transcript(Mutex<Vec<(u32, Entry)>>);

impl Transcript {
    /// Begins from the first entry, perhaps again.
    pub(crate) fn begin(&self) {
        self.entries().clear();
    }

    fn entries(&self) -> MutexGuard<'_, Vec<(u32, Entry)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take(&self, fields: &Fields<'_>, line: u32) {
        let owned = |(name, value): &(Tree<'_>, Tree<'_>)| {
            let text = name.text();
            let name = name.word().unwrap_or(&text).to_owned();
            let value = match value.word().filter(|_| is_keyword(&name)) {
                Some(word) => Tree::Name(word.to_owned().into()),
                None => value.clone().into_owned(),
            };
            (name, value)
        };
        self.entries()
            .push((line, fields.iter().map(owned).collect()));
    }

    /// The log in a notation; none if there are no entries.
    pub(crate) fn written(self, notation: Notation) -> Option<String> {
        let mut entries = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        // They may have been read by several threads.
        entries.sort_by_key(|(line, _)| *line);
        let entries: Vec<Entry> = entries.into_iter().map(|(_, entry)| entry).collect();
        (!entries.is_empty()).then(|| written(&entries, notation))
    }
}

/// Whether a field says what was done, or how it ended: a keyword in EDN, whatever it was.
fn is_keyword(name: &str) -> bool {
    matches!(name, "type" | "f")
}

/// Entries in a notation.
fn written(entries: &[Entry], notation: Notation) -> String {
    let lines = |entry: fn(&Entry) -> String| entries.iter().map(entry).collect::<Vec<_>>();
    match notation {
        Notation::Edn => lines(edn_entry).join("\n") + "\n",
        Notation::Json => format!("[{}]\n", lines(json_entry).join(",\n")),
        Notation::Table => table(entries),
    }
}

fn edn_entry(entry: &Entry) -> String {
    let field = |(name, value): &(String, Tree<'_>)| match value.word() {
        Some(word) if is_keyword(name) => format!(":{name} :{word}"),
        _ => format!(":{name} {}", edn(value)),
    };
    format!("{{{}}}", joined(entry, ", ", field))
}

fn json_entry(entry: &Entry) -> String {
    let field =
        |(name, value): &(String, Tree<'_>)| format!("{}: {}", json_text(name), json(value));
    format!("{{{}}}", joined(entry, ", ", field))
}

fn joined<T>(all: &[T], between: &str, text: impl Fn(&T) -> String) -> String {
    all.iter().map(text).collect::<Vec<_>>().join(between)
}

/// A value of EDN, whatever notation it was in.
fn edn(tree: &Tree<'_>) -> String {
    match tree {
        Tree::List(trees) => format!("[{}]", joined(trees, " ", edn)),
        Tree::Set(trees) => format!("#{{{}}}", joined(trees, " ", edn)),
        Tree::Pair(both) => format!("[{} {}]", edn(&both.0), edn(&both.1)),
        Tree::Map(fields) => {
            let field =
                |(name, value): &(Tree<'_>, Tree<'_>)| format!("{} {}", edn(name), edn(value));
            format!("{{{}}}", joined(fields, ", ", field))
        }
        Tree::Name(name) => token::<false>(name),
        other => other.text().into_owned(),
    }
}

/// A value of JSON. Sets and pairs become lists.
fn json(tree: &Tree<'_>) -> String {
    match tree {
        Tree::Nil => "null".to_owned(),
        Tree::Number(number) => number.to_string(),
        Tree::List(trees) | Tree::Set(trees) => format!("[{}]", joined(trees, ", ", json)),
        Tree::Pair(both) => format!("[{}, {}]", json(&both.0), json(&both.1)),
        Tree::Map(fields) => {
            let name = |name: &Tree<'_>| json_text(name.word().unwrap_or(&name.text()));
            let field =
                |(key, value): &(Tree<'_>, Tree<'_>)| format!("{}: {}", name(key), json(value));
            format!("{{{}}}", joined(fields, ", ", field))
        }
        Tree::Name(name) => token::<true>(name),
    }
}

fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A table with a column for each field of any entry, in the order in which they first occur.
fn table(entries: &[Entry]) -> String {
    let mut names: Vec<&String> = Vec::new();
    let mut known = BTreeSet::new();
    for (name, _) in entries.iter().flatten() {
        if known.insert(name) {
            names.push(name);
        }
    }
    let text = |value: &Tree<'_>| match value {
        Tree::Nil => String::new(),
        Tree::Name(name) => cell(name),
        value => cell(&edn(value)),
    };
    let row = |entry: &Entry| {
        let of = |name: &&String| {
            let found = entry.iter().find(|(other, _)| other == *name);
            found.map_or_else(String::new, |(_, value)| text(value))
        };
        joined(&names, ",", of)
    };
    let header = joined(&names, ",", |name| cell(name));
    format!("{header}\n{}\n", joined(entries, "\n", row))
}

/// A cell, in quotes where it needs them.
fn cell(text: &str) -> String {
    let needs_quotes = text.contains(['"', ',', '\t', ';', '\n', '\r']) || text.starts_with(' ');
    match needs_quotes {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
