//! Taking in the results of jobs and what was dropped on the window.

use super::App;
use super::collecting::form::Field;
use super::dialogs::Purpose;
use super::load::Message;
use super::paths;
use super::picture::Picture;
use super::state::{Page, Phase};
use super::tree::Catalogue;
use crate::counterexample::involved_operations;
use crate::fonts;
use crate::jobs::{self, Job, State as JobState};
use std::sync::Arc;

/// Pictures kept for going back and forth.
const KEPT_PICTURES: usize = 48;

impl App {
    /// Takes in all messages of all jobs.
    pub(super) fn poll_messages(&mut self) {
        self.poll_loading();
        self.poll_looked();
        self.poll_missing();
        self.poll_drawing();
        self.poll_raw_lines();
        self.poll_files_written();
        self.poll_exports();
        self.poll_order();
        self.poll_run();
        self.poll_views();
        self.poll_what_if();
        self.poll_batch();
        self.poll_comparison();
        self.poll_collecting();
        self.poll_watching();
        self.poll_instances();
        self.poll_list();
        self.prepare_list();
    }

    /// Reads the open file again when it has changed.
    fn poll_watching(&mut self) {
        let changed = self.watching.as_mut().is_some_and(|job| !job.poll().is_empty());
        if changed && self.state.document.as_ref().is_some_and(|document| !document.is_busy()) {
            self.reload();
            self.state.tell(false, "The file has changed and is read again");
        }
    }

    fn poll_loading(&mut self) {
        let Some(job) = &mut self.loading else { return };
        let messages = job.poll();
        let state = job.state().clone();
        let cancelled = job.is_cancelled();
        for message in messages {
            self.poll_load_message(message);
        }
        let Some(document) = &mut self.state.document else { return };
        match state {
            JobState::Running => {}
            JobState::Finished => {
                if cancelled && document.is_busy() {
                    document.phase = Phase::Cancelled;
                } else if document.is_busy() {
                    document.phase = Phase::Done;
                }
                self.loading = None;
            }
            JobState::Failed(text) => {
                document.phase = Phase::Failed;
                self.loading = None;
                self.state.tell(true, format!("The check ended unexpectedly: {text}"));
            }
        }
    }

    fn poll_load_message(&mut self, message: Message) {
        let cancelled = self.loading.as_ref().is_some_and(Job::is_cancelled);
        let Some(document) = &mut self.state.document else { return };
        match message {
            Message::Read { history, recorded, levels, named, seconds } => {
                document.browser.transaction = history.transactions().next();
                document.browser.session =
                    history.transactions().next().map(|t| history.session_of(t)).unwrap_or_default();
                for level in levels {
                    if document.levels.iter().all(|(known, _)| *known != level) {
                        document.levels.push((level, None));
                    }
                }
                document.recorded = Some(recorded);
                document.hidden_names.clear();
                document.hidden.extend(named.values().flatten());
                document.named = named;
                document.history = Some(history);
                document.seconds.0 = seconds;
                if !cancelled {
                    document.phase = Phase::Checking;
                }
            }
            Message::Fonts(found) => {
                self.new_fonts.extend(found.faces);
                if let Some(advice) = fonts::advice(&found.missing) {
                    self.state.tell(true, advice);
                }
            }
            Message::Health { health, resolution } => {
                document.health = Some(health);
                document.resolved_by = resolution.assumptions().to_vec();
                document.resolution = Some(resolution);
                document.failed.remove(&Page::Lanes);
            }
            Message::Level(result) => {
                if let Some((_, slot)) = document.levels.iter_mut().find(|(level, _)| *level == result.level) {
                    jobs::replace(slot, Some(result));
                }
            }
            Message::Found { catalogue, levels, complete, seconds } => {
                document.seconds.1 = seconds;
                if complete {
                    for result in levels {
                        if let Some((_, slot)) = document.levels.iter_mut().find(|(level, _)| *level == result.level) {
                            jobs::replace(slot, Some(result));
                        }
                    }
                    document.phase = if cancelled { Phase::Cancelled } else { Phase::Done };
                }
                self.poll_catalogue(catalogue, complete);
            }
            Message::Failed(text) => {
                document.phase = if cancelled { Phase::Cancelled } else { Phase::Failed };
                if !cancelled {
                    self.state.tell(true, text);
                }
            }
        }
    }

    /// Shows new findings; the selection stays with its violation, whose number may have changed.
    pub(super) fn poll_catalogue(&mut self, catalogue: Arc<Catalogue>, complete: bool) {
        let Some(document) = &mut self.state.document else { return };
        let before = document.catalogue.take();
        let selected = document.selected.and_then(|id| before.as_ref().and_then(|before| before.named(id)));
        if let Some(before) = &before {
            // Numbers may have been reassigned: what is stored by number is kept only if it means the same.
            let same = |id| before.violation(id) == catalogue.violation(id);
            let n = self.pictures.len();
            self.pictures.retain(|picture| same(picture.argument.id));
            if self.pictures.len() < n {
                self.state.places.clear();
            }
            document.group_asked = None;
            jobs::replace(&mut document.group, None);
        }
        document.tree.catalogue_changed();
        document.catalogue = Some(Arc::clone(&catalogue));
        document.complete = complete;
        // Ids number what is listed: in the end, all.
        let wished = document.wish.find(&catalogue).filter(|_| catalogue.findings.is_counted());
        let is_wished = wished.is_some();
        if is_wished {
            document.evidence = document.wish.evidence.take().map(|evidence| evidence.into_iter().collect());
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
            Some((old, _)) if before.as_ref().and_then(|before| before.violation(old)) == catalogue.violation(old) => {
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
            Some((None, name)) => self.state.tell(true, format!("There is no anomaly {name} in this history")),
            None => {}
        }
        jobs::discard(before);
    }

    fn poll_drawing(&mut self) {
        let Some(job) = &mut self.drawing else { return };
        let pictures = job.poll();
        let ended = job.state().clone();
        let newest = job.revision() == self.revision_of_drawing;
        if let Some(picture) = pictures.into_iter().last().filter(|_| newest) {
            self.show_picture(picture);
        }
        if ended != JobState::Running {
            self.drawing = None;
            if let Some(document) = &mut self.state.document {
                document.drawing = false;
            }
        }
        if let JobState::Failed(text) = ended {
            self.state.tell(true, format!("The picture could not be made: {text}"));
        }
    }

    /// Shows a picture on the canvas and requests its raw lines.
    pub(super) fn show_picture(&mut self, picture: Arc<Picture>) {
        let same = |kept: &Arc<Picture>| {
            (kept.argument.id, kept.kind, &kept.expanded, &kept.hidden, &kept.shows)
                == (picture.argument.id, picture.kind, &picture.expanded, &picture.hidden, &picture.shows)
        };
        self.pictures.retain(|kept| !same(kept));
        self.pictures.push_back(Arc::clone(&picture));
        if self.pictures.len() > KEPT_PICTURES {
            jobs::discard(self.pictures.pop_front());
        }
        let Some(document) = &mut self.state.document else { return };
        if document.selected != Some(picture.argument.id) {
            return;
        }
        document.drawing = false;
        document.evidence = Some(picture.expanded.clone());
        let example = &picture.argument.counterexample;
        let operations = involved_operations(&example.violation);
        let whole = operations.iter().filter_map(|o| example.renaming.operations.get(o.index()).copied()).collect();
        jobs::replace(&mut document.picture, Some(Arc::clone(&picture)));
        if document.raw.of != document.selected
            && let Some(history) = document.history.clone()
        {
            let source = document.source.clone();
            let number = self.revision.advance();
            let job = super::raw::start(history, source, picture.argument.id, whole, number, Arc::clone(&self.wake));
            self.raw = Some(job);
        }
    }

    fn poll_raw_lines(&mut self) {
        if let Some(job) = &mut self.raw {
            let lines = job.poll().into_iter().last();
            let ended = !job.is_running();
            if let (Some(document), Some(lines)) = (&mut self.state.document, lines) {
                document.raw = lines;
            }
            if ended {
                self.raw = None;
            }
        }
        if let Some(job) = &mut self.raw_line {
            let line = job.poll().into_iter().last();
            if let (Some(document), Some(line)) = (&mut self.state.document, line)
                && let Some((_, text)) = &mut document.browser.operation
            {
                *text = Some(line);
                self.raw_line = None;
            }
        }
    }

    /// Opens what was chosen in a dialog or dropped on the window.
    pub(super) fn poll_files(&mut self, ctx: &egui::Context) {
        self.state.waiting_for_dialog = self.dialogs.is_waiting();
        match self.dialogs.update(ctx) {
            Some((Purpose::Open | Purpose::OpenFolder, path)) => self.open_path(path),
            Some((Purpose::Export(_), path)) => {
                if let Some(form) = &mut self.state.export {
                    form.path = path.display().to_string();
                    form.kind = super::panels::export_form::kind_of(&form.path).unwrap_or(form.kind);
                }
            }
            Some((Purpose::Record, path)) => self.fill_in(Field::File, path.display().to_string()),
            None => {}
        }
        let (dropped, hovering) =
            ctx.input(|input| (input.raw.dropped_files.clone(), !input.raw.hovered_files.is_empty()));
        self.state.drop_hint = hovering;
        let mut files = dropped.into_iter();
        let Some(first) = files.next() else { return };
        let path = first.path().to_owned();
        let others = files.map(|other| other.path().to_owned()).collect();
        self.look(paths::Request { path, dropped: Some(first), others, wish: None });
    }
}
