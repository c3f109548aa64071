use std::fs;
use std::time::{Duration, SystemTime};

use super::*;
use crate::home::files::write_atomic;
use crate::json::{Value, parse};
use crate::schema::run_artifact::{ArtifactStatus, Attempt};

/// An empty home that goes with its guard.
pub(in crate::home) fn home() -> (tempfile::TempDir, Paths) {
    let root = tempfile::tempdir().expect("temporary directory");
    let paths = Paths::new(root.path().join("home"));
    (root, paths)
}

/// An instant by its text.
pub(in crate::home) fn at(text: &str) -> Instant {
    Instant::parse(text).expect("a date-time")
}

/// Sets when a file was last written.
pub(in crate::home) fn set_time(path: &Path, time: Instant) {
    let since = Duration::from_millis(u64::try_from(time.ms()).expect("after 1970"));
    let file = fs::File::options().write(true).open(path).expect("file");
    file.set_modified(SystemTime::UNIX_EPOCH + since).expect("time");
}

fn run_log(run_id: &str, status: AdvanceStatus) -> RunLog {
    RunLog {
        run_id: run_id.into(),
        started_at: "2026-08-20T12:00:00.000Z".into(),
        completed_at: None,
        status,
        resumed_from: None,
        summary: "s".into(),
        plugin_entries: Vec::new(),
        manifests_loaded: Some(0.0),
    }
}

fn artifact(run_id: &str) -> RunArtifact {
    RunArtifact {
        run_id: run_id.into(),
        plugin: "p".into(),
        started_at: "2026-08-20T12:00:00.000Z".into(),
        completed_at: None,
        status: ArtifactStatus::Running,
        summary: "".into(),
        user_initiated: false,
        attempts: vec![Attempt {
            attempt: 1,
            started_at: "2026-08-20T12:00:00.000Z".into(),
            elapsed_ms: 1.0,
            status: "success".into(),
            error: None,
        }],
        final_error: None,
        cancelled: false,
        timed_out: false,
        retried: false,
    }
}

fn names(paths: &Paths) -> Vec<String> {
    let mut names: Vec<String> = names_with_times(&paths.runs_dir).map(|(name, _)| name).collect();
    names.sort();
    names
}

fn put(paths: &Paths, name: &str, text: &str) {
    write_atomic(&paths.runs_dir.join(name), text.as_bytes(), None).expect("file");
}

fn document(plugin: &str, started_at: &str) -> String {
    format!(r#"{{"run_id":"../../victim","plugin":"{plugin}","started_at":"{started_at}"}}"#)
}

/// Cases: T323.
#[test]
fn documents_are_written_under_their_run_id_without_a_final_newline() {
    let (_root, paths) = home();
    let path = write_run_log(&paths, &run_log("r1", AdvanceStatus::Interrupted)).expect("run log");
    assert_eq!(path, paths.runs_dir.join("r1.json"));
    let text = fs::read_to_string(&path).expect("run log");
    assert_eq!(text, run_log("r1", AdvanceStatus::Interrupted).to_value().to_pretty());
    let path = write_artifact(&paths, &artifact("a1")).expect("artifact");
    let text = fs::read_to_string(&path).expect("artifact");
    let value = parse(&text).expect("JSON");
    assert_eq!(value.get("run_id"), Some(&"a1".into()));
    assert_eq!(value.get("attempts").and_then(Value::as_array).map(<[_]>::len), Some(1));
    assert_eq!(names(&paths), ["a1.json", "r1.json"]);
}

#[test]
fn a_run_id_that_is_no_file_name_writes_nothing() {
    let (_root, paths) = home();
    for bad in ["../victim", "", ".hidden", "a/b"] {
        let error = write_artifact(&paths, &artifact(bad)).expect_err("refused");
        assert_eq!(error.code(), "ERR_WARPLINE_OPTION");
        assert!(write_run_log(&paths, &run_log(bad, AdvanceStatus::Complete)).is_err());
    }
    assert!(!paths.home.exists());
}

#[test]
fn a_status_is_read_only_from_the_run_log_of_that_run() {
    let (_root, paths) = home();
    write_run_log(&paths, &run_log("r1", AdvanceStatus::Interrupted)).expect("run log");
    assert_eq!(status_of(&paths, &"r1".into()), Some(AdvanceStatus::Interrupted));
    put(&paths, "r2.json", &run_log("r1", AdvanceStatus::Complete).to_value().to_compact());
    write_artifact(&paths, &artifact("r3")).expect("an artifact has another status");
    put(&paths, "r4.json", "{");
    put(&paths, "r6.json", r#"{"run_id":"r6","status":"interrupted","plugins":[1,]}"#);
    put(&paths, "r7.json", r#"{"run_id":"r7","status":"interrupted"} {}"#);
    put(&paths, "r8.json", r#"{"run_id":"r8","status":"interrupted","status":null}"#);
    put(&paths, "r9.json", r#"{"plugins":{"run_id":"r9","status":"interrupted"}}"#);
    fs::write(paths.home.join("x.json"), fs::read(paths.runs_dir.join("r1.json")).expect("log"))
        .expect("outside of runs");
    for other in ["r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "", "../x", "../runs/r1"] {
        assert_eq!(status_of(&paths, &other.into()), None, "{other}");
    }
}

#[test]
fn a_pointer_may_outlive_its_run() {
    let (_root, paths) = home();
    let path = write_run_log(&paths, &run_log("r1", AdvanceStatus::Complete)).expect("run log");
    assert!(is_retained(&paths, &"r1".into()));
    fs::remove_file(path).expect("gone");
    assert!(!is_retained(&paths, &"r1".into()));
    assert!(!is_retained(&paths, &"../state/engine-state".into()));
    assert!(!is_retained(&paths, &JsString::from_utf16(&[0xd800])));
}

/// Cases: T324, T327, T328.
#[test]
fn pruning_goes_by_file_time_takes_documents_and_leaves_transcripts() {
    let (_root, paths) = home();
    let now = at("2026-08-20T12:00:00.000Z");
    assert_eq!(prune_run_logs(&paths, now), 0, "no directory yet");
    assert_eq!(trim_plugin_history(&paths, &"p".into(), 0), 0, "neither for this");
    let times = [("old", "2026-07-20T12:00:00.000Z"), ("new", "2026-08-18T12:00:00.000Z")];
    for (run, time) in times {
        for suffix in ["json", "log"] {
            let name = format!("{run}.{suffix}");
            put(&paths, &name, "{ not json");
            set_time(&paths.runs_dir.join(name), at(time));
        }
    }
    fs::create_dir(paths.runs_dir.join("directory.json")).expect("directory");
    assert_eq!(prune_run_logs(&paths, now), 1);
    assert_eq!(names(&paths), ["new.json", "new.log", "old.log"]);
}

/// Cases: T315, T319, T327.
#[test]
fn trimming_keeps_the_newest_and_takes_document_and_transcript_together() {
    let (root, paths) = home();
    fs::write(root.path().join("victim.json"), "precious").expect("victim");
    fs::write(root.path().join("victim.log"), "precious").expect("victim");
    for day in 1..=21 {
        put(&paths, &format!("r{day}.json"), &document("p", &format!("2026-07-{day:02}")));
        put(&paths, &format!("r{day}.log"), "");
    }
    put(&paths, "other.json", &document("q", "2020-01-01"));
    put(&paths, "other.log", "");
    put(&paths, "broken.json", "{");
    put(&paths, "shapeless.json", "[]");
    let kept = retention::ARTIFACTS_KEPT;
    assert_eq!(trim_plugin_history(&paths, &"p".into(), kept), 1);
    let left = names(&paths);
    assert_eq!(left.len(), 44);
    assert!(!left.contains(&"r1.json".into()) && !left.contains(&"r1.log".into()));
    assert_eq!(trim_plugin_history(&paths, &"p".into(), 0), 20);
    assert_eq!(names(&paths), ["broken.json", "other.json", "other.log", "shapeless.json"]);
    assert!(root.path().join("victim.json").exists() && root.path().join("victim.log").exists());
}

/// Cases: T318.
#[test]
fn only_what_is_gone_counts() {
    // Rights do not bind the superuser, so a child without them does the work.
    const CHILD: &str = "WARPLINE_TEST_TRIM";
    if let Ok(home) = std::env::var(CHILD) {
        let paths = Paths::new(home.into());
        assert_eq!(trim_plugin_history(&paths, &"p".into(), 0), 0);
        assert_eq!(prune_run_logs(&paths, at("2036-08-20")), 0);
        return;
    }
    let (root, paths) = home();
    put(&paths, "r1.json", &document("p", "2026-07-01"));
    put(&paths, "r1.log", "");
    let output = without_rights(
        "home::runs::tests::only_what_is_gone_counts",
        CHILD,
        root.path(),
        &[(&paths.runs_dir, 0o555)],
        &paths.home,
    );
    assert!(output.contains("1 passed"), "{output}");
    assert_eq!(names(&paths), ["r1.json", "r1.log"]);
}

#[test]
fn what_a_link_leads_to_is_neither_read_nor_deleted() {
    use std::os::unix::fs::symlink;
    let (root, paths) = home();
    let outside = root.path().join("outside");
    fs::create_dir(&outside).expect("directory");
    for (name, plugin) in [("victim.json", "p"), ("victim.log", "p"), ("other.json", "q")] {
        fs::write(outside.join(name), document(plugin, "2020-01-01")).expect("victim");
        set_time(&outside.join(name), at("2020-01-01"));
    }
    let runs = &paths.runs_dir;
    put(&paths, "real.json", &document("p", "2019-01-01"));
    symlink(outside.join("victim.log"), runs.join("real.log")).expect("a transcript elsewhere");
    symlink(outside.join("victim.json"), runs.join("link.json")).expect("a document elsewhere");
    symlink(&outside, runs.join("directory.json")).expect("a directory elsewhere");
    symlink("..", runs.join("up.json")).expect("the home itself");
    for hostile in ["../outside/victim", "..", "outside", "real/../../outside/victim", "*"] {
        let text = format!(r#"{{"run_id":"{hostile}","plugin":"{hostile}","started_at":"2018"}}"#);
        put(&paths, "hostile.json", &text);
        assert_eq!(trim_plugin_history(&paths, &hostile.into(), 0), 1, "the document by its name");
    }
    assert_eq!(trim_plugin_history(&paths, &"p".into(), 0), 1);
    assert_eq!(prune_run_logs(&paths, at("2036-01-01")), 0, "a link is no document");
    let left = fs::read_dir(&outside).expect("directory").count();
    assert_eq!(left, 3, "only the link to a transcript is gone");
    assert!(
        !runs.join("real.json").exists() && fs::symlink_metadata(runs.join("real.log")).is_err()
    );
    assert!(fs::symlink_metadata(runs.join("link.json")).is_ok());
}

/// Runs one test of this binary as a user that is not the superuser and owns nothing below `root`,
/// with the given modes on directories; its output.
pub(in crate::home) fn without_rights(
    test: &str,
    variable: &str,
    root: &Path,
    modes: &[(&Path, u32)],
    value: &Path,
) -> String {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
    };
    set(root, 0o755);
    // The build directory may be closed to others. Were the copy written by this process, one that another
    // test is just starting could still have it open for writing, and no such file can be run.
    let program = root.join("program");
    let mut copy = std::process::Command::new("cp");
    let copied = copy.arg(std::env::current_exe().expect("this test")).arg(&program).status();
    assert!(copied.expect("cp runs").success());
    set(&program, 0o755);
    for (path, mode) in modes {
        set(path, *mode);
    }
    let mut command = std::process::Command::new(&program);
    command.args(["--exact", test]).env(variable, value).current_dir("/");
    if fs::metadata(root).expect("root").uid() == 0 {
        command.uid(65_534).gid(65_534);
    }
    let output = command.output().expect("the child runs");
    for (path, _) in modes {
        set(path, 0o755);
    }
    let _ = fs::remove_file(&program);
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
