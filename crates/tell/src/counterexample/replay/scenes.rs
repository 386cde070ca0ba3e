//! A run in a few scenes, each with a caption: what each transaction did, the reads that are impossible, and what follows.

use super::{Action, Expected, Explained, ReplayRun, RunStep, UNTOUCHED};
use crate::counterexample::sentences::runs;
use crate::counterexample::{Counterexample, Explanation};
use isoscope_model::history::OperationId;

/// A part of a run that is shown at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayScene {
    /// How many steps of the run are done at its end.
    pub done: usize,
    /// What happens, in whole sentences.
    pub caption: String,
    /// The operation that one up-to-date copy would have answered otherwise.
    pub wrong: Option<OperationId>,
    /// Everything has happened: what follows from it is shown, too.
    pub is_last: bool,
}

impl RunStep {
    /// Whether one up-to-date copy of the data would not have done this.
    pub fn is_wrong(&self) -> bool {
        let differs = match &self.expected {
            Some(Expected::Refused) => true,
            // What no transaction shown wrote is not known.
            Some(Expected::Answer { text, is_observed }) => !is_observed && text != UNTOUCHED,
            None => false,
        };
        let unexplained = [Explained::Older, Explained::Uncommitted, Explained::Nowhere];
        differs || unexplained.contains(&self.explained)
    }
}

/// The scenes of a run: one for what a transaction did without another in between, one for each operation that is wrong,
/// and one for what follows. O(steps).
pub fn scenes(
    example: &Counterexample,
    run: &ReplayRun,
    explanation: &Explanation,
) -> Vec<ReplayScene> {
    let history = &example.history;
    let mut scenes = Vec::new();
    let mut from = 0;
    while let Some(first) = run.steps.get(from) {
        let rest = &run.steps[from + 1..];
        let is_same = |step: &&RunStep| {
            !first.is_wrong() && !step.is_wrong() && step.transaction == first.transaction
        };
        let n = 1 + rest.iter().take_while(is_same).count();
        let part = &run.steps[from..from + n];
        from += n;
        let wrong = part.iter().find(|step| step.is_wrong());
        let operation = wrong.and_then(|step| match step.action {
            Action::Operation(o) => Some(o),
            _ => None,
        });
        let caption = runs::scene(history, part, run.setting);
        // That a transaction commits is no scene of its own.
        match (caption, scenes.last_mut()) {
            (Some(caption), _) => scenes.push(ReplayScene {
                done: from,
                caption: caption.to_string(),
                wrong: operation,
                is_last: false,
            }),
            (None, Some(ReplayScene { done, .. })) => *done = from,
            (None, None) => {}
        }
    }
    shorten(&mut scenes);
    scenes.push(ReplayScene {
        done: run.steps.len(),
        caption: format!("{} {}", explanation.summary, explanation.block()[1]),
        wrong: None,
        is_last: true,
    });
    scenes
}

/// More scenes than this are shortened.
const MOST: usize = 12;
/// Scenes left at both ends of a story that is shortened.
const KEPT: usize = 3;

/// The middle of a long story in one scene, unless something is wrong there.
fn shorten(scenes: &mut Vec<ReplayScene>) {
    if scenes.len() <= MOST {
        return;
    }
    let middle = KEPT..scenes.len() - KEPT;
    if scenes[middle.clone()]
        .iter()
        .any(|scene| scene.wrong.is_some())
    {
        return;
    }
    let Some(last) = scenes[middle.clone()].last() else {
        return;
    };
    let done = last.done;
    let caption = format!("{} more steps of this kind follow.", middle.len());
    let shortened = ReplayScene {
        done,
        caption,
        wrong: None,
        is_last: false,
    };
    scenes.splice(middle, [shortened]);
}
