//! Takes the value of a manifest that is one literal out of a Python module; no code runs for it.
//!
//! Only what Python certainly evaluates to one known value counts as a literal. Everything that could
//! run code, fail to import or be refused by some Python is left to the host.

use crate::source::LiteralManifest;

use super::literal;
use super::tokens::{Kind, Token, tokens};
use super::{is_line, is_mark, name, source_text, statements, without_last_comma};

/// The package that the schema comes from, and the name it has there.
const PACKAGE: &str = "warpline";
const SCHEMA: &str = "PluginManifest";

/// What may be imported of the package: the schema, and the types of manifests.
const NAMES: [&str; 5] = [SCHEMA, "Manifest", "ManifestAction", "ManifestInput", "ManifestOutput"];

/// Reads `manifest` from a module, as its file holds it, that holds one literal.
///
/// The module may hold `manifest = {...}`, bare or as the only argument of `PluginManifest.parse(...)`,
/// and in front of it a text that describes it and imports of `PluginManifest`, `Manifest` and the types
/// of its members from `warpline`. `None` for every other text: whether it is a manifest only running it
/// can tell.
///
/// ```
/// use warpline_core::source::{LiteralManifest, python::literal_manifest};
///
/// let Some(LiteralManifest::Bare(manifest)) = literal_manifest(b"manifest = {'ttl_hours': 6}") else {
///     panic!("it is one literal");
/// };
/// assert_eq!(manifest.to_compact(), r#"{"ttl_hours":6}"#);
/// assert_eq!(literal_manifest(b"manifest = {'ttl_hours': hours()}"), None);
/// ```
pub fn literal_manifest(source: &[u8]) -> Option<LiteralManifest> {
    let text = source_text(source).ok()?;
    // The first two lines may say that the text means something else.
    if text.lines().take(2).any(|line| line.contains("coding")) {
        return None;
    }
    let tokens = tokens(&text).ok()?;
    if joins_at_an_edge(&text, &tokens) {
        return None;
    }
    let mut all: Vec<(usize, &[Token])> = statements(&tokens).collect();
    // Behind the end of the last line there is none. Elsewhere there is one.
    all.pop_if(|(_, last)| last.is_empty());
    if all.iter().any(|(blanks, statement)| *blanks > 0 || statement.is_empty()) {
        return None;
    }
    let mut rest: &[(usize, &[Token])] = &all;
    if let [(_, [Token { kind: Kind::Text(Some(_)), .. }]), others @ ..] = rest {
        rest = others;
    }
    if let [(_, first), others @ ..] = rest
        && is_future(first)
    {
        rest = others;
    }
    let ((_, last), imports) = rest.split_last()?;
    let mut imported: Vec<&str> = Vec::new();
    for (_, import) in imports {
        imported.extend(imported_names(import)?);
    }
    assigned(last, &imported)
}

/// Whether a line is joined to what is no part of its statement. Python takes a statement behind such a
/// line for an indented one, and refuses a text that ends in one.
fn joins_at_an_edge(text: &str, tokens: &[Token]) -> bool {
    let begins = tokens.windows(2).any(|pair| match pair {
        [Token { kind: Kind::Line(_), line }, first] => first.line != *line && !is_line(first),
        _ => false,
    });
    begins || text.trim_end_matches([' ', '\t', '\u{c}', '\n']).ends_with('\\')
}

/// `from __future__ import annotations`.
fn is_future(statement: &[Token]) -> bool {
    let words = ["from", "__future__", "import", "annotations"].map(Some);
    statement.iter().map(|token| name(Some(token))).eq(words)
}

/// `from warpline import A, B`, in parentheses or not.
fn imported_names(statement: &[Token]) -> Option<Vec<&str>> {
    let (head, names) = statement.split_at_checked(3)?;
    let words = ["from", PACKAGE, "import"].map(Some);
    if !head.iter().map(|token| name(Some(token))).eq(words) {
        return None;
    }
    let names = match names {
        [Token { kind: Kind::Mark('('), .. }, inside @ .., Token { kind: Kind::Mark(')'), .. }] => {
            without_last_comma(inside)
        }
        names => names,
    };
    let each = names.split(|token| token.kind == Kind::Mark(','));
    each.map(|one| match one {
        [one] => name(Some(one)).filter(|name| NAMES.contains(name)),
        _ => None,
    })
    .collect()
}

/// What `manifest = ...` or `manifest: Type = ...` gives to it.
fn assigned(statement: &[Token], imported: &[&str]) -> Option<LiteralManifest> {
    let known = |token: &Token| name(Some(token)).is_some_and(|name| imported.contains(&name));
    let (target, value) = match statement {
        [target, Token { kind: Kind::Mark('='), .. }, value @ ..] => (target, value),
        [
            target,
            Token { kind: Kind::Mark(':'), .. },
            kind,
            Token { kind: Kind::Mark('='), .. },
            value @ ..,
        ] if known(kind) => (target, value),
        _ => return None,
    };
    if name(Some(target)) != Some("manifest") {
        return None;
    }
    match value {
        [schema, dot, parse, open, argument @ .., close]
            if name(Some(schema)) == Some(SCHEMA)
                && known(schema)
                && is_mark(Some(dot), '.')
                && name(Some(parse)) == Some("parse")
                && is_mark(Some(open), '(')
                && is_mark(Some(close), ')') =>
        {
            dictionary(without_last_comma(argument)).map(LiteralManifest::Parsed)
        }
        value => dictionary(value).map(LiteralManifest::Bare),
    }
}

fn dictionary(tokens: &[Token]) -> Option<crate::json::Value> {
    literal::value(tokens).filter(|value| value.as_object().is_some())
}
