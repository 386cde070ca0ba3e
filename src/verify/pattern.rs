//! The patterns by id and name, and where each belongs.

/// Ids and plain names.
const PATTERNS: [(&str, &str); 25] = [
    ("TAP-a", "ThinAirRead"),
    ("TAP-b", "AbortedRead"),
    ("TAP-c", "FutureRead"),
    ("TAP-d", "NotMyOwnWrite"),
    ("TAP-e", "NotMyLastWrite"),
    ("TAP-f", "IntermediateRead"),
    ("IncompatibleOrder", "IncompatibleOrder"),
    ("DuplicateElement", "DuplicateElement"),
    ("TAP-g", "CyclicCO"),
    ("VersionOrderCycle", "VersionOrderCycle"),
    ("TAP-h", "NonMonoReadCO"),
    ("TAP-i", "NonMonoReadCM"),
    ("TAP-j", "NonRepeatableRead"),
    ("TAP-k", "FracturedReadCO"),
    ("TAP-l", "FracturedReadCM"),
    ("TAP-m", "COConflictCM"),
    ("TAP-n", "ConflictCM"),
    ("Divergence", "Divergence"),
    ("LostUpdate", "LostUpdate"),
    ("LongFork", "LongFork"),
    ("WriteSkew", "WriteSkew"),
    ("SICycle", "SICycle"),
    ("SERCycle", "SERCycle"),
    ("RealTimeCycle", "RealTimeCycle"),
    ("NoLinearOrder", "NoLinearOrder"),
];

/// The letters of patterns in which a version is read although a newer one should have been seen: by how it is seen
/// (mono, fractured, causal), then by how the two versions are known to be ordered (causally, by every commit order).
pub(super) const GRID: [[&str; 2]; 3] = [["TAP-h", "TAP-i"], ["TAP-k", "TAP-l"], ["TAP-m", "TAP-n"]];

/// The plain name of a pattern.
pub(super) fn name_of(id: &str) -> Option<&'static str> {
    PATTERNS.iter().find(|(known, _)| *known == id).map(|(_, name)| *name)
}

/// Whether one read, or one list, is an instance by itself.
pub(super) fn is_wrong_read(id: &str) -> bool {
    matches!(id, "TAP-a" | "TAP-b" | "TAP-c" | "TAP-d" | "TAP-e" | "TAP-f" | "IncompatibleOrder" | "DuplicateElement")
}

/// The place of a letter in the grid.
pub(super) fn cell(id: &str) -> Option<(usize, usize)> {
    GRID.iter().enumerate().find_map(|(row, ids)| Some((row, ids.iter().position(|known| *known == id)?)))
}

/// Ids of all patterns.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    PATTERNS.iter().map(|(id, _)| *id)
}
