//! The bytes of a history that is followed, as they come.

use crate::formats;
use crate::history::visible;
use anyhow::Context;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// The time between two looks at a file that did not grow.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// Bytes read at once.
const CHUNK: usize = 1 << 16;

/// A flag that Ctrl-C sets; a second Ctrl-C ends the process.
pub(super) fn interrupted() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// What is read from a path, as it comes. A file is read on when it grows; the channel closes with the end of a stream.
pub(super) fn source(path: &Path) -> anyhow::Result<Receiver<anyhow::Result<Vec<u8>>>> {
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
