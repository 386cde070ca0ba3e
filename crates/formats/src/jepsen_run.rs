//! The folder that Jepsen keeps of a run: `store/NAME/TIME` with `history.edn`, `results.edn`, `jepsen.log` and others.
//!
//! Only the history is read as one: of `history.edn`, `test.jepsen` and `history.txt`, which are the same, the first that
//! was kept. What the other files say about the test and about Jepsen's own verdict is passed
//! on in words; where they are missing or cannot be understood, nothing is said.

mod words;

pub(super) use words::{about, said_by};

use super::elle::Scanner;
use super::{blocks, container};
use isoscope_model::control::Control;
use std::path::{Path, PathBuf};

/// The history of a run, in any of these.
const HISTORIES: [&str; 3] = ["history.edn", BLOCKS, "history.txt"];
/// The whole test.
const BLOCKS: &str = "test.jepsen";
/// Files of which a run has at least one.
const SIGNS: [&str; 7] = [
    "results.edn",
    "jepsen.log",
    "history.txt",
    "test.jepsen",
    "test.fressian",
    "test.edn",
    "timeline.html",
];
/// Why the folder of a run cannot be opened.
pub(super) const NOT_KEPT: &str = "the history of this run was not kept";
/// Why a verdict alone is no history.
pub(super) const VERDICT: &str = "Jepsen's verdict on a run; the operations are in history.edn, history.txt or test.jepsen \
                                  beside it";

/// The history in this folder, if it is a run.
pub(super) fn history_in(folder: &Path) -> Option<PathBuf> {
    let history = HISTORIES
        .iter()
        .find(|name| keeps_history(&folder.join(name)))?;
    let is_other = |name: &&&str| *name != history;
    let is_run = SIGNS
        .iter()
        .filter(is_other)
        .any(|name| folder.join(name).is_file());
    is_run.then(|| folder.join(history))
}

/// Whether a file is there and is not the test of a run that ended before there was a history.
fn keeps_history(path: &Path) -> bool {
    let is_test = path.ends_with(BLOCKS);
    let is_kept = |bytes: container::Bytes| blocks::keeps_history(&bytes);
    path.is_file()
        && (!is_test || container::read_file(path, &Control::new()).map_or(true, is_kept))
}

/// Whether a folder is a run without a history.
pub(super) fn is_without_history(folder: &Path) -> bool {
    let is_there = |name: &&str| folder.join(name).is_file();
    SIGNS.iter().any(is_there)
        && !HISTORIES
            .iter()
            .any(|name| keeps_history(&folder.join(name)))
}

/// Whether a file accompanies a history of Jepsen, perhaps one that was never written.
pub(super) fn accompanies(path: &Path) -> bool {
    let named = path
        .file_name()
        .is_some_and(|name| SIGNS.iter().any(|sign| name == *sign));
    let is_logged = || path.with_file_name("jepsen.log").is_file();
    let is_empty = || path.ends_with(BLOCKS) && !keeps_history(path);
    named && (is_logged() || is_empty() || is_verdict_at(path))
}

/// Whether a text is what Jepsen says about a run.
pub(super) fn is_verdict(text: &[u8]) -> bool {
    let (mut has_verdict, mut is_operation) = (false, false);
    let mut scan = Scanner::<false>::new("", text);
    // A text that is cut off has the names up to there.
    let _: Option<()> = (|| {
        scan.blanks().ok()?;
        let close = (scan.peek() == Some(b'{')).then(|| scan.open())??;
        let mut first = true;
        while scan.more(close, &mut first).ok()? {
            let name = scan.field().ok()?;
            has_verdict |= name == Some("valid?");
            is_operation |= name == Some("type");
            scan.skip().ok()?;
        }
        Some(())
    })();
    has_verdict && !is_operation
}

fn is_verdict_at(path: &Path) -> bool {
    let is_text = path.extension().is_some_and(|ending| ending == "edn") && path.is_file();
    let read = || container::read_file(path, &Control::new());
    is_text && read().is_ok_and(|text| is_verdict(&text))
}

/// What is opened at a path: for what Jepsen says about a run, the run.
pub(super) fn opened(path: &Path) -> &Path {
    let folder = path
        .parent()
        .map(|folder| match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        });
    match folder {
        Some(folder) if history_in(folder).is_some() && is_verdict_at(path) => folder,
        _ => path,
    }
}

/// Whether a link leads to the last or the running test of a store.
pub(super) fn is_link_to_run(path: &Path) -> bool {
    path.is_symlink()
        && path
            .file_name()
            .is_some_and(|name| name == "latest" || name == "current")
}

#[cfg(test)]
mod tests;
