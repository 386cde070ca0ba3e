//! Small logs.

use super::write::write;
use super::*;
use isoscope_model::history::{Interval, OperationId, Rules, TransactionId};

fn parse(text: &str) -> Result<History, String> {
    read(&Input::new("J7.log", text.as_bytes()), &Control::new()).map_err(|error| error.to_string())
}

fn texts(history: &History) -> Vec<String> {
    (0..history.n_operations())
        .map(|o| history.operation_text(OperationId::new(o)))
        .collect()
}

#[test]
fn operations_of_every_kind_are_read() {
    let history = parse(
        "\u{feff}{\"value\": [[\"w\", 1, -5, true], [\"w\", 1, 6, false], [\"r\", \"k 1\", null, true]]}\r\n\n\
         {\"value\": [[\"i\", 2, 7, \"nil\", false, true], [\"d\", 2, 8, 7, true, true, true, \"d\"],\
         [\"range\", 1, \"nil\", [{\"id\": 1, \"sk\": 1, \"val\": -5}], [{\"id\": 2, \"val\": 8}], true]]}",
    )
    .expect("valid");
    assert_eq!(
        texts(&history),
        [
            "w(1) = -5",
            "r(k 1) = initial",
            "r(2) = initial",
            "w(2) = 7",
            "r(2) = 7",
            "w(2) = 8",
            "r(1) = -5",
            "r(2) = 8"
        ]
    );
    let lines: Vec<_> = (0..8).map(|o| history.line_of(OperationId(o))).collect();
    assert_eq!(lines, [1, 1, 3, 3, 3, 3, 3, 3]);
    assert_eq!(history.session_name(SessionId(0)), "7");
    assert_eq!(
        history.assumptions(),
        [
            "1 write that the log marks as without effect left out.",
            "1 range read: the rows returned count as read; that other keys of the range were absent is not used."
        ]
    );
}

#[test]
fn initial_values_are_those_stated_or_any_that_no_transaction_wrote() {
    let stated = "{\"preBeginTS\": 1, \"value\": [[\"w\", 1, 10, true]], \"isInitial\": true, \"isFinal\": false}\n\
                  {\"preBeginTS\": 3, \"postCommitTS\": 9, \"value\": [[\"r\", 1, 11, false]]}\n";
    let history = parse(stated)
        .expect("valid")
        .with_rules(&Rules::default())
        .expect("default rules fit");
    let key = history.keys()[0];
    assert_eq!(history.set_up(), [TransactionId(0)]);
    assert!(history.may_be_initial(key, Value(10)) && !history.may_be_initial(key, Value(11)));
    assert_eq!(history.interval(TransactionId(0)), None);
    assert_eq!(
        history.interval(TransactionId(1)),
        Some(Interval { start: 3, end: 9 })
    );
    let unstated = stated.replace(", \"isInitial\": true", "");
    let history = parse(&unstated)
        .expect("valid")
        .with_rules(&Rules::default())
        .expect("default rules fit");
    assert!(history.may_be_initial(key, Value(11)) && !history.may_be_initial(key, Value(10)));
    assert!(
        history.assumptions()[0].contains("since the log states no initial values"),
        "{:?}",
        history.assumptions()
    );
}

#[test]
fn a_folder_is_a_session_per_file() {
    let parts = [
        FilePart {
            name: "J2.log",
            bytes: b"{\"value\": []}\n",
        },
        FilePart {
            name: "J10.log",
            bytes: b"",
        },
        FilePart {
            name: "T1.log",
            bytes: b"?",
        },
    ];
    let history = read(&Input::folder("run", &parts), &Control::new()).expect("valid");
    assert_eq!((history.n_sessions(), history.n_transactions()), (2, 1));
    assert_eq!(history.origin().parts, ["J2.log", "J10.log"]);
    assert_eq!(
        history.assumptions(),
        ["Only the files J*.log of the folder are read; 1 other file left out."]
    );
    let parts = [
        parts[0],
        FilePart {
            name: "J3.log",
            bytes: b"\n{\"value\": [[]]}",
        },
    ];
    let error = read(&Input::folder("run", &parts), &Control::new())
        .map(|_| ())
        .expect_err("no operation");
    assert_eq!(
        error.to_string(),
        "J3.log: line 2, column 12: expected an operation like [\"r\", key, value, false], found `[]`"
    );
}

#[test]
fn what_is_written_is_what_was_read() {
    let log = "{\"preBeginTS\": 1, \"postBeginTS\": 1, \"preCommitTS\": 2, \"postCommitTS\": 2, \
               \"value\": [[\"w\", 1, -10, true], [\"r\", \"a\\\"\", null, false]], \"isInitial\": true}\n\
               {\"value\": []}\n";
    let files = write(&parse(log).expect("valid")).expect("sayable");
    assert_eq!(files, [("J7.log".to_owned(), log.as_bytes().to_vec())]);
}

#[test]
fn a_thin_air_read_is_not_made_an_initial_one() {
    let text = |text| crate::text::parse(text).expect("valid");
    for (history, what) in [
        (
            "initial: none\na: [r x 7]",
            "the read r(x) = 7, because a value that no transaction wrote would be the initial version",
        ),
        (
            "a: [r x 0, r x init]",
            "the read r(x) = initial, besides another word for the initial version",
        ),
        (
            "a: [w x 0]",
            "the write w(x) = 0, because the initial version has this value, too",
        ),
        ("a: [w x 1]!", "that a1 was aborted"),
        ("a: [w x one]", "the value one, which is no integer"),
    ] {
        let error = write(&text(history)).map(|_| ()).expect_err(history);
        assert_eq!(
            error.to_string(),
            format!("the format viper cannot express {what}")
        );
    }
    assert!(write(&text("a: [r x 0, w x 1] [r y init]")).is_ok());
}

#[test]
fn errors_say_where_and_what() {
    let objects = "a log with an object for each operation (JSONMop2), which Viper does not read either: \
                   log arrays like [\"r\", key, value, false] (JSONMop1)";
    for (text, message) in [
        (
            "{\"value\": [{\"opType\": \"r\", \"key\": 1}]}",
            format!("line 1, column 12: {objects}"),
        ),
        (
            "{\"opType\": \"r\", \"key\": 1}",
            format!("line 1: {objects}"),
        ),
        (
            "{\"value\": []}\n{}",
            "line 2: missing field `value`".to_owned(),
        ),
        (
            "{\"value\": [[\"w\", 1, 2, 1]]}",
            "line 1, column 24: expected whether it succeeded: true or false, found `1`".to_owned(),
        ),
        (
            "{\"value\": [[\"w\", 1, null, true]]}",
            "line 1, column 21: expected a value: an integer, found `null`".to_owned(),
        ),
        (
            "{\"value\": [[\"w\", 1,",
            "line 1, column 19: expected more JSON, found the end of the file".to_owned(),
        ),
        (
            "\n",
            "empty file: a history with at least one operation or session was expected".to_owned(),
        ),
    ] {
        assert_eq!(parse(text).map(|_| ()), Err(message), "{text}");
    }
}
