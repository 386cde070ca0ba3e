//! Stepping through the operations of a counterexample.

use super::App;
use super::page::Page;
use super::picture::Argument;
use super::tasks::{Failure, Task};
use super::vocabulary::Attention;
use crate::checkers::ViolationId;
use crate::control::{Control, Interrupt};
use crate::counterexample::replay::{self, Action, Known, ReplayRun, Versions};
use crate::diagram::versions::Chain;
use crate::history::{History, OperationId, OperationKind};
use crate::relations::{Edge, Resolution};
use std::sync::Arc;

/// A run that is stepped through.
#[derive(Clone, Debug)]
pub struct RunView {
    /// Its violation; none until its argument is known.
    pub of: Option<ViolationId>,
    /// The run, once it is made.
    pub run: Option<Arc<ReplayRun>>,
    /// The selected step.
    pub step: usize,
    /// Bring the selected step into view in the next frame.
    pub scroll: bool,
}

impl RunView {
    /// What the selected step draws attention to.
    pub fn attention(&self) -> Option<Attention> {
        let step = self.run.as_ref()?.steps.get(self.step)?;
        Some(match step.action {
            Action::Operation(operation) => Attention::Operation(operation),
            Action::Begin | Action::Commit | Action::Abort => {
                Attention::Transaction(step.transaction)
            }
        })
    }
}

/// Making the run of a counterexample.
pub(super) static REPLAY: Task<Arc<ReplayRun>> = Task::new(
    "replay",
    Failure::Message("The replay could not be made"),
    |app, run| {
        if let Some(view) = app
            .state
            .document
            .as_mut()
            .and_then(|document| document.argument.run.as_mut())
        {
            view.run = Some(run);
            app.go_to_replay_step(0, true);
        }
    },
);

/// Which versions of the keys of an argument are newer, as the Key page has it, and which are intermediate: in the whole history,
/// given the edges of the anomaly there. O(keys · operations).
fn known(
    argument: &Argument,
    (history, resolution): (&History, &Resolution),
    edges: &[Edge],
    control: &Control,
) -> Result<Known, Interrupt> {
    let (small, renaming) = (
        &argument.counterexample.history,
        &argument.counterexample.renaming,
    );
    let mut known = Known::default();
    for (place, &key) in renaming.keys.iter().enumerate() {
        let is_write = |o: &OperationId| {
            let operation = small.operation(*o);
            operation.kind == OperationKind::Write && operation.key.index() == place
        };
        let writes = (0..small.n_operations())
            .map(OperationId::new)
            .filter(is_write);
        let writes: Vec<OperationId> = writes.map(|o| renaming.operations[o.index()]).collect();
        let is_last = |write: &OperationId| {
            let operation = history.operation(*write);
            let same = |o: &OperationId| {
                let other = history.operation(*o);
                other.kind == OperationKind::Write && other.key == operation.key
            };
            !history
                .operations_of(history.transaction_of(*write))
                .any(|o| o > *write && same(&o))
        };
        let intermediate = writes
            .iter()
            .filter(|write| !is_last(write) && !history.lists().is_list(key));
        known
            .intermediate
            .extend(intermediate.filter_map(|write| renaming.new_operation(*write)));
        if writes.len() > 1 {
            let chain = Chain::new(history, resolution, key, edges, control)?;
            let pairs = chain.known_pairs(&writes).into_iter();
            known.order.extend(pairs.filter_map(|(older, newer)| {
                Some(Versions {
                    older: renaming.new_operation(older)?,
                    newer: renaming.new_operation(newer)?,
                })
            }));
        }
    }
    Ok(known)
}

impl App {
    /// Opens or closes the replay of the selected anomaly.
    pub(super) fn toggle_replay(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        document.argument.playing = None;
        if document.argument.run.take().is_some() {
            // It was the last step that had attention.
            document.argument.pinned = None;
            self.tasks.cancel(&REPLAY);
            return;
        }
        document.argument.run = Some(RunView {
            of: None,
            run: None,
            step: 0,
            scroll: true,
        });
        if !self.state.page.is_drawing() {
            self.state.page = Page::Graph;
        }
    }

    /// The run follows the selected anomaly.
    pub(super) fn prepare_run(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let argument = document
            .current_picture()
            .map(|picture| Arc::clone(&picture.argument));
        let (Some(history), Some(resolution)) = (
            document.history.clone(),
            document.results.resolution.clone(),
        ) else {
            return;
        };
        let Some(view) = &mut document.argument.run else {
            return;
        };
        let Some(argument) = argument.filter(|argument| view.of != Some(argument.id)) else {
            return;
        };
        let violation = document
            .catalogue
            .as_ref()
            .and_then(|catalogue| catalogue.violation(argument.id));
        let edges = violation
            .map(|violation| violation.edges.clone())
            .unwrap_or_default();
        *view = RunView {
            of: Some(argument.id),
            run: None,
            step: 0,
            scroll: true,
        };
        self.ask(&REPLAY, move |control| {
            let known = known(&argument, (&history, &resolution), &edges, control).ok()?;
            let run = replay::run_with(&argument.counterexample, &known, control);
            control.check().ok().map(|()| Arc::new(run))
        });
    }

    /// If a replay is visible, goes one step further or back. Returns whether it is.
    pub(super) fn step_replay(&mut self, step: isize) -> bool {
        let Some(document) = &mut self.state.document else {
            return false;
        };
        let Some(view) = document
            .argument
            .run
            .as_ref()
            .filter(|_| self.state.page.is_drawing())
        else {
            return false;
        };
        let next = view.step.saturating_add_signed(step);
        document.argument.playing = None;
        self.go_to_replay_step(next, true);
        true
    }

    /// Goes to a step, clamped to the ends. Its transaction and operation get attention in all views.
    pub(super) fn go_to_replay_step(&mut self, step: usize, scroll: bool) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(view) = &mut document.argument.run else {
            return;
        };
        let Some(run) = &view.run else { return };
        view.step = step.min(run.steps.len().saturating_sub(1));
        view.scroll |= scroll;
        document.argument.pinned = view.attention();
    }

    /// A replay that is at its end starts again.
    pub(super) fn rewind_replay(&mut self) {
        let view = self
            .state
            .document
            .as_ref()
            .and_then(|document| document.argument.run.as_ref());
        let is_over = view.is_some_and(|view| {
            view.run
                .as_ref()
                .is_some_and(|run| view.step + 1 >= run.steps.len())
        });
        let step = view.map_or(0, |view| if is_over { 0 } else { view.step });
        self.go_to_replay_step(step, true);
    }
}
