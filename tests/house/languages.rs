//! What `docs/other-languages.md` shows is what `examples` has, and works: its lines are a history, its recorders record,
//! and its tests find the bug of their store.

use crate::common;

use common::repository;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The languages: the mark of their blocks and the name of their folder in `examples`, the recorder, the compiler.
const LANGUAGES: [(&str, &str, &str); 3] = [
    ("go", "recorder.go", "go"),
    ("java", "Recorder.java", "javac"),
    ("cpp", "recorder.hpp", "c++"),
];

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The blocks of the page with this mark.
fn blocks(mark: &str) -> Vec<String> {
    let page = text(&repository("docs/other-languages.md"));
    let opening = format!("\n```{mark}\n");
    let blocks = page.split(&opening).skip(1);
    blocks
        .map(|rest| {
            let (block, _) = rest.split_once("\n```").expect("the block ends");
            format!("{block}\n")
        })
        .collect()
}

/// What the folder of a language has.
fn files(language: &str) -> Vec<PathBuf> {
    let folder = repository("examples").join(language);
    let entries = std::fs::read_dir(folder).expect("the examples");
    let paths = entries.map(|entry| entry.expect("an example").path());
    paths.filter(|path| path.is_file()).collect()
}

/// Lines without their indentation.
fn unindented(text: &str) -> String {
    text.lines()
        .map(|line| format!("{}\n", line.trim_start()))
        .collect()
}

#[test]
fn the_page_shows_the_files() {
    for (language, recorder, _) in LANGUAGES {
        let path = repository("examples").join(language).join(recorder);
        let shown = blocks(language);
        assert!(
            shown.contains(&text(&path)),
            "the page shows another {recorder}"
        );
        let all: String = files(language)
            .iter()
            .map(|path| format!("\n{}", unindented(&text(path))))
            .collect();
        for block in shown {
            let wanted = format!("\n{}", unindented(&block));
            assert!(all.contains(&wanted), "{language}: no file has\n{block}");
        }
    }
}

#[test]
fn the_lines_of_the_page_are_a_history() {
    use std::io::Write;
    let lines = blocks("json").concat();
    let mut check = Command::new(env!("CARGO_BIN_EXE_isoscope"))
        .args(["check", "--level", "SSER", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = check.stdin.take().expect("it has an input");
    input
        .write_all(lines.as_bytes())
        .expect("it reads the lines");
    drop(input);
    let output = check.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
}

/// Runs a command of the page in a copy of its folder, with the program on `PATH`: whether it succeeds, what it says, and how many of
/// how many transactions committed.
#[cfg(unix)]
fn run(command: &str, place: &Path, language: &str) -> (bool, String, (usize, usize)) {
    let path = format!(
        "{}:{}",
        place.join("programs").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let output = Command::new("sh")
        .args(["-c", command])
        .env("PATH", path)
        .current_dir(place)
        .stdin(Stdio::null())
        .output()
        .expect("there is a shell");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let history = place.join("examples").join(language).join("history.jsonl");
    assert!(history.exists(), "{command}\n{said}");
    let history = text(&history);
    let committed = history.matches(r#""outcome":"committed""#).count();
    (
        output.status.success(),
        said,
        (committed, history.lines().count()),
    )
}

/// Tries the command of a language, with the bug and without, if there is a compiler.
#[cfg(unix)]
fn finds_the_bug(language: &str) {
    let (_, _, compiler) = LANGUAGES
        .into_iter()
        .find(|(folder, ..)| *folder == language)
        .expect("a language of the page");
    let version = if compiler == "go" {
        "version"
    } else {
        "--version"
    };
    if Command::new(compiler).arg(version).output().is_err() {
        return common::postgres::missing::<()>(compiler).unwrap_or_default();
    }
    let start = format!("cd examples/{language} && ");
    let commands = blocks("bash").concat();
    let command = commands
        .lines()
        .find(|line| line.starts_with(&start))
        .expect("the page has a command");
    let place = tempfile::tempdir().expect("a temporary folder");
    let copies = place.path().join("examples").join(language);
    std::fs::create_dir_all(&copies).expect("a folder");
    for file in files(language) {
        let name = file.file_name().expect("a name");
        std::fs::copy(&file, copies.join(name)).expect("a copy");
    }
    let programs = place.path().join("programs");
    std::fs::create_dir(&programs).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_isoscope"), programs.join("isoscope"))
        .expect("a link");

    let (passes, said, committed) = run(command, place.path(), language);
    assert!(!passes && said.contains("LostUpdate"), "{said}");
    assert_eq!(committed, (4, 6), "both commit in the first round");
    let (passes, said, committed) = run(&format!("{command} --fixed"), place.path(), language);
    assert!(passes, "{said}");
    assert_eq!(committed, (3, 6), "one commits in each round");
}

#[cfg(unix)]
#[test]
fn the_test_in_go_finds_the_bug() {
    finds_the_bug("go");
}

#[cfg(unix)]
#[test]
fn the_test_in_java_finds_the_bug() {
    finds_the_bug("java");
}

#[cfg(unix)]
#[test]
fn the_test_in_cpp_finds_the_bug() {
    finds_the_bug("cpp");
}
