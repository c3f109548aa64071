//! What the bound counts, and that it is never too low.

use super::*;

fn levels(source: &str) -> usize {
    bound(source, usize::MAX).levels
}

#[test]
fn brackets_operators_and_keywords_nest_until_something_ends_them() {
    for (source, expected) in [
        ("", 0),
        ("a", 0),
        ("((a))", 2),
        ("a.b.c", 2),
        ("f(a.b, c.d, e.f)", 2),
        ("a=b;c=d;e=f", 1),
        ("- - typeof a", 3),
        ("`a${b}c${[d]}`", 3),
        ("{a}{b}{c}", 3),
    ] {
        assert_eq!(levels(source), expected, "{source}");
    }
}

#[test]
fn what_is_no_code_does_not_nest() {
    let hidden = "((((((((";
    for source in [
        format!("'{hidden}'"),
        format!("\"\\\"{hidden}\""),
        format!("'\\\r\n{hidden}'"),
        format!("// {hidden}"),
        format!("/* {hidden} */"),
        format!("#!{hidden}"),
        format!("`{hidden}`"),
        format!("/\\{hidden}/"),
        format!("/[/{hidden}]/"),
        format!("() => /{hidden}/"),
        format!("if (a) /{hidden}/"),
        format!("return /{hidden}/"),
        format!("!/{hidden}/"),
    ] {
        assert!(levels(&source) <= 5, "{source}: {}", levels(&source));
    }
}

#[test]
fn a_slash_that_could_be_either_hides_nothing() {
    let shown = "(".repeat(100);
    for source in [
        format!("a / '{shown}' / {shown}"),
        format!("}}/'/{shown}"),
        format!("a{{}} / '/' + {shown}"),
        format!("a++ / '/' + {shown}"),
        format!("a! / '/' + {shown}"),
        format!("x as A<B> / '/' + {shown}"),
        format!("type A = B\n/'/.test({shown}"),
        format!("1..typeof / '/' + {shown}"),
        format!("a.typeof / '/' + {shown}"),
        format!("[...typeof /'/, {shown}"),
        format!("of / '/' + {shown}"),
        format!("<!-- '\n{shown}"),
        format!("// a\u{2028}{shown}"),
        format!("({shown}}}'{shown}"),
    ] {
        assert!(levels(&source) >= 100, "{source}: {}", levels(&source));
    }
}

#[test]
fn what_a_statement_leaves_open_stays_counted() {
    let many = 50;
    for open in [
        "if (a) if (b) x; else ",
        "while (a) if (b) x; else ",
        "while (a) while (b) x, (",
        "a: b: c: x, (",
        "do do x; while (",
        "A<B, ",
        "(a, (b, ",
        "f(a, {b: 1, c: [",
    ] {
        assert!(levels(&open.repeat(many)) >= many, "{open}: {}", levels(&open.repeat(many)));
    }
}

#[test]
fn the_scan_stops_above_the_limit() {
    let found = bound(&"(".repeat(1_000), 10);
    assert_eq!((found.levels, found.at), (11, 10));
}
