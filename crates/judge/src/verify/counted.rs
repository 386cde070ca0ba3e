//! Which dependencies of a reader count.

/// The dependencies that forbid a reader to miss a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    /// Overwriting the key that was read, directly.
    OfUpdates,
    /// Any that are there by then.
    SoFar,
    /// Direct ones.
    Direct,
    /// Reads before the one that misses.
    ReadBefore,
    /// Direct ones by session order, reads, and real time where it counts.
    OneStep,
    /// All by session order, reads, and real time where it counts.
    Past,
    /// None.
    Nothing,
    All,
    /// All, and those by which a transaction that writes comes before another one whose version it missed.
    Serial,
}
