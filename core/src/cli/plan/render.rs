//! A plan as text for a reader.

use std::fmt::Write;

use crate::cli::refusal::hint_line;
use crate::cli::{names, paint, text};
use crate::clock::Instant;
use crate::decide::dueness::ReasonCode;
use crate::decide::gate::Prospect;
use crate::schema::grant::{Grant, Scopes};

use super::model::{GrantLine, Held, Plan, Planned};

/// A grant with less time left is marked.
const SOON_MS: i64 = 15 * 60_000;

impl Plan {
    /// The report, ending in a newline. The same plan always gives the same bytes.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        self.write_head(out);
        if let Some((path, code)) = &self.root_error {
            self.write_root_error(out, &path.display().to_string(), code);
            return;
        }
        let planned = self.due.len() + self.not_due.len();
        if planned == 0 && self.failures.is_empty() {
            self.write_root_error(out, &self.plugins_dir.display().to_string(), "");
            return;
        }
        self.write_parked(out);
        self.write_failures(out, planned);
        if planned > 0 {
            self.write_due(out);
            self.write_not_due(out);
        }
        self.write_warnings(out);
    }

    fn write_head(&self, out: &mut String) {
        push(out, format_args!("Home: {}", text::line_str(&self.home.display().to_string())));
        if let Some(profile) = self.profile {
            push(out, format_args!("Profile: {profile}"));
        }
        push(out, format_args!("Tier: {}", self.tier));
        push(out, format_args!("{}", grant_line(&self.grant, self.now)));
    }

    fn write_root_error(&self, out: &mut String, path: &str, code: &str) {
        let path = text::line_str(path);
        push(out, format_args!(""));
        match code {
            _ if path.is_empty() => {
                push(out, format_args!("The plugin root was given as empty text."));
            }
            "" | "ENOENT" => {
                let state = if code.is_empty() { "holds no plugin" } else { "does not exist" };
                push(out, format_args!("There is no plugin here yet."));
                push(out, format_args!("  {path} {state}"));
                let hint =
                    "`warpline init` installs a first one, `warpline scaffold NAME` writes one";
                push(out, format_args!("{}", hint_line(hint)));
            }
            _ => push(out, format_args!("The plugin root cannot be read: {path}: {code}")),
        }
    }

    fn write_failures(&self, out: &mut String, planned: usize) {
        if self.failures.is_empty() {
            return;
        }
        let heading = paint::failed(format!("Load failures ({}):", self.failures.len()));
        push(out, format_args!("\n{heading}"));
        for (plugin, error) in &self.failures {
            push(out, format_args!("  {}: {}", text::line(plugin), text::line_str(error)));
        }
        let count = match self.failures.len() {
            1 => "1 plugin directory".to_owned(),
            count => format!("{count} plugin directories"),
        };
        if planned == 0 {
            push(
                out,
                format_args!("No plan could be computed: {count} failed, and there is no other."),
            );
        } else {
            let incomplete = format!("⚠ What follows is incomplete: {count} cannot be considered.");
            push(out, format_args!("{}", paint::waits(incomplete)));
        }
    }

    fn write_parked(&self, out: &mut String) {
        if self.parked.is_empty() {
            return;
        }
        let heading = paint::waits(format!("Waiting for an answer ({}):", self.parked.len()));
        push(out, format_args!("\n{heading}"));
        for waiting in &self.parked {
            let (plugin, run_id) = (text::line(&waiting.plugin), text::line(&waiting.run_id));
            let age = waiting.completed_at.as_ref().and_then(|then| text::ago(then, self.now));
            let age = age.map(|age| format!(", {}", paint::faint(age))).unwrap_or_default();
            let summary = text::line(&waiting.summary);
            push(out, format_args!("  {plugin} — {summary} (run {run_id}{age})"));
            let effects = match &waiting.side_effects {
                None => "unknown, it does not load".to_owned(),
                Some(effects) => text::effects(effects),
            };
            push(out, format_args!("    declared side effects: {effects}"));
            if let Some((denied_at, reason)) = &waiting.denied {
                let (denied_at, reason) = (text::at_ago(denied_at, self.now), text::line(reason));
                push(out, format_args!("    a denial is on record: {denied_at}, {reason}"));
            }
            let (plugin, run_id) = ([&waiting.plugin], text::word(&waiting.run_id));
            if let Some(prospect) = &waiting.prospect {
                push(out, format_args!("    {}", prospect_text(prospect, self.now)));
            }
            if waiting.prospect.as_ref().is_none_or(can_be_accepted) {
                push(
                    out,
                    format_args!(
                        "    yes: {}",
                        text::command("approve", plugin, &format!("--run {run_id}"))
                    ),
                );
            }
            push(out, format_args!("    no:  {}", text::command("deny", plugin, "")));
        }
    }

    fn write_due(&self, out: &mut String) {
        if self.due.is_empty() {
            push(out, format_args!("\nNothing is due: every plugin is held back by a guard."));
            return;
        }
        push(out, format_args!("\n{}", paint::strong(format!("Due ({}):", self.due.len()))));
        for planned in &self.due {
            push(out, format_args!("  {} (level {})", text::line(&planned.plugin), planned.level));
            self.write_effects(out, planned);
        }
    }

    fn write_not_due(&self, out: &mut String) {
        if self.not_due.is_empty() {
            push(out, format_args!("\nNot due: none, no guard holds a plugin back."));
            return;
        }
        let heading = paint::strong(format!("Not due ({}):", self.not_due.len()));
        push(out, format_args!("\n{heading}"));
        for (planned, held) in &self.not_due {
            let line = format!("{} — {}", text::line(&planned.plugin), held_text(held, self.now));
            push(out, format_args!("  {line}"));
            if held.reason == ReasonCode::Unapproved {
                self.write_effects(out, planned);
            }
        }
    }

    fn write_effects(&self, out: &mut String, planned: &Planned) {
        if planned.side_effects.is_empty() {
            push(out, format_args!("    (no declared side effects)"));
        }
        let left = match &self.grant {
            GrantLine::Live(grant) => time_left(grant, self.now).unwrap_or_default(),
            GrantLine::None | GrantLine::Expired(_) => 0,
        };
        for (effect, approved) in &planned.side_effects {
            let state = match approved {
                true => format!("{}, {} remaining", paint::ok("✓ approved"), text::span(left)),
                false => format!("{} — an advance leaves it out", paint::waits("⚠ not granted")),
            };
            push(out, format_args!("    {effect}: {state}"));
        }
    }

    fn write_warnings(&self, out: &mut String) {
        if self.warnings.is_empty() {
            return;
        }
        let heading = paint::waits(format!("Warnings ({}):", self.warnings.len()));
        push(out, format_args!("\n{heading}"));
        for warning in &self.warnings {
            push(out, format_args!("  {}", text::line_str(warning)));
        }
    }
}

/// The guard's sentence; for a fresh plugin with the age of the run that keeps it so.
pub(super) fn held_text(held: &Held, now: Instant) -> String {
    if held.reason != ReasonCode::Fresh {
        return text::line_str(&held.detail);
    }
    let mut line = text::line_str(held.detail.strip_prefix("fresh — ").unwrap_or(&held.detail));
    if let Some(age) = held.last_run_at.as_ref().and_then(|then| text::ago(then, now)) {
        let failed = if held.last_run_failed { " and failed; `--force` runs it now" } else { "" };
        line.push_str(&format!(" — {}{failed}", paint::faint(format!("last run {age}"))));
    }
    line
}

/// Whether a yes would be accepted.
pub(in crate::cli) fn can_be_accepted(prospect: &Prospect) -> bool {
    matches!(prospect, Prospect::AcceptedUntil(_))
}

/// Until when a parked result can be accepted, or why it cannot be any more.
pub(in crate::cli) fn prospect_text(prospect: &Prospect, now: Instant) -> String {
    match prospect {
        Prospect::AcceptedUntil(last) => {
            let left = text::span(last.since(now));
            format!("can be accepted until {}, {left} remaining", last.to_local())
        }
        Prospect::ExpiredAt(last) => {
            format!("cannot be accepted any more: it expired at {}", last.to_local())
        }
        Prospect::DependencyMoved(moved) => {
            format!("cannot be accepted any more: its dependency {} ran since", names::list(moved))
        }
        Prospect::Unusable => {
            "cannot be accepted: a clock of it is missing or cannot be read".to_owned()
        }
    }
}

/// The one line that says what is granted and for how long.
pub(in crate::cli) fn grant_line(line: &GrantLine, now: Instant) -> String {
    match line {
        GrantLine::None => "Grant: none — what declares side effects stays put".to_owned(),
        GrantLine::Expired(grant) => format!("Grant: {} — expired", scopes_text(&grant.scopes)),
        GrantLine::Live(grant) => {
            let left = time_left(grant, now).unwrap_or_default();
            let soon = if left < SOON_MS { paint::waits(" ⚠ ends soon") } else { String::new() };
            let scopes = scopes_text(&grant.scopes);
            let until = text::at(&grant.expires_at);
            format!("Grant: {scopes} — {} remaining, until {until}{soon}", text::span(left))
        }
    }
}

/// Milliseconds until a grant ends; `None` where its expiry does not parse.
pub(super) fn time_left(grant: &Grant, now: Instant) -> Option<i64> {
    Some(Instant::parse(grant.expires_at.as_str()?)?.since(now))
}

/// The granted plugins, sorted.
pub(in crate::cli) fn scopes_text(scopes: &Scopes) -> String {
    match scopes {
        Scopes::All => "all plugins (*)".to_owned(),
        Scopes::Plugins(names) if names.is_empty() => "no plugin".to_owned(),
        Scopes::Plugins(names) => {
            let mut names = names.clone();
            names.sort();
            names.iter().map(text::line).collect::<Vec<_>>().join(", ")
        }
    }
}

fn push(out: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    _ = writeln!(out, "{line}");
}
