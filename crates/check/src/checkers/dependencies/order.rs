//! What is wrong with an order of transactions.

use super::direct::directly_missed;
use super::reach::Ordered;
use super::versions::{Missed, Step, Versions, Wrong, certain};
use crate::checkers::Respected;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Index, NONE, Node};
use std::collections::VecDeque;

/// How many transactions are met in all searches for paths together before what was found is put to use, in proportion to
/// all transactions.
const PATIENCE: usize = 16;

/// A search for paths of D, backwards from a reader.
struct Backwards {
    /// The number of the search.
    mark: u32,
    /// By node: the last search that met it, and the step by which it leads to the reader.
    met: Vec<u32>,
    next: Vec<Node>,
    queue: VecDeque<(Node, Node)>,
    /// How many nodes were met for all readers together.
    n_met: usize,
}

/// Wrong reads of an order that contains all that is known of D, at most one of each reader and newer writer; none only if
/// there is none. Where there are many, only those whose paths are found soon. `is_known` tells known edges from guesses.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn wrong_reads(
    index: &Index,
    (respected, in_time): (Respected, bool),
    order: &[Node],
    position: impl Fn(Node) -> u32 + Copy,
    is_known: impl Fn(Step) -> bool,
    control: &Control,
) -> Result<Vec<Wrong>, Interrupt> {
    let versions = Versions::new(index, position);
    if matches!(respected, Respected::Direct | Respected::Seen(_)) {
        return directly_missed(
            index,
            &versions,
            (respected == Respected::Direct, in_time),
            position,
            control,
        );
    }
    let mut missed = versions.missed(index, respected, position);
    if respected == Respected::Serial {
        let of_updates = missed
            .iter()
            .filter(|missed| !index.writes_of(missed.reader).is_empty());
        let wrong = |m: &Missed| Wrong {
            reader: m.reader,
            older: m.older,
            newer: m.newer,
            path: Vec::new(),
        };
        let wrong: Vec<Wrong> = of_updates.map(wrong).collect();
        // What else is wrong is told by anti-dependencies of transactions that miss nothing.
        if !wrong.is_empty() {
            return Ok(wrong);
        }
    }
    // The version that an update writes is newer than those before it: these precede it by definition.
    if respected != Respected::OfUpdates {
        missed = Ordered {
            index,
            versions: &versions,
            order,
            position,
            respected,
            control,
        }
        .depended_on(missed)?;
    }
    missed.sort_unstable();
    let mut by_reader: Vec<(u32, &[Missed])> = Vec::new();
    // What a reader depends on may differ from read to read.
    for of_reader in missed.chunk_by(|a, b| a.reader == b.reader && respected != Respected::SoFar) {
        let lowest = of_reader
            .iter()
            .map(|missed| position(missed.newer))
            .min()
            .unwrap_or(0);
        by_reader.push((lowest, of_reader));
    }
    // What is close together takes little time and may settle the rest.
    by_reader.sort_by_key(|(lowest, of_reader)| position(of_reader[0].reader) - lowest);
    let n = index.n_nodes();
    let mut search = Backwards {
        mark: 0,
        met: vec![0; n],
        next: vec![0; n],
        queue: VecDeque::new(),
        n_met: 0,
    };
    let mut wrong = Vec::new();
    for (lowest, of_reader) in by_reader {
        if search.n_met > PATIENCE * n {
            break;
        }
        control.check()?;
        search.run(
            index,
            &versions,
            respected,
            of_reader,
            |v| position(v) >= lowest,
            &is_known,
        );
        wrong.extend(of_reader.iter().map(
            |&Missed {
                 reader,
                 newer,
                 older,
                 ..
             }| {
                debug_assert_eq!(search.met[newer as usize], search.mark);
                let mut path = search.path(newer, reader);
                if respected == Respected::Serial {
                    path = path
                        .into_iter()
                        .flat_map(|step| rests_on(index, &versions, step, &is_known))
                        .collect();
                }
                if respected == Respected::OfUpdates && !path.iter().all(|&step| is_known(step)) {
                    path = vec![(newer, reader)];
                }
                Wrong {
                    reader,
                    older,
                    newer,
                    path,
                }
            },
        ));
    }
    Ok(wrong)
}

/// The edges of D that a step rests on, known ones if there are any: itself, or those to the reader and the writer of the newer
/// version of an anti-dependency. Each transaction of the step is at an end of one of them.
fn rests_on(
    index: &Index,
    versions: &Versions,
    (u, v): Step,
    is_known: &impl Fn(Step) -> bool,
) -> Vec<Step> {
    if is_known((u, v)) {
        return vec![(u, v)];
    }
    let missed = || {
        versions
            .missed_by_updates(index, v)
            .filter(|(reader, _)| *reader == u)
            .map(|(_, older)| older)
    };
    let by_reader = |older: u32| match older {
        NONE => vec![(u, u), (v, v)],
        older => vec![(older, u), (older, v)],
    };
    let certain = missed().find(|&older| older == NONE || is_known((older, v)));
    match certain {
        Some(older) => by_reader(older),
        None if versions.overwritten(index, v).any(|writer| writer == u) => vec![(u, v)],
        None => missed().next().map_or_else(Vec::new, by_reader),
    }
}

impl Backwards {
    /// Meets nodes inside from which D leads to the reader, those with few guesses first, until it has met the writers that
    /// the reader misses.
    fn run(
        &mut self,
        index: &Index,
        versions: &Versions,
        respected: Respected,
        missed: &[Missed],
        inside: impl Fn(Node) -> bool,
        is_known: &impl Fn(Step) -> bool,
    ) {
        let Missed { reader, read, .. } = missed[0];
        self.mark += 1;
        let (mark, mut left) = (self.mark, missed.len());
        self.queue.clear();
        self.queue.push_back((reader, reader));
        while let Some((v, next)) = self.queue.pop_front() {
            if self.met[v as usize] == mark {
                continue;
            }
            (self.met[v as usize], self.next[v as usize]) = (mark, next);
            self.n_met += 1;
            left -= usize::from(
                missed
                    .binary_search_by_key(&v, |missed| missed.newer)
                    .is_ok(),
            );
            if left == 0 {
                return;
            }
            if v == reader && respected == Respected::SoFar {
                self.enqueue(
                    versions
                        .so_far(index, reader, read as usize)
                        .filter(|&u| inside(u)),
                    v,
                    is_known,
                );
                continue;
            }
            self.enqueue(certain(index, v).filter(|&u| inside(u)), v, &|_| true);
            self.enqueue(
                versions.overwritten(index, v).filter(|&u| inside(u)),
                v,
                is_known,
            );
            if respected == Respected::Serial {
                for (u, older) in versions
                    .missed_by_updates(index, v)
                    .filter(|(u, _)| inside(*u))
                {
                    let is_known =
                        |step: Step| older == NONE || is_known((older, v)) || is_known(step);
                    self.enqueue([u].into_iter(), v, &is_known);
                }
            }
        }
    }

    /// Those from which an edge of D leads to `v`, known ones to be met first.
    fn enqueue(
        &mut self,
        before: impl Iterator<Item = Node>,
        v: Node,
        is_known: &impl Fn(Step) -> bool,
    ) {
        for u in before {
            if self.met[u as usize] != self.mark {
                if is_known((u, v)) {
                    self.queue.push_front((u, v))
                } else {
                    self.queue.push_back((u, v))
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
