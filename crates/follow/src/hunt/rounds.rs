//! The rounds of a hunt.

use super::{HuntError, Live, Opened};
use isoscope_check::checkers::{Findings, Level, Options, Verdict, Violation};
use isoscope_formats::{self as formats, Request};
use isoscope_model::control::Control;
use isoscope_model::history::History;
use isoscope_record::collect::{Snapshot, Statistics};
use isoscope_record::generate::Workload;
use isoscope_tell::audit;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to hunt, and with what.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The workload of the first round.
    pub workload: Workload,
    /// Maximum number of rounds, each with the next seed.
    pub rounds: u64,
    /// After this time no round begins, and a running one is cut short.
    pub time: Option<Duration>,
    /// Keep the histories of rounds without violation.
    pub keep: bool,
}

/// A running hunt.
#[derive(Debug)]
pub struct Hunt {
    plan: Plan,
    begun: u64,
    end: Option<Instant>,
}

/// One round.
#[derive(Clone, Debug)]
pub struct Round {
    /// The workload, with this round's seed.
    pub workload: Workload,
    /// Where it is recorded.
    pub path: PathBuf,
    /// Ends it when the time of the hunt is used up.
    pub control: Control,
}

/// The result of checking a history.
#[derive(Debug)]
pub struct Judged {
    /// The history recorded.
    pub history: History,
    /// The findings in it.
    pub findings: Findings,
    /// Reading and checking, wall time.
    pub seconds: f64,
}

impl Hunt {
    /// Nothing has begun; the clock runs.
    pub fn new(plan: Plan) -> Hunt {
        let end = plan.time.map(|time| Instant::now() + time);
        Hunt {
            plan,
            begun: 0,
            end,
        }
    }

    /// The workload, with the seed of the round begun last.
    pub fn workload(&self) -> Workload {
        let seed = self
            .plan
            .workload
            .seed
            .wrapping_add(self.begun.saturating_sub(1));
        Workload {
            seed,
            ..self.plan.workload
        }
    }

    /// The next round, recorded in the file that `path` gives for its seed; none when rounds or time are used up, or
    /// when `control` says so.
    pub fn begin(&mut self, control: &Control, path: impl Fn(u64) -> PathBuf) -> Option<Round> {
        let left = self
            .end
            .map(|end| end.saturating_duration_since(Instant::now()));
        if self.begun == self.plan.rounds
            || left.is_some_and(|left| left.is_zero())
            || control.check().is_err()
        {
            return None;
        }
        let seed = self.plan.workload.seed.wrapping_add(self.begun);
        self.begun += 1;
        let control = left.map_or_else(
            || control.branch(),
            |left| control.branch().with_time_limit(left),
        );
        Some(Round {
            workload: Workload {
                seed,
                ..self.plan.workload
            },
            path: path(seed),
            control,
        })
    }

    /// Runs and records a round, checked meanwhile with `live`. None, and no file, if the time ran out before anything was
    /// done.
    pub fn record(
        &self,
        opened: &Opened,
        round: &Round,
        statistics: &Statistics,
        live: Option<Live<'_>>,
    ) -> Result<Option<Snapshot>, HuntError> {
        let snapshot = opened.record(
            (round.workload, None),
            &round.path,
            statistics,
            &round.control,
            live,
        )?;
        if snapshot.committed + snapshot.aborted + snapshot.unknown == 0 {
            remove(&round.path)?;
            return Ok(None);
        }
        Ok(Some(snapshot))
    }

    /// Ends a round: deletes the history of one without violation, unless it is to be kept. Returns whether its file
    /// remains.
    pub fn settle(&self, round: &Round, findings: &Findings) -> Result<bool, HuntError> {
        let satisfied = |verdict: &Verdict| matches!(verdict, Verdict::Satisfied(_));
        if self.plan.keep
            || !findings
                .levels
                .iter()
                .all(|result| satisfied(&result.verdict))
        {
            return Ok(true);
        }
        remove(&round.path)?;
        Ok(false)
    }
}

fn remove(path: &Path) -> Result<(), HuntError> {
    let say = |error: std::io::Error| HuntError::File {
        path: path.display().to_string(),
        problem: error.to_string(),
    };
    std::fs::remove_file(path).map_err(say)
}

/// Reads and checks a recording: at `levels`, or at all that apply to it.
pub fn judge(
    path: &Path,
    levels: Option<&[Level]>,
    control: &Control,
) -> Result<Judged, HuntError> {
    let begin = Instant::now();
    let history = formats::open(
        path,
        Request {
            format: None,
            rules: None,
        },
        control,
    )?;
    let levels = levels.map_or_else(|| Level::of(&history), <[Level]>::to_vec);
    let options = Options {
        levels,
        ..Options::default()
    };
    let findings = audit::check(&history, &options, control, &|_| ());
    Ok(Judged {
        history,
        findings,
        seconds: begin.elapsed().as_secs_f64(),
    })
}

impl Judged {
    /// Whether a level is violated.
    pub fn is_violated(&self) -> bool {
        self.findings
            .levels
            .iter()
            .any(|result| result.verdict == Verdict::Violated)
    }
}

/// The violation that is easiest to follow, of those of the weakest level that was found violated; of a stronger one where
/// all of those are long.
pub fn simplest_violation(findings: &Findings) -> Option<&Violation> {
    let is_violated = |level: &Level| {
        findings
            .level(*level)
            .is_some_and(|found| found.verdict == Verdict::Violated)
    };
    let weakest = |v: &Violation| {
        v.levels
            .iter()
            .find(is_violated)
            .map_or(Level::EVERY.len(), |level| level as usize)
    };
    let order = |v: &&Violation| {
        (
            v.is_long(),
            weakest(v),
            v.levels.weakest(),
            v.implied,
            v.size(),
            v.edges.len(),
            v.id,
        )
    };
    findings.violations.iter().min_by_key(order)
}
