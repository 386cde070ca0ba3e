//! From paths to histories.

use crate::control::Control;
use crate::formats::{self, FORMATS, Input, Likelihood, OpenError};
use crate::history::History;
use anyhow::Context;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Reads one history and tells how many seconds it took.
pub(super) fn open(path: &Path, format: Option<&str>) -> Result<(History, f64), OpenError> {
    let start = Instant::now();
    let history = formats::open(path, format, &Control::new())?;
    Ok((history, start.elapsed().as_secs_f64()))
}

/// What a path stands for.
#[derive(Debug)]
pub(super) enum Found {
    /// A file that should be a history.
    File(PathBuf),
    /// Something that cannot be looked into.
    Unusable {
        /// The path.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

/// The files that paths stand for: files as given, folders as every history in them (and in their folders), by name.
pub(super) fn files(paths: &[PathBuf]) -> Vec<Found> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = files.len();
            add_folder(path, &mut files);
            if files.len() == before {
                let message = "there is no history in this folder".to_owned();
                files.push(Found::Unusable { path: path.clone(), message });
            }
        } else {
            files.push(Found::File(path.clone()));
        }
    }
    files
}

/// Adds the histories in a folder and in the folders below it, whatever their depth. Links to folders are not followed.
fn add_folder(folder: &Path, files: &mut Vec<Found>) {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                files.push(Found::Unusable { path: folder, message: error.to_string() });
                continue;
            }
        };
        for entry in entries {
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if looks_like_a_history(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    files.extend(found.into_iter().map(Found::File));
}

/// Whether a file of a folder is meant: by its ending, or else by its first bytes.
fn looks_like_a_history(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    if extension.is_some_and(|e| FORMATS.iter().any(|format| format.extensions.contains(&e.as_str()))) {
        return true;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(formats::SNIFFED as u64).read_to_end(&mut head));
    let name = path.to_string_lossy();
    read.is_ok()
        && formats::recognise(&Input::new(&name, &head)).is_some_and(|(_, likely)| likely >= Likelihood::Likely)
}

/// The format to write: as asked, else by the ending of the output, else `otherwise`.
pub(super) fn target_format(
    asked: Option<&str>,
    output: &Path,
    otherwise: Option<&str>,
) -> anyhow::Result<&'static str> {
    let writable = || {
        let names = FORMATS.iter().filter(|format| format.write.is_some()).map(|format| format.name);
        names.collect::<Vec<_>>().join(", ")
    };
    if let Some(name) = asked {
        let format = formats::format(name);
        return format
            .map(|format| format.name)
            .with_context(|| format!("unknown format `{name}`, expected one of {}", writable()));
    }
    let extension = output.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let fits = |format: &&formats::Format| {
        format.write.is_some() && extension.as_deref().is_some_and(|e| format.extensions.contains(&e))
    };
    // The source's own format wins where it uses this ending too, so that `.txt` stays what it was.
    let own = otherwise.and_then(formats::format).filter(|format| fits(format) || extension.is_none());
    let found = own.or_else(|| FORMATS.iter().find(fits)).or_else(|| otherwise.and_then(formats::format));
    found.map(|format| format.name).with_context(|| {
        format!("{}: no format has this ending, name one of {} with --to", output.display(), writable())
    })
}

/// Fails when there is no format of this name.
pub(super) fn known_format(name: &str) -> anyhow::Result<()> {
    if formats::format(name).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    anyhow::bail!("unknown format `{name}`, expected one of {}", names.join(", "))
}
