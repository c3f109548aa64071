//! One process of a worker: how it is started, heard, told, ended and taken away.
//!
//! It leads a process group of its own, which is killed before the process is reaped: until then its
//! number cannot belong to anything else. Three threads serve it: one writes, one waits for its end,
//! one hears it and does what is due. None of them uses a runtime, so that neither a test's clock nor
//! a host's signal handling meets the process.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid,
};

/// How much is still read once the process is gone, in bytes: more than a pipe holds. A process that
/// left the group may still write.
const REST_LIMIT: usize = 2 * 1024 * 1024;

/// How long is waited for the last of a killed group to be gone. Who reaps them is not ours.
const GROUP_LIMIT: Duration = Duration::from_millis(250);

/// What is to be done about a process now, and when to look again.
#[derive(Default)]
pub(super) struct Due {
    /// Whether its input ends.
    pub end_input: bool,
    /// Whether it is killed.
    pub kill: bool,
    /// When to look again, if nothing comes.
    pub next: Option<Instant>,
}

/// Hears a process. Called on one thread.
pub(super) trait Hears: Send + Sync + 'static {
    /// Takes a line.
    fn hear(&self, line: Result<&str, &'static str>);

    /// Nothing more can come from it, though it may not have ended yet.
    fn closed(&self);

    /// Says what is due.
    fn due(&self, now: Instant) -> Due;

    /// The process is gone, and so is its group; `how` says how it ended. Nothing comes after that.
    fn gone(&self, how: &Ended);
}

/// How a process ended.
pub(super) enum Ended {
    /// By itself.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Somebody else has reaped it.
    Unknown,
}

impl Ended {
    /// Whether it is known that nobody has killed it.
    pub(super) fn is_its_own(&self) -> bool {
        match self {
            Self::Code(_) => true,
            Self::Signal(number) => *number != Signal::KILL.as_raw(),
            Self::Unknown => false,
        }
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(out, "exit code {code}"),
            Self::Signal(number) => match signal_name(*number) {
                Some(name) => write!(out, "signal {name}"),
                None => write!(out, "signal {number}"),
            },
            Self::Unknown => out.write_str("how is not known"),
        }
    }
}

fn signal_name(number: i32) -> Option<&'static str> {
    let signal = Signal::from_named_raw(number)?;
    [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::SYS, "SIGSYS"),
    ]
    .into_iter()
    .find_map(|(known, name)| (known == signal).then_some(name))
}

/// A process that was started.
pub(super) struct Process {
    /// The process that started it: one forked from that has no business with it.
    owner: u32,
    /// `None` once it is reaped.
    group: Mutex<Option<Pid>>,
    /// `None` once its input is to end.
    lines: Mutex<Option<Sender<String>>>,
    input: UnixStream,
    wake: Wake,
}

/// What the threads of a process work on.
pub(super) struct Streams {
    child: Child,
    output: ChildStdout,
    input: UnixStream,
    lines: Receiver<String>,
    woken: PipeReader,
}

/// Interrupts the thread that hears.
struct Wake {
    writer: PipeWriter,
    /// Whether a byte is on its way.
    sent: AtomicBool,
}

impl Wake {
    fn wake(&self) {
        if !self.sent.swap(true, Ordering::SeqCst) {
            // The thread that hears holds the other end for as long as it lives.
            let _nobody_hears = (&self.writer).write_all(b"w");
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Process {
    /// Starts a process that leads a group of its own, its standard error being ours.
    pub(super) fn spawn(command: &mut Command) -> io::Result<(Arc<Self>, Streams)> {
        let (woken, writer) = io::pipe()?;
        // A socket, because writing to a pipe that nobody reads any more may end our own process.
        let (input, theirs) = UnixStream::pair()?;
        let mut child = command
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(standard_error())
            .spawn()?;
        let (Some(output), Ok(own)) = (child.stdout.take(), input.try_clone()) else {
            let (_killed, _reaped) = (child.kill(), child.wait());
            return Err(io::ErrorKind::Other.into());
        };
        let (sender, lines) = channel();
        let process = Self {
            owner: std::process::id(),
            group: Mutex::new(Some(Pid::from_child(&child))),
            lines: Mutex::new(Some(sender)),
            input: own,
            wake: Wake { writer, sent: AtomicBool::new(false) },
        };
        Ok((Arc::new(process), Streams { child, output, input, lines, woken }))
    }

    /// Writes a line, later; one that cannot be written any more is dropped.
    pub(super) fn say(&self, line: String) {
        if let Some(lines) = &*locked(&self.lines) {
            let _gone = lines.send(line);
        }
    }

    /// Has [`Hears::due`] asked again.
    pub(super) fn wake(&self) {
        self.wake.wake();
    }

    /// Kills the process and its group, unless it has ended.
    pub(super) fn kill(&self) {
        let group = locked(&self.group);
        if let Some(group) = *group
            && std::process::id() == self.owner
        {
            // It may have ended by itself just now.
            let _ended = kill_process_group(group, Signal::KILL);
        }
    }

    /// Kills and reaps a process that no thread waits for.
    fn abandon(&self) {
        self.kill();
        if let Some(group) = locked(&self.group).take() {
            let _reaped = waitid(WaitId::Pid(group), WaitIdOptions::EXITED);
        }
    }

    fn is_reaped(&self) -> bool {
        locked(&self.group).is_none()
    }

    /// Waits for the end, kills what is left of the group, and only then lets go of the number.
    fn wait(&self, child: &mut Child) -> Ended {
        let group = Pid::from_child(child);
        let exit = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(group), exit), Err(Errno::INTR)) {}
        let status = {
            let mut own = locked(&self.group);
            let _nothing_left = kill_process_group(group, Signal::KILL);
            let status = child.wait();
            *own = None;
            status
        };
        let since = Instant::now();
        while since.elapsed() < GROUP_LIMIT && test_kill_process_group(group).is_ok() {
            thread::sleep(Duration::from_millis(2));
        }
        status.map_or(Ended::Unknown, ended)
    }
}

/// Ours, by a copy: a host may have said of its own that no program inherits it, as Node.js does.
fn standard_error() -> Stdio {
    let copy = io::stderr().as_fd().try_clone_to_owned();
    copy.map_or_else(|_closed| Stdio::null(), Stdio::from)
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, Some(signal)) => Ended::Signal(signal),
        (None, None) => Ended::Unknown,
    }
}

impl Streams {
    /// Starts the threads. No line is heard that is longer than `limit`, in bytes. Where one cannot be started the process is killed, and reaped.
    pub(super) fn attend(
        self,
        process: &Arc<Process>,
        hearer: Arc<dyn Hears>,
        limit: usize,
    ) -> io::Result<()> {
        let Self { mut child, output, input, lines, woken } = self;
        let named = |name: &str| thread::Builder::new().name(name.into());
        let own = process.clone();
        let waiter = named("warpline-waits").spawn(move || {
            let ended = own.wait(&mut child);
            own.wake();
            ended
        });
        let waiter = waiter.inspect_err(|_| process.abandon())?;
        let writer = named("warpline-tells").spawn(move || write_all(input, lines));
        let writer = writer.inspect_err(|_| process.kill())?;
        let (own, line) = (process.clone(), Vec::new());
        let ears = Ears { process: own, hearer, woken, line, limit };
        let hearing = move || ears.listen(output, waiter, writer);
        let hearing = named("warpline-hears").spawn(hearing);
        hearing.map(drop).inspect_err(|_| process.kill())
    }
}

/// Writes what comes; the input ends when nothing more can come.
fn write_all(mut input: UnixStream, lines: Receiver<String>) {
    for line in lines {
        if input.write_all(line.as_bytes()).is_err() {
            break;
        }
    }
    // The process may have closed its end.
    let _gone = input.shutdown(Shutdown::Write);
}

/// The thread that hears.
struct Ears {
    process: Arc<Process>,
    hearer: Arc<dyn Hears>,
    woken: PipeReader,
    /// The beginning of a line.
    line: Vec<u8>,
    /// The longest line that is heard, in bytes.
    limit: usize,
}

impl Ears {
    fn listen(mut self, output: ChildStdout, waiter: JoinHandle<Ended>, writer: JoinHandle<()>) {
        let mut output = Some(output);
        let mut killed = false;
        loop {
            let due = self.hearer.due(Instant::now());
            if due.end_input {
                *locked(&self.process.lines) = None;
            }
            if due.kill && !killed {
                killed = true;
                self.process.kill();
            }
            let ready = wait_for(output.as_ref(), &self.woken, due.next);
            if ready.woken {
                self.process.wake.sent.store(false, Ordering::SeqCst);
                let _one_byte = self.woken.read(&mut [0]);
            }
            if self.process.is_reaped() {
                break;
            }
            if ready.output && output.as_mut().is_none_or(|output| self.take(output).is_none()) {
                output = None;
                self.hearer.closed();
            }
        }
        // What it had said before its end counts.
        let mut rest = 0;
        while let Some(output) = &mut output
            && rest < REST_LIMIT
            && wait_for(Some(output), &self.woken, Some(Instant::now())).output
            && let Some(count) = self.take(output)
        {
            rest += count;
        }
        *locked(&self.process.lines) = None;
        // A writer that is stuck ends with that.
        let _gone = self.process.input.shutdown(Shutdown::Both);
        let ended = waiter.join().unwrap_or(Ended::Unknown);
        let _over = writer.join();
        self.hearer.gone(&ended);
    }

    /// Reads what is there and passes whole lines on; `None` at the end of the output.
    fn take(&mut self, output: &mut ChildStdout) -> Option<usize> {
        let mut chunk = [0; 64 * 1024];
        let count = match output.read(&mut chunk) {
            Ok(0) => return None,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Some(0),
            Err(_) => return None,
        };
        for piece in chunk.get(..count)?.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.hearer.hear(str::from_utf8(&line).map_err(|_| "a line of it is not UTF-8"));
            } else if self.line.len() > self.limit {
                self.line = Vec::new();
                self.hearer.hear(Err("a line of it is too long"));
            }
        }
        Some(count)
    }
}

struct Ready {
    output: bool,
    woken: bool,
}

/// Waits until there is something to read, or until `next`.
fn wait_for(output: Option<&ChildStdout>, woken: &PipeReader, next: Option<Instant>) -> Ready {
    let left = next.map(|next| {
        // One millisecond more, so that what is due then is due when it is looked at.
        let left = next.saturating_duration_since(Instant::now());
        let left = if left.is_zero() { left } else { left + Duration::from_millis(1) };
        Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        }
    });
    let mut both = vec![PollFd::new(woken, PollFlags::IN)];
    both.extend(output.map(|output| PollFd::new(output, PollFlags::IN)));
    let came = poll(&mut both, left.as_ref()).is_ok();
    let mut events = both.iter().map(|each| came && !each.revents().is_empty());
    let woken = events.next() == Some(true);
    Ready { woken, output: events.next() == Some(true) }
}

#[cfg(test)]
mod tests;
