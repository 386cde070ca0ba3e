//! Values that arguments of several commands have.

use crate::checkers::Level;
use crate::checkers::lattice::{self, Promise};
use clap::ValueEnum;

pub(super) fn level(text: &str) -> Result<Level, String> {
    lattice::named(text)
}

/// What is claimed of the database that a history comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Claim {
    /// The claims that are known are asked for.
    Help,
    /// What a product promises.
    Of(&'static Promise),
}

pub(super) fn claim(text: &str) -> Result<Claim, String> {
    if text == "help" {
        Ok(Claim::Help)
    } else {
        Promise::named(text).map(Claim::Of)
    }
}

/// What JSON is described by a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Described {
    /// What `check --json` prints
    Report,
    /// What `check --follow --json` prints
    Followed,
    /// The format `json` of histories
    History,
    /// What `collect` and a driver program say to each other, a line each
    Driver,
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        // Longer than a century is as good as no limit, and still fits a duration.
        Ok(seconds) if seconds >= 0.0 && seconds.is_finite() => Ok(seconds.min(4e9)),
        _ => Err("expected a number of seconds".to_owned()),
    }
}
