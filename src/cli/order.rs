//! The order of a level that was followed: writing it as it settles, and `isoscope verify --order`.

use super::args::ReadingArguments;
use super::output::{Output, Paint};
use super::{ExitCode, input};
use crate::checkers::Level;
use crate::follow::{
    Event, Follower, REPLAYED, Record, Replay, Stream, event_of, footer, header, level_of,
};
use crate::history::visible;
use crate::report::grouped;
use anyhow::Context;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes of the history read at once.
const CHUNK: usize = 1 << 16;

/// Lines of reads shown that an order does not explain.
const SHOWN: usize = 5;

/// An order that is being written.
pub(super) struct OrderFile {
    path: PathBuf,
    level: Level,
    file: BufWriter<File>,
}

impl OrderFile {
    /// A new file for the strongest of these levels that can be replayed, of which `follower` then keeps the order.
    pub(super) fn create(
        path: &Path,
        levels: &[Level],
        follower: &mut Follower,
    ) -> anyhow::Result<OrderFile> {
        let level = levels.iter().filter(|level| REPLAYED.contains(level)).max();
        let level = *level.context("--order goes with PC, SI or SER")?;
        let file = File::create(path).with_context(|| visible(&path.display().to_string()))?;
        follower.keep_order(level);
        let mut order = OrderFile {
            path: path.to_owned(),
            level,
            file: BufWriter::new(file),
        };
        order.text(&header(level))?;
        Ok(order)
    }

    /// The file of a run that goes on: what was added to it after a checkpoint is taken away.
    pub(super) fn resume(path: &Path, levels: &[Level], length: u64) -> anyhow::Result<OrderFile> {
        let name = || visible(&path.display().to_string());
        let level = levels.iter().filter(|level| REPLAYED.contains(level)).max();
        let level = *level.context("--order goes with PC, SI or SER")?;
        let mut file = File::options()
            .read(true)
            .write(true)
            .open(path)
            .with_context(name)?;
        let mut first = vec![0; header(level).len()];
        let is_same = file.metadata()?.len() >= length && file.read_exact(&mut first).is_ok();
        anyhow::ensure!(
            is_same && first == header(level).as_bytes(),
            "{}: it is not the order that belongs to the checkpoint",
            name()
        );
        file.set_len(length)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .with_context(name)?;
        Ok(OrderFile {
            path: path.to_owned(),
            level,
            file: BufWriter::new(file),
        })
    }

    /// Puts all that was added on the disk: its length.
    pub(super) fn sync(&mut self) -> anyhow::Result<u64> {
        let synced = self
            .file
            .flush()
            .and_then(|()| self.file.get_ref().sync_all());
        let length = synced.and_then(|()| Ok(self.file.get_ref().metadata()?.len()));
        length.with_context(|| visible(&self.path.display().to_string()))
    }

    /// Adds what was settled.
    pub(super) fn add(&mut self, events: &[Event]) -> anyhow::Result<()> {
        events
            .iter()
            .try_for_each(|event| self.text(&format!("{event}\n")))
    }

    /// Adds the rest: whether there is one, or the level is violated or undecided.
    pub(super) fn finish(mut self, follower: &mut Follower) -> anyhow::Result<Option<Level>> {
        self.add(&follower.take_order())?;
        let rest = follower.rest_of_order(self.level);
        if let Some(rest) = &rest {
            self.add(rest)?;
            self.text(&footer())?;
        }
        self.file
            .flush()
            .with_context(|| visible(&self.path.display().to_string()))?;
        Ok(rest.map(|_| self.level))
    }

    fn text(&mut self, text: &str) -> anyhow::Result<()> {
        self.file
            .write_all(text.as_bytes())
            .with_context(|| visible(&self.path.display().to_string()))
    }
}

/// The transactions of a file, read when they are needed.
struct Source {
    path: String,
    file: Box<dyn Read>,
    stream: Stream,
    records: std::vec::IntoIter<Record>,
    is_over: bool,
}

impl Source {
    fn open(path: &Path, format: Option<&str>) -> anyhow::Result<Source> {
        let name = path.to_string_lossy();
        let path_shown = visible(&name);
        let file: Box<dyn Read> = if path == Path::new("-") {
            Box::new(std::io::stdin())
        } else {
            Box::new(File::open(path).with_context(|| path_shown.clone())?)
        };
        let stream = Stream::new(&name, format).with_context(|| path_shown.clone())?;
        Ok(Source {
            path: path_shown,
            file,
            stream,
            records: Vec::new().into_iter(),
            is_over: false,
        })
    }

    fn next(&mut self) -> anyhow::Result<Option<Record>> {
        while self.records.as_slice().is_empty() && !self.is_over {
            let mut chunk = vec![0; CHUNK];
            let n = self
                .file
                .read(&mut chunk)
                .with_context(|| self.path.clone())?;
            let mut records = Vec::new();
            self.is_over = n == 0;
            let read = if self.is_over {
                self.stream.finish(&mut records)
            } else {
                self.stream.push(&chunk[..n], &mut records)
            };
            read.map_err(|error| anyhow::anyhow!("{}: {error}", self.path))?;
            self.records = records.into_iter();
        }
        Ok(self.records.next())
    }
}

/// Replays an order on its history.
pub(super) fn verify(
    history: &Path,
    order: &Path,
    reading: &ReadingArguments,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let mut source = Source::open(history, input::format_of_stream(reading)?)?;
    let name = visible(&order.display().to_string());
    let file = File::open(order).with_context(|| name.clone())?;
    let mut lines = BufReader::new(file).lines();
    let first = lines
        .next()
        .transpose()
        .with_context(|| name.clone())?
        .unwrap_or_default();
    let level = level_of(&first).with_context(|| {
        format!(
            "{name}: line 1: expected `{}`",
            header(Level::Serializability).trim()
        )
    })?;
    let mut replay = Replay::new(level);
    let mut is_complete = false;
    for (place, line) in lines.enumerate() {
        let line = line.with_context(|| name.clone())?;
        let event = event_of(&line)
            .map_err(|expected| anyhow::anyhow!("{name}: line {}: {expected}", place + 2))?;
        let Some(event) = event else {
            is_complete = true;
            break;
        };
        if let Err(problem) = run(&mut replay, event, &mut source)? {
            return Ok(refused(
                &format!("{name}: line {}: {problem}", place + 2),
                out,
            ));
        }
    }
    if !is_complete {
        return Ok(refused(
            &format!(
                "{name}: the order has no end: the level was violated, or following was cut off"
            ),
            out,
        ));
    }
    while let Some(record) = source.next()? {
        replay
            .take(record)
            .map_err(|problem| anyhow::anyhow!("{}: {problem}", source.path))?;
    }
    if let Err(problem) = replay.finish() {
        return Ok(refused(&format!("{name}: transaction {problem}"), out));
    }
    Ok(replayed(level, &replay, out))
}

/// Runs an event, after the transactions up to its own. Inner error: the order is none.
fn run(
    replay: &mut Replay,
    event: Event,
    source: &mut Source,
) -> anyhow::Result<Result<(), String>> {
    let (Event::Whole(t) | Event::Reads(t) | Event::Writes(t)) = event;
    while replay.arrived() < t {
        let Some(record) = source.next()? else { break };
        replay
            .take(record)
            .map_err(|problem| anyhow::anyhow!("{}: {problem}", source.path))?;
    }
    Ok(replay
        .run(event)
        .map_err(|problem| format!("transaction {problem}")))
}

fn refused(problem: &str, out: &mut Output) -> ExitCode {
    out.text(&format!(
        "{problem}\n{}\n",
        out.paint(Paint::Bad, "this order cannot be trusted")
    ));
    ExitCode::Violated
}

fn replayed(level: Level, replay: &Replay, out: &mut Output) -> ExitCode {
    let n = grouped(replay.transactions());
    let differing = replay.differing();
    if differing.is_empty() {
        let proved = out.paint(Paint::Good, &format!("{level} is satisfied"));
        out.text(&format!(
            "{proved}: every read of {n} transactions replayed\n"
        ));
        return ExitCode::Satisfied;
    }
    let lines: Vec<String> = differing.iter().take(SHOWN).map(u32::to_string).collect();
    let more = if differing.len() > SHOWN { ", …" } else { "" };
    let open = out.paint(Paint::Open, &format!("{level} is undecided"));
    out.text(&format!(
        "{open}: the order of {n} transactions does not explain {} of their reads (line {}{more})\n",
        grouped(differing.len() as u64),
        lines.join(", ")
    ));
    ExitCode::Undecided
}
