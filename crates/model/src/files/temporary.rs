//! Files and folders under temporary names, removed with their owner, and if the process is asked to end.
//!
//! A list holds every such name from before it exists until after it is removed. A thread waits for the signals that
//! end a process, takes the list, removes what is on it and ends the process with the code of that signal (128 plus its
//! number). A process that is killed outright cannot remove anything.

use super::target::parent;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Prefix of the names of temporary files.
const PREFIX: &str = ".isoscope-";

/// The temporary files and folders that exist. Locked while one is made, moved or removed.
static LIST: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn list() -> MutexGuard<'static, Vec<PathBuf>> {
    // A panic leaves at most one name too many.
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes something whose path is on the list as long as it exists.
fn listed<T>(
    make: impl FnOnce() -> io::Result<T>,
    path: impl FnOnce(&T) -> PathBuf,
) -> io::Result<T> {
    signals::watch();
    let mut list = list();
    let made = make()?;
    list.push(path(&made));
    Ok(made)
}

/// Removes or moves something and takes it off the list.
fn unlisted<T>(path: &Path, end: impl FnOnce() -> T) -> T {
    let mut list = list();
    let result = end();
    list.retain(|listed| listed != path);
    result
}

/// The path, independent of the working directory.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A file in the folder where it will be.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    file: File,
    /// None once it has been moved.
    place: Option<tempfile::TempPath>,
    path: PathBuf,
}

impl TemporaryFile {
    /// A new file in the folder of `place`, with the permissions of what is at `place`, or those of any new file.
    pub(super) fn near(place: &Path) -> io::Result<TemporaryFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        {
            // As for any new file, the umask decides who may read it.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let folder = parent(place);
        let file = listed(|| builder.tempfile_in(folder), |file| absolute(file.path()))?;
        let (file, place_of_file) = file.into_parts();
        let file = TemporaryFile {
            path: absolute(&place_of_file),
            file,
            place: Some(place_of_file),
        };
        if let Ok(metadata) = std::fs::metadata(place) {
            file.file.set_permissions(metadata.permissions())?;
        }
        Ok(file)
    }

    pub(super) fn as_file(&self) -> &File {
        &self.file
    }

    /// Moves it to its place.
    pub(super) fn persist(mut self, place: &Path) -> io::Result<()> {
        let Some(own) = self.place.take() else {
            return Ok(());
        };
        unlisted(&self.path, || {
            own.persist(place).map_err(|error| error.error)
        })
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(own) = self.place.take() {
            unlisted(&self.path, || drop(own));
        }
    }
}

/// A folder that is removed with everything in it.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: Option<tempfile::TempDir>,
    path: PathBuf,
}

impl TemporaryFolder {
    /// A new folder in the one that `place` is in.
    pub(super) fn near(place: &Path) -> io::Result<TemporaryFolder> {
        TemporaryFolder::made(|| {
            tempfile::Builder::new()
                .prefix(PREFIX)
                .tempdir_in(parent(place))
        })
    }

    /// A new folder in the system's temporary folder.
    pub fn new(prefix: &str) -> io::Result<TemporaryFolder> {
        TemporaryFolder::made(|| tempfile::Builder::new().prefix(prefix).tempdir())
    }

    fn made(make: impl FnOnce() -> io::Result<tempfile::TempDir>) -> io::Result<TemporaryFolder> {
        let folder = listed(make, |folder| absolute(folder.path()))?;
        Ok(TemporaryFolder {
            path: absolute(folder.path()),
            folder: Some(folder),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            unlisted(&self.path, || drop(folder));
        }
    }
}

#[cfg(unix)]
mod signals {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use std::sync::Once;

    /// Starts waiting for signals, once. If that is impossible, temporary files stay when a signal ends the process.
    pub(super) fn watch() {
        static WATCH: Once = Once::new();
        WATCH.call_once(|| {
            let ignored = ignored();
            let ending = [SIGINT, SIGTERM, SIGHUP]
                .into_iter()
                .filter(|signal| ignored & (1 << (signal - 1)) == 0);
            let Ok(mut signals) = signal_hook::iterator::Signals::new(ending) else {
                return;
            };
            let wait = move || {
                if let Some(signal) = signals.forever().next() {
                    end(signal);
                }
            };
            let _ = std::thread::Builder::new()
                .name("signals".to_owned())
                .spawn(wait);
        });
    }

    fn end(signal: i32) -> ! {
        // Nothing can be made or moved while this is held, and it is never released.
        let list = super::list();
        for path in list.iter() {
            let removed = if path.is_dir() {
                std::fs::remove_dir_all(path)
            } else {
                std::fs::remove_file(path)
            };
            // There is no one left to tell.
            drop(removed);
        }
        signal_hook::low_level::exit(128 + signal)
    }

    /// The signals that the process was started to ignore (`nohup`, background jobs), a bit each: they stay ignored.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .unwrap_or(0)
    }
}

#[cfg(not(unix))]
mod signals {
    pub(super) fn watch() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exists_is_on_the_list() {
        let folder = TemporaryFolder::new("isoscope-test-").expect("a temporary folder");
        let place = folder.path().join("x.txt");
        let on_list = |path: &Path| list().iter().any(|listed| listed == path);
        let (kept, dropped) = (
            TemporaryFile::near(&place).expect("a file"),
            TemporaryFile::near(&place).expect("a file"),
        );
        let (kept_name, dropped_name) = (kept.path.clone(), dropped.path.clone());
        assert!(on_list(folder.path()) && on_list(&kept_name) && on_list(&dropped_name));
        kept.persist(&place).expect("it is moved");
        drop(dropped);
        assert!(place.exists() && !kept_name.exists() && !dropped_name.exists());
        assert!(!on_list(&kept_name) && !on_list(&dropped_name));
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists() && !on_list(&path));
    }
}
