//! Which levels a counterexample breaks on which order, and which order makes the difference.

use super::words::Words;
use crate::counterexample::orders::{Difference, Orders};
use isoscope_check::checkers::{CountedOrder, Level};
use isoscope_model::history::{History, SessionId, TransactionId};
use isoscope_model::relations::{Edge, Relation};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of undecided levels named one by one.
const MOST_OPEN: usize = 3;

/// Maximum number of broken levels named in full.
const MOST_NAMED: usize = 3;

/// Maximum number of steps of an order that the argument has, where it is not known which of them it needs.
const MOST_USED: usize = 3;

type Pair = (TransactionId, TransactionId);

/// "Of all levels, the weakest that these operations violate: without session order P-TCC and P-MV, with it also writes follow reads (WFR)."
/// None if that is not known, or says no more than that they break those `known`.
pub(in crate::counterexample) fn weakest(
    history: &History,
    orders: &Orders,
    known: &[Level],
) -> Option<String> {
    let weakest = orders.weakest_broken();
    let form = |level: &Level| level.plain_of().unwrap_or(*level);
    if weakest.iter().all(|level| known.contains(&form(level))) {
        return None;
    }
    let order = |level: &Level| {
        if orders.without_sessions.contains(*level) {
            CountedOrder::Plain
        } else {
            level.row().order
        }
    };
    let of = |wanted: fn(CountedOrder) -> bool| -> Vec<Level> {
        weakest
            .iter()
            .copied()
            .filter(|level| wanted(order(level)))
            .collect()
    };
    let plain = of(|order| order == CountedOrder::Plain);
    let session = of(|order| order == CountedOrder::Session);
    let timed = of(|order| !matches!(order, CountedOrder::Plain | CountedOrder::Session));
    let said = match (plain.as_slice(), session.as_slice(), timed.as_slice()) {
        ([], [], []) => return None,
        // Where no session has two transactions, there is no session order.
        (_, _, []) if !shares_session(history) => {
            format!(": {}", named(&[plain, session].concat()))
        }
        (plain, [], []) => format!(", even without session order: {}", named(plain)),
        ([], session, []) => format!(": {}; none without session order", named(session)),
        ([], [], timed) => format!(": {}; none without real time", named(timed)),
        ([], session, timed) => {
            format!(
                ": with session order {}, in real time also {}; none without either",
                named(session),
                named(timed)
            )
        }
        (plain, session, timed) => {
            let with = (!session.is_empty()).then(|| format!(", with it also {}", named(session)));
            let in_time =
                (!timed.is_empty()).then(|| format!(", in real time also {}", named(timed)));
            let [with, in_time] = [with, in_time].map(Option::unwrap_or_default);
            format!(": without session order {}{with}{in_time}", named(plain))
        }
    };
    let open = orders.perhaps_weakest();
    let open = match open.len() {
        0 => String::new(),
        n if n > MOST_OPEN => format!("; {n} levels are undecided"),
        _ => format!("; undecided: {}", codes(&open)),
    };
    let these = if history.n_operations() == 1 {
        "this operation violates"
    } else {
        "these operations violate"
    };
    Some(format!(
        "Of all levels, the weakest that {these}{said}{open}."
    ))
}

/// "plain snapshot isolation (P-SI, Elle's :snapshot-isolation)", or the codes of several levels.
fn named(levels: &[Level]) -> String {
    match levels {
        [level] => in_full(level),
        _ if levels.len() <= MOST_NAMED => Words::list(
            &levels
                .iter()
                .map(|level| format!("{} ({level})", level.spoken()))
                .collect::<Vec<String>>(),
        )
        .into(),
        _ => codes(levels),
    }
}

fn codes(levels: &[Level]) -> String {
    Words::list(levels).into()
}

fn shares_session(history: &History) -> bool {
    history
        .sessions()
        .any(|session| history.transactions_of(session).len() > 1)
}

/// "What counts is the order T1 before T2 in session s1: without it, read atomic holds. Without session order, they satisfy
/// plain serializability (P-SER, Elle's :serializable)."
pub(in crate::counterexample) fn difference(words: &Words<'_>, difference: &Difference) -> String {
    let by_sessions = difference.order == CountedOrder::Session;
    let what = match difference.order {
        CountedOrder::Session => "session order",
        CountedOrder::KeyRealTime => "real time between transactions with a key in common",
        CountedOrder::CommitRealTime => "the order of commits in real time",
        _ => "real time",
    };
    let held: Vec<String> = difference.without.iter().map(in_full).collect();
    let held = format!("Without {what}, they satisfy {}.", held.join(" and "));
    let level = difference.level.spoken();
    let of = |steps: &[Pair]| {
        if by_sessions {
            in_sessions(words.history, steps)
        } else {
            in_time(words, steps)
        }
    };
    let order = if by_sessions { "the order " } else { "that " };
    let needed = match difference.needed.as_slice() {
        [] => match used(words, difference.order) {
            used if used.is_empty() || used.len() > MOST_USED => String::new(),
            used => format!("The argument uses {order}{}. ", of(&used)),
        },
        [step] => format!(
            "What counts is {order}{}: without it, {level} holds. ",
            of(&[*step])
        ),
        steps => format!(
            "All of these are needed: {}. Without any one of them, {level} holds. ",
            of(steps)
        ),
    };
    needed + &held
}

/// What the answer to an edge adds if it makes the difference.
pub(in crate::counterexample) fn makes_difference(difference: &Difference) -> String {
    format!(" Without this, {} would hold.", difference.level.spoken())
}

/// "plain serializability (P-SER, Elle's :serializable)".
fn in_full(level: &Level) -> String {
    let by_elle = level
        .row()
        .elle
        .first()
        .map(|keyword| format!(", Elle's :{keyword}"))
        .unwrap_or_default();
    format!("{} ({}{by_elle})", level.spoken(), level.code())
}

/// The pairs of an order that the argument has edges for.
fn used(words: &Words<'_>, order: CountedOrder) -> Vec<Pair> {
    let relation = if order == CountedOrder::Session {
        Relation::SessionOrder
    } else {
        Relation::RealTime
    };
    let is_used = |edge: &&Edge| {
        edge.relation == relation && !edge.from.is_initial() && !edge.to.is_initial()
    };
    let pairs: BTreeSet<Pair> = words
        .edges
        .iter()
        .filter(is_used)
        .map(|edge| (edge.from, edge.to))
        .collect();
    pairs.into_iter().collect()
}

/// "T1 before T2 before T3 in session s1 and T4 before T5 in session s2".
fn in_sessions(history: &History, pairs: &[Pair]) -> String {
    let mut by_session: BTreeMap<SessionId, Vec<Vec<TransactionId>>> = BTreeMap::new();
    let mut pairs = pairs.to_vec();
    pairs.sort_unstable();
    for (earlier, later) in pairs {
        let chains = by_session.entry(history.session_of(earlier)).or_default();
        match chains
            .iter_mut()
            .find(|chain| chain.last() == Some(&earlier))
        {
            Some(chain) => chain.push(later),
            None => chains.push(vec![earlier, later]),
        }
    }
    let chain = |chain: &Vec<TransactionId>| {
        let names: Vec<String> = chain
            .iter()
            .map(|&t| history.transaction_name(t).to_string())
            .collect();
        names.join(" before ")
    };
    let of_session = |(session, chains): (SessionId, Vec<Vec<TransactionId>>)| {
        let chains: Vec<String> = chains.iter().map(chain).collect();
        format!(
            "{} in session {}",
            Words::list(&chains),
            history.session_and_node(session)
        )
    };
    Words::list(
        &by_session
            .into_iter()
            .map(of_session)
            .collect::<Vec<String>>(),
    )
    .into()
}

/// "T1 had ended (at time 5) before T2 began (at time 7)".
fn in_time(words: &Words<'_>, pairs: &[Pair]) -> String {
    let at = |time: Option<i64>| {
        time.map(|time| format!(" (at {})", words.time(time)))
            .unwrap_or_default()
    };
    let said = |&(earlier, later): &Pair| {
        let [ended, began] = [
            words.history.interval(earlier).map(|i| i.end),
            words.history.interval(later).map(|i| i.start),
        ];
        let [first, then] = [earlier, later].map(|t| words.transaction(t));
        format!(
            "{first} had ended{} before {then} began{}",
            at(ended),
            at(began)
        )
    };
    pairs.iter().map(said).collect::<Vec<String>>().join("; ")
}
