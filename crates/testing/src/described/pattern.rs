//! The patterns by id and name, and the levels in which cycles are named.

use isoscope_model::levels::Level;

/// Ids and plain names.
const PATTERNS: [(&str, &str); 37] = [
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
    ("WriteCycle", "WriteCycle"),
    ("TAP-h", "NonMonoReadCO"),
    ("TAP-i", "NonMonoReadCM"),
    ("TAP-j", "NonRepeatableRead"),
    ("TAP-k", "FracturedReadCO"),
    ("TAP-l", "FracturedReadCM"),
    ("TAP-m", "COConflictCM"),
    ("TAP-n", "ConflictCM"),
    ("RYWCycle", "RYWCycle"),
    ("MRCycle", "MRCycle"),
    ("MWCycle", "MWCycle"),
    ("WFRCycle", "WFRCycle"),
    ("PRAMCycle", "PRAMCycle"),
    ("Divergence", "Divergence"),
    ("LostUpdate", "LostUpdate"),
    ("LongFork", "LongFork"),
    ("CSCycle", "CSCycle"),
    ("MVCycle", "MVCycle"),
    ("MSRCycle", "MSRCycle"),
    ("UACycle", "UACycle"),
    ("PSICycle", "PSICycle"),
    ("UpdateCycle", "UpdateCycle"),
    ("WriteSkew", "WriteSkew"),
    ("SICycle", "SICycle"),
    ("SERCycle", "SERCycle"),
    ("RealTimeCycle", "RealTimeCycle"),
    ("NoLinearOrder", "NoLinearOrder"),
];

/// The letters of patterns in which a version is read although a newer one should have been seen: by how it is seen
/// (mono, fractured, causal), then by how the two versions are known to be ordered (causally, by every commit order).
pub(super) const GRID: [[&str; 2]; 3] =
    [["TAP-h", "TAP-i"], ["TAP-k", "TAP-l"], ["TAP-m", "TAP-n"]];

/// The plain name of a pattern.
pub(super) fn name_of(id: &str) -> Option<&'static str> {
    PATTERNS
        .iter()
        .find(|(known, _)| *known == id)
        .map(|(_, name)| *name)
}

/// The place of a letter in the grid.
pub(super) fn cell(id: &str) -> Option<(usize, usize)> {
    GRID.iter()
        .enumerate()
        .find_map(|(row, ids)| Some((row, ids.iter().position(|known| *known == id)?)))
}

/// The levels, weakest first.
#[rustfmt::skip]
const LEVELS: [&str; 55] = [
    "I-CI", "CI", "P-PL1", "PL1", "R-PL1", "P-PL2", "PL2", "R-PL2", "RYW", "MR", "MW", "WFR", "PRAM", "P-CS", "CS", "R-CS", "P-RC",
    "RC", "R-RC", "P-MV", "MV", "R-MV", "P-MSR", "MSR", "R-MSR", "P-RA", "RA", "R-RA", "P-UA", "UA", "R-UA", "P-TCC", "TCC",
    "R-TCC", "P-PSI", "PSI", "R-PSI", "P-PL3U", "P-PC", "PC", "C-PC", "R-PC", "P-SI", "SI", "K-SI", "C-SI", "R-SI", "P-RR",
    "RR", "R-RR", "P-SER", "SER", "K-SER", "SSER", "LIN",
];

/// The place of a level, weakest first.
pub(super) fn place(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

/// Whether none of some levels counts sessions, and not all relate the reads of each transaction only.
pub(super) fn are_plain<'a>(mut levels: impl Iterator<Item = &'a str> + Clone) -> bool {
    let is_plain = |level: &str| {
        ["P-", "C-", "K-"]
            .iter()
            .any(|kind| level.starts_with(kind))
    };
    levels.clone().any(is_plain)
        && levels.all(|level| is_plain(level) || ["CI", "I-CI"].contains(&level))
}

/// The pattern of a cycle without another name, by the weakest of the levels that it violates, and whether it rests on real
/// time.
pub(super) fn general(levels: &[Level], in_time: bool) -> &'static str {
    let weakest = levels
        .iter()
        .map(|level| level.code())
        .filter(|level| !["CI", "I-CI"].contains(level) && !level.ends_with("PL1"))
        .min_by_key(|level| place(level));
    let Some(level) = weakest else { return "" };
    let (is_timed, base) = match level.split_once('-') {
        Some(("P", base)) => (false, base),
        Some((_, base)) => (true, base),
        None if matches!(level, "SSER" | "LIN") => (true, "SER"),
        None => (false, level),
    };
    match base {
        _ if is_timed && in_time => "RealTimeCycle",
        "CS" => "CSCycle",
        "MV" => "MVCycle",
        "MSR" => "MSRCycle",
        "UA" => "UACycle",
        "PSI" => "PSICycle",
        "PL3U" => "UpdateCycle",
        "PC" | "SI" => "SICycle",
        "RR" | "SER" => "SERCycle",
        _ => "",
    }
}
