//! Showing the order that explains every read at a satisfied level.

use super::App;
use super::state::{Document, OrderView, Page};
use crate::checkers::{Level, LevelResult, Verdict, Witness};
use crate::control::Control;
use crate::counterexample::replay::{Replay, Told};
use crate::history::{History, OperationId};
use crate::jobs::{self, Job, Revision, State as JobState, Wake};
use std::sync::Arc;

/// What an order says about the operations of a step, in program order.
pub type Rows = Arc<Vec<(OperationId, Told)>>;

/// Up to this many operations are handled at once.
const FEW: usize = 200;

/// Makes a run of the witness of a level; nothing comes if it has none that can be run.
pub fn start(history: Arc<History>, result: Arc<LevelResult>, revision: Revision, wake: Wake) -> Job<Arc<Replay>> {
    Job::start("order", revision, wake, move |control, outbox| {
        let Verdict::Satisfied(witness) = &result.verdict else { return };
        if let Ok(Some(replay)) = Replay::new(&history, witness, control) {
            outbox.send(Arc::new(replay));
        }
    })
}

impl App {
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
            let number = self.revision.advance();
            self.replaying = Some(start(history, result, number, Arc::clone(&self.wake)));
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
        self.telling = None;
        if replay.n_rows(history, order.step) <= FEW {
            order.rows = replay.rows(history, order.step, &Control::new()).ok().map(Arc::new);
            return;
        }
        let (history, replay, step) = (Arc::clone(history), Arc::clone(replay), order.step);
        let number = self.revision.advance();
        self.telling = Some(Job::start("rows", number, Arc::clone(&self.wake), move |control, outbox| {
            if let Ok(rows) = replay.rows(&history, step, control) {
                outbox.send(Arc::new(rows));
            }
        }));
    }

    /// Takes in the run that was made, and what it says of a long transaction.
    pub(super) fn poll_order(&mut self) {
        if let Some(job) = &mut self.telling {
            let rows = job.poll().into_iter().last();
            let ended = job.state().clone();
            let order = self.state.document.as_mut().and_then(|document| document.order.as_mut());
            if let (Some(order), Some(rows)) = (order, rows) {
                jobs::replace(&mut order.rows, Some(rows));
            }
            if ended != JobState::Running {
                self.telling = None;
            }
            if let JobState::Failed(text) = ended {
                self.fail(Page::Order, text);
            }
        }
        let Some(job) = &mut self.replaying else { return };
        let replay = job.poll().into_iter().last();
        let ended = job.state().clone();
        let order = self.state.document.as_mut().and_then(|document: &mut Document| document.order.as_mut());
        if let (Some(order), Some(replay)) = (order, replay) {
            jobs::replace(&mut order.replay, Some(replay));
        }
        if ended != JobState::Running {
            self.replaying = None;
        }
        if let JobState::Failed(text) = ended {
            self.fail(Page::Order, text);
        }
    }
}
