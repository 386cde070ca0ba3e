//! Project files: a history, how things are arranged around it, and the view. JSON, next to the history.
//!
//! A deep link describes a view in one line: `runs/history.edn#TAP-k/3&view=lanes`.

use super::App;
use super::arrangement::Arrangement;
use super::page::Page;
use super::vocabulary::Tone;
use crate::checkers::{ViolationId, ViolationName};
use crate::history::Rules;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Extension of project files, after the whole name of the history.
pub const ENDING: &str = "isoscope";
/// Name of this file format.
const SCHEMA: &str = "isoscope.project/1";

/// A project file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Project {
    /// [`SCHEMA`].
    schema: String,
    /// The history, relative to the folder of the project file.
    pub history: PathBuf,
    /// The rules by which it is read.
    #[serde(default)]
    pub rules: BTreeMap<String, String>,
    #[serde(default)]
    pub view: View,
    /// How things are arranged.
    #[serde(default)]
    pub arrangement: Arrangement,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// The word of a page.
    pub page: String,
    /// Identity of the selected anomaly.
    pub anomaly: String,
    /// Its id, which is used if there is no such identity.
    pub id: String,
    /// Indices of the inferred edges whose evidence is drawn.
    pub evidence: Option<Vec<usize>>,
}

/// What to show once it is available.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestoreTarget {
    /// Identity of an anomaly.
    pub identity: Option<String>,
    /// Name of an anomaly.
    pub id: Option<ViolationName>,
    pub page: Option<Page>,
    /// Inferred edges whose evidence is drawn.
    pub evidence: Option<Vec<usize>>,
    /// No message is shown if the anomaly does not exist.
    pub quiet: bool,
}

impl RestoreTarget {
    /// The anomaly that is wished for, if it is there.
    pub fn find(&self, catalogue: &super::tree::Catalogue) -> Option<ViolationId> {
        let by_identity = self
            .identity
            .as_ref()
            .and_then(|identity| catalogue.of_identity(identity));
        let by_name = || Some(self.id.as_ref()?.find(&catalogue.findings.violations)?.id);
        by_identity.or_else(by_name)
    }
}

impl View {
    /// What shall be looked at once it is there.
    pub fn wish(&self) -> RestoreTarget {
        RestoreTarget {
            identity: Some(self.anomaly.clone()).filter(|text| !text.is_empty()),
            id: self.id.parse().ok(),
            page: Page::with_word(&self.page),
            evidence: self.evidence.clone(),
            quiet: true,
        }
    }
}

/// Takes a link apart. Errors: what of it is not understood.
pub fn parse_link(fragment: &str) -> Result<RestoreTarget, String> {
    let mut wish = RestoreTarget::default();
    for part in fragment.split('&').filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            None => wish.id = Some(part.parse()?),
            Some(("view", word)) => {
                let words: Vec<&str> = Page::table().iter().map(|row| row.word).collect();
                let unknown =
                    || format!("`{word}` is no view, expected one of {}", words.join(", "));
                wish.page = Some(Page::with_word(word).ok_or_else(unknown)?);
            }
            Some((name, _)) => {
                return Err(format!("`{name}` means nothing in a link, expected view=…"));
            }
        }
    }
    Ok(wish)
}

/// Separates a file from a link into it. A file that exists under the whole name is not a link.
pub fn split_link(path: &Path) -> (PathBuf, Option<String>) {
    let text = path.to_string_lossy();
    match text.rsplit_once('#') {
        Some((file, fragment)) if !path.exists() => {
            (PathBuf::from(file), Some(fragment.to_owned()))
        }
        _ => (path.to_owned(), None),
    }
}

/// The project file next to a history.
pub fn next_to(history: &Path) -> PathBuf {
    let mut name = history.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ENDING);
    history.with_file_name(name)
}

/// Whether a path names a project file.
pub fn is_project(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == ENDING)
}

/// Reads a project file. Errors: one line that names it.
pub fn read(path: &Path) -> Result<(PathBuf, Rules, Project), String> {
    let say = |what: String| format!("{}: {what}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| say(error.to_string()))?;
    let project: Project =
        serde_json::from_str(&text).map_err(|error| say(format!("no project file: {error}")))?;
    if project.schema != SCHEMA {
        return Err(say(format!(
            "its form is {}, expected {SCHEMA}",
            project.schema
        )));
    }
    let mut rules = Rules::default();
    for (name, word) in &project.rules {
        rules
            .set(name, word)
            .map_err(|error| say(format!("rule {name}: {error}")))?;
    }
    let history = path
        .parent()
        .unwrap_or(Path::new(""))
        .join(&project.history);
    Ok((history, rules, project))
}

impl App {
    /// The current content of a project file of the open history.
    fn project(&self) -> Option<(PathBuf, Project)> {
        let document = self.state.document.as_ref()?;
        let path = document.path()?;
        let entry = document.selected.zip(document.catalogue.as_ref());
        let entry = entry
            .and_then(|(id, catalogue)| catalogue.place(id).map(|place| &catalogue.entries[place]));
        let view = View {
            page: self.state.page.row().word.to_owned(),
            anomaly: entry
                .map(|entry| entry.identity.clone())
                .unwrap_or_default(),
            id: document
                .selected
                .map(|id| id.to_string())
                .unwrap_or_default(),
            evidence: document
                .argument
                .evidence
                .as_ref()
                .map(|evidence| evidence.iter().copied().collect()),
        };
        let rules = document
            .form
            .read_by
            .words()
            .into_iter()
            .map(|(name, word)| (name.to_owned(), word));
        let defaults = Rules::default().words();
        let changed =
            rules.filter(|(name, word)| defaults.iter().all(|(n, w)| n != name || w != word));
        let project = Project {
            schema: SCHEMA.to_owned(),
            history: PathBuf::from(path.file_name()?),
            rules: changed.collect(),
            view,
            arrangement: self.arrangement()?,
        };
        Some((next_to(path), project))
    }

    /// Writes the project file next to the history.
    pub(super) fn save_project(&mut self) {
        let Some((path, project)) = self.project() else {
            self.state.tell(
                Tone::Note,
                "Only a history that was opened from a file has a project file",
            );
            return;
        };
        match serde_json::to_string_pretty(&project) {
            Ok(text) => self.write_file(path, text + "\n", "Project saved"),
            Err(error) => self.state.tell(Tone::Problem, error.to_string()),
        }
    }

    /// The link to the current view.
    pub(super) fn link(&self) -> Option<String> {
        let document = self.state.document.as_ref()?;
        let path = document.path()?.display();
        let id = document
            .selected
            .map(|id| id.to_string())
            .unwrap_or_default();
        let view = self.state.page.row().word;
        Some(if id.is_empty() {
            format!("{path}#view={view}")
        } else {
            format!("{path}#{id}&view={view}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_say_what_is_looked_at() {
        let wish = parse_link("TAP-k/3&view=lanes").expect("it is a link");
        assert_eq!(
            (wish.id.map(|id| id.to_string()), wish.page),
            (Some("TAP-k/3".to_owned()), Some(Page::Lanes))
        );
        assert_eq!(
            parse_link("TAP-k").map(|wish| wish.id.map(|id| id.ordinal)),
            Ok(Some(None))
        );
        assert!(parse_link("TAP-k/0").is_err());
        assert!(parse_link("view=nowhere").is_err_and(|text| text.contains("lanes")));
        assert_eq!(
            split_link(Path::new("no/such.edn#TAP-k/3")),
            (PathBuf::from("no/such.edn"), Some("TAP-k/3".to_owned()))
        );
        assert_eq!(split_link(Path::new("no/such.edn")).1, None);
    }

    #[test]
    fn every_page_has_a_word() {
        Page::table().iter().for_each(|row| {
            assert_eq!(
                (Page::with_word(row.word), row.page.row().word),
                (Some(row.page), row.word)
            )
        });
    }

    #[test]
    fn the_project_is_next_to_its_history() {
        assert_eq!(
            next_to(Path::new("runs/a.edn")),
            PathBuf::from("runs/a.edn.isoscope")
        );
        assert!(is_project(Path::new("a.edn.isoscope")) && !is_project(Path::new("a.edn")));
    }

    #[test]
    fn a_damaged_project_is_said_in_one_line() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.isoscope");
        std::fs::write(&path, "{\"schema\":").expect("the folder is writable");
        let text = read(&path).expect_err("it is damaged");
        assert!(
            text.contains("x.isoscope") && !text.contains('\n'),
            "{text}"
        );
    }
}
