//! TCC: which of the versions that an order puts between a read's writer and its reader are visible to the reader.
//!
//! A few questions are answered by backward searches; many by waves from the versions to their readers or by columns of
//! causal order, whichever are shorter. Causal order does not change while commit orders are tried, so a version found
//! invisible to a reader is never queried again.

use super::SMALL_LIMITS;
use super::base_order::{Demands, Open, Replay, between};
use super::causality::{Components, Forced};
use super::chains::Chains;
use super::columns::{Block, Sweep};
use super::order::LinearOrder;
use super::waves::Waves;
use super::window::Window;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::Rows;
use isoscope_model::relations::{Index, NONE, Node};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// Versions walked for one read before only the last visible writer of each chain is queried.
const WALK: usize = if SMALL_LIMITS { 2 } else { 64 };

/// How far, if that makes too many questions.
const SHORT_WALK: usize = if SMALL_LIMITS { 1 } else { 4 };

/// Most questions at a time.
const MOST_QUESTIONS: usize = if SMALL_LIMITS { 8 } else { 1 << 25 };

/// Open reads per piece of parallel work.
const OPEN_READS: usize = if SMALL_LIMITS { 2 } else { 4096 };

/// Pieces of work into which searches are cut: each has a mark per transaction.
const SEARCHES: usize = 16;

/// Does t3 observe t2?
#[derive(Clone, Copy)]
struct ReadQuestion {
    t2: Node,
    t3: Node,
    /// The read of t3 that would force t2 before its writer.
    read: u32,
}

impl ReadQuestion {
    fn pair(self) -> u64 {
        u64::from(self.t2) << 32 | u64::from(self.t3)
    }
}

/// What an order leaves open.
#[derive(Default)]
struct Questions {
    /// By reader.
    short: Vec<ReadQuestion>,
    /// Reads with too many versions in between.
    long: Vec<Open>,
}

/// Answers for one history.
pub(super) struct Causal<'a> {
    index: &'a Index,
    /// Any order that contains SO ∪ WR.
    base: &'a LinearOrder,
    /// Pairs (t2, t3) of which t3 is known not to see t2.
    unseen: FxHashSet<u64>,
    /// Made when needed first.
    sweep: Option<(Chains, Sweep)>,
}

impl<'a> Causal<'a> {
    pub(super) fn new(index: &'a Index, base: &'a LinearOrder) -> Causal<'a> {
        Causal {
            index,
            base,
            unseen: FxHashSet::default(),
            sweep: None,
        }
    }

    /// What the open reads of an order force.
    pub(super) fn demands(
        &mut self,
        order: &LinearOrder,
        replay: &Replay,
        control: &Control,
    ) -> Result<Demands, Interrupt> {
        let mut questions = self.questions(replay, WALK, control)?;
        if questions.short.len() > MOST_QUESTIONS {
            questions = self.questions(replay, SHORT_WALK, control)?;
        }
        let searched = if questions.long.is_empty() {
            self.search(order, &questions.short, control)?
        } else {
            None
        };
        let (mut seen, mut edges) = (searched, Vec::new());
        if seen.is_none() {
            let (answers, of_long) = self.ask_all(order, &questions, control)?;
            let Some(of_long) = of_long else {
                return Ok(None);
            };
            edges = of_long;
            seen = Some(answers);
        }
        let seen = seen.unwrap_or_default();
        for &at in &seen {
            let ReadQuestion { t2, read, .. } = questions.short[at as usize];
            match self.index.writer_of_read(read as usize) {
                NONE => return Ok(None),
                t1 => edges.push(Forced {
                    from: t2,
                    to: t1,
                    read,
                }),
            }
        }
        if !edges.is_empty() {
            self.remember(&questions.short, &seen);
        }
        Ok(Some(edges))
    }

    /// Remembers the pairs with the answer "no".
    fn remember(&mut self, asked: &[ReadQuestion], seen: &[u32]) {
        let mut seen = seen.iter().peekable();
        self.unseen.reserve(asked.len());
        for (at, question) in asked.iter().enumerate() {
            if seen.next_if(|&&place| place as usize == at).is_none() {
                self.unseen.insert(question.pair());
            }
        }
    }

    fn questions(
        &self,
        replay: &Replay,
        walk: usize,
        control: &Control,
    ) -> Result<Questions, Interrupt> {
        // No order that contains SO ∪ WR has t2 behind t3 if t3 observes it, so the first guess answers many questions.
        let place = &self.base.place;
        let parts = replay.parts(OPEN_READS).into_par_iter().map(|part| {
            control.check()?;
            let mut questions = Questions::default();
            for &open in part {
                let (t3, read) = (open.reader, open.read);
                let begin = questions.short.len();
                for (walked, t2) in between(self.index, replay, open).enumerate() {
                    if walked == walk {
                        questions.short.truncate(begin);
                        questions.long.push(open);
                        break;
                    }
                    let question = ReadQuestion { t2, t3, read };
                    let may_see = place[t2 as usize] < place[t3 as usize];
                    if may_see && !self.unseen.contains(&question.pair()) {
                        questions.short.push(question);
                    }
                }
            }
            Ok(questions)
        });
        let mut all = Questions::default();
        for mut part in parts.collect::<Result<Vec<_>, Interrupt>>()? {
            all.short.append(&mut part.short);
            all.long.append(&mut part.long);
        }
        Ok(all)
    }

    /// Searches backwards from each reader: the places of the questions answered with yes, ascending. `None` if that
    /// takes more than a fraction of what columns would.
    fn search(
        &self,
        order: &LinearOrder,
        questions: &[ReadQuestion],
        control: &Control,
    ) -> Result<Option<Vec<u32>>, Interrupt> {
        let index = self.index;
        let n = index.n_nodes();
        let steps = index.read_key.len() + n;
        let back = |of_reader: &[ReadQuestion]| {
            let place = |t: Node| order.place[t as usize];
            let floor = of_reader
                .iter()
                .map(|question| place(question.t2))
                .min()
                .unwrap_or(0);
            (
                floor,
                place(of_reader[0].t3).saturating_sub(floor) as usize + 1,
            )
        };
        // At most everything in between is visited.
        let readers = questions.chunk_by(|a, b| a.t3 == b.t3);
        let most = readers.fold(0usize, |most, of_reader| {
            most.saturating_add(back(of_reader).1)
        });
        let most = most.saturating_mul(steps) / n.max(1);
        // A step costs about as much as a line of a block. A search that cannot cost more than a fraction of the
        // columns is made; otherwise, few searches need less than some hundred steps, and little is spent on trying.
        let n_blocks = match &self.sweep {
            Some((_, sweep)) => sweep.length() / n.max(1),
            None => index.n_sessions().div_ceil(32),
        };
        let columns = if SMALL_LIMITS {
            80
        } else {
            steps.saturating_mul(n_blocks.min(16))
        };
        let least = if SMALL_LIMITS { 1 } else { 256 };
        let budget = if most < columns / 4 {
            columns / 2
        } else {
            columns / 64
        };
        if most >= columns / 4 && questions.len().saturating_mul(least) > budget {
            return Ok(None);
        }
        // Each part has a mark per node, which should be worth it.
        let n_parts = (most / n.max(1)).clamp(1, SEARCHES);
        let parts = by_reader(questions, questions.len().div_ceil(n_parts).max(1));
        let budget = budget / parts.len().max(1);
        let searched = parts.into_par_iter().map(|(first, part)| {
            let mut window = Window::new(index, order, budget);
            let mut seen = Vec::new();
            let mut place = first as u32;
            for (step, of_reader) in part.chunk_by(|a, b| a.t3 == b.t3).enumerate() {
                control.tick(step)?;
                if window
                    .look_back(of_reader[0].t3, back(of_reader).0)
                    .is_none()
                {
                    return Ok(None);
                }
                for question in of_reader {
                    if window.precedes(question.t2, question.t3) {
                        seen.push(place);
                    }
                    place += 1;
                }
            }
            Ok(Some(seen))
        });
        let searched = searched.collect::<Result<Vec<_>, Interrupt>>()?;
        Ok(searched
            .into_iter()
            .collect::<Option<Vec<_>>>()
            .map(|parts| parts.concat()))
    }

    /// Sends waves, or computes one block of columns after another: the places of the questions answered with yes,
    /// ascending, and what the long reads force.
    fn ask_all(
        &mut self,
        order: &LinearOrder,
        questions: &Questions,
        control: &Control,
    ) -> Result<(Vec<u32>, Demands), Interrupt> {
        if self.sweep.is_none() {
            let components = Components::trivial(&self.base.nodes, &self.base.place);
            let chains = Chains::new(self.index, &components, control)?;
            let sweep = Sweep::new(self.index, self.base, &chains, control)?;
            self.sweep = Some((chains, sweep));
        }
        let Some((chains, sweep)) = &self.sweep else {
            return Ok((Vec::new(), None));
        };
        if questions.long.is_empty() && sweep.length() > 0 {
            let place = |t: Node| self.base.place[t as usize];
            let waves = Waves::new(
                questions
                    .short
                    .iter()
                    .map(|question| (place(question.t2), place(question.t3))),
            );
            if waves.length < sweep.length() {
                return Ok((waves.answers(sweep, control)?, Some(Vec::new())));
            }
        }
        let width = sweep.width() as u32;
        let block_of = |question: &ReadQuestion| chains.chain[question.t2 as usize] / width;
        let by_block: Rows<u32> = Rows::new(
            sweep.n_blocks(),
            questions.short.iter().map(block_of).zip(0..),
        );
        let place = |t3: Node| self.base.place[t3 as usize];
        // A few long rows of blocks, so that one buffer serves many blocks.
        let n_rows = rayon::current_num_threads().min(sweep.n_blocks()).max(1);
        let asked = (0..n_rows).into_par_iter().map(|row| {
            let (mut seen, mut edges): (Vec<u32>, Demands) = (Vec::new(), Some(Vec::new()));
            let of_row = || (row..sweep.n_blocks()).step_by(n_rows);
            let (kept, others): (Vec<usize>, Vec<usize>) =
                of_row().partition(|&number| sweep.is_kept(number));
            for number in kept.into_iter().chain(others) {
                let of_block = by_block.of(number as u32);
                if of_block.is_empty() && questions.long.is_empty() {
                    continue;
                }
                let answers = |block: &Block<'_>| -> Option<(Vec<u32>, Demands)> {
                    let sees = |&at: &u32| {
                        let ReadQuestion { t2, t3, .. } = questions.short[at as usize];
                        block.precedes(chains, t2, place(t3))
                    };
                    let mut seen = Vec::new();
                    for &at in of_block {
                        if sees(&at)? {
                            seen.push(at);
                        }
                    }
                    Some((
                        seen,
                        self.demands_of_long(order, chains, width, block, &questions.long)?,
                    ))
                };
                let block = sweep.block(number, control)?;
                let (seen_in_block, edges_of_block) = match answers(&block) {
                    Some(told) => told,
                    None => answers(&sweep.wide_block(number, control)?)
                        .expect("wide entries tell everything"),
                };
                seen.extend(seen_in_block);
                merge(&mut edges, edges_of_block);
                sweep.done_with(block);
            }
            Ok((seen, edges))
        });
        let (mut seen, mut edges): (Vec<u32>, Demands) = (Vec::new(), Some(Vec::new()));
        for (seen_in_row, edges_of_row) in asked.collect::<Result<Vec<_>, Interrupt>>()? {
            seen.extend(seen_in_row);
            merge(&mut edges, edges_of_row);
        }
        seen.par_sort_unstable();
        Ok((seen, edges))
    }

    /// For each read the last writer of its key in each chain of a block that the reader observes, if the order has it
    /// after the writer that was read. `None` if the block does not tell.
    fn demands_of_long(
        &self,
        order: &LinearOrder,
        chains: &Chains,
        width: u32,
        block: &Block<'_>,
        long: &[Open],
    ) -> Option<Demands> {
        let index = self.index;
        let mut edges = Vec::new();
        for open in long {
            let t1 = index.writer_of_read(open.read as usize);
            let place = self.base.place[open.reader as usize];
            for (chain, run) in chains.runs(
                index,
                index.read_key[open.read as usize],
                block.first..block.first + width,
            ) {
                let seen = block.count(place, chain)?;
                let seen = &run[..run.partition_point(|&t2| chains.position[t2 as usize] < seen)];
                match seen.last() {
                    Some(_) if t1 == NONE => return Some(None),
                    Some(&t2) if order.place[t2 as usize] > order.place[t1 as usize] => {
                        edges.push(Forced {
                            from: t2,
                            to: t1,
                            read: open.read,
                        });
                    }
                    _ => {}
                }
            }
        }
        Some(Some(edges))
    }
}

/// Adds what one part forces to what others force; one contradiction is enough.
fn merge(all: &mut Demands, part: Demands) {
    match (&mut *all, part) {
        (Some(all), Some(edges)) => all.extend(edges),
        _ => *all = None,
    }
}

/// Questions in parts of about equal size, those of one reader together, each with the place of its first question.
fn by_reader(questions: &[ReadQuestion], len: usize) -> Vec<(usize, &[ReadQuestion])> {
    let mut parts = Vec::new();
    let mut begin = 0;
    while begin < questions.len() {
        let mut end = (begin + len).min(questions.len());
        while end < questions.len() && questions[end].t3 == questions[end - 1].t3 {
            end += 1;
        }
        parts.push((begin, &questions[begin..end]));
        begin = end;
    }
    parts
}
