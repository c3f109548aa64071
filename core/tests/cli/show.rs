//! `show`.

use warpline_core::json::Value;

use crate::log::{advance, by_hand, entry, id, with};
use crate::support::reported;
use crate::support::{FRESH, Home, assert_refused, assert_told};

const BODY: &str = r##""body":"# Week 33\n\u001b[31mred\u202e\ttab""##;

fn output(kind: &str, run: &str, content: &str) -> String {
    format!(r#"{{"type":"{kind}","format":"markdown"{run},"produced_at":"{FRESH}",{content}}}"#)
}

fn of_run(id: &str) -> String {
    format!(r#","run_id":"{id}""#)
}

fn result(outputs: &[String]) -> String {
    format!(
        r#","result":{{"status":"success","phases_completed":[],"phases_failed":[],"errors":[],"data_freshness":{{}},"summary":"s","artifacts_produced":[{}],"schema_version":2}}"#,
        outputs.join(",")
    )
}

fn last(home: Home, output: &str) -> Home {
    home.state(&format!(
        r#""plugin_runs":{{"digest":{{"last_run_at":"{FRESH}","status":"failed","last_output":{output}}}}}"#
    ))
}

/// A plugin whose type `digest` is versioned, with the logs of two runs.
pub fn digest() -> Home {
    let own = |minute: u32, body: &str| {
        let outputs = [
            output("digest", &of_run(&id(minute)), &format!(r#""body":"{body}""#)),
            output("note", &of_run(&id(minute)), r#""path":"gone.md""#),
        ];
        advance(minute, "complete", &[entry("digest", "completed", "s", &result(&outputs))])
    };
    let home =
        with(&[own(10, "ten"), own(50, "fifty"), by_hand("hand", "digest", 55, "success", "s")]);
    home.plugin(
        "digest",
        r#""outputs":{"a":{"type":"digest","temporality":"versioned"},"b":{"type":"note"}}"#,
    )
    .plugin("fresh", "")
}

#[test]
fn the_last_output_is_told_with_its_run_and_its_body_cannot_deceive() {
    let home = last(digest(), &output("digest", &of_run(&id(50)), BODY));
    let before = home.snapshot();
    let ran = home.run("show digest");
    let expected = format!(
        "digest (markdown), 2026-08-20 16:30 +05:30, 60m ago, of run {}

# Week 33
\\u{{1b}}[31mred\\u{{202e}}\ttab

Kept versions (2), newest first:
  {} — digest, 2026-08-20 16:30 +05:30, 60m ago, 5 bytes
  {} — digest, 2026-08-20 16:30 +05:30, 60m ago, 3 bytes
`--run RUN` shows one of them.\n",
        id(50),
        id(50),
        id(10)
    );
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, expected.as_str(), ""));
    let json = reported(&home.run("show digest --json"));
    let outputs = json.get("outputs").and_then(Value::as_array).expect("outputs");
    assert_eq!(
        outputs[0].get("body").and_then(Value::as_string).expect("a body").to_text(),
        "# Week 33\n\u{1b}[31mred\u{202e}\ttab"
    );
    assert_eq!(outputs[0].get("run").expect("a state").to_compact(), r#""retained""#);
    assert_eq!(json.get("versions").and_then(Value::as_array).expect("versions").len(), 2);
    assert_eq!(home.snapshot(), before);
}

/// Cases: T495.
#[test]
fn what_is_gone_is_said_to_be_and_a_run_that_was_never_named_is_something_else() {
    let told = |home: &Home| {
        let json = reported(&home.run("show digest --json"));
        let outputs = json.get("outputs").and_then(Value::as_array).expect("outputs").to_vec();
        let key = |key| outputs[0].get(key).expect("a key").to_compact();
        (home.run("show digest").out, key("run"), key("path_exists"))
    };
    let home = last(Home::new(), &output("d", &of_run("r1"), r#""path":"site/page.md""#));
    let (text, run, exists) = told(&home);
    assert_told(
        &text,
        &["of run r1, which is no longer retained", "file: site/page.md — nothing is there"],
    );
    assert_eq!((run.as_str(), exists.as_str()), (r#""not_retained""#, "false"));
    let home = home.file("runs/r1.json", "{}").file("site/page.md", "x");
    let (text, run, exists) = told(&home);
    assert_eq!(
        text,
        "d (markdown), 2026-08-20 16:30 +05:30, 60m ago, of run r1\nfile: site/page.md\n"
    );
    assert_eq!((run.as_str(), exists.as_str()), (r#""retained""#, "true"));
    let home = last(Home::new(), &output("d", "", r#""path":"/nowhere/\u001b""#));
    let (text, run, _) = told(&home);
    assert_told(&text, &["of no named run", "/nowhere/\\u{1b} — nothing"]);
    assert_eq!(run, r#""none""#);
}

#[test]
fn the_outputs_of_one_run_come_from_its_log() {
    let home = digest();
    let ran = home.run("show digest --run 2026-08-20T1110");
    let run = id(10);
    let expected = format!(
        "digest (markdown), 2026-08-20 16:30 +05:30, 60m ago, of run {run}\n\nten\n\nnote (markdown), 2026-08-20 16:30 +05:30, 60m ago, of run {run}\nfile: gone.md — nothing is there any more\n"
    );
    assert_eq!((ran.code, ran.out), (0, expected));
    let json = reported(&home.run("show digest --run 2026-08-20T1110 --json"));
    assert_eq!(json.get("run_id").expect("a run").to_compact(), format!("\"{run}\""));
    assert_refused(&home.run("show digest --run 2026"), &["`2026` is the beginning of 2 runs"]);
    assert_refused(&home.run("show digest --run nope"), &["no run that is still kept"]);
    assert_refused(
        &home.run("show digset --run 2026-08-20T1110"),
        &["tells nothing of plugin `digset`", "`digest`?"],
    );
    assert_refused(&home.run("show digest --run hand"), &["made by hand", "runs/hand.log"]);
    let empty = with(&[advance(10, "complete", &[entry("p", "completed", "s", &result(&[]))])]);
    assert_eq!(empty.run("show p --run 2026").out, format!("p produced no Output in run {run}.\n"));
    let skipped = with(&[advance(10, "complete", &[entry("p", "skipped", "s", "")])]);
    assert_refused(
        &skipped.run("show p --run 2026"),
        &["holds no result of `p`: it was skipped", "`warpline log"],
    );
    let logged = r#"{"ts":"t","run_id":"lost","event":"run_start"}"#;
    let lost = Home::new().file("logs/runs/2026-08-20.jsonl", &format!("{logged}\n"));
    assert_refused(&lost.run("show p --run lost"), &["run lost is no longer retained"]);
}

#[test]
fn a_plugin_without_an_output_is_no_error_and_an_unknown_one_is() {
    let home = digest();
    let ran = home.run("show fresh");
    assert_eq!((ran.code, ran.out.as_str()), (0, "fresh has produced no Output yet.\n"));
    reported(&home.run("show fresh --json"));
    let kept = home.run("show digest");
    assert_told(&kept.out, &["No last Output of digest is on record.\n\nKept versions (2)"]);
    assert_eq!(kept.err, "");
    let tried = with(&[by_hand("hand", "fresh", 55, "success", "s")]).plugin("fresh", "");
    let tried = tried.run("show fresh");
    assert_eq!(tried.err, "hint: a run by hand keeps no Output; an advance does\n");
    assert_refused(&home.run("show frsh"), &["unknown plugin `frsh`", "`fresh`?"]);
    assert_refused(&home.run("show __proto__"), &["unknown plugin `__proto__`"]);
    let broken = Home::new().file("state/engine-state.json", "{");
    assert_refused(&broken.run("show fresh"), &["engine-state.json"]);
}

#[test]
fn versions_are_listed_up_to_twenty() {
    let many: Vec<_> = (0..30)
        .map(|minute| {
            let outputs = [output("digest", &of_run(&id(minute)), r#""body":"b""#)];
            advance(minute, "complete", &[entry("digest", "completed", "s", &result(&outputs))])
        })
        .collect();
    let home = with(&many)
        .plugin("digest", r#""outputs":{"a":{"type":"digest","temporality":"versioned"}}"#);
    let told = home.run("show digest").out;
    assert_told(&told, &["Kept versions (20)", &id(29), &id(10)]);
    assert!(!told.contains(&id(9)));
    let replaced = with(&many).plugin("digest", r#""outputs":{"a":{"type":"digest"}}"#);
    assert!(!replaced.run("show digest").out.contains("versions"));
}
