//! Orders of components, as reports give them, joined into one order of the history.

use super::{OrderEntry, SessionName, TransactionEntry};
use isoscope_model::graph::{Digraph, topological_order};
use rustc_hash::FxHashMap;

/// A commit order, and for PC and SI the number of commits before each one's start.
pub(super) type Joined = (Vec<TransactionEntry>, Option<Vec<u32>>);

/// The transactions of all orders, each once, in an order that respects them and session order. `None` if there is none
/// or an entry lacks its session. O(length of the orders, and sorting sessions).
pub(super) fn join(orders: &[&OrderEntry]) -> Option<Joined> {
    let split = orders.iter().any(|order| order.snapshots.is_some());
    let steps = if split { 2 } else { 1 };
    let mut numbers = Numbers::default();
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for order in orders {
        let transactions = order
            .witness
            .iter()
            .map(|entry| numbers.of(entry))
            .collect::<Option<Vec<u32>>>()?;
        let chain = if split {
            events(&transactions, order.snapshots.as_deref()?)?
        } else {
            transactions
        };
        edges.extend(chain.windows(2).map(|pair| (pair[0], pair[1])));
    }
    let n = numbers.entries.len() as u32;
    if split {
        edges.extend((0..n).map(|t| (2 * t, 2 * t + 1)));
    }
    for session in &mut numbers.sessions {
        session.sort_unstable();
        edges.extend(
            session
                .windows(2)
                .map(|pair| (steps * pair[0].1 + steps - 1, steps * pair[1].1)),
        );
    }
    let order = topological_order(&Digraph::new((steps * n) as usize, edges.iter().copied()))?;
    Some(if split {
        numbers.commits(&order)
    } else {
        (
            order
                .into_iter()
                .map(|t| numbers.entries[t as usize].clone())
                .collect(),
            None,
        )
    })
}

/// Starts (2t) and commits (2t + 1) in order. `None` if the lists differ in length or a start comes too late.
fn events(transactions: &[u32], snapshots: &[u32]) -> Option<Vec<u32>> {
    if transactions.len() != snapshots.len() {
        return None;
    }
    let mut starts: Vec<(u32, u32)> = snapshots
        .iter()
        .copied()
        .zip(transactions.iter().copied())
        .collect();
    starts.sort_by_key(|&(snapshot, _)| snapshot);
    let mut events = Vec::with_capacity(2 * transactions.len());
    let mut next = starts.into_iter().peekable();
    for (commits, &t) in (0..).zip(transactions) {
        while let Some((_, start)) = next.next_if(|&(snapshot, _)| snapshot <= commits) {
            events.push(2 * start);
        }
        events.push(2 * t + 1);
    }
    next.next().is_none().then_some(events)
}

/// Transactions by number.
#[derive(Default)]
struct Numbers<'a> {
    of_place: FxHashMap<(&'a SessionName, usize), u32>,
    entries: Vec<&'a TransactionEntry>,
    of_session: FxHashMap<&'a SessionName, usize>,
    /// By session: positions and numbers of its transactions.
    sessions: Vec<Vec<(usize, u32)>>,
}

impl<'a> Numbers<'a> {
    fn of(&mut self, entry: &'a TransactionEntry) -> Option<u32> {
        let (session, index) = (entry.session.as_ref()?, entry.index?);
        let new = self.entries.len() as u32;
        let number = *self.of_place.entry((session, index)).or_insert(new);
        if number == new {
            self.entries.push(entry);
            let n_sessions = self.sessions.len();
            let place = *self.of_session.entry(session).or_insert(n_sessions);
            if place == n_sessions {
                self.sessions.push(Vec::new());
            }
            self.sessions[place].push((index, number));
        }
        Some(number)
    }

    /// An order of starts and commits as a list of commits with snapshots.
    fn commits(&self, events: &[u32]) -> Joined {
        let mut snapshot = vec![0; self.entries.len()];
        let (mut order, mut snapshots) = (Vec::new(), Vec::new());
        for &event in events {
            let t = (event / 2) as usize;
            match event % 2 {
                0 => snapshot[t] = order.len() as u32,
                _ => {
                    order.push(self.entries[t].clone());
                    snapshots.push(snapshot[t]);
                }
            }
        }
        (order, Some(snapshots))
    }
}
