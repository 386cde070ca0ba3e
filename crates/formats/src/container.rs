//! From a path to the bytes of a history: through compression, archives and folders.
//!
//! | what | recognised by | becomes |
//! |---|---|---|
//! | `.gz`, `.zst` | first bytes | what is inside |
//! | `.zip`, `.tar` | first bytes, or `ustar` at byte 257 | the one file inside, or the files of one run |
//! | folder | | the files of one run; of a run of Jepsen its history |
//!
//! The files of one run are those that a format with folder histories recognizes
//! ([`Format::part_name`](super::Format::part_name)). Nested packing (`.tar.zst`) is unpacked layer by layer. Unpacked
//! data is held in memory; limits keep decompression bombs from filling it. Standard input (`-`), pipes and devices are
//! read as streams (`stream`).

use super::error::{OpenCause, Problem, escape};
use super::stream::{self, ended};
use super::{FORMATS, FilePart, Input, ReadError, etcd, jepsen_run};
use isoscope_model::control::{Control, Interrupt};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// Files from this size on are mapped into memory instead of copied.
const MAP_FROM: u64 = 1 << 20;

/// Maximum number of bytes that packed bytes may unpack to: this many times their number, or this many if that is more.
/// Histories compress well, but not a thousandfold.
const MOST_UNPACKED: (u64, u64) = (1000, 1 << 26);

/// Maximum number of nested layers unpacked.
const MOST_LAYERS: usize = 4;

/// Bytes unpacked at once, between two checks of the control.
const STEP: usize = 1 << 16;

/// Bytes in memory.
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
    /// One file, with its name without packing extensions if it was packed.
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
                let parts: Vec<FilePart<'_>> = files
                    .iter()
                    .map(|(name, bytes)| FilePart { name, bytes })
                    .collect();
                work(&Input::folder(&name, &parts))
            }
        }
    }
}

/// Whether a file of this name belongs to a history that is a folder.
pub(super) fn is_part(name: &str) -> bool {
    FORMATS
        .iter()
        .filter_map(|format| format.part_name)
        .any(|belongs| belongs(name))
}

/// The bytes at a path. For a stream, `look` sees the first ones early, and may refuse the rest.
pub(super) fn load(
    path: &Path,
    look: &dyn Fn(&[u8]) -> Result<(), ReadError>,
    control: &Control,
) -> Result<Held, OpenCause> {
    let path = jepsen_run::opened(path);
    if !stream::is_standard_input(path) && std::fs::metadata(path)?.is_dir() {
        if let Some(history) = jepsen_run::history_in(path) {
            let bytes = read_file(&history, control)?;
            return Ok(Held::File(
                history
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned()),
                bytes,
            ));
        }
        return load_folder(path, control);
    }
    unpack(bytes(path, look, control)?, path, control)
}

/// The raw bytes of a file or a stream.
pub(super) fn bytes(
    path: &Path,
    look: &dyn Fn(&[u8]) -> Result<(), ReadError>,
    control: &Control,
) -> Result<Bytes, OpenCause> {
    let is_file = || std::fs::metadata(path).map(|metadata| metadata.is_file());
    if !stream::is_standard_input(path) && is_file()? {
        read_file(path, control)
    } else {
        Ok(Bytes::Owned(stream::gather(path, look, control)?))
    }
}

/// Whether the amount to read at a path is known beforehand: for unpacked files and folders, but not for streams.
pub(super) fn has_known_size(path: &Path) -> bool {
    if stream::is_standard_input(path) {
        return false;
    }
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            let mut head = Vec::new();
            let read = File::open(path).and_then(|file| file.take(512).read_to_end(&mut head));
            read.is_err() || Packing::of(&head).is_none()
        }
        Ok(metadata) => metadata.is_dir(),
        Err(_) => true,
    }
}

/// The bytes of a regular file.
pub(super) fn read_file(path: &Path, control: &Control) -> Result<Bytes, OpenCause> {
    let file = File::open(path)?;
    if file.metadata()?.len() >= MAP_FROM {
        return Ok(Bytes::Mapped(map(&file)?));
    }
    // Some system files are longer than they report.
    inflate(
        file,
        OpenCause::from,
        Most::new(u64::MAX, Because::Memory),
        control,
    )
}

/// Maps a file for reading.
#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<memmap2::Mmap> {
    // SAFETY: the map is private to this module, read-only, and dropped when reading is done. No process may change a
    // history file while it is read; should that happen anyway, readers see other bytes and report an error or another
    // history. They check every index, so no byte of the file can lead outside the map.
    unsafe { memmap2::Mmap::map(file) }
}

fn load_folder(folder: &Path, control: &Control) -> Result<Held, OpenCause> {
    let mut files = Vec::new();
    let entries = std::fs::read_dir(folder)?.map(|entry| {
        entry.map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, entry.path())
        })
    });
    for entry in entries.chain(etcd::files_in(folder).into_iter().map(Ok)) {
        control.check().map_err(ended)?;
        let (name, path) = entry?;
        if is_part(&name) && !path.is_dir() {
            // Without one of its files the history would be another one.
            let content = regular(&path).and_then(|()| read_file(&path, control));
            let content = content.map_err(|cause| match cause {
                OpenCause::Read(error) => OpenCause::Read(error),
                cause => ReadError::whole("", Problem::Other(cause.to_string()))
                    .in_part(&name)
                    .into(),
            })?;
            files.push((name, content));
        }
    }
    if files.is_empty() {
        Err(match jepsen_run::is_without_history(folder) {
            true => ReadError::whole("", Problem::Other(jepsen_run::NOT_KEPT.to_owned())).into(),
            false => OpenCause::Directory,
        })
    } else {
        Ok(in_order(files))
    }
}

/// Fails where there is no regular file.
fn regular(path: &Path) -> Result<(), OpenCause> {
    if std::fs::metadata(path)?.is_file() {
        Ok(())
    } else {
        Err(io::Error::other("it is no regular file").into())
    }
}

/// The files of one run, `T10.log` after `T9.log`.
fn in_order(mut files: Vec<(String, Bytes)>) -> Held {
    files.sort_by_cached_key(|(name, _)| natural(name));
    Held::Folder(files)
}

/// A name split into text and numbers, so that numbers sort by value.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut pieces = vec![(String::new(), 0u64)];
    let mut in_number = false;
    for c in name.chars() {
        let Some((text, number)) = pieces.last_mut() else {
            break;
        };
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
    let packed_size = bytes.len() as u64;
    let mut name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut bytes = bytes;
    let mut packed = false;
    for _ in 0..MOST_LAYERS {
        let packing = Packing::of(&bytes);
        let most = Most::of(packed_size, control);
        bytes = match packing {
            None => break,
            Some(Packing::Gzip) => inflate(
                flate2::read::MultiGzDecoder::new(&*bytes),
                |e| damaged("gzip", &e),
                most,
                control,
            )?,
            Some(Packing::Zstd) => {
                let decoder = zstd::stream::read::Decoder::with_buffer(&*bytes)
                    .map_err(|e| damaged("zstd", &e))?;
                inflate(decoder, |e| damaged("zstd", &e), most, control)?
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

/// How much may be unpacked.
#[derive(Clone, Copy)]
struct Most {
    bytes: u64,
    left: u64,
    because: Because,
}

#[derive(Clone, Copy)]
enum Because {
    /// No history compresses better.
    Ratio,
    /// There is no more memory.
    Memory,
}

impl Most {
    fn new(bytes: u64, because: Because) -> Most {
        Most {
            bytes,
            left: bytes,
            because,
        }
    }

    /// The limit for this many packed bytes.
    fn of(packed: u64, control: &Control) -> Most {
        let by_ratio = packed.saturating_mul(MOST_UNPACKED.0).max(MOST_UNPACKED.1);
        match stream::room(control) {
            room if room < by_ratio => Most::new(room, Because::Memory),
            _ => Most::new(by_ratio, Because::Ratio),
        }
    }

    /// Counts what was unpacked.
    fn taken(&mut self, bytes: &[u8]) {
        self.left = self.left.saturating_sub(bytes.len() as u64);
    }

    fn exceeded(self) -> OpenCause {
        match self.because {
            Because::Memory => OpenCause::TooLarge {
                what: "packed data",
                most: self.bytes,
            },
            Because::Ratio => OpenCause::Packed(format!(
                "packed data that grows beyond {} bytes, which no history of this size does",
                self.bytes
            )),
        }
    }
}

/// All output of a decoder, up to the limits.
fn inflate(
    mut decoder: impl Read,
    failed: impl Fn(io::Error) -> OpenCause,
    most: Most,
    control: &Control,
) -> Result<Bytes, OpenCause> {
    let mut bytes = Vec::new();
    let mut piece = vec![0; STEP];
    loop {
        control.check().map_err(ended)?;
        match decoder.read(&mut piece) {
            Ok(0) => return Ok(Bytes::Owned(bytes)),
            Ok(n) => stream::extend(&mut bytes, &piece[..n])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                return Err(ended(Interrupt::MemoryLimit));
            }
            Err(error) => return Err(failed(error)),
        }
        if bytes.len() as u64 > most.left {
            return Err(most.exceeded());
        }
    }
}

type Files = Vec<(String, Bytes)>;

fn tar_files(bytes: &[u8], mut most: Most, control: &Control) -> Result<Files, OpenCause> {
    let mut archive = tar::Archive::new(Cursor::new(bytes));
    let mut files = Vec::new();
    for entry in archive.entries().map_err(|error| damaged("tar", &error))? {
        let entry = entry.map_err(|error| damaged("tar", &error))?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = entry
            .path()
            .map_err(|error| damaged("tar", &error))?
            .to_string_lossy()
            .into_owned();
        let size = entry.size();
        let content = inflate(entry, |e| damaged("tar", &e), most, control)?;
        if content.len() as u64 != size {
            return Err(OpenCause::Packed(format!(
                "a tar archive that is cut off in {}",
                escape(&name)
            )));
        }
        most.taken(&content);
        files.push((name, content));
    }
    Ok(files)
}

fn zip_files(bytes: &[u8], mut most: Most, control: &Control) -> Result<Files, OpenCause> {
    let broken = |error: zip::result::ZipError| damaged("zip", &io::Error::other(error));
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    let mut files = Vec::new();
    for at in 0..archive.len() {
        let file = archive.by_index(at).map_err(broken)?;
        if !file.is_file() {
            continue;
        }
        let name = file.name().map_err(broken)?.into_owned();
        let content = inflate(file, |e| damaged("zip", &e), most, control)?;
        most.taken(&content);
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
    let mut files: Files = files
        .into_iter()
        .map(|(path, bytes)| (base_name(&path).to_owned(), bytes))
        .collect();
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
