//! The vertical positions of the cards of a lane.
//!
//! Cards of a lane keep their order and distances; within that, each wants its edges level with their other ends. Lane
//! by lane, with the others fixed, that is a weighted isotonic regression with absolute errors, solved exactly by
//! pooling adjacent violators (Robertson & Wright 1980); a few sweeps over the lanes let everything settle.

use super::measure::UNIT;
use super::ports::Grid;
use super::routes;
use crate::diagram::Diagram;

/// Two ports that want to be level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tie {
    /// Card and distance of its port from the card's top.
    pub a: (usize, f32),
    /// Card and distance of the other port from the card's top.
    pub b: (usize, f32),
    /// Its weight.
    pub weight: f32,
}

const SWEEPS: usize = 8;

/// By card: its top, a multiple of [`UNIT`]. `lanes` holds cards top down, `gap_above` the minimum distance of a card
/// from the one above it. O(sweeps · (cards + ties) · log) plus merging of neighbours.
pub(super) fn place(
    lanes: &[Vec<usize>],
    heights: &[f32],
    gap_above: &[f32],
    ties: &[Tie],
) -> Vec<f32> {
    let mut tops = vec![0.0_f32; heights.len()];
    let mut lane_of = vec![0; heights.len()];
    for (lane, cards) in lanes.iter().enumerate() {
        let mut y = 0.0;
        for (k, &card) in cards.iter().enumerate() {
            y += if k > 0 { gap_above[card] } else { 0.0 };
            tops[card] = y;
            lane_of[card] = lane;
            y += heights[card];
        }
    }
    let mut ties_of: Vec<Vec<(f32, usize, f32, f32)>> = vec![Vec::new(); heights.len()];
    for tie in ties
        .iter()
        .filter(|tie| lane_of[tie.a.0] != lane_of[tie.b.0])
    {
        ties_of[tie.a.0].push((tie.a.1, tie.b.0, tie.b.1, tie.weight));
        ties_of[tie.b.0].push((tie.b.1, tie.a.0, tie.a.1, tie.weight));
    }
    for sweep in 0..SWEEPS {
        for step in 0..lanes.len() {
            let lane = if sweep % 2 == 0 {
                step
            } else {
                lanes.len() - 1 - step
            };
            settle(&lanes[lane], heights, gap_above, &ties_of, &mut tops);
        }
    }
    snap(lanes, heights, gap_above, &mut tops);
    tops
}

/// Neighbouring cards that touch: their wishes for the top of the first, as (value, weight).
struct Block {
    first: usize,
    wishes: Vec<(f32, f32)>,
    at: f32,
}

fn settle(
    cards: &[usize],
    heights: &[f32],
    gap_above: &[f32],
    ties_of: &[Vec<(f32, usize, f32, f32)>],
    tops: &mut [f32],
) {
    // Distances from the lane's first card if all touch; subtracting them leaves only "not decreasing".
    let mut below = Vec::with_capacity(cards.len());
    let mut y = 0.0;
    for (k, &card) in cards.iter().enumerate() {
        y += if k > 0 { gap_above[card] } else { 0.0 };
        below.push(y);
        y += heights[card];
    }
    let mut blocks: Vec<Block> = Vec::new();
    for (k, &card) in cards.iter().enumerate() {
        let wishes: Vec<(f32, f32)> = ties_of[card]
            .iter()
            .map(|&(offset, other, other_offset, weight)| {
                (tops[other] + other_offset - offset - below[k], weight)
            })
            .collect();
        if wishes.is_empty() && k > 0 {
            continue;
        }
        let mut block = Block {
            first: k,
            at: median(&wishes),
            wishes,
        };
        while let Some(above) =
            blocks.pop_if(|above| above.wishes.is_empty() || above.at > block.at)
        {
            block.first = above.first;
            block.wishes.extend(above.wishes);
            block.at = median(&block.wishes);
        }
        blocks.push(block);
    }
    if blocks.iter().all(|block| block.wishes.is_empty()) {
        return;
    }
    for (i, block) in blocks.iter().enumerate() {
        let end = blocks.get(i + 1).map_or(cards.len(), |next| next.first);
        for k in block.first..end {
            tops[cards[k]] = block.at + below[k];
        }
    }
}

/// The weighted median; halfway between the two middle values when the weights below and above are equal.
fn median(wishes: &[(f32, f32)]) -> f32 {
    let mut sorted = wishes.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let half = sorted.iter().map(|w| w.1).sum::<f32>() / 2.0;
    let mut below = 0.0;
    for (i, &(value, weight)) in sorted.iter().enumerate() {
        below += weight;
        if below > half {
            return value;
        }
        if below == half {
            return (value + sorted.get(i + 1).map_or(value, |next| next.0)) / 2.0;
        }
    }
    0.0
}

/// Moves tops to multiples of [`UNIT`], downwards if the distance to the card above requires it.
fn snap(lanes: &[Vec<usize>], heights: &[f32], gap_above: &[f32], tops: &mut [f32]) {
    for cards in lanes {
        let mut least = f32::NEG_INFINITY;
        for (k, &card) in cards.iter().enumerate() {
            let above = if k > 0 {
                least + gap_above[card]
            } else {
                least
            };
            let wished = (tops[card] / UNIT).round() * UNIT;
            tops[card] = if wished >= above {
                wished
            } else {
                (above / UNIT).ceil() * UNIT
            };
            least = tops[card] + heights[card];
        }
    }
}

/// By card: its top. All cards of a session have the same, below those of the sessions before, with room for what runs
/// between two cards of a column.
pub(super) fn bands(
    diagram: &Diagram,
    grid: &Grid,
    heights: &[f32],
    gap_above: &[f32],
) -> Vec<f32> {
    let mut tops = vec![0.0_f32; heights.len()];
    let mut top = 0.0_f32;
    for lane in 0..diagram.lanes.len() {
        let own: Vec<usize> = (0..diagram.cards.len())
            .filter(|card| diagram.cards[*card].lane == lane)
            .collect();
        for &card in &own {
            let above = grid.place_of[card]
                .checked_sub(1)
                .map(|place| grid.lanes[grid.lane_of[card]][place]);
            top = above.map_or(top, |above| {
                top.max(tops[above] + heights[above] + gap_above[card])
            });
        }
        top = (top / UNIT).ceil() * UNIT;
        own.iter().for_each(|card| tops[*card] = top);
        top += own.iter().map(|card| heights[*card]).fold(0.0, f32::max)
            + routes::gap_height(false, 0);
    }
    tops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_keep_order_and_distance_and_align_when_they_can() {
        let lanes = [vec![0, 1, 2], vec![3]];
        let tie = Tie {
            a: (2, 40.0),
            b: (3, 40.0),
            weight: 1.0,
        };
        let tops = place(&lanes, &[60.0; 4], &[24.0; 4], &[tie]);
        assert_eq!(tops[2], tops[3]);
        assert!(tops[1] >= tops[0] + 84.0 && tops[2] >= tops[1] + 84.0);
        assert!(tops.iter().all(|top| top % UNIT == 0.0));
    }

    #[test]
    fn equal_wishes_meet_in_the_middle() {
        assert_eq!(median(&[(10.0, 1.0), (30.0, 1.0)]), 20.0);
        assert_eq!(median(&[(10.0, 1.0), (30.0, 4.0)]), 30.0);
        assert_eq!(median(&[]), 0.0);
    }
}
