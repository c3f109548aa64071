use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::time::Duration;

use super::*;
use crate::decide::fixtures::{NOW, at, gate, now, output, run};
use crate::home::journal::Journal;
use crate::home::runs::tests::home;
use crate::home::state::{Decision, load_for_write, load_read_only, update};

/// The home that a child works on, and the point where it is killed.
const CHILD: &str = "WARPLINE_TEST_HOME";
const KILL_AT: &str = "WARPLINE_TEST_KILL_AT";

const DEAD: &str = "2026-08-20T100000000Z-0a1b2c3d";

/// Called by the code under test after each step.
pub(super) fn step(step: Step) {
    if std::env::var(KILL_AT).is_ok_and(|at| at == format!("{step:?}")) {
        kill_this_process();
    }
}

fn kill_this_process() {
    let pid = std::process::id().to_string();
    Command::new("kill").args(["-9", &pid]).status().expect("kill runs");
    std::thread::sleep(Duration::from_secs(60));
}

/// Runs one test of this binary on `paths`, to be killed at `kill_at`.
fn child(test: &str, paths: &Paths, kill_at: &str) -> Output {
    Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", &format!("home::fold::tests::{test}")])
        .env(CHILD, &paths.home)
        .env(KILL_AT, kill_at)
        .output()
        .expect("the child runs")
}

/// A pass that got as far as it did: `done` and `parked` ended, `cut` and `new` were running.
fn begin_pass(paths: &Paths) {
    let mut journal = Journal::open(paths, DEAD);
    let name = |text: &str| JsString::from(text);
    journal.started(&name("cut"), at("2026-08-20T10:00:01Z")).expect("line");
    journal.started(&name("parked"), at("2026-08-20T10:00:02Z")).expect("line");
    let done = run("2026-08-20T10:00:03.000Z", RunStatus::Success);
    journal.outcome(&name("done"), &done, None, true).expect("line");
    let parked = run("2026-08-20T10:00:04.000Z", RunStatus::Gated);
    journal.outcome(&name("parked"), &parked, Some(&gate("parked", DEAD)), true).expect("line");
    journal.started(&name("new"), at("2026-08-20T10:00:05Z")).expect("line");
}

/// A home that a pass was killed in, with what earlier passes left.
fn after_a_kill() -> (tempfile::TempDir, Paths) {
    let (root, paths) = home();
    update(&paths, at("2026-08-19"), |state| {
        let mut before = run("2026-08-19T00:00:00.000Z", RunStatus::Success);
        before.last_output = Some(output("old.md", "r0"));
        state.plugin_runs.insert("cut".into(), before);
        state.pending_gates.push(gate("parked", "r0"));
        state.last_run_id = Some("r0".into());
        Ok(Decision::Write(()))
    })
    .expect("state");
    begin_pass(&paths);
    (root, paths)
}

/// What must hold once the killed pass was brought to its end, however often it was tried.
fn assert_settled(paths: &Paths, folded_at: &str) {
    let loaded = load_for_write(paths, at("2026-08-21"), None).expect("usable");
    assert!(!loaded.folded, "there is nothing left to do");
    assert_eq!(loaded.resumed_from, Some(DEAD.into()));
    let state = loaded.state;
    let entry = |plugin: &str| &state.plugin_runs[&JsString::from(plugin)];
    assert_eq!(entry("done").status, RunStatus::Success);
    assert_eq!(entry("parked").status, RunStatus::Gated);
    for plugin in ["cut", "new"] {
        assert_eq!(entry(plugin).status, RunStatus::Failed);
        assert_eq!(entry(plugin).last_run_at, folded_at);
    }
    assert_eq!(entry("cut").last_output, Some(output("old.md", "r0")));
    let gates: Vec<_> = state.pending_gates.iter().map(|gate| gate.run_id.to_text()).collect();
    assert_eq!(gates, [DEAD], "the newer gate takes the place of the older one");

    let log = std::fs::read_to_string(paths.runs_dir.join(format!("{DEAD}.json")));
    let log = RunLog::parse(&crate::json::parse(&log.expect("run log")).expect("JSON"));
    let log = log.expect("a run log");
    assert_eq!((log.status, log.completed_at), (AdvanceStatus::Interrupted, None));
    assert_eq!(log.started_at, "2026-08-20T10:00:00.000Z");
    assert_eq!(log.summary, format!("Engine run {DEAD}: 4 plugins processed").as_str());
    let entries: Vec<_> = log
        .plugin_entries
        .iter()
        .map(|entry| (entry.plugin.to_text(), entry.status, entry.started_at.to_text()))
        .collect();
    let expected = [
        ("done", EntryStatus::Completed, "2026-08-20T10:00:03.000Z"),
        ("parked", EntryStatus::Gated, "2026-08-20T10:00:02.000Z"),
        ("cut", EntryStatus::Failed, "2026-08-20T10:00:01.000Z"),
        ("new", EntryStatus::Failed, "2026-08-20T10:00:05.000Z"),
    ];
    assert_eq!(entries, expected.map(|(plugin, status, at)| (plugin.into(), status, at.into())));

    let notices: Vec<_> = events::read(paths)
        .into_iter()
        .filter(|event| {
            let metadata = event.metadata_json.as_ref().map(JsString::to_text);
            metadata.is_some_and(|text| text.contains("run_unfinished"))
        })
        .map(|event| (event.source.to_text(), event.run_id))
        .collect();
    let expected = ["cut", "new"].map(|plugin| (plugin.to_owned(), Some(DEAD.into())));
    assert_eq!(notices, expected, "one notice for each, exactly");
    assert!(!paths.journal().exists() && !paths.run_lock().exists());
}

#[test]
fn a_killed_pass_is_brought_to_its_end_by_the_next_write_capable_read() {
    let (_root, paths) = after_a_kill();
    let loaded = load_for_write(&paths, now(), None).expect("usable");
    assert!(loaded.folded);
    assert_eq!(loaded.resumed_from, Some(DEAD.into()));
    assert_settled(&paths, NOW);
}

#[test]
fn an_advance_folds_under_the_lock_that_it_holds() {
    let (_root, paths) = after_a_kill();
    let lock = RunLock::acquire(&paths, "next", now()).expect("a dead pass holds nothing");
    assert!(load_for_write(&paths, now(), Some(&lock)).expect("usable").folded);
    lock.release();
    assert_settled(&paths, NOW);
}

#[test]
fn killed_between_any_two_steps_the_next_read_goes_on() {
    if let Ok(home) = std::env::var(CHILD) {
        let paths = Paths::new(home.into());
        load_for_write(&paths, now(), None).expect("usable");
        return;
    }
    for step in [Step::State, Step::Log, Step::Notices] {
        let (_root, paths) = after_a_kill();
        for _ in 0..2 {
            let test = "killed_between_any_two_steps_the_next_read_goes_on";
            let output = child(test, &paths, &format!("{step:?}"));
            assert_eq!(output.status.signal(), Some(9), "{step:?}: {output:?}");
            assert!(paths.journal().exists());
        }
        let later = at("2026-08-20T13:00:00.000Z");
        assert!(load_for_write(&paths, later, None).expect("usable").folded, "{step:?}");
        assert_settled(&paths, NOW);
    }
}

#[test]
fn a_pass_killed_with_its_lock_and_journal_open_is_folded() {
    if let Ok(home) = std::env::var(CHILD) {
        let paths = Paths::new(home.into());
        let _lock = RunLock::acquire(&paths, DEAD, now()).expect("free");
        begin_pass(&paths);
        kill_this_process();
    }
    let (_root, paths) = after_a_kill();
    std::fs::remove_file(paths.journal()).expect("the child writes its own");
    let output = child("a_pass_killed_with_its_lock_and_journal_open_is_folded", &paths, "");
    assert_eq!(output.status.signal(), Some(9), "{output:?}");
    assert!(paths.run_lock().exists() && paths.journal().exists());
    assert!(load_for_write(&paths, now(), None).expect("usable").folded);
    assert_settled(&paths, NOW);
}

#[test]
fn the_journal_of_a_running_pass_is_left_alone() {
    let (_root, paths) = after_a_kill();
    let journal = std::fs::read(paths.journal()).expect("journal");
    let document = std::fs::read(&paths.state_file).expect("state");
    let lock = RunLock::acquire(&paths, DEAD, now()).expect("free");
    assert!(!load_for_write(&paths, now(), None).expect("usable").folded);
    let seen = load_read_only(&paths, now());
    assert_eq!(seen.plugin_runs[0].status, RunStatus::Success, "not folded in memory either");
    assert_eq!(std::fs::read(&paths.state_file).expect("state"), document);
    update(&paths, now(), |state| {
        state.last_interaction_at = Some(NOW.into());
        Ok(Decision::Write(()))
    })
    .expect("a verb goes on beside the pass");
    assert_eq!(std::fs::read(paths.journal()).expect("journal"), journal);
    let elsewhere = home();
    let other = RunLock::acquire(&elsewhere.1, "other", now()).expect("free");
    assert!(!settle(&paths, now(), Some(&other)).expect("another home's lock does not help"));
    lock.release();
}

#[test]
fn a_reader_folds_in_memory_and_writes_nothing() {
    let (_root, paths) = after_a_kill();
    let files = || {
        [&paths.state_file, &paths.journal(), &paths.events]
            .map(|path| std::fs::read(path).unwrap_or_default())
    };
    let before = files();
    let state = load_read_only(&paths, now());
    assert_eq!(state.plugin_runs[&JsString::from("cut")].status, RunStatus::Failed);
    assert_eq!(state.pending_gates.len(), 1);
    assert_eq!(files(), before);
    assert!(!paths.runs_dir.exists() && !paths.run_lock().exists());
}

#[test]
fn a_pass_killed_after_its_state_write_changes_no_state() {
    let (_root, paths) = after_a_kill();
    std::fs::remove_file(paths.journal()).expect("journal");
    update(&paths, now(), |state| {
        state.last_run_id = Some(DEAD.into());
        Ok(Decision::Write(()))
    })
    .expect("the pass wrote its state");
    let document = std::fs::read(&paths.state_file).expect("state");
    let outcome = run(NOW, RunStatus::Gated);
    let mut journal = Journal::open(&paths, DEAD);
    journal.outcome(&"parked".into(), &outcome, Some(&gate("parked", DEAD)), true).expect("line");
    let mut log = run_log(&DEAD.into(), &Lines::default(), now());
    log.status = AdvanceStatus::Complete;
    runs::write_run_log(&paths, &log).expect("the pass wrote its run log");
    let loaded = load_for_write(&paths, now(), None).expect("usable");
    assert!(loaded.folded && loaded.resumed_from.is_none(), "its own run log stays");
    assert_eq!(std::fs::read(&paths.state_file).expect("state"), document);
    assert!(!paths.journal().exists());
}

#[test]
fn a_journal_that_cannot_be_read_refuses_and_changes_nothing() {
    let (_root, paths) = after_a_kill();
    files::append(&paths.home, &paths.journal(), "not json\n").expect("damage");
    let before = std::fs::read(&paths.state_file).expect("state");
    let error = load_for_write(&paths, now(), None).expect_err("refused");
    assert!(error.to_string().contains("in-flight.jsonl"), "{error}");
    assert!(update(&paths, now(), |_| Ok(Decision::Write(()))).is_err());
    assert_eq!(std::fs::read(&paths.state_file).expect("state"), before);
    assert!(paths.journal().exists() && !paths.runs_dir.exists());
    assert_eq!(load_read_only(&paths, now()).plugin_runs.len(), 1, "a reader goes on without it");
}

#[test]
fn an_unusable_state_refuses_before_anything_is_folded() {
    let (_root, paths) = after_a_kill();
    std::fs::write(&paths.state_file, "{").expect("damage");
    assert!(load_for_write(&paths, now(), None).is_err());
    assert!(update(&paths, now(), |_| Ok(Decision::Write(()))).is_err());
    assert_eq!(std::fs::read(&paths.state_file).expect("state"), b"{");
    assert!(paths.journal().exists() && !paths.runs_dir.exists() && !paths.events.exists());
}

#[test]
fn a_plugin_that_had_failed_before_the_kill_stands_as_failed_in_the_run_log() {
    let (_root, paths) = home();
    let failed = run("2026-08-20T10:00:03.000Z", RunStatus::Failed);
    Journal::open(&paths, DEAD).outcome(&"broken".into(), &failed, None, true).expect("line");
    let entries = unrecorded(&paths, now());
    let told: Vec<_> = entries.iter().map(|(run, entry)| (run.to_text(), entry.status)).collect();
    assert_eq!(told, [(DEAD.to_owned(), EntryStatus::Failed)]);
}
