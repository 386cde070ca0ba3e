//! Databases reached through a program: one process for each session, JSON lines on its standard streams.
//! `docs/drivers.md` is the specification.
//!
//! Programs are started only from the command line (`--exec`), never because a file names one.

use super::driver::{Connection, Driver, Failure};
use super::protocol::Request;
use super::{CollectError, Database, Isolation};
use crate::generate::Key;
use isoscope_model::history::cut;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest answer, in bytes.
const LONGEST: u64 = 1 << 26;
/// Characters of an answer that a message shows.
const SHOWN: usize = 80;

const fn level(name: &'static str, promises: Option<&'static str>) -> Isolation {
    Isolation { name, promises }
}

/// The row of programs. It is not in the table of databases: an address in a file must never start one.
pub(super) static PROGRAM: Database = Database {
    name: "driver program",
    schemes: &[],
    example: "--exec COMMAND",
    isolations: &[
        level("serializable", Some("SER")),
        level("strict-serializable", Some("SSER")),
        level("snapshot-isolation", Some("SI")),
        level("repeatable-read", None),
        level("read-committed", Some("RC")),
        level("read-uncommitted", None),
    ],
    open: Some(open),
};

fn open(command: &str, isolation: &'static Isolation) -> Result<Box<dyn Driver>, CollectError> {
    if command.trim().is_empty() {
        return Err(CollectError::Address(
            "the command of the driver is empty".to_owned(),
        ));
    }
    let lists = AtomicBool::new(true);
    Ok(Box::new(Program {
        command: command.to_owned(),
        isolation: isolation.name,
        lists,
    }))
}

struct Program {
    command: String,
    isolation: &'static str,
    /// Whether it has lists, known after its first greeting.
    lists: AtomicBool,
}

impl Program {
    /// Starts the program; also its greeting.
    fn start(&self, read_only: bool) -> Result<(ProgramSession, Value), Failure> {
        let mut session = ProgramSession::start(&self.command)?;
        let greeting = session.ask(Request::hello(self.isolation, read_only))?;
        if !greeting["name"].is_string() {
            return Err(Failure::Broken(format!(
                "a greeting without a name: {}",
                shown(&greeting.to_string())
            )));
        }
        self.lists.store(
            greeting["lists"].as_bool().unwrap_or(false),
            Ordering::Relaxed,
        );
        Ok((session, greeting))
    }
}

impl Driver for Program {
    fn version(&self) -> Result<String, Failure> {
        let (_, greeting) = self.start(false)?;
        let word = |field: &str| greeting[field].as_str().unwrap_or_default().to_owned();
        Ok(format!("{} {}", word("name"), word("version"))
            .trim()
            .to_owned())
    }

    fn prepare(&self, registers: u64) -> Result<(), Failure> {
        let (mut session, _) = self.start(false)?;
        session.ask(Request::Prepare { registers }).map(drop)
    }

    fn connect(&self) -> Result<Box<dyn Connection>, Failure> {
        Ok(Box::new(self.start(false)?.0))
    }

    fn connect_read_only(&self) -> Result<Box<dyn Connection>, Failure> {
        Ok(Box::new(self.start(true)?.0))
    }

    fn has_lists(&self) -> bool {
        self.lists.load(Ordering::Relaxed)
    }
}

/// A running program, which ends with its session.
struct ProgramSession {
    process: Child,
    /// None once it is closed, which asks the program to end.
    requests: Option<ChildStdin>,
    answers: Receiver<Vec<u8>>,
}

impl ProgramSession {
    fn start(command: &str) -> Result<ProgramSession, Failure> {
        let failed = |error: std::io::Error| Failure::Broken(format!("{command}: {error}"));
        let mut shell = shell(command);
        let mut process = shell
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (requests, output) = (process.stdin.take(), process.stdout.take());
        let (sender, answers) = sync_channel(1);
        if let Some(output) = output {
            std::thread::spawn(move || forward(BufReader::new(output), &sender));
        }
        Ok(ProgramSession {
            process,
            requests,
            answers,
        })
    }

    /// Sends a request and waits for what its answer carries.
    fn ask(&mut self, request: Request<'_>) -> Result<Value, Failure> {
        let Some(requests) = &mut self.requests else {
            return Err(Failure::Broken("the driver ended".to_owned()));
        };
        let line = format!("{}\n", serde_json::json!(request));
        let sent = requests
            .write_all(line.as_bytes())
            .and_then(|()| requests.flush());
        sent.map_err(|error| Failure::Broken(format!("the driver takes no requests: {error}")))?;
        let answer = self.answers.recv_timeout(PATIENCE).map_err(|error| {
            Failure::Broken(match error {
                RecvTimeoutError::Timeout => {
                    format!(
                        "the driver did not answer {} within {} s",
                        line.trim_end(),
                        PATIENCE.as_secs()
                    )
                }
                RecvTimeoutError::Disconnected => {
                    format!("the driver ended before it answered {}", line.trim_end())
                }
            })
        })?;
        meaning(&answer)
    }

    fn tell(&mut self, request: Request<'_>) -> Result<(), Failure> {
        self.ask(request).map(drop)
    }
}

impl Drop for ProgramSession {
    fn drop(&mut self) {
        // Without a reader a program that heeds the end of its input ends by itself.
        self.requests = None;
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The command as the shell runs it; a simple one replaces the shell, so that ending the process ends the program.
fn shell(command: &str) -> Command {
    let (program, option) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("sh", "-c")
    };
    let is_simple = !cfg!(windows) && !command.contains([';', '|', '&', '\n', '(', '=']);
    let mut shell = Command::new(program);
    shell.arg(option).arg(if is_simple {
        format!("exec {command}")
    } else {
        command.to_owned()
    });
    shell
}

/// Passes lines on until there are no more, one is too long, or no one waits for them.
fn forward(mut output: impl BufRead, answers: &SyncSender<Vec<u8>>) {
    loop {
        let mut line = Vec::new();
        let read = output.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if !read.is_ok_and(|n| n > 0) || !line.ends_with(b"\n") || answers.send(line).is_err() {
            return;
        }
    }
}

/// What an answer carries: `{"ok": …}`, `{"aborted": "why"}` or `{"unknown": "why"}`. Anything else leaves all open.
fn meaning(line: &[u8]) -> Result<Value, Failure> {
    let broken = || {
        Failure::Broken(format!(
            "no answer of a driver: {}",
            shown(&String::from_utf8_lossy(line))
        ))
    };
    let Ok(Value::Object(mut answer)) = serde_json::from_slice(line) else {
        return Err(broken());
    };
    let why = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    match (
        answer.remove("ok"),
        answer.get("aborted"),
        answer.get("unknown"),
    ) {
        (Some(value), None, None) => Ok(value),
        (None, Some(reason), None) => Err(Failure::Refused(why(reason))),
        (None, None, Some(reason)) => Err(Failure::Broken(why(reason))),
        _ => Err(broken()),
    }
}

fn shown(text: &str) -> String {
    cut(text.trim(), SHOWN)
}

/// A value of a register; null is the initial one.
fn register(value: &Value) -> Result<u64, Failure> {
    match value {
        Value::Null => Ok(0),
        value => value
            .as_u64()
            .ok_or_else(|| Failure::Broken(format!("{} is no value", shown(&value.to_string())))),
    }
}

impl Connection for ProgramSession {
    fn begin(&mut self) -> Result<(), Failure> {
        self.tell(Request::Begin)
    }

    fn read(&mut self, key: Key) -> Result<u64, Failure> {
        register(&self.ask(Request::Read { key: key.0 })?)
    }

    fn write(&mut self, key: Key, value: u64) -> Result<(), Failure> {
        self.tell(Request::Write { key: key.0, value })
    }

    fn read_list(&mut self, key: Key) -> Result<Vec<u64>, Failure> {
        match self.ask(Request::ReadList { key: key.0 })? {
            Value::Null => Ok(Vec::new()),
            Value::Array(elements) => elements.iter().map(register).collect(),
            other => Err(Failure::Broken(format!(
                "{} is no list",
                shown(&other.to_string())
            ))),
        }
    }

    fn append(&mut self, key: Key, element: u64) -> Result<(), Failure> {
        self.tell(Request::Append {
            key: key.0,
            value: element,
        })
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.tell(Request::Commit)
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        self.tell(Request::Rollback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_say_what_is_known() {
        let refused = |text: &str| Err(Failure::Refused(text.to_owned()));
        assert_eq!(meaning(b"{\"ok\": [1, 2]}\n"), Ok(json!([1, 2])));
        assert_eq!(meaning(b"{\"ok\": null, \"note\": 1}\n"), Ok(Value::Null));
        assert_eq!(
            meaning(b"{\"aborted\": \"conflict\"}\n"),
            refused("conflict")
        );
        assert_eq!(
            meaning(b"{\"unknown\": \"lost\"}\n"),
            Err(Failure::Broken("lost".to_owned()))
        );
        // Two answers at once, or none, leave everything open.
        for line in ["{}", "", "{\"ok\": 1, \"unknown\": 2}", "[]", "{\"ok\": 1"] {
            assert!(
                matches!(meaning(line.as_bytes()), Err(Failure::Broken(_))),
                "{line}"
            );
        }
        assert_eq!(
            register(&json!(-1)).map_err(|f| f.to_string()),
            Err("-1 is no value".to_owned())
        );
    }
}
