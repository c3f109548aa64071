use std::fs;
use std::time::Duration;

use super::*;
use crate::decide::fixtures::{NOW, at, denial, gate, now, output, run};
use crate::home::runs::tests::home;
use crate::json::{Value, parse};
use crate::schema::engine_state::{Denial, ENGINE_STATE_MAX_SCHEMA_VERSION, RunStatus};
use crate::schema::run_log::RunLog;

fn put(paths: &Paths, text: &str) {
    files::write_atomic(&paths.state_file, text.as_bytes(), None).expect("state");
}

fn entries(paths: &Paths) -> Vec<String> {
    let Ok(found) = fs::read_dir(paths.state_file.parent().expect("state")) else {
        return Vec::new();
    };
    let mut names: Vec<String> =
        found.map(|entry| entry.expect("entry").file_name().to_string_lossy().into()).collect();
    names.sort();
    names
}

/// Cases: T033.
#[test]
fn an_absent_file_is_the_default_document_and_nothing_is_created() {
    let (_root, paths) = home();
    let loaded = load_for_write(&paths, now(), None).expect("first run");
    assert_eq!(loaded.state, EngineState::default());
    assert_eq!((loaded.resumed_from, loaded.folded), (None, false));
    assert_eq!(load_read_only(&paths, now()), EngineState::default());
    assert!(!paths.home.exists());
}

/// Cases: T030, T034.
#[test]
fn a_document_of_this_build_is_read_and_what_it_leaves_out_has_its_default() {
    let (_root, paths) = home();
    let newest = ENGINE_STATE_MAX_SCHEMA_VERSION;
    let runs = r#"{"alpha":{"last_run_at":"2026-08-19","status":"success"}}"#;
    put(&paths, &format!(r#"{{"schema_version":{newest},"plugin_runs":{runs}}}"#));
    let state = load_for_write(&paths, now(), None).expect("usable").state;
    assert_eq!((state.schema_version, state.plugin_runs.len()), (newest, 1));
    assert_eq!(state.plugin_runs[0].status, RunStatus::Success);
    let rest = EngineState {
        schema_version: newest,
        plugin_runs: state.plugin_runs.clone(),
        ..EngineState::default()
    };
    assert_eq!(state, rest);
}

/// Cases: T031, T035, T037, T039.
#[test]
fn an_unusable_document_is_refused_for_writing_and_empty_for_looking_and_never_touched() {
    let unusable: [(&[u8], &str); 9] = [
        (b"", "ERR_WARPLINE_NOT_JSON"),
        (b"{\"schema_version\": 1,", "ERR_WARPLINE_NOT_JSON"),
        (b"\xff\xfe{}", "ERR_WARPLINE_FILE"),
        (b"null", "ERR_WARPLINE_INVALID"),
        (b"{\"plugin_runs\":\"text\"}", "ERR_WARPLINE_INVALID"),
        (b"{\"schema_version\":1.5}", "ERR_WARPLINE_INVALID"),
        (b"{\"schema_version\":-1}", "ERR_WARPLINE_INVALID"),
        (b"{\"schema_version\":2}", "ERR_WARPLINE_NEWER_STATE"),
        (b"{\"schema_version\":2,\"plugin_runs\":[]}", "ERR_WARPLINE_NEWER_STATE"),
    ];
    for (bytes, code) in unusable {
        let (_root, paths) = home();
        files::write_atomic(&paths.state_file, bytes, None).expect("state");
        let error = load_for_write(&paths, now(), None).expect_err("refused");
        let (message, file) = (error.to_string(), paths.state_file.display().to_string());
        assert_eq!(error.code(), code, "{message}");
        assert!(message.contains(&file), "{message}");
        assert!(code != "ERR_WARPLINE_INVALID" || message.contains(": expected "), "{message}");
        let newer = code == "ERR_WARPLINE_NEWER_STATE";
        assert_eq!(message.contains("this build predates it"), newer, "{message}");
        let error = update(&paths, now(), |_| Ok(Decision::Write(()))).expect_err("refused");
        assert_eq!(error.code(), code);
        assert_eq!(load_read_only(&paths, now()), EngineState::default());
        assert_eq!(fs::read(&paths.state_file).expect("state"), bytes);
        assert_eq!(entries(&paths), ["engine-state.json"], "no copy, no lock");
    }
}

#[test]
fn a_directory_in_place_of_the_document_is_unreadable_and_not_absent() {
    let (_root, paths) = home();
    fs::create_dir_all(&paths.state_file).expect("directory");
    assert!(matches!(load_for_write(&paths, now(), None), Err(Error::File { .. })));
    assert_eq!(load_read_only(&paths, now()), EngineState::default());
}

/// Cases: T038, T310, T311.
#[test]
fn what_this_build_does_not_know_at_the_top_survives_a_write() {
    let (_root, paths) = home();
    let denied = || Denial { note: Some("not on a Friday".into()), ..denial("p", "f") };
    let parked = || {
        let mut gate = gate("q", "r1");
        gate.plugin_result.artifacts_produced = vec![output("a.md", "r1")];
        gate
    };
    put(&paths, r#"{"host_annotations":{"source":"s","ids":["x","y"]},"schema_version":0}"#);
    update(&paths, now(), |state| {
        state.denials.insert("p".into(), denied());
        state.pending_gates.push(parked());
        let mut entry = run(NOW, RunStatus::Success);
        entry.last_output = Some(output("a.md", "r1"));
        state.plugin_runs.insert("q".into(), entry);
        Ok(Decision::Write(()))
    })
    .expect("write");
    let text = fs::read_to_string(&paths.state_file).expect("state");
    assert!(text.ends_with("}\n") && !text.ends_with("\n\n"));
    let annotations = parse(&text).expect("JSON").get("host_annotations").map(Value::to_compact);
    assert_eq!(annotations.as_deref(), Some(r#"{"source":"s","ids":["x","y"]}"#));
    let state = load_for_write(&paths, now(), None).expect("usable").state;
    assert_eq!(state.pending_gates, [parked()]);
    assert_eq!(state.denials[0], denied());
    put(&paths, "{}");
    let undenied = load_for_write(&paths, now(), None).expect("usable").state;
    assert!(undenied.denials.is_empty());
    assert_eq!(state.plugin_runs[0].last_output, Some(output("a.md", "r1")));
}

#[test]
fn a_change_that_is_kept_back_or_refused_writes_nothing() {
    let (_root, paths) = home();
    put(&paths, "{}");
    let answer = update(&paths, now(), |state| {
        state.last_run_id = Some("r".into());
        Ok(Decision::Keep(7))
    });
    assert_eq!(answer.expect("kept"), 7);
    let refused = update(&paths, now(), |state| -> Result<Decision<()>> {
        state.last_run_id = Some("r".into());
        Err(Error::EmptyPluginRoot)
    });
    assert!(matches!(refused, Err(Error::EmptyPluginRoot)));
    assert_eq!(fs::read_to_string(&paths.state_file).expect("state"), "{}");
    assert_eq!(entries(&paths), ["engine-state.json"]);
}

#[test]
fn each_stub_gate_goes_with_exactly_one_notice() {
    let (_root, paths) = home();
    let mut document = EngineState::default();
    for run_id in ["r1", "r2"] {
        let mut stub = gate("old", run_id);
        (stub.run_started_at, stub.run_completed_at) = (None, None);
        document.pending_gates.push(stub);
    }
    document.pending_gates.push(gate("live", "r3"));
    put(&paths, &document.to_text());

    let before = fs::read(&paths.state_file).expect("state");
    let seen = load_read_only(&paths, now());
    assert_eq!(seen.pending_gates, [gate("live", "r3")]);
    assert_eq!(fs::read(&paths.state_file).expect("state"), before);
    assert!(!paths.events.exists(), "looking leaves no trace");

    for _ in 0..2 {
        update(&paths, now(), |state| {
            assert_eq!(state.pending_gates.len(), 1);
            state.last_run_id = Some("a change that is not kept".into());
            Ok(Decision::Keep(()))
        })
        .expect("kept");
        let document = read(&paths).expect("state");
        assert_eq!(document.pending_gates, [gate("live", "r3")]);
        assert_eq!(document.last_run_id, None);
    }
    for _ in 0..2 {
        let loaded = load_for_write(&paths, now(), None).expect("usable");
        assert_eq!(loaded.state.pending_gates, [gate("live", "r3")]);
        update(&paths, now(), |_| Ok(Decision::Write(()))).expect("written");
    }
    let notices: Vec<String> = events::read(&paths)
        .into_iter()
        .map(|event| event.metadata_json.expect("metadata").to_text())
        .collect();
    let expected = ["r1", "r2"].map(|run_id| {
        format!(
            r#"{{"event":"gate_invalidated","plugin":"old","run_id":"{run_id}","reason":"stub"}}"#
        )
    });
    assert_eq!(notices, expected);
}

#[test]
fn an_interrupted_last_run_is_resumed_from_and_only_that() {
    let (_root, paths) = home();
    update(&paths, now(), |state| {
        state.last_run_id = Some("r1".into());
        Ok(Decision::Write(()))
    })
    .expect("state");
    let resumed = || load_for_write(&paths, now(), None).expect("usable").resumed_from;
    assert_eq!(resumed(), None, "its run log is gone");
    for status in AdvanceStatus::ALL {
        let log = RunLog {
            run_id: "r1".into(),
            started_at: NOW.into(),
            completed_at: None,
            status: *status,
            resumed_from: None,
            summary: "".into(),
            plugin_entries: Vec::new(),
            manifests_loaded: None,
        };
        runs::write_run_log(&paths, &log).expect("run log");
        let expected = (*status == AdvanceStatus::Interrupted).then(|| "r1".into());
        assert_eq!(resumed(), expected, "{status}");
    }
}

#[test]
fn every_path_that_a_host_moved_is_honoured() {
    let (root, mut paths) = home();
    paths.state_file = root.path().join("elsewhere/s.json");
    paths.events = root.path().join("log/e.jsonl");
    let mut document = EngineState::default();
    let mut stub = gate("old", "r1");
    (stub.run_started_at, stub.run_completed_at) = (None, None);
    document.pending_gates.push(stub);
    put(&paths, &document.to_text());
    load_for_write(&paths, now(), None).expect("usable");
    assert_eq!(events::read(&paths).len(), 1);
    assert!(!paths.home.exists(), "nothing went to the home");
}

#[test]
fn overlapping_changes_of_many_writers_all_survive_and_readers_always_see_a_whole_document() {
    const ROUNDS: usize = 60;
    let (_root, paths) = home();
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let paths = &paths;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let name = format!("{writer}-{round}");
                    update(paths, at(NOW), |state| {
                        let count = state.extensions.get("count").and_then(Value::as_number);
                        state.extensions.insert("count", count.unwrap_or(0.0) + 1.0);
                        state.denials.insert(name.as_str().into(), denial(&name, "f"));
                        Ok(Decision::Write(()))
                    })
                    .expect("in time");
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..200 {
                load_for_write(&paths, now(), None).expect("whole at any moment");
            }
        });
    });
    let state = load_for_write(&paths, now(), None).expect("usable").state;
    assert_eq!(state.denials.len(), 2 * ROUNDS);
    assert_eq!(state.extensions.get("count"), Some(&Value::Number(120.0)));
    assert_eq!(entries(&paths), ["engine-state.json"]);
}
