//! The homes in which the commands are run.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::place::{DEAD, Place};

const EFFECT: &str = r#""side_effects":["sends_email"]"#;
const AFTER_READER: &str = r#""side_effects":["sends_email"],"dependencies":["reader"]"#;
const SUPERVISED: &str = r#""side_effects":["writes_db"],"autonomy_level":"supervised""#;
const INPUTS: &str = r#""inputs":{"limit":{"type":"number","default":90}}"#;

pub const FRESH: &str = "2026-08-20T11:00:00.000Z";
pub const EVENT: &str = "aaaaaaaa-0000-4000-8000-000000000001";
pub const OTHER_EVENT: &str = "bbbbbbbb-0000-4000-8000-000000000002";

fn state(place: &Place, properties: &str) {
    place.write("state/engine-state.json", &format!(r#"{{"schema_version":1,{properties}}}"#));
}

fn run_of(plugin: &str, status: &str) -> String {
    format!(r#""{plugin}":{{"last_run_at":"{FRESH}","status":"{status}"}}"#)
}

fn gate_of(plugin: &str) -> String {
    format!(
        concat!(
            r#"{{"plugin":"{0}","run_id":"2026-08-20T110000000Z-0a1b2c3d","created_at":"{1}","#,
            r#""payload_summary":"did it","plugin_result":{{"status":"success","phases_completed":[],"#,
            r#""phases_failed":[],"errors":[],"data_freshness":{{}},"summary":"did it","#,
            r#""artifacts_produced":[],"schema_version":1}},"run_started_at":"{1}","#,
            r#""run_completed_at":"{1}","applied_at":null}}"#
        ),
        plugin, FRESH
    )
}

fn task(id: &str) -> String {
    format!(
        concat!(
            r#"{{"task_id":"{}","first_flagged":"2026-08-17T12:00:00.000Z","description":"full","#,
            r#""severity":"warning","run_count":1,"clean_streak":0,"last_detail":"","source_check":"","#,
            r#""first_run_id":null,"last_flagged_run_id":null,"action_type":"self_directed","#,
            r#""due_date":null,"extensions":{{}}}}"#
        ),
        id
    )
}

fn event(id: &str) -> String {
    format!(
        concat!(
            r#"{{"event_id":"{}","type":"notice","timestamp":"{}","source":"sender","summary":"look","#,
            r#""severity":"warning","task_id":null,"run_id":null,"metadata_json":null}}"#
        ),
        id, FRESH
    )
}

pub fn fleet(place: &Place) {
    place.plugin("reader", "");
    place.plugin("sender", EFFECT);
    place.plugin("mailer", AFTER_READER);
}

pub fn with_package(place: &Place) {
    let seed = place.root.join("package/examples/seed");
    fs::create_dir_all(seed.join("lib")).expect("directories");
    let manifest = concat!(
        r#"export const manifest = {"name":"seed","version":"1","description":"","#,
        r#""autonomy_level":"autonomous","ttl_hours":12,"#,
        r#""inputs":{"limit":{"type":"number","default":90}}}"#
    );
    for (file, text) in [("manifest.ts", manifest), ("handler.ts", "h"), ("lib/read.ts", "r")] {
        fs::write(seed.join(file), text).expect("a file");
    }
}

/// A run log and a daily file that have had their time.
fn with_old_logs(place: &Place) {
    for name in ["runs/2026-06-01T120000000Z-0a1b2c3d.json", "logs/runs/2026-06-01.jsonl"] {
        place.write(name, "{}\n");
        let file = fs::File::options().write(true).open(place.path(name)).expect("a file");
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000);
        file.set_modified(old).expect("a time");
    }
}

pub fn fresh_fleet(place: &Place) {
    place.plugin("reader", "");
    place.plugin("second", r#""dependencies":["reader"]"#);
}

pub fn effects(place: &Place) {
    fleet(place);
    with_old_logs(place);
    place.grant(r#""*""#);
    state(place, &format!(r#""plugin_runs":{{{}}}"#, run_of("gone", "success")));
    place.write("state/events.jsonl", &(event(EVENT) + "\n"));
}

pub fn gated(place: &Place) {
    place.plugin("reader", "");
    place.plugin("parked", SUPERVISED);
    place.grant(r#""*""#);
}

pub fn journal_left(place: &Place) {
    effects(place);
    let run = format!(r#"{{"last_run_at":"{FRESH}","status":"success"}}"#);
    let lines = [
        format!(
            r#"{{"run_id":"{DEAD}","plugin":"reader","plugin_runs":{{"reader":{run}}},"pending_gates":[]}}"#
        ),
        format!(r#"{{"run_id":"{DEAD}","plugin":"sender","started_at":"{FRESH}"}}"#),
        // The machine stopped inside of this line.
        format!(r#"{{"run_id":"{DEAD}","plu"#),
    ];
    place.write("state/in-flight.jsonl", &lines.join("\n"));
}

/// A pass that was killed when all that it had left to do was to remove its journal.
pub fn recorded(place: &Place) {
    effects(place);
    let runs = [run_of("reader", "success"), run_of("sender", "success")].join(",");
    state(place, &format!(r#""last_run_id":"{DEAD}","plugin_runs":{{{runs}}}"#));
    let run = format!(r#"{{"last_run_at":"{FRESH}","status":"success"}}"#);
    let lines = [
        format!(r#"{{"run_id":"{DEAD}","plugin":"sender","started_at":"{FRESH}"}}"#),
        format!(
            r#"{{"run_id":"{DEAD}","plugin":"sender","plugin_runs":{{"sender":{run}}},"pending_gates":[]}}"#
        ),
    ];
    place.write("state/in-flight.jsonl", &(lines.join("\n") + "\n"));
    let log = concat!(
        "{\n  \"run_id\": \"2026-08-20T113000000Z-0a1b2c3d\",\n  \"started_at\": \"2026-08-20T11:00:00.000Z\",\n",
        "  \"completed_at\": \"2026-08-20T11:00:00.000Z\",\n  \"status\": \"complete\",\n  \"resumed_from\": null,\n",
        "  \"summary\": \"\",\n  \"plugin_entries\": []\n}"
    );
    place.write(&format!("runs/{DEAD}.json"), log);
}

pub fn granted_before(place: &Place) {
    fleet(place);
    place.grant(r#"["mailer"]"#);
}

pub fn waiting(place: &Place) {
    place.plugin("reader", "");
    place.plugin("parked", SUPERVISED);
    let (runs, gate) = (run_of("parked", "gated"), gate_of("parked"));
    state(place, &format!(r#""plugin_runs":{{{runs}}},"pending_gates":[{gate}]"#));
}

pub fn denied(place: &Place) {
    fleet(place);
    let denial = format!(
        r#""sender":{{"plugin":"sender","reason":"r","denied_at":"{FRESH}","note":null,"fingerprint":"f"}}"#
    );
    state(place, &format!(r#""denials":{{{denial}}}"#));
}

pub fn tasks(place: &Place) {
    fleet(place);
    state(place, &format!(r#""task_aging":[{},{}]"#, task("disk-full"), task("rotate")));
}

pub fn notices(place: &Place) {
    fleet(place);
    place.write("state/events.jsonl", &(event(EVENT) + "\n" + &event(OTHER_EVENT) + "\n"));
}

pub fn ran(place: &Place) {
    fleet(place);
    let runs = [run_of("sender", "failed"), run_of("reader", "success")].join(",");
    state(place, &format!(r#""plugin_runs":{{{runs}}}"#));
}

pub fn configured(place: &Place) {
    place.plugin("sender", INPUTS);
    place.write("config/sender.json", "{\n  \"limit\": 1\n}");
}
