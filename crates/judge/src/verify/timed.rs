//! What had ended before the transactions of an order began.

use super::replay::Flaw;
use super::story::Story;
use isoscope_model::history::{Outcome, TransactionId};

/// Ends with the places of their transactions, ascending.
pub(super) fn ends(story: &Story<'_>) -> Vec<(i64, u32)> {
    let ended = (1u32..)
        .zip(&story.order)
        .filter(|(_, t)| story.history.outcome(**t) != Outcome::Unknown);
    let end = |(place, t): (u32, &TransactionId)| Some((story.history.interval(*t)?.end, place));
    let mut ends: Vec<(i64, u32)> = ended.filter_map(end).collect();
    ends.sort_unstable();
    ends
}

/// When the transaction at a place began, if that is known.
pub(super) fn start(story: &Story<'_>, place: u32) -> Option<i64> {
    Some(
        story
            .history
            .interval(story.order[place as usize - 1])?
            .start,
    )
}

/// By place: the last one that had ended before the transaction began; 0 for none. O(n log n).
pub(super) fn ended_before(story: &Story<'_>) -> Vec<u32> {
    let mut ends = ends(story);
    let mut latest = 0;
    for (_, place) in &mut ends {
        latest = latest.max(*place);
        *place = latest;
    }
    let of = |place: u32| {
        let start = start(story, place)?;
        ends[..ends.partition_point(|(end, _)| *end < start)]
            .last()
            .map(|(_, place)| *place)
    };
    (1..=story.order.len() as u32)
        .map(|place| of(place).unwrap_or(0))
        .collect()
}

/// Whether no read misses a version of a transaction that had ended before its own began. O(reads × log).
pub(super) fn nothing_ended_is_missed(story: &Story<'_>) -> Result<(), Flaw> {
    // By key: ends of its writers, ascending, each with the last place among those up to it.
    let mut of_key: Vec<Vec<(i64, u32)>> = vec![Vec::new(); story.history.n_keys()];
    for (key, places) in story.versions().into_iter().enumerate() {
        let mut ends: Vec<(i64, u32)> = places
            .into_iter()
            .filter_map(|place| Some((end(story, place)?, place)))
            .collect();
        ends.sort_unstable();
        let mut latest = 0;
        for (_, place) in &mut ends {
            latest = latest.max(*place);
            *place = latest;
        }
        of_key[key] = ends;
    }
    for place in 1..=story.order.len() as u32 {
        let Some(start) = start(story, place) else {
            continue;
        };
        for read in story.reads_at(place) {
            let ends = &of_key[read.key.index()];
            let ended = ends[..ends.partition_point(|(end, _)| *end < start)].last();
            if let Some(&(_, newer)) = ended.filter(|(_, newer)| *newer > read.from) {
                return Err(story.overwritten(*read, newer));
            }
        }
    }
    Ok(())
}

fn end(story: &Story<'_>, place: u32) -> Option<i64> {
    let t = story.order[place as usize - 1];
    (story.history.outcome(t) != Outcome::Unknown)
        .then(|| story.history.interval(t))
        .flatten()
        .map(|ran| ran.end)
}
