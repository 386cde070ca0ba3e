//! Finding out, off the frame, which histories a folder holds.

use crate::formats::{self, Found};
use crate::jobs::{Job, Revision, Wake};
use std::path::PathBuf;

/// What a folder turned out to be.
#[derive(Clone, Debug)]
pub enum Looked {
    /// One history: its files belong together.
    One(PathBuf),
    /// Histories, at least one, by name, with what cannot be used.
    Several(Vec<Found>),
    /// Nothing to open; says why.
    Nothing(String),
}

/// Starts looking into `folder`. Sends nothing when cancelled.
pub fn start(folder: PathBuf, revision: Revision, wake: Wake) -> Job<Looked> {
    Job::start("folder", revision, wake, move |control, outbox| {
        if formats::is_one_history(&folder) {
            outbox.send(Looked::One(folder));
            return;
        }
        let Ok(found) = formats::histories(std::slice::from_ref(&folder), control) else { return };
        let trouble = found.iter().find_map(|found| match found {
            Found::Unusable { path, message } => Some(format!("{}: {message}", path.display())),
            Found::History(_) => None,
        });
        let any = found.iter().any(|found| matches!(found, Found::History(_)));
        outbox.send(match trouble {
            _ if any => Looked::Several(found),
            Some(trouble) => Looked::Nothing(trouble),
            None => Looked::Nothing(format!("{}: there is no history in this folder", folder.display())),
        });
    })
}
