//! Noticing that the open file has changed on disk. A thread checks its time and size now and then, so that no frame
//! has to; this costs nothing if nothing changes.

use super::tasks::{Failure, Task};
use crate::control::Control;
use crate::jobs::Outbox;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How often the file is checked.
const EVERY: Duration = Duration::from_millis(700);
/// How soon the thread notices that the answer is no longer wanted.
const NAP: Duration = Duration::from_millis(100);
/// By so many of its last bytes a file is recognised that has only grown.
const TAIL: u64 = 4096;

/// What happened to the open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Something was added to its end.
    Grew,
    /// It has changed and then stayed the same for a while; whether it did nothing but grow.
    Rests {
        /// Nothing but additions to its end.
        only_grew: bool,
    },
}

/// Time of the last change and size.
type FileStamp = Option<(SystemTime, u64)>;

fn state(path: &Path) -> FileStamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The last bytes before this size.
fn tail(path: &Path, size: u64) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let mut bytes = vec![0; size.min(TAIL) as usize];
    file.seek(SeekFrom::Start(size - size.min(TAIL))).ok()?;
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

/// Watching the open file: one that grows is followed if it can be, any other change means that it is read again.
pub(super) static WATCH: Task<Change> = Task {
    shows_progress: false,
    ..Task::new("watch", Failure::Silent, super::App::note_change)
};

/// A file as it was at some moment; what happens to it later is noticed.
#[derive(Debug)]
pub struct WatchedFile {
    path: PathBuf,
    stamp: FileStamp,
    /// Its size, and its last bytes.
    end: Option<(u64, Vec<u8>)>,
}

impl WatchedFile {
    /// A file as it is now; none if it is a folder, or is not there.
    pub(super) fn now(path: &Path) -> Option<WatchedFile> {
        if !path.is_file() {
            return None;
        }
        let stamp = state(path);
        let end = stamp.and_then(|(_, size)| Some((size, tail(path, size)?)));
        Some(WatchedFile {
            path: path.to_owned(),
            stamp,
            end,
        })
    }

    /// Watches it until the work is to end.
    pub(super) fn watch(self, control: &Control, outbox: &Outbox<Change>) {
        let WatchedFile {
            path,
            stamp: mut known,
            mut end,
        } = self;
        let (mut seen, mut only_grew) = (known, true);
        loop {
            let mut slept = Duration::ZERO;
            while slept < EVERY {
                std::thread::sleep(NAP);
                slept += NAP;
                if control.check().is_err() {
                    return;
                }
            }
            let now = state(&path);
            if now != seen {
                // Waits for a file that is still being written, or is gone for a moment.
                let grown = now
                    .zip(end.as_ref())
                    .is_some_and(|((_, size), (before, bytes))| {
                        size > *before && tail(&path, *before).as_ref() == Some(bytes)
                    });
                only_grew &= grown;
                if let Some((_, size)) = now {
                    end = tail(&path, size).map(|bytes| (size, bytes));
                }
                if grown {
                    outbox.send(Change::Grew);
                }
            } else if now.is_some() && now != known {
                outbox.send(Change::Rests { only_grew });
                (known, only_grew) = (now, true);
            }
            seen = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::{Job, Revision};
    use std::io::Write;
    use std::sync::Arc;
    use std::time::Instant;

    /// The first change that is noticed of a file that `change` is done to before the thread looks for the first time.
    fn first_change(change: impl FnOnce(&Path)) -> Change {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("history.txt");
        std::fs::write(&path, "a: [w x 1]\n").expect("it can be written");
        let file = WatchedFile::now(&path).expect("it is there");
        change(&path);
        let mut job = Job::start(
            "watch",
            Revision::default(),
            Arc::new(|| {}),
            move |control, outbox| file.watch(control, outbox),
        );
        let started = Instant::now();
        loop {
            if let Some(change) = job.poll().into_iter().next() {
                job.cancel();
                return change;
            }
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "nothing was noticed"
            );
            std::thread::sleep(NAP);
        }
    }

    #[test]
    fn what_is_added_before_the_first_look_is_noticed() {
        let change = first_change(|path| {
            let mut file = File::options()
                .append(true)
                .open(path)
                .expect("it is there");
            file.write_all(b"b: [r x 1]\n").expect("it can be written");
        });
        assert_eq!(change, Change::Grew);
    }

    #[test]
    fn a_file_that_is_another_one_at_the_first_look_has_not_grown() {
        let change = first_change(|path| {
            std::fs::write(path, "c: [w y 1]\nd: [r y 1]\n").expect("it can be written")
        });
        assert_eq!(change, Change::Rests { only_grew: false });
    }
}
