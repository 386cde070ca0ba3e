//! Operations of Porcupine, as Go marshals them, on a store of strings (MIT's course 6.5840: models1/kv.go).
//!
//! ```json
//! {"ClientId": 0, "Input": {"Op": 1, "Key": "x", "Value": "a"}, "Call": 0, "Output": {"Value": ""}, "Return": 10}
//! {"ClientId": 1, "Input": {"Op": 0, "Key": "x", "Value": ""}, "Call": 20, "Output": {"Value": "a"}, "Return": 30}
//! ```
//!
//! One after the other or in an array. `Op` is 0 for a get, 1 for a put, 2 for an append. Intervals are closed: what begins
//! when another ends is concurrent with it. A get of the empty string finds the absent value. With appends, strings are
//! read as in `porcupine-kv`. `Input` is whatever a model takes: one with other fields is refused.

use super::kv;
use crate::elle::Scanner;
use crate::error::escape;
use crate::operations::{Fields, Tree, read_by, shown};
use crate::{Format, Input, Likelihood, ReadError, tables};
use isoscope_model::control::Control;
use isoscope_model::history::{History, cut};
use std::borrow::Cow;

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "porcupine-operations",
    aliases: &["porcupine-json"],
    extensions: &["json", "jsonl"],
    part_name: None,
    sniff,
    read,
    write: None,
};

fn sniff(input: &Input<'_>) -> Likelihood {
    match has_typed_input(input.head()) {
        Some(false) => Likelihood::Certain,
        _ => Likelihood::No,
    }
}

/// Of a file of Porcupine's operations: whether the input of the first one has a type.
pub(crate) fn has_typed_input(head: &[u8]) -> Option<bool> {
    let mut scan = Scanner::<true>::new("", head);
    let close = scan.open_first_map()?;
    let (mut is_typed, mut has_call, mut first) = (None, false, true);
    while let Ok(true) = scan.more(close, &mut first) {
        let Ok(Some(name)) = scan.field() else { break };
        let begin = scan.at();
        let is_whole = scan.skip().is_ok();
        match name {
            "Input" if is_whole => {
                let text = scan.between(begin, scan.at());
                let tree = Scanner::<true>::new("", text.as_bytes()).tree().ok()?;
                is_typed = Some(tree.field("Type").is_some());
            }
            "Call" | "ClientId" | "Output" => has_call = true,
            _ => {}
        }
        if !is_whole {
            break;
        }
    }
    is_typed.filter(|_| has_call)
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = crate::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let mut has_appends = false;
    let operations = read_by::<true>(
        input,
        FORMAT.name,
        bytes,
        control,
        &mut |operations, fields, line| {
            let (fields, is_append) = call(fields)?;
            has_appends |= is_append;
            operations.take_call(fields, line)
        },
    )?;
    if has_appends {
        kv::history_of(operations, input, FORMAT.name, control)
    } else {
        tables::finish(operations, input, FORMAT.name, control)
    }
}

/// An operation in the fields of a call, and whether it is an append.
fn call(fields: Fields<'_>) -> Result<(Fields<'_>, bool), String> {
    let (mut input, mut output, mut call) = (Tree::Nil, Tree::Nil, Vec::new());
    for (field, value) in fields {
        match field.word() {
            Some("Input") => input = value,
            Some("Output") => output = value,
            Some("ClientId") => call.push((name("process"), value)),
            Some("Call") => call.push((name("start"), value)),
            Some("Return") => call.push((name("end"), value)),
            _ => call.push((field, value)),
        }
    }
    if call.iter().filter(|(field, _)| is_time(field)).count() != 2 {
        return Err("expected an operation with `Input`, `Output`, `Call` and `Return`".to_owned());
    }
    refuse_others("Input", &input, &["Op", "Key", "Value"])?;
    refuse_others("Output", &output, &["Value"])?;
    let op = input.field("Op").unwrap_or(&Tree::Nil);
    let word = match (op, op.word().map(str::to_ascii_lowercase).as_deref()) {
        (Tree::Number(0), _) | (_, Some("get")) => "read",
        (Tree::Number(1), _) | (_, Some("put")) => "write",
        (Tree::Number(2), _) | (_, Some("append")) => "append",
        _ => {
            let op = shown(op);
            return Err(format!(
                "expected the `Op` 0 (get), 1 (put) or 2 (append), found `{op}`"
            ));
        }
    };
    let key = string("Key", input.field("Key"))?;
    let key = key.ok_or("this operation has an empty `Key`")?;
    let value = match word {
        "read" => string("Value", output.field("Value"))?,
        _ => {
            let value = string("Value", input.field("Value"))?;
            let message = "what writes an empty string cannot be told from what does nothing";
            Some(value.ok_or(message)?)
        }
    };
    call.push((name("f"), name(word)));
    call.push((name("key"), key));
    call.push((name("value"), value.unwrap_or(Tree::Nil)));
    Ok((call, word == "append"))
}

fn name(name: &'static str) -> Tree<'static> {
    Tree::Name(Cow::Borrowed(name))
}

fn is_time(field: &Tree<'_>) -> bool {
    matches!(field.word(), Some("start" | "end"))
}

/// A string, which may look like a number; none if it is empty.
fn string<'a>(what: &str, value: Option<&Tree<'a>>) -> Result<Option<Tree<'a>>, String> {
    match value {
        Some(Tree::Name(_)) => {
            let word = value.and_then(Tree::word).unwrap_or_default();
            let number = crate::name::number(word, u64::MAX).map(Tree::Number);
            let string = number.unwrap_or_else(|| Tree::Name(Cow::Owned(word.to_owned())));
            Ok((!word.is_empty()).then_some(string))
        }
        Some(Tree::Number(number)) => Ok(Some(Tree::Number(*number))),
        Some(other) => Err(format!(
            "expected the {what}, a string, found `{}`",
            shown(other)
        )),
        None => Err(format!("this operation has no `{what}`")),
    }
}

/// Fails if a part of an operation has other fields than these.
fn refuse_others(what: &str, part: &Tree<'_>, known: &[&str]) -> Result<(), String> {
    let Some(fields) = part.fields() else {
        return Err(format!(
            "expected `{what}` with the fields `{}`, found `{}`",
            known.join("`, `"),
            shown(part)
        ));
    };
    let names = fields
        .iter()
        .map(|(name, _)| name.word().unwrap_or_default());
    if names.clone().all(|name| known.contains(&name)) {
        return Ok(());
    }
    let names: Vec<String> = names.take(10).map(|name| escape(&cut(name, 40))).collect();
    Err(format!(
        "`{what}` has the fields `{}`: of Porcupine's models only that of a store of strings is known, with `{}`",
        names.join("`, `"),
        known.join("`, `")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::tests::{damage, shown};

    fn parse(text: &str) -> Result<History, String> {
        let input = Input::new("", text.as_bytes());
        crate::read(&input, None, &Control::new()).map_err(|error| error.to_string())
    }

    /// An operation of a client: word, key, value, what came back.
    fn line(
        client: u32,
        input: (u32, &str, &str),
        output: &str,
        (call, end): (i64, i64),
    ) -> String {
        let (op, key, value) = input;
        format!(
            "{{\"ClientId\":{client},\"Input\":{{\"Op\":{op},\"Key\":\"{key}\",\"Value\":\"{value}\"}},\"Call\":{call},\
             \"Output\":{{\"Value\":\"{output}\"}},\"Return\":{end}}}\n"
        )
    }

    #[test]
    fn gets_and_puts_are_reads_and_writes() {
        let lines = [
            line(0, (1, "9", "5"), "", (0, 10)),
            line(1, (0, "9", ""), "", (10, 20)),
            line(0, (0, "9", ""), "5", (10, 40)),
        ];
        let history = parse(&lines.concat()).expect("valid");
        assert_eq!(history.origin().format, "porcupine-operations");
        assert_eq!(
            shown(&history),
            [
                "0 Committed 0–10 w(9) = 5",
                "0 Committed 10–40 r(9) = 5",
                "1 Committed 10–20 r(9) = initial",
            ]
        );
        let array = format!("[{}]", lines.join(","));
        assert_eq!(
            parse(&array).map(|again| shown(&again)),
            Ok(shown(&history))
        );
    }

    #[test]
    fn appends_read_what_they_append_to() {
        let lines = [
            line(0, (1, "x", "a"), "", (0, 10)),
            line(0, (2, "x", "b"), "", (20, 30)),
            line(1, (0, "x", ""), "ab", (30, 40)),
            line(2, (0, "x", ""), "", (0, 5)),
        ];
        let history = parse(&lines.concat()).expect("valid");
        assert_eq!(
            shown(&history),
            [
                "0 Committed 0–10 w(x) = a",
                "0 Committed 20–30 r(x) = a, w(x) = b",
                "1 Committed 30–40 r(x) = b",
                "2 Committed 0–5 r(x) = initial",
            ]
        );
    }

    #[test]
    fn errors_say_where_and_what() {
        let put = line(0, (1, "x", "a"), "", (0, 10));
        let cases = [
            (
                put.replace("\"Op\":1", "\"Op\":3"),
                "line 1: expected the `Op` 0 (get), 1 (put) or 2 (append), found `3`",
            ),
            (
                put.replace("\"Op\":1", "\"Op\":1,\"Version\":2"),
                "line 1: `Input` has the fields `Op`, `Version`, `Key`, `Value`: of Porcupine's models only that of a store of \
                 strings is known, with `Op`, `Key`, `Value`",
            ),
            (
                put.replace("\"Value\":\"a\"", "\"Value\":\"\""),
                "line 1: what writes an empty string cannot be told from what does nothing",
            ),
            (
                put.replace("\"Return\":10", "\"Return\":-1"),
                "line 1: this operation ends, at -1, before it begins, at 0",
            ),
            (
                put.replace("\"Return\":10", "\"End\":1"),
                "line 1: expected an operation with `Input`, `Output`, `Call` and `Return`",
            ),
            (
                put.replace("{\"Value\":\"\"}", "null"),
                "line 1: expected `Output` with the fields `Value`, found `nil`",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(parse(&text).map(|_| ()), Err(message.to_owned()), "{text}");
        }
        damage(
            (put.clone() + &put.replace("\"Op\":1", "\"Op\":2")).as_bytes(),
            FORMAT.name,
        );
    }
}
