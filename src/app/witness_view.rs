//! Showing the order that explains every read at a satisfied level.

use super::App;
use super::dialogs;
use super::exporting::EXPORT;
use super::files::write_whole;
use super::state::{Document, ExportForm};
use super::tasks::{Failure, Task};
use super::vocabulary::Page;
use crate::checkers::{Level, LevelResult, Verdict, Witness};
use crate::control::{Control, Interrupt};
use crate::counterexample::passes::{Passes, Surroundings, markdown};
use crate::counterexample::replay::{Replay, Told};
use crate::export::{ExportKind, Stretch, compose_order, export, sha256_of_file};
use crate::history::{History, OperationId};
use crate::jobs;
use crate::relations;
use crate::verify;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What an order says about the operations of a step, in program order.
pub type Rows = Arc<Vec<(OperationId, Told)>>;

/// The witness order that can be stepped through.
#[derive(Clone, Debug)]
pub struct OrderView {
    /// The satisfied level.
    pub level: Level,
    /// The run, once it is made.
    pub replay: Option<Arc<Replay>>,
    /// Why there is none.
    pub none: Option<&'static str>,
    /// The selected step.
    pub step: usize,
    /// Bring the selected step into view in the next frame.
    pub scroll: bool,
    /// The step whose operations were requested.
    pub asked: Option<usize>,
    /// What the order says about the operations of that step, once known.
    pub rows: Option<Rows>,
}

/// Up to this many operations are handled at once.
const FEW: usize = 200;

/// Running the witness of a level; nothing comes if it has none that can be run.
static RUN_WITNESS: Task<Arc<Replay>> = Task::new("order", Failure::Page(Page::Order), |app, replay| {
    let Some(order) = app.state.document.as_mut().and_then(|document| document.order.as_mut()) else { return };
    jobs::replace(&mut order.replay, Some(replay));
});

/// Finding out what an order says about the operations of a step.
static TELL: Task<Rows> = Task::new("rows", Failure::Page(Page::Order), |app, rows| {
    let Some(order) = app.state.document.as_mut().and_then(|document| document.order.as_mut()) else { return };
    jobs::replace(&mut order.rows, Some(rows));
});

/// Making the text that says why a level holds.
static COPY_WHY: Task<String> = Task {
    is_of_history: false,
    ..Task::new("why", Failure::Message("The text could not be made"), |app, text| {
        app.state.copied = Some(text);
        app.state.tell(false, "Why it passes is on the clipboard as Markdown");
    })
};

/// What a page or text about an order is made of.
struct Material {
    history: Arc<History>,
    results: Vec<LevelResult>,
    level: Level,
    assumptions: Vec<String>,
}

impl Material {
    /// Calls `make` with the order.
    fn with<T>(
        &self,
        control: &Control,
        make: impl FnOnce(&Passes<'_>, &Surroundings<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        let interrupted = |interrupt: Interrupt| interrupt.to_string();
        let resolution = relations::resolve(&self.history, control).map_err(interrupted)?;
        let result = self.results.iter().find(|result| result.level == self.level).ok_or("the level is gone")?;
        let is_verified = self.level.is_of_reads() || verify::can_replay(&self.history);
        let passes = Passes::new(&self.history, &resolution, result, is_verified, control).map_err(interrupted)?;
        let surroundings = Surroundings { assumptions: &self.assumptions, verdicts: self.results.iter().collect() };
        make(&passes.ok_or("the level does not hold")?, &surroundings)
    }
}

impl App {
    /// Whether the order of a level is on the screen, and no argument.
    pub(super) fn shows_order(&self) -> bool {
        let is_alone = |document: &Document| document.order.is_some() && document.current_picture().is_none();
        self.state.page == Page::Order && self.state.document.as_ref().is_some_and(is_alone)
    }

    fn material(&self) -> Option<Material> {
        let document = self.state.document.as_ref()?;
        let level = document.order.as_ref()?.level;
        let results = document.verdicts().into_iter().cloned().collect();
        let assumptions = document.assumptions().to_vec();
        Some(Material { history: document.history.clone()?, results, level, assumptions })
    }

    /// Puts why the level holds on the clipboard.
    pub(super) fn copy_order(&mut self) {
        let Some(material) = self.material() else { return };
        self.ask(&COPY_WHY, move |control| {
            material.with(control, |passes, around| Ok(markdown(passes, around, true))).ok()
        });
    }

    /// Opens the export dialog for the order.
    pub(super) fn open_order_export(&mut self) {
        let Some(document) = &self.state.document else { return };
        let Some(order) = &document.order else { return };
        let stem = document.title.split('.').next().unwrap_or("order");
        let path = dialogs::folder_of(Some(&document.source)).join(format!("{stem}-{}.svg", order.level));
        let (kind, path) = (ExportKind::Svg, path.display().to_string());
        self.state.export = Some(ExportForm { kind, view: Page::Order, path });
    }

    /// Writes the picture or the text of the order.
    pub(super) fn write_order(&mut self, kind: ExportKind, path: PathBuf) {
        let Some(material) = self.material() else { return };
        let write = move |control: &Control| {
            let sha256 = sha256_of_file(Path::new(&material.history.origin().path)).ok();
            let bytes = material.with(control, |passes, around| {
                let page = compose_order(passes, around, Stretch::default(), sha256.as_deref(), control);
                let page = page.map_err(|interrupt| interrupt.to_string())?;
                export(kind, &page).map_err(|error| error.to_string())
            })?;
            control.check().map_err(|interrupt| interrupt.to_string())?;
            write_whole(&path, &bytes)?;
            Ok(path)
        };
        self.ask(&EXPORT, move |control| Some(write(control)));
    }

    /// Shows the previous order, else that of the strongest satisfied level.
    pub(super) fn show_some_order(&mut self) {
        self.state.page = Page::Order;
        let Some(document) = &self.state.document else { return };
        if document.order.is_none()
            && let Some(level) = document.strongest_satisfied()
        {
            self.show_order(level);
        }
    }

    /// Shows the order of a satisfied level; it is computed off the frame.
    pub(super) fn show_order(&mut self, level: Level) {
        let Some(document) = &mut self.state.document else { return };
        let Some(witness) = document.witness(level) else { return };
        let is_empty = matches!(witness, Witness::Reads);
        let Some(result) = document.result(level).cloned() else { return };
        let Some(history) = document.history.clone() else { return };
        self.state.page = Page::Order;
        if document.order.as_ref().is_some_and(|order| order.level == level) {
            return;
        }
        document.failed.remove(&Page::Order);
        let none = is_empty.then_some("At cut isolation nothing needs to be ordered.");
        let view = OrderView { level, replay: None, none, step: 0, scroll: true, asked: None, rows: None };
        jobs::replace(&mut document.order, Some(view));
        if none.is_none() {
            self.ask(&RUN_WITNESS, move |control| {
                let Verdict::Satisfied(witness) = &result.verdict else { return None };
                Replay::new(&history, witness, control).ok()?.map(Arc::new)
            });
        }
    }

    /// Goes to a step of the order, clamped to its ends.
    pub(super) fn go_to_step(&mut self, step: usize, scroll: bool) {
        let order = self.state.document.as_mut().and_then(|document| document.order.as_mut());
        if let Some(order) = order
            && let Some(replay) = &order.replay
        {
            order.step = step.min(replay.n_steps().saturating_sub(1));
            order.scroll |= scroll;
        }
    }

    /// Computes what the order says about the operations of the selected step; for a long transaction in a job.
    pub(super) fn prepare_order(&mut self) {
        let Some(document) = &mut self.state.document else { return };
        let (Some(order), Some(history)) = (&mut document.order, &document.history) else { return };
        let Some(replay) = order.replay.as_ref().filter(|_| order.asked != Some(order.step)) else { return };
        order.asked = Some(order.step);
        jobs::replace(&mut order.rows, None);
        self.tasks.cancel(&TELL);
        if replay.n_rows(history, order.step) <= FEW {
            order.rows = replay.rows(history, order.step, &Control::new()).ok().map(Arc::new);
            return;
        }
        let (history, replay, step) = (Arc::clone(history), Arc::clone(replay), order.step);
        self.ask(&TELL, move |control| replay.rows(&history, step, control).ok().map(Arc::new));
    }
}
