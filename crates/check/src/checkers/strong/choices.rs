//! Strong levels if reads have several possible writers, or if such reads determine which transactions committed.
//!
//! A transaction of unknown outcome counts as committed if a committed transaction read from it. If only ambiguous
//! reads may have, it is open whether it does. Every level is closed under leaving out transactions that no other
//! transaction reads from, together with the ambiguous reads that they may explain: so first the level is decided for
//! the transactions that certainly committed, without the reads that an open one may explain. If that is violated, it
//! stays so whichever transactions join. If an order satisfies it, and the reads left out find one of their versions at
//! their positions, no transaction need join. Otherwise a case split follows on a read that does not: one of its open
//! writers committed, or did not.

use super::known::{Events, Known, Vertex};
use super::open_reads::OpenReads;
use super::saturation::{Saturated, saturate};
use super::search::{self, Effort, Searched};
use super::{divergence, ordered};
use crate::checkers::facts::Facts;
use crate::checkers::{Level, Order, read_consistency};
use isoscope_model::control::{Control, Interrupt, Stage};
use isoscope_model::history::{History, TransactionId};
use isoscope_model::relations::{Choice, Index, NONE, Node, Resolution, Source, Standing};

/// The answer if reads have several possible writers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checkers) enum OpenDecision {
    /// With these writers of the ambiguous reads, by an order of the nodes of the index of that choice.
    Satisfied(Order, Choice),
    /// Whatever the writers are.
    Violated,
}

/// Transactions of unknown outcome that are supposed to have committed, or not.
#[derive(Clone, Debug, Default)]
struct Members {
    joined: Vec<TransactionId>,
    left_out: Vec<TransactionId>,
}

/// What was found for the committed transactions.
enum Among {
    Satisfied(Choice, Vec<Vertex>),
    Violated,
    /// It depends on whether this one committed.
    DependsOn(TransactionId),
    GaveUp,
}

/// Decides PC, SI, SER or SSER for a history with ambiguous reads: satisfied if one choice of their writers satisfies
/// the level. `index` is that of the history with those reads left out.
///
/// First the candidates that the known edges exclude are removed, and reads with one candidate left become ordinary
/// ones, until nothing changes; the search decides the rest together with the order. `None` if the effort was not
/// enough.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first; the time is exponential in the worst case.
pub(in crate::checkers) fn decide_open(
    history: &History,
    resolution: &Resolution,
    index: &Index,
    level: Level,
    effort: Effort,
    control: &Control,
) -> Result<Option<OpenDecision>, Interrupt> {
    let level = level.or_serial();
    if !OpenReads::are_few(resolution, control)? {
        return Ok(None);
    }
    let question = ChoiceSearch {
        history,
        resolution,
        index,
        level,
        effort,
        control,
    };
    let mut cases = vec![Members::default()];
    let mut n_examined = 0;
    while let Some(members) = cases.pop() {
        n_examined += 1;
        let (found, among) = question.among(&members)?;
        match found {
            Among::Violated => {}
            Among::Satisfied(choice, order) => {
                return question
                    .without_idle(choice, &order, among.as_ref().unwrap_or(index))
                    .map(Some);
            }
            Among::DependsOn(_) if n_examined >= effort.most(1) => return Ok(None),
            Among::GaveUp => return Ok(None),
            Among::DependsOn(t) => {
                let Members { joined, left_out } = &members;
                cases.push(Members {
                    joined: joined.clone(),
                    left_out: with(left_out, t),
                });
                cases.push(Members {
                    joined: with(joined, t),
                    left_out: left_out.clone(),
                });
            }
        }
    }
    Ok(Some(OpenDecision::Violated))
}

fn with(transactions: &[TransactionId], t: TransactionId) -> Vec<TransactionId> {
    transactions.iter().copied().chain([t]).collect()
}

struct ChoiceSearch<'a> {
    history: &'a History,
    resolution: &'a Resolution,
    /// The index of the transactions committed under every choice.
    index: &'a Index,
    level: Level,
    effort: Effort,
    control: &'a Control,
}

impl ChoiceSearch<'_> {
    /// Decides the level for the transactions that certainly committed and those that joined; with the index in whose
    /// nodes the answer is given, if that is another one.
    fn among(&self, members: &Members) -> Result<(Among, Option<Index>), Interrupt> {
        let (history, resolution, control) = (self.history, self.resolution, self.control);
        let mut alive = self.without(&members.left_out);
        let mut choice = resolution.choice_of_none();
        let mut rebuilt: Option<Index> = None;
        if !members.joined.is_empty() {
            rebuilt = Some(self.build(&choice, members)?);
        }
        loop {
            control.check()?;
            let index = rebuilt.as_ref().unwrap_or(self.index);
            let is_in = |t: &TransactionId| index.node[t.index()] != NONE;
            if members.left_out.iter().any(is_in)
                || self.is_wrong(index)?
                || self.has_no_writer(index, &alive)
            {
                return Ok((Among::Violated, None));
            }
            let [open, free] = OpenReads::new(history, resolution, index, &choice, &alive);
            if self.level.is_strong_on_conflicts() && divergence(index).is_some() {
                return Ok((Among::Violated, None));
            }
            let mut known =
                control.timed(Stage::Build, || Known::new(index, self.level, control))?;
            let order =
                match control.timed(Stage::Saturate, || saturate(&mut known, &open, control))? {
                    Saturated::Cyclic { .. } => return Ok((Among::Violated, None)),
                    Saturated::Witness(order) => {
                        return Ok((
                            self.explained([&open, &free], &known, choice, order, &alive),
                            rebuilt,
                        ));
                    }
                    Saturated::Open(order) => order,
                };
            let pruned = open.prune(&known, &known.graph(), &order, &mut alive, control)?;
            if pruned && self.has_no_writer(index, &alive) {
                return Ok((Among::Violated, None));
            }
            if pruned && settle(&alive, &mut choice) {
                rebuilt = Some(self.build(&choice, members)?);
                continue;
            }
            let [open, free] = OpenReads::new(history, resolution, index, &choice, &alive);
            let found = match search::search(&known, &open, order, self.effort, control)? {
                Searched::Witness(order) => {
                    self.explained([&open, &free], &known, choice, order, &alive)
                }
                Searched::Refuted { .. } => Among::Violated,
                Searched::GaveUp => Among::GaveUp,
            };
            return Ok((found, rebuilt));
        }
    }

    fn build(&self, choice: &Choice, members: &Members) -> Result<Index, Interrupt> {
        Index::build_joined(
            self.history,
            self.resolution,
            choice,
            &members.joined,
            self.control,
        )
    }

    /// The candidates of the ambiguous reads that remain without these writers.
    fn without(&self, left_out: &[TransactionId]) -> Vec<Vec<bool>> {
        let may_be = |source: &Source| {
            source
                .writer()
                .is_none_or(|writer| !left_out.contains(&writer))
        };
        if left_out.is_empty() {
            return self
                .resolution
                .ambiguous_reads()
                .map(|multiple| vec![true; multiple.kept])
                .collect();
        }
        self.resolution
            .ambiguous()
            .map(|(_, candidates)| candidates.iter().map(may_be).collect())
            .collect()
    }

    /// Whether a committed transaction has a read that no candidate explains.
    fn has_no_writer(&self, index: &Index, alive: &[Vec<bool>]) -> bool {
        let takes_part = |read| index.node[self.history.transaction_of(read).index()] != NONE;
        let mut reads = self.resolution.ambiguous_reads().zip(alive);
        reads.any(|(multiple, alive)| !alive.contains(&true) && takes_part(multiple.read))
    }

    /// Whether a transaction that joined has a read that is wrong by itself. For the others that is known.
    fn is_wrong(&self, index: &Index) -> Result<bool, Interrupt> {
        if index.n_nodes() == self.index.n_nodes() {
            return Ok(false);
        }
        let reads =
            read_consistency::instances(self.history, self.resolution, index, 0, self.control)?;
        Ok(Facts::of(reads.counts.keys().copied()).violate(self.level))
    }

    /// What an order that explains all but the free reads implies.
    fn explained(
        &self,
        [open, free]: [&OpenReads; 2],
        known: &Known<'_>,
        mut choice: Choice,
        order: Vec<Vertex>,
        alive: &[Vec<bool>],
    ) -> Among {
        let index = known.index;
        open.complete(index, known.events, &order, &mut choice);
        let Some(unexplained) = free.complete(index, known.events, &order, &mut choice) else {
            return Among::Satisfied(choice, order);
        };
        let candidates = self
            .resolution
            .ambiguous()
            .nth(unexplained)
            .map_or_else(Default::default, |(_, candidates)| candidates);
        let left = candidates
            .iter()
            .zip(&alive[unexplained])
            .filter(|(_, alive)| **alive);
        let mut writers = left
            .filter_map(|(source, _)| source.writer())
            .filter(|writer| !writer.is_initial());
        match writers.find(|writer| index.node[writer.index()] == NONE) {
            Some(writer) => Among::DependsOn(writer),
            None => Among::Violated,
        }
    }

    /// The answer without transactions that joined although no transaction reads from them.
    fn without_idle(
        &self,
        choice: Choice,
        order: &[Vertex],
        among: &Index,
    ) -> Result<OpenDecision, Interrupt> {
        let order = ordered(Events::new(self.level, among.n_nodes()), order);
        if !self
            .history
            .transactions()
            .any(|t| self.resolution.standing(t) == Standing::Possible)
        {
            return Ok(OpenDecision::Satisfied(order, choice));
        }
        let index = Index::build_with(self.history, self.resolution, &choice, self.control)?;
        let node = |t: Node| {
            Some(index.node[among.transaction[t as usize].index()]).filter(|&node| node != NONE)
        };
        Ok(OpenDecision::Satisfied(order.among(node), choice))
    }
}

/// Resolves reads with one candidate left to it; whether there were any.
fn settle(alive: &[Vec<bool>], choice: &mut Choice) -> bool {
    let mut changed = false;
    for (alive, chosen) in alive.iter().zip(choice) {
        if chosen.is_none() && alive.iter().filter(|&&left| left).count() == 1 {
            *chosen = alive
                .iter()
                .position(|&left| left)
                .map(|place| place as u32);
            changed = true;
        }
    }
    changed
}
