//! Levels that respect real time, as far as the answer without real time determines theirs.

use super::{Cause, Event, Level, Verdict, Witness};
use isoscope_model::history::{History, Outcome};
use isoscope_model::relations::Index;

/// The verdict of a level that respects real time, given that of the same level without it, for a history with times;
/// `None` if its own engine is needed.
///
/// Without an order that explains the reads, none respects real time; an order that does respect it is a witness, if each
/// transaction reads the newest versions by it: then it misses nothing that had ended before it began. Real
/// time orders two transactions if one ended strictly before the other started (MTC, Def. 2). Times that contradict
/// session order say something about the clock and nothing about the store. The initial state is before all time, whatever
/// wrote it.
pub(super) fn verdict(
    level: Level,
    history: &History,
    index: &Index,
    without_times: &Verdict,
) -> Option<Verdict> {
    let Verdict::Satisfied(witness) = without_times else {
        return Some(without_times.clone());
    };
    if let Some(cause) = unusable(history, index) {
        return Some(Verdict::Undecided(cause));
    }
    let respected = match witness {
        Witness::CommitOrder(order) if level.reads_newest() => respects_real_time(
            history,
            order
                .iter()
                .flat_map(|&t| [Event::Start(t), Event::Commit(t)]),
        ),
        Witness::Events(events) => respects_real_time(history, events.iter().copied()),
        _ => false,
    };
    respected.then(|| without_times.clone())
}

/// Why times say nothing, if they contradict session order.
pub(super) fn unusable(history: &History, index: &Index) -> Option<Cause> {
    let (earlier, later) = index.clock_against_session_order()?;
    let name = |node: u32| history.transaction_name(index.transaction[node as usize]);
    let (earlier, later) = (name(earlier), name(later));
    Some(Cause::Unsupported(format!(
        "times contradict session order: {later} ended before {earlier} began"
    )))
}

/// Whether no transaction that had ended before another one started commits after that start. O(transactions).
fn respects_real_time(history: &History, events: impl Iterator<Item = Event>) -> bool {
    let mut latest_start = i64::MIN;
    for event in events {
        match event {
            Event::Start(t) => {
                latest_start = history
                    .interval(t)
                    .map_or(latest_start, |i| latest_start.max(i.start))
            }
            // A transaction of unknown outcome may have committed at any later time.
            Event::Commit(t) if history.outcome(t) == Outcome::Unknown => {}
            Event::Commit(t)
                if history
                    .interval(t)
                    .is_some_and(|interval| interval.end < latest_start) =>
            {
                return false;
            }
            Event::Commit(_) => {}
        }
    }
    true
}
