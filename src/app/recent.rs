//! The files opened before, kept in a small text file: a path per line, newest first.

use super::App;
use super::tasks::{Failure, Task};
use std::path::{Path, PathBuf};

/// Maximum number of files remembered.
pub const MAX: usize = 10;

/// Where the list is stored on this system, if there is a place for it.
pub fn place() -> Option<PathBuf> {
    let variable = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let folder = variable("XDG_STATE_HOME")
        .or_else(|| variable("LOCALAPPDATA"))
        .or_else(|| variable("HOME").map(|home| home.join(".local").join("state")))?;
    Some(folder.join("isoscope").join("recent.txt"))
}

/// Reads the list; files that are gone are still in it: `MISSING` asks for them.
pub fn load(place: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(place).unwrap_or_default();
    text.lines()
        .filter(|line| !line.is_empty())
        .map(PathBuf::from)
        .take(MAX)
        .collect()
}

/// Finding out which of the files are gone. A missing disk may take its time to answer.
pub(super) static MISSING: Task<Vec<PathBuf>> = Task {
    is_of_history: false,
    shows_progress: false,
    ..Task::new("recent", Failure::Silent, |app, gone| {
        app.state.recent.retain(|file| !gone.contains(file))
    })
};

impl App {
    /// Takes files that are gone off the list.
    pub(super) fn check_recent(&mut self) {
        let list = self.state.recent.clone();
        self.ask(&MISSING, |_| {
            Some(list.into_iter().filter(|path| !path.exists()).collect())
        });
    }
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
        ["a", "b", "a"]
            .into_iter()
            .for_each(|name| remember(&mut list, folder.path().join(name)));
        std::fs::write(&place, text(&list)).expect("the folder is writable");
        let names: Vec<_> = load(&place)
            .iter()
            .filter_map(|path| path.file_name().map(ToOwned::to_owned))
            .collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(load(&folder.path().join("missing")), Vec::<PathBuf>::new());
    }

    #[test]
    fn files_that_are_gone_leave_the_list() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let here = folder.path().join("here");
        std::fs::write(&here, "").expect("the folder is writable");
        let gone = folder.path().join("gone");
        let mut app = App::new(None);
        app.state.recent = vec![here.clone(), gone];
        app.check_recent();
        while app.tasks.has(&MISSING) {
            app.poll_tasks();
        }
        assert_eq!(app.state.recent, [here]);
    }
}
