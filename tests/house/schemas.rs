//! The JSON Schemas in `docs/schemas` describe what the program prints and reads: they are what it prints of itself, they
//! accept its reports and histories, and they refuse damaged ones.

use isoscope::control::Control;
use isoscope::formats;
use jsonschema::{Validator, draft202012};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn sample(name: &str) -> String {
    repository("sample_histories")
        .join(name)
        .display()
        .to_string()
}

/// What the program prints, whatever its exit code.
fn printed(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isoscope"));
    command
        .args(arguments)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null());
    String::from_utf8(command.output().expect("the program starts").stdout).expect("UTF-8")
}

fn documents(arguments: &[&str]) -> Vec<Json> {
    let text = printed(arguments);
    assert!(!text.is_empty(), "{arguments:?} prints nothing");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a line is a JSON object"))
        .collect()
}

fn committed(word: &str) -> String {
    std::fs::read_to_string(repository(&format!("docs/schemas/{word}.schema.json")))
        .expect("a schema")
}

fn validator(word: &str) -> Validator {
    let schema = serde_json::from_str(&committed(word)).expect("JSON");
    draft202012::meta::validate(&schema)
        .unwrap_or_else(|error| panic!("{word} is no schema: {error}"));
    draft202012::new(&schema).expect("a schema")
}

#[track_caller]
fn assert_valid(validator: &Validator, value: &Json, what: &dyn std::fmt::Debug) {
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{what:?}: {errors:#?}");
}

#[test]
fn the_schemas_in_the_repository_are_those_that_the_program_prints() {
    for word in ["report", "followed", "history", "driver"] {
        assert!(
            printed(&["schema", word]) == committed(word),
            "update it: cargo run -- schema {word} > docs/schemas/{word}.schema.json"
        );
    }
}

/// Every object of a schema, and the path to it.
fn objects<'s>(
    schema: &'s Json,
    path: &str,
    found: &mut Vec<(String, &'s serde_json::Map<String, Json>)>,
) {
    match schema {
        Json::Object(object) => {
            found.push((path.to_owned(), object));
            object
                .iter()
                .for_each(|(name, inner)| objects(inner, &format!("{path}/{name}"), found));
        }
        Json::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(at, inner)| objects(inner, &format!("{path}/{at}"), found)),
        _ => {}
    }
}

#[test]
fn every_field_is_described_and_others_are_allowed() {
    for word in ["report", "followed", "history", "driver"] {
        let schema: Json = serde_json::from_str(&committed(word)).expect("JSON");
        assert!(
            schema["title"].is_string() && schema["description"].is_string(),
            "{word}"
        );
        let mut found = Vec::new();
        objects(&schema, "", &mut found);
        for (path, object) in &found {
            for (name, field) in object
                .get("properties")
                .and_then(Json::as_object)
                .into_iter()
                .flatten()
            {
                let is_tag = field.get("const").is_some();
                let is_of_condition = path.ends_with("/not");
                assert!(
                    field.get("description").is_some() || is_tag || is_of_condition,
                    "{word}{path}: {name}"
                );
            }
            assert!(
                !object.contains_key("additionalProperties") || !object.contains_key("required"),
                "{word}{path}"
            );
            if let Some(text) = object.get("description").and_then(Json::as_str) {
                assert!(
                    !text.contains("[`") && !text.contains('\n'),
                    "not for readers of the schema: {text}"
                );
            }
        }
    }
}

#[test]
fn reports_are_as_described() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("broken.txt"), "what is this\n").expect("a file");
    std::fs::write(path("fine.txt"), "a: [w x 1]\n").expect("a file");
    let (all, shop, lost) = (
        sample(""),
        sample("web-shop.txt"),
        sample("lost-update.json"),
    );
    let runs: &[&[&str]] = &[
        &["check", &all, "--json", "--witness"],
        &["check", &all, "--json", "--level", "LIN,SSER,P-SI,R-SI"],
        &[
            "check",
            &shop,
            "--json",
            "--claim",
            "postgresql repeatable read",
        ],
        &[
            "check",
            &lost,
            "--json",
            "--claim",
            "postgresql serializable",
            "--witness",
        ],
        &["check", &shop, "--json", "--count-by", "key"],
        &[
            "check",
            &shop,
            "--json",
            "--instances",
            "TAP-n",
            "--limit",
            "3",
        ],
        &[
            "check",
            &shop,
            "--json",
            "--checker",
            "plume",
            "--count",
            "published",
        ],
        &["check", &shop, "--json", "--verdicts-only"],
        &["check", &folder.path().display().to_string(), "--json"],
        &["check", &all, "--json", "--shards", "2", "--shard", "1"],
        &[
            "check",
            &shop,
            "--json",
            "--witness",
            "--shards",
            "2",
            "--shard",
            "0",
        ],
    ];
    let validator = validator("report");
    let (mut verdicts, mut fields) = (BTreeSet::new(), BTreeSet::new());
    for run in runs {
        for document in documents(run) {
            assert_valid(&validator, &document, run);
            fields.extend(document.as_object().expect("an object").keys().cloned());
            for level in document["levels"].as_array().into_iter().flatten() {
                verdicts.insert(level["verdict"].as_str().expect("a word").to_owned());
                fields.extend(level.as_object().expect("an object").keys().cloned());
            }
        }
    }
    assert_eq!(
        verdicts.into_iter().collect::<Vec<_>>(),
        ["satisfied", "undecided", "violated"]
    );
    for field in [
        "error",
        "part",
        "promised",
        "published_patterns",
        "listing",
        "reason",
        "witness",
        "snapshots",
    ] {
        assert!(fields.contains(field), "no run has the field {field}");
    }
}

#[test]
fn what_is_said_while_a_history_is_followed_is_as_described() {
    let validator = validator("followed");
    let (mut events, mut fields, mut verdicts) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for entry in std::fs::read_dir(sample(""))
        .expect("the samples")
        .flatten()
    {
        let path = entry.path().display().to_string();
        if path.ends_with(".txt") {
            let run = ["check", "--follow", &path, "--json", "--until-idle", "0"];
            for event in documents(&run) {
                assert_valid(&validator, &event, &path);
                events.insert(event["event"].as_str().expect("a word").to_owned());
                fields.extend(event.as_object().expect("an object").keys().cloned());
                verdicts.extend(
                    event["levels"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .map(|l| l["verdict"].to_string()),
                );
            }
        }
    }
    assert_eq!(
        events.into_iter().collect::<Vec<_>>(),
        ["answer", "end", "progress", "violation"]
    );
    assert!(
        verdicts.contains("\"violated\"") && verdicts.contains("\"satisfied\""),
        "{verdicts:?}"
    );
    for field in [
        "history",
        "violation",
        "pattern",
        "stopped",
        "left_out",
        "reason",
        "assumptions",
    ] {
        assert!(
            fields.contains(field),
            "no event has the field {field}: {fields:?}"
        );
    }
    let event = documents(&[
        "check",
        "--follow",
        &sample("web-shop.txt"),
        "--json",
        "--until-idle",
        "0",
    ]);
    let violation = event
        .iter()
        .find(|event| event["event"] == "violation")
        .expect("a violation");
    for (pointer, by) in [
        ("/schema", Some(json!("isoscope.followed/2"))),
        ("/event", Some(json!("unheard of"))),
        ("/line", None),
        ("/levels", Some(json!("SI"))),
        ("/violation/edges/0/reason/rule", None),
    ] {
        assert!(
            !validator.is_valid(&damaged(violation, pointer, by.clone())),
            "{pointer} may be {by:?}"
        );
    }
}

#[test]
fn merged_reports_are_as_described() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let part = folder.path().join("part.json").display().to_string();
    printed(&[
        "check",
        &sample(""),
        "--json",
        "--shards",
        "2",
        "--shard",
        "1",
        "-o",
        &part,
    ]);
    let merged = documents(&["merge-reports", &part]);
    assert!(
        merged
            .iter()
            .any(|document| document["history"].get("format").is_none()),
        "none is missing"
    );
    merged
        .iter()
        .for_each(|document| assert_valid(&validator("report"), document, &"merged"));
}

/// The place in `value` becomes what is given, or goes away.
fn damaged(value: &Json, pointer: &str, by: Option<Json>) -> Json {
    let mut value = value.clone();
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
    let parent = value
        .pointer_mut(parent)
        .unwrap_or_else(|| panic!("no {pointer}"));
    match (parent, by) {
        (Json::Object(object), None) => drop(
            object
                .remove(field)
                .unwrap_or_else(|| panic!("no {pointer}")),
        ),
        (Json::Array(list), None) => drop(list.remove(field.parse().expect("a place"))),
        (Json::Array(list), Some(by)) => list[field.parse::<usize>().expect("a place")] = by,
        (parent, Some(by)) => parent[field] = by,
        (_, None) => panic!("no {pointer}"),
    }
    value
}

#[test]
fn damaged_reports_are_refused() {
    let validator = validator("report");
    let report = documents(&["check", &sample("web-shop.txt"), "--json", "--witness"]).remove(0);
    let share = documents(&[
        "check",
        &sample("web-shop.txt"),
        "--json",
        "--shards",
        "2",
        "--shard",
        "0",
    ])
    .remove(0);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let broken = folder.path().join("broken.txt");
    std::fs::write(&broken, "what is this\n").expect("a file");
    let unreadable = documents(&["check", &broken.display().to_string(), "--json"]).remove(0);
    let elsewhere = documents(&[
        "check",
        &sample(""),
        "--json",
        "--shards",
        "2",
        "--shard",
        "1",
    ])
    .remove(0);
    let no_longer: &[(&Json, &str, Option<Json>)] = &[
        (&report, "/schema", Some(json!("isoscope.report/2"))),
        (&report, "/schema", None),
        (&report, "/levels", None),
        (&report, "/levels/0/verdict", Some(json!("perhaps"))),
        (&report, "/levels/0/verdict", None),
        (&report, "/levels/0/seconds", Some(json!("fast"))),
        (&report, "/levels/0/reason", Some(Json::Null)),
        (&report, "/history/sessions", Some(json!(-1))),
        (&report, "/history/format", None),
        (&report, "/patterns", Some(json!({ "TAP-a": "many" }))),
        (
            &report,
            "/violations/0/claim/kind",
            Some(json!("unheard_of")),
        ),
        (&report, "/violations/0/claim/text", None),
        (
            &report,
            "/violations/0/proof",
            Some(json!({ "kind": "cycle" })),
        ),
        (&report, "/violations/0/edges/0/reason/rule", None),
        (&report, "/violations/0/transactions/0/id", Some(json!(7))),
        (&share, "/levels/0/verdict", Some(json!("perhaps"))),
        (&share, "/violations", None),
        (&unreadable, "/error/message", None),
        (&unreadable, "/error", Some(json!("unreadable"))),
        (&unreadable, "/error", None),
        (&elsewhere, "/part/of", Some(json!("transactions"))),
        (&elsewhere, "/levels", None),
    ];
    for (document, pointer, by) in no_longer {
        assert_valid(&validator, document, pointer);
        assert!(
            !validator.is_valid(&damaged(document, pointer, by.clone())),
            "{pointer} may be {by:?}"
        );
    }
    for (pointer, by) in [
        ("/added_later", json!(1)),
        ("/levels/0/added_later", json!({})),
        ("/history/new", Json::Null),
    ] {
        assert_valid(&validator, &damaged(&report, pointer, Some(by)), &pointer);
    }
}

fn json_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            json_below(&path, found);
        } else if path.extension() == Some(OsStr::new("json")) {
            found.push(path);
        }
    }
}

#[test]
fn histories_are_as_described() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let written = [
        "case-split",
        "ok-lists",
        "ok-aborted-and-unknown",
        "ok-explicit-initial-state",
        "real-time-cycle",
    ];
    for name in written {
        let output = folder.path().join(format!("{name}.json"));
        printed(&[
            "convert",
            &sample(&format!("{name}.txt")),
            "-o",
            &output.display().to_string(),
        ]);
        assert!(output.exists(), "{name}");
    }
    let mut paths = Vec::new();
    json_below(&repository("sample_histories"), &mut paths);
    json_below(folder.path(), &mut paths);
    let validator = validator("history");
    let mut n_own = 0;
    for path in paths {
        let history: Json = match serde_json::from_slice(&std::fs::read(&path).expect("a file")) {
            Ok(history) => history,
            // Some formats have an object per line.
            Err(_) => continue,
        };
        let is_own = history["schema"] == "isoscope.history/1";
        n_own += usize::from(is_own);
        if is_own {
            assert_valid(&validator, &history, &path)
        } else {
            assert!(
                !validator.is_valid(&history),
                "{} is of another format",
                path.display()
            )
        }
    }
    assert!(n_own >= written.len() + 2, "{n_own} histories");
}

#[test]
fn the_reader_and_the_schema_agree() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.json");
    let validator = validator("history");
    let agree = |history: String, is_right: bool| {
        std::fs::write(&path, &history).expect("a file");
        let read = formats::open(&path, Some("json"), &Control::new());
        assert_eq!(
            read.is_ok(),
            is_right,
            "{history}: {:?}",
            read.err().map(|error| error.to_string())
        );
        let value = serde_json::from_str(&history).expect("JSON");
        assert_eq!(validator.is_valid(&value), is_right, "{history}");
    };
    let of = |fields: &str| format!("{{\"schema\":\"isoscope.history/1\",{fields}}}");
    let session = |fields: &str| of(&format!("\"sessions\":[{{{fields}}}]"));
    let transaction = |fields: &str| session(&format!("\"transactions\":[{{{fields}}}]"));
    let operation = |operation: &str| transaction(&format!("\"operations\":[{operation}]"));

    agree("{\"sessions\":[]}".to_owned(), false);
    agree(
        "{\"schema\":\"isoscope.history/2\",\"sessions\":[]}".to_owned(),
        false,
    );
    for (fields, is_right) in [
        ("\"sessions\":[]", true),
        ("\"sessions\":[],\"initial\":null,\"made by\":[1.5]", true),
        ("\"sessions\":[],\"initial\":\"nil\"", true),
        ("\"sessions\":[],\"initial\":[]", false),
        ("\"sessions\":{}", false),
        ("\"initial\":0", false),
    ] {
        agree(of(fields), is_right);
    }
    for (fields, is_right) in [
        ("", true),
        ("\"name\":\"a\",\"note\":null", true),
        ("\"name\":null", false),
        ("\"name\":1.5", false),
        ("\"transactions\":null", false),
    ] {
        agree(session(fields), is_right);
    }
    for (fields, is_right) in [
        ("", true),
        (
            "\"id\":7,\"outcome\":\"unknown\",\"set_up\":true,\"start\":-1,\"end\":2",
            true,
        ),
        ("\"id\":null", false),
        ("\"outcome\":\"committed\"", true),
        ("\"outcome\":\"perhaps\"", false),
        ("\"outcome\":null", false),
        ("\"set_up\":1", false),
        ("\"start\":1", false),
        ("\"end\":1", false),
        ("\"start\":1,\"end\":9223372036854775808", false),
        ("\"start\":null,\"end\":1", false),
        ("\"operations\":{}", false),
    ] {
        agree(transaction(fields), is_right);
    }
    for (text, is_right) in [
        ("[\"w\",\"x\",3]", true),
        ("[\"a\",\"x\",\"three\"]", true),
        ("[\"r\",\"x\",3],[\"r\",-1,18446744073709551615]", true),
        (
            "[\"r\",\"x\",null],[\"r\",\"x\"],[\"n\",\"x\",3],[\"n\",\"x\",null]",
            true,
        ),
        ("[\"r\",\"x\",[]],[\"r\",\"x\",[1,\"two\"]]", true),
        ("[\"w\",\"x\"]", false),
        ("[\"w\",\"x\",null]", false),
        ("[\"a\",\"x\",[1]]", false),
        ("[\"n\",\"x\"]", false),
        ("[\"n\",\"x\",[1]]", false),
        ("[\"q\",\"x\",1]", false),
        ("[\"r\"]", false),
        ("[\"r\",null,1]", false),
        ("[\"r\",\"x\",1,2]", false),
        ("[\"r\",\"x\",[[1]]]", false),
        ("[\"r\",\"x\",true]", false),
        ("[\"w\",\"x\",18446744073709551616]", false),
        ("{\"r\":\"x\"}", false),
    ] {
        agree(operation(text), is_right);
    }
    for (text, is_right) in [
        (r#"["i","x",3],["d","x"],["r","x",{"absent":true}]"#, true),
        (
            r#"["s",{},{"rows":[["x",1],[2,"b"]]}],["s",{"table":"t"},{"keys":[]}]"#,
            true,
        ),
        (r#"["s",{"where":["mod",3,1]},{"rows":[]}]"#, true),
        (
            r#"["s",{"where":["and",["not",["=","a"]],["key",null,5]]},{"rows":[]}]"#,
            true,
        ),
        (
            r#"["s",{"where":["key in","a",5]},{"keys":["a"]}],["s",{"where":["<",-4]},{"rows":[]}]"#,
            true,
        ),
        (r#"["d","x",3]"#, false),
        (r#"["i","x"]"#, false),
        (r#"["r","x",{"absent":false}]"#, false),
        (r#"["r","x",{}]"#, false),
        (r#"["s",{}]"#, false),
        (r#"["s",{},{}]"#, false),
        (r#"["s",{},{"rows":[],"keys":[]}]"#, false),
        (r#"["s",{},{"rows":["x"]}]"#, false),
        (r#"["s",{"where":["mod",0,0]},{"rows":[]}]"#, false),
        (r#"["s",{"where":["like","a"]},{"rows":[]}]"#, false),
        (r#"["s",{"where":"v = 1"},{"rows":[]}]"#, false),
    ] {
        agree(operation(text), is_right);
    }
}

/// What IsoScope and the SQLite driver say to each other while a history is recorded.
fn conversation(folder: &Path) -> Vec<Json> {
    let path = |name: &str| folder.join(name).display().to_string();
    let driver = repository("examples/drivers/sqlite.py")
        .display()
        .to_string();
    // Each process has files of its own.
    let command = format!(
        "tee {}.$$ | python3 {driver} {} | tee {}.$$",
        path("requests"),
        path("test.db"),
        path("answers")
    );
    for workload in ["general", "list-append"] {
        let run = [
            "collect",
            "--exec",
            &command,
            "--workload",
            workload,
            "--transactions",
            "100",
            "-o",
        ];
        printed(&[&run[..], &[&path(workload)]].concat());
    }
    let files = std::fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path());
    let is_copy = |path: &PathBuf| {
        matches!(
            path.file_stem().and_then(OsStr::to_str),
            Some("requests" | "answers")
        )
    };
    let copies = files
        .filter(is_copy)
        .map(|path| std::fs::read_to_string(path).expect("a copy"));
    let lines: String = copies.collect();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

#[test]
fn driver_programs_talk_as_described() {
    if Command::new("python3").arg("--version").output().is_err() {
        assert!(
            std::env::var_os("ISOSCOPE_REQUIRE_SERVERS").is_none(),
            "python3 is not installed"
        );
        println!("skipped: python3 is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let validator = validator("driver");
    let (mut operations, mut answers) = (BTreeSet::new(), 0);
    for line in conversation(folder.path()) {
        assert_valid(&validator, &line, &line);
        match line["op"].as_str() {
            Some(operation) => drop(operations.insert(operation.to_owned())),
            None => answers += 1,
        }
    }
    for operation in [
        "hello",
        "prepare",
        "begin",
        "read",
        "write",
        "read-list",
        "append",
        "commit",
    ] {
        assert!(
            operations.contains(operation),
            "{operation} was never asked for"
        );
    }
    assert!(answers > 200, "{answers} answers");
    let refused = [
        json!({}),
        json!({ "op": "commit", "ok": null }),
        json!({ "op": "fly" }),
        json!({ "op": "read" }),
        json!({ "op": "write", "key": 1, "value": 0 }),
        json!({ "op": "read", "key": -1 }),
        json!({ "op": "hello", "protocol": 2, "isolation": "serializable", "read_only": false }),
        json!({ "ok": 1, "aborted": "both" }),
        json!({ "aborted": 7 }),
    ];
    refused.iter().for_each(|line| {
        assert!(
            !validator.is_valid(line),
            "{line} is no line of the protocol"
        )
    });
    for fine in [
        json!({ "aborted": "locked" }),
        json!({ "unknown": "gone" }),
        json!({ "op": "rollback" }),
    ] {
        assert_valid(&validator, &fine, &fine);
    }
}
