//! `deny`.

use std::time::{Duration, Instant};

use warpline_core::home::Paths;
use warpline_core::home::lock::StateLock;
use warpline_core::json::{JsString, Value};

use crate::support::{
    FRESH, Home, Ran, assert_refused, assert_told, denial, fingerprint, fleet, gate, run_entry,
};

const STATE: &str = "state/engine-state.json";

fn denials(home: &Home) -> Vec<Value> {
    let state = home.json(STATE);
    let denials = state.get("denials").and_then(Value::as_object).expect("denials");
    denials.iter().map(|(_, denial)| denial.clone()).collect()
}

fn text(denial: &Value, key: &str) -> String {
    denial.get(key).and_then(Value::as_string).expect("text").to_text()
}

/// A home in which these plugins were denied, on their live proposals.
fn denied(names: &[&str]) -> Home {
    let denials: Vec<String> = names.iter().map(|name| denial(name, &fingerprint(name))).collect();
    fleet().state(&format!(r#""denials":{{{}}}"#, denials.join(",")))
}

/// Cases: T138.
#[test]
fn a_no_is_recorded_with_the_proposal_it_answers() {
    let home = fleet();
    let ran = home.run("deny render-issue");
    let told = "render-issue: denied; it does not run, and nobody is asked, until what it proposes changes\n";
    assert_eq!(ran, Ran { code: 0, out: told.into(), err: String::new() });
    let denials = denials(&home);
    assert_eq!(denials.len(), 1);
    let expected = format!(
        concat!(
            r#"{{"plugin":"render-issue","reason":"the operator declined this proposal","#,
            r#""denied_at":"2026-08-20T12:00:00.000Z","note":null,"fingerprint":"{}"}}"#
        ),
        fingerprint("render-issue")
    );
    assert_eq!(denials[0].to_compact(), expected);
    let trace = format!(
        r#"{{"event":"denial_recorded","plugin":"render-issue","reason":"the operator declined this proposal","fingerprint":"{}"}}"#,
        fingerprint("render-issue")
    );
    assert_eq!(home.events(), [trace]);
}

/// Cases: T139.
#[test]
fn a_note_is_kept_word_for_word() {
    let home = fleet();
    let ran = home.run_words(&["deny", "render-issue", "--note", "too chatty this week"]);
    assert_eq!(ran.code, 0);
    assert_eq!(text(&denials(&home)[0], "note"), "too chatty this week");
    let odd = fleet();
    odd.run_words(&["deny", "render-issue", "--note", "-x\n\u{202e}\u{1b}"]);
    assert_eq!(text(&denials(&odd)[0], "note"), "-x\n\u{202e}\u{1b}");
    let shown = odd.run("deny --list").out;
    assert_told(&shown, &["note: -x\\u{a}\\u{202e}\\u{1b}\n"]);
}

/// Cases: T267.
#[test]
fn a_fresh_home_gains_the_state_and_the_events_and_nothing_else() {
    let home = fleet();
    assert_eq!(home.run("deny db-writer").code, 0);
    let files: Vec<_> = home
        .snapshot()
        .into_keys()
        .filter(|path| path.is_file())
        .map(|path| path.strip_prefix(home.path("")).expect("below the home").to_owned())
        .collect();
    assert_eq!(files, [STATE, "state/events.jsonl"].map(std::path::PathBuf::from));
    let granted = fleet().grant(r#"["db-writer"]"#, "2026-08-20T13:00:00.000Z");
    let grant = granted.path(".session-approval");
    let before = granted.snapshot();
    assert_eq!(granted.run("deny db-writer").code, 0);
    assert_eq!(before.get(&grant), granted.snapshot().get(&grant));
}

/// Cases: T140.
#[test]
fn every_name_is_checked_before_anything_is_written() {
    let home = denied(&["db-writer"]);
    let before = home.snapshot();
    let ran = home.run("deny render-issue digest-sendr");
    let told = ["`digest-sendr`", "did you mean `digest-sender`?", "nothing was denied"];
    assert_refused(&ran, &told);
    for name in ["toString", "constructor", "__proto__", "hasOwnProperty"] {
        assert_refused(&home.run(&format!("deny {name}")), &[&format!("`{name}`")]);
    }
    assert_eq!(home.snapshot(), before);
    let broken = fleet().broken("bad", "boom");
    assert_refused(&broken.run("deny bad"), &["`bad` does not load: boom", "nothing was denied"]);
    let mut rootless = Home::new();
    rootless.fleet.loaded.root_error = Some((rootless.path("plugins"), "ENOENT".into()));
    assert_refused(&rootless.run("deny a"), &["cannot read plugin root", "nothing was denied"]);
    assert!(!rootless.path("").exists());
}

/// Cases: T147.
#[test]
fn there_is_no_denial_of_everything() {
    let home = fleet();
    let ran = home.run("deny --all");
    assert_refused(&ran, &["--all", "Usage: warpline deny"]);
    assert!(!home.path("").exists());
}

#[test]
fn an_unusable_state_is_refused_and_left_alone() {
    for text in ["{", r#"{"schema_version":2}"#, r#"{"denials":[]}"#] {
        let home = fleet().file(STATE, text);
        let before = home.snapshot();
        for line in ["deny db-writer", "deny --remove db-writer"] {
            assert_refused(&home.run(line), &["engine-state.json"]);
        }
        let mut after = home.snapshot();
        // The lock file came and went: only its directory knows.
        let state = home.path("state");
        after.insert(state.clone(), before[&state].clone());
        assert_eq!(after, before, "{text}");
    }
}

/// Cases: T265.
#[test]
fn the_same_no_again_writes_nothing() {
    let home = fleet();
    assert_eq!(home.run("deny db-writer").code, 0);
    let (state, events) = (home.read(STATE), home.events());
    let again = home.run("deny db-writer");
    assert_eq!((again.code, again.err.as_str()), (0, ""));
    assert_told(&again.out, &["db-writer: already denied at 2026-08-20 17:30 +05:30"]);
    let noted = home.run("deny db-writer --note x");
    assert_told(&noted.err, &["--note ignored"]);
    assert_eq!((home.read(STATE), home.events()), (state, events));
}

/// Cases: T266.
#[test]
fn a_moved_proposal_takes_a_new_no_in_place_of_the_old_one() {
    let home = fleet().state(&format!(r#""denials":{{{}}}"#, denial("db-writer", "0000")));
    let ran = home.run("deny db-writer");
    assert!(!ran.out.contains("already denied"), "{ran:?}");
    let denials = denials(&home);
    assert_eq!(denials.len(), 1);
    assert_eq!(text(&denials[0], "fingerprint"), fingerprint("db-writer"));
}

/// Cases: T150.
#[test]
fn a_parked_result_is_discarded_by_the_no() {
    let gates = gate("render-issue", FRESH, "null").replace("run-render-issue", "run-a");
    let spent = gate("digest-sender", FRESH, "\"2026-08-20T11:30:00.000Z\"");
    let home = fleet().state(&format!(
        r#""plugin_runs":{{{}}},"pending_gates":[{gates},{spent}]"#,
        run_entry("render-issue", "gated")
    ));
    let ran = home.run("deny render-issue digest-sender");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_told(&ran.out, &["The parked result was discarded: run run-a"]);
    assert_eq!(ran.out.matches("discarded").count(), 1, "{}", ran.out);
    let reasons: Vec<String> = denials(&home).iter().map(|one| text(one, "reason")).collect();
    let parked = "the operator declined the parked result from run run-a";
    assert_eq!(reasons, [parked, "the operator declined this proposal"]);
    let state = home.json(STATE);
    let gates = state.get("pending_gates").and_then(Value::as_array).expect("gates");
    assert_eq!(gates.len(), 1, "the marker of an accepted result stays");
    let run = state.get("plugin_runs").and_then(|runs| runs.get("render-issue"));
    assert!(run.is_some(), "the record that the denial is bound to stays");
    let events = home.events();
    assert_eq!(events.len(), 3);
    assert_told(&events[0], &["denial_recorded", parked]);
    let discarded = r#"{"event":"gate_invalidated","plugin":"render-issue","run_id":"run-a","reason":"denied"}"#;
    assert_eq!(events[1], discarded);
}

#[test]
fn a_gate_that_cannot_be_accepted_goes_with_a_no() {
    let home = fleet()
        .state(&format!(r#""pending_gates":[{}]"#, gate("render-issue", "whenever", "null")));
    assert_refused(&home.run("approve render-issue"), &["hint: `warpline deny render-issue`"]);
    assert_told(&home.run("deny render-issue").out, &["discarded"]);
    assert_eq!(home.json(STATE).get("pending_gates").expect("gates").to_compact(), "[]");
}

/// Cases: T142, T143, T144.
#[test]
fn the_list_shows_every_denial_and_writes_nothing() {
    let stub = gate("quiet", FRESH, "null")
        .replace(&format!(r#""run_completed_at":"{FRESH}""#), r#""run_completed_at":null"#)
        .replace(r#""2026-08-18T09:00:00.000Z""#, "null");
    let live = denial("db-writer", &fingerprint("db-writer"))
        .replace(r#""note":null"#, r#""note":"too chatty this week""#);
    let (old, gone) = (denial("render-issue", "0000"), denial("gone", "0000"));
    let home =
        fleet().state(&format!(r#""denials":{{{live},{old},{gone}}},"pending_gates":[{stub}]"#));
    let before = home.snapshot();
    let expected = "Denials (3):
  db-writer — denied at 2026-08-19 17:30 +05:30, 24h ago: too chatty
    note: too chatty this week
  render-issue — denied at 2026-08-19 17:30 +05:30, 24h ago: too chatty
    no longer holds: what the plugin proposes has changed
  gone — denied at 2026-08-19 17:30 +05:30, 24h ago: too chatty
    no plugin of this name loads
";
    for _ in 0..3 {
        let ran = home.run("deny --list");
        assert_eq!(ran, Ran { code: 0, out: expected.into(), err: String::new() });
    }
    let json = home.run("deny --list --json").json();
    let stored = json.as_array().expect("an array");
    assert_eq!(stored.len(), 3);
    assert_eq!(stored[2].to_compact(), gone.split_once(':').expect("a member").1);
    assert_eq!(home.snapshot(), before);

    let empty = fleet();
    assert_eq!(empty.run("deny --list").out, "No denials.\n");
    assert_eq!(empty.run("deny --list --json").out, "[]\n");
    assert!(!empty.path("").exists());
}

#[test]
fn a_denial_is_taken_back_by_name_and_leaves_a_trace() {
    let home = denied(&["db-writer", "render-issue"]);
    let ran = home.run("deny --remove db-writer");
    let told = "db-writer: the denial of 2026-08-19 17:30 +05:30 is taken back; the next advance asks again\n";
    assert_eq!(ran, Ran { code: 0, out: told.into(), err: String::new() });
    assert_eq!(denials(&home).len(), 1);
    assert_eq!(home.events(), [r#"{"event":"denial_removed","plugin":"db-writer"}"#]);
    assert!(home.fleet.asked().is_empty());
    // A plugin that is gone can still be forgiven.
    let gone = fleet().state(&format!(r#""denials":{{{}}}"#, denial("gone", "0000")));
    assert_eq!(gone.run("deny --remove gone").code, 0);
}

#[test]
fn json_tells_what_was_recorded_discarded_kept_and_removed() {
    let home = denied(&["db-writer"]);
    let text = home.read(STATE).expect("a state");
    let gates = format!(r#"{{"pending_gates":[{}],"#, gate("render-issue", FRESH, "null"));
    let home = home.file(STATE, &text.replacen('{', &gates, 1));
    let ran = home.run("deny render-issue db-writer --json --note x");
    assert_eq!(ran.code, 0);
    assert_eq!(
        ran.err,
        "note: --note ignored for db-writer: the denial on record keeps its words\n"
    );
    let stored = denials(&home);
    let expected = format!(
        concat!(
            r#"{{"recorded":[{}],"#,
            r#""discarded":[{{"plugin":"render-issue","run_id":"run-render-issue"}}],"#,
            r#""unchanged":[{}]}}"#
        ),
        stored[1].to_compact(),
        stored[0].to_compact()
    );
    assert_eq!(ran.json().to_compact(), expected);
    assert_refused(&home.run("deny nobody --json"), &["`nobody`", "nothing was denied"]);
    assert_refused(&home.run("deny --remove nobody --json"), &["`nobody`", "nothing was removed"]);

    let ran = home.run("deny --remove render-issue db-writer --json");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let expected =
        format!(r#"{{"removed":[{},{}]}}"#, stored[1].to_compact(), stored[0].to_compact());
    assert_eq!(ran.json().to_compact(), expected);
    assert!(denials(&home).is_empty());
}

/// Cases: T146, T148.
#[test]
fn removing_what_is_not_there_removes_nothing() {
    let home = denied(&["db-writer"]);
    let before = home.read(STATE);
    let names = ["toString", "constructor", "__proto__", "hasOwnProperty", "render-issue"];
    for name in names {
        let ran = home.run(&format!("deny --remove db-writer {name}"));
        assert_refused(
            &ran,
            &[&format!("no denial is recorded for `{name}`"), "nothing was removed"],
        );
    }
    assert_refused(&home.run("deny --remove db-writr"), &["did you mean `db-writer`?"]);
    assert_eq!(home.read(STATE), before);
    assert!(home.events().is_empty());
    assert_eq!(home.run("deny --remove db-writer").code, 0);
}

/// Cases: T148.
#[test]
fn a_denial_on_record_under_a_prototype_members_name_is_removed_like_any_other() {
    let names = ["toString", "constructor", "__proto__", "hasOwnProperty"];
    let denials: Vec<String> = names.iter().map(|name| denial(name, "0000")).collect();
    let home = fleet().state(&format!(r#""denials":{{{}}}"#, denials.join(",")));
    for (at, name) in names.iter().enumerate() {
        assert_eq!(self::denials(&home).len(), names.len() - at);
        assert_eq!(home.run(&format!("deny --remove {name}")).code, 0, "{name}");
        assert_refused(&home.run(&format!("deny --remove {name}")), &[name]);
    }
    assert!(self::denials(&home).is_empty());
}

/// Cases: T234.
#[test]
fn a_plan_tells_a_standing_no_from_one_that_the_proposal_has_outgrown() {
    let home = denied(&["db-writer"]);
    assert_told(&home.run("plan").out, &["db-writer — denied", "2026-08-19T12:00:00.000Z"]);
    let moved = fleet().state(&format!(r#""denials":{{{}}}"#, denial("db-writer", "0000")));
    let json = moved.run("plan --json").json();
    let rows = json.get("not_due").and_then(Value::as_array).expect("rows");
    let name = JsString::from("db-writer");
    let row = rows.iter().find(|row| row.get("plugin").and_then(Value::as_string) == Some(&name));
    let row = row.expect("a row");
    assert_eq!(text(row, "reason"), "unapproved");
    assert_told(&text(row, "detail"), &["denied 2026-08-19T12:00:00.000Z", "changed"]);
}

/// Cases: T268.
#[test]
fn a_no_waits_for_whoever_has_the_state_lock() {
    let home = fleet();
    let paths = Paths::new(home.path(""));
    let held = StateLock::acquire(&paths, home.now).expect("free");
    let began = Instant::now();
    let ran = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| (home.run("deny db-writer"), began.elapsed()));
        std::thread::sleep(Duration::from_millis(150));
        assert!(!waiter.is_finished());
        assert_eq!(home.read(STATE), None);
        held.release();
        let (ran, took) = waiter.join().expect("no panic");
        assert!(took >= Duration::from_millis(120));
        ran
    });
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(denials(&home).len(), 1);
}
