//! Standard output, which may be closed at any time, and other outputs.

use super::ExitCode;
use crate::checkers::{Findings, Level, LevelResult};
use crate::files;
use crate::history::acts_in_line;
use crate::report::VerdictWord;
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
    /// Less important.
    Faint,
}

impl Paint {
    pub(super) fn of(verdict: VerdictWord) -> Paint {
        match verdict {
            VerdictWord::Satisfied => Paint::Good,
            VerdictWord::Violated => Paint::Bad,
            VerdictWord::Undecided => Paint::Open,
        }
    }
}

/// The characters of the longest code among the levels that were decided.
pub(super) fn code_width(findings: &Findings) -> usize {
    findings
        .levels
        .iter()
        .map(|result| result.level.code().len())
        .fold(4, usize::max)
}

/// The codes of levels, in a sentence.
pub(super) fn codes(levels: impl IntoIterator<Item = Level>) -> String {
    levels
        .into_iter()
        .map(Level::code)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The codes of the levels with this verdict.
pub(super) fn codes_of(verdict: VerdictWord, findings: &Findings) -> String {
    let has = |result: &&LevelResult| VerdictWord::from(&result.verdict) == verdict;
    codes(
        findings
            .levels
            .iter()
            .filter(has)
            .map(|result| result.level),
    )
}

/// Standard output. Once the reader has gone away, nothing more is written, without a complaint: the exit code still
/// reflects the verdict. Any other failure is reported once, and makes the exit code 2.
pub(super) struct Output {
    out: BufWriter<io::StdoutLock<'static>>,
    is_closed: bool,
    has_failed: bool,
    is_coloured: bool,
}

impl Output {
    pub(super) fn new() -> Output {
        let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        Output {
            out,
            is_closed: false,
            has_failed: false,
            is_coloured: is_coloured(),
        }
    }

    /// Writes text and flushes it. Names in it have been made [visible](crate::history::visible) where they came from;
    /// here only line ends and colours may still act on a terminal.
    pub(super) fn text(&mut self, text: &str) {
        let text = tame(text);
        self.with(|out| out.write_all(text.as_bytes()));
    }

    /// The exit code after work that would end with `code`.
    pub(super) fn outcome(&self, code: ExitCode) -> ExitCode {
        if self.has_failed {
            ExitCode::Unusable
        } else {
            code
        }
    }

    /// Lets `write` write data, and flushes it.
    pub(super) fn with(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.is_closed {
            return;
        }
        if let Err(error) = write(&mut self.out).and_then(|()| self.out.flush()) {
            self.is_closed = true;
            if error.kind() != io::ErrorKind::BrokenPipe {
                self.has_failed = true;
                super::complain(&format!("standard output: {error}"));
            }
        }
    }

    /// The text in a colour, if colours are enabled.
    pub(super) fn paint(&self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Good => "32",
            Paint::Bad => "1;31",
            Paint::Open => "33",
            Paint::Strong => "1",
            Paint::Faint => "2",
        };
        if self.is_coloured {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Writes a file as [`files::write_file`] does; `-` and the system's names for standard output mean that.
pub(super) fn write_file(
    path: &Path,
    out: &mut Output,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    // If opened again, a file that standard output is redirected to would be overwritten from its beginning.
    if ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
    {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        out.with(|out| out.write_all(&bytes));
        return Ok(());
    }
    files::write_file(path, write)
}

/// Whether a path can only be meant as a folder: it ends in a slash, is one, or has no extension.
pub(super) fn is_folder_name(path: &Path) -> bool {
    let is_named_so =
        || path.extension().is_none() || path.to_string_lossy().ends_with(['/', '\\']);
    path.is_dir() || (path != Path::new("-") && is_named_so())
}

/// `text` without anything that acts on a terminal, except line ends and colours.
fn tame(text: &str) -> String {
    let mut tamed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (taken, shown) = match c {
            '\n' => (1, true),
            '\u{1b}' => match colour(rest) {
                Some(length) => (length, true),
                None => (1, false),
            },
            c => (c.len_utf8(), !acts_in_line(c)),
        };
        if shown {
            tamed.push_str(&rest[..taken])
        } else {
            tamed.extend(c.escape_default())
        }
        rest = &rest[taken..];
    }
    tamed
}

/// The length of the sequence at the beginning of `text` that sets colours, if there is one: `ESC [ 1 ; 31 m`.
fn colour(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then_some(2 + end + 1)
}

/// A word quoted for a shell.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_and_colours_reach_a_terminal() {
        let text = "\u{1b}[1;31mRA\u{1b}[0m violated, é ⊥\n";
        assert_eq!(tame(text), text);
        assert_eq!(
            tame("\u{1b}]0;title\u{7}\u{1b}[2J\r\u{202e}"),
            "\\u{1b}]0;title\\u{7}\\u{1b}[2J\\r\\u{202e}"
        );
        assert_eq!(tame("\u{1b}["), "\\u{1b}[");
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("a/b-1.txt"), "a/b-1.txt");
        assert_eq!(quoted("it's here"), "'it'\\''s here'");
        assert_eq!(quoted(""), "''");
    }
}
