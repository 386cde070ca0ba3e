//! The progress of long work, on a terminal.

use crate::control::{Control, Progress};
use crate::report::grouped;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval between two updates.
const LOOK: Duration = Duration::from_millis(200);

/// Updates before what is known already is shown.
const LONG: usize = 5;

/// Runs `work`; meanwhile standard error shows `line` if it is a terminal. Work shorter than one interval shows
/// nothing.
pub(super) fn shown<T>(line: impl Fn() -> String + Sync, work: impl FnOnce() -> T) -> T {
    shown_with("", line, work)
}

/// [`shown`]; if the work takes more than a second, what is `known` already is shown above it once, and remains.
pub(super) fn shown_with<T>(
    known: &str,
    line: impl Fn() -> String + Sync,
    work: impl FnOnce() -> T,
) -> T {
    let is_done = AtomicBool::new(!is_seen());
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(known, &line, &is_done));
        // Also when the work panics.
        let _done = Done {
            is_done: &is_done,
            watcher: watcher.thread().clone(),
        };
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
            // A line that wraps could not be erased: the terminal is set to cut it.
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

/// What work says of its progress, and since when it has been in its phase.
pub(super) struct Meter {
    /// Which of several histories it is about: "3 of 214: ".
    of_file: String,
    phase: Mutex<(String, Instant)>,
}

impl Meter {
    /// Of work on one of several histories, by place and number, or on a single one.
    pub(super) fn new(of_file: Option<(usize, usize)>) -> Meter {
        let of_file = of_file.map_or(String::new(), |(place, n)| {
            format!("{} of {}: ", place + 1, grouped(n as u64))
        });
        Meter {
            of_file,
            phase: Mutex::new((String::new(), Instant::now())),
        }
    }

    /// "reading 43 % of 263 MB, 180 MB/s, 1 s left", "checking: 4 of 8 levels known, 3 s", "counting 1,250,000, 2 s".
    pub(super) fn line(&self, control: &Control) -> String {
        let progress = control.progress();
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if phase.0 != progress.phase {
            *phase = (progress.phase.clone(), Instant::now());
        }
        format!(
            "{}{}",
            self.of_file,
            said(&progress, phase.1.elapsed().as_secs_f64())
        )
    }
}

/// How far work is that has been in its phase for some seconds.
fn said(progress: &Progress, seconds: f64) -> String {
    let (done, total) = (progress.done as f64, progress.total as f64);
    let so_far = if seconds < 1.0 {
        String::new()
    } else {
        format!(", {seconds:.0} s")
    };
    match (progress.phase.as_str(), progress.fraction()) {
        ("reading", Some(share)) => {
            let left = (total - done).max(0.0) * seconds / done;
            let rate = if done > 0.0 && seconds >= 0.5 {
                format!(", {:.0} MB/s, {left:.0} s left", done / 1e6 / seconds)
            } else {
                String::new()
            };
            format!(
                "reading {:.0} % of {:.0} MB{rate}",
                100.0 * share,
                (total / 1e6).ceil()
            )
        }
        ("checking", Some(_)) => format!("checking: {done} of {total} levels known{so_far}"),
        (phase, Some(share)) => format!("{phase} {:.0} %{so_far}", 100.0 * share),
        (phase, None) if progress.done == 0 => format!("{phase}{so_far}"),
        (phase, None) => format!("{phase} {}{so_far}", grouped(progress.done)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_how_much_how_fast_and_how_long() {
        let said = |phase: &str, done, total, seconds| {
            said(
                &Progress {
                    phase: phase.to_owned(),
                    done,
                    total,
                },
                seconds,
            )
        };
        assert_eq!(
            said("reading", 90_000_000, 200_000_000, 1.0),
            "reading 45 % of 200 MB, 90 MB/s, 1 s left"
        );
        assert_eq!(
            said("reading", 0, 200_000_000, 0.2),
            "reading 0 % of 200 MB"
        );
        assert_eq!(
            said("checking", 3, 8, 4.2),
            "checking: 3 of 8 levels known, 4 s"
        );
        assert_eq!(
            said("counting", 1_250_000, 0, 2.0),
            "counting 1,250,000, 2 s"
        );
        assert_eq!(said("indexing", 0, 0, 0.1), "indexing");
    }
}
