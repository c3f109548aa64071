use crate::source::LiteralManifest;

use super::*;

fn module(text: &str) -> Module {
    read(text).expect("a module")
}

#[test]
fn a_file_is_text_as_python_takes_it_for_text() {
    let text = |bytes: &[u8]| source_text(bytes).map_err(|refused| (refused.line, refused.message));
    assert_eq!(text("\u{feff}a\r\nb\rc\n".as_bytes()).as_deref(), Ok("a\nb\nc\n"));
    assert_eq!(text(b"a\n\xff"), Err((2, "the file is not UTF-8 text".to_owned())));
    assert_eq!(text(b"a\n\n'\0'"), Err((3, "the file holds a NUL".to_owned())));
    assert!(text(b"#!/usr/bin/python\n# -*- coding: latin-1 -*-\n'\xff'").is_ok());
    assert!(text(b"a\nb\n# coding: latin-1\n'\xff'").is_err(), "too late");
}

#[test]
fn imports_are_told_whatever_form_they_have() {
    let text = "import os, urllib.request as r\nfrom http import client, server as s\n\
                from .notes import (\n    a,\n    b,\n)\nif TYPE_CHECKING:\n    import requests\nimport socket\n\
                def f():\n    import httpx\n    from .. import c\n";
    let told: Vec<_> = module(text)
        .imports
        .into_iter()
        .map(|import| (import.module, import.line, import.types))
        .collect();
    let expected = [
        ("os", 1, false),
        ("urllib.request", 1, false),
        ("http.client", 2, false),
        ("http.server", 2, false),
        (".notes.a", 3, false),
        (".notes.b", 3, false),
        ("requests", 8, true),
        ("socket", 9, false),
        ("httpx", 11, false),
        ("..c", 12, false),
    ];
    assert_eq!(told, expected.map(|(module, line, types)| (module.to_owned(), line, types)));
}

#[test]
fn what_code_does_is_seen() {
    let text = "a = os.environ['A'] + environ.get(\"B\")\nb = os.getenv('C', 'x')\nos.environ[d]\n\
                deps.last_output(caller, 'up')\nif x: deps.last_run(f(a, 'no'), 'down',)\n\
                skill_handoff('t', 'p')\nr = {'summary': '[needs-llm] x', 'needs_llm': {}}\n\
                if s.startswith('[needs-llm]'): pass\ndef skill_handoff(a): pass\n# os.environ['N']\n";
    let told: Vec<_> =
        module(text).sightings.into_iter().map(|sighting| (sighting.what, sighting.line)).collect();
    let variable = |name: &str, line| (Sight::Variable(name.to_owned()), line);
    let dependency = |name: &str, line| (Sight::Dependency(name.to_owned()), line);
    assert_eq!(
        told,
        [
            variable("A", 1),
            variable("B", 1),
            variable("C", 2),
            dependency("up", 4),
            dependency("down", 5),
            (Sight::Handoff, 6),
            (Sight::Handoff, 7),
            (Sight::Handoff, 7),
        ]
    );
}

#[test]
fn a_dependency_may_be_named_by_a_constant() {
    let text = "UP = 'up'\nOLD = 'x'\ndef f(c, own):\n    last_run(c, UP)\n    last_run(c, own)\n\
                \x20   last_run(c, a.UP)\n    OLD = 'y'\n    last_run(c, OLD)\n    last_run(UP,)\n";
    let told: Vec<_> =
        module(text).sightings.into_iter().map(|sighting| (sighting.what, sighting.line)).collect();
    let up = |line| (Sight::Dependency("up".to_owned()), line);
    assert_eq!(told, [up(4), up(9)]);
}

#[test]
fn a_handler_is_found_with_its_parameters() {
    let function = |required, most| Shape::Function { required, most, generator: false };
    for (text, shape) in [
        ("def handler(manifest, args, signal, capabilities):\n    pass", function(4, Some(4))),
        (
            "async def handler(\n    manifest: Manifest, args: dict[str, Any], *, x=1\n) -> R:\n    pass",
            function(2, Some(2)),
        ),
        ("def handler(a, b=(1, 2), /, *rest): pass", function(1, None)),
        ("def handler(*_): pass", function(0, None)),
        ("def handler(): pass", function(0, Some(0))),
        ("handler = wrap(run)", Shape::Unknown),
        ("handler = 5", Shape::Other),
        ("from other import run as handler", Shape::Unknown),
    ] {
        assert_eq!(module(text).handler.map(|handler| handler.shape), Some(shape), "{text}");
    }
    assert_eq!(module("class A:\n    def handler(self): pass").handler, None);
}

#[test]
fn a_manifest_that_is_written_out_is_read() {
    let text = "\"\"\"What it is.\"\"\"\nfrom warpline import PluginManifest\n\n\
                manifest: M = PluginManifest.parse(\n    {\n        'name': 'a' \"b\",  # note\n\
                \x20       'inputs': {'x': {'type': \"number\", 'default': -1_000.5}},\n\
                \x20       'side_effects': [], 'actions': None, 'flag': True,\n    },\n)\n";
    let module = module(text);
    assert_eq!(module.statements, []);
    let manifest = module.manifest.expect("a manifest");
    let value = manifest.value.as_ref().expect("a literal").to_compact();
    let expected = r#"{"name":"ab","inputs":{"x":{"type":"number","default":-1000.5}},"side_effects":[],"actions":null,"flag":true}"#;
    assert_eq!(value, expected);
    assert_eq!((manifest.line_of("inputs.x.type"), manifest.line_of("version")), (7, 4));
    for text in [
        "manifest = make()",
        "manifest = {**base}",
        "manifest = {'a': f'{b}'}",
        "manifest = {'a': 1 + 1}",
    ] {
        let manifest = super::read(text).expect("a module").manifest.expect(text);
        assert_eq!(manifest.value, None, "{text}");
    }
    assert!(
        super::read("manifest = {'a': 1}").expect("one").manifest.expect("one").value.is_some()
    );
}

#[test]
fn keys_have_the_order_that_they_have_in_json_however_many_there_are() {
    let read = |text: &str| module(text).manifest.expect("one").value.expect("a literal");
    let value = read("manifest = {'b': 1, '10': 2, '9': 3, 'b': {'2': 1, '1': 2}}");
    assert_eq!(value.to_compact(), r#"{"9":3,"10":2,"b":{"1":2,"2":1}}"#);
    let members: String = (0..50_000).rev().map(|number| format!("'{number}':0,")).collect();
    let value = read(&format!("manifest = {{{members}}}"));
    let keys: Vec<_> = value.as_object().expect("an object").keys().take(2).collect();
    assert_eq!(keys, ["0", "1"]);
}

#[test]
fn what_nests_deep_is_left_to_running_it() {
    for (open, close) in [("[", "]"), ("(", ")"), ("{'a': ", "}")] {
        let text = format!("manifest = {}1{}", open.repeat(90_000), close.repeat(90_000));
        assert_eq!(module(&text).manifest.expect("one").value, None, "{open}");
    }
}

#[test]
fn statements_beside_a_manifest_are_told_apart() {
    let text = "import os\nHOURS = 6\nnow = time()\nprint(1)\ndef f():\n    print(2)\n@x\nif a == b:\n    pass\n";
    let told: Vec<_> =
        module(text).statements.into_iter().map(|one| (one.line, one.acts)).collect();
    assert_eq!(told, [(2, false), (3, true), (4, true), (5, false), (7, false), (8, true)]);
}

fn literal(text: &str) -> Option<(&'static str, String)> {
    Some(match literal_manifest(text.as_bytes())? {
        LiteralManifest::Bare(value) => ("bare", value.to_compact()),
        LiteralManifest::Parsed(value) => ("parsed", value.to_compact()),
    })
}

#[test]
fn a_manifest_that_is_one_literal_is_read() {
    for (text, kind, value) in [
        ("manifest = {}", "bare", "{}"),
        ("\u{feff}# a note\n\n'what it is'\nmanifest={'a': 1,}\n\n", "bare", r#"{"a":1}"#),
        ("\"\"\"a\nb\"\"\"; manifest = {'a': 1};", "bare", r#"{"a":1}"#),
        (
            "from __future__ import annotations\r\nfrom warpline import Manifest\r\n\
             manifest: Manifest = {'a': 'b' \"c\"}\r\n",
            "bare",
            r#"{"a":"bc"}"#,
        ),
        (
            "from warpline import (\n    Manifest,\n    PluginManifest,\n)\n\
             manifest: Manifest = PluginManifest.parse(\n    {'a': [True, False, None]},\n)",
            "parsed",
            r#"{"a":[true,false,null]}"#,
        ),
        ("manifest = ({'a': (1)})", "bare", r#"{"a":1}"#),
        ("manifest = \\\n{'a': -0, 'b': -0.0, 'a': -2}", "bare", r#"{"a":-2,"b":0}"#),
        (
            "manifest = {'a': [0, 1_000, 2.50, 1., 0.5e-3, 1E+2, 123_456_789_012_345]}",
            "bare",
            r#"{"a":[0,1000,2.5,1,0.0005,100,123456789012345]}"#,
        ),
        (
            r"manifest = {'a': '\x41\u00e9\U0001f600\n', u'b': R'\x'}",
            "bare",
            "{\"a\":\"Aé😀\\n\",\"b\":\"\\\\x\"}",
        ),
    ] {
        assert_eq!(literal(text), Some((kind, value.to_owned())), "{text}");
    }
    let zero = literal_manifest(b"manifest = {'a': -0}");
    let Some(LiteralManifest::Bare(zero)) = zero else { panic!("{zero:?}") };
    let zero = zero.get("a").and_then(crate::json::Value::as_number).expect("a number");
    assert!(zero.is_sign_positive(), "an integer has no negative zero");
}

#[test]
fn what_only_running_it_can_tell_is_no_literal() {
    for text in [
        "",
        "handler = {}",
        "manifest = []",
        "manifest = 'a'",
        "manifest = {}\nmanifest = {}",
        "manifest = {}\nmanifest['a'] = 1",
        "manifest += {}",
        "manifest == {}",
        "manifest = other = {}",
        "manifest, other = {}",
        "import os\nmanifest = {}",
        "from os import path\nmanifest = {}",
        "from warpline import advance\nmanifest = {}",
        "from warpline import *\nmanifest = {}",
        "from warpline import PluginManifest as manifest\nmanifest = {}",
        "from warpline import PluginManifest,\nmanifest = {}",
        "from warpline import ()\nmanifest = {}",
        "from warpline.schemas import PluginManifest\nmanifest = {}",
        "from .warpline import PluginManifest\nmanifest = {}",
        "manifest = {}\nfrom warpline import PluginManifest",
        "'a'\n'b'\nfrom __future__ import annotations\nmanifest = {}",
        "from warpline import Manifest\nfrom __future__ import annotations\nmanifest = {}",
        "f'{a}'\nmanifest = {}",
        "manifest: Manifest = {}",
        "manifest: dict[str, int] = {}",
        "manifest = PluginManifest.parse({})",
        "from warpline import Manifest\nmanifest = PluginManifest.parse({})",
        "from warpline import Manifest\nmanifest = Manifest.parse({})",
        "from warpline import PluginManifest\nmanifest = PluginManifest.parse({}, {})",
        "from warpline import PluginManifest\nmanifest = PluginManifest.parse(**{})",
        "from warpline import PluginManifest\nmanifest = PluginManifest.parse()",
        "from warpline import PluginManifest\nmanifest = PluginManifest.json_schema()",
        "from warpline import PluginManifest\nmanifest = PluginManifest.parse({})['a']",
        " manifest = {}",
        "\u{c}manifest = {}",
        "if True:\n    manifest = {}",
        "manifest = {};;",
        ";manifest = {}",
        "manifest = {} {}",
        "manifest = {\\ }",
        "manifest = {}\\",
        "manifest = {} \\\n",
        "manifest = {}\r\\\r\n \u{c}",
        "\\\nmanifest = {}",
        "\\\n  manifest = {}",
        "'a';\\\n  manifest = {}",
        "manifest = {,}",
        "manifest = {'a': 1,,}",
        "manifest = {'a': 1 'b': 2}",
        "manifest = {'a'}",
        "manifest = {'a': (1,)}",
        "manifest = {'a': [1 2]}",
        "manifest = {a: 1}",
        "manifest = {1: 1}",
        "manifest = {**{}}",
        "manifest = {'a': b}",
        "manifest = {'a': b'c'}",
        "manifest = {'a': f'c'}",
        "manifest = {'a': 'b' f'c'}",
        "manifest = {'a': 'b' 'c'.upper()}",
        "manifest = {'a': 1 + 1}",
        "manifest = {'a': +1}",
        "manifest = {'a': --1}",
        "manifest = {'a': not 1}",
        "manifest = {'a': true}",
        "manifest = {'a': 007}",
        "manifest = {'a': 0x1F}",
        "manifest = {'a': 1j}",
        "manifest = {'a': 1__0}",
        "manifest = {'a': 1_}",
        "manifest = {'a': 1_.5}",
        "manifest = {'a': 1.5.5}",
        "manifest = {'a': 1e}",
        "manifest = {'a': 1e400}",
        "manifest = {'a': 1_234_567_890_123_456}",
        "manifest = {'a': .5}",
        r"manifest = {'a': '\N{DASH}'}",
        r"manifest = {'a': '\q'}",
        r"manifest = {'a': '\0'}",
        r"manifest = {'a': '\x4'}",
        r"manifest = {'a': '\x+4'}",
        r"manifest = {'a': '\ud800'}",
        "manifest = {'a': 'b}",
        "# -*- coding: utf-7 -*-\nmanifest = {}",
        "manifest = {\u{a0}}",
        "manifest = {'\0': 1}",
    ] {
        assert_eq!(literal(text), None, "{text}");
    }
    assert_eq!(literal_manifest(b"manifest = {'a': '\xff'}"), None);
    let nested = |depth| format!("manifest = {{'a': {}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(literal(&nested(90)).is_some());
    assert_eq!(literal(&nested(110)), None);
    assert_eq!(literal(&nested(1_000_000)), None);
}

#[test]
fn long_keys_around_many_others_cost_no_more_than_their_text() {
    let many: String = (0..20_000).map(|index| format!("'{index}': 0,")).collect();
    let text = format!("manifest = {{'{}': {{{many}}}}}", "a".repeat(1024 * 1024));
    assert!(literal(&text).is_some());
}
