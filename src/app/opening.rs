//! Files and folders: opened, read again, closed.

use super::App;
use super::arrangement::Arrangement;
use super::collecting::form::Field;
use super::dialogs::Purpose;
use super::load::{LOAD, Load};
use super::page::Page;
use super::panels::export_form;
use super::paths::{self, LOOK, Lookup, Opening, ResolvedPath};
use super::project::RestoreTarget;
use super::state::Document;
use super::vocabulary::{Source, Tone, history_name};
use super::{recent, samples};
use crate::checkers::{Options, ViolationName};
use crate::history::Rules;
use crate::jobs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl App {
    /// Opens the system's dialog in the folder of the open history.
    pub(super) fn ask_for(&mut self, purpose: Purpose) {
        let folder = self
            .state
            .document
            .as_ref()
            .map(|document| document.source.folder())
            .unwrap_or_default();
        self.dialogs
            .ask(purpose, &folder.join("history"), Arc::clone(&self.wake));
    }

    /// Opens a file, or what a folder or a link leads to.
    pub(super) fn open_path(&mut self, path: PathBuf) {
        self.look(paths::Request {
            path,
            ..paths::Request::default()
        });
    }

    /// Compares the open history with another.
    pub(super) fn compare_with(&mut self, other: PathBuf) {
        match self
            .state
            .document
            .as_ref()
            .and_then(|document| document.path())
            .map(Path::to_owned)
        {
            Some(path) => self.look(paths::Request {
                path,
                others: vec![other],
                ..paths::Request::default()
            }),
            None => self.state.tell(
                Tone::Note,
                "Only a history that was opened from a file can be compared",
            ),
        }
    }

    /// Finds out, off the frame, where a path leads, to open it then.
    pub(super) fn look(&mut self, request: paths::Request) {
        self.state.looking = Some(request.path.clone());
        self.ask(&LOOK, move |control| request.answer(control));
    }

    /// Opens what a path leads to: a history, or the table of several.
    pub(super) fn open_looked(&mut self, looked: Lookup) {
        self.remember(looked.remembered);
        match looked.leads {
            ResolvedPath::History(opening) => self.open_as(*opening),
            ResolvedPath::Several(batch) => self.open_batch(*batch),
            ResolvedPath::Nothing(text) => self.state.tell(Tone::Problem, text),
        }
    }

    fn open_as(&mut self, opening: Opening) {
        self.open_under(
            opening.source,
            opening.rules,
            opening.project.map(|project| project.arrangement),
        );
        opening.wish.into_iter().for_each(|wish| self.wish(wish));
        opening
            .said
            .into_iter()
            .for_each(|banner| self.state.tell(banner.tone, banner.text));
    }

    /// Remembers files, the newest last.
    fn remember(&mut self, files: Vec<PathBuf>) {
        if files.is_empty() {
            return;
        }
        files
            .into_iter()
            .for_each(|file| recent::remember(&mut self.state.recent, file));
        if let Some(place) = self.recent_place.clone() {
            self.write_quietly(place, recent::text(&self.state.recent));
        }
    }

    /// Reads the open history again by the rules of the form, which stays visible.
    pub(super) fn read_again(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        match document.form.rules() {
            Ok(rules) => {
                let source = document.source.clone();
                self.open_under(source, rules, None);
                self.state.page = Page::Health;
            }
            Err(error) => document.form.error = Some(error),
        }
    }

    /// Starts reading and checking by the default rules; whatever was open is closed.
    pub(super) fn open(&mut self, source: Source) {
        self.open_under(source, Rules::default(), None);
    }

    /// Starts reading and checking by these rules and with this arrangement; whatever was open is closed.
    fn open_under(&mut self, source: Source, rules: Rules, arrangement: Option<Arrangement>) {
        self.close();
        self.state.show_batch = false;
        self.state.uncover();
        let title = match &source {
            Source::File(path) => history_name(path),
            Source::Sample(place) => samples::title(*place),
            Source::Bytes { name, .. } => name.clone(),
            Source::Part(part) => part.name.clone(),
        };
        self.state.document = Some(Document::new(
            source.clone(),
            title,
            rules.clone(),
            &Options::default().levels,
        ));
        let names = arrangement
            .as_ref()
            .map(|arrangement| arrangement.hidden_transactions.clone())
            .unwrap_or_default();
        arrangement
            .into_iter()
            .for_each(|arrangement| self.arrange(arrangement));
        let (request, pool) = (
            Load {
                source,
                rules,
                names,
            },
            self.pool.clone(),
        );
        self.start(&LOAD, move |control, outbox| {
            request.run(&pool, control, outbox)
        });
    }

    /// Stops all work on the open history and forgets it.
    pub(super) fn close(&mut self) {
        self.tasks.close_history();
        self.state.looking = None;
        jobs::discard(std::mem::take(&mut self.lanes));
        self.state.undo.clear();
        self.state.palette = None;
        self.state.places.clear();
        jobs::discard(std::mem::take(&mut self.pictures));
        self.state
            .banners
            .retain(|banner| banner.tone != Tone::Problem);
        self.state.export = None;
        self.state.show_batch = self.state.batch.is_some();
        self.state.page = Page::Graph;
        jobs::discard(self.state.document.take());
    }

    /// Reads the open history again; selection, page and arrangement stay.
    pub(super) fn reload(&mut self) {
        let Some(document) = &self.state.document else {
            return;
        };
        let (source, rules) = (document.source.clone(), document.form.read_by.clone());
        let wish = RestoreTarget {
            identity: document.identity().map(str::to_owned),
            id: document.selected.map(ViolationName::from),
            page: Some(self.state.page),
            evidence: None,
            quiet: true,
        };
        let arrangement = self.arrangement();
        self.open_under(source, rules, arrangement);
        self.wish(wish);
    }

    /// Turns to what shall be looked at as soon as it is there.
    pub(super) fn wish(&mut self, wish: RestoreTarget) {
        if let Some(page) = wish.page {
            self.state.page = page;
        }
        self.with_document(|document| document.wish = wish);
    }

    /// Opens what was chosen in a dialog or dropped on the window.
    pub(super) fn poll_files(&mut self, ctx: &egui::Context) {
        match self.dialogs.update(ctx) {
            Some((Purpose::Open | Purpose::OpenFolder, path)) => self.open_path(path),
            Some((Purpose::CompareWith, path)) => self.compare_with(path),
            Some((Purpose::Export(_), path)) => {
                if let Some(form) = &mut self.state.export {
                    form.path = path.display().to_string();
                    form.kind = export_form::kind_of(&form.path).unwrap_or(form.kind);
                }
            }
            Some((Purpose::Record, path)) => self.fill_in(Field::File, path.display().to_string()),
            None => {}
        }
        let (dropped, hovering) = ctx.input(|input| {
            (
                input.raw.dropped_files.clone(),
                !input.raw.hovered_files.is_empty(),
            )
        });
        self.state.drop_hint = hovering;
        let mut files = dropped.into_iter();
        let Some(first) = files.next() else { return };
        let path = first.path().to_owned();
        let others = files.map(|other| other.path().to_owned()).collect();
        self.look(paths::Request {
            path,
            dropped: Some(first),
            others,
            wish: None,
        });
    }
}
