//! Reports of histories with repeated elements in which something is wrong: the verifier must refuse them.

use super::oracle::LEVELS;
use isoscope::checkers::{Findings, Level, Pattern, Proof, Violation, ViolationId, WrongReads};
use isoscope::history::{History, OperationId, OperationKind, TransactionId};
use isoscope::report::{LevelEntry, ProofEntry, Report, Settings, ViolationEntry};
use isoscope::verify;
use std::collections::HashSet;

/// The verifier accepts no violation of a level that is satisfied, no witness of one that is violated, and no cases with
/// one left out or told twice.
pub(crate) fn refused(
    history: &History,
    findings: &Findings,
    verdicts: [Option<bool>; 7],
) -> Result<(), String> {
    let report = isoscope::report::of_findings(
        history,
        findings,
        Settings {
            witness: true,
            ..Settings::default()
        },
    );
    let bare = Report {
        levels: Vec::new(),
        violations: Vec::new(),
        ..report.clone()
    };
    let is = |wanted: bool| {
        // At cut isolation an element counts as that of everybody who appended it.
        let of_levels = LEVELS
            .iter()
            .zip(verdicts)
            .skip(1)
            .filter(move |(_, verdict)| *verdict == Some(wanted));
        of_levels.map(|(level, _)| *level)
    };
    for violation in &report.violations {
        let mut forged: Vec<ViolationEntry> = is(true)
            .map(|level| ViolationEntry {
                levels: vec![level],
                ..violation.clone()
            })
            .collect();
        let proofs = proofs_with_a_gap(&violation.proof).into_iter();
        forged.extend(proofs.map(|proof| ViolationEntry {
            proof,
            ..violation.clone()
        }));
        for violation in forged {
            let (id, levels) = (violation.id.clone(), violation.levels.clone());
            let forged = Report {
                violations: vec![violation],
                ..bare.clone()
            };
            if verify::verify(history, &forged).is_ok() {
                return Err(format!("a forgery of {id} at {levels:?} is accepted"));
            }
        }
    }
    for entry in report.levels.iter().filter(|entry| entry.witness.is_some()) {
        for level in is(false)
            .filter(|level| matches!(level.code(), "PC" | "SI") == entry.snapshots.is_some())
        {
            let what = format!("the witness of {} is accepted for {level}", entry.level);
            let forged = LevelEntry {
                level,
                ..entry.clone()
            };
            if verify::verify(
                history,
                &Report {
                    levels: vec![forged],
                    ..bare.clone()
                },
            )
            .is_ok()
            {
                return Err(what);
            }
        }
    }
    wrong_reads_are_refused(history, verdicts)
}

/// The verifier takes no read, and no two reads, for wrong where read committed is satisfied, or read atomic.
fn wrong_reads_are_refused(history: &History, verdicts: [Option<bool>; 7]) -> Result<(), String> {
    let is_satisfied = |level: &Level| {
        let place = LEVELS.iter().position(|other| other == level);
        place.is_some_and(|place| verdicts[place] == Some(true))
    };
    let levels: Vec<Level> = [Level::ReadCommitted, Level::ReadAtomic]
        .into_iter()
        .filter(is_satisfied)
        .collect();
    match accepted_reads(history, &levels).first() {
        Some(claim) => Err(format!("the verifier takes for wrong what is not: {claim}")),
        None => Ok(()),
    }
}

/// What the verifier believes, of all claims that a read, or two reads of a key, violate one of these levels by themselves.
pub(crate) fn accepted_reads(history: &History, levels: &[Level]) -> Vec<String> {
    let all = (0..history.n_operations()).map(OperationId::new);
    let reads: Vec<OperationId> = all
        .filter(|&o| history.operation(o).kind == OperationKind::Read)
        .collect();
    let key = |read: OperationId| history.keys()[read.index()];
    let mut claims: Vec<(Pattern, Vec<OperationId>)> = Vec::new();
    for (place, &read) in reads.iter().enumerate() {
        let of_key = reads[place + 1..]
            .iter()
            .filter(|&&other| key(other) == key(read));
        let both = [Pattern::IncompatibleOrder, Pattern::NonRepeatableRead];
        claims.extend(
            Pattern::all()
                .filter(|pattern| pattern.is_wrong_read())
                .map(|pattern| (pattern, vec![read])),
        );
        claims.extend(of_key.flat_map(|&other| both.map(|pattern| (pattern, vec![read, other]))));
    }
    let mut violations: Vec<Violation> = Vec::new();
    for &level in levels {
        for (pattern, reads) in claims
            .iter()
            .filter(|(pattern, _)| level.implies(pattern.row().level))
        {
            for proof in [
                Proof::Reads(None),
                Proof::Reads(Some(WrongReads {
                    pattern: *pattern,
                    reads: reads.clone(),
                })),
            ] {
                let id = ViolationId {
                    pattern: *pattern,
                    ordinal: violations.len() as u32 + 1,
                };
                violations.push(claimed(history, id, level, reads, proof));
            }
        }
    }
    let report = isoscope::report::of_findings(
        history,
        &Findings {
            violations,
            ..Findings::default()
        },
        Settings::default(),
    );
    let problems = verify::verify(history, &report).err().unwrap_or_default();
    let refused: HashSet<&str> = problems
        .iter()
        .filter_map(|problem| problem.place.strip_prefix("violation "))
        .collect();
    let accepted = report
        .violations
        .iter()
        .filter(|violation| !refused.contains(violation.id.as_str()));
    let told = |violation: &ViolationEntry| {
        let levels: Vec<&str> = violation.levels.iter().map(|level| level.code()).collect();
        let reads: Vec<&str> = violation
            .operations
            .iter()
            .map(|operation| operation.text.as_str())
            .collect();
        format!(
            "{} {} {}",
            violation.pattern,
            levels.join(" "),
            reads.join(" ")
        )
    };
    accepted.map(told).collect()
}

/// The claim that these reads violate a level.
fn claimed(
    history: &History,
    id: ViolationId,
    level: Level,
    reads: &[OperationId],
    proof: Proof,
) -> Violation {
    let mut transactions: Vec<TransactionId> = reads
        .iter()
        .map(|&read| history.transaction_of(read))
        .collect();
    transactions.dedup();
    Violation {
        id,
        also: Vec::new(),
        levels: [level].into_iter().collect(),
        key: Some(history.operation(reads[0]).key),
        transactions,
        operations: reads.to_vec(),
        edges: Vec::new(),
        proof,
        implied: false,
        group: 1,
        place: None,
    }
}

/// A proof by cases with one of them left out, or with one in place of another.
fn proofs_with_a_gap(proof: &ProofEntry) -> Vec<ProofEntry> {
    let mut forged = Vec::new();
    match proof {
        ProofEntry::Appends { read, place, cases } => {
            forged.extend((0..cases.len()).map(|at| {
                let mut cases = cases.clone();
                cases.remove(at);
                ProofEntry::Appends {
                    read: read.clone(),
                    place: *place,
                    cases,
                }
            }));
        }
        ProofEntry::Outcomes { transaction, cases } => {
            for at in 0..cases.len() {
                let transaction = *transaction;
                let mut fewer = cases.clone();
                let told = fewer.remove(at);
                forged.push(ProofEntry::Outcomes {
                    transaction,
                    cases: fewer,
                });
                let twice = vec![told.clone(), told];
                forged.push(ProofEntry::Outcomes {
                    transaction,
                    cases: twice,
                });
            }
        }
        _ => {}
    }
    forged
}
