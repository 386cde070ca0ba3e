//! The picture of the welcome page: the smallest anomaly of a bundled history, checked and drawn like any other.

use super::App;
use super::canvas::sketch::Sketch;
use super::samples;
use super::tasks::{Failure, Task};
use crate::audit;
use crate::checkers::Options;
use crate::control::Control;
use crate::counterexample::explain;
use crate::diagram::layout::{self, Arranged, LayoutStyle};
use crate::diagram::scene::Scene;
use crate::export::{ComposeOptions, compose};
use crate::formats::{self, Input};
use std::sync::Arc;

/// The space for its graph.
const ROOM: egui::Vec2 = egui::vec2(700.0, 300.0);

/// The history.
const SAMPLE: &str = "write-skew.hist";

/// What is shown.
#[derive(Clone, Debug)]
pub struct WelcomePicture {
    /// The place of the history among the samples.
    pub sample: usize,
    /// What the anomaly is.
    pub title: String,
    /// What happened.
    pub claim: String,
    /// Its graph.
    pub scene: Scene,
}

/// Drawing it.
static WELCOME: Task<Arc<WelcomePicture>> = Task {
    is_of_history: false,
    shows_progress: false,
    ..Task::new("welcome", Failure::Silent, |app, picture| {
        app.state.welcome = Some(picture)
    })
};

impl App {
    /// Asks for the picture the first time that the welcome page is shown.
    pub(super) fn prepare_welcome(&mut self) {
        let is_shown = self.state.document.is_none() && self.state.looking.is_none();
        if is_shown && !std::mem::replace(&mut self.asked_for_welcome, true) {
            self.ask(&WELCOME, |control| picture(control).map(Arc::new));
        }
    }
}

fn picture(control: &Control) -> Option<WelcomePicture> {
    let sample = samples::ALL
        .iter()
        .position(|sample| sample.file == SAMPLE)?;
    let input = Input::new(SAMPLE, samples::ALL[sample].text.as_bytes());
    let history = formats::read(&input, None, control).ok()?;
    let findings = audit::check(&history, &Options::default(), control, &|_| ());
    let violation = findings
        .violations
        .iter()
        .filter(|violation| !violation.implied)
        .min_by_key(|v| v.size())?;
    let example = audit::minimize(&history, violation, control);
    let explanation = explain(&example);
    let composed = compose(
        &example,
        &explanation,
        &history,
        &ComposeOptions::for_history(&history),
    );
    let Arranged { diagram, layout } = layout::arrange(&composed.diagram, LayoutStyle::Auto, ROOM);
    Some(WelcomePicture {
        sample,
        title: composed.title,
        claim: composed.subtitle,
        scene: Sketch::new(diagram, layout).scene,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_shows_what_the_sample_is_about() {
        let picture = picture(&Control::new()).expect("the sample has an anomaly");
        assert_eq!(picture.title, "Two transactions missed each other's write");
        assert!(!picture.scene.marks.is_empty() && !picture.claim.is_empty());
    }
}
