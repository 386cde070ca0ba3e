//! What an engine finds about a level, in nodes of its index.

use super::{Event, Level, Witness};
use isoscope_model::control::Interrupt;
use isoscope_model::relations::{Index, Node};
use std::sync::Arc;

/// The answer of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// This order explains the reads.
    Satisfied(Order),
    /// None does.
    Violated {
        /// Transactions that suffice for it, ascending, not minimal; none if something else shows it.
        core: Vec<Node>,
    },
}

/// An order that explains the reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Transactions one after the other: a commit order, or at the levels of dependencies one of the writers.
    Commits(Arc<Vec<Node>>),
    /// Starts (`false`) and commits (`true`).
    Events(Arc<Vec<(Node, bool)>>),
}

impl Decision {
    /// Violated, as something else shows.
    pub const fn violated() -> Decision {
        Decision::Violated { core: Vec::new() }
    }

    /// Whether no order explains the reads.
    pub fn is_violated(&self) -> bool {
        matches!(self, Decision::Violated { .. })
    }

    /// The order, if the level is satisfied.
    pub fn order(self) -> Option<Order> {
        match self {
            Decision::Satisfied(order) => Some(order),
            Decision::Violated { .. } => None,
        }
    }

    /// Transactions that suffice for the violation, if it is violated.
    pub(super) fn core(self) -> Option<Vec<Node>> {
        match self {
            Decision::Satisfied(_) => None,
            Decision::Violated { core } => Some(core),
        }
    }

    /// What it rests on in other nodes, without those that have no counterpart.
    pub(super) fn among(self, node: impl Fn(Node) -> Option<Node>) -> Decision {
        match self {
            Decision::Satisfied(order) => Decision::Satisfied(order.among(node)),
            Decision::Violated { core } => Decision::Violated {
                core: core.into_iter().filter_map(node).collect(),
            },
        }
    }
}

impl From<Option<Vec<Node>>> for Decision {
    fn from(commits: Option<Vec<Node>>) -> Decision {
        commits.map_or(Decision::violated(), |order| {
            Decision::Satisfied(Order::Commits(order.into()))
        })
    }
}

impl Order {
    /// Whether both are one order in memory.
    pub(super) fn is(&self, other: &Order) -> bool {
        match (self, other) {
            (Order::Commits(one), Order::Commits(other)) => Arc::ptr_eq(one, other),
            (Order::Events(one), Order::Events(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// What it consists of: one of both is empty.
    fn parts(&self) -> (&[Node], &[(Node, bool)]) {
        match self {
            Order::Commits(order) => (order, &[]),
            Order::Events(events) => (&[], events),
        }
    }

    /// The commits.
    pub(super) fn commits(&self) -> impl Iterator<Item = Node> + '_ {
        let (order, events) = self.parts();
        order.iter().copied().chain(
            events
                .iter()
                .filter(|(_, is_commit)| *is_commit)
                .map(|(t, _)| *t),
        )
    }

    /// The starts and commits: running transactions one after the other is a special order of these.
    pub(super) fn events(&self) -> impl Iterator<Item = (Node, bool)> + '_ {
        let (order, events) = self.parts();
        order
            .iter()
            .flat_map(|&t| [(t, false), (t, true)])
            .chain(events.iter().copied())
    }

    /// Its events in other nodes, without those that have no counterpart.
    pub(super) fn among(self, node: impl Fn(Node) -> Option<Node>) -> Order {
        match self {
            Order::Commits(order) => {
                Order::Commits(Arc::new(order.iter().copied().filter_map(node).collect()))
            }
            Order::Events(events) => {
                let events = events
                    .iter()
                    .filter_map(|&(t, is_commit)| Some((node(t)?, is_commit)));
                Order::Events(Arc::new(events.collect()))
            }
        }
    }

    /// The witness of a level that this order, found for the level itself or a stronger one, provides.
    ///
    /// The commits of an order of starts and commits satisfy the axioms of every level below (Biswas & Enea 2019, section
    /// 2.3).
    pub fn witness(&self, level: Level, index: &Index) -> Witness {
        let transaction = |node: Node| index.transaction[node as usize];
        let event = |(t, is_commit): (Node, bool)| {
            if is_commit {
                Event::Commit(transaction(t))
            } else {
                Event::Start(transaction(t))
            }
        };
        if level.has_snapshots() {
            Witness::Events(Arc::new(self.events().map(event).collect()))
        } else {
            Witness::CommitOrder(Arc::new(self.commits().map(transaction).collect()))
        }
    }
}

/// A decision, or what stopped the engine before it.
pub(crate) type Answer = Result<Decision, Interrupt>;

/// Whether an engine found a level violated.
pub(crate) fn is_violated(answer: &Answer) -> bool {
    answer.as_ref().is_ok_and(Decision::is_violated)
}
