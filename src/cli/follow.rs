//! `isoscope check --follow`: a history checked while it is written.

use super::checkpoint::{Checkpoints, Resumed};
use super::follow_source::{Source, interrupted};
use super::follow_voice::{Voice, exit_code, levels};
use super::growing::{FollowArguments, Horizon};
use super::order::OrderFile;
use super::output::Output;
use super::{CheckArguments, ExitCode, complain, follow_events, input};
use crate::checkers::Checker;
use crate::follow::{Follower, Options, Record, Stream};
use crate::formats::Problem;
use crate::history::visible;
use crate::report::{FollowedEvent, FollowedLevel};
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// The time between two lines about the progress.
const REPORT: Duration = Duration::from_secs(1);

pub(super) fn run(arguments: &CheckArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let [path] = arguments.paths.as_slice() else {
        anyhow::bail!("--follow takes one history")
    };
    anyhow::ensure!(
        arguments.checker == Checker::Fast,
        "--follow works only with the checker fast"
    );
    let format = input::format_of_stream(&arguments.reading)?;
    let follow = &arguments.follow;
    let options = Options {
        levels: levels(&arguments.level)?,
        horizon: follow
            .horizon
            .map_or(Options::default().horizon, |Horizon(n)| n),
        sessions: follow.sessions,
        ..Options::default()
    };
    let files = [
        Some(path),
        follow.order.as_ref(),
        follow.checkpoint.as_ref(),
    ];
    different(
        &files
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect::<Vec<_>>(),
    )?;
    let stop = interrupted()?;
    let mut source = Source::open(path, follow.checkpoint.is_some())?;
    let every = Duration::from_secs_f64(follow.checkpoint_every);
    let checkpoints = follow.checkpoint.as_ref();
    let checkpoints =
        checkpoints.map(|path| Checkpoints::new(path, every, in_words(&options, format, follow)));
    let resumed = checkpoints
        .as_ref()
        .map(|checkpoints| checkpoints.resume(&options, &mut source))
        .transpose()?;
    let resumed = match resumed.flatten() {
        Some(resumed) => resumed,
        None => {
            let name = path.to_string_lossy();
            let stream = Stream::new(&name, format).with_context(|| visible(&name))?;
            Resumed {
                stream,
                follower: Follower::new(options.clone()),
                order: None,
                said: Vec::new(),
            }
        }
    };
    let Resumed {
        stream,
        mut follower,
        order: length,
        said,
    } = resumed;
    let order = follow.order.as_ref();
    let order = order.map(|path| match length {
        Some(length) => OrderFile::resume(path, &options.levels, length),
        None => OrderFile::create(path, &options.levels, &mut follower),
    });
    let mut voice = Voice::new(arguments.json, out);
    let order = order.transpose()?;
    said.into_iter()
        .for_each(|followed| voice.say(followed.event));
    let answers = follow_events::last_answers(&voice.said);
    let (reported, unwritten) = (Instant::now(), [None, None]);
    let mut work = Work {
        source,
        stop,
        stream,
        follower,
        order,
        checkpoints,
        reported,
        answers,
        mark: 0,
        unwritten,
        voice,
    };
    // What cannot be written is known before anything has been followed.
    work.write_checkpoint();
    if let Some(error) = work.unwritten[1].take() {
        return Err(error);
    }
    let ended = work.follow(follow.until_idle.map(Duration::from_secs_f64));
    work.conclude(&options, ended)
}

/// Error: two of these paths are of one file, which would be overwritten.
fn different(paths: &[&Path]) -> anyhow::Result<()> {
    let place = |path: &Path| {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        path.canonicalize()
            .ok()
            .or_else(|| Some(folder.canonicalize().ok()?.join(path.file_name()?)))
    };
    let places: Vec<Option<PathBuf>> = paths.iter().map(|path| place(path)).collect();
    let same = (1..paths.len()).find(|&n| places[n].is_some() && places[..n].contains(&places[n]));
    match same {
        Some(n) => anyhow::bail!(
            "{}: the history, its order and its checkpoint must be different files",
            visible(&paths[n].display().to_string())
        ),
        None => Ok(()),
    }
}

/// What following depends on, apart from the history.
fn in_words(options: &Options, format: Option<&str>, arguments: &FollowArguments) -> String {
    let codes: Vec<&str> = options.levels.iter().map(|level| level.code()).collect();
    let number = |n: Option<u64>| n.map_or("none".to_owned(), |n| n.to_string());
    let order = if arguments.order.is_some() {
        ", --order"
    } else {
        ""
    };
    format!(
        "--level {}, --horizon {}, --sessions {}, --format {}{order}",
        codes.join(","),
        number(options.horizon),
        number(options.sessions.map(u64::from)),
        format.unwrap_or("auto")
    )
}

struct Work<'a> {
    source: Source,
    /// Whether to stop.
    stop: Arc<AtomicBool>,
    stream: Stream,
    follower: Follower,
    order: Option<OrderFile>,
    checkpoints: Option<Checkpoints>,
    reported: Instant,
    /// The answers that were said last.
    answers: Vec<FollowedLevel>,
    /// [`Follower::mark`] when they were.
    mark: u64,
    /// Why the order is not written to its end, and the last checkpoint not at all.
    unwritten: [Option<anyhow::Error>; 2],
    voice: Voice<'a>,
}

impl Work<'_> {
    /// Follows to the end. Error: what cannot be read.
    fn follow(&mut self, until_idle: Option<Duration>) -> anyhow::Result<()> {
        // Since when the file has not grown, once its end was reached.
        let mut idle = None;
        while !self.stop.load(Ordering::Relaxed) {
            match self.source.next() {
                Ok(Ok(bytes)) if bytes.is_empty() => idle = Some(Instant::now()),
                Ok(bytes) => {
                    idle = None;
                    self.push(&bytes?)?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if until_idle
                .zip(idle)
                .is_some_and(|(most, since)| since.elapsed() >= most)
            {
                break;
            }
            if self.checkpoints.as_ref().is_some_and(Checkpoints::is_due) {
                self.write_checkpoint();
            }
            if self.reported.elapsed() >= REPORT {
                self.reported = Instant::now();
                self.progress();
            }
        }
        // Before the rest is taken for the end: the file may grow later.
        self.write_checkpoint();
        if self.stop.load(Ordering::Relaxed) {
            self.stream.drop_partial_line();
        }
        let mut records = Vec::new();
        let read = self.stream.finish(&mut records);
        self.take(records);
        if self.stream.lines() == 0 {
            anyhow::bail!("{}: {}", self.source.name(), Problem::Empty);
        }
        // What waits may have read what could not be read here.
        if read.is_ok() {
            self.follower.finish(self.stream.names());
            self.say_news(0);
        }
        read.map_err(|error| anyhow::anyhow!("{}: {error}", self.source.name()))
    }

    /// Writes a checkpoint, if one is wanted. Where it cannot be written, following goes on, and the next one may be.
    fn write_checkpoint(&mut self) {
        let Some(checkpoints) = &mut self.checkpoints else {
            return;
        };
        let order = self.order.as_mut().map(OrderFile::sync).transpose();
        let kept = (&self.stream, &self.follower);
        let written =
            order.and_then(|order| checkpoints.write(kept, &self.source, order, &self.voice.said));
        self.unwritten[1] = written.err();
    }

    /// Writes what was settled of the order, if it is wanted. Where it cannot be written, following goes on without.
    fn write_order(&mut self) {
        let events = self.follower.take_order();
        if let Some(Err(error)) = self.order.as_mut().map(|order| order.add(&events)) {
            complain(&format!("{error:#}; the order is not written any further"));
            (self.order, self.checkpoints) = (None, None);
            self.unwritten[0] = Some(error);
        }
    }

    /// Takes the next bytes.
    fn push(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let mut records = Vec::new();
        let read = self.stream.push(bytes, &mut records);
        self.take(records);
        read.map_err(|error| anyhow::anyhow!("{}: {error}", self.source.name()))
    }

    fn take(&mut self, records: Vec<Record>) {
        for record in records {
            let line = record.line;
            self.follower.take(record, self.stream.names());
            self.say_news(line);
            self.write_order();
        }
    }

    /// Says what the transaction on this line changed.
    fn say_news(&mut self, line: u32) {
        if self.mark == self.follower.mark() {
            return;
        }
        self.mark = self.follower.mark();
        for found in follow_events::violations(&mut self.follower) {
            self.voice.say(FollowedEvent::Violation(Box::new(found)));
        }
        let answers = follow_events::levels(&self.follower.status());
        for change in follow_events::changes(&self.answers, &answers, line) {
            self.voice.say(FollowedEvent::Answer(change));
        }
        self.answers = answers;
    }

    /// Says how far it is.
    fn progress(&mut self) {
        let progress = follow_events::progress(&self.follower.status(), &self.stream);
        self.voice.progress(FollowedEvent::Progress(progress));
    }

    /// The last answers.
    fn conclude(
        mut self,
        options: &Options,
        ended: anyhow::Result<()>,
    ) -> anyhow::Result<ExitCode> {
        self.progress();
        let error = ended.as_ref().err().map(|error| format!("{error:#}"));
        let end = follow_events::end(
            self.source.path(),
            &self.follower,
            &self.stream,
            options,
            error,
        );
        let code = exit_code(&end);
        self.voice.say(FollowedEvent::End(end));
        if let Some(order) = self.order.take()
            && order.finish(&mut self.follower)?.is_none()
        {
            complain("the order has no end, since its level does not hold or is undecided");
        }
        if let Some(why) = self.follower.ended() {
            complain(&format!(
                "{}: {why}; from there on it was not followed",
                self.source.path().display()
            ));
        }
        ended?;
        self.unwritten
            .into_iter()
            .flatten()
            .next()
            .map_or(Ok(code), Err)
    }
}
