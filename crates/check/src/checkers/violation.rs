//! One violation, with the edges that prove it.

use super::level::{Level, LevelSet};
use super::pattern::Pattern;
use super::place::Place;
use isoscope_model::history::{KeyId, OperationId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex};
use std::collections::BTreeMap;
use std::fmt;

/// Names a violation within one check of one history: `TAP-m/1`. Stable for the same input and options, and usually if
/// only the order of sessions or names differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViolationId {
    /// The pattern.
    pub pattern: Pattern,
    /// From 1, in the order of listing.
    pub ordinal: u32,
}

impl fmt::Display for ViolationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.pattern, self.ordinal)
    }
}

impl std::str::FromStr for ViolationId {
    type Err = String;

    fn from_str(text: &str) -> Result<ViolationId, String> {
        let expected = || format!("`{text}` is no violation id, expected for example TAP-m/1");
        let (pattern, ordinal) = text.rsplit_once('/').ok_or_else(expected)?;
        let pattern = Pattern::parse(pattern).ok_or_else(expected)?;
        let ordinal = ordinal
            .parse()
            .ok()
            .filter(|&n| n > 0)
            .ok_or_else(expected)?;
        Ok(ViolationId { pattern, ordinal })
    }
}

/// A violation as a user names it: an id, or any of its names, alone or with a number: `TAP-m/1`, `C4 TAP-k/2`,
/// `TAP-k`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViolationName {
    /// As in [`Violation::also`], or the id or name of a pattern.
    pub name: String,
    /// From 1, if given.
    pub ordinal: Option<u32>,
}

impl ViolationName {
    /// The id, if the name is that of a pattern and has a number.
    pub fn id(&self) -> Option<ViolationId> {
        Some(ViolationId {
            pattern: Pattern::parse(&self.name)?,
            ordinal: self.ordinal?,
        })
    }
}

impl std::str::FromStr for ViolationName {
    type Err = String;

    fn from_str(text: &str) -> Result<ViolationName, String> {
        let expected =
            || format!("`{text}` is no violation id, expected for example TAP-m/1 or TAP-m");
        let (name, ordinal) = match text.rsplit_once('/') {
            Some((name, ordinal)) => (
                name,
                Some(
                    ordinal
                        .parse()
                        .ok()
                        .filter(|&n| n > 0)
                        .ok_or_else(expected)?,
                ),
            ),
            None => (text, None),
        };
        if name.trim().is_empty() {
            return Err(expected());
        }
        Ok(ViolationName {
            name: name.trim().to_owned(),
            ordinal,
        })
    }
}

impl fmt::Display for ViolationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ordinal {
            Some(ordinal) => write!(f, "{}/{ordinal}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl From<ViolationId> for ViolationName {
    fn from(id: ViolationId) -> ViolationName {
        ViolationName {
            name: id.pattern.id().to_owned(),
            ordinal: Some(id.ordinal),
        }
    }
}

impl ViolationName {
    /// The violation with this name: by its pattern, or if no listed one matches, by its other names, those of weaker
    /// levels first.
    pub fn find<'v>(&self, violations: &'v [Violation]) -> Option<&'v Violation> {
        let ordinal = self.ordinal.unwrap_or(1);
        let pattern = Pattern::parse(&self.name);
        if violations
            .iter()
            .any(|violation| Some(violation.id.pattern) == pattern)
        {
            let id = pattern.map(|pattern| ViolationId { pattern, ordinal });
            return violations.iter().find(|violation| Some(violation.id) == id);
        }
        let is_called = |also: &String| also.eq_ignore_ascii_case(&self.name);
        let mut called: Vec<&Violation> = violations
            .iter()
            .filter(|v| v.also.iter().any(is_called))
            .collect();
        called.sort_by_key(|violation| {
            (
                violation.levels.weakest(),
                violation.implied,
                violation.size(),
                violation.id,
            )
        });
        called.get(ordinal as usize - 1).copied()
    }
}

/// Why the edges of a violation contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The operations alone contradict the level (TAP-a to f and j): no edge is needed. Never inside another proof.
    Read,
    /// The same if the reads must be given: one that is wrong (TAP-a to f), or two reads of a key in one transaction
    /// that can share no writer (TAP-j), given the writers that the cases around it fix.
    Reads {
        /// The pattern of the reads.
        pattern: Pattern,
        /// The reads.
        reads: Vec<OperationId>,
    },
    /// These edges form a cycle: each ends where the next begins, the last ends where the first begins. At PC and SI
    /// a cycle counts only if no anti-dependency is followed by an edge that leaves the start of the transaction it
    /// entered at its commit (another anti-dependency).
    Cycle(Vec<EdgeIndex>),
    /// Whichever of two writers of a key comes first, a contradiction follows.
    Split {
        /// The key both write.
        key: KeyId,
        /// The assumed edge (reason [`Assumed`](isoscope_model::relations::Reason::Assumed)) and what follows from it. Edges
        /// derived inside a branch may be used in that branch only.
        first: (EdgeIndex, Box<Proof>),
        /// The opposite assumption.
        second: (EdgeIndex, Box<Proof>),
    },
    /// Whichever possible writer's version a read returned, a contradiction follows.
    Writers {
        /// The read. Its transaction counts as committed, given the cases around this one.
        read: OperationId,
        /// Every other transaction that wrote the value and may have committed, and ⊥ if the value may be initial, each
        /// with what follows. A writer of unknown outcome counts as committed in its own case. Edges that rest on this
        /// read may be used in the case of their writer only.
        cases: Vec<(TransactionId, Proof)>,
    },
    /// Whichever append made an element of a list, a contradiction follows. In each case all appends of its transaction
    /// to the key are next to it in their order, and elsewhere every element that only one append can then have made is
    /// known, too.
    Appends {
        /// The read of the list. Its transaction counts as committed, given the cases around this one.
        read: OperationId,
        /// The place of the element, from 0, before the reader's own appends.
        place: usize,
        /// Every append that may have made it, each with what follows: by a transaction that did not abort and all of
        /// whose appends to the key fit around the place. Empty if no append can have made it.
        cases: Vec<(OperationId, Proof)>,
    },
    /// Whether a transaction of unknown outcome committed or not, a contradiction follows. In the first case it counts
    /// as committed with all that it read, in the second as aborted; in both every element of a list is known that only
    /// one append can then have made.
    Outcomes {
        /// The transaction.
        transaction: TransactionId,
        /// Both cases: whether it committed, and what follows.
        cases: Vec<(bool, Proof)>,
    },
    /// Whatever the orders of many pairs of writers, one of these cycles closes. Exactly one of the two assumed edges
    /// (reason [`Assumed`](isoscope_model::relations::Reason::Assumed)) of a pair holds; a cycle rules out the conjunction of
    /// the assumed edges that its own edges rest on, directly or through premises. That no choice is left follows by
    /// unit propagation: first each clause in turn, from the cycles and the clauses before it, then the contradiction.
    Clauses {
        /// Cycles, under the rules of [`Cycle`](Proof::Cycle), smallest first.
        lemmas: Vec<Vec<EdgeIndex>>,
        /// In each of these lists at least one assumed edge does not hold.
        clauses: Vec<Vec<EdgeIndex>>,
    },
    /// Whatever is supposed about many reads, or about many places of lists and outcomes, a contradiction follows: each
    /// of these combinations of suppositions is contradictory. That none is left follows by unit propagation as in
    /// [`Clauses`](Proof::Clauses), from the combinations and from the fact that exactly one option of each read, place
    /// or outcome holds.
    Combinations {
        /// All that may be supposed, grouped by read, place or outcome. For a read all writers count that do not
        /// violate read committed by themselves, for a place all appends as in [`Appends`](Proof::Appends).
        options: Vec<Supposed>,
        /// Options as indices into `options`, in the order in which they are supposed (the readers count as committed
        /// because of those before), each list with what follows.
        excluded: Vec<(Vec<usize>, Proof)>,
        /// For each of these lists, it does not hold that all options with `true` and none with `false` hold.
        clauses: Vec<Vec<(usize, bool)>>,
    },
}

/// What may be supposed if it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supposed {
    /// A read returned what this transaction wrote, or ⊥.
    Writer {
        /// The read.
        read: OperationId,
        /// The transaction that wrote it.
        writer: TransactionId,
    },
    /// An append made the element at a place of a list.
    Append {
        /// The read of the list.
        read: OperationId,
        /// The place of the element, from 0, before the reader's own appends.
        place: usize,
        /// The append.
        append: OperationId,
    },
    /// A transaction of unknown outcome committed, or did not.
    Outcome {
        /// The transaction.
        transaction: TransactionId,
        /// Whether it committed.
        committed: bool,
    },
}

impl Supposed {
    /// The read it is about, if it is about one.
    pub fn read(self) -> Option<OperationId> {
        match self {
            Supposed::Writer { read, .. } | Supposed::Append { read, .. } => Some(read),
            Supposed::Outcome { .. } => None,
        }
    }
}

impl Proof {
    /// The proofs directly inside this one, in order of its cases.
    pub fn inner(&self) -> Vec<&Proof> {
        match self {
            Proof::Read | Proof::Reads { .. } | Proof::Cycle(_) | Proof::Clauses { .. } => {
                Vec::new()
            }
            Proof::Split { first, second, .. } => vec![&first.1, &second.1],
            Proof::Writers { cases, .. } => cases.iter().map(|(_, proof)| proof).collect(),
            Proof::Appends { cases, .. } => cases.iter().map(|(_, proof)| proof).collect(),
            Proof::Outcomes { cases, .. } => cases.iter().map(|(_, proof)| proof).collect(),
            Proof::Combinations { excluded, .. } => {
                excluded.iter().map(|(_, proof)| proof).collect()
            }
        }
    }

    /// [`inner`](Proof::inner), to change them.
    pub fn inner_mut(&mut self) -> Vec<&mut Proof> {
        match self {
            Proof::Read | Proof::Reads { .. } | Proof::Cycle(_) | Proof::Clauses { .. } => {
                Vec::new()
            }
            Proof::Split { first, second, .. } => vec![&mut first.1, &mut second.1],
            Proof::Writers { cases, .. } => cases.iter_mut().map(|(_, proof)| proof).collect(),
            Proof::Appends { cases, .. } => cases.iter_mut().map(|(_, proof)| proof).collect(),
            Proof::Outcomes { cases, .. } => cases.iter_mut().map(|(_, proof)| proof).collect(),
            Proof::Combinations { excluded, .. } => {
                excluded.iter_mut().map(|(_, proof)| proof).collect()
            }
        }
    }

    /// The edges of its cycle, or of the cycles of all branches with the assumptions they rest on; ascending, each
    /// once. The first possible writer of a read represents all: another one makes another world, not more of this one.
    /// A log of clauses is represented by its first cycle, without the assumptions.
    pub fn cycle_edges(&self) -> Vec<EdgeIndex> {
        let mut edges = Vec::new();
        let mut open = vec![self];
        while let Some(proof) = open.pop() {
            match proof {
                Proof::Cycle(cycle) => edges.extend(cycle),
                Proof::Clauses { lemmas, .. } => edges.extend(lemmas.first().into_iter().flatten()),
                Proof::Split { first, second, .. } => {
                    edges.extend([first.0, second.0]);
                    open.extend(proof.inner());
                }
                _ => open.extend(proof.inner().first()),
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The part that says what the violation is: the first of all cases.
    pub fn first_part(&self) -> &Proof {
        let mut part = self;
        while !matches!(part, Proof::Split { .. })
            && let Some(&first) = part.inner().first()
        {
            part = first;
        }
        part
    }

    /// This proof and those inside it, outermost first, cases in order.
    pub fn parts(&self) -> Vec<&Proof> {
        let mut parts = Vec::new();
        let mut open = vec![self];
        while let Some(proof) = open.pop() {
            parts.push(proof);
            open.extend(proof.inner().into_iter().rev());
        }
        parts
    }

    /// The reads that it names in addition to those of the edges, in order, possibly more than once.
    pub fn reads(&self) -> Vec<OperationId> {
        let of_part = |part: &Proof| match part {
            Proof::Reads { reads, .. } => reads.clone(),
            Proof::Writers { read, .. } | Proof::Appends { read, .. } => vec![*read],
            Proof::Combinations { options, .. } => {
                let mut reads: Vec<OperationId> =
                    options.iter().filter_map(|option| option.read()).collect();
                reads.dedup();
                reads
            }
            _ => Vec::new(),
        };
        self.parts().into_iter().flat_map(of_part).collect()
    }
}

/// One instance of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Its name.
    pub id: ViolationId,
    /// Other patterns that the same scenario is an instance of, as report ids: `TAP-n`, `C4 TAP-k`, `G-single`.
    pub also: Vec<String>,
    /// The levels it violates.
    pub levels: LevelSet,
    /// The key of the contradiction, if there is one.
    pub key: Option<KeyId>,
    /// The scenario's transactions in order of explanation (t1, t2, t3, then others), including ⊥ if involved.
    pub transactions: Vec<TransactionId>,
    /// Operations the argument is about, apart from those named by edges.
    pub operations: Vec<OperationId>,
    /// All edges of the argument; premises come before what rests on them.
    pub edges: Vec<Edge>,
    /// How the edges contradict each other.
    pub proof: Proof,
    /// This instance adds nothing (listed last): the inferred edge of the pattern already holds causally, or the order of its
    /// versions follows only from another violation, by which a version would be older than the initial one. That is then
    /// what its edges show.
    pub implied: bool,
    /// Root cause: instances with the same number share a component or a pair of writers. Ordered as listed.
    pub group: u32,
    /// Its place among the counted instances of its pattern. `None` for one found on its own.
    pub place: Option<Place>,
}

impl Violation {
    /// A violation of these levels found on its own, to be completed by what it is about.
    pub(super) fn new(pattern: Pattern, ordinal: u32, levels: LevelSet, proof: Proof) -> Violation {
        Violation {
            id: ViolationId { pattern, ordinal },
            also: Vec::new(),
            levels,
            key: None,
            transactions: Vec::new(),
            operations: Vec::new(),
            edges: Vec::new(),
            proof,
            implied: false,
            group: ordinal,
            place: None,
        }
    }

    /// Number of the scenario's transactions, excluding ⊥: smaller is easier to believe.
    pub fn size(&self) -> usize {
        self.transactions.iter().filter(|t| !t.is_initial()).count()
    }

    /// The level that its argument is about, which all that is shown of it violates: the weakest. Only two reads of a key
    /// break cut isolation by themselves; where they also close a cycle, that is what the argument is about.
    pub fn level(&self) -> Option<Level> {
        let is_cycle = matches!(self.proof, Proof::Cycle(_));
        self.levels
            .iter()
            .find(|level| !(is_cycle && level.is_of_reads()))
            .or(self.levels.weakest())
    }

    /// The pattern that names the violation. It is counted as an instance of its id's pattern, by how its reader
    /// observed the newer version; but if every commit order of the weakest level that it violates contradicts itself,
    /// that level determines the name: TAP-i at RC, TAP-l at RA, TAP-n above.
    pub fn called(&self) -> Pattern {
        use Pattern::{ConflictCM, FracturedReadCM, NonMonoReadCM};
        match (self.id.pattern, self.levels.weakest()) {
            (NonMonoReadCM | FracturedReadCM, Some(level))
                if level.implies(ConflictCM.row().level) =>
            {
                ConflictCM
            }
            (NonMonoReadCM, Some(level)) if level.implies(FracturedReadCM.row().level) => {
                FracturedReadCM
            }
            (pattern, _) => pattern,
        }
    }
}

/// What an engine found of the patterns it looks for.
#[derive(Clone, Debug, Default)]
pub struct Instances {
    /// All instances of each pattern that occurs, exactly, listed or not.
    pub counts: BTreeMap<Pattern, u64>,
    /// At most the requested number per pattern, smallest first, implied ones last; ordinals and groups from 1 per
    /// pattern.
    pub violations: Vec<Violation>,
    /// Other instances found on their own and counted, which would have made the list too long.
    pub more: Vec<Violation>,
}
