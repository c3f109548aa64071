//! The error catalogue, row by row: every kind of error is met for real, through what a caller calls.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::future::Future;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use warpline_core::answers::write_grant;
use warpline_core::engine::{AdvanceOptions, PathOverrides};
use warpline_core::error::Error;
use warpline_core::json::parse;
use warpline_core::schema::grant::Scopes;

use crate::support::{Fleet, ok};

type Met = Pin<Box<dyn Future<Output = Error>>>;

/// One kind of error: how it is met, and what the reader is told.
struct Row {
    kind: &'static str,
    code: &'static str,
    /// The message, `HOME` standing for the home and `RUN` for a run id.
    message: &'static str,
    hint: Option<&'static str>,
    provoke: fn(Fleet) -> Met,
}

async fn refused(fleet: Fleet, options: AdvanceOptions) -> Error {
    let before = fleet.snapshot();
    let error = fleet.advance_with(options).await.expect_err("it is refused");
    assert_eq!(fleet.snapshot(), before, "a refusal writes nothing: {error}");
    error
}

fn plugins_at(path: impl Into<PathBuf>) -> AdvanceOptions {
    let paths = PathOverrides { plugins_dir: Some(path.into()), ..PathOverrides::default() };
    AdvanceOptions { paths, ..AdvanceOptions::default() }
}

async fn with_state(fleet: Fleet, text: &str) -> Error {
    fleet.put(&fleet.paths.state_file, text);
    refused(fleet, AdvanceOptions::default()).await
}

fn option_error(text: &str) -> Error {
    let value = parse(text).expect("JSON");
    AdvanceOptions::from_value(&value).expect_err("it is refused")
}

/// An advance whose one plugin runs for five seconds, and what `meanwhile` did two seconds into it.
async fn two_seconds_into(fleet: &Fleet, meanwhile: impl AsyncFnOnce()) -> Error {
    fleet.plugin("slow", "", |_| async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        ok("done", "")
    });
    let mut advance = Box::pin(fleet.advance_with(AdvanceOptions::default()));
    tokio::select! {
        _ = &mut advance => panic!("the advance ended early"),
        () = tokio::time::sleep(Duration::from_secs(2)) => {}
    }
    meanwhile().await;
    match advance.await {
        Err(error) => error,
        Ok(_) => Error::Host { message: "nothing was refused".into() },
    }
}

const ROWS: [Row; 14] = [
    Row {
        kind: "PluginRoot",
        code: "ERR_WARPLINE_PLUGIN_ROOT",
        message: "cannot read plugin root HOME/nowhere: ENOENT",
        hint: Some("create the directory, or name another one with --plugins"),
        provoke: |fleet| Box::pin(refused(fleet, plugins_at("nowhere"))),
    },
    Row {
        kind: "EmptyPluginRoot",
        code: "ERR_WARPLINE_PLUGIN_ROOT",
        message: "the plugin root was given as an empty string",
        hint: Some("create the directory, or name another one with --plugins"),
        provoke: |fleet| Box::pin(refused(fleet, plugins_at(""))),
    },
    Row {
        kind: "NotJson",
        code: "ERR_WARPLINE_NOT_JSON",
        message: "HOME/state/engine-state.json is not valid JSON at line 1, column 2",
        hint: Some("mend the file by hand; nothing was written"),
        provoke: |fleet| Box::pin(with_state(fleet, "{")),
    },
    Row {
        kind: "Invalid",
        code: "ERR_WARPLINE_INVALID",
        message: "HOME/state/engine-state.json is not valid: `plugin_runs`: expected an object",
        hint: Some("mend the file by hand; nothing was written"),
        provoke: |fleet| Box::pin(with_state(fleet, r#"{"plugin_runs":7}"#)),
    },
    Row {
        kind: "NewerState",
        code: "ERR_WARPLINE_NEWER_STATE",
        message: "HOME/state/engine-state.json has schema_version 2, and this build predates it: the newest it reads is 1",
        hint: Some("upgrade warpline; nothing was written"),
        provoke: |fleet| Box::pin(with_state(fleet, r#"{"schema_version":2}"#)),
    },
    Row {
        kind: "File",
        code: "ERR_WARPLINE_FILE",
        message: "cannot read HOME/state/engine-state.json: is a directory",
        hint: Some("something else lies in its place; move it away"),
        provoke: |fleet| {
            fs::create_dir_all(&fleet.paths.state_file).expect("created");
            Box::pin(refused(fleet, AdvanceOptions::default()))
        },
    },
    Row {
        kind: "NotRecorded",
        code: "ERR_WARPLINE_NOT_JSON",
        message: "run RUN ended, but its record is incomplete: HOME/state/engine-state.json is not valid JSON at line 1, column 2",
        hint: Some(
            "mend what it names; the next advance takes over what plugins did from the journal",
        ),
        provoke: |fleet| {
            Box::pin(async move {
                two_seconds_into(&fleet, async || fleet.put(&fleet.paths.state_file, "{")).await
            })
        },
    },
    Row {
        kind: "RunLocked",
        code: "ERR_WARPLINE_LOCKED",
        message: "another advance is running on this home: run RUN, process PID, since 2026-08-20T12:00:00.000Z (HOME/state/.lock)",
        hint: Some("wait for it to end, or stop that process"),
        provoke: |fleet| {
            Box::pin(async move {
                let other = Fleet::over(&fleet.paths.home);
                let mut met = None;
                two_seconds_into(&fleet, async || {
                    let before = fleet.snapshot();
                    met = other.advance_with(AdvanceOptions::default()).await.err();
                    assert_eq!(fleet.snapshot(), before, "a refusal writes nothing");
                })
                .await;
                met.expect("the second is refused")
            })
        },
    },
    Row {
        kind: "StateLockTimeout",
        code: "ERR_WARPLINE_STATE_LOCK",
        message: "HOME/state/.state.lock was held by another process for 10 seconds",
        hint: Some("try again; nothing was written"),
        provoke: |fleet| {
            Box::pin(async move {
                fs::create_dir_all(fleet.paths.home.join("state")).expect("created");
                let lock = File::create(fleet.paths.state_lock()).expect("created");
                lock.lock().expect("locked");
                let before = fleet.snapshot();
                let granted = write_grant(&fleet.paths, Scopes::All, None, fleet.engine.now());
                let error = granted.expect_err("refused");
                assert_eq!(fleet.snapshot(), before, "a refusal writes nothing");
                error
            })
        },
    },
    Row {
        kind: "SharedHome",
        code: "ERR_WARPLINE_SHARED_HOME",
        message: "HOME can be written by others (mode 0777); run `chmod go-w HOME`",
        hint: Some(
            "or set WARPLINE_ALLOW_SHARED_HOME=1, if all who can write there may decide what runs; nothing was written",
        ),
        provoke: |fleet| {
            let everybody = fs::Permissions::from_mode(0o777);
            fs::set_permissions(&fleet.paths.home, everybody).expect("set");
            Box::pin(refused(fleet, AdvanceOptions::default()))
        },
    },
    Row {
        kind: "Option",
        code: "ERR_WARPLINE_OPTION",
        message: "option `concurrency` must be an integer of at least 1",
        hint: None,
        provoke: |_| Box::pin(async { option_error(r#"{"concurrency":0}"#) }),
    },
    Row {
        kind: "UnknownOption",
        code: "ERR_WARPLINE_OPTION",
        message: "there is no option `dryrun`",
        hint: None,
        provoke: |_| Box::pin(async { option_error(r#"{"dryrun":true}"#) }),
    },
    Row {
        kind: "Host",
        code: "ERR_WARPLINE_HOST",
        message: "the plugin host failed: the process ended while the advance was running",
        hint: None,
        provoke: |fleet| {
            Box::pin(async move {
                two_seconds_into(&fleet, async || {
                    fleet.engine.exit().expect("an advance is running");
                })
                .await
            })
        },
    },
    // The same kind again: what an operating system refuses has the way out of its reason.
    Row {
        kind: "File",
        code: "ERR_WARPLINE_FILE",
        message: "cannot read HOME/state/engine-state.json: it is not UTF-8 text",
        hint: Some("mend the file by hand; nothing was written"),
        provoke: |fleet| {
            Box::pin(async move {
                fs::create_dir_all(fleet.paths.home.join("state")).expect("created");
                fs::write(&fleet.paths.state_file, b"\xff\xfe").expect("written");
                refused(fleet, AdvanceOptions::default()).await
            })
        },
    },
];

/// The name of the variant. A new one does not compile until it has an arm here, and a row above.
fn kind_of(error: &Error) -> &'static str {
    match error {
        Error::PluginRoot { .. } => "PluginRoot",
        Error::EmptyPluginRoot => "EmptyPluginRoot",
        Error::NotJson { .. } => "NotJson",
        Error::Invalid { .. } => "Invalid",
        Error::NewerState { .. } => "NewerState",
        Error::File { .. } => "File",
        Error::NotRecorded { .. } => "NotRecorded",
        Error::RunLocked { .. } => "RunLocked",
        Error::StateLockTimeout { .. } => "StateLockTimeout",
        Error::SharedHome { .. } => "SharedHome",
        Error::Option { .. } => "Option",
        Error::UnknownOption { .. } => "UnknownOption",
        Error::Host { .. } => "Host",
    }
}

/// The message with the home, the run and the process by their names.
fn told(error: &Error, home: &str) -> String {
    let text = error.to_string().replace(home, "HOME");
    let text = text.replace(&format!("process {}", std::process::id()), "process PID");
    match text.split_once("run 2026-08-20T") {
        Some((before, rest)) => {
            let end = rest.find([' ', ',']).unwrap_or(rest.len());
            format!("{before}run RUN{}", &rest[end..])
        }
        None => text,
    }
}

#[test]
fn every_kind_of_error_and_every_code_has_a_row() {
    let source = include_str!("../../src/error.rs");
    let body = source.split("pub enum Error {").nth(1).and_then(|rest| rest.split("\n}").next());
    let kinds: BTreeSet<&str> = body
        .expect("the enum")
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()))
        .map(|line| line.trim_end_matches([' ', '{', ',']))
        .collect();
    assert!(kinds.len() > 10, "{kinds:?}");
    assert_eq!(ROWS.iter().map(|row| row.kind).collect::<BTreeSet<_>>(), kinds);
    let codes: BTreeSet<&str> = ROWS.iter().map(|row| row.code).collect();
    assert_eq!(codes, Error::CODES.into());
}

#[tokio::test(start_paused = true)]
async fn every_row_is_met_and_says_what_happened_and_what_to_do() {
    let mut wrong = Vec::new();
    for row in ROWS {
        let fleet = Fleet::new();
        let home = fleet.paths.home.display().to_string();
        let error = (row.provoke)(fleet).await;
        let met = (kind_of(&error), error.code(), told(&error, &home), error.hint());
        let expected = (row.kind, row.code, row.message.to_owned(), row.hint);
        if met != expected {
            wrong.push(format!("{met:?} is not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
