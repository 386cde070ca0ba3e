//! Checkpoints of a history that is followed: a follower that was killed goes on from the last one.
//!
//! A file has two lines, the form and the checksum of the rest, and then what is kept. It says from which bytes of which
//! history it was made, so that it is not used with others. It is replaced as a whole.

use super::follow_source::Source;
use crate::follow::{FORM, Follower, Options, Stream};
use crate::history::visible;
use crate::report::Followed;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The beginning of each file, before the number of its form.
const MAGIC: &str = "isoscope.checkpoint/";

/// What a checkpoint says apart from what the follower remembers: a line of JSON.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// The history's path, as given.
    path: String,
    /// Number of its bytes that were read.
    offset: u64,
    /// Their SHA-256.
    bytes: String,
    /// What following depends on, in words.
    options: String,
    /// The length of the file of the order.
    order: Option<u64>,
    /// What was said so far, except about the progress.
    said: Vec<Followed>,
}

/// Where a follower goes on.
pub(super) struct Resumed {
    pub(super) stream: Stream,
    pub(super) follower: Follower,
    /// The length that the file of the order had.
    pub(super) order: Option<u64>,
    /// What was said before.
    pub(super) said: Vec<Followed>,
}

/// The file of the checkpoints of one run.
pub(super) struct Checkpoints {
    path: PathBuf,
    options: String,
    every: Duration,
    last: Instant,
}

impl Checkpoints {
    /// Checkpoints in this file, written at most this often, of a run with these options.
    pub(super) fn new(path: &Path, every: Duration, options: String) -> Checkpoints {
        Checkpoints {
            path: path.to_owned(),
            options,
            every,
            last: Instant::now(),
        }
    }

    /// Whether it is time for the next one.
    pub(super) fn is_due(&self) -> bool {
        self.last.elapsed() >= self.every
    }

    /// Writes one; `order` is the length of the file of the order.
    pub(super) fn write(
        &mut self,
        (stream, follower): (&Stream, &Follower),
        source: &Source,
        order: Option<u64>,
        said: &[Followed],
    ) -> anyhow::Result<()> {
        let (offset, bytes) = source.read_so_far();
        let path = source.path().display().to_string();
        let head = Head {
            path,
            offset,
            bytes,
            options: self.options.clone(),
            order,
            said: said.to_vec(),
        };
        let mut rest = serde_json::to_vec(&head)?;
        rest.push(b'\n');
        rest.extend(follower.kept(stream));
        let first = format!("{MAGIC}{FORM}\n{:x}\n", Sha256::digest(&rest));
        let fresh = self.path.with_added_extension("isoscope-new");
        let written = File::create(&fresh).and_then(|mut file| {
            file.write_all(first.as_bytes())?;
            file.write_all(&rest)?;
            file.sync_all()?;
            std::fs::rename(&fresh, &self.path)
        });
        self.last = Instant::now();
        written.map_err(|error| {
            // There may be nothing to remove.
            let _ = std::fs::remove_file(&fresh);
            anyhow::anyhow!("{}: {error}", self.name())
        })
    }

    /// Where the last run ended, if there is a checkpoint; the bytes that it had read are taken from `source`. Error: it
    /// is none, it is damaged, or it does not fit.
    pub(super) fn resume(
        &self,
        options: &Options,
        source: &mut Source,
    ) -> anyhow::Result<Option<Resumed>> {
        let bytes = match std::fs::read(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(|error| anyhow::anyhow!("{}: {}", self.name(), error))?,
        };
        let rest =
            checked(&bytes).map_err(|problem| anyhow::anyhow!("{}: {problem}", self.name()))?;
        let damaged = || format!("{}: it is damaged", self.name());
        let end = memchr::memchr(b'\n', rest).with_context(damaged)?;
        let head: Head = serde_json::from_slice(&rest[..end])
            .ok()
            .with_context(damaged)?;
        anyhow::ensure!(
            head.options == self.options,
            "{}: it was made with other options ({}); use these, or another file",
            self.name(),
            head.options
        );
        let (stream, follower) =
            Follower::resumed(options.clone(), &rest[end + 1..]).with_context(damaged)?;
        let is_same = source.skip(head.offset)? && source.read_so_far().1 == head.bytes;
        anyhow::ensure!(
            is_same,
            "{}: it was made from another history ({}), which begins with other bytes than {}",
            self.name(),
            visible(&head.path),
            source.name()
        );
        Ok(Some(Resumed {
            stream,
            follower,
            order: head.order,
            said: head.said,
        }))
    }

    fn name(&self) -> String {
        visible(&self.path.display().to_string())
    }
}

/// What follows the first two lines. Error: what is wrong with them.
fn checked(bytes: &[u8]) -> Result<&[u8], String> {
    let line = |bytes: &[u8]| -> Option<(String, usize)> {
        let end = memchr::memchr(b'\n', bytes.get(..bytes.len().min(100))?)?;
        Some((String::from_utf8(bytes[..end].to_vec()).ok()?, end + 1))
    };
    let (form, n) = line(bytes).ok_or("it is no checkpoint")?;
    let form: u32 = form
        .strip_prefix(MAGIC)
        .and_then(|form| form.parse().ok())
        .ok_or("it is no checkpoint")?;
    if form != FORM {
        let whose = if form > FORM { "a newer" } else { "an older" };
        return Err(format!(
            "it was written by {whose} version of this program (form {form}, expected {FORM})"
        ));
    }
    let (sum, m) = line(&bytes[n..]).ok_or("it is damaged")?;
    let rest = &bytes[n + m..];
    if sum == format!("{:x}", Sha256::digest(rest)) {
        Ok(rest)
    } else {
        Err("it is damaged".to_owned())
    }
}
