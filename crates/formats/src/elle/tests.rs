//! Small inputs.

use super::*;
use isoscope_model::history::{
    Interval, OperationId, OperationKind, Origin, Outcome, Rules, TransactionId, Value, ValueRule,
};

fn parse(text: &str) -> Result<History, String> {
    read_edn(&Input::new("", text.as_bytes()), &Control::new()).map_err(|error| error.to_string())
}

fn parse_json(text: &str) -> Result<History, String> {
    read_json(&Input::new("", text.as_bytes()), &Control::new()).map_err(|error| error.to_string())
}

/// A line per transaction: name, `!` or `?`, operations.
fn shown(history: &History) -> Vec<String> {
    let text = |t: TransactionId| {
        let operations: Vec<_> = history
            .operations_of(t)
            .map(|o| history.operation_text(o))
            .collect();
        let mark = match history.outcome(t) {
            Outcome::Committed => "",
            Outcome::Aborted => "!",
            Outcome::Unknown => "?",
        };
        format!(
            "{}{mark}: {}",
            history.transaction_name(t),
            operations.join(", ")
        )
    };
    history.transactions().map(text).collect()
}

fn lines(history: &History) -> Vec<u32> {
    (0..history.n_operations())
        .map(|o| history.line_of(OperationId::new(o)))
        .collect()
}

fn times(history: &History) -> Vec<(i64, i64)> {
    history
        .transactions()
        .filter_map(|t| history.interval(t))
        .map(|Interval { start, end }| (start, end))
        .collect()
}

fn written(history: &History, format: &'static str) -> Result<String, String> {
    let mut bytes = Vec::new();
    match crate::write(history, format, &mut bytes) {
        Ok(()) => Ok(String::from_utf8(bytes).expect("UTF-8")),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn operations_may_stand_in_any_shape() {
    let shapes = [
        "{:type :ok, :f :txn, :value [[:append 1 2] [:r 1 [2]]], :process 0}",
        "; why\n {:process,0 #_{:a [b]} #_ nil :value ((:append +1 2N)(:r 1 (2))):type :ok}",
        "[{:type :ok :value [[:append 1 2] [:r 1 [2]]] :process 0}]",
        "({:type :ok :error {:a #{1 (\\( \\newline)} \"b\\\"}\" 3/4 1.5M ##Inf} :value [[:append 1 2] [:r 1 [2]]] :process 0})",
        "#jepsen.history.Op{:index 0, :type :ok, :process 0, :value #x/y [#z [:append 1 2] [:r 1 #list [2]]]}",
        "{\"type\" 7 [1] 2 nil 3 :type :ok :process 0 :value [[:append 1 2] [:r 1 [2]]]}\r\n#_ ;x\n {:type :no} ;",
        "{:type :ok :process 0 :value [[:w 1 1]] :value [[:append 1 2] [:r 1 [2]]]}",
    ];
    for text in shapes {
        let history = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(shown(&history), ["S0#1: append(1) 2, r(1) = [2]"], "{text}");
        // A map that begins with a string looks like JSON.
        let likely = sniff_edn(&Input::new("", text.as_bytes())) >= Likelihood::Perhaps;
        assert!(likely || text.starts_with("{\""), "{text}");
    }
}

#[test]
fn an_invocation_is_completed_by_the_next_operation_of_its_process() {
    let text = "\
{:type :invoke :process 3 :value [[:append x 1] [:r x nil]]}
{:type :info :process :nemesis :value [[:n1 :n2] [:n3]]}
{:type :invoke :process 1 :value [[:append x 2] [:r x]]}
{:type :ok :process 3 :value [[:append x 1]
                              [:r x [1]]]}
{:type :info :process 1 :value [[:append x 2] [:r x nil]]}
{:type :ok :process 1 :value [[:r y nil] [:r x nil]]}
{:type :invoke :process 3 :value [[:append x 3] [:r x nil]]}
{:type :fail :process 3 :value nil}
{:type :invoke :process 3 :value [[:append x 4] [:r x nil]]}
{:type :invoke :process 3 :value [[:r x nil] [:r y nil]]}
{:type :fail :process 3 :value [[:r x [1 2]] [:r y nil]]}
{:type :invoke :process -2 :value [[:r x [9]] [:r x []]]}
{:type :info :process -2 :value [[:r x [9]] [:r x []]]}
{:type :invoke :process 3 :value []}
{:type :ok :process 3 :value []}";
    let history = parse(text).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "S1#1?: append(x) 2",
            "S1#2: r(y) = initial, r(x) = []",
            "S3#1: append(x) 1, r(x) = [1]",
            "S3#2!: append(x) 3",
            "S3#3?: append(x) 4",
            "S3#4!: r(x) = [1 2]",
            "S3#5: ",
            "S-2#1?: ",
        ]
    );
    assert_eq!(lines(&history), [6, 7, 7, 4, 5, 8, 10, 12]);
    assert_eq!(
        times(&history),
        [
            (2, 14),
            (4, 5),
            (0, 3),
            (6, 7),
            (8, 14),
            (9, 10),
            (13, 14),
            (11, 14)
        ]
    );
    assert_eq!(
        history.assumptions(),
        [
            "Invocations without completion: 1, their outcome is unknown.",
            "Real time is the order of operations in the file, as for Elle: no operation has a time. Times are places in \
             that order.",
        ]
    );
}

#[test]
fn times_count_where_they_agree_with_the_order() {
    let file = |times: [&str; 4]| {
        let [a, b, c, d] =
            times.map(|time| format!(":time {time} :value [[:append 1 {}]]}}\n", time.len()));
        format!(
            "{{:type :invoke :process 1 {a}{{:type :ok :process 1 {b}{{:type :invoke :process 2 {c}{{:type :ok :process 2 {d}"
        )
    };
    let parsed = |times| {
        let history = parse(&file(times)).expect("valid");
        let why = history
            .assumptions()
            .first()
            .and_then(|text| Some(text.split_once(": ")?.1.split_once('.')?.0.to_owned()));
        (super::tests::times(&history), why)
    };
    assert_eq!(parsed(["-5", "7", "8", "9"]), (vec![(-5, 7), (8, 9)], None));
    assert_eq!(parsed(["5", "7", "8", "8"]), (vec![(5, 7), (8, 8)], None));
    let order = |why: &str| (vec![(0, 1), (2, 3)], Some(why.to_owned()));
    assert_eq!(
        parsed(["5", "7", "7", "8"]),
        order("the time on line 3 contradicts it")
    );
    assert_eq!(
        parsed(["5", "7", "9", "8"]),
        order("the time on line 4 contradicts it")
    );
    assert_eq!(
        parsed(["0", "0", "0", "0"]),
        order("all operations have the same time")
    );
    assert_eq!(
        parsed(["5", "7", "nil", "8"]),
        order("the operation on line 3 has no time")
    );
    assert_eq!(
        parsed(["5", "7", "1.5", "8"]),
        order("the operation on line 3 has no time")
    );
}

#[test]
fn a_completion_without_invocation_began_after_the_answer_before() {
    let text = "{:type :ok :process 1 :value [[:w x 1]]} {:type :ok :process 2 :value [[:r x 1]]}\n\
                {:type :ok :process 2 :value [[:r x 1]]} {:type :ok :value []}";
    let history = parse(text).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "S1#1: w(x) = 1",
            "S2#1: r(x) = 1",
            "S2#2: r(x) = 1",
            "none#1: "
        ]
    );
    assert_eq!(times(&history), [(0, 0), (0, 1), (1, 2), (0, 3)]);
    assert_eq!(lines(&history), [1, 1, 2]);
}

#[test]
fn names_keep_their_form() {
    let edn = "{:type :ok :value [[:w :x 1] [:w x 1] [:w \"x\" 1] [:w \"x\\u0041\\n\" \"1\"] [:w -7 -1] [:w 007 +1] [:w \
               18446744073709551615 18446744073709551615] [:w 18446744073709551616N 9223372036854775808] [:w \\a true] [:r ü/b nil]]}";
    let history = parse(edn).expect("valid");
    let keys: Vec<_> = (0..history.n_keys())
        .map(|key| history.key_names().get(key))
        .collect();
    assert_eq!(
        keys,
        [
            ":x",
            "x",
            "\"x\"",
            "\"xA\\n\"",
            "-7",
            "007",
            "18446744073709551615",
            "18446744073709551616",
            "\\a",
            "ü/b"
        ]
    );
    let values: Vec<_> = history
        .values()
        .iter()
        .map(|&value| history.value_name(value))
        .collect();
    assert_eq!(
        values,
        [
            "1",
            "1",
            "1",
            "\"1\"",
            "-1",
            "1",
            "18446744073709551615",
            "9223372036854775808",
            "true",
            "initial"
        ]
    );
    let again = written(&history, "elle-edn").expect("sayable");
    assert_eq!(
        shown(&parse(&again).expect("valid")),
        [shown(&history)[0].replace("none#1", "S0#1")]
    );
    let key_names = |history: &History| -> Vec<String> {
        (0..history.n_keys())
            .map(|k| history.key_names().get(k))
            .collect()
    };
    assert_eq!(key_names(&parse(&again).expect("valid")), keys);

    let json = r#"[{"type":"ok","value":[["w","x",1],["w",7,1],["w","7",1],["w","\"7\"","-1"],["w",-7,1.50],["r","",null],["r","a\nü",true]]}]"#;
    let history = parse_json(json).expect("valid");
    assert_eq!(
        key_names(&history),
        ["x", "7", "\"7\"", "\"\"7\"\"", "-7", "", "a\nü"]
    );
    let again = written(&history, "elle-json").expect("sayable");
    assert_eq!(
        key_names(&parse_json(&again).expect("valid")),
        key_names(&history)
    );
    let edn = written(&history, "elle-edn").map(|_| ());
    assert_eq!(edn, Ok(()));
}

#[test]
fn numbers_that_come_before_names_stay_the_same_values() {
    let text = "{:type :ok :value [[:append x 1] [:r x [1 2 :three]]]}\n{:type :ok :value [[:append x 2] [:r x [1 2]]]}";
    assert_eq!(
        shown(&parse(text).expect("valid")),
        [
            "none#1: append(x) 1, r(x) = [1 2 :three]",
            "none#2: append(x) 2, r(x) = [1 2]"
        ]
    );
}

#[test]
fn single_registers_are_transactions_of_one_access() {
    let text = "\
[{:process 0 :type :invoke :f :write :value 4}
 {:process 1 :type :invoke :f :cas :value [4 5]}
 {:process 0 :type :ok :f :write :value 4}
 {:process 1 :type :ok :f :cas :value [4 5]}
 {:process 1 :type :invoke :f :cas :value [4 6]}
 {:process 1 :type :fail :f :cas :value [4 6]}
 {:process 1 :type :invoke :f :cas :value [4 7]}
 {:process 1 :type :fail :f :cas :value [4 7] :error :refused}
 {:process 1 :type :invoke :f :read :value nil}
 {:process 1 :type :ok :f :read :value 5}
 {:process 2 :type :invoke :f :read}
 {:process 2 :type :ok :f :read :value nil}
 {:process 2 :type :invoke :f :write :value 9}
 {:process 2 :type :info :f :write :value :timed-out}
 {:process 0 :type :invoke :f :read :value 5}]";
    let expected = [
        "S0#1: w(register) = 4",
        "S0#2?: ",
        "S1#1: r(register) = 4, w(register) = 5",
        "S1#2!: r(register) ≠ 4",
        "S1#3!: ",
        "S1#4: r(register) = 5",
        "S2#1: r(register) = initial",
        "S2#2?: w(register) = 9",
    ];
    let history = parse(text).expect("valid");
    assert_eq!(shown(&history), expected);
    assert_eq!(lines(&history), [3, 4, 4, 6, 10, 12, 14]);
}

#[test]
fn what_no_workload_knows_is_refused() {
    let cases = [
        (
            ":f :transfer :value {:from 1}",
            "`transfer`: their values, such as `{:from 1}`,",
        ),
        (
            ":f :read :value {0 :x}",
            "`read`: their values, such as `{0 :x}`,",
        ),
        (
            ":f :read :value #{1 2}",
            "`read`: their values, such as `#{1 2}`,",
        ),
        (":f :txn :value 7", "`txn`: their values, such as `7`,"),
        (
            ":f :read :value 1}\n{:type :ok :f :txn :value [[:r x 1]]",
            "`read`, `txn`: no workload has all of these words; their values, such as `1`,",
        ),
    ];
    for (operation, what) in cases {
        let text = format!(
            "{{:type :info :process :nemesis :f :start}}\n{{:type :ok :process 0 {operation}}}"
        );
        let message = format!("line 2: operations {what} fit no workload with them");
        assert_eq!(parse(&text).map(|_| ()), Err(message), "{operation}");
    }
    let strange = "{:type :ok :value [[:r 1 nil] [:inc 1 2]]}";
    assert!(parse(strange).is_err());
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        (
            "{:type :ok :value [[:w x 1]]",
            "line 1, column 29: expected `}`, found the end of the file",
        ),
        (
            "{:type :okay}",
            "line 1, column 8: expected :invoke, :ok, :fail or :info, found `:okay}`",
        ),
        (
            "{:type}",
            "line 1, column 7: expected :invoke, :ok, :fail or :info, found `}`",
        ),
        (
            "{:f :txn}",
            "line 1: expected an operation with :type, found none in this one",
        ),
        (
            "{:type :ok\n :value [[:w nil 1]]}",
            "line 2, column 14: expected a key: an integer, a keyword, a symbol, a string or a collection, found `nil 1]]}`",
        ),
        (
            "{:type :ok\n :value [[:w x]]}",
            "line 2, column 16: expected a value in front of the end, found `]}`",
        ),
        (
            "{:type :ok\n :value [[:w x nil]]}",
            "line 2, column 16: expected a value to write, found `nil]]}`",
        ),
        (
            "{:type :ok\n :value [[:w x 1 2]]}",
            "line 2, column 18: expected `]`, found `2]]}`",
        ),
        (
            "{:type :ok\n :value [[:r x #{1]]}",
            "line 2, column 19: expected a value, found `]]}`",
        ),
        (
            "{:type :ok\n :value [[:r {:a} 1]]}",
            "line 2, column 17: expected a value, found `} 1]]}`",
        ),
        (
            "{:type :ok\n :value [[:r x [nil]]]}",
            "line 2, column 17: expected an element of a list, found `nil]]]}`",
        ),
        (
            "{:type :ok :value [[:r x 1}]",
            "line 1, column 27: expected `]`, found `}]`",
        ),
        (
            "{:type :ok :process 99999999999999999999}",
            "line 1, column 21: expected a process: an integer of 64 bits, found `99999999999999999999}`",
        ),
        (
            "{:type :ok :error \"a\nb",
            "line 2, column 2: expected the end of a string, found the end of the file",
        ),
        (
            "{:type :ok :value [[:w x 1]]}\n[[1]]",
            "line 2, column 2: expected an operation like {:type :invoke, …}, found `[1]]`",
        ),
        (
            "{:type :ok :value [[:w x 1]]}\n{:type :ok :value [[:append x 2]]}",
            "line 2: here this key is a list, on line 1 it is a register",
        ),
        (
            "{:type :ok :value [[:w x @1]]}",
            "line 1, column 26: expected a value to write, found `@1]]}`",
        ),
        (
            "; nothing",
            "empty file: a history with at least one operation or session was expected",
        ),
        (
            "{:type :info :process :nemesis :f :start}\n{:type :ok :process :n1 :value [[:r x 1]]}",
            "expected operations of clients, whose processes are integers; found only such as `:n1`",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(parse(text).map(|_| ()), Err(message.to_owned()), "{text}");
    }
    let cases = [
        (
            "[{\"type\":\"ok\" \"f\":\"txn\"}]",
            "line 1, column 15: expected `,` or `}`, found `\"f\":\"txn\"}]`",
        ),
        (
            "[{\"type\":\"ok\",}]",
            "line 1, column 15: expected the name of a field, found `}]`",
        ),
        (
            "[{\"type\" \"ok\"}]",
            "line 1, column 10: expected `:`, found `\"ok\"}]`",
        ),
        (
            "[{\"type\":\"ok\",\"value\":[[\"r\",\"x\",01]]}]",
            "line 1, column 33: expected nil, a value or a list of values, found `01]]}]`",
        ),
        (
            "[{\"type\":\"ok\",\"value\":[[\"r\",[1],1]]}]",
            "line 1, column 29: expected a key: a number or a string, found `[1],1]]}]`",
        ),
        (
            "[{\"type\":\"ok\",\"value\":[[:r x]]}]",
            "line 1, column 25: expected a value, found `:r x]]}]`",
        ),
        (
            "[{\"type\":\"ok\"}\n",
            "line 2: expected `]`, found the end of the file",
        ),
        (
            "[]",
            "empty file: a history with at least one operation or session was expected",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(
            parse_json(text).map(|_| ()),
            Err(message.to_owned()),
            "{text}"
        );
    }
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    for begin in [
        "[",
        "{:a ",
        "{:type :ok :x ",
        "#_ ",
        "#a ",
        "{:type :ok :value [[:r x [1 ",
    ] {
        assert!(parse(&begin.repeat(200_000)).is_err(), "{begin}");
    }
    for begin in ["[", "{\"a\":", "{\"type\":\"ok\",\"x\":"] {
        assert!(parse_json(&begin.repeat(200_000)).is_err(), "{begin}");
    }
}

#[test]
fn json_is_one_array_or_an_object_a_line() {
    let operation = r#"{"type":"ok","f":"txn","value":[["append","x",1],["r","x",[1,2]],["r","y",null]],"process":5,"time":9}"#;
    for text in [
        format!("[{operation}]"),
        format!(" [ {operation} ]\n[{operation}]"),
        format!("{operation}\n"),
    ] {
        let history = parse_json(&text).expect("valid");
        assert_eq!(
            shown(&history),
            ["S5#1: append(x) 1, r(x) = [1 2], r(y) = initial"]
        );
        assert_eq!(
            sniff_json(&Input::new("", text.as_bytes())),
            Likelihood::Certain
        );
        let remark = "Only the first JSON array is read; what follows from line 2 on is not.";
        assert_eq!(
            history.assumptions().iter().any(|text| text == remark),
            text.contains("\n[")
        );
    }
}

#[test]
fn what_is_written_is_what_was_read() {
    let edn = "\
{:index 0, :type :invoke, :process 0, :time -3, :f :txn, :value [[:append x 1] [:r x nil] [:r :y nil]]}
{:index 1, :type :invoke, :process 2, :time 4, :f :txn, :value [[:w :y ab]]}
{:index 2, :type :ok, :process 0, :time 5, :f :txn, :value [[:append x 1] [:r x [1 2]] [:r :y nil]]}
{:index 3, :type :fail, :process 2, :time 5, :f :txn, :value [[:w :y ab]]}
{:index 4, :type :invoke, :process 2, :time 7, :f :txn, :value [[:append x 2] [:r x nil]]}
{:index 5, :type :info, :process 2, :time 9, :f :txn, :value [[:append x 2] [:r x []]]}
";
    let history = parse(edn).expect("valid");
    assert_eq!(written(&history, "elle-edn").as_deref(), Ok(edn));
    let json = written(&history, "elle-json").expect("sayable");
    assert!(json.starts_with(
        "[{\"index\":0,\"type\":\"invoke\",\"process\":0,\"time\":-3,\"f\":\"txn\",\"value\":[[\"append\",\"x\",1],"
    ));
    let again = parse_json(&json).expect("valid");
    assert_eq!(shown(&again), shown(&history));
    assert_eq!(times(&again), times(&history));
}

#[test]
fn the_order_of_what_is_written_says_what_the_times_say() {
    // One of a session may begin at the moment in which the one before it ends.
    let history =
        crate::text::parse("a: [w x 1]@0..5 [w x 2]@5..5 [w x 3]@5..6\nb: [w x 4]@5..9\n")
            .expect("valid");
    let again = parse(&written(&history, "elle-edn").expect("sayable")).expect("valid");
    let precedes = |history: &History| -> Vec<(String, String)> {
        let pairs = history
            .transactions()
            .flat_map(|s| history.transactions().map(move |t| (s, t)));
        let ends = |(s, t): &(TransactionId, TransactionId)| {
            let (Some(one), Some(other)) = (history.interval(*s), history.interval(*t)) else {
                return false;
            };
            history.session_of(*s) != history.session_of(*t) && one.end < other.start
        };
        let named = |t: TransactionId| {
            history
                .operations_of(t)
                .map(|o| history.operation_text(o))
                .collect::<String>()
        };
        pairs
            .filter(ends)
            .map(|(s, t)| (named(s), named(t)))
            .collect()
    };
    assert_eq!(precedes(&again), precedes(&history));
    // One that ended in doubt lasts on while its session goes on.
    let doubtful = parse(
        "{:type :invoke :process 0 :value [[:w x 1]]}{:type :invoke :process 0 :value [[:w x 2]]}",
    )
    .expect("valid");
    assert_eq!(times(&doubtful), [(0, 1), (1, 1)]);
    assert_eq!(
        shown(&parse(&written(&doubtful, "elle-edn").expect("sayable")).expect("valid")),
        shown(&doubtful)
    );
    let cases = [
        (
            "a: [w x 1]@0..5 [w x 2]@4..6",
            "that a1 and a2 of one session overlap in time",
        ),
        (
            "a: [w x 1]@5..6 [w x 2]",
            "that a2 has no times but others have",
        ),
        (
            "a: [w x 1]@0..5 [w x 2]@5..9\nb: [w x 3]@0..5 [w x 4]@5..9",
            "that a1 had not ended when b2 began, while others of their sessions end and begin at that moment",
        ),
        (
            "a: [r x 0] [w x 0]",
            "the read r(x) = 0, because this value is initial and written as well",
        ),
        (
            "a: [r x ?]",
            "the read r(x) = ?, whose result was not recorded",
        ),
        (
            "a: [r x init]?",
            "the read r(x) = initial, in a transaction of unknown outcome, where nil is no result",
        ),
        ("a: [w x 1]\nb:", "the session b, which has no transactions"),
        (
            "a: [w \"a b\" 1, w \"\\\"a b\\\"\" 1]",
            "that the keys `a b` and `\"a b\"` differ",
        ),
    ];
    for (text, what) in cases {
        let history = crate::text::parse(text).expect("valid");
        let message = format!("the format elle-edn cannot express {what}");
        assert_eq!(written(&history, "elle-edn"), Err(message), "{text}");
    }
}

/// Sessions of transactions on lists and registers, all of it sayable, with times or without.
fn random(random: &mut fastrand::Rng) -> History {
    let names = [
        "x",
        ":x",
        "\"x\"",
        "nil",
        "a b",
        "-7",
        "007",
        "+1",
        "",
        "ü",
        "\\a",
        "1.5",
        "#x",
        "::",
        "18446744073709551616",
    ];
    let mut builder = isoscope_model::history::Builder::new(Origin::default());
    let timed = random.bool();
    let mut clock = [0i64; 4];
    for n in 0..random.u64(1..12) {
        let s = random.usize(..clock.len());
        let session = builder.session_number(s as u64);
        let outcome = [
            Outcome::Committed,
            Outcome::Committed,
            Outcome::Aborted,
            Outcome::Unknown,
        ][random.usize(..4)];
        let draft = builder.transaction(session, outcome);
        if timed {
            let start = clock[s] + random.i64(1..5);
            clock[s] = start + random.i64(0..20);
            builder.set_interval(
                draft,
                Interval {
                    start,
                    end: clock[s],
                },
            );
        }
        for m in 0..random.u64(..4) {
            let named = random.usize(..names.len());
            let key = match random.u8(..3) {
                0 => builder.key_name(names[named]),
                _ => builder.key_number(random.u64(..6)),
            };
            let list = key.index() % 2 == 0;
            let value = match random.u8(..6) {
                0 => builder.value_name(names[random.usize(..names.len())]),
                _ => builder.value_number(n * 10 + m),
            };
            if list {
                builder.list_key(key);
            }
            match (random.bool(), list, outcome) {
                (true, true, _) => builder.list_read(draft, key, &[value][..random.usize(..2)], 0),
                (true, false, Outcome::Committed) if random.bool() => {
                    builder.operation(draft, OperationKind::Read, key, Value::INITIAL, 0);
                }
                (read, ..) => {
                    let kind = if read {
                        OperationKind::Read
                    } else {
                        OperationKind::Write
                    };
                    builder.operation(draft, kind, key, value, 0);
                }
            }
        }
    }
    builder.sort_sessions();
    builder.finish().expect("small")
}

#[test]
fn every_history_of_elle_survives() {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut refused = 0;
    // Few values are read as they were written: that is no sign of a poor log here.
    let exact = Rules {
        values: ValueRule::Exact,
        ..Rules::default()
    };
    let request = crate::Request {
        format: None,
        rules: Some(&exact),
    };
    for _ in 0..2000 {
        let history = random(&mut rng);
        for format in ["elle-edn", "elle-json"] {
            let text = match written(&history, format) {
                Ok(text) => text,
                Err(error) => {
                    assert!(
                        error.contains("differ") || error.contains("ended when"),
                        "{error}"
                    );
                    refused += 1;
                    continue;
                }
            };
            let input = Input::new("", text.as_bytes());
            let again = crate::read(&input, request, &Control::new())
                .unwrap_or_else(|error| panic!("{error} in\n{text}"));
            assert_eq!(again.origin().format, format);
            // The second time names have the form that they keep.
            let second =
                written(&again, format).unwrap_or_else(|error| panic!("{error} in\n{text}"));
            let third = crate::read(&Input::new("", second.as_bytes()), request, &Control::new())
                .expect("valid");
            assert_eq!(shown(&third), shown(&again), "{text}");
            assert_eq!(shown(&again).len(), shown(&history).len(), "{text}");
            let plain = |history: &History| -> Vec<_> {
                history
                    .transactions()
                    .map(|t| (history.outcome(t), history.operations_of(t).len()))
                    .collect()
            };
            assert_eq!(plain(&again), plain(&history), "{text}");
            if history.has_times()
                && history
                    .transactions()
                    .all(|t| history.outcome(t) != Outcome::Unknown)
            {
                let order = matches!(again.assumptions().first(), Some(text) if text.starts_with("Real time"));
                assert!(order || times(&again) == times(&history), "{text}");
            }
        }
    }
    assert!(refused < 400, "{refused}");
}

#[test]
fn cut_and_damaged_files_are_read_or_refused_in_one_line() {
    let edn = "\u{feff}; ü\n{:type :invoke, :f :txn, :value [[:append \"a\\nb\" 1] [:r :ü nil]], :process 0, :time 5}\r\n\
               #op{:type :ok, :error #{[1 2] {\\a #_x 3/4}}, :value [[:append \"a\\nb\" 1] [:r :ü (2 -3N)]], :process 0}";
    let edn = edn.replace("#_x ", "");
    let json = "[{\"type\":\"invoke\",\"f\":\"txn\",\"value\":[[\"w\",\"a\\u0041\",1],[\"r\",-5,null]],\"process\":0},\n\
                {\"type\":\"ok\",\"value\":[[\"w\",\"a\\u0041\",1],[\"r\",-5,7]],\"x\":{\"y\":[true,1e5]},\"process\":0}]\n";
    let etcd = "INFO  jepsen.util - 0\t:invoke\t:cas\t[4 1]\n2014 x\nINFO  jepsen.util - 0\t:fail\t:cas\t[4 1]\n";
    let kv = "{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x 0 0 y\"}\n\
              {:process 0, :type :ok, :f :append, :key \"0\", :value \"x 0 0 y\"}\n\
              {:process 0, :type :ok, :f :get, :key \"0\", :value \"x 0 0 y\"}\n";
    let files = [
        ("elle-edn", edn.as_str()),
        ("elle-json", json),
        ("porcupine-etcd", etcd),
        ("porcupine-kv", kv),
    ];
    let mut random = fastrand::Rng::with_seed(7);
    for (format, text) in files {
        let read = |bytes: &[u8], named: Option<&str>| {
            let read = crate::read(&Input::new("", bytes), named, &Control::new());
            if let Err(error) = &read {
                let error = error.to_string();
                assert!(!error.contains('\n') && error.len() < 500, "{error}");
            }
            read
        };
        let whole = read(text.as_bytes(), None).unwrap_or_else(|error| panic!("{format}: {error}"));
        assert_eq!(whole.origin().format, format);
        for len in 0..text.len() {
            let _ = read(&text.as_bytes()[..len], Some(format));
            let _ = read(&text.as_bytes()[..len], None);
        }
        for _ in 0..1000 {
            let mut damaged = text.as_bytes().to_vec();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..damaged.len());
                damaged[at] = random
                    .choice(*b"[](){}:#;,\"\\ \n\t0-n\xff")
                    .unwrap_or(b'x')
                    ^ u8::from(random.u8(..3) == 0);
            }
            let _ = read(&damaged, Some(format));
            let _ = read(&damaged, None);
        }
    }
}

#[test]
fn collections_are_keys_and_values_whatever_their_spelling() {
    let text = "\
{:type :ok :process 0 :value [[:append [:anti 3] 1] [:w {:b 2, :a (1 nil)} #{2 1}]]}
{:type :ok :process 1 :value [[:r (:anti, 3) [1]] [:r {:a [1 nil] :b 2} #{1 #_7 2}]]}
{:type :ok :process 2 :value [[:append l [1 \"x\"]] [:r l [[1 \"x\"] {}]] [:w v [1 2]] [:r v (1 2)] [:r v []]]}";
    let history = parse(text).expect("valid");
    let expected = [
        "S0#1: append([:anti 3]) 1, w({:a [1 nil] :b 2}) = #{1 2}",
        "S1#1: r([:anti 3]) = [1], r({:a [1 nil] :b 2}) = #{1 2}",
        "S2#1: append(l) [1 \"x\"], r(l) = [[1 \"x\"] {}], w(v) = [1 2], r(v) = [1 2], r(v) = []",
    ];
    assert_eq!(shown(&history), expected);
    let mut bytes = Vec::new();
    crate::write(&history, EDN.name, &mut bytes).expect("EDN has collections");
    let again =
        parse(&String::from_utf8(bytes).expect("UTF-8")).expect("what is written can be read");
    assert_eq!(shown(&again), expected);
}

#[test]
fn a_file_in_which_only_the_nemesis_acts_is_a_history_without_transactions() {
    let history =
        parse("{:type :info :process :nemesis :f :start}\n{:type :info :process :nemesis}")
            .expect("valid");
    assert_eq!((history.n_sessions(), history.n_transactions()), (0, 0));
    assert!(history.assumptions().is_empty());
    let incidents: Vec<_> = history
        .cluster()
        .incidents()
        .iter()
        .map(|i| (i.time, i.what.as_str()))
        .collect();
    assert_eq!(incidents, [(Some(0), "start"), (Some(1), "something")]);
}

/// Two spellings of the same operations: the one that most programs use, and another.
#[test]
fn the_usual_spelling_says_the_same_as_any_other() {
    let numbers = [
        "7",
        "0",
        "007",
        "-3",
        "123456789012345678",
        "9223372036854775807",
        "18446744073709551615",
        "7a",
    ];
    for key in numbers {
        for value in numbers {
            let usual = format!(
                "{{:type :ok, :process 0, :value [[:append {key} {value}] [:r {key} [{value}]] [:r {key} nil]]}}"
            );
            let other = usual
                .replace('[', "[ ")
                .replace(']', " ]")
                .replace(' ', ",");
            let register = format!(
                "{{:type :ok, :process 0, :value [[:w {key} {value}] [:r {key} {value}]]}}"
            );
            for (one, another) in [(&usual, other), (&register, register.replace(' ', "  "))] {
                let [one, another] = [parse(one), parse(&another)].map(|read| match read {
                    Ok(history) => format!("{:?} {:?}", shown(&history), lines(&history)),
                    // At another column.
                    Err(error) => error.rsplit(": ").next().unwrap_or_default().to_owned(),
                });
                assert_eq!(one, another, "{key} {value}");
            }
        }
    }
}

/// The history of a log, in words.
fn told(log: log::Log<'_>, input: &Input<'_>) -> String {
    let builder = Builder::new(input.origin(EDN.name));
    let history = history(log, builder, EDN.name).expect("a history");
    let (operations, lines, times) = (shown(&history), lines(&history), times(&history));
    let (assumptions, cluster) = (history.assumptions(), history.cluster());
    format!("{operations:?} {lines:?} {times:?} {assumptions:?} {cluster:?}")
}

/// What two files, one after the other, have in common and what only one of them has: keys and values with names,
/// lists that go on and that do not, nodes, the nemesis, fields that are not read, lines without operations.
#[test]
fn a_file_in_parts_is_the_same_as_at_once() {
    let lines = [
        "{:type :invoke, :process 0, :node n1, :value [[:append x 1] [:r y nil]]}",
        "{:type :ok, :process 0, :value [[:append x 1] [:r :y [a 2]]]} ; a comment\n",
        "{:type :invoke, :process :nemesis, :f :kill, :value [\"n1\"\n {:of 2}], :time 3}",
        "{:type :invoke, :process 1, :node n2,\n :value [[:r x nil] [:append \"k\" [1 2]]]}",
        "{:type :info, :process 1, :other 3, :value [[:r x nil] [:append \"k\" [1 2]]]}",
        "{:type :ok, :process 0, :node n3, :value [[:r x [1 b]] [:append :y a]]}",
        "{:type :ok, :process 2, :value [[:r x [1 b c]] [:append x b] [:append x c]]}",
        "#tag\n{:type :fail, :process 3, :value [[:append x d]]}",
        "{:type :ok, :process :helper, :value [[:r x [1 e]]]}",
        "{:type :ok, :process 2, :node n2, :value [[:r x [1 b]] [:r :y [a 2 9]] [:append :y 2]]}",
        "{:type :ok, :process 3, :value [[:r x [c]] [:append :y 9]]}",
    ];
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let n = rng.usize(2..12);
        let chosen: Vec<&str> = (0..n).map(|_| lines[rng.usize(..lines.len())]).collect();
        let text = chosen.join("\n");
        let input = Input::new("", text.as_bytes());
        let control = Control::new();
        let at_once = Reader::new(Scanner::<false>::new(EDN.name, text.as_bytes()))
            .file(&control)
            .expect("it can be read");
        if at_once.events.is_empty() {
            continue;
        }
        let expected = told(at_once, &input);
        for n in 2..6 {
            let Some(log) = parts::read_in(n, EDN.name, text.as_bytes(), &control) else {
                assert!(!text.starts_with('{') || text.contains("#tag"), "{text}");
                continue;
            };
            assert_eq!(told(log, &input), expected, "{n} parts of\n{text}");
        }
    }
}

/// What an invocation invoked is passed over until its answer is known; with commas between them it never is.
#[test]
fn invocations_that_wait_for_their_answer_lose_nothing() {
    let events = [
        "{:type :invoke, :process 0, :f :txn, :value [[:append 1 1] [:r 2 nil]]}",
        "{:type :invoke, :f :txn, :value [[:append 1 2] [:append 2 3]], :process 0}",
        "{:type :invoke, :value [[:r 1 nil] [:r 3 5]]}",
        "{:type :invoke, :process 1, :value [[:w 3 1] [:r 3 1]], :f :other}",
        "{:type :invoke, :process :nemesis, :value [[:r 1 nil] [:r 2 nil]]}",
        "{:type :ok, :process 0, :value [[:append 1 1] [:r 2 [3]]]}",
        "{:type :ok, :process 0}",
        "{:type :ok, :process 1, :value []}",
        "{:type :fail, :process 0, :value [[:append 1 2] [:append 2 3]]}",
        "{:type :info, :process 1, :value [[:w 3 1] [:r 3 7]]}",
        "{:type :info, :process 0}",
        "{:type :ok, :value [[:r 1 [1 2]] [:r 2 [3]]]}",
    ];
    for seed in 0..500 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let n = rng.usize(1..9);
        let chosen: Vec<&str> = (0..n).map(|_| events[rng.usize(..events.len())]).collect();
        let text = chosen.join("\n");
        let all = |text: &str| {
            parse(text).map(|history| {
                let (operations, lines) = (shown(&history), lines(&history));
                (operations, lines, times(&history))
            })
        };
        assert_eq!(all(&text), all(&text.replace("] [", "],[")), "{text}");
    }
}

#[test]
fn operations_of_any_kind_are_the_same_in_parts() {
    let line = |n: usize| match n % 5 {
        0 => "{:type :info, :process :nemesis, :f :start, :value nil}\n".to_owned(),
        1 => format!(
            "{{:type :invoke, :process {}, :f :add, :value {n}}}\n\n",
            n % 3
        ),
        _ => format!(
            "{{:type :ok, :process {}, :f :add, :node \"n{n}\",\n :value {n}}}\n",
            n % 3
        ),
    };
    let text: String = (0..200).map(line).collect();
    let (input, control) = (Input::new("", text.as_bytes()), Control::new());
    let shown = |operations: operations::Operations<'_>| {
        let incidents = operations
            .around
            .incidents
            .iter()
            .map(|incident| incident.place);
        (
            format!("{:?}", operations.events),
            incidents.collect::<Vec<_>>(),
        )
    };
    let whole = operations::read::<false>(&input, "", text.as_bytes(), &control);
    let whole = shown(whole.expect("a log"));
    for n in [2, 3, 7, 50] {
        let parts = parts::operations_in(n, &input, "", text.as_bytes(), &control);
        assert_eq!(shown(parts.expect("a log")), whole, "{n} parts");
    }
}
