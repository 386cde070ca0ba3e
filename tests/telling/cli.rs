//! The program as scripts see it: exit codes, one line on standard error, the JSON report, whole output files.

use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Satisfies every level.
const GOOD: &str = "a: [w x 1] [r x 1, w x 2]\nb: [r x 2]\n";
/// Two updates of one version: satisfies PC, violates SI.
const LOST_UPDATE: &str = "a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n";
/// b sees the second transaction of a through y, but not its write of x: satisfies RC, violates RA.
const FRACTURED: &str = "a: [w x 1] [w x 2, w y 2]\nb: [r x 1, r y 2]\n";
/// Violates nearly everything, by an aborted transaction among others.
const ABORTED_READ: &str = "a: [w x 1]! [w y 1]\nb: [r x 1] [r y 1]\n";

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a file in the temporary folder");
        path
    }
}

fn isoscope<I: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = I>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isoscope"));
    command
        .args(arguments)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null());
    command.output().expect("the program starts")
}

fn check(path: &Path, more: &[&str]) -> Output {
    isoscope(
        ["check".as_ref(), path.as_os_str()]
            .into_iter()
            .chain(more.iter().map(std::ffi::OsStr::new)),
    )
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Exit code 2 and exactly one line on standard error that contains each of `parts`.
#[track_caller]
fn assert_unusable(output: &Output, parts: &[&str]) {
    let errors = stderr(output);
    assert_eq!(code(output), 2, "{errors}{}", stdout(output));
    assert!(errors.starts_with("isoscope: "), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    for part in parts {
        assert!(errors.contains(part), "`{part}` is not in: {errors}");
    }
}

fn reports(output: &Output) -> Vec<Json> {
    stdout(output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is a JSON object"))
        .collect()
}

fn verdicts(report: &Json) -> Vec<(String, String)> {
    let text = |value: &Json| value.as_str().expect("a string").to_owned();
    let levels = report["levels"].as_array().expect("levels");
    levels
        .iter()
        .map(|level| (text(&level["level"]), text(&level["verdict"])))
        .collect()
}

#[test]
fn exit_codes_tell_the_verdict() {
    let folder = Folder::new();
    assert_eq!(code(&check(&folder.file("good.txt", GOOD), &[])), 0);
    let lost = folder.file("lost.txt", LOST_UPDATE);
    assert_eq!(code(&check(&lost, &[])), 1);
    assert_eq!(code(&check(&lost, &["--level", "PC"])), 0);
    assert_eq!(
        code(&check(&lost, &["--level", "prefix-consistency,SI"])),
        1
    );
    // Without times SSER is violated where SER is, and undecided else.
    assert_eq!(code(&check(&lost, &["--level", "SSER"])), 1);
    assert_eq!(
        code(&check(&folder.file("good.txt", GOOD), &["--level", "SSER"])),
        3
    );
}

#[test]
fn verdicts_follow_the_hierarchy() {
    let folder = Folder::new();
    let report = &reports(&check(&folder.file("f.txt", FRACTURED), &["--json"]))[0];
    let words: Vec<(String, String)> = verdicts(report);
    let expected = [
        ("CI", "satisfied"),
        ("RC", "satisfied"),
        ("RA", "violated"),
        ("TCC", "violated"),
        ("PC", "violated"),
        ("SI", "violated"),
        ("SER", "violated"),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(l, v)| ((*l).to_owned(), (*v).to_owned()))
        .collect();
    assert_eq!(words, expected);
}

#[test]
fn unreadable_inputs_give_one_clear_line() {
    let folder = Folder::new();
    assert_unusable(&check(&folder.file("empty.txt", ""), &[]), &["empty.txt"]);
    assert_unusable(&check(&folder.path("missing.txt"), &[]), &["missing.txt"]);
    assert_unusable(
        &check(&folder.file("cut.txt", "r(1,2,0,0)\nw(1,"), &[]),
        &["cut.txt", "line 2"],
    );
    assert_unusable(
        &check(
            &folder.file(
                "binary.txt",
                (0..=255u8).cycle().take(4000).collect::<Vec<_>>(),
            ),
            &[],
        ),
        &["binary.txt"],
    );
    assert_unusable(
        &check(
            &folder.file("garbage.txt", "what is this\n".repeat(100_000)),
            &[],
        ),
        &["garbage.txt"],
    );
    std::fs::create_dir(folder.path("hollow")).expect("a folder");
    assert_unusable(
        &check(&folder.path("hollow"), &[]),
        &["hollow", "no history"],
    );
    let good = folder.file("good.txt", GOOD);
    for subcommand in ["explain", "stats"] {
        assert_unusable(
            &isoscope([subcommand.as_ref(), folder.path("none").as_os_str()]),
            &["none"],
        );
        assert_unusable(
            &isoscope([subcommand.as_ref(), folder.0.path().as_os_str()]),
            &["directory"],
        );
    }
    assert_unusable(
        &isoscope([
            "verify".as_ref(),
            good.as_os_str(),
            folder.path("none.json").as_os_str(),
        ]),
        &["none.json"],
    );
    assert_unusable(
        &isoscope(["verify".as_ref(), good.as_os_str(), good.as_os_str()]),
        &["good.txt", "line 1"],
    );
}

/// Two updates seen by the same session in either order: RA holds, but not with one commit order for all levels.
const ONE_ORDER_TRAP: &str = "a: [w x 1]\nb: [w x 2] [r x 1] [r x 2]\n";

#[test]
fn a_papers_checker_decides_its_own_levels_under_its_own_name() {
    let folder = Folder::new();
    let path = folder.file("h.txt", FRACTURED);
    let levels = [
        ("plume", vec!["CI", "RC", "RA", "TCC"]),
        ("plume-tc", vec!["CI", "RC", "RA", "TCC"]),
        ("plume-dfs", vec!["CI", "RC", "RA", "TCC"]),
        ("c4", vec!["TCC"]),
        ("c4-tc", vec!["TCC"]),
        ("c4-dfs", vec!["TCC"]),
        ("be-sat", vec!["RC", "RA", "TCC"]),
        ("be-search", vec!["PC", "SI", "SER"]),
        ("polysi", vec!["SI", "SER"]),
        ("polysi-np", vec!["SI", "SER"]),
        ("polysi-ncp", vec!["SI", "SER"]),
    ];
    for (checker, expected) in levels {
        let output = check(&path, &["--checker", checker, "--json", "--witness"]);
        assert_eq!(code(&output), 1, "{checker}");
        let report = &reports(&output)[0];
        let entries = report["levels"].as_array().expect("levels");
        let found: Vec<&str> = entries
            .iter()
            .map(|level| level["level"].as_str().expect("a code"))
            .collect();
        assert_eq!(found, expected, "{checker}");
        for level in entries {
            let holds = matches!(level["level"].as_str(), Some("CI" | "RC"));
            assert_eq!(
                level["verdict"],
                if holds { "satisfied" } else { "violated" },
                "{checker}"
            );
            assert_eq!(level["checker"], checker);
            assert_eq!(level["witness"].is_array(), holds);
        }
        assert_eq!(report["violations"][0]["id"], "TAP-k/1", "{checker}");
        let counts = report["patterns"].as_object().expect("counts");
        match checker {
            "be-sat" | "be-search" | "polysi" | "polysi-np" | "polysi-ncp" => {
                assert!(counts.is_empty())
            }
            "c4" | "c4-tc" | "c4-dfs" => {
                assert_eq!(
                    (counts.len(), &counts["C4 TAP-h"], &counts["C4 TAP-a"]),
                    (12, &1.into(), &0.into())
                );
            }
            _ => assert_eq!(
                (counts.len(), &counts["TAP-k"], &counts["TAP-a"]),
                (14, &1.into(), &0.into())
            ),
        }
        let saved = folder.file("report.json", &output.stdout);
        assert_eq!(
            code(&isoscope([
                "verify".as_ref(),
                path.as_os_str(),
                saved.as_os_str()
            ])),
            0,
            "{checker}"
        );
    }
}

#[test]
fn mtc_decides_mini_transactions_and_names_what_is_none() {
    let folder = Folder::new();
    let path = folder.file("updates.txt", "a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n");
    let output = check(&path, &["--checker", "mtc", "--level", "SI,SER", "--json"]);
    assert_eq!(code(&output), 1);
    let report = &reports(&output)[0];
    assert_eq!(report["patterns"], serde_json::json!({"Divergence": 1}));
    assert_eq!(report["violations"][0]["pattern"], "Divergence");
    let path = folder.file("blind.txt", "a: [r x 0, w x 1]\nb: [w x 2]\n");
    let output = check(&path, &["--checker", "mtc", "--level", "SI,SER"]);
    assert_eq!(code(&output), 3);
    assert!(
        stdout(&output).contains("writes key x without reading it first"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn as_published_is_said_where_it_is_asked_for() {
    let folder = Folder::new();
    let path = folder.file("h.txt", ONE_ORDER_TRAP);
    assert_eq!(
        code(&check(&path, &["--checker", "plume", "--level", "RA"])),
        0
    );
    let output = check(&path, &["--checker", "plume", "--level", "RA", "--one-cm"]);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    assert!(
        text.lines()
            .next()
            .is_some_and(|line| line.ends_with("checked by plume")),
        "{text}"
    );
    assert!(
        text.contains("RA is violated as published")
            && text.contains("by the axioms RA is satisfied"),
        "{text}"
    );
    let path = folder.file("again.txt", "a: [w x 1] [w x 2]\nb: [r x 2, r x 1]\n");
    assert_eq!(
        code(&check(&path, &["--checker", "plume", "--level", "RC"])),
        1
    );
    assert_eq!(
        code(&check(
            &path,
            &["--checker", "plume", "--level", "RC", "--rc", "be"]
        )),
        1
    );
    let output = check(
        &path,
        &["--checker", "plume", "--level", "RC", "--rc", "plume"],
    );
    assert_eq!(code(&output), 0);
    assert!(
        stdout(&output).contains("Definition 4"),
        "{}",
        stdout(&output)
    );
}

/// Session order alone: TAP-k in IsoScope's rule; in that of the program TAP-m, as another transaction is between.
const BEHIND_ITS_SESSION: &str = "a: [w x 1]\nb: [r x 1, w x 2] [w y 1] [r x 1]\n";

#[test]
fn both_rules_of_counting_are_named() {
    let folder = Folder::new();
    let path = folder.file("h.txt", BEHIND_ITS_SESSION);
    let own = check(&path, &["--checker", "plume", "--count", "own"]);
    assert!(
        stdout(&own).contains("\nAnomalies\n  TAP-k  1  "),
        "{}",
        stdout(&own)
    );
    assert_eq!(stdout(&own), stdout(&check(&path, &["--checker", "plume"])));
    let output = check(&path, &["--checker", "plume", "--count", "published"]);
    let text = stdout(&output);
    assert_eq!(code(&output), 1);
    assert!(
        text.contains("\nAnomalies, as Plume's published program counts them\n  TAP-m  1  "),
        "{text}"
    );
    assert!(
        text.contains("--count published") && text.contains("--count own"),
        "{text}"
    );
    let output = check(
        &path,
        &[
            "--checker",
            "plume",
            "--count",
            "published",
            "--json",
            "--witness",
        ],
    );
    let report: Json = serde_json::from_str(&stdout(&output)).expect("one object");
    assert_eq!(
        (&report["patterns"]["TAP-k"], &report["patterns"]["TAP-m"]),
        (&1.into(), &0.into())
    );
    assert_eq!(
        report["published_patterns"],
        serde_json::json!({ "TAP-m": 1 })
    );
    let json = folder.file("report.json", stdout(&output));
    let verified = isoscope(["verify".as_ref(), path.as_os_str(), json.as_os_str()]);
    assert_eq!(code(&verified), 0, "{}", stdout(&verified));
    let own: Json = serde_json::from_str(&stdout(&check(&path, &["--checker", "plume", "--json"])))
        .expect("one object");
    assert_eq!(own.get("published_patterns"), None);
}

/// Each operation is a transaction of its own, with times.
const LIGHT: &str =
    "a: [r x init, w x 1]@0..1 [r x 1]@6..7\nb: [r x 1, w x 2]@2..9 [n x 1]@10..11\n";
/// The same but for a failed swap that should have found its value.
const HELD: &str = "a: [r x init, w x 1]@0..1 [r x 1]@6..7\nb: [n x 1]@3..4\n";
/// The same of two keys and two sessions that overlap.
const ACROSS: &str = "a: [w x 1]@0..10 [n y 1]@1..9\nb: [w y 1]@0..10 [n x 1]@1..9\n";

#[test]
fn linearizability_is_decided_for_lightweight_transactions() {
    let folder = Folder::new();
    let (light, held) = (
        folder.file("light.txt", LIGHT),
        folder.file("held.txt", HELD),
    );
    let across = folder.file("across.txt", ACROSS);
    let good = folder.file("good.txt", GOOD);
    assert_eq!(code(&check(&light, &[])), 0);
    assert_eq!(code(&check(&light, &["--level", "linearizability"])), 0);
    assert_eq!(
        code(&check(&held, &["--level", "SSER"])),
        0,
        "no other level sees a failed swap"
    );
    assert_eq!(code(&check(&held, &["--level", "LIN"])), 1);
    assert_eq!(code(&check(&good, &["--level", "lin"])), 3);
    assert!(stdout(&check(&good, &["--level", "LIN"])).contains("no timestamps"));
    assert_eq!(verdicts(&reports(&check(&light, &["--json"]))[0]).len(), 9);
    assert_eq!(code(&check(&across, &["--level", "SSER"])), 0);
    for path in [&light, &held, &across] {
        let output = check(path, &["--json", "--witness"]);
        let saved = folder.file("report.json", &output.stdout);
        let verified = isoscope(["verify".as_ref(), path.as_os_str(), saved.as_os_str()]);
        assert_eq!(code(&verified), 0, "{}", stdout(&verified));
        assert!(
            !stdout(&verified).contains("without evidence"),
            "{}",
            stdout(&verified)
        );
    }
    let told = isoscope(["explain".as_ref(), held.as_os_str()]);
    assert!(stdout(&told).contains("x ≠ 1"), "{}", stdout(&told));
    let picture = folder.path("held.svg");
    let violation = ["--violation", "NoLinearOrder/1", "-o"].map(std::ffi::OsStr::new);
    let drawn = isoscope(
        [
            &["export".as_ref(), held.as_os_str()][..],
            &violation,
            &[picture.as_os_str()],
        ]
        .concat(),
    );
    assert_eq!(code(&drawn), 0, "{}", stderr(&drawn));
}

#[test]
fn the_algorithm_for_chains_of_swaps_says_where_it_does_not_apply() {
    let folder = Folder::new();
    let chain = folder.file(
        "chain.txt",
        "a: [r x init, w x 1]@0..1\nb: [r x 1, w x 2]@2..9\n",
    );
    let torn = folder.file(
        "torn.txt",
        "a: [r x init, w x 1]@4..5\nb: [r x 1, w x 2]@2..3\n",
    );
    let light = folder.file("light.txt", LIGHT);
    assert_eq!(code(&check(&chain, &["--checker", "vl-lwt"])), 0);
    assert_eq!(code(&check(&torn, &["--checker", "vl-lwt"])), 1);
    assert_eq!(code(&check(&light, &["--checker", "vl-lwt"])), 3);
    assert_eq!(
        code(&check(
            &folder.file("good.txt", GOOD),
            &["--checker", "vl-lwt"]
        )),
        3
    );
    for path in [&chain, &torn] {
        let output = check(path, &["--json", "--witness", "--checker", "vl-lwt"]);
        let saved = folder.file("report.json", &output.stdout);
        let verified = isoscope(["verify".as_ref(), path.as_os_str(), saved.as_os_str()]);
        assert_eq!(code(&verified), 0, "{}", stdout(&verified));
        assert!(
            !stdout(&verified).contains("without evidence"),
            "{}",
            stdout(&verified)
        );
    }
}

#[test]
fn bad_usage_gives_one_clear_line() {
    let folder = Folder::new();
    let good = folder.file("good.txt", GOOD);
    assert_unusable(&check(&good, &["--level", "XY"]), &["XY", "RC"]);
    assert_unusable(
        &check(&good, &["--checker", "cobra"]),
        &["cobra", "fast", "mtc"],
    );
    assert_unusable(
        &check(&good, &["--checker", "mtc", "--level", "PC"]),
        &["mtc", "PC", "SI, SER, SSER"],
    );
    assert_unusable(
        &check(&good, &["--checker", "c4", "--level", "TCC,SI"]),
        &["c4", "SI", "only TCC"],
    );
    assert_unusable(
        &check(&good, &["--checker", "be-sat", "--level", "CI"]),
        &["be-sat", "CI", "RC, RA, TCC"],
    );
    assert_unusable(&check(&good, &["--one-cm"]), &["--one-cm", "plume"]);
    assert_unusable(
        &check(&good, &["--checker", "c4", "--rc", "plume"]),
        &["--rc", "plume"],
    );
    assert_unusable(
        &check(&good, &["--count", "published"]),
        &["--count", "plume"],
    );
    assert_unusable(
        &check(&good, &["--checker", "plume", "--count", "all"]),
        &["all", "own or published"],
    );
    assert_unusable(
        &isoscope([
            "stats".as_ref(),
            "--depth".as_ref(),
            "2".as_ref(),
            good.as_os_str(),
        ]),
        &["--plume-table", "--weakest-table"],
    );
    assert_unusable(
        &check(&good, &["--checker", "plume", "--rc", "adya"]),
        &["adya", "be or plume"],
    );
    assert_unusable(
        &check(&good, &["--format", "nonsense"]),
        &["nonsense", "expected"],
    );
    assert_unusable(&check(&good, &["--time-limit", "soon"]), &["soon"]);
    assert_unusable(&check(&good, &["--frobnicate"]), &["--frobnicate"]);
    assert_unusable(&isoscope(["check"]), &["PATH"]);
    assert_unusable(
        &isoscope([
            "explain".as_ref(),
            good.as_os_str(),
            "--violation".as_ref(),
            "TAP-z/1".as_ref(),
        ]),
        &["TAP-z/1"],
    );
    assert_unusable(
        &isoscope([
            "explain".as_ref(),
            good.as_os_str(),
            "--violation".as_ref(),
            "TAP-m/1".as_ref(),
        ]),
        &["TAP-m/1"],
    );
    assert_unusable(
        &isoscope([
            "minimize".as_ref(),
            good.as_os_str(),
            "--level".as_ref(),
            "SI".as_ref(),
        ]),
        &["--output"],
    );
}

/// Names written from right to left are set apart, and what cannot be drawn is said.
#[test]
fn names_of_any_script_keep_their_place_in_sentences_and_pictures() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/names.json");
    let folder = Folder::new();
    let export = |ending: &str| {
        let out = folder.path(&format!("out.{ending}"));
        let more = ["--violation", "TAP-k/1", "-o"].map(std::ffi::OsStr::new);
        let output = isoscope(
            ["export".as_ref(), file.as_os_str()]
                .into_iter()
                .chain(more)
                .chain([out.as_os_str()]),
        );
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        (stderr(&output), std::fs::read(out).expect("it is written"))
    };
    let isolated = "\u{2068}לקוח\u{2069}#2";
    for ending in ["svg", "md", "txt", "dot", "mmd"] {
        let (said, bytes) = export(ending);
        let text = String::from_utf8(bytes).expect("UTF-8");
        assert_eq!(said, "", "{ending}");
        // Mermaid writes # as a code.
        assert!(
            text.replace("#35;", "#").contains(isolated),
            "{ending}: {text}"
        );
        for line in text.lines() {
            let n = |wanted: char| line.matches(wanted).count();
            assert_eq!(n('\u{2068}'), n('\u{2069}'), "{ending}: {line}");
        }
        assert!(!text.contains("\\u{"), "{ending}: {text}");
    }
    assert!(stdout(&check(&file, &[])).contains(isolated));
    let (said, bytes) = export("png");
    assert!(bytes.starts_with(b"\x89PNG"));
    assert!(
        said.is_empty() || said.contains("This machine has no font for"),
        "{said}"
    );
}

#[test]
fn help_is_no_error_and_shows_examples() {
    for arguments in [
        &["--help"][..],
        &["check", "--help"],
        &["explain", "--help"],
        &["verify", "--help"],
    ] {
        let output = isoscope(arguments);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("isoscope "), "{}", stdout(&output));
        assert!(stdout(&output).contains("Example"), "{}", stdout(&output));
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn one_unreadable_history_never_stops_the_rest() {
    let folder = Folder::new();
    folder.file("1-bad.txt", "what is this\n");
    folder.file("2-good.txt", GOOD);
    folder.file("3-lost.txt", LOST_UPDATE);
    folder.file("notes.md", "Not a history, and nobody says it is.\n");
    let output = check(folder.0.path(), &["--json"]);
    assert_eq!(code(&output), 2);
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    let reports = reports(&output);
    assert_eq!(reports.len(), 3);
    assert_eq!(reports[0]["schema"], "isoscope.report/1");
    assert!(
        reports[0]["history"]["path"]
            .as_str()
            .expect("a path")
            .ends_with("1-bad.txt")
    );
    assert!(reports[0]["error"]["place"].is_string() && reports[0]["error"]["message"].is_string());
    assert!(
        verdicts(&reports[1])
            .iter()
            .all(|(_, verdict)| verdict == "satisfied")
    );
    assert!(
        verdicts(&reports[2])
            .iter()
            .any(|(_, verdict)| verdict == "violated")
    );
    std::fs::remove_file(folder.path("1-bad.txt")).expect("removed");
    assert_eq!(code(&check(folder.0.path(), &[])), 1);
}

#[test]
fn the_report_has_the_promised_shape() {
    let folder = Folder::new();
    let path = folder.file("f.txt", FRACTURED);
    let output = check(&path, &["--json", "--witness"]);
    assert!(stdout(&output).ends_with("}\n"));
    let report = &reports(&output)[0];
    let top: Vec<&String> = report.as_object().expect("an object").keys().collect();
    for key in [
        "schema",
        "history",
        "levels",
        "patterns",
        "violations",
        "timings",
        "assumptions",
        "health",
    ] {
        assert!(top.iter().any(|k| *k == key), "{key}");
    }
    let history = &report["history"];
    assert_eq!(history["path"], path.to_str().expect("UTF-8"));
    assert_eq!(history["format"], "text");
    let figures = [
        "sessions",
        "transactions",
        "committed",
        "aborted",
        "unknown",
        "operations",
        "keys",
    ];
    assert_eq!(
        figures.map(|f| history[f].as_u64().expect(f)),
        [2, 3, 3, 0, 0, 5, 2]
    );
    for level in report["levels"].as_array().expect("levels") {
        assert_eq!(level["checker"], "fast");
        assert!(level["seconds"].is_number());
        assert_eq!(
            level["witness"].is_array(),
            level["verdict"] == "satisfied",
            "{level}"
        );
    }
    assert_eq!(
        report["levels"][1]["witness"].as_array().map(Vec::len),
        Some(3),
        "{report}"
    );
    assert_eq!(report["patterns"]["TAP-k"], 1);
    assert_eq!(report["patterns"]["TAP-a"], 0);
    let violations = report["violations"].as_array().expect("violations");
    let fractured = violations
        .iter()
        .find(|v| v["id"] == "TAP-k/1")
        .expect("TAP-k/1");
    assert_eq!(fractured["name"], "FracturedReadCO");
    assert_eq!(
        fractured["levels"],
        serde_json::json!(["RA", "TCC", "PC", "SI", "SER"])
    );
    let transactions = fractured["transactions"].as_array().expect("transactions");
    assert!(
        transactions.contains(&serde_json::json!({"session": "a", "index": 1, "id": "a2"})),
        "{transactions:?}"
    );
    for edge in fractured["edges"].as_array().expect("edges") {
        let kinds = ["SO", "WR", "WW", "RW", "CO", "CM", "RT"];
        assert!(
            kinds.contains(&edge["kind"].as_str().expect("a kind")),
            "{edge}"
        );
        for end in ["from", "to"] {
            assert!(
                (edge[end].as_u64().expect("a place") as usize) < transactions.len(),
                "{edge}"
            );
        }
        assert!(
            edge["why"].as_str().is_some_and(|why| why.ends_with('.')),
            "{edge}"
        );
    }
}

#[test]
fn counts_stay_exact_when_fewer_instances_are_listed() {
    let folder = Folder::new();
    let twice = format!("{FRACTURED}c: [r x 1, r y 2]\n");
    let path = folder.file("f.txt", twice);
    let all = &reports(&check(&path, &["--json"]))[0];
    let none = &reports(&check(&path, &["--json", "--max-instances", "0"]))[0];
    assert_eq!(all["patterns"], none["patterns"]);
    assert_eq!(verdicts(all), verdicts(none));
    assert_eq!(none["violations"].as_array().map(Vec::len), Some(0));
    assert_eq!(all["patterns"]["TAP-k"], 2);
}

/// Ids of the listed violations with the ids of their transactions.
fn listed(report: &Json) -> Vec<(Json, Vec<Json>)> {
    let violations = report["violations"].as_array().expect("violations");
    let transactions = |violation: &Json| {
        violation["transactions"]
            .as_array()
            .expect("transactions")
            .clone()
    };
    let id = |violation: &Json| {
        transactions(violation)
            .into_iter()
            .map(|mut t| t["id"].take())
            .collect()
    };
    violations
        .iter()
        .map(|violation| (violation["id"].clone(), id(violation)))
        .collect()
}

#[test]
fn any_counted_instance_is_listed_and_explained_in_an_order_of_the_history_alone() {
    let folder = Folder::new();
    let shop = include_str!("../../sample_histories/web-shop.txt");
    let path = folder.file("shop.txt", shop);
    let ask =
        |path: &Path, more: &[&str]| reports(&check(path, &[&["--json"], more].concat())).remove(0);
    let all = ask(&path, &["--instances", "tap-n"]);
    let few = ask(&path, &[]);
    let whole = listed(&all);
    assert_eq!(
        (whole.len() as u64, &all["patterns"]["TAP-n"]),
        (27, &27.into())
    );
    assert_eq!(all["listing"]["window"]["pattern"], "TAP-n");
    let representatives: Vec<_> = listed(&few)
        .into_iter()
        .filter(|(id, _)| id.to_string().contains("TAP-n/"))
        .collect();
    assert!(representatives.len() < 27 && whole.starts_with(&representatives));
    let window = ["--instances", "TAP-n", "--offset", "2", "--limit", "9"];
    for more in [
        &["--threads", "1"][..],
        &["--max-instances", "1"],
        &["--no-self-check"],
    ] {
        assert_eq!(
            listed(&ask(&path, &[&window, more].concat())),
            whole[2..11],
            "{more:?}"
        );
    }
    let mut turned: Vec<&str> = shop.lines().filter(|line| !line.starts_with('#')).collect();
    turned.sort_by_key(|line| std::cmp::Reverse(line.split(':').next()));
    let turned = folder.file("turned.txt", turned.join("\n") + "\n");
    assert_eq!(listed(&ask(&turned, &["--instances", "TAP-n"])), whole);
    let every = ask(&path, &["--max-instances", "100000"]);
    let counted: u64 = every["patterns"]
        .as_object()
        .expect("counts")
        .values()
        .filter_map(Json::as_u64)
        .sum();
    assert_eq!(
        (counted, every["violations"].as_array().map(Vec::len)),
        (40, Some(40))
    );
    let text = stdout(&check(&path, &window));
    assert!(
        text.contains("TAP-n 3 to 11 of 27")
            && text.contains("TAP-n/11")
            && !text.contains("TAP-n/12"),
        "{text}"
    );
    let beyond = stdout(&check(&path, &["--instances", "TAP-n", "--offset", "27"]));
    assert!(
        beyond.contains("TAP-n: 27 counted, none from 28 on"),
        "{beyond}"
    );
    let most = u64::MAX.to_string();
    let nowhere = check(
        &path,
        &["--instances", "TAP-n", "--offset", &most, "--limit", &most],
    );
    assert_eq!(code(&nowhere), 1, "{}", stderr(&nowhere));
    for (id, has) in [("TAP-n/27", true), ("TAP-n/28", false)] {
        let explained = isoscope([
            "explain".as_ref(),
            path.as_os_str(),
            "--violation".as_ref(),
            id.as_ref(),
        ]);
        assert_eq!(code(&explained), if has { 0 } else { 2 });
        assert_eq!(stdout(&explained).starts_with("# TAP-n/27"), has);
        assert_eq!(
            stderr(&explained).contains("TAP-n goes up to TAP-n/27"),
            !has
        );
    }
}

#[test]
fn instances_are_counted_by_what_they_have_in_common() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_histories/web-shop.txt");
    let by = |what: &str| {
        let report = reports(&check(&path, &["--json", "--count-by", what])).remove(0);
        let tally = &report["listing"]["tally"];
        assert_eq!(tally["by"], what);
        let rows = tally["rows"].as_array().expect("there are rows").clone();
        let sum: u64 = rows
            .iter()
            .filter_map(|row| row["instances"].as_u64())
            .sum();
        assert_eq!(sum, 40, "each instance counts once");
        for (pattern, count) in report["patterns"].as_object().expect("there are counts") {
            let of_rows: u64 = rows
                .iter()
                .filter_map(|row| row["patterns"][pattern].as_u64())
                .sum();
            assert_eq!(Some(of_rows), count.as_u64(), "{pattern} by {what}");
        }
        (
            rows.len(),
            rows[0]["name"].as_str().unwrap_or_default().to_owned(),
            rows[0]["instances"].clone(),
        )
    };
    assert_eq!(by("level"), (5, "TCC".to_owned(), 28.into()));
    assert_eq!(by("key"), (7, "key price/6".to_owned(), 28.into()));
    assert_eq!(by("cause"), (14, "TAP-n/2".to_owned(), 23.into()));
    by("session");
    assert!(
        stdout(&check(&path, &["--count-by", "key"]))
            .contains("key price/6            28  TAP-i 1, TAP-k 1")
    );
    assert_unusable(
        &check(&path, &["--count-by", "colour"]),
        &["colour", "level, key, session, cause"],
    );
}

#[test]
fn verdicts_alone_come_with_evidence_and_without_counts() {
    let folder = Folder::new();
    let path = folder.file(
        "shop.txt",
        include_str!("../../sample_histories/web-shop.txt"),
    );
    let whole = reports(&check(&path, &["--json", "--witness"])).remove(0);
    let output = check(&path, &["--json", "--witness", "--verdicts-only"]);
    let few = reports(&output).remove(0);
    assert_eq!((code(&output), verdicts(&few)), (1, verdicts(&whole)));
    assert_eq!(
        (&few["listing"]["counted"], &few["patterns"]),
        (&"nothing".into(), &serde_json::json!({}))
    );
    let report = folder.file("report.json", &output.stdout);
    assert_eq!(
        code(&isoscope([
            "verify".as_ref(),
            path.as_os_str(),
            report.as_os_str()
        ])),
        0
    );
    let text = stdout(&check(&path, &["--verdicts-only"]));
    assert!(
        text.contains("TAP-k/1") && !text.contains("Anomalies") && !text.contains("explain"),
        "{text}"
    );
}

#[test]
fn the_report_does_not_depend_on_the_number_of_threads() {
    let folder = Folder::new();
    let path = folder.file(
        "f.txt",
        FRACTURED.to_owned() + &ABORTED_READ.replace(['a', 'b'], "q"),
    );
    assert_eq!(without_times(&path, "1"), without_times(&path, "3"));
}

/// The report as text, but for how long it took.
fn without_times(path: &Path, threads: &str) -> String {
    let arguments = [
        "--json",
        "--witness",
        "--level",
        "RC,RA,TCC",
        "--threads",
        threads,
    ];
    let mut report = reports(&check(path, &arguments)).remove(0);
    report["timings"]
        .as_object_mut()
        .expect("timings")
        .values_mut()
        .for_each(|seconds| *seconds = 0.0.into());
    report["levels"]
        .as_array_mut()
        .expect("levels")
        .iter_mut()
        .for_each(|level| level["seconds"] = 0.0.into());
    report.to_string()
}

/// 40 sessions that each read from a lagging prefix of one log and their own writes, in the order of the sessions; every
/// `stale`-th read returns the version before that.
fn lagging_store(transactions: u64, stale: u64) -> String {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % n
    };
    let mut versions: Vec<Vec<(u64, u64)>> = vec![Vec::new(); 2000];
    let mut seen = [0u64; 40];
    let mut lines = vec![String::new(); 40];
    let mut reads = 0;
    for t in 0..transactions {
        let session = random(40);
        let prefix = &mut seen[session as usize];
        *prefix = (*prefix).max(t.saturating_sub(random(400)));
        let mut written: Vec<u64> = Vec::new();
        for _ in 0..5 {
            let key = random(2000);
            let of_key = &mut versions[key as usize];
            if random(2) == 0 && !written.contains(&key) {
                let visible = |&&(at, by): &&(u64, u64)| at < *prefix || by == session;
                reads += 1;
                let back = usize::from(reads % stale == 0);
                let position = of_key.iter().rev().position(|version| visible(&version));
                let place = position.map_or(0, |p| (of_key.len() - p).saturating_sub(back));
                lines[session as usize] += &format!("r({key},{place},{session},{t})\n");
            } else if !written.contains(&key) {
                of_key.push((t, session));
                written.push(key);
                lines[session as usize] += &format!("w({key},{},{session},{t})\n", of_key.len());
            }
        }
    }
    lines.concat()
}

#[test]
fn the_report_of_a_large_history_does_not_depend_on_the_number_of_threads() {
    let folder = Folder::new();
    for (name, stale, satisfied) in [("lagging", u64::MAX, true), ("stale", 50, false)] {
        let path = folder.file(&format!("{name}.txt"), lagging_store(40_000, stale));
        let one = without_times(&path, "1");
        assert!(
            one == without_times(&path, "2"),
            "{name}: two threads tell something else"
        );
        assert!(
            one == without_times(&path, "5"),
            "{name}: five threads tell something else"
        );
        assert_eq!(one.contains("violated"), !satisfied, "{name}");
        let report = folder.file("report.json", &one);
        let output = isoscope(["verify".as_ref(), path.as_os_str(), report.as_os_str()]);
        assert_eq!(
            code(&output),
            0,
            "{name}: {}{}",
            stdout(&output),
            stderr(&output)
        );
    }
}

#[test]
fn a_report_passes_the_second_opinion_and_a_forged_one_does_not() {
    let folder = Folder::new();
    for (name, text) in [
        ("good", GOOD),
        ("lost", LOST_UPDATE),
        ("fractured", FRACTURED),
        ("aborted", ABORTED_READ),
    ] {
        let path = folder.file(&format!("{name}.txt"), text);
        let report = stdout(&check(&path, &["--json", "--witness"]));
        let file = folder.file("report.json", &report);
        let verify =
            |report: &Path| isoscope(["verify".as_ref(), path.as_os_str(), report.as_os_str()]);
        let output = verify(&file);
        assert_eq!(
            code(&output),
            0,
            "{name}: {}{}\n{report}",
            stdout(&output),
            stderr(&output)
        );
        assert!(stdout(&output).contains("all evidence holds"));
        // The witness of the first level that has one with two transactions, the other way round.
        let mut forged: Json = serde_json::from_str(&report).expect("JSON");
        let levels = forged["levels"].as_array_mut().expect("levels");
        let witness = levels
            .iter_mut()
            .filter_map(|level| level["witness"].as_array_mut())
            .find(|w| w.len() > 1);
        // The two transactions of a lost update may stand either way.
        if let Some(witness) = witness.filter(|_| name != "lost") {
            witness.reverse();
            let output = verify(&folder.file("forged.json", forged.to_string()));
            assert_eq!(code(&output), 1, "{name}: {}", stdout(&output));
        }
        let other = folder.file("other.txt", "a: [w x 1]\n");
        let output = isoscope(["verify".as_ref(), other.as_os_str(), file.as_os_str()]);
        assert_eq!(code(&output), 1, "{name}: {}", stdout(&output));
    }
}

#[test]
fn verify_says_by_its_exit_code_what_it_knows() {
    let folder = Folder::new();
    let (good, fractured) = (
        folder.file("good.txt", GOOD),
        folder.file("fractured.txt", FRACTURED),
    );
    let verify = |path: &Path, report: &Json| {
        let report = folder.file("report.json", report.to_string());
        isoscope(["verify".as_ref(), path.as_os_str(), report.as_os_str()])
    };
    // Of satisfied levels only cut isolation shows without a witness.
    let output = verify(&good, &reports(&check(&good, &["--json"]))[0]);
    assert_eq!(code(&output), 3, "{}", stdout(&output));
    assert!(
        stdout(&output).contains("without evidence  RC satisfied"),
        "{}",
        stdout(&output)
    );
    assert_eq!(
        code(&verify(
            &good,
            &reports(&check(&good, &["--json", "--level", "CI"]))[0]
        )),
        0
    );
    // The witnesses of the other levels refute what is said of one.
    let mut swapped = reports(&check(&good, &["--json", "--witness"]))[0].clone();
    swapped["levels"][1]["verdict"] = "violated".into();
    let output = verify(&good, &swapped);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(
        stdout(&output).contains("explains every read"),
        "{}",
        stdout(&output)
    );
    let report = reports(&check(&fractured, &["--json", "--witness"]))[0].clone();
    assert_eq!(code(&verify(&fractured, &report)), 0);
    let changed = |change: &dyn Fn(&mut Json)| {
        let mut forged = report.clone();
        change(&mut forged);
        let output = verify(&fractured, &forged);
        (code(&output), stdout(&output))
    };
    let (code, text) = changed(&|report| report["violations"] = Json::Array(Vec::new()));
    assert!(code == 3 && text.contains("violated"), "{text}");
    let (code, text) = changed(&|report| report["violations"][0]["edges"][0]["key"] = "z".into());
    assert!(code == 1 && text.contains("violation TAP-k/1"), "{text}");
}

#[test]
fn explanations_name_operations_and_levels() {
    let folder = Folder::new();
    let path = folder.file("f.txt", FRACTURED);
    let output = isoscope([
        "explain".as_ref(),
        path.as_os_str(),
        "--violation".as_ref(),
        "TAP-k/1".as_ref(),
    ]);
    let text = stdout(&output);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(
        text.starts_with("# TAP-k/1\n\n## Half of a transaction was seen\n"),
        "{text}"
    );
    assert!(!text.contains("at length"));
    let output = isoscope([
        "explain".as_ref(),
        path.as_os_str(),
        "--long".as_ref(),
        "--plain".as_ref(),
    ]);
    let text = stdout(&output);
    assert!(text.contains("\nThe argument at length\n"), "{text}");
    let good = folder.file("good.txt", GOOD);
    let output = isoscope(["explain".as_ref(), good.as_os_str()]);
    let text = stdout(&output);
    assert!(
        text.starts_with("## Serializability (SER) holds\n"),
        "{text}"
    );
}

#[test]
fn a_minimized_history_is_small_and_still_violates_the_level() {
    let folder = Folder::new();
    let noisy = format!("{FRACTURED}c: [w z 1] [r z 1] [w z 2]\nd: [r z 2] [r y 2]\n");
    let path = folder.file("noisy.txt", noisy);
    let small = folder.path("small.txt");
    let output = isoscope([
        "minimize".as_ref(),
        path.as_os_str(),
        "--level".as_ref(),
        "RA".as_ref(),
        "-o".as_ref(),
        small.as_os_str(),
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report = &reports(&check(&small, &["--json", "--level", "RA"]))[0];
    assert_eq!(report["history"]["transactions"], 3);
    assert_eq!(report["levels"][0]["verdict"], "violated");
    let good = folder.file("good.txt", GOOD);
    let nothing = folder.path("nothing.txt");
    let output = isoscope([
        "minimize".as_ref(),
        good.as_os_str(),
        "--level".as_ref(),
        "RA".as_ref(),
        "-o".as_ref(),
        nothing.as_os_str(),
    ]);
    assert_eq!(code(&output), 0);
    assert!(!nothing.exists());
}

#[test]
fn conversion_keeps_the_history_and_leaves_no_partial_file() {
    let folder = Folder::new();
    let path = folder.file("f.txt", ABORTED_READ);
    let copy = folder.path("copy.json");
    let output = isoscope([
        "convert".as_ref(),
        path.as_os_str(),
        "-o".as_ref(),
        copy.as_os_str(),
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let facts = |path: &Path| {
        let mut report = reports(&check(path, &["--json"])).remove(0);
        report["history"]["path"] = Json::Null;
        report["history"]["format"] = Json::Null;
        (
            report["history"].to_string(),
            verdicts(&report),
            report["patterns"].to_string(),
        )
    };
    assert_eq!(facts(&path), facts(&copy));
    let before = std::fs::read_dir(folder.0.path())
        .expect("the folder")
        .count();
    let nowhere = folder.path("nowhere/copy.json");
    assert_unusable(
        &isoscope([
            "convert".as_ref(),
            path.as_os_str(),
            "-o".as_ref(),
            nowhere.as_os_str(),
        ]),
        &["nowhere"],
    );
    assert_unusable(
        &isoscope([
            "convert".as_ref(),
            path.as_os_str(),
            "-o".as_ref(),
            folder.0.path().as_os_str(),
            "--to".as_ref(),
            "json".as_ref(),
        ]),
        &["directory"],
    );
    assert_eq!(
        std::fs::read_dir(folder.0.path())
            .expect("the folder")
            .count(),
        before
    );
}

#[test]
fn pictures_and_texts_of_a_violation_are_written() {
    let folder = Folder::new();
    let path = folder.file("f.txt", FRACTURED);
    let export = |id: &str, out: &Path| {
        isoscope([
            "export".as_ref(),
            path.as_os_str(),
            "--violation".as_ref(),
            id.as_ref(),
            "-o".as_ref(),
            out.as_os_str(),
        ])
    };
    for (ending, begin) in [
        ("svg", "<svg"),
        ("dot", "digraph"),
        ("json", "{"),
        ("md", "#"),
        ("txt", ""),
    ] {
        let out = folder.path(&format!("out.{ending}"));
        let output = export("TAP-k/1", &out);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let first = std::fs::read_to_string(&out).expect("the file is there");
        assert!(
            first.contains(begin) && first.contains("a2"),
            "{ending}: {first}"
        );
        assert_eq!(code(&export("TAP-k/1", &out)), 0);
        assert_eq!(
            std::fs::read_to_string(&out).expect("the file is there"),
            first,
            "the same bytes again"
        );
    }
    let png = folder.path("out.png");
    assert_eq!(code(&export("TAP-k/1", &png)), 0);
    assert!(
        std::fs::read(&png)
            .expect("the file is there")
            .starts_with(b"\x89PNG")
    );
    assert_unusable(&export("TAP-k/7", &folder.path("none.svg")), &["TAP-k/7"]);
    assert_unusable(
        &export("TAP-k/1", &folder.path("none.xyz")),
        &["none.xyz", "svg"],
    );
    assert!(!folder.path("none.svg").exists());
}

/// A read out of thin air is most likely an incomplete log: each text and picture says so, not only the health report.
#[test]
fn what_casts_doubt_on_a_violation_is_said_wherever_it_is_told() {
    let folder = Folder::new();
    let path = folder.file("h.txt", "a: [w x 1]\nb: [r x 7]\n");
    let told = stdout(&isoscope(["explain".as_ref(), path.as_os_str()]));
    assert!(
        told.contains("Doubt: 1 read returns a value that no transaction wrote"),
        "{told}"
    );
    for ending in ["svg", "md", "txt"] {
        let out = folder.path(&format!("out.{ending}"));
        isoscope([
            "export".as_ref(),
            path.as_os_str(),
            "-o".as_ref(),
            out.as_os_str(),
        ]);
        let text = std::fs::read_to_string(&out).expect("the file is there");
        assert!(text.contains("Doubt: 1 read returns"), "{ending}: {text}");
    }
    let told = stdout(&isoscope([
        "explain".as_ref(),
        folder.file("f.txt", FRACTURED).as_os_str(),
    ]));
    assert!(!told.contains("Doubt"), "{told}");
}

#[test]
fn without_a_name_a_small_violation_is_drawn() {
    let folder = Folder::new();
    let export = |file: &Path, more: &[&str], out: &Path| {
        let arguments = more
            .iter()
            .map(std::ffi::OsStr::new)
            .chain(["-o".as_ref(), out.as_os_str()]);
        isoscope(
            ["export".as_ref(), file.as_os_str()]
                .into_iter()
                .chain(arguments),
        )
    };
    let (path, unnamed, named) = (
        folder.file("f.txt", FRACTURED),
        folder.path("a.svg"),
        folder.path("b.svg"),
    );
    let output = export(&path, &[], &unnamed);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("a.svg: TAP-k/1"),
        "{}",
        stderr(&output)
    );
    assert_eq!(code(&export(&path, &["--violation", "TAP-k/1"], &named)), 0);
    let bytes = |path: &Path| std::fs::read(path).expect("the file is there");
    assert_eq!(bytes(&unnamed), bytes(&named));
    let held = folder.file("good.txt", GOOD);
    assert_unusable(
        &export(&held, &[], &folder.path("none.svg")),
        &["good.txt", "no violation", "--witness"],
    );
    let text = stdout(&check(&path, &[]));
    assert!(text.contains("At lines 1 and 2."), "{text}");
}

#[test]
fn statistics_count_what_is_there() {
    let folder = Folder::new();
    let path = folder.file("f.txt", ABORTED_READ);
    let output = isoscope(["stats".as_ref(), path.as_os_str(), "--json".as_ref()]);
    let report = &reports(&output)[0];
    assert_eq!(
        (code(&output), &report["reads"], &report["writes"]),
        (0, &Json::from(2), &Json::from(2))
    );
    assert_eq!(report["history"]["aborted"], 1);
    let text = stdout(&isoscope(["stats".as_ref(), path.as_os_str()]));
    assert!(
        text.lines()
            .any(|line| line.starts_with("transactions") && line.contains('4')),
        "{text}"
    );
}

#[test]
fn a_closed_pipe_is_no_crash() {
    let folder = Folder::new();
    let path = folder.file("lost.txt", LOST_UPDATE);
    let mut child = Command::new(env!("CARGO_BIN_EXE_isoscope"))
        .args(["check".as_ref(), path.as_os_str(), "--json".as_ref()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!((code(&output), stderr(&output)), (1, String::new()));
}

#[test]
fn without_a_display_the_findings_come_as_text() {
    let folder = Folder::new();
    let path = folder.file("lost.txt", LOST_UPDATE);
    let output = isoscope([&path]);
    assert_eq!(code(&output), 1);
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    assert!(stdout(&output).contains("violated"), "{}", stdout(&output));
}

#[test]
fn kinds_of_anomalies_are_counted_by_history_as_the_papers_do() {
    let taps = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/taps");
    let output = isoscope([
        "stats".as_ref(),
        "--plume-table".as_ref(),
        "--json".as_ref(),
        taps.as_os_str(),
    ]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    let lines: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    assert_eq!(lines.len(), 14);
    for line in &lines {
        let path = line["history"]["path"].as_str().expect("a path");
        let letter = path
            .trim_end_matches(".txt")
            .chars()
            .last()
            .expect("a letter");
        let kinds = line["plume"].as_array().expect("kinds");
        assert!(
            kinds.iter().any(|kind| *kind == format!("TAP-{letter}")),
            "{path}: {kinds:?}"
        );
        assert!(
            letter == 'e' || line["c4"].as_array().is_some_and(|kinds| !kinds.is_empty()),
            "{path}"
        );
        assert_eq!(line["undecided"], Json::Null);
    }
    let folder = Folder::new();
    folder.file("bad.txt", "r(1,");
    let paths = [taps.as_os_str(), folder.0.path().as_os_str()];
    let output = isoscope([["stats".as_ref(), "--plume-table".as_ref()], paths].concat());
    assert_eq!(
        output.status.code(),
        Some(2),
        "one that cannot be read never stops the rest"
    );
    let table = stdout(&output);
    let rows = table
        .lines()
        .filter(|line| line.starts_with(&*taps.to_string_lossy()));
    assert_eq!(rows.clone().count(), 2, "one row for each paper: {table}");
    rows.for_each(|row| assert!(row.contains(" 14 "), "{row}"));
}

/// The rows of Plume's table: a folder, with the numbers that are not zero.
fn plumes_table(arguments: &[&str], folder: &Path) -> Vec<(String, Vec<String>)> {
    let asked = ["stats", "--plume-table"]
        .into_iter()
        .chain(arguments.iter().copied())
        .map(std::ffi::OsStr::new);
    let output = isoscope(asked.chain([folder.as_os_str()]));
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    let rows = text.lines().skip(2).take_while(|line| !line.is_empty());
    let cells = rows.map(|row| {
        row.split_whitespace()
            .filter(|cell| !["·", "0"].contains(cell))
            .map(str::to_owned)
    });
    let mut cells: Vec<Vec<String>> = cells.map(Iterator::collect).collect();
    let name = |row: &mut Vec<String>| row.remove(0).replace(&*folder.to_string_lossy(), "");
    cells
        .iter_mut()
        .map(|row| (name(row), row.clone()))
        .collect()
}

#[test]
fn the_table_has_a_row_for_each_folder() {
    let folder = Folder::new();
    for name in ["a/one", "a/two", "b/good", "b/deep"] {
        std::fs::create_dir_all(folder.path(name)).expect("a folder");
    }
    // One history to a folder, as dbcop keeps them.
    folder.file("a/one/history.txt", BEHIND_ITS_SESSION);
    folder.file("a/two/history.txt", GOOD);
    folder.file("b/good/1.txt", GOOD);
    folder.file("b/good/2.txt", GOOD);
    folder.file("b/deep/3.txt", BEHIND_ITS_SESSION);
    folder.file("above.txt", LOST_UPDATE);
    let row = |name: &str, cells: &str| {
        (
            name.to_owned(),
            cells.split(' ').map(str::to_owned).collect::<Vec<_>>(),
        )
    };
    let root = folder.0.path();
    // Histories, those with an anomaly, those with TAP-m, kinds.
    let all = row("all", "6 2 2 2");
    let expected = [
        row("", "1"),
        row("/a", "2 1 1 1"),
        row("/b", "3 1 1 1"),
        all.clone(),
    ];
    assert_eq!(plumes_table(&[], root), expected);
    assert_eq!(plumes_table(&["--depth", "1"], root), expected);
    let deeper = [
        row("", "1"),
        row("/a", "2 1 1 1"),
        row("/b", "1 1 1 1"),
        row("/b/good", "2"),
        all,
    ];
    assert_eq!(plumes_table(&["--depth", "2"], root), deeper);
    assert_eq!(plumes_table(&["--depth", "9"], root), deeper);
    assert_eq!(plumes_table(&["--depth", "0"], root), [row("", "6 2 2 2")]);
}

#[test]
fn the_weakest_level_that_is_violated_counts() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("more")).expect("a folder");
    for (name, text) in [("1", LOST_UPDATE), ("2", FRACTURED), ("3", GOOD)] {
        folder.file(&format!("{name}.txt"), text);
    }
    for (name, text) in [("4", ABORTED_READ), ("5", LOST_UPDATE)] {
        folder.file(&format!("more/{name}.txt"), text);
    }
    let asked = |more: &[&str]| {
        let arguments = ["stats", "--weakest-table"]
            .iter()
            .chain(more)
            .map(std::ffi::OsStr::new);
        isoscope(arguments.chain([folder.0.path().as_os_str()]))
    };
    let rows = |output: &Output| -> Vec<String> {
        let words = |line: &str| {
            line.split_whitespace()
                .skip(1)
                .collect::<Vec<_>>()
                .join(" ")
        };
        stdout(output)
            .lines()
            .skip(1)
            .take_while(|line| !line.is_empty())
            .map(words)
            .collect()
    };
    let output = asked(&[]);
    assert_eq!(code(&output), 0);
    let expected = [
        "histories undecided anomalous RC RA TCC PC SI SER sum",
        "3 0 2 · 1 · · 1 · 2",
        "2 0 2 1 · · · 1 · 2",
        "5 0 4 1 1 · · 2 · 4",
    ];
    assert_eq!(rows(&output), expected);
    let lines = stdout(&asked(&["--json"]));
    let weakest: Vec<Json> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    let weakest: Vec<&Json> = weakest.iter().map(|line| &line["weakest"]).collect();
    assert_eq!(
        weakest,
        [
            &"SI".into(),
            &"RA".into(),
            &Json::Null,
            &"RC".into(),
            &"SI".into()
        ]
    );
    let limited = asked(&["--time-limit", "0"]);
    assert_eq!(rows(&limited)[3], "5 5 0 · · · · · · 0");
    assert!(
        stdout(&limited).contains("levels below the undecided one are satisfied"),
        "{}",
        stdout(&limited)
    );
    assert_unusable(
        &asked(&["--plume-table"]),
        &["--plume-table", "--weakest-table"],
    );
}

#[test]
fn stats_tell_width_and_components() {
    let folder = Folder::new();
    let path = folder.file("h.txt", PATCHES);
    let output = isoscope(["stats".as_ref(), path.as_os_str()]);
    let text = stdout(&output);
    let words = |name: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_else(|| panic!("no {name}: {text}"));
        line.split_whitespace()
            .skip(1)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(words("width"), "7 sessions that committed something");
    assert_eq!(
        words("components"),
        "4 of sessions that share keys: the largest 3 sessions, 8 transactions, the smallest 1 session"
    );
    let output = isoscope(["stats".as_ref(), "--json".as_ref(), path.as_os_str()]);
    let report: Json = serde_json::from_str(&stdout(&output)).expect("one object");
    assert_eq!(report["width"], 7);
    let sizes = report["components"].as_array().expect("components").iter();
    let sizes: Vec<(u64, u64)> = sizes
        .map(|c| {
            (
                c["sessions"].as_u64().expect("a number"),
                c["transactions"].as_u64().expect("one"),
            )
        })
        .collect();
    assert_eq!(sizes, [(3, 8), (2, 4), (2, 3), (1, 2)]);
}

/// Two chains of sessions and a session on its own; the second chain has a write skew.
const PATCHES: &str = "a: [w x 1] [r y 0] [r x 1]\nb: [r x 0, w y 1] [w u 1]\nc: [r u 0] [r y 1, w y 2] [r u 1]\n\
                       d: [r p 0, r q 0, w p 1]\ne: [r p 0, r q 0, w q 1] [w s 1]\nf: [r s 0] [r s 1]\ng: [w z 1] [r z 1]\n";

#[test]
fn shards_of_a_folder_take_turns() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("runs")).expect("a folder");
    for (name, text) in [
        ("a.txt", GOOD),
        ("b.txt", LOST_UPDATE),
        ("c.txt", GOOD),
        ("d.txt", "what is this"),
    ] {
        folder.file(&format!("runs/{name}"), text);
    }
    let runs = folder.path("runs");
    let shard = |i: &str| {
        let out = folder.path(&format!("part-{i}.json"));
        let output = check(
            &runs,
            &[
                "--json",
                "--shards",
                "2",
                "--shard",
                i,
                "-o",
                &out.to_string_lossy(),
            ],
        );
        assert_eq!(stdout(&output), "");
        (code(&output), out)
    };
    let (first, second) = (shard("0"), shard("1"));
    assert_eq!((first.0, second.0), (0, 2));
    let joined = isoscope([
        "merge-reports".as_ref(),
        second.1.as_os_str(),
        first.1.as_os_str(),
    ]);
    assert_eq!(code(&joined), 2);
    let all = reports(&check(&runs, &["--json"]));
    let joined = reports(&joined);
    assert_eq!(joined.len(), 4);
    for (one, whole) in joined.iter().zip(&all) {
        assert_eq!(one["history"], whole["history"]);
        assert_eq!(one["error"], whole["error"]);
        assert_eq!(one["violations"], whole["violations"]);
    }
    let half = isoscope(["merge-reports".as_ref(), first.1.as_os_str()]);
    assert_eq!(code(&half), 3);
    assert!(
        stderr(&half).contains("b.txt") && stderr(&half).contains("shard 1 of 2 is missing"),
        "{}",
        stderr(&half)
    );
    assert_eq!(reports(&half)[1]["levels"][0]["verdict"], "undecided");
    // What a missing shard was asked for is known at every level, promised ones included.
    let asked = [
        "--json",
        "--level",
        "PSI,RYW",
        "--claim",
        "cockroachdb serializable",
    ];
    let first = check(
        &runs,
        &[&asked[..], &["--shards", "2", "--shard", "0"]].concat(),
    );
    let first = folder.file("first.json", stdout(&first));
    let half = reports(&isoscope(["merge-reports".as_ref(), first.as_os_str()]));
    let all = reports(&check(&runs, &asked));
    for place in [0, 1] {
        let levels = |report: &Json| -> Vec<Json> {
            report["levels"]
                .as_array()
                .expect("levels")
                .iter()
                .map(|level| level["level"].clone())
                .collect()
        };
        assert_eq!(levels(&half[place]), levels(&all[place]));
        assert!(
            levels(&half[place]).contains(&"K-SER".into()),
            "{:?}",
            half[place]
        );
    }
}

/// The same with times, in which the second session reads what had been overwritten.
const TIMED_PATCHES: &str = "a: [w x 1]@0..5 [w x 2]@10..15 [r x 2]@20..25\nb: [r x 1]@30..35 [r x 2]@40..45\n\
                             c: [w u 1]@0..5 [w u 2]@12..14 [r u 1]@20..22\nd: [r u 2]@30..31\n\
                             e: [r p 0, w p 1]@0..9\nf: [r p 0, w p 2]@1..8\ng: [w z 1]@0..1 [r z 1]@2..3\n";

/// One history is checked by the first shard. What the reports of all are joined to is what one run finds, at every level and
/// for every promise, apart from seconds.
#[test]
fn shards_join_to_a_single_run_at_every_level() {
    let folder = Folder::new();
    let some = ["--level", "PSI,P-SI,R-SI,K-SER,C-PC,MSR,UA,RYW,P-PL1"];
    let usual = ["--level", "RC,RA,TCC,PC,SI,SER"];
    let fits = ["--claim", "mongodb transaction causal session"];
    let plain = ["--claim", "mongodb transaction"];
    let in_time = ["--claim", "postgresql read committed"];
    let every = ["--all-levels"];
    for (name, text) in [
        ("patches.txt", PATCHES),
        ("timed.txt", TIMED_PATCHES),
        ("good.txt", GOOD),
    ] {
        let history = folder.file(name, text);
        for asked in [&some[..], &usual, &fits, &plain, &in_time, &every] {
            let with =
                |more: &[&str]| check(&history, &[&["--json", "--witness"], asked, more].concat());
            let single = with(&[]);
            let parts: Vec<PathBuf> = (0..3)
                .map(|shard| {
                    let part = with(&["--shards", "3", "--shard", &shard.to_string()]);
                    assert!(code(&part) != 2, "{}", stderr(&part));
                    folder.file(&format!("part-{shard}.json"), stdout(&part))
                })
                .collect();
            let paths = parts.iter().map(|part| part.as_os_str());
            let joined = isoscope(["merge-reports".as_ref()].into_iter().chain(paths));
            assert_eq!(code(&joined), code(&single), "{name} {asked:?}");
            let verified = folder.file("joined.json", stdout(&joined));
            let verified = isoscope(["verify".as_ref(), history.as_os_str(), verified.as_os_str()]);
            assert!(code(&verified) != 1, "{}", stdout(&verified));
            let [joined, single] =
                [&joined, &single].map(|output| untimed(reports(output).remove(0)));
            assert_eq!(joined, single, "{name} {asked:?}");
            assert_eq!(joined["promised"].is_object(), asked[0] == "--claim");
        }
    }
}

/// A report without its seconds.
fn untimed(mut report: Json) -> Json {
    drop(report.as_object_mut().expect("a report").remove("timings"));
    for level in report["levels"].as_array_mut().expect("levels") {
        drop(level.as_object_mut().expect("a level").remove("seconds"));
    }
    report
}

/// A level in real time is violated without times if the same level without it is: its violations say so.
#[test]
fn a_level_in_real_time_is_minimized_without_times() {
    let folder = Folder::new();
    let history = folder.file("lost.txt", LOST_UPDATE);
    for level in ["R-SI", "K-SER", "R-UA", "SSER"] {
        let small = folder.path("small.txt");
        let asked: [&std::ffi::OsStr; 6] = [
            "minimize".as_ref(),
            history.as_os_str(),
            "--level".as_ref(),
            level.as_ref(),
            "-o".as_ref(),
            small.as_os_str(),
        ];
        let output = isoscope(asked);
        assert_eq!(code(&output), 0, "{level}: {}", stderr(&output));
        let again = reports(&check(&small, &["--json", "--level", level]));
        assert_eq!(again[0]["levels"][0]["verdict"], "violated");
        let named = again[0]["violations"][0]["levels"]
            .as_array()
            .expect("levels");
        assert!(named.contains(&level.into()), "{named:?}");
    }
}

#[test]
fn shards_are_asked_for_with_care() {
    let folder = Folder::new();
    let good = folder.file("good.txt", GOOD);
    assert_unusable(
        &check(&good, &["--json", "--shards", "2", "--shard", "2"]),
        &["from 0 to 1"],
    );
    assert_unusable(&check(&good, &["--json", "--shards", "2"]), &["--shard"]);
    assert_unusable(
        &check(&good, &["--shards", "2", "--shard", "0"]),
        &["--json"],
    );
    assert_unusable(
        &isoscope(["merge-reports".as_ref(), good.as_os_str()]),
        &["good.txt", "line 1"],
    );
    let missing = folder.path("missing.json");
    assert_unusable(
        &isoscope(["merge-reports".as_ref(), missing.as_os_str()]),
        &["missing.json"],
    );
    // A report that cannot be written leaves nothing behind.
    let out = folder.path("nowhere/report.json");
    assert_unusable(
        &check(&good, &["--json", "-o", &out.to_string_lossy()]),
        &["report.json"],
    );
    assert!(!out.exists());
}

/// A megabyte is less than the program takes before it reads anything.
#[test]
fn a_history_that_does_not_fit_into_the_memory_allowed_is_not_read() {
    if memory_stats::memory_stats().is_none() {
        println!("skipped: the system does not tell how much memory is used");
        return;
    }
    let folder = Folder::new();
    let lines: String = (1..20_000)
        .map(|n| format!("w({},{n},1,{n})\n", n % 100))
        .collect();
    let file = folder.file("large.txt", lines);
    assert_unusable(
        &check(&file, &["--memory-limit", "1"]),
        &["large.txt", "memory limit"],
    );
}

/// Text between quotation marks after `name=`, for each element of a kind.
fn attributes(xml: &str, element: &str, name: &str) -> Vec<String> {
    let begin = format!("<{element} ");
    let opened = xml
        .split(&begin)
        .skip(1)
        .map(|rest| rest.split('>').next().unwrap_or_default());
    let value = |tag: &str| {
        Some(
            tag.split(&format!("{name}=\""))
                .nth(1)?
                .split('"')
                .next()?
                .to_owned(),
        )
    };
    opened.filter_map(value).collect()
}

#[test]
fn pipelines_get_a_test_case_for_each_level_and_a_result_for_each_anomaly() {
    let folder = Folder::new();
    let runs = folder.path("runs & more");
    std::fs::create_dir(&runs).expect("a folder");
    for (name, content) in [
        ("bad.txt", FRACTURED),
        ("good.txt", GOOD),
        ("none.txt", "a: [w x"),
    ] {
        std::fs::write(runs.join(name), content).expect("a history");
    }
    let (junit, sarif) = (folder.path("tests.xml"), folder.path("scan.sarif"));
    let files = [
        "--junit".as_ref(),
        junit.as_os_str(),
        "--sarif".as_ref(),
        sarif.as_os_str(),
    ];
    let output = isoscope(
        [
            "check".as_ref(),
            runs.as_os_str(),
            "--level".as_ref(),
            "RC,RA".as_ref(),
        ]
        .into_iter()
        .chain(files),
    );
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    let xml = std::fs::read_to_string(&junit).expect("it was written");
    assert_eq!(
        attributes(&xml, "testsuite", "tests"),
        ["2", "2", "1"],
        "{xml}"
    );
    assert_eq!(
        attributes(&xml, "testsuite", "failures"),
        ["1", "0", "0"],
        "{xml}"
    );
    assert_eq!(
        attributes(&xml, "testsuite", "errors"),
        ["0", "0", "1"],
        "{xml}"
    );
    assert_eq!(
        attributes(&xml, "testcase", "name"),
        ["RC", "RA", "RC", "RA", "read the history"],
        "{xml}"
    );
    assert_eq!(
        attributes(&xml, "failure", "message"),
        ["RA is violated: Half of a transaction was seen"],
        "{xml}"
    );
    assert!(xml.contains("runs &amp; more"), "{xml}");
    let sarif: Json =
        serde_json::from_slice(&std::fs::read(&sarif).expect("it was written")).expect("JSON");
    let run = &sarif["runs"][0];
    let found = run["results"].as_array().expect("results");
    assert_eq!(
        (found.len(), &found[0]["ruleId"]),
        (1, &Json::from("TAP-k")),
        "{sarif:#}"
    );
    let place = &found[0]["locations"][0]["physicalLocation"];
    assert!(
        place["artifactLocation"]["uri"]
            .as_str()
            .is_some_and(|uri| uri.ends_with("runs%20%26%20more/bad.txt"))
    );
    assert_eq!(place["region"]["startLine"], 2, "{sarif:#}");
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "TAP-k");
}

#[test]
fn completions_and_manual_pages_know_every_subcommand() {
    let help = stdout(&isoscope(["--help"]));
    let commands = help
        .split("Commands:")
        .nth(1)
        .and_then(|rest| rest.split("\n\n").next())
        .expect("a list");
    // Where a description goes on, the line is indented further.
    let first = commands.lines().filter(|line| !line.starts_with("   "));
    let names = first.filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(
        names.contains(&"check") && names.contains(&"merge-reports"),
        "{names:?}"
    );
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = isoscope(["completions", shell]);
        let script = stdout(&output);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(names.iter().all(|name| script.contains(name)), "{shell}");
    }
    let folder = Folder::new();
    let pages = folder.path("man1");
    let output = isoscope(["manual".as_ref(), "-o".as_ref(), pages.as_os_str()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    for name in names {
        let page =
            std::fs::read_to_string(pages.join(format!("isoscope-{name}.1"))).expect("a page");
        assert!(page.contains(".TH") && page.contains("SYNOPSIS"), "{page}");
    }
    assert!(pages.join("isoscope.1").exists());
}

#[test]
fn a_mistyped_subcommand_is_told_what_it_may_mean() {
    assert_unusable(
        &isoscope(["chek", "history.txt"]),
        &["`chek`", "did you mean `check`?"],
    );
    assert_unusable(&isoscope(["exprot"]), &["did you mean `export`?"]);
}

/// What `check` lists at levels that are asked for by name only is explained, exported and reported by the same id.
#[test]
fn plain_levels_are_asked_for_again_by_what_check_prints() {
    let folder = Folder::new();
    let text = "a: [w x 1] [r x 0, w y 1]\nb: [r y 0, r x 1] [w y 2]\nc: [r y 0, w y 3]\nd: [r y 0, w y 4]\n";
    let path = folder.file("h.txt", text);
    let check = isoscope([
        "check".as_ref(),
        path.as_os_str(),
        "--level".as_ref(),
        "P-RA,P-SI".as_ref(),
    ]);
    assert_eq!(code(&check), 1);
    let said = stdout(&check);
    let offered = said.lines().last().unwrap_or_default();
    assert!(
        offered.contains("--violation LostUpdate/1 --level P-RA,P-SI"),
        "{said}"
    );
    let levels = ["--violation", "LostUpdate/2", "--level", "P-RA,P-SI"].map(std::ffi::OsStr::new);
    let explained = isoscope(
        ["explain".as_ref(), path.as_os_str()]
            .into_iter()
            .chain(levels),
    );
    assert_eq!(code(&explained), 0, "{}", stderr(&explained));
    let allowed = "(session order and times are ignored). Plain parallel snapshot isolation and plain prefix consistency allow it.";
    assert!(
        stdout(&explained).contains(allowed),
        "{}",
        stdout(&explained)
    );
    let picture = folder.path("p.svg");
    let written = ["-o".as_ref(), picture.as_os_str()];
    let exported = isoscope(
        ["export".as_ref(), path.as_os_str()]
            .into_iter()
            .chain(levels)
            .chain(written),
    );
    assert_eq!(code(&exported), 0, "{}", stderr(&exported));
}

/// Two transactions miss each other's writes: snapshot isolation holds, serializability does not.
const SKEW: &str = "a: [r x 0, w y 1]\nb: [r y 0, w x 1]\n";

#[test]
fn the_exit_code_says_whether_a_promise_is_kept() {
    let folder = Folder::new();
    let skew = folder.file("skew.txt", SKEW);
    let claimed = |claim: &str| check(&skew, &["--claim", claim]);
    for (claim, expected, line) in [
        (
            "mongodb transaction causal session",
            0,
            "Claim: mongodb transaction causal session promises SI",
        ),
        (
            "CockroachDB  follower reads",
            1,
            "Claim: cockroachdb follower reads promises P-SER",
        ),
        // Not decided themselves; prefix consistency implies them, and read committed is all that they imply.
        (
            "cockroachdb read committed",
            0,
            "Claim: cockroachdb read committed promises P-MSR",
        ),
        // Without times nothing is known of real time.
        (
            "postgresql repeatable read",
            3,
            "Claim: postgresql repeatable read promises R-SI (on one node): undecided",
        ),
    ] {
        let output = claimed(claim);
        assert_eq!(code(&output), expected, "{claim}");
        assert!(stdout(&output).contains(line), "{}", stdout(&output));
    }
    let report = &reports(&check(
        &skew,
        &["--claim", "galera repeatable read", "--json"],
    ))[0];
    let promised = &report["promised"];
    assert_eq!(
        (&promised["level"], &promised["kept"]),
        (&"P-SI".into(), &true.into())
    );
    assert_eq!(promised["holds"], serde_json::json!(["SI"]));
}

/// A session that misses its own write breaks nothing where sessions do not count, which Elle's keyword does not promise.
#[test]
fn what_holds_on_other_orders_and_what_a_test_of_jepsen_claims_is_said() {
    let folder = Folder::new();
    let own = folder.file("own.txt", "a: [r x 0, w x 1] [r x 0]\nb: [r x 1]\n");
    let output = check(&own, &[]);
    assert_eq!(
        code(&output),
        1,
        "what holds on other orders does not count"
    );
    let said = stdout(&output);
    assert!(
        said.contains("\nWithout session order, P-RA, P-TCC, P-PC, P-SI and P-SER hold.\n"),
        "{said}"
    );
    assert!(
        said.contains("Strongest checked that hold  RC, P-SER\n"),
        "{said}"
    );
    let strongest = |more: &[&str]| reports(&check(&own, more))[0]["strongest"].clone();
    let bases = strongest(&["--json"]);
    let of = |base: &str| {
        bases
            .as_array()
            .and_then(|all| all.iter().find(|entry| entry["base"] == base))
            .cloned()
    };
    assert_eq!(
        of("SI"),
        Some(serde_json::json!({ "base": "SI", "level": "P-SI" }))
    );
    assert_eq!(
        of("RC"),
        Some(serde_json::json!({ "base": "RC", "level": "RC" }))
    );
    assert_eq!(
        strongest(&["--json", "--level", "SI"]),
        Json::Null,
        "other orders were not asked about"
    );

    let run = folder.path("append/20260101T000000");
    std::fs::create_dir_all(&run).expect("a folder");
    let history = "{:type :ok, :process 0, :f :txn, :value [[:r :x nil] [:append :x 1]], :index 0}\n\
                   {:type :ok, :process 0, :f :txn, :value [[:r :x []]], :index 1}\n\
                   {:type :ok, :process 1, :f :txn, :value [[:r :x [1]]], :index 2}\n";
    let test = "{:name \"append\", :consistency-models [:snapshot-isolation :strong-session-snapshot-isolation]}";
    for (name, content) in [
        ("history.edn", history),
        ("test.edn", test),
        ("results.edn", "{:valid? true}"),
    ] {
        std::fs::write(run.join(name), content).expect("a file");
    }
    let said = stdout(&check(&run, &[]));
    let claimed = "\nClaimed by the test: :snapshot-isolation, which is P-SI here: satisfied\n\
                   Claimed by the test: :strong-session-snapshot-isolation, which is SI here: violated\n";
    assert!(said.contains(claimed), "{said}");
}

#[test]
fn claims_are_listed_and_unknown_ones_are_refused() {
    let help = isoscope(["check", "--claim", "help"]);
    assert_eq!(code(&help), 0);
    assert!(
        stdout(&help).contains("postgresql repeatable read"),
        "{}",
        stdout(&help)
    );
    let folder = Folder::new();
    let skew = folder.file("skew.txt", SKEW);
    for (claim, said) in [
        ("postgresql", "but of postgresql read committed"),
        ("oracle serializable", "`--claim help` lists"),
        ("redis replicas", "redis replicas promises no level"),
    ] {
        assert_unusable(&check(&skew, &["--claim", claim]), &[said]);
    }
    assert_unusable(
        &isoscope(["check", "--claim", "sqlite serializable"]),
        &["no history is given"],
    );
}
