//! `isoscope stats --plume-table`: which kinds of anomalies occur in how many histories, counted as Plume (Table 4) and
//! C4 (Table 2) do: a kind counts once per history, and one commit order, built with the causal axiom, serves all kinds.

use super::args::ReadingArguments;
use super::output::{Output, Paint};
use super::{ExitCode, complain, input};
use crate::checkers::{self, C4Pattern, Checker, Findings, Level, Options, Pattern, Verdict};
use crate::control::Control;
use crate::formats::{self, Found};
use crate::history::{History, visible};
use crate::report::grouped;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Histories read and checked at the same time.
const WAVE: usize = 16;

/// The kinds of one history.
struct Kinds {
    /// Letters of Plume that occur.
    plume: Vec<char>,
    /// Letters of C4 that occur.
    c4: Vec<char>,
    /// Why a checker could not tell, if one could not.
    undecided: Option<String>,
}

/// The histories of one folder, or of all.
#[derive(Clone, Default)]
struct Row {
    histories: u64,
    undecided: u64,
    plume: BTreeMap<char, u64>,
    c4: BTreeMap<char, u64>,
}

pub(super) fn run(
    paths: &[PathBuf],
    reading: &ReadingArguments,
    json: bool,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let files = formats::histories(paths, &Control::new())?;
    let mut rows: BTreeMap<PathBuf, Row> = BTreeMap::new();
    let mut worst = ExitCode::Satisfied;
    for wave in files.chunks(WAVE) {
        let looked: Vec<Result<Kinds, String>> = wave.par_iter().map(|found| look_into(found, reading)).collect();
        for (found, looked) in wave.iter().zip(looked) {
            let path = path_of(found);
            let kinds = match looked {
                Ok(kinds) => kinds,
                Err(message) => {
                    complain(&message);
                    worst = ExitCode::Unusable;
                    continue;
                }
            };
            if json {
                out.with(|out| out.write_all(json_line(path, &kinds).as_bytes()));
            }
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            rows.entry(folder).or_default().add(&kinds);
        }
    }
    if !json {
        out.text(&table(&rows, out));
    }
    Ok(worst)
}

fn path_of(found: &Found) -> &Path {
    match found {
        Found::History(path) | Found::Unusable { path, .. } => path,
    }
}

fn look_into(found: &Found, reading: &ReadingArguments) -> Result<Kinds, String> {
    match found {
        Found::Unusable { path, message } => Err(format!("{}: {message}", path.display())),
        Found::History(path) => match input::open(path, reading) {
            Ok((history, _)) => Ok(kinds(&history)),
            Err(error) => {
                let at = match error.place() {
                    place if place == "file" => String::new(),
                    place => format!(" {place}:"),
                };
                Err(format!("{}:{at} {}", path.display(), error.message()))
            }
        },
    }
}

fn kinds(history: &History) -> Kinds {
    let ask = |checker: Checker, levels: Vec<Level>| {
        let options = Options { levels, max_instances: 0, checker, one_commit_order: true, ..Options::default() };
        checkers::check(history, &options, &Control::new(), &|_| {})
    };
    let plume = ask(Checker::Plume, Checker::Plume.levels().to_vec());
    let c4 = ask(Checker::C4, Checker::C4.levels().to_vec());
    let why = |findings: &Findings| {
        findings.levels.iter().find_map(|result| match &result.verdict {
            Verdict::Undecided(cause) => Some(cause.to_string()),
            _ => None,
        })
    };
    let occurs = |n: u64| n > 0;
    Kinds {
        undecided: why(&plume).or_else(|| why(&c4)),
        plume: plume.patterns.iter().filter(|(_, n)| occurs(**n)).filter_map(|(p, _)| p.letter()).collect(),
        c4: c4.c4_patterns.iter().filter(|(_, n)| occurs(**n)).map(|(p, _)| p.letter()).collect(),
    }
}

impl Row {
    fn add(&mut self, kinds: &Kinds) {
        self.histories += 1;
        self.undecided += u64::from(kinds.undecided.is_some());
        kinds.plume.iter().for_each(|&letter| *self.plume.entry(letter).or_default() += 1);
        kinds.c4.iter().for_each(|&letter| *self.c4.entry(letter).or_default() += 1);
    }

    fn add_row(&mut self, other: &Row) {
        self.histories += other.histories;
        self.undecided += other.undecided;
        other.plume.iter().for_each(|(&letter, n)| *self.plume.entry(letter).or_default() += n);
        other.c4.iter().for_each(|(&letter, n)| *self.c4.entry(letter).or_default() += n);
    }
}

fn json_line(path: &Path, kinds: &Kinds) -> String {
    let ids = |prefix: &str, letters: &[char]| -> Vec<String> {
        letters.iter().map(|letter| format!("{prefix}TAP-{letter}")).collect()
    };
    let line = serde_json::json!({
        "history": { "path": path.to_string_lossy() },
        "plume": ids("", &kinds.plume),
        "c4": ids("C4 ", &kinds.c4),
        "undecided": kinds.undecided,
    });
    format!("{line}\n")
}

/// One table per paper: a row per folder, a column per letter.
fn table(rows: &BTreeMap<PathBuf, Row>, out: &Output) -> String {
    let mut all = Row::default();
    rows.values().for_each(|row| all.add_row(row));
    let mut lines: Vec<(String, &Row)> = rows.iter().map(|(folder, row)| (name(folder), row)).collect();
    if rows.len() > 1 {
        lines.push(("all".to_owned(), &all));
    }
    let plume: Vec<char> = Pattern::all().filter_map(Pattern::letter).collect();
    let c4: Vec<char> = C4Pattern::ALL.into_iter().map(C4Pattern::letter).collect();
    let mut text = section("Plume's kinds, one commit order (Table 4)", &lines, &plume, |row| &row.plume, out);
    text.push('\n');
    text += &section("C4's kinds (Table 2)", &lines, &c4, |row| &row.c4, out);
    if all.undecided > 0 {
        text += "\nHistories in which a value was written twice to a key, or that are too large for these algorithms, \
                 count as undecided; only wrong single reads are counted there.\n";
    }
    text
}

fn name(folder: &Path) -> String {
    if folder.as_os_str().is_empty() { ".".to_owned() } else { visible(&folder.display().to_string()) }
}

fn section(
    title: &str,
    lines: &[(String, &Row)],
    letters: &[char],
    counts: impl Fn(&Row) -> &BTreeMap<char, u64>,
    out: &Output,
) -> String {
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max("folder".len());
    let mut text = format!("{}\n", out.paint(Paint::Strong, title));
    let heading: String = letters.iter().map(|letter| format!("{letter:>6}")).collect();
    let heading = format!("{:width$}  {:>9}  {:>9}{heading}", "folder", "histories", "undecided");
    text += &format!("{}\n", out.paint(Paint::Faint, &heading));
    for (name, row) in lines {
        let cell = |letter: &char| match counts(row).get(letter) {
            Some(&n) => format!("{:>6}", grouped(n)),
            None => format!("{:>6}", "·"),
        };
        let cells: String = letters.iter().map(cell).collect();
        text += &format!("{name:width$}  {:>9}  {:>9}{cells}\n", grouped(row.histories), grouped(row.undecided));
    }
    text
}
