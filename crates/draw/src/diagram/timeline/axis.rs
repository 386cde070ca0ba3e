//! An axis with the transactions of each session by start, so that those in a stretch are found at once.

use isoscope_model::control::sorting::{going, sort_by};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, TransactionId};

/// Transactions of a block, whose furthest end is known.
const BLOCK: usize = 32;
/// Maximum number of reported transactions that began before the stretch and reach into it.
const HANGING: usize = 300;

/// The extent of a transaction on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// Its start.
    pub from: f64,
    /// Its end, greater than the start.
    pub to: f64,
}

/// One axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// By transaction.
    spans: Vec<Span>,
    /// By session.
    lanes: Vec<Lane>,
    /// The end of the last transaction.
    pub length: f64,
}

/// The transactions of a session.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// By start.
    order: Vec<TransactionId>,
    /// The furthest end in each block, and above them, as in a heap, that of both below.
    furthest: Vec<f64>,
}

impl Lane {
    fn new(order: Vec<TransactionId>, spans: &[Span]) -> Lane {
        let blocks = order.chunks(BLOCK);
        let n = blocks.len().next_power_of_two();
        let mut furthest = vec![f64::NEG_INFINITY; 2 * n];
        for (block, slot) in blocks.zip(&mut furthest[n..]) {
            *slot = block
                .iter()
                .fold(f64::NEG_INFINITY, |most, t| most.max(spans[t.index()].to));
        }
        for node in (1..n).rev() {
            furthest[node] = furthest[2 * node].max(furthest[2 * node + 1]);
        }
        Lane { order, furthest }
    }

    /// The first from `begin` on that ends at `least` or later. O(log transactions).
    fn reaching(&self, spans: &[Span], begin: usize, least: f64) -> Option<usize> {
        let within = |from: usize, to: usize| {
            let part = self.order.get(from..to.min(self.order.len()))?;
            part.iter()
                .position(|t| spans[t.index()].to >= least)
                .map(|place| from + place)
        };
        let block = begin / BLOCK;
        within(begin, (block + 1) * BLOCK).or_else(|| {
            let block = self.block_reaching(block + 1, least)?;
            within(block * BLOCK, (block + 1) * BLOCK)
        })
    }

    fn block_reaching(&self, begin: usize, least: f64) -> Option<usize> {
        let n = self.furthest.len() / 2;
        if begin >= n {
            return None;
        }
        let mut node = n + begin;
        while self.furthest[node] < least {
            // Up while there is nothing to the right below the same parent; the last node of a row has nothing at all.
            while node % 2 == 1 {
                node /= 2;
            }
            if node == 0 {
                return None;
            }
            node += 1;
        }
        while node < n {
            node = if self.furthest[2 * node] >= least {
                2 * node
            } else {
                2 * node + 1
            };
        }
        Some(node - n)
    }
}

impl Axis {
    /// O(transactions · log transactions).
    pub(super) fn new(
        history: &History,
        spans: Vec<Span>,
        control: &Control,
    ) -> Result<Axis, Interrupt> {
        let mut lanes = Vec::with_capacity(history.n_sessions());
        for session in going(control, history.sessions()) {
            let mut order: Vec<TransactionId> = history.transactions_of(session).collect();
            sort_by(&mut order, control, |a, b| {
                spans[a.index()].from.total_cmp(&spans[b.index()].from)
            })?;
            lanes.push(Lane::new(order, &spans));
        }
        let length = spans.iter().fold(1.0_f64, |most, span| most.max(span.to));
        control.check()?;
        Ok(Axis {
            spans,
            lanes,
            length,
        })
    }

    /// Whether a point is between the first start and the last end. O(transactions).
    pub fn covers(&self, at: f64) -> bool {
        at <= self.length && self.spans.iter().any(|span| span.from <= at)
    }

    /// The extent of a transaction.
    pub fn span(&self, transaction: TransactionId) -> Option<Span> {
        self.spans.get(transaction.index()).copied()
    }

    /// Calls `draw` with the transactions of a session that touch `from..to`, by start. If several begin and
    /// end in one stretch of `grain`, only the first is reported, with how far the last of them reaches. O(pieces reported · log
    /// transactions), however long the transactions are that began before.
    pub fn visible(
        &self,
        session: usize,
        from: f64,
        to: f64,
        grain: f64,
        mut draw: impl FnMut(TransactionId, Span, usize),
    ) {
        let Some(lane) = self.lanes.get(session) else {
            return;
        };
        let start = |t: &TransactionId| self.spans[t.index()].from;
        let mut n_hanging = 0;
        let mut at = lane.reaching(&self.spans, 0, from);
        while let Some(place) = at {
            let transaction = lane.order[place];
            let mut span = self.spans[transaction.index()];
            if span.from > to {
                break;
            }
            if span.from < from {
                n_hanging += 1;
                draw(transaction, span, 1);
                // If too many hang over, the rest could not be distinguished from those.
                let next = if n_hanging < HANGING {
                    place + 1
                } else {
                    lane.order.partition_point(|t| start(t) < from)
                };
                at = lane.reaching(&self.spans, next, from);
                continue;
            }
            let close = place
                + 1
                + lane.order[place + 1..].partition_point(|t| start(t) < span.from + grain);
            // One that is long enough to be seen is drawn for itself.
            let next = lane
                .reaching(&self.spans, place + 1, span.from + grain)
                .map_or(close, |long| long.min(close));
            if next > place + 1 {
                let last = self.spans[lane.order[next - 1].index()].to;
                span.to = span.to.max(last.min(span.from + grain));
            }
            draw(transaction, span, next - place);
            at = (next < lane.order.len()).then_some(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(spans: &[Span]) -> Lane {
        Lane::new((0..spans.len()).map(TransactionId::new).collect(), spans)
    }

    #[test]
    fn the_next_that_reaches_so_far_is_found() {
        for n in [0, 1, 31, 32, 33, 200, 1000] {
            let end = |at: usize| if at % 97 == 5 { 1e9 } else { at as f64 + 1.0 };
            let spans: Vec<Span> = (0..n)
                .map(|at| Span {
                    from: at as f64,
                    to: end(at),
                })
                .collect();
            let lane = lane(&spans);
            for (begin, least) in [
                (0, 0.0),
                (0, 500.0),
                (6, 1e8),
                (103, 1e8),
                (40, 41.0),
                (n, 0.0),
                (0, 1e10),
            ] {
                let expected = (begin..n).find(|at| spans[*at].to >= least);
                assert_eq!(
                    lane.reaching(&spans, begin, least),
                    expected,
                    "{n} {begin} {least}"
                );
            }
        }
    }

    #[test]
    fn a_long_transaction_behind_short_ones_keeps_its_length() {
        let ends = [(0.0, 0.1), (0.1, 0.2), (0.3, 5.0), (5.0, 5.1), (5.2, 5.3)];
        let spans: Vec<Span> = ends
            .into_iter()
            .map(|(from, to)| Span { from, to })
            .collect();
        let axis = Axis {
            lanes: vec![lane(&spans)],
            spans,
            length: 6.0,
        };
        let mut together = Vec::new();
        axis.visible(0, 0.0, 6.0, 1.0, |transaction, span, n| {
            together.push((transaction.index(), span.to, n))
        });
        assert_eq!(together, [(0, 0.2, 2), (2, 5.0, 1), (3, 5.3, 2)]);
    }

    #[test]
    fn a_long_transaction_does_not_bring_all_that_began_after_it() {
        let mut spans = vec![Span { from: 0.0, to: 1e9 }];
        spans.extend((1..100_000).map(|at| Span {
            from: at as f64,
            to: at as f64 + 0.5,
        }));
        let axis = Axis {
            lanes: vec![lane(&spans)],
            spans,
            length: 1e9,
        };
        let mut together = Vec::new();
        axis.visible(0, 90_000.2, 90_002.2, 0.01, |transaction, _, n| {
            together.push((transaction.index(), n))
        });
        assert_eq!(together, [(0, 1), (90_000, 1), (90_001, 1), (90_002, 1)]);
    }
}
