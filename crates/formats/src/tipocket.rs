//! The history that TiPocket, a test of TiDB, records: one object of JSON a line.
//!
//! ```json
//! {"action": "call", "proc": 3, "time": "2020-07-01T10:00:00.5Z", "data":
//!   {"type": "invoke", "value": [{"type": "append", "m": {"key": "7", "value": 1}}, {"type": "read", "m": {"key": "8", "value": null}}]}}
//! {"action": "return", "proc": 3, "time": "2020-07-01T10:00:01.25Z", "data": {"Result":
//!   {"type": "ok", "value": [{"type": "append", "m": {"key": "7", "value": 1}}, {"type": "read", "m": {"key": "8", "value": [2]}}]}}}
//! {"action": "inject", "proc": -1, "time": "2020-07-01T10:00:02Z", "data": {"Name": "random_kill", "Ops": []}}
//! ```
//!
//! (Each is on one line.) `data` is an operation as of Elle; that of other tests is refused. `inject` and `recover` are
//! incidents, a `dump` of the state is passed over. An `unknown` answer, or none, is `info`; as its operation may still
//! take effect while the client goes on, what the client does afterwards is another session, `3/2`.

use crate::elle::Scanner;
use crate::error::escape;
use crate::operations::{Operations, Taker, Tree, take_all};
use crate::{Format, Input, Likelihood, ReadError, workloads};
use isoscope_model::control::Control;
use isoscope_model::history::{History, Suggestions, cut};
use memchr::memmem;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "tipocket",
    aliases: &[],
    extensions: &["log", "json"],
    part_name: None,
    sniff,
    read,
    write: None,
};

fn sniff(input: &Input<'_>) -> Likelihood {
    let head = input.head().trim_ascii_start();
    let has = |name: &[u8]| memmem::find(head, name).is_some();
    let begins = head.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let is_record = begins.is_some_and(|begins| begins.starts_with(b"\"action\""));
    match is_record && has(b"\"proc\"") && has(b"\"data\"") {
        true => Likelihood::Certain,
        false => Likelihood::No,
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = crate::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let mut records = Records {
        scan: Scanner::new(FORMAT.name, bytes),
        operations: Operations::of(input),
        connections: FxHashMap::default(),
        n_dumped: 0,
    };
    records.operations.has_named_clients = true;
    take_all(&mut records, control)?;
    let Records {
        mut operations,
        n_dumped,
        ..
    } = records;
    if n_dumped > 0 {
        let remark = format!("States that were dumped: {n_dumped}, passed over.");
        operations.around.remarks.push(remark);
    }
    workloads::history(
        operations,
        input,
        FORMAT.name,
        Suggestions::default(),
        control,
    )
}

type Fields<'a> = Vec<(Tree<'a>, Tree<'a>)>;

struct Records<'a> {
    scan: Scanner<'a, true>,
    operations: Operations<'a>,
    /// By client: how often it was not known how an operation ended.
    connections: FxHashMap<i64, u32>,
    n_dumped: u64,
}

impl<'a> Taker<'a, true> for Records<'a> {
    type Error = ReadError;

    fn scan(&mut self) -> &mut Scanner<'a, true> {
        &mut self.scan
    }

    fn take(&mut self) -> Result<(), ReadError> {
        let line = self.scan.line();
        if self.scan.peek() != Some(b'{') {
            return self.scan.fail("an object like {\"action\": \"call\", …}");
        }
        let record = self.scan.tree()?;
        let taken = self.record(&record).and_then(|fields| match fields {
            Some(fields) => self.operations.take(fields, line),
            None => Ok(()),
        });
        taken.or_else(|message| self.scan.fail_line(line, message))
    }

    fn remark(&mut self, remark: String) {
        self.operations.around.remarks.push(remark);
    }
}

impl<'a> Records<'a> {
    /// The fields of the operation that a record is, if it is one.
    fn record(&mut self, record: &Tree<'a>) -> Result<Option<Fields<'a>>, String> {
        let field = |name| record.field(name).cloned().unwrap_or(Tree::Nil);
        let (action, data) = (field("action"), field("data"));
        let time = match &field("time") {
            Tree::Name(time) => nanoseconds(time).map_or(Tree::Nil, workloads::number),
            _ => Tree::Nil,
        };
        let time = (word("time"), time);
        let is_call = match action.word() {
            Some("call") => true,
            Some("return") => false,
            Some("inject" | "recover") => {
                let what = data.field("Name").cloned().unwrap_or(data);
                return Ok(Some(vec![
                    (word("process"), word("nemesis")),
                    (word("f"), action),
                    (word("value"), what),
                    time,
                ]));
            }
            Some("dump") => {
                self.n_dumped += 1;
                return Ok(None);
            }
            _ => {
                return Err(format!(
                    "expected the action call, return, inject, recover or dump, found {}",
                    shown(&action)
                ));
            }
        };
        let client = field("proc").integer().ok_or_else(|| {
            format!(
                "expected `proc`, an integer of 64 bits, found {}",
                shown(&field("proc"))
            )
        })?;
        let n_lost = self.connections.entry(client).or_default();
        let process = match *n_lost {
            0 => workloads::number(client),
            n => Tree::Name(Cow::Owned(format!("{client}/{}", u64::from(n) + 1))),
        };
        let (stage, mut fields) = operation(&data)?;
        if is_call != (stage == "invoke") {
            return Err(format!(
                "the type `{stage}` does not go with the action {}",
                shown(&action)
            ));
        }
        *n_lost = n_lost.saturating_add(u32::from(stage == "info"));
        fields.extend([
            (word("process"), process),
            (word("type"), word(stage)),
            time,
        ]);
        Ok(Some(fields))
    }
}

fn word(word: &'static str) -> Tree<'static> {
    Tree::Name(Cow::Borrowed(word))
}

fn shown(tree: &Tree<'_>) -> String {
    escape(&cut(&tree.text(), 40))
}

/// The names of the fields of a map, or the text of anything else.
fn named(tree: &Tree<'_>) -> String {
    let Some(fields) = tree.fields() else {
        return format!("found `{}`", shown(tree));
    };
    let names = fields.iter().map(|(name, _)| format!("`{}`", shown(name)));
    let names: Vec<String> = names.collect();
    format!("found the fields {}", names.join(", "))
}

/// The stage and other fields of an operation of Elle.
fn operation<'a>(data: &Tree<'a>) -> Result<(&'static str, Fields<'a>), String> {
    if data.is_nil() {
        return Ok(("info", Vec::new()));
    }
    let inside = data
        .field("Result")
        .or(data.field("result"))
        .unwrap_or(data);
    let known = ["index", "process", "time", "type", "value", "error"];
    let is_known =
        |(name, _): &(Tree<'_>, Tree<'_>)| name.word().is_some_and(|name| known.contains(&name));
    let stage = match inside.field("type").and_then(Tree::word) {
        Some("invoke") => "invoke",
        Some("ok") => "ok",
        Some("fail") => "fail",
        Some("info" | "unknown") => "info",
        _ => "",
    };
    if stage.is_empty()
        || !inside
            .fields()
            .is_some_and(|fields| fields.iter().all(is_known))
    {
        let found = named(inside);
        return Err(format!(
            "expected `data` with the `type` and the `value` of an operation of Elle, {found}"
        ));
    }
    let value = match inside.field("value") {
        None | Some(Tree::Nil) => Tree::Nil,
        Some(Tree::List(all)) => Tree::List(all.iter().map(micro).collect::<Result<_, _>>()?),
        Some(other) => return Err(expected_micro(other)),
    };
    let error = inside.field("error").cloned().unwrap_or(Tree::Nil);
    let fields = vec![
        (word("f"), word("txn")),
        (word("value"), value),
        (word("error"), error),
    ];
    Ok((stage, fields))
}

fn expected_micro(found: &Tree<'_>) -> String {
    let found = named(found);
    format!(
        "expected a micro-operation like {{\"type\": \"read\", \"m\": {{\"key\": \"7\", \"value\": [1]}}}}, {found}"
    )
}

/// `{"type": "read", "m": {"key": "7", "value": [1]}}` as `["read" 7 [1]]`.
fn micro<'a>(tree: &Tree<'a>) -> Result<Tree<'a>, String> {
    let parts = (tree.field("type"), tree.field("m"));
    let (Some(word), Some(inside)) = parts else {
        return Err(expected_micro(tree));
    };
    let is_known = matches!(word.word(), Some("r" | "read" | "w" | "write" | "append"));
    let key = inside.field("key").filter(|key| key.is_single());
    let value = inside.field("value").unwrap_or(&Tree::Nil);
    let is_value = match value {
        Tree::List(all) => all.iter().all(Tree::is_single),
        value => value.is_nil() || value.is_single(),
    };
    let has_more = inside.fields().is_some_and(|fields| fields.len() > 2);
    match key {
        Some(key) if is_known && is_value && !has_more => Ok(Tree::List(
            [word.clone(), number(key), value.clone()].into(),
        )),
        Some(_) if is_known && !is_value => Err(expected_micro(value)),
        Some(_) if is_known => Err(expected_micro(inside)),
        _ => Err(expected_micro(tree)),
    }
}

/// A key, which is always a string there: as a number where it is one.
fn number<'a>(key: &Tree<'a>) -> Tree<'a> {
    let number = key
        .word()
        .and_then(|word| crate::name::number(word, u64::MAX));
    number.map_or_else(|| key.clone(), Tree::Number)
}

/// Nanoseconds since 1970 of a time as in RFC 3339: `2020-07-01T10:00:00.5+08:00`.
fn nanoseconds(text: &str) -> Option<i64> {
    let digits = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => text.parse::<i64>().ok(),
        false => None,
    };
    let at = |text: &str, from: usize, to: usize| digits(text.get(from..to)?);
    let (year, month, day) = (at(text, 0, 4)?, at(text, 5, 7)?, at(text, 8, 10)?);
    let (hour, minute, second) = (at(text, 11, 13)?, at(text, 14, 16)?, at(text, 17, 19)?);
    let rest = text.get(19..)?;
    let zone = rest.find(['Z', '+', '-'])?;
    let fraction = match rest[..zone].strip_prefix('.') {
        Some(fraction) if fraction.len() <= 9 => digits(&format!("{fraction:0<9}"))?,
        None if zone == 0 => 0,
        _ => return None,
    };
    let zone = &rest[zone..];
    let minutes = || Some(at(zone, 1, 3)? * 60 + at(zone, 4, 6)?);
    let ahead = match zone.as_bytes()[0] {
        b'Z' => 0,
        b'-' => -minutes()?,
        _ => minutes()?,
    };
    // Days of years that begin in March, from the year 0.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = days + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = days * 86_400 + hour * 3_600 + (minute - ahead) * 60 + second;
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests;
