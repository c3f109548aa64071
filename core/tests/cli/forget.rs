//! `forget`.

use warpline_core::json::Value;

use crate::support::reported;
use crate::support::{Home, NOW, STALE, assert_refused, denial, gate, run_entry};

const STATE: &str = "state/engine-state.json";

pub fn runs() -> Home {
    with_runs("")
}

fn with_runs(rest: &str) -> Home {
    let runs =
        [run_entry("alpha", "failed"), run_entry("gone", "success"), run_entry("c", "partial")];
    Home::new()
        .plugin("alpha", "")
        .plugin("c", r#""dependencies":["alpha"]"#)
        .state(&format!(r#""plugin_runs":{{{}}},"mine":1{rest}"#, runs.join(",")))
}

/// The files of a home with their bytes and times. The lock of a writer comes and goes beside them.
fn files(home: &Home) -> Vec<(std::path::PathBuf, (Vec<u8>, std::time::SystemTime))> {
    home.snapshot().into_iter().filter(|(path, _)| path.is_file()).collect()
}

#[test]
fn a_run_is_off_the_record_with_a_trace_and_what_depends_on_it_goes_on() {
    let home = with_runs("");
    let held = home.run("plan --explain c").out;
    assert!(held.contains("✗ dependency failed"), "{held}");
    let ran = home.run("forget gone alpha alpha");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let expected = "alpha: its run of 2026-08-20 16:30 +05:30 (failed) is off the record
gone: its run of 2026-08-20 16:30 +05:30 (success) is off the record\n";
    assert_eq!(ran.out, expected);
    let left = home.json(STATE);
    let runs = left.get("plugin_runs").and_then(Value::as_object).expect("runs");
    assert_eq!(runs.keys().map(|key| key.to_text()).collect::<Vec<_>>(), ["c"]);
    assert!(left.get("mine").is_some());
    assert_eq!(
        home.events(),
        [
            r#"{"event":"run_record_removed","plugin":"alpha"}"#,
            r#"{"event":"run_record_removed","plugin":"gone"}"#
        ]
    );
    let free = home.run("plan --explain c").out;
    assert!(free.contains("✓ alpha never ran"), "{free}");
    let json = reported(&home.run("forget c --json"));
    let expected = r#"{"forgotten":[{"plugin":"c","last_run_at":"2026-08-20T11:00:00.000Z","status":"partial"}]}"#;
    assert_eq!(json.to_compact(), expected);
}

#[test]
fn an_unknown_name_leaves_everything_as_it_is() {
    let home = with_runs("");
    let before = files(&home);
    let ran = home.run("forget alpha gnoe");
    assert_refused(&ran, &["no run of `gnoe` is on record", "nothing was written", "`gone`?"]);
    assert_refused(&home.run("forget __proto__"), &["no run of `__proto__`", "`warpline status`"]);
    assert_refused(&Home::new().run("forget x"), &["no run of `x` is on record"]);
    assert_eq!(files(&home), before);
}

#[test]
fn an_open_question_about_the_plugin_comes_first() {
    let gates = |applied: &str| {
        format!(
            r#","pending_gates":[{},{}]"#,
            gate("alpha", NOW, applied),
            gate("gone", NOW, applied)
        )
    };
    let home = with_runs(&gates("null"));
    let before = files(&home);
    let ran = home.run("forget c alpha");
    let answers = "`warpline approve alpha` or `warpline deny alpha`";
    assert_refused(
        &ran,
        &["a result of `alpha` waits for an answer: nothing was written", answers],
    );
    assert_refused(&home.run("forget gone"), &["`gone` waits", "does not load", "23 hours"]);
    assert_eq!(files(&home), before);
    let applied = with_runs(&gates(&format!("\"{STALE}\"")));
    assert_eq!(applied.run("forget alpha").code, 0, "an accepted result is no question");

    let home = with_runs(&format!(r#","denials":{{{}}}"#, denial("gone", "f")));
    let before = files(&home);
    let ran = home.run("forget c gone");
    assert_refused(&ran, &["a denial of `gone` is on record", "`warpline deny --remove gone`"]);
    assert_eq!(files(&home), before);
    assert_eq!(home.run("deny --remove gone").code, 0);
    assert_eq!(home.run("forget c gone").code, 0);
}

#[test]
fn a_name_that_means_something_elsewhere_is_a_name_like_any_other() {
    let home =
        Home::new().state(&format!(r#""plugin_runs":{{{}}}"#, run_entry("__proto__", "failed")));
    assert_eq!(home.run("status").out.matches("__proto__ — 60m ago").count(), 1);
    assert_eq!(home.run("log --plugin __proto__").out, "No runs of __proto__.\n");
    assert_eq!(home.run("show __proto__").out, "__proto__ has produced no Output yet.\n");
    assert_eq!(home.run("forget __proto__").code, 0);
    assert!(!home.read(STATE).expect("a state").contains("__proto__"));
}

#[test]
fn a_document_that_cannot_be_used_is_refused_and_kept() {
    let home = Home::new().file(STATE, "{");
    let before = home.read(STATE);
    assert_refused(&home.run("forget x"), &["engine-state.json"]);
    assert_eq!(home.read(STATE), before);
}
