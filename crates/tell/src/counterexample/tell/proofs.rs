//! Proofs, case by case.

use super::Teller;
use crate::counterexample::late_writers::{self, Late};
use crate::counterexample::overlap::{Overlap, overlap};
use crate::counterexample::rests_on::closure;
use crate::counterexample::statement::{CaseLabel, Statement, Step, StepRole};
use crate::counterexample::writes_of_value;
use isoscope_check::checkers::{Case, Proof, Question, Supposed};
use isoscope_model::history::{OperationId, TransactionId};
use isoscope_model::relations::{EdgeIndex, Reason};

/// What is left to explain, with the edges assumed and the label of the enclosing case.
struct Task<'p> {
    what: What<'p>,
    assumed: Vec<EdgeIndex>,
    label: CaseLabel,
}

enum What<'p> {
    Prove(&'p Proof),
    /// What follows if this edge is assumed.
    Order(EdgeIndex, &'p Proof),
    /// What follows from this answer to an open question, after what had been stated before the first answer.
    Answer(Supposed, Vec<Option<usize>>, &'p Proof),
    /// What follows after the first of this many combinations, in this many clauses.
    Others(usize, usize),
    /// What follows from all cases.
    Closed,
}

impl Teller<'_> {
    /// Walks the proof tree with an explicit stack: common edges, then each case with what follows in it.
    pub(super) fn tell_proof(&mut self) {
        // Before the cases what all of them share.
        let cycles = |proof: &Proof| match proof {
            Proof::Cycle(cycle) => cycle.clone(),
            _ => Vec::new(),
        };
        let cycles: Vec<EdgeIndex> = self
            .violation
            .proof
            .parts()
            .into_iter()
            .flat_map(cycles)
            .collect();
        if !cycles.is_empty() && !self.level.is_of_reads() {
            self.rule(&cycles);
        }
        let mut stack = vec![Task {
            what: What::Prove(&self.violation.proof),
            assumed: Vec::new(),
            label: CaseLabel::default(),
        }];
        while let Some(Task {
            what,
            mut assumed,
            label,
        }) = stack.pop()
        {
            self.case = label;
            let label = self.case.clone();
            match what {
                What::Prove(proof) => self.prove(proof, &assumed, &label, &mut stack),
                What::Others(n, n_clauses) => {
                    self.say(
                        StepRole::Contradiction,
                        Statement::OtherCombinations { n, n_clauses },
                        Vec::new(),
                    );
                }
                What::Closed => self.close_cases(),
                What::Order(edge, proof) => {
                    self.suppose_order(edge, true);
                    assumed.push(edge);
                    stack.push(Task {
                        what: What::Prove(proof),
                        assumed,
                        label,
                    });
                }
                What::Answer(supposed, stated_in, proof) => {
                    self.stated_in = stated_in;
                    self.tell_answer(supposed);
                    stack.push(Task {
                        what: What::Prove(proof),
                        assumed,
                        label,
                    });
                }
            }
        }
    }

    fn prove<'p>(
        &mut self,
        proof: &'p Proof,
        assumed: &[EdgeIndex],
        label: &CaseLabel,
        stack: &mut Vec<Task<'p>>,
    ) {
        let task = |what, label| Task {
            what,
            assumed: assumed.to_vec(),
            label,
        };
        let mut answers: Vec<(Supposed, &'p Proof)> = Vec::new();
        match proof {
            Proof::Reads(None) => self.tell_read(),
            Proof::Reads(Some(wrong)) => self.tell_reads(wrong.pattern, &wrong.reads),
            Proof::Cycle(_) if self.level.is_of_reads() => self.tell_read(),
            Proof::Cycle(cycle) => {
                self.rule(cycle);
                match overlap(&self.violation.edges, cycle, self.level) {
                    Some(overlap) => self.tell_overlap(&overlap, assumed),
                    None => {
                        self.tell_needed(cycle, assumed);
                        self.contradiction(cycle);
                    }
                }
            }
            Proof::Log {
                options,
                excluded,
                clauses,
            } => {
                if let Some(cycles) = proof.cycles_of_orders() {
                    return self.tell_clauses(&cycles, clauses.len(), assumed);
                }
                self.begin_combinations(options);
                let one = label.inner(1);
                stack.push(task(
                    What::Others(excluded.len(), clauses.len()),
                    label.clone(),
                ));
                if let Some((together, proof)) = proof.first_case() {
                    self.case = one.clone();
                    self.tell_combination(&together);
                    stack.push(task(What::Prove(proof), one));
                }
            }
            Proof::Cases {
                question: Question::Order { .. },
                cases,
            } => {
                self.rule(&[]);
                stack.push(task(What::Closed, label.clone()));
                for (number, (answer, proof)) in cases.iter().enumerate().rev() {
                    let inside = label.inner(number + 1);
                    stack.extend(
                        answer
                            .order()
                            .map(|edge| task(What::Order(edge, proof), inside)),
                    );
                }
            }
            Proof::Cases {
                question: Question::Append { read, place },
                cases,
            } if cases.is_empty() => {
                let says = Statement::NoAppend {
                    read: *read,
                    place: *place,
                };
                self.say(StepRole::Contradiction, says, vec![*read]);
            }
            Proof::Cases { question, cases } => {
                self.tell_question(*question, proof);
                let (cases, late) = late_writers::divided(&self.violation.edges, *question, cases);
                self.tell_late(&late);
                answers = cases
                    .into_iter()
                    .map(|(answer, proof)| (*answer, proof))
                    .collect();
            }
        }
        let has_late = matches!(
            self.steps.last(),
            Some(Step {
                says: Statement::NotWritten { .. },
                ..
            })
        );
        if answers.len() > 1 || has_late {
            stack.push(task(What::Closed, label.clone()));
        }
        for (place, (supposed, proof)) in answers.into_iter().enumerate().rev() {
            stack.push(task(
                What::Answer(supposed, self.stated_in.clone(), proof),
                label.inner(place + 1),
            ));
        }
    }

    /// What is open, about a part of the proof.
    fn tell_question(&mut self, question: Question, part: &Proof) {
        let (says, operations) = match question {
            // Its two cases speak for themselves.
            Question::Order { .. } => return,
            Question::Writer { read } => {
                let writers: Vec<TransactionId> = part.writers().collect();
                let mut operations = self.writes_read_by(read, &writers);
                operations.push(read);
                (Statement::OpenWriter { read, writers }, operations)
            }
            Question::Append { read, place } => {
                let appends = part.answers().filter_map(|answer| match answer {
                    Supposed::Append { append, .. } => Some(append),
                    _ => None,
                });
                let appends = appends.collect();
                let says = Statement::OpenAppend {
                    read,
                    place,
                    appends,
                };
                (says, vec![read])
            }
            Question::Outcome { transaction } => {
                (Statement::OpenOutcome { transaction }, Vec::new())
            }
        };
        self.say(StepRole::Supposed, says, operations);
    }

    /// The writes of these transactions that may have been read; none where they are too many to give their places.
    fn writes_read_by(&self, read: OperationId, writers: &[TransactionId]) -> Vec<OperationId> {
        const MOST: usize = 4;
        if writers.len() > MOST {
            Vec::new()
        } else {
            writes_of_value(self.words.history, read, writers)
        }
    }

    /// That these possible writers began too late.
    fn tell_late(&mut self, late: &[(&Case, Late)]) {
        if !late.is_empty() {
            let says = Statement::NotWritten {
                by: late
                    .iter()
                    .filter_map(|((answer, _), _)| match answer {
                        Supposed::Writer { writer, .. } => Some(*writer),
                        _ => None,
                    })
                    .collect(),
            };
            let reads = late.iter().map(|(_, late)| late.reads).collect();
            let clocks = late.iter().map(|(_, late)| late.clock).collect();
            self.step(StepRole::Concluded, says, (reads, clocks), Vec::new());
            self.by_rule();
        }
    }

    /// "Suppose that T1 wrote the 1 that T3 read of key 4".
    fn tell_answer(&mut self, supposed: Supposed) {
        let operations = match supposed {
            Supposed::Writer { read, writer } => {
                let mut operations = self.writes_read_by(read, &[writer]);
                operations.push(read);
                operations
            }
            Supposed::Append { read, append, .. } => vec![read, append],
            Supposed::Order(_) | Supposed::Outcome { .. } => Vec::new(),
        };
        let says = Statement::Suppose {
            supposed,
            is_first: true,
            with_consequence: true,
        };
        self.say(StepRole::Supposed, says, operations);
    }

    /// The source of many reads is open: the first combination is explained, the others are counted.
    fn begin_combinations(&mut self, options: &[Supposed]) {
        let mut reads: Vec<OperationId> =
            options.iter().filter_map(|option| option.read()).collect();
        reads.sort_unstable();
        reads.dedup();
        if !reads.is_empty() {
            self.say(
                StepRole::Supposed,
                Statement::OpenReads {
                    n_reads: reads.len(),
                },
                reads,
            );
        }
        let outcomes = options.iter().filter(|option| {
            matches!(
                option,
                Supposed::Outcome {
                    committed: true,
                    ..
                }
            )
        });
        let n_transactions = outcomes.count();
        if n_transactions > 0 {
            self.say(
                StepRole::Supposed,
                Statement::OpenOutcomes { n_transactions },
                Vec::new(),
            );
        }
    }

    /// That all cases inside the current one are impossible.
    fn close_cases(&mut self) {
        let ends = |place: &usize| {
            let step = &self.steps[*place];
            step.role == StepRole::Contradiction && step.case.divides(&self.case)
        };
        let opens = |place: &usize| {
            let step = &self.steps[*place];
            let is_open = matches!(
                step.says,
                Statement::NotWritten { .. }
                    | Statement::OpenWriter { .. }
                    | Statement::OpenAppend { .. }
            );
            step.case == self.case && is_open
        };
        let is_open = (0..self.steps.len()).any(|place| opens(&place));
        let premises = (0..self.steps.len())
            .filter(|place| ends(place) || opens(place))
            .collect();
        self.say(StepRole::Contradiction, Statement::NoCaseLeft, Vec::new());
        if let Some(step) = self.steps.last_mut() {
            step.premises = premises;
        }
        if !is_open {
            // That one of two writers was first.
            self.by_rule();
        }
    }

    /// What is supposed together.
    fn tell_combination(&mut self, together: &[Supposed]) {
        for (place, &supposed) in together.iter().enumerate() {
            let says = Statement::Suppose {
                supposed,
                is_first: place == 0,
                with_consequence: false,
            };
            self.say(
                StepRole::Supposed,
                says,
                supposed.read().into_iter().collect(),
            );
        }
    }

    /// Supposes an order of two writers.
    fn suppose_order(&mut self, edge: EdgeIndex, is_first: bool) {
        let says = Statement::SupposeOrder { edge, is_first };
        self.step(
            StepRole::Supposed,
            says,
            (vec![edge], Vec::new()),
            Vec::new(),
        );
    }

    /// Many orders of two writers are open, each cycle excludes some of their combinations, together all: the first
    /// cycle is explained, the others are counted.
    fn tell_clauses(&mut self, lemmas: &[&[EdgeIndex]], n_clauses: usize, assumed: &[EdgeIndex]) {
        let open = self.assumptions(lemmas.iter().copied().flatten().copied(), assumed);
        let mut pairs: Vec<(TransactionId, TransactionId)> = open
            .iter()
            .filter_map(|&e| self.edge(e))
            .map(|e| (e.from.min(e.to), e.from.max(e.to)))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        self.rule(&[]);
        self.say(
            StepRole::Supposed,
            Statement::OpenOrders {
                n_pairs: pairs.len(),
            },
            Vec::new(),
        );
        let Some(&shown) = lemmas.first() else {
            return;
        };
        let one = self.case.inner(1);
        let outside = std::mem::replace(&mut self.case, one);
        let mut within = assumed.to_vec();
        for edge in self.assumptions(shown.iter().copied(), assumed) {
            self.suppose_order(edge, within.len() == assumed.len());
            within.push(edge);
        }
        self.tell_needed(shown, &within);
        self.contradiction(shown);
        self.case = outside;
        self.say(
            StepRole::Contradiction,
            Statement::OtherCycles {
                n: lemmas.len(),
                n_clauses,
            },
            Vec::new(),
        );
    }

    /// The assumed edges that these edges rest on, except those of the enclosing cases.
    fn assumptions(
        &self,
        edges: impl Iterator<Item = EdgeIndex>,
        assumed: &[EdgeIndex],
    ) -> Vec<EdgeIndex> {
        let needed = closure(&self.violation.edges, edges, false).into_iter();
        let is_assumed = |e: EdgeIndex| {
            self.edge(e)
                .is_some_and(|edge| edge.because == Reason::Assumed)
        };
        needed
            .filter(|e| !assumed.contains(e) && is_assumed(*e))
            .collect()
    }

    /// That two writers of a key each started before the other committed, and that the level forbids that.
    fn tell_overlap(&mut self, overlap: &Overlap, assumed: &[EdgeIndex]) {
        self.tell_needed(&overlap.started, assumed);
        let numbers = overlap.started.iter().filter_map(|&e| self.number(e));
        let says = Statement::Overlap {
            transactions: overlap.transactions,
            key: overlap.key,
            because: numbers.collect(),
        };
        self.step(
            StepRole::Contradiction,
            says,
            (overlap.started.clone(), overlap.started.clone()),
            overlap.writes.clone(),
        );
        self.by_rule();
    }

    /// States what `cycle` rests on and has not been stated yet, in the order of the cycle, premises first.
    fn tell_needed(&mut self, cycle: &[EdgeIndex], assumed: &[EdgeIndex]) {
        for &edge in cycle {
            for e in self.needed(&[edge]) {
                if self.stated_in[e].is_none()
                    && !assumed.contains(&e)
                    && !self.is_quoted_read(e, cycle)
                {
                    self.tell_edge(e);
                }
            }
        }
    }

    /// Whether an edge is a read that its conclusion quotes: it has no separate step.
    fn is_quoted_read(&self, e: EdgeIndex, cycle: &[EdgeIndex]) -> bool {
        !cycle.contains(&e)
            && self
                .edge(e)
                .is_some_and(|edge| edge.because == Reason::Reads)
    }
}
