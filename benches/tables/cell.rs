//! One measurement, in a process of its own: CPU time and peak memory are of this cell alone.

use crate::common::{self, Hard, Workload};
use anyhow::Context;
use isoscope::checkers::{Checker, Level, Verdict};
use isoscope::control::{Control, Stage};
use serde::{Deserialize, Serialize};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) checker: Checker,
    pub(crate) level: Level,
    pub(crate) workload: Workload,
    /// In place of the workload.
    pub(crate) hard: Option<Hard>,
    /// Seconds of user CPU that one check may take.
    pub(crate) limit: f64,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    Satisfied,
    Violated,
    /// By the time limit.
    TimeOut,
    /// The checker gave up, because it would need too much memory, or because it does not know such histories.
    GaveUp,
    /// The process ended otherwise.
    Failed,
}

/// What was measured.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) outcome: Outcome,
    /// User CPU of one check, the mean of some.
    pub(crate) seconds: f64,
    /// Peak resident memory of the process, MB (10⁶ bytes), where the system tells.
    pub(crate) peak: Option<f64>,
    /// Resident memory when the history was there and the check had not begun, MB.
    pub(crate) history: Option<f64>,
    /// By [`Stage`]: its part of the seconds.
    pub(crate) stages: [f64; 4],
}

/// Short checks are repeated until they have taken so many seconds together: the system counts user CPU in ticks.
const ENOUGH_SECONDS: f64 = 0.25;
const MOST_REPEATS: u32 = 200;
const WATCH: Duration = Duration::from_millis(20);

impl Cell {
    /// Measures in a process of its own, which is this program again.
    pub(crate) fn measure_apart(&self) -> anyhow::Result<Measured> {
        let program = std::env::current_exe().context("this program's own file")?;
        let output = Command::new(program)
            .arg("--cell")
            .args([
                "--checkers",
                self.checker.name(),
                "--levels",
                self.level.code(),
            ])
            .args(["--time-limit", &self.limit.to_string()])
            .args(self.workload.flags())
            .args(
                self.hard
                    .iter()
                    .flat_map(|hard| ["--instance".to_owned(), hard.to_string()]),
            )
            .output()?;
        let told = output
            .status
            .success()
            .then(|| serde_json::from_slice(&output.stdout).ok())
            .flatten();
        if told.is_none() {
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
        }
        let failed = Measured {
            outcome: Outcome::Failed,
            seconds: 0.0,
            peak: None,
            history: None,
            stages: [0.0; 4],
        };
        Ok(told.unwrap_or(failed))
    }

    /// Measures here, with one thread for the work.
    pub(crate) fn measure(&self) -> anyhow::Result<Measured> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        let history = match self.hard {
            Some(hard) => hard.history(),
            None => self.workload.history(),
        };
        let resident = resident("VmRSS:");
        forget_peak();
        let (begin, clock) = (user_cpu(), Instant::now());
        let mut repeats = 0;
        let mut spent = [0.0; 4];
        let verdict = loop {
            let control = Control::new();
            let done = Arc::new(AtomicBool::new(false));
            self.watch(&control, &done, resident);
            let verdict =
                pool.install(|| common::check(&history, self.checker, self.level, &control));
            done.store(true, Ordering::Relaxed);
            repeats += 1;
            for (spent, stage) in spent.iter_mut().zip(Stage::ALL) {
                *spent += control.spent(stage).as_secs_f64();
            }
            let is_decided = !matches!(verdict, Verdict::Undecided(_));
            if !is_decided || user_cpu() - begin >= ENOUGH_SECONDS || repeats == MOST_REPEATS {
                break (verdict, control.is_stopped());
            }
        };
        let outcome = match verdict {
            (_, true) => Outcome::TimeOut,
            (Verdict::Satisfied(_), _) => Outcome::Satisfied,
            (Verdict::Violated, _) => Outcome::Violated,
            (Verdict::Undecided(_), _) => Outcome::GaveUp,
        };
        let seconds = (user_cpu() - begin) / f64::from(repeats);
        // Stages are measured on the wall, where others may have had the processor, too.
        let share = seconds / clock.elapsed().as_secs_f64().max(1e-9);
        let stages = spent.map(|spent| spent * share);
        Ok(Measured {
            outcome,
            seconds,
            peak: self::resident("VmHWM:"),
            history: resident,
            stages,
        })
    }

    /// Stops the check when it has used up its CPU time, and the process when it does not listen.
    fn watch(&self, control: &Control, done: &Arc<AtomicBool>, history: Option<f64>) {
        let (control, done, limit, begin) =
            (control.clone(), Arc::clone(done), self.limit, user_cpu());
        std::thread::spawn(move || {
            while !done.load(Ordering::Relaxed) {
                let used = user_cpu() - begin;
                if used > limit {
                    control.stop();
                }
                if used > 2.0 * limit + 1.0 {
                    let peak = resident("VmHWM:");
                    let stages = [0.0; 4];
                    print(&Measured {
                        outcome: Outcome::TimeOut,
                        seconds: used,
                        peak,
                        history,
                        stages,
                    });
                    std::process::exit(0);
                }
                std::thread::sleep(WATCH);
            }
        });
    }
}

/// Tells the process that asked.
pub(crate) fn print(measured: &Measured) {
    println!(
        "{}",
        serde_json::to_string(measured).expect("numbers and names are JSON")
    );
}

/// Seconds of user CPU of this process so far.
#[cfg(unix)]
fn user_cpu() -> f64 {
    use nix::sys::resource::{UsageWho, getrusage};
    let time = getrusage(UsageWho::RUSAGE_SELF)
        .expect("a process may ask for its own usage")
        .user_time();
    time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6
}

/// Elsewhere the clock on the wall has to do.
#[cfg(not(unix))]
fn user_cpu() -> f64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGIN.elapsed().as_secs_f64()
}

/// A line of what Linux tells about this process, in MB.
fn resident(line: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let text = status.lines().find_map(|l| l.strip_prefix(line))?;
    let kibibytes: f64 = text.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}

/// Making the history may have taken more memory than checking it; the peak is reset, where Linux allows that.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
