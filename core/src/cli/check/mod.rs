//! `check`: what is wrong with plugins, as far as reading tells. No code of a plugin runs for it.

mod code;
mod config;
mod files;
mod finding;
mod manifest;

use std::collections::BTreeSet;

use crate::home::Paths;
use crate::home::plugins::{Candidate, Roster, roster};
use crate::json::{JsString, Map, Value};

use super::authoring::Check;
use super::context::{Context, Refused, path_text};
use super::refusal::hint_line;
use super::{exit, names, paint, text};
use finding::{Finding, Level, Rule};

/// Checks the plugins, reports, and returns the exit code.
pub(super) fn run<F>(context: &Context<'_, F>, options: &Check) -> i32 {
    let roster = match roster(&context.paths.plugins) {
        Ok(roster) => roster,
        Err(error) => return context.fail(&error),
    };
    if let Err(refused) = refuse_unknown(&options.plugins, &roster) {
        context.refuse(&refused);
        return exit::FAILED;
    }
    let report = Report { paths: &context.paths, plugins: check(&context.paths, options, &roster) };
    context.report(options.json, || report.to_value(), || report.to_text());
    if report.count(Level::Error) > 0 { exit::FAILED } else { exit::DONE }
}

fn refuse_unknown(asked: &[JsString], roster: &Roster) -> Result<(), Refused> {
    let known: BTreeSet<&JsString> = roster.names().collect();
    let unknown: Vec<&JsString> = asked.iter().filter(|name| !known.contains(name)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let refused = Refused::new(format!("unknown plugin {}", names::list(unknown.iter().copied())));
    Err(refused.hint_near(unknown, known, "`warpline check` alone checks every plugin"))
}

fn check(paths: &Paths, options: &Check, roster: &Roster) -> Vec<(JsString, Vec<Finding>)> {
    let asked = |name: &JsString| options.plugins.is_empty() || options.plugins.contains(name);
    let known: BTreeSet<JsString> = roster.names().cloned().collect();
    let candidates = roster.candidates.iter().filter(|candidate| asked(&candidate.name));
    let mut checked: Vec<_> = candidates
        .map(|candidate| (candidate.name.clone(), check_plugin(paths, candidate, &known)))
        .collect();
    for (name, reason) in roster.failures.iter().filter(|(name, _)| asked(name)) {
        checked.push((name.clone(), vec![Finding::error(Rule::NotAPlugin, "", reason)]));
    }
    checked.sort_by(|left, right| left.0.cmp(&right.0));
    checked
}

fn check_plugin(paths: &Paths, candidate: &Candidate, known: &BTreeSet<JsString>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let files = files::read(candidate, &mut findings);
    let manifest =
        files.first().and_then(|file| manifest::check(candidate, file, known, &mut findings));
    code::check(candidate, &files, manifest.as_ref(), &mut findings);
    if let Some(manifest) = &manifest {
        config::check(paths, &candidate.name, manifest, &mut findings);
    }
    let order = |file: &str| files.iter().position(|one| one.name == file).unwrap_or(usize::MAX);
    findings.sort_by_key(|finding| (order(&finding.file), finding.line));
    findings
}

struct Report<'a> {
    paths: &'a Paths,
    plugins: Vec<(JsString, Vec<Finding>)>,
}

impl Report<'_> {
    fn count(&self, level: Level) -> usize {
        let findings = self.plugins.iter().flat_map(|(_, findings)| findings);
        findings.filter(|finding| finding.level == level).count()
    }

    /// `{home, plugins_dir, plugins: [{plugin, findings}], errors, warnings}`.
    fn to_value(&self) -> Value {
        let plugins = self.plugins.iter().map(|(plugin, findings)| {
            let findings: Vec<Value> = findings.iter().map(Finding::to_value).collect();
            Value::from(Map::from_iter([
                ("plugin", Value::from(plugin)),
                ("findings", findings.into()),
            ]))
        });
        let count =
            |level| Value::Number(u32::try_from(self.count(level)).unwrap_or(u32::MAX).into());
        Value::from(Map::from_iter([
            ("home", Value::from(self.paths.home.display().to_string())),
            ("plugins_dir", self.paths.plugins.display().to_string().into()),
            ("plugins", plugins.collect::<Vec<_>>().into()),
            ("errors", count(Level::Error)),
            ("warnings", count(Level::Warning)),
        ]))
    }

    fn to_text(&self) -> String {
        let mut lines = String::new();
        for (plugin, findings) in &self.plugins {
            for finding in findings {
                lines.push_str(&line(plugin, finding));
            }
        }
        let plugins = text::count(self.plugins.len(), "plugin");
        let (errors, warnings) = (self.count(Level::Error), self.count(Level::Warning));
        let place = path_text(&self.paths.plugins);
        if errors + warnings == 0 {
            return format!("{} in {plugins} of {place}\n", paint::ok("nothing found"));
        }
        let none_faint = |count: usize, text: String, paint: fn(String) -> String| {
            if count == 0 { paint::faint(text) } else { paint(text) }
        };
        let errors = none_faint(errors, text::count(errors, "error"), paint::failed);
        let warnings = none_faint(warnings, text::count(warnings, "warning"), paint::waits);
        lines + &format!("{errors}, {warnings} in {plugins} of {place}\n")
    }
}

fn line(plugin: &JsString, finding: &Finding) -> String {
    let file = match finding.file.as_str() {
        "" => text::line(plugin),
        config if finding.rule == Rule::Config => text::line_str(config),
        file => format!("{}/{}", text::line(plugin), text::line_str(file)),
    };
    let at = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
    let message = text::line_str(&finding.message);
    let hint = finding.hint.as_ref();
    let hint = hint.map(|hint| format!("  {}\n", hint_line(&text::line_str(hint))));
    let level = match finding.level {
        Level::Error => paint::failed(Level::Error),
        Level::Warning => paint::waits(Level::Warning),
    };
    format!("{file}{at}: {level}: {message}\n{}", hint.unwrap_or_default())
}
