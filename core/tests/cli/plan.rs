//! `plan`.

use warpline_core::json::Value;

use crate::support::{FRESH, Home, STALE, denial, gate, run_entry};

const RAN: &str = r#""last_run_at":"2026-08-20T11:48:00.000Z","status":"success""#;

fn fresh(names: &[&str]) -> String {
    let runs: Vec<String> = names.iter().map(|name| format!(r#""{name}":{{{RAN}}}"#)).collect();
    format!(r#""plugin_runs":{{{}}}"#, runs.join(","))
}

/// Cases: T121, T476.
#[test]
fn a_plan_lists_what_is_due_with_its_effects() {
    let home = Home::new()
        .plugin("alpha", "")
        .plugin("gated-one", r#""side_effects":["sends_email","writes_db"]"#)
        .grant(r#"["gated-one"]"#, "2026-08-20T13:30:00.000Z");
    let ran = home.run("plan");
    let expected = format!(
        "Home: {}
Tier: normal
Grant: gated-one — 90m remaining, until 2026-08-20 19:00 +05:30

Due (2):
  alpha (level 0)
    (no declared side effects)
  gated-one (level 0)
    sends_email: ✓ approved, 90m remaining
    writes_db: ✓ approved, 90m remaining

Not due: none, no guard holds a plugin back.
",
        home.path("").display().to_string().trim_end_matches('/')
    );
    assert_eq!(ran.out, expected);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

/// Cases: T113, T239, T473.
#[test]
fn what_is_not_due_comes_with_its_reason_by_level_and_name() {
    let home = Home::new()
        .plugin("zeta", "")
        .plugin("alpha", r#""dependencies":["zeta"]"#)
        .plugin("mailer", r#""side_effects":["sends_email"]"#)
        .plugin("hand", r#""autonomy_level":"manual""#)
        .state(&fresh(&["zeta", "alpha"]));
    let ran = home.run("plan");
    let list = ran.out.split("Not due").nth(1).expect("a list").to_owned();
    let expected = " (4):
  hand — manual — started by hand only
  mailer — unapproved — side effects [sends_email] are not granted
    sends_email: ⚠ not granted — an advance leaves it out
  zeta — within TTL (24h) — last run 12m ago
  alpha — within TTL (24h) — last run 12m ago
";
    assert_eq!(list, expected);
    assert!(ran.out.contains("\nNothing is due"), "{}", ran.out);
    assert!(!ran.out.contains("Due ("), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}'));
    assert_eq!(home.run("plan"), ran);
}

#[test]
fn results_that_wait_are_shown_with_what_their_plugins_declare_and_how_to_answer() {
    let old = gate("mailer", FRESH, "null").replace("run-mailer", "run-old");
    let spent = gate("spent", FRESH, "\"2026-08-20T11:30:00.000Z\"");
    let gates = [
        old,
        gate("quiet", FRESH, "null"),
        gate("mailer", FRESH, "null"),
        spent,
        gate("gone", "x", "null"),
    ];
    let home = Home::new()
        .plugin("mailer", r#""side_effects":["sends_email","writes_db"],"ttl_hours":1.5"#)
        .plugin("quiet", "")
        .plugin("spent", "")
        .state(&format!(
            r#""denials":{{{}}},"pending_gates":[{}]"#,
            denial("mailer", "0000"),
            gates.join(",")
        ));
    let before = home.snapshot();
    let ran = home.run("plan");
    let expected = "
Waiting for an answer (3):
  quiet — did it (run run-quiet, 60m ago)
    declared side effects: none
    can be accepted until 2026-08-21 15:30 +05:30, 22h remaining
    yes: warpline approve quiet --run run-quiet
    no:  warpline deny quiet
  mailer — did it (run run-mailer, 60m ago)
    declared side effects: sends_email, writes_db
    a denial is on record: 2026-08-19 17:30 +05:30, 24h ago, too chatty
    can be accepted until 2026-08-20 18:00 +05:30, 30m remaining
    yes: warpline approve mailer --run run-mailer
    no:  warpline deny mailer
  gone — did it (run run-gone)
    declared side effects: unknown, it does not load
    yes: warpline approve gone --run run-gone
    no:  warpline deny gone

Due";
    assert!(ran.out.contains(expected), "{}", ran.out);
    assert_eq!(home.snapshot(), before);
}

#[test]
fn no_yes_is_offered_to_a_result_that_an_approval_would_refuse() {
    let gates = [
        gate("old", STALE, "null"),
        gate("late", FRESH, "null"),
        gate("odd", "whenever", "null"),
        gate("good", FRESH, "null"),
    ];
    let home = Home::new()
        .plugin("dep", "")
        .plugin("good", "")
        .plugin("late", r#""dependencies":["dep"]"#)
        .plugin("odd", "")
        .plugin("old", r#""ttl_hours":48"#)
        .state(&format!(
            r#""plugin_runs":{{{}}},"pending_gates":[{}]"#,
            run_entry("dep", "success"),
            gates.join(",")
        ));
    let told = home.run("plan").out;
    let told = told.split("Waiting for an answer (4):\n").nth(1).expect("the results");
    let expected = "  old — did it (run run-old, 25h ago)
    declared side effects: none
    cannot be accepted any more: it expired at 2026-08-20 15:30 +05:30
    no:  warpline deny old
  late — did it (run run-late, 60m ago)
    declared side effects: none
    cannot be accepted any more: its dependency `dep` ran since
    no:  warpline deny late
  odd — did it (run run-odd)
    declared side effects: none
    cannot be accepted: a clock of it is missing or cannot be read
    no:  warpline deny odd
  good — did it (run run-good, 60m ago)
    declared side effects: none
    can be accepted until 2026-08-21 15:30 +05:30, 22h remaining
    yes: warpline approve good --run run-good
    no:  warpline deny good
";
    assert!(told.starts_with(expected), "{told}");
    for name in ["old", "late", "odd"] {
        assert_eq!(home.run(&format!("approve {name}")).code, 1, "{name}");
    }
    assert_eq!(home.run("approve good").code, 0);
}

/// Cases: T479.
#[test]
fn the_grant_line_tells_reach_and_time_left() {
    let none = "Grant: none — what declares side effects stays put\n";
    assert!(Home::new().plugin("p", "").run("plan").out.contains(none));
    for (scopes, expires_at, line) in [
        (
            r#"["github-poll","feed-monitor"]"#,
            "2026-08-20T12:37:59.000Z",
            "Grant: feed-monitor, github-poll — 37m remaining, until 2026-08-20 18:07 +05:30\n",
        ),
        (
            r#""*""#,
            "2026-08-20T12:02:00.000Z",
            "Grant: all plugins (*) — 2m remaining, until 2026-08-20 17:32 +05:30 ⚠ ends soon\n",
        ),
        (r#""*""#, "2026-08-20T11:59:59.999Z", "Grant: all plugins (*) — expired\n"),
        (r#""*""#, "nonsense", none),
        (r#"{"a":1}"#, "2026-08-20T13:00:00.000Z", none),
    ] {
        let home = Home::new().plugin("p", "").grant(scopes, expires_at);
        let ran = home.run("plan");
        assert!(ran.out.contains(line), "{scopes} {expires_at}: {}", ran.out);
    }
}

/// Cases: T120, T240, T352.
#[test]
fn a_missing_root_is_shown_and_nothing_is_created() {
    let mut home = Home::new();
    let root = home.path("plugins");
    home.fleet.loaded.root_error = Some((root.clone(), "ENOENT".into()));
    let ran = home.run("plan");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for told in ["There is no plugin here yet.", &root.display().to_string(), "warpline scaffold"] {
        assert!(ran.out.contains(told), "{told}: {}", ran.out);
    }
    assert!(!home.path("").exists());
    home.fleet.loaded.root_error = Some((root.clone(), "EACCES".into()));
    let ran = home.run("plan");
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("cannot be read") && ran.out.contains("EACCES"), "{}", ran.out);
    let empty = home.run_words(&["plan", "--plugins", ""]);
    assert_eq!(empty.code, 1);
    assert!(empty.out.contains("The plugin root was given as empty text."), "{}", empty.out);
    let empty = Home::new().run("plan");
    assert!(empty.out.contains("There is no plugin here yet."), "{}", empty.out);
}

/// Cases: T476, T477.
#[test]
fn load_failures_and_cycles_make_the_plan_incomplete() {
    let home = Home::new()
        .plugin("a", r#""dependencies":["b"]"#)
        .plugin("b", r#""dependencies":["a"]"#)
        .plugin("c", "")
        .broken("broken-one", "boom\nsecond line");
    let ran = home.run("plan");
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("Load failures (3):\n  a: "), "{}", ran.out);
    assert!(ran.out.contains("\n  broken-one: boom\\u{a}second line\n"), "{}", ran.out);
    assert!(ran.out.contains("a -> b -> a"), "{}", ran.out);
    assert!(ran.out.contains("⚠ What follows is incomplete"), "{}", ran.out);
    assert!(ran.out.contains("Due (1):\n  c (level 0)"), "{}", ran.out);
    let none = Home::new().broken("x", "boom").broken("y", "boom").run("plan");
    assert_eq!(none.code, 1);
    assert!(none.out.contains("Load failures (2):"), "{}", none.out);
    assert!(none.out.contains("No plan could be computed"), "{}", none.out);
    for absent in ["Due", "Nothing is due", "No plugins"] {
        assert!(!none.out.contains(absent), "{absent}: {}", none.out);
    }
}

/// Cases: T119.
#[test]
fn an_unreadable_state_counts_as_empty_and_nothing_is_written() {
    let home = Home::new()
        .plugin("p", "")
        .file("state/engine-state.json", "{")
        .file("state/events.jsonl", "{}\n")
        .grant(r#""*""#, "2026-08-20T13:00:00.000Z");
    let before = home.snapshot();
    for line in ["plan", "plan --json", "plan --explain p"] {
        assert_eq!(home.run(line).code, 0);
    }
    assert_eq!(home.snapshot(), before);
}

/// Cases: T113.
#[test]
fn the_json_report_has_the_documented_keys() {
    let mut home = Home::new()
        .plugin("alpha", "")
        .plugin("bravo", "")
        .plugin("charlie", r#""dependencies":["alpha"]"#)
        .plugin("mailer", r#""side_effects":["sends_email"],"schedule":"on_run""#)
        .broken("zulu", "boom")
        .state(&fresh(&["bravo"]))
        .grant(r#"["x"]"#, "2026-08-20T13:00:00.000Z");
    home.fleet.loaded.warnings.push("look".into());
    home.fleet.loaded.literal.insert("alpha".into());
    let ran = home.run("plan --json --profile daily");
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let path = home.path("");
    let path = path.display().to_string();
    let path = path.trim_end_matches('/');
    let expected = format!(
        concat!(
            r#"{{"home":"{path}","plugins_dir":"{path}/plugins","profile":"daily","tier":"normal","#,
            r#""now":"2026-08-20T12:00:00.000Z","#,
            r#""grant":{{"scopes":["x"],"expires_at":"2026-08-20T13:00:00.000Z"}},"#,
            r#""due":[{{"plugin":"alpha","level":0,"side_effects":[],"manifest":"literal"}},"#,
            r#"{{"plugin":"charlie","level":1,"side_effects":[],"manifest":"run"}}],"#,
            r#""not_due":[{{"plugin":"bravo","level":0,"reason":"fresh","detail":"#,
            r#""fresh — within TTL (24h)","data":{{}},"side_effects":[],"manifest":"run"}},"#,
            r#"{{"plugin":"mailer","level":0,"reason":"unapproved","detail":"#,
            r#""unapproved — side effects [sends_email] are not granted","#,
            r#""data":{{"superseded_denial":null}},"#,
            r#""side_effects":[{{"effect":"sends_email","approved":false}}],"manifest":"run"}}],"#,
            r#""failures":[{{"plugin":"zulu","error":"boom"}}],"root_error":null,"warnings":["look"]}}"#
        ),
        path = path
    );
    assert_eq!(ran.json().to_compact(), expected);
    let bare = Home::new().plugin("p", "").run("plan --json").json();
    assert!(bare.get("grant").is_some_and(|grant| grant.is_null()));
    assert!(bare.get("profile").is_some_and(|profile| profile.is_null()));
}

/// Cases: T245.
#[test]
fn a_dependency_that_failed_does_not_count_when_the_plan_runs_it_first() {
    let failed =
        r#""plugin_runs":{"prod":{"last_run_at":"2026-08-19T10:00:00.000Z","status":"failed"}}"#;
    let home = Home::new()
        .plugin("prod", "")
        .plugin("consumer", r#""dependencies":["prod"]"#)
        .state(failed);
    assert!(home.run("plan").out.contains("Due (2):"));
    let latched = Home::new()
        .plugin("prod", r#""schedule":"manual""#)
        .plugin("consumer", r#""dependencies":["prod"]"#)
        .state(failed);
    let out = latched.run("plan").out;
    assert!(out.contains("consumer — dependency failed"), "{out}");
}

/// Cases: T116.
#[test]
fn the_tier_follows_the_given_clock() {
    let home = Home::new()
        .plugin("calm", r#""min_tier":"degraded""#)
        .plugin("keen", "")
        .state(r#""last_interaction_at":"2026-08-17T12:00:00.000Z""#);
    let out = home.run("plan").out;
    assert!(out.contains("Tier: degraded\n"), "{out}");
    assert!(out.contains("Due (1):\n  calm (level 0)"), "{out}");
}

#[test]
fn explain_shows_how_every_guard_answers() {
    let denial = concat!(
        r#""denials":{"p":{"plugin":"p","reason":"no","denied_at":"2026-08-19T12:00:00.000Z","#,
        r#""note":null,"fingerprint":"0000"}},"#
    );
    let home = Home::new()
        .plugin(
            "p",
            r#""side_effects":["sends_email"],"schedule":"weekly","autonomy_level":"supervised""#,
        )
        .state(&format!("{denial}{}", fresh(&["p"])));
    let ran = home.run("plan --explain p --profile daily");
    assert_eq!(ran.code, 0);
    let expected = "p (level 0): not due, profile_schedule decides
  profile_schedule    ✗ schedule 'weekly': outside of profile 'daily'
  min_tier            ✓ tier normal, runs down to normal
  headless_supervised ✗ supervised — not started under a profile, where nobody watches
  manual              ✓ supervised
  fresh               ✗ within TTL (24h) — last run 12m ago
  task_locked         ✓ 0 tasks of this plugin on record
  dependency_failed   ✓ no dependencies
  denied              ✓ denied 24h ago, for another proposal
  unapproved          ✗ unapproved — side effects [sends_email] are not granted; denied 2026-08-19T12:00:00.000Z, but the proposal has changed since
";
    assert_eq!(ran.out, expected);
    let value = home.run("plan --explain p --json").json();
    let guards = value.get("guards").and_then(|guards| guards.as_array()).expect("guards");
    assert_eq!(guards.len(), 9);
    assert_eq!(
        guards[4].get("facts").expect("facts").to_compact(),
        r#""last run 12m ago, ttl 24h""#
    );
    let unknown = home.run("plan --explain q");
    assert_eq!((unknown.code, unknown.out.as_str()), (1, ""));
    assert!(unknown.err.starts_with("error: unknown plugin `q`\nhint: "), "{}", unknown.err);
    let due = Home::new()
        .plugin("a", "")
        .plugin("d", r#""side_effects":["sends_email"],"dependencies":["a","b\u001b"]"#)
        .state(&fresh(&["a"]))
        .grant(r#"["d"]"#, "2026-08-20T13:30:00.000Z")
        .run("plan --explain d");
    let expected = "d (level 1): due
  profile_schedule    ✓ schedule daily, no profile
  min_tier            ✓ tier normal, runs down to normal
  headless_supervised ✓ autonomous, no profile
  manual              ✓ autonomous
  fresh               ✓ never ran, ttl 24h
  task_locked         ✓ 0 tasks of this plugin on record
  dependency_failed   ✓ a success, b\\u{1b} never ran
  denied              ✓ no denial on record
  unapproved          ✓ declared side effects: sends_email; granted, 90m remaining
";
    assert_eq!(due.out, expected);
}

/// Cases: T480.
#[test]
fn names_keep_their_bytes_and_warnings_are_listed() {
    let mut home = Home::new().plugin("監視😀", "");
    home.fleet.loaded.warnings.push("a\u{202e}b".into());
    let out = home.run("plan").out;
    assert!(out.contains("\n  監視😀 (level 0)\n"), "{out}");
    assert!(out.contains("\nWarnings (1):\n  a\\u{202e}b\n"), "{out}");
}

#[test]
fn home_and_plugin_root_come_from_option_variable_and_default() {
    let mut home = Home::new().plugin("p", "");
    let around = home.around().to_owned();
    let root = |home: &Home, line: &str| {
        let value = home.run(line).json();
        let text =
            |key: &str| value.get(key).and_then(|text| text.as_string()).map(|t| t.to_text());
        (text("home").expect("home"), text("plugins_dir").expect("plugins_dir"))
    };
    let text = |relative: &str| around.join(relative).display().to_string();
    assert_eq!(root(&home, "plan --json"), (text(".warpline"), text(".warpline/plugins")));
    assert_eq!(root(&home, "--home h plan --json"), (text("h"), text("h/plugins")));
    home.variables.insert("WARPLINE_PLUGINS_DIR".into(), "fromvar".into());
    assert_eq!(root(&home, "plan --json").1, text("fromvar"));
    assert_eq!(root(&home, "plan --json --plugins opt").1, text("opt"));
    home.variables.insert("WARPLINE_PLUGINS_DIR".into(), "".into());
    assert_eq!(root(&home, "plan --json").1, text(".warpline/plugins"));
}

#[test]
fn a_document_that_an_advance_would_refuse_is_named_in_the_plan() {
    let home = Home::new()
        .file("state/engine-state.json", "{")
        .file("preferences.json", r#"{"quiet_hours":7}"#);
    let ran = home.run("plan --json");
    assert_eq!(ran.code, 0);
    let warnings = ran.json().get("warnings").map(Value::to_compact).unwrap_or_default();
    for name in ["engine-state.json", "preferences.json"] {
        assert!(warnings.contains(name) && warnings.contains("would be refused"), "{warnings}");
    }
    let listed = home.run("deny --list");
    assert_eq!((listed.code, listed.out.as_str()), (0, "No denials.\n"));
    assert!(listed.err.contains("engine-state.json"), "{listed:?}");
    let home = home.plugin("p", "");
    let explained = home.run("plan --explain p");
    assert!(explained.err.contains("would be refused"), "{explained:?}");
}

#[test]
fn a_fresh_plugin_whose_last_run_failed_says_so() {
    let run = r#"{"last_run_at":"2026-08-20T11:48:00.000Z","status":"failed"}"#;
    let home = Home::new().plugin("p", "").state(&format!(r#""plugin_runs":{{"p":{run}}}"#));
    let plan = home.run("plan").out;
    assert!(plan.contains("last run 12m ago and failed; `--force` runs it now"), "{plan}");
    let explained = home.run("plan --explain p").out;
    assert!(explained.contains("last run 12m ago and failed"), "{explained}");
}

#[test]
fn no_run_reads_manifests_and_runs_none() {
    for line in ["plan --no-run", "plan --no-run --json", "plan --no-run --explain p"] {
        let home = Home::new().plugin("p", "");
        assert_eq!(home.run(line).code, 0, "{line}");
        assert_eq!(home.fleet.asked(), ["read only"], "{line}");
    }
    let home = Home::new().plugin("p", "");
    assert_eq!(home.run("plan").code, 0);
    assert!(home.fleet.asked().is_empty());
}
