//! The text of plugins: types are blanked out, and what a module tells is read without running it.

use std::panic;
use std::sync::Once;

use warpline_core::json::{JsString, Value, parse};
use warpline_core::schema::manifest::Manifest;
use warpline_core::schema::manifest_source as names;
use warpline_core::source::{self, Module, python as python_source};
use warpline_core::typescript::{self as eraser, LiteralManifest, source_text};

/// Where the source of the parser lies, as its panics name it.
const PARSER: &str = "/oxc_";

/// Lets panics of the parser pass: its assertions, which a release does not have, fail on some texts
/// that are no module, and whoever calls it here turns that into a refusal. All others stay crashes.
fn pass_parser_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let crash = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !info.location().is_some_and(|place| place.file().contains(PARSER)) {
                crash(info);
            }
        }));
    });
}

pub fn erase(data: &[u8]) {
    pass_parser_panics();
    let source = source_text(data);
    match eraser::erase(&source) {
        Ok(erased) => {
            assert_same_places(&source, &erased);
            assert_eq!(erased, eraser::erase(&source).expect("the same again"));
        }
        Err(fault) => {
            assert!(fault.line >= 1 && fault.column >= 1);
            assert!(fault.line <= lines(&source), "a fault is in the text");
            assert!(!fault.message.is_empty());
        }
    }
    let examined = eraser::examine(&source);
    if let Some(fault) = examined.fault {
        assert!((1..=lines(&source)).contains(&fault.line), "a fault is in the text");
    }
}

/// Every unit of the text stands where it stood, or made room: for white space, or for what keeps
/// apart what a type kept apart.
fn assert_same_places(source: &str, erased: &str) {
    let (mut before, mut after) = (source.encode_utf16(), erased.encode_utf16());
    loop {
        match (before.next(), after.next()) {
            (None, None) => return,
            (Some(was), Some(is)) => {
                let put = |unit: u16| b" ;()".iter().any(|byte| u16::from(*byte) == unit);
                assert!(was == is || put(is), "{was:x} became {is:x}");
                let breaks = [0x0a, 0x0d, 0x2028, 0x2029];
                assert!(was == is || !breaks.contains(&was), "a line break is gone");
            }
            _ => panic!("the text has another length"),
        }
    }
}

fn lines(source: &str) -> usize {
    source.split(['\n', '\r', '\u{2028}', '\u{2029}']).count()
}

pub fn literal_manifest(data: &[u8]) {
    pass_parser_panics();
    let source = source_text(data);
    let Some(found) = eraser::literal_manifest(&source) else { return };
    assert!(eraser::erase(&source).is_ok(), "a literal manifest can be erased");
    let (LiteralManifest::Bare(value) | LiteralManifest::Parsed(value)) = &found;
    assert_json(value);
    let _ = Manifest::parse(value);
}

/// A value of a source is one that JSON holds.
fn assert_json(value: &Value) {
    let text = value.to_compact();
    assert_eq!(parse(&text).expect("JSON is written").to_compact(), text);
}

pub fn typescript(data: &[u8]) {
    pass_parser_panics();
    let source = source_text(data);
    match source::typescript(&source) {
        Ok(module) => assert_module(&module, lines(&source)),
        Err(fault) => assert!((1..=lines(&source)).contains(&fault.line)),
    }
}

pub fn python(data: &[u8]) {
    let Ok(text) = python_source::source_text(data) else { return };
    assert!(!text.contains(['\r', '\0']));
    let last = text.split('\n').count();
    let read = python_source::read(&text);
    match &read {
        Ok(module) => assert_module(module, last),
        Err(fault) => assert!((1..=last).contains(&fault.line), "line {} of {last}", fault.line),
    }
    let Some(literal) = python_source::literal_manifest(data) else { return };
    let (LiteralManifest::Bare(value) | LiteralManifest::Parsed(value)) = &literal;
    assert_json(value);
    let _ = Manifest::parse(value);
    let text = read.ok().and_then(|module| module.manifest);
    assert_eq!(text.and_then(|text| text.value).as_ref(), Some(value), "one text, two readings");
}

/// What a module tells is inside of it.
fn assert_module(module: &Module, last: usize) {
    let manifest = module.manifest.iter();
    let lines = module.imports.iter().map(|import| import.line);
    let lines = lines.chain(module.sightings.iter().map(|sighting| sighting.line));
    let lines = lines.chain(module.statements.iter().map(|statement| statement.line));
    let lines = lines.chain(module.handler.iter().map(|handler| handler.line));
    let keys = manifest.clone().flat_map(|manifest| manifest.keys.iter().map(|(_, line)| *line));
    let mut lines = lines.chain(manifest.map(|manifest| manifest.line)).chain(keys);
    assert!(lines.all(|line| (1..=last).contains(&line)), "a place is in the text");
    if let Some(value) = module.manifest.as_ref().and_then(|manifest| manifest.value.as_ref()) {
        assert_json(value);
        let _ = Manifest::parse(value);
    }
}

pub fn manifest_source(data: &[u8]) {
    let source = String::from_utf8_lossy(data);
    for name in names::secrets(&source) {
        let name = JsString::to_text(&name);
        let quoted =
            ['"', '\'', '`'].iter().any(|quote| source.contains(&format!("{quote}{name}{quote}")));
        assert!(quoted, "a name stands in quotes");
    }
}
