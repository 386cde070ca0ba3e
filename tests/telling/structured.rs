//! Viper's and dbcop's JSON, TimeKiller's, VeriStrong's lists and AWDIT's notation: real files, damaged files, round
//! trips.

use crate::common;

use common::examine;
use common::oracle::LEVELS;
use isoscope::checkers::Level;
use isoscope::control::Control;
use isoscope::formats::{self, FilePart, Input, Likelihood};
use isoscope::history::{
    Builder, History, Interval, OperationId, OperationKind, Origin, Outcome, Statistics,
    TransactionId, Value,
};
use serde_json::Value as Json;
use std::path::Path;

/// The formats of this file, as in the manifest and as in the table.
const NAMES: [(&str, &str); 3] = [
    ("viper-json", "viper"),
    ("dbcop-json", "dbcop-json"),
    ("awdit-test", "awdit"),
];

fn open(path: &Path) -> History {
    formats::open(path, None, &Control::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// Writes a history and reads it again.
fn again(history: &History, format: &str) -> Result<History, String> {
    let mut bytes = Vec::new();
    formats::write(history, format, &mut bytes).map_err(|error| error.to_string())?;
    let again = formats::open_bytes("", &bytes, Some(format), &Control::new());
    Ok(again.unwrap_or_else(|error| panic!("{error} in\n{}", String::from_utf8_lossy(&bytes))))
}

/// Everything that changes a verdict: operations and times by session, and which reads are initial.
fn meaning(history: &History) -> String {
    let mut text = String::new();
    for session in history.sessions() {
        text.push_str("session\n");
        for t in history.transactions_of(session) {
            let set_up = if history.set_up().contains(&t) {
                "set-up"
            } else {
                ""
            };
            text.push_str(&format!(
                "  {set_up} {:?} {:?}:",
                history.outcome(t),
                history.interval(t)
            ));
            for o in history.operations_of(t) {
                let operation = history.operation(o);
                if operation.kind == OperationKind::Read
                    && history.may_be_initial(operation.key, operation.value)
                {
                    text.push_str(&format!(
                        " r({}) = initial",
                        history.key_name(operation.key)
                    ))
                } else {
                    text.push_str(&format!(" {}", history.operation_text(o)))
                }
            }
            text.push('\n');
        }
    }
    text
}

fn names(history: &History) -> Vec<String> {
    let sessions = history
        .sessions()
        .map(|session| history.session_name(session));
    sessions
        .chain(history.transactions().map(|t| history.transaction_name(t)))
        .collect()
}

fn manifest(corpus: &Path) -> Vec<(String, &'static str, Json)> {
    let text =
        std::fs::read_to_string(corpus.join("manifest.json")).expect("the corpus has a manifest");
    let entries: Vec<Json> = serde_json::from_str(&text).expect("the manifest is JSON");
    let format = |entry: &Json| {
        NAMES
            .iter()
            .find(|(name, _)| entry["format"] == *name)
            .map(|(_, format)| *format)
    };
    let name = |entry: &Json| {
        entry["name"]
            .as_str()
            .expect("entries have names")
            .to_owned()
    };
    entries
        .into_iter()
        .filter_map(|entry| Some((name(&entry), format(&entry)?, entry)))
        .collect()
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn corpus_files_have_the_figures_of_the_manifest_and_survive_writing() {
    let corpus = common::corpus();
    let entries = manifest(&corpus);
    assert!(
        entries.len() >= 16,
        "only {} files of the corpus are checked",
        entries.len()
    );
    for (name, format, entry) in entries {
        let path = corpus.join(&name);
        let history = open(&path);
        assert_eq!(history.origin().format, format, "{name}");
        let (recorded, statistics) = (history.recorded(), Statistics::of(&history));
        let counted = [
            ("sessions", recorded.sessions),
            ("txns", recorded.transactions),
            ("aborted_txns", recorded.aborted),
            ("ops", recorded.operations),
            ("reads", statistics.reads),
            ("writes", statistics.writes),
            ("keys", recorded.keys),
        ];
        for (field, count) in counted {
            assert_eq!(
                entry[field].as_u64(),
                Some(count as u64),
                "{field} of {name}"
            );
        }
        for o in (0..history.n_operations())
            .step_by(61)
            .map(OperationId::new)
        {
            let operation = history.operation(o);
            let spot = history
                .spot_of(o)
                .expect("operations know where they stand");
            let line = common::raw_spot(&path, history.origin(), spot).expect("the line is there");
            // dbcop's files are printed with a line for each bracket.
            if format != "dbcop-json" {
                let (key, value) = (
                    history.key_name(operation.key),
                    history.value_name(operation.value),
                );
                assert!(
                    line.contains(&format!("{key}, {value}"))
                        || line.ends_with(&format!(" {key} {value}")),
                    "{line}"
                );
            }
        }
        let again = again(&history, format).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(meaning(&again), meaning(&history), "{name}");
        assert_eq!(names(&again), names(&history), "{name}");
    }
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn verdicts_are_those_of_the_reference_and_of_the_names_of_files() {
    let corpus = common::corpus();
    for (name, _, entry) in manifest(&corpus) {
        let findings = examine::check(&open(&corpus.join(&name)));
        let found = examine::engine_verdicts(&findings);
        // AWDIT's folders, here the beginnings of names, are called after the strongest level that holds.
        let strongest = name
            .strip_prefix("awdit-test/")
            .map(|file| file.split('.').next().expect("a name"));
        let strongest = strongest.map(|folder| match folder {
            "causal" => 3,
            "read-atomic" => 2,
            "read-committed" => 1,
            _ => 0,
        });
        for (level, found) in LEVELS.into_iter().zip(found) {
            let code = if level == Level::TransactionalCausalConsistency {
                "CC"
            } else {
                level.code()
            };
            let said = match code {
                "RC" => strongest.map(|strongest| strongest >= 1),
                "RA" => strongest.map(|strongest| strongest >= 2),
                "CC" => strongest.map(|strongest| strongest >= 3),
                _ => None,
            };
            assert!(
                said.is_none() || said == found,
                "{name}: {code} is {found:?}"
            );
            match entry["refcheck"][code].as_str() {
                Some("holds") => assert_eq!(found, Some(true), "{name}: {code}"),
                Some("fails") => assert_eq!(found, Some(false), "{name}: {code}"),
                _ => {}
            }
        }
    }
}

/// A file for each format, with something of everything.
const SPECIMENS: [(&str, &str); 6] = [
    (
        "viper",
        "\u{feff}{\"value\": [[\"w\", 1, -5, true], [\"i\", 2, 7, \"nil\", false, true, true, \"i\"]], \"isInitial\": true}\r\n\n\
         {\"preBeginTS\": 3, \"postCommitTS\": 9, \"value\": [[\"d\", \"k\\u0041\", 8, 7, true, false], \
         [\"range\", 1, \"nil\", [{\"id\": 1, \"sk\": 1, \"val\": -5}], [], true]]}\n",
    ),
    (
        "dbcop-json",
        "{\"params\":{\"n_node\":1},\"data\":[[{\"events\":[[\"w\",0,5],{\"Read\":{\"version\":null,\"variable\":1}}],\
         \"committed\":false}],[],\r\n[{\"committed\":true,\"events\":[{\"Write\":{\"variable\":1,\"version\":18446744073709551615}}]}]]}",
    ),
    (
        "dbcop-json",
        "[[{\"events\":[[\"w\",0,5],{\"Read\":{\"version\":5,\"variable\":\"\\u00fc\"}}],\"committed\":true}],[]]",
    ),
    (
        "timekiller",
        "[{\"tid\":67,\"sid\":\"a\\n\",\"sts\":{\"p\":\"16\",\"l\":61},\"cts\":{\"p\":17,\"l\":18},\r\n\
         \"ops\":[{\"t\":\"R\",\"k\":7},{\"t\":\"a\",\"k\":-7,\"v\":2},{\"t\":\"read\",\"k\":8,\"v\":[3,-4,5]}]}]",
    ),
    (
        "veristrong-list",
        "3\r\n1 7 A -1 5\n\n0 8 R -1 2 5 -6\n1 -7 R 2 0",
    ),
    (
        "awdit",
        "\u{feff}w 0 007\r\n--\n-\nr\t1  18446744073709551615 - w 1 2 == r 0 0\n=== -",
    ),
];

fn read(bytes: &[u8], format: Option<&str>) -> Result<History, String> {
    formats::read(&Input::new("", bytes), format, &Control::new())
        .map_err(|error| error.to_string())
}

/// As the second file of a folder.
fn read_in_folder(bytes: &[u8]) -> Result<History, String> {
    let parts = [
        FilePart {
            name: "J1.log",
            bytes: b"{\"value\": []}\n",
        },
        FilePart {
            name: "J12.log",
            bytes,
        },
    ];
    formats::read(&Input::folder("run", &parts), None, &Control::new())
        .map_err(|error| error.to_string())
}

#[test]
fn each_format_recognises_its_own_files_only() {
    for (format, text) in SPECIMENS {
        let input = Input::new("", text.as_bytes());
        let likely: Vec<_> = formats::FORMATS
            .iter()
            .filter(|f| (f.sniff)(&input) >= Likelihood::Likely)
            .map(|f| f.name)
            .collect();
        assert_eq!(likely, [format], "{text}");
        read(text.as_bytes(), None).unwrap_or_else(|error| panic!("{format}: {error}"));
        for other in formats::FORMATS.iter().filter(|other| other.name != format) {
            let error = read(text.as_bytes(), Some(other.name))
                .map(|_| ())
                .expect_err(other.name);
            assert!(
                error.ends_with(&format!("it looks like {format})")),
                "{}: {error}",
                other.name
            );
        }
    }
    for (text, format) in [
        ("w(1,1,0,0)", "plume"),
        ("a: [w x 1]", "text"),
        ("[x:=1] [y==1]\n---\n[x==1]", "hist"),
        (
            "{\"schema\":\"isoscope.history/1\",\"sessions\":[]}",
            "json",
        ),
    ] {
        assert_eq!(
            formats::recognise(&Input::new("", text.as_bytes())).map(|(f, _)| f.name),
            Some(format)
        );
        for (own, _) in SPECIMENS {
            let error = read(text.as_bytes(), Some(own)).map(|_| ()).expect_err(own);
            assert!(
                error.ends_with(&format!("it looks like {format})")),
                "{own}: {error}"
            );
        }
    }
}

fn refused_in_one_line(result: Result<History, String>) -> bool {
    if let Err(error) = &result {
        assert!(!error.contains('\n') && error.len() < 600, "{error}");
    }
    result.is_err()
}

#[test]
fn texts_cut_anywhere_are_read_or_refused_in_one_line() {
    for (format, text) in SPECIMENS {
        let mut refused = 0;
        for len in 0..text.len() {
            let bytes = &text.as_bytes()[..len];
            refused += usize::from(refused_in_one_line(read(bytes, Some(format))));
            refused_in_one_line(read(bytes, None));
            refused_in_one_line(read_in_folder(bytes));
        }
        // Half a text without brackets is often a text.
        assert!(
            refused > text.len() / 10,
            "{format}: only {refused} of {} beginnings were refused",
            text.len()
        );
    }
}

#[test]
fn damaged_texts_are_read_or_refused_in_one_line() {
    let mut random = fastrand::Rng::with_seed(1);
    let alphabet = b"rwRA[],:;=-\"\\{} \n\r\t019etn.\x00\xff\xc3\xbc";
    for (format, text) in SPECIMENS {
        for _ in 0..2000 {
            let mut damaged = text.as_bytes().to_vec();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..damaged.len());
                match random.u8(..4) {
                    0 => drop(damaged.remove(at)),
                    1 => damaged.insert(at, alphabet[random.usize(..alphabet.len())]),
                    2 => damaged[at] = alphabet[random.usize(..alphabet.len())],
                    _ => damaged[at] ^= 1 << random.u8(..8),
                }
            }
            refused_in_one_line(read(&damaged, Some(format)));
            refused_in_one_line(read(&damaged, None));
            if format == "viper" {
                refused_in_one_line(read_in_folder(&damaged));
            }
        }
    }
}

#[test]
fn deep_nesting_does_not_overflow() {
    let deep = format!("{}{}", "[".repeat(1 << 18), "]".repeat(1 << 18));
    let objects = format!("{}1{}", "{\"value\":".repeat(1 << 16), "}".repeat(1 << 16));
    let texts = [
        deep.clone(),
        objects.clone(),
        format!("{{\"value\": [[\"r\", {deep}, {objects}, true]]}}"),
        format!("[[{{\"events\":[[\"r\",{deep},{objects}]],\"committed\":true}}]]"),
        format!("[{{\"more\":{deep},\"sts\":{objects}}}]"),
        format!("[{{\"tid\":1,\"sid\":1,\"sts\":{objects},\"cts\":{deep},\"ops\":{deep}}}]"),
        format!("1\n1 1 R {deep}"),
        format!("w {deep}"),
    ];
    for text in texts {
        for (format, _) in SPECIMENS {
            assert!(
                refused_in_one_line(read(text.as_bytes(), Some(format))),
                "{format}"
            );
        }
    }
}

/// Committed transactions with times on integers of any sign; `lists` says what keys hold.
fn random_history(random: &mut fastrand::Rng, lists: bool, times: bool, signed: bool) -> History {
    let mut builder = Builder::new(Origin::default());
    for n in 0..random.u64(1..12) {
        let session = builder.session_number(if n < 3 { n } else { random.u64(..3) });
        let draft = builder.transaction(session, Outcome::Committed);
        builder.number_transaction(draft, 100 - n);
        if times {
            let start = random.i64(0..1000);
            builder.set_interval(
                draft,
                Interval {
                    start,
                    end: start + random.i64(0..1000),
                },
            );
        }
        for _ in 0..random.usize(1..5) {
            let key = if signed && random.bool() {
                builder.key_name(&format!("-{}", random.u8(1..4)))
            } else {
                builder.key_number(random.u64(..3))
            };
            let mut value = |builder: &mut Builder| {
                if signed && random.u8(..4) == 0 {
                    builder.value_name(&format!("-{}", random.u8(1..9)))
                } else {
                    builder.value_number(random.u64(..9))
                }
            };
            match value(&mut builder) {
                first if lists && first.0 % 2 == 0 => {
                    // A value that is no number renames those before it, so each is added at once.
                    let elements = if first.0 == 0 { vec![] } else { vec![first; 2] };
                    builder.list_read(draft, key, &elements, 0);
                }
                first => {
                    let kind = if lists || random.bool() {
                        OperationKind::Write
                    } else {
                        OperationKind::Read
                    };
                    if lists {
                        builder.list_key(key);
                    }
                    let value = if kind == OperationKind::Read && random.u8(..4) == 0 {
                        Value::INITIAL
                    } else {
                        first
                    };
                    builder.operation(draft, kind, key, value, 0);
                }
            }
        }
    }
    builder.finish().expect("small histories fit")
}

#[test]
fn random_histories_survive_every_format_that_can_say_them() {
    let mut random = fastrand::Rng::with_seed(4);
    for (format, lists, times, signed, keeps_names) in [
        ("viper", false, true, true, false),
        ("timekiller", false, true, true, true),
        ("timekiller", true, true, true, true),
        ("veristrong-list", true, false, true, true),
        ("awdit", false, false, false, false),
    ] {
        let mut survived = 0;
        for _ in 0..500 {
            let history = random_history(&mut random, lists, times, signed);
            match again(&history, format) {
                Ok(again) => {
                    assert_eq!(meaning(&again), meaning(&history), "{format}");
                    assert!(!keeps_names || names(&again) == names(&history), "{format}");
                    survived += 1;
                }
                // Here thin-air reads would become initial ones, there is no word for the initial version.
                Err(error) => assert!(["viper", "awdit"].contains(&format), "{error}"),
            }
        }
        assert!(survived > 20, "{format}: only {survived} survived");
    }
}

#[test]
fn set_up_transactions_and_initial_reads_survive_as_logs_of_viper() {
    let log = "{\"value\": [[\"w\", 1, 10, true]], \"isInitial\": true}\n{\"value\": [[\"r\", 1, 10, false], [\"r\", 2, 5, false]]}\n";
    let history = read_in_folder(log.as_bytes()).expect("valid");
    assert_eq!(history.set_up(), [TransactionId(1)]);
    assert_eq!(
        meaning(&again(&history, "viper").expect("sayable")),
        meaning(&history)
    );
    // Without it what no transaction wrote is initial.
    let history = read_in_folder(
        log.replace("\"w\", 1, 10", "\"w\", 1, 11")
            .replace(", \"isInitial\": true", "")
            .as_bytes(),
    );
    let history = history.expect("valid");
    assert!(
        meaning(&history).contains("r(1) = initial r(2) = initial"),
        "{}",
        meaning(&history)
    );
    assert_eq!(
        meaning(&again(&history, "viper").expect("sayable")),
        meaning(&history)
    );
}
