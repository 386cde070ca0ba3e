//! Parts of a long history, such as its beginning. Where one violates a strong level, so does the whole, and that is found
//! in a fraction of the time.

use super::Level;
use super::decision::Decision;
use super::strong::{self, Effort};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Index, NONE, Node};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Transactions of a beginning.
const LENGTH: usize = 1 << 15;
/// A history that is less than this many times as long is decided at once.
const WORTHWHILE: usize = 8;

/// Whether it pays off to look at the beginning first.
pub(super) fn is_long(index: &Index) -> bool {
    index.n_nodes() >= WORTHWHILE * LENGTH
}

/// Transactions that suffice for a violation of a strong level, ascending, if the beginning of a long index violates it.
/// That none are found, because it does not or because this is hard to tell, says nothing.
///
/// The beginning consists of the first transactions of all sessions, in equal numbers where reads allow it, and contains
/// whatever they read from, so what it violates the whole violates.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn core(
    index: &Index,
    level: Level,
    control: &Control,
) -> Result<Option<Vec<Node>>, Interrupt> {
    if !is_long(index) {
        return Ok(None);
    }
    violated_part(index, &first_nodes(index, LENGTH), level, control)
}

/// Transactions that suffice for a violation of a strong level, ascending, if those do that suffice for one of a stronger
/// level: what violates SER in a long history often violates PC, too, and there are few of them. That they do not says
/// nothing.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn smaller_core(
    index: &Index,
    of_stronger: Option<Vec<Node>>,
    level: Level,
    control: &Control,
) -> Result<Option<Vec<Node>>, Interrupt> {
    let Some(nodes) = of_stronger.filter(|_| is_long(index)) else {
        return Ok(None);
    };
    violated_part(index, &nodes, level, control)
}

/// Transactions that suffice for a violation of a strong level, ascending, if some of these do and that is easily told.
fn violated_part(
    index: &Index,
    nodes: &[Node],
    level: Level,
    control: &Control,
) -> Result<Option<Vec<Node>>, Interrupt> {
    let decided = strong::decide_with(&index.part(nodes), level, Effort::LITTLE, control)?;
    let core = decided.and_then(Decision::core);
    Ok(core.map(|core| core.iter().map(|&place| nodes[place as usize]).collect()))
}

/// The first `most` nodes that are met by running all sessions in turn, each until it reads from a transaction that has
/// not run; ascending. O(sessions + their operations, log).
fn first_nodes(index: &Index, most: usize) -> Vec<Node> {
    let mut next: Vec<Node> = index.session_begin[..index.n_sessions()].to_vec();
    let ran = |next: &[Node], t: Node| t < next[index.session[t as usize] as usize];
    let mut turns: VecDeque<u32> = (0..index.n_sessions() as u32).collect();
    // By transaction that has not run: the sessions that wait for it.
    let mut waiting: FxHashMap<Node, Vec<u32>> = FxHashMap::default();
    let mut nodes = Vec::with_capacity(most);
    while let Some(session) = turns.pop_front().filter(|_| nodes.len() < most) {
        let t = next[session as usize];
        if t == index.session_begin[session as usize + 1] {
            continue;
        }
        let mut writers = index.read_writer[index.reads_of(t)].iter().copied();
        if let Some(writer) =
            writers.find(|&writer| writer != NONE && writer != t && !ran(&next, writer))
        {
            waiting.entry(writer).or_default().push(session);
            continue;
        }
        nodes.push(t);
        next[session as usize] += 1;
        turns.push_back(session);
        turns.extend(waiting.remove(&t).unwrap_or_default());
    }
    nodes.sort_unstable();
    nodes
}
