//! Small inputs.

use super::*;
use isoscope_model::history::{OperationId, Outcome, SessionId, TransactionId, Value};

fn written(history: &History) -> String {
    let mut bytes = Vec::new();
    write::write(history, &mut bytes).expect("the notation can say everything");
    String::from_utf8(bytes).expect("the writer writes UTF-8")
}

#[test]
fn what_is_written_is_what_was_read() {
    let text = "initial: none\n\
                a: [r x 0, w y \"a b\"] [w x 2]! [r y init, r x ?]?@-5..7\n\
                \"initial\": T17 [] \"T 4\" [w \"\" -3]\n\
                empty:\n";
    let history = parse(text).expect("valid");
    assert_eq!(
        (
            history.n_sessions(),
            history.n_transactions(),
            history.n_operations()
        ),
        (3, 5, 6)
    );
    assert_eq!(history.initial_value(), None);
    let names: Vec<_> = history
        .transactions()
        .map(|t| history.transaction_name(t))
        .collect();
    assert_eq!(names, ["a1", "a2", "a3", "T17", "T 4"]);
    // One name makes all of them names.
    let again = written(&history);
    assert_eq!(
        again,
        text.replace(" [r x 0", " a1 [r x 0")
            .replace(" [w x 2]", " a2 [w x 2]")
            .replace(" [r y", " a3 [r y")
    );
    assert_eq!(written(&parse(&again).expect("valid")), again);
}

#[test]
fn lists_and_set_up_transactions_are_kept() {
    let text = "a: T1 [w y 5, w init 6]* T2 [a x 1, a x \"a b\"]*!@1..2\n\
                b: [r x [], r x [1 \"a b\" init], n y 5, n y init, n y \"init\", r x ?, r x init] \"*\" [a z 1]\n";
    let history = parse(text).expect("valid");
    let texts: Vec<String> = (0..history.n_operations())
        .map(|o| history.operation_text(OperationId::new(o)))
        .collect();
    assert_eq!(
        texts.join("; "),
        "w(y) = 5; w(init) = 6; append(x) 1; append(x) a b; r(x) = []; r(x) = [1 a b init]; r(y) ≠ 5; r(y) ≠ initial; \
         r(y) ≠ init; r(x) = ?; r(x) = initial; append(z) 1"
    );
    assert_eq!(history.set_up(), [TransactionId(0), TransactionId(1)]);
    assert!(history.may_be_initial(history.keys()[0], history.values()[0]));
    assert_eq!(history.outcome(TransactionId(1)), Outcome::Aborted);
    assert_eq!(written(&history), text.replace("b: [", "b: b1 ["));
    // A list makes it a list key, wherever it appears.
    let history = parse("a: [w x 1]\nb: [r x [1]]\nc: [w y 1]").expect("valid");
    assert_eq!(written(&history), "a: [a x 1]\nb: [r x [1]]\nc: [w y 1]\n");
}

#[test]
fn a_session_may_have_several_lines_and_zero_is_initial() {
    let history =
        parse("\u{feff}b: [w x 1] # first\r\n\r\n  a:[r x 0]\n#\nb:[r x 1]").expect("valid");
    assert_eq!(history.initial_value(), Some(Value(0)));
    let lines: Vec<_> = history
        .kinds()
        .iter()
        .enumerate()
        .map(|(o, _)| history.line_of(OperationId::new(o)))
        .collect();
    assert_eq!(lines, [1, 5, 3]);
    assert_eq!(history.session_name(SessionId(0)), "b");
}

#[test]
fn numbers_and_names_mix() {
    let history = parse("a: [w x 5, w x five, r x 5, r x 0]").expect("valid");
    let names: Vec<_> = history
        .values()
        .iter()
        .map(|&v| history.value_name(v))
        .collect();
    assert_eq!(names, ["5", "five", "5", "0"]);
    assert_eq!(history.values()[0], history.values()[2]);
    assert!(history.may_be_initial(history.keys()[3], history.values()[3]));
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        (
            "a",
            "line 1, column 2: expected `:` after the name of the session, found the end of the file",
        ),
        (
            "[w x 1]",
            "line 1: expected the name of a session, found `[w x 1]`",
        ),
        (
            "a: [r x 0]\nb: [r x",
            "line 2, column 8: expected a value, found the end of the file",
        ),
        (
            "a: [r x 0\nb: [r x]",
            "line 1, column 10: expected `,` or `]`, found the end of the line",
        ),
        (
            "a: [r x 0,]",
            "line 1, column 11: expected `r`, `w`, `i`, `d`, `s`, `a` or `n`, found `]`",
        ),
        (
            "a: [q x 0]",
            "line 1, column 5: expected `r`, `w`, `i`, `d`, `s`, `a` or `n`, found `q x 0]`",
        ),
        (
            "a: []!?",
            "line 1, column 7: expected `[` or the label of a transaction, found `?`",
        ),
        (
            "a: []@5",
            "line 1, column 7: expected two times like `10..20`, found `5`",
        ),
        (
            "a: [w x \"1]",
            "line 1, column 9: expected a value, found `\"1]`",
        ),
        (
            "a: [r x [1 2]",
            "line 1, column 14: expected `,` or `]`, found the end of the file",
        ),
        (
            "a: [r x [1, 2]]",
            "line 1, column 11: expected a value or `]`, found `, 2]]`",
        ),
        (
            "a: [r x [1 [2]]]",
            "line 1, column 12: expected a value or `]`, found `[2]]]`",
        ),
        (
            "a: [a x []]",
            "line 1, column 9: expected a value, found `[]]`",
        ),
        (
            "a: [n x ?]",
            "line 1, column 9: expected a value, found `?]`",
        ),
        (
            "a: []!*",
            "line 1, column 8: expected `[`, found the end of the file",
        ),
        (
            "a: [s (v > 3) {}]",
            "line 1, column 10: expected `=`, `<` or `mod`, found `> 3) {}]`",
        ),
        (
            "a: [s (v mod 3 = 3) {}]",
            "line 1, column 14: expected a remainder from 0 and below the divisor, found `3 = 3) {}]`",
        ),
        (
            "a: [s (p) {}]\npredicate p: x 1",
            "line 1, column 8: expected `v`, `key`, `not` or a predicate that a line above defines, found `p) {}]`",
        ),
        (
            "a: [s count 3]",
            "line 1, column 13: expected `{` or `keys`, found `3]`",
        ),
        (
            "a: [a x 1, s {x 1}]",
            "a key that holds a list is scanned or deleted, which only rows with single values can be",
        ),
        (
            "initial: 1 2",
            "line 1, column 12: expected the end of the line, found `2`",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(
            parse(text).map(|_| ()).map_err(|e| e.to_string()),
            Err(message.to_owned()),
            "{text}"
        );
    }
}
