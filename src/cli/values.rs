//! Values that arguments of several commands have.

use crate::checkers::{Level, lattice};

pub(super) fn level(text: &str) -> Result<Level, String> {
    lattice::named(text)?.decided()
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        // Longer than a century is as good as no limit, and still fits a duration.
        Ok(seconds) if seconds >= 0.0 && seconds.is_finite() => Ok(seconds.min(4e9)),
        _ => Err("expected a number of seconds".to_owned()),
    }
}
