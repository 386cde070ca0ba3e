//! One violation, with the edges that prove it.

use super::place::Place;
use super::proof::Proof;
use isoscope_model::history::{KeyId, OperationId, TransactionId};
use isoscope_model::levels::{Level, LevelSet, Pattern};
use isoscope_model::relations::Edge;
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

    /// Whether its argument has more steps than anyone follows: one about a stronger level says more, where there is one.
    pub fn is_long(&self) -> bool {
        /// Maximum number of edges of an argument that is read from one end to the other.
        const READABLE: usize = 100;
        self.edges.len() > READABLE
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
