//! What is open, and what may be supposed of it: in the cases of a question, and in contradictory combinations of answers
//! to many questions, one of which always holds.

use super::argument::Argument;
use super::basis::Basis;
use super::elements::{self, Apart};
use super::propagation::Propagation;
use super::resolution::Resolution;
use super::setting::Setting;
use crate::report::{
    AppendEntry, CombinationEntry, EdgeEntry, OperationEntry, OptionEntry, OutcomeEntry,
    ProofEntry, ReasonEntry, WriterEntry,
};
use isoscope_model::control::Control;
use isoscope_model::history::{ListRule, OperationId, OperationKind, TransactionId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What may be supposed, in ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Supposed {
    Writer(OperationId, TransactionId),
    /// The read of a list, a place in it, and the append that made the element there.
    Append(OperationId, usize, OperationId),
    /// A transaction of unknown outcome, and whether it committed.
    Outcome(TransactionId, bool),
}

/// What is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// The writer of what a read returned.
    Writer(OperationId),
    /// The append that made the element at a place of a list.
    Place(OperationId, usize),
    /// Whether a transaction committed.
    Outcome(TransactionId),
}

/// The cases of a question, with what follows in each.
pub(super) type Cases<'p> = Vec<(Supposed, &'p ProofEntry)>;

/// The case in which some suppositions hold.
pub(super) enum Case<'a> {
    /// Writers are known.
    Of(Setting<'a>),
    /// Elements are distinguished, or outcomes.
    Apart(Box<Apart>),
    /// There is none.
    Impossible,
}

/// Reads and places with everything that may be supposed about them.
pub(super) struct Questions {
    options: Vec<Supposed>,
    /// By question: its options, as places in `options`.
    of_question: Vec<Vec<usize>>,
}

impl Questions {
    /// Whether one of the combinations always holds, given that one option of each question does. Near linear, except
    /// for the propagation.
    pub(super) fn leave_none(
        &self,
        (excluded, clauses): (&[CombinationEntry], &[Vec<i64>]),
        control: &Control,
    ) -> Result<(), String> {
        let mut propagation = Propagation::new(self.options.len());
        for options in &self.of_question {
            propagation.forbid(
                &options
                    .iter()
                    .map(|&option| 2 * option as u32 + 1)
                    .collect::<Vec<_>>(),
            );
        }
        for combination in excluded {
            let together = combination
                .options
                .iter()
                .map(|&number| self.literal(number as i64));
            propagation.forbid(&together.collect::<Result<Vec<_>, _>>()?);
        }
        let clauses = clauses.iter().map(|clause| {
            let literals = clause.iter().map(|&number| self.literal(number));
            literals.collect()
        });
        propagation.is_refuted_by(clauses, control)
    }

    /// The literal of a number from 1, negative where the option does not hold.
    fn literal(&self, number: i64) -> Result<u32, String> {
        match number.unsigned_abs() as usize {
            0 => Err("there is no option 0".to_owned()),
            option if option > self.options.len() => Err(format!("there is no option {option}")),
            option => Ok(2 * (option as u32 - 1) + u32::from(number < 0)),
        }
    }

    /// What a combination supposes, in its order.
    pub(super) fn options_of(
        &self,
        combination: &CombinationEntry,
    ) -> Result<Vec<Supposed>, String> {
        let option = |&number: &usize| {
            number
                .checked_sub(1)
                .and_then(|place| self.options.get(place))
                .copied()
        };
        let options: Option<Vec<Supposed>> = combination.options.iter().map(option).collect();
        options.ok_or_else(|| "a combination names an option that is not there".to_owned())
    }
}

impl Argument<'_> {
    /// The question of a proof by cases, unless it is about an order, and its cases. There must be one for each answer, and
    /// no other.
    pub(super) fn cases<'p>(
        &self,
        proof: &'p ProofEntry,
        setting: &Setting<'_>,
        basis: Basis,
    ) -> Result<Option<Cases<'p>>, String> {
        let (question, cases): (Question, Result<Cases<'p>, String>) = match proof {
            ProofEntry::Writers { read, cases } => {
                let read = self.entry(read)?;
                let case = |case: &'p WriterEntry| {
                    let writer = self.transaction(case.writer)?;
                    Ok((Supposed::Writer(read, writer), &case.proof))
                };
                (Question::Writer(read), cases.iter().map(case).collect())
            }
            ProofEntry::Appends { read, place, cases } => {
                let read = self.entry(read)?;
                let case = |case: &'p AppendEntry| {
                    let append = self.entry(&case.append)?;
                    Ok((Supposed::Append(read, *place, append), &case.proof))
                };
                (
                    Question::Place(read, *place),
                    cases.iter().map(case).collect(),
                )
            }
            ProofEntry::Outcomes { transaction, cases } => {
                let t = self.transaction(*transaction)?;
                let case = |case: &'p OutcomeEntry| {
                    Ok((Supposed::Outcome(t, case.committed), &case.proof))
                };
                (Question::Outcome(t), cases.iter().map(case).collect())
            }
            _ => return Ok(None),
        };
        let cases = cases?;
        // About a reader that need not have committed nothing need hold, not even one of no answers.
        if let Question::Writer(read) | Question::Place(read, _) = question
            && !setting.is_member(self.history.transaction_of(read))
        {
            let text = self.history.operation_text(read);
            return Err(format!("the transaction of {text} need not take part"));
        }
        let answers = match question {
            // A case also for writers that violate read committed by themselves.
            Question::Writer(read) => self.writers_of(read, Basis::AllWriters, setting)?,
            _ => self.answers(question, setting, basis)?,
        };
        if let Some(missing) = answers
            .iter()
            .find(|answer| cases.iter().all(|(given, _)| given != *answer))
        {
            return Err(format!("no case for {}", self.text(*missing)));
        }
        let name = self.name(question);
        require!(
            cases.len() == answers.len(),
            "the cases of {name} are not its possible answers"
        )?;
        Ok(Some(cases))
    }

    /// What a question is about, in words.
    fn name(&self, question: Question) -> String {
        match question {
            Question::Writer(read) => self.history.operation_text(read),
            Question::Place(read, place) => {
                format!("place {place} of {}", self.history.operation_text(read))
            }
            Question::Outcome(t) => format!("the outcome of {}", self.history.transaction_name(t)),
        }
    }

    /// A supposition in words.
    fn text(&self, supposed: Supposed) -> String {
        let text = |o: OperationId| self.history.operation_text(o);
        let name = |t: TransactionId| self.history.transaction_name(t);
        match supposed {
            Supposed::Writer(read, writer) => {
                format!("{} having written {}", name(writer), text(read))
            }
            Supposed::Append(read, place, append) => {
                format!("{} in place {place} of {}", text(append), text(read))
            }
            Supposed::Outcome(t, true) => format!("{} having committed", name(t)),
            Supposed::Outcome(t, false) => format!("{} not having committed", name(t)),
        }
    }

    /// The reads, places and outcomes that options are about. All possible suppositions about each must be there: every
    /// writer of a read (above cut isolation every one that does not violate read committed by itself; a reader from
    /// such a one does not participate), every append that may have made a place, both outcomes of a transaction.
    pub(super) fn questions(
        &self,
        options: &[OptionEntry],
        setting: &Setting<'_>,
        basis: Basis,
    ) -> Result<Questions, String> {
        let mut ids = Vec::with_capacity(options.len());
        let mut of_question: FxHashMap<Question, Vec<usize>> = FxHashMap::default();
        for (number, option) in options.iter().enumerate() {
            let (question, supposed) = self.option(option)?;
            ids.push(supposed);
            of_question.entry(question).or_default().push(number);
        }
        for (&question, places) in &of_question {
            let given: FxHashSet<Supposed> = places.iter().map(|&option| ids[option]).collect();
            let all = self.answers(question, setting, basis)?;
            if given.len() != places.len() || !all.iter().all(|answer| given.contains(answer)) {
                return Err(format!(
                    "the options of {} are not all that may be supposed, each once",
                    self.name(question)
                ));
            }
        }
        Ok(Questions {
            options: ids,
            of_question: of_question.into_values().collect(),
        })
    }

    /// An option in ids, and the question that it answers.
    fn option(&self, option: &OptionEntry) -> Result<(Question, Supposed), String> {
        Ok(match option {
            OptionEntry::Writer { read, writer } => {
                let read = self.entry(read)?;
                let writer = self.transaction(*writer)?;
                (Question::Writer(read), Supposed::Writer(read, writer))
            }
            OptionEntry::Append {
                read,
                place,
                append,
            } => {
                let (read, append) = (self.entry(read)?, self.entry(append)?);
                (
                    Question::Place(read, *place),
                    Supposed::Append(read, *place, append),
                )
            }
            OptionEntry::Outcome {
                transaction,
                committed,
            } => {
                let t = self.transaction(*transaction)?;
                (Question::Outcome(t), Supposed::Outcome(t, *committed))
            }
        })
    }

    /// Everything that must be supposed about a read, a place of a list or a transaction, each once.
    fn answers(
        &self,
        question: Question,
        setting: &Setting<'_>,
        basis: Basis,
    ) -> Result<Vec<Supposed>, String> {
        match question {
            Question::Writer(read) => self.writers_of(read, basis, setting),
            Question::Place(read, place) => {
                self.may_be_distinguished(setting, basis)?;
                let makers = elements::makers(self.history, self.resolution, read, place)?;
                let supposed = |append| Supposed::Append(read, place, append);
                Ok(makers.into_iter().map(supposed).collect())
            }
            Question::Outcome(t) => {
                self.may_be_distinguished(setting, basis)?;
                Ok([false, true]
                    .map(|committed| Supposed::Outcome(t, committed))
                    .to_vec())
            }
        }
    }

    /// The writers that must be supposed for a read; at least one.
    fn writers_of(
        &self,
        read: OperationId,
        basis: Basis,
        setting: &Setting<'_>,
    ) -> Result<Vec<Supposed>, String> {
        let is_read = self.history.operation(read).kind == OperationKind::Read;
        let writers = if is_read && !setting.is_fixed(read) {
            self.resolution.writers_on(read, basis)
        } else {
            Vec::new()
        };
        let text = self.history.operation_text(read);
        require!(!writers.is_empty(), "{text} has no writers to distinguish")?;
        Ok(writers
            .into_iter()
            .map(|writer| Supposed::Writer(read, writer))
            .collect())
    }

    /// Whether elements and outcomes may be distinguished in a case.
    fn may_be_distinguished(&self, setting: &Setting<'_>, basis: Basis) -> Result<(), String> {
        if basis == Basis::AllWriters {
            return Err("at CI every append of an element counts".to_owned());
        }
        if setting.has_cases() || self.history.rules().lists != ListRule::Exact {
            Err("what appended the elements of lists cannot be distinguished here".to_owned())
        } else {
            Ok(())
        }
    }

    /// The case in which these suppositions hold, applied one after the other. Each reader must participate because of
    /// the earlier ones: for a reader that need not participate nothing need be supposed.
    pub(super) fn supposed<'s>(
        &self,
        options: &[Supposed],
        setting: &Setting<'s>,
    ) -> Result<Case<'s>, String> {
        let mut inner = setting.clone();
        let mut apart: Option<Apart> = None;
        for &option in options {
            let history = apart.as_ref().map_or(self.history, |apart| &apart.history);
            let initial = self.resolution.shared_initial();
            let own = apart
                .as_ref()
                .map(|apart| Resolution::whole(&apart.history, initial.clone()));
            if let Supposed::Writer(read, _) | Supposed::Append(read, ..) = option {
                let reader = history.transaction_of(read);
                let takes_part = match &own {
                    Some(resolution) => resolution.is_member(reader),
                    None => inner.is_member(reader),
                };
                if !takes_part {
                    return Err(format!(
                        "the transaction of {} need not take part",
                        history.operation_text(read)
                    ));
                }
            }
            match option {
                Supposed::Writer(read, writer) if apart.is_none() && !inner.is_fixed(read) => {
                    inner = inner.with(read, writer);
                }
                Supposed::Append(read, place, append) if !inner.has_cases() => {
                    let makers = elements::makers(
                        history,
                        own.as_ref().unwrap_or(self.resolution),
                        read,
                        place,
                    )?;
                    // Distinguished by the earlier suppositions, it cannot have made the element any more.
                    if !makers.contains(&append) {
                        return Ok(Case::Impossible);
                    }
                    let next = elements::with(history, &initial, (read, place), append);
                    drop(own);
                    apart = Some(next);
                }
                Supposed::Outcome(t, committed) if !inner.has_cases() => {
                    let next = elements::with_outcome(history, &initial, t, committed)?;
                    drop(own);
                    apart = Some(next);
                }
                _ => {
                    return Err(
                        "it supposes two things of one read, or of reads and lists at once"
                            .to_owned(),
                    );
                }
            }
            if apart.as_ref().is_some_and(|apart| apart.is_impossible) {
                break;
            }
        }
        Ok(match apart {
            Some(apart) => Case::Apart(Box::new(apart)),
            None => Case::Of(inner),
        })
    }

    /// Counts the edges that a proof mentions, or that give the writers of its reads, as shown: its case is impossible,
    /// so everything holds in it.
    pub(super) fn leave_out(&self, proof: &ProofEntry, open: &mut Vec<usize>) {
        let mut edges: Vec<usize> = Vec::new();
        let mut stack = vec![proof];
        while let Some(proof) = stack.pop() {
            match proof {
                ProofEntry::Reads { reads, .. } => {
                    let shows = |edge: &EdgeEntry| {
                        let is = |read: &OperationEntry| {
                            (read.transaction, Some(read.index)) == (edge.to, edge.to_operation)
                        };
                        matches!(edge.reason, ReasonEntry::Reads) && reads.iter().any(is)
                    };
                    edges.extend(
                        (0..self.violation.edges.len())
                            .filter(|&edge| shows(&self.violation.edges[edge])),
                    );
                }
                ProofEntry::Cycle { edges: cycle } => edges.extend(cycle),
                ProofEntry::Clauses { lemmas, clauses } => {
                    edges.extend(lemmas.iter().chain(clauses).flatten())
                }
                ProofEntry::Split { first, second, .. } => {
                    edges.extend([first.assume, second.assume]);
                    stack.extend([&*first.proof, &*second.proof]);
                }
                _ => stack.extend(proof.cases()),
            }
        }
        let mut mentioned = vec![false; self.violation.edges.len()];
        while let Some(edge) = edges.pop() {
            if mentioned
                .get_mut(edge)
                .is_some_and(|known| !std::mem::replace(known, true))
            {
                edges.extend(self.violation.edges[edge].reason.premises());
            }
        }
        open.retain(|&edge| !mentioned[edge]);
    }
}
