//! Arguments that end in reads.

use super::{Teller, closing};
use crate::checkers::{Pattern, Violation};
use crate::counterexample::words::Words;
use crate::counterexample::{StepRole, involved_operations};
use crate::history::{History, OperationId, OperationKind, SessionId};
use crate::relations::{Edge, EdgeIndex, Reason, Relation};

impl Teller<'_> {
    /// The operations alone contradict.
    pub(super) fn tell_read(&mut self) {
        let observed: Vec<EdgeIndex> = (0..self.violation.edges.len()).filter(|&e| !self.told[e]).collect();
        for edge in observed {
            self.tell_edge(edge, false);
        }
        let involved = involved_operations(self.violation);
        let reads = self.words.of_kind(&involved, OperationKind::Read);
        self.tell_wrong(self.violation.id.pattern, reads, involved, "a contradiction");
    }

    /// These reads contradict in a case, or on their own.
    pub(super) fn tell_reads(&mut self, pattern: Pattern, reads: &[OperationId], label: &str) {
        let tells = |e: &Edge| matches!(e.because, Reason::Reads) && e.to_operation.is_some_and(|r| reads.contains(&r));
        // In a case its assumption says who was read from.
        for e in (0..self.violation.edges.len()).filter(|_| label.is_empty()) {
            if !self.told[e] && self.edge(e).is_some_and(tells) {
                self.tell_edge(e, false);
            }
        }
        self.tell_wrong(pattern, reads.to_vec(), reads.to_vec(), closing(label));
    }

    fn tell_wrong(&mut self, pattern: Pattern, reads: Vec<OperationId>, involved: Vec<OperationId>, closing: &str) {
        let words = self.words;
        let Some(&read) = reads.first() else {
            let text = format!("{}: {closing}", pattern.row().meaning);
            return self.step(StepRole::Contradiction, text, Vec::new(), involved);
        };
        let t = words.transaction(words.history.transaction_of(read));
        if observed_nothing(self.violation) {
            let readers = reads.chunk_by(|&a, &b| words.history.transaction_of(a) == words.history.transaction_of(b));
            let clauses: Vec<String> = readers
                .map(|of_one| {
                    let contents: Vec<String> = of_one.iter().map(|&r| words.content(r)).collect();
                    let reader = words.transaction(words.history.transaction_of(of_one[0]));
                    format!("{reader} reads {}", Words::list(&contents))
                })
                .collect();
            self.step(StepRole::Consequence, Words::list(&clauses), Vec::new(), reads.clone());
        }
        let text = match pattern {
            Pattern::ThinAirRead => {
                let known = known_writes(words.history, read);
                format!("nobody wrote that value ({known}), and a read returns what some transaction wrote")
            }
            Pattern::AbortedRead => "its only writer aborted, and an aborted write is seen by nobody".to_owned(),
            Pattern::FutureRead => format!("{t} wrote that value only after this read"),
            Pattern::NotMyOwnWrite => {
                format!("{t} had written the key before, and a transaction sees its own last write")
            }
            Pattern::NotMyLastWrite => {
                format!("{t} had overwritten that value itself, and a transaction sees its own last write")
            }
            Pattern::IntermediateRead => {
                "its writer overwrote that value before it committed, and others see only last writes".to_owned()
            }
            Pattern::NonRepeatableRead => "these are versions of different transactions, and all reads of a key in \
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
            pattern => pattern.row().meaning.to_owned(),
        };
        self.step(StepRole::Contradiction, format!("{text}: {closing}"), Vec::new(), involved);
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
                None => format!("nobody knows when {} ran", self.words.transaction(t)),
            })
            .collect();
        Words::list(&clauses)
    }
}

/// Whether no edge of the violation tells its reads.
fn observed_nothing(violation: &Violation) -> bool {
    !violation.edges.iter().any(|e| e.relation == Relation::WriteRead)
}

/// What is known about the writes of the key of a thin-air read.
fn known_writes(history: &History, read: OperationId) -> String {
    let key = history.operation(read).key;
    let operations = (0..history.n_operations()).map(OperationId::new);
    let writes =
        operations.filter(|&o| history.keys()[o.index()] == key && history.kinds()[o.index()] == OperationKind::Write);
    let name = history.key_name(key);
    match writes.count() {
        0 => format!("none of these transactions writes key {name}"),
        1 => format!("the one write of key {name} here wrote another value"),
        n => format!("the {n} writes of key {name} here wrote other values"),
    }
}
