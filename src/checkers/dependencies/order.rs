//! What is wrong with an order of transactions.

use super::reach::Ordered;
use super::versions::{Missed, Versions, certain};
use crate::control::{Control, Interrupt};
use crate::relations::{Index, Node};
use std::collections::VecDeque;

/// How many transactions are met in all searches for paths together before what was found is put to use, in proportion to
/// all transactions.
const PATIENCE: usize = 16;

/// An edge of D on a path.
pub(super) type Step = (Node, Node);

/// A read that misses a version which its transaction depends on.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    /// The reader.
    pub(super) reader: Node,
    /// The writer of the version it read; [`NONE`](crate::relations::NONE) for ⊥.
    pub(super) older: u32,
    /// The writer of the next version.
    pub(super) newer: Node,
    /// A path of D from that writer to the reader, with few guesses.
    pub(super) path: Vec<Step>,
}

/// A search for paths of D, backwards from a reader.
struct Backwards {
    /// By node: the last reader it was met for, plus one; and the step by which it leads there.
    met: Vec<u32>,
    next: Vec<Node>,
    queue: VecDeque<(Node, Node)>,
    /// How many nodes were met for all readers together.
    n_met: usize,
}

/// Wrong reads of an order that contains all that is known of D, at most one of each reader and next writer; none only if
/// there is none. Where there are many, only those whose paths are found soon. `is_known` tells known edges from guesses.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn wrong_reads(
    index: &Index,
    order: &[Node],
    position: impl Fn(Node) -> u32 + Copy,
    is_known: impl Fn(Step) -> bool,
    control: &Control,
) -> Result<Vec<Wrong>, Interrupt> {
    let versions = Versions::new(index, position);
    let ordered = Ordered { index, versions: &versions, order, position, control };
    let mut missed = ordered.depended_on(versions.missed(index, position))?;
    missed.sort_unstable();
    let mut by_reader: Vec<(u32, &[Missed])> = Vec::new();
    for of_reader in missed.chunk_by(|a, b| a.reader == b.reader) {
        let lowest = of_reader.iter().map(|missed| position(missed.newer)).min().unwrap_or(0);
        by_reader.push((lowest, of_reader));
    }
    // What is close together takes little time and may settle the rest.
    by_reader.sort_by_key(|(lowest, of_reader)| position(of_reader[0].reader) - lowest);
    let n = index.n_nodes();
    let mut search = Backwards { met: vec![0; n], next: vec![0; n], queue: VecDeque::new(), n_met: 0 };
    let mut wrong = Vec::new();
    for (lowest, of_reader) in by_reader {
        if search.n_met > PATIENCE * n {
            break;
        }
        control.check()?;
        search.run(index, &versions, of_reader, |v| position(v) >= lowest, &is_known);
        wrong.extend(of_reader.iter().map(|&Missed { reader, newer, older }| {
            debug_assert_eq!(search.met[newer as usize], reader + 1);
            Wrong { reader, older, newer, path: search.path(newer, reader) }
        }));
    }
    Ok(wrong)
}

impl Backwards {
    /// Meets nodes inside from which D leads to the reader, those with few guesses first, until it has met the writers that
    /// the reader misses.
    fn run(
        &mut self,
        index: &Index,
        versions: &Versions,
        missed: &[Missed],
        inside: impl Fn(Node) -> bool,
        is_known: &impl Fn(Step) -> bool,
    ) {
        let reader = missed[0].reader;
        let (mark, mut left) = (reader + 1, missed.len());
        self.queue.clear();
        self.queue.push_back((reader, reader));
        while let Some((v, next)) = self.queue.pop_front() {
            if self.met[v as usize] == mark {
                continue;
            }
            (self.met[v as usize], self.next[v as usize]) = (mark, next);
            self.n_met += 1;
            left -= usize::from(missed.binary_search_by_key(&v, |missed| missed.newer).is_ok());
            if left == 0 {
                return;
            }
            for u in certain(index, v).filter(|&u| inside(u)) {
                if self.met[u as usize] != mark {
                    self.queue.push_front((u, v));
                }
            }
            for u in versions.overwritten(index, v).filter(|&u| inside(u)) {
                if self.met[u as usize] != mark {
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
