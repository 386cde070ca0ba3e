//! What may be concluded from values.

use super::levels;
use isoscope_model::levels::Level;

/// What may be concluded from the values before any case is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// Cut isolation: every writer of a value counts.
    AllWriters,
    /// Read committed and up: writers that violate it by themselves are excluded where there is one that does not.
    FairWriters,
}

impl Basis {
    /// That of a level.
    pub(super) fn of(level: Level) -> Basis {
        if levels::is_of_reads(level) {
            Basis::AllWriters
        } else {
            Basis::FairWriters
        }
    }
}
