//! Store models in memory, recorded as if they were databases.

use super::{CollectError, Recorder, Statistics};
use crate::generate::{Executed, GenerateError, Generation, Observed};
use isoscope_model::control::Control;
use isoscope_model::history::Outcome;
use std::collections::BTreeMap;
use std::time::Instant;

/// Runs a workload on a store model and records it with the times of the store's clock. Latencies are those of the
/// model: how long it takes to generate a transaction. Ends early when `control` says so; what is recorded until then
/// is a history.
pub fn simulate(
    generation: &Generation,
    recorder: &Recorder,
    statistics: &Statistics,
    control: &Control,
) -> Result<(), CollectError> {
    let mut log = Log::new(generation, recorder);
    let mut failed = None;
    let own = control.branch();
    statistics.begin();
    let mut begin = Instant::now();
    let result = generation.each(&own, &mut |executed| {
        statistics.count(executed.outcome, executed.operations.len(), begin.elapsed());
        begin = Instant::now();
        if let Err(error) = log.add(executed) {
            failed = Some(error);
            own.stop();
        }
    });
    match (failed, result) {
        (Some(error), _) => Err(error),
        (None, Ok(()) | Err(GenerateError::Interrupted(_))) => log.write_until(i64::MAX),
        (None, Err(error)) => Err(CollectError::Store(error)),
    }
}

/// Lines waiting to be written: transactions arrive in the order in which they took effect, lines are written in the
/// order of their times.
struct Log<'a> {
    recorder: &'a Recorder,
    /// By time, beginnings before ends (so that none seems to have ended before the other began), and number.
    waiting: BTreeMap<(i64, bool, u64), EndedProcess>,
    lines: u64,
    /// By session: its process number, and when it got its last answer.
    sessions: Vec<(u32, i64)>,
    next_process: u32,
    span: i64,
    latest: i64,
}

struct EndedProcess {
    process: u32,
    outcome: Option<Outcome>,
    observed: Vec<Observed>,
}

impl<'a> Log<'a> {
    fn new(generation: &Generation, recorder: &'a Recorder) -> Log<'a> {
        let n = generation.workload.sessions;
        Log {
            recorder,
            waiting: BTreeMap::new(),
            lines: 0,
            sessions: (0..n).map(|session| (session, -1)).collect(),
            next_process: n,
            span: generation.span(),
            latest: 0,
        }
    }

    fn add(&mut self, executed: Executed) -> Result<(), CollectError> {
        let Executed {
            session,
            outcome,
            interval,
            operations,
            ..
        } = executed;
        let Some(state) = self.sessions.get_mut(session as usize) else {
            return Ok(());
        };
        let (process, answered) = *state;
        // One process does one thing at a time.
        let start = interval.start.max(answered + 1).max(0);
        let end = interval.end.max(start + 1);
        *state = (process, end);
        if outcome == Outcome::Unknown {
            state.0 = self.next_process;
            self.next_process += 1;
        }
        let lines = [
            (start, false, None, operations.clone()),
            (end, true, Some(outcome), operations),
        ];
        for (time, ends, outcome, observed) in lines {
            self.waiting.insert(
                (time, ends, self.lines),
                EndedProcess {
                    process,
                    outcome,
                    observed,
                },
            );
            self.lines += 1;
        }
        self.latest = self.latest.max(end);
        // Later transactions take effect after this one, so they begin less than a span before that.
        self.write_until(self.latest - 2 * self.span)
    }

    /// Writes the lines of times before `horizon`.
    fn write_until(&mut self, horizon: i64) -> Result<(), CollectError> {
        while let Some(first) = self
            .waiting
            .first_entry()
            .filter(|first| first.key().0 < horizon)
        {
            let (
                (time, ..),
                EndedProcess {
                    process,
                    outcome,
                    observed,
                },
            ) = first.remove_entry();
            self.recorder.at(time, process, outcome, &observed)?;
        }
        Ok(())
    }
}
