//! Two histories compared: which shapes of anomalies went and which came.

use super::work::{MINIMIZING, checked};
use super::{Batch, Signature};
use crate::app::App;
use crate::app::tasks::{Failure, Task};
use crate::checkers::{Level, ViolationId};
use crate::control::Control;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A shape of anomalies in two histories.
#[derive(Clone, Debug)]
pub struct ComparedShape {
    pub signature: Signature,
    /// How many anomalies of each history have it, of those that were minimized.
    pub counts: [u64; 2],
    /// The first of them in each history.
    pub first: [Option<ViolationId>; 2],
}

/// The shapes of anomalies of two histories.
#[derive(Clone, Debug, Default)]
pub struct ComparedShapes {
    /// Those that only one history has come first.
    pub shapes: Vec<ComparedShape>,
    /// Anomalies of each history whose shape is not known: not listed, or not minimized in time.
    pub others: [u64; 2],
}

/// The anomalies of a history by shape.
struct Shapes {
    found: BTreeMap<Signature, (u64, ViolationId)>,
    others: u64,
}

/// Finding the shapes of the two histories that are compared.
pub(in crate::app) static COMPARE_SHAPES: Task<ComparedShapes> = Task {
    is_of_history: false,
    ..Task::new(
        "shapes",
        Failure::Message("The comparison ended unexpectedly"),
        |app, shapes| {
            app.with_batch(|batch| batch.shapes = Some(shapes));
        },
    )
};

impl App {
    /// Adds a history to the comparison or removes it; two are compared.
    pub(in crate::app) fn compare(&mut self, row: usize) {
        self.with_batch(|batch| batch.compare(row));
        self.compare_shapes();
    }

    /// Back to the table.
    pub(in crate::app) fn end_comparison(&mut self) -> bool {
        self.tasks.cancel(&COMPARE_SHAPES);
        let Some(batch) = self
            .state
            .batch
            .as_mut()
            .filter(|batch| batch.compared.len() == 2)
        else {
            return false;
        };
        batch.compared.clear();
        batch.shapes = None;
        true
    }

    /// Looks for the shapes of the two histories that are compared, if there are two.
    pub(in crate::app) fn compare_shapes(&mut self) {
        self.tasks.cancel(&COMPARE_SHAPES);
        let Some(batch) = &mut self.state.batch else {
            return;
        };
        batch.shapes = None;
        let &[a, b] = batch.compared.as_slice() else {
            return;
        };
        let paths = [a, b].map(|row| batch.rows[row].path.clone());
        let (levels, pool): (Vec<Level>, _) = (batch.levels().iter().collect(), self.pool.clone());
        self.ask(&COMPARE_SHAPES, move |control| {
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

fn compared(paths: &[PathBuf; 2], levels: &[Level], control: &Control) -> Option<ComparedShapes> {
    let [first, second] = [
        shapes(&paths[0], levels, control)?,
        shapes(&paths[1], levels, control)?,
    ];
    let mut all: BTreeMap<Signature, ([u64; 2], [Option<ViolationId>; 2])> = BTreeMap::new();
    for (place, found) in [first.found, second.found].into_iter().enumerate() {
        for (signature, (count, id)) in found {
            let entry = all.entry(signature).or_default();
            (entry.0[place], entry.1[place]) = (count, Some(id));
        }
    }
    let shape = |(signature, (counts, first))| ComparedShape {
        signature,
        counts,
        first,
    };
    let mut shapes: Vec<ComparedShape> = all.into_iter().map(shape).collect();
    // What is new matters most, then what is gone.
    shapes.sort_by_key(|shape| (shape.counts[0] > 0, shape.counts[1] > 0));
    Some(ComparedShapes {
        shapes,
        others: [first.others, second.others],
    })
}

/// The shapes of a history, as far as there is time; none if it cannot be read or the work was stopped.
fn shapes(path: &Path, levels: &[Level], control: &Control) -> Option<Shapes> {
    let (history, findings) = checked(path, levels, control).ok()?;
    let in_time = control.with_time_limit(MINIMIZING);
    let mut found: BTreeMap<Signature, (u64, ViolationId)> = BTreeMap::new();
    let mut n_found = 0;
    for violation in findings
        .violations
        .iter()
        .filter(|violation| !violation.implied)
    {
        let signature = Signature::of(&history, violation, &in_time);
        if in_time.check().is_err() {
            break;
        }
        found.entry(signature).or_insert((0, violation.id)).0 += 1;
        n_found += 1;
    }
    control.check().ok()?;
    let all: u64 = findings.patterns.values().sum();
    Some(Shapes {
        found,
        others: all.saturating_sub(n_found),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_takes_one_shape_away_and_leaves_the_other() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let skew = "a: [r x 0, r y 0, w x 1]\nb: [r x 0, r y 0, w y 1]\n";
        let before = format!("{skew}c: [r z 0, w z 1]\nd: [r z 0, w z 2]\n");
        let paths = [("before.txt", before.as_str()), ("after.txt", skew)].map(|(name, text)| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("the folder is writable");
            path
        });
        let found = compared(&paths, &[], &Control::new()).expect("both can be read");
        let shapes: Vec<([u64; 2], &str)> = found
            .shapes
            .iter()
            .map(|shape| (shape.counts, shape.signature.pattern.id()))
            .collect();
        let gone: Vec<&str> = shapes
            .iter()
            .filter(|(counts, _)| *counts == [1, 0])
            .map(|(_, id)| *id)
            .collect();
        assert!(
            gone.contains(&"Divergence") && !gone.contains(&"WriteSkew"),
            "{shapes:?}"
        );
        assert!(shapes.contains(&([1, 1], "WriteSkew")), "{shapes:?}");
        let skew = found
            .shapes
            .iter()
            .find(|shape| shape.counts == [1, 1])
            .expect("it is in both");
        assert!(skew.first.iter().all(Option::is_some) && skew.signature.cycle.len() == 2);
    }

    #[test]
    fn two_rows_at_most_are_compared() {
        let mut batch = Batch::new(Path::new(""), Vec::new());
        [1, 2, 3, 2].into_iter().for_each(|row| batch.compare(row));
        assert_eq!(batch.compared, [3]);
    }
}
