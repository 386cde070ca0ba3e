//! Sessions as rows, time to the right: the engine of the lanes with a column for each moment.

use super::lanes::arranged;
use super::measure::{SMALL_FONT, UNIT};
use super::ports::Grid;
use super::{Layout, routes};
use crate::diagram::Diagram;
use crate::diagram::text_size::width;
use emath::{Rect, pos2};

/// Space around the cards of a row.
const PAD: f32 = 10.0;

/// Lays out a diagram with a row for each session, in the order of its lanes, and the cards in these columns. Titles of
/// rows are to the left of their cards. A column has at most one card of each session. The same costs as
/// [`lanes`](super::lanes).
pub fn sequence(diagram: &Diagram, mut columns: Vec<Vec<usize>>) -> Layout {
    if diagram.cards.is_empty() {
        return Layout::default();
    }
    columns.iter_mut().for_each(|column| column.sort_unstable_by_key(|card| diagram.cards[*card].lane));
    let grid = Grid { has_bands: true, is_by_session: true, ..Grid::of(columns) };
    let (_, cards, routes) = arranged(diagram, &grid);
    let mut layout = Layout { bounds: Rect::NOTHING, lanes: Vec::new(), cards, routes };
    let content = layout.content();
    let title = |lane: &crate::diagram::Lane| width(&lane.title, SMALL_FONT);
    let left = content.left() - PAD - 28.0 - diagram.lanes.iter().map(title).fold(0.0, f32::max);
    // The top and the bottom of the cards of a row; rows meet halfway.
    let cards_of = |lane: usize| {
        let own = diagram.cards.iter().zip(&layout.cards).filter(move |(card, _)| card.lane == lane);
        own.map(|(_, space)| space.rect).fold(Rect::NOTHING, Rect::union)
    };
    let own: Vec<Rect> = (0..diagram.lanes.len()).map(cards_of).collect();
    let edge = |lane: usize| match lane {
        0 => content.top().min(own[0].top()) - PAD,
        lane if lane == own.len() => content.bottom() + PAD,
        lane => (own[lane - 1].bottom() + own[lane].top()) / 2.0,
    };
    let row = |lane: usize| Rect::from_min_max(pos2(left, edge(lane)), pos2(content.right() + PAD, edge(lane + 1)));
    layout.lanes = (0..own.len()).map(row).collect();
    layout.bounds = layout.lanes.iter().fold(content, |bounds, lane| bounds.union(*lane));
    layout.at_origin()
}

/// By card: its top. All cards of a session have the same, below those of the sessions before, with room for what runs
/// between two cards of a column.
pub(super) fn bands(diagram: &Diagram, grid: &Grid, heights: &[f32], gap_above: &[f32]) -> Vec<f32> {
    let mut tops = vec![0.0_f32; heights.len()];
    let mut top = 0.0_f32;
    for lane in 0..diagram.lanes.len() {
        let own: Vec<usize> = (0..diagram.cards.len()).filter(|card| diagram.cards[*card].lane == lane).collect();
        for &card in &own {
            let above = grid.place_of[card].checked_sub(1).map(|place| grid.lanes[grid.lane_of[card]][place]);
            top = above.map_or(top, |above| top.max(tops[above] + heights[above] + gap_above[card]));
        }
        top = (top / UNIT).ceil() * UNIT;
        own.iter().for_each(|card| tops[*card] = top);
        top += own.iter().map(|card| heights[*card]).fold(0.0, f32::max) + routes::gap_height(false, 0);
    }
    tops
}
