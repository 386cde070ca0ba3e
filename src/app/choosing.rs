//! The list of anomalies and the chosen one: filters, notes, what is drawn and how.

use super::App;
use super::heaps::GroupBy;
use super::notes::{Note, Notes};
use super::picture::{self, LayoutKind, Material, Order};
use super::playing::Stage;
use super::state::{Attention, Page};
use super::tree::{Catalogue, Tree};
use crate::checkers::ViolationId;
use crate::relations::EdgeIndex;
use std::collections::BTreeSet;
use std::sync::Arc;

impl App {
    pub(super) fn with_tree(&mut self, change: impl FnOnce(&mut Tree, &Catalogue, &Notes)) {
        if let Some(document) = &mut self.state.document
            && let Some(catalogue) = &document.catalogue
        {
            change(&mut document.tree, catalogue, &document.notes);
        }
    }

    pub(super) fn group_by(&mut self, by: GroupBy) {
        self.with_tree(|tree, catalogue, notes| tree.group_by(by, catalogue, notes));
        if let Some(document) = &mut self.state.document
            && let (Some(id), Some(catalogue)) = (document.selected, &document.catalogue)
        {
            document.tree.reveal(id, catalogue, &document.notes);
            document.scroll_to_selected = true;
        }
    }

    pub(super) fn set_note(&mut self, identity: String, note: Note) {
        let Some(document) = &mut self.state.document else { return };
        match note.is_empty() {
            true => document.notes.remove(&identity),
            false => document.notes.insert(identity, note),
        };
        self.with_tree(|tree, catalogue, notes| tree.rebuild(catalogue, notes));
    }

    pub(super) fn bookmark(&mut self) {
        let Some(document) = &self.state.document else { return };
        let Some(identity) = document.identity().map(str::to_owned) else { return };
        let mut note = document.notes.get(&identity).cloned().unwrap_or_default();
        note.bookmarked = !note.bookmarked;
        self.set_note(identity, note);
    }

    pub(super) fn set_filter(&mut self, filter: String) {
        self.with_tree(|tree, catalogue, notes| tree.set_filter(filter, catalogue, notes));
    }

    /// Shows a violation: from the kept pictures, or by a job.
    pub(super) fn select(&mut self, id: ViolationId, by_user: bool) {
        let Some(document) = &mut self.state.document else { return };
        let Some(catalogue) = document.catalogue.clone() else { return };
        document.tree.reveal(id, &catalogue, &document.notes);
        document.scroll_to_selected = true;
        document.chosen_by_user |= by_user;
        if by_user && matches!(self.state.page, Page::Browser | Page::Health | Page::Order | Page::Statistics) {
            self.state.page = Page::Graph;
        }
        if document.selected == Some(id) && document.current_picture().is_some() {
            return;
        }
        document.selected = Some(id);
        document.pinned = None;
        document.hovered = None;
        document.stage = Stage::Argument;
        document.open_cases.clear();
        document.playing = None;
        let shows = document.shows(self.state.alternatives);
        let expanded = document.evidence.take().filter(|_| by_user && document.picture.is_none());
        let kind = self.state.layout;
        let kept =
            self.pictures.iter().rev().find(|picture| picture.argument.id == id && picture.kind == kind).cloned();
        let kept = kept.filter(|picture| picture.hidden == document.hidden && picture.shows == shows);
        if let Some(picture) = kept {
            self.drawing = None;
            self.show_picture(picture);
            return;
        }
        let known = self.pictures.iter().rev().find(|picture| picture.argument.id == id);
        let material = match (known, catalogue.violation(id)) {
            (Some(picture), _) => Material::Argument(Arc::clone(&picture.argument)),
            (None, Some(violation)) => Material::Violation(Box::new(violation.clone())),
            (None, None) => return,
        };
        self.order(material, expanded);
    }

    /// Starts making a picture; one that is being made is not wanted any more.
    pub(super) fn order(&mut self, material: Material, expanded: Option<BTreeSet<EdgeIndex>>) {
        let kind = self.state.layout;
        let Some(document) = &mut self.state.document else { return };
        let Some(history) = document.history.clone() else { return };
        document.drawing = true;
        let number = self.revision.advance();
        self.revision_of_drawing = number;
        let shows = document.shows(self.state.alternatives);
        let order = Order { history, material, kind, expanded, hidden: document.hidden.clone(), shows };
        self.drawing = Some(picture::start(order, number, Arc::clone(&self.wake)));
    }

    /// The same argument drawn otherwise.
    pub(super) fn redraw(&mut self, expanded: Option<BTreeSet<EdgeIndex>>) {
        let Some(document) = &self.state.document else { return };
        if let Some(picture) = document.current_picture() {
            let material = Material::Argument(Arc::clone(&picture.argument));
            self.order(material, expanded);
        } else if let Some((id, catalogue)) = document.selected.zip(document.catalogue.as_ref())
            && let Some(violation) = catalogue.violation(id)
        {
            let material = Material::Violation(Box::new(violation.clone()));
            self.order(material, None);
        }
    }

    pub(super) fn set_layout(&mut self, kind: LayoutKind) {
        if self.state.layout != kind {
            self.state.layout = kind;
            self.state.page = Page::Graph;
            let expanded = self.state.document.as_ref().and_then(|document| document.evidence.clone());
            self.redraw(expanded);
        }
    }

    pub(super) fn toggle_evidence(&mut self, edge: EdgeIndex) {
        let Some(document) = &self.state.document else { return };
        let Some(picture) = document.current_picture() else { return };
        let edges = &picture.argument.counterexample.violation.edges;
        if picture::evidence_of(edges, edge).is_empty() {
            return;
        }
        let mut expanded = picture.expanded.clone();
        if !expanded.remove(&edge) {
            expanded.insert(edge);
        }
        self.redraw(Some(expanded));
    }

    /// Shows or folds the evidence of the pinned edge, or of all edges.
    pub(super) fn expand(&mut self) {
        let Some(document) = &self.state.document else { return };
        let Some(picture) = document.current_picture() else { return };
        let edges = &picture.argument.counterexample.violation.edges;
        if let Some(Attention::Edge(edge)) = document.pinned
            && !picture::evidence_of(edges, edge).is_empty()
        {
            self.toggle_evidence(edge);
            return;
        }
        let all = picture::expandable(edges);
        let expanded = if picture.expanded == all { BTreeSet::new() } else { all };
        self.redraw(Some(expanded));
    }
}
