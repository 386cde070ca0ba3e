//! The levels, a row each, and how verdicts constrain each other because of what levels imply.

use super::Problem;
use super::counted::Counted;
use super::guarantee::Guarantee;
use super::initial::Initial;
use super::story::Sight;
use crate::report::{LevelEntry, VerdictWord};
use isoscope_model::history::History;

/// How evidence about a level is checked.
pub(super) struct EvidenceRule {
    pub(super) code: &'static str,
    /// The strongest levels that it implies.
    implies: &'static [&'static str],
    /// What may be concluded from edges; none where nothing is ordered.
    pub(super) strength: Option<Strength>,
    /// How its witness is replayed.
    pub(super) replay: Replay,
    /// How real time counts, if it does.
    pub(super) time: Option<Time>,
    /// The level that it is where each transaction has a session of its own.
    pub(super) plain_of: Option<&'static str>,
    /// Whether it is about lightweight transactions only, failed comparisons included.
    pub(super) is_lightweight: bool,
}

/// What may be concluded at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// What a guarantee of sessions allows for; none: nothing but what was observed.
    Sessions(Option<Guarantee>),
    ReadCommitted,
    ReadAtomic,
    Causal,
    /// Dependencies, along which at most one version is missed; which of them count for the reader that misses it.
    Dependencies(Counted),
    /// Each read at a moment of its own, after that of the read before.
    EachRead,
    Prefix,
    Snapshot,
    Serial,
}

impl Strength {
    /// Whether versions seen along the paths of a guarantee must not be missed.
    pub(super) fn keeps(self, guarantee: Guarantee) -> bool {
        match self {
            Strength::Sessions(own) => own.is_some_and(|own| own.counts(guarantee)),
            Strength::ReadCommitted | Strength::Dependencies(Counted::OfUpdates) => false,
            Strength::ReadAtomic | Strength::Dependencies(Counted::Direct) => {
                guarantee == Guarantee::ReadYourWrites
            }
            Strength::Dependencies(Counted::SoFar) | Strength::EachRead => {
                matches!(
                    guarantee,
                    Guarantee::ReadYourWrites | Guarantee::MonotonicReads
                )
            }
            _ => true,
        }
    }

    /// Whether a transaction sees no version older than those of the transactions that it has read from before.
    pub(super) fn is_read_committed(self) -> bool {
        !matches!(
            self,
            Strength::Sessions(_) | Strength::Dependencies(Counted::OfUpdates)
        )
    }

    /// Whether it misses nothing of a transaction that it reads from or that precedes it in its session.
    pub(super) fn is_read_atomic(self) -> bool {
        let sees_halves = [
            Strength::ReadCommitted,
            Strength::Dependencies(Counted::SoFar),
            Strength::EachRead,
        ];
        self.is_read_committed() && !sees_halves.contains(&self)
    }

    /// Whether it misses nothing in its causal past.
    pub(super) fn is_causal(self) -> bool {
        self.is_read_atomic()
            && !matches!(
                self,
                Strength::ReadAtomic | Strength::Dependencies(Counted::Direct)
            )
    }

    /// Whether the order of versions counts, beyond what commit orders say of it.
    pub(super) fn orders_versions(self) -> bool {
        let in_time = [
            Strength::EachRead,
            Strength::Prefix,
            Strength::Snapshot,
            Strength::Serial,
        ];
        self.counted().is_some() || in_time.contains(&self)
    }

    /// Whether one of two writers of a key sees the other, or ends before it starts.
    pub(super) fn keeps_writers_apart(self) -> bool {
        self.orders_versions() && !self.orders_commits_of_writers()
    }

    /// Whether two writers of a key are ordered by their commits only.
    pub(super) fn orders_commits_of_writers(self) -> bool {
        matches!(self, Strength::EachRead | Strength::Prefix)
    }

    /// At a level of dependencies: which of them count.
    pub(super) fn counted(self) -> Option<Counted> {
        match self {
            Strength::Dependencies(counted) => Some(counted),
            _ => None,
        }
    }

    /// Where a cycle has one missed version at most: which dependencies forbid to miss it.
    pub(super) fn misses_once(self) -> Option<Counted> {
        match self {
            Strength::Sessions(_) => Some(Counted::Nothing),
            Strength::ReadCommitted => Some(Counted::ReadBefore),
            Strength::ReadAtomic => Some(Counted::OneStep),
            Strength::Causal => Some(Counted::Past),
            Strength::Dependencies(counted) => Some(counted),
            Strength::EachRead | Strength::Prefix | Strength::Snapshot | Strength::Serial => None,
        }
    }

    /// Whether start and commit are different events.
    pub(super) fn has_two_events(self) -> bool {
        let is_one = self.counted() == Some(Counted::Serial);
        self.counted().is_some() && !is_one
            || self.orders_commits_of_writers()
            || self == Strength::Snapshot
    }
}

/// How real time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// What ended before a transaction began precedes it, and is seen by it where single steps count.
    Whole,
    /// The same if they have a key in common.
    ByKey,
    /// What ended before a transaction began commits before it.
    OfCommits,
}

/// How a witness is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replay {
    /// Nothing is replayed: the reads of each transaction show it.
    Reads,
    /// A commit order: it agrees with the lists that were read, whatever they miss.
    Versions,
    /// A commit order: each read returns the newest version that its transaction sees.
    Sees(Sight),
    /// Starts and commits: a transaction reads what had been committed when it started; where `apart` is set, two writers
    /// of a key may not overlap.
    Snapshots { apart: bool },
    /// One after the other.
    Serial,
}

/// Weakest first.
#[rustfmt::skip]
pub(super) const ROWS: [EvidenceRule; 51] = [
    EvidenceRule { code: "CI", implies: &[], strength: None, replay: Replay::Reads, time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-PL1", implies: &[], strength: None, replay: Replay::Versions, time: None, plain_of: Some("PL1"), is_lightweight: false },
    EvidenceRule { code: "PL1", implies: &["P-PL1"], strength: None, replay: Replay::Versions, time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "R-PL1", implies: &["PL1"], strength: None, replay: Replay::Versions, time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-PL2", implies: &["P-PL1"], strength: Some(Strength::Sessions(None)), replay: Replay::Sees(Sight::Sessions(None)), time: None, plain_of: Some("PL2"), is_lightweight: false },
    EvidenceRule { code: "PL2", implies: &["P-PL2", "PL1"], strength: Some(Strength::Sessions(None)), replay: Replay::Sees(Sight::Sessions(None)), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "R-PL2", implies: &["PL2", "R-PL1"], strength: Some(Strength::Sessions(None)), replay: Replay::Sees(Sight::Sessions(None)), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "RYW", implies: &["PL2"], strength: Some(Strength::Sessions(Some(Guarantee::ReadYourWrites))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::ReadYourWrites))), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "MR", implies: &["PL2"], strength: Some(Strength::Sessions(Some(Guarantee::MonotonicReads))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::MonotonicReads))), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "MW", implies: &["PL2"], strength: Some(Strength::Sessions(Some(Guarantee::MonotonicWrites))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::MonotonicWrites))), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "WFR", implies: &["PL2"], strength: Some(Strength::Sessions(Some(Guarantee::WritesFollowReads))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::WritesFollowReads))), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "PRAM", implies: &["RYW", "MR", "MW"], strength: Some(Strength::Sessions(Some(Guarantee::Pram))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::Pram))), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-CS", implies: &["P-PL2"], strength: Some(Strength::Dependencies(Counted::OfUpdates)), replay: Replay::Sees(Sight::Dependencies(Counted::OfUpdates)), time: None, plain_of: Some("CS"), is_lightweight: false },
    EvidenceRule { code: "CS", implies: &["PL2", "P-CS"], strength: Some(Strength::Dependencies(Counted::OfUpdates)), replay: Replay::Sees(Sight::Dependencies(Counted::OfUpdates)), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "R-CS", implies: &["CS", "R-PL2"], strength: Some(Strength::Dependencies(Counted::OfUpdates)), replay: Replay::Sees(Sight::Dependencies(Counted::OfUpdates)), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-RC", implies: &["P-PL2"], strength: Some(Strength::ReadCommitted), replay: Replay::Sees(Sight::ReadBefore), time: None, plain_of: Some("RC"), is_lightweight: false },
    EvidenceRule { code: "RC", implies: &["PL2", "P-RC"], strength: Some(Strength::ReadCommitted), replay: Replay::Sees(Sight::ReadBefore), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "R-RC", implies: &["RC", "R-PL2"], strength: Some(Strength::ReadCommitted), replay: Replay::Sees(Sight::ReadBefore), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-MV", implies: &["P-RC"], strength: Some(Strength::Dependencies(Counted::SoFar)), replay: Replay::Sees(Sight::Dependencies(Counted::SoFar)), time: None, plain_of: Some("MV"), is_lightweight: false },
    EvidenceRule { code: "MV", implies: &["RC", "RYW", "MR", "P-MV"], strength: Some(Strength::Dependencies(Counted::SoFar)), replay: Replay::Sees(Sight::Dependencies(Counted::SoFar)), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "R-MV", implies: &["MV", "R-RC"], strength: Some(Strength::Dependencies(Counted::SoFar)), replay: Replay::Sees(Sight::Dependencies(Counted::SoFar)), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-MSR", implies: &["P-RC"], strength: Some(Strength::EachRead), replay: Replay::Sees(Sight::Growing), time: None, plain_of: Some("MSR"), is_lightweight: false },
    EvidenceRule { code: "MSR", implies: &["RC", "RYW", "MR", "P-MSR"], strength: Some(Strength::EachRead), replay: Replay::Sees(Sight::Growing), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "R-MSR", implies: &["MSR", "R-RC"], strength: Some(Strength::EachRead), replay: Replay::Sees(Sight::Growing), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-RA", implies: &["CI", "P-RC"], strength: Some(Strength::ReadAtomic), replay: Replay::Sees(Sight::OneStep), time: None, plain_of: Some("RA"), is_lightweight: false },
    EvidenceRule { code: "RA", implies: &["RC", "RYW", "P-RA"], strength: Some(Strength::ReadAtomic), replay: Replay::Sees(Sight::OneStep), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "R-RA", implies: &["RA", "R-RC"], strength: Some(Strength::ReadAtomic), replay: Replay::Sees(Sight::OneStep), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-UA", implies: &["P-RA", "P-CS"], strength: Some(Strength::Dependencies(Counted::Direct)), replay: Replay::Sees(Sight::Dependencies(Counted::Direct)), time: None, plain_of: Some("UA"), is_lightweight: false },
    EvidenceRule { code: "UA", implies: &["RA", "CS", "P-UA"], strength: Some(Strength::Dependencies(Counted::Direct)), replay: Replay::Sees(Sight::Dependencies(Counted::Direct)), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "R-UA", implies: &["UA", "R-RA", "R-CS"], strength: Some(Strength::Dependencies(Counted::Direct)), replay: Replay::Sees(Sight::Dependencies(Counted::Direct)), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-TCC", implies: &["P-RA"], strength: Some(Strength::Causal), replay: Replay::Sees(Sight::Past), time: None, plain_of: Some("TCC"), is_lightweight: false },
    EvidenceRule { code: "TCC", implies: &["RA", "PRAM", "WFR", "P-TCC"], strength: Some(Strength::Causal), replay: Replay::Sees(Sight::Past), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "R-TCC", implies: &["TCC", "R-RA"], strength: Some(Strength::Causal), replay: Replay::Sees(Sight::Past), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-PSI", implies: &["P-TCC", "P-UA", "P-MV"], strength: Some(Strength::Dependencies(Counted::All)), replay: Replay::Sees(Sight::Dependencies(Counted::All)), time: None, plain_of: Some("PSI"), is_lightweight: false },
    EvidenceRule { code: "PSI", implies: &["TCC", "UA", "MV", "P-PSI"], strength: Some(Strength::Dependencies(Counted::All)), replay: Replay::Sees(Sight::Dependencies(Counted::All)), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "R-PSI", implies: &["PSI", "R-TCC", "R-UA", "R-MV"], strength: Some(Strength::Dependencies(Counted::All)), replay: Replay::Sees(Sight::Dependencies(Counted::All)), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-PL3U", implies: &["P-PSI"], strength: Some(Strength::Dependencies(Counted::Serial)), replay: Replay::Sees(Sight::Dependencies(Counted::Serial)), time: None, plain_of: Some("P-PL3U"), is_lightweight: false },
    EvidenceRule { code: "P-PC", implies: &["P-TCC", "P-MSR"], strength: Some(Strength::Prefix), replay: Replay::Snapshots { apart: false }, time: None, plain_of: Some("PC"), is_lightweight: false },
    EvidenceRule { code: "PC", implies: &["TCC", "MSR", "P-PC"], strength: Some(Strength::Prefix), replay: Replay::Snapshots { apart: false }, time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "C-PC", implies: &["P-PC"], strength: Some(Strength::Prefix), replay: Replay::Snapshots { apart: false }, time: Some(Time::OfCommits), plain_of: Some("C-PC"), is_lightweight: false },
    EvidenceRule { code: "R-PC", implies: &["PC", "R-TCC", "R-MSR", "C-PC"], strength: Some(Strength::Prefix), replay: Replay::Snapshots { apart: false }, time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-SI", implies: &["P-PC", "P-PSI"], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, time: None, plain_of: Some("SI"), is_lightweight: false },
    EvidenceRule { code: "SI", implies: &["PC", "PSI", "P-SI"], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "K-SI", implies: &["P-SI"], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, time: Some(Time::ByKey), plain_of: Some("K-SI"), is_lightweight: false },
    EvidenceRule { code: "C-SI", implies: &["P-SI", "C-PC"], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, time: Some(Time::OfCommits), plain_of: Some("C-SI"), is_lightweight: false },
    EvidenceRule { code: "R-SI", implies: &["R-PC", "SI", "R-PSI", "K-SI", "C-SI"], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "P-SER", implies: &["P-SI", "P-PL3U"], strength: Some(Strength::Serial), replay: Replay::Serial, time: None, plain_of: Some("SER"), is_lightweight: false },
    EvidenceRule { code: "SER", implies: &["SI", "P-SER"], strength: Some(Strength::Serial), replay: Replay::Serial, time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { code: "K-SER", implies: &["P-SER", "K-SI"], strength: Some(Strength::Serial), replay: Replay::Serial, time: Some(Time::ByKey), plain_of: Some("K-SER"), is_lightweight: false },
    EvidenceRule { code: "SSER", implies: &["R-SI", "SER", "K-SER"], strength: Some(Strength::Serial), replay: Replay::Serial, time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { code: "LIN", implies: &["SSER"], strength: Some(Strength::Serial), replay: Replay::Serial, time: Some(Time::Whole), plain_of: None, is_lightweight: true },
];

/// The place of a level.
pub(super) fn place(code: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.code == code)
}

/// The row of a level.
pub(super) fn row(code: &str) -> Option<&'static EvidenceRule> {
    place(code).map(|place| &ROWS[place])
}

/// The level that this one is where each transaction has a session of its own.
pub(super) fn plain_of(code: &str) -> Option<&'static str> {
    row(code).and_then(|row| row.plain_of)
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted {
    /// A witness was replayed.
    pub(super) satisfied: [bool; ROWS.len()],
    /// A violation was confirmed.
    pub(super) violated: [bool; ROWS.len()],
}

impl Default for Accepted {
    fn default() -> Accepted {
        Accepted {
            satisfied: [false; ROWS.len()],
            violated: [false; ROWS.len()],
        }
    }
}

impl Accepted {
    /// The strongest level with a witness that implies this one.
    fn satisfied_by(&self, level: usize) -> Option<&'static str> {
        (0..ROWS.len())
            .rev()
            .find(|&known| self.satisfied[known] && implies(known, level))
            .map(|known| ROWS[known].code)
    }

    /// The weakest level with a violation that this one implies.
    fn violated_by(&self, level: usize) -> Option<&'static str> {
        (0..ROWS.len())
            .find(|&known| self.violated[known] && implies(level, known))
            .map(|known| ROWS[known].code)
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
pub(super) fn standing(verdict: VerdictWord, level: usize, shown: &Accepted) -> Standing {
    let (by_witness, by_violation) = (shown.satisfied_by(level), shown.violated_by(level));
    match (verdict, by_witness, by_violation) {
        (VerdictWord::Undecided, ..) => Standing::Shown,
        (VerdictWord::Satisfied, _, Some(weaker)) => Standing::Contradicted(format!(
            "said to be satisfied, but a confirmed violation names {weaker}"
        )),
        (VerdictWord::Violated, Some(stronger), _) => Standing::Contradicted(format!(
            "said to be violated, but the witness of {stronger} explains every read"
        )),
        (VerdictWord::Satisfied, Some(_), None) | (VerdictWord::Violated, None, Some(_)) => {
            Standing::Shown
        }
        (_, None, None) => Standing::Open,
    }
}

/// Whether a verdict can be right whatever its evidence. LIN is about lightweight transactions with times: other
/// histories neither satisfy nor violate it. SSER is satisfied in real time only; where no times order anything it is
/// still violated if SER is, and the evidence must show that.
pub(super) fn apply(
    history: &History,
    initial: &Initial,
    level: &LevelEntry,
) -> Result<(), String> {
    let row = row(&level.level).ok_or("unknown level")?;
    let needs_time = match level.verdict {
        VerdictWord::Undecided => false,
        _ if row.is_lightweight => initial.is_lightweight(history).map(|()| true)?,
        verdict => row.time.is_some() && verdict == VerdictWord::Satisfied,
    };
    require!(
        !needs_time || initial.has_real_time(history),
        "no committed transaction that sets nothing up has times"
    )
}

/// Verdicts that contradict each other, whatever the evidence.
pub(super) fn contradictions(levels: &[LevelEntry]) -> Vec<Problem> {
    let of = |word: VerdictWord| {
        let entries = levels.iter().filter(move |entry| entry.verdict == word);
        entries
            .filter_map(|entry| place(&entry.level))
            .collect::<Vec<usize>>()
    };
    let (satisfied, violated) = (of(VerdictWord::Satisfied), of(VerdictWord::Violated));
    let pair = |stronger: usize| {
        violated
            .iter()
            .find(|&&weaker| implies(stronger, weaker))
            .map(|&w| (stronger, w))
    };
    let problem = |(stronger, weaker): (usize, usize)| Problem {
        place: format!("level {}", ROWS[stronger].code),
        message: format!(
            "said to be satisfied while {} is said to be violated",
            ROWS[weaker].code
        ),
    };
    satisfied
        .into_iter()
        .filter_map(pair)
        .map(problem)
        .collect()
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
