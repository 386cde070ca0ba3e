//! Noticing that the open file has changed on disk. A thread checks its time and size now and then, so that no frame
//! has to; this costs nothing if nothing changes.

use super::tasks::{Failure, Task};
use crate::control::Control;
use crate::jobs::Outbox;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
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
pub(super) static WATCH: Task<Change> =
    Task { shows_progress: false, ..Task::new("watch", Failure::Silent, super::App::note_change) };

/// Watches; never a folder.
pub(super) fn watch(path: &Path, control: &Control, outbox: &Outbox<Change>) {
    if !path.is_file() {
        return;
    }
    let mut known = state(path);
    let mut end = known.and_then(|(_, size)| Some((size, tail(path, size)?)));
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
        let now = state(path);
        if now != seen {
            // Waits for a file that is still being written, or is gone for a moment.
            let grown = now.zip(end.as_ref()).is_some_and(|((_, size), (before, bytes))| {
                size > *before && tail(path, *before).as_ref() == Some(bytes)
            });
            only_grew &= grown;
            if let Some((_, size)) = now {
                end = tail(path, size).map(|bytes| (size, bytes));
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
