//! What the papers' algorithms for the strong levels must say of a history: what the fast engine says and, where the history is
//! small, two kinds of brute force that have nothing in common.

use super::papers::{ask_with, signs};
use super::{adya, examine, oracle};
use isoscope::checkers::{Cause, Checker, Findings, Level, LevelResult, Options, Verdict};
use isoscope::control::Control;
use isoscope::history::History;
use isoscope::relations::has_real_time;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Those for the strong levels.
pub(crate) const STRONG_PAPERS: [Checker; 5] = [
    Checker::PolySi,
    Checker::PolySiUnpruned,
    Checker::PolySiPlain,
    Checker::BiswasEneaSearch,
    Checker::MiniTransactions,
];

/// PC, SI, SER, SSER.
pub(crate) const STRONG: [Level; 4] = [
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializability,
    Level::StrictSerializability,
];

/// How many histories were looked at, and what they were like.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) histories: AtomicU64,
    /// To which MTC's algorithm applies.
    pub(crate) mini: AtomicU64,
    /// At how many histories a level is satisfied, and violated.
    pub(crate) verdicts: [[AtomicU64; 2]; 4],
}

impl Tally {
    fn add(&self, found: &Findings, mini: bool) {
        self.histories.fetch_add(1, Ordering::Relaxed);
        self.mini.fetch_add(u64::from(mini), Ordering::Relaxed);
        for (level, [satisfied, violated]) in STRONG.iter().zip(&self.verdicts) {
            match found.level(*level).map(|result| &result.verdict) {
                Some(Verdict::Satisfied(_)) => satisfied.fetch_add(1, Ordering::Relaxed),
                Some(Verdict::Violated) => violated.fetch_add(1, Ordering::Relaxed),
                _ => 0,
            };
        }
    }

    /// Satisfied and violated at PC, SI, SER, SSER.
    pub(crate) fn numbers(&self) -> [[u64; 2]; 4] {
        std::array::from_fn(|level| {
            std::array::from_fn(|sign| self.verdicts[level][sign].load(Ordering::Relaxed))
        })
    }

    pub(crate) fn n(&self) -> u64 {
        self.histories.load(Ordering::Relaxed)
    }

    pub(crate) fn n_mini(&self) -> u64 {
        self.mini.load(Ordering::Relaxed)
    }
}

/// The strong levels that a checker decides for a history.
pub(crate) fn options(history: &History, checker: Checker) -> Options {
    let asked = |level: &Level| *level != Level::StrictSerializability || has_real_time(history);
    let levels = STRONG
        .into_iter()
        .filter(|level| checker.levels().contains(level))
        .filter(asked)
        .collect();
    Options {
        levels,
        ..Options::default()
    }
}

/// Whether MTC's algorithm says that a history is not for it.
pub(crate) fn is_no_mini(result: &LevelResult) -> bool {
    matches!(&result.verdict, Verdict::Undecided(Cause::Unsupported(why)) if why.starts_with("not mini-transactions"))
}

fn is_ambiguous(result: &LevelResult) -> bool {
    matches!(result.verdict, Verdict::Undecided(Cause::AmbiguousReads(_)))
}

/// Compares verdicts and evidence with those of the fast engine.
pub(crate) fn compare(history: &History, tally: &Tally) -> Result<Findings, String> {
    let fast = ask_with(history, Checker::Fast, options(history, Checker::Fast));
    examine::evidence(history, &fast)?;
    let mut mini = true;
    for checker in STRONG_PAPERS {
        let found = ask_with(history, checker, options(history, checker));
        for result in &found.levels {
            let (ours, theirs) = (
                &fast.level(result.level).expect("it was asked for").verdict,
                &result.verdict,
            );
            if checker == Checker::MiniTransactions && is_no_mini(result) {
                mini = false;
            } else if !is_ambiguous(result) && ours.word() != theirs.word() {
                let (level, ours, theirs) = (result.level, ours.word(), theirs.word());
                return Err(format!(
                    "{checker} at {level}: {theirs}, the fast engine says {ours}"
                ));
            }
        }
        if found.levels.iter().any(is_ambiguous) {
            return if found.levels.iter().all(is_ambiguous) {
                Ok(fast)
            } else {
                Err(format!(
                    "{checker}: {}, the papers exclude ambiguous reads",
                    signs(&found)
                ))
            };
        }
        examine::evidence(history, &found).map_err(|problem| format!("{checker}: {problem}"))?;
    }
    tally.add(&fast, mini);
    Ok(fast)
}

/// How often a checker decided a level, or why not.
pub(crate) type Answers = BTreeMap<(Checker, &'static str), u64>;

/// Compares some checkers on a history of any size, each within a limit. Returns how many levels they decided, and how
/// many not, by reason.
pub(crate) fn compare_within(
    history: &History,
    papers: &[Checker],
    limit: Duration,
) -> Result<Answers, String> {
    let few = |checker| Options {
        max_instances: 3,
        ..options(history, checker)
    };
    let fast = ask_with(history, Checker::Fast, few(Checker::Fast));
    let mut tally = BTreeMap::new();
    for &checker in papers {
        let control = Control::new().with_time_limit(limit);
        let found = isoscope::papers::check(history, checker, &few(checker), &control, &|_| {});
        for result in &found.levels {
            let (ours, theirs) = (
                &fast.level(result.level).expect("it was asked for").verdict,
                &result.verdict,
            );
            let word = match theirs {
                Verdict::Undecided(Cause::Interrupted(_)) => "out of time",
                Verdict::Undecided(Cause::AmbiguousReads(_)) => "ambiguous",
                Verdict::Undecided(Cause::TooLarge { .. }) => "too large",
                _ if is_no_mini(result) => "no mini-transactions",
                _ if ours.word() == theirs.word() => "decided",
                _ => {
                    let (level, ours, theirs) = (result.level, ours.word(), theirs.word());
                    return Err(format!(
                        "{checker} at {level}: {theirs}, the fast engine says {ours}"
                    ));
                }
            };
            *tally.entry((checker, word)).or_default() += 1;
        }
        let stopped = |result: &LevelResult| {
            matches!(result.verdict, Verdict::Undecided(Cause::Interrupted(_)))
        };
        // What a stopped check lists may lack something.
        if !found.levels.iter().any(stopped) && control.check().is_ok() {
            examine::evidence(history, &found)
                .map_err(|problem| format!("{checker}: {problem}"))?;
        }
    }
    Ok(tally)
}

/// Compares with brute force, too. For at most eight transactions.
pub(crate) fn compare_with_oracles(history: &History, tally: &Tally) -> Result<Findings, String> {
    let fast = compare(history, tally)?;
    let [.., pc, si, ser] = oracle::verdicts(history);
    let strict = has_real_time(history) && oracle::strictly_serializable(history);
    let orders = [pc, si, ser, strict];
    let graphs = adya::verdicts(history);
    for (place, level) in STRONG.iter().enumerate() {
        let Some(result) = fast.level(*level) else {
            continue;
        };
        if graphs.is_some_and(|graphs| graphs[place] != orders[place]) {
            return Err(format!(
                "brute force at {level}: by commit orders {}, by graphs {graphs:?}",
                orders[place]
            ));
        }
        let expected = if orders[place] {
            "satisfied"
        } else {
            "violated"
        };
        if result.verdict.word() != expected {
            return Err(format!(
                "the fast engine at {level}: {}, brute force: {expected}",
                result.verdict.word()
            ));
        }
    }
    Ok(fast)
}
