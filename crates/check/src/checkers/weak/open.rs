//! RC, RA and TCC if reads have several possible writers: one question for each such read, namely its writer.
//!
//! Once writers are chosen these levels force edges and leave nothing open, so the search is only for the answers, by
//! the solver of [`crate::sat`] with the axioms as rules: t3 reads a key from t1 and sees t2, which also writes it;
//! then t2 is before t1. What a transaction sees by reading or by its session follows directly from two answers. What
//! it sees by longer paths (TCC) is computed when everything is answered, and only where the order contradicts it.
//!
//! A transaction of unknown outcome is a fact of its own: it counts as committed if a committed reader reads from it.

mod longer;

use super::SMALL_LIMITS;
use crate::checkers::{Level, recorded};
use crate::sat::{Answered, Consequences, DynamicOrder, Fact, Question, Questions, Rules, answer};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{Digraph, topological_order_by_priority};
use isoscope_model::history::{History, OperationId, OperationKind, TransactionId};
use isoscope_model::relations::{
    Axiom, Choice, INITIAL_SLOT, Index, NONE, Node, Resolution, Slot, Source, Standing,
};
use longer::LongerPaths;
use std::ops::Range;

/// Most possible writers of all reads together; more are left to trying choices.
const MOST_CANDIDATES: usize = 1 << 21;
/// Most entries of the table of what each transaction has seen of each session (TCC).
const MOST_SEEN: usize = 1 << 26;
/// Edges found at a time when everything is answered.
const AT_ONCE: usize = if SMALL_LIMITS { 1 } else { 64 };

/// A candidate of an ambiguous read: its place in [`Resolution::ambiguous`] and the candidate's place.
pub(in crate::checkers) type Chosen = (usize, u32);

/// The answer for one weak level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checkers) enum OpenWeak {
    /// This choice satisfies it.
    Satisfied(Choice),
    /// None does: each choice contains one of these lists. `None` if it is also open which transactions committed.
    Violated(Option<Vec<Vec<Chosen>>>),
    /// It would take more work than allowed.
    GaveUp,
}

/// Decides RC, RA or TCC where reads are ambiguous, within `most_conflicts` conflicts. `index` is that of the
/// history without those reads, and satisfies the level.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first; the time is exponential in the worst case.
pub(in crate::checkers) fn decide_open(
    history: &History,
    resolution: &Resolution,
    index: &Index,
    level: Level,
    most_conflicts: usize,
    control: &Control,
) -> Result<OpenWeak, Interrupt> {
    let possible: Vec<TransactionId> = history
        .transactions()
        .filter(|&t| resolution.standing(t) == Standing::Possible)
        .collect();
    let n_nodes = index.n_nodes() + possible.len();
    if resolution.n_candidates() > MOST_CANDIDATES
        || n_nodes.saturating_mul(index.n_sessions()) > MOST_SEEN
    {
        return Ok(OpenWeak::GaveUp);
    }
    let joined = if possible.is_empty() {
        None
    } else {
        Some(Index::build_joined(
            history,
            resolution,
            &resolution.choice_of_none(),
            &possible,
            control,
        )?)
    };
    let listed: Vec<(Node, Node)> = index
        .listed()
        .iter()
        .map(|pair| (pair.older, pair.newer))
        .collect();
    let all = joined.as_ref().unwrap_or(index);
    let renamed = |node: Node| all.node[index.transaction[node as usize].index()];
    let listed: Vec<(Node, Node)> = listed
        .into_iter()
        .map(|(older, newer)| (renamed(older), renamed(newer)))
        .collect();
    let mut axioms = Axioms::new(history, resolution, all, index, level.axiom());
    let fixed: Vec<(Node, Node)> = axioms.fixed_edges(&listed);
    let priority = axioms.first_guess();
    let graph = Digraph::new(all.n_nodes(), fixed.iter().copied());
    let Some(first) = topological_order_by_priority(&graph, &priority) else {
        return Ok(OpenWeak::GaveUp);
    };
    let mut order = DynamicOrder::new(first, fixed.iter().copied());
    let questions = axioms.questions(&order);
    let mut begin = Consequences::default();
    axioms.follow_from_nothing(&mut begin);
    Ok(
        match answer(
            &mut order,
            &questions,
            &begin,
            &mut axioms,
            most_conflicts,
            control,
        )? {
            Answered::GaveUp => OpenWeak::GaveUp,
            Answered::Model(holds) => OpenWeak::Satisfied(axioms.choice(resolution, &holds)),
            Answered::Contradiction(lemmas) => {
                let chosen =
                    |lemma: Vec<Fact>| lemma.into_iter().map(|fact| axioms.chosen(fact)).collect();
                OpenWeak::Violated(lemmas.into_iter().map(chosen).collect())
            }
        },
    )
}

/// A version that a read may have returned.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    slot: Slot,
    /// The fact that it did; [`NONE`] if it is the only one.
    fact: Fact,
}

/// A read of a node.
#[derive(Clone, Debug)]
struct Read {
    node: Node,
    /// The first of the reads at the same moment.
    moment: OperationId,
    key: u32,
    candidates: Range<usize>,
    /// Its place in [`Resolution::ambiguous`].
    ambiguous: usize,
}

struct Axioms<'a> {
    index: &'a Index,
    axiom: Axiom,
    /// By node: the first of its reads, in program order.
    begin: Vec<u32>,
    reads: Vec<Read>,
    candidates: Vec<Candidate>,
    /// By fact: the read it answers, and its place among the ambiguous read's candidates; then the facts that a
    /// transaction committed.
    answers: Vec<(u32, u32)>,
    /// By node: the fact that it committed, or [`NONE`] if that is certain.
    member: Vec<Fact>,
    /// By fact, from the first that is not an answer: the node.
    members: Vec<Node>,
    /// Facts of transactions that cannot have committed: single reads of theirs are wrong.
    wrong: Vec<Fact>,
    /// By read: the candidate assumed last; it counts as long as its fact holds.
    taken: Vec<u32>,
    search: LongerPaths,
}

impl<'a> Axioms<'a> {
    /// `certain` is the index of the transactions that certainly committed.
    fn new(
        history: &History,
        resolution: &Resolution,
        index: &'a Index,
        certain: &Index,
        axiom: Axiom,
    ) -> Axioms<'a> {
        let n = index.n_nodes();
        let mut axioms = Axioms {
            index,
            axiom,
            begin: Vec::with_capacity(n + 1),
            reads: Vec::new(),
            candidates: Vec::new(),
            answers: Vec::new(),
            member: vec![NONE; n],
            members: Vec::new(),
            wrong: Vec::new(),
            taken: Vec::new(),
            search: LongerPaths::default(),
        };
        let mut open = (0..).zip(resolution.ambiguous()).peekable();
        for node in 0..n as Node {
            axioms.begin.push(axioms.reads.len() as u32);
            let mut named = index.reads_of(node).peekable();
            let t = index.transaction[node as usize];
            for read in history.operations_of(t) {
                if history.kinds()[read.index()] != OperationKind::Read {
                    continue;
                }
                while open.next_if(|(_, (other, _))| *other < read).is_some() {}
                if let Some(place) = named.next_if(|&place| index.read_operation[place] == read) {
                    let candidate = Candidate {
                        slot: index.read_slot[place],
                        fact: NONE,
                    };
                    let at = (node, history.moment_of(read));
                    axioms.add_read(at, index.read_key[place], [candidate].into_iter(), 0);
                } else if let Some((ambiguous, (_, sources))) =
                    open.next_if(|(_, (other, _))| *other == read)
                    && !resolution.is_open_after_own_write(read)
                {
                    let at = (node, history.moment_of(read));
                    axioms.add_open_read(at, history.operation(read).key.0, &sources, ambiguous);
                }
            }
        }
        axioms.begin.push(axioms.reads.len() as u32);
        for node in (0..n as Node)
            .filter(|&node| certain.node[index.transaction[node as usize].index()] == NONE)
        {
            let fact = (axioms.answers.len() + axioms.members.len()) as Fact;
            axioms.member[node as usize] = fact;
            axioms.members.push(node);
            let t = index.transaction[node as usize];
            if history
                .operations_of(t)
                .any(|read| is_wrong(resolution, t, read))
            {
                axioms.wrong.push(fact);
            }
        }
        axioms.taken = axioms
            .reads
            .iter()
            .map(|read| read.candidates.start as u32)
            .collect();
        axioms
    }

    fn add_read(
        &mut self,
        (node, moment): (Node, OperationId),
        key: u32,
        candidates: impl Iterator<Item = Candidate>,
        ambiguous: usize,
    ) {
        let begin = self.candidates.len();
        self.candidates.extend(candidates);
        self.reads.push(Read {
            node,
            moment,
            key,
            candidates: begin..self.candidates.len(),
            ambiguous,
        });
    }

    fn add_open_read(
        &mut self,
        at: (Node, OperationId),
        key: u32,
        sources: &[Source],
        ambiguous: usize,
    ) {
        let (index, read, first) = (
            self.index,
            self.reads.len() as u32,
            self.answers.len() as Fact,
        );
        let mut candidates = Vec::with_capacity(sources.len());
        for (place, source) in (0..).zip(sources) {
            let slot = match source {
                Source::Transaction { writer, .. } => match index.node[writer.index()] {
                    NONE => None,
                    writer => index.slot_of(writer, key),
                },
                _ => Some(INITIAL_SLOT),
            };
            if let Some(slot) = slot {
                candidates.push(Candidate {
                    slot,
                    fact: first + candidates.len() as Fact,
                });
                self.answers.push((read, place));
            }
        }
        self.add_read(at, key, candidates.into_iter(), ambiguous);
    }

    fn writer(&self, slot: Slot) -> Node {
        if slot == INITIAL_SLOT {
            NONE
        } else {
            self.index.slot_node[slot as usize]
        }
    }

    fn reads_of(&self, node: Node) -> Range<usize> {
        self.begin[node as usize] as usize..self.begin[node as usize + 1] as usize
    }

    /// Edges independent of all answers: session order, reads of transactions that certainly committed, and lists.
    fn fixed_edges(&self, listed: &[(Node, Node)]) -> Vec<(Node, Node)> {
        let n = self.index.n_nodes() as Node;
        let mut edges: Vec<(Node, Node)> = (0..n)
            .filter_map(|t| Some((t, self.index.successor(t)?)))
            .collect();
        for read in self
            .reads
            .iter()
            .filter(|read| self.member[read.node as usize] == NONE)
        {
            if let [Candidate { slot, fact: NONE }] = self.candidates[read.candidates.clone()]
                && slot != INITIAL_SLOT
            {
                edges.push((self.writer(slot), read.node));
            }
        }
        edges.extend_from_slice(listed);
        edges
    }

    /// By node a place in a guess of the order: by time, else by line, if nine out of ten reads then have a candidate
    /// before them; else by relative position in their sessions.
    fn first_guess(&self) -> Vec<u64> {
        let index = self.index;
        let fitting = |node: Node, newest: &[Slot]| {
            let reads = self.reads[self.reads_of(node)].iter();
            reads
                .filter(|read| {
                    let candidates = &self.candidates[read.candidates.clone()];
                    candidates
                        .iter()
                        .any(|one| one.slot == newest[read.key as usize])
                })
                .count()
        };
        if let Some(rank) = recorded::rank(index, self.reads.len(), fitting) {
            return rank.into_iter().map(u64::from).collect();
        }
        let progress = |node: Node| {
            let session = index.session[node as usize] as usize;
            let length = index.session_begin[session + 1] - index.session_begin[session];
            (u64::from(index.position(node)) << 32) / u64::from(length)
        };
        (0..index.n_nodes() as Node).map(progress).collect()
    }

    /// The questions: answers that are near in the order come first, and the version before the read before others.
    fn questions(&self, order: &DynamicOrder) -> Questions {
        let n_facts = self.answers.len() + self.members.len();
        let mut all = Questions {
            n_facts,
            ..Questions::default()
        };
        all.clauses
            .extend(self.wrong.iter().map(|&fact| vec![(fact, false)]));
        for read in &self.reads {
            let reader = self.member[read.node as usize];
            let only_if = (reader != NONE).then_some(reader);
            let candidates = &self.candidates[read.candidates.clone()];
            let mut by_distance: Vec<(bool, u32, Fact)> = Vec::new();
            for candidate in candidates {
                let writer = self.writer(candidate.slot);
                let at = order.position(read.node);
                by_distance.push(match writer {
                    NONE => (false, at + 1, candidate.fact),
                    writer => (
                        order.position(writer) > at,
                        order.position(writer).abs_diff(at),
                        candidate.fact,
                    ),
                });
                if writer != NONE && self.member[writer as usize] != NONE {
                    let reasons = only_if
                        .into_iter()
                        .chain((candidate.fact != NONE).then_some(candidate.fact));
                    let mut clause: Vec<(Fact, bool)> = reasons.map(|fact| (fact, false)).collect();
                    clause.push((self.member[writer as usize], true));
                    all.clauses.push(clause);
                }
            }
            if candidates
                .first()
                .is_none_or(|candidate| candidate.fact != NONE)
            {
                by_distance.sort_unstable();
                let answers = by_distance.into_iter().map(|(_, _, fact)| fact).collect();
                all.questions.push(Question { answers, only_if });
            }
        }
        all
    }

    /// The candidate that a read returns, if known.
    fn taken(&self, read: usize, holds: &[bool]) -> Option<Candidate> {
        let taken = *self.candidates.get(self.taken[read] as usize)?;
        let is_there = self.reads[read]
            .candidates
            .contains(&(self.taken[read] as usize));
        (is_there && (taken.fact == NONE || holds[taken.fact as usize])).then_some(taken)
    }

    fn takes_part(&self, node: Node, holds: &[bool]) -> bool {
        let member = self.member[node as usize];
        member == NONE || holds[member as usize]
    }

    /// The edges that follow without premises: what is certain of transactions that certainly committed.
    fn follow_from_nothing(&self, found: &mut Consequences) {
        let holds = vec![false; self.answers.len() + self.members.len()];
        for read in 0..self.reads.len() {
            if self.member[self.reads[read].node as usize] == NONE {
                self.follow_read(read, &holds, found);
            }
        }
    }

    /// What follows from what a read returns: it comes after the writer, and the axiom with each other read of the
    /// transaction and, from RA on, its session.
    fn follow_read(&self, read: usize, holds: &[bool], found: &mut Consequences) {
        let Some(this) = self.taken(read, holds) else {
            return;
        };
        let Read {
            node, moment, key, ..
        } = self.reads[read];
        let writer = self.writer(this.slot);
        let reader = self.member[node as usize];
        if writer != NONE && (this.fact != NONE || reader != NONE) {
            found.edge(writer, node, &reasons([this.fact, reader]));
        }
        for other in self.reads_of(node).filter(|&other| other != read) {
            let Some(that) = self.taken(other, holds) else {
                continue;
            };
            let because = reasons([this.fact, that.fact, reader]);
            let atomic = self.axiom != Axiom::ReadCommitted;
            let then = self.reads[other].moment;
            if atomic || then <= moment {
                self.see(self.writer(that.slot), (key, writer), &because, found);
            }
            if atomic || moment <= then {
                self.see(
                    writer,
                    (self.reads[other].key, self.writer(that.slot)),
                    &because,
                    found,
                );
            }
        }
        if self.axiom != Axiom::ReadCommitted {
            for earlier in self.writers_before(node, key) {
                let member = self.member[earlier as usize];
                if member == NONE || holds[member as usize] {
                    self.see(
                        earlier,
                        (key, writer),
                        &reasons([this.fact, reader, member]),
                        found,
                    );
                }
                if member == NONE {
                    break;
                }
            }
        }
    }

    /// The axiom: a transaction that reads a key from `writer` sees `seen`.
    fn see(
        &self,
        seen: Node,
        (key, writer): (u32, Node),
        because: &[Fact],
        found: &mut Consequences,
    ) {
        if seen == NONE || seen == writer || self.index.slot_of(seen, key).is_none() {
            return;
        }
        match writer {
            NONE => found.impossible(because),
            writer => found.edge(seen, writer, because),
        }
    }

    /// The writers of a key before a node in its session, last first.
    fn writers_before(&self, node: Node, key: u32) -> impl Iterator<Item = Node> + '_ {
        let slots = self.index.slots_of(key);
        let end = slots.start + self.index.slot_node[slots.clone()].partition_point(|&t| t < node);
        let begin = self.index.session_begin[self.index.session[node as usize] as usize];
        (slots.start..end)
            .rev()
            .map(|slot| self.index.slot_node[slot])
            .take_while(move |&t| t >= begin)
    }

    /// The answer for a fact, which must be an answer.
    fn chosen(&self, fact: Fact) -> Option<Chosen> {
        let &(read, place) = self.answers.get(fact as usize)?;
        Some((self.reads[read as usize].ambiguous, place))
    }

    fn choice(&self, resolution: &Resolution, holds: &[bool]) -> Choice {
        let mut choice = resolution.choice_of_none();
        for (&(read, place), _) in self.answers.iter().zip(holds).filter(|(_, holds)| **holds) {
            choice[self.reads[read as usize].ambiguous] = Some(place);
        }
        choice
    }
}

impl Rules for Axioms<'_> {
    fn follow(&mut self, fact: Fact, holds: &[bool], found: &mut Consequences) {
        if let Some(&(read, _)) = self.answers.get(fact as usize) {
            let read = read as usize;
            let first = self.candidates[self.reads[read].candidates.start].fact;
            self.taken[read] = self.reads[read].candidates.start as u32 + (fact - first);
            if self.takes_part(self.reads[read].node, holds) {
                self.follow_read(read, holds, found);
            }
            return;
        }
        let node = self.members[fact as usize - self.answers.len()];
        for read in self.reads_of(node) {
            self.follow_read(read, holds, found);
        }
        if self.axiom == Axiom::ReadCommitted {
            return;
        }
        // Later transactions of the session see it.
        let end = self.index.session_begin[self.index.session[node as usize] as usize + 1];
        for later in (node + 1..end).filter(|&later| self.takes_part(later, holds)) {
            for read in self.reads_of(later) {
                if let Some(this) = self.taken(read, holds) {
                    let because = reasons([this.fact, self.member[later as usize], fact]);
                    self.see(
                        node,
                        (self.reads[read].key, self.writer(this.slot)),
                        &because,
                        found,
                    );
                }
            }
        }
    }

    fn complete(&mut self, order: &DynamicOrder, holds: &[bool], found: &mut Consequences) {
        if self.axiom != Axiom::Causal {
            return;
        }
        self.look_back(order, holds);
        for read in 0..self.reads.len() {
            if self.takes_part(self.reads[read].node, holds) {
                self.look_through(read, order, holds, found);
            }
            if found.len() >= AT_ONCE {
                return;
            }
        }
    }
}

/// The facts among them.
fn reasons<const N: usize>(facts: [Fact; N]) -> Vec<Fact> {
    facts.into_iter().filter(|&fact| fact != NONE).collect()
}

/// Whether a read is wrong by itself, whichever other transactions committed.
fn is_wrong(resolution: &Resolution, reader: TransactionId, read: OperationId) -> bool {
    match resolution.source_in(reader, read) {
        Source::Initial { after_own_write } => after_own_write,
        Source::Transaction {
            intermediate,
            after_own_write,
            ..
        } => intermediate || after_own_write,
        Source::Future { .. }
        | Source::OwnOverwritten { .. }
        | Source::Aborted { .. }
        | Source::ThinAir => true,
        Source::Ambiguous => resolution.is_open_after_own_write(read),
        Source::Outside | Source::Own | Source::Unrecorded => false,
    }
}
