//! What the parts of the window talk about: sources, pages, what of an argument is shown, and what has attention or focus.
//! It imports nothing of the window.

use crate::checkers::ViolationId;
use crate::history::{History, OperationId, TransactionId};
use crate::relations::EdgeIndex;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a history is called: its file or, as Jepsen names the folder of a run by its time only, the test and that.
pub fn history_name(path: &Path) -> String {
    let name = file_name(path);
    let (day, rest) = name.split_at_checked(8).unwrap_or_default();
    let is_time = day.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with('T');
    let test = path.parent().and_then(Path::file_name);
    match test.filter(|_| is_time) {
        Some(test) => format!("{}/{name}", test.to_string_lossy()),
        None => name,
    }
}

/// The name of a file, or its whole path if that ends with no name.
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Where a history comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    File(PathBuf),
    /// A bundled sample: index into the table.
    Sample(usize),
    /// Something dropped that has no path.
    Bytes {
        name: String,
        /// Its contents.
        bytes: Arc<[u8]>,
    },
    /// Transactions of a file that is still being written.
    Part(Part),
}

impl Source {
    /// The folder that files about it go to, and where a dialog starts; empty if it is not from a file.
    pub fn folder(&self) -> PathBuf {
        match self {
            Source::File(path) | Source::Part(Part { path, .. }) => {
                path.parent().map(Path::to_owned).unwrap_or_default()
            }
            Source::Sample(_) | Source::Bytes { .. } => PathBuf::new(),
        }
    }
}

impl Default for Source {
    /// The first bundled sample.
    fn default() -> Source {
        Source::Sample(0)
    }
}

/// The smallest part of a growing file that shows what was found in it.
#[derive(Clone, Debug)]
pub struct Part {
    /// What was found, and where.
    pub name: String,
    /// The transactions; their lines are those of the file.
    pub history: Arc<History>,
    /// The file.
    pub path: PathBuf,
}

impl PartialEq for Part {
    fn eq(&self, other: &Part) -> bool {
        Arc::ptr_eq(&self.history, &other.history)
    }
}

/// The state of work on the open history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// The file is being read.
    #[default]
    Reading,
    /// Levels are being decided.
    Checking,
    /// Every result is known.
    Done,
    /// The user stopped it; what is known stays.
    Cancelled,
    /// It could not be read, or the work failed; a message says so.
    Failed,
}

/// A page that is shown instead of the open history and the table of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// Making histories.
    Collect,
    /// The file that is followed.
    Following,
}

/// A part of the picture that has the user's attention, in terms of the counterexample's own history unless stated
/// otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attention {
    /// A step of the argument.
    Step(usize),
    Edge(EdgeIndex),
    /// A card.
    Transaction(TransactionId),
    /// A row of a card.
    Operation(OperationId),
    /// Another anomaly, by its line in the list.
    Anomaly(ViolationId),
    /// A case, by its index in the tree of cases.
    Case(usize),
    /// A transaction that is not in the counterexample, in terms of the whole history.
    Elsewhere(TransactionId),
}

/// A change of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// The pointer is over this; dropped once no view reports it.
    Hover(Attention),
    /// Clicked: stays until released.
    Pin(Option<Attention>),
}

/// The stage of an argument that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// The whole argument.
    #[default]
    Argument,
    /// This case of its tree.
    Case(usize),
}

/// A message that stays until it is dismissed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    /// What happened, with file and line if there are any.
    pub text: String,
    /// What kind of message it is.
    pub tone: Tone,
}

/// What a message about a written file begins with.
const WRITTEN: &str = "Written: ";

impl Banner {
    /// That a file was written.
    pub fn written(path: &Path) -> Banner {
        Banner {
            text: format!("{WRITTEN}{}", path.display()),
            tone: Tone::Done,
        }
    }

    /// The folder that was written, or that of the file.
    pub fn folder(&self) -> Option<PathBuf> {
        let path = Path::new(self.text.strip_prefix(WRITTEN)?);
        let folder = match path.is_dir() {
            true => path,
            false => path.parent()?,
        };
        std::path::absolute(folder)
            .ok()
            .filter(|folder| folder.is_dir())
    }
}

/// What kind a message is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Something was done.
    Done,
    /// Why nothing was done, or what happened by itself.
    Note,
    /// Something went wrong.
    Problem,
}

/// The lines of the file with the involved operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawLines {
    /// The violation for which they were requested.
    pub of: Option<ViolationId>,
    /// Operation (of the whole history), line number and text, by line.
    pub lines: Vec<(OperationId, u32, String)>,
    /// Why there are none.
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_jepsen_is_called_by_its_test_too() {
        let name = |path: &str| history_name(Path::new(path));
        let run = "store/set-test/20260901T101210.000Z";
        assert_eq!(name(run), "set-test/20260901T101210.000Z");
        assert_eq!(name("runs/20260901.edn"), "20260901.edn");
        assert_eq!(name("20260901T101210.000Z"), "20260901T101210.000Z");
        assert_eq!(name("/"), "/");
    }
}
