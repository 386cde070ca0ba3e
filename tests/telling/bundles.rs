//! Reports for issue trackers: their histories say the same when read back, their pages load nothing, their pictures are
//! whole, and the same input gives the same bytes.
//!
//! With `ISOSCOPE_BUNDLES` set to a folder, the reports of these tests are written there to be looked at.

use crate::common;

use common::{corpus, repository};
use isoscope::checkers::{self, Findings, Level, Options, Verdict, Violation};
use isoscope::control::Control;
use isoscope::counterexample::{self, Counterexample, Explanation, narrate};
use isoscope::export::bundle::{Brief, bundle, page};
use isoscope::export::reproduce::Isolation;
use isoscope::export::{ComposeOptions, sha256};
use isoscope::formats;
use isoscope::health::{self, Health};
use isoscope::history::History;
use isoscope::relations;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Everything a report is made from.
struct Case {
    name: String,
    whole: History,
    findings: Findings,
    health: Health,
    violation: Violation,
    example: Counterexample,
    explanation: Explanation,
    options: ComposeOptions,
}

impl Case {
    /// The violation of a history that is easiest to follow; `None` where nothing is violated.
    fn of(path: &Path) -> Option<Case> {
        let control = Control::new();
        let whole = formats::open(path, None, &control).unwrap_or_else(|error| panic!("{error}"));
        let options = Options {
            levels: Level::of(&whole),
            max_instances: 20,
            ..Options::default()
        };
        let findings = checkers::check(&whole, &options, &control, &|_| {});
        let resolution = relations::resolve(&whole, &control).expect("no limit");
        let health = health::examine(&whole, &resolution, &control).expect("no limit");
        let easiest = findings
            .violations
            .iter()
            .min_by_key(|v| (v.levels.weakest(), v.implied, v.size(), v.id));
        let violation = easiest?.clone();
        let example = counterexample::minimize(&whole, &violation, &control);
        let explanation = counterexample::explain(&example);
        let name = path
            .file_stem()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        let options = ComposeOptions {
            sha256: Some(sha256(name.as_bytes())),
            ..ComposeOptions::default()
        };
        Some(Case {
            name,
            whole,
            findings,
            health,
            violation,
            example,
            explanation,
            options,
        })
    }

    fn brief(&self) -> Brief<'_> {
        Brief {
            annotations: &[],
            example: &self.example,
            explanation: &self.explanation,
            violation: &self.violation,
            whole: &self.whole,
            findings: &self.findings,
            health: &self.health,
            options: &self.options,
            promise: None,
            isolation: None,
            command: format!("isoscope report {}.txt -o report", self.name),
        }
    }

    fn bundle(&self) -> Vec<(String, Vec<u8>)> {
        bundle(&self.brief(), &Control::new())
            .unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

fn samples() -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(repository("sample_histories")).expect("part of the repository");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.retain(|path| path.is_file() && path.extension().is_some_and(|ending| ending != "md"));
    paths.sort();
    paths
}

fn text<'a>(files: &'a [(String, Vec<u8>)], name: &str) -> &'a str {
    let (_, bytes) = files
        .iter()
        .find(|(file, _)| file == name)
        .unwrap_or_else(|| panic!("no {name}"));
    std::str::from_utf8(bytes).expect("UTF-8")
}

fn keep(name: &str, files: &[(String, Vec<u8>)]) {
    if let Some(folder) = std::env::var_os("ISOSCOPE_BUNDLES") {
        let folder = Path::new(&folder).join(name);
        std::fs::create_dir_all(&folder).expect("the folder may be made");
        files.iter().for_each(|(file, bytes)| {
            std::fs::write(folder.join(file), bytes).expect("it may be written")
        });
    }
}

#[test]
fn every_sample_has_a_bundle_that_is_true_whole_and_the_same_twice() {
    let mut made = 0;
    for path in samples() {
        let Some(case) = Case::of(&path) else {
            continue;
        };
        let files = case.bundle();
        // Pictures of pixels take long, and other tests compare them.
        if made % 8 == 0 {
            assert_eq!(files, case.bundle(), "{}", case.name);
        }
        keep(&case.name, &files);
        histories_violate_the_level(&case, &files);
        words_are_there(&case, &files);
        nothing_is_loaded(text(&files, "report.html"));
        mermaid_is_whole(text(&files, "picture.mmd"), &case.name);
        tikz_is_whole(text(&files, "picture.tex"), &case.name);
        made += 1;
    }
    assert!(made >= 25, "{made}");
}

/// Each history file, read as anybody would, violates the level of the report; what is left out is told.
fn histories_violate_the_level(case: &Case, files: &[(String, Vec<u8>)]) {
    let (name, level) = (&case.name, case.example.level);
    let control = Control::new();
    let mut read = 0;
    for (file, bytes) in files
        .iter()
        .filter(|(file, _)| file.starts_with("history."))
    {
        let history = formats::open_bytes(file, bytes, None, &control)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let options = Options {
            levels: vec![level],
            ..Options::default()
        };
        let findings = checkers::check(&history, &options, &control, &|_| {});
        assert_eq!(
            findings.levels[0].verdict,
            Verdict::Violated,
            "{name}/{file} {level}"
        );
        assert_eq!(
            history.n_transactions(),
            case.example.history.n_transactions(),
            "{name}/{file}"
        );
        read += 1;
    }
    // Our own notation and JSON can say everything.
    assert!(
        files.iter().any(|(file, _)| file == "history.txt"),
        "{name}"
    );
    assert!(
        files.iter().any(|(file, _)| file == "history.json"),
        "{name}"
    );
    let left_out = text(files, "report.md").matches("left out: ").count();
    assert_eq!(read + left_out, 5, "{name}");
}

/// Title, transactions, operations, levels, the argument and the command are in all three dialects.
fn words_are_there(case: &Case, files: &[(String, Vec<u8>)]) {
    let name = &case.name;
    let plain = |text: &str| -> String {
        let entities = [
            ("&#35;", "#"),
            ("&#64;", "@"),
            ("&amp;", "&"),
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
        ];
        // Tags are not words.
        let mut depth = 0;
        let visible = text.chars().filter(|c| {
            depth += i32::from(*c == '<');
            let inside = depth > 0;
            depth -= i32::from(*c == '>' && depth > 0);
            !inside
        });
        let text = entities
            .iter()
            .fold(visible.collect::<String>(), |text, (entity, c)| {
                text.replace(entity, c)
            });
        text.chars().filter(|c| c.is_alphanumeric()).collect()
    };
    for file in ["report.md", "report.jira.txt", "report.html"] {
        // In Jira's markup `<` is a character like others.
        let is_jira = file.ends_with(".jira.txt");
        let report = if is_jira {
            text(files, file).replace('<', "&lt;")
        } else {
            text(files, file).to_owned()
        };
        let report = plain(&report);
        let history = &case.example.history;
        let names = history.transactions().map(|t| history.transaction_name(t));
        let command = case.brief().command;
        let said = [
            case.explanation.title.clone(),
            case.explanation.summary.to_string(),
            command,
        ];
        let facts = case.explanation.details();
        assert!(
            case.explanation
                .breaks
                .contains(&case.example.level.spoken()),
            "{}",
            case.explanation.breaks
        );
        for wanted in names
            .chain(said)
            .chain(facts)
            .chain(case.explanation.block())
            .chain([case.explanation.size.clone()])
        {
            assert!(
                report.contains(&plain(&wanted)),
                "{name}/{file} lacks {wanted}"
            );
        }
        for step in &case.explanation.steps {
            let sentence = narrate::sentence(step);
            assert!(
                report.contains(&plain(&sentence)),
                "{name}/{file} lacks {sentence}"
            );
        }
    }
    assert!(text(files, "report.md").contains("](picture.svg)"));
    assert!(text(files, "report.jira.txt").contains("!picture.png|"));
    let png = &files
        .iter()
        .find(|(file, _)| file == "picture.png")
        .expect("there")
        .1;
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert!(text(files, "reproduce.sql").contains("BEGIN;"), "{name}");
    let spec = text(files, "reproduce.spec");
    let quoted = |line: &str| {
        line.split('"')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect::<BTreeSet<_>>()
    };
    let steps = spec
        .lines()
        .filter_map(|line| Some(line.strip_prefix("step ")?.split('"').nth(1)?.to_owned()));
    let permutation = spec
        .lines()
        .find(|line| line.starts_with("permutation "))
        .expect("there is one");
    assert_eq!(
        steps.collect::<BTreeSet<_>>(),
        quoted(permutation),
        "{name}"
    );
}

/// No attribute or style that makes a browser ask for something; `tests/telling/html_report.rs` has more.
fn nothing_is_loaded(page: &str) {
    let page = page
        .replace("xmlns=\"http://www.w3.org/2000/svg\"", "")
        .replace("href=\"#", "");
    for loader in [
        "src=", "href", "url(", "@import", "<link", "<iframe", "<object", "http:", "https:",
    ] {
        assert!(!page.contains(loader), "{loader}");
    }
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n") && page.contains("<svg")
    );
    for tag in [
        "table", "details", "pre", "ul", "ol", "section", "figure", "svg", "g", "div",
    ] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

/// Nodes are declared before edges use them, subgraphs end, every edge has its style.
fn mermaid_is_whole(graph: &str, name: &str) {
    let lines: Vec<&str> = graph.lines().map(str::trim).collect();
    assert_eq!(
        (lines[0], lines[2], lines[3]),
        ("---", "---", "flowchart LR"),
        "{name}"
    );
    let declared: BTreeSet<&str> = lines
        .iter()
        .filter_map(|line| Some(line.strip_suffix("\"]")?.split_once("[\"")?.0))
        .collect();
    let starting = |word: &str| lines.iter().filter(|line| line.starts_with(word)).count();
    assert_eq!(
        starting("subgraph "),
        lines.iter().filter(|line| **line == "end").count(),
        "{name}"
    );
    let mut n_edges = 0;
    for line in &lines {
        let Some((from, rest)) = line
            .split_once(' ')
            .filter(|(_, rest)| rest.contains("->|\"") || rest.contains("=>|\""))
        else {
            continue;
        };
        let to = rest.rsplit_once("\"| ").expect("a target").1;
        assert!(
            declared.contains(from) && declared.contains(to),
            "{name}: {line}"
        );
        assert_eq!(line.matches('"').count(), 2, "{name}: {line}");
        n_edges += 1;
    }
    assert_eq!(n_edges, starting("linkStyle "), "{name}");
}

/// Braces match, environments end, every style and colour that is used is defined.
fn tikz_is_whole(document: &str, name: &str) {
    let mut depth = 0_i32;
    for line in document.lines().filter(|line| !line.starts_with('%')) {
        let mut escaped = false;
        for c in line.chars() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            assert!(depth >= 0, "{name}: {line}");
        }
    }
    assert_eq!(depth, 0, "{name}");
    assert_eq!(
        document.matches("\\begin{").count(),
        document.matches("\\end{").count(),
        "{name}"
    );
    let styles: BTreeSet<&str> = document
        .lines()
        .filter_map(|line| line.trim().split_once("/.style=").map(|(style, _)| style))
        .collect();
    let used = document.lines().filter_map(|line| {
        let options = line
            .strip_prefix("\\path[")
            .or_else(|| line.strip_prefix("\\node["))?;
        options.split([',', ']']).next()
    });
    let mut n_used = 0;
    for style in used {
        assert!(styles.contains(style), "{name}: {style}");
        n_used += 1;
    }
    assert!(n_used > 5, "{name}");
    for color in document
        .split("fill=c")
        .skip(1)
        .chain(document.split("draw=c").skip(1))
    {
        let digits = &color[..6];
        assert!(
            document.contains(&format!("\\definecolor{{c{digits}}}{{HTML}}")),
            "{name}: {digits}"
        );
    }
}

#[test]
fn the_tikz_picture_compiles_where_latex_is_installed() {
    let installed = std::process::Command::new("pdflatex")
        .arg("--version")
        .output()
        .is_ok();
    if !installed {
        println!("skipped: pdflatex is not installed");
        return;
    }
    // A small installation lacks this class, which only cuts the paper to the picture.
    let class = "\\documentclass[tikz,border=4pt]{standalone}";
    let has_class = std::process::Command::new("kpsewhich")
        .arg("standalone.cls")
        .output();
    let has_class = has_class.is_ok_and(|output| output.status.success());
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in [
        "write-skew.hist",
        "case-split.txt",
        "web-shop.txt",
        "incompatible-order.txt",
    ] {
        let case = Case::of(&repository("sample_histories").join(name)).expect("violated");
        let files = case.bundle();
        let mut document = text(&files, "picture.tex").to_owned();
        assert!(document.contains(class));
        if !has_class {
            document = document.replace(class, "\\documentclass{article}\\usepackage{tikz}");
        }
        std::fs::write(folder.path().join("p.tex"), document).expect("it may be written");
        let mut latex = std::process::Command::new("pdflatex");
        let output = latex
            .args(["-interaction=nonstopmode", "-halt-on-error", "p.tex"])
            .current_dir(folder.path())
            .output();
        let output = output.expect("it starts");
        assert!(
            output.status.success(),
            "{name}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

#[test]
fn the_page_alone_is_the_page_of_the_bundle() {
    let case = Case::of(&repository("sample_histories/lost-update.json")).expect("violated");
    let alone = page(&case.brief(), &Control::new()).expect("it can be made");
    assert_eq!(
        std::str::from_utf8(&alone).expect("UTF-8"),
        text(&case.bundle(), "report.html")
    );
}

#[test]
fn the_isolation_setting_of_the_scripts_can_be_chosen() {
    let case = Case::of(&repository("sample_histories/write-skew.hist")).expect("violated");
    let of = |isolation| {
        bundle(
            &Brief {
                isolation,
                ..case.brief()
            },
            &Control::new(),
        )
        .expect("it can be made")
    };
    let (claimed, chosen) = (of(None), of(Some(Isolation::ReadCommitted)));
    assert!(text(&claimed, "reproduce.spec").contains("BEGIN ISOLATION LEVEL SERIALIZABLE;"));
    assert!(
        text(&claimed, "reproduce.sql")
            .contains("answers as observed at REPEATABLE READ and at READ COMMITTED")
    );
    assert!(text(&chosen, "reproduce.sql").contains("TRANSACTION ISOLATION LEVEL READ COMMITTED;"));
    assert!(!text(&chosen, "reproduce.sql").contains("SERIALIZABLE"));
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn published_counterexamples_make_small_bundles() {
    let corpus = corpus();
    for file in ["mariadb_galera.txt", "yugabyte_tcc.txt", "pg_ser_bug.txt"] {
        let case = Case::of(&corpus.join("plume-text/bugs").join(file)).expect("violated");
        assert!(case.example.history.n_transactions() <= 3, "{file}");
        let files = case.bundle();
        keep(&case.name, &files);
        histories_violate_the_level(&case, &files);
        words_are_there(&case, &files);
    }
}

/// Runs the program; its exit code and what it says on standard error.
fn isoscope(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_isoscope"));
    let output = program
        .args(arguments)
        .current_dir(folder)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output();
    let output = output.expect("the program starts");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(said.lines().count(), 1, "one line: {said}");
    (output.status.code().expect("it ends by itself"), said)
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("it is there");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn the_program_writes_whole_reports_or_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path();
    std::fs::write(
        here.join("bad.txt"),
        "a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n",
    )
    .expect("writable");
    std::fs::write(here.join("good.txt"), "a: [w x 1]\nb: [r x 1]\n").expect("writable");
    let (code, said) = isoscope(here, &["report", "bad.txt", "-o", "report"]);
    assert_eq!(
        (code, said.contains("2 of 2 transactions")),
        (0, true),
        "{said}"
    );
    let files = names(&here.join("report"));
    // Plume's text has no keys with letters.
    assert_eq!(files.len(), 14, "{files:?}");
    let report = std::fs::read_to_string(here.join("report/report.md")).expect("there");
    assert!(
        report.contains("isoscope report bad.txt -o report\n"),
        "the command line is in the report"
    );

    let (code, _) = isoscope(
        here,
        &[
            "report",
            "bad.txt",
            "--violation",
            "LostUpdate/1",
            "-o",
            "page.html",
        ],
    );
    assert_eq!(code, 0);
    nothing_is_loaded(&std::fs::read_to_string(here.join("page.html")).expect("there"));

    // Nothing is violated: nothing is written, and that is no failure.
    let (code, said) = isoscope(here, &["report", "good.txt", "-o", "none"]);
    assert_eq!(
        (
            code,
            said.contains("every level is satisfied, nothing was written")
        ),
        (0, true),
        "{said}"
    );
    for (arguments, wanted) in [
        (
            ["report", "bad.txt", "--violation", "TAP-k/7", "-o", "none"],
            "there is no violation TAP-k/7",
        ),
        (
            ["report", "bad.txt", "--isolation", "chaos", "-o", "none"],
            "unknown isolation setting",
        ),
        (
            ["report", "bad.txt", "--evidence", "XY", "-o", "none"],
            "is no evidence",
        ),
        (
            [
                "report",
                "bad.txt",
                "--layout",
                "lanes",
                "-o",
                "missing/folder/none",
            ],
            "missing/folder/none",
        ),
        (
            [
                "report",
                "bad.txt",
                "--layout",
                "lanes",
                "-o",
                "missing/none.html",
            ],
            "missing/none.html",
        ),
        // A folder with something in it is not overwritten.
        (
            [
                "report",
                "good.txt",
                "--violation",
                "TAP-a/1",
                "-o",
                "report",
            ],
            "there is no violation",
        ),
        (
            ["report", "bad.txt", "--layout", "lanes", "-o", "report"],
            "folder with files in it",
        ),
    ] {
        let (code, said) = isoscope(here, &arguments);
        assert_eq!((code, said.contains(wanted)), (2, true), "{said}");
    }
    assert_eq!(
        names(here),
        ["bad.txt", "good.txt", "page.html", "report"],
        "nothing half written"
    );

    let again = [
        "report",
        "bad.txt",
        "--all-operations",
        "-o",
        "report",
        "--force",
    ];
    std::fs::write(here.join("report/history.plume.txt"), "of another history").expect("writable");
    assert_eq!(isoscope(here, &again).0, 0);
    assert_eq!(
        names(&here.join("report")),
        files,
        "what the new report does not have is gone"
    );
    std::fs::write(here.join("report/notes.txt"), "not of a report").expect("writable");
    let (code, said) = isoscope(here, &again);
    assert_eq!(
        (
            code,
            said.contains("contains notes.txt, which would be lost")
        ),
        (2, true),
        "{said}"
    );
    assert_eq!(names(&here.join("report")).len(), files.len() + 1);
}
