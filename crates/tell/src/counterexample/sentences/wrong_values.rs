//! The claim of reads whose values are wrong in any order.

use super::edges::capitalized;
use super::speaker::Speaker;
use super::words::Words;
use crate::counterexample::involved_operations;
use crate::counterexample::sentence::{Sentence, say};
use isoscope_check::checkers::Pattern;
use isoscope_model::history::{OperationId, OperationKind, Outcome, TransactionId, Value};

/// The title of such a claim about `n` reads; of lists where `of_list` is set.
pub(super) fn wrong_value_title(pattern: Pattern, n: usize, of_list: bool) -> &'static str {
    match pattern {
        Pattern::IncompatibleOrder if n == 1 => "A list that no order of the appends makes",
        Pattern::ThinAirRead if of_list => "A list was read that no transaction made",
        Pattern::AbortedRead if of_list => "An element was read that was rolled back",
        Pattern::FutureRead if of_list => {
            "A transaction read an element that it appended only later"
        }
        Pattern::NotMyOwnWrite | Pattern::NotMyLastWrite if of_list => {
            "A list did not end with what its reader had appended to it"
        }
        Pattern::IntermediateRead if of_list => {
            "A transaction's appends were not seen as it made them"
        }
        Pattern::ThinAirRead => "A value was read that no transaction had written",
        Pattern::AbortedRead => "A value that was rolled back was read",
        Pattern::FutureRead => "A transaction read a value that it wrote only later",
        Pattern::NotMyOwnWrite => "A transaction did not see its own write",
        Pattern::NotMyLastWrite => "A transaction read a value that it had overwritten itself",
        Pattern::IntermediateRead => "A value was read that its writer overwrote before committing",
        Pattern::NonRepeatableRead => "Two reads of one key returned different versions",
        Pattern::IncompatibleOrder => "Lists that cannot be versions of one list",
        Pattern::DuplicateElement => "A list holds an element more often than it was appended",
        Pattern::NoLinearOrder => "Operations on one key that no order explains",
        other => other.row().title,
    }
}

impl Speaker<'_> {
    /// The sentence of a claim about reads that are wrong in a way.
    pub(super) fn wrong_value(&self, pattern: Pattern, reads: &[OperationId]) -> Sentence {
        let words = self.words;
        let meaning = || capitalized(pattern.row().meaning).into();
        let Some(&read) = reads.first() else {
            return meaning();
        };
        let writes: Vec<OperationId> = involved_operations(self.violation)
            .into_iter()
            .filter(|&o| words.history.operation(o).kind == OperationKind::Write)
            .collect();
        let other = writes
            .iter()
            .map(|&w| words.history.transaction_of(w))
            .find(|&t| t != words.history.transaction_of(read));
        let other = other.map(|t| words.transaction(t));
        let had = self.has_read(read);
        if let Some(said) = self.wrong_list(pattern, reads, &writes) {
            return said;
        }
        if let (Pattern::ThinAirRead, Some(said)) = (pattern, words.inexplicable_row(read)) {
            return said;
        }
        match pattern {
            Pattern::ThinAirRead
                if words
                    .history
                    .interval(words.history.transaction_of(read))
                    .is_some() =>
            {
                say!("{had}, a value that no transaction in the file had written by then")
            }
            Pattern::ThinAirRead => {
                say!("{had}, a value that no transaction in the file wrote")
            }
            Pattern::AbortedRead => match other {
                Some(writer) => say!("{had}, which {writer} wrote before it aborted"),
                None => say!("{had}, which an aborted transaction wrote"),
            },
            Pattern::FutureRead => say!("{had}, which it wrote only later"),
            Pattern::NotMyOwnWrite => say!("{had} after it had written the key itself"),
            Pattern::NotMyLastWrite => {
                say!("{had}, one of its own writes that it had already overwritten")
            }
            Pattern::IntermediateRead => match other {
                Some(writer) => say!("{had}, which {writer} had overwritten before committing"),
                None => say!("{had}, which its writer had overwritten before committing"),
            },
            Pattern::NonRepeatableRead => {
                let (reader, key) = (
                    words.history.transaction_of(read),
                    words.history.operation(read).key,
                );
                let is_same = |r: &&OperationId| {
                    words.history.transaction_of(**r) == reader
                        && words.history.operation(**r).key == key
                };
                let content = |&r: &OperationId| {
                    if words.ends_with_own(r) {
                        say!("{}, which ends with its own", words.content(r))
                    } else {
                        words.content(r)
                    }
                };
                let contents: Vec<Sentence> = reads.iter().filter(is_same).map(content).collect();
                say!(
                    "{} read {}: versions of different transactions",
                    words.transaction(reader),
                    Sentence::join(&contents, ", then ")
                )
            }
            Pattern::NoLinearOrder => {
                let named = self
                    .violation
                    .transactions
                    .iter()
                    .filter(|t| !t.is_initial());
                let names = named.map(|&t| words.transaction(t));
                let mut readers: Vec<TransactionId> = reads
                    .iter()
                    .map(|&o| words.history.transaction_of(o))
                    .collect();
                readers.dedup();
                let (names, did): (Vec<Sentence>, &str) = if readers.is_empty() {
                    (names.collect(), "did")
                } else {
                    (
                        readers.iter().map(|&t| words.transaction(t)).collect(),
                        "read",
                    )
                };
                let (names, more) = names.split_at(names.len().min(4));
                let more = if more.is_empty() {
                    Sentence::default()
                } else {
                    say!(" and {} more", more.len())
                };
                let names = if more.is_empty() {
                    Words::list(names)
                } else {
                    Sentence::join(names, ", ")
                };
                say!(
                    "All orders were tried: none that agrees with real time and with sessions explains what {names}{more} {did}"
                )
            }
            _ => meaning(),
        }
    }

    /// What is wrong with a list that was read; `None` of other reads.
    fn wrong_list(
        &self,
        pattern: Pattern,
        reads: &[OperationId],
        writes: &[OperationId],
    ) -> Option<Sentence> {
        const MAX_NAMED: usize = 3;
        let words = self.words;
        let &read = reads.first()?;
        let list = words.history.lists().read_by(read)?;
        let had = self.has_read(read);
        let appended = |&write: &OperationId| {
            words
                .history
                .value_name(words.history.operation(write).value)
        };
        let append = writes
            .iter()
            .find(|write| list.contains(&words.history.operation(**write).value));
        let lacking = writes
            .iter()
            .find(|write| !list.contains(&words.history.operation(**write).value));
        let writer = |&write: &OperationId| self.reader(write);
        Some(match pattern {
            Pattern::ThinAirRead => match words.never_appended(read) {
                Some(element) => say!("{had}; no transaction appended {element}"),
                None => say!("{had}, which no other transaction's appends can have made"),
            },
            Pattern::AbortedRead => {
                let aborted = |write: &&OperationId| {
                    let outcome = words.history.outcome(words.history.transaction_of(**write));
                    outcome == Outcome::Aborted
                        && list.contains(&words.history.operation(**write).value)
                };
                let append = writes.iter().find(aborted).or(append);
                let (element, writer) = (append.map(appended)?, append.map(writer)?);
                say!("{had}; {writer} had appended {element} and aborted")
            }
            Pattern::FutureRead => {
                let is_later = |write: &&OperationId| {
                    **write > read
                        && words.history.transaction_of(**write)
                            == words.history.transaction_of(read)
                };
                let later = writes
                    .iter()
                    .filter(is_later)
                    .find(|write| list.contains(&words.history.operation(**write).value));
                say!("{had}; it appended {} only later", later.map(appended)?)
            }
            Pattern::NotMyOwnWrite | Pattern::NotMyLastWrite => match lacking {
                Some(write) => say!(
                    "{had}, without {}, which it had appended itself",
                    appended(write)
                ),
                None => say!("{had}, which does not end with what it had appended before"),
            },
            Pattern::IntermediateRead => match lacking {
                Some(write) => {
                    say!(
                        "{had}, without {}, which {} appended, too",
                        appended(write),
                        writer(write)
                    )
                }
                None => say!(
                    "{had}, which does not have the appends of one transaction as it made them"
                ),
            },
            Pattern::DuplicateElement => {
                let twice = list
                    .iter()
                    .enumerate()
                    .find(|(place, element)| list[..*place].contains(element));
                say!(
                    "{had}, where {} appears more than once",
                    words.history.value_name(*twice?.1)
                )
            }
            Pattern::IncompatibleOrder => {
                let named: Vec<Sentence> = reads
                    .iter()
                    .take(MAX_NAMED)
                    .map(|&r| self.has_read(r))
                    .collect();
                let parted = words
                    .parted(reads)
                    .map(|(place, _)| say!("; they differ at place {place} of the list"))
                    .or_else(|| self.misplaced(list, writes));
                say!(
                    "{}{}",
                    Sentence::join(&named, "; "),
                    parted.unwrap_or_default()
                )
            }
            _ => return None,
        })
    }

    /// What a list does not have as one transaction appended it: ", without 953, which T2 had appended before 954".
    fn misplaced(&self, list: &[Value], writes: &[OperationId]) -> Option<Sentence> {
        let history = self.words.history;
        let element = |write: OperationId| history.operation(write).value;
        let place = |write| list.iter().position(|other| *other == element(write));
        let pairs = writes.iter().flat_map(|&first| {
            let of_one = move |then: &OperationId| {
                first < *then && history.transaction_of(first) == history.transaction_of(*then)
            };
            let later = writes.iter().copied().filter(of_one);
            later.map(move |then| [first, then])
        });
        let is_misplaced = |pair: &[OperationId; 2]| {
            let [first, then] = pair.map(place);
            then.is_some() && first.is_none_or(|first| Some(first) > then)
        };
        let [first, then] = pairs.into_iter().find(is_misplaced)?;
        let [before, after] = [first, then].map(|write| history.value_name(element(write)));
        let writer = self.reader(first);
        Some(match place(first) {
            None => say!(", without {before}, which {writer} had appended before {after}"),
            Some(_) => say!(", although {writer} had appended {before} before {after}"),
        })
    }
}
