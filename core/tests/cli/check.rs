//! `check`: each rule by a plugin that breaks it alone, in both languages.

use warpline_core::json::{Value, parse};

use crate::support::{Home, assert_refused, assert_told};

const MANIFEST: &str = "import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'p',
  version: '1.0.0',
  description: '',
  autonomy_level: 'autonomous',
  ttl_hours: 1,
  // more
})
";

const HANDLER: &str = "import { skillOk } from 'warpline/unstable-result'

export const handler = async (manifest, args, signal, capabilities) => {
  // work
  return skillOk('')
}
";

const PY_MANIFEST: &str = "from warpline import PluginManifest

manifest = PluginManifest.parse(
    {
        \"name\": \"p\",
        \"version\": \"1.0.0\",
        \"description\": \"\",
        \"autonomy_level\": \"autonomous\",
        \"ttl_hours\": 1,
        # more
    }
)
";

const PY_HANDLER: &str = "from warpline import skill_ok


def handler(manifest, args, signal, capabilities):
    # work
    return skill_ok(\"\")
";

pub fn ts(more: &str, work: &str) -> Home {
    Home::new()
        .file("plugins/p/manifest.ts", &MANIFEST.replace("// more", more))
        .file("plugins/p/handler.ts", &HANDLER.replace("// work", work))
}

fn py(more: &str, work: &str) -> Home {
    Home::new()
        .file("plugins/p/manifest.py", &PY_MANIFEST.replace("# more", more))
        .file("plugins/p/handler.py", &PY_HANDLER.replace("# work", work))
}

/// The findings as `level rule file:line`, after asserting that text, exit code and disk agree.
#[track_caller]
fn found(home: &Home) -> Vec<String> {
    let before = home.snapshot();
    let ran = home.run("check --json");
    let text = home.run("check");
    assert_eq!(home.snapshot(), before, "nothing is written");
    assert_eq!(home.fleet.asked(), Vec::<String>::new());
    assert_eq!((ran.err.as_str(), text.err.as_str(), text.code), ("", "", ran.code));
    let report = ran.json();
    let mut lines = Vec::new();
    for plugin in report.get("plugins").and_then(Value::as_array).expect("plugins") {
        for finding in plugin.get("findings").and_then(Value::as_array).expect("findings") {
            let told =
                |key: &str| finding.get(key).and_then(Value::as_string).map(|it| it.to_text());
            let line = finding.get("line").and_then(Value::as_number);
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            let [level, rule, file] = ["level", "rule", "file"].map(|key| told(key).expect("text"));
            assert_told(&text.out, &[&told("message").expect("a message")]);
            lines.push(format!("{level} {rule} {file}{line}"));
        }
    }
    let errors = lines.iter().any(|line| line.starts_with("error"));
    assert_eq!(ran.code, i32::from(errors), "{lines:?}");
    lines
}

#[test]
fn a_sound_plugin_has_no_finding() {
    for home in [ts("", ""), py("", "")] {
        assert_eq!(found(&home), Vec::<String>::new());
        assert_told(&home.run("check p").out, &["nothing found in 1 plugin of "]);
    }
    let empty = Home::new().file("plugins/README.md", "");
    assert_eq!(found(&empty), Vec::<String>::new());
}

#[test]
fn the_network_needs_a_declaration() {
    for work in
        ["await fetch(url)", "const http = await import('node:https')", "new WebSocket(url)"]
    {
        assert_eq!(found(&ts("", work)), ["error undeclared_network handler.ts:4"], "{work}");
        assert_eq!(found(&ts("side_effects: ['external_api'],", work)), Vec::<String>::new());
    }
    for work in ["import urllib.request", "from http import client", "import socket, requests as r"]
    {
        let finding = "error undeclared_network handler.py:5";
        assert!(found(&py("", work)).iter().all(|line| line == finding), "{work}");
        assert!(!found(&py("", work)).is_empty(), "{work}");
        assert_eq!(found(&py("\"side_effects\": [\"external_api\"],", work)), Vec::<String>::new());
    }
    assert_eq!(found(&py("", "import urllib.parse, http, requests_local")), Vec::<String>::new());
    let own = py("", "import requests").file("plugins/p/requests.py", "");
    assert_eq!(found(&own), Vec::<String>::new(), "a file of the plugin is no package");
    let types = ts("", "").file("plugins/p/x.ts", "import type { Agent } from 'node:https'\n");
    assert_eq!(found(&types), Vec::<String>::new());
}

#[test]
fn files_that_are_imported_are_read_and_others_are_not() {
    let network = "export const get = () => fetch('/')\n";
    let home = ts("", "const { get } = await import('./lib/get.ts')")
        .file("plugins/p/lib/get.ts", "export * from '../deep.ts'\n")
        .file("plugins/p/deep.ts", network)
        .file("plugins/p/handler.test.mjs", network);
    assert_eq!(found(&home), ["error undeclared_network deep.ts:1"]);
    let home = py("", "from lib.notes import text")
        .file("plugins/p/lib/notes.py", "from . import deep\n")
        .file("plugins/p/lib/deep.py", "import socket\n")
        .file("plugins/p/test_p.py", "import socket\n");
    assert_eq!(found(&home), ["error undeclared_network lib/deep.py:1"]);
}

#[test]
fn dependencies_secrets_and_handoffs_need_a_declaration() {
    let read = "capabilities.dependencies.lastOutput(capabilities.caller, 'up')";
    assert_eq!(found(&ts("", read)), ["error undeclared_dependency handler.ts:4"]);
    let declared = ts("dependencies: ['up'],", read);
    assert_eq!(found(&declared), ["warning dependency_missing manifest.ts:9"]);
    let installed = declared.file("plugins/up/manifest.ts", &MANIFEST.replace("'p'", "'up'"));
    let installed = installed.file("plugins/up/handler.ts", HANDLER);
    assert_eq!(found(&installed), Vec::<String>::new());

    let read = "capabilities.dependencies.last_run(capabilities.caller, \"up\")";
    assert_eq!(found(&py("", read)), ["error undeclared_dependency handler.py:5"]);

    let variable = "process.env.TOKEN; process.env.HOME; process.env.WARPLINE_HOME";
    assert_eq!(found(&ts("", variable)), ["warning undeclared_variable handler.ts:4"]);
    assert_eq!(found(&ts("secrets: ['TOKEN'],", variable)), Vec::<String>::new());
    let variable = "os.environ[\"TOKEN\"]; os.environ.get('HOME')";
    assert_eq!(found(&py("", variable)), ["warning undeclared_variable handler.py:5"]);
    assert_eq!(found(&py("\"secrets\": [\"TOKEN\"],", variable)), Vec::<String>::new());

    let handoff = "return skillHandoff('task', 'state/p.json')";
    assert_eq!(found(&ts("", handoff)), ["warning undeclared_handoff handler.ts:4"]);
    assert_eq!(found(&ts("capabilities: ['llm_required'],", handoff)), Vec::<String>::new());
    let handoff = "return skill_handoff(\"task\", \"state/p.json\")";
    assert_eq!(found(&py("", handoff)), ["warning undeclared_handoff handler.py:5"]);
    assert_eq!(found(&py("\"capabilities\": [\"llm_required\"],", handoff)), Vec::<String>::new());
}

#[test]
fn an_import_must_lead_to_a_file_as_it_is_spelt() {
    for (work, hint) in [
        ("await import('./notes')", "hint: write `./notes.ts`"),
        ("await import('./notes.js')", "hint: write `./notes.ts`"),
        ("await import('./nowhere.ts')", "leads to no file"),
    ] {
        let home = ts("", work).file("plugins/p/notes.ts", "");
        assert_eq!(found(&home), ["error import_path handler.ts:4"], "{work}");
        assert_told(&home.run("check").out, &["p/handler.ts:4: error: the import of", hint]);
    }
    let home = ts("", "await import('../shared.ts')").file("plugins/shared.ts", "fetch('/')");
    assert_eq!(found(&home), Vec::<String>::new(), "what is outside is not the plugin's");
}

#[test]
fn a_link_is_the_file_that_it_leads_to() {
    let link = |home: Home, to: &str, at: &str| {
        std::os::unix::fs::symlink(to, home.path(at)).expect("a link");
        home
    };
    // Through a link to its own directory, a file is the same file.
    let home = link(ts("", "await import('./self/self/handler.ts')"), ".", "plugins/p/self");
    assert_eq!(found(&home), Vec::<String>::new());
    let home = link(ts("", "await import('./get.ts')"), "deep.ts", "plugins/p/get.ts");
    let home = home.file("plugins/p/deep.ts", "export const get = () => fetch('/')\n");
    assert_eq!(found(&home), ["error undeclared_network deep.ts:1"]);
    // What lies outside imports from where it lies, and is not the plugin's.
    let home = ts("", "await import('./lib/get.ts')").file("lib/get.ts", "import '../more.ts'\n");
    assert_eq!(found(&link(home, "../../lib", "plugins/p/lib")), Vec::<String>::new());
}

#[test]
fn what_python_takes_for_text_is_read_and_nothing_else() {
    let with = |text: &[u8]| {
        let home = py("", "");
        std::fs::write(home.path("plugins/p/handler.py"), text).expect("a file");
        home
    };
    let marked = format!("\u{feff}{}", PY_HANDLER.replace('\n', "\r\n"));
    assert_eq!(found(&with(marked.as_bytes())), Vec::<String>::new());
    let manifest = format!("\u{feff}{}", PY_MANIFEST.replace("# more", ""));
    let home = py("", "").file("plugins/p/manifest.py", &manifest);
    assert_eq!(found(&home), Vec::<String>::new());
    for wrong in [b"x = '\xff'\n".as_slice(), b"x = '\0'\n"] {
        let text = [PY_HANDLER.as_bytes(), wrong].concat();
        assert_eq!(found(&with(&text)), ["error syntax handler.py:7"]);
    }
}

#[test]
fn syntax_is_told_with_its_line() {
    for text in
        ["\nenum A { B }\n", "\nclass A { constructor(private a: number) {} }", "\nconst = 1"]
    {
        let home = ts("", "").file("plugins/p/handler.ts", &format!("{HANDLER}{text}"));
        assert_eq!(found(&home), ["error syntax handler.ts:8"], "{text:?}");
    }
    let home = py("", "").file("plugins/p/handler.py", &format!("{PY_HANDLER}\nx = (1,\n"));
    assert_eq!(found(&home), ["error syntax handler.py:8"]);
}

#[test]
fn a_manifest_is_one_literal_that_fits_the_schema() {
    assert_eq!(found(&ts("timeout_ms: 0,", "")), ["error manifest_invalid manifest.ts:9"]);
    assert_eq!(found(&py("\"timeout_ms\": 0,", "")), ["error manifest_invalid manifest.py:10"]);
    for (more, line) in [
        ("side_efects: [],", "side_efects"),
        ("inputs: { a: { type: 'string', defualt: '' } },", "inputs.a.defualt"),
    ] {
        let home = ts(more, "");
        let lines = found(&home);
        assert_eq!(lines.first().map(String::as_str), Some("warning unknown_key manifest.ts:9"));
        assert_told(
            &home.run("check").out,
            &[&format!("nothing reads the key `{line}`"), "did you mean `"],
        );
    }
    assert_eq!(found(&ts("ttl_hours: HOURS,", "")), ["warning manifest_computed manifest.ts:3"]);
    let stray =
        |text: &str| ts("", "").file("plugins/p/manifest.ts", &format!("{MANIFEST}{text}\n"));
    assert_eq!(found(&stray("await fetch('/')")).len(), 2, "the call, and what it calls");
    assert_eq!(
        found(&stray("console.log(1)")),
        ["warning manifest_computed manifest.ts:3", "error manifest_code manifest.ts:11"]
    );
    assert_eq!(
        found(&stray("const HOURS = 6")),
        ["warning manifest_computed manifest.ts:3", "warning manifest_code manifest.ts:11"]
    );
    let python =
        py("", "").file("plugins/p/manifest.py", &format!("import os\n{PY_MANIFEST}print(1)\n"));
    assert_eq!(
        found(&python),
        ["warning manifest_code manifest.py:1", "error manifest_code manifest.py:14"]
    );
    let none = ts("", "").file("plugins/p/manifest.ts", "export const manifset = {}\n");
    assert_eq!(
        found(&none),
        ["error manifest_missing manifest.ts", "warning manifest_code manifest.ts:1"]
    );
    let action = ts("inputs: { action: { type: 'string', default: '' } },", "");
    assert_eq!(found(&action), ["warning input_name manifest.ts:9"]);
}

#[test]
fn a_name_must_be_that_of_the_directory_and_a_directory_a_plugin() {
    let home = Home::new()
        .file("plugins/q/manifest.ts", MANIFEST)
        .file("plugins/q/handler.ts", HANDLER)
        .file("plugins/both/manifest.ts", "")
        .file("plugins/both/manifest.py", "");
    let expected = ["error not_a_plugin ", "warning name_mismatch manifest.ts:4"];
    assert_eq!(found(&home), expected);
    assert_eq!(home.run("check q").code, 0, "one alone");
}

#[test]
fn a_handler_must_be_exported_and_callable() {
    let with = |text: &str| ts("", "").file("plugins/p/handler.ts", text);
    for (text, expected) in [
        ("export default async () => {}", "error handler_missing handler.ts"),
        ("export const handler = { run() {} }", "error handler_shape handler.ts:1"),
        ("export function* handler() {}", "error handler_shape handler.ts:1"),
        ("export const handler = (a, b, c, d, e) => {}", "error handler_shape handler.ts:1"),
    ] {
        assert_eq!(found(&with(text)), [expected], "{text}");
    }
    for text in ["export const handler = (a, b, c) => {}", "export const handler = wrap(run)"] {
        assert_eq!(found(&with(text)), Vec::<String>::new(), "{text}");
    }
    let with = |text: &str| py("", "").file("plugins/p/handler.py", text);
    for (text, expected) in [
        ("def run(): pass", "error handler_missing handler.py"),
        ("def handler(manifest, args, signal): pass", "error handler_shape handler.py:1"),
        ("handler = 5", "error handler_shape handler.py:1"),
    ] {
        assert_eq!(found(&with(text)), [expected], "{text}");
    }
    assert_eq!(found(&with("async def handler(*_): pass")), Vec::<String>::new());
    let none = Home::new().file("plugins/p/manifest.ts", MANIFEST);
    assert_eq!(found(&none), ["error handler_missing handler.ts"]);
    let directory =
        Home::new().file("plugins/p/manifest.ts", MANIFEST).file("plugins/p/handler.ts/x", "");
    assert_eq!(found(&directory), ["error unreadable handler.ts"]);
}

#[test]
fn a_configuration_must_fit_the_inputs() {
    let inputs =
        "secrets: ['KEY'], inputs: { a: { type: 'number' }, b: { type: 'string', default: '' } },";
    let home = |text: &str| ts(inputs, "").file("config/p.json", text);
    assert_eq!(found(&home(r#"{"a":1}"#)), Vec::<String>::new());
    for text in ["{\n", "[]", r#"{"a":"hunter2"}"#, r#"{"a":1,"KEY":"hunter2"}"#, "{}"] {
        let home = home(text);
        let [finding] = &found(&home)[..] else { panic!("{text}") };
        assert!(finding.starts_with("error config config/p.json"), "{finding}");
        assert!(!home.run("check").out.contains("hunter2"));
    }
    assert_eq!(found(&home("{\n")), ["error config config/p.json:2"]);
    assert_eq!(found(&ts(inputs, "")), ["error config config/p.json"]);
    let by_hand = ts(&format!("{inputs} schedule: 'manual',"), "");
    assert_eq!(found(&by_hand), ["warning config config/p.json"]);
    assert_told(&by_hand.run("check").out, &["hint: `warpline configure p` asks for it"]);
}

#[test]
fn names_are_checked_and_a_root_must_be_there() {
    let home = ts("", "");
    assert_refused(&home.run("check p pp"), &["unknown plugin `pp`", "hint: did you mean `p`?"]);
    assert_refused(&home.run("check zzz"), &["unknown plugin `zzz`", "`warpline check` alone"]);
    assert_refused(&Home::new().run("check"), &["cannot read plugin root", "ENOENT"]);
}

#[test]
fn the_report_has_the_documented_keys() {
    let report = ts("", "await fetch('/')").run("check --json").json();
    let schema = parse(include_str!("../../../docs/schemas/check.json")).expect("JSON");
    let keys = |value: &Value| -> Vec<String> {
        value.as_object().expect("an object").keys().map(|key| key.to_text()).collect()
    };
    let at = |value: &Value, path: &str| {
        path.split('.').fold(value.clone(), |value, key| match value.as_array() {
            Some(items) => items[key.parse::<usize>().expect("an index")].clone(),
            None => value.get(key).unwrap_or_else(|| panic!("{path}")).clone(),
        })
    };
    assert_eq!(keys(&report), keys(&at(&schema, "properties")));
    let plugin = "properties.plugins.items.properties";
    assert_eq!(keys(&at(&report, "plugins.0")), keys(&at(&schema, plugin)));
    let finding = format!("{plugin}.findings.items.properties");
    assert_eq!(keys(&at(&report, "plugins.0.findings.0")), keys(&at(&schema, &finding)));
    assert_eq!((at(&report, "errors"), at(&report, "warnings")), (1.0.into(), 0.0.into()));
}
