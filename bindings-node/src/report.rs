//! What loading the manifests of a root came to, for JavaScript.

use warpline_core::engine::LoadReport;
use warpline_core::json::{Map, Value};

use crate::text::object;

/// `{manifests, failures, warnings, root_error?}`.
pub(crate) fn report_value(report: LoadReport) -> Value {
    let manifests: Vec<Value> = report
        .roster
        .plugins
        .iter()
        .map(|(name, plugin)| Value::from(vec![name.into(), plugin.manifest.to_value()]))
        .collect();
    let failures: Vec<Value> = report
        .roster
        .failures
        .iter()
        .map(|(plugin, text)| object([("plugin", plugin.into()), ("error", text.as_str().into())]))
        .collect();
    let mut loaded = Map::new();
    loaded.insert("manifests", manifests);
    loaded.insert("failures", failures);
    let warnings: Vec<&str> = report.roster.warnings.iter().map(String::as_str).collect();
    loaded.insert("warnings", warnings);
    if let Some((path, code)) = report.root_error {
        let path = path.to_string_lossy().into_owned();
        loaded.insert("root_error", object([("path", path.into()), ("code", code.into())]));
    }
    loaded.into()
}
