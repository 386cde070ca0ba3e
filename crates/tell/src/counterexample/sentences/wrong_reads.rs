//! Why reads contradict by themselves.

use super::edges::capitalized;
use super::speaker::Speaker;
use crate::counterexample::claim::{Claim, claim, earlier_writes, tells_all, writes_of};
use crate::counterexample::sentence::{Sentence, say};
use isoscope_check::checkers::Pattern;
use isoscope_model::history::{OperationId, Outcome, Value};

impl Speaker<'_> {
    /// What reads contradict that are wrong in a way: a clause that begins with a capital letter or a name.
    pub(super) fn wrong_reads(&self, pattern: Pattern, reads: &[OperationId]) -> Sentence {
        let words = self.words;
        let Some(&read) = reads.first() else {
            return capitalized(pattern.row().meaning).into();
        };
        let t = words.transaction(words.history.transaction_of(read));
        let of_list = words.history.lists().read_by(read).is_some();
        match pattern {
            Pattern::IncompatibleOrder if words.parted(reads).is_some() => {
                let (place, [a, b]) = words.parted(reads).unwrap_or_default();
                say!("At place {place} one list has {a}, the other {b}, so neither is an earlier version of the other")
            }
            Pattern::IncompatibleOrder if reads.len() == 1 => "No order of these appends makes this list".into(),
            Pattern::ThinAirRead if words.inexplicable_row(read).is_some() => {
                "A scan returns each row once that matches in the state that it sees, and no other".into()
            }
            Pattern::ThinAirRead => {
                "A transaction may read only the initial value, its own writes and what other committed transactions wrote".into()
            }
            Pattern::AbortedRead => "No transaction may see what was rolled back".into(),
            Pattern::DuplicateElement => {
                "Each append is in a list at most once, so no element is there more often than it was appended".into()
            }
            Pattern::FutureRead if of_list => say!("{t} appended that element only after this read"),
            Pattern::NotMyOwnWrite | Pattern::NotMyLastWrite if of_list => {
                say!(
                    "The list does not end with what {t} had appended before, and a transaction's own appends are the end of what \
                     it reads"
                )
            }
            Pattern::IntermediateRead if of_list => {
                "The list does not have a transaction's appends as it made them, and others see all of them together or none".into()
            }
            Pattern::FutureRead => say!(
                "{t} wrote that value only after this read, and a transaction may read only the initial value, its own earlier \
                 writes and what other committed transactions wrote"
            ),
            Pattern::NotMyOwnWrite => {
                say!("{t} had written the key before, and a transaction sees its own last write")
            }
            Pattern::NotMyLastWrite => {
                say!("{t} had overwritten that value itself, and a transaction sees its own last write")
            }
            Pattern::IntermediateRead => {
                "The writer of that value overwrote it before it committed, and others see only the last write of a transaction".into()
            }
            Pattern::NonRepeatableRead => {
                "These are versions of different transactions, and the reads of a key in one transaction must return \
                 versions of one writer, unless the transaction wrote the key itself"
                    .into()
            }
            Pattern::NoLinearOrder if self.had_to_read().is_some() => {
                self.had_to_read().unwrap_or_default()
            }
            Pattern::NoLinearOrder if !tells_all(words.history, self.violation) => self.no_order_of_all(),
            Pattern::NoLinearOrder => {
                let keys = if self.violation.key.is_some() { "the key" } else { "these keys" };
                say!(
                    "No order of all operations on {keys} that agrees with their times and their sessions explains what these \
                     read"
                )
            }
            pattern => capitalized(pattern.row().meaning).into(),
        }
    }

    /// That operations that are not all shown were tried in every order.
    fn no_order_of_all(&self) -> Sentence {
        let (history, named) = (self.words.history, &self.violation.transactions);
        let others = history
            .transactions()
            .filter(|&t| history.outcome(t) != Outcome::Aborted && !named.contains(&t));
        let others = match others.count() {
            0 => Sentence::default(),
            1 => " and that of the other transaction of this counterexample".into(),
            n => say!(" and those of the {n} other transactions of this counterexample"),
        };
        say!(
            "No order of these operations{others} agrees with their times and their sessions and explains what was read (all were \
             tried)"
        )
    }

    /// What a read whose value had been overwritten before it began had to return.
    fn had_to_read(&self) -> Option<Sentence> {
        let Claim::OverwrittenBefore { read, by } = claim(self.words.history, self.violation)
        else {
            return None;
        };
        let history = self.words.history;
        let [reader, writer] = [read, by].map(|o| history.transaction_of(o));
        let [old, new] = [read, by].map(|o| history.value_name(history.operation(o).value));
        let name = self.words.transaction(reader);
        if history.operation(read).value == Value::INITIAL
            && writes_of(history, history.operation(read).key, Value::INITIAL)
                .next()
                .is_none()
        {
            return Some(say!(
                "{} had written {new}, so {name} had to read {new} or something newer",
                self.words.transaction(writer)
            ));
        }
        let writer = self.words.transaction(writer);
        let had = match earlier_writes(history, read).as_slice() {
            [only] => say!(
                "{}'s was the only write of {old} before this read, and had ended before {writer} began to write {new}",
                self.reader(*only)
            ),
            _ => say!(
                "Every write of {old} before this read had ended before {writer} began to write {new}"
            ),
        };
        Some(say!(
            "{had}, so {name} had to read {new} or something newer"
        ))
    }
}
