//! The commands that write, each over the home it is run in, and what it has promised once it is done.

use warpline_core::json::{JsString, Value};

use crate::homes::{
    EVENT, FRESH, OTHER_EVENT, configured, denied, effects, fleet, fresh_fleet, gated,
    granted_before, journal_left, notices, ran, recorded, tasks, waiting, with_package,
};
use crate::place::{DEAD, Place};

/// One command over one home.
pub struct Scenario {
    pub name: &'static str,
    pub words: &'static [&'static str],
    pub prepare: fn(&Place),
    /// Whether what the command promises with exit code 0 is on the disk.
    pub holds: fn(&Place) -> bool,
    /// What was there before and must stay there, at every moment.
    pub keeps: fn(&Place) -> bool,
    pub kind: Kind,
    /// Differences that a repetition may leave to the home of an unbroken command: what a line of it
    /// contains, and why that is right.
    pub allows: &'static [(&'static str, &'static str)],
}

/// What a repetition of the command may come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An advance: what was called and did not end is recorded as failed, and not called again.
    Advance,
    /// The command of a person that calls a handler: each repetition is a new yes.
    Run,
    /// An answer: repeated, it ends in the same home, or says that there is nothing to answer.
    Answer,
}

fn has_run(place: &Place, plugin: &str) -> bool {
    let Some(run) = place.state(&["plugin_runs", plugin, "last_run_at"]) else { return false };
    run.as_string().is_some_and(|at| at.to_text().as_str() > FRESH)
}

fn all_ran(place: &Place) -> bool {
    ["reader", "sender", "mailer"].iter().all(|plugin| has_run(place, plugin))
}

/// The scopes of the grant, as JSON.
fn scopes(place: &Place) -> String {
    let grant = place.json(".session-approval");
    let scopes = grant.and_then(|grant| grant.get("scopes").map(Value::to_compact));
    scopes.unwrap_or_default()
}

fn acknowledged(place: &Place, ids: &[&str]) -> bool {
    let answers = place.json("state/acknowledgements.json");
    answers.is_some_and(|answers| ids.iter().all(|id| answers.get(id).is_some()))
}

fn status_is(place: &Place, plugin: &str, status: &str) -> bool {
    let found = place.state(&["plugin_runs", plugin, "status"]);
    found.is_some_and(|found| found.as_string() == Some(&JsString::from(status)))
}

fn ended_artifact(place: &Place) -> bool {
    place.files().iter().any(|(name, bytes)| {
        let text = String::from_utf8_lossy(bytes);
        name.starts_with("runs/")
            && name.ends_with(".json")
            && text.contains(r#""plugin": "sender""#)
            && text.contains(r#""status": "success""#)
    })
}

fn prepared_home(place: &Place) -> bool {
    let link = place.path("node_modules/warpline").is_dir();
    place.json("package.json").is_some() && link
}

/// A yes that is repeated where no result waits any more is a grant, as any yes is.
const REPEATED_YES: &[(&str, &str)] = &[
    ("+ .session-approval", "the result was accepted already: the repetition grants"),
    ("grant_merged", "its trace"),
];

/// Authority goes first; the trace of it is not worth keeping a grant for.
const NO_TRACE: &[(&str, &str)] = &[("grant_revoked", "the grant was gone before its trace")];

/// Every scenario.
pub const ALL: &[Scenario] = &[
    Scenario {
        name: "advance, fresh",
        words: &["advance"],
        prepare: fresh_fleet,
        holds: |place| has_run(place, "reader") && has_run(place, "second"),
        keeps: |_| true,
        kind: Kind::Advance,
        allows: &[],
    },
    Scenario {
        name: "advance, effects",
        words: &["advance"],
        prepare: effects,
        holds: all_ran,
        keeps: |_| true,
        kind: Kind::Advance,
        allows: &[],
    },
    Scenario {
        name: "advance, gated",
        words: &["advance"],
        prepare: gated,
        holds: |place| {
            place
                .read("state/engine-state.json")
                .is_some_and(|text| text.contains("\"run_completed_at\""))
        },
        keeps: |_| true,
        kind: Kind::Advance,
        allows: &[],
    },
    Scenario {
        name: "advance, journal",
        words: &["advance"],
        prepare: journal_left,
        holds: |place| {
            has_run(place, "mailer")
                && status_is(place, "sender", "failed")
                && status_is(place, "reader", "success")
        },
        keeps: |place| {
            place.path("state/in-flight.jsonl").exists() || status_is(place, "sender", "failed")
        },
        kind: Kind::Advance,
        allows: &[],
    },
    Scenario {
        name: "advance, recorded",
        words: &["advance"],
        prepare: recorded,
        holds: |place| has_run(place, "mailer"),
        keeps: |place| {
            let log = place.read(&format!("runs/{DEAD}.json"));
            log.is_some_and(|log| log.contains(r#""status": "complete""#))
        },
        kind: Kind::Advance,
        allows: &[],
    },
    Scenario {
        name: "approve, grant",
        words: &["approve", "sender"],
        prepare: granted_before,
        holds: |place| scopes(place) == r#"["mailer","sender"]"#,
        keeps: |place| scopes(place).contains("mailer"),
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "approve, gate",
        words: &["approve", "parked"],
        prepare: waiting,
        holds: |place| status_is(place, "parked", "success"),
        keeps: |_| true,
        kind: Kind::Answer,
        allows: REPEATED_YES,
    },
    Scenario {
        name: "approve --all",
        words: &["approve", "--all"],
        prepare: granted_before,
        holds: |place| scopes(place) == r#""*""#,
        keeps: |place| scopes(place).contains("mailer") || scopes(place) == r#""*""#,
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "approve --replace",
        words: &["approve", "sender", "--replace"],
        prepare: granted_before,
        holds: |place| scopes(place) == r#"["sender"]"#,
        keeps: |_| true,
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "deny",
        words: &["deny", "parked"],
        prepare: waiting,
        holds: |place| place.state(&["denials", "parked"]).is_some(),
        keeps: |_| true,
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "deny, journal",
        words: &["deny", "mailer"],
        prepare: journal_left,
        holds: |place| {
            place.state(&["denials", "mailer"]).is_some() && status_is(place, "sender", "failed")
        },
        keeps: |place| {
            place.path("state/in-flight.jsonl").exists() || status_is(place, "sender", "failed")
        },
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "deny --remove",
        words: &["deny", "--remove", "sender"],
        prepare: denied,
        holds: |place| place.state(&["denials", "sender"]).is_none(),
        keeps: |place| place.read("state/engine-state.json").is_some(),
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "revoke",
        words: &["revoke"],
        prepare: granted_before,
        holds: |place| !place.path(".session-approval").exists(),
        keeps: |_| true,
        kind: Kind::Answer,
        allows: NO_TRACE,
    },
    Scenario {
        name: "configure",
        words: &["configure", "sender", "--from", r#"{"limit":7}"#],
        prepare: configured,
        holds: |place| {
            place.read("config/sender.json").is_some_and(|text| text.contains("\"limit\": 7"))
        },
        keeps: |_| true,
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "run",
        words: &["run", "sender", "send"],
        prepare: fleet,
        holds: ended_artifact,
        keeps: |_| true,
        kind: Kind::Run,
        allows: &[],
    },
    Scenario {
        name: "ack",
        words: &["ack", "aaaaaaaa"],
        prepare: notices,
        holds: |place| acknowledged(place, &[EVENT]),
        keeps: |_| true,
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "ack --all",
        words: &["ack", "--all"],
        prepare: notices,
        holds: |place| acknowledged(place, &[EVENT, OTHER_EVENT]),
        keeps: |_| true,
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "defer",
        words: &["defer", "disk-full", "1d"],
        prepare: tasks,
        holds: |place| {
            place.state(&["deferrals"]).is_some_and(|list| list.to_compact().contains("disk-full"))
        },
        keeps: |_| true,
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "done",
        words: &["done", "disk-full"],
        prepare: tasks,
        holds: |place| {
            place
                .state(&["completed_tasks"])
                .is_some_and(|list| list.to_compact().contains("disk-full"))
        },
        keeps: |place| {
            place.state(&["task_aging"]).is_some_and(|list| list.to_compact().contains("rotate"))
        },
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "forget",
        words: &["forget", "sender"],
        prepare: ran,
        holds: |place| place.state(&["plugin_runs", "sender"]).is_none(),
        keeps: |place| status_is(place, "reader", "success"),
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "init",
        words: &["init"],
        prepare: with_package,
        holds: |place| {
            prepared_home(place)
                && place.json("config/seed.json").is_some()
                && place.json("config/schemas/seed.json").is_some()
                && place.read("plugins/seed/lib/read.ts").as_deref() == Some("r")
        },
        keeps: |_| true,
        kind: Kind::Answer,
        allows: &[],
    },
    Scenario {
        name: "scaffold",
        words: &["scaffold", "fresh"],
        prepare: with_package,
        holds: |place| {
            prepared_home(place)
                && place.path("plugins/fresh/manifest.ts").is_file()
                && place.path("plugins/fresh/handler.ts").is_file()
        },
        keeps: |_| true,
        kind: Kind::Answer,
        allows: &[],
    },
];
