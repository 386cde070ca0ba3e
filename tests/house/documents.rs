//! README and the pages in `docs` say what is true: each command runs as written on bundled files, each link leads
//! somewhere, and the README stays short.
//!
//! Blocks marked `sh` are run, apart from commands of cargo. Blocks marked `bash` need other programs or large files
//! (`tests/telling/cli.rs` runs them with its own), those marked `console` a database server.

use crate::common;

use common::repository;
use std::path::{Path, PathBuf};

/// Most words of the README.
const MOST_WORDS: usize = 1500;

/// The README, then the pages in `docs`, by name.
fn pages() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(repository("docs")).expect("the documents");
    let mut pages: Vec<PathBuf> = folder
        .map(|entry| entry.expect("a document").path())
        .collect();
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.sort();
    pages.insert(0, repository("README.md"));
    pages
}

fn text(page: &Path) -> String {
    std::fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}

/// The commands of the blocks to run, a line that ends with a backslash with the next one, and those of jobs in pipelines.
#[cfg(unix)]
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for block in page.split("\n```sh\n").skip(1) {
        let block = block
            .split("\n```")
            .next()
            .unwrap_or_default()
            .replace("\\\n", " ");
        commands.extend(block.lines().map(str::to_owned));
    }
    commands.retain(|line| !line.starts_with("cargo ") && !line.is_empty());
    let steps = page.lines().filter_map(|line| {
        line.trim()
            .strip_prefix("run: ")
            .or(line.trim().strip_prefix("- "))
    });
    commands.extend(
        steps
            .filter(|step| step.starts_with("isoscope "))
            .map(str::to_owned),
    );
    commands
}

#[cfg(unix)]
#[test]
fn every_command_runs_as_written() {
    use std::process::{Command, Stdio};
    let place = tempfile::tempdir().expect("a temporary folder");
    let programs = place.path().join("programs");
    std::fs::create_dir(&programs).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_isoscope"), programs.join("isoscope"))
        .expect("a link");
    let path = format!(
        "{}:{}",
        programs.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut n_run = 0;
    for page in pages() {
        // Each page begins in a fresh checkout, as far as its commands need one.
        let here = place.path().join(page.file_stem().expect("a name"));
        std::fs::create_dir(&here).expect("a folder");
        for name in ["sample_histories", "histories"] {
            std::os::unix::fs::symlink(repository("sample_histories"), here.join(name))
                .expect("a link");
        }
        for command in commands(&text(&page)) {
            let mut shell = Command::new("sh");
            shell
                .args(["-c", &command])
                .env("PATH", &path)
                .current_dir(&here)
                .stdin(Stdio::null());
            let output = shell
                .env_remove("DISPLAY")
                .env_remove("WAYLAND_DISPLAY")
                .output()
                .expect("there is a shell");
            let said = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            assert!(
                matches!(code, Some(0 | 1)),
                "{}: {command}\nends with {code:?}: {said}",
                page.display()
            );
            n_run += 1;
        }
    }
    assert!(n_run > 20, "{n_run} commands");
}

#[test]
fn links_lead_somewhere() {
    for page in pages() {
        let text = text(&page);
        let folder = page.parent().expect("a folder");
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            if link.starts_with("http") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                folder.join(file)
            };
            assert!(target.exists(), "{}: {link}", page.display());
            if !anchor.is_empty() {
                let headings = self::text(&target)
                    .lines()
                    .filter(|line| line.starts_with('#'))
                    .map(anchor_of)
                    .collect();
                let headings: Vec<String> = headings;
                assert!(
                    headings.iter().any(|heading| heading == anchor),
                    "{}: {link}",
                    page.display()
                );
            }
        }
    }
}

/// The anchor of a heading: lower case, blanks become hyphens, punctuation goes.
fn anchor_of(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn the_readme_is_short_and_leads_to_every_page() {
    let readme = text(&repository("README.md"));
    let n = readme.split_whitespace().count();
    assert!(n <= MOST_WORDS, "{n} words");
    for page in pages().into_iter().skip(1) {
        let link = format!(
            "](docs/{})",
            page.file_name().expect("a name").to_string_lossy()
        );
        assert!(readme.contains(&link), "{link}");
    }
}

/// The page for those who come from Elle names every argument and every model.
#[test]
fn the_page_on_elle_is_complete() {
    let page = text(&repository("docs/coming-from-elle.md"));
    let said = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_isoscope"));
        let output = command.arg("elle").args(arguments).output();
        let output = output.expect("the program runs");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let (help, refusal) = (said(&["--help"]), said(&["-m", "none", "none"]));
    let flags = help
        .split_whitespace()
        .filter(|word| word.starts_with("--") && !["--help", "--version"].contains(word));
    let (_, models) = refusal
        .trim_end()
        .split_once("known are ")
        .expect("the models");
    for name in flags.chain(models.split(", ")) {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}
