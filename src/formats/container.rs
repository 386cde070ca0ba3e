//! From a path to the bytes of a history: through compression, archives and folders.
//!
//! | what | recognised by | becomes |
//! |---|---|---|
//! | `.gz`, `.zst` | first bytes | what is inside |
//! | `.zip`, `.tar` | first bytes, or `ustar` at byte 257 | the one file inside, or the files of one run |
//! | folder | | the files of one run |
//!
//! The files of one run are those that a format which keeps histories in folders calls its own
//! ([`Format::part_name`](super::Format::part_name)). Wrapped twice (`.tar.zst`) is unwrapped twice. What is unpacked is
//! held in memory; a limit keeps small files that unpack without end from filling it.

use super::error::{OpenCause, escape};
use super::{FORMATS, Input, Part};
use crate::control::Control;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// Files from this size on are mapped into memory instead of copied.
const MAP_FROM: u64 = 1 << 20;

/// Most bytes that packed bytes may unpack to: so many times their number, or this many if that is more. Histories pack
/// well, but not a thousandfold.
const MOST_UNPACKED: (u64, u64) = (1000, 1 << 26);

/// Most wrappings around each other that are looked through.
const MOST_LAYERS: usize = 4;

/// Bytes between two looks at the control while unpacking.
const STEP: u64 = 1 << 20;

/// Bytes as they are kept.
pub(super) enum Bytes {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

/// The bytes of a history, kept while it is read.
pub(super) enum Held {
    /// One file, with its name without the endings of what it was packed in, where it was packed.
    File(Option<String>, Bytes),
    /// The files of one run with their names, in the order of the numbers in them.
    Folder(Vec<(String, Bytes)>),
}

impl Held {
    /// Calls `work` with the bytes as the input called `path`.
    pub(super) fn with_input<T>(&self, path: &Path, work: impl FnOnce(&Input<'_>) -> T) -> T {
        let name = path.to_string_lossy();
        match self {
            Held::File(inner, bytes) => {
                let input = Input::new(&name, bytes);
                work(&match inner {
                    Some(inner) => input.looking_like(inner),
                    None => input,
                })
            }
            Held::Folder(files) => {
                let parts: Vec<Part<'_>> = files.iter().map(|(name, bytes)| Part { name, bytes }).collect();
                work(&Input::folder(&name, &parts))
            }
        }
    }
}

/// Whether a file of this name belongs to a history that is a folder.
pub(super) fn is_part(name: &str) -> bool {
    FORMATS.iter().filter_map(|format| format.part_name).any(|belongs| belongs(name))
}

/// The bytes at a path.
pub(super) fn load(path: &Path, control: &Control) -> Result<Held, OpenCause> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return load_folder(path, control);
    }
    unpack(read_file(path)?, path, control)
}

fn read_file(path: &Path) -> io::Result<Bytes> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() >= MAP_FROM {
        return Ok(Bytes::Mapped(map(&file)?));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Bytes::Owned(bytes))
}

/// Maps a file for reading.
#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<memmap2::Mmap> {
    // SAFETY: the map is private to this module, read-only, and dropped when reading is done. Nobody may change a
    // history file while it is read; should that happen all the same, readers see other bytes and report an error or
    // another history. They check every index, so no byte of the file can lead outside the map.
    unsafe { memmap2::Mmap::map(file) }
}

fn load_folder(folder: &Path, control: &Control) -> Result<Held, OpenCause> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        control.check().map_err(|interrupt| OpenCause::from(super::ReadError::whole("", interrupt)))?;
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_part(&name) && entry.path().is_file() {
            files.push((name, read_file(&entry.path())?));
        }
    }
    match files.is_empty() {
        true => Err(OpenCause::Directory),
        false => Ok(in_order(files)),
    }
}

/// The files of one run, `T10.log` behind `T9.log`.
fn in_order(mut files: Vec<(String, Bytes)>) -> Held {
    files.sort_by_cached_key(|(name, _)| natural(name));
    Held::Folder(files)
}

/// A name cut into text and numbers, so that numbers sort by size.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut pieces = vec![(String::new(), 0u64)];
    let mut in_number = false;
    for c in name.chars() {
        let Some((text, number)) = pieces.last_mut() else { break };
        match c.to_digit(10) {
            Some(digit) => {
                *number = number.saturating_mul(10).saturating_add(u64::from(digit));
                in_number = true;
            }
            None if in_number => {
                pieces.push((c.to_string(), 0));
                in_number = false;
            }
            None => text.push(c),
        }
    }
    pieces
}

/// Looks through whatever `bytes` are packed in.
pub(super) fn unpack(bytes: Bytes, path: &Path, control: &Control) -> Result<Held, OpenCause> {
    let most = (bytes.len() as u64).saturating_mul(MOST_UNPACKED.0).max(MOST_UNPACKED.1);
    let mut name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut bytes = bytes;
    let mut packed = false;
    for _ in 0..MOST_LAYERS {
        let packing = Packing::of(&bytes);
        bytes = match packing {
            None => break,
            Some(Packing::Gzip) => inflate(flate2::read::MultiGzDecoder::new(&*bytes), "gzip", most, control)?,
            Some(Packing::Zstd) => {
                let decoder = zstd::stream::read::Decoder::with_buffer(&*bytes).map_err(|e| damaged("zstd", &e))?;
                inflate(decoder, "zstd", most, control)?
            }
            Some(Packing::Tar) => match only(tar_files(&bytes, most, control)?)? {
                Unpacked::Folder(held) => return Ok(held),
                Unpacked::One(inner, inside) => {
                    name = inner;
                    inside
                }
            },
            Some(Packing::Zip) => match only(zip_files(&bytes, most, control)?)? {
                Unpacked::Folder(held) => return Ok(held),
                Unpacked::One(inner, inside) => {
                    name = inner;
                    inside
                }
            },
        };
        packed = true;
        for ending in [".gz", ".zst", ".zstd"] {
            name = name.strip_suffix(ending).unwrap_or(&name).to_owned();
        }
    }
    Ok(Held::File(packed.then_some(name), bytes))
}

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstd,
    Tar,
    Zip,
}

impl Packing {
    pub(super) fn of(bytes: &[u8]) -> Option<Packing> {
        match bytes {
            [0x1f, 0x8b, 8, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Packing::Zip),
            _ if bytes.get(257..262) == Some(b"ustar") => Some(Packing::Tar),
            _ => None,
        }
    }
}

fn damaged(kind: &str, error: &io::Error) -> OpenCause {
    let text = escape(&error.to_string());
    OpenCause::Packed(format!("damaged {kind} data: {text}"))
}

fn too_large(most: u64) -> OpenCause {
    OpenCause::Packed(format!("packed data that grows beyond {most} bytes, which no history of this size does"))
}

/// Everything a decoder gives, up to `most` bytes.
fn inflate(mut decoder: impl Read, kind: &str, most: u64, control: &Control) -> Result<Bytes, OpenCause> {
    let mut bytes = Vec::new();
    loop {
        control.check().map_err(|interrupt| OpenCause::from(super::ReadError::whole("", interrupt)))?;
        let before = bytes.len();
        decoder.by_ref().take(STEP).read_to_end(&mut bytes).map_err(|error| damaged(kind, &error))?;
        if bytes.len() == before {
            return Ok(Bytes::Owned(bytes));
        }
        if bytes.len() as u64 > most {
            return Err(too_large(most));
        }
    }
}

type Files = Vec<(String, Bytes)>;

fn tar_files(bytes: &[u8], most: u64, control: &Control) -> Result<Files, OpenCause> {
    let mut archive = tar::Archive::new(Cursor::new(bytes));
    let mut files = Vec::new();
    let mut left = most;
    for entry in archive.entries().map_err(|error| damaged("tar", &error))? {
        let entry = entry.map_err(|error| damaged("tar", &error))?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = entry.path().map_err(|error| damaged("tar", &error))?.to_string_lossy().into_owned();
        let size = entry.size();
        let content = inflate(entry, "tar", left, control)?;
        if content.len() as u64 != size {
            return Err(OpenCause::Packed(format!("a tar archive that is cut off in {}", escape(&name))));
        }
        left = left.saturating_sub(content.len() as u64);
        files.push((name, content));
    }
    Ok(files)
}

fn zip_files(bytes: &[u8], most: u64, control: &Control) -> Result<Files, OpenCause> {
    let broken = |error: zip::result::ZipError| damaged("zip", &io::Error::other(error));
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    let mut files = Vec::new();
    let mut left = most;
    for at in 0..archive.len() {
        let file = archive.by_index(at).map_err(broken)?;
        if !file.is_file() {
            continue;
        }
        let name = file.name().map_err(broken)?.into_owned();
        let content = inflate(file, "zip", left, control)?;
        left = left.saturating_sub(content.len() as u64);
        files.push((name, content));
    }
    Ok(files)
}

enum Unpacked {
    One(String, Bytes),
    Folder(Held),
}

/// What the files of an archive are together.
fn only(files: Files) -> Result<Unpacked, OpenCause> {
    let mut files: Files = files.into_iter().map(|(path, bytes)| (base_name(&path).to_owned(), bytes)).collect();
    files.retain(|(name, _)| !name.starts_with('.'));
    if files.iter().any(|(name, _)| is_part(name)) {
        files.retain(|(name, _)| is_part(name));
        return Ok(Unpacked::Folder(in_order(files)));
    }
    let n = files.len();
    match files.pop() {
        Some((name, bytes)) if n == 1 => Ok(Unpacked::One(name, bytes)),
        None => Err(OpenCause::Packed("an archive without files".to_owned())),
        Some(_) => Err(OpenCause::Packed(format!(
            "an archive of {n} files that are not the logs of one run: unpack it and open the folder"
        ))),
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Writes files as a tar archive, the same bytes for the same files.
pub(super) fn write_tar(files: &[(String, Vec<u8>)], out: &mut dyn io::Write) -> io::Result<()> {
    let mut archive = tar::Builder::new(out);
    for (name, content) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, &**content)?;
    }
    archive.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_sort_by_size() {
        let mut names = ["T10.log", "T9.log", "T1a.log", "T1.log"];
        names.sort_by_cached_key(|name| natural(name));
        assert_eq!(names, ["T1.log", "T1a.log", "T9.log", "T10.log"]);
    }
}
