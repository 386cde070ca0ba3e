//! Figures of a history for plots: how skewed access to keys is, how large transactions are, how many abort, and where
//! anomalies are. Computed off the frame, small enough to draw.

use super::page::Page;
use super::tasks::{Failure, Task};
use super::tree::Catalogue;
use crate::control::sorting::{going, sort_by};
use crate::control::{Control, Interrupt};
use crate::history::{History, Outcome, Statistics, TransactionId};
use crate::jobs;
use std::sync::Arc;

/// Maximum number of points in a plot.
const POINTS: usize = 120;
/// Least number of transactions of which a share is told.
const LEAST: usize = 40;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// As in `stats` on the command line.
    pub statistics: Statistics,
    /// Rank of a key, from 1, and its operations, most used first; a sample if there are many keys.
    pub skew: Vec<(f64, f64)>,
    /// Number of operations and how many transactions have that many; the last also counts all larger ones.
    pub sizes: Vec<(f64, f64)>,
    /// By stretch of the history: position of its middle among all transactions, and the share that aborted, in
    /// percent.
    pub aborted: Vec<(f64, f64)>,
    /// By stretch: the share of unknown outcome.
    pub unknown: Vec<(f64, f64)>,
    /// Whether stretches are of transactions by start time, else by their place in their sessions.
    pub by_time: bool,
    /// By stretch of the history: how many listed anomalies begin there.
    pub anomalies: Vec<(f64, f64)>,
}

/// The figures on their page.
#[derive(Clone, Debug, Default)]
pub struct FiguresView {
    /// The figures, once they were asked for.
    pub figures: Option<Arc<Figures>>,
    /// Whether they include all anomalies.
    pub complete: bool,
}

pub(super) static COUNT: Task<Arc<Figures>> = Task::new(
    "figures",
    Failure::Page(Page::Statistics),
    |app, figures| {
        let Some(document) = &mut app.state.document else {
            return;
        };
        jobs::replace(&mut document.statistics.figures, Some(figures));
    },
);

impl Figures {
    /// Counts. O(operations · log operations).
    pub fn new(
        history: &History,
        catalogue: Option<&Catalogue>,
        control: &Control,
    ) -> Result<Figures, Interrupt> {
        let order = order(history, control)?;
        let n = history.n_transactions();
        let stretch = n.div_ceil(POINTS).max(1);
        let n_stretches = n.div_ceil(stretch);
        let middle = |place: usize| (place as f64 + 0.5) * stretch as f64;
        let share = |outcome: Outcome| -> Vec<(f64, f64)> {
            // A share of few is a comb.
            let stretch = stretch.max(LEAST.min(n / 10));
            let middle = |place: usize| (place as f64 + 0.5) * stretch as f64;
            let mut counts = vec![0_usize; n.div_ceil(stretch)];
            for (place, t) in going(control, order.iter().copied().enumerate()) {
                counts[place / stretch] += usize::from(history.outcome(t) == outcome);
            }
            let percent = |(place, count): (usize, &usize)| {
                let length = stretch.min(n - place * stretch);
                (middle(place), 100.0 * *count as f64 / length as f64)
            };
            counts.iter().enumerate().map(percent).collect()
        };
        let mut begin = vec![0.0; n_stretches];
        if let Some(catalogue) = catalogue {
            let mut place = vec![0; n];
            order
                .iter()
                .enumerate()
                .for_each(|(at, t)| place[t.index()] = at);
            for violation in going(control, &catalogue.findings.violations) {
                let own = violation.transactions.iter().filter(|t| !t.is_initial());
                if let Some(first) = own.map(|t| place[t.index()]).min() {
                    begin[first / stretch] += 1.0;
                }
            }
        }
        let going_on = || control.check().is_ok();
        let statistics = Statistics::of_while(history, &going_on);
        let statistics = statistics.unwrap_or_default();
        let sizes = sizes(history, control);
        control.check()?;
        Ok(Figures {
            skew: skew(&statistics.uses),
            statistics,
            sizes,
            by_time: history.has_times(),
            aborted: share(Outcome::Aborted),
            unknown: share(Outcome::Unknown),
            anomalies: begin
                .into_iter()
                .enumerate()
                .map(|(at, count)| (middle(at), count))
                .collect(),
        })
    }
}

/// The transactions by start if there are times, else by their position in their sessions.
fn order(history: &History, control: &Control) -> Result<Vec<TransactionId>, Interrupt> {
    let mut order: Vec<TransactionId> = history.transactions().collect();
    let start = |t: &TransactionId| history.interval(*t).map(|interval| interval.start);
    if history.has_times() {
        sort_by(&mut order, control, |a, b| start(a).cmp(&start(b)))?
    } else {
        sort_by(&mut order, control, |a, b| {
            history.position_of(*a).cmp(&history.position_of(*b))
        })?
    }
    Ok(order)
}

/// See [`Figures::skew`].
fn skew(uses: &[usize]) -> Vec<(f64, f64)> {
    let step = uses.len().div_ceil(POINTS).max(1);
    (0..uses.len())
        .step_by(step)
        .map(|place| ((place + 1) as f64, uses[place] as f64))
        .collect()
}

fn sizes(history: &History, control: &Control) -> Vec<(f64, f64)> {
    let mut counts = vec![0.0; POINTS + 1];
    for t in going(control, history.transactions()) {
        counts[history.operation_range(t).len().min(POINTS)] += 1.0;
    }
    let last = counts
        .iter()
        .rposition(|count| *count > 0.0)
        .map_or(0, |last| last + 1);
    counts[..last]
        .iter()
        .enumerate()
        .map(|(size, count)| (size as f64, *count))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_counted() {
        let text = "a: [w x 1, w x 2] [w y 1]! [r x 2]\nb: [r x 2] [r y 1]?\n";
        let history = crate::formats::text::parse(text).expect("a history in our notation");
        let figures = Figures::new(&history, None, &Control::new()).expect("nothing stops it");
        assert_eq!(figures.skew, [(1.0, 4.0), (2.0, 2.0)]);
        assert_eq!(figures.sizes, [(0.0, 0.0), (1.0, 4.0), (2.0, 1.0)]);
        let sum: f64 = figures.aborted.iter().map(|(_, share)| share).sum();
        assert_eq!(sum, 100.0, "one transaction is one stretch here");
        assert_eq!(figures.statistics.recorded.transactions, 5);
    }

    #[test]
    fn nothing_is_counted_in_an_empty_history() {
        let history = crate::formats::text::parse("a:\n").expect("a history in our notation");
        let figures = Figures::new(&history, None, &Control::new()).expect("nothing stops it");
        assert!(figures.skew.is_empty() && figures.aborted.is_empty() && figures.sizes.is_empty());
    }
}
