//! Arguments that end in reads.

use super::{Teller, closing};
use crate::checkers::{Level, Pattern};
use crate::counterexample::claim::{Claim, claim, writes_of};
use crate::counterexample::edge_words::capitalized;
use crate::counterexample::{Step, StepRole, involved_operations};
use crate::history::{OperationId, OperationKind, Outcome, Value};

impl Teller<'_> {
    /// The operations alone contradict.
    pub(super) fn tell_read(&mut self) {
        let involved = involved_operations(self.violation);
        let reads = self.words.of_kind(&involved, OperationKind::Read);
        // Stronger levels forbid it, too, but a violation of cut isolation need not violate read committed.
        let closing = match self.violation.id.pattern {
            Pattern::NoLinearOrder => "impossible".to_owned(),
            pattern => format!("impossible at {}", pattern.row().level.max(self.level).spoken()),
        };
        self.tell_wrong(self.violation.id.pattern, &reads, involved, &closing);
    }

    /// These reads contradict in a case, or on their own.
    pub(super) fn tell_reads(&mut self, pattern: Pattern, reads: &[OperationId]) {
        self.tell_wrong(pattern, reads, reads.to_vec(), closing(&self.case));
    }

    fn tell_wrong(&mut self, pattern: Pattern, reads: &[OperationId], involved: Vec<OperationId>, closing: &str) {
        let words = self.words;
        let Some(&read) = reads.first() else {
            let text = format!("{}: {closing}", capitalized(pattern.row().meaning));
            return self.say(StepRole::Contradiction, text, involved);
        };
        let t = words.transaction(words.history.transaction_of(read));
        if !self.steps.iter().any(|step| step.operations.contains(&read)) {
            let text = format!("{t} read {}", words.content(read));
            self.say(StepRole::Concluded, text, vec![read]);
        }
        let of_list = words.history.lists().read_by(read).is_some();
        let text = match pattern {
            Pattern::IncompatibleOrder if words.parted(reads).is_some() => {
                let (place, [a, b]) = words.parted(reads).unwrap_or_default();
                format!(
                    "At place {place} one list has {a}, the other {b}; a list only grows, at its end, so of any two of its \
                     versions one is a prefix of the other, and every list that is read should be one of its versions"
                )
            }
            Pattern::ThinAirRead => {
                "A transaction may read only the initial value, its own writes and what other committed transactions wrote"
                    .to_owned()
            }
            Pattern::AbortedRead => "No transaction may see what was rolled back".to_owned(),
            Pattern::DuplicateElement => {
                "Each append is in a list at most once, so no element is there more often than it was appended".to_owned()
            }
            Pattern::FutureRead if of_list => format!("{t} appended that element only after this read"),
            Pattern::NotMyOwnWrite | Pattern::NotMyLastWrite if of_list => {
                format!(
                    "The list does not end with what {t} had appended before, and a transaction's own appends are the end of what \
                     it reads"
                )
            }
            Pattern::IntermediateRead if of_list => {
                "The list does not have a transaction's appends as it made them, and others see all of them together or none"
                    .to_owned()
            }
            Pattern::FutureRead => format!(
                "{t} wrote that value only after this read, and a transaction may read only the initial value, its own earlier \
                 writes and what committed transactions wrote"
            ),
            Pattern::NotMyOwnWrite => {
                format!("{t} had written the key before, and a transaction sees its own last write")
            }
            Pattern::NotMyLastWrite => {
                format!("{t} had overwritten that value itself, and a transaction sees its own last write")
            }
            Pattern::IntermediateRead => {
                "Its writer overwrote that value before committing, and others see only the last write of a transaction"
                    .to_owned()
            }
            Pattern::NonRepeatableRead => {
                "These are versions of different transactions, and the reads of a key in one transaction must return \
                 versions of one writer, its own writes aside"
                    .to_owned()
            }
            Pattern::NoLinearOrder if self.overwritten_before().is_some() => {
                self.overwritten_before().unwrap_or_default()
            }
            Pattern::NoLinearOrder if !self.tells_all() => self.no_order_of_all(),
            Pattern::NoLinearOrder => {
                let keys = if self.violation.key.is_some() { "the key" } else { "these keys" };
                format!(
                    "No order of all operations on {keys} that agrees with their times and their sessions explains what these \
                     read"
                )
            }
            pattern => capitalized(pattern.row().meaning),
        };
        if pattern == Pattern::NoLinearOrder {
            let level = Level::Linearizability;
            let rule = format!("{}: {}", capitalized(&level.spoken()), level.promise());
            self.say(StepRole::Rule, rule, Vec::new());
        }
        let history = words.history;
        let matters = |o: OperationId| match pattern {
            _ if history.operation(o).kind == OperationKind::Read => true,
            Pattern::IncompatibleOrder => reads.len() < 2,
            // Without a line that gives the writers, the lines of the writers do.
            Pattern::NonRepeatableRead => self.violation.edges.is_empty(),
            Pattern::AbortedRead => history.outcome(history.transaction_of(o)) == Outcome::Aborted,
            _ => true,
        };
        let is_premise = |step: &Step| {
            let speaks_of = step.operations.iter().any(|&o| involved.contains(&o) && matters(o));
            let is_about_all = matches!(step.role, StepRole::Observed | StepRole::Rule);
            speaks_of || step.operations.is_empty() && step.edges.is_empty() && is_about_all
        };
        let premises = (0..self.steps.len()).filter(|&place| is_premise(&self.steps[place])).collect();
        self.say(StepRole::Contradiction, format!("{text}: {closing}"), involved);
        if let Some(step) = self.steps.last_mut() {
            step.premises = premises;
        }
    }

    /// That operations that are not all shown were tried in every order.
    fn no_order_of_all(&self) -> String {
        let (history, named) = (self.words.history, &self.violation.transactions);
        let others = history.transactions().filter(|&t| history.outcome(t) != Outcome::Aborted && !named.contains(&t));
        let others = match others.count() {
            0 => String::new(),
            1 => " and those of the 1 transaction that may also have written these values".to_owned(),
            n => format!(" and those of the {n} transactions that may also have written these values"),
        };
        format!(
            "No order of these operations{others} agrees with their times and their sessions and explains what was read (all were \
             tried, and `isoscope verify` tries them again)"
        )
    }

    /// What a read whose value had been overwritten before it began had to return.
    fn overwritten_before(&self) -> Option<String> {
        let Claim::OverwrittenBefore { read, by } = claim(self.words.history, self.violation) else { return None };
        let history = self.words.history;
        let [reader, writer] = [read, by].map(|o| history.transaction_of(o));
        let [old, new] = [read, by].map(|o| history.value_name(history.operation(o).value));
        let name = self.words.transaction(reader);
        if history.operation(read).value == Value::INITIAL
            && writes_of(history, history.operation(read).key, Value::INITIAL).next().is_none()
        {
            return Some(format!(
                "{} had written {new}, so {name} had to read {new} or something newer",
                self.words.transaction(writer)
            ));
        }
        Some(format!(
            "{} wrote {new} after every earlier write of {old} had ended, so {name} had to read {new} or something newer",
            self.words.transaction(writer)
        ))
    }
}
