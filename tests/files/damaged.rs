//! Every sample, cut off and damaged: it is read as something else or refused in one line, and nothing panics.

use crate::common;

use isoscope::control::Control;
use isoscope::formats::{self, FilePart, Input};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Places at which each sample is cut off.
const CUTS: usize = 200;
/// Damaged copies of each sample.
const FLIPS: u64 = 1_000;

/// All files below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the samples are part of the repository") {
            let path = entry.expect("readable").path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.ends_with("README.md") => {}
                false => found.push(path),
            }
        }
    }
    found.sort();
    found
}

/// Reads bytes as whatever they look like, as the sample's own format, and as a file of a folder.
fn look_at(name: &str, format: &str, bytes: &[u8]) {
    let control = Control::new();
    let part = [FilePart { name, bytes }];
    let results = [
        formats::read(&Input::new(name, bytes), None, &control),
        formats::read(&Input::new(name, bytes), Some(format), &control),
        formats::read(&Input::folder("folder", &part), Some(format), &control),
    ];
    for error in results
        .into_iter()
        .filter_map(Result::err)
        .map(|error| error.to_string())
    {
        assert!(!error.contains('\n') && error.len() < 1000, "{error}");
    }
    if let Err(error) = formats::open_bytes(name, bytes, None, &control) {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn samples_cut_off_or_damaged_never_panic() {
    let files = files(&common::repository("sample_histories"));
    assert!(files.len() > 40);
    files.par_iter().for_each(|path| {
        let bytes = std::fs::read(path).expect("readable");
        let name = path.file_name().expect("a file").to_string_lossy();
        let history = formats::read(&Input::new(&name, &bytes), None, &Control::new());
        let format = history
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .origin()
            .format;
        for cut in 0..CUTS {
            look_at(&name, format, &bytes[..bytes.len() * cut / CUTS]);
        }
        let mut random = fastrand::Rng::with_seed(bytes.len() as u64);
        for _ in 0..FLIPS {
            let mut damaged = bytes.clone();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..damaged.len());
                damaged[at] = random.u8(..);
            }
            look_at(&name, format, &damaged);
        }
    });
}
