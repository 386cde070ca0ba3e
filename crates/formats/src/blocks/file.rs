//! Blocks and where they are.

use super::fressian::Fressian;
use super::{FORMAT, Result};
use crate::operations::Tree;
use crate::{Problem, ReadError};
use isoscope_model::control::Control;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a file begins with.
pub(super) const MAGIC: &[u8] = b"JEPSEN";
/// The magic, the version, the place of the index.
const HEADER: usize = 18;
/// Length, checksum, type. The type has sixteen bytes, of which two count.
const BLOCK_HEADER: usize = 28;
/// Bytes of a checksum between two questions to the control.
const STEP: usize = 1 << 22;

/// What is in a block.
const INDEX: u16 = 1;
const VALUE: u16 = 2;
const PARTIAL_MAP: u16 = 3;
const STREAM: u16 = 4;
const VECTOR: u16 = 5;

type Fields = Vec<(Tree<'static>, Tree<'static>)>;

/// A file.
pub(super) struct Blocks<'a> {
    bytes: &'a [u8],
    /// The block of the test.
    root: u32,
    /// By block; those of the current index.
    places: FxHashMap<u32, u64>,
    control: &'a Control,
}

/// A block whose checksum is right.
struct Block<'a> {
    kind: u16,
    data: &'a [u8],
    /// The place of its data in the file.
    at: usize,
}

/// Operations that are together in a block.
pub(super) struct Piece<'a> {
    data: &'a [u8],
    at: usize,
    is_stream: bool,
    /// The number of operations before it and within it, where the file says so.
    pub(super) range: Option<(usize, usize)>,
}

impl Piece<'_> {
    /// Gives the operations, one after the other.
    pub(super) fn each(
        &self,
        control: &Control,
        take: &mut dyn FnMut(Tree<'static>) -> Result<()>,
    ) -> Result<()> {
        let mut n = 0;
        let mut counted = |tree| {
            n += 1;
            take(tree)
        };
        let mut fressian = Fressian::new(self.data, self.at, control);
        if self.is_stream {
            while !fressian.is_at_end()? {
                counted(fressian.value()?)?;
            }
        } else {
            fressian.each(&mut counted)?;
        }
        match self.range {
            Some((_, expected)) if n != expected => {
                let message =
                    format!("expected a block of {expected} operations, found one of {n}");
                Err(fail(self.at as u64, message))
            }
            _ => Ok(()),
        }
    }
}

impl<'a> Blocks<'a> {
    /// The blocks of a file; nothing if the run ended before its first checkpoint.
    pub(super) fn of(bytes: &'a [u8], control: &'a Control) -> Result<Option<Blocks<'a>>> {
        let header = bytes
            .get(MAGIC.len()..HEADER)
            .and_then(|rest| rest.split_first_chunk::<4>());
        let Some((version, place)) = header else {
            let message = format!("expected a header of {HEADER} bytes, found {}", bytes.len());
            return Err(fail(0, message));
        };
        let version = u32::from_be_bytes(*version);
        if version > 1 {
            let message = format!("expected version 0 or 1 of the format, found {version}");
            return Err(fail(MAGIC.len() as u64, message));
        }
        let place = number(place);
        if place == 0 {
            return Ok(None);
        }
        let mut blocks = Blocks {
            bytes,
            root: 0,
            places: FxHashMap::default(),
            control,
        };
        let index = blocks.block_at(place, "the index")?;
        let Some((root, entries)) = index
            .data
            .split_first_chunk::<4>()
            .filter(|_| index.kind == INDEX)
        else {
            return Err(fail(place, "expected an index of blocks here".to_owned()));
        };
        blocks.root = u32::from_be_bytes(*root);
        for entry in entries.chunks_exact(12) {
            // The room that was kept for more entries is zero.
            match number(&entry[..4]) as u32 {
                0 => {}
                id => drop(blocks.places.insert(id, number(&entry[4..]))),
            }
        }
        Ok(Some(blocks))
    }

    fn block(&self, id: u32) -> Result<Block<'a>> {
        match self.places.get(&id) {
            Some(place) => self.block_at(*place, &format!("block {id}")),
            None => {
                let message = format!("expected the place of block {id} in the index, found none");
                Err(ReadError::whole(FORMAT.name, Problem::Other(message)).into())
            }
        }
    }

    fn block_at(&self, place: u64, name: &str) -> Result<Block<'a>> {
        let from = usize::try_from(place).ok().filter(|at| *at >= HEADER);
        let rest = from.and_then(|at| self.bytes.get(at..));
        let Some((header, _)) = rest.and_then(|rest| rest.split_at_checked(BLOCK_HEADER)) else {
            let message = format!(
                "expected {name} at this byte, found the end of the file after {} bytes",
                self.bytes.len()
            );
            return Err(fail(place, message));
        };
        let (length, rest) = (number(&header[..8]), rest.unwrap_or_default());
        let whole = usize::try_from(length)
            .ok()
            .and_then(|length| rest.get(BLOCK_HEADER..length));
        let Some(data) = whole else {
            let message = format!(
                "expected the length of {name}: at least {BLOCK_HEADER} and at most the {} bytes that follow; found {length}",
                rest.len()
            );
            return Err(fail(place, message));
        };
        let (expected, found) = (number(&header[8..12]) as u32, self.checksum(header, data)?);
        if expected != found {
            let message = format!(
                "{name} is damaged: its checksum is {expected:08x}, that of its bytes {found:08x}"
            );
            return Err(fail(place, message));
        }
        Ok(Block {
            kind: number(&header[12..14]) as u16,
            data,
            at: self.bytes.len() - rest.len() + BLOCK_HEADER,
        })
    }

    /// Of the data, then of the header with zeros for the checksum.
    fn checksum(&self, header: &[u8], data: &[u8]) -> Result<u32> {
        let mut hasher = crc32fast::Hasher::new();
        for step in data.chunks(STEP) {
            let check = self.control.check();
            check.map_err(|interrupt| ReadError::whole(FORMAT.name, interrupt))?;
            hasher.update(step);
        }
        hasher.update(&header[..8]);
        hasher.update(&[0; 4]);
        hasher.update(&header[12..]);
        Ok(hasher.finalize())
    }

    /// The test.
    pub(super) fn test(&self) -> Result<Fields> {
        self.map(self.root, usize::MAX)
    }

    /// A map that may be in several blocks; those of more than `most` bytes are left out.
    pub(super) fn map(&self, mut id: u32, most: usize) -> Result<Fields> {
        let (mut fields, mut seen) = (Vec::new(), FxHashSet::default());
        while id != 0 && seen.insert(id) {
            let Block { kind, data, at } = self.block(id)?;
            let (rest, data, at) = match (kind, data.split_first_chunk::<4>()) {
                (VALUE, _) => (0, data, at),
                (PARTIAL_MAP, Some((rest, data))) => (u32::from_be_bytes(*rest), data, at + 4),
                _ => return Err(fail(at as u64, format!("expected block {id} to be a map"))),
            };
            if data.len() <= most {
                match Fressian::new(data, at, self.control).value()? {
                    Tree::Map(more) => fields.extend(more),
                    _ => return Err(fail(at as u64, format!("expected block {id} to be a map"))),
                }
            }
            id = rest;
        }
        Ok(fields)
    }

    /// The blocks of a history.
    pub(super) fn pieces(&self, id: u32) -> Result<Vec<Piece<'a>>> {
        let Block { kind, data, at } = self.block(id)?;
        let Some((count, entries)) = data.split_first_chunk::<8>().filter(|_| kind == VECTOR)
        else {
            return Ok(vec![self.piece(id, None)?]);
        };
        let mut starts: Vec<u64> = entries
            .chunks_exact(12)
            .map(|of| number(&of[..8]))
            .collect();
        starts.push(u64::from_be_bytes(*count));
        let (mut pieces, mut seen) = (Vec::new(), FxHashSet::default());
        for (entry, ends) in entries.chunks_exact(12).zip(starts.windows(2)) {
            let id = number(&entry[8..]) as u32;
            let range = match (usize::try_from(ends[0]), usize::try_from(ends[1])) {
                (Ok(start), Ok(end)) if start <= end && seen.insert(id) => (start, end - start),
                _ => {
                    let message =
                        "expected blocks that follow each other in this vector".to_owned();
                    return Err(fail(at as u64, message));
                }
            };
            pieces.push(self.piece(id, Some(range))?);
        }
        if starts[0] != 0 {
            let message = format!("expected a vector that begins with 0, found {}", starts[0]);
            return Err(fail(at as u64, message));
        }
        Ok(pieces)
    }

    fn piece(&self, id: u32, range: Option<(usize, usize)>) -> Result<Piece<'a>> {
        let Block { kind, data, at } = self.block(id)?;
        if !matches!(kind, VALUE | STREAM) {
            let message =
                format!("expected operations in block {id}, found a block of type {kind}");
            return Err(fail(at as u64, message));
        }
        Ok(Piece {
            data,
            at,
            is_stream: kind == STREAM,
            range,
        })
    }
}

/// The block that a value is in, if it is in one of its own.
pub(super) fn reference(value: &Tree<'_>) -> Option<u32> {
    match value.field("#block-ref")?.elements()? {
        [Tree::Number(id)] => u32::try_from(*id).ok(),
        _ => None,
    }
}

/// A field of the test.
pub(super) fn field<'t>(fields: &'t Fields, name: &str) -> Option<&'t Tree<'static>> {
    let named = |(field, _): &&(Tree<'static>, Tree<'static>)| field.word() == Some(name);
    fields.iter().find(named).map(|(_, value)| value)
}

/// A number of up to eight bytes, the highest first.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn fail(at: u64, message: String) -> Box<ReadError> {
    Box::new(ReadError::at_byte(FORMAT.name, at, Problem::Other(message)))
}
