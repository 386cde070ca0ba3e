//! The patterns by id and name, and where each belongs.

/// Ids and plain names, and whether one read, or one list, is an instance by itself.
const PATTERNS: [(&str, &str, bool); 37] = [
    ("TAP-a", "ThinAirRead", true),
    ("TAP-b", "AbortedRead", true),
    ("TAP-c", "FutureRead", true),
    ("TAP-d", "NotMyOwnWrite", true),
    ("TAP-e", "NotMyLastWrite", true),
    ("TAP-f", "IntermediateRead", true),
    ("IncompatibleOrder", "IncompatibleOrder", true),
    ("DuplicateElement", "DuplicateElement", true),
    ("TAP-g", "CyclicCO", false),
    ("VersionOrderCycle", "VersionOrderCycle", false),
    ("WriteCycle", "WriteCycle", false),
    ("TAP-h", "NonMonoReadCO", false),
    ("TAP-i", "NonMonoReadCM", false),
    ("TAP-j", "NonRepeatableRead", false),
    ("TAP-k", "FracturedReadCO", false),
    ("TAP-l", "FracturedReadCM", false),
    ("TAP-m", "COConflictCM", false),
    ("TAP-n", "ConflictCM", false),
    ("RYWCycle", "RYWCycle", false),
    ("MRCycle", "MRCycle", false),
    ("MWCycle", "MWCycle", false),
    ("WFRCycle", "WFRCycle", false),
    ("PRAMCycle", "PRAMCycle", false),
    ("Divergence", "Divergence", false),
    ("LostUpdate", "LostUpdate", false),
    ("LongFork", "LongFork", false),
    ("CSCycle", "CSCycle", false),
    ("MVCycle", "MVCycle", false),
    ("MSRCycle", "MSRCycle", false),
    ("UACycle", "UACycle", false),
    ("PSICycle", "PSICycle", false),
    ("UpdateCycle", "UpdateCycle", false),
    ("WriteSkew", "WriteSkew", false),
    ("SICycle", "SICycle", false),
    ("SERCycle", "SERCycle", false),
    ("RealTimeCycle", "RealTimeCycle", false),
    ("NoLinearOrder", "NoLinearOrder", false),
];

/// The letters of patterns in which a version is read although a newer one should have been seen: by how it is seen
/// (mono, fractured, causal), then by how the two versions are known to be ordered (causally, by every commit order).
pub(super) const GRID: [[&str; 2]; 3] =
    [["TAP-h", "TAP-i"], ["TAP-k", "TAP-l"], ["TAP-m", "TAP-n"]];

/// The plain name of a pattern.
pub(super) fn name_of(id: &str) -> Option<&'static str> {
    PATTERNS
        .iter()
        .find(|(known, ..)| *known == id)
        .map(|(_, name, _)| *name)
}

/// Whether one read, or one list, is an instance by itself.
pub(super) fn is_wrong_read(id: &str) -> bool {
    PATTERNS
        .iter()
        .any(|&(known, _, is_wrong_read)| known == id && is_wrong_read)
}

/// The place of a letter in the grid.
pub(super) fn cell(id: &str) -> Option<(usize, usize)> {
    GRID.iter()
        .enumerate()
        .find_map(|(row, ids)| Some((row, ids.iter().position(|known| *known == id)?)))
}

/// Ids of all patterns.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    PATTERNS.iter().map(|(id, ..)| *id)
}
