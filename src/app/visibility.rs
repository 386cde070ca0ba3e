//! Selecting what is kept in and left out of a picture.

use super::App;
use super::state::Document;
use super::vocabulary::{Attention, Tone};
use crate::export::{Overrides, Part};
use std::collections::BTreeSet;

impl Document {
    /// What stays and what is left out of the pictures of the chosen anomaly.
    pub fn chosen_parts(&self) -> Option<&Overrides> {
        self.identity()
            .and_then(|identity| self.visibility.overrides.get(identity))
    }

    /// What the user chose about the selected anomaly, to be changed.
    pub(super) fn overrides_mut(&mut self) -> Option<&mut Overrides> {
        let identity = self.identity()?.to_owned();
        Some(self.visibility.overrides.entry(identity).or_default())
    }

    /// The part of the counterexample that is pinned, if a single one is.
    fn pinned_part(&self) -> Option<Part> {
        let n = self
            .current_picture()?
            .argument
            .counterexample
            .violation
            .edges
            .len();
        part_of(self.argument.pinned?, n)
    }
}

/// The part of a counterexample with `n_edges` edges that has attention, if it is a single one.
pub fn part_of(attention: Attention, n_edges: usize) -> Option<Part> {
    match attention {
        Attention::Edge(edge) if edge < n_edges => Some(Part::Edge(edge)),
        Attention::Transaction(t) => Some(Part::Transaction(t)),
        Attention::Operation(operation) => Some(Part::Operation(operation)),
        _ => None,
    }
}

impl App {
    /// Changes what stays and what is left out, and draws that.
    pub(super) fn pick(&mut self, change: impl FnOnce(&mut Overrides)) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        if let Some(overrides) = document.overrides_mut() {
            change(overrides);
        }
        document
            .visibility
            .overrides
            .retain(|_, overrides| !overrides.is_empty());
        let expanded = document.argument.evidence.clone();
        self.redraw(expanded);
    }

    /// Keeps the pinned part in the picture, or stops keeping it.
    pub(super) fn keep_pinned(&mut self) {
        match self.state.document.as_ref().and_then(Document::pinned_part) {
            Some(part) => self.pick(|overrides| overrides.keep(part)),
            None => self.state.tell(
                Tone::Note,
                "Click an edge, an operation or a transaction of the picture to keep it there",
            ),
        }
    }

    /// Draws the session of the pinned transaction as one card, or unfolds it. If nothing is pinned, all sessions are
    /// unfolded, or folded if none is.
    pub(super) fn fold_pinned(&mut self) {
        let Some(document) = &self.state.document else {
            return;
        };
        if document.component.whole {
            self.state.tell(
                Tone::Note,
                "Sessions are folded in the picture of an anomaly, not in that of its component",
            );
            return;
        }
        let Some(picture) = document.current_picture() else {
            return;
        };
        let history = &picture.argument.counterexample.history;
        let pinned = match document.argument.pinned {
            Some(Attention::Transaction(t)) if !t.is_initial() => Some(history.session_of(t)),
            Some(Attention::Operation(o)) => Some(history.session_of(history.transaction_of(o))),
            _ => None,
        };
        match pinned {
            Some(session) if picture.foldable.contains(&session) => {
                self.pick(|overrides| overrides.fold(session))
            }
            Some(_) => {
                self.state.tell(
                    Tone::Note,
                    "This session has one transaction in the picture: there is nothing to fold",
                );
            }
            None => {
                let is_none = picture.shows.overrides.folded.is_empty();
                self.fold_all(is_none);
            }
        }
    }

    /// Draws every session as one card, or each transaction separately.
    pub(super) fn fold_all(&mut self, all: bool) {
        let picture = self
            .state
            .document
            .as_ref()
            .and_then(Document::current_picture);
        let Some(foldable) = picture.map(|picture| picture.foldable.clone()) else {
            return;
        };
        if all && foldable.is_empty() {
            self.state.tell(
                Tone::Note,
                "Every session has one transaction in the picture: there is nothing to fold",
            );
            return;
        }
        self.pick(|overrides| overrides.folded = if all { foldable } else { BTreeSet::new() });
    }

    /// Leaves the pinned part out of the picture: an edge or an operation of this anomaly, a transaction in all
    /// pictures.
    pub(super) fn hide_pinned(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        match document.pinned_part() {
            Some(part @ (Part::Edge(_) | Part::Operation(_))) => {
                document.argument.pinned = None;
                self.pick(|overrides| overrides.leave_out(part));
            }
            _ => {
                let attended = document.attended();
                if !attended.is_empty() {
                    self.hide(Some(attended));
                }
            }
        }
    }
}
