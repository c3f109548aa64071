//! What is missing where plugins of a language do not run, and what a reader is told.

use std::os::unix::fs::PermissionsExt;

use warpline_core::engine::{Isolation, PluginState};

use crate::support::{FINE, Home, ok, state_of, summary_of};

#[tokio::test]
async fn a_missing_interpreter_keeps_only_its_own_plugins_from_loading() {
    let mut home = Home::new();
    home.fleet.plugin("typed", "", async |_| ok("in the host", ""));
    home.python("one", &[FINE]);
    home.set("WARPLINE_PYTHON", "");
    home.set("PATH", &home.path("nothing").display().to_string());
    let result = home.advance().await;
    assert_eq!(state_of(&result, "typed"), PluginState::Completed);
    assert_eq!(
        summary_of(&result, "one"),
        "Python plugins need Python 3.9 or newer, and there is no `python3` on PATH: install it, or set \
         WARPLINE_PYTHON to the program"
    );
    let told = home.invoke("one").await.final_error.expect("an error").to_text();
    assert!(told.starts_with("plugin `one` does not load: Python plugins need"), "{told}");
    assert!(home.workers().is_empty());
}

#[tokio::test]
async fn a_variable_that_names_no_program_is_named_and_its_value_is_not_shown() {
    let mut home = Home::new();
    home.python("one", &[FINE]);
    for value in ["/nowhere/python-hunter2", "python-hunter2", "./hunter2", "/"] {
        home.set("WARPLINE_PYTHON", value);
        let result = home.advance().await;
        let told = summary_of(&result, "one");
        assert!(told.starts_with("WARPLINE_PYTHON names no program"), "{told}");
        assert!(!told.contains("hunter2"), "{told}");
    }
}

#[tokio::test]
async fn a_program_is_found_on_the_path_and_relative_to_the_working_directory() {
    let mut home = Home::new();
    home.python("one", &[FINE]);
    let worker = crate::support::example("worker");
    std::fs::create_dir_all(home.path("bin/empty")).expect("created");
    std::os::unix::fs::symlink(&worker, home.path("bin/python3")).expect("linked");
    home.set("WARPLINE_PYTHON", "");
    home.set("PATH", "bin/empty:bin");
    let result = home.advance().await;
    assert_eq!(summary_of(&result, "one"), "fine");
    home.set("WARPLINE_PYTHON", "bin/python3");
    assert_eq!(summary_of(&home.advance().await, "one"), "fine");
    // What is no program is passed by.
    std::fs::write(home.path("bin/empty/python3"), "").expect("written");
    home.set("WARPLINE_PYTHON", "");
    assert_eq!(summary_of(&home.advance().await, "one"), "fine");
}

#[tokio::test]
async fn the_npm_package_is_looked_for_around_home_plugins_and_working_directory() {
    let mut home = Home::new();
    home.plugin("typed", "ts", "", &[FINE]);
    home.set("WARPLINE_NPM", "");
    let told = summary_of(&home.advance_in(Isolation::Process).await, "typed");
    assert!(told.starts_with("TypeScript plugins need the npm package `warpline`"), "{told}");
    assert!(told.contains("`npm install warpline`, or set WARPLINE_NPM"), "{told}");
    let elsewhere = tempfile::tempdir().expect("a directory");
    home.fleet.environment.cwd = elsewhere.path().join("below");
    std::fs::create_dir(&home.fleet.environment.cwd).expect("created");
    for package in [
        home.path("node_modules/warpline"),
        home.path("plugins/node_modules/warpline"),
        elsewhere.path().join("node_modules/warpline"),
    ] {
        std::fs::create_dir_all(package.join("lib")).expect("created");
        let told = summary_of(&home.advance_in(Isolation::Process).await, "typed");
        assert!(told.starts_with("TypeScript plugins need the npm package"), "{told}");
        std::fs::write(package.join("lib/worker.js"), "").expect("written");
        assert_eq!(summary_of(&home.advance_in(Isolation::Process).await, "typed"), "fine");
        std::fs::remove_dir_all(package).expect("removed");
    }
    home.set("WARPLINE_NPM", "nowhere/hunter2");
    let told = summary_of(&home.advance_in(Isolation::Process).await, "typed");
    assert!(told.starts_with("WARPLINE_NPM names no directory of the npm package"), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
}

#[tokio::test]
async fn a_python_without_the_package_is_told_apart_from_one_that_breaks() {
    for (mode, expected) in [
        (
            "exits 86",
            "has no module `warpline`, which runs Python plugins: `python3 -m pip install warpline-runtime`",
        ),
        ("exits 87", "3 worker processes in a row ended before anything ran in them"),
    ] {
        let home = Home::whose_worker(mode);
        home.python("one", &[FINE]);
        let told = summary_of(&home.advance().await, "one");
        assert!(told.contains(expected), "{told}");
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_a_failed_call() {
    let mut home = Home::new();
    home.python("one", &[FINE]);
    std::fs::write(home.path("broken"), "#!/nowhere/python\n").expect("written");
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(home.path("broken"), all).expect("set");
    home.set("WARPLINE_PYTHON", "./broken");
    let told = summary_of(&home.advance().await, "one");
    assert!(told.starts_with("cannot start /"), "{told}");
    assert!(told.contains("which runs Python plugins: "), "{told}");
}
