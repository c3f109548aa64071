//! The plugin root: which one is used, what is in it, and what an unusable one does.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use warpline_core::engine::{
    AbortReason, AdvanceOptions, Isolation, Notice, PathOverrides, PluginState,
};
use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{Fleet, at, list_at, ok, state_of, summary_of, text_at};

fn from_root(root: &std::path::Path) -> AdvanceOptions {
    let mut options = AdvanceOptions::default();
    options.paths.plugins_dir = Some(root.to_owned());
    options
}

/// Cases: T196, T296.
#[tokio::test(start_paused = true)]
async fn a_root_whose_every_manifest_is_broken_is_a_failed_advance() {
    let fleet = Fleet::new();
    for name in ["c", "a", "b"] {
        fleet.file(name, "export const manifest = {\n");
    }
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Failed);
    let log = fleet.run_log(&result);
    assert_eq!(text_at(&log, "status"), "failed");
    let entries = list_at(&log, "plugin_entries");
    let names: Vec<String> = entries.iter().map(|entry| text_at(entry, "plugin")).collect();
    assert_eq!(names, ["a", "b", "c"], "by name, whatever the order of creation");
    assert!(entries.iter().all(|entry| text_at(entry, "status") == "failed"));
    assert!(fleet.run_failures()[0].contains("`a`, `b`, `c`"));
    assert!(at(&fleet.state(), "plugin_runs").as_object().unwrap().is_empty());
}

/// Cases: T197, T295.
#[tokio::test(start_paused = true)]
async fn one_broken_manifest_makes_a_good_pass_partial() {
    let fleet = Fleet::new();
    fleet.spy("a", "");
    fleet.spy("b", "");
    fleet.file("c", "throw 1\n");
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Partial);
    assert_eq!(state_of(&result, "c"), PluginState::Failed);
    assert_eq!(fleet.started(), ["a", "b"]);
    let loaded = fleet
        .engine
        .load_manifests(&fleet.paths.plugins, &fleet.environment, Isolation::None, 1)
        .await;
    assert!(loaded.root_error.is_none());
    assert_eq!(loaded.roster.failures, [("c".into(), "the manifest threw".into())]);
    assert_eq!(loaded.roster.plugins.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_bad_manifest_names_the_field_and_never_a_value() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""ttl_hours":"hunter2","side_effects":["sends_teleport"]"#, |_| async {
        ok("never", "")
    });
    let result = fleet.advance().await;
    let summary = summary_of(&result, "p");
    assert!(summary.contains("ttl_hours") && summary.contains("side_effects"), "{summary}");
    assert!(!summary.contains("hunter2") && !summary.contains("teleport"), "{summary}");
}

/// Cases: T299.
#[tokio::test(start_paused = true)]
async fn stray_files_are_ignored_and_links_to_directories_are_plugins() {
    let fleet = Fleet::new();
    fleet.spy("real", "");
    fleet.put(&fleet.paths.plugins.join(".DS_Store"), "");
    fleet.put(&fleet.paths.plugins.join("README.md"), "");
    symlink("nowhere", fleet.paths.plugins.join("dangling")).unwrap();
    let elsewhere = Fleet::new();
    elsewhere.spy("linked", "");
    fleet.spy("linked", "");
    std::fs::remove_dir_all(fleet.paths.plugins.join("linked")).unwrap();
    symlink(elsewhere.paths.plugins.join("linked"), fleet.paths.plugins.join("linked")).unwrap();
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Complete);
    assert_eq!(fleet.started(), ["linked", "real"]);
}

/// Cases: T238.
#[tokio::test(start_paused = true)]
async fn prototype_is_a_name_like_any_other_and_members_are_not() {
    let fleet = Fleet::new();
    fleet.spy("prototype", "");
    fleet.spy("toString", "");
    let result = fleet.advance().await;
    assert_eq!(fleet.started(), ["prototype"]);
    assert_eq!(state_of(&result, "toString"), PluginState::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_directory_that_is_named_otherwise_runs_under_its_own_name() {
    let fleet = Fleet::new();
    fleet.spy("directory", r#""name":"manifest-name","side_effects":["sends_email"]"#);
    fleet.grant(r#"["directory"]"#, 4);
    let result = fleet.advance().await;
    assert_eq!(state_of(&result, "directory"), PluginState::Completed);
    assert_eq!(text_at(&fleet.state(), "plugin_runs.directory.status"), "success");
    let warnings = fleet.warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("`manifest-name`"), "{warnings:?}");
}

/// Cases: T208.
#[tokio::test(start_paused = true)]
async fn a_root_elsewhere_moves_nothing_of_the_home() {
    let other = Fleet::new();
    let fleet = Fleet::new();
    other.spy("p", r#""side_effects":["sends_email"],"inputs":{"city":{"type":"string"}}"#);
    let seen = fleet.spy("p", "");
    std::fs::remove_dir_all(fleet.paths.plugins.join("p")).unwrap();
    fleet.grant(r#"["p"]"#, 4);
    fleet.put(&fleet.paths.config_dir.join("p.json"), r#"{"city":"Bern"}"#);
    let before = other.snapshot();
    let result = fleet.advance_with(from_root(&other.paths.plugins)).await.unwrap();
    assert_eq!(state_of(&result, "p"), PluginState::Completed);
    assert_eq!(text_at(&seen.lock().unwrap()[0].args, "city"), "Bern");
    assert_eq!(other.snapshot(), before, "nothing is written there");
    assert_eq!(text_at(&fleet.state(), "plugin_runs.p.status"), "success");
    assert!(fleet.events().iter().any(|event| text_at(event, "source") == "p"));
    assert!(result.run_log_path.unwrap().starts_with(&fleet.paths.runs_dir));
}

/// Cases: T207.
#[tokio::test(start_paused = true)]
async fn a_root_may_be_the_default_one_by_name_or_lie_inside_a_plugin() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    let options = from_root(&fleet.paths.plugins);
    assert_eq!(state_of(&fleet.advance_with(options).await.unwrap(), "p"), PluginState::Completed);
    let inside = fleet.paths.plugins.join("p/nested");
    fleet.spy("q", "");
    std::fs::create_dir(&inside).unwrap();
    std::fs::rename(fleet.paths.plugins.join("q"), inside.join("q")).unwrap();
    let options = from_root(&inside);
    assert_eq!(state_of(&fleet.advance_with(options).await.unwrap(), "q"), PluginState::Completed);
}

/// Cases: T200, T202, T298, T391.
#[tokio::test(start_paused = true)]
async fn a_refused_root_leaves_no_trace_and_is_named() {
    let fleet = Fleet::new();
    let absent = fleet.paths.home.join("absent");
    let error = fleet.advance_with(from_root(&absent)).await.unwrap_err().to_string();
    assert_eq!(error, format!("cannot read plugin root {}: ENOENT", absent.display()));
    let error = fleet.advance_with(from_root("".as_ref())).await.unwrap_err().to_string();
    assert!(error.contains("plugin root was given as an empty string"), "{error}");
    let cwd = fleet.environment.cwd.display().to_string();
    assert!(!error.contains("ENOENT") && !error.contains(&cwd), "{error}");
    for path in [fleet.paths.home.join("state"), fleet.paths.logs_dir.clone()] {
        assert!(!path.exists(), "not even a directory: {}", path.display());
    }
    let report = fleet.engine.load_manifests(&absent, &fleet.environment, Isolation::None, 1).await;
    assert_eq!(report.root_error, Some((absent, "ENOENT".into())));
    assert!(report.roster.plugins.is_empty() && report.roster.failures.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_root_that_may_not_be_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let fleet = Fleet::new();
    let closed = fleet.paths.home.join("closed");
    std::fs::create_dir(&closed).unwrap();
    let mode = |mode| std::fs::set_permissions(&closed, PermissionsExt::from_mode(mode)).unwrap();
    mode(0o000);
    let readable = std::fs::read_dir(&closed).is_ok();
    let outcome = fleet.advance_with(from_root(&closed)).await;
    mode(0o755);
    // The superuser reads everything; then the root is an empty one like any other.
    match outcome {
        Err(error) => assert!(!readable && error.to_string().ends_with(": EACCES"), "{error}"),
        Ok(result) => assert!(readable && result.status == AdvanceStatus::Failed),
    }
}

#[tokio::test(start_paused = true)]
async fn a_plugin_whose_handler_does_not_load_fails_like_one_that_throws() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    fleet.host.forget("p");
    let result = fleet.advance().await;
    assert_eq!(state_of(&result, "p"), PluginState::Failed);
    assert!(summary_of(&result, "p").contains("handler.ts"));
    assert_eq!(text_at(&fleet.state(), "plugin_runs.p.status"), "failed");
}

#[tokio::test(start_paused = true)]
async fn a_manifest_that_never_loads_is_given_up_and_holds_nobody_back() {
    let fleet = Fleet::new();
    fleet.spy("good", "");
    fleet.file("hangs", "await new Promise(() => {})\n");
    let before = tokio::time::Instant::now();
    let result = fleet.advance().await;
    assert_eq!(before.elapsed().as_secs(), 30);
    assert_eq!(state_of(&result, "good"), PluginState::Completed);
    assert!(summary_of(&result, "hangs").contains("30 seconds"));
    assert_eq!(*fleet.host.aborts.lock().unwrap(), [AbortReason::Timeout]);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_does_not_wait_for_a_manifest_that_never_loads() {
    let fleet = Fleet::new();
    fleet.file("hangs", "await new Promise(() => {})\n");
    let cancel = fleet.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        cancel.cancel();
    });
    let before = tokio::time::Instant::now();
    let result = fleet.advance().await;
    assert_eq!(before.elapsed().as_millis(), 2250);
    assert_eq!(result.status, AdvanceStatus::Interrupted, "not a root without plugins");
    assert!(summary_of(&result, "hangs").contains("was cancelled"));
    assert_eq!(*fleet.host.aborts.lock().unwrap(), [AbortReason::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_cannot_be_begun_stops_the_advance_before_any_plugin() {
    for path in ["logs", "state/events.jsonl/x"] {
        let fleet = Fleet::new();
        fleet.spy("p", "");
        fleet.put(&fleet.paths.home.join(path), "in the way");
        let error = fleet.advance_with(AdvanceOptions::default()).await.unwrap_err();
        let blocked = path.trim_end_matches("/x");
        assert!(error.to_string().contains(blocked), "{error}");
        assert!(fleet.started().is_empty() && !fleet.paths.state_file.exists());
        assert!(!fleet.paths.run_lock().exists(), "the lock is released");
    }
}

#[tokio::test(start_paused = true)]
async fn a_state_that_cannot_be_locked_stops_the_advance_before_any_plugin() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    std::fs::create_dir_all(fleet.paths.state_lock()).unwrap();
    let error = fleet.advance_with(AdvanceOptions::default()).await.unwrap_err();
    assert!(error.to_string().contains(".state.lock"), "{error}");
    assert!(fleet.started().is_empty() && !fleet.paths.events.exists());
}

#[tokio::test(start_paused = true)]
async fn a_key_of_a_manifest_that_means_nothing_is_told() {
    let fleet = Fleet::new();
    fleet.spy("p", r#""side_effect":["sends_email"]"#);
    fleet.advance().await;
    let told = fleet.host.notices.lock().unwrap();
    let slip = told.iter().find_map(|notice| match notice {
        Notice::Warning { text } => Some(text.clone()),
        _ => None,
    });
    let slip = slip.expect("a warning");
    assert!(
        slip.contains("`side_effect`") && slip.contains("did you mean `side_effects`"),
        "{slip}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_empty_path_is_refused_and_deletes_nothing_where_the_process_works() {
    let mut fleet = Fleet::new();
    fleet.spy("p", "");
    let work = tempfile::tempdir().unwrap();
    let old = work.path().join("package.json");
    std::fs::write(&old, "{}").unwrap();
    std::fs::File::options()
        .write(true)
        .open(&old)
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    fleet.environment.cwd = work.path().to_owned();
    let before = fleet.snapshot();
    type Field = fn(&mut PathOverrides) -> &mut Option<PathBuf>;
    let fields: [(&str, Field); 6] = [
        ("stateDir", |paths| &mut paths.state_dir),
        ("runsDir", |paths| &mut paths.runs_dir),
        ("logsDir", |paths| &mut paths.logs_dir),
        ("eventsPath", |paths| &mut paths.events_path),
        ("preferencesPath", |paths| &mut paths.preferences_path),
        ("approvalPath", |paths| &mut paths.approval_path),
    ];
    for (name, field) in fields {
        let mut options = AdvanceOptions::default();
        *field(&mut options.paths) = Some(PathBuf::new());
        let refused = fleet.advance_with(options).await.unwrap_err().to_string();
        assert!(refused.contains(&format!("`{name}`")), "{refused}");
    }
    assert!(old.exists());
    assert_eq!(fleet.snapshot(), before);
}
