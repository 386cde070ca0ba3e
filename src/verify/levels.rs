//! The levels, a row each, and how verdicts constrain each other because of what levels imply.

use super::Problem;
use super::guarantee::Guarantee;
use super::story::Sight;
use crate::report::{LevelEntry, VerdictWord};

/// How evidence about a level is checked.
pub(super) struct Row {
    pub(super) code: &'static str,
    /// The strongest levels that it implies.
    implies: &'static [&'static str],
    /// What may be concluded from edges; none where nothing is ordered.
    pub(super) strength: Option<Strength>,
    /// How its witness is replayed.
    pub(super) replay: Replay,
    /// What the program looks for where it is violated.
    pub(super) searched: Searched,
    /// The pattern of a cycle that has no other name.
    pub(super) cycle: &'static str,
    /// Whether only an order in real time satisfies it.
    pub(super) in_real_time: bool,
    /// The level that it is where each transaction has a session of its own.
    pub(super) plain_of: Option<&'static str>,
    /// Whether it is about lightweight transactions only, failed comparisons included.
    pub(super) is_lightweight: bool,
}

/// What may be concluded at a level, each including the ones before; but at PSI a path misses one version at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// What a guarantee of sessions allows for; none: nothing but what was observed.
    Sessions(Option<Guarantee>),
    ReadCommitted,
    ReadAtomic,
    Causal,
    Prefix,
    Parallel,
    Snapshot,
    Serial,
}

impl Strength {
    /// Whether versions seen along the paths of a guarantee must not be missed.
    pub(super) fn keeps(self, guarantee: Guarantee) -> bool {
        match self {
            Strength::Sessions(own) => own.is_some_and(|own| own.counts(guarantee)),
            Strength::ReadCommitted => false,
            Strength::ReadAtomic => guarantee == Guarantee::ReadYourWrites,
            _ => true,
        }
    }

    /// Whether start and commit are different events.
    pub(super) fn has_two_events(self) -> bool {
        matches!(self, Strength::Prefix | Strength::Parallel | Strength::Snapshot)
    }
}

/// How a witness is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replay {
    /// Nothing is replayed: the reads of each transaction show it.
    Reads,
    /// A commit order: each read returns the newest version that its transaction sees.
    Sees(Sight),
    /// Starts and commits: a transaction reads what had been committed when it started; where `apart` is set, two writers
    /// of a key may not overlap.
    Snapshots { apart: bool },
    /// One after the other.
    Serial,
}

/// What the program looks for where a level is violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Searched {
    Nothing,
    Cycles,
    CyclesAndDivergence,
}

/// Weakest first.
#[rustfmt::skip]
pub(super) const ROWS: [Row; 25] = [
    Row { code: "CI", implies: &[], strength: None, replay: Replay::Reads, searched: Searched::Nothing, cycle: "", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "PL2", implies: &[], strength: Some(Strength::Sessions(None)), replay: Replay::Sees(Sight::Sessions(None)), searched: Searched::Cycles, cycle: "", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "RYW", implies: &["PL2"], strength: Some(Strength::Sessions(Some(Guarantee::ReadYourWrites))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::ReadYourWrites))), searched: Searched::Cycles, cycle: "", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "MR", implies: &["PL2"], strength: Some(Strength::Sessions(Some(Guarantee::MonotonicReads))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::MonotonicReads))), searched: Searched::Cycles, cycle: "", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "MW", implies: &["PL2"], strength: Some(Strength::Sessions(Some(Guarantee::MonotonicWrites))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::MonotonicWrites))), searched: Searched::Cycles, cycle: "", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "WFR", implies: &["PL2"], strength: Some(Strength::Sessions(Some(Guarantee::WritesFollowReads))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::WritesFollowReads))), searched: Searched::Cycles, cycle: "", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "PRAM", implies: &["RYW", "MR", "MW"], strength: Some(Strength::Sessions(Some(Guarantee::Pram))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::Pram))), searched: Searched::Cycles, cycle: "", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "P-RC", implies: &[], strength: Some(Strength::ReadCommitted), replay: Replay::Sees(Sight::ReadBefore), searched: Searched::Cycles, cycle: "", in_real_time: false, plain_of: Some("RC"), is_lightweight: false },
    Row { code: "RC", implies: &["PL2", "P-RC"], strength: Some(Strength::ReadCommitted), replay: Replay::Sees(Sight::ReadBefore), searched: Searched::Cycles, cycle: "", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "P-RA", implies: &["CI", "P-RC"], strength: Some(Strength::ReadAtomic), replay: Replay::Sees(Sight::OneStep), searched: Searched::Cycles, cycle: "", in_real_time: false, plain_of: Some("RA"), is_lightweight: false },
    Row { code: "RA", implies: &["RC", "RYW", "P-RA"], strength: Some(Strength::ReadAtomic), replay: Replay::Sees(Sight::OneStep), searched: Searched::Cycles, cycle: "", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "P-TCC", implies: &["P-RA"], strength: Some(Strength::Causal), replay: Replay::Sees(Sight::Past), searched: Searched::Cycles, cycle: "", in_real_time: false, plain_of: Some("TCC"), is_lightweight: false },
    Row { code: "TCC", implies: &["RA", "PRAM", "WFR", "P-TCC"], strength: Some(Strength::Causal), replay: Replay::Sees(Sight::Past), searched: Searched::Cycles, cycle: "", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "P-PSI", implies: &["P-TCC"], strength: Some(Strength::Parallel), replay: Replay::Sees(Sight::Dependencies), searched: Searched::CyclesAndDivergence, cycle: "PSICycle", in_real_time: false, plain_of: Some("PSI"), is_lightweight: false },
    Row { code: "PSI", implies: &["TCC", "P-PSI"], strength: Some(Strength::Parallel), replay: Replay::Sees(Sight::Dependencies), searched: Searched::CyclesAndDivergence, cycle: "PSICycle", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "P-PC", implies: &["P-TCC"], strength: Some(Strength::Prefix), replay: Replay::Snapshots { apart: false }, searched: Searched::Cycles, cycle: "SICycle", in_real_time: false, plain_of: Some("PC"), is_lightweight: false },
    Row { code: "PC", implies: &["TCC", "P-PC"], strength: Some(Strength::Prefix), replay: Replay::Snapshots { apart: false }, searched: Searched::Cycles, cycle: "SICycle", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "R-PC", implies: &["PC"], strength: Some(Strength::Prefix), replay: Replay::Snapshots { apart: false }, searched: Searched::Cycles, cycle: "RealTimeCycle", in_real_time: true, plain_of: None, is_lightweight: false },
    Row { code: "P-SI", implies: &["P-PC", "P-PSI"], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, searched: Searched::CyclesAndDivergence, cycle: "SICycle", in_real_time: false, plain_of: Some("SI"), is_lightweight: false },
    Row { code: "SI", implies: &["PC", "PSI", "P-SI"], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, searched: Searched::CyclesAndDivergence, cycle: "SICycle", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "R-SI", implies: &["R-PC", "SI"], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, searched: Searched::CyclesAndDivergence, cycle: "RealTimeCycle", in_real_time: true, plain_of: None, is_lightweight: false },
    Row { code: "P-SER", implies: &["P-SI"], strength: Some(Strength::Serial), replay: Replay::Serial, searched: Searched::CyclesAndDivergence, cycle: "SERCycle", in_real_time: false, plain_of: Some("SER"), is_lightweight: false },
    Row { code: "SER", implies: &["SI", "P-SER"], strength: Some(Strength::Serial), replay: Replay::Serial, searched: Searched::CyclesAndDivergence, cycle: "SERCycle", in_real_time: false, plain_of: None, is_lightweight: false },
    Row { code: "SSER", implies: &["R-SI", "SER"], strength: Some(Strength::Serial), replay: Replay::Serial, searched: Searched::CyclesAndDivergence, cycle: "RealTimeCycle", in_real_time: true, plain_of: None, is_lightweight: false },
    Row { code: "LIN", implies: &["SSER"], strength: Some(Strength::Serial), replay: Replay::Serial, searched: Searched::Nothing, cycle: "RealTimeCycle", in_real_time: true, plain_of: None, is_lightweight: true },
];

/// The place of a level.
pub(super) fn place(code: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.code == code)
}

/// The row of a level.
pub(super) fn row(code: &str) -> Option<&'static Row> {
    place(code).map(|place| &ROWS[place])
}

/// The level that this one is where each transaction has a session of its own.
pub(super) fn plain_of(code: &str) -> Option<&'static str> {
    row(code).and_then(|row| row.plain_of)
}

/// Whether none of some levels counts sessions, and not all relate the reads of each transaction only.
pub(super) fn are_plain<'a>(mut codes: impl Iterator<Item = &'a str> + Clone) -> bool {
    codes.clone().any(|code| plain_of(code).is_some())
        && codes.all(|code| plain_of(code).is_some() || is_of_reads(code))
}

/// Whether a level relates the reads of each transaction only, so that cycles say nothing about it and all writers of a
/// value count.
pub(super) fn is_of_reads(code: &str) -> bool {
    row(code).is_some_and(|row| row.replay == Replay::Reads)
}

/// Whether every history that satisfies the one level satisfies the other.
pub(super) fn implies(stronger: usize, weaker: usize) -> bool {
    let mut between = ROWS[stronger].implies.iter().filter_map(|code| place(code));
    stronger == weaker || between.any(|between| implies(between, weaker))
}

/// What evidence has been accepted, by place of a level.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    /// A witness was replayed.
    pub(super) satisfied: [bool; ROWS.len()],
    /// A violation was confirmed.
    pub(super) violated: [bool; ROWS.len()],
}

impl Shown {
    /// The strongest level with a witness that implies this one.
    fn satisfied_by(&self, level: usize) -> Option<&'static str> {
        (0..ROWS.len())
            .rev()
            .find(|&known| self.satisfied[known] && implies(known, level))
            .map(|known| ROWS[known].code)
    }

    /// The weakest level with a violation that this one implies.
    fn violated_by(&self, level: usize) -> Option<&'static str> {
        (0..ROWS.len()).find(|&known| self.violated[known] && implies(level, known)).map(|known| ROWS[known].code)
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
        place: format!("level {}", ROWS[stronger].code),
        message: format!("said to be satisfied while {} is said to be violated", ROWS[weaker].code),
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
