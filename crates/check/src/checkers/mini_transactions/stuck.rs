//! Why nothing can run any more: sessions that wait for each other in a cycle.

use super::replay::{Replay, Wait};
use isoscope_model::relations::{NONE, Node};

impl Replay<'_> {
    /// The transactions of a cycle, ascending, and the writers of the versions that its anti-dependencies are about.
    /// They violate the level without the rest of the history. O(n + reads).
    pub(super) fn cycle(&self) -> Vec<Node> {
        let waits = |session: u32| self.head[session as usize] < self.end(session);
        let Some(mut session) = (0..self.head.len() as u32).find(|&session| waits(session)) else {
            return Vec::new();
        };
        let late = self.late();
        let mut step_of = vec![NONE; self.head.len()];
        let mut steps: Vec<[Node; 3]> = Vec::new();
        // Each session waits for a transaction of one session, so a session must repeat after at most all of them.
        while step_of[session as usize] == NONE {
            step_of[session as usize] = steps.len() as u32;
            let (blocker, writer) = self.blocker(session, late);
            steps.push([self.head[session as usize], blocker, writer]);
            session = self.index.session[blocker as usize];
        }
        let cycle = &steps[step_of[session as usize] as usize..];
        let mut core: Vec<Node> = cycle
            .iter()
            .flatten()
            .copied()
            .filter(|&t| t != NONE)
            .collect();
        core.sort_unstable();
        core.dedup();
        core
    }

    /// A transaction that has not committed, or not started, and that the head of a session waits for; the writer of the
    /// version that both read, if they do.
    fn blocker(&self, session: u32, late: Node) -> (Node, Node) {
        match self.wait[session as usize] {
            Wait::Commit(t) => (t, NONE),
            Wait::Readers(id) => {
                let readers = self
                    .versions
                    .reads_of(self.index, id)
                    .iter()
                    .map(|&read| self.index.reader(read));
                let update = self.versions.get(id).update;
                let open = readers
                    .into_iter()
                    .find(|&r| r != update && !self.has_started(r));
                (
                    open.unwrap_or(update),
                    self.versions.writer(self.index, id).unwrap_or(NONE),
                )
            }
            Wait::Moments(_) | Wait::Nothing => (late, NONE),
        }
    }

    /// A transaction that ended at the next moment, which cannot pass.
    fn late(&self) -> Node {
        let Some(clock) = &self.clock else {
            return NONE;
        };
        let has_not_committed = |t: Node| t >= self.head[self.index.session[t as usize] as usize];
        let mut all = 0..self.index.n_nodes() as Node;
        all.find(|&t| clock.ended[t as usize] == clock.passed && has_not_committed(t))
            .unwrap_or(NONE)
    }
}
