//! The lattice of levels that a history of items can decide: which products promise which level, and the strongest levels
//! that hold.

mod promises;
mod strongest;

pub use isoscope_model::levels::{Base, CountedOrder as Order, levels, named, promise};
pub use promises::{
    Claim, ClaimedLevel, PROMISES, Promise, claimed, strongest, strongest_satisfied,
};
pub use strongest::{StrongestOrder, holds};

use super::Level;

/// The products and settings that promise a level.
pub fn promised_by(level: Level) -> impl Iterator<Item = &'static Promise> {
    PROMISES
        .iter()
        .filter(move |promise| promise.asked() == Some(level))
}

#[cfg(test)]
mod tests;
