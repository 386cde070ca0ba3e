//! The guarantees of sessions: the paths of sessions and reads that each counts.

use crate::report::AxiomWord;

/// Which paths of sessions and reads lead to what a reader must not miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Guarantee {
    ReadYourWrites,
    MonotonicReads,
    MonotonicWrites,
    WritesFollowReads,
    Pram,
}

impl Guarantee {
    /// The guarantee that an axiom of an edge speaks of.
    pub(super) fn of(axiom: AxiomWord) -> Option<Guarantee> {
        match axiom {
            AxiomWord::ReadYourWrites => Some(Guarantee::ReadYourWrites),
            AxiomWord::MonotonicReads => Some(Guarantee::MonotonicReads),
            AxiomWord::MonotonicWrites => Some(Guarantee::MonotonicWrites),
            AxiomWord::WritesFollowReads => Some(Guarantee::WritesFollowReads),
            AxiomWord::Pram => Some(Guarantee::Pram),
            _ => None,
        }
    }

    /// Whether a level with this guarantee counts paths of another one.
    pub(super) fn counts(self, other: Guarantee) -> bool {
        match self {
            Guarantee::Pram => other != Guarantee::WritesFollowReads,
            _ => self == other,
        }
    }

    /// Whether a path of steps of session order (`S`) and reads (`W`) is one of this guarantee alone.
    pub(super) fn is_path(self, steps: &str) -> bool {
        match self {
            Guarantee::ReadYourWrites => steps == "S",
            Guarantee::MonotonicReads => steps == "WS",
            Guarantee::MonotonicWrites => steps == "SW",
            Guarantee::Pram => steps == "SWS",
            Guarantee::WritesFollowReads => {
                steps.len() > 1
                    && steps.starts_with('W')
                    && steps.ends_with('W')
                    && !steps.contains("SS")
            }
        }
    }
}
