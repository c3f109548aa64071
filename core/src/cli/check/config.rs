//! A plugin's configuration, held against its inputs.

use crate::home::{Paths, config};
use crate::json::{JsString, Map};
use crate::schema::config::{ConfigFault, ConfigProblem, ProblemKind, resolve};
use crate::schema::manifest::{AutonomyLevel, Manifest, Schedule};

use super::super::text;
use super::finding::{Finding, Level, Rule};

/// Checks the file that the next run would read.
pub(super) fn check(
    paths: &Paths,
    plugin: &JsString,
    manifest: &Manifest,
    findings: &mut Vec<Finding>,
) {
    let name = format!("config/{plugin}.json");
    let (path, file) = match (config::path(paths, plugin), config::read(paths, plugin)) {
        (Ok(path), Ok(file)) => (path, file),
        (Err(error), _) | (_, Err(error)) => {
            findings.push(Finding::error(Rule::Config, &name, error.to_string()));
            return;
        }
    };
    // Whether secrets are set is a matter of the environment that runs the plugin.
    let set = |_: &JsString| Some(JsString::from("set"));
    let Err(ConfigFault::Problems(problems)) =
        resolve(manifest, file.as_deref(), &Map::new(), &set)
    else {
        return;
    };
    for problem in problems {
        let kind = problem.kind();
        let line = match &problem {
            ConfigProblem::FileNotJson(error) => Some(error.line),
            _ => None,
        };
        let message = ConfigFault::Problems(vec![problem]).message(&path);
        let finding = Finding::error(Rule::Config, &name, message);
        let hint = match kind {
            ProblemKind::Missing | ProblemKind::WrongType => {
                Some(format!("`{}` asks for it", text::command("configure", [plugin], "")))
            }
            _ => None,
        };
        // Whoever runs it by hand can still give the input.
        let by_hand = manifest.schedule == Schedule::Manual
            || manifest.autonomy_level == AutonomyLevel::Manual;
        let level = match kind {
            ProblemKind::Missing if by_hand => Level::Warning,
            _ => Level::Error,
        };
        findings.push(Finding { line, hint, level, ..finding });
    }
}
