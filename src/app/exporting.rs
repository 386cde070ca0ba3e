//! Writing exports off the frame.

use super::canvas::sketch::Sketch;
use super::picture::Picture;
use crate::export::{ComposeOptions, ExportKind, compose, export};
use crate::history::History;
use crate::jobs::{Job, Revision, Wake};
use crate::relations::Relation;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// What to write, and where to.
pub struct What {
    /// The kind of file.
    pub kind: ExportKind,
    /// Where to.
    pub path: PathBuf,
    /// The argument.
    pub picture: Arc<Picture>,
    /// As drawn now, cards moved by hand included.
    pub sketch: Arc<Sketch>,
    /// The whole history.
    pub history: Arc<History>,
    /// Relations whose edges are not drawn.
    pub hidden: BTreeSet<Relation>,
}

/// Starts writing. The message says how it went: the path written, or what went wrong.
pub fn start(what: What, revision: Revision, wake: Wake) -> Job<Result<PathBuf, String>> {
    Job::start("export", revision, wake, move |_, outbox| outbox.send(write(&what).map(|()| what.path.clone())))
}

fn write(what: &What) -> Result<(), String> {
    let argument = &what.picture.argument;
    let options = ComposeOptions {
        layout: what.picture.kind,
        hidden: what.hidden.iter().copied().collect(),
        drawn: Some(what.sketch.layout.clone()),
        ..ComposeOptions::for_history(&what.history)
    };
    let page = compose(&argument.counterexample, &argument.explanation, &what.history, &options);
    let bytes = export(what.kind, &page).map_err(|error| error.to_string())?;
    std::fs::write(&what.path, bytes).map_err(|error| format!("{}: {error}", what.path.display()))
}
