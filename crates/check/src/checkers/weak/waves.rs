//! Causal order for many questions about near neighbours: which of a few hundred transactions are seen by which others.
//!
//! A wave starts at the oldest of up to [`SOURCES`] transactions and runs along an order that contains SO ∪ WR, no
//! further than the last one in question. Every transaction on the way has one cache line with a bit for each source
//! that precedes it. If most questions are about transactions that are near each other in the order, as in a history of
//! thousands of sessions, that is a small part of what columns of all sessions would take.

use super::SMALL_LIMITS;
use super::columns::Sweep;
use isoscope_model::control::{Control, Interrupt};
use rayon::prelude::*;

/// Transactions that one wave starts from: the bits of a cache line.
const SOURCES: usize = if SMALL_LIMITS {
    2
} else {
    8 * size_of::<SourceBits>()
};

/// A bit per source.
#[repr(align(64))]
#[derive(Clone, Copy, Default)]
struct SourceBits([u64; 8]);

impl SourceBits {
    #[inline]
    fn set(&mut self, source: usize) {
        self.0[source / 64] |= 1 << (source % 64);
    }

    #[inline]
    fn has(&self, source: usize) -> bool {
        self.0[source / 64] >> (source % 64) & 1 == 1
    }
}

/// Does the transaction at a place of the order see an earlier one?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    /// The logarithm of the distance: questions of one kind share waves, so that a few far ones do not make all waves long.
    kind: u32,
    from: u32,
    to: u32,
    /// The number of the question.
    question: u32,
}

/// All questions, cut into waves.
pub(super) struct Waves {
    spans: Vec<Span>,
    /// The start of each wave in `spans`.
    begin: Vec<usize>,
    /// Places that all waves visit in total: a line is written for each, and one read for each predecessor.
    pub(super) length: usize,
}

impl Waves {
    /// Plans waves for questions, each a pair of places of which the first is smaller. O(questions · log questions).
    pub(super) fn new(questions: impl Iterator<Item = (u32, u32)>) -> Waves {
        let spans = questions.zip(0..).map(|((from, to), question)| Span {
            kind: (to - from).max(1).ilog2(),
            from,
            to,
            question,
        });
        let mut spans: Vec<Span> = spans.collect();
        spans.par_sort_unstable();
        let mut waves = Waves {
            spans,
            begin: Vec::new(),
            length: 0,
        };
        let mut at = 0;
        while let Some(first) = waves.spans.get(at) {
            waves.begin.push(at);
            let (mut sources, mut last, mut end) = (0, None, first.from);
            let kind = first.kind;
            let start = first.from;
            while let Some(span) = waves.spans.get(at).filter(|span| span.kind == kind) {
                if last != Some(span.from) {
                    // A gap longer than the spans themselves is not worth crossing.
                    if sources == SOURCES || span.from > end {
                        break;
                    }
                    sources += 1;
                    last = Some(span.from);
                }
                end = end.max(span.to);
                at += 1;
            }
            waves.length += (end - start) as usize + 1;
        }
        waves
    }

    /// The questions answered with yes, ascending. Memory: a line for each place of the longest wave, per thread.
    pub(super) fn answers(&self, sweep: &Sweep, control: &Control) -> Result<Vec<u32>, Interrupt> {
        let ends = self.begin.iter().skip(1).copied().chain([self.spans.len()]);
        let waves: Vec<&[Span]> = self
            .begin
            .iter()
            .zip(ends)
            .map(|(&begin, end)| &self.spans[begin..end])
            .collect();
        let answered = waves
            .into_par_iter()
            .map_init(Vec::new, |lines, spans| run(spans, sweep, lines, control));
        let mut yes = answered.collect::<Result<Vec<_>, Interrupt>>()?.concat();
        yes.par_sort_unstable();
        Ok(yes)
    }
}

/// One wave: the questions answered with yes.
fn run(
    spans: &[Span],
    sweep: &Sweep,
    lines: &mut Vec<SourceBits>,
    control: &Control,
) -> Result<Vec<u32>, Interrupt> {
    let start = spans[0].from;
    let end = spans.iter().map(|span| span.to).max().unwrap_or(start);
    let mut sources: Vec<u32> = spans.iter().map(|span| span.from).collect();
    sources.dedup();
    let mut coming = sources.iter().copied().enumerate().peekable();
    lines.clear();
    lines.reserve((end - start) as usize + 1);
    for place in start..=end {
        control.tick((place - start) as usize)?;
        let mut line = SourceBits::default();
        for predecessor in sweep.predecessors(place) {
            if let Some(at) = predecessor.checked_sub(start) {
                let other = &lines[at as usize].0;
                line = SourceBits(std::array::from_fn(|word| line.0[word] | other[word]));
            }
        }
        if let Some((source, _)) = coming.next_if(|&(_, of)| of == place) {
            line.set(source);
        }
        lines.push(line);
    }
    let mut source = 0;
    let yes = spans.iter().filter(|span| {
        while sources[source] != span.from {
            source += 1;
        }
        lines[(span.to - start) as usize].has(source)
    });
    Ok(yes.map(|span| span.question).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkers::weak::causality::Components;
    use crate::checkers::weak::chains::Chains;
    use crate::checkers::weak::order::{Before, Preference, linear_extension};
    use crate::checkers::weak::tests::tiny;
    use isoscope_testing as common;

    #[test]
    fn waves_and_columns_agree() {
        let control = Control::default();
        let mut answered = [0; 2];
        for seed in 0..500 {
            let index = common::index(&tiny(&mut fastrand::Rng::with_seed(seed)).history());
            let extension =
                linear_extension(&index, &Before::default(), Preference::FirstCome, &control);
            let Some(order) = extension.expect("not stopped") else {
                continue;
            };
            let chains = Chains::new(
                &index,
                &Components::trivial(&order.nodes, &order.place),
                &control,
            )
            .expect("not stopped");
            let sweep = Sweep::new(&index, &order, &chains, &control).expect("not stopped");
            let n = index.n_nodes() as u32;
            let pairs: Vec<(u32, u32)> = (0..n)
                .flat_map(|to| (0..to).map(move |from| (from, to)))
                .collect();
            let yes = Waves::new(pairs.iter().copied())
                .answers(&sweep, &control)
                .expect("not stopped");
            let blocks: Vec<_> = (0..sweep.n_blocks())
                .map(|at| sweep.wide_block(at, &control).expect("not stopped"))
                .collect();
            let expected = pairs.iter().zip(0..).filter(|&(&(from, to), _)| {
                let a = order.nodes[from as usize];
                let block = &blocks[chains.chain[a as usize] as usize / sweep.width()];
                block
                    .precedes(&chains, a, to)
                    .expect("wide entries tell everything")
            });
            let expected: Vec<u32> = expected.map(|(_, question)| question).collect();
            assert_eq!(yes, expected, "seed {seed}");
            answered[0] += yes.len();
            answered[1] += pairs.len() - yes.len();
        }
        assert!(
            answered.iter().all(|&answers| answers > 500),
            "{answered:?}"
        );
    }
}
