//! Whole sessions as one card each.

use super::{Arrow, Card, Diagram};
use crate::history::SessionId;
use crate::relations::Relation;
use std::collections::{BTreeMap, BTreeSet};

impl Diagram {
    /// The same with one card for each of `sessions` that has several: edges among its transactions are inside it, those
    /// of one relation to or from the same card are one. O(cards + arrows · log arrows).
    pub fn folded(self, sessions: &BTreeSet<SessionId>) -> Diagram {
        let lane_is_folded: Vec<bool> = (0..self.lanes.len())
            .map(|lane| {
                let n = self.cards.iter().filter(|card| card.lane == lane).count();
                n > 1 && self.lanes[lane].session.is_some_and(|session| sessions.contains(&session))
            })
            .collect();
        let mut cards: Vec<Card> = Vec::new();
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        // By card: its place among the new ones, and whether it is part of a fold there.
        let mut places: Vec<(usize, bool)> = Vec::with_capacity(self.cards.len());
        for card in self.cards {
            let folded = lane_is_folded[card.lane];
            match cards.last_mut().filter(|last| folded && last.lane == card.lane) {
                Some(last) => last.folded += card.rows.len() + card.folded,
                None if folded => {
                    let n_operations = card.rows.len() + card.folded;
                    let title = self.lanes[card.lane].title.clone();
                    cards.push(Card { title, rows: Vec::new(), folded: n_operations, ..card });
                }
                None => cards.push(card),
            }
            let place = cards.len() - 1;
            *counts.entry(place).or_default() += 1;
            places.push((place, folded));
        }
        for (card, n) in cards.iter_mut().zip(counts.values()).filter(|(_, n)| **n > 1) {
            card.status = format!("{n} transactions folded");
        }
        Diagram { lanes: self.lanes, arrows: arrows(self.arrows, &places), cards }
    }
}

fn arrows(arrows: Vec<Arrow>, places: &[(usize, bool)]) -> Vec<Arrow> {
    let mut kept: Vec<Arrow> = Vec::new();
    let mut known: BTreeMap<(usize, usize, Relation), usize> = BTreeMap::new();
    for arrow in arrows {
        let ((from, from_fold), (to, to_fold)) = (places[arrow.from], places[arrow.to]);
        if from == to && from_fold {
            continue;
        }
        let joined = Arrow {
            from,
            to,
            from_row: arrow.from_row.filter(|_| !from_fold),
            to_row: arrow.to_row.filter(|_| !to_fold),
            ..arrow
        };
        let same = known.get(&(from, to, joined.relation)).copied().filter(|_| from_fold || to_fold);
        match same.and_then(|at| kept.get_mut(at)) {
            Some(first) => {
                first.emphasis = first.emphasis.min(joined.emphasis);
                first.also.push(joined.edge);
                first.also.extend(joined.also);
            }
            None => {
                known.insert((from, to, joined.relation), kept.len());
                kept.push(joined);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::{Emphasis, Lane, Row, RowRole};
    use crate::history::{OperationId, TransactionId};

    /// Two sessions, of three transactions and of one.
    fn diagram() -> Diagram {
        let row = |n: usize| Row {
            operation: OperationId::new(n),
            text: "r(x) = 1".to_owned(),
            place: String::new(),
            role: RowRole::Involved,
        };
        let card = |n: usize, lane: usize| Card {
            transaction: TransactionId::new(n),
            lane,
            title: format!("T{n}"),
            status: "committed".to_owned(),
            rows: vec![row(n)],
            folded: 2,
        };
        let arrow = |edge: usize, from: usize, to: usize, relation: Relation, emphasis: Emphasis| Arrow {
            edge,
            also: Vec::new(),
            from,
            from_row: Some(0),
            to,
            to_row: Some(0),
            relation,
            label: relation.code().to_owned(),
            emphasis,
        };
        let lane = |n: usize| Lane { session: Some(SessionId::new(n)), title: format!("session {n}") };
        Diagram {
            lanes: vec![lane(0), lane(1)],
            cards: vec![card(0, 0), card(1, 0), card(2, 0), card(3, 1)],
            arrows: vec![
                arrow(0, 0, 1, Relation::SessionOrder, Emphasis::Evidence),
                arrow(1, 0, 3, Relation::WriteRead, Emphasis::Evidence),
                arrow(2, 2, 3, Relation::WriteRead, Emphasis::Cycle),
                arrow(3, 3, 1, Relation::AntiDependency, Emphasis::Cycle),
            ],
        }
    }

    #[test]
    fn a_folded_session_is_one_card_with_the_edges_that_leave_it() {
        let folded = diagram().folded(&[SessionId::new(0)].into());
        let titles: Vec<(&str, &str)> =
            folded.cards.iter().map(|card| (card.title.as_str(), card.status.as_str())).collect();
        assert_eq!(titles, [("session 0", "3 transactions folded"), ("T3", "committed")]);
        assert_eq!((folded.cards[0].rows.len(), folded.cards[0].folded), (0, 9));
        let ends: Vec<_> =
            folded.arrows.iter().map(|a| (a.from, a.from_row, a.to, a.to_row, a.relation.code())).collect();
        assert_eq!(ends, [(0, None, 1, Some(0), "WR"), (1, Some(0), 0, None, "RW")]);
        assert_eq!((folded.arrows[0].edge, &folded.arrows[0].also), (1, &vec![2]));
        assert_eq!(folded.arrows[0].emphasis, Emphasis::Cycle);
    }

    #[test]
    fn a_session_with_one_card_and_sessions_not_asked_for_stay() {
        assert_eq!(diagram().folded(&[SessionId::new(1)].into()), diagram());
        assert_eq!(diagram().folded(&BTreeSet::new()), diagram());
    }
}
