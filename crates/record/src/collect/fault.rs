//! Faults: commands or relays that break something for a while, and those that heal it, on a schedule.
//!
//! The commands are those of the command line. Nothing that a file says is ever run.

#[cfg(target_os = "linux")]
use super::process::{Process, Signal};
use super::{CollectError, Mode, Recorder, Relay, Statistics};
use isoscope_model::control::Control;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two checks of the clock.
const TICK: Duration = Duration::from_millis(10);

/// The file that fills a file system.
const FILLING: &str = "isoscope-fills-the-disk";
/// Bytes written to it at once: many, then few.
const LARGE_PIECE: usize = 1 << 20;
const SMALL_PIECE: usize = 1 << 12;
/// No more is filled, so that no disk of the whole machine is by mistake.
const MOST_FILLED: u64 = 8 << 30;

/// A command under the name of its fault: `NAME=COMMAND`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name of the fault.
    pub name: String,
    /// What the shell runs.
    pub command: String,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Named, String> {
        match text
            .split_once('=')
            .filter(|(name, command)| is_name(name) && !command.trim().is_empty())
        {
            Some((name, command)) => Ok(Named {
                name: name.to_owned(),
                command: command.to_owned(),
            }),
            None => Err("expected a name and a command, like `pause=kill -STOP 4711`".to_owned()),
        }
    }
}

/// Whether this can be the name of a fault.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

/// What begins or ends a fault.
#[derive(Clone, Debug)]
pub enum Action {
    /// The shell runs a command.
    Command(String),
    /// A relay does something else from now on.
    Relay(Arc<Relay>, Mode),
    /// A file takes all free space of the file system that it is on.
    Fill(PathBuf),
    /// It goes.
    Remove(PathBuf),
    /// A process is stopped.
    #[cfg(target_os = "linux")]
    Stop(Arc<Process>, Signal),
    /// It is started again as it was.
    #[cfg(target_os = "linux")]
    Start(Arc<Process>),
}

impl Action {
    fn run(&self) -> Result<(), String> {
        match self {
            Action::Command(command) => run(command),
            Action::Relay(relay, mode) => {
                relay.set(*mode);
                Ok(())
            }
            Action::Fill(file) => fill(file),
            Action::Remove(file) => {
                std::fs::remove_file(file).map_err(|error| format!("{}: {error}", file.display()))
            }
            #[cfg(target_os = "linux")]
            Action::Stop(process, signal) => process.stop(*signal),
            #[cfg(target_os = "linux")]
            Action::Start(process) => process.start(),
        }
    }
}

/// Something that breaks, and how it is healed.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Its name in the history.
    pub name: String,
    /// What begins it.
    pub begin: Action,
    /// What ends it; none if it ends by itself.
    pub end: Option<Action>,
    /// The arguments of the command line that mean it.
    pub arguments: Vec<String>,
}

impl Fault {
    /// A fault that no arguments mean yet.
    pub(super) fn new(name: String, begin: Action, end: Option<Action>) -> Fault {
        Fault {
            name,
            begin,
            end,
            arguments: Vec::new(),
        }
    }

    /// Pauses a process and its children, one of which may end meanwhile: `target` is its number, or a file that holds it
    /// in its first line.
    pub(super) fn pause(name: &str, target: &str) -> Fault {
        let number = if target.bytes().all(|b| b.is_ascii_digit()) {
            target.to_owned()
        } else {
            format!("$(head -n 1 '{}')", target.replace('\'', "'\\''"))
        };
        let signal = |signal: &str| {
            Action::Command(format!(
                "p={number}; kill -{signal} $p && {{ kill -{signal} $(ps -o pid= --ppid $p) 2>&-; true; }}"
            ))
        };
        Fault::new(
            format!("pause-{name}"),
            signal("STOP"),
            Some(signal("CONT")),
        )
    }

    /// Stops a process with its children, and starts it again as it was. `target` is as for [`pause`](Fault::pause).
    #[cfg(target_os = "linux")]
    pub(super) fn stop(name: String, target: &str, signal: Signal) -> Fault {
        let process = Arc::new(Process::new(target));
        Fault::new(
            name,
            Action::Stop(Arc::clone(&process), signal),
            Some(Action::Start(process)),
        )
    }

    /// Fills the file system that a folder is on.
    pub(super) fn disk_full(name: &str, folder: &str) -> Fault {
        let file = Path::new(folder).join(FILLING);
        Fault::new(
            format!("disk-full-{name}"),
            Action::Fill(file.clone()),
            Some(Action::Remove(file)),
        )
    }

    /// Lets a relay do something for a while.
    pub(super) fn relay(server: &str, relay: &Arc<Relay>, mode: Mode) -> Fault {
        let to = |mode| Action::Relay(Arc::clone(relay), mode);
        Fault::new(format!("{mode}-{server}"), to(mode), Some(to(Mode::Pass)))
    }
}

/// Faults, one after the other and over again, while a workload runs.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// The faults in their order.
    pub faults: Vec<Fault>,
    /// From the end of one to the beginning of the next.
    pub every: Duration,
    /// How long each lasts.
    pub lasting: Duration,
    /// Faults that never begin; their relays pass everything on.
    pub idle: Vec<Fault>,
}

impl Faults {
    /// These without the faults of this name.
    pub fn without(&self, name: &str) -> Faults {
        let (idle, faults) = self
            .faults
            .iter()
            .cloned()
            .partition(|fault| fault.name == name);
        Faults {
            faults,
            idle: [self.idle.clone(), idle].concat(),
            ..*self
        }
    }

    /// Runs until the sessions are `done` or `control` says so. Whatever is broken then is healed.
    pub(super) fn run(
        &self,
        (recorder, statistics): (&Recorder, &Statistics),
        done: &AtomicBool,
        control: &Control,
    ) -> Result<(), CollectError> {
        let goes_on = || !done.load(Ordering::Relaxed) && control.check().is_ok();
        let waits = |time: Duration| {
            let end = Instant::now() + time;
            while goes_on() && Instant::now() < end {
                std::thread::sleep(TICK);
            }
            goes_on()
        };
        for fault in self.faults.iter().cycle() {
            if !waits(self.every) {
                break;
            }
            statistics.begin_fault(&fault.name);
            let begun = step(&fault.name, "start", &fault.begin, recorder);
            if begun.is_ok() {
                waits(self.lasting);
            }
            // A command that failed may have broken something, too.
            let healed = fault
                .end
                .as_ref()
                .map_or(Ok(()), |end| step(&fault.name, "stop", end, recorder));
            statistics.end_fault();
            begun.and(healed)?;
        }
        Ok(())
    }
}

/// Does something and records when it began and ended.
fn step(name: &str, stage: &str, action: &Action, recorder: &Recorder) -> Result<(), CollectError> {
    let what = format!("{stage}-{name}");
    recorder.incident(&what, None)?;
    let result = action.run();
    recorder.incident(
        &what,
        Some(result.as_ref().map_or_else(String::as_str, |()| "done")),
    )?;
    result.map_err(|why| CollectError::Fault { what, why })
}

/// Writes zeros to a new file until the file system is full.
fn fill(path: &Path) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = File::create_new(path).map_err(said)?;
    let zeros = vec![0; LARGE_PIECE];
    let mut written = 0;
    // The last bytes, too.
    for piece in [LARGE_PIECE, SMALL_PIECE, 1] {
        loop {
            match file.write(&zeros[..piece]) {
                Ok(n) => written += n as u64,
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
                    ) =>
                {
                    break;
                }
                Err(error) => return Err(said(error)),
            }
            if written > MOST_FILLED {
                let gigabytes = MOST_FILLED >> 30;
                return Err(format!(
                    "{}: more than {gigabytes} GB are free there, give the server a small file system of its own",
                    path.display()
                ));
            }
        }
    }
    Ok(())
}

fn run(command: &str) -> Result<(), String> {
    let (shell, option) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("sh", "-c")
    };
    let mut shell = Command::new(shell);
    // Servers that it starts would keep its output open.
    shell
        .arg(option)
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut process = shell.spawn().map_err(|error| error.to_string())?;
    let end = Instant::now() + PATIENCE;
    loop {
        match process.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("its command ended with {status}")),
            None if Instant::now() >= end => {
                let _ = process.kill();
                let _ = process.wait();
                return Err(format!(
                    "its command did not end within {} s",
                    PATIENCE.as_secs()
                ));
            }
            None => std::thread::sleep(TICK),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_names() {
        let named = |text: &str| {
            text.parse::<Named>()
                .map(|named| (named.name, named.command))
        };
        assert_eq!(named("cut=a=b"), Ok(("cut".to_owned(), "a=b".to_owned())));
        for wrong in ["kill -9 1", "=x", "a=", "a b=c"] {
            assert!(named(wrong).is_err(), "{wrong}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_broken_is_healed_whenever_the_run_ends() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("log");
        let say = |word: &str| format!("echo {word} >> '{}'", log.display());
        let fault = |name: &str, begin: String| {
            let [begin, end] = [begin, say("end")].map(Action::Command);
            Fault::new(name.to_owned(), begin, Some(end))
        };
        let every = Duration::from_millis(10);
        let faults = vec![fault("a", say("begin"))];
        let faults = Faults {
            faults,
            every,
            lasting: Duration::from_secs(60),
            idle: Vec::new(),
        };
        let (recorder, statistics) = (Recorder::nowhere(), Statistics::default());
        let (done, control) = (AtomicBool::new(false), Control::new());
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| faults.run((&recorder, &statistics), &done, &control));
            while !log.exists() {
                std::thread::sleep(TICK);
            }
            done.store(true, Ordering::Relaxed);
            assert_eq!(thread.join().expect("no panic"), Ok(()));
        });
        assert_eq!(
            std::fs::read_to_string(&log).expect("a log"),
            "begin\nend\n"
        );
        let lasted: Vec<(String, bool)> = statistics
            .faults()
            .into_iter()
            .map(|f| (f.name, f.end.is_some()))
            .collect();
        assert_eq!(lasted, [("a".to_owned(), true)]);
        let failing = Faults {
            faults: vec![fault("b", "exit 3".to_owned())],
            ..faults
        };
        let error = failing.run((&recorder, &statistics), &AtomicBool::new(false), &control);
        let error = error.map_err(|error| error.to_string());
        assert!(
            error.is_err_and(|text| text.contains("start-b") && text.contains("exit status: 3"))
        );
        assert_eq!(
            std::fs::read_to_string(&log).expect("a log"),
            "begin\nend\nend\n"
        );
    }
}
