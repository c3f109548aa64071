//! Answers from a program that embeds the crate, over whole advances.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use warpline_core::answers::{
    Answer, Approved, Denied, Named, Parked, Removed, Terms, apply, approve, complete_task,
    defer_task, deny, remove_denials, write_grant,
};

use warpline_core::decide::tasks;
use warpline_core::engine::{AdvanceOptions, AdvanceResult, Clock, PluginState};
use warpline_core::home::{events, state};
use warpline_core::json::JsString;
use warpline_core::schema::engine_state::{RunStatus, TaskSeverity};
use warpline_core::schema::event::EventType;
use warpline_core::schema::grant::Scopes;
use warpline_core::schema::manifest::Manifest;
use warpline_core::schema::run_log::EntryStatus;

use crate::support::{Home, NOW, at, done, name};

const SUPERVISED: &str = r#""autonomy_level":"supervised","side_effects":["sends_email"]"#;

/// A home with one plugin, `p`, whose output a test chooses.
struct Fixture {
    home: Home,
    plugin: JsString,
    manifest: Manifest,
    calls: Arc<AtomicUsize>,
    _directory: tempfile::TempDir,
}

impl Fixture {
    fn new(fields: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let home = Home::at(directory.path().to_owned());
        home.plugin("p", fields);
        let manifest = home.manifest("p");
        let calls = Arc::new(AtomicUsize::new(0));
        Self { home, plugin: name("p"), manifest, calls, _directory: directory }
    }

    fn granted(fields: &str) -> Self {
        let fixture = Self::new(fields);
        write_grant(&fixture.home.paths, Scopes::All, Some(1000 * 3_600_000), at(NOW))
            .expect("a grant");
        fixture
    }

    async fn advance(&self, time: &str, output: &'static str) -> AdvanceResult {
        let calls = self.calls.clone();
        let clock = Clock::starting_at(at(time));
        let pass = self.home.advance(clock, AdvanceOptions::default(), move |_| {
            calls.fetch_add(1, Ordering::Relaxed);
            async move { done(output) }
        });
        pass.await.expect("it returns")
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    fn named(&self) -> [Named<'_>; 1] {
        [(&self.plugin, &self.manifest)]
    }

    fn accept(&self, run_id: Option<&JsString>, now: &str) -> Parked {
        apply(&self.home.paths, &self.named(), run_id, at(now)).expect("an answer")
    }

    fn refuse(&self, now: &str) -> Denied {
        let mut answers = deny(&self.home.paths, &self.named(), None, at(now)).expect("a denial");
        answers.remove(0).1
    }

    fn forgive(&self, now: &str) {
        let names = [self.plugin.clone()];
        let removed = remove_denials(&self.home.paths, &names, at(now)).expect("removed");
        assert!(matches!(removed, Removed::Removed(denials) if denials.len() == 1));
    }

    fn state_file(&self) -> String {
        std::fs::read_to_string(&self.home.paths.state_file).expect("a document")
    }
}

const LATER: &str = "2026-08-20T13:00:00.000Z";

#[tokio::test(start_paused = true)]
async fn a_parked_result_is_accepted_once_and_survives_the_next_advance() {
    let fixture = Fixture::granted(SUPERVISED);
    let parked = fixture.advance(NOW, "a.md").await;
    assert_eq!(parked.gated_plugins, [name("p")]);
    let gate = fixture.home.state().pending_gates[0].clone();
    assert_eq!(fixture.home.state().plugin_runs[0].status, RunStatus::Gated);

    let other = fixture.accept(Some(&name("another")), LATER);
    let waiting = Some(parked.run_id.clone());
    assert_eq!(other, Parked::OtherRun { plugin: name("p"), waiting, applied_at: None });
    let Parked::Answered(answers) = fixture.accept(Some(&parked.run_id), LATER) else {
        panic!("it is answered")
    };
    assert!(matches!(&answers[0].1, Answer::Applied { run_id, .. } if *run_id == parked.run_id));
    let state = fixture.home.state();
    let run = &state.plugin_runs[0];
    assert_eq!(run.status, RunStatus::Success);
    assert_eq!(Some(&run.last_run_at), gate.run_completed_at.as_ref());
    assert_eq!(run.last_output, gate.plugin_result.artifacts_produced.first().cloned());
    assert_eq!(state.pending_gates[0].applied_at, Some(LATER.into()));

    fixture.advance("2026-08-20T14:00:00.000Z", "b.md").await;
    assert_eq!(fixture.calls(), 1, "the plugin is fresh, and accepting calls nobody");
    let kept = fixture.home.state();
    assert_eq!(kept.pending_gates, state.pending_gates);
    let before = fixture.state_file();
    let Parked::NothingWaits(spent) = fixture.accept(None, LATER) else { panic!("it is spent") };
    assert!(matches!(&spent[0].1, Answer::AlreadyApplied { .. }));
    let applied_at = Some(LATER.into());
    let again = fixture.accept(Some(&parked.run_id), LATER);
    assert_eq!(again, Parked::OtherRun { plugin: name("p"), waiting: None, applied_at });
    assert_eq!(fixture.state_file(), before);
}

#[tokio::test(start_paused = true)]
async fn a_denied_plugin_is_not_called_and_not_asked_about_until_the_denial_is_gone() {
    let fixture = Fixture::new(r#""side_effects":["sends_email"]"#);
    assert!(matches!(fixture.refuse(NOW), Denied::Recorded { .. }));
    let before = fixture.home.events().len();
    let pass = fixture.advance(LATER, "a.md").await;
    assert_eq!(fixture.calls(), 0);
    assert_eq!(pass.plugin_states.get(&name("p")), Some(&PluginState::Skipped));
    let entry = &pass.plugin_entries[0];
    assert_eq!(entry.status, EntryStatus::Denied);
    let summary = entry.result_summary.to_text();
    assert!(summary.contains("denied") && !summary.contains("unapproved"), "{summary}");
    let told = fixture.home.events().split_off(before);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with(r#"{"event":"plugin_denied","plugin":"p","#), "{told:?}");
    let about: Vec<String> = events::read(&fixture.home.paths)
        .into_iter()
        .map(|event| event.summary.to_text())
        .collect();
    assert!(!about.iter().any(|summary| summary.starts_with("p: skipped")), "{about:?}");

    write_grant(&fixture.home.paths, Scopes::All, None, at(NOW)).expect("a grant");
    fixture.advance(LATER, "a.md").await;
    assert_eq!(fixture.calls(), 0, "a grant does not lift a denial");
    fixture.forgive(LATER);
    fixture.advance(LATER, "a.md").await;
    assert_eq!(fixture.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_no_answers_one_proposal_and_the_returning_question_says_so() {
    let fixture = Fixture::granted(SUPERVISED);
    let first = fixture.advance(NOW, "a.md").await;
    let Denied::Recorded { denial, discarded } = fixture.refuse(LATER) else {
        panic!("it is recorded")
    };
    assert_eq!(discarded, std::slice::from_ref(&first.run_id));
    let reason = format!("the operator declined the parked result from run {}", first.run_id);
    assert_eq!(denial.reason, reason.as_str());
    assert!(fixture.home.state().pending_gates.is_empty());
    assert!(matches!(fixture.accept(None, LATER), Parked::Denied(denials) if denials == [denial]));
    fixture.advance("2026-08-21T12:00:00.000Z", "b.md").await;
    assert_eq!(fixture.calls(), 1, "the denial holds after the ttl too");

    // Another writer moves the proposal.
    state::update(&fixture.home.paths, at(LATER), |document| {
        let run = document.plugin_runs.get_mut(&name("p")).expect("a run");
        let output = run.last_output.as_mut().expect("an output");
        output.kind = "another".into();
        Ok(state::Decision::Write(()))
    })
    .expect("written");
    let pass = fixture.advance("2026-08-21T12:00:00.000Z", "b.md").await;
    assert_eq!(fixture.calls(), 2);
    assert_eq!(pass.gated_plugins, [name("p")]);
    assert!(matches!(fixture.accept(None, "2026-08-21T13:00:00.000Z"), Parked::Answered(_)));

    let unapproved = Fixture::new(r#""side_effects":["sends_email"]"#);
    unapproved.refuse(NOW);
    unapproved.home.plugin("p", r#""side_effects":["sends_email","writes_db"]"#);
    let pass = unapproved.advance(LATER, "a.md").await;
    let summary = pass.plugin_entries[0].result_summary.to_text();
    for told in ["unapproved", "denied 2026-08-20T12:00:00.000Z", "changed"] {
        assert!(summary.contains(told), "{summary}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_parked_while_the_no_was_given_waits_for_an_answer_of_its_own() {
    let fixture = Fixture::granted(SUPERVISED);
    fixture.advance(NOW, "a.md").await;
    fixture.refuse(LATER);
    fixture.forgive(LATER);
    let (paths, named) = (fixture.home.paths.clone(), fixture.plugin.clone());
    let manifest = fixture.manifest.clone();
    let clock = Clock::starting_at(at("2026-08-21T12:00:00.000Z"));
    let pass = fixture.home.advance(clock, AdvanceOptions::default(), move |_| {
        // The no comes while the handler runs; it answers what the plugin proposed until now.
        let denied = deny(&paths, &[(&named, &manifest)], None, at(LATER)).expect("a denial");
        assert!(matches!(denied[0].1, Denied::Recorded { .. }));
        async move { done("b.md") }
    });
    let pass = pass.await.expect("it returns");
    let state = fixture.home.state();
    assert_eq!(state.denials.len(), 1, "the state write of the advance keeps it");
    assert_eq!(state.pending_gates[0].run_id, pass.run_id);
    assert!(matches!(fixture.accept(None, "2026-08-21T13:00:00.000Z"), Parked::Answered(_)));
}

#[tokio::test(start_paused = true)]
async fn a_result_older_than_its_plugins_ttl_is_discarded_and_the_plugin_runs_again() {
    let fixture = Fixture::granted(SUPERVISED);
    let first = fixture.advance(NOW, "a.md").await;
    let Parked::Answered(answers) = fixture.accept(None, "2026-08-21T00:30:00.000Z") else {
        panic!("it is answered")
    };
    assert_eq!(answers[0].1, Answer::Expired { run_id: first.run_id });
    assert!(fixture.home.state().plugin_runs.is_empty());
    assert!(fixture.home.events().iter().any(|event| event.contains("\"gate_expired\"")));
    fixture.advance("2026-08-21T00:31:00.000Z", "a.md").await;
    assert_eq!(fixture.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_advance_tells_of_every_result_that_nobody_answered_in_time() {
    let fixture = Fixture::granted(r#""autonomy_level":"supervised","ttl_hours":48"#);
    let first = fixture.advance(NOW, "a.md").await;
    let expired = format!(
        r#"{{"event":"gate_expired","plugin":"p","run_id":"{}","reason":"expired"}}"#,
        first.run_id
    );
    let told = || fixture.home.events().iter().filter(|event| **event == expired).count();
    fixture.advance("2026-08-21T10:59:00.000Z", "a.md").await;
    assert_eq!((fixture.home.state().pending_gates.len(), told()), (1, 0));
    for _ in 0..2 {
        fixture.advance("2026-08-21T11:00:01.000Z", "a.md").await;
        assert_eq!((fixture.home.state().pending_gates.len(), told()), (0, 1));
    }

    // What was accepted ages out in silence.
    let fixture = Fixture::granted(r#""autonomy_level":"supervised","ttl_hours":48"#);
    fixture.advance(NOW, "a.md").await;
    assert!(matches!(fixture.accept(None, NOW), Parked::Answered(_)));
    fixture.advance("2026-08-21T11:00:01.000Z", "a.md").await;
    assert!(fixture.home.state().pending_gates.is_empty());
    assert!(!fixture.home.events().iter().any(|event| event.contains("gate_expired")));
}

#[test]
fn a_yes_accepts_what_waits_and_grants_where_nothing_does() {
    let fixture = Fixture::new(SUPERVISED);
    let paths = &fixture.home.paths;
    let terms = Terms { ttl_ms: Some(60_000), ..Terms::default() };
    let yes = |run_id: Option<&JsString>| {
        approve(paths, &fixture.named(), run_id, &terms, at(NOW)).expect("an answer")
    };
    let other = yes(Some(&name("run-x")));
    assert!(matches!(other, Approved { parked: Parked::OtherRun { .. }, granted: None }));
    assert!(!paths.approval.exists());
    let granted = yes(None);
    assert_eq!(granted.parked, Parked::NothingWaits(vec![(name("p"), Answer::None)]));
    let grant = granted.granted.expect("a grant").grant;
    assert_eq!(grant.scopes, Scopes::Plugins(vec![name("p")]));
    assert_eq!(grant.expires_at, "2026-08-20T12:01:00.000Z");
    assert!(!paths.state_file.exists());
    fixture.refuse(NOW);
    let denied = yes(None);
    assert!(matches!(denied, Approved { parked: Parked::Denied(_), granted: None }));
    let refused =
        approve(paths, &[], None, &Terms { ttl_ms: Some(0), ..Terms::default() }, at(NOW));
    refused.expect_err("no lifetime");
}

#[tokio::test(start_paused = true)]
async fn an_unapproved_plugin_is_told_in_log_and_events_and_the_rest_goes_on() {
    let fixture = Fixture::new(r#""side_effects":["sends_email"]"#);
    fixture.home.plugin("other", "");
    let pass = fixture.advance(NOW, "a.md").await;
    assert_eq!(fixture.calls(), 1);
    let entry = pass.plugin_entries.iter().find(|entry| entry.plugin == "p").expect("an entry");
    assert_eq!(entry.status, EntryStatus::Skipped);
    let summary = entry.result_summary.to_text();
    assert!(summary.contains("unapproved") && summary.contains("sends_email"), "{summary}");
    let events = events::read(&fixture.home.paths);
    let told = events.iter().find(|event| event.source == "p").expect("an event");
    let told = told.summary.to_text();
    assert!(told.starts_with("p: skipped — unapproved"), "{told}");
}

#[test]
fn what_is_refused_writes_nothing() {
    let fixture = Fixture::new(SUPERVISED);
    assert_eq!(fixture.accept(None, NOW), Parked::NothingWaits(vec![(name("p"), Answer::None)]));
    let missing = vec![name("p"), name("__proto__")];
    let unknown = Removed::Unknown { missing: missing.clone(), denied: Vec::new() };
    assert_eq!(remove_denials(&fixture.home.paths, &missing, at(NOW)).expect("an answer"), unknown);
    assert_eq!(
        remove_denials(&fixture.home.paths, &[], at(NOW)).expect("an answer"),
        Removed::Removed(vec![])
    );
    assert!(deny(&fixture.home.paths, &[], None, at(NOW)).expect("an answer").is_empty());
    assert!(!fixture.home.paths.state_file.exists() && !fixture.home.paths.events.exists());
}

#[test]
fn answers_to_tasks_are_written_once_and_leave_their_events() {
    let fixture = Fixture::new("");
    let paths = &fixture.home.paths;
    state::update(paths, at(NOW), |document| {
        for id in ["a", "b"] {
            let task = tasks::flagged(name(id), name("look"), TaskSeverity::Warning, at(NOW));
            document.task_aging.push(task);
        }
        Ok(state::Decision::Write(()))
    })
    .expect("written");
    let deferral = defer_task(paths, &name("a"), at(LATER), at(NOW)).expect("an answer");
    assert_eq!(fixture.home.state().deferrals, [deferral.expect("it is open")]);
    let completed = complete_task(paths, &name("b"), at(LATER)).expect("an answer");
    let completed = completed.expect("it is open");
    assert_eq!(completed.completed_at, LATER);
    assert_eq!(fixture.home.state().completed_tasks, [completed]);
    let told: Vec<_> = events::read(paths)
        .into_iter()
        .map(|event| (event.kind, event.task_id.map(|id| id.to_text()), event.summary.to_text()))
        .collect();
    let until = format!("put off until {LATER}");
    let expected = [
        (EventType::TaskDeferred, Some("a".to_owned()), until),
        (EventType::TaskCompleted, Some("b".to_owned()), "done: look".to_owned()),
    ];
    assert_eq!(told, expected);
    let before = fixture.state_file();
    assert_eq!(complete_task(paths, &name("b"), at(LATER)).expect("an answer"), None);
    assert_eq!(defer_task(paths, &name("x"), at(LATER), at(LATER)).expect("an answer"), None);
    assert_eq!((fixture.state_file(), events::read(paths).len()), (before, 2));
}
