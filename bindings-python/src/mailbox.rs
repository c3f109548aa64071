//! Messages from the engine's threads to threads that Python made.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A queue that can be waited at and closed.
pub(crate) struct Mailbox<T> {
    inner: Mutex<Inner<T>>,
    changed: Condvar,
}

struct Inner<T> {
    messages: VecDeque<T>,
    closed: bool,
}

/// What waiting came to.
pub(crate) enum Taken<T> {
    /// The oldest message.
    Message(T),
    /// Nothing came in time.
    Nothing,
    /// Nothing will come any more.
    Closed,
}

impl<T> Mailbox<T> {
    /// An open and empty mailbox.
    pub(crate) fn new() -> Self {
        let inner = Inner { messages: VecDeque::new(), closed: false };
        Self { inner: Mutex::new(inner), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message; one for a closed mailbox is dropped.
    pub(crate) fn put(&self, message: T) {
        let mut inner = self.lock();
        if !inner.closed {
            inner.messages.push_back(message);
            self.changed.notify_one();
        }
    }

    /// Waits for a message, at most for this long.
    pub(crate) fn take(&self, patience: Duration) -> Taken<T> {
        let waited = self.changed.wait_timeout_while(self.lock(), patience, |inner| {
            inner.messages.is_empty() && !inner.closed
        });
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match inner.messages.pop_front() {
            Some(message) => Taken::Message(message),
            None if inner.closed => Taken::Closed,
            None => Taken::Nothing,
        }
    }

    /// Ends it: who waits is woken, what is in it can still be taken.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}
