//! A large file, read in parts by several threads.

use super::log::Log;
use super::read::Reader;
use super::scan::Scanner;
use crate::Input;
use crate::operations::{self, Operations};
use isoscope_model::control::Control;
use rayon::prelude::*;

/// Fewest bytes of a part.
const SMALLEST: usize = 1 << 22;

/// Parts for each thread: lines of lists that have grown take less time than others of as many bytes.
const FOR_EACH_THREAD: usize = 4;

/// About as many bytes as a file of lists has for each micro-operation.
const BYTES_OF_ONE: usize = 64;

/// The content of a large file of EDN with operations on lines of their own, the same as if it were read at once. `None`
/// where one part does not tell enough: in small files and those of another shape, and for every error, which may come
/// from the cut. Also where memory is limited, since parts take more.
pub(super) fn read<'a>(
    format: &'static str,
    bytes: &'a [u8],
    control: &Control,
) -> Option<Log<'a>> {
    read_in(n_parts(bytes, control)?, format, bytes, control)
}

/// Into how many parts a file is cut.
fn n_parts(bytes: &[u8], control: &Control) -> Option<usize> {
    let threads = rayon::current_num_threads();
    if threads == 1 || control.limits_memory() {
        return None;
    }
    Some((bytes.len() / SMALLEST).min(threads * FOR_EACH_THREAD))
}

/// As `read`, of operations of any kind.
pub(super) fn operations<'a>(
    input: &Input<'a>,
    format: &'static str,
    bytes: &'a [u8],
    control: &Control,
) -> Option<Operations<'a>> {
    operations_in(n_parts(bytes, control)?, input, format, bytes, control)
}

/// As `operations`, in this many parts.
pub(super) fn operations_in<'a>(
    n_parts: usize,
    input: &Input<'a>,
    format: &'static str,
    bytes: &'a [u8],
    control: &Control,
) -> Option<Operations<'a>> {
    if n_parts < 2 || !bytes.starts_with(b"{") {
        return None;
    }
    let read = parts(bytes, n_parts).into_par_iter().map(|part| {
        let operations = operations::read::<false>(input, format, part, control).ok()?;
        Some((operations, memchr::memchr_iter(b'\n', part).count()))
    });
    let mut read = read.collect::<Option<Vec<_>>>()?.into_iter();
    let (mut whole, mut n_lines) = read.next()?;
    for (operations, n) in read {
        whole.append(operations, u32::try_from(n_lines).unwrap_or(u32::MAX));
        n_lines += n;
    }
    Some(whole)
}

/// As `read`, in this many parts, or in one for each line if there are fewer.
pub(super) fn read_in<'a>(
    n_parts: usize,
    format: &'static str,
    bytes: &'a [u8],
    control: &Control,
) -> Option<Log<'a>> {
    if n_parts < 2 || !bytes.starts_with(b"{") {
        return None;
    }
    let logs = parts(bytes, n_parts)
        .into_par_iter()
        .map(|part| {
            let mut reader = Reader::new(Scanner::<false>::new(format, part));
            // Growing would copy them, and touch twice the memory.
            reader.log.operations.reserve(part.len() / BYTES_OF_ONE);
            let log = reader.file(control).ok()?;
            Some((log, memchr::memchr_iter(b'\n', part).count()))
        })
        .collect::<Option<Vec<_>>>()?;
    together(logs)
}

/// The log of a file that was read in parts: their logs, each with the number of its lines. `None` without any part.
pub(crate) fn together(logs: Vec<(Log<'_>, usize)>) -> Option<Log<'_>> {
    let (n_events, n_operations) = logs.iter().fold((0, 0), |(events, operations), (log, _)| {
        (events + log.events.len(), operations + log.operations.len())
    });
    let mut logs = logs.into_iter();
    let (mut whole, mut n_lines) = logs.next()?;
    whole.events.reserve(n_events);
    whole.operations.reserve(n_operations);
    for (log, n) in logs {
        whole.append(log, u32::try_from(n_lines).unwrap_or(u32::MAX));
        n_lines += n;
    }
    Some(whole)
}

/// The bytes, cut before lines that begin with an operation, into parts of much the same size.
fn parts(bytes: &[u8], n: usize) -> Vec<&[u8]> {
    let mut parts = Vec::with_capacity(n);
    let mut begin = 0;
    for part in 1..n {
        let from = begin.max(bytes.len() / n * part);
        if let Some(end) = memchr::memmem::find(&bytes[from..], b"\n{") {
            parts.push(&bytes[begin..from + end + 1]);
            begin = from + end + 1;
        }
    }
    parts.push(&bytes[begin..]);
    parts
}
