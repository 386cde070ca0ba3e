//! Arguments that end in reads.

use super::{Teller, closing};
use crate::checkers::Pattern;
use crate::counterexample::edge_words::capitalized;
use crate::counterexample::words::Words;
use crate::counterexample::{StepRole, involved_operations};
use crate::history::{OperationId, OperationKind, SessionId};

impl Teller<'_> {
    /// The operations alone contradict.
    pub(super) fn tell_read(&mut self) {
        let involved = involved_operations(self.violation);
        let reads = self.words.of_kind(&involved, OperationKind::Read);
        self.tell_wrong(self.violation.id.pattern, &reads, involved, "impossible");
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
            Pattern::ThinAirRead if !of_list => "No transaction wrote that value".to_owned(),
            Pattern::IncompatibleOrder if words.parted(reads).is_some() => {
                let (place, [a, b]) = words.parted(reads).unwrap_or_default();
                format!(
                    "The lists differ in place {place}, where one has {a} and the other {b}; a list changes only at its end, \
                     so of two versions of it one begins with the other"
                )
            }
            Pattern::ThinAirRead if of_list => "No transaction appended that element".to_owned(),
            Pattern::AbortedRead if of_list => {
                "The only transaction that appended the element aborted, and no transaction may see an aborted append"
                    .to_owned()
            }
            Pattern::FutureRead if of_list => format!("{t} appended that element only after this read"),
            Pattern::NotMyOwnWrite if of_list => {
                format!("{t} had appended to the list before, and a transaction sees its own appends")
            }
            Pattern::IntermediateRead if of_list => {
                "The list has some of the elements that one transaction appended, and others see all of them or none"
                    .to_owned()
            }
            Pattern::AbortedRead => "Its only writer aborted, and no transaction may see an aborted write".to_owned(),
            Pattern::FutureRead => format!("{t} wrote that value only after this read"),
            Pattern::NotMyOwnWrite => {
                format!("{t} had written the key before, and a transaction sees its own last write")
            }
            Pattern::NotMyLastWrite => {
                format!("{t} had overwritten that value itself, and a transaction sees its own last write")
            }
            Pattern::IntermediateRead => {
                "Its writer overwrote that value before it committed, and others see only last writes".to_owned()
            }
            Pattern::NonRepeatableRead => "These are versions of different transactions, and all reads of a key in \
                                           one transaction must return one version"
                .to_owned(),
            Pattern::NoLinearOrder => {
                let (respects, keys) = match (self.follow_in_sessions(), self.violation.key) {
                    (true, Some(_)) => ("this and the order of each session", "the key"),
                    (true, None) => ("this and the order of each session", "these keys"),
                    (false, Some(_)) => ("this", "the key"),
                    (false, None) => ("this", "these keys"),
                };
                let times = self.times();
                format!(
                    "{times}; in no order that respects {respects} each of them finds what it saw, whatever else wrote {keys}"
                )
            }
            pattern => capitalized(pattern.row().meaning),
        };
        self.say(StepRole::Contradiction, format!("{text}: {closing}"), involved);
    }

    /// Whether two transactions of the violation are of one session.
    fn follow_in_sessions(&self) -> bool {
        let told = self.violation.transactions.iter().filter(|t| !t.is_initial());
        let mut sessions: Vec<SessionId> = told.map(|&t| self.words.history.session_of(t)).collect();
        sessions.sort_unstable();
        sessions.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// "a1 ran from 0 to 1, b1 from 2 to 3".
    fn times(&self) -> String {
        let history = self.words.history;
        let told = self.violation.transactions.iter().filter(|t| !t.is_initial());
        let clauses: Vec<String> = told
            .map(|&t| match history.interval(t) {
                Some(ran) => format!("{} ran from {} to {}", self.words.transaction(t), ran.start, ran.end),
                None => format!("{} ran at an unknown time", self.words.transaction(t)),
            })
            .collect();
        Words::list(&clauses)
    }
}
