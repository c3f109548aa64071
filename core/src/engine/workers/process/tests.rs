//! Processes of a shell: what is heard of them, and what is left.

use std::sync::mpsc::{Receiver, channel};

use super::*;

/// What was heard, for a test to wait for.
#[derive(Debug, PartialEq)]
enum Heard {
    Line(String),
    Fault(&'static str),
    Closed,
    Gone(String),
}

struct Listener {
    heard: Sender<Heard>,
    kill_at: Option<Instant>,
    end_input: bool,
}

impl Hears for Listener {
    fn hear(&self, line: Result<&str, &'static str>) {
        let heard = match line {
            Ok(line) => Heard::Line(line.trim_end().to_owned()),
            Err(fault) => Heard::Fault(fault),
        };
        let _listens = self.heard.send(heard);
    }

    fn closed(&self) {
        let _listens = self.heard.send(Heard::Closed);
    }

    fn due(&self, now: Instant) -> Due {
        let kill = self.kill_at.is_some_and(|at| at <= now);
        let next = if kill { None } else { self.kill_at };
        Due { end_input: self.end_input, kill, next }
    }

    fn gone(&self, how: &Ended) {
        let _listens = self.heard.send(Heard::Gone(how.to_string()));
    }
}

fn shell(
    script: &str,
    kill_after: Option<u64>,
    end_input: bool,
) -> (Arc<Process>, Receiver<Heard>) {
    let mut command = Command::new("sh");
    let (process, streams) = Process::spawn(command.args(["-c", script])).expect("started");
    let (heard, hears) = channel();
    let kill_at = kill_after.map(|ms| Instant::now() + Duration::from_millis(ms));
    let listener = Arc::new(Listener { heard, kill_at, end_input });
    streams.attend(&process, listener, 1024).expect("threads");
    (process, hears)
}

fn line(text: &str) -> Heard {
    Heard::Line(text.to_owned())
}

fn gone(how: &str) -> Heard {
    Heard::Gone(how.to_owned())
}

#[test]
fn what_is_said_before_the_end_is_heard_and_the_end_comes_last() {
    let (_process, heard) = shell("echo one; echo two; printf half; exit 3", None, false);
    let heard: Vec<Heard> = heard.iter().filter(|heard| *heard != Heard::Closed).collect();
    assert_eq!(heard, [line("one"), line("two"), gone("exit code 3")]);
}

#[test]
fn what_is_told_arrives_in_order_and_the_input_ends_when_it_is_due() {
    let (process, heard) = shell("cat; exit 4", None, false);
    for text in ["a\n", "b\n"] {
        process.say(text.to_owned());
    }
    assert_eq!(heard.recv(), Ok(line("a")));
    assert_eq!(heard.recv(), Ok(line("b")));
    process.kill();
    assert!(heard.iter().any(|heard| heard == gone("signal SIGKILL")));
    let (_process, heard) = shell("cat; exit 4", None, true);
    assert!(heard.iter().any(|heard| heard == gone("exit code 4")));
}

#[test]
fn a_line_that_is_too_long_or_no_text_is_a_fault() {
    let (process, heard) = shell("yes | tr -d '\\n'", None, false);
    assert_eq!(heard.recv(), Ok(Heard::Fault("a line of it is too long")));
    process.kill();
    let (_process, heard) = shell("printf '\\377\\n'", None, false);
    assert_eq!(heard.recv(), Ok(Heard::Fault("a line of it is not UTF-8")));
}

#[test]
fn a_process_that_is_due_is_killed_with_what_it_has_started() {
    // On a busy machine, the first of them may end before it says anything.
    let mut limits = [200, 2_000, 20_000].into_iter();
    let (since, process, heard, child) = loop {
        let limit = limits.next().expect("a number in time");
        let since = Instant::now();
        let (process, heard) = shell("sleep 600 & echo $!; wait", Some(limit), false);
        if let Ok(Heard::Line(child)) = heard.recv() {
            break (since, process, heard, child);
        }
    };
    assert_eq!(heard.iter().last(), Some(gone("signal SIGKILL")));
    assert!((200..60_000).contains(&since.elapsed().as_millis()));
    assert!(process.is_reaped());
    let stat = || std::fs::read_to_string(format!("/proc/{child}/stat"));
    while stat().is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(since.elapsed() < Duration::from_secs(120), "it is killed, and does not end");
        thread::sleep(Duration::from_millis(5));
    }
    // Its number may belong to somebody else now.
    process.kill();
}

#[test]
#[cfg(target_os = "linux")]
fn one_that_left_the_group_cannot_hold_up_the_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let up = directory.path().join("up");
    let script = format!(
        "setsid sh -c 'echo $$; touch {0}; exec sleep 600' & \
         while [ ! -e {0} ]; do sleep 0.01; done; exit 5",
        up.display()
    );
    let (_process, heard) = shell(&script, None, false);
    let Ok(Heard::Line(left)) = heard.recv() else { panic!("it says its number first") };
    let since = Instant::now();
    assert!(heard.iter().any(|heard| heard == gone("exit code 5")));
    assert!(since.elapsed() < Duration::from_secs(60), "{:?}", since.elapsed());
    let left = left.parse().ok().and_then(Pid::from_raw).expect("a number");
    rustix::process::kill_process(left, Signal::KILL).expect("it goes on");
}

#[test]
fn a_process_that_does_not_read_cannot_hold_up_the_end() {
    let (process, heard) = shell("exec sleep 600", Some(200), false);
    process.say("x".repeat(8 * 1024 * 1024));
    assert!(heard.iter().any(|heard| heard == gone("signal SIGKILL")));
}

#[test]
fn output_that_is_closed_is_told_of_while_the_process_goes_on() {
    let (process, heard) = shell("exec >&-; sleep 600", None, false);
    assert_eq!(heard.recv(), Ok(Heard::Closed));
    process.kill();
    assert_eq!(heard.recv(), Ok(gone("signal SIGKILL")));
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    assert!(Process::spawn(&mut Command::new("/nowhere/program")).is_err());
}

#[test]
fn signals_have_names() {
    assert_eq!(Ended::Signal(11).to_string(), "signal SIGSEGV");
    assert_eq!(Ended::Signal(64).to_string(), "signal 64");
    assert_eq!(Ended::Code(0).to_string(), "exit code 0");
}
