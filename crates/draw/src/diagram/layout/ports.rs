//! On which side of its cards an edge leaves and lands, and at which height.
//!
//! Ports are on the side of the row that the edge is about. Heights are multiples of [`UNIT`], minus a little on right
//! sides and plus a little on left sides; with cards at multiples of [`UNIT`] too, no port of a right side is level
//! with a port of a left side, and horizontal pieces of different edges never overlap.

use super::measure::{CARD_FOOT, HEADER_HEIGHT, ROW_HEIGHT, UNIT};
use crate::diagram::{Diagram, Emphasis};
use isoscope_model::relations::Relation;

/// A side of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    /// x smaller.
    Left,
    /// x larger.
    Right,
}

/// How an edge runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Straight to the card above or below in the lane.
    Straight,
    /// From a side of the source to a side of the target; the same side when both are in one lane.
    Around {
        /// Where it leaves.
        exit: Side,
        /// Where it lands.
        enter: Side,
    },
}

/// The relative positions of lanes and cards.
pub(super) struct Grid {
    /// By lane from the left: its cards, top down.
    pub lanes: Vec<Vec<usize>>,
    /// By card: its lane's index from the left.
    pub lane_of: Vec<usize>,
    /// By card: its index in the lane.
    pub place_of: Vec<usize>,
    /// Whether lanes are sessions: then only session order runs straight, and everything else from row to row.
    pub is_by_session: bool,
    /// Whether each session has a band of heights of its own, over all lanes.
    pub has_bands: bool,
}

impl Grid {
    pub(super) fn new(diagram: &Diagram, order: &[usize]) -> Grid {
        let cards_of = |lane: &usize| {
            (0..diagram.cards.len())
                .filter(|&c| diagram.cards[c].lane == *lane)
                .collect()
        };
        Grid {
            is_by_session: true,
            ..Grid::of(order.iter().map(cards_of).collect())
        }
    }

    /// With these columns, each of which holds cards top down.
    pub(super) fn of(lanes: Vec<Vec<usize>>) -> Grid {
        let n = lanes.iter().map(Vec::len).sum();
        let (mut lane_of, mut place_of) = (vec![0; n], vec![0; n]);
        for (lane, cards) in lanes.iter().enumerate() {
            for (place, &card) in cards.iter().enumerate() {
                (lane_of[card], place_of[card]) = (lane, place);
            }
        }
        Grid {
            lanes,
            lane_of,
            place_of,
            is_by_session: false,
            has_bands: false,
        }
    }

    /// The upper one of two neighbours in a lane.
    pub(super) fn upper(&self, a: usize, b: usize) -> Option<usize> {
        let is_next =
            self.lane_of[a] == self.lane_of[b] && self.place_of[a].abs_diff(self.place_of[b]) == 1;
        is_next.then(|| {
            if self.place_of[a] < self.place_of[b] {
                a
            } else {
                b
            }
        })
    }
}

/// By arrow: how it runs. Between neighbours of a lane one arrow runs straight: of sessions the session order, else the
/// first of the cycle or, if there is none, the first. Other edges within a lane take the side with less traffic.
pub(super) fn ways(diagram: &Diagram, grid: &Grid) -> Vec<Way> {
    // By card: the arrow that runs straight between it and the one below.
    let mut straight: Vec<Option<usize>> = vec![None; diagram.cards.len()];
    for (index, arrow) in diagram.arrows.iter().enumerate() {
        let may = !grid.is_by_session
            || arrow.relation == Relation::SessionOrder
                && grid.place_of[arrow.from] < grid.place_of[arrow.to];
        let Some(upper) = grid.upper(arrow.from, arrow.to).filter(|_| may) else {
            continue;
        };
        let is_better = |old: usize| arrow.emphasis < diagram.arrows[old].emphasis;
        if straight[upper].is_none_or(is_better) {
            straight[upper] = Some(index);
        }
    }
    let mut traffic = vec![0usize; grid.lanes.len() + 1];
    let mut ways: Vec<Option<Way>> = Vec::with_capacity(diagram.arrows.len());
    for (index, arrow) in diagram.arrows.iter().enumerate() {
        let (from, to) = (grid.lane_of[arrow.from], grid.lane_of[arrow.to]);
        if grid
            .upper(arrow.from, arrow.to)
            .is_some_and(|upper| straight[upper] == Some(index))
        {
            ways.push(Some(Way::Straight));
        } else if from == to {
            ways.push(None);
        } else {
            (from.min(to) + 1..=from.max(to)).for_each(|gutter| traffic[gutter] += 1);
            let (exit, enter) = if from < to {
                (Side::Right, Side::Left)
            } else {
                (Side::Left, Side::Right)
            };
            ways.push(Some(Way::Around { exit, enter }));
        }
    }
    let fill = |(arrow, way): (usize, Option<Way>)| {
        way.unwrap_or_else(|| {
            let lane = grid.lane_of[diagram.arrows[arrow].from];
            let (gutter, side) = if traffic[lane] < traffic[lane + 1] {
                (lane, Side::Left)
            } else {
                (lane + 1, Side::Right)
            };
            traffic[gutter] += 1;
            Way::Around {
                exit: side,
                enter: side,
            }
        })
    };
    ways.into_iter().enumerate().map(fill).collect()
}

/// The inner heights of a card, measured from its top.
#[derive(Clone, Debug, Default)]
pub(super) struct CardShape {
    /// Height of the header.
    pub header: f32,
    /// By row: top and height.
    pub rows: Vec<(f32, f32)>,
    /// Top of the fold line.
    pub folded: Option<f32>,
    /// Height of the whole.
    pub height: f32,
}

/// Heights of cards and of ports.
pub(super) struct Ports {
    /// By card.
    pub shapes: Vec<CardShape>,
    /// By arrow: height of its source port and of its target port, from the tops of their cards. Unused for
    /// [`Way::Straight`].
    pub offsets: Vec<[f32; 2]>,
}

/// An end of an arrow in a part of a card: where the other end is, the arrow, and 0 for its source, 1 for its target.
type End = (f32, usize, usize);

/// Spreads the ports of each row and side, in the order of `level` of the other end (a height in the drawing).
pub(super) fn ports(diagram: &Diagram, ways: &[Way], level: impl Fn(usize, usize) -> f32) -> Ports {
    // By card, part (header, rows) and side.
    let mut ends: Vec<Vec<[Vec<End>; 2]>> = diagram
        .cards
        .iter()
        .map(|card| vec![Default::default(); card.rows.len() + 1])
        .collect();
    for (index, arrow) in diagram.arrows.iter().enumerate() {
        let Way::Around { exit, enter } = ways[index] else {
            continue;
        };
        let part = |row: Option<usize>| row.map_or(0, |row| row + 1);
        ends[arrow.from][part(arrow.from_row)][exit as usize].push((level(index, 1), index, 0));
        ends[arrow.to][part(arrow.to_row)][enter as usize].push((level(index, 0), index, 1));
    }
    let mut result = Ports {
        shapes: Vec::new(),
        offsets: vec![[0.0; 2]; diagram.arrows.len()],
    };
    for (card, mut parts) in diagram.cards.iter().zip(ends) {
        let mut y = 0.0;
        let mut shape = CardShape::default();
        for (part, sides) in parts.iter_mut().enumerate() {
            let (first, least) = if part == 0 {
                (2.0 * UNIT, HEADER_HEIGHT)
            } else {
                (UNIT, ROW_HEIGHT)
            };
            let mut height = least;
            for (side, ends) in sides.iter_mut().enumerate() {
                ends.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
                let nudge = if side == Side::Right as usize {
                    -UNIT / 4.0
                } else {
                    UNIT / 4.0
                };
                let mut at = first;
                for (i, &(_, arrow, end)) in ends.iter().enumerate() {
                    if i > 0 {
                        // Labels are on the outgoing lines, so those need space for a label.
                        at += if end == 0 || ends[i - 1].2 == 0 {
                            2.0 * UNIT
                        } else {
                            UNIT
                        };
                    }
                    result.offsets[arrow][end] = y + at + nudge;
                    height = f32::max(height, at + UNIT);
                }
            }
            if part == 0 {
                shape.header = height;
            } else {
                shape.rows.push((y, height));
            }
            y += height;
        }
        if card.folded > 0 {
            shape.folded = Some(y);
            y += ROW_HEIGHT;
        }
        shape.height = y + if card.rows.is_empty() && card.folded == 0 {
            0.0
        } else {
            CARD_FOOT
        };
        result.shapes.push(shape);
    }
    result
}

/// Weight of an arrow when cards are placed.
pub(super) fn weight(emphasis: Emphasis) -> f32 {
    if emphasis == Emphasis::Cycle {
        4.0
    } else {
        1.0
    }
}
