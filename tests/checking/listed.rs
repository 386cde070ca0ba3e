//! The list, the picture and the text are of the same anomaly: the same name, the same transactions, once.

use crate::common;

use common::mixed::{self, Mix};
use common::random::for_seeds;
use common::{corpus, examine, repository};
use isoscope::audit::Examples;
use isoscope::checkers::Pattern;
use isoscope::control::Control;
use isoscope::formats;
use isoscope::history::History;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const HISTORIES: u64 = 3_000;

/// Of a history at most this many violations of each pattern are looked at.
const LOOKED_AT: usize = 20;

/// Whatever is chosen, what is shown is a listed violation, which shows the same when it is chosen itself.
fn look_at(history: &History) -> Result<(), String> {
    let findings = examine::check(history);
    let examples = Examples::new(history, &findings);
    let mut looked_at: BTreeMap<Pattern, usize> = BTreeMap::new();
    for violation in &findings.violations {
        let n = looked_at.entry(violation.id.pattern).or_default();
        *n += 1;
        if *n > LOOKED_AT {
            continue;
        }
        let example = examples.of(violation, &Control::new());
        let shown = example.violation.id;
        if !findings.violations.iter().any(|listed| listed.id == shown) {
            return Err(format!(
                "{} shows {shown}, which is not listed",
                violation.id
            ));
        }
        let again = examples.of(&example.violation, &Control::new());
        let transactions = example.counterexample.renaming.transactions.clone();
        if (
            again.violation.id,
            &again.counterexample.renaming.transactions,
        ) != (shown, &transactions)
        {
            return Err(format!(
                "{} shows {shown}, which shows {}",
                violation.id, again.violation.id
            ));
        }
    }
    Ok(())
}

fn files_below(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, all)
        } else {
            all.push(path)
        }
    }
}

#[test]
fn what_is_chosen_in_a_generated_history_is_what_is_shown() {
    for_seeds(HISTORIES, |seed| {
        let mix = Mix::any(&mut fastrand::Rng::with_seed(seed));
        let text = mixed::text(&mix, seed);
        let Ok(history) = formats::text::parse(&text) else {
            return Ok(());
        };
        look_at(&history).map_err(|problem| format!("{text}{problem}"))
    });
}

#[test]
fn what_is_chosen_in_a_real_history_is_what_is_shown() {
    const MOST_OPERATIONS: usize = 20_000;
    let mut files = Vec::new();
    files_below(&repository("sample_histories"), &mut files);
    files_below(&corpus(), &mut files);
    files.sort();
    let mut problems = Vec::new();
    for path in &files {
        let Ok(history) = formats::open(path, None, &Control::new()) else {
            continue;
        };
        if history.n_operations() <= MOST_OPERATIONS
            && let Err(problem) = look_at(&history)
        {
            problems.push(format!("{}: {problem}", path.display()));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_entry_that_check_prints_is_explained_under_its_name_and_title() {
    let isoscope = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_isoscope"))
            .args(arguments)
            .output()
            .expect("it can be started");
        String::from_utf8(output.stdout).expect("it prints text")
    };
    let mut said = BTreeSet::new();
    for sample in [
        "web-shop.txt",
        "no-linear-order.txt",
        "incompatible-order.txt",
        "snapshot-cycle.txt",
    ] {
        let path = repository("sample_histories")
            .join(sample)
            .display()
            .to_string();
        let printed = isoscope(&["check", &path]);
        let listed = printed
            .split_once("\nViolations  ")
            .and_then(|(_, rest)| Some(rest.split_once('\n')?.1))
            .expect("it lists violations");
        let lines: Vec<&str> = listed
            .lines()
            .take_while(|line| line.starts_with("  "))
            .collect();
        let entries = lines
            .iter()
            .zip(&lines[1..])
            .filter(|(line, _)| line.contains('/') && !line.starts_with("   "));
        for (entry, summary) in entries {
            let words: Vec<&str> = entry.split_whitespace().collect();
            let title = entry
                .split_once(&format!(" {} ", words[1]))
                .expect("the level follows the id")
                .1
                .trim();
            let explained = isoscope(&["explain", &path, "--violation", words[0], "--plain"]);
            assert!(
                explained.starts_with(&format!("{}\n", words[0])),
                "{}\n{explained}",
                words[0]
            );
            assert!(
                explained.contains(title) && explained.contains(summary.trim()),
                "{entry}\n{summary}\n{explained}"
            );
            assert!(
                said.insert(summary.trim().to_owned()),
                "twice: {entry}\n{summary}"
            );
        }
    }
    assert!(said.len() >= 10, "{said:?}");
}
