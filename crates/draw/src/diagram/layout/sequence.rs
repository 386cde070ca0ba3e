//! Sessions as rows, time to the right: the engine of the lanes with a column for each moment.

use super::Layout;
use super::lanes::arranged;
use super::measure::SMALL_FONT;
use super::ports::Grid;
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
    columns
        .iter_mut()
        .for_each(|column| column.sort_unstable_by_key(|card| diagram.cards[*card].lane));
    let grid = Grid {
        has_bands: true,
        is_by_session: true,
        ..Grid::of(columns)
    };
    let (_, cards, routes) = arranged(diagram, &grid);
    let mut layout = Layout {
        bounds: Rect::NOTHING,
        lanes: Vec::new(),
        cards,
        routes,
    };
    let content = layout.content();
    // The window draws titles larger where it shrinks the picture.
    let title = |lane: &crate::diagram::Lane| 1.2 * width(&lane.title, SMALL_FONT);
    let left = content.left() - PAD - 28.0 - diagram.lanes.iter().map(title).fold(0.0, f32::max);
    // The top and the bottom of the cards of a row; rows meet halfway.
    let cards_of = |lane: usize| {
        let own = diagram
            .cards
            .iter()
            .zip(&layout.cards)
            .filter(move |(card, _)| card.lane == lane);
        own.map(|(_, space)| space.rect)
            .fold(Rect::NOTHING, Rect::union)
    };
    let own: Vec<Rect> = (0..diagram.lanes.len()).map(cards_of).collect();
    let edge = |lane: usize| match lane {
        0 => content.top().min(own[0].top()) - PAD,
        lane if lane == own.len() => content.bottom() + PAD,
        lane => (own[lane - 1].bottom() + own[lane].top()) / 2.0,
    };
    let row = |lane: usize| {
        Rect::from_min_max(
            pos2(left, edge(lane)),
            pos2(content.right() + PAD, edge(lane + 1)),
        )
    };
    layout.lanes = (0..own.len()).map(row).collect();
    layout.bounds = layout
        .lanes
        .iter()
        .fold(content, |bounds, lane| bounds.union(*lane));
    layout.at_origin()
}
