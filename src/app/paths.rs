//! Finding out, off the frame, what a path leads to: a history with the project file next to it, a link into one, or a
//! folder of histories.

use super::batch::Batch;
use super::project::{self, Project, RestoreTarget};
use super::recent;
use super::tasks::{End, Failure, Task};
use super::vocabulary::{Banner, Source, Tone};
use crate::control::Control;
use crate::formats::{self, ListedFile};
use crate::history::Rules;
use egui::DroppedFileHandle;
use std::path::{Path, PathBuf};

/// What to open.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// A history, a project file, a link, or a folder.
    pub path: PathBuf,
    /// The dropped file, if it was dropped: if there is no such path, its contents are used.
    pub dropped: Option<DroppedFileHandle>,
    /// More histories, to be opened in one table; two are compared.
    pub others: Vec<PathBuf>,
    /// What shall be looked at, where neither a link nor a project says so.
    pub wish: Option<RestoreTarget>,
}

/// A history to open.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Where it is.
    pub source: Source,
    /// The rules by which it is read.
    pub rules: Rules,
    /// How it was arranged.
    pub project: Option<Box<Project>>,
    /// What shall be looked at.
    pub wish: Option<RestoreTarget>,
    /// What is to be said about it.
    pub said: Vec<Banner>,
}

/// What a path leads to.
#[derive(Clone, Debug)]
pub enum ResolvedPath {
    /// One history.
    History(Box<Opening>),
    /// A folder of histories, at least one, with what cannot be used.
    Several(Box<Batch>),
    /// Nothing to open, with the reason.
    Nothing(String),
}

/// The result.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// Where the path leads.
    pub leads: ResolvedPath,
    /// Files to be remembered, the newest last, by their full paths.
    pub remembered: Vec<PathBuf>,
}

/// Looking where a path leads; nothing comes when it is stopped.
pub(super) static LOOK: Task<Lookup> = Task {
    end: |app, end| {
        let path = app.state.looking.take().unwrap_or_default();
        if let End::Failed(cause) = end {
            app.state
                .tell(Tone::Problem, format!("{}: {cause}", path.display()));
        }
    },
    ..Task::new("look", Failure::Silent, |app, looked| {
        app.tasks.cancel(&LOOK);
        app.state.looking = None;
        app.open_looked(looked);
    })
};

impl Request {
    /// Where the path leads, and what to remember.
    pub(super) fn answer(&self, control: &Control) -> Option<Lookup> {
        let leads = look(self, control)?;
        let opened = match &leads {
            ResolvedPath::History(opening) => match &opening.source {
                Source::File(path) => Some(path.clone()),
                Source::Sample(_) | Source::Bytes { .. } | Source::Part(_) => None,
            },
            ResolvedPath::Several(_) | ResolvedPath::Nothing(_) => None,
        };
        let named = self.others.iter().rev().cloned().chain(opened);
        let remembered = named
            .filter(|path| path.exists())
            .map(|path| recent::full(&path))
            .collect();
        Some(Lookup { leads, remembered })
    }
}

fn look(request: &Request, control: &Control) -> Option<ResolvedPath> {
    if let Some(dropped) = request.dropped.as_ref().filter(|_| !request.path.exists()) {
        let name = request.path.display().to_string();
        return Some(match dropped.bytes() {
            Ok(bytes) => history(Source::Bytes {
                name,
                bytes: bytes.into(),
            }),
            Err(error) => ResolvedPath::Nothing(format!("{name}: {error}")),
        });
    }
    if !request.others.is_empty() {
        let paths: Vec<PathBuf> = std::iter::once(&request.path)
            .chain(&request.others)
            .cloned()
            .collect();
        return several(&paths, control);
    }
    let (path, link) = project::split_link(&request.path);
    if project::is_project(&path) {
        return Some(match project::read(&path) {
            Ok((path, rules, found)) => with_project(path, rules, found),
            Err(text) => ResolvedPath::Nothing(text),
        });
    }
    if path.is_dir() && !formats::is_one_history(&path) {
        return folder(&path, control);
    }
    let mut leads = with_own_project(path);
    if let ResolvedPath::History(opening) = &mut leads {
        match link.as_deref().map(project::parse_link) {
            Some(Ok(wish)) => opening.wish = Some(wish),
            Some(Err(text)) => opening.said.push(Banner {
                text,
                tone: Tone::Problem,
            }),
            None => opening.wish = request.wish.clone().or(opening.wish.take()),
        }
    }
    Some(leads)
}

fn history(source: Source) -> ResolvedPath {
    let (rules, project, wish, said) = (Rules::default(), None, None, Vec::new());
    ResolvedPath::History(Box::new(Opening {
        source,
        rules,
        project,
        wish,
        said,
    }))
}

fn with_project(path: PathBuf, rules: Rules, project: Project) -> ResolvedPath {
    let wish = Some(project.view.wish());
    let (source, project, said) = (Source::File(path), Some(Box::new(project)), Vec::new());
    ResolvedPath::History(Box::new(Opening {
        source,
        rules,
        project,
        wish,
        said,
    }))
}

/// A history with the project file next to it, if there is one.
fn with_own_project(path: PathBuf) -> ResolvedPath {
    let project = project::next_to(&path);
    if !project.is_file() {
        return history(Source::File(path));
    }
    let (mut leads, said) = match project::read(&project) {
        Ok((_, rules, found)) => {
            let text = format!("Arranged as in {}", project.display());
            (
                with_project(path, rules, found),
                Banner {
                    text,
                    tone: Tone::Done,
                },
            )
        }
        Err(text) => (
            history(Source::File(path)),
            Banner {
                text,
                tone: Tone::Problem,
            },
        ),
    };
    if let ResolvedPath::History(opening) = &mut leads {
        opening.said.push(said);
    }
    leads
}

/// The table of several histories, as given; if there are two, they are compared.
fn several(paths: &[PathBuf], control: &Control) -> Option<ResolvedPath> {
    let found = formats::histories(paths, control).ok()?;
    let folder = paths
        .first()
        .and_then(|path| path.parent())
        .unwrap_or(Path::new(""))
        .to_owned();
    let mut batch = Batch::new(&folder, found);
    if let ([first, _], 2) = (paths, batch.rows.len()) {
        // Rows are kept by name.
        let before = usize::from(batch.rows[0].path != *first);
        batch.compared = vec![before, 1 - before];
    }
    Some(ResolvedPath::Several(Box::new(batch)))
}

fn folder(folder: &Path, control: &Control) -> Option<ResolvedPath> {
    let found = formats::histories(&[folder.to_owned()], control).ok()?;
    let error = found.iter().find_map(|found| match found {
        ListedFile::Unusable { path, message } => Some(format!("{}: {message}", path.display())),
        ListedFile::History(_) => None,
    });
    let any = found
        .iter()
        .any(|found| matches!(found, ListedFile::History(_)));
    Some(match error {
        _ if any => ResolvedPath::Several(Box::new(Batch::new(folder, found))),
        Some(error) => ResolvedPath::Nothing(error),
        None => ResolvedPath::Nothing(format!(
            "{}: there is no history in this folder",
            folder.display()
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::page::Page;

    fn leads(request: Request) -> ResolvedPath {
        look(&request, &Control::new()).expect("nothing stops it")
    }

    #[test]
    fn a_path_leads_to_a_history_a_project_a_folder_or_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("the folder is writable");
            path
        };
        let path = at("h.txt", "a: [w x 1]\n");
        let request = |path: PathBuf| Request {
            path,
            ..Request::default()
        };
        let ResolvedPath::History(plain) = leads(request(path.clone())) else {
            panic!("it is a history")
        };
        assert!(plain.project.is_none() && plain.wish.is_none() && plain.said.is_empty());
        let link = PathBuf::from(format!("{}#view=lanes", path.display()));
        let ResolvedPath::History(linked) = leads(request(link)) else {
            panic!("it is a history")
        };
        assert_eq!(linked.source, Source::File(path.clone()));
        assert_eq!(linked.wish.and_then(|wish| wish.page), Some(Page::Lanes));
        at("h.txt.isoscope", "{\"schema\":");
        let ResolvedPath::History(damaged) = leads(request(path)) else {
            panic!("it is a history all the same")
        };
        assert!(
            damaged.project.is_none() && damaged.said[0].tone == Tone::Problem,
            "{:?}",
            damaged.said
        );
        assert!(
            matches!(leads(request(folder.path().to_owned())), ResolvedPath::Several(batch) if batch.rows.len() == 1)
        );
        let named = |name: &str| folder.path().join(name);
        at("a.txt", "a: [w x 2]\n");
        let two = Request {
            path: named("h.txt"),
            others: vec![named("a.txt")],
            ..Request::default()
        };
        let ResolvedPath::Several(batch) = leads(two) else {
            panic!("they are several")
        };
        assert_eq!(
            (batch.rows.len(), batch.compared),
            (2, vec![1, 0]),
            "in the order in which they were given"
        );
        let empty = tempfile::tempdir().expect("a temporary folder");
        assert!(matches!(
            leads(request(empty.path().to_owned())),
            ResolvedPath::Nothing(_)
        ));
    }
}
