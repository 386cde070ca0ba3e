//! Small inputs of every dialect.

use super::*;
use isoscope_model::history::{OperationId, SessionId, TransactionId};

fn parse(text: &str) -> Result<History, String> {
    read(&Input::new("", text.as_bytes()), &Control::new()).map_err(|error| error.to_string())
}

fn valid(text: &str) -> History {
    parse(text).expect("valid")
}

fn names(history: &History) -> Vec<String> {
    history
        .transactions()
        .map(|t| history.transaction_name(t))
        .collect()
}

#[test]
fn lines_of_one_transaction_may_stand_apart_and_blank_lines_count() {
    let history =
        valid("\u{feff}w(7,1,3,10)\r\n\r\nr(8,0,1,11)\r\n  w(8,2,3,10)  \r\n\nw(7,3,3,12)");
    assert_eq!(
        (
            history.n_sessions(),
            history.n_transactions(),
            history.n_keys()
        ),
        (2, 3, 2)
    );
    assert_eq!(history.session_name(SessionId(0)), "1");
    assert_eq!(names(&history), ["T11", "T10", "T12"]);
    let lines: Vec<_> = (0..4).map(|o| history.line_of(OperationId(o))).collect();
    assert_eq!(lines, [3, 1, 4, 6]);
    assert_eq!(history.operation_text(OperationId(2)), "w(8) = 2");
    assert_eq!(history.initial_value(), Some(Value(0)));
}

#[test]
fn stretches_of_transaction_minus_one_are_aborted_transactions() {
    let history = valid("w(1,1,0,-1)\nw(2,1,1,-1)\nr(2,1,0,-1)\nw(1,2,0,5)\nw(1,3,0,-1)\n");
    assert_eq!((history.n_sessions(), history.n_transactions()), (2, 4));
    let outcomes: Vec<_> = history.transactions().map(|t| history.outcome(t)).collect();
    assert_eq!(
        outcomes,
        [
            Outcome::Aborted,
            Outcome::Committed,
            Outcome::Aborted,
            Outcome::Aborted
        ]
    );
    assert_eq!(history.operation_range(TransactionId(0)).len(), 2);
    assert_eq!(names(&history), ["S0#1", "T5", "S0#3", "S1#1"]);
}

#[test]
fn the_initial_transaction_of_polysi_is_not_aborted() {
    let history = valid("w(1,0,-1,-1)\nw(1,5,2,3)\nw(2,0,-1,-1)\nw(1,6,2,-2)\n");
    assert!(
        history
            .transactions()
            .all(|t| history.outcome(t) == Outcome::Committed)
    );
    assert_eq!(history.session_name(SessionId(1)), "-1");
    assert_eq!(
        names(&history),
        ["T3", "T-2", "-11"].map(|name| name.replace("-11", "S-1#1"))
    );
}

#[test]
fn the_largest_numbers_are_read() {
    let history = valid(
        "w(18446744073709551615,18446744073709551609,9223372036854775807,9223372036854775807)",
    );
    assert_eq!(
        history.operation_text(OperationId(0)),
        "w(18446744073709551615) = 18446744073709551609"
    );
    assert_eq!(names(&history), ["T9223372036854775807"]);
    assert_eq!(
        valid("r(000000000000000000000007,0,0,0)")
            .key_names()
            .number(0),
        Some(7)
    );
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        ("xyz", "line 1: expected `r(` or `w(`, found `xyz`"),
        (
            "w(1,1,0,0)\n\nw",
            "line 3: expected `r(` or `w(`, found `w`",
        ),
        (
            "w(1,1,0,0)\nr(1,1,",
            "line 2, column 7: expected the number of a session, found the end of the file",
        ),
        (
            "w(1,1,0,0)\nr(1,1,0,1",
            "line 2, column 10: expected `)`, found the end of the file",
        ),
        (
            "r(1,1,0\nr(1,1,0,0)",
            "line 1, column 8: expected `,`, found the end of the line",
        ),
        (
            "r(1, 1,0,0)",
            "line 1, column 5: expected the number of a value, found ` 1,0,0)`",
        ),
        (
            "r(1,-1,0,0)",
            "line 1, column 5: expected the number of a value, found `-1,0,0)`",
        ),
        (
            "r(1,1,0,0)r(1,1,0,0)",
            "line 1, column 11: expected the end of the line, found `r(1,1,0,0)`",
        ),
        (
            "r(1,18446744073709551610,0,0)",
            "line 1, column 5: the number `18446744073709551610` is too large: values go up to 18446744073709551609",
        ),
        (
            "r(1,1,0,9223372036854775808)",
            "line 1, column 9: the number `9223372036854775808` is too large: transactions go up to 9223372036854775807",
        ),
        (
            "r(1,1,0,4)\nr(1,1,0,5)\nr(1,1,1,4)",
            "line 3: transaction 4 is in session 1 here but in session 0 on line 1",
        ),
        (
            "\n \n",
            "empty file: a history with at least one operation or session was expected",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(parse(text).map(|_| ()), Err(message.to_owned()), "{text}");
    }
}

#[test]
fn pieces_join_to_the_same_history_whatever_the_number_of_threads() {
    // More than a wave of pieces for one thread, transactions that go on in the next piece, blank lines in between.
    let mut text = String::new();
    for n in 0..600_000u64 {
        text.push_str(&format!(
            "{}({},{n},{},{})\n",
            if n % 3 == 0 { 'w' } else { 'r' },
            n * n % 1009,
            n % 7,
            n % 7000
        ));
        if n % 1000 == 999 {
            text.push('\n');
        }
    }
    assert!(text.len() > 40 * PIECE.0);
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| valid(&text))
    };
    let (one, three) = (of(1), of(3));
    assert_eq!(one.n_operations(), 600_000);
    assert_eq!(one.operation_text(OperationId(0)), "w(0) = 0");
    assert_eq!(
        (one.kinds(), one.keys(), one.values()),
        (three.kinds(), three.keys(), three.values())
    );
    assert_eq!(
        (one.key_names(), names(&one)),
        (three.key_names(), names(&three))
    );
    for o in (0..600_000).map(OperationId) {
        assert_eq!(one.line_of(o), three.line_of(o));
        // The value is the number of the operation in the file.
        let n = one.values()[o.index()].0 as u32;
        assert_eq!(one.line_of(o), n + n / 1000 + 1);
    }
    // An error far behind has the right line.
    text.push_str("r(1,2,3)\n");
    assert_eq!(
        parse(&text).map(|_| ()),
        Err("line 600601, column 8: expected `,`, found `)`".to_owned())
    );
}

#[test]
fn reading_stops_when_asked() {
    let control = Control::new();
    control.stop();
    let error = read(&Input::new("", b"r(1,0,0,0)"), &control)
        .map(|_| ())
        .expect_err("stopped");
    assert_eq!(
        error.interrupt(),
        Some(isoscope_model::control::Interrupt::Cancelled)
    );
}
