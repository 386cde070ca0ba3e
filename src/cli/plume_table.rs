//! `isoscope stats --plume-table`: which kinds of anomalies occur in how many histories, counted as the papers' own tables
//! do. A kind counts once per history. Plume's letters are found by the rule of its published program, with which its Table 4
//! was made, C4's (Table 2) by its algorithm.

use super::args::StatsArguments;
use super::output::{Output, Paint};
use super::{ExitCode, complain, input};
use crate::checkers::{self, C4Pattern, Checker, Counting, Level, Options, Pattern, Verdict};
use crate::control::Control;
use crate::formats::{self, Found};
use crate::history::{History, visible};
use crate::report::grouped;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Histories read and checked at the same time.
const WAVE: usize = 16;

/// Which letters of one paper occur in a history.
#[derive(Default)]
struct Letters {
    letters: Vec<char>,
    /// Why there may be others, if there may.
    undecided: Option<String>,
}

/// The kinds of one history.
struct Kinds {
    plume: Letters,
    c4: Letters,
}

/// One paper's figures of the histories of one folder, or of all.
#[derive(Clone, Default)]
struct Row {
    histories: u64,
    undecided: u64,
    /// Histories with a letter.
    anomalous: u64,
    letters: BTreeMap<char, u64>,
}

/// By folder, Plume's figures and C4's.
type Rows = BTreeMap<PathBuf, [Row; 2]>;

pub(super) fn run(arguments: &StatsArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let files = formats::histories(&arguments.paths, &Control::new())?;
    let folders = folders(&files, &arguments.paths, arguments.depth.unwrap_or(1).into());
    let mut rows = Rows::new();
    let mut worst = ExitCode::Satisfied;
    for (wave, folders) in files.chunks(WAVE).zip(folders.chunks(WAVE)) {
        let looked: Vec<Result<Kinds, String>> = wave.par_iter().map(|found| look_into(found, arguments)).collect();
        for ((found, folder), looked) in wave.iter().zip(folders).zip(looked) {
            let kinds = match looked {
                Ok(kinds) => kinds,
                Err(message) => {
                    complain(&message);
                    worst = ExitCode::Unusable;
                    continue;
                }
            };
            if arguments.json {
                out.with(|out| out.write_all(json_line(path_of(found), &kinds).as_bytes()));
            }
            let [plume, c4] = rows.entry(folder.clone()).or_default();
            plume.add(&kinds.plume);
            c4.add(&kinds.c4);
        }
    }
    if !arguments.json {
        out.text(&table(&rows, out));
    }
    Ok(worst)
}

/// For each history the folder with whose row it counts: the one `depth` folders below the path that was given, or the
/// nearest one above it in which there are other histories.
fn folders(files: &[Found], given: &[PathBuf], depth: usize) -> Vec<PathBuf> {
    let folder_of = |found: &Found| path_of(found).parent().unwrap_or(Path::new("")).to_owned();
    let mut n_below: BTreeMap<PathBuf, u64> = BTreeMap::new();
    for folder in files.iter().map(folder_of) {
        folder.ancestors().for_each(|folder| *n_below.entry(folder.to_owned()).or_default() += 1);
    }
    let group = |found: &Found| {
        let mut folder = folder_of(found);
        let above = given.iter().filter(|path| folder.starts_with(path)).map(|path| path.components().count()).max();
        let Some(above) = above else { return folder };
        while folder.components().count() > above + depth
            || (folder.components().count() > above && n_below[&folder] == 1)
        {
            folder.pop();
        }
        folder
    };
    files.iter().map(group).collect()
}

fn path_of(found: &Found) -> &Path {
    match found {
        Found::History(path) | Found::Unusable { path, .. } => path,
    }
}

fn look_into(found: &Found, arguments: &StatsArguments) -> Result<Kinds, String> {
    match found {
        Found::Unusable { path, message } => Err(format!("{}: {message}", path.display())),
        Found::History(path) => match input::open(path, &arguments.reading) {
            Ok((history, _)) => Ok(Kinds { plume: plumes(&history), c4: c4s(&history) }),
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

/// TCC prohibits every letter.
fn options(checker: Checker) -> Options {
    let levels = vec![Level::TransactionalCausalConsistency];
    Options { levels, max_instances: 0, checker, counting: Counting::Published, ..Options::default() }
}

fn plumes(history: &History) -> Letters {
    let found = checkers::check(history, &options(Checker::Plume), &Control::new(), &|_| {});
    match found.published_patterns {
        Some(counts) => Letters { letters: counts.keys().filter_map(|p| p.letter()).collect(), undecided: None },
        None => Letters { undecided: found.assumptions.last().cloned(), ..Letters::default() },
    }
}

fn c4s(history: &History) -> Letters {
    let found = checkers::check(history, &options(Checker::C4), &Control::new(), &|_| {});
    let undecided = found.levels.iter().find_map(|result| match &result.verdict {
        Verdict::Undecided(cause) => Some(cause.to_string()),
        _ => None,
    });
    Letters { letters: found.c4_patterns.keys().map(|pattern| pattern.letter()).collect(), undecided }
}

impl Row {
    fn add(&mut self, found: &Letters) {
        self.histories += 1;
        self.undecided += u64::from(found.undecided.is_some());
        self.anomalous += u64::from(!found.letters.is_empty());
        found.letters.iter().for_each(|&letter| *self.letters.entry(letter).or_default() += 1);
    }

    fn add_row(&mut self, other: &Row) {
        self.histories += other.histories;
        self.undecided += other.undecided;
        self.anomalous += other.anomalous;
        other.letters.iter().for_each(|(&letter, n)| *self.letters.entry(letter).or_default() += n);
    }
}

fn json_line(path: &Path, kinds: &Kinds) -> String {
    let ids = |prefix: &str, found: &Letters| -> Vec<String> {
        found.letters.iter().map(|letter| format!("{prefix}TAP-{letter}")).collect()
    };
    let line = serde_json::json!({
        "history": { "path": path.to_string_lossy() },
        "plume": ids("", &kinds.plume),
        "c4": ids("C4 ", &kinds.c4),
        "undecided": kinds.plume.undecided.as_ref().or(kinds.c4.undecided.as_ref()),
    });
    format!("{line}\n")
}

/// One table per paper: a row per folder, a column per letter.
fn table(rows: &Rows, out: &Output) -> String {
    let plume: Vec<char> = Pattern::all().filter_map(Pattern::letter).collect();
    let c4: Vec<char> = C4Pattern::ALL.into_iter().map(C4Pattern::letter).collect();
    let mut text = section("Plume's kinds, by the rule of its published program (Table 4)", rows, 0, &plume, out);
    text.push('\n');
    text += &section("C4's kinds (Table 2)", rows, 1, &c4, out);
    if rows.values().flatten().any(|row| row.undecided > 0) {
        text += "\nHistories in which a value was written twice to a key are undecided by C4's algorithm, and what is too \
                 large by either; then only wrong single reads are counted.\n";
    }
    text
}

fn name(folder: &Path) -> String {
    if folder.as_os_str().is_empty() { ".".to_owned() } else { visible(&folder.display().to_string()) }
}

/// The table of the paper at `place`.
fn section(title: &str, rows: &Rows, place: usize, letters: &[char], out: &Output) -> String {
    let mut all = Row::default();
    rows.values().for_each(|row| all.add_row(&row[place]));
    let mut lines: Vec<(String, &Row)> = rows.iter().map(|(folder, row)| (name(folder), &row[place])).collect();
    if rows.len() > 1 {
        lines.push(("all".to_owned(), &all));
    }
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max("folder".len());
    let mut text = format!("{}\n", out.paint(Paint::Strong, title));
    let heading: String = letters.iter().map(|letter| format!("{letter:>6}")).collect();
    let heading = format!(
        "{:width$}  {:>9}  {:>9}  {:>9}{heading}  {:>7}",
        "folder", "histories", "undecided", "anomalous", "kinds"
    );
    text += &format!("{}\n", out.paint(Paint::Faint, &heading));
    for (name, row) in lines {
        let cell = |letter: &char| match row.letters.get(letter) {
            Some(&n) => format!("{:>6}", grouped(n)),
            None => format!("{:>6}", "·"),
        };
        let cells: String = letters.iter().map(cell).collect();
        let [histories, undecided, anomalous] = [row.histories, row.undecided, row.anomalous].map(grouped);
        let kinds = grouped(row.letters.values().sum());
        text += &format!("{name:width$}  {histories:>9}  {undecided:>9}  {anomalous:>9}{cells}  {kinds:>7}\n");
    }
    text
}
