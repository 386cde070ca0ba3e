//! Which files of a folder are histories.

use super::{FORMATS, Input, Likelihood, container, etcd, jepsen_run, recognise};
use isoscope_model::control::{Control, Interrupt};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListedFile {
    /// A file or folder that should be a history.
    History(PathBuf),
    /// Something that cannot be read.
    Unusable {
        /// The path.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

/// Whether the files of a folder together are one history, so that it is opened as a whole.
pub fn is_one_history(folder: &Path) -> bool {
    if jepsen_run::history_in(folder).is_some() || !etcd::files_in(folder).is_empty() {
        return true;
    }
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    names.into_iter().any(|entry| {
        container::is_part(&entry.file_name().to_string_lossy()) && entry.path().is_file()
    })
}

/// The histories that paths denote: a file or the folder of one run is one history, any other folder all histories in
/// it and its subfolders, by name. Links to folders are not followed. In a store of Jepsen the histories are its runs; the other files
/// there are passed over.
pub fn histories(paths: &[PathBuf], control: &Control) -> Result<Vec<ListedFile>, Interrupt> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() || is_one_history(path) {
            found.push(ListedFile::History(path.clone()));
            continue;
        }
        let before = found.len();
        look_into(path, &mut found, control)?;
        if found.len() == before {
            let message = match jepsen_run::is_without_history(path) {
                true => jepsen_run::NOT_KEPT.to_owned(),
                false => "there is no history in this folder".to_owned(),
            };
            found.push(ListedFile::Unusable {
                path: path.clone(),
                message,
            });
        }
    }
    Ok(found)
}

fn look_into(
    folder: &Path,
    found: &mut Vec<ListedFile>,
    control: &Control,
) -> Result<(), Interrupt> {
    let mut histories = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        control.check()?;
        let entries =
            std::fs::read_dir(&folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                found.push(ListedFile::Unusable {
                    path: folder,
                    message: error.to_string(),
                });
                continue;
            }
        };
        for entry in entries {
            control.check()?;
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true if is_one_history(&path) => histories.push(path),
                true => folders.push(path),
                false => match looks_like_a_history(&path) {
                    Ok(true) => histories.push(path),
                    Ok(false) => {}
                    Err(message) => found.push(ListedFile::Unusable { path, message }),
                },
            }
        }
    }
    histories.sort();
    found.extend(histories.into_iter().map(ListedFile::History));
    Ok(())
}

/// Extensions that say nothing about the content.
const GENERAL: [&str; 7] = ["txt", "json", "log", "csv", "tsv", "ndjson", "jsonl"];

/// Whether a non-folder in a folder is meant as a history: by its extension if that is specific to a format, else by
/// its first bytes. A `.txt` text that is no history counts, so that a history with a bad first line is not silently
/// skipped; files that describe a folder (a README, a manifest) do not, nor does a link to a folder.
///
/// Errors: unreadable entries, which may be histories. A pipe or a device is not opened: that might block forever and
/// would consume what is read.
fn looks_like_a_history(path: &Path) -> Result<bool, String> {
    if jepsen_run::is_link_to_run(path) || jepsen_run::accompanies(path) {
        return Ok(false);
    }
    let metadata = std::fs::metadata(path).map_err(|error| why_not(path, &error))?;
    if metadata.is_dir() {
        return Ok(false);
    }
    if !metadata.is_file() {
        return Err(
            "is no regular file: a pipe or a device is read when it is named itself".to_owned(),
        );
    }
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    let mut inner = name.as_str();
    let mut packed = false;
    for ending in [".gz", ".zst", ".zip"] {
        if let Some(rest) = inner.strip_suffix(ending) {
            (inner, packed) = (rest, true);
        }
    }
    let extension = Path::new(inner)
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    let of_a_format = FORMATS
        .iter()
        .any(|format| format.extensions.contains(&extension));
    let explains = ["readme", "license", "manifest", "results", "index"]
        .iter()
        .any(|word| inner.starts_with(word));
    if of_a_format && !GENERAL.contains(&extension) {
        return Ok(true);
    }
    // Packed files are not unpacked for this.
    if packed || extension == "tar" {
        return Ok(!explains);
    }
    let mut head = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(super::SNIFFED as u64).read_to_end(&mut head));
    read.map_err(|error| why_not(path, &error))?;
    let name = path.to_string_lossy();
    let likelihood =
        recognise(&Input::new(&name, &head)).map_or(Likelihood::No, |(_, likelihood)| likelihood);
    Ok(likelihood >= Likelihood::Likely || (extension == "txt" && !explains))
}

/// Why there is nothing to read at a path of a folder.
fn why_not(path: &Path, error: &io::Error) -> String {
    match (error.kind(), path.is_symlink()) {
        (io::ErrorKind::NotFound, true) => "is a link to something that is not there".to_owned(),
        (io::ErrorKind::NotFound, false) => "no such file any more".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}
