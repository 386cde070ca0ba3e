use super::*;
use isoscope_model::history::Interval;

const EXAMPLE: &str = "G-single-item #2
Let:
  T1 = {:index 31, :time 900, :type :ok, :process 6, :f :txn, :value [[:r 4 [20 21]] [:r 5 nil]]}
  T2 = {:index 12, :time 800, :type :ok,
        :process 1, :f :txn,
        :value [[:append 5 7] [:append 4 21]]}

Then:
  - T1 < T2: T1 saw no element of 5, and T2 appended 7 to it.
  - T2 < T1: T1 saw 21, which T2 had appended to 4.
";

const TIMED: &str = "Let:
T1 = {:type :ok, :process 3, :index 9, :value [[:r :x 1] [:w :y \"a\"]]}
T2 = {:type :info, :process 4, :index 4, :value [[:w :x 1] [:r :y nil]]}
T3 = {:type :ok, :process 3, :index 2, :value [[:r :z nil] [:r :w 5]]}
Then:
- T2 < T1, because T2 completed at index 4, 0.010 seconds before the invocation of T1, at index 8
- However, T3 < T1, because T3 completed at index 2, before the invocation of T4, at index 3: a contradiction!
";

fn parse(text: &str) -> Result<History, String> {
    let input = Input::new("", text.as_bytes());
    read(&input, &Control::new()).map_err(|error| error.to_string())
}

/// Session, transaction, outcome and operations, a line each.
fn shown(history: &History) -> Vec<String> {
    let line = |t| {
        let operations = history.operations_of(t);
        let operations: Vec<String> = operations.map(|o| history.operation_text(o)).collect();
        format!(
            "{}: {} {:?} {}",
            history.session_name(history.session_of(t)),
            history.transaction_name(t),
            history.outcome(t),
            operations.join(", ")
        )
    };
    history.transactions().map(line).collect()
}

#[test]
fn what_is_not_quoted_gets_a_writer_of_its_own() {
    let history = parse(EXAMPLE).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "1: T2 Committed append(5) 7, append(4) 21",
            "6: T1 Committed r(4) = [20 21], r(5) = []",
            "not quoted: append 4 20: not quoted: append 4 20 Committed append(4) 20",
        ]
    );
    assert!(!history.has_times());
    let assumptions = history.assumptions();
    assert_eq!(assumptions[0], EXCERPT);
    assert_eq!(assumptions.len(), 3, "{assumptions:?}");
}

#[test]
fn sentences_give_moments_and_indices_the_order_of_a_process() {
    let history = parse(TIMED).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "3: T3 Committed r(:z) = initial, r(:w) = 5",
            "3: T1 Committed r(:x) = 1, w(:y) = \"a\"",
            "4: T2 Unknown w(:x) = 1",
            "not quoted: write :w 5: not quoted: write :w 5 Committed w(:w) = 5",
        ]
    );
    let ran: Vec<_> = history
        .transactions()
        .map(|t| history.interval(t))
        .collect();
    let interval = |start, end| Some(Interval { start, end });
    // T4 is not quoted, so that sentence gives nothing.
    assert_eq!(
        ran,
        [
            interval(3, 9),
            interval(8, 9),
            interval(3, 4),
            interval(3, 9)
        ]
    );
}

#[test]
fn moments_that_contradict_each_other_say_less() {
    let text = "Let:
T1 = {:type :ok :value [[:w 1 1]]}
T2 = {:type :ok :value [[:r 1 1]]}
T1 completed at 7, just before the invocation of T2, at 9
T1 completed at 8, just before the invocation of T1, at 10
T2 completed at 5, just before the invocation of T2, at 9223372036854775807
T1 completed at 99999999999999999999, just before the invocation of T2, at 1";
    let history = parse(text).expect("valid");
    let ran: Vec<_> = history
        .transactions()
        .map(|t| history.interval(t))
        .collect();
    let whole = Interval {
        start: 4,
        end: i64::MAX,
    };
    assert_eq!(ran, [Some(whole), Some(whole)]);
    // Neither has a process.
    assert_eq!(history.n_sessions(), 2);
}

#[test]
fn only_the_first_of_several_explanations_is_read() {
    let other = EXAMPLE.replace("[20 21]", "[20 21 22]").replace("T2", "T3");
    let text = format!("{EXAMPLE}\n{other}\n{other}").replace('\n', "\r\n");
    let history = parse(&text).expect("valid");
    assert_eq!(shown(&history), shown(&parse(EXAMPLE).expect("valid")));
    let said =
        "The text explains 3 anomalies, each by transactions of its own; only the first is read.";
    assert_eq!(history.assumptions()[1], said);
}

#[test]
fn without_an_order_transactions_are_sessions_of_their_own() {
    let text = "Let:
T1 = {:type :ok, :process 3, :value [[:r :x 1]]}
T2 = {:type :fail, :process 3, :value [[:w :x 1]]}";
    assert_eq!(
        shown(&parse(text).expect("valid")),
        ["T1: T1 Committed r(:x) = 1", "T2: T2 Aborted w(:x) = 1"]
    );
}

#[test]
fn a_text_is_recognised() {
    let likelihood = |text: &str| sniff(&Input::new("a.txt", text.as_bytes()));
    assert_eq!(likelihood(EXAMPLE), Likelihood::Certain);
    assert_eq!(
        likelihood("Let:\r\n\r\n  T1 = #op{:type :ok}"),
        Likelihood::Certain
    );
    for other in [
        "",
        "Let:",
        "Let: [w x 1]",
        "Let:\nT = {}",
        "T1 = {}",
        "Let:\nT1 = 5",
    ] {
        assert_eq!(likelihood(other), Likelihood::No, "{other}");
    }
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        (
            "",
            "expected a line `Let:`, followed by transactions like `T1 = {:type :ok, …}`, found none",
        ),
        (
            "Let:\nThen:",
            "expected a line `Let:`, followed by transactions like `T1 = {:type :ok, …}`, found none",
        ),
        (
            "Let:\nT1 = {:type :ok",
            "line 2, column 16: expected `}`, found the end of the file",
        ),
        (
            "Let:\nT1 = {:type :ok} {",
            "line 2, column 18: expected the end of the line, found `{`",
        ),
        (
            "Let:\nT1 = {}",
            "line 2: expected the type ok, fail or info, found nil",
        ),
        (
            "Let:\nT1 = #{1}",
            "line 2, column 6: expected a map like {:type :ok, …}, found `#{1}`",
        ),
        (
            "Let:\nT1 = {:type :invoke}",
            "line 2: expected the type ok, fail or info, found :invoke",
        ),
        (
            "Let:\nT1 = {:type :ok}\nT1 = {:type :ok}",
            "line 3: `T1` is there twice",
        ),
        (
            "Let:\nT1 = {:type :ok, :value [[:rp x 1]]}",
            "line 2: expected micro-operations like `[[:r x [1 2]] [:append y 3]]`, found `[:rp x 1]`",
        ),
        (
            "Let:\nT1 = {:type :ok, :value [[:r x #{1}]]}",
            "line 2: expected micro-operations like `[[:r x [1 2]] [:append y 3]]`, found `[:r x #{1}]`",
        ),
        (
            "Let:\nT1 = {:type :ok, :value 7}",
            "line 2: expected micro-operations like `[[:r x [1 2]] [:append y 3]]`, found `7`",
        ),
        (
            "Let:\nT1 = {:type :ok, :value [[:r x 1]]}\nT2 = {:type :ok, :value [[:r x [1]]]}",
            "line 3: here a key is a list, on line 2 it is a register",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(parse(text).map(|_| ()), Err(message.to_owned()), "{text}");
    }
}

#[test]
fn damaged_texts_are_no_reason_to_panic() {
    for text in [EXAMPLE, TIMED] {
        for end in 0..text.len() {
            let _ = parse(&text[..end]);
        }
        for at in 0..text.len() * 8 {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at / 8] ^= 1 << (at % 8);
            let _ = read(&Input::new("", &bytes), &Control::new());
        }
    }
    let deep = format!("Let:\nT1 = {{:a {}", "[".repeat(100_000));
    assert!(parse(&deep).is_err());
}
