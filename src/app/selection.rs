//! The list of anomalies and the selected one: filters, notes, what is drawn and how.

use super::App;
use super::catalogue::Drawn;
use super::grouping::GroupBy;
use super::notes::Note;
use super::page::Page;
use super::picture::{self, DRAW, Draw, LayoutKind, Material, Picture};
use super::raw::{self, LINES};
use super::state::ArgumentView;
use super::tree::{Branch, Catalogue, MAKE, Made};
use super::vocabulary::{Attention, Tone};
use crate::checkers::{Pattern, ViolationId};
use crate::control::Control;
use crate::counterexample::{Tested, involved_operations};
use crate::jobs;
use crate::relations::EdgeIndex;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Pictures kept for going back and forth.
const KEPT_PICTURES: usize = 48;
/// Up to this many anomalies, the list is built at once: in a few milliseconds at worst.
const FEW: usize = 1000;

impl App {
    /// Rebuilds the lines of the list if they are out of date. For many anomalies a background job builds them; the old
    /// lines stay until then, and only the latest request is answered.
    pub(super) fn prepare_list(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(catalogue) = document.catalogue.clone() else {
            return;
        };
        let Some(wanted) = document.tree.take_wanted() else {
            return;
        };
        let notes = &document.notes;
        if catalogue.entries.len() <= FEW {
            self.tasks.cancel(&MAKE);
            if let Ok(made) = Made::new(&wanted, catalogue, notes, &Control::new()) {
                document.reveal.selected |= document.tree.settle(Arc::new(made));
                self.follow_filter();
            }
            return;
        }
        let notes = notes.clone();
        self.ask(&MAKE, move |control| {
            Made::new(&wanted, catalogue, &notes, control)
                .ok()
                .map(Arc::new)
        });
    }

    /// Selects the first anomaly that the filter leaves, if it leaves the selected one out: of a pattern that it names, if
    /// there is one, rather than of one that is also known by that name.
    pub(super) fn follow_filter(&mut self) {
        let Some(document) = &self.state.document else {
            return;
        };
        let is_out = document
            .selected
            .is_none_or(|selected| document.tree.position(selected).is_none());
        if !is_out || document.tree.filter().is_empty() {
            return;
        }
        let named = Pattern::parse(document.tree.filter().trim());
        let named =
            named.and_then(|pattern| document.tree.first_of(Branch::Pattern(pattern), None));
        let first = named.or_else(|| document.tree.neighbour(None, 1));
        first
            .into_iter()
            .for_each(|first| self.select(first, false));
    }

    pub(super) fn group_by(&mut self, by: GroupBy) {
        self.with_document(|document| document.tree.group_by(by));
        if let Some(document) = &mut self.state.document
            && let (Some(id), Some(catalogue)) = (document.selected, &document.catalogue)
        {
            document.tree.reveal(id, catalogue);
            document.reveal.selected = true;
        }
    }

    pub(super) fn set_note(&mut self, identity: String, note: Note) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        if note.is_empty() {
            document.notes.remove(&identity)
        } else {
            document.notes.insert(identity, note)
        };
        document.tree.notes_changed();
    }

    /// Focuses the field for the note of the selected anomaly, wherever it is.
    pub(super) fn edit_note(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        if document.identity().is_none() {
            self.state
                .tell(Tone::Note, "Select an anomaly first: a note is about one");
            return;
        }
        document.reveal.note = true;
        self.state.show_batch = false;
        self.state.uncover();
        // Only these pages have the argument, and with it the note, next to them.
        if !self.state.page.is_about_anomaly() {
            self.state.page = Page::Graph;
        }
    }

    /// Focuses the filter: of the folder if its table is visible, else of the anomalies.
    pub(super) fn focus_filter(&mut self) {
        let has_table =
            self.state.show_batch && self.state.batch.is_some() && !self.state.is_covered();
        if !has_table && self.state.document.is_none() {
            self.state.tell(
                Tone::Note,
                "Open a history first: the filter is about its anomalies",
            );
            return;
        }
        self.state.uncover();
        self.state.focus_filter = true;
    }

    pub(super) fn bookmark(&mut self) {
        let Some(document) = &self.state.document else {
            return;
        };
        let Some(identity) = document.identity().map(str::to_owned) else {
            return;
        };
        let mut note = document.notes.get(&identity).cloned().unwrap_or_default();
        note.bookmarked = !note.bookmarked;
        self.set_note(identity, note);
    }

    pub(super) fn set_filter(&mut self, filter: String) {
        self.with_document(|document| document.tree.set_filter(filter));
    }

    /// Shows a violation: from the kept pictures, or through a job.
    pub(super) fn select(&mut self, id: ViolationId, by_user: bool) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(catalogue) = document
            .catalogue
            .clone()
            .filter(|catalogue| catalogue.place(id).is_some())
        else {
            return;
        };
        if by_user {
            document.finding = None;
        }
        document.tree.reveal(id, &catalogue);
        document.reveal.selected = true;
        if by_user && !self.state.page.is_about_anomaly() {
            self.state.page = Page::Graph;
        }
        if document.selected == Some(id) && document.current_picture().is_some() {
            return;
        }
        document.selected = Some(id);
        let ArgumentView { evidence, run, .. } = std::mem::take(&mut document.argument);
        document.argument.run = run;
        let shows = document.shows(self.state.alternatives);
        let expanded = evidence.filter(|_| by_user && document.picture.is_none());
        let kind = self.state.layout;
        let kept = self
            .pictures
            .iter()
            .rev()
            .find(|picture| picture.argument.id == id && picture.kind == kind)
            .cloned();
        let kept = kept.filter(|picture| {
            picture.hidden == document.visibility.hidden && picture.shows == shows
        });
        if let Some(picture) = kept {
            self.tasks.cancel(&DRAW);
            self.show_picture(picture);
            return;
        }
        let known = self
            .pictures
            .iter()
            .rev()
            .find(|picture| picture.argument.id == id);
        let material = match (known, catalogue.violation(id)) {
            (Some(picture), _) => Material::Argument(Arc::clone(&picture.argument)),
            (None, Some(violation)) => {
                Material::Violation(Box::new(violation.clone()), Arc::clone(&catalogue))
            }
            (None, None) => return,
        };
        self.order(material, expanded);
    }

    /// Starts making a picture and drops one that is being made.
    pub(super) fn order(&mut self, material: Material, expanded: Option<BTreeSet<EdgeIndex>>) {
        let kind = self.state.layout;
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(history) = document.history.clone() else {
            return;
        };
        document.drawing = true;
        let shows = document.shows(self.state.alternatives);
        let hidden = document.visibility.hidden.clone();
        let tested = Tested::of(&history)
            .in_words(&document.tested)
            .promising(self.state.lattice.promise());
        let picture = Draw {
            history,
            material,
            kind,
            expanded,
            hidden,
            shows,
            tested,
        };
        self.ask(&DRAW, move |control| picture.make(control));
    }

    /// Notes what was tested, or promised, and tells the selected anomaly again.
    pub(super) fn tell_again(&mut self) {
        jobs::discard(std::mem::take(&mut self.pictures));
        let Some(document) = &self.state.document else {
            return;
        };
        let chosen = document.selected.zip(document.catalogue.clone());
        if let Some((id, catalogue)) = chosen
            && let Some(violation) = catalogue.violation(id)
        {
            let material = Material::Violation(Box::new(violation.clone()), catalogue.clone());
            self.order(material, document.argument.evidence.clone());
        }
    }

    /// Focuses the field for what was tested.
    pub(super) fn edit_tested(&mut self) {
        self.edit_note();
        self.with_document(|document| {
            document.reveal.tested = std::mem::take(&mut document.reveal.note);
        });
    }

    /// Draws the same argument differently, with the evidence that is unfolded.
    pub(super) fn redraw_as_unfolded(&mut self) {
        let document = self.state.document.as_ref();
        let expanded = document.and_then(|document| document.argument.evidence.clone());
        self.redraw(expanded);
    }

    /// Draws the same argument differently.
    pub(super) fn redraw(&mut self, expanded: Option<BTreeSet<EdgeIndex>>) {
        let Some(document) = &self.state.document else {
            return;
        };
        if let Some(picture) = document.current_picture() {
            let material = Material::Argument(Arc::clone(&picture.argument));
            self.order(material, expanded);
        } else if let Some((id, catalogue)) = document.selected.zip(document.catalogue.as_ref())
            && let Some(violation) = catalogue.violation(id)
        {
            let material = Material::Violation(Box::new(violation.clone()), Arc::clone(catalogue));
            self.order(material, None);
        }
    }

    /// Shows new findings; the selection stays with its violation, whose number may have changed.
    pub(super) fn show_catalogue(&mut self, catalogue: Arc<Catalogue>, complete: bool) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let before = document.catalogue.take();
        let selected = document
            .selected
            .and_then(|id| before.as_ref().and_then(|before| before.named(id)));
        if let Some(before) = &before {
            // Numbers may have been reassigned: what is stored by number is kept only if it means the same.
            let same = |id| before.violation(id) == catalogue.violation(id);
            let n = self.pictures.len();
            self.pictures.retain(|picture| same(picture.argument.id));
            if self.pictures.len() < n {
                self.state.places.clear();
            }
            document.drawn.retain(|id, _| same(*id));
            document.component.asked = None;
            jobs::replace(&mut document.component.graph, None);
        }
        document.tree.catalogue_changed();
        document.catalogue = Some(Arc::clone(&catalogue));
        document.complete = complete;
        // Ids number what is listed: in the end, all.
        let wished = document
            .wish
            .find(&catalogue)
            .filter(|_| catalogue.findings.is_counted());
        let is_wished = wished.is_some();
        if is_wished {
            document.argument.evidence = document
                .wish
                .evidence
                .take()
                .map(|evidence| evidence.into_iter().collect());
            (document.wish.identity, document.wish.id) = (None, None);
        }
        let lost = complete && !is_wished && !document.wish.quiet;
        let lost = document.wish.id.take_if(|_| lost);
        if complete {
            (document.wish.identity, document.wish.id) = (None, None);
        }
        let wanted = match selected {
            _ if is_wished => wished,
            // Its number may have changed, its identity has not.
            Some((old, _))
                if before.as_ref().and_then(|before| before.violation(old))
                    == catalogue.violation(old) =>
            {
                Some(old)
            }
            Some((_, identity)) => catalogue.of_identity(&identity).or(catalogue.first()),
            None => catalogue.first(),
        };
        match wanted {
            Some(id) if document.selected != Some(id) => {
                let page = self.state.page;
                self.select(id, is_wished);
                self.state.page = page;
            }
            Some(id) => document.tree.reveal(id, &catalogue),
            None => document.selected = None,
        }
        match lost.map(|name| (name.id().filter(|id| catalogue.is_counted(*id)), name)) {
            Some((Some(id), _)) => self.show_instance(id),
            Some((None, name)) => self.state.tell(
                Tone::Problem,
                format!("There is no anomaly {name} in this history"),
            ),
            None => {}
        }
        if complete {
            self.name_what_is_drawn();
        }
        jobs::discard(before);
    }

    /// Shows a picture on the canvas and requests its raw lines.
    pub(super) fn show_picture(&mut self, picture: Arc<Picture>) {
        let same = |kept: &Arc<Picture>| {
            (
                kept.argument.id,
                kept.kind,
                &kept.expanded,
                &kept.hidden,
                &kept.shows,
            ) == (
                picture.argument.id,
                picture.kind,
                &picture.expanded,
                &picture.hidden,
                &picture.shows,
            )
        };
        self.pictures.retain(|kept| !same(kept));
        self.pictures.push_back(Arc::clone(&picture));
        if self.pictures.len() > KEPT_PICTURES {
            jobs::discard(self.pictures.pop_front());
        }
        let Some(document) = &mut self.state.document else {
            return;
        };
        if document.selected != Some(picture.argument.id) {
            return;
        }
        document.drawing = false;
        let argument = &picture.argument;
        let drawn = || {
            Drawn::of(
                argument.shown,
                &argument.counterexample,
                &argument.explanation,
            )
        };
        document.drawn.entry(argument.id).or_insert_with(drawn);
        document.argument.evidence = Some(picture.expanded.clone());
        let example = &picture.argument.counterexample;
        let operations = involved_operations(&example.violation);
        let whole = operations
            .iter()
            .filter_map(|o| example.renaming.operations.get(o.index()).copied())
            .collect();
        jobs::replace(&mut document.picture, Some(Arc::clone(&picture)));
        if document.raw.of != document.selected
            && let Some(history) = document.history.clone()
        {
            let source = document.source.clone();
            let of = picture.argument.id;
            self.ask(&LINES, move |control| {
                raw::lines(&history, &source, of, whole, control)
            });
        }
    }

    pub(super) fn set_layout(&mut self, kind: LayoutKind) {
        if self.state.layout != kind {
            self.state.layout = kind;
            self.state.page = Page::Graph;
            self.redraw_as_unfolded();
        }
    }

    pub(super) fn toggle_evidence(&mut self, edge: EdgeIndex) {
        let Some(document) = &self.state.document else {
            return;
        };
        let Some(picture) = document.current_picture() else {
            return;
        };
        let edges = &picture.argument.counterexample.violation.edges;
        if picture::evidence_of(edges, edge).is_empty() {
            return;
        }
        let mut expanded = picture.expanded.clone();
        if !expanded.remove(&edge) {
            expanded.insert(edge);
        }
        self.unfold(expanded);
    }

    /// Shows or folds the evidence of the pinned edge, or of all edges.
    pub(super) fn expand(&mut self) {
        let Some(document) = &self.state.document else {
            return;
        };
        let Some(picture) = document.current_picture() else {
            return;
        };
        let edges = &picture.argument.counterexample.violation.edges;
        if let Some(Attention::Edge(edge)) = document.argument.pinned
            && !picture::evidence_of(edges, edge).is_empty()
        {
            self.toggle_evidence(edge);
            return;
        }
        let all = picture::expandable(edges);
        let expanded = if picture.expanded == all {
            BTreeSet::new()
        } else {
            all
        };
        self.unfold(expanded);
    }

    fn unfold(&mut self, expanded: BTreeSet<EdgeIndex>) {
        // Known at once, so that it can be undone.
        self.with_document(|document| document.argument.evidence = Some(expanded.clone()));
        self.redraw(Some(expanded));
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::Document;
    use super::super::vocabulary::Source;
    use super::*;
    use crate::checkers::{Findings, LevelSet, Pattern, Proof, Violation};
    use crate::history::{Rules, TransactionId};
    use std::time::{Duration, Instant};

    /// A window with this many anomalies, all of one transaction.
    fn with_anomalies(n: u32) -> App {
        let history =
            crate::formats::text::parse("a: [r x 7]\n").expect("a history in our notation");
        let pattern = Pattern::ThinAirRead;
        let violation = |ordinal| Violation {
            id: ViolationId { pattern, ordinal },
            also: Vec::new(),
            levels: LevelSet::upward(pattern.row().level),
            key: None,
            transactions: vec![TransactionId(0)],
            operations: Vec::new(),
            edges: Vec::new(),
            proof: Proof::Reads(None),
            implied: false,
            group: ordinal,
            place: None,
        };
        let (violations, patterns) = (
            (1..=n).map(violation).collect(),
            [(pattern, u64::from(n))].into(),
        );
        let findings = Findings {
            violations,
            patterns,
            ..Findings::default()
        };
        let mut document = Document::new(Source::Sample(0), String::new(), Rules::default(), &[]);
        document.catalogue = Some(Arc::new(Catalogue::new(&history, findings)));
        document.tree.catalogue_changed();
        let mut app = App::new(None);
        app.state.document = Some(document);
        app
    }

    fn n_listed(app: &App) -> usize {
        app.state
            .document
            .as_ref()
            .map_or(0, |document| document.tree.order().len())
    }

    fn wait(app: &mut App) {
        let started = Instant::now();
        while app.tasks.has(&MAKE) {
            assert!(started.elapsed() < Duration::from_secs(20));
            app.poll_tasks();
        }
    }

    #[test]
    fn few_anomalies_are_listed_at_once() {
        let mut app = with_anomalies(FEW as u32);
        app.prepare_list();
        assert!(!app.tasks.has(&MAKE) && n_listed(&app) == FEW);
    }

    #[test]
    fn of_many_the_newest_list_is_made_off_the_frame() {
        let mut app = with_anomalies(3000);
        app.prepare_list();
        assert_eq!(n_listed(&app), 0);
        wait(&mut app);
        assert_eq!(n_listed(&app), 3000);
        app.set_filter("/2999|".to_owned());
        app.prepare_list();
        assert_eq!(n_listed(&app), 3000, "the old list stays");
        app.set_filter("/299".to_owned());
        app.prepare_list();
        wait(&mut app);
        assert_eq!(n_listed(&app), 11, "299 and 2990 to 2999");
        let position = app.state.document.as_ref().and_then(|document| {
            document.tree.position(ViolationId {
                pattern: Pattern::ThinAirRead,
                ordinal: 2990,
            })
        });
        assert_eq!(position, Some(1));
    }
}
