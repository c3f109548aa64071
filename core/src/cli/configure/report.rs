//! What `configure` tells of what it wrote. Names alone: values are the operator's.

use std::path::Path;

use crate::json::{JsString, Map, Value};
use crate::schema::config::an;
use crate::schema::manifest::{InputType, Manifest};
use crate::schema::settings;

use super::super::context::{Context, path_text};
use super::super::{paint, text};

/// A configuration that stands.
pub(super) struct Report<'a> {
    pub plugin: &'a JsString,
    pub manifest: &'a Manifest,
    /// What the file holds.
    pub values: &'a Map,
    pub path: &'a Path,
    /// Whether the file was written; else it held the same.
    pub written: bool,
    /// The JSON Schema beside it.
    pub schema: &'a Path,
    /// Whether that was written.
    pub described: bool,
}

impl Report<'_> {
    /// Writes it to standard output.
    pub(super) fn tell<F>(&self, context: &Context<'_, F>, json: bool) {
        let set = |name: &JsString| {
            let value = name.as_str().and_then(|name| context.environment.var(name));
            value.is_some_and(|value| !value.is_empty())
        };
        context.report(json, || self.to_value(&set), || self.to_text(&set));
    }

    /// `{plugin, path, written, schema, missing_inputs: [{name, type}], secrets: [{name, set}]}`.
    fn to_value(&self, set: &dyn Fn(&JsString) -> bool) -> Value {
        let missing = settings::missing(self.manifest, self.values).map(|(name, kind)| {
            Value::from(Map::from_iter([("name", Value::from(name)), ("type", kind.into())]))
        });
        let secrets = self.manifest.secrets.iter().map(|name| {
            Value::from(Map::from_iter([("name", Value::from(name)), ("set", set(name).into())]))
        });
        Value::from(Map::from_iter([
            ("plugin", Value::from(self.plugin)),
            ("path", self.path.display().to_string().into()),
            ("written", self.written.into()),
            ("schema", self.schema.display().to_string().into()),
            ("missing_inputs", missing.collect::<Vec<_>>().into()),
            ("secrets", secrets.collect::<Vec<_>>().into()),
        ]))
    }

    fn to_text(&self, set: &dyn Fn(&JsString) -> bool) -> String {
        let path = path_text(self.path);
        let mut lines = if self.written {
            format!("{} {path}\n", paint::ok("wrote"))
        } else {
            format!("{path} holds that already\n")
        };
        if self.described {
            lines.push_str(&format!("wrote {}, its schema for editors\n", path_text(self.schema)));
        }
        for (name, kind) in settings::missing(self.manifest, self.values) {
            lines.push_str(&missing_line(self.path, self.plugin, name, kind));
            lines.push('\n');
        }
        for name in &self.manifest.secrets {
            let state = if set(name) { paint::ok("set") } else { paint::waits("not set") };
            let name = text::line(name);
            lines.push_str(&format!("`{name}` is a secret: the environment variable is {state}\n"));
        }
        lines
    }
}

/// Says that a plugin cannot run before an input has a value, and what asks for it.
pub(in super::super) fn missing_line(
    file: &Path,
    plugin: &JsString,
    input: &JsString,
    kind: InputType,
) -> String {
    format!(
        "{} {} `{}`, {}, before {} can run: `{}` asks for it",
        path_text(file),
        paint::waits("needs"),
        text::line(input),
        an(kind),
        text::line(plugin),
        text::command("configure", [plugin], "")
    )
}
