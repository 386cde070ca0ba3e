//! Small inputs.

use super::*;
use isoscope_model::control::Control;
use isoscope_model::history::{History, OperationId, TransactionId, Value};

fn parse(text: &str) -> Result<History, String> {
    read::read(&Input::new("", text.as_bytes()), &Control::new()).map_err(|error| error.to_string())
}

fn wrapped(operations: &str) -> String {
    format!(
        "{{\"schema\":\"{SCHEMA}\",\"sessions\":[{{\"transactions\":[{{\"operations\":[{operations}]}}]}}]}}"
    )
}

#[test]
fn the_example_of_the_documentation_is_read() {
    let text = r#"
        {"schema": "isoscope.history/1", "made by": {"hand": [1, 2.5]},
         "initial": 0,
         "sessions": [
           {"name": "a",
            "transactions": [
              {"id": 7, "outcome": "committed", "start": -10, "end": 20,
               "operations": [["r", "x", 3], ["w", "x", 4],
                 ["r", "y", null], ["r", "z"]]}]},
           {"note": "no transactions"}]}"#;
    let history = parse(text).expect("valid");
    assert_eq!(
        (
            history.n_sessions(),
            history.n_transactions(),
            history.n_keys()
        ),
        (2, 1, 3)
    );
    assert_eq!(
        history.values(),
        [Value(3), Value(4), Value::INITIAL, Value::UNRECORDED]
    );
    assert_eq!(
        history.interval(TransactionId(0)).map(|i| (i.start, i.end)),
        Some((-10, 20))
    );
    assert_eq!(history.transaction_name(TransactionId(0)), "T7");
    assert_eq!(
        history.session_name(isoscope_model::history::SessionId(1)),
        "1"
    );
    let lines: Vec<_> = (0..4).map(|o| history.line_of(OperationId(o))).collect();
    assert_eq!(lines, [8, 8, 9, 9]);
}

#[test]
fn what_is_written_is_what_was_read() {
    let text = "{\"schema\":\"isoscope.history/1\",\"initial\":\"nil\",\"sessions\":[\n\
                {\"name\":\"a\\nb\",\"transactions\":[\n\
                {\"id\":\"T 1\",\"outcome\":\"unknown\",\"start\":1,\"end\":2,\"operations\":[[\"r\",18446744073709551615,\"nil\"],[\"w\",\"ü\",7]]},\n\
                {\"id\":\"7\",\"outcome\":\"aborted\",\"operations\":[]}]},\n\
                {\"name\":0,\"transactions\":[]}]}\n";
    let text = text.replace("\"id\":\"7\"", "\"id\":\"T7\"");
    let mut bytes = Vec::new();
    write::write(&parse(&text).expect("valid"), &mut bytes).expect("the schema can say everything");
    assert_eq!(String::from_utf8(bytes).expect("UTF-8"), text);
}

#[test]
fn lists_and_set_up_transactions_are_kept() {
    let text = "{\"schema\":\"isoscope.history/1\",\"initial\":null,\"sessions\":[\n\
                {\"name\":0,\"transactions\":[\n\
                {\"set_up\":true,\"operations\":[[\"w\",\"y\",5]]},\n\
                {\"outcome\":\"aborted\",\"operations\":[[\"a\",\"x\",1],[\"r\",\"x\",[]],[\"r\",\"x\",[1,\"one\",2]]]},\n\
                {\"operations\":[[\"n\",\"y\",5],[\"n\",\"y\",null],[\"a\",\"z\",-1],[\"r\",\"x\"],[\"r\",\"x\",null]]}]}]}\n";
    let history = parse(text).expect("valid");
    assert_eq!(history.set_up(), [TransactionId(0)]);
    let texts: Vec<String> = (0..9)
        .map(|o| history.operation_text(OperationId(o)))
        .collect();
    assert_eq!(
        texts.join("; "),
        "w(y) = 5; append(x) 1; r(x) = []; r(x) = [1 one 2]; r(y) ≠ 5; r(y) ≠ initial; append(z) -1; r(x) = ?; \
         r(x) = initial"
    );
    let mut bytes = Vec::new();
    write::write(&history, &mut bytes).expect("the schema can say everything");
    assert_eq!(String::from_utf8(bytes).expect("UTF-8"), text);
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        (
            wrapped("[\"r\",\"x\",1]").replace("/1", "/2"),
            "expected the schema `isoscope.history/1`, found `isoscope.history/2`",
        ),
        (
            "{\"data\":[]}".to_owned(),
            "expected the field \"schema\": \"isoscope.history/1\" first, found the field `data`",
        ),
        ("{}".to_owned(), "missing field `schema`"),
        (
            wrapped("[\"q\",\"x\",1]"),
            "invalid value: string \"q\", expected \"r\", \"w\", \"i\", \"d\", \"s\", \"a\" or \"n\"",
        ),
        (
            wrapped("[\"r\"]"),
            "invalid length 1, expected an operation like [\"r\", \"x\", 3]",
        ),
        (wrapped("[\"w\",\"x\"]"), "a write needs a value"),
        (
            wrapped("[\"w\",\"x\",1.5]"),
            "invalid type: floating point `1.5`, expected a string, an integer of 64 bits, null, a list or {\"absent\": true}",
        ),
        (wrapped("[\"d\",\"x\",1]"), "a delete has no value"),
        (
            wrapped("[\"s\",{},{}]"),
            "expected what a scan returned: `rows` or `keys`",
        ),
        (
            wrapped("[\"s\",{\"where\":[\"named\",\"p\"]},{\"keys\":[]}]"),
            "expected a predicate of the field `predicates`, before `sessions`, found `p`",
        ),
        (wrapped("[\"a\",\"x\",[1]]"), "a write needs a value"),
        (
            wrapped("[\"n\",\"x\"]"),
            "the value that was not read is missing",
        ),
        (
            wrapped("[\"r\",\"x\",[1,[2]]]"),
            "invalid type: sequence, expected a string or an integer of 64 bits",
        ),
        (
            wrapped("[\"w\",\"x\",1,2]"),
            "invalid length 4, expected an operation like [\"r\", \"x\", 3]",
        ),
        (
            wrapped("\n\n7"),
            "line 3: invalid type: integer `7`, expected an operation like [\"r\", \"x\", 3]",
        ),
        (
            "{\"schema\":\n\"isosc".to_owned(),
            "line 2, column 6: expected more JSON, found the end of the file",
        ),
        (
            format!("{}\n}}", wrapped("")),
            "line 2: trailing characters",
        ),
        (
            wrapped("").replace(
                "{\"transactions\"",
                "{\"name\":\"0\"},{\"name\":0,\"transactions\"",
            ),
            "two sessions are called `0`",
        ),
    ];
    for (text, message) in cases {
        let error = parse(&text).map(|_| ()).expect_err(&text);
        assert!(error.ends_with(message), "{text}: {error}");
        assert!(
            error.starts_with("line ") || text == "{}",
            "{text}: {error}"
        );
    }
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    let deep = format!("{{\"schema\":\"{SCHEMA}\",\"x\":{}", "[".repeat(1 << 20));
    assert!(parse(&deep).is_err());
}

#[test]
fn a_number_and_the_string_of_it_are_two_keys_and_two_values() {
    let text = wrapped(r#"["w","1",5],["r",1,"5"],["r","1",5],["w",-1,-2],["r","-1","-2"]"#);
    let history = parse(&text).expect("valid");
    assert_eq!(history.n_keys(), 4);
    let texts: Vec<String> = (0..5)
        .map(|o| history.operation_text(OperationId(o)))
        .collect();
    assert_eq!(
        texts,
        [
            "w(\"1\") = 5",
            "r(1) = \"5\"",
            "r(\"1\") = 5",
            "w(-1) = -2",
            "r(\"-1\") = \"-2\""
        ]
    );
    let mut bytes = Vec::new();
    write::write(&history, &mut bytes).expect("the schema can say everything");
    let again = String::from_utf8(bytes).expect("UTF-8");
    for operation in [
        "[\"w\",\"1\",5]",
        "[\"r\",1,\"5\"]",
        "[\"w\",-1,-2]",
        "[\"r\",\"-1\",\"-2\"]",
    ] {
        assert!(again.contains(operation), "{again}");
    }
}
