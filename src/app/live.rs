//! What is known of a history that grows, whether this program records it or another one writes it. The thread that follows
//! it hands over an immutable snapshot about ten times a second; frames only look at the last one.

use super::verdict_summary::{Conclusion, in_words};
use super::vocabulary::{Part, Source, file_name};
use crate::checkers::Level;
use crate::control::Control;
use crate::diagram::timeline::{Span, Timeline};
use crate::follow::{Finding, Names, Recent, Status, Stream, WaitingFor};
use crate::history::{Annotation, History, MarkPlace, Named, TransactionId, visible};
use crate::hunt::{News, Of};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The least time between two snapshots, unless something was found.
const EVERY: Duration = Duration::from_millis(95);

/// The time over which the speed is measured.
const SPEED: Duration = Duration::from_secs(1);

/// The last transactions and when they ran.
#[derive(Debug)]
pub struct Stretch {
    /// What was found with one of them.
    pub marks: Vec<Annotation>,
    /// The transactions.
    pub history: History,
    /// When they ran: by the clock or the lines of the file, else by the order in which they ended.
    pub timeline: Timeline,
}

impl Stretch {
    /// The last transactions of a stream; none before there are any. O(their operations).
    fn new(recent: &Recent, stream: &Stream, found: &[Arc<LiveViolation>]) -> Option<Stretch> {
        let (history, places) = recent.history(stream)?;
        let control = Control::new();
        let timeline = if history.has_times() {
            Timeline::new(&history, None, &control)
        } else {
            let spans = places
                .iter()
                .map(|&place| Span {
                    from: place as f64,
                    to: place as f64 + 0.8,
                })
                .collect();
            Timeline::of_order(&history, spans, &control)
        };
        let marks = found
            .iter()
            .filter_map(|found| found.mark(&history))
            .collect();
        timeline.ok().map(|timeline| Stretch {
            marks,
            history,
            timeline,
        })
    }
}

/// What violates a level.
#[derive(Clone, Debug)]
pub struct LiveViolation {
    pub levels: Vec<Level>,
    /// What happened, and why that is a contradiction.
    pub text: [String; 2],
    /// The line of the file with which it was decided.
    pub line: u32,
    /// From the moment at which that line was recorded to the verdict, if this program records it.
    pub delay: Option<Duration>,
    /// The smallest part of the history that shows it, to be opened; none where it was not found in time or is forgotten.
    pub part: Option<Source>,
}

impl LiveViolation {
    fn new(finding: Finding, delay: Option<Duration>, path: &Path) -> LiveViolation {
        let Finding {
            level,
            line,
            title,
            summary,
            example,
            ..
        } = finding;
        let part = example.map(|example| {
            let name = format!("{level} violated, line {line} of {}", file_name(path));
            Source::Part(Part {
                name,
                history: Arc::new(example.counterexample.history),
                path: path.to_owned(),
            })
        });
        LiveViolation {
            levels: vec![level],
            text: [title, summary],
            line,
            delay,
            part,
        }
    }

    /// `SI, SER violated`.
    pub fn violated(&self) -> String {
        let codes: Vec<&str> = self.levels.iter().map(|level| level.code()).collect();
        format!("{} violated", codes.join(", "))
    }

    /// Whether it is about one of these levels.
    fn is_about(&self, levels: &[Level]) -> bool {
        self.levels.iter().any(|level| levels.contains(level))
    }

    /// The mark on the transaction with which it was decided, if that is in the history. O(transactions).
    fn mark(&self, history: &History) -> Option<Annotation> {
        let ends_here = |t: &TransactionId| {
            let last = history.operations_of(*t).last();
            last.is_some_and(|operation| history.line_of(operation) == self.line)
        };
        let place =
            MarkPlace::Transaction(Named::new(history, history.transactions().find(ends_here)?));
        Some(Annotation {
            place,
            text: self.violated(),
        })
    }
}

/// What is known at a moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Where the follower is.
    pub status: Status,
    /// Transactions that ended.
    pub ended: u64,
    /// Lines read.
    pub lines: u32,
    /// Transactions that have begun and not ended.
    pub open: usize,
    /// Transactions that ended per second, lately.
    pub per_second: f64,
    /// By level, weakest first.
    pub levels: Vec<(Level, Conclusion)>,
    /// What the oldest transaction that waits needs, in words.
    pub waits_for: Option<String>,
    /// What was found: first what is of a level that was asked for, then in the order in which it was decided.
    pub found: Vec<Arc<LiveViolation>>,
    /// The last transactions.
    pub stretch: Option<Arc<Stretch>>,
    /// From the moment at which the last transaction was recorded to its verdict, and the longest of these times.
    pub behind: [Duration; 2],
    /// Why no more is known.
    pub error: Option<String>,
}

impl Snapshot {
    /// `SER satisfied, SI violated`.
    pub fn text(&self) -> String {
        in_words(&self.levels)
    }

    /// The weakest violated level.
    pub fn weakest(&self) -> Option<Level> {
        self.levels
            .iter()
            .find(|(_, conclusion)| *conclusion == Conclusion::Broken)
            .map(|(level, _)| *level)
    }
}

/// Makes snapshots of what is heard.
pub(super) struct Listener {
    path: PathBuf,
    /// The levels that were asked for.
    levels: Vec<Level>,
    /// By level: what was known when the last snapshot was made.
    known: Vec<(Level, Conclusion)>,
    found: Vec<Arc<LiveViolation>>,
    /// When the last snapshot was made, and how many transactions had arrived and lines been read then.
    last: Option<(Instant, u64, u32)>,
    /// When the speed was measured last, and how many transactions had ended then.
    measured: (Instant, u64),
    per_second: f64,
    /// The speed in the last snapshot.
    said: f64,
}

impl Listener {
    /// For this file, of which these levels are of interest first.
    pub(super) fn new(path: &Path, levels: &[Level]) -> Listener {
        let (path, levels, measured) = (path.to_owned(), levels.to_vec(), (Instant::now(), 0));
        Listener {
            path,
            levels,
            known: Vec::new(),
            found: Vec::new(),
            last: None,
            measured,
            per_second: 0.0,
            said: 0.0,
        }
    }

    /// Whether a level that was asked for is known to be violated.
    pub(super) fn is_violated(&self) -> bool {
        self.levels
            .iter()
            .any(|level| self.known.contains(&(*level, Conclusion::Broken)))
    }

    /// A snapshot, if it is time for one and there is something new.
    pub(super) fn hear(&mut self, news: News<'_>) -> Option<Arc<Snapshot>> {
        let fresh = news.follower.take_findings();
        let answers = news.follower.answers();
        let known = answers
            .iter()
            .map(|(level, answer)| (*level, Conclusion::so_far(answer)))
            .collect();
        let differs = std::mem::replace(&mut self.known, known) != self.known;
        let is_pressing = differs || !fresh.is_empty() || matches!(news.of, Of::End(_));
        // Where no times are recorded, there is no answer at a level that counts them.
        let has_answer =
            |finding: &Finding| self.known.iter().any(|(level, _)| *level == finding.level);
        for finding in fresh.into_iter().filter(has_answer).collect::<Vec<_>>() {
            let delay = news.since(finding.line);
            self.add(LiveViolation::new(finding, delay, &self.path));
        }
        let now = (
            Instant::now(),
            news.follower.status().arrived,
            news.stream.lines(),
        );
        self.measure(now);
        let is_due = self.last.is_none_or(|(at, ..)| now.0 - at >= EVERY);
        // The speed falls to zero where nothing more comes.
        let is_new = self
            .last
            .is_none_or(|(_, n, lines)| (n, lines) != (now.1, now.2))
            || self.has_stopped();
        if !is_pressing && !(is_due && (is_new || matches!(news.of, Of::Change(_)))) {
            return None;
        }
        (self.last, self.said) = (Some(now), self.per_second);
        Some(Arc::new(self.snapshot(news)))
    }

    /// Adds what was found; what shows the same is found once.
    fn add(&mut self, found: LiveViolation) {
        let shows_the_same =
            |other: &&mut Arc<LiveViolation>| other.line == found.line && other.text == found.text;
        match self.found.iter_mut().find(shows_the_same) {
            Some(other) => Arc::make_mut(other).levels.extend(found.levels),
            None => self.found.push(Arc::new(found)),
        }
        self.found
            .sort_by_key(|found| !found.is_about(&self.levels));
    }

    fn measure(&mut self, (now, n, _): (Instant, u64, u32)) {
        let (since, before) = self.measured;
        let time = now - since;
        if time >= SPEED {
            self.per_second = (n - before) as f64 / time.as_secs_f64();
            self.measured = (now, n);
        }
    }

    /// Whether nothing comes any more, and the last snapshot says otherwise.
    fn has_stopped(&self) -> bool {
        self.per_second == 0.0 && self.said != 0.0
    }

    fn snapshot(&self, news: News<'_>) -> Snapshot {
        let status = news.follower.status();
        let error = match news.of {
            Of::End(Err(why)) => Some(why),
            _ => news.follower.ended().map(str::to_owned),
        };
        Snapshot {
            ended: news.recent.n(),
            lines: news.stream.lines(),
            open: news.stream.open(),
            per_second: self.per_second,
            levels: self.known.clone(),
            waits_for: status
                .why
                .as_ref()
                .map(|why| waits_for(why, news.stream.names())),
            found: self.found.clone(),
            stretch: Stretch::new(news.recent, news.stream, &self.found).map(Arc::new),
            behind: [news.behind, news.longest],
            status,
            error,
        }
    }
}

/// What the oldest transaction that waits needs.
fn waits_for(why: &WaitingFor, names: &Names) -> String {
    let WaitingFor {
        line,
        session,
        key,
        value,
        writer_waits,
    } = why;
    let (session, key) = (names.sessions.name(*session), names.keys.name(*key));
    let state = if *writer_waits {
        "whose writer waits, too"
    } else {
        "which no transaction that ended wrote"
    };
    visible(&format!(
        "line {line} of session {session} read {key} = {value}, {state}"
    ))
}

/// The snapshots of a history that grows, as they are looked at.
#[derive(Clone, Debug, Default)]
pub struct Live {
    newest: Option<Arc<Snapshot>>,
    held: Option<Arc<Snapshot>>,
}

impl Live {
    pub(super) fn take(&mut self, snapshot: Arc<Snapshot>) {
        self.newest = Some(snapshot);
    }

    /// The last snapshot.
    pub fn newest(&self) -> Option<&Arc<Snapshot>> {
        self.newest.as_ref()
    }

    /// The snapshot whose lanes are drawn.
    pub fn shown(&self) -> Option<&Arc<Snapshot>> {
        self.held.as_ref().or(self.newest.as_ref())
    }

    /// Whether the lanes are paused, and how many transactions ended since.
    pub fn newer(&self) -> Option<u64> {
        let (held, newest) = self.held.as_ref().zip(self.newest.as_ref())?;
        Some(newest.ended.saturating_sub(held.ended))
    }

    /// Pauses the lanes, or goes on at the right edge.
    pub(super) fn hold(&mut self) {
        self.held = match self.held.take() {
            Some(_) => None,
            None => self.newest.clone(),
        };
    }
}
