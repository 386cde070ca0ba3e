//! Runs sessions concurrently; each waits for one thing at a time.

use super::versions::{VersionId, Versions};
use crate::checkers::{Decision, Level, Order};
use fixedbitset::FixedBitSet;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Index, NONE, Node, TimeChain};
use std::sync::Arc;

/// What the next event of a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Nothing: it has not been examined yet, or is to be examined again.
    Nothing,
    /// A transaction must have committed.
    Commit(Node),
    /// All other readers of a version must have started.
    Readers(VersionId),
    /// Everything that ended at one of this many first moments must have committed.
    Moments(u32),
}

/// Moments in time that delay starts.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// By node: how many moments must have passed before it starts.
    needs: Vec<u32>,
    /// By node: the moment at which it ended, or [`NONE`].
    pub(super) ended: Vec<u32>,
    /// By moment: transactions that ended then and have not committed.
    open: Vec<u32>,
    /// Moments that have passed.
    pub(super) passed: u32,
    /// By number of moments: the first session that waits for them, or [`NONE`].
    waiting: Vec<u32>,
}

impl Clock {
    fn new(index: &Index) -> Clock {
        let chain = TimeChain::new(index);
        let n = index.n_nodes();
        let mut clock = Clock {
            needs: vec![0; n],
            ended: vec![NONE; n],
            open: vec![0; chain.ends.len()],
            passed: 0,
            waiting: vec![NONE; chain.ends.len() + 1],
        };
        for (node, moment) in chain.ended {
            clock.ended[node as usize] = moment;
            clock.open[moment as usize] += 1;
        }
        for (moment, node) in chain.began {
            clock.needs[node as usize] = moment + 1;
        }
        clock
    }
}

/// A history being run.
pub(super) struct Replay<'a> {
    pub(super) index: &'a Index,
    pub(super) versions: Versions,
    /// Whether start and commit are two events.
    split: bool,
    pub(super) clock: Option<Clock>,
    /// By session: the first transaction that has not committed.
    pub(super) head: Vec<Node>,
    /// By session: whether that one has started.
    started: Vec<bool>,
    /// By session: what it waits for.
    pub(super) wait: Vec<Wait>,
    /// By session: another session that waits for the same commit or moments, or [`NONE`].
    also: Vec<u32>,
    committed: FixedBitSet,
    /// By node: the first session that waits for its commit, or [`NONE`].
    waiting: Vec<u32>,
    /// Sessions to be examined.
    ready: Vec<u32>,
    /// All events so far; starts only if they are separate events.
    events: Vec<(Node, bool)>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(index: &'a Index, versions: Versions, level: Level) -> Replay<'a> {
        let (n, n_sessions) = (index.n_nodes(), index.n_sessions());
        let split = level.has_snapshots();
        Replay {
            index,
            versions,
            split,
            clock: level.counts_real_time().then(|| Clock::new(index)),
            head: index.session_begin[..n_sessions].to_vec(),
            started: vec![false; n_sessions],
            wait: vec![Wait::Nothing; n_sessions],
            also: vec![NONE; n_sessions],
            committed: FixedBitSet::with_capacity(n),
            waiting: vec![NONE; n],
            ready: (0..n_sessions as u32).rev().collect(),
            events: Vec::with_capacity(if split { 2 * n } else { n }),
        }
    }

    /// Runs everything that can run.
    pub(super) fn run(mut self, control: &Control) -> Result<Decision, Interrupt> {
        let mut steps = 0;
        while let Some(session) = self.ready.pop() {
            self.wait[session as usize] = Wait::Nothing;
            while self.head[session as usize] < self.end(session) {
                control.tick(steps)?;
                steps += 1;
                let t = self.head[session as usize];
                let wait = self.obstacle(session, t);
                if wait != Wait::Nothing {
                    self.put_aside(session, wait);
                    break;
                }
                self.step(session, t);
            }
        }
        let n_events = self.index.n_nodes() * if self.split { 2 } else { 1 };
        Ok(if self.events.len() < n_events {
            Decision::Violated { core: self.cycle() }
        } else if self.split {
            Decision::Satisfied(Order::Events(self.events.into()))
        } else {
            Decision::Satisfied(Order::Commits(Arc::new(
                self.events.into_iter().map(|(t, _)| t).collect(),
            )))
        })
    }

    /// The node after the last one of a session.
    #[inline]
    pub(super) fn end(&self, session: u32) -> Node {
        self.index.session_begin[session as usize + 1]
    }

    /// Whether a transaction has performed its reads.
    pub(super) fn has_started(&self, t: Node) -> bool {
        let session = self.index.session[t as usize] as usize;
        t < self.head[session] || (t == self.head[session] && self.started[session])
    }

    /// What the next event of `t`, the head of the session, must wait for.
    #[inline]
    fn obstacle(&self, session: u32, t: Node) -> Wait {
        let index = self.index;
        let started = self.started[session as usize];
        if !started {
            if let Some(clock) = &self.clock
                && clock.needs[t as usize] > clock.passed
            {
                return Wait::Moments(clock.needs[t as usize]);
            }
            for read in index.reads_of(t) {
                let writer = index.writer_of_read(read);
                if writer != NONE && !self.committed.contains(writer as usize) {
                    return Wait::Commit(writer);
                }
            }
        }
        if started || !self.split {
            for read in index.reads_of(t) {
                let id = self.versions.read_by(index, read);
                let version = self.versions.get(id);
                if version.update == t && version.readers > 0 {
                    return Wait::Readers(id);
                }
            }
        }
        Wait::Nothing
    }

    /// Lets a session wait.
    fn put_aside(&mut self, session: u32, wait: Wait) {
        self.wait[session as usize] = wait;
        let first = match (wait, &mut self.clock) {
            (Wait::Commit(t), _) => &mut self.waiting[t as usize],
            (Wait::Moments(n), Some(clock)) => &mut clock.waiting[n as usize],
            _ => return,
        };
        self.also[session as usize] = std::mem::replace(first, session);
    }

    /// Schedules all sessions of a list for another look.
    fn wake(&mut self, mut session: u32) {
        while session != NONE {
            self.ready.push(session);
            session = std::mem::replace(&mut self.also[session as usize], NONE);
        }
    }

    /// The next event of `t` happens: its start, its commit, or both at once.
    #[inline]
    fn step(&mut self, session: u32, t: Node) {
        if self.split && !self.started[session as usize] {
            self.start(t);
            self.started[session as usize] = true;
            self.events.push((t, false));
            return;
        }
        if !self.split {
            self.start(t);
        }
        self.events.push((t, true));
        self.head[session as usize] += 1;
        self.started[session as usize] = false;
        self.committed.insert(t as usize);
        let waiting = std::mem::replace(&mut self.waiting[t as usize], NONE);
        self.wake(waiting);
        if self.clock.is_some() {
            self.end_of(t);
        }
    }

    /// `t` reads: a transaction that replaces a version with no other reader left may continue.
    fn start(&mut self, t: Node) {
        let index = self.index;
        for read in index.reads_of(t) {
            let id = self.versions.read_by(index, read);
            if self.versions.get(id).update == t {
                continue;
            }
            if let Some(update) = self.versions.is_read(id) {
                let session = index.session[update as usize];
                if self.wait[session as usize] == Wait::Readers(id) {
                    self.wait[session as usize] = Wait::Nothing;
                    self.ready.push(session);
                }
            }
        }
    }

    /// `t` has committed: moments may pass.
    fn end_of(&mut self, t: Node) {
        let Some(clock) = &mut self.clock else { return };
        let ended = clock.ended[t as usize];
        if ended == NONE {
            return;
        }
        clock.open[ended as usize] -= 1;
        let mut woken = Vec::new();
        while clock.open.get(clock.passed as usize) == Some(&0) {
            clock.passed += 1;
            woken.push(std::mem::replace(
                &mut clock.waiting[clock.passed as usize],
                NONE,
            ));
        }
        woken.into_iter().for_each(|first| self.wake(first));
    }
}
