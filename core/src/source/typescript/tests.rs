use super::*;

fn module(text: &str) -> Module {
    read(text).expect("a module")
}

fn sights(text: &str) -> Vec<(Sight, usize)> {
    module(text).sightings.into_iter().map(|sighting| (sighting.what, sighting.line)).collect()
}

#[test]
fn imports_are_told_with_their_line_and_whether_they_load() {
    let text = "import a from './a.ts'\nimport type { B } from './b'\nexport * from 'c'\n\
                export type { D } from 'd'\nawait import('./e')\nlet f: import('./f').F\n";
    let told: Vec<_> = module(text)
        .imports
        .into_iter()
        .map(|import| (import.module, import.line, import.types))
        .collect();
    let expected = [
        ("./a.ts", 1, false),
        ("./b", 2, true),
        ("c", 3, false),
        ("d", 4, true),
        ("./e", 5, false),
    ];
    assert_eq!(told, expected.map(|(module, line, types)| (module.to_owned(), line, types)));
}

#[test]
fn what_code_does_is_seen() {
    let variable = |name: &str, line| (Sight::Variable(name.to_owned()), line);
    let text = "x = process.env.A\ny = process.env['B']\nconst { C, D: d } = process.env\nprocess.env[e]\nenv.F\n";
    assert_eq!(
        sights(text),
        [variable("A", 1), variable("B", 2), variable("C", 3), variable("D", 3)]
    );
    let text = "capabilities.dependencies.lastOutput(caller, 'up')\nlastRun(caller, `${x}`)\nlastRun?.(c, \"down\")\n";
    let dependency = |name: &str, line| (Sight::Dependency(name.to_owned()), line);
    assert_eq!(sights(text), [dependency("up", 1), dependency("down", 3)]);
    let text = "const UP = 'up' as const\nconst a = 'x'\nf = (a) => lastRun(c, a)\nlastOutput(c, UP)\n\
                let b = 'x'\nlastRun(c, b)\nlastRun(c, `up`)\n";
    assert_eq!(sights(text), [dependency("up", 7), dependency("up", 4)]);
    let text = "skillHandoff('t', 'p')\nreturned = { summary: `[needs-llm] ${x}`, needs_llm: 1 }\n\
                if (summary.startsWith('[needs-llm]')) {}\nconst { needs_llm } = r\n";
    let lines: Vec<_> = sights(text).into_iter().map(|(_, line)| line).collect();
    assert_eq!(lines, [1, 2, 2]);
}

#[test]
fn the_network_is_a_global_and_not_a_name_of_the_module() {
    let text = "await fetch(url)\nnew WebSocket(url)\nglobalThis.fetch(url)\nconst get = fetch\n";
    let names: Vec<_> = sights(text).into_iter().map(|(_, line)| line).collect();
    assert_eq!(names, [1, 2, 3, 4]);
    for own in ["import { fetch } from './feed.ts'", "function fetch() {}", "const fetch = 1"] {
        assert_eq!(sights(&format!("{own}\nfetch(url)")), [], "{own}");
    }
    let given = "function get(url, fetch = globalThis.fetch) {\n  return fetch(url)\n}";
    assert_eq!(sights(given), [(Sight::Network("globalThis.fetch"), 1)]);
    assert_eq!(sights("client.fetch(url)\nlet x: typeof fetch\n// fetch(url)\n'fetch(url)'"), []);
}

#[test]
fn a_handler_is_found_however_it_is_exported() {
    let function = |required, most, generator| Shape::Function { required, most, generator };
    for (text, shape) in [
        ("export const handler = async (a, b, c, d) => {}", function(4, Some(4), false)),
        ("export const handler: F = (async function (a, b = 1) {})", function(1, Some(2), false)),
        ("export async function handler(...all) {}", function(0, None, false)),
        ("export function* handler(a) {}", function(1, Some(1), true)),
        ("const run = (a) => {}\nexport { run as handler }", function(1, Some(1), false)),
        ("export const handler = run\nfunction run() {}", function(0, Some(0), false)),
        ("export { handler } from './other.ts'", Shape::Unknown),
        ("export const handler = wrap(run)", Shape::Unknown),
        ("export const handler = { run() {} }", Shape::Other),
        ("export class handler {}", Shape::Other),
    ] {
        assert_eq!(module(text).handler.map(|handler| handler.shape), Some(shape), "{text}");
    }
    for text in ["export default () => {}", "const handler = () => {}", "export type handler = 1"] {
        assert_eq!(module(text).handler, None, "{text}");
    }
}

#[test]
fn statements_beside_a_manifest_are_told_apart() {
    let text = "import x from 'x'\ntype A = 1\nexport const manifest = {}\nconst HOURS = 6 * 60\n\
                const now = Date.now()\nconsole.log(1)\nfunction f() {}\nif (a) {}\n";
    let told: Vec<_> =
        module(text).statements.into_iter().map(|one| (one.line, one.acts)).collect();
    assert_eq!(told, [(4, false), (5, true), (6, true), (7, false), (8, true)]);
}

#[test]
fn a_manifest_has_its_value_and_the_line_of_every_key() {
    let text = "export const manifest = {\n  name: 'a',\n  inputs: {\n    b: {\n      type: 'text' } },\n}";
    let manifest = module(text).manifest.expect("a manifest");
    assert!(manifest.value.is_some());
    for (path, line) in [
        ("name", 2),
        ("inputs.b.type", 5),
        ("inputs.b.required", 4),
        ("version", 1),
        ("inputsx", 1),
    ] {
        assert_eq!(manifest.line_of(path), line, "{path}");
    }
    let computed = module("export const manifest = make({ name })").manifest.expect("one");
    assert_eq!(computed.value, None);
}

#[test]
fn what_nests_deep_is_read_or_refused() {
    for (open, close) in [("[", "]"), ("(", ")"), ("{ a: ", "}"), ("- ", "")] {
        let deep = |levels| {
            format!(
                "export const manifest = {}1{}\nconst a = {}1{}",
                open.repeat(levels),
                close.repeat(levels),
                open.repeat(levels),
                close.repeat(levels)
            )
        };
        assert!(read(&deep(9_000)).is_ok(), "{open}");
        assert!(read(&deep(30_000)).is_err(), "{open}");
    }
}

#[test]
fn what_is_no_module_is_told_with_its_line() {
    assert_eq!(read("\n\nconst = 1").expect_err("no module").line, 3);
}
