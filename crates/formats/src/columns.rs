//! Jepsen's operations in columns, separated by tabs: `history.txt`, and the lines of `jepsen.log`.
//!
//! ```text
//! 3  :invoke  :write  4
//! INFO  jepsen.util - 0  :invoke  :cas  [4 1]
//! INFO [2026-01-02 10:00:01,100] jepsen worker 3 - jepsen.util 3  :ok  :write  4
//! 2026-01-02 10:00:01,100{GMT}  INFO  [jepsen worker 0] jepsen.util: 3  :info  :write  4  :timed-out
//! ```
//!
//! Process, stage, function, value and perhaps an error, each in EDN. The order of lines is real time. In a log, other
//! lines are passed over.

use crate::elle::Scanner;
use crate::operations::{Operations, Tree};
use crate::watch::Watch;
use crate::{Format, Input, Likelihood, Problem, ReadError, workloads};
use isoscope_model::control::Control;
use isoscope_model::history::{FailedCasRule, History, Suggestions};
use memchr::memmem;
use std::borrow::Cow;

/// The row of `jepsen.log`, and of Porcupine's logs of an etcd register.
pub const LOG: Format = Format {
    name: "porcupine-etcd",
    aliases: &["porcupine-log", "jepsen-log"],
    extensions: &["log"],
    part_name: None,
    sniff: sniff_log,
    read: read_log,
    write: None,
};

/// The row of `history.txt`.
pub const HISTORY: Format = Format {
    name: "jepsen-columns",
    aliases: &["history-txt"],
    extensions: &["txt"],
    part_name: None,
    sniff: sniff_history,
    read: read_history,
    write: None,
};

/// The texts directly before operations in a log, of earlier and of later versions; other text may precede them.
const PREFIXES: [&[u8]; 2] = [b"jepsen.util - ", b"jepsen.util: "];

/// What loggers of the latest versions write there; they write it before other texts, too.
const PLAIN_PREFIX: &[u8] = b" jepsen.util ";

/// What follows the prefix of a line.
fn after_prefix(line: &[u8]) -> Option<usize> {
    let found = |prefix: &[u8]| memmem::find(line, prefix).map(|at| at + prefix.len());
    let plain = || found(PLAIN_PREFIX).filter(|&at| is_operation(&line[at..]));
    PREFIXES.into_iter().find_map(found).or_else(plain)
}

/// Whether a line begins with a process and a stage.
fn is_operation(line: &[u8]) -> bool {
    let process = line
        .iter()
        .take_while(|byte| !byte.is_ascii_whitespace())
        .count();
    let is_process = line.first() == Some(&b':') || line[..process].iter().all(u8::is_ascii_digit);
    process > 0 && is_process && line[process..].starts_with(b"\t:")
}

fn sniff_log(input: &Input<'_>) -> Likelihood {
    let is_operation = |line: &[u8]| after_prefix(line).is_some_and(|at| is_operation(&line[at..]));
    if input.head_lines().any(is_operation) {
        return Likelihood::Certain;
    }
    match memmem::find(input.head(), b"jepsen.util") {
        Some(_) => Likelihood::Perhaps,
        None => Likelihood::No,
    }
}

fn sniff_history(input: &Input<'_>) -> Likelihood {
    let is_typed = |line: &[u8]| {
        let mut columns = line.split(|&byte| byte == b'\t').skip(1);
        columns
            .next()
            .is_some_and(|stage| matches!(stage, b":invoke" | b":ok" | b":fail" | b":info"))
    };
    match input.head_lines().find(|line| line.contains(&b'\t')) {
        Some(line) if is_operation(line) && is_typed(line) => Likelihood::Certain,
        _ => Likelihood::No,
    }
}

fn read_log(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let is_old = memmem::find(input.head(), PREFIXES[0]).is_some();
    let failed_cas = if is_old {
        FailedCasRule::Observed
    } else {
        FailedCasRule::Dropped
    };
    read(input, LOG.name, after_prefix, failed_cas, control)
}

fn read_history(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let begin = |line: &[u8]| (!line.trim_ascii().is_empty()).then_some(0);
    read(input, HISTORY.name, begin, FailedCasRule::Dropped, control)
}

/// Reads lines; `begin` says where the columns of one begin.
fn read(
    input: &Input<'_>,
    format: &'static str,
    begin: fn(&[u8]) -> Option<usize>,
    failed_cas: FailedCasRule,
    control: &Control,
) -> Result<History, ReadError> {
    let bytes = crate::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let (mut operations, watch) = (Operations::of(input), Watch::new(format, control, 0));
    let mut scan = Scanner::<false>::new(format, bytes);
    let (mut start, mut number, mut passed) = (0, 0u64, 0u64);
    while start < bytes.len() {
        watch.at(start)?;
        number += 1;
        let end =
            memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        let line = &bytes[start..end];
        match begin(line) {
            Some(at) => {
                scan.move_to(&bytes[..end], start + at, number, start);
                let fields = columns(&mut scan)?;
                let line = scan.line();
                let taken = operations.take(fields, line);
                taken.or_else(|message| scan.fail_line(line, message))?;
            }
            None => passed += u64::from(!line.trim_ascii().is_empty()),
        }
        start = end + 1;
    }
    if operations.is_empty() {
        let expected = "operations like `INFO  jepsen.util - 0 :invoke :read nil`";
        let problem = Problem::Expected {
            expected,
            found: "none".to_owned(),
        };
        return Err(ReadError::whole(format, problem));
    }
    if passed > 0 {
        let remark = format!("Lines that are no operations: {passed}, passed over.");
        operations.around.remarks.push(remark);
    }
    let suggestions = Suggestions {
        failed_cas,
        ..Suggestions::default()
    };
    workloads::history(operations, input, format, suggestions, control)
}

/// The columns of a line as fields.
fn columns<'a>(scan: &mut Scanner<'a, false>) -> Result<Vec<(Tree<'a>, Tree<'a>)>, ReadError> {
    const COLUMNS: [&str; 4] = ["process", "type", "f", "value"];
    let mut fields = Vec::with_capacity(COLUMNS.len() + 1);
    let name = |name| Tree::Name(Cow::Borrowed(name));
    for column in COLUMNS {
        scan.blanks()?;
        fields.push((name(column), scan.tree()?));
    }
    let rest = scan.rest();
    let error = rest.trim_ascii();
    if !error.is_empty() {
        if !rest.starts_with(b"\t") {
            scan.blanks()?;
            return scan.fail("the end of the line");
        }
        let text = String::from_utf8_lossy(error).into_owned();
        fields.push((name("error"), Tree::Name(Cow::Owned(text))));
    }
    Ok(fields)
}

#[cfg(test)]
mod tests;
