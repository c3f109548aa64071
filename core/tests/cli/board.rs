//! `board`, `tasks`, `ack`, `defer`, `done`.

use warpline_core::home::Paths;
use warpline_core::home::lock::StateLock;
use warpline_core::json::{JsString, Value};
use warpline_core::schema::event::BoardEvent;

use crate::support::{Home, NOW, Ran, assert_refused, assert_told};

const STATE: &str = "state/engine-state.json";
const EVENTS: &str = "state/events.jsonl";
const ANSWERS: &str = "state/acknowledgements.json";
const A: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const B: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const C: &str = "cccccccc-0000-4000-8000-000000000003";

fn event(id: &str, kind: &str, severity: &str, at: &str, summary: &str) -> String {
    format!(
        concat!(
            r#"{{"event_id":"{}","type":"{}","timestamp":"{}","source":"mailer","summary":"{}","#,
            r#""severity":"{}","task_id":null,"run_id":null,"metadata_json":null}}"#
        ),
        id, kind, at, summary, severity
    )
}

fn notice(id: &str, at: &str) -> String {
    event(id, "notice", "warning", at, "mailer: look")
}

fn with_events(events: &[String]) -> Home {
    Home::new().file(EVENTS, &(events.join("\n") + "\n"))
}

/// A home with three notices, the second of which is the newest, and an event that is none.
pub fn board() -> Home {
    with_events(&[
        event(A, "error", "warning", "2026-08-20T10:00:00.000Z", "mailer: no route"),
        event(B, "notice", "info", "2026-08-20T11:48:00.000Z", "attempt 1 failed"),
        event("dddddddd", "plugin_result", "info", NOW, "mailer: started"),
        event(
            C,
            "plugin_result",
            "critical",
            "2026-08-20T11:00:00.000Z",
            "mailer: \\u202eawaiting",
        ),
    ])
}

fn ids(ran: &Ran, key: &str) -> Vec<String> {
    let value = ran.json();
    let list = value.as_array().expect("an array").to_vec();
    list.iter()
        .map(|one| one.get(key).and_then(Value::as_string).expect("an id").to_text())
        .collect()
}

fn answer(id: &str, at: &str, action: &str) -> String {
    format!(
        "\"{id}\": {{\n    \"acknowledged_at\": \"{at}\",\n    \"action_taken\": \"{action}\"\n  }}"
    )
}

fn answers(all: &[String]) -> String {
    format!("{{\n  {}\n}}", all.join(",\n  "))
}

fn task(id: &str, source: &str) -> String {
    format!(
        concat!(
            r#"{{"task_id":"{}","first_flagged":"2026-08-17T12:00:00.000Z","description":"Disk \u001b is full","#,
            r#""severity":"warning","run_count":1,"clean_streak":0,"last_detail":"","source_check":"{}","#,
            r#""first_run_id":null,"last_flagged_run_id":null,"action_type":"self_directed","#,
            r#""due_date":null,"extensions":{{}}}}"#
        ),
        id, source
    )
}

fn deferral(id: &str, until: &str) -> String {
    format!(r#"{{"task_id":"{id}","reason":"r","deferred_at":"{NOW}","expires_at":"{until}"}}"#)
}

/// A home with two pending tasks, one that is put off, and one that is done.
pub fn tasks() -> Home {
    let done = format!(
        r#"{{"task_id":"old","description":"d","severity":"info","source_check":"","completed_at":"{NOW}","extensions":{{}}}}"#
    );
    Home::new().state(&format!(
        r#""deferrals":[{},{}],"task_aging":[{},{},{},{}],"completed_tasks":[{done}]"#,
        deferral("rotate-key", "2026-08-21T12:00:00.000Z"),
        deferral("disk-full", NOW),
        task("disk-full", "host-metrics"),
        task("disk-slow", ""),
        task("rotate-key", "mailer"),
        task("old", ""),
    ))
}

fn traces(home: &Home) -> Vec<BoardEvent> {
    let text = home.read(EVENTS).unwrap_or_default();
    let read = |line| BoardEvent::parse(&warpline_core::json::parse(line).expect("JSON"));
    text.lines().map(|line| read(line).expect("an event")).collect()
}

#[test]
fn the_board_shows_what_nobody_has_acknowledged_newest_first_and_writes_nothing() {
    let home = board();
    let before = home.snapshot();
    let expected = "Notices (3):
  bbbbbbbb — info, 12m ago — mailer: attempt 1 failed
  cccccccc — critical, 60m ago — mailer: \\u{202e}awaiting
  aaaaaaaa — warning, 2h ago — mailer: no route
";
    let ran = home.run("board");
    assert_eq!(ran, Ran { code: 0, out: expected.into(), err: String::new() });
    let json = home.run("board --json");
    let stored = home.read(EVENTS).expect("events");
    let stored = warpline_core::json::parse(stored.lines().nth(1).expect("a line")).expect("JSON");
    assert_eq!(json.json().as_array().expect("an array")[0], stored);
    assert_eq!(ids(&json, "event_id"), [B, C, A]);
    assert_eq!(home.snapshot(), before);

    let home = board().file(ANSWERS, &answers(&[answer(B, NOW, "mark_done")]));
    assert_eq!(ids(&home.run("board --json"), "event_id"), [C, A]);
    let empty = Home::new();
    assert_eq!(
        empty.run("board"),
        Ran { code: 0, out: "No notices.\n".into(), err: String::new() }
    );
    assert_eq!(empty.run("board --json").out, "[]\n");
    assert!(!empty.path("").exists());
}

#[test]
fn the_board_keeps_to_the_newest_fifty_and_says_so() {
    let lines: Vec<String> = (0..52)
        .map(|at| notice(&format!("{at:08}-x"), &format!("2026-08-20T10:{at:02}:00.000Z")))
        .collect();
    let home = with_events(&lines);
    let ran = home.run("board");
    assert_told(&ran.out, &["Notices (50 of 52):\n  00000051 — "]);
    assert_eq!(ran.out.lines().count(), 51);
    assert_told(&ran.err, &["2 older notices not shown", "`warpline board --all`"]);
    let json = home.run("board --json");
    assert_eq!(ids(&json, "event_id").len(), 50);
    assert_told(&json.err, &["2 older notices"]);
    let all = home.run("board --all");
    assert_eq!((all.out.lines().count(), all.err.as_str()), (53, ""));
    assert_eq!(ids(&home.run("board --all --json"), "event_id").len(), 52);
    // An acknowledgement of all reaches what the newest fifty leave out.
    assert_eq!(home.run("ack --all").out.lines().count(), 52);
    assert_eq!(home.run("board").out, "No notices.\n");
}

#[test]
fn odd_lines_clocks_and_ids_do_not_upset_the_board() {
    let home = with_events(&[
        notice("__proto__", "whenever"),
        notice("", NOW),
        notice("a b\\u001b", NOW),
        "not json".to_owned(),
        notice("twice-00", "2026-08-20T09:00:00.000Z"),
        event("twice-00", "notice", "info", "2026-08-20T09:30:00.000Z", "again"),
    ]);
    let expected = "Notices (4):
  'a b\\u{1b' — warning, just now — mailer: look
  '' — warning, just now — mailer: look
  twice-00 — info, 2h 30m ago — mailer: again
  __proto__ — warning, at an unknown time — mailer: look
"
    .replace("__proto__", "__proto_");
    assert_eq!(home.run("board").out, expected);
    for typed in ["constructor", "toString", "hasOwnProperty", "\u{1b}", "%", "../x"] {
        let ran = home.run_words(&["ack", typed]);
        assert_refused(&ran, &["no notice has an id that begins with", "nothing was written"]);
        assert!(!ran.err.contains('\u{1b}'), "{ran:?}");
    }
    assert_eq!(home.read(ANSWERS), None);
    assert_eq!(home.run("ack __proto__").code, 0);
    assert_eq!(home.run_words(&["ack", "a b\\u{1b"]).code, 0);
    assert_eq!(home.run("ack --all").code, 0);
    let map = home.json(ANSWERS);
    let keys: Vec<_> = map.as_object().expect("an object").keys().cloned().collect();
    assert_eq!(keys, ["__proto__", "a b\u{1b}", "", "twice-00"].map(JsString::from));
}

#[test]
fn one_notice_is_acknowledged_by_the_beginning_of_its_id() {
    let home = board();
    let state = Paths::new(home.path("")).state_file;
    let ran = home.run("ack aaaaaaaa");
    let told = "aaaaaaaa: acknowledged — mailer: no route\n";
    assert_eq!(ran, Ran { code: 0, out: told.into(), err: String::new() });
    let file = answers(&[answer(A, NOW, "acknowledge")]);
    assert_eq!(home.read(ANSWERS), Some(file.clone()));
    assert!(!state.exists());
    assert_eq!(ids(&home.run("board --json"), "event_id"), [B, C]);
    let again = home.run("ack a");
    assert_eq!((again.code, again.err.as_str()), (0, ""));
    assert_told(
        &again.out,
        &["aaaaaaaa: already answered at 2026-08-20 17:30 +05:30 (acknowledge)"],
    );
    assert_eq!(home.read(ANSWERS), Some(file));
    assert_refused(&home.run("ack dddddddd"), &["no notice", "hint: `warpline board`"]);
}

#[test]
fn every_notice_is_acknowledged_at_once_and_earlier_answers_stay() {
    let earlier = answer(C, "2026-08-19T00:00:00.000Z", "action");
    let home = board().file(ANSWERS, &answers(std::slice::from_ref(&earlier)));
    let ran = home.run("ack --all --json");
    let expected = format!(
        r#"{{"acknowledged":[{{"event_id":"{B}","acknowledged_at":"{NOW}","action_taken":"acknowledge"}},{{"event_id":"{A}","acknowledged_at":"{NOW}","action_taken":"acknowledge"}}],"unchanged":[]}}"#
    );
    assert_eq!((ran.code, ran.json().to_compact()), (0, expected));
    let all = [earlier, answer(B, NOW, "acknowledge"), answer(A, NOW, "acknowledge")];
    assert_eq!(home.read(ANSWERS), Some(answers(&all)));
    let before = home.snapshot();
    let ran = home.run("ack --all");
    assert_eq!((ran.code, ran.out.as_str()), (0, "No notices to acknowledge.\n"));
    let unchanged = format!(
        r#"{{"acknowledged":[],"unchanged":[{{"event_id":"{C}","acknowledged_at":"2026-08-19T00:00:00.000Z","action_taken":"action"}}]}}"#
    );
    assert_eq!(home.run("ack cc --json").json().to_compact(), unchanged);
    assert_eq!(home.snapshot(), before);
    let empty = Home::new();
    assert_eq!(empty.run("ack --all").code, 0);
    assert!(!empty.path("").exists());
}

#[test]
fn a_beginning_that_several_have_is_refused_with_their_number() {
    let (one, two) = ("12345678-aaaa", "12345678-abbb");
    let home = with_events(&[notice(one, NOW), notice(two, NOW)]);
    assert_told(&home.run("board").out, &["  12345678-ab — ", "  12345678-aa — "]);
    let ran = home.run("ack 12345678");
    assert_refused(
        &ran,
        &["`12345678` is the beginning of 2 notices", "hint: type more of the id"],
    );
    assert_eq!(home.read(ANSWERS), None);
    assert_eq!(home.run("ack 12345678-ab").code, 0);
    assert_eq!(ids(&home.run("board --json"), "event_id"), [one]);

    let home = tasks();
    let before = home.snapshot();
    for line in ["done disk", "defer disk- 1h"] {
        assert_refused(&home.run(line), &["is the beginning of 2 open tasks", "`warpline tasks`"]);
    }
    assert_eq!(home.snapshot(), before);
}

#[test]
fn unusable_files_are_told_of_by_readers_and_refused_by_writers() {
    for text in ["{", "[]", r#"{"e":{"acknowledged_at":"x","action_taken":"odd"}}"#] {
        let home = board().file(ANSWERS, text);
        let before = home.snapshot();
        let ran = home.run("board");
        assert_eq!((ran.code, ran.out.lines().count()), (0, 4));
        assert_told(&ran.err, &["note: ", "acknowledgements.json", "unanswered"]);
        for line in ["ack --all", "ack aaaaaaaa"] {
            assert_refused(&home.run(line), &["acknowledgements.json"]);
        }
        assert_eq!(home.snapshot(), before);
    }
    for text in ["{", r#"{"schema_version":2}"#, r#"{"task_aging":{}}"#] {
        let home = Home::new().file(STATE, text);
        let before = home.snapshot();
        let ran = home.run("tasks");
        assert_eq!((ran.code, ran.out.as_str()), (0, "No open tasks.\n"));
        assert_told(&ran.err, &["note: ", "engine-state.json", "no task in it is shown"]);
        assert_eq!(home.run("tasks --json").out, "[]\n");
        for line in ["done disk-full", "defer disk-full 1h"] {
            assert_refused(&home.run(line), &["engine-state.json"]);
        }
        assert_eq!(home.snapshot(), before);
    }
    let home = Home::new();
    std::fs::create_dir_all(home.path(EVENTS)).expect("a directory in the way");
    let ran = home.run("board");
    assert_eq!((ran.code, ran.out.as_str()), (0, "No notices.\n"));
    assert_told(&ran.err, &["events.jsonl", "no notice in it is shown"]);
    assert_refused(&home.run("ack --all"), &["events.jsonl"]);
}

#[test]
fn open_tasks_are_shown_with_how_they_stand_and_nothing_is_written() {
    let home = tasks();
    let before = home.snapshot();
    let expected = "Tasks (3):
  disk-full — warning, 3d, pending: Disk \\u{1b} is full
    host-metrics does not run while it is pending
  disk-slow — warning, 3d, pending: Disk \\u{1b} is full
  rotate-key — warning, 3d, deferred until 2026-08-21 17:30 +05:30: Disk \\u{1b} is full
";
    assert_eq!(home.run("tasks"), Ran { code: 0, out: expected.into(), err: String::new() });
    let json = home.run("tasks --json");
    assert_eq!(ids(&json, "task_id"), ["disk-full", "disk-slow", "rotate-key"]);
    let stored = warpline_core::json::parse(&task("disk-full", "host-metrics")).expect("JSON");
    assert_eq!(json.json().as_array().expect("an array")[0], stored);
    assert_eq!(home.snapshot(), before);
    let empty = Home::new();
    assert_eq!(empty.run("tasks").out, "No open tasks.\n");
    assert_eq!(empty.run("tasks --json").out, "[]\n");
    assert!(!empty.path("").exists());
}

#[test]
fn a_task_is_put_off_for_the_given_span_and_again_in_place_of_it() {
    for (span, until) in [
        ("1h", "2026-08-20 18:30 +05:30"),
        ("4h", "2026-08-20 21:30 +05:30"),
        ("1d", "2026-08-21 17:30 +05:30"),
        ("1w", "2026-08-27 17:30 +05:30"),
    ] {
        let home = tasks();
        let ran = home.run(&format!("defer disk-f {span}"));
        let told = format!("disk-full: put off until {until}\n");
        assert_eq!(ran, Ran { code: 0, out: told, err: String::new() });
        assert_told(
            &home.run("tasks").out,
            &[&format!("disk-full — warning, 3d, deferred until {until}")],
        );
        let traces = traces(&home);
        assert_eq!(traces.len(), 1);
        assert_eq!(traces[0].kind.as_str(), "task_deferred");
        assert_eq!(traces[0].task_id, Some("disk-full".into()));
    }
    let home = tasks();
    let ran = home.run("defer rotate 1h --json");
    let expected = format!(
        r#"{{"deferred":[{{"task_id":"rotate-key","reason":"put off by the operator","deferred_at":"{NOW}","expires_at":"2026-08-20T13:00:00.000Z"}}]}}"#
    );
    assert_eq!((ran.code, ran.json().to_compact()), (0, expected));
    assert_told(
        &home.run("tasks").out,
        &["rotate-key — warning, 3d, deferred until 2026-08-20 18:30"],
    );
    let mut late = tasks();
    late.now =
        warpline_core::clock::Instant::from_ms(8_640_000_000_000_000).expect("the last date");
    let before = late.snapshot();
    assert_refused(&late.run("defer disk-full 1h"), &["later than any date can tell"]);
    assert_eq!(late.snapshot(), before);
}

#[test]
fn a_task_is_done_once() {
    let home = tasks();
    let ran = home.run("done disk-full");
    let told = "disk-full: done — Disk \\u{1b} is full\n";
    assert_eq!(ran, Ran { code: 0, out: told.into(), err: String::new() });
    let state = home.json(STATE);
    let done = state.get("completed_tasks").and_then(Value::as_array).expect("tasks")[1].clone();
    let expected = format!(
        r#"{{"task_id":"disk-full","description":"Disk \u001b is full","severity":"warning","source_check":"host-metrics","completed_at":"{NOW}","extensions":{{}}}}"#
    );
    assert_eq!(done.to_compact(), expected);
    let traces = traces(&home);
    assert_eq!((traces.len(), traces[0].kind.as_str()), (1, "task_completed"));
    assert_eq!(traces[0].task_id, Some("disk-full".into()));
    assert_eq!(ids(&home.run("tasks --json"), "task_id"), ["disk-slow", "rotate-key"]);
    let before = home.read(STATE);
    assert_refused(&home.run("done disk-full"), &["task `disk-full` was done at 2026-08-20 17:30"]);
    assert_refused(&home.run("defer old 1h"), &["task `old` was done at"]);
    assert_eq!(home.read(STATE), before);
    let ran = home.run("done disk --json");
    assert_eq!(ran.code, 0, "only one open task begins so by now: {ran:?}");
    let completed = ran.json();
    let completed = completed.get("completed").and_then(Value::as_array).expect("a list");
    assert_eq!(completed[0].get("task_id").and_then(Value::as_string), Some(&"disk-slow".into()));
}

#[test]
fn an_unknown_task_is_refused_with_a_hint_and_nothing_is_written() {
    let home = tasks();
    let before = home.snapshot();
    assert_refused(&home.run("done rotate-kez"), &["no open task", "did you mean `rotate-key`?"]);
    let names =
        ["toString", "constructor", "__proto__", "hasOwnProperty", "\u{1b}\u{202e}", "/", " "];
    for typed in names {
        for words in [vec!["done", typed], vec!["defer", typed, "1h"]] {
            let ran = home.run_words(&words);
            assert_refused(&ran, &["no open task has an id that begins", "hint: `warpline tasks`"]);
            assert!(!ran.err.contains(['\u{1b}', '\u{202e}']), "{ran:?}");
        }
    }
    assert_eq!(home.snapshot(), before);
    let empty = Home::new();
    for line in ["done x", "defer x 1h", "ack x"] {
        assert_refused(&empty.run(line), &["begins with `x`"]);
    }
    assert!(!empty.path("").exists());
}

#[test]
fn bad_words_are_refused_with_the_usage_before_anything_is_touched() {
    let home = tasks();
    let before = home.snapshot();
    let all: [(&[&str], &str); 16] = [
        (&["ack", ""], "invalid ID"),
        (&["done", ""], "invalid ID"),
        (&["defer", "", "1h"], "invalid ID"),
        (&["ack"], "missing <ID>"),
        (&["done"], "missing <ID>"),
        (&["defer", "disk-full"], "missing <SPAN>"),
        (&["defer", "disk-full", "2h"], "invalid SPAN: expected 1h, 4h, 1d, 1w"),
        (&["defer", "disk-full", ""], "invalid SPAN"),
        (&["defer", "disk-full", "__proto__"], "invalid SPAN"),
        (&["ack", "a", "b"], "unexpected argument `b`"),
        (&["done", "a", "b"], "unexpected argument `b`"),
        (&["ack", "a", "--all"], "cannot be combined"),
        (&["board", "x"], "unexpected argument `x`"),
        (&["tasks", "--all"], "unknown option `--all`"),
        (&["board", "--bogus"], "unknown option `--bogus`"),
        (&["done", "--all"], "unknown option `--all`"),
    ];
    for (words, told) in all {
        assert_refused(&home.run_words(words), &[told, &format!("Usage: warpline {}", words[0])]);
    }
    assert_eq!(home.snapshot(), before);
    assert!(home.fleet.asked().is_empty());
}

#[test]
fn each_verb_has_its_help_and_touches_nothing_for_it() {
    let home = Home::new();
    for verb in ["board", "tasks", "ack", "defer", "done"] {
        let ran = home.run(&format!("{verb} --help"));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert_told(&ran.out, &[&format!("Usage: warpline {verb}"), "--json"]);
        assert_told(&home.run("--help").out, &[&format!("\n  {verb} ")]);
    }
    assert!(!home.path("").exists());
}

#[test]
fn who_only_looks_waits_for_no_lock() {
    let home = board();
    let _held = StateLock::acquire(&Paths::new(home.path("")), home.now).expect("free");
    for line in ["board", "tasks", "board --json", "tasks --json"] {
        // On a busy machine one of them may take as long as a wait for the lock.
        let times = (0..5).map(|_| {
            let began = std::time::Instant::now();
            assert_eq!(home.run(line).code, 0);
            began.elapsed()
        });
        assert!(times.min() < Some(std::time::Duration::from_secs(9)), "{line}");
    }
}
