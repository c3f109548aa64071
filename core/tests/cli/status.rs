//! `status`.

use warpline_core::clock::Instant;
use warpline_core::home::Paths;
use warpline_core::home::lock::RunLock;
use warpline_core::json::Value;

use crate::log::{advance, by_hand, entry, id};
use crate::support::reported;
use crate::support::{
    EFFECT, FRESH, Home, STALE, assert_told, denial, fingerprint, gate, run_entry,
};

fn put(home: Home, documents: &[(String, String)]) -> Home {
    documents.iter().fold(home, |home, (path, text)| home.file(path, text))
}

fn notice(id: u32, severity: &str) -> String {
    format!(
        r#"{{"event_id":"e{id}","type":"notice","timestamp":"{FRESH}","source":"s","summary":"x","severity":"{severity}","task_id":null,"run_id":null,"metadata_json":null}}"#
    ) + "\n"
}

fn task(id: &str) -> String {
    format!(
        r#"{{"task_id":"{id}","first_flagged":"{STALE}","description":"d","severity":"info","run_count":1,"clean_streak":0,"last_detail":"","source_check":"","first_run_id":null,"last_flagged_run_id":null,"action_type":"a","due_date":null,"extensions":{{}}}}"#
    )
}

/// A home in which there is something of everything.
pub fn busy() -> Home {
    let runs = [
        run_entry("fails", "failed"),
        run_entry("gone", "failed"),
        run_entry("later", "success"),
        run_entry("parked", "gated"),
        run_entry("sooner", "success"),
    ];
    let state = format!(
        concat!(
            r#""last_run_id":"{}","last_run_at":"2026-08-20T11:50:00.000Z","last_interaction_at":"{}","#,
            r#""plugin_runs":{{{}}},"denials":{{{},{}}},"task_aging":[{},{}],"#,
            r#""deferrals":[{{"task_id":"t2","reason":"r","deferred_at":"{}","expires_at":"2026-08-21T12:00:00.000Z"}}],"#,
            r#""pending_gates":[{}]"#
        ),
        id(50),
        FRESH,
        runs.join(","),
        denial("quiet", &fingerprint("quiet")),
        denial("sooner", "outgrown"),
        task("t1"),
        task("t2"),
        FRESH,
        gate("parked", FRESH, "null"),
    );
    let home = Home::new()
        .plugin("due", "")
        .plugin("fails", "")
        .plugin("later", r#""ttl_hours":3"#)
        .plugin("mailer", EFFECT)
        .plugin("parked", r#""autonomy_level":"supervised""#)
        .plugin("quiet", "")
        .plugin("sooner", r#""ttl_hours":2.5"#)
        .grant(r#"["other"]"#, "2026-08-20T16:00:00.000Z")
        .state(&state)
        .file(
            "state/events.jsonl",
            &[notice(1, "critical"), notice(2, "info"), notice(3, "info")].concat(),
        );
    put(
        home,
        &[
            advance(0, "partial", &[entry("fails", "failed", "no \\u001b route", "")]),
            advance(50, "complete", &[]),
            by_hand("hand", "scribe", 30, "delegated", "[needs-llm] write"),
        ],
    )
}

#[test]
fn one_screen_tells_what_waits_what_failed_and_what_is_next_and_writes_nothing() {
    let home = busy();
    let before = home.snapshot();
    let ran = home.run("status");
    let expected = format!(
        "Home: {home}
Plugins: {home}/plugins
Grant: other — 4h remaining, until 2026-08-20 21:30 +05:30
  granted at 2026-08-20 16:30 +05:30 (60m ago)
Running now: nothing
Last advance: {} — complete, 2026-08-20 17:20 +05:30, 10m ago
Waiting for an answer (1):
  parked — did it (run run-parked, 60m ago)
    can be accepted until 2026-08-21 15:30 +05:30, 22h remaining
Without a grant (1):
  mailer — sends_email
Handed to a model (1):
  scribe — write (30m ago, by hand)
Denied (1):
  quiet — too chatty (24h ago)
Tasks: 1 pending, 1 put off — `warpline tasks`
Notices: 1 critical, 2 for the record — `warpline board`
Failed (2):
  fails — 60m ago: no \\u{{1b}} route
  gone — 60m ago: its run log is no longer retained
Due now (1): due
Next: sooner at 2026-08-20 19:00 +05:30, in 90m
",
        id(50),
        home = home.path("").display().to_string().trim_end_matches('/'),
    );
    assert_eq!(ran.out, expected);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let json = reported(&home.run("status --json"));
    let key = |key: &str| json.get(key).expect("a key").to_compact();
    assert_eq!(key("due"), r#"["due"]"#);
    assert_eq!(key("notices"), r#"{"critical":1,"warning":0,"info":2}"#);
    let next = r#"[{"plugin":"sooner","at":"2026-08-20T13:30:00.000Z"},{"plugin":"later","at":"2026-08-20T14:00:00.000Z"},"#;
    assert!(key("next").starts_with(next), "{}", key("next"));
    assert_eq!(home.snapshot(), before);
}

#[test]
fn an_empty_home_has_nothing_to_tell_and_comes_into_being_by_nothing() {
    let home = Home::new();
    let ran = home.run("status");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_told(&ran.out, &["Grant: none", "Running now: nothing", "Last advance: none yet"]);
    assert_told(&ran.out, &["Due now: nothing", "Next: nothing that age alone makes due"]);
    reported(&home.run("status --json"));
    assert!(!home.path("").exists());
}

#[test]
fn what_plan_calls_incomplete_is_told_and_fails() {
    let home = Home::new().plugin("a", "").broken("b", "no\u{1b} manifest");
    let ran = home.run("status");
    assert_eq!(ran.code, 1);
    assert_told(&ran.out, &["Load failures (1):\n  b: no\\u{1b} manifest\n", "Due now (1): a\n"]);
    let json = home.run("status --json");
    assert_eq!(json.code, 1);
    json.json();
    let home = Home::new().file("state/engine-state.json", "{").file("state/events.jsonl/x", "");
    let ran = home.run("status");
    assert_told(&ran.out, &["Warnings (1):\n  an advance would be refused: "]);
    assert_told(&ran.err, &["note: ", "events.jsonl", "the count of notices is not right"]);
    assert_eq!(home.run("status --plugins=").code, 1);
}

#[test]
fn a_state_that_is_gone_or_damaged_is_not_taken_for_a_first_day() {
    for home in [Home::new(), Home::new().file("state/engine-state.json", "{")] {
        let home = put(home, &[advance(40, "partial", &[]), advance(50, "complete", &[])]);
        let told = format!("none in the state; the newest run log is that of {}\n", id(50));
        assert_told(&home.run("status").out, &[&told]);
    }
}

#[test]
fn an_advance_that_runs_is_named_and_one_that_was_killed_too() {
    let now = Instant::parse("2026-08-20T11:58:00.000Z").expect("an instant");
    let started = format!(r#"{{"run_id":"{}","plugin":"mailer","started_at":"{FRESH}"}}"#, id(58));
    let home =
        Home::new().plugin("mailer", EFFECT).file("state/in-flight.jsonl", &format!("{started}\n"));
    let before = home.snapshot();
    let killed = home.run("status");
    let told = format!(
        "Last advance: {} — killed before it could record itself\n  a pass was killed",
        id(58)
    );
    assert_told(
        &killed.out,
        &[&told, "Failed (1):\n  mailer — just now: the pass was killed while this ran;"],
    );
    let json = reported(&home.run("status --json"));
    let failed = json.get("failed").map(Value::to_compact).unwrap_or_default();
    assert_told(&failed, &["may have fired", &id(58)]);
    assert_eq!(json.get("journal_left").and_then(Value::as_bool), Some(true));
    assert_eq!(home.snapshot(), before);

    let lock = RunLock::acquire(&Paths::new(home.path("")), &id(58), now).expect("the lock");
    let running = home.run("status");
    let pid = std::process::id();
    let told =
        format!("Running now: run {}, process {pid}, since 2026-08-20 17:28 +05:30\n", id(58));
    assert_told(&running.out, &[&told, "Last advance: none yet"]);
    let json = reported(&home.run("status --json"));
    assert_eq!(json.get("journal_left").and_then(Value::as_bool), Some(false));
    lock.release();
    let interrupted = put(
        Home::new().state(&format!(r#""last_run_id":"{}","last_run_at":"{FRESH}""#, id(58))),
        &[advance(58, "interrupted", &[])],
    );
    assert_told(
        &interrupted.run("status").out,
        &["— interrupted, 2026-08-20 16:30 +05:30, 60m ago"],
    );
    std::fs::remove_file(interrupted.path(&format!("runs/{}.json", id(58)))).expect("pruned");
    assert_told(
        &interrupted.run("status").out,
        &["its run log is no longer retained, 2026-08-20 16:30 +05:30, 60m ago"],
    );
}

#[test]
fn what_is_next_is_what_an_advance_would_run_then() {
    let runs = |names: &[&str]| {
        let all: Vec<String> = names.iter().map(|name| run_entry(name, "success")).collect();
        format!(r#""plugin_runs":{{{},{}}}"#, all.join(","), run_entry("broken", "failed"))
    };
    let task = task("t").replace(r#""source_check":"""#, r#""source_check":"locked""#);
    let deferred =
        r#"{"task_id":"t","reason":"r","deferred_at":"x","expires_at":"2026-08-20T13:00:00.000Z"}"#;
    let home = Home::new()
        .plugin("mailer", &format!(r#"{EFFECT},"ttl_hours":2"#))
        .plugin("poster", &format!(r#"{EFFECT},"ttl_hours":6"#))
        .plugin("broken", r#""ttl_hours":4"#)
        .plugin("early", r#""ttl_hours":3,"dependencies":["broken"]"#)
        .plugin("late", r#""ttl_hours":5,"dependencies":["broken"]"#)
        .plugin("locked", r#""ttl_hours":3"#)
        .plugin("forever", r#""ttl_hours":1e300"#)
        .grant("\"*\"", "2026-08-20T15:00:00.000Z")
        .state(&format!(
            r#"{},"task_aging":[{task}],"deferrals":[{deferred}]"#,
            runs(&["mailer", "poster", "early", "late", "locked", "forever"])
        ));
    let json = reported(&home.run("status --json"));
    let next = json.get("next").and_then(Value::as_array).expect("a list");
    let names: Vec<String> = next
        .iter()
        .map(|one| one.get("plugin").and_then(Value::as_string).expect("a name").to_text())
        .collect();
    // The grant of `poster` has ended by then, `early` waits for `broken`, and the task of `locked`
    // is back.
    assert_eq!(names, ["mailer", "broken", "late"]);
}

#[test]
fn long_lists_are_cut_with_the_verb_that_tells_all() {
    let home = (0..30).fold(Home::new(), |home, at| home.plugin(&format!("p{at:02}"), EFFECT));
    let ran = home.run("status");
    assert_told(&ran.out, &["Without a grant (30):\n  p00", "  and 22 more — `warpline plan`\n"]);
    assert!(ran.out.lines().count() < 24, "{}", ran.out);
}

#[test]
fn what_keeps_everything_from_running_is_the_first_warning_and_told_whole() {
    let mut home = Home::new().plugin("a", "").file("preferences.json", "{");
    home.fleet.loaded.warnings = (0..30).map(|at| format!("plugin {at}")).collect();
    let ran = home.run("status");
    assert_told(&ran.out, &["Warnings (31):\n  an advance would be refused: "]);
    let line = ran.out.lines().find(|line| line.contains("would be refused")).expect("a line");
    assert!(!line.contains('…'), "{line}");
}

#[test]
fn a_big_fleet_with_everything_at_once_fits_a_screen_and_no_text_fills_it() {
    let long = "x".repeat(5000);
    let names = |kind: &str| (0..30).map(|at| format!("{kind}{at:02}")).collect::<Vec<_>>();
    let home = names("asks").iter().fold(Home::new(), |home, name| home.plugin(name, EFFECT));
    let home = names("parked")
        .iter()
        .fold(home, |home, name| home.plugin(name, r#""autonomy_level":"supervised""#));
    let home = names("due").iter().fold(home, |home, name| home.plugin(name, ""));
    let home = names("broken").iter().fold(home, |home, name| home.broken(name, &long));
    let list = |kind: &str, one: &dyn Fn(&str) -> String| {
        names(kind).iter().map(|name| one(name)).collect::<Vec<_>>().join(",")
    };
    let state = format!(
        r#""plugin_runs":{{{}}},"denials":{{{}}},"pending_gates":[{}]"#,
        list("fails", &|name| run_entry(name, "failed")),
        list("denied", &|name| denial(name, "any").replace("too chatty", &long)),
        list("parked", &|name| gate(name, FRESH, "null").replace("did it", &long)),
    );
    let by_hand: Vec<_> = names("hand")
        .iter()
        .map(|name| by_hand(name, name, 30, "delegated", &format!("[needs-llm] {long}")))
        .collect();
    let ran = put(home.state(&state), &by_hand).run("status");
    let lines: Vec<&str> = ran.out.lines().collect();
    for heading in ["Waiting", "Without a grant", "Handed", "Denied", "Failed", "Load failures"] {
        assert!(lines.iter().any(|line| line.starts_with(heading)), "{heading}: {}", ran.out);
    }
    assert!(lines.len() <= 40, "{}", ran.out);
    assert!(lines.iter().all(|line| line.chars().count() < 160), "{}", ran.out);
}
