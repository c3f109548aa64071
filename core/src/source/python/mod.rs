//! Reads a Python module by its tokens.
//!
//! Statements are told apart and names followed by what stands behind them; nothing is resolved. A
//! `global os` or a module under another name (`import os as o`) is followed for modules alone.

mod literal;
mod manifest;
mod tokens;

pub use manifest::literal_manifest;

use std::collections::HashMap;

use super::{Handler, Import, ManifestText, Module, Shape, Sight, Sighting, Statement, Unreadable};
use tokens::{Kind, Token, tokens};

/// The text of a module file as Python reads it: without a byte order mark, each end of a line a `\n`.
///
/// # Errors
///
/// [`Unreadable`] for bytes that are not UTF-8, unless one of the first two lines speaks of a `coding`,
/// and for a file with a NUL, which Python refuses.
pub fn source_text(bytes: &[u8]) -> Result<String, Unreadable> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    let coding = text.lines().take(2).any(|line| line.starts_with('#') && line.contains("coding"));
    let wrong = match str::from_utf8(bytes) {
        Err(error) if !coding => Some((error.valid_up_to(), "the file is not UTF-8 text")),
        _ => bytes.iter().position(|byte| *byte == 0).map(|at| (at, "the file holds a NUL")),
    };
    let Some((at, message)) = wrong else { return Ok(text) };
    let before = bytes.get(..at).unwrap_or_default();
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    Err(Unreadable { line, message: message.to_owned() })
}

/// Reads a module, as [`source_text`] gives it.
///
/// # Errors
///
/// [`Unreadable`] for text of which tokens cannot be made.
pub fn read(text: &str) -> Result<Module, Unreadable> {
    let tokens = tokens(text)?;
    let constants = constants(&tokens);
    let mut module = Module::default();
    let mut typing = None;
    for (blanks, statement) in statements(&tokens) {
        let Some(first) = statement.first() else { continue };
        imports(statement, first.line, typing.is_some_and(|around| blanks > around), &mut module);
        if typing.is_some_and(|around| blanks <= around) {
            typing = None;
        }
        if is_type_checking(statement) {
            typing = Some(blanks);
        }
        sightings(statement, &constants, &mut module.sightings);
        if blanks == 0 {
            top_level(statement, first, &mut module);
        }
    }
    Ok(module)
}

/// The statements with the blanks in front of each. A compound statement is its head alone.
fn statements(tokens: &[Token]) -> impl Iterator<Item = (usize, &[Token])> {
    let starts: Vec<usize> =
        tokens.iter().enumerate().filter(|(_, token)| is_line(token)).map(|(at, _)| at).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([tokens.len()]).collect();
    starts.into_iter().zip(ends).filter_map(move |(start, end)| {
        let Kind::Line(blanks) = tokens.get(start)?.kind else { return None };
        Some((blanks, tokens.get(start + 1..end)?))
    })
}

fn name(token: Option<&Token>) -> Option<&str> {
    match &token?.kind {
        Kind::Name(name) => Some(name),
        _ => None,
    }
}

fn text(token: Option<&Token>) -> Option<&str> {
    match &token?.kind {
        Kind::Text(text) => text.as_deref(),
        _ => None,
    }
}

fn is_line(token: &Token) -> bool {
    matches!(token.kind, Kind::Line(_))
}

fn is_mark(token: Option<&Token>, mark: char) -> bool {
    token.is_some_and(|token| token.kind == Kind::Mark(mark))
}

/// `if TYPE_CHECKING:`, below which imports are for type checkers.
fn is_type_checking(statement: &[Token]) -> bool {
    name(statement.first()) == Some("if")
        && statement.iter().any(|token| name(Some(token)) == Some("TYPE_CHECKING"))
}

/// `a.b.c` and how many tokens it took.
fn dotted(tokens: &[Token]) -> (String, usize) {
    let mut path = String::new();
    let part = |token: &&Token| matches!(token.kind, Kind::Name(_) | Kind::Mark('.'));
    let parts: Vec<&Token> = tokens.iter().take_while(part).collect();
    let mut taken = 0;
    let mut after_name = false;
    for token in parts {
        match &token.kind {
            // Two names in a row: the second one is `import` or `as`.
            Kind::Name(name) if after_name || name == "import" => break,
            Kind::Name(name) => {
                path.push_str(name);
                after_name = true;
            }
            _ => {
                path.push('.');
                after_name = false;
            }
        }
        taken += 1;
    }
    (path, taken)
}

fn imports(statement: &[Token], line: usize, types: bool, module: &mut Module) {
    let mut add = |module_name: String| {
        module.imports.push(Import { module: module_name, line, types });
    };
    match name(statement.first()) {
        Some("import") => {
            let rest = statement.get(1..).unwrap_or_default();
            for one in rest.split(|token| token.kind == Kind::Mark(',')) {
                add(dotted(one).0);
            }
        }
        Some("from") => {
            let (from, taken) = dotted(statement.get(1..).unwrap_or_default());
            let names = statement.get(taken + 2..).unwrap_or_default();
            // `from urllib import request` brings a module, `from http.client import X` a name of one.
            for one in names.split(|token| token.kind == Kind::Mark(',')) {
                let one = one.iter().find_map(|token| name(Some(token)));
                if let Some(one) = one {
                    let dot = if from.ends_with('.') { "" } else { "." };
                    add(format!("{from}{dot}{one}"));
                }
            }
        }
        _ => {}
    }
}

/// The names of the module that are one text, and are given nothing else anywhere.
fn constants(tokens: &[Token]) -> HashMap<&str, &str> {
    let mut texts: HashMap<&str, Option<&str>> = HashMap::new();
    for (blanks, statement) in statements(tokens) {
        let Some(name) = name(statement.first()) else { continue };
        let Some(value) = assigned(statement) else { continue };
        let whole = match value {
            [Token { kind: Kind::Text(Some(text)), .. }] if blanks == 0 => Some(text.as_str()),
            _ => None,
        };
        texts.entry(name).and_modify(|text| *text = None).or_insert(whole);
    }
    texts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}

fn sightings(statement: &[Token], constants: &HashMap<&str, &str>, found: &mut Vec<Sighting>) {
    for (at, token) in statement.iter().enumerate() {
        let mut see = |what| found.push(Sighting { what, line: token.line });
        let behind = |offset: usize| statement.get(at + offset);
        let defined = at > 0 && matches!(name(statement.get(at - 1)), Some("def" | "class"));
        match &token.kind {
            Kind::Name(called) if is_mark(behind(1), '(') && !defined => match called.as_str() {
                "skill_handoff" => see(Sight::Handoff),
                "last_output" | "last_run" => {
                    let arguments = statement.get(at + 2..).unwrap_or_default();
                    if let Some(plugin) = last_argument(arguments, constants) {
                        see(Sight::Dependency(plugin.to_owned()));
                    }
                }
                "getenv" => {
                    if let Some(variable) = text(behind(2)) {
                        see(Sight::Variable(variable.to_owned()));
                    }
                }
                _ => {}
            },
            Kind::Name(environ) if environ == "environ" => {
                let by_key = is_mark(behind(1), '[').then(|| text(behind(2))).flatten();
                let is_get = is_mark(behind(1), '.') && name(behind(2)) == Some("get");
                let by_call = is_get.then(|| text(behind(4))).flatten();
                if let Some(variable) = by_key.or(by_call) {
                    see(Sight::Variable(variable.to_owned()));
                }
            }
            Kind::Text(Some(key)) if is_mark(behind(1), ':') => {
                let handoff = match key.as_str() {
                    "needs_llm" => true,
                    "summary" => {
                        text(behind(2)).is_some_and(|text| text.starts_with("[needs-llm]"))
                    }
                    _ => false,
                };
                if handoff {
                    see(Sight::Handoff);
                }
            }
            _ => {}
        }
    }
}

/// The text in front of the bracket that ends a call, where it is a string alone or the name of one.
fn last_argument<'t>(
    arguments: &'t [Token],
    constants: &HashMap<&str, &'t str>,
) -> Option<&'t str> {
    let mut depth = 0_usize;
    let end = arguments.iter().position(|token| match token.kind {
        Kind::Mark('(' | '[' | '{') => {
            depth += 1;
            false
        }
        Kind::Mark(')' | ']' | '}') if depth == 0 => true,
        Kind::Mark(')' | ']' | '}') => {
            depth -= 1;
            false
        }
        _ => false,
    })?;
    let inside = arguments.get(..end)?;
    let trailing = usize::from(is_mark(inside.last(), ','));
    let at = inside.len().checked_sub(1 + trailing)?;
    let alone = at == 0 || is_mark(inside.get(at - 1), ',');
    let constant = || constants.get(name(inside.get(at)).filter(|_| alone)?).copied();
    text(inside.get(at)).or_else(constant)
}

fn top_level(statement: &[Token], first: &Token, module: &mut Module) {
    let line = first.line;
    let asynchronous = usize::from(name(Some(first)) == Some("async"));
    match name(statement.get(asynchronous)) {
        Some("def") => {
            if name(statement.get(asynchronous + 1)) == Some("handler") {
                let shape = parameters(statement.get(asynchronous + 2..).unwrap_or_default());
                module.handler = Some(Handler { line, shape });
            }
            module.statements.push(Statement { line, acts: false });
        }
        Some("class") => {
            if name(statement.get(1)) == Some("handler") {
                module.handler = Some(Handler { line, shape: Shape::Unknown });
            }
            module.statements.push(Statement { line, acts: false });
        }
        Some("import") => {}
        Some("from") => {
            // A handler may live in another module.
            if statement.iter().skip(1).any(|token| name(Some(token)) == Some("handler")) {
                module.handler = Some(Handler { line, shape: Shape::Unknown });
            }
        }
        Some("pass") => {}
        Some(target) => match assigned(statement) {
            Some(value) if target == "manifest" => module.manifest = Some(manifest(line, value)),
            Some(value) => {
                if target == "handler" {
                    module.handler = Some(Handler { line, shape: value_shape(value) });
                }
                let acts = literal::value(value).is_none() && name(value.first()) != Some("lambda");
                module.statements.push(Statement { line, acts });
            }
            None => module.statements.push(Statement { line, acts: true }),
        },
        // A text that stands alone is what the module says of itself.
        None if statement.iter().all(|token| matches!(token.kind, Kind::Text(_))) => {}
        None => module.statements.push(Statement { line, acts: !is_mark(Some(first), '@') }),
    }
}

/// What stands behind `name =` or `name: type =`.
fn assigned(statement: &[Token]) -> Option<&[Token]> {
    let at = statement.iter().position(|token| token.kind == Kind::Mark('='))?;
    let head = statement.get(1..at)?;
    let plain = head.is_empty() || is_mark(head.first(), ':');
    let value = statement.get(at + 1..)?;
    // `==` is no assignment.
    (plain && !is_mark(value.first(), '=')).then_some(value)
}

fn manifest(line: usize, value: &[Token]) -> ManifestText {
    let mut keys = Vec::new();
    // `PluginManifest.parse(...)`, under whatever name the class has here.
    let inside = match value {
        [Token { kind: Kind::Name(_), .. }, rest @ ..] => {
            let opening = rest.iter().position(|token| token.kind == Kind::Mark('('));
            let call = opening.and_then(|at| rest.get(..at));
            let parses = call.is_some_and(|call| name(call.last()) == Some("parse"));
            let argument = opening.and_then(|at| rest.get(at + 1..rest.len().checked_sub(1)?));
            argument.filter(|_| parses && is_mark(rest.last(), ')'))
        }
        whole => Some(whole),
    };
    let value =
        inside.map(without_last_comma).and_then(|inside| literal::keyed_value(inside, &mut keys));
    ManifestText { line, value, keys }
}

fn without_last_comma(tokens: &[Token]) -> &[Token] {
    match tokens {
        [before @ .., Token { kind: Kind::Mark(','), .. }] => before,
        all => all,
    }
}

fn value_shape(value: &[Token]) -> Shape {
    match value.first().map(|token| &token.kind) {
        Some(Kind::Name(name)) if name == "lambda" => Shape::Unknown,
        Some(Kind::Name(name)) if !matches!(name.as_str(), "None" | "True" | "False") => {
            Shape::Unknown
        }
        Some(Kind::Mark('(')) => Shape::Unknown,
        _ => Shape::Other,
    }
}

/// The shape of a function by what stands behind its name.
fn parameters(tokens: &[Token]) -> Shape {
    let mut depth = 0_usize;
    let mut groups: Vec<Vec<&Token>> = vec![Vec::new()];
    for token in tokens {
        match token.kind {
            Kind::Mark('(' | '[' | '{') => depth += 1,
            Kind::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Kind::Mark(',') if depth == 1 => {
                groups.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if let Some(group) = groups.last_mut() {
            group.push(token);
        }
    }
    let (mut required, mut most) = (0, Some(0));
    for group in &groups {
        let words: Vec<&Token> =
            group.iter().copied().filter(|token| token.kind != Kind::Mark('(')).collect();
        match words.as_slice() {
            [] => {}
            [Token { kind: Kind::Mark('/'), .. }] => {}
            // Behind a star nothing is taken by its place.
            [Token { kind: Kind::Mark('*'), .. }, rest @ ..] => {
                if !rest.is_empty() {
                    most = None;
                }
                break;
            }
            words => {
                let default = words.iter().any(|token| token.kind == Kind::Mark('='));
                required += usize::from(!default);
                most = most.map(|most: usize| most + 1);
            }
        }
    }
    Shape::Function { required, most, generator: false }
}

#[cfg(test)]
mod tests;
