//! The target of a path to be written.

use super::FileError;
use std::path::{Path, PathBuf};

/// Maximum number of chained links that are followed, as in operating systems.
const MOST_LINKS: usize = 40;

/// Where bytes go.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Into what exists: a device, a named pipe, an open file of a process.
    Through(PathBuf),
    /// To this path, as a whole; links on the way have been followed.
    Whole(PathBuf),
}

impl Target {
    pub(super) fn of(path: &Path) -> Result<Target, FileError> {
        let there = std::fs::metadata(path).ok();
        if there.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            return Err(FileError::new(path, "is a directory, expected a file name"));
        }
        if there.as_ref().is_some_and(|there| !there.is_file()) {
            return Ok(Target::Through(path.to_owned()));
        }
        let place = followed(path)?;
        let leads_there = match (&there, std::fs::symlink_metadata(&place)) {
            (Some(there), Ok(found)) => is_same(there, &found),
            (Some(_), Err(_)) => false,
            (None, _) => true,
        };
        // A link in the system's process table may lead to a file that no longer has a name.
        if !leads_there {
            return Ok(Target::Through(path.to_owned()));
        }
        folder_of(&place)?;
        Ok(Target::Whole(place))
    }
}

/// The path behind the links at the end of `path`; its target need not exist.
fn followed(path: &Path) -> Result<PathBuf, FileError> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&place) {
            Ok(next) => place = parent(&place).join(next),
            Err(_) => return Ok(place),
        }
    }
    Err(FileError::new(
        path,
        "too many links that lead to each other",
    ))
}

/// The folder of a path; an error if it does not exist.
pub(super) fn folder_of(path: &Path) -> Result<&Path, FileError> {
    let folder = parent(path);
    match std::fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => Ok(folder),
        Ok(_) => Err(FileError::new(
            path,
            format!("{} is no folder", folder.display()),
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(FileError::new(
            path,
            format!("there is no folder {}", folder.display()),
        )),
        Err(error) => Err(FileError::new(path, error)),
    }
}

/// The folder that a path is in.
pub(super) fn parent(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn is_same(one: &std::fs::Metadata, other: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(one: &std::fs::Metadata, other: &std::fs::Metadata) -> bool {
    one.is_file() == other.is_file()
}
