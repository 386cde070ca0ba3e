//! Bytes of unknown length: standard input, pipes, devices.
//!
//! Such a source may never end, and may never yield anything. A separate thread waits for it, so that limits hold
//! meanwhile; when they end the reading, the thread is left waiting until the process ends.

use super::error::OpenCause;
use super::{ReadError, SNIFFED};
use isoscope_model::control::{Control, Interrupt};
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// Bytes read at once: as much as a pipe holds.
const CHUNK: usize = 1 << 16;

/// Maximum number of buffered chunks.
const WAITING: usize = 4;

/// The time between two checks of the control while nothing arrives.
const PATIENCE: Duration = Duration::from_millis(20);

/// Whether a path means standard input.
pub(super) fn is_standard_input(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}

/// All bytes of a stream. `look` sees the first [`SNIFFED`] of them as soon as they arrive, and may refuse the rest.
///
/// Errors: of the system; of `look`; the limits of `control`, or of the [room](room) without them.
pub(super) fn gather(
    path: &Path,
    look: &dyn Fn(&[u8]) -> Result<(), ReadError>,
    control: &Control,
) -> Result<Vec<u8>, OpenCause> {
    let (sender, receiver) = sync_channel(WAITING);
    let source = path.to_owned();
    std::thread::Builder::new()
        .name("stream".to_owned())
        .spawn(move || {
            if is_standard_input(&source) {
                pass_on(Ok(io::stdin()), &sender)
            } else {
                pass_on(std::fs::File::open(source), &sender)
            }
        })?;
    let most = room(control);
    let mut bytes = Vec::new();
    loop {
        control.check().map_err(ended)?;
        let chunk: Vec<u8> = match receiver.recv_timeout(PATIENCE) {
            Ok(chunk) => chunk?,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(bytes),
        };
        let is_head = bytes.len() < SNIFFED && bytes.len() + chunk.len() >= SNIFFED;
        extend(&mut bytes, &chunk)?;
        if is_head {
            look(&bytes)?;
        }
        if bytes.len() as u64 > most {
            return Err(OpenCause::TooLarge {
                what: "a stream",
                most,
            });
        }
    }
}

/// Reads until the end, an error, or until no more is wanted.
fn pass_on(source: io::Result<impl Read>, sender: &SyncSender<io::Result<Vec<u8>>>) {
    let mut source = match source {
        Ok(source) => source,
        Err(error) => return drop(sender.send(Err(error))),
    };
    loop {
        let mut chunk = vec![0; CHUNK];
        let chunk = match source.read(&mut chunk) {
            Ok(0) => return,
            Ok(n) => {
                chunk.truncate(n);
                Ok(chunk)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = chunk.is_err();
        if sender.send(chunk).is_err() || is_last {
            return;
        }
    }
}

/// Appends bytes, or says that there is no memory for them.
pub(super) fn extend(bytes: &mut Vec<u8>, more: &[u8]) -> Result<(), OpenCause> {
    // Where doubling fails, the exact amount may still be available.
    let reserved = bytes
        .try_reserve(more.len())
        .or_else(|_| bytes.try_reserve_exact(more.len()));
    reserved.map_err(|_| ended(Interrupt::MemoryLimit))?;
    bytes.extend_from_slice(more);
    Ok(())
}

/// Maximum number of bytes for a source of unknown size: without a memory limit half of the free memory, since the
/// history built from them takes room, too.
pub(super) fn room(control: &Control) -> u64 {
    if control.limits_memory() {
        u64::MAX
    } else {
        Control::free_memory().map_or(u64::MAX, |free| free as u64 / 2)
    }
}

/// The error that reading was ended.
pub(super) fn ended(interrupt: Interrupt) -> OpenCause {
    ReadError::whole("", interrupt).into()
}
