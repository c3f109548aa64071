//! The cases of the golden files: a home, and a command line in it. Success, nothing to tell, refusal
//! and failure of each verb, as text and as JSON.

use std::fs;
use std::sync::Mutex;

use warpline_core::engine::{AdvanceResult, Invocation};
use warpline_core::error::{Error, Result};
use warpline_core::schema::run_log::AdvanceStatus;
use warpline_core::schema::skill_result::ResultStatus;

use crate::advance::{DONE, FAILED, GATED, PENDING, UNAPPROVED, pass};
use crate::run::ended;
use crate::support::{FRESH, Home, STALE, denial, fingerprint, fleet, gate, run_entry};
use crate::{board, check, configure, forget, handoffs, init, log, scaffold, show, status};

/// One golden file.
pub struct Case {
    /// The verb and what is special, as the file is called.
    pub name: String,
    pub home: fn() -> Home,
    /// What follows the program's name.
    pub line: String,
}

/// Name, home and line of a case.
type Row = (&'static str, fn() -> Home, &'static str);

const A: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// Every case but the help of each verb, which has one by itself.
pub fn cases() -> Vec<Case> {
    let all: &[Row] = &[
        ("init/fresh", init::fresh, "init"),
        ("init/again", initialised, "init"),
        ("init/missing-input", lacking_input, "init"),
        ("init/in-the-way", in_the_way, "init"),
        ("init/json", lacking_input, "init --json"),
        ("init/json-in-the-way", in_the_way, "init --json"),
        ("init/no-seed", no_seed, "init"),
        ("init/refused", Home::new, "init --yes"),
        ("plan/full", full, "plan"),
        ("plan/json", full, "plan --json"),
        ("plan/all-granted", all_granted, "plan"),
        ("plan/json-all-granted", all_granted, "plan --json"),
        ("plan/profile", full, "plan --profile weekly"),
        ("plan/json-profile", full, "plan --profile weekly --json"),
        ("plan/empty", Home::new, "plan"),
        ("plan/json-empty", Home::new, "plan --json"),
        ("plan/no-root", Home::new, "plan --plugins="),
        ("plan/json-no-root", Home::new, "plan --plugins= --json"),
        ("plan/unusable-state", unusable_state, "plan"),
        ("plan/unusable-grant", unusable_grant, "plan"),
        ("plan/explain", full, "plan --explain mailer"),
        ("plan/json-explain", full, "plan --explain mailer --json"),
        ("plan/explain-unknown", full, "plan --explain maler"),
        ("plan/refused", Home::new, "plan --profile dayly"),
        ("advance/partial", partial, "advance"),
        ("advance/json", partial, "advance --json"),
        ("advance/complete", complete, "advance"),
        ("advance/json-complete", complete, "advance --json"),
        ("advance/strict", unapproved, "advance --strict"),
        ("advance/dry-run", dry, "advance --dry-run"),
        ("advance/json-dry-run", dry, "advance --dry-run --json"),
        ("advance/failed", failed, "advance"),
        ("advance/interrupted", interrupted, "advance"),
        ("advance/locked", locked, "advance"),
        ("advance/locked-json", locked, "advance --json"),
        ("advance/no-home", no_home, "advance"),
        ("advance/refused", Home::new, "advance --prfile daily"),
        ("run/success", runs, "run mailer send"),
        ("run/json", runs, "run mailer send --json"),
        ("run/partial", runs_in_part, "run mailer send"),
        ("run/failed", fails, "run mailer send"),
        ("run/json-failed", fails, "run mailer send --json"),
        ("run/unknown", unknown_run, "run maler send"),
        ("run/refused", Home::new, "run mailer send --retries 11"),
        ("approve/granted", fleet, "approve digest-sender render-issue"),
        ("approve/json", fleet, "approve digest-sender --json"),
        ("approve/no-effects", fleet, "approve quiet"),
        ("approve/long", fleet, "approve digest-sender --ttl 2d --long"),
        ("approve/capped", fleet, "approve digest-sender --ttl 2d"),
        ("approve/all", all, "approve --all"),
        ("approve/json-all", all, "approve --all --json"),
        ("approve/recorded", parked, "approve render-issue --run run-render-issue"),
        ("approve/json-recorded", parked, "approve render-issue --json"),
        ("approve/expired", expired, "approve render-issue"),
        ("approve/json-expired", expired, "approve render-issue --json"),
        ("approve/json-moved", moved, "approve late --json"),
        ("approve/moved", moved, "approve late"),
        ("approve/json-applied", applied, "approve render-issue --json"),
        ("approve/applied", applied, "approve render-issue"),
        ("approve/json-unusable", unusable_gate, "approve render-issue --json"),
        ("approve/mixed", parked, "approve render-issue db-writer"),
        ("approve/other-run", parked, "approve render-issue --run run-1"),
        ("approve/denied", denied, "approve render-issue"),
        ("approve/unknown", fleet, "approve render-isue"),
        ("approve/refused", Home::new, "approve render-issue --ttl soon"),
        ("deny/recorded", parked, "deny render-issue --note 'too chatty'"),
        ("deny/json", parked, "deny render-issue --json"),
        ("deny/unchanged", denied, "deny render-issue --note again"),
        ("deny/json-unchanged", denied, "deny render-issue --json"),
        ("deny/list", denied, "deny --list"),
        ("deny/json-list", denied, "deny --list --json"),
        ("deny/list-empty", Home::new, "deny --list"),
        ("deny/remove", denied, "deny --remove render-issue"),
        ("deny/json-remove", denied, "deny --remove render-issue --json"),
        ("deny/remove-unknown", denied, "deny --remove render-isue"),
        ("deny/unknown", fleet, "deny render-isue"),
        ("deny/refused", Home::new, "deny --list --note no"),
        ("revoke/granted", all_granted, "revoke"),
        ("revoke/json", all_granted, "revoke --json"),
        ("revoke/none", Home::new, "revoke"),
        ("revoke/refused", Home::new, "revoke now"),
        ("board/notices", board::board, "board"),
        ("board/json", board::board, "board --json"),
        ("board/empty", Home::new, "board"),
        ("board/refused", Home::new, "board --al"),
        ("ack/one", board::board, "ack aaaa"),
        ("ack/json", board::board, "ack aaaa --json"),
        ("ack/all", answered, "ack --all"),
        ("ack/json-all", answered, "ack --all --json"),
        ("ack/again", answered, "ack aaaa"),
        ("ack/json-again", answered, "ack aaaa --json"),
        ("ack/none", Home::new, "ack --all"),
        ("ack/unknown", board::board, "ack zzzz"),
        ("ack/misspelt", board::board, "ack aaba"),
        ("ack/refused", Home::new, "ack"),
        ("tasks/open", board::tasks, "tasks"),
        ("tasks/json", board::tasks, "tasks --json"),
        ("tasks/empty", Home::new, "tasks"),
        ("tasks/refused", Home::new, "tasks open"),
        ("defer/one", board::tasks, "defer disk-full 1d"),
        ("defer/json", board::tasks, "defer disk-full 1d --json"),
        ("defer/several", board::tasks, "defer disk 1d"),
        ("defer/unknown", board::tasks, "defer disk-fall 1d"),
        ("defer/refused", board::tasks, "defer disk-full 1y"),
        ("done/one", board::tasks, "done disk-full"),
        ("done/json", board::tasks, "done disk-full --json"),
        ("done/before", board::tasks, "done old"),
        ("done/unknown", board::tasks, "done zzz"),
        ("done/refused", board::tasks, "done"),
        ("configure/from", configure_given, "configure poll --from '{\"zulu\":\"there\"}'"),
        ("configure/json", configure_given, "configure poll --from '{\"zulu\":\"there\"}' --json"),
        ("configure/asked", configure_typed, "configure poll"),
        ("configure/ended-early", configure_ended, "configure poll"),
        ("configure/no-terminal", configure::home, "configure poll"),
        ("configure/wrong-type", configure::home, "configure poll --from '{\"zulu\":7}'"),
        ("configure/undeclared", configure::home, "configure poll --from '{\"zulo\":\"x\"}'"),
        ("configure/schema", configure::home, "configure poll --schema"),
        ("configure/unknown", configure::home, "configure pol"),
        ("configure/refused", configure::home, "configure"),
        ("scaffold/plain", scaffold::node, "scaffold my-demo"),
        ("scaffold/json", scaffold::node, "scaffold my-demo --from link-check --json"),
        ("scaffold/name", scaffold::node, "scaffold Demo"),
        ("scaffold/there", scaffolded, "scaffold my-demo"),
        ("scaffold/unknown-example", scaffold::node, "scaffold my-demo --from link-chek"),
        ("scaffold/refused", scaffold::node, "scaffold my-demo --lang rust"),
        ("check/clean", sound, "check"),
        ("check/findings", unsound, "check"),
        ("check/json", unsound, "check --json"),
        ("check/none", Home::new, "check"),
        ("check/unknown", sound, "check q"),
        ("check/refused", sound, "check --plugin p"),
        ("status/busy", status::busy, "status"),
        ("status/json", status::busy, "status --json"),
        ("status/empty", Home::new, "status"),
        ("status/json-empty", Home::new, "status --json"),
        ("status/refused", Home::new, "status now"),
        ("log/runs", log::runs, "log"),
        ("log/json", log::runs, "log --json"),
        ("log/plugin", log::runs, "log --plugin beta"),
        ("log/one", log::runs, "log 9"),
        ("log/json-one", log::runs, "log 9 --json"),
        ("log/unknown", log::runs, "log zzz"),
        ("log/empty", Home::new, "log"),
        ("log/refused", Home::new, "log -n 0"),
        ("show/output", show::digest, "show digest"),
        ("show/json", show::digest, "show digest --json"),
        ("show/run", show::digest, "show digest --run 2026-08-20T1110"),
        ("show/none", show::digest, "show fresh"),
        ("show/unknown", show::digest, "show digset"),
        ("show/refused", Home::new, "show"),
        ("handoffs/open", handoffs::open, "handoffs"),
        ("handoffs/json", handoffs::open, "handoffs --json"),
        ("handoffs/empty", Home::new, "handoffs"),
        ("handoffs/refused", Home::new, "handoffs all"),
        ("forget/one", forget::runs, "forget alpha"),
        ("forget/json", forget::runs, "forget alpha --json"),
        ("forget/denied", denied_with_run, "forget render-issue"),
        ("forget/parked", parked_with_run, "forget render-issue"),
        ("forget/unknown", forget::runs, "forget alhpa"),
        ("forget/refused", Home::new, "forget"),
        ("completions/refused", Home::new, "completions bsh"),
        ("completions/names", with_directories, "completions plugins"),
        ("completions/no-root", Home::new, "completions plugins"),
    ];
    all.iter()
        .map(|(name, home, line)| Case { name: (*name).into(), home: *home, line: (*line).into() })
        .collect()
}

fn initialised() -> Home {
    let home = init::fresh();
    home.run("init");
    home
}

fn lacking_input() -> Home {
    init::with_seed(r#""inputs":{"path":{"type":"string"},"days":{"type":"number","default":90}}"#)
}

fn in_the_way() -> Home {
    init::fresh().file("package.json", "{\"name\": \"x\"}")
}

fn no_seed() -> Home {
    let mut home = init::fresh();
    home.package.seed = Some(home.around().join("package/nowhere/host-metrics"));
    home
}

/// Plugins of every kind: due, fresh, failed, waiting, denied, unapproved, behind a cycle, broken.
fn full() -> Home {
    let failed = format!(r#""flaky":{{"last_run_at":"{FRESH}","status":"failed"}}"#);
    Home::new()
        .plugin("collect", "")
        .plugin("hand", r#""autonomy_level":"manual""#)
        .plugin("flaky", "")
        .plugin("after", r#""dependencies":["flaky"],"ttl_hours":0.5"#)
        .plugin("mailer", r#""side_effects":["sends_email","writes_db"]"#)
        .plugin("poster", r#""side_effects":["external_api"]"#)
        .plugin("round", r#""dependencies":["about"]"#)
        .plugin("about", r#""dependencies":["round"]"#)
        .broken("broken", "the manifest threw")
        .grant(r#"["poster"]"#, "2026-08-20T12:10:00.000Z")
        .state(&format!(
            r#""plugin_runs":{{{},{failed}}},"denials":{{{}}},"pending_gates":[{}]"#,
            run_entry("after", "success"),
            denial("mailer", "0000"),
            gate("mailer", FRESH, "null"),
        ))
}

fn all_granted() -> Home {
    fleet().grant("\"*\"", "2026-08-20T13:30:00.000Z")
}

fn unusable_grant() -> Home {
    fleet().file(".session-approval", "{")
}

fn unusable_state() -> Home {
    fleet().file("state/engine-state.json", "{")
}

fn advancing(answer: Result<AdvanceResult>) -> Home {
    let home = Home::new().plugin("note", r#""side_effects":["writes_db"]"#);
    let parked = gate("note", FRESH, "null").replace("run-note", "run-1");
    let mut home = home.state(&format!(r#""pending_gates":[{parked}]"#));
    home.fleet.advance = Mutex::new(Some(answer));
    home
}

fn partial() -> Home {
    let plugins = [DONE, UNAPPROVED, FAILED, GATED, PENDING];
    advancing(Ok(pass(AdvanceStatus::Partial, &plugins)))
}

fn complete() -> Home {
    advancing(Ok(pass(AdvanceStatus::Complete, &[DONE])))
}

fn unapproved() -> Home {
    advancing(Ok(pass(AdvanceStatus::Complete, &[DONE, UNAPPROVED])))
}

fn dry() -> Home {
    advancing(Ok(AdvanceResult { run_log_path: None, ..pass(AdvanceStatus::Complete, &[DONE]) }))
}

fn failed() -> Home {
    advancing(Ok(pass(AdvanceStatus::Failed, &[])))
}

fn interrupted() -> Home {
    advancing(Ok(pass(AdvanceStatus::Interrupted, &[DONE, PENDING])))
}

fn locked() -> Home {
    let holder = "run 2026-08-20T115900000Z-1f2e3d4c, pid 4711".to_owned();
    advancing(Err(Error::RunLocked { path: "/srv/project/.warpline/state/.lock".into(), holder }))
}

/// Names that a shell would read more into are not for its completion.
fn with_directories() -> Home {
    let names = ["mailer", "$(x)", "a b", "-x", "été", "Digest_2.0"];
    names
        .iter()
        .fold(Home::new(), |home, name| home.file(&format!("plugins/{name}/manifest.ts"), ""))
}

fn no_home() -> Home {
    let mut home = Home::new();
    let plugins = home.around().join("plugins");
    fs::create_dir(&plugins).expect("a directory");
    home.variables.insert("WARPLINE_PLUGINS_DIR".into(), plugins.display().to_string().into());
    home
}

fn running(answer: Result<Invocation>) -> Home {
    let mut home = Home::new().plugin("mailer", r#""side_effects":["sends_email"]"#);
    home.fleet.invoke = Mutex::new(Some(answer));
    home
}

fn runs() -> Home {
    running(Ok(Invocation { plugin: "mailer".into(), ..ended(ResultStatus::Success) }))
}

fn runs_in_part() -> Home {
    running(Ok(Invocation { plugin: "mailer".into(), ..ended(ResultStatus::Partial) }))
}

fn fails() -> Home {
    running(Ok(Invocation { plugin: "mailer".into(), ..ended(ResultStatus::Failed) }))
}

fn unknown_run() -> Home {
    running(Ok(Invocation { plugin: "maler".into(), ..ended(ResultStatus::Failed) }))
}

fn all() -> Home {
    let denied = denial("render-issue", &fingerprint("render-issue"));
    fleet().broken("broken", "x").state(&format!(r#""denials":{{{denied}}}"#))
}

fn with_gate(completed: &str, applied: &str) -> Home {
    let gate = gate("render-issue", completed, applied);
    fleet().state(&format!(r#""pending_gates":[{gate}]"#))
}

fn parked() -> Home {
    with_gate(FRESH, "null")
}

fn expired() -> Home {
    with_gate(STALE, "null")
}

fn applied() -> Home {
    with_gate(FRESH, "\"2026-08-20T11:30:00.000Z\"")
}

fn unusable_gate() -> Home {
    with_gate("whenever", "null")
}

fn moved() -> Home {
    Home::new().plugin("dep", "").plugin("late", r#""dependencies":["dep"]"#).state(&format!(
        r#""plugin_runs":{{{}}},"pending_gates":[{}]"#,
        run_entry("dep", "success"),
        gate("late", FRESH, "null")
    ))
}

fn denied() -> Home {
    let denied = denial("render-issue", &fingerprint("render-issue"));
    fleet().state(&format!(r#""denials":{{{denied}}}"#))
}

fn configure_given() -> Home {
    let mut home = configure::home();
    home.variables.insert("TOKEN".into(), "hunter2".into());
    home
}

fn configure_typed() -> Home {
    configure::home().typing("there\nmany\n7\n[1]\n")
}

fn configure_ended() -> Home {
    configure::home().typing("there\n")
}

fn scaffolded() -> Home {
    let home = scaffold::node();
    home.run("scaffold my-demo");
    home
}

fn sound() -> Home {
    check::ts("", "")
}

fn unsound() -> Home {
    check::ts("inputs: { action: { type: 'string', required: false } },", "await fetch('/')")
}

fn parked_with_run() -> Home {
    answered_run(&format!(r#""pending_gates":[{}]"#, gate("render-issue", FRESH, "null")))
}

fn denied_with_run() -> Home {
    let denied = denial("render-issue", &fingerprint("render-issue"));
    answered_run(&format!(r#""denials":{{{denied}}}"#))
}

fn answered_run(answer: &str) -> Home {
    let run = run_entry("render-issue", "failed");
    fleet().state(&format!(r#""plugin_runs":{{{run}}},{answer}"#))
}

/// A board on which one notice was acknowledged before.
fn answered() -> Home {
    let answer = format!(r#"{{"{A}":{{"acknowledged_at":"{FRESH}","action_taken":"action"}}}}"#);
    board::board().file("state/acknowledgements.json", &answer)
}
