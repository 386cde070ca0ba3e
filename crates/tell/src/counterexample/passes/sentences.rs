//! Why a level holds, in sentences.

use super::{Passes, Seen};
use isoscope_check::checkers::{CountedOrder, Level, LevelResult, WitnessKind};
use isoscope_model::history::{History, Outcome, TransactionId, counted, grouped};
use isoscope_model::relations::{Standing, has_real_time};
use std::collections::BTreeSet;

/// What else is known about the history.
#[derive(Clone, Debug)]
pub struct Surroundings<'a> {
    /// What the verdicts take for granted, a sentence each.
    pub assumptions: &'a [String],
    /// The verdicts about other levels.
    pub verdicts: Vec<&'a LevelResult>,
}

/// Maximum number of stronger levels that are named.
const NAMED: usize = 3;

/// Why the level holds, a sentence or two on each point: what it promises, what was found, what that explains, who has
/// verified it, what is left out and assumed, and what is not promised. O(operations · log versions).
pub fn why(passes: &Passes<'_>, surroundings: &Surroundings<'_>) -> Vec<String> {
    let reads = Reads::of(passes);
    let parts = [
        Some(format!("The level promises: {}.", passes.level().promise())),
        Some(found(passes)),
        Some(explains(passes, &reads)),
        ordered(passes),
        verified(passes),
        left_out(passes),
        assumed(surroundings),
        not_promised(passes, surroundings),
        Some(
            "The verdict is about this recording only: another run of the same system may differ."
                .to_owned(),
        ),
    ];
    parts.into_iter().flatten().collect()
}

/// "snapshot isolation (SI)".
pub(super) fn name(level: Level) -> String {
    match level.spoken() {
        spoken if spoken == level.code() => spoken,
        spoken => format!("{spoken} ({level})"),
    }
}

/// The reads by what they returned.
#[derive(Default)]
struct Reads {
    explained: usize,
    initial: usize,
    unrecorded: usize,
    ignored: usize,
}

impl Reads {
    fn of(passes: &Passes<'_>) -> Reads {
        let mut reads = Reads::default();
        for line in &passes.lines {
            for seen in passes
                .operations(line)
                .filter_map(|operation| passes.seen(operation))
            {
                match seen {
                    Seen::Unrecorded => reads.unrecorded += 1,
                    Seen::Aborted(_) | Seen::Ignored => reads.ignored += 1,
                    Seen::Own | Seen::Initial | Seen::Write(_) | Seen::Open => reads.explained += 1,
                }
                reads.initial += usize::from(seen == Seen::Initial);
            }
        }
        reads
    }
}

fn transactions(passes: &Passes<'_>) -> BTreeSet<TransactionId> {
    passes.lines.iter().map(|line| line.transaction).collect()
}

fn found(passes: &Passes<'_>) -> String {
    let members = transactions(passes);
    let history = passes.history;
    let unknown = members
        .iter()
        .filter(|&&t| history.outcome(t) == Outcome::Unknown)
        .count();
    let all = match (members.len(), unknown) {
        (0, _) => return "There are no transactions that count.".to_owned(),
        (1, 0) => "the only committed transaction".to_owned(),
        (2, 0) => "both committed transactions".to_owned(),
        (n, 0) => format!(
            "all {} committed transactions{}",
            grouped(n as u64),
            parts(history)
        ),
        (n, unknown) => {
            format!(
                "all {} that count ({} of unknown outcome)",
                counted(n, "transaction"),
                grouped(unknown as u64)
            )
        }
    };
    match passes.level().witness() {
        WitnessKind::Reads => {
            format!(
                "No order is needed: the reads of each transaction are looked at by themselves, for {all}."
            )
        }
        WitnessKind::Snapshots => format!("Found: one order of the starts and commits of {all}."),
        WitnessKind::SerialOrder | WitnessKind::ItemsInOrder => {
            format!("Found: one order in which {all} may have run one after the other.")
        }
        WitnessKind::CommitOrder | WitnessKind::GrowingSnapshots => {
            format!("Found: one order in which {all} may have committed.")
        }
        WitnessKind::Dependencies => {
            format!("Found: one order of {all}, which the versions of each key follow.")
        }
    }
}

/// That there are more than the file says, because some were split.
fn parts(history: &History) -> String {
    let recorded = history.recorded().transactions;
    if history.n_transactions() > recorded {
        format!(
            " (the {} of the file, split at failed statements)",
            grouped(recorded as u64)
        )
    } else {
        String::new()
    }
}

/// What is true of every read; each sentence holds for its kind of witness only.
fn explains(passes: &Passes<'_>, reads: &Reads) -> String {
    let rule = match passes.kind() {
        None => {
            return "This order agrees with the order of versions that lists show; apart from that, reads may return \
                    anything at this level."
                .to_owned();
        }
        Some(WitnessKind::Reads) => {
            "returns a write of its own transaction, or a version of the one other transaction (or of the initial state) \
             from which that transaction reads the key throughout"
        }
        Some(WitnessKind::SerialOrder) => {
            "returns the newest version by then: what its own transaction wrote last to the key, else what the last \
             transaction before it in the order that wrote the key left there, else the initial version"
        }
        Some(WitnessKind::ItemsInOrder) => {
            "by key, or of a row that a scan returned, returns the newest version by then; that a scan did not return a row fits \
             some earlier version of it"
        }
        Some(WitnessKind::Snapshots) => {
            "returns what its own transaction wrote last to the key, else the newest version that had been committed when \
             its transaction started, else the initial version"
        }
        Some(WitnessKind::GrowingSnapshots) => {
            "returns what its own transaction wrote last to the key, else the newest version in a beginning of this order \
             that never shrinks from one read of a transaction to the next"
        }
        Some(WitnessKind::CommitOrder | WitnessKind::Dependencies) => {
            "returns what its own transaction wrote last to the key, else the final version of a transaction earlier in \
             the order or the initial version, and no transaction that the reader must see at this level wrote a newer one"
        }
    };
    let each = match reads.explained {
        0 => return "No transaction read anything that has to be explained.".to_owned(),
        1 => "The only read".to_owned(),
        n => format!("Each of the {} reads", grouped(n as u64)),
    };
    let initial = match (reads.initial, reads.explained) {
        (0, _) => String::new(),
        (n, all) if n == all => " Here that is the initial version throughout.".to_owned(),
        (1, _) => " 1 of them returns the initial version.".to_owned(),
        (n, _) => format!(" {} of them return the initial version.", grouped(n as u64)),
    };
    let unrecorded = match reads.unrecorded {
        0 => String::new(),
        1 => " The result of 1 more read is not recorded.".to_owned(),
        n => format!(
            " The results of {} more reads are not recorded.",
            grouped(n as u64)
        ),
    };
    let ignored = match reads.ignored {
        0 => String::new(),
        n => format!(
            " {} of values that no committed transaction wrote, or of own writes that were not the latest, do not count at this level.",
            counted(n, "more read")
        ),
    };
    format!("{each} {rule}.{initial}{unrecorded}{ignored}")
}

/// What the order agrees with apart from reads.
fn ordered(passes: &Passes<'_>) -> Option<String> {
    if !passes.is_ordered() {
        return None;
    }
    let has_snapshots = passes.level().has_snapshots();
    let order = match (passes.level().row().order, has_snapshots) {
        (CountedOrder::Plain, _) => "Session order is ignored.",
        (CountedOrder::Session, true) => {
            "A transaction starts after the earlier ones of its session have committed."
        }
        (CountedOrder::Session, false) => {
            "The transactions of a session are in the order in which they ran."
        }
        (CountedOrder::RealTime, true) => {
            "A transaction starts after the earlier ones of its session, and all that had ended before it began, have \
             committed."
        }
        (CountedOrder::RealTime, false) => {
            "The transactions of a session are in the order in which they ran, and one that had ended before another \
             began comes first."
        }
        (CountedOrder::KeyRealTime, _) => {
            "A transaction that had ended before another began comes first if they have a key in common. Session order is \
             ignored."
        }
        (CountedOrder::CommitRealTime, _) => {
            "A transaction that had ended before another began commits first. Session order is ignored."
        }
    };
    let conflicts = if passes.level().forbids_conflicts() {
        " Of two transactions that write one key, one commits before the other starts."
    } else {
        ""
    };
    Some(format!("{order}{conflicts}"))
}

fn verified(passes: &Passes<'_>) -> Option<String> {
    let text = match (passes.verified, passes.is_ordered()) {
        (true, true) => {
            "Verified: code that shares nothing with the search has replayed this order, operation by operation."
        }
        (true, false) => {
            "Verified: code that shares nothing with the checker has compared these reads."
        }
        (false, _) => {
            "Not verified: what merged lists say about versions is undefined, so the order could not be replayed and the \
             verdict rests on the search alone."
        }
    };
    Some(text.to_owned())
}

/// The transactions that are not in the order, by why.
fn left_out(passes: &Passes<'_>) -> Option<String> {
    let (history, members) = (passes.history, transactions(passes));
    let why = |t: TransactionId| match (history.outcome(t), passes.resolution.standing(t)) {
        (_, Standing::Initial) => 0,
        (Outcome::Aborted, _) => 1,
        (Outcome::Unknown, _) => 2,
        (Outcome::Committed, _) if history.operation_range(t).is_empty() => 3,
        (Outcome::Committed, _) => 4,
    };
    let mut numbers = [0; 5];
    history
        .transactions()
        .filter(|t| !members.contains(t))
        .for_each(|t| numbers[why(t)] += 1);
    let reasons = [
        "set-up of the initial state",
        "aborted",
        "of unknown outcome, no read shows that it committed",
        "without operations",
        "without effect on any read",
    ];
    let parts = numbers.iter().zip(reasons).filter(|(n, _)| **n > 0);
    let parts: Vec<String> = parts
        .map(|(n, why)| format!("{} ({why})", counted(*n, "transaction")))
        .collect();
    (!parts.is_empty()).then(|| format!("Left out: {}.", parts.join(", ")))
}

fn assumed(surroundings: &Surroundings<'_>) -> Option<String> {
    (!surroundings.assumptions.is_empty())
        .then(|| format!("Assumed: {}", surroundings.assumptions.join(" ")))
}

/// The weakest levels that promise more, with what is known about them.
fn not_promised(passes: &Passes<'_>, surroundings: &Surroundings<'_>) -> Option<String> {
    let level = passes.level();
    let known = surroundings.verdicts.iter().map(|result| result.level);
    let candidates: BTreeSet<Level> = Level::of(passes.history).into_iter().chain(known).collect();
    let stronger: Vec<Level> = candidates
        .into_iter()
        .filter(|other| *other != level && other.implies(level))
        .collect();
    let is_next = |next: &&Level| {
        !stronger
            .iter()
            .any(|other| other != *next && next.implies(*other))
    };
    let said = |next: &Level| {
        let verdict = surroundings
            .verdicts
            .iter()
            .find(|result| result.level == *next)
            .map(|r| r.verdict.word());
        let said = match verdict {
            Some("satisfied") => "which holds, too",
            Some("violated") => "which this history violates",
            Some(_) => "which is undecided here",
            None => "which was not checked",
        };
        format!("{}, {said}", name(*next))
    };
    let next: Vec<String> = stronger
        .iter()
        .filter(is_next)
        .take(NAMED)
        .map(said)
        .collect();
    let has_no_times = !level.counts_real_time() && !has_real_time(passes.history);
    match next.is_empty() {
        false => Some(format!("It promises less than {}.", next.join("; and less than "))),
        true if has_no_times => {
            Some("It says nothing about real time: the history has no times, which stricter levels need.".to_owned())
        }
        true => None,
    }
}
