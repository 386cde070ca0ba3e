//! Does a level hold? If not, a message that says why, with files to look at.

use super::{RecordError, Recorder, write};
use crate::audit::{self, Examples};
use crate::checkers::{Findings, Options, Verdict};
use crate::control::{Control, Interrupt};
use crate::counterexample::narrate;
use crate::export::{self, ComposeOptions, ExportKind};
use crate::health::{self, Kind};
use crate::history::History;
use crate::levels::{self, Level};
use crate::relations;
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Time for one history.
const LIMIT: Duration = Duration::from_secs(300);

/// Most bytes of the name of a file, which systems limit to 255.
const LONGEST: usize = 150;

/// Asserts that what a [`Recorder`](crate::recorder::Recorder) recorded, or a [`History`](crate::history::History),
/// satisfies a level, given by its code (`SI`, `R-SER`) or another name (`snapshot-isolation`, also as a string).
///
/// # Panics
/// The level does not hold, it cannot be decided, or nothing was tested; [`check_holds`](crate::recorder::check_holds) says
/// the same as an error. Also if there is no such level, or what was recorded is no history.
#[macro_export]
macro_rules! assert_holds {
    ($recorded:expr, $($level:tt)+) => {
        $crate::recorder::assert_holds(
            &$recorded,
            ::core::stringify!($($level)+),
            ::core::module_path!(),
            ::core::line!(),
        )
    };
}

/// What an assertion can be about.
pub trait Recorded {
    /// As a history.
    ///
    /// # Errors
    /// Those of [`Recorder::history`].
    fn recorded(&self) -> Result<Cow<'_, History>, RecordError>;
}

impl Recorded for Recorder {
    fn recorded(&self) -> Result<Cow<'_, History>, RecordError> {
        self.history().map(Cow::Owned)
    }
}

impl Recorded for History {
    fn recorded(&self) -> Result<Cow<'_, History>, RecordError> {
        Ok(Cow::Borrowed(self))
    }
}

impl<T: Recorded + ?Sized> Recorded for &T {
    fn recorded(&self) -> Result<Cow<'_, History>, RecordError> {
        T::recorded(self)
    }
}

impl<T: Recorded + ?Sized> Recorded for Arc<T> {
    fn recorded(&self) -> Result<Cow<'_, History>, RecordError> {
        T::recorded(self)
    }
}

/// Why it cannot be said that a level holds. Displayed, and for `?` in a test also as `Debug`, it is the whole message.
pub struct Broken {
    level: Level,
    is_undecided: bool,
    message: String,
    picture: Option<PathBuf>,
    history: Option<PathBuf>,
}

impl Broken {
    /// The level that was asked for.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Whether it is not known if the level holds, as when nothing was tested.
    pub fn is_undecided(&self) -> bool {
        self.is_undecided
    }

    /// Where the picture is, an SVG, if there is one.
    pub fn picture(&self) -> Option<&Path> {
        self.picture.as_deref()
    }

    /// Where the history is, if it could be written.
    pub fn history(&self) -> Option<&Path> {
        self.history.as_deref()
    }

    /// A message so far.
    fn new(level: Level, is_undecided: bool, said: &str) -> Broken {
        let name = format!("{} ({})", level.spoken(), level.code());
        let message = match is_undecided {
            true => format!("undecided: {said}\nasked for: {name}\n"),
            false => format!("{name} does not hold\n\n{said}\n"),
        };
        Broken {
            level,
            is_undecided,
            message,
            picture: None,
            history: None,
        }
    }

    /// The path of a file, which becomes part of the message; or why there is none.
    fn place(&mut self, what: &str, saved: Result<PathBuf, RecordError>) -> Option<PathBuf> {
        let line = match &saved {
            Ok(path) => format!("{what}: {}\n", path.display()),
            Err(error) => format!("no {what}: {error}\n"),
        };
        self.message.push_str(&line);
        saved.ok()
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message.trim_end())
    }
}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Broken {}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:\\".contains(c);
    if path.chars().all(is_plain) {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// Checks that a history satisfies a level, for at most five minutes, and that it could violate one: where hardly anything
/// committed or was read, every level holds.
///
/// # Errors
/// It does not hold, or that is not known. Then a picture and the history are in `isoscope` in Cargo's target folder, or in
/// the folder for temporary files, under the name of the history's file, else of the thread, which is that of the test, else
/// of the program.
pub fn check_holds(history: &History, level: Level) -> Result<(), Broken> {
    let stem = Path::new(&history.origin().path).file_stem();
    let name = stem.map(|stem| stem.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| thread_name(&program_name()));
    check_named(history, level, &name)
}

/// What [`assert_holds!`](crate::assert_holds) calls.
#[doc(hidden)]
#[track_caller]
pub fn assert_holds(recorded: &(impl Recorded + ?Sized), level: &str, module: &str, line: u32) {
    // As tokens: `R - SER`, `"R-SER"`, perhaps with a comma behind.
    let is_of_name = |c: &char| !c.is_whitespace() && !"\",".contains(*c);
    let name: String = level.chars().filter(is_of_name).collect();
    let level = levels::named(&name).unwrap_or_else(|error| panic!("{error}"));
    let history = recorded
        .recorded()
        .unwrap_or_else(|error| panic!("{error}"));
    let program = module.split("::").next().unwrap_or_default();
    let name = format!("{program}-{}", thread_name(&format!("line-{line}")));
    if let Err(broken) = check_named(&history, level, &name) {
        panic!("{broken}");
    }
}

/// The name of this thread, which is that of the test unless it is the main one.
fn thread_name(of_main: &str) -> String {
    let current = std::thread::current();
    let name = current.name().filter(|name| *name != "main");
    name.unwrap_or(of_main).to_owned()
}

/// The name of the program without its ending.
fn program_name() -> String {
    let program = std::env::current_exe().ok();
    let stem = program.as_deref().and_then(Path::file_stem);
    stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

fn check_named(history: &History, level: Level, name: &str) -> Result<(), Broken> {
    let control = Control::new().with_time_limit(LIMIT);
    let options = Options {
        levels: vec![level],
        ..Options::default()
    };
    let findings = audit::check(history, &options, &control, &|_| {});
    let undecided = |why: &str| Broken::new(level, true, why);
    let mut broken = match findings.level(level).map(|result| &result.verdict) {
        Some(Verdict::Satisfied(_)) => match untested(history, &control) {
            Ok(None) => return Ok(()),
            Ok(Some(why)) => undecided(&why),
            Err(interrupt) => undecided(&interrupt.to_string()),
        },
        Some(Verdict::Undecided(cause)) => undecided(&cause.to_string()),
        Some(Verdict::Violated) | None => violated(history, &findings, level, name),
    };
    broken.history = broken.place("history", kept(history, name));
    if let Some(path) = &broken.history {
        let command = format!("open it: isoscope {}", quoted(path));
        broken.message.push_str(&command);
    }
    Err(broken)
}

/// Why nothing was tested, if so.
fn untested(history: &History, control: &Control) -> Result<Option<String>, Interrupt> {
    let resolution = relations::resolve(history, control)?;
    let health = health::examine(history, &resolution, control)?;
    Ok(health
        .finding(Kind::NothingTested)
        .map(|finding| finding.text.clone()))
}

/// The simplest violation in words, and its picture.
fn violated(history: &History, findings: &Findings, level: Level, name: &str) -> Broken {
    let Some(violation) = findings.violations.first() else {
        return Broken::new(level, true, "violated, but no violation is listed");
    };
    // Checking may have taken all of its time.
    let control = Control::new().with_time_limit(LIMIT);
    let examples = Examples::new(history, findings);
    let example = examples.of(examples.cause_of(violation), &control);
    let (small, why) = (&example.counterexample, &example.explanation);
    let picture = export::compose(small, why, history, &ComposeOptions::default());
    let argument = narrate::plain_text(small, why, history);
    let mut broken = Broken::new(level, false, &argument);
    let saved = saved(name, "svg", |path| {
        // An SVG is made of text, which cannot fail.
        let svg = export::export(ExportKind::Svg, &picture).unwrap_or_default();
        std::fs::write(path, svg).map_err(|error| RecordError::File(path.to_owned(), error))
    });
    broken.picture = broken.place("picture", saved);
    broken
}

/// The file of a history: the one that it was read from, else a new one.
fn kept(history: &History, name: &str) -> Result<PathBuf, RecordError> {
    let origin = PathBuf::from(&history.origin().path);
    if origin.exists() {
        return Ok(origin);
    }
    saved(name, "json", |path| write(history, path))
}

/// Writes a file of this name and ending to the first folder that takes it.
fn saved(
    name: &str,
    ending: &str,
    write: impl Fn(&Path) -> Result<(), RecordError>,
) -> Result<PathBuf, RecordError> {
    let save = |folder: PathBuf| {
        let path = folder.join(format!("{}.{ending}", file_name(name)));
        std::fs::create_dir_all(&folder).map_err(|error| RecordError::File(folder, error))?;
        write(&path).map(|()| path)
    };
    let target = target_folder().map(|target| save(target.join("isoscope")));
    match target {
        Some(Ok(path)) => Ok(path),
        _ => save(std::env::temp_dir().join("isoscope")),
    }
}

/// `module::test` as `module-test`, without what names of files cannot have.
fn file_name(name: &str) -> String {
    let kept = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = name.replace("::", "-").chars().map(kept).collect();
    name[..name.len().min(LONGEST)].to_owned()
}

/// Cargo's folder that this program was built in, which a file marks, else the one in the working directory.
fn target_folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok();
    let mut folders = program
        .iter()
        .flat_map(|program| program.ancestors().skip(1));
    let built_in = folders.find(|folder| folder.join("CACHEDIR.TAG").is_file());
    let here = || {
        std::path::absolute("target")
            .ok()
            .filter(|here| here.is_dir())
    };
    built_in.map(Path::to_owned).or_else(here)
}
