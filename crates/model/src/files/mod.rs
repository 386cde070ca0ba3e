//! Output files, complete or absent.
//!
//! A regular file is written under another name in the same folder and moved to its place when it is complete, so no
//! reader ever finds half of it. A symbolic link stays: its target is replaced in place. Anything but a regular file (a
//! device, a named pipe) cannot be replaced by one and is written through. A folder appears when everything is in it.
//!
//! Temporary names are removed if the work fails, and if the process is asked to end (`temporary`).

mod target;
mod temporary;

pub use temporary::TemporaryFolder;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use target::Target;
use temporary::TemporaryFile;

/// Why a file was not written, in one line that begins with its path.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct FileError {
    path: PathBuf,
    problem: String,
}

impl FileError {
    fn new(path: &Path, problem: impl ToString) -> FileError {
        FileError {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}

/// Writes what `write` writes to the file at `path`; if that fails there is no file, or the previous one. The file gets
/// the permissions of the one it replaces, or those of any new file.
///
/// Errors: those of `write`, and of the system, which name the file.
pub fn write_file<E: From<FileError>>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let say = |error: io::Error| FileError::new(path, plain(&error));
    match Target::of(path)? {
        Target::Through(place) => {
            let file = File::options().write(true).open(place).map_err(say)?;
            fill(&file, path, write)
        }
        Target::Whole(place) => {
            let file = TemporaryFile::near(&place).map_err(say)?;
            fill(file.as_file(), path, write)?;
            Ok(file.persist(&place).map_err(say)?)
        }
    }
}

/// Lets `write` write all of a file.
fn fill<E: From<FileError>>(
    file: &File,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let mut sink = Sink {
        file: BufWriter::new(file),
        failed: None,
    };
    let written = write(&mut sink);
    let flushed = sink.file.flush();
    // What is left in the buffer must not be retried.
    let (_, _) = sink.file.into_parts();
    match sink.failed.or(flushed.err().map(|error| plain(&error))) {
        // The system's error says more than what `write` made of it.
        Some(problem) => Err(FileError::new(path, problem).into()),
        None => written,
    }
}

/// A file that remembers why it could not be written.
struct Sink<'a> {
    file: BufWriter<&'a File>,
    failed: Option<String>,
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.file.write(bytes);
        if let Err(error) = &result
            && error.kind() != io::ErrorKind::Interrupted
        {
            self.failed = Some(plain(error));
        }
        result
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.file.flush();
        if let Err(error) = &result {
            self.failed = Some(plain(error));
        }
        result
    }
}

/// Writes files into a new folder, which appears when it is complete. An existing folder must be empty.
pub fn write_folder(path: &Path, files: &[(String, Vec<u8>)]) -> Result<(), FileError> {
    let say = |error: io::Error| FileError::new(path, plain(&error));
    if path.is_dir() {
        let is_empty = std::fs::read_dir(path).map_err(say)?.next().is_none();
        if !is_empty {
            return Err(FileError::new(
                path,
                "is a folder with files in it, expected a new or an empty one",
            ));
        }
        std::fs::remove_dir(path).map_err(say)?;
    } else if path.symlink_metadata().is_ok() {
        return Err(FileError::new(
            path,
            "is there and no folder, expected a new or an empty one",
        ));
    }
    target::folder_of(path)?;
    let temporary = TemporaryFolder::near(path).map_err(say)?;
    let whole = filled(temporary.path(), files).map_err(say)?;
    std::fs::rename(&whole, path).map_err(say)
}

/// [`write_folder`], except that the folder may exist and contain files whose names satisfy `may_go`: they are gone when
/// the new ones are there. If that fails, or anything else is in the folder, it stays as it was.
pub fn replace_folder(
    path: &Path,
    files: &[(String, Vec<u8>)],
    may_go: impl Fn(&str) -> bool,
) -> Result<(), FileError> {
    if !path.is_dir() {
        return write_folder(path, files);
    }
    let say = |error: io::Error| FileError::new(path, plain(&error));
    // A symbolic link stays.
    let place = path.canonicalize().map_err(say)?;
    for entry in std::fs::read_dir(&place).map_err(say)? {
        let entry = entry.map_err(say)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().map_err(say)?.is_dir() || !may_go(&name) {
            let problem = format!(
                "contains {name}, which would be lost; expected only files of the same kind"
            );
            return Err(FileError::new(path, problem));
        }
    }
    let temporary = TemporaryFolder::near(&place).map_err(say)?;
    let whole = filled(temporary.path(), files).map_err(say)?;
    let old = temporary.path().join("old");
    std::fs::rename(&place, &old).map_err(say)?;
    std::fs::rename(&whole, &place).map_err(|error| {
        // The message is about what failed first.
        let _ = std::fs::rename(&old, &place);
        say(error)
    })
}

/// A new folder in the temporary one, with the files.
fn filled(temporary: &Path, files: &[(String, Vec<u8>)]) -> io::Result<PathBuf> {
    let whole = temporary.join("whole");
    std::fs::create_dir(&whole)?;
    for (name, content) in files {
        std::fs::write(whole.join(name), content)?;
    }
    Ok(whole)
}

/// The system's message, without the temporary name, which means nothing to the user.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" at path \"") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }

    fn write(path: &Path, text: &str) -> Result<(), FileError> {
        write_file(path, |file| {
            file.write_all(text.as_bytes())
                .map_err(|error| FileError::new(path, error))
        })
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("it is a folder");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("readable")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_when_it_is_whole_or_stays() {
        let folder = folder();
        let path = folder.path().join("a.txt");
        write(&path, "one").expect("it is new");
        write(&path, "two").expect("it is replaced");
        let failed = write_file(&path, |file| {
            file.write_all(b"half")
                .map_err(|error| FileError::new(&path, error))?;
            Err(FileError::new(&path, "no more"))
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "two");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_folder_appears_whole_or_not_at_all() {
        let folder = folder();
        let path = folder.path().join("report");
        let files = [
            ("a".to_owned(), b"x".to_vec()),
            ("b".to_owned(), Vec::new()),
        ];
        write_folder(&path, &files).expect("it is new");
        assert_eq!(names(&path), ["a", "b"]);
        assert!(
            write_folder(&path, &files)
                .is_err_and(|error| error.to_string().contains("with files in it"))
        );
        let bad = [("no/such/place".to_owned(), Vec::new())];
        assert!(write_folder(&folder.path().join("other"), &bad).is_err());
        assert!(
            write_folder(&path.join("a"), &files)
                .is_err_and(|error| error.to_string().contains("no folder"))
        );
        assert_eq!(names(folder.path()), ["report"]);
    }

    #[test]
    fn a_folder_is_replaced_if_nothing_else_is_lost() {
        let folder = folder();
        let path = folder.path().join("report");
        let files = |content: &[u8]| [("a".to_owned(), content.to_vec())];
        replace_folder(&path, &files(b"one"), |_| false).expect("it is new");
        std::fs::write(path.join("b"), "old").expect("written");
        let refused = replace_folder(&path, &files(b"two"), |name| name == "a");
        assert!(refused.is_err_and(|error| {
            error
                .to_string()
                .contains("contains b, which would be lost")
        }));
        assert_eq!(names(&path), ["a", "b"]);
        replace_folder(&path, &files(b"two"), |_| true).expect("all may go");
        assert_eq!(names(&path), ["a"]);
        assert_eq!(
            std::fs::read_to_string(path.join("a")).expect("it is there"),
            "two"
        );
        std::fs::create_dir(path.join("a-folder")).expect("made");
        assert!(replace_folder(&path, &files(b"three"), |_| true).is_err());
        assert_eq!(names(folder.path()), ["report"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_its_target_is_replaced() {
        let folder = folder();
        std::fs::create_dir(folder.path().join("far")).expect("a folder");
        let (target, link) = (
            folder.path().join("far/target.txt"),
            folder.path().join("link.txt"),
        );
        std::os::unix::fs::symlink("far/target.txt", &link).expect("a link");
        for text in ["it leads nowhere yet", "it leads to a file"] {
            write(&link, text).expect("it is written");
            assert_eq!(std::fs::read_to_string(&target).expect("it is there"), text);
            assert!(link.symlink_metadata().expect("it is there").is_symlink());
        }
        let round = folder.path().join("round");
        std::os::unix::fs::symlink("round", &round).expect("a link");
        assert!(write(&round, "x").is_err());
    }

    #[test]
    fn what_is_in_the_way_is_said() {
        let folder = folder();
        let said = |path: &Path| {
            write(path, "x")
                .expect_err("it cannot be written")
                .to_string()
        };
        assert!(said(folder.path()).contains("is a directory"));
        let nowhere = said(&folder.path().join("no/x.txt"));
        assert!(
            nowhere.contains("there is no folder") && !nowhere.contains(".isoscope-"),
            "{nowhere}"
        );
    }
}
