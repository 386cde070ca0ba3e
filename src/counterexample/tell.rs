//! The steps of an argument, in the order in which they are told.
//!
//! Observed writes come first ("Let"), observed reads and session order next ("Then"), each inferred edge with its
//! reason after its premises ("Because"), the contradiction last ("However"). A case split is told case by case.

use super::words::Words;
use super::{Step, StepRole, involved_operations};
use super::{axioms, reasons};
use crate::checkers::{Level, Pattern, Proof, Violation};
use crate::history::{History, OperationId, OperationKind, Outcome, TransactionId};
use crate::relations::{Axiom, Edge, EdgeIndex, Reason, Relation};

/// What is left to tell: a proof or a case, with the edges assumed and the label of the case it is in.
enum Task<'p> {
    Prove(&'p Proof, Vec<EdgeIndex>, String),
    Case(EdgeIndex, &'p Proof, Vec<EdgeIndex>, String),
    Writer(WriterCase, &'p Proof, Vec<EdgeIndex>, String),
}

/// A possible writer of a read.
struct WriterCase {
    read: OperationId,
    writer: TransactionId,
    /// What had been told before the first case.
    told: Vec<bool>,
}

/// Tells one violation step by step.
pub(super) struct Teller<'a> {
    words: &'a Words<'a>,
    violation: &'a Violation,
    /// What the argument is about.
    level: Level,
    told: Vec<bool>,
    steps: Vec<Step>,
}

impl<'a> Teller<'a> {
    pub(super) fn new(words: &'a Words<'a>, violation: &'a Violation, level: Level) -> Teller<'a> {
        Teller { words, violation, level, told: vec![false; violation.edges.len()], steps: Vec::new() }
    }

    pub(super) fn tell(mut self) -> Vec<Step> {
        self.given();
        self.tell_proof();
        self.steps
    }

    fn edge(&self, index: EdgeIndex) -> Option<&'a Edge> {
        self.violation.edges.get(index)
    }

    fn step(&mut self, role: StepRole, text: String, edges: Vec<EdgeIndex>, operations: Vec<OperationId>) {
        let mut transactions = Vec::new();
        for edge in edges.iter().filter_map(|&e| self.edge(e)) {
            transactions.extend([edge.from, edge.to]);
            if let Reason::Visible { reader, .. } = edge.because {
                transactions.push(reader);
            }
        }
        transactions.extend(operations.iter().map(|&o| self.words.history.transaction_of(o)));
        transactions.sort_unstable();
        transactions.dedup();
        let long = self.long(role, &edges);
        self.steps.push(Step { role, text, long, edges, transactions, operations });
    }

    /// What there is to add for those who want to check a step.
    fn long(&self, role: StepRole, edges: &[EdgeIndex]) -> String {
        match role {
            StepRole::Given => String::new(),
            StepRole::Contradiction if edges.is_empty() => {
                axioms::of_pattern(self.violation.id.pattern).map(|q| format!("{}.", q.text())).unwrap_or_default()
            }
            StepRole::Contradiction => format!("{}.", axioms::of_cycle(self.level).text()),
            StepRole::Consequence | StepRole::Inference => match edges {
                [one] => self.edge(*one).map(|e| reasons::reason(self.words, e, self.level).long).unwrap_or_default(),
                _ => String::new(),
            },
        }
    }

    /// "Let T295 write 4 = 3285, and then, in the same session, T297 write 4 = 3335 and 0 = 3328".
    fn given(&mut self) {
        let history = self.words.history;
        let involved = involved_operations(self.violation);
        let writes = self.words.of_kind(&involved, OperationKind::Write);
        let mut writers: Vec<TransactionId> = self.violation.transactions.clone();
        writers.extend(writes.iter().map(|&w| history.transaction_of(w)));
        let mut done: Vec<TransactionId> = Vec::new();
        let (mut clauses, mut edges) = (Vec::new(), Vec::new());
        for t in writers {
            let own: Vec<OperationId> = match t.is_initial() || done.contains(&t) {
                true => Vec::new(),
                false => writes.iter().copied().filter(|&w| history.transaction_of(w) == t).collect(),
            };
            if own.is_empty() {
                continue;
            }
            let contents: Vec<String> = own.iter().map(|&w| self.words.content(w)).collect();
            let is_next = |e: &Edge| {
                matches!(e.because, Reason::SessionOrder)
                    && e.relation == Relation::SessionOrder
                    && e.to == t
                    && done.last() == Some(&e.from)
            };
            let follows = self.violation.edges.iter().position(is_next);
            let then = if follows.is_some() { "then, in the same session, " } else { "" };
            let outcome = if history.outcome(t) == Outcome::Aborted { " and abort" } else { "" };
            let lists = history.lists();
            let verb = if own.iter().all(|w| lists.is_list(history.keys()[w.index()])) { "append" } else { "write" };
            clauses.push(format!("{then}{} {verb} {}{outcome}", self.words.transaction(t), Words::list(&contents)));
            if let Some(edge) = follows {
                self.told[edge] = true;
                edges.push(edge);
            }
            done.push(t);
        }
        if !clauses.is_empty() {
            let text = match clauses.split_last() {
                Some((last, init)) if !init.is_empty() => format!("{}, and {last}", init.join(", ")),
                _ => clauses.concat(),
            };
            self.step(StepRole::Given, text, edges, writes);
        }
    }

    /// The operations alone contradict.
    fn tell_read(&mut self) {
        let observed: Vec<EdgeIndex> = (0..self.violation.edges.len()).filter(|&e| !self.told[e]).collect();
        for edge in observed {
            self.tell_edge(edge, false);
        }
        let involved = involved_operations(self.violation);
        let reads = self.words.of_kind(&involved, OperationKind::Read);
        self.tell_wrong(self.violation.id.pattern, reads, involved, "a contradiction");
    }

    /// These reads contradict in a case, or on their own.
    fn tell_reads(&mut self, pattern: Pattern, reads: &[OperationId], label: &str) {
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
            Pattern::NoLinearOrder => format!(
                "{}; in no order that respects this each of them finds what it saw, whatever else wrote the key",
                self.times()
            ),
            pattern => pattern.row().meaning.to_owned(),
        };
        self.step(StepRole::Contradiction, format!("{text}: {closing}"), Vec::new(), involved);
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

    /// Walks the proof tree with an explicit stack: common edges, then each case with what follows in it.
    fn tell_proof(&mut self) {
        let mut stack = vec![Task::Prove(&self.violation.proof, Vec::new(), String::new())];
        while let Some(task) = stack.pop() {
            match task {
                Task::Prove(Proof::Read, ..) => self.tell_read(),
                Task::Prove(Proof::Reads { pattern, reads }, _, label) => self.tell_reads(*pattern, reads, &label),
                Task::Prove(Proof::Cycle(cycle), assumed, label) => {
                    self.tell_needed(cycle, &assumed);
                    self.contradiction(cycle, &label);
                }
                Task::Prove(Proof::Clauses { lemmas, clauses }, assumed, label) => {
                    self.tell_clauses(lemmas, clauses.len(), &assumed, &label);
                }
                Task::Prove(Proof::Split { first, second, .. }, assumed, label) => {
                    stack.push(Task::Case(second.0, &second.1, assumed.clone(), inner(&label, 2)));
                    stack.push(Task::Case(first.0, &first.1, assumed, inner(&label, 1)));
                }
                Task::Prove(Proof::Writers { read, cases }, assumed, label) => {
                    self.tell_writers(*read, cases);
                    for (place, (writer, proof)) in cases.iter().enumerate().rev() {
                        let case = WriterCase { read: *read, writer: *writer, told: self.told.clone() };
                        stack.push(Task::Writer(case, proof, assumed.clone(), inner(&label, place + 1)));
                    }
                }
                Task::Case(edge, proof, mut assumed, label) => {
                    self.tell_assumption(edge, &label);
                    assumed.push(edge);
                    stack.push(Task::Prove(proof, assumed, label));
                }
                Task::Writer(case, proof, assumed, label) => {
                    self.tell_writer(case, &label);
                    stack.push(Task::Prove(proof, assumed, label));
                }
            }
        }
    }

    /// Many orders of two writers are open, each cycle excludes some of their combinations, together all: the first
    /// cycle is told, the others are counted.
    fn tell_clauses(&mut self, lemmas: &[Vec<EdgeIndex>], n_clauses: usize, assumed: &[EdgeIndex], label: &str) {
        let open = self.assumptions(lemmas.iter().flatten().copied(), assumed);
        let mut pairs: Vec<(TransactionId, TransactionId)> =
            open.iter().filter_map(|&e| self.edge(e)).map(|e| (e.from.min(e.to), e.from.max(e.to))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let (n_pairs, n_cycles) = (counted(pairs.len(), "pair"), lemmas.len());
        let text = format!("for {n_pairs} of transactions that write the same key it is open which one wrote first");
        self.step(StepRole::Consequence, text, Vec::new(), Vec::new());
        let Some(shown) = lemmas.first() else { return };
        let mut within = assumed.to_vec();
        for edge in self.assumptions(shown.iter().copied(), assumed) {
            let supposed = self.edge(edge).map(|e| self.older(e)).unwrap_or_default();
            let also = if within.len() > assumed.len() { "and" } else { "one combination: suppose" };
            self.step(StepRole::Consequence, format!("{also} that {supposed}"), vec![edge], Vec::new());
            if let Some(told) = self.told.get_mut(edge) {
                *told = true;
            }
            within.push(edge);
        }
        self.tell_needed(shown, &within);
        self.contradiction(shown, "this");
        let others = match n_cycles {
            1 => "no other combination is left".to_owned(),
            2 => "1 other cycle excludes what is left".to_owned(),
            n => format!("{} other cycles exclude further combinations, and together they exclude all", n - 1),
        };
        let steps = match n_clauses {
            0 => "in one step".to_owned(),
            n => format!("in {}", counted(n + 1, "step")),
        };
        let text = format!("{others} ({steps}, which `isoscope verify` follows): {}", closing(label));
        self.step(StepRole::Contradiction, text, Vec::new(), Vec::new());
    }

    /// The assumed edges that these edges rest on, apart from those of the cases around.
    fn assumptions(&self, edges: impl Iterator<Item = EdgeIndex>, assumed: &[EdgeIndex]) -> Vec<EdgeIndex> {
        let mut needed = vec![false; self.violation.edges.len()];
        let mut stack: Vec<EdgeIndex> = edges.collect();
        while let Some(e) = stack.pop() {
            if let Some(edge) = self.edge(e).filter(|_| !std::mem::replace(&mut needed[e], true)) {
                stack.extend(edge.because.premises());
            }
        }
        let is_open = |&e: &EdgeIndex| needed[e] && !assumed.contains(&e);
        let of_all = (0..needed.len()).filter(is_open);
        of_all.filter(|&e| self.edge(e).is_some_and(|edge| edge.because == Reason::Assumed)).collect()
    }

    /// "T1's version of key 4 is older than T2's".
    fn older(&self, edge: &Edge) -> String {
        let (from, to) = (self.words.transaction(edge.from), self.words.transaction(edge.to));
        format!("{from}'s version of {} is older than {to}'s", self.words.key(edge.key))
    }

    fn tell_assumption(&mut self, edge: EdgeIndex, label: &str) {
        let text = match self.edge(edge) {
            Some(e) => format!("case {label}: suppose that {}", self.older(e)),
            None => format!("case {label}"),
        };
        self.step(StepRole::Consequence, text, vec![edge], Vec::new());
        if let Some(told) = self.told.get_mut(edge) {
            *told = true;
        }
    }

    /// "T1, T2 or the initial state wrote the 1 that T3 read of key 4".
    fn tell_writers(&mut self, read: OperationId, cases: &[(TransactionId, Proof)]) {
        let names: Vec<String> = cases.iter().map(|(writer, _)| self.words.transaction(*writer)).collect();
        let who = match names.split_last() {
            Some((last, init)) if !init.is_empty() => format!("{} or {last}", init.join(", ")),
            _ => names.concat(),
        };
        let text = format!("{who} wrote the {}", self.words.value_read(read));
        self.step(StepRole::Consequence, text, Vec::new(), vec![read]);
    }

    /// "case 1: suppose that T1 wrote the 1 that T3 read of key 4". What other cases have told is told again.
    fn tell_writer(&mut self, case: WriterCase, label: &str) {
        let WriterCase { read, writer, told } = case;
        self.told = told;
        let history = self.words.history;
        let name = self.words.transaction(writer);
        let committed = match writer.is_initial() || history.outcome(writer) == Outcome::Committed {
            true => String::new(),
            false => format!(", so that {name} must have committed"),
        };
        let text = format!("case {label}: suppose that {name} wrote the {}{committed}", self.words.value_read(read));
        self.step(StepRole::Consequence, text, Vec::new(), vec![read]);
    }

    /// Tells what `cycle` rests on and has not been told yet, premises first.
    fn tell_needed(&mut self, cycle: &[EdgeIndex], assumed: &[EdgeIndex]) {
        let mut needed = vec![false; self.violation.edges.len()];
        let mut stack = cycle.to_vec();
        while let Some(e) = stack.pop() {
            if let Some(edge) = self.edge(e).filter(|_| !std::mem::replace(&mut needed[e], true)) {
                stack.extend(edge.because.premises());
            }
        }
        let evidence = self.reads_told_elsewhere(&needed, cycle);
        for e in 0..needed.len() {
            if needed[e] && !self.told[e] && !assumed.contains(&e) && !evidence[e] {
                self.tell_edge(e, !cycle.contains(&e));
            }
        }
    }

    /// Write-read edges that an inference names itself, unless something else rests on them.
    fn reads_told_elsewhere(&self, needed: &[bool], cycle: &[EdgeIndex]) -> Vec<bool> {
        let edges = &self.violation.edges;
        let mut evidence = vec![false; edges.len()];
        let others: Vec<&Edge> =
            edges.iter().zip(needed).filter(|(_, needed)| **needed).map(|(edge, _)| edge).collect();
        for (e, edge) in edges.iter().enumerate() {
            if !needed[e] || edge.relation != Relation::WriteRead || cycle.contains(&e) {
                continue;
            }
            let names_it = |other: &Edge| match &other.because {
                Reason::Visible { read, .. } => edge.to_operation == Some(*read),
                Reason::Overwrites { .. } => {
                    other.from == edge.to && other.from_operation.is_some() && other.from_operation == edge.to_operation
                }
                Reason::ReadModifyWrite { read } => *read == e,
                _ => false,
            };
            let rests_on_it = |other: &Edge| match &other.because {
                Reason::ReadModifyWrite { .. } => false,
                because => because.premises().contains(&e),
            };
            evidence[e] = others.iter().any(|other| names_it(other)) && !others.iter().any(|other| rests_on_it(other));
        }
        evidence
    }

    /// One edge as a step. `quiet` edges are not on the cycle: those from ⊥ need no words then.
    fn tell_edge(&mut self, index: EdgeIndex, quiet: bool) {
        let Some(edge) = self.edge(index) else { return };
        self.told[index] = true;
        let words = self.words;
        let (from, to) = (words.transaction(edge.from), words.transaction(edge.to));
        let (role, text) = match &edge.because {
            Reason::SessionOrder if edge.from.is_initial() && quiet => return,
            Reason::SessionOrder if edge.from.is_initial() => {
                (StepRole::Consequence, format!("{to}, like every transaction, comes after the initial state"))
            }
            Reason::SessionOrder if edge.relation == Relation::RealTime => {
                (StepRole::Consequence, format!("{to} begins after {from} has ended"))
            }
            Reason::SessionOrder => {
                let session = words.history.session_name(words.history.session_of(edge.to));
                (StepRole::Consequence, format!("{to} comes after {from} in session {session}"))
            }
            Reason::Reads => (StepRole::Consequence, self.read_text(index, edge)),
            Reason::Path { through } => {
                let text = match edge.relation {
                    Relation::CausalOrder => format!("{to} could see {from} ({})", words.path(through)),
                    _ => format!("{from} comes before {to} ({})", words.path(through)),
                };
                (StepRole::Consequence, text)
            }
            Reason::Visible { reader, read, .. } => {
                let observed = words.reads("nevertheless reads", Some(*read), edge.key, edge.to);
                let older = match edge.to.is_initial() {
                    true => "the initial one".to_owned(),
                    false => format!("{to}'s"),
                };
                let key = words.key(edge.key);
                let text = format!(
                    "{} {observed}, {from}'s version of {key} must be older than {older}",
                    words.transaction(*reader)
                );
                (StepRole::Inference, text)
            }
            Reason::Overwrites { writer, .. } => {
                let observed = words.reads("reads", edge.from_operation, edge.key, *writer);
                let newer = words.content_or_key(edge.to_operation, edge.key);
                (
                    StepRole::Inference,
                    format!("{from} {observed} and {to} writes the newer {newer}, {from} does not see {to}"),
                )
            }
            Reason::Conflict { .. } => {
                let key = words.key(edge.key);
                let text = format!(
                    "{from} and {to} both write {key} and may not overlap, and {from} starts before {to} commits, {from} commits before {to} starts"
                );
                (StepRole::Inference, text)
            }
            Reason::ReadModifyWrite { read } => {
                let content = self.edge(*read).and_then(|e| e.to_operation);
                let observed = words.reads("reads", content, edge.key, edge.from);
                let key = words.key(edge.key);
                (
                    StepRole::Inference,
                    format!("{to} {observed} before it writes {key} itself, its version is the newer one"),
                )
            }
            Reason::Listed { reader, read } => {
                let list = words.content(*read);
                let key = words.key(edge.key);
                let reader = words.transaction(*reader);
                let shows = match words.listed_element(*read, edge.to_operation) {
                    true => "where the one element stands before the other",
                    false => "which lacks the newer element",
                };
                (
                    StepRole::Consequence,
                    format!("{reader} reads {list}, {shows}: {from}'s version of {key} is older than {to}'s"),
                )
            }
            Reason::Assumed => return,
        };
        let mut operations: Vec<OperationId> = edge.from_operation.into_iter().chain(edge.to_operation).collect();
        if let Reason::Visible { read, .. } | Reason::Listed { read, .. } = edge.because {
            operations.push(read);
        }
        self.step(role, text, vec![index], operations);
    }

    /// "T393 reads 0 = 3328 from T297, so it has seen T297; …", by what rests on the edge.
    fn read_text(&self, index: EdgeIndex, edge: &Edge) -> String {
        let reader = self.words.transaction(edge.to);
        let what = self.words.reads("reads", edge.to_operation, edge.key, edge.from);
        if edge.from.is_initial() {
            return format!("{reader} {what}");
        }
        let from = self.words.transaction(edge.from);
        let rests = self.violation.edges.iter().find_map(|other| match &other.because {
            Reason::Visible { axiom, seen, .. } if seen.contains(&index) => Some(*axiom),
            _ => None,
        });
        match rests {
            Some(Axiom::ReadAtomic) => {
                format!("{reader} {what}, so it has seen {from}; read atomicity says it has seen all of {from}")
            }
            Some(Axiom::ReadCommitted) => {
                format!("{reader} {what}, and from then on it may not go back behind what {from} wrote")
            }
            Some(Axiom::Causal) => format!("{reader} {what}, so it could see {from} and all that {from} could see"),
            _ => format!("{reader} {what}"),
        }
    }

    fn contradiction(&mut self, cycle: &[EdgeIndex], label: &str) {
        let words = self.words;
        let edges: Vec<&Edge> = cycle.iter().filter_map(|&e| self.edge(e)).collect();
        let observed = |e: &Edge| {
            matches!(e.because, Reason::SessionOrder | Reason::Reads | Reason::Path { .. } | Reason::Listed { .. })
        };
        let inferred = |e: &&&Edge| !observed(e);
        let place = edges.iter().position(|e| inferred(&e));
        let text = match place {
            _ if edges.iter().any(|e| e.to.is_initial()) => "the initial version is older than every other".to_owned(),
            Some(place) if edges.iter().filter(inferred).count() == 1 => {
                // The inferred edge goes from t2 to t1; the rest of the cycle leads from t1 to t2.
                let rest: Vec<EdgeIndex> = (1..cycle.len()).map(|i| cycle[(place + i) % cycle.len()]).collect();
                let (t2, t1) = (words.transaction(edges[place].from), words.transaction(edges[place].to));
                match edges.as_slice() {
                    [a, b] if [a, b].iter().any(|e| e.relation == Relation::SessionOrder) => {
                        format!("{t1} precedes {t2} in their session")
                    }
                    _ if edges[place].from == edges[place].to => {
                        format!("no transaction precedes itself, {t1} included")
                    }
                    _ => format!("{t1} precedes {t2} ({})", words.path(&rest)),
                }
            }
            _ => {
                let first = edges.first().map(|e| words.transaction(e.from)).unwrap_or_default();
                format!("{first} would come before itself ({})", words.path(cycle))
            }
        };
        self.step(StepRole::Contradiction, format!("{text}: {}", closing(label)), cycle.to_vec(), Vec::new());
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

/// The label of a case inside another: `1`, then `1.2`.
fn inner(label: &str, place: usize) -> String {
    if label.is_empty() { place.to_string() } else { format!("{label}.{place}") }
}

/// `1 pair`, `3 pairs`.
fn counted(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

/// How a contradiction ends the argument, or a case of it.
fn closing(label: &str) -> &'static str {
    if label.is_empty() { "a contradiction" } else { "a contradiction in this case" }
}
