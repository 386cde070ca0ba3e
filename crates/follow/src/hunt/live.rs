//! A recording that is checked while it grows. The follower reads the file, so it does not hold up the sessions, and
//! what it has not read yet takes no memory. The same for a file that another program writes.

use crate::follow::{Answer, FOLLOWED, Follower, Options, Recent, Record, Stream};
use isoscope_check::checkers::Level;
use isoscope_record::collect::{CollectError, Recorder};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time between two looks at a file that did not grow.
const LOOK: Duration = Duration::from_millis(5);

/// The time between two looks at a file that has not grown for [`QUIET`].
const SLOW_LOOK: Duration = Duration::from_millis(100);

/// After this time without growth a file is looked at less often.
const QUIET: Duration = Duration::from_secs(2);

/// The time between two reports if nothing else is to be said.
const TICK: Duration = Duration::from_millis(100);

/// How long what is checked again anyway is followed after the recording has ended.
const GRACE: Duration = Duration::from_secs(1);

/// Bytes read at once.
const CHUNK: usize = 1 << 16;

/// How a recording is checked while it grows.
pub struct Live<'a> {
    /// The levels and the horizon.
    pub options: Options,
    /// Whether all of the recording is followed, however long it takes: no other check comes after it.
    pub to_the_end: bool,
    /// Hears how it goes, on a thread of its own, and says whether to go on.
    pub hear: &'a mut (dyn FnMut(News<'_>) -> ControlFlow<()> + Send),
}

/// How a recording that is checked while it grows goes.
#[derive(Debug)]
pub struct News<'a> {
    /// The occasion.
    pub of: Of,
    /// What is known.
    pub follower: &'a mut Follower,
    /// What was read.
    pub stream: &'a Stream,
    /// The last transactions that were read.
    pub recent: &'a Recent,
    /// When a line of the recording was written, if this program writes it.
    recorder: Option<&'a Recorder>,
    /// From the moment at which the last transaction was recorded to the one at which its answers were known.
    pub behind: Duration,
    /// The longest of these times so far.
    pub longest: Duration,
}

impl News<'_> {
    /// A level that is violated, if any is, and the line of the transaction with which that was decided.
    pub fn violated(&self) -> Option<(u32, Level)> {
        let Of::Change(line) = self.of else {
            return None;
        };
        let violated = self
            .follower
            .answers()
            .into_iter()
            .find(|(_, answer)| *answer == Answer::Violated);
        violated.map(|(level, _)| (line, level))
    }

    /// The time since a line was recorded, if this program records it.
    pub fn since(&self, line: u32) -> Option<Duration> {
        self.recorder?.recorded(line).map(|moment| moment.elapsed())
    }
}

/// The occasion of [`News`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// Something was found, or an answer may be another one, with the transaction on this line; 0 for the end.
    Change(u32),
    /// A tenth of a second has passed.
    Time,
    /// The end of the recording, or why nothing more can be read.
    End(Result<(), String>),
}

/// How these levels are followed, if any of them can be.
pub fn followable(levels: &[Level]) -> Option<Options> {
    let levels: Vec<Level> = FOLLOWED
        .into_iter()
        .filter(|level| levels.contains(level))
        .collect();
    (!levels.is_empty()).then(|| Options {
        levels,
        ..Options::default()
    })
}

/// Runs `record`, which writes the file, and follows the file meanwhile.
pub(super) fn followed<T>(
    path: &Path,
    recorder: &Recorder,
    live: Live<'_>,
    record: impl FnOnce() -> T,
) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let is_over = &is_over;
        scope.spawn(move || Work::new(Some(recorder), is_over, live).run(path, Some("elle-edn")));
        // Also when recording panics.
        let _over = Over(is_over);
        record()
    })
}

/// Follows a file that another program writes, in this format or in whichever its beginning shows, until `live` says that
/// it is enough or nothing more can be read; its end is never known.
pub fn follow(path: &Path, format: Option<&str>, live: Live<'_>) {
    Work::new(None, &AtomicBool::new(false), live).run(path, format);
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

struct Work<'r, 'h> {
    recorder: Option<&'r Recorder>,
    /// Whether all is recorded.
    is_over: &'r AtomicBool,
    /// Since when that is known, unless everything is to be followed.
    over_since: Option<Instant>,
    to_the_end: bool,
    follower: Follower,
    recent: Recent,
    hear: &'h mut (dyn FnMut(News<'_>) -> ControlFlow<()> + Send),
    behind: Duration,
    longest: Duration,
    told: Instant,
    /// [`Follower::mark`] when something was said last.
    mark: u64,
}

/// Why following ended before the recording did.
enum Broken {
    /// Nothing more is to be heard.
    Enough,
    Unreadable(String),
    File(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Broken {
        Broken::File(error)
    }
}

impl<'r, 'h> Work<'r, 'h> {
    fn new(
        recorder: Option<&'r Recorder>,
        is_over: &'r AtomicBool,
        live: Live<'h>,
    ) -> Work<'r, 'h> {
        let (follower, hear, to_the_end) =
            (Follower::new(live.options), live.hear, live.to_the_end);
        let (behind, longest, over_since) = (Duration::ZERO, Duration::ZERO, None);
        let (told, recent) = (Instant::now(), Recent::default());
        Work {
            recorder,
            is_over,
            over_since,
            to_the_end,
            follower,
            recent,
            hear,
            behind,
            longest,
            told,
            mark: 0,
        }
    }

    /// Whether the recording ended too long ago.
    fn is_late(&mut self) -> bool {
        if self.to_the_end || !self.is_over.load(Ordering::Acquire) {
            return false;
        }
        self.over_since.get_or_insert_with(Instant::now).elapsed() > GRACE
    }

    fn run(mut self, path: &Path, format: Option<&str>) {
        let mut stream = match Stream::new(&path.display().to_string(), format) {
            Ok(stream) => stream,
            Err(error) => {
                // It is the last, as below.
                let _ = self.say(Of::End(Err(error.to_string())), &Stream::default());
                return;
            }
        };
        let end = match self.read(path, &mut stream) {
            Ok(()) => Ok(()),
            Err(Broken::Enough) => return,
            Err(Broken::Unreadable(why)) => Err(why),
            Err(Broken::File(error)) if self.recorder.is_none() => Err(error.to_string()),
            Err(Broken::File(error)) => Err(CollectError::Recording(error.to_string()).to_string()),
        };
        // It is the last: what it says about going on does not matter.
        let _ = self.say(Of::End(end), &stream);
    }

    fn read(&mut self, path: &Path, stream: &mut Stream) -> Result<(), Broken> {
        let mut file = File::open(path)?;
        let (mut offset, mut grew) = (0, Instant::now());
        let mut chunk = vec![0; CHUNK];
        loop {
            // Asked before the file is read: what is recorded later is read in the next turn.
            let is_last = self.is_over.load(Ordering::Acquire);
            let n = match file.read(&mut chunk) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                n => n?,
            };
            self.take(stream, |stream, out| stream.push(&chunk[..n], out))?;
            match (n, is_last) {
                (0, true) => break,
                (0, false) => {
                    let is_shorter = || {
                        file.metadata()
                            .is_ok_and(|now| now.is_file() && now.len() < offset)
                    };
                    // A recorder takes back a line that it cannot write whole.
                    if self.recorder.is_none() && is_shorter() {
                        return Err(Broken::Unreadable(
                            "the file became shorter while it was followed".to_owned(),
                        ));
                    }
                    std::thread::sleep(if grew.elapsed() < QUIET {
                        LOOK
                    } else {
                        SLOW_LOOK
                    });
                }
                _ => {
                    offset += n as u64;
                    grew = Instant::now();
                }
            }
            if self.told.elapsed() >= TICK {
                self.say(Of::Time, stream)?;
            }
        }
        self.take(stream, Stream::finish)?;
        self.follower.finish(stream.names());
        self.say_change(0, stream)
    }

    /// Takes the transactions that the stream yields.
    fn take<E: std::fmt::Display>(
        &mut self,
        stream: &mut Stream,
        read: impl FnOnce(&mut Stream, &mut Vec<Record>) -> Result<(), E>,
    ) -> Result<(), Broken> {
        let mut records = Vec::new();
        let result = read(stream, &mut records);
        let mut last = None;
        for record in records {
            let line = record.line;
            self.recent.push(&record);
            self.follower.take(record, stream.names());
            self.say_change(line, stream)?;
            if self.is_late() {
                return Err(Broken::Enough);
            }
            last = Some(line);
            // What was read at once may take a while.
            if self.told.elapsed() >= TICK {
                self.say(Of::Time, stream)?;
            }
        }
        if let Some(moment) = last.and_then(|line| self.recorder?.recorded(line)) {
            self.behind = moment.elapsed();
            self.longest = self.longest.max(self.behind);
        }
        result.map_err(|error| Broken::Unreadable(error.to_string()))
    }

    fn say_change(&mut self, line: u32, stream: &Stream) -> Result<(), Broken> {
        if self.mark == self.follower.mark() {
            return Ok(());
        }
        self.mark = self.follower.mark();
        self.say(Of::Change(line), stream)
    }

    fn say(&mut self, of: Of, stream: &Stream) -> Result<(), Broken> {
        self.told = Instant::now();
        let &mut Work {
            recorder,
            behind,
            longest,
            ref mut follower,
            ref recent,
            ref mut hear,
            ..
        } = self;
        match hear(News {
            of,
            follower,
            stream,
            recent,
            recorder,
            behind,
            longest,
        }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Broken::Enough),
        }
    }
}
