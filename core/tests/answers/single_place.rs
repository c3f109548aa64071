//! Who names the capability mint and the grant file in the sources of both packages, JavaScript and Python.
//!
//! Comments do not count, and neither do texts where a name is code. What is embedded in a text
//! counts as code and as text, since it may be either. A file that is not on one of these lists yet
//! is a decision to be taken, not a list to be extended in passing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The names and the texts of one file.
#[derive(Debug, Default, PartialEq)]
struct Tokens {
    names: Vec<String>,
    texts: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Language {
    JavaScript,
    Python,
}

/// Whether a slash behind this token begins a regular expression: where no value has ended.
fn expects_a_value(last: &str) -> bool {
    const WORDS: [&str; 7] = ["return", "typeof", "case", "in", "of", "void", "await"];
    WORDS.contains(&last)
        || !last.ends_with(|end: char| is_name(end) || matches!(end, ')' | ']' | '}' | '"'))
}

fn is_name(scalar: char) -> bool {
    scalar.is_alphanumeric() || matches!(scalar, '_' | '$')
}

fn names_in(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|scalar| !is_name(scalar)).filter(|name| !name.is_empty()).map(str::to_owned)
}

fn tokens(source: &str, language: Language) -> Tokens {
    let mut found = Tokens::default();
    let mut last = String::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let line_comment = if language == Language::Python { "#" } else { "//" };
        let read;
        if rest.starts_with(line_comment) {
            read = rest.find('\n').unwrap_or(rest.len());
        } else if language == Language::JavaScript && rest.starts_with("/*") {
            read = rest.find("*/").expect("a comment ends") + 2;
        } else if matches!(first, '"' | '\'' | '`') {
            let triple = first.to_string().repeat(3);
            let fence = match language {
                Language::Python if rest.starts_with(&triple) => triple,
                _ => first.to_string(),
            };
            read = text_end(rest, &fence);
            let text = &rest[fence.len()..read - fence.len()];
            found.texts.push(text.to_owned());
            let formatted = matches!(last.to_lowercase().as_str(), "f" | "rf" | "fr");
            if first == '`' || (language == Language::Python && formatted) {
                found.names.extend(names_in(text));
            }
            last = "\"".to_owned();
        } else if first == '/' && language == Language::JavaScript && expects_a_value(&last) {
            read = expression_end(rest);
            last = "\"".to_owned();
        } else if is_name(first) {
            read = rest.find(|scalar| !is_name(scalar)).unwrap_or(rest.len());
            last = rest[..read].to_owned();
            found.names.push(last.clone());
        } else {
            read = first.len_utf8();
            if !first.is_whitespace() {
                last = first.to_string();
            }
        }
        rest = &rest[read..];
    }
    found
}

/// Where the text at the start of `rest` ends, its fence included.
fn text_end(rest: &str, fence: &str) -> usize {
    let mut at = fence.len();
    while !rest[at..].starts_with(fence) {
        let escape = rest[at..].starts_with('\\');
        let mut scalars = rest[at..].chars();
        at += scalars.next().expect("a text ends").len_utf8();
        if escape {
            at += scalars.next().expect("a text ends").len_utf8();
        }
    }
    at + fence.len()
}

/// Where the regular expression at the start of `rest` ends; a slash in brackets does not end it.
fn expression_end(rest: &str) -> usize {
    let (mut escaped, mut bracketed) = (false, false);
    for (at, scalar) in rest.char_indices().skip(1) {
        match scalar {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => bracketed = true,
            ']' => bracketed = false,
            '/' if !bracketed => return at + 1,
            _ => {}
        }
    }
    panic!("a regular expression ends")
}

/// The source files of both packages for which `counts` holds.
fn files(counts: impl Fn(Language, &Tokens) -> bool) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("a root");
    let mut found = BTreeSet::new();
    for package in ["npm/lib", "python/warpline"] {
        let mut open = vec![root.join(package)];
        let mut read = 0;
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(
                    fs::read_dir(&path).expect("entries").map(|entry| entry.expect("one").path()),
                );
                continue;
            }
            let language = match path.extension().and_then(|kind| kind.to_str()) {
                Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts") => Language::JavaScript,
                Some("py" | "pyi") => Language::Python,
                _ => continue,
            };
            read += 1;
            let source = fs::read_to_string(&path).expect("a source file");
            if counts(language, &tokens(&source, language)) {
                let path = path.strip_prefix(&root).expect("below the root");
                found.insert(path.display().to_string());
            }
        }
        assert!(read > 10, "the sources of {package} are found");
    }
    found
}

#[test]
fn the_mint_is_named_where_it_is_and_where_a_handler_is_called() {
    let named = files(|language, tokens| {
        let mint = if language == Language::Python { "mint" } else { "mintCapabilities" };
        tokens.names.iter().any(|name| name == mint)
    });
    let expected = [
        "npm/lib/host/capabilities.js",
        "npm/lib/host/host.js",
        "python/warpline/_host/capabilities.py",
        "python/warpline/_host/host.py",
    ];
    assert_eq!(named, expected.map(str::to_owned).into());
}

#[test]
fn no_host_names_the_grant_file() {
    let named =
        files(|_, tokens| tokens.texts.iter().any(|text| text.contains(".session-approval")));
    assert_eq!(named, BTreeSet::new());
}

#[test]
fn comments_and_texts_are_told_from_names() {
    let script = r##"
        // one 'two
        /* three ` */ four('five \' six', "sev//en") / eight
        const nine = /[/'"]ten\//g.test(`el${even}`)
        return /tw'elve/
    "##;
    let found = tokens(script, Language::JavaScript);
    let names = ["four", "eight", "const", "nine", "g", "test", "el$", "even", "return"];
    assert_eq!(found.names, names);
    assert_eq!(found.texts, ["five \\' six", "sev//en", "el${even}"]);
    let python = "# one 'two\nthree = '''four ' # five''' // six\nf'{seven}' + r'\\'eight' + nine";
    let found = tokens(python, Language::Python);
    assert_eq!(found.names, ["three", "six", "f", "seven", "r", "nine"]);
    assert_eq!(found.texts, ["four ' # five", "{seven}", "\\'eight"]);
}
