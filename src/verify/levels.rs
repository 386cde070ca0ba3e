//! Which levels imply which, and how verdicts constrain each other because of it.

use super::Problem;
use crate::report::{LevelEntry, VerdictWord};

/// Codes of the levels, weakest first. The place in this list is their strength, except for CI, which only RA and
/// stronger levels imply.
pub(super) const LEVELS: [&str; 9] = ["CI", "RC", "RA", "TCC", "PC", "SI", "SER", "SSER", "LIN"];

/// The place of cut isolation.
pub(super) const CI: usize = 0;

const RA: usize = 2;

/// The place of a level.
pub(super) fn place(code: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == code)
}

/// Whether every history that satisfies the one level satisfies the other.
pub(super) fn implies(stronger: usize, weaker: usize) -> bool {
    stronger == weaker || stronger > weaker && (weaker != CI || stronger >= RA)
}

/// What evidence has been accepted, by place of a level.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    /// A witness was replayed.
    pub(super) satisfied: [bool; LEVELS.len()],
    /// A violation was confirmed.
    pub(super) violated: [bool; LEVELS.len()],
}

impl Shown {
    /// The strongest level with a witness that implies this one.
    fn satisfied_by(&self, level: usize) -> Option<&'static str> {
        (0..LEVELS.len()).rev().find(|&known| self.satisfied[known] && implies(known, level)).map(|known| LEVELS[known])
    }

    /// The weakest level with a violation that this one implies.
    fn violated_by(&self, level: usize) -> Option<&'static str> {
        (0..LEVELS.len()).find(|&known| self.violated[known] && implies(level, known)).map(|known| LEVELS[known])
    }
}

/// What is known about a verdict.
pub(super) enum Standing {
    /// Accepted evidence shows it.
    Shown,
    /// There is no evidence for it or against it.
    Open,
    /// It is impossible.
    Contradicted(String),
}

/// What evidence says about a verdict.
pub(super) fn standing(verdict: VerdictWord, level: usize, shown: &Shown) -> Standing {
    let (by_witness, by_violation) = (shown.satisfied_by(level), shown.violated_by(level));
    match (verdict, by_witness, by_violation) {
        (VerdictWord::Undecided, ..) => Standing::Shown,
        (VerdictWord::Satisfied, _, Some(weaker)) => {
            Standing::Contradicted(format!("said to be satisfied, but a confirmed violation names {weaker}"))
        }
        (VerdictWord::Violated, Some(stronger), _) => {
            Standing::Contradicted(format!("said to be violated, but the witness of {stronger} explains every read"))
        }
        (VerdictWord::Satisfied, Some(_), None) | (VerdictWord::Violated, None, Some(_)) => Standing::Shown,
        (_, None, None) => Standing::Open,
    }
}

/// Verdicts that contradict each other, whatever the evidence.
pub(super) fn contradictions(levels: &[LevelEntry]) -> Vec<Problem> {
    let of = |word: VerdictWord| {
        let entries = levels.iter().filter(move |entry| entry.verdict == word);
        entries.filter_map(|entry| place(&entry.level)).collect::<Vec<usize>>()
    };
    let (satisfied, violated) = (of(VerdictWord::Satisfied), of(VerdictWord::Violated));
    let pair = |stronger: usize| violated.iter().find(|&&weaker| implies(stronger, weaker)).map(|&w| (stronger, w));
    let problem = |(stronger, weaker): (usize, usize)| Problem {
        place: format!("level {}", LEVELS[stronger]),
        message: format!("said to be satisfied while {} is said to be violated", LEVELS[weaker]),
    };
    satisfied.into_iter().filter_map(pair).map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_committed_says_nothing_of_cut_isolation() {
        let [ci, rc, ra, lin] = ["CI", "RC", "RA", "LIN"].map(|code| place(code).expect("a level"));
        assert!(!implies(rc, ci) && !implies(ci, rc) && !implies(rc, ra));
        assert!(implies(ra, ci) && implies(ra, rc) && implies(lin, ci) && implies(ci, ci));
    }
}
