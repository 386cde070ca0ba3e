//! What is said and drawn of every sample, word for word.
//!
//! The files are in `tests/data/golden`. After a change of words, `ISOSCOPE_BLESS=1 cargo test --test telling golden`
//! writes them anew, and the review shows what has changed.

use crate::common::{self, repository};
use isoscope::audit::{self, Example, Examples};
use isoscope::checkers::{Findings, Level, Options};
use isoscope::control::Control;
use isoscope::counterexample::{self, narrate, passes};
use isoscope::export::bundle::{self, Brief};
use isoscope::export::{ComposeOptions, ExportKind, compose, export};
use isoscope::formats;
use isoscope::health;
use isoscope::history::History;
use isoscope::relations;
use std::path::PathBuf;

/// The samples whose report for trackers is kept, too.
const REPORTED: [&str; 3] = ["tap-k-fractured-read", "case-split", "incompatible-order"];

/// Samples whose anomaly is one of a level that is not among the usual ones.
const OTHER_LEVELS: [(&str, Level); 5] = [
    ("monotonic-reads", Level::MonotonicReads),
    ("monotonic-writes", Level::MonotonicWrites),
    ("pram", Level::Pram),
    ("read-your-writes", Level::ReadYourWrites),
    ("writes-follow-reads", Level::WritesFollowReads),
];

/// Histories of which something is said that is said of no sample.
const SMALL: [(&str, &str); 6] = [
    ("small-cut-off", "a: [w x 1]\nb: [r x 7]\n"),
    (
        "small-other-anomalies",
        "a: [w x 1, w y 1] [w x 2, w y 2]\nb: [r x 1, r y 2]\nc: [r z 9]\n",
    ),
    (
        "small-overlap-of-lists",
        "initial: none\n0: [a 1 1, a 2 1]\n1: [a 1 2, r 2 []]\n2: [r 1 [1 2]]\n",
    ),
    (
        "small-set-up",
        "s: [w x 0]\na: [r x 0, w x 1]\nb: [r x 0, w x 2]\n",
    ),
    (
        "small-stale-in-time",
        "a: [w x 1]@0..5 [w x 2]@10..15 [r x 1]@20..25\n",
    ),
    (
        "small-two-causes",
        "a: [w x 1] [w x 2] [r x 1, w y 1]\nb: [r y 0, w y 2]\nc: [r y 0, w y 3]\n",
    ),
];

/// Histories that keep a level and break the next.
const KEPT: [(&str, &str, Level); 2] = [
    (
        "kept-snapshot-isolation",
        "a: [r x 0, w y 1]\nb: [r y 0, w x 1]\nc: [w z 1]!\n",
        Level::SnapshotIsolation,
    ),
    (
        "kept-read-committed",
        "a: [w x 1]\nb: [w x 2] [r x 1]\nc: [r x 2] [r x 1]?\n",
        Level::ReadCommitted,
    ),
];

#[test]
fn samples_are_explained_and_drawn_word_for_word() {
    let control = Control::new();
    let mut changed = String::new();
    let mut compare = |name: &str, files: Vec<(&str, String)>| {
        for (ending, text) in files {
            changed += &difference(&format!("{name}.{ending}"), &text);
        }
    };
    for path in samples() {
        let name = path.file_stem().expect("a file").to_string_lossy();
        let history = formats::open(&path, None, &control).expect(&name);
        let others = OTHER_LEVELS.iter().filter(|(sample, _)| *sample == name);
        let findings = found(&history, others.map(|(_, level)| *level));
        compare(&name, told(&name, &history, &findings));
    }
    for (name, text) in SMALL {
        let history = common::history(text);
        let mut files = told(name, &history, &found(&history, []));
        files.retain(|(ending, _)| *ending == "txt");
        compare(name, files);
    }
    for (name, text, level) in KEPT {
        let history = common::history(text);
        let text = why_it_holds(&history, &found(&history, []), level);
        compare(name, vec![("txt", text)]);
    }
    assert!(
        changed.is_empty(),
        "{changed}\nISOSCOPE_BLESS=1 accepts what is said now."
    );
}

fn samples() -> Vec<PathBuf> {
    // By a relative path, which texts name.
    let entries = std::fs::read_dir("sample_histories").expect("of the repository");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.is_file() && path.extension().is_some_and(|ending| ending != "md"))
        .collect();
    paths.sort();
    paths
}

fn found(history: &History, others: impl IntoIterator<Item = Level>) -> Findings {
    let mut levels = Level::of(history);
    levels.extend(others);
    levels.sort_unstable();
    let options = Options {
        levels,
        ..Options::default()
    };
    audit::check(history, &options, &Control::new(), &|_| {})
}

/// The files of one history: endings and contents.
fn told(name: &str, history: &History, findings: &Findings) -> Vec<(&'static str, String)> {
    let control = Control::new();
    let examples = shown(history, findings, &control);
    let Some(first) = examples.first() else {
        let strongest = findings.levels.last().expect("levels were asked for");
        return vec![("txt", why_it_holds(history, findings, strongest.level))];
    };
    let (small, why) = (&first.counterexample, &first.explanation);
    let picture = compose(small, why, history, &ComposeOptions::default());
    let made = |kind| String::from_utf8(export(kind, &picture).expect(name)).expect("UTF-8");
    let mut text = made(ExportKind::Text);
    text += &counterexample::plain_text_at_length(small, why, &control);
    for other in &examples[1..] {
        let (small, why) = (&other.counterexample, &other.explanation);
        text += "\n\n";
        text += &narrate::plain_text(small, why, history);
    }
    let mut files = vec![
        ("txt", text),
        ("md", made(ExportKind::Markdown)),
        ("svg", made(ExportKind::Svg)),
    ];
    if REPORTED.contains(&name) {
        files.extend(report(first, history, findings, &control));
    }
    files
}

/// What `isoscope explain` shows: the first violation of each pattern.
fn shown(history: &History, findings: &Findings, control: &Control) -> Vec<Example> {
    let examples = Examples::new(history, findings);
    let mut shown: Vec<Example> = Vec::new();
    for violation in findings.violations.iter().filter(|v| v.id.ordinal == 1) {
        let example = examples.of(violation, control);
        if shown
            .iter()
            .all(|other| other.violation.id != example.violation.id)
        {
            shown.push(example);
        }
    }
    shown.sort_by_key(|example| (example.violation.level(), example.violation.id));
    shown
}

/// The order that explains all reads at a level.
fn why_it_holds(history: &History, findings: &Findings, level: Level) -> String {
    let control = Control::new();
    let resolution = relations::resolve(history, &control).expect("no limit");
    let result = findings.level(level).expect("it was asked for");
    let passes = passes::Passes::new(history, &resolution, result, true, &control);
    let surroundings = passes::Surroundings {
        assumptions: &findings.assumptions,
        verdicts: findings.verdicts().collect(),
    };
    let passes = passes.expect("no limit").expect("it holds");
    passes::plain_text(&passes, &surroundings, true)
}

/// The report for Jira and as a page.
fn report(
    example: &Example,
    whole: &History,
    findings: &Findings,
    control: &Control,
) -> Vec<(&'static str, String)> {
    let resolution = relations::resolve(whole, control).expect("no limit");
    let brief = Brief {
        example: &example.counterexample,
        explanation: &example.explanation,
        violation: &example.violation,
        whole,
        findings,
        health: &health::examine(whole, &resolution, control).expect("no limit"),
        options: &ComposeOptions::default(),
        promise: None,
        isolation: None,
        annotations: &[],
        command: "isoscope report".to_owned(),
    };
    let files = bundle::bundle(&brief, control).expect("it can be made");
    let kept = [
        ("report.md", "report.md"),
        ("report.jira.txt", "report.jira.txt"),
        ("report.html", "report.html"),
    ];
    let text = |name: &str| {
        let (_, bytes) = files.iter().find(|(file, _)| file == name).expect(name);
        String::from_utf8(bytes.clone()).expect("UTF-8")
    };
    let mut files = kept.map(|(ending, name)| (ending, text(name)));
    // Without its style and its script.
    let page = &files[2].1;
    let (_, page) = page.split_once("<body>\n").expect("a page");
    let (page, _) = page.split_once("<script>").expect("a script");
    files[2].1 = page.to_owned();
    files.into()
}

/// The first lines that differ from those of a golden file, or nothing.
fn difference(file: &str, text: &str) -> String {
    let text = text.replace(
        &format!("IsoScope {}", env!("CARGO_PKG_VERSION")),
        "IsoScope VERSION",
    );
    let path = repository("tests/data/golden").join(file);
    if std::env::var_os("ISOSCOPE_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder may be made");
        std::fs::write(&path, text).expect("it may be written");
        return String::new();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    if golden == text {
        return String::new();
    }
    let place = golden
        .lines()
        .zip(text.lines())
        .take_while(|(a, b)| a == b)
        .count();
    let some = |text: &str, sign: &str| {
        let lines = text.lines().skip(place).take(3);
        lines
            .map(|line| format!("  {sign}{line}\n"))
            .collect::<String>()
    };
    let (old, new) = (some(&golden, "-"), some(&text, "+"));
    format!("{file}:{}\n{old}{new}", place + 1)
}
