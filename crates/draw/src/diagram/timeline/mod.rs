//! When every transaction ran, for the lanes.
//!
//! A history with times has two axes: the clock, and the clock warped so that nothing is too narrow to see and idle
//! stretches are short (after Porcupine's drawing of histories, where different stamps keep a minimum distance). A
//! history without times has steps instead: a transaction is one step after those that it must follow by session order
//! and by what it read (Lamport's logical clock). Knows no pixels.

mod axis;

pub use axis::{Axis, Span};

use isoscope_model::control::sorting::{going, sort_by};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, MarkPlace, TransactionId};
use isoscope_model::relations::{Glance, Resolution};
use std::collections::VecDeque;

/// Real time and how it is warped.
#[derive(Clone, Debug)]
pub struct Clock {
    /// By true time.
    pub real: Axis,
    /// Every stamp, ascending, as true time since the first and as position on the warped axis.
    stamps: Vec<(f64, f64)>,
    /// The first stamp.
    pub first: i64,
    /// What is counted, if it is not time.
    pub numbers: Option<Numbers>,
}

/// Numbers that the log has for transactions, such as positions in the log of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The name of the field.
    pub name: String,
    /// How many of the last digits of a stamp are behind the point.
    pub decimals: u32,
}

impl Numbers {
    /// A stamp as the log has it.
    pub fn text(&self, stamp: i64) -> String {
        let number = stamp as f64 / 10_f64.powi(self.decimals as i32);
        format!("{number:.*}", self.decimals as usize)
    }
}

impl Clock {
    /// True time since the first stamp, of a position on the warped axis.
    pub fn true_time(&self, warped: f64) -> f64 {
        self.between(warped, |&(time, place)| (place, time))
    }

    /// The position on the warped axis of a true time since the first stamp.
    pub fn warped(&self, time: f64) -> f64 {
        self.between(time, |stamp| *stamp)
    }

    /// The position of a time on the axis of true time, or on the warped one.
    pub fn place(&self, time: i64, true_time: bool) -> f64 {
        let since = time.saturating_sub(self.first) as f64;
        if true_time { since } else { self.warped(since) }
    }

    /// The time of a position on the axis of true time, or on the warped one.
    pub fn time(&self, at: f64, true_time: bool) -> i64 {
        let since = if true_time { at } else { self.true_time(at) };
        self.first.saturating_add(since.round() as i64)
    }

    /// What corresponds to `value` between two stamps, each of which is a value and what corresponds to it.
    fn between(&self, value: f64, stamp: impl Fn(&(f64, f64)) -> (f64, f64)) -> f64 {
        let at = self.stamps.partition_point(|other| stamp(other).0 < value);
        let before = at.checked_sub(1).and_then(|before| self.stamps.get(before));
        match (before.map(&stamp), self.stamps.get(at).map(&stamp)) {
            (Some(a), Some(b)) => a.1 + (b.1 - a.1) * ((value - a.0) / (b.0 - a.0)),
            (None, Some(only)) | (Some(only), None) => only.1,
            (None, None) => 0.0,
        }
    }

    /// Stretches of the warped axis between `from` and `to` in which much more time passes than is drawn; none if there
    /// are so many stamps that they could not be distinguished.
    pub fn cuts(&self, from: f64, to: f64) -> Vec<f64> {
        let first = self
            .stamps
            .partition_point(|(_, place)| *place < from)
            .saturating_sub(1);
        let end = self.stamps.partition_point(|(_, place)| *place <= to) + 1;
        let visible = self
            .stamps
            .get(first..end.min(self.stamps.len()))
            .unwrap_or_default();
        if visible.len() > MOST_STAMPS {
            return Vec::new();
        }
        let long = visible.windows(2);
        let is_cut = |pair: &&[(f64, f64)]| pair[1].1 - pair[0].1 >= WIDEST;
        long.filter(is_cut)
            .map(|pair| (pair[0].1 + pair[1].1) / 2.0)
            .collect()
    }
}

/// When every transaction ran.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Warped time, or logical steps.
    pub steps: Axis,
    /// Whether the steps are the places of an order, from 1.
    pub is_order: bool,
    /// The clock, if there are times.
    pub clock: Option<Clock>,
}

impl Timeline {
    /// The axis with times as they were, or the one that is shown otherwise.
    pub fn axis(&self, true_time: bool) -> &Axis {
        self.clock
            .as_ref()
            .filter(|_| true_time)
            .map_or(&self.steps, |clock| &clock.real)
    }

    /// What the log has for a transaction, if this is about other numbers than time: `lsn 17`.
    pub fn number_of(&self, transaction: TransactionId) -> Option<String> {
        let clock = self.clock.as_ref()?;
        let numbers = clock.numbers.as_ref()?;
        let stamp = clock.time(clock.real.span(transaction)?.from, true);
        Some(format!("{} {}", numbers.name, numbers.text(stamp)))
    }

    /// Whether it has a clock, not other numbers.
    pub fn has_times(&self) -> bool {
        let clock = self.clock.as_ref();
        clock.is_some_and(|clock| clock.numbers.is_none())
    }

    /// Where a marked place is on an axis; none if the history has no such place.
    pub fn extent(&self, place: &MarkPlace, history: &History, true_time: bool) -> Option<Span> {
        let of = |t: Option<TransactionId>| self.axis(true_time).span(t?);
        match place {
            MarkPlace::Transaction(named) => of(named.id(history)),
            MarkPlace::Between(from, to) => {
                let (from, to) = (of(from.id(history))?, of(to.id(history))?);
                Some(Span {
                    from: from.from.min(to.from),
                    to: from.to.max(to.to),
                })
            }
            MarkPlace::Time(from, to) => {
                let clock = self.clock.as_ref()?;
                let at = |time: i64| clock.place(time, true_time);
                Some(Span {
                    from: at(*from),
                    to: at(*to),
                })
            }
        }
    }
}

/// Maximum number of decimal digits of numbers.
const MOST_DECIMALS: u32 = 6;
/// Maximum number of visible stamps among which cuts are shown.
const MOST_STAMPS: usize = 5000;
/// No two stamps are further apart than this on the warped axis.
const WIDEST: f64 = 5.0;

impl Timeline {
    /// O(operations · log transactions), with times O(transactions · log).
    pub fn new(
        history: &History,
        resolution: Option<&Resolution>,
        control: &Control,
    ) -> Result<Timeline, Interrupt> {
        if history.has_times() {
            return Timeline::by_clock(history, intervals(history, control)?, None, control);
        }
        let spans = logical(history, resolution, control)?;
        Ok(Timeline {
            steps: Axis::new(history, spans, control)?,
            is_order: false,
            clock: None,
        })
    }

    /// An order of the transactions of a history: by transaction, where it begins and ends, as places in the order.
    pub fn of_order(
        history: &History,
        spans: Vec<Span>,
        control: &Control,
    ) -> Result<Timeline, Interrupt> {
        Ok(Timeline {
            steps: Axis::new(history, spans, control)?,
            is_order: true,
            clock: None,
        })
    }

    /// By a number of each transaction, by place; those without one follow the one before them in their session.
    /// O(transactions · log transactions).
    pub fn of_numbers(
        history: &History,
        name: &str,
        values: &[Option<f64>],
        control: &Control,
    ) -> Result<Timeline, Interrupt> {
        let is_whole = |decimals: &u32| {
            let scale = 10_f64.powi(*decimals as i32);
            let mut known = values.iter().flatten();
            known.all(|value| (value * scale).fract() == 0.0)
        };
        let decimals = (0..MOST_DECIMALS).find(is_whole).unwrap_or(MOST_DECIMALS);
        let stamp = |value: f64| (value * 10_f64.powi(decimals as i32)).round() as i64;
        let first = values.iter().flatten().copied().map(stamp).min();
        let mut times = Vec::with_capacity(values.len());
        for session in history.sessions() {
            let mut last = first.unwrap_or_default();
            for t in going(control, history.transactions_of(session)) {
                let value = values.get(t.index()).copied().flatten();
                last = value.map_or(last, stamp);
                times.push((last, last));
            }
            control.check()?;
        }
        let numbers = Numbers {
            name: name.to_owned(),
            decimals,
        };
        Timeline::by_clock(history, times, Some(numbers), control)
    }

    /// By the start and the end of every transaction.
    fn by_clock(
        history: &History,
        times: Vec<(i64, i64)>,
        numbers: Option<Numbers>,
        control: &Control,
    ) -> Result<Timeline, Interrupt> {
        let mut stamps: Vec<i64> = going(control, &times)
            .flat_map(|(start, end)| [*start, *end])
            .collect();
        sort_by(&mut stamps, control, i64::cmp)?;
        stamps.dedup();
        let first = stamps.first().copied().unwrap_or(0);
        let mut ways: Vec<i64> = going(control, stamps.windows(2))
            .map(|pair| pair[1].saturating_sub(pair[0]))
            .collect();
        let middle = ways.len() / 2;
        let usual = if ways.is_empty() {
            1
        } else {
            *ways.select_nth_unstable(middle).1
        };
        let usual = usual.max(1) as f64;
        drop(ways);
        let mut warped = Vec::with_capacity(stamps.len());
        let (mut place, mut before) = (0.0, first);
        for &stamp in going(control, &stamps) {
            if stamp != before {
                // The usual distance is one step, ten times that are a little more than three.
                place += (1.0 + (stamp - before) as f64 / usual)
                    .log2()
                    .clamp(0.6, WIDEST);
            }
            before = stamp;
            warped.push((stamp.saturating_sub(first) as f64, place));
        }
        control.check()?;
        let place_of = |stamp: i64| warped[stamps.partition_point(|other| *other < stamp)].1;
        let span = |from: f64, to: f64| Span {
            from,
            to: to.max(from + 0.3),
        };
        let bent = going(control, &times)
            .map(|(start, end)| span(place_of(*start), place_of(*end)))
            .collect();
        control.check()?;
        let length = warped.last().map_or(1.0, |(time, _)| *time).max(1.0);
        let least = length / 1e7;
        let since = |stamp: i64| stamp.saturating_sub(first) as f64;
        let real = |(start, end): &(i64, i64)| Span {
            from: since(*start),
            to: since(*end).max(since(*start) + least),
        };
        let real = going(control, &times).map(real).collect();
        control.check()?;
        let real = Axis::new(history, real, control)?;
        let steps = Axis::new(history, bent, control)?;
        Ok(Timeline {
            steps,
            is_order: false,
            clock: Some(Clock {
                real,
                stamps: warped,
                first,
                numbers,
            }),
        })
    }
}

/// Start and end of every transaction; if the file does not say, right after the previous one in its session.
fn intervals(history: &History, control: &Control) -> Result<Vec<(i64, i64)>, Interrupt> {
    let starts = going(control, history.transactions())
        .filter_map(|t| history.interval(t))
        .map(|i| i.start);
    let earliest = starts.min().unwrap_or(0);
    let mut times = Vec::with_capacity(history.n_transactions());
    for session in history.sessions() {
        let mut last = earliest;
        for t in going(control, history.transactions_of(session)) {
            let time = history
                .interval(t)
                .map_or((last, last), |i| (i.start, i.end.max(i.start)));
            last = time.1;
            times.push(time);
        }
        control.check()?;
    }
    Ok(times)
}

/// One step after everything that a transaction follows. A cycle is started at its first transaction.
fn logical(
    history: &History,
    resolution: Option<&Resolution>,
    control: &Control,
) -> Result<Vec<Span>, Interrupt> {
    let n = history.n_transactions();
    let mut before: Vec<u32> = vec![0; n];
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut follow = |from: TransactionId, to: TransactionId| {
        if from != to && !from.is_initial() {
            edges.push((from.index() as u32, to.index() as u32));
        }
    };
    for session in history.sessions() {
        let mut last = None;
        for (n, t) in history.transactions_of(session).enumerate() {
            if n % 256 == 0 {
                control.check()?;
            }
            if let Some(last) = last.replace(t) {
                follow(last, t);
            }
            let Some(resolution) = resolution else {
                continue;
            };
            for operation in history.operations_of(t) {
                if let Glance::Write(write) = resolution.glance(operation) {
                    follow(history.transaction_of(write), t);
                }
            }
        }
    }
    sort_by(&mut edges, control, Ord::cmp)?;
    edges.dedup();
    edges.iter().for_each(|(_, to)| before[*to as usize] += 1);
    let mut level = vec![0_u32; n];
    let mut done = vec![false; n];
    let mut ready: VecDeque<usize> = (0..n).filter(|t| before[*t] == 0).collect();
    let (mut first_open, mut n_done) = (0, 0_usize);
    loop {
        while let Some(t) = ready.pop_front() {
            n_done += 1;
            if n_done % 4096 == 0 {
                control.check()?;
            }
            if std::mem::replace(&mut done[t], true) {
                continue;
            }
            let begin = edges.partition_point(|(from, _)| (*from as usize) < t);
            for (_, to) in edges[begin..]
                .iter()
                .take_while(|(from, _)| *from as usize == t)
            {
                let to = *to as usize;
                if !done[to] {
                    level[to] = level[to].max(level[t] + 1);
                    before[to] -= 1;
                    if before[to] == 0 {
                        ready.push_back(to);
                    }
                }
            }
        }
        control.check()?;
        match (first_open..n).find(|t| !done[*t]) {
            Some(t) => {
                first_open = t;
                ready.push_back(t);
            }
            None => break,
        }
    }
    Ok(level
        .into_iter()
        .map(|level| Span {
            from: f64::from(level),
            to: f64::from(level) + 0.82,
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_model::relations;

    fn timeline(text: &str) -> (History, Timeline) {
        let history = isoscope_formats::text::parse(text).expect("a history in our notation");
        let resolution = relations::resolve(&history, &Control::new()).expect("nothing stops it");
        let timeline =
            Timeline::new(&history, Some(&resolution), &Control::new()).expect("nothing stops it");
        (history, timeline)
    }

    #[test]
    fn steps_follow_sessions_and_reads() {
        let (history, timeline) = timeline("a: [w x 1] [w x 2]\nb: [w y 1] [r x 2]\n");
        let from: Vec<f64> = history
            .transactions()
            .filter_map(|t| timeline.steps.span(t))
            .map(|s| s.from)
            .collect();
        assert_eq!(from, [0.0, 1.0, 0.0, 2.0]);
        assert!(timeline.clock.is_none());
    }

    #[test]
    fn circles_have_steps_too() {
        let (history, timeline) = timeline("a: [r y 1] [w x 1]\nb: [r x 1] [w y 1]\n");
        let spans: Vec<Span> = history
            .transactions()
            .filter_map(|t| timeline.steps.span(t))
            .collect();
        assert!(spans[0].from < spans[1].from && spans[2].from < spans[3].from);
    }

    #[test]
    fn what_is_too_narrow_is_merged() {
        let (_, timeline) = timeline("a: [w x 1] [w x 2] [w x 3] [w x 4]\n");
        let pieces = |grain| {
            let mut pieces = Vec::new();
            timeline
                .steps
                .visible(0, 0.0, 10.0, grain, |_, _, n| pieces.push(n));
            pieces
        };
        assert_eq!(pieces(0.1), [1, 1, 1, 1]);
        assert_eq!(pieces(2.0), [2, 2]);
        let mut seen = Vec::new();
        timeline
            .steps
            .visible(0, 1.9, 2.1, 0.1, |_, span, _| seen.push(span.from));
        assert_eq!(seen, [2.0]);
    }
}
