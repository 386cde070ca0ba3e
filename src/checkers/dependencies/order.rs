//! What is wrong with an order of transactions.

use crate::control::{Control, Interrupt};
use crate::relations::{INITIAL_SLOT, Index, NONE, Node};
use std::collections::VecDeque;

/// An edge of D on a path.
pub(super) type Step = (Node, Node);

/// A read that misses a version which its transaction depends on.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    /// The reader.
    pub(super) reader: Node,
    /// The writer of the version it read; [`NONE`] for ⊥.
    pub(super) older: u32,
    /// The writer of the next version.
    pub(super) newer: Node,
    /// A path of D from that writer to the reader, with few guesses.
    pub(super) path: Vec<Step>,
}

/// The versions of each key in the order of their writers.
struct Versions {
    /// By slot: the writer of the version before and that of the version after.
    before: Vec<u32>,
    after: Vec<u32>,
    /// By key: the writer of its first version.
    first: Vec<u32>,
}

impl Versions {
    /// O(writes log).
    fn new(index: &Index, position: impl Fn(Node) -> u32) -> Versions {
        let n = index.slot_node.len();
        let mut versions = Versions { before: vec![NONE; n], after: vec![NONE; n], first: vec![NONE; index.n_keys()] };
        let mut slots = Vec::new();
        for key in 0..index.n_keys() as u32 {
            slots.clear();
            slots.extend(index.slots_of(key));
            slots.sort_unstable_by_key(|&slot| position(index.slot_node[slot]));
            versions.first[key as usize] = slots.first().map_or(NONE, |&slot| index.slot_node[slot]);
            for pair in slots.windows(2) {
                versions.after[pair[0]] = index.slot_node[pair[1]];
                versions.before[pair[1]] = index.slot_node[pair[0]];
            }
        }
        versions
    }
}

/// A search for paths of D, backwards from a reader.
struct Backwards {
    /// By node: the last reader it was met for, plus one; and the step by which it leads there.
    met: Vec<u32>,
    next: Vec<Node>,
    queue: VecDeque<(Node, Node)>,
}

/// The wrong reads of an order that contains all that is known of D, at most one of each reader and next writer.
/// `is_known` tells known edges from guesses.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn wrong_reads(
    index: &Index,
    position: impl Fn(Node) -> u32 + Copy,
    is_known: impl Fn(Step) -> bool,
    control: &Control,
) -> Result<Vec<Wrong>, Interrupt> {
    let versions = Versions::new(index, position);
    let n = index.n_nodes();
    let mut search = Backwards { met: vec![0; n], next: vec![0; n], queue: VecDeque::new() };
    let mut wrong = Vec::new();
    let mut missed: Vec<(Node, u32)> = Vec::new();
    for reader in 0..n as Node {
        control.tick(reader as usize)?;
        missed.clear();
        for read in index.reads_of(reader) {
            let (slot, older) = (index.read_slot[read], index.writer_of_read(read));
            let newer = match slot {
                INITIAL_SLOT => versions.first[index.read_key[read] as usize],
                slot => versions.after[slot as usize],
            };
            if newer != NONE && newer != reader && position(newer) < position(reader) {
                missed.push((newer, older));
            }
        }
        let Some(lowest) = missed.iter().map(|&(newer, _)| position(newer)).min() else { continue };
        search.run(index, &versions, reader, |v| position(v) >= lowest, &is_known);
        missed.sort_unstable();
        missed.dedup_by_key(|missed| missed.0);
        let found = missed.iter().filter(|(newer, _)| search.met[*newer as usize] == reader + 1);
        wrong.extend(found.map(|&(newer, older)| Wrong { reader, older, newer, path: search.path(newer, reader) }));
    }
    Ok(wrong)
}

impl Backwards {
    /// Meets all nodes inside from which D leads to the reader, those with few guesses first.
    fn run(
        &mut self,
        index: &Index,
        versions: &Versions,
        reader: Node,
        inside: impl Fn(Node) -> bool,
        is_known: &impl Fn(Step) -> bool,
    ) {
        let mark = reader + 1;
        let done = |search: &mut Backwards, v: Node, next: Node| {
            let is_new = search.met[v as usize] != mark;
            if is_new {
                (search.met[v as usize], search.next[v as usize]) = (mark, next);
            }
            is_new
        };
        self.queue.clear();
        self.queue.push_back((reader, reader));
        while let Some((v, next)) = self.queue.pop_front() {
            if !done(self, v, next) {
                continue;
            }
            let before = (index.position(v) > 0).then(|| v - 1);
            let sources = index.read_writer[index.reads_of(v)].iter().copied();
            let certain = before.into_iter().chain(sources).filter(|&u| u != NONE && u != v && inside(u));
            for u in certain {
                if self.met[u as usize] != mark {
                    self.queue.push_front((u, v));
                }
            }
            for &slot in &index.write_slot[index.writes_of(v)] {
                let u = versions.before[slot as usize];
                if u != NONE && inside(u) && self.met[u as usize] != mark {
                    match is_known((u, v)) {
                        true => self.queue.push_front((u, v)),
                        false => self.queue.push_back((u, v)),
                    }
                }
            }
        }
    }

    fn path(&self, from: Node, to: Node) -> Vec<Step> {
        let mut path = Vec::new();
        let mut at = from;
        while at != to {
            let next = self.next[at as usize];
            path.push((at, next));
            at = next;
        }
        path
    }
}
