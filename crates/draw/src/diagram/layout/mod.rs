//! Where things are drawn: coordinates for the cards and arrows of a [`Diagram`](super::Diagram).
//!
//! [`arrange`] computes several layouts of a diagram, measures them and takes the one that is easiest to read. The ways
//! to get a [`Layout`]: [`lanes`] (sessions as columns; no edge passes through a card), rings and grids of cards with
//! the same engine, [`sequence()`] (sessions as rows, time to the right), [`graphviz`] (layers, by layout-rs), and [`lanes_moved`] (one with some cards moved by hand).
//! [`problems`] reports what is wrong with one. The unit is a point at zoom 1; y grows downwards. The same diagram
//! always gives the same layout.

mod choose;
mod graphviz;
mod grid;
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
mod sequence;

pub(super) use grid::ring;

pub use choose::{Arranged, LEAST_SCALE, arrange};
pub use graphviz::{MAX_CARDS, TooManyCards, graphviz};
pub use invariants::{Problem, crossings, problems};
pub use lanes::lanes;
pub(super) use measure::{CARD_PAD, folded_text, label_size};
pub use measure::{
    LABEL_FONT, MAX_TITLE_COLUMNS, ROW_FONT, SMALL_FONT, TITLE_FONT, disc_size, label_text,
    number_text, place_text, proof_width, row_parts, row_text, shortened, status_text, title_text,
};
pub use moved::lanes_moved;
pub use sequence::sequence;

use super::path::Path;
use emath::{Rect, Vec2};

/// The requested layout.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum LayoutStyle {
    /// Whichever is easiest to read.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// A column per session.
    #[serde(rename = "sessions")]
    Lanes,
    /// In layers along the edges.
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

    /// Moves it.
    pub fn translate(&mut self, by: Vec2) {
        self.rect = self.rect.translate(by);
        self.header = self.header.translate(by);
        self.rows
            .iter_mut()
            .for_each(|row| *row = row.translate(by));
        self.folded = self.folded.map(|folded| folded.translate(by));
    }
}

/// An arrow's line and label.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// From the source card's border to the tip on the target card's border.
    pub path: Path,
    /// The label's background, with the text centred in it.
    pub label: Rect,
}

/// Coordinates of a diagram.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Encloses everything.
    pub bounds: Rect,
    /// By lane: its background, title band on top. Empty in layouts without lanes.
    pub lanes: Vec<Rect>,
    /// By card.
    pub cards: Vec<CardBox>,
    /// By arrow.
    pub routes: Vec<Route>,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout {
            bounds: Rect::ZERO,
            lanes: Vec::new(),
            cards: Vec::new(),
            routes: Vec::new(),
        }
    }
}

impl Layout {
    /// Bounds of cards, lines and labels.
    fn content(&self) -> Rect {
        let lines = self
            .routes
            .iter()
            .flat_map(|route| [route.path.bounds(), route.label]);
        self.cards
            .iter()
            .map(|card| card.rect)
            .chain(lines)
            .fold(Rect::NOTHING, Rect::union)
    }

    /// Moves everything so that the bounds start at the origin.
    fn at_origin(mut self) -> Layout {
        let by = -self.bounds.min.to_vec2();
        self.bounds = self.bounds.translate(by);
        self.lanes
            .iter_mut()
            .for_each(|lane| *lane = lane.translate(by));
        self.cards.iter_mut().for_each(|card| card.translate(by));
        for route in &mut self.routes {
            route.path = route.path.translated(by);
            route.label = route.label.translate(by);
        }
        self
    }
}
