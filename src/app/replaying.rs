//! Showing how a counterexample comes about: its operations in the order in which they may have happened, scene by scene.

use super::App;
use super::page::Page;
use super::picture::Argument;
use super::tasks::{Failure, Task};
use crate::checkers::ViolationId;
use crate::control::{Control, Interrupt};
use crate::counterexample::replay::{self, Known, ReplayRun, ReplayScene, RunStep, Versions};
use crate::diagram::versions::Chain;
use crate::history::{History, OperationId, OperationKind};
use crate::relations::{Edge, Resolution};
use std::sync::Arc;

/// A run of the selected anomaly, scene by scene.
#[derive(Clone, Debug)]
pub struct RunView {
    /// Its violation; none until its argument is known.
    pub of: Option<ViolationId>,
    /// The run, once it is made.
    pub story: Option<Arc<Story>>,
    /// The scene that is shown.
    pub scene: usize,
}

/// A run and its scenes.
#[derive(Debug)]
pub struct Story {
    run: ReplayRun,
    /// At least one.
    pub scenes: Vec<ReplayScene>,
}

impl RunView {
    /// The story and the scene that is shown.
    pub fn shown(&self) -> Option<(&Story, &ReplayScene)> {
        let story = self.story.as_ref()?;
        Some((story, story.scenes.get(self.scene)?))
    }

    /// The steps that are done in the scene that is shown, and the operation that is wrong there.
    pub fn done(&self) -> Option<(&[RunStep], &ReplayScene)> {
        let (story, scene) = self.shown()?;
        Some((&story.run.steps[..scene.done], scene))
    }
}

/// Making the run of a counterexample.
pub(super) static REPLAY: Task<Arc<Story>> = Task::new(
    "replay",
    Failure::Message("The order of the operations could not be found"),
    |app, story| {
        app.with_document(|document| {
            if let Some(view) = &mut document.argument.run {
                view.story = Some(story);
                view.scene = 0;
            }
        });
    },
);

/// Which versions of the keys of an argument are newer, as the page Versions has it, and which are intermediate: in the whole history,
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
    /// Shows how the selected anomaly comes about, playing, or ends that.
    pub(super) fn toggle_replay(&mut self, ctx: &egui::Context) {
        let now = ctx.input(|input| input.time);
        let Some(document) = &mut self.state.document else {
            return;
        };
        document.argument.playing = None;
        // It was the anomaly as a whole that had attention, if anything.
        document.argument.pinned = None;
        if document.argument.run.take().is_some() {
            self.tasks.cancel(&REPLAY);
            return;
        }
        document.argument.run = Some(RunView {
            of: None,
            story: None,
            scene: 0,
        });
        document.argument.playing = Some(now);
        self.state.page = Page::Graph;
        self.set_stage(super::vocabulary::Stage::Argument);
        self.with_document(|document| document.component.whole = false);
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
            story: None,
            scene: 0,
        };
        self.ask(&REPLAY, move |control| {
            let known = known(&argument, (&history, &resolution), &edges, control).ok()?;
            let example = &argument.counterexample;
            let run = replay::told_run(example, &known, control);
            let scenes = replay::scenes(example, &run, &argument.explanation);
            let story = Arc::new(Story { run, scenes });
            control.check().ok().map(|()| story)
        });
    }

    /// If a story is shown, goes some scenes further or back. Returns whether it is.
    pub(super) fn step_replay(&mut self, step: isize) -> bool {
        let is_graph = self.state.page == Page::Graph;
        let view = self
            .state
            .document
            .as_mut()
            .and_then(|document| document.argument.run.as_mut())
            .filter(|_| is_graph);
        let Some(view) = view else { return false };
        let next = view.scene.saturating_add_signed(step);
        self.pause();
        self.go_to_scene(next);
        true
    }

    /// Goes to a scene, clamped to the ends.
    pub(super) fn go_to_scene(&mut self, scene: usize) {
        self.with_document(|document| {
            if let Some(view) = &mut document.argument.run
                && let Some(story) = &view.story
            {
                view.scene = scene.min(story.scenes.len().saturating_sub(1));
            }
        });
    }
}
