//! A folder of histories: each is checked in turn, and a table says how it went. A bad file is a row like any other.

use super::App;
use crate::checkers::{self, Findings, Level, Options, Pattern, Verdict, Violation};
use crate::control::Control;
use crate::counterexample::{self, signature};
use crate::formats::{self, Found};
use crate::history::History;
use crate::jobs::{Job, Outbox, Pool, Revision, State as JobState, Wake};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long one history may be checked; what is not known then is undecided.
const EACH: Duration = Duration::from_secs(60);
/// How long the smallest anomaly may be made smaller.
const MINIMIZING: Duration = Duration::from_secs(5);
/// Instances looked at to find the smallest of each pattern.
const INSTANCES: usize = 20;

/// What is known of one history.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Its turn has not come.
    Waiting,
    /// It could not be read; says why.
    Failed(String),
    /// It was checked.
    Checked(Box<Checked>),
}

/// What a check has found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Number of transactions.
    pub transactions: usize,
    /// By level asked for.
    pub verdicts: Vec<(Level, Verdict)>,
    /// Number of anomalies by pattern.
    pub patterns: BTreeMap<Pattern, u64>,
    /// The smallest anomaly: its name, and what it looks like.
    pub smallest: Option<Signature>,
    /// Reading and checking, wall time.
    pub seconds: f64,
}

impl Checked {
    /// Number of anomalies.
    pub fn anomalies(&self) -> u64 {
        self.patterns.values().sum()
    }

    /// The verdict on a level, if it was asked for.
    pub fn verdict(&self, level: Level) -> Option<&Verdict> {
        self.verdicts.iter().find(|(other, _)| *other == level).map(|(_, verdict)| verdict)
    }

    /// The weakest level that is broken.
    pub fn weakest_broken(&self) -> Option<Level> {
        self.verdicts.iter().filter(|(_, verdict)| *verdict == Verdict::Violated).map(|(level, _)| *level).min()
    }
}

/// What an anomaly looks like: equal for equal bugs in different histories.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    /// Number of transactions.
    pub size: usize,
    /// Its pattern.
    pub pattern: Pattern,
    /// Level, pattern and shape of its cycle, without names.
    pub shape: String,
}

impl Signature {
    /// What a violation looks like once it is made small, for which there are a few seconds.
    fn of(history: &History, violation: &Violation, control: &Control) -> Signature {
        let example = counterexample::minimize(history, violation, &control.with_time_limit(MINIMIZING));
        Signature { size: example.history.n_transactions(), pattern: violation.id.pattern, shape: signature(&example) }
    }

    /// In one line.
    pub fn text(&self) -> String {
        format!("{} · {} txns", self.shape, self.size)
    }
}

/// One history of the folder.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its file or folder.
    pub path: PathBuf,
    /// From the folder.
    pub name: String,
    /// How it went.
    pub outcome: Outcome,
}

/// What the table is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Column {
    /// As found in the folder.
    #[default]
    Name,
    /// Number of transactions.
    Transactions,
    /// The weakest level broken.
    Verdict,
    /// Number of anomalies.
    Anomalies,
    /// What the smallest one looks like.
    Smallest,
    /// How long it took.
    Time,
}

impl Column {
    /// All, from left to right.
    pub const ALL: [Column; 6] =
        [Column::Name, Column::Transactions, Column::Verdict, Column::Anomalies, Column::Smallest, Column::Time];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Column::Name => "History",
            Column::Transactions => "Transactions",
            Column::Verdict => "Levels",
            Column::Anomalies => "Anomalies",
            Column::Smallest => "Smallest anomaly",
            Column::Time => "Time",
        }
    }
}

/// A folder of histories.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The folder.
    pub folder: PathBuf,
    /// Its histories.
    pub rows: Vec<Row>,
    /// Places of rows that pass the filter, as sorted.
    pub order: Vec<usize>,
    /// What rows are sorted by.
    pub sort: Column,
    /// From the greatest.
    pub descending: bool,
    /// Only rows that contain all these words.
    pub filter: String,
    /// The row that Enter opens: a place in [`order`](Self::order).
    pub chosen: usize,
    /// Rows that are laid beside each other.
    pub compared: Vec<usize>,
    /// Nothing more will come.
    pub done: bool,
}

impl Batch {
    /// Rows that wait for their turn, or could not be used.
    pub fn new(folder: &Path, found: Vec<Found>) -> Batch {
        let row = |found: Found| {
            let (path, outcome) = match found {
                Found::History(path) => (path, Outcome::Waiting),
                Found::Unusable { path, message } => (path, Outcome::Failed(message)),
            };
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            Row { path, name, outcome }
        };
        let rows: Vec<Row> = found.into_iter().map(row).collect();
        let mut batch = Batch {
            folder: folder.to_owned(),
            order: Vec::new(),
            rows,
            sort: Column::Name,
            descending: false,
            filter: String::new(),
            chosen: 0,
            compared: Vec::new(),
            done: false,
        };
        batch.arrange();
        batch
    }

    /// How many are known.
    pub fn n_known(&self) -> usize {
        self.rows.iter().filter(|row| !matches!(row.outcome, Outcome::Waiting)).count()
    }

    /// Sorts and filters anew. O(rows · log rows).
    pub fn arrange(&mut self) {
        let words: Vec<String> = self.filter.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let chosen = self.order.get(self.chosen).copied();
        let mut order: Vec<usize> = (0..self.rows.len()).filter(|&at| passes(&self.rows[at], &words)).collect();
        let rows = &self.rows;
        let checked = |at: usize| match &rows[at].outcome {
            Outcome::Checked(checked) => Some(checked),
            _ => None,
        };
        // What is not known stands below, in either direction.
        let unknown = |at: &usize| checked(*at).is_none() && self.sort != Column::Name;
        match self.sort {
            Column::Name => order.sort_by(|a, b| rows[*a].name.cmp(&rows[*b].name)),
            Column::Transactions => order.sort_by_key(|&at| checked(at).map(|c| c.transactions)),
            Column::Verdict => {
                order.sort_by_key(|&at| checked(at).map(|c| c.weakest_broken().map_or(u8::MAX, |level| level as u8)))
            }
            Column::Anomalies => order.sort_by_key(|&at| checked(at).map(|c| c.anomalies())),
            Column::Smallest => order.sort_by_key(|&at| {
                checked(at).map(|c| c.smallest.clone().map_or((true, None), |signature| (false, Some(signature))))
            }),
            Column::Time => order.sort_by(|&a, &b| {
                let seconds = |at| checked(at).map_or(0.0, |c| c.seconds);
                seconds(a).total_cmp(&seconds(b))
            }),
        }
        if self.descending {
            order.reverse();
        }
        order.sort_by_key(unknown);
        self.chosen = chosen.and_then(|chosen| order.iter().position(|at| *at == chosen)).unwrap_or(0);
        self.order = order;
    }

    /// Sorts by a column; the other way round when it is already sorted by it.
    pub fn sort_by(&mut self, column: Column) {
        self.descending = self.sort == column && !self.descending;
        self.sort = column;
        self.arrange();
    }

    /// Lays a row beside others, or takes it away; at most two.
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

/// Whether a row contains all words: in its name, its patterns, or as the code of a level that it breaks.
fn passes(row: &Row, words: &[String]) -> bool {
    let mut text = row.name.to_lowercase();
    match &row.outcome {
        Outcome::Waiting => text.push_str(" waiting"),
        Outcome::Failed(message) => text.push_str(&format!(" failed {}", message.to_lowercase())),
        Outcome::Checked(checked) => {
            for (level, verdict) in &checked.verdicts {
                text.push_str(&format!(" {level}:{}", verdict.word()).to_lowercase());
            }
            let signature = checked.smallest.as_ref().map(Signature::text).unwrap_or_default();
            text.push_str(&format!(" {signature}").to_lowercase());
            checked.patterns.keys().for_each(|p| text.push_str(&format!(" {p}").to_lowercase()));
        }
    }
    words.iter().all(|word| text.contains(word))
}

/// What comes while a folder is checked.
#[derive(Debug)]
pub enum Message {
    /// What there is.
    Listed(Vec<Found>),
    /// How the history at a place went.
    Row(usize, Outcome),
}

/// Starts checking the histories that were found; each in turn, with all threads of the pool.
pub fn start(found: Vec<PathBuf>, pool: Pool, revision: Revision, wake: Wake) -> Job<Message> {
    Job::start("batch", revision, wake, move |control, outbox| {
        pool.install(|| check_all(&found, control, outbox));
    })
}

fn check_all(paths: &[PathBuf], control: &Control, outbox: &Outbox<Message>) {
    control.phase("checking histories", paths.len() as u64);
    for (place, path) in paths.iter().enumerate() {
        if control.check().is_err() {
            return;
        }
        let outcome = check_one(path, control);
        if control.is_stopped() {
            return;
        }
        outbox.send(Message::Row(place, outcome));
        control.advance(1);
    }
}

fn check_one(path: &Path, control: &Control) -> Outcome {
    if !path.exists() {
        return Outcome::Failed("it is gone".to_owned());
    }
    let started = Instant::now();
    let own = control.branch().with_time_limit(EACH);
    let history = match formats::open(path, None, &own) {
        Ok(history) => history,
        Err(error) => {
            // The table names the file already.
            let text = error.to_string();
            let path = format!("{}: ", path.display());
            return Outcome::Failed(text.strip_prefix(&path).map_or(text.clone(), str::to_owned));
        }
    };
    let options = Options { levels: Level::of(&history), max_instances: INSTANCES, ..Options::default() };
    let findings = checkers::check(&history, &options, &own, &|_| ());
    let history = findings.understood(history);
    let Findings { levels, patterns, violations, .. } = findings;
    let candidates = violations.iter().filter(|violation| !violation.implied);
    let smallest = candidates.min_by_key(|v| (v.levels.weakest(), v.size(), v.edges.len(), v.id));
    Outcome::Checked(Box::new(Checked {
        transactions: history.recorded().transactions,
        verdicts: levels.into_iter().map(|result| (result.level, result.verdict)).collect(),
        patterns,
        smallest: smallest.map(|violation| Signature::of(&history, violation, &own)),
        seconds: started.elapsed().as_secs_f64(),
    }))
}

impl App {
    /// Shows the table of a folder and starts checking what is in it.
    pub(super) fn open_batch(&mut self, folder: &Path, found: Vec<Found>) {
        let batch = Batch::new(folder, found);
        let paths = batch.rows.iter().map(|row| match row.outcome {
            Outcome::Failed(_) => PathBuf::new(),
            _ => row.path.clone(),
        });
        let number = self.revision.advance();
        self.batching = Some(start(paths.collect(), self.pool.clone(), number, Arc::clone(&self.wake)));
        self.state.batch = Some(batch);
        self.state.show_batch = true;
        self.state.show_collect = false;
    }

    /// Takes in how histories of the folder went.
    pub(super) fn take_in_batch(&mut self) {
        let Some(job) = &mut self.batching else { return };
        let messages = job.poll();
        let ended = job.state().clone();
        if let Some(batch) = &mut self.state.batch {
            let any = !messages.is_empty();
            for message in messages {
                if let Message::Row(place, outcome) = message
                    && let Some(row) = batch.rows.get_mut(place)
                    && !matches!(row.outcome, Outcome::Failed(_))
                {
                    row.outcome = outcome;
                }
            }
            batch.done = ended != JobState::Running;
            if any {
                batch.arrange();
            }
        }
        if ended != JobState::Running {
            self.batching = None;
        }
        if let JobState::Failed(text) = ended {
            self.state.tell(true, format!("The batch ended unexpectedly: {text}"));
        }
    }
}

/// The patterns that either of two histories contains, with both counts.
pub fn patterns_of(a: &Checked, b: &Checked) -> Vec<(Pattern, u64, u64)> {
    let all: BTreeSet<Pattern> = a.patterns.keys().chain(b.patterns.keys()).copied().collect();
    let count = |c: &Checked, pattern: &Pattern| c.patterns.get(pattern).copied().unwrap_or(0);
    all.into_iter().map(|pattern| (pattern, count(a, &pattern), count(b, &pattern))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Outcome {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("h.txt");
        std::fs::write(&path, text).expect("the folder is writable");
        check_one(&path, &Control::new())
    }

    fn row(name: &str, outcome: Outcome) -> Row {
        Row { path: PathBuf::from(name), name: name.to_owned(), outcome }
    }

    #[test]
    fn rows_are_sorted_and_filtered_and_bad_ones_stand_below() {
        let mut batch = Batch::new(Path::new(""), Vec::new());
        batch.rows = vec![
            row("bad", checked("a: [w x")),
            row("clean", checked("a: [w x 1]\nb: [r x 1]\n")),
            row("lost", checked("a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n")),
        ];
        assert!(matches!(&batch.rows[0].outcome, Outcome::Failed(text) if text.contains("line 1")));
        for (column, expected) in
            [(Column::Name, [2, 1, 0]), (Column::Anomalies, [1, 2, 0]), (Column::Verdict, [2, 1, 0])]
        {
            batch.sort_by(column);
            assert_eq!(batch.order, expected, "{column:?}");
        }
        batch.sort_by(Column::Verdict);
        assert_eq!(batch.order, [1, 2, 0], "the other way round, and what is not known still below");
        batch.filter = "si:violated".to_owned();
        batch.arrange();
        assert_eq!(batch.order, [2]);
        let Outcome::Checked(lost) = &batch.rows[2].outcome else { panic!("it was checked") };
        assert!(lost.smallest.as_ref().is_some_and(|signature| signature.size == 2));
    }

    #[test]
    fn two_rows_at_most_are_compared() {
        let mut batch = Batch::new(Path::new(""), Vec::new());
        [1, 2, 3, 2].into_iter().for_each(|row| batch.compare(row));
        assert_eq!(batch.compared, [3]);
    }
}
