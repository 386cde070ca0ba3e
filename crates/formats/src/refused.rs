//! Files that testers have and that are certainly no histories: why not.

use crate::{Input, Problem, ReadError};
use memchr::memmem;

/// Whether the first bytes are those of such a file, and why it is refused.
type Refusal = (fn(&[u8]) -> bool, &'static str);

const REFUSED: [Refusal; 3] = [
    (
        is_trace,
        "this is a trace of FoundationDB: traces say which keys were read and written and when, not what was read",
    ),
    (
        is_assertions,
        "this is a log of Antithesis: assertions, no operations",
    ),
    (
        is_page,
        "this is a page of Porcupine: its page has descriptions, not operations",
    ),
];

/// Fails if the first bytes are those of such a file.
pub(crate) fn check(input: &Input<'_>) -> Result<(), ReadError> {
    let head = input.head().trim_ascii_start();
    match REFUSED.iter().find(|(is_it, _)| is_it(head)) {
        Some((_, why)) => Err(ReadError::whole("", Problem::Other((*why).to_owned()))),
        None => Ok(()),
    }
}

/// Whether a field of this name, in JSON or XML, has a value that begins so.
fn has_field(head: &[u8], name: &[u8], value: &[u8]) -> bool {
    memmem::find_iter(head, name).any(|at| {
        let after = &head[at + name.len()..];
        let after = after
            .strip_prefix(b"\"")
            .unwrap_or(after)
            .trim_ascii_start();
        let sign = after.strip_prefix(b":").or(after.strip_prefix(b"="));
        sign.is_some_and(|after| after.trim_ascii_start().starts_with(value))
    })
}

fn is_trace(head: &[u8]) -> bool {
    matches!(head, [b'{' | b'<', ..]) && has_field(head, b"Type", b"\"TransactionTrace_")
}

fn is_assertions(head: &[u8]) -> bool {
    let first = head.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    first.is_some_and(|first| first.starts_with(b"\"antithesis_"))
        && has_field(head, b"\"antithesis_assert", b"{")
}

fn is_page(head: &[u8]) -> bool {
    let has = |text: &[u8]| memmem::find(head, text).is_some();
    let is_page = [&b"<!doctype html"[..], b"<html"]
        .iter()
        .any(|begin| head.len() >= begin.len() && head[..begin.len()].eq_ignore_ascii_case(begin));
    is_page && (has(b"<title>Porcupine</title>") || has(b"const data ="))
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_model::control::Control;

    #[test]
    fn what_is_certainly_no_history_is_refused_with_the_reason() {
        let trace = "traces say which keys were read and written and when, not what was read";
        let cases = [
            (
                r#"{ "Severity": "10", "Time": "1.5", "Type": "TransactionTrace_Get", "ID": "0" }"#,
                trace,
            ),
            (
                "<?xml version=\"1.0\"?>\n<Trace>\n<Event Severity=\"10\" Type=\"TransactionTrace_Commit\"/>",
                trace,
            ),
            (
                "\n{\"antithesis_sdk\": {}}\n{ \"antithesis_assert\": {\"assert_type\": \"always\"}}",
                "assertions, no operations",
            ),
            (
                "<!DOCTYPE html>\n<html>\n<head>\n<title>Porcupine</title>",
                "its page has descriptions, not operations",
            ),
            (
                "<html><script>const data = [{\"History\": []}]</script></html>",
                "its page has descriptions, not operations",
            ),
        ];
        for (text, why) in cases {
            let read = crate::read(&Input::new("", text.as_bytes()), None, &Control::new());
            let error = read.map(drop).expect_err(text).to_string();
            assert!(error.ends_with(why), "{error}");
        }
    }

    #[test]
    fn what_only_mentions_it_is_not() {
        let others = [
            "",
            "<html>",
            r#"{"Type": "Role", "Detail": "TransactionTrace_Get"}"#,
            r#"{"type": "ok", "value": "antithesis_assert"}"#,
            "{:type :ok}\n{\"antithesis_assert\": {\"hit\": true}}",
            "{:type :ok, :value \"const data =\"}",
        ];
        for text in others {
            assert!(check(&Input::new("", text.as_bytes())).is_ok(), "{text}");
        }
    }
}
