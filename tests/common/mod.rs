//! What tests share: literal oracles, small random histories, and where things lie on disk. Unit tests include it too.

// Every test binary compiles this module and uses its own part of it.
#![allow(dead_code)]

pub(crate) mod adya;
#[cfg(unix)]
pub(crate) mod browser;
pub(crate) mod enumerate;
pub(crate) mod examine;
pub(crate) mod followed;
pub(crate) mod forgeries;
pub(crate) mod formulas;
#[cfg(unix)]
pub(crate) mod galera;
pub(crate) mod instances;
pub(crate) mod lattice;
pub(crate) mod linear;
pub(crate) mod lists;
pub(crate) mod mixed;
pub(crate) mod notation;
pub(crate) mod oracle;
pub(crate) mod papers;
pub(crate) mod parts;
pub(crate) mod pattern_oracle;
#[cfg(unix)]
pub(crate) mod postgres;
pub(crate) mod published_oracle;
pub(crate) mod random;
pub(crate) mod rewrite;
#[cfg(unix)]
pub(crate) mod servers;
pub(crate) mod shop;
pub(crate) mod sketch;
#[cfg(unix)]
pub(crate) mod slurm;
pub(crate) mod sound;
pub(crate) mod store;
pub(crate) mod strong;
pub(crate) mod tamper;

use isoscope::control::Control;
use isoscope::formats;
use isoscope::history::{History, Origin, Spot};
use isoscope::relations::{Index, resolve};
use std::io;
use std::path::{Path, PathBuf};

/// A file or folder of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The folder of real histories, which is not part of the repository: `ISOSCOPE_CORPUS`, or `shared/corpus` next to the
/// repository. Tests that need it are ignored where it is absent (`cfg(corpus)`, see `build.rs`).
pub(crate) fn corpus() -> PathBuf {
    std::env::var_os("ISOSCOPE_CORPUS")
        .map_or_else(|| repository("../shared/corpus"), PathBuf::from)
}

/// A history in IsoScope's own notation.
pub(crate) fn history(text: &str) -> History {
    formats::text::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What the engines are given of a history.
pub(crate) fn index(history: &History) -> Index {
    let control = Control::new();
    let resolution = resolve(history, &control).expect("no limit was set");
    Index::build(history, &resolution, &control).expect("no limit was set")
}

/// The content of a file at one spot.
pub(crate) fn raw_spot(path: &Path, origin: &Origin, spot: Spot) -> io::Result<String> {
    formats::raw_spots(path, origin, &[spot], &Control::new())?.remove(0)
}
