//! Reading and checking a history off the frame, with results as they come.

use super::samples;
use super::state::Source;
use super::tree::Catalogue;
use crate::checkers::{self, Level, LevelResult, Options};
use crate::control::Control;
use crate::formats::{self, Input};
use crate::history::History;
use crate::jobs::{Job, Outbox, Pool, Revision, Wake};
use std::sync::Arc;
use std::time::Instant;

/// Below this number of operations the weak levels are checked once more on their own, first: that takes no time
/// worth speaking of and puts the first anomaly on the screen while the strong levels are still at work.
const QUICK_LOOK_OPERATIONS: usize = 300_000;

/// The levels of the quick look.
const QUICK_LOOK_LEVELS: [Level; 4] =
    [Level::CutIsolation, Level::ReadCommitted, Level::ReadAtomic, Level::TransactionalCausalConsistency];

/// What comes while a history is read and checked.
#[derive(Debug)]
pub enum Message {
    /// The file is read.
    Read {
        /// What was observed.
        history: Arc<History>,
        /// Wall time.
        seconds: f64,
    },
    /// A level is decided.
    Level(LevelResult),
    /// Violations are known.
    Found {
        /// All there is so far.
        catalogue: Arc<Catalogue>,
        /// Nothing more will come.
        complete: bool,
        /// Wall time of checking so far.
        seconds: f64,
    },
    /// It could not be read.
    Failed(String),
}

/// The levels that the window asks for.
pub fn levels() -> Vec<Level> {
    Options::default().levels
}

/// Starts reading and checking.
pub fn start(source: Source, pool: Pool, revision: Revision, wake: Wake) -> Job<Message> {
    Job::start("read and check", revision, wake, move |control, outbox| {
        let started = Instant::now();
        match read(&source, control) {
            Ok(history) => {
                let history = Arc::new(history);
                let seconds = started.elapsed().as_secs_f64();
                outbox.send(Message::Read { history: Arc::clone(&history), seconds });
                pool.install(|| check(&history, control, outbox));
            }
            Err(text) => outbox.send(Message::Failed(text)),
        }
    })
}

fn read(source: &Source, control: &Control) -> Result<History, String> {
    control.phase("reading", 0);
    match source {
        Source::File(path) => formats::open(path, None, control).map_err(|error| error.to_string()),
        Source::Sample(place) => {
            let sample = samples::ALL.get(*place).ok_or("there is no such sample")?;
            let input = Input::new(sample.file, sample.text.as_bytes());
            formats::read(&input, None, control).map_err(|error| format!("{}: {error}", sample.file))
        }
        Source::Bytes { name, bytes } => {
            let input = Input::new(name, bytes);
            formats::read(&input, None, control).map_err(|error| format!("{name}: {error}"))
        }
    }
}

fn check(history: &History, control: &Control, outbox: &Outbox<Message>) {
    let started = Instant::now();
    let found = |findings, complete| {
        let catalogue = Arc::new(Catalogue::new(history, findings));
        outbox.send(Message::Found { catalogue, complete, seconds: started.elapsed().as_secs_f64() });
    };
    if history.n_operations() <= QUICK_LOOK_OPERATIONS {
        let options = Options { levels: QUICK_LOOK_LEVELS.to_vec(), ..Options::default() };
        let findings =
            checkers::check(history, &options, control, &|result| outbox.send(Message::Level(result.clone())));
        found(findings, false);
    }
    if control.check().is_ok() {
        let options = Options { levels: levels(), ..Options::default() };
        let findings =
            checkers::check(history, &options, control, &|result| outbox.send(Message::Level(result.clone())));
        found(findings, true);
    }
}
