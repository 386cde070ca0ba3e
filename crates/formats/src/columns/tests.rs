use super::*;
use isoscope_model::history::{Interval, OperationId, Outcome, SessionId, TransactionId, Value};

fn parse(text: &str) -> Result<History, String> {
    read_log(&Input::new("", text.as_bytes()), &Control::new()).map_err(|error| error.to_string())
}

fn line(text: &str) -> String {
    format!(
        "INFO  jepsen.util - {}\n",
        text.replace(' ', "\t").replace("_", " ")
    )
}

#[test]
fn each_operation_is_a_transaction() {
    let lines = [
        "0 :invoke :read nil",
        "1 :invoke :write 4",
        "0 :ok :read nil",
        ":nemesis :info :start nil",
        "1 :ok :write 4",
        "0 :invoke :cas [4_1]",
        "1 :invoke :cas [4_2]",
        "0 :ok :cas [4_1]",
        "1 :fail :cas [4_2]",
        "0 :invoke :write 7",
        "2 :invoke :read nil",
        "2 :fail :read :timed-out",
        "0 :info :write :timed-out",
        "3 :invoke :cas [7_9]",
        "1 :invoke :read nil",
        "1 :ok :read 1",
    ];
    let text: String = "2014 started\r\n".to_owned() + &lines.map(line).concat();
    // What a failed compare-and-set means is for rules to say.
    let history = parse(&text).expect("valid");
    let shown: Vec<String> = history
        .transactions()
        .map(|t| {
            let operations: Vec<_> = history
                .operations_of(t)
                .map(|o| history.operation_text(o))
                .collect();
            format!(
                "{} {:?} {}",
                history.transaction_name(t),
                history.outcome(t),
                operations.join(", ")
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "S0#1 Committed r(register) = initial",
            "S0#2 Committed r(register) = 4, w(register) = 1",
            "S0#3 Unknown w(register) = 7",
            "S1#1 Committed w(register) = 4",
            "S1#2 Aborted r(register) ≠ 4",
            "S1#3 Committed r(register) = 1",
            "S2#1 Aborted ",
            "S3#1 Unknown r(register) = 7, w(register) = 9",
        ]
    );
    assert_eq!(
        history.interval(TransactionId(0)),
        Some(Interval { start: 0, end: 2 })
    );
    assert_eq!(
        history.interval(TransactionId(2)),
        Some(Interval { start: 9, end: 15 })
    );
    assert_eq!(history.line_of(OperationId(1)), 9);
    assert_eq!(history.values()[0], Value::INITIAL);
    assert_eq!(history.session_name(SessionId(3)), "3");
    assert_eq!(history.outcome(TransactionId(4)), Outcome::Aborted);
    assert_eq!(
        history.assumptions(),
        [
            "Lines that are no operations: 1, passed over.".to_owned(),
            "Invocations without completion: 1, their outcome is unknown.".to_owned(),
            "Real time is the order of operations in the file, as for Elle: no operation has a time. Times are places in that order."
                .to_owned(),
        ]
    );
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        (
            "0 :start :read nil",
            "line 1: expected the type invoke, ok, fail or info, found :start",
        ),
        (
            "0 :ok :push 1",
            "line 1: operations `push`: no workload has these words; nearest: queue, --word push=enqueue",
        ),
        (
            "0 :ok :read",
            "line 1, column 32: expected a value, found the end of the file",
        ),
        (
            "0 :ok :read 1_2",
            "line 1, column 35: expected the end of the line, found `2`",
        ),
        (
            "0 :ok :read [1",
            "line 1, column 35: expected `]`, found the end of the file",
        ),
        (
            "0 :ok :write nil",
            "line 1: operations `write`: their values, such as `nil`, fit no workload with them",
        ),
        (
            "0 :ok :read #{1}",
            "line 1: operations `read`: their values, such as `#{1}`, fit no workload with them",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(
            parse(&line(text)).map(|_| ()),
            Err(message.to_owned()),
            "{text}"
        );
    }
    let none = "expected operations like `INFO  jepsen.util - 0 :invoke :read nil`, found none";
    assert_eq!(parse("started\n").map(|_| ()), Err(none.to_owned()));
}
