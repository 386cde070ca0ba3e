//! Taking the order of a satisfied level away: as a picture, and as text on the clipboard.

use super::App;
use super::exporting::{EXPORT, PageStyle};
use super::files::write_whole;
use super::page::Page;
use super::state::{Document, ExportForm};
use super::tasks::{Failure, Task};
use super::vocabulary::Tone;
use crate::checkers::{Level, LevelResult};
use crate::control::{Control, Interrupt};
use crate::counterexample::passes::{Passes, Surroundings, markdown};
use crate::export::{ExportKind, Stretch, compose_order, export, sha256_of_file};
use crate::history::History;
use crate::relations::{self, Resolution};
use crate::verify;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Making the text that says why a level holds.
static COPY_WHY: Task<String> = Task {
    is_of_history: false,
    ..Task::new(
        "why",
        Failure::Message("The text could not be made"),
        |app, text| {
            app.state.copied = Some(text);
            app.state
                .tell(Tone::Done, "Why it passes is on the clipboard as Markdown");
        },
    )
};

/// What a page or text about an order is made of.
pub(super) struct Material {
    history: Arc<History>,
    resolution: Option<Arc<Resolution>>,
    results: Vec<Arc<LevelResult>>,
    level: Level,
    assumptions: Vec<String>,
}

impl Material {
    /// Calls `make` with the order.
    pub(super) fn with<T>(
        &self,
        control: &Control,
        make: impl FnOnce(&Passes<'_>, &Surroundings<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        let interrupted = |interrupt: Interrupt| interrupt.to_string();
        let resolution = match &self.resolution {
            Some(resolution) => Arc::clone(resolution),
            None => Arc::new(relations::resolve(&self.history, control).map_err(interrupted)?),
        };
        let result = self
            .results
            .iter()
            .find(|result| result.level == self.level)
            .ok_or("the level is gone")?;
        let is_verified = self.level.is_of_reads() || verify::can_replay(&self.history);
        let passes = Passes::new(&self.history, &resolution, result, is_verified, control)
            .map_err(interrupted)?;
        let surroundings = Surroundings {
            assumptions: &self.assumptions,
            verdicts: self.results.iter().map(Arc::as_ref).collect(),
        };
        make(&passes.ok_or("the level does not hold")?, &surroundings)
    }
}

impl App {
    /// Whether the order of a level is on the screen, and no argument.
    pub(super) fn shows_order(&self) -> bool {
        let is_alone =
            |document: &Document| document.order.is_some() && document.current_picture().is_none();
        self.state.page == Page::Order && self.state.document.as_ref().is_some_and(is_alone)
    }

    pub(super) fn material(&self) -> Option<Material> {
        let document = self.state.document.as_ref()?;
        let level = document.order.as_ref()?.level;
        let results = document.results.all().cloned().collect();
        let assumptions = document.assumptions().to_vec();
        let resolution = document.results.resolution.clone();
        Some(Material {
            history: document.history.clone()?,
            resolution,
            results,
            level,
            assumptions,
        })
    }

    /// Puts why the level holds on the clipboard.
    pub(super) fn copy_order(&mut self) {
        let Some(material) = self.material() else {
            return;
        };
        self.ask(&COPY_WHY, move |control| {
            material
                .with(control, |passes, around| Ok(markdown(passes, around, true)))
                .ok()
        });
    }

    /// Opens the export dialog for the order.
    pub(super) fn open_order_export(&mut self) {
        let Some(document) = &self.state.document else {
            return;
        };
        let Some(order) = &document.order else { return };
        let path = document.file_beside(&format!("{}.svg", order.level));
        let (kind, path) = (ExportKind::Svg, path.display().to_string());
        self.state.export = Some(ExportForm {
            kind,
            view: Page::Order,
            path,
            style: PageStyle::WHOLE,
            preview: None,
            previewed: None,
        });
    }

    /// Writes the picture or the text of the order.
    pub(super) fn write_order(&mut self, kind: ExportKind, path: PathBuf) {
        let Some(material) = self.material() else {
            return;
        };
        let order = self
            .state
            .document
            .as_ref()
            .and_then(|document| document.order.as_ref());
        let stretch = order
            .and_then(|order| order.sheet.as_ref())
            .map_or(Stretch::default(), |sheet| sheet.stretch);
        let write = move |control: &Control| {
            let sha256 = sha256_of_file(Path::new(&material.history.origin().path)).ok();
            let bytes = material.with(control, |passes, around| {
                let page = compose_order(passes, around, stretch, sha256.as_deref(), control);
                let page = page.map_err(|interrupt| interrupt.to_string())?;
                export(kind, &page).map_err(|error| error.to_string())
            })?;
            control.check().map_err(|interrupt| interrupt.to_string())?;
            write_whole(&path, &bytes)?;
            Ok(path)
        };
        self.ask(&EXPORT, move |control| Some(write(control)));
    }
}
