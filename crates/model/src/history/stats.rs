//! Statistics of a history.

use super::{
    Figures, History, Interval, KeyId, OperationKind, Outcome, SessionId, TransactionId, Value,
};
use rayon::prelude::*;
use serde::Serialize;

/// Minimum, mean and maximum of a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The minimum.
    pub min: usize,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub max: usize,
}

impl Spread {
    fn of(numbers: impl ExactSizeIterator<Item = usize>) -> Spread {
        let n = numbers.len();
        if n == 0 {
            return Spread::default();
        }
        let (min, max, sum) = numbers.fold((usize::MAX, 0, 0u64), |(min, max, sum), x| {
            (min.min(x), max.max(x), sum + x as u64)
        });
        Spread {
            min,
            mean: sum as f64 / n as f64,
            max,
        }
    }
}

/// Numbers of transactions by contents. Transactions of all outcomes count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Shapes {
    /// Without operations.
    pub empty: usize,
    /// Reads only.
    pub read_only: usize,
    /// Writes only.
    pub write_only: usize,
    /// Both, and every key written was read before in the transaction.
    pub read_modify_write: usize,
    /// Both, and some key written was not read before.
    pub mixed: usize,
}

/// Figures about lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListFigures {
    /// Keys that hold lists.
    pub keys: usize,
    /// Reads that returned a list.
    pub reads: usize,
    /// Elements of the longest of these lists.
    pub longest: usize,
}

/// Figures about times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TimeFigures {
    /// Transactions that have times.
    pub transactions: usize,
    /// The first start, in the unit of the file.
    pub from: i64,
    /// The last end.
    pub to: i64,
}

/// Counts over a history as interpreted by its [`Rules`](super::Rules). Serialized, they are the middle part of what
/// `stats --json` prints.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// The figures of the file.
    #[serde(skip)]
    pub recorded: Figures,
    /// Reads among the operations.
    pub reads: usize,
    /// Writes among the operations.
    pub writes: usize,
    /// Operations on each key, the most used first.
    #[serde(skip)]
    pub uses: Vec<usize>,
    /// Operations on the most used key.
    pub hottest_key_operations: usize,
    /// Share of all operations on the most used tenth of the keys (at least one key): 0.1 when uniform.
    pub hot_tenth_share: f64,
    /// Estimated exponent of a Zipf distribution of operations over keys, 0 if uniform: the slope of a line fitted to
    /// the logarithms of rank and number of operations of up to 1,000 most used keys. `None` for fewer than ten keys.
    pub zipf_exponent: Option<f64>,
    /// Transactions of a session.
    pub transactions_of_session: Spread,
    /// Operations of a transaction.
    pub operations_of_transaction: Spread,
    /// Transactions by contents.
    pub shapes: Shapes,
    /// Pairs of transactions of different sessions that did not abort and write a common key, counted once for each such
    /// key.
    pub write_conflicts: u64,
    /// Those of them that ran at the same time, if both have times; `None` for a history without times.
    pub concurrent_write_conflicts: Option<u64>,
    /// Distinct pairs of key and value that were written.
    pub distinct_values: usize,
    /// Those of them that several transactions wrote.
    pub repeated_values: usize,
    /// About lists.
    pub lists: ListFigures,
    /// About times, if there are any.
    pub times: Option<TimeFigures>,
}

impl Statistics {
    /// Counts in O(operations log operations). About 24 bytes a write while it runs.
    pub fn of(history: &History) -> Statistics {
        Statistics::of_while(history, &|| true).unwrap_or_default()
    }

    /// As `of`, while `goes_on`, which is called now and then, returns true; `None` if it returned false.
    pub fn of_while(history: &History, goes_on: &(dyn Fn() -> bool + Sync)) -> Option<Statistics> {
        let reads = history
            .kinds()
            .iter()
            .filter(|k| **k == OperationKind::Read)
            .count();
        let mut uses = vec![0usize; history.n_keys()];
        for key in history.keys() {
            uses[key.index()] += 1;
        }
        uses.sort_unstable_by(|a, b| b.cmp(a));
        let hot: usize = uses[..uses.len().div_ceil(10)].iter().sum();
        let of_time = |Interval { start, end }| TimeFigures {
            transactions: 1,
            from: start,
            to: end,
        };
        let times = history
            .transactions()
            .filter_map(|t| history.interval(t))
            .map(of_time)
            .reduce(|a, b| TimeFigures {
                transactions: a.transactions + b.transactions,
                from: a.from.min(b.from),
                to: a.to.max(b.to),
            });
        goes_on().then_some(())?;
        let (write_conflicts, concurrent) = conflicts(history, goes_on)?;
        let (distinct_values, repeated_values) = values(history, goes_on)?;
        let shapes = shapes(history, goes_on)?;
        let lists = history.lists();
        Some(Statistics {
            recorded: history.recorded(),
            transactions_of_session: Spread::of(
                history.sessions().map(|s| history.transactions_of(s).len()),
            ),
            operations_of_transaction: Spread::of(
                history
                    .transactions()
                    .map(|t| history.operation_range(t).len()),
            ),
            reads,
            writes: history.n_operations() - reads,
            shapes,
            hottest_key_operations: uses.first().copied().unwrap_or(0),
            hot_tenth_share: if history.n_operations() == 0 {
                0.0
            } else {
                hot as f64 / history.n_operations() as f64
            },
            zipf_exponent: zipf_exponent(&uses),
            uses,
            write_conflicts,
            concurrent_write_conflicts: history.has_times().then_some(concurrent),
            distinct_values,
            repeated_values,
            lists: ListFigures {
                keys: (0..history.n_keys())
                    .filter(|&key| lists.is_list(KeyId::new(key)))
                    .count(),
                reads: lists.iter().len(),
                longest: lists
                    .iter()
                    .map(|(_, elements)| elements.len())
                    .max()
                    .unwrap_or(0),
            },
            times,
        })
    }
}

/// Transactions between two calls of `goes_on`.
const STRIDE: usize = 4096;

fn shapes(history: &History, goes_on: &dyn Fn() -> bool) -> Option<Shapes> {
    let mut shapes = Shapes::default();
    // By key: one more than its last read and its last write so far.
    let mut last = vec![(0usize, 0usize); history.n_keys()];
    for t in history.transactions() {
        if t.index() % STRIDE == 0 {
            goes_on().then_some(())?;
        }
        let range = history.operation_range(t);
        let (mut reads, mut writes, mut blind) = (0, 0, 0);
        for o in range.clone() {
            let (read, write) = &mut last[history.keys()[o].index()];
            match history.kinds()[o] {
                OperationKind::Read => {
                    *read = o + 1;
                    reads += 1;
                }
                OperationKind::Write => {
                    blind += usize::from(*write <= range.start && *read <= range.start);
                    *write = o + 1;
                    writes += 1;
                }
            }
        }
        let shape = match (reads, writes, blind) {
            (0, 0, _) => &mut shapes.empty,
            (_, 0, _) => &mut shapes.read_only,
            (0, _, _) => &mut shapes.write_only,
            (_, _, 0) => &mut shapes.read_modify_write,
            _ => &mut shapes.mixed,
        };
        *shape += 1;
    }
    Some(shapes)
}

/// See [`Statistics::zipf_exponent`]; `uses` are sorted, the most first.
fn zipf_exponent(uses: &[usize]) -> Option<f64> {
    const LEAST: usize = 10;
    const MOST: usize = 1000;
    let points: Vec<(f64, f64)> = uses
        .iter()
        .take(MOST)
        .enumerate()
        .filter(|(_, n)| **n > 0)
        .map(|(place, &n)| (((place + 1) as f64).ln(), (n as f64).ln()))
        .collect();
    if points.len() < LEAST {
        return None;
    }
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| {
        (x + point.0 / n, y + point.1 / n)
    });
    let (over, under) = points.iter().fold((0.0, 0.0), |(over, under), p| {
        (over + (p.0 - x) * (p.1 - y), under + (p.0 - x) * (p.0 - x))
    });
    Some((-over / under).max(0.0))
}

/// Pairs of transactions that write a common key, and those of them that ran at the same time.
fn conflicts(history: &History, goes_on: &(dyn Fn() -> bool + Sync)) -> Option<(u64, u64)> {
    let writers = writers_by_key(history, goes_on)?;
    let has_times = history.has_times();
    let of_key = |writers: &[(KeyId, TransactionId)]| {
        if !goes_on() {
            return (0, 0);
        }
        let mut found = pairs(history, writers, has_times);
        // Transactions are numbered by session, so those of a session are contiguous.
        let same_session = |a: &(KeyId, TransactionId), b: &(KeyId, TransactionId)| {
            session(history, a) == session(history, b)
        };
        for inside in writers.chunk_by(same_session) {
            let (all, concurrent) = pairs(history, inside, has_times);
            found = (found.0 - all, found.1 - concurrent);
        }
        found
    };
    let keys: Vec<&[(KeyId, TransactionId)]> = writers.chunk_by(|a, b| a.0 == b.0).collect();
    let found = keys
        .par_iter()
        .map(|writers| of_key(writers))
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    goes_on().then_some(found)
}

fn session(history: &History, writer: &(KeyId, TransactionId)) -> SessionId {
    history.session_of(writer.1)
}

/// The writers of each key that did not abort, each once.
fn writers_by_key(
    history: &History,
    goes_on: &dyn Fn() -> bool,
) -> Option<Vec<(KeyId, TransactionId)>> {
    let mut writers = Vec::new();
    let mut last = vec![0usize; history.n_keys()];
    for t in history
        .transactions()
        .filter(|&t| history.outcome(t) != Outcome::Aborted)
    {
        if t.index() % STRIDE == 0 {
            goes_on().then_some(())?;
        }
        let range = history.operation_range(t);
        for o in range
            .clone()
            .filter(|&o| history.kinds()[o] == OperationKind::Write)
        {
            let key = history.keys()[o];
            if std::mem::replace(&mut last[key.index()], o + 1) <= range.start {
                writers.push((key, t));
            }
        }
    }
    writers.par_sort_unstable();
    goes_on().then_some(writers)
}

/// All pairs of these transactions, and those that ran at the same time.
fn pairs(history: &History, writers: &[(KeyId, TransactionId)], has_times: bool) -> (u64, u64) {
    let all = |n: usize| n as u64 * n.saturating_sub(1) as u64 / 2;
    if !has_times || writers.len() < 2 {
        return (all(writers.len()), 0);
    }
    let timed = || {
        writers
            .iter()
            .filter_map(|&(_, t)| history.interval(t).map(|interval| (t, interval)))
    };
    let mut starts: Vec<i64> = timed().map(|(_, interval)| interval.start).collect();
    // The end of a transaction of unknown outcome is not known.
    let end = |t, interval: Interval| {
        if history.outcome(t) == Outcome::Unknown {
            i64::MAX
        } else {
            interval.end
        }
    };
    let mut ends: Vec<i64> = timed().map(|(t, interval)| end(t, interval)).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let mut ended = 0;
    let mut apart = 0;
    for start in &starts {
        ended += ends[ended..].iter().take_while(|end| *end < start).count();
        apart += ended as u64;
    }
    (all(writers.len()), all(starts.len()).saturating_sub(apart))
}

/// Distinct pairs of key and value that were written, and those that several transactions wrote.
fn values(history: &History, goes_on: &dyn Fn() -> bool) -> Option<(usize, usize)> {
    let mut written: Vec<(KeyId, Value, TransactionId)> = history
        .transactions()
        .flat_map(|t| history.operation_range(t).map(move |o| (o, t)))
        .filter(|&(o, _)| history.kinds()[o] == OperationKind::Write)
        .map(|(o, t)| (history.keys()[o], history.values()[o], t))
        .collect();
    goes_on().then_some(())?;
    written.par_sort_unstable();
    goes_on().then_some(())?;
    let same = |a: &(KeyId, Value, TransactionId), b: &(KeyId, Value, TransactionId)| {
        (a.0, a.1) == (b.0, b.1)
    };
    let values = written.chunk_by(same);
    Some(values.fold((0, 0), |(distinct, repeated), writers| {
        let several = writers.first().map(|w| w.2) != writers.last().map(|w| w.2);
        (distinct + 1, repeated + usize::from(several))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::history;

    #[test]
    fn shapes_and_spreads_are_counted() {
        let history = history(
            "a: [r x 1]@0..10 [w x 1, w x 2]@20..30 [r x 1, w x 3]@40..50\n\
             b: [r x 1, w y 3]@0..10\n\
             c: []@0..10",
        );
        let statistics = Statistics::of(&history);
        let expected = Shapes {
            empty: 1,
            read_only: 1,
            write_only: 1,
            read_modify_write: 1,
            mixed: 1,
        };
        assert_eq!(statistics.shapes, expected);
        assert_eq!(
            statistics.transactions_of_session,
            Spread {
                min: 1,
                mean: 5.0 / 3.0,
                max: 3
            }
        );
        assert_eq!(
            statistics.operations_of_transaction,
            Spread {
                min: 0,
                mean: 7.0 / 5.0,
                max: 2
            }
        );
        assert_eq!(
            (statistics.distinct_values, statistics.repeated_values),
            (4, 0)
        );
        assert_eq!(
            statistics.times,
            Some(TimeFigures {
                transactions: 5,
                from: 0,
                to: 50
            })
        );
    }

    #[test]
    fn conflicts_are_pairs_of_sessions_and_concurrent_ones_overlap() {
        let history =
            history("a: [w x 1]@0..10 [w x 1]@20..30\nb: [w x 1]@5..15\nc: [w x 1]@100..110");
        let statistics = Statistics::of(&history);
        // One of six pairs is of one session; only the first and the third run at the same time.
        assert_eq!(
            (
                statistics.write_conflicts,
                statistics.concurrent_write_conflicts
            ),
            (5, Some(1))
        );
        assert_eq!(
            (statistics.distinct_values, statistics.repeated_values),
            (1, 1)
        );
    }

    #[test]
    fn the_exponent_of_a_zipf_distribution_is_found() {
        let uses = |exponent: f64| -> Vec<usize> {
            (1..500)
                .map(|r| (1e6 / f64::from(r).powf(exponent)) as usize)
                .collect()
        };
        for exponent in [0.0, 0.7, 1.0] {
            let found = zipf_exponent(&uses(exponent)).expect("there are many keys");
            assert!((found - exponent).abs() < 0.02, "{found} is not {exponent}");
        }
        assert_eq!(zipf_exponent(&[5, 4, 3]), None);
    }
}
