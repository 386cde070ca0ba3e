//! How clients run their transactions.

use crate::generate::{Key, Step};
use std::time::Duration;

/// The usual time between two barriers of a run that is checked while it is recorded.
pub const BARRIERS: Duration = Duration::from_secs(60);

/// How clients run their transactions.
#[derive(Clone, Copy, Debug)]
pub struct ClientOptions {
    /// How often an aborted transaction is retried, with other values.
    pub retries: u32,
    /// How long a client tries to reconnect after it lost its connection.
    pub patience: Duration,
    /// The order in which a transaction writes its keys.
    pub write_order: WriteOrder,
    /// Whether every key that was written is read at the end, on every server, when all faults are healed.
    pub final_reads: bool,
    /// When clients wait for each other.
    pub barriers: Barriers,
}

/// When clients wait for each other until each sees what every other one has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Barriers {
    /// Every [`BARRIERS`] where a run is checked while it is recorded and can have barriers, else never.
    #[default]
    Usual,
    /// Never.
    Never,
    /// This long after the last time.
    Every(Duration),
}

impl Default for ClientOptions {
    /// Transactions are tried once, by clients that wait two seconds for a lost database.
    fn default() -> ClientOptions {
        ClientOptions {
            retries: 0,
            patience: Duration::from_secs(2),
            write_order: WriteOrder::default(),
            final_reads: false,
            barriers: Barriers::Usual,
        }
    }
}

/// The order in which a transaction writes its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteOrder {
    /// Ascending: no two transactions wait for each other's locks.
    #[default]
    Sorted,
    /// As the workload draws them.
    Any,
}

impl WriteOrder {
    /// Exchanges the keys that a transaction writes for each other, so that they are first written in this order. All else
    /// stays: which steps touch the same key, and which keys are touched. Keys of applications are not
    /// exchangeable.
    pub(super) fn apply(self, steps: &mut [Step]) {
        if self == WriteOrder::Any || !steps.iter().all(|step| step.key().is_number()) {
            return;
        }
        let mut written: Vec<Key> = Vec::new();
        for step in steps.iter().filter(|step| step.writes()) {
            if !written.contains(&step.key()) {
                written.push(step.key());
            }
        }
        let mut sorted = written.clone();
        sorted.sort_unstable();
        for step in steps {
            if let Some(place) = written.iter().position(|key| *key == step.key()) {
                *step = step.on(sorted[place]);
            }
        }
    }
}
