//! Columns of cards that are not sessions: rings along a cycle, and grids in which arrows are short.

use crate::diagram::{Arrow, Diagram, Emphasis};
use isoscope_model::relations::Relation;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of columns of a grid.
const COLUMNS: i32 = 4;
/// Up to this many cards are moved until no exchange of two makes arrows shorter.
const IMPROVED: usize = 80;

/// By column the cards, top down: rings with two and three columns if the cycle is one ring, and grids with one to
/// four. O(cards² · arrows) up to [`IMPROVED`] cards.
pub(super) fn grids(diagram: &Diagram) -> Vec<Vec<Vec<usize>>> {
    let n = diagram.cards.len();
    let ring = ring(diagram);
    let mut found = Vec::new();
    for columns in [2, 3] {
        if let Some(ring) = ring
            .as_ref()
            .filter(|ring| ring.len() as i32 >= 2 * columns - 2)
        {
            found.push(Board::ring(diagram, ring, columns).columns());
        }
    }
    for columns in 1..=COLUMNS.min(n as i32) {
        found.push(
            Board::serpentine(diagram, &sequence(diagram, ring.as_deref()), columns).columns(),
        );
    }
    found.dedup();
    found
}

/// The cards of the cycle in its order, if its arrows are one ring through each of them.
pub(in crate::diagram) fn ring(diagram: &Diagram) -> Option<Vec<usize>> {
    let mut next: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for arrow in diagram
        .arrows
        .iter()
        .filter(|arrow| arrow.emphasis == Emphasis::Cycle)
    {
        next.entry(arrow.from).or_default().insert(arrow.to);
    }
    let start = *next.keys().next()?;
    let (mut ring, mut at) = (Vec::new(), start);
    loop {
        let after = next
            .get(&at)
            .filter(|after| after.len() == 1 && ring.len() < next.len())?;
        ring.push(at);
        at = *after.first()?;
        if at == start {
            return (ring.len() == next.len() && ring.len() > 1).then_some(ring);
        }
    }
}

/// All cards, each, if possible, after one that an arrow leads from.
fn sequence(diagram: &Diagram, ring: Option<&[usize]>) -> Vec<usize> {
    let mut sequence: Vec<usize> = ring.unwrap_or_default().to_vec();
    let mut left: BTreeSet<usize> = (0..diagram.cards.len())
        .filter(|card| !sequence.contains(card))
        .collect();
    while let Some(&first) = left.first() {
        let from_last = diagram
            .arrows
            .iter()
            .filter(|arrow| sequence.last() == Some(&arrow.from));
        let after = from_last
            .filter(|arrow| left.contains(&arrow.to))
            .min_by_key(|arrow| (arrow.emphasis, arrow.edge));
        let card = after.map_or(first, |arrow| arrow.to);
        left.remove(&card);
        sequence.push(card);
    }
    sequence
}

/// Column and row.
type Slot = (i32, i32);

/// Cards on slots.
struct Board<'a> {
    diagram: &'a Diagram,
    at: Vec<Slot>,
}

impl<'a> Board<'a> {
    /// The ring clockwise along the border, the other cards inside and below it.
    fn ring(diagram: &'a Diagram, ring: &[usize], columns: i32) -> Board<'a> {
        let n = ring.len() as i32;
        let rows = if n <= columns {
            1
        } else {
            ((n + 5) / 2 - columns).max(2)
        };
        let (right, bottom) = (columns - 1, rows - 1);
        let mut border: Vec<Slot> = (0..columns).map(|x| (x, 0)).collect();
        border.extend((1..rows).map(|y| (right, y)));
        if rows > 1 {
            border.extend((0..right).rev().map(|x| (x, bottom)));
            border.extend((1..bottom).rev().map(|y| (0, y)));
        }
        // An odd number leaves a slot free that a straight line passes.
        if border.len() > ring.len() && columns > 2 && rows > 1 {
            border.retain(|&slot| slot != (1, bottom));
        }
        let mut at = vec![(0, 0); diagram.cards.len()];
        ring.iter()
            .zip(&border)
            .for_each(|(&card, &slot)| at[card] = slot);
        let others: Vec<usize> = (0..at.len()).filter(|card| !ring.contains(card)).collect();
        let spare = others.len() as i32;
        let is_free = |slot: &Slot| !border.contains(slot);
        let slots = (-1..=rows + spare / columns).flat_map(|y| (0..columns).map(move |x| (x, y)));
        let free: Vec<Slot> = slots.filter(is_free).collect();
        others
            .iter()
            .zip(&free)
            .for_each(|(&card, &slot)| at[card] = slot);
        let mut board = Board { diagram, at };
        board.improve(&others, &free);
        board
    }

    /// The cards in lines, alternately to the right and back.
    fn serpentine(diagram: &'a Diagram, sequence: &[usize], columns: i32) -> Board<'a> {
        let mut at = vec![(0, 0); sequence.len()];
        for (i, &card) in sequence.iter().enumerate() {
            let (x, y) = (i as i32 % columns, i as i32 / columns);
            at[card] = (if y % 2 == 0 { x } else { columns - 1 - x }, y);
        }
        let rows = sequence.len() as i32 / columns + 1;
        let slots: Vec<Slot> = (0..rows)
            .flat_map(|y| (0..columns).map(move |x| (x, y)))
            .collect();
        let mut board = Board { diagram, at };
        board.improve(sequence, &slots);
        board
    }

    /// Moves cards to other slots, or exchanges two, while that makes arrows shorter.
    fn improve(&mut self, cards: &[usize], slots: &[Slot]) {
        if cards.len() > IMPROVED {
            return;
        }
        for _ in 0..20 {
            let mut improved = false;
            for &card in cards {
                for &slot in slots {
                    let other = cards
                        .iter()
                        .copied()
                        .find(|&other| self.at[other] == slot && other != card);
                    let before = self.cost(card, other);
                    let from = self.at[card];
                    self.at[card] = slot;
                    other.into_iter().for_each(|other| self.at[other] = from);
                    if self.cost(card, other) < before - 0.01 {
                        improved = true;
                    } else {
                        self.at[card] = from;
                        other.into_iter().for_each(|other| self.at[other] = slot);
                    }
                }
            }
            if !improved {
                return;
            }
        }
    }

    /// How long and crooked the arrows of one or two cards are.
    fn cost(&self, card: usize, other: Option<usize>) -> f32 {
        let touches = |end: usize| end == card || Some(end) == other;
        let arrows = self
            .diagram
            .arrows
            .iter()
            .filter(|arrow| touches(arrow.from) || touches(arrow.to));
        let length = arrows.map(|arrow| {
            let (a, b) = (self.at[arrow.from], self.at[arrow.to]);
            let (dx, dy) = ((a.0 - b.0).abs() as f32, (a.1 - b.1).abs() as f32);
            let is_over_others = dx.min(dy) == 0.0 && dx.max(dy) > 1.0;
            // Earlier ones are above.
            let up = if a.1 > b.1 { 0.2 } else { 0.0 };
            super::ports::weight(arrow.emphasis)
                * (1.5 * dx + dy + if is_over_others { 1.0 } else { 0.0 })
                + up
        });
        length.sum()
    }

    /// By column the cards, top down; upside down if then more arrows lead down, sessions before all others.
    fn columns(mut self) -> Vec<Vec<usize>> {
        let rise = |arrow: &Arrow| {
            let weight = if arrow.relation == Relation::SessionOrder {
                3
            } else {
                1
            };
            weight * (self.at[arrow.from].1 - self.at[arrow.to].1).signum()
        };
        if self.diagram.arrows.iter().map(rise).sum::<i32>() > 0 {
            self.at.iter_mut().for_each(|slot| slot.1 = -slot.1);
        }
        let n = self.at.iter().map(|slot| slot.0 + 1).max().unwrap_or(0);
        let mut columns = vec![Vec::new(); n as usize];
        let mut cards: Vec<usize> = (0..self.at.len()).collect();
        cards.sort_by_key(|&card| self.at[card].1);
        cards
            .into_iter()
            .for_each(|card| columns[self.at[card].0 as usize].push(card));
        columns.retain(|column| !column.is_empty());
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::Card;
    use isoscope_model::history::TransactionId;

    fn diagram(n: usize, arrows: &[(usize, usize, Emphasis)]) -> Diagram {
        let card = |t: usize| Card {
            transaction: TransactionId::new(t + 1),
            lane: 0,
            title: String::new(),
            status: String::new(),
            rows: Vec::new(),
            folded: 0,
            others: Vec::new(),
        };
        let arrow = |(edge, &(from, to, emphasis)): (usize, &(usize, usize, Emphasis))| Arrow {
            edge,
            also: Vec::new(),
            numbers: Vec::new(),
            from,
            from_row: None,
            to,
            to_row: None,
            relation: Relation::CommitOrder,
            label: "CM".to_owned(),
            condition: None,
            is_decisive: false,
            emphasis,
        };
        let arrows = arrows.iter().enumerate().map(arrow).collect();
        Diagram {
            lanes: Vec::new(),
            cards: (0..n).map(card).collect(),
            arrows,
        }
    }

    #[test]
    fn a_ring_runs_along_the_border() {
        let cycle: Vec<_> = (0..8)
            .map(|card| (card, (card + 1) % 8, Emphasis::Cycle))
            .collect();
        let diagram = diagram(8, &cycle);
        assert_eq!(ring(&diagram), Some((0..8).collect()));
        assert_eq!(
            grids(&diagram)[1],
            [vec![0, 7, 6], vec![1, 5], vec![2, 3, 4]]
        );
    }

    #[test]
    fn what_is_no_ring_has_a_grid_with_every_card_once() {
        let edges = [
            (0, 1, Emphasis::Cycle),
            (1, 0, Emphasis::Cycle),
            (1, 2, Emphasis::Cycle),
            (3, 4, Emphasis::Evidence),
        ];
        let diagram = diagram(6, &edges);
        assert_eq!(ring(&diagram), None);
        for columns in grids(&diagram) {
            let mut cards = columns.concat();
            cards.sort_unstable();
            assert_eq!(cards, (0..6).collect::<Vec<_>>(), "{columns:?}");
        }
    }
}
