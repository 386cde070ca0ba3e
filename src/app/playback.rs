//! Going through a counterexample: its story, scene by scene, and its cases, one after another.

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
    pub fn shows(&self, alternatives: bool) -> Shows {
        let overrides = self
            .identity()
            .and_then(|identity| self.visibility.overrides.get(identity))
            .cloned()
            .unwrap_or_default();
        let scope = match self.argument.stage {
            Stage::Argument => Scope::Argument,
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
        let alternatives = self.state.alternatives;
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
        if stage != Stage::Argument {
            document.argument.playing = None;
        }
        let shows = document.shows(alternatives);
        let expanded = document.argument.evidence.clone();
        if document
            .current_picture()
            .is_none_or(|picture| picture.shows != shows)
        {
            self.redraw(expanded);
        }
    }

    /// Plays the story of the anomaly, from its beginning if it is at its end, or stops that.
    pub(super) fn play_or_pause(&mut self, ctx: &egui::Context) {
        let now = ctx.input(|input| input.time);
        let Some(document) = &mut self.state.document else {
            return;
        };
        if document.argument.playing.take().is_some() {
            return;
        }
        let Some(view) = &mut document.argument.run else {
            return self.toggle_replay(ctx);
        };
        if view.shown().is_some_and(|(_, scene)| scene.is_last) {
            view.scene = 0;
        }
        document.argument.playing = Some(now);
    }

    pub(super) fn pause(&mut self) {
        self.with_document(|document| document.argument.playing = None);
    }

    /// Goes on to the next scene once the current one has been shown long enough.
    pub(super) fn go_on_playing(&mut self, ctx: &egui::Context) {
        let now = ctx.input(|input| input.time);
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(since) = document.argument.playing else {
            return;
        };
        let view = document.argument.run.as_ref();
        let Some((_, scene)) = view.and_then(|view| view.shown()) else {
            // It is not available yet.
            document.argument.playing = Some(now);
            return;
        };
        let left = since + reading_time(scene.caption.len()) - now;
        if left > 0.0 {
            ctx.request_repaint_after(std::time::Duration::from_secs_f64(left));
            return;
        }
        if scene.is_last {
            document.argument.playing = None;
            return;
        }
        let next = view.map_or(0, |view| view.scene + 1);
        document.argument.playing = Some(now);
        self.go_to_scene(next);
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
        self.redraw_as_unfolded();
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
