//! What must hold of a home whatever was stopped or failed in it.

use std::collections::{BTreeMap, BTreeSet};

use warpline_core::clock::Instant;
use warpline_core::json::{JsString, Value, parse};

use crate::place::{Place, is_leftover, is_lock};

/// Names of files with the documents they hold, ids and instants taken out.
pub type Told = BTreeMap<String, BTreeSet<String>>;

/// Every document of the home is whole. A log may end inside of a line; where a process was stopped
/// while it wrote, the next line begins on its own and the `torn` one stays, for readers to skip.
pub fn whole(place: &Place, torn: usize) -> Result<(), String> {
    for (name, bytes) in place.files() {
        if is_leftover(&name) || is_lock(&name) || name.starts_with("node_modules/") {
            continue;
        }
        let text = String::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8 text"))?;
        let is_grant = name == ".session-approval";
        if is_grant || (name.ends_with(".json") && !name.starts_with("plugins/")) {
            parse(&text).map_err(|error| format!("{name}: {error:?}"))?;
        } else if name.ends_with(".jsonl") {
            let ended = text.rfind('\n').map_or("", |end| &text[..end]);
            let lines = ended.lines().filter(|line| !line.is_empty());
            let unreadable: Vec<&str> = lines.filter(|line| parse(line).is_err()).collect();
            // No reader skips a line of the journal: it could hide an effect.
            let allowed = if name == "state/in-flight.jsonl" { 0 } else { torn };
            if unreadable.len() > allowed {
                return Err(format!("{name} holds {}", unreadable.join("\n")));
            }
        }
    }
    Ok(())
}

/// Files that a broken write left behind.
pub fn leftovers(place: &Place) -> usize {
    place.files().keys().filter(|name| is_leftover(name)).count()
}

/// The home as it is told by its documents, logs as sets of lines: a line may come twice, since the
/// trace of an answer is written before the answer.
pub fn told(place: &Place) -> Told {
    let mut told = Told::new();
    for (name, bytes) in place.files() {
        if is_leftover(&name) || is_lock(&name) {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes).replace(&place.root.display().to_string(), "");
        let documents = told.entry(timeless(&name)).or_default();
        if name.ends_with(".jsonl") {
            let whole = text.lines().filter(|line| parse(line).is_ok());
            documents.extend(whole.map(|line| timeless(&without_durations(line))));
        } else if name.ends_with(".json") || name == ".session-approval" {
            documents.insert(timeless(&without_durations(&text)));
        } else {
            documents.insert(timeless(&text));
        }
    }
    told
}

/// A document with every duration zero; what is none stays as it is.
fn without_durations(text: &str) -> String {
    fn still(value: &mut Value) {
        if let Some(map) = value.as_object_mut() {
            let keys: Vec<JsString> = map.iter().map(|(key, _)| key.clone()).collect();
            for key in keys {
                let duration = matches!(key.as_str(), Some("elapsed_ms" | "duration_ms"));
                let Some(mut inner) = map.get(&key.to_text()).cloned() else { continue };
                if duration {
                    inner = 0.0.into();
                } else {
                    still(&mut inner);
                }
                map.insert(key, inner);
            }
        } else if let Some(list) = value.as_array() {
            let mut list = list.to_vec();
            list.iter_mut().for_each(still);
            *value = list.into();
        }
    }
    match parse(text) {
        Ok(mut value) => {
            still(&mut value);
            value.to_compact()
        }
        Err(_) => text.to_owned(),
    }
}

/// A text whose instants, run ids and other ids are all the same.
fn timeless(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|part: char| !is_part(part)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        told += &named(word);
        let mut characters = behind.chars();
        told.extend(characters.next());
        rest = characters.as_str();
    }
    told
}

fn is_part(part: char) -> bool {
    part.is_ascii_alphanumeric() || matches!(part, ':' | '.' | '-')
}

fn named(word: &str) -> String {
    let bare = word.strip_suffix(".json").or(word.strip_suffix(".log")).unwrap_or(word);
    let suffix = &word[bare.len()..];
    let is_run = bare.len() == 30 && bare.contains("Z-") && bare.as_bytes().get(10) == Some(&b'T');
    let is_id = bare.len() == 36 && bare.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    if is_run || is_id {
        // A scenario's own ids are recognized by what they end in.
        if bare.ends_with("-0a1b2c3d") || bare.contains("-0000-4000-8000-") {
            return word.to_owned();
        }
        return format!("ID{suffix}");
    }
    if word.len() == 24 && Instant::parse(word).is_some() {
        return "AT".to_owned();
    }
    word.to_owned()
}

/// Where two homes differ, in the words of both.
pub fn differences(expected: &Told, found: &Told) -> Vec<String> {
    let mut differences = Vec::new();
    let names: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
    let none = BTreeSet::new();
    for name in names {
        let (expected, found) =
            (expected.get(name).unwrap_or(&none), found.get(name).unwrap_or(&none));
        differences.extend(expected.difference(found).map(|text| format!("- {name}: {text}")));
        differences.extend(found.difference(expected).map(|text| format!("+ {name}: {text}")));
    }
    differences
}

/// How an advance that was broken and the next one may end, beside as an unbroken one.
///
/// A plugin with effects that was called, and whose end no journal tells, is failed, with a notice
/// that names it; so is one of which the broken advance has `reported` that it failed. Every other
/// plugin ends as it would have. No effect has fired twice, but where a dependency failed first and
/// ran later: what depends on it is due again then.
pub fn advanced(unbroken: &Place, place: &Place, reported: &str) -> Result<(), String> {
    let effects = place.effects();
    let with_effects = |plugin: &str| {
        let manifest = place.read(&format!("plugins/{plugin}/manifest.ts")).unwrap_or_default();
        manifest.contains("side_effects")
    };
    let reported_failed = |plugin: &str| {
        reported.lines().any(|line| line.contains(plugin) && line.contains("failed"))
    };
    let behind = |plugin: &str| matches!(plugin, "mailer" | "second");
    let due_again = |plugin: &str| behind(plugin) && reported_failed("reader");
    let twice = effects
        .iter()
        .find(|(plugin, count)| with_effects(plugin) && !due_again(plugin) && **count > 1);
    if let Some((plugin, count)) = twice {
        return Err(format!("{plugin} had its effect {count} times"));
    }
    let runs = |place: &Place| -> BTreeMap<String, String> {
        let runs = place.state(&["plugin_runs"]).unwrap_or_default();
        let runs = runs.as_object().into_iter().flat_map(|runs| runs.iter());
        runs.map(|(plugin, run)| {
            (plugin.to_text(), timeless(&without_durations(&run.to_compact())))
        })
        .collect()
    };
    let events = place.read("state/events.jsonl").unwrap_or_default();
    let (expected, found) = (runs(unbroken), runs(place));
    for (plugin, expected) in &expected {
        let Some(found) = found.get(plugin) else {
            // What depends on a plugin that failed waits for it.
            if behind(plugin) && reported_failed("reader") {
                continue;
            }
            return Err(format!("{plugin} is not on record"));
        };
        if found == expected {
            continue;
        }
        let notice = format!(r#"\"run_unfinished\",\"plugin\":\"{plugin}\""#);
        let unfinished = with_effects(plugin) && events.contains(&notice);
        let failed = found.contains(r#""status":"failed""#);
        if !failed || !(unfinished || reported_failed(plugin)) {
            return Err(format!("{plugin} is {found}, not {expected}"));
        }
    }
    if place.path("state/in-flight.jsonl").exists() {
        return Err("the journal is still there".to_owned());
    }
    Ok(())
}
