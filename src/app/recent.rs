//! The files opened before, kept in a small text file: a path per line, newest first.

use crate::jobs::{Job, Revision, Wake};
use std::path::{Path, PathBuf};

/// Maximum number of files remembered.
pub const MAX: usize = 10;

/// Where the list is stored on this system, if there is a place for it.
pub fn place() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable("XDG_STATE_HOME")
        .or_else(|| variable("LOCALAPPDATA"))
        .or_else(|| variable("HOME").map(|home| home.join(".local").join("state")))?;
    Some(folder.join("isoscope").join("recent.txt"))
}

/// Reads the list; files that are gone are still in it, see [`start`].
pub fn load(place: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(place).unwrap_or_default();
    text.lines().filter(|line| !line.is_empty()).map(PathBuf::from).take(MAX).collect()
}

/// Starts checking which files of a list are gone, on a thread of its own, because a missing disk may take its time to
/// answer.
pub fn start(list: Vec<PathBuf>, revision: Revision, wake: Wake) -> Job<Vec<PathBuf>> {
    Job::start("recent", revision, wake, move |_, outbox| {
        outbox.send(list.into_iter().filter(|path| !path.exists()).collect());
    })
}

/// The path by which a file is remembered.
pub fn full(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Puts a path first.
pub fn remember(list: &mut Vec<PathBuf>, path: PathBuf) {
    list.retain(|other| *other != path);
    list.insert(0, path);
    list.truncate(MAX);
}

/// The list as stored.
pub fn text(list: &[PathBuf]) -> String {
    let lines: Vec<String> = list.iter().map(|path| path.display().to_string()).collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comes_first_and_once() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = folder.path().join("recent.txt");
        let mut list = Vec::new();
        ["a", "b", "a"].into_iter().for_each(|name| remember(&mut list, folder.path().join(name)));
        std::fs::write(&place, text(&list)).expect("the folder is writable");
        let names: Vec<_> = load(&place).iter().filter_map(|path| path.file_name().map(ToOwned::to_owned)).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(load(&folder.path().join("missing")), Vec::<PathBuf>::new());
    }

    #[test]
    fn files_that_are_gone_are_told() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let here = folder.path().join("here");
        std::fs::write(&here, "").expect("the folder is writable");
        let gone = folder.path().join("gone");
        let mut job = start(vec![here, gone.clone()], Revision::default(), std::sync::Arc::new(|| ()));
        let mut told = Vec::new();
        while job.is_running() {
            told.extend(job.poll());
        }
        assert_eq!(told, [vec![gone]]);
    }
}
