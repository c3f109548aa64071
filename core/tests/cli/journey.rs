//! The verbs over the real engine: plan, advance, grant, park, accept, advance again.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use tokio_util::sync::CancellationToken;
use warpline_core::cli::input::Input;
use warpline_core::cli::writer::Writer;
use warpline_core::cli::{Io, Package, run};
use warpline_core::clock::Instant;
use warpline_core::decide::denial::proposal_fingerprint;
use warpline_core::engine::{
    AbortReason, CallId, Clock, Engine, Host, HostFailure, Notice, Request,
};
use warpline_core::home::Environment;
use warpline_core::json::{Map, Value, parse};
use warpline_core::schema::engine_state::EngineState;
use warpline_core::schema::manifest::Manifest;

use crate::support::{NOW, Ran};

/// Answers with the manifest on the disk, and with a result that names the plugin.
#[derive(Default)]
struct TableHost {
    engine: OnceLock<Weak<Engine>>,
    called: Mutex<Vec<String>>,
    /// A document that a handler breaks while it runs.
    spoils: Mutex<Option<PathBuf>>,
}

impl Host for TableHost {
    fn start(&self, id: CallId, _: u64, request: Request) {
        let engine = self.engine.get().and_then(Weak::upgrade).expect("the engine lives");
        let answer: Value = match request {
            Request::LoadManifests { plugins, .. } => {
                let rows = plugins.iter().map(|plugin| {
                    let source = fs::read_to_string(plugin.directory.join("manifest.ts"));
                    let text = source.expect("a file").replace("export const manifest = ", "");
                    let mut row = Map::new();
                    row.insert("plugin", &plugin.name);
                    row.insert("manifest", parse(&text).expect("JSON"));
                    row
                });
                rows.collect::<Vec<Map>>().into()
            }
            Request::LoadHandler { .. } => Value::Null,
            Request::Attempt(attempt) => {
                let name = attempt.plugin.name.to_text();
                self.called.lock().expect("no poison").push(name.clone());
                if let Some(path) = self.spoils.lock().expect("no poison").take() {
                    fs::write(path, "{").expect("a file");
                }
                if name == "broken" {
                    let failure = HostFailure::Threw("it broke".into());
                    engine.complete(id, Err(failure));
                    return;
                }
                let text = format!(
                    concat!(
                        r#"{{"status":"success","phases_completed":["{}"],"phases_failed":[],"#,
                        r#""data_freshness":{{}},"summary":"{} did it"}}"#
                    ),
                    name, name
                );
                parse(&text).expect("JSON")
            }
        };
        engine.complete(id, Ok(answer));
    }

    fn abort(&self, _: CallId, _: AbortReason) {}

    fn notify(&self, _: u64, _: Notice) {}
}

struct Journey {
    directory: tempfile::TempDir,
    host: Arc<TableHost>,
    engine: Arc<Engine>,
}

impl Journey {
    fn new() -> Self {
        let host = Arc::new(TableHost::default());
        let start = Instant::parse(NOW).expect("an instant");
        let engine = Engine::with_clock(host.clone(), Clock::starting_at(start));
        assert!(host.engine.set(Arc::downgrade(&engine)).is_ok());
        Self { directory: tempfile::tempdir().expect("a directory"), host, engine }
    }

    fn plugin(&self, name: &str, extra: &str) {
        let directory = self.directory.path().join(".warpline/plugins").join(name);
        fs::create_dir_all(&directory).expect("a directory");
        let manifest = format!(
            concat!(
                r#"export const manifest = {{"name":"{}","version":"1","description":"","#,
                r#""ttl_hours":24,"autonomy_level":"autonomous"{}}}"#
            ),
            name, extra
        );
        // A later member wins.
        let literal = manifest.replace("export const manifest = ", "");
        let literal = parse(&literal).expect("JSON").to_compact();
        fs::write(directory.join("manifest.ts"), format!("export const manifest = {literal}"))
            .expect("a file");
        fs::write(directory.join("handler.ts"), "export const handler = 1").expect("a file");
    }

    async fn run(&self, line: &str) -> Ran {
        // Time moves between commands, as it does for a person.
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        let (out, err) = (Writer::memory(), Writer::memory());
        let engine = self.engine.clone();
        let clock = Arc::new(move || engine.now());
        let package = Package::default();
        let io = Io { out: out.clone(), err: err.clone(), input: Input::none(), clock, package };
        let cwd = self.directory.path().to_owned();
        let home = cwd.join(".warpline").display().to_string();
        let vars = BTreeMap::from([("WARPLINE_HOME".to_owned(), home.into())]);
        let environment = Environment { vars, cwd };
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let cancel = CancellationToken::new();
        let code = run(&words, environment, self.engine.clone(), 1, cancel, &io).await;
        Ran { code, out: out.contents(), err: err.contents() }
    }

    fn called(&self) -> Vec<String> {
        std::mem::take(&mut *self.host.called.lock().expect("no poison"))
    }
}

#[track_caller]
fn assert_told(ran: &Ran, code: i32, fragments: &[&str]) {
    assert_eq!((ran.code, ran.err.as_str()), (code, ""), "{ran:?}");
    for fragment in fragments {
        assert!(ran.out.contains(fragment), "`{fragment}` is missing in: {}", ran.out);
    }
}

#[tokio::test(start_paused = true)]
async fn a_parked_result_is_accepted_and_its_dependents_follow() {
    let journey = Journey::new();
    journey.plugin("watch", "");
    let note = r#","autonomy_level":"supervised","side_effects":["modifies_file"],"dependencies":["watch"]"#;
    journey.plugin("note", note);
    journey.plugin("report", r#","dependencies":["note"]"#);

    let plan = journey.run("plan").await;
    assert_told(&plan, 0, &["Due (2):", "Not due (1):\n  note — unapproved", "modifies_file: ⚠"]);
    let first = journey.run("advance").await;
    assert_told(
        &first,
        0,
        &["complete\n", "skipped    note — ", "completed  watch — watch did it"],
    );
    assert_eq!(journey.called(), ["watch", "report"]);
    let strict = journey.run("advance --strict").await;
    assert_eq!(strict.code, 1, "{strict:?}");
    assert!(strict.err.starts_with("note: --strict makes this exit 1"), "{strict:?}");

    assert_told(&journey.run("approve note").await, 0, &["Approved 1 plugin: note"]);
    let parked = journey.run("advance").await;
    let until = "\n    can be accepted until ";
    let told =
        ["partial\n", "gated      note — note did it", "pending    report", until, "approve note"];
    assert_told(&parked, 0, &told);
    assert_eq!(journey.called(), ["note"]);
    assert_told(&journey.run("approve note").await, 0, &["recorded the parked result"]);
    assert_eq!(journey.called(), [] as [&str; 0]);

    assert_told(&journey.run("plan").await, 0, &["Due (1):\n  report (level 2)"]);
    let last = journey.run("advance --json").await;
    assert_told(&last, 0, &["\"report\": \"completed\"", "\"exit_code\": 0"]);
    assert_eq!(journey.called(), ["report"]);
}

#[tokio::test(start_paused = true)]
async fn a_failing_plugin_and_a_missing_root_have_their_exit_codes() {
    let journey = Journey::new();
    let refused = journey.run("advance").await;
    assert_eq!((refused.code, refused.out.as_str()), (75, ""), "{refused:?}");
    assert!(refused.err.starts_with("error: cannot read plugin root "), "{refused:?}");
    assert!(refused.err.contains("hint: `--home` or WARPLINE_HOME"), "{refused:?}");
    assert!(!journey.directory.path().join(".warpline").exists(), "no home is created");
    let elsewhere = journey.directory.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("created");
    let homeless = journey.run(&format!("--plugins {} advance", elsewhere.display())).await;
    assert_eq!((homeless.code, homeless.out.as_str()), (75, ""), "{homeless:?}");
    assert!(homeless.err.contains("there is no home at"), "{homeless:?}");
    assert!(!journey.directory.path().join(".warpline").exists(), "no home is created");
    assert_told(&journey.run("plan").await, 0, &["There is no plugin here yet.", "does not exist"]);

    journey.plugin("broken", "");
    assert_told(&journey.run("advance").await, 1, &["failed     broken — ", "it broke"]);
    let run = journey.run("run broken now").await;
    assert_told(&run, 1, &["broken now failed: ", "1 attempt", "it broke"]);
}

#[tokio::test(start_paused = true)]
async fn run_leaves_an_artifact_and_no_state() {
    let journey = Journey::new();
    journey.plugin("mail", r#","side_effects":["sends_email"]"#);
    let ran = journey.run("run mail send --json").await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "mail declares side effects: sends_email\n"));
    assert_eq!(ran.json().get("ok").expect("ok").to_compact(), "true");
    let home = journey.directory.path().join(".warpline");
    let runs: Vec<_> = fs::read_dir(home.join("runs")).expect("runs").flatten().collect();
    assert!(runs.iter().any(|file| file.path().extension().is_some_and(|kind| kind == "json")));
    assert!(!home.join("state/engine-state.json").exists());
    let unknown = journey.run("run mial send").await;
    assert_eq!(unknown.code, 1);
    assert_eq!(unknown.err, "hint: did you mean `mail`?\n");
    assert!(unknown.out.contains("mial send failed: "), "{}", unknown.out);
}

#[tokio::test(start_paused = true)]
async fn a_pass_whose_record_fails_is_no_refusal() {
    let journey = Journey::new();
    journey.plugin("spoiler", "");
    let state = journey.directory.path().join(".warpline/state/engine-state.json");
    *journey.host.spoils.lock().expect("no poison") = Some(state);
    let ran = journey.run("advance").await;
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert_eq!(journey.called(), ["spoiler"]);
    assert!(ran.err.contains(" ended, but its record is incomplete: "), "{ran:?}");
    assert!(!ran.err.contains("nothing was written"), "{ran:?}");
    let again = journey.run("advance").await;
    assert_eq!(again.code, 75, "{again:?}");
    assert!(again.err.contains("engine-state.json"), "{again:?}");
}

/// A plugin's manifest in a home that tests every guard.
fn manifest_fields(name: &str) -> &'static str {
    match name {
        "weekly-one" => r#","schedule":"weekly""#,
        "tiered" => r#","min_tier":"normal""#,
        "watched" => r#","autonomy_level":"supervised""#,
        "by-hand" => r#","autonomy_level":"manual""#,
        "dep-recovers" => r#","dependencies":["recover-producer"]"#,
        "dep-stuck" => r#","dependencies":["stuck"],"side_effects":["sends_email"]"#,
        "stuck" => r#","schedule":"manual""#,
        "denied-one" | "unapproved-one" => r#","side_effects":["sends_email"]"#,
        _ => "",
    }
}

/// Cases: T243, T244.
#[tokio::test(start_paused = true)]
async fn a_plan_and_an_advance_agree_on_every_guard() {
    let journey = Journey::new();
    let names = [
        "by-hand",
        "denied-one",
        "dep-recovers",
        "dep-stuck",
        "due-one",
        "fresh-one",
        "locked-one",
        "recover-producer",
        "stuck",
        "tiered",
        "unapproved-one",
        "watched",
        "weekly-one",
    ];
    for name in names {
        let base = r#","min_tier":"suspended","schedule":"daily""#;
        journey.plugin(name, &format!("{base}{}", manifest_fields(name)));
    }
    let denied = parse(
        r#"{"name":"denied-one","version":"1","description":"","ttl_hours":24,"autonomy_level":"autonomous","side_effects":["sends_email"]}"#,
    );
    let denied = Manifest::parse(&denied.expect("JSON")).expect("a manifest");
    let fingerprint = proposal_fingerprint(&"denied-one".into(), &denied, &EngineState::default());
    let state = format!(
        concat!(
            r#"{{"schema_version":1,"last_interaction_at":"2026-08-17T12:00:00.000Z","plugin_runs":{{"#,
            r#""fresh-one":{{"last_run_at":"2026-08-20T11:00:00.000Z","status":"success"}},"#,
            r#""recover-producer":{{"last_run_at":"2026-08-18T11:00:00.000Z","status":"failed"}},"#,
            r#""stuck":{{"last_run_at":"2026-08-18T11:00:00.000Z","status":"failed"}}}},"#,
            r#""denials":{{"denied-one":{{"plugin":"denied-one","reason":"no","#,
            r#""denied_at":"2026-08-19T12:00:00.000Z","note":null,"fingerprint":"{}"}}}},"#,
            r#""task_aging":[{{"task_id":"t1","first_flagged":"2026-08-19T12:00:00.000Z","#,
            r#""description":"d","severity":"warning","run_count":1,"clean_streak":0,"#,
            r#""last_detail":"x","source_check":"locked-one","first_run_id":null,"#,
            r#""last_flagged_run_id":null,"action_type":"manual","due_date":null,"#,
            r#""extensions":{{}}}}]}}"#
        ),
        fingerprint
    );
    let directory = journey.directory.path().join(".warpline/state");
    fs::create_dir_all(&directory).expect("a directory");
    fs::write(directory.join("engine-state.json"), state).expect("a file");

    let plan = journey.run("plan --profile daily --json").await.json();
    let list = |key: &str, field: &str| -> Vec<String> {
        let rows = plan.get(key).and_then(Value::as_array).expect("rows");
        rows.iter()
            .map(|row| row.get(field).expect("a field").as_string().expect("text").to_text())
            .collect()
    };
    let mut due = list("due", "plugin");
    due.sort();
    assert_eq!(due, ["dep-recovers", "due-one", "recover-producer"]);
    let reasons: BTreeMap<String, String> =
        list("not_due", "plugin").into_iter().zip(list("not_due", "reason")).collect();
    for (plugin, reason) in [
        ("by-hand", "manual"),
        ("denied-one", "denied"),
        ("dep-stuck", "dependency_failed"),
        ("fresh-one", "fresh"),
        ("locked-one", "task_locked"),
        ("stuck", "profile_schedule"),
        ("tiered", "min_tier"),
        ("unapproved-one", "unapproved"),
        ("watched", "headless_supervised"),
        ("weekly-one", "profile_schedule"),
    ] {
        assert_eq!(reasons.get(plugin).map(String::as_str), Some(reason), "{plugin}");
    }
    assert_eq!(reasons.len(), 10);
    let dry = journey.run("advance --dry-run --profile daily").await;
    assert_eq!(dry.code, 0, "{dry:?}");
    let mut called = journey.called();
    called.sort();
    assert_eq!(called, due);
    let strict = journey.run("advance --dry-run --profile daily --strict").await;
    assert_eq!(strict.code, 0, "a dry run leaves effects out whatever is approved: {strict:?}");
}

/// Cases: T308.
#[tokio::test(start_paused = true)]
async fn an_advance_skips_what_the_plan_held_back_before_it_and_nothing_else() {
    let journey = Journey::new();
    journey.plugin("fresh-one", "");
    assert_eq!(journey.run("advance").await.code, 0);
    journey.plugin("due-one", "");
    journey.plugin("by-hand", r#","autonomy_level":"manual""#);
    journey.plugin("weekly-one", r#","schedule":"weekly""#);
    journey.plugin("watched", r#","autonomy_level":"supervised""#);
    journey.called();
    let plan = journey.run("plan --profile daily --json").await.json();
    let held = plan.get("not_due").and_then(Value::as_array).expect("rows").iter();
    let name = |row: &Value| row.get("plugin").and_then(Value::as_string).cloned();
    let mut held: Vec<_> = held.filter_map(name).collect();
    held.sort();
    assert_eq!(held, ["by-hand", "fresh-one", "watched", "weekly-one"]);
    let pass = journey.run("advance --profile daily --json").await.json();
    let states = pass.get("plugin_states").and_then(Value::as_object).expect("states").iter();
    let skipped = states.filter(|(_, state)| **state == Value::from("skipped"));
    let mut skipped: Vec<_> = skipped.map(|(name, _)| name.clone()).collect();
    skipped.sort();
    assert_eq!(skipped, held);
    assert_eq!(journey.called(), ["due-one"]);
}
