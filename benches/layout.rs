//! How long a diagram takes to lay out and a picture to write, by number of transactions.
//!
//! The diagrams are those a counterexample or a small history gives: five to twelve sessions, about two edges for a
//! transaction, one in ten of them against the flow.

use divan::Bencher;
use isoscope::diagram::layout::{graphviz, lanes};
use isoscope::diagram::scene::scene;
use isoscope::diagram::{Arrow, Card, Diagram, Emphasis, Lane, Row, RowRole};
use isoscope::history::{OperationId, SessionId, TransactionId};
use isoscope::relations::Relation;

fn main() {
    divan::main();
}

fn diagram(n: usize) -> Diagram {
    let mut random = fastrand::Rng::with_seed(n as u64);
    let n_lanes = (n / 6).clamp(2, 12);
    let lanes = (0..n_lanes).map(|s| Lane {
        session: Some(SessionId::new(s)),
        title: format!("session {s}"),
    });
    let card = |card: usize| Card {
        transaction: TransactionId::new(card),
        lane: card * n_lanes / n,
        title: format!("T{card}"),
        status: "committed".to_owned(),
        others: Vec::new(),
        rows: (0..3)
            .map(|row| Row {
                operation: OperationId::new(3 * card + row),
                text: format!("r(k{row}) = {card}"),
                value_at: 0,
                full: String::new(),
                place: format!("line {card}"),
                role: RowRole::Involved,
                proves: None,
            })
            .collect(),
        folded: 22,
    };
    let cards: Vec<Card> = (0..n).map(card).collect();
    let mut arrows = Vec::new();
    for edge in 0..2 * n {
        let (a, b) = (random.usize(0..n), random.usize(0..n));
        let relation = if random.u8(0..10) == 0 {
            Relation::AntiDependency
        } else {
            Relation::WriteRead
        };
        arrows.push(Arrow {
            edge,
            also: Vec::new(),
            numbers: Vec::new(),
            from: a,
            from_row: Some(random.usize(0..3)),
            to: b,
            to_row: Some(random.usize(0..3)),
            relation,
            label: format!("{} k{edge}", relation.code()),
            condition: None,
            is_decisive: false,
            emphasis: Emphasis::Evidence,
        });
    }
    Diagram {
        lanes: lanes.collect(),
        cards,
        arrows,
    }
}

#[divan::bench(args = [5, 10, 50, 200, 500])]
fn lanes_layout(bencher: Bencher<'_, '_>, n: usize) {
    let diagram = diagram(n);
    bencher.bench(|| lanes(&diagram));
}

#[divan::bench(args = [5, 10, 50], sample_count = 10)]
fn layered_layout(bencher: Bencher<'_, '_>, n: usize) {
    let diagram = diagram(n);
    bencher.bench(|| graphviz(&diagram));
}

#[divan::bench(args = [5, 50, 500])]
fn scene_of_lanes(bencher: Bencher<'_, '_>, n: usize) {
    let diagram = diagram(n);
    let layout = lanes(&diagram);
    bencher.bench(|| scene(&diagram, &layout));
}
