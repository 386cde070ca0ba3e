#![doc = include_str!("../README.md")]
#![allow(missing_docs)] // For tests alone.

pub mod described;
pub mod enumerate;
pub mod formulas;
pub mod lattice;
pub mod linear;
pub mod lists;
pub mod mixed;
pub mod notation;
pub mod published_oracle;
pub mod random;
pub mod rewrite;
pub mod shop;
pub mod sketch;
pub mod sound;
pub mod tables;

use isoscope_model::control::Control;
use isoscope_model::history::History;
use isoscope_model::relations::{Index, resolve};

/// A history in IsoScope's own notation.
pub fn history(text: &str) -> History {
    isoscope_formats::text::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What the engines are given of a history.
pub fn index(history: &History) -> Index {
    let control = Control::new();
    let resolution = resolve(history, &control).expect("no limit was set");
    Index::build(history, &resolution, &control).expect("no limit was set")
}
