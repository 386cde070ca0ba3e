//! Switching to other views of the selection, and finding things.

use super::App;
use super::figures::{COUNT, Figures};
use super::group_graph::{GATHER, GroupGraph};
use super::listing::{LIST, Listing};
use super::minimap::{MAP, Minimap};
use super::nav_history::ViewPlace;
use super::page::Page;
use super::palette::{self, FIND, Palette};
use super::state::{Document, KeyView};
use super::tasks::{Failure, Task};
use super::versions::{CHAIN, VersionsQuery, Wanted};
use crate::checkers::Level;
use crate::counterexample::involved_operations;
use crate::diagram::timeline::Timeline;
use crate::history::{OperationId, SessionId, TransactionId};
use crate::jobs;
use std::sync::Arc;

/// Finding out when every transaction ran.
static TIME: Task<Arc<Timeline>> =
    Task::new("timeline", Failure::Page(Page::Lanes), |app, timeline| {
        let Some(document) = &mut app.state.document else {
            return;
        };
        jobs::replace(&mut document.timeline, Some(timeline));
    });

impl App {
    /// Starts whatever the visible page needs and records the current view.
    pub(super) fn prepare_page(&mut self) {
        self.ask_for_page();
        self.prepare_run();
        self.prepare_list();
        self.with_batch(super::batch::Batch::refresh);
        if let Some(document) = &self.state.document {
            let browsed = (self.state.page == Page::Browser)
                .then_some(document.browser.transaction)
                .flatten();
            let operation = document
                .browser
                .operation
                .as_ref()
                .map(|(operation, _)| *operation);
            let place = ViewPlace {
                page: self.state.page,
                selected: document.selected,
                pinned: document.argument.pinned,
                browsed: browsed.map(|transaction| (transaction, operation)),
            };
            self.state.places.visit(place);
        }
    }

    pub(super) fn prepare_lanes(&mut self) {
        let Some(document) = &self.state.document else {
            return;
        };
        let ready = document.results.resolution.is_some()
            || document.history.as_ref().is_some_and(|h| h.has_times());
        if document.timeline.is_some() && document.numbers.is_none() {
            return self.prepare_numbers();
        }
        let is_there = document.timeline.is_some() || document.failed.contains_key(&Page::Lanes);
        if is_there || self.tasks.has(&TIME) || (!ready && document.is_busy()) {
            return;
        }
        let Some(history) = document.history.clone() else {
            return;
        };
        let resolution = document.results.resolution.clone();
        self.ask(&TIME, move |control| {
            Timeline::new(&history, resolution.as_deref(), control)
                .ok()
                .map(Arc::new)
        });
    }

    /// The page of a key follows the selected anomaly.
    pub(super) fn prepare_key(&mut self) {
        let Some(document) = &self.state.document else {
            return;
        };
        let follows = document
            .key
            .as_ref()
            .is_none_or(|view| view.of != document.shown());
        let is_bare =
            self.state.page == Page::Key && document.selected.is_none() && document.key.is_none();
        match document.keys().first() {
            Some(key) if follows => self.ask_for_key(Wanted::Key(*key)),
            None if is_bare && !document.is_busy() => self.ask_for_key(Wanted::MostUsed),
            _ => {}
        }
    }

    /// The graph of a component follows the selected anomaly.
    pub(super) fn prepare_group(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(((id, catalogue), history)) = document
            .selected
            .zip(document.catalogue.clone())
            .zip(document.history.clone())
        else {
            return;
        };
        let component = catalogue.component(id);
        if !document.component.whole || document.component.asked == component {
            return;
        }
        document.component.asked = component;
        document.failed.remove(&Page::Matrix);
        jobs::replace(&mut document.component.graph, None);
        self.ask(&GATHER, move |control| {
            let group = GroupGraph::new(&history, &catalogue, id);
            group.filter(|_| control.check().is_ok()).map(Arc::new)
        });
    }

    /// Computes the listing that the browser wants, unless everything is as in the file.
    pub(super) fn prepare_browser(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        if document.selected.is_some() && document.browser.of != document.selected {
            // The page opens at the selected anomaly.
            document.browser.of = document.selected;
            let first = document
                .shown_violation()
                .and_then(|violation| violation.transactions.iter().find(|t| !t.is_initial()));
            if let Some((history, &first)) = document.history.as_ref().zip(first) {
                document.browser.session = history.session_of(first);
                document.browser.transaction = Some(first);
                document.browser.scroll = true;
            }
        }
        // A search is about all sessions.
        let is_search = !document.browser.wanted.text.is_empty();
        document.browser.wanted.session = if is_search {
            SessionId::default()
        } else {
            document.browser.session
        };
        let wanted = &document.browser.wanted;
        if wanted.is_plain() {
            jobs::replace(&mut document.browser.listing, None);
            self.tasks.cancel(&LIST);
            document.failed.remove(&Page::Browser);
            return;
        }
        if self.wanted_listing.as_ref() == Some(wanted)
            && (self.tasks.has(&LIST)
                || document
                    .browser
                    .listing
                    .as_ref()
                    .is_some_and(|l| l.wanted == *wanted)
                || document.failed.contains_key(&Page::Browser))
        {
            return;
        }
        let Some(history) = document.history.clone() else {
            return;
        };
        document.failed.remove(&Page::Browser);
        let wanted = wanted.clone();
        self.wanted_listing = Some(wanted.clone());
        self.ask(&LIST, move |control| {
            Listing::new(&history, wanted, control).ok().map(Arc::new)
        });
    }

    pub(super) fn prepare_statistics(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let tried = document.statistics.figures.is_some()
            || document.failed.contains_key(&Page::Statistics);
        let made = tried && document.statistics.complete == document.complete;
        if made || self.tasks.has(&COUNT) {
            return;
        }
        let Some(history) = document.history.clone() else {
            return;
        };
        document.statistics.complete = document.complete;
        document.failed.remove(&Page::Statistics);
        let catalogue = document.catalogue.clone();
        self.ask(&COUNT, move |control| {
            Figures::new(&history, catalogue.as_deref(), control)
                .ok()
                .map(Arc::new)
        });
    }

    /// Shows the versions of a key, once they are known.
    pub(super) fn show_key(&mut self, wanted: Wanted) {
        self.state.page = Page::Key;
        self.ask_for_key(wanted);
    }

    /// Looks up the versions of a key.
    pub(super) fn ask_for_key(&mut self, wanted: Wanted) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let (Some(history), Some(resolution)) = (&document.history, &document.results.resolution)
        else {
            return;
        };
        let question = VersionsQuery {
            history: Arc::clone(history),
            resolution: Arc::clone(resolution),
            wanted: wanted.clone(),
            violation: document.shown_violation().cloned(),
        };
        let view = KeyView {
            wanted,
            chain: None,
            error: None,
            of: document.shown(),
        };
        jobs::replace(&mut document.key, Some(view));
        self.ask(&CHAIN, move |control| question.answer(control));
    }

    /// Shows a transaction among all sessions, on the time axis.
    pub(super) fn show_in_lanes(&mut self, transaction: TransactionId) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        document.argument.pinned = Some(document.attention_of(transaction));
        self.state.page = Page::Lanes;
    }

    /// Shows the pinned transaction of the anomaly, or its first one, in the whole history.
    pub(super) fn locate(&mut self) {
        let Some(document) = &self.state.document else {
            return;
        };
        let own = document
            .current_picture()
            .map(|p| p.argument.counterexample.renaming.transactions.clone());
        let pinned = document.attended().into_iter().find(|t| !t.is_initial());
        match pinned.or(own.and_then(|own| own.first().copied())) {
            Some(transaction) => {
                let operation = self.involved_operation(transaction);
                self.browse(transaction);
                operation
                    .into_iter()
                    .for_each(|operation| self.handle_operation(operation));
            }
            None => self.state.page = Page::Browser,
        }
    }

    /// The first operation of a transaction that the selected anomaly is about.
    fn involved_operation(&self, transaction: TransactionId) -> Option<OperationId> {
        let document = self.state.document.as_ref()?;
        let (picture, history) = (document.current_picture()?, document.history.as_ref()?);
        let example = &picture.argument.counterexample;
        let whole = involved_operations(&example.violation).into_iter();
        let mut whole = whole.filter_map(|o| example.renaming.operations.get(o.index()).copied());
        whole.find(|operation| history.transaction_of(*operation) == transaction)
    }

    /// Computes the map of the history for the pages that show it.
    pub(super) fn prepare_minimap(&mut self) {
        self.prepare_lanes();
        let Some(document) = &mut self.state.document else {
            return;
        };
        let (Some(history), Some(timeline)) = (document.history.clone(), document.timeline.clone())
        else {
            return;
        };
        let catalogue = document.catalogue.clone();
        let wanted = (
            self.state.preferences.true_time,
            catalogue.as_ref().map(|catalogue| catalogue.entries.len()),
        );
        if document.overview.asked.replace(wanted) == Some(wanted) {
            return;
        }
        self.ask(&MAP, move |control| {
            Minimap::new(&history, &timeline, catalogue.as_deref(), wanted, control)
                .ok()
                .map(Arc::new)
        });
    }

    /// Records that a page could not be made: the page says so, and it is not tried again before something has changed.
    pub(super) fn fail(&mut self, page: Page, cause: String) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        match &mut document.key {
            Some(view) if page == Page::Key => {
                view.error = Some(format!("This could not be found out: {cause}"))
            }
            _ => drop(document.failed.insert(page, cause)),
        }
    }

    /// Shows the smallest anomaly that violates `level`, of those that violate no weaker one if there are any.
    pub(super) fn select_level(&mut self, level: Level) {
        let catalogue = self
            .state
            .document
            .as_ref()
            .and_then(|document| document.catalogue.clone());
        if let Some(id) = catalogue.and_then(|catalogue| catalogue.smallest_of(level)) {
            self.select(id, true);
        }
    }

    /// Goes back to the previous view, or forward again.
    pub(super) fn go_back(&mut self, step: isize) {
        let Some(place) = self.state.places.go(step) else {
            return;
        };
        if let Some(id) = place.selected
            && self
                .state
                .document
                .as_ref()
                .is_some_and(|document| document.selected != Some(id))
        {
            self.select(id, true);
        }
        self.state.page = place.page;
        let Some(document) = &mut self.state.document else {
            return;
        };
        document.argument.pinned = place.pinned;
        if let (Some((transaction, operation)), Some(history)) = (place.browsed, &document.history)
        {
            document.browser.session = history.session_of(transaction);
            document.browser.transaction = Some(transaction);
            document.browser.scroll = true;
            document.browser.operation = None;
            if let Some(operation) = operation {
                self.handle_operation(operation);
            }
        }
    }

    /// Opens or closes the palette.
    pub(super) fn toggle_palette(&mut self) {
        if self.state.palette.take().is_some() {
            self.tasks.cancel(&FIND);
            return;
        }
        self.state.palette = Some(Palette {
            fresh: true,
            ..Palette::default()
        });
        self.search(String::new());
    }

    /// Searches for the text in the palette.
    pub(super) fn search(&mut self, text: String) {
        let Some(palette) = &mut self.state.palette else {
            return;
        };
        palette.text = text;
        palette.search(
            &self.state.recent,
            self.state
                .document
                .as_ref()
                .map(|document| &document.marks.all[..]),
        );
        self.tasks.cancel(&FIND);
        let history = self
            .state
            .document
            .as_ref()
            .and_then(|document: &Document| document.history.clone());
        if let Some(history) = history.filter(|_| !palette.text.trim().is_empty()) {
            let catalogue = self
                .state
                .document
                .as_ref()
                .and_then(|document| document.catalogue.clone());
            let text = palette.text.clone();
            self.ask(&FIND, move |control| {
                Some(palette::find(
                    &text,
                    &history,
                    catalogue.as_deref(),
                    control,
                ))
            });
        }
    }

    /// Runs what was found: the selected entry, or the one at an index.
    pub(super) fn choose_found(&mut self, ctx: &egui::Context, place: Option<usize>) {
        let Some(palette) = self.state.palette.take() else {
            return;
        };
        self.tasks.cancel(&FIND);
        if let Some(found) = palette.found.get(place.unwrap_or(palette.chosen)) {
            if !matches!(found.thing, palette::Thing::Command(_)) {
                self.state.uncover();
            }
            self.handle(ctx, found.request());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::vocabulary::Source;
    use super::*;
    use crate::history::Rules;

    #[test]
    fn what_fails_is_said_in_its_place_and_not_tried_for_ever() {
        let mut app = App::new(None);
        let history = crate::formats::text::parse("a: [w x 1]\nb: [r x 1]\n")
            .expect("a history in our notation");
        let mut document = Document::new(Source::Sample(0), String::new(), Rules::default(), &[]);
        document.history = Some(Arc::new(history));
        document.phase = super::super::vocabulary::Phase::Done;
        app.state.document = Some(document);
        let wait = |app: &mut App, page: Page| {
            let started = std::time::Instant::now();
            while app.tasks.has(&TIME) || app.tasks.has(&COUNT) {
                assert!(started.elapsed().as_secs() < 20, "{page:?}");
                app.poll_tasks();
            }
        };
        app.state.page = Page::Lanes;
        app.ask(&TIME, |_| panic!("on purpose"));
        wait(&mut app, Page::Lanes);
        app.prepare_page();
        assert!(!app.tasks.has(&TIME), "it is not tried again");
        app.state.page = Page::Statistics;
        app.ask(&COUNT, |_| panic!("on purpose"));
        wait(&mut app, Page::Statistics);
        app.prepare_page();
        assert!(!app.tasks.has(&COUNT), "it is not tried again");
        let failed = app
            .state
            .document
            .as_ref()
            .map(|document| document.failed.clone())
            .unwrap_or_default();
        assert_eq!(
            failed.values().collect::<Vec<_>>(),
            ["on purpose", "on purpose"]
        );
        if let Some(document) = &mut app.state.document {
            document.complete = true;
        }
        app.prepare_page();
        assert!(
            app.tasks.has(&COUNT),
            "all anomalies are known: something has changed"
        );
    }
}
