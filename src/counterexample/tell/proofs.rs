//! Proofs, case by case.

use super::{Teller, closing};
use crate::checkers::{Proof, Supposed};
use crate::counterexample::StepRole;
use crate::history::{OperationId, Outcome, TransactionId};
use crate::relations::{Edge, EdgeIndex, Reason};

/// What is left to tell: a proof or a case, with the edges assumed and the label of the case it is in.
enum Task<'p> {
    Prove(&'p Proof, Vec<EdgeIndex>, String),
    Case(EdgeIndex, &'p Proof, Vec<EdgeIndex>, String),
    Writer(WriterCase, &'p Proof, Vec<EdgeIndex>, String),
    Append(AppendCase, &'p Proof, Vec<EdgeIndex>, String),
    Outcome(OutcomeCase, &'p Proof, Vec<EdgeIndex>, String),
    /// What follows after the first of so many combinations, in so many clauses.
    Others(usize, usize, String),
}

/// An append that may have made an element of a list.
struct AppendCase {
    read: OperationId,
    place: usize,
    append: OperationId,
    /// What had been told before the first case.
    told: Vec<Option<usize>>,
}

/// An outcome of a transaction.
struct OutcomeCase {
    transaction: TransactionId,
    committed: bool,
    /// What had been told before the first case.
    told: Vec<Option<usize>>,
}

/// A possible writer of a read.
struct WriterCase {
    read: OperationId,
    writer: TransactionId,
    /// What had been told before the first case.
    told: Vec<Option<usize>>,
}

impl Teller<'_> {
    /// Walks the proof tree with an explicit stack: common edges, then each case with what follows in it.
    pub(super) fn tell_proof(&mut self) {
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
                Task::Prove(Proof::Combinations { options, excluded, clauses }, assumed, label) => {
                    self.begin_combinations(options, excluded);
                    stack.push(Task::Others(excluded.len(), clauses.len(), label));
                    if let Some((_, proof)) = excluded.first() {
                        stack.push(Task::Prove(proof, assumed, "this".to_owned()));
                    }
                }
                Task::Others(n_combinations, n_clauses, label) => {
                    self.end_combinations(n_combinations, n_clauses, &label);
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
                Task::Prove(Proof::Appends { read, place, cases }, assumed, label) => {
                    self.tell_appends((*read, *place), cases, &label);
                    for (number, (append, proof)) in cases.iter().enumerate().rev() {
                        let told = self.told.clone();
                        let case = AppendCase { read: *read, place: *place, append: *append, told };
                        stack.push(Task::Append(case, proof, assumed.clone(), inner(&label, number + 1)));
                    }
                }
                Task::Prove(Proof::Outcomes { transaction, cases }, assumed, label) => {
                    let text = format!("{} committed or not", self.words.transaction(*transaction));
                    self.step(StepRole::Supposed, text, (Vec::new(), Vec::new()), Vec::new());
                    for (number, (committed, proof)) in cases.iter().enumerate().rev() {
                        let told = self.told.clone();
                        let case = OutcomeCase { transaction: *transaction, committed: *committed, told };
                        stack.push(Task::Outcome(case, proof, assumed.clone(), inner(&label, number + 1)));
                    }
                }
                Task::Outcome(case, proof, assumed, label) => {
                    self.told = case.told;
                    let what = self.words.outcome(case.transaction, case.committed);
                    let so = if case.committed {
                        "what it read must be explained, too"
                    } else {
                        "no transaction read from it"
                    };
                    let text = format!("case {label}: suppose that {what}, so that {so}");
                    self.step(StepRole::Supposed, text, (Vec::new(), Vec::new()), Vec::new());
                    stack.push(Task::Prove(proof, assumed, label));
                }
                Task::Append(case, proof, assumed, label) => {
                    self.tell_append(case, &label);
                    stack.push(Task::Prove(proof, assumed, label));
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

    /// It is open what many reads returned: the first combination is told, the others are counted.
    fn begin_combinations(&mut self, options: &[Supposed], excluded: &[(Vec<usize>, Proof)]) {
        let mut reads: Vec<OperationId> = options.iter().filter_map(|option| option.read()).collect();
        reads.sort_unstable();
        reads.dedup();
        if !reads.is_empty() {
            let n = counted(reads.len(), "read");
            let text = format!("several transactions may have written what {n} returned");
            self.step(StepRole::Supposed, text, (Vec::new(), Vec::new()), reads);
        }
        let outcomes = options.iter().filter(|option| matches!(option, Supposed::Outcome { committed: true, .. }));
        let outcomes = outcomes.count();
        if outcomes > 0 {
            let text = format!("whether {} committed is unknown", counted(outcomes, "transaction"));
            self.step(StepRole::Supposed, text, (Vec::new(), Vec::new()), Vec::new());
        }
        let first = excluded.first().map_or(&[][..], |(together, _)| together);
        for (place, option) in first.iter().filter_map(|&option| options.get(option)).enumerate() {
            let what = match *option {
                Supposed::Writer { read, writer } => {
                    format!("{} wrote the {}", self.words.transaction(writer), self.words.value_read(read))
                }
                Supposed::Append { read, place, append } => {
                    let (who, what) = (self.words.appender(append), self.words.element_read(read, place));
                    format!("{who} appended the {what}")
                }
                Supposed::Outcome { transaction, committed } => self.words.outcome(transaction, committed),
            };
            let also = if place > 0 { "and" } else { "one combination: suppose" };
            self.step(
                StepRole::Supposed,
                format!("{also} that {what}"),
                (Vec::new(), Vec::new()),
                option.read().into_iter().collect(),
            );
        }
    }

    fn end_combinations(&mut self, n_combinations: usize, n_clauses: usize, label: &str) {
        let others = match n_combinations {
            0 | 1 => "no other combination is left".to_owned(),
            2 => "1 other combination contradicts, too, and with it all that is left".to_owned(),
            n => format!("{} other combinations contradict, too, and together they exclude all", n - 1),
        };
        let steps = counted(n_clauses + 1, "step");
        let text = format!("{others} (in {steps}, which `isoscope verify` follows): {}", closing(label));
        self.step(StepRole::Contradiction, text, (Vec::new(), Vec::new()), Vec::new());
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
        self.step(StepRole::Supposed, text, (Vec::new(), Vec::new()), Vec::new());
        let Some(shown) = lemmas.first() else { return };
        let mut within = assumed.to_vec();
        for edge in self.assumptions(shown.iter().copied(), assumed) {
            let supposed = self.edge(edge).map(|e| self.older(e)).unwrap_or_default();
            let also = if within.len() > assumed.len() { "and" } else { "one combination: suppose" };
            self.step(StepRole::Supposed, format!("{also} that {supposed}"), (vec![edge], Vec::new()), Vec::new());
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
        self.step(StepRole::Contradiction, text, (Vec::new(), Vec::new()), Vec::new());
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
        self.step(StepRole::Supposed, text, (vec![edge], Vec::new()), Vec::new());
    }

    /// "T1, T2 or the initial state wrote the 1 that T3 read of key 4".
    fn tell_writers(&mut self, read: OperationId, cases: &[(TransactionId, Proof)]) {
        let names: Vec<String> = cases.iter().map(|(writer, _)| self.words.transaction(*writer)).collect();
        let text = format!("{} wrote the {}", either(&names), self.words.value_read(read));
        self.step(StepRole::Supposed, text, (Vec::new(), Vec::new()), vec![read]);
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
        self.step(StepRole::Supposed, text, (Vec::new(), Vec::new()), vec![read]);
    }

    /// "T1 or T2 appended the 1 in place 2 of the list that T3 read of key 4".
    fn tell_appends(&mut self, (read, place): (OperationId, usize), cases: &[(OperationId, Proof)], label: &str) {
        let element = self.words.element_read(read, place);
        if cases.is_empty() {
            let text = format!(
                "no append can have made the {element}: those of one transaction stand together in every list, each append \
                 is there once, and its own appends before a read are at the end of it: {}",
                closing(label)
            );
            return self.step(StepRole::Contradiction, text, (Vec::new(), Vec::new()), vec![read]);
        }
        let names: Vec<String> = cases.iter().map(|(append, _)| self.words.appender(*append)).collect();
        let text = format!("{} appended the {element}", either(&names));
        self.step(StepRole::Supposed, text, (Vec::new(), Vec::new()), vec![read]);
    }

    /// "case 1: suppose that T1 appended the 1 in place 2 of the list that T3 read of key 4". What other cases have told is
    /// told again.
    fn tell_append(&mut self, case: AppendCase, label: &str) {
        let AppendCase { read, place, append, told } = case;
        self.told = told;
        let history = self.words.history;
        let t = history.transaction_of(append);
        let committed = match history.outcome(t) == Outcome::Committed {
            true => String::new(),
            false => format!(", so that {} must have committed", self.words.transaction(t)),
        };
        let (who, element) = (self.words.appender(append), self.words.element_read(read, place));
        let text = format!("case {label}: suppose that {who} appended the {element}{committed}");
        self.step(StepRole::Supposed, text, (Vec::new(), Vec::new()), vec![read, append]);
    }

    /// Tells what `cycle` rests on and has not been told yet, premises first.
    fn tell_needed(&mut self, cycle: &[EdgeIndex], assumed: &[EdgeIndex]) {
        let needed = self.needed(cycle);
        for e in (0..needed.len()).filter(|&e| needed[e]) {
            if self.told[e].is_none() && !assumed.contains(&e) && !self.is_quoted_read(e, cycle) {
                self.tell_edge(e);
            }
        }
    }

    /// Whether an edge is a read whose conclusion quotes it: it has no step of its own.
    fn is_quoted_read(&self, e: EdgeIndex, cycle: &[EdgeIndex]) -> bool {
        !cycle.contains(&e) && self.edge(e).is_some_and(|edge| edge.because == Reason::Reads)
    }
}

/// The label of a case inside another: `1`, then `1.2`.
fn inner(label: &str, place: usize) -> String {
    if label.is_empty() { place.to_string() } else { format!("{label}.{place}") }
}

/// `T1, T2 or T3`.
fn either(names: &[String]) -> String {
    match names.split_last() {
        Some((last, init)) if !init.is_empty() => format!("{} or {last}", init.join(", ")),
        _ => names.concat(),
    }
}

/// `1 pair`, `3 pairs`.
fn counted(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}
