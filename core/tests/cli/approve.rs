//! `approve` and `revoke`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use warpline_core::answers::{deny, is_approved};
use warpline_core::cli::Io;
use warpline_core::cli::input::Input;
use warpline_core::cli::writer::Writer;
use warpline_core::home::Paths;

use crate::support::{
    FRESH, Home, Ran, STALE, assert_refused, assert_told, denial, fingerprint, fleet, gate,
    run_entry,
};

const ONE_HOUR: &str = "2026-08-20T13:00:00.000Z";

const FRESH_END: &str = r#""run_completed_at":"2026-08-20T11:00:00.000Z""#;

fn grant(home: &Home) -> String {
    home.json(".session-approval").get("scopes").expect("scopes").to_compact()
}

fn expiry(home: &Home) -> String {
    let value = home.json(".session-approval");
    value.get("expires_at").and_then(|text| text.as_string()).expect("expires_at").to_text()
}

/// Cases: T124, T274.
#[test]
fn one_name_is_granted_for_four_hours() {
    let home = fleet();
    let ran = home.run("approve render-issue");
    let expected = "Approved 1 plugin: render-issue
  render-issue: sends_email
Grant: render-issue — 4h remaining, until 2026-08-20 21:30 +05:30
";
    assert_eq!(ran, Ran { code: 0, out: expected.into(), err: String::new() });
    assert_eq!(grant(&home), r#"["render-issue"]"#);
    let trace = r#"{"event":"grant_merged","scopes":["render-issue"],"expires_at":"2026-08-20T16:00:00.000Z"}"#;
    assert_eq!(home.events(), [trace]);
    assert_told(&home.run("board --all").out, &["engine: approved: 1 plugin, until 2026-08-20"]);
}

/// Cases: T131, T133.
#[test]
fn grants_add_up_sorted_and_replace_starts_over() {
    let home = fleet();
    assert_eq!(home.run("approve render-issue").code, 0);
    let ran = home.run("approve digest-sender db-writer digest-sender");
    assert_told(
        &ran.out,
        &[
            "Approved 2 plugins: db-writer, digest-sender\n  db-writer: writes_db, external_api\n  digest-sender: sends_email\n",
            "Grant: db-writer, digest-sender, render-issue — ",
        ],
    );
    assert_eq!(grant(&home), r#"["db-writer","digest-sender","render-issue"]"#);
    assert_eq!(home.run("approve quiet --replace").code, 0);
    assert_eq!(grant(&home), r#"["quiet"]"#);
}

/// Cases: T125.
#[test]
fn unknown_names_are_refused_before_anything_is_written() {
    let home = fleet().grant(r#"["x"]"#, ONE_HOUR);
    let before = home.snapshot();
    let ran = home.run("approve render-issue digest-sendr");
    assert_refused(&ran, &["`digest-sendr`", "hint: did you mean `digest-sender`?"]);
    assert_refused(&home.run("approve __proto__"), &["unknown plugin `__proto__`"]);
    assert_eq!(home.snapshot(), before);
    let broken = fleet().broken("bad", "boom");
    assert_refused(&broken.run("approve bad"), &["`bad` does not load: boom"]);
    let mut rootless = Home::new();
    rootless.fleet.loaded.root_error = Some((rootless.path("plugins"), "ENOENT".into()));
    for line in ["approve a", "approve --all"] {
        assert_refused(&rootless.run(line), &["cannot read plugin root", "ENOENT"]);
    }
    assert!(!rootless.path("").exists());
}

/// Cases: T128, T132.
#[test]
fn usage_errors_write_nothing() {
    let home = fleet();
    let lifetimes = ["0", "0m", "-1h", "garbage", "4", "4y"];
    for line in lifetimes.map(|ttl| format!("approve render-issue --ttl {ttl}")) {
        let ran = home.run(&line);
        assert_refused(&ran, &["--ttl"]);
        assert!(!home.path("").exists(), "{line}");
    }
    for (line, told) in [("approve a --yolo", "`--yolo`"), ("approve", "missing")] {
        assert_refused(&home.run(line), &[told, "Usage: warpline approve"]);
    }
    assert!(!home.path("").exists());
}

/// Cases: T129.
#[test]
fn the_ceiling_and_its_lifting_are_told() {
    let home = fleet().grant(r#"["render-issue"]"#, "2026-08-20T12:30:00.000Z");
    let ran = home.run("approve render-issue --ttl 30d");
    assert_eq!(ran.code, 0);
    assert_told(&ran.out, &["capped", "23 hours", "--long"]);
    assert_eq!(expiry(&home), "2026-08-21T10:00:00.000Z");
    let ran = home.run("approve render-issue --ttl 2d --long");
    assert_told(&ran.out, &["outlasts 23 hours"]);
    assert!(!ran.out.contains("capped"), "{}", ran.out);
    assert_eq!(expiry(&home), "2026-08-22T12:00:00.000Z");
}

/// Cases: T127, T270.
#[test]
fn all_covers_every_plugin_and_says_how_much_that_is() {
    let home = fleet();
    let ran = home.run("approve --all");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let first = "Approval for everything: 3 plugins with 4 declared side effects, and every plugin added while it lasts\n";
    assert!(ran.out.starts_with(first), "{}", ran.out);
    let covered = "\n  db-writer: writes_db, external_api\n  digest-sender: sends_email\n  render-issue: sends_email\n";
    assert_told(&ran.out, &[covered]);
    assert!(!ran.out.contains("stays denied"));
    assert_told(&ran.out, &["Grant: all plugins (*) — 4h remaining"]);
    assert_eq!(grant(&home), r#""*""#);
}

#[test]
fn all_is_told_before_it_is_granted() {
    let home = fleet().file("state/events.jsonl/in-the-way", "");
    let ran = home.run("approve --all");
    assert_eq!(ran.code, 1);
    assert_told(
        &ran.out,
        &["Approval for everything: 3 plugins", "\n  render-issue: sends_email\n"],
    );
    assert!(!ran.out.contains("Grant:"), "{}", ran.out);
    assert_told(&ran.err, &["error: ", "events.jsonl"]);
    assert_eq!(home.read(".session-approval"), None);
    assert_refused(&home.run("approve --all --json"), &["events.jsonl"]);
}

#[test]
fn a_denial_at_any_moment_of_an_approval_leaves_no_grant_beside_it() {
    // The clock is what an approval asks between its steps.
    for moment in 1..=3 {
        let home = fleet();
        let (asked, now) = (Arc::new(AtomicUsize::new(0)), home.now);
        let paths = Paths::new(home.path(""));
        let writer = home.fleet.loaded.manifest(&"db-writer".into()).expect("a plugin").clone();
        let (heard, at) = (asked.clone(), paths.clone());
        let clock = move || {
            if heard.fetch_add(1, Ordering::Relaxed) + 1 == moment {
                deny(&at, &[(&"db-writer".into(), &writer)], None, now).expect("a denial");
            }
            now
        };
        let io = Io {
            out: Writer::memory(),
            err: Writer::memory(),
            input: Input::none(),
            clock: Arc::new(clock),
            package: home.package.clone(),
        };
        let code = home.run_with(&["approve", "db-writer"], &io);
        let denied = asked.load(Ordering::Relaxed) >= moment;
        assert_eq!(is_approved(&paths, &"db-writer".into(), now), !denied, "at moment {moment}");
        assert_eq!(code, i32::from(denied), "at moment {moment}");
        assert!(denied || moment > 1);
    }
}

#[test]
fn a_parked_result_that_nobody_can_answer_goes_with_one_notice_beside_a_grant() {
    let stub = gate("render-issue", FRESH, "null").replace(FRESH_END, r#""run_completed_at":null"#);
    let stub =
        stub.replace(r#""run_started_at":"2026-08-18T09:00:00.000Z""#, r#""run_started_at":null"#);
    let home = fleet().state(&format!(r#""pending_gates":[{stub}]"#));
    for _ in 0..2 {
        assert_told(&home.run("approve db-writer").out, &["Approved 1 plugin: db-writer"]);
    }
    let state = home.json("state/engine-state.json");
    assert_eq!(state.get("pending_gates").expect("gates").to_compact(), "[]");
    let told = home.events();
    let notice = r#"{"event":"gate_invalidated","plugin":"render-issue","run_id":"run-render-issue","reason":"stub"}"#;
    assert_eq!(told[0], notice);
    assert_eq!(told.iter().filter(|event| event.contains("gate_invalidated")).count(), 1);
}

#[test]
fn accepting_a_result_older_than_a_failure_says_that_the_failure_stays_the_last_run() {
    let later = run_entry("render-issue", "failed").replace(FRESH, "2026-08-20T11:30:00.000Z");
    let gates = gate("render-issue", FRESH, "null");
    let state = format!(r#""plugin_runs":{{{later}}},"pending_gates":[{gates}]"#);
    let ran = fleet().state(&state).run("approve render-issue");
    assert_eq!(ran.code, 0);
    assert_told(
        &ran.out,
        &["  a later run, that of 2026-08-20 17:00 +05:30, stays the plugin's last run\n"],
    );
    let json = fleet().state(&state).run("approve render-issue --json").json();
    let result = json.get("results").and_then(|all| all.as_array()?.first()).expect("a result");
    let later = result.get("later_run_at").expect("it is told");
    assert_eq!(later.to_compact(), r#""2026-08-20T11:30:00.000Z""#);
}

/// Cases: T269.
#[test]
fn all_narrates_denials_and_survives_an_unreadable_state() {
    let denials = format!(r#""denials":{{{}}}"#, denial("db-writer", &fingerprint("db-writer")));
    let home = fleet().state(&denials);
    let ran = home.run("approve --all");
    assert_eq!(ran.code, 0);
    assert_told(
        &ran.out,
        &["Approval for everything: 2 plugins", "stays denied", "warpline deny --remove db-writer"],
    );
    assert_eq!(grant(&home), r#""*""#);
    let corrupt = fleet().file("state/engine-state.json", "{");
    assert_told(&corrupt.run("approve --all").out, &["Approval for everything: 3 plugins"]);
    let named = fleet().file("state/engine-state.json", "{");
    assert_refused(&named.run("approve db-writer"), &["engine-state.json"]);
    assert_eq!(named.read(".session-approval"), None);
}

/// Cases: T256, T261, T262, T263.
#[test]
fn a_live_denial_refuses_and_a_superseded_one_does_not() {
    let denials = format!(
        r#""denials":{{{},{}}}"#,
        denial("db-writer", &fingerprint("db-writer")),
        denial("render-issue", &fingerprint("render-issue"))
    );
    let home = fleet().state(&denials);
    let before = home.read("state/engine-state.json");
    assert_refused(
        &home.run("approve digest-sender db-writer"),
        &[
            "`db-writer` was denied at 2026-08-19 17:30 +05:30 (too chatty)",
            "an approval does not lift that, so none was given",
            "hint: `warpline deny --remove db-writer`",
        ],
    );
    assert_refused(
        &home.run("approve render-issue db-writer"),
        &["`render-issue` was denied", "`db-writer` was denied", "--remove render-issue db-writer"],
    );
    assert_eq!(home.read(".session-approval"), None);
    assert_eq!(home.read("state/engine-state.json"), before);
    let denials = format!(r#""denials":{{{}}}"#, denial("db-writer", "0000"));
    let parked = fleet()
        .state(&format!(r#"{denials},"pending_gates":[{}]"#, gate("db-writer", FRESH, "null")));
    let ran = parked.run("approve db-writer");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_told(&ran.out, &["db-writer: recorded the parked result of run run-db-writer"]);
    assert_eq!(parked.read(".session-approval"), None);
    let stale = fleet().state(&denials);
    let ran = stale.run("approve db-writer");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(grant(&stale), r#"["db-writer"]"#);
}

/// Cases: T136, T249, T272.
#[test]
fn a_parked_result_is_recorded_without_a_grant() {
    let gates = gate("render-issue", FRESH, "null");
    let home = fleet().state(&format!(
        r#""plugin_runs":{{{}}},"pending_gates":[{gates}]"#,
        run_entry("render-issue", "gated")
    ));
    let ran = home.run("approve render-issue --ttl 2h --long");
    let expected = "render-issue: recorded the parked result of run run-render-issue, completed at 2026-08-20 16:30 +05:30; the plugin is not run again
  did it
  declared side effects: sends_email
";
    assert_eq!((ran.code, ran.out.as_str()), (0, expected));
    assert_told(&ran.err, &["--ttl", "--long", "leaves the grant file alone"]);
    assert!(!ran.err.contains("--replace"), "{}", ran.err);
    assert_eq!(home.read(".session-approval"), None);
    let state = home.json("state/engine-state.json");
    let run = state.get("plugin_runs").and_then(|runs| runs.get("render-issue")).expect("a run");
    assert_eq!(run.get("status").expect("status").to_compact(), r#""success""#);
    assert_eq!(run.get("last_run_at").expect("time").to_compact(), format!("\"{FRESH}\""));
    assert_eq!(
        home.events(),
        [r#"{"event":"gate_applied","plugin":"render-issue","run_id":"run-render-issue"}"#]
    );
    assert!(home.fleet.asked().is_empty(), "no handler is called");

    let written = home.read("state/engine-state.json");
    let again = home.run("approve render-issue");
    assert_eq!((again.code, again.err.as_str()), (0, ""));
    assert_told(&again.out, &["already applied", "run-render-issue", "does not re-record"]);
    assert_eq!(grant(&home), r#"["render-issue"]"#);
    assert_eq!(home.read("state/engine-state.json"), written);
}

/// Cases: T273.
#[test]
fn no_note_about_ignored_options_without_them() {
    let gates = gate("render-issue", FRESH, "null");
    let home = fleet().state(&format!(r#""pending_gates":[{gates}]"#));
    assert_eq!(home.run("approve render-issue").err, "");
}

/// Cases: T251.
#[test]
fn a_refused_result_does_not_undo_the_ones_before_it() {
    let gates = [gate("render-issue", FRESH, "null"), gate("digest-sender", STALE, "null")];
    let home = fleet().state(&format!(
        r#""plugin_runs":{{{},{}}},"pending_gates":[{}]"#,
        run_entry("render-issue", "gated"),
        run_entry("digest-sender", "gated"),
        gates.join(",")
    ));
    let ran = home.run("approve render-issue digest-sender");
    assert_eq!(ran.code, 1);
    assert_told(&ran.out, &["render-issue: recorded the parked result"]);
    assert_told(&ran.err, &["`digest-sender`", "expired", "does not undo them", "is due again"]);
    let state = home.json("state/engine-state.json");
    let runs = state.get("plugin_runs").expect("runs");
    assert_eq!(
        runs.get("render-issue").and_then(|run| run.get("status")).expect("kept").to_compact(),
        r#""success""#
    );
    assert!(runs.get("digest-sender").is_none());
    assert_eq!(
        home.events(),
        [
            r#"{"event":"gate_applied","plugin":"render-issue","run_id":"run-render-issue"}"#,
            r#"{"event":"gate_expired","plugin":"digest-sender","run_id":"run-digest-sender","reason":"expired"}"#,
        ]
    );
}

#[test]
fn parked_and_other_plugins_are_not_mixed() {
    let gates = gate("render-issue", FRESH, "null");
    let home = fleet().state(&format!(r#""pending_gates":[{gates}]"#));
    let before = home.read("state/engine-state.json");
    assert_refused(
        &home.run("approve render-issue digest-sender"),
        &["parked for `render-issue`", "none for `digest-sender`", "two commands"],
    );
    assert_eq!(home.read("state/engine-state.json"), before);
    assert_eq!(home.read(".session-approval"), None);
}

/// Cases: T252.
#[test]
fn a_dependency_that_ran_since_discards_the_parked_result() {
    let gates = gate("late", FRESH, "null");
    let home = fleet()
        .plugin("late", r#""side_effects":["sends_email"],"dependencies":["quiet"]"#)
        .state(&format!(
            r#""plugin_runs":{{{},{}}},"pending_gates":[{gates}]"#,
            run_entry("quiet", "success"),
            run_entry("late", "gated")
        ));
    let refused = home.run("approve late");
    assert_refused(&refused, &["dependency `quiet`", "discarded", "is due again"]);
    assert_told(&refused.err, &["no grant covers it now: `warpline approve late` once more"]);
    let state = home.json("state/engine-state.json");
    assert_eq!(state.get("pending_gates").expect("gates").to_compact(), "[]");
    assert!(state.get("plugin_runs").and_then(|runs| runs.get("late")).is_none());
    assert_told(&home.events()[0], &["gate_invalidated", "dependency_moved"]);
    assert_eq!(home.read(".session-approval"), None);
}

/// Cases: T253.
#[test]
fn a_result_past_the_ceiling_is_discarded_although_its_plugin_would_still_be_fresh() {
    let home = Home::new()
        .plugin("slow", r#""side_effects":["sends_email"],"ttl_hours":48"#)
        .state(&format!(
            r#""plugin_runs":{{{}}},"pending_gates":[{}]"#,
            run_entry("slow", "gated"),
            gate("slow", STALE, "null")
        ));
    assert_refused(&home.run("approve slow"), &["`slow`", "expired"]);
    let state = home.json("state/engine-state.json");
    assert_eq!(state.get("pending_gates").expect("gates").to_compact(), "[]");
    assert_eq!(state.get("plugin_runs").expect("runs").to_compact(), "{}");
    let told = r#"{"event":"gate_expired","plugin":"slow","run_id":"run-slow","reason":"expired"}"#;
    assert_eq!(home.events(), [told]);
    assert_eq!(home.read(".session-approval"), None);
}

#[test]
fn a_discarded_result_of_a_plugin_that_is_granted_comes_again_by_itself() {
    for (plugin, grant) in [("render-issue", r#"["render-issue"]"#), ("quiet", r#"["other"]"#)] {
        let home = fleet()
            .grant(grant, "2026-08-20T16:00:00.000Z")
            .state(&format!(r#""pending_gates":[{}]"#, gate(plugin, STALE, "null")));
        let refused = home.run(&format!("approve {plugin}"));
        assert_refused(&refused, &["has expired", "is due again; the next advance runs it"]);
    }
}

/// Cases: T255.
#[test]
fn a_denied_or_unusable_parked_result_is_refused_and_kept() {
    let state = format!(
        r#""denials":{{{}}},"pending_gates":[{}]"#,
        denial("render-issue", &fingerprint("render-issue")),
        gate("render-issue", FRESH, "null")
    );
    let home = fleet().state(&state);
    let before = home.snapshot();
    assert_refused(
        &home.run("approve render-issue"),
        &["was denied at", "warpline deny --remove render-issue"],
    );
    assert_eq!(home.read(".session-approval"), None);
    let file = home.path("state/engine-state.json");
    assert_eq!(before.get(&file), home.snapshot().get(&file));
    assert!(home.fleet.asked().is_empty(), "no handler is called");
    let broken = gate("render-issue", "whenever", "null");
    let home = fleet().state(&format!(r#""pending_gates":[{broken}]"#));
    let before = home.read("state/engine-state.json");
    assert_refused(&home.run("approve render-issue"), &["clock that cannot be read"]);
    assert_eq!(home.read("state/engine-state.json"), before);
}

#[test]
fn a_plugin_without_effects_needs_no_grant_and_is_told_so() {
    assert_told(&fleet().run("approve quiet").out, &["quiet declares no side effects"]);
}

/// Cases: T135.
#[test]
fn revoke_deletes_the_grant_and_says_so() {
    let home = fleet().grant(r#""*""#, ONE_HOUR);
    let ran = home.run("revoke");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with("The grant is revoked"), "{}", ran.out);
    assert_eq!(home.read(".session-approval"), None);
    let paths = Paths::new(home.path(""));
    assert!(!is_approved(&paths, &"render-issue".into(), home.now));
    assert_eq!(home.events(), [r#"{"event":"grant_revoked"}"#]);
    let again = home.run("revoke");
    assert_eq!((again.code, again.err.as_str()), (0, ""));
    assert!(again.out.starts_with("There is no grant"), "{}", again.out);
    let nowhere = fleet();
    assert_eq!(nowhere.run("revoke").code, 0);
    assert!(!nowhere.path("").exists());
}

#[test]
fn json_of_a_grant_tells_what_it_covers_and_how_long() {
    let home = fleet();
    let ran = home.run("approve render-issue quiet --json");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let expected = concat!(
        r#"{"results":[],"grant":{"scopes":["quiet","render-issue"],"#,
        r#""granted_at":"2026-08-20T12:00:00.000Z","first_granted_at":"2026-08-20T12:00:00.000Z","#,
        r#""expires_at":"2026-08-20T16:00:00.000Z","capped":false,"extended":false},"#,
        r#""plugins":[{"plugin":"quiet","side_effects":[],"denied":false},"#,
        r#"{"plugin":"render-issue","side_effects":["sends_email"],"denied":false}],"failures":[]}"#
    );
    assert_eq!(ran.json().to_compact(), expected);

    let denials = format!(r#""denials":{{{}}}"#, denial("db-writer", &fingerprint("db-writer")));
    let home = fleet().broken("bad", "boom").state(&denials);
    let ran = home.run("approve --all --ttl 30d --json");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let expected = concat!(
        r#"{"results":[],"grant":{"scopes":"*","granted_at":"2026-08-20T12:00:00.000Z","#,
        r#""first_granted_at":"2026-08-20T12:00:00.000Z","#,
        r#""expires_at":"2026-08-21T11:00:00.000Z","capped":true,"extended":false},"#,
        r#""plugins":[{"plugin":"db-writer","side_effects":["writes_db","external_api"],"denied":true},"#,
        r#"{"plugin":"digest-sender","side_effects":["sends_email"],"denied":false},"#,
        r#"{"plugin":"render-issue","side_effects":["sends_email"],"denied":false}],"#,
        r#""failures":[{"plugin":"bad","error":"boom"}]}"#
    );
    assert_eq!(ran.json().to_compact(), expected);
    assert_refused(&home.run("approve db-writer --json"), &["`db-writer` was denied"]);
    assert_refused(&home.run("approve nobody --json"), &["unknown plugin `nobody`"]);
}

#[test]
fn json_of_parked_results_tells_each_outcome_the_refused_ones_too() {
    let home = fleet().plugin("late", r#""dependencies":["quiet"]"#).state(&format!(
        r#""plugin_runs":{{{}}},"pending_gates":[{}]"#,
        run_entry("quiet", "success"),
        [
            gate("render-issue", FRESH, "null"),
            gate("digest-sender", STALE, "null"),
            gate("db-writer", "whenever", "null"),
            gate("late", FRESH, "null"),
        ]
        .join(",")
    ));
    let ran = home.run("approve render-issue digest-sender db-writer late --json");
    assert_eq!(ran.code, 1);
    assert_told(&ran.err, &["error: ", "`digest-sender`", "`db-writer`", "`late`", "stay"]);
    let expected = concat!(
        r#"{"results":[{"plugin":"render-issue","outcome":"recorded","run_id":"run-render-issue","#,
        r#""side_effects":["sends_email"],"run_completed_at":"2026-08-20T11:00:00.000Z","#,
        r#""summary":"did it","later_run_at":null},"#,
        r#"{"plugin":"digest-sender","outcome":"expired","run_id":"run-digest-sender","#,
        r#""side_effects":["sends_email"]},"#,
        r#"{"plugin":"db-writer","outcome":"unusable","run_id":"run-db-writer","#,
        r#""side_effects":["writes_db","external_api"]},"#,
        r#"{"plugin":"late","outcome":"dependency_moved","run_id":"run-late","#,
        r#""side_effects":[],"dependencies":["quiet"]}],"#,
        r#""grant":null,"plugins":[],"failures":[]}"#
    );
    assert_eq!(ran.json().to_compact(), expected);
    let again = home.run("approve render-issue --json").json();
    let expected = concat!(
        r#"[{"plugin":"render-issue","outcome":"already_applied","run_id":"run-render-issue","#,
        r#""side_effects":["sends_email"],"applied_at":"2026-08-20T12:00:00.000Z"}]"#
    );
    assert_eq!(again.get("results").expect("results").to_compact(), expected);
    let scopes = again.get("grant").and_then(|grant| grant.get("scopes")).expect("scopes");
    assert_eq!(scopes.to_compact(), r#"["render-issue"]"#);
}

#[test]
fn json_of_revoke_tells_whether_there_was_a_grant() {
    let home = fleet().grant(r#""*""#, ONE_HOUR);
    for revoked in [true, false] {
        let ran = home.run("revoke --json");
        let out = format!("{{\n  \"revoked\": {revoked}\n}}\n");
        assert_eq!(ran, Ran { code: 0, out, err: String::new() });
    }
}

#[test]
fn a_yes_to_a_named_run_is_refused_when_another_result_waits() {
    let gates = [gate("render-issue", FRESH, "null"), gate("digest-sender", FRESH, "null")];
    let home = fleet().state(&format!(r#""pending_gates":[{}]"#, gates.join(",")));
    let before = home.read("state/engine-state.json");
    let ran = home.run("approve render-issue --run run-x");
    let told =
        ["`render-issue`", "run run-render-issue", "not of run run-x", "nothing was granted"];
    assert_refused(&ran, &told);
    assert_refused(&home.run("approve render-issue --run __proto__"), &["not of run __proto__"]);
    // One of two names answers another run: neither is recorded.
    let both = home.run("approve render-issue digest-sender --run run-render-issue");
    assert_refused(&both, &["`digest-sender`", "run run-digest-sender"]);
    assert_refused(&home.run("approve quiet --run r"), &["no result of `quiet` from run r waits"]);
    assert_eq!(home.read("state/engine-state.json"), before);
    assert_eq!(home.read(".session-approval"), None);
    assert!(home.events().is_empty());

    let ran = home.run("approve render-issue --run run-render-issue");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_told(&ran.out, &["recorded the parked result of run run-render-issue"]);
    let again = home.run("approve render-issue --run run-render-issue");
    assert_refused(
        &again,
        &["was already applied at 2026-08-20 17:30 +05:30", "nothing was granted"],
    );
    assert_eq!(home.read(".session-approval"), None);
}

#[test]
fn text_of_a_plugin_cannot_pose_as_the_commands_own() {
    let gates = gate("render-issue", FRESH, "null")
        .replace(r#""summary":"did it""#, r#""summary":"ok\u202e\n\u001b[2KGrant: none""#);
    let home = fleet().state(&format!(r#""pending_gates":[{gates}]"#));
    let ran = home.run("approve render-issue");
    assert_told(&ran.out, &["\n  ok\\u{202e}\\u{a}\\u{1b}[2KGrant: none\n"]);
}

#[test]
fn a_plugin_that_is_called_like_an_option_is_answered_by_the_command_that_is_offered() {
    let parked = format!(r#""pending_gates":[{}]"#, gate("--all", FRESH, "null"));
    let home = Home::new().plugin("--all", r#""autonomy_level":"supervised""#).state(&parked);
    let yes = "approve --run run---all -- --all";
    let told = home.run("plan").out;
    assert!(told.contains(&format!("yes: warpline {yes}\n")), "{told}");
    assert!(told.contains("no:  warpline deny -- --all\n"), "{told}");
    let ran = home.run(yes);
    assert!(ran.code == 0 && ran.out.contains("recorded the parked result"), "{ran:?}");
    assert_eq!(home.read(".session-approval"), None, "nothing is granted");

    let parked = format!(r#""pending_gates":[{}]"#, gate("--all", STALE, "null"));
    let home = Home::new().plugin("--all", r#""side_effects":["sends_email"]"#).state(&parked);
    let refused = home.run("approve -- --all");
    assert_refused(&refused, &["has expired", "`warpline approve -- --all` once more gives one"]);
}
