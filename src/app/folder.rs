//! Finding out, off the frame, which histories a folder holds.

use crate::formats::{self, Found};
use crate::jobs::{Job, Revision, Wake};
use std::path::PathBuf;

/// What a folder turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    /// One history: its files belong together.
    One(PathBuf),
    /// Histories, at least one, by name.
    Several(Vec<PathBuf>),
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
        let mut histories = Vec::new();
        let mut trouble = None;
        for found in found {
            match found {
                Found::History(path) => histories.push(path),
                Found::Unusable { path, message } => {
                    trouble.get_or_insert_with(|| format!("{}: {message}", path.display()));
                }
            }
        }
        outbox.send(match trouble {
            _ if !histories.is_empty() => Looked::Several(histories),
            Some(trouble) => Looked::Nothing(trouble),
            None => Looked::Nothing(format!("{}: there is no history in this folder", folder.display())),
        });
    })
}
