//! Showing the order that explains every read at a satisfied level.

use super::App;
use super::page::Page;
use super::tasks::{Failure, Task};
use crate::checkers::{Level, Verdict, Witness};
use crate::control::Control;
use crate::counterexample::passes::Passes;
use crate::counterexample::replay::{Effect, Replay};
use crate::export::{OrderSheet, order_sheet};
use crate::history::OperationId;
use crate::jobs;
use std::sync::Arc;

/// What an order says about the operations of a step, in program order.
pub type Rows = Arc<Vec<(OperationId, Effect)>>;

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
    /// The part of the order that is drawn.
    pub sheet: Option<Arc<OrderSheet>>,
    /// The step around which a part was requested.
    pub sheet_asked: Option<usize>,
}

/// Up to this many operations are handled at once.
const FEW: usize = 200;

/// Running the witness of a level; nothing comes if it has none that can be run.
static RUN_WITNESS: Task<Arc<Replay>> =
    Task::new("order", Failure::Page(Page::Order), |app, replay| {
        app.with_order(|order| jobs::replace(&mut order.replay, Some(replay)));
    });

/// Finding out what an order says about the operations of a step.
static TELL: Task<Rows> = Task::new("rows", Failure::Page(Page::Order), |app, rows| {
    app.with_order(|order| jobs::replace(&mut order.rows, Some(rows)));
});

/// Drawing the part of an order around a step.
static DRAW: Task<Arc<OrderSheet>> = Task::new("sheet", Failure::Silent, |app, sheet| {
    app.with_order(|order| jobs::replace(&mut order.sheet, Some(sheet)));
});

impl App {
    /// Changes the order that is shown, if one is.
    fn with_order(&mut self, change: impl FnOnce(&mut OrderView)) {
        let document = self.state.document.as_mut();
        if let Some(order) = document.and_then(|document| document.order.as_mut()) {
            change(order);
        }
    }

    /// Shows the previous order, else that of the strongest satisfied level.
    pub(super) fn show_some_order(&mut self) {
        self.state.page = Page::Order;
        let Some(document) = &self.state.document else {
            return;
        };
        if document.order.is_none()
            && let Some(level) = document.results.strongest_satisfied()
        {
            self.show_order(level);
        }
    }

    /// Shows the order of a satisfied level; it is computed off the frame.
    pub(super) fn show_order(&mut self, level: Level) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(witness) = document.results.witness(level) else {
            return;
        };
        let is_empty = matches!(witness, Witness::Reads);
        let Some(result) = document.results.of(level).cloned() else {
            return;
        };
        let Some(history) = document.history.clone() else {
            return;
        };
        self.state.page = Page::Order;
        if document
            .order
            .as_ref()
            .is_some_and(|order| order.level == level)
        {
            return;
        }
        document.failed.remove(&Page::Order);
        let none = is_empty.then_some("At cut isolation nothing needs to be ordered.");
        let view = OrderView {
            level,
            replay: None,
            none,
            step: 0,
            scroll: true,
            asked: None,
            rows: None,
            sheet: None,
            sheet_asked: None,
        };
        jobs::replace(&mut document.order, Some(view));
        if none.is_none() {
            self.ask(&RUN_WITNESS, move |control| {
                let Verdict::Satisfied(witness) = &result.verdict else {
                    return None;
                };
                Replay::new(&history, witness, control).ok()?.map(Arc::new)
            });
        }
    }

    /// Goes to a step of the order, clamped to its ends.
    pub(super) fn go_to_step(&mut self, step: usize, scroll: bool) {
        let order = self
            .state
            .document
            .as_mut()
            .and_then(|document| document.order.as_mut());
        if let Some(order) = order
            && let Some(replay) = &order.replay
        {
            order.step = step.min(replay.n_steps().saturating_sub(1));
            order.scroll |= scroll;
        }
    }

    /// Draws the part of the order around the selected step, unless it is drawn.
    pub(super) fn prepare_sheet(&mut self) {
        let Some(order) = self
            .state
            .document
            .as_mut()
            .and_then(|document| document.order.as_mut())
        else {
            return;
        };
        let step = order.step;
        let is_drawn = |sheet: &Arc<OrderSheet>| sheet.steps.contains(&step);
        if order.replay.is_none()
            || order.sheet.as_ref().is_some_and(is_drawn)
            || order.sheet_asked == Some(step)
        {
            return;
        }
        order.sheet_asked = Some(step);
        if let Some(material) = self.material() {
            self.ask(&DRAW, move |control| {
                let sheet = |passes: &Passes<'_>| {
                    order_sheet(passes, step, control).map_err(|why| why.to_string())
                };
                material
                    .with(control, |passes, _| sheet(passes))
                    .ok()
                    .flatten()
                    .map(Arc::new)
            });
        }
    }

    /// Computes what the order says about the operations of the selected step; for a long transaction in a job.
    pub(super) fn prepare_order(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let (Some(order), Some(history)) = (&mut document.order, &document.history) else {
            return;
        };
        let Some(replay) = order
            .replay
            .as_ref()
            .filter(|_| order.asked != Some(order.step))
        else {
            return;
        };
        order.asked = Some(order.step);
        jobs::replace(&mut order.rows, None);
        self.tasks.cancel(&TELL);
        if replay.n_rows(history, order.step) <= FEW {
            order.rows = replay
                .rows(history, order.step, &Control::new())
                .ok()
                .map(Arc::new);
            return;
        }
        let (history, replay, step) = (Arc::clone(history), Arc::clone(replay), order.step);
        self.ask(&TELL, move |control| {
            replay.rows(&history, step, control).ok().map(Arc::new)
        });
    }
}
