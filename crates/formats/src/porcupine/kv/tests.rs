use super::*;

fn parse(text: &str) -> Result<History, String> {
    super::read(&Input::new("", text.as_bytes()), &Control::new())
        .map_err(|error| error.to_string())
}

/// `0 put k v` as an invocation and a completion; `?` after the process leaves the completion out.
fn file(calls: &[&str]) -> String {
    let mut text = String::new();
    for call in calls {
        let words: Vec<&str> = call.split(' ').collect();
        let [process, action, key, string] = words[..] else {
            panic!("{call}")
        };
        let number = process.trim_end_matches('?');
        let mut line = |stage: &str, string: &str| {
            text += &format!(
                "{{:process {number}, :type :{stage}, :f :{action}, :key \"{key}\", :value {string}}}\n"
            );
        };
        let quoted = format!("\"{string}\"");
        line("invoke", if action == "get" { "nil" } else { &quoted });
        if number == process {
            line("ok", &quoted);
        }
    }
    text
}

fn shown(history: &History) -> Vec<String> {
    let text = |t| {
        let operations: Vec<_> = history
            .operations_of(t)
            .map(|o| history.operation_text(o))
            .collect();
        format!("{} {}", history.transaction_name(t), operations.join(", "))
    };
    history.transactions().map(text).collect()
}

#[test]
fn appends_read_what_they_are_appended_to() {
    let calls = [
        "0 get 9 ",
        "0 append 9 <a>",
        "1? append 9 <b>",
        "2 append 9 <c>",
        "0 get 9 <a><b>",
        "3 put 9 <d>",
        "0 append 9 <e>",
        "0 get 9 <d><e>",
    ];
    let history = parse(&file(&calls)).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "S0#1 r(9) = initial",
            "S0#2 r(9) = initial, w(9) = <a>",
            "S0#3 r(9) = <b>",
            "S0#4 r(9) = <d>, w(9) = <e>",
            "S0#5 r(9) = <e>",
            "S1#1 r(9) = <a>, w(9) = <b>",
            "S2#1 w(9) = <c>",
            "S3#1 w(9) = <d>",
        ]
    );
}

#[test]
fn the_same_string_again_is_another_version() {
    let calls = [
        "0 append 9 <a>",
        "1 append 9 <b>",
        "2 get 9 <a><b>",
        "0 append 9 <a>",
        "2 get 9 <a><b><a>",
        "1 put 9 <c>",
        "0 append 9 <a>",
        "2 get 9 <c><a>",
    ];
    let history = parse(&file(&calls)).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "S0#1 r(9) = initial, w(9) = <a>",
            "S0#2 r(9) = <b>, w(9) = <a> (line 7)",
            "S0#3 r(9) = <c>, w(9) = <a> (line 13)",
            "S1#1 r(9) = <a>, w(9) = <b>",
            "S1#2 w(9) = <c>",
            "S2#1 r(9) = <b>",
            "S2#2 r(9) = <a> (line 7)",
            "S2#3 r(9) = <a> (line 13)",
        ]
    );
    // The put may have come before the first or between both.
    let mut text = String::new();
    for (process, stage, action, string) in [
        (0, "invoke", "append", "<a>"),
        (1, "invoke", "put", "<c>"),
        (0, "ok", "append", "<a>"),
        (0, "invoke", "append", "<a>"),
        (2, "invoke", "get", ""),
        (2, "ok", "get", "<c><a>"),
        (0, "ok", "append", "<a>"),
        (1, "ok", "put", "<c>"),
    ] {
        text += &format!(
            "{{:process {process}, :type :{stage}, :f :{action}, :key \"9\", :value \"{string}\"}}\n"
        );
    }
    let history = parse(&text).expect("valid");
    assert!(
        history.assumptions().len() == 1
            && shown(&history)
                .iter()
                .any(|shown| shown.starts_with("S2#1 r(9) = <a>"))
    );
}

#[test]
fn what_cannot_have_been_there_is_a_value_that_no_transaction_wrote() {
    for impossible in ["<a><x>", "<a><a>", "<b><a>", "<a><p>", "<a"] {
        let get = format!("0 get 9 {impossible}");
        let calls = [
            "0 append 9 <a>",
            "0 append 9 <b>",
            "0 append 8 <x>",
            "0 put 9 <p>",
            "1 get 9 <a><b>",
            &get,
        ];
        let history = parse(&file(&calls)).expect("valid");
        assert_eq!(shown(&history)[4], format!("S0#5 r(9) = {impossible}"));
    }
    let calls = [
        "0 append 9 <a>",
        "0 append 9 <b>",
        "1 get 9 <a><b>",
        "0 get 9 <b>",
    ];
    assert_eq!(
        shown(&parse(&file(&calls)).expect("valid"))[2],
        "S0#3 r(9) = \"<b>\""
    );
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        (
            file(&["0 put 9 a", "0 append 9 ab"]),
            "line 3: `ab` begins like what is written on line 1, so results do not tell which is there",
        ),
        (
            file(&["0 append 9 "]),
            "line 1: an empty string leaves no trace in a result: such files are not read",
        ),
        (
            "{:type :ok :f :put :key \"0\"}".to_owned(),
            "line 1: expected a string to write, found none",
        ),
        (
            "{:type :ok :f :put}".to_owned(),
            "line 1: expected an operation with :type, :f and :key",
        ),
        (
            "{:type :ok :f :cas}".to_owned(),
            "line 1, column 15: expected :get, :put or :append, found `:cas}`",
        ),
        (
            "{:type :ok\n :key 0}".to_owned(),
            "line 2, column 7: expected a key: a string, found `0}`",
        ),
        (
            "[]".to_owned(),
            "line 1: expected an operation like {:process 0, :type :invoke, …}, found `[]`",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(parse(&text).map(|_| ()), Err(message.to_owned()), "{text}");
    }
}

#[test]
fn a_result_that_no_order_explains_leaves_a_choice_that_is_said() {
    let calls = [
        "0 append 9 <a>",
        "1 put 9 <b>",
        "2 append 9 <a>",
        "2 get 9 <b><a>",
        "3 get 9 <a>",
    ];
    let history = parse(&file(&calls)).expect("valid");
    assert!(
        history
            .assumptions()
            .iter()
            .any(|said| said.contains("LIN and SSER are violated")),
        "{:?}",
        history.assumptions()
    );
    assert_eq!(shown(&history)[4], "S3#1 r(9) = <a>");
}
