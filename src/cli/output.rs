//! Standard output that may be closed at any time, and output files that are whole or not there.

use anyhow::Context;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// Whether standard output takes colours.
pub(super) fn is_coloured() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A colour with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    /// Satisfied.
    Good,
    /// Violated.
    Bad,
    /// Undecided.
    Open,
    /// A heading.
    Strong,
    /// Of less importance.
    Faint,
}

/// Standard output. When the reader has gone away, nothing more is written and nobody complains: the exit code still
/// tells the verdict.
pub(super) struct Output {
    out: BufWriter<io::StdoutLock<'static>>,
    is_closed: bool,
    is_coloured: bool,
}

impl Output {
    pub(super) fn new() -> Output {
        let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        Output { out, is_closed: false, is_coloured: is_coloured() }
    }

    /// Writes text and shows it at once.
    pub(super) fn text(&mut self, text: &str) {
        self.with(|out| out.write_all(text.as_bytes()));
    }

    /// Lets `write` write, and shows it at once.
    pub(super) fn with(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.is_closed {
            return;
        }
        if let Err(error) = write(&mut self.out).and_then(|()| self.out.flush()) {
            self.is_closed = true;
            if error.kind() != io::ErrorKind::BrokenPipe {
                super::complain(&format!("standard output: {error}"));
            }
        }
    }

    /// The text in a colour, if colours are taken.
    pub(super) fn paint(&self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Good => "32",
            Paint::Bad => "1;31",
            Paint::Open => "33",
            Paint::Strong => "1",
            Paint::Faint => "2",
        };
        if self.is_coloured { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Writes a file beside its place and moves it there when it is whole; `-` is standard output.
pub(super) fn write_file(
    path: &Path,
    out: &mut Output,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        out.with(|out| out.write_all(&bytes));
        return Ok(());
    }
    let name = || path.display().to_string();
    anyhow::ensure!(!path.is_dir(), "{}: is a directory, expected a file name", name());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().prefix(".isoscope-").tempfile_in(folder).with_context(name)?;
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    let file = buffered.into_inner().map_err(|error| error.into_error()).with_context(name)?;
    share(&file, path).with_context(name)?;
    file.persist(path).map_err(|error| error.error).with_context(name)?;
    Ok(())
}

/// Whether a path can only be meant as a folder: it ends in a slash, is one, or has no ending.
pub(super) fn is_folder_name(path: &Path) -> bool {
    path.is_dir() || path.extension().is_none() || path.to_string_lossy().ends_with(['/', '\\'])
}

/// Writes files into a new folder, which appears when it is whole. A folder that is there must be empty.
pub(super) fn write_folder(path: &Path, files: Vec<(String, Vec<u8>)>) -> anyhow::Result<()> {
    let name = || path.display().to_string();
    if path.is_dir() {
        let is_empty = std::fs::read_dir(path).with_context(name)?.next().is_none();
        anyhow::ensure!(is_empty, "{}: is a folder with files in it, expected a new or an empty one", name());
        std::fs::remove_dir(path).with_context(name)?;
    }
    let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = tempfile::Builder::new().prefix(".isoscope-").tempdir_in(parent).with_context(name)?;
    let whole = beside.path().join("whole");
    std::fs::create_dir(&whole).with_context(name)?;
    for (file, content) in files {
        std::fs::write(whole.join(file), content).with_context(name)?;
    }
    std::fs::rename(&whole, path).with_context(name)?;
    Ok(())
}

/// Temporary files are private; results get the rights of the file they replace, or those of any new file.
#[cfg(unix)]
fn share(file: &tempfile::NamedTempFile, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = match std::fs::metadata(path) {
        Ok(metadata) => metadata.permissions(),
        Err(_) => std::fs::Permissions::from_mode(0o644),
    };
    file.as_file().set_permissions(permissions)
}

#[cfg(not(unix))]
fn share(_: &tempfile::NamedTempFile, _: &Path) -> io::Result<()> {
    Ok(())
}
