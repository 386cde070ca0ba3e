//! A server process of this machine that is stopped, and started again as it was: with its command line, environment,
//! folder and user, as Linux tells them in `/proc`.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a process may take to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two checks of a process.
const TICK: Duration = Duration::from_millis(10);
/// One that does not end within this time, since it waits for its clients, is interrupted.
const POLITE: Duration = Duration::from_secs(2);
/// A server that ends within this time has not started.
const STARTING: Duration = Duration::from_millis(300);
/// How long it is tried again.
const STUBBORN: Duration = Duration::from_secs(10);

/// How a process is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// At once, its children, too: as when the machine loses its power, but for what the system has buffered.
    Kill,
    /// As an administrator does: SIGTERM, and if it waits for its clients SIGINT.
    Terminate,
}

/// A process that can be stopped and started again, any number of times.
#[derive(Debug)]
pub struct Process {
    /// Its number, or the file that holds it in its first line.
    target: String,
    kept: Mutex<Kept>,
}

/// What is known of it from the last time.
#[derive(Debug, Default)]
struct Kept {
    launch: Option<Launch>,
    /// The number that it has had since.
    started: Option<u32>,
}

/// How it was started.
#[derive(Debug)]
struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    folder: PathBuf,
    user: u32,
    group: u32,
}

impl Process {
    /// The process of this number, or of the number in the first line of this file.
    pub fn new(target: &str) -> Process {
        Process {
            target: target.to_owned(),
            kept: Mutex::default(),
        }
    }

    /// Stops it and waits until it has ended, and its children.
    pub fn stop(&self, signal: Signal) -> Result<(), String> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let number = self.number(kept.started)?;
        if status(number).is_none() {
            return Err(format!("there is no process {number}"));
        }
        let failed = |what: &str, error: io::Error| format!("process {number}: {what}: {error}");
        kept.launch = Some(
            Launch::of(number).map_err(|error| failed("how it was started is not known", error))?,
        );
        let mut all = vec![number];
        all.extend(children(number).map_err(|error| failed("its children are not known", error))?);
        let unheard = |error| failed("it cannot be signalled", error);
        // Children end by themselves when their parent is asked to.
        match signal {
            Signal::Kill => send("KILL", &all),
            Signal::Terminate => send("TERM", &all[..1]),
        }
        .map_err(unheard)?;
        if !has_ended(
            &all,
            if signal == Signal::Kill {
                PATIENCE
            } else {
                POLITE
            },
        ) {
            send("INT", &all[..1]).map_err(unheard)?;
            if !has_ended(&all, PATIENCE) {
                return Err(format!(
                    "process {number} did not end within {} s",
                    PATIENCE.as_secs()
                ));
            }
        }
        Ok(())
    }

    /// Starts it as it was before it was stopped.
    pub fn start(&self) -> Result<(), String> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // It was not stopped.
        let Some(launch) = kept.launch.take() else {
            return Ok(());
        };
        let failed =
            |error: io::Error| format!("{} does not start: {error}", launch.program.display());
        let end = Instant::now() + STUBBORN;
        loop {
            let mut child = launch.command().map_err(failed)?.spawn().map_err(failed)?;
            match ended_at_once(&mut child).map_err(failed)? {
                None => {
                    kept.started = Some(child.id());
                    // Whatever ends it: the system forgets it only when its parent has noticed.
                    std::thread::spawn(move || child.wait());
                    return Ok(());
                }
                // It runs in the background.
                Some(status) if status.success() => return Ok(()),
                // A server may refuse to start until the system has forgotten the one that was killed.
                Some(_) if Instant::now() < end => std::thread::sleep(STARTING),
                Some(status) => {
                    return Err(format!(
                        "{} ended at once with {status}",
                        launch.program.display()
                    ));
                }
            }
        }
    }

    fn number(&self, started: Option<u32>) -> Result<u32, String> {
        if let Ok(number) = self.target.parse() {
            return Ok(started.unwrap_or(number));
        }
        let text = fs::read_to_string(&self.target)
            .map_err(|error| format!("{}: {error}", self.target))?;
        let first = text.lines().next().unwrap_or_default().trim();
        first.parse().map_err(|_| {
            format!(
                "{}: expected the number of a process in the first line",
                self.target
            )
        })
    }
}

impl Launch {
    fn of(number: u32) -> io::Result<Launch> {
        let folder = PathBuf::from(format!("/proc/{number}"));
        let parts = |name: &str| -> io::Result<Vec<OsString>> {
            let bytes = fs::read(folder.join(name))?;
            let parts = bytes
                .split(|byte| *byte == 0)
                .filter(|part| !part.is_empty());
            Ok(parts
                .map(|part| OsString::from_vec(part.to_vec()))
                .collect())
        };
        let variable = |text: OsString| {
            let mut name = text.into_vec();
            let at = name.iter().position(|byte| *byte == b'=')?;
            let value = name.split_off(at + 1);
            name.pop();
            Some((OsString::from_vec(name), OsString::from_vec(value)))
        };
        let owner = fs::metadata(&folder)?;
        Ok(Launch {
            program: fs::read_link(folder.join("exe"))?,
            arguments: parts("cmdline")?,
            environment: parts("environ")?.into_iter().filter_map(variable).collect(),
            folder: fs::read_link(folder.join("cwd"))?,
            user: owner.uid(),
            group: owner.gid(),
        })
    }

    /// The command that starts it again, in a process group of its own: it outlives this program and the keys that end it.
    fn command(&self) -> io::Result<Command> {
        let mut command = Command::new(&self.program);
        command
            .args(self.arguments.iter().skip(1))
            .env_clear()
            .envs(self.environment.iter().cloned());
        self.arguments.first().map(|name| command.arg0(name));
        command.current_dir(&self.folder).process_group(0);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if fs::metadata("/proc/self")?.uid() != self.user {
            command.gid(self.group).uid(self.user);
        }
        Ok(command)
    }
}

/// Signals processes; one that has ended meanwhile is no error.
fn send(signal: &str, to: &[u32]) -> io::Result<()> {
    let mut command = Command::new("kill");
    command
        .arg(format!("-{signal}"))
        .args(to.iter().map(u32::to_string));
    command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map(drop)
}

/// Waits until these have ended, but not longer than that. Returns whether they have.
fn has_ended(all: &[u32], patience: Duration) -> bool {
    let end = Instant::now() + patience;
    while all.iter().any(|number| is_running(*number)) {
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(TICK);
    }
    true
}

/// How a process has ended, if it has soon after it was started.
fn ended_at_once(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let end = Instant::now() + STARTING;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(TICK);
    }
    Ok(None)
}

/// The children of a process. O(processes).
fn children(of: u32) -> io::Result<Vec<u32>> {
    let numbers = fs::read_dir("/proc")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    Ok(numbers
        .filter(|number| status(*number).is_some_and(|(_, parent)| parent == of))
        .collect())
}

/// Whether it has not ended; one that only waits for its parent to notice has.
fn is_running(number: u32) -> bool {
    status(number).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// State and parent of a process: what follows its name, which may have spaces and parentheses.
fn status(number: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    let mut parts = text.rsplit_once(')')?.1.split_whitespace();
    Some((parts.next()?.chars().next()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_started_as_it_was() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("log");
        let script =
            "echo \"$WORD $1 $PWD $$\" >> log; trap 'kill $!; exit' TERM; sleep 1000 & wait";
        let mut first = Command::new("sh");
        first
            .args(["-c", script, "name", "two words"])
            .env("WORD", "said")
            .current_dir(folder.path());
        let mut first = first.spawn().expect("a shell");
        let said = || fs::read_to_string(&log).unwrap_or_default();
        let wait = |lines: usize| {
            while said().lines().count() < lines {
                std::thread::sleep(TICK);
            }
        };
        wait(1);
        let process = Process::new(&first.id().to_string());
        for (n, signal) in [(2, Signal::Kill), (3, Signal::Terminate)] {
            process.stop(signal).expect("it can be stopped");
            process.start().expect("it can be started");
            wait(n);
        }
        process.stop(Signal::Kill).expect("it can be stopped");
        first.wait().expect("it has ended");
        let text = said();
        let lines: Vec<(&str, &str)> = text
            .lines()
            .filter_map(|line| line.rsplit_once(' '))
            .collect();
        let expected = format!("said two words {}", folder.path().display());
        assert!(
            lines.len() == 3 && lines.iter().all(|(what, _)| *what == expected),
            "{text}"
        );
        assert!(
            lines.windows(2).all(|pair| pair[0].1 != pair[1].1),
            "other processes: {text}"
        );
    }

    #[test]
    fn what_is_no_process_is_said() {
        let stop = |target: &str| {
            Process::new(target)
                .stop(Signal::Kill)
                .expect_err("there is no such process")
        };
        assert!(
            stop("4000000000").contains("process 4000000000"),
            "{}",
            stop("4000000000")
        );
        assert!(stop("/no/such/file").contains("/no/such/file"));
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        fs::write(file.path(), "nothing\n").expect("it can be written");
        assert!(
            stop(&file.path().display().to_string()).contains("expected the number of a process")
        );
        assert_eq!(Process::new("1").start(), Ok(()), "it was not stopped");
    }
}
