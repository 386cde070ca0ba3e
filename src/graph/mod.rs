//! Algorithms on vertex numbers.
//!
//! Vertices are dense `u32`s, edges are pairs of them. Nothing here knows about transactions, histories or relations:
//! the builder of a [`Digraph`] decides what its vertices and edge ids represent. No algorithm recurses, and each
//! result depends only on the order of the edges given, so the same input always gives the same output.

mod biconnected;
mod closure;
mod digraph;
mod path;
mod rows;
mod scc;
mod topological;

pub use biconnected::{Blocks, biconnected_components};
pub use closure::Closure;
pub use digraph::{Arc, Digraph};
pub use path::{PathFinder, shortest_cycle};
pub use rows::Rows;
pub(crate) use rows::row_begins;
pub use scc::{Components, strong_components};
pub use topological::{topological_order, topological_order_by_priority};
