//! `isoscope elle` beside elle-cli: the list-append and rw-register cases of elle-cli's own tests with a published result, each
//! at the level given there. Where the words differ, `docs/coming-from-elle.md` says why.

use crate::common;

use isoscope::cli::{self, ExitCode, Invocation};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

#[derive(Clone, Copy, PartialEq)]
enum Model {
    List,
    Register,
}

use Model::{List, Register};

/// Name, model, level, the word of elle-cli, transactions: process, type and micro-operations. `a1.2` appends 2 to list 1,
/// `r1[1,2]` reads it; `wx=1` writes and `rx=1` reads register x, `rx=_` reads nothing.
const CASES: &[(&str, Model, &str, &str, &str)] = &[
    (
        "paper-example",
        List,
        "strict-serializable",
        "false",
        "1 ok a253.1 a253.3 a253.4 a255.2 a255.3 a255.4 a255.5 a256.1 a256.2 | 1 ok a255.8 r253[1,3,4] | 1 ok a256.4 r255[2,3,4,5,8] r256[1,2,4] r253[1,3,4] | 1 ok a250.10 r253[1,3,4] r255[2,3,4,5] a256.3",
    ),
    (
        "list-append-gh-30",
        List,
        "serializable",
        "false",
        "2 ok a4.2 a5.5 | 0 ok r2[] r3[] a4.0 | 1 ok a3.1 a2.4 r4[] | 2 ok a2.8 | 1 ok a3.7 a4.10",
    ),
    (
        "list-append-valid-empty",
        List,
        "strict-serializable",
        "unknown",
        "",
    ),
    (
        "list-append-valid-single-append-read",
        List,
        "strict-serializable",
        "true",
        "0 ok a1.1 | 0 ok r1[1]",
    ),
    (
        "list-append-valid-multiple-appends",
        List,
        "strict-serializable",
        "true",
        "0 ok a1.1 a1.2 | 0 ok r1[1,2]",
    ),
    (
        "list-append-valid-different-keys",
        List,
        "strict-serializable",
        "true",
        "0 ok a1.1 | 1 ok a2.2 | 0 ok r1[1] r2[2]",
    ),
    (
        "list-append-valid-read-empty",
        List,
        "strict-serializable",
        "unknown",
        "0 ok r1[]",
    ),
    (
        "list-append-valid-append-only",
        List,
        "strict-serializable",
        "true",
        "0 ok a1.1 | 0 ok a1.2",
    ),
    (
        "list-append-valid-multiple-processes",
        List,
        "strict-serializable",
        "true",
        "0 ok a1.1 | 1 ok a1.2 | 2 ok r1[1,2]",
    ),
    (
        "list-append-anomaly-g0-cycle",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 a2.1 | 1 ok a1.2 a2.2 | 2 ok r1[1,2] r2[2,1]",
    ),
    (
        "list-append-anomaly-g1b-intermediate-read",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 | 1 ok a1.2 | 2 ok r1[1]",
    ),
    (
        "list-append-anomaly-g1c-circular-information-flow",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 r2[1] | 1 ok a1.2 a2.1 | 2 ok r1[1,2]",
    ),
    (
        "list-append-anomaly-g-single-item",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 a2.1 | 1 ok a1.2 r2[] | 2 ok r1[1,2]",
    ),
    (
        "list-append-anomaly-g2-item",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 r2[] | 1 ok a2.1 r1[]",
    ),
    (
        "list-append-anomaly-incompatible-order",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 | 0 ok a1.3 | 1 ok r1[1,3] | 0 ok a1.2 | 1 ok r1[1,2,3]",
    ),
    (
        "list-append-anomaly-lost-update",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.0 | 1 ok r1[0] a1.1 | 2 ok r1[0] a1.2",
    ),
    (
        "list-append-anomaly-dirty-update",
        List,
        "strict-serializable",
        "false",
        "0 fail a1.1 | 1 ok a1.2 | 2 ok r1[1,2]",
    ),
    (
        "list-append-anomaly-future-read",
        List,
        "strict-serializable",
        "false",
        "0 ok r1[1] a1.1",
    ),
    (
        "list-append-anomaly-duplicate-elements",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 | 1 ok r1[1,1]",
    ),
    (
        "list-append-anomaly-g1a-aborted-read",
        List,
        "strict-serializable",
        "false",
        "0 fail a1.1 | 1 ok r1[1]",
    ),
    (
        "list-append-anomaly-internal",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 a1.2 | 1 ok r1[1] r1[1,2]",
    ),
    (
        "list-append-anomaly-partial-read-diff-processes",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 a1.2 | 2 ok r1[1] | 3 ok r1[1,2]",
    ),
    (
        "list-append-anomaly-partial-read-single-txn",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 a1.2 | 1 ok r1[1] r1[1,2]",
    ),
    (
        "list-append-anomaly-append-too-many-partial-read",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 a1.2 a1.3 | 2 ok r1[1,2]",
    ),
    (
        "list-append-anomaly-append-too-many-partial-read-ext",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 a1.2 a1.3 | 2 ok r1[1,2] | 3 ok r1[1,2,3]",
    ),
    (
        "list-append-anomaly-partial-read-twice",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 | 1 ok a1.2 | 2 ok r1[1] r1[1,2]",
    ),
    (
        "list-append-internal-unknown-prefix",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 | 1 ok a1.2 r1[1]",
    ),
    (
        "list-append-dirty-update-info-fail",
        List,
        "strict-serializable",
        "false",
        "0 ok a1.1 | 0 info a1.2 | 0 info a1.3 | 0 ok a1.4 | 0 fail a1.5 | 0 info a1.6 | 0 fail a1.7 | 0 fail a1.8 | 0 ok a1.9 | 0 info a1.10 | 0 ok a1.11 | 1 ok r1[1,2,3,4,5,6,7,8,9,10,11]",
    ),
    (
        "list-append-valid-info-read",
        List,
        "strict-serializable",
        "true",
        "0 ok a1.1 | 0 info r1=_",
    ),
    (
        "rw-register",
        Register,
        "strict-serializable",
        "true",
        "0 ok wx=2 | 0 ok rx=3 | 0 ok rx=2",
    ),
    (
        "rw-register-valid-empty",
        Register,
        "strict-serializable",
        "unknown",
        "",
    ),
    (
        "rw-register-valid-single-write-read",
        Register,
        "strict-serializable",
        "true",
        "0 ok wx=2 | 0 ok rx=2",
    ),
    (
        "rw-register-valid-different-keys",
        Register,
        "strict-serializable",
        "true",
        "0 ok wx=1 | 1 ok wy=2 | 0 ok rx=1 ry=2",
    ),
    (
        "rw-register-valid-overwrite-read",
        Register,
        "strict-serializable",
        "true",
        "0 ok wx=1 | 0 ok wx=2 | 0 ok rx=2",
    ),
    (
        "rw-register-valid-read-nil",
        Register,
        "strict-serializable",
        "unknown",
        "0 ok rx=_",
    ),
    (
        "rw-register-valid-write-only",
        Register,
        "strict-serializable",
        "true",
        "0 ok wx=1 | 1 ok wy=2",
    ),
    (
        "rw-register-valid-repeat-read",
        Register,
        "strict-serializable",
        "true",
        "0 ok wx=1 | 1 ok rx=1 rx=1",
    ),
    (
        "rw-register-anomaly-internal",
        Register,
        "strict-serializable",
        "false",
        "0 ok wx=2 rx=3",
    ),
    (
        "rw-register-anomaly-g1a-aborted-read",
        Register,
        "strict-serializable",
        "false",
        "0 fail wx=2 | 1 ok rx=2",
    ),
    (
        "rw-register-anomaly-g1b-intermediate-read",
        Register,
        "strict-serializable",
        "false",
        "0 ok wx=1 wx=2 | 1 ok rx=1",
    ),
    (
        "rw-register-anomaly-lost-update",
        Register,
        "strict-serializable",
        "false",
        "0 ok wx=0 | 1 ok rx=0 wx=1 | 2 ok rx=0 wx=2",
    ),
    (
        "rw-register-anomaly-g-single-item",
        Register,
        "strict-serializable",
        "false",
        "0 ok wx=1 | 1 ok rx=1 wy=1 | 2 ok ry=1 rx=_",
    ),
    (
        "rw-register-anomaly-g2-item",
        Register,
        "strict-serializable",
        "false",
        "0 ok rx=_ wy=1 | 1 ok ry=_ wx=1",
    ),
    (
        "rw-register-keys-sequential-valid",
        Register,
        "strict-serializable",
        "true",
        "0 ok wx=1 | 1 ok wy=2 | 2 ok wz=3 | 0 ok rx=1 | 1 ok ry=2 | 2 ok rz=3 | 0 ok wy=1 | 1 ok wz=2 | 2 ok wx=4 | 0 ok ry=1 | 1 ok rz=2 | 2 ok rx=4 | 0 ok wz=1 | 1 ok wx=3 | 2 ok wy=4 | 0 ok rz=1 | 1 ok rx=3 | 2 ok ry=4 | 0 ok wx=2 | 1 ok wy=3 | 2 ok wz=4 | 0 ok rx=2 | 1 ok ry=3 | 2 ok rz=4",
    ),
    (
        "rw-register-keys-sequential-anomaly",
        Register,
        "strict-serializable",
        "false",
        "0 ok rx=1 | 0 ok wx=1",
    ),
    (
        "rw-register-keys-linearizable-valid",
        Register,
        "strict-serializable",
        "true",
        "0 ok wx=1 | 1 ok rx=1",
    ),
    (
        "rw-register-keys-linearizable-anomaly",
        Register,
        "strict-serializable",
        "false",
        "0 ok wx=1 | 1 ok rx=2 | 0 ok rx=1",
    ),
    (
        "rw-register-keys-wfr-valid",
        Register,
        "strict-serializable",
        "true",
        "0 ok rx=_ wx=1 | 1 ok rx=1 wx=2 | 2 ok rx=5",
    ),
    (
        "rw-register-transaction-order-valid",
        Register,
        "strict-serializable",
        "true",
        "0 ok wx=1 | 0 ok wx=2 | 1 ok rx=2",
    ),
    (
        "rw-register-process-anomaly",
        Register,
        "strong-session-serializable",
        "false",
        "0 ok rx=1 | 0 ok wx=1",
    ),
    (
        "rw-register-model-serializable",
        Register,
        "serializable",
        "false",
        "0 ok rx=_ wy=1 | 1 ok ry=_ wx=1",
    ),
    (
        "rw-register-model-snapshot-isolation",
        Register,
        "snapshot-isolation",
        "true",
        "0 ok rx=_ wy=1 | 1 ok ry=_ wx=1",
    ),
    (
        "rw-register-model-strong-snapshot",
        Register,
        "strong-snapshot-isolation",
        "false",
        "0 ok rx=_ wy=1 | 1 ok ry=_ wx=1",
    ),
    (
        "rw-register-partial-info",
        Register,
        "strict-serializable",
        "true",
        "0 ok wx=1 | 1 info rx=1 | 2 info rx=1 | 3 invoke rx=2",
    ),
];

/// A micro-operation, as it is invoked and as it is answered.
fn micro(text: &str) -> [Json; 2] {
    let (word, rest) = text.split_at(1);
    if let Some((key, value)) = rest.split_once('=') {
        let value = value.parse::<i64>().map_or(Json::Null, Json::from);
        let answered = json!([word, key, value]);
        return match word {
            "r" => [json!([word, key, null]), answered],
            _ => [answered.clone(), answered],
        };
    }
    let number = |text: &str| text.parse::<i64>().expect("a number");
    match rest.split_once(['.', '[']) {
        Some((key, value)) if word == "a" => {
            let append = json!(["append", number(key), number(value)]);
            [append.clone(), append]
        }
        Some((key, list)) => {
            let elements = list
                .trim_end_matches(']')
                .split(',')
                .filter(|element| !element.is_empty());
            let elements: Vec<i64> = elements.map(number).collect();
            [
                json!(["r", number(key), null]),
                json!(["r", number(key), elements]),
            ]
        }
        // A read of a list without an answer.
        None => unreachable!("{text}"),
    }
}

/// The JSON of a case: each transaction is invoked and answered in turn.
fn history(model: Model, transactions: &str) -> Json {
    let mut operations = Vec::new();
    for transaction in transactions
        .split(" | ")
        .filter(|transaction| !transaction.is_empty())
    {
        let mut words = transaction.split_whitespace();
        let process: i64 = words.next().expect("a process").parse().expect("a number");
        let stage = words.next().expect("a type");
        let both: Vec<[Json; 2]> = words.map(micro).collect();
        for (at, ty) in [(0, "invoke"), (1, stage)]
            .into_iter()
            .take(if stage == "invoke" { 1 } else { 2 })
        {
            let value: Vec<&Json> = both.iter().map(|both| &both[at]).collect();
            let mut operation =
                json!({"index": operations.len(), "process": process, "type": ty, "value": value});
            if model == Register {
                operation["f"] = Json::from("txn");
            }
            operations.push(operation);
        }
    }
    Json::Array(operations)
}

fn word(file: &Path, model: Model, level: &str) -> &'static str {
    let model = match model {
        List => "list-append",
        Register => "rw-register",
    };
    word_with(file, &["-m", model, "-c", level])
}

/// The word for a file with these arguments.
fn word_with(file: &Path, arguments: &[&str]) -> &'static str {
    let arguments = ["isoscope", "elle", "--exit", "jepsen"]
        .iter()
        .chain(arguments)
        .copied();
    let arguments = arguments.map(OsString::from).chain([file.into()]);
    let Invocation::Command(command) = cli::parse(arguments) else {
        panic!("elle is a command");
    };
    match cli::run(&command) {
        ExitCode::Satisfied => "true",
        ExitCode::Violated => "false",
        ExitCode::Unusable => "unknown",
        code => panic!("{}: {code:?}", file.display()),
    }
}

#[test]
fn the_words_are_those_of_elle_cli_but_for_the_rows_that_the_page_explains() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut different = BTreeSet::new();
    for (name, model, level, wanted, transactions) in CASES {
        let file = folder.path().join(format!("{name}.json"));
        std::fs::write(&file, history(*model, transactions).to_string()).expect("a file");
        let found = word(&file, *model, level);
        if found != *wanted {
            different.insert(format!("| `{name}` | `:{level}` | {wanted} | {found} |"));
        }
    }
    let page = std::fs::read_to_string(common::repository("docs/coming-from-elle.md"));
    let page = page.expect("the page");
    let (_, explained) = page
        .split_once("| case | level |")
        .expect("a table of cases");
    let explained = explained
        .lines()
        .filter(|line| line.starts_with("| `rw-") || line.starts_with("| `list-"));
    let row = |line: &str| line.split('|').take(5).collect::<Vec<_>>().join("|") + "|";
    let explained: BTreeSet<String> = explained.map(row).collect();
    assert_eq!(different, explained);
    for (name, of) in [("list-append", List), ("rw-register", Register)] {
        let all = CASES.iter().filter(|(_, model, ..)| *model == of);
        let n = all.clone().count();
        let is_other = |case: &str| {
            let start = format!("| `{case}` |");
            different.iter().any(|row| row.starts_with(&start))
        };
        let n_same = all.filter(|(case, ..)| !is_other(case)).count();
        let counts = format!("| `{name}` | {n} | {n_same} |");
        assert!(page.contains(&counts), "the page does not say {counts}");
    }
}

/// A model that is named says what a log means that could be of another one.
#[test]
fn a_model_that_is_named_is_what_a_log_is_about() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("history.edn");
    let both = |word: &str, asked: &str, answered: &str| {
        format!(
            "{{:process 0, :type :invoke, :f :{word}, :value {asked}}}\n\
             {{:process 0, :type :ok, :f :{word}, :value {answered}}}\n"
        )
    };
    let subkey = r#"[0 "0_0"]"#;
    let rows = [
        ("counter", both("add", "1", "1"), "unknown"),
        ("comments", both("read", "nil", "#{7}"), "true"),
        (
            "sequential",
            both("add", subkey, subkey) + &both("read", "[0 nil]", r#"[0 ["0_0"]]"#),
            "true",
        ),
        (
            "set-full",
            both("add", "[0 0]", "[0 0]") + &both("read", "[0 nil]", "[0 1]"),
            "false",
        ),
        (
            "rw-register",
            both("txn", "[[:append 1 1]]", "[[:append 1 1]]"),
            "false",
        ),
        ("bank", both("txn", "[[:w 1 1]]", "[[:w 1 1]]"), "false"),
    ];
    // Where IsoScope's exit codes are asked for, nothing was tested, and a history of another model is none that is violated.
    let exit = |log: &str, model: &str| {
        std::fs::write(&path, log).expect("a file");
        let arguments = ["isoscope", "elle", "--exit", "isoscope", "-m", model];
        let arguments = arguments.map(OsString::from).into_iter();
        let Invocation::Command(command) = cli::parse(arguments.chain([path.clone().into()]))
        else {
            panic!("elle is a command");
        };
        cli::run(&command)
    };
    let appends = both("txn", "[[:append 1 1]]", "[[:append 1 1]]");
    let both_append = appends.clone() + &appends.replace("1 1", "1 2");
    assert_eq!(exit(&both_append, "list-append"), ExitCode::Undecided);
    assert_eq!(exit(&appends, "rw-register"), ExitCode::Unusable);
    assert_eq!(exit("[]", "set"), ExitCode::Undecided);
    for (model, log, wanted) in rows {
        std::fs::write(&path, log).expect("a file");
        assert_eq!(word_with(&path, &["-m", model]), wanted, "{model}");
    }
    // No level and no anomaly is asked for.
    std::fs::write(&path, both("txn", "[[:w 1 1]]", "[[:w 1 1]]").repeat(2)).expect("a file");
    assert_eq!(word_with(&path, &["-c", "", "-a", ""]), "true");
    assert_eq!(word_with(&path, &["-a", "GSIa"]), "true");
    assert_eq!(word_with(&path, &["-m", "no-model"]), "false");
}
