//! `plan`: what its lists hold and in which order, and that looking changes nothing.

use warpline_core::json::Value;

use crate::support::{Home, assert_refused, assert_told};

const RAN: &str = r#"{"last_run_at":"2026-08-20T11:48:00.000Z","status":"success"}"#;

/// The runs of these plugins, twelve minutes ago.
fn ran(names: &[&str]) -> String {
    let runs: Vec<String> = names.iter().map(|name| format!(r#""{name}":{RAN}"#)).collect();
    format!(r#""plugin_runs":{{{}}}"#, runs.join(","))
}

/// `plugin value` of every row of a list of the report.
fn rows(report: &Value, list: &str, key: &str) -> Vec<String> {
    let rows = report.get(list).and_then(Value::as_array).expect("rows");
    let text = |value: Option<&Value>| value.expect("a value").to_compact().replace('"', "");
    rows.iter().map(|row| format!("{} {}", text(row.get("plugin")), text(row.get(key)))).collect()
}

/// Cases: T112.
#[test]
fn a_dependent_of_what_is_due_is_due_at_the_level_behind_it() {
    let home = Home::new()
        .plugin("alpha", "")
        .plugin("bravo", "")
        .plugin("charlie", r#""dependencies":["alpha"]"#)
        .state(&ran(&["bravo"]));
    let report = home.run("plan --json").json();
    assert_eq!(rows(&report, "due", "level"), ["alpha 0", "charlie 1"]);
    assert_eq!(rows(&report, "not_due", "level"), ["bravo 0"]);
    assert_eq!(report.get("failures").expect("failures").to_compact(), "[]");
    let root = home.path("plugins").display().to_string();
    assert_eq!(report.get("plugins_dir").and_then(Value::as_string), Some(&root.as_str().into()));
}

/// Cases: T115.
#[test]
fn a_profile_holds_back_what_only_a_person_starts() {
    let home = Home::new()
        .plugin("by-hand", r#""schedule":"manual""#)
        .plugin("watched", r#""schedule":"weekly","autonomy_level":"supervised""#)
        .plugin("weekly", r#""schedule":"weekly""#);
    let report = home.run("plan --profile weekly --json").json();
    assert_eq!(rows(&report, "due", "level"), ["weekly 0"]);
    let reasons = ["by-hand profile_schedule", "watched headless_supervised"];
    assert_eq!(rows(&report, "not_due", "reason"), reasons);
}

/// Cases: T117.
#[test]
fn a_profile_that_nobody_knows_is_refused() {
    let home = Home::new().plugin("p", "");
    let told = ["invalid --profile 'bogus'", "Usage: warpline plan"];
    assert_refused(&home.run("plan --profile bogus"), &told);
}

/// Cases: T241.
#[test]
fn minutes_are_rounded_down_and_the_same_instant_gives_the_same_bytes() {
    let home =
        Home::new().plugin("p", "").state(&ran(&["p"])).grant(r#""*""#, "2026-08-20T12:37:59.000Z");
    let first = home.run("plan");
    assert_told(
        &first.out,
        &["Grant: all plugins (*) — 37m remaining", "  p — within TTL (24h) — last run 12m ago\n"],
    );
    assert!(!first.out.contains('\u{1b}'), "{}", first.out);
    assert_eq!(home.run("plan"), first);
}

/// Cases: T471, T472, T475.
#[test]
fn both_lists_go_by_level_and_name_and_show_effects_where_a_yes_matters() {
    let home = Home::new()
        .plugin("zulu", "")
        .plugin("feed-monitor", r#""side_effects":["writes_db","external_api"]"#)
        .plugin("after", r#""dependencies":["zulu"]"#)
        .plugin("yard", r#""autonomy_level":"manual""#)
        .plugin("digest-mailer", r#""side_effects":["creates_issue"]"#)
        .plugin("github-poll", r#""side_effects":["external_api"]"#)
        .plugin("behind", r#""dependencies":["feed-monitor"]"#)
        .plugin("again", r#""dependencies":["zulu"],"autonomy_level":"manual""#)
        .plugin("yet", r#""dependencies":["feed-monitor"],"autonomy_level":"manual""#)
        .state(&ran(&["github-poll"]))
        .grant(r#"["feed-monitor"]"#, "2026-08-20T13:30:00.000Z");
    let expected = "Due (4):
  feed-monitor (level 0)
    writes_db: ✓ approved, 90m remaining
    external_api: ✓ approved, 90m remaining
  zulu (level 0)
    (no declared side effects)
  after (level 1)
    (no declared side effects)
  behind (level 1)
    (no declared side effects)

Not due (5):
  digest-mailer — unapproved — side effects [creates_issue] are not granted
    creates_issue: ⚠ not granted — an advance leaves it out
  github-poll — within TTL (24h) — last run 12m ago
  yard — manual — started by hand only
  again — manual — started by hand only
  yet — manual — started by hand only
";
    let told = home.run("plan").out;
    assert!(told.ends_with(expected), "{told}");
}

/// Cases: T378, T380.
#[test]
fn a_plan_leaves_every_file_as_it_is_to_the_byte_and_the_clock() {
    let event = r#"{"event_id":"e","type":"notice","timestamp":"t","source":"p","summary":"s","severity":"info","task_id":null,"run_id":null,"metadata_json":null}"#;
    let home = Home::new()
        .plugin("due-one", "")
        .plugin("fresh-one", "")
        .plugin("sender", r#""side_effects":["sends_email"]"#)
        .state(&ran(&["fresh-one"]))
        .file("state/events.jsonl", &format!("{event}\n"))
        .grant(r#"["sender"]"#, "2026-08-20T13:30:00.000Z");
    let before = home.snapshot();
    let ran = home.run("plan");
    assert_told(&ran.out, &["Due (2):", "Not due (1):", "Grant: sender"]);
    for line in ["plan --json", "plan --profile daily", "plan --explain sender"] {
        assert_eq!(home.run(line).code, 0, "{line}");
    }
    assert_eq!(home.snapshot(), before);
    assert!(home.fleet.asked().is_empty(), "no handler is called");
}
