//! Several machines on one task: the share of each, and where results are written.

use super::output::Output;
use super::{CheckArguments, claims};
use crate::checkers::lattice::Promise;
use crate::checkers::{Level, LevelSet};
use crate::formats::ListedFile;
use crate::report::{self, Document, Elsewhere, PartEntry};
use std::io::Write;

/// One of several equal parts of the work.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// Which part, from 0.
    shard: usize,
    /// How many there are.
    shards: usize,
}

impl Share {
    /// Of a report that this shard made about these levels.
    pub(super) fn entry(self, levels: Vec<Level>) -> PartEntry {
        PartEntry::new(self.shard, self.shards, levels)
    }
}

/// The requested share.
pub(super) fn share(arguments: &CheckArguments) -> anyhow::Result<Option<Share>> {
    let (Some(shards), Some(shard)) = (arguments.shards, arguments.shard) else {
        return Ok(None);
    };
    anyhow::ensure!(
        shard < shards,
        "there is no shard {shard} of {shards}, expected one from 0 to {}",
        shards - 1
    );
    Ok(Some(Share {
        shard: shard as usize,
        shards: shards as usize,
    }))
}

/// What is written instead of a report on the history at this index of the list, if another shard has it.
pub(super) fn elsewhere(
    share: Share,
    place: usize,
    found: &ListedFile,
    arguments: &CheckArguments,
) -> Option<Document> {
    let shard = place % share.shards;
    if shard == share.shard {
        return None;
    }
    let path = match found {
        ListedFile::History(path) | ListedFile::Unusable { path, .. } => path.to_string_lossy(),
    };
    let mut levels = match arguments.level.is_empty() {
        _ if arguments.all_levels => Level::EVERY.to_vec(),
        // The levels that apply to the history are not known without reading it.
        true => Level::WITHOUT_TIMES.to_vec(),
        false => arguments.level.clone(),
    };
    levels.extend(claims::promised(arguments.claim).and_then(Promise::asked));
    let mut seen = LevelSet::default();
    levels.retain(|level| {
        let is_new = !seen.contains(*level);
        seen.insert(*level);
        is_new && arguments.checker.decides(*level)
    });
    if arguments.level.is_empty() {
        levels.sort_unstable();
    }
    let who = Share { shard, ..share };
    Some(Document::Elsewhere(Box::new(Elsewhere::new(
        &path,
        who.entry(levels),
    ))))
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
