//! `init`.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::Home;

/// A home to come, with a package and a seed plugin beside it.
pub fn fresh() -> Home {
    let seed = concat!(
        r#""inputs":{"limit":{"type":"number","default":90},"#,
        r#""token":{"type":"string","default":"x"},"#,
        r#""source":{"type":"string","required":false,"default":"/proc"}},"secrets":["token"]"#
    );
    with_seed(seed)
}

pub fn with_seed(manifest: &str) -> Home {
    let mut home = Home::new().plugin("host-metrics", manifest);
    let package = home.around().join("package");
    let seed = package.join("examples/host-metrics");
    fs::create_dir_all(seed.join("lib")).expect("directories");
    fs::create_dir_all(seed.join("node_modules/x")).expect("directories");
    fs::create_dir_all(seed.join("__pycache__")).expect("directories");
    fs::write(seed.join("__pycache__/m.pyc"), "").expect("a file");
    fs::write(package.join("package.json"), "{}").expect("a file");
    for (file, text) in [("manifest.ts", "m"), ("handler.ts", "h"), ("lib/read.ts", "r")] {
        fs::write(seed.join(file), text).expect("a file");
    }
    home.package.directory = Some(package);
    home.package.seed = Some(seed);
    home
}

/// Cases: T351, T354.
#[test]
fn an_empty_home_is_prepared() {
    let home = fresh();
    let ran = home.run("init");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let path = home.path("").display().to_string();
    let path = path.trim_end_matches('/');
    let expected = format!(
        "created {path}
created {path}/plugins
created {path}/config
created {path}/state
created {path}/package.json
created {path}/node_modules/warpline
created {path}/plugins/host-metrics
created {path}/config/host-metrics.json
created {path}/config/schemas/host-metrics.json
{path} is ready; `warpline plan` shows what is due
"
    );
    assert_eq!(ran.out, expected);
    assert_eq!(home.read("package.json").as_deref(), Some("{\n  \"type\": \"module\"\n}\n"));
    let link = home.path("node_modules/warpline");
    assert!(link.is_symlink() && link.join("package.json").is_file());
    for (file, text) in [("manifest.ts", "m"), ("handler.ts", "h"), ("lib/read.ts", "r")] {
        assert_eq!(home.read(&format!("plugins/host-metrics/{file}")).as_deref(), Some(text));
    }
    assert!(!home.path("plugins/host-metrics/node_modules").exists());
    assert!(!home.path("plugins/host-metrics/__pycache__").exists());
    let config = "{\n  \"limit\": 90,\n  \"source\": \"/proc\"\n}";
    assert_eq!(home.read("config/host-metrics.json").as_deref(), Some(config));
    let plan = home.run("plan").out;
    assert!(plan.contains("Due (1):\n  host-metrics (level 0)"), "{plan}");
}

#[test]
fn a_second_time_changes_nothing() {
    let home = fresh();
    home.run("init");
    fs::write(home.path("plugins/host-metrics/handler.ts"), "mine").expect("a file");
    fs::write(home.path("config/host-metrics.json"), "{}").expect("a file");
    let before = home.snapshot();
    let ran = home.run("init");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(!ran.out.contains("created"), "{}", ran.out);
    assert_eq!(home.snapshot(), before);
}

#[test]
fn json_has_the_documented_keys_in_order() {
    let home =
        with_seed(r#""inputs":{"path":{"type":"string"},"days":{"type":"number","default":90}}"#);
    let path = home.path("").display().to_string();
    let path = path.trim_end_matches('/');
    let ran = home.run("init --json");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let expected = format!(
        concat!(
            r#"{{"home":"{}","created":[".","plugins","config","state","package.json","#,
            r#""node_modules/warpline","plugins/host-metrics","config/host-metrics.json","#,
            r#""config/schemas/host-metrics.json"],"#,
            r#""mended":[],"unchanged":[],"left_alone":[],"seed":"host-metrics","#,
            r#""config":"config/host-metrics.json","#,
            r#""missing_inputs":[{{"name":"path","type":"string"}}]}}"#
        ),
        path
    );
    assert_eq!(ran.json().to_compact(), expected);

    let link = home.path("node_modules/warpline");
    fs::remove_file(&link).expect("a link");
    symlink("/nowhere/at/all", &link).expect("a link");
    fs::write(home.path("package.json"), "{").expect("a file");
    let again = home.run("init --json");
    assert_eq!(again.code, 0);
    let expected = format!(
        concat!(
            r#"{{"home":"{}","created":[],"mended":["node_modules/warpline"],"#,
            r#""unchanged":[".","plugins","config","state","plugins/host-metrics","#,
            r#""config/host-metrics.json","config/schemas/host-metrics.json"],"#,
            r#""left_alone":[{{"path":"package.json","because":"it is not valid JSON"}}],"#,
            r#""seed":"host-metrics","config":"config/host-metrics.json","#,
            r#""missing_inputs":[{{"name":"path","type":"string"}}]}}"#
        ),
        path
    );
    assert_eq!(again.json().to_compact(), expected);

    let elsewhere = fresh();
    let root = elsewhere.around().join("plugins").display().to_string();
    let ran = elsewhere.run_words(&["init", "--json", "--plugins", &root]);
    let created = ran.json().get("created").expect("created").to_compact();
    assert!(created.starts_with(&format!(r#"[".","{root}","config""#)), "{created}");

    let mut broken = fresh();
    broken.package.seed = Some(broken.around().join("package/nowhere/host-metrics"));
    let ran = broken.run("init --json");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("error: cannot read "), "{}", ran.err);
}

/// Cases: T355.
#[test]
fn a_missing_input_is_named() {
    let home =
        with_seed(r#""inputs":{"path":{"type":"string"},"days":{"type":"number","default":90}}"#);
    let ran = home.run("init");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let told =
        "needs `path`, a string, before host-metrics can run: `warpline configure host-metrics`";
    assert!(ran.out.contains(told), "{}", ran.out);
    assert_eq!(home.read("config/host-metrics.json").as_deref(), Some("{\n  \"days\": 90\n}"));
}

#[test]
fn a_dangling_link_is_mended_and_a_directory_is_not_replaced() {
    let home = fresh();
    fs::create_dir_all(home.path("node_modules")).expect("a directory");
    let link = home.path("node_modules/warpline");
    symlink("/nowhere/at/all", &link).expect("a link");
    let ran = home.run("init");
    assert!(ran.out.contains(&format!("mended {}\n", link.display())), "{}", ran.out);
    assert!(link.join("package.json").is_file());

    let home = fresh();
    let real = home.path("node_modules/warpline");
    fs::create_dir_all(&real).expect("a directory");
    let ran = home.run("init");
    assert_eq!(ran.code, 0);
    assert!(ran.err.starts_with("⚠ ") && ran.err.contains("not replaced"), "{}", ran.err);
    assert!(real.is_dir() && !real.is_symlink());
}

#[test]
fn another_package_json_stays_and_is_warned_about() {
    for (text, told) in [("{\"name\": \"x\"}", "`type` is not `module`"), ("{", "not valid JSON")] {
        let home = fresh().file("package.json", text);
        let ran = home.run("init");
        assert_eq!(ran.code, 0);
        assert!(ran.err.contains(told), "{}", ran.err);
        assert_eq!(home.read("package.json").as_deref(), Some(text));
    }
    let home = fresh().file("package.json", "{\"type\":\"module\",\"name\":\"x\"}");
    assert_eq!(home.run("init").err, "");
}

/// Cases: T356.
#[test]
fn stray_arguments_leave_the_home_untouched() {
    let home = fresh();
    for line in ["init now", "init --yes"] {
        let ran = home.run(line);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        assert!(ran.err.contains("Usage: warpline init"), "{}", ran.err);
    }
    assert!(!home.path("").exists());
}

#[test]
fn a_seed_that_cannot_be_copied_leaves_no_half_plugin() {
    let mut home = fresh();
    home.package.seed = Some(home.around().join("package/nowhere/host-metrics"));
    let ran = home.run("init");
    assert_eq!(ran.code, 1);
    assert!(ran.err.starts_with("error: cannot read "), "{}", ran.err);
    assert!(!home.path("plugins/host-metrics").exists());
    let left: Vec<_> = fs::read_dir(home.path("")).expect("a home").flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".warpline")));
}

/// Cases: T358, T359, T360.
#[test]
fn a_person_at_a_terminal_is_asked_for_the_seeds_inputs_once() {
    let seed = r#""inputs":{"path":{"type":"string"},"days":{"type":"number","default":90}}"#;
    let home = with_seed(seed).typing("/var/log\n30\n");
    let ran = home.run("init");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.err, "path (string, required)\n> days (number, required)\n[90]> ");
    let config = "{\n  \"path\": \"/var/log\",\n  \"days\": 30\n}";
    assert_eq!(home.read("config/host-metrics.json").as_deref(), Some(config));
    assert_eq!(home.run("init").err, "", "and never again");

    let empty = with_seed(seed).typing("\n\n");
    assert_eq!(empty.run("init").code, 0);
    let piped = with_seed(seed);
    assert_eq!(piped.run("init").err, "");
    let file = "config/host-metrics.json";
    assert_eq!(empty.read(file), piped.read(file), "an empty line is the default");

    let early = with_seed(seed).typing("/var/log\n");
    let ran = early.run("init");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("nothing was written"), "{}", ran.err);
    assert_eq!(early.read(file), None);

    let json = with_seed(seed).typing("unread\n");
    assert_eq!(json.run("init --json").err, "", "whoever wants JSON is no person");
}

#[test]
fn a_configuration_that_cannot_be_read_is_left() {
    let home = fresh().file("config/host-metrics.json", "{");
    assert_eq!(home.run("init").code, 0);
    assert_eq!(home.read("config/host-metrics.json").as_deref(), Some("{"));
}
