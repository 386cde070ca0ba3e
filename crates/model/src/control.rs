//! Stop flag, limits and progress, handed to all long work.
//!
//! Knows nothing of threads or histories. A [`Control`] is cheap to clone; all clones share one stop flag and one
//! progress record, so the side that started the work can watch and end it while the working side looks at
//! [`Control::check`] in its inner loops.

mod memory;
pub mod sorting;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Why long work ended before its result was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Interrupt {
    /// [`Control::stop`] was called.
    #[error("cancelled")]
    Cancelled,
    /// The deadline set by [`Control::with_time_limit`] has passed.
    #[error("time limit")]
    TimeLimit,
    /// The work would need more memory than allowed.
    #[error("memory limit")]
    MemoryLimit,
}

/// What is being done and how far it is, readable at any moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Name of the phase, for people: "reading", "indexing", "checking SI".
    pub phase: String,
    /// Units done in this phase.
    pub done: u64,
    /// Units in this phase, 0 when unknown.
    pub total: u64,
}

impl Progress {
    /// Share of the phase that is done, when its size is known.
    pub fn fraction(&self) -> Option<f32> {
        (self.total > 0).then(|| (self.done as f32 / self.total as f32).min(1.0))
    }
}

/// A part of deciding a level whose time is reported separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// From the history to what is known from the beginning.
    Build,
    /// Drawing consequences without guessing.
    Saturate,
    /// Writing down for a solver what is left to decide.
    Encode,
    /// Solving it.
    Solve,
}

impl Stage {
    /// All of them, in the order in which they begin.
    pub const ALL: [Stage; 4] = [Stage::Build, Stage::Saturate, Stage::Encode, Stage::Solve];

    /// Its name, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Build => "build",
            Stage::Saturate => "saturate",
            Stage::Encode => "encode",
            Stage::Solve => "solve",
        }
    }
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    /// Memory was above the limit once.
    short_of_memory: AtomicBool,
    /// When memory was last looked at, in milliseconds since the first time any control did.
    looked_at: AtomicU64,
    done: AtomicU64,
    total: AtomicU64,
    phase: Mutex<String>,
    /// By stage: nanoseconds, of all threads together.
    spent: [AtomicU64; Stage::ALL.len()],
}

/// Milliseconds between two checks of how much memory is used.
const LOOK_EVERY: u64 = 2;

/// Bytes below a limit of memory at which work ends, unless the limit is small.
const LEAST_MARGIN: usize = 16 << 20;

/// How long after a deadline what was found by then may be completed.
const OVERTIME: Duration = Duration::from_millis(500);

/// A stop flag for a part of the work.
#[derive(Debug)]
struct Branch {
    stop: AtomicBool,
    outer: Option<Arc<Branch>>,
}

/// Stop flag, limits and progress of one piece of work.
#[derive(Clone, Debug, Default)]
pub struct Control {
    shared: Arc<Shared>,
    branch: Option<Arc<Branch>>,
    deadline: Option<Instant>,
    /// The deadline is later than what was asked for.
    is_overtime: bool,
    /// Bytes that the process may use: by what was asked for, and by what was free.
    most_memory: Option<usize>,
    most_free: Option<usize>,
}

impl Control {
    /// No limit but that of the address space, where the system sets one (`ulimit -v`): there the work ends with
    /// [`Interrupt::MemoryLimit`] before an allocation fails. Nothing done yet.
    pub fn new() -> Control {
        Control::default()
    }

    /// This control with a deadline `limit` from now. An earlier deadline stays.
    pub fn with_time_limit(&self, limit: Duration) -> Control {
        let deadline = Instant::now() + limit;
        let deadline = self.deadline.map_or(deadline, |old| old.min(deadline));
        Control {
            deadline: Some(deadline),
            ..self.clone()
        }
    }

    /// As `with_time_limit`, for work that must leave time for what comes after it: with a deadline that leaves a fifth of the time that
    /// is left, if there is a deadline.
    pub fn leaving_time(&self) -> Control {
        match self.deadline {
            Some(deadline) => self.with_time_limit(
                deadline
                    .saturating_duration_since(Instant::now())
                    .mul_f64(0.8),
            ),
            None => self.clone(),
        }
    }

    /// As `leaving_time`, for the little that is left to do so that what was found in time is not lost, such as verifying it: the
    /// deadline is half a second later, once.
    pub fn overtime(&self) -> Control {
        let deadline = self.deadline.map(|deadline| {
            if self.is_overtime {
                deadline
            } else {
                deadline + OVERTIME
            }
        });
        Control {
            deadline,
            is_overtime: true,
            ..self.clone()
        }
    }

    /// Whether a deadline is set.
    pub fn limits_time(&self) -> bool {
        self.deadline.is_some()
    }

    /// This control with the work ending when the resident memory of the process comes near `bytes`: within a sixteenth of
    /// them, or 16 MB (at most a quarter), since between two checks, a few milliseconds apart, memory goes on growing, and
    /// a table by as much as it holds. Where the system does not tell how much is used there is no limit.
    pub fn with_memory_limit(&self, bytes: usize) -> Control {
        let least = self.most_memory.map_or(bytes, |old| old.min(bytes));
        Control {
            most_memory: Some(least),
            ..self.clone()
        }
    }

    /// As `with_memory_limit`, and the work ends before it takes the last eighth of the memory that is free now, where the system tells
    /// how much that is: the machine goes on working.
    pub fn within_free_memory(&self) -> Control {
        let used = || memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem);
        Control {
            most_free: memory::available().map(|free| used() + free / 8 * 7),
            ..self.clone()
        }
    }

    /// This control for a part of the work that can be stopped alone: stopping the branch or its clones
    /// leaves the rest running, stopping the rest stops the branch.
    pub fn branch(&self) -> Control {
        let branch = Branch {
            stop: AtomicBool::new(false),
            outer: self.branch.clone(),
        };
        Control {
            branch: Some(Arc::new(branch)),
            ..self.clone()
        }
    }

    /// Asks the work to end soon; of a [branch](Control::branch), only its part.
    pub fn stop(&self) {
        let flag = self
            .branch
            .as_ref()
            .map_or(&self.shared.stop, |branch| &branch.stop);
        flag.store(true, Ordering::Relaxed);
    }

    /// Whether [`Control::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        let mut branch = self.branch.as_ref();
        while let Some(inner) = branch {
            if inner.stop.load(Ordering::Relaxed) {
                return true;
            }
            branch = inner.outer.as_ref();
        }
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// `Err` when the work must end. Reads a clock when a deadline is set: call it once per some thousand steps.
    pub fn check(&self) -> Result<(), Interrupt> {
        if self.is_stopped() {
            return Err(Interrupt::Cancelled);
        }
        if self
            .most_memory()
            .is_some_and(|most| self.is_short_of(most))
        {
            return Err(Interrupt::MemoryLimit);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Interrupt::TimeLimit),
            _ => Ok(()),
        }
    }

    /// [`check`](Control::check) for the steps of a long loop: once per some thousand of them.
    #[inline]
    pub fn tick(&self, step: usize) -> Result<(), Interrupt> {
        const STRIDE: usize = 1 << 12;
        if step.is_multiple_of(STRIDE) {
            self.check()
        } else {
            Ok(())
        }
    }

    /// `Err` if taking `bytes` more at once would go beyond the limit of memory, or when the work must end anyway. For
    /// allocations that are so large that looking afterwards would be too late; asks the system each time.
    pub fn needs(&self, bytes: usize) -> Result<(), Interrupt> {
        self.check()?;
        match self.spare_memory() {
            Some(spare) if bytes > spare => Err(Interrupt::MemoryLimit),
            _ => Ok(()),
        }
    }

    /// Whether there is a limit of memory, other than what is free.
    pub fn limits_memory(&self) -> bool {
        self.most_memory.is_some() || memory::allowed().is_some()
    }

    /// The limit of memory: the lowest of that which was set, the system's and what was free.
    fn most_memory(&self) -> Option<usize> {
        [self.most_memory, self.most_free, memory::allowed()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Bytes of memory that are free now, for the machine and for the control group of the process; `None` where the
    /// system does not tell. Asks the system each time.
    pub fn free_memory() -> Option<usize> {
        memory::available()
    }

    /// How many bytes more may be taken, if there is a limit of memory. Asks the system each time.
    pub fn spare_memory(&self) -> Option<usize> {
        let used = || memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem);
        self.most_memory().map(|most| most.saturating_sub(used()))
    }

    /// Whether memory is or was near `most`. Asks the system now and then only.
    fn is_short_of(&self, most: usize) -> bool {
        static BEGIN: OnceLock<Instant> = OnceLock::new();
        let now = BEGIN.get_or_init(Instant::now).elapsed().as_millis() as u64 + LOOK_EVERY;
        let last = self.shared.looked_at.load(Ordering::Relaxed);
        let is_due = now >= last + LOOK_EVERY;
        if is_due
            && self
                .shared
                .looked_at
                .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            let used = memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem);
            let margin = (most / 16).max(LEAST_MARGIN.min(most / 4));
            if used > most - margin {
                self.shared.short_of_memory.store(true, Ordering::Relaxed);
            }
        }
        self.shared.short_of_memory.load(Ordering::Relaxed)
    }

    /// Begins a phase of `total` units (0 when unknown).
    pub fn phase(&self, name: &str, total: u64) {
        if let Ok(mut phase) = self.shared.phase.lock() {
            phase.clear();
            phase.push_str(name);
        }
        self.shared.done.store(0, Ordering::Relaxed);
        self.shared.total.store(total, Ordering::Relaxed);
    }

    /// Counts `units` as done in the current phase.
    pub fn advance(&self, units: u64) {
        self.shared.done.fetch_add(units, Ordering::Relaxed);
    }

    /// Does some work and counts its time for a stage, see [`spent`](Control::spent). Stages do not nest.
    pub fn timed<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let done = work();
        let spent = begin.elapsed().as_nanos().min(u64::MAX.into()) as u64;
        self.shared.spent[stage as usize].fetch_add(spent, Ordering::Relaxed);
        done
    }

    /// The time that the work has spent in a stage, of all threads together.
    pub fn spent(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.shared.spent[stage as usize].load(Ordering::Relaxed))
    }

    /// A snapshot of the progress.
    pub fn progress(&self) -> Progress {
        Progress {
            phase: self
                .shared
                .phase
                .lock()
                .map(|phase| phase.clone())
                .unwrap_or_default(),
            done: self.shared.done.load(Ordering::Relaxed),
            total: self.shared.total.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopping_one_clone_stops_all() {
        let control = Control::new();
        let other = control.with_time_limit(Duration::from_secs(1000));
        assert_eq!(other.check(), Ok(()));
        control.stop();
        assert_eq!(other.check(), Err(Interrupt::Cancelled));
    }

    #[test]
    fn too_little_memory_is_a_memory_limit() {
        let control = Control::new().with_memory_limit(1 << 12);
        assert_eq!(control.check(), Err(Interrupt::MemoryLimit));
        assert_eq!(Control::new().with_memory_limit(usize::MAX).check(), Ok(()));
    }

    #[test]
    fn what_would_not_fit_is_not_begun() {
        let control = Control::new().with_memory_limit(1 << 40);
        assert_eq!(control.needs(1 << 20), Ok(()));
        assert_eq!(control.needs(1 << 41), Err(Interrupt::MemoryLimit));
        assert_eq!(control.check(), Ok(()), "smaller work may go on");
        assert_eq!(Control::new().needs(usize::MAX), Ok(()));
        assert!(control.limits_memory() && !Control::new().limits_memory());
        assert!(control.spare_memory().is_some_and(|spare| spare < 1 << 40));
        assert_eq!(Control::new().spare_memory(), None);
    }

    #[test]
    fn stopping_a_branch_leaves_the_rest_running() {
        let control = Control::new();
        let (branch, other) = (control.branch(), control.branch());
        let inner = branch.clone().branch();
        inner.stop();
        assert!(inner.is_stopped() && !branch.is_stopped());
        let inner = branch.branch();
        branch.stop();
        assert!(
            branch.is_stopped()
                && inner.is_stopped()
                && !control.is_stopped()
                && !other.is_stopped()
        );
        control.stop();
        assert!(other.is_stopped());
    }

    #[test]
    fn the_time_of_a_stage_is_that_of_all_its_work() {
        let control = Control::new();
        let wait = || std::thread::sleep(Duration::from_millis(2));
        control.timed(Stage::Solve, wait);
        control.branch().timed(Stage::Solve, wait);
        assert!(control.spent(Stage::Solve) >= Duration::from_millis(4));
        assert_eq!(control.spent(Stage::Encode), Duration::ZERO);
    }

    #[test]
    fn what_was_found_in_time_may_be_completed_a_little_later_and_no_more() {
        let control = Control::new().with_time_limit(Duration::ZERO);
        let overtime = control.overtime();
        assert_eq!(
            (control.check(), overtime.check()),
            (Err(Interrupt::TimeLimit), Ok(()))
        );
        assert_eq!(overtime.deadline, overtime.overtime().deadline);
        assert_eq!(
            overtime.with_time_limit(Duration::ZERO).check(),
            Err(Interrupt::TimeLimit)
        );
        control.stop();
        assert_eq!(overtime.check(), Err(Interrupt::Cancelled));
        assert!(!Control::new().overtime().limits_time());
    }

    #[test]
    fn an_expired_deadline_is_a_time_limit() {
        let control = Control::new().with_time_limit(Duration::ZERO);
        assert_eq!(control.check(), Err(Interrupt::TimeLimit));
    }
}
