//! Runs as JSON and as text.

use crate::cli::{paint, text};
use crate::clock::Instant;
use crate::json::{JsString, Map, Value, number_text};
use crate::schema::run_artifact::Attempt;
use crate::schema::run_log::EntryStatus;

use super::model::{Entry, Kind, Run, Unreadable};

/// `{runs}`.
pub(super) fn to_value(runs: &[Run]) -> Value {
    Map::from_iter([("runs", runs.iter().map(Run::to_value).collect::<Vec<_>>())]).into()
}

/// The list of runs, a line for each.
pub(super) fn list(runs: &[Run], plugin: Option<&JsString>, now: Instant) -> String {
    let of = plugin.map(|plugin| format!(" of {}", text::line(plugin))).unwrap_or_default();
    if runs.is_empty() {
        return format!("No runs{of}.\n");
    }
    let lines = runs.iter().map(|run| match plugin {
        None => run.line(now),
        Some(_) => run.entry_line(now),
    });
    let heading = paint::strong(format!("Runs{of} ({}):", runs.len()));
    lines.fold(heading + "\n", |all, line| all + &line)
}

impl Run {
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("run_id", &self.run_id);
        map.insert("kind", self.kind);
        map.insert("status", &self.status);
        map.insert("started_at", self.started_at.as_ref());
        map.insert("completed_at", self.completed_at.as_ref());
        map.insert("resumed_from", self.resumed_from.as_ref());
        map.insert("summary", &self.summary);
        map.insert("entries", self.entries.iter().map(Entry::to_value).collect::<Vec<_>>());
        map.insert("attempts", self.attempts.iter().map(Attempt::to_value).collect::<Vec<_>>());
        map.into()
    }

    fn age(&self, now: Instant) -> String {
        let age = self.started_at.as_ref().and_then(|at| text::ago(at, now));
        paint::faint(age.unwrap_or_else(|| "at an unknown time".to_owned()))
    }

    fn by_hand(&self) -> &'static str {
        match self.kind {
            Kind::Advance => "",
            Kind::Run => ", by hand",
        }
    }

    fn line(&self, now: Instant) -> String {
        let (id, status, age) = (text::line(&self.run_id), outcome(&self.status), self.age(now));
        let told = match (self.kind, self.entries.as_slice()) {
            (Kind::Run, [entry]) => {
                let (plugin, summary) = (text::line(&entry.plugin), text::line(&entry.summary));
                let told = if summary.starts_with(&format!("{plugin}: ")) {
                    summary
                } else {
                    format!("{plugin}: {summary}")
                };
                told.trim_end_matches(": ").to_owned()
            }
            (_, entries) => counts(entries),
        };
        format!("  {id} — {status}{}, {age} — {told}\n", self.by_hand())
    }

    /// The line of a list that is about one plugin.
    fn entry_line(&self, now: Instant) -> String {
        let Some(entry) = self.entries.first() else { return String::new() };
        let (id, age) = (text::line(&self.run_id), self.age(now));
        let (status, hand) = (outcome(&entry.status), self.by_hand());
        format!("  {id} — {status}{hand}, {age}{}\n", entry.told())
    }

    /// Everything about the run.
    pub(super) fn to_text(&self, now: Instant) -> String {
        let kind = match self.kind {
            Kind::Advance => "an advance",
            Kind::Run => "by hand",
        };
        let mut lines = vec![
            format!("Run {}: {}", text::line(&self.run_id), outcome(&self.status)),
            format!("  {kind}, {}", self.times(now)),
        ];
        if let Some(earlier) = &self.resumed_from {
            lines.push(format!("  went on behind {}, which was interrupted", text::line(earlier)));
        }
        if self.status == *"unfinished" {
            lines.push("  it has no end: its process was killed or could not record it".to_owned());
        }
        if self.kind == Kind::Run && self.status == *"running" {
            lines.push("  it has not ended, or was killed".to_owned());
        }
        for entry in &self.entries {
            let (status, plugin) = (text::line(&entry.status), text::line(&entry.plugin));
            let status = paint::outcome(&status, format!("{status:<9}"));
            lines.push(format!("  {status}  {plugin}{}", entry.told()));
        }
        for attempt in self.attempts.iter().filter(|_| self.attempts.len() > 1) {
            let error = attempt.error.as_ref().map(|error| format!(" — {}", text::line(error)));
            lines.push(format!(
                "    attempt {}: {} ({} ms){}",
                attempt.attempt,
                paint::outcome(&attempt.status.to_text(), text::line(&attempt.status)),
                number_text(attempt.elapsed_ms),
                error.unwrap_or_default()
            ));
        }
        lines.join("\n") + "\n"
    }

    fn times(&self, now: Instant) -> String {
        let clock = |at: &Option<JsString>| at.as_ref().map(text::at_second);
        let started = match clock(&self.started_at) {
            Some(at) => format!("started at {at}, {}", self.age(now)),
            None => "started at an unknown time".to_owned(),
        };
        match clock(&self.completed_at) {
            Some(at) => format!("{started}; ended at {at}"),
            None => started,
        }
    }
}

impl Entry {
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("plugin", &self.plugin);
        map.insert("status", &self.status);
        map.insert("started_at", self.started_at.as_ref());
        map.insert("elapsed_ms", self.elapsed_ms);
        map.insert("summary", &self.summary);
        map.insert("retried", self.retried);
        map.into()
    }

    /// Summary and time taken, each where there is one.
    fn told(&self) -> String {
        let summary = text::line(&self.summary);
        let summary = summary.strip_prefix("skipped: ").unwrap_or(&summary);
        let mut told = if summary.is_empty() { String::new() } else { format!(" — {summary}") };
        let ran = ![EntryStatus::Skipped, EntryStatus::Denied]
            .iter()
            .any(|status| self.status == *status.as_str());
        if let Some(elapsed) = self.elapsed_ms.filter(|_| ran) {
            told.push_str(&paint::faint(format!(" ({} ms)", number_text(elapsed))));
        }
        if self.retried {
            told.push_str(", tried more than once");
        }
        told
    }
}

/// A status in its colour.
pub(super) fn outcome(status: &JsString) -> String {
    let shown = text::line(status);
    paint::outcome(&shown, &shown)
}

/// How many plugins ended how, in the order of the statuses.
fn counts(entries: &[Entry]) -> String {
    let counted = EntryStatus::ALL.iter().filter_map(|status| {
        let count = entries.iter().filter(|entry| entry.status == *status.as_str()).count();
        (count > 0).then(|| paint::outcome(status.as_str(), format!("{count} {status}")))
    });
    let counted: Vec<String> = counted.collect();
    if counted.is_empty() { "no plugin".to_owned() } else { counted.join(", ") }
}

impl Unreadable {
    /// The note for standard error, where something could not be read.
    pub(super) fn note(self) -> Option<String> {
        let parts: Vec<String> = [(self.documents, "run document"), (self.lines, "log line")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, noun)| text::count(count, noun))
            .collect();
        let are = if self.documents + self.lines == 1 { "is" } else { "are" };
        let parts = (!parts.is_empty()).then(|| parts.join(" and "))?;
        Some(format!("note: {parts} cannot be read and {are} left out"))
    }
}
