//! Hard instances as histories.

use super::hard::{Hard, blind_writes, reduction};
use isoscope::history::History;

impl Hard {
    /// The history of the instance.
    pub(crate) fn history(self) -> History {
        match (self, self.formula()) {
            (_, Some((n, clauses))) => reduction(n, &clauses),
            (Hard::Blind(writers, keys, readers, seed), None) => {
                blind_writes(writers, keys, readers, seed)
            }
            (Hard::Cases(_) | Hard::Sat(..), None) => unreachable!("they have formulas"),
        }
    }

    /// Its first word.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Hard::Cases(_) => "cases",
            Hard::Sat(..) => "sat",
            Hard::Blind(..) => "blind",
        }
    }
}
