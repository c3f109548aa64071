//! `advance`: exit codes, and how a pass is reported.

use std::path::PathBuf;

use warpline_core::engine::{AdvanceResult, PluginState};
use warpline_core::error::{Error, Result};
use warpline_core::json::JsString;
use warpline_core::schema::run_log::{AdvanceStatus, EntryStatus, PluginLogEntry};

use crate::support::{Home, NOW, Ran, STALE, assert_told, gate};

fn entry(plugin: &str, status: EntryStatus, summary: &str) -> PluginLogEntry {
    PluginLogEntry {
        plugin: plugin.into(),
        status,
        started_at: NOW.into(),
        elapsed_ms: 12.0,
        result_summary: summary.into(),
        reversible: None,
        undo_instruction: None,
        retried: false,
        result: None,
    }
}

pub fn pass(
    status: AdvanceStatus,
    plugins: &[(&str, PluginState, EntryStatus, &str)],
) -> AdvanceResult {
    let gated = plugins.iter().filter(|plugin| plugin.1 == PluginState::Gated);
    AdvanceResult {
        run_id: "run-1".into(),
        status,
        plugin_states: plugins.iter().map(|plugin| (plugin.0.into(), plugin.1)).collect(),
        gated_plugins: gated.map(|plugin| JsString::from(plugin.0)).collect(),
        unapproved_plugins: plugins
            .iter()
            .filter(|plugin| **plugin == UNAPPROVED)
            .map(|plugin| plugin.0.into())
            .collect(),
        run_log_path: Some(PathBuf::from("/logs/run-1.json")),
        plugin_entries: plugins
            .iter()
            .filter(|plugin| plugin.1 != PluginState::Pending)
            .map(|plugin| entry(plugin.0, plugin.2, plugin.3))
            .collect(),
        failure: None,
    }
}

fn advance(line: &str, answer: Result<AdvanceResult>) -> Ran {
    let home = Home::new();
    *home.fleet.advance.lock().expect("no poison") = Some(answer);
    home.run(line)
}

pub const DONE: (&str, PluginState, EntryStatus, &str) =
    ("alpha", PluginState::Completed, EntryStatus::Completed, "all well");
pub const GATED: (&str, PluginState, EntryStatus, &str) =
    ("note", PluginState::Gated, EntryStatus::Gated, "wrote\none note");
pub const PENDING: (&str, PluginState, EntryStatus, &str) =
    ("digest", PluginState::Pending, EntryStatus::Skipped, "");
pub const UNAPPROVED: (&str, PluginState, EntryStatus, &str) = (
    "mail",
    PluginState::Skipped,
    EntryStatus::Skipped,
    "skipped: unapproved — side effects [sends_email] are not granted",
);
pub const FAILED: (&str, PluginState, EntryStatus, &str) =
    ("zulu", PluginState::Failed, EntryStatus::Failed, "boom");

#[test]
fn a_pass_is_reported_plugin_by_plugin() {
    let ran =
        advance("advance", Ok(pass(AdvanceStatus::Partial, &[DONE, UNAPPROVED, GATED, PENDING])));
    let expected = "Run run-1: partial
  completed  alpha — all well (12 ms)
  skipped    mail — unapproved — side effects [sends_email] are not granted
  gated      note — wrote\\u{a}one note (12 ms)
  pending    digest
Run log: /logs/run-1.json
Waiting for an answer (1):
  note — declared side effects: unknown, it does not load any more
  yes: warpline approve note --run run-1
  no:  warpline deny note
";
    assert_eq!(ran, Ran { code: 0, out: expected.into(), err: String::new() });
}

#[test]
fn no_yes_is_offered_to_a_result_that_has_expired_meanwhile() {
    let parked = gate("note", STALE, "null").replace("run-note", "run-1");
    let home = Home::new().plugin("note", "").state(&format!(r#""pending_gates":[{parked}]"#));
    *home.fleet.advance.lock().expect("no poison") =
        Some(Ok(pass(AdvanceStatus::Partial, &[GATED])));
    let told = home.run("advance").out;
    let expected = "  note — declared side effects: none
    cannot be accepted any more: it expired at 2026-08-20 15:30 +05:30
  no:  warpline deny note
";
    assert!(told.ends_with(expected), "{told}");
}

#[test]
fn exit_codes_follow_what_failed() {
    let complete = AdvanceStatus::Complete;
    for (line, status, plugins, code) in [
        ("advance", complete, vec![DONE, UNAPPROVED], 0),
        ("advance --strict", complete, vec![DONE], 0),
        ("advance --strict", complete, vec![DONE, UNAPPROVED], 1),
        ("advance --strict", AdvanceStatus::Partial, vec![DONE, GATED], 1),
        ("advance", AdvanceStatus::Partial, vec![DONE, FAILED], 1),
        ("advance", AdvanceStatus::Failed, vec![], 1),
        ("advance", AdvanceStatus::Interrupted, vec![DONE, FAILED], 130),
    ] {
        assert_eq!(advance(line, Ok(pass(status, &plugins))).code, code, "{line} {plugins:?}");
    }
}

#[test]
fn strict_counts_results_that_earlier_passes_parked() {
    let gate = concat!(
        r#""pending_gates":[{"plugin":"p","run_id":"r","created_at":"2026-08-20T11:00:00.000Z","#,
        r#""payload_summary":"s","plugin_result":{"status":"success","phases_completed":[],"#,
        r#""phases_failed":[],"data_freshness":{},"summary":"s"},"#,
        r#""run_started_at":"2026-08-20T10:59:00.000Z","#,
        r#""run_completed_at":"2026-08-20T11:00:00.000Z","applied_at":null}]"#
    );
    for (state, code) in [
        (gate.to_owned(), 1),
        (gate.replace(r#""applied_at":null"#, &format!(r#""applied_at":"{NOW}""#)), 0),
    ] {
        let home = Home::new().state(&state);
        *home.fleet.advance.lock().expect("no poison") =
            Some(Ok(pass(AdvanceStatus::Complete, &[DONE])));
        assert_eq!(home.run("advance --strict").code, code);
    }
}

#[test]
fn json_is_the_result_with_its_exit_code() {
    let ran = advance("advance --json", Ok(pass(AdvanceStatus::Partial, &[FAILED])));
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let value = ran.json();
    let keys: Vec<String> =
        value.as_object().expect("an object").keys().map(JsString::to_text).collect();
    let expected = [
        "run_id",
        "status",
        "plugin_states",
        "gated_plugins",
        "run_log_path",
        "plugin_entries",
        "exit_code",
    ];
    assert_eq!(keys, expected);
    assert_eq!(value.get("plugin_states").expect("states").to_compact(), r#"{"zulu":"failed"}"#);
    assert_eq!(value.get("exit_code").expect("a code").to_compact(), "1");
}

#[test]
fn a_refused_pass_exits_75_with_one_error_line_and_a_hint() {
    let path = PathBuf::from("/home/x");
    let refusals = [
        Error::EmptyPluginRoot,
        Error::PluginRoot { path: path.clone(), code: "ENOENT".into() },
        Error::RunLocked { path: path.clone(), holder: "run r1".into() },
        Error::NewerState { path: path.clone(), found: 9.0, known: 1 },
        Error::Invalid { path, issues: Vec::new() },
    ];
    for refusal in refusals {
        let message = refusal.to_string();
        for line in ["advance", "advance --json"] {
            let home = Home::new();
            let again = match &refusal {
                Error::EmptyPluginRoot => Error::EmptyPluginRoot,
                Error::PluginRoot { path, code } => {
                    Error::PluginRoot { path: path.clone(), code: code.clone() }
                }
                Error::RunLocked { path, holder } => {
                    Error::RunLocked { path: path.clone(), holder: holder.clone() }
                }
                Error::NewerState { path, found, known } => {
                    Error::NewerState { path: path.clone(), found: *found, known: *known }
                }
                _ => Error::Invalid { path: "/home/x".into(), issues: Vec::new() },
            };
            *home.fleet.advance.lock().expect("no poison") = Some(Err(again));
            let ran = home.run(line);
            assert_eq!((ran.code, ran.out.as_str()), (75, ""), "{line}: {message}");
            let hint = refusal.hint().expect("a hint");
            assert_eq!(ran.err, format!("error: {message}\nhint: {hint}\n"));
            assert!(!home.path("").exists(), "no home is created");
        }
    }
}

#[test]
fn options_reach_the_engine() {
    let home = Home::new();
    home.run("advance --profile weekly --force --dry-run --home elsewhere --plugins roots");
    let asked = home.fleet.asked().join("\n");
    let around = home.around().display().to_string();
    for told in [
        &format!("advance {around}/elsewhere "),
        "dry_run: true",
        "force: true",
        "profile: Some(Weekly)",
        &format!("plugins_dir: Some(\"{around}/roots\")"),
    ] {
        assert!(asked.contains(told), "{told}: {asked}");
    }
}

#[test]
fn isolated_plugins_stay_apart_also_where_a_manifest_is_read_for_the_report() {
    let result = pass(AdvanceStatus::Complete, &[GATED]);
    for (line, apart) in [("advance", false), ("advance --isolate", true)] {
        let home = Home::new();
        *home.fleet.advance.lock().expect("no poison") = Some(Ok(result.clone()));
        home.run(line);
        let asked = home.fleet.asked();
        assert_eq!(asked.iter().any(|each| each.contains("isolation: Process")), apart);
        assert_eq!(asked.contains(&"load apart".to_owned()), apart, "{asked:?}");
    }
}

#[test]
fn a_dry_run_says_that_nothing_was_written() {
    let mut result = pass(AdvanceStatus::Complete, &[DONE]);
    result.run_log_path = None;
    let ran = advance("advance --dry-run", Ok(result.clone()));
    assert!(ran.out.starts_with("Dry run run-1: complete\n"), "{}", ran.out);
    assert!(ran.out.ends_with("\nNothing was written.\n"), "{}", ran.out);
    let quiet = advance("advance", Ok(result));
    assert!(quiet.out.ends_with("\nNo run log was written.\n"), "{}", quiet.out);
    assert!(!quiet.out.contains("Quiet hours"), "{}", quiet.out);
}

#[test]
fn quiet_hours_are_named_with_their_file_by_advance_and_plan() {
    // The clock stands at 17:30 local time.
    let said = "uiet hours from 17:00 to 18:05 by preferences.json";
    let file = r#"{"quiet_hours":{"start":"17:00","end":"18:05"}}"#;
    let advance = |command: &str, file: &str| {
        let mut result = pass(AdvanceStatus::Complete, &[DONE]);
        result.run_log_path = None;
        let home = Home::new().plugin("p", "").file("preferences.json", file);
        *home.fleet.advance.lock().expect("no poison") = Some(Ok(result));
        (home.run(command), home)
    };
    let (ran, home) = advance("advance", file);
    assert_told(&ran.out, &[&format!("Q{said}; `--force` runs all the same.\n")]);
    assert_eq!(ran.err, "", "a timer's mail stays away");
    for command in ["plan", "plan --json", "status"] {
        assert_told(&home.run(command).out, &[&format!("q{said}: an advance without `--force`")]);
    }
    assert_told(&home.run("plan --explain p").err, &[&format!("note: q{said}")]);
    for command in ["advance --force", "advance --dry-run"] {
        assert!(!advance(command, file).0.out.contains("uiet hours"), "{command}");
    }
    let over = r#"{"quiet_hours":{"start":"16:00","end":"17:30"}}"#;
    let (ran, home) = advance("advance", over);
    assert!(!ran.out.contains("uiet hours"), "{ran:?}");
    assert!(!home.run("plan").out.contains("uiet hours"));
}
