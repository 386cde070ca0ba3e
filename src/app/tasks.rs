//! Questions that are answered off the frame.
//!
//! Each kind is a [`Task`], written next to what it finds out: it says where answers go and how a failure is reported.
//! The window keeps the questions that are open in [`Tasks`] and treats all of them alike, so that a new kind touches no
//! file but those that define and ask it.

use super::App;
use super::page::Page;
use super::vocabulary::Tone;
use crate::control::{Control, Progress};
use crate::jobs::{Job, JobState, Outbox, Revision};
use std::sync::Arc;

/// Where a failure is reported.
pub(super) enum Failure {
    /// In a message that begins with this.
    Message(&'static str),
    /// On the page that lacks the answer.
    Page(Page),
    /// Nowhere, unless [`Task::end`] does it.
    Silent,
}

/// How the work on a question ended.
pub(super) enum End {
    /// By itself.
    Finished,
    /// Early, because it was asked to stop.
    Stopped,
    /// Unexpectedly, with what is known of the cause.
    Failed(String),
}

/// A kind of question whose answer consists of messages `M`, for most kinds a single one.
pub(super) struct Task<M> {
    /// Tells kinds apart, also for debuggers.
    pub(super) name: &'static str,
    pub(super) failure: Failure,
    /// Takes in a message.
    pub(super) receive: fn(&mut App, M),
    /// Called after the last message, before a failure is reported.
    pub(super) end: fn(&mut App, &End),
    /// Whether it is about the open history: closing that drops the question.
    pub(super) is_of_history: bool,
    /// Whether it replaces an earlier question of its kind that is still open.
    pub(super) replaces: bool,
    /// Whether frames are drawn while it is open, because something on the screen shows its progress.
    pub(super) shows_progress: bool,
}

impl<M> Task<M> {
    /// A kind of question about the open history of which only the last matters.
    pub(super) const fn new(
        name: &'static str,
        failure: Failure,
        receive: fn(&mut App, M),
    ) -> Task<M> {
        let end = |_: &mut App, _: &End| ();
        Task {
            name,
            failure,
            receive,
            end,
            is_of_history: true,
            replaces: true,
            shows_progress: true,
        }
    }
}

/// What came of a question since the last frame, to be handed to the window.
type Delivery = Box<dyn FnOnce(&mut App)>;

/// What came of a job since the last time, if anything.
fn poll<M: Send + 'static>(task: &'static Task<M>, job: &mut Job<M>) -> Option<Delivery> {
    let messages = job.poll();
    let end = match job.state() {
        JobState::Running => None,
        JobState::Finished if job.is_cancelled() => Some(End::Stopped),
        JobState::Finished => Some(End::Finished),
        JobState::Failed(cause) => Some(End::Failed(cause.clone())),
    };
    if messages.is_empty() && end.is_none() {
        return None;
    }
    let number = job.revision();
    Some(Box::new(move |app: &mut App| {
        deliver(app, task, number, messages, end)
    }))
}

/// Hands messages to the window, as long as they do not lead it to drop the question.
fn deliver<M>(app: &mut App, task: &Task<M>, number: Revision, messages: Vec<M>, end: Option<End>) {
    let place = |app: &App| app.tasks.open.iter().position(|open| open.number == number);
    for message in messages {
        if place(app).is_some() {
            (task.receive)(app, message);
        }
    }
    let Some((end, at)) = end.zip(place(app)) else {
        return;
    };
    app.tasks.open.remove(at);
    (task.end)(app, &end);
    match (end, &task.failure) {
        (End::Failed(cause), Failure::Message(what)) => {
            app.state.tell(Tone::Problem, format!("{what}: {cause}"))
        }
        (End::Failed(cause), Failure::Page(page)) => app.fail(*page, cause),
        _ => {}
    }
}

/// A question that is being answered.
struct Open {
    name: &'static str,
    number: Revision,
    is_of_history: bool,
    shows_progress: bool,
    control: Control,
    /// Owns the job, whatever it sends: dropping this cancels it.
    poll: Box<dyn FnMut() -> Option<Delivery>>,
}

/// The questions that are being answered, oldest first.
#[derive(Default)]
pub(super) struct Tasks {
    newest: Revision,
    open: Vec<Open>,
}

impl Tasks {
    fn of<M>(&self, task: &Task<M>) -> Option<&Open> {
        self.open.iter().find(|open| open.name == task.name)
    }

    /// Whether a question of this kind is open.
    pub(super) fn has<M>(&self, task: &Task<M>) -> bool {
        self.of(task).is_some()
    }

    /// Drops the questions of this kind; nothing more is heard of them. Returns whether there were any.
    pub(super) fn cancel<M>(&mut self, task: &Task<M>) -> bool {
        let n = self.open.len();
        self.open.retain(|open| open.name != task.name);
        self.open.len() < n
    }

    /// Tells the work on a question to end soon, with what it has by then. Returns whether there is one.
    pub(super) fn stop<M>(&self, task: &Task<M>) -> bool {
        self.of(task).map(|open| open.control.stop()).is_some()
    }

    /// Whether the question of this kind was passed to [`stop`](Self::stop).
    pub(super) fn is_stopped<M>(&self, task: &Task<M>) -> bool {
        self.of(task).is_some_and(|open| open.control.is_stopped())
    }

    /// How far the work on a question is.
    pub(super) fn progress<M>(&self, task: &Task<M>) -> Option<Progress> {
        self.of(task).map(|open| open.control.progress())
    }

    /// Drops all questions about the open history.
    pub(super) fn close_history(&mut self) {
        self.open.retain(|open| !open.is_of_history);
    }

    /// Whether the progress of any question is shown.
    pub(super) fn shows_progress(&self) -> bool {
        self.open.iter().any(|open| open.shows_progress)
    }
}

impl App {
    /// Asks a question that has one answer, or none if it was stopped or has nothing to say.
    pub(super) fn ask<M: Send + 'static>(
        &mut self,
        task: &'static Task<M>,
        answer: impl FnOnce(&Control) -> Option<M> + Send + 'static,
    ) {
        self.start(task, move |control, outbox| {
            answer(control)
                .into_iter()
                .for_each(|answer| outbox.send(answer))
        });
    }

    /// Starts work that sends messages as it goes on.
    pub(super) fn start<M: Send + 'static>(
        &mut self,
        task: &'static Task<M>,
        work: impl FnOnce(&Control, &Outbox<M>) + Send + 'static,
    ) {
        if task.replaces {
            self.tasks.cancel(task);
        }
        let number = self.tasks.newest.advance();
        let mut job = Job::start(task.name, number, Arc::clone(&self.wake), work);
        let Task {
            name,
            is_of_history,
            shows_progress,
            ..
        } = *task;
        let control = job.control().clone();
        let poll = Box::new(move || poll(task, &mut job));
        self.tasks.open.push(Open {
            name,
            number,
            is_of_history,
            shows_progress,
            control,
            poll,
        });
    }

    /// Takes in what has come of all questions.
    pub(super) fn poll_tasks(&mut self) {
        self.poll_those(|_| true);
    }

    /// Takes in what has come of the questions of this kind.
    pub(super) fn poll_only<M>(&mut self, task: &Task<M>) {
        self.poll_those(|open| open.name == task.name);
    }

    fn poll_those(&mut self, are_polled: impl Fn(&Open) -> bool) {
        let polled = self.tasks.open.iter().filter(|open| are_polled(open));
        let numbers: Vec<Revision> = polled.map(|open| open.number).collect();
        for number in numbers {
            let open = self
                .tasks
                .open
                .iter_mut()
                .find(|open| open.number == number);
            if let Some(delivery) = open.and_then(|open| (open.poll)()) {
                delivery(self);
            }
        }
    }
}
