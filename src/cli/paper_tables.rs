//! `isoscope stats --plume-table` and `--weakest-table`: in how many histories something occurs, by folder, as the
//! papers' own tables count it. Each occurrence counts once per history. Plume's letters are found by the rule of its
//! published program, with which its Table 4 was made, C4's (Table 2) by its algorithm, and the weakest violated level
//! (Biswas & Enea 2019, Table 2) by the program's own engines.

use super::args::StatsArguments;
use super::output::{Output, Paint};
use super::{ExitCode, complain, input};
use crate::checkers::{C4Pattern, Checker, Findings, Level, Options, Pattern, Verdict};
use crate::control::Control;
use crate::formats::{self, ListedFile};
use crate::history::{History, visible};
use crate::papers::{self, Choice, Counting};
use crate::report::grouped;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Histories read and checked at the same time.
const WAVE: usize = 16;

/// The table to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// Plume's Table 4 and C4's Table 2.
    Kinds,
    /// Biswas & Enea's Table 2.
    Weakest,
}

/// The subject of a table's columns.
struct Section {
    title: &'static str,
    columns: Vec<&'static str>,
}

/// The entry of a section of a table for one history.
#[derive(Default)]
struct Occurring {
    /// The columns in which it counts.
    columns: Vec<&'static str>,
    /// Why there may be others, if so.
    undecided: Option<String>,
}

/// The figures of the histories of one folder, or of all, in one section.
#[derive(Clone, Default)]
struct FolderRow {
    histories: u64,
    undecided: u64,
    /// Histories that count in some column.
    anomalous: u64,
    columns: BTreeMap<&'static str, u64>,
}

/// By folder, a row for each section.
type Rows = BTreeMap<PathBuf, Vec<FolderRow>>;

pub(super) fn run(
    table: Table,
    arguments: &StatsArguments,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let files = formats::histories(&arguments.paths, &Control::new())?;
    let folders = folders(
        &files,
        &arguments.paths,
        arguments.depth.unwrap_or(1).into(),
    );
    let sections = table.sections();
    let mut rows = Rows::new();
    let mut worst = ExitCode::Satisfied;
    for (wave, folders) in files.chunks(WAVE).zip(folders.chunks(WAVE)) {
        let looked: Vec<_> = wave
            .par_iter()
            .map(|found| look_into(found, table, arguments))
            .collect();
        for ((found, folder), looked) in wave.iter().zip(folders).zip(looked) {
            let occurring = match looked {
                Ok(occurring) => occurring,
                Err(message) => {
                    complain(&message);
                    worst = ExitCode::Unusable;
                    continue;
                }
            };
            if arguments.json {
                out.with(|out| {
                    out.write_all(table.json_line(path_of(found), &occurring).as_bytes())
                });
            }
            let rows = rows
                .entry(folder.clone())
                .or_insert_with(|| vec![FolderRow::default(); sections.len()]);
            rows.iter_mut()
                .zip(&occurring)
                .for_each(|(row, occurring)| row.add(occurring));
        }
    }
    if !arguments.json {
        out.text(&text(table, &sections, &rows, out));
    }
    Ok(worst)
}

/// For each history the folder in whose row it counts: the one `depth` folders below the given path, or the nearest one
/// above it that contains other histories.
fn folders(files: &[ListedFile], given: &[PathBuf], depth: usize) -> Vec<PathBuf> {
    let folder_of =
        |found: &ListedFile| path_of(found).parent().unwrap_or(Path::new("")).to_owned();
    let mut n_below: BTreeMap<PathBuf, u64> = BTreeMap::new();
    for folder in files.iter().map(folder_of) {
        folder
            .ancestors()
            .for_each(|folder| *n_below.entry(folder.to_owned()).or_default() += 1);
    }
    let group = |found: &ListedFile| {
        let mut folder = folder_of(found);
        let above = given
            .iter()
            .filter(|path| folder.starts_with(path))
            .map(|path| path.components().count())
            .max();
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

fn path_of(found: &ListedFile) -> &Path {
    match found {
        ListedFile::History(path) | ListedFile::Unusable { path, .. } => path,
    }
}

/// The entry of each section for a history.
fn look_into(
    found: &ListedFile,
    table: Table,
    arguments: &StatsArguments,
) -> Result<Vec<Occurring>, String> {
    match found {
        ListedFile::Unusable { path, message } => Err(format!("{}: {message}", path.display())),
        ListedFile::History(path) => {
            let control = arguments.limits.control();
            match input::open(path, &arguments.reading, &control) {
                Ok((history, _)) => Ok(table.look_into(&history, &control)),
                Err(error) if error.interrupt().is_some() => Ok(table.unread(error.message())),
                Err(error) => {
                    let at = match error.place() {
                        place if place == "file" => String::new(),
                        place => format!(" {place}:"),
                    };
                    Err(format!("{}:{at} {}", path.display(), error.message()))
                }
            }
        }
    }
}

impl Table {
    /// The requested table, if any.
    pub(super) fn of(arguments: &StatsArguments) -> Option<Table> {
        match (arguments.plume_table, arguments.weakest_table) {
            (true, _) => Some(Table::Kinds),
            (_, true) => Some(Table::Weakest),
            _ => None,
        }
    }

    fn sections(self) -> Vec<Section> {
        let plume = || {
            Pattern::all()
                .filter(|pattern| pattern.letter().is_some())
                .map(|pattern| letter_of(pattern.id()))
        };
        let c4 = || C4Pattern::all().map(|pattern| letter_of(pattern.id()));
        let levels = || above_cut_isolation().map(Level::code);
        match self {
            Table::Kinds => vec![
                Section {
                    title: "Plume's kinds, by the rule of its published program (Table 4)",
                    columns: plume().collect(),
                },
                Section {
                    title: "C4's kinds (Table 2)",
                    columns: c4().collect(),
                },
            ],
            Table::Weakest => vec![Section {
                title: "The weakest level that is violated (Biswas & Enea, Table 2)",
                columns: levels().collect(),
            }],
        }
    }

    fn look_into(self, history: &History, control: &Control) -> Vec<Occurring> {
        let ask = |checker: Checker, levels: Vec<Level>| {
            let choice = Choice {
                counting: Counting::Published,
                ..checker.into()
            };
            let options = Options {
                levels,
                max_instances: 0,
                ..Options::default()
            };
            papers::check(history, choice, &options, control, &|_| {})
        };
        // TCC prohibits every letter.
        let letters = |checker: Checker| ask(checker, vec![Level::TransactionalCausalConsistency]);
        match self {
            Table::Kinds => vec![plumes(&letters(Checker::Plume)), c4s(&letters(Checker::C4))],
            Table::Weakest => vec![weakest(&ask(
                Checker::Fast,
                above_cut_isolation().collect(),
            ))],
        }
    }

    /// The entries of a history whose reading a limit ended.
    fn unread(self, why: String) -> Vec<Occurring> {
        let entry = |_| Occurring {
            columns: Vec::new(),
            undecided: Some(why.clone()),
        };
        self.sections().iter().map(entry).collect()
    }

    fn json_line(self, path: &Path, occurring: &[Occurring]) -> String {
        let history = serde_json::json!({ "path": path.to_string_lossy() });
        let ids = |prefix: &str, occurring: &Occurring| -> Vec<String> {
            occurring
                .columns
                .iter()
                .map(|letter| format!("{prefix}TAP-{letter}"))
                .collect()
        };
        let undecided = occurring
            .iter()
            .find_map(|occurring| occurring.undecided.as_ref());
        let line = match (self, occurring) {
            (Table::Kinds, [plume, c4]) => serde_json::json!({
                "history": history, "plume": ids("", plume), "c4": ids("C4 ", c4), "undecided": undecided,
            }),
            _ => serde_json::json!({
                "history": history,
                "weakest": occurring.iter().find_map(|occurring| occurring.columns.first()),
                "undecided": undecided,
            }),
        };
        format!("{line}\n")
    }
}

/// Levels in which each is stronger than those before, without time.
fn above_cut_isolation() -> impl Iterator<Item = Level> {
    Level::WITHOUT_TIMES
        .into_iter()
        .filter(|level| !level.is_of_reads())
}

fn letter_of(id: &'static str) -> &'static str {
    id.rsplit('-').next().unwrap_or(id)
}

fn plumes(found: &Findings) -> Occurring {
    match &found.published_patterns {
        Some(counts) => Occurring {
            columns: counts
                .keys()
                .map(|pattern| letter_of(pattern.id()))
                .collect(),
            undecided: None,
        },
        None => Occurring {
            undecided: found.assumptions.last().cloned(),
            ..Occurring::default()
        },
    }
}

fn c4s(found: &Findings) -> Occurring {
    let undecided = found
        .levels
        .iter()
        .find_map(|result| reason(&result.verdict));
    Occurring {
        columns: found
            .c4_patterns
            .keys()
            .map(|pattern| letter_of(pattern.id()))
            .collect(),
        undecided,
    }
}

/// The first level that is not satisfied decides.
fn weakest(found: &Findings) -> Occurring {
    let first = found
        .levels
        .iter()
        .find(|result| !matches!(result.verdict, Verdict::Satisfied(_)));
    match first.map(|result| (result.level, &result.verdict)) {
        Some((level, Verdict::Violated)) => Occurring {
            columns: vec![level.code()],
            undecided: None,
        },
        Some((level, verdict)) => {
            let undecided = reason(verdict).map(|reason| format!("{level}: {reason}"));
            Occurring {
                columns: Vec::new(),
                undecided,
            }
        }
        None => Occurring::default(),
    }
}

fn reason(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Undecided(cause) => Some(cause.to_string()),
        _ => None,
    }
}

impl FolderRow {
    fn add(&mut self, occurring: &Occurring) {
        self.histories += 1;
        self.undecided += u64::from(occurring.undecided.is_some());
        self.anomalous += u64::from(!occurring.columns.is_empty());
        occurring
            .columns
            .iter()
            .for_each(|&column| *self.columns.entry(column).or_default() += 1);
    }

    fn add_row(&mut self, other: &FolderRow) {
        self.histories += other.histories;
        self.undecided += other.undecided;
        self.anomalous += other.anomalous;
        other
            .columns
            .iter()
            .for_each(|(&column, n)| *self.columns.entry(column).or_default() += n);
    }
}

/// All sections: a row per folder, a column per letter or level.
fn text(table: Table, sections: &[Section], rows: &Rows, out: &Output) -> String {
    let parts = sections
        .iter()
        .enumerate()
        .map(|(place, section)| section.text(rows, place, out));
    let mut text = parts.collect::<Vec<_>>().join("\n");
    let any_undecided = rows.values().flatten().any(|row| row.undecided > 0);
    text += match (any_undecided, table) {
        (false, _) => "",
        (true, Table::Kinds) => {
            "\nUndecided: for C4's algorithm, histories in which a value was written twice to a key; for both, those \
             that are too large. In undecided histories, only wrong single reads are counted.\n"
        }
        (true, Table::Weakest) => {
            "\nIn an undecided history, the levels below the undecided one are satisfied; --json says which and why.\n"
        }
    };
    text
}

fn name(folder: &Path) -> String {
    if folder.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        visible(&folder.display().to_string())
    }
}

impl Section {
    /// The rows of this section, which has index `place`.
    fn text(&self, rows: &Rows, place: usize, out: &Output) -> String {
        let mut all = FolderRow::default();
        rows.values().for_each(|rows| all.add_row(&rows[place]));
        let mut lines: Vec<(String, &FolderRow)> = rows
            .iter()
            .map(|(folder, rows)| (name(folder), &rows[place]))
            .collect();
        if rows.len() > 1 {
            lines.push(("all".to_owned(), &all));
        }
        let width = lines
            .iter()
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or(0)
            .max("folder".len());
        let mut text = format!("{}\n", out.paint(Paint::Strong, self.title));
        let heading: String = self
            .columns
            .iter()
            .map(|column| format!("{column:>6}"))
            .collect();
        let heading = format!(
            "{:width$}  {:>9}  {:>9}  {:>9}{heading}  {:>7}",
            "folder", "histories", "undecided", "anomalous", "sum"
        );
        text += &format!("{}\n", out.paint(Paint::Faint, &heading));
        for (name, row) in lines {
            let cell = |column: &&str| match row.columns.get(column) {
                Some(&n) => format!("{:>6}", grouped(n)),
                None => format!("{:>6}", "·"),
            };
            let cells: String = self.columns.iter().map(cell).collect();
            let [histories, undecided, anomalous] =
                [row.histories, row.undecided, row.anomalous].map(grouped);
            let sum = grouped(row.columns.values().sum());
            text += &format!(
                "{name:width$}  {histories:>9}  {undecided:>9}  {anomalous:>9}{cells}  {sum:>7}\n"
            );
        }
        text
    }
}
