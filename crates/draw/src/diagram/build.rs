//! From a history and edges to a [`Diagram`].

use super::text_size::printable;
use super::{Arrow, Card, Diagram, Emphasis, Lane, Row, RowRole};
use isoscope_model::history::{History, OperationId, Outcome, SessionId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex, Relation};
use std::collections::{BTreeMap, BTreeSet};

/// What is said of the initial version in its row; a version without a value is called so anyway.
const INITIAL: &str = "initial";

/// What a diagram is about.
pub struct Subject<'a> {
    /// The history that all ids refer to.
    pub history: &'a History,
    /// Transactions that have a card even if no edge touches them; the ends of shown edges are added.
    pub transactions: &'a [TransactionId],
    /// All edges; [`EdgeIndex`] is an index into this list.
    pub edges: &'a [Edge],
    /// Edges on the contradicting cycle; the others are evidence.
    pub cycle: &'a [EdgeIndex],
    /// Operations the argument is about, apart from those named by edges.
    pub operations: &'a [OperationId],
    /// Which edges are drawn.
    pub shown: &'a dyn Fn(EdgeIndex) -> bool,
    /// Whether operations unrelated to the argument have rows too.
    pub all_operations: bool,
    /// How many operations a transaction has if [`history`](Self::history) contains only some of them, for the count of
    /// operations not shown. [`operations_in`] takes the history as complete.
    pub n_operations: &'a dyn Fn(TransactionId) -> usize,
}

/// The number of operations of a transaction in `history`: for [`Subject::n_operations`].
pub fn operations_in(history: &History) -> impl Fn(TransactionId) -> usize + '_ {
    |t| history.operation_range(t).len()
}

/// What to draw for a subject: lanes in session order, the initial state first; cards in session order; arrows in edge
/// order. Edges that say the same (as the two branches of a case split may) are drawn once.
///
/// O(edges · log + operations of the transactions shown).
pub fn diagram(subject: &Subject<'_>) -> Diagram {
    let history = subject.history;
    // What was read of the initial state is said in the row, unless the contradiction leads through it.
    let mut edges = distinct_edges(subject);
    let is_initial = |e: &EdgeIndex| {
        let edge = &subject.edges[*e];
        edge.from.is_initial() || edge.to.is_initial()
    };
    let is_needed = subject.cycle.iter().any(is_initial);
    let (of_initial, others) = edges
        .into_iter()
        .partition(|(e, _)| is_initial(e) && !is_needed);
    edges = others;
    let mut transactions: BTreeSet<TransactionId> = subject.transactions.iter().copied().collect();
    let mut involved: BTreeSet<OperationId> = subject.operations.iter().copied().collect();
    for (edge, _) in edges.iter().map(|(e, also)| (&subject.edges[*e], also)) {
        transactions.extend([edge.from, edge.to]);
        involved.extend(edge.from_operation.iter().chain(&edge.to_operation));
    }
    transactions.extend(
        subject
            .operations
            .iter()
            .map(|&o| history.transaction_of(o)),
    );
    let of_initial: Vec<(EdgeIndex, Vec<EdgeIndex>)> = of_initial;
    let initial: BTreeSet<OperationId> = of_initial
        .iter()
        .filter_map(|(e, _)| subject.edges[*e].to_operation)
        .collect();
    involved.extend(&initial);
    transactions.extend(initial.iter().map(|&read| history.transaction_of(read)));
    // ⊥ is shown only when an edge touches it.
    let touched = edges
        .iter()
        .any(|(e, _)| subject.edges[*e].from.is_initial() || subject.edges[*e].to.is_initial());
    if !touched {
        transactions.remove(&TransactionId::INITIAL);
    }

    let lane_key = |t: &TransactionId| (!t.is_initial()).then(|| history.session_of(*t));
    let sessions: BTreeSet<Option<SessionId>> = transactions.iter().map(lane_key).collect();
    let sessions: Vec<Option<SessionId>> = sessions.into_iter().collect();
    let lanes = sessions
        .iter()
        .map(|&session| Lane {
            session,
            title: lane_title(history, session),
        })
        .collect();

    let mut order: Vec<(usize, TransactionId)> = transactions
        .iter()
        .map(|t| {
            (
                sessions
                    .binary_search(&lane_key(t))
                    .expect("every session of a card has a lane"),
                *t,
            )
        })
        .collect();
    order.sort();
    let cards: Vec<Card> = order
        .iter()
        .map(|&(lane, t)| card(subject, (&involved, &initial), lane, t))
        .collect();
    let place: BTreeMap<TransactionId, usize> = order
        .iter()
        .enumerate()
        .map(|(place, &(_, t))| (t, place))
        .collect();

    let arrows = edges
        .iter()
        .map(|(e, also)| arrow(subject, &cards, &place, *e, also))
        .collect();
    Diagram {
        lanes,
        cards,
        arrows,
    }
}

/// Shown edges without duplicates, each with the later edges that say the same.
fn distinct_edges(subject: &Subject<'_>) -> Vec<(EdgeIndex, Vec<EdgeIndex>)> {
    let mut first = BTreeMap::new();
    let mut result: Vec<(EdgeIndex, Vec<EdgeIndex>)> = Vec::new();
    for (index, edge) in subject
        .edges
        .iter()
        .enumerate()
        .filter(|(index, _)| (subject.shown)(*index))
    {
        let content = (
            edge.from,
            edge.to,
            edge.relation,
            edge.key,
            edge.from_operation,
            edge.to_operation,
        );
        match first.get(&content) {
            Some(&place) => {
                let (_, also): &mut (EdgeIndex, Vec<EdgeIndex>) = &mut result[place];
                also.push(index);
            }
            None => {
                first.insert(content, result.len());
                result.push((index, Vec::new()));
            }
        }
    }
    result
}

fn lane_title(history: &History, session: Option<SessionId>) -> String {
    match session {
        None => "before all sessions".to_owned(),
        Some(session) => format!("session {}", printable(&history.session_and_node(session))),
    }
}

fn card(
    subject: &Subject<'_>,
    (involved, initial): (&BTreeSet<OperationId>, &BTreeSet<OperationId>),
    lane: usize,
    transaction: TransactionId,
) -> Card {
    let history = subject.history;
    if transaction.is_initial() {
        let (title, status) = (history.transaction_name(transaction), String::new());
        return Card {
            transaction,
            lane,
            title,
            status,
            rows: Vec::new(),
            folded: 0,
            others: Vec::new(),
        };
    }
    // An outcome that is not known is shown by whichever transaction read from it.
    let seen = subject.edges.iter().find(|edge| {
        edge.relation == Relation::WriteRead && edge.from == transaction && edge.to != transaction
    });
    let status = match (history.outcome(transaction), seen) {
        (Outcome::Unknown, Some(edge)) => {
            let reader = printable(&history.transaction_name(edge.to));
            format!("{}, seen by {reader}", Outcome::Unknown.words())
        }
        (outcome, _) => outcome.words().to_owned(),
    };
    let row = |operation: OperationId| {
        let (head, value) = history.operation_parts(operation);
        let head = printable(&head);
        Row {
            operation,
            value_at: head.len(),
            text: match initial.contains(&operation) && value != INITIAL {
                true => format!("{head}{} ({INITIAL})", printable(&value)),
                false => head + &printable(&value),
            },
            full: printable(&history.operation_text_in_full(operation)),
            place: history
                .spot_of(operation)
                .map_or_else(String::new, |spot| spot.text(history.origin())),
            role: if involved.contains(&operation) {
                RowRole::Involved
            } else {
                RowRole::Context
            },
            proves: None,
        }
    };
    let shown = |o: &OperationId| subject.all_operations || involved.contains(o);
    let rows: Vec<Row> = history
        .operations_of(transaction)
        .filter(shown)
        .map(row)
        .collect();
    Card {
        transaction,
        lane,
        title: printable(&history.transaction_name(transaction)),
        status,
        folded: (subject.n_operations)(transaction).saturating_sub(rows.len()),
        others: Vec::new(),
        rows,
    }
}

fn arrow(
    subject: &Subject<'_>,
    cards: &[Card],
    place: &BTreeMap<TransactionId, usize>,
    index: EdgeIndex,
    also: &[EdgeIndex],
) -> Arrow {
    let edge = &subject.edges[index];
    let (from, to) = (place[&edge.from], place[&edge.to]);
    let row = |card: usize, operation: Option<OperationId>| {
        operation.and_then(|o| cards[card].rows.iter().position(|row| row.operation == o))
    };
    let history = subject.history;
    // Of a list the row says what was read.
    let value = edge
        .to_operation
        .filter(|read| {
            edge.relation == Relation::WriteRead && history.lists().read_by(*read).is_none()
        })
        .map(|read| {
            let is_of_scan = history.operation(read).value.is_of_scan();
            let version = edge.from_operation.filter(|_| is_of_scan);
            let value = version.map(|write| history.value_name(history.operation(write).value));
            match value {
                Some(value) => format!(" = {value}"),
                None => history.value_sign(read).to_owned() + &history.value_text(read),
            }
        });
    let label = match edge.key {
        Some(key) => format!(
            "{} {}{}",
            edge.relation.code(),
            printable(&history.key_name(key)),
            printable(&value.unwrap_or_default())
        ),
        None => edge.relation.code().to_owned(),
    };
    let on_cycle = std::iter::once(&index)
        .chain(also)
        .any(|e| subject.cycle.contains(e));
    Arrow {
        edge: index,
        also: also.to_vec(),
        numbers: Vec::new(),
        from,
        from_row: row(from, edge.from_operation),
        to,
        to_row: row(to, edge.to_operation),
        relation: edge.relation,
        label,
        condition: None,
        is_decisive: false,
        emphasis: if on_cycle {
            Emphasis::Cycle
        } else {
            Emphasis::Evidence
        },
    }
}

impl Diagram {
    /// The relations that occur, in the order of [`Relation::ALL`]: those a legend has to explain.
    pub fn relations(&self) -> Vec<Relation> {
        Relation::ALL
            .into_iter()
            .filter(|r| self.arrows.iter().any(|arrow| arrow.relation == *r))
            .collect()
    }
}
