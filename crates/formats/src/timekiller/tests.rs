//! Small inputs.

use super::*;
use isoscope_model::control::Control;
use isoscope_model::history::{History, Interval, OperationId, SessionId, TransactionId};
use read::read;
use write::write;

fn parse(text: &str) -> Result<History, String> {
    read(&Input::new("", text.as_bytes()), &Control::new()).map_err(|error| error.to_string())
}

fn transaction(tid: &str, times: [&str; 2], operations: &str) -> String {
    let [start, end] = times;
    format!("{{\"cts\":{end},\n\"ops\":[{operations}],\"sid\":3,\"sts\":{start},\"tid\":{tid}}}")
}

fn texts(history: &History) -> Vec<String> {
    (0..history.n_operations())
        .map(|o| history.operation_text(OperationId::new(o)))
        .collect()
}

#[test]
fn registers_are_read_in_the_order_of_the_file() {
    let stamp = |p: &str, l: u64| format!("{{\"p\":{p},\"l\":{l}}}");
    let first = transaction(
        "7",
        [&stamp("\"20\"", 1), &stamp("21", 0)],
        "{\"t\":\"R\",\"k\":1},{\"t\":\"r\",\"k\":-2,\"v\":null}",
    );
    let second = transaction(
        "\"a\"",
        [&stamp("10", 0), &stamp("10", 3)],
        "{\"t\":\"write\",\"k\":1,\"v\":-5},{\"t\":\"w\",\"k\":1,\"v\":4}",
    );
    let history = parse(&format!("[{first},{second}]")).expect("valid");
    assert_eq!(
        texts(&history),
        ["r(1) = initial", "r(-2) = initial", "w(1) = -5", "w(1) = 4"]
    );
    let lines: Vec<_> = (0..4).map(|o| history.line_of(OperationId(o))).collect();
    assert_eq!(lines, [2, 2, 3, 3]);
    assert_eq!(history.session_name(SessionId(0)), "3");
    let names: Vec<_> = history
        .transactions()
        .map(|t| history.transaction_name(t))
        .collect();
    assert_eq!(names, ["T7", "a"]);
    assert_eq!(
        history.interval(TransactionId(0)),
        Some(Interval { start: 81, end: 84 })
    );
    assert_eq!(
        history.interval(TransactionId(1)),
        Some(Interval { start: 40, end: 43 })
    );
    assert_eq!(
        history.assumptions(),
        [
            "The times are the start and commit timestamps of the database; each is its physical part times 4 plus its \
          logical part."
        ]
    );
}

#[test]
fn timestamps_beyond_64_bits_keep_their_order() {
    let stamp = |p: &str, l: &str| format!("{{\"p\":{p},\"l\":{l}}}");
    let large = "9223372036854775807";
    let text = transaction("0", [&stamp(large, "0"), &stamp(large, large)], "");
    let history = parse(&format!(
        "[{text},{}]",
        transaction("1", [&stamp("-1", "0"), &stamp(large, "0")], "")
    ))
    .expect("valid");
    assert_eq!(
        history.interval(TransactionId(0)),
        Some(Interval { start: 1, end: 2 })
    );
    assert_eq!(
        history.interval(TransactionId(1)),
        Some(Interval { start: 0, end: 1 })
    );
}

#[test]
fn the_first_operation_that_shows_it_distinguishes_lists_from_registers() {
    let stamp = "{\"p\":1,\"l\":0}";
    let text = transaction(
        "0",
        [stamp, stamp],
        "{\"t\":\"r\",\"k\":1,\"v\":null},{\"t\":\"a\",\"k\":2,\"v\":5},{\"t\":\"read\",\"k\":2,\"v\":[5,-6]},{\"t\":\"r\",\"k\":1,\"v\":[]}",
    );
    let text = format!("[{text}]");
    let history = parse(&text).expect("valid");
    assert_eq!(
        texts(&history),
        ["r(1) = []", "append(2) 5", "r(2) = [5 -6]", "r(1) = []"]
    );
    assert_eq!(
        parse(&text.replace("\"a\"", "\"w\"")).map(|_| ()),
        Err("line 2, column 77: expected a value: an integer or null, found `[5,-6]`".to_owned())
    );
    assert_eq!(
        parse(&text.replace("[5,-6]", "5")).map(|_| ()),
        Err(
            "line 2, column 77: expected a list or null, as in the operations before, found `5`"
                .to_owned()
        )
    );
}

#[test]
fn what_is_written_is_what_was_read() {
    let registers = "[\n{\"tid\":\"T7\",\"sid\":0,\"sts\":{\"p\":-1,\"l\":0},\"cts\":{\"p\":5,\"l\":0},\"ops\":[{\"t\":\"w\",\"k\":1,\"v\":2},\
                     {\"t\":\"r\",\"k\":-3,\"v\":null}]},\n\
                     {\"tid\":\"a\\nb\",\"sid\":\"s\",\"sts\":{\"p\":1,\"l\":0},\"cts\":{\"p\":1,\"l\":0},\"ops\":[]}\n]\n";
    let lists = registers
        .replace("\"w\"", "\"a\"")
        .replace("null", "[4,-2]");
    for text in [registers, &lists] {
        let mut bytes = Vec::new();
        write(&parse(text).expect("valid"), &mut bytes).expect("sayable");
        assert_eq!(String::from_utf8(bytes).expect("UTF-8"), text);
    }
    for (text, what) in [
        ("a: [w 1 1]", "that it is not known when a1 ran"),
        ("a: [w x 1]@1..2", "the key `x`, which is no integer"),
        (
            "a: [r 1 0]@1..2",
            "the read r(1) = 0, because that would not be the initial version",
        ),
    ] {
        let error =
            write(&crate::text::parse(text).expect("valid"), &mut Vec::new()).expect_err(text);
        assert_eq!(
            error.to_string(),
            format!("the format timekiller cannot express {what}")
        );
    }
}

#[test]
fn errors_say_where_and_what() {
    let stamp = "{\"p\":1,\"l\":0}";
    let of = |operations: &str| format!("[{}]", transaction("0", [stamp, stamp], operations));
    for (text, message) in [
        (
            "{}".to_owned(),
            "line 1: expected an array of transactions, found `{}`",
        ),
        (
            "[{\"tid\":1}]".to_owned(),
            "line 1, column 2: missing field `sid`",
        ),
        (
            of("{\"t\":\"x\",\"k\":1}"),
            "line 2, column 13: expected \"r\", \"w\" or \"a\", found `\"x\"`",
        ),
        (
            of("{\"t\":\"w\",\"k\":1}"),
            "line 2, column 8: a write of null cannot be told from the initial version",
        ),
        (
            of("{\"t\":\"w\",\"k\":1,\"v\":1},{\"t\":\"a\",\"k\":1,\"v\":1}"),
            "line 2, column 35: expected \"r\" or \"w\" as in the operations before, found \"a\"",
        ),
        (
            of("").replace(":0}", ":-1}"),
            "line 2, column 35: expected the logical part of a timestamp: an integer from 0, found `-1`",
        ),
        (
            "[]".to_owned(),
            "empty file: a history with at least one operation or session was expected",
        ),
    ] {
        assert_eq!(parse(&text).map(|_| ()), Err(message.to_owned()), "{text}");
    }
}
