//! Two histories compared: which anomalies went and which came, by class and key.

use super::Batch;
use super::work::checked;
use crate::app::App;
use crate::app::tasks::{Failure, Task};
use crate::checkers::{Level, Pattern, ViolationId};
use crate::control::Control;
use crate::report::key_of;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Anomalies of a class on a key, in two histories.
#[derive(Clone, Debug)]
pub struct ComparedKey {
    /// The class.
    pub pattern: Pattern,
    /// The key, in words.
    pub key: String,
    /// How many each history has, of those that are listed.
    pub counts: [u64; 2],
    /// The first of them in each history.
    pub first: [Option<ViolationId>; 2],
}

/// The anomalies of two histories by class and key.
#[derive(Clone, Debug, Default)]
pub struct ComparedKeys {
    /// Those that only the second history has come first, then those that only the first one has.
    pub keys: Vec<ComparedKey>,
    /// Anomalies of each history that are counted but not listed.
    pub others: [u64; 2],
}

/// The anomalies of a history by class and key.
struct Keys {
    found: BTreeMap<(Pattern, String), (u64, ViolationId)>,
    others: u64,
}

/// Finding the anomalies of the two histories that are compared.
pub(in crate::app) static COMPARE_KEYS: Task<ComparedKeys> = Task {
    is_of_history: false,
    ..Task::new(
        "keys",
        Failure::Message("The comparison ended unexpectedly"),
        |app, keys| {
            app.with_batch(|batch| batch.keys = Some(keys));
        },
    )
};

impl App {
    /// Adds a history to the comparison or removes it; two are compared.
    pub(in crate::app) fn compare(&mut self, row: usize) {
        self.with_batch(|batch| batch.compare(row));
        self.compare_keys();
    }

    /// Back to the table.
    pub(in crate::app) fn end_comparison(&mut self) -> bool {
        self.tasks.cancel(&COMPARE_KEYS);
        let Some(batch) = self
            .state
            .batch
            .as_mut()
            .filter(|batch| batch.compared.len() == 2)
        else {
            return false;
        };
        batch.compared.clear();
        batch.keys = None;
        true
    }

    /// Looks for the anomalies of the two histories that are compared, if there are two.
    pub(in crate::app) fn compare_keys(&mut self) {
        self.tasks.cancel(&COMPARE_KEYS);
        let Some(batch) = &mut self.state.batch else {
            return;
        };
        batch.keys = None;
        let &[a, b] = batch.compared.as_slice() else {
            return;
        };
        let paths = [a, b].map(|row| batch.rows[row].path.clone());
        let (levels, pool): (Vec<Level>, _) = (batch.levels().iter().collect(), self.pool.clone());
        self.ask(&COMPARE_KEYS, move |control| {
            pool.install(|| compared(&paths, &levels, control))
        });
    }
}

impl Batch {
    /// Adds a row to the comparison or removes it; at most two, the first of them before the second.
    pub fn compare(&mut self, row: usize) {
        match self.compared.iter().position(|other| *other == row) {
            Some(at) => drop(self.compared.remove(at)),
            None => {
                self.compared.push(row);
                if self.compared.len() > 2 {
                    self.compared.remove(0);
                }
            }
        }
    }
}

fn compared(paths: &[PathBuf; 2], levels: &[Level], control: &Control) -> Option<ComparedKeys> {
    let [first, second] = [
        keys(&paths[0], levels, control)?,
        keys(&paths[1], levels, control)?,
    ];
    let mut all: BTreeMap<(Pattern, String), ComparedKey> = BTreeMap::new();
    for (place, found) in [first.found, second.found].into_iter().enumerate() {
        for ((pattern, key), (count, id)) in found {
            let entry = all
                .entry((pattern, key.clone()))
                .or_insert_with(|| ComparedKey {
                    pattern,
                    key,
                    counts: [0; 2],
                    first: [None; 2],
                });
            (entry.counts[place], entry.first[place]) = (count, Some(id));
        }
    }
    let mut keys: Vec<ComparedKey> = all.into_values().collect();
    // What is new matters most, then what is gone.
    keys.sort_by_key(|of| (of.counts[0] > 0, of.counts[1] > 0));
    Some(ComparedKeys {
        keys,
        others: [first.others, second.others],
    })
}

/// The anomalies of a history by class and key; none if it cannot be read or the work was stopped.
fn keys(path: &Path, levels: &[Level], control: &Control) -> Option<Keys> {
    let (history, findings) = checked(path, levels, control).ok()?;
    let mut found: BTreeMap<(Pattern, String), (u64, ViolationId)> = BTreeMap::new();
    for violation in &findings.violations {
        let place = (violation.id.pattern, key_of(&history, violation));
        found.entry(place).or_insert((0, violation.id)).0 += 1;
    }
    control.check().ok()?;
    let all: u64 = findings.patterns.values().sum();
    Some(Keys {
        found,
        others: all.saturating_sub(findings.violations.len() as u64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_takes_one_class_away_and_leaves_the_other() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let skew = "a: [r x 0, r y 0, w x 1]\nb: [r x 0, r y 0, w y 1]\n";
        let before = format!("{skew}c: [r z 0, w z 1]\nd: [r z 0, w z 2]\n");
        let paths = [("before.txt", before.as_str()), ("after.txt", skew)].map(|(name, text)| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("the folder is writable");
            path
        });
        let found = compared(&paths, &[], &Control::new()).expect("both can be read");
        let of = |pattern: Pattern| found.keys.iter().find(|of| of.pattern == pattern);
        let gone = of(Pattern::LostUpdate).expect("it was in the first");
        assert_eq!((gone.counts, gone.key.as_str()), ([1, 0], "key z"));
        let same = of(Pattern::WriteSkew).expect("it is in both");
        assert_eq!(same.counts, [1, 1]);
        assert!(same.first.iter().all(Option::is_some));
    }

    #[test]
    fn two_rows_at_most_are_compared() {
        let mut batch = Batch::new(Path::new(""), Vec::new());
        [1, 2, 3, 2].into_iter().for_each(|row| batch.compare(row));
        assert_eq!(batch.compared, [3]);
    }
}
