//! Replay of a commit order at monotonic snapshot reads: each read returns the newest version of a beginning of the order,
//! which contains those of the reads before it, and what the transaction must see from the beginning.

use super::replay::Flaw;
use super::story::Story;
use super::timed::ended_before;

/// Whether the shortest beginnings that contain what they must explain every read. Longer ones would only overwrite more.
/// `is_timed` says whether a transaction must see all that had ended before it began. O(operations × log).
pub(super) fn replay(story: &Story<'_>, is_timed: bool) -> Result<(), Flaw> {
    let versions = story.versions();
    let seen_in_time = if is_timed {
        ended_before(story)
    } else {
        Vec::new()
    };
    let mut last_of_session = vec![0; story.history.n_sessions()];
    for (number, &t) in (1..).zip(&story.order) {
        if number % 1024 == 0 {
            story.control.check()?;
        }
        let last = &mut last_of_session[story.history.session_of(t).index()];
        let mut seen = std::mem::replace(last, number)
            .max(seen_in_time.get(number as usize - 1).copied().unwrap_or(0));
        for read in story.reads_at(number) {
            seen = seen.max(read.from);
            let of_key = &versions[read.key.index()];
            let next = of_key[of_key.partition_point(|writer| *writer <= read.from)..].first();
            if let Some(&next) = next.filter(|next| **next <= seen) {
                return Err(story.overwritten(*read, next));
            }
        }
    }
    Ok(())
}
