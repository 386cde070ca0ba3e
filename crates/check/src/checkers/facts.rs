//! What is known before any engine runs.

use super::{Level, Pattern};

/// What the patterns of single reads tell about an index before any engine runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// There is a TAP-a to f: every level above CI is violated.
    pub(super) wrong_reads: bool,
    /// There is a TAP-j: what implies cut isolation is violated.
    pub(super) non_repeatable_reads: bool,
}

impl Facts {
    /// Given which patterns of single reads occur.
    pub(super) fn of(patterns: impl Iterator<Item = Pattern> + Clone) -> Facts {
        Facts {
            wrong_reads: patterns.clone().any(Pattern::is_wrong_read),
            non_repeatable_reads: patterns
                .clone()
                .any(|pattern| pattern == Pattern::NonRepeatableRead),
        }
    }

    /// Whether they violate a level above CI.
    pub(super) fn violate(self, level: Level) -> bool {
        self.wrong_reads
            || (self.non_repeatable_reads && level.implies(Pattern::NonRepeatableRead.row().level))
    }
}
