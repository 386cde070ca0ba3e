//! Switching to other views of the selection, and finding things.

use super::App;
use super::nav_history::Place;
use super::palette::{self, Palette};
use super::state::{Document, KeyView, Page};
use super::versions::{self, Question, Wanted};
use super::{figures, group_graph, listing, panels, timeline};
use crate::checkers::Level;
use crate::history::TransactionId;
use crate::jobs::{self, Job, State as JobState};
use std::sync::Arc;

impl App {
    /// Starts whatever the visible page needs and records the current view.
    pub(super) fn prepare_page(&mut self) {
        match self.state.page {
            Page::Lanes => self.prepare_lanes(),
            Page::Key => self.prepare_key(),
            Page::Matrix | Page::Graph => self.prepare_group(),
            Page::Statistics => self.prepare_statistics(),
            Page::Browser => self.prepare_browser(),
            Page::Order => self.prepare_order(),
            _ => {}
        }
        self.prepare_run();
        self.prepare_list();
        if let Some(document) = &self.state.document {
            let browsed = (self.state.page == Page::Browser).then_some(document.browser.transaction).flatten();
            let operation = document.browser.operation.as_ref().map(|(operation, _)| *operation);
            let place = Place {
                page: self.state.page,
                selected: document.selected,
                pinned: document.pinned,
                browsed: browsed.map(|transaction| (transaction, operation)),
            };
            self.state.places.visit(place);
        }
    }

    fn prepare_lanes(&mut self) {
        let Some(document) = &self.state.document else { return };
        let ready = document.resolution.is_some() || document.history.as_ref().is_some_and(|h| h.has_times());
        let is_there = document.timeline.is_some() || document.failed.contains_key(&Page::Lanes);
        if is_there || self.timing.is_some() || (!ready && document.is_busy()) {
            return;
        }
        let Some(history) = document.history.clone() else { return };
        let number = self.revision.advance();
        self.timing = Some(timeline::start(history, document.resolution.clone(), number, Arc::clone(&self.wake)));
    }

    /// The page of a key follows the selected anomaly.
    fn prepare_key(&mut self) {
        let Some(document) = &self.state.document else { return };
        let follows = document.key.as_ref().is_none_or(|view| view.of != document.selected);
        if follows && let Some(key) = panels::versions::keys_of(document).first().copied() {
            self.show_key(Wanted::Key(key));
        }
    }

    /// The graph of a component follows the selected anomaly.
    fn prepare_group(&mut self) {
        let Some(document) = &mut self.state.document else { return };
        let Some(((id, catalogue), history)) =
            document.selected.zip(document.catalogue.clone()).zip(document.history.clone())
        else {
            return;
        };
        let component = catalogue.component(id);
        if !document.whole_group || document.group_asked == component {
            return;
        }
        document.group_asked = component;
        document.failed.remove(&Page::Matrix);
        jobs::replace(&mut document.group, None);
        let number = self.revision.advance();
        self.gathering = Some(group_graph::start(history, catalogue, id, number, Arc::clone(&self.wake)));
    }

    /// Computes the listing that the browser wants, unless everything is as in the file.
    fn prepare_browser(&mut self) {
        let Some(document) = &mut self.state.document else { return };
        document.browser.wanted.session = document.browser.session;
        let wanted = &document.browser.wanted;
        if wanted.is_plain() {
            jobs::replace(&mut document.browser.listing, None);
            self.listing = None;
            document.failed.remove(&Page::Browser);
            return;
        }
        if self.wanted_listing.as_ref() == Some(wanted)
            && (self.listing.is_some()
                || document.browser.listing.as_ref().is_some_and(|l| l.wanted == *wanted)
                || document.failed.contains_key(&Page::Browser))
        {
            return;
        }
        let Some(history) = document.history.clone() else { return };
        document.failed.remove(&Page::Browser);
        self.wanted_listing = Some(wanted.clone());
        let number = self.revision.advance();
        self.listing = Some(listing::start(history, wanted.clone(), number, Arc::clone(&self.wake)));
    }

    fn prepare_statistics(&mut self) {
        let Some(document) = &mut self.state.document else { return };
        let tried = document.figures.is_some() || document.failed.contains_key(&Page::Statistics);
        let made = tried && document.figures_complete == document.complete;
        if made || self.counting.is_some() {
            return;
        }
        let Some(history) = document.history.clone() else { return };
        document.figures_complete = document.complete;
        document.failed.remove(&Page::Statistics);
        let number = self.revision.advance();
        self.counting = Some(figures::start(history, document.catalogue.clone(), number, Arc::clone(&self.wake)));
    }

    /// Shows the versions of a key, once they are known.
    pub(super) fn show_key(&mut self, wanted: Wanted) {
        self.state.page = Page::Key;
        self.ask_for_key(wanted);
    }

    /// Looks up the versions of a key.
    pub(super) fn ask_for_key(&mut self, wanted: Wanted) {
        let Some(document) = &mut self.state.document else { return };
        let (Some(history), Some(resolution)) = (&document.history, &document.resolution) else { return };
        let violation = document.selected.zip(document.catalogue.as_ref());
        let question = Question {
            history: Arc::clone(history),
            resolution: Arc::clone(resolution),
            wanted: wanted.clone(),
            violation: violation.and_then(|(id, catalogue)| catalogue.violation(id).cloned()),
        };
        let view = KeyView { wanted, chain: None, error: None, of: document.selected };
        jobs::replace(&mut document.key, Some(view));
        let number = self.revision.advance();
        self.chaining = Some(versions::start(question, number, Arc::clone(&self.wake)));
    }

    /// Shows a transaction among all sessions, on the time axis.
    pub(super) fn show_in_lanes(&mut self, transaction: TransactionId) {
        let Some(document) = &mut self.state.document else { return };
        document.pinned = Some(document.attention_of(transaction));
        self.state.all_lanes = true;
        self.state.page = Page::Lanes;
    }

    /// Takes in what the jobs of the views have found out.
    pub(super) fn poll_views(&mut self) {
        let mut troubles = Vec::new();
        let timeline = last(&mut self.timing, Page::Lanes, &mut troubles);
        let chain = last(&mut self.chaining, Page::Key, &mut troubles);
        let listing = last(&mut self.listing, Page::Browser, &mut troubles);
        let figures = last(&mut self.counting, Page::Statistics, &mut troubles);
        let group = last(&mut self.gathering, Page::Matrix, &mut troubles);
        self.poll_found();
        if let Some(document) = &mut self.state.document {
            keep(&mut document.timeline, timeline);
            keep(&mut document.browser.listing, listing);
            keep(&mut document.figures, figures);
            keep(&mut document.group, group.filter(|group| document.group_asked == Some(group.of)));
            if let (Some(view), Some(chain)) = (&mut document.key, chain) {
                match chain {
                    Ok(chain) => view.chain = Some(chain),
                    Err(text) => view.error = Some(text),
                }
            }
        }
        troubles.into_iter().for_each(|(page, text)| self.fail(page, text));
    }

    /// Records that a page could not be made: the page says so, and it is not tried again before something has changed.
    pub(super) fn fail(&mut self, page: Page, cause: String) {
        let Some(document) = &mut self.state.document else { return };
        match &mut document.key {
            Some(view) if page == Page::Key => view.error = Some(format!("This could not be found out: {cause}")),
            _ => drop(document.failed.insert(page, cause)),
        }
    }

    /// Takes in what was found for the palette.
    fn poll_found(&mut self) {
        let Some(job) = &mut self.finding else { return };
        let found = job.poll().into_iter().last();
        let ended = job.state().clone();
        if let (Some(palette), Some(found)) = (&mut self.state.palette, found) {
            palette.add(found);
        }
        if ended != JobState::Running {
            self.finding = None;
        }
        if let JobState::Failed(text) = ended {
            self.state.tell(true, format!("Finding ended unexpectedly: {text}"));
        }
    }

    /// Shows the smallest anomaly that violates `level`, of those that violate no weaker one if there are any.
    pub(super) fn select_level(&mut self, level: Level) {
        let catalogue = self.state.document.as_ref().and_then(|document| document.catalogue.clone());
        if let Some(id) = catalogue.and_then(|catalogue| catalogue.smallest_of(level)) {
            self.select(id, true);
        }
    }

    /// Goes back to the previous view, or forward again.
    pub(super) fn go_back(&mut self, step: isize) {
        let Some(place) = self.state.places.go(step) else { return };
        if let Some(id) = place.selected
            && self.state.document.as_ref().is_some_and(|document| document.selected != Some(id))
        {
            self.select(id, true);
        }
        self.state.page = place.page;
        let Some(document) = &mut self.state.document else { return };
        document.pinned = place.pinned;
        if let (Some((transaction, operation)), Some(history)) = (place.browsed, &document.history) {
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
            self.finding = None;
            return;
        }
        self.state.palette = Some(Palette { fresh: true, ..Palette::default() });
        self.search(String::new());
    }

    /// Searches for the text in the palette.
    pub(super) fn search(&mut self, text: String) {
        let Some(palette) = &mut self.state.palette else { return };
        palette.text = text;
        palette.search(&self.state.recent, self.state.document.is_some());
        self.finding = None;
        let history = self.state.document.as_ref().and_then(|document: &Document| document.history.clone());
        if let Some(history) = history.filter(|_| !palette.text.trim().is_empty()) {
            let catalogue = self.state.document.as_ref().and_then(|document| document.catalogue.clone());
            let number = self.revision.advance();
            let job = palette::start(palette.text.clone(), history, catalogue, number, Arc::clone(&self.wake));
            self.finding = Some(job);
        }
    }

    /// Runs what was found: the selected entry, or the one at an index.
    pub(super) fn choose_found(&mut self, ctx: &egui::Context, place: Option<usize>) {
        let Some(palette) = self.state.palette.take() else { return };
        self.finding = None;
        if let Some(found) = palette.found.get(place.unwrap_or(palette.chosen)) {
            if !matches!(found.thing, palette::Thing::Command(_)) {
                self.state.show_collect = false;
            }
            self.handle(ctx, found.request());
        }
    }
}

/// Stores what has come, if anything has.
fn keep<T: Send + 'static>(slot: &mut Option<T>, come: Option<T>) {
    if come.is_some() {
        jobs::replace(slot, come);
    }
}

/// The last message of a job, which is dropped when it has ended.
fn last<T: Send + 'static>(slot: &mut Option<Job<T>>, page: Page, troubles: &mut Vec<(Page, String)>) -> Option<T> {
    let job = slot.as_mut()?;
    let message = job.poll().into_iter().last();
    match job.state().clone() {
        JobState::Running => {}
        JobState::Finished => *slot = None,
        JobState::Failed(text) => {
            *slot = None;
            troubles.push((page, text));
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::super::state::Source;
    use super::*;
    use crate::history::Rules;

    #[test]
    fn what_fails_is_said_in_its_place_and_not_tried_for_ever() {
        let mut app = App::new(None);
        let history = crate::formats::text::parse("a: [w x 1]\nb: [r x 1]\n").expect("a history in our notation");
        let mut document = Document::new(Source::Sample(0), String::new(), Rules::default(), &[]);
        document.history = Some(Arc::new(history));
        document.phase = super::super::state::Phase::Done;
        app.state.document = Some(document);
        let broken = |app: &mut App| {
            Job::start("test", app.revision.advance(), Arc::clone(&app.wake), |_, _| panic!("on purpose"))
        };
        let wait = |app: &mut App, page: Page| {
            let started = std::time::Instant::now();
            while app.timing.is_some() || app.counting.is_some() {
                assert!(started.elapsed().as_secs() < 20, "{page:?}");
                app.poll_views();
            }
        };
        app.state.page = Page::Lanes;
        app.timing = Some(broken(&mut app));
        wait(&mut app, Page::Lanes);
        app.prepare_page();
        assert!(app.timing.is_none(), "it is not tried again");
        app.state.page = Page::Statistics;
        app.counting =
            Some(Job::start("test", app.revision.advance(), Arc::clone(&app.wake), |_, _| panic!("on purpose")));
        wait(&mut app, Page::Statistics);
        app.prepare_page();
        assert!(app.counting.is_none(), "it is not tried again");
        let failed = app.state.document.as_ref().map(|document| document.failed.clone()).unwrap_or_default();
        assert_eq!(failed.values().collect::<Vec<_>>(), ["on purpose", "on purpose"]);
        if let Some(document) = &mut app.state.document {
            document.complete = true;
        }
        app.prepare_page();
        assert!(app.counting.is_some(), "all anomalies are known: something has changed");
    }
}
