//! Takes the value of a manifest that is one literal out of the parsed text; no code runs for it.
//!
//! Only what JavaScript evaluates to exactly one known value counts as a literal. Everything that
//! could run code, fail to link or be refused by a JavaScript engine is left to the host.

use oxc_ast::ast::*;

use crate::json::{JsString, Map, Value, number_text};
use crate::source::LiteralManifest;

use super::guard;

/// The module that the schema comes from, and the name it has there.
const SCHEMA_MODULE: &str = "warpline/schemas/plugin-manifest";
const SCHEMA: &str = "PluginManifestSchema";

/// How deep a literal may nest; the host runs what is deeper.
const MAX_LITERAL_DEPTH: usize = 100;

/// Names that strict code may not bind. The parser lets some of them pass.
const UNBINDABLE: [&str; 13] = [
    "arguments",
    "await",
    "enum",
    "eval",
    "implements",
    "interface",
    "let",
    "package",
    "private",
    "protected",
    "public",
    "static",
    "yield",
];

/// Reads `manifest` from a module that holds one literal, as [`super::source_text`] gives it.
///
/// The module may hold `export const manifest = {...}`, bare or as the argument of
/// `PluginManifestSchema.parse(...)`, with annotations, `as` and `satisfies` anywhere outside the
/// literal; imports of types, and of `PluginManifestSchema` under any name; and declarations of
/// types. `None` for every other text: whether it is a manifest only running it can tell.
///
/// ```
/// use warpline_core::typescript::{LiteralManifest, literal_manifest};
///
/// let Some(LiteralManifest::Bare(manifest)) = literal_manifest("export const manifest = { ttl_hours: 6 }") else {
///     panic!("it is one literal");
/// };
/// assert_eq!(manifest.to_compact(), r#"{"ttl_hours":6}"#);
/// assert_eq!(literal_manifest("export const manifest = { ttl_hours: hours() }"), None);
/// ```
pub fn literal_manifest(source: &str) -> Option<LiteralManifest> {
    guard::parsed(source, |program, _| module(program)).ok().flatten()
}

fn module(program: &Program<'_>) -> Option<LiteralManifest> {
    if !program.directives.is_empty() {
        return None;
    }
    let mut schema = None;
    let mut manifest = None;
    for statement in &program.body {
        match statement {
            Statement::EmptyStatement(_)
            | Statement::TSTypeAliasDeclaration(_)
            | Statement::TSInterfaceDeclaration(_) => {}
            Statement::ExportNamedDeclaration(it) if it.export_kind.is_type() => {}
            Statement::ExportFromDeclaration(it) if it.export_kind.is_type() => {}
            Statement::ExportAllDeclaration(it) if it.export_kind.is_type() => {}
            Statement::ImportDeclaration(it) if it.import_kind.is_type() => {}
            Statement::ImportDeclaration(it) => {
                // A second binding could clash with the first, which only the engine reports.
                if let Some(local) = imported_schema(it)?
                    && schema.replace(local).is_some()
                {
                    return None;
                }
            }
            Statement::ExportDeclaration(it) => match &it.declaration {
                Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_) => {
                }
                Declaration::VariableDeclaration(it) => {
                    if manifest.replace(initial_value(it)?).is_some() {
                        return None;
                    }
                }
                _ => return None,
            },
            _ => return None,
        }
    }
    match bare(manifest?) {
        Expression::CallExpression(call) => {
            let argument = parse_argument(call, schema?)?;
            object(argument).map(LiteralManifest::Parsed)
        }
        literal => object(literal).map(LiteralManifest::Bare),
    }
}

/// The local name that an import gives to the schema; `None` where it imports any other value.
fn imported_schema<'p>(it: &'p ImportDeclaration<'_>) -> Option<Option<&'p str>> {
    if it.source.value != SCHEMA_MODULE || it.phase.is_some() || it.with_clause.is_some() {
        return None;
    }
    let mut local = None;
    for specifier in it.specifiers.iter().flatten() {
        let ImportDeclarationSpecifier::ImportSpecifier(specifier) = specifier else {
            return None;
        };
        if specifier.import_kind.is_type() {
            continue;
        }
        let name = specifier.local.name.as_str();
        let usable = specifier.imported.name() == SCHEMA
            && name != "manifest"
            && !UNBINDABLE.contains(&name);
        if !usable || local.replace(name).is_some() {
            return None;
        }
    }
    Some(local)
}

/// What the only variable of the declaration, `manifest`, starts as.
fn initial_value<'p, 'a>(it: &'p VariableDeclaration<'a>) -> Option<&'p Expression<'a>> {
    let [declarator] = it.declarations.as_slice() else {
        return None;
    };
    let BindingPattern::BindingIdentifier(id) = &declarator.id else {
        return None;
    };
    let plain = id.name == "manifest"
        && !it.declare
        && !declarator.definite
        && it.kind == VariableDeclarationKind::Const;
    if plain { declarator.init.as_ref() } else { None }
}

/// The only argument of a call of the schema's `parse`.
fn parse_argument<'p, 'a>(
    call: &'p CallExpression<'a>,
    schema: &str,
) -> Option<&'p Expression<'a>> {
    let Expression::StaticMemberExpression(callee) = &call.callee else {
        return None;
    };
    let Expression::Identifier(object) = &callee.object else {
        return None;
    };
    let plain = object.name == schema
        && callee.property.name == "parse"
        && !callee.optional
        && !call.optional
        && call.type_arguments.is_none();
    match call.arguments.as_slice() {
        [argument] if plain => argument.as_expression().map(bare),
        _ => None,
    }
}

/// The expression inside parentheses, `as` and `satisfies`.
pub(crate) fn bare<'p, 'a>(mut it: &'p Expression<'a>) -> &'p Expression<'a> {
    loop {
        it = match it {
            Expression::ParenthesizedExpression(outer) => &outer.expression,
            Expression::TSAsExpression(outer) => &outer.expression,
            Expression::TSSatisfiesExpression(outer) => &outer.expression,
            _ => return it,
        }
    }
}

fn object(it: &Expression<'_>) -> Option<Value> {
    match it {
        Expression::ObjectExpression(_) => literal(it, 0),
        _ => None,
    }
}

fn literal(it: &Expression<'_>, depth: usize) -> Option<Value> {
    if depth > MAX_LITERAL_DEPTH {
        return None;
    }
    match bare(it) {
        Expression::NullLiteral(_) => Some(Value::Null),
        Expression::BooleanLiteral(it) => Some(Value::Bool(it.value)),
        Expression::NumericLiteral(it) => number(it).map(Value::Number),
        Expression::UnaryExpression(it) => match &it.argument {
            Expression::NumericLiteral(number_literal)
                if it.operator == UnaryOperator::UnaryNegation =>
            {
                number(number_literal).map(|number| Value::Number(-number))
            }
            _ => None,
        },
        Expression::StringLiteral(it) => string(it).map(Value::String),
        Expression::TemplateLiteral(it) => template(it).map(Value::String),
        Expression::ArrayExpression(it) => {
            let items: Option<Vec<Value>> =
                it.elements.iter().map(|item| literal(item.as_expression()?, depth + 1)).collect();
            items.map(Value::from)
        }
        Expression::ObjectExpression(it) => {
            let entries: Option<Map> =
                it.properties.iter().map(|property| entry(property, depth)).collect();
            entries.map(Value::from)
        }
        _ => None,
    }
}

fn entry(it: &ObjectPropertyKind<'_>, depth: usize) -> Option<(JsString, Value)> {
    let ObjectPropertyKind::ObjectProperty(it) = it else {
        return None;
    };
    if it.kind != PropertyKind::Init || it.method || it.shorthand || it.computed {
        return None;
    }
    let key = match &it.key {
        PropertyKey::StaticIdentifier(key) => JsString::from(key.name.as_str()),
        PropertyKey::StringLiteral(key) => string(key)?,
        PropertyKey::NumericLiteral(key) => JsString::from(number_text(number(key)?)),
        _ => return None,
    };
    // This key sets the prototype and leaves no property.
    if key == "__proto__" {
        return None;
    }
    Some((key, literal(&it.value, depth + 1)?))
}

/// The number, unless it is written in a form that modules do not allow (`010`, `08`).
fn number(it: &NumericLiteral<'_>) -> Option<f64> {
    let raw = it.raw.as_ref()?.as_bytes();
    let legacy = matches!(raw, [b'0', b'0'..=b'9' | b'_', ..]);
    (!legacy).then_some(it.value)
}

/// The string, unless it has an escape that modules do not allow (`\1`, `\08`).
fn string(it: &StringLiteral<'_>) -> Option<JsString> {
    let raw = it.raw.as_ref()?.as_str();
    (!has_octal_escape(raw)).then(|| decoded(it.value.as_str(), it.lone_surrogates)).flatten()
}

fn template(it: &TemplateLiteral<'_>) -> Option<JsString> {
    let [only] = it.quasis.as_slice() else {
        return None;
    };
    if !it.expressions.is_empty() || has_octal_escape(only.value.raw.as_str()) {
        return None;
    }
    decoded(only.value.cooked.as_ref()?.as_str(), only.lone_surrogates)
}

fn has_octal_escape(raw: &str) -> bool {
    let mut bytes = raw.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            continue;
        }
        match bytes.next() {
            Some(b'1'..=b'9') => return true,
            Some(b'0') if bytes.peek().is_some_and(u8::is_ascii_digit) => return true,
            _ => {}
        }
    }
    false
}

/// Text of the parser, in which U+FFFD and four hexadecimal digits may stand for a code unit.
fn decoded(text: &str, escaped: bool) -> Option<JsString> {
    if !escaped {
        return Some(JsString::from(text));
    }
    let mut units = Vec::with_capacity(text.len());
    let mut parts = text.split('\u{fffd}');
    units.extend(parts.next()?.encode_utf16());
    for part in parts {
        let (unit, rest) = part.split_at_checked(4)?;
        units.push(u16::from_str_radix(unit, 16).ok()?);
        units.extend(rest.encode_utf16());
    }
    Some(JsString::from_utf16(&units))
}
