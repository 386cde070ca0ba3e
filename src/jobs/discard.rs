//! Freeing memory off the frame: a history of millions of operations takes a second to free.

use crossbeam_channel::{Sender, unbounded};
use std::sync::OnceLock;

/// Drops `value` on a thread dedicated to that, or here if there is no such thread. For anything that may be large:
/// trees, relations, pictures, the last reference to any of these.
pub fn discard<T: Send + 'static>(value: T) {
    static DROPPER: OnceLock<Option<Sender<Box<dyn Send>>>> = OnceLock::new();
    let sender = DROPPER.get_or_init(|| {
        let (sender, receiver) = unbounded::<Box<dyn Send>>();
        let body = move || receiver.into_iter().for_each(drop);
        std::thread::Builder::new()
            .name("drop".to_owned())
            .spawn(body)
            .ok()
            .map(|_detached| sender)
    });
    if let Some(sender) = sender {
        // A refused value comes back inside the error, and is dropped with it.
        drop(sender.send(Box::new(value)));
    }
}

/// Puts `value` into `slot`; the previous value is dropped off the frame.
pub fn replace<T: Send + 'static>(slot: &mut T, value: T) {
    discard(std::mem::replace(slot, value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};
    use std::thread::{self, ThreadId};
    use std::time::Duration;

    struct DropRecorder(Sender<ThreadId>);

    impl Drop for DropRecorder {
        fn drop(&mut self) {
            let _ = self.0.send(thread::current().id());
        }
    }

    #[test]
    fn what_is_discarded_is_dropped_on_another_thread() {
        let (sender, receiver) = channel();
        let mut slot = Some(DropRecorder(sender.clone()));
        replace(&mut slot, Some(DropRecorder(sender)));
        let first = receiver
            .recv_timeout(Duration::from_secs(20))
            .expect("the old value is dropped");
        assert_ne!(first, thread::current().id());
        assert!(receiver.try_recv().is_err(), "the new value stays");
        discard(slot);
        assert_eq!(
            receiver.recv_timeout(Duration::from_secs(20)),
            Ok(first),
            "one thread for all"
        );
    }
}
