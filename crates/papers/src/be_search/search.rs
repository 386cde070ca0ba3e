//! Algorithm 2: a search through prefixes that never examines one twice.

use super::super::{most_in_time, too_large};
use super::prefix::{Cut, Prefix, Tables};
use isoscope_check::checkers::Cause;
use isoscope_model::control::Control;
use isoscope_model::relations::Index;
use rustc_hash::FxHashSet;

/// Memory for examined prefixes if the user sets no limit.
const PREFIX_BYTES: u64 = 1 << 30;
/// Memory of a prefix besides its numbers.
const OVERHEAD: u64 = 48;

/// An order of the events of these sessions that is serial, or `None`.
pub(super) fn search(
    index: &Index,
    sessions: &[u32],
    cut: Cut,
    tables: &mut Tables,
    control: &Control,
) -> Result<Option<Vec<u32>>, Cause> {
    let mut prefix = Prefix::new(index, sessions, cut, tables, control)?;
    let n_events = prefix.n_events();
    let most = most_in_time(PREFIX_BYTES, control);
    let bytes_of_one = 4 * sessions.len() as u64 + OVERHEAD;
    let mut seen: FxHashSet<Box<[u32]>> = FxHashSet::default();
    // Where each event came from, as the place of its session.
    let mut path: Vec<(usize, u32)> = Vec::new();
    // The last attempt to extend the current prefix.
    let mut tried: Option<(u64, usize)> = None;
    while path.len() < n_events {
        control.check()?;
        match candidate(&prefix, tried) {
            Some((hint, at, event)) => {
                prefix.push(at, event);
                if seen.insert(prefix.length.clone().into_boxed_slice()) {
                    path.push((at, event));
                    tried = None;
                } else {
                    prefix.pop(at, event);
                    tried = Some((hint, at));
                }
                let bytes = seen.len() as u64 * bytes_of_one;
                if bytes > most {
                    return Err(too_large("the prefixes searched", bytes, most));
                }
            }
            None => {
                let Some((at, event)) = path.pop() else {
                    return Ok(None);
                };
                prefix.pop(at, event);
                tried = Some((prefix.hint(event), at));
            }
        }
    }
    Ok(Some(path.into_iter().map(|(_, event)| event).collect()))
}

/// The first event that may extend a prefix after those that were tried: by hint, then by session.
fn candidate(prefix: &Prefix<'_>, tried: Option<(u64, usize)>) -> Option<(u64, usize, u32)> {
    let mut best: Option<(u64, usize, u32)> = None;
    for at in 0..prefix.sessions.len() {
        let Some(event) = prefix.next(at) else {
            continue;
        };
        let rank = (prefix.hint(event), at);
        let is_new = tried.is_none_or(|tried| rank > tried);
        if is_new
            && best.is_none_or(|(hint, other, _)| rank < (hint, other))
            && prefix.allows(event)
        {
            best = Some((rank.0, rank.1, event));
        }
    }
    best
}
