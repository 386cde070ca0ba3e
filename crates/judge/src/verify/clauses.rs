//! Violations shown by a log of clauses: many orders of two writers are open, and cycles exclude all combinations.

use super::argument::Argument;
use super::levels::Strength;
use super::propagation::Propagation;
use super::setting::Setting;
use super::spans::Span;
use crate::report::ReasonEntry;
use isoscope_model::history::TransactionId;
use rustc_hash::FxHashMap;

impl Argument<'_> {
    /// Whether no choice of the assumed edges is left, given those of the enclosing cases (`assumed`). Exactly one of
    /// the two orders of two writers of a key holds, whatever key the edge names: it is the order of their commits. A
    /// legal cycle excludes that all assumptions it rests on hold. Near linear in the log, except for the propagation.
    pub(super) fn leave_no_choice(
        &self,
        (lemmas, clauses): (&[Vec<usize>], &[Vec<usize>]),
        assumed: &[usize],
        setting: &Setting<'_>,
        (spans, strength): (&[Result<Span, String>], Strength),
    ) -> Result<(), String> {
        let mut grounds = Grounds::new(self, assumed)?;
        let mut forbidden = Vec::with_capacity(lemmas.len());
        let control = setting.resolution().initial().control();
        for (place, cycle) in lemmas.iter().enumerate() {
            control.check().map_err(|interrupt| interrupt.to_string())?;
            let in_lemma = |message: String| format!("cycle {place}: {message}");
            self.is_legal_cycle(cycle, spans, strength)
                .map_err(in_lemma)?;
            forbidden.push(grounds.of_cycle(cycle, setting).map_err(in_lemma)?);
        }
        let mut propagation = Propagation::new(grounds.n_variables());
        forbidden
            .iter()
            .for_each(|together| propagation.forbid(together));
        let clauses = clauses.iter().map(|clause| grounds.of_clause(clause));
        propagation.is_refuted_by(clauses, control)
    }
}

/// The orders of two writers that edges rest on, as literals.
struct Grounds<'a> {
    argument: &'a Argument<'a>,
    /// By edge: the literal it assumes, unless an enclosing case assumes it anyway.
    literal: Vec<Option<u32>>,
    n_variables: usize,
    /// By edge: whether it rests on a literal.
    rests: Vec<bool>,
    /// By edge without such: whether it holds in the enclosing case, and what it rests on.
    is_granted: Vec<bool>,
    /// By edge: the last cycle in which it occurred.
    met: Vec<u32>,
    n_cycles: u32,
}

impl<'a> Grounds<'a> {
    /// O(edges and premises).
    fn new(argument: &'a Argument<'a>, assumed: &[usize]) -> Result<Grounds<'a>, String> {
        let edges = &argument.violation.edges;
        let mut variables: FxHashMap<(TransactionId, TransactionId), u32> = FxHashMap::default();
        let mut literal = vec![None; edges.len()];
        let mut rests = vec![false; edges.len()];
        for (place, edge) in edges.iter().enumerate() {
            if matches!(edge.reason, ReasonEntry::Assumed) && !assumed.contains(&place) {
                let (from, to) = (
                    argument.transaction(edge.from)?,
                    argument.transaction(edge.to)?,
                );
                let next = variables.len() as u32;
                let variable = *variables
                    .entry((from.min(to), from.max(to)))
                    .or_insert(next);
                literal[place] = Some(2 * variable + u32::from(from > to));
            }
            // Premises come before what rests on them.
            let inherited = edge
                .reason
                .premises()
                .iter()
                .any(|&premise| rests.get(premise) == Some(&true));
            rests[place] = literal[place].is_some() || inherited;
        }
        let (is_granted, met) = (vec![false; edges.len()], vec![0; edges.len()]);
        Ok(Grounds {
            argument,
            literal,
            n_variables: variables.len(),
            rests,
            is_granted,
            met,
            n_cycles: 0,
        })
    }

    fn n_variables(&self) -> usize {
        self.n_variables
    }

    /// The literals that a cycle rests on; all its edges must hold in the enclosing case.
    fn of_cycle(&mut self, cycle: &[usize], setting: &Setting<'_>) -> Result<Vec<u32>, String> {
        self.n_cycles += 1;
        let mut literals = Vec::new();
        let mut stack = cycle.to_vec();
        while let Some(e) = stack.pop() {
            let edge = self.argument.edge(e)?;
            let is_new = if self.rests[e] {
                std::mem::replace(&mut self.met[e], self.n_cycles) != self.n_cycles
            } else {
                !std::mem::replace(&mut self.is_granted[e], true)
            };
            if is_new {
                self.argument.holds(e, setting)?;
                literals.extend(self.literal[e]);
                stack.extend(edge.reason.premises());
            }
        }
        Ok(literals)
    }

    /// The literals of a list of assumed edges.
    fn of_clause(&self, clause: &[usize]) -> Result<Vec<u32>, String> {
        let literal = |&e: &usize| match self.literal.get(e) {
            Some(Some(literal)) => Ok(*literal),
            Some(None) => Err(format!("edge {e} is no assumption of its own")),
            None => Err(format!("there is no edge {e}")),
        };
        clause.iter().map(literal).collect()
    }
}
