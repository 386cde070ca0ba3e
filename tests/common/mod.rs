//! What tests share: literal oracles, small random histories, and where things lie on disk. Unit tests include it too.

// Every test binary compiles this module and uses its own part of it.
#![allow(dead_code, unused_imports)]

pub(crate) mod adya;
#[cfg(unix)]
pub(crate) mod browser;
pub(crate) mod examine;
pub(crate) mod followed;
pub(crate) mod forgeries;
#[cfg(unix)]
pub(crate) mod galera;
pub(crate) mod instances;
pub(crate) mod oracle;
pub(crate) mod papers;
pub(crate) mod parts;
pub(crate) mod pattern_oracle;
#[cfg(unix)]
pub(crate) mod postgres;
#[cfg(unix)]
pub(crate) mod servers;
#[cfg(unix)]
pub(crate) mod slurm;
pub(crate) mod store;
pub(crate) mod strong;
pub(crate) mod tamper;

pub(crate) use isoscope_testing::*;

use isoscope::control::Control;
use isoscope::formats;
use isoscope::history::{Origin, Spot};
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

/// The content of a file at one spot.
pub(crate) fn raw_spot(path: &Path, origin: &Origin, spot: Spot) -> io::Result<String> {
    formats::raw_spots(path, origin, &[spot], &Control::new())?.remove(0)
}
