//! Following a file that another program writes: it is read once, from its beginning, and on as it grows.

use super::App;
use super::command::Command;
use super::live::{Listener, Live, Snapshot};
use super::tasks::{End, Failure, Task};
use super::vocabulary::{Cover, Source, Tone, file_name};
use super::watch::Change;
use crate::follow::{Options, Stream};
use crate::history::Rules;
use crate::hunt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that is followed, or was.
#[derive(Clone, Debug)]
pub struct Following {
    /// The file.
    pub path: PathBuf,
    /// What is known of it.
    pub live: Live,
    /// Whether it is still followed.
    pub goes_on: bool,
}

impl Following {
    /// The name of the file.
    pub fn title(&self) -> String {
        file_name(&self.path)
    }
}

/// Following a file.
pub(super) static FOLLOW: Task<Arc<Snapshot>> = Task {
    is_of_history: false,
    shows_progress: false,
    end: |app, end| {
        if let Some(following) = &mut app.state.following {
            following.goes_on = false;
        }
        if let End::Failed(why) = end {
            app.state
                .tell(Tone::Problem, format!("The file cannot be followed: {why}"));
        }
    },
    ..Task::new("follow", Failure::Silent, |app, snapshot| {
        if let Some(following) = &mut app.state.following {
            following.live.take(snapshot);
        }
    })
};

impl App {
    /// Shows what is followed, or the history again; begins to follow the open file if nothing is followed.
    pub(super) fn follow_or_return(&mut self) {
        let open = self
            .state
            .document
            .as_ref()
            .and_then(|document| document.path())
            .map(Path::to_owned);
        if self.state.cover == Some(Cover::Following) {
            return self.show_following(false);
        }
        if let Some(path) = open.filter(|_| !self.is_following()) {
            if let Some(why) = self.obstacle() {
                return self.state.tell(Tone::Problem, why);
            }
            self.follow(path);
        }
        match self.state.following {
            Some(_) => self.show_following(true),
            None => self.state.tell(
                Tone::Note,
                "Only a history that was opened from a file can be followed",
            ),
        }
    }

    /// Why the open history cannot be followed, as far as that is known.
    fn obstacle(&self) -> Option<String> {
        let document = self.state.document.as_ref()?;
        if document.form.read_by != Rules::default() {
            return Some(
                "Only a history that is read by the usual rules can be followed".to_owned(),
            );
        }
        let error = Stream::new(&document.title, Some(self.format()?)).err()?;
        Some(error.to_string())
    }

    /// Shows what is followed, or the history.
    pub(super) fn show_following(&mut self, is_shown: bool) {
        self.state.cover = is_shown.then_some(Cover::Following);
    }

    /// Whether a file is followed now.
    fn is_following(&self) -> bool {
        self.state
            .following
            .as_ref()
            .is_some_and(|following| following.goes_on)
    }

    /// Begins to follow a file, in place of whatever was followed.
    fn follow(&mut self, path: PathBuf) {
        self.state.following = Some(Following {
            path: path.clone(),
            live: Live::default(),
            goes_on: true,
        });
        // A few lines may not show the format.
        let format = self.format();
        self.start(&FOLLOW, move |control, outbox| {
            let mut listener = Listener::new(&path, &[]);
            let mut hear = |news: hunt::News<'_>| {
                listener
                    .hear(news)
                    .into_iter()
                    .for_each(|snapshot| outbox.send(snapshot));
                if control.check().is_ok() {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            };
            let live = hunt::Live {
                options: Options::default(),
                to_the_end: true,
                hear: &mut hear,
            };
            hunt::follow(&path, format, live);
        });
    }

    /// Stops following; what is known stays. Returns whether anything was followed.
    pub(super) fn stop_following(&mut self) -> bool {
        let any = self.tasks.cancel(&FOLLOW);
        if let Some(following) = &mut self.state.following {
            following.goes_on = false;
        }
        any
    }

    /// The open file has changed: if it grows, it is followed; else it is read again, unless it is being read.
    pub(super) fn note_change(&mut self, change: Change) {
        let Some(document) = &self.state.document else {
            return;
        };
        let Source::File(path) = document.source.clone() else {
            return;
        };
        let following = self
            .state
            .following
            .as_ref()
            .filter(|following| following.path == path);
        let (is_followed, followed) = (
            following.is_some(),
            following.and_then(|following| following.live.newest()),
        );
        let is_read = document.history.is_some();
        let has_failed = followed.is_some_and(|snapshot| snapshot.error.is_some());
        match change {
            Change::Grew
                if !is_followed && !self.is_following() && is_read && self.obstacle().is_none() =>
            {
                self.follow(path);
                let [show, read] = [Command::Follow, Command::Reload].map(Command::key_text);
                let text =
                    format!("Following this file. {show}: live view. {read}: read all of it again");
                self.state.tell(Tone::Note, text);
            }
            Change::Grew => {}
            Change::Rests { only_grew: true } if is_followed && !has_failed => {}
            Change::Rests { only_grew } if !document.is_busy() => {
                if is_followed && !only_grew {
                    self.stop_following();
                    self.state.following = None;
                }
                self.reload();
                self.state
                    .tell(Tone::Note, "The file has changed and is read again");
            }
            Change::Rests { .. } => {}
        }
    }

    /// The format of the open history, once it is read.
    fn format(&self) -> Option<&'static str> {
        let history = self.state.document.as_ref()?.history.as_ref()?;
        Some(history.origin().format)
    }

    /// Opens what was found at this place of the list, or the first that can be opened: its smallest part while the
    /// history grows on.
    pub(super) fn open_found(&mut self, place: Option<usize>) {
        let Some(snapshot) = self.state.live().and_then(Live::newest) else {
            return;
        };
        let found = match place {
            Some(place) => snapshot.found.get(place),
            None => snapshot.found.iter().find(|found| found.part.is_some()),
        };
        match found.and_then(|found| found.part.clone()) {
            Some(part) => self.open(part),
            None => self
                .state
                .tell(Tone::Note, "There is no anomaly yet that can be drawn"),
        }
    }

    /// Pauses the lanes that are shown of what grows, or goes on at the right edge.
    pub(super) fn hold_lanes(&mut self) {
        if !self.state.is_covered() {
            return;
        }
        self.state.live_mut().into_iter().for_each(Live::hold);
    }
}
