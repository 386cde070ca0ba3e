//! What a rule of the workload sees, drawn in place of an anomaly: its calls over time.

use super::App;
use super::exporting::{EXPORT, PageStyle};
use super::files::write_whole;
use super::page::Page;
use super::state::ExportForm;
use super::tasks::{Failure, Task};
use super::vocabulary::Tone;
use crate::control::Control;
use crate::diagram::{Card, Target};
use crate::export::bundle::finding_files;
use crate::export::{
    ExportKind, Picture, compose_finding, compose_finding_alone, export, sha256_of_file,
};
use crate::files;
use crate::history::{History, TransactionId};
use crate::workload::{Told, told};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A finding on the screen.
#[derive(Clone, Debug)]
pub struct FindingView {
    /// Its place among those of the workload.
    pub place: usize,
    /// In words.
    pub told: Told,
    /// Its transactions, in the order in which the picture numbers them.
    pub transactions: Vec<TransactionId>,
    /// Drawn, once it is.
    pub picture: Option<Arc<Picture>>,
}

impl FindingView {
    /// The transaction of the history that a part of the picture belongs to.
    pub fn transaction(&self, target: Target, picture: &Picture) -> Option<TransactionId> {
        let small = match target {
            Target::Transaction(t) => t,
            Target::Operation(operation) => {
                let has_it = |card: &&Card| card.rows.iter().any(|row| row.operation == operation);
                picture.diagram.cards.iter().find(has_it)?.transaction
            }
            _ => return None,
        };
        self.transactions.get(small.index()).copied()
    }
}

/// Wider pictures are drawn without the calls around those that show a finding, so that all of these are in view.
const WIDEST: f32 = 840.0;

static DRAW: Task<(usize, Drawn)> = Task::new(
    "finding",
    Failure::Message("The finding could not be drawn"),
    |app, (place, (picture, transactions))| {
        let document = app.state.document.as_mut();
        let finding = document.and_then(|document| document.finding.as_mut());
        if let Some(finding) = finding.filter(|finding| finding.place == place) {
            finding.picture = Some(Arc::new(picture));
            finding.transactions = transactions;
        }
    },
);

impl App {
    /// Shows the finding at a place in place of an anomaly.
    pub(super) fn show_finding(&mut self, place: usize) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(history) = document.history.clone() else {
            return;
        };
        let Some(told) = told(&history, place) else {
            return;
        };
        document.finding = Some(FindingView {
            place,
            told,
            transactions: Vec::new(),
            picture: None,
        });
        self.state.page = Page::Graph;
        self.ask(&DRAW, move |_| Some((place, drawn(&history, place)?)));
    }

    /// Whether a finding is on the screen, and no anomaly.
    pub(super) fn shows_finding(&self) -> bool {
        let document = self.state.document.as_ref();
        document.is_some_and(|document| document.finding.is_some())
    }

    /// The finding on the screen, with what a file of it is made of.
    fn shown_finding(&self) -> Option<(Arc<History>, FindingView)> {
        let document = self.state.document.as_ref()?;
        document.history.clone().zip(document.finding.clone())
    }

    /// Opens the export dialog for the finding.
    pub(super) fn open_finding_export(&mut self) {
        let Some((_, finding)) = self.shown_finding() else {
            return;
        };
        let Some(document) = &self.state.document else {
            return;
        };
        let name = format!("{}.svg", finding.told.id.replace('/', "-"));
        self.state.export = Some(ExportForm {
            kind: ExportKind::Svg,
            view: Page::Order,
            path: document.file_beside(&name).display().to_string(),
            style: PageStyle::WHOLE,
            preview: None,
            previewed: None,
        });
    }

    /// Writes the picture or the text of the finding.
    pub(super) fn write_finding(&mut self, kind: ExportKind, path: PathBuf) {
        let Some((history, finding)) = self.shown_finding() else {
            return;
        };
        let write = move |control: &Control| {
            let page = compose_finding(&history, finding.place, digest(&history).as_deref());
            let page = page.ok_or("the finding is gone")?;
            let bytes = export(kind, &page).map_err(|error| error.to_string())?;
            control.check().map_err(|interrupt| interrupt.to_string())?;
            write_whole(&path, &bytes)?;
            Ok(path)
        };
        self.ask(&EXPORT, move |control| Some(write(control)));
    }

    /// Writes a report of the finding into a new folder next to the history.
    pub(super) fn report_finding(&mut self) {
        let Some((history, finding)) = self.shown_finding() else {
            return;
        };
        let Some(document) = &self.state.document else {
            return;
        };
        let id = &finding.told.id;
        let folder = document.file_beside(&format!("{}-report", id.replace('/', "-")));
        let command = format!(
            "isoscope report '{}' --violation {id}",
            history.origin().path
        );
        let write = move |_: &Control| {
            let files = finding_files(
                &history,
                finding.place,
                digest(&history).as_deref(),
                &command,
            )
            .map_err(|error| error.to_string())?;
            let folder = super::exporting::free_name(&folder);
            files::write_folder(&folder, &files).map_err(|error| error.to_string())?;
            Ok(folder)
        };
        self.ask(&EXPORT, move |control| Some(write(control)));
    }

    /// Puts the finding on the clipboard.
    pub(super) fn copy_finding(&mut self, context: &egui::Context, as_markdown: bool) {
        if let Some((_, finding)) = self.shown_finding() {
            context.copy_text(match as_markdown {
                true => finding.told.markdown(),
                false => finding.told.plain_text(),
            });
            self.state
                .tell(Tone::Done, "The finding is on the clipboard");
        }
    }
}

/// A picture, and its transactions in the order in which it numbers them.
type Drawn = (Picture, Vec<TransactionId>);

/// The picture of a finding: with the calls around it, if it is not too wide with them.
fn drawn(history: &History, place: usize) -> Option<Drawn> {
    let fact = history.workload()?.facts.get(place)?;
    let whole = compose_finding(history, place, None)?;
    let fits = whole.scene.bounds.width() <= WIDEST || fact.context.is_empty();
    let picture = match fits {
        true => whole,
        false => compose_finding_alone(history, place)?,
    };
    let context = fact.context.iter().filter(|_| fits);
    let calls = fact.calls.iter().chain(context);
    let mut transactions: Vec<TransactionId> = calls.map(|call| call.transaction).collect();
    transactions.sort_unstable();
    transactions.dedup();
    Some((picture, transactions))
}

fn digest(history: &History) -> Option<String> {
    sha256_of_file(Path::new(&history.origin().path)).ok()
}
