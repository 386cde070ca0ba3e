//! Starting, watching and ending work off the frame.
//!
//! A [`Job`] owns a thread, a [`Control`] and the receiving end of a channel. The work sends messages as it goes
//! (partial results) and its last message when it is done; the frame drains them with [`Job::poll`]. Dropping a job
//! tells the work to stop and discards whatever it still sends, so a result can never arrive for an outdated question;
//! [`Revision`] numbers say which question a job answers when several follow each other. A panic in the work becomes a
//! [`JobState::Failed`] and does not end the program. Knows nothing about histories: it runs any closure for any message
//! type.

mod discard;
mod queue;

pub use discard::{discard, replace};
pub use queue::Queue;

use crate::control::Control;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Called from the working thread whenever there is something new. Must be cheap.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Stack of a working thread, bytes. Some layouts recurse as deep as the graph is long.
const STACK_BYTES: usize = 64 << 20;

/// Number of a question: a job with an older number than the newest answers an outdated question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u64);

impl Revision {
    /// Moves on to the next number and returns it.
    pub fn advance(&mut self) -> Revision {
        self.0 += 1;
        *self
    }
}

/// The state of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// The work is in progress.
    Running,
    /// The work returned.
    Finished,
    /// The work could not be started or panicked; the text says what is known.
    Failed(String),
}

enum Event<T> {
    Message(T),
    Finished,
    Panicked(String),
}

/// Hands messages from the work to the poller of the job.
pub struct Outbox<T> {
    sender: Sender<Event<T>>,
    wake: Wake,
}

impl<T> Outbox<T> {
    /// Sends a message and wakes the receiving side. A message to a dropped job is lost, as it should be.
    pub fn send(&self, message: T) {
        if self.sender.send(Event::Message(message)).is_ok() {
            (self.wake)();
        }
    }
}

/// A piece of work on a thread of its own. Dropping it cancels it.
pub struct Job<T: Send + 'static> {
    control: Control,
    receiver: Receiver<Event<T>>,
    revision: Revision,
    started: Instant,
    ended: Option<Instant>,
    state: JobState,
}

impl<T: Send + 'static> Job<T> {
    /// Starts `work` under `name` (for debuggers). It gets the control it must check and the outbox.
    pub fn start(
        name: &str,
        revision: Revision,
        wake: Wake,
        work: impl FnOnce(&Control, &Outbox<T>) + Send + 'static,
    ) -> Job<T> {
        let control = Control::new().within_free_memory();
        let (sender, receiver) = unbounded();
        let its_control = control.clone();
        let body = move || {
            let outbox = Outbox { sender, wake };
            let result = catch_unwind(AssertUnwindSafe(|| work(&its_control, &outbox)));
            let last = match result {
                Ok(()) => Event::Finished,
                Err(panic) => Event::Panicked(panic_text(panic.as_ref())),
            };
            if outbox.sender.send(last).is_ok() {
                (outbox.wake)();
            }
        };
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .stack_size(STACK_BYTES)
            .spawn(body);
        let state = match thread {
            Ok(_detached) => JobState::Running,
            Err(error) => JobState::Failed(format!("no thread could be started: {error}")),
        };
        Job {
            control,
            receiver,
            revision,
            started: Instant::now(),
            ended: None,
            state,
        }
    }

    /// The messages that came since the last call, oldest first. Never blocks.
    pub fn poll(&mut self) -> Vec<T> {
        let mut messages = Vec::new();
        while let Ok(event) = self.receiver.try_recv() {
            match event {
                Event::Message(message) => messages.push(message),
                Event::Finished => self.end(JobState::Finished),
                Event::Panicked(text) => self.end(JobState::Failed(text)),
            }
        }
        messages
    }

    fn end(&mut self, state: JobState) {
        self.state = state;
        self.ended = Some(Instant::now());
    }
}

impl<T: Send + 'static> Job<T> {
    /// Tells the work to end soon; it still sends what it has and its end.
    pub fn cancel(&self) {
        self.control.stop();
    }

    /// Whether [`Job::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.control.is_stopped()
    }

    /// Whether the work had not ended at the last [`Job::poll`].
    pub fn is_running(&self) -> bool {
        self.state == JobState::Running
    }

    /// Its state, as of the last [`Job::poll`].
    pub fn state(&self) -> &JobState {
        &self.state
    }

    /// Stops the work and tells how far it is, also from elsewhere.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The question it answers.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Wall time since the start, up to the end if it has ended.
    pub fn elapsed(&self) -> Duration {
        self.ended.unwrap_or_else(Instant::now) - self.started
    }
}

impl<T: Send + 'static> Drop for Job<T> {
    fn drop(&mut self) {
        self.control.stop();
        // Messages that were not polled may be large.
        discard(self.receiver.clone());
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown cause".to_owned())
}

/// The threads for parallel work of all jobs: one fewer than there are cores, so that a frame is never late.
#[derive(Clone)]
pub struct Pool(Option<Arc<rayon::ThreadPool>>);

impl Default for Pool {
    fn default() -> Pool {
        Pool::new()
    }
}

impl Pool {
    /// A pool of `cores − 1` threads, at least one.
    pub fn new() -> Pool {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let builder = rayon::ThreadPoolBuilder::new()
            .num_threads(cores.saturating_sub(1).max(1))
            .stack_size(STACK_BYTES);
        Pool(
            builder
                .thread_name(|i| format!("worker {i}"))
                .build()
                .ok()
                .map(Arc::new),
        )
    }

    /// Runs `work` with this pool as the current one, and waits for it. Without threads, runs it right here.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn silent() -> Wake {
        Arc::new(|| ())
    }

    fn wait<T: Send + 'static>(job: &mut Job<T>) -> Vec<T> {
        let mut messages = Vec::new();
        let start = Instant::now();
        while job.is_running() && start.elapsed() < Duration::from_secs(20) {
            messages.extend(job.poll());
            std::thread::sleep(Duration::from_millis(1));
        }
        messages
    }

    #[test]
    fn messages_arrive_in_order_and_wake_the_receiver() {
        let wakes = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&wakes);
        let wake: Wake = Arc::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
        });
        let mut job = Job::start("test", Revision::default(), wake, |control, outbox| {
            control.phase("counting", 3);
            (0..3).for_each(|n| outbox.send(n));
        });
        assert_eq!(wait(&mut job), [0, 1, 2]);
        assert_eq!(job.state(), &JobState::Finished);
        assert_eq!(
            wakes.load(Ordering::SeqCst),
            4,
            "one per message and one for the end"
        );
        assert_eq!(job.control().progress().phase, "counting");
    }

    #[test]
    fn a_panic_is_a_failed_job() {
        let mut job = Job::<()>::start("test", Revision::default(), silent(), |_, _| {
            panic!("on purpose")
        });
        wait(&mut job);
        assert_eq!(job.state(), &JobState::Failed("on purpose".to_owned()));
    }

    #[test]
    fn dropping_a_job_stops_its_work() {
        let (sender, receiver) = unbounded();
        let job = Job::<()>::start("test", Revision::default(), silent(), move |control, _| {
            while control.check().is_ok() {
                std::thread::yield_now();
            }
            let _ = sender.send(());
        });
        drop(job);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok(()));
    }

    #[test]
    fn a_newer_revision_is_greater() {
        let mut newest = Revision::default();
        let first = newest.advance();
        assert!(newest.advance() > first);
    }

    #[test]
    fn the_pool_runs_work() {
        assert_eq!(Pool::new().install(|| 6 * 7), 42);
    }
}
