//! Sessions folded into one card each, and long cycles shortened.

use super::layout::ring;
use super::{Arrow, Card, Diagram, Emphasis, Row, RowRole};
use isoscope_model::history::{SessionId, TransactionId};
use isoscope_model::relations::{EdgeIndex, Relation};
use std::collections::{BTreeMap, BTreeSet};

impl Diagram {
    /// This diagram with all cards of each of these sessions in one. Sessions with fewer than two cards are unchanged,
    /// others have one card that counts their operations. Arrows inside a folded session are removed; of several arrows
    /// that then say the same, the first is kept and [names](Arrow::also) the others. O(cards + arrows · log arrows).
    pub fn folded(&self, sessions: &BTreeSet<SessionId>) -> Diagram {
        let wanted: BTreeSet<SessionId> = self.foldable().intersection(sessions).copied().collect();
        let is_wanted =
            |session: Option<SessionId>| session.is_some_and(|session| wanted.contains(&session));
        let folded: Vec<bool> = self
            .lanes
            .iter()
            .map(|lane| is_wanted(lane.session))
            .collect();
        // By old card: the new one.
        let (mut cards, mut place): (Vec<Card>, Vec<usize>) = (Vec::new(), Vec::new());
        for of_lane in self.cards.chunk_by(|a, b| a.lane == b.lane) {
            if folded[of_lane[0].lane] {
                place.extend(of_lane.iter().map(|_| cards.len()));
                cards.push(Card::of_all(of_lane));
            } else {
                place.extend(cards.len()..cards.len() + of_lane.len());
                cards.extend_from_slice(of_lane);
            }
        }
        let row = |card: usize, row: Option<usize>| row.filter(|_| !folded[cards[card].lane]);
        let moved = |arrow: &Arrow| {
            let (from, to) = (place[arrow.from], place[arrow.to]);
            let (from_row, to_row) = (row(from, arrow.from_row), row(to, arrow.to_row));
            Arrow {
                from,
                from_row,
                to,
                to_row,
                ..arrow.clone()
            }
        };
        let is_inside = |arrow: &Arrow| arrow.from == arrow.to && folded[cards[arrow.from].lane];
        let arrows = once_each(
            self.arrows
                .iter()
                .map(moved)
                .filter(|arrow| !is_inside(arrow)),
        );
        Diagram {
            lanes: self.lanes.clone(),
            cards,
            arrows,
        }
    }

    /// This diagram with cards without rows, and one arrow for all that lead from one card to another: it is labelled with
    /// their relations, and [names](Arrow::also) the others. O(cards + arrows · log arrows).
    pub fn bundled(&self) -> Diagram {
        let cards = self.cards.iter().map(|card| Card {
            folded: 0,
            rows: Vec::new(),
            ..card.clone()
        });
        let mut bundles: BTreeMap<(usize, usize), Vec<&Arrow>> = BTreeMap::new();
        for arrow in &self.arrows {
            bundles
                .entry((arrow.from, arrow.to))
                .or_default()
                .push(arrow);
        }
        let one = |mut arrows: Vec<&Arrow>| {
            arrows.sort_by_key(|arrow| arrow.emphasis);
            let (first, others) = arrows.split_first()?;
            let relations: BTreeSet<Relation> = arrows.iter().map(|arrow| arrow.relation).collect();
            let codes: Vec<&str> = relations.iter().map(|relation| relation.code()).collect();
            let mut also: Vec<EdgeIndex> = first.also.clone();
            for other in others {
                also.push(other.edge);
                also.extend(&other.also);
            }
            Some(Arrow {
                also,
                from_row: None,
                to_row: None,
                label: codes.join(" "),
                ..(*first).clone()
            })
        };
        Diagram {
            lanes: self.lanes.clone(),
            cards: cards.collect(),
            arrows: bundles.into_values().filter_map(one).collect(),
        }
    }

    /// This diagram with the middle of its cycle in one card, if that is a ring of more than 12 cards: it says
    /// how many there are, and what each of them did. Cards that are only connected with these are removed. O(cards + arrows).
    pub fn shortened(&self) -> Diagram {
        let Some(ring) = ring(self).filter(|ring| ring.len() > LONGEST_RING) else {
            return self.clone();
        };
        let middle: BTreeSet<usize> = ring[KEPT..ring.len() - KEPT].iter().copied().collect();
        let stretch = ring[KEPT];
        let is_idle = |card: usize| {
            let mut of_it = self
                .arrows
                .iter()
                .filter(|arrow| arrow.from == card || arrow.to == card);
            let others = |arrow: &Arrow| {
                [arrow.from, arrow.to]
                    .into_iter()
                    .filter(move |end| *end != card)
            };
            !ring.contains(&card)
                && of_it.clone().next().is_some()
                && of_it.all(|arrow| others(arrow).all(|end| middle.contains(&end)))
        };
        let (mut cards, mut place): (Vec<Card>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
        for (at, card) in self.cards.iter().enumerate() {
            let is_left = at == stretch || !middle.contains(&at) && !is_idle(at);
            place.push(is_left.then_some(cards.len()));
            match is_left {
                true if at == stretch => cards.push(self.stretch(card, &middle)),
                true => cards.push(card.clone()),
                false => {}
            }
        }
        let moved = |end: usize| match middle.contains(&end) {
            true => place[stretch],
            false => place[end],
        };
        let arrows = self.arrows.iter().filter_map(|arrow| {
            let (from, to) = (moved(arrow.from)?, moved(arrow.to)?);
            let row = |end: usize, row: Option<usize>| row.filter(|_| !middle.contains(&end));
            let (from_row, to_row) = (row(arrow.from, arrow.from_row), row(arrow.to, arrow.to_row));
            let arrow = Arrow {
                from,
                from_row,
                to,
                to_row,
                ..arrow.clone()
            };
            (from != to).then_some(arrow)
        });
        let mut diagram = Diagram {
            lanes: self.lanes.clone(),
            arrows: once_each(arrows),
            cards,
        };
        diagram.drop_empty_lanes();
        diagram
    }

    /// The card in place of the middle of a ring.
    fn stretch(&self, first: &Card, middle: &BTreeSet<usize>) -> Card {
        let mut along = self.arrows.iter().filter(|arrow| {
            arrow.emphasis == Emphasis::Cycle
                && middle.contains(&arrow.from)
                && middle.contains(&arrow.to)
        });
        let relation = along.clone().next().map(|arrow| arrow.relation);
        let is_one = along.all(|arrow| Some(arrow.relation) == relation);
        let said = match relation.filter(|_| is_one) {
            Some(Relation::AntiDependency) => "each missed the next one's write",
            Some(Relation::WriteRead) => "the next one read from each",
            _ => "each comes before the next one",
        };
        let row = first.rows.first().map(|row| Row {
            text: said.to_owned(),
            full: said.to_owned(),
            value_at: said.len(),
            place: String::new(),
            role: RowRole::Context,
            // The steps of all of them have no room.
            proves: None,
            ..row.clone()
        });
        let others = middle.iter().map(|&card| self.cards[card].transaction);
        Card {
            title: format!("{STRETCH}{} more", middle.len()),
            status: String::new(),
            folded: 0,
            rows: row.into_iter().collect(),
            others: others.filter(|t| *t != first.transaction).collect(),
            ..first.clone()
        }
    }

    /// Removes lanes without cards.
    fn drop_empty_lanes(&mut self) {
        let used: BTreeSet<usize> = self.cards.iter().map(|card| card.lane).collect();
        let used: Vec<usize> = used.into_iter().collect();
        self.lanes = used.iter().map(|&lane| self.lanes[lane].clone()).collect();
        for card in &mut self.cards {
            card.lane = used.binary_search(&card.lane).unwrap_or(0);
        }
    }

    /// The sessions that can be folded: those with several cards.
    pub fn foldable(&self) -> BTreeSet<SessionId> {
        let mut n_cards = vec![0; self.lanes.len()];
        self.cards.iter().for_each(|card| n_cards[card.lane] += 1);
        let lanes = self.lanes.iter().zip(n_cards).filter(|(_, n)| *n > 1);
        lanes.filter_map(|(lane, _)| lane.session).collect()
    }

    /// All transactions on the card of this one; only itself if it has no card.
    pub fn together_with(&self, transaction: TransactionId) -> Vec<TransactionId> {
        let card = self
            .cards
            .iter()
            .find(|card| card.transactions().any(|t| t == transaction));
        card.map_or_else(|| vec![transaction], |card| card.transactions().collect())
    }
}

/// Longer rings are shortened.
const LONGEST_RING: usize = 12;
/// So many cards of a long ring are left before its middle, and as many after it.
const KEPT: usize = 3;
/// What the title of a shortened stretch begins with.
const STRETCH: &str = "… ";

impl Card {
    /// Whether it is in place of the middle of a long cycle.
    pub fn is_stretch(&self) -> bool {
        self.title.starts_with(STRETCH)
    }

    /// The transactions that the card represents.
    pub fn transactions(&self) -> impl Iterator<Item = TransactionId> + '_ {
        std::iter::once(self.transaction).chain(self.others.iter().copied())
    }

    /// A card in place of all those of a session.
    fn of_all(cards: &[Card]) -> Card {
        let (first, last) = (&cards[0], &cards[cards.len() - 1]);
        Card {
            title: format!("{} … {}", first.title, last.title),
            status: format!("{} transactions", cards.len()),
            folded: cards.iter().map(|card| card.folded + card.rows.len()).sum(),
            rows: Vec::new(),
            others: cards[1..].iter().map(|card| card.transaction).collect(),
            ..first.clone()
        }
    }
}

/// The arrows without duplicates, each with the edges of the others that say the same.
fn once_each(arrows: impl Iterator<Item = Arrow>) -> Vec<Arrow> {
    let mut first = BTreeMap::new();
    let mut result: Vec<Arrow> = Vec::new();
    for arrow in arrows {
        let content = (
            arrow.from,
            arrow.from_row,
            arrow.to,
            arrow.to_row,
            arrow.relation,
            (arrow.label.clone(), arrow.condition, arrow.is_decisive),
        );
        match first.get(&content) {
            Some(&place) => {
                let same: &mut Arrow = &mut result[place];
                same.emphasis = same.emphasis.min(arrow.emphasis);
                same.also.push(arrow.edge);
                same.also.extend(arrow.also);
            }
            None => {
                first.insert(content, result.len());
                result.push(arrow);
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use crate::diagram::{Diagram, Subject, diagram, operations_in};
    use isoscope_model::history::{SessionId, TransactionId};
    use isoscope_model::relations::{Edge, EdgeIndex, Reason, Relation};

    /// Three transactions of `a`, one of `b` that reads from two of them.
    fn drawn() -> Diagram {
        let history = isoscope_formats::text::parse(
            "a: [w x 1] [w x 2, w y 2] [r y 2]\nb: [r x 1] [r x 2]\n",
        )
        .expect("a history in our notation");
        let edge = |from: usize, to: usize, relation| Edge {
            relation,
            because: Reason::Reads,
            ..Edge::session_order(TransactionId::new(from), TransactionId::new(to))
        };
        let edges = [
            edge(0, 1, Relation::SessionOrder),
            edge(0, 3, Relation::WriteRead),
            edge(1, 3, Relation::WriteRead),
            edge(3, 2, Relation::AntiDependency),
        ];
        let all: Vec<TransactionId> = history.transactions().collect();
        diagram(&Subject {
            history: &history,
            transactions: &all,
            edges: &edges,
            cycle: &[2],
            operations: &[],
            shown: &|_: EdgeIndex| true,
            all_operations: true,
            n_operations: &operations_in(&history),
        })
    }

    #[test]
    fn a_folded_session_is_one_card_and_its_inner_edges_are_gone() {
        let whole = drawn();
        assert_eq!(
            whole.foldable(),
            [SessionId::new(0), SessionId::new(1)].into()
        );
        let folded = whole.folded(&[SessionId::new(0)].into());
        assert_eq!(folded.cards.len(), 3);
        let card = &folded.cards[0];
        assert_eq!(
            (card.folded, card.rows.len(), card.status.as_str()),
            (4, 0, "3 transactions")
        );
        let ends = [whole.cards[0].title.as_str(), whole.cards[2].title.as_str()];
        assert_eq!(card.title.split(" … ").collect::<Vec<_>>(), ends);
        assert_eq!(
            folded.together_with(TransactionId::new(2)),
            [0, 1, 2].map(TransactionId::new)
        );
        assert_eq!(
            folded.together_with(TransactionId::new(3)),
            [TransactionId::new(3)]
        );
        // Both reads are one arrow now, as strong as the stronger one; session order inside is gone.
        let arrows: Vec<_> = folded
            .arrows
            .iter()
            .map(|a| (a.edge, a.also.as_slice(), a.from, a.to))
            .collect();
        assert_eq!(
            arrows,
            [(1, [2].as_slice(), 0, 1), (3, [].as_slice(), 1, 0)]
        );
        assert_eq!(folded.arrows[0].emphasis, crate::diagram::Emphasis::Cycle);
    }

    #[test]
    fn nothing_folded_is_the_same_diagram() {
        let whole = drawn();
        assert_eq!(whole.folded(&[].into()), whole);
        assert_eq!(whole.folded(&[SessionId::new(7)].into()), whole);
        let both = whole.folded(&whole.foldable());
        assert_eq!((both.cards.len(), both.arrows.len()), (2, 2));
    }
}
