//! `isoscope check --follow`: a history checked while it is written.

use super::follow_source::{LOOK, interrupted, source};
use super::growing::Horizon;
use super::order::OrderFile;
use super::output::Output;
use super::{CheckArguments, ExitCode, complain, follow_events, follow_text, input};
use crate::checkers::{Checker, Level};
use crate::follow::{FOLLOWED, Follower, Options, Record, Stream};
use crate::history::visible;
use crate::report::{Followed, FollowedEnd, FollowedEvent, FollowedLevel, VerdictWord};
use anyhow::Context;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// The time between two lines about the progress.
const REPORT: Duration = Duration::from_secs(1);

pub(super) fn run(arguments: &CheckArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let [path] = arguments.paths.as_slice() else { anyhow::bail!("--follow takes one history") };
    anyhow::ensure!(arguments.checker == Checker::Fast, "--follow works only with the checker fast");
    let format = input::format_of_stream(&arguments.reading)?;
    let name = path.to_string_lossy();
    let stream = Stream::new(&name, format).with_context(|| visible(&name))?;
    let options = Options {
        levels: levels(&arguments.level)?,
        horizon: arguments.follow.horizon.map_or(Options::default().horizon, |Horizon(n)| n),
        sessions: arguments.follow.sessions,
        ..Options::default()
    };
    let mut follower = Follower::new(options.clone());
    let order = arguments.follow.order.as_ref();
    let order = order.map(|path| OrderFile::create(path, &options.levels, &mut follower)).transpose()?;
    let voice = Voice { is_json: arguments.json, last: FollowedEvent::Progress(Default::default()), out };
    let mut work = Work { stream, follower, order, reported: Instant::now(), answers: Vec::new(), mark: 0, voice };
    let ended = work.follow(path, arguments.follow.until_idle.map(Duration::from_secs_f64));
    work.conclude(path, &options, ended)
}

/// The levels asked for, if all can be followed.
fn levels(asked: &[Level]) -> anyhow::Result<Vec<Level>> {
    if let Some(other) = asked.iter().find(|level| !FOLLOWED.contains(level)) {
        let followed: Vec<&str> = FOLLOWED.iter().map(|level| level.code()).collect();
        anyhow::bail!("{other} cannot be followed, only {}", followed.join(", "));
    }
    Ok(if asked.is_empty() { FOLLOWED.to_vec() } else { asked.to_vec() })
}

/// Says what happens, in words or as JSON.
struct Voice<'a> {
    is_json: bool,
    /// What was said last about the progress.
    last: FollowedEvent,
    out: &'a mut Output,
}

impl Voice<'_> {
    fn say(&mut self, event: FollowedEvent) {
        if self.is_json {
            return self.out.with(|out| Followed::new(event).to_line(out));
        }
        self.clear_progress();
        match event {
            FollowedEvent::Violation(found) => self.out.text(&follow_text::violation(&found, self.out)),
            FollowedEvent::End(end) => self.out.text(&follow_text::end(&end, self.out)),
            FollowedEvent::Progress(_) | FollowedEvent::Answer(_) => {}
        }
    }

    /// Says how far it is: in words, on standard error.
    fn progress(&mut self, event: FollowedEvent) {
        let is_news = event != self.last;
        self.last = event.clone();
        let mut err = std::io::stderr();
        let text = match &event {
            FollowedEvent::Progress(progress) if !self.is_json => follow_text::progress(progress),
            _ if is_news => return self.say(event),
            _ => return,
        };
        // If this cannot be written, there is nowhere to say so.
        let _ = match err.is_terminal() {
            true => write!(err, "\r\u{1b}[K\u{1b}[?7l{text}\u{1b}[?7h").and_then(|()| err.flush()),
            false if is_news => writeln!(err, "{text}"),
            false => Ok(()),
        };
    }

    fn clear_progress(&self) {
        let mut err = std::io::stderr();
        if err.is_terminal() && !self.is_json {
            let _ = write!(err, "\r\u{1b}[K").and_then(|()| err.flush());
        }
    }
}

struct Work<'a> {
    stream: Stream,
    follower: Follower,
    order: Option<OrderFile>,
    reported: Instant,
    /// The answers that were said last.
    answers: Vec<FollowedLevel>,
    /// [`Follower::mark`] when they were.
    mark: u64,
    voice: Voice<'a>,
}

impl Work<'_> {
    /// Follows to the end. Error: what cannot be read.
    fn follow(&mut self, path: &Path, until_idle: Option<Duration>) -> anyhow::Result<()> {
        let stop = interrupted()?;
        let receiver = source(path)?;
        // Since when the file has not grown, once its end was reached.
        let mut idle = None;
        while !stop.load(Ordering::Relaxed) {
            match receiver.recv_timeout(LOOK) {
                Ok(Ok(bytes)) if bytes.is_empty() => idle = Some(Instant::now()),
                Ok(bytes) => {
                    idle = None;
                    self.push(&bytes.with_context(|| visible(&path.display().to_string()))?, path)?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if until_idle.zip(idle).is_some_and(|(most, since)| since.elapsed() >= most) {
                break;
            }
            if self.reported.elapsed() >= REPORT {
                self.reported = Instant::now();
                self.progress();
            }
        }
        if stop.load(Ordering::Relaxed) {
            self.stream.drop_partial_line();
        }
        let mut records = Vec::new();
        let read = self.stream.finish(&mut records);
        self.take(records)?;
        self.follower.finish(self.stream.names());
        self.say_news(0);
        read.map_err(|error| anyhow::anyhow!("{}: {error}", visible(&path.display().to_string())))
    }

    /// Takes the next bytes.
    fn push(&mut self, bytes: &[u8], path: &Path) -> anyhow::Result<()> {
        let mut records = Vec::new();
        let read = self.stream.push(bytes, &mut records);
        self.take(records)?;
        read.map_err(|error| anyhow::anyhow!("{}: {error}", visible(&path.display().to_string())))
    }

    fn take(&mut self, records: Vec<Record>) -> anyhow::Result<()> {
        for record in records {
            let line = record.line;
            self.follower.take(record, self.stream.names());
            self.say_news(line);
            if let Some(order) = &mut self.order {
                order.add(&self.follower.take_order())?;
            }
        }
        Ok(())
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
    fn conclude(mut self, path: &Path, options: &Options, ended: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
        self.progress();
        let status = self.follower.status();
        let end = FollowedEnd {
            path: path.display().to_string(),
            lines: self.stream.lines(),
            delivered: status.delivered,
            settled: status.settled,
            levels: follow_events::levels(&status),
            assumptions: follow_events::assumptions(&status, options),
            stopped: self.follower.ended().map(str::to_owned),
            error: ended.as_ref().err().map(|error| format!("{error:#}")),
        };
        let code = |level: &FollowedLevel| match level.verdict {
            VerdictWord::Satisfied => ExitCode::Satisfied,
            VerdictWord::Violated => ExitCode::Violated,
            VerdictWord::Undecided => ExitCode::Undecided,
        };
        let code = end.levels.iter().map(code).max().unwrap_or(ExitCode::Satisfied);
        self.voice.say(FollowedEvent::End(end));
        if let Some(order) = self.order.take()
            && order.finish(&mut self.follower)?.is_none()
        {
            complain("the order has no end, since its level does not hold or is undecided");
        }
        if let Some(why) = self.follower.ended() {
            complain(&format!("{}: {why}; from there on it was not followed", path.display()));
        }
        ended.map(|()| code)
    }
}
