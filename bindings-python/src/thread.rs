//! What a thread of this process is doing, as far as the system tells.

use std::fs::{read_link, read_to_string};
use std::path::Path;
use std::sync::Arc;

/// A thread that can be looked at.
#[derive(Clone)]
pub(crate) struct Thread(Arc<Path>);

thread_local! {
    static THIS: Option<Thread> = Thread::look();
}

impl Thread {
    /// The thread that asks; `None` where the system does not show it.
    pub(crate) fn this() -> Option<Self> {
        THIS.with(Clone::clone)
    }

    fn look() -> Option<Self> {
        let place = Path::new("/proc").join(read_link("/proc/thread-self").ok()?);
        Some(Self(place.join("stat").into()))
    }

    /// Whether it computes or would if there were a processor for it. It waits for something else
    /// otherwise, or it cannot be known.
    pub(crate) fn computes(&self) -> bool {
        let text = read_to_string(&self.0).unwrap_or_default();
        // After the program's name in parentheses, which may have any signs in it.
        text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
    }
}
