//! Finding anything by its name: commands at once, things in the history in a job.

use super::command::{Command, Request};
use super::fuzzy;
use super::marks::Ask;
use super::tasks::{Failure, Task};
use super::tree::Catalogue;
use super::vocabulary::file_name;
use crate::checkers::ViolationId;
use crate::control::Control;
use crate::control::sorting::going;
use crate::history::{Annotation, History, KeyId, TransactionId};
use std::path::PathBuf;

/// Maximum number of things of one kind that are offered.
const MAX: usize = 12;

/// What can be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thing {
    /// Runs a command.
    Command(Command),
    /// Opens a file.
    File(PathBuf),
    /// Compares the open history with a file.
    CompareWith(PathBuf),
    /// Shows an anomaly.
    Anomaly(ViolationId),
    /// Shows a transaction in the history.
    Transaction(TransactionId),
    /// Goes to a mark.
    Mark(usize),
    /// Shows the versions of a key.
    Key(KeyId),
}

/// Something found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaletteEntry {
    /// The thing found.
    pub thing: Thing,
    pub name: String,
    /// What kind of thing it is, or the keys of a command.
    pub note: String,
    /// How well it matches.
    score: i32,
}

impl PaletteEntry {
    /// The request for choosing it.
    pub fn request(&self) -> Request {
        match &self.thing {
            Thing::Command(command) => Request::Run(*command),
            Thing::File(path) => Request::OpenFile(path.clone()),
            Thing::CompareWith(path) => Request::CompareWith(path.clone()),
            Thing::Anomaly(id) => Request::Select(*id),
            Thing::Transaction(transaction) => Request::Browse(*transaction),
            Thing::Mark(at) => Request::Marks(Ask::GoTo(*at)),
            Thing::Key(key) => Request::ShowKey(*key),
        }
    }
}

/// The open palette.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    /// The text typed.
    pub text: String,
    /// The matches, best first.
    pub found: Vec<PaletteEntry>,
    /// The one that Enter chooses.
    pub chosen: usize,
    /// The field takes the keyboard in the next frame.
    pub fresh: bool,
}

impl Palette {
    /// Searches commands and files for the text.
    pub fn search(&mut self, recent: &[PathBuf], document: Option<&[Annotation]>) {
        let has_document = document.is_some();
        let commands = Command::table()
            .iter()
            .filter(|row| row.command != Command::Palette && (has_document || !row.needs_history));
        let commands = commands.filter_map(|row| {
            let by_name = fuzzy::score(&self.text, row.name).map(|score| score + 20);
            let score = by_name.max(fuzzy::score_in_text(
                &self.text,
                &format!("{} {}", row.name, row.tooltip),
            ))?;
            let note = format!("{}  {}", row.command.key_text(), row.tooltip);
            Some(PaletteEntry {
                thing: Thing::Command(row.command),
                name: row.name.to_owned(),
                note,
                score,
            })
        });
        let named = recent.iter().map(|path| (path, file_name(path)));
        let others = named
            .clone()
            .filter(|_| has_document && !self.text.trim().is_empty());
        let things = named.map(|(path, name)| (Thing::File(path.clone()), name, path));
        let compared = others.map(|(path, name)| {
            (
                Thing::CompareWith(path.clone()),
                format!("Compare with {name}"),
                path,
            )
        });
        let files = things.chain(compared).filter_map(|(thing, name, path)| {
            let score = fuzzy::score(&self.text, &name)?;
            Some(PaletteEntry {
                thing,
                name,
                note: path.display().to_string(),
                score,
            })
        });
        let marks = document
            .unwrap_or_default()
            .iter()
            .enumerate()
            .filter_map(|(at, mark)| {
                let name = if mark.text.is_empty() {
                    "(no text)"
                } else {
                    &mark.text
                };
                let score = fuzzy::score(&self.text, &format!("mark {name}"))?;
                Some(PaletteEntry {
                    thing: Thing::Mark(at),
                    name: name.to_owned(),
                    note: "mark".to_owned(),
                    score: score + 20,
                })
            });
        self.found = commands.chain(files).chain(marks).collect();
        self.sort();
        self.chosen = 0;
    }

    /// Adds the results of a job. An entry that was moved to stays selected, wherever it is then; else it is the best.
    pub fn add(&mut self, found: Vec<PaletteEntry>) {
        let chosen = self.found.get(self.chosen).filter(|_| self.chosen > 0);
        let chosen = chosen.map(|found| found.thing.clone());
        self.found.extend(found);
        self.sort();
        let place =
            chosen.and_then(|chosen| self.found.iter().position(|found| found.thing == chosen));
        self.chosen = place.unwrap_or(0);
    }

    fn sort(&mut self) {
        if !self.text.trim().is_empty() {
            self.found
                .sort_by_key(|found| std::cmp::Reverse(found.score));
        }
    }

    /// Moves the selection.
    pub fn move_by(&mut self, step: isize) {
        let n = self.found.len() as isize;
        if n > 0 {
            self.chosen = (self.chosen as isize + step).rem_euclid(n) as usize;
        }
    }
}

/// Searching the history.
pub(super) static FIND: Task<Vec<PaletteEntry>> = Task::new(
    "find",
    Failure::Message("Finding ended unexpectedly"),
    |app, found| {
        if let Some(palette) = &mut app.state.palette {
            palette.add(found);
        }
    },
);

/// What of a history matches the text.
pub(super) fn find(
    text: &str,
    history: &History,
    catalogue: Option<&Catalogue>,
    control: &Control,
) -> Vec<PaletteEntry> {
    let mut all = Vec::new();
    let anomalies = going(
        control,
        catalogue
            .into_iter()
            .flat_map(|catalogue| &catalogue.entries),
    );
    all.extend(best(anomalies.filter_map(|entry| {
        let name = format!(
            "{} {} {}",
            entry.id,
            entry.id.pattern.row().title,
            entry.label
        );
        let score = fuzzy::score(text, &name)?;
        Some(PaletteEntry {
            thing: Thing::Anomaly(entry.id),
            name,
            note: "anomaly".to_owned(),
            score,
        })
    })));
    all.extend(best(going(control, history.transactions()).filter_map(
        |t| {
            let name = history.transaction_name(t);
            let score = fuzzy::score(text, &name)?;
            let note = format!(
                "transaction of session {}",
                history.session_and_node(history.session_of(t))
            );
            Some(PaletteEntry {
                thing: Thing::Transaction(t),
                name,
                note,
                score,
            })
        },
    )));
    all.extend(best(
        going(control, (0..history.n_keys()).map(KeyId::new)).filter_map(|key| {
            let name = format!("key {}", history.key_name(key));
            let score = fuzzy::score(text, &name)?;
            Some(PaletteEntry {
                thing: Thing::Key(key),
                name,
                note: "versions and readers".to_owned(),
                score,
            })
        }),
    ));
    all
}

/// The best matches, without keeping all.
fn best(found: impl Iterator<Item = PaletteEntry>) -> Vec<PaletteEntry> {
    let mut kept: Vec<PaletteEntry> = Vec::new();
    for found in found {
        if kept.len() < MAX || kept.last().is_some_and(|last| last.score < found.score) {
            let at = kept.partition_point(|other| other.score >= found.score);
            kept.insert(at, found);
            kept.truncate(MAX);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::page::Page;

    #[test]
    fn a_transaction_is_found_by_its_name() {
        let text = "a: [w x 1] [w x 2]\nb: [r x 2]\n";
        let history = crate::formats::text::parse(text).expect("a history in our notation");
        let found = find("b1", &history, None, &Control::new());
        assert_eq!(found.first().map(|found| found.name.as_str()), Some("b1"));
        let keys = find("key x", &history, None, &Control::new());
        assert!(
            keys.iter()
                .any(|found| matches!(found.thing, Thing::Key(_)))
        );
    }

    #[test]
    fn what_comes_later_does_not_change_the_choice() {
        let found = |name: &str, score| PaletteEntry {
            thing: Thing::File(PathBuf::from(name)),
            name: name.to_owned(),
            note: String::new(),
            score,
        };
        let mut palette = Palette {
            text: "x".to_owned(),
            ..Palette::default()
        };
        palette.add(vec![found("a", 5), found("b", 3)]);
        assert_eq!(palette.found[palette.chosen].name, "a");
        palette.move_by(1);
        palette.add(vec![found("best", 9), found("worst", 1)]);
        assert_eq!(palette.found[palette.chosen].name, "b");
        assert_eq!(
            palette.found[0].name, "best",
            "the best is first all the same"
        );
    }

    #[test]
    fn commands_that_need_a_history_are_not_offered_without_one() {
        let mut palette = Palette {
            text: "graph".to_owned(),
            ..Palette::default()
        };
        palette.search(&[], None);
        assert!(
            palette
                .found
                .iter()
                .all(|found| found.thing != Thing::Command(Command::Show(Page::Graph)))
        );
        palette.search(&[], Some(&[]));
        assert_eq!(
            palette.found.first().map(|found| &found.thing),
            Some(&Thing::Command(Command::Show(Page::Graph)))
        );
        palette.move_by(-1);
        assert_eq!(palette.chosen, palette.found.len() - 1);
    }
}
