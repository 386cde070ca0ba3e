//! Which levels a counterexample breaks on each order, and which order makes the difference.
//!
//! All levels that apply are decided on the small history. If its level is broken and the same level on a weaker order
//! holds, what the argument uses of the order is taken away piece by piece, and the level is decided again: a session is
//! split in two, or a transaction is moved in time so that it no longer begins after another one had ended, and nothing
//! else changes. If the level holds then, this piece alone makes the difference.

use super::Counterexample;
use isoscope_check::checkers::lattice::strongest;
use isoscope_check::checkers::{
    self, Cause, CountedOrder, Findings, Level, LevelSet, Options, Verdict,
};
use isoscope_model::control::Control;
use isoscope_model::history::{History, Interval, Outcome, TransactionId};
use isoscope_model::relations::{EdgeIndex, Relation, has_real_time, set_up_transactions};
use std::collections::BTreeSet;
use std::time::Duration;

/// Parts with more transactions are not decided at all levels.
const MOST: usize = 40;

/// Nor are those for which that would take longer.
const TIME: Duration = Duration::from_secs(2);

/// What a counterexample satisfies and breaks on every order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// Levels that it satisfies. All three sets are empty if the part is too large, or takes too long.
    pub held: LevelSet,
    /// Levels that it breaks.
    pub broken: LevelSet,
    /// Levels that apply and are undecided.
    pub open: LevelSet,
    /// Broken levels without a plain form (the guarantees of sessions) that are broken even if each transaction has a session
    /// of its own.
    pub without_sessions: LevelSet,
    /// The order that makes the difference, if one does.
    pub difference: Option<Difference>,
}

/// An order without which a level holds that is broken with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The level. If that of the counterexample is broken even without real time, it is the one without it.
    pub level: Level,
    /// What makes the difference: sessions, or one of the three ways in which real time counts.
    pub order: CountedOrder,
    /// The strongest levels that hold without the order.
    pub without: Vec<Level>,
    /// Pieces of the order, each with its earlier transaction first: without any one of them the level holds. For
    /// sessions these are neighbours in the small history. Empty if it takes several pieces, or if one could not be taken
    /// away alone.
    pub needed: Vec<(TransactionId, TransactionId)>,
}

impl Orders {
    /// The broken levels that imply no other broken one, weakest first.
    pub fn weakest_broken(&self) -> Vec<Level> {
        let is_weakest = |level: &Level| {
            !self
                .broken
                .without(*level)
                .iter()
                .any(|other| level.implies(other))
        };
        self.broken.iter().filter(is_weakest).collect()
    }

    /// The undecided levels that might be among those.
    pub fn perhaps_weakest(&self) -> Vec<Level> {
        self.open
            .iter()
            .filter(|level| !self.broken.iter().any(|other| level.implies(other)))
            .collect()
    }
}

/// Decides all levels on a counterexample, and which order makes the difference. O(1) small checks, and one for each piece
/// of an order that the argument uses; two seconds at most.
pub(super) fn orders(example: &Counterexample, control: &Control) -> Orders {
    let history = &example.history;
    let control = control.overtime().with_time_limit(TIME);
    if history.n_transactions() > MOST {
        return Orders::default();
    }
    let usual = Level::of(history);
    let applies = |level: &Level| match level {
        Level::Linearizability => usual.contains(level),
        _ => level.is_told_apart(history) && (!level.counts_real_time() || has_real_time(history)),
    };
    let findings = decide(
        history,
        Level::EVERY.into_iter().filter(applies).collect(),
        &control,
    );
    let is = |wanted: fn(&Verdict) -> bool| -> LevelSet {
        findings
            .levels
            .iter()
            .filter(|result| wanted(&result.verdict))
            .map(|result| result.level)
            .collect()
    };
    let was_stopped = is(|verdict| matches!(verdict, Verdict::Undecided(Cause::Interrupted(_))))
        .weakest()
        .is_some();
    let orders = Orders {
        held: is(|verdict| matches!(verdict, Verdict::Satisfied(_))),
        broken: is(|verdict| *verdict == Verdict::Violated),
        open: is(|verdict| matches!(verdict, Verdict::Undecided(_))),
        ..Orders::default()
    };
    if was_stopped || !orders.broken.contains(example.level) {
        return Orders::default();
    }
    let search = OrderDifference {
        example,
        orders: &orders,
        control: &control,
    };
    let (without_sessions, difference) = (search.broken_without_sessions(), search.difference());
    Orders {
        without_sessions,
        difference,
        ..orders
    }
}

impl Counterexample {
    /// The edges that are a piece of an order that makes the difference by itself.
    pub fn edges_needed(&self, orders: &Orders) -> Vec<EdgeIndex> {
        let Some(Difference { order, needed, .. }) = &orders.difference else {
            return Vec::new();
        };
        let relation = if *order == CountedOrder::Session {
            Relation::SessionOrder
        } else {
            Relation::RealTime
        };
        let edges = self.violation.edges.iter().enumerate();
        let is_needed =
            edges.filter(|(_, e)| e.relation == relation && needed.contains(&(e.from, e.to)));
        is_needed.map(|(index, _)| index).collect()
    }
}

fn decide(history: &History, levels: Vec<Level>, control: &Control) -> Findings {
    let options = Options {
        levels,
        max_instances: 0,
        counts: false,
    };
    checkers::check(history, &options, control, &|_| {})
}

struct OrderDifference<'a> {
    example: &'a Counterexample,
    orders: &'a Orders,
    control: &'a Control,
}

impl OrderDifference<'_> {
    fn broken_without_sessions(&self) -> LevelSet {
        let counts_sessions = |level: &Level| level.row().order == CountedOrder::Session;
        let broken = self.orders.broken.iter().filter(counts_sessions);
        let broken: Vec<Level> = broken
            .filter(|level| level.plain_form().is_none())
            .collect();
        let findings = decide(&self.split(None), broken, self.control);
        let violated = findings
            .levels
            .iter()
            .filter(|result| result.verdict == Verdict::Violated);
        violated.map(|result| result.level).collect()
    }

    fn difference(&self) -> Option<Difference> {
        let levels = [
            Some(self.example.level),
            self.example.level.without_real_time(),
        ];
        levels
            .into_iter()
            .flatten()
            .find_map(|level| self.of_level(level))
    }

    /// Whether what a level counts makes the difference.
    fn of_level(&self, level: Level) -> Option<Difference> {
        let order = level.row().order;
        let without = self.without(level)?;
        let mut needed: Vec<(TransactionId, TransactionId)> = match order {
            CountedOrder::Session => self
                .session_steps()
                .filter(|step| self.holds(&self.split(Some(*step)), level))
                .collect(),
            _ => self
                .steps_in_time(order)
                .filter(|step| self.holds_in_other_time(level, *step))
                .collect(),
        };
        needed.dedup();
        Some(Difference {
            level,
            order,
            without,
            needed,
        })
    }

    /// The strongest levels that hold without the order that a level counts, if the level itself does.
    fn without(&self, level: Level) -> Option<Vec<Level>> {
        let Orders { held, broken, .. } = self.orders;
        let without_times = level.without_real_time();
        let weaker = match level.row().order {
            _ if !broken.contains(level) => None,
            CountedOrder::Plain => None,
            // Without sessions a guarantee of sessions is more than this one, or the same.
            CountedOrder::Session if level.plain_form().is_none() => self
                .holds(&self.split(None), level)
                .then_some(Level::PlainAdyaReadCommitted),
            CountedOrder::Session => level.plain_form(),
            // What is linearizable but for real time is serializable.
            CountedOrder::RealTime if level == Level::Linearizability => {
                Some(Level::Serializability)
            }
            CountedOrder::RealTime => without_times,
            CountedOrder::KeyRealTime | CountedOrder::CommitRealTime => {
                without_times.and_then(Level::plain_form)
            }
        };
        let weaker = weaker.filter(|weaker| held.contains(*weaker))?;
        let counts_less = |other: &Level| match level.row().order {
            CountedOrder::Session => other.row().order == CountedOrder::Plain,
            _ => !other.counts_real_time(),
        };
        Some(strongest(
            held.iter()
                .filter(|other| counts_less(other) && other.implies(weaker)),
        ))
    }

    /// Neighbours of a session that the argument uses the order of.
    fn session_steps(&self) -> impl Iterator<Item = (TransactionId, TransactionId)> + '_ {
        let history = &self.example.history;
        let is_used = |earlier: TransactionId, later: TransactionId| {
            let mut edges = self.example.violation.edges.iter();
            edges.any(|edge| {
                let is_of_session = !edge.from.is_initial()
                    && !edge.to.is_initial()
                    && history.session_of(edge.from) == history.session_of(later)
                    && history.session_of(edge.to) == history.session_of(later);
                is_of_session && edge.from <= earlier && later <= edge.to
            })
        };
        let neighbours = history.transactions().zip(history.transactions().skip(1));
        let are_of_one = |(a, b): &(TransactionId, TransactionId)| {
            history.session_of(*a) == history.session_of(*b)
        };
        neighbours
            .filter(are_of_one)
            .filter(move |&(earlier, later)| is_used(earlier, later))
    }

    /// The history with a session split between two neighbours, or else with a session for each transaction.
    fn split(&self, at: Option<(TransactionId, TransactionId)>) -> History {
        let history = &self.example.history;
        let begins = |t: TransactionId| at.is_none_or(|(_, later)| t == later);
        history.with_sessions_split(&set_up_transactions(history), begins)
    }

    /// Pairs of which the argument uses that one transaction had ended before the other began, unless a session orders them.
    fn steps_in_time(
        &self,
        order: CountedOrder,
    ) -> impl Iterator<Item = (TransactionId, TransactionId)> + '_ {
        let edges = self
            .example
            .violation
            .edges
            .iter()
            .filter(|edge| edge.relation == Relation::RealTime);
        let pairs: BTreeSet<(TransactionId, TransactionId)> =
            edges.map(|edge| (edge.from, edge.to)).collect();
        pairs.into_iter().filter(move |&(a, b)| {
            !a.is_initial() && !b.is_initial() && !is_in_session(&self.example.history, order, a, b)
        })
    }

    /// Whether a level holds if one transaction had not ended when another one began, and all else was as it is.
    fn holds_in_other_time(
        &self,
        level: Level,
        (earlier, later): (TransactionId, TransactionId),
    ) -> bool {
        let history = &self.example.history;
        let (Some(first), Some(then)) = (history.interval(earlier), history.interval(later)) else {
            return false;
        };
        let moved = [
            (
                later,
                Interval {
                    start: first.end,
                    ..then
                },
            ),
            (
                earlier,
                Interval {
                    end: then.start,
                    ..first
                },
            ),
        ];
        let mut moved = moved
            .into_iter()
            .map(|(t, interval)| history.with_time_of(t, interval));
        let mut rest = in_time(history, level);
        rest.remove(&(earlier, later));
        moved.any(|moved| in_time(&moved, level) == rest && self.holds(&moved, level))
    }

    fn holds(&self, history: &History, level: Level) -> bool {
        let findings = decide(history, vec![level], self.control);
        findings
            .level(level)
            .is_some_and(|result| matches!(result.verdict, Verdict::Satisfied(_)))
    }
}

/// All pairs of which one had ended before the other began, as far as only that orders them at a level.
fn in_time(history: &History, level: Level) -> BTreeSet<(TransactionId, TransactionId)> {
    let order = level.row().order;
    let share_key = |a, b| {
        history
            .keys_used_by(a)
            .any(|key| history.keys_used_by(b).any(|other| other == key))
    };
    let counts = |a: TransactionId, b: TransactionId| {
        let (Some(first), Some(then)) = (history.interval(a), history.interval(b)) else {
            return false;
        };
        history.outcome(a) != Outcome::Unknown
            && first.end < then.start
            && !is_in_session(history, order, a, b)
            && (order != CountedOrder::KeyRealTime || share_key(a, b))
    };
    let pairs = history
        .transactions()
        .flat_map(|a| history.transactions().map(move |b| (a, b)));
    pairs.filter(|&(a, b)| counts(a, b)).collect()
}

/// Whether a session orders two transactions, where sessions count.
fn is_in_session(
    history: &History,
    order: CountedOrder,
    a: TransactionId,
    b: TransactionId,
) -> bool {
    order == CountedOrder::RealTime && history.session_of(a) == history.session_of(b)
}
