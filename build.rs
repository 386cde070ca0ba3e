//! Tells the tests which files they may count on that are not part of the repository: those that need them are ignored, and
//! listed as such, where they are absent. Nothing else depends on it, and what is published has no build script.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=ISOSCOPE_CORPUS");
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let corpus =
        std::env::var_os("ISOSCOPE_CORPUS").map_or_else(|| beside.join("corpus"), PathBuf::from);
    let counts = corpus.join("../plume-letters.json");
    for (name, path) in [
        ("corpus", corpus),
        ("published_counts", counts),
        ("recordings", beside.join("recorded")),
    ] {
        println!("cargo::rustc-check-cfg=cfg({name})");
        if path.exists() {
            println!("cargo::rustc-cfg={name}");
        }
    }
}
