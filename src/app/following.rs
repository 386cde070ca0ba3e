//! Following a file that another program writes: it is read once, from its beginning, and on as it grows.

use super::App;
use super::live::{Listener, Live, Snapshot};
use super::tasks::{End, Failure, Task};
use super::vocabulary::Source;
use super::watch::Change;
use crate::follow::{Options, Stream};
use crate::history::Rules;
use crate::hunt;
use std::ops::ControlFlow;
use std::path::PathBuf;
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
        self.path
            .file_name()
            .map_or_else(|| self.path.display().to_string(), |name| name.to_string_lossy().into_owned())
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
            app.state.tell(true, format!("The file cannot be followed: {why}"));
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
    pub(super) fn show_following(&mut self) {
        let open = self.state.document.as_ref().and_then(|document| document.path()).map(std::path::Path::to_owned);
        let followed = self.state.following.as_ref().filter(|following| following.goes_on);
        let is_another = |path: &PathBuf| followed.is_none_or(|following| following.path != *path);
        match (self.state.show_following, open) {
            (true, _) => self.state.show_following = false,
            (false, Some(path)) if is_another(&path) => {
                self.follow(path);
                self.cover_with_following();
            }
            (false, _) if self.state.following.is_some() => self.cover_with_following(),
            (false, _) => self.state.tell(true, "Only a history that was opened from a file can be followed"),
        }
    }

    fn cover_with_following(&mut self) {
        self.state.uncover();
        self.state.show_following = true;
    }

    /// Begins to follow a file, in place of whatever was followed.
    fn follow(&mut self, path: PathBuf) {
        self.state.following = Some(Following { path: path.clone(), live: Live::default(), goes_on: true });
        self.start(&FOLLOW, move |control, outbox| {
            let mut listener = Listener::new(&path, &[]);
            let mut hear = |news: hunt::News<'_>| {
                listener.hear(news).into_iter().for_each(|snapshot| outbox.send(snapshot));
                if control.check().is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            hunt::follow(&path, Options::default(), &mut hear);
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
        let Some(document) = &self.state.document else { return };
        let Source::File(path) = document.source.clone() else { return };
        let is_followed = self.state.following.as_ref().is_some_and(|following| following.path == path);
        match change {
            Change::Grew if !is_followed && self.can_follow() => {
                self.follow(path);
                self.state.tell(
                    false,
                    "The file grows: it is followed, and not read again. Ctrl+T shows what is new, Ctrl+R reads all of it",
                );
            }
            Change::Grew => {}
            Change::Rests { only_grew: true } if is_followed => {}
            Change::Rests { .. } if !document.is_busy() => {
                if is_followed {
                    self.stop_following();
                    self.state.following = None;
                }
                self.reload();
                self.state.tell(false, "The file has changed and is read again");
            }
            Change::Rests { .. } => {}
        }
    }

    /// Whether the open history is one that can be followed as it was read.
    fn can_follow(&self) -> bool {
        let Some(document) = &self.state.document else { return false };
        let format = document.history.as_ref().map(|history| history.origin().format);
        document.rules == Rules::default() && format.is_some_and(|format| Stream::new("", Some(format)).is_ok())
    }

    /// Opens what was found at this place of the list, or the first that can be opened: its smallest part while the
    /// history grows on.
    pub(super) fn open_found(&mut self, place: Option<usize>) {
        let Some(snapshot) = self.state.live().and_then(Live::newest) else { return };
        let found = match place {
            Some(place) => snapshot.found.get(place),
            None => snapshot.found.iter().find(|found| found.part.is_some()),
        };
        match found.and_then(|found| found.part.clone()) {
            Some(part) => self.open(part),
            None => self.state.tell(true, "There is no anomaly yet that can be drawn"),
        }
    }

    /// Pauses the lanes of what grows, or goes on at the right edge.
    pub(super) fn hold_lanes(&mut self) {
        self.state.live_mut().into_iter().for_each(Live::hold);
    }
}
