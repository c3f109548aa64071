//! The one writer for standard output and standard error.
//!
//! Node makes pipes non-blocking, so a plain write fails with EAGAIN once a pipe is full. This
//! writer waits until the reader has made room, retries what a signal interrupted, and goes quiet
//! for good when the reader is gone: who pipes into `head` wants no error about it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::paint;

/// To the first column, and the line is empty.
const ERASE: &str = "\r\u{1b}[2K";

/// Writes text to a descriptor or to memory. Clones share the target.
#[derive(Clone)]
pub struct Writer {
    sink: Arc<Mutex<Sink>>,
    terminal: bool,
    colour: bool,
}

struct Sink {
    target: Target,
    state: State,
    /// Whether the last line of a terminal is ours to take away.
    drawn: bool,
    /// Whether the next drawing is left out.
    gives_way: GivesWay,
}

/// Who prints beside a drawn line.
#[derive(PartialEq)]
enum GivesWay {
    /// Nobody.
    No,
    /// Somebody, a moment ago.
    Once,
    /// Somebody who has not ended the line yet.
    UntilLineEnds,
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
    /// Writes to any descriptor, past every buffer that its owner may hold.
    pub fn descriptor(target: impl AsFd + Send + 'static, terminal: bool) -> Self {
        Self::new(Target::Descriptor(Box::new(target)), terminal)
    }

    /// Keeps what is written; [`Writer::contents`] gives it back.
    pub fn memory() -> Self {
        Self::new(Target::Memory(Vec::new()), false)
    }

    fn new(target: Target, terminal: bool) -> Self {
        let sink = Arc::new(Mutex::new(Sink {
            target,
            state: State::Open,
            drawn: false,
            gives_way: GivesWay::No,
        }));
        Self { sink, terminal, colour: false }
    }

    /// Whether a person watches.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// The same target, with colours in what is shown there or without.
    #[must_use]
    pub fn with_colour(&self, colour: bool) -> Self {
        Self { colour, ..self.clone() }
    }

    /// Writes text that was composed with colours, and leaves them out where none are wanted.
    pub fn show(&self, text: &str) {
        if self.colour { self.write(text) } else { self.write(&paint::plain(text)) }
    }

    /// Writes all of `text`, waiting for a slow reader; blocks the calling thread meanwhile.
    pub fn write(&self, text: &str) {
        let mut sink = self.lock();
        sink.erase();
        sink.write(text);
    }

    /// Shows a line at the bottom of a terminal, in place of the one drawn before; an empty one only
    /// takes that away. The line must be narrower than the terminal.
    ///
    /// A terminal that takes nothing now is left alone: no work waits for this.
    pub fn draw(&self, line: &str) {
        let mut sink = self.lock();
        if !sink.is_ready() {
            return;
        }
        sink.erase();
        if line.is_empty() || sink.gives_way != GivesWay::No {
            if sink.gives_way == GivesWay::Once {
                sink.gives_way = GivesWay::No;
            }
            return;
        }
        let line = if self.colour { paint::faint(line) } else { line.to_owned() };
        sink.write(&line);
        sink.drawn = true;
    }

    /// Takes the drawn line away because somebody else prints on this terminal, and draws none until
    /// that is done: for a moment, or until a line that was begun has ended.
    pub fn give_way(&self, ends_line: bool) {
        let mut sink = self.lock();
        sink.erase();
        sink.gives_way = if ends_line { GivesWay::Once } else { GivesWay::UntilLineEnds };
    }

    /// How many columns the terminal has; 80 where nobody knows.
    pub fn columns(&self) -> usize {
        let size = match &self.lock().target {
            Target::Memory(_) => None,
            Target::Descriptor(descriptor) => {
                rustix::termios::tcgetwinsize(descriptor.as_fd()).ok()
            }
        };
        size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(80)
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

    /// Whether whatever is written now is dropped: the reader is gone, or the target refused.
    pub fn is_over(&self) -> bool {
        let mut sink = self.lock();
        if let (State::Open, Target::Descriptor(descriptor)) = (&sink.state, &sink.target) {
            // Errors and hang-ups are told without being asked for.
            let mut open = [PollFd::new(descriptor, PollFlags::empty())];
            let gone = PollFlags::ERR | PollFlags::HUP;
            let told = poll(&mut open, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
            if told.is_ok() && open.iter().any(|open| open.revents().intersects(gone)) {
                sink.state = State::Closed;
            }
        }
        !matches!(sink.state, State::Open)
    }

    fn lock(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink {
    fn write(&mut self, text: &str) {
        if !matches!(self.state, State::Open) {
            return;
        }
        self.state = match &mut self.target {
            Target::Memory(bytes) => {
                bytes.extend_from_slice(text.as_bytes());
                State::Open
            }
            Target::Descriptor(descriptor) => write_all(descriptor.as_fd(), text.as_bytes()),
        };
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.write(ERASE);
        }
    }

    /// Whether the target takes text without a wait.
    fn is_ready(&self) -> bool {
        match &self.target {
            Target::Memory(_) => true,
            Target::Descriptor(descriptor) => {
                let mut open = [PollFd::from_borrowed_fd(descriptor.as_fd(), PollFlags::OUT)];
                let now = Timespec { tv_sec: 0, tv_nsec: 0 };
                poll(&mut open, Some(&now)).is_ok_and(|ready| ready > 0)
            }
        }
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
        assert!(!writer.is_over());
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
        // A process that another test is just starting still has the other end for a moment.
        while !writer.is_over() {
            std::thread::sleep(Duration::from_millis(1));
        }
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
    fn a_drawn_line_goes_before_anything_else_is_written() {
        let writer = Writer::memory();
        writer.draw("one");
        writer.draw("two");
        writer.write("text\n");
        writer.draw("three");
        writer.draw("");
        writer.draw("");
        let expected = format!("one{ERASE}two{ERASE}text\nthree{ERASE}");
        assert_eq!(writer.contents(), expected);
    }

    #[test]
    fn nothing_is_drawn_into_the_print_of_another() {
        let writer = Writer::memory();
        writer.draw("one");
        writer.give_way(false);
        writer.draw("two");
        writer.draw("three");
        writer.give_way(true);
        writer.draw("four");
        writer.draw("five");
        assert_eq!(writer.contents(), format!("one{ERASE}five"));
    }

    #[test]
    fn a_drawing_waits_for_nobody() {
        let (mut reader, writer) = pipe();
        if let Target::Descriptor(descriptor) = &writer.lock().target {
            while rustix::io::write(descriptor.as_fd(), &[b'x'; 4096]).is_ok() {}
        }
        writer.draw("one");
        let mut read = vec![0; 4 * 1024 * 1024];
        let count = reader.read(&mut read).expect("bytes");
        assert!(read[..count].iter().all(|byte| *byte == b'x'), "nothing was drawn");
    }

    #[test]
    fn memory_keeps_everything() {
        let writer = Writer::memory();
        writer.write("a");
        writer.clone().write("b");
        assert_eq!(writer.contents(), "ab");
        assert!(!writer.is_over());
    }
}
