//! Small pieces of work that must all be done, in the given order: writing files.

use super::{Wake, panic_text};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

/// A piece of work, and the call that wakes the waiting side.
struct Piece<T> {
    work: Box<dyn FnOnce() -> T + Send>,
    wake: Wake,
}

type Answer<T> = Result<T, String>;

struct Thread<T> {
    sender: Sender<Piece<T>>,
    handle: JoinHandle<()>,
}

/// Work that is done one piece after another on a thread of its own. Unlike a [`Job`](super::Job) it is not cancelled:
/// dropping the queue waits until everything is done.
pub struct Queue<T> {
    name: &'static str,
    thread: Option<Thread<T>>,
    answers: (Sender<Answer<T>>, Receiver<Answer<T>>),
    n_open: usize,
}

impl<T: Send + 'static> Queue<T> {
    /// An empty queue; its thread, named `name` for debuggers, starts with the first piece.
    pub fn new(name: &'static str) -> Queue<T> {
        Queue {
            name,
            thread: None,
            answers: unbounded(),
            n_open: 0,
        }
    }

    /// Appends a piece; `wake` is called when it is done. Without a thread it is done right here, because it must not
    /// be lost.
    pub fn push(&mut self, wake: Wake, work: impl FnOnce() -> T + Send + 'static) {
        self.n_open += 1;
        if self.thread.is_none() {
            self.thread = self.start();
        }
        let piece = Piece {
            work: Box::new(work),
            wake,
        };
        let refused = match &self.thread {
            Some(thread) => thread.sender.send(piece).err().map(|refused| refused.0),
            None => Some(piece),
        };
        if let Some(piece) = refused {
            do_piece(piece, &self.answers.0);
        }
    }

    fn start(&self) -> Option<Thread<T>> {
        let (sender, receiver) = unbounded();
        let answers = self.answers.0.clone();
        let body = move || {
            receiver
                .into_iter()
                .for_each(|piece| do_piece(piece, &answers))
        };
        let handle = std::thread::Builder::new()
            .name(self.name.to_owned())
            .spawn(body)
            .ok()?;
        Some(Thread { sender, handle })
    }

    /// The results since the last call, in order; for a piece that panicked, what is known. Never blocks.
    pub fn poll(&mut self) -> Vec<Result<T, String>> {
        let done: Vec<Answer<T>> = self.answers.1.try_iter().collect();
        self.n_open -= done.len();
        done
    }

    /// Whether something was not done at the last [`poll`](Queue::poll).
    pub fn is_busy(&self) -> bool {
        self.n_open > 0
    }
}

impl<T> Queue<T> {
    /// Waits until everything is done.
    pub fn finish(&mut self) {
        if let Some(Thread { sender, handle }) = self.thread.take() {
            drop(sender);
            // Pieces that panic are answers like others, so the thread does not panic.
            let _ = handle.join();
        }
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        self.finish();
    }
}

fn do_piece<T>(piece: Piece<T>, answers: &Sender<Answer<T>>) {
    let done =
        catch_unwind(AssertUnwindSafe(piece.work)).map_err(|panic| panic_text(panic.as_ref()));
    if answers.send(done).is_ok() {
        (piece.wake)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    fn silent() -> Wake {
        Arc::new(|| ())
    }

    #[test]
    fn everything_is_done_in_order_before_the_queue_is_gone() {
        let done = Arc::new(Mutex::new(Vec::new()));
        let mut queue = Queue::new("test");
        for n in 0..20 {
            let done = Arc::clone(&done);
            queue.push(silent(), move || {
                std::thread::sleep(Duration::from_millis(2));
                done.lock().expect("no job panics").push(n);
            });
        }
        assert!(queue.is_busy());
        drop(queue);
        assert_eq!(
            *done.lock().expect("no job panics"),
            (0..20).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_panic_is_an_answer_and_the_rest_is_done() {
        let mut queue = Queue::new("test");
        queue.push(silent(), || panic!("on purpose"));
        queue.push(silent(), || 7);
        queue.finish();
        assert_eq!(queue.poll(), [Err("on purpose".to_owned()), Ok(7)]);
        assert!(!queue.is_busy());
        queue.push(silent(), || 8);
        queue.finish();
        assert_eq!(queue.poll(), [Ok(8)], "it can be used again");
    }
}
