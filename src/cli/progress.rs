//! The progress of long work, on a terminal.

use crate::control::Control;
use crate::report::grouped;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval between two updates.
const LOOK: Duration = Duration::from_millis(200);

/// Updates before what is known already is shown.
const LONG: usize = 5;

/// Runs `work`; meanwhile standard error shows `line` if it is a terminal. Work shorter than one interval shows
/// nothing.
pub(super) fn shown<T>(line: impl Fn() -> String + Sync, work: impl FnOnce() -> T) -> T {
    shown_with("", line, work)
}

/// The same; if the work takes more than a second, what is `known` already is shown above it once, and remains.
pub(super) fn shown_with<T>(known: &str, line: impl Fn() -> String + Sync, work: impl FnOnce() -> T) -> T {
    let is_done = AtomicBool::new(!is_seen());
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(known, &line, &is_done));
        // Also when the work panics.
        let _done = Done { is_done: &is_done, watcher: watcher.thread().clone() };
        work()
    })
}

/// Whether progress is shown at all.
pub(super) fn is_seen() -> bool {
    std::io::stderr().is_terminal()
}

struct Done<'a> {
    is_done: &'a AtomicBool,
    watcher: std::thread::Thread,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
        self.watcher.unpark();
    }
}

fn watch(known: &str, line: &(dyn Fn() -> String + Sync), is_done: &AtomicBool) {
    let mut err = std::io::stderr();
    let (mut is_shown, mut updates) = (false, 0);
    while !is_done.load(Ordering::Relaxed) {
        std::thread::park_timeout(LOOK);
        if !is_done.load(Ordering::Relaxed) {
            updates += 1;
            if updates == LONG {
                let _ = write!(err, "\r\u{1b}[K{known}");
            }
            // A line that wraps could not be erased: the terminal is told to cut it.
            let _ = write!(err, "\r\u{1b}[K\u{1b}[?7l{}\u{1b}[?7h", line());
            let _ = err.flush();
            is_shown = true;
        }
    }
    if is_shown {
        let _ = write!(err, "\r\u{1b}[K");
        let _ = err.flush();
    }
}

/// "reading 43 %", "counting 1,250,000".
pub(super) fn of(control: &Control) -> String {
    let progress = control.progress();
    match (progress.fraction(), progress.done) {
        (Some(share), _) => format!("{} {:.0} %", progress.phase, 100.0 * share),
        (None, 0) => progress.phase,
        (None, done) => format!("{} {}", progress.phase, grouped(done)),
    }
}
