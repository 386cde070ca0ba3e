//! A witness as a run to step through: which transaction is next, and which version of each of its keys is current when
//! it reads or writes. Counterexamples, which no such order explains, are stepped through as their clients saw them:
//! see [`ReplayRun`]. The order of the steps is found as that of the scripts for databases: see [`plan()`].

mod interleave;
mod isolation;
mod run;
mod scenes;
mod seen;
mod versions;

pub use interleave::{Action, Plan, PlanStep, interleave};
pub use isolation::Isolation;
pub use run::{ReplayRun, RunStep, run, run_with, told_run};
pub use scenes::{ReplayScene, scenes};
pub use seen::{Expected, Explained, KeyState, UNTOUCHED};
pub use versions::{Known, Versions};

use super::Counterexample;
use isoscope_check::checkers::{Event, Witness};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId, Value};
use std::collections::HashSet;

/// What happens at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// The whole transaction runs.
    Run,
    /// The transaction takes its snapshot: it reads.
    Start,
    /// Its writes become visible.
    Commit,
}

/// One step of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayStep {
    /// The transaction that acts.
    pub transaction: TransactionId,
    /// What it does.
    pub kind: StepKind,
}

/// A version of a key in the replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// ⊥'s.
    Initial,
    /// The last write of the key by the transaction that acts at a step.
    Written {
        /// The write.
        write: OperationId,
        /// The step that made it visible.
        step: usize,
    },
}

/// What one operation does in a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A write: it replaces the current version.
    Replaces(Version),
    /// A read of the current version.
    Current(Version),
    /// A read of the transaction's own write.
    Own,
    /// A read of an older version than the current one, as weak levels allow.
    Older {
        /// What it returned.
        read: Version,
        /// The current version.
        current: Version,
    },
    /// A read about which the order says nothing: its result is not recorded.
    Open,
}

/// A witness order with the versions of each key in it.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    steps: Vec<ReplayStep>,
    /// By key: its first version.
    key_begin: Vec<u32>,
    /// Versions by key, in order: the step that makes each, and the write.
    versions: Vec<(u32, OperationId)>,
}

impl Replay {
    /// The replay of a witness; `None` if the witness orders nothing (CI) or not everything. O(operations + keys) time,
    /// 8 bytes a version.
    pub fn new(
        history: &History,
        witness: &Witness,
        control: &Control,
    ) -> Result<Option<Replay>, Interrupt> {
        // Of counters, banks and queues a read does not say whose write it saw.
        let has_versions = history
            .workload()
            .is_none_or(|workload| workload.has_items());
        let steps: Vec<ReplayStep> = match witness {
            _ if !has_versions => return Ok(None),
            Witness::Reads => return Ok(None),
            Witness::CommitOrder(order) => order
                .iter()
                .map(|&transaction| ReplayStep {
                    transaction,
                    kind: StepKind::Run,
                })
                .collect(),
            Witness::Events(events) => events.iter().map(ReplayStep::of).collect(),
        };
        let mut replay = Replay {
            steps,
            key_begin: Vec::new(),
            versions: Vec::new(),
        };
        replay.number_versions(history, control)?;
        Ok(Some(replay))
    }

    /// Sorts the writes by key and step; of one transaction the last write of a key is the version.
    fn number_versions(&mut self, history: &History, control: &Control) -> Result<(), Interrupt> {
        let mut begin = vec![0u32; history.n_keys() + 1];
        let writes = |step: &ReplayStep| {
            let of_step =
                (step.kind != StepKind::Start).then(|| history.operations_of(step.transaction));
            of_step
                .into_iter()
                .flatten()
                .map(|o| (o, history.operation(o)))
                .filter_map(|(o, operation)| {
                    (operation.kind == OperationKind::Write).then_some((operation.key.index(), o))
                })
        };
        for (place, step) in self.steps.iter().enumerate() {
            if place % 65536 == 0 {
                control.check()?;
            }
            writes(step).for_each(|(key, _)| begin[key + 1] += 1);
        }
        for key in 0..history.n_keys() {
            begin[key + 1] += begin[key];
        }
        let mut next = begin.clone();
        let mut versions = vec![(0, OperationId::new(0)); begin[history.n_keys()] as usize];
        for (place, step) in self.steps.iter().enumerate() {
            if place % 65536 == 0 {
                control.check()?;
            }
            for (key, write) in writes(step) {
                versions[next[key] as usize] = (place as u32, write);
                next[key] += 1;
            }
        }
        (self.key_begin, self.versions) = (begin, versions);
        Ok(())
    }

    /// Number of steps.
    pub fn n_steps(&self) -> usize {
        self.steps.len()
    }

    /// The step at a place.
    pub fn step(&self, place: usize) -> Option<ReplayStep> {
        self.steps.get(place).copied()
    }

    fn versions_of(&self, key: KeyId) -> &[(u32, OperationId)] {
        &self.versions
            [self.key_begin[key.index()] as usize..self.key_begin[key.index() + 1] as usize]
    }

    /// The current version of a key before a step. O(log versions).
    pub fn before(&self, key: KeyId, place: usize) -> Version {
        let versions = self.versions_of(key);
        match versions[..versions.partition_point(|&(step, _)| (step as usize) < place)].last() {
            Some(&(step, write)) => Version::Written {
                write,
                step: step as usize,
            },
            None => Version::Initial,
        }
    }

    /// Number of operations of the transaction that acts at a step: the maximum number of rows.
    pub fn n_rows(&self, history: &History, place: usize) -> usize {
        self.step(place)
            .map_or(0, |step| history.operation_range(step.transaction).len())
    }

    /// The operations of a step with what the replay says of each, in program order: at a start the reads, at a commit
    /// the writes. O(operations of the transaction · versions of their keys) at worst, for reads of old versions.
    pub fn rows(
        &self,
        history: &History,
        place: usize,
        control: &Control,
    ) -> Result<Vec<(OperationId, Effect)>, Interrupt> {
        let Some(step) = self.step(place) else {
            return Ok(Vec::new());
        };
        let mut written: HashSet<(KeyId, Value)> = HashSet::new();
        let mut rows = Vec::new();
        for (n, operation) in history.operations_of(step.transaction).enumerate() {
            if n % 256 == 0 {
                control.check()?;
            }
            let object = history.operation(operation);
            let is_shown = match step.kind {
                StepKind::Run => true,
                StepKind::Start => object.kind == OperationKind::Read,
                StepKind::Commit => object.kind == OperationKind::Write,
            };
            if is_shown {
                let own = written.contains(&(object.key, object.value));
                rows.push((operation, self.effect(history, place, operation, own)));
            }
            if object.kind == OperationKind::Write {
                written.insert((object.key, object.value));
            }
        }
        Ok(rows)
    }

    /// What an operation does; `own` when its transaction wrote the same before.
    fn effect(&self, history: &History, place: usize, operation: OperationId, own: bool) -> Effect {
        let object = history.operation(operation);
        let current = self.before(object.key, place);
        if object.kind == OperationKind::Write {
            return Effect::Replaces(current);
        }
        let value = object.value;
        if value == Value::UNRECORDED {
            return Effect::Open;
        }
        let is_read = |version: Version| match version {
            Version::Initial => history.may_return_initial(operation),
            Version::Written { write, .. } => {
                history.may_return(operation, history.operation(write).value)
            }
        };
        if own {
            return Effect::Own;
        }
        if is_read(current) {
            return Effect::Current(current);
        }
        let versions = self.versions_of(object.key);
        let earlier = versions[..versions.partition_point(|&(step, _)| (step as usize) < place)]
            .iter()
            .rev();
        let mut earlier = earlier.map(|&(step, write)| Version::Written {
            write,
            step: step as usize,
        });
        match (earlier.find(|&version| is_read(version)), current) {
            (Some(read), _) => Effect::Older { read, current },
            // The setup of the initial state is in no step.
            (None, Version::Initial) => Effect::Current(Version::Initial),
            (None, _) => Effect::Older {
                read: Version::Initial,
                current,
            },
        }
    }
}

/// An order of the operations of a counterexample for scripts: [`interleave()`], given what its
/// argument shows of the order of versions.
pub fn plan(example: &Counterexample, control: &Control) -> Plan {
    interleave(
        &example.history,
        example.level,
        &versions::observed(example),
        control,
    )
}

impl ReplayStep {
    fn of(event: &Event) -> ReplayStep {
        match *event {
            Event::Start(transaction) => ReplayStep {
                transaction,
                kind: StepKind::Start,
            },
            Event::Commit(transaction) => ReplayStep {
                transaction,
                kind: StepKind::Commit,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_check::checkers::{Level, Options, Verdict, check};
    use isoscope_formats::{self as formats, Input};

    fn rows(replay: &Replay, history: &History, place: usize) -> Vec<(OperationId, Effect)> {
        replay
            .rows(history, place, &Control::new())
            .expect("nothing stops it")
    }

    /// A level that needs an order; the replay of its witness.
    fn replay(text: &str, level: Level) -> (History, Replay) {
        let history = formats::read(&Input::new("h.txt", text.as_bytes()), None, &Control::new())
            .expect("it reads");
        let options = Options {
            levels: vec![level],
            ..Options::default()
        };
        let findings = check(&history, &options, &Control::new(), &|_| {});
        let Verdict::Satisfied(witness) = &findings.levels[0].verdict else {
            panic!("{level} of {text}")
        };
        let replay = Replay::new(&history, witness, &Control::new())
            .expect("no limit")
            .expect("an order");
        (history, replay)
    }

    const WRITE_SKEW: &str = "a: [r x 0, w y 1]\nb: [r y 0, w x 1]\nc: [r x 1, w x 2, r x 2]\n";

    #[test]
    fn at_a_serial_order_every_read_is_of_the_version_that_is_there() {
        let (history, replay) = replay(
            "a: [w x 1] [r x 2]\nb: [r x 1, w x 2, r x 2]\n",
            Level::Serializability,
        );
        assert_eq!(replay.n_steps(), 3);
        for place in 0..3 {
            for (operation, effect) in rows(&replay, &history, place) {
                assert!(
                    !matches!(effect, Effect::Older { .. } | Effect::Open),
                    "{operation:?} {effect:?}"
                );
            }
        }
        let (_, effect) = rows(&replay, &history, 2)[0];
        assert!(
            matches!(effect, Effect::Current(Version::Written { step: 1, .. })),
            "{effect:?}"
        );
    }

    #[test]
    fn snapshots_are_read_at_the_start_and_replaced_at_the_commit() {
        let (history, replay) = replay(WRITE_SKEW, Level::SnapshotIsolation);
        assert_eq!(replay.n_steps(), 6);
        for place in 0..replay.n_steps() {
            let step = replay.step(place).expect("in range");
            let kinds: Vec<OperationKind> = rows(&replay, &history, place)
                .iter()
                .map(|(o, _)| history.operation(*o).kind)
                .collect();
            let expected = if step.kind == StepKind::Start {
                OperationKind::Read
            } else {
                OperationKind::Write
            };
            assert!(kinds.iter().all(|&kind| kind == expected));
        }
        let own = (0..6)
            .flat_map(|place| rows(&replay, &history, place))
            .filter(|(_, effect)| *effect == Effect::Own);
        assert_eq!(own.count(), 1);
    }

    #[test]
    fn a_weak_order_may_leave_reads_behind() {
        let text = "a: [w x 1]\nb: [w x 2]\nc: [r x 1] [r x 2]\nd: [r x 2] [r x 1]\n";
        let (history, replay) = replay(text, Level::ReadAtomic);
        let effects: Vec<Effect> = (0..replay.n_steps())
            .flat_map(|place| rows(&replay, &history, place))
            .map(|(_, effect)| effect)
            .collect();
        assert!(
            effects
                .iter()
                .any(|effect| matches!(effect, Effect::Older { .. })),
            "{text} {effects:?}"
        );
    }

    #[test]
    fn cut_isolation_orders_nothing() {
        let history = formats::read(&Input::new("h.txt", b"a: [w x 1]\n"), None, &Control::new())
            .expect("it reads");
        assert!(
            Replay::new(&history, &Witness::Reads, &Control::new())
                .expect("no limit")
                .is_none()
        );
    }
}
