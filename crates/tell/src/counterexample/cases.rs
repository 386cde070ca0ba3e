//! Trees of cases, where no single cycle explains a violation: it is open which of two transactions wrote a key first,
//! which one wrote the value read, or which ones committed, and every answer ends in a contradiction.
//!
//! The tree is that of the proof, whose search tries each open pair as the root and keeps the one whose cases need the
//! fewest edges; of a log of clauses, which has no tree, one is made of its cycles.

use super::case_tree::{CaseNode, CaseTree};
use super::late_writers;
use super::rests_on::closure;
use super::sentence::Sentence;
use super::sentences::{Speaker, Words};
use super::statement::CaseLabel;
use isoscope_check::checkers::{Pattern, Proof, Question, Supposed, Violation};
use isoscope_model::history::{History, KeyId, OperationId, TransactionId};
use isoscope_model::relations::{EdgeIndex, Reason};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of leaves of a tree built from a log of clauses.
const MOST_LEAVES: usize = 64;

/// The cases of a violation; `None` where a single cycle or read explains it, or where there would be too many (more
/// than 64 leaves for a log of clauses; always for combinations). O(size of the proof · edges).
pub fn case_tree(history: &History, violation: &Violation) -> Option<CaseTree> {
    let words = Words::new(history, &violation.edges);
    let mut maker = Maker {
        speaker: Speaker {
            words: &words,
            violation,
        },
        violation,
        nodes: Vec::new(),
    };
    match &violation.proof {
        Proof::Reads(_) | Proof::Cycle(_) => return None,
        Proof::Cases { cases, .. } if cases.is_empty() => return None,
        proof @ Proof::Cases { .. } => maker.follow_proof(proof)?,
        proof @ Proof::Log { .. } => maker.divide(&proof.cycles_of_orders()?)?,
    }
    Some(CaseTree { nodes: maker.nodes })
}

struct Maker<'a> {
    speaker: Speaker<'a>,
    violation: &'a Violation,
    nodes: Vec<CaseNode>,
}

impl Maker<'_> {
    /// A new case without an end.
    fn node(&mut self, parent: Option<usize>, supposes: Option<Supposed>) -> usize {
        let place = self.nodes.len();
        let label = match parent {
            None => CaseLabel::default(),
            Some(parent) => {
                self.nodes[parent].children.push(place);
                let number = self.nodes[parent].children.len();
                self.nodes[parent].label.inner(number)
            }
        };
        let text = supposes.map_or_else(Sentence::default, |supposed| {
            self.speaker.supposition(supposed)
        });
        self.nodes.push(CaseNode {
            label,
            parent,
            supposes,
            open: None,
            children: Vec::new(),
            cycle: Vec::new(),
            reads: Vec::new(),
            edges: Vec::new(),
            text,
        });
        place
    }

    /// Says what is open in a case.
    fn asks(&mut self, place: usize, question: Question) {
        self.say(place, self.speaker.question(question));
        self.nodes[place].open = Some(question);
    }

    /// Adds a sentence to what is said of a case.
    fn say(&mut self, place: usize, sentence: Sentence) {
        let text = &mut self.nodes[place].text;
        *text = Sentence::join([std::mem::take(text), sentence], " ");
    }

    fn ends(&mut self, place: usize, cycle: &[EdgeIndex], reads: Vec<(Pattern, OperationId)>) {
        if !cycle.is_empty() {
            self.say(place, self.speaker.closes(cycle));
        }
        let node = &mut self.nodes[place];
        node.cycle = cycle.to_vec();
        node.reads = reads;
        node.edges = closure(&self.violation.edges, cycle.iter().copied(), false)
            .into_iter()
            .collect();
    }

    /// Follows a proof with an explicit stack; `None` where it names edges that are not there.
    fn follow_proof(&mut self, proof: &Proof) -> Option<()> {
        let root = self.node(None, None);
        let mut open = vec![(root, proof)];
        // Children get their places when their parent is looked at, so they come in order of telling.
        while let Some((place, proof)) = open.pop() {
            match proof {
                Proof::Reads(None) => {}
                Proof::Reads(Some(wrong)) => {
                    let reads = wrong.reads.iter().map(|&read| (wrong.pattern, read));
                    self.ends(place, &[], reads.collect());
                }
                Proof::Cycle(cycle) => self.ends(place, cycle, Vec::new()),
                // Too many to list, as in a separate case.
                Proof::Log { .. } => {
                    let cycles = proof.cycles_of_orders()?;
                    self.ends(place, cycles.first()?, Vec::new());
                }
                Proof::Cases {
                    question: Question::Append { read, place: at },
                    cases,
                } if cases.is_empty() => {
                    self.ends(place, &[], vec![(Pattern::IncompatibleOrder, *read)]);
                    self.say(place, self.speaker.no_append(*read, *at));
                }
                Proof::Cases { question, cases } => {
                    self.asks(place, *question);
                    let (cases, late) =
                        late_writers::divided(&self.violation.edges, *question, cases);
                    let all = cases
                        .into_iter()
                        .chain(late.into_iter().map(|(case, _)| case));
                    let inside: Vec<(usize, &Proof)> = all
                        .map(|(answer, proof)| (self.node(Some(place), Some(*answer)), proof))
                        .collect();
                    open.extend(inside.into_iter().rev());
                }
            }
        }
        Some(())
    }

    /// A tree of the orders that the cycles rest on: each case branches on the order that most of the shortest open
    /// cycles need.
    fn divide(&mut self, lemmas: &[&[EdgeIndex]]) -> Option<()> {
        let edges = &self.violation.edges;
        // By unordered pair and key: its two assumed edges.
        let mut sides: BTreeMap<
            (TransactionId, TransactionId, Option<KeyId>),
            [Option<EdgeIndex>; 2],
        > = BTreeMap::new();
        let pair = |e: EdgeIndex| {
            let edge = &edges[e];
            (
                (edge.from.min(edge.to), edge.from.max(edge.to), edge.key),
                usize::from(edge.from > edge.to),
            )
        };
        for (e, _) in edges
            .iter()
            .enumerate()
            .filter(|(_, edge)| edge.because == Reason::Assumed)
        {
            let (pair, side) = pair(e);
            sides.entry(pair).or_default()[side] = Some(e);
        }
        let literals: Vec<BTreeSet<EdgeIndex>> =
            lemmas.iter().map(|lemma| self.assumptions(lemma)).collect();
        let root = self.node(None, None);
        let mut n_leaves = 0;
        let mut open = vec![(root, BTreeSet::<EdgeIndex>::new())];
        while let Some((place, assumed)) = open.pop() {
            let closed = (0..lemmas.len()).find(|&l| literals[l].is_subset(&assumed));
            if let Some(lemma) = closed {
                n_leaves += 1;
                if n_leaves > MOST_LEAVES {
                    return None;
                }
                self.ends(place, lemmas[lemma], Vec::new());
                continue;
            }
            let excluded = |e: EdgeIndex| {
                let (pair, side) = pair(e);
                sides
                    .get(&pair)
                    .and_then(|both| both[1 - side])
                    .is_some_and(|other| assumed.contains(&other))
            };
            let mut weight: BTreeMap<_, usize> = BTreeMap::new();
            let mut least = usize::MAX;
            for lemma in literals
                .iter()
                .filter(|lemma| !lemma.iter().any(|&e| excluded(e)))
            {
                let left: Vec<EdgeIndex> = lemma.difference(&assumed).copied().collect();
                if left.len() < least {
                    least = left.len();
                    weight.clear();
                }
                if left.len() == least {
                    left.iter()
                        .for_each(|&e| *weight.entry(pair(e).0).or_default() += 1);
                }
            }
            // No cycle is left: then the log did not rest on these cycles alone.
            let (&chosen, _) = weight
                .iter()
                .max_by_key(|(pair, n)| (**n, std::cmp::Reverse(**pair)))?;
            let [Some(first), Some(second)] = sides[&chosen] else {
                return None;
            };
            let order = &edges[first];
            let question = Question::Order {
                key: order.key?,
                writers: [order.from, order.to],
            };
            self.asks(place, question);
            let inside = [first, second].map(|edge| {
                let assumed = assumed.iter().copied().chain([edge]).collect();
                (self.node(Some(place), Some(Supposed::Order(edge))), assumed)
            });
            open.extend(inside.into_iter().rev());
        }
        Some(())
    }

    /// The assumed edges that these edges rest on.
    fn assumptions(&self, edges: &[EdgeIndex]) -> BTreeSet<EdgeIndex> {
        let mut assumed = closure(&self.violation.edges, edges.iter().copied(), false);
        assumed.retain(|&e| self.violation.edges[e].because == Reason::Assumed);
        assumed
    }
}
