//! What an advance leaves behind, byte for byte: state, run log, daily log, events.

use std::path::Path;
use std::time::Duration;

use warpline_core::engine::{AdvanceOptions, AdvanceResult};
use warpline_core::json::JsString;

use crate::support::{Fleet, START, at, failed, keys, list_at, ok, result, summary_of, text_at};

const DONE: &str =
    r#""reversible":true,"undo_instruction":"git revert","artifacts_produced":["a.md"]"#;

async fn worked() -> (Fleet, AdvanceResult) {
    let fleet = Fleet::new();
    fleet.plugin("alpha", "", |_| async {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        ok("done", DONE)
    });
    fleet.plugin("bravo", r#""dependencies":["alpha"]"#, |_| async { failed("no", false) });
    fleet.spy("charlie", r#""schedule":"manual""#);
    fleet.file("delta", "throw 1\n");
    let result = fleet.advance().await;
    (fleet, result)
}

#[tokio::test(start_paused = true)]
async fn a_run_id_is_the_instant_and_eight_digits() {
    let (_fleet, result) = worked().await;
    let id = result.run_id.to_text();
    let (instant, random) = id.rsplit_once('-').unwrap();
    assert_eq!(instant, "2026-08-20T120000000Z");
    assert!(random.len() == 8 && random.bytes().all(|byte| byte.is_ascii_hexdigit()));
}

#[tokio::test(start_paused = true)]
async fn the_run_log_is_exact() {
    let (fleet, result) = worked().await;
    let id = &result.run_id;
    let expected = format!(
        r#"{{
  "run_id": "{id}",
  "started_at": "{START}",
  "completed_at": "2026-08-20T12:00:01.500Z",
  "status": "partial",
  "resumed_from": null,
  "summary": "Engine run {id}: 4 plugins processed",
  "plugin_entries": [
    {{
      "plugin": "alpha",
      "status": "completed",
      "started_at": "{START}",
      "elapsed_ms": 1500,
      "result_summary": "done",
      "reversible": true,
      "undo_instruction": "git revert",
      "retried": false,
      "result": {{
        "status": "success",
        "phases_completed": [],
        "phases_failed": [],
        "errors": [],
        "data_freshness": {{}},
        "summary": "done",
        "artifacts_produced": [
          {{
            "type": "artifact",
            "format": "markdown",
            "run_id": "{id}",
            "produced_at": "2026-08-20T12:00:01.500Z",
            "path": "a.md"
          }}
        ],
        "schema_version": 2,
        "reversible": true,
        "undo_instruction": "git revert"
      }}
    }},
    {{
      "plugin": "charlie",
      "status": "skipped",
      "started_at": "{START}",
      "elapsed_ms": 0,
      "result_summary": "skipped: schedule 'manual': waits for profile 'manual'",
      "retried": false
    }},
    {{
      "plugin": "bravo",
      "status": "failed",
      "started_at": "2026-08-20T12:00:01.500Z",
      "elapsed_ms": 0,
      "result_summary": "no",
      "retried": false,
      "result": {{
        "status": "failed",
        "phases_completed": [],
        "phases_failed": [],
        "errors": [
          {{
            "code": "rate_limit",
            "message": "no",
            "impact": "HIGH",
            "retryable": false
          }}
        ],
        "data_freshness": {{}},
        "summary": "no",
        "artifacts_produced": [],
        "schema_version": 2
      }}
    }},
    {{
      "plugin": "delta",
      "status": "failed",
      "started_at": "{START}",
      "elapsed_ms": 0,
      "result_summary": "the manifest threw",
      "retried": false
    }}
  ],
  "manifests_loaded": 3
}}"#
    );
    let path = fleet.paths.runs_dir.join(format!("{id}.json"));
    assert_eq!(result.run_log_path.as_ref(), Some(&path));
    assert_eq!(fleet.text(&path), expected);
    assert_eq!(std::fs::read_dir(&fleet.paths.runs_dir).unwrap().count(), 1, "no transcript");
}

#[tokio::test(start_paused = true)]
async fn the_daily_log_is_exact() {
    let (fleet, result) = worked().await;
    let (id, end) = (&result.run_id, "2026-08-20T12:00:01.500Z");
    let head = |ts: &str, level: &str, event: &str| {
        format!(r#"{{"ts":"{ts}","run_id":"{id}","level":"{level}","event":"{event}""#)
    };
    let entry = |level: &str, plugin: &str, status: &str, elapsed: u32, detail: &str| {
        head(end, level, "plugin_result")
            + &format!(
                r#","plugin":"{plugin}","status":"{status}","elapsed_ms":{elapsed},"detail":"{detail}"}}"#
            )
    };
    let expected = [
        head(START, "info", "run_start") + "}",
        entry("info", "alpha", "completed", 1500, "done"),
        entry(
            "info",
            "charlie",
            "skipped",
            0,
            "skipped: schedule 'manual': waits for profile 'manual'",
        ),
        entry("error", "bravo", "failed", 0, "no"),
        entry("error", "delta", "failed", 0, "the manifest threw"),
        head(end, "warn", "run_end")
            + &format!(r#","status":"partial","detail":"Engine run {id}: 4 plugins processed"}}"#),
    ];
    let path = fleet.paths.logs_dir.join("runs/2026-08-20.jsonl");
    assert_eq!(fleet.text(&path), expected.join("\n") + "\n");
}

#[tokio::test(start_paused = true)]
async fn the_daily_log_of_a_complete_pass_holds_no_warning() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    fleet.advance().await;
    let text = fleet.text(&fleet.paths.logs_dir.join("runs/2026-08-20.jsonl"));
    let levels = |line| text_at(&warpline_core::json::parse(line).unwrap(), "level");
    assert_eq!(text.lines().map(levels).collect::<Vec<_>>(), ["info"; 3], "{text}");
}

#[tokio::test(start_paused = true)]
async fn the_events_are_exact_and_in_the_order_of_the_levels() {
    let (fleet, result) = worked().await;
    let id = &result.run_id;
    let line = |kind: &str, at: &str, source: &str, summary: &str, severity: &str| {
        format!(
            r#""type":"{kind}","timestamp":"{at}","source":"{source}","summary":"{summary}","severity":"{severity}","task_id":null,"run_id":"{id}","metadata_json":null}}"#
        )
    };
    let end = "2026-08-20T12:00:01.500Z";
    let manual = "charlie: skipped — schedule 'manual': waits for profile 'manual'";
    let expected = [
        line("run_started", START, "engine", &format!("Run {id} started"), "info"),
        line("plugin_result", end, "alpha", "alpha: done", "info"),
        line("plugin_result", START, "charlie", manual, "info"),
        line("error", end, "bravo", "bravo: no", "warning"),
        line("run_completed", end, "engine", &format!("Run {id} partial"), "info"),
    ];
    let text = fleet.text(&fleet.paths.events);
    let without_id = |line: &str| {
        let rest = line.strip_prefix("{\"event_id\":\"").expect("the id comes first");
        rest[36..].strip_prefix("\",").expect("a UUID").to_owned()
    };
    let found: Vec<String> = text.lines().map(without_id).collect();
    assert_eq!(found, expected);
}

#[tokio::test(start_paused = true)]
async fn the_state_is_exact() {
    let (fleet, result) = worked().await;
    let id = &result.run_id;
    let expected = format!(
        r#"{{
  "schema_version": 1,
  "last_run_id": "{id}",
  "last_run_at": "2026-08-20T12:00:01.500Z",
  "last_interaction_at": "{START}",
  "plugin_runs": {{
    "alpha": {{
      "last_run_at": "2026-08-20T12:00:01.500Z",
      "status": "success",
      "duration_ms": 1500,
      "last_output": {{
        "type": "artifact",
        "format": "markdown",
        "run_id": "{id}",
        "produced_at": "2026-08-20T12:00:01.500Z",
        "path": "a.md"
      }}
    }},
    "bravo": {{
      "last_run_at": "2026-08-20T12:00:01.500Z",
      "status": "failed",
      "duration_ms": 0
    }}
  }},
  "deferrals": [],
  "denials": {{}},
  "task_aging": [],
  "completed_tasks": [],
  "pending_gates": [],
  "extensions": {{}}
}}
"#
    );
    assert_eq!(fleet.text(&fleet.paths.state_file), expected);
}

#[tokio::test(start_paused = true)]
async fn what_this_build_does_not_know_survives_an_advance() {
    let fleet = Fleet::new();
    let text = r#"{"host_annotations":{"source":"h","ids":["x","y"]},"plugin_runs":{}}"#;
    fleet.put(&fleet.paths.state_file, text);
    fleet.spy("p", "");
    fleet.advance().await;
    let state = fleet.state();
    let kept = at(&state, "host_annotations").to_compact();
    assert_eq!(kept, r#"{"source":"h","ids":["x","y"]}"#);
    assert_eq!(keys(&state).last().unwrap(), "host_annotations");
}

#[tokio::test(start_paused = true)]
async fn entries_do_not_depend_on_which_plugin_was_faster() {
    let fleet = Fleet::new();
    for (name, seconds) in [("a", 3), ("b", 1), ("c", 2)] {
        fleet.plugin(name, "", move |_| async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            ok(name, "")
        });
    }
    let result = fleet.advance().await;
    let entries: Vec<String> =
        result.plugin_entries.iter().map(|entry| entry.plugin.to_text()).collect();
    assert_eq!(entries, ["a", "b", "c"]);
    let events = fleet.events();
    let told: Vec<String> = events.iter().map(|event| text_at(event, "source")).collect();
    assert_eq!(told, ["engine", "a", "b", "c", "engine"]);
}

#[tokio::test(start_paused = true)]
async fn every_path_that_is_moved_is_honoured() {
    let fleet = Fleet::new();
    fleet.spy("p", r#""side_effects":["sends_email"]"#);
    fleet.grant(r#""*""#, 4);
    let there = fleet.paths.home.join("there");
    std::fs::create_dir(&there).unwrap();
    std::fs::rename(&fleet.paths.approval, there.join("grant")).unwrap();
    fleet.put(&there.join("prefs.json"), r#"{"review_gate":true}"#);
    fleet.spy("locked", "");
    let state = r#"{"task_aging":[{"task_id":"t","first_flagged":"f","description":"d",
        "severity":"warning","source_check":"locked"}],"pending_gates":[{"plugin":"stub",
        "run_id":"r","created_at":"c","payload_summary":"s","plugin_result":{"status":"partial",
        "phases_completed":[],"phases_failed":[],"data_freshness":{},"summary":"s"}}]}"#;
    fleet.put(&there.join("s/state.json"), state);
    let mut options = AdvanceOptions::default();
    options.paths.state_dir = Some("there/s/state.json".into());
    options.paths.runs_dir = Some("there/runs".into());
    options.paths.logs_dir = Some("there/logs".into());
    options.paths.events_path = Some("there/events".into());
    options.paths.preferences_path = Some("there/prefs.json".into());
    options.paths.approval_path = Some("there/grant".into());
    options.paths.plugins_dir = Some("there/plugins".into());
    std::fs::rename(&fleet.paths.plugins, there.join("plugins")).unwrap();
    let names = |directory: &Path| {
        let entries = std::fs::read_dir(directory).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&fleet.paths.home), ["there"]);
    let result = fleet.advance_with(options).await.unwrap();
    assert_eq!(result.gated_plugins, ["p"]);
    assert!(summary_of(&result, "locked").contains("task locked"));
    assert!(there.join("logs/runs/2026-08-20.jsonl").is_file());
    let written = fleet.text(&there.join("s/state.json"));
    assert!(written.contains(r#""status": "gated""#) && !written.contains("stub"), "{written}");
    assert!(fleet.text(&there.join("events")).contains("stub: parked result discarded"));
    let log = there.join(format!("runs/{}.json", result.run_id));
    assert_eq!(result.run_log_path, Some(log));
    assert_eq!(names(&fleet.paths.home), ["there"], "nothing comes to be at the usual places");
    let moved = ["events", "grant", "logs", "plugins", "prefs.json", "runs", "s"];
    assert_eq!(names(&there), moved);
    assert_eq!(
        names(&there.join("s")),
        ["last-successful-advance", "state.json"],
        "lock and journal lay beside it and are gone"
    );
}

#[tokio::test(start_paused = true)]
async fn halves_of_pairs_survive_into_every_file() {
    let fleet = Fleet::new();
    let half = JsString::from_utf16(&[0x61, 0xd83d]);
    let value = move |status: &str, rest: &str| {
        let mut value = result(status, "x", rest).unwrap();
        value.as_object_mut().unwrap().insert("summary", &half);
        value
    };
    let rest = r#""artifacts_produced":[{"type":"t\ud83d","body":"b\ud83d"},"p\ud83d"],
        "undo_instruction":"u\udc00","needs_llm":{"task":"n\ud83d","context_path":"c\ud83d"}"#;
    let error = r#""errors":[{"code":"timeout","message":"m\ud83d","impact":"LOW"}]"#;
    let (good, bad) = (value("success", rest), value("failed", error));
    fleet.plugin("good", "", move |_| std::future::ready(Ok(good.clone())));
    fleet.plugin("bad", "", move |_| std::future::ready(Ok(bad.clone())));
    std::fs::write(&fleet.paths.preferences, r#"{"review_gate":true}"#).unwrap();
    let advanced = fleet.advance().await;
    let log = fleet.text(advanced.run_log_path.as_ref().unwrap());
    let state = fleet.text(&fleet.paths.state_file);
    for text in [r#""a\ud83d""#, r#""b\ud83d""#, r#""p\ud83d""#, r#""u\udc00""#, r#""n\ud83d""#] {
        assert!(log.contains(text), "the run log: {text}");
        assert!(state.contains(text), "the parked result: {text}");
    }
    let lines = fleet.text(&fleet.paths.logs_dir.join("runs/2026-08-20.jsonl"));
    assert!(lines.contains(r#""detail":"a\ud83d""#));
    assert!(fleet.text(&fleet.paths.events).contains(r#""summary":"bad: m\ud83d""#));
    let again = fleet.advance().await;
    assert_eq!(again.plugin_entries.len(), 2, "what was written can be read");
    assert_eq!(list_at(&fleet.state(), "pending_gates").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_recorded_stands_in_the_order_of_the_levels_whichever_plugin_was_faster() {
    let fleet = Fleet::new();
    for (name, ms) in [("alpha", 900), ("bravo", 600), ("charlie", 300)] {
        for (name, fields) in
            [(name.to_owned(), ""), (format!("{name}-asks"), r#""autonomy_level":"supervised""#)]
        {
            fleet.plugin(&name, fields, move |_| async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                ok("done", "")
            });
        }
    }
    let result = fleet.advance().await;
    let gated = ["alpha-asks", "bravo-asks", "charlie-asks"];
    assert_eq!(result.gated_plugins, gated);
    let state = fleet.state();
    assert_eq!(
        keys(state.get("plugin_runs").expect("written")),
        ["alpha", "alpha-asks", "bravo", "bravo-asks", "charlie", "charlie-asks"]
    );
    let parked = list_at(&state, "pending_gates");
    assert_eq!(parked.iter().map(|gate| text_at(gate, "plugin")).collect::<Vec<_>>(), gated);
}
