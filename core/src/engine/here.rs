//! Work on the thread of a host, which has other things to do: what waits for the disk goes elsewhere.

use std::cell::Cell;
use std::future::poll_fn;
use std::task::Poll;

/// Which thread drives the engine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thread {
    /// One of the engine's own.
    Own,
    /// That of the host.
    Host,
    /// That of the host, and what is driven wants to be driven elsewhere.
    Left,
}

thread_local! {
    static THREAD: Cell<Thread> = const { Cell::new(Thread::Own) };
}

/// Drives an operation on the thread of a host, as far as it goes without waiting for long. `true` says
/// that it must be driven elsewhere from here on.
pub fn on_host_thread<T>(drive: impl FnOnce() -> T) -> (T, bool) {
    struct Back(Thread);
    impl Drop for Back {
        fn drop(&mut self) {
            THREAD.set(self.0);
        }
    }
    let _back = Back(THREAD.replace(Thread::Host));
    let driven = drive();
    (driven, THREAD.get() == Thread::Left)
}

/// Leaves the thread of the host, for good: what follows may take as long as it likes.
pub(super) async fn leave_host_thread() {
    poll_fn(|context| {
        if THREAD.get() == Thread::Own {
            return Poll::Ready(());
        }
        THREAD.set(Thread::Left);
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn what_leaves_goes_on_where_it_is_driven_next() {
        let mut leaving = pin!(leave_host_thread());
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..2 {
            let (polled, left) = on_host_thread(|| leaving.as_mut().poll(&mut context));
            assert!(polled.is_pending() && left);
        }
        assert!(leaving.as_mut().poll(&mut context).is_ready());
        let (inner, outer) = on_host_thread(|| on_host_thread(|| ()));
        assert!(!inner.1 && !outer, "nothing left");
    }
}
