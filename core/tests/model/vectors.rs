//! Histories that failed once, or that show what a fault would break: played by every run.

use std::path::{Path, PathBuf};

use warpline_core::json::{JsString, Map, Value, parse};

use crate::history::play;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/histories")
}

/// Writes a history down, to be named and committed.
pub fn keep(steps: &[String], why: &str) -> PathBuf {
    let words = |line: &String| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let steps: Vec<String> = steps.iter().map(words).collect();
    let bytes = steps.join("\n").into_bytes();
    let sum =
        bytes.iter().fold(17_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
    let path = folder().join(format!("found-{sum:08x}.json"));
    let why = why.lines().next().unwrap_or_default();
    let history = Map::from_iter([("shows", Value::from(why)), ("steps", steps.into())]);
    std::fs::write(&path, Value::from(history).to_pretty() + "\n").expect("written");
    path
}

fn text(value: &Value) -> String {
    value.as_string().map(JsString::to_text).expect("text")
}

#[test]
fn kept_histories_are_as_the_model_says() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no history is kept");
    let mut faults = Vec::new();
    for path in &files {
        let history = parse(&std::fs::read_to_string(path).expect("readable")).expect("JSON");
        let steps = history.get("steps").and_then(Value::as_array).expect("steps");
        let steps: Vec<String> = steps.iter().map(text).collect();
        if let Err(why) = play(&steps) {
            let shows = text(history.get("shows").expect("what it shows"));
            faults.push(format!("{} ({shows}): {why}", path.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
