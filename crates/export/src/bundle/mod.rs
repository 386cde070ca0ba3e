//! The report of one counterexample for an issue tracker: words, pictures, files, scripts.
//!
//! [`bundle()`] makes all of its files, [`page()`] the one page with everything inside. The text is made once, as data,
//! and written in three dialects; in the page, picture and argument are linked to each other. Every history in it has
//! been read back and checked again; a format that cannot express what breaks the level is left out, and the report
//! says why. The same input gives the same bytes.

mod contents;
mod finding;
mod histories;
mod html;
mod jira;
mod operations;
mod setting;
mod stage;
mod trust;
mod web_page;

pub use finding::finding_files;

use super::reproduce::{self, Isolation, Plan, Reproduction};
use super::{ComposeOptions, ExportError, ExportKind, Picture, compose, export};
use isoscope_check::checkers::lattice::Promise;
use isoscope_check::checkers::{Findings, Violation};
use isoscope_check::health::Health;
use isoscope_model::control::Control;
use isoscope_model::history::{Annotation, History};
use isoscope_tell::counterexample::{Counterexample, Explanation, narrate};
use isoscope_tell::document::{self, Reader};

/// The subject of a report, and the data it needs.
pub struct Brief<'a> {
    /// The counterexample.
    pub example: &'a Counterexample,
    /// Its argument.
    pub explanation: &'a Explanation,
    /// The violation of the whole history that it was derived from.
    pub violation: &'a Violation,
    /// The history it was taken from.
    pub whole: &'a History,
    /// Everything found in that history.
    pub findings: &'a Findings,
    /// Whether that history can be trusted.
    pub health: &'a Health,
    /// How the picture is composed.
    pub options: &'a ComposeOptions,
    /// What the database promises, if that is known.
    pub promise: Option<&'static Promise>,
    /// The setting that the scripts use; none for the one that claims the level.
    pub isolation: Option<Isolation>,
    /// What the user marked in the history.
    pub annotations: &'a [Annotation],
    /// The command line that makes this report.
    pub command: String,
}

/// The scripts of a report.
struct Scripts {
    isolation: Isolation,
    sql: String,
    spec: String,
}

/// The files of a bundle other than histories: name, and description.
const OTHER_FILES: &[(&str, &str)] = &[
    (
        "report.html",
        "this report with everything inside; opens without a network",
    ),
    ("report.md", "this report for GitHub and GitLab"),
    ("report.jira.txt", "this report in the markup of Jira"),
    ("picture.svg", "the picture, text stays text"),
    #[cfg(feature = "png")]
    ("picture.png", "the picture at twice its size"),
    ("picture.dot", "the graph for Graphviz"),
    ("picture.tex", "the diagram for LaTeX"),
    ("picture.mmd", "the graph for Mermaid"),
    (
        "reproduce.sql",
        "statements for several terminals, with what was observed",
    ),
    (
        "reproduce.spec",
        "the same for PostgreSQL's isolationtester",
    ),
];

/// The picture that Jira shows: not every version shows SVG.
const IN_JIRA: &str = if cfg!(feature = "png") {
    "picture.png"
} else {
    "picture.svg"
};

/// Whether a report may have a file of this name.
pub fn is_file_of_report(name: &str) -> bool {
    OTHER_FILES
        .iter()
        .map(|(name, _)| *name)
        .chain(histories::names())
        .any(|known| known == name)
}

/// All files of a report: names and contents, in the order of a table of contents.
///
/// Costs a few checks of the small history. Errors: a picture that cannot be made, for example because it is too large
/// for a PNG.
pub fn bundle(brief: &Brief<'_>, control: &Control) -> Result<Vec<(String, Vec<u8>)>, ExportError> {
    let made = Made::new(brief, control)?;
    let in_files = contents::document(&made);
    let title = narrate::headline(brief.example, brief.explanation);
    let in_tracker = Reader::Tracker {
        picture: "picture.svg",
        alt: &title,
    };
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>| files.push((name.to_owned(), bytes));
    add(
        "report.md",
        document::markdown(&in_files, in_tracker).into_bytes(),
    );
    add(
        "report.jira.txt",
        jira::jira(&in_files, IN_JIRA).into_bytes(),
    );
    add("report.html", web_page::web_page(&made).into_bytes());
    let kinds = [
        ExportKind::Svg,
        #[cfg(feature = "png")]
        ExportKind::Png,
        ExportKind::Dot,
        ExportKind::Tikz,
        ExportKind::Mermaid,
    ];
    for kind in kinds {
        add(
            &format!("picture.{}", kind.extension()),
            export(kind, &made.picture)?,
        );
    }
    if let Some(scripts) = made.scripts {
        add("reproduce.sql", scripts.sql.into_bytes());
        add("reproduce.spec", scripts.spec.into_bytes());
    }
    for file in made.histories {
        add(file.name, file.bytes);
    }
    Ok(files)
}

/// The report as one page of HTML with everything inside.
pub fn page(brief: &Brief<'_>, control: &Control) -> Result<Vec<u8>, ExportError> {
    Ok(web_page::web_page(&Made::new(brief, control)?).into_bytes())
}

/// The parts made once for all dialects.
struct Made<'a> {
    /// What it is about.
    brief: &'a Brief<'a>,
    picture: Picture,
    plan: Plan,
    /// None where rows come and go: the scripts have no scans.
    scripts: Option<Scripts>,
    histories: Vec<histories::HistoryFile>,
    left_out: Vec<histories::LeftOut>,
    mermaid: String,
}

impl<'a> Made<'a> {
    fn new(brief: &'a Brief<'a>, control: &Control) -> Result<Made<'a>, ExportError> {
        let Brief {
            example,
            explanation,
            whole,
            options,
            ..
        } = brief;
        let picture = compose(example, explanation, whole, options);
        let plan = reproduce::plan(example, control);
        let isolation = brief
            .isolation
            .unwrap_or_else(|| Isolation::claiming(example.level));
        let reproduction = Reproduction {
            history: &example.history,
            plan: &plan,
            isolation,
            headline: narrate::headline(example, explanation),
            origin: picture.footer.join(" · "),
        };
        let scripts = (!example.history.has_rows()).then(|| Scripts {
            isolation,
            sql: reproduce::sql(&reproduction),
            spec: reproduce::spec(&reproduction),
        });
        let (histories, left_out) = histories::histories(example, control);
        let mermaid = String::from_utf8_lossy(&export(ExportKind::Mermaid, &picture)?).into_owned();
        Ok(Made {
            brief,
            picture,
            plan,
            scripts,
            histories,
            left_out,
            mermaid,
        })
    }
}
