use super::*;
use crate::Request;
use isoscope_model::history::{Interval, OperationId, Rules, SessionId, TransactionId, Value};

fn parse_with(text: &str, rules: &Rules) -> Result<History, String> {
    let request = Request {
        format: None,
        rules: Some(rules),
    };
    let input = Input::new("", text.as_bytes());
    crate::read(&input, request, &Control::new()).map_err(|error| error.to_string())
}

fn parse(text: &str) -> Result<History, String> {
    parse_with(text, &Rules::default())
}

/// Each transaction with its session, outcome, interval and operations.
pub(crate) fn shown(history: &History) -> Vec<String> {
    let transaction = |t: TransactionId| {
        let operations = history.operations_of(t);
        let operations: Vec<_> = operations.map(|o| history.operation_text(o)).collect();
        let time = match history.interval(t) {
            Some(Interval { start, end }) => format!("{start}–{end}"),
            None => "no time".to_owned(),
        };
        format!(
            "{} {:?} {time} {}",
            history.session_name(history.session_of(t)),
            history.outcome(t),
            operations.join(", ")
        )
    };
    history.transactions().map(transaction).collect()
}

/// Reads a text cut off at each byte, and with each of its bits changed: no reader may panic.
pub(crate) fn damage(bytes: &[u8], format: &str) {
    let read = |bytes: &[u8]| {
        let _ = crate::read(&Input::new("", bytes), Some(format), &Control::new());
    };
    for end in 0..bytes.len() {
        read(&bytes[..end]);
        for bit in 0..8 {
            let mut changed = bytes.to_vec();
            changed[end] ^= 1 << bit;
            read(&changed);
        }
    }
}

#[test]
fn rows_of_one_transaction_are_one_transaction() {
    let text = "\u{feff}Session, Txn,op,key,value,start,end,outcome,note\r\n\
                a,1,r,x,,10,,ok,\r\n\
                \r\n\
                b,1,read,\"y\",\"\",20,40,,\r\n\
                a,1,\"w\",y,1,12,30,,\"late, \"\"or\"\" not\"\r\n\
                b,1,write,x,7,20,40,,\r\n\
                b,2,append,l,5,,,aborted,\r\n\
                b,3,r,l,\"[5, 6]\",50,60,unknown,";
    let history = parse_with(text, &Rules::default());
    assert_eq!(
        history.map(|_| ()),
        Err("line 7: this operation has no `start`, but others have one".to_owned())
    );
    let history = parse(&text.replace("5,,,aborted", "5,41,,aborted")).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "a Committed 10–30 r(x) = initial, w(y) = 1",
            "b Committed 20–40 r(y) = initial, w(x) = 7",
            "b Aborted 41–41 append(l) 5",
            "b Unknown 50–60 r(l) = [5 6]",
        ]
    );
    assert_eq!(history.origin().format, "csv");
    let lines: Vec<u32> = (0..5).map(|o| history.line_of(OperationId(o))).collect();
    assert_eq!(lines, [2, 5, 4, 6, 7]);
    assert_eq!(
        history.assumptions(),
        ["Fields of operations that are not read: `note`; no verdict depends on them."]
    );
}

#[test]
fn rows_may_be_events_or_whole_operations() {
    let events = "process\ttype\tf\tkey\tvalue\ttime\n\
                  0\tinvoke\twrite\tx\t1\t10\n\
                  0\tok\twrite\tx\t1\t20\n\
                  1\tinvoke\tread\tx\t\t30\n\
                  1\tok\tread\tx\t1\t40\n";
    let mut rows: Vec<&str> = events.lines().collect();
    rows[1..].rotate_left(2);
    let shuffled = rows.join("\n");
    let calls = "client;op;k;val;call;return\n0;w;x;1;10;20\n1;read;x;1;30;40";
    let expected = ["0 Committed 10–20 w(x) = 1", "1 Committed 30–40 r(x) = 1"];
    for text in [events, &shuffled, calls] {
        let history = parse(text).expect("valid");
        assert_eq!(shown(&history), expected);
        assert_eq!(history.origin().format, "csv");
    }
    let closed =
        "process,type,f,value,time\n0,invoke,w,1,10\n0,ok,w,1,20\n0,invoke,r,,20\n0,ok,r,,30";
    let history = parse(closed).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "0 Committed 10–20 w(register) = 1",
            "0 Committed 20–30 r(register) = initial"
        ]
    );
    let transactions = "thread,op,value\n0,txn,\"[[\"\"w\"\", \"\"x\"\", 1]]\"\n1,txn,[[r x 1]]\n";
    let history = parse(transactions).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "0 Committed no time w(x) = 1",
            "1 Committed no time r(x) = 1"
        ]
    );
}

#[test]
fn one_operation_a_line() {
    let text = r#"
        {"client":"c1","op":"write","key":"k","value":"a","start":10,"end":20,"node":"n1"}
        {"client":"c1","op":"write","key":"k","value":"b","start":20,"end":30,"node":"n1","lag":3}
        {"client":"c2","op":"read","key":"k","value":null,"start":15,"end":25,"error":""}
        {"client":"c2","op":"cas","key":"k","value":["a","c"],"start":26,"error":"timed out"}
        {"client":"c3","op":"write","key":"k","value":"d","start":1,"outcome":"fail"}
        {"client":"c3","op":"write","key":"k","value":"e","start":2}
        {"client":"nemesis","op":"kill","value":"n1","start":3}"#;
    let expected = [
        "c3 Aborted 1–1 w(k) = d",
        "c3 Unknown 2–30 w(k) = e",
        "c1 Committed 10–20 w(k) = a",
        "c1 Committed 20–30 w(k) = b",
        "c2 Committed 15–25 r(k) = initial",
        "c2 Unknown 26–30 r(k) = a, w(k) = c",
    ];
    let lines = text.trim().lines();
    let array = format!("[{}]", lines.collect::<Vec<_>>().join(","));
    for text in [text.to_owned(), array] {
        let history = parse(&text).expect("valid");
        assert_eq!(shown(&history), expected);
        assert_eq!(history.origin().format, "operations");
        assert_eq!(history.cluster().incidents().len(), 1);
        assert_eq!(
            history.cluster().node_of(SessionId(1)),
            Some("n1".to_owned())
        );
        assert_eq!(
            history.assumptions(),
            [
                "Operations without an end: 2, their outcome is unknown.",
                "Fields of operations that are not read: `lag`; no verdict depends on them.",
            ]
        );
    }
}

#[test]
fn without_times_there_is_no_real_time() {
    let text = "[{\"f\":\"write\",\"value\":1,\"process\":0,\"start\":5},\n\
                 {\"f\":\"read\",\"value\":1,\"process\":1,\"start\":2},{\"f\":\"read\",\"value\":null,\"process\":0}]";
    let history = parse(text).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "0 Committed no time w(register) = 1",
            "0 Committed no time r(register) = initial",
            "1 Committed no time r(register) = 1",
        ]
    );
    assert_eq!(history.values()[1], Value::INITIAL);
    assert_eq!(
        history.assumptions(),
        [
            "Nothing says when operations ran: there is no real time, and a session is in the order of the file."
        ]
    );
}

#[test]
fn seconds_may_have_fractions() {
    let lines = "{\"op\":\"write\",\"value\":1,\"start\":1.5,\"end\":2,\"client\":1}\n\
                 {\"op\":\"read\",\"value\":1,\"start\":2.000000001,\"end\":3.25,\"client\":1}";
    let table = "session,txn,op,key,value,start,end\n1,1,w,register,1,1.5,2\n1,2,r,register,1,2.000000001,3.25";
    for text in [lines, table] {
        let history = parse(text).expect("valid");
        assert_eq!(
            shown(&history),
            [
                "1 Committed 1500000000–2000000000 w(register) = 1",
                "1 Committed 2000000001–3250000000 r(register) = 1",
            ]
        );
        assert!(history.assumptions()[0].starts_with("Times with a fraction"));
    }
    let large = lines.replace(":2,", ":9223372036854775807,");
    let message =
        "line 1: the time 9223372036854775807 is too large: others are seconds with a fraction";
    assert_eq!(parse(&large).map(|_| ()), Err(message.to_owned()));
}

#[test]
fn fields_and_words_can_be_named() {
    let text = "{\"who\":1,\"act\":\"put\",\"cell\":\"k\",\"value\":1}\n";
    let mut rules = Rules::default();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    rules.vocabulary.words = vec![pair("put", "write")];
    rules.vocabulary.fields = vec![
        pair("who", "client"),
        pair("act", "op"),
        pair("cell", "key"),
    ];
    let history = parse_with(text, &rules).expect("valid");
    assert_eq!(shown(&history), ["1 Committed no time w(k) = 1"]);
    let table = "who,act,cell,value\n1,put,k,1";
    let history = parse_with(table, &rules).expect("valid");
    assert_eq!(shown(&history), ["1 Committed no time w(k) = 1"]);
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        (
            "{\"op\":\"write\",\"cell\":\"a\",\"value\":1}\n",
            "line 1: no field says which key an operation is about; `cell` is not known: `--field cell=key` or, if it names \
             none, `--field cell=index`",
        ),
        (
            "{\"op\":\"cas\",\"cell\":\"a\",\"value\":[1,2]}\n",
            "line 1: no field says which key an operation is about; `cell` is not known: `--field cell=key` or, if it names \
             none, `--field cell=index`",
        ),
        (
            "{\"op\":\"write\",\"key\":\"a\",\"value\":1,\"ok\":false}\n",
            "line 1: no field says how an operation ended; `ok` is not known: `--field ok=outcome` or, if it says nothing, \
             `--field ok=index`",
        ),
        (
            "{\"op\":\"write\",\"key\":\"a\",\"value\":1}\n{\"op\":\"read\",\"key\":\"a\",\"got\":1}",
            "line 2: this read has no `value`; what finds nothing has an empty one",
        ),
        (
            "{\"op\":\"read\",\"key\":\"a\",\"value\":1}\n{\"op\":\"write\",\"value\":1}",
            "line 2: this operation has no `key`, but others have one",
        ),
        (
            "{\"op\":\"read\",\"key\":\"a\",\"value\":1,\"start\":\"noon\"}",
            "line 1: expected a time, an integer of 64 bits or seconds like 12.5, found `noon`",
        ),
        (
            "{\"op\":\"read\",\"key\":\"a\",\"value\":1,\"start\":2,\"end\":1}",
            "line 1: this operation ends, at 1, before it begins, at 2",
        ),
        (
            "{\"op\":\"read\",\"value\":1,\"start\":2,\"end\":3}\n{\"op\":\"read\",\"value\":1,\"end\":1}",
            "line 2: this operation has no `start`, but others have one",
        ),
        (
            "{\"op\":\"read\",\"value\":1,\"start\":2,\"end\":3}\n{\"op\":\"read\",\"value\":1,\"start\":4,\"outcome\":\"ok\"}",
            "line 2: this operation succeeded, but has no `end`; others have one",
        ),
        (
            "{\"client\":1,\"op\":\"read\",\"value\":1,\"start\":2,\"end\":9}\n\
             {\"client\":1,\"op\":\"read\",\"value\":1,\"start\":8,\"end\":10}",
            "line 2: this operation begins, at 8, before that of the same client on line 1 ends, at 9; a client does one thing \
             at a time",
        ),
        (
            "{\"op\":\"read\",\"value\":1,\"outcome\":\"maybe\"}",
            "line 1: expected the outcome committed (ok), aborted (fail) or unknown (info), found `maybe`",
        ),
        (
            "process,op,value\n1,write,1\n1,,1",
            "line 3: no field says what this operation does: `op` or `f`",
        ),
        (
            "{\"op\":\"write\",\"value\":1}\n{\"value\":1}",
            "line 2: no field says what this operation does: `op` or `f`",
        ),
        (
            "{\"op\":\"push\",\"value\":1}",
            "line 1: operations `push`: no workload has these words; nearest: queue, --word push=enqueue",
        ),
        (
            "{\"op\":\"txn\",\"value\":[[\"w\",\"x\",null]]}",
            "line 1: operations `txn`: their values, such as `[[w x nil]]`, fit no workload with them",
        ),
        (
            "session,txn,op,value\na,1,r,x",
            "line 1: no column `key`; there are `session`, `txn`, `op`, `value`: `--field NAME=key` says what one is about",
        ),
        ("process,type,f,f\n", "line 1: two columns are called `f`"),
        (
            "session,txn,op,key,value\na,1,r,x",
            "line 2: expected 5 cells, as the first row has, found 4",
        ),
        (
            "session,txn,op,key,value\na,1,w,x,",
            "line 2: a write needs a value, and this cell is empty",
        ),
        (
            "session,txn,op,key,value\na,1,cas,x,1",
            "line 2: expected the operation r, w or append, found `cas`; `--word cas=read` says what it means",
        ),
        (
            "session,txn,op,key,value\n,1,r,x,1",
            "line 2: this row names no session",
        ),
        (
            "session,txn,op,key,value\na,1,r,x,#{1}",
            "line 2: expected a value or a list, found `#{1}`",
        ),
        (
            "session,txn,op,key,value,outcome\na,1,r,x,1,ok\na,1,r,y,1,fail",
            "line 3: this transaction is `fail` here but `ok` on line 2",
        ),
        (
            "session,txn,op,key,value\na,1,r,x,\"1\n2",
            "line 2, column 10: expected a cell that its quote ends, found `1`",
        ),
        (
            "session,txn,op,key,value\na,1,r,x,\"1\"2",
            "line 2, column 12: expected the end of the cell behind its quote, found `2`",
        ),
        (
            "process,f,cell,value\n1,read,a,1",
            "line 2: no field says which key an operation is about; `cell` is not known: `--field cell=key` or, if it names \
             none, `--field cell=index`",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(parse(text).map(|_| ()), Err(message.to_owned()), "{text}");
    }
}

#[test]
fn other_formats_keep_their_files() {
    let late = format!(
        "[{{\"f\":\"txn\",\"value\":[],\"process\":0,\"msg\":\"{}\",\"type\":\"ok\"}}]",
        "m".repeat(5000)
    );
    let cases = [
        (
            "[{\"type\":\"invoke\",\"f\":\"write\",\"key\":1,\"value\":83,\"client\":3}]",
            "elle-json",
        ),
        ("{\"value\": [[\"w\", 1, 2, true]]}", "viper"),
        ("{\"schema\": 1, \"transactions\": []}", "json"),
        ("[[{\"events\": []}]]", "dbcop-json"),
        (
            "[{\"sid\": 1, \"ops\": [{\"t\": \"w\", \"k\": 1, \"v\": 2}]}]",
            "timekiller",
        ),
        ("0\t:invoke\t:read\tnil", "jepsen-columns"),
        (&*late, "elle-json"),
        ("r(1,2,3,4)\n", "plume"),
    ];
    for (text, format) in cases {
        let found = crate::recognise(&Input::new("", text.as_bytes()));
        assert_eq!(found.map(|(format, _)| format.name), Some(format), "{text}");
    }
    for text in ["a, b\n", "once, upon a time\n", "op\n", "{\"op\": 1}"] {
        let found = crate::recognise(&Input::new("", text.as_bytes()));
        let is_ours = found.is_some_and(|(format, likelihood)| {
            ["csv", "operations"].contains(&format.name) && likelihood > Likelihood::Perhaps
        });
        assert!(!is_ours, "{text}");
    }
}

#[test]
fn damaged_files_never_panic() {
    let table =
        "session,txn,op,key,value,start,end\na,1,r,x,\"[1, \"\"a\"\"]\",1,2\nb,2,append,x,é,3,4\n";
    let lines = "[{\"client\":\"c\",\"op\":\"cas\",\"key\":\"k\",\"value\":[1,2],\"start\":1,\"end\":2,\"outcome\":\"ok\"},\n\
                 {\"client\":2,\"op\":\"read\",\"key\":\"k\",\"value\":\"é\\n\",\"start\":-3,\"end\":9}]";
    for (text, format) in [(table, "csv"), (lines, "operations")] {
        damage(text.as_bytes(), format);
    }
}
