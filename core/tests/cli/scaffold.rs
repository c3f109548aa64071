//! `scaffold`: which names and places are accepted, and what is written. That the result type-checks
//! and runs is shown with the real languages, in tests/scenarios.

use std::fs;
use std::os::unix::fs::symlink;

use warpline_core::json::{Value, parse};

use crate::support::{Home, assert_refused, assert_told};

/// A home to come, with a package whose examples are in this language.
fn with_examples(extension: &str, manifest: &str) -> Home {
    let mut home = Home::new();
    let package = home.around().join("package");
    for example in ["host-metrics", "link-check"] {
        let directory = package.join("examples").join(example);
        fs::create_dir_all(directory.join("lib")).expect("directories");
        let text = manifest.replace("NAME", example);
        fs::write(directory.join(format!("manifest.{extension}")), text).expect("a file");
        fs::write(directory.join(format!("lib/x.{extension}")), example).expect("a file");
    }
    home.package.seed = Some(package.join("examples/host-metrics"));
    home.package.directory = Some(package);
    home
}

pub fn node() -> Home {
    with_examples("ts", "export const manifest = { name: 'NAME' }")
}

/// Cases: T362, T363, T366, T367, T369, T370.
#[test]
fn a_plugin_is_written_with_what_its_home_lacks() {
    let home = node();
    let ran = home.run("scaffold my-demo2");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let path = home.path("plugins/my-demo2").display().to_string();
    let told = format!(
        "created {path}\n  manifest.ts\n  handler.ts\n  handler.test.mjs\n\
         `warpline run my-demo2 try` runs it, `node --test {path}/handler.test.mjs` tests it\n"
    );
    assert!(ran.out.ends_with(&told), "{}", ran.out);
    assert_told(&ran.out, &["package.json\n", "node_modules/warpline\n", "tsconfig.json\n"]);
    assert!(home.path("node_modules/warpline").is_symlink());
    assert_eq!(home.read("package.json").as_deref(), Some("{\n  \"type\": \"module\"\n}\n"));
    let around = home.around().display().to_string();
    for file in ["manifest.ts", "handler.ts", "handler.test.mjs"] {
        let text = home.read(&format!("plugins/my-demo2/{file}")).expect("a file");
        assert!(text.contains("my-demo2") || file == "handler.ts", "{file}");
        for stray in ["plugin-name", "schema_version", ".js'", "from '/", around.as_str()] {
            assert!(!text.contains(stray), "{stray} in {file}");
        }
    }
    let handler = home.read("plugins/my-demo2/handler.ts").expect("a handler");
    assert_told(
        &handler,
        &[
            "from 'warpline/schemas/skill-result'",
            "import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'",
            "from 'warpline/unstable-result'",
            "from './manifest.ts'",
            "export const handler: CapabilityHandlerFn = async (_manifest, args, signal, _capabilities)",
        ],
    );
    let manifest = home.read("plugins/my-demo2/manifest.ts").expect("a manifest");
    assert_told(
        &manifest,
        &[
            "from 'warpline/schemas/plugin-manifest'",
            "      type: 'string',\n      default: '2030-01-01',\n      description: 'The day to",
        ],
    );
    // A second plugin finds everything there.
    let second = home.run("scaffold other");
    assert_eq!(second.out.matches("created ").count(), 1, "{}", second.out);
}

#[test]
fn the_language_is_that_of_the_host_unless_another_is_asked_for() {
    let python = with_examples("py", "manifest = {\"name\": \"NAME\"}");
    let ran = python.run("scaffold my-demo");
    assert_told(&ran.out, &["`warpline run my-demo try`", "python -m pytest", "test_my_demo.py"]);
    assert!(python.path("plugins/my-demo/handler.py").is_file());
    assert!(!python.path("tsconfig.json").exists());
    let other = python.run("scaffold ts-demo --lang ts");
    assert_told(&other.out, &["`npx warpline run ts-demo try` runs it"]);
    assert!(python.path("plugins/ts-demo/handler.ts").is_file());
    let other = node().run("scaffold demo --lang python");
    assert_told(&other.out, &["`python -m warpline run demo try` runs it"]);
    let ran = node().run("scaffold demo --lang pyton");
    assert_refused(&ran, &["invalid --lang 'pyton'", "hint: did you mean `python`?"]);
}

/// Cases: T365.
#[test]
fn a_name_that_is_none_writes_nothing() {
    let home = node();
    let before = home.snapshot();
    for name in
        ["Demo", "1demo", "../escape", "de mo", "demo.plugin", "", "-demo", "démo", "constructor"]
    {
        let ran = home.run_words(&["scaffold", "--", name]);
        assert_refused(&ran, &["invalid plugin name", "hint: "]);
    }
    assert_eq!(home.snapshot(), before);
}

#[test]
fn nothing_that_is_there_is_written_over() {
    let home = node().file("plugins/demo/mine.txt", "mine").file("plugins/file", "mine");
    symlink("/nowhere/at/all", home.path("plugins/link")).expect("a link");
    let before = home.snapshot();
    for name in ["demo", "file", "link"] {
        let ran = home.run(&format!("scaffold {name}"));
        assert_refused(&ran, &["is there already: nothing was written"]);
    }
    assert_refused(&home.run("scaffold new --plugins="), &["empty string"]);
    assert_eq!(home.snapshot(), before);
}

#[test]
fn a_failed_write_leaves_no_half_plugin() {
    // A file where the root should be.
    let home = node().file("plugins", "");
    let ran = home.run("scaffold demo");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.starts_with("error: cannot "), "{}", ran.err);
    let left = fs::read_dir(home.path("")).expect("a home").flatten();
    assert!(
        left.into_iter().all(|entry| !entry.file_name().to_string_lossy().contains(".warpline-"))
    );
}

/// Cases: T369, T370.
#[test]
fn a_home_is_mended_and_what_is_in_the_way_told() {
    let home = node().file("package.json", "{").file("tsconfig.json", "{\"mine\": 1}");
    fs::create_dir_all(home.path("node_modules")).expect("a directory");
    symlink("/nowhere/at/all", home.path("node_modules/warpline")).expect("a link");
    let ran = home.run("scaffold demo");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_told(&ran.err, &["⚠ ", "package.json is left as it is: it is not valid JSON"]);
    assert_eq!(home.read("package.json").as_deref(), Some("{"));
    assert!(home.path("plugins/demo/handler.ts").is_file(), "still created");
    assert_told(&ran.out, &["mended "]);
    assert!(home.path("node_modules/warpline/examples").is_dir());
    assert_eq!(home.read("tsconfig.json").as_deref(), Some("{\"mine\": 1}"));
    let real =
        node().file("node_modules/warpline/mine", "").file("package.json", "{\"name\":\"x\"}");
    let ran = real.run("scaffold demo");
    assert_told(&ran.err, &["not replaced", "its `type` is not `module`"]);
    assert!(!real.path("node_modules/warpline").is_symlink());
    assert_eq!(real.read("node_modules/warpline/mine").as_deref(), Some(""));
    assert_eq!(real.read("package.json").as_deref(), Some("{\"name\":\"x\"}"));
    assert_eq!(ran.code, 0);
    let good = node().file("package.json", "{\"type\":\"module\",\"name\":\"x\"}");
    assert_eq!(good.run("scaffold demo").err, "");
}

#[test]
fn an_example_is_copied_under_the_new_name() {
    let home = node();
    let ran = home.run("scaffold mine --from link-check");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let read = |file: &str| home.read(&format!("plugins/mine/{file}"));
    assert_eq!(read("manifest.ts").as_deref(), Some("export const manifest = { name: 'mine' }"));
    assert_eq!(read("lib/x.ts").as_deref(), Some("link-check"), "only its name changes");
    let ran = home.run("scaffold third --from link-chek");
    let told = [
        "unknown example `link-chek`",
        "did you mean `link-check`? There are host-metrics, link-check",
    ];
    assert_refused(&ran, &told);
    assert_refused(
        &home.run("scaffold third --from zzz"),
        &["hint: there are host-metrics, link-check"],
    );
    let ran = home.run("scaffold third --from link-check --lang python");
    assert_refused(&ran, &["`link-check` is written in TypeScript, not in Python"]);
    let nameless = with_examples("ts", "export const manifest = {}");
    assert_refused(&nameless.run("scaffold third --from link-check"), &["does not tell its name"]);
    assert_refused(&Home::new().run("scaffold third --from x"), &["comes without examples"]);
    assert!(!home.path("plugins/third").exists() && !nameless.path("").exists());
}

#[test]
fn the_report_has_the_documented_keys() {
    let home = node();
    let ran = home.run("scaffold mine --from link-check --json");
    let report = ran.json();
    let schema = parse(include_str!("../../../docs/schemas/scaffold.json")).expect("JSON");
    let keys = |value: &Value| -> Vec<String> {
        value.as_object().expect("an object").keys().map(|key| key.to_text()).collect()
    };
    assert_eq!(keys(&report), keys(schema.get("properties").expect("properties")));
    let shown = |key: &str| report.get(key).expect(key).to_compact();
    assert_eq!(shown("files"), r#"["lib/x.ts","manifest.ts"]"#);
    assert_eq!((shown("language"), shown("from")), (r#""ts""#.into(), r#""link-check""#.into()));
    assert_eq!(shown("directory"), r#""plugins/mine""#);
    let plain = home.run("scaffold other --json").json();
    assert_eq!(plain.get("from"), Some(&Value::Null));
}
