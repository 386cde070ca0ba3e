use super::*;
use crate::tables::tests::{damage, shown};
use isoscope_model::history::SessionId;

fn parse(text: &str) -> Result<History, String> {
    let input = Input::new("", text.as_bytes());
    crate::read(&input, None, &Control::new()).map_err(|error| error.to_string())
}

/// A request of a client: its type and input, its answer and its times.
fn line(client: u32, (what, input): (&str, &str), output: &str, (call, end): (i64, i64)) -> String {
    let what_field = if what == "txn" { "Txn" } else { "Range" };
    format!(
        "{{\"ClientId\":{client},\"Input\":{{\"Type\":\"{what}\",\"{what_field}\":{input}}},\"Call\":{call},\
         \"Output\":{output},\"Return\":{end}}}\n"
    )
}

fn put(key: &str, value: &str) -> String {
    format!(
        "{{\"Type\":\"put-operation\",\"Put\":{{\"Key\":\"{key}\",\"Value\":{{\"Value\":\"{value}\"}}}}}}"
    )
}

fn delete(key: &str) -> String {
    format!("{{\"Type\":\"delete-operation\",\"Delete\":{{\"Key\":\"{key}\"}}}}")
}

/// A transaction with conditions and what it does if they hold and if not.
fn txn(conditions: &[(&str, u64)], success: &[String], failure: &[String]) -> String {
    let conditions: Vec<String> = conditions
        .iter()
        .map(|(key, revision)| format!("{{\"Key\":\"{key}\",\"ExpectedRevision\":{revision}}}"))
        .collect();
    format!(
        "{{\"Conditions\":[{}],\"OperationsOnSuccess\":[{}],\"OperationsOnFailure\":[{}]}}",
        conditions.join(","),
        success.join(","),
        failure.join(",")
    )
}

fn done(failed: bool, results: &str, revision: u64) -> String {
    format!("{{\"Txn\":{{\"Failure\":{failed},\"Results\":[{results}]}},\"Revision\":{revision}}}")
}

fn range(start: &str, end: &str, limit: u32) -> String {
    format!("{{\"Start\":\"{start}\",\"End\":\"{end}\",\"Limit\":{limit},\"Revision\":0}}")
}

/// The answer to a range: keys, values and revisions.
fn found(seen: &[(&str, &str, u64)], count: usize) -> String {
    let seen: Vec<String> = seen
        .iter()
        .map(|(key, value, revision)| {
            format!("{{\"Key\":\"{key}\",\"Value\":{{\"Value\":\"{value}\"}},\"ModRevision\":{revision}}}")
        })
        .collect();
    format!("{{\"KVs\":[{}],\"Count\":{count}}}", seen.join(","))
}

fn answer(seen: &[(&str, &str, u64)], count: usize) -> String {
    format!("{{\"Range\":{},\"Revision\":9}}", found(seen, count))
}

#[test]
fn revisions_are_values() {
    let one = |key| txn(&[], &[put(key, "1")], &[]);
    let cas = txn(&[("a", 2)], &[put("a", "2")], &[]);
    let lines = [
        line(1, ("txn", &one("a")), &done(false, "{}", 2), (10, 20)),
        line(2, ("txn", &one("b")), &done(false, "{}", 3), (10, 20)),
        line(2, ("txn", &cas), &done(false, "{}", 4), (30, 40)),
        line(3, ("txn", &cas), &done(true, "", 4), (30, 40)),
        line(
            1,
            ("range", &range("a", "", 0)),
            &answer(&[("a", "2", 4)], 1),
            (50, 60),
        ),
        line(
            3,
            ("range", &range("a", "c", 0)),
            &answer(&[("b", "1", 3)], 1),
            (50, 60),
        ),
        line(
            4,
            ("range", &range("b", "\\u0000", 1)),
            &answer(&[("b", "1", 3)], 2),
            (50, 60),
        ),
        line(4, ("range", &range("c", "", 0)), &answer(&[], 0), (70, 80)),
    ];
    let history = parse(&lines.concat()).expect("valid");
    assert_eq!(history.origin().format, "etcd-robustness");
    assert_eq!(
        shown(&history),
        [
            "1 Committed 10–20 w(a) = 2",
            "1 Committed 50–60 r(a) = 4",
            "2 Committed 10–20 w(b) = 3",
            "2 Committed 30–40 r(a) = 2, w(a) = 4",
            "3 Committed 30–40 r(a) ≠ 2",
            "3 Committed 50–60 r(b) = 3, r(a) = initial",
            "4 Committed 50–60 r(b) = 3",
            "4 Committed 70–80 r(c) = initial",
        ]
    );
    assert_eq!(
        history.assumptions(),
        [
            "The value of a key is the revision at which it was written. Watches (`watch.json`) are not read."
        ]
    );
    let array = format!("[{}]", lines.join(","));
    assert_eq!(
        parse(&array).map(|again| shown(&again)),
        Ok(shown(&history))
    );
}

#[test]
fn requests_without_an_answer_may_have_taken_effect() {
    let error = "{\"Error\":\"timeout\",\"Revision\":0}";
    let either = txn(&[("a", 2)], &[put("a", "y")], &[put("b", "z")]);
    let lines = [
        line(1, ("txn", &txn(&[], &[put("a", "x")], &[])), error, (10, 0)),
        line(2, ("txn", &either), error, (11, 0)),
        line(
            3,
            ("txn", &txn(&[], &[put("c", "w")], &[])),
            "{\"Persisted\":true}",
            (12, 0),
        ),
        line(
            4,
            ("range", &range("a", "", 0)),
            &answer(&[("a", "x", 5)], 1),
            (50, 60),
        ),
        line(
            5,
            ("range", &range("b", "", 0)),
            &answer(&[("b", "z", 6)], 1),
            (50, 61),
        ),
        line(6, ("range", &range("b", "", 0)), error, (50, 0)),
        line(
            7,
            ("txn", &txn(&[("c", 4)], &[put("b", "q")], &[])),
            error,
            (13, 0),
        ),
        line(
            8,
            ("txn", &txn(&[("b", 6)], &[put("b", "p")], &[])),
            error,
            (14, 0),
        ),
    ];
    let history = parse(&lines.concat()).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "1 Unknown 10–61 w(a) = 5",
            "2 Unknown 11–61 w(b) = 6",
            "3 Committed 12–61 w(c) = unknown 0:3",
            "4 Committed 50–60 r(a) = 5",
            "5 Committed 50–61 r(b) = 6",
            "7 Unknown 13–61 w(b) = unknown 0:7",
            "8 Unknown 14–61 r(b) = 6, w(b) = unknown 0:8",
        ]
    );
    assert_eq!(
        history.assumptions()[1..],
        [
            "Ranges without an answer: 1, left out.",
            "Conditions of which it is not known what they read: 1, left out.",
        ]
    );
    let twice =
        lines[0].clone() + &lines[0].replace("\"ClientId\":1", "\"ClientId\":7") + &lines[3];
    let message = "line 3: revision 5 may be that of any of 2 requests that ended without an answer; which one wrote it is not \
                   known";
    assert_eq!(parse(&twice).map(|_| ()), Err(message.to_owned()));
}

#[test]
fn deletes_leases_and_old_revisions() {
    let leased = put("l", "1").replace("\"Value\":{", "\"LeaseID\":3,\"Value\":{");
    let stale = range("a", "", 0).replace("\"Revision\":0", "\"Revision\":2");
    let lines = [
        line(
            1,
            ("txn", &txn(&[], &[put("a", "1"), leased], &[])),
            &done(false, "{},{}", 2),
            (1, 2),
        ),
        line(
            1,
            ("txn", &txn(&[], &[delete("a")], &[])),
            &done(false, "{\"Deleted\":1}", 3),
            (3, 4),
        ),
        line(
            1,
            ("txn", &txn(&[("a", 0)], &[delete("a")], &[])),
            &done(false, "{}", 3),
            (5, 6),
        ),
        line(2, ("range", &range("a", "z", 0)), &answer(&[], 0), (7, 8)),
        line(2, ("range", &stale), &answer(&[], 0), (9, 10)),
        line(2, ("leaseRevoke", "null"), "{\"Revision\":4}", (11, 12)),
        line(
            2,
            ("range", &range("a", "", 0)),
            "{\"ClientError\":\"compacted\"}",
            (13, 14),
        ),
    ];
    let history = parse(&lines.concat()).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "1 Committed 1–2 w(a) = 2, w(l) = 2",
            "1 Committed 3–4 w(a) = 0",
            "1 Committed 5–6 r(a) = 0, r(a) = 0",
            "2 Committed 7–8 r(a) = 0",
        ]
    );
    assert!(history.may_be_initial(history.keys()[0], history.values()[2]));
    assert_eq!(
        history.assumptions()[1..],
        [
            "0 is the value of a key that is absent or deleted.",
            "Requests about leases, compaction and defragmentation: 1, left out.",
            "Ranges of old revisions, which need not be up to date: 1, left out.",
            "Requests that the server refused: 1, left out.",
            "Keys found absent that may have gone with a lease: 1, left out.",
        ]
    );
}

#[test]
fn a_report_is_a_folder_of_clients() {
    let folder = tempfile::tempdir().expect("a folder");
    for client in [10, 9] {
        let folder = folder.path().join(format!("client-{client}"));
        std::fs::create_dir(&folder).expect("a folder");
        let text = line(
            client,
            ("txn", &txn(&[], &[put("a", "1")], &[])),
            &done(false, "{}", client.into()),
            (1, 2),
        );
        std::fs::write(folder.join(FILE), &text).expect("a file");
        std::fs::write(folder.join("watch.json"), "{}").expect("a file");
    }
    let listed = crate::histories(&[folder.path().to_owned()], &Control::new());
    let whole = crate::ListedFile::History(folder.path().to_owned());
    assert_eq!(listed, Ok(vec![whole]));
    let history = crate::open(folder.path(), None, &Control::new()).expect("valid");
    assert_eq!(
        shown(&history),
        ["9 Committed 1–2 w(a) = 9", "10 Committed 1–2 w(a) = 10"]
    );
    assert_eq!(history.session_name(SessionId(0)), "9");
    let alone = folder.path().join("client-9").join(FILE);
    let history = crate::open(&alone, None, &Control::new()).expect("valid");
    assert!(history.assumptions()[0].starts_with("This is the file of one client"));
    std::fs::write(
        &alone,
        "{\"ClientId\":1,\"Input\":{\"Type\":\"x\"},\"Output\":{},\"Call\":1,\"Return\":2}",
    )
    .expect("a file");
    let error = crate::open(folder.path(), None, &Control::new()).map(|_| ());
    let message = error.map_err(|error| error.to_string()).expect_err("wrong");
    assert!(
        message.ends_with("client-9/operations.json: line 1: expected a `Type` of request, range or txn, found `x`"),
        "{message}"
    );
}

#[test]
fn errors_say_where_and_what() {
    let good = line(
        1,
        ("txn", &txn(&[("a", 2)], &[put("a", "1")], &[])),
        &done(false, "{}", 3),
        (1, 2),
    );
    let cases = [
        (
            good.replace("\"Revision\":3", "\"Revision\":0"),
            "line 1: expected the `Revision` of what was put, found none",
        ),
        (
            good.replace("[{}]", "[]"),
            "line 1: expected 1 results, one of each operation, found 0",
        ),
        (
            good.replace("\"Return\":2", "\"Return\":0"),
            "line 1: this request ends, at 0, before it begins, at 1",
        ),
        (
            good.replace("put-operation", "put"),
            "line 1: expected a put-operation, delete-operation or range-operation, found `put`",
        ),
        (
            good.replace("\"Key\":\"a\"", "\"Key\":5"),
            "line 1: expected the string `Key`, found none",
        ),
        (
            good.replace("\"ExpectedRevision\":2", "\"ExpectedRevision\":-2"),
            "line 1: expected an `ExpectedRevision` of 0 or more",
        ),
        (
            good.replace("\"Txn\":{\"Failure\"", "\"T\":{\"Failure\""),
            "line 1: expected `Txn` with fields, found `nil`",
        ),
        (
            good.replace("\"ClientId\":1", "\"ClientId\":\"c\""),
            "line 1: expected the integer `ClientId`, found `c`",
        ),
        (
            good.clone() + &good.replace("\"Call\":1", "\"Call\":0"),
            "line 1: this request of client 1 begins, at 1, before the one before it ends, at 2",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(parse(&text).map(|_| ()), Err(message.to_owned()), "{text}");
    }
    damage(good.as_bytes(), FORMAT.name);
    let ranged = line(
        1,
        ("range", &range("a", "z", 1)),
        &answer(&[("b", "2", 4)], 2),
        (3, 4),
    );
    damage(ranged.as_bytes(), FORMAT.name);
}
