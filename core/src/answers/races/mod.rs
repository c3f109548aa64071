//! Many processes answer on one home at once, and some are killed: no acknowledged answer is lost.
//!
//! Each process is this test binary again, told by an environment variable to be an [`answerer`].
//! What it was told by the commands it ran goes to a log outside of the home; [`replay`] holds the
//! documents against what all logs together allow. A last test turns the state lock into a no-op,
//! which only this binary can, and expects the same replay to find answers that were undone.

mod answerer;
mod replay;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use answerer::{Random, Task};

/// Processes that answer at once.
const PROCESSES: usize = 8;

/// Processes that contend for one plugin: few, because those that wait for the lock meet nobody.
const CONTENDERS: usize = 3;

/// Commands of each; `WARPLINE_RACE_OPERATIONS` asks for another number.
const OPERATIONS: usize = 50;

/// Kills of a run with kills, spread over its length.
const KILLS: usize = 12;

fn operations() -> usize {
    let asked = std::env::var("WARPLINE_RACE_OPERATIONS").ok();
    asked.and_then(|number| number.parse().ok()).unwrap_or(OPERATIONS)
}

/// One race on a home of its own.
struct Race {
    directory: tempfile::TempDir,
    /// The test that a child of this race runs.
    test: &'static str,
    processes: usize,
    operations: usize,
    unlocked: bool,
}

impl Race {
    fn new(test: &'static str, processes: usize, operations: usize, unlocked: bool) -> Self {
        // In memory, where there is such a place: processes that need not wait for a disk collide more.
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let directory = directory.expect("a directory");
        answerer::prepare(&directory.path().join("home"), processes);
        Self { directory, test, processes, operations, unlocked }
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    fn log(&self, process: usize) -> PathBuf {
        self.directory.path().join(format!("log-{process}"))
    }

    fn spawn(&self, process: usize, from: usize) -> Child {
        let (home, log, to) = (self.home(), self.log(process), self.operations);
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        command.args(["--exact", &format!("answers::races::{}", self.test)]);
        let contends = self.processes == CONTENDERS;
        Task { home, log, process, from, to, contends }.hand_to(&mut command);
        if contends && process == 0 {
            command.env(crate::home::lock::HESITATES, "1");
        }
        if self.unlocked {
            command.env(crate::home::lock::NO_STATE_LOCK, "1");
        }
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the child runs")
    }

    /// Lets all processes run to their end, killing and continuing some meanwhile.
    fn run(&self, kills: usize) {
        let mut children: Vec<Child> =
            (0..self.processes).map(|process| self.spawn(process, 0)).collect();
        let mut random = Random::new(7);
        let step = self.operations * self.processes / (kills + 1);
        for kill in 1..=kills {
            // The moment depends on how far they are, so that a slow machine sees all kills too.
            while self.begun_by_all() < kill * step && self.is_running(&mut children) {
                std::thread::sleep(Duration::from_millis(3));
            }
            std::thread::sleep(Duration::from_micros(random.below(9000)));
            let victim = usize::try_from(random.below(self.processes as u64)).expect("small");
            children[victim].kill().expect("a signal can be sent");
            children[victim].wait().expect("it is gone");
            children[victim] = self.spawn(victim, self.begun(victim));
        }
        for (process, mut child) in children.into_iter().enumerate() {
            let status = child.wait().expect("it ends");
            assert!(status.success(), "process {process} failed: {status}");
        }
    }

    fn is_running(&self, children: &mut [Child]) -> bool {
        children.iter_mut().any(|child| matches!(child.try_wait(), Ok(None)))
    }

    fn begun(&self, process: usize) -> usize {
        replay::read_log(&self.log(process)).len()
    }

    fn begun_by_all(&self) -> usize {
        (0..self.processes).map(|process| self.begun(process)).sum()
    }

    fn violations(&self) -> Vec<String> {
        let logs: Vec<_> =
            (0..self.processes).map(|process| replay::read_log(&self.log(process))).collect();
        replay::violations(&self.home(), &logs)
    }
}

/// Whether this process is an answerer of `test`, whose work is then done.
fn was_answerer() -> bool {
    match Task::of_this_process() {
        Some(task) => {
            task.run();
            true
        }
        None => false,
    }
}

/// Every kind of answer.
const VERBS: [&str; 11] = [
    "approve act",
    "approve sup",
    "deny sup",
    "deny --remove",
    "approve both",
    "deny both",
    "deny --remove both",
    "ack",
    "defer",
    "done",
    "advance",
];

/// Asserts that the replay allows the documents, and that of these verbs it had at least `least` to
/// replay.
fn assert_allowed(race: &Race, verbs: &[&str], least: usize) {
    let violations = race.violations();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    let logs: Vec<_> =
        (0..race.processes).flat_map(|process| replay::read_log(&race.log(process))).collect();
    assert_eq!(logs.len(), race.processes * race.operations);
    let (done, never): (Vec<&str>, Vec<&str>) =
        verbs.iter().partition(|verb| logs.iter().any(|one| one.was_done(verb)));
    assert!(done.len() >= least, "these were never acknowledged: {never:?}");
}

#[test]
fn eight_processes_undo_no_answer_of_each_other() {
    if was_answerer() {
        return;
    }
    let test = "eight_processes_undo_no_answer_of_each_other";
    let race = Race::new(test, PROCESSES, operations(), false);
    race.run(0);
    assert_allowed(&race, &VERBS, VERBS.len());
    for lock in ["state/.lock", "state/.state.lock"] {
        assert!(!race.home().join(lock).exists(), "{lock} is left behind");
    }
}

#[test]
fn a_killed_process_loses_no_answer_that_was_acknowledged() {
    if was_answerer() {
        return;
    }
    let test = "a_killed_process_loses_no_answer_that_was_acknowledged";
    let race = Race::new(test, PROCESSES, operations(), false);
    race.run(KILLS * operations() / OPERATIONS);
    // Which answers a kill cuts short is chance.
    assert_allowed(&race, &VERBS, VERBS.len() / 2);
    let killed = (0..PROCESSES)
        .flat_map(|process| replay::read_log(&race.log(process)))
        .filter(|one| one.was_killed())
        .count();
    assert!(killed > 0, "no kill met a command");
}

#[test]
fn no_grant_is_given_while_a_denial_by_another_process_stands() {
    if was_answerer() {
        return;
    }
    let test = "no_grant_is_given_while_a_denial_by_another_process_stands";
    let race = Race::new(test, CONTENDERS, 2 * operations(), false);
    race.run(0);
    assert_allowed(&race, &["approve both", "deny both", "deny --remove both"], 3);
}

#[test]
fn without_the_state_lock_answers_are_undone_and_the_replay_notices() {
    if was_answerer() {
        return;
    }
    let test = "without_the_state_lock_answers_are_undone_and_the_replay_notices";
    // Chance decides when two of them collide, but not for so many times.
    let noticed = (0..50).any(|_| {
        let race = Race::new(test, PROCESSES, OPERATIONS / 2, true);
        race.run(0);
        !race.violations().is_empty()
    });
    assert!(noticed, "the replay cannot tell a lost answer");
}
