//! Files and folders: opened, read again, closed.

use super::App;
use super::dialogs::{self, Purpose};
use super::project::{self, Wish};
use super::state::{Document, Page, Source};
use super::watch;
use super::{folder, load, recent, samples};
use crate::history::Rules;
use std::path::PathBuf;
use std::sync::Arc;

impl App {
    /// Opens the system's dialog where the open history lies.
    pub(super) fn ask_for(&mut self, purpose: Purpose) {
        let folder = dialogs::folder_of(self.state.document.as_ref().map(|document| &document.source));
        self.dialogs.ask(purpose, &folder.join("history"), Arc::clone(&self.wake));
    }

    /// Opens a file, or what a folder turns out to hold.
    pub(super) fn open_path(&mut self, path: PathBuf) {
        let (path, link) = project::split_link(&path);
        if project::is_project(&path) {
            self.open_project(&path);
            return;
        }
        if !path.is_dir() {
            self.open_file(path);
            match link.as_deref().map(project::parse_link) {
                Some(Ok(wish)) => self.wish(wish),
                Some(Err(text)) => self.state.tell(true, text),
                None => {}
            }
            return;
        }
        self.state.looking = Some(path.clone());
        let number = self.revision.advance();
        self.looking = Some(folder::start(path, number, Arc::clone(&self.wake)));
    }

    /// Reads the open history again by the rules of the form, which stays in sight.
    pub(super) fn read_again(&mut self) {
        let Some(document) = &mut self.state.document else { return };
        match document.form.rules() {
            Ok(rules) => {
                let source = document.source.clone();
                self.open_under(source, rules);
                self.state.page = Page::Health;
            }
            Err(trouble) => document.form.trouble = Some(trouble),
        }
    }

    /// Starts reading and checking by the default rules; whatever was open goes.
    pub(super) fn open(&mut self, source: Source) {
        self.open_under(source, Rules::default());
    }

    pub(super) fn open_under(&mut self, source: Source, rules: Rules) {
        self.close();
        self.state.show_batch = false;
        self.state.show_collect = false;
        let title = match &source {
            Source::File(path) => {
                path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
            }
            Source::Sample(place) => samples::title(*place),
            Source::Bytes { name, .. } => name.clone(),
        };
        if let Source::File(path) = &source
            && path.exists()
        {
            recent::remember(&mut self.state.recent, path);
            if let Some(place) = &self.recent_place {
                recent::save(&self.state.recent, place);
            }
        }
        self.state.document = Some(Document::new(source.clone(), title, rules.clone(), &load::levels()));
        self.watching = match &source {
            Source::File(path) => {
                let number = self.revision.advance();
                Some(watch::start(path.clone(), number, Arc::clone(&self.wake)))
            }
            Source::Sample(_) | Source::Bytes { .. } => None,
        };
        let number = self.revision.advance();
        self.loading = Some(load::start(source, rules, self.pool.clone(), number, Arc::clone(&self.wake)));
    }

    /// Stops all work on the open history and forgets it.
    pub(super) fn close(&mut self) {
        self.loading = None;
        self.looking = None;
        self.state.looking = None;
        self.drawing = None;
        self.raw = None;
        self.raw_line = None;
        self.replaying = None;
        self.running = None;
        self.timing = None;
        self.chaining = None;
        self.counting = None;
        self.contest = None;
        self.sweeping = None;
        self.gathering = None;
        self.lanes.fit();
        self.listing = None;
        self.asking = None;
        self.watching = None;
        self.state.undo.clear();
        self.finding = None;
        self.state.palette = None;
        self.state.places.clear();
        self.pictures.clear();
        self.state.banners.retain(|banner| !banner.bad);
        self.state.export = None;
        self.state.show_batch = self.state.batch.is_some();
        self.state.page = Page::Graph;
        if let Some(document) = self.state.document.take() {
            // Giving back the memory of a big history takes a while: not in a frame. Without a thread it happens here.
            let _ = std::thread::Builder::new().name("drop".to_owned()).spawn(move || drop(document));
        }
    }

    /// Reads the open history again; selection, page and arrangement stay.
    pub(super) fn reload(&mut self) {
        let Some(document) = &self.state.document else { return };
        let (source, rules) = (document.source.clone(), document.rules.clone());
        let wish = Wish {
            identity: document.identity().map(str::to_owned),
            id: document.selected,
            page: Some(self.state.page),
            evidence: None,
            quiet: true,
        };
        let arrangement = self.arrangement();
        self.open_under(source, rules);
        if let Some(arrangement) = arrangement {
            let names = arrangement.hidden_transactions.clone();
            self.arrange(arrangement);
            if let Some(document) = &mut self.state.document {
                document.hidden_names = names;
            }
        }
        self.wish(wish);
    }

    /// Turns to what shall be looked at as soon as it is there.
    pub(super) fn wish(&mut self, wish: Wish) {
        if let Some(page) = wish.page {
            self.state.page = page;
        }
        if let Some(document) = &mut self.state.document {
            document.wish = wish;
        }
    }
}
