//! Noticing that the open file has changed on disk. A thread checks its time and size now and then, so that no frame
//! has to; this costs nothing if nothing changes.

use crate::jobs::{Job, Revision, Wake};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How often the file is checked.
const EVERY: Duration = Duration::from_millis(700);
/// How soon the thread notices that the answer is no longer wanted.
const NAP: Duration = Duration::from_millis(100);

/// Time of the last change and size.
type State = Option<(SystemTime, u64)>;

fn state(path: &Path) -> State {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Starts watching. A message comes when the file has changed and then stayed the same for a while; never for a folder.
pub fn start(path: PathBuf, revision: Revision, wake: Wake) -> Job<()> {
    Job::start("watch", revision, wake, move |control, outbox| {
        if !path.is_file() {
            return;
        }
        let mut known = state(&path);
        let mut moving = None;
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
            // Waits for a file that is still being written, or is gone for a moment.
            if now.is_some() && now != known && moving == Some(now) {
                known = now;
                outbox.send(());
            }
            moving = Some(now);
        }
    })
}
