//! What a part of a proof shows: its pattern, key and other names.
//!
//! The letters h to n and the cycles are recognized by their edges, which have been checked already, and by the reads
//! of the transaction that reads too old a version. A scenario has one name: the most specific that fits.

use super::cycle::Cycle;
use super::pattern::{self, general};
use super::reads::{Case, From};
use super::{Described, Scene, Surplus, letters};
use isoscope_judge::report::{AxiomWord, OptionEntry, ProofEntry, ReasonEntry};
use isoscope_model::history::OperationId;

/// The pattern of operations that no order explains.
pub(super) const LINEAR: &str = "NoLinearOrder";

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

/// The last parts of a proof.
fn last_parts(proof: &ProofEntry) -> Vec<&ProofEntry> {
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

impl<'a> Described<'a> {
    /// What its proof shows, or why that does not match its name.
    pub(super) fn scene(&self, surplus: Surplus) -> Result<Scene, String> {
        let proof = &self.violation.proof;
        if self
            .violation
            .levels
            .iter()
            .any(|level| level.code().ends_with("PL1"))
        {
            return self.write_cycle();
        }
        match proof {
            ProofEntry::Read if self.violation.pattern == LINEAR => Ok(self.without_order()),
            ProofEntry::Read => self.single_reads(surplus),
            _ => {
                let (part, case) = self.first_part()?;
                let scene = self.shows(self.violation.pattern.id(), part, case.as_ref())?;
                Ok(self.with_other_cases(scene))
            }
        }
    }

    /// The part of a proof that says what the violation is, the first of all cases, and which writers it fixes; none where
    /// it depends on more than writers.
    fn first_part(&self) -> Result<(&'a ProofEntry, Option<Case>), String> {
        let mut part = &self.violation.proof;
        let mut case = (!self.reads.repeats_elements()).then(Case::default);
        loop {
            match part {
                ProofEntry::Writers { read, cases } => {
                    let first = cases.first().ok_or("it has no cases")?;
                    let fixed = (self.entry(read)?, self.transaction(first.writer)?);
                    case.iter_mut().for_each(|case| case.fixed.push(fixed));
                }
                ProofEntry::Combinations {
                    options, excluded, ..
                } => {
                    let first = excluded.first().ok_or("it has no combinations")?;
                    for number in &first.options {
                        match options.get(number.wrapping_sub(1)) {
                            Some(OptionEntry::Writer { read, writer }) => {
                                let fixed = (self.entry(read)?, self.transaction(*writer)?);
                                case.iter_mut().for_each(|case| case.fixed.push(fixed));
                            }
                            _ => case = None,
                        }
                    }
                }
                ProofEntry::Appends { .. } | ProofEntry::Outcomes { .. } => case = None,
                _ => return Ok((part, case)),
            }
            match part.cases().first() {
                Some(&first) => part = first,
                None => return Ok((part, case)),
            }
        }
    }

    /// Adds the names of what the other cases of a proof show, as far as the violation has them.
    fn with_other_cases(&self, mut scene: Scene) -> Scene {
        let proof = &self.violation.proof;
        if is_last_part(proof) {
            return scene;
        }
        let also = self.violation.also.iter();
        for name in also.filter(|name| pattern::name_of(name).is_some()) {
            if last_parts(proof).iter().any(|part| self.may_be(name, part)) {
                scene.also.push(name.clone());
            }
        }
        scene
    }

    /// What a violation whose operations alone are its proof shows: every read that it names.
    fn single_reads(&self, surplus: Surplus) -> Result<Scene, String> {
        let pattern = self.violation.pattern.id();
        let mut reads = self.operations()?;
        reads.retain(|&o| self.is_read(o));
        let key_of = |read: &OperationId| {
            let key = self.history.operation(*read).key;
            Some(self.history.key_names().get(key.index()))
        };
        if surplus == Surplus::Allowed {
            reads.retain(|read| key_of(read) == self.violation.key);
        }
        let is_whole = match pattern {
            "TAP-j" => reads.len() == 2,
            "IncompatibleOrder" => matches!(reads.len(), 1 | 2),
            _ => reads.len() == 1,
        };
        if !is_whole && surplus == Surplus::Refused {
            return Err(format!(
                "{} reads are no instance of {pattern}",
                reads.len()
            ));
        }
        // A read is listed after the list that it is incompatible with.
        let last = match self.violation.operations.last() {
            Some(last) if pattern == "IncompatibleOrder" => Some(self.entry(last)?),
            _ => None,
        };
        reads.sort_by_key(|&read| (Some(read) == last, read));
        let case = (!self.reads.repeats_elements()).then(Case::default);
        Ok(self.of_reads(case.as_ref(), pattern, reads))
    }

    /// What operations without an order show: their common key, if any.
    fn without_order(&self) -> Scene {
        let all = self.transactions.iter().filter(|t| !t.is_initial());
        let operations: Vec<OperationId> =
            all.flat_map(|&t| self.history.operations_of(t)).collect();
        let mut keys = operations.iter().map(|&o| self.history.operation(o).key);
        let key = keys.next().filter(|first| keys.all(|key| key == *first));
        let mut sorted = self.transactions.clone();
        sorted.sort_unstable();
        Scene {
            key,
            identity: Some(format!("{sorted:?}")),
            reads: operations
                .into_iter()
                .filter(|&o| self.is_read(o))
                .collect(),
            ..Scene::default()
        }
    }

    /// What a violation of read uncommitted shows.
    fn write_cycle(&self) -> Result<Scene, String> {
        let ProofEntry::Cycle { edges } = &self.violation.proof else {
            return Err("its proof shows no WriteCycle".to_owned());
        };
        require!(
            self.violation.pattern == "WriteCycle",
            "its cycle shows WriteCycle"
        )?;
        let cycle = Cycle::new(self, edges)?;
        let mut also = vec![cycle.with_session("G0")];
        also.extend(cycle.has("RT").then(|| "G0-realtime".to_owned()));
        Ok(cycle.scene(None, also))
    }

    /// Whether a part of a proof shows an instance of a pattern. `case` is where it is; none if that is unknown, so that only
    /// its form counts.
    fn shows(
        &self,
        pattern: &str,
        part: &ProofEntry,
        case: Option<&Case>,
    ) -> Result<Scene, String> {
        match part {
            ProofEntry::Reads {
                pattern: shown,
                reads,
            } => {
                require!(
                    *shown == *pattern,
                    "its reads are an instance of {shown}, not of {pattern}"
                )?;
                let reads: Result<_, _> = reads.iter().map(|entry| self.entry(entry)).collect();
                Ok(self.of_reads(case, pattern, reads?))
            }
            ProofEntry::Appends { read, .. } if pattern == "IncompatibleOrder" => {
                Ok(self.of_reads(case, pattern, vec![self.entry(read)?]))
            }
            ProofEntry::Cycle { edges } => Cycle::new(self, edges)?.shows(pattern, case),
            ProofEntry::Split { .. } | ProofEntry::Clauses { .. } => self.by_orders(pattern),
            _ => Err(format!("its proof shows no {pattern}")),
        }
    }

    /// Whether a case of a proof may be an instance of a pattern, as far as its form tells.
    fn may_be(&self, pattern: &str, part: &ProofEntry) -> bool {
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
        is_general && has_edges || self.shows(pattern, part, None).is_ok()
    }

    /// Wrong reads, or two incompatible ones.
    fn of_reads(&self, case: Option<&Case>, pattern: &str, reads: Vec<OperationId>) -> Scene {
        let also: Vec<&str> = match pattern {
            "TAP-a" => vec!["C4 TAP-a"],
            "TAP-b" => vec!["C4 TAP-b", "G1a"],
            "TAP-c" => vec!["C4 TAP-c"],
            "TAP-d" => match self.is_irregular(case, &reads, |from| from.intermediate) {
                Some(false) => vec!["C4 TAP-d"],
                _ => vec!["C4 TAP-d", "TAP-f", "G1b"],
            },
            "TAP-f" => match self.is_irregular(case, &reads, |from| from.after_own_write) {
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
        let key = reads.first().map(|&read| self.history.operation(read).key);
        Scene {
            key,
            also: also.into_iter().map(str::to_owned).collect(),
            identity,
            reads,
            versions: None,
        }
    }

    /// Whether one of some reads came after an own write or from an intermediate one, by `is`; none in an unknown case.
    fn is_irregular(
        &self,
        case: Option<&Case>,
        reads: &[OperationId],
        is: impl Fn(From) -> bool,
    ) -> Option<bool> {
        let case = case?;
        Some(
            reads
                .iter()
                .any(|&read| self.reads.source(read, case).is_some_and(&is)),
        )
    }

    /// Cases of orders of writers are only named after the weakest level they violate.
    fn by_orders(&self, pattern: &str) -> Result<Scene, String> {
        let in_time = self.violation.edges.iter().any(|edge| edge.kind == "RT");
        if pattern == general(&self.violation.levels, in_time)
            && (pattern != "RealTimeCycle" || in_time)
        {
            Ok(Scene::default())
        } else {
            Err(format!("cases of orders of writers show no {pattern}"))
        }
    }
}

impl Cycle<'_> {
    fn shows(&self, pattern: &str, case: Option<&Case>) -> Result<Scene, String> {
        let is_of = |kinds: &[&str]| {
            self.edges
                .iter()
                .all(|edge| kinds.contains(&edge.kind.code()))
        };
        let general = general(&self.described.violation.levels, self.rests_on("RT"));
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
            _ => return letters::of_cycle(self, pattern, case),
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
    fn of_sessions(&self, pattern: &str) -> Result<Scene, String> {
        let (mut forced, mut counted) = (Vec::new(), Vec::new());
        for &edge in &self.edges {
            match &edge.reason {
                ReasonEntry::Visible { axiom, .. } => {
                    forced.push(edge);
                    counted.push(*axiom);
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
            AxiomWord::ReadYourWrites if is_one => "RYWCycle",
            AxiomWord::MonotonicReads if is_one => "MRCycle",
            AxiomWord::MonotonicWrites if is_one => "MWCycle",
            AxiomWord::WritesFollowReads if is_one => "WFRCycle",
            AxiomWord::ReadCommitted
            | AxiomWord::ReadAtomic
            | AxiomWord::Causal
            | AxiomWord::CommitOrder => return Err("its cycle rests on another axiom".to_owned()),
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
