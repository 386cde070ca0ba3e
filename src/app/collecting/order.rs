//! What a run needs to know before it begins.

use crate::checkers::Level;
use crate::generate::Workload;
use crate::hunt::{Plan, Target};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The workload, once.
    Run,
    /// Again with the next seed until a violation appears.
    Hunt,
    /// Once at each isolation level.
    Compare,
}

/// A requested run. It contains the address of a database with its password, so it is never shown.
#[derive(Clone)]
pub struct Order {
    /// What is run.
    pub purpose: Purpose,
    /// Where: one target, or to compare, one for each isolation level, strongest first.
    pub targets: Vec<Target>,
    /// What clients do, in the first round.
    pub workload: Workload,
    /// The level that is checked; none is what the database promises.
    pub level: Option<Level>,
    /// Where to record, if given.
    pub file: Option<PathBuf>,
    /// Where to record by default.
    pub folder: PathBuf,
    /// Short name of the database, for names of files.
    pub database: &'static str,
    /// Time limit.
    pub time: Option<Duration>,
    /// Maximum number of rounds of a hunt.
    pub rounds: u64,
    /// Keep histories of rounds without violation.
    pub keep: bool,
}

impl Order {
    /// The file that a round is recorded to, if it does not exist already.
    pub fn path(&self, seed: u64, isolation: &str) -> PathBuf {
        let Some(file) = &self.file else {
            let kind = self.workload.kind;
            return self.folder.join(format!(
                "{}-{isolation}-{kind}-seed-{seed}.edn",
                self.database
            ));
        };
        let more = match self.purpose {
            Purpose::Run => return file.clone(),
            Purpose::Hunt => format!("-seed-{seed}"),
            Purpose::Compare => format!("-{isolation}"),
        };
        next_to(file, &more)
    }

    /// The file for a table of all rounds.
    pub fn table(&self) -> PathBuf {
        let name = format!(
            "{}-levels-{}-seed-{}.csv",
            self.database, self.workload.kind, self.workload.seed
        );
        match &self.file {
            Some(file) => next_to(file, "-levels").with_extension("csv"),
            None => self.folder.join(name),
        }
    }

    /// The plan of a hunt.
    pub fn plan(&self) -> Plan {
        Plan {
            workload: self.workload,
            rounds: self.rounds,
            time: self.time,
            keep: self.keep,
        }
    }
}

/// The path with `more` after its name and before its extension.
fn next_to(path: &Path, more: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map_or(String::new(), |ending| {
        format!(".{}", ending.to_string_lossy())
    });
    path.with_file_name(format!("{stem}{more}{ending}"))
}

/// The path, or a numbered one next to it if it is taken.
pub fn free(path: &Path) -> PathBuf {
    let is_free = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() == 0) || !path.exists()
    };
    let mut names = std::iter::once(path.to_owned())
        .chain((2..10_000).map(|n| next_to(path, &format!("-{n}"))));
    names.find(is_free).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_numbered_where_something_is_there() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("h.edn");
        assert_eq!(free(&path), path);
        std::fs::write(&path, "").expect("the folder is writable");
        assert_eq!(free(&path), path, "an empty file holds nothing");
        std::fs::write(&path, "x").expect("the folder is writable");
        assert_eq!(free(&path), folder.path().join("h-2.edn"));
        std::fs::write(folder.path().join("h-2.edn"), "x").expect("the folder is writable");
        assert_eq!(free(&path), folder.path().join("h-3.edn"));
    }
}
