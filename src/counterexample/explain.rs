//! The argument for a counterexample, as data: what was observed, what follows, and why that cannot be.
//!
//! The steps follow the edges of the violation. Observed writes come first ("Let"), observed reads and session order
//! next ("Then"), each inferred edge with its reason after its premises ("Because"), the contradiction last
//! ("However"). A case split is told case by case.

use super::words::Words;
use super::{Counterexample, Explanation, Minimality, Step, StepRole};
use crate::checkers::{Pattern, Proof, Violation};
use crate::history::{History, OperationId, OperationKind, Outcome, TransactionId};
use crate::relations::{Axiom, Edge, EdgeIndex, Reason, Relation};

/// The argument for `example`. O(edges² + operations).
pub fn explain(example: &Counterexample) -> Explanation {
    let (history, violation) = (&example.history, &example.violation);
    let words = Words::new(history, &violation.edges);
    Explanation {
        title: title(history, violation),
        summary: summary(history, violation),
        steps: Teller::new(&words, violation).tell(),
        edge_reasons: violation.edges.iter().map(|edge| words.reason(edge)).collect(),
        conclusion: conclusion(example),
    }
}

/// Why edge `index` of `edges` is there, in a sentence.
pub fn edge_reason(history: &History, edges: &[Edge], index: EdgeIndex) -> String {
    edges.get(index).map(|edge| Words::new(history, edges).reason(edge)).unwrap_or_default()
}

/// The operations an argument is about, in ascending order.
pub fn involved_operations(violation: &Violation) -> Vec<OperationId> {
    let mut operations = violation.operations.clone();
    for edge in &violation.edges {
        operations.extend(edge.from_operation);
        operations.extend(edge.to_operation);
        if let Reason::Visible { read, .. } = edge.because {
            operations.push(read);
        }
    }
    operations.sort_unstable();
    operations.dedup();
    operations
}

/// `Fractured read (TAP-k) on key 4`.
pub fn title(history: &History, violation: &Violation) -> String {
    let row = violation.id.pattern.row();
    let id = if violation.id.pattern.letter().is_some() { format!(" ({})", row.id) } else { String::new() };
    let key = violation.key.map(|key| format!(" on key {}", history.key_name(key))).unwrap_or_default();
    format!("{}{id}{key}", row.title)
}

/// What happened, in one sentence with a full stop.
pub fn summary(history: &History, violation: &Violation) -> String {
    let words = Words::new(history, &violation.edges);
    special_summary(&words, violation).unwrap_or_else(|| {
        let names: Vec<String> = violation.transactions.iter().map(|&t| words.transaction(t)).collect();
        let meaning = violation.id.pattern.row().meaning;
        match names.len() {
            0 => format!("{}.", capitalized(meaning)),
            1..=6 => format!("{}: {}.", Words::list(&names), meaning),
            n => format!("{} and {} more transactions: {meaning}.", names[..4].join(", "), n - 4),
        }
    })
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The summary with names, for patterns whose parts can be found among the edges.
fn special_summary(words: &Words<'_>, violation: &Violation) -> Option<String> {
    let pattern = violation.id.pattern;
    if matches!(violation.proof, Proof::Read) || pattern == Pattern::NonRepeatableRead {
        return read_summary(words, violation);
    }
    match pattern {
        Pattern::NonMonoReadCO
        | Pattern::NonMonoReadCM
        | Pattern::FracturedReadCO
        | Pattern::FracturedReadCM
        | Pattern::COConflictCM
        | Pattern::ConflictCM => visible_summary(words, violation),
        Pattern::CyclicCO => {
            let Proof::Cycle(cycle) = &violation.proof else { return None };
            Some(format!("Session order and reads go in a circle: {}.", words.path(cycle)))
        }
        Pattern::Divergence | Pattern::LostUpdate => divergence_summary(words, violation),
        Pattern::WriteSkew => {
            let mut rw = violation.edges.iter().filter(|e| e.relation == Relation::AntiDependency);
            let (a, b) = (rw.next()?, rw.next()?);
            let missed = |e: &Edge| {
                let what = words.content_or_key(e.from_operation, e.key);
                format!("{} reads {what}, which {} overwrites", words.transaction(e.from), words.transaction(e.to))
            };
            (a.from == b.to && a.to == b.from).then(|| format!("{}, while {}.", missed(a), missed(b)))
        }
        _ => None,
    }
}

/// Patterns h to n: t3 reads the key from t1 although it sees t2.
fn visible_summary(words: &Words<'_>, violation: &Violation) -> Option<String> {
    let told = |e: &&Edge| matches!(e.because, Reason::Visible { .. });
    let own = violation.edges.iter().rev().find(|e| told(e) && e.key == violation.key);
    let edge = own.or_else(|| violation.edges.iter().rev().find(told))?;
    let Reason::Visible { reader, seen, .. } = &edge.because else { return None };
    let (t3, t2) = (words.transaction(*reader), words.transaction(edge.from));
    let key = words.key(edge.key);
    let older = match edge.to.is_initial() {
        true => format!("the initial version of {key}"),
        false => format!("a version of {key} older than {t2}'s"),
    };
    let first = seen.first().and_then(|&e| violation.edges.get(e));
    let through = match first.filter(|e| seen.len() == 1 && e.relation == Relation::WriteRead) {
        Some(wr) => format!("{t3} sees {t2} through {}", words.key(wr.key)),
        None if seen.len() == 1 => format!("{t3} comes after {t2} in its session"),
        None => format!("{t3} could see {t2}'s write of {key}"),
    };
    let goes = match violation.id.pattern {
        Pattern::NonMonoReadCO | Pattern::NonMonoReadCM => "yet goes back to",
        _ => "yet reads",
    };
    Some(format!("{through}, {goes} {older}."))
}

fn divergence_summary(words: &Words<'_>, violation: &Violation) -> Option<String> {
    let key = violation.key?;
    let mut readers: Vec<TransactionId> = Vec::new();
    let mut writer = None;
    for edge in &violation.edges {
        if edge.relation == Relation::WriteRead && edge.key == Some(key) {
            if writer.is_some_and(|w| w != edge.from) {
                return None;
            }
            writer = Some(edge.from);
            if !readers.contains(&edge.to) {
                readers.push(edge.to);
            }
        }
    }
    let names: Vec<String> = readers.iter().map(|&t| words.transaction(t)).collect();
    let version = match writer? {
        t if t.is_initial() => format!("the initial version of key {}", words.history.key_name(key)),
        t => format!("{}'s version of key {}", words.transaction(t), words.history.key_name(key)),
    };
    match names.as_slice() {
        [_, _, ..] => {
            Some(format!("{} read {version} and each overwrote it: only one update can survive.", Words::list(&names)))
        }
        [one] => {
            Some(format!("{one} read {version} and overwrote a newer one that it had not seen: that update is lost."))
        }
        [] => None,
    }
}

/// Patterns a to f and j: what the read returned and why it may not.
fn read_summary(words: &Words<'_>, violation: &Violation) -> Option<String> {
    let involved = involved_operations(violation);
    let reads = words.of_kind(&involved, OperationKind::Read);
    let read = *reads.first()?;
    let t = words.transaction(words.history.transaction_of(read));
    let what = words.content(read);
    let writes = words.of_kind(&involved, OperationKind::Write);
    let writer = |own: bool| {
        let reader = words.history.transaction_of(read);
        let matching = writes.iter().find(|&&w| (words.history.transaction_of(w) == reader) == own);
        matching.map(|&w| words.transaction(words.history.transaction_of(w)))
    };
    Some(match violation.id.pattern {
        Pattern::ThinAirRead => format!("{t} reads {what}, a value that nobody wrote."),
        Pattern::AbortedRead => match writer(false) {
            Some(writer) => format!("{t} reads {what}, which only {writer} wrote, and {writer} aborted."),
            None => format!("{t} reads {what}, which only an aborted transaction wrote."),
        },
        Pattern::FutureRead => format!("{t} reads {what}, which it writes only later."),
        Pattern::NotMyOwnWrite => format!("{t} reads {what} after having written the key itself."),
        Pattern::NotMyLastWrite => format!("{t} reads {what}, an own write that it had already overwritten."),
        Pattern::IntermediateRead => match writer(false) {
            Some(writer) => format!("{t} reads {what}, which {writer} had overwritten before it committed."),
            None => format!("{t} reads {what}, which its writer had overwritten before it committed."),
        },
        Pattern::NonRepeatableRead => {
            let of_key = |r: &&OperationId| Some(words.history.operation(**r).key) == violation.key;
            let reader = *violation.transactions.get(2)?;
            let own = |r: &&OperationId| words.history.transaction_of(**r) == reader;
            let contents: Vec<String> = reads.iter().filter(of_key).filter(own).map(|&r| words.content(r)).collect();
            let t = words.transaction(reader);
            format!("{t} reads {}: versions of different transactions.", contents.join(", then "))
        }
        _ => return None,
    })
}

/// "No execution that satisfies RA explains these 3 transactions…".
fn conclusion(example: &Counterexample) -> String {
    let level = example.level;
    let n = example.history.n_transactions();
    let these = if n == 1 { "this transaction".to_owned() } else { format!("these {n} transactions") };
    let size = match example.minimality {
        Minimality::Irreducible if n <= 1 => String::new(),
        Minimality::Irreducible => format!(" Without any one of them the rest satisfies {level}."),
        Minimality::IrreducibleForPattern => format!(
            " Without any one of them this pattern is gone, though a part of them still violates {level} in another way."
        ),
        Minimality::Reduced => " Time ran out before every one of them had been tried without.".to_owned(),
    };
    format!("Therefore no execution that satisfies {level} ({}) explains {these}.{size}", level.long_name())
}

/// Tells one violation step by step.
struct Teller<'a> {
    words: &'a Words<'a>,
    violation: &'a Violation,
    told: Vec<bool>,
    steps: Vec<Step>,
}

impl<'a> Teller<'a> {
    fn new(words: &'a Words<'a>, violation: &'a Violation) -> Teller<'a> {
        Teller { words, violation, told: vec![false; violation.edges.len()], steps: Vec::new() }
    }

    fn tell(mut self) -> Vec<Step> {
        self.given();
        if matches!(self.violation.proof, Proof::Read) {
            self.tell_read();
        } else {
            self.tell_proof();
        }
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
        self.steps.push(Step { role, text, edges, transactions, operations });
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
            clauses.push(format!("{then}{} write {}{outcome}", self.words.transaction(t), Words::list(&contents)));
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

    fn tell_read(&mut self) {
        let observed: Vec<EdgeIndex> = (0..self.violation.edges.len()).filter(|&e| !self.told[e]).collect();
        for edge in observed {
            self.tell_edge(edge, false);
        }
        let involved = involved_operations(self.violation);
        let reads = self.words.of_kind(&involved, OperationKind::Read);
        let words = self.words;
        let contents: Vec<String> = reads.iter().map(|&r| words.content(r)).collect();
        let Some(&read) = reads.first() else {
            let text = format!("{}: a contradiction", self.violation.id.pattern.row().meaning);
            return self.step(StepRole::Contradiction, text, Vec::new(), involved);
        };
        let t = words.transaction(words.history.transaction_of(read));
        if observed_nothing(self.violation) {
            let text = format!("{t} reads {}", Words::list(&contents));
            self.step(StepRole::Consequence, text, Vec::new(), reads.clone());
        }
        let text = match self.violation.id.pattern {
            Pattern::ThinAirRead => {
                let known = known_writes(words.history, read);
                format!(
                    "nobody wrote that value ({known}), and a read returns what some transaction wrote: a contradiction"
                )
            }
            Pattern::AbortedRead => {
                "its only writer aborted, and an aborted write is seen by nobody: a contradiction".to_owned()
            }
            Pattern::FutureRead => format!("{t} wrote that value only after this read: a contradiction"),
            Pattern::NotMyOwnWrite => {
                format!("{t} had written the key before, and a transaction sees its own last write: a contradiction")
            }
            Pattern::NotMyLastWrite => {
                format!(
                    "{t} had overwritten that value itself, and a transaction sees its own last write: a contradiction"
                )
            }
            Pattern::IntermediateRead => {
                "its writer overwrote that value before it committed, and others see only last writes: a contradiction"
                    .to_owned()
            }
            Pattern::NonRepeatableRead => {
                "these are versions of different transactions, and all reads of a key in one transaction must return \
                 one version: a contradiction"
                    .to_owned()
            }
            pattern => format!("{}: a contradiction", pattern.row().meaning),
        };
        self.step(StepRole::Contradiction, text, Vec::new(), involved);
    }

    /// Walks the proof tree with an explicit stack: common edges, then each case with what follows in it.
    fn tell_proof(&mut self) {
        enum Task<'p> {
            Prove(&'p Proof, Vec<EdgeIndex>, String),
            Case(EdgeIndex, &'p Proof, Vec<EdgeIndex>, String),
        }
        let violation = self.violation;
        let mut stack = vec![Task::Prove(&violation.proof, Vec::new(), String::new())];
        while let Some(task) = stack.pop() {
            match task {
                Task::Prove(Proof::Read, ..) => self.tell_read(),
                Task::Prove(Proof::Cycle(cycle), assumed, _) => {
                    self.tell_needed(cycle, &assumed);
                    self.contradiction(cycle, &assumed);
                }
                Task::Prove(Proof::Split { first, second, .. }, assumed, label) => {
                    stack.push(Task::Case(second.0, &second.1, assumed.clone(), format!("{label}2")));
                    stack.push(Task::Case(first.0, &first.1, assumed, format!("{label}1")));
                }
                Task::Case(edge, proof, mut assumed, label) => {
                    let text = match self.edge(edge) {
                        Some(e) => format!(
                            "case {}: suppose that {}'s version of {} is older than {}'s",
                            dotted(&label),
                            self.words.transaction(e.from),
                            self.words.key(e.key),
                            self.words.transaction(e.to)
                        ),
                        None => format!("case {}", dotted(&label)),
                    };
                    self.step(StepRole::Consequence, text, vec![edge], Vec::new());
                    if let Some(told) = self.told.get_mut(edge) {
                        *told = true;
                    }
                    assumed.push(edge);
                    stack.push(Task::Prove(proof, assumed, label));
                }
            }
        }
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
        for (e, edge) in edges.iter().enumerate() {
            if edge.relation != Relation::WriteRead || cycle.contains(&e) {
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
            let others = || edges.iter().enumerate().filter(|(o, _)| needed[*o]).map(|(_, other)| other);
            evidence[e] = others().any(names_it) && !others().any(rests_on_it);
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
            Reason::Assumed => return,
        };
        let mut operations: Vec<OperationId> = edge.from_operation.into_iter().chain(edge.to_operation).collect();
        if let Reason::Visible { read, .. } = edge.because {
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

    fn contradiction(&mut self, cycle: &[EdgeIndex], assumed: &[EdgeIndex]) {
        let words = self.words;
        let edges: Vec<&Edge> = cycle.iter().filter_map(|&e| self.edge(e)).collect();
        let inferred = |e: &&&Edge| !matches!(e.because, Reason::SessionOrder | Reason::Reads | Reason::Path { .. });
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
        let closing = if assumed.is_empty() { "a contradiction" } else { "a contradiction in this case" };
        self.step(StepRole::Contradiction, format!("{text}: {closing}"), cycle.to_vec(), Vec::new());
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

/// `12` → `1.2`.
fn dotted(label: &str) -> String {
    label.chars().map(String::from).collect::<Vec<_>>().join(".")
}
