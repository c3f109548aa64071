//! The one writer for standard output and standard error.
//!
//! Node makes pipes non-blocking, so a plain write fails with EAGAIN once a pipe is full. This
//! writer waits until the reader has made room, retries what a signal interrupted, and goes quiet
//! for good when the reader is gone: who pipes into `head` wants no error about it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Writes text to a descriptor or to memory. Clones share the target.
#[derive(Clone)]
pub struct Writer {
    sink: Arc<Mutex<Sink>>,
    terminal: bool,
}

struct Sink {
    target: Target,
    state: State,
}

enum Target {
    Descriptor(Box<dyn AsFd + Send>),
    Memory(Vec<u8>),
}

enum State {
    Open,
    /// The reader is gone. What follows is dropped.
    Closed,
    /// The target refused. What follows is dropped, and the command reports it.
    Failed(io::Error),
}

impl Writer {
    /// Writes to descriptor 1.
    pub fn stdout() -> Self {
        let terminal = io::IsTerminal::is_terminal(&io::stdout());
        Self::descriptor(io::stdout(), terminal)
    }

    /// Writes to descriptor 2.
    pub fn stderr() -> Self {
        let terminal = io::IsTerminal::is_terminal(&io::stderr());
        Self::descriptor(io::stderr(), terminal)
    }

    /// Writes to any descriptor, past every buffer that its owner may hold.
    pub fn descriptor(target: impl AsFd + Send + 'static, terminal: bool) -> Self {
        Self::new(Target::Descriptor(Box::new(target)), terminal)
    }

    /// Keeps what is written; [`Writer::contents`] gives it back.
    pub fn memory() -> Self {
        Self::new(Target::Memory(Vec::new()), false)
    }

    fn new(target: Target, terminal: bool) -> Self {
        Self { sink: Arc::new(Mutex::new(Sink { target, state: State::Open })), terminal }
    }

    /// Whether a person watches.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Writes all of `text`, waiting for a slow reader; blocks the calling thread meanwhile.
    pub fn write(&self, text: &str) {
        let mut sink = self.lock();
        if !matches!(sink.state, State::Open) {
            return;
        }
        let state = match &mut sink.target {
            Target::Memory(bytes) => {
                bytes.extend_from_slice(text.as_bytes());
                return;
            }
            Target::Descriptor(descriptor) => write_all(descriptor.as_fd(), text.as_bytes()),
        };
        sink.state = state;
    }

    /// What was written to memory; empty for a descriptor.
    pub fn contents(&self) -> String {
        match &self.lock().target {
            Target::Memory(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Target::Descriptor(_) => String::new(),
        }
    }

    /// Why writing stopped, unless it was because the reader went away.
    pub fn failure(&self) -> Option<String> {
        match &self.lock().state {
            State::Failed(error) => Some(error.to_string()),
            State::Open | State::Closed => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_all(descriptor: BorrowedFd<'_>, mut rest: &[u8]) -> State {
    while !rest.is_empty() {
        match rustix::io::write(descriptor, rest) {
            Ok(0) => return State::Failed(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                // Readiness, a hang-up and an error all end the wait; the next write tells which.
                let mut open = [PollFd::from_borrowed_fd(descriptor, PollFlags::OUT)];
                match poll(&mut open, None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return State::Failed(error.into()),
                }
            }
            Err(Errno::PIPE) => return State::Closed,
            Err(error) => return State::Failed(error.into()),
        }
    }
    State::Open
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::time::Duration;

    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

    use super::*;

    fn pipe() -> (io::PipeReader, Writer) {
        let (reader, writer) = io::pipe().expect("a pipe");
        let flags = fcntl_getfl(&writer).expect("flags");
        fcntl_setfl(&writer, flags | OFlags::NONBLOCK).expect("a non-blocking pipe");
        (reader, Writer::descriptor(writer, false))
    }

    #[test]
    fn a_full_non_blocking_pipe_is_waited_for() {
        let (mut reader, writer) = pipe();
        let line = format!("{}\n", "x".repeat(499));
        let slow = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            let mut all = String::new();
            reader.read_to_string(&mut all).expect("text");
            all
        });
        for _ in 0..400 {
            writer.write(&line);
        }
        assert_eq!(writer.failure(), None);
        drop(writer);
        assert!(slow.join().expect("the reader") == line.repeat(400), "all 200 000 bytes arrive");
    }

    #[test]
    fn one_write_larger_than_the_pipe_arrives_whole() {
        let (mut reader, writer) = pipe();
        let text = "é".repeat(150_000);
        let expected = text.clone();
        let writing = std::thread::spawn(move || writer.write(&text));
        let mut all = String::new();
        reader.read_to_string(&mut all).expect("text");
        writing.join().expect("the writer");
        assert!(all == expected);
    }

    #[test]
    fn a_reader_that_is_gone_is_no_failure() {
        let (reader, writer) = pipe();
        drop(reader);
        writer.write("nobody reads this\n");
        writer.write("nor this\n");
        assert_eq!(writer.failure(), None);
    }

    #[test]
    fn a_reader_that_leaves_during_the_wait_ends_it() {
        let (reader, writer) = pipe();
        let leaving = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(reader);
        });
        writer.write(&"x".repeat(300_000));
        leaving.join().expect("the reader");
        assert_eq!(writer.failure(), None);
    }

    #[test]
    fn a_full_disk_is_a_failure() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let writer = Writer::descriptor(full, false);
        writer.write("x");
        assert!(writer.failure().is_some());
    }

    #[test]
    fn memory_keeps_everything() {
        let writer = Writer::memory();
        writer.write("a");
        writer.clone().write("b");
        assert_eq!(writer.contents(), "ab");
    }
}
