//! Clients: one for each session.

use super::distribution::Sampler;
use super::workload::{Workload, mixed};
use fastrand::Rng;
use std::sync::Arc;

/// One session: a stream of transactions that depends only on the workload and the number of the session.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) workload: Workload,
    pub(super) session: u32,
    pub(super) random: Rng,
    sampler: Arc<Sampler>,
    pub(super) begun: u64,
    fresh: u64,
}

impl Client {
    fn new(workload: Workload, session: u32, sampler: Arc<Sampler>) -> Client {
        let random = Rng::with_seed(mixed(workload.seed, u64::from(session)));
        Client {
            workload,
            session,
            random,
            sampler,
            begun: 0,
            fresh: 0,
        }
    }

    /// How many transactions are left.
    pub fn left(&self) -> u64 {
        self.workload.transactions - self.begun
    }

    /// A key drawn from the distribution.
    pub(super) fn draw(&mut self) -> u64 {
        self.sampler.draw(
            self.begun * u64::from(self.workload.sessions),
            &mut self.random,
        )
    }

    /// A number that no other call for any session returns.
    pub(super) fn fresh(&mut self) -> u64 {
        self.fresh += 1;
        (self.fresh - 1) * u64::from(self.workload.sessions) + u64::from(self.session)
    }

    pub(super) fn reads(&mut self) -> bool {
        self.random.f64() < self.workload.read_share
    }

    /// A key that no other session writes, near one drawn by the distribution.
    pub(super) fn own(&self, drawn: u64) -> u64 {
        let (sessions, session) = (u64::from(self.workload.sessions), u64::from(self.session));
        let own = drawn - drawn % sessions + session;
        if own < self.workload.keys {
            own
        } else {
            session % self.workload.keys.max(1)
        }
    }
}

impl Workload {
    /// The clients, one for each session. O(keys) where keys follow Zipf.
    pub fn clients(&self) -> Vec<Client> {
        let sampler = Arc::new(self.distribution.sampler(self.keys.max(1)));
        let client = |session| Client::new(*self, session, Arc::clone(&sampler));
        (0..self.sessions).map(client).collect()
    }
}
