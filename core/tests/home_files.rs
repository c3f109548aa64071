//! The golden vectors about files, with real files: what is deleted, and how a state is read.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use warpline_core::clock::Instant;
use warpline_core::error::Error;
use warpline_core::home::{Paths, events, jsonl, runs, state};
use warpline_core::json::{JsString, Value, parse};

const NOW: &str = "2026-08-20T12:00:00.000Z";

fn cases(family: &str) -> Vec<Value> {
    let folder = match std::env::var_os("WARPLINE_VECTORS") {
        Some(folder) if !folder.is_empty() => PathBuf::from(folder),
        _ => Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors"),
    };
    let text = fs::read_to_string(folder.join(format!("{family}.json"))).expect("the family");
    let cases = parse(&text).expect("JSON").get("cases").cloned().expect("cases");
    let cases = cases.as_array().expect("a list").to_vec();
    assert!(!cases.is_empty());
    cases
}

fn text(value: &Value, key: &str) -> Option<String> {
    Some(value.get(key)?.as_string()?.to_text())
}

fn at(text: &str) -> Instant {
    Instant::parse(text).expect("an instant")
}

fn home() -> (tempfile::TempDir, Paths) {
    let root = tempfile::tempdir().expect("temporary directory");
    let paths = Paths::new(root.path().join("home"));
    (root, paths)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into()).collect();
    names.sort();
    names
}

#[test]
fn retention_deletes_exactly_what_the_vectors_say() {
    for case in cases("retention") {
        let id = text(&case, "id").expect("id");
        let (input, expect) =
            (case.get("input").expect("input"), case.get("expect").expect("expect"));
        let op = text(input, "op").expect("op");
        let (_root, paths) = home();
        let directory = match op.as_str() {
            "prune_jsonl" => paths.logs_dir.join("runs"),
            _ => paths.runs_dir.clone(),
        };
        fs::create_dir_all(&directory).expect("directory");
        for file in input.get("files").and_then(Value::as_array).expect("files") {
            let path = directory.join(text(file, "name").expect("name"));
            fs::write(&path, text(file, "content").expect("content")).expect("file");
            let ms =
                u64::try_from(at(&text(file, "mtime").expect("mtime")).ms()).expect("positive");
            let file = fs::File::options().write(true).open(&path).expect("file");
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(ms)).expect("time");
        }
        let before = names(&directory);
        let now = at(&text(input, "now").expect("now"));
        let count = match op.as_str() {
            "prune" => runs::prune_run_logs(&paths, now),
            "prune_jsonl" => jsonl::prune(&paths, now),
            _ => {
                let plugin = text(input, "plugin").expect("plugin");
                let keep = input.get("keep").and_then(Value::as_number).expect("keep");
                runs::trim_plugin_history(&paths, &plugin.as_str().into(), keep as usize)
            }
        };
        let after = names(&directory);
        let deleted: Vec<Value> = before
            .iter()
            .filter(|name| !after.contains(name))
            .map(|name| name.as_str().into())
            .collect();
        assert_eq!(Some(&Value::from(deleted)), expect.get("deleted"), "{id}");
        assert_eq!(expect.get("count"), Some(&Value::Number(count as f64)), "{id}");
    }
}

#[test]
fn a_state_file_is_read_as_the_vectors_say() {
    for case in cases("engine-state-read") {
        let id = text(&case, "id").expect("id");
        let (input, expect) =
            (case.get("input").expect("input"), case.get("expect").expect("expect"));
        let (_root, paths) = home();
        fs::create_dir_all(paths.state_file.parent().expect("state")).expect("state");
        if text(input, "file_kind").as_deref() == Some("directory") {
            fs::create_dir(&paths.state_file).expect("directory");
        } else if let Some(content) = text(input, "text") {
            fs::write(&paths.state_file, content).expect("state");
        }
        let before = fs::read(&paths.state_file).ok();
        let read_only = text(input, "policy").as_deref() == Some("read_only");
        let read = if read_only {
            Ok(state::load_read_only(&paths, at(NOW)))
        } else {
            state::load_for_write(&paths, at(NOW), None).map(|loaded| loaded.state)
        };
        match read {
            Ok(state) => {
                assert_eq!(expect.get("ok"), Some(&Value::Bool(true)), "{id}");
                assert_eq!(text(expect, "json"), Some(state.to_value().to_compact()), "{id}");
            }
            Err(error) => {
                let kind = match error {
                    Error::File { .. } | Error::NotJson { .. } => "unreadable",
                    Error::Invalid { .. } => "invalid",
                    Error::NewerState { .. } => "newer_version",
                    other => panic!("{id}: {other}"),
                };
                assert_eq!(text(expect, "kind").as_deref(), Some(kind), "{id}");
                assert_eq!(fs::read(&paths.state_file).ok(), before, "{id}: untouched");
            }
        }
        let notices: Vec<Value> = events::read(&paths)
            .into_iter()
            .map(|event| parse(&event.metadata_json.expect("metadata").to_text()).expect("JSON"))
            .collect();
        let expected = expect.get("notices").and_then(Value::as_array).unwrap_or_default();
        assert_eq!(notices, expected, "{id}");
        if read_only {
            assert_eq!(fs::read(&paths.state_file).ok(), before, "{id}: untouched");
        }
    }
}

#[test]
fn a_denial_in_a_fresh_home_adds_the_state_and_the_events_and_nothing_else() {
    let (_root, paths) = home();
    let plugin: JsString = "p".into();
    state::update(&paths, at(NOW), |state| {
        let denial = warpline_core::schema::engine_state::Denial {
            plugin: plugin.clone(),
            reason: "r".into(),
            denied_at: NOW.into(),
            note: None,
            fingerprint: "f".into(),
        };
        state.denials.insert(plugin.clone(), denial);
        Ok(state::Decision::Write(()))
    })
    .expect("denied");
    let recorded = warpline_core::schema::event::denial_recorded(
        &events::stamp(at(NOW)),
        &plugin,
        &"r".into(),
        &"f".into(),
    );
    events::append(&paths, &[recorded]).expect("event");
    assert_eq!(names(&paths.home), ["state"]);
    assert_eq!(names(&paths.home.join("state")), ["engine-state.json", "events.jsonl"]);
}
