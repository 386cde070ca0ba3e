//! Noticing that the open file has changed on disk. A thread checks its time and size now and then, so that no frame
//! has to; this costs nothing if nothing changes.

use super::tasks::{Failure, Task};
use crate::control::Control;
use crate::jobs::Outbox;
use std::path::Path;
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

/// Watching the open file, which is read again when it has changed, unless it is being read.
pub(super) static WATCH: Task<()> = Task {
    shows_progress: false,
    ..Task::new("watch", Failure::Silent, |app, ()| {
        if app.state.document.as_ref().is_some_and(|document| !document.is_busy()) {
            app.reload();
            app.state.tell(false, "The file has changed and is read again");
        }
    })
};

/// Watches. A message comes when the file has changed and then stayed the same for a while; never for a folder.
pub(super) fn watch(path: &Path, control: &Control, outbox: &Outbox<()>) {
    if !path.is_file() {
        return;
    }
    let mut known = state(path);
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
        let now = state(path);
        // Waits for a file that is still being written, or is gone for a moment.
        if now.is_some() && now != known && moving == Some(now) {
            known = now;
            outbox.send(());
        }
        moving = Some(now);
    }
}
