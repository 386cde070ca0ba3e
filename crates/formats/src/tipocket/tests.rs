use super::*;
use isoscope_model::history::Interval;

const EXAMPLE: &str = r#"{"action":"dump","proc":0,"time":"2020-07-01T09:59:59Z","data":null}
{"action":"call","proc":3,"time":"2020-07-01T10:00:00.5Z","data":{"index":null,"process":null,"time":"2020-07-01T10:00:00Z","type":"invoke","value":[{"type":"append","m":{"key":"7","value":1}},{"type":"read","m":{"key":"x","value":null}}]}}
{"action":"call","proc":4,"time":"2020-07-01T10:00:00.75Z","data":{"type":"invoke","value":[{"type":"append","m":{"key":"7","value":2}}]}}
{"action":"inject","proc":-1,"time":"2020-07-01T10:00:00.8Z","data":{"Name":"random_kill","Ops":[]}}
{"action":"return","proc":3,"time":"2020-07-01T12:00:01+02:00","data":{"Result":{"type":"ok","value":[{"type":"append","m":{"key":"7","value":1}},{"type":"read","m":{"key":"x","value":[2]}}]}}}
{"action":"return","proc":4,"time":"2020-07-01T10:00:02Z","data":{"Result":{"type":"unknown","value":[{"type":"append","m":{"key":"7","value":2}}],"error":"invalid connection"}}}
{"action":"recover","proc":-1,"time":"2020-07-01T10:00:02.5Z","data":"random_kill"}
{"action":"call","proc":4,"time":"2020-07-01T10:00:03Z","data":{"type":"invoke","value":[{"type":"append","m":{"key":"x","value":2}}]}}
{"action":"return","proc":4,"time":"2020-07-01T10:00:04Z","data":{"Result":{"type":"fail","value":[{"type":"append","m":{"key":"x","value":2}}]}}}
{"action":"call","proc":3,"time":"2020-07-01T10:00:05Z","data":{"type":"invoke","value":[{"type":"r","m":{"key":"7"}}]}}
{"action":"return","proc":3,"time":"2020-07-01T10:00:06Z","data":null}
"#;

fn parse(text: &str) -> Result<History, String> {
    let input = Input::new("", text.as_bytes());
    read(&input, &Control::new()).map_err(|error| error.to_string())
}

#[test]
fn operations_of_elle_are_transactions() {
    let history = parse(EXAMPLE).expect("valid");
    let line = |t| {
        let operations = history.operations_of(t);
        let operations: Vec<String> = operations.map(|o| history.operation_text(o)).collect();
        let session = history.session_name(history.session_of(t));
        format!(
            "{session} {:?} {}",
            history.outcome(t),
            operations.join(", ")
        )
    };
    let shown: Vec<String> = history.transactions().map(line).collect();
    assert_eq!(
        shown,
        [
            "3 Committed append(7) 1, r(x) = [2]",
            "3 Unknown ",
            "4 Unknown append(7) 2",
            "4/2 Aborted append(x) 2",
        ]
    );
    let second = |tenths: i64| (1_593_597_600 * 10 + tenths) * 100_000_000;
    let first = history
        .transactions()
        .next()
        .and_then(|t| history.interval(t));
    let (start, end) = (second(5), second(10));
    assert_eq!(first, Some(Interval { start, end }));
    let incidents: Vec<(&str, &str)> = history
        .cluster()
        .incidents()
        .iter()
        .map(|incident| (&*incident.what, &*incident.detail))
        .collect();
    assert_eq!(
        incidents,
        [("inject", "random_kill"), ("recover", "random_kill")]
    );
    assert_eq!(
        history.assumptions(),
        ["States that were dumped: 1, passed over."]
    );
}

#[test]
fn times_are_those_of_rfc_3339() {
    let cases = [
        ("1970-01-01T00:00:00Z", Some(0)),
        ("1969-12-31T23:59:59.999999999Z", Some(-1)),
        ("2000-02-29T00:00:00+00:00", Some(951_782_400_000_000_000)),
        (
            "2000-03-01T01:30:00.25+01:30",
            Some(951_868_800_250_000_000),
        ),
        ("9999-01-01T00:00:00Z", None),
        ("2000-02-29T00:00:00", None),
        ("2000-02-29T00:00:00.1234567890Z", None),
        ("2000-02-29T00:00:00+", None),
        ("2000-02-29", None),
        ("", None),
    ];
    for (text, expected) in cases {
        assert_eq!(nanoseconds(text), expected, "{text}");
    }
}

#[test]
fn a_record_is_recognised() {
    let likelihood = |text: &str| sniff(&Input::new("a.log", text.as_bytes()));
    assert_eq!(likelihood(EXAMPLE), Likelihood::Certain);
    for other in [
        "",
        "{\"action\": 1}",
        "{\"proc\": 1, \"action\": \"call\", \"data\": 1}",
    ] {
        assert_eq!(likelihood(other), Likelihood::No, "{other}");
    }
    let read = crate::read(&Input::new("", EXAMPLE.as_bytes()), None, &Control::new());
    assert_eq!(read.expect("valid").origin().format, FORMAT.name);
}

#[test]
fn errors_say_where_and_what() {
    let micro = "line 1: expected a micro-operation like {\"type\": \"read\", \"m\": {\"key\": \"7\", \"value\": [1]}}, ";
    let data = "line 1: expected `data` with the `type` and the `value` of an operation of Elle, ";
    let invoked = |value: &str| {
        format!(r#"{{"action":"call","proc":1,"data":{{"type":"invoke","value":{value}}}}}"#)
    };
    let cases = [
        (
            "5".to_owned(),
            "line 1: expected an object like {\"action\": \"call\", …}, found `5`".to_owned(),
        ),
        (
            r#"{"action":"go"}"#.to_owned(),
            "line 1: expected the action call, return, inject, recover or dump, found go"
                .to_owned(),
        ),
        (
            r#"{"action":"call","proc":"a"}"#.to_owned(),
            "line 1: expected `proc`, an integer of 64 bits, found a".to_owned(),
        ),
        (
            r#"{"action":"call","proc":1,"data":{"type":"ok"}}"#.to_owned(),
            "line 1: the type `ok` does not go with the action call".to_owned(),
        ),
        (
            r#"{"action":"return","proc":1,"data":{"type":"invoke"}}"#.to_owned(),
            "line 1: the type `invoke` does not go with the action return".to_owned(),
        ),
        (
            r#"{"action":"call","proc":1,"data":{"Op":0,"From":1}}"#.to_owned(),
            format!("{data}found the fields `Op`, `From`"),
        ),
        (
            r#"{"action":"call","proc":1,"data":{"type":"invoke","kind":1}}"#.to_owned(),
            format!("{data}found the fields `type`, `kind`"),
        ),
        (
            r#"{"action":"call","proc":1,"data":7}"#.to_owned(),
            format!("{data}found `7`"),
        ),
        (invoked("7"), format!("{micro}found `7`")),
        (invoked("[7]"), format!("{micro}found `7`")),
        (
            invoked(r#"[{"type":"cas","m":{"key":"7"}}]"#),
            format!("{micro}found the fields `type`, `m`"),
        ),
        (
            invoked(r#"[{"type":"r","m":{"key":"7","value":{"val":1,"is_nil":false}}}]"#),
            format!("{micro}found the fields `val`, `is_nil`"),
        ),
        (
            invoked(r#"[{"type":"r","m":{"x":1}}]"#),
            format!("{micro}found the fields `type`, `m`"),
        ),
        (
            invoked(r#"[{"type":"r","m":{"key":"7","value":1,"more":1}}]"#),
            format!("{micro}found the fields `key`, `value`, `more`"),
        ),
    ];
    for (text, message) in cases {
        assert_eq!(parse(&text).map(drop), Err(message), "{text}");
    }
    let empty = parse("").map(drop).expect_err("nothing");
    assert!(empty.starts_with("empty file"), "{empty}");
}

#[test]
fn damaged_records_are_no_reason_to_panic() {
    for end in 0..EXAMPLE.len() {
        let _ = parse(&EXAMPLE[..end]);
    }
    for at in 0..EXAMPLE.len() * 8 {
        let mut bytes = EXAMPLE.as_bytes().to_vec();
        bytes[at / 8] ^= 1 << (at % 8);
        let _ = read(&Input::new("", &bytes), &Control::new());
    }
    assert!(parse(&r#"{"action":"#.repeat(100_000)).is_err());
}
