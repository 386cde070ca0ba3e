//! The bytes of a history that is followed, as they come.

use crate::formats;
use crate::history::visible;
use anyhow::Context;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// The time between two checks of a file that did not grow.
const LOOK: Duration = Duration::from_millis(50);

/// Bytes read at once.
const CHUNK: usize = 1 << 16;

/// The bytes of a history, as they come.
pub(super) struct Source {
    path: PathBuf,
    receiver: Receiver<anyhow::Result<Vec<u8>>>,
    /// Bytes that came and were not taken yet.
    pending: Vec<u8>,
    /// Number of bytes that were taken.
    taken: u64,
    /// Of these bytes, if it is wanted.
    digest: Option<Sha256>,
}

impl Source {
    /// Begins to read; whether the bytes are to be recognised later.
    pub(super) fn open(path: &Path, is_recognised: bool) -> anyhow::Result<Source> {
        let digest = is_recognised.then(Sha256::new);
        Ok(Source {
            path: path.to_owned(),
            receiver: source(path)?,
            pending: Vec::new(),
            taken: 0,
            digest,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path, to be shown.
    pub(super) fn name(&self) -> String {
        visible(&self.path.display().to_string())
    }

    /// The next bytes: none at the end of a file that may grow.
    pub(super) fn next(&mut self) -> Result<anyhow::Result<Vec<u8>>, RecvTimeoutError> {
        let bytes = if self.pending.is_empty() {
            match self.receiver.recv_timeout(LOOK)? {
                Ok(bytes) => bytes,
                Err(error) => return Ok(Err(error.context(self.name()))),
            }
        } else {
            std::mem::take(&mut self.pending)
        };
        self.taken += bytes.len() as u64;
        self.digest
            .iter_mut()
            .for_each(|digest| digest.update(&bytes));
        Ok(Ok(bytes))
    }

    /// Passes over this many bytes. Whether there are so many.
    pub(super) fn skip(&mut self, n: u64) -> anyhow::Result<bool> {
        while self.taken < n {
            let bytes = match self.receiver.recv() {
                Ok(bytes) => bytes.with_context(|| self.name())?,
                Err(_) => return Ok(false),
            };
            if bytes.is_empty() {
                return Ok(false);
            }
            let (skipped, rest) = bytes.split_at(bytes.len().min((n - self.taken) as usize));
            self.taken += skipped.len() as u64;
            self.digest
                .iter_mut()
                .for_each(|digest| digest.update(skipped));
            self.pending = rest.to_vec();
        }
        Ok(true)
    }

    /// How many bytes were taken, and their digest in hexadecimal digits.
    pub(super) fn read_so_far(&self) -> (u64, String) {
        let digest = self
            .digest
            .as_ref()
            .map(|digest| format!("{:x}", digest.clone().finalize()));
        (self.taken, digest.unwrap_or_default())
    }
}

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
fn source(path: &Path) -> anyhow::Result<Receiver<anyhow::Result<Vec<u8>>>> {
    let (sender, receiver) = sync_channel(4);
    let work: Box<dyn FnOnce() + Send> = match formats::has_known_size(path) {
        true => {
            let file =
                std::fs::File::open(path).with_context(|| visible(&path.display().to_string()))?;
            Box::new(move || drop(read_on(file, &sender)))
        }
        false if path == Path::new("-") => {
            Box::new(move || drop(read_out(std::io::stdin(), &sender)))
        }
        false => {
            let file =
                std::fs::File::open(path).with_context(|| visible(&path.display().to_string()))?;
            Box::new(move || drop(read_out(file, &sender)))
        }
    };
    std::thread::Builder::new()
        .name("stream".to_owned())
        .spawn(work)
        .context("a thread cannot be started")?;
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
        if file
            .metadata()
            .is_ok_and(|metadata| metadata.is_file() && metadata.len() < offset)
        {
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
