//! Reports of histories with repeated elements in which something is wrong: the verifier must refuse them.

use super::oracle::LEVELS;
use isoscope::checkers::Findings;
use isoscope::history::History;
use isoscope::report::{LevelEntry, ProofEntry, Report, Settings, ViolationEntry};
use isoscope::verify;

/// The verifier accepts no violation of a level that is satisfied, no witness of one that is violated, and no cases with
/// one left out or told twice.
pub(crate) fn refused(history: &History, findings: &Findings, verdicts: [Option<bool>; 7]) -> Result<(), String> {
    let report = Report::new(history, findings, Settings { witness: true, ..Settings::default() });
    let bare = Report { levels: Vec::new(), violations: Vec::new(), ..report.clone() };
    let is = |wanted: bool| {
        // At cut isolation an element counts as that of everybody who appended it.
        let of_levels = LEVELS.iter().zip(verdicts).skip(1).filter(move |(_, verdict)| *verdict == Some(wanted));
        of_levels.map(|(level, _)| level.code().to_owned())
    };
    for violation in &report.violations {
        let mut forged: Vec<ViolationEntry> =
            is(true).map(|level| ViolationEntry { levels: vec![level], ..violation.clone() }).collect();
        let proofs = proofs_with_a_gap(&violation.proof).into_iter();
        forged.extend(proofs.map(|proof| ViolationEntry { proof, ..violation.clone() }));
        for violation in forged {
            let (id, levels) = (violation.id.clone(), violation.levels.clone());
            let is_proved = match verify::verify(history, &Report { violations: vec![violation], ..bare.clone() }) {
                Ok(_) => true,
                Err(problems) => problems.iter().all(|problem| !problem.place.starts_with("violation")),
            };
            if is_proved {
                return Err(format!("a forgery of {id} at {levels:?} is accepted"));
            }
        }
    }
    for entry in report.levels.iter().filter(|entry| entry.witness.is_some()) {
        for level in is(false).filter(|level| matches!(level.as_str(), "PC" | "SI") == entry.snapshots.is_some()) {
            let what = format!("the witness of {} is accepted for {level}", entry.level);
            let forged = LevelEntry { level, ..entry.clone() };
            if verify::verify(history, &Report { levels: vec![forged], ..bare.clone() }).is_ok() {
                return Err(what);
            }
        }
    }
    Ok(())
}

/// A proof by cases with one of them left out, or with one in place of another.
fn proofs_with_a_gap(proof: &ProofEntry) -> Vec<ProofEntry> {
    let mut forged = Vec::new();
    match proof {
        ProofEntry::Appends { read, place, cases } => {
            forged.extend((0..cases.len()).map(|at| {
                let mut cases = cases.clone();
                cases.remove(at);
                ProofEntry::Appends { read: read.clone(), place: *place, cases }
            }));
        }
        ProofEntry::Outcomes { transaction, cases } => {
            for at in 0..cases.len() {
                let transaction = *transaction;
                let mut fewer = cases.clone();
                let told = fewer.remove(at);
                forged.push(ProofEntry::Outcomes { transaction, cases: fewer });
                let twice = vec![told.clone(), told];
                forged.push(ProofEntry::Outcomes { transaction, cases: twice });
            }
        }
        _ => {}
    }
    forged
}
