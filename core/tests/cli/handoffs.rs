//! `handoffs`: which work waits for a model, and what ends that.

use warpline_core::json::Value;

use crate::log::{advance, by_hand, entry, id, with};
use crate::support::reported;
use crate::support::{Home, Ran};

/// A result that hands a task on; `rest` are more properties of it.
fn handoff(summary: &str, needs: &str) -> String {
    format!(
        r#","result":{{"status":"skipped","phases_completed":[],"phases_failed":[],"errors":[],"data_freshness":{{}},"summary":"{summary}","artifacts_produced":[],"schema_version":2{needs}}}"#
    )
}

fn triage() -> String {
    let needs = r#","needs_llm":{"task":"triage 3\u001b","context_path":"state/triage.json"}"#;
    entry("triage", "completed", "s", &handoff("[needs-llm] x", needs))
}

fn run(plugin: &str, minute: u32, status: &str) -> String {
    format!(
        r#""{plugin}":{{"last_run_at":"2026-08-20T11:{minute:02}:01.000Z","status":"{status}"}}"#
    )
}

fn state(home: Home, runs: &[String], rest: &str) -> Home {
    home.state(&format!(r#""plugin_runs":{{{}}}{rest}"#, runs.join(",")))
}

fn tasks(ran: &Ran) -> Vec<String> {
    let json = reported(ran);
    let list = json.as_array().expect("a list").to_vec();
    list.iter()
        .map(|one| {
            let text = |key| one.get(key).and_then(Value::as_string).map(|text| text.to_text());
            format!("{}: {}", text("plugin").expect("it"), text("task").unwrap_or("-".into()))
        })
        .collect()
}

/// One hand-off, whose context is gone.
pub fn open() -> Home {
    let home = with(&[advance(10, "complete", &[triage()])]);
    state(home, &[run("triage", 10, "skipped"), run("other", 10, "success")], "")
}

#[test]
fn a_handoff_is_told_with_its_context_and_nothing_is_written() {
    let home = open();
    let before = home.snapshot();
    let path = home.path("state/triage.json").display().to_string();
    let run = id(10);
    let expected = |gone: &str| {
        format!(
            "Hand-offs (1):\n  triage — triage 3\\u{{1b}} (49m ago)\n    context: {path}{gone}\n    ended: 2026-08-20 16:40 +05:30\n    run: {run}\n"
        )
    };
    let ran = home.run("handoffs");
    assert_eq!(ran, Ran { code: 0, out: expected(", which is gone"), err: String::new() });
    assert_eq!(home.snapshot(), before);
    let home = home.file("state/triage.json", "{}");
    assert_eq!(home.run("handoffs").out, expected(""));
    let json = reported(&home.run("handoffs --json"));
    let one = &json.as_array().expect("a list")[0];
    let get = |key| one.get(key).expect("a key").to_compact();
    assert_eq!(get("context_path"), format!("\"{path}\""));
    assert_eq!((get("context"), get("by_hand")), (r#""present""#.into(), "false".into()));
    std::fs::remove_file(home.path("state/triage.json")).expect("gone");
    std::os::unix::fs::symlink("/etc/passwd", home.path("state/triage.json")).expect("a link");
    assert_eq!(home.run("handoffs").out, expected(", which lies outside of the home"));
    assert_eq!(Home::new().run("handoffs").out, "No open hand-offs.\n");
    assert_eq!(Home::new().run("handoffs --json").out, "[]\n");
}

#[test]
fn a_later_run_of_the_plugin_ends_it_in_an_advance_or_by_hand() {
    let logs = [advance(10, "complete", &[triage()])];
    let open = |home: Home| tasks(&home.run("handoffs --json"));
    assert_eq!(
        open(state(with(&logs), &[run("triage", 10, "skipped")], "")),
        ["triage: triage 3\u{1b}"]
    );
    for status in ["success", "partial", "failed", "gated"] {
        assert!(open(state(with(&logs), &[run("triage", 20, status)], "")).is_empty(), "{status}");
    }
    let hand = |minute, status, summary| {
        let mut all = logs.to_vec();
        all.push(by_hand("hand", "triage", minute, status, summary));
        open(state(with(&all), &[run("triage", 10, "skipped")], ""))
    };
    assert!(hand(20, "success", "s").is_empty());
    assert!(hand(20, "failed", "s").is_empty());
    assert_eq!(hand(20, "running", "s"), ["triage: triage 3\u{1b}"]);
    assert_eq!(hand(5, "success", "s"), ["triage: triage 3\u{1b}"]);
    assert_eq!(hand(20, "delegated", "[needs-llm] anew"), ["triage: anew"]);
}

#[test]
fn a_run_by_hand_hands_work_on_too() {
    let home = with(&[
        by_hand("h1", "a", 10, "delegated", "[needs-llm] old"),
        by_hand(
            "h2",
            "a",
            20,
            "delegated",
            "[needs-llm] x. Context: y. Context: /HOME/state/c.json",
        ),
        by_hand("h3", "b", 30, "delegated", "in its own words"),
        by_hand("h4", "c", 30, "success", "s"),
    ]);
    assert_eq!(tasks(&home.run("handoffs --json")), ["a: x. Context: y", "b: in its own words"]);
    let told = home.run("handoffs").out;
    assert!(told.contains("(39m ago, by hand)") || told.contains("(40m ago, by hand)"), "{told}");
    assert!(told.contains("context: /HOME/state/c.json, which is gone\n    ended: 2026-08-20 16:50 +05:30\n    run: h2\n"), "{told}");
    let later = state(home, &[run("a", 50, "success"), run("b", 10, "failed")], "");
    assert_eq!(tasks(&later.run("handoffs --json")), ["b: in its own words"]);
}

#[test]
fn an_accepted_handoff_is_found_in_its_parked_result() {
    let needs = r#","needs_llm":{"task":"write","context_path":"c"}"#;
    let gate = |applied: &str| {
        let result = handoff("[needs-llm] y", needs).replace(",\"result\":", "");
        format!(
            r#","pending_gates":[{{"plugin":"p","run_id":"r9","created_at":"c","payload_summary":"s","plugin_result":{result},"run_started_at":"2026-08-20T11:00:00.000Z","run_completed_at":"2026-08-20T11:10:01.000Z","applied_at":{applied}}}]"#
        )
    };
    let runs = [run("p", 10, "skipped")];
    let home = state(Home::new(), &runs, &gate("\"2026-08-20T11:30:00.000Z\""));
    assert_eq!(tasks(&home.run("handoffs --json")), ["p: write"]);
    assert!(home.run("handoffs").out.contains("run: r9"));
    let parked = state(Home::new(), &[run("p", 10, "gated")], &gate("null"));
    assert!(tasks(&parked.run("handoffs --json")).is_empty(), "nobody has accepted it");
}

#[test]
fn a_handoff_whose_log_is_gone_is_told_without_its_task() {
    let runs =
        [run("a", 10, "skipped"), r#""b":{"last_run_at":"never","status":"skipped"}"#.into()];
    let home = state(Home::new(), &runs, "");
    assert_eq!(tasks(&home.run("handoffs --json")), ["b: -", "a: -"]);
    assert!(
        home.run("handoffs").out.contains("a — its run is no longer retained, nor is its task")
    );
    let plain = entry("a", "completed", "s", &handoff("nothing to do", ""));
    let older = entry("a", "completed", "[needs-llm] of an older build", "");
    let open = |entry: &str| {
        let home = with(&[advance(10, "complete", &[entry.to_owned()])]);
        tasks(&state(home, &[run("a", 10, "skipped")], "").run("handoffs --json"))
    };
    assert!(open(&plain).is_empty(), "it was skipped without handing anything on");
    assert_eq!(open(&older), ["a: of an older build"]);
    let unusable = Home::new().file("state/engine-state.json", "{").run("handoffs");
    assert_eq!((unusable.code, unusable.out.as_str()), (0, "No open hand-offs.\n"));
    assert!(unusable.err.starts_with("note: "), "{unusable:?}");
}

#[test]
fn a_result_that_hands_on_in_its_summary_alone_is_told_by_it() {
    let only = entry("triage", "completed", "s", &handoff("[needs-llm] look. Context: /x", ""));
    let home = with(&[advance(10, "complete", &[only])]);
    let home = state(home, &[run("triage", 10, "skipped")], "");
    assert_eq!(tasks(&home.run("handoffs --json")), ["triage: look"]);
}
