//! Collecting histories: a workload is run on a database or a store model, recorded, and checked while it grows;
//! repeated with other seeds until a violation appears, or at every isolation level to compare them.

pub mod address;
pub mod form;
pub mod order;
pub mod servers;
pub mod table;
mod work;

use super::App;
use super::files::write_whole;
use super::paths;
use super::project::RestoreTarget;
use super::tasks::End;
use super::vocabulary::{Banner, Cover, Tone};
use crate::collect::FaultForm;
use form::{Field, Form, Trouble};
use order::Purpose;
use std::path::PathBuf;
use std::sync::Arc;
use table::{CollectRun, Stage};
pub(super) use work::COLLECT;
pub use work::Message;

/// The page: the form, and the state of the last run.
#[derive(Clone, Debug, Default)]
pub struct Collecting {
    /// What is filled in.
    pub form: Form,
    /// What is wrong with it, or with the run.
    pub error: Option<Trouble>,
    /// The last run.
    pub run: Option<CollectRun>,
}

impl Collecting {
    /// Sets the servers of the selected database.
    pub(super) fn set_servers(&mut self, servers: Vec<servers::Server>) {
        self.form.set_servers(servers);
        self.forget_error(Field::Address);
    }

    /// Sets what breaks while a workload runs on a database.
    pub(super) fn set_breaks(&mut self, breaks: Vec<FaultForm>) {
        self.form.set_breaks(breaks);
        self.forget_error(Field::Faults);
    }

    /// Takes back what was wrong with a field: it was changed.
    fn forget_error(&mut self, field: Field) {
        if self
            .error
            .as_ref()
            .is_some_and(|error| error.field == Some(field))
        {
            self.error = None;
        }
    }

    /// Whether a run is in progress.
    pub fn is_running(&self) -> bool {
        self.run.as_ref().is_some_and(CollectRun::is_running)
    }
}

/// Where histories go by default: next to the list of recent files.
pub(super) fn folder(recent: Option<&std::path::Path>) -> PathBuf {
    let beside = recent
        .and_then(std::path::Path::parent)
        .map(|folder| folder.join("histories"));
    beside.unwrap_or_else(|| std::env::temp_dir().join("isoscope-histories"))
}

impl App {
    pub(super) fn fill_in(&mut self, field: Field, word: String) {
        self.state.collect.form.set(field, word);
        self.state.collect.forget_error(field);
    }

    /// Starts a run as filled in, unless one is in progress.
    pub(super) fn start_collecting(&mut self, purpose: Purpose) {
        self.state.cover = Some(Cover::Collect);
        if self.tasks.has(&COLLECT) {
            let text = "A run goes on: cancel it first".to_owned();
            self.state.collect.error = Some(Trouble { field: None, text });
            return;
        }
        let collect = &mut self.state.collect;
        let order = match collect.form.order(purpose) {
            Ok(order) => order,
            Err(error) => {
                collect.error = Some(error);
                return;
            }
        };
        collect.form.hide_passwords();
        collect.error = None;
        collect.run = Some(CollectRun::new(purpose, order.table()));
        let pool = self.pool.clone();
        self.start(&COLLECT, move |control, outbox| {
            work::run(&order, &pool, control, outbox)
        });
    }

    /// Notes how the run ended, and shows what it found.
    fn end_run(&mut self, end: &End) {
        let collect = &mut self.state.collect;
        let Some(run) = &mut collect.run else { return };
        match end {
            End::Stopped => run.stage = Stage::Cancelled,
            End::Finished if run.stage == Stage::Failed => {}
            End::Finished => run.stage = Stage::Done,
            End::Failed(text) => {
                run.stage = Stage::Failed;
                let text = format!("The run ended unexpectedly: {text}");
                collect.error = Some(Trouble { field: None, text });
            }
        }
        if run.stage != Stage::Failed
            && collect
                .error
                .as_ref()
                .is_some_and(|error| error.field.is_none())
        {
            // That a run goes on is true no more.
            collect.error = None;
        }
        self.show_violation();
    }

    /// Opens the history of a finished run at its violation, if the page says so and is visible.
    fn show_violation(&mut self) {
        let collect = &self.state.collect;
        let Some(run) = &collect.run else { return };
        let wanted = run.stage == Stage::Done && run.purpose != Purpose::Compare;
        let Some(row) = run.best().filter(|row| wanted && row.is_violated()) else {
            return;
        };
        if self.state.cover == Some(Cover::Collect) && collect.form.is_on(Field::OpenViolated) {
            self.open_collected(None);
        } else if let Some(path) = &row.path {
            let text = format!("A violation was found: {}", path.display());
            self.state.tell(Tone::Done, text);
        }
    }

    /// Opens the history of a round, at its violation if it has one; without an index, the round that matters most,
    /// which may still be in progress.
    pub(super) fn open_collected(&mut self, place: Option<usize>) {
        let Some(run) = &self.state.collect.run else {
            return;
        };
        let row = match place {
            Some(place) => run.rows.get(place),
            None if run.is_running() => None,
            None => run.best(),
        };
        let at_work = run
            .round
            .as_ref()
            .filter(|_| place.is_none())
            .map(|(_, path)| path.clone());
        let Some(path) = row.and_then(|row| row.path.clone()).or(at_work) else {
            return;
        };
        let checked = row.and_then(|row| row.checked.as_ref());
        let identity = checked
            .and_then(|checked| checked.violation.as_ref())
            .map(|(identity, _)| identity.clone());
        let wish = Some(RestoreTarget {
            identity,
            quiet: true,
            ..RestoreTarget::default()
        });
        self.look(paths::Request {
            path,
            wish,
            ..paths::Request::default()
        });
    }

    /// Stops the run; what is recorded is kept. Returns whether there was one.
    pub(super) fn cancel_collecting(&mut self) -> bool {
        self.tasks.stop(&COLLECT)
    }

    /// Writes the table of rounds next to their histories.
    pub(super) fn write_rounds(&mut self) {
        let Some(run) = self
            .state
            .collect
            .run
            .as_ref()
            .filter(|run| !run.rows.is_empty())
        else {
            self.state
                .tell(Tone::Note, "There is no table yet: no round is over");
            return;
        };
        let (path, text) = (run.table.clone(), run.csv());
        self.files.push(Arc::clone(&self.wake), move || {
            let path = order::free(&path);
            Some(match write_whole(&path, text.as_bytes()) {
                Ok(()) => Banner::written(&path),
                Err(error) => Banner {
                    text: error,
                    tone: Tone::Problem,
                },
            })
        });
    }
}
