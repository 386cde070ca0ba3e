//! What is said of a counterexample besides its argument: which levels allow it, what it takes for granted, and of what it
//! is minimal.

use super::{Counterexample, Explanation, Minimality};
use crate::checkers::{Findings, Level, Proof, Verdict, Violation};
use crate::history::{History, grouped};

impl Explanation {
    /// The same with what is known of the whole history: its own verdicts, and the condition that the violation is under.
    pub fn within(mut self, whole: &History, findings: &Findings, violation: &Violation) -> Explanation {
        let verdicts: Vec<(Level, &Verdict)> =
            findings.levels.iter().map(|result| (result.level, &result.verdict)).collect();
        // Of a check that is not done yet this would be half the truth.
        if Level::of(whole).iter().all(|level| findings.level(*level).is_some()) {
            let standing = standing(&verdicts);
            let is_same = self.verdicts.ends_with(&format!(": {standing}."));
            self.whole = Some(format!("Whole history: {}.", if is_same { "the same" } else { &standing }));
        }
        self.assumptions.splice(0..0, findings.condition_of(whole, violation));
        self
    }

    /// Short lines that belong to every form of it: the verdicts, those of the whole history where they are known, and what
    /// is assumed.
    pub fn facts(&self) -> Vec<String> {
        let assumed = format!("Assumed: {}.", self.assumptions.join("; "));
        [self.verdicts.clone()].into_iter().chain(self.whole.clone()).chain([assumed]).collect()
    }
}

/// "These 4 transactions: allowed by read committed, forbidden by read atomic and everything stronger."
pub(super) fn verdicts(example: &Counterexample) -> String {
    let verdicts: Vec<(Level, &Verdict)> = example.verdicts.iter().map(|(level, verdict)| (*level, verdict)).collect();
    let these = match example.history.n_transactions() {
        1 => "This transaction".to_owned(),
        n => format!("These {n} transactions"),
    };
    format!("{these}: {}.", standing(&verdicts))
}

/// "allowed by read committed, forbidden by read atomic and everything stronger": the strongest levels that hold, the
/// weakest that are broken, and those that are open.
fn standing(verdicts: &[(Level, &Verdict)]) -> String {
    let with = |wanted: fn(&Verdict) -> bool| -> Vec<Level> {
        verdicts.iter().filter(|(_, verdict)| wanted(verdict)).map(|&(level, _)| level).collect()
    };
    let held = with(|verdict| matches!(verdict, Verdict::Satisfied(_)));
    let broken = with(|verdict| matches!(verdict, Verdict::Violated));
    let open = with(|verdict| matches!(verdict, Verdict::Undecided(_)));
    let strongest: Vec<Level> = held
        .iter()
        .copied()
        .filter(|&level| !held.iter().any(|&other| other != level && other.implies(level)))
        .collect();
    let weakest: Vec<Level> = broken
        .iter()
        .copied()
        .filter(|&level| !broken.iter().any(|&other| other != level && level.implies(other)))
        .collect();
    if held.is_empty() && open.is_empty() {
        return "forbidden by every level".to_owned();
    }
    let stronger = if broken.len() > weakest.len() { " and everything stronger" } else { "" };
    let parts = [("allowed by", strongest, ""), ("forbidden by", weakest, stronger), ("undecided:", open, "")];
    let said = parts.into_iter().filter(|(_, levels, _)| !levels.is_empty());
    let said = said.map(|(what, levels, more)| {
        let names: Vec<String> = levels.into_iter().map(Level::spoken).collect();
        let separator = if more.is_empty() { " and " } else { ", " };
        format!("{what} {}{more}", names.join(separator))
    });
    said.collect::<Vec<_>>().join(", ")
}

/// What the argument takes for granted, besides what holds of the whole history only under a condition.
pub(super) fn assumptions(example: &Counterexample) -> Vec<String> {
    let written = match example.violation.proof {
        // What is wrong with such a read is who wrote it.
        Proof::Read | Proof::Reads { .. } => None,
        Proof::Writers { .. } | Proof::Appends { .. } | Proof::Outcomes { .. } | Proof::Combinations { .. } => {
            Some("where several transactions may have written what was read, each of them is a case")
        }
        Proof::Cycle(_) | Proof::Split { .. } | Proof::Clauses { .. } => {
            Some("each value that was read has one possible writer")
        }
    };
    let sessions = match example.level {
        Level::CutIsolation => "the order of sessions does not count",
        _ => "the order of each session counts",
    };
    let told = ["operations are listed in program order", sessions];
    written.into_iter().chain(told).map(str::to_owned).collect()
}

/// What is truly known about its size, and of what it is minimal: "Minimal: without any one of these 4 transactions or 7
/// operations the rest satisfies read atomic."
pub fn size(example: &Counterexample) -> String {
    let level = example.level.spoken();
    let (n, m) = (example.history.n_transactions(), example.history.n_operations());
    let whole = grouped(example.n_transactions_of_whole as u64);
    let counted = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    let (transactions, operations) = (counted(n, "transaction"), counted(m, "operation"));
    let needs_all = example.operation_minimality.passes_without_any();
    let of_transactions = match example.minimality {
        _ if n <= 1 && m <= 1 => "Smallest: one operation of one transaction".to_owned(),
        _ if n <= 1 => "Smallest: one transaction".to_owned(),
        Minimality::Smallest => {
            format!("Smallest: no part of the history with fewer than these {transactions} violates {level}")
        }
        Minimality::SmallestForPattern => format!(
            "Smallest for this anomaly: without any one of these {transactions} the rest satisfies {level}, though fewer \
             others violate it in another way"
        ),
        Minimality::Irreducible if needs_all && m > 1 => {
            return format!(
                "Minimal: without any one of these {transactions} or {operations} the rest satisfies {level}."
            );
        }
        Minimality::Irreducible => {
            format!("Minimal by transaction: without any one of these {n} the rest satisfies {level}")
        }
        Minimality::IrreducibleForPattern => format!(
            "Minimal by transaction for this anomaly: without any one of these {n} it is gone, though a part of them still \
             violates {level} in another way"
        ),
        Minimality::Reduced => {
            format!("Reduced to {n} of {whole} transactions, some of which may still be superfluous")
        }
    };
    let of_operations = match example.operation_minimality {
        _ if m <= 1 => String::new(),
        Minimality::Reduced if n > 1 && example.minimality == Minimality::Reduced => {
            ", and some of their operations".to_owned()
        }
        Minimality::Reduced => "; some operations may still be superfluous".to_owned(),
        Minimality::IrreducibleForPattern => format!("; none of the {operations} can go without the anomaly"),
        Minimality::Smallest | Minimality::SmallestForPattern | Minimality::Irreducible => {
            format!("; without any one of the {operations} the rest satisfies it, too")
        }
    };
    format!("{of_transactions}{of_operations}.")
}
