//! What erasing promises, over the shared cases and over text that means harm.

use warpline_core::json::{Value, parse};
use warpline_core::typescript::{
    FaultCode, LiteralManifest, MAX_SOURCE_BYTES, erase, literal_manifest, source_text,
};

fn cases_of(text: &str) -> Vec<(String, String, String)> {
    let document = parse(text).expect("the cases are JSON");
    let cases = document.get("cases").and_then(Value::as_array).expect("a list of cases");
    let field = |case: &Value, key| {
        case.get(key).and_then(Value::as_string).expect("every case has its fields").to_text()
    };
    cases.iter().map(|it| (field(it, "name"), field(it, "expect"), field(it, "source"))).collect()
}

fn cases() -> Vec<(String, String, String)> {
    cases_of(include_str!("../../tests/typescript/cases.json"))
}

/// What ends a line in JavaScript.
fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn line_breaks(text: &str) -> Vec<(usize, char)> {
    let mut at = 0;
    let mut breaks = Vec::new();
    for c in text.chars() {
        if is_line_break(c) {
            breaks.push((at, c));
        }
        at += c.len_utf16();
    }
    breaks
}

fn assert_places_kept(source: &str, erased: &str) {
    assert_eq!(source.encode_utf16().count(), erased.encode_utf16().count(), "{source}");
    assert_eq!(line_breaks(source), line_breaks(erased), "{source}");
}

#[test]
fn each_case_is_erased_in_place_or_refused_with_its_code() {
    let cases = cases();
    assert!(cases.len() >= 110);
    for (name, expect, source) in cases {
        let source = source_text(source.as_bytes());
        match (expect.as_str(), erase(&source)) {
            ("runs" | "engine", Ok(erased)) => assert_places_kept(&source, &erased),
            ("unsupported", Err(fault)) => assert_eq!(fault.code, FaultCode::Unsupported, "{name}"),
            ("invalid", Err(fault)) => assert_eq!(fault.code, FaultCode::Invalid, "{name}"),
            (_, result) => panic!("{name}: {result:?}"),
        }
    }
}

#[test]
fn erasing_writes_what_a_type_kept_apart() {
    for (source, erased) in [
        ("const a: number = 1", "const a         = 1"),
        ("let a = b as any\n(c)", "let a = b ;     \n(c)"),
        ("a\ntype T = 1\n(b)", "a\n;         \n(b)"),
        ("class A { get: T\nf() {} }", "class A { get;  \nf() {} }"),
        ("class A { x\nreadonly ['y'] = 1 }", "class A { x\n;        ['y'] = 1 }"),
        ("async <\nT>(x) => x", "async (\n   x) => x"),
        ("(x):\n漢 => x", "(x  \n) => x"),
        ("(x): /*\n*/ T => x", "(x     \n   ) => x"),
        ("import { type A, b } from 'x'", "import {         b } from 'x'"),
        ("#!shell\nlet a: 1", "#!shell\nlet a   "),
    ] {
        assert_eq!(erase(source).as_deref(), Ok(erased), "{source}");
    }
}

#[test]
fn a_fault_says_where_and_shows_the_line() {
    let fault = erase("let a\n\tenum E { A }\nenum F {}").expect_err("an enum");
    assert_eq!((fault.code, fault.line, fault.column), (FaultCode::Unsupported, 2, 2));
    assert_eq!(fault.snippet, "\tenum E { A }");
    assert_eq!(fault.caret, "\t^^^^^^^^^^^^");
    assert_eq!(fault.code.as_str(), "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX");
    let fault = erase("let a\n  const b: = 1").expect_err("a type is missing");
    assert_eq!((fault.code, fault.line, fault.column), (FaultCode::Invalid, 2, 12));
    assert_eq!(fault.code.as_str(), "ERR_INVALID_TYPESCRIPT_SYNTAX");
    assert_eq!(fault.message, "unexpected token");
}

#[test]
fn a_file_is_read_as_node_reads_it() {
    assert_eq!(source_text("\u{feff}a\u{feff}".as_bytes()), "a\u{feff}");
    assert_eq!(source_text(b"'\xff'"), "'\u{fffd}'");
}

#[test]
fn a_source_over_the_size_is_refused() {
    let mut source = " ".repeat(MAX_SOURCE_BYTES);
    assert!(erase(&source).is_ok());
    source.push(' ');
    let fault = erase(&source).expect_err("too large");
    assert_eq!(fault.code, FaultCode::Invalid);
    assert!(fault.message.contains("larger than 16777216 bytes"), "{}", fault.message);
    assert_eq!(literal_manifest(&source), None);
}

/// Shapes that nest: what opens them, what is inside, what closes them.
const SHAPES: [(&str, &str, &str); 66] = [
    ("(", "a", ")"),
    ("[", "", "]"),
    ("x={a:", "1", "}"),
    ("{", "", "}"),
    ("- ", "1", ""),
    ("!", "1", ""),
    ("typeof ", "1", ""),
    ("await ", "1", ""),
    ("new ", "X", ""),
    ("new (", "X", ")"),
    ("", "a", ".b"),
    ("", "a", "[0]"),
    ("", "a", "()"),
    ("", "a", "!"),
    ("", "a", "``"),
    ("", "a", "?.b"),
    ("", "1", "+1"),
    ("", "1", "**1"),
    ("", "a", "=a"),
    ("a?b:", "c", ""),
    ("a?", "b", ":c"),
    ("a=>", "1", ""),
    ("async a=>", "1", ""),
    ("(a)=>", "1", ""),
    ("", "a", " as T"),
    ("", "a", " satisfies T"),
    ("(function(){", "", "})"),
    ("(()=>{", "", "})"),
    ("class A extends ", "B {}", "{}"),
    ("(class{x=", "1", "})"),
    ("(class{x(){", "", "}})"),
    ("(class{static{", "", "}})"),
    ("if(a)", ";", ""),
    ("if(a);else ", ";", ""),
    ("while(a)if(b);else ", ";", ""),
    ("do ", ";", "while(0);"),
    ("for(;;)", ";", ""),
    ("a:", ";", ""),
    ("a:b:while(c)d,(()=>{", "", "})"),
    ("`${", "1", "}`"),
    ("[...", "a", "]"),
    ("f({a:1,b:", "1", "})"),
    ("f(a,", "b", ")"),
    ("a(b,c", "", ")"),
    ("import(", "a", ")"),
    ("switch(a){case 1:", "", "}"),
    ("try{", "", "}finally{}"),
    ("({get a(){return", "", "}})"),
    ("function f([", "a", "]){}"),
    ("let [", "a", "]=1"),
    ("let x:(", "A", ")"),
    ("let x:", "A", "[]"),
    ("let x:A<", "A", ">"),
    ("let x:A<()=>B<C,", "D", ">>"),
    ("let x:()=>", "A", ""),
    ("let x:A extends B?C:", "D", ""),
    ("let x:keyof ", "A", ""),
    ("let x:{a:", "A", "}"),
    ("let x:[", "A", "]"),
    ("let x:", "A", "|B"),
    ("let x:", "A", "[\"b\"]"),
    ("let x:`${", "A", "}`"),
    ("declare namespace a{", "", "}"),
    ("declare namespace ", "a{}", ".b"),
    ("<T>(", "a", ")"),
    ("@(a", "b", ")"),
];

/// A shape nested; a prefix like `let x:` that `open` starts with stands in front once.
fn nested((open, inside, close): (&str, &str, &str), depth: usize) -> String {
    let heads = ["let x:", "let ", "x=", "declare namespace ", "function f("];
    let head = heads.into_iter().find(|head| open.starts_with(head)).unwrap_or("");
    let open = &open[head.len()..];
    let (foot, close) = if head == "function f(" { ("){}", "]") } else { ("", close) };
    let (foot, close) = if close == "]=1" { ("=1", "]") } else { (foot, close) };
    format!("{head}{}{inside}{}{foot}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn no_nesting_exhausts_the_stack() {
    for shape in SHAPES {
        for depth in [1, 20, 400] {
            let source = nested(shape, depth);
            if let Ok(erased) = erase(&source) {
                assert_places_kept(&source, &erased);
            }
            let source = format!("export const manifest = {source}");
            assert!(depth == 1 || literal_manifest(&source).is_none(), "{shape:?} is no object");
        }
        let source = nested(shape, 100_000);
        let fault = erase(&source).expect_err("deeper than the limit");
        assert_eq!(fault.code, FaultCode::Invalid);
        assert!(fault.message.contains("nests deeper than 20000 levels"), "{}", fault.message);
        assert_eq!(literal_manifest(&source), None);
    }
}

#[test]
fn deep_but_permitted_nesting_is_erased() {
    for shape in [("(", "a as T", ")"), ("[", "", "]"), ("let x:[", "A", "]"), ("(()=>{", "", "})")]
    {
        let source = nested(shape, 3_900);
        let erased = erase(&source).expect("within the limit");
        assert_places_kept(&source, &erased);
    }
}

/// Numbers that look random and are the same on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }
}

fn assert_answers(source: &str) {
    let erased = erase(source);
    if let Ok(erased) = &erased {
        assert_places_kept(source, erased);
    }
    if literal_manifest(source).is_some() {
        assert!(erased.is_ok(), "a literal is a module: {source}");
    }
}

#[test]
fn truncated_and_mutated_text_is_answered() {
    let mut sources: Vec<String> = cases().into_iter().map(|(_, _, source)| source).collect();
    sources.push(
        "import { PluginManifestSchema as S, type A } from 'warpline/schemas/plugin-manifest'\n\
         export const manifest: A = S.parse({ a: [1, -2, `😀`], 'b': { c: '\\ud800' } } as const)"
            .into(),
    );
    let pieces = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "`",
        "${",
        "'",
        "\"",
        "/",
        "*",
        "/*",
        "//",
        "\\",
        "\n",
        "😀",
        "é",
        "\u{2028}",
        "#",
        "@",
        "?",
        "!",
        ":",
        ";",
        ",",
        ".",
        "=>",
        "=",
        "as ",
        "type ",
        "declare ",
        "abstract ",
        "async ",
        "<T>",
        "import ",
        "export ",
        "class ",
        "enum ",
        "\\u",
        "0",
    ];
    let mut dice = Dice(7);
    for source in &sources {
        let ends: Vec<usize> = source.char_indices().map(|(at, _)| at).collect();
        for end in ends.iter().step_by(3) {
            assert_answers(&source[..*end]);
        }
        for _ in 0..30 {
            let mut text: Vec<char> = source.chars().collect();
            for _ in 0..=dice.roll(3) {
                let at = dice.roll(text.len() + 1);
                let piece = pieces[dice.roll(pieces.len())];
                let removed = dice.roll(4).min(text.len() - at);
                text.splice(at..at + removed, piece.chars());
            }
            assert_answers(&text.into_iter().collect::<String>());
        }
    }
}

#[test]
fn a_manifest_is_read_when_and_only_when_it_is_one_literal() {
    let cases = cases_of(include_str!("../../tests/typescript/manifests.json"));
    assert!(cases.len() >= 86);
    for (name, expect, source) in cases {
        let found = match literal_manifest(&source) {
            Some(LiteralManifest::Bare(_)) => "bare",
            Some(LiteralManifest::Parsed(_)) => "parsed",
            None => "unread",
        };
        assert_eq!(found, expect, "{name}");
    }
}

#[test]
fn a_literal_keeps_order_numbers_and_unpaired_surrogates() {
    let source = "import { PluginManifestSchema as S } from 'warpline/schemas/plugin-manifest'
        export const manifest = S.parse({ b: -0x10, a: 1_000.5, b: 2, 7: `x\ny`, '\\ud800': '\u{fffd}\\udc00',
          deep: [{ k: null }, [true]] } as const) satisfies unknown";
    let Some(LiteralManifest::Parsed(value)) = literal_manifest(source) else {
        panic!("a literal inside parse");
    };
    let expected =
        r#"{"7":"x\ny","b":2,"a":1000.5,"\ud800":"FFFD\udc00","deep":[{"k":null},[true]]}"#;
    assert_eq!(value.to_compact(), expected.replace("FFFD", "\u{fffd}"));
    let Some(LiteralManifest::Bare(value)) = literal_manifest("export const manifest = { a: -0 }")
    else {
        panic!("a bare literal");
    };
    let number = value.get("a").and_then(Value::as_number).expect("a number");
    assert!(number == 0.0 && number.is_sign_negative());
}

#[test]
fn a_literal_is_read_down_to_a_stated_depth() {
    let nested = |depth: usize| {
        let source =
            format!("export const manifest = {{ a: {}{} }}", "[".repeat(depth), "]".repeat(depth));
        literal_manifest(&source)
    };
    assert!(nested(100).is_some());
    assert!(nested(101).is_none());
}
