//! Several machines on one task: the share of each, and where results are written.

use super::CheckArguments;
use super::output::Output;
use crate::checkers::{Level, Share};
use crate::formats::Found;
use crate::report::{self, Document, Elsewhere, PartEntry};
use std::io::Write;

/// The requested share.
pub(super) fn share(arguments: &CheckArguments) -> anyhow::Result<Option<Share>> {
    let (Some(shards), Some(shard)) = (arguments.shards, arguments.shard) else { return Ok(None) };
    anyhow::ensure!(shard < shards, "there is no shard {shard} of {shards}, expected one from 0 to {}", shards - 1);
    let is_of_whole = |level: &&Level| {
        let by_engine = level.is_of_dependencies() || level.is_of_sessions() || level.is_of_each_read();
        by_engine || level.plain_of().is_some() || level.clock().is_some()
    };
    if let Some(level) = arguments.level.iter().find(is_of_whole) {
        anyhow::bail!("{level} is decided for a history as a whole and cannot be used with --shards");
    }
    Ok(Some(Share { shard: shard as usize, shards: shards as usize }))
}

/// What is written instead of a report on the history at this index of the list, if another shard has it.
pub(super) fn elsewhere(share: Share, place: usize, found: &Found, arguments: &CheckArguments) -> Option<Document> {
    if share.has(place) {
        return None;
    }
    let path = match found {
        Found::History(path) | Found::Unusable { path, .. } => path.to_string_lossy(),
    };
    let mut levels = match arguments.level.is_empty() {
        // The levels that apply to the history are not known without reading it.
        true => Level::WITHOUT_TIMES.to_vec(),
        false => arguments.level.clone(),
    };
    levels.retain(|level| arguments.checker.decides(*level));
    let levels = levels.iter().map(|level| level.code().to_owned()).collect();
    let who = Share { shard: place % share.shards, ..share };
    Some(Document::Elsewhere(Box::new(Elsewhere::new(&path, PartEntry::of_histories(who, levels)))))
}

/// Where findings go.
pub(super) enum Target<'a> {
    /// Standard output, where each is shown immediately.
    Screen(&'a mut Output),
    /// A file that appears when it is complete.
    File(&'a mut dyn Write),
}

impl Target<'_> {
    /// Writes a document as JSON.
    pub(super) fn document(&mut self, document: &Document) -> anyhow::Result<()> {
        match self {
            Target::Screen(out) => out.with(|out| report::to_line(document, out)),
            Target::File(file) => report::to_line(document, *file)?,
        }
        Ok(())
    }

    /// Writes text made with the colours of standard output.
    pub(super) fn text(&mut self, text: impl FnOnce(&Output) -> String) {
        if let Target::Screen(out) = self {
            let text = text(out);
            out.text(&text);
        }
    }
}
