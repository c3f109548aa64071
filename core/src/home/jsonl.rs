//! The logs of a day, `YYYY-MM-DD.jsonl` below `logs/runs`: what all its runs did, an event a line.

use std::path::PathBuf;

use crate::clock::Instant;
use crate::decide::retention;
use crate::error::Result;
use crate::json::{JsString, Map, Value};
use crate::schema::closed_set;

use super::{Paths, files, runs};

/// The segment below the logs directory. The files of `runs/` in the home are other documents.
const DIRECTORY: &str = "runs";

closed_set! {
    /// How much a line matters.
    Level {
        /// For the record.
        Info = "info",
        /// A run did not complete cleanly.
        Warn = "warn",
        /// A plugin failed.
        Error = "error",
    }
}

closed_set! {
    /// What a line tells of.
    LineEvent {
        /// An advance began.
        RunStart = "run_start",
        /// A plugin came to its end.
        PluginResult = "plugin_result",
        /// An advance came to its end.
        RunEnd = "run_end",
    }
}

/// One line, without the instant it is appended at.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The advance; shared by all its lines.
    pub run_id: JsString,
    /// How much it matters.
    pub level: Level,
    /// What it tells of.
    pub event: LineEvent,
    /// The plugin of a `plugin_result`.
    pub plugin: Option<JsString>,
    /// The plugin's outcome, or the run's.
    pub status: Option<&'static str>,
    /// Milliseconds, an integer.
    pub elapsed_ms: Option<f64>,
    /// The plugin's result summary, or the run's.
    pub detail: Option<JsString>,
}

impl Line {
    fn to_text(&self, now: Instant) -> String {
        let mut line = Map::new();
        line.insert("ts", now.to_iso());
        line.insert("run_id", &self.run_id);
        line.insert("level", self.level);
        line.insert("event", self.event);
        line.insert_some("plugin", self.plugin.as_ref());
        line.insert_some("status", self.status);
        line.insert_some("elapsed_ms", self.elapsed_ms);
        line.insert_some("detail", self.detail.as_ref());
        Value::from(line).to_compact()
    }
}

/// Appends lines to the file of the UTC day of `now`, in one write.
///
/// # Errors
///
/// [`Error::File`](crate::error::Error::File); the file is as it was.
pub fn append(paths: &Paths, lines: &[Line], now: Instant) -> Result<()> {
    let text: String = lines.iter().map(|line| line.to_text(now) + "\n").collect();
    files::append(&paths.home, &directory(paths).join(format!("{}.jsonl", day_of(now))), &text)
}

/// Where the daily files lie.
pub(super) fn directory(paths: &Paths) -> PathBuf {
    paths.logs_dir.join(DIRECTORY)
}

/// The UTC day of an instant, as a file is named for it.
pub(super) fn day_of(now: Instant) -> String {
    now.to_iso().split('T').next().unwrap_or_default().to_owned()
}

/// Deletes daily files that were last written more than 30 days ago; the number that is gone.
///
/// What cannot be listed or deleted stays and does not count.
pub fn prune(paths: &Paths, now: Instant) -> usize {
    let directory = directory(paths);
    let expired = retention::prune(runs::names_with_times(&directory), ".jsonl", now);
    runs::delete_all(paths, &directory, &expired)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::runs::tests::{at, home, set_time};

    fn line(event: LineEvent) -> Line {
        let (level, run_id) = (Level::Info, "r1".into());
        Line { run_id, level, event, plugin: None, status: None, elapsed_ms: None, detail: None }
    }

    /// Cases: T469.
    #[test]
    fn lines_have_the_documented_keys_in_order_and_go_to_the_file_of_the_day() {
        let (_root, paths) = home();
        let now = at("2026-08-20T23:59:59.999Z");
        append(&paths, &[line(LineEvent::RunStart)], now).expect("append");
        let full = Line {
            level: Level::Error,
            plugin: Some("p".into()),
            status: Some("failed"),
            elapsed_ms: Some(12.0),
            detail: Some(JsString::from_utf16(&[0xd83d])),
            ..line(LineEvent::PluginResult)
        };
        append(&paths, &[full, line(LineEvent::RunEnd)], now).expect("append");
        let text = std::fs::read_to_string(paths.logs_dir.join("runs/2026-08-20.jsonl"));
        let ts = "2026-08-20T23:59:59.999Z";
        let expected = [
            format!(r#"{{"ts":"{ts}","run_id":"r1","level":"info","event":"run_start"}}"#),
            format!(
                r#"{{"ts":"{ts}","run_id":"r1","level":"error","event":"plugin_result","plugin":"p","status":"failed","elapsed_ms":12,"detail":"\ud83d"}}"#
            ),
            format!(r#"{{"ts":"{ts}","run_id":"r1","level":"info","event":"run_end"}}"#),
        ];
        assert_eq!(text.expect("file"), expected.join("\n") + "\n");
    }

    #[test]
    fn old_day_files_go_by_their_time_and_nothing_else_goes() {
        let (_root, paths) = home();
        let directory = paths.logs_dir.join("runs");
        assert_eq!(prune(&paths, at("2026-08-20")), 0, "nothing there yet");
        std::fs::create_dir_all(&directory).expect("directory");
        let files = [
            ("2020-01-01.jsonl", "2026-08-19"),
            ("2026-08-20.jsonl", "2026-07-20"),
            ("old.json", "2026-07-20"),
        ];
        for (name, time) in files {
            std::fs::write(directory.join(name), "").expect("file");
            set_time(&directory.join(name), at(time));
        }
        assert_eq!(prune(&paths, at("2026-08-20")), 1);
        assert!(!directory.join("2026-08-20.jsonl").exists());
        assert!(directory.join("2020-01-01.jsonl").exists() && directory.join("old.json").exists());
    }
}
