//! Going through a counterexample: how its argument comes about, layer by layer, and its cases, one after another.

use super::App;
use super::page::Page;
use super::picture::{self, Picture, Scope, Shows};
use super::state::Document;
use super::vocabulary::{Attention, Stage, Tone};
use crate::counterexample::edges_to_draw;
use std::collections::BTreeSet;

/// How long something with this many letters is shown, in seconds.
pub fn reading_time(letters: usize) -> f64 {
    (1.6 + letters as f64 * 0.035).clamp(2.0, 12.0)
}

impl Document {
    /// What pictures of the selected violation show in addition to the contradiction and its evidence.
    pub fn shows(&self, alternatives: bool, low: bool) -> Shows {
        let overrides = self
            .identity()
            .and_then(|identity| self.visibility.overrides.get(identity))
            .cloned()
            .unwrap_or_default();
        let scope = match self.argument.stage {
            Stage::Argument => Scope::Argument,
            Stage::Layer(_) => Scope::Layers,
            Stage::Case(place) => match self.current_picture() {
                // What fits into one picture is highlighted in it.
                Some(picture) if has_room_for(picture, place) => Scope::Argument,
                _ => Scope::Case(place),
            },
        };
        Shows {
            scope,
            alternatives,
            overrides,
            low,
        }
    }

    /// The current layer and the picture of it, once that is drawn.
    pub fn layer_shown(&self) -> Option<(usize, &Picture)> {
        let picture = self
            .current_picture()
            .filter(|picture| picture.shows.scope == Scope::Layers)?;
        match self.argument.stage {
            Stage::Layer(place) => Some((place, picture)),
            Stage::Argument | Stage::Case(_) => None,
        }
    }
}

/// Whether the picture of the whole argument, with all its evidence, shows a case as well.
fn has_room_for(picture: &Picture, place: usize) -> bool {
    let violation = &picture.argument.counterexample.violation;
    let all = picture::shown(&picture.argument, &picture::expandable(&violation.edges));
    let drawn = edges_to_draw(violation);
    let tree = picture.argument.cases.as_ref();
    tree.is_some_and(|tree| {
        tree.edges_of(violation, place)
            .iter()
            .all(|e| all.contains(e) && drawn.contains(e))
    })
}

impl App {
    /// Switches to a layer, a case or the whole argument.
    pub(super) fn set_stage(&mut self, stage: Stage) {
        let (alternatives, low) = (self.state.alternatives, !self.state.preferences.no_details);
        let Some(document) = &mut self.state.document else {
            return;
        };
        if document.argument.stage == stage {
            return;
        }
        if document.argument.stage == Stage::Argument || stage == Stage::Argument {
            // What had attention may not be present.
            document.argument.pinned = None;
        }
        document.argument.stage = stage;
        if !matches!(stage, Stage::Layer(_)) {
            document.argument.playing = None;
        }
        let shows = document.shows(alternatives, low);
        let expanded = document.argument.evidence.clone();
        if document
            .current_picture()
            .is_none_or(|picture| picture.shows != shows)
        {
            self.redraw(expanded);
        }
    }

    /// Goes one layer further or back; from the whole argument, to the first or the last.
    pub(super) fn step_layer(&mut self, step: isize) {
        let Some(document) = &self.state.document else {
            return;
        };
        let Some(picture) = document.current_picture() else {
            return;
        };
        let last = picture
            .argument
            .interpretation
            .layers
            .len()
            .saturating_sub(1);
        let next = match document.argument.stage {
            Stage::Layer(now) => now.saturating_add_signed(step).min(last),
            _ if step > 0 => 0,
            _ => last,
        };
        self.set_stage(Stage::Layer(next));
        if let Some(document) = &mut self.state.document {
            document.argument.pinned = None;
            document.argument.playing = None;
        }
        self.state.page = Page::Graph;
    }

    /// Plays the replay, else the layers; or stops that.
    pub(super) fn play_or_pause(&mut self, ctx: &egui::Context) {
        let now = ctx.input(|input| input.time);
        let Some(document) = &self.state.document else {
            return;
        };
        if document.argument.playing.is_some() {
            self.pause();
            return;
        }
        if document.argument.run.is_some() {
            self.rewind_replay();
        } else {
            let Some(picture) = document.current_picture() else {
                return;
            };
            let n = picture.argument.interpretation.layers.len();
            // At the end it starts again.
            let from = match document.argument.stage {
                Stage::Layer(at) if at + 1 < n => at,
                _ => 0,
            };
            self.set_stage(Stage::Layer(from));
            self.state.page = Page::Graph;
        }
        self.with_document(|document| document.argument.playing = Some(now));
    }

    pub(super) fn pause(&mut self) {
        self.with_document(|document| document.argument.playing = None);
    }

    /// Goes on to the next item once the current one has been shown long enough.
    pub(super) fn go_on_playing(&mut self, ctx: &egui::Context) {
        let now = ctx.input(|input| input.time);
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(since) = document.argument.playing else {
            return;
        };
        let Some(letters) = document.letters_shown() else {
            // It is not available yet.
            document.argument.playing = Some(now);
            return;
        };
        let left = since + reading_time(letters) - now;
        if left > 0.0 {
            ctx.request_repaint_after(std::time::Duration::from_secs_f64(left));
            return;
        }
        if document.is_at_the_end() {
            document.argument.playing = None;
            return;
        }
        match (&document.argument.run, document.argument.stage) {
            (Some(run), _) => {
                let next = run.step + 1;
                self.go_to_replay_step(next, true);
            }
            (None, Stage::Layer(place)) => self.set_stage(Stage::Layer(place + 1)),
            (None, _) => self.pause(),
        }
        if let Some(document) = &mut self.state.document
            && document.argument.playing.is_some()
        {
            document.argument.playing = Some(now);
        }
        ctx.request_repaint();
    }

    /// Shows a case: if one picture contains all cases it is highlighted there, else it gets its own picture.
    pub(super) fn show_case(&mut self, place: usize) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(picture) = document.current_picture().cloned() else {
            return;
        };
        let Some(tree) = picture
            .argument
            .cases
            .as_ref()
            .filter(|tree| place < tree.nodes.len())
        else {
            return;
        };
        document
            .argument
            .open_cases
            .extend(tree.around(place).into_iter().skip(1));
        document.reveal.step = true;
        let stage = if place == 0 {
            Stage::Argument
        } else {
            Stage::Case(place)
        };
        self.set_stage(stage);
        let Some(document) = &mut self.state.document else {
            return;
        };
        document.argument.pinned = Some(Attention::Case(place));
        if !self.state.page.is_about_anomaly() {
            self.state.page = Page::Graph;
        }
        let is_drawn =
            |edges: BTreeSet<usize>| edges.iter().all(|edge| picture.drawn.contains(edge));
        let violation = &picture.argument.counterexample.violation;
        if has_room_for(&picture, place) && !is_drawn(tree.edges_of(violation, place)) {
            self.redraw(Some(picture::expandable(&violation.edges)));
        }
    }

    /// Opens or folds the cases inside a case.
    pub(super) fn toggle_case(&mut self, place: usize) {
        if let Some(document) = &mut self.state.document
            && !document.argument.open_cases.remove(&place)
        {
            document.argument.open_cases.insert(place);
        }
    }

    /// Goes one case further or back, in the order of telling.
    pub(super) fn step_case(&mut self, step: isize) {
        let Some(document) = &self.state.document else {
            return;
        };
        let tree = document
            .current_picture()
            .and_then(|picture| picture.argument.cases.as_ref());
        let Some(order) = tree.map(|tree| tree.in_order(0)) else {
            self.state.tell(
                Tone::Note,
                "One cycle or one read explains this anomaly: there are no cases",
            );
            return;
        };
        let now = match (document.argument.stage, document.argument.pinned) {
            (Stage::Case(place), _) | (_, Some(Attention::Case(place))) => {
                order.iter().position(|&at| at == place)
            }
            _ => None,
        };
        let last = order.len() - 1;
        let next = match now {
            Some(now) => now.saturating_add_signed(step).min(last),
            None if step > 0 => 1.min(last),
            None => last,
        };
        self.show_case(order[next]);
    }

    /// Shows or hides the orders that were ruled out.
    pub(super) fn toggle_alternatives(&mut self) {
        self.state.alternatives = !self.state.alternatives;
        self.state.page = Page::Graph;
        let none = self
            .state
            .document
            .as_ref()
            .and_then(Document::current_picture);
        if self.state.alternatives
            && none.is_some_and(|p| p.argument.interpretation.alternatives.is_empty())
        {
            self.state.tell(
                Tone::Note,
                "No order was inferred here, so none had to be ruled out",
            );
        }
        let expanded = self
            .state
            .document
            .as_ref()
            .and_then(|document| document.argument.evidence.clone());
        self.redraw(expanded);
    }
}

impl Document {
    /// Number of letters to read in what is being played; none if it is not available yet.
    fn letters_shown(&self) -> Option<usize> {
        if let Some(run) = &self.argument.run {
            return run
                .run
                .as_ref()
                .and_then(|of| of.steps.get(run.step))
                .map(|step| step.text.len());
        }
        let (place, picture) = self.layer_shown()?;
        let layer = picture.argument.interpretation.layers.get(place)?;
        Some(layer.caption.len() + layer.kind.meaning().len())
    }

    fn is_at_the_end(&self) -> bool {
        if let Some(run) = &self.argument.run {
            return run
                .run
                .as_ref()
                .is_some_and(|of| run.step + 1 >= of.steps.len());
        }
        self.layer_shown().is_none_or(|(place, picture)| {
            place + 1 >= picture.argument.interpretation.layers.len()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_are_shown_longer_but_not_for_ever() {
        assert!(reading_time(0) >= 2.0);
        assert!(reading_time(200) > reading_time(40));
        assert!(reading_time(100_000) <= 12.0);
    }
}
