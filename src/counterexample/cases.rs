//! Trees of cases, where no single cycle explains a violation: it is open which of two transactions wrote a key first,
//! which one wrote the value read, or which ones committed, and every answer ends in a contradiction.
//!
//! The tree is that of the proof, whose search tries each open pair as the root and keeps the one whose cases need the
//! fewest edges; of a log of clauses, which has no tree, one is made of its cycles.

use super::first_case::is_evidence;
use super::words::Words;
use crate::checkers::{Pattern, Proof, Supposed, Violation};
use crate::history::{History, KeyId, OperationId, TransactionId};
use crate::relations::{Edge, EdgeIndex, Reason};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of leaves of a tree built from a log of clauses.
const MOST_LEAVES: usize = 64;

/// What is assumed in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supposition {
    /// Nothing: the root.
    Nothing,
    /// This assumed edge of the violation holds.
    Order(EdgeIndex),
    /// This about what was read or what committed.
    Answer(Supposed),
}

/// What is open in a case and decided by each case inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Which of two transactions wrote a key first.
    Order {
        /// The key.
        key: Option<KeyId>,
        /// The transactions.
        transactions: [TransactionId; 2],
    },
    /// Which transaction wrote the value read.
    Writer {
        /// The read.
        read: OperationId,
    },
    /// Which append made an element of a list.
    Append {
        /// The read of the list.
        read: OperationId,
        /// The place of the element, from 0.
        place: usize,
    },
    /// Whether a transaction of unknown outcome committed.
    Outcome {
        /// The transaction.
        transaction: TransactionId,
    },
}

/// A case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseNode {
    /// `1`, `1.2`; empty at the root.
    pub label: String,
    /// The enclosing case, a place in [`CaseTree::nodes`].
    pub parent: Option<usize>,
    /// What is assumed in addition to the assumptions of the enclosing cases.
    pub supposes: Supposition,
    /// What is open; nothing where the case ends.
    pub open: Option<Question>,
    /// The cases inside it, in order of telling.
    pub children: Vec<usize>,
    /// Where the case ends in a cycle: its edges, each ends where the next begins.
    pub cycle: Vec<EdgeIndex>,
    /// Where it ends in impossible reads: these.
    pub reads: Vec<(Pattern, OperationId)>,
    /// Edges of the violation that the end of this case rests on, the cycle included, ascending; empty where it goes
    /// on.
    pub edges: Vec<EdgeIndex>,
    /// "Suppose that T1's version of key 4 is older than T2's." or what is open at the root; whole sentences.
    pub text: String,
}

/// A tree of cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseTree {
    /// The root first, every case after its enclosing one.
    pub nodes: Vec<CaseNode>,
}

impl CaseTree {
    /// The cases that are not divided further, in order of telling.
    pub fn leaves(&self) -> impl Iterator<Item = &CaseNode> {
        self.nodes.iter().filter(|node| node.open.is_none())
    }

    /// The case and those inside it, in order of telling.
    pub fn in_order(&self, place: usize) -> Vec<usize> {
        let mut inside = Vec::new();
        let mut open = vec![place];
        while let Some((place, node)) = open.pop().and_then(|place| Some((place, self.nodes.get(place)?))) {
            inside.push(place);
            open.extend(node.children.iter().rev());
        }
        inside
    }

    fn inside(&self, place: usize) -> Vec<&CaseNode> {
        self.in_order(place).into_iter().map(|place| &self.nodes[place]).collect()
    }

    /// The cases around a case, itself first and the root last.
    pub fn around(&self, place: usize) -> Vec<usize> {
        std::iter::successors(Some(place), |&place| self.nodes.get(place)?.parent).collect()
    }

    /// All edges that a case and those inside it mention: what their ends rest on, and what is supposed there and in
    /// the enclosing cases. O(nodes · edges).
    pub fn edges_of(&self, violation: &Violation, place: usize) -> BTreeSet<EdgeIndex> {
        let edges = &violation.edges;
        let around = self.around(place).into_iter().filter_map(|place| self.nodes.get(place));
        let mut of_case = BTreeSet::new();
        for node in around.chain(self.inside(place)) {
            match node.supposes {
                Supposition::Nothing | Supposition::Answer(Supposed::Outcome { .. }) => {}
                Supposition::Order(edge) => drop(of_case.insert(edge)),
                Supposition::Answer(Supposed::Writer { read, writer }) => {
                    let tells =
                        |e: &Edge| e.because == Reason::Reads && e.from == writer && e.to_operation == Some(read);
                    of_case.extend(edges.iter().position(tells));
                }
                Supposition::Answer(Supposed::Append { read, append, .. }) => {
                    let tells = |e: &Edge| {
                        e.because == Reason::Reads && e.from_operation == Some(append) && e.to_operation == Some(read)
                    };
                    of_case.extend(edges.iter().position(tells));
                }
            }
        }
        of_case.extend(self.inside(place).iter().flat_map(|node| &node.edges));
        let evidence: Vec<EdgeIndex> = of_case
            .iter()
            .filter_map(|&e| edges.get(e))
            .filter_map(|inferred| edges.iter().position(|edge| is_evidence(inferred, edge)))
            .collect();
        of_case.extend(evidence);
        of_case
    }

    /// The edges of the cycles in which a case and those inside it end, ascending.
    pub fn cycles_of(&self, place: usize) -> Vec<EdgeIndex> {
        let edges: BTreeSet<EdgeIndex> = self.inside(place).iter().flat_map(|node| &node.cycle).copied().collect();
        edges.into_iter().collect()
    }

    /// The wrong reads in which a case and those inside it end, and the reads whose writers are open around it,
    /// ascending.
    pub fn reads_of(&self, place: usize) -> Vec<OperationId> {
        let ends = self.inside(place);
        let around = self.around(place).into_iter().filter_map(|place| match self.nodes.get(place)?.supposes {
            Supposition::Answer(supposed) => supposed.read(),
            _ => None,
        });
        let reads: BTreeSet<OperationId> =
            ends.iter().flat_map(|node| &node.reads).map(|&(_, read)| read).chain(around).collect();
        reads.into_iter().collect()
    }
}

/// The cases of a violation; `None` where a single cycle or read explains it, or where there would be too many (more
/// than 64 leaves for a log of clauses; always for combinations). O(size of the proof · edges).
pub fn case_tree(history: &History, violation: &Violation) -> Option<CaseTree> {
    let words = Words::new(history, &violation.edges);
    let mut maker = Maker { words: &words, violation, nodes: Vec::new() };
    match &violation.proof {
        Proof::Read | Proof::Reads { .. } | Proof::Cycle(_) | Proof::Combinations { .. } => return None,
        Proof::Appends { cases, .. } if cases.is_empty() => return None,
        Proof::Clauses { lemmas, .. } => maker.divide(lemmas)?,
        proof => maker.follow_proof(proof)?,
    }
    Some(CaseTree { nodes: maker.nodes })
}

struct Maker<'a> {
    words: &'a Words<'a>,
    violation: &'a Violation,
    nodes: Vec<CaseNode>,
}

impl Maker<'_> {
    /// A new case without an end.
    fn node(&mut self, parent: Option<usize>, supposes: Supposition) -> usize {
        let place = self.nodes.len();
        let label = match parent {
            None => String::new(),
            Some(parent) => {
                self.nodes[parent].children.push(place);
                let number = self.nodes[parent].children.len();
                match self.nodes[parent].label.as_str() {
                    "" => number.to_string(),
                    outer => format!("{outer}.{number}"),
                }
            }
        };
        let text = match supposes {
            Supposition::Nothing => String::new(),
            Supposition::Order(edge) => {
                let older = self.violation.edges.get(edge).map(|edge| self.words.older(edge));
                format!("Suppose that {}.", older.unwrap_or_default())
            }
            Supposition::Answer(supposed) => format!("Suppose that {}.", self.words.supposed(supposed)),
        };
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
        let words = self.words;
        let sentence = match question {
            Question::Order { key, transactions: [a, b] } => format!(
                "It is open which of {} and {} wrote {} first.",
                words.transaction(a),
                words.transaction(b),
                words.key(key)
            ),
            Question::Writer { read } => format!("It is open who wrote the {}.", words.value_read(read)),
            Question::Append { read, place } => {
                format!("It is open who appended the {}.", words.element_read(read, place))
            }
            Question::Outcome { transaction } => {
                format!("It is open whether {} committed.", words.transaction(transaction))
            }
        };
        let node = &mut self.nodes[place];
        node.open = Some(question);
        node.text = if node.text.is_empty() { sentence } else { format!("{} {sentence}", node.text) };
    }

    fn ends(&mut self, place: usize, cycle: &[EdgeIndex], reads: Vec<(Pattern, OperationId)>) {
        let mut needed: BTreeSet<EdgeIndex> = BTreeSet::new();
        let mut open = cycle.to_vec();
        while let Some((e, edge)) = open.pop().and_then(|e| Some((e, self.violation.edges.get(e)?))) {
            if needed.insert(e) {
                open.extend(edge.because.premises());
            }
        }
        let path = self.words.path(cycle);
        let node = &mut self.nodes[place];
        if !cycle.is_empty() {
            node.text = format!("{} Then a cycle closes: {path}.", node.text).trim_start().to_owned();
        }
        node.cycle = cycle.to_vec();
        node.reads = reads;
        node.edges = needed.into_iter().collect();
    }

    fn order(&self, edge: EdgeIndex) -> Option<Question> {
        let edge = self.violation.edges.get(edge)?;
        Some(Question::Order { key: edge.key, transactions: [edge.from, edge.to] })
    }

    /// Follows a proof with an explicit stack; `None` where it names edges that are not there.
    fn follow_proof(&mut self, proof: &Proof) -> Option<()> {
        let root = self.node(None, Supposition::Nothing);
        let mut open = vec![(root, proof)];
        // Children get their places when their parent is looked at, so they come in order of telling.
        while let Some((place, proof)) = open.pop() {
            match proof {
                Proof::Read => {}
                Proof::Reads { pattern, reads } => {
                    let reads = reads.iter().map(|&read| (*pattern, read)).collect();
                    self.ends(place, &[], reads);
                }
                Proof::Cycle(cycle) => self.ends(place, cycle, Vec::new()),
                Proof::Clauses { lemmas, .. } => self.ends(place, lemmas.first()?, Vec::new()),
                // Too many to list, as in a separate case.
                Proof::Combinations { .. } => return None,
                Proof::Split { first, second, .. } => {
                    self.asks(place, self.order(first.0)?);
                    let inside = [first, second]
                        .map(|(edge, proof)| (self.node(Some(place), Supposition::Order(*edge)), &**proof));
                    open.extend(inside.into_iter().rev());
                }
                Proof::Writers { read, cases } => {
                    let read = *read;
                    self.asks(place, Question::Writer { read });
                    let answers = cases.iter().map(|&(writer, ref p)| (Supposed::Writer { read, writer }, p));
                    open.extend(self.answers(place, answers));
                }
                Proof::Appends { read, place: at, cases } if cases.is_empty() => {
                    self.ends(place, &[], vec![(Pattern::IncompatibleOrder, *read)]);
                    let text = format!("No append can have made the {}.", self.words.element_read(*read, *at));
                    let node = &mut self.nodes[place];
                    node.text = format!("{} {text}", node.text).trim_start().to_owned();
                }
                Proof::Appends { read, place: at, cases } => {
                    let (read, at) = (*read, *at);
                    self.asks(place, Question::Append { read, place: at });
                    let supposed = |append| Supposed::Append { read, place: at, append };
                    let answers = cases.iter().map(|&(append, ref p)| (supposed(append), p));
                    open.extend(self.answers(place, answers));
                }
                Proof::Outcomes { transaction, cases } => {
                    let transaction = *transaction;
                    self.asks(place, Question::Outcome { transaction });
                    let supposed = |committed| Supposed::Outcome { transaction, committed };
                    let answers = cases.iter().map(|&(committed, ref p)| (supposed(committed), p));
                    open.extend(self.answers(place, answers));
                }
            }
        }
        Some(())
    }

    /// New cases inside a case, one for each answer, the last one first.
    fn answers<'p>(
        &mut self,
        place: usize,
        answers: impl Iterator<Item = (Supposed, &'p Proof)>,
    ) -> impl Iterator<Item = (usize, &'p Proof)> {
        let node = |(supposed, proof)| (self.node(Some(place), Supposition::Answer(supposed)), proof);
        answers.map(node).collect::<Vec<_>>().into_iter().rev()
    }

    /// A tree of the orders that the cycles rest on: each case branches on the order that most of the shortest open
    /// cycles need.
    fn divide(&mut self, lemmas: &[Vec<EdgeIndex>]) -> Option<()> {
        let edges = &self.violation.edges;
        // By unordered pair and key: its two assumed edges.
        let mut sides: BTreeMap<(TransactionId, TransactionId, Option<KeyId>), [Option<EdgeIndex>; 2]> =
            BTreeMap::new();
        let pair = |e: EdgeIndex| {
            let edge = &edges[e];
            ((edge.from.min(edge.to), edge.from.max(edge.to), edge.key), usize::from(edge.from > edge.to))
        };
        for (e, _) in edges.iter().enumerate().filter(|(_, edge)| edge.because == Reason::Assumed) {
            let (pair, side) = pair(e);
            sides.entry(pair).or_default()[side] = Some(e);
        }
        let literals: Vec<BTreeSet<EdgeIndex>> = lemmas.iter().map(|lemma| self.assumptions(lemma)).collect();
        let root = self.node(None, Supposition::Nothing);
        let mut n_leaves = 0;
        let mut open = vec![(root, BTreeSet::<EdgeIndex>::new())];
        while let Some((place, assumed)) = open.pop() {
            let closed = (0..lemmas.len()).find(|&l| literals[l].is_subset(&assumed));
            if let Some(lemma) = closed {
                n_leaves += 1;
                if n_leaves > MOST_LEAVES {
                    return None;
                }
                self.ends(place, &lemmas[lemma], Vec::new());
                continue;
            }
            let excluded = |e: EdgeIndex| {
                let (pair, side) = pair(e);
                sides.get(&pair).and_then(|both| both[1 - side]).is_some_and(|other| assumed.contains(&other))
            };
            let mut weight: BTreeMap<_, usize> = BTreeMap::new();
            let mut least = usize::MAX;
            for lemma in literals.iter().filter(|lemma| !lemma.iter().any(|&e| excluded(e))) {
                let left: Vec<EdgeIndex> = lemma.difference(&assumed).copied().collect();
                if left.len() < least {
                    least = left.len();
                    weight.clear();
                }
                if left.len() == least {
                    left.iter().for_each(|&e| *weight.entry(pair(e).0).or_default() += 1);
                }
            }
            // No cycle is left: then the log did not rest on these cycles alone.
            let (&chosen, _) = weight.iter().max_by_key(|(pair, n)| (**n, std::cmp::Reverse(**pair)))?;
            let [Some(first), Some(second)] = sides[&chosen] else { return None };
            self.asks(place, self.order(first)?);
            let inside = [first, second].map(|edge| {
                let assumed = assumed.iter().copied().chain([edge]).collect();
                (self.node(Some(place), Supposition::Order(edge)), assumed)
            });
            open.extend(inside.into_iter().rev());
        }
        Some(())
    }

    /// The assumed edges that these edges rest on.
    fn assumptions(&self, edges: &[EdgeIndex]) -> BTreeSet<EdgeIndex> {
        let mut seen = BTreeSet::new();
        let mut open = edges.to_vec();
        while let Some((e, edge)) = open.pop().and_then(|e| Some((e, self.violation.edges.get(e)?))) {
            if seen.insert(e) {
                open.extend(edge.because.premises());
            }
        }
        seen.retain(|&e| self.violation.edges[e].because == Reason::Assumed);
        seen
    }
}
