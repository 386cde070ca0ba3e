//! A folder of histories: each is checked in turn, and a table shows the results. A bad file is a row like any other.

mod compare;
mod work;

pub use compare::{ComparedKey, ComparedKeys};
pub(super) use work::CHECK_FOLDER;

use super::App;
use super::style::counted;
use super::tree::pattern_text;
use super::verdict_summary::Conclusion;
use crate::checkers::lattice::Promise;
use crate::checkers::{Level, LevelSet, Pattern};
use crate::formats::ListedFile;
use crate::jobs;
use crate::relations::Relation;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use work::check_all;

/// The state of one history.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Not checked yet.
    Waiting,
    /// It could not be read, with the reason.
    Failed(String),
    /// It was checked.
    Checked(Box<Checked>),
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Number of transactions.
    pub transactions: usize,
    /// By level requested. Evidence is not kept: a history is checked again when it is opened.
    pub conclusions: Vec<(Level, Conclusion)>,
    /// Number of anomalies by pattern.
    pub patterns: BTreeMap<Pattern, u64>,
    /// How many of those listed no simpler one explains.
    pub causes: u64,
    /// The smallest anomaly: its signature.
    pub smallest: Option<Signature>,
    /// The kinds of what the rules of its workload call a violation, and how many there are.
    pub findings: (Vec<&'static str>, u64),
    /// Reading and checking, wall time.
    pub seconds: f64,
}

impl Checked {
    /// Number of causes of anomalies, and of findings of the rules of its workload.
    pub fn causes(&self) -> u64 {
        self.causes + self.findings.1
    }

    /// What the smallest anomaly looks like, or what the rules of its workload find; empty where there is neither.
    pub fn in_words(&self) -> String {
        let smallest = self.smallest.as_ref().map(Signature::text);
        // What the rules of a workload see is in its own words.
        match (&self.findings.0[..], smallest) {
            ([], smallest) => smallest.unwrap_or_default(),
            (found, _) => found.join(", "),
        }
    }

    /// What was found for a level, or follows from others where it was not asked for.
    pub fn conclusion(&self, level: Level) -> Option<Conclusion> {
        let own = self.conclusions.iter().find(|(other, _)| *other == level);
        let follows = |&&(other, conclusion): &&(Level, Conclusion)| match conclusion {
            Conclusion::Holds => other.implies(level),
            Conclusion::Broken => level.implies(other),
            Conclusion::Open => false,
        };
        own.or_else(|| self.conclusions.iter().find(follows))
            .map(|(_, conclusion)| *conclusion)
    }

    /// The weakest violated level.
    pub fn weakest_broken(&self) -> Option<Level> {
        self.conclusions
            .iter()
            .filter(|(_, c)| *c == Conclusion::Broken)
            .map(|(level, _)| *level)
            .min()
    }
}

/// What an anomaly looks like: equal for equal bugs in different histories.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    /// Number of transactions.
    pub size: usize,
    pub pattern: Pattern,
    /// Level, pattern and shape of its cycle, without names.
    pub shape: String,
    /// The steps of its first cycle.
    pub cycle: Vec<Relation>,
}

impl Signature {
    /// In one line, for the fonts of the window.
    pub fn text(&self) -> String {
        let name = pattern_text(self.pattern, "  ");
        format!("{name} · {}", counted(self.size, "transaction"))
    }
}

/// One history of the folder.
#[derive(Clone, Debug)]
pub struct BatchRow {
    /// Its file or folder.
    pub path: PathBuf,
    /// Its path relative to the folder.
    pub name: String,
    /// The result.
    pub outcome: Outcome,
    /// The text the filter searches, in lower case.
    text: String,
}

impl BatchRow {
    fn new(path: PathBuf, name: String, outcome: Outcome) -> BatchRow {
        let text = text_of(&name, &outcome);
        BatchRow {
            path,
            name,
            outcome,
            text,
        }
    }

    fn set(&mut self, outcome: Outcome) {
        self.text = text_of(&self.name, &outcome);
        self.outcome = outcome;
    }

    /// What was found, once it was checked.
    pub fn checked(&self) -> Option<&Checked> {
        match &self.outcome {
            Outcome::Checked(checked) => Some(checked),
            Outcome::Waiting | Outcome::Failed(_) => None,
        }
    }
}

/// What the table is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Column {
    /// As found in the folder.
    #[default]
    Name,
    /// Number of transactions.
    Transactions,
    /// The weakest violated level.
    Verdict,
    /// Number of causes of anomalies.
    Causes,
    /// What the smallest one looks like.
    Smallest,
    /// How long it took.
    Time,
}

impl Column {
    /// All, from left to right.
    pub const ALL: [Column; 6] = [
        Column::Name,
        Column::Transactions,
        Column::Verdict,
        Column::Causes,
        Column::Smallest,
        Column::Time,
    ];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Column::Name => "History",
            Column::Transactions => "Transactions",
            Column::Verdict => "Levels",
            Column::Causes => "Causes",
            Column::Smallest => "Smallest anomaly",
            Column::Time => "Time",
        }
    }

    fn compare(self, a: &Checked, b: &Checked) -> Ordering {
        let broken = |checked: &Checked| {
            checked
                .weakest_broken()
                .map_or(u8::MAX, |level| level as u8)
        };
        match self {
            Column::Name => Ordering::Equal,
            Column::Transactions => a.transactions.cmp(&b.transactions),
            Column::Verdict => broken(a).cmp(&broken(b)),
            Column::Causes => a.causes().cmp(&b.causes()),
            Column::Smallest => {
                (a.smallest.is_none(), &a.smallest).cmp(&(b.smallest.is_none(), &b.smallest))
            }
            Column::Time => a.seconds.total_cmp(&b.seconds),
        }
    }
}

/// A folder of histories.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub folder: PathBuf,
    /// Its histories, by name.
    pub rows: Vec<BatchRow>,
    /// Indices of the rows that pass the filter, as sorted.
    pub order: Vec<usize>,
    /// What rows are sorted by.
    pub sort: Column,
    /// In descending order.
    pub descending: bool,
    /// Only rows that contain all these words.
    pub filter: String,
    /// The row that Enter opens: an index into [`order`](Self::order).
    pub chosen: usize,
    /// Histories that look alike share a row, that of the smallest.
    pub grouped: bool,
    /// Results have come that the groups do not show yet.
    is_stale: bool,
    /// How many histories share each row of [`order`](Self::order), if they are grouped.
    pub alike: Vec<usize>,
    /// Rows that are compared as soon as there are two.
    pub compared: Vec<usize>,
    /// The shapes of their anomalies.
    pub keys: Option<ComparedKeys>,
    /// The work has ended.
    pub done: bool,
    n_known: usize,
    levels: LevelSet,
}

impl Batch {
    /// Rows that are waiting to be checked, or could not be used.
    pub fn new(folder: &Path, found: Vec<ListedFile>) -> Batch {
        let row = |found: ListedFile| {
            let (path, outcome) = match found {
                ListedFile::History(path) => (path, Outcome::Waiting),
                ListedFile::Unusable { path, message } => (path, Outcome::Failed(message)),
            };
            let name = path
                .strip_prefix(folder)
                .unwrap_or(&path)
                .display()
                .to_string();
            BatchRow::new(path, name, outcome)
        };
        let mut rows: Vec<BatchRow> = found.into_iter().map(row).collect();
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        let n_known = rows
            .iter()
            .filter(|row| !matches!(row.outcome, Outcome::Waiting))
            .count();
        let mut batch = Batch {
            folder: folder.to_owned(),
            rows,
            n_known,
            levels: Level::ALL.into_iter().collect(),
            ..Batch::default()
        };
        batch.arrange();
        batch
    }

    /// Number of histories with a result.
    pub fn n_known(&self) -> usize {
        self.n_known
    }

    /// The levels that have a place in the table: the usual ones and all that some history was checked at.
    pub fn levels(&self) -> LevelSet {
        self.levels
    }

    /// Sorts and filters again. O(rows · log rows).
    pub fn arrange(&mut self) {
        self.is_stale = false;
        let words = self.words();
        let chosen = self.order.get(self.chosen).copied();
        let mut order: Vec<usize> = (0..self.rows.len())
            .filter(|&at| passes(&self.rows[at], &words))
            .collect();
        order.sort_unstable_by(|a, b| self.order_of(*a, *b));
        (self.order, self.alike) = if self.grouped {
            self.groups(order)
        } else {
            (order, Vec::new())
        };
        self.choose(chosen);
    }

    /// The smallest of each group of histories whose smallest anomalies look alike, and the sizes of the groups; the
    /// largest group first, those without an anomaly or a result last.
    fn groups(&self, order: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
        let mut groups: BTreeMap<(u8, Option<&Signature>), Vec<usize>> = BTreeMap::new();
        for at in order {
            let kind = match (
                &self.rows[at].outcome,
                self.rows[at].checked().and_then(|c| c.smallest.as_ref()),
            ) {
                (_, Some(smallest)) => (0, Some(smallest)),
                (Outcome::Checked(_), None) => (1, None),
                (Outcome::Waiting, None) => (2, None),
                (Outcome::Failed(_), None) => (3, None),
            };
            groups.entry(kind).or_default().push(at);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|((kind, _), rows)| (*kind, Reverse(rows.len())));
        let size = |at: &usize| {
            self.rows[*at]
                .checked()
                .map_or(usize::MAX, |checked| checked.transactions)
        };
        let smallest = |rows: &[usize]| rows.iter().copied().min_by_key(size);
        groups
            .iter()
            .filter_map(|(_, rows)| Some((smallest(rows)?, rows.len())))
            .unzip()
    }

    /// Groups again if results have come: once for all that came since the last frame.
    pub fn refresh(&mut self) {
        if self.is_stale {
            self.arrange();
        }
    }

    /// Lists histories that look alike as one, or each by itself again.
    pub fn group(&mut self) {
        self.grouped = !self.grouped;
        self.arrange();
    }

    /// Records the result of a history; only its own row moves. O(rows).
    fn settle(&mut self, place: usize, outcome: Outcome) {
        let Some(row) = self.rows.get_mut(place) else {
            return;
        };
        if matches!(row.outcome, Outcome::Failed(_)) {
            return;
        }
        self.n_known += usize::from(matches!(row.outcome, Outcome::Waiting));
        if let Outcome::Checked(checked) = &outcome {
            checked
                .conclusions
                .iter()
                .for_each(|(level, _)| self.levels.insert(*level));
        }
        row.set(outcome);
        if self.grouped {
            self.is_stale = true;
            return;
        }
        let chosen = self.order.get(self.chosen).copied();
        self.order.retain(|at| *at != place);
        if passes(&self.rows[place], &self.words()) {
            let at = self
                .order
                .partition_point(|other| self.order_of(*other, place).is_lt());
            self.order.insert(at, place);
        }
        self.choose(chosen);
    }

    fn choose(&mut self, row: Option<usize>) {
        self.chosen = row
            .and_then(|row| self.order.iter().position(|at| *at == row))
            .unwrap_or(0);
    }

    fn words(&self) -> Vec<String> {
        self.filter
            .to_lowercase()
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    }

    /// The order of two rows.
    fn order_of(&self, a: usize, b: usize) -> Ordering {
        let order = match self.sort {
            // Rows are kept by name.
            Column::Name => a.cmp(&b),
            _ => match (self.rows[a].checked(), self.rows[b].checked()) {
                (Some(x), Some(y)) => self.sort.compare(x, y),
                // Unknown values are at the bottom, in either direction.
                (x, y) => return y.is_some().cmp(&x.is_some()).then(a.cmp(&b)),
            },
        };
        let order = if self.descending {
            order.reverse()
        } else {
            order
        };
        order.then(a.cmp(&b))
    }

    /// Sorts by a column; reverses the order when it is already sorted by it.
    pub fn sort_by(&mut self, column: Column) {
        self.descending = self.sort == column && !self.descending;
        self.sort = column;
        self.arrange();
    }
}

/// Whether a row contains all words.
fn passes(row: &BatchRow, words: &[String]) -> bool {
    words.iter().all(|word| row.text.contains(word))
}

/// The text the filter searches: the name, the patterns, and the result for each level.
fn text_of(name: &str, outcome: &Outcome) -> String {
    let mut text = name.to_lowercase();
    match outcome {
        Outcome::Waiting => text.push_str(" waiting"),
        Outcome::Failed(message) => text.push_str(&format!(" failed {}", message.to_lowercase())),
        Outcome::Checked(checked) => {
            for (level, conclusion) in &checked.conclusions {
                text.push_str(&format!(" {level}:{}", conclusion.word()).to_lowercase());
            }
            let signature = checked
                .smallest
                .as_ref()
                .map(Signature::text)
                .unwrap_or_default();
            text.push_str(&format!(" {signature}").to_lowercase());
            checked
                .patterns
                .keys()
                .for_each(|p| text.push_str(&format!(" {p}").to_lowercase()));
        }
    }
    text
}

impl App {
    /// Shows the table of a folder and starts checking its histories.
    pub(super) fn open_batch(&mut self, batch: Batch) {
        let paths = batch.rows.iter().map(|row| match row.outcome {
            Outcome::Failed(_) => PathBuf::new(),
            _ => row.path.clone(),
        });
        let (paths, pool): (Vec<PathBuf>, _) = (paths.collect(), self.pool.clone());
        let promised = self.state.lattice.promise().and_then(Promise::asked);
        self.start(&CHECK_FOLDER, move |control, outbox| {
            pool.install(|| check_all(&paths, promised.as_slice(), control, outbox))
        });
        jobs::replace(&mut self.state.batch, Some(batch));
        self.compare_keys();
        self.state.show_batch = true;
        self.state.uncover();
    }
}

/// The patterns that either of two histories contains, with both counts.
pub fn patterns_of(a: &Checked, b: &Checked) -> Vec<(Pattern, u64, u64)> {
    let all: BTreeSet<Pattern> = a
        .patterns
        .keys()
        .chain(b.patterns.keys())
        .copied()
        .collect();
    let count = |c: &Checked, pattern: &Pattern| c.patterns.get(pattern).copied().unwrap_or(0);
    all.into_iter()
        .map(|pattern| (pattern, count(a, &pattern), count(b, &pattern)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::work::check_one;
    use super::*;
    use crate::control::Control;

    fn checked(text: &str) -> Outcome {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("h.txt");
        std::fs::write(&path, text).expect("the folder is writable");
        check_one(&path, &[Level::PlainSnapshotIsolation], &Control::new())
    }

    fn row(name: &str, outcome: Outcome) -> BatchRow {
        BatchRow::new(PathBuf::from(name), name.to_owned(), outcome)
    }

    #[test]
    fn rows_are_sorted_and_filtered_and_bad_ones_are_below() {
        let mut batch = Batch::new(Path::new(""), Vec::new());
        batch.rows = vec![
            row("bad", checked("a: [w x")),
            row("clean", checked("a: [w x 1]\nb: [r x 1]\n")),
            row("lost", checked("a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n")),
        ];
        assert!(matches!(&batch.rows[0].outcome, Outcome::Failed(text) if text.contains("line 1")));
        for (column, expected) in [
            (Column::Name, [2, 1, 0]),
            (Column::Causes, [1, 2, 0]),
            (Column::Verdict, [2, 1, 0]),
        ] {
            batch.sort_by(column);
            assert_eq!(batch.order, expected, "{column:?}");
        }
        batch.sort_by(Column::Verdict);
        assert_eq!(
            batch.order,
            [1, 2, 0],
            "the other way round, and what is not known still below"
        );
        batch.filter = "si:violated".to_owned();
        batch.arrange();
        assert_eq!(batch.order, [2]);
        let Outcome::Checked(lost) = &batch.rows[2].outcome else {
            panic!("it was checked")
        };
        assert!(
            lost.smallest
                .as_ref()
                .is_some_and(|signature| signature.size == 2)
        );
    }

    #[test]
    fn a_row_that_is_known_moves_to_its_place() {
        let found = ["a", "b", "c", "d"].map(|name| ListedFile::History(PathBuf::from(name)));
        let mut batch = Batch::new(Path::new(""), found.into());
        batch.sort_by(Column::Causes);
        batch.chosen = 3;
        let lost = "a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n";
        for (place, text) in [(3, lost), (1, "a: [w x 1]\n"), (0, "a: [w x"), (2, lost)] {
            batch.settle(place, checked(text));
            let moved = batch.order.clone();
            batch.arrange();
            assert_eq!(moved, batch.order, "as if all were sorted again");
        }
        assert_eq!(
            (batch.order.clone(), batch.n_known()),
            (vec![1, 2, 3, 0], 4)
        );
        assert_eq!(batch.order[batch.chosen], 3, "the chosen one stays chosen");
        let promised = Level::PlainSnapshotIsolation;
        assert!(
            batch.levels().contains(promised) && !batch.levels().contains(Level::ReadYourWrites)
        );
        let conclusion = batch.rows[3]
            .checked()
            .and_then(|checked| checked.conclusion(promised));
        assert_eq!(conclusion, Some(Conclusion::Broken));
    }

    #[test]
    fn histories_that_look_alike_share_a_row_that_opens_the_smallest() {
        let lost = "a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n";
        let larger = format!("{lost}c: [w y 1]\nd: [r y 1]\n");
        let mut batch = Batch::new(Path::new(""), Vec::new());
        batch.rows = vec![
            row("clean", checked("a: [w x 1]\n")),
            row("larger", checked(&larger)),
            row("lost", checked(lost)),
            row("bad", checked("a: [w x")),
        ];
        batch.group();
        assert_eq!(
            (batch.order.clone(), batch.alike.clone()),
            (vec![2, 0, 3], vec![2, 1, 1])
        );
        batch.settle(0, checked(lost));
        batch.refresh();
        assert_eq!(
            (batch.order.clone(), batch.alike.clone()),
            (vec![0, 3], vec![3, 1])
        );
        batch.group();
        assert_eq!((batch.order.len(), batch.alike.len()), (4, 0));
    }
}
