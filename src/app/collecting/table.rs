//! What is known about a run: its progress, and a row for each round.

use super::super::live::Live;
use super::super::verdict_summary::{Conclusion, in_words};
use super::order::Purpose;
use crate::checkers::{Level, Pattern};
use crate::collect::{FaultTime, Snapshot};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum number of samples kept of one round.
const SAMPLES: usize = 600;

/// What was measured between two points in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Seconds since the round began.
    pub at: f64,
    /// Transactions committed per second.
    pub throughput: f64,
    /// Median transaction time, milliseconds.
    pub median: f64,
    /// 99th percentile of transaction times, milliseconds.
    pub slow: f64,
    /// From the moment at which the last transaction was recorded to its verdict, if the recording is followed.
    pub behind: Option<Duration>,
    /// The weakest level known to be violated.
    pub violated: Option<Level>,
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Number of transactions that were recorded.
    pub transactions: usize,
    /// By level.
    pub levels: Vec<(Level, Conclusion)>,
    /// Number of anomalies by pattern.
    pub patterns: BTreeMap<Pattern, u64>,
    /// The violation that is easiest to follow: its name in catalogues, and what it is in words.
    pub violation: Option<(String, String)>,
    /// Reading and checking, wall time.
    pub seconds: f64,
}

impl Checked {
    /// Whether a level is violated.
    pub fn is_violated(&self) -> bool {
        self.weakest().is_some()
    }

    /// The weakest violated level.
    pub fn weakest(&self) -> Option<Level> {
        self.levels
            .iter()
            .filter(|(_, c)| *c == Conclusion::Broken)
            .map(|(level, _)| *level)
            .min()
    }

    /// The conclusion over all levels.
    pub fn conclusion(&self) -> Conclusion {
        let any = |wanted: Conclusion| {
            self.levels
                .iter()
                .any(|(_, conclusion)| *conclusion == wanted)
        };
        match (any(Conclusion::Broken), any(Conclusion::Open)) {
            (true, _) => Conclusion::Broken,
            (false, true) => Conclusion::Open,
            (false, false) => Conclusion::Holds,
        }
    }

    /// `SER satisfied, SI violated`.
    pub fn text(&self) -> String {
        in_words(&self.levels)
    }

    /// `2 × lost update, 1 × write skew`, by pattern.
    pub fn patterns_text(&self) -> String {
        let words: Vec<String> = self
            .patterns
            .iter()
            .map(|(pattern, n)| format!("{n} × {pattern}"))
            .collect();
        words.join(", ")
    }
}

/// A finished round.
#[derive(Clone, Debug)]
pub struct FinishedRound {
    /// Seed of its workload.
    pub seed: u64,
    /// Its isolation level.
    pub isolation: String,
    /// What is promised there.
    pub promise: Option<Level>,
    /// Its history, unless that was deleted.
    pub path: Option<PathBuf>,
    /// Its final counts.
    pub snapshot: Option<Snapshot>,
    /// What was found in it, if it was checked.
    pub checked: Option<Checked>,
    /// What went wrong.
    pub error: Option<String>,
}

impl FinishedRound {
    /// Its name among those of the same run.
    pub fn name(&self, purpose: Purpose) -> String {
        match purpose {
            Purpose::Compare => self.isolation.clone(),
            Purpose::Run | Purpose::Hunt => format!("seed {}", self.seed),
        }
    }

    /// Whether a level is violated.
    pub fn is_violated(&self) -> bool {
        self.checked.as_ref().is_some_and(Checked::is_violated)
    }

    /// Whether a promised level is violated.
    pub fn breaks_promise(&self) -> bool {
        let Some((promise, checked)) = self.promise.zip(self.checked.as_ref()) else {
            return false;
        };
        checked
            .levels
            .iter()
            .any(|(level, c)| *c == Conclusion::Broken && promise.implies(*level))
    }
}

/// The current stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Connecting to the database.
    Opening,
    /// Transactions are running.
    Recording,
    /// The recording is being checked.
    Checking,
    /// Everything is done.
    Done,
    /// It was cancelled; what was recorded stays.
    Cancelled,
    /// It failed.
    Failed,
}

/// A run and what is known of it.
#[derive(Clone, Debug)]
pub struct CollectRun {
    /// What is run.
    pub purpose: Purpose,
    /// The current stage.
    pub stage: Stage,
    /// Product and version, once known.
    pub version: Option<String>,
    /// The current or last round: its name and file.
    pub round: Option<(String, PathBuf)>,
    /// Its counts.
    pub snapshot: Option<Snapshot>,
    /// Its samples over time.
    pub samples: Vec<Sample>,
    /// The faults of the round so far.
    pub faults: Vec<FaultTime>,
    /// One sample in this many is kept, and how many came since the last one that was.
    thinned: (usize, usize),
    /// What is known of the part recorded so far.
    pub live: Live,
    /// Finished rounds, oldest first.
    pub rows: Vec<FinishedRound>,
    /// The file for a table of them.
    pub table: PathBuf,
}

impl CollectRun {
    /// Before anything has happened.
    pub fn new(purpose: Purpose, table: PathBuf) -> CollectRun {
        CollectRun {
            purpose,
            stage: Stage::Opening,
            version: None,
            round: None,
            snapshot: None,
            samples: Vec::new(),
            faults: Vec::new(),
            thinned: (1, 0),
            live: Live::default(),
            rows: Vec::new(),
            table,
        }
    }

    /// Whether the run is in progress.
    pub fn is_running(&self) -> bool {
        matches!(
            self.stage,
            Stage::Opening | Stage::Recording | Stage::Checking
        )
    }

    /// A round begins.
    pub fn begin(&mut self, name: String, path: PathBuf) {
        self.stage = Stage::Recording;
        self.round = Some((name, path));
        self.samples.clear();
        self.faults.clear();
        self.thinned = (1, 0);
        self.snapshot = None;
        self.live = Live::default();
    }

    /// Takes a sample, if there is one, and all counts at that moment.
    pub fn sample(&mut self, sample: Option<Sample>, all: Snapshot, faults: Vec<FaultTime>) {
        self.snapshot = Some(all);
        self.faults = faults;
        let Some(sample) = sample else { return };
        let behind = self
            .live
            .newest()
            .filter(|live| live.status.delivered > 0)
            .map(|live| live.behind[0]);
        let violated = self.live.newest().and_then(|live| live.weakest());
        let sample = Sample {
            behind,
            violated,
            ..sample
        };
        let (every, since) = &mut self.thinned;
        *since += 1;
        if *since < *every {
            return;
        }
        *since = 0;
        self.samples.push(sample);
        if self.samples.len() > SAMPLES {
            // From here on every second one is enough, so that the whole round is sampled evenly.
            *every *= 2;
            let mut place = 0;
            self.samples.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
    }

    /// The most interesting round: the newest with a violation, else the newest that has a file.
    pub fn best(&self) -> Option<&FinishedRound> {
        let mut there = self.rows.iter().rev().filter(|row| row.path.is_some());
        there
            .clone()
            .find(|row| row.is_violated())
            .or_else(|| there.next())
    }

    /// The table as comma-separated values.
    pub fn csv(&self) -> String {
        let levels: Vec<Level> = Level::ALL
            .into_iter()
            .filter(|level| self.verdicts(*level).next().is_some())
            .collect();
        let mut text = "isolation,promise,seed,committed,aborted,unknown,throughput_per_second,abort_rate,median_ms,\
                        p99_ms,check_seconds,weakest_violated"
            .to_owned();
        levels
            .iter()
            .for_each(|level| text.push_str(&format!(",{level}")));
        text.push_str(",anomalies,history,error\n");
        for row in &self.rows {
            let code = |level: Option<Level>| level.map_or("", Level::code);
            let _ = write!(
                text,
                "{},{},{},",
                row.isolation,
                code(row.promise),
                row.seed
            );
            match &row.snapshot {
                Some(s) => {
                    let _ = write!(
                        text,
                        "{},{},{},{:.1},{:.6},{:.3},{:.3},",
                        s.committed,
                        s.aborted,
                        s.unknown,
                        s.throughput(),
                        s.abort_rate(),
                        milliseconds(s.median),
                        milliseconds(s.slow)
                    );
                }
                None => text.push_str(",,,,,,,"),
            }
            let checked = row.checked.as_ref();
            let seconds =
                checked.map_or(String::new(), |checked| format!("{:.6}", checked.seconds));
            let _ = write!(
                text,
                "{seconds},{}",
                code(checked.and_then(Checked::weakest))
            );
            for level in &levels {
                let conclusion =
                    checked.and_then(|c| c.levels.iter().find(|(other, _)| other == level));
                let _ = write!(
                    text,
                    ",{}",
                    conclusion.map_or("", |(_, conclusion)| conclusion.word())
                );
            }
            let patterns = checked.map_or(String::new(), |c| c.patterns_text().replace(", ", "; "));
            let path = row
                .path
                .as_ref()
                .map_or(String::new(), |path| path.display().to_string());
            let error = row.error.clone().unwrap_or_default();
            let _ = writeln!(
                text,
                ",{},{},{}",
                quoted(&patterns),
                quoted(&path),
                quoted(&error)
            );
        }
        text
    }

    fn verdicts(&self, level: Level) -> impl Iterator<Item = Conclusion> {
        let checked = self.rows.iter().filter_map(|row| row.checked.as_ref());
        checked
            .flat_map(|checked| &checked.levels)
            .filter(move |(other, _)| *other == level)
            .map(|(_, c)| *c)
    }
}

/// A duration in milliseconds.
pub fn milliseconds(time: Duration) -> f64 {
    1000.0 * time.as_secs_f64()
}

/// A field of comma-separated values (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(isolation: &str, conclusion: Conclusion) -> FinishedRound {
        let checked = Checked {
            transactions: 2,
            levels: vec![(Level::SnapshotIsolation, conclusion)],
            patterns: BTreeMap::new(),
            violation: None,
            seconds: 0.5,
        };
        let path = Some(PathBuf::from(format!("a, \"{isolation}\".edn")));
        let (isolation, promise) = (isolation.to_owned(), Some(Level::SnapshotIsolation));
        FinishedRound {
            seed: 7,
            isolation,
            promise,
            path,
            snapshot: None,
            checked: Some(checked),
            error: None,
        }
    }

    #[test]
    fn the_table_is_written_as_comma_separated_values() {
        let mut run = CollectRun::new(Purpose::Compare, PathBuf::new());
        run.rows = vec![
            row("strict", Conclusion::Holds),
            row("weak", Conclusion::Broken),
        ];
        let csv = run.csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert!(
            lines[0].ends_with("weakest_violated,SI,anomalies,history,error"),
            "{csv}"
        );
        assert!(
            lines[1].contains(",0.500000,,satisfied,,\"a, \"\"strict\"\".edn\","),
            "{csv}"
        );
        assert!(lines[2].contains(",0.500000,SI,violated,"), "{csv}");
        assert_eq!(run.best().map(|row| row.isolation.as_str()), Some("weak"));
    }

    #[test]
    fn a_long_round_keeps_the_course_of_its_figures() {
        let mut run = CollectRun::new(Purpose::Run, PathBuf::new());
        let all = crate::collect::Statistics::default().snapshot();
        for second in 0..5000 {
            run.sample(
                Some(Sample {
                    at: f64::from(second),
                    throughput: 1.0,
                    median: 1.0,
                    slow: 1.0,
                    behind: None,
                    violated: None,
                }),
                all,
                Vec::new(),
            );
        }
        assert!(run.samples.len() <= SAMPLES && run.samples.len() > SAMPLES / 3);
        assert!(run.samples.is_sorted_by(|a, b| a.at < b.at) && run.samples[0].at < 100.0);
    }
}
