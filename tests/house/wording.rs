//! Words that users see: terms of the field, no inventions.

use crate::common;

use std::path::{Path, PathBuf};

/// What speaks of anomalies to users.
const SPEAKERS: [&str; 8] = [
    "crates/tell/src/counterexample",
    "crates/check/src/health",
    "crates/export/src/bundle",
    "src/cli/explain.rs",
    "crates/tell/src/document",
    "crates/model/src/levels.rs",
    "crates/model/src/levels",
    "crates/check/src/checkers/c4_pattern.rs",
];

/// Words and phrases that say it in a way of their own.
const BANNED: [&str; 12] = [
    "circle",
    "circles",
    "nobody",
    "somebody",
    "whoever",
    "stand",
    "stands",
    "anew",
    "beside",
    "go back behind",
    "goes back behind",
    "told apart",
];

fn files_below(path: &Path, all: &mut Vec<PathBuf>) {
    if path.is_file() {
        all.push(path.to_owned());
        return;
    }
    for entry in std::fs::read_dir(path)
        .expect("a folder of the program")
        .flatten()
    {
        files_below(&entry.path(), all);
    }
}

/// The string literals of a file, without those of its tests and comments.
fn literals(source: &str) -> Vec<String> {
    let shown = source
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let code: String = shown
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect();
    let mut all = Vec::new();
    let mut chars = code.chars();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        if c == '"' && before != '\'' {
            let mut literal = String::new();
            while let Some(c) = chars.next().filter(|&c| c != '"') {
                literal.push(c);
                literal.extend(if c == '\\' { chars.next() } else { None });
            }
            all.push(literal);
        }
        before = c;
    }
    all
}

#[test]
fn users_read_terms_of_the_field() {
    let mut files = Vec::new();
    SPEAKERS
        .iter()
        .for_each(|path| files_below(&common::repository(path), &mut files));
    let (mut n, mut wrong) = (0, Vec::new());
    for path in files.iter().filter(|path| !path.ends_with("tests.rs")) {
        let source = std::fs::read_to_string(path).expect("the source can be read");
        for literal in literals(&source) {
            n += 1;
            let words: Vec<String> = literal
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(str::to_lowercase)
                .collect();
            let text = format!(" {} ", words.join(" "));
            if BANNED
                .iter()
                .any(|word| text.contains(&format!(" {word} ")))
            {
                wrong.push(format!("{}: {literal}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n > 500, "{n} literals");
}
