//! What a manifest's text tells: its form, its fields, and its place among the other plugins.

use std::collections::BTreeSet;

use crate::home::plugins::{Candidate, Language};
use crate::json::{JsString, Map, Value};
use crate::schema::manifest::Manifest;
use crate::source::ManifestText;

use super::super::text;
use super::files::File;
use super::finding::{self, Finding, Rule};

/// Checks the file of a manifest; gives the manifest where it could be read and fits the schema.
pub(super) fn check(
    candidate: &Candidate,
    file: &File,
    known: &BTreeSet<JsString>,
    findings: &mut Vec<Finding>,
) -> Option<Manifest> {
    code(candidate.language, file, findings);
    let name = file.name.as_str();
    let Some(text) = &file.module.manifest else {
        if !finding::is_unread(name, findings) {
            let message = "no `manifest` is exported";
            findings.push(Finding::error(Rule::ManifestMissing, name, message));
        }
        return None;
    };
    let Some(value) = &text.value else {
        let message = "the manifest is not one literal, so only running it tells what it declares";
        let finding = Finding::warning(Rule::ManifestComputed, name, message).at(text.line);
        findings.push(
            finding.hint("write every value out; the rules about declarations are not checked"),
        );
        return None;
    };
    unknown_keys(value, text, name, findings);
    let manifest = match Manifest::parse(value) {
        Ok(manifest) => manifest,
        Err(issues) => {
            findings.extend(issues.iter().map(|issue| {
                let line = text.line_of(&issue.path_text());
                Finding::error(Rule::ManifestInvalid, name, issue.to_string()).at(line)
            }));
            return None;
        }
    };
    if manifest.name != candidate.name {
        let message = format!("`name` is not `{}`, the name of the directory", candidate.name);
        let finding = Finding::warning(Rule::NameMismatch, name, message);
        findings.push(
            finding.at(text.line_of("name")).hint("the directory's name is the one that counts"),
        );
    }
    if manifest.inputs.contains_key(&JsString::from("action")) {
        let message = "the input `action` always holds the action of `warpline run`";
        let finding = Finding::warning(Rule::InputName, name, message);
        findings.push(finding.at(text.line_of("inputs.action")).hint("choose another name"));
    }
    for dependency in manifest.dependencies.iter().filter(|name| !known.contains(*name)) {
        let message = format!("the dependency `{dependency}` is not installed");
        let finding = Finding::warning(Rule::DependencyMissing, name, message);
        let finding = finding.at(text.line_of("dependencies"));
        let names: Vec<String> = known.iter().map(JsString::to_text).collect();
        let near = text::nearest(&dependency.to_text(), names.iter().map(String::as_str));
        findings.push(match near {
            Some(near) => finding.hint(format!("did you mean `{near}`?")),
            None => finding,
        });
    }
    Some(manifest)
}

/// What stands in the file beside the manifest runs while `plan` only looks.
fn code(language: Language, file: &File, findings: &mut Vec<Finding>) {
    let name = file.name.as_str();
    let rule = Rule::ManifestCode;
    for statement in &file.module.statements {
        let finding = if statement.acts {
            Finding::error(rule, name, "this runs while `plan` only looks, before any approval")
                .hint("move it into the handler")
        } else {
            Finding::warning(rule, name, "the file of a manifest holds more than the manifest")
                .hint("write the values into the manifest, and move the rest")
        };
        findings.push(finding.at(statement.line));
    }
    let package = |module: &str| match language {
        Language::TypeScript => module.starts_with("warpline/"),
        Language::Python => {
            let first = module.split('.').next().unwrap_or(module);
            matches!(first, "warpline" | "__future__" | "typing")
        }
    };
    for import in file.module.imports.iter().filter(|import| !import.types) {
        if !package(&import.module) {
            let message = format!("importing `{}` runs it while `plan` only looks", import.module);
            findings.push(Finding::warning(rule, name, message).at(import.line));
        }
    }
}

fn unknown_keys(value: &Value, text: &ManifestText, file: &str, findings: &mut Vec<Finding>) {
    let mut told = |map: &Map, around: &str, known: &[&str]| {
        for key in map.keys().filter(|key| !known.iter().any(|known| **key == **known)) {
            let path = if around.is_empty() { key.to_text() } else { format!("{around}.{key}") };
            let message = format!("nothing reads the key `{path}`");
            let finding = Finding::warning(Rule::UnknownKey, file, message).at(text.line_of(&path));
            findings.push(match text::nearest(&key.to_text(), known.iter().copied()) {
                Some(near) => finding.hint(format!("did you mean `{near}`?")),
                None => finding,
            });
        }
    };
    let Some(map) = value.as_object() else { return };
    told(map, "", &Manifest::KEYS);
    for (field, known) in [
        ("inputs", ["type", "required", "default", "description"].as_slice()),
        ("outputs", ["type", "description", "temporality"].as_slice()),
        ("actions", ["description", "is_default"].as_slice()),
    ] {
        for (name, entry) in
            map.get(field).and_then(Value::as_object).into_iter().flat_map(Map::iter)
        {
            if let Some(entry) = entry.as_object() {
                told(entry, &format!("{field}.{name}"), known);
            }
        }
    }
}
