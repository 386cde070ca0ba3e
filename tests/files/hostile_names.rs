//! Names and values that would like to act: on terminals, in pages, in scripts, in diagrams. None of them gets through.

use isoscope::history::is_hidden;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Sequences that move cursors, set titles and colours, ring, turn the direction of writing, hide; and whatever ends
/// something or begins something in one of the languages written.
const HOSTILE: &str = "\u{1b}[31m\u{1b}]0;title\u{7}\u{9b}2J\r\n\t\u{0}\u{7f}\u{202e}\u{2066}\u{200b}\u{feff}\u{2028}\u{85}\
    <script>alert(1)</script>&amp;]]>--></svg>%%{init: {\"a\": 1}}%%\"'`|}{end\\end{document}{code}{noformat}```*/;$\n\
    all evidence holds\nend\nsubgraph x\n";

/// Parts of [`HOSTILE`] that must not stand anywhere as they are.
const RAW_MARKUP: [&str; 2] = ["<script", "</svg>%%"];

struct Hostile {
    folder: TempDir,
    /// A fractured read whose names are all hostile.
    history: PathBuf,
}

impl Hostile {
    fn new() -> Hostile {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = |n: u32| format!("{n}{HOSTILE}{n}");
        let (x, y, v) = (name(1), name(2), name(3));
        let json = serde_json::json!({
            "schema": "isoscope.history/1",
            "sessions": [
                {"name": name(4), "transactions": [
                    {"id": name(5), "operations": [["w", &x, 1]]},
                    {"id": name(6), "operations": [["w", &x, &v], ["w", &y, name(7)]]}]},
                {"name": name(8), "transactions": [
                    {"id": name(9), "operations": [["r", &x, 1], ["r", &y, name(7)]]},
                    {"operations": [["r", &x, name(10)]]}]},
            ],
        });
        let history = folder.path().join("h.json");
        std::fs::write(&history, json.to_string()).expect("the folder is writable");
        Hostile { folder, history }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, command: &str, more: &[&str]) -> Output {
        run(command, &self.history, more)
    }

    /// What `export` makes of the fractured read.
    fn exported(&self, ending: &str, more: &[&str]) -> String {
        let out = self.path(&format!("out.{ending}"));
        let name = out.to_string_lossy();
        let output = self.run(
            "export",
            &[&["--violation", "TAP-k/1", "-o", &name], more].concat(),
        );
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        std::fs::read_to_string(out).expect("it is text")
    }
}

fn run(command: &str, file: &Path, more: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_isoscope"));
    program
        .arg(command)
        .arg(file)
        .args(more)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY");
    program
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// Fails if anything but line ends acts in `text`; `also` names characters that may.
#[track_caller]
fn assert_seen(what: &str, text: &str, also: &[char]) {
    assert!(!text.is_empty(), "{what} is empty");
    let hidden = text
        .char_indices()
        .find(|(_, c)| is_hidden(*c) && *c != '\n' && !also.contains(c));
    if let Some((at, c)) = hidden {
        let from = text[..at].rfind('\n').map_or(0, |line| line + 1);
        panic!("{what}: {c:?} in {:?}", text[from..].lines().next());
    }
}

/// No line of `text` is one that a name brought.
#[track_caller]
fn assert_no_forged_line(what: &str, text: &str) {
    for forged in ["all evidence holds", "end", "subgraph x"] {
        assert!(
            !text.lines().any(|line| line == forged),
            "{what}: `{forged}` in:\n{text}"
        );
    }
}

/// Every element is closed where it must be, and no name has brought one: a page without a parser of HTML.
fn assert_balanced(what: &str, page: &str, void: &[&str]) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let end = rest
            .find('>')
            .unwrap_or_else(|| panic!("{what}: an open bracket in {rest:.80}"));
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        if tag.starts_with(['!', '?']) || tag.ends_with('/') {
            continue;
        }
        let name = tag
            .trim_start_matches('/')
            .split_whitespace()
            .next()
            .unwrap_or_default();
        assert!(name != "script", "{what}: a script");
        match tag.starts_with('/') {
            true => assert_eq!(open.pop(), Some(name), "{what}: </{name}> closes nothing"),
            false if void.contains(&name) => {}
            false => open.push(name),
        }
    }
    assert!(open.is_empty(), "{what}: {open:?} stay open");
}

/// No name is HTML in this Markdown: what looks like it is in code.
#[track_caller]
fn assert_no_html(what: &str, markdown: &str) {
    let mut fence: Option<String> = None;
    for line in markdown.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if *open == line => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => {
                // What is escaped begins no code.
                let mut rest = line.replace("\\\\", "").replace("\\`", "");
                // A span of code ends at as many ticks as it begins with.
                while let Some(at) = rest.find('`') {
                    let ticks: String = rest[at..].chars().take_while(|c| *c == '`').collect();
                    let inside = at + ticks.len();
                    let end = rest[inside..]
                        .find(&ticks)
                        .unwrap_or_else(|| panic!("{what}: open code in {line}"));
                    rest.replace_range(at..inside + end + ticks.len(), "");
                }
                assert!(!rest.contains("<script"), "{what}: {line}");
            }
        }
    }
    assert!(fence.is_none(), "{what}: an open fence");
}

#[test]
fn what_is_printed_for_people_has_no_hidden_characters() {
    let hostile = Hostile::new();
    let checked = hostile.run("check", &[]);
    assert_eq!(checked.status.code(), Some(1), "{}", errors(&checked));
    assert!(
        text(&checked).contains("\\u{1b}[31m\\u{1b}]0;title\\u{7}"),
        "names are shown: {}",
        text(&checked)
    );
    let report = hostile.path("report.json");
    std::fs::write(
        &report,
        hostile.run("check", &["--json", "--witness"]).stdout,
    )
    .expect("the folder is writable");
    let report = report.to_string_lossy();
    let verified = hostile.run("verify", &[&report]);
    assert_eq!(
        verified.status.code(),
        Some(0),
        "names are distinguished: {}{}",
        text(&verified),
        errors(&verified)
    );
    // Evidence about another history does not hold, and the reasons name what is hostile.
    let other = hostile.path("other.json");
    let changed = std::fs::read_to_string(&hostile.history)
        .expect("it is there")
        .replace("\"w\"", "\"r\"");
    std::fs::write(&other, changed).expect("the folder is writable");
    let refused = run("verify", &other, &[&report]);
    assert_eq!(refused.status.code(), Some(1), "{}", errors(&refused));
    let outputs = [
        ("check", checked),
        (
            "check of several",
            hostile.run("check", &[&hostile.history.to_string_lossy()]),
        ),
        ("explain", hostile.run("explain", &["--all"])),
        (
            "explain --long",
            hostile.run("explain", &["--all", "--long"]),
        ),
        (
            "explain --plain",
            hostile.run("explain", &["--all", "--plain", "--long"]),
        ),
        ("stats", hostile.run("stats", &[])),
        ("verify", verified),
        ("verify, refused", refused),
        (
            "check with a rule",
            hostile.run("check", &["--init", "txn=none"]),
        ),
        ("polysi", hostile.run("check", &["--checker", "mtc"])),
        (
            "convert",
            hostile.run("convert", &["--to", "plume", "-o", "-"]),
        ),
    ];
    for (what, output) in outputs {
        if !output.stdout.is_empty() {
            assert_seen(what, &text(&output), &[]);
        }
        if !errors(&output).is_empty() {
            assert_seen(what, &errors(&output), &[]);
        }
        if what != "verify" {
            assert_no_forged_line(what, &text(&output));
        }
    }
}

#[test]
fn names_of_files_and_words_of_the_command_line_do_not_act_either() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = "a\u{1b}[2J\u{7}\u{202e}\n.txt";
    let path = folder.path().join(name);
    let missing = run("check", &path, &[]);
    assert_eq!(missing.status.code(), Some(2));
    assert_seen("a missing file", &errors(&missing), &[]);
    assert_eq!(errors(&missing).lines().count(), 1);
    std::fs::write(&path, "a: [w x 1] [w x 2, w y 2]\nb: [r x 1, r y 2]\n")
        .expect("the folder is writable");
    let whole = folder.path().to_string_lossy().into_owned();
    let out = folder.path().join("out");
    let out = out.to_string_lossy();
    for (command, more) in [
        ("check", vec![]),
        ("check", vec![&*whole]),
        ("check", vec!["--format", "a\u{1b}[2J"]),
        ("check", vec!["--level", "a\u{1b}[2J"]),
        ("check", vec!["--\u{1b}[2J"]),
        ("explain", vec![]),
        ("explain", vec!["--plain"]),
        ("explain", vec!["--violation", "TAP-k/9"]),
        ("stats", vec![]),
        ("minimize", vec!["--level", "RA", "-o", "-"]),
        ("report", vec!["-o", &*out]),
        (
            "export",
            vec!["--violation", "TAP-k/1", "-o", "no\u{7}such\u{1b}/x.svg"],
        ),
    ] {
        let output = run(command, &path, &more);
        let all = text(&output) + &errors(&output);
        if !all.is_empty() {
            assert_seen(&format!("{command} {more:?}"), &all, &[]);
        }
    }
    for entry in std::fs::read_dir(&*out).expect("the report is there") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|ending| ending != "png") {
            assert_seen(
                &path.to_string_lossy(),
                &std::fs::read_to_string(&path).expect("text"),
                &[],
            );
        }
    }
}

#[test]
fn reports_as_data_keep_names_as_they_are_and_show_every_character() {
    let hostile = Hostile::new();
    for (command, more) in [
        ("check", ["--json", "--witness"].as_slice()),
        ("stats", &["--json"]),
    ] {
        let output = hostile.run(command, more);
        assert_seen(command, &text(&output), &[]);
        serde_json::from_str::<serde_json::Value>(&text(&output)).expect("a line is a JSON object");
    }
    let report: serde_json::Value =
        serde_json::from_str(&text(&hostile.run("check", &["--json"]))).expect("JSON");
    let transactions = report["violations"].as_array().expect("violations").iter();
    let mut transactions =
        transactions.flat_map(|v| v["transactions"].as_array().expect("transactions"));
    let name = |n: u32| format!("{n}{HOSTILE}{n}");
    assert!(
        transactions.any(|t| t["id"] == name(6) && t["session"] == name(4)),
        "{report}"
    );
}

#[test]
fn converted_histories_keep_names_as_they_are() {
    let hostile = Hostile::new();
    let again = hostile.path("again.txt");
    let converted = hostile.run("convert", &["--to", "text", "-o", &again.to_string_lossy()]);
    assert_eq!(converted.status.code(), Some(0), "{}", errors(&converted));
    let back = hostile.path("back.json");
    let converted = run("convert", &again, &["-o", &back.to_string_lossy()]);
    assert_eq!(converted.status.code(), Some(0), "{}", errors(&converted));
    let json = |path: &Path| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(path).expect("it is there")).expect("JSON")
    };
    let name = |document: &serde_json::Value, session: usize| {
        document["sessions"][session]["name"].clone()
    };
    for session in 0..2 {
        assert_eq!(
            name(&json(&back), session),
            name(&json(&hostile.history), session)
        );
    }
}

#[test]
fn pictures_and_diagrams_stay_what_they_are() {
    let hostile = Hostile::new();
    let more = ["--all-operations", "--alternatives"];
    for ending in ["svg", "dot", "tex", "mmd", "md", "txt", "json"] {
        let written = hostile.exported(ending, &more);
        assert_seen(ending, &written, &[]);
        assert_no_forged_line(ending, &written);
        // The others have no markup that looks so.
        if ["svg", "mmd"].contains(&ending) {
            RAW_MARKUP
                .iter()
                .for_each(|raw| assert!(!written.contains(raw), "{ending}: {raw} in {written}"));
        }
        if ending == "md" {
            assert_no_html(ending, &written);
        }
    }
    let svg = hostile.exported("svg", &more);
    resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).expect("well formed");
    assert_balanced("svg", &svg, &[]);
    let mermaid = hostile.exported("mmd", &more);
    let (head, body) = mermaid
        .trim_start_matches("---\n")
        .split_once("---\n")
        .expect("a head");
    let title = head.strip_prefix("title: ").expect("a title");
    serde_json::from_str::<String>(title.trim_end()).expect("one string");
    assert!(!title.contains(['<', '>', '{', '}', '%']), "{title}");
    for line in body.lines().map(str::trim_start) {
        let content = line.strip_prefix("%% ").unwrap_or(line);
        assert!(
            !content.contains("%%") && !content.contains("{init"),
            "{line}"
        );
        assert!(
            !line.starts_with("%%") || !line.contains(['<', '>', '"', '{', '}']),
            "{line}"
        );
    }
    assert_eq!(
        body.lines()
            .filter(|line| line.trim_start().starts_with("subgraph "))
            .count(),
        2,
        "{body}"
    );
    assert_eq!(
        body.lines().filter(|line| line.trim() == "end").count(),
        2,
        "{body}"
    );
    let tikz = hostile.exported("tex", &more);
    // What is behind a percent sign is no TeX.
    let ends = tikz
        .lines()
        .filter(|line| !line.starts_with('%') && line.contains("\\end{document}"));
    assert_eq!(ends.count(), 1);
    // Every quotation in DOT ends on its line, so names neither begin nor end statements.
    let dot = hostile.exported("dot", &more);
    for line in dot.lines().filter(|line| !line.starts_with("//")) {
        let quotes = line.replace("\\\\", "").replace("\\\"", "");
        let outside_tables: String = quotes.split("<table").next().unwrap_or_default().to_owned();
        assert!(
            outside_tables.matches('"').count().is_multiple_of(2),
            "{line}"
        );
    }
}

#[test]
fn a_report_stays_what_it_is() {
    let hostile = Hostile::new();
    let folder = hostile.path("report");
    let written = hostile.run(
        "report",
        &["--violation", "TAP-k/1", "-o", &folder.to_string_lossy()],
    );
    assert_eq!(written.status.code(), Some(0), "{}", errors(&written));
    let file = |name: &str| {
        std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    };
    for name in [
        "report.html",
        "report.md",
        "report.jira.txt",
        "reproduce.sql",
        "reproduce.spec",
        "picture.mmd",
    ] {
        // Tabs of scripts are their own.
        assert_seen(name, &file(name), &[]);
        let forged = file(name);
        assert!(
            !forged.lines().any(|line| line == "all evidence holds"),
            "{name}"
        );
    }
    let page = file("report.html");
    // The script and the style are the program's own; `tests/telling/html_report.rs` compares their digests.
    let own = |begin: &str, end: &str| {
        let from = page.find(begin).expect("it begins") + begin.len();
        page[from..from + page[from..].find(end).expect("it ends")].to_owned()
    };
    let script = format!("<script>{}</script>", own("<script>", "</script>"));
    let markup = page
        .replace(&script, "")
        .replace(&own("<style>", "</style>"), "");
    assert_balanced("report.html", &markup, &["meta", "br"]);
    assert_eq!(page.matches("<script").count(), 1);
    assert_no_html("report.md", &file("report.md"));
    // Inside of literals and comments only: a statement begins with a terminal or is one of the script's own.
    for line in file("reproduce.sql")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("--"))
    {
        let own = [
            "/* A */",
            "/* B */",
            "DROP TABLE",
            "CREATE TABLE",
            "INSERT INTO",
        ];
        assert!(own.iter().any(|begin| line.starts_with(begin)), "{line}");
        assert_eq!(
            line.matches("/*").count(),
            usize::from(line.starts_with("/*")),
            "{line}"
        );
    }
    let spec = file("reproduce.spec");
    assert_eq!(
        spec.lines()
            .filter(|line| line.starts_with("session "))
            .count(),
        2,
        "{spec}"
    );
    assert_eq!(
        spec.matches('{').count(),
        spec.matches('}').count(),
        "{spec}"
    );
}
