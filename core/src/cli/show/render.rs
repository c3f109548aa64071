//! Outputs as JSON and as text.

use crate::cli::{paint, text};
use crate::clock::Instant;
use crate::home::Paths;
use crate::home::pointers::{self, RunReference};
use crate::json::{JsString, Map, Value};
use crate::schema::output::{OutputContent, OutputRecord};

use super::Shown;

impl Shown {
    /// `{plugin, run_id, outputs, versions}`.
    pub(super) fn to_value(&self, paths: &Paths) -> Value {
        let list = |outputs: &[OutputRecord]| {
            outputs.iter().map(|output| output_value(paths, output)).collect::<Vec<_>>()
        };
        let mut map = Map::new();
        map.insert("plugin", &self.plugin);
        map.insert("run_id", self.run_id.as_ref());
        map.insert("outputs", list(&self.outputs));
        map.insert("versions", list(&self.versions));
        map.into()
    }

    /// Each Output with a heading, the kept versions behind them.
    pub(super) fn to_text(&self, paths: &Paths, now: Instant) -> String {
        let plugin = text::line(&self.plugin);
        let mut out = match (self.outputs.as_slice(), &self.run_id) {
            ([], None) if self.versions.is_empty() => {
                format!("{plugin} has produced no Output yet.\n")
            }
            ([], None) => format!("No last Output of {plugin} is on record.\n"),
            ([], Some(run_id)) => {
                format!("{plugin} produced no Output in run {}.\n", text::line(run_id))
            }
            (outputs, _) => {
                let texts: Vec<String> =
                    outputs.iter().map(|output| output_text(paths, output, now)).collect();
                texts.join("\n")
            }
        };
        if !self.versions.is_empty() {
            let heading = format!("Kept versions ({}), newest first:", self.versions.len());
            out.push_str(&format!("\n{}\n", paint::strong(heading)));
            for version in &self.versions {
                out.push_str(&version_line(paths, version, now));
            }
            out.push_str("`--run RUN` shows one of them.\n");
        }
        out
    }
}

/// `{type, format, produced_at, run_id, run, body, path, path_exists}`.
fn output_value(paths: &Paths, output: &OutputRecord) -> Value {
    let (body, path) = match &output.content {
        OutputContent::Body(body) => (Some(body), None),
        OutputContent::Path(path) => (None, Some(path)),
    };
    let mut map = Map::new();
    map.insert("type", &output.kind);
    map.insert("format", output.format);
    map.insert("produced_at", output.produced_at.as_ref());
    map.insert("run_id", output.run_id.as_ref());
    map.insert("run", pointers::run_reference(paths, output.run_id.as_ref()));
    map.insert("body", body);
    map.insert("path", path);
    map.insert("path_exists", path.map(|path| pointers::output_exists(paths, path)));
    map.into()
}

fn output_text(paths: &Paths, output: &OutputRecord, now: Instant) -> String {
    let (kind, age) = (paint::strong(text::line(&output.kind)), age(output, now));
    let mut out = format!("{kind} ({}), {age}, {}\n", output.format, run_text(paths, output));
    match &output.content {
        OutputContent::Path(path) => out.push_str(&format!("{}\n", path_text(paths, path))),
        OutputContent::Body(body) => {
            out.push('\n');
            out.push_str(&text::block(body));
            if !out.ends_with('\n') {
                out.push('\n');
            }
        }
    }
    out
}

fn version_line(paths: &Paths, output: &OutputRecord, now: Instant) -> String {
    let run = output.run_id.as_ref().map_or_else(|| "no run is named".to_owned(), text::line);
    let content = match &output.content {
        OutputContent::Body(body) => format!("{} bytes", body.utf8_len()),
        OutputContent::Path(path) => path_text(paths, path),
    };
    format!("  {run} — {}, {}, {content}\n", text::line(&output.kind), age(output, now))
}

fn age(output: &OutputRecord, now: Instant) -> String {
    let age = output.produced_at.as_ref().map(|at| text::at_ago(at, now));
    age.unwrap_or_else(|| "of unknown age".to_owned())
}

fn run_text(paths: &Paths, output: &OutputRecord) -> String {
    let id = output.run_id.as_ref().map(text::line).unwrap_or_default();
    match pointers::run_reference(paths, output.run_id.as_ref()) {
        RunReference::Retained => format!("of run {id}"),
        RunReference::NotRetained => {
            format!("of run {id}, {}", paint::faint("which is no longer retained"))
        }
        RunReference::None => "of no named run".to_owned(),
    }
}

fn path_text(paths: &Paths, path: &JsString) -> String {
    let shown = text::line(path);
    if pointers::output_exists(paths, path) {
        return format!("file: {shown}");
    }
    format!("file: {shown} — {}", paint::failed("nothing is there any more"))
}
