//! Where things are drawn: coordinates for the cards and arrows of a [`Diagram`](super::Diagram).
//!
//! Three ways to make a [`Layout`]: [`lanes`] (sessions as columns; no edge passes through a card), [`lanes_moved`] (the
//! same with some cards put elsewhere by hand) and [`graphviz`] (layers, by layout-rs). [`problems`] says what is wrong
//! with one. The unit is a point at zoom 1; y grows downwards. The same diagram always gives the same layout.

mod graphviz;
mod gutters;
mod invariants;
mod labels;
mod lane_order;
mod lanes;
mod measure;
mod moved;
mod placement;
mod ports;
mod routes;

pub use graphviz::{MAX_CARDS, TooManyCards, graphviz};
pub use invariants::{Problem, problems};
pub use lanes::lanes;
pub(crate) use measure::{CARD_PAD, folded_text};
pub use measure::{LABEL_FONT, ROW_FONT, SMALL_FONT, TITLE_FONT, label_text, row_text, title_text};
pub use moved::lanes_moved;

use super::path::Path;
use emath::{Rect, Vec2};

/// Which layout is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize)]
pub enum LayoutStyle {
    /// Sessions as columns.
    #[default]
    #[serde(rename = "sessions")]
    Lanes,
    /// Layers as Graphviz draws them.
    #[serde(rename = "layers")]
    Layered,
}

/// A card and its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct CardBox {
    /// The whole card.
    pub rect: Rect,
    /// Title and status.
    pub header: Rect,
    /// By row of the card.
    pub rows: Vec<Rect>,
    /// The line that counts what is not shown.
    pub folded: Option<Rect>,
}

impl CardBox {
    /// The part an edge end belongs to: a row, or the header.
    pub fn part(&self, row: Option<usize>) -> Rect {
        row.map_or(self.header, |row| self.rows[row])
    }

    fn translate(&mut self, by: Vec2) {
        self.rect = self.rect.translate(by);
        self.header = self.header.translate(by);
        self.rows.iter_mut().for_each(|row| *row = row.translate(by));
        self.folded = self.folded.map(|folded| folded.translate(by));
    }
}

/// An arrow's line and label.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// From the source card's border to the tip on the target card's border.
    pub path: Path,
    /// The label's ground, text centred in it.
    pub label: Rect,
}

/// Coordinates of a diagram.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Everything is inside.
    pub bounds: Rect,
    /// By lane: its ground, title band on top. Empty in layouts without lanes.
    pub lanes: Vec<Rect>,
    /// By card.
    pub cards: Vec<CardBox>,
    /// By arrow.
    pub routes: Vec<Route>,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout { bounds: Rect::ZERO, lanes: Vec::new(), cards: Vec::new(), routes: Vec::new() }
    }
}

impl Layout {
    /// Moves everything so that the bounds start at the origin.
    fn at_origin(mut self) -> Layout {
        let by = -self.bounds.min.to_vec2();
        self.bounds = self.bounds.translate(by);
        self.lanes.iter_mut().for_each(|lane| *lane = lane.translate(by));
        self.cards.iter_mut().for_each(|card| card.translate(by));
        for route in &mut self.routes {
            route.path = route.path.translated(by);
            route.label = route.label.translate(by);
        }
        self
    }
}
