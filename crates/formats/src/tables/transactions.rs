//! Rows that are operations of transactions.

use super::{FORMAT, refusal};
use crate::elle::{RowOperation, log_of_rows};
use crate::operations::{Fields, Operations, Stage, Time, Tree, shown, stage_of};
use crate::{Input, ReadError};
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, History};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Rows, by transaction.
#[derive(Default)]
pub(super) struct Rows<'a> {
    transactions: Vec<Transaction<'a>>,
    /// Places of transactions by session and name.
    places: FxHashMap<(String, String), usize>,
}

struct Transaction<'a> {
    line: u32,
    session: Tree<'a>,
    start: Option<Time>,
    end: Option<Time>,
    /// What a row says, and the line of that row.
    outcome: Option<(Stage, Tree<'a>, u32)>,
    operations: Vec<RowOperation<'a>>,
    /// Other columns.
    others: Fields<'a>,
}

impl<'a> Rows<'a> {
    /// Takes a row.
    pub(super) fn take(
        &mut self,
        operations: &Operations<'a>,
        mut fields: Fields<'a>,
        line: u32,
    ) -> Result<(), String> {
        let mut field = |what| operations.remove(&mut fields, what);
        let needs = |what: &str| format!("this row names no {what}");
        let session = field("process").ok_or_else(|| needs("session"))?;
        let name = field("txn").ok_or_else(|| needs("transaction"))?;
        let word = field("f").ok_or_else(|| needs("operation"))?;
        let key = field("key").ok_or_else(|| needs("key"))?;
        let value = field("value").unwrap_or(Tree::Nil);
        let [start, end] = ["start", "end"].map(|what| Time::of(field(what)));
        let (start, end) = (start?, end?);
        let outcome = field("outcome");
        let word = match word.word().map(|word| operations.known_word(word)) {
            Some("read") => "r",
            Some("write") => "w",
            Some("append") => "append",
            _ => {
                let word = shown(&word);
                return Err(format!(
                    "expected the operation r, w or append, found `{word}`; `--word {word}=read` says what it means"
                ));
            }
        };
        if word != "r" && value.is_nil() {
            return Err("a write needs a value, and this cell is empty".to_owned());
        }
        if let Tree::Set(_) | Tree::Map(_) = value {
            return Err(format!(
                "expected a value or a list, found `{}`",
                shown(&value)
            ));
        }
        let place = (session.text().into_owned(), name.text().into_owned());
        let next = self.transactions.len();
        let place = *self.places.entry(place).or_insert(next);
        if place == next {
            self.transactions.push(Transaction {
                line,
                session,
                start,
                end,
                outcome: None,
                operations: Vec::new(),
                others: std::mem::take(&mut fields),
            });
        }
        let transaction = &mut self.transactions[place];
        // A transaction has failed if any of its operations has.
        let is_error = |(name, value): &(Tree<'_>, Tree<'_>)| {
            name.word() == Some("error") && !value.is_nil() && value.word() != Some("")
        };
        if let Some(at) = fields.iter().position(is_error) {
            transaction.others.insert(0, fields.swap_remove(at));
        }
        transaction.start = [transaction.start, start].into_iter().flatten().min();
        transaction.end = transaction.end.max(end);
        transaction.says(outcome, line)?;
        transaction.operations.push(RowOperation {
            word,
            key,
            value,
            line,
        });
        Ok(())
    }

    /// The history of all rows.
    pub(super) fn history(
        self,
        mut operations: Operations<'a>,
        input: &Input<'_>,
        control: &Control,
    ) -> Result<History, ReadError> {
        control
            .check()
            .map_err(|interrupt| ReadError::whole(FORMAT, interrupt))?;
        let name = |name| Tree::Name(Cow::Borrowed(name));
        let mut rows = Vec::with_capacity(self.transactions.len());
        for transaction in self.transactions {
            let mut fields = transaction.others;
            fields.push((name("process"), transaction.session));
            fields.push((name("f"), name("txn")));
            fields.push((name("value"), Tree::Number(rows.len() as u64)));
            let times = [("start", transaction.start), ("end", transaction.end)];
            for (what, time) in times {
                fields.extend(time.map(|time| (name(what), time.tree())));
            }
            let outcome = transaction.outcome;
            fields.extend(outcome.map(|(_, outcome, _)| (name("outcome"), outcome)));
            let taken = operations.take_call(fields, transaction.line);
            taken.map_err(|message| refusal((transaction.line, message)))?;
            rows.push(transaction.operations);
        }
        operations.settle().map_err(refusal)?;
        operations.require_known_fields().map_err(refusal)?;
        operations.note_unread_fields();
        let builder = Builder::new(input.origin(FORMAT));
        crate::elle::history(log_of_rows(operations, &rows), builder, FORMAT)
    }
}

impl<'a> Transaction<'a> {
    /// Notes what a row says about the outcome.
    fn says(&mut self, outcome: Option<Tree<'a>>, line: u32) -> Result<(), String> {
        let Some(outcome) = outcome else {
            return Ok(());
        };
        let stage = stage_of(&outcome)?;
        match &self.outcome {
            Some((known, said, line)) if *known != stage => Err(format!(
                "this transaction is `{}` here but `{}` on line {line}",
                shown(&outcome),
                shown(said)
            )),
            Some(_) => Ok(()),
            None => {
                self.outcome = Some((stage, outcome, line));
                Ok(())
            }
        }
    }
}
