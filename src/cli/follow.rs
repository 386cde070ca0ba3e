//! `isoscope check --follow`: a history checked while it is written.

use super::growing::Horizon;
use super::order::OrderFile;
use super::output::{Output, Paint};
use super::{CheckArguments, ExitCode, complain, input};
use crate::checkers::{Checker, Level};
use crate::follow::{Answer, FOLLOWED, Finding, Follower, Options, Record, Status, Stream, WaitingFor};
use crate::formats;
use crate::history::visible;
use crate::report::grouped;
use anyhow::Context;
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// The time between two looks at a file that did not grow.
const LOOK: Duration = Duration::from_millis(50);

/// The time between two lines about the progress.
const REPORT: Duration = Duration::from_secs(1);

/// Bytes read at once.
const CHUNK: usize = 1 << 16;

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
    let mut work = Work { stream, follower, order, reported: Instant::now(), last: String::new(), out };
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

struct Work<'a> {
    stream: Stream,
    follower: Follower,
    order: Option<OrderFile>,
    reported: Instant,
    /// The last line about the progress.
    last: String,
    out: &'a mut Output,
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
                    let mut records = Vec::new();
                    let read =
                        self.stream.push(&bytes.with_context(|| visible(&path.display().to_string()))?, &mut records);
                    self.take(records)?;
                    read.map_err(|error| anyhow::anyhow!("{}: {error}", visible(&path.display().to_string())))?;
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
        self.show_findings();
        read.map_err(|error| anyhow::anyhow!("{}: {error}", visible(&path.display().to_string())))
    }

    fn take(&mut self, records: Vec<Record>) -> anyhow::Result<()> {
        for record in records {
            self.follower.take(record, self.stream.names());
            self.show_findings();
            if let Some(order) = &mut self.order {
                order.add(&self.follower.take_order())?;
            }
        }
        Ok(())
    }

    /// Shows what was found, levels with the same evidence together.
    fn show_findings(&mut self) {
        let mut found = self.follower.take_findings();
        while !found.is_empty() {
            let first = found.remove(0);
            let same = |other: &Finding| {
                (&other.title, &other.summary, other.line) == (&first.title, &first.summary, first.line)
            };
            let mut levels = vec![first.level.code()];
            levels.extend(found.iter().filter(|other| same(other)).map(|other| other.level.code()));
            found.retain(|other| !same(other));
            self.clear_progress();
            let text = told(&first, &levels.join(", "), self.out);
            self.out.text(&text);
        }
    }

    /// Says how far it is, on standard error.
    fn progress(&mut self) {
        let line = visible(&progress(&self.follower.status(), &self.stream));
        let mut err = std::io::stderr();
        // If this cannot be written, there is nowhere to say so.
        let _ = match err.is_terminal() {
            true => write!(err, "\r\u{1b}[K\u{1b}[?7l{line}\u{1b}[?7h").and_then(|()| err.flush()),
            false if line == self.last => Ok(()),
            false => writeln!(err, "{line}"),
        };
        self.last = line;
    }

    fn clear_progress(&self) {
        let mut err = std::io::stderr();
        if err.is_terminal() && !self.last.is_empty() {
            let _ = write!(err, "\r\u{1b}[K").and_then(|()| err.flush());
        }
    }

    /// The last answers.
    fn conclude(mut self, path: &Path, options: &Options, ended: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
        self.progress();
        self.clear_progress();
        let status = self.follower.status();
        let text = conclusion(path, &status, options, self.out);
        self.out.text(&text);
        if let Some(order) = self.order.take()
            && order.finish(&mut self.follower)?.is_none()
        {
            complain("the order has no end, since its level does not hold or is undecided");
        }
        if let Some(why) = self.follower.ended() {
            complain(&format!("{}: {why}; from there on it was not followed", path.display()));
        }
        ended?;
        let code = |answer: &Answer| match answer {
            Answer::Holds => ExitCode::Satisfied,
            Answer::Violated => ExitCode::Violated,
            Answer::ExceptFor(_) | Answer::Unknown(_) => ExitCode::Undecided,
        };
        Ok(status.answers.iter().map(|(_, answer)| code(answer)).max().unwrap_or(ExitCode::Satisfied))
    }
}

/// A flag that Ctrl-C sets; a second Ctrl-C ends the process.
fn interrupted() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// What is read from a path, as it comes. A file is read on when it grows; the channel closes with the end of a stream.
fn source(path: &Path) -> anyhow::Result<Receiver<anyhow::Result<Vec<u8>>>> {
    let (sender, receiver) = sync_channel(4);
    let work: Box<dyn FnOnce() + Send> = match formats::has_known_size(path) {
        true => {
            let file = std::fs::File::open(path).with_context(|| visible(&path.display().to_string()))?;
            Box::new(move || drop(read_on(file, &sender)))
        }
        false if path == Path::new("-") => Box::new(move || drop(read_out(std::io::stdin(), &sender))),
        false => {
            let file = std::fs::File::open(path).with_context(|| visible(&path.display().to_string()))?;
            Box::new(move || drop(read_out(file, &sender)))
        }
    };
    std::thread::Builder::new().name("stream".to_owned()).spawn(work).context("a thread cannot be started")?;
    Ok(receiver)
}

/// Why nothing more is sent: there is no one to send it to, or it was the last.
struct Over;

type Sender = SyncSender<anyhow::Result<Vec<u8>>>;

fn read_out(mut source: impl Read, sender: &Sender) -> Result<(), Over> {
    while read_chunk(&mut source, sender)? > 0 {}
    Ok(())
}

/// Reads a file, and on when it grows; its end is passed on as no bytes. One that shrinks is no longer the file that was
/// followed.
fn read_on(mut file: std::fs::File, sender: &Sender) -> Result<(), Over> {
    let (mut offset, mut is_at_end) = (0, false);
    loop {
        let n = read_chunk(&mut file, sender)?;
        match (n, is_at_end) {
            (0, true) => std::thread::sleep(LOOK),
            (0, false) => sender.send(Ok(Vec::new())).map_err(|_| Over)?,
            _ => offset += n as u64,
        }
        is_at_end = n == 0;
        if file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() < offset) {
            let message = "the file became shorter while it was followed";
            return sender.send(Err(anyhow::anyhow!(message))).map_err(|_| Over);
        }
    }
}

/// Passes the next bytes on: how many.
fn read_chunk(source: &mut impl Read, sender: &Sender) -> Result<usize, Over> {
    let mut chunk = vec![0; CHUNK];
    match source.read(&mut chunk) {
        Ok(0) => Ok(0),
        Ok(n) => {
            chunk.truncate(n);
            sender.send(Ok(chunk)).map_err(|_| Over)?;
            Ok(n)
        }
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => read_chunk(source, sender),
        Err(error) => {
            let _ = sender.send(Err(error.into()));
            Err(Over)
        }
    }
}

/// How far it is, in one line.
fn progress(status: &Status, stream: &Stream) -> String {
    let mut text = format!("line {} · {} delivered", grouped(u64::from(stream.lines())), grouped(status.delivered));
    if stream.open() > 0 {
        text += &format!(" · {} open", grouped(stream.open() as u64));
    }
    if status.waiting > 0 {
        let why = status.why.as_ref().map(|why| format!(" ({})", waits_for(why, stream))).unwrap_or_default();
        text += &format!(" · {} waiting{why}", grouped(status.waiting as u64));
    }
    text += &format!(" · {} remembered", grouped(status.remembered as u64));
    for word in ["holds", "violated", "undecided"] {
        let levels = status.answers.iter().filter(|(_, answer)| answer.word() == word);
        let codes: Vec<&str> = levels.map(|(level, _)| level.code()).collect();
        if !codes.is_empty() {
            text += &format!(" · {word}: {}", codes.join(" "));
        }
    }
    text
}

/// What the oldest transaction that waits needs.
fn waits_for(why: &WaitingFor, stream: &Stream) -> String {
    let names = stream.names();
    let wanted = format!("{} = {}", names.keys.name(why.key), why.value);
    let state = if why.writer_waits { "whose writer waits, too" } else { "which no transaction that ended wrote" };
    format!("line {} of session {} read {wanted}, {state}", why.line, names.sessions.name(why.session))
}

/// One violation.
fn told(finding: &Finding, levels: &str, out: &Output) -> String {
    let line = grouped(u64::from(finding.line));
    let mut text = format!(
        "{} {levels}  line {line}, session {}: {}\n",
        out.paint(Paint::Bad, "violated"),
        visible(&finding.session),
        finding.title
    );
    text += &match (finding.summary.is_empty(), finding.is_forgotten) {
        (false, _) => format!("  {}\n", finding.summary),
        (true, true) => {
            "  It read a version that all sessions have passed; isoscope check shows the evidence.\n".to_owned()
        }
        (true, false) => "  isoscope check shows the evidence.\n".to_owned(),
    };
    let mut bytes = Vec::new();
    if let Some(history) = &finding.counterexample
        && formats::write(history, "text", &mut bytes).is_ok()
    {
        let written = String::from_utf8_lossy(&bytes).into_owned();
        text += &written.lines().map(|line| format!("    {line}\n")).collect::<String>();
    }
    text
}

/// The answers at the end, and what they rest on.
fn conclusion(path: &Path, status: &Status, options: &Options, out: &Output) -> String {
    let facts = format!("{} transactions · {} settled", grouped(status.delivered), grouped(status.settled));
    let heading = out.paint(Paint::Strong, &visible(&path.display().to_string()));
    let mut text = format!("\n{heading}  {}\n\n", out.paint(Paint::Faint, &facts));
    for (level, answer) in &status.answers {
        let (paint, word, reason) = match answer {
            Answer::Holds => (Paint::Good, "satisfied", String::new()),
            Answer::Violated => (Paint::Bad, "violated", String::new()),
            Answer::ExceptFor(n) => {
                let reads = if *n == 1 { "1 read that is" } else { &format!("{} reads that are", grouped(*n)) };
                (
                    Paint::Open,
                    "undecided",
                    format!("  (satisfied but for {reads} left out: older than the horizon, or ambiguous)"),
                )
            }
            Answer::Unknown(why) => (Paint::Open, "undecided", format!("  ({why})")),
        };
        let name = out.paint(Paint::Faint, level.long_name());
        text += &format!("  {:4}  {}  {name}{reason}\n", level.code(), out.paint(paint, &format!("{word:9}")));
    }
    if let Some(horizon) = options.horizon.filter(|_| status.settled > 0) {
        text += &format!(
            "\n{} no transaction reads a version that was replaced more than {} transactions earlier. What contradicts that is \
             left out and counted.\n",
            out.paint(Paint::Faint, "Assumed:"),
            grouped(horizon)
        );
    }
    if let Some(sessions) = options.sessions {
        text += &format!("\n{} there are {sessions} sessions and no others.\n", out.paint(Paint::Faint, "Assumed:"));
    }
    text
}
