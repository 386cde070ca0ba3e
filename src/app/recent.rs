//! The files opened before, kept in a small text file: a path per line, newest first.

use std::path::{Path, PathBuf};

/// Most files remembered.
pub const MAX: usize = 10;

/// Where the list is kept on this system, if there is a place for it.
pub fn place() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable("XDG_STATE_HOME")
        .or_else(|| variable("LOCALAPPDATA"))
        .or_else(|| variable("HOME").map(|home| home.join(".local").join("state")))?;
    Some(folder.join("isoscope").join("recent.txt"))
}

/// Reads the list; files that are gone are left out.
pub fn load(place: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(place).unwrap_or_default();
    text.lines().filter(|line| !line.is_empty()).map(PathBuf::from).filter(|path| path.exists()).take(MAX).collect()
}

/// Puts a path first.
pub fn remember(list: &mut Vec<PathBuf>, path: &Path) {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    list.retain(|other| *other != path);
    list.insert(0, path);
    list.truncate(MAX);
}

/// Writes the list. That it cannot be written is no reason to bother anybody: the list is a convenience.
pub fn save(list: &[PathBuf], place: &Path) {
    if let Some(folder) = place.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let lines: Vec<String> = list.iter().map(|path| path.display().to_string()).collect();
    let _ = std::fs::write(place, lines.join("\n") + "\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comes_first_and_once() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = folder.path().join("state").join("recent.txt");
        let files: Vec<PathBuf> = ["a", "b"].iter().map(|name| folder.path().join(name)).collect();
        files.iter().for_each(|file| std::fs::write(file, "").expect("the folder is writable"));
        let mut list = Vec::new();
        [0, 1, 0].into_iter().for_each(|file| remember(&mut list, &files[file]));
        save(&list, &place);
        let names: Vec<_> = load(&place).iter().filter_map(|path| path.file_name().map(ToOwned::to_owned)).collect();
        assert_eq!(names, ["a", "b"]);
        std::fs::remove_file(&files[0]).expect("it was written");
        assert_eq!(load(&place).len(), 1);
        assert_eq!(load(&folder.path().join("missing")), Vec::<PathBuf>::new());
    }
}
