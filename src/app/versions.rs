//! The key whose versions are requested, and finding them.

use super::page::Page;
use super::tasks::{Failure, Task};
use crate::checkers::Violation;
use crate::control::Control;
use crate::control::sorting::going;
use crate::diagram::versions::Chain;
use crate::history::{History, KeyId, as_typed};
use crate::relations::Resolution;
use std::sync::Arc;

/// The requested key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// This one.
    Key(KeyId),
    /// The one of this name.
    Named(String),
    /// The one with the most operations.
    MostUsed,
}

/// What to compute.
pub struct VersionsQuery {
    /// The whole history.
    pub history: Arc<History>,
    /// The writers of what reads returned.
    pub resolution: Arc<Resolution>,
    /// The key.
    pub wanted: Wanted,
    /// The selected anomaly.
    pub violation: Option<Violation>,
}

/// Finding out the versions of a key, or that there is no such key.
pub(super) static CHAIN: Task<Result<Arc<Chain>, String>> =
    Task::new("versions", Failure::Page(Page::Key), |app, answer| {
        let Some(view) = app
            .state
            .document
            .as_mut()
            .and_then(|document| document.key.as_mut())
        else {
            return;
        };
        match answer {
            Ok(chain) => view.chain = Some(chain),
            Err(text) => view.error = Some(text),
        }
    });

impl VersionsQuery {
    /// The chain, or that there is no such key; nothing if it is stopped.
    pub(super) fn answer(&self, control: &Control) -> Option<Result<Arc<Chain>, String>> {
        let history = &self.history;
        let key = match &self.wanted {
            Wanted::Key(key) => *key,
            Wanted::Named(name) => {
                let is_called = |key: &KeyId| as_typed(&history.key_name(*key)) == as_typed(name);
                match going(control, (0..history.n_keys()).map(KeyId::new)).find(is_called) {
                    Some(key) => key,
                    None if control.check().is_err() => return None,
                    None => return Some(Err(format!("There is no key called {name}."))),
                }
            }
            Wanted::MostUsed => match most_used(history) {
                Some(key) => key,
                None => return Some(Err("There are no keys.".to_owned())),
            },
        };
        let edges = self
            .violation
            .as_ref()
            .map_or(&[][..], |violation| &violation.edges);
        let chain = Chain::new(history, &self.resolution, key, edges, control);
        Some(Ok(Arc::new(chain.ok()?)))
    }
}

/// The key with the most operations, of several the first. O(operations).
fn most_used(history: &History) -> Option<KeyId> {
    let mut uses = vec![0u32; history.n_keys()];
    history.keys().iter().for_each(|key| uses[key.index()] += 1);
    let most = uses.iter().max()?;
    uses.iter().position(|n| n == most).map(KeyId::new)
}
