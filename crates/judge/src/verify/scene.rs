//! What a part of a proof shows: its pattern, key and other names.
//!
//! The letters h to n and the cycles are recognized by their edges, which have been checked already, and by the reads
//! of the transaction that reads too old a version. A scenario has one name: the most specific that fits.

use super::argument::Argument;
use super::edge_cycle::Cycle;
use super::guarantee::Guarantee;
use super::letters;
use super::levels;
use super::resolution::Source;
use super::setting::Setting;
use super::told::{Scene, Told};
use crate::report::{ProofEntry, ReasonEntry};
use isoscope_model::history::{History, OperationId};

/// Whether a part of a proof has no cases, or cases of orders of writers only: then it says what the violation is.
pub(super) fn is_last_part(proof: &ProofEntry) -> bool {
    match proof {
        ProofEntry::Writers { .. }
        | ProofEntry::Outcomes { .. }
        | ProofEntry::Combinations { .. } => false,
        ProofEntry::Appends { cases, .. } => cases.is_empty(),
        _ => true,
    }
}

/// The part of a proof that says what the violation is: the first of all cases.
pub(super) fn first_part(proof: &ProofEntry) -> &ProofEntry {
    let mut part = proof;
    while let Some(&first) = part.cases().first() {
        part = first;
    }
    part
}

/// The last parts of a proof.
pub(super) fn last_parts(proof: &ProofEntry) -> Vec<&ProofEntry> {
    let (mut last, mut open) = (Vec::new(), vec![proof]);
    while let Some(part) = open.pop() {
        if is_last_part(part) {
            last.push(part)
        } else {
            open.extend(part.cases())
        }
    }
    last
}

/// Whether what a part of a proof shows matches the name of the violation. `setting` is its case; none for an
/// impossible case, of which only the form is checked.
pub(super) fn of_part(
    argument: &Argument<'_>,
    part: &ProofEntry,
    setting: Option<&Setting<'_>>,
) -> Told {
    shows(argument, &argument.violation.pattern, part, setting)
}

/// Whether a part of a proof shows an instance of a pattern.
pub(super) fn shows(
    argument: &Argument<'_>,
    pattern: &str,
    part: &ProofEntry,
    setting: Option<&Setting<'_>>,
) -> Told {
    match part {
        ProofEntry::Reads {
            pattern: shown,
            reads,
        } => {
            if shown != pattern {
                return Err(format!(
                    "its reads are an instance of {shown}, not of {pattern}"
                ));
            }
            let reads = reads
                .iter()
                .map(|entry| argument.entry(entry))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(of_reads(argument.history, setting, pattern, reads))
        }
        ProofEntry::Appends { read, .. } if pattern == "IncompatibleOrder" => Ok(of_reads(
            argument.history,
            setting,
            pattern,
            vec![argument.entry(read)?],
        )),
        ProofEntry::Cycle { edges } => Cycle::new(argument, edges)?.shows(pattern, setting),
        ProofEntry::Split { .. } | ProofEntry::Clauses { .. } => by_orders(argument, pattern),
        _ => Err(format!("its proof shows no {pattern}")),
    }
}

/// Whether a case of a proof may be an instance of a pattern, as far as its form tells.
pub(super) fn may_be(argument: &Argument<'_>, pattern: &str, part: &ProofEntry) -> bool {
    // The level violated by a case that does not name the violation is not given.
    let is_general = matches!(
        pattern,
        "CSCycle"
            | "MVCycle"
            | "MSRCycle"
            | "UACycle"
            | "PSICycle"
            | "UpdateCycle"
            | "SICycle"
            | "SERCycle"
            | "RealTimeCycle"
    );
    let has_edges = matches!(
        part,
        ProofEntry::Cycle { .. } | ProofEntry::Split { .. } | ProofEntry::Clauses { .. }
    );
    is_general && has_edges || shows(argument, pattern, part, None).is_ok()
}

/// Wrong reads, or two incompatible ones.
pub(super) fn of_reads(
    history: &History,
    setting: Option<&Setting<'_>>,
    pattern: &str,
    reads: Vec<OperationId>,
) -> Scene {
    let also: Vec<&str> = match pattern {
        "TAP-a" => vec!["C4 TAP-a"],
        "TAP-b" => vec!["C4 TAP-b", "G1a"],
        "TAP-c" => vec!["C4 TAP-c"],
        "TAP-d" => match is_irregular(setting, &reads, |_, intermediate| intermediate) {
            Some(false) => vec!["C4 TAP-d"],
            _ => vec!["C4 TAP-d", "TAP-f", "G1b"],
        },
        "TAP-f" => match is_irregular(setting, &reads, |after_own, _| after_own) {
            Some(true) => vec!["TAP-d", "C4 TAP-d", "G1b"],
            Some(false) => vec!["C4 TAP-e", "G1b"],
            None => vec!["TAP-d", "C4 TAP-d", "C4 TAP-e", "G1b"],
        },
        "TAP-j" => vec!["C4 TAP-f"],
        "IncompatibleOrder" => vec!["incompatible-order"],
        "DuplicateElement" => vec!["duplicate-elements"],
        _ => Vec::new(),
    };
    // The later of two incompatible lists is listed.
    let identity = Some(format!(
        "{:?}",
        if pattern == "TAP-j" {
            &reads[..]
        } else {
            &reads[reads.len().max(1) - 1..]
        }
    ));
    let key = reads.first().map(|&read| history.operation(read).key);
    Scene {
        key,
        also: also.into_iter().map(str::to_owned).collect(),
        identity,
        reads,
        versions: None,
    }
}

/// Whether one of some reads came after an own write or from an intermediate one, by `is`; none in an impossible case.
fn is_irregular(
    setting: Option<&Setting<'_>>,
    reads: &[OperationId],
    is: impl Fn(bool, bool) -> bool,
) -> Option<bool> {
    let of_read = |setting: &Setting<'_>, read| match setting.source(read) {
        Source::Other {
            after_own_write,
            intermediate,
            ..
        } => is(after_own_write, intermediate),
        _ => false,
    };
    setting.map(|setting| reads.iter().any(|&read| of_read(setting, read)))
}

/// Cases of orders of writers are only named after the weakest level they violate.
fn by_orders(argument: &Argument<'_>, pattern: &str) -> Told {
    let in_time = argument
        .violation
        .edges
        .iter()
        .any(|edge| edge.kind == "RT");
    if pattern == general(argument, in_time) && (pattern != "RealTimeCycle" || in_time) {
        Ok(Scene::default())
    } else {
        Err(format!("cases of orders of writers show no {pattern}"))
    }
}

/// The name of a cycle that has no other name, and rests on real time or not.
fn general(argument: &Argument<'_>, in_time: bool) -> &'static str {
    let places = argument
        .violation
        .levels
        .iter()
        .filter_map(|level| levels::place(level));
    let weakest = places
        .filter(|&place| levels::ROWS[place].strength.is_some())
        .min();
    weakest.map_or("", |place| {
        match levels::ROWS[place].time.is_some() && !in_time {
            // It violates the level without times, too, which need not have been asked for.
            true => levels::without_times(place).cycle,
            false => levels::ROWS[place].cycle,
        }
    })
}

impl Cycle<'_> {
    fn shows(&self, pattern: &str, setting: Option<&Setting<'_>>) -> Told {
        let is_of = |kinds: &[&str]| {
            self.edges
                .iter()
                .all(|edge| kinds.contains(&edge.kind.as_str()))
        };
        let general = general(self.argument, self.rests_on("RT"));
        let fits = match pattern {
            "TAP-g" => {
                return if is_of(&["SO", "WR"]) {
                    Ok(self.scene(None, vec!["C4 TAP-g".to_owned(), self.with_session("G1c")]))
                } else {
                    Err("its cycle has other edges than SO and WR".to_owned())
                };
            }
            "VersionOrderCycle" => {
                let listed = self
                    .edges
                    .iter()
                    .find(|edge| matches!(edge.reason, ReasonEntry::Listed { .. }));
                let listed = listed
                    .filter(|_| is_of(&["SO", "WR", "WW"]))
                    .ok_or("no list orders its versions")?;
                let name = if self.has("WR") { "G1c" } else { "G0" };
                return Ok(self.scene(self.key(listed)?, vec![self.with_session(name)]));
            }
            "TAP-j" => return letters::torn(self),
            "RYWCycle" | "MRCycle" | "MWCycle" | "WFRCycle" | "PRAMCycle" => {
                return self.of_sessions(pattern);
            }
            "Divergence" => self.is_divergence(),
            "LostUpdate" => self.is_divergence() || self.is_lost_update(),
            "LongFork" => self.is_long_fork(),
            "WriteSkew" => self.is_write_skew(),
            "MVCycle" | "MSRCycle" => general == pattern,
            "CSCycle" | "UACycle" | "PSICycle" => {
                general == pattern && !self.is_lost_update() && !self.is_divergence()
            }
            "SICycle" => general == pattern && !self.is_lost_update() && !self.is_named_long_fork(),
            "UpdateCycle" => {
                general == pattern
                    && !self.is_lost_update()
                    && !self.is_divergence()
                    && !self.is_write_skew()
            }
            "SERCycle" => general == pattern && !self.is_write_skew(),
            "RealTimeCycle" => general == pattern,
            _ => return letters::of_cycle(self, pattern, setting),
        };
        if !fits {
            return Err(format!("its cycle shows no {pattern}"));
        }
        let key = match pattern {
            "Divergence" | "LostUpdate" => self.key(self.edges[0])?,
            _ => None,
        };
        Ok(self.scene(key, self.names()))
    }

    /// A cycle of what was observed and of what guarantees of sessions force: it is named after the weakest that counts all
    /// these paths.
    fn of_sessions(&self, pattern: &str) -> Told {
        let (mut forced, mut counted) = (Vec::new(), Vec::new());
        for &edge in &self.edges {
            match &edge.reason {
                ReasonEntry::Visible { axiom, .. } => {
                    forced.push(edge);
                    counted.push(Guarantee::of(*axiom).ok_or("its cycle rests on another axiom")?);
                }
                ReasonEntry::SessionOrder if edge.kind != "RT" => {}
                ReasonEntry::Reads | ReasonEntry::Listed { .. } => {}
                _ => return Err(format!("its cycle shows no {pattern}")),
            }
        }
        let first = *counted
            .first()
            .ok_or("no guarantee of sessions is broken")?;
        let is_one = counted.iter().all(|&other| other == first);
        let name = match first {
            Guarantee::ReadYourWrites if is_one => "RYWCycle",
            Guarantee::MonotonicReads if is_one => "MRCycle",
            Guarantee::MonotonicWrites if is_one => "MWCycle",
            Guarantee::WritesFollowReads if is_one => "WFRCycle",
            _ => "PRAMCycle",
        };
        if name != pattern {
            return Err(format!("its cycle shows {name}, not {pattern}"));
        }
        let key = if let [only] = forced.as_slice() {
            self.key(only)?
        } else {
            None
        };
        Ok(self.scene(key, Vec::new()))
    }
}
