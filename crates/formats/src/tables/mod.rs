//! Tables of operations, with commas, tabs or semicolons between the cells, and operations one a line in JSON (`lines`).
//!
//! ```text
//! session,txn,op,key,value,start,end,outcome        rows of one session and transaction are one transaction
//! a,t1,r,x,,10,30,ok
//! a,t1,w,y,1,10,30,ok
//!
//! process,type,f,key,value,time                     each row is an event; if all have times, in any order
//! 0,invoke,write,x,1,10
//!
//! client,op,key,value,start,end                     each row is a whole operation
//! c1,write,k,1,10,20
//! ```
//!
//! The first row names the columns, in any order; synonyms are those of `operations`, in any case. A column that is not known
//! is a field without meaning for a verdict. Cells are quoted as in RFC 4180, and have no blanks around them. An empty cell, `nil` and
//! `null` are nothing: the absent value. Numbers are numbers, quoted or not. A cell may hold a list, `[1 2]` or `[1, 2]`.
//!
//! Operations are `r` or `read`, `w` or `write`, in transactions also `append`. A transaction lasts from the first `start`
//! to the last `end` of its rows, and has the outcome that some of them name, or has committed.

mod cells;
mod lines;
mod transactions;

pub use lines::FORMAT as LINES;
pub(crate) use lines::finish;

use crate::error::escape;
use crate::operations::{Fields, Operations, Refusal, Tree, meaning_of};
use crate::watch::Watch;
use crate::{Format, Input, Likelihood, Problem, ReadError, workloads};
use cells::Cells;
use isoscope_model::control::Control;
use isoscope_model::history::{History, Vocabulary, cut};
use std::borrow::Cow;
use transactions::Rows;

/// The row of the table.
pub const TABLE: Format = Format {
    name: "csv",
    aliases: &["tsv", "table"],
    extensions: &["csv", "tsv"],
    part_name: None,
    sniff,
    read,
    write: None,
};

fn sniff(input: &Input<'_>) -> Likelihood {
    let Some(line) = input.head_lines().next() else {
        return Likelihood::No;
    };
    let vocabulary = input.vocabulary();
    let separator = separator(line);
    if line.contains(&b'{') || !line.contains(&separator) {
        return Likelihood::No;
    }
    let mut cells = Cells::new("", line, separator);
    let Ok(Some((_, names))) = cells.row() else {
        return Likelihood::No;
    };
    let known: Vec<_> = names
        .iter()
        .filter_map(|name| meaning_of(&column(name, &vocabulary), &vocabulary))
        .collect();
    match (known.contains(&"f"), known.len()) {
        (true, 3..) => Likelihood::Certain,
        (_, 2..) => Likelihood::Perhaps,
        _ => Likelihood::No,
    }
}

/// What is between the cells of the first row.
fn separator(line: &[u8]) -> u8 {
    let separators = [b'\t', b',', b';'];
    let found = separators.into_iter().find(|byte| line.contains(byte));
    found.unwrap_or(b',')
}

/// The name of a column as fields have it.
fn column<'c>(name: &'c str, vocabulary: &Vocabulary) -> Cow<'c, str> {
    let lower = name.to_ascii_lowercase();
    match vocabulary.field(name) == name && meaning_of(&lower, vocabulary).is_some() {
        true => Cow::Owned(lower),
        false => Cow::Borrowed(name),
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = crate::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let header = bytes.trim_ascii_start().split(|&byte| byte == b'\n').next();
    let mut cells = Cells::new(FORMAT, bytes, separator(header.unwrap_or_default()));
    let Some((line, names)) = cells.row()? else {
        return Err(ReadError::whole(FORMAT, Problem::Empty));
    };
    let vocabulary = input.vocabulary();
    let names: Vec<_> = names
        .into_iter()
        .map(|name| match column(&name, &vocabulary) {
            Cow::Owned(lower) => Cow::Owned(lower),
            Cow::Borrowed(_) => name,
        })
        .collect();
    let kind = Kind::of(&names, &vocabulary).map_err(|message| refusal((line, message)))?;
    let (mut operations, watch) = (Operations::of(input), Watch::new(FORMAT, control, 0));
    operations.has_named_clients = true;
    let mut rows = Rows::default();
    while let Some((line, row)) = cells.row()? {
        watch.at(cells.at)?;
        if row.len() != names.len() {
            let message = format!(
                "expected {} cells, as the first row has, found {}",
                names.len(),
                row.len()
            );
            return Err(refusal((line, message)));
        }
        let trees = row.into_iter().map(cells::tree);
        let fields: Fields<'_> = names
            .iter()
            .map(|name| Tree::Name(name.clone()))
            .zip(trees)
            .collect();
        let taken = match kind {
            Kind::Transactions => rows.take(&operations, fields, line),
            Kind::Events => operations.take(fields, line),
            Kind::Calls => operations.take_call(fields, line),
        };
        taken.map_err(|message| refusal((line, message)))?;
    }
    match kind {
        Kind::Transactions => rows.history(operations, input, control),
        Kind::Events => {
            operations.settle_events().map_err(refusal)?;
            operations.require_known_fields().map_err(refusal)?;
            workloads::history(
                operations,
                input,
                FORMAT,
                crate::elle::suggestions(),
                control,
            )
        }
        Kind::Calls => finish(operations, input, FORMAT, control),
    }
}

const FORMAT: &str = TABLE.name;

fn refusal((line, message): Refusal) -> ReadError {
    ReadError::at(FORMAT, u64::from(line), 0, Problem::Other(message))
}

/// What a row is.
#[derive(Clone, Copy)]
enum Kind {
    /// An operation of a transaction.
    Transactions,
    /// The beginning or the end of an operation.
    Events,
    /// A whole operation.
    Calls,
}

impl Kind {
    /// What the rows under this header are. An error says what is wrong with it.
    fn of(names: &[Cow<'_, str>], vocabulary: &Vocabulary) -> Result<Kind, String> {
        for (place, name) in names.iter().enumerate() {
            if names[..place].contains(name) {
                let name = escape(&cut(name, 40));
                return Err(format!("two columns are called `{name}`"));
            }
        }
        let has = |what: &str| {
            let mut names = names.iter();
            names.any(|name| meaning_of(name, vocabulary) == Some(what))
        };
        let (kind, needed): (Kind, &[(&str, &str)]) = if has("txn") {
            let needed = &[
                ("process", "`session`"),
                ("f", "`op`"),
                ("key", "`key`"),
                ("value", "`value`"),
            ];
            (Kind::Transactions, needed)
        } else if has("type") {
            (Kind::Events, &[("f", "`f`"), ("value", "`value`")])
        } else {
            (Kind::Calls, &[("f", "`op`"), ("value", "`value`")])
        };
        let missing = needed.iter().filter(|(what, _)| !has(what));
        let missing: Vec<&str> = missing.map(|(_, shown)| *shown).collect();
        if missing.is_empty() {
            return Ok(kind);
        }
        let found: Vec<String> = names.iter().take(10).map(|name| cut(name, 40)).collect();
        Err(format!(
            "no column {}; there are `{}`: `--field NAME=key` says what one is about",
            missing.join(", "),
            escape(&found.join("`, `"))
        ))
    }
}

#[cfg(test)]
pub(crate) mod tests;
