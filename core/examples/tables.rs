//! Writes what follows from the code: the tables of the documentation (the keys of a manifest, the
//! codes of errors), the JSON Schemas of documents, and the copies of those of reports that the Python
//! package holds. With `--check` it writes nothing and fails where a page is not up to date.

use std::fs;
use std::io::{Error, Result, Write};
use std::path::{Path, PathBuf};

use warpline_core::json::{JsString, Map, Value};
use warpline_core::schema::json_schema;
use warpline_core::schema::manifest::{
    AutonomyLevel, InputType, Schedule, SideEffect, Temporality, Tier,
};
use warpline_core::schema::skill_result::ErrorCode;

/// What happened and what to do about it, for each code of the catalogue in its order.
const ERRORS: [(&str, &str, &str); 10] = [
    (
        "ERR_WARPLINE_PLUGIN_ROOT",
        "the folder of plugins cannot be read, or was given as empty text",
        "create it, or name another one",
    ),
    (
        "ERR_WARPLINE_NOT_JSON",
        "a document of the home is not JSON; the message says from where on",
        "mend the file; nothing was written",
    ),
    (
        "ERR_WARPLINE_INVALID",
        "a document has another shape; the message names its keys and the shapes they should have",
        "mend the file; nothing was written",
    ),
    (
        "ERR_WARPLINE_NEWER_STATE",
        "the state was written by a newer warpline",
        "install that version; nothing was written",
    ),
    (
        "ERR_WARPLINE_FILE",
        "the operating system did not let a file be read, written, locked, removed or created",
        "see the message: permissions, space, or something else in its place",
    ),
    (
        "ERR_WARPLINE_LOCKED",
        "another advance runs on this home; the message names run and process",
        "wait for it, or stop it; nothing was written",
    ),
    (
        "ERR_WARPLINE_STATE_LOCK",
        "another process kept the state for 10 seconds",
        "try again; nothing was written",
    ),
    (
        "ERR_WARPLINE_SHARED_HOME",
        "others than this user can write the home; the message names path and mode",
        "run the command that the message has; [the security page](security.md#a-home-that-others-can-write) says what else can be done",
    ),
    (
        "ERR_WARPLINE_OPTION",
        "an option, run id, witness or lifetime is not usable, or has a name that nobody knows",
        "correct the call",
    ),
    (
        "ERR_WARPLINE_HOST",
        "the process or thread that runs plugins went away, or gave no proper answer",
        "see what ended it",
    ),
];

/// What an operator does about a failed result with this code.
fn remedy(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::AuthFailure => "set or renew the credential",
        ErrorCode::RateLimit => "wait, or let it run less often (`ttl_hours`)",
        ErrorCode::DataMissing => "run or mend what should have produced it",
        ErrorCode::StaleData => "look at the source: it has stopped",
        ErrorCode::ParseError => "mend what the message names: configuration, input or answer",
        ErrorCode::Timeout => {
            "look whether it had acted, then raise `timeout_ms` or split the work"
        }
        ErrorCode::DependencyUnavailable => {
            "see that what it needs is reachable, or mend the plugin"
        }
    }
}

fn main() -> Result<()> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let check = std::env::args().nth(1).as_deref() == Some("--check");
    let exceptions = fs::read_to_string(root.join("python/warpline/errors.py"))?;
    let pages = [
        ("docs/manifest.md", vec![("keys", keys()?), ("values", values())]),
        ("docs/errors.md", vec![("calls", calls(&exceptions)?), ("results", results())]),
    ];
    for (page, tables) in pages {
        let old = fs::read_to_string(root.join(page))?;
        let mut new = old.clone();
        for (name, table) in tables {
            new = replaced(&new, name, &table)
                .ok_or_else(|| Error::other(format!("{page} has no place for `{name}`")))?;
        }
        update(&root, page, &new, check)?;
    }
    for name in json_schema::DOCUMENTS {
        let schema = json_schema::for_name(name);
        let schema = schema.ok_or_else(|| Error::other(format!("no schema of {name}")))?;
        let page = format!("docs/schemas/documents/{name}.json");
        update(&root, &page, &(schema.to_pretty() + "\n"), check)?;
    }
    for entry in fs::read_dir(root.join("docs/schemas"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".json") {
            let schema = fs::read_to_string(root.join("docs/schemas").join(&name))?;
            update(&root, &format!("python/warpline/_schemas/{name}"), &schema, check)?;
        }
    }
    Ok(())
}

/// Writes a file that has another text, or refuses it where it is only to be checked.
fn update(root: &Path, file: &str, text: &str, check: bool) -> Result<()> {
    let path = root.join(file);
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if check {
        return Err(Error::other(format!("{file} is not up to date: run `make tables`")));
    }
    fs::create_dir_all(path.parent().unwrap_or(root))?;
    fs::write(&path, text)?;
    writeln!(std::io::stdout(), "wrote {file}")
}

/// The page with another table between `<!-- NAME -->` and the next `<!-- end -->`.
fn replaced(page: &str, name: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(&format!("<!-- {name} -->\n"))?;
    let (_, after) = rest.split_once("<!-- end -->")?;
    Some(format!("{before}<!-- {name} -->\n{table}<!-- end -->{after}"))
}

fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(ToString::to_string).collect();
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let rows = rows.into_iter().map(|row| line(&row));
    [line(&head), rule].into_iter().chain(rows).collect()
}

fn code(text: impl std::fmt::Display) -> String {
    format!("`{text}`")
}

/// Every key of a manifest, those of inputs, outputs and actions included.
fn keys() -> Result<String> {
    let schema = json_schema::for_name("plugin-manifest");
    let schema = schema.ok_or_else(|| Error::other("no schema of a manifest"))?;
    let mut rows = Vec::new();
    key_rows("", &schema, &mut rows)?;
    Ok(table(&["key", "type", "default", "bounds", "meaning"], rows))
}

fn key_rows(prefix: &str, object: &Value, rows: &mut Vec<Vec<String>>) -> Result<()> {
    let must = object.get("required").and_then(Value::as_array).unwrap_or_default();
    let properties = object.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flat_map(Map::iter) {
        let key = format!("{prefix}{name}");
        let meaning = schema.get("description").and_then(Value::as_string);
        let meaning = meaning.ok_or_else(|| Error::other(format!("{key} has no description")))?;
        let default = match schema.get("default") {
            _ if must.contains(&Value::from(name)) => "required".to_owned(),
            Some(default) => code(default.to_compact()),
            None => "none".to_owned(),
        };
        rows.push(vec![code(&key), kind(schema), default, bounds(schema), meaning.to_text()]);
        if let Some(entry) = schema.get("additionalProperties") {
            key_rows(&format!("{key}.NAME."), entry, rows)?;
        }
    }
    Ok(())
}

fn text<'a>(schema: &'a Value, key: &str) -> Option<&'a JsString> {
    schema.get(key).and_then(Value::as_string)
}

fn kind(schema: &Value) -> String {
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        let names = names.iter().filter_map(Value::as_string).map(code);
        return names.collect::<Vec<_>>().join(", ");
    }
    match (schema.get("items"), schema.get("additionalProperties")) {
        (Some(items), _) => format!("list of {}", kind(items)),
        (_, Some(_)) => "object by name".to_owned(),
        _ => text(schema, "type").map_or_else(|| "anything".to_owned(), JsString::to_text),
    }
}

fn bounds(schema: &Value) -> String {
    let number = |key| schema.get(key).map(Value::to_compact);
    match (number("minimum"), number("maximum"), number("exclusiveMinimum"), number("minLength")) {
        (Some(least), Some(most), ..) => format!("{least} to {most}"),
        (Some(least), ..) => format!("at least {least}"),
        (_, _, Some(below), _) => format!("above {below}"),
        (.., Some(_)) => "not empty".to_owned(),
        _ => String::new(),
    }
}

/// What the words mean that a manifest chooses from.
fn values() -> String {
    macro_rules! rows {
        ($key:literal, $set:ty) => {
            <$set>::ALL.iter().map(|member| {
                let meaning = member.meaning().trim_end_matches('.');
                vec![code($key), code(member), meaning.to_owned()]
            })
        };
    }
    let rows = rows!("schedule", Schedule)
        .chain(rows!("autonomy_level", AutonomyLevel))
        .chain(rows!("side_effects", SideEffect))
        .chain(rows!("min_tier", Tier))
        .chain(rows!("inputs.NAME.type", InputType))
        .chain(rows!("outputs.NAME.temporality", Temporality));
    table(&["key", "value", "meaning"], rows)
}

/// The codes of refused calls. Fails where the catalogue has another code than this file or Python.
fn calls(exceptions: &str) -> Result<String> {
    let described = ERRORS.map(|(code, ..)| code);
    if described != warpline_core::error::Error::CODES {
        return Err(Error::other("the catalogue of errors has codes that are not described here"));
    }
    let mut rows = Vec::new();
    for (name, meaning, remedy) in ERRORS {
        let class = python_class(exceptions, name)
            .ok_or_else(|| Error::other(format!("python/warpline/errors.py lacks {name}")))?;
        rows.push(vec![code(name), code(class), meaning.to_owned(), remedy.to_owned()]);
    }
    Ok(table(&["code", "class in Python", "what happened", "what to do"], rows))
}

/// The name of the class whose body holds `code = "NAME"`.
fn python_class<'a>(source: &'a str, code: &str) -> Option<&'a str> {
    let (before, _) = source.split_once(&format!("    code = \"{code}\"\n"))?;
    let (_, class) = before.rsplit_once("\nclass ")?;
    class.split_once('(').map(|(name, _)| name)
}

/// The codes of failed results.
fn results() -> String {
    let rows = ErrorCode::ALL.iter().map(|member| {
        let again = matches!(member, ErrorCode::RateLimit | ErrorCode::Timeout);
        let meaning = member.meaning().trim_end_matches('.').to_owned();
        let again = if again { "yes" } else { "no" };
        vec![code(member), meaning, again.to_owned(), remedy(*member).to_owned()]
    });
    let head = ["code", "meaning", "`retryable` unless given", "what an operator does"];
    table(&head, rows)
}
